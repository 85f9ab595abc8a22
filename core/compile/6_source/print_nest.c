/* SPDX-License-Identifier: Apache-2.0 */
/* Nests as OpenCL C: loops, register tiles and stores around the expressions and sums. In: a
 * scheduled nest. Out: its code. Decides nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compile/4_schedule/schedule.h"
#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

/* ---- stores --------------------------------------------------------------------------------- */

static void store_lanes(struct printer *pr, const struct store *s, const char *address, int k,
                        const char *v)
{
    const bool tail = nest_has_batch_lanes(pr->n) && pr->tail;
    for (int i = 0; i < LANES; i++) {
        char guard[NAME] = "";
        if (tail)
            text_fill(guard, sizeof guard, "if (16 * b + %d < %d) ", i,
                      pr->n->extent[pr->n->batch_axis]);
        if (tail)
            print_line(pr, "%sv%d[%s + %d * (16 * b + %d)] = %s.s%x;", guard, s->value, address, k,
                       i, v, (unsigned)i);
        else
            print_line(pr, "v%d[%s + %d] = %s.s%x;", s->value, address, i * k, v, (unsigned)i);
    }
}

static void print_store(struct printer *pr, const struct store *s, const char *value_name)
{
    const struct value *v = &pr->p->values[s->value];
    const bool narrow = tarn_dtype_bytes(v->dtype) < sizeof(int32_t);
    char value[2 * NAME];
    text_fill(value, sizeof value,
              !narrow || pr->width == 1 ? "%s"
              : v->dtype == TARN_U8     ? "TARN_CONVERT(uchar16, %s)"
                                        : "TARN_CONVERT(ushort16, %s)",
              value_name);
    struct text address = { 0 };
    print_affine(pr, &s->address, &address);
    const int k = lane_factor(pr, &s->address);
    pr->out->failed |= address.failed;
    if (s->in_block) {
        print_line(pr, "TARN_STORE(%s, %s, %s, v%d + 16 * (%s%s));", value_space(v), memory_type(v),
                   value, s->value, block_start(v).text, address.data);
    } else if (pr->width == 1) {
        print_line(pr, "v%d[%s] = %s;", s->value, address.data, value);
    } else if (k == 1 && !(nest_has_batch_lanes(pr->n) && pr->tail)) {
        print_line(pr, "TARN_STORE(%s, %s, %s, v%d + %s);", value_space(v), memory_type(v), value,
                   s->value, address.data);
    } else if (!square_store(pr, s, value)) {
        print_line(pr, "{");
        pr->indent++;
        print_line(pr, "const %s%d lanes = %s;", memory_type(v), LANES, value);
        store_lanes(pr, s, address.data, k, "lanes");
        pr->indent--;
        print_line(pr, "}");
    }
    text_free(&address);
}

/* One row of partial sums a group: the first block writes, the next ones combine. */
static void store_row(struct printer *pr, int point)
{
    const struct store *s = &pr->n->store[0];
    const char *type = register_name(pr->n->acc_dtype, 1);
    const struct value *v = &pr->p->values[s->value];
    struct text address = { 0 };
    print_affine(pr, &s->address, &address);
    print_line(pr, "{");
    pr->indent++;
    print_line(pr, "%s sum = %s(acc%d);", type, lanes_function(pr->n).text, point);
    print_line(pr, "__global %s *row = v%d + %d * group + %s;", type, s->value, v->shape.dim[1],
               address.data);
    print_line(pr, "if (b > first)");
    pr->indent++;
    const int width = pr->width;
    pr->width = 1;
    combine_line(pr, "sum", "*row");
    pr->width = width;
    pr->indent--;
    print_line(pr, "*row = sum;");
    pr->indent--;
    print_line(pr, "}");
    pr->out->failed |= address.failed;
    text_free(&address);
}

static void print_epilogue(struct printer *pr, int point)
{
    const struct nest *n = pr->n;
    char value[NEST_STORES][NAME];
    for (int s = 0; s < n->stores; s++) {
        text_fill(pr->acc, sizeof pr->acc, "%s%d", n->store[s].best ? "best" : "acc", point);
        if (n->store[s].expr >= 0)
            print_expr(pr, n->store[s].expr, value[s]);
        else
            memcpy(value[s], pr->acc, NAME);
    }
    for (int s = 0; s < n->stores; s++)
        print_store(pr, &n->store[s], value[s]);
}

/* One element of a transform. What other elements share is computed outside of this one's guard. */
static void transform_point(struct printer *pr)
{
    struct text condition = { 0 };
    char name[NAME];
    bool lanes = false;
    const enum verdict v = guards_here(pr, &condition, &lanes);
    if (v == DEPENDS) {
        print_expr(pr, pr->n->body[0], name);
        print_line(pr, "if (%s) {", condition.data);
        pr->indent++;
        const int scope = pr->known_count;
        print_epilogue(pr, 0);
        known_reset(pr, scope);
        pr->indent--;
        print_line(pr, "}");
    } else if (v == ALWAYS) {
        print_epilogue(pr, 0);
    }
    pr->out->failed |= condition.failed;
    text_free(&condition);
}

void print_tile_results(struct printer *pr)
{
    const int points = tile_points(pr, 0, pr->n->out_axes);
    const int scope = pr->known_count;
    for (int i = pr->n->partial && !pr->n->by_sample ? print_sums(pr, points) : 0; i < points;
         ++i) {
        set_tile_point(pr, 0, pr->n->out_axes, i);
        if (pr->n->by_sample)
            print_own_row(pr, i);
        else if (pr->n->partial)
            store_row(pr, i);
        else if (pr->n->transformed)
            transform_point(pr);
        else
            print_epilogue(pr, i);
    }
    known_reset(pr, scope);
}

/* ---- loops ---------------------------------------------------------------------------------- */

int open_lanes(struct printer *pr, int lane, bool rest)
{
    const struct loop_range r = loop_range(pr, lane);
    set_loop(pr, lane, 1);
    print_for(pr, "for (long i%d = %s; i%d < %s; i%d += %d) {", lane, r.from, lane, r.to, lane,
              rest ? 1 : LANES);
    return 1;
}

/* Whether no loop is inside of that over a summed axis: windows of one element have none. */
static bool is_innermost(const struct nest *n, int axis)
{
    while (++axis < n->axes)
        if (n->extent[axis] > 1)
            return false;
    return true;
}

static void print_red_loops(struct printer *pr, bool rest)
{
    const struct nest *n = pr->n;
    const int lane = nest_has_batch_lanes(n) ? -1 : pr->s->lane_axis;
    struct sum_loops l;
    struct squares squares = { 0 };
    sum_begin(pr, &l, rest, "long");
    for (int a = n->out_axes; a < n->axes; a++) {
        if (nest_has_batch_lanes(n) && a == n->batch_axis)
            continue;
        sum_cut(pr, &l, a);
        if (a == lane)
            sum_opened(&l, open_lanes(pr, a, rest));
        else
            sum_opened(&l, n->extent[a] > 1 && is_innermost(n, a) ? open_squares(pr, &squares, a)
                                                                  : open_loop(pr, a));
    }
    print_ahead(pr);
    print_body(pr);
    (void)close_squares(pr, &squares); /* a loop of a sum writes nothing */
    sum_end(pr, &l);
    pr->guards_met = 0;
}

/* A sum along the vector axis: full vectors, their lanes in a fixed tree, then the sum of the rest. */
static void print_lane_sum(struct printer *pr)
{
    const struct nest *n = pr->n;
    const int points = tile_points(pr, 0, n->out_axes);
    const char *wide = register_name(n->acc_dtype, LANES), *narrow = register_name(n->acc_dtype, 1);
    for (int i = 0; i < points; i++)
        print_line(pr, "%s sum%d;", narrow, i);
    print_line(pr, "{");
    pr->indent++;
    pr->width = LANES;
    pr->lane_axis = pr->s->lane_axis;
    for (int i = 0; i < points; i++)
        print_line(pr, "%s acc%d = (%s)(%s);", wide, i, wide, identity(n));
    print_red_loops(pr, false);
    for (int i = 0; i < points; i++)
        print_line(pr, "sum%d = %s(acc%d);", i, lanes_function(n).text, i);
    pr->indent--;
    print_line(pr, "}");
    pr->width = 1;
    pr->lane_axis = -1;
    declare_accumulators(pr);
    if (n->extent[pr->s->lane_axis] % LANES != 0)
        print_red_loops(pr, true);
    combine_lane_sums(pr);
    print_tile_results(pr);
}

void print_tile(struct printer *pr)
{
    if (pr->n->combine != COMBINE_NONE) {
        declare_accumulators(pr);
        print_red_loops(pr, false);
    }
    print_tile_results(pr);
}

void describe_nest(struct printer *pr)
{
    const struct nest *n = pr->n;
    struct text t = { 0 };
    text_add(&t, "%s", n->name);
    for (int a = 0; a < n->axes; a++)
        text_add(&t, "%s%d", a == 0 ? " [" : a == n->out_axes ? " | " : " ", n->extent[a]);
    text_add(&t, "%s%s", n->axes > 0 ? "]" : "", n->partial ? ", one row a group" : "");
    print_line(pr, "/* %s */", t.data != NULL ? t.data : "");
    pr->out->failed |= t.failed;
    text_free(&t);
}

/* What a part does of its axis. */
static void print_slice(struct printer *pr)
{
    const struct slices *l = pr->s->slices;
    const int pieces = l->extent / l->grain, parts = pr->s->groups;
    if (!slices_overlap(l)) {
        print_line(pr, "const long low = part * %d / %d * %d;", pieces, parts, l->grain);
        print_line(pr, "const long high = (part + 1) * %d / %d * %d;", pieces, parts, l->grain);
        return;
    }
    print_line(pr, "const long low = max(part * %d / %d * %d + %d, 0L);", pieces, parts,
               l->grain * l->times, l->below);
    print_line(pr, "const long high = min(((part + 1) * %d / %d * %d - 1) * %d + %d, %dL);", pieces,
               parts, l->grain, l->times, l->above + 1, pr->n->extent[pr->s->split_axis]);
}

/* What a group does of the axis that groups share. Tiles that overlap are one group's, which has the end of the axis. Its
 * share is the longest: so it is the first group, and others are under way meanwhile. */
static void print_share(struct printer *pr)
{
    const struct schedule *s = pr->s;
    const int step = s->split_step, extent = pr->n->extent[s->split_axis], groups = s->groups;
    const int pieces = nest_shares(pr->n, s);
    const bool longest = pieces * step < extent;
    char who[NAME];
    if (longest)
        text_fill(who, sizeof who, "(%d - %s)", groups - 1, group_name(pr));
    else
        text_fill(who, sizeof who, "%s", group_name(pr));
    print_line(pr, "const long low = %s * %d / %d * %d;", who, pieces, groups, step);
    if (longest)
        print_line(pr, "const long high = %s == 0 ? %dL : (%s + 1) * %d / %d * %d;", group_name(pr),
                   extent, who, pieces, groups, step);
    else
        print_line(pr, "const long high = min((%s + 1) * %d / %d * %d, %dL);", who, pieces, groups,
                   step, extent);
}

/* All loops of a nest, and what is inside. */
static void print_loops(struct printer *pr)
{
    const struct nest *n = pr->n;
    int loops = 0;
    const int lane = nest_vector_axis(n, pr->s);
    const bool lane_is_out = lane >= 0 && lane < n->out_axes, copies = pr->s->by_registers;
    const int inner = pr->s->packed >= 0 ? pr->s->packed_outside
                                         : n->out_axes - lane_is_out - (pr->s->squares_axis >= 0);
    struct squares squares = { 0 };
    for (int i = 0; i < inner && !copies; i++) {
        const bool last = i == inner - 1 && n->combine == COMBINE_NONE && nest_has_batch_lanes(n);
        const int axis = pr->s->order[i];
        loops += last ? open_squares(pr, &squares, axis) : open_loop(pr, axis);
    }
    if (copies)
        print_copy(pr);
    else if (nest_has_batch_lanes(n) || pr->s->lane_axis < 0)
        print_lane_body(pr);
    else if (pr->s->lane_axis >= n->out_axes)
        print_lane_sum(pr);
    else
        print_out_lanes(pr);
    loops -= close_squares(pr, &squares);
    close_loops(pr, loops);
}

/* Which samples the lanes of a block have, where the last block is not full. */
static void print_samples(struct printer *pr)
{
    const int batch = pr->p->module->batch;
    print_line(pr, "const int16 sample = min((int16)((int)(16 * b)) + TARN_LANES, (int16)(%d));",
               batch - 1);
    print_line(pr, "const int16 present = ((int16)((int)(16 * b)) + TARN_LANES) < (int16)(%d);",
               batch);
}

void print_nest(struct printer *pr)
{
    const struct nest *n = pr->n;
    print_line(pr, "{");
    pr->indent++;
    if (pr->tail && nest_has_batch_lanes(n))
        print_samples(pr);
    pr->width = nest_has_batch_lanes(n) ? LANES : 1;
    pr->lane_axis = nest_has_batch_lanes(n) ? n->batch_axis : -1;
    memset(pr->axis, 0, sizeof pr->axis); /* the batch axis has no loop that would set it */
    known_reset(pr, 0);
    if (n->batched && pr->s->split_axis >= 0) {
        print_slice(pr);
    } else if (pr->s->groups > 1) {
        print_share(pr);
    }
    if (n->kind == NEST_ROUTINE) {
        char all[16];
        text_fill(all, sizeof all, "%d", n->routine.pieces);
        print_routine(pr, pr->s->groups > 1 ? "low" : "0", pr->s->groups > 1 ? "high" : all);
        close_loops(pr, 1);
        return;
    }
    if (pr->s->panels.used)
        print_panels(pr);
    else
        print_loops(pr);
    known_reset(pr, 0);
    pr->indent--;
    print_line(pr, "}");
}
