/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion changes no bit: the same graph with each op as its own kernel, and fused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "mnist_net.h"
#include "tarn.h"
#include "tensor/random.h"
#include "tensor/replica.h"

/* What a run left: every result in order. */
struct trace {
    unsigned char *bytes;
    size_t used, capacity;
    uint64_t launches;
};

static tarn_replica *open_with(const char *fuse)
{
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static void trace_tensor(struct trace *t, tarn_tensor x)
{
    const size_t bytes =
        (size_t)tarn_shape_count(tarn_shape_get(x)) * tarn_dtype_bytes(tarn_dtype_get(x));
    cr_assert_leq(bytes, t->capacity - t->used, "the trace is too small");
    cr_assert_eq(tarn_read(x, t->bytes + t->used, bytes), TARN_OK, "%s", tarn_error(x.replica));
    t->used += bytes;
}

static struct trace trace_new(void)
{
    struct trace t = { .capacity = 1 << 22 };
    t.bytes = calloc(1, t.capacity);
    cr_assert_not_null(t.bytes);
    return t;
}

static void compare(const char *name, struct trace *split, struct trace *fused)
{
    cr_expect_eq(split->used, fused->used, "%s: sizes differ", name);
    for (size_t i = 0; i < split->used; i += 4) {
        if (memcmp(split->bytes + i, fused->bytes + i, 4) == 0)
            continue;
        float a, b;
        memcpy(&a, split->bytes + i, 4);
        memcpy(&b, fused->bytes + i, 4);
        cr_expect(false, "%s: word %zu is %.9g unfused and %.9g fused", name, i / 4, (double)a,
                  (double)b);
        break;
    }
    cr_expect_leq(fused->launches, split->launches, "%s: fusion made kernels of one", name);
    printf("%s: %zu bytes equal; %llu launches unfused, %llu fused\n", name, split->used,
           (unsigned long long)split->launches, (unsigned long long)fused->launches);
    free(split->bytes);
    free(fused->bytes);
}

/* ---- graphs --------------------------------------------------------------------------------- */

enum { MOST = 8 };

struct graph_case {
    const char *name;
    int count; /* of results */
    void (*record)(tarn_replica *r, int batch, tarn_tensor *out);
};

static tarn_tensor numbers(tarn_replica *r, tarn_shape s, unsigned salt)
{
    const size_t n = (size_t)tarn_shape_count(s);
    float *v = malloc((n ? n : 1) * sizeof *v);
    cr_assert_not_null(v);
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(random_u32(7, (uint32_t)i * 16 + salt) >> 8) / (1 << 22) - 2;
    const tarn_tensor t = tarn_from(r, s, TARN_F32, v);
    free(v);
    return t;
}

/* Long chain of maps, broadcast in the middle. */
static void record_maps(tarn_replica *r, int batch, tarn_tensor *out)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 7, 5), 1);
    const tarn_tensor y = numbers(r, TARN_SHAPE(7, 1), 2);
    const tarn_tensor a = tarn_tanh(tarn_add(tarn_mul(x, y), tarn_sigmoid(x)));
    out[0] = tarn_gelu(tarn_sub(tarn_exp(a), tarn_div(y, tarn_add_scalar(tarn_abs(x), 0.5f))));
    out[1] = tarn_where(tarn_gt(a, y), tarn_mul_scalar(a, 3.1f), tarn_relu(x));
    tarn_gradients(tarn_sum(tarn_mul(out[0], out[1]), TARN_ALL, false), (tarn_tensor[]){ x, y }, 2,
                   &out[2]);
}

/* Reductions over the batch and over features, one feeding the other. */
static void record_reductions(tarn_replica *r, int batch, tarn_tensor *out)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 33), 3);
    const tarn_tensor mean = tarn_mean(x, TARN_AXES(0), true);
    const tarn_tensor d = tarn_sub(x, mean);
    out[0] = tarn_softmax(d, 1);
    out[1] = tarn_var(tarn_mul(d, out[0]), TARN_AXES(0), 1, false);
    out[2] = tarn_max(tarn_sum(tarn_mul(d, d), TARN_AXES(1), true), TARN_ALL, false);
    const tarn_tensor loss = tarn_add(tarn_sum(out[1], TARN_ALL, false), out[2]);
    tarn_gradients(loss, &x, 1, &out[3]);
}

/* Views between maps, with reuse. */
static void record_views(tarn_replica *r, int batch, tarn_tensor *out)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 6, 4), 4);
    const tarn_tensor e = tarn_exp(x);
    const tarn_tensor p = tarn_permute(e, TARN_AXES(0, 2, 1));
    const tarn_tensor s = tarn_slice(p, 2, 1, 6, 2);
    const tarn_tensor d = tarn_pad(s, TARN_SHAPE(0, 1, 2), TARN_SHAPE(0, 0, 1), 0.25f);
    out[0] = tarn_concat((tarn_tensor[]){ tarn_flatten(d, 1), tarn_flatten(e, 1) }, 2, 1);
    out[1] = tarn_sum(tarn_mul(out[0], out[0]), TARN_AXES(0), false);
    out[2] = tarn_reshape(tarn_mul(p, tarn_transpose(x, 1, 2)), TARN_SHAPE(batch, -1));
    tarn_gradients(tarn_mean(tarn_add(tarn_sum(out[1], TARN_ALL, false), out[2]), TARN_ALL, false),
                   &x, 1, &out[3]);
}

/* A perceptron: products of matrices with maps before and after. */
static void record_matmul(tarn_replica *r, int batch, tarn_tensor *out)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 17), 5);
    const tarn_tensor w = numbers(r, TARN_SHAPE(17, 9), 6), v = numbers(r, TARN_SHAPE(9, 3), 7);
    const tarn_tensor h = tarn_relu(tarn_matmul(tarn_mul_scalar(x, 0.3f), w));
    out[0] = tarn_log_softmax(tarn_matmul(tarn_tanh(h), v), 1);
    out[1] = tarn_argmax(out[0], 1, false);
    tarn_gradients(tarn_mean(tarn_mul(out[0], out[0]), TARN_ALL, false), (tarn_tensor[]){ x, w, v },
                   3, &out[2]);
}

/* Windows: two convolutions and two kinds of pools. */
static void record_windows(tarn_replica *r, int batch, tarn_tensor *out)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 2, 9, 9), 8);
    const tarn_tensor w = numbers(r, TARN_SHAPE(4, 2, 3, 3), 9);
    const tarn_tensor b = numbers(r, TARN_SHAPE(4), 10);
    const tarn_tensor c =
        tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .padding = { 1, 1 }, .groups = 1 });
    const tarn_tensor m = tarn_max_pool2d_with(
        c, (tarn_pool_options){ .window = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } });
    out[0] = tarn_avg_pool2d(tarn_gelu(m), 2);
    tarn_gradients(tarn_sum(tarn_mul(out[0], out[0]), TARN_ALL, false), (tarn_tensor[]){ x, w, b },
                   3, &out[1]);
}

static const struct graph_case cases[] = {
    { "maps", 4, record_maps },       { "reductions", 4, record_reductions },
    { "views", 4, record_views },     { "matmul", 5, record_matmul },
    { "windows", 4, record_windows },
};

static struct trace run_case(const struct graph_case *c, int batch, const char *fuse)
{
    tarn_replica *r = open_with(fuse);
    struct trace t = trace_new();
    tarn_tensor out[MOST];
    c->record(r, batch, out);
    cr_assert_eq(tarn_eval(out, c->count), TARN_OK, "%s: %s", c->name, tarn_error(r));
    t.launches = tarn_metrics_get(r).launches;
    for (int i = 0; i < c->count; i++)
        trace_tensor(&t, out[i]);
    tarn_close(r);
    return t;
}

Test(fuse, graphs, .timeout = 600)
{
    static const int batches[] = { 16, 37, 5 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int b = 0; b < 3; b++) {
            char name[64];
            snprintf(name, sizeof name, "%s, batch %d", cases[i].name, batches[b]);
            struct trace split = run_case(&cases[i], batches[b], "0");
            struct trace fused = run_case(&cases[i], batches[b], "1");
            compare(name, &split, &fused);
        }
    }
}

/* ---- training ------------------------------------------------------------------------------- */

enum { TRAIN_STEPS = 3, TRAIN_MOST = 37 };

static struct trace run_training(int batch, const char *fuse)
{
    static float x[TRAIN_MOST * 784];
    static int32_t y[TRAIN_MOST];
    tarn_replica *r = open_with(fuse);
    struct trace t = trace_new();
    const struct mnist_net net = mnist_net_make(r);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    cr_assert_not_null(sgd, "%s", tarn_error(r));
    for (int s = 0; s < TRAIN_STEPS; s++) {
        golden_batch(s, batch, x, y);
        const tarn_tensor loss =
            tarn_keep(mnist_net_loss(&net, tarn_from(r, TARN_SHAPE(batch, 1, 28, 28), TARN_F32, x),
                                     tarn_from(r, TARN_SHAPE(batch), TARN_I32, y)));
        tarn_backward(loss);
        tarn_optimizer_step(sgd);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        t.launches = tarn_metrics_get(r).launches_last_step;
        trace_tensor(&t, loss);
        tarn_drop(loss);
    }
    for (int i = 0; i < tarn_owned_count(r); i++)
        trace_tensor(&t, tarn_find(r, tarn_owned_name(r, i)));
    cr_assert_eq(tarn_wait(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return t;
}

Test(fuse, training, .timeout = 600)
{
    static const int batches[] = { 32, 37 };
    for (int b = 0; b < 2; b++) {
        char name[64];
        snprintf(name, sizeof name, "training, batch %d", batches[b]);
        struct trace split = run_training(batches[b], "0");
        struct trace fused = run_training(batches[b], "1");
        compare(name, &split, &fused);
    }
}
