/* SPDX-License-Identifier: Apache-2.0 */
/* Flat storage: all parameters of an optimizer in one buffer, and each state in another of the same order. Where a mesh
 * cuts some of them there is none: they are cut in several ways, and each one and its state lie by themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/name_match.h"
#include "tensor/part.h"
#include "train/optimizer.h"

/* Slices begin at multiples of 64 bytes or more. */
#define SLICE_ALIGN 16

int64_t flat_extent(tarn_shape s)
{
    return (tarn_shape_count(s) + SLICE_ALIGN - 1) / SLICE_ALIGN * SLICE_ALIGN;
}

tarn_optimizer *optimizer_of(const tarn_replica *r, const struct owned *p)
{
    tarn_optimizer *o = r->optimizer;
    while (o != NULL && o->number != p->optimizer)
        o = o->next_one;
    return o;
}

static tarn_status list_parameter(tarn_optimizer *o, uint32_t i, int64_t *total)
{
    tarn_replica *r = o->replica;
    const struct owned *p = &r->owned[i];
    if (p->kind != OWNED_PARAMETER || !name_matches(o->pattern, p->name))
        return TARN_OK;
    const tarn_optimizer *other = optimizer_of(r, p);
    if (other != NULL)
        return replica_fail(r, TARN_ERR_STATE,
                            "%s: parameter %s has an optimizer already (%s); name this one's in "
                            "`parameters`",
                            o->rule->name, p->name, other->rule->name);
    if (o->slice_count == 0)
        o->dtype = p->dtype;
    if (p->dtype != o->dtype)
        return replica_fail(r, TARN_ERR_DTYPE,
                            "%s: parameter %s is %s, %s is %s: an optimizer for each type; name "
                            "its parameters in `parameters`",
                            o->rule->name, p->name, tarn_dtype_name(p->dtype),
                            r->owned[o->slices[0] - 1].name, tarn_dtype_name(o->dtype));
    o->slices[o->slice_count++] = i + 1;
    *total += flat_extent(p->shape);
    if (*total > INT32_MAX)
        return replica_fail(r, TARN_ERR_SHAPE, "optimizer: more than 2^31 - 1 parameters");
    return TARN_OK;
}

static tarn_status list_parameters(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    int64_t total = 0;
    o->slices = calloc(r->owned_count ? r->owned_count : 1, sizeof *o->slices);
    if (o->slices == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its list");
    for (uint32_t i = 0; i < r->owned_count; i++)
        TRY(list_parameter(o, i, &total));
    if (o->slice_count == 0)
        return o->pattern != NULL
                   ? replica_fail(r, TARN_ERR_ARGUMENT,
                                  "%s: no parameter has a name that matches \"%s\"", o->rule->name,
                                  o->pattern)
                   : replica_fail(
                         r, TARN_ERR_STATE,
                         "optimizer: the replica has no parameters yet; make the layers first");
    o->total = (int32_t)total;
    return TARN_OK;
}

static size_t flat_bytes(const tarn_optimizer *o, const struct owned *p)
{
    return (size_t)flat_extent(p->shape) * tarn_dtype_bytes(o->dtype);
}

static tarn_status read_parameters(const tarn_optimizer *o, char *data)
{
    size_t at = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const struct owned *p = &o->replica->owned[o->slices[i] - 1];
        if (p->assigned)
            return replica_fail(o->replica, TARN_ERR_STATE,
                                "optimizer: %s was assigned in this step; call tarn_step() before "
                                "making the optimizer",
                                p->name);
        TRY(owned_read(o->replica, p, data + at));
        at += flat_bytes(o, p);
    }
    return TARN_OK;
}

/* Moves all parameters into one buffer. */
static tarn_status move(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    char *data = calloc((size_t)o->total + 1, tarn_dtype_bytes(o->dtype));
    if (data == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for %d values",
                            o->total);
    const tarn_status s = read_parameters(o, data);
    if (s == TARN_OK)
        o->flat = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(o->total), o->dtype, data);
    free(data);
    if (s != TARN_OK || !o->flat)
        return r->status;
    size_t at = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        struct owned *p = &r->owned[o->slices[i] - 1];
        if (!p->flat)
            buffer_free(p->buffer);
        p->buffer = r->owned[o->flat - 1].buffer;
        p->offset = at;
        p->flat = o->flat;
        at += flat_bytes(o, p);
    }
    return TARN_OK;
}

static bool any_is_cut(const tarn_optimizer *o)
{
    const tarn_replica *r = o->replica;
    bool any = false;
    for (uint32_t i = 0; i < o->slice_count; i++)
        any |= owned_is_cut(r, &r->owned[o->slices[i] - 1]);
    return any;
}

tarn_status flat_collect(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    TRY(list_parameters(o));
    o->number = ++r->optimizers;
    o->apart = any_is_cut(o);
    if (!o->apart)
        TRY(move(o));
    for (uint32_t i = 0; i < o->slice_count; i++)
        r->owned[o->slices[i] - 1].optimizer = o->number;
    return TARN_OK;
}

/* "optimizer.<kind>.<parameter>", for free(); NULL after recording an error. */
static char *state_name(const tarn_optimizer *o, const char *kind, uint32_t i)
{
    const char *parameter = o->replica->owned[o->slices[i] - 1].name;
    const size_t bytes = strlen(parameter) + strlen(kind) + 16;
    char *name = malloc(bytes);
    if (name != NULL)
        snprintf(name, bytes, "optimizer.%s.%s", kind, parameter);
    else
        replica_fail(o->replica, TARN_ERR_MEMORY, "optimizer: out of host memory for a name");
    return name;
}

static bool add_slices(tarn_optimizer *o, uint32_t flat, const char *kind, bool scalars)
{
    tarn_replica *r = o->replica;
    for (uint32_t i = 0; flat && i < o->slice_count; i++) {
        const struct owned *p = &r->owned[o->slices[i] - 1];
        const tarn_shape shape = scalars ? TARN_SCALAR : p->shape;
        const size_t offset = scalars ? i * sizeof(int32_t) : p->offset;
        char *name = state_name(o, kind, i);
        const bool added =
            name != NULL && owned_add_slice(r, OWNED_STATE, name, shape, flat, offset);
        free(name);
        if (!added)
            return false;
    }
    return flat != 0;
}

uint32_t flat_add_state(tarn_optimizer *o, const char *kind)
{
    tarn_replica *r = o->replica;
    const uint32_t flat = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(o->total), o->dtype, NULL);
    return add_slices(o, flat, kind, false) ? flat : 0;
}

/* State number `which` of each parameter that has one, by itself; one of its shape is cut as it is. */
static tarn_status add_apart(tarn_optimizer *o, int which)
{
    tarn_replica *r = o->replica;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const struct owned *p = &r->owned[o->slices[i] - 1];
        const struct spec whole = { { 0 } }, spec = o->rule->state_shape ? whole : p->spec;
        tarn_shape shape = p->shape;
        if (o->rule->state_shape != NULL && !o->rule->state_shape(which, p->shape, &shape))
            continue;
        char *name = state_name(o, o->rule->state[which], i);
        if (name != NULL)
            o->states[STATES_MOST * i + (uint32_t)which] =
                owned_add_cut(r, OWNED_STATE, name, shape, o->dtype, NULL, &spec);
        free(name);
        if (r->status != TARN_OK)
            return r->status;
    }
    return TARN_OK;
}

struct spec flat_state_spec(const tarn_optimizer *o, uint32_t slice)
{
    const struct owned *all = o->replica->owned;
    const uint32_t state = o->states[STATES_MOST * (size_t)slice];
    return state != 0 && o->rule->state_shape == NULL ? all[state - 1].spec
                                                      : all[o->slices[slice] - 1].spec;
}

bool flat_add_each(tarn_optimizer *o, const char *kind, uint32_t **each)
{
    tarn_replica *r = o->replica;
    *each = calloc(o->slice_count, sizeof **each);
    if (*each == NULL)
        replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its lists");
    for (uint32_t i = 0; r->status == TARN_OK && i < o->slice_count; i++) {
        const struct spec spec = flat_state_spec(o, i);
        const tarn_shape shape = r->owned[o->slices[i] - 1].shape;
        char *name = state_name(o, kind, i);
        if (name != NULL)
            (*each)[i] = owned_add_cut(r, OWNED_STATE, name, shape, o->dtype, NULL, &spec);
        free(name);
    }
    return r->status == TARN_OK;
}

tarn_status flat_add_states(tarn_optimizer *o)
{
    if (o->apart || o->rule->state_shape != NULL) {
        o->states = calloc((size_t)o->slice_count * STATES_MOST, sizeof *o->states);
        if (o->states == NULL)
            return replica_fail(o->replica, TARN_ERR_MEMORY,
                                "optimizer: out of host memory for its states");
    }
    for (int i = 0; i < STATES_MOST && o->rule->state[i] != NULL; i++) {
        if (o->states != NULL)
            TRY(add_apart(o, i));
        else
            o->state[i] = flat_add_state(o, o->rule->state[i]);
        if (o->replica->status != TARN_OK)
            return o->replica->status;
    }
    return TARN_OK;
}

/* The axis cuts the first dimension of what is left that divides, if there is one. */
static void cut_along(const struct mesh *m, tarn_shape shape, int axis, struct spec *spec)
{
    const tarn_shape part = part_shape(m, spec, shape);
    if (m->extent[axis] == 1 || (part_axes(m, spec) >> axis & 1))
        return;
    for (int d = 0; d < shape.rank; d++) {
        if (part.dim[d] == 0 || part.dim[d] % m->extent[axis] != 0)
            continue;
        spec->cut[d] |= (uint8_t)(1 << axis);
        return;
    }
}

/* All of a list that are there. */
static tarn_status cut_all(tarn_replica *r, const uint32_t *list, size_t count, uint32_t axes)
{
    const struct mesh *m = replica_mesh(r);
    for (size_t i = 0; list != NULL && i < count; i++) {
        if (list[i] == 0)
            continue;
        struct owned *s = &r->owned[list[i] - 1];
        struct spec spec = s->spec;
        for (int a = 0; a < m->axes; a++)
            if (axes >> a & 1)
                cut_along(m, s->shape, a, &spec);
        TRY(owned_cut(r, s, &spec));
    }
    return TARN_OK;
}

tarn_status flat_cut_states(tarn_optimizer *o, uint32_t axes)
{
    tarn_replica *r = o->replica;
    if (replica_mesh(r) == NULL)
        return TARN_OK;
    TRY(flat_divide(o));
    TRY(cut_all(r, o->states, (size_t)o->slice_count * STATES_MOST, axes));
    TRY(cut_all(r, o->average_of, o->slice_count, axes));
    return cut_all(r, o->kept_of, o->slice_count, axes);
}

tarn_status flat_add_counts(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    const tarn_shape shape = TARN_SHAPE((int32_t)o->slice_count);
    o->counts = owned_add(r, OWNED_FLAT, NULL, shape, TARN_I32, NULL);
    return add_slices(o, o->counts, "step", true) ? TARN_OK : r->status;
}
