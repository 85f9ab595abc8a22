/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets in host memory: from IDX files, or synthetic. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph.h"
#include "idx.h"

#define SIDE 28
#define FAKE_CLASSES 10

struct tarn_dataset {
    int32_t size, classes;
    tarn_shape sample;
    uint8_t *samples, *labels;
};

/* ---- files ---------------------------------------------------------------------------------- */

static tarn_status check_pair(const struct idx *x, const struct idx *y, const char *images,
                              const char *labels, int classes)
{
    if (x->dim[0] != y->dim[0])
        return error_set(TARN_ERR_FORMAT,
                         "%s has %u images but %s has %u labels; they are not of one data set",
                         images, x->dim[0], labels, y->dim[0]);
    for (size_t i = 0; i < y->bytes; i++) {
        if (y->data[i] >= classes)
            return error_set(TARN_ERR_FORMAT, "%s: label %zu is %d, but labels go from 0 to %d",
                             labels, i, y->data[i], classes - 1);
    }
    return TARN_OK;
}

static tarn_status read_pair(const char *images, const char *labels, int classes, struct idx *x,
                             struct idx *y)
{
    if (classes < 1 || classes > 256)
        return error_set(TARN_ERR_ARGUMENT, "tarn_idx_open: %d classes; from 1 to 256 are possible",
                         classes);
    TRY(idx_read(images, 3, x));
    TRY(idx_read(labels, 1, y));
    return check_pair(x, y, images, labels, classes);
}

tarn_dataset *tarn_idx_open(const char *images, const char *labels, int classes)
{
    struct idx x = { .data = NULL }, y = { .data = NULL };
    tarn_dataset *d = NULL;
    if (read_pair(images, labels, classes, &x, &y) == TARN_OK) {
        d = calloc(1, sizeof(*d));
        if (!d)
            (void)error_set(TARN_ERR_MEMORY, "tarn_idx_open: out of memory");
    }
    if (!d) {
        free(x.data);
        free(y.data);
        return NULL;
    }
    d->size = (int32_t)x.dim[0];
    d->classes = classes;
    d->sample = tarn_shape_of(3, (const int32_t[]){ 1, (int32_t)x.dim[1], (int32_t)x.dim[2] });
    d->samples = x.data;
    d->labels = y.data;
    return d;
}

/* Puts the path of an existing file into `out`: as given, or with .gz. */
static tarn_status find_file(const char *folder, const char *name, char out[PATH_MAX])
{
    static const char *const endings[] = { "", ".gz" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        const int n = snprintf(out, PATH_MAX, "%s/%s%s", folder, name, endings[i]);
        if (n < 0 || n >= PATH_MAX)
            return error_set(TARN_ERR_ARGUMENT, "tarn_mnist_open: the folder's name is too long");
        if (access(out, F_OK) == 0)
            return TARN_OK;
    }
    return error_set(TARN_ERR_IO, "tarn_mnist_open: neither %s nor %s.gz is in %s", name, name,
                     folder);
}

tarn_dataset *tarn_mnist_open(const char *folder, bool train)
{
    char images[PATH_MAX], labels[PATH_MAX];
    if (!folder) {
        (void)error_set(TARN_ERR_ARGUMENT, "tarn_mnist_open: no folder given");
        return NULL;
    }
    if (find_file(folder, train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", images) ||
        find_file(folder, train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte", labels))
        return NULL;
    return tarn_idx_open(images, labels, 10);
}

/* ---- synthetic ------------------------------------------------------------------------------ */

struct bar {
    int top, left, height, width;
};

/* Seven-segment digits: the bars, and bit i of a digit for bar i. */
static const struct bar bars[7] = {
    { 4, 9, 3, 11 },  { 4, 18, 11, 3 }, { 13, 18, 11, 3 }, { 21, 9, 3, 11 },
    { 13, 8, 11, 3 }, { 4, 8, 11, 3 },  { 13, 9, 3, 11 },
};
static const uint8_t digits[FAKE_CLASSES] = { 0x3f, 0x06, 0x5b, 0x4f, 0x66,
                                              0x6d, 0x7d, 0x07, 0x7f, 0x6f };

static void draw_digit(uint8_t *image, int digit, uint64_t key)
{
    const uint32_t place = random_u32(key, 1);
    const int down = (int)(place & 0xff) % 7 - 3, right = (int)(place >> 8 & 0xff) % 7 - 3;
    const int ink = 160 + (int)(place >> 16 & 63);
    for (int b = 0; b < 7; b++) {
        if (!(digits[digit] >> b & 1))
            continue;
        for (int y = 0; y < bars[b].height; y++)
            memset(image + (bars[b].top + y + down) * SIDE + bars[b].left + right, ink,
                   (size_t)bars[b].width);
    }
    for (int i = 0; i < SIDE * SIDE; i++)
        image[i] = (uint8_t)(image[i] + random_u32(key, 2 + (uint64_t)i) % 32);
}

tarn_dataset *tarn_dataset_fake(int count, uint64_t seed)
{
    const size_t pixels = SIDE * SIDE;
    if (count < 1 || (size_t)count > IDX_MAX_BYTES / pixels) {
        (void)error_set(TARN_ERR_ARGUMENT,
                        "tarn_dataset_fake: %d samples; from 1 to %zu are possible", count,
                        IDX_MAX_BYTES / pixels);
        return NULL;
    }
    tarn_dataset *d = calloc(1, sizeof(*d));
    uint8_t *samples = calloc((size_t)count, pixels), *labels = malloc((size_t)count);
    if (!d || !samples || !labels) {
        (void)error_set(TARN_ERR_MEMORY, "tarn_dataset_fake: out of memory for %d samples", count);
        free(d);
        free(samples);
        free(labels);
        return NULL;
    }
    *d = (tarn_dataset){ .size = count,
                         .classes = FAKE_CLASSES,
                         .sample = tarn_shape_of(3, (const int32_t[]){ 1, SIDE, SIDE }),
                         .samples = samples,
                         .labels = labels };
    const uint64_t base = random_key(seed, "fake");
    for (int i = 0; i < count; i++) {
        const uint64_t key = random_key_number(base, (uint64_t)i);
        labels[i] = (uint8_t)(random_u32(key, 0) % FAKE_CLASSES);
        draw_digit(samples + (size_t)i * pixels, labels[i], key);
    }
    return d;
}

/* ---- access --------------------------------------------------------------------------------- */

void tarn_dataset_close(tarn_dataset *d)
{
    if (!d)
        return;
    free(d->samples);
    free(d->labels);
    free(d);
}

int tarn_dataset_size(const tarn_dataset *d)
{
    return d ? d->size : 0;
}

int tarn_dataset_classes(const tarn_dataset *d)
{
    return d ? d->classes : 0;
}

tarn_shape tarn_dataset_sample_shape(const tarn_dataset *d)
{
    return d ? d->sample : tarn_shape_of(0, NULL);
}

const uint8_t *tarn_dataset_samples(const tarn_dataset *d)
{
    return d ? d->samples : NULL;
}

const uint8_t *tarn_dataset_labels(const tarn_dataset *d)
{
    return d ? d->labels : NULL;
}
