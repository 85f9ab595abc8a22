/* SPDX-License-Identifier: Apache-2.0 */
/* In a plan of many nests small ones get less code: no tile that would repeat an expensive
 * epilogue. */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "compile/4_schedule/schedule.h"

enum { ALONE = 10, MANY = 1300, SAMPLES = 32 };

/* tanh of a matrix product, of samples in lanes, as lower.c leaves it. */
static int accumulators(int size, int nests)
{
    struct expr e[4];
    struct nest n;
    memset(e, 0, sizeof e);
    memset(&n, 0, sizeof n);
    n.axes = 3;
    n.out_axes = 2;
    n.extent[0] = SAMPLES;
    n.extent[1] = n.extent[2] = size;
    n.batched = true;
    n.combine = COMBINE_FMA;
    n.by = &combination_sum;
    n.exprs = e;
    n.expr_count = 4;
    e[0] = (struct expr){ .kind = EXPR_LOAD, .access = { .gather = -1, .in_block = true } };
    e[0].access.address = affine_axis(2);
    e[1] = (struct expr){ .kind = EXPR_LOAD, .access = { .gather = -1 } };
    e[1].access.address = affine_add_scaled(affine_axis(2), affine_axis(1), size);
    e[2] = (struct expr){ .kind = EXPR_ACC };
    e[3] = (struct expr){ .kind = EXPR_MAP, .code = "tanh(x)", .arg = { 2 }, .args = 1 };
    n.body[1] = 1;
    struct schedule s = { .lane_axis = -1, .order = { 1 } };
    for (int a = 0; a < NEST_AXES; a++)
        s.tile[a] = 1;
    const struct target t = target_named("avx512");
    choose_tile(&t, &n, nests, &s);
    return s.tile[1];
}

Test(crowd, small_nests_get_less_code)
{
    cr_assert_gt(accumulators(16, ALONE), 1);
    cr_assert_eq(accumulators(16, MANY), 1);
}

Test(crowd, large_nests_stay_as_they_are)
{
    cr_assert_gt(accumulators(1024, ALONE), 1);
    cr_assert_eq(accumulators(1024, MANY), accumulators(1024, ALONE));
}
