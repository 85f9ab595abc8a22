/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of samples that one chain of nests makes and reads by itself need no room for the whole batch: the chain's kernel
 * has as many groups as there are units, workers, each with room for the samples that it is at, and does all nests for
 * these before it goes on. There values whose nests do not overlap share memory, so most of it stays in the second cache.
 * In: nests with groups. Out: kernels with row workers; which values lie in a room, and where in it. */
#include "compile/3_kernels/fuse.h"
#include "compile/5_memory/memory_passes.h"

#define ALIGNMENT 64u /* a vector of 16 floats */

/* The kernel whose chain alone uses a value, and the first and the last nest of it that do. */
struct use {
    int kernel, first, last; /* first -1: none yet; -2: it is not so */
};

static void note(const struct program_ir *p, struct use *u, int nest, bool own)
{
    const struct placement *at = &p->placements[nest];
    if (u->first == -1)
        *u = (struct use){ at->kernel, nest, nest };
    u->last = nest;
    if (!own || p->nests[nest].kind != NEST_LOOPS || at->row_axis < 0 || at->tiny ||
        at->kernel != u->kernel)
        u->first = -2;
}

static void note_nest(const struct program_ir *p, struct use *uses, int nest)
{
    const struct nest *n = &p->nests[nest];
    for (int e = 0; e < n->expr_count; e++) {
        struct use *u = &uses[n->exprs[e].access.value];
        if (n->exprs[e].kind == EXPR_LOAD && u->first != -2)
            note(p, u, nest, n->kind == NEST_LOOPS && reads_own_rows(p, n, &n->exprs[e]));
    }
    for (int s = 0; s < n->stores; s++)
        if (uses[n->store[s].value].first != -2)
            note(p, &uses[n->store[s].value], nest, true);
    if (n->kind == NEST_HOST)
        uses[n->call.in].first = -2;
}

/* So many do the groups of a kernel's chain; 0: each unit has one group anyway, or the kernel goes through blocks. */
static int workers_of(const struct program_ir *p, int nest)
{
    const int groups = p->schedules[nest].groups, units = p->target->vector.units;
    const struct nest_range all = kernel_nests(p, p->placements[nest].kernel);
    for (const int *at = all.at; at < all.end; at++)
        if (p->placements[*at].section == 0)
            return 0;
    return units < groups ? units : 0;
}

/* First fit beside the values of the same kernel that are placed already. */
static size_t place(const struct program_ir *p, const struct use *uses, const int *placed,
                    int value, size_t bytes)
{
    size_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int o = placed[value] - 1; o >= 0; o = placed[o] - 1) {
            const struct value *v = &p->values[o];
            if (uses[o].last < uses[value].first || uses[value].last < uses[o].first)
                continue;
            const size_t end = (v->offset + v->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            if (offset < end && v->offset < offset + bytes) {
                offset = end;
                moved = true;
            }
        }
    }
    return offset;
}

/* The memory of all workers of a kernel, a value of its own; -1 without memory. */
static int add_room(struct program_ir *p, int kernel, size_t bytes)
{
    const int room = value_add(p, PLACE_ARENA, LAYOUT_PLAIN, 0, TARN_SCALAR, TARN_U8);
    if (room < 0)
        return -1;
    p->values[room].bytes = bytes * (size_t)p->row_workers[kernel];
    p->values[room].first = p->values[room].last = kernel;
    return room;
}

void use_row_workers(struct program_ir *p)
{
    const int values = p->value_count;
    struct use *uses = arena_take(p->arena, ((size_t)values + 1) * sizeof *uses);
    int *placed = arena_take(p->arena, ((size_t)values + 1) * sizeof *placed);
    int *newest = arena_take(p->arena, ((size_t)p->kernel_count + 1) * sizeof *newest);
    size_t *bytes = arena_take(p->arena, ((size_t)p->kernel_count + 1) * sizeof *bytes);
    p->row_workers = arena_take(p->arena, ((size_t)p->kernel_count + 1) * sizeof *p->row_workers);
    if (p->arena->failed || p->repeats)
        return;
    for (int v = 0; v < values; v++)
        uses[v].first = -1;
    for (int i = 0; i < p->nest_count; i++)
        note_nest(p, uses, i);
    for (int i = 0; i < values; i++) {
        struct value *v = &p->values[i];
        const int kernel = uses[i].kernel;
        if (uses[i].first < 0 || v->place != PLACE_ARENA || v->layout != LAYOUT_PLAIN ||
            v->first != kernel || v->last != kernel || workers_of(p, uses[i].first) == 0)
            continue;
        const int samples = p->module->samples, groups = p->schedules[uses[i].first].groups;
        v->run = tarn_shape_count(v->shape) / samples;
        v->bytes =
            (size_t)v->run * (size_t)((samples + groups - 1) / groups) * tarn_dtype_bytes(v->dtype);
        placed[i] = newest[kernel];
        newest[kernel] = i + 1;
        v->offset = place(p, uses, placed, i, v->bytes);
        if (v->offset + v->bytes > bytes[kernel])
            bytes[kernel] = (v->offset + v->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        p->row_workers[kernel] = workers_of(p, uses[i].first);
    }
    for (int k = 0; k < p->kernel_count; k++) {
        const int room = newest[k] > 0 ? add_room(p, k, bytes[k]) : -1;
        for (int i = newest[k] - 1; i >= 0; i = placed[i] - 1) {
            p->values[i].room = room + 1;
            p->values[i].room_bytes = bytes[k];
        }
    }
}
