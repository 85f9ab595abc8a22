/* SPDX-License-Identifier: Apache-2.0 */
/* Brings a picture to the size of a network's input: first along rows, then along columns. */
#include <math.h>
#include <stdlib.h>

#include "picture.h"

enum { CHANNELS = 3 };

/* A part of one axis of the picture, and the part of the square's that it becomes. */
struct axis {
    int from, length, to, size;
};

/* Which pixels make pixel i: the first, how many, and weights of which the sum is 1. */
struct window {
    int first, count;
    double *weights;
};

static void window_set(struct window *w, const struct axis *a, int i)
{
    const double step = (double)a->length / a->size, half = fmax(step, 1);
    const double centre = (i + 0.5) * step;
    const int first = (int)fmax(floor(centre - half), 0);
    const int end = (int)fmin(ceil(centre + half), a->length);
    double sum = 0;
    w->first = a->from + first;
    w->count = end - first;
    for (int k = 0; k < w->count; k++) {
        w->weights[k] = fmax(1 - fabs(first + k + 0.5 - centre) / half, 0);
        sum += w->weights[k];
    }
    for (int k = 0; k < w->count; k++)
        w->weights[k] /= sum;
}

/* [height, width, 3] to [height, x->size, 3], where y needs rows. */
static void scale_rows(const struct picture *p, const struct axis *x, const struct axis *y,
                       struct window *w, float *rows)
{
    for (int i = 0; i < x->size; i++) {
        window_set(w, x, i);
        for (int j = y->from; j < y->from + y->length; j++)
            for (int c = 0; c < CHANNELS; c++) {
                const unsigned char *from = p->rgb + ((size_t)j * (size_t)p->width) * CHANNELS;
                double sum = 0;
                for (int k = 0; k < w->count; k++)
                    sum += w->weights[k] * from[(w->first + k) * CHANNELS + c];
                rows[((size_t)j * (size_t)x->size + (size_t)i) * CHANNELS + (size_t)c] = (float)sum;
            }
    }
}

/* [height, x->size, 3] to a part of [3, size, size]. */
static void scale_columns(const float *rows, const struct axis *x, const struct axis *y,
                          struct window *w, int size, unsigned char *planes)
{
    for (int j = 0; j < y->size; j++) {
        window_set(w, y, j);
        for (int i = 0; i < x->size; i++)
            for (int c = 0; c < CHANNELS; c++) {
                const size_t wide = (size_t)x->size * CHANNELS;
                const float *from = rows + (size_t)i * CHANNELS + c;
                double sum = 0;
                for (int k = 0; k < w->count; k++)
                    sum += w->weights[k] * (double)from[(size_t)(w->first + k) * wide];
                planes[((size_t)c * (size_t)size + (size_t)(y->to + j)) * (size_t)size +
                       (size_t)(x->to + i)] = (unsigned char)lrint(fmin(fmax(sum, 0), 255));
            }
    }
}

static struct axis axis_of(int length, int other, int size, enum picture_fit fit)
{
    struct axis a = { 0, length, 0, size };
    if (fit == PICTURE_CROP && length > other) {
        a.from = (length - other) / 2;
        a.length = other;
    } else if (fit == PICTURE_PAD && length < other) {
        a.size = (int)fmax(round((double)size * length / other), 1);
        a.to = (size - a.size) / 2;
    }
    return a;
}

bool picture_scale(const struct picture *p, int size, enum picture_fit fit, unsigned char *planes)
{
    const struct axis x = axis_of(p->width, p->height, size, fit),
                      y = axis_of(p->height, p->width, size, fit);
    const size_t longest = (size_t)(p->width > p->height ? p->width : p->height);
    struct window w = { .weights = malloc((longest + 2) * sizeof *w.weights) };
    float *rows = malloc((size_t)p->height * (size_t)x.size * CHANNELS * sizeof *rows);
    const bool good = w.weights != NULL && rows != NULL;
    if (good) {
        for (size_t i = 0; i < (size_t)size * (size_t)size * CHANNELS; i++)
            planes[i] = 0;
        scale_rows(p, &x, &y, &w, rows);
        scale_columns(rows, &x, &y, &w, size, planes);
    }
    free(w.weights);
    free(rows);
    return good;
}
