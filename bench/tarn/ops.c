/* SPDX-License-Identifier: Apache-2.0 */
/* One operation of the public API as a program sees it: recorded, planned, and run by a step
 * mark. */
#include "bench.h"
#include "tensor/replica.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct running {
    const struct operation *operation;
    tarn_replica *replica;
    tarn_tensor in[MOST_TIMES][MOST_INPUTS], out[MOST_TIMES];
    int times;
};

tarn_replica *bench_open(const struct bench *b)
{
    tarn_replica *r;
    return replica_open(b->device, &(tarn_open_options){ 0 }, &r) == TARN_OK ? r : NULL;
}

tarn_tensor bench_samples(tarn_replica *r, tarn_shape shape, tarn_dtype dtype, const void *data)
{
    if (data != NULL)
        return owned_handle(r, owned_add(r, OWNED_KEPT, NULL, shape, dtype, data));
    replica_fail(r, TARN_ERR_MEMORY, "out of host memory for the %lld values of an input",
                 (long long)tarn_shape_count(shape));
    return (tarn_tensor){ .replica = r };
}

/* Kept tensors are taken for samples, and buffers for weights. Neither is compiled for. */
static tarn_tensor own(tarn_replica *r, int number, tarn_shape shape, bool samples,
                       const float *data)
{
    char name[16];
    if (samples || data == NULL)
        return bench_samples(r, shape, TARN_F32, data);
    snprintf(name, sizeof name, "in%d", number);
    return tarn_buffer(r, name, shape, TARN_F32, data);
}

static tarn_tensor make_input(tarn_replica *r, int number, tarn_shape shape, bool samples)
{
    const size_t count = (size_t)tarn_shape_count(shape);
    float *data = malloc((count + 1) * sizeof *data);
    uint32_t state = 12345u + (uint32_t)number;
    for (size_t i = 0; data != NULL && i < count; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(state >> 8) * 0x1p-23f - 1;
    }
    const tarn_tensor t = own(r, number, shape, samples, data);
    free(data);
    return t;
}

static tarn_status once(void *arg)
{
    const struct running *w = arg;
    for (int i = 0; i < w->times; i++)
        tarn_assign(w->out[i], w->operation->record(w->in[i], w->operation->arg));
    return tarn_step(w->replica);
}

static tarn_status wait(void *arg)
{
    const struct running *w = arg;
    return tarn_wait(w->replica);
}

static tarn_status run(struct bench *b, struct running *w, struct times *t)
{
    const struct operation *o = w->operation;
    for (int i = 0; i < w->times; i++) {
        char name[16];
        for (int k = 0; k < o->inputs; k++)
            w->in[i][k] = make_input(w->replica, i * MOST_INPUTS + k, o->in[k], o->samples[k]);
        const tarn_shape shape = tarn_shape_get(o->record(w->in[i], o->arg));
        snprintf(name, sizeof name, "out%d", i);
        w->out[i] = tarn_buffer(w->replica, name, shape, TARN_F32, NULL);
    }
    TRY(tarn_error_status(w->replica));
    return measure(b, &(struct work){ once, wait, w }, t);
}

void operation_run(struct bench *b, struct item *i, const struct operation *o, double amount)
{
    const int times = o->times > 0 ? o->times : 1;
    struct running w = { .operation = o, .replica = bench_open(b), .times = times };
    struct times t;
    if (w.replica == NULL || run(b, &w, &t) != TARN_OK) {
        item_fail(b, i, tarn_error(w.replica));
    } else {
        t.median /= times;
        t.least /= times;
        t.most /= times;
        item_rate(b, i, amount, &t);
    }
    tarn_close(w.replica);
}
