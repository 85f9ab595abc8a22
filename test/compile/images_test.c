/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of weights that are read in panels (4_schedule/panels.c): of few images; and of a sequence's convolution, whose
 * result was losses of all moments of all samples: rows, which become samples again (1_graph/batch.c). */
#include <criterion/criterion.h>

#include "cases.h"
#include "error.h"
#include "op/op.h"

enum { SAMPLES = 32, IN = 64, OUT = 128, MOMENTS = 200 };

/* The gradient of weights [OUT,IN,1,1] and a bias by rows [SAMPLES * MOMENTS, OUT]. */
static void make(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(SAMPLES, IN, 1, MOMENTS));
    const uint32_t rows = build_owned(b, TARN_SHAPE(SAMPLES * MOMENTS, OUT));
    const uint32_t parts = build_reshape(b, rows, TARN_SHAPE(SAMPLES, MOMENTS, OUT));
    const uint32_t turned = build_turned(b, parts);
    const uint32_t images = build_reshape(b, turned, TARN_SHAPE(SAMPLES, OUT, 1, MOMENTS));
    build_output(b, build_conv_weight(b, x, images, 0));
    build_output(b, build_reduce(b, &op_sum, images, 1 << 0 | 1 << 3));
}

/* Of so few samples that columns are lanes: a gradient of weights goes through rows in panels, too, where it is summed
 * directly. */
Test(images, columns_are_lanes_of_panels)
{
    static const char *const targets[] = { "avx2", "avx512", "neon" };
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        struct target target = target_named(targets[t]);
        struct kernel_plan plan = { 0 };
        struct build b;
        target.winograd = WINOGRAD_NEVER;
        build_begin(&b);
        const uint32_t x = build_samples(&b, TARN_SHAPE(2, IN, 128, 128));
        const uint32_t given = build_owned(&b, TARN_SHAPE(2, OUT, 128, 128));
        build_output(&b, build_conv_weight(&b, x, given, 1));
        const struct program p = build_program(&b);
        cr_assert_eq(compile_program(&p, &target, &plan), TARN_OK, "%s", error_text());
        int panels = 0;
        for (int i = 0; i < plan.ir->nest_count; i++) {
            const struct schedule *s = &plan.ir->schedules[i];
            panels += s->panels.used && s->lane_axis >= plan.ir->nests[i].out_axes;
        }
        cr_expect_eq(panels, 1, "%s: %d nests in panels", targets[t], panels);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}

Test(images, rows_become_samples_and_panels)
{
    static const char *const targets[] = { "avx2", "avx512", "neon" };
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        const struct target target = target_named(targets[t]);
        struct kernel_plan plan = { 0 };
        struct build b;
        build_begin(&b);
        make(&b);
        const struct program p = build_program(&b);
        cr_assert_eq(compile_program(&p, &target, &plan), TARN_OK, "%s", error_text());
        int sums = 0, panels = 0, copies = 0;
        for (int i = 0; i < plan.ir->nest_count; i++) {
            const struct nest *n = &plan.ir->nests[i];
            if (n->combine == COMBINE_FMA && n->partial) {
                sums++;
                panels += plan.ir->schedules[i].panels.used;
                for (int e = 0; e < n->expr_count; e++)
                    cr_expect(n->exprs[e].kind != EXPR_LOAD || n->exprs[e].access.in_block,
                              "%s: an operand is read across samples", targets[t]);
            }
            copies += n->combine == COMBINE_NONE && nest_has_batch_lanes(n) && n->stores == 1 &&
                      n->store[0].in_block;
        }
        cr_expect_eq(sums, 1, "%s: %d sums", targets[t], sums);
        cr_expect_eq(panels, 1, "%s: no panels", targets[t]);
        cr_expect_geq(copies, 1, "%s: rows are not laid out as samples", targets[t]);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}
