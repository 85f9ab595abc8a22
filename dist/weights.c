/* SPDX-License-Identifier: Apache-2.0 */
/* Whether all replicas hold the same weights: a fingerprint in every step, and, when it differs, a
 * search for the first element that does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "log.h"
#include "member.h"
#include "op/op.h"
#include "tensor/part.h"
#include "tensor/shape.h"

/* ---- the fingerprint ------------------------------------------------------------------------ */

/* Storage that must stay equal, each byte once: slices lie in flat storage. */
static bool is_storage(const struct owned *o)
{
    return o->kind == OWNED_FLAT ||
           (o->flat == 0 &&
            (o->kind == OWNED_PARAMETER || o->kind == OWNED_BUFFER || o->kind == OWNED_STATE));
}

/* Under a mesh statistics are of all samples. */
bool weights_may_drift(const tarn_replica *r, uint32_t i)
{
    const struct owned *o = &r->owned[i];
    return !r->peers->sync_norm && replica_mesh(r) == NULL && o->kind == OWNED_BUFFER &&
           dtype_is_single(o->dtype);
}

/* Steps without an update exchange nothing, so what they leave in a buffer may differ until one
 * does. */
static bool is_apart(const tarn_replica *r, uint32_t i)
{
    return weights_may_drift(r, i) && r->owned[i].apart;
}

/* Positions that a tensor takes in a fingerprint (op/bits.c). */
static int64_t words_of(const struct owned *o)
{
    return tarn_shape_count(o->shape) * (dtype_is_wide(o->dtype) ? 2 : 1);
}

/* As few nodes as can be: a step records them anew, and its devices wait meanwhile. */
tarn_tensor weights_fingerprint(tarn_replica *r)
{
    tarn_tensor all[OPERANDS_MOST], total = TARN_NONE;
    uint32_t first = 0, position = 0, owned = r->owned_count;
    for (uint32_t i = 0, n = 0; i < owned; i++) {
        const bool last = i + 1 == owned;
        if (is_storage(&r->owned[i]) && !is_apart(r, i) &&
            tarn_shape_count(r->owned[i].shape) > 0) {
            all[n++] = owned_before(r, i + 1);
            position += (uint32_t)words_of(&r->owned[i]);
        }
        if (n == 0 || (n < OPERANDS_MOST && !last))
            continue;
        const tarn_tensor some = op_fingerprint_of(all, (int)n, first);
        total = total.replica != NULL ? tarn_add(total, some) : some;
        first = position;
        n = 0;
    }
    return total.replica != NULL ? total : op_constant_of(r, TARN_SHAPE(1), TARN_I32, 0.0);
}

/* ---- tensor by tensor ----------------------------------------------------------------------- */

static bool is_named(const struct owned *o)
{
    return o->kind == OWNED_PARAMETER || o->kind == OWNED_BUFFER || o->kind == OWNED_STATE;
}

static size_t largest(const tarn_replica *r)
{
    size_t most = 1;
    for (uint32_t i = 0; i < r->owned_count; i++)
        if (is_named(&r->owned[i]) && owned_bytes(&r->owned[i]) > most)
            most = owned_bytes(&r->owned[i]);
    return most;
}

static tarn_status gather(tarn_replica *r, const char *label, const void *in, size_t bytes,
                          void *out)
{
    return member_collect(r, (struct collective){ .kind = COLLECTIVE_ALL_GATHER,
                                                  .dtype = TARN_U8,
                                                  .count = bytes,
                                                  .label = label,
                                                  .in = in,
                                                  .out = out });
}

/* What a replica owns, for a comparison before anything of it is sent. */
struct manifest {
    uint64_t tensors, hash, specs;
};

/* The first of those that have the same part of it. */
static int first_rank(const tarn_replica *r, const struct owned *o, int rank)
{
    const struct mesh *m = replica_mesh(r);
    const uint32_t axes = m != NULL ? part_axes(m, &o->spec) : 0;
    int first = 0;
    while (axes != 0 && mesh_place(m, first, axes) != mesh_place(m, rank, axes))
        first++;
    return first;
}

static tarn_status same_tensors(tarn_replica *r)
{
    const int world = r->peers->world;
    struct manifest mine = { 0 }, *all = calloc((size_t)world, sizeof *all);
    if (all == NULL)
        return error_set(TARN_ERR_MEMORY, "replicas: out of host memory");
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (!is_named(o))
            continue;
        mine.tensors++;
        mine.hash = XXH64(o->name, strlen(o->name), mine.hash);
        mine.hash = XXH64(o->shape.dim, (size_t)o->shape.rank * sizeof *o->shape.dim, mine.hash);
        mine.hash = XXH64(&o->dtype, sizeof o->dtype, mine.hash);
        mine.specs = XXH64(&o->spec, sizeof o->spec, mine.specs);
    }
    tarn_status s = gather(r, "names of tensors", &mine, sizeof mine, all);
    for (int i = 1; s == TARN_OK && i < world; i++)
        if (all[i].tensors != all[0].tensors || all[i].hash != all[0].hash)
            s = error_set(
                TARN_ERR_DISAGREE,
                "replicas: rank %d owns other tensors (%llu) than rank 0 (%llu): all must "
                "make the same layers and optimizer in the same order",
                i, (unsigned long long)all[i].tensors, (unsigned long long)all[0].tensors);
        else if (all[i].specs != all[0].specs)
            s = error_set(TARN_ERR_DISAGREE,
                          "replicas: rank %d marked its tensors in other ways than rank 0; mark "
                          "the same on every rank",
                          i);
    free(all);
    return s;
}

/* Reads a tensor of this replica to `own`, and gets in `first` that of the first rank with the same part. */
static tarn_status exchange(tarn_replica *r, const struct owned *o, void *own, void *first)
{
    /* What is cut is compared with the first of the ranks that have the same part. */
    if (owned_is_cut(r, o)) {
        TRY(owned_read(r, o, first));
        memcpy(own, first, owned_bytes(o));
        return owned_read_part(r, o, own);
    }
    TRY(owned_read(r, o, own));
    return member_collect(r, (struct collective){ .kind = COLLECTIVE_BROADCAST,
                                                  .dtype = TARN_U8,
                                                  .count = owned_bytes(o),
                                                  .label = "weights",
                                                  .in = own,
                                                  .out = first });
}

tarn_status weights_broadcast(tarn_replica *r)
{
    TRY(same_tensors(r));
    const size_t bytes = largest(r);
    void *own = malloc(bytes), *first = malloc(bytes);
    tarn_status s = own != NULL && first != NULL
                        ? TARN_OK
                        : error_set(TARN_ERR_MEMORY, "replicas: no %zu bytes", bytes);
    for (uint32_t i = 0; s == TARN_OK && i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (!is_named(o) || owned_bytes(o) == 0)
            continue;
        s = exchange(r, o, own, first);
        if (s == TARN_OK && memcmp(own, first, owned_bytes(o)) != 0)
            s = owned_write(r, o, first);
        r->owned[i].apart = false;
    }
    free(own);
    free(first);
    return s == TARN_OK && r->trainer != NULL ? r->trainer->reload(r, true) : s;
}

/* The first element in which this replica differs from the first with the same part: without a mesh that is rank 0. */
struct difference {
    uint32_t tensor; /* index + 1; 0: none */
    uint64_t bits[2], element;
};

static void compare_bytes(const struct owned *o, uint32_t index, const unsigned char *own,
                          const unsigned char *first, struct difference *d)
{
    const size_t size = tarn_dtype_bytes(o->dtype), bytes = owned_bytes(o);
    for (size_t at = 0; at < bytes && d->tensor == 0; at += size) {
        if (memcmp(own + at, first + at, size) == 0)
            continue;
        d->tensor = index + 1;
        d->element = at / size;
        memcpy(&d->bits[0], first + at, size);
        memcpy(&d->bits[1], own + at, size);
    }
}

/* Two elements as numbers, of the larger float types. */
static void numbers_text(tarn_dtype dtype, const uint64_t bits[2], char *out, size_t capacity)
{
    float f[2];
    double d[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t low = (uint32_t)bits[i];
        memcpy(&f[i], &low, sizeof low);
        memcpy(&d[i], &bits[i], sizeof bits[i]);
    }
    if (dtype == TARN_F32)
        snprintf(out, capacity, " (%.9g and %.9g)", (double)f[0], (double)f[1]);
    if (dtype == TARN_F64)
        snprintf(out, capacity, " (%.17g and %.17g)", d[0], d[1]);
}

static tarn_status report(const tarn_replica *r, const struct difference *all)
{
    const int world = r->peers->world;
    int differ = 0, rank = 0;
    for (int i = world - 1; i > 0; i--)
        if (all[i].tensor != 0) {
            differ++;
            if (rank == 0 || all[i].tensor <= all[rank].tensor)
                rank = i;
        }
    if (differ == 0)
        return TARN_OK;
    const struct difference *d = &all[rank];
    const struct owned *o = &r->owned[d->tensor - 1];
    const bool cut = owned_is_cut(r, o);
    const int digits = dtype_is_wide(o->dtype) ? 16 : 8;
    char numbers[64] = "";
    numbers_text(o->dtype, d->bits, numbers, sizeof numbers);
    char where[40] = "";
    const int node = communicator_node(member_of(r)->communicator, rank);
    if (node >= 0)
        snprintf(where, sizeof where, " of node %d", node);
    communicator_blame(member_of(r)->communicator, rank);
    return error_set(TARN_ERR_WEIGHTS,
                     "weights differ before training step %llu: %s %s element %llu is 0x%0*llx on "
                     "rank %d and 0x%0*llx on rank %d%s%s; %d of %d replicas differ from %s%s",
                     (unsigned long long)r->step_count + 1, o->name, shape_text(o->shape),
                     (unsigned long long)d->element, digits, (unsigned long long)d->bits[0],
                     first_rank(r, o, rank), digits, (unsigned long long)d->bits[1], rank, where,
                     numbers, differ, world, cut ? "the first with the same part" : "rank 0",
                     !cut && 2 * differ > world ? ", which is alone with its value" : "");
}

tarn_status weights_compare(tarn_replica *r)
{
    const size_t bytes = largest(r);
    struct difference mine = { 0 };
    struct difference *all = calloc((size_t)r->peers->world, sizeof *all);
    void *own = malloc(bytes), *first = malloc(bytes);
    tarn_status s = own != NULL && first != NULL && all != NULL
                        ? same_tensors(r)
                        : error_set(TARN_ERR_MEMORY, "replicas: no %zu bytes", bytes);
    for (uint32_t i = 0; s == TARN_OK && i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (!is_named(o) || is_apart(r, i) || owned_bytes(o) == 0)
            continue;
        s = exchange(r, o, own, first);
        if (s == TARN_OK)
            compare_bytes(o, i, own, first, &mine);
    }
    if (s == TARN_OK)
        s = gather(r, "differences", &mine, sizeof mine, all);
    if (s == TARN_OK)
        s = report(r, all);
    free(own);
    free(first);
    free(all);
    return s;
}

tarn_status weights_settle(tarn_replica *r)
{
    const struct member *m = member_of(r);
    const tarn_status found = weights_compare(r);
    if (found == TARN_OK)
        return error_set(TARN_ERR_WEIGHTS,
                         "weights differed between replicas before training step %llu, and are "
                         "equal when looked at again",
                         (unsigned long long)r->step_count + 1);
    if (found != TARN_ERR_WEIGHTS || !m->heal)
        return found;
    if (m->peers.rank == 0)
        log_print(TARN_LOG_WARNING, "tarn: %s; copied from %s", error_text(),
                  replica_mesh(r) != NULL ? "the first rank with each part" : "rank 0");
    return weights_broadcast(r);
}

tarn_status tarn_check_weights(tarn_replica *r)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "check_weights: the replica is NULL");
    if (r->status != TARN_OK || tarn_world_size(r) == 1)
        return r->status;
    const tarn_status s = weights_compare(r);
    return s == TARN_OK ? s : replica_fail(r, s, NULL);
}
