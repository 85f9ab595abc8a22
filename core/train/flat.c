/* SPDX-License-Identifier: Apache-2.0 */
/* Flat storage: all parameters in one buffer, and each state in another of the same order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/optimizer.h"

/* Slices begin at multiples of 64 bytes. */
#define SLICE_ALIGN 16

int64_t flat_extent(tarn_shape s)
{
    return (tarn_shape_count(s) + SLICE_ALIGN - 1) / SLICE_ALIGN * SLICE_ALIGN;
}

static tarn_status list_parameters(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    int64_t total = 0;
    o->slices = calloc(r->owned_count ? r->owned_count : 1, sizeof *o->slices);
    if (o->slices == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its list");
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].kind != OWNED_PARAMETER)
            continue;
        o->slices[o->slice_count++] = i + 1;
        total += flat_extent(r->owned[i].shape);
        if (total > INT32_MAX)
            return replica_fail(r, TARN_ERR_SHAPE, "optimizer: more than 2^31 - 1 parameters");
    }
    if (o->slice_count == 0)
        return replica_fail(r, TARN_ERR_STATE,
                            "optimizer: the replica has no parameters yet; make the layers first");
    o->total = (int32_t)total;
    return TARN_OK;
}

static tarn_status read_parameters(const tarn_optimizer *o, float *data)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const struct owned *p = &o->replica->owned[o->slices[i] - 1];
        if (p->assigned)
            return replica_fail(o->replica, TARN_ERR_STATE,
                                "optimizer: %s was assigned in this step; call tarn_step() before "
                                "making the optimizer",
                                p->name);
        TRY(owned_read(o->replica, p, data + at));
        at += flat_extent(p->shape);
    }
    return TARN_OK;
}

tarn_status flat_collect(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    TRY(list_parameters(o));
    float *data = calloc(o->total ? (size_t)o->total : 1, sizeof *data);
    if (data == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for %d values",
                            o->total);
    const tarn_status s = read_parameters(o, data);
    if (s == TARN_OK)
        o->flat = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(o->total), TARN_F32, data);
    free(data);
    if (s != TARN_OK || !o->flat)
        return r->status;
    size_t at = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        struct owned *p = &r->owned[o->slices[i] - 1];
        if (!p->flat)
            buffer_free(p->buffer);
        p->buffer = r->owned[o->flat - 1].buffer;
        p->offset = at * sizeof(float);
        p->flat = o->flat;
        at += (size_t)flat_extent(p->shape);
    }
    return TARN_OK;
}

static tarn_status add_slices(tarn_optimizer *o, uint32_t flat, const char *kind, bool scalars)
{
    tarn_replica *r = o->replica;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const struct owned *p = &r->owned[o->slices[i] - 1];
        const tarn_shape shape = scalars ? TARN_SCALAR : p->shape;
        const size_t offset = scalars ? i * sizeof(int32_t) : p->offset;
        const size_t bytes = strlen(p->name) + strlen(kind) + 16;
        char *name = malloc(bytes);
        if (name == NULL)
            return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for a name");
        snprintf(name, bytes, "optimizer.%s.%s", kind, p->name);
        const uint32_t slice = owned_add_slice(r, OWNED_STATE, name, shape, flat, offset);
        free(name);
        if (!slice)
            return r->status;
    }
    return TARN_OK;
}

tarn_status flat_add_state(tarn_optimizer *o, int which, const char *kind)
{
    tarn_replica *r = o->replica;
    o->state[which] = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(o->total), TARN_F32, NULL);
    return o->state[which] ? add_slices(o, o->state[which], kind, false) : r->status;
}

tarn_status flat_add_counts(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    const tarn_shape shape = TARN_SHAPE((int32_t)o->slice_count);
    o->counts = owned_add(r, OWNED_FLAT, NULL, shape, TARN_I32, NULL);
    return o->counts ? add_slices(o, o->counts, "step", true) : r->status;
}
