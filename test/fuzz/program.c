/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a program: their shapes and types. */
#include "program.h"
#include "more.h"
#include "tarn_dist.h"

#include <math.h>
#include <string.h>

const struct op_info op_table[OP_ID_COUNT] = {
#define OP(id, result, operands, text) { #id, result, operands, text },
#include "ops.def"
#undef OP
};

bool program_is_layer(enum op_id op)
{
    return op >= OP_ID_make_linear && op <= OP_ID_make_layer_norm;
}

bool program_is_parameter(enum op_id op)
{
    return op == OP_ID_parameter || op == OP_ID_parameter_kaiming || op == OP_ID_parameter_with;
}

/* ---- shapes --------------------------------------------------------------------------------- */

bool broadcast_shape(tarn_shape a, tarn_shape b, tarn_shape *out)
{
    const int rank = a.rank > b.rank ? a.rank : b.rank;
    tarn_shape s = { .rank = rank };
    for (int d = 1; d <= rank; d++) {
        const int la = d <= a.rank ? a.dim[a.rank - d] : 1,
                  lb = d <= b.rank ? b.dim[b.rank - d] : 1;
        if (la != lb && la != 1 && lb != 1)
            return false;
        s.dim[rank - d] = la == 1 ? lb : la;
    }
    *out = s;
    return true;
}

unsigned axes_mask(tarn_shape axes, int rank)
{
    unsigned mask = 0;
    if (axes.rank < 0)
        return (1u << rank) - 1;
    for (int i = 0; i < axes.rank; i++)
        mask |= 1u << (axes.dim[i] < 0 ? axes.dim[i] + rank : axes.dim[i]);
    return mask;
}

static bool reduce_shape(const struct line *l, tarn_shape x, unsigned mask, bool choose,
                         tarn_shape *out)
{
    tarn_shape s = { .rank = 0 };
    for (int d = 0; d < x.rank; d++) {
        if (!(mask >> d & 1))
            s.dim[s.rank++] = x.dim[d];
        else if (choose && x.dim[d] == 0)
            return false;
        else if (l->arg[0])
            s.dim[s.rank++] = 1;
    }
    *out = s;
    return true;
}

tarn_shape matmul_shape(tarn_shape a, tarn_shape b, bool *good)
{
    const tarn_shape none = { .rank = 0 };
    tarn_shape x = a, y = b, s;
    *good = a.rank >= 1 && b.rank >= 1;
    if (!*good)
        return none;
    if (a.rank == 1)
        x = tarn_shape_of(2, (int32_t[]){ 1, a.dim[0] });
    if (b.rank == 1)
        y = tarn_shape_of(2, (int32_t[]){ b.dim[0], 1 });
    *good = x.dim[x.rank - 1] == y.dim[y.rank - 2];
    tarn_shape xs = x, ys = y;
    xs.rank -= 2;
    ys.rank -= 2;
    if (!*good || !broadcast_shape(xs, ys, &s)) {
        *good = false;
        return none;
    }
    if (a.rank > 1)
        s.dim[s.rank++] = x.dim[x.rank - 2];
    if (b.rank > 1)
        s.dim[s.rank++] = y.dim[y.rank - 1];
    return s;
}

bool conv_shape(tarn_shape x, tarn_shape w, const int *o, tarn_shape *out)
{
    const int groups = o[6] ? o[6] : 1;
    if (x.rank != 4 || w.rank != 4 || x.dim[1] != w.dim[1] * groups || w.dim[0] % groups != 0)
        return false;
    *out = tarn_shape_of(4, (int32_t[]){ x.dim[0], w.dim[0], 0, 0 });
    for (int i = 0; i < 2; i++) {
        const int stride = o[i]   ? o[i]
                           : o[0] ? o[0]
                                  : 1,
                  dilation = o[4 + i] ? o[4 + i]
                             : o[4]   ? o[4]
                                      : 1;
        const int room = x.dim[2 + i] + 2 * o[2 + i] - (w.dim[2 + i] - 1) * dilation - 1;
        if (room < 0 || w.dim[2 + i] < 1)
            return false;
        out->dim[2 + i] = room / stride + 1;
    }
    return true;
}

static bool concat_shape(const struct program *p, const struct line *l, tarn_shape *out)
{
    const struct line *first = &p->line[l->in[0]];
    *out = first->shape;
    if (first->shape.rank == 0)
        return false;
    for (int i = 1; i < l->ins; i++) {
        const struct line *part = &p->line[l->in[i]];
        if (part->shape.rank != out->rank || part->dtype != first->dtype)
            return false;
        for (int d = 0; d < out->rank; d++)
            if (d != l->arg[0] && part->shape.dim[d] != out->dim[d])
                return false;
        out->dim[l->arg[0]] += part->shape.dim[l->arg[0]];
    }
    return true;
}

/* Tarn refuses a value that an integer would change. */
static bool holds(tarn_dtype type, float value)
{
    return program_floats(type) || (value == floorf(value) && (type == TARN_I32 || value >= 0));
}

/* A program names one batch, of one length: two in a step are refused, and with virtual shards a value
 * has another length on another number of replicas. */
static bool may_name_batch(const struct program *p, const struct line *l, tarn_shape x)
{
    if (l->arg[0] == TARN_NO_BATCH)
        return true;
    for (const struct line *k = p->line; k < l; k++)
        if (k->op == OP_ID_batch_axis && k->arg[0] == 0 && k->shape.dim[0] != x.dim[0])
            return false;
    return l->arg[0] == 0 && x.rank > 0 && p->shards == 0;
}

static bool view_shape(const struct program *p, struct line *l, tarn_shape x)
{
    tarn_shape s = x;
    switch (l->op) {
    case OP_ID_reshape:
        l->shape = l->list[0];
        return tarn_shape_count(l->shape) == tarn_shape_count(x);
    case OP_ID_flatten:
        if (l->arg[0] >= x.rank || x.rank == 0)
            return false;
        s.rank = l->arg[0] + 1;
        for (int d = l->arg[0] + 1; d < x.rank; d++)
            s.dim[l->arg[0]] *= x.dim[d];
        break;
    case OP_ID_permute:
        if (l->list[0].rank != x.rank)
            return false;
        for (int d = 0; d < x.rank; d++)
            s.dim[d] = x.dim[l->list[0].dim[d]];
        break;
    case OP_ID_batch_axis:
        if (!may_name_batch(p, l, x))
            return false;
        break;
    case OP_ID_mark_sharding:
        break;
    case OP_ID_transpose:
        if (l->arg[0] >= x.rank || l->arg[1] >= x.rank)
            return false;
        s.dim[l->arg[0]] = x.dim[l->arg[1]];
        s.dim[l->arg[1]] = x.dim[l->arg[0]];
        break;
    case OP_ID_broadcast_to:
        if (!broadcast_shape(x, l->list[0], &s) || s.rank != l->list[0].rank)
            return false;
        for (int d = 0; d < s.rank; d++)
            if (s.dim[d] != l->list[0].dim[d])
                return false;
        break;
    case OP_ID_slice:
        if (l->arg[0] >= x.rank || l->arg[1] > l->arg[2] || l->arg[2] > x.dim[l->arg[0]] ||
            l->arg[1] < 0 || l->arg[3] < 1)
            return false;
        s.dim[l->arg[0]] = (l->arg[2] - l->arg[1] + l->arg[3] - 1) / l->arg[3];
        break;
    case OP_ID_flip:
        for (int i = 0; i < l->list[0].rank; i++)
            for (int k = 0; k <= i; k++)
                if (l->list[0].dim[i] >= x.rank ||
                    (k < i && l->list[0].dim[k] == l->list[0].dim[i]))
                    return false;
        break;
    case OP_ID_roll:
        if (l->arg[0] >= x.rank)
            return false;
        break;
    case OP_ID_pad:
        if (l->list[0].rank != x.rank || !holds(p->line[l->in[0]].dtype, l->f[0]))
            return false;
        for (int d = 0; d < x.rank; d++)
            s.dim[d] += l->list[0].dim[d] + l->list[1].dim[d];
        break;
    default:
        if (!concat_shape(p, l, &s))
            return false;
    }
    l->shape = s;
    return true;
}

static bool map_shape(const struct program *p, struct line *l)
{
    tarn_shape s = TARN_SCALAR;
    for (int i = 0; i < l->ins; i++)
        if (!broadcast_shape(s, p->line[l->in[i]].shape, &s))
            return false;
    l->shape = s;
    tarn_dtype d = program_promoted(p, l, 0);
    const bool whole = l->f[0] == (float)(int)l->f[0] && l->f[1] == (float)(int)l->f[1];
    switch (l->op) {
    case OP_ID_cast:
        l->dtype = (tarn_dtype)l->arg[0];
        return true;
    case OP_ID_detach:
    case OP_ID_floor:
    case OP_ID_round:
    case OP_ID_sign:
        l->dtype = d;
        return true;
    case OP_ID_where:
        l->dtype = program_promoted(p, l, 1);
        return true;
    case OP_ID_add:
    case OP_ID_sub:
    case OP_ID_mul:
    case OP_ID_div:
    case OP_ID_maximum:
    case OP_ID_minimum:
    case OP_ID_neg:
    case OP_ID_abs:
        l->dtype = d == TARN_U8 ? TARN_I32 : d;
        return true;
    case OP_ID_add_scalar:
    case OP_ID_mul_scalar:
        l->dtype = program_floats(d) ? d : whole ? TARN_I32 : TARN_F32;
        return true;
    default:
        if (l->op >= OP_ID_eq && l->op <= OP_ID_ge_scalar)
            l->dtype = TARN_U8;
        else
            l->dtype = program_takes_wide(l->op) ? program_wide(l, program_floats(d) ? d : TARN_F32)
                       : program_floats(d)       ? d
                                                 : TARN_F32;
        return l->op == OP_ID_clamp ? program_floats(d) : true;
    }
}

static bool net_shape(const struct program *p, struct line *l, const struct line *x,
                      const struct line *y)
{
    bool good = program_floats(x->dtype);
    const bool single = x->dtype == TARN_F32;
    l->dtype = TARN_F32;
    l->shape = x->shape;
    const int rank = x->shape.rank, last = rank > 0 ? x->shape.dim[rank - 1] : 0;
    if (along_lines(l->op))
        return lines_shape(p, l, x, y);
    switch (l->op) {
    case OP_ID_matmul:
        l->shape = matmul_shape(x->shape, y->shape, &good);
        l->dtype = program_product(l, x->dtype, y->dtype);
        return good && program_floats(x->dtype) && program_floats(y->dtype);
    case OP_ID_conv2d_op:
        l->dtype = program_product(l, x->dtype, y->dtype);
        return good && program_floats(y->dtype) &&
               conv_shape(x->shape, y->shape, l->arg, &l->shape) &&
               (l->ins < 3 ||
                (p->line[l->in[2]].shape.rank == 1 && program_floats(p->line[l->in[2]].dtype) &&
                 p->line[l->in[2]].shape.dim[0] == y->shape.dim[0]));
    case OP_ID_max_pool2d:
    case OP_ID_avg_pool2d:
    case OP_ID_max_pool2d_with:
    case OP_ID_avg_pool2d_with:
        l->dtype = x->dtype;
        return good && pool_shape(l, x->shape, &l->shape);
    case OP_ID_embedding:
        l->shape = y->shape;
        if (!single || rank != 2 || x->shape.dim[0] < 1 || program_floats(y->dtype) ||
            y->shape.rank == TARN_MAX_RANK)
            return false;
        l->shape.dim[l->shape.rank++] = last;
        return true;
    case OP_ID_one_hot:
        if (good || rank == TARN_MAX_RANK)
            return false;
        l->shape.dim[l->shape.rank++] = l->arg[0];
        return true;
    case OP_ID_softmax:
    case OP_ID_log_softmax:
        l->dtype = program_wide(l, x->dtype);
        return good && l->arg[0] < rank && x->shape.dim[l->arg[0]] > 0;
    case OP_ID_nll_loss:
    case OP_ID_cross_entropy:
        l->shape = TARN_SCALAR;
        return good && rank == 2 && last > 0 && x->shape.dim[0] > 0 && y->shape.rank == 1 &&
               y->shape.dim[0] == x->shape.dim[0] && !program_floats(y->dtype);
    case OP_ID_mse_loss:
        l->shape = TARN_SCALAR;
        return good && program_floats(y->dtype) && rank == y->shape.rank &&
               memcmp(x->shape.dim, y->shape.dim, (size_t)rank * sizeof(int32_t)) == 0 &&
               tarn_shape_count(x->shape) > 0;
    case OP_ID_layer_norm_op:
        l->dtype = program_wide(l, x->dtype);
        good = good && y->dtype == TARN_F32 && y->shape.rank >= 1 && y->shape.rank <= rank &&
               tarn_shape_count(y->shape) > 0;
        for (int d = 0; good && d < y->shape.rank; d++)
            good = y->shape.dim[d] == x->shape.dim[rank - y->shape.rank + d];
        if (good && l->ins == 3) {
            const tarn_shape b = p->line[l->in[2]].shape;
            good = b.rank == y->shape.rank && p->line[l->in[2]].dtype == TARN_F32 &&
                   memcmp(b.dim, y->shape.dim, (size_t)b.rank * sizeof(int32_t)) == 0;
        }
        return good;
    case OP_ID_dropout:
        l->dtype = x->dtype;
        return good;
    case OP_ID_linear_forward:
        if (!good || y->op != OP_ID_make_linear || rank < 1 || last != y->arg[0])
            return false;
        l->dtype = program_product(l, x->dtype, TARN_F32);
        l->shape.dim[rank - 1] = y->arg[1];
        return true;
    case OP_ID_conv2d_forward: {
        const int g = y->arg[6] ? y->arg[6] : 1;
        const int o[7] = { y->arg[3], 0, y->arg[4], y->arg[4], y->arg[5], 0, g };
        l->dtype = program_product(l, x->dtype, TARN_F32);
        return good && y->op == OP_ID_make_conv2d &&
               conv_shape(x->shape, TARN_SHAPE(y->arg[1], y->arg[0] / g, y->arg[2], y->arg[2]), o,
                          &l->shape);
    }
    case OP_ID_batch_norm_forward:
        l->dtype = x->dtype;
        return good && y->op == OP_ID_make_batch_norm && rank >= 2 &&
               x->shape.dim[1] == y->arg[0] && tarn_shape_count(x->shape) >= 2 * y->arg[0];
    case OP_ID_layer_norm_forward:
        l->dtype = program_wide(l, x->dtype);
        return good && y->op == OP_ID_make_layer_norm && rank >= 1 && last == y->arg[0];
    default: /* gradients */
        if (!single || rank != 0 || l->arg[0] + 1 >= l->ins)
            return false;
        for (int i = 1; i < l->ins; i++)
            if (!program_floats(p->line[l->in[i]].dtype))
                return false;
        l->shape = p->line[l->in[1 + l->arg[0]]].shape;
        l->dtype = p->line[l->in[1 + l->arg[0]]].dtype;
        return true;
    }
}

static bool leaf_shape(struct line *l)
{
    switch (l->op) {
    case OP_ID_number:
        l->shape = TARN_SCALAR;
        break;
    case OP_ID_arange:
        l->shape = TARN_SHAPE(l->arg[0]);
        l->dtype = TARN_I32;
        return true;
    case OP_ID_from:
    case OP_ID_buffer:
        l->shape = l->list[0];
        l->dtype = (tarn_dtype)l->arg[2];
        return true;
    case OP_ID_clip_grad_norm:
    case OP_ID_optimizer_clip_grad_norm:
        l->shape = TARN_SCALAR;
        break;
    default:
        l->shape = l->list[0];
    }
    l->dtype = TARN_F32;
    return true;
}

static bool collective_shape(const struct program *p, struct line *l, const struct line *x)
{
    const bool reduces = l->op == OP_ID_all_reduce || l->op == OP_ID_reduce_scatter;
    const bool parts = l->op == OP_ID_reduce_scatter || l->op == OP_ID_all_to_all;
    l->shape = x->shape;
    l->dtype = x->dtype;
    if (reduces && (x->dtype == TARN_U8 || (x->dtype == TARN_I32 && l->arg[0] == TARN_MEAN)))
        return false;
    if (!(parts || l->op == OP_ID_all_gather))
        return true;
    if (x->shape.rank == 0 || (parts && x->shape.dim[0] % p->world != 0))
        return false;
    l->shape.dim[0] = l->op == OP_ID_all_gather       ? x->shape.dim[0] * p->world
                      : l->op == OP_ID_reduce_scatter ? x->shape.dim[0] / p->world
                                                      : x->shape.dim[0];
    return true;
}

static bool find_shape(const struct line *made, struct line *l)
{
    const int part = l->arg[0], *a = made->arg;
    l->dtype = TARN_F32;
    switch (made->op) {
    case OP_ID_make_linear:
        l->shape = part == 0 ? TARN_SHAPE(a[1], a[0]) : TARN_SHAPE(a[1]);
        return part < 2;
    case OP_ID_make_conv2d:
        l->shape =
            part == 0 ? TARN_SHAPE(a[1], a[0] / (a[6] ? a[6] : 1), a[2], a[2]) : TARN_SHAPE(a[1]);
        return part < 2;
    case OP_ID_make_batch_norm:
        l->shape = part < 4 ? TARN_SHAPE(a[0]) : TARN_SCALAR;
        l->dtype = part < 4 ? TARN_F32 : TARN_I32;
        return part < 5;
    case OP_ID_make_layer_norm:
        l->shape = TARN_SHAPE(a[0]);
        return part < 2;
    default:
        l->shape = made->shape;
        l->dtype = made->dtype;
        return program_is_parameter(made->op) || made->op == OP_ID_buffer;
    }
}

/* Operands must be alive: of this step, or owned. */
static bool alive(const struct program *p, const struct line *l, int i)
{
    const struct line *x = &p->line[l->in[i]];
    return l->in[i] >= 0 && (x->owned || program_is_layer(x->op) || x->segment == l->segment);
}

static bool statement(const struct program *p, const struct line *l)
{
    const struct line *a = &p->line[l->in[0]], *b = &p->line[l->in[1]];
    if (l->op == OP_ID_assign)
        return a->owned && a->dtype == b->dtype && a->shape.rank == b->shape.rank &&
               memcmp(a->shape.dim, b->shape.dim, (size_t)a->shape.rank * sizeof(int32_t)) == 0;
    if (l->op == OP_ID_backward)
        return a->dtype == TARN_F32 && a->shape.rank == 0;
    if (l->op == OP_ID_drop)
        return a->op == OP_ID_keep && a->segment < l->segment;
    return true;
}

bool program_searches(enum op_id op)
{
    return op == OP_ID_argmax || op == OP_ID_argmin;
}

static bool needs_tensor(const struct line *x, enum op_id user, int operand)
{
    const bool layer = program_is_layer(x->op);
    const bool takes =
        operand == 1 && user >= OP_ID_linear_forward && user <= OP_ID_layer_norm_forward;
    if (user == OP_ID_find)
        return true;
    return layer == takes && (layer || op_table[x->op].result != 's');
}

static tarn_dtype reduced_type(const struct line *l, tarn_dtype x)
{
    if (program_searches(l->op))
        return TARN_I32;
    if (l->op == OP_ID_max || l->op == OP_ID_min)
        return x;
    if (program_floats(x))
        return program_wide(l, x);
    return l->op == OP_ID_sum ? TARN_I32 : TARN_F32;
}

bool program_infer(struct program *p, int i)
{
    struct line *l = &p->line[i];
    l->segment = 0;
    for (int k = 0; k < i; k++)
        l->segment += p->line[k].op == OP_ID_step || p->line[k].op == OP_ID_fail;
    l->owned = op_table[l->op].result == 'o';
    l->shape = TARN_SCALAR;
    l->dtype = TARN_F32;
    l->amp = program_amp(p, i);
    for (int k = 0; k < l->ins; k++)
        if (!alive(p, l, k) || !needs_tensor(&p->line[l->in[k]], l->op, k))
            return false;
    const struct line *x = &p->line[l->in[0]], *y = &p->line[l->in[1]];
    bool good = true;
    switch (op_table[l->op].result) {
    case 'm':
        good = map_shape(p, l);
        break;
    case 'v':
        l->dtype = x->dtype;
        good = view_shape(p, l, x->shape);
        break;
    case 'r':
        l->dtype = reduced_type(l, x->dtype);
        if (program_searches(l->op) && l->arg[1] >= x->shape.rank)
            return false;
        for (int d = 0; d < l->list[0].rank; d++)
            if (!program_searches(l->op) && l->list[0].dim[d] >= x->shape.rank)
                return false;
        good = reduce_shape(l, x->shape,
                            program_searches(l->op) ? 1u << l->arg[1]
                                                    : axes_mask(l->list[0], x->shape.rank),
                            l->op != OP_ID_sum, &l->shape);
        break;
    case 'n':
        good = net_shape(p, l, x, y);
        break;
    case 'x':
        good = l->amp == TARN_F32 && more_of(l->op)->shape(p, l);
        break;
    case 'c':
        good = collective_shape(p, l, x);
        break;
    case 'l':
    case 'o':
        if (l->op == OP_ID_keep || l->op == OP_ID_grad) {
            l->shape = x->shape;
            l->dtype = x->dtype;
            good = l->op == OP_ID_keep ? !x->owned : x->owned && x->dtype == TARN_F32;
        } else if (l->op == OP_ID_find) {
            good = find_shape(x, l);
        } else {
            good = leaf_shape(l);
        }
        break;
    default:
        good = statement(p, l);
    }
    good = good && program_fits(p, l);
    for (int d = 0; good && d < l->shape.rank; d++)
        good = l->shape.dim[d] >= 0 && l->shape.dim[d] <= MAX_ELEMENTS;
    return good && l->shape.rank <= TARN_MAX_RANK && tarn_shape_count(l->shape) <= MAX_ELEMENTS;
}

bool program_check(struct program *p)
{
    for (int i = 0; i < p->count; i++)
        if (!program_infer(p, i))
            return false;
    return true;
}
