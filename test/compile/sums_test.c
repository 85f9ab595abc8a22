/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a CPU read memory in long runs, and are divided so that no unit waits for another. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "cases.h"
#include "error.h"
#include "figures.h"

/* What a program of one sum became. */
struct sum {
    int nests;     /* with what else adds up what the first ones leave */
    int registers; /* side by side in a tile of the first one */
    int pieces;    /* that its groups may have */
    int groups;
};

static int registers_side_by_side(const struct nest *n, const struct schedule *s)
{
    const int lane = s->lane_axis;
    return lane > 0 && n->store[0].address.k[lane - 1] == 16 ? s->tile[lane - 1] : 1;
}

static struct sum sum_of(const char *target, tarn_shape shape, uint32_t axes)
{
    struct build b;
    build_begin(&b);
    struct device_figures f;
    cr_assert(figures_wanted(target, &f));
    const struct target t = target_of(&f);
    struct kernel_plan plan = { 0 };
    build_output(&b, build_reduce(&b, &op_sum, build_owned(&b, shape), axes));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    struct sum out = { 0 };
    for (int i = plan.ir->nest_count - 1; i >= 0; i--) {
        const struct nest *n = &plan.ir->nests[i];
        const struct schedule *s = &plan.ir->schedules[i];
        if (n->combine != COMBINE_REDUCE)
            continue;
        out.nests++;
        out.registers = registers_side_by_side(n, s);
        out.groups = s->groups;
        out.pieces = s->split_axis < 0 ? 1 : n->extent[s->split_axis] / s->tile[s->split_axis];
    }
    kernel_plan_free(&plan);
    build_end(&b);
    return out;
}

enum { ROWS = 1, COLUMNS = 2 }; /* summed over */

/* One register of each row is a line of memory, and the next one may be in another page. */
Test(sums, go_over_rows_with_registers_side_by_side)
{
    const struct sum s = sum_of("avx512:2", TARN_SHAPE(2048, 512), ROWS);
    cr_expect_geq(s.registers, 4);
    cr_expect_eq(s.nests, 1);
    cr_expect_geq(s.groups, 2);
}

/* Eight registers are one tile, but eight units have one each. */
Test(sums, leave_each_unit_a_tile)
{
    for (int units = 2; units <= 8; units *= 2) {
        char target[24];
        snprintf(target, sizeof target, "avx512:%d", units);
        const struct sum s = sum_of(target, TARN_SHAPE(65536, 128), ROWS);
        cr_expect_geq(s.pieces, units, "%s: %d pieces", target, s.pieces);
        cr_expect_geq(s.groups, units, "%s: %d groups", target, s.groups);
    }
}

/* One unit would go through all of it while the others rest. */
Test(sums, of_a_whole_table_are_those_of_its_chunks)
{
    cr_expect_eq(sum_of("avx512:1", TARN_SHAPE(4096, 1024), ROWS | COLUMNS).nests, 1);
    cr_expect_eq(sum_of("avx512:2", TARN_SHAPE(64, 64), ROWS | COLUMNS).nests, 1);
    const struct sum s = sum_of("avx512:2", TARN_SHAPE(4096, 1024), ROWS | COLUMNS);
    cr_expect_geq(s.nests, 2);
    cr_expect_geq(s.groups, 2);
}

/* Columns fewer than there are units are divided as well. */
Test(sums, of_few_columns_are_those_of_their_chunks)
{
    cr_expect_eq(sum_of("avx512:2", TARN_SHAPE(65536, 32), ROWS).nests, 1);
    const struct sum s = sum_of("avx512:64", TARN_SHAPE(65536, 32), ROWS);
    cr_expect_eq(s.nests, 2);
    cr_expect_geq(s.groups, 64);
}
