/* SPDX-License-Identifier: Apache-2.0 */
/* Small sums that every group computes for itself. In: nests in kernels. Out: which of them are
 * replicated, and room for the copies. It changes no value: each copy is computed alike. */
#include "compile/3_kernels/fuse.h"
#include "tensor/sum_order.h"

static bool has_one_writer(const struct uses *u, int value)
{
    return u->writers.begin[value + 1] - u->writers.begin[value] == 1;
}

/* The only nest that writes a value, if it is a tiny one of kernel `kernel`; else NULL. */
static const struct nest *tiny_writer(const struct program_ir *p, const struct uses *u, int value,
                                      int kernel)
{
    const struct nest *n = &p->nests[u->writers.nest[u->writers.begin[value]]];
    return has_one_writer(u, value) && at(p, n)->tiny && at(p, n)->kernel == kernel ? n : NULL;
}

/* Whether every group of a batched section can compute the nest for itself, so that its readers
 * need not wait for another kernel: there is little to do, only this plan sees the result, and
 * what it reads is complete before the kernel begins, or replicable too. */
bool is_replicable(const struct program_ir *p, const struct uses *u, const struct progress *g,
                   const struct nest *n)
{
    if (n->kind != NEST_LOOPS || !at(p, n)->tiny || at(p, n)->once || !p->target->fuse ||
        p->module->batch == 0 || at(p, n)->work > p->target->fusion.replicated_work)
        return false;
    for (int s = 0; s < n->stores; s++)
        if (p->values[n->store[s].value].place != PLACE_ARENA ||
            !has_one_writer(u, n->store[s].value))
            return false;
    for (int e = 0; e < n->expr_count; e++) {
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        if (g->written[n->exprs[e].access.value][TINY] > at(p, n)->kernel)
            return false; /* in this very kernel, and not replicable */
    }
    return true;
}

/* Replicates what batched nests read in the kernel that computes it, and what that is made of. */
void replicate(struct program_ir *p, const struct uses *u)
{
    for (int i = p->nest_count - 1; i >= 0; i--) {
        const struct nest *n = &p->nests[i];
        for (int e = 0; (n->batched || at(p, n)->replicated) && e < n->expr_count; e++) {
            if (n->exprs[e].kind != EXPR_LOAD)
                continue;
            const struct nest *from = tiny_writer(p, u, n->exprs[e].access.value, at(p, n)->kernel);
            if (from == NULL || at(p, from)->replicated)
                continue;
            at(p, from)->replicated = true;
            for (int s = 0; s < from->stores; s++) {
                struct value *v = &p->values[from->store[s].value];
                v->copy_stride = ((int)tarn_shape_count(v->shape) + LANES - 1) / LANES * LANES;
                v->bytes = (size_t)v->copy_stride * (size_t)p->groups * tarn_dtype_bytes(v->dtype);
            }
        }
    }
}
