/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of kernels for any target: they depend on nothing but program and target, the
 * order of every sum is the same for all, more units get more groups, and figures that the
 * compiler has no room for are refused. */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "compile/nest.h"
#include "error.h"

static char *text_of(const struct graph_case *g, const struct target *t)
{
    struct kernel_plan plan;
    compile_case(g, t, &plan);
    char *text = plan_text(&plan);
    kernel_plan_free(&plan);
    return text;
}

static char *order_of(const struct graph_case *g, const struct target *t)
{
    struct kernel_plan plan;
    compile_case(g, t, &plan);
    char *text = sum_order_text(&plan);
    kernel_plan_free(&plan);
    return text;
}

static const struct graph_case *graph_named(const char *name)
{
    for (int i = 0; i < graph_case_count; i++)
        if (strcmp(graph_cases[i].name, name) == 0)
            return &graph_cases[i];
    cr_assert_fail("no graph %s", name);
    return NULL;
}

static int groups_of(const char *graph, const struct target *t)
{
    struct kernel_plan plan;
    int groups = 0;
    compile_case(graph_named(graph), t, &plan);
    for (int i = 0; i < plan.kernel_count; i++)
        groups += plan.kernels[i].groups;
    kernel_plan_free(&plan);
    return groups;
}

Test(targets, the_same_program_gives_the_same_bytes)
{
    for (int g = 0; g < graph_case_count; g++)
        for (int t = 0; t < target_case_count; t++) {
            const struct target target = target_cases[t].make();
            char *first = text_of(&graph_cases[g], &target);
            char *second = text_of(&graph_cases[g], &target);
            cr_expect_str_eq(first, second, "%s for %s", graph_cases[g].name, target_cases[t].name);
            free(first);
            free(second);
        }
}

/* ---- the order of sums ---------------------------------------------------------------------- */

/* Convolutions summed directly: Winograd's are other sums, and only some targets want them. */
static struct target directly(int number)
{
    struct target t = target_cases[number].make();
    t.winograd = WINOGRAD_NEVER;
    return t;
}

Test(targets, sums_have_one_order_for_all)
{
    for (int g = 0; g < graph_case_count; g++) {
        const struct target base = directly(0);
        char *wanted = order_of(&graph_cases[g], &base);
        for (int t = 1; t < target_case_count; t++) {
            const struct target target = directly(t);
            char *seen = order_of(&graph_cases[g], &target);
            cr_expect_str_eq(seen, wanted, "%s for %s sums\n%s, but for %s\n%s",
                             graph_cases[g].name, target_cases[t].name, seen, target_cases[0].name,
                             wanted);
            free(seen);
        }
        free(wanted);
    }
}

/* Each figure by itself, at either end of what is allowed: one that leaks into the order of sums
 * shows here, whichever it is. */
static void set_figure(struct target *t, int number, bool high)
{
    const int most = high ? TARGET_MOST_ACCUMULATORS : 1;
    struct vector_figures *v = &t->vector;
    struct item_figures *f = &t->item;
    struct {
        int *figure;
        int value;
    } whole[] = {
        { &v->registers, high ? 1024 : 1 },
        { &v->width, high ? 16 : 1 },
        { &v->accumulators, most },
        { &v->points, high ? TARGET_MOST_POINTS : 1 },
        { &v->guarded_points, high ? TARGET_MOST_POINTS : 1 },
        { &v->guarded_extent, high ? TARGET_MOST_ACCUMULATORS : 0 },
        { &v->unrolled_sum, most },
        { &v->tile_axes, high ? 4 : 0 },
        { &v->small_body, high ? 64 : 0 },
        { &f->units, high ? 1024 : 1 },
        { &f->group_items, high ? TARGET_MOST_ITEMS : 16 },
        { &f->accumulators, most },
        { &f->unrolled_sum, most },
        { &f->points, high ? TARGET_MOST_POINTS : 1 },
        { &f->teams_per_unit, high ? 1024 : 0 },
        { &f->resident_teams, high ? 1 << 20 : 0 },
        { &f->lane_sum_points, most },
        { &f->lane_sum_terms, high ? INT_MAX : 0 },
        { &t->fusion.crowd, high ? 1 << 20 : 1 },
        { &t->fusion.kernel_weight, high ? 1 << 20 : 1 },
        { &t->fusion.loops_weight, high ? 1 << 10 : 0 },
        { &t->fusion.access_cycles, high ? 1 << 10 : 0 },
        { &t->fusion.small_copy, high ? 1 << 30 : 0 },
        { &t->tile_number, high ? TARGET_TILES - 1 : 1 },
    };
    struct {
        double *figure;
        double value;
    } real[] = {
        { &v->latency, most },
        { &f->round_cycles, high ? 1e6 : 0 },
        { &f->barrier_cycles, high ? 1e6 : 0 },
        { &v->cycles_per_term, high ? 100 : 0 },
        { &v->port_cycles, high ? 100 : 0 },
        { &v->spill_loads, high ? 100 : 0 },
        { &v->cache_bytes, high ? 1e9 : 0 },
        { &v->second_cache_bytes, high ? 1e9 : 0 },
        { &v->code_cycles, high ? 1e5 : 0 },
        { &v->group_work, high ? 1e9 : 1 },
        { &t->fusion.tiny_work, high ? 1e12 : 0 },
        { &t->fusion.alone_work, high ? 1e12 : 0 },
        { &t->fusion.replicated_work, high ? 1e12 : 0 },
    };
    const int count = sizeof whole / sizeof *whole;
    if (number < count)
        *whole[number].figure = whole[number].value;
    else
        *real[number - count].figure = real[number - count].value;
}
enum { FIGURES = 34 };

Test(targets, no_figure_orders_a_sum)
{
    const char *const bases[] = { "avx512", "gpu_small" };
    for (int g = 0; g < graph_case_count; g++)
        for (int base = 0; base < 2; base++) {
            struct target t = target_named(bases[base]);
            t.winograd = WINOGRAD_NEVER;
            char *wanted = order_of(&graph_cases[g], &t);
            for (int i = 0; i < 2 * FIGURES; i++) {
                struct target other = t;
                set_figure(&other, i / 2, i % 2 == 1);
                char *seen = order_of(&graph_cases[g], &other);
                cr_expect_str_eq(seen, wanted, "%s for %s: %s end of figure %d changes\n%s to\n%s",
                                 graph_cases[g].name, bases[base], i % 2 == 1 ? "upper" : "lower",
                                 i / 2, wanted, seen);
                free(seen);
            }
            free(wanted);
        }
}

/* ---- units ---------------------------------------------------------------------------------- */

Test(targets, more_units_get_more_groups)
{
    struct target few = target_named("gpu_small"), many = few;
    const struct target two = target_named("avx512"), cores = target_named("cores64");
    many.item.units = 64;
    for (int g = 0; g < graph_case_count; g++) {
        const char *name = graph_cases[g].name;
        cr_expect_geq(groups_of(name, &many), groups_of(name, &few), "%s", name);
        cr_expect_geq(groups_of(name, &cores), groups_of(name, &two), "%s", name);
    }
    cr_expect_gt(groups_of("linear", &many), groups_of("linear", &few));
    cr_expect_gt(groups_of("conv", &many), groups_of("conv", &few));
}

static void make_large_map(struct build *b)
{
    const uint32_t x = build_owned(b, TARN_SHAPE(1 << 24));
    build_assign(b, x, build_map(b, &op_tanh, x));
}

/* A nest of enough work is shared by all units of a large machine. */
Test(targets, large_nests_fill_all_units)
{
    const struct target cores = target_named("cores64");
    const struct graph_case large = { "large_map", make_large_map, false };
    struct kernel_plan plan;
    compile_case(&large, &cores, &plan);
    cr_assert_eq(plan.kernel_count, 1);
    cr_expect_eq(plan.kernels[0].groups, 2 * cores.vector.units);
    kernel_plan_free(&plan);
}

/* Small things that wait for nothing are one group's while all of them are soon done, then several groups'. */
static void make_copies(struct build *b, int count)
{
    const union op_arg turned = { .permute.order = { 1, 0 } };
    for (int i = 0; i < count; i++) {
        const uint32_t x = build_owned(b, TARN_SHAPE(512, 64));
        build_output(b, build_node(b, &op_permute, TARN_SHAPE(64, 512), TARN_F32, &turned, &x, 1));
    }
}

static void make_few_copies(struct build *b)
{
    make_copies(b, 2);
}

static void make_many_copies(struct build *b)
{
    make_copies(b, 20);
}

static int groups_of_case(const struct graph_case *g, const struct target *t)
{
    struct kernel_plan plan;
    compile_case(g, t, &plan);
    const int groups = plan.kernel_count == 1 ? plan.kernels[0].groups : -1;
    kernel_plan_free(&plan);
    return groups;
}

Test(targets, many_small_things_are_divided)
{
    const struct graph_case few = { "few copies", make_few_copies, false };
    const struct graph_case many = { "many copies", make_many_copies, false };
    const struct target t = target_named("avx512");
    cr_expect_eq(groups_of_case(&few, &t), 1);
    cr_expect_gt(groups_of_case(&many, &t), 1);
}

/* Groups of the kernels of a batch of 16 for so many cores. */
static bool has_panels(double times_caches)
{
    struct target t = target_named("avx512");
    t.vector.cache_bytes *= times_caches;
    t.vector.second_cache_bytes *= times_caches;
    char *text = text_of(graph_named("conv_weights"), &t);
    const bool found = strstr(text, "float16 kept[") != NULL;
    free(text);
    return found;
}

/* A sum goes on in steps where images do not fit the caches, and only there. */
Test(targets, panels_follow_the_caches)
{
    cr_expect(has_panels(1));
    cr_expect(!has_panels(100));
}

/* A guard decides the columns of a window; beside them there is room for channels, of which one side has one alone. */
Test(targets, one_channel_leaves_room_for_others)
{
    for (int one = 0; one < 2; one++) {
        const struct target t = target_named("avx512");
        const int32_t in = one == 0 ? 1 : 32, out = one == 0 ? 32 : 1;
        struct build b;
        struct kernel_plan plan = { 0 };
        union op_arg arg;
        memset(&arg, 0, sizeof arg);
        for (int i = CONV_ROWS; i < CONV_DIRECTIONS; i++)
            arg.conv.stride[i] = arg.conv.dilation[i] = arg.conv.padding[i] = 1;
        arg.conv.groups = 1;
        build_begin(&b);
        const uint32_t of[2] = { build_samples(&b, TARN_SHAPE(32, in, 14, 14)),
                                 build_samples(&b, TARN_SHAPE(32, out, 14, 14)) };
        build_output(&b, build_node(&b, &op_conv2d_weight, TARN_SHAPE(out, in, 3, 3), TARN_F32,
                                    &arg, of, 2));
        const struct program p = build_program(&b);
        cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
        char *text = plan_text(&plan);
        cr_expect_not_null(strstr(text, "acc23"), "%d channels to %d", in, out);
        free(text);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}

static int conv_groups(int units, int kernel)
{
    struct target t = target_named("avx512");
    t.vector.units = units;
    struct kernel_plan plan;
    compile_case(graph_named("conv_heavy"), &t, &plan);
    const int groups = kernel < plan.kernel_count ? plan.kernels[kernel].groups : 0;
    kernel_plan_free(&plan);
    return groups;
}

Test(targets, parts_share_a_block)
{
    cr_expect_eq(conv_groups(1, 0), 1);
    cr_expect_eq(conv_groups(1, 1), 0, "one unit takes no more kernels");
    /* The second convolution reads all channels of the first: there the chain is cut. */
    for (int units = 2; units <= 64; units *= 2) {
        cr_expect_eq(conv_groups(units, 0), units, "%d units", units);
        cr_expect_eq(conv_groups(units, 1), units, "%d units", units);
        cr_expect_eq(conv_groups(units, 2), 0, "%d units", units);
    }
}

Test(targets, little_work_is_not_shared)
{
    const struct target t = target_named("cores64");
    cr_expect_eq(groups_of("conv", &t), 1);
}

Test(targets, cheaper_groups_are_more)
{
    struct target t = target_named("cores64");
    t.fusion.tiny_work = t.fusion.alone_work = 0;
    const int before = groups_of("update", &t);
    t.vector.group_work = 16;
    cr_expect_gt(groups_of("update", &t), before);
}

/* ---- memory of workers ---------------------------------------------------------------------- */

/* A convolution of what a convolution gave, and the gradient of its weights for an output gradient that waits for all
 * samples: the same transform is read in two kernels, and so is what it is made of. */
static void build_late_gradient(struct build *b)
{
    const tarn_shape shape = TARN_SHAPE(80, 8, 12, 12), window = TARN_SHAPE(8, 8, 3, 3);
    const uint32_t w1 = build_owned(b, window), w2 = build_owned(b, window);
    const uint32_t h = build_map(b, &op_relu, build_conv(b, build_samples(b, shape), w1, 1));
    const uint32_t y = build_conv(b, h, w2, 1);
    const uint32_t sum = build_expand(b, build_reduce(b, &op_sum, y, 1 | 4 | 8), shape);
    const uint32_t in[2] = { h, build_map2(b, &op_mul, h, build_map2(b, &op_mul, y, sum)) };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    for (int i = CONV_ROWS; i < CONV_DIRECTIONS; i++)
        arg.conv.stride[i] = arg.conv.dilation[i] = arg.conv.padding[i] = 1;
    arg.conv.groups = 1;
    build_output(b, build_node(b, &op_conv2d_weight, window, TARN_F32, &arg, in, 2));
}

struct seen {
    int inputs, workers; /* transforms of images; groups of kernels with workers */
    size_t bytes;        /* of the arena */
};

static struct seen late_gradient(int units, size_t local_bytes, double far_cycles)
{
    struct target t = target_named("avx512");
    struct build b;
    struct kernel_plan plan = { 0 };
    struct seen seen = { 0 };
    t.vector.units = units;
    t.local_bytes = local_bytes;
    t.vector.second_line_cycles = far_cycles;
    build_begin(&b);
    build_late_gradient(&b);
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++)
        seen.inputs += strcmp(plan.ir->nests[i].name, "winograd input") == 0;
    for (int k = 0; k < plan.kernel_count; k++)
        if (kernel_workers(plan.ir, k) > 0)
            seen.workers += plan.kernels[k].groups;
    seen.bytes = plan.arena_bytes;
    kernel_plan_free(&plan);
    build_end(&b);
    return seen;
}

/* Five blocks: two or three workers for five groups, and none where all groups run at a time. */
Test(targets, workers_keep_one_block)
{
    const size_t block = 36 * 8 * 9 * 64;
    const struct seen two = late_gradient(2, 0, 8), three = late_gradient(3, 0, 8);
    const struct seen five = late_gradient(5, 0, 8), none = late_gradient(2, 1 << 20, 8);
    cr_expect_gt(two.workers, 0);
    cr_expect_eq(two.workers % 2, 0);
    cr_expect_eq(three.workers, two.workers / 2 * 3);
    cr_expect_eq(five.workers, 0);
    cr_expect_eq(none.workers, 0);
    cr_expect_leq(two.bytes + block, three.bytes);
    cr_expect_leq(three.bytes + 2 * block, five.bytes);
}

/* Two convolutions have two transforms of images; the one that two kernels read is made again where memory is
 * slower than that. */
Test(targets, transforms_are_made_again_where_memory_is_far)
{
    cr_expect_eq(late_gradient(2, 1 << 20, 8).inputs, 3);
    cr_expect_eq(late_gradient(2, 1 << 20, 0).inputs, 2);
}

/* ---- what follows a sum -------------------------------------------------------------------- */

/* A function of each sample's sums, which all of the sample's elements read, as a mean is. */
static void make_followed(struct build *b)
{
    const tarn_shape shape = TARN_SHAPE(32, 6, 5, 5), each = TARN_SHAPE(32, 6, 1, 1);
    const uint32_t x = build_samples(b, shape);
    const uint32_t sum = build_reshape(b, build_reduce(b, &op_sum, x, 4 | 8), each);
    const uint32_t wide = build_expand(b, build_map(b, &op_tanh, sum), shape);
    build_output(b, build_map2(b, &op_sub, x, wide));
    build_output(b, sum);
}

Test(targets, maps_need_no_launch_of_their_own)
{
    const struct graph_case followed = { "followed", make_followed, false };
    for (int t = 0; t < target_case_count; t++) {
        const struct target target = target_cases[t].make();
        struct kernel_plan plan;
        compile_case(&followed, &target, &plan);
        cr_expect_leq(plan.kernel_count, 2, "%d for %s", plan.kernel_count, target_cases[t].name);
        kernel_plan_free(&plan);
    }
}

/* ---- figures without room ------------------------------------------------------------------- */

static void expect_refused(const struct target *t, const char *figure)
{
    struct build b;
    struct kernel_plan plan = { 0 };
    build_begin(&b);
    graph_named("conv")->make(&b);
    const struct program p = build_program(&b);
    cr_expect_eq(compile_program(&p, t, &plan), TARN_ERR_ARGUMENT, "%s", figure);
    cr_expect_not_null(strstr(error_text(), figure), "%s: %s", figure, error_text());
    cr_expect_eq(plan.kernel_count, 0);
    kernel_plan_free(&plan);
    build_end(&b);
}

Test(targets, too_large_figures_are_refused)
{
    const struct target good = target_named("avx512");
    struct target t = good;
    t.vector.accumulators = TARGET_MOST_ACCUMULATORS + 1;
    expect_refused(&t, "vector.accumulators");
    t = good;
    t.vector.points = TARGET_MOST_POINTS + 1;
    expect_refused(&t, "vector.points");
    t = good;
    t.vector.latency = TARGET_MOST_ACCUMULATORS + 1;
    expect_refused(&t, "vector.latency");
    t = good;
    t.vector.latency = (double)NAN;
    expect_refused(&t, "vector.latency");
    t = good;
    t.vector.unrolled_sum = 0;
    expect_refused(&t, "vector.unrolled_sum");
    t = good;
    t.vector.code_cycles = (double)INFINITY;
    expect_refused(&t, "vector.code_cycles");
    t = good;
    t.fusion.crowd = 0;
    expect_refused(&t, "fusion.crowd");
}

Test(targets, groups_of_no_whole_teams_are_refused)
{
    struct target t = target_named("gpu_large");
    t.item.group_items = 8;
    expect_refused(&t, "item.group_items");
    t.item.group_items = 40;
    expect_refused(&t, "item.group_items");
    t.item.group_items = 2 * TARGET_MOST_ITEMS;
    expect_refused(&t, "item.group_items");
    t = target_named("gpu_large");
    t.item.accumulators = 0;
    expect_refused(&t, "item.accumulators");
}

/* The largest that are allowed fit into every table. */
Test(targets, the_largest_figures_fit)
{
    struct target vector = target_named("avx512"), item = target_named("gpu_large");
    for (int i = 0; i < FIGURES; i++) {
        set_figure(&vector, i, true);
        set_figure(&item, i, true);
    }
    for (int g = 0; g < graph_case_count; g++) {
        free(text_of(&graph_cases[g], &vector));
        free(text_of(&graph_cases[g], &item));
    }
}

/* Between sum and view stands a map, which is stored: the view reads it, and has no sum of its
 * own. The sum over samples has two nests, one for rows and one that adds them. */
Test(targets, a_sum_below_a_view_is_computed_once)
{
    const struct target t = target_named("avx512");
    struct build b;
    struct kernel_plan plan = { 0 };
    int sums = 0;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(40, 33));
    const uint32_t mean = build_scaled(&b, build_reduce(&b, &op_sum, x, 1), 1.0f / 40);
    build_output(&b, build_reshape(&b, mean, TARN_SHAPE(33)));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++)
        sums += plan.ir->nests[i].combine != COMBINE_NONE;
    cr_expect_eq(sums, 2, "%d nests of sums", sums);
    kernel_plan_free(&plan);
    build_end(&b);
}
