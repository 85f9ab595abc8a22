/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of strided convolutions' gradients: which points of a tile a window meets is known when the source is written, or the
 * tile has one point along that axis. Else each multiply-add would have a condition of its own. */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "compile/4_schedule/schedule.h"
#include "error.h"

/* The points of a tile that share a condition's answer. */
static void check_guard(const struct nest *n, const struct schedule *s, const struct guard *g,
                        const char *target)
{
    bool loop = false;
    for (int a = n->out_axes; a < n->axes; a++)
        loop |= g->e.k[a] != 0 && s->tile[a] != n->extent[a];
    for (int a = 0; a < n->out_axes && g->divide > 1; a++)
        if (g->e.k[a] != 0) {
            cr_expect_eq(s->tile[a] % g->divide == 0 || s->tile[a] == 1, true, "%s: tile of %d",
                         target, s->tile[a]);
            cr_expect(!loop || s->tile[a] == 1, "%s: tile of %d in a loop over the window", target,
                      s->tile[a]);
        }
}

/* The gradient of [n, channels, side, side], of windows of 3 by 3 two apart; or of a volume that is so deep. */
static int check_gradient(const char *target, int32_t n, int32_t channels, int32_t deep,
                          int32_t side)
{
    const struct target t = target_named(target);
    union op_arg arg = { .conv = { .stride = { deep > 0 ? 2 : 1, 2, 2 },
                                   .padding = { deep > 0, 1, 1 },
                                   .dilation = { 1, 1, 1 },
                                   .groups = 1 } };
    const int32_t half = side / 2;
    const tarn_shape to =
        deep > 0 ? TARN_SHAPE(n, channels, deep, side, side) : TARN_SHAPE(n, channels, side, side);
    const tarn_shape given =
        deep > 0 ? TARN_SHAPE(n, 64, deep / 2, half, half) : TARN_SHAPE(n, 64, half, half);
    const tarn_shape window =
        deep > 0 ? TARN_SHAPE(64, channels, 3, 3, 3) : TARN_SHAPE(64, channels, 3, 3);
    struct kernel_plan plan = { 0 };
    struct build b;
    int strided = 0;
    build_begin(&b);
    const uint32_t in[] = { build_owned(&b, given), build_owned(&b, window) };
    build_output(&b, build_node(&b, &op_conv2d_input, to, TARN_F32, &arg, in, 2));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++) {
        const struct nest *nest = &plan.ir->nests[i];
        for (int g = 0; nest->combine == COMBINE_FMA && g < nest->guards; g++) {
            check_guard(nest, schedule_of(plan.ir, nest), &nest->guard[g], target);
            strided += nest->guard[g].divide > 1;
        }
    }
    kernel_plan_free(&plan);
    build_end(&b);
    return strided;
}

Test(strided, conditions_are_known_or_shared)
{
    static const char *const targets[] = { "avx512", "avx2" };
    for (int t = 0; t < 2; t++) {
        cr_expect_gt(check_gradient(targets[t], 4, 96, 0, 28), 0);
        cr_expect_gt(check_gradient(targets[t], 4, 32, 0, 64), 0);
        cr_expect_gt(check_gradient(targets[t], 32, 16, 0, 56), 0);
    }
}

Test(strided, volumes)
{
    static const char *const targets[] = { "avx512", "avx2" };
    for (int t = 0; t < 2; t++) {
        cr_expect_gt(check_gradient(targets[t], 8, 32, 8, 24), 0);
        cr_expect_gt(check_gradient(targets[t], 2, 64, 4, 12), 0);
        cr_expect_gt(check_gradient(targets[t], 32, 8, 8, 16), 0);
    }
}
