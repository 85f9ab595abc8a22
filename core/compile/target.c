/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of all cost models, each with where it comes from. In: the kind of a device. Out: its
 * figures. Knows neither devices nor the environment: run/device_target.c asks those. */
#include "compile/target.h"

#include "tensor/sum_order.h"

/* By what the driver's compiler takes (PoCL 3.1 on two cores), and by taste: chains of cheap maps
 * are cheaper computed twice than stored. The same for all targets, so that all of them store the
 * same nodes. */
static const struct expression_limits expression = {
    .heavy_map = 8,
    .gather = 4,
    .recomputed = 8,
    .most_weight = 256, /* larger ones: the driver's compiler, and walks through them, take long */
    .most_height = 64,
};

static const struct fusion_limits fusion = {
    /* A launch more costs two cores of PoCL some 50 us, in which both wait: at 2.6 GHz and half
     * of the cores at work these are 131,072 cycles. */
    .tiny_work = 131072,
    .alone_work = 262144,
    .replicated_work = 24576, /* a core has several groups */
    .access_cycles = 4,       /* latency of 14 or so, three in flight */
    /* Drivers' compilers take about a second for so many, and more than twice as long for twice as
     * many. */
    .kernel_weight = 1024,
    .loops_weight = 16,
    .crowd = 256, /* some minutes of compiling without these measures */
    .small_copy = 16384,
};

/* A core of a server with AVX-512: two multiply-adds and two loads a cycle, 32 registers, caches
 * of 48 KiB and 1.25 or 2 MiB. */
static const struct vector_figures vector = {
    .registers = 32,
    .accumulators = 25,
    .points = 256,
    .guarded_points = 128,
    .guarded_extent = 14,
    .unrolled_sum = 8,
    .tile_axes = 2,
    .small_body = 16,
    .latency = 8, /* of 4 cycles, at two a cycle */
    .cycles_per_term = 0.5,
    .load_cycles = 0.05, /* measured: equal loads are not quite free */
    .spill_loads = 3,
    .loop_cycles = 1,
    .point_cycles = 0.01,
    .cache_bytes = 40000,          /* of 48 KiB, or most of one of 32 */
    .line_cycles = 0.4,            /* half hidden by arithmetic */
    .second_cache_bytes = 1000000, /* of 1.25 or 2 MiB */
    .second_line_cycles = 8,
    .code_cycles = 32,
    .group_work = 8192, /* PoCL's cost of a group, ten times over */
    .unrolled_edge = 4,
};

/* Measured with two cores and AVX-512 (bench/RESULTS.md). */
static const struct product_limits product = {
    .own_launch = 2097152,
    .blocks_work = 4194304,
    .blocks_side = 16,
    .sums_work =
        8388608, /* vectors of samples cost a sum over lanes for every element and 16 samples */
    .sums_rows = 16,
    .sums_columns = 32,
    .likely_work =
        33554432, /* a nest copies nothing, and is good while all lies in the second cache */
    .likely_depth = 128,
    .likely_columns = 64,
    .likely_transposed = 32,
};

/* Reasoned from what GPUs have in common; not measured on one. */
static const struct item_figures item = {
    .units = 1,
    .group_items = 64, /* a wavefront, or two warps: four teams */
    .accumulators = 16,
    .unrolled_sum = 8,
    .points = 128,
    .teams_per_unit = 16,
    .lane_sum_points = 4,
    .waste = 1.25,
};

struct target target_vectors(void)
{
    return (struct target){
        .fuse = true,
        .winograd = WINOGRAD_WHERE_FASTER,
        .winograd_channels = 8, /* below, the transforms outweigh what the products save */
        .product = product,
        .expression = expression,
        .fusion = fusion,
        .vector = vector,
        .item = item,
    };
}

struct target target_items(void)
{
    struct target t = target_vectors();
    t.items = true;
    t.winograd = WINOGRAD_NEVER; /* this schedule knows no transforms */
    return t;
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
        { "vector.registers", v->registers, 1, 1024 },
        { "vector.accumulators", v->accumulators, 1, room },
        { "vector.points", v->points, 1, points },
        { "vector.guarded_points", v->guarded_points, 1, points },
        { "vector.guarded_extent", v->guarded_extent, 0, room },
        { "vector.unrolled_sum", v->unrolled_sum, 1, room },
        { "vector.unrolled_edge", v->unrolled_edge, 0, room },
        { "vector.tile_axes", v->tile_axes, 0, 4 }, /* all their divisors are tried */
    };
    const struct {
        const char *name;
        double value, least, most;
    } real[] = {
        { "vector.latency", v->latency, 1, (double)room }, /* accumulators of a sum, too */
        { "vector.cycles_per_term", v->cycles_per_term, 0, 1e6 },
        { "vector.load_cycles", v->load_cycles, 0, 1e6 },
        { "vector.spill_loads", v->spill_loads, 0, 1e6 },
        { "vector.loop_cycles", v->loop_cycles, 0, 1e6 },
        { "vector.point_cycles", v->point_cycles, 0, 1e6 },
        { "vector.cache_bytes", v->cache_bytes, 0, 1e15 },
        { "vector.line_cycles", v->line_cycles, 0, 1e6 },
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
        { "item.unrolled_sum", f->unrolled_sum, 1, TARGET_MOST_ACCUMULATORS },
        { "item.points", f->points, 1, TARGET_MOST_POINTS },
        { "item.teams_per_unit", f->teams_per_unit, 0, 1 << 10 },
        { "item.lane_sum_points", f->lane_sum_points, 1, TARGET_MOST_ACCUMULATORS },
    };
    TRY(check_whole(list, sizeof list / sizeof *list));
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
           a->sums_batch == b->sums_batch;
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
