/* SPDX-License-Identifier: Apache-2.0 */
/* Nests as OpenCL C for a GPU: an index of work-items or of teams of 16 lanes is taken apart into
 * tiles and batch blocks where the CPU has loops. Lanes are added up through local memory, in the
 * CPU's order. In: a scheduled nest. Out: its code. Decides nothing. */
#include <limits.h>

#include "compile/4_schedule/schedule.h"
#include "compile/lane.h"
#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

#define UNROLL_SUM 4 /* loads in flight of a sum that has a single accumulator */

/* ---- indices -------------------------------------------------------------------------------- */

static bool is_large(const struct program_ir *p, int value)
{
    const struct value *v = &p->values[value];
    return v->bytes / tarn_dtype_bytes(v->dtype) > INT32_MAX;
}

/* 64 bits only where 32 could overflow: a GPU has no registers of 64 bits. */
const char *item_index_type(const struct printer *pr)
{
    const struct nest *n = pr->n;
    bool large = false;
    for (int s = 0; s < n->stores; s++)
        large |= is_large(pr->p, n->store[s].value);
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD)
            large |= is_large(pr->p, n->exprs[e].access.value);
    return large || (int64_t)pr->s->groups * pr->p->group_size > INT32_MAX ? "long" : "int";
}

/* Takes the number `from` apart into the tiles of the OUT axes, the last axis fastest; of the axis that groups of a
 * chain divide into those of slice `part`. */
void print_tile_axes(struct printer *pr, const char *from)
{
    const struct nest *n = pr->n;
    const char *type = item_index_type(pr);
    int64_t below = 1, all = nest_slice_tiles(pr->p, n, pr->s);
    for (int a = n->out_axes - 1; a >= 0; a--) {
        const int32_t slice = chain_slice(pr->p, n, a), tiles = slice / pr->s->tile[a];
        if (a == nest_vector_axis(n, pr->s))
            continue;
        if (tiles == 1 && slice == n->extent[a]) {
            set_constant(pr, a, 0);
            continue;
        }
        char divided[NAME], rest[NAME] = "", times[NAME] = "", first[NAME] = "";
        if (slice < n->extent[a])
            text_fill(first, sizeof first, "%d * part + ", slice);
        text_fill(divided, sizeof divided, below > 1 ? "%s / %lld" : "%s", from, (long long)below);
        if (below * tiles < all)
            text_fill(rest, sizeof rest, " %% %d", tiles);
        if (pr->s->tile[a] > 1)
            text_fill(times, sizeof times, " * %d", pr->s->tile[a]);
        set_loop(pr, a, pr->s->tile[a]);
        print_line(pr, "const %s i%d = %s%s%s%s;", type, a, first, tiles > 1 ? divided : "0",
                   tiles > 1 ? rest : "", times);
        below *= tiles;
    }
}

/* The value with the lowest number above `done` of which the nest uses its block; -1: none. */
static int next_in_block(const struct nest *n, int done)
{
    int next = INT_MAX;
    for (int s = 0; s < n->stores; s++)
        if (n->store[s].in_block && n->store[s].value > done && n->store[s].value < next)
            next = n->store[s].value;
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind == EXPR_LOAD && x->in_block && x->value > done && x->value < next)
            next = x->value;
    }
    return next < INT_MAX ? next : -1;
}

/* Declares what depends on the batch block b: the lane's sample, and where its elements begin. */
void print_block(struct printer *pr)
{
    struct program_ir *p = pr->p;
    const struct nest *n = pr->n;
    struct axis_now *now = &pr->axis[n->batch_axis];
    const int32_t samples = n->extent[n->batch_axis];
    *now = (struct axis_now){ .variable = "sample", .step = 1, .high = samples - 1 };
    if (pr->tail) {
        print_line(pr, "const bool present = %d * b + lane < %d;", LANES, samples);
        print_line(pr, "const %s sample = min((int)(%d * b) + lane, %d);", item_index_type(pr),
                   LANES, samples - 1);
    } else {
        print_line(pr, "const %s sample = %d * b + lane;", item_index_type(pr), LANES);
    }
    for (int v = next_in_block(n, -1); v >= 0; v = next_in_block(n, v)) {
        const struct value *value = &p->values[v];
        print_line(pr, "__global %s *b%d = v%d + %lldL * b + lane;", memory_type(value), v, v,
                   (long long)(LANES * tarn_shape_count(value->shape) / value->shape.dim[0]));
    }
}

/* ---- loops over summed axes ----------------------------------------------------------------- */

void print_item_sum(struct printer *pr, bool rest)
{
    const struct nest *n = pr->n;
    const int batch = n->batched ? n->batch_axis : -1;
    int innermost = -1;
    for (int a = n->out_axes; a < n->axes; a++)
        innermost = a != batch && nest_loops_over(n, pr->s, a) ? a : innermost;
    const bool whole = innermost < 0 || pr->s->tile[innermost] > 1 ||
                       (n->combine == COMBINE_FMA && nest_points(n, pr->s) > 4);
    const int unroll = whole ? 1 : UNROLL_SUM;
    struct sum_loops l;
    sum_begin(pr, &l, rest, item_index_type(pr));
    for (int a = n->out_axes; a < n->axes; a++) {
        if (a == batch)
            continue;
        sum_cut(pr, &l, a);
        sum_opened(&l, open_red(pr, a, rest, a == innermost ? unroll : 1));
    }
    print_body(pr);
    sum_end(pr, &l);
    pr->guards_met = 0;
}

/* ---- results -------------------------------------------------------------------------------- */

static void print_store(struct printer *pr, const struct store *s, const char *value,
                        const char *condition)
{
    struct text address = { 0 };
    print_affine(pr, &s->address, &address);
    if (address.data == NULL)
        pr->out->failed = true;
    else if (s->in_block)
        print_line(pr, "b%d[%d * (%s)] = %s;", s->value, LANES, address.data, value);
    else
        print_line(pr, "%sv%d[%s] = %s;", condition, s->value, address.data, value);
    text_free(&address);
}

void print_item_results(struct printer *pr, const char *condition)
{
    const struct nest *n = pr->n;
    const int scope = pr->known_count;
    for (int i = 0; i < nest_points(n, pr->s); i++) {
        char value[NEST_STORES][NAME];
        set_tile_point(pr, 0, n->out_axes, i);
        for (int s = 0; s < n->stores; s++) {
            text_fill(pr->acc, sizeof pr->acc, "%s%d", n->store[s].best ? "best" : "acc", i);
            if (n->store[s].expr >= 0)
                print_expr(pr, n->store[s].expr, value[s]);
            else
                memcpy(value[s], pr->acc, NAME);
        }
        for (int s = 0; s < n->stores; s++)
            print_store(pr, &n->store[s], value[s], condition);
    }
    known_reset(pr, scope);
}

static void print_inside(struct printer *pr, const char *condition)
{
    if (pr->n->combine != COMBINE_NONE) {
        declare_accumulators(pr);
        print_item_sum(pr, false);
    }
    print_item_results(pr, condition);
}

/* ---- a work-item or a lane for each element ------------------------------------------------- */

bool item_in_chain(const struct printer *pr)
{
    return placement_of(pr->p, pr->n)->chain >= 0;
}

/* Without the batch: consecutive work-items along the lane axis. The group of a chain has all of them. */
static void print_items(struct printer *pr)
{
    const struct nest *n = pr->n;
    const int lane = pr->s->lane_axis, size = pr->p->group_size;
    const int32_t along = lane < 0 ? 1 : chain_slice(pr->p, n, lane);
    const long long count = nest_slice_tiles(pr->p, n, pr->s) * along;
    if (item_in_chain(pr)) {
        print_for(pr, "for (%s number = item; number < %lld; number += %d) {", item_index_type(pr),
                  count, size);
    } else {
        print_line(pr, "const %s number = group * %d + item;", item_index_type(pr), size);
        print_line(pr, "if (number < %lld) {", count);
        pr->indent++;
    }
    if (lane >= 0 && along < n->extent[lane]) {
        set_loop(pr, lane, 1);
        print_line(pr, "const %s i%d = %d * part + number %% %d;", item_index_type(pr), lane, along,
                   along);
    } else if (along > 1) {
        set_loop(pr, lane, 1);
        print_line(pr, "const %s i%d = number %% %d;", item_index_type(pr), lane, along);
    } else if (lane >= 0) {
        set_constant(pr, lane, 0);
    }
    if (along > 1)
        print_line(pr, "const %s tile = number / %d;", item_index_type(pr), along);
    print_tile_axes(pr, along > 1 ? "tile" : "number");
    print_inside(pr, "");
    close_loops(pr, 1);
}

/* Carrying the batch, in a chain: the teams of a group do the tiles of its slice of its block. */
static void print_chained_samples(struct printer *pr)
{
    const int parts = placement_of(pr->p, pr->n)->parts, teams = pr->p->group_size / LANES;
    print_line(pr,
               parts > 1 ? "const int b = group / %d, part = group %% %d;" : "const int b = group;",
               parts, parts);
    print_for(pr, "for (int tile = item / %d; tile < %lld; tile += %d) {", LANES,
              (long long)nest_slice_tiles(pr->p, pr->n, pr->s), teams);
    print_tile_axes(pr, "tile");
    print_block(pr);
    print_inside(pr, pr->tail ? "if (present) " : "");
    close_loops(pr, 1);
}

/* Carrying the batch: a team for each tile of each block. Teams of a group share the tile of a
 * contraction, so that they read the same weights; else they go along memory. */
static void print_samples(struct printer *pr)
{
    const struct nest *n = pr->n;
    const char *type = item_index_type(pr);
    const int blocks = pr->p->blocks, teams = pr->p->group_size / LANES;
    const long long tiles = nest_tiles(n, pr->s);
    if (pr->s->uniform) {
        const int each = (blocks + teams - 1) / teams;
        print_line(pr, "const %s tile = group / %d;", type, each);
        print_line(pr, "const int b = group %% %d * %d + item / %d;", each, teams, LANES);
        print_line(pr, "if (b < %d) {", blocks);
    } else {
        print_line(pr, "const %s team = group * %d + item / %d;", type, teams, LANES);
        print_line(pr, "if (team < %lld) {", tiles * blocks);
    }
    pr->indent++;
    if (!pr->s->uniform && n->combine == COMBINE_FMA) {
        print_line(pr, "const int b = team %% %d;", blocks);
        print_line(pr, "const %s tile = team / %d;", type, blocks);
    } else if (!pr->s->uniform) {
        print_line(pr, "const int b = team / %lld;", tiles);
        print_line(pr, "const %s tile = team %% %lld;", type, tiles);
    }
    print_tile_axes(pr, "tile");
    print_block(pr);
    print_inside(pr, pr->tail ? "if (present) " : "");
    close_loops(pr, 1);
}

/* A piece of a routine for each work-item. */
static void print_piece(struct printer *pr)
{
    print_line(pr, "const long number = (long)group * %d + item;", pr->p->group_size);
    print_line(pr, "if (number < %d)", pr->n->routine.pieces);
    pr->indent++;
    print_routine(pr, "number", "number + 1");
    pr->indent--;
}

/* Whether a nest adds up blocks of the batch, and the lanes of each. */
static bool adds_blocks(const struct nest *n)
{
    return n->kind == NEST_LOOPS && n->partial && !n->by_sample;
}

/* What is done before the barrier, and the lanes' sums after it. */
enum half { TERMS, SUMS };

static void print_half(struct printer *pr, int start, enum half half)
{
    const struct nest *n = pr->n;
    const bool rows = adds_blocks(n);
    print_line(pr, "if (section_group >= %d && section_group < %d) {", start,
               start + pr->s->groups);
    pr->indent++;
    describe_nest(pr);
    print_line(pr, "const %s group = section_group - %d;", item_index_type(pr), start);
    const struct placement *here = placement_of(pr->p, n);
    if (item_in_chain(pr) && !n->batched && here->parts > 1 && here->replicated)
        print_line(pr, "const int part = group %% %d;", here->parts);
    else if (item_in_chain(pr) && !n->batched && here->parts > 1)
        print_line(pr, "const int part = group;");
    known_reset(pr, 0);
    if (n->kind == NEST_ROUTINE)
        print_piece(pr);
    else if (n->by_sample)
        print_sample_rows(pr);
    else if (rows)
        half == TERMS ? print_row_terms(pr) : print_row_sums(pr);
    else if (n->batched)
        item_in_chain(pr) ? print_chained_samples(pr) : print_samples(pr);
    else if (nest_sums_lanes(n))
        half == TERMS ? print_lane_terms(pr) : print_lane_sums(pr);
    else
        print_items(pr);
    known_reset(pr, 0);
    close_loops(pr, 1);
}

void print_mine(struct printer *pr, int start, int items, const char *group)
{
    print_line(pr, "const bool mine = section_group >= %d && section_group < %d;", start,
               start + pr->s->groups);
    if (items < pr->p->group_size)
        print_line(pr, "const bool busy = mine && item < %d;", items);
    print_line(pr, "const %s %s = mine ? section_group - %d : 0;", item_index_type(pr), group,
               start);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static bool sums_lanes(const struct nest *n)
{
    return n->kind == NEST_LOOPS && nest_sums_lanes(n);
}

/* Words of local memory that a nest takes. */
static int exchange_words(const struct program_ir *p, const struct nest *n)
{
    const struct schedule *s = schedule_of(p, n);
    int words = 0;
    for (int k = 0; k < s->staging.panels; k++)
        words = s->staging.panel[k].begin + s->staging.panel[k].words;
    return sums_lanes(n) ? team_lanes_at_once(n, s) * (p->group_size / LANES * ITEM_PITCH) : words;
}

void print_team(const struct program_ir *p, int kernel, struct text *out)
{
    int words = 0;
    bool wide = false, staged = false;
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct nest *n = &p->nests[*r.at];
        const int own = exchange_words(p, n);
        words = own > words ? own : words;
        wide |= sums_lanes(n) && dtype_is_wide(n->acc_dtype);
        staged |= schedule_of(p, n)->staging.panels > 0;
    }
    text_add(out, "    const int item = (int)get_local_id(0), lane = item %% %d;\n", LANES);
    if (words > 0)
        text_add(out, "    __local %s exchange[%d]%s;\n", wide ? "ulong" : "uint", words,
                 staged ? " __attribute__((aligned(16)))" : "");
}

/* Whether a nest has barriers of its own, outside of those of all sections. */
static bool stands_alone(const struct schedule *s)
{
    return s->staging.panels > 0 || s->lanes_at_once > 0;
}

/* Turns of the longest row of a sum over the batch: a block is one. */
static int count_turns(const struct printer *pr)
{
    bool rows = false;
    for (int i = 0; i < pr->nest_count; i++)
        rows |= adds_blocks(&pr->p->nests[pr->nests[i]]);
    return rows ? (pr->p->blocks + pr->p->groups - 1) / pr->p->groups : 1;
}

/* Where the groups of each section begin; how many there are. */
static int place_groups(const struct printer *pr, int *start)
{
    int groups = 0;
    for (int i = 0; i < pr->nest_count; i++) {
        const int section = pr->p->placements[pr->nests[i]].section;
        int same = 0;
        while (pr->p->placements[pr->nests[same]].section != section)
            same++;
        start[i] = same < i ? start[same] : groups;
        groups += same < i ? 0 : pr->p->schedules[pr->nests[i]].groups;
    }
    return groups;
}

/* Which nests of a kernel. */
enum which { ALL, BLOCKS, OTHERS };

/* The nests of the kernel that come after so many barriers. */
static void print_stage(struct printer *pr, const int *start, int stage, enum which which)
{
    bool sums = false;
    for (int half = TERMS; half <= SUMS; half++) {
        if (half == SUMS && sums)
            print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);");
        for (int i = 0; i < pr->nest_count; i++) {
            take_nest(pr, pr->nests[i]);
            if (placement_of(pr->p, pr->n)->stage != stage || stands_alone(pr->s) ||
                (which != ALL && adds_blocks(pr->n) != (which == BLOCKS)) ||
                (half == SUMS && !sums_lanes(pr->n)))
                continue;
            print_half(pr, start[i], (enum half)half);
            sums |= sums_lanes(pr->n);
        }
    }
}

/* Those that add up blocks, block by block. The others stand outside of that loop: compilers take what they find out once
 * out of it, into registers of all. */
static void print_turns(struct printer *pr, const int *start, int stage)
{
    bool any = false;
    for (int i = 0; i < pr->nest_count; i++)
        any |= adds_blocks(&pr->p->nests[pr->nests[i]]) &&
               !stands_alone(&pr->p->schedules[pr->nests[i]]) &&
               pr->p->placements[pr->nests[i]].stage == stage;
    if (!any)
        return;
    print_for(pr, "for (int turn = 0; turn < %d; ++turn) {", pr->turns);
    print_stage(pr, start, stage, BLOCKS);
    print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE);");
    close_loops(pr, 1);
}

/* Barriers stand in no branch, which not every driver compiles rightly. So all sections do what comes before one
 * first, and then what comes after it; those that take several turns before the others. Before all of them come those that read
 * through local memory, each with barriers of its own. */
void print_nests_gpu(struct printer *pr, struct planned_kernel *k)
{
    int *start = arena_take(pr->p->arena, ((size_t)pr->nest_count + 1) * sizeof *start);
    int last = 0;
    if (start == NULL)
        return;
    k->groups = place_groups(pr, start);
    pr->items = true;
    pr->turns = count_turns(pr);
    for (int i = 0; i < pr->nest_count; i++) {
        take_nest(pr, pr->nests[i]);
        if (pr->s->staging.panels > 0)
            print_staged_nest(pr, start[i]);
        else if (pr->s->lanes_at_once > 0)
            print_rows_in_turn(pr, start[i]);
    }
    for (int i = 0; i < pr->nest_count; i++)
        if (pr->p->placements[pr->nests[i]].stage > last)
            last = pr->p->placements[pr->nests[i]].stage;
    for (int stage = 0; stage <= last; stage++) {
        if (stage > 0)
            print_line(pr, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
        if (pr->turns > 1)
            print_turns(pr, start, stage);
        print_stage(pr, start, stage, pr->turns > 1 ? OTHERS : ALL);
    }
}
