/* SPDX-License-Identifier: Apache-2.0 */
/* Which axis of a matrix product without samples is the vector. */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "error.h"

/* With the axis before it, if that has runs of one register (2_nests/split_lanes.c). */
static int extent_of_lanes(const struct nest *n, const struct schedule *s)
{
    const int32_t *k = n->store[0].address.k, lane = s->lane_axis;
    const bool is_split = lane > 0 && n->extent[lane] == 16 && k[lane - 1] == 16 * k[lane];
    return n->extent[lane] * (is_split ? n->extent[lane - 1] : 1) - n->over;
}

/* The extent of the vector's axis in a^T b, a [terms, rows] and b [terms, columns]: a gradient of weights. */
static int lanes_of(int rows, int columns, int terms)
{
    struct build b;
    build_begin(&b);
    const struct target t = target_named("avx2");
    struct kernel_plan plan = { 0 };
    const uint32_t x = build_owned(&b, TARN_SHAPE(terms, rows)),
                   y = build_owned(&b, TARN_SHAPE(terms, columns));
    build_output(&b, build_matmul(&b, x, y, true, false));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    int extent = 0;
    for (int i = 0; i < plan.ir->nest_count; i++)
        if (strcmp(plan.ir->nests[i].name, "matmul") == 0)
            extent = extent_of_lanes(&plan.ir->nests[i], &plan.ir->schedules[i]);
    cr_assert_gt(extent, 0, "there is no nest of a product");
    kernel_plan_free(&plan);
    build_end(&b);
    return extent;
}

/* The last register of 28 columns begins among those of the first. */
Test(lane, results_are_stored_along_memory)
{
    cr_expect_eq(lanes_of(64, 48, 40), 48);
    cr_expect_eq(lanes_of(64, 28, 40), 28);
    cr_expect_eq(lanes_of(28, 64, 40), 64);
}

/* Two registers for 17 columns cost more than storing 16 rows apart. */
Test(lane, full_registers_go_before_one_that_overlaps)
{
    cr_expect_eq(lanes_of(64, 17, 40), 64);
    cr_expect_eq(lanes_of(17, 64, 40), 64);
}

/* Neither factor has its elements side by side along the sum: lanes there would be read one by one, and then added up. */
Test(lane, few_columns_leave_lanes_to_rows)
{
    cr_expect_eq(lanes_of(64, 8, 40), 64);
    cr_expect_eq(lanes_of(20, 2, 400), 20);
}

/* 1,000 columns have a register that overlaps in 63; with few terms storing is what costs. */
Test(lane, a_small_remainder_or_a_short_sum_stays)
{
    cr_expect_eq(lanes_of(64, 1009, 2), 1009);
    cr_expect_eq(lanes_of(64, 17, 2), 17);
    cr_expect_eq(lanes_of(17, 28, 40), 28, "4 in 32 are less than 15");
}
