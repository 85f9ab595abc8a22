/* SPDX-License-Identifier: Apache-2.0 */
/* The usual model of rounding: fl(a op b) = (a op b)(1 + d), |d| <= u = 2^-24; a sum of n products
 * is off by at most gamma(n) times the sum of their magnitudes, in any order. exp and log are good
 * to 3 ulp, as OpenCL requires. */
#include "ddp_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double u = 0x1p-24;

static double gamma_of(int n)
{
    return n * u / (1 - n * u);
}

/* A sum of products under way. */
struct dot {
    double v, e, size;
};

static void dot_add(struct dot *d, struct approx a, struct approx b)
{
    d->v += a.v * b.v;
    d->e += fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;
    d->size += (fabs(a.v) + a.e) * (fabs(b.v) + b.e);
}

/* Of n terms; a few roundings more for scales and the sum over replicas. */
static struct approx dot_end(struct dot d, int n)
{
    return (struct approx){ d.v, d.e + gamma_of(n + 8) * d.size };
}

static const struct approx one = { 1, 0 };

/* What one sample leaves for the gradients. */
struct sample {
    struct approx x[DDP_INPUTS], h[DDP_HIDDEN], dz1[DDP_HIDDEN], dz2[DDP_CLASSES];
};

static void read_pixels(const uint8_t *pixels, struct approx *x)
{
    const double mean = 0.1307f, deviation = 0.3081f;
    for (int k = 0; k < DDP_INPUTS; k++) {
        const double v = pixels[k] / 255.0;
        x[k] = (struct approx){ (v - mean) / deviation, 8 * u * (v + mean) / deviation };
    }
}

static void softmax_gradient(const struct approx *z, int label, int count, struct approx *dz)
{
    double most = -INFINITY, least = INFINITY, sum = 0, e = 0;
    for (int c = 0; c < DDP_CLASSES; c++) {
        most = fmax(most, z[c].v);
        least = fmin(least, z[c].v);
        e = fmax(e, z[c].e);
    }
    for (int c = 0; c < DDP_CLASSES; c++)
        sum += exp(z[c].v - most);
    const double computed = 64 * u * (1 + most - least + log(DDP_CLASSES));
    for (int c = 0; c < DDP_CLASSES; c++) {
        const double p = exp(z[c].v - most) / sum;
        dz[c].v = (p - (c == label)) / count;
        dz[c].e = (p * expm1(2 * e + 2 * computed) + 8 * u * (p + 1)) / count;
    }
}

static void run_sample(const struct ddp_bound *b, int label, int count, struct sample *s)
{
    struct approx z1[DDP_HIDDEN], z2[DDP_CLASSES];
    for (int j = 0; j < DDP_HIDDEN; j++) {
        struct dot d = { 0 };
        for (int k = 0; k < DDP_INPUTS; k++)
            dot_add(&d, b->w1[j][k], s->x[k]);
        dot_add(&d, b->b1[j], one);
        z1[j] = dot_end(d, DDP_INPUTS + 1);
        s->h[j] = (struct approx){ fmax(z1[j].v, 0), z1[j].e };
    }
    for (int c = 0; c < DDP_CLASSES; c++) {
        struct dot d = { 0 };
        for (int j = 0; j < DDP_HIDDEN; j++)
            dot_add(&d, b->w2[c][j], s->h[j]);
        dot_add(&d, b->b2[c], one);
        z2[c] = dot_end(d, DDP_HIDDEN + 1);
    }
    softmax_gradient(z2, label, count, s->dz2);
    for (int j = 0; j < DDP_HIDDEN; j++) {
        struct dot d = { 0 };
        for (int c = 0; c < DDP_CLASSES; c++)
            dot_add(&d, s->dz2[c], b->w2[c][j]);
        const struct approx g = dot_end(d, DDP_CLASSES);
        if (fabs(z1[j].v) <= z1[j].e) /* on either side of the bend */
            s->dz1[j] = (struct approx){ g.v / 2, fabs(g.v) / 2 + g.e };
        else
            s->dz1[j] = z1[j].v > 0 ? g : (struct approx){ 0, 0 };
    }
}

static void descend(struct approx *w, struct dot d, int count, double lr)
{
    const struct approx g = dot_end(d, count);
    w->e += lr * g.e + 4 * u * (fabs(w->v) + w->e + lr * (fabs(g.v) + g.e));
    w->v -= lr * g.v;
}

void ddp_bound_step(struct ddp_bound *b, const tarn_dataset *data, const int32_t *samples,
                    int count, float lr)
{
    struct sample *all = calloc((size_t)count, sizeof *all);
    for (int i = 0; all != NULL && i < count; i++) {
        read_pixels(tarn_dataset_samples(data) + (size_t)samples[i] * DDP_INPUTS, all[i].x);
        run_sample(b, tarn_dataset_labels(data)[samples[i]], count, &all[i]);
    }
    for (int j = 0; all != NULL && j < DDP_HIDDEN; j++) {
        struct dot bias = { 0 };
        for (int k = 0; k < DDP_INPUTS; k++) {
            struct dot d = { 0 };
            for (int i = 0; i < count; i++)
                dot_add(&d, all[i].dz1[j], all[i].x[k]);
            descend(&b->w1[j][k], d, count, lr);
        }
        for (int i = 0; i < count; i++)
            dot_add(&bias, all[i].dz1[j], one);
        descend(&b->b1[j], bias, count, lr);
    }
    for (int c = 0; all != NULL && c < DDP_CLASSES; c++) {
        struct dot bias = { 0 };
        for (int j = 0; j < DDP_HIDDEN; j++) {
            struct dot d = { 0 };
            for (int i = 0; i < count; i++)
                dot_add(&d, all[i].dz2[c], all[i].h[j]);
            descend(&b->w2[c][j], d, count, lr);
        }
        for (int i = 0; i < count; i++)
            dot_add(&bias, all[i].dz2[c], one);
        descend(&b->b2[c], bias, count, lr);
    }
    free(all);
}

/* ---- over tensors --------------------------------------------------------------------------- */

static const char *const names[] = { "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias" };

static struct approx *values_of(struct ddp_bound *b, int i)
{
    return i == 0 ? b->w1[0] : i == 1 ? b->b1 : i == 2 ? b->w2[0] : b->b2;
}

void ddp_bound_start(struct ddp_bound *b, const struct ddp_tensors *initial)
{
    for (int i = 0; i < 4; i++) {
        size_t bytes = 0;
        const float *from = ddp_find(initial, names[i], &bytes);
        for (size_t k = 0; k < bytes / sizeof *from; k++)
            values_of(b, i)[k] = (struct approx){ from[k], 0 };
    }
}

/* Calls `each` for every parameter's value, wanted and found; whether all tensors were there. */
static bool walk(const struct ddp_bound *b, const struct ddp_tensors *t,
                 void (*each)(struct approx want, double have, double total[2]), double total[2])
{
    struct ddp_bound *values = (struct ddp_bound *)(uintptr_t)b;
    for (int i = 0; i < 4; i++) {
        size_t bytes = 0;
        const float *have = ddp_find(t, names[i], &bytes);
        for (size_t k = 0; k < bytes / sizeof *have; k++)
            each(values_of(values, i)[k], (double)have[k], total);
        if (have == NULL)
            return false;
    }
    return true;
}

static void worst_of(struct approx want, double have, double total[2])
{
    const double off = fabs(have - want.v) / want.e;
    total[0] = off <= total[0] ? total[0] : off; /* a NaN stays */
}

static void width_of(struct approx want, double have, double total[2])
{
    total[0] += want.e;
    total[1] += fabs(want.v - have);
}

double ddp_bound_compare(const struct ddp_bound *b, const struct ddp_tensors *got)
{
    double total[2] = { 0, 0 };
    return walk(b, got, worst_of, total) ? total[0] : INFINITY;
}

double ddp_bound_width(const struct ddp_bound *b, const struct ddp_tensors *initial)
{
    double total[2] = { 0, 0 };
    return walk(b, initial, width_of, total) ? total[0] / total[1] : INFINITY;
}
