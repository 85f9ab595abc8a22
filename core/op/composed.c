/* SPDX-License-Identifier: Apache-2.0 */
/* Soft-max, normalisation and dropout, composed of other ops. */
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

/* ---- soft-max ------------------------------------------------------------------------------- */

/* x minus its maximum along the axis; the maximum cancels out of value and gradient. */
static tarn_tensor shifted(tarn_tensor x, int axis)
{
    const tarn_tensor most = op_reduce(&op_max, tarn_detach(x), UINT32_C(1) << axis);
    return tarn_sub(x, most);
}

static int softmax_axis(tarn_tensor x, const char *name, int axis)
{
    if (!graph_operand(NULL, x, name, 0))
        return -1;
    if (!dtype_is_float(tarn_dtype_get(x))) {
        graph_fail(x.replica, TARN_ERR_DTYPE, "%s: x is %s %s, must be float32; use tarn_cast",
                   name, tarn_dtype_name(tarn_dtype_get(x)), shape_text(tarn_shape_get(x)));
        return -1;
    }
    return op_axis(x, name, axis);
}

tarn_tensor tarn_softmax(tarn_tensor x, int axis)
{
    const int a = softmax_axis(x, "softmax", axis);
    if (a < 0)
        return graph_poison(x.replica);
    tarn_dtype of;
    const tarn_tensor e = tarn_exp(shifted(op_wide(op_high(x), &of), a));
    return op_as(tarn_div(e, op_reduce(&op_sum, e, UINT32_C(1) << a)), of);
}

tarn_tensor tarn_log_softmax(tarn_tensor x, int axis)
{
    const int a = softmax_axis(x, "log_softmax", axis);
    if (a < 0)
        return graph_poison(x.replica);
    tarn_dtype of;
    const tarn_tensor z = shifted(op_wide(op_high(x), &of), a);
    return op_as(tarn_sub(z, tarn_log(op_reduce(&op_sum, tarn_exp(z), UINT32_C(1) << a))), of);
}

/* ---- normalisation -------------------------------------------------------------------------- */

static int64_t axes_count(tarn_shape s, uint32_t axes)
{
    int64_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= axes >> i & 1 ? s.dim[i] : 1;
    return n;
}

static tarn_tensor sum_over(tarn_tensor x, uint32_t axes, bool synced)
{
    const tarn_tensor sum = op_reduce(&op_sum, x, axes);
    return synced ? x.replica->peers->sum(sum) : sum;
}

int64_t op_count_over(tarn_tensor x, uint32_t axes, bool synced)
{
    const int64_t count = axes_count(tarn_shape_get(x), axes);
    struct graph_part part;
    if (!synced)
        return count;
    if (!graph_part_of(x, "batch_norm: x", "normalise each of them by itself", &part))
        return 0;
    return count * part.global / part.samples;
}

/* How many values such a sum adds up. */
static double terms_of(tarn_tensor x, uint32_t axes, bool synced)
{
    return (double)op_count_over(x, axes, synced);
}

/* Sum over the axes of g. A factor that is constant along them is taken out, so that the sum is
 * the very node that the gradient of a scale or a shift needs anyway. */
static tarn_tensor factored_sum(tarn_tensor g, tarn_tensor times, uint32_t axes, bool synced)
{
    tarn_replica *r = g.replica;
    const struct node *n = graph_node(g);
    for (uint32_t i = 0; n->op == &op_mul && i < 2; i++) {
        uint32_t factor = r->graph.operands[n->first_in + i];
        const uint32_t rest = r->graph.operands[n->first_in + 1 - i];
        while (r->graph.nodes[factor].op == &op_expand)
            factor = r->graph.operands[r->graph.nodes[factor].first_in];
        const struct node *f = &r->graph.nodes[factor];
        if (f->shape.rank != n->shape.rank || axes_count(f->shape, axes) != 1 ||
            !shape_equal(r->graph.nodes[rest].shape, n->shape))
            continue;
        const tarn_tensor inner = graph_handle(r, rest);
        const tarn_tensor sum =
            sum_over(tarn_failed(times) ? inner : tarn_mul(inner, times), axes, synced);
        return tarn_mul(sum, graph_handle(r, factor));
    }
    return sum_over(tarn_failed(times) ? g : tarn_mul(g, times), axes, synced);
}

/* rstd, as a function of the x that it comes from: drstd/dx = -rstd^2 * y / count. */
static void norm_scale_grad(struct grad_call *c)
{
    const uint32_t axes = c->arg.reduce.axes;
    const bool synced = c->arg.reduce.synced != 0;
    const double terms = terms_of(c->y, axes, synced);
    const tarn_tensor sum = op_over(factored_sum(c->g, TARN_NONE, axes, synced), -terms);
    c->gin[1] = tarn_mul(tarn_mul(sum, tarn_mul(c->y, c->y)), c->in[2]);
    /* They come from that x. */
    c->without = 1 << 0 | 1 << 2;
}

static uint32_t norm_scale_expand(struct builder *b, const struct node *n, const uint32_t *in)
{
    (void)b, (void)n;
    return in[0];
}

/* Operands rstd, x and y. For the compiler it is rstd; x and y are there to differentiate. */
const struct op op_norm_scale = {
    .name = "norm_scale",
    .arity = 3,
    .kind = OP_COMPOSED,
    .grad = norm_scale_grad,
    .expand = norm_scale_expand,
};

/* dx = rstd * (g - mean(g) - y * mean(g * y)). Mean and rstd are functions of x and have their part
 * in this; they are no operands to differentiate. The rstd in the formula is one: for gradients of
 * this gradient. */
static void norm_grad(struct grad_call *c)
{
    const uint32_t axes = c->arg.reduce.axes;
    const bool synced = c->arg.reduce.synced != 0;
    const double terms = terms_of(c->y, axes, synced);
    const tarn_tensor mean = op_over(factored_sum(c->g, TARN_NONE, axes, synced), terms);
    const tarn_tensor slope = op_over(factored_sum(c->g, c->y, axes, synced), terms);
    const tarn_tensor inner = tarn_sub(tarn_sub(c->g, mean), tarn_mul(c->y, slope));
    const tarn_tensor of[3] = { c->in[2], c->in[0], c->y };
    const tarn_tensor scale = graph_record(c->y.replica, &op_norm_scale, of, 3,
                                           tarn_shape_get(c->y), tarn_dtype_get(c->y), &c->arg);
    c->gin[0] = tarn_mul(inner, scale);
}

const struct op op_norm = {
    .name = "norm",
    .arity = 3,
    .kind = OP_MAP,
    .code = "(x - y) * z",
    .grad = norm_grad,
};

/* Sum over the samples of what each of them, or each of its channels, has one of. */
static tarn_tensor over_samples(tarn_tensor x, bool synced)
{
    return synced ? sum_over(x, 1, true) : op_sum_unsplit(x);
}

/* In one pass over the samples: sum and squared distances of each by itself, while it is at hand,
 * and then those of all, by Chan, Golub and LeVeque (1979): the squared distances from the mean
 * of all are those from the sample's own mean, and that of its mean once for each element. */
static void moments_by_sample(tarn_tensor x, uint32_t axes, bool synced, tarn_tensor *mean,
                              tarn_tensor *var)
{
    const uint32_t inner = axes & ~UINT32_C(1);
    const double terms = terms_of(x, axes, synced);
    const double count = (double)axes_count(tarn_shape_get(x), inner);
    const tarn_tensor sum = op_reduce(&op_sum, x, inner);
    const tarn_tensor own = op_over(sum, count), d = tarn_sub(x, own);
    const tarn_tensor within = op_reduce(&op_sum, tarn_mul(d, d), inner);
    *mean = op_over(over_samples(sum, synced), terms);
    const tarn_tensor away = tarn_sub(own, *mean);
    const tarn_tensor between = tarn_mul_scalar(tarn_mul(away, away), count);
    *var = op_over(over_samples(tarn_add(within, between), synced), terms);
}

tarn_tensor op_normalise(tarn_tensor x, uint32_t axes, bool synced, float eps, tarn_tensor *mean,
                         tarn_tensor *var)
{
    const tarn_shape shape = tarn_shape_get(x);
    const tarn_tensor value = tarn_detach(x);
    if ((axes & 1) != 0 && axes_count(shape, axes & ~UINT32_C(1)) > 1) {
        moments_by_sample(value, axes, synced, mean, var);
    } else {
        const double terms = terms_of(x, axes, synced);
        *mean = op_over(sum_over(value, axes, synced), terms);
        const tarn_tensor d = tarn_sub(value, *mean);
        *var = op_over(sum_over(tarn_mul(d, d), axes, synced), terms);
    }
    const tarn_tensor rstd = tarn_rsqrt(tarn_add_scalar(*var, eps));
    const tarn_tensor in[3] = { x, op_expand_to(*mean, shape), op_expand_to(rstd, shape) };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.reduce.axes = axes;
    arg.reduce.synced = synced;
    return graph_record(x.replica, &op_norm, in, 3, shape, tarn_dtype_get(x), &arg);
}

/* `weight` or `bias` with leading axes of length 1, so that its rank is that of x. */
static tarn_tensor lift(tarn_tensor t, int rank)
{
    const tarn_shape s = tarn_shape_get(t);
    tarn_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++) {
        const int k = i - (rank - s.rank);
        shape.dim[i] = k < 0 ? 1 : s.dim[k];
    }
    return op_reshape_to(t, shape);
}

const char *op_shape_text(tarn_tensor t)
{
    return t.replica != NULL ? shape_text(tarn_shape_get(t)) : "none";
}

bool op_norm_axes(tarn_tensor x, tarn_tensor weight, tarn_tensor bias, tarn_shape *axes)
{
    const bool weighted = weight.replica != NULL, biased = bias.replica != NULL;
    const tarn_shape s = tarn_shape_get(x), last = TARN_SHAPE(s.dim[s.rank > 0 ? s.rank - 1 : 0]);
    const tarn_shape w = weighted ? tarn_shape_get(weight) : last;
    const int first = s.rank - w.rank;
    bool fits = w.rank >= 1 && first >= 0 && dtype_is_float(tarn_dtype_get(x)) &&
                (!weighted || dtype_is_single(tarn_dtype_get(weight))) &&
                (!biased || (weighted && shape_equal(w, tarn_shape_get(bias))));
    *axes = (tarn_shape){ .rank = 0 };
    for (int i = 0; fits && i < w.rank; i++) {
        fits = s.dim[first + i] == w.dim[i];
        axes->dim[axes->rank++] = first + i;
    }
    return fits;
}

tarn_tensor tarn_layer_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias, float eps)
{
    tarn_replica *r;
    const int needed =
        bias.replica != NULL ? 3 : 1; /* a bias alone is a weight that was forgotten */
    if (!graph_operands_some("layer_norm", (tarn_tensor[]){ x, weight, bias }, needed, 3, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x);
    tarn_shape list;
    uint32_t axes;
    if (!op_norm_axes(x, weight, bias, &list) || !op_axes(x, "layer_norm", list, &axes))
        return graph_fail(r, TARN_ERR_SHAPE,
                          "layer_norm: x %s, weight %s, bias %s: all must be float32, weight and "
                          "bias of the same shape, which is that of the last axes of x",
                          shape_text(s), op_shape_text(weight), op_shape_text(bias));
    tarn_tensor mean, var;
    tarn_dtype of;
    x = op_wide(op_high(x), &of);
    tarn_tensor y = op_normalise(x, axes, false, eps, &mean, &var);
    if (weight.replica != NULL)
        y = tarn_mul(y, lift(weight, s.rank));
    return op_as(bias.replica != NULL ? tarn_add(y, lift(bias, s.rank)) : y, of);
}

/* ---- dropout -------------------------------------------------------------------------------- */

tarn_tensor tarn_dropout(tarn_tensor x, float p)
{
    tarn_replica *r = x.replica;
    if (!graph_operand(NULL, x, "dropout", 0))
        return graph_poison(r);
    if (!(p >= 0.0f && p <= 1.0f) || !dtype_is_float(tarn_dtype_get(x)))
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "dropout: p %g of %s %s: p must be from 0 to 1, x "
                          "float32",
                          (double)p, tarn_dtype_name(tarn_dtype_get(x)),
                          shape_text(tarn_shape_get(x)));
    if (!r->training || p == 0.0f)
        return graph_value(x);
    const tarn_tensor zero = tarn_full(r, TARN_SCALAR, 0.0f);
    const tarn_tensor kept = tarn_ge(tarn_rand(r, tarn_shape_get(x)), tarn_full(r, TARN_SCALAR, p));
    return tarn_where(kept, p < 1.0f ? op_over(x, (double)(1.0f - p)) : tarn_mul_scalar(x, 0.0f),
                      zero);
}
