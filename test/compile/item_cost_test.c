/* SPDX-License-Identifier: Apache-2.0 */
/* What nest_item_cost() says of nests whose chains, loads and sectors can be counted by hand. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "compile/item_cost.h"
#include "error.h"

/* The cost of the first nest of that name, in groups of 64. Ends the program. */
static struct item_cost cost_of(struct build *b, const char *name)
{
    struct target t = target_named("gpu_large");
    struct kernel_plan plan = { 0 };
    struct item_cost c = { 0 };
    bool found = false;
    t.item.group_items = 64;
    const struct program p = build_program(b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = plan.ir->nest_count - 1; i >= 0; i--)
        if (strcmp(plan.ir->nests[i].name, name) == 0) {
            c = nest_item_cost(plan.ir, &plan.ir->nests[i]);
            found = true;
        }
    cr_assert(found, "there is no nest %s", name);
    kernel_plan_free(&plan);
    build_end(b);
    return c;
}

static double most(const struct item_cost *c)
{
    return c->read.mean > c->written.mean ? c->read.mean : c->written.mean;
}

Test(item_cost, floats_side_by_side_are_four_sectors)
{
    struct build b;
    build_begin(&b);
    build_output(&b, build_map(&b, &op_tanh, build_owned(&b, TARN_SHAPE(64, 512))));
    const struct item_cost c = cost_of(&b, "tanh");
    cr_expect_eq(c.read.mean, 4);
    cr_expect_eq(c.written.mean, 4);
    cr_expect_eq(c.groups, 64 * 512 / 64);
    cr_expect_eq(c.terms, 64 * 512);
    cr_expect_eq(c.loads, 1);
    cr_expect_eq(c.chain, 1);
}

Test(item_cost, columns_are_a_sector_each)
{
    const union op_arg turned = { .permute.order = { 1, 0 } };
    struct build b;
    build_begin(&b);
    const uint32_t x = build_owned(&b, TARN_SHAPE(512, 64));
    build_output(&b, build_node(&b, &op_permute, TARN_SHAPE(64, 512), TARN_F32, &turned, &x, 1));
    const struct item_cost c = cost_of(&b, "permute");
    cr_expect_eq(most(&c), 32);
    cr_expect_eq(c.read.mean + c.written.mean, 36, "the other side goes along memory");
}

/* Work-items begin 12 bytes apart, so 32 of them span 12 sectors. */
Test(item_cost, strides_touch_what_they_span)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_owned(&b, TARN_SHAPE(1024, 3));
    const uint32_t sum = build_reduce(&b, &op_sum, x, 2);
    build_output(&b, sum);
    const struct item_cost c = cost_of(&b, "sum");
    cr_expect_eq(c.read.mean, 12, "%g", c.read.mean);
    cr_expect_eq(c.chain, 1, "three terms are unrolled");
}

Test(item_cost, a_sum_along_lanes_is_a_sixteenth_as_long)
{
    struct build b;
    build_begin(&b);
    build_output(&b, build_reduce(&b, &op_sum, build_owned(&b, TARN_SHAPE(4, 330)), 2));
    const struct item_cost c = cost_of(&b, "sum");
    cr_expect_eq(c.chain, 330 / 16 + 330 % 16);
    cr_expect_eq(c.loads, 1);
}

Test(item_cost, a_contraction_waits_for_its_terms)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(64, 40)),
                   w = build_owned(&b, TARN_SHAPE(32, 40));
    build_output(&b, build_matmul(&b, x, w, false, true));
    const struct item_cost c = cost_of(&b, "matmul");
    cr_expect_gt(c.loads, 0);
    cr_expect_leq(c.loads, 2, "two operands for each term");
    cr_expect_gt(c.chain, 1);
    cr_expect_leq(c.chain, 5, "at least eight terms of 40 are under way together: %g", c.chain);
}

/* The greatest size of a round that divides 25 terms is 5, whatever else would have room; 31 have none. */
Test(item_cost, rounds_divide_a_sum)
{
    static const struct {
        int terms, rounds;
    } cases[] = { { 25, 5 }, { 31, 31 }, { 64, 2 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct build b;
        build_begin(&b);
        build_output(
            &b, build_reduce(&b, &op_sum, build_owned(&b, TARN_SHAPE(cases[i].terms, 4096)), 1));
        const struct item_cost c = cost_of(&b, "sum");
        cr_expect_eq(c.chain, cases[i].rounds, "%d terms: %g", cases[i].terms, c.chain);
    }
}

/* With a stride of two a tile begins at an even element and has the window whole: no term asks whether it counts. */
Test(item_cost, terms_between_strides_are_left_out)
{
    const union op_arg strided = { .conv = { .stride = { 1, 2, 2 },
                                             .padding = { 0, 1, 1 },
                                             .dilation = { 1, 1, 1 },
                                             .groups = 1 } };
    struct build b;
    struct target t = target_named("gpu_large");
    struct kernel_plan plan = { 0 };
    build_begin(&b);
    const uint32_t in[] = { build_samples(&b, TARN_SHAPE(128, 8, 8, 8)),
                            build_owned(&b, TARN_SHAPE(8, 16, 3, 3)) };
    build_output(&b, build_node(&b, &op_conv2d_input, TARN_SHAPE(128, 16, 16, 16), TARN_F32,
                                &strided, in, 2));
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    char *text = plan_text(&plan);
    cr_assert_not_null(text);
    cr_expect_not_null(strstr(text, "conv2d_input ["), "%s", text);
    cr_expect_null(strstr(text, " % 2 == 0"));
    free(text);
    kernel_plan_free(&plan);
    build_end(&b);
}

/* Weights in rows, of which work-items follow columns: a group turns them in local memory. */
Test(item_cost, turned_weights_are_read_along_memory)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_owned(&b, TARN_SHAPE(512, 256)),
                   w = build_owned(&b, TARN_SHAPE(128, 256));
    build_output(&b, build_matmul(&b, x, w, false, true));
    const struct item_cost c = cost_of(&b, "matmul");
    cr_expect_eq(c.read.mean, 4, "%g sectors", c.read.mean);
    /* In a tile of four rows: a wide load of these, one of a column; and a load and a store for each element of the
     * panels, of 16 columns and four times four rows, by 64 work-items. */
    cr_expect_eq(c.loads, (1 + 1 + 2 * (16 + 16) / 64.0) / 4, "%g loads", c.loads);
    cr_expect_lt(c.chain, 256, "a panel's loads are under way together: %g", c.chain);
}

/* Reductions that have a value of nothing (the product of docs/adding-an-op.md) come with an axis of no elements. */
Test(item_cost, a_reduction_of_nothing_is_a_round)
{
    for (uint32_t axes = 1; axes <= 2; axes++) {
        struct build b;
        struct target t = target_named("gpu_large");
        struct kernel_plan plan = { 0 };
        t.item.group_items = 64;
        build_begin(&b);
        build_output(&b, build_reduce(&b, &op_sum, build_owned(&b, TARN_SHAPE(4, 64)), axes));
        const struct program p = build_program(&b);
        cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
        cr_assert_gt(plan.ir->nest_count, 0);
        struct nest *n = &plan.ir->nests[0]; /* in its place: a nest's schedule is found by it */
        n->extent[axes - 1] = 0;
        cr_expect_eq(nest_item_rounds(plan.ir, n), 1);
        const struct item_cost c = nest_item_cost(plan.ir, n);
        cr_expect_eq(c.chain, 1);
        cr_expect_eq(c.terms, 0);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}
