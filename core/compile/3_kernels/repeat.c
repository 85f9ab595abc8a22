/* SPDX-License-Identifier: Apache-2.0 */
/* Whether one launch can do all steps of a loop. In: placements of a loop's body. Out: yes, where each group reads of
 * the step before only what it wrote itself: groups then need not wait for each other between steps. It changes no
 * value. */
#include "compile/3_kernels/fuse.h"

static bool is_carried(const struct program_ir *p, int value)
{
    const struct value *v = &p->values[value];
    return v->place == PLACE_OWNED && p->module->program->storage[v->slot].carried;
}

/* Whether a group writes the rows of its own samples, and no others. */
static bool writes_own_samples(const struct program_ir *p, const struct nest *n,
                               const struct store *s)
{
    const int64_t row = tarn_shape_count(p->values[s->value].shape) / p->module->batch;
    return n->batched && !n->partial && p->values[s->value].shape.dim[0] == p->module->batch &&
           s->address.k[n->batch_axis] == row;
}

static bool keeps_to_samples(const struct program_ir *p, const struct nest *n)
{
    for (int s = 0; s < n->stores; s++)
        if (is_carried(p, n->store[s].value) && !writes_own_samples(p, n, &n->store[s]))
            return false;
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && is_carried(p, n->exprs[e].access.value) &&
            !(n->batched && n->exprs[e].access.samples))
            return false;
    return true;
}

bool can_repeat(const struct program_ir *p)
{
    if (!p->module->program->looped || p->target->items || p->kernel_count != 1 ||
        kernel_parts(p, 0) > 1)
        return false;
    bool one_group = true, apart = p->module->batch > 0;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (!nest_is_code(n))
            return false;
        one_group &= at(p, n)->section == 1;
        apart &= at(p, n)->section == 0 && keeps_to_samples(p, n);
    }
    return one_group || apart;
}
