/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory: values that one kernel writes and reads block by block need no place for the whole
 * batch. They go to local memory, one block large: each worker of a CPU device uses the same piece
 * of it for every block, so it stays in the cache, where a temporary of the whole batch would not.
 * What local memory has no room for may do so in the arena: then the kernel has as many groups as
 * the device has units, workers, each with a block of its own for all that it does. In: values, and how much
 * local memory a group has. Out: which of them lie in it, and where; kernels with workers. */
#include "compile/5_memory/memory_passes.h"

static void note_use(const struct program_ir *p, struct range *r, const struct nest *n, int index,
                     bool in_block)
{
    if (r->first == -1) {
        r->kernel = placement_of(p, n)->kernel;
        r->first = index;
    }
    r->last = index;
    if (!in_block || !n->batched || n->kind != NEST_LOOPS ||
        placement_of(p, n)->kernel != r->kernel)
        r->first = -2;
}

static bool find_ranges(const struct program_ir *p, struct range *ranges)
{
    for (int v = 0; v < p->value_count; v++)
        ranges[v].first = -1;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int s = 0; s < n->stores; s++)
            if (ranges[n->store[s].value].first != -2)
                note_use(p, &ranges[n->store[s].value], n, i, n->store[s].in_block);
        for (int e = 0; e < n->expr_count; e++)
            if (n->exprs[e].kind == EXPR_LOAD && ranges[n->exprs[e].access.value].first != -2)
                note_use(p, &ranges[n->exprs[e].access.value], n, i, n->exprs[e].access.in_block);
        if (n->kind == NEST_HOST)
            ranges[n->call.in].first = -2;
        if (n->kind == NEST_PRODUCT)
            ranges[n->product.a].first = ranges[n->product.b].first = -2;
    }
    return !p->arena->failed;
}

size_t first_fit(const struct program_ir *p, const struct range *ranges,
                 const struct placed *placed, int value, size_t bytes)
{
    size_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int k = placed->first[ranges[value].kernel] - 1; k >= 0; k = placed->next[k] - 1) {
            const struct value *o = &p->values[k];
            if (ranges[k].last < ranges[value].first || ranges[value].last < ranges[k].first)
                continue;
            const size_t end = placed_end(o);
            if (offset < end && o->offset < offset + bytes) {
                offset = end;
                moved = true;
            }
        }
    }
    return offset;
}

void use_scratch(struct program_ir *p, size_t most_bytes)
{
    struct range *ranges = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *ranges);
    const struct placed placed = {
        arena_take(p->arena, ((size_t)p->kernel_count + 1) * sizeof *placed.first),
        arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *placed.next)
    };
    if (p->arena->failed || !find_ranges(p, ranges))
        return;
    for (int i = 0; i < p->value_count; i++) {
        struct value *v = &p->values[i];
        if (v->place != PLACE_ARENA || v->layout != LAYOUT_BLOCKED || ranges[i].first < 0)
            continue;
        const size_t bytes = v->bytes / (size_t)p->blocks;
        const size_t offset = first_fit(p, ranges, &placed, i, bytes);
        if (offset + bytes > most_bytes)
            continue;
        v->place = PLACE_SCRATCH;
        v->offset = offset;
        v->bytes = bytes;
        placed_add(&placed, ranges, i);
    }
}

/* Groups that are few enough to do blocks of several in the same memory; 0: those of the kernel are no more. */
static int workers_of(const struct program_ir *p, int kernel)
{
    const int units = p->target->vector.units;
    const int workers = units < p->groups ? units : p->groups;
    return kernel_parts(p, kernel) == 1 && workers < p->blocks ? workers : 0;
}

void use_workers(struct program_ir *p)
{
    struct range *ranges = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *ranges);
    p->workers = arena_take(p->arena, ((size_t)p->kernel_count + 1) * sizeof *p->workers);
    if (p->arena->failed || !find_ranges(p, ranges))
        return;
    for (int i = 0; i < p->value_count; i++) {
        struct value *v = &p->values[i];
        const int kernel = ranges[i].kernel;
        if (v->place != PLACE_ARENA || v->layout != LAYOUT_BLOCKED || ranges[i].first < 0 ||
            workers_of(p, kernel) == 0)
            continue;
        const size_t block = v->bytes / (size_t)p->blocks;
        v->worker_stride = (int64_t)(block / tarn_dtype_bytes(v->dtype));
        v->bytes = block * (size_t)workers_of(p, kernel);
        p->workers[kernel] = workers_of(p, kernel);
    }
}

void copy_for_parts(struct program_ir *p)
{
    for (int i = 0; i < p->value_count; i++) {
        struct value *v = &p->values[i];
        if (!v->by_part || v->place != PLACE_ARENA || v->first < 0)
            continue;
        v->part_stride = (int)(v->bytes / tarn_dtype_bytes(v->dtype));
        v->bytes *= (size_t)kernel_parts(p, v->first);
    }
}

void room_for_routines(struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (n->kind == NEST_ROUTINE && n->stores > 1)
            p->values[n->store[1].value].bytes =
                (size_t)n->routine.own * sizeof(float) * (size_t)schedule_of(p, n)->groups;
    }
}
