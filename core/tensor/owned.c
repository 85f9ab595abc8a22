/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that belong to the replica and outlive steps: parameters, buffers, optimizer state, kept
 * values, and the flat storage that many of them may be slices of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/part.h"
#include "tensor/shape.h"
#include "tensor/spread.h"
#include "tensor/wide.h"

/* A handle's node: index + 1 in the low bits, generation above. */
#define INDEX_BITS 20
#define INDEX_MASK ((UINT32_C(1) << INDEX_BITS) - 1)
#define GENERATION_MASK (UINT32_MAX >> INDEX_BITS)

size_t owned_bytes(const struct owned *o)
{
    return shape_bytes(o->shape, o->dtype);
}

bool owned_is_cut(const tarn_replica *r, const struct owned *o)
{
    const struct mesh *m = replica_mesh(r);
    return m != NULL && part_axes(m, &o->spec) != 0;
}

/* ---- contents ------------------------------------------------------------------------------- */

size_t owned_bytes_here(const tarn_replica *r, const struct owned *o)
{
    const struct mesh *m = replica_mesh(r);
    return m == NULL ? owned_bytes(o)
                     : owned_bytes(o) / (size_t)mesh_blocks(m, part_axes(m, &o->spec));
}

tarn_status owned_read_part(const tarn_replica *r, const struct owned *o, void *whole)
{
    void *part = malloc(owned_bytes_here(r, o) + 1);
    if (part == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", o->name);
    const tarn_status s = buffer_read(o->buffer, o->offset, part, owned_bytes_here(r, o));
    if (s == TARN_OK)
        part_put(replica_mesh(r), &o->spec, r->peers->rank, o->shape, tarn_dtype_bytes(o->dtype),
                 part, whole);
    free(part);
    return s;
}

/* Every part once, and zeros elsewhere, add up to the whole. */
static tarn_status read_parts(tarn_replica *r, const struct owned *o, void *out)
{
    const size_t words = (owned_bytes(o) + 3) / 4;
    int32_t *all = calloc(words + 1, sizeof *all);
    tarn_status s = TARN_OK;
    if (all == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", o->name);
    if (part_is_first(replica_mesh(r), &o->spec, r->peers->rank))
        s = owned_read_part(r, o, all);
    if (s == TARN_OK)
        s = r->peers->add_words(r, "parts of a tensor", all, words);
    if (s == TARN_OK)
        memcpy(out, all, owned_bytes(o));
    free(all);
    return s;
}

static tarn_status write_part(const tarn_replica *r, const struct owned *o, const void *data)
{
    void *part = malloc(owned_bytes_here(r, o) + 1);
    if (part == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", o->name);
    part_take(replica_mesh(r), &o->spec, r->peers->rank, o->shape, tarn_dtype_bytes(o->dtype), data,
              part);
    const tarn_status s = buffer_write(o->buffer, o->offset, part, owned_bytes_here(r, o));
    free(part);
    return s;
}

/* This rank's part of the whole's contents, which are not empty. */
static tarn_status put(const tarn_replica *r, const struct owned *o, const void *data)
{
    return owned_is_cut(r, o) ? write_part(r, o, data)
                              : buffer_write(o->buffer, o->offset, data, owned_bytes(o));
}

/* ---- entries -------------------------------------------------------------------------------- */

struct owned *owned_of(tarn_tensor t)
{
    if (t.replica == NULL || t.step != STEP_OWNED)
        return NULL;
    const uint32_t i = t.node & INDEX_MASK;
    if (i == 0 || i > t.replica->owned_count)
        return NULL;
    struct owned *o = &t.replica->owned[i - 1];
    const bool current = (o->generation & GENERATION_MASK) == t.node >> INDEX_BITS;
    return o->kind != OWNED_FREE && current ? o : NULL;
}

tarn_tensor owned_handle(tarn_replica *r, uint32_t index_plus_one)
{
    if (index_plus_one == 0 || index_plus_one > r->owned_count)
        return graph_poison(r);
    const uint32_t generation = r->owned[index_plus_one - 1].generation & GENERATION_MASK;
    return (tarn_tensor){ r, index_plus_one | generation << INDEX_BITS, STEP_OWNED };
}

struct owned *owned_find(tarn_replica *r, const char *name)
{
    for (uint32_t i = 0; name != NULL && i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (o->kind != OWNED_FREE && o->name != NULL && strcmp(o->name, name) == 0)
            return &r->owned[i];
    }
    return NULL;
}

/* An unused slot that keeps its generation; NULL after recording an error. */
static struct owned *slot_take(tarn_replica *r, enum owned_kind kind, uint32_t *index_plus_one)
{
    uint32_t i = r->owned_count;
    for (uint32_t k = 0; kind == OWNED_KEPT && k < r->owned_count; k++) {
        if (r->owned[k].kind == OWNED_FREE) {
            i = k;
            break;
        }
    }
    if (i == INDEX_MASK) {
        replica_fail(r, TARN_ERR_ARGUMENT, "more than %u owned tensors; tarn_drop() kept ones",
                     (unsigned)INDEX_MASK);
        return NULL;
    }
    if (i == r->owned_capacity) {
        const uint32_t capacity = r->owned_capacity ? 2 * r->owned_capacity : 32;
        struct owned *bigger = realloc(r->owned, capacity * sizeof *bigger);
        if (bigger == NULL) {
            replica_fail(r, TARN_ERR_MEMORY, "out of host memory for another owned tensor");
            return NULL;
        }
        r->owned = bigger;
        r->owned_capacity = capacity;
    }
    struct owned *o = &r->owned[i];
    const struct owned before = i < r->owned_count ? *o : (struct owned){ .generation = 0 };
    *o = (struct owned){ .kind = OWNED_FREE, .generation = before.generation, .lost = before.lost };
    if (i == r->owned_count)
        r->owned_count++;
    *index_plus_one = i + 1;
    return o;
}

static bool check_new(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                      tarn_dtype dtype)
{
    const bool named = kind != OWNED_KEPT && kind != OWNED_FLAT;
    if (r->status != TARN_OK)
        return false;
    if (named && (name == NULL || !*name)) {
        replica_fail(r, TARN_ERR_ARGUMENT, "an owned tensor %s needs a name", shape_text(shape));
        return false;
    }
    if (!shape_valid(shape) || tarn_dtype_bytes(dtype) == 0) {
        replica_fail(r, tarn_dtype_bytes(dtype) ? TARN_ERR_SHAPE : TARN_ERR_DTYPE,
                     "%s: %s %s is not a legal tensor", name != NULL ? name : "kept",
                     tarn_dtype_name(dtype), shape_text(shape));
        return false;
    }
    if (!wide_possible(r, name != NULL ? name : "kept", dtype))
        return false;
    if (named && owned_find(r, name) != NULL) {
        replica_fail(r, TARN_ERR_ARGUMENT,
                     "%s: the name is taken; names must be new, and a layer that was made is used "
                     "by its forward function",
                     name);
        return false;
    }
    return true;
}

static tarn_status fill(struct owned *o, tarn_replica *r, bool defined, const void *data)
{
    const size_t bytes = owned_bytes_here(r, o);
    TRY(buffer_new(r->context, bytes, &o->buffer));
    if (!defined || bytes == 0)
        return TARN_OK;
    return data != NULL ? put(r, o, data) : buffer_fill_zero(o->buffer, 0, bytes);
}

static void entry_free(struct owned *o)
{
    if (!o->flat)
        buffer_free(o->buffer);
    free(o->name);
    *o = (struct owned){ .kind = OWNED_FREE, .generation = o->generation + 1, .lost = o->lost };
}

/* Whether a handle's tensor was kept in the last step to fail of those that had its slot. */
static bool was_lost(tarn_tensor t)
{
    const tarn_replica *r = t.replica;
    const uint32_t i = t.node & INDEX_MASK;
    return i > 0 && i <= r->owned_count && r->owned[i - 1].lost &&
           ((r->owned[i - 1].lost - 1) & GENERATION_MASK) == t.node >> INDEX_BITS;
}

const char *owned_gone(tarn_tensor t)
{
    return was_lost(t)
               ? "a tensor that was kept in a step that failed or was cleared: it never got "
                 "a value; keep it again"
               : "a kept tensor, used after tarn_drop()";
}

/* Takes a slot with name and shape but without a buffer. */
static struct owned *entry_new(tarn_replica *r, enum owned_kind kind, const char *name,
                               tarn_shape shape, tarn_dtype dtype, uint32_t *index_plus_one)
{
    if (!check_new(r, kind, name, shape, dtype))
        return NULL;
    struct owned *o = slot_take(r, kind, index_plus_one);
    if (o == NULL)
        return NULL;
    o->shape = shape;
    o->dtype = dtype;
    if (name != NULL) {
        o->name = strdup(name);
        if (o->name == NULL) {
            replica_fail(r, TARN_ERR_MEMORY, "%s: out of host memory for the name", name);
            return NULL;
        }
    }
    o->kind = kind;
    return o;
}

uint32_t owned_add(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                   tarn_dtype dtype, const void *data)
{
    const struct spec whole = { { 0 } };
    return owned_add_cut(r, kind, name, shape, dtype, data, &whole);
}

uint32_t owned_add_cut(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                       tarn_dtype dtype, const void *data, const struct spec *spec)
{
    uint32_t index;
    struct owned *o = entry_new(r, kind, name, shape, dtype, &index);
    if (o == NULL)
        return 0;
    o->spec = *spec;
    o->fresh = kind == OWNED_KEPT && data == NULL;
    const tarn_status s = fill(o, r, !o->fresh, data);
    if (s != TARN_OK) {
        replica_fail(r, s, NULL);
        entry_free(o);
        return 0;
    }
    return index;
}

uint32_t owned_add_slice(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                         uint32_t flat, size_t offset)
{
    if (flat == 0 || flat > r->owned_count || r->owned[flat - 1].kind != OWNED_FLAT) {
        replica_fail(r, TARN_ERR_INTERNAL, "%s: slice of something that is not flat", name);
        return 0;
    }
    uint32_t index;
    struct owned *o = entry_new(r, kind, name, shape, r->owned[flat - 1].dtype, &index);
    if (o == NULL)
        return 0;
    const struct owned *whole = &r->owned[flat - 1];
    if (offset > owned_bytes(whole) || owned_bytes(o) > owned_bytes(whole) - offset) {
        replica_fail(r, TARN_ERR_INTERNAL, "%s: slice beyond its flat storage", name);
        entry_free(o);
        return 0;
    }
    o->buffer = whole->buffer;
    o->offset = offset;
    o->flat = flat;
    return index;
}

tarn_status owned_read(tarn_replica *r, const struct owned *o, void *out)
{
    const size_t bytes = owned_bytes(o);
    const tarn_status s = bytes == 0           ? TARN_OK
                          : owned_is_cut(r, o) ? read_parts(r, o, out)
                                               : buffer_read(o->buffer, o->offset, out, bytes);
    return s == TARN_OK ? s : replica_fail(r, s, NULL);
}

bool owned_is_assigned(const tarn_replica *r, const struct owned *o)
{
    return o->value != 0 || (o->flat != 0 && r->owned[o->flat - 1].value != 0);
}

tarn_status owned_write(tarn_replica *r, const struct owned *o, const void *data)
{
    r->owned_writes++;
    const tarn_status s = owned_bytes(o) > 0 ? put(r, o, data) : TARN_OK;
    return s == TARN_OK ? s : replica_fail(r, s, NULL);
}

tarn_status owned_cut(tarn_replica *r, struct owned *o, const struct spec *spec)
{
    struct owned next = *o;
    next.spec = *spec;
    next.offset = 0;
    next.flat = 0;
    void *data = malloc(owned_bytes(o) + 1);
    if (data == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "%s: out of host memory", o->name);
    tarn_status s = owned_read(r, o, data);
    if (s == TARN_OK)
        s = buffer_new(r->context, owned_bytes_here(r, &next), &next.buffer);
    if (s == TARN_OK)
        s = owned_write(r, &next, data);
    free(data);
    if (s != TARN_OK)
        return replica_fail(r, s, NULL);
    if (!o->flat)
        buffer_free(o->buffer);
    *o = next;
    return TARN_OK;
}

void owned_free_flat(tarn_replica *r, uint32_t index_plus_one)
{
    if (index_plus_one != 0)
        entry_free(&r->owned[index_plus_one - 1]);
}

/* A kept tensor stays part of the batch that it came from. */
static void keep_part(const struct graph *g, struct owned *o)
{
    const struct node *n = &g->nodes[o->value];
    const struct graph_part none = { 0, 0 };
    o->part = n->part ? g->parts[n->part - 1] : none;
    o->other = n->other ? g->parts[n->other - 1] : none;
    /* What it was computed of is gone with the step. */
    o->spread = n->spread == SPREAD_LINEAR || n->spread == SPREAD_EITHER ? SPREAD_OWN : n->spread;
}

void owned_reset(tarn_replica *r)
{
    const bool trained = r->status == TARN_OK && r->trainer != NULL && r->trainer->gathered(r);
    for (uint32_t i = 0; i < r->owned_count; i++) {
        struct owned *o = &r->owned[i];
        if (o->kind == OWNED_FREE)
            continue;
        const bool lost = o->fresh && r->status != TARN_OK;
        if (lost && !o->dropped)
            o->lost = o->generation + 1;
        if (lost || o->dropped) {
            entry_free(o);
            continue;
        }
        if (o->kind == OWNED_KEPT && o->value && r->status == TARN_OK)
            keep_part(&r->graph, o);
        if (o->value && trained)
            o->apart = !o->together;
        o->node = o->grad = o->gathered = o->value = o->order = 0;
        o->assigned = o->fresh = o->used = o->together = false;
    }
}

void owned_release(tarn_replica *r)
{
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].kind != OWNED_FREE)
            entry_free(&r->owned[i]);
    }
    free(r->owned);
    r->owned = NULL;
    r->owned_count = r->owned_capacity = 0;
}

/* ---- values in a step ----------------------------------------------------------------------- */

static bool slices_assigned(const tarn_replica *r, uint32_t flat)
{
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].flat == flat && r->owned[i].value)
            return true;
    }
    return false;
}

tarn_tensor owned_slice(tarn_replica *r, uint32_t index, uint32_t value)
{
    const struct owned *o = &r->owned[index];
    const int32_t start = (int32_t)(o->offset / tarn_dtype_bytes(o->dtype));
    const int32_t count = (int32_t)tarn_shape_count(o->shape);
    const tarn_shape shape = o->shape;
    return tarn_reshape(tarn_slice(graph_handle(r, value), 0, start, start + count, 1), shape);
}

static tarn_tensor leaf(tarn_replica *r, uint32_t index, const struct op *op, const tarn_tensor *in,
                        int count)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.leaf.slot = index + (op == &op_owned ? 0 : 1);
    arg.leaf.spec = r->owned[index].spec;
    const tarn_shape shape = r->owned[index].shape;
    const bool trained = r->owned[index].kind == OWNED_PARAMETER && !r->owned[index].frozen;
    const tarn_tensor t = graph_record(r, op, in, count, shape, r->owned[index].dtype, &arg);
    if (!t.node)
        return t;
    struct node *n = &r->graph.nodes[t.node];
    n->needs_grad = trained;
    /* What was learnt from a batch is no part of it. */
    n->part = n->other = 0;
    graph_mark_part(t, r->owned[index].part);
    graph_mark_part(t, r->owned[index].other);
    return t;
}

tarn_tensor owned_before(tarn_replica *r, uint32_t index_plus_one)
{
    return leaf(r, index_plus_one - 1, &op_owned, NULL, 0);
}

uint32_t owned_resolve(tarn_tensor t)
{
    tarn_replica *r = t.replica;
    const struct owned *o = owned_of(t);
    if (o->node)
        return o->node;
    const uint32_t index = (t.node & INDEX_MASK) - 1;
    const uint32_t flat = o->flat ? r->owned[o->flat - 1].value : 0;
    tarn_tensor now;
    if (o->kind == OWNED_FLAT && !o->value && slices_assigned(r, index + 1)) {
        replica_fail(r, TARN_ERR_STATE,
                     "a parameter was assigned in this step before all parameters are read "
                     "together (by an optimizer, say): call tarn_step() between");
        return 0;
    }
    if (o->value || flat) {
        now = o->value ? graph_handle(r, o->value) : owned_slice(r, index, flat);
        /* A parameter's new value is a new leaf: gradients must not flow into its own update. */
        if (r->owned[index].kind == OWNED_PARAMETER && now.node)
            now = leaf(r, index, &op_detach, &now, 1);
    } else {
        now = leaf(r, index, &op_owned, NULL, 0);
    }
    r->owned[index].node = now.node;
    return now.node;
}

/* ---- public --------------------------------------------------------------------------------- */

tarn_tensor tarn_buffer(tarn_replica *r, const char *name, tarn_shape shape, tarn_dtype dtype,
                        const void *data)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "buffer: the replica is NULL");
    return owned_handle(r, owned_add(r, OWNED_BUFFER, name, shape, dtype, data));
}

tarn_tensor tarn_find(tarn_replica *r, const char *name)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "find: the replica is NULL");
    const struct owned *o = owned_find(r, name);
    return o != NULL ? owned_handle(r, (uint32_t)(o - r->owned) + 1)
                     : graph_missing(r, "tarn_find of \"%s\"", name != NULL ? name : "");
}

static bool listed(const struct owned *o)
{
    return o->kind == OWNED_PARAMETER || o->kind == OWNED_BUFFER;
}

int tarn_owned_count(const tarn_replica *r)
{
    int count = 0;
    for (uint32_t i = 0; r != NULL && i < r->owned_count; i++)
        count += listed(&r->owned[i]);
    return count;
}

const char *tarn_owned_name(const tarn_replica *r, int i)
{
    for (uint32_t k = 0; r != NULL && k < r->owned_count; k++) {
        if (listed(&r->owned[k]) && i-- == 0)
            return r->owned[k].name;
    }
    return NULL;
}

tarn_owned tarn_owned_at(tarn_replica *r, int i)
{
    for (uint32_t k = 0; r != NULL && k < r->owned_count; k++) {
        const struct owned *o = &r->owned[k];
        if (listed(o) && i-- == 0)
            return (tarn_owned){ .name = o->name,
                                 .tensor = owned_handle(r, k + 1),
                                 .shape = o->shape,
                                 .dtype = o->dtype,
                                 .parameter = o->kind == OWNED_PARAMETER,
                                 .frozen = o->frozen };
    }
    return (tarn_owned){ .name = NULL };
}

int64_t tarn_parameter_count(const tarn_replica *r, bool trained)
{
    int64_t count = 0;
    for (uint32_t i = 0; r != NULL && i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (o->kind == OWNED_PARAMETER && !(trained && o->frozen))
            count += tarn_shape_count(o->shape);
    }
    return count;
}

tarn_tensor tarn_keep(tarn_tensor t)
{
    tarn_replica *r = t.replica;
    if (!graph_operand(NULL, t, "keep", 0))
        return graph_poison(r);
    const struct node *n = graph_node(graph_value(t));
    const struct spec whole = { { 0 } };
    const struct spec spec = n->op == &op_shard ? n->arg.shard.spec : whole;
    const uint32_t index = owned_add_cut(r, OWNED_KEPT, NULL, n->shape, n->dtype, NULL, &spec);
    const tarn_tensor kept = owned_handle(r, index);
    if (index)
        tarn_assign(kept, t);
    return kept;
}

void tarn_drop(tarn_tensor t)
{
    struct owned *o = owned_of(t);
    if (tarn_failed(t) || (o == NULL && t.step == STEP_OWNED && was_lost(t)))
        return;
    if (o == NULL || o->kind != OWNED_KEPT) {
        replica_fail(t.replica, o != NULL ? TARN_ERR_ARGUMENT : TARN_ERR_STALE, "drop: %s",
                     o != NULL ? "only kept tensors can be dropped"
                               : "dropped already, or never kept");
        return;
    }
    /* Nodes of this step may still read or write it. */
    o->generation++;
    if (o->node || o->assigned)
        o->dropped = true;
    else
        entry_free(o);
}
