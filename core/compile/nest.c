/* SPDX-License-Identifier: Apache-2.0 */
/* What nests consist of, added one by one: values, nests, expressions. In: the program so far. Out:
 * the same with one more. Knows no stage. */
#include <string.h>

#include "compile/nest.h"
#include "tensor/sum_order.h"

static void *grown(struct arena *a, void *old, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return old;
    const int larger = *capacity == 0 ? 16 : 2 * *capacity;
    void *out = arena_take(a, (size_t)larger * size);
    if (out != NULL && old != NULL)
        memcpy(out, old, (size_t)count * size);
    *capacity = out == NULL ? 0 : larger;
    return out;
}

int value_add(struct program_ir *p, enum value_place place, enum layout layout, uint32_t slot,
              tarn_shape shape, tarn_dtype dtype)
{
    p->values = grown(p->arena, p->values, p->value_count, &p->value_capacity, sizeof *p->values);
    if (p->values == NULL)
        return -1;
    size_t count = (size_t)tarn_shape_count(shape);
    if (layout == LAYOUT_BLOCKED)
        count = count / (size_t)shape.dim[0] * LANES * (size_t)p->blocks;
    p->values[p->value_count] = (struct value){ .place = place,
                                                .layout = layout,
                                                .slot = slot,
                                                .shape = shape,
                                                .dtype = dtype,
                                                .bytes = count * tarn_dtype_bytes(dtype),
                                                .first = -1,
                                                .last = -1 };
    return p->value_count++;
}

struct nest *nest_add(struct program_ir *p)
{
    p->nests = grown(p->arena, p->nests, p->nest_count, &p->nest_capacity, sizeof *p->nests);
    return p->nests == NULL ? NULL : &p->nests[p->nest_count++];
}

int expr_add(struct program_ir *p, struct nest *n, const struct expr *e)
{
    for (int i = 0; i < n->expr_count; i++)
        if (memcmp(&n->exprs[i], e, sizeof *e) == 0)
            return i;
    n->exprs = grown(p->arena, n->exprs, n->expr_count, &n->expr_capacity, sizeof *n->exprs);
    if (n->exprs == NULL)
        return -1;
    n->exprs[n->expr_count] = *e;
    return n->expr_count++;
}

struct elements access_elements(const struct program_ir *p, const struct access *x)
{
    const struct value *v = &p->values[x->value];
    const int64_t count = tarn_shape_count(v->shape) / (x->in_block ? v->shape.dim[0] : 1);
    return (struct elements){ -v->window_from, count - v->window_from };
}

bool access_stays_inside(const struct program_ir *p, const struct nest *n, const struct access *x)
{
    const struct elements all = access_elements(p, x);
    int64_t low = x->address.constant, high = low;
    if (x->gather >= 0 || x->part_count > 0)
        return false;
    for (int a = 0; a < n->axes; a++) {
        const int64_t reach = (int64_t)x->address.k[a] * (n->extent[a] - 1);
        *(reach < 0 ? &low : &high) += reach;
    }
    return low >= all.from && high < all.to;
}

static bool access_is_alike(const struct nest *n, const struct access *x, int axis)
{
    return !x->in_block && !access_uses(x, axis) &&
           (x->gather < 0 || expr_is_alike(n, x->gather, axis));
}

bool expr_is_alike(const struct nest *n, int expr, int axis)
{
    const struct expr *e = &n->exprs[expr];
    for (int i = 0; i < e->args; i++)
        if (!expr_is_alike(n, e->arg[i], axis))
            return false;
    for (int g = 0; g < e->guards; g++)
        if (e->guard[g].e.k[axis] != 0)
            return false;
    switch (e->kind) {
    case EXPR_CONSTANT:
    case EXPR_NUMBER:
    case EXPR_MAP:
    case EXPR_GUARD:
        return true;
    case EXPR_IOTA:
        return e->index.e.k[axis] == 0;
    case EXPR_LOAD:
        return access_is_alike(n, &e->access, axis);
    default:
        return false;
    }
}

bool nest_own_exprs(struct program_ir *p, struct nest *n)
{
    const size_t count = (size_t)n->expr_count;
    struct expr *own = arena_take(p->arena, (count + 1) * sizeof *own);
    if (own == NULL)
        return false;
    if (count > 0)
        memcpy(own, n->exprs, count * sizeof *own);
    n->exprs = own;
    n->expr_capacity = n->expr_count;
    return true;
}

const char *value_maker(const struct program_ir *p, int value)
{
    for (int i = 0; i < p->nest_count; i++)
        for (int s = 0; s < p->nests[i].stores; s++) {
            const struct value *to = &p->values[p->nests[i].store[s].value];
            if (p->nests[i].store[s].value == value || to->window_of == value + 1)
                return p->nests[i].name;
        }
    return "rows of samples"; /* in whose room several nests' values lie */
}

int nest_read_instead(struct nest *n, int value, int instead)
{
    int count = 0;
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.value == value) {
            n->exprs[e].access.value = instead;
            count++;
        }
    return count;
}

void nest_change_indices(struct nest *n, affine_change *change, int axis, int32_t by)
{
    for (int i = 0; i < n->guards; i++)
        change(&n->guard[i].e, axis, by);
    for (int i = 0; i < n->expr_count; i++) {
        struct expr *e = &n->exprs[i];
        change(&e->index.e, axis, by);
        change(&e->access.address, axis, by);
        for (int k = 0; k < e->access.part_count; k++)
            change(&e->access.part[k].index.e, axis, by);
        for (int k = 0; k < e->guards; k++)
            change(&e->guard[k].e, axis, by);
    }
}

double nest_elements_read(const struct nest *n, const struct expr *e)
{
    double elements = e->kind == EXPR_LOAD;
    for (int a = 0; a < n->axes; a++)
        elements *= access_uses(&e->access, a) ? n->extent[a] : 1;
    return elements;
}

void nest_into_runs(struct nest *n, int axis, int32_t run)
{
    memmove(&n->extent[axis + 1], &n->extent[axis],
            (size_t)(NEST_AXES - 1 - axis) * sizeof *n->extent);
    n->extent[axis] = (n->extent[axis] + run - 1) / run;
    n->extent[axis + 1] = run;
    n->axes++;
    nest_change_indices(n, affine_into_runs, axis, run);
}

void nest_split_axis(struct nest *n, int axis, int32_t run)
{
    nest_into_runs(n, axis, run);
    for (int s = 0; s < n->stores; s++)
        affine_into_runs(&n->store[s].address, axis, run);
    n->out_axes++;
}
