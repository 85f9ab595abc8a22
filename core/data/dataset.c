/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets of arrays in memory, of a function, and of one batch again and again. */
#include "data/dataset.h"
#include "tensor/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks --------------------------------------------------------------------------------- */

const char *field_name(const struct source *s, int field, char out[24])
{
    const bool input = field < s->inputs;
    snprintf(out, 24, "%s[%d]", input ? "inputs" : "targets", input ? field : field - s->inputs);
    return out;
}

/* Arrays of a list before the first without a shape; -1 when there is more after those. */
static int count_arrays(const tarn_array *list)
{
    int count = 0;
    while (count < TARN_DATA_MOST && list[count].shape.rank != 0)
        count++;
    for (int i = count; i < TARN_DATA_MOST; i++) {
        if (list[i].shape.rank != 0 || list[i].data != NULL)
            return -1;
    }
    return count;
}

/* Sizes are multiplied only as far as they fit. */
static tarn_status check_shape(const char *caller, const char *name, const tarn_array *a)
{
    if (tarn_dtype_bytes(a->dtype) == 0)
        return error_set(TARN_ERR_DTYPE, "%s: %s: unknown element type %d", caller, name,
                         (int)a->dtype);
    if (a->shape.rank < 1 || a->shape.rank > TARN_MAX_RANK)
        return error_set(TARN_ERR_SHAPE, "%s: %s: %d dimensions; from 1 to %d are possible", caller,
                         name, a->shape.rank, TARN_MAX_RANK);
    if (a->shape.dim[0] == 0)
        return error_set(TARN_ERR_SHAPE, "%s: %s has no samples: dimension 0 is 0", caller, name);
    uint64_t elements = 1;
    for (int i = 0; i < a->shape.rank; i++) {
        if (a->shape.dim[i] < 1)
            return error_set(TARN_ERR_SHAPE, "%s: %s: dimension %d is %d", caller, name, i,
                             a->shape.dim[i]);
        elements *= i > 0 ? (uint64_t)a->shape.dim[i] : 1;
        if (elements > INT32_MAX)
            return error_set(TARN_ERR_SHAPE, "%s: %s: a sample of %s has more than %d elements",
                             caller, name, shape_text(a->shape), INT32_MAX);
    }
    if (elements * tarn_dtype_bytes(a->dtype) > PTRDIFF_MAX / (uint64_t)a->shape.dim[0])
        return error_set(TARN_ERR_SHAPE, "%s: %s: %s is larger than any memory", caller, name,
                         shape_text(a->shape));
    return TARN_OK;
}

static tarn_status check_array(const char *caller, const char *name, const tarn_array *a,
                               int32_t count, bool called)
{
    TRY(check_shape(caller, name, a));
    if (a->shape.dim[0] != count)
        return error_set(TARN_ERR_SHAPE,
                         "%s: inputs[0] has %d samples but %s has %d; they are not of one data set",
                         caller, count, name, a->shape.dim[0]);
    if (a->classes < 0 || (a->classes > 0 && dtype_is_float(a->dtype)))
        return error_set(TARN_ERR_ARGUMENT, "%s: %s: %d classes of %s; classes are of integers",
                         caller, name, a->classes, tarn_dtype_name(a->dtype));
    if (!called && a->data == NULL)
        return error_set(TARN_ERR_ARGUMENT, "%s: %s: data is NULL", caller, name);
    if (called && a->data != NULL)
        return error_set(TARN_ERR_ARGUMENT,
                         "%s: %s: data is given, but samples come from the function; leave it NULL",
                         caller, name);
    return TARN_OK;
}

bool field_in_range(const struct field *f, const uint8_t *sample, int64_t *bad)
{
    const size_t each = tarn_dtype_bytes(f->dtype);
    for (size_t at = 0; f->classes > 0 && at < f->bytes; at += each) {
        int32_t narrow = sample[at];
        if (f->dtype == TARN_I32)
            memcpy(&narrow, sample + at, sizeof narrow);
        int64_t value = narrow;
        if (f->dtype == TARN_I64)
            memcpy(&value, sample + at, sizeof value);
        if (value >= 0 && value < f->classes)
            continue;
        *bad = value;
        return false;
    }
    return true;
}

static tarn_status check_values(const char *caller, const struct source *s)
{
    char name[24];
    int64_t bad;
    for (int k = 0; k < s->fields; k++) {
        const struct field *f = &s->field[k];
        for (int32_t i = 0; f->classes > 0 && i < s->given; i++) {
            if (!field_in_range(f, f->data + (size_t)i * f->bytes, &bad))
                return error_set(TARN_ERR_ARGUMENT,
                                 "%s: %s: sample %d has %lld, but classes go from 0 to %d", caller,
                                 field_name(s, k, name), i, (long long)bad, f->classes - 1);
        }
    }
    return TARN_OK;
}

/* ---- making --------------------------------------------------------------------------------- */

static struct field field_of(const tarn_array *a)
{
    struct field f = { .data = a->data, .dtype = a->dtype, .classes = a->classes };
    f.sample = tarn_shape_of(a->shape.rank - 1, a->shape.dim + 1);
    f.bytes = shape_bytes(f.sample, f.dtype);
    return f;
}

static tarn_status describe(const char *caller, const tarn_arrays *a, bool called, struct source *s)
{
    char name[24];
    s->inputs = count_arrays(a->inputs);
    const int targets = count_arrays(a->targets);
    if (s->inputs < 0 || targets < 0)
        return error_set(TARN_ERR_SHAPE,
                         "%s: %s: an array has data, or another array after it, but no shape",
                         caller, s->inputs < 0 ? "inputs" : "targets");
    if (s->inputs == 0)
        return error_set(TARN_ERR_ARGUMENT, "%s: no inputs: inputs[0] has no shape", caller);
    s->fields = s->inputs + targets;
    s->size = s->given = a->inputs[0].shape.dim[0];
    for (int k = 0; k < s->fields; k++) {
        const tarn_array *one = k < s->inputs ? &a->inputs[k] : &a->targets[k - s->inputs];
        TRY(check_array(caller, field_name(s, k, name), one, s->size, called));
        s->field[k] = field_of(one);
    }
    return TARN_OK;
}

tarn_dataset *dataset_new(const char *caller, const tarn_arrays *a, tarn_sample_fn get, void *user)
{
    struct source s = { .get = get, .user = user };
    if (describe(caller, a, get != NULL, &s) != TARN_OK)
        return NULL;
    if (get == NULL && check_values(caller, &s) != TARN_OK)
        return NULL;
    tarn_dataset *d = calloc(1, sizeof *d);
    if (d != NULL)
        d->source = s;
    else
        (void)error_set(TARN_ERR_MEMORY, "%s: out of host memory", caller);
    return d;
}

tarn_dataset *tarn_dataset_from(tarn_arrays arrays)
{
    return dataset_new("tarn_dataset_from", &arrays, NULL, NULL);
}

tarn_dataset *tarn_dataset_call(tarn_arrays arrays, tarn_sample_fn get, void *user)
{
    if (get != NULL)
        return dataset_new("tarn_dataset_call", &arrays, get, user);
    (void)error_set(TARN_ERR_ARGUMENT, "tarn_dataset_call: no function");
    return NULL;
}

tarn_dataset *tarn_dataset_repeat(tarn_arrays arrays, int32_t times)
{
    const int64_t size = (int64_t)arrays.inputs[0].shape.dim[0] * times;
    if (times < 1 || size > INT32_MAX) {
        (void)error_set(TARN_ERR_ARGUMENT,
                        "tarn_dataset_repeat: %d times; it must be positive, and %d samples are "
                        "the most",
                        times, INT32_MAX);
        return NULL;
    }
    tarn_dataset *d = dataset_new("tarn_dataset_repeat", &arrays, NULL, NULL);
    if (d != NULL) {
        d->source.size = (int32_t)size;
        d->batch = d->source.given;
    }
    return d;
}

void tarn_dataset_close(tarn_dataset *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < sizeof d->owned / sizeof *d->owned; i++)
        free(d->owned[i]);
    free(d);
}

/* ---- questions ------------------------------------------------------------------------------ */

int tarn_dataset_size(const tarn_dataset *d)
{
    return d != NULL ? d->source.size : 0;
}

int tarn_dataset_classes(const tarn_dataset *d)
{
    return d != NULL && d->source.fields > d->source.inputs
               ? d->source.field[d->source.inputs].classes
               : 0;
}

tarn_shape tarn_dataset_sample_shape(const tarn_dataset *d)
{
    return d != NULL ? d->source.field[0].sample : tarn_shape_of(0, NULL);
}

const uint8_t *tarn_dataset_samples(const tarn_dataset *d)
{
    return d != NULL && d->source.field[0].dtype == TARN_U8 ? d->source.field[0].data : NULL;
}

const uint8_t *tarn_dataset_labels(const tarn_dataset *d)
{
    if (d == NULL || d->source.fields == d->source.inputs)
        return NULL;
    const struct field *f = &d->source.field[d->source.inputs];
    return f->dtype == TARN_U8 && f->sample.rank == 0 ? f->data : NULL;
}
