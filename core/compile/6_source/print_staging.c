/* SPDX-License-Identifier: Apache-2.0 */
/* A contraction whose group reads operands through local memory. All groups of the kernel go through its loops and
 * barriers, which stand in no branch, and those of its section do the work between them. In: a nest with staging. Out:
 * its code. Decides nothing. */

#include "compile/4_schedule/schedule.h"
#include "compile/6_source/print.h"
#include "compile/panel.h"
#include "tensor/sum_order.h"

#define STAGE_LEVEL CHUNK_LEVELS
#define MOST_UNDER_WAY 16 /* loads of a copy */

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
    return staging_items(&pr->s->staging) < pr->p->group_size;
}

/* Of a group the first element of the axes along which its work-items lie, and of a work-item its own. */
static void print_group_axes(struct printer *pr)
{
    const struct nest *n = pr->n;
    const struct staging *g = &pr->s->staging;
    const char *type = item_index_type(pr);
    const int lane = nest_vector_axis(n, pr->s), rows = g->teams;
    const int32_t runs = staging_extent(n, pr->s, lane) / g->lanes;
    long long below = runs;
    print_line(pr, "const %s from%d = %s * %d;", type, lane, digit("group", 1, runs).text,
               g->lanes);
    if (nest_has_batch_lanes(n)) {
        print_line(pr, "const int b = from%d / %d + item %% %d / %d;", lane, LANES, g->lanes,
                   LANES);
        print_block(pr);
    } else {
        set_loop(pr, lane, 1);
        print_line(pr, "const %s i%d = from%d + item %% %d;", type, lane, lane, g->lanes);
    }
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
    const int pitch = of->pitch[nest_vector_axis(pr->n, pr->s)];
    const int tile = g->across >= 0 ? of->pitch[g->across] * pr->s->tile[g->across] : 0;
    int before = 0;
    char lanes[NAME] = "", across[NAME] = "", first[NAME] = "";
    for (int a = 0; a < pr->n->axes; a++)
        before -= of->low[a] * of->pitch[a];
    if (before > 0)
        text_fill(first, sizeof first, " + %d", before);
    if (of->by_lanes)
        text_fill(lanes, sizeof lanes, " + item %% %d * %d", g->lanes, pitch);
    if (tile > 0 && g->teams > 1)
        text_fill(across, sizeof across, " + item / %d * %d", g->lanes, tile);
    print_line(pr, "__local %s *panel%d = (__local %s *)(exchange + %d);", memory_type(v), k,
               memory_type(v), of->begin);
    print_line(pr, "__local const %s *own%d = panel%d%s%s%s;", memory_type(v), k, k, first, lanes,
               across);
}

/* ---- copies --------------------------------------------------------------------------------- */

/* How a group copies a panel: element by element along memory, of which each work-item has every so manyth. */
struct copy {
    int panel, axes[NEST_AXES], count;
    int in_turn; /* so many elements of the panel's first axis are a work-item's, one after the other */
    long long all; /* elements, or such runs of them; */
    int at_once;   /* a work-item has so many of them under way, */
    bool loops;    /* and goes on with the next ones, */
    bool part;     /* and has not always as many */
};

static int32_t copied_along(const struct printer *pr, const struct copy *c, int axis)
{
    const struct panel *of = &pr->s->staging.panel[c->panel];
    return of->box[axis] / (axis == of->first ? c->in_turn : 1);
}

static struct copy copy_of(const struct printer *pr, int k)
{
    const struct panel *of = &pr->s->staging.panel[k];
    struct copy c = { .panel = k, .all = 1, .in_turn = 1 };
    const int items = pr->p->group_size;
    if (of->in_turn)
        c.in_turn = pr->s->tile[of->first];
    c.count = panel_axes(pr->n, of, c.axes);
    for (int i = 0; i < c.count; i++)
        c.all *= copied_along(pr, &c, c.axes[i]);
    const long long rounds = (c.all + items - 1) / items;
    const int most = MOST_UNDER_WAY / c.in_turn;
    c.at_once = rounds < most ? (int)rounds : most;
    c.loops = rounds > c.at_once;
    c.part = c.all % ((long long)items * c.at_once) != 0;
    return c;
}

/* Where a group has the first element of an axis of its copies: of a summed axis outside of the steps that of its loop, and
 * "0" of those inside, which are there as a whole. */
static struct short_text group_origin(const struct printer *pr, int axis)
{
    const struct staging *g = &pr->s->staging;
    struct short_text t = { "0" };
    if (axis == g->axis)
        text_fill(t.text, sizeof t.text, "cut%d", STAGE_LEVEL);
    else if (axis == g->across || axis == nest_vector_axis(pr->n, pr->s))
        text_fill(t.text, sizeof t.text, "from%d", axis);
    else if (axis < g->axis && pr->axis[axis].variable[0] != '\0')
        text_fill(t.text, sizeof t.text, "i%d", axis);
    return t;
}

/* The axes of element number `name` of a copy, as the address and the panel have them. */
static void take_copied(struct printer *pr, const struct copy *c, const char *name, int turn,
                        struct text *to, char lane[NAME])
{
    const struct panel *of = &pr->s->staging.panel[c->panel];
    struct short_text origin[NEST_AXES];
    long long below = 1;
    for (int a = 0; a < pr->n->axes; a++) {
        origin[a] = group_origin(pr, a);
        pr->axis[a] = (struct axis_now){ .step = 1 };
        text_fill(pr->axis[a].variable, sizeof pr->axis->variable, "%s", origin[a].text);
    }
    for (int i = 0; i < c->count; i++) {
        const int a = c->axes[i];
        const int32_t along = copied_along(pr, c, a);
        const int times = a == of->first ? c->in_turn : 1;
        const struct short_text part = digit(name, below, along);
        text_add(to, "%s%d * (%s)", i > 0 ? " + " : "", of->pitch[a] * times, part.text);
        if (pr->n->batched && a == pr->n->batch_axis)
            text_fill(lane, NAME, "%s", part.text);
        if (times > 1)
            text_fill(pr->axis[a].variable, sizeof pr->axis->variable, "(%s + %d * (%s))",
                      origin[a].text, times, part.text);
        else
            text_fill(pr->axis[a].variable, sizeof pr->axis->variable, "(%s + %s)", origin[a].text,
                      part.text);
        pr->axis[a].constant = of->low[a] + (a == of->first ? turn : 0);
        below *= along;
    }
}

/* An element's address; a guard leaves out those that lie outside, for which there is another one. */
static void copied_from(struct printer *pr, const struct copy *c, const char *lane,
                        struct text *from)
{
    const struct access *x = &pr->n->exprs[pr->s->staging.panel[c->panel].expr].access;
    const char *type = item_index_type(pr);
    const bool inside = access_stays_inside(pr->p, pr->n, x);
    const struct elements all = access_elements(pr->p, x);
    const long long each = all.to - all.from;
    struct text address = { 0 };
    print_affine(pr, &x->address, &address);
    if (x->in_block && pr->n->by_sample)
        text_add(from, "%lld%s * b + %s + %d * ", LANES * each,
                 strcmp(type, "long") == 0 ? "L" : "", lane, LANES);
    else if (x->in_block)
        text_add(from, "%lld%s * (from%d / %d + %s / %d) + %s %% %d + %d * ", LANES * each,
                 strcmp(type, "long") == 0 ? "L" : "", pr->n->batch_axis, LANES, lane, LANES, lane,
                 LANES, LANES);
    if (!inside)
        text_add(from, "clamp((%s)", type);
    text_add(from, "(%s)", address.data != NULL ? address.data : "0");
    if (!inside)
        text_add(from, ", (%s)%lld, (%s)%lld)", type, (long long)all.from, type,
                 (long long)all.to - 1);
    from->failed |= address.failed;
    text_free(&address);
}

/* What a work-item loads in a round. */
static void print_copied(struct printer *pr, const struct copy *c, int round)
{
    const struct access *x = &pr->n->exprs[pr->s->staging.panel[c->panel].expr].access;
    const char *type = memory_type(&pr->p->values[x->value]);
    struct axis_now before[NEST_AXES];
    char name[NAME], within[NAME] = "";
    memcpy(before, pr->axis, sizeof before);
    text_fill(name, sizeof name, "e%d_%d", c->panel, round);
    print_line(pr, "const int %s = %s + %d;", name, c->loops ? "base" : "item",
               round * pr->p->group_size);
    if (c->part)
        text_fill(within, sizeof within, "%s < %lld ? ", name, c->all);
    for (int turn = 0; turn < c->in_turn; turn++) {
        struct text from = { 0 }, to = { 0 };
        char lane[NAME] = "0";
        take_copied(pr, c, name, turn, &to, lane);
        copied_from(pr, c, lane, &from);
        memcpy(pr->axis, before, sizeof before);
        pr->out->failed |= from.failed || to.failed || from.data == NULL || to.data == NULL;
        if (turn == 0 && to.data != NULL)
            print_line(pr, "const int to%s = %s;", name, to.data);
        if (from.data != NULL)
            print_line(pr, "const %s c%s_%d = %sv%d[%s]%s;", type, name, turn, within, x->value,
                       from.data, c->part ? " : 0" : "");
        text_free(&from);
        text_free(&to);
    }
}

static void print_loads(struct printer *pr, const struct copy *c)
{
    for (int round = 0; round < c->at_once; round++)
        print_copied(pr, c, round);
}

static void print_stores(struct printer *pr, const struct copy *c)
{
    const int k = c->panel;
    for (int round = 0; round < c->at_once; round++) {
        if (c->part)
            print_line(pr, "if (e%d_%d < %lld) {", k, round, c->all);
        for (int turn = 0; turn < c->in_turn; turn++)
            print_line(pr, "%spanel%d[toe%d_%d + %d] = ce%d_%d_%d;", c->part ? "    " : "", k, k,
                       round, turn, k, round, turn);
        if (c->part)
            print_line(pr, "}");
    }
}

/* The copies of all panels: what a work-item loads of them at once is under way together, for which no driver's compiler has
 * to know how many rounds a loop has. */
static void print_copies(struct printer *pr)
{
    const int panels = pr->s->staging.panels;
    for (int k = 0; k < panels; k++) {
        const struct copy c = copy_of(pr, k);
        if (!c.loops) {
            print_loads(pr, &c);
            continue;
        }
        print_for(pr, "for (int base = item; base < %lld; base += %d) {", c.all,
                  c.at_once * pr->p->group_size);
        print_loads(pr, &c);
        print_stores(pr, &c);
        close_loops(pr, 1);
    }
    for (int k = 0; k < panels; k++) {
        const struct copy c = copy_of(pr, k);
        if (!c.loops)
            print_stores(pr, &c);
    }
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
    if (nest_loops_over(pr->n, pr->s, g->axis))
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
    print_copies(pr);
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
    struct sum_loops l;
    sum_begin(pr, &l, false, item_index_type(pr));
    for (int a = n->out_axes; a < n->axes; a++) {
        sum_cut(pr, &l, a);
        if (a == pr->s->staging.axis)
            open_step(pr, &l);
        sum_opened(&l, open_red(pr, a, false, 1));
    }
    print_body(pr);
    sum_end(pr, &l);
    pr->guards_met = 0;
}

/* Where all that a group has lies: its tiles, and panels. */
static void print_places(struct printer *pr)
{
    known_reset(pr, 0);
    print_group_axes(pr);
    for (int k = 0; k < pr->s->staging.panels; k++)
        print_panel_place(pr, k);
}

/* A sum over samples one after the other: groups have a row each of some tiles, and a block's samples in local memory. */
static void print_staged_rows(struct printer *pr, int start)
{
    const struct nest *n = pr->n;
    const int blocks = pr->p->blocks, groups = pr->p->groups, each = pr->s->groups / groups;
    const int batch = n->batch_axis, step = pr->s->tile[batch];
    const char *index = item_index_type(pr), *busy = has_idle(pr) ? "busy" : "mine";
    print_mine(pr, start, staging_items(&pr->s->staging), "all");
    print_line(pr, "const %s group = all %% %d, share = all / %d;", index, each, each);
    print_places(pr);
    declare_rows(pr);
    print_for(pr, "for (int turn = 0; turn < %d; ++turn) {", (blocks + groups - 1) / groups);
    print_line(pr, "const int b = share * %d / %d + turn, cut%d = %d * b;", blocks, groups,
               STAGE_LEVEL, LANES);
    print_line(pr, "const bool has = b < (share + 1) * %d / %d;", blocks, groups);
    declare_accumulators(pr);
    print_line(pr, "if (mine && has) {");
    pr->indent++;
    print_copies(pr);
    close_loops(pr, 1);
    print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);");
    print_line(pr, "if (%s && has) {", busy);
    pr->indent++;
    set_loop(pr, batch, step);
    print_for(pr, "for (%s i%d = cut%d; i%d < cut%d + %d; i%d += %d) {", index, batch, STAGE_LEVEL,
              batch, STAGE_LEVEL, LANES, batch, step);
    print_body(pr);
    close_loops(pr, 1);
    add_to_rows(pr, "turn > 0");
    close_loops(pr, 1);
    print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);");
    close_loops(pr, 1);
    print_line(pr, "if (%s) {", busy);
    pr->indent++;
    store_rows(pr);
    close_loops(pr, 1);
}

static void print_staged_results(struct printer *pr, int start)
{
    print_mine(pr, start, staging_items(&pr->s->staging), "group");
    print_places(pr);
    declare_accumulators(pr);
    print_staged_sum(pr);
    print_line(pr, "if (%s) {", has_idle(pr) ? "busy" : "mine");
    pr->indent++;
    print_item_results(pr, pr->tail && pr->n->batched ? "if (present) " : "");
    close_loops(pr, 1);
}

void print_staged_nest(struct printer *pr, int start)
{
    print_line(pr, "{");
    pr->indent++;
    describe_nest(pr);
    if (pr->n->by_sample)
        print_staged_rows(pr, start);
    else
        print_staged_results(pr, start);
    close_loops(pr, 1);
    known_reset(pr, 0);
}
