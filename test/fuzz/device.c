/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program through the public API. */
#include "device.h"
#include "mesh_marks.h"
#include "more.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn_dist.h"

struct layer {
    tarn_linear linear;
    tarn_conv2d conv2d;
    tarn_batch_norm batch_norm;
    tarn_layer_norm layer_norm;
};

struct run {
    tarn_replica *r;
    const struct program *p;
    const struct interpreter *m;
    tarn_tensor t[MAX_LINES], kept[MAX_LINES];
    struct layer layer[MAX_LINES];
    tarn_optimizer *optimizer;
    struct batches *batches; /* NULL without virtual shards */
    char *error;
    size_t capacity;
};

/* ---- calls ---------------------------------------------------------------------------------- */

static tarn_tensor leaf(struct run *u, const struct line *l)
{
    char name[48];
    program_name(l, name);
    tarn_tensor t = TARN_NONE;
    const bool given = l->op == OP_ID_from || l->op == OP_ID_parameter || l->op == OP_ID_buffer;
    void *data = given ? device_data(u->p, l, u->m->rank) : NULL;
    switch (l->op) {
    case OP_ID_from:
        t = tarn_from(u->r, l->shape, program_type(u->p, l->dtype), data);
        break;
    case OP_ID_parameter:
        t = tarn_parameter_as(u->r, name, l->shape, program_type(u->p, TARN_F32), data);
        break;
    case OP_ID_buffer:
        t = tarn_buffer(u->r, name, l->shape, program_type(u->p, l->dtype), data);
        break;
    case OP_ID_parameter_kaiming:
        t = tarn_parameter_kaiming(u->r, name, l->shape, l->arg[0]);
        break;
    case OP_ID_parameter_with:
        t = tarn_parameter_with(
            u->r, name, l->shape,
            (tarn_init){ (tarn_init_kind)l->arg[0], l->f[0], l->f[1], l->f[2], l->f[3] });
        break;
    case OP_ID_full:
        t = tarn_full(u->r, l->shape, l->f[0]);
        break;
    case OP_ID_zeros:
        t = tarn_zeros(u->r, l->shape);
        break;
    case OP_ID_ones:
        t = tarn_ones(u->r, l->shape);
        break;
    case OP_ID_number:
        t = tarn_number(u->r, l->f[0]);
        break;
    case OP_ID_arange:
        t = tarn_arange(u->r, l->arg[0]);
        break;
    case OP_ID_rand:
        t = tarn_rand(u->r, l->shape);
        break;
    case OP_ID_randn:
        t = tarn_randn(u->r, l->shape);
        break;
    case OP_ID_randn_truncated:
        t = tarn_randn_truncated(u->r, l->shape, l->f[0], l->f[1]);
        break;
    case OP_ID_optimizer_clip_grad_norm:
        t = tarn_optimizer_clip_grad_norm(u->optimizer, l->f[0]);
        break;
    case OP_ID_clip_grad_norm:
        t = tarn_clip_grad_norm(u->r, l->f[0]);
        break;
    default: /* find */
        program_find_name(u->p, l, name);
        t = tarn_find(u->r, name);
    }
    free(data);
    return t;
}

static tarn_tensor map(const struct program *p, const struct line *l, tarn_tensor a, tarn_tensor b,
                       tarn_tensor c)
{
#define ONE(id) \
    case OP_ID_##id: \
        return tarn_##id(a);
#define TWO(id) \
    case OP_ID_##id: \
        return tarn_##id(a, b);
#define SCALAR(id) \
    case OP_ID_##id: \
        return tarn_##id(a, line_scalar(l, 0, p->wide));
    switch (l->op) {
        ONE(detach)
        TWO(add)
        TWO(sub)
        TWO(mul)
        TWO(div)
        TWO(pow)
        TWO(maximum)
        TWO(minimum)
        SCALAR(add_scalar)
        SCALAR(mul_scalar)
        SCALAR(pow_scalar)
        ONE(neg)
        ONE(abs)
        ONE(exp)
        ONE(log)
        ONE(sqrt)
        ONE(rsqrt)
        ONE(tanh)
        ONE(sigmoid)
        ONE(relu)
        ONE(gelu)
        ONE(gelu_tanh)
        ONE(erf)
        ONE(sin)
        ONE(cos)
        ONE(atan)
        TWO(atan2)
        ONE(log1p)
        ONE(expm1)
        ONE(silu)
        SCALAR(leaky_relu)
        ONE(floor)
        ONE(round)
        ONE(sign)
    case OP_ID_softplus:
        return tarn_softplus(a, line_scalar(l, 0, p->wide), line_scalar(l, 1, p->wide));
        TWO(eq)
        TWO(ne)
        TWO(lt)
        TWO(le)
        TWO(gt)
        TWO(ge)
        SCALAR(eq_scalar)
        SCALAR(ne_scalar)
        SCALAR(lt_scalar)
        SCALAR(le_scalar)
        SCALAR(gt_scalar)
        SCALAR(ge_scalar)
    case OP_ID_clamp:
        return tarn_clamp(a, line_scalar(l, 0, p->wide), line_scalar(l, 1, p->wide));
    case OP_ID_where:
        return tarn_where(a, b, c);
    default:
        return tarn_cast(a, program_type(p, l->dtype));
    }
#undef ONE
#undef TWO
#undef SCALAR
}

static tarn_tensor view(const struct line *l, tarn_tensor a, const tarn_tensor *parts)
{
    switch (l->op) {
    case OP_ID_reshape:
        return tarn_reshape(a, l->list[0]);
    case OP_ID_flatten:
        return tarn_flatten(a, l->arg[0]);
    case OP_ID_permute:
        return tarn_permute(a, l->list[0]);
    case OP_ID_transpose:
        return tarn_transpose(a, l->arg[0], l->arg[1]);
    case OP_ID_broadcast_to:
        return tarn_broadcast_to(a, l->list[0]);
    case OP_ID_slice:
        return tarn_slice(a, l->arg[0], l->arg[1], l->arg[2], l->arg[3]);
    case OP_ID_flip:
        return tarn_flip(a, l->list[0]);
    case OP_ID_roll:
        return tarn_roll(a, l->arg[0], l->arg[1]);
    case OP_ID_pad:
        return tarn_pad(a, l->list[0], l->list[1],
                        line_scalar(l, 0, tarn_dtype_get(a) == TARN_F64));
    case OP_ID_batch_axis:
        return tarn_batch_axis(a, l->arg[0]);
    case OP_ID_mark_sharding: /* launches of random programs have no mesh */
        return tarn_world_size(a.replica) > 1
                   ? a
                   : tarn_mark_sharding(a, (tarn_mesh){ .axis = { { "all", 1 } } },
                                        (tarn_spec){ .rank = tarn_shape_get(a).rank });
    default:
        return tarn_concat(parts, l->ins, l->arg[0]);
    }
}

static tarn_tensor reduce(const struct line *l, tarn_tensor a)
{
    const bool keep = l->arg[0] != 0;
    switch (l->op) {
    case OP_ID_sum:
        return tarn_sum(a, l->list[0], keep);
    case OP_ID_mean:
        return tarn_mean(a, l->list[0], keep);
    case OP_ID_max:
        return tarn_max(a, l->list[0], keep);
    case OP_ID_min:
        return tarn_min(a, l->list[0], keep);
    case OP_ID_argmax:
        return tarn_argmax(a, l->arg[1], keep);
    case OP_ID_argmin:
        return tarn_argmin(a, l->arg[1], keep);
    default:
        return tarn_var(a, l->list[0], l->arg[1], keep);
    }
}

static tarn_tensor gradients_of(tarn_tensor loss, const tarn_tensor *inputs, int count, int which)
{
    tarn_tensor g[MAX_OPERANDS] = { { NULL, 0, 0 } };
    tarn_gradients(loss, inputs, count, g);
    return g[which];
}

static tarn_tensor net(struct run *u, const struct line *l, const tarn_tensor *in)
{
    const tarn_tensor a = in[0], b = in[1], c = in[2];
    const struct layer *y = l->ins > 1 ? &u->layer[l->in[1]] : NULL;
    const int *o = l->arg;
    if (along_lines(l->op))
        return lines_call(l, in);
    switch (l->op) {
    case OP_ID_matmul:
        return tarn_matmul(a, b);
    case OP_ID_conv2d_op:
        return tarn_conv2d_op(
            a, b, c, (tarn_conv2d_options){ { o[0], o[1] }, { o[2], o[3] }, { o[4], o[5] }, o[6] });
    case OP_ID_max_pool2d:
    case OP_ID_avg_pool2d:
    case OP_ID_max_pool2d_with:
    case OP_ID_avg_pool2d_with:
        return pool_call(l, in);
    case OP_ID_embedding:
        return tarn_embedding(a, b);
    case OP_ID_one_hot:
        return tarn_one_hot(a, o[0]);
    case OP_ID_softmax:
        return tarn_softmax(a, o[0]);
    case OP_ID_log_softmax:
        return tarn_log_softmax(a, o[0]);
    case OP_ID_nll_loss:
        return tarn_nll_loss(a, b);
    case OP_ID_cross_entropy:
        return tarn_cross_entropy(a, b);
    case OP_ID_mse_loss:
        return tarn_mse_loss(a, b);
    case OP_ID_layer_norm_op:
        return tarn_layer_norm_op(a, b, c, l->f[0]);
    case OP_ID_dropout:
        return tarn_dropout(a, l->f[0]);
    case OP_ID_linear_forward:
        return tarn_linear_forward(&y->linear, a);
    case OP_ID_conv2d_forward:
        return tarn_conv2d_forward(&y->conv2d, a);
    case OP_ID_batch_norm_forward:
        return tarn_batch_norm_forward(&y->batch_norm, a);
    case OP_ID_layer_norm_forward:
        return tarn_layer_norm_forward(&y->layer_norm, a);
    default:
        return gradients_of(a, in + 1, l->ins - 1, o[0]);
    }
}

static tarn_tensor collective(const struct line *l, tarn_tensor a)
{
    switch (l->op) {
    case OP_ID_all_reduce:
        return tarn_all_reduce(a, (tarn_reduction)l->arg[0]);
    case OP_ID_reduce_scatter:
        return tarn_reduce_scatter(a, (tarn_reduction)l->arg[0]);
    case OP_ID_all_gather:
        return tarn_all_gather(a);
    case OP_ID_broadcast:
        return tarn_broadcast(a, l->arg[0]);
    default:
        return tarn_all_to_all(a);
    }
}

static void make_layer(struct run *u, int i)
{
    const struct line *l = &u->p->line[i];
    const int *a = l->arg;
    char name[24];
    program_name(l, name);
    if (l->op == OP_ID_make_linear)
        u->layer[i].linear = tarn_linear_make(u->r, name, a[0], a[1]);
    else if (l->op == OP_ID_make_conv2d)
        u->layer[i].conv2d =
            tarn_conv2d_make(u->r, name, a[0], a[1], a[2],
                             (tarn_conv2d_options){ { a[3] }, { a[4], a[4] }, { a[5] }, a[6] });
    else if (l->op == OP_ID_make_batch_norm)
        u->layer[i].batch_norm = tarn_batch_norm_make(u->r, name, a[0]);
    else
        u->layer[i].layer_norm = tarn_layer_norm_make(u->r, name, a[0]);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static bool complain(struct run *u, const char *what)
{
    snprintf(u->error, u->capacity, "%s: %s", what, tarn_error(u->r));
    return false;
}

/* A call that must fail, which poisons the step; then everything goes on. */
static bool fail(struct run *u, const struct line *l)
{
    const tarn_tensor two = tarn_zeros(u->r, TARN_SHAPE(2)),
                      three = tarn_zeros(u->r, TARN_SHAPE(3));
    if (tarn_error_status(u->r) != TARN_OK)
        return complain(u, "before the call that must fail");
    if (!tarn_failed(tarn_add(two, three)))
        return complain(u, "a call that must fail did not");
    if (l->arg[0] && tarn_step(u->r) == TARN_OK)
        return complain(u, "a step that must fail did not");
    tarn_error_clear(u->r);
    return true;
}

static tarn_tensor handle(struct run *u, const struct result *w)
{
    if (w->slot < 0)
        return u->kept[w->line];
    const struct slot *o = &u->m->slot[w->slot];
    const struct line *l = &u->p->line[o->line];
    if (!program_is_layer(l->op))
        return u->t[o->line];
    char name[48];
    const struct line find = { .op = OP_ID_find, .in = { o->line }, .arg = { o->part } };
    program_find_name(u->p, &find, name);
    return tarn_find(u->r, name);
}

static bool step(struct run *u, int at, const struct results *want, struct readings *out)
{
    if (tarn_step(u->r) != TARN_OK)
        return complain(u, "tarn_step");
    for (int k = 0; k < want->count; k++) {
        const struct result *w = &want->r[k];
        if (w->step != at)
            continue;
        const tarn_tensor t = handle(u, w);
        const tarn_shape s = tarn_shape_get(t);
        if (s.rank != w->shape.rank || tarn_dtype_get(t) != program_type(u->p, w->dtype) ||
            memcmp(s.dim, w->shape.dim, (size_t)s.rank * sizeof s.dim[0]) != 0)
            return complain(u, "shape or type of a result is wrong");
        out->v[k] = device_read(t, w);
        if (out->v[k] == NULL)
            return complain(u, "tarn_read");
        if (w->slot < 0)
            tarn_drop(t);
    }
    return true;
}

static bool statement(struct run *u, int i, const struct results *want, struct readings *out)
{
    const struct line *l = &u->p->line[i];
    const tarn_tensor a = u->t[l->in[0]], b = u->t[l->in[1]];
    if (program_is_setting(l->op))
        return device_setting(u->r, l, &u->optimizer) || complain(u, "making the optimizer");
    switch (l->op) {
    case OP_ID_assign:
        tarn_assign(a, b);
        return true;
    case OP_ID_drop:
        tarn_drop(a);
        return true;
    case OP_ID_eval:
        return tarn_eval(&a, 1) == TARN_OK || complain(u, "tarn_eval");
    case OP_ID_output:
        u->kept[l->in[0]] = tarn_keep(a);
        return true;
    case OP_ID_backward:
        tarn_backward(a);
        return true;
    case OP_ID_optimizer_step:
        tarn_optimizer_step(u->optimizer);
        return true;
    case OP_ID_optimizer_accumulate:
        tarn_optimizer_accumulate(u->optimizer);
        return true;
    case OP_ID_train:
        tarn_train(u->r, l->arg[0] != 0);
        return true;
    case OP_ID_autocast:
    case OP_ID_autocast_end:
        return half_autocast(u->r, l);
    case OP_ID_fail:
        return fail(u, l);
    case OP_ID_step:
        return step(u, i, want, out);
    default:
        make_layer(u, i);
        return true;
    }
}

static bool run_line(struct run *u, int i, const struct results *want, struct readings *out)
{
    const struct line *l = &u->p->line[i];
    tarn_tensor in[MAX_OPERANDS] = { { NULL, 0, 0 } };
    for (int k = 0; k < l->ins; k++)
        in[k] = u->t[l->in[k]];
    if (op_table[l->op].result == 's')
        return statement(u, i, want, out);
    switch (op_table[l->op].result) {
    case 'm':
        u->t[i] = map(u->p, l, in[0], in[1], in[2]);
        break;
    case 'v':
        u->t[i] = view(l, in[0], in);
        break;
    case 'r':
        u->t[i] = reduce(l, in[0]);
        break;
    case 'n':
        u->t[i] = net(u, l, in);
        break;
    case 'x':
        u->t[i] = more_of(l->op)->call(l, in);
        break;
    case 'c':
        u->t[i] = collective(l, in[0]);
        break;
    default:
        u->t[i] = l->op == OP_ID_keep                         ? tarn_keep(in[0])
                  : l->op == OP_ID_grad                       ? tarn_grad(in[0])
                  : l->op == OP_ID_from && u->batches != NULL ? batches_leaf(u->batches, i)
                                                              : leaf(u, l);
    }
    u->t[i] = wide_value(u->p, l, u->t[i]);
    return !tarn_failed(u->t[i]) || complain(u, op_table[l->op].name);
}

/* In a launch with a mesh: marks what a line made. */
static bool mark(struct run *u, int i)
{
    const enum op_id op = u->p->line[i].op;
    if (!u->p->mesh || tarn_world_size(u->r) == 1)
        return true;
    if (program_is_layer(op))
        marks_layer(u->r, u->p, i);
    else if (program_is_setting(op) && op < OP_ID_scale_lr)
        marks_states(u->r, u->p, i, u->optimizer);
    else if (op_table[op].result != 's')
        u->t[i] = marks_value(u->p, i, u->t[i]);
    return tarn_error_status(u->r) == TARN_OK || complain(u, "a mark");
}

bool device_run(tarn_replica *r, const struct program *p, const struct interpreter *m,
                const struct results *want, struct readings *out, char *error, size_t capacity)
{
    struct run *u = calloc(1, sizeof *u);
    if (u == NULL)
        abort();
    *u = (struct run){ .r = r, .p = p, .m = m, .error = error, .capacity = capacity };
    memset(out, 0, sizeof *out);
    if (p->shards > 0)
        u->batches = batches_open(r, p);
    if (p->wide)
        tarn_parameter_dtype(r, TARN_F64);
    bool good = true;
    for (int i = 0; i < p->count && good; i++)
        good = run_line(u, i, want, out) && mark(u, i);
    if (u->batches != NULL)
        batches_close(u->batches);
    free(u);
    if (!good)
        readings_free(out);
    return good;
}

void readings_free(struct readings *r)
{
    for (int k = 0; k < MAX_RESULTS; k++)
        free(r->v[k]);
    memset(r, 0, sizeof *r);
}

/* ---- what must come out --------------------------------------------------------------------- */

static void add_result(struct results *out, struct result r)
{
    if (out->count < MAX_RESULTS)
        out->r[out->count++] = r;
}

static void slot_type(const struct program *p, const struct slot *o, tarn_shape *shape,
                      tarn_dtype *dtype)
{
    struct program one = { .count = 2 };
    one.line[0] = p->line[o->line];
    one.line[1] = (struct line){ .op = OP_ID_find, .ins = 1, .arg = { o->part } };
    *shape = one.line[0].shape;
    *dtype = one.line[0].dtype;
    if (program_is_layer(one.line[0].op) && program_infer(&one, 1)) {
        *shape = one.line[1].shape;
        *dtype = one.line[1].dtype;
    }
}

void interpret_results(const struct interpreter *m, int i, struct results *out)
{
    const struct program *p = m->p;
    int from = i;
    while (from > 0 && p->line[from - 1].op != OP_ID_step && p->line[from - 1].op != OP_ID_fail)
        from--;
    for (int k = from; k < i; k++) {
        if (p->line[k].op != OP_ID_output)
            continue;
        const int x = p->line[k].in[0];
        struct result r = {
            .step = i, .line = x, .slot = -1, .shape = p->line[x].shape, .dtype = p->line[x].dtype
        };
        for (int rank = 0; rank < p->world; rank++)
            r.node[rank] = m[rank].value[x];
        add_result(out, r);
    }
    for (int s = 0; s < m->slots; s++) {
        const struct slot *o = &m->slot[s];
        struct result r = { .step = i, .line = -1, .slot = s };
        for (int rank = 0; rank < p->world; rank++)
            r.node[rank] = m[rank].slot[s].value;
        slot_type(p, o, &r.shape, &r.dtype);
        if (o->alive)
            add_result(out, r);
    }
}

bool interpret_program(struct interpreter *m, struct program *p, struct tape *t,
                       struct results *out)
{
    interpret_begin(m, p, t);
    out->count = 0;
    if (!program_check(p))
        return false;
    for (int i = 0; i < p->count; i++) {
        if (!interpret_line(m, i))
            return false;
        if (p->line[i].op == OP_ID_step)
            interpret_results(m, i, out);
    }
    return out->count > 0;
}
