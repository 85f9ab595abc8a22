/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that are read and written by one plan. In: nests. Out: nests of which none reads what
 * another one overwrites, unless it runs before. Knows memory by program.storage alone. */
#include <string.h>

#include "compile/3_kernels/fuse.h"

bool writes_out(const struct program_ir *p, const struct nest *n)
{
    for (int s = 0; s < n->stores; s++)
        if (p->values[n->store[s].value].place == PLACE_OWNED ||
            p->values[n->store[s].value].place == PLACE_OUTPUT)
            return true;
    return false;
}

/* The memory of an owned tensor, of which slices share one; -1 for other values. */
int memory_of(const struct program_ir *p, const struct value *v)
{
    return v->place == PLACE_OWNED ? (int)p->module->program->storage[v->slot].memory : -1;
}

int memory_count(const struct program_ir *p)
{
    int count = 0;
    for (int v = 0; v < p->value_count; v++)
        if (memory_of(p, &p->values[v]) >= count)
            count = memory_of(p, &p->values[v]) + 1;
    return count;
}

static bool reads(const struct program_ir *p, const struct nest *n, int memory)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD &&
            memory_of(p, &p->values[n->exprs[e].access.value]) == memory)
            return true;
    return false;
}

/* Whether every read of the stored tensor in its own nest is of the very element stored. */
static bool reads_in_place(const struct program_ir *p, const struct nest *n, const struct store *s)
{
    const struct value *v = &p->values[s->value];
    const int memory = memory_of(p, v);
    for (int i = 0; i < n->expr_count; i++) {
        const struct expr *e = &n->exprs[i];
        if (e->kind != EXPR_LOAD || memory_of(p, &p->values[e->access.value]) != memory)
            continue;
        if (n->kind != NEST_LOOPS || n->combine != COMBINE_NONE || n->batched ||
            e->access.gather >= 0 || e->access.part_count > 0 ||
            p->values[e->access.value].offset != v->offset ||
            !affine_equal(&e->access.address, &s->address))
            return false;
    }
    return true;
}

/* How many of the nests that write what leaves the plan read each memory. */
struct readers {
    int *count;
    int *counted_by; /* number of the nest + 1 */
};

/* Counts what a nest reads: each memory by `step`, and once. */
static void count_reads(const struct program_ir *p, const struct readers *r, int nest, int step)
{
    const struct nest *n = &p->nests[nest];
    for (int e = 0; e < n->expr_count; e++) {
        const int memory =
            n->exprs[e].kind != EXPR_LOAD ? -1 : memory_of(p, &p->values[n->exprs[e].access.value]);
        if (memory < 0 || r->counted_by[memory] == step * (nest + 1))
            continue;
        r->counted_by[memory] = step * (nest + 1);
        r->count[memory] += step;
    }
}

/* Whether some nest that writes an owned tensor's new value, or another nest that writes what
 * leaves the plan, still reads the old one. A value can have several writers, each of a part of
 * it. */
static bool is_read_while_written(const struct program_ir *p, const struct uses *u,
                                  const struct readers *r, int value)
{
    const int memory = memory_of(p, &p->values[value]);
    for (int w = u->writers.begin[value]; w < u->writers.begin[value + 1]; w++) {
        const struct nest *n = &p->nests[u->writers.nest[w]];
        for (int s = 0; s < n->stores; s++)
            if (n->store[s].value == value && !reads_in_place(p, n, &n->store[s]))
                return true;
        if (r->count[memory] > reads(p, n, memory))
            return true;
    }
    return false;
}

/* Lets all writers of a value write a temporary, which a nest of its own copies. */
static tarn_status write_by_copy(struct program_ir *p, const struct uses *u,
                                 const struct readers *r, int value)
{
    const struct value v = p->values[value];
    const int temporary = value_add(p, PLACE_ARENA, LAYOUT_PLAIN, 0, v.shape, v.dtype);
    for (int w = u->writers.begin[value]; w < u->writers.begin[value + 1]; w++) {
        struct nest *n = &p->nests[u->writers.nest[w]];
        const bool wrote_out = writes_out(p, n);
        for (int s = 0; s < n->stores; s++)
            if (n->store[s].value == value)
                n->store[s].value = temporary;
        if (wrote_out && !writes_out(p, n))
            count_reads(p, r, u->writers.nest[w], -1);
    }
    struct nest *copy = nest_add(p);
    if (temporary < 0 || copy == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    memset(copy, 0, sizeof *copy);
    copy->name = "copy";
    copy->axes = copy->out_axes = 1;
    copy->extent[0] = (int32_t)tarn_shape_count(v.shape);
    copy->batch_axis = copy->sample_lane = -1;
    struct expr e = { .kind = EXPR_LOAD, .dtype = dtype_computed(v.dtype) };
    e.access = (struct access){ .value = temporary, .address = affine_axis(0), .gather = -1 };
    copy->store[0] = (struct store){ .value = value, .address = affine_axis(0) };
    copy->store[0].expr = expr_add(p, copy, &e);
    copy->stores = 1;
    return TARN_OK;
}

/* What is still read while it is written goes to a temporary first. */
tarn_status break_write_hazards(struct program_ir *p)
{
    const int values = p->value_count;
    const size_t memories = (size_t)memory_count(p) + 1;
    const struct readers r = { arena_take(p->arena, memories * sizeof(int)),
                               arena_take(p->arena, memories * sizeof(int)) };
    struct uses u; /* of the values that are not looked at yet */
    if (r.count == NULL || r.counted_by == NULL || !uses_build(p, &u))
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; i++)
        if (writes_out(p, &p->nests[i]))
            count_reads(p, &r, i, 1);
    for (int v = 0; v < values; v++)
        if (p->values[v].place == PLACE_OWNED && is_read_while_written(p, &u, &r, v))
            TRY(write_by_copy(p, &u, &r, v));
    return TARN_OK;
}
