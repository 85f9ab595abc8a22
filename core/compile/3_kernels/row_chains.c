/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of nests whose values are row-major, as those of [B, T, C] are. Each value's memory is cut into as many
 * equal runs as the batch has samples; a nest that has an axis along which it writes run by run is divided along
 * that axis, and one that reads what it needs of another's value from the same run can follow in the same kernel:
 * the group that does some samples of the one also does them of the other. In: nests, and in kernels. Out: the axis
 * of each that runs with others. It changes no order of a sum. */
#include "compile/3_kernels/divide.h"
#include "compile/3_kernels/fuse.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

/* Whether element `address` of a value lies in run i * runs / extent, where i is the index of an axis. */
static bool goes_by_runs(const struct program_ir *p, const struct nest *n, int value,
                         const struct affine *address, int load, int axis)
{
    const int64_t count = tarn_shape_count(p->values[value].shape);
    struct reads r;
    if (p->values[value].layout != LAYOUT_PLAIN || count == 0 || count % n->extent[axis] != 0)
        return false;
    const struct digit row = { (int32_t)(count / n->extent[axis]), n->extent[axis] };
    return find_reads(n, address, load, axis, row, &r) && r.times == 1 && r.below == 0 &&
           r.above == 0;
}

static bool stores_by_runs(const struct program_ir *p, const struct nest *n, int axis)
{
    for (int s = 0; s < n->stores; s++)
        if (n->store[s].in_block ||
            !goes_by_runs(p, n, n->store[s].value, &n->store[s].address, -1, axis))
            return false;
    return true;
}

int row_axis(const struct program_ir *p, const struct nest *n)
{
    const int runs = p->module->samples;
    if (!p->target->fuse || p->target->items || runs < 2 || n->kind != NEST_LOOPS || n->batched)
        return -1;
    for (int a = 0; a < n->out_axes; a++)
        if (n->extent[a] % runs == 0 && (a != nest_lane(n) || n->extent[a] / runs % LANES == 0) &&
            stores_by_runs(p, n, a))
            return a;
    return -1;
}

bool reads_own_rows(const struct program_ir *p, const struct nest *n, const struct expr *e)
{
    const struct access *x = &e->access;
    const int axis = placement_of(p, n)->row_axis;
    return axis >= 0 && !x->in_block && !x->samples && x->gather < 0 && x->part_count == 0 &&
           goes_by_runs(p, n, x->value, &x->address, (int)(e - n->exprs), axis);
}

bool passes_rows_on(const struct program_ir *p, const struct uses *u, const struct nest *n)
{
    for (int s = 0; s < n->stores; s++)
        for (int i = u->readers.begin[n->store[s].value];
             i < u->readers.begin[n->store[s].value + 1]; i++) {
            const struct nest *to = &p->nests[u->readers.nest[i]];
            for (int e = 0; !placement_of(p, to)->tiny && e < to->expr_count; e++)
                if (to->exprs[e].kind == EXPR_LOAD &&
                    to->exprs[e].access.value == n->store[s].value &&
                    reads_own_rows(p, to, &to->exprs[e]))
                    return true;
        }
    return false;
}

/* Whether some nest of the kernel reads what this one writes, or the other way round. */
static bool has_company(const struct program_ir *p, const struct uses *u, const struct nest *n)
{
    const int kernel = placement_of(p, n)->kernel;
    for (int s = 0; s < n->stores; s++)
        for (int i = u->readers.begin[n->store[s].value];
             i < u->readers.begin[n->store[s].value + 1]; i++)
            if (p->placements[u->readers.nest[i]].kernel == kernel)
                return true;
    for (int e = 0; e < n->expr_count; e++) {
        const int v = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
        for (int i = v < 0 ? 0 : u->writers.begin[v]; v >= 0 && i < u->writers.begin[v + 1]; i++)
            if (nest_is_code(&p->nests[u->writers.nest[i]]) &&
                p->placements[u->writers.nest[i]].kernel == kernel)
                return true;
    }
    return false;
}

void free_single_rows(struct program_ir *p, const struct uses *u)
{
    for (int i = 0; i < p->nest_count; i++)
        if (p->placements[i].row_axis >= 0 && !has_company(p, u, &p->nests[i]))
            p->placements[i].row_axis = -1;
}
