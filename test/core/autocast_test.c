/* SPDX-License-Identifier: Apache-2.0 */
/* Autocast: types of results by PyTorch's lists, training in half types beside float32, and the scale of the loss. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "first.h"
#include "tarn.h"

TestSuite(autocast, .timeout = 600);

Test(autocast, types_follow_the_lists)
{
    tarn_replica *r = open_first();
    const tarn_tensor f = tarn_ones(r, TARN_SHAPE(2, 3)), i = tarn_cast(f, TARN_I32);
    const tarn_tensor square = tarn_ones(r, TARN_SHAPE(3, 3)),
                      image = tarn_ones(r, TARN_SHAPE(1, 1, 4, 4));
    const tarn_linear fc = tarn_linear_make(r, "fc", 3, 2);
    tarn_autocast(r, TARN_BF16);
    const tarn_tensor low = tarn_matmul(f, square);
    const struct {
        tarn_tensor x;
        tarn_dtype want;
    } of[] = {
        { low, TARN_BF16 },
        { tarn_linear_forward(&fc, f), TARN_BF16 },
        { tarn_einsum("ij,jk->ik", f, square), TARN_BF16 },
        { tarn_conv2d_op(image, image, TARN_NONE, (tarn_conv2d_options){ .groups = 1 }),
          TARN_BF16 },
        { tarn_attention(f, f, f, (tarn_attention_options){ .causal = false }), TARN_BF16 },
        { tarn_relu(low), TARN_BF16 },
        { tarn_add(low, f), TARN_F32 },
        { tarn_add(low, low), TARN_BF16 },
        { tarn_add(f, f), TARN_F32 },
        { tarn_exp(low), TARN_F32 },
        { tarn_log(low), TARN_F32 },
        { tarn_pow(low, low), TARN_F32 },
        { tarn_rsqrt(low), TARN_F32 },
        { tarn_softmax(low, 1), TARN_F32 },
        { tarn_log_softmax(low, 1), TARN_F32 },
        { tarn_sum(low, TARN_ALL, false), TARN_F32 },
        { tarn_mean(low, TARN_AXES(0), false), TARN_F32 },
        { tarn_var(low, TARN_AXES(0), 0, false), TARN_F32 },
        { tarn_max(low, TARN_AXES(0), false), TARN_BF16 },
        { tarn_layer_norm_op(low, tarn_ones(r, TARN_SHAPE(3)), TARN_NONE, 1e-5f), TARN_F32 },
        { tarn_mse_loss(low, low), TARN_F32 },
        { tarn_add(i, i), TARN_I32 },
    };
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        cr_expect_not(tarn_failed(of[k].x), "%zu: %s", k, tarn_error(r));
        cr_expect_eq(tarn_dtype_get(of[k].x), of[k].want, "%zu: %s", k,
                     tarn_dtype_name(tarn_dtype_get(of[k].x)));
    }
    tarn_autocast_end(r);
    cr_expect_eq(tarn_dtype_get(tarn_matmul(f, square)), TARN_F32);
    cr_expect_eq(tarn_dtype_get(tarn_exp(low)), TARN_BF16);
    tarn_autocast(r, TARN_I32);
    cr_expect_eq(tarn_error_status(r), TARN_ERR_DTYPE);
    tarn_close(r);
}

/* ---- training -------------------------------------------------------------------------------- */

enum { SAMPLES = 64, FEATURES = 12, STEPS = 60 };

static void spread(float *out, int n, unsigned salt)
{
    uint32_t state = salt;
    for (int i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        out[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
}

/* Two layers on a function of the features; returns the last loss. With `weights`, their bits after the training. */
static float train(tarn_dtype low, float **weights, size_t *bytes)
{
    static float x[SAMPLES * FEATURES], y[SAMPLES];
    spread(x, SAMPLES * FEATURES, 3);
    for (int i = 0; i < SAMPLES; i++)
        y[i] = x[i * FEATURES] * x[i * FEATURES + 1] + 0.5f * x[i * FEATURES + 2];
    tarn_replica *r = open_first();
    const tarn_linear a = tarn_linear_make(r, "a", FEATURES, 32),
                      b = tarn_linear_make(r, "b", 32, 1);
    tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    if (low != TARN_F32)
        tarn_autocast(r, low);
    if (low == TARN_F16)
        cr_assert_eq(tarn_loss_scale(r, (tarn_loss_scale_options){ 0 }), TARN_OK, "%s",
                     tarn_error(r));
    float last = NAN;
    for (int i = 0; i < STEPS; i++) {
        const tarn_tensor in = tarn_from(r, TARN_SHAPE(SAMPLES, FEATURES), TARN_F32, x);
        const tarn_tensor want = tarn_from(r, TARN_SHAPE(SAMPLES, 1), TARN_F32, y);
        const tarn_tensor out = tarn_linear_forward(&b, tarn_tanh(tarn_linear_forward(&a, in)));
        const tarn_tensor loss = tarn_mse_loss(out, want), kept = tarn_keep(tarn_detach(loss));
        tarn_minimize(adam, loss);
        cr_expect_eq(tarn_dtype_get(tarn_grad(a.weight)), i < 0 ? TARN_F16 : TARN_F32);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        last = tarn_item(kept);
        tarn_drop(kept);
    }
    cr_expect_leq(tarn_metrics_get(r).plans_compiled, 3, "%llu plans",
                  (unsigned long long)tarn_metrics_get(r).plans_compiled);
    if (weights != NULL) {
        *bytes = FEATURES * 32 * sizeof **weights;
        *weights = malloc(*bytes);
        cr_assert_eq(tarn_read(a.weight, *weights, *bytes), TARN_OK);
    }
    cr_assert_eq(tarn_wait(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return last;
}

Test(autocast, half_types_train_as_float32_does)
{
    const float full = train(TARN_F32, NULL, NULL), bf16 = train(TARN_BF16, NULL, NULL);
    const float f16 = train(TARN_F16, NULL, NULL);
    printf("loss %g in float32, %g in bfloat16, %g in float16\n", (double)full, (double)bf16,
           (double)f16);
    /* The loss began near 0.2. */
    cr_expect_lt(full, 0.05f);
    cr_expect_lt(fabsf(bf16 - full), 0.1f * full);
    cr_expect_lt(fabsf(f16 - full), 0.1f * full);
}

Test(autocast, training_has_the_same_bits_fused_and_unfused)
{
    float *w[2];
    size_t bytes[2];
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(tarn_set_option("TARN_FUSE", k == 0 ? "1" : "0"), TARN_OK);
        train(TARN_BF16, &w[k], &bytes[k]);
    }
    cr_expect_eq(memcmp(w[0], w[1], bytes[0]), 0);
    free(w[0]);
    free(w[1]);
}

/* ---- the scale -------------------------------------------------------------------------------- */

Test(autocast, the_scale_follows_what_float16_holds)
{
    char path[] = "/tmp/scale-XXXXXX";
    const int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
    for (int resumed = 0; resumed < 2; resumed++) {
        tarn_replica *r = open_first();
        const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(1), (const float[]){ 1 });
        tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f });
        cr_assert_eq(
            tarn_loss_scale(r, (tarn_loss_scale_options){ .initial = 1024, .interval = 3 }),
            TARN_OK);
        if (resumed)
            cr_assert_eq(tarn_load(r, path, NULL), TARN_OK, "%s", tarn_error(r));
        /* What goes through float16 is 2^8 times the scale: infinite from 2^8 on. */
        static const float scales[2][8] = { { 1024, 512, 256, 128, 128, 128, 256, 128 },
                                            { 128, 128, 256, 128, 128, 128, 256, 128 } };
        float at = tarn_item(w);
        for (int i = 0; i < 8; i++) {
            cr_assert_eq(tarn_loss_scale_now(r), scales[resumed][i], "step %d: %g", i,
                         (double)tarn_loss_scale_now(r));
            const tarn_tensor low = tarn_cast(tarn_mul_scalar(w, 1.0f), TARN_F16);
            const tarn_tensor loss =
                tarn_sum(tarn_mul_scalar(tarn_cast(low, TARN_F32), 256), TARN_ALL, false);
            tarn_minimize(sgd, loss);
            cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
            at -= scales[resumed][i] <= 128 ? 128.0f : 0.0f;
            cr_expect_eq(tarn_item(w), at, "step %d: %g", i, (double)tarn_item(w));
        }
        cr_assert_eq(tarn_wait(r), TARN_OK, "%s", tarn_error(r));
        cr_expect_eq(tarn_metrics_get(r).skipped_steps, resumed ? 6 : 4, "%d",
                     (int)tarn_metrics_get(r).skipped_steps);
        char report[1000];
        cr_assert_eq(tarn_metrics_report(r, report, sizeof report), TARN_OK);
        cr_expect_not_null(strstr(report, "steps skipped"), "%s", report);
        cr_assert_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
        tarn_close(r);
    }
    unlink(path);
}

Test(autocast, what_no_scale_mends_is_an_error)
{
    tarn_replica *r = open_first();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(1), (const float[]){ -1 });
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f });
    cr_expect_eq(tarn_loss_scale_now(r), 1.0f);
    cr_assert_eq(tarn_loss_scale(r, (tarn_loss_scale_options){ .initial = 4 }), TARN_OK);
    for (int i = 0; i < 2; i++) {
        tarn_minimize(sgd, tarn_sum(tarn_sqrt(w), TARN_ALL, false));
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    cr_expect_eq(tarn_loss_scale_now(r), 1.0f);
    cr_assert_eq(tarn_wait(r), TARN_OK, "%s", tarn_error(r));
    tarn_minimize(sgd, tarn_sum(tarn_sqrt(w), TARN_ALL, false));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(tarn_wait(r), TARN_ERR_NOT_FINITE);
    tarn_error_clear(r);
    cr_expect_neq(tarn_loss_scale(r, (tarn_loss_scale_options){ 0 }), TARN_OK);
    tarn_error_clear(r);
    tarn_close(r);
    r = open_first();
    cr_expect_eq(tarn_loss_scale(r, (tarn_loss_scale_options){ .backoff = 2 }), TARN_ERR_ARGUMENT);
    tarn_close(r);
}
