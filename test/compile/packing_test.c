/* SPDX-License-Identifier: Apache-2.0 */
/* Which factor of a product its rows share in a copy (4_schedule/packing.c): none where too few rows read it to be worth
 * it, or where the copy would be too large for a thread's stack; and which matrices lie in strips in memory, so that nobody
 * copies them (2_nests/strips.c). */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "compile/4_schedule/schedule.h"
#include "error.h"

struct outcome {
    int packed, outside, registers;
    bool first_loop_is_heads;
};

/* Of a product [heads, rows, steps] by [heads, columns, steps], turned over, or without heads (0) by [steps, columns],
 * without a batch. */
static struct outcome outcome_of(const char *kind, int32_t heads, int32_t rows, int32_t steps,
                                 int32_t columns)
{
    const struct target t = target_named(kind);
    struct kernel_plan plan = { 0 };
    struct outcome out = { -1, -1, 0, false };
    struct build b;
    build_begin(&b);
    if (heads == 0) {
        const uint32_t x = build_owned(&b, TARN_SHAPE(rows, steps));
        const uint32_t w = build_owned(&b, TARN_SHAPE(steps, columns));
        build_output(&b, build_matmul(&b, x, w, false, false));
    } else {
        const union op_arg arg = { .matmul.transpose = { 0, 1 } };
        const uint32_t x = build_owned(&b, TARN_SHAPE(heads, rows, steps));
        const uint32_t in[2] = { x, build_owned(&b, TARN_SHAPE(heads, columns, steps)) };
        build_output(&b, build_node(&b, &op_matmul, TARN_SHAPE(heads, rows, columns), TARN_F32,
                                    &arg, in, 2));
    }
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++) {
        const struct nest *n = &plan.ir->nests[i];
        const struct schedule *at = schedule_of(plan.ir, n);
        if (n->combine == COMBINE_FMA)
            out = (struct outcome){ at->packed, at->packed_outside,
                                    at->packed < 0 ? 0 : packed_registers(n, at, at->packed),
                                    n->extent[at->order[0]] == heads };
    }
    kernel_plan_free(&plan);
    build_end(&b);
    return out;
}

static int packed_of(int32_t rows, int32_t steps, int32_t columns)
{
    return outcome_of("avx2", 0, rows, steps, columns).packed;
}

Test(packing, where_rows_share_a_factor)
{
    cr_expect_eq(packed_of(64, 128, 384), 1);
    cr_expect_eq(packed_of(64, TARGET_PACKED_STEPS, 48), 1);
    cr_expect_eq(packed_of(64, TARGET_PACKED_STEPS + 1, 48), -1, "32 KiB at most");
    cr_expect_eq(packed_of(1, 128, 384), -1, "nobody else reads it");
    cr_expect_eq(packed_of(8, 128, 384), -1, "two tiles");
}

Test(packing, loops_of_the_factor_are_outside)
{
    static const char *const kinds[] = { "avx512", "avx2", "neon" };
    for (int k = 0; k < 3; k++) {
        const struct outcome o = outcome_of(kinds[k], 24, 192, 64, 64);
        cr_expect_eq(o.packed, 1, "%s", kinds[k]);
        cr_expect_eq(o.outside, 1, "%s: a copy for each head", kinds[k]);
        cr_expect(o.first_loop_is_heads, "%s", kinds[k]);
    }
    cr_expect_eq(outcome_of("gpu_large", 24, 192, 64, 64).packed, -1,
                 "work-items have local memory");
}

Test(packing, registers_side_by_side)
{
    static const int32_t columns[] = { 32, 48, 128, 384, 80 };
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (int32_t steps = 64; steps <= TARGET_PACKED_STEPS; steps *= 2) {
            const struct outcome o = outcome_of("avx512", 0, 2048, steps, columns[c]);
            cr_expect_eq(o.packed, 1, "%d columns, %d steps", columns[c], steps);
            cr_expect_leq(o.registers * steps, TARGET_PACKED_ROOM, "%d columns", columns[c]);
            if (columns[c] % 32 == 0)
                cr_expect_geq(o.registers, 2, "%d columns, %d steps", columns[c], steps);
        }
}

/* Of a convolution of 1 x 1 over so many places. */
static int packed_of_block(int32_t in, int32_t out, int32_t places)
{
    const struct target t = target_named("avx2");
    struct kernel_plan plan = { 0 };
    int packed = -1, outside = 0;
    struct build b;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(32, in, 1, places));
    build_output(&b, build_conv(&b, build_map(&b, &op_relu, x),
                                build_owned(&b, TARN_SHAPE(out, in, 1, 1)), 0));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++)
        if (plan.ir->nests[i].combine == COMBINE_FMA) {
            const struct schedule *at = schedule_of(plan.ir, &plan.ir->nests[i]);
            packed = at->packed;
            for (int k = 0; k < at->packed_outside; k++)
                outside += plan.ir->nests[i].extent[at->order[k]] == places;
        }
    cr_expect_eq(outside, packed >= 0, "a copy for each place");
    kernel_plan_free(&plan);
    build_end(&b);
    return packed;
}

Test(packing, where_channels_of_a_block_are_many)
{
    cr_expect_geq(packed_of_block(256, 128, 100), 0);
    cr_expect_geq(packed_of_block(TARGET_PACKED_STEPS, 128, 100), 0);
    cr_expect_eq(packed_of_block(TARGET_PACKED_STEPS + 1, 128, 100), -1, "32 KiB at most");
    cr_expect_eq(packed_of_block(256, 16, 100), -1, "too few tiles read it");
    cr_expect_eq(packed_of_block(256, 128, 3), -1, "it stays in the second cache");
}

/* ---- strips ---------------------------------------------------------------------------------- */

enum { SAMPLES = 32, ROWS = 64, WIDTH = 128, WIDE = 512 };
enum matrices { AS_THEY_LIE, TURNED, MADE, READ_BY_OTHERS };

struct lying {
    int products, in_strips, copies;
    bool packs, asks_ahead; /* in the text */
};

/* Two layers on rows of samples. */
static struct lying lying_of(enum matrices kind, int units, int32_t wide)
{
    struct target t = target_named("avx2");
    struct kernel_plan plan = { 0 };
    struct lying out = { 0 };
    struct build b;
    t.vector.units = units;
    build_begin(&b);
    uint32_t x = build_reshape(&b, build_samples(&b, TARN_SHAPE(SAMPLES, ROWS, WIDTH)),
                               TARN_SHAPE(SAMPLES * ROWS, WIDTH));
    for (int i = 0; i < 2; i++) {
        const int32_t size[2] = { i == 0 ? WIDTH : wide, i == 0 ? wide : WIDTH };
        const bool turned = kind == TURNED;
        uint32_t w = build_owned(&b, TARN_SHAPE(size[turned], size[!turned]));
        if (turned)
            w = build_turned(&b, w);
        else if (kind != AS_THEY_LIE)
            w = build_map(&b, &op_exp, w);
        if (kind == READ_BY_OTHERS)
            build_output(&b,
                         build_matmul(&b, build_owned(&b, TARN_SHAPE(5, size[1])), w, false, true));
        x = build_map(&b, &op_relu, build_matmul(&b, x, w, false, false));
    }
    build_output(&b, x);
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++) {
        const struct nest *n = &plan.ir->nests[i];
        out.copies += strcmp(n->name, "strips") == 0;
        out.products += n->combine == COMBINE_FMA;
        out.in_strips += n->combine == COMBINE_FMA && schedule_of(plan.ir, n)->packed == 1 &&
                         schedule_of(plan.ir, n)->in_strips;
    }
    for (int k = 0; k < plan.kernel_count; k++) {
        out.packs |= strstr(plan.kernels[k].source.data, " packed[") != NULL;
        out.asks_ahead |= strstr(plan.kernels[k].source.data, "TARN_AHEAD(v") != NULL;
    }
    kernel_plan_free(&plan);
    build_end(&b);
    return out;
}

Test(packing, not_of_matrices_in_strips)
{
    for (enum matrices kind = AS_THEY_LIE; kind <= MADE; kind++) {
        const struct lying l = lying_of(kind, 2, WIDE);
        cr_expect_eq(l.products, 2);
        cr_expect_eq(l.in_strips, 2, "kind %d: %d of 2", kind, l.in_strips);
        cr_expect_eq(l.copies, kind == AS_THEY_LIE ? 2 : 0, "kind %d: %d copies", kind, l.copies);
        cr_expect_not(l.packs, "kind %d", kind);
        cr_expect(l.asks_ahead, "kind %d", kind);
    }
}

Test(packing, where_strips_do_not_pay)
{
    const struct lying others = lying_of(READ_BY_OTHERS, 2, WIDE),
                       all = lying_of(AS_THEY_LIE, SAMPLES, WIDE),
                       odd = lying_of(AS_THEY_LIE, 2, WIDE - 8);
    cr_expect_eq(others.in_strips, 0, "others read it by rows");
    cr_expect_eq(all.copies, 0, "each unit has one sample, and would wait for the copy");
    cr_expect_eq(odd.in_strips, 1, "of 504 columns some are no strip");
}
