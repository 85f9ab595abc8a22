/* SPDX-License-Identifier: Apache-2.0 */
/* A contraction whose group reads operands through local memory. All groups of the kernel go through its loops and
 * barriers, which stand in no branch, and those of its section do the work between them. In: a nest with staging. Out:
 * its code. Decides nothing. */

#include "compile/6_source/print.h"
#include "compile/panel.h"
#include "tensor/sum_order.h"

#define STAGE_LEVEL CHUNK_LEVELS
#define MOST_UNROLLED 16 /* loads under way of a copy */
#define UNROLLED_SUM 4   /* of small tiles, as without panels */

/* "e / 16 % 8", the digit of a number that is below so many digits; "0" of one that can have no other. */
static struct short_text digit(const char *number, long long below, int32_t size)
{
    struct short_text t;
    if (size == 1)
        text_fill(t.text, sizeof t.text, "0");
    else if (below == 1)
        text_fill(t.text, sizeof t.text, "%s %% %d", number, size);
    else
        text_fill(t.text, sizeof t.text, "%s / %lld %% %d", number, below, size);
    return t;
}

/* Whether work-items of a group are left over, which only copy. */
static bool has_idle(const struct printer *pr)
{
    return pr->s->staging.lanes * pr->s->staging.teams < pr->p->group_size;
}

/* Of a group the first element of the axes along which its work-items lie, and of a work-item its own. */
static void print_group_axes(struct printer *pr)
{
    const struct nest *n = pr->n;
    const struct staging *g = &pr->s->staging;
    const char *type = item_index_type(pr);
    const int lane = pr->s->lane_axis, rows = g->teams;
    const int32_t runs = n->extent[lane] / g->lanes;
    long long below = runs;
    set_loop(pr, lane, 1);
    print_line(pr, "const %s from%d = %s * %d;", type, lane, digit("group", 1, runs).text,
               g->lanes);
    print_line(pr, "const %s i%d = from%d + item %% %d;", type, lane, lane, g->lanes);
    for (int a = n->out_axes - 1; a >= 0; a--) {
        const int32_t tile = pr->s->tile[a];
        const int32_t size = a == g->across ? tile * rows : tile, tiles = n->extent[a] / size;
        if (a == lane)
            continue;
        set_loop(pr, a, tile);
        print_line(pr, "const %s %s%d = %s * %d;", type, a == g->across ? "from" : "i", a,
                   digit("group", below, tiles).text, size);
        if (a == g->across)
            print_line(pr, "const %s i%d = from%d + item / %d * %d;", type, a, a, g->lanes, tile);
        below *= tiles;
    }
}

/* Where in a panel a work-item's elements begin. */
static void print_panel_place(struct printer *pr, int k)
{
    const struct staging *g = &pr->s->staging;
    const struct panel *of = &g->panel[k];
    const struct value *v = &pr->p->values[pr->n->exprs[of->expr].access.value];
    const int tile = g->across >= 0 ? of->pitch[g->across] * pr->s->tile[g->across] : 0;
    char across[NAME] = "";
    if (tile > 0 && g->teams > 1)
        text_fill(across, sizeof across, " + item / %d * %d", g->lanes, tile);
    print_line(pr, "__local %s *panel%d = (__local %s *)(exchange + %d);", memory_type(v), k,
               memory_type(v), of->begin);
    if (of->by_lanes)
        print_line(pr, "__local const %s *own%d = panel%d + item %% %d%s;", memory_type(v), k, k,
                   g->lanes, across);
    else
        print_line(pr, "__local const %s *own%d = panel%d%s;", memory_type(v), k, k, across);
}

/* ---- copies --------------------------------------------------------------------------------- */

static int32_t panel_box(const struct printer *pr, int axis)
{
    return staging_box(pr->n, pr->s, axis);
}

/* The work-items of a group copy a panel, element by element along memory. */
static void print_copy_in(struct printer *pr, int k)
{
    const struct panel *of = &pr->s->staging.panel[k];
    const struct access *x = &pr->n->exprs[of->expr].access;
    struct axis_now before[NEST_AXES];
    struct text from = { 0 }, to = { 0 };
    int axes[NEST_AXES];
    const int count = panel_axes(pr->n, of, axes);
    long long all = 1;
    for (int i = 0; i < count; i++)
        all *= panel_box(pr, axes[i]);
    const int rounds = (int)((all + pr->p->group_size - 1) / pr->p->group_size);
    print_hints(pr, rounds < MOST_UNROLLED ? rounds : MOST_UNROLLED);
    print_line(pr, "for (int e = item; e < %lld; e += %d) {", all, pr->p->group_size);
    pr->indent++;
    long long below = 1;
    for (int a = 0; a < pr->n->axes; a++)
        before[a] = pr->axis[a];
    for (int a = 0; a < pr->n->out_axes; a++)
        pr->axis[a].constant = 0;
    for (int i = 0; i < count; i++) {
        const int a = axes[i];
        struct axis_now *now = &pr->axis[a];
        *now = (struct axis_now){ .step = 1 };
        print_line(pr, "const int p%d = %s;", a, digit("e", below, panel_box(pr, a)).text);
        text_add(&to, "%s%d * p%d", i > 0 ? " + " : "", of->pitch[a], a);
        if (a == pr->s->staging.axis)
            text_fill(now->variable, sizeof now->variable, "(cut%d + p%d)", STAGE_LEVEL, a);
        else if (a == pr->s->lane_axis || a == pr->s->staging.across)
            text_fill(now->variable, sizeof now->variable, "(from%d + p%d)", a, a);
        else if (a < pr->n->out_axes)
            text_fill(now->variable, sizeof now->variable, "(i%d + p%d)", a, a);
        else
            text_fill(now->variable, sizeof now->variable, "p%d", a);
        below *= panel_box(pr, a);
    }
    print_affine(pr, &x->address, &from);
    if (!from.failed && !to.failed && from.data != NULL && to.data != NULL) {
        if (panel_in_range(pr->p, pr->n, x))
            print_line(pr, "panel%d[%s] = v%d[%s];", k, to.data, x->value, from.data);
        else
            print_line(pr, "panel%d[%s] = v%d[clamp((%s)(%s), (%s)0, (%s)%lld)];", k, to.data,
                       x->value, item_index_type(pr), from.data, item_index_type(pr),
                       item_index_type(pr),
                       (long long)tarn_shape_count(pr->p->values[x->value].shape) - 1);
    }
    pr->out->failed |= from.failed || to.failed;
    for (int a = 0; a < pr->n->axes; a++)
        pr->axis[a] = before[a];
    text_free(&from);
    text_free(&to);
    close_loops(pr, 1);
}

/* ---- what is read of them ------------------------------------------------------------------- */

bool panel_text(struct printer *pr, const struct expr *e, struct text *t)
{
    const struct staging *g = &pr->s->staging;
    int k = 0;
    while (k < g->panels && e != &pr->n->exprs[g->panel[k].expr])
        k++;
    if (!pr->items || k == g->panels)
        return false;
    struct affine at = { 0 };
    struct axis_now before[NEST_AXES];
    struct text place = { 0 };
    for (int a = 0; a < pr->n->axes; a++) {
        before[a] = pr->axis[a];
        at.k[a] = g->panel[k].pitch[a];
        if (a < pr->n->out_axes)
            pr->axis[a].variable[0] = '\0';
    }
    text_fill(pr->axis[g->axis].variable, sizeof pr->axis->variable, "(i%d - cut%d)", g->axis,
              STAGE_LEVEL);
    print_affine(pr, &at, &place);
    for (int a = 0; a < pr->n->axes; a++)
        pr->axis[a] = before[a];
    text_add(t, "own%d[%s]", k, place.data != NULL ? place.data : "0");
    t->failed |= place.failed;
    text_free(&place);
    return true;
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* The loop over steps: in each the group fills its panels, and then has terms to add. */
static void open_step(struct printer *pr, struct sum_loops *l)
{
    const struct staging *g = &pr->s->staging;
    const struct loop_range r = loop_range(pr, g->axis);
    print_for(pr, "for (%s cut%d = %s; cut%d < %s; cut%d += %d) {", l->index, STAGE_LEVEL, r.from,
              STAGE_LEVEL, r.to, STAGE_LEVEL, g->step);
    print_line(pr, "const %s end%d = cut%d + %d;", l->index, STAGE_LEVEL, STAGE_LEVEL, g->step);
    print_line(pr, "if (mine) {");
    pr->indent++;
    for (int k = 0; k < g->panels; k++)
        print_copy_in(pr, k);
    close_loops(pr, 1);
    print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);");
    print_line(pr, "if (%s) {", has_idle(pr) ? "busy" : "mine");
    pr->indent++;
    l->cut_axis = g->axis;
    l->cut_level = STAGE_LEVEL;
    l->level[l->loops++] = STAGE_LEVEL; /* whose end is a barrier */
    sum_opened(l, 1);
}

static void print_staged_sum(struct printer *pr)
{
    const struct nest *n = pr->n;
    const int unroll = tile_points(pr, 0, n->out_axes) > 4 ? 1 : UNROLLED_SUM;
    struct sum_loops l;
    int innermost = -1;
    for (int a = n->out_axes; a < n->axes; a++)
        innermost = pr->s->tile[a] < n->extent[a] ? a : innermost;
    sum_begin(pr, &l, false, item_index_type(pr));
    for (int a = n->out_axes; a < n->axes; a++) {
        sum_cut(pr, &l, a);
        if (a == pr->s->staging.axis)
            open_step(pr, &l);
        sum_opened(&l, open_red(pr, a, false, a == innermost ? unroll : 1));
    }
    print_body(pr);
    sum_end(pr, &l);
    pr->guards_met = 0;
}

void print_staged_nest(struct printer *pr, int start)
{
    print_line(pr, "{");
    pr->indent++;
    describe_nest(pr);
    print_line(pr, "const bool mine = section_group >= %d && section_group < %d;", start,
               start + pr->s->groups);
    if (has_idle(pr))
        print_line(pr, "const bool busy = mine && item < %d;",
                   pr->s->staging.lanes * pr->s->staging.teams);
    print_line(pr, "const %s group = mine ? section_group - %d : 0;", item_index_type(pr), start);
    known_reset(pr, 0);
    print_group_axes(pr);
    for (int k = 0; k < pr->s->staging.panels; k++)
        print_panel_place(pr, k);
    declare_accumulators(pr);
    print_staged_sum(pr);
    print_line(pr, "if (%s) {", has_idle(pr) ? "busy" : "mine");
    pr->indent++;
    print_item_results(pr, "");
    close_loops(pr, 2);
    known_reset(pr, 0);
}
