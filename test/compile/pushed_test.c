/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a weight that lie a power of two apart share sets of the first cache: a tile has no more of them than its ways
 * hold, or each body would wait for lines that the one before has read. */
#include <criterion/criterion.h>

#include "cases.h"
#include "compile/4_schedule/schedule.h"
#include "error.h"

/* Rows in the tile of x [64, features] by a weight [960, features]. */
static int rows_of(int32_t features)
{
    const struct target t = target_named("avx512");
    struct kernel_plan plan = { 0 };
    struct build b;
    int rows = 0;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(64, features));
    const uint32_t w = build_owned(&b, TARN_SHAPE(960, features));
    build_output(&b, build_map(&b, &op_relu, build_matmul(&b, x, w, false, true)));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++) {
        const struct nest *n = &plan.ir->nests[i];
        const struct schedule *s = schedule_of(plan.ir, n);
        for (int a = 0; a < n->out_axes && n->combine == COMBINE_FMA; a++)
            if (n->extent[a] == 960)
                rows = s->tile[a];
    }
    kernel_plan_free(&plan);
    build_end(&b);
    return rows;
}

Test(pushed, rows_that_share_sets)
{
    const int ways = target_named("avx512").vector.ways;
    cr_expect_gt(rows_of(1000), ways, "these go through all sets");
    cr_expect_leq(rows_of(1024), ways);
    cr_expect_leq(rows_of(4096), ways);
    cr_expect_leq(rows_of(1023), 2 * ways, "16 rows begin in one line, or the next");
    cr_expect_leq(rows_of(512), 2 * ways, "two sets");
    cr_expect_geq(rows_of(1024), 4, "or the latency of additions shows");
}
