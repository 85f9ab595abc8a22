/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel goes through all its matrices for each block of samples: no more of them than a third cache holds, or they come
 * from memory for each block anew. */
#include <criterion/criterion.h>

#include "cases.h"
#include "error.h"

enum { WIDTH = 512, LAYERS = 24 };

/* Kernels of a chain of linear layers on two units; *most: the most bytes of matrices that one reads. */
static int kernels_of(int32_t samples, double *most)
{
    const struct target t = target_named("avx512");
    struct kernel_plan plan = { 0 };
    struct build b;
    build_begin(&b);
    uint32_t x = build_samples(&b, TARN_SHAPE(samples, WIDTH));
    for (int i = 0; i < LAYERS; i++) {
        const uint32_t w = build_owned(&b, TARN_SHAPE(WIDTH, WIDTH));
        x = build_map(&b, &op_relu, build_matmul(&b, x, w, false, true));
    }
    build_output(&b, x);
    const struct program p = build_program(&b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    *most = 0;
    for (int k = 0; k < plan.kernel_count; k++) {
        double bytes = 0;
        for (int i = 0; i < plan.ir->nest_count; i++)
            if (plan.ir->placements[i].kernel == k && plan.ir->nests[i].combine == COMBINE_FMA)
                bytes += 4.0 * WIDTH * WIDTH;
        *most = bytes > *most ? bytes : *most;
    }
    const int kernels = plan.kernel_count;
    kernel_plan_free(&plan);
    build_end(&b);
    return kernels;
}

Test(matrices, as_many_as_the_third_cache_holds)
{
    double most;
    cr_expect_geq(kernels_of(1024, &most), 3);
    cr_expect_leq(most, 8e6 + 4.0 * WIDTH * WIDTH, "%g bytes", most);
}

Test(matrices, all_of_them_where_each_unit_has_one_block)
{
    double most;
    cr_expect_eq(kernels_of(32, &most), 1);
}
