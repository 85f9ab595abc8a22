/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of samples do not lie as most do (1_graph/layout.c): large products whose right operand lies across are left
 * to a provider, and rows that are read turned over become samples again. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "error.h"
#include "op/op.h"

enum { SAMPLES = 256, WIDTH = 1024 };

/* relu(x w) in blocks, with or without a sum over samples, which reads blocks. */
static void make_product(struct build *b, int32_t width, bool transposed, bool summed)
{
    const uint32_t x = build_map(b, &op_relu, build_samples(b, TARN_SHAPE(SAMPLES, WIDTH)));
    const uint32_t w =
        build_owned(b, transposed ? TARN_SHAPE(width, WIDTH) : TARN_SHAPE(WIDTH, width));
    const uint32_t product = build_matmul(b, x, w, false, transposed);
    build_output(b, build_map(b, &op_relu, product));
    if (summed)
        build_output(b, build_reduce(b, &op_sum, product, 1));
}

static void compile_with(const struct build *b, struct target t, int provider,
                         struct kernel_plan *out)
{
    const struct program p = build_program(b);
    struct product_shape *shapes = NULL;
    struct product_choice choices[8];
    int count = 0;
    cr_assert_eq(compile_list_products(&p, &t, &shapes, &count), TARN_OK, "%s", error_text());
    cr_assert_leq(count, 8);
    for (int i = 0; i < count; i++)
        choices[i] = (struct product_choice){ .shape = shapes[i], .provider = provider };
    t.choices = choices;
    t.choice_count = count;
    cr_assert_eq(compile_program(&p, &t, out), TARN_OK, "%s", error_text());
    free(shapes);
}

static int products_by_provider(const struct kernel_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->ir->nest_count; i++)
        count += plan->ir->nests[i].kind == NEST_PRODUCT;
    return count;
}

/* Sums over samples, block by block. */
static int sums_of_blocks(const struct kernel_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->ir->nest_count; i++)
        count += plan->ir->nests[i].partial;
    return count;
}

static int products(int32_t width, bool transposed, bool summed, struct target t, int provider)
{
    struct kernel_plan plan = { 0 };
    struct build b;
    build_begin(&b);
    make_product(&b, width, transposed, summed);
    compile_with(&b, t, provider, &plan);
    const int count = products_by_provider(&plan);
    cr_expect_eq(sums_of_blocks(&plan), summed, "a sum has the order of blocks, wherever it reads");
    kernel_plan_free(&plan);
    build_end(&b);
    return count;
}

Test(layout, products_leave_blocks)
{
    const struct target t = target_named("avx2");
    struct target unfused = t, many = t;
    cr_expect_eq(products(WIDTH, false, false, t, 1), 1, "columns that share sets of a cache");
    cr_expect_eq(products(WIDTH, true, false, t, 1), 0, "rows are read as they lie");
    cr_expect_eq(products(WIDTH - 24, false, false, t, 1), 0, "columns that do not share sets");
    cr_expect_eq(products(WIDTH, false, false, t, 0), 0, "a nest was chosen");
    cr_expect_eq(products(WIDTH, false, true, t, 1), 1, "a sum over samples reads a copy");
    cr_expect_eq(products(WIDTH, false, false, target_named("gpu_large"), 1), 0, "no blocks there");
    unfused.fuse = false;
    cr_expect_eq(products(WIDTH, false, false, unfused, 1), 0, "unfused");
    many.vector.units = 64; /* for 16 blocks */
    cr_expect_eq(products(WIDTH, true, false, many, 1), 1, "blocks are too few for the units");
}

/* As many rows of the right operand as there are samples make it no batch. */
Test(layout, square_products_leave_blocks)
{
    enum { SIDE = 2048 };
    for (int i = 0; i < 2; i++) {
        struct kernel_plan plan = { 0 };
        struct build b;
        build_begin(&b);
        const uint32_t x = build_samples(&b, TARN_SHAPE(SIDE, SIDE)),
                       y = build_samples(&b, TARN_SHAPE(SIDE, SIDE));
        const uint32_t right = i == 0 ? y : build_map(&b, &op_relu, y);
        build_output(&b, build_reduce(&b, &op_sum, build_matmul(&b, x, right, false, false), 2));
        compile_with(&b, target_named("avx512"), 1, &plan);
        cr_expect_eq(products_by_provider(&plan), i == 0, "%d: what lies in blocks stays there", i);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}

/* Whether some nest multiplies with samples as lanes. */
static bool multiplies_lanes(const struct kernel_plan *plan)
{
    for (int i = 0; i < plan->ir->nest_count; i++)
        if (plan->ir->nests[i].combine == COMBINE_FMA && nest_has_batch_lanes(&plan->ir->nests[i]))
            return true;
    return false;
}

/* relu of each sample's x y, of rows x columns, or of x y with y for all. */
static bool in_lanes(int32_t rows, int32_t columns, bool for_all, const char *target)
{
    struct kernel_plan plan = { 0 };
    struct build b;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(64, rows, 32));
    const uint32_t y = for_all ? build_owned(&b, TARN_SHAPE(1, 32, columns))
                               : build_samples(&b, TARN_SHAPE(64, 32, columns));
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    const uint32_t product = build_node(&b, &op_matmul, TARN_SHAPE(64, rows, columns), TARN_F32,
                                        &arg, (uint32_t[2]){ x, y }, 2);
    build_output(&b, build_reduce(&b, &op_max, build_map(&b, &op_relu, product), 4));
    compile_with(&b, target_named(target), 0, &plan);
    const bool lanes = multiplies_lanes(&plan);
    kernel_plan_free(&plan);
    build_end(&b);
    return lanes;
}

/* By shapes alone: the lanes of a sum decide its order, which is that of all devices. */
Test(layout, matrices_of_each_sample_lie_in_rows)
{
    static const char *const targets[] = { "avx2", "avx512", "neon" };
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        cr_expect(!in_lanes(48, 48, false, targets[t]), "%s: large ones", targets[t]);
        cr_expect(in_lanes(8, 16, false, targets[t]), "%s: small ones", targets[t]);
        cr_expect(in_lanes(48, 8, false, targets[t]), "%s: columns that fill no register",
                  targets[t]);
        cr_expect(in_lanes(48, 48, true, targets[t]), "%s: one for all", targets[t]);
    }
}

enum { TOKENS = 48, CHANNELS = 80, HIDDEN = 64 };

/* Rows of channels, multiplied and read as [token, channel], by a map of samples; `twice`: and by a product, which reads
 * rows as they are. */
static void make_turned(struct build *b, bool twice)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(SAMPLES, TOKENS, CHANNELS));
    const uint32_t rows = build_matmul(b, build_owned(b, TARN_SHAPE(SAMPLES * CHANNELS, HIDDEN)),
                                       build_owned(b, TARN_SHAPE(HIDDEN, TOKENS)), false, false);
    const uint32_t parts = build_reshape(b, rows, TARN_SHAPE(SAMPLES, CHANNELS, TOKENS));
    const uint32_t turned = build_turned(b, parts);
    build_output(b, build_reduce(b, &op_sum, build_map2(b, &op_add, x, turned), 1 << 2));
    if (twice) {
        const uint32_t flat = build_reshape(b, turned, TARN_SHAPE(SAMPLES * TOKENS, CHANNELS));
        build_output(b,
                     build_matmul(b, flat, build_owned(b, TARN_SHAPE(CHANNELS, 32)), false, false));
    }
}

/* Loads of values in rows by lanes of samples along which nothing goes from one element to the next. */
static int loads_across(const struct kernel_plan *plan, int *copies)
{
    int across = 0;
    *copies = 0;
    for (int i = 0; i < plan->ir->nest_count; i++) {
        const struct nest *n = &plan->ir->nests[i];
        if (!nest_has_batch_lanes(n))
            continue;
        const bool copy = n->combine == COMBINE_NONE && n->stores == 1 && n->store[0].in_block &&
                          n->expr_count == 1;
        *copies += copy;
        for (int e = 0; e < n->expr_count && !copy; e++) {
            const struct access *a = &n->exprs[e].access;
            across += n->exprs[e].kind == EXPR_LOAD && !a->in_block && a->part_count == 0 &&
                      a->address.k[n->batch_axis] != 0 && a->address.k[n->axes - 1] != 1;
        }
    }
    return across;
}

Test(layout, rows_read_turned_over_become_samples)
{
    static const char *const targets[] = { "avx2", "avx512", "neon" };
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
        for (int twice = 0; twice < 2; twice++) {
            struct kernel_plan plan = { 0 };
            struct build b;
            int copies;
            build_begin(&b);
            make_turned(&b, twice);
            compile_with(&b, target_named(targets[t]), 0, &plan);
            const int across = loads_across(&plan, &copies);
            cr_expect_eq(across, 0, "%s, %d: %d loads across samples", targets[t], twice, across);
            cr_expect_eq(copies, 2 - twice, "%s, %d: %d copies, with that of x", targets[t], twice,
                         copies);
            kernel_plan_free(&plan);
            build_end(&b);
        }
}
