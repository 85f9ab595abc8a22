/* SPDX-License-Identifier: Apache-2.0 */
/* Causal attention over kept q, k and v [N, T, heads x each], alone and with its gradients: milliseconds, and the most
 * device memory. bench/peers/pytorch_attention.py does the same in PyTorch. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tarn.h>
#include <tarn_profile.h>

enum { WARM = 3, CALLS = 21 };

struct sizes {
    int samples, heads, rows, each;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tarn_tensor heads_of(const struct sizes *s, tarn_tensor x)
{
    const tarn_shape split = TARN_SHAPE(s->samples, s->rows, s->heads, s->each);
    return tarn_permute(tarn_reshape(tarn_batch_axis(x, 0), split), TARN_AXES(0, 2, 1, 3));
}

/* Attention of x[0 to 2], and, with `gradients`, those of the sum of its products with x[3]; results go to the end of x. */
static tarn_status step(const struct sizes *s, tarn_tensor x[8], bool gradients)
{
    const tarn_shape shape = tarn_shape_get(x[0]);
    const tarn_tensor y = tarn_attention(heads_of(s, x[0]), heads_of(s, x[1]), heads_of(s, x[2]),
                                         (tarn_attention_options){ .causal = true });
    const tarn_tensor joined = tarn_reshape(tarn_permute(y, TARN_AXES(0, 2, 1, 3)), shape);
    tarn_tensor g[3];
    if (gradients) {
        tarn_gradients(tarn_sum(tarn_mul(joined, x[3]), TARN_ALL, false), x, 3, g);
        for (int i = 0; i < 3; i++)
            tarn_assign(x[4 + i], g[i]);
    }
    tarn_assign(x[7], joined);
    const tarn_status status = tarn_step(x[0].replica);
    return status == TARN_OK ? tarn_wait(x[0].replica) : status;
}

static int measure(const struct sizes *s, bool gradients)
{
    tarn_replica *r = tarn_open(NULL);
    if (r == NULL)
        return fprintf(stderr, "%s\n", tarn_error(NULL)), 1;
    const tarn_shape shape = TARN_SHAPE(s->samples, s->rows, s->heads * s->each);
    tarn_tensor x[8];
    for (int i = 0; i < 8; i++)
        x[i] = tarn_keep(tarn_add_scalar(tarn_rand(r, shape), -0.5f));
    tarn_status status = tarn_step(r);
    double ms[CALLS];
    for (int i = -WARM; i < CALLS && status == TARN_OK; i++) {
        const double start = now();
        status = step(s, x, gradients);
        if (i >= 0)
            ms[i] = now() - start;
    }
    if (status == TARN_OK) {
        qsort(ms, CALLS, sizeof *ms, by_value);
        printf("%s: median %.3f ms, least %.3f, most %.3f; %.1f MiB\n",
               gradients ? "with gradients" : "forward", ms[CALLS / 2], ms[0], ms[CALLS - 1],
               (double)tarn_metrics_get(r).device_bytes_peak / 1048576);
    } else {
        fprintf(stderr, "%s\n", tarn_error(r));
    }
    tarn_close(r);
    return status != TARN_OK;
}

int main(int argc, char **argv)
{
    struct sizes s;
    if (argc != 5 || (s.samples = atoi(argv[1])) < 1 || (s.heads = atoi(argv[2])) < 1 ||
        (s.rows = atoi(argv[3])) < 1 || (s.each = atoi(argv[4])) < 1)
        return fprintf(stderr, "usage: bench-attend SAMPLES HEADS ROWS FEATURES\n"), 2;
    return measure(&s, false) | measure(&s, true);
}
