/* SPDX-License-Identifier: Apache-2.0 */
/* Maps between permutations that cancel (1_graph/turned_maps.c): nothing is turned over, unless some large operand lies as the
 * maps are written. And what of a transform is unrolled (4_schedule/schedule.c). */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "compile/4_schedule/schedule.h"
#include "error.h"

enum { SAMPLES = 4, LENGTH = 48, CHANNELS = 80 };

static struct kernel_plan compiled(struct build *b)
{
    const struct target t = target_named("avx512");
    const struct program p = build_program(b);
    struct kernel_plan plan = { 0 };
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    build_end(b);
    return plan;
}

/* Loads of maps whose elements do not lie side by side where those of the result do. */
static int crossings(const struct kernel_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->ir->nest_count; i++) {
        const struct nest *n = &plan->ir->nests[i];
        for (int e = 0; n->combine == COMBINE_NONE && !n->transformed && e < n->expr_count; e++)
            for (int a = 0; a < n->out_axes && n->exprs[e].kind == EXPR_LOAD; a++)
                count += n->extent[a] > 1 && n->store[0].address.k[a] == 1 &&
                         n->exprs[e].access.address.k[a] > 1;
    }
    return count;
}

/* A convolution, and its gradient, of [N, C, T]: ((relu(x^T) + bias) y)^T, with y that lies as x does, or as x^T. */
static int count_crossings(bool also)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_turned(&b, build_owned(&b, TARN_SHAPE(SAMPLES, CHANNELS, LENGTH)));
    const uint32_t bias = build_expand(&b, build_owned(&b, TARN_SHAPE(1, 1, CHANNELS)),
                                       TARN_SHAPE(SAMPLES, LENGTH, CHANNELS));
    const uint32_t y =
        also ? build_owned(&b, TARN_SHAPE(SAMPLES, LENGTH, CHANNELS))
             : build_turned(&b, build_owned(&b, TARN_SHAPE(SAMPLES, CHANNELS, LENGTH)));
    const uint32_t z =
        build_map2(&b, &op_mul, build_map2(&b, &op_add, build_map(&b, &op_relu, x), bias), y);
    const uint32_t image =
        build_reshape(&b, build_turned(&b, z), TARN_SHAPE(SAMPLES, CHANNELS, 1, LENGTH));
    const uint32_t w = build_owned(&b, TARN_SHAPE(CHANNELS, CHANNELS, 3, 3));
    build_output(&b, build_conv_weight(&b, image, build_conv(&b, image, w, 1), 1));
    struct kernel_plan plan = compiled(&b);
    const int count = crossings(&plan);
    kernel_plan_free(&plan);
    return count;
}

Test(turned, maps_between_are_computed_before)
{
    cr_expect_eq(count_crossings(false), 0);
}

Test(turned, large_operands_are_not_turned_over)
{
    cr_expect_gt(count_crossings(true), 0, "some value has to be");
}

static uint32_t permuted(struct build *b, uint32_t x, const int32_t order[3])
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    memcpy(arg.permute.order, order, 3 * sizeof *order);
    return build_node(b, &op_permute, b->nodes[x].shape, TARN_F32, &arg, &x, 1);
}

/* Of a cube, axes moved on by one, and again, or back. */
Test(turned, only_what_undoes_a_permutation_cancels)
{
    static const int32_t on[] = { 1, 2, 0 }, back[] = { 2, 0, 1 };
    for (int i = 0; i < 2; i++) {
        struct build b;
        build_begin(&b);
        const uint32_t x = build_owned(&b, TARN_SHAPE(SAMPLES, SAMPLES, SAMPLES));
        build_output(
            &b, permuted(&b, build_map(&b, &op_relu, permuted(&b, x, on)), i == 0 ? on : back));
        struct kernel_plan plan = compiled(&b);
        cr_assert_eq(plan.ir->nest_count, 1);
        cr_expect_eq(plan.ir->nests[0].out_axes == 1, i == 1, "%d axes",
                     plan.ir->nests[0].out_axes);
        kernel_plan_free(&plan);
    }
}

/* The text of a volume's evaluation by Winograd's algorithm: guards along depth, which is long, stay conditions, of which
 * there must not be one for each place of a plane. */
Test(turned, text_of_volumes_is_short)
{
    static const int32_t sides[] = { 8, 12, 16, 20 };
    size_t most = 0, least = SIZE_MAX;
    for (int i = 0; i < 4; i++) {
        const int32_t side = sides[i];
        union op_arg arg = { .conv = { .stride = { 1, 1, 1 },
                                       .padding = { 1, 1, 1 },
                                       .dilation = { 1, 1, 1 },
                                       .groups = 1 } };
        struct build b;
        build_begin(&b);
        const tarn_shape shape = TARN_SHAPE(1, 16, 16, side, side);
        const uint32_t w[] = { build_owned(&b, TARN_SHAPE(16, 16, 3, 3, 3)),
                               build_owned(&b, TARN_SHAPE(16, 16, 3, 3, 3)) };
        uint32_t x = build_owned(&b, shape);
        for (int k = 0; k < 2; k++)
            x = build_node(&b, &op_conv2d, shape, TARN_F32, &arg, (uint32_t[]){ x, w[k] }, 2);
        build_output(&b, x);
        struct kernel_plan plan = compiled(&b);
        size_t length = 0;
        for (int k = 0; k < plan.kernel_count; k++)
            length += plan.kernels[k].source.length;
        most = length > most ? length : most;
        least = length < least ? length : least;
        kernel_plan_free(&plan);
    }
    cr_expect_lt(most, 2 * least, "%zu and %zu characters", most, least);
}
