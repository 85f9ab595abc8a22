/* SPDX-License-Identifier: Apache-2.0 */
/* Whole programs: gradients, owned tensors, assignments and steps around random lines. */
#include <string.h>

#include "generate.h"

/* ---- gradients ------------------------------------------------------------------------------ */

static int make_loss(struct generator *g, int y)
{
    if (y >= 0 && program_half(g->p->line[y].dtype)) /* products of them would be rounded */
        y = try_op(g, OP_ID_cast, y, -1);
    if (y < 0 || g->p->line[y].dtype != TARN_F32)
        return -1;
    const int other =
        chance(g, 50) ? y : new_leaf(g, shape_of_line(g, y), TARN_F32, FILL_SIGNED, 0);
    const int product = other < 0 ? -1 : try_op(g, OP_ID_mul, y, other);
    if (product < 0)
        return -1;
    return try_line(g, (struct line){ .op = chance(g, 70) ? OP_ID_mean : OP_ID_sum,
                                      .in = { product },
                                      .ins = 1,
                                      .list = { TARN_ALL } });
}

static bool differentiable(const struct generator *g, int i)
{
    const struct line *l = &g->p->line[i];
    const bool leaf = l->op == OP_ID_from || l->op == OP_ID_parameter || l->op == OP_ID_buffer ||
                      l->op == OP_ID_keep;
    const bool made = l->op == OP_ID_mul || l->op == OP_ID_tanh || l->op == OP_ID_sigmoid ||
                      l->op == OP_ID_matmul || l->op == OP_ID_cast;
    if (!usable(g, i) || !program_floats(l->dtype) || !(leaf || made))
        return false;
    if (l->op == OP_ID_cast &&
        (g->p->line[l->in[0]].owned || !program_floats(g->p->line[l->in[0]].dtype)))
        return false; /* the gradient of a parameter that is cast stays float32 */
    for (int k = g->first; k < g->p->count; k++)
        if (g->p->line[k].op == OP_ID_assign && g->p->line[k].in[0] == i)
            return false;
    return true;
}

/* Lines that line `y` is made of. */
static void ancestors(const struct program *p, int y, bool *made_of)
{
    memset(made_of, 0, MAX_LINES * sizeof *made_of);
    made_of[y] = true;
    for (int i = y; i >= 0; i--)
        for (int k = 0; made_of[i] && k < p->line[i].ins; k++)
            made_of[p->line[i].in[k]] = true;
}

static int gradient_of(struct generator *g, int loss)
{
    bool made_of[MAX_LINES];
    ancestors(g->p, loss, made_of);
    struct line l = { .op = OP_ID_gradients, .in = { loss }, .ins = 1 };
    const int most = 2 + below(g, 3);
    for (int tries = 0; tries < 200 && l.ins < most; tries++) {
        const int x = below(g, g->p->count);
        bool again = false;
        for (int k = 1; k < l.ins; k++)
            again |= l.in[k] == x;
        if (!again && x != loss && differentiable(g, x) && (made_of[x] || chance(g, 3)))
            l.in[l.ins++] = x;
    }
    int made = -1;
    for (int k = 0; k + 1 < l.ins; k++) {
        l.arg[0] = k;
        const int one = try_line(g, l);
        made = one >= 0 ? one : made;
    }
    return made;
}

static void output(struct generator *g, int i)
{
    for (int k = g->first; k < g->p->count; k++)
        if (g->p->line[k].op == OP_ID_output && g->p->line[k].in[0] == i)
            return;
    if (i >= 0 && !g->p->line[i].owned && usable(g, i))
        try_op(g, OP_ID_output, i, -1);
}

/* The last product, convolution, norm ... of this step. */
static int last_part(const struct generator *g)
{
    int i = g->p->count - 1;
    while (i >= g->first &&
           (op_table[g->p->line[i].op].result != 'n' || g->p->line[i].op == OP_ID_one_hot))
        i--;
    return i >= g->first ? i : -1;
}

void add_gradient(struct generator *g, int y)
{
    const int loss = make_loss(g, y);
    const int from = g->p->count;
    if (loss < 0)
        return;
    gradient_of(g, loss);
    for (int i = from; i < g->p->count; i++)
        if (g->p->line[i].op == OP_ID_gradients)
            output(g, i);
}

static void add_gradients(struct generator *g)
{
    const int part = chance(g, 60) ? last_part(g) : -1;
    const int loss = make_loss(g, part >= 0 ? part : any_line(g, true));
    if (loss < 0)
        return;
    output(g, loss);
    const int dx = gradient_of(g, loss);
    output(g, dx);
    for (int k = loss; k < g->p->count; k++)
        if (g->p->line[k].op == OP_ID_gradients && chance(g, 60))
            output(g, k);
    if (dx < 0 || !chance(g, 45))
        return;
    const int again = make_loss(g, dx);
    if (again >= 0)
        output(g, gradient_of(g, again));
}

/* ---- owned tensors -------------------------------------------------------------------------- */

static int any_owned(struct generator *g)
{
    for (int tries = 0; tries < 30; tries++) {
        const int i = below(g, g->p->count);
        if (g->p->line[i].owned && usable(g, i))
            return i;
    }
    return -1;
}

/* A queue: part of the target, and something new or the rest of it. */
static int rotated(struct generator *g, int q)
{
    const tarn_shape s = shape_of_line(g, q);
    if (s.rank == 0)
        return -1;
    const int axis = below(g, s.rank), n = s.dim[axis], cut = 1 + below(g, n - 1);
    if (n < 2)
        return -1;
    const int tail = try_line(
        g, (struct line){ .op = OP_ID_slice, .in = { q }, .ins = 1, .arg = { axis, cut, n, 1 } });
    if (tail < 0)
        return -1;
    if (chance(g, 30)) {
        struct line pad = { .op = OP_ID_pad,
                            .in = { tail },
                            .ins = 1,
                            .list = { { .rank = s.rank }, { .rank = s.rank } } };
        pad.list[below(g, 2)].dim[axis] = cut;
        return try_line(g, pad);
    }
    tarn_shape rest = s;
    rest.dim[axis] = cut;
    const int head = chance(g, 50) ? try_line(g, (struct line){ .op = OP_ID_slice,
                                                                .in = { q },
                                                                .ins = 1,
                                                                .arg = { axis, 0, cut, 1 } })
                                   : new_leaf(g, rest, g->p->line[q].dtype, FILL_COARSE, 2);
    if (head < 0)
        return -1;
    const bool front = chance(g, 50);
    return try_line(g, (struct line){ .op = OP_ID_concat,
                                      .in = { front ? head : tail, front ? tail : head },
                                      .ins = 2,
                                      .arg = { axis } });
}

static void add_assign(struct generator *g)
{
    const int q = any_owned(g);
    if (q < 0)
        return;
    int v = chance(g, 45) ? rotated(g, q) : -1;
    const tarn_shape s = shape_of_line(g, q);
    for (int tries = 0; tries < 60 && v < 0; tries++) {
        const int i = below(g, g->p->count);
        const struct line *l = &g->p->line[i];
        if (i != q && usable(g, i) && l->dtype == g->p->line[q].dtype && l->shape.rank == s.rank &&
            memcmp(l->shape.dim, s.dim, (size_t)s.rank * sizeof s.dim[0]) == 0)
            v = i;
    }
    if (v < 0 && g->p->line[q].dtype == TARN_F32)
        v = try_op(g, OP_ID_tanh, q, -1);
    if (v >= 0)
        try_line(g, (struct line){ .op = OP_ID_assign, .in = { q, v }, .ins = 2 });
}

static void add_owned(struct generator *g)
{
    const tarn_shape s = random_shape(g);
    const int limit = 1 + below(g, 9), many = 1 + below(g, 3);
    for (int k = 0; k < many; k++) {
        const int kind = below(g, 5);
        const struct line l = { .op = kind == 0   ? OP_ID_parameter
                                      : kind == 1 ? OP_ID_parameter_kaiming
                                                  : OP_ID_buffer,
                                .list = { chance(g, 75) ? s : random_shape(g) },
                                .arg = { kind == 1   ? limit
                                         : kind == 4 ? FILL_COARSE
                                                     : FILL_SIGNED,
                                         0, kind == 4 && chance(g, 50) ? TARN_I32 : TARN_F32 } };
        const int made = try_line(g, l);
        if (made >= 0 && chance(g, 15))
            try_op(g, OP_ID_find, made, -1);
    }
}

/* ---- programs ------------------------------------------------------------------------------- */

static void add_segment(struct generator *g, int lines)
{
    const bool fails = g->first > 0 && chance(g, 15);
    const int from = g->p->count;
    random_leaf(g, random_shape(g));
    random_leaf(g, random_shape(g));
    for (int i = 0; i < from && !fails; i++)
        if (g->p->line[i].op == OP_ID_keep && usable(g, i) && chance(g, 30))
            try_op(g, OP_ID_drop, i, -1);
    for (int tries = 0; tries < 6 * lines && g->p->count - from < lines; tries++) {
        grow(g);
        if (program_half(g->p->half) && chance(g, 7))
            some_autocast(g);
        if (chance(g, 8))
            add_assign(g);
        if (chance(g, 2))
            try_op(g, OP_ID_eval, any_line(g, false), -1);
    }
    output(g, g->p->count - 1);
    output(g, any_line(g, false));
    if (chance(g, 60))
        add_gradients(g);
    if (chance(g, 30)) {
        const int k = any_line(g, false);
        if (k >= 0 && !g->p->line[k].owned)
            try_op(g, OP_ID_keep, k, -1);
    }
    if (chance(g, 40))
        add_assign(g);
    if (fails)
        try_line(g, (struct line){ .op = OP_ID_fail, .arg = { chance(g, 50) } });
    else
        try_line(g, (struct line){ .op = OP_ID_step });
    g->first = g->p->count;
}

static void generate_graph(struct generator *g)
{
    if (chance(g, 75))
        add_owned(g);
    const int segments = 1 + chance(g, 40) + chance(g, 20);
    for (int k = 0; k < segments; k++)
        add_segment(g, (12 + below(g, 26)) / segments);
    if (g->p->line[g->p->count - 1].op != OP_ID_step) {
        output(g, random_leaf(g, random_shape(g)));
        try_line(g, (struct line){ .op = OP_ID_step });
    }
}

static int weighted_loss(struct generator *g, int y)
{
    if (program_half(g->p->line[y].dtype))
        y = try_op(g, OP_ID_cast, y, -1);
    if (y < 0)
        return -1;
    const int w = new_leaf(g, shape_of_line(g, y), TARN_F32, FILL_SIGNED, 0);
    const int product = w < 0 ? -1 : try_op(g, OP_ID_mul, y, w);
    return product < 0
               ? -1
               : try_line(g,
                          (struct line){
                              .op = OP_ID_sum, .in = { product }, .ins = 1, .list = { TARN_ALL } });
}

/* One function of a leaf, its gradient and the gradient of that: each function meets these often. */
static void generate_probe(struct generator *g)
{
    const bool part = chance(g, 60);
    const int first = part ? OP_ID_matmul : OP_ID_detach;
    const enum op_id rare = chance(g, 50) ? OP_ID_conv2d_op : OP_ID_layer_norm_op;
    const enum op_id op = part && chance(g, 40)
                              ? rare
                              : (enum op_id)(first + below(g, (int)OP_ID_dropout - first + 1));
    const bool pictures = op >= OP_ID_conv2d_op && op <= OP_ID_avg_pool2d_with;
    const int x = pictures ? image(g, -1) : new_leaf(g, random_shape(g), TARN_F32, FILL_SIGNED, 0);
    int inner = x < 0 ? -1 : chance(g, 50) ? try_op(g, OP_ID_tanh, x, -1) : x;
    if (inner >= 0 && program_half(g->p->half) && chance(g, 60))
        inner = grow_half(g, inner);
    int y = inner < 0 ? -1 : grow_op(g, op, inner);
    if (y >= 0 && !program_floats(g->p->line[y].dtype))
        output(g, y);
    if (y < 0 || !program_floats(g->p->line[y].dtype))
        y = inner;
    for (int k = 0; k < 2 && y >= 0; k++) {
        const int loss = k == 1 && chance(g, 50) ? make_loss(g, y) : weighted_loss(g, y);
        const int from = g->p->count;
        if (loss < 0)
            break;
        if (chance(g, 50))
            gradient_of(g, loss);
        y = try_op(g, OP_ID_gradients, loss, x);
        for (int i = from; i < g->p->count; i++)
            if (g->p->line[i].op == OP_ID_gradients)
                output(g, i);
    }
    output(g, inner);
    for (int k = 0; k < 8; k++)
        grow(g);
    output(g, g->p->count - 1);
    try_line(g, (struct line){ .op = OP_ID_step });
}

/* A convolution with a large window: in its gradient each pixel has conditions for each tap. */
static void generate_window(struct generator *g)
{
    const int y = large_window(g), x = y < 0 ? -1 : g->p->line[y].in[0];
    const int loss = y < 0 ? -1 : weighted_loss(g, y);
    if (loss >= 0)
        output(g, try_line(g, (struct line){ .op = OP_ID_gradients, .in = { loss, x }, .ins = 2 }));
    output(g, y >= 0 ? y : random_leaf(g, random_shape(g)));
    try_line(g, (struct line){ .op = OP_ID_step });
}

/* One program in four is for 2 or 3 replicas, one in sixteen for virtual shards. The draw is none
 * of the program's own, so that programs for one replica do not depend on it. */
static void choose_form(struct program *p, unsigned long long seed, struct form form)
{
    unsigned long long random = seed * 104729 + 5;
    const int drawn = (int)(fuzz_random(&random) * 16);
    if (form.mesh)
        form.world = 1;
    if (form.world == 0 && form.shards == 0)
        form = drawn < 2   ? (struct form){ .world = 2 }
               : drawn < 4 ? (struct form){ .world = 3 }
               : drawn > 4
                   ? (struct form){ .world = 1 }
                   : (struct form){ .world = 1, .shards = fuzz_random(&random) < 0.5 ? 2 : 4 };
    p->world = form.shards > 0 ? 1 : form.world;
    p->shards = form.shards;
    p->mesh = form.mesh;
    p->by_rank = p->world > 1 && fuzz_random(&random) < 0.7;
}

void generate(struct program *p, unsigned long long seed, struct form form)
{
    static const int batches[] = { 1, 7, 8, 15, 16, 17, 31, 33, 127, 128 };
    static const int divided[] = { 8, 16, 32, 24, 64, 16, 8, 48, 4, 128 };
    struct generator g = { .p = p, .random = seed * 7919 + 17 };
    memset(p, 0, sizeof *p);
    p->seed = seed;
    choose_form(p, seed, form);
    choose_half(p, seed, form.half != 0 ? form.half : -(form.world > 0 || form.shards > 0));
    choose_wide(p, seed, form.wide);
    interpret_begin(g.m, p, &g.tape);
    g.batch = (p->mesh ? divided : batches)[below(&g, 10)];
    g.width = some_length(&g);
    /* Optimizers and norms are given numbers that float64 takes for decimals. */
    const int kind = below(&g, 100), train = p->mesh ? 50 : p->wide ? -10 : 20;
    if (p->shards > 0)
        generate_shards(&g);
    else if (kind < train)
        generate_training(&g);
    else if (kind < train + 10)
        generate_cycle(&g);
    else if (kind < train + 20)
        generate_batch(&g);
    else if (kind < train + 24)
        generate_window(&g);
    else if (kind < train + 30)
        generate_branches(&g);
    else if (kind < train + 46 - p->mesh * 20)
        generate_probe(&g);
    else
        generate_graph(&g);
    tape_free(&g.tape);
}
