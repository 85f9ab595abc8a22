/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of all cost models, each with where it comes from: a formula of the device's figures,
 * or what algorithm and driver demand on any device. In: figures. Out: a target. Knows neither
 * devices nor the environment: run/device_target.c asks those. */
#include "compile/target.h"

#include <limits.h>
#include <math.h>

#include "figures.h"
#include "tensor/sum_order.h"

/* By what the driver's compiler takes, and by taste: chains of cheap maps are cheaper computed
 * twice than stored. The same for all targets, so that all of them store the same nodes. */
static const struct expression_limits expression = {
    .heavy_map = 8,
    .gather = 4,
    .recomputed = 8,
    .recomputed_later = 24,
    .most_weight = 256, /* larger ones: the driver's compiler, and walks through them, take long */
    .most_height = 64,
};

/* Cycles that a unit could compute in while one more kernel is launched: in the launch itself, and
 * in as much again, since units wait for the slowest at a kernel's end. */
static double launch_cycles(const struct device_figures *f)
{
    return 2 * f->launch_seconds * f->cycles_per_second;
}

/* Multiply-adds of a unit in that time. */
static double launch_work(const struct device_figures *f)
{
    return launch_cycles(f) * f->fmas_per_cycle * f->lanes;
}

/* Registers that 16 lanes take. */
static int registers_of_lanes(const struct device_figures *f)
{
    return f->lanes < LANES ? (LANES + f->lanes - 1) / f->lanes : 1;
}

/* A part of a cache, since code, stacks and the values of other loops lie there, too. */
static double usable_first(const struct device_figures *f)
{
    return 0.8 * (double)f->l1_bytes;
}

static double usable_second(const struct device_figures *f)
{
    return 0.5 * (double)f->l2_bytes;
}

static struct fusion_limits fusion_of(const struct device_figures *f)
{
    const double launch = launch_cycles(f);
    return (struct fusion_limits){
        .tiny_work = launch,
        .cut_work = launch / 2,
        .alone_work = 2 * launch, /* the other units would wait for a launch, and for this one */
        /* A unit has several of the groups that do it again. */
        .replicated_work = launch * 3 / MAX_GROUPS,
        /* A load, or a store, which reads a line and writes it back. */
        .access_cycles = (int)ceil(3 * f->l2_line_cycles),
        /* Drivers' compilers (LLVM in all that are known) take about a second for so many, and more
         * than twice as long for twice as many. */
        .kernel_weight = 1024,
        .matrix_bytes = 8e6,
        .routine_weight = 128,
        .loops_weight = 16,
        .crowd = 256, /* some minutes of compiling without these measures */
        .small_copy = 16384,
    };
}

/* The most accumulators that leave room for what a nearly square tile of them multiplies: a column
 * of scalars, one register each, and one vector. */
static int fitting_accumulators(const struct device_figures *f)
{
    const int width = registers_of_lanes(f);
    int count = 1;
    while ((count + 2) * width + (int)ceil(sqrt(count + 1)) <= f->registers &&
           count < TARGET_MOST_ACCUMULATORS)
        count++;
    return count;
}

/* Cycles that a line takes beside those of the ports that load it. */
static double beside_ports(double cycles, const struct vector_figures *v)
{
    const double ports = v->width * v->port_cycles;
    return cycles > ports ? cycles - ports : 0;
}

/* Of a cache with lines of 64 bytes, of which so many ways hold those that share a set: a power of two. */
static int sets_of(double way_bytes)
{
    int sets = 1;
    while (2 * 64.0 * sets <= way_bytes && sets < 1 << 20)
        sets *= 2;
    return sets;
}

static struct vector_figures vector_of(const struct device_figures *f)
{
    const int accumulators = fitting_accumulators(f), width = registers_of_lanes(f);
    const double under_way = f->fma_latency * f->fmas_per_cycle / width;
    struct vector_figures v = {
        .units = f->units,
        .registers = f->registers,
        .width = width,
        .accumulators = accumulators,
        /* Code: of first caches of instructions and decoded ones, which are alike everywhere. */
        .points = 256,
        .guarded_points = 128,
        .unrolled_sum = 8,
        .unrolled_edge = 4,
        .guarded_extent = accumulators < 14 ? accumulators : 14,
        .tile_axes = 2,
        .small_body = 16,
        .latency = under_way < 1 ? 1 : fmin(under_way, TARGET_MOST_ACCUMULATORS),
        .cycles_per_term = width / f->fmas_per_cycle,
        .port_cycles = 1 / f->loads_per_cycle,
        .spare_load = 0.1, /* measured: equal loads are not quite free */
        .spill_loads = 3,  /* a store, which takes two, and a load */
        .loop_cycles = 1,  /* a count and a jump, beside the arithmetic */
        .point_cycles = 0.01,
        .cache_bytes = usable_first(f),
        .second_cache_bytes = usable_second(f),
        /* First caches are looked into while addresses are translated, so a way of them is a page; second ones
         * have 16 ways, or 8. */
        .sets = sets_of(4096),
        .second_sets = sets_of((double)f->l2_bytes / 16),
        .ways = (int)fmax(1, fmin((double)f->l1_bytes / 4096, 128)),
        .pushed_cycles =
            10 * f->l2_line_cycles, /* nothing asked for it ahead: it takes its latency */
        /* Measured: gradients of strided convolutions took 46 cycles for 16 lanes, which are put in their places one by one;
         * others are shuffled. */
        .apart_loads = 2,
        .anywhere_loads = 5,
        .crowded_loads = 4,
        .every_other_loads = 3,
        .turned_loads = 5,
        .code_cycles = 32,
        .group_work = launch_cycles(f) / MAX_GROUPS, /* all groups of a nest pay for a launch */
    };
    /* A core looks ahead far enough to hide half of the one behind arithmetic, not of the other. */
    v.line_cycles = beside_ports(f->l2_line_cycles, &v) / 2;
    /* Measured, with kernels of 15 networks: 2 cycles, as caches that give 32 bytes a cycle. */
    v.whole_line_cycles = 1.5 * f->l2_line_cycles;
    v.second_line_cycles = beside_ports(f->far_line_cycles, &v);
    if (v.group_work < 1)
        v.group_work = 1;
    return v;
}

/* Multiply-adds of a cube whose three matrices fill so many bytes. */
static double cube_in(double bytes)
{
    const double side = sqrt(bytes / (3 * sizeof(float)));
    return side * side * side;
}

static struct product_limits product_of(const struct device_figures *f)
{
    const double launch = launch_work(f);
    return (struct product_limits){
        .own_launch = launch / 2, /* two units at least share it */
        .blocks_work = launch,
        .sums_work = 8388608, /* it decides the order of a sum: one for all devices */
        /* A nest copies nothing, and is good while all lies in the second cache. */
        .likely_work = cube_in(usable_second(f)),
        /* Each element of a panel is copied once and used by so many others: */
        .blocks_side = LANES,
        .sums_rows = LANES,
        .sums_columns = 2 * LANES,
        .likely_depth = 8 * LANES,
        .likely_columns = 4 * LANES,
        .likely_transposed = 2 * LANES,
        /* Elements are turned over in squares, which takes about as long as a tile of rows: */
        .turned_rows = 4 * LANES,
        .half_readers = 1U << 1 | 1U << 3 | 1U << 4, /* kernels/gemm.cl, however it is cut */
    };
}

/* Reasoned from what GPUs have in common; not measured on one. */
static struct item_figures item_of(const struct device_figures *f)
{
    /* Work-items that hide the latency of a multiply-add, with two of each under way. */
    const double items = f->fma_latency * f->fmas_per_cycle * f->lanes / 2;
    const int sums = f->registers * 3 / 8, accumulators = f->registers * 5 / 16, group = 16 * LANES;
    return (struct item_figures){
        .units = f->units,
        .group_items = f->group_items > 0 ? f->group_items
                       : f->lanes > group ? f->lanes / LANES * LANES
                                          : group, /* whole wavefronts */
        .accumulators = accumulators < 1                          ? 1
                        : accumulators > TARGET_MOST_ACCUMULATORS ? TARGET_MOST_ACCUMULATORS
                                                                  : accumulators,
        .running_sums = sums < 1 ? 1 : sums,
        .unrolled_sum = 8, /* code, as above */
        .points = 256,
        /* A load takes as long as a hundred multiply-adds, and few work-items may be there to fill the time. */
        .loads_under_way = 32,
        .teams_per_unit = (int)ceil(items / LANES),
        /* Of the makers' guides: units hold some eight times what hides the latency of arithmetic; */
        .resident_teams = 8 * (int)ceil(items / LANES),
        /* and a load from the second cache takes 300 to 600 cycles: rounds of maps took 0.2 to 0.4 us of an H100. */
        .round_cycles = 400,
        .request_cycles = 3, /* of kernels of an H100: bench/gpu_model.py */
        .barrier_cycles = f->barrier_seconds * f->cycles_per_second,
        .lane_sum_points = 4,
        .lane_sum_terms = 512,          /* eight in a round: as long as a launch or two */
        .panel_bytes = f->l1_bytes / 3, /* so that a unit has three groups */
        .waste = 1.25,
    };
}

/* A copy reads and writes; what it takes beyond reading is of writing. */
static struct time_figures time_of(const struct device_figures *f)
{
    const double units = f->units < 1 ? 1 : f->units;
    const double copy = 64 * units * f->cycles_per_second / f->copy_bytes_per_second;
    const double read = f->items ? copy / 2 : f->far_line_cycles;
    return (struct time_figures){
        .cycles_per_second = f->cycles_per_second,
        .launch_seconds = f->launch_seconds,
        .read_cycles = read,
        .write_cycles = copy > 2 * read ? copy - read : read,
        .term_rate = f->fmas_per_cycle * f->lanes,
    };
}

struct target target_of(const struct device_figures *f)
{
    return (struct target){
        .items = f->items,
        .fuse = true,
        /* The schedule of items knows no transforms. */
        .winograd = f->items ? WINOGRAD_NEVER : WINOGRAD_WHERE_FASTER,
        .winograd_channels = 8, /* below, the transforms outweigh what the products save */
        /* Scratch is worth it while it stays near: in the second cache of a core. */
        .local_bytes = f->items ? f->l1_bytes : f->l2_bytes,
        .product = product_of(f),
        .expression = expression,
        .fusion = fusion_of(f),
        .vector = vector_of(f),
        .item = item_of(f),
        .time = time_of(f),
    };
}

struct target target_common(void)
{
    struct device_figures f;
    (void)figures_kind("avx512", &f);
    f.units = 2;
    return target_of(&f);
}

/* ---- what the compiler can work with -------------------------------------------------------- */

struct whole_figure {
    const char *name;
    long long value, least, most;
};

static tarn_status check_whole(const struct whole_figure *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].value < list[i].least || list[i].value > list[i].most)
            return error_set(TARN_ERR_ARGUMENT,
                             "compile: the target's %s is %lld, must be from %lld to %lld",
                             list[i].name, list[i].value, list[i].least, list[i].most);
    return TARN_OK;
}

static tarn_status check_vector(const struct vector_figures *v)
{
    const long long room = TARGET_MOST_ACCUMULATORS, points = TARGET_MOST_POINTS;
    const struct whole_figure list[] = {
        { "vector.units", v->units, 0, 1 << 20 },
        { "vector.registers", v->registers, 1, 1024 },
        { "vector.width", v->width, 1, LANES },
        { "vector.accumulators", v->accumulators, 1, room },
        { "vector.points", v->points, 1, points },
        { "vector.guarded_points", v->guarded_points, 1, points },
        { "vector.guarded_extent", v->guarded_extent, 0, room },
        { "vector.unrolled_sum", v->unrolled_sum, 1, room },
        { "vector.unrolled_edge", v->unrolled_edge, 0, room },
        { "vector.sets", v->sets, 1, 1 << 20 },
        { "vector.ways", v->ways, 1, 255 },
        { "vector.second_sets", v->second_sets, 1, 1 << 20 },
        { "vector.tile_axes", v->tile_axes, 0, 4 }, /* all their divisors are tried */
    };
    const struct {
        const char *name;
        double value, least, most;
    } real[] = {
        { "vector.latency", v->latency, 1, (double)room }, /* accumulators of a sum, too */
        { "vector.cycles_per_term", v->cycles_per_term, 0, 1e6 },
        { "vector.port_cycles", v->port_cycles, 0, 1e6 },
        { "vector.spare_load", v->spare_load, 0, 1e6 },
        { "vector.spill_loads", v->spill_loads, 0, 1e6 },
        { "vector.loop_cycles", v->loop_cycles, 0, 1e6 },
        { "vector.point_cycles", v->point_cycles, 0, 1e6 },
        { "vector.cache_bytes", v->cache_bytes, 0, 1e15 },
        { "vector.line_cycles", v->line_cycles, 0, 1e6 },
        { "vector.whole_line_cycles", v->whole_line_cycles, 0, 1e6 },
        { "vector.apart_loads", v->apart_loads, 0, 1e6 },
        { "vector.anywhere_loads", v->anywhere_loads, 0, 1e6 },
        { "vector.crowded_loads", v->crowded_loads, 0, 1e6 },
        { "vector.every_other_loads", v->every_other_loads, 0, 1e6 },
        { "vector.turned_loads", v->turned_loads, 0, 1e6 },
        { "vector.second_cache_bytes", v->second_cache_bytes, 0, 1e15 },
        { "vector.second_line_cycles", v->second_line_cycles, 0, 1e6 },
        { "vector.code_cycles", v->code_cycles, 0, 1e6 },
        { "vector.group_work", v->group_work, 1, 1e15 },
    };
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (!(real[i].value >= real[i].least && real[i].value <= real[i].most)) /* NaN is neither */
            return error_set(TARN_ERR_ARGUMENT,
                             "compile: the target's %s is %g, must be from %g to %g", real[i].name,
                             real[i].value, real[i].least, real[i].most);
    return check_whole(list, sizeof list / sizeof *list);
}

static tarn_status check_items(const struct item_figures *f)
{
    const struct whole_figure list[] = {
        { "item.units", f->units, 0, 1 << 20 },
        { "item.group_items", f->group_items, LANES, TARGET_MOST_ITEMS },
        { "item.accumulators", f->accumulators, 1, TARGET_MOST_ACCUMULATORS },
        { "item.running_sums", f->running_sums, 1, 1 << 10 },
        { "item.unrolled_sum", f->unrolled_sum, 1, TARGET_MOST_ACCUMULATORS },
        { "item.points", f->points, 1, TARGET_MOST_POINTS },
        { "item.loads_under_way", f->loads_under_way, 1, TARGET_MOST_POINTS },
        { "item.teams_per_unit", f->teams_per_unit, 0, 1 << 10 },
        { "item.resident_teams", f->resident_teams, 0, 1 << 20 },
        { "item.lane_sum_points", f->lane_sum_points, 1, TARGET_MOST_ACCUMULATORS },
        { "item.lane_sum_terms", f->lane_sum_terms, 0, INT_MAX },
    };
    TRY(check_whole(list, sizeof list / sizeof *list));
    if (!(f->round_cycles >= 0 && f->barrier_cycles >= 0)) /* NaN is neither */
        return error_set(
            TARN_ERR_ARGUMENT,
            "compile: the target's item.round_cycles is %g and item.barrier_cycles %g, "
            "must not be negative",
            f->round_cycles, f->barrier_cycles);
    if (f->group_items % LANES != 0)
        return error_set(TARN_ERR_ARGUMENT,
                         "compile: the target's item.group_items is %d, must be a multiple of %d: "
                         "a group is whole teams",
                         f->group_items, LANES);
    return TARN_OK;
}

tarn_status target_check(const struct target *t)
{
    const struct whole_figure list[] = {
        { "fusion.crowd", t->fusion.crowd, 1, 1 << 30 },
        { "choice_count", t->choice_count, 0, t->choices != NULL ? 1 << 30 : 0 },
        { "tile_count", t->tile_count, 0, t->tiles != NULL ? 1 << 30 : 0 },
        { "tile_number", t->tile_number, 0, TARGET_TILES - 1 },
    };
    TRY(check_whole(list, sizeof list / sizeof *list));
    for (int i = 0; i < t->choice_count; i++) {
        const struct whole_figure provider = { "provider of a product", t->choices[i].provider, 0,
                                               100 };
        TRY(check_whole(&provider, 1));
    }
    TRY(check_vector(&t->vector));
    return check_items(&t->item);
}

/* ---- products ------------------------------------------------------------------------------- */

static bool same_shape(const struct product_shape *a, const struct product_shape *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->batch == b->batch &&
           a->transpose_a == b->transpose_a && a->transpose_b == b->transpose_b &&
           a->sums_batch == b->sums_batch && a->sample_rows == b->sample_rows;
}

const struct product_choice *target_choice(const struct target *t,
                                           const struct product_shape *shape)
{
    for (int i = 0; i < t->choice_count; i++)
        if (same_shape(&t->choices[i].shape, shape))
            return &t->choices[i];
    return NULL;
}

int target_provider(const struct target *t, const struct product_shape *shape)
{
    const struct product_choice *chosen = target_choice(t, shape);
    return chosen != NULL ? chosen->provider : 0;
}

int target_tile(const struct target *t, uint64_t sum)
{
    for (int i = 0; i < t->tile_count; i++)
        if (t->tiles[i].sum == sum)
            return t->tiles[i].number;
    return t->tile_number;
}

/* Besides the accumulators a row of the other operand and one element of the first are in registers. */
int target_routine_vectors(const struct target *t)
{
    return t->vector.registers / t->vector.width >= 2 * LANES ? 2 : 1;
}

int target_routine_rows(const struct target *t)
{
    const int vectors = target_routine_vectors(t);
    const int most = (t->vector.registers / t->vector.width - vectors - 1) / vectors;
    int rows = 1;
    while (2 * rows <= most && rows < LANES / 2)
        rows *= 2;
    return rows;
}
