/* SPDX-License-Identifier: Apache-2.0 */
#include "flip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

static void list_names(tarn_replica *r, char *out, size_t capacity)
{
    size_t n = 0;
    for (struct tensor_walk w = { .replica = r }; n < capacity && tensor_next(&w);)
        n += (size_t)snprintf(out + n, capacity - n, "%s%s", n ? ", " : "", w.name);
}

static bool find(tarn_replica *r, const char *name, struct tensor_walk *w)
{
    *w = (struct tensor_walk){ .replica = r };
    while (tensor_next(w)) {
        if (strcmp(w->name, name) == 0)
            return true;
    }
    return false;
}

bool flip_possible(tarn_replica *r, const struct flip *f, char *line, size_t capacity)
{
    struct tensor_walk w;
    const int world = tarn_world_size(r);
    *line = '\0';
    if (world < 2) {
        snprintf(line, capacity, "--devices: one replica has no other to differ from");
    } else if (f->rank >= world) {
        snprintf(line, capacity, "--rank: %ld is not a rank from 0 to %d", f->rank, world - 1);
    } else if (!find(r, f->tensor, &w)) {
        char names[1600];
        list_names(r, names, sizeof names);
        snprintf(line, capacity, "--tensor: '%.100s' is none of %s", f->tensor, names);
    } else {
        const size_t size = tarn_dtype_bytes(tarn_dtype_get(w.tensor)), count = w.bytes / size;
        if ((size_t)f->element >= count)
            snprintf(line, capacity, "--element: %ld is not from 0 to %zu, the elements of %s",
                     f->element, count - 1, f->tensor);
        else if ((size_t)f->bit >= 8 * size)
            snprintf(line, capacity,
                     "--bit: %ld is not from 0 to %zu, the bits of an element of %s", f->bit,
                     8 * size - 1, f->tensor);
    }
    return *line == '\0';
}

static tarn_status flip_in(tarn_tensor t, unsigned char *data, size_t bytes, struct flip *f)
{
    const size_t size = tarn_dtype_bytes(f->dtype), at = (size_t)f->element * size;
    tarn_status s = tarn_read(t, data, bytes);
    if (s != TARN_OK)
        return s;
    memcpy(&f->before, data + at, size);
    const uint32_t flipped = f->before ^ UINT32_C(1) << f->bit;
    memcpy(data + at, &flipped, size);
    tarn_assign(t, tarn_from(t.replica, tarn_shape_get(t), f->dtype, data));
    if ((s = tarn_step(t.replica)) == TARN_OK && (s = tarn_read(t, data, bytes)) == TARN_OK)
        memcpy(&f->after, data + at, size);
    return s;
}

tarn_status flip_apply(tarn_replica *r, struct flip *f)
{
    struct tensor_walk w;
    if (!find(r, f->tensor, &w))
        return TARN_ERR_ARGUMENT;
    f->dtype = tarn_dtype_get(w.tensor);
    unsigned char *data = malloc(w.bytes);
    const tarn_status s = data != NULL ? flip_in(w.tensor, data, w.bytes, f) : TARN_ERR_MEMORY;
    free(data);
    return s;
}

void flip_text(const struct flip *f, uint32_t bits, char *out, size_t capacity)
{
    float real;
    int32_t whole;
    memcpy(&real, &bits, sizeof real);
    memcpy(&whole, &bits, sizeof whole);
    if (f->dtype == TARN_F32)
        snprintf(out, capacity, "%.9g", (double)real);
    else
        snprintf(out, capacity, "%d", (int)whole);
}
