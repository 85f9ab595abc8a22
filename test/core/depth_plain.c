/* SPDX-License-Identifier: Apache-2.0 */
/* Deep and wide graphs, on a thread with a small stack: they compile, and give right values.
 * Arguments: what the sizes are multiplied by (1), the name of one program, and "main" to run it
 * on the main thread, whose stack, and that of all threads without a size of their own, `ulimit
 * -s` sets. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mnist_net.h"
#include "tarn.h"
#include "tarn_dist.h"

#define SMALL_STACK ((size_t)256 << 10)

static tarn_replica *r;
static int failures;
static double scale = 1;

static int sized(int size)
{
    return (int)(size * scale);
}

static void expect(const char *name, double got, double wanted, double tolerance)
{
    const bool good = fabs(got - wanted) <= tolerance;
    printf("depth_plain: %s: %.9g, expected %.9g%s\n", name, got, wanted, good ? "" : ": WRONG");
    if (tarn_error_status(r) != TARN_OK)
        printf("depth_plain: %s\n", tarn_error(r));
    failures += !good || tarn_error_status(r) != TARN_OK;
    tarn_error_clear(r);
}

static double first_of(tarn_tensor x)
{
    return (double)tarn_item(tarn_select(x, 0, 0));
}

static tarn_tensor numbers(int count, float first, float step)
{
    float data[64];
    for (int i = 0; i < count; i++)
        data[i] = first + step * (float)i;
    return tarn_from(r, tarn_shape_of(1, (const int32_t[]){ count }), TARN_F32, data);
}

/* The same small number again and again: sums of powers of two are exact. */
static void additions(void)
{
    const int n = sized(5000);
    const tarn_tensor x = numbers(4, 0.5f, 0.25f);
    tarn_tensor y = x;
    for (int i = 0; i < n; i++)
        y = tarn_add(y, x);
    expect("additions", first_of(y), 0.5 * (n + 1), 0);
}

static void doublings(void)
{
    tarn_tensor x = numbers(3, 1, 1);
    for (int i = 0; i < 40; i++)
        x = tarn_add(x, x);
    expect("doublings", first_of(x), 0x1p40, 0);
}

/* Both operands lead to the same node, by two ways. */
static void diamonds(void)
{
    tarn_tensor x = numbers(3, 1, 1);
    for (int i = 0; i < 40; i++)
        x = tarn_add(tarn_mul_scalar(x, 0.5f),
                     tarn_reshape(tarn_neg(tarn_mul_scalar(x, -0.5f)), TARN_SHAPE(3)));
    expect("diamonds", first_of(x), 1, 0);
}

/* Each step adds 6 u at most, with u = 2^-24 (5 ULP of tanh and a product), and takes earlier
 * errors times a slope below 1/2. */
static void tanh_chain(void)
{
    const int n = sized(200);
    tarn_tensor y = numbers(4, 0.9f, 0.01f);
    double wanted = (double)0.9f;
    for (int i = 0; i < n; i++) {
        y = tarn_tanh(tarn_mul_scalar(y, 1.5f));
        wanted = tanh(wanted * 1.5);
    }
    expect("tanh chain", first_of(y), wanted, 12 * 0x1p-24);
}

static void means(void)
{
    const int n = sized(300);
    const float x[4] = { 1, 2, 3, 6 };
    tarn_tensor h = tarn_from(r, TARN_SHAPE(4), TARN_F32, x);
    for (int i = 0; i < n; i++)
        h = tarn_sub(h, tarn_mean(h, TARN_ALL, true));
    expect("means", first_of(h), -2, 0);
}

static tarn_tensor tree(int leaves, int first)
{
    if (leaves == 1)
        return tarn_full(r, TARN_SHAPE(2), (float)(first % 7));
    return tarn_add(tree(leaves / 2, first), tree(leaves - leaves / 2, first + leaves / 2));
}

static void balanced(void)
{
    const int leaves = sized(4000);
    double wanted = 0;
    for (int i = 0; i < leaves; i++)
        wanted += i % 7;
    const tarn_tensor sum = tarn_add(tree(leaves, 0), tarn_number(r, 1));
    expect("balanced tree", first_of(sum), wanted + 1, 0);
}

/* h = tanh(h w) many times with one weight, a recurrent network, and then one step of SGD. The
 * host does the same in double; errors of a step, some 10 u, are damped by slopes below 1/2. */
static void layers(void)
{
    enum { WIDTH = 2, BATCH = 3 };
    const int n = sized(50);
    const float start[WIDTH * WIDTH] = { 0.25f, -0.125f, 0.5f, 0.25f };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(WIDTH, WIDTH), start);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f });
    double h[BATCH][WIDTH], d[BATCH][WIDTH][WIDTH * WIDTH] = { { { 0 } } };
    float x[BATCH * WIDTH];
    for (int i = 0; i < BATCH * WIDTH; i++)
        h[i / WIDTH][i % WIDTH] = x[i] = (float)(i - 2) * 0.25f;
    tarn_tensor t = tarn_from(r, TARN_SHAPE(BATCH, WIDTH), TARN_F32, x);
    tarn_tensor loss = tarn_zeros(r, TARN_SCALAR);
    double gradient[WIDTH * WIDTH] = { 0 }, total = 0;
    for (int step = 0; step < n; step++) {
        t = tarn_tanh(tarn_matmul(t, w));
        loss = tarn_add(loss, tarn_sum(t, TARN_ALL, false));
        for (int b = 0; b < BATCH; b++) {
            double next[WIDTH], slope[WIDTH][WIDTH * WIDTH];
            for (int j = 0; j < WIDTH; j++) {
                double sum = 0;
                memset(slope[j], 0, sizeof slope[j]);
                for (int i = 0; i < WIDTH; i++) {
                    sum += h[b][i] * (double)start[i * WIDTH + j];
                    slope[j][i * WIDTH + j] += h[b][i];
                    for (int k = 0; k < WIDTH * WIDTH; k++)
                        slope[j][k] += d[b][i][k] * (double)start[i * WIDTH + j];
                }
                next[j] = tanh(sum);
                for (int k = 0; k < WIDTH * WIDTH; k++)
                    slope[j][k] *= 1 - next[j] * next[j];
            }
            memcpy(h[b], next, sizeof next);
            memcpy(d[b], slope, sizeof slope);
            for (int j = 0; j < WIDTH; j++)
                for (int k = 0; k < WIDTH * WIDTH; k++)
                    gradient[k] += slope[j][k];
            total += next[0] + next[1];
        }
    }
    const tarn_tensor kept = tarn_keep(loss);
    tarn_backward(loss);
    tarn_optimizer_step(sgd);
    const tarn_status status = tarn_step(r);
    expect("layers: status", status, TARN_OK, 0);
    expect("layers: loss", (double)tarn_item(kept), total, 1e-5);
    float after[WIDTH * WIDTH] = { 0 };
    failures += tarn_read(w, after, sizeof after) != TARN_OK;
    for (int k = 0; k < WIDTH * WIDTH; k++)
        expect("layers: weight", (double)after[k], (double)start[k] - 0.5 * gradient[k], 1e-5);
}

/* ---- many layers, each with weights of its own ---------------------------------------------- */

enum { WIDE = 8, SAMPLES = 4, MOST_LAYERS = 1024 };

struct layer {
    float w[WIDE * WIDE], b[WIDE];
    double h[SAMPLES][WIDE], d[SAMPLES][WIDE]; /* what it gives, and the gradient before its tanh */
};

/* Sums of the absolute values in each row and column of a weight are below 1/2. */
static void fill_layer(struct layer *l, int number)
{
    for (int i = 0; i < WIDE * WIDE; i++)
        l->w[i] = (float)((i * 37 + number * 11) % 31 - 15) / 256.0f;
    for (int i = 0; i < WIDE; i++)
        l->b[i] = (float)((i * 5 + number * 3) % 17 - 8) / 16.0f;
}

/* The sum of what all layers give, and its gradients, in double. */
static double host_layers(struct layer *l, int n, const float *x)
{
    double loss = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < SAMPLES * WIDE; i++) {
            const int s = i / WIDE, j = i % WIDE;
            double sum = (double)l[k].b[j];
            for (int m = 0; m < WIDE; m++)
                sum += (k == 0 ? (double)x[s * WIDE + m] : l[k - 1].h[s][m]) *
                       (double)l[k].w[m * WIDE + j];
            loss += l[k].h[s][j] = tanh(sum);
        }
    for (int k = n - 1; k >= 0; k--)
        for (int i = 0; i < SAMPLES * WIDE; i++) {
            const int s = i / WIDE, j = i % WIDE;
            double sum = 1;
            for (int m = 0; k < n - 1 && m < WIDE; m++)
                sum += l[k + 1].d[s][m] * (double)l[k + 1].w[j * WIDE + m];
            l[k].d[s][j] = sum * (1 - l[k].h[s][j] * l[k].h[s][j]);
        }
    return loss;
}

/* The largest difference from the weights after a step of SGD. */
static double host_difference(const struct layer *l, int n, const float *x, const tarn_tensor *w,
                              const tarn_tensor *b, double rate)
{
    double worst = 0;
    for (int k = 0; k < n; k++) {
        float got[WIDE * WIDE + WIDE];
        if (tarn_read(w[k], got, sizeof l->w) != TARN_OK ||
            tarn_read(b[k], got + WIDE * WIDE, sizeof l->b) != TARN_OK)
            return INFINITY;
        for (int i = 0; i < WIDE * WIDE + WIDE; i++) {
            const int from = i / WIDE, to = i % WIDE; /* from WIDE: the bias */
            double gradient = 0;
            for (int s = 0; s < SAMPLES; s++)
                gradient += l[k].d[s][to] * (from == WIDE ? 1
                                             : k == 0     ? (double)x[s * WIDE + from]
                                                          : l[k - 1].h[s][from]);
            const double before = (double)(from == WIDE ? l[k].b[to] : l[k].w[i]);
            worst = fmax(worst, fabs((double)got[i] - (before - rate * gradient)));
        }
    }
    return worst;
}

/* Errors: a layer adds up to 18 u, of its sums and 5 ULP of tanh, and halves those before it, so
 * its result is off by less than 36 u. So is then the slope by 80 u; gradients, below 2, by twice
 * that times two; and the sum over 4 samples by 4 (320 + 2 * 36) u < 1600 u, of which SGD takes
 * half. The loss has 32 numbers of each layer, off by 36 u, and additions, each off by u times
 * the sum till then. */
static void separate(void)
{
    const int wanted = sized(200), n = wanted < MOST_LAYERS ? wanted : MOST_LAYERS;
    const double u = 0x1p-24;
    struct layer *l = calloc((size_t)n, sizeof *l);
    tarn_tensor *w = calloc((size_t)n, sizeof *w), *b = calloc((size_t)n, sizeof *b);
    float x[SAMPLES * WIDE];
    for (int i = 0; i < SAMPLES * WIDE; i++)
        x[i] = (float)(i % 7 - 3) / 4.0f;
    if (l == NULL || w == NULL || b == NULL) {
        failures++;
    } else {
        tarn_tensor h = tarn_from(r, TARN_SHAPE(SAMPLES, WIDE), TARN_F32, x);
        tarn_tensor loss = tarn_zeros(r, TARN_SCALAR);
        for (int k = 0; k < n; k++) {
            char name[32];
            fill_layer(&l[k], k);
            snprintf(name, sizeof name, "w%d", k);
            w[k] = tarn_parameter(r, name, TARN_SHAPE(WIDE, WIDE), l[k].w);
            snprintf(name, sizeof name, "b%d", k);
            b[k] = tarn_parameter(r, name, TARN_SHAPE(WIDE), l[k].b);
            h = tarn_tanh(tarn_add(tarn_matmul(h, w[k]), b[k]));
            loss = tarn_add(loss, tarn_sum(h, TARN_ALL, false));
        }
        const double sum = host_layers(l, n, x);
        tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f });
        const tarn_tensor kept = tarn_keep(loss);
        tarn_backward(loss);
        tarn_optimizer_step(sgd);
        expect("separate: status", tarn_step(r), TARN_OK, 0);
        expect("separate: loss", (double)tarn_item(kept), sum, 32 * n * (36 + n) * u);
        expect("separate: weights differ by", host_difference(l, n, x, w, b, 0.5), 0, 800 * u);
    }
    free(l);
    free(w);
    free(b);
}

/* A loss of very many terms, all of one parameter: multiples of 1/256 below 2^16, so each sum is
 * exact. */
static void terms(void)
{
    const int n = sized(2100);
    const float start = 3.75f;
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SCALAR, &start);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 1.0f });
    tarn_tensor loss = tarn_zeros(r, TARN_SCALAR);
    double total = 0, gradient = 0;
    for (int i = 0; i < n; i++) {
        const float a = (float)(i % 2 + 1), b = (float)(i % 2048) / 256.0f - (float)(i / 2048);
        loss = tarn_add(loss, tarn_relu(tarn_add_scalar(tarn_mul_scalar(w, a), -b)));
        if (start * a > b) {
            total += (double)(start * a - b);
            gradient += (double)a;
        }
    }
    const tarn_tensor kept = tarn_keep(loss);
    tarn_backward(loss);
    tarn_optimizer_step(sgd);
    expect("terms: status", tarn_step(r), TARN_OK, 0);
    expect("terms: loss", (double)tarn_item(kept), total, 0);
    expect("terms: weight", (double)tarn_item(w), (double)start - gradient, 0);
}

/* ---- on replicas, whose threads have the stack that the program's limit gives --------------- */

/* Errors as in tanh_chain, and the gradient's as those of `separate`: it is below 2, too. */
static tarn_status train_replica(tarn_replica *replica, void *count)
{
    const float start = 0.5f;
    const tarn_tensor w = tarn_parameter(replica, "w", TARN_SCALAR, &start);
    tarn_optimizer *sgd = tarn_sgd(replica, (tarn_sgd_options){ .lr = 0.5f });
    tarn_tensor y = tarn_number(replica, 1);
    double wanted = 1, slope = 0;
    for (int i = 0; i < *(const int *)count; i++) {
        y = tarn_tanh(tarn_add_scalar(tarn_mul(y, w), 0.25f));
        slope = wanted + 0.5 * slope;
        wanted = tanh(wanted * 0.5 + 0.25);
        slope *= 1 - wanted * wanted;
    }
    tarn_backward(y);
    tarn_optimizer_step(sgd);
    const tarn_status status = tarn_step(replica);
    const double got = (double)tarn_item(w), right = 0.5 - 0.5 * slope;
    printf("depth_plain: replica %d: %.9g, expected %.9g\n", tarn_rank(replica), got, right);
    if (status != TARN_OK)
        return status;
    return fabs(got - right) <= 400 * 0x1p-24 ? TARN_OK : TARN_ERR_INTERNAL;
}

static void replicas(void)
{
    int count = sized(100);
    const tarn_status status =
        tarn_launch(train_replica, &count, (tarn_launch_options){ .devices = "0,0" });
    if (status != TARN_OK)
        printf("depth_plain: %s\n", tarn_error(NULL));
    expect("replicas: status", status, TARN_OK, 0);
}

/* One operation more than a step may have is refused in one line; the next step is as any other. */
static void limit(void)
{
    const tarn_tensor x = numbers(4, 0.5f, 0.25f);
    tarn_tensor y = x;
    int count = 1;
    while (count <= TARN_MAX_NODES && !tarn_failed(y = tarn_neg(y)))
        count++;
    failures += TARN_MAX_NODES < 20000 || strstr(tarn_error(r), "tarn_step()") == NULL;
    printf("depth_plain: limit: %s\n", tarn_error(r));
    const tarn_status status = tarn_step(r);
    tarn_error_clear(r);
    expect("limit: status", status, TARN_ERR_STATE, 0);
    expect("limit: operations", count, TARN_MAX_NODES, 0);
    expect("limit: after it", first_of(tarn_neg(numbers(4, 0.5f, 0.25f))), -0.5, 0);
}

/* The network of the example: as deep as programs usually are. */
static void training(void)
{
    struct mnist_net net = mnist_net_make(r);
    tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ .lr = 0.001f });
    float *x = calloc(32 * 784, sizeof *x);
    int32_t y[32];
    for (int i = 0; i < 32; i++)
        y[i] = i % 10;
    for (int i = 0; x != NULL && i < 32 * 784; i++)
        x[i] = (float)(i % 29) / 29.0f;
    tarn_backward(mnist_net_loss(&net, tarn_from(r, TARN_SHAPE(32, 1, 28, 28), TARN_F32, x),
                                 tarn_from(r, TARN_SHAPE(32), TARN_I32, y)));
    tarn_optimizer_step(adam);
    expect("training: status", tarn_step(r), TARN_OK, 0);
    expect("training: wait", tarn_wait(r), TARN_OK, 0);
    free(x);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = { { "additions", additions }, { "doublings", doublings }, { "diamonds", diamonds },
                 { "tanh", tanh_chain },     { "means", means },         { "balanced", balanced },
                 { "layers", layers },       { "separate", separate },   { "terms", terms },
                 { "replicas", replicas },   { "limit", limit },         { "training", training } };

static void *run_all(void *only)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct timespec a, b;
        if (only != NULL && strcmp(only, programs[i].name) != 0)
            continue;
        clock_gettime(CLOCK_MONOTONIC, &a);
        r = tarn_open(NULL);
        if (r == NULL) {
            printf("depth_plain: %s\n", tarn_error(NULL));
            failures++;
            return NULL;
        }
        programs[i].run();
        tarn_close(r);
        clock_gettime(CLOCK_MONOTONIC, &b);
        printf("depth_plain: %s took %.1f s\n", programs[i].name,
               (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1)
        scale = atof(argv[1]);
    if (argc > 3 && strcmp(argv[3], "main") == 0) {
        run_all(argv[2]);
        return failures > 0;
    }
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, SMALL_STACK) != 0 ||
        pthread_create(&thread, &attributes, run_all, argc > 2 ? argv[2] : NULL) != 0)
        return perror("depth_plain"), 1;
    pthread_join(thread, NULL);
    printf("depth_plain: %d failures\n", failures);
    return failures > 0;
}
