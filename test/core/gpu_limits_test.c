/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of what the compiler may ask of GPUs that are not here: whole training steps, recorded on any device,
 * are compiled for GPUs of 8 to 304 units, and judged by nest_item_cost(). Nothing is built or run. A limit that is
 * not met any more fails; whoever improves the schedule lowers the table, and no limit may be raised without a
 * reason in CHANGES.md. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/item_cost.h"
#include "compile/kernel_plan.h"
#include "deep.h"
#include "error.h"
#include "figures.h"
#include "run/snapshot.h"
#include "timed.h"

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
    int narrow[TARGETS]; /* launches of fewer groups than there are units */
};
static const struct limits table[] = {
    { "mnist", 128, 20, 100, 2, 5, 9, { 1, 4, 9, 13 } },
    { "mnist", 1024, 22, 400, 9, 5, 6, { 2, 4, 7, 10 } },
    { "mnist", 8192, 27, 1152, 11, 5, 6, { 4, 2, 7, 7 } },
    { "resnet", 128, 148, 384, 41, 1, 4, { 2, 11, 44, 64 } },
    { "gpt", 32, 119, 512, 32, 66, 51, { 1, 4, 15, 15 } },
};

static const struct timed_network *network_named(const char *name)
{
    const struct timed_network *const lists[] = { timed_images, timed_rows };
    for (int i = 0; i < 2; i++)
        for (const struct timed_network *n = lists[i]; n->name != NULL; n++)
            if (strcmp(n->name, name) == 0)
                return n;
    cr_assert_fail("no network %s", name);
    return NULL;
}

/* ---- recording ------------------------------------------------------------------------------ */

static tarn_tensor zeros(tarn_replica *r, tarn_shape s, tarn_dtype dtype)
{
    void *data = calloc((size_t)tarn_shape_count(s), tarn_dtype_bytes(dtype));
    cr_assert_not_null(data);
    const tarn_tensor t = tarn_from(r, s, dtype, data);
    free(data);
    return t;
}

static void record(tarn_replica *r, const struct timed_network *n, int batch)
{
    tarn_shape x = n->x, y = n->y;
    x.dim[0] = batch;
    y.dim[0] = y.dim[0] / n->x.dim[0] * batch;
    const tarn_tensor in = tarn_batch_axis(zeros(r, x, n->words ? TARN_I32 : TARN_F32), 0);
    const tarn_tensor labels = zeros(r, y, TARN_I32);
    const tarn_tensor loss =
        n->loss != NULL ? n->loss(in, labels) : tarn_cross_entropy(n->forward(in), labels);
    tarn_backward(loss);
    tarn_optimizer_step(n->optimizer(r));
    cr_assert_eq(tarn_error_status(r), TARN_OK, "%s", tarn_error(r));
}

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
        j.narrow += kernel->groups > 0 && kernel->groups < units;
    }
    for (int i = 0; i < plan->ir->nest_count; i++)
        if (nest_is_code(&plan->ir->nests[i]))
            judge_nest(plan->ir, &plan->ir->nests[i], &j);
    return j;
}

struct compilation {
    const tarn_replica *r;
    struct target target;
    struct kernel_plan plan;
};

static tarn_status compile_step(void *arg)
{
    struct compilation *c = arg;
    struct snapshot s;
    tarn_status status = snapshot_take(c->r, NULL, 0, true, &s);
    if (status == TARN_OK)
        status = compile_program(&s.program, &c->target, &c->plan);
    snapshot_free(&s);
    return status;
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
    check_one(l, units, "launches of fewer groups than units", j->narrow, l->narrow[target]);
}

Test(gpu_limits, steps_keep_to_their_limits)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct compilation c = { .r = NULL };
        tarn_replica *r = tarn_open(NULL);
        cr_assert_not_null(r, "%s", tarn_error(NULL));
        c.r = r;
        record(r, network_named(table[i].network), table[i].batch);
        for (int t = 0; t < TARGETS; t++) {
            struct device_figures f;
            cr_assert(figures_kind("nvidia", &f));
            f.units = units_of[t];
            c.target = target_of(&f);
            cr_assert_eq(run_deep(compile_step, &c), TARN_OK, "%s", error_text());
            const struct judged j = judge(&c.plan, f.units);
            check(&table[i], t, &j);
            kernel_plan_free(&c.plan);
        }
        tarn_close(r);
    }
}
