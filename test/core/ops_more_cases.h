/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of stacks, Einstein's sums and losses. Values and central differences are of the definitions. */
#ifndef TARN_TEST_OPS_MORE_CASES_H
#define TARN_TEST_OPS_MORE_CASES_H

#include "ops_nn_cases.h"

static struct ref scalar_of(double v)
{
    struct ref y = ref_new(0, NULL);
    y.v[0] = v;
    return y;
}

/* ---- views ---------------------------------------------------------------------------------- */

DEVICE(stack, tarn_stack(in, 2, c->arg[0]))
/* Of two [3, 4]: along axis 0 or 2. */
static struct ref ref_of_stack(const struct ref *in, const struct op_case *c)
{
    struct ref y = ref_new(3, c->arg[0] == 0 ? (const int[]){ 2, 3, 4 } : (const int[]){ 3, 4, 2 });
    for (int i = 0; i < 24; i++)
        y.v[i] = c->arg[0] == 0 ? in[i / 12].v[i % 12] : in[i % 2].v[i / 2];
    return y;
}

/* The second of three unequal parts. */
static tarn_tensor dev_split(const tarn_tensor *in, const struct op_case *c)
{
    tarn_tensor parts[3];
    tarn_split(in[0], (const int32_t[]){ 2, 4, 1 }, 3, -1, parts);
    (void)c;
    return parts[1];
}
REFERENCE(split, ref_slice(&in[0], 1, 2, 6, 1))

DEVICE(einsum, tarn_einsum(c->arg[0] == 0 ? "bqd , kbd -> qbk" : "ij,j", in[0], in[1]))
static struct ref ref_of_einsum(const struct ref *in, const struct op_case *c)
{
    const int *a = in[0].dim;
    if (c->arg[0] != 0)
        return ref_matmul(&in[0], &in[1]);
    struct ref y = ref_new(3, (const int[]){ a[1], a[0], in[1].dim[0] });
    for (int b = 0; b < a[0]; b++)
        for (int q = 0; q < a[1]; q++)
            for (int k = 0; k < y.dim[2]; k++)
                for (int d = 0; d < a[2]; d++)
                    y.v[(q * a[0] + b) * y.dim[2] + k] +=
                        in[0].v[(b * a[1] + q) * a[2] + d] * in[1].v[(k * a[0] + b) * a[2] + d];
    return y;
}

DEVICE(pad_reflect, tarn_pad_reflect(in[0], tarn_shape_of(c->in[0].rank, c->arg),
                                     tarn_shape_of(c->in[0].rank, c->arg + 4)))
static int reflected_at(int i, int low, int extent)
{
    const int at = i < low ? low - i : i - low;
    return at < extent ? at : 2 * (extent - 1) - at;
}
static struct ref ref_of_pad_reflect(const struct ref *in, const struct op_case *c)
{
    const int *s = in[0].dim, *low = c->arg, *high = c->arg + 4;
    struct ref y = ref_new(2, (const int[]){ low[0] + s[0] + high[0], low[1] + s[1] + high[1] });
    for (int i = 0; i < y.dim[0]; i++)
        for (int j = 0; j < y.dim[1]; j++)
            y.v[i * y.dim[1] + j] =
                in[0].v[reflected_at(i, low[0], s[0]) * s[1] + reflected_at(j, low[1], s[1])];
    return y;
}

DEVICE(pixel_shuffle, tarn_pixel_shuffle(in[0], c->arg[0]))
DEVICE(pixel_unshuffle, tarn_pixel_unshuffle(in[0], c->arg[0]))
/* Pixel (y, x) of channel c comes from channel (c f + y % f) f + x % f, or goes there. */
static struct ref pixels(const struct ref *in, int f, bool back)
{
    const int *s = in->dim, c = back ? s[1] : s[1] / (f * f), h = back ? s[2] : s[2] * f,
              w = back ? s[3] : s[3] * f;
    struct ref y = ref_new(4, back ? (const int[]){ s[0], c * f * f, h / f, w / f }
                                   : (const int[]){ s[0], c, h, w });
    for (int i = 0; i < s[0] * c * h * w; i++) {
        const int px = i % w, py = i / w % h, pc = i / w / h;
        const int at = (((pc * f + py % f) * f + px % f) * (h / f) + py / f) * (w / f) + px / f;
        y.v[back ? at : i] = in->v[back ? i : at];
    }
    return y;
}
REFERENCE(pixel_shuffle, pixels(&in[0], c->arg[0], false))
REFERENCE(pixel_unshuffle, pixels(&in[0], c->arg[0], true))

/* ---- others ---------------------------------------------------------------------------------- */

FUNCTION1(elu, x > 0 ? x : 0.75 * expm1(x))
DEVICE(elu, tarn_elu(in[0], 0.75f))
REFERENCE(elu, ref_unary(f_elu, &in[0]))

DEVICE(logsumexp, tarn_logsumexp(in[0], axes_of((unsigned)c->arg[0]), c->arg[1] != 0))
static struct ref ref_of_logsumexp(const struct ref *in, const struct op_case *c)
{
    struct ref e = ref_unary(exp, &in[0]);
    struct ref y = ref_sum(&e, (unsigned)c->arg[0], c->arg[1] != 0);
    for (size_t i = 0; i < ref_count(&y); i++)
        y.v[i] = log(y.v[i]);
    ref_free(&e);
    return y;
}

/* ---- losses --------------------------------------------------------------------------------- */

/* Each loss, or what a reduction makes of all, of which the mean goes over `count`; takes `each`. */
static struct ref reduced_ref(struct ref each, int reduction, double count)
{
    double sum = 0;
    if (reduction == TARN_LOSS_NONE)
        return each;
    for (size_t i = 0; i < ref_count(&each); i++)
        sum += each.v[i];
    ref_free(&each);
    return scalar_of(reduction == TARN_LOSS_MEAN ? sum / count : sum);
}

/* arg: ignored class or -1, smoothing in percent; x [N, C, M]. */
static tarn_tensor dev_cross_entropy_with(const tarn_tensor *in, const struct op_case *c)
{
    tarn_cross_entropy_options o = { .ignore = c->arg[0] >= 0 };
    o.ignore_index = o.ignore ? c->arg[0] : 0;
    o.label_smoothing = (float)c->arg[1] / 128;
    if (c->inputs == 3)
        o.weight = in[2];
    return tarn_cross_entropy_with(in[0], in[1], o);
}

static struct ref ref_of_cross_entropy_with(const struct ref *in, const struct op_case *c)
{
    struct ref logp = ref_log_softmax(&in[0], 1);
    const int n = in[0].dim[0], classes = in[0].dim[1], inner = in[0].dim[2];
    const double s = c->arg[1] / 128.0;
    double sum = 0, size = 0;
    for (int i = 0; i < n * inner; i++) {
        const int t = (int)in[1].v[i];
        if (t == c->arg[0])
            continue;
        size += c->inputs == 3 ? in[2].v[t] : 1;
        for (int k = 0; k < classes; k++)
            sum -= (c->inputs == 3 ? in[2].v[k] : 1) * (s / classes + (k == t ? 1 - s : 0)) *
                   logp.v[(i / inner * classes + k) * inner + i % inner];
    }
    ref_free(&logp);
    return scalar_of(sum / size);
}

/* arg: smoothing in percent, reduction; the target's probabilities do not add up to 1, which nothing asks them to. */
static tarn_tensor dev_cross_of_probabilities(const tarn_tensor *in, const struct op_case *c)
{
    tarn_cross_entropy_options o = { .label_smoothing = (float)c->arg[0] / 128,
                                     .reduction = (tarn_loss_reduction)c->arg[1] };
    if (c->inputs == 3)
        o.weight = in[2];
    return c->arg[0] == 0 && c->arg[1] == 0 && c->inputs == 2
               ? tarn_cross_entropy(in[0], in[1])
               : tarn_cross_entropy_with(in[0], in[1], o);
}

static struct ref ref_of_cross_of_probabilities(const struct ref *in, const struct op_case *c)
{
    struct ref logp = ref_log_softmax(&in[0], 1);
    const int n = in[0].dim[0], classes = in[0].dim[1], inner = in[0].dim[2];
    const double s = c->arg[0] / 128.0;
    struct ref each = ref_new(2, (const int[]){ n, inner });
    for (int i = 0; i < n * inner; i++)
        for (int k = 0; k < classes; k++) {
            const int at = (i / inner * classes + k) * inner + i % inner;
            each.v[i] -= (c->inputs == 3 ? in[2].v[k] : 1) * ((1 - s) * in[1].v[at] + s / classes) *
                         logp.v[at];
        }
    ref_free(&logp);
    return reduced_ref(each, c->arg[1], n * inner);
}

/* arg: reduction, and whether input 2 is a weight and not pos_weight. */
static tarn_tensor dev_bce(const tarn_tensor *in, const struct op_case *c)
{
    tarn_bce_options o = { .reduction = (tarn_loss_reduction)c->arg[0] };
    if (c->arg[0] == TARN_LOSS_MEAN && c->arg[1] == 0)
        return tarn_bce_with_logits(in[0], in[1], c->inputs == 3 ? in[2] : TARN_NONE);
    if (c->inputs == 3)
        *(c->arg[1] ? &o.weight : &o.pos_weight) = in[2];
    return tarn_bce_with_logits_with(in[0], in[1], o);
}

static struct ref ref_of_bce(const struct ref *in, const struct op_case *c)
{
    struct ref each = ref_new(in[0].rank, in[0].dim);
    const size_t n = ref_count(&each);
    for (size_t i = 0; i < n; i++) {
        const double p = c->inputs == 3 ? in[2].v[i % (size_t)in[2].dim[0]] : 1;
        const double sigmoid = 1 / (1 + exp(-in[0].v[i])), y = in[1].v[i];
        each.v[i] = -(c->arg[1] ? 1 : p) * y * log(sigmoid) - (1 - y) * log(1 - sigmoid);
        each.v[i] *= c->arg[1] ? p : 1;
    }
    return reduced_ref(each, c->arg[0], (double)n);
}

/* arg: Huber's loss, and not the smooth one; reduction. */
static tarn_tensor dev_bent(const tarn_tensor *in, const struct op_case *c)
{
    const tarn_loss_reduction how = (tarn_loss_reduction)c->arg[1];
    if (how == TARN_LOSS_MEAN)
        return c->arg[0] ? tarn_huber_loss(in[0], in[1], 0.75f)
                         : tarn_smooth_l1_loss(in[0], in[1], 0.75f);
    return c->arg[0] ? tarn_huber_loss_with(in[0], in[1], 0.75f, how)
                     : tarn_smooth_l1_loss_with(in[0], in[1], 0.75f, how);
}

static struct ref ref_of_bent(const struct ref *in, const struct op_case *c)
{
    struct ref each = ref_new(in[0].rank, in[0].dim);
    const size_t n = ref_count(&each);
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(in[0].v[i] - in[1].v[i]);
        each.v[i] = (d < 0.75 ? d * d / 2 : 0.75 * (d - 0.375)) / (c->arg[0] ? 1 : 0.75);
    }
    return reduced_ref(each, c->arg[1], (double)n);
}

/* arg: reduction, and whether distances are squared. */
static tarn_tensor dev_distance(const tarn_tensor *in, const struct op_case *c)
{
    const tarn_loss_reduction how = (tarn_loss_reduction)c->arg[0];
    if (how == TARN_LOSS_MEAN && !c->arg[1])
        return tarn_l1_loss(in[0], in[1]);
    return c->arg[1] ? tarn_mse_loss_with(in[0], in[1], how) : tarn_l1_loss_with(in[0], in[1], how);
}

static struct ref ref_of_distance(const struct ref *in, const struct op_case *c)
{
    struct ref each = ref_new(in[0].rank, in[0].dim);
    const size_t n = ref_count(&each);
    for (size_t i = 0; i < n; i++) {
        const double d = in[0].v[i] - in[1].v[i];
        each.v[i] = c->arg[1] ? d * d : fabs(d);
    }
    return reduced_ref(each, c->arg[0], (double)n);
}

/* arg: batch_mean, log_target, reduction. */
DEVICE(kl_div, tarn_kl_div(in[0], in[1],
                           (tarn_kl_div_options){ c->arg[0] != 0, c->arg[1] != 0,
                                                  (tarn_loss_reduction)c->arg[2] }))
static struct ref ref_of_kl_div(const struct ref *in, const struct op_case *c)
{
    struct ref each = ref_new(in[0].rank, in[0].dim);
    const size_t n = ref_count(&each);
    for (size_t i = 0; i < n; i++) {
        const double p = c->arg[1] ? exp(in[1].v[i]) : in[1].v[i];
        each.v[i] = p * (log(p) - in[0].v[i]);
    }
    return reduced_ref(each, c->arg[2], c->arg[0] ? in[0].dim[0] : (double)n);
}

/* arg: ignored class, reduction; logp [N, C], weight [C] without a gradient. */
DEVICE(nll_with, tarn_nll_loss_with(in[0], in[1],
                                    (tarn_cross_entropy_options){
                                        .ignore = true,
                                        .ignore_index = c->arg[0],
                                        .weight = in[2],
                                        .reduction = (tarn_loss_reduction)c->arg[1] }))
static struct ref ref_of_nll_with(const struct ref *in, const struct op_case *c)
{
    const int n = in[0].dim[0], classes = in[0].dim[1];
    struct ref each = ref_new(1, &n);
    double size = 0;
    for (int i = 0; i < n; i++) {
        const int t = (int)in[1].v[i];
        const double w = t == c->arg[0] ? 0 : in[2].v[t];
        each.v[i] = -w * in[0].v[i * classes + t];
        size += w;
    }
    return reduced_ref(each, c->arg[1], size);
}

/* clang-format off */
static const struct op_case more_cases[] = {
    { "stack axis 0",           CALLS(stack),  BOUND_EXACT,    0, 0,  false, { 0 }, 2, { IN(SIGNED, 2, 3, 4), IN(SIGNED, 2, 3, 4) } },
    { "stack axis 2",           CALLS(stack),  BOUND_EXACT,    0, 0,  false, { 2 }, 2, { IN(SIGNED, 2, 3, 4), IN(SIGNED, 2, 3, 4) } },
    { "split [5,7]",            CALLS(split),  BOUND_EXACT,    0, 0,  false, { 0 }, S1(2, D(5, 7)) },
    { "einsum of three letters", CALLS(einsum), BOUND_LINEAR,  0, 5,  false, { 0 }, 2, { IN(SIGNED, 3, 17, 3, 5), IN(SIGNED, 3, 4, 17, 5) } },
    { "einsum implied result",  CALLS(einsum), BOUND_LINEAR,   0, 7,  false, { 1 }, 2, { IN(SIGNED, 2, 16, 7), IN(SIGNED, 1, 7) } },
    { "cross_entropy [5,3,7]",  CALLS(cross_entropy_with), BOUND_COMPOSED, 0, 60, false, { -1, 0 },  2, { IN(SIGNED, 3, 5, 3, 7), INDEX(3, 2, 5, 7) } },
    { "cross_entropy ignores",  CALLS(cross_entropy_with), BOUND_COMPOSED, 0, 60, false, { 1, 16 },  2, { IN(SIGNED, 3, 17, 3, 1), INDEX(3, 2, 17, 1) } },
    { "cross_entropy weighted", CALLS(cross_entropy_with), BOUND_COMPOSED, 0, 60, false, { 2, 16 },  3, { IN(SIGNED, 3, 5, 4, 3), INDEX(4, 2, 5, 3), IN(POSITIVE, 1, 4) } },
    { "cross_entropy probable", CALLS(cross_of_probabilities), BOUND_COMPOSED, 0, 60, false, { 0 },     2, { IN(SIGNED, 3, 5, 3, 7), IN(POSITIVE, 3, 5, 3, 7) } },
    { "... summed, weighted",   CALLS(cross_of_probabilities), BOUND_COMPOSED, 0, 60, false, { 16, 1 }, 3, { IN(SIGNED, 3, 17, 4, 1), IN(POSITIVE, 3, 17, 4, 1), IN(POSITIVE, 1, 4) } },
    { "... each, smoothed",     CALLS(cross_of_probabilities), BOUND_COMPOSED, 0, 60, false, { 16, 2 }, 2, { IN(SIGNED, 3, 16, 3, 2), IN(POSITIVE, 3, 16, 3, 2) } },
    { "bce_with_logits [7,5]",  CALLS(bce),    BOUND_COMPOSED, 0, 60, false, { 0 }, 2, { IN(SIGNED, 2, 7, 5), IN(POSITIVE, 2, 7, 5) } },
    { "bce pos_weight [16,3]",  CALLS(bce),    BOUND_COMPOSED, 0, 70, false, { 0 }, 3, { IN(SIGNED, 2, 16, 3), IN(POSITIVE, 2, 16, 3), IN(POSITIVE, 1, 3) } },
    { "pad_reflect [3,17]",     CALLS(pad_reflect), BOUND_EXACT, 0, 0, false, { 2, 0, 0, 0, 1, 16 }, S1(2, D(3, 17)) },
    { "pad_reflect [16,2]",     CALLS(pad_reflect), BOUND_EXACT, 0, 0, false, { 0, 1, 0, 0, 15, 1 }, S1(2, D(16, 2)) },
    { "pixel_shuffle [2,12,3,5]", CALLS(pixel_shuffle), BOUND_EXACT, 0, 0, false, { 2 }, S1(4, D(2, 12, 3, 5)) },
    { "pixel_unshuffle [1,2,6,9]", CALLS(pixel_unshuffle), BOUND_EXACT, 0, 0, false, { 3 }, S1(4, D(1, 2, 6, 9)) },
    { "elu [33,3]",             CALLS(elu),    BOUND_COMPOSED, 0, 20, false, { 0 }, S1(2, D(33, 3)) },
    { "logsumexp [17,5] axis 1", CALLS(logsumexp), BOUND_COMPOSED, 0, 40, false, { 2 }, S1(2, D(17, 5)) },
    { "logsumexp [3,2,7] 0 2 keep", CALLS(logsumexp), BOUND_COMPOSED, 0, 60, false, { 5, 1 }, S1(3, D(3, 2, 7)) },
    { "l1 [17,3]",              CALLS(distance), BOUND_COMPOSED, 0, 80, false, { 0 }, 2, { IN(SIGNED, 2, 17, 3), IN(SIGNED, 2, 17, 3) } },
    { "smooth_l1 [17,2]",       CALLS(bent),   BOUND_COMPOSED, 0, 50, false, { 0 }, 2, { IN(SIGNED, 2, 17, 2), IN(SIGNED, 2, 17, 2) } },
    { "huber [33]",             CALLS(bent),   BOUND_COMPOSED, 0, 50, false, { 1 }, 2, { IN(SIGNED, 1, 33), IN(SIGNED, 1, 33) } },
    { "kl_div [7,5]",           CALLS(kl_div), BOUND_COMPOSED, 0, 50, false, { 0 }, 2, { IN(SIGNED, 2, 7, 5), IN(POSITIVE, 2, 7, 5) } },
    { "bce sum [7,5]",          CALLS(bce),    BOUND_COMPOSED, 0, 60, false, { 1 }, 2, { IN(SIGNED, 2, 7, 5), IN(POSITIVE, 2, 7, 5) } },
    { "bce none [16,3]",        CALLS(bce),    BOUND_COMPOSED, 0, 30, false, { 2 }, 3, { IN(SIGNED, 2, 16, 3), IN(POSITIVE, 2, 16, 3), IN(POSITIVE, 1, 3) } },
    { "bce weight [16,3]",      CALLS(bce),    BOUND_COMPOSED, 0, 70, false, { 0, 1 }, 3, { IN(SIGNED, 2, 16, 3), IN(POSITIVE, 2, 16, 3), IN(POSITIVE, 1, 3) } },
    { "bce weight none [17,3]", CALLS(bce),    BOUND_COMPOSED, 0, 30, false, { 2, 1 }, 3, { IN(SIGNED, 2, 17, 3), IN(POSITIVE, 2, 17, 3), IN(POSITIVE, 1, 3) } },
    { "l1 none [17,3]",         CALLS(distance), BOUND_COMPOSED, 0, 4, false, { 2 }, 2, { IN(SIGNED, 2, 17, 3), IN(SIGNED, 2, 17, 3) } },
    { "mse sum [17,3]",         CALLS(distance), BOUND_COMPOSED, 0, 60, false, { 1, 1 }, 2, { IN(SIGNED, 2, 17, 3), IN(SIGNED, 2, 17, 3) } },
    { "mse none [5,7]",         CALLS(distance), BOUND_COMPOSED, 0, 4, false, { 2, 1 }, 2, { IN(SIGNED, 2, 5, 7), IN(SIGNED, 2, 5, 7) } },
    { "smooth_l1 none [17,2]",  CALLS(bent),   BOUND_COMPOSED, 0, 10, false, { 0, 2 }, 2, { IN(SIGNED, 2, 17, 2), IN(SIGNED, 2, 17, 2) } },
    { "huber sum [33]",         CALLS(bent),   BOUND_COMPOSED, 0, 50, false, { 1, 1 }, 2, { IN(SIGNED, 1, 33), IN(SIGNED, 1, 33) } },
    { "kl_div sum [7,5]",       CALLS(kl_div), BOUND_COMPOSED, 0, 50, false, { 0, 0, 1 }, 2, { IN(SIGNED, 2, 7, 5), IN(POSITIVE, 2, 7, 5) } },
    { "kl_div log none [7,5]",  CALLS(kl_div), BOUND_COMPOSED, 0, 20, false, { 0, 1, 2 }, 2, { IN(SIGNED, 2, 7, 5), IN(SIGNED, 2, 7, 5) } },
    { "nll weighted [17,4]",    CALLS(nll_with), BOUND_COMPOSED, 0, 50, false, { 2, 0 }, 3, { IN(SIGNED, 2, 17, 4), INDEX(4, 1, 17), IN(POSITIVE, 1, 4) } },
    { "nll none [17,4]",        CALLS(nll_with), BOUND_COMPOSED, 0, 4, false, { 0, 2 }, 3, { IN(SIGNED, 2, 17, 4), INDEX(4, 1, 17), IN(POSITIVE, 1, 4) } },
    { "kl_div log [3,5] batchmean", CALLS(kl_div), BOUND_COMPOSED, 0, 40, false, { 1, 1 }, 2, { IN(SIGNED, 2, 3, 5), IN(SIGNED, 2, 3, 5) } },
};
/* clang-format on */

#endif
