/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of what the compiler may ask of GPUs that are not here: whole training steps, recorded on any device,
 * are compiled for GPUs of 8 to 304 units, and judged by nest_item_cost(). Nothing is built or run. A limit that is
 * not met any more fails; whoever improves the schedule lowers the table, and no limit may be raised without a
 * reason in CHANGES.md. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "compile/item_cost.h"
#include "figures.h"
#include "recorded.h"

enum { TARGETS = 4 };
static const int units_of[TARGETS] = { 8, 40, 132, 304 };

/* What a nest should keep to: rounds of loops that wait for each other; sectors of a request, where floats side by side
 * are 4 and a request may begin anywhere; loads of a contraction for each multiply-add, of which a unit does one beside
 * four of these. */
static const double most_chain = 64, most_sectors = 4.6, most_loads = 1;

/* What a step may come to, with whichever of the targets is the worst: what is not met yet. */
struct limits {
    const char *network;
    int batch, launches;
    double chain;        /* the longest */
    int chains;          /* nests above most_chain; */
    int scattered;       /* above most_sectors, but for those that only turn a layout; */
    int loading;         /* above most_loads */
    int narrow[TARGETS]; /* launches of fewer groups than nine tenths of the units */
};
static const struct limits table[] = {
    { "mnist", 128, 20, 100, 1, 7, 9, { 1, 2, 8, 12 } },
    { "mnist", 1024, 24, 360, 4, 7, 6, { 2, 4, 6, 9 } },
    { "mnist", 8192, 31, 1536, 5, 8, 4, { 5, 2, 4, 7 } },
    { "resnet", 128, 153, 512, 49, 17, 3, { 2, 17, 42, 63 } },
    { "gpt", 32, 121, 544, 24, 62, 51, { 1, 4, 5, 14 } },
};

/* ---- judging -------------------------------------------------------------------------------- */

struct judged {
    int launches, narrow, chains, scattered, loading;
    double chain;
    const char *longest;
};

static void judge_nest(const struct program_ir *p, const struct nest *n, struct judged *j)
{
    const struct item_cost c = nest_item_cost(p, n);
    j->chains += c.chain > most_chain;
    j->scattered +=
        n->copy.elements == 0 && (c.read.mean > most_sectors || c.written.mean > most_sectors);
    j->loading += n->combine == COMBINE_FMA && c.loads > most_loads;
    if (c.chain > j->chain) {
        j->chain = c.chain;
        j->longest = n->name;
    }
}

static struct judged judge(const struct kernel_plan *plan, int units)
{
    struct judged j = { .longest = "" };
    for (int k = 0; k < plan->kernel_count; k++) {
        const struct planned_kernel *kernel = &plan->kernels[k];
        j.launches += (kernel->groups > 0) + kernel->product_count;
        j.narrow += kernel->groups > 0 && 10 * kernel->groups < 9 * units;
    }
    for (int i = 0; i < plan->ir->nest_count; i++)
        if (nest_is_code(&plan->ir->nests[i]))
            judge_nest(plan->ir, &plan->ir->nests[i], &j);
    return j;
}

static void check_one(const struct limits *l, int units, const char *what, double is, double may_be)
{
    cr_expect_leq(is, may_be, "%s at %d for %d units: %s %g, may be %g", l->network, l->batch,
                  units, what, is, may_be);
}

static void check(const struct limits *l, int target, const struct judged *j)
{
    const int units = units_of[target];
    printf("%s at %d for %d units: %d launches, chain %g (%s), %d chains, %d scattered, %d "
           "loading, %d narrow\n",
           l->network, l->batch, units, j->launches, j->chain, j->longest, j->chains, j->scattered,
           j->loading, j->narrow);
    check_one(l, units, "launches", j->launches, l->launches);
    check_one(l, units, "rounds of the longest chain", j->chain, l->chain);
    check_one(l, units, "nests of long chains", j->chains, l->chains);
    check_one(l, units, "nests of scattered accesses", j->scattered, l->scattered);
    check_one(l, units, "contractions of many loads", j->loading, l->loading);
    check_one(l, units, "launches of fewer groups than nine tenths of the units", j->narrow,
              l->narrow[target]);
}

Test(gpu_limits, steps_keep_to_their_limits)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        tarn_replica *r = tarn_open(NULL);
        cr_assert_not_null(r, "%s", tarn_error(NULL));
        const struct timed_network *n = timed_find(table[i].network);
        cr_assert_not_null(n, "no network %s", table[i].network);
        recorded_step(r, n, table[i].batch);
        for (int t = 0; t < TARGETS; t++) {
            struct device_figures f;
            struct kernel_plan plan;
            cr_assert(figures_kind("nvidia", &f));
            f.units = units_of[t];
            const struct target target = target_of(&f);
            recorded_compile(r, &target, &plan);
            const struct judged j = judge(&plan, f.units);
            check(&table[i], t, &j);
            kernel_plan_free(&plan);
        }
        tarn_close(r);
    }
}
