/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the lanes of a team, for GPUs: through local memory, in the CPU's order; and over samples one after the other,
 * which need none. In: a scheduled nest. Out: its code before a barrier, and after it. Decides nothing. */
#include "compile/4_schedule/schedule.h"
#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

/* Accumulators whose lanes are in local memory at the same time. */
int team_lanes_at_once(const struct nest *n, const struct schedule *s)
{
    return s->lanes_at_once > 0 ? s->lanes_at_once : nest_points(n, s);
}

/* A tile for each team, in a chain of the slice. Those past the end compute the last one again and store nothing, since
 * barriers need all work-items of the group. */
static void print_team_tile(struct printer *pr, const char *group)
{
    const long long tiles = nest_slice_tiles(pr->p, pr->n, pr->s);
    if (item_in_chain(pr))
        print_line(pr, "const int team = item / %d;", LANES);
    else
        print_line(pr, "const %s team = %s * %d + item / %d;", item_index_type(pr), group,
                   pr->p->group_size / LANES, LANES);
    print_line(pr, "const bool live = team < %lld;", tiles);
    print_line(pr, "const %s tile = live ? team : %lld;", item_index_type(pr), tiles - 1);
    print_tile_axes(pr, "tile");
    print_line(pr, "__local %s *lanes = (__local %s *)exchange + %d * (item / %d);",
               register_name(pr->n->acc_dtype, 1), register_name(pr->n->acc_dtype, 1),
               ITEM_PITCH * team_lanes_at_once(pr->n, pr->s), LANES);
}

/* Lays accumulators into local memory: one row of 16 lanes for each point. */
static void print_exchange(struct printer *pr, int first, int end)
{
    for (int i = first; i < end; i++)
        print_line(pr, "lanes[%d + lane] = acc%d;", ITEM_PITCH * (i - first), i);
}

/* The row that a group is for, the block of it whose turn it is, and the tiles of the teams. */
static int open_row(struct printer *pr)
{
    const int blocks = pr->p->blocks, groups = pr->p->groups, each = pr->s->groups / groups;
    char within[NAME];
    text_fill(within, sizeof within, "(group %% %d)", each);
    print_line(pr, "const int share = group / %d;", each);
    print_line(pr, "const int b = share * %d / %d%s;", blocks, groups,
               pr->turns > 1 ? " + turn" : "");
    print_team_tile(pr, within);
    if (pr->turns == 1)
        return 0;
    print_line(pr, "if (b < (share + 1) * %d / %d) {", blocks, groups);
    pr->indent++;
    return 1;
}

/* A sum over the batch: the team adds up a block for one tile. */
void print_row_terms(struct printer *pr)
{
    const int opened = open_row(pr);
    print_block(pr);
    declare_accumulators(pr);
    print_item_sum(pr, false);
    print_exchange(pr, 0, nest_points(pr->n, pr->s));
    close_loops(pr, opened);
}

/* A team's sum of the lanes of a point, row `at` in local memory, goes to its row of sums. */
static void print_row_sum(struct printer *pr, int point, int at)
{
    const struct nest *n = pr->n;
    const struct store *s = &n->store[0];
    const char *type = register_name(n->acc_dtype, 1);
    struct text address = { 0 };
    set_tile_point(pr, 0, n->out_axes, point);
    print_affine(pr, &s->address, &address);
    pr->out->failed |= address.failed;
    print_line(pr, "if (live && lane == %d) {", at % LANES);
    pr->indent++;
    print_line(pr, "__global %s *row = v%d + %d * share + %s;", type, s->value,
               pr->p->values[s->value].shape.dim[1], address.data != NULL ? address.data : "0");
    print_line(pr, "%s sum = %s(vload16(0, lanes + %d));", type, lanes_function(n).text,
               ITEM_PITCH * at);
    if (pr->turns > 1) {
        print_line(pr, "if (turn > 0)");
        pr->indent++;
        combine_line(pr, "sum", "*row");
        pr->indent--;
    }
    print_line(pr, "*row = sum;");
    close_loops(pr, 1);
    text_free(&address);
}

/* Then lane k of the team adds up the lanes of points k, k + 16, ... and adds that to its row. */
void print_row_sums(struct printer *pr)
{
    const int opened = open_row(pr);
    for (int i = 0; i < nest_points(pr->n, pr->s); i++)
        print_row_sum(pr, i, i);
    close_loops(pr, opened);
}

/* The same where there is no room for the lanes of all points: so many at a time, between barriers of its own that all groups
 * of the kernel go through. */
void print_rows_in_turn(struct printer *pr, int start)
{
    const int blocks = pr->p->blocks, groups = pr->p->groups, each = pr->s->groups / groups;
    const int points = nest_points(pr->n, pr->s), most = team_lanes_at_once(pr->n, pr->s);
    print_line(pr, "{");
    pr->indent++;
    describe_nest(pr);
    print_mine(pr, start, pr->p->group_size, "group");
    print_line(pr, "const int share = group / %d;", each);
    char within[NAME];
    text_fill(within, sizeof within, "(group %% %d)", each);
    known_reset(pr, 0);
    print_team_tile(pr, within);
    print_for(pr, "for (int turn = 0; turn < %d; ++turn) {", pr->turns);
    print_line(pr, "const int block = share * %d / %d + turn;", blocks, groups);
    print_line(pr, "const bool has = mine && block < (share + 1) * %d / %d;", blocks, groups);
    print_line(pr, "const int b = has ? block : 0;");
    print_block(pr);
    declare_accumulators(pr);
    print_line(pr, "if (has) {");
    pr->indent++;
    print_item_sum(pr, false);
    close_loops(pr, 1);
    for (int first = 0; first < points; first += most) {
        const int end = first + most < points ? first + most : points;
        print_line(pr, "if (has) {");
        pr->indent++;
        print_exchange(pr, first, end);
        close_loops(pr, 1);
        print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);");
        print_line(pr, "if (has) {");
        pr->indent++;
        for (int i = first; i < end; i++)
            print_row_sum(pr, i, i - first);
        close_loops(pr, 1);
        print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);");
    }
    close_loops(pr, 2);
    known_reset(pr, 0);
}

/* What a work-item adds up of its row, all points of the tile; */
void declare_rows(struct printer *pr)
{
    const struct nest *n = pr->n;
    for (int i = 0; i < nest_points(n, pr->s); i++)
        print_line(pr, "%s row%d = %s;", register_name(n->acc_dtype, 1), i, identity(n));
}

/* what a block's samples came to is added, or is the first of it; */
void add_to_rows(struct printer *pr, const char *begun)
{
    for (int i = 0; i < nest_points(pr->n, pr->s); i++) {
        char acc[16], row[16], both[SUM_TEXT];
        text_fill(acc, sizeof acc, "acc%d", i);
        text_fill(row, sizeof row, "row%d", i);
        sum_text(pr, acc, row, both);
        print_line(pr, "%s = %s ? %s : %s;", row, begun, both, acc);
    }
}

/* and it is stored. */
void store_rows(struct printer *pr)
{
    const struct store *s = &pr->n->store[0];
    for (int i = 0; i < nest_points(pr->n, pr->s); i++) {
        struct text address = { 0 };
        set_tile_point(pr, 0, pr->n->out_axes, i);
        print_affine(pr, &s->address, &address);
        pr->out->failed |= address.failed;
        print_line(pr, "v%d[%d * share + %s] = row%d;", s->value,
                   pr->p->values[s->value].shape.dim[1], address.data != NULL ? address.data : "0",
                   i);
        text_free(&address);
    }
}

/* A sum over the batch, one sample after the other: a work-item for each element of a tile's row,
 * in each group of blocks. */
void print_sample_rows(struct printer *pr)
{
    const struct nest *n = pr->n;
    const int blocks = pr->p->blocks, groups = pr->p->groups, lane = pr->s->lane_axis;
    const char *index = item_index_type(pr);
    const int32_t along = n->extent[lane], samples = n->extent[n->batch_axis];
    print_line(pr, "const %s number = group * %d + item;", index, pr->p->group_size);
    print_line(pr, "if (number < %lld) {", (long long)(nest_tiles(n, pr->s) * along * groups));
    pr->indent++;
    print_line(pr, "const int share = number / %lld;", (long long)(nest_tiles(n, pr->s) * along));
    print_line(pr, "const int first = share * %d / %d, last = (share + 1) * %d / %d;", blocks,
               groups, blocks, groups);
    set_loop(pr, lane, 1);
    print_line(pr, "const %s i%d = number %% %d;", index, lane, along);
    print_line(pr, "const %s tile = number / %d %% %lld;", index, along,
               (long long)nest_tiles(n, pr->s));
    print_tile_axes(pr, "tile");
    declare_rows(pr);
    print_for(pr, "for (int b = first; b < last; ++b) {");
    declare_accumulators(pr);
    const int batch = n->batch_axis, step = pr->s->tile[batch];
    set_loop(pr, batch, step);
    if (samples % LANES == 0)
        print_for(pr, "for (%s i%d = %d * b; i%d < %d * b + %d; i%d += %d) {", index, batch, LANES,
                  batch, LANES, LANES, batch, step);
    else
        print_for(pr, "for (%s i%d = %d * b; i%d < min((%s)(%d * b + %d), (%s)%d); ++i%d) {", index,
                  batch, LANES, batch, index, LANES, LANES, index, samples, batch);
    print_body(pr);
    close_loops(pr, 1);
    add_to_rows(pr, "b > first");
    close_loops(pr, 1);
    store_rows(pr);
    close_loops(pr, 1);
}

/* A sum along the lanes. */
void print_lane_terms(struct printer *pr)
{
    print_team_tile(pr, "group");
    declare_accumulators(pr);
    print_item_sum(pr, false);
    print_exchange(pr, 0, nest_points(pr->n, pr->s));
}

/* The elements after the last full 16 are added up by all lanes alike, and the first lane stores. */
void print_lane_sums(struct printer *pr)
{
    const struct nest *n = pr->n;
    const char *type = register_name(n->acc_dtype, 1);
    const int points = nest_points(n, pr->s);
    print_team_tile(pr, "group");
    for (int i = 0; i < points; i++) {
        print_line(pr, "const %s sum%d = %s(vload16(0, lanes + %d));", type, i,
                   lanes_function(n).text, ITEM_PITCH * i);
        print_line(pr, "%s acc%d = %s;", type, i, identity(n));
    }
    if (n->extent[pr->s->lane_axis] % LANES != 0)
        print_item_sum(pr, true);
    combine_lane_sums(pr);
    print_line(pr, "const bool writes = live && lane == 0;");
    print_item_results(pr, "if (writes) ");
}
