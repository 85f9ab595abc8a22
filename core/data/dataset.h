/* SPDX-License-Identifier: Apache-2.0 */
/* What a data set is made of. */
#ifndef TARN_DATASET_H
#define TARN_DATASET_H

#include "tensor/replica.h"

#define FIELDS_MOST (2 * TARN_DATA_MOST)

/* One input or target of all samples. */
struct field {
    const uint8_t *data; /* NULL: from the callback */
    tarn_dtype dtype;
    tarn_shape sample;
    size_t bytes; /* of one sample */
    int32_t classes;
};

/* Where samples come from. Inputs come first in `field`. Copied by loaders: a callback that is late
 * may outlive the data set. */
struct source {
    int32_t size;  /* samples */
    int32_t given; /* those in the arrays, which repeat from there on */
    int inputs, fields;
    struct field field[FIELDS_MOST];
    tarn_sample_fn get; /* NULL: arrays */
    void *user;
};

struct tarn_dataset {
    struct source source;
    int32_t batch;     /* of a loader that is told none; 0: no preference */
    uint8_t *owned[2]; /* contents of files, for free() */
};

/* Checks all of `a` but the values, and makes a data set. `caller` begins the error lines. */
tarn_dataset *dataset_new(const char *caller, const tarn_arrays *a, tarn_sample_fn get, void *user);
/* "inputs[0]", "targets[1]": a field's name in error lines, in `out`. */
const char *field_name(const struct source *s, int field, char out[24]);
/* Whether a sample's integers are below `classes`; else the first that is not, in *bad. */
bool field_in_range(const struct field *f, const uint8_t *sample, int64_t *bad);

#endif
