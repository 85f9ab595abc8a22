/* SPDX-License-Identifier: Apache-2.0 */
/* Connectionist temporal classification against stored results of PyTorch, in float64 and float32; and what is
 * impossible, in value and gradient. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "tarn_nn.h"

TestSuite(ctc, .timeout = 600);

enum { STEPS = 8, SAMPLES = 5, CLASSES = 4, COUNT = STEPS * SAMPLES * CLASSES };

static tarn_replica *opened(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

/* ---- against PyTorch -------------------------------------------------------------------------- */

static tarn_tensor stored(tarn_replica *r, const struct golden *g, const char *name,
                          const char *part, tarn_dtype dtype)
{
    const struct golden_tensor t = golden_find(g, "%s.%s", name, part);
    return t.data == NULL ? TARN_NONE : tarn_cast(tarn_from(r, t.shape, t.dtype, t.data), dtype);
}

/* Each step rounds logarithms, of at most 32 with those of the soft-max and the weights: once for each of six sums, and
 * functions are off by at most 5 ULP in float32, 16 in float64. Probabilities, which gradients are made of, are off by as much
 * as their logarithms. */
static void expect_stored(tarn_tensor t, const struct golden *g, const char *name, const char *part)
{
    const struct golden_tensor want = golden_find(g, "%s.%s", name, part);
    const bool wide = tarn_dtype_get(t) == TARN_F64;
    const double unit = wide ? 0x1p-53 : 0x1p-24;
    const double bound = (STEPS + 1) * (6 + 4 * (wide ? 32 : 10)) * 32 * unit;
    double got[COUNT];
    cr_assert(want.data != NULL && want.count <= COUNT, "%s.%s", name, part);
    cr_assert_eq(tarn_read(tarn_cast(t, TARN_F64), got, want.count * sizeof *got), TARN_OK, "%s",
                 tarn_error(t.replica));
    for (size_t i = 0; i < want.count; i++) {
        const double w = ((const double *)want.data)[i];
        cr_expect(got[i] == w || fabs(got[i] - w) <= bound, "%s.%s %zu: %.17g, PyTorch has %.17g",
                  name, part, i, got[i], w);
    }
}

struct layout {
    tarn_dtype type, labels;
    bool batch_first;
};

static void check(const char *name, tarn_ctc_options options, struct layout layout)
{
    struct golden *g = golden_open("ctc.safetensors");
    tarn_replica *r = opened();
    cr_assert_not_null(g);
    const tarn_tensor x = stored(r, g, name, "x", layout.type);
    options.input_lengths = stored(r, g, name, "input", layout.labels);
    options.target_lengths = stored(r, g, name, "labels", layout.labels);
    options.batch_first = layout.batch_first;
    tarn_tensor logp = tarn_log_softmax(x, 2);
    if (layout.batch_first)
        logp = tarn_transpose(logp, 0, 1);
    const tarn_tensor target = stored(r, g, name, "target", layout.labels);
    tarn_tensor y = tarn_ctc_loss(logp, target, options), slope;
    cr_assert_not(tarn_failed(y), "%s", tarn_error(r));
    cr_expect_eq(tarn_dtype_get(y), layout.type);
    cr_expect_eq(tarn_shape_get(y).rank, options.reduction == TARN_LOSS_NONE ? 1 : 0);
    const tarn_tensor w = stored(r, g, name, "w", layout.type);
    tarn_gradients(tarn_sum(tarn_mul(w, y), TARN_ALL, false), &x, 1, &slope);
    cr_assert_eq(tarn_eval((tarn_tensor[]){ y, slope }, 2), TARN_OK, "%s", tarn_error(r));
    expect_stored(y, g, name, "y");
    expect_stored(slope, g, name, "g");
    golden_close(g);
    tarn_close(r);
}

Test(ctc, mean_of_whole_samples)
{
    check("mean", (tarn_ctc_options){ .blank = 0 }, (struct layout){ TARN_F64, TARN_I32, false });
    check("mean", (tarn_ctc_options){ .blank = 0 }, (struct layout){ TARN_F32, TARN_I64, true });
}

Test(ctc, sum_of_which_some_are_impossible)
{
    const tarn_ctc_options sum = { .blank = 2, .zero_infinity = true, .reduction = TARN_LOSS_SUM };
    check("sum", sum, (struct layout){ TARN_F64, TARN_I64, true });
    check("sum", sum, (struct layout){ TARN_F32, TARN_I32, false });
}

Test(ctc, each_with_infinite_ones)
{
    const tarn_ctc_options none = { .blank = 3, .reduction = TARN_LOSS_NONE };
    check("none", none, (struct layout){ TARN_F64, TARN_I32, false });
    check("none", none, (struct layout){ TARN_F32, TARN_U8, false });
}

/* ---- the impossible --------------------------------------------------------------------------- */

/* Classes that are impossible, -infinity: of "1 1" in three steps there is one way, blank in the middle, whose
 * logarithms add up; where it is impossible, too, the loss is infinite. All gradients are numbers. */
Test(ctc, impossible_classes)
{
    enum { TIME = 3, KINDS = 2 };
    const float no = -INFINITY;
    const float logs[TIME][2][KINDS] = { { { no, -0.5f }, { no, no } },
                                         { { -0.25f, -1 }, { -0.25f, -1 } },
                                         { { no, -2 }, { no, -2 } } };
    const int32_t labels[] = { 1, 1, 1, 1 };
    const float want[TIME * 2 * KINDS] = { 0, -1, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0 };
    tarn_replica *r = opened();
    const tarn_tensor logp = tarn_from(r, TARN_SHAPE(TIME, 2, KINDS), TARN_F32, logs);
    const tarn_tensor target = tarn_from(r, TARN_SHAPE(2, 2), TARN_I32, labels);
    const tarn_tensor y =
        tarn_ctc_loss(logp, target, (tarn_ctc_options){ .reduction = TARN_LOSS_NONE });
    float got[2], slope[TIME * 2 * KINDS];
    tarn_tensor g;
    tarn_gradients(tarn_sum(y, TARN_ALL, false), &logp, 1, &g);
    cr_assert_eq(tarn_read(y, got, sizeof got), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(g, slope, sizeof slope), TARN_OK, "%s", tarn_error(r));
    cr_expect_float_eq(got[0], 2.75f, 16 * 0x1p-23f);
    cr_expect(isinf(got[1]) && got[1] > 0, "%g", (double)got[1]);
    for (int i = 0; i < TIME * 2 * KINDS; i++)
        cr_expect_float_eq(slope[i], want[i], 16 * 0x1p-23f, "%d: %g", i, (double)slope[i]);
    tarn_close(r);
}

/* What lies behind a target's length, and an input length above the number of steps, change nothing; a target length above
 * that of targets is impossible; NaN stays NaN, in its sample. */
Test(ctc, lengths_and_labels_out_of_range)
{
    static const int32_t labels[2][4] = { { 1, 2, 2, 0 }, { 1, -7, 2, 99 } };
    static const int32_t lengths[2][2] = { { 1, 1 }, { 3, 1 } }, most[2] = { 99, 99 };
    float logs[5 * 2 * 3], got[4][2];
    for (int i = 0; i < 5 * 2 * 3; i++)
        logs[i] = -0.125f * (float)(i % 7) - 0.5f;
    tarn_replica *r = opened();
    for (int k = 0; k < 4; k++) { /* as it should be; out of range; too long; NaN */
        logs[0] = k == 3 ? NAN : logs[0];
        const tarn_tensor logp = tarn_from(r, TARN_SHAPE(5, 2, 3), TARN_F32, logs);
        const tarn_tensor target = tarn_from(r, TARN_SHAPE(2, 2), TARN_I32, labels[k == 1]);
        tarn_ctc_options o = { .reduction = TARN_LOSS_NONE };
        o.target_lengths = tarn_from(r, TARN_SHAPE(2), TARN_I32, lengths[k == 2]);
        if (k == 1)
            o.input_lengths = tarn_from(r, TARN_SHAPE(2), TARN_I32, most);
        cr_assert_eq(tarn_read(tarn_ctc_loss(logp, target, o), got[k], sizeof got[k]), TARN_OK,
                     "%s", tarn_error(r));
        cr_expect(got[k][1] == got[0][1], "%d: %g, not %g", k, (double)got[k][1],
                  (double)got[0][1]);
    }
    cr_expect(isfinite(got[0][0]) && got[1][0] == got[0][0], "%g", (double)got[1][0]);
    cr_expect(isinf(got[2][0]), "%g", (double)got[2][0]);
    cr_expect(isnan(got[3][0]), "%g", (double)got[3][0]);
    tarn_close(r);
}

/* ---- errors ------------------------------------------------------------------------------------ */

static void expect_error(tarn_tensor y, const char *text)
{
    tarn_replica *r = y.replica;
    cr_expect(tarn_failed(y));
    cr_expect_not_null(strstr(tarn_error(r), text), "no \"%s\" in: %s", text, tarn_error(r));
    tarn_error_clear(r);
}

Test(ctc, what_does_not_fit_is_refused)
{
    tarn_replica *r = opened();
    const tarn_ctc_options o = { .blank = 0 };
    /* kept ones, since an error ends the step */
    const tarn_tensor logp = tarn_keep(tarn_zeros(r, TARN_SHAPE(5, 2, 3)));
    const tarn_tensor three = tarn_keep(tarn_arange(r, 3));
    const tarn_tensor target = tarn_keep(tarn_cast(tarn_ones(r, TARN_SHAPE(2, 2)), TARN_I32));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor stale = tarn_arange(r, 2);
    expect_error(tarn_ctc_loss(logp, TARN_NONE, o), "ctc_loss: operand 1");
    expect_error(tarn_ctc_loss(logp, target, (tarn_ctc_options){ .target_lengths = stale }),
                 "ctc_loss: operand 3 is tensor");
    expect_error(
        tarn_ctc_loss(target, target, o),
        "ctc_loss: logp is int32 [2,2], must be of a float type, [steps, samples, classes]");
    expect_error(tarn_ctc_loss(tarn_zeros(r, TARN_SHAPE(0, 2, 3)), target, o),
                 "logp is float32 [0,2,3]");
    expect_error(tarn_ctc_loss(logp, logp, o),
                 "the target is float32 [5,2,3], must be int32 [2, labels]");
    expect_error(tarn_ctc_loss(logp, target, (tarn_ctc_options){ .batch_first = true }),
                 "the target is int32 [2,2], must be int32 [5, labels]: logp is [5,2,3]");
    expect_error(tarn_ctc_loss(logp, target, (tarn_ctc_options){ .blank = 3 }),
                 "blank is 3, must be a class from 0 to 2");
    expect_error(tarn_ctc_loss(logp, target, (tarn_ctc_options){ .blank = -1 }), "blank is -1");
    expect_error(tarn_ctc_loss(logp, target, (tarn_ctc_options){ .input_lengths = three }),
                 "ctc_loss: input_lengths are int32 [3], must be int32 [2]");
    expect_error(tarn_ctc_loss(logp, target, (tarn_ctc_options){ .target_lengths = target }),
                 "ctc_loss: target_lengths are int32 [2,2]");
    expect_error(
        tarn_ctc_loss(logp, target, (tarn_ctc_options){ .reduction = (tarn_loss_reduction)3 }),
        "there is no reduction 3");
    const tarn_tensor many = tarn_broadcast_to(tarn_select(three, 0, 1), TARN_SHAPE(2, 1 << 29));
    expect_error(tarn_ctc_loss(logp, many, o),
                 "ctc_loss: 5 steps of 2 samples with 536870912 labels");
    tarn_close(r);
}
