/* SPDX-License-Identifier: Apache-2.0 */
/* The library against stored results of PyTorch: single ops, and twenty steps of training. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "mnist_net.h"

#define COUNT(a) ((int)(sizeof a / sizeof((a)[0])))

/* ---- ops ------------------------------------------------------------------------------------ */

struct golden_case {
    const char *name;
    tarn_tensor (*run)(const tarn_tensor *in);
    int terms; /* longest chain of roundings; 0: the bits of PyTorch */
};

#define RUN(name, ...) \
    static tarn_tensor run_##name(const tarn_tensor *in) \
    { \
        return __VA_ARGS__; \
    }
RUN(add, tarn_add(in[0], in[1]))
RUN(mul, tarn_mul(in[0], in[1]))
RUN(div, tarn_div(in[0], in[1]))
RUN(pow, tarn_pow(in[0], in[1]))
RUN(atan, tarn_atan(in[0]))
RUN(atan2, tarn_atan2(in[0], in[1]))
RUN(maximum, tarn_maximum(in[0], in[1]))
RUN(minimum, tarn_minimum(in[0], in[1]))
RUN(relu, tarn_relu(in[0]))
RUN(clamp, tarn_clamp(in[0], -1.5f, 1.5f))
RUN(gelu, tarn_gelu(in[0]))
RUN(erf, tarn_erf(in[0]))
RUN(tanh, tarn_tanh(in[0]))
RUN(sigmoid, tarn_sigmoid(in[0]))
RUN(rsqrt, tarn_rsqrt(in[0]))
RUN(abs, tarn_abs(in[0]))
RUN(where, tarn_where(in[0], in[1], in[2]))
RUN(sum, tarn_sum(in[0], TARN_AXES(0, 2), false))
RUN(mean, tarn_mean(in[0], TARN_AXES(1), true))
RUN(amax, tarn_max(in[0], TARN_AXES(2, 3), false))
RUN(amin, tarn_min(in[0], TARN_AXES(0, 2), false))
RUN(amax0, tarn_max(in[0], TARN_AXES(0), false))
RUN(argmax, tarn_argmax(in[0], 1, false))
RUN(argmax0, tarn_argmax(in[0], 0, false))
RUN(var, tarn_var(in[0], TARN_AXES(0, 2), 1, false))
RUN(matmul, tarn_matmul(in[0], in[1]))
RUN(conv, tarn_conv2d_op(in[0], in[1], in[2], (tarn_conv2d_options){ .groups = 1 }))
RUN(conv_padding,
    tarn_conv2d_op(in[0], in[1], TARN_NONE, (tarn_conv2d_options){ .padding = { 1, 2 } }))
RUN(conv_stride,
    tarn_conv2d_op(in[0], in[1], TARN_NONE, (tarn_conv2d_options){ .stride = { 2, 3 } }))
RUN(conv_dilation,
    tarn_conv2d_op(in[0], in[1], TARN_NONE, (tarn_conv2d_options){ .dilation = { 2, 1 } }))
RUN(conv_groups, tarn_conv2d_op(in[0], in[1], in[2], (tarn_conv2d_options){ .groups = 2 }))
RUN(max_pool, tarn_max_pool2d(in[0], 2))
RUN(max_pool_padding,
    tarn_max_pool2d_with(in[0], (tarn_pool_options){
                                    .window = { 3 }, .stride = { 2 }, .padding = { 1, 1 } }))
RUN(avg_pool_padding,
    tarn_avg_pool2d_with(in[0], (tarn_pool_options){
                                    .window = { 3 }, .stride = { 2 }, .padding = { 1, 1 } }))
RUN(pad, tarn_pad(in[0], TARN_AXES(0, 1), TARN_AXES(3, 2), 1.5f))
RUN(embedding, tarn_embedding(in[0], in[1]))
RUN(softmax, tarn_softmax(in[0], 1))
RUN(log_softmax, tarn_log_softmax(in[0], 1))
RUN(nll_loss, tarn_nll_loss(in[0], in[1]))
RUN(cross_entropy, tarn_cross_entropy(in[0], in[1]))
RUN(mse_loss, tarn_mse_loss(in[0], in[1]))
#define BCE(...) tarn_bce_with_logits_with(in[0], in[1], (tarn_bce_options){ __VA_ARGS__ })
RUN(bce_sum, BCE(.reduction = TARN_LOSS_SUM))
RUN(bce_none, BCE(.pos_weight = in[2], .weight = in[3], .reduction = TARN_LOSS_NONE))
RUN(bce_weighted, BCE(.pos_weight = in[2], .weight = in[3]))
RUN(kl_div_sum, tarn_kl_div(in[0], in[1], (tarn_kl_div_options){ .reduction = TARN_LOSS_SUM }))
RUN(kl_div_none,
    tarn_kl_div(in[0], in[1],
                (tarn_kl_div_options){ .log_target = true, .reduction = TARN_LOSS_NONE }))
RUN(mse_none, tarn_mse_loss_with(in[0], in[1], TARN_LOSS_NONE))
RUN(mse_sum, tarn_mse_loss_with(in[0], in[1], TARN_LOSS_SUM))
RUN(l1_none, tarn_l1_loss_with(in[0], in[1], TARN_LOSS_NONE))
RUN(smooth_l1_sum, tarn_smooth_l1_loss_with(in[0], in[1], 0.75, TARN_LOSS_SUM))
RUN(huber_none, tarn_huber_loss_with(in[0], in[1], 0.75, TARN_LOSS_NONE))
static tarn_tensor nll(const tarn_tensor *in, tarn_loss_reduction reduction)
{
    return tarn_nll_loss_with(in[0], in[1],
                              (tarn_cross_entropy_options){ .ignore = true,
                                                            .ignore_index = 2,
                                                            .weight = tarn_detach(in[2]),
                                                            .reduction = reduction });
}
RUN(nll_mean, nll(in, TARN_LOSS_MEAN))
RUN(nll_sum, nll(in, TARN_LOSS_SUM))
RUN(nll_none, nll(in, TARN_LOSS_NONE))
RUN(layer_norm, tarn_layer_norm_op(in[0], in[1], in[2], 1e-5f))

static tarn_tensor run_batch_norm(const tarn_tensor *in, bool train)
{
    tarn_replica *r = in[0].replica;
    const int32_t zero = 0;
    tarn_batch_norm layer = { .eps = 1e-5f, .momentum = 0.1f };
    layer.weight = in[1];
    layer.bias = in[2];
    layer.running_mean = tarn_keep(train ? tarn_zeros(r, tarn_shape_get(in[1])) : in[3]);
    layer.running_var = tarn_keep(train ? tarn_ones(r, tarn_shape_get(in[1])) : in[4]);
    layer.num_batches_tracked = tarn_keep(tarn_from(r, TARN_SCALAR, TARN_I32, &zero));
    tarn_train(r, train);
    const tarn_tensor y = tarn_batch_norm_forward(&layer, in[0]);
    tarn_train(r, true);
    return y;
}
RUN(batch_norm_train, run_batch_norm(in, true))
RUN(batch_norm_eval, run_batch_norm(in, false))

/* clang-format off */
static const struct golden_case cases[] = {
    { "add", run_add, 2 }, { "mul", run_mul, 8 }, { "div", run_div, 14 }, { "pow", run_pow, 60 },
    { "maximum_ties", run_maximum, 2 }, { "minimum_ties", run_minimum, 2 },
    { "maximum_special", run_maximum, 8 }, { "minimum_special", run_minimum, 8 },
    { "relu", run_relu, 0 }, { "relu_special", run_relu, 0 }, { "clamp_special", run_clamp, 0 },
    { "gelu", run_gelu, 60 }, { "erf", run_erf, 40 }, { "tanh", run_tanh, 16 },
    { "sigmoid", run_sigmoid, 16 }, { "rsqrt", run_rsqrt, 16 }, { "abs_zero", run_abs, 0 },
    { "where", run_where, 8 }, { "sum", run_sum, 21 }, { "mean", run_mean, 19 },
    { "amax_ties", run_amax, 4 }, { "amin_ties", run_amin, 4 }, { "amax_special", run_amax0, 4 },
    { "argmax", run_argmax, 0 }, { "argmax_special", run_argmax0, 0 }, { "var", run_var, 80 },
    { "matmul", run_matmul, 35 }, { "matmul_batch", run_matmul, 8 },
    { "matmul_vector", run_matmul, 8 }, { "conv", run_conv, 100 },
    { "conv_padding", run_conv_padding, 40 }, { "conv_stride", run_conv_stride, 40 },
    { "conv_dilation", run_conv_dilation, 40 }, { "conv_groups", run_conv_groups, 40 },
    { "max_pool_ties", run_max_pool, 0 }, { "max_pool_padding", run_max_pool_padding, 4 },
    { "max_pool_nan", run_max_pool, 0 }, { "avg_pool_padding", run_avg_pool_padding, 12 },
    { "pad", run_pad, 0 }, { "embedding", run_embedding, 12 }, { "softmax", run_softmax, 40 },
    { "log_softmax", run_log_softmax, 40 }, { "nll_loss", run_nll_loss, 18 },
    { "cross_entropy", run_cross_entropy, 60 }, { "mse_loss", run_mse_loss, 30 },
    { "layer_norm", run_layer_norm, 160 }, { "batch_norm_train", run_batch_norm_train, 320 },
    { "batch_norm_eval", run_batch_norm_eval, 100 }, { "atan", run_atan, 16 },
    { "atan2", run_atan2, 30 }, { "atan_special", run_atan, 4 },
    { "atan2_special", run_atan2, 4 }, { "bce_sum", run_bce_sum, 80 },
    { "bce_none", run_bce_none, 80 }, { "bce_weighted", run_bce_weighted, 110 },
    { "kl_div_sum", run_kl_div_sum, 40 }, { "kl_div_none", run_kl_div_none, 24 },
    { "mse_none", run_mse_none, 8 }, { "mse_sum", run_mse_sum, 30 }, { "l1_none", run_l1_none, 4 },
    { "smooth_l1_sum", run_smooth_l1_sum, 40 }, { "huber_none", run_huber_none, 10 },
    { "nll_mean", run_nll_mean, 110 }, { "nll_sum", run_nll_sum, 60 }, { "nll_none", run_nll_none, 4 },
};
/* clang-format on */

/* Both sides round: twice gamma(terms), of the largest element. */
static void expect_near(const char *name, const char *what, tarn_tensor t,
                        const struct golden_tensor *want, int terms)
{
    float *got = calloc(want->count + 1, sizeof(float));
    const float *y = want->data;
    cr_assert(got != NULL);
    if (tarn_read(t, got, want->count * sizeof(float)) != TARN_OK) {
        cr_expect(false, "%s: %s: %s", name, what, tarn_error(t.replica));
        free(got);
        return;
    }
    double top = 1;
    for (size_t i = 0; i < want->count; i++)
        if (isfinite(y[i]) && fabsf(y[i]) < 1e30f)
            top = fmax(top, fabs((double)y[i]));
    const double limit = 2 * terms * top / (1 << 24);
    for (size_t i = 0; i < want->count; i++) {
        const bool same = got[i] == y[i] || (isnan(got[i]) && isnan(y[i]));
        if (same || fabs((double)got[i] - (double)y[i]) <= limit)
            continue;
        cr_expect(false, "%s: %s, element %zu is %.9g, PyTorch has %.9g, limit %.3g", name, what, i,
                  (double)got[i], (double)y[i], limit);
        break;
    }
    free(got);
}

static void check_case(tarn_replica *r, const struct golden *g, const struct golden_case *c)
{
    enum { INPUTS = 5 };
    tarn_tensor in[INPUTS], wanted[INPUTS], gradients[INPUTS];
    struct golden_tensor want[INPUTS];
    int which[INPUTS], count = 0;
    for (int i = 0; i < INPUTS; i++) {
        const struct golden_tensor x = golden_find(g, "%s.x%d", c->name, i);
        in[i] = x.data != NULL ? tarn_from(r, x.shape, x.dtype, x.data) : TARN_NONE;
        want[count] = golden_find(g, "%s.g%d", c->name, i);
        if (want[count].data != NULL) {
            which[count] = i;
            wanted[count++] = in[i];
        }
    }
    tarn_tensor y = c->run(in);
    const struct golden_tensor w = golden_find(g, "%s.w", c->name);
    struct golden_tensor want_y = golden_find(g, "%s.y", c->name);
    cr_assert(want_y.data != NULL, "%s: not in the file", c->name);
    if (want_y.dtype == TARN_I32) {
        int32_t got[64];
        const bool read =
            want_y.count <= 64 && tarn_read(y, got, want_y.count * sizeof(int32_t)) == TARN_OK;
        cr_expect(read && memcmp(got, want_y.data, want_y.count * sizeof(int32_t)) == 0,
                  "%s: indices differ %s", c->name, tarn_error(r));
        return;
    }
    if (count > 0) {
        const tarn_tensor weights = tarn_from(r, w.shape, w.dtype, w.data);
        tarn_gradients(tarn_sum(tarn_mul(y, weights), TARN_ALL, false), wanted, count, gradients);
    }
    expect_near(c->name, "result", y, &want_y, c->terms);
    for (int i = 0; i < count; i++) {
        const char names[][12] = { "gradient 0", "gradient 1", "gradient 2", "gradient 3",
                                   "gradient 4" };
        expect_near(c->name, names[which[i]], gradients[i], &want[i], c->terms);
    }
}

Test(golden, ops, .timeout = 600)
{
    struct golden *g = golden_open("ops.safetensors");
    cr_assert(g != NULL);
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    for (int i = 0; i < COUNT(cases); i++) {
        check_case(r, g, &cases[i]);
        if (tarn_error_status(r) != TARN_OK)
            tarn_error_clear(r);
        else
            cr_expect(tarn_step(r) == TARN_OK, "%s: %s", cases[i].name, tarn_error(r));
    }
    tarn_close(r);
    golden_close(g);
}

/* ---- training ------------------------------------------------------------------------------- */

enum { STEPS = 20, BATCH = 128 };

static void take_weights(tarn_replica *r, const struct golden *g)
{
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const char *name = tarn_owned_name(r, i);
        const struct golden_tensor t = golden_find(g, "before.%s", name);
        if (t.data != NULL)
            tarn_assign(tarn_find(r, name), tarn_from(r, t.shape, t.dtype, t.data));
    }
    cr_assert(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
}

static void compare_weights(tarn_replica *r, const struct golden *g)
{
    int compared = 0;
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const char *name = tarn_owned_name(r, i);
        const struct golden_tensor want = golden_find(g, "after.%s", name);
        if (want.data == NULL)
            continue;
        /* 20 steps of chained rounding: the losses' own 1e-5, of the largest weight. */
        expect_near(name, "after 20 steps", tarn_find(r, name), &want, 84);
        compared++;
    }
    cr_expect(compared == 16, "%d tensors compared, should be 16", compared);
}

Test(golden, mnist_training, .timeout = 600)
{
    static float pixels[BATCH * 784];
    static int32_t labels[BATCH];
    struct golden *g = golden_open("mnist20.safetensors");
    cr_assert(g != NULL);
    /* So near to PyTorch are direct sums only: docs/numerics.md has what Winograd's come to. */
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const struct mnist_net net = mnist_net_make(r);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    take_weights(r, g);
    const struct golden_tensor losses = golden_find(g, "losses");
    cr_assert(losses.count == STEPS);
    for (int step = 0; step < STEPS; step++) {
        golden_batch(step, BATCH, pixels, labels);
        const tarn_tensor x = tarn_from(r, TARN_SHAPE(BATCH, 1, 28, 28), TARN_F32, pixels);
        const tarn_tensor loss =
            mnist_net_loss(&net, x, tarn_from(r, TARN_SHAPE(BATCH), TARN_I32, labels));
        tarn_backward(loss);
        tarn_optimizer_step(sgd);
        const tarn_tensor kept = tarn_keep(loss);
        cr_assert(tarn_step(r) == TARN_OK, "step %d: %s", step, tarn_error(r));
        const double got = (double)tarn_item(kept);
        const double want = (double)((const float *)losses.data)[step];
        cr_expect(fabs(got - want) <= 1e-5 * fabs(want), "loss %d is %.9g, PyTorch has %.9g", step,
                  got, want);
        tarn_drop(kept);
    }
    compare_weights(r, g);
    tarn_close(r);
    golden_close(g);
}
