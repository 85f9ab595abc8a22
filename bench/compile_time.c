/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler itself takes for deep networks, the driver's left out: microseconds of a core for each
 * node that was recorded. Nothing runs, and no kernel is built: a device is opened for its figures, and for
 * memory. Arguments are names of networks, each with a depth or none, as in
 * `bench-compile_time resnet 20 resnet 56 gpt`; no arguments are all of them. With `--first-step` before them a
 * step runs, too, after all its kernels are built: that is the cold start when caches are empty. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compile/kernel_plan.h"
#include "compile/nest.h"
#include "deep.h"
#include "run/device_target.h"
#include "run/snapshot.h"

enum { ROUNDS = 3 }; /* the fastest counts */

/* ---- what they are made of ------------------------------------------------------------------ */

static tarn_tensor numbers(tarn_replica *r, tarn_shape shape)
{
    float *zeros = calloc((size_t)tarn_shape_count(shape) + 1, sizeof *zeros);
    const tarn_tensor t = zeros != NULL ? tarn_from(r, shape, TARN_F32, zeros) : (tarn_tensor){ 0 };
    free(zeros);
    return t;
}

static tarn_tensor integers(tarn_replica *r, tarn_shape shape)
{
    int32_t *zeros = calloc((size_t)tarn_shape_count(shape) + 1, sizeof *zeros);
    const tarn_tensor t = zeros != NULL ? tarn_from(r, shape, TARN_I32, zeros) : (tarn_tensor){ 0 };
    free(zeros);
    return t;
}

/* ---- chains of additions -------------------------------------------------------------------- */

static tarn_tensor additions(tarn_replica *r, int depth, bool keep)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(64));
    tarn_tensor y = x;
    for (int i = 0; i < depth; i++) {
        y = tarn_add(y, x);
        if (keep)
            tarn_keep(y);
    }
    return y;
}

static tarn_tensor chain(tarn_replica *r, int depth)
{
    return additions(r, depth, false);
}

static tarn_tensor kept(tarn_replica *r, int depth)
{
    return additions(r, depth, true);
}

/* ---- networks: each returns its loss -------------------------------------------------------- */

static const char *named(const char *part, int i)
{
    static char name[64];
    snprintf(name, sizeof name, "%s%d", part, i);
    return name;
}

static tarn_tensor mlp(tarn_replica *r, int depth)
{
    enum { BATCH = 32, WIDTH = 32 };
    tarn_tensor x = numbers(r, TARN_SHAPE(BATCH, WIDTH));
    for (int i = 0; i < depth; i++) {
        const tarn_linear l = tarn_linear_make(r, named("l", i), WIDTH, WIDTH);
        x = tarn_relu(tarn_linear_forward(&l, x));
    }
    return tarn_cross_entropy(x, integers(r, TARN_SHAPE(BATCH)));
}

static tarn_tensor conv_norm(tarn_replica *r, tarn_tensor x, int out, int stride)
{
    static int number;
    const int in = tarn_shape_get(x).dim[1];
    const tarn_conv2d_options o = { .stride = { stride, stride }, .padding = { 1, 1 } };
    const tarn_tensor w =
        tarn_parameter_kaiming(r, named("conv", number), TARN_SHAPE(out, in, 3, 3), 9 * in);
    const tarn_batch_norm norm = tarn_batch_norm_make(r, named("norm", number++), out);
    return tarn_batch_norm_forward(&norm, tarn_conv2d_op(x, w, TARN_NONE, o));
}

/* Every other pixel, and zeros for the new channels. */
static tarn_tensor narrowed(tarn_tensor x)
{
    const int channels = tarn_shape_get(x).dim[1], side = tarn_shape_get(x).dim[2];
    const tarn_shape more = TARN_SHAPE(0, channels / 2, 0, 0);
    return tarn_pad(tarn_slice(tarn_slice(x, 2, 0, side, 2), 3, 0, side, 2), more, more, 0.0f);
}

/* Of 6 n + 2 layers, for images of 32 by 32. */
static tarn_tensor resnet(tarn_replica *r, int depth)
{
    enum { BATCH = 128 };
    tarn_tensor x = numbers(r, TARN_SHAPE(BATCH, 3, 32, 32));
    x = tarn_relu(conv_norm(r, x, 16, 1));
    for (int stage = 0; stage < 3; stage++)
        for (int block = 0; block < (depth - 2) / 6; block++) {
            const bool halves = stage > 0 && block == 0;
            const tarn_tensor inner = tarn_relu(conv_norm(r, x, 16 << stage, 1 + halves));
            const tarn_tensor around = halves ? narrowed(x) : x;
            x = tarn_relu(tarn_add(conv_norm(r, inner, 16 << stage, 1), around));
        }
    const tarn_linear head = tarn_linear_make(r, "head", 64, 10);
    x = tarn_linear_forward(&head, tarn_mean(x, TARN_AXES(2, 3), false));
    return tarn_cross_entropy(x, integers(r, TARN_SHAPE(BATCH)));
}

enum { WIDTH = 128, HEADS = 4, CONTEXT = 64, WORDS = 65, TEXTS = 32 };

/* Queries, keys or values of all heads. */
static tarn_tensor part(tarn_tensor qkv, int which)
{
    const tarn_tensor one = tarn_slice(qkv, 2, which * WIDTH, (which + 1) * WIDTH, 1);
    return tarn_permute(tarn_reshape(one, TARN_SHAPE(TEXTS, CONTEXT, HEADS, WIDTH / HEADS)),
                        TARN_AXES(0, 2, 1, 3));
}

static tarn_tensor linear(tarn_tensor x, const char *name, int layer, int in, int out)
{
    const tarn_linear l = tarn_linear_make(x.replica, named(name, layer), in, out);
    return tarn_linear_forward(&l, x);
}

static tarn_tensor norm(tarn_tensor x, const char *name, int layer)
{
    const tarn_layer_norm n = tarn_layer_norm_make(x.replica, named(name, layer), WIDTH);
    return tarn_layer_norm_forward(&n, x);
}

static tarn_tensor attention(tarn_tensor x, int layer)
{
    tarn_replica *r = x.replica;
    const tarn_tensor qkv = linear(norm(x, "before", layer), "qkv", layer, WIDTH, 3 * WIDTH);
    tarn_tensor s = tarn_matmul(part(qkv, 0), tarn_transpose(part(qkv, 1), 2, 3));
    s = tarn_mul_scalar(s, 1.0f / sqrtf((float)WIDTH / HEADS));
    const tarn_tensor at = tarn_arange(r, CONTEXT);
    const tarn_tensor past = tarn_le(at, tarn_reshape(at, TARN_SHAPE(CONTEXT, 1)));
    s = tarn_softmax(tarn_where(past, s, tarn_full(r, TARN_SCALAR, -1e9f)), 3);
    const tarn_tensor y = tarn_permute(tarn_matmul(s, part(qkv, 2)), TARN_AXES(0, 2, 1, 3));
    return linear(tarn_reshape(y, TARN_SHAPE(TEXTS, CONTEXT, WIDTH)), "out", layer, WIDTH, WIDTH);
}

static tarn_tensor gpt(tarn_replica *r, int depth)
{
    const tarn_tensor words = tarn_parameter_kaiming(r, "words", TARN_SHAPE(WORDS, WIDTH), WIDTH);
    const tarn_tensor places =
        tarn_parameter_kaiming(r, "places", TARN_SHAPE(CONTEXT, WIDTH), WIDTH);
    const tarn_tensor head = tarn_parameter_kaiming(r, "head", TARN_SHAPE(WORDS, WIDTH), WIDTH);
    tarn_tensor x =
        tarn_add(tarn_embedding(words, integers(r, TARN_SHAPE(TEXTS, CONTEXT))), places);
    for (int i = 0; i < depth; i++) {
        x = tarn_add(x, attention(x, i));
        const tarn_tensor h = tarn_gelu(linear(norm(x, "between", i), "up", i, WIDTH, 4 * WIDTH));
        x = tarn_add(x, linear(h, "down", i, 4 * WIDTH, WIDTH));
    }
    x = tarn_reshape(norm(x, "last", 0), TARN_SHAPE(TEXTS * CONTEXT, WIDTH));
    x = tarn_matmul(x, tarn_transpose(head, 0, 1));
    return tarn_cross_entropy(x, integers(r, TARN_SHAPE(TEXTS * CONTEXT)));
}

static tarn_tensor gate(tarn_tensor all, int which, int hidden)
{
    return tarn_slice(all, 1, which * hidden, (which + 1) * hidden, 1);
}

/* `depth` steps. */
static tarn_tensor lstm(tarn_replica *r, int depth)
{
    enum { IMAGES = 128, HIDDEN = 128, FEATURES = 28 };
    const tarn_linear input = tarn_linear_make(r, "input", FEATURES, 4 * HIDDEN);
    const tarn_linear state = tarn_linear_make(r, "state", HIDDEN, 4 * HIDDEN);
    const tarn_tensor x = numbers(r, TARN_SHAPE(IMAGES, depth, FEATURES));
    tarn_tensor h = tarn_zeros(r, TARN_SHAPE(IMAGES, HIDDEN)), c = h;
    for (int t = 0; t < depth; t++) {
        const tarn_tensor row =
            tarn_reshape(tarn_slice(x, 1, t, t + 1, 1), TARN_SHAPE(IMAGES, FEATURES));
        const tarn_tensor all =
            tarn_add(tarn_linear_forward(&input, row), tarn_linear_forward(&state, h));
        const tarn_tensor write = tarn_sigmoid(gate(all, 0, HIDDEN));
        const tarn_tensor stay = tarn_sigmoid(gate(all, 1, HIDDEN));
        const tarn_tensor value = tarn_tanh(gate(all, 2, HIDDEN));
        c = tarn_add(tarn_mul(stay, c), tarn_mul(write, value));
        h = tarn_mul(tarn_sigmoid(gate(all, 3, HIDDEN)), tarn_tanh(c));
    }
    return tarn_cross_entropy(linear(h, "head", 0, HIDDEN, 10), integers(r, TARN_SHAPE(IMAGES)));
}

/* ---- compiling ------------------------------------------------------------------------------ */

static const struct network {
    const char *name;
    int depth;   /* unless another one is asked for */
    bool trains; /* with its gradients and an update */
    tarn_tensor (*make)(tarn_replica *r, int depth);
} networks[] = { { "chain", 10000, false, chain }, { "kept", 10000, false, kept },
                 { "mlp", 500, true, mlp },        { "resnet", 56, true, resnet },
                 { "gpt", 12, true, gpt },         { "lstm", 1000, true, lstm } };

struct compilation {
    tarn_replica *r;
    uint32_t output;
    struct kernel_plan plan; /* the last one */
    double nodes, seconds;
    double first_step; /* seconds of the clock; 0: it was not asked for */
};

static tarn_status compile_once(void *arg)
{
    struct compilation *c = arg;
    struct snapshot s;
    struct target t;
    struct timespec from, to;
    kernel_plan_free(&c->plan);
    TRY(device_target(context_device(c->r->context), 0, false, &t));
    tarn_status status = snapshot_take(c->r, &c->output, c->output > 0, true, &s);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    if (status == TARN_OK)
        status = compile_program(&s.program, &t, &c->plan);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    c->seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    snapshot_free(&s);
    return status;
}

static tarn_status run_step(struct compilation *c)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    TRY(tarn_step(c->r));
    TRY(tarn_wait(c->r));
    clock_gettime(CLOCK_MONOTONIC, &to);
    c->first_step = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    return TARN_OK;
}

static tarn_status measure(const struct network *n, int depth, bool runs, struct compilation *c)
{
    double least = INFINITY;
    tarn_tensor y = n->make(c->r, depth);
    if (n->trains) {
        tarn_optimizer *o = tarn_sgd(c->r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.9f });
        tarn_backward(y);
        tarn_optimizer_step(o);
    }
    c->output = graph_resolve(y);
    c->nodes = (double)c->r->graph.count;
    TRY(tarn_error_status(c->r));
    for (int i = 0; i < ROUNDS; i++) {
        TRY(run_deep(compile_once, c));
        least = fmin(least, c->seconds);
    }
    c->seconds = least;
    return runs ? run_step(c) : TARN_OK;
}

/* Kernels of different text, which the driver compiles once each, and the length of these. */
static int distinct_kernels(const struct kernel_plan *plan, size_t *bytes)
{
    int distinct = 0;
    *bytes = 0;
    for (int i = 0; i < plan->kernel_count; i++) {
        int first = 0;
        while (strcmp(plan->kernels[first].function, plan->kernels[i].function) != 0)
            first++;
        const bool is_new = first == i && plan->kernels[i].groups > 0;
        distinct += is_new;
        *bytes += is_new ? plan->kernels[i].source.length : 0;
    }
    return distinct;
}

static bool report(const struct network *n, int depth, bool runs)
{
    struct compilation c = { .r = tarn_open(NULL) };
    const tarn_status status = c.r != NULL ? measure(n, depth, runs, &c) : TARN_ERR_DEVICE;
    if (status == TARN_OK) {
        size_t bytes;
        char first[16] = "-";
        if (runs)
            snprintf(first, sizeof first, "%.1f", c.first_step);
        const int distinct = distinct_kernels(&c.plan, &bytes);
        printf("%-8s %6d %8.0f %8d %8d %9d %9zu %6.0f %9.1f %8.1f %12s\n", n->name, depth, c.nodes,
               c.plan.ir->nest_count, c.plan.kernel_count, distinct, bytes >> 10,
               (double)c.plan.arena_bytes / 1048576, 1e3 * c.seconds, 1e6 * c.seconds / c.nodes,
               first);
        fflush(stdout);
    } else {
        fprintf(stderr, "%s %d: %s\n", n->name, depth, tarn_error(NULL));
        fprintf(stderr, "%s\n", tarn_error(c.r));
    }
    kernel_plan_free(&c.plan);
    tarn_close(c.r);
    return status == TARN_OK;
}

/* A network by name, with the depth that follows it in the list, if any. */
static bool report_named(char **list, int count, bool runs, int *at)
{
    const char *name = list[(*at)++];
    const int depth = *at < count ? atoi(list[*at]) : 0;
    *at += depth > 0;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (strcmp(networks[i].name, name) == 0)
            return report(&networks[i], depth > 0 ? depth : networks[i].depth, runs);
    fprintf(stderr, "compile_time: no network %s\n", name);
    return false;
}

int main(int argc, char **argv)
{
    bool good = true;
    const bool runs = argc > 1 && strcmp(argv[1], "--first-step") == 0;
    const int first = 1 + runs;
    printf("network   depth    nodes    nests  kernels  distinct  text KiB    MiB        ms  "
           "us/node first step s\n");
    for (int i = first; i < argc;)
        good &= report_named(argv, argc, runs, &i);
    for (size_t i = 0; argc == first && i < sizeof networks / sizeof *networks; i++)
        good &= report(&networks[i], networks[i].depth, runs);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
