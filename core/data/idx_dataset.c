/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets from pairs of IDX files, images and labels. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/dataset.h"
#include "data/idx.h"

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
    TRY(idx_read(images, 0, x));
    TRY(idx_read(labels, 1, y));
    return check_pair(x, y, images, labels, classes);
}

/* Images of height and width have one channel. */
static tarn_shape shape_of(const struct idx *x)
{
    int32_t dim[IDX_MAX_RANK + 1] = { (int32_t)x->dim[0] };
    const int channel = x->rank == 3;
    dim[1] = 1;
    for (uint32_t i = 1; i < x->rank; i++)
        dim[i + (uint32_t)channel] = (int32_t)x->dim[i];
    return tarn_shape_of((int)x->rank + channel, dim);
}

tarn_dataset *tarn_idx_open(const char *images, const char *labels, int classes)
{
    struct idx x = { .data = NULL }, y = { .data = NULL };
    tarn_dataset *d = NULL;
    if (read_pair(images, labels, classes, &x, &y) == TARN_OK) {
        const tarn_arrays a = { .inputs = { { x.data, TARN_U8, shape_of(&x), 0 } },
                                .targets = { { y.data, TARN_U8, tarn_shape_of(1, (int32_t *)y.dim),
                                               classes } } };
        d = dataset_new("tarn_idx_open", &a, NULL, NULL);
    }
    if (d == NULL) {
        free(x.data);
        free(y.data);
        return NULL;
    }
    d->owned[0] = x.data;
    d->owned[1] = y.data;
    return d;
}

/* Puts the path of an existing file into `out`: as given, or with .gz. */
static tarn_status find_file(const char *folder, const char *name, char out[PATH_MAX])
{
    static const char *const endings[] = { "", ".gz" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
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
    if (folder == NULL) {
        (void)error_set(TARN_ERR_ARGUMENT, "tarn_mnist_open: no folder given");
        return NULL;
    }
    if (find_file(folder, train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", images) ||
        find_file(folder, train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte", labels))
        return NULL;
    return tarn_idx_open(images, labels, 10);
}
