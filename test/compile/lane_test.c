/* SPDX-License-Identifier: Apache-2.0 */
/* Which axis of a matrix product without samples is the vector. */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "error.h"

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
            extent = plan.ir->nests[i].extent[plan.ir->schedules[i].lane_axis];
    cr_assert_gt(extent, 0, "there is no nest of a product");
    kernel_plan_free(&plan);
    build_end(&b);
    return extent;
}

Test(lane, results_are_stored_along_memory)
{
    cr_expect_eq(lanes_of(64, 48, 40), 48);
}

/* The last 12 of 28 columns would be computed one by one, which costs more than storing 16 rows apart. */
Test(lane, whole_registers_go_before_a_remainder)
{
    cr_expect_eq(lanes_of(64, 28, 40), 64);
    cr_expect_eq(lanes_of(28, 64, 40), 64);
}

/* 1,000 columns have 8 of 1,000 as a remainder; with a single term storing is what costs. */
Test(lane, a_small_remainder_or_a_short_sum_stays)
{
    cr_expect_eq(lanes_of(64, 1009, 2), 1009);
    cr_expect_eq(lanes_of(24, 28, 40), 24, "8 in 24 is less than 12 in 28");
}
