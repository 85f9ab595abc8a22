/* SPDX-License-Identifier: Apache-2.0 */
/* A result of any extent has tiles of as many accumulators as a core needs, not those of a divisor alone. */
#include <criterion/criterion.h>

#include "cases.h"
#include "compile/4_schedule/schedule.h"
#include "error.h"
#include "figures.h"

enum { SAMPLES = 4096, TERMS = 512, LEAST = 25, MOST = 320 };

struct tile {
    int points;
    double computed; /* elements, of each that there is */
};

static struct tile tile_of(struct build *b, const char *target)
{
    struct device_figures f;
    cr_assert(figures_wanted(target, &f));
    const struct target t = target_of(&f);
    struct kernel_plan plan = { 0 };
    struct tile out = { .computed = 1 };
    const struct program p = build_program(b);
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++) {
        const struct nest *n = &plan.ir->nests[i];
        const struct schedule *s = &plan.ir->schedules[i];
        if (n->kind != NEST_LOOPS || n->combine != COMBINE_FMA)
            continue;
        out.points = nest_points(n, s);
        for (int a = 0; a < n->out_axes; a++)
            if (axis_overlaps(n, s, a) && a != s->lane_axis)
                out.computed *= (double)(n->extent[a] / s->tile[a] + 1) * s->tile[a] / n->extent[a];
    }
    kernel_plan_free(&plan);
    build_end(b);
    return out;
}

static struct tile product_of_samples(const char *target, int columns)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(SAMPLES, TERMS)),
                   w = build_owned(&b, TARN_SHAPE(TERMS, columns));
    build_output(&b, build_matmul(&b, x, w, false, false));
    return tile_of(&b, target);
}

Test(tiles, have_accumulators_for_every_extent)
{
    static const char *const targets[] = { "avx512:2", "avx2:8" };
    for (int t = 0; t < 2; t++) {
        struct device_figures f;
        cr_assert(figures_wanted(targets[t], &f));
        const struct target target = target_of(&f);
        const int least =
            (int)(target.vector.latency * 3 / 4); /* with fewer, each waits for the one before */
        for (int n = LEAST; n <= MOST; n++) {
            const struct tile of = product_of_samples(targets[t], n);
            cr_expect_geq(of.points, least, "%s, %d columns: %d accumulators", targets[t], n,
                          of.points);
            cr_expect_leq(of.computed, 1.2, "%s, %d columns: %g of each", targets[t], n,
                          of.computed);
        }
    }
}

/* A divisor that is large enough leaves nothing over. */
Test(tiles, are_divisors_where_these_are_large)
{
    for (int n = 32; n <= 256; n += 16)
        cr_expect_eq(product_of_samples("avx512:2", n).computed, 1, "%d columns", n);
}

/* A weight's gradient, whose images no second cache holds. A tile of 16 channels by one would read less of them, without
 * panels; with these it reads 17 registers for 16 multiply-adds, where a square one reads 8. */
Test(tiles, are_square_where_panels_keep_what_they_read)
{
    static const char *const targets[] = { "avx512:2", "zen:2" };
    for (int t = 0; t < 2; t++) {
        struct device_figures f;
        struct kernel_plan plan = { 0 };
        struct build b;
        cr_assert(figures_wanted(targets[t], &f));
        const struct target target = target_of(&f);
        build_begin(&b);
        build_output(&b, build_conv_weight(&b, build_samples(&b, TARN_SHAPE(64, 64, 8, 8)),
                                           build_samples(&b, TARN_SHAPE(64, 256, 8, 8)), 0));
        const struct program p = build_program(&b);
        cr_assert_eq(compile_program(&p, &target, &plan), TARN_OK, "%s", error_text());
        int sums = 0;
        for (int i = 0; i < plan.ir->nest_count; i++) {
            const struct schedule *s = &plan.ir->schedules[i];
            if (plan.ir->nests[i].combine != COMBINE_FMA || plan.ir->nests[i].extent[0] != 256)
                continue;
            sums++;
            cr_expect(s->panels.used, "%s", targets[t]);
            cr_expect(s->tile[0] == 4 && s->tile[1] == 4, "%s: a tile of %d by %d", targets[t],
                      s->tile[0], s->tile[1]);
        }
        cr_expect_eq(sums, 1, "%s: %d sums", targets[t], sums);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}
