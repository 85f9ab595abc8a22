/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler takes time in proportion to the program: four times as large a one may take EIGHT times as long
 * at most, where a search of all nests for each of them would take sixteen. Times are those of a core, and the
 * fastest of several rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "build.h"
#include "cases.h"
#include "error.h"

enum { ROUNDS = 5, LARGER = 4, EIGHT = 2 * LARGER };

/* ---- programs of so many parts -------------------------------------------------------------- */

static void make_chain(struct build *b, int n)
{
    const uint32_t x = build_owned(b, TARN_SHAPE(64));
    uint32_t y = x;
    for (int i = 0; i < n; i++)
        y = build_map2(b, &op_add, y, x);
    build_output(b, y);
}

/* Each of the sums is kept in a tensor of its own. */
static void make_kept(struct build *b, int n)
{
    const uint32_t x = build_owned(b, TARN_SHAPE(64));
    uint32_t y = x;
    for (int i = 0; i < n; i++) {
        y = build_map2(b, &op_add, y, x);
        build_assign(b, build_owned(b, TARN_SHAPE(64)), y);
    }
}

/* Linear layers, their gradients, and an update of weights that lie in one piece of memory. */
static void make_layers(struct build *b, int n)
{
    enum { BATCH = 32, WIDTH = 16 };
    uint32_t *weights = malloc((size_t)n * sizeof *weights), *in = malloc((size_t)n * sizeof *in);
    uint32_t y = build_samples(b, TARN_SHAPE(BATCH, WIDTH)), first = 0;
    if (weights == NULL || in == NULL)
        exit(2);
    for (int i = 0; i < n; i++) {
        const tarn_shape shape = TARN_SHAPE(WIDTH, WIDTH);
        weights[i] = i == 0 ? build_owned(b, shape)
                            : build_slice_of(b, first, (size_t)i * WIDTH * WIDTH * 4, shape);
        first = weights[0];
        in[i] = y;
        y = build_map(b, &op_relu, build_matmul(b, y, weights[i], false, true));
    }
    for (int i = n - 1; i >= 0; i--) {
        const uint32_t gradient = build_matmul(b, y, in[i], true, false);
        y = build_map2(b, &op_mul, build_matmul(b, y, weights[i], false, false), in[i]);
        build_assign(b, weights[i],
                     build_map2(b, &op_sub, weights[i], build_scaled(b, gradient, 0.1f)));
    }
    free(weights);
    free(in);
}

/* Each tensor is overwritten with what is computed of another one. */
static void make_rotation(struct build *b, int n)
{
    const uint32_t first = build_owned(b, TARN_SHAPE(32));
    uint32_t last = first;
    for (int i = 1; i < n; i++) {
        const uint32_t next = build_owned(b, TARN_SHAPE(32));
        build_assign(b, last, build_map(b, &op_neg, next));
        last = next;
    }
    build_assign(b, last, build_map(b, &op_neg, first));
}

/* The values and places of maxima, which are searched together. */
static void make_maxima(struct build *b, int n)
{
    for (int i = 0; i < n; i++) {
        const uint32_t x = build_owned(b, TARN_SHAPE(8, 8));
        const uint32_t most = build_reduce(b, &op_max, x, 2),
                       at = build_reduce(b, &op_argmax, x, 2);
        b->nodes[at].dtype = TARN_I32;
        build_output(b, build_reduce(b, &op_sum, most, 1));
        build_output(b, at);
    }
}

/* ---- times ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*make)(struct build *b, int n);
    int n;
} programs[] = { { "chain", make_chain, 1500 },
                 { "kept", make_kept, 1000 },
                 { "layers", make_layers, 120 },
                 { "rotation", make_rotation, 500 },
                 { "maxima", make_maxima, 200 } };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that program number `number` of `n` parts takes; NaN on failure. */
static double seconds(int number, int n, const struct target *t)
{
    struct build b;
    double least = INFINITY;
    build_begin(&b);
    programs[number].make(&b, n);
    const struct program p = build_program(&b);
    for (int i = 0; i < ROUNDS && !isnan(least); i++) {
        struct kernel_plan plan = { 0 };
        const double from = now();
        const tarn_status status = compile_program(&p, t, &plan);
        least = status == TARN_OK ? fmin(least, now() - from) : (double)NAN;
        kernel_plan_free(&plan);
    }
    build_end(&b);
    return least;
}

int main(void)
{
    static const char *const targets[] = { "avx512", "gpu_small" };
    int failures = 0;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < (int)(sizeof programs / sizeof *programs); i++) {
            const struct target target = target_named(targets[t]);
            const double small = seconds(i, programs[i].n, &target);
            const double large = seconds(i, LARGER * programs[i].n, &target);
            const bool good = large <= EIGHT * small; /* not for NaN */
            printf("growth_plain: %s, %s: %.1f ms for %d, %.1f ms for %d%s\n", programs[i].name,
                   targets[t], 1e3 * small, programs[i].n, 1e3 * large, LARGER * programs[i].n,
                   good ? "" : ": WRONG");
            if (!good)
                printf("growth_plain: %s\n", error_text());
            failures += !good;
        }
    return failures > 0;
}
