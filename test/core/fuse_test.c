/* SPDX-License-Identifier: Apache-2.0 */
/* Fusing must not change a bit: the same graphs with one kernel per op and with fused kernels. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "mnist_net.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { ROWS = 17, COLUMNS = 33, LARGEST = 4096 };

static tarn_tensor noise(tarn_replica *r, tarn_shape shape, int salt)
{
    float data[LARGEST];
    const int64_t n = tarn_shape_count(shape);
    uint32_t state = 12345u + 77u * (uint32_t)salt;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(state >> 8) / (1 << 22) - 2;
    }
    return tarn_from(r, shape, TARN_F32, data);
}

/* ---- graphs ------------------------------------------------------------------------------------------ */

static tarn_tensor graph_maps(tarn_replica *r)
{
    const tarn_tensor x = noise(r, TARN_SHAPE(ROWS, COLUMNS), 0);
    const tarn_tensor b = noise(r, TARN_SHAPE(COLUMNS), 1);
    return tarn_tanh(tarn_relu(tarn_add(tarn_mul(x, b), tarn_mul(x, x))));
}

static tarn_tensor graph_reused(tarn_replica *r)
{
    const tarn_tensor x = noise(r, TARN_SHAPE(ROWS, COLUMNS), 0), e = tarn_exp(x);
    return tarn_add(tarn_div(e, tarn_sum(e, TARN_AXES(1), true)),
                    tarn_mul(e, tarn_mean(x, TARN_AXES(0), true)));
}

static tarn_tensor graph_softmax(tarn_replica *r)
{
    return tarn_log_softmax(tarn_mul_scalar(noise(r, TARN_SHAPE(ROWS, COLUMNS), 0), 3), 1);
}

static tarn_tensor graph_norm(tarn_replica *r)
{
    return tarn_layer_norm_op(noise(r, TARN_SHAPE(ROWS, COLUMNS), 0),
                              noise(r, TARN_SHAPE(COLUMNS), 1), noise(r, TARN_SHAPE(COLUMNS), 2),
                              1e-5f);
}

static tarn_tensor graph_linear(tarn_replica *r)
{
    const tarn_tensor x = noise(r, TARN_SHAPE(ROWS, COLUMNS), 0);
    const tarn_tensor w = noise(r, TARN_SHAPE(7, COLUMNS), 1);
    return tarn_relu(tarn_add(tarn_matmul(x, tarn_transpose(w, 0, 1)), noise(r, TARN_SHAPE(7), 2)));
}

static tarn_tensor graph_conv(tarn_replica *r)
{
    const tarn_tensor x = noise(r, TARN_SHAPE(3, 2, 9, 9), 0);
    const tarn_tensor y = tarn_conv2d_op(x, noise(r, TARN_SHAPE(5, 2, 3, 3), 1),
                                         noise(r, TARN_SHAPE(5), 2),
                                         (tarn_conv2d_options){ .padding = { 1, 1 } });
    return tarn_relu(tarn_max_pool2d(y, 2));
}

static tarn_tensor graph_views(tarn_replica *r)
{
    const tarn_tensor x = noise(r, TARN_SHAPE(ROWS, COLUMNS), 0);
    const tarn_tensor half = tarn_slice(x, 1, 0, COLUMNS, 2), back = tarn_transpose(half, 0, 1);
    const tarn_tensor parts[] = { tarn_neg(back), tarn_exp(back) };
    return tarn_pad(tarn_mul_scalar(tarn_concat(parts, 2, 0), 0.5f), TARN_AXES(1, 0),
                    TARN_AXES(0, 2), -1);
}

static tarn_tensor graph_gradient(tarn_replica *r)
{
    const tarn_tensor x = noise(r, TARN_SHAPE(ROWS, 10), 0);
    const int32_t target[ROWS] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2 };
    const tarn_tensor y = tarn_from(r, TARN_SHAPE(ROWS), TARN_I32, target);
    tarn_tensor g = TARN_NONE;
    tarn_gradients(tarn_cross_entropy(tarn_gelu(x), y), &x, 1, &g);
    return g;
}

static float *run_graph(tarn_tensor (*make)(tarn_replica *), const char *fuse, int64_t *count)
{
    setenv("TARN_FUSE", fuse, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const tarn_tensor y = make(r);
    *count = tarn_shape_count(tarn_shape_get(y));
    float *out = calloc((size_t)*count + 1, sizeof(float));
    cr_assert(out != NULL);
    cr_assert(tarn_read(y, out, (size_t)*count * sizeof(float)) == TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return out;
}

Test(fuse, graphs_keep_their_bits, .timeout = 120)
{
    const struct {
        const char *name;
        tarn_tensor (*make)(tarn_replica *r);
    } graphs[] = { { "maps", graph_maps },       { "reused values", graph_reused },
                   { "softmax", graph_softmax }, { "layer norm", graph_norm },
                   { "linear", graph_linear },   { "convolution", graph_conv },
                   { "views", graph_views },     { "gradient", graph_gradient } };
    for (int i = 0; i < COUNT(graphs); i++) {
        int64_t n = 0;
        float *plain = run_graph(graphs[i].make, "0", &n);
        float *fused = run_graph(graphs[i].make, "1", &n);
        int64_t differ = 0;
        for (int64_t e = 0; e < n; e++)
            differ += memcmp(&plain[e], &fused[e], sizeof(float)) != 0;
        cr_expect(differ == 0, "%s: %lld of %lld elements differ", graphs[i].name,
                  (long long)differ, (long long)n);
        free(plain);
        free(fused);
    }
}

/* ---- a step of training ------------------------------------------------------------------------------- */

struct trained {
    tarn_replica *r;
    float loss;
    uint64_t launches;
};

static struct trained train(const char *fuse, int batch, int steps)
{
    static float pixels[128 * 784];
    static int32_t labels[128];
    setenv("TARN_FUSE", fuse, 1);
    struct trained t = { .r = tarn_open(NULL) };
    cr_assert(t.r != NULL, "%s", tarn_error(NULL));
    const struct mnist_net net = mnist_net_make(t.r);
    tarn_optimizer *sgd = tarn_sgd(t.r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    for (int i = 0; i < steps; i++) {
        golden_batch(i, batch, pixels, labels);
        const tarn_tensor x = tarn_from(t.r, TARN_SHAPE(batch, 1, 28, 28), TARN_F32, pixels);
        const tarn_tensor y = tarn_from(t.r, TARN_SHAPE(batch), TARN_I32, labels);
        const tarn_tensor loss = mnist_net_loss(&net, x, y);
        tarn_backward(loss);
        tarn_optimizer_step(sgd);
        const tarn_tensor kept = tarn_keep(loss);
        cr_assert(tarn_step(t.r) == TARN_OK, "%s", tarn_error(t.r));
        t.launches = tarn_metrics_get(t.r).launches_last_step;
        t.loss = tarn_item(kept);
        tarn_drop(kept);
    }
    return t;
}

static void compare_owned(const char *name, const struct trained *a, const struct trained *b)
{
    static uint8_t bytes_a[LARGEST * 8], bytes_b[LARGEST * 8];
    const tarn_tensor x = tarn_find(a->r, name), y = tarn_find(b->r, name);
    const size_t n = (size_t)tarn_shape_count(tarn_shape_get(x)) * 4;
    cr_assert(n <= sizeof(bytes_a), "%s: too large for this test", name);
    cr_assert(tarn_read(x, bytes_a, n) == TARN_OK, "%s", tarn_error(a->r));
    cr_assert(tarn_read(y, bytes_b, n) == TARN_OK, "%s", tarn_error(b->r));
    cr_expect(memcmp(bytes_a, bytes_b, n) == 0, "%s differs after training", name);
}

static void check_training(int batch, int steps)
{
    const struct trained plain = train("0", batch, steps), fused = train("1", batch, steps);
    cr_expect(memcmp(&plain.loss, &fused.loss, sizeof(float)) == 0,
              "batch %d: loss is %.9g unfused, %.9g fused", batch, (double)plain.loss,
              (double)fused.loss);
    cr_expect(fused.launches <= plain.launches, "fused: %llu launches, unfused: %llu",
              (unsigned long long)fused.launches, (unsigned long long)plain.launches);
    for (int i = 0; i < tarn_owned_count(plain.r); i++)
        compare_owned(tarn_owned_name(plain.r, i), &plain, &fused);
    tarn_close(plain.r);
    tarn_close(fused.r);
}

Test(fuse, mnist_step_batch_128, .timeout = 120)
{
    check_training(128, 2);
}

Test(fuse, mnist_step_batch_7, .timeout = 120)
{
    check_training(7, 2);
}
