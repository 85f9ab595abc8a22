/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler takes time in proportion to the program: four times as large a one may take EIGHT times as long
 * at most, where a search of all nests for each of them would take sixteen. Times are those of a core, and the
 * fastest of as many rounds of both as it takes: other programs can make a round slower, never faster, so the
 * bound is met by and by unless the compiler itself breaks it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "build.h"
#include "cases.h"
#include "error.h"

enum { FEWEST = 3, MOST = 60, LARGER = 4, EIGHT = 2 * LARGER };

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

/* Seconds that compiling `p` takes; NaN on failure. */
static double seconds(const struct program *p, const struct target *t)
{
    struct kernel_plan plan = { 0 };
    const double from = now();
    const tarn_status status = compile_program(p, t, &plan);
    const double took = now() - from;
    kernel_plan_free(&plan);
    return status == TARN_OK ? took : (double)NAN;
}

/* Whether program number `number` grows as it may; prints its times. */
static bool grows_in_proportion(int number, const char *name)
{
    const int n = programs[number].n;
    const struct target t = target_named(name);
    struct build small, large;
    build_begin(&small);
    build_begin(&large);
    programs[number].make(&small, n);
    programs[number].make(&large, LARGER * n);
    const struct program p = build_program(&small), q = build_program(&large);
    double of_small = INFINITY, of_large = INFINITY;
    int rounds = 0;
    do {
        const double a = seconds(&p, &t), b = seconds(&q, &t);
        of_small = isnan(a) ? a : fmin(of_small, a);
        of_large = isnan(b) ? b : fmin(of_large, b);
        rounds++;
    } while (rounds < FEWEST || (of_large > EIGHT * of_small && rounds < MOST));
    const bool good = of_large <= EIGHT * of_small; /* not for NaN */
    printf("growth_plain: %s, %s: %.1f ms for %d, %.1f ms for %d, %d rounds%s\n",
           programs[number].name, name, 1e3 * of_small, n, 1e3 * of_large, LARGER * n, rounds,
           good ? "" : ": WRONG");
    if (!good)
        printf("growth_plain: %s\n", error_text());
    build_end(&small);
    build_end(&large);
    return good;
}

int main(void)
{
    static const char *const targets[] = { "avx512", "gpu_small" };
    int failures = 0;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < (int)(sizeof programs / sizeof *programs); i++)
            failures += !grows_in_proportion(i, targets[t]);
    return failures > 0;
}
