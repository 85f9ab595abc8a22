/* SPDX-License-Identifier: Apache-2.0 */
/* Losses, composed of other ops: means over all that they compare. */
#include <math.h>

#include "op/op.h"
#include "tensor/shape.h"

/* ---- classes along axis 1 ------------------------------------------------------------------- */

/* `target` with an axis 1 of length 1; poison after recording an error. */
static tarn_tensor target_column(const char *name, tarn_tensor x, tarn_tensor target)
{
    const tarn_shape s = tarn_shape_get(x), t = tarn_shape_get(target);
    bool fits = s.rank >= 2 && t.rank == s.rank - 1;
    tarn_shape column = s;
    column.dim[1] = 1;
    for (int i = 0; fits && i < t.rank; i++)
        fits = t.dim[i] == column.dim[i == 0 ? 0 : i + 1];
    if (!fits)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "%s: classes %s and target %s must be [N, C, ...] and [N, ...]", name,
                          shape_text(s), shape_text(t));
    if (!dtype_is_float(tarn_dtype_get(x)) || dtype_is_float(tarn_dtype_get(target)))
        return graph_fail(x.replica, TARN_ERR_DTYPE,
                          "%s: classes are %s, target %s: must be float32 and int32 or uint8", name,
                          tarn_dtype_name(tarn_dtype_get(x)),
                          tarn_dtype_name(tarn_dtype_get(target)));
    return tarn_reshape(tarn_cast(target, TARN_I32), column);
}

static tarn_tensor zero_of(tarn_tensor x)
{
    return tarn_full(x.replica, TARN_SCALAR, 0.0f);
}

tarn_tensor tarn_nll_loss(tarn_tensor logp, tarn_tensor target)
{
    tarn_replica *r;
    if (!graph_operands("nll_loss", (tarn_tensor[]){ logp, target }, 2, &r))
        return graph_poison(r);
    const tarn_tensor column = target_column("nll_loss", logp, target);
    if (tarn_failed(column))
        return column;
    const tarn_tensor hit = tarn_eq(op_iota_of(r, tarn_shape_get(logp), 1), column);
    const tarn_tensor picked = tarn_where(hit, op_floats(logp), zero_of(logp));
    const double count = (double)tarn_shape_count(tarn_shape_get(target));
    return op_over(tarn_sum(picked, TARN_ALL, false), -count);
}

tarn_tensor tarn_cross_entropy(tarn_tensor logits, tarn_tensor target)
{
    tarn_replica *r;
    if (!graph_operands("cross_entropy", (tarn_tensor[]){ logits, target }, 2, &r))
        return graph_poison(r);
    tarn_dtype of;
    return tarn_nll_loss(tarn_log_softmax(op_wide(logits, &of), 1), target);
}

/* [C] as [1, C, 1, ...]; poison after recording an error. */
static tarn_tensor class_weights(tarn_tensor weight, tarn_shape s)
{
    const tarn_shape w = tarn_shape_get(weight);
    if (w.rank != 1 || w.dim[0] != s.dim[1] || !dtype_is_single(tarn_dtype_get(weight)))
        return graph_fail(
            weight.replica, TARN_ERR_SHAPE,
            "cross_entropy: weight is %s %s, must be float32 [%d], one for each class",
            tarn_dtype_name(tarn_dtype_get(weight)), shape_text(w), s.dim[1]);
    tarn_shape wide = { .rank = s.rank };
    for (int i = 0; i < s.rank; i++)
        wide.dim[i] = i == 1 ? s.dim[1] : 1;
    return tarn_reshape(weight, wide);
}

/* What each target counts for, added up: a number where that is their number. */
static tarn_tensor share_of_targets(tarn_tensor sum, tarn_tensor hit, tarn_tensor counted,
                                    tarn_tensor weight, tarn_shape targets)
{
    if (weight.replica != NULL) {
        const tarn_tensor all = tarn_where(hit, weight, zero_of(sum));
        return tarn_div(tarn_neg(sum), tarn_sum(all, TARN_ALL, false));
    }
    if (counted.replica == NULL)
        return op_over(sum, -(double)tarn_shape_count(targets));
    const tarn_tensor count = tarn_sum(tarn_cast(counted, TARN_F32), TARN_ALL, false);
    return tarn_div(tarn_neg(sum), count);
}

tarn_tensor tarn_cross_entropy_with(tarn_tensor logits, tarn_tensor target,
                                    tarn_cross_entropy_options options)
{
    tarn_replica *r;
    const bool weighted = options.weight.replica != NULL;
    if (!graph_operands_some("cross_entropy", (tarn_tensor[]){ logits, target, options.weight }, 2,
                             3, &r))
        return graph_poison(r);
    const float smoothing = options.label_smoothing;
    if (!(smoothing >= 0.0f && smoothing <= 1.0f))
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "cross_entropy: label_smoothing is %g, must be from 0 to 1",
                          (double)smoothing);
    const tarn_tensor column = target_column("cross_entropy", logits, target);
    if (tarn_failed(column))
        return column;
    if ((unsigned)options.reduction > TARN_LOSS_NONE)
        return graph_fail(r, TARN_ERR_ARGUMENT, "cross_entropy: there is no reduction %d",
                          (int)options.reduction);
    const tarn_shape s = tarn_shape_get(logits);
    const tarn_tensor weight = weighted ? class_weights(options.weight, s) : TARN_NONE;
    tarn_dtype of;
    tarn_tensor logp = tarn_log_softmax(op_wide(logits, &of), 1);
    if (weighted)
        logp = tarn_mul(logp, weight);
    tarn_tensor hit = tarn_eq(op_iota_of(r, s, 1), column), counted = TARN_NONE;
    if (options.ignore) {
        counted = tarn_ne(column, op_whole(r, options.ignore_index));
        hit = tarn_mul(hit, counted);
    }
    tarn_tensor each = tarn_where(hit, logp, zero_of(logp));
    if (smoothing > 0.0f) {
        const tarn_tensor all = options.ignore ? tarn_where(counted, logp, zero_of(logp)) : logp;
        const double part = (double)smoothing / s.dim[1];
        each = tarn_add(tarn_mul_scalar(each, 1 - (double)smoothing), tarn_mul_scalar(all, part));
    }
    if (options.reduction != TARN_LOSS_MEAN)
        return tarn_neg(
            tarn_sum(each, options.reduction == TARN_LOSS_NONE ? TARN_AXES(1) : TARN_ALL, false));
    return share_of_targets(tarn_sum(each, TARN_ALL, false), hit, counted, weight,
                            tarn_shape_get(target));
}

/* ---- two tensors, element by element -------------------------------------------------------- */

static tarn_tensor difference(tarn_tensor a, tarn_tensor b)
{
    tarn_dtype of;
    a = op_wide(a, &of);
    return tarn_sub(a, op_wide(b, &of));
}

tarn_tensor tarn_mse_loss(tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    if (!graph_operands("mse_loss", (tarn_tensor[]){ a, b }, 2, &r))
        return graph_poison(r);
    const tarn_tensor d = difference(a, b);
    return tarn_mean(tarn_mul(d, d), TARN_ALL, false);
}

tarn_tensor tarn_l1_loss(tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    if (!graph_operands("l1_loss", (tarn_tensor[]){ a, b }, 2, &r))
        return graph_poison(r);
    return tarn_mean(tarn_abs(difference(a, b)), TARN_ALL, false);
}

static tarn_tensor scalar_like(tarn_tensor x, double value)
{
    return op_constant_of(x.replica, TARN_SCALAR, tarn_dtype_get(x), value);
}

/* Distance z and what of it lies below `limit`, m: m (z - m / 2) is z^2 / 2 below the limit and
 * limit (z - limit / 2) above, with one slope, m, and nothing that overflows before its time. */
static tarn_tensor bent_distance(tarn_tensor a, tarn_tensor b, double limit)
{
    const tarn_tensor z = tarn_abs(op_floats(difference(a, b)));
    const tarn_tensor m = tarn_minimum(z, scalar_like(z, limit));
    return tarn_mul(m, tarn_sub(z, tarn_mul_scalar(m, 0.5f)));
}

/* The limit becomes a number of the type that the loss is computed in. */
static bool limit_fits(tarn_tensor a, tarn_tensor b, const char *name, const char *what,
                       double *limit, bool zero)
{
    *limit = op_scalar_of(op_join_floats(tarn_dtype_get(a), tarn_dtype_get(b)), *limit);
    if (isfinite(*limit) && (zero ? *limit >= 0.0 : *limit > 0.0))
        return true;
    graph_fail(a.replica, TARN_ERR_ARGUMENT, "%s: %s is %g, must be finite and %s", name, what,
               *limit, zero ? "not negative" : "above 0");
    return false;
}

tarn_tensor tarn_smooth_l1_loss(tarn_tensor a, tarn_tensor b, double beta)
{
    tarn_replica *r;
    if (!graph_operands("smooth_l1_loss", (tarn_tensor[]){ a, b }, 2, &r) ||
        !limit_fits(a, b, "smooth_l1_loss", "beta", &beta, true))
        return graph_poison(r);
    if (beta == 0.0)
        return tarn_l1_loss(a, b);
    const tarn_tensor bent = bent_distance(a, b, beta);
    return tarn_mean(tarn_div(bent, scalar_like(bent, beta)), TARN_ALL, false);
}

tarn_tensor tarn_huber_loss(tarn_tensor a, tarn_tensor b, double delta)
{
    tarn_replica *r;
    if (!graph_operands("huber_loss", (tarn_tensor[]){ a, b }, 2, &r) ||
        !limit_fits(a, b, "huber_loss", "delta", &delta, false))
        return graph_poison(r);
    return tarn_mean(bent_distance(a, b, delta), TARN_ALL, false);
}

/* Both of a float type, and of one shape. */
static bool alike(tarn_replica *r, const char *name, tarn_tensor x, tarn_tensor target)
{
    const tarn_shape s = tarn_shape_get(x), t = tarn_shape_get(target);
    if (shape_equal(s, t) && dtype_is_float(tarn_dtype_get(x)) &&
        dtype_is_float(tarn_dtype_get(target)))
        return true;
    graph_fail(r, TARN_ERR_SHAPE, "%s: %s %s and target %s %s must be float32 of one shape", name,
               tarn_dtype_name(tarn_dtype_get(x)), shape_text(s),
               tarn_dtype_name(tarn_dtype_get(target)), shape_text(t));
    return false;
}

tarn_tensor tarn_bce_with_logits(tarn_tensor x, tarn_tensor target, tarn_tensor pos_weight)
{
    tarn_replica *r;
    const bool weighted = pos_weight.replica != NULL;
    const tarn_tensor in[] = { x, target, pos_weight };
    if (!graph_operands("bce_with_logits", in, 2 + weighted, &r) ||
        !alike(r, "bce_with_logits", x, target))
        return graph_poison(r);
    tarn_dtype of;
    x = op_wide(x, &of);
    target = op_wide(target, &of);
    const tarn_tensor one = tarn_full(r, TARN_SCALAR, 1.0f);
    tarn_tensor rest = tarn_softplus(tarn_neg(x), 1.0f, INFINITY);
    if (weighted) {
        const tarn_tensor more = tarn_mul(tarn_sub(pos_weight, one), target);
        rest = tarn_mul(tarn_add(more, one), rest);
    }
    if (!tarn_failed(rest) && !shape_equal(tarn_shape_get(rest), tarn_shape_get(x)))
        return graph_fail(r, TARN_ERR_SHAPE,
                          "bce_with_logits: pos_weight %s does not broadcast to %s",
                          shape_text(tarn_shape_get(pos_weight)), shape_text(tarn_shape_get(x)));
    return tarn_mean(tarn_add(tarn_mul(tarn_sub(one, target), x), rest), TARN_ALL, false);
}

tarn_tensor tarn_kl_div(tarn_tensor logp, tarn_tensor target, tarn_kl_div_options options)
{
    tarn_replica *r;
    if (!graph_operands("kl_div", (tarn_tensor[]){ logp, target }, 2, &r) ||
        !alike(r, "kl_div", logp, target))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(logp);
    if (options.batch_mean && s.rank == 0)
        return graph_fail(r, TARN_ERR_SHAPE, "kl_div: a scalar has no samples for batch_mean");
    tarn_dtype of;
    logp = op_wide(logp, &of);
    target = op_wide(target, &of);
    tarn_tensor each;
    if (options.log_target) {
        each = tarn_mul(tarn_exp(target), tarn_sub(target, logp));
    } else { /* 0 log 0 is 0, and so is its slope here */
        const tarn_tensor some = tarn_ne(target, zero_of(target));
        const tarn_tensor safe = tarn_where(some, target, tarn_full(r, TARN_SCALAR, 1.0f));
        const tarn_tensor entropy =
            tarn_where(some, tarn_mul(target, tarn_log(safe)), zero_of(target));
        each = tarn_sub(entropy, tarn_mul(target, logp));
    }
    if (!options.batch_mean)
        return tarn_mean(each, TARN_ALL, false);
    return op_over(tarn_sum(each, TARN_ALL, false), s.dim[0]);
}
