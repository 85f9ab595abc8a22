/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements of a value the parts of a block have. A part that does a slice of an OUT axis writes
 * and reads whole slices of memory where the axis is a digit of the address: element (hi * E + d) * S
 * + lo has digit d, E the axis' extent and S its stride. In: a nest, an address and an axis. Out: the
 * digits that belong to an index, whatever the other axes are. */
#include <string.h>

#include "compile/3_kernels/divide.h"

#define MARKED_MOST 1024 /* expressions of a nest */

/* Marks the expressions that are computed from `load`. What widen.c and halves.c put in between stands behind its
 * readers. */
static void mark_above(const struct nest *n, int load, bool *above)
{
    bool more = true;
    memset(above, 0, (size_t)n->expr_count * sizeof *above);
    above[load] = true;
    while (more) {
        more = false;
        for (int e = 0; e < n->expr_count; e++)
            for (int i = 0; i < n->exprs[e].args; i++)
                if (!above[e] && above[n->exprs[e].arg[i]])
                    above[e] = more = true;
    }
}

/* An address less what is known of it. */
struct remainder {
    struct affine rest;
    int64_t low, high; /* of what is taken away */
};

/* Takes a multiple of the guarded index away, which is in [0, extent) wherever the address counts. */
static void take_guard(const struct nest *n, const struct guard *g, int axis, struct remainder *r)
{
    if (g->divide != 1 || g->e.k[axis] != 0)
        return;
    for (int a = 0; a < n->axes; a++) {
        const int32_t k = g->e.k[a];
        if (k == 0 || r->rest.k[a] == 0 || r->rest.k[a] % k != 0)
            continue;
        const int32_t times = r->rest.k[a] / k;
        const int64_t most = (int64_t)times * (g->extent - 1);
        r->rest = affine_add_scaled(r->rest, g->e, -times);
        *(most < 0 ? &r->low : &r->high) += most;
        return;
    }
}

/* Those of the expressions that the load is for. */
static void take_guards_above(const struct nest *n, int load, int axis, struct remainder *r)
{
    bool above[MARKED_MOST];
    if (load < 0 || n->expr_count > MARKED_MOST)
        return;
    mark_above(n, load, above);
    for (int e = 0; e < n->expr_count; e++)
        for (int g = 0; n->exprs[e].kind == EXPR_GUARD && above[e] && g < n->exprs[e].guards; g++)
            take_guard(n, &n->exprs[e].guard[g], axis, r);
}

/* Splits what is left of an address into digits, those of indices apart from the constant one, and what is below them.
 * False where that has not room between two digits. */
static bool split_digits(const struct nest *n, struct remainder r, struct digit d,
                         struct reads *out, int64_t *constant)
{
    *out = (struct reads){ 0 };
    for (int a = 0; a < n->axes; a++) {
        const bool above = r.rest.k[a] % d.stride == 0;
        const int64_t most = (int64_t)r.rest.k[a] * (n->extent[a] - 1);
        if (above)
            *(most < 0 ? &out->below : &out->above) += (int)(most / d.stride);
        else
            *(most < 0 ? &r.low : &r.high) += most;
    }
    const int64_t rest = (r.rest.constant % d.stride + d.stride) % d.stride;
    *constant = (r.rest.constant - rest) / d.stride;
    return rest + r.low >= 0 && rest + r.high < d.stride;
}

/* Whether a guard holds the digit's part of an address, times * i + ..., within the digit's extent. */
static bool is_held(const struct nest *n, const struct affine *address, const struct guard *g,
                    int axis, int times, struct digit d)
{
    const int64_t whole = (int64_t)d.stride * d.extent;
    const int32_t k = g->e.k[axis];
    if (g->divide != 1 || k <= 0 || times % k != 0 ||
        (int64_t)(times / k) * (g->extent - 1) >= d.extent)
        return false;
    const int64_t each = (int64_t)(times / k) * d.stride;
    for (int a = 0; a < n->axes; a++) {
        const bool counts = address->k[a] % whole != 0 && address->k[a] % d.stride == 0;
        if (each * g->e.k[a] != (counts ? address->k[a] : 0))
            return false;
    }
    const int64_t rest = (address->constant - each * g->e.constant) % whole;
    return rest > -d.stride && rest < d.stride;
}

static void shift(struct reads *r, int by)
{
    r->below += by;
    r->above += by;
}

/* The constant digit, too, is that of the guard, but for multiples of the extent, which are what it adds above. */
static bool shift_as_held(const struct nest *n, const struct affine *address, const struct guard *g,
                          int axis, struct digit d, int64_t constant, struct reads *r)
{
    if (!is_held(n, address, g, axis, r->times, d))
        return false;
    const int by = r->times / g->e.k[axis] * g->e.constant;
    if ((constant - by) % d.extent != 0)
        return false;
    shift(r, by);
    return true;
}

/* Whether the digit counts up with the axis from its first index to its last. Beyond the extent it begins again, with
 * the next `hi`: then a slice of the axis is no slice of digits. Brings the constant digit in. */
static bool counts_up(const struct nest *n, const struct affine *address, int load, int axis,
                      struct digit d, int64_t constant, struct reads *r)
{
    bool above[MARKED_MOST];
    const int first = (int)((constant % d.extent + d.extent) % d.extent);
    if (r->below + first >= 0 &&
        (int64_t)r->times * (n->extent[axis] - 1) + r->above + first < d.extent) {
        shift(r, first);
        return true;
    }
    for (int g = 0; g < n->guards; g++)
        if (shift_as_held(n, address, &n->guard[g], axis, d, constant, r))
            return true;
    if (load < 0 || n->expr_count > MARKED_MOST)
        return false;
    mark_above(n, load, above);
    for (int e = 0; e < n->expr_count; e++)
        for (int g = 0; n->exprs[e].kind == EXPR_GUARD && above[e] && g < n->exprs[e].guards; g++)
            if (shift_as_held(n, address, &n->exprs[e].guard[g], axis, d, constant, r))
                return true;
    return false;
}

bool find_reads(const struct nest *n, const struct affine *address, int load, int axis,
                struct digit d, struct reads *out)
{
    const int64_t whole = (int64_t)d.stride * d.extent;
    const int times = d.stride > 0 ? address->k[axis] / d.stride : 0;
    struct remainder r = { .rest = *address };
    if (times < 1 || address->k[axis] % d.stride != 0)
        return false;
    r.rest.k[axis] = 0;
    for (int a = 0; a < n->axes; a++)
        if (r.rest.k[a] % whole == 0)
            r.rest.k[a] = 0; /* it changes what is above the digit */
    int64_t constant;
    bool found = split_digits(n, r, d, out, &constant);
    if (!found) {
        for (int g = 0; g < n->guards; g++)
            take_guard(n, &n->guard[g], axis, &r);
        take_guards_above(n, load, axis, &r);
        found = split_digits(n, r, d, out, &constant);
    }
    out->times = times;
    return found && counts_up(n, address, load, axis, d, constant, out);
}

bool axis_is_digit(const struct nest *n, const struct affine *address, int load, int axis)
{
    struct reads r;
    const struct digit d = { address->k[axis], n->extent[axis] };
    return find_reads(n, address, load, axis, d, &r) && r.times == 1 && r.below == 0 &&
           r.above == 0;
}

bool slices_agree(const struct nest *from, const struct store *s, int from_axis,
                  const struct nest *to, int load, int to_axis)
{
    const struct access *read = &to->exprs[load].access;
    const int64_t written = (int64_t)s->address.k[from_axis] * from->extent[from_axis];
    return read->gather < 0 && read->part_count == 0 && read->in_block == s->in_block &&
           written == (int64_t)read->address.k[to_axis] * to->extent[to_axis] &&
           axis_is_digit(from, &s->address, -1, from_axis) &&
           axis_is_digit(to, &read->address, load, to_axis);
}

bool is_unrolled(const struct nest *n, int axis)
{
    for (int i = 0; n->transformed && i < n->expr_count; i++) {
        const struct expr *e = &n->exprs[i];
        if (e->kind == EXPR_TRANSFORM && e->index.e.k[axis] != 0)
            return true;
        for (int g = 0; e->kind == EXPR_GUARD && g < e->guards; g++)
            if (e->guard[g].e.k[axis] != 0)
                return true;
    }
    return false;
}

/* The last axis with a guard is unrolled where that decides it. */
static bool is_guarded_last(const struct nest *n, int axis)
{
    int last = -1;
    for (int g = 0; n->combine == COMBINE_FMA && g < n->guards; g++)
        for (int a = 0; a < n->out_axes; a++)
            if (n->guard[g].e.k[a] != 0 && a > last)
                last = a;
    return axis == last;
}

bool can_divide(const struct nest *n, int axis)
{
    return axis < n->out_axes && axis != n->batch_axis && n->extent[axis] > 1 &&
           !(n->by_sample && axis == n->sample_lane) && !is_unrolled(n, axis) &&
           !is_guarded_last(n, axis);
}

int slice_grain(int extent, int parts)
{
    const int least = (extent + parts - 1) / parts;
    int grain = 1;
    for (int g = 2; g <= least; g++)
        if (extent % g == 0 && 10 * longest_slice(extent, g, parts) <= 11 * least)
            grain = g;
    return grain;
}

int longest_slice(int extent, int grain, int parts)
{
    const int pieces = extent / grain;
    return (pieces + parts - 1) / parts * grain;
}
