/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of a sum. Those of a long one are cut into chunks: accumulators begin anew in each, and
 * running sums take what they come to. In: a nest, and where its sum is cut. Out: heads and ends of
 * loops. */

#include "compile/6_source/print.h"

#define MOST_AT_ONCE 16 /* running sums that are read from memory */

static const char *vector_type(const struct printer *pr)
{
    return register_name(pr->n->acc_dtype, pr->width);
}

/* What the sums of chunks of a level are added to, all points of the tile. */
static void declare_running(struct printer *pr, int level)
{
    const char *type = vector_type(pr);
    const int points = tile_points(pr, 0, pr->n->out_axes);
    if (pr->s->far_sums) {
        /* Volatile, or compilers would look for registers. */
        print_line(pr, "volatile %s sum%d[%d];", type, level, points);
        print_line(pr, "for (int i = 0; i < %d; ++i)", points);
        print_line(pr, "    sum%d[i] = %s;", level, identity(pr->n));
        return;
    }
    for (int i = 0; i < points; i++)
        print_line(pr, "%s sum%d_%d = (%s)(%s);", type, level, i, type, identity(pr->n));
}

/* A name of the running sum of a point. */
static struct short_text running(const struct printer *pr, int level, int point)
{
    struct short_text t;
    text_fill(t.text, sizeof t.text, pr->s->far_sums ? "sum%d[%d]" : "sum%d_%d", level, point);
    return t;
}

/* Adds what a chunk came to, `from` level 0 on another chunk's running sums, else accumulators. Those in memory come several
 * at once: what is volatile keeps its order. */
static void add_chunk(struct printer *pr, int level)
{
    const int points = tile_points(pr, 0, pr->n->out_axes);
    const char *type = vector_type(pr);
    for (int first = 0; first < points; first += MOST_AT_ONCE) {
        const int end = first + MOST_AT_ONCE < points ? first + MOST_AT_ONCE : points;
        for (int i = first; i < end && pr->s->far_sums; i++)
            print_line(pr, "const %s before%d_%d = %s;", type, level, i,
                       running(pr, level, i).text);
        for (int i = first; i < end; i++) {
            struct short_text chunk = { "" };
            if (level > 0)
                chunk = running(pr, level - 1, i);
            else
                text_fill(chunk.text, sizeof chunk.text, "acc%d", i);
            if (pr->s->far_sums)
                print_line(pr, "%s = before%d_%d + %s;", running(pr, level, i).text, level, i,
                           chunk.text);
            else
                print_line(pr, "%s += %s;", running(pr, level, i).text, chunk.text);
        }
    }
}

struct loop_range loop_range(const struct printer *pr, int axis)
{
    const struct sum_loops *l = pr->sum;
    struct loop_range r;
    if (l != NULL && l->cut_axis == axis) {
        text_fill(r.from, sizeof r.from, "cut%d", l->cut_level);
        text_fill(r.to, sizeof r.to, "end%d", l->cut_level);
        return r;
    }
    const struct span s =
        l == NULL ? (struct span){ 0, pr->n->extent[axis] } : nest_span(pr->n, axis, l->rest);
    text_fill(r.from, sizeof r.from, "%d", s.from);
    text_fill(r.to, sizeof r.to, "%d", s.to);
    return r;
}

void sum_begin(struct printer *pr, struct sum_loops *l, bool rest, const char *index)
{
    *l = (struct sum_loops){ .c = nest_chunks(pr->n, rest), .index = index, .rest = rest };
    l->cut_axis = -1;
    pr->sum = l;
    if (l->c.levels == 0)
        return;
    print_line(pr, "{");
    pr->indent++;
    declare_running(pr, l->c.levels - 1);
}

static void open_chunk(struct printer *pr, struct sum_loops *l, int level)
{
    const int axis = l->c.of[level].axis, step = l->c.of[level].step;
    const struct loop_range r = loop_range(pr, axis);
    const struct span s = nest_span(pr->n, axis, l->rest);
    print_for(pr, "for (%s cut%d = %s; cut%d < %s; cut%d += %d) {", l->index, level, r.from, level,
              r.to, level, step);
    if ((s.to - s.from) % step == 0)
        print_line(pr, "const %s end%d = cut%d + %d;", l->index, level, level, step);
    else
        print_line(pr, "const %s end%d = min(cut%d + %d, (%s)%s);", l->index, level, level, step,
                   l->index, r.to);
    if (level > 0)
        declare_running(pr, level - 1);
    else
        for (int i = 0; i < tile_points(pr, 0, pr->n->out_axes); i++)
            print_line(pr, "acc%d = (%s)(%s);", i, vector_type(pr), identity(pr->n));
    l->cut_axis = axis;
    l->cut_level = level;
    l->level[l->loops++] = level;
}

void sum_cut(struct printer *pr, struct sum_loops *l, int axis)
{
    for (int level = l->c.levels - 1; level >= 0; level--)
        if (l->c.of[level].axis == axis)
            open_chunk(pr, l, level);
}

void sum_opened(struct sum_loops *l, int loops)
{
    for (; loops > 0; loops--)
        l->level[l->loops++] = -1;
}

void sum_end(struct printer *pr, struct sum_loops *l)
{
    const int points = tile_points(pr, 0, pr->n->out_axes);
    while (l->loops > 0) {
        const int level = l->level[--l->loops];
        if (level >= 0 && level < CHUNK_LEVELS)
            add_chunk(pr, level);
        if (level == CHUNK_LEVELS)
            print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);"); /* panels are filled again */
        close_loops(pr, 1);
    }
    pr->sum = NULL;
    if (l->c.levels == 0)
        return;
    for (int i = 0; i < points; i++)
        print_line(pr, "acc%d = %s;", i, running(pr, l->c.levels - 1, i).text);
    close_loops(pr, 1);
}
