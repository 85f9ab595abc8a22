/* SPDX-License-Identifier: Apache-2.0 */
/* What kernel_time() says of kernels whose cycles can be counted by hand, for made-up targets. */
#include <criterion/criterion.h>
#include <math.h>

#include "figures.h"
#include "cases.h"
#include "error.h"

#define CLOCK 1e9
#define LAUNCH 1e-5

/* One unit of a CPU, whose lines from memory take 50 cycles in and 70 out. */
static struct target one_unit(void)
{
    struct target t = target_named("avx512");
    t.vector.units = 1;
    t.time = (struct time_figures){ .cycles_per_second = CLOCK,
                                    .launch_seconds = LAUNCH,
                                    .read_cycles = 50,
                                    .write_cycles = 70,
                                    .term_rate = 64 };
    return t;
}

/* Of a program of one kernel. Ends the program of the builder. */
static struct kernel_time time_of(struct build *b, const struct target *t)
{
    struct kernel_plan plan = { 0 };
    const struct program p = build_program(b);
    cr_assert_eq(compile_program(&p, t, &plan), TARN_OK, "%s", error_text());
    cr_assert_eq(plan.kernel_count, 1);
    const struct kernel_time time = plan.kernels[0].time;
    kernel_plan_free(&plan);
    build_end(b);
    return time;
}

static struct kernel_time time_of_sum_of_two(int32_t count, const struct target *t)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_owned(&b, TARN_SHAPE(count)), y = build_owned(&b, TARN_SHAPE(count));
    build_output(&b, build_map2(&b, &op_add, x, y));
    return time_of(&b, t);
}

Test(kernel_time, a_map_of_much_waits_for_memory)
{
    const struct target t = one_unit();
    const int32_t count = 1 << 24;
    const struct kernel_time time = time_of_sum_of_two(count, &t);
    const double lines = count / 16.0, wanted = lines * (2 * 50 + 70) / CLOCK + LAUNCH;
    cr_expect_eq(time.bound, BOUND_MEMORY);
    cr_expect(fabs(time.seconds - wanted) < 1e-9 * wanted, "%g instead of %g", time.seconds,
              wanted);
}

Test(kernel_time, a_map_of_little_is_a_launch)
{
    const struct target t = one_unit();
    const struct kernel_time time = time_of_sum_of_two(16, &t);
    cr_expect_eq(time.bound, BOUND_LAUNCH);
    cr_expect(time.seconds >= LAUNCH && time.seconds < 1.1 * LAUNCH, "%g", time.seconds);
}

static struct kernel_time time_of_matmul(const struct target *t)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_owned(&b, TARN_SHAPE(64, 64)), y = build_owned(&b, TARN_SHAPE(64, 64));
    build_output(&b, build_matmul(&b, x, y, false, false));
    return time_of(&b, t);
}

/* All its operands lie in the first cache of any CPU. */
Test(kernel_time, a_product_is_its_multiply_adds)
{
    struct target t = one_unit();
    const struct kernel_time once = time_of_matmul(&t);
    const double least = 64.0 * 64 * 64 / 16 * t.vector.cycles_per_term / CLOCK;
    cr_expect(once.seconds - LAUNCH >= least && once.seconds - LAUNCH < 4 * least,
              "%g, no less than %g", once.seconds - LAUNCH, least);
    t.time.cycles_per_second = 2 * CLOCK;
    const struct kernel_time half = time_of_matmul(&t);
    cr_expect_float_eq(half.seconds - LAUNCH, (once.seconds - LAUNCH) / 2, 1e-12);
}

/* Work-items: what it computes, loads and moves goes on at once, so it is never more than the sum. */
Test(kernel_time, of_work_items_the_slowest_counts)
{
    struct target t = target_named("gpu_large");
    const struct kernel_time before = time_of_sum_of_two(1 << 24, &t);
    cr_expect_eq(before.bound, BOUND_MEMORY);
    t.time.read_cycles *= 2;
    const struct kernel_time after = time_of_sum_of_two(1 << 24, &t);
    cr_expect_float_eq(after.seconds - t.time.launch_seconds,
                       2 * (before.seconds - t.time.launch_seconds), 1e-9);
    t.time.term_rate = 1e-6;
    cr_expect_eq(time_of_sum_of_two(1 << 24, &t).bound, BOUND_ARITHMETIC);
}

static double seconds_of_conv(int32_t side, const struct target *t)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(64, 32, side, side));
    const uint32_t w = build_owned(&b, TARN_SHAPE(64, 32, 1, 1));
    build_output(&b, build_conv(&b, x, w, 0));
    return time_of(&b, t).seconds;
}

/* Channels of 32 x 32 lie in the same few sets of the caches, those of 33 x 33 in all: an element takes longer, though not much,
 * since a core asks ahead for the lines of a block. */
Test(kernel_time, lines_a_long_step_apart_push_each_other_out)
{
    const struct target t = one_unit();
    const double few = seconds_of_conv(32, &t), all = seconds_of_conv(33, &t);
    cr_expect(few / (32 * 32) > 1.03 * all / (33 * 33), "%g for 32 x 32, %g for 33 x 33", few, all);
}

/* Each channel by itself, of rows shorter than a register, and an image that is no sample by the program's word: channels are
 * lanes, which lie apart. */
Test(kernel_time, lanes_apart_are_loaded_one_by_one)
{
    const tarn_shape image = TARN_SHAPE(1, 32, 12, 12);
    struct target t = one_unit();
    double seconds[2];
    for (int k = 0; k < 2; k++) {
        struct build b;
        union op_arg arg = { 0 };
        build_begin(&b);
        const uint32_t x = build_owned(&b, image);
        arg.batch_axis.said = BATCH_NONE;
        const uint32_t in[2] = { build_node(&b, &op_batch_axis, image, TARN_F32, &arg, &x, 1),
                                 build_owned(&b, TARN_SHAPE(32, 1, 3, 3)) };
        arg = (union op_arg){ 0 };
        arg.conv.groups = 32;
        for (int d = CONV_ROWS; d < CONV_DIRECTIONS; d++)
            arg.conv.stride[d] = arg.conv.padding[d] = arg.conv.dilation[d] = 1;
        build_output(&b, build_node(&b, &op_conv2d, image, TARN_F32, &arg, in, 2));
        seconds[k] = time_of(&b, &t).seconds - LAUNCH;
        t.vector.apart_loads *= 10;
        t.vector.crowded_loads *= 10;
    }
    cr_expect(seconds[1] > 4 * seconds[0], "%g, and %g if they take ten times as long", seconds[0],
              seconds[1]);
}

Test(kernel_time, a_product_copies_what_it_turns)
{
    const struct target t = one_unit();
    const struct product_shape plain = { .m = 256, .n = 256, .k = 256, .batch = 1 };
    struct product_shape turned = plain;
    turned.transpose_a = true;
    const double arithmetic = product_work(&plain) / 16 * t.vector.cycles_per_term;
    cr_expect(product_cycles(&t, &plain) > arithmetic &&
              product_cycles(&t, &plain) < 2 * arithmetic);
    cr_expect_gt(product_cycles(&t, &turned), product_cycles(&t, &plain));
}

/* A product of samples by a matrix that lies [k, n], or [n, k]. */
static struct product_shape of_samples(size_t m, size_t k, size_t n, bool transposed)
{
    return (struct product_shape){ .m = m, .n = n, .k = k, .batch = 1, .transpose_b = transposed };
}

/* What was measured at both places: columns of a matrix that no cache holds are slow to read, its rows are not. */
Test(kernel_time, products_leave_blocks_where_columns_are_far)
{
    const struct target t = target_common();
    const struct product_shape across = of_samples(64, 2048, 2048, false),
                               fewer = of_samples(64, 1024, 2048, false),
                               along = of_samples(64, 2048, 2048, true),
                               near = of_samples(64, 512, 512, false);
    cr_expect(product_leaves_blocks(&t, &across, false));
    cr_expect(product_leaves_blocks(&t, &fewer, false));
    cr_expect_not(product_leaves_blocks(&t, &along, false));
    cr_expect_not(product_leaves_blocks(&t, &near, false));
}

/* Two units whose caches stream as fast as was measured on a Zen 4, which computes vectors in halves. */
static struct target streaming(void)
{
    struct device_figures f;
    cr_assert(figures_kind("avx512", &f));
    f.units = 2;
    f.fmas_per_cycle = f.loads_per_cycle = 1;
    f.l2_line_cycles = 1.9;
    f.far_line_cycles = 2.6;
    f.cycles_per_second = 3.5e9;
    f.launch_seconds = 15e-6;
    f.copy_bytes_per_second = 4.3e10;
    return target_of(&f);
}

/* The head of a network of 8,192 words took 2.8 times as long in blocks: each line of a column waits for its latency. */
Test(kernel_time, columns_are_far_however_fast_lines_stream)
{
    struct device_figures zen;
    cr_assert(figures_wanted("zen:2", &zen));
    const struct target targets[] = { streaming(), target_of(&zen) };
    const struct product_shape head = of_samples(640, 8192, 512, false),
                               near = of_samples(640, 64, 512, false);
    for (int i = 0; i < 2; i++) {
        cr_expect(product_leaves_blocks(&targets[i], &head, false));
        cr_expect_not(product_leaves_blocks(&targets[i], &near, false));
    }
}

/* Products of a GPT and of a field of rays took a tenth longer one by one. */
Test(kernel_time, products_stay_in_chains_however_fast_lines_stream)
{
    const struct target t = streaming();
    struct product_shape s = { .m = 2048, .n = 512, .k = 128, .batch = 1, .sample_rows = 64 };
    cr_expect(product_joins_chain(&t, &s));
    s.n = 504;
    cr_expect_not(product_joins_chain(&t, &s), "columns that each group copies for itself");
    s = (struct product_shape){ .m = 16384, .n = 128, .k = 128, .batch = 1, .sample_rows = 32 };
    cr_expect(product_joins_chain(&t, &s));
    s = (struct product_shape){ .m = 2048, .n = 2048, .k = 2048, .batch = 1, .sample_rows = 64 };
    cr_expect_not(product_joins_chain(&t, &s), "what a group passes on fills its second cache");
}

/* Panels save each block its reading of the matrix, which costs little where a third cache is near. */
Test(kernel_time, products_stay_in_blocks_where_a_third_cache_is_near)
{
    struct device_figures mesh, near;
    cr_assert(figures_kind("avx512", &mesh) && figures_kind("zen", &near));
    mesh.units = near.units = 2;
    const struct target a = target_of(&mesh), b = target_of(&near);
    const struct product_shape s = of_samples(128, 784, 1024, true);
    cr_expect(product_leaves_blocks(&a, &s, true));
    cr_expect_not(product_leaves_blocks(&b, &s, true));
}

/* Long rows that lie in memory would have to be turned over for a block: a few columns are not worth that. */
Test(kernel_time, products_of_rows_in_memory_leave_blocks_sooner)
{
    const struct target t = target_common();
    const struct product_shape s = of_samples(512, 4096, 64, false);
    cr_expect_not(product_leaves_blocks(&t, &s, false));
    cr_expect(product_leaves_blocks(&t, &s, true));
}
