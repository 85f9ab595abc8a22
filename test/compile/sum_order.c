/* SPDX-License-Identifier: Apache-2.0 */
/* What orders a sum, read off the nests of a plan: which axes are summed and in which order,
 * whether 16 lanes are added up by the tree and along which axis they lie, where they are cut into
 * chunks, and how many rows of partial sums there are. Tiles, orders of loops, groups and kernels may differ between targets;
 * this may not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "compile/chunk.h"

/* The summed axis, counted among them, whose terms are shared by the lanes; -1: none, the lanes are
 * other elements of the result. */
static int lanes_of_sum(const struct program_ir *p, const struct nest *n)
{
    const int lane = !n->part                  ? nest_vector_axis(n, schedule_of(p, n))
                     : nest_has_batch_lanes(n) ? n->batch_axis
                                               : nest_shared_axis(n);
    return lane >= n->out_axes ? lane - n->out_axes : -1;
}

static bool is_sum(const struct nest *n)
{
    return n->kind == NEST_LOOPS && (n->by == &combination_sum || n->combine == COMBINE_FMA) &&
           n->axes > n->out_axes;
}

static char *describe_sum(const struct program_ir *p, const struct nest *n)
{
    struct text out = { 0 };
    long long results = 1;
    for (int a = 0; a < n->out_axes; a++)
        results *= n->extent[a];
    text_add(&out, "%s: %lld sums over", n->name, results);
    for (int a = n->out_axes; a < n->axes; a++)
        text_add(&out, " %d", n->extent[a]);
    if (lanes_of_sum(p, n) >= 0)
        text_add(&out, ", 16 lanes along number %d", lanes_of_sum(p, n));
    if (n->partial)
        text_add(&out, ", %d rows of %d blocks", p->groups, p->blocks);
    if (n->by_sample)
        text_add(&out, ", sample by sample");
    for (int rest = 0; rest < 2; rest++) {
        const struct chunks c = nest_chunks(n, rest != 0);
        for (int k = 0; k < c.levels && (rest == 0 || nest_shared_axis(n) >= 0); k++)
            text_add(&out, "%s %d along number %d",
                     k > 0  ? ","
                     : rest ? ", rest by"
                            : ", by",
                     c.of[k].step, c.of[k].axis - n->out_axes);
    }
    text_add(&out, "\n");
    return out.failed ? NULL : out.data;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *sum_order_text(const struct kernel_plan *plan)
{
    const struct program_ir *p = plan->ir;
    char **lines = calloc((size_t)p->nest_count + 1, sizeof *lines);
    struct text out = { 0 };
    int count = 0;
    bool complete = lines != NULL;
    for (int i = 0; complete && i < p->nest_count; i++)
        if (is_sum(&p->nests[i]) && (!p->nests[i].part || p->nests[i].whole != NULL)) {
            const struct nest *n = p->nests[i].part ? p->nests[i].whole : &p->nests[i];
            lines[count] = describe_sum(p, n);
            complete = lines[count++] != NULL;
        }
    if (complete)
        qsort(lines, (size_t)count, sizeof *lines, by_text);
    text_add(&out, "%s", "");
    for (int i = 0; complete && i < count; i++)
        text_add(&out, "%s", lines[i]);
    for (int i = 0; lines != NULL && i < count; i++)
        free(lines[i]);
    free(lines);
    if (!complete || out.failed) {
        fprintf(stderr, "out of host memory\n");
        exit(2);
    }
    return out.data;
}
