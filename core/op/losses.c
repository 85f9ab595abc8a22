/* SPDX-License-Identifier: Apache-2.0 */
/* Losses, composed of other ops: each of what they compare, and what becomes of all of them. */
#include <math.h>
#include <stdatomic.h>

#include "op/op.h"
#include "tensor/shape.h"

/* ---- what becomes of all of them ------------------------------------------------------------ */

static bool reduction_fits(tarn_replica *r, const char *name, tarn_loss_reduction reduction)
{
    if ((unsigned)reduction <= TARN_LOSS_NONE)
        return true;
    graph_fail(r, TARN_ERR_ARGUMENT,
               "%s: there is no reduction %d: take one of tarn_loss_reduction", name,
               (int)reduction);
    return false;
}

static tarn_tensor reduced(tarn_tensor each, tarn_loss_reduction reduction)
{
    return reduction == TARN_LOSS_MEAN  ? tarn_mean(each, TARN_ALL, false)
           : reduction == TARN_LOSS_SUM ? tarn_sum(each, TARN_ALL, false)
                                        : each;
}

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
        return graph_fail(
            x.replica, TARN_ERR_DTYPE,
            "%s: classes are %s, target %s: must be float32 and int32, int64 or uint8", name,
            tarn_dtype_name(tarn_dtype_get(x)), tarn_dtype_name(tarn_dtype_get(target)));
    return tarn_reshape(tarn_cast(target, TARN_I32), column);
}

static tarn_tensor zero_of(tarn_tensor x)
{
    return tarn_full(x.replica, TARN_SCALAR, 0.0f);
}

static tarn_tensor mean_likelihood(const char *name, tarn_tensor logp, tarn_tensor target)
{
    const tarn_tensor column = target_column(name, logp, target);
    if (tarn_failed(column))
        return column;
    const tarn_tensor hit = tarn_eq(op_iota_of(logp.replica, tarn_shape_get(logp), 1), column);
    const tarn_tensor picked = tarn_where(hit, op_floats(logp), zero_of(logp));
    const double count = (double)tarn_shape_count(tarn_shape_get(target));
    return op_over(tarn_sum(picked, TARN_ALL, false), -count);
}

tarn_tensor tarn_nll_loss(tarn_tensor logp, tarn_tensor target)
{
    tarn_replica *r;
    if (!graph_operands("nll_loss", (tarn_tensor[]){ logp, target }, 2, &r))
        return graph_poison(r);
    return mean_likelihood("nll_loss", logp, target);
}

/* Whether a target says of each class how probable it is. */
static bool are_probabilities(tarn_tensor logits, tarn_tensor target)
{
    const tarn_shape s = tarn_shape_get(logits);
    return s.rank >= 2 && shape_equal(s, tarn_shape_get(target)) &&
           dtype_is_float(tarn_dtype_get(logits)) && dtype_is_float(tarn_dtype_get(target));
}

tarn_tensor tarn_cross_entropy(tarn_tensor logits, tarn_tensor target)
{
    tarn_replica *r;
    if (!graph_operands("cross_entropy", (tarn_tensor[]){ logits, target }, 2, &r))
        return graph_poison(r);
    if (are_probabilities(logits, target))
        return tarn_cross_entropy_with(logits, target, (tarn_cross_entropy_options){ 0 });
    tarn_dtype of;
    return mean_likelihood("cross_entropy", tarn_log_softmax(op_wide(logits, &of), 1), target);
}

/* [C] as [1, C, 1, ...]; poison after recording an error. */
static tarn_tensor class_weights(const char *name, tarn_tensor weight, tarn_shape s)
{
    const tarn_shape w = tarn_shape_get(weight);
    if (w.rank != 1 || w.dim[0] != s.dim[1] || !dtype_is_single(tarn_dtype_get(weight)))
        return graph_fail(weight.replica, TARN_ERR_SHAPE,
                          "%s: weight is %s %s, must be float32 [%d], one for each class", name,
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

static bool options_fit(tarn_replica *r, const char *name, tarn_cross_entropy_options options)
{
    const float smoothing = options.label_smoothing;
    if (!(smoothing >= 0.0f && smoothing <= 1.0f)) {
        graph_fail(r, TARN_ERR_ARGUMENT, "%s: label_smoothing is %g, must be from 0 to 1", name,
                   (double)smoothing);
        return false;
    }
    if (options.ignore_index != 0 && !options.ignore) {
        graph_fail(
            r, TARN_ERR_ARGUMENT,
            "%s: ignore_index is %d, but ignore is false: set .ignore = true, or leave out both",
            name, (int)options.ignore_index);
        return false;
    }
    return reduction_fits(r, name, options.reduction);
}

/* Whether options, classes x and their target go together; `column` is the target with an axis 1. */
static bool classes_fit(const char *name, tarn_tensor x, tarn_tensor target,
                        tarn_cross_entropy_options options, tarn_tensor *column)
{
    tarn_replica *r;
    const bool there =
        graph_operands_some(name, (tarn_tensor[]){ x, target, options.weight }, 2, 3, &r);
    *column = graph_poison(r);
    if (!there || !options_fit(r, name, options))
        return false;
    *column = target_column(name, x, target);
    return !tarn_failed(*column);
}

/* Of log-probabilities, after classes_fit(). */
static tarn_tensor likelihood(const char *name, tarn_tensor logp, tarn_tensor column,
                              tarn_shape targets, tarn_cross_entropy_options options)
{
    tarn_replica *r = logp.replica;
    const tarn_shape s = tarn_shape_get(logp);
    const float smoothing = options.label_smoothing;
    const tarn_tensor weight =
        options.weight.replica != NULL ? class_weights(name, options.weight, s) : TARN_NONE;
    if (weight.replica != NULL)
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
    return share_of_targets(tarn_sum(each, TARN_ALL, false), hit, counted, weight, targets);
}

/* -sum_c w[c] p[c] logp[c], where p are the target's probabilities, smoothed. */
static tarn_tensor cross_of_probabilities(tarn_tensor logits, tarn_tensor target,
                                          tarn_cross_entropy_options options)
{
    tarn_replica *r;
    const char *name = "cross_entropy";
    if (!graph_operands_some(name, (tarn_tensor[]){ logits, target, options.weight }, 2, 3, &r) ||
        !options_fit(r, name, options))
        return graph_poison(r);
    if (options.ignore)
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "%s: a target of probabilities has no index to ignore", name);
    const tarn_shape s = tarn_shape_get(logits);
    const double smoothing = (double)options.label_smoothing;
    tarn_dtype of, as;
    tarn_tensor logp = tarn_log_softmax(op_wide(logits, &of), 1);
    if (options.weight.replica != NULL)
        logp = tarn_mul(logp, class_weights(name, options.weight, s));
    tarn_tensor p = op_wide(target, &as);
    if (smoothing > 0)
        p = tarn_add_scalar(tarn_mul_scalar(p, 1 - smoothing), smoothing / s.dim[1]);
    const tarn_tensor each = tarn_sum(tarn_mul(p, logp), TARN_AXES(1), false);
    if (options.reduction == TARN_LOSS_NONE || tarn_failed(each))
        return tarn_neg(each);
    const tarn_tensor sum = tarn_sum(each, TARN_ALL, false);
    return options.reduction == TARN_LOSS_SUM
               ? tarn_neg(sum)
               : op_over(sum, -(double)tarn_shape_count(tarn_shape_get(each)));
}

tarn_tensor tarn_cross_entropy_with(tarn_tensor logits, tarn_tensor target,
                                    tarn_cross_entropy_options options)
{
    tarn_tensor column;
    tarn_dtype of;
    if (are_probabilities(logits, target))
        return cross_of_probabilities(logits, target, options);
    if (!classes_fit("cross_entropy", logits, target, options, &column))
        return graph_poison(column.replica);
    return likelihood("cross_entropy", tarn_log_softmax(op_wide(logits, &of), 1), column,
                      tarn_shape_get(target), options);
}

tarn_tensor tarn_nll_loss_with(tarn_tensor logp, tarn_tensor target,
                               tarn_cross_entropy_options options)
{
    tarn_tensor column;
    if (!classes_fit("nll_loss", logp, target, options, &column))
        return graph_poison(column.replica);
    return likelihood("nll_loss", op_floats(logp), column, tarn_shape_get(target), options);
}

/* ---- two tensors, element by element -------------------------------------------------------- */

/* [N, 1] next to [N] is a table of all pairs, which is seldom meant. */
static void warn_of_broadcast(tarn_shape a, tarn_shape b)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!shape_equal(a, b) && tarn_shape_count(b) != 1 && !atomic_flag_test_and_set(&told))
        graph_warn("a loss compares %s with %s, which are broadcast to one shape: if one of "
                   "them has an axis too many, use tarn_reshape (told once)",
                   shape_text(a), shape_text(b));
}

static tarn_tensor difference(tarn_tensor a, tarn_tensor b)
{
    tarn_dtype of;
    warn_of_broadcast(tarn_shape_get(a), tarn_shape_get(b));
    a = op_wide(a, &of);
    return tarn_sub(a, op_wide(b, &of));
}

tarn_tensor tarn_mse_loss_with(tarn_tensor a, tarn_tensor b, tarn_loss_reduction reduction)
{
    tarn_replica *r;
    if (!graph_operands("mse_loss", (tarn_tensor[]){ a, b }, 2, &r) ||
        !reduction_fits(r, "mse_loss", reduction))
        return graph_poison(r);
    const tarn_tensor d = difference(a, b);
    return reduced(tarn_mul(d, d), reduction);
}

tarn_tensor tarn_mse_loss(tarn_tensor a, tarn_tensor b)
{
    return tarn_mse_loss_with(a, b, TARN_LOSS_MEAN);
}

tarn_tensor tarn_l1_loss_with(tarn_tensor a, tarn_tensor b, tarn_loss_reduction reduction)
{
    tarn_replica *r;
    if (!graph_operands("l1_loss", (tarn_tensor[]){ a, b }, 2, &r) ||
        !reduction_fits(r, "l1_loss", reduction))
        return graph_poison(r);
    return reduced(tarn_abs(difference(a, b)), reduction);
}

tarn_tensor tarn_l1_loss(tarn_tensor a, tarn_tensor b)
{
    return tarn_l1_loss_with(a, b, TARN_LOSS_MEAN);
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

tarn_tensor tarn_smooth_l1_loss_with(tarn_tensor a, tarn_tensor b, double beta,
                                     tarn_loss_reduction reduction)
{
    tarn_replica *r;
    if (!graph_operands("smooth_l1_loss", (tarn_tensor[]){ a, b }, 2, &r) ||
        !limit_fits(a, b, "smooth_l1_loss", "beta", &beta, true) ||
        !reduction_fits(r, "smooth_l1_loss", reduction))
        return graph_poison(r);
    if (beta == 0.0)
        return tarn_l1_loss_with(a, b, reduction);
    const tarn_tensor bent = bent_distance(a, b, beta);
    return reduced(tarn_div(bent, scalar_like(bent, beta)), reduction);
}

tarn_tensor tarn_smooth_l1_loss(tarn_tensor a, tarn_tensor b, double beta)
{
    return tarn_smooth_l1_loss_with(a, b, beta, TARN_LOSS_MEAN);
}

tarn_tensor tarn_huber_loss_with(tarn_tensor a, tarn_tensor b, double delta,
                                 tarn_loss_reduction reduction)
{
    tarn_replica *r;
    if (!graph_operands("huber_loss", (tarn_tensor[]){ a, b }, 2, &r) ||
        !limit_fits(a, b, "huber_loss", "delta", &delta, false) ||
        !reduction_fits(r, "huber_loss", reduction))
        return graph_poison(r);
    return reduced(bent_distance(a, b, delta), reduction);
}

tarn_tensor tarn_huber_loss(tarn_tensor a, tarn_tensor b, double delta)
{
    return tarn_huber_loss_with(a, b, delta, TARN_LOSS_MEAN);
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

/* Whether a product of `weight` and what is of x's shape has that shape. False after recording an error. */
static bool spreads(const char *what, tarn_tensor weight, tarn_tensor x)
{
    const tarn_shape w = tarn_shape_get(weight), s = tarn_shape_get(x);
    tarn_shape both;
    if (shape_broadcast(w, s, &both) && shape_equal(both, s))
        return true;
    graph_fail(x.replica, TARN_ERR_SHAPE, "bce_with_logits: %s %s does not broadcast to %s", what,
               shape_text(w), shape_text(s));
    return false;
}

tarn_tensor tarn_bce_with_logits_with(tarn_tensor x, tarn_tensor target, tarn_bce_options options)
{
    tarn_replica *r;
    const tarn_tensor weight = options.weight, positive = options.pos_weight;
    const bool weighted = weight.replica != NULL, leans = positive.replica != NULL;
    const tarn_tensor in[] = { x, target, positive, weight };
    if (!graph_operands_some("bce_with_logits", in, 2, 4, &r) ||
        !alike(r, "bce_with_logits", x, target) ||
        !reduction_fits(r, "bce_with_logits", options.reduction) ||
        (leans && !spreads("pos_weight", positive, x)) ||
        (weighted && !spreads("weight", weight, x)))
        return graph_poison(r);
    tarn_dtype of;
    x = op_wide(x, &of);
    target = op_wide(target, &of);
    const tarn_tensor one = tarn_full(r, TARN_SCALAR, 1.0f);
    tarn_tensor rest = tarn_softplus(tarn_neg(x), 1.0f, INFINITY);
    if (leans) {
        const tarn_tensor more = tarn_mul(tarn_sub(positive, one), target);
        rest = tarn_mul(tarn_add(more, one), rest);
    }
    const tarn_tensor each = tarn_add(tarn_mul(tarn_sub(one, target), x), rest);
    return reduced(weighted ? tarn_mul(each, weight) : each, options.reduction);
}

tarn_tensor tarn_bce_with_logits(tarn_tensor x, tarn_tensor target, tarn_tensor pos_weight)
{
    return tarn_bce_with_logits_with(x, target, (tarn_bce_options){ .pos_weight = pos_weight });
}

tarn_tensor tarn_kl_div(tarn_tensor logp, tarn_tensor target, tarn_kl_div_options options)
{
    tarn_replica *r;
    if (!graph_operands("kl_div", (tarn_tensor[]){ logp, target }, 2, &r) ||
        !alike(r, "kl_div", logp, target) || !reduction_fits(r, "kl_div", options.reduction))
        return graph_poison(r);
    if (options.batch_mean && options.reduction != TARN_LOSS_MEAN)
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "kl_div: batch_mean is a mean, reduction %d is none: leave one of them 0",
                          (int)options.reduction);
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
        return reduced(each, options.reduction);
    return op_over(tarn_sum(each, TARN_ALL, false), s.dim[0]);
}
