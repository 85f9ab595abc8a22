/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nests that only copy between the plain and the blocked layout. In: finished nests.
 * Out: nest.copy, by which the schedule may turn elements over in registers instead of loading
 * them one by one. */
#include "compile/2_nests/nest_passes.h"
#include "tensor/sum_order.h"

/* The first axis of those, up to the last, over which both addresses go from one element to the
 * next: as one run, however many axes it has. */
static struct copy_run find_run(const struct nest *n, const struct affine *a,
                                const struct affine *b)
{
    struct copy_run run = { .first = n->axes, .elements = 1 };
    for (int axis = n->axes - 1; axis >= 0 && axis != n->batch_axis; axis--) {
        if (n->extent[axis] > 1 && (a->k[axis] != run.elements || b->k[axis] != run.elements))
            break;
        run.elements *= n->extent[axis];
        run.first = axis;
    }
    return run;
}

static struct copy_run copy_of(const struct program_ir *p, const struct nest *n)
{
    const struct copy_run none = { 0 };
    if (n->kind != NEST_LOOPS || !nest_has_batch_lanes(n) || n->combine != COMBINE_NONE ||
        n->transformed || n->guards > 0 || n->stores != 1 || n->store[0].expr < 0)
        return none;
    const struct store *s = &n->store[0];
    const struct expr *e = &n->exprs[s->expr];
    if (e->kind != EXPR_LOAD || e->access.gather >= 0 || e->access.part_count > 0 ||
        e->access.in_block == s->in_block)
        return none;
    const tarn_dtype from = p->values[e->access.value].dtype, to = p->values[s->value].dtype;
    const struct copy_run run = find_run(n, &e->access.address, &s->address);
    return from == to && tarn_dtype_bytes(from) > 1 && run.elements >= LANES ? run : none;
}

void find_copies(struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++)
        p->nests[i].copy = copy_of(p, &p->nests[i]);
}
