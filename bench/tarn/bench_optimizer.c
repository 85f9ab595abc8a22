/* SPDX-License-Identifier: Apache-2.0 */
/* Updates by optimizers of more parameters than any cache holds, next to what copying reaches (memory/copy in memory).
 * Timed is the last kernel of a step. What comes before it brings the gradients together, and looks for NaN in them.
 * Bytes are those that a rule must move: parameters and state once each way, gradients once. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include <tarn_profile.h>

enum { STEPS = 25, QUICK_STEPS = 5 };
#define PARAMETERS 8 /* each with a gradient of its own */

struct rule {
    const char *name;
    tarn_optimizer *(*make)(tarn_replica *r);
    int states;   /* values of it for each parameter */
    double flops; /* for each parameter, about */
};

static tarn_optimizer *sgd(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 1e-3f });
}

static tarn_optimizer *momentum(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 1e-3f, .momentum = 0.9f });
}

static tarn_optimizer *adam(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 1e-3f });
}

static tarn_optimizer *adamw(tarn_replica *r)
{
    return tarn_adamw(r, (tarn_adam_options){ .lr = 1e-3f, .weight_decay = 0.01f });
}

static tarn_optimizer *rmsprop(tarn_replica *r)
{
    return tarn_rmsprop(r, (tarn_rmsprop_options){ .lr = 1e-3f });
}

static tarn_optimizer *lion(tarn_replica *r)
{
    return tarn_lion(r, (tarn_lion_options){ .lr = 1e-3f });
}

static const struct rule rules[] = {
    { "SGD", sgd, 0, 2 },      { "SGD momentum", momentum, 1, 4 }, { "Adam", adam, 2, 13 },
    { "AdamW", adamw, 2, 15 }, { "RMSprop", rmsprop, 1, 8 },       { "Lion", lion, 1, 8 }
};

struct training {
    tarn_replica *replica;
    tarn_optimizer *optimizer;
    tarn_tensor w[PARAMETERS], gradient[PARAMETERS];
};

static tarn_status step(const struct training *t)
{
    tarn_tensor loss = tarn_full(t->replica, TARN_SCALAR, 0);
    for (int i = 0; i < PARAMETERS; i++)
        loss = tarn_add(loss, tarn_sum(tarn_mul(t->w[i], t->gradient[i]), TARN_ALL, false));
    tarn_backward(loss);
    tarn_optimizer_step(t->optimizer);
    return tarn_step(t->replica);
}

static void note(const tarn_kernel_run *run, void *user)
{
    *(double *)user = run->seconds;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first two steps are not counted: they compile, and touch memory for the first time. */
static tarn_status collect(const struct training *t, int steps, struct times *out)
{
    double seconds[STEPS], last = 0;
    TRY(step(t));
    TRY(step(t));
    TRY(tarn_profile(t->replica, note, &last));
    for (int i = 0; i < steps; i++) {
        TRY(step(t));
        seconds[i] = last;
    }
    qsort(seconds, (size_t)steps, sizeof *seconds, ascending);
    *out = (struct times){ seconds[steps / 2], seconds[0], seconds[steps - 1] };
    return tarn_wait(t->replica);
}

static tarn_status prepare(struct training *t, const struct rule *rule, int count)
{
    float *data = malloc((size_t)count * sizeof *data);
    for (int i = 0; data != NULL && i < count; i++)
        data[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-24f;
    if (data == NULL)
        return error_set(TARN_ERR_MEMORY, "out of host memory for %d parameters", count);
    for (int i = 0; i < PARAMETERS; i++) {
        char name[24];
        snprintf(name, sizeof name, "w%d", i);
        t->w[i] = tarn_parameter(t->replica, name, TARN_SHAPE(count), data);
        snprintf(name, sizeof name, "gradient%d", i);
        t->gradient[i] = tarn_buffer(t->replica, name, TARN_SHAPE(count), TARN_F32, data);
    }
    free(data);
    t->optimizer = rule->make(t->replica);
    return tarn_error_status(t->replica);
}

static void rule_run(struct bench *b, const struct rule *rule, int count)
{
    const double all = (double)count * PARAMETERS, bytes = 4 * all * (3 + 2 * rule->states);
    struct item *i = item_new(b, "GB/s", rule->flops * all, bytes, "optimizer/%s %dM", rule->name,
                              count * PARAMETERS >> 20);
    struct training t = { .replica = i != NULL ? bench_open(b) : NULL };
    struct times times;
    if (i == NULL)
        return;
    if (t.replica != NULL && prepare(&t, rule, count) == TARN_OK &&
        collect(&t, b->quick ? QUICK_STEPS : STEPS, &times) == TARN_OK)
        item_rate(b, i, 1e-9 * bytes, &times);
    else
        item_fail(b, i, tarn_error(t.replica));
    tarn_close(t.replica);
}

void optimizer_run(struct bench *b)
{
    /* One array alone is to exceed what the last cache holds. */
    const size_t least = b->quick ? (size_t)1 << 20 : (size_t)1 << 24;
    const size_t cached = b->device->cache_bytes / sizeof(float) * (b->quick ? 0 : 2);
    const size_t all = cached > least ? cached : least;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        rule_run(b, &rules[k], (int)((all / PARAMETERS + 1023) / 1024 * 1024));
}
