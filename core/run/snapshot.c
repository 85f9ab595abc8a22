/* SPDX-License-Identifier: Apache-2.0 */
/* A replica's graph as a program. In: a replica. Out: what the compiler may know of it. */
#include "run/snapshot.h"

#include "env.h"

#include <stdlib.h>

bool snapshot_may_fix(const tarn_replica *r)
{
    return !r->training && replica_mesh(r) == NULL && r->memory_limit == 0 &&
           env_number(ENV_MEMORY_LIMIT) <= 0;
}

bool snapshot_is_fixed(const tarn_replica *r, const struct owned *o)
{
    return (o->kind == OWNED_PARAMETER || o->kind == OWNED_BUFFER || o->lasting) &&
           !owned_is_assigned(r, o);
}

static struct storage storage_of(const tarn_replica *r, uint32_t slot, bool may_fix)
{
    const struct owned *o = &r->owned[slot];
    return (struct storage){ .memory = o->flat != 0 ? o->flat - 1 : slot,
                             .offset = o->offset,
                             .kept = o->kind == OWNED_KEPT,
                             .fixed = may_fix && snapshot_is_fixed(r, o) };
}

tarn_status snapshot_take(const tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                          struct snapshot *out)
{
    const struct graph *g = &r->graph;
    struct storage *storage = calloc((size_t)r->owned_count + 1, sizeof *storage);
    out->storage = storage;
    out->program = (struct program){ .nodes = g->nodes,
                                     .count = g->count,
                                     .operands = g->operands,
                                     .operand_count = g->operand_count,
                                     .outputs = outputs,
                                     .output_count = count,
                                     .effects = effects,
                                     .storage = storage,
                                     .partition = { .world = 1 } };
    if (storage == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    const bool may_fix = snapshot_may_fix(r);
    for (uint32_t i = 0; i < r->owned_count; i++)
        storage[i] = storage_of(r, i, may_fix);
    if (r->peers != NULL)
        out->program.partition =
            (struct partition){ .world = r->peers->world, .shards = r->peers->shards };
    return TARN_OK;
}

void snapshot_free(struct snapshot *s)
{
    free(s->storage);
    *s = (struct snapshot){ 0 };
}
