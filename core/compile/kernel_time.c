/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up what the cost models say of a kernel's nests, each for the unit that has most of it to do. In: a kernel of a
 * scheduled program, and its operations and bytes. Out: seconds, and what most of them are for. Changes nothing. */
#include "compile/kernel_time.h"

#include <math.h>

#include "compile/item_cost.h"
#include "compile/sum_cost.h"
#include "tensor/sum_order.h"

/* Cycles of a unit, by what they are for. */
struct cycles {
    double of[KERNEL_BOUNDS];
};

const char *kernel_bound_name(enum kernel_bound bound)
{
    static const char *const names[] = { [BOUND_ARITHMETIC] = "arithmetic",
                                         [BOUND_LOADS] = "loads",
                                         [BOUND_CACHES] = "caches",
                                         [BOUND_MEMORY] = "memory",
                                         [BOUND_LAUNCH] = "launch" };
    return names[bound];
}

/* ---- vectors -------------------------------------------------------------------------------- */

static double units_of(const struct program_ir *p)
{
    const int units = p->target->items ? p->target->item.units : p->target->vector.units;
    return units < 1 ? 1 : units;
}

/* The share of a nest's work that the unit with most of it does. */
static double longest_share(const struct program_ir *p, const struct nest *n)
{
    const struct placement *at = placement_of(p, n);
    const double units = units_of(p), parts = kernel_parts(p, at->kernel);
    if (at->tiny)
        return 1;
    if (at->replicated)
        return ceil(p->groups * parts / units);
    if (!n->batched) {
        const double groups = schedule_of(p, n)->groups;
        return groups <= 1 ? 1 : ceil(groups / units) / groups;
    }
    const double blocks = p->blocks, groups = kernel_workers(p, at->kernel) > 0
                                                  ? kernel_workers(p, at->kernel)
                                                  : p->groups * (at->first_part ? 1 : parts);
    const double each = ceil(blocks / fmin(groups, p->groups)) / blocks;
    return fmin(1, ceil(groups / units) * each / (at->part_axis >= 0 ? parts : 1));
}

/* Of its sums, each over 16 lanes: blocks of samples, or pieces of the axis that is the vector. */
static double sums(const struct program_ir *p, const struct nest *n)
{
    const int lane = nest_vector_axis(n, schedule_of(p, n));
    return n->batched ? p->blocks : lane >= 0 ? ceil((double)n->extent[lane] / LANES) : 1;
}

static struct cycles core_cycles(const struct program_ir *p, const struct nest *n)
{
    struct cycles c = { { 0 } };
    if (n->kind == NEST_PRODUCT) {
        c.of[BOUND_ARITHMETIC] = product_cycles(p->target, &n->product.shape) / units_of(p);
        c.of[BOUND_LAUNCH] = p->target->time.launch_seconds * p->target->time.cycles_per_second;
    } else if (n->combine == COMBINE_FMA) {
        const struct sum_cycles sum = sum_cycles(p->target, n, schedule_of(p, n));
        const double times = sums(p, n) * longest_share(p, n);
        c.of[sum.by_loads ? BOUND_LOADS : BOUND_ARITHMETIC] = times * sum.body;
        c.of[BOUND_CACHES] = times * sum.waiting;
    } else if (n->kind != NEST_HOST) {
        c.of[BOUND_ARITHMETIC] = placement_of(p, n)->work * longest_share(p, n);
    }
    return c;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Whether a value comes from behind the second caches, or goes there: what stays within the kernel and a block of
 * samples if there is no room for a block of it, all else if the kernel touches more than all these caches hold. */
static bool is_far(const struct program_ir *p, int kernel, const struct value *v, double crossing)
{
    const double room = p->target->vector.second_cache_bytes;
    const bool inner = v->place == PLACE_ARENA && v->first == kernel && v->last == kernel;
    if (v->place == PLACE_SCRATCH)
        return false;
    if (!inner)
        return crossing > units_of(p) * room;
    if (v->layout != LAYOUT_BLOCKED)
        return (double)v->bytes > units_of(p) * room;
    return (double)v->bytes / (v->worker_stride > 0 ? kernel_workers(p, kernel) : p->blocks) > room;
}

static bool loaded_before(const struct nest *n, int expr)
{
    for (int e = 0; e < expr; e++)
        if (n->exprs[e].kind == EXPR_LOAD &&
            n->exprs[e].access.value == n->exprs[expr].access.value)
            return true;
    return false;
}

static double memory_cycles(const struct program_ir *p, const struct nest *n, double crossing)
{
    const int kernel = placement_of(p, n)->kernel;
    const struct time_figures *f = &p->target->time;
    double cycles = 0;
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind == EXPR_LOAD && !loaded_before(n, e) &&
            is_far(p, kernel, &p->values[x->value], crossing))
            cycles += load_bytes(p, n, x) / 64 * f->read_cycles;
    }
    for (int s = 0; s < n->stores; s++)
        if (is_far(p, kernel, &p->values[n->store[s].value], crossing))
            cycles += store_bytes(p, n, &n->store[s]) / 64 * f->write_cycles;
    return cycles * (n->kind == NEST_PRODUCT ? 1 / units_of(p) : longest_share(p, n));
}

static double all_of(const struct cycles *c)
{
    double sum = 0;
    for (int b = 0; b < KERNEL_BOUNDS; b++)
        sum += c->of[b];
    return sum;
}

/* What comes from memory comes while a core computes. */
static struct cycles nest_cycles(const struct program_ir *p, const struct nest *n, double crossing)
{
    struct cycles c = core_cycles(p, n);
    const double memory = memory_cycles(p, n, crossing);
    if (memory <= all_of(&c))
        return c;
    c = (struct cycles){ { 0 } };
    c.of[BOUND_MEMORY] = memory;
    return c;
}

/* ---- work-items ----------------------------------------------------------------------------- */

/* Memory, arithmetic and waiting for loads go on at the same time. */
static struct cycles item_cycles(const struct program_ir *p, int kernel, const struct cost *cost)
{
    const struct item_figures *f = &p->target->item;
    struct cycles c = { { 0 } };
    double groups = 1, waiting = 0;
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct nest *n = &p->nests[*r.at];
        if (!nest_is_code(n))
            continue;
        const double teams = (double)schedule_of(p, n)->groups * p->group_size / LANES;
        const double rounds = n->kind == NEST_LOOPS ? nest_item_rounds(p, n) : n->routine.cycles;
        groups = fmax(groups, schedule_of(p, n)->groups);
        waiting += f->round_cycles * rounds *
                   ceil(teams / fmax(1, units_of(p) * (double)f->resident_teams));
    }
    c.of[BOUND_ARITHMETIC] =
        cost->flops / 2 / p->target->time.term_rate / fmin(units_of(p), groups);
    c.of[BOUND_LOADS] = waiting;
    c.of[BOUND_MEMORY] = cost->bytes / 64 * p->target->time.read_cycles / units_of(p);
    return c;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static struct cycles vector_cycles(const struct program_ir *p, int kernel, double crossing)
{
    struct cycles all = { { 0 } };
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct cycles c = nest_cycles(p, &p->nests[*r.at], crossing);
        for (int b = 0; b < KERNEL_BOUNDS; b++)
            all.of[b] += c.of[b];
    }
    return all;
}

struct kernel_time kernel_time(const struct program_ir *p, int kernel, const struct cost *cost)
{
    const struct time_figures *f = &p->target->time;
    struct cycles c =
        p->target->items ? item_cycles(p, kernel, cost) : vector_cycles(p, kernel, cost->bytes);
    double sum = 0, most = 0;
    struct kernel_time out = { .bound = BOUND_ARITHMETIC };
    for (int b = 0; b < KERNEL_BOUNDS; b++) {
        sum += c.of[b];
        if (c.of[b] > most)
            out.bound = (enum kernel_bound)b;
        most = fmax(most, c.of[b]);
    }
    const double busy = (p->target->items ? most : sum) / f->cycles_per_second;
    if (busy < f->launch_seconds)
        out.bound = BOUND_LAUNCH;
    out.seconds = busy + f->launch_seconds;
    return out;
}
