/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop does in each step. What captured tensors alone are made into, such as a weight turned over, is the same
 * in all steps: the first kernels make it, once. So is what parameters alone are made into in evaluation, run after run. And one launch can do all steps of the rest, where each group reads of
 * the step before only what it wrote itself: groups then need not wait for each other between steps. In: nests of a
 * loop's body. Out: which are for all steps, and whether one launch does the others. It changes no value. */
#include "compile/3_kernels/fuse.h"

/* ---- once for all steps --------------------------------------------------------------------- */

static bool is_captured(const struct program_ir *p, int value)
{
    const struct value *v = &p->values[value];
    return v->place == PLACE_OWNED && p->module->program->storage[v->slot].captured;
}

static bool is_fixed(const struct program_ir *p, int value)
{
    const struct value *v = &p->values[value];
    return v->place == PLACE_OWNED && p->module->program->storage[v->slot].fixed;
}

static bool writes_temporaries(const struct program_ir *p, const struct nest *n)
{
    for (int s = 0; s < n->stores; s++)
        if (p->values[n->store[s].value].place != PLACE_ARENA)
            return false;
    return n->kind == NEST_LOOPS && !n->batched;
}

/* A temporary that the other steps gain more by than a launch costs. */
static bool is_once_of_loop(const struct program_ir *p, const struct nest *n)
{
    const double again = p->module->program->steps - 1.0;
    if (!writes_temporaries(p, n) || at(p, n)->work * again <= p->target->fusion.tiny_work)
        return false;
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_RAND ||
            (n->exprs[e].kind == EXPR_LOAD && !is_captured(p, n->exprs[e].access.value)))
            return false;
    return true;
}

/* Whether all that writes a value, something at least, is once. */
static bool is_written_once(const struct program_ir *p, const struct uses *u, int value)
{
    const int begin = u->writers.begin[value], end = u->writers.begin[value + 1];
    for (int i = begin; i < end; i++)
        if (!p->placements[u->writers.nest[i]].once)
            return false;
    return begin < end;
}

static bool may_be_once(const struct nest *n)
{
    for (int e = 0; e < n->expr_count; e++) {
        const enum expr_kind kind = n->exprs[e].kind;
        if (kind == EXPR_RAND || kind == EXPR_NUMBER)
            return false;
    }
    return true;
}

/* What is made of fixed tensors and of constants alone, provided that nothing else writes there. */
static bool is_once_of_runs(const struct program_ir *p, const struct uses *u, const struct nest *n)
{
    for (int e = 0; e < n->expr_count; e++) {
        const int value = n->exprs[e].access.value;
        if (n->exprs[e].kind == EXPR_LOAD && !is_fixed(p, value) &&
            (p->values[value].place != PLACE_ARENA || !is_written_once(p, u, value)))
            return false;
    }
    for (int s = 0; s < n->stores; s++)
        if (!is_written_once(p, u, n->store[s].value))
            return false;
    return true;
}

/* Takes back what waits for something else, until all that is left does not. */
static void find_once_of_runs(struct program_ir *p, const struct uses *u)
{
    double work = 0;
    for (int i = 0; i < p->nest_count; i++)
        p->placements[i].once = writes_temporaries(p, &p->nests[i]) && may_be_once(&p->nests[i]);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < p->nest_count; i++)
            if (p->placements[i].once && !is_once_of_runs(p, u, &p->nests[i])) {
                p->placements[i].once = false;
                changed = true;
            }
    }
    for (int i = 0; i < p->nest_count; i++)
        work += p->placements[i].once ? p->placements[i].work : 0;
    /* A run in which it is made again has a launch more: that is worth it for the eighth run that has not. */
    for (int i = 0; i < p->nest_count; i++)
        p->placements[i].once &= 8 * work > p->target->fusion.tiny_work;
    for (int i = 0; i < p->nest_count; i++)
        for (int s = 0; p->placements[i].once && s < p->nests[i].stores; s++)
            p->values[p->nests[i].store[s].value].kept = true;
}

static bool has_fixed(const struct program_ir *p)
{
    for (int v = 0; v < p->value_count; v++)
        if (is_fixed(p, v))
            return true;
    return false;
}

void find_once(struct program_ir *p, const struct uses *u)
{
    const uint32_t steps = p->module->program->steps;
    if (!p->target->fuse)
        return;
    for (int i = 0; steps > 1 && i < p->nest_count; i++)
        p->placements[i].once = is_once_of_loop(p, &p->nests[i]);
    if (steps == 0 && has_fixed(p))
        find_once_of_runs(p, u);
    for (int i = 0; i < p->nest_count; i++)
        p->placements[i].row_axis = p->placements[i].once ? -1 : p->placements[i].row_axis;
}

/* ---- all steps in one launch ---------------------------------------------------------------- */

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

/* Whether the steps write a value, rather than find it there. */
static bool is_written(const struct program_ir *p, const struct uses *u, int value)
{
    const int *at = &u->writers.nest[u->writers.begin[value]];
    for (const int *end = &u->writers.nest[u->writers.begin[value + 1]]; at < end; at++)
        if (!p->placements[*at].once)
            return true;
    return is_carried(p, value);
}

static bool keeps_to_rows(const struct program_ir *p, const struct uses *u, const struct nest *n)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && is_written(p, u, n->exprs[e].access.value) &&
            !reads_own_rows(p, n, &n->exprs[e]))
            return false;
    return nest_is_code(n) && at(p, n)->row_axis >= 0;
}

bool share_rows_of_loop(struct program_ir *p, const struct uses *u)
{
    bool by_rows = p->module->program->steps > 0;
    for (int i = 0; by_rows && i < p->nest_count; i++)
        by_rows = p->placements[i].once || keeps_to_rows(p, u, &p->nests[i]);
    for (int i = 0; by_rows && i < p->nest_count; i++)
        p->placements[i].tiny &= p->placements[i].once;
    return by_rows;
}

bool can_repeat(const struct program_ir *p, const struct uses *u)
{
    if (p->module->program->steps == 0 || p->target->items || p->kernel_count != p->once + 1 ||
        kernel_parts(p, p->once) > 1)
        return false;
    bool one_group = true, apart = p->module->batch > 0, by_rows = true;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (!nest_is_code(n))
            return false;
        if (at(p, n)->kernel < p->once)
            continue;
        one_group &= at(p, n)->section == 1;
        apart &= at(p, n)->section == 0 && keeps_to_samples(p, n);
        by_rows &= at(p, n)->section == 2 && keeps_to_rows(p, u, n);
    }
    return one_group || apart || by_rows;
}
