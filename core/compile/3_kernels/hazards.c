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

static bool same_memory(const struct program_ir *p, const struct value *a, const struct value *b)
{
    const struct storage *at = p->module->program->storage;
    return a->place == PLACE_OWNED && b->place == PLACE_OWNED &&
           at[a->slot].memory == at[b->slot].memory;
}

static bool reads(const struct program_ir *p, const struct nest *n, const struct value *v)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD &&
            same_memory(p, &p->values[n->exprs[e].access.value], v))
            return true;
    return false;
}

/* Whether every read of the stored tensor in its own nest is of the very element stored. */
static bool reads_in_place(const struct program_ir *p, const struct nest *n, const struct store *s)
{
    const struct value *v = &p->values[s->value];
    for (int i = 0; i < n->expr_count; i++) {
        const struct expr *e = &n->exprs[i];
        if (e->kind != EXPR_LOAD || !same_memory(p, &p->values[e->access.value], v))
            continue;
        if (n->combine != COMBINE_NONE || n->batched || e->access.gather >= 0 ||
            e->access.part_count > 0 || p->values[e->access.value].offset != v->offset ||
            !affine_equal(&e->access.address, &s->address))
            return false;
    }
    return true;
}

/* Whether some nest that writes an owned tensor's new value, or another nest that writes what
 * leaves the plan, still reads the old one. A value can have several writers, each of a part of
 * it. */
static bool is_read_while_written(const struct program_ir *p, int value)
{
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int s = 0; s < n->stores; s++) {
            if (n->store[s].value != value)
                continue;
            if (!reads_in_place(p, n, &n->store[s]))
                return true;
            for (int k = 0; k < p->nest_count; k++)
                if (k != i && writes_out(p, &p->nests[k]) &&
                    reads(p, &p->nests[k], &p->values[value]))
                    return true;
        }
    }
    return false;
}

/* Lets all writers of a value write a temporary, which a nest of its own copies. */
static tarn_status write_by_copy(struct program_ir *p, int value)
{
    const struct value v = p->values[value];
    const int temporary = value_add(p, PLACE_ARENA, LAYOUT_PLAIN, 0, v.shape, v.dtype);
    for (int i = 0; i < p->nest_count; i++)
        for (int s = 0; s < p->nests[i].stores; s++)
            if (p->nests[i].store[s].value == value)
                p->nests[i].store[s].value = temporary;
    struct nest *copy = nest_add(p);
    if (temporary < 0 || copy == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    memset(copy, 0, sizeof *copy);
    copy->name = "copy";
    copy->axes = copy->out_axes = 1;
    copy->extent[0] = (int32_t)tarn_shape_count(v.shape);
    copy->batch_axis = copy->sample_lane = -1;
    struct expr e = { .kind = EXPR_LOAD, .dtype = v.dtype == TARN_F32 ? TARN_F32 : TARN_I32 };
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
    for (int v = 0; v < values; v++)
        if (p->values[v].place == PLACE_OWNED && is_read_while_written(p, v))
            TRY(write_by_copy(p, v));
    return TARN_OK;
}

/* Kernels before which nothing may overwrite the memory of owned tensors that n stores to. */
int after_readers(const struct program_ir *p, const struct nest *n)
{
    int kernel = 0;
    for (int s = 0; s < n->stores; s++) {
        const struct value *v = &p->values[n->store[s].value];
        if (v->place != PLACE_OWNED)
            continue;
        for (int k = 0; k < p->nest_count; k++) {
            const struct nest *other = &p->nests[k];
            if (other != n && at(p, other)->kernel >= kernel && reads(p, other, v))
                kernel = at(p, other)->kernel + 1;
        }
    }
    return kernel;
}
