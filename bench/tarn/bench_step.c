/* SPDX-License-Identifier: Apache-2.0 */
/* The training step of the examples' network, and what compiling it takes. */
#include "bench.h"
#include "model.h"

#include <stdlib.h>

/* What metrics say of one batch size; per step but for the compilation. */
struct outcome {
    struct times times;
    double host, launches, compile;
    bool warm;
};

/* A batch that is on the device already. */
tarn_status model_make(struct model *m, int batch)
{
    const size_t count = (size_t)batch;
    int32_t *labels = malloc(count * sizeof *labels);
    float *pixels = malloc(count * 784 * sizeof *pixels);
    for (size_t i = 0; labels != NULL && i < count; i++)
        labels[i] = (int32_t)((uint32_t)i * 2654435761u >> 16) % 10;
    for (size_t i = 0; pixels != NULL && i < count * 784; i++)
        pixels[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-24f;
    m->net = net_make(m->replica);
    m->sgd = tarn_sgd(m->replica, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    const tarn_shape images = TARN_SHAPE(batch, 1, 28, 28), targets = TARN_SHAPE(batch);
    m->x = bench_samples(m->replica, images, TARN_F32, pixels);
    m->y = bench_samples(m->replica, targets, TARN_I32, labels);
    free(labels);
    free(pixels);
    return tarn_error_status(m->replica);
}

tarn_status model_step(void *arg)
{
    struct model *m = arg;
    tarn_backward(tarn_nll_loss(net_forward(&m->net, m->x), m->y));
    tarn_optimizer_step(m->sgd);
    return tarn_step(m->replica);
}

static tarn_status wait(void *arg)
{
    const struct model *m = arg;
    return tarn_wait(m->replica);
}

static tarn_status train(const struct bench *b, struct model *m, int batch, struct outcome *o)
{
    TRY(model_make(m, batch));
    const double began = tarn_metrics_get(m->replica).compile_seconds;
    TRY(model_step(m));
    const tarn_metrics first = tarn_metrics_get(m->replica);
    o->compile = first.compile_seconds - began;
    /* Tarn's cache and those of drivers show in the time. */
    o->warm = o->compile < 0.5;
    TRY(measure(b, &(struct work){ model_step, wait, m }, &o->times));
    const tarn_metrics last = tarn_metrics_get(m->replica);
    o->launches = (double)last.launches_last_step;
    o->host = (last.host_seconds - first.host_seconds) / (double)(last.steps - first.steps);
    return TARN_OK;
}

static void number(struct bench *b, int batch, const char *what, const char *unit, double value,
                   const char *note)
{
    struct item *i = item_new(b, unit, 0, 0, "step/batch %d %s", batch, what);
    if (i == NULL)
        return;
    i->note = note;
    item_number(b, i, value);
}

static void report(struct bench *b, int batch, const struct outcome *o)
{
    struct item *i = item_new(b, "ms", 0, 0, "step/batch %d", batch);
    if (i != NULL)
        item_time(b, i, 1e3, &o->times);
    i = item_new(b, "samples/s", 0, 0, "step/batch %d samples", batch);
    if (i != NULL)
        item_rate(b, i, batch, &o->times);
    number(b, batch, "launches", "kernels", o->launches, NULL);
    number(b, batch, "host", "ms", 1e3 * o->host, NULL);
    number(b, batch, "compile", "s", o->compile, o->warm ? "warm" : "cold");
}

void step_run(struct bench *b)
{
    static const int batches[] = { 128, 1024 };
    for (int k = 0; k < (b->quick ? 1 : 2); k++) {
        struct model m = { .replica = bench_open(b) };
        struct outcome o;
        if (m.replica != NULL && train(b, &m, batches[k], &o) == TARN_OK) {
            report(b, batches[k], &o);
        } else {
            struct item *i = item_new(b, "ms", 0, 0, "step/batch %d", batches[k]);
            if (i != NULL)
                item_fail(b, i, tarn_error(m.replica));
        }
        tarn_close(m.replica);
    }
}
