/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of samples that one chain of nests makes and reads by itself need no room for the whole batch: the chain's kernel
 * has as many groups as there are units, workers, each with room for the samples that it is at, and does all nests for
 * these before it goes on. There values whose nests do not overlap share memory, so most of it stays in the second cache.
 * In: nests with groups. Out: kernels with row workers; which values lie in a room, and where in it. */
#include "compile/3_kernels/fuse.h"
#include "compile/5_memory/memory_passes.h"

static void note(const struct program_ir *p, struct range *r, int nest, bool own)
{
    const struct placement *at = &p->placements[nest];
    if (r->first == -1)
        *r = (struct range){ at->kernel, nest, nest };
    r->last = nest;
    if (!own || p->nests[nest].kind != NEST_LOOPS || at->row_axis < 0 || at->tiny ||
        at->kernel != r->kernel)
        r->first = -2;
}

static void note_nest(const struct program_ir *p, struct range *ranges, int nest)
{
    const struct nest *n = &p->nests[nest];
    for (int e = 0; e < n->expr_count; e++) {
        struct range *r = &ranges[n->exprs[e].access.value];
        if (n->exprs[e].kind == EXPR_LOAD && r->first != -2)
            note(p, r, nest, n->kind == NEST_LOOPS && reads_own_rows(p, n, &n->exprs[e]));
    }
    for (int s = 0; s < n->stores; s++)
        if (ranges[n->store[s].value].first != -2)
            note(p, &ranges[n->store[s].value], nest, true);
    if (n->kind == NEST_HOST)
        ranges[n->call.in].first = -2;
}

/* So many do the groups of a kernel's chain; 0: it has none, each unit has one group anyway, or it goes through blocks. */
static int workers_of(const struct program_ir *p, int kernel)
{
    int groups = 0;
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        if (p->placements[*r.at].section == 0)
            return 0;
        if (p->placements[*r.at].section == SECTION_OF_ROWS)
            groups = p->schedules[*r.at].groups;
    }
    return p->target->vector.units < groups ? p->target->vector.units : 0;
}

/* Of a value, for the samples of a group. */
static size_t bytes_of(const struct program_ir *p, const struct value *v, int groups)
{
    const int samples = p->module->samples;
    return (size_t)value_run(p, v) * (size_t)((samples + groups - 1) / groups) *
           tarn_dtype_bytes(v->dtype);
}

/* The memory of all workers of a kernel, a value of its own, for those that lie in it. */
static bool add_room(struct program_ir *p, int kernel, size_t bytes, const struct placed *placed)
{
    const int room = value_add(p, PLACE_ARENA, LAYOUT_PLAIN, 0, TARN_SCALAR, TARN_U8);
    if (room < 0)
        return false;
    p->values[room].bytes = bytes * (size_t)p->row_workers[kernel];
    p->values[room].first = p->values[room].last = kernel;
    for (int i = placed->first[kernel] - 1; i >= 0; i = placed->next[i] - 1)
        p->values[i].room = room + 1;
    return true;
}

void use_row_workers(struct program_ir *p)
{
    const int values = p->value_count;
    const size_t kernels = (size_t)p->kernel_count + 1;
    struct range *ranges = arena_take(p->arena, ((size_t)values + 1) * sizeof *ranges);
    const struct placed placed = { arena_take(p->arena, kernels * sizeof *placed.first),
                                   arena_take(p->arena,
                                              ((size_t)values + 1) * sizeof *placed.next) };
    size_t *bytes = arena_take(p->arena, kernels * sizeof *bytes);
    p->row_workers = arena_take(p->arena, kernels * sizeof *p->row_workers);
    if (p->arena->failed || p->repeats)
        return;
    for (int v = 0; v < values; v++)
        ranges[v].first = -1;
    for (int i = 0; i < p->nest_count; i++)
        note_nest(p, ranges, i);
    for (int k = 0; k < p->kernel_count; k++)
        p->row_workers[k] = workers_of(p, k);
    for (int i = 0; i < values; i++) {
        struct value *v = &p->values[i];
        const int kernel = ranges[i].kernel;
        if (ranges[i].first < 0 || v->place != PLACE_ARENA || v->layout != LAYOUT_PLAIN ||
            v->first != kernel || v->last != kernel || p->row_workers[kernel] == 0)
            continue;
        v->bytes = bytes_of(p, v, p->schedules[ranges[i].first].groups);
        v->offset = first_fit(p, ranges, &placed, i, v->bytes);
        placed_add(&placed, ranges, i);
        if (placed_end(v) > bytes[kernel])
            bytes[kernel] = placed_end(v);
    }
    for (int k = 0; k < p->kernel_count; k++) {
        if (placed.first[k] == 0)
            p->row_workers[k] = 0; /* nothing to have room for */
        else if (!add_room(p, k, bytes[k], &placed))
            return;
    }
}
