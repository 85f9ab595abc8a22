/* SPDX-License-Identifier: Apache-2.0 */
/* Along which axis groups share a sum of products: one along which they read nothing alike, where all of it comes from memory
 * and that axis is long enough for all units; else the longest, unless another one leaves fewer units without a part. */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "compile/4_schedule/schedule.h"
#include "error.h"

enum { SAMPLES = 16, CHANNELS = 64, SIDE = 64, POINTS = 36 };

/* Of the gradient of a convolution's weight by Winograd's algorithm, whose samples are no lanes: POINTS products of
 * CHANNELS x CHANNELS, each of which sums over all tiles of all images. */
static int32_t divided_extent(int units, double caches)
{
    struct target t = target_named("avx512");
    struct kernel_plan plan = { 0 };
    struct build b;
    int32_t extent = 0;
    t.samples = SAMPLES_ALONE;
    t.vector.units = units;
    t.vector.second_cache_bytes = caches / units;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(SAMPLES, CHANNELS, SIDE, SIDE));
    const uint32_t w = build_owned(&b, TARN_SHAPE(CHANNELS, CHANNELS, 3, 3));
    const uint32_t y = build_conv(&b, x, w, 1);
    const union op_arg arg = { .conv = b.nodes[y].arg.conv };
    build_assign(&b, w,
                 build_node(&b, &op_conv2d_weight, TARN_SHAPE(CHANNELS, CHANNELS, 3, 3), TARN_F32,
                            &arg, (uint32_t[]){ x, y }, 2));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++) {
        const struct nest *n = &plan.ir->nests[i];
        if (strcmp(n->name, "winograd product") == 0 && n->axes - n->out_axes == 2)
            extent = n->extent[schedule_of(plan.ir, n)->split_axis];
    }
    kernel_plan_free(&plan);
    build_end(&b);
    return extent;
}

#define OPERANDS (2.0 * POINTS * SAMPLES * (SIDE / 4) * (SIDE / 4) * CHANNELS * sizeof(float))

Test(apart, groups_read_nothing_alike_from_memory)
{
    cr_expect_eq(divided_extent(2, OPERANDS / 2), POINTS);
    cr_expect_eq(divided_extent(18, OPERANDS / 2), POINTS, "two for each unit");
}

Test(apart, all_units_have_a_part)
{
    cr_expect_eq(divided_extent(2, OPERANDS), CHANNELS, "caches hold all of it");
    cr_expect_eq(divided_extent(19, OPERANDS), POINTS, "tiles of channels are fewer than units");
    cr_expect_eq(divided_extent(19, OPERANDS / 2), POINTS);
}
