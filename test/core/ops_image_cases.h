/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of convolutions in one dimension and transposed ones, larger images, norms and attention. */
#ifndef TARN_TEST_OPS_IMAGE_CASES_H
#define TARN_TEST_OPS_IMAGE_CASES_H

#include "ops_nn_cases.h"

/* arg: stride, padding, dilation, groups. */
DEVICE(conv1d, tarn_conv1d_op(in[0], in[1], in[2],
                              (tarn_conv1d_options){ c->arg[0], c->arg[1], c->arg[2], c->arg[3] }))
static struct ref ref_of_conv1d(const struct ref *in, const struct op_case *c)
{
    const int *x = in[0].dim, *w = in[1].dim, *a = c->arg;
    const struct ref_conv o = { { 1, a[0] }, { 0, a[1] }, { 1, a[2] }, a[3] };
    struct ref rows = ref_reshape(&in[0], 4, (const int[]){ x[0], x[1], 1, x[2] });
    struct ref window = ref_reshape(&in[1], 4, (const int[]){ w[0], w[1], 1, w[2] });
    struct ref y = ref_conv2d(&rows, &window, &in[2], &o);
    const struct ref flat = ref_reshape(&y, 3, (const int[]){ y.dim[0], y.dim[1], y.dim[3] });
    ref_free(&rows);
    ref_free(&window);
    ref_free(&y);
    return flat;
}

/* arg: stride, padding, output padding, groups. */
DEVICE(transposed, tarn_conv_transpose2d_op(in[0], in[1], in[2],
                                            (tarn_conv_transpose2d_options){
                                                .stride = { c->arg[0] },
                                                .padding = { c->arg[1], c->arg[1] },
                                                .output_padding = { c->arg[2], c->arg[2] },
                                                .groups = c->arg[3] }))
static struct ref ref_of_transposed(const struct ref *in, const struct op_case *c)
{
    const int *x = in[0].dim, *w = in[1].dim, *a = c->arg, per = x[1] / a[3];
    const int h = (x[2] - 1) * a[0] - 2 * a[1] + w[2] + a[2],
              v = (x[3] - 1) * a[0] - 2 * a[1] + w[3] + a[2];
    struct ref y = ref_new(4, (const int[]){ x[0], w[1] * a[3], h, v });
    for (size_t i = 0; i < ref_count(&y); i++)
        y.v[i] = in[2].v[i / (size_t)(h * v) % (size_t)y.dim[1]];
    for (int i = 0; i < (int)ref_count(&in[0]); i++)
        for (int k = 0; k < w[1] * w[2] * w[3]; k++) {
            const int from = i / x[3] / x[2] % x[1], sample = i / x[3] / x[2] / x[1];
            const int row = i / x[3] % x[2] * a[0] + k / w[3] % w[2] - a[1];
            const int column = i % x[3] * a[0] + k % w[3] - a[1];
            const int to = from / per * w[1] + k / w[3] / w[2];
            if (row >= 0 && column >= 0 && row < h && column < v)
                y.v[((sample * y.dim[1] + to) * h + row) * v + column] +=
                    in[0].v[i] * in[1].v[from * w[1] * w[2] * w[3] + k];
        }
    return y;
}

/* arg: factors, and whether means of neighbours. */
DEVICE(larger, c->arg[2] ? tarn_upsample_bilinear2d(in[0], c->arg[0], c->arg[1])
                         : tarn_upsample_nearest2d(in[0], c->arg[0], c->arg[1]))
static struct ref ref_of_larger(const struct ref *in, const struct op_case *c)
{
    const int *x = in[0].dim, *a = c->arg;
    struct ref y = ref_new(4, (const int[]){ x[0], x[1], x[2] * a[0], x[3] * a[1] });
    for (int i = 0; i < (int)ref_count(&y); i++) {
        const int at[] = { i / y.dim[3] % y.dim[2], i % y.dim[3] }, image = i / y.dim[3] / y.dim[2];
        for (int corner = 0; corner < 4; corner++) {
            double part = 1;
            int from[2];
            for (int d = 0; d < 2; d++) {
                const double place = (at[d] + 0.5) / a[d] - 0.5, base = floor(place),
                             rest = place - base;
                const int next = corner >> d & 1, n = (int)base + next;
                part *= next ? rest : 1 - rest;
                from[d] = n < 0 ? 0 : n >= x[2 + d] ? x[2 + d] - 1 : n;
                if (!a[2]) {
                    from[d] = at[d] / a[d];
                    part = corner == 0;
                }
            }
            y.v[i] += part * in[0].v[(image * x[2] + from[0]) * x[3] + from[1]];
        }
    }
    return y;
}

DEVICE(global_max, tarn_global_max_pool(in[0]))
REFERENCE(global_max, ref_max(&in[0], 12, true))
DEVICE(global_avg, tarn_global_avg_pool(in[0]))
REFERENCE(global_avg, ref_mean(&in[0], 12, true))

/* arg: groups. */
DEVICE(group_norm, tarn_group_norm_op(in[0], in[1], in[2], c->arg[0], 1e-5f))
static struct ref ref_of_group_norm(const struct ref *in, const struct op_case *c)
{
    struct ref y = ref_copy(&in[0]);
    const int groups = in[0].dim[0] * c->arg[0], each = (int)ref_count(&y) / groups;
    const int inner = (int)ref_count(&y) / in[0].dim[0] / in[0].dim[1];
    for (int g = 0; g < groups; g++) {
        double mean = 0, var = 0, *v = y.v + (ptrdiff_t)g * each;
        for (int i = 0; i < each; i++)
            mean += v[i] / each;
        for (int i = 0; i < each; i++)
            var += (v[i] - mean) * (v[i] - mean) / each;
        for (int i = 0; i < each; i++) {
            const int channel = (g * each + i) / inner % in[0].dim[1];
            v[i] = (v[i] - mean) / sqrt(var + (double)1e-5f) * in[1].v[channel] + in[2].v[channel];
        }
    }
    return y;
}

DEVICE(rms_norm, tarn_rms_norm_op(in[0], in[1], 1e-5f))
static struct ref ref_of_rms_norm(const struct ref *in, const struct op_case *c)
{
    struct ref y = ref_copy(&in[0]);
    const int n = y.dim[y.rank - 1], rows = (int)ref_count(&y) / n;
    (void)c;
    for (int r = 0; r < rows; r++) {
        double *v = y.v + (ptrdiff_t)r * n, square = 0;
        for (int i = 0; i < n; i++)
            square += v[i] * v[i] / n;
        for (int i = 0; i < n; i++)
            v[i] *= in[1].v[i] / sqrt(square + (double)1e-5f);
    }
    return y;
}

/* arg: causal. q, k, v [N, L, E]. */
DEVICE(attention,
       tarn_attention(in[0], in[1], in[2], (tarn_attention_options){ .causal = c->arg[0] != 0 }))
static struct ref ref_of_attention(const struct ref *in, const struct op_case *c)
{
    const int n = in[0].dim[0], length = in[0].dim[1], e = in[0].dim[2], keys = in[1].dim[1],
              values = in[2].dim[2];
    struct ref y = ref_new(3, (const int[]){ n, length, values });
    for (int q = 0; q < n * length; q++) {
        double total = 0;
        const int sample = q / length, most = c->arg[0] ? q % length + 1 : keys;
        for (int k = 0; k < most && k < keys; k++) {
            double score = 0;
            for (int i = 0; i < e; i++)
                score += in[0].v[q * e + i] * in[1].v[(sample * keys + k) * e + i] / sqrt(e);
            total += exp(score);
            for (int i = 0; i < values; i++)
                y.v[q * values + i] += exp(score) * in[2].v[(sample * keys + k) * values + i];
        }
        for (int i = 0; i < values; i++)
            y.v[q * values + i] /= total;
    }
    return y;
}

/* clang-format off */
static const struct op_case image_cases[] = {
    { "conv1d all at once",     CALLS(conv1d),     BOUND_LINEAR, 0, 10, false, { 2, 2, 2, 2 }, 3, { IN(SIGNED, 3, 17, 4, 9), IN(SIGNED, 3, 6, 2, 3), IN(SIGNED, 1, 6) } },
    { "conv_transpose2d",       CALLS(transposed), BOUND_LINEAR, 0, 30, false, { 1, 0, 0, 1 }, 3, { IN(SIGNED, 4, 16, 2, 4, 3), IN(SIGNED, 4, 2, 3, 2, 4), IN(SIGNED, 1, 3) } },
    { "conv_transpose2d stride 3, groups", CALLS(transposed), BOUND_LINEAR, 0, 30, false, { 3, 1, 2, 2 }, 3, { IN(SIGNED, 4, 2, 4, 3, 4), IN(SIGNED, 4, 4, 1, 4, 3), IN(SIGNED, 1, 2) } },
    { "upsample nearest",       CALLS(larger),     BOUND_EXACT,  0, 0,  false, { 2, 3, 0 }, S1(4, D(3, 2, 4, 5)) },
    { "upsample bilinear",      CALLS(larger),     BOUND_LINEAR, 0, 12, false, { 3, 2, 1 }, S1(4, D(16, 2, 3, 4)) },
    { "upsample bilinear of one row", CALLS(larger), BOUND_LINEAR, 0, 12, false, { 2, 4, 1 }, S1(4, D(2, 1, 1, 3)) },
    { "global_max_pool",        CALLS(global_max), BOUND_EXACT,  0, 0,  false, { 0 }, S1(4, D(17, 3, 4, 5)) },
    { "global_avg_pool",        CALLS(global_avg), BOUND_LINEAR, 0, 22, false, { 0 }, S1(4, D(5, 3, 4, 5)) },
    { "group_norm 2 of 6",      CALLS(group_norm), BOUND_COMPOSED, 0, 160, false, { 2 }, 3, { IN(SIGNED, 3, 17, 6, 5), IN(SIGNED, 1, 6), IN(SIGNED, 1, 6) } },
    { "rms_norm [5,16]",        CALLS(rms_norm),   BOUND_COMPOSED, 0, 80, false, { 0 }, 2, { IN(SIGNED, 2, 5, 16), IN(SIGNED, 1, 16) } },
    { "attention [3,5,4]",      CALLS(attention),  BOUND_COMPOSED, 0, 80, false, { 0 }, 3, { IN(SIGNED, 3, 3, 5, 4), IN(SIGNED, 3, 3, 7, 4), IN(SIGNED, 3, 3, 7, 2) } },
    { "attention causal",       CALLS(attention),  BOUND_COMPOSED, 0, 80, false, { 1 }, 3, { IN(SIGNED, 3, 16, 4, 3), IN(SIGNED, 3, 16, 4, 3), IN(SIGNED, 3, 16, 4, 3) } },
};
/* clang-format on */

#endif
