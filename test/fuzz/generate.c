/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"
#include "more.h"

#include <math.h>
#include <string.h>

int some_length(struct generator *g)
{
    static const int lengths[] = { 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33 };
    static const int even[] = {
        1, 2, 4, 8, 8, 16, 4, 8, 3, 12, 32
    }; /* for axes of a mesh to divide */
    if (g->p->mesh)
        return even[below(g, 11)];
    return lengths[below(g, 11)];
}

int below(struct generator *g, int n)
{
    return n > 0 ? (int)(fuzz_random(&g->random) * n) : 0;
}

bool chance(struct generator *g, int percent)
{
    return below(g, 100) < percent;
}

tarn_shape shape_of_line(const struct generator *g, int i)
{
    return g->p->line[i].shape;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* A bound within 0.1 % of the largest value, with half types 5 %, in double what float32 cannot keep, which stays
 * moderate. */
static bool tame_on(const struct generator *g, const struct interpreter *m, int i)
{
    const struct line *l = &g->p->line[i];
    const struct tape_node *n = &m->tape->node[interpret_node(m, i)];
    double top = 0, e = 0;
    for (int k = 0; k < n->count; k++) {
        top = isinf(n->v[k]) && l->dtype == TARN_F16 ? top : fmax(top, fabs(n->v[k]));
        e = fmax(e, n->e[k]);
        if (isnan(n->v[k]))
            return false;
    }
    const bool gradient = l->op == OP_ID_gradients || l->op == OP_ID_grad;
    return top <= (l->dtype == TARN_F32 ? 100 : 100000) && (e <= (program_half(g->p->half) ? 0.05
                                                                  : g->p->wide             ? 1e-10
                                                                                           : 1e-3) *
                                                                     top ||
                                                            (gradient && e < 1e-30));
}

static bool tame(const struct generator *g, int i)
{
    for (int k = 0; k < g->p->world; k++)
        if (!tame_on(g, &g->m[k], i))
            return false;
    return true;
}

int try_line(struct generator *g, struct line l)
{
    struct program *p = g->p;
    for (int k = 0; k < MAX_OPERANDS; k++) {
        if (k < l.ins && l.in[k] < 0)
            return -1;
        l.in[k] = k < l.ins ? l.in[k] : 0;
    }
    if (p->count == MAX_LINES)
        return -1;
    const int i = p->count++, nodes = g->tape.count;
    struct interpreter before[MAX_WORLD];
    memcpy(before, g->m, sizeof before);
    if (l.id == 0)
        l.id = ++g->next_id;
    p->line[i] = l;
    const char kind = op_table[l.op].result;
    if (program_infer(p, i) && interpret_line(g->m, i) &&
        (kind == 's' || l.op == OP_ID_find || tame(g, i)))
        return i;
    g->dropped++;
    p->count--;
    memcpy(g->m, before, sizeof before);
    tape_cut(&g->tape, nodes);
    return -1;
}

int new_leaf(struct generator *g, tarn_shape s, tarn_dtype dtype, enum fill fill, int limit)
{
    return try_line(
        g,
        (struct line){ .op = OP_ID_from, .list = { s }, .arg = { (int)fill, limit, (int)dtype } });
}

int try_op(struct generator *g, enum op_id op, int a, int b)
{
    struct line l = { .op = op, .in = { a, b }, .ins = (a >= 0) + (b >= 0) };
    if (a < 0 && b >= 0)
        return -1;
    return try_line(g, l);
}

bool usable(const struct generator *g, int i)
{
    const struct line *l = &g->p->line[i];
    if (i >= g->p->count || op_table[l->op].result == 's')
        return false;
    if (l->owned)
        return g->m->slot[g->m->value[i]].alive;
    return i >= g->first;
}

int any_line(struct generator *g, bool floats)
{
    const int n = g->p->count;
    for (int tries = 0; tries < 40; tries++) {
        const int i = chance(g, 60) ? n - 1 - below(g, n < 6 ? n : 6) : below(g, n);
        if (i >= 0 && usable(g, i) && (!floats || program_floats(g->p->line[i].dtype)))
            return i;
    }
    return -1;
}

/* ---- leaves --------------------------------------------------------------------------------- */

tarn_shape random_shape(struct generator *g)
{
    tarn_shape s = { .rank = chance(g, 12) ? 5 + below(g, 4) : below(g, 5) };
    int64_t count = 1;
    for (int d = 0; d < s.rank; d++) {
        int n = d == 0 && chance(g, 55) ? g->batch : s.rank > 4 ? 1 + below(g, 3) : some_length(g);
        if (chance(g, 20))
            n = g->width;
        if (count * n > LEAF_ELEMENTS)
            n = 1;
        if (chance(g, 1))
            n = 0;
        s.dim[d] = n;
        count *= n > 0 ? n : 1;
    }
    return s;
}

/* A shape that broadcasts with this one: axes of 1, fewer axes. */
tarn_shape relative_shape(struct generator *g, tarn_shape s)
{
    if (chance(g, 30)) {
        const int cut = below(g, s.rank + 1);
        s.rank -= cut;
        memmove(s.dim, s.dim + cut, (size_t)s.rank * sizeof s.dim[0]);
    }
    for (int d = 0; d < s.rank; d++)
        if (chance(g, 20))
            s.dim[d] = 1;
    return s;
}

int random_leaf(struct generator *g, tarn_shape s)
{
    const int kind = below(g, 20);
    const enum op_id plain[] = { OP_ID_full, OP_ID_zeros, OP_ID_ones, OP_ID_rand, OP_ID_number };
    const float values[] = { 0.5f, -0.75f, 1.5f, 2, -1 };
    if (kind == 3 && chance(g, 60))
        return try_line(g, (struct line){ .op = chance(g, 60) ? OP_ID_randn : OP_ID_randn_truncated,
                                          .list = { s },
                                          .f = { -1, 1.5f } });
    if (kind < 5)
        return try_line(
            g, (struct line){ .op = plain[kind], .list = { s }, .f = { values[below(g, 5)] } });
    if (kind == 5)
        return try_line(g, (struct line){ .op = OP_ID_arange, .arg = { some_length(g) } });
    if (kind == 6)
        return new_leaf(g, s, TARN_I32, FILL_COARSE, 0);
    if (kind == 7)
        return new_leaf(g, s, TARN_U8, FILL_INDEX, 2 + below(g, 4));
    return new_leaf(g, s, TARN_F32,
                    kind == 8   ? FILL_COARSE
                    : kind < 11 ? FILL_POSITIVE
                                : FILL_SIGNED,
                    0);
}

/* A float tensor whose values are at least about 0.3, of x. */
static int positive(struct generator *g, int x)
{
    if (!program_floats(g->p->line[x].dtype))
        return -1;
    if (chance(g, 40))
        return try_op(g, chance(g, 50) ? OP_ID_sigmoid : OP_ID_exp, x, -1);
    const int square = try_op(g, OP_ID_mul, x, x);
    return square < 0
               ? -1
               : try_line(g,
                          (struct line){
                              .op = OP_ID_add_scalar, .in = { square }, .ins = 1, .f = { 0.5f } });
}

/* ---- one line of each kind ------------------------------------------------------------------ */

static int partner(struct generator *g, int a)
{
    tarn_shape s;
    for (int tries = 0; tries < 12; tries++) {
        const int b = any_line(g, program_floats(g->p->line[a].dtype));
        if (b >= 0 && broadcast_shape(shape_of_line(g, a), shape_of_line(g, b), &s) &&
            tarn_shape_count(s) <= 2 * LEAF_ELEMENTS)
            return b;
    }
    return new_leaf(g, relative_shape(g, shape_of_line(g, a)), TARN_F32, FILL_SIGNED, 0);
}

static int grow_map(struct generator *g, enum op_id op, int a)
{
    struct line l = { .op = op, .in = { a, -1, -1 }, .ins = op_table[op].operands };
    const float values[] = { 0.5f, -0.75f, 1.25f, 2, -1, 0.3f };
    l.f[0] = values[below(g, 6)];
    if (op == OP_ID_log || op == OP_ID_sqrt || op == OP_ID_rsqrt || op == OP_ID_pow ||
        op == OP_ID_log1p)
        l.in[0] = positive(g, a);
    if (op == OP_ID_pow_scalar) {
        const float powers[] = { 2, 3, 1.5f, -1, 0.5f, -2 };
        const int which = below(g, 6);
        l.f[0] = powers[which];
        l.in[0] = which >= 2 ? positive(g, a) : a;
    }
    if (op >= OP_ID_eq_scalar && op <= OP_ID_ge_scalar)
        l.f[0] = values[below(g, 5)]; /* what half types hold */
    if (op == OP_ID_softplus) {
        l.f[0] = values[3 * below(g, 2)];
        l.f[1] = chance(g, 50) ? 20 : 0.625f;
    }
    if (op == OP_ID_clamp) {
        l.f[0] = chance(g, 50) ? -0.7f : 0.1f;
        l.f[1] = chance(g, 50) ? 0.9f : 1.3f;
    }
    if (op == OP_ID_cast) {
        l.arg[0] = below(g, 3);
        if (l.arg[0] == TARN_U8)
            l.in[0] = try_op(g, OP_ID_abs, a, -1);
    }
    if (l.in[0] < 0)
        return -1;
    if (l.ins >= 2)
        l.in[1] = partner(g, l.in[0]);
    if (op == OP_ID_atan2 && l.in[1] >= 0) { /* not where the angle jumps */
        const int k = below(g, 2);
        l.in[k] = positive(g, l.in[k]);
        if (l.in[0] < 0)
            return -1;
    }
    if (op == OP_ID_div && l.in[1] >= 0 && program_floats(g->p->line[l.in[0]].dtype))
        l.in[1] = positive(g, l.in[1]);
    if (op == OP_ID_where) {
        l.in[2] = partner(g, l.in[0]);
        if (l.in[2] >= 0 && chance(g, 80)) {
            const int c = try_op(g, (enum op_id)(OP_ID_lt + below(g, 4)), l.in[0], l.in[2]);
            if (c >= 0) {
                l.in[0] = c;
                l.in[2] = partner(g, l.in[1] >= 0 ? l.in[1] : a);
            }
        }
    }
    for (int k = 1; k < l.ins; k++)
        if (l.in[k] < 0)
            return -1;
    return try_line(g, l);
}

static tarn_shape factored(struct generator *g, int64_t n)
{
    tarn_shape s = { .rank = 0 };
    while (n > 1 && s.rank < 4) {
        int f = 2;
        while (n % f != 0)
            f++;
        if (chance(g, 30) && n % (f * f) == 0)
            f *= f;
        s.dim[s.rank++] = f;
        n /= f;
    }
    s.dim[s.rank++] = (int32_t)n;
    return s;
}

static int grow_view(struct generator *g, enum op_id op, int a)
{
    const tarn_shape x = shape_of_line(g, a);
    struct line l = { .op = op, .in = { a }, .ins = 1 };
    if (x.rank == 0 && op != OP_ID_reshape && op != OP_ID_broadcast_to)
        return -1;
    const int axis = below(g, x.rank);
    l.arg[0] = axis;
    switch (op) {
    case OP_ID_reshape:
        l.list[0] = factored(g, tarn_shape_count(x));
        break;
    case OP_ID_permute:
        l.list[0].rank = x.rank;
        for (int d = 0; d < x.rank; d++) {
            const int k = below(g, d + 1);
            l.list[0].dim[d] = l.list[0].dim[k];
            l.list[0].dim[k] = d;
        }
        break;
    case OP_ID_transpose:
        l.arg[1] = below(g, x.rank);
        break;
    case OP_ID_broadcast_to:
        l.list[0] = x;
        for (int d = 0; d < x.rank; d++)
            if (x.dim[d] == 1)
                l.list[0].dim[d] = chance(g, 50) ? g->width : 1;
        if (x.rank < TARN_MAX_RANK && chance(g, 60)) {
            memmove(l.list[0].dim + 1, l.list[0].dim, (size_t)x.rank * sizeof x.dim[0]);
            l.list[0].dim[0] = chance(g, 50) ? g->batch : 1 + below(g, 3);
            l.list[0].rank++;
        }
        break;
    case OP_ID_slice:
        l.arg[1] = below(g, x.dim[axis]);
        l.arg[2] = l.arg[1] + below(g, x.dim[axis] - l.arg[1]) + 1;
        l.arg[3] = 1 + (chance(g, 30) ? below(g, 3) : 0);
        break;
    case OP_ID_flip:
        for (int d = 0; d < x.rank; d++)
            if (d == axis || chance(g, 25))
                l.list[0].dim[l.list[0].rank++] = d;
        break;
    case OP_ID_roll:
        l.arg[1] = below(g, 2 * x.dim[axis] + 1) - x.dim[axis];
        break;
    case OP_ID_pad:
        l.list[0].rank = l.list[1].rank = x.rank;
        for (int d = 0; d < x.rank; d++)
            if (d == axis || chance(g, 25)) {
                l.list[0].dim[d] = below(g, 3);
                l.list[1].dim[d] = below(g, 3);
            }
        l.f[0] = chance(g, 50) ? 0 : 0.5f;
        break;
    case OP_ID_batch_axis:
        l.arg[0] = chance(g, 70) ? 0 : TARN_NO_BATCH;
        break;
    case OP_ID_concat:
        l.ins = 2 + below(g, 2);
        for (int k = 1; k < l.ins; k++) {
            tarn_shape s = x;
            s.dim[axis] = 1 + below(g, 4);
            l.in[k] = chance(g, 50) ? a : new_leaf(g, s, g->p->line[a].dtype, FILL_COARSE, 2);
            if (l.in[k] < 0)
                return -1;
        }
        if (chance(g, 50)) {
            const int swap = l.in[0];
            l.in[0] = l.in[1];
            l.in[1] = swap;
        }
        break;
    default:
        break;
    }
    return try_line(g, l);
}

static int grow_reduction(struct generator *g, enum op_id op, int a)
{
    const int rank = shape_of_line(g, a).rank;
    struct line l = { .op = op, .in = { a }, .ins = 1, .arg = { chance(g, 50) } };
    if (rank == 0 && program_searches(op))
        return -1;
    l.list[0] = chance(g, 15) ? TARN_ALL : (tarn_shape){ .rank = 0 };
    for (int d = 0; d < rank && l.list[0].rank >= 0; d++)
        if (chance(g, 45))
            l.list[0].dim[l.list[0].rank++] = d;
    l.arg[1] = op == OP_ID_var ? below(g, 2) : below(g, rank);
    return try_line(g, l);
}

static int grow_collective(struct generator *g, int a)
{
    struct line l = { .op = (enum op_id)(OP_ID_all_reduce + below(g, 5)), .in = { a }, .ins = 1 };
    if (chance(g, 30))
        l.op = OP_ID_all_reduce;
    l.arg[0] = below(g, l.op == OP_ID_broadcast ? g->p->world : 4);
    return try_line(g, l);
}

int grow_op(struct generator *g, enum op_id op, int a)
{
    switch (op_table[op].result) {
    case 'm':
        return grow_map(g, op, a);
    case 'v':
        return grow_view(g, op, a);
    case 'r':
        return grow_reduction(g, op, a);
    case 'x':
        return more_grow(g, op, a);
    default:
        return grow_net(g, op, a);
    }
}

int grow(struct generator *g)
{
    const enum op_id op = (enum op_id)(OP_ID_detach + below(g, OP_ID_dropout - OP_ID_detach + 1));
    int a = any_line(g, chance(g, 75));
    if (a < 0 || chance(g, 4))
        a = random_leaf(g, random_shape(g));
    if (a < 0)
        return -1;
    if (chance(g, 4))
        return shifted(g, a);
    if (g->p->world > 1 && chance(g, 15))
        return grow_collective(g, a);
    if (program_half(g->p->half) && chance(g, 30))
        return grow_half(g, a);
    const int y = grow_op(g, op, a);
    if (y < 0 || g->p->line[y].dtype != TARN_F32)
        return y;
    const struct tape_node *n = &g->tape.node[interpret_node(g->m, y)];
    for (int k = 0; k < n->count; k++)
        if (fabs(n->v[k]) > 8)
            return try_op(g, OP_ID_tanh, y, -1);
    return y;
}
