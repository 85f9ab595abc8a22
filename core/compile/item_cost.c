/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the schedule of work-items, for people and tests: from axes, tiles and addresses alone, as
 * 6_source/print_items.c deals them out. In: a scheduled nest. Out: its struct item_cost. Changes nothing, and
 * knows no device. */
#include "compile/item_cost.h"

#include "compile/lane.h"
#include "compile/panel.h"
#include "tensor/sum_order.h"

enum { SAMPLES = 16, MOST_TERMS = 512 };
/* Rounds that wait for memory as long as one in which all loads of a panel are under way does, and rounds over local
 * memory that wait as long as one over the rest. */
enum { UNDER_WAY = 4, LOCAL_ROUNDS = 8 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t rounds_up(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

/* ---- who does what -------------------------------------------------------------------------- */

static bool in_chain(const struct program_ir *p, const struct nest *n)
{
    return placement_of(p, n)->chain >= 0;
}

/* As nest_slice_tiles() of the schedule. */
static int64_t tiles_of(const struct program_ir *p, const struct nest *n)
{
    const struct schedule *s = schedule_of(p, n);
    int64_t count = 1;
    for (int a = 0; a < n->out_axes; a++)
        count *= a == nest_vector_axis(n, s) ? 1 : chain_slice(p, n, a) / s->tile[a];
    return count;
}

/* Of the axis that groups of a chain divide, where a group begins; 0 of others. */
static int32_t slice_begin(const struct program_ir *p, const struct nest *n, int64_t group,
                           int axis)
{
    const struct placement *here = placement_of(p, n);
    const bool divided = here->chain >= 0 && axis == here->part_axis;
    return divided ? (int32_t)(group % here->parts) * chain_slice(p, n, axis) : 0;
}

/* The first element of a tile of the OUT axes. */
static void take_tile(const struct program_ir *p, const struct nest *n, int64_t group, int64_t tile,
                      int32_t *at)
{
    const struct schedule *s = schedule_of(p, n);
    for (int a = n->out_axes - 1; a >= 0; a--) {
        if (a == nest_vector_axis(n, s))
            continue;
        const int32_t tiles = chain_slice(p, n, a) / s->tile[a];
        at[a] = slice_begin(p, n, group, a) + (int32_t)(tile % tiles) * s->tile[a];
        tile /= tiles;
    }
}

static int64_t first_block(const struct program_ir *p, int64_t share)
{
    return share * p->blocks / p->groups;
}

/* The tile of a nest with the batch, and the sample in at[]; -1: the work-item has none. */
static int64_t batch_tile(const struct program_ir *p, const struct nest *n, int64_t group, int in,
                          int32_t *at)
{
    const struct schedule *s = schedule_of(p, n);
    const int64_t tiles = tiles_of(p, n), teams = p->group_size / LANES;
    const int64_t team = group * teams + in / LANES, number = group * p->group_size + in;
    int64_t block, tile;
    if (n->by_sample) {
        const int32_t along = n->extent[s->lane_axis];
        at[s->lane_axis] = (int32_t)(number % along);
        at[n->batch_axis] = (int32_t)(LANES * first_block(p, number / (tiles * along)));
        return number < tiles * along * p->groups ? number / along % tiles : -1;
    }
    if (n->partial) {
        const int64_t each = s->groups / p->groups;
        tile = least(group % each * teams + in / LANES, tiles - 1);
        block = first_block(p, group / each);
    } else if (in_chain(p, n)) {
        tile = in / LANES;
        block = group / placement_of(p, n)->parts;
    } else if (s->uniform) {
        const int64_t each = rounds_up(p->blocks, teams);
        tile = group / each;
        block = group % each * teams + in / LANES;
    } else {
        tile = n->combine == COMBINE_FMA ? team / p->blocks : team % tiles;
        block = n->combine == COMBINE_FMA ? team % p->blocks : team / tiles;
    }
    at[n->batch_axis] = (int32_t)least(LANES * block + in % LANES, n->extent[n->batch_axis] - 1);
    return block < p->blocks && tile < tiles ? tile : -1;
}

static bool is_staged(const struct program_ir *p, const struct nest *n)
{
    return schedule_of(p, n)->staging.panels > 0;
}

/* As print_group_axes() of 6_source. */
static void take_staged(const struct program_ir *p, const struct nest *n, int64_t group, int in,
                        int32_t *at)
{
    const struct schedule *s = schedule_of(p, n);
    const struct staging *g = &s->staging;
    const int lane = nest_vector_axis(n, s);
    const int64_t each = n->partial ? s->groups / p->groups : s->groups;
    if (n->by_sample)
        at[n->batch_axis] = (int32_t)(LANES * first_block(p, group / each));
    group %= each;
    const int32_t runs = staging_extent(n, s, lane) / g->lanes, last = n->extent[lane] - 1;
    at[lane] = (int32_t)least((int32_t)(group % runs) * g->lanes + in % g->lanes, last);
    group /= runs;
    for (int a = n->out_axes - 1; a >= 0; a--) {
        const int32_t size = staging_box(n, s, a);
        if (a == lane)
            continue;
        at[a] = (int32_t)(group % (n->extent[a] / size)) * size;
        at[a] += a == g->across ? in / g->lanes * s->tile[a] : 0;
        group /= n->extent[a] / size;
    }
}

/* Where a work-item of a group begins; false: it has nothing to do. Of summed axes an element in the middle, where
 * guards let it through. */
static bool place(const struct program_ir *p, const struct nest *n, int64_t group, int in,
                  int32_t at[NEST_AXES])
{
    const struct schedule *s = schedule_of(p, n);
    const int64_t tiles = tiles_of(p, n), begin = in_chain(p, n) ? 0 : group * p->group_size;
    const int64_t number = begin + in;
    int64_t tile;
    for (int a = 0; a < NEST_AXES; a++)
        at[a] = a >= n->out_axes && a < n->axes ? n->extent[a] / 2 / s->tile[a] * s->tile[a] : 0;
    if (is_staged(p, n)) {
        take_staged(p, n, group, in, at);
        return in < staging_items(&s->staging);
    }
    if (n->batched) {
        tile = batch_tile(p, n, group, in, at);
    } else if (nest_sums_lanes(n)) {
        tile = least(number / LANES, tiles - 1);
        at[s->lane_axis] = in % LANES;
    } else {
        const int32_t along = s->lane_axis < 0 ? 1 : chain_slice(p, n, s->lane_axis);
        if (s->lane_axis >= 0)
            at[s->lane_axis] = slice_begin(p, n, group, s->lane_axis) + (int32_t)(number % along);
        tile = number / along < tiles ? number / along : -1;
    }
    if (tile >= 0)
        take_tile(p, n, group, tile, at);
    return tile >= 0;
}

/* ---- addresses ------------------------------------------------------------------------------ */

static int64_t affine_at(const struct affine *e, const int32_t *at)
{
    int64_t sum = e->constant;
    for (int a = 0; a < NEST_AXES; a++)
        sum += (int64_t)e->k[a] * at[a];
    return sum;
}

/* The byte of its value at which an element lies. */
static int64_t byte_at(const struct program_ir *p, const struct nest *n, const struct access *x,
                       const int32_t *at)
{
    const struct value *v = &p->values[x->value];
    int64_t element = affine_at(&x->address, at);
    for (int i = 0; i < x->part_count; i++)
        element +=
            x->part[i].stride * (affine_at(&x->part[i].index.e, at) / x->part[i].index.divide);
    if (x->in_block) {
        const int64_t sample = at[n->batch_axis],
                      each = tarn_shape_count(v->shape) / v->shape.dim[0];
        element = LANES * (sample / LANES * each + element) + sample % LANES;
    }
    return element * (int64_t)tarn_dtype_bytes(v->dtype);
}

/* ---- sectors -------------------------------------------------------------------------------- */

/* How many sectors the work-items of one request touch; 0: none of them has anything to do. */
static int request_sectors(const struct program_ir *p, const struct nest *n, const struct access *x,
                           int64_t group, int first)
{
    int64_t seen[REQUEST_ITEMS];
    int count = 0;
    for (int i = first; i < first + REQUEST_ITEMS && i < p->group_size; i++) {
        int32_t at[NEST_AXES];
        int known = 0;
        if (!place(p, n, group, i, at))
            continue;
        const int64_t byte = byte_at(p, n, x, at);
        const int64_t sector = byte / SECTOR_BYTES - (byte % SECTOR_BYTES < 0);
        while (known < count && seen[known] != sector)
            known++;
        seen[known] = sector;
        count += known == count;
    }
    return count;
}

/* The mean over requests of groups from all of the nest. */
static double access_sectors(const struct program_ir *p, const struct nest *n,
                             const struct access *x)
{
    const int groups = schedule_of(p, n)->groups;
    const int samples = groups < SAMPLES ? groups : SAMPLES;
    double sum = 0;
    int requests = 0;
    for (int i = 0; i < samples; i++) {
        const int64_t group = (int64_t)groups * (2 * i + 1) / (2 * samples);
        for (int first = 0; first < p->group_size; first += REQUEST_ITEMS) {
            const int sectors = request_sectors(p, n, x, group, first);
            sum += sectors;
            requests += sectors > 0;
        }
    }
    return requests > 0 ? sum / requests : 0;
}

/* The panel that a load reads; -1: none. */
static int panel_of(const struct program_ir *p, const struct nest *n, const struct access *x)
{
    const struct staging *g = &schedule_of(p, n)->staging;
    for (int k = 0; k < g->panels; k++)
        if (x == &n->exprs[g->panel[k].expr].access)
            return k;
    return -1;
}

/* Likewise, of the group's copy into a panel. */
static double copy_sectors(const struct program_ir *p, const struct nest *n, int panel)
{
    const struct schedule *s = schedule_of(p, n);
    const struct panel *of = &s->staging.panel[panel];
    int64_t all = 1, seen[REQUEST_ITEMS];
    int axes[NEST_AXES], turn[NEST_AXES], sectors = 0;
    const int count = panel_axes(n, of, axes);
    for (int i = 0; i < count; i++) {
        turn[i] = of->in_turn && axes[i] == of->first ? s->tile[of->first] : 1;
        all *= of->box[axes[i]] / turn[i];
    }
    for (int in = 0; in < REQUEST_ITEMS && in < all; in++) {
        int32_t at[NEST_AXES] = { 0 };
        int known = 0;
        for (int i = 0, rest = in; i < count; i++) {
            const int32_t here = of->box[axes[i]] / turn[i];
            at[axes[i]] = rest % here * turn[i];
            rest /= here;
        }
        const int64_t sector = byte_at(p, n, &n->exprs[of->expr].access, at) / SECTOR_BYTES;
        while (known < sectors && seen[known] != sector)
            known++;
        seen[known] = sector;
        sectors += known == sectors;
    }
    return sectors;
}

static void weigh_access(const struct program_ir *p, const struct nest *n, const struct access *x,
                         struct item_sectors *most)
{
    const int panel = panel_of(p, n, x);
    if (p->values[x->value].place == PLACE_SCRATCH)
        return; /* near */
    const double mean = panel >= 0      ? copy_sectors(p, n, panel)
                        : x->gather < 0 ? access_sectors(p, n, x)
                                        : 0;
    if (mean > most->mean)
        *most = (struct item_sectors){ mean, x->value };
}

/* Where lanes are added up one of them stores, and rows of partial sums are not addressed by the nest. */
static void weigh_accesses(const struct program_ir *p, const struct nest *n, struct item_cost *c)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD)
            weigh_access(p, n, &n->exprs[e].access, &c->read);
    for (int i = 0; i < n->stores && !n->partial && !nest_sums_lanes(n); i++) {
        const struct access to = { .value = n->store[i].value,
                                   .address = n->store[i].address,
                                   .in_block = n->store[i].in_block,
                                   .gather = -1 };
        weigh_access(p, n, &to, &c->written);
    }
}

/* ---- loads ---------------------------------------------------------------------------------- */

/* Moves to the next term of the unrolled tile; false after the last. */
static bool next_term(const struct nest *n, const struct schedule *s, int32_t *in, int32_t *at)
{
    for (int a = n->axes - 1; a >= 0; a--) {
        const int32_t size = a == nest_vector_axis(n, s) ? 1 : s->tile[a];
        at[a]++;
        if (++in[a] < size)
            return true;
        at[a] -= size;
        in[a] = 0;
    }
    return false;
}

/* Distinct addresses of one load among the terms of a tile. */
static int tile_addresses(const struct program_ir *p, const struct nest *n, const struct access *x,
                          int *terms)
{
    int64_t seen[MOST_TERMS];
    int32_t at[NEST_AXES], in[NEST_AXES] = { 0 };
    int count = 0;
    *terms = 0;
    (void)place(p, n, 0, 0, at);
    do {
        const int64_t byte = byte_at(p, n, x, at);
        int known = 0;
        while (known < count && seen[known] != byte)
            known++;
        seen[known] = byte;
        count += known == count;
        ++*terms;
    } while (next_term(n, schedule_of(p, n), in, at) && *terms < MOST_TERMS);
    return count;
}

double nest_item_addresses(const struct program_ir *p, const struct nest *n, const struct access *x)
{
    int terms;
    const int addresses = tile_addresses(p, n, x, &terms);
    return (double)addresses / terms;
}

/* Those of a panel, and the loads and stores that fill it. */
static double panel_loads(const struct program_ir *p, const struct nest *n, int panel)
{
    const struct schedule *s = schedule_of(p, n);
    const struct panel *of = &s->staging.panel[panel];
    double points = 1;
    for (int a = 0; a < n->out_axes; a++)
        points *= a == nest_vector_axis(n, s) ? 1 : s->tile[a];
    const double addresses = points * nest_item_addresses(p, n, &n->exprs[of->expr].access);
    return panel_requests(p, n, s, of, addresses) / points;
}

static double term_loads(const struct program_ir *p, const struct nest *n, int root, bool *met)
{
    double sum = 0;
    if (root < 0 || met[root])
        return 0;
    const struct expr *e = &n->exprs[root];
    met[root] = true;
    for (int i = 0; i < e->args; i++)
        sum += term_loads(p, n, e->arg[i], met);
    const int panel = e->kind == EXPR_LOAD ? panel_of(p, n, &e->access) : -1;
    if (panel >= 0)
        return sum + panel_loads(p, n, panel);
    if (e->kind == EXPR_LOAD) {
        sum += nest_item_addresses(p, n, &e->access);
        sum += term_loads(p, n, e->access.gather, met);
    }
    return sum;
}

double nest_item_loads(const struct program_ir *p, const struct nest *n)
{
    double loads = 0;
    bool *met = arena_take(p->arena, (size_t)n->expr_count + 1);
    if (met == NULL)
        return 0;
    for (int s = 0; s < n->stores && n->combine == COMBINE_NONE; s++)
        loads += term_loads(p, n, n->store[s].expr, met);
    if (n->combine != COMBINE_NONE)
        loads += term_loads(p, n, n->body[0], met);
    if (n->combine == COMBINE_FMA)
        loads += term_loads(p, n, n->body[1], met);
    return loads;
}

/* ---- chains --------------------------------------------------------------------------------- */

/* Rounds in which the group of a chain does its slice of a nest. */
static double chain_rounds(const struct program_ir *p, const struct nest *n)
{
    const struct schedule *s = schedule_of(p, n);
    const bool by_items = !n->batched && !nest_sums_lanes(n);
    const int32_t along = by_items && s->lane_axis >= 0 ? chain_slice(p, n, s->lane_axis) : 1;
    const int64_t at_once = by_items ? p->group_size : p->group_size / LANES;
    return in_chain(p, n) ? (double)rounds_up(tiles_of(p, n) * along, at_once) : 1;
}

/* Rounds of the loops over summed axes. */
static double sum_rounds(const struct program_ir *p, const struct nest *n)
{
    const struct schedule *s = schedule_of(p, n);
    const bool shares_lanes = !n->batched && nest_sums_lanes(n);
    double rounds = 1;
    for (int a = n->out_axes; a < n->axes; a++) {
        if (n->batched && a == n->batch_axis)
            continue;
        const int32_t extent = n->extent[a];
        rounds *= shares_lanes && a == s->lane_axis ? extent / LANES + extent % LANES
                                                    : (double)rounds_up(extent, s->tile[a]);
    }
    if (n->partial)
        rounds *= (double)rounds_up(p->blocks, p->groups) *
                  (n->by_sample ? (double)LANES / s->tile[n->batch_axis] : 1);
    if (is_staged(p, n)) {
        double steps = n->by_sample ? (double)rounds_up(p->blocks, p->groups)
                                    : (double)n->extent[s->staging.axis] / s->staging.step;
        for (int a = n->out_axes; a < s->staging.axis; a++)
            steps *= n->extent[a];
        rounds = UNDER_WAY * steps + rounds / LOCAL_ROUNDS;
    }
    return rounds;
}

/* An axis without elements has no tiles either. */
static bool is_empty(const struct nest *n)
{
    for (int a = 0; a < n->axes; a++)
        if (n->extent[a] == 0)
            return true;
    return false;
}

double nest_item_rounds(const struct program_ir *p, const struct nest *n)
{
    return is_empty(n) ? 1 : sum_rounds(p, n) * chain_rounds(p, n);
}

struct item_cost nest_item_cost(const struct program_ir *p, const struct nest *n)
{
    struct item_cost c = { .groups = schedule_of(p, n)->groups, .chain = 1 };
    if (n->kind != NEST_LOOPS)
        return c;
    c.chain = nest_item_rounds(p, n);
    if (is_empty(n))
        return c;
    c.terms = placement_of(p, n)->replicated ? c.groups / placement_of(p, n)->parts : 1;
    for (int a = 0; a < n->axes; a++)
        c.terms *= n->extent[a];
    weigh_accesses(p, n, &c);
    c.loads = nest_item_loads(p, n);
    return c;
}
