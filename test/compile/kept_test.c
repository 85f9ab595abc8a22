/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept from one kernel to another, in which form (3_kernels/halves.c), and that a chain of rows has room for no
 * more samples than are at hand (5_memory/rooms.c). */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "error.h"

enum { SAMPLES = 32, ROWS = 64, WIDTH = 128, WIDE = 512 };

static uint32_t cast(struct build *b, const struct op *op, uint32_t x, tarn_dtype dtype)
{
    return build_node(b, op, b->nodes[x].shape, dtype, NULL, &x, 1);
}

/* x as it is once it was rounded. */
static uint32_t rounded(struct build *b, uint32_t x)
{
    return cast(b, &op_from_bf16, cast(b, &op_cast, x, TARN_BF16), TARN_F32);
}

static struct kernel_plan compiled_for(struct build *b, const struct target *t)
{
    struct kernel_plan plan = { 0 };
    const struct program p = build_program(b);
    cr_assert_eq(compile_program(&p, t, &plan), TARN_OK, "%s", error_text());
    build_end(b);
    return plan;
}

static struct kernel_plan compiled(struct build *b, int units)
{
    struct target t = target_named("avx2");
    t.vector.units = units;
    return compiled_for(b, &t);
}

/* Two layers on rows of samples, rounded where `halves` says so. */
static uint32_t make_rows(struct build *b, bool halves)
{
    uint32_t x = build_reshape(b, build_samples(b, TARN_SHAPE(SAMPLES, ROWS, WIDTH)),
                               TARN_SHAPE(SAMPLES * ROWS, WIDTH));
    for (int i = 0; i < 4; i++) {
        const uint32_t w =
            build_owned(b, i % 2 == 0 ? TARN_SHAPE(WIDTH, WIDE) : TARN_SHAPE(WIDE, WIDTH));
        const uint32_t y = build_matmul(b, x, w, false, false);
        x = build_map(b, &op_relu, halves ? rounded(b, y) : y);
    }
    return x;
}

static int rooms_of(const struct kernel_plan *plan)
{
    int rooms = 0;
    for (int i = 0; i < plan->ir->value_count; i++)
        rooms += plan->ir->values[i].room > 0;
    return rooms;
}

Test(kept, rows_of_samples_at_hand)
{
    for (int halves = 0; halves < 2; halves++) {
        struct build b;
        build_begin(&b);
        build_output(&b, make_rows(&b, halves));
        struct kernel_plan few = compiled(&b, 2);
        build_begin(&b);
        build_output(&b, make_rows(&b, halves));
        struct kernel_plan many = compiled(&b, SAMPLES);
        cr_expect_geq(rooms_of(&few), 3);
        cr_expect_eq(rooms_of(&many), 0, "each unit has one sample anyway");
        const size_t layer = (size_t)SAMPLES * ROWS * WIDE * sizeof(float);
        cr_expect_lt(few.arena_bytes, layer / 2, "%zu bytes", few.arena_bytes);
        cr_expect_geq(many.arena_bytes, layer);
        for (int k = 0; k < few.kernel_count; k++)
            cr_expect(few.ir->row_workers[k] == 0 || few.kernels[k].groups == 2);
        kernel_plan_free(&few);
        kernel_plan_free(&many);
    }
}

/* Where units would wait for others' samples, a launch more costs less: then all of them share each layer. */
Test(kept, no_unit_waits_for_samples)
{
    static const int units[] = { SAMPLES / 2, SAMPLES, 8 * SAMPLES };
    for (int i = 0; i < 3; i++) {
        struct build b;
        build_begin(&b);
        build_output(&b, make_rows(&b, false));
        struct kernel_plan plan = compiled(&b, units[i]);
        const bool waits = i > 1;
        cr_expect_eq(plan.kernel_count > 1, waits, "%d units: %d kernels", units[i],
                     plan.kernel_count);
        for (int k = 0; k < plan.kernel_count; k++)
            cr_expect_geq(plan.kernels[k].groups, units[i], "%d units, kernel %d: %d groups",
                          units[i], k, plan.kernels[k].groups);
        kernel_plan_free(&plan);
    }
}

/* x less its mean over the image, and what is positive of it. */
static uint32_t make_normed(struct build *b, uint32_t x)
{
    const tarn_shape shape = b->nodes[x].shape;
    const uint32_t mean = build_scaled(b, build_reduce(b, &op_sum, x, 12), 1.0f / 256);
    return build_map(b, &op_relu, build_map2(b, &op_sub, x, build_expand(b, mean, shape)));
}

/* Small nests after the products of convolutions, each of which one group does sooner than a launch: not all of them one after
 * the other. */
Test(kept, no_unit_does_long_chains_alone)
{
    for (int units = 2; units <= 8; units *= 2) {
        struct target t = target_named("avx512");
        struct build b;
        double most = 0;
        t.samples = SAMPLES_ALONE;
        t.vector.units = units;
        build_begin(&b);
        uint32_t x = build_samples(&b, TARN_SHAPE(8, 64, 16, 16));
        for (int i = 0; i < 3; i++) {
            const uint32_t w = build_owned(&b, TARN_SHAPE(64, 64, 3, 3));
            x = make_normed(&b, build_conv(&b, make_normed(&b, x), w, 1));
        }
        build_output(&b, x);
        struct kernel_plan plan = compiled_for(&b, &t);
        for (int k = 0; k < plan.kernel_count; k++) {
            double work = 0;
            for (int i = 0; i < plan.ir->nest_count; i++)
                if (plan.ir->placements[i].kernel == k && plan.ir->placements[i].tiny)
                    work += plan.ir->placements[i].work;
            most = work > most ? work : most;
        }
        cr_expect_leq(most, t.fusion.tiny_work, "%d units: %g cycles", units, most);
        kernel_plan_free(&plan);
    }
}

/* Values that nests of a room's kernel need at once do not share memory. */
Test(kept, rooms_do_not_overlap)
{
    struct build b;
    build_begin(&b);
    const uint32_t y = make_rows(&b, false);
    build_output(&b, build_map2(&b, &op_add, y, build_map(&b, &op_exp, y)));
    struct kernel_plan plan = compiled(&b, 2);
    const struct program_ir *p = plan.ir;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int e = 0; e < n->expr_count; e++) {
            const struct value *from = &p->values[n->exprs[e].access.value];
            const struct value *to = &p->values[n->store[0].value];
            if (n->exprs[e].kind == EXPR_LOAD && from->room > 0 && from->room == to->room)
                cr_expect(from->offset + from->bytes <= to->offset ||
                              to->offset + to->bytes <= from->offset,
                          "%s", n->name);
        }
    }
    kernel_plan_free(&plan);
}

/* The float32 values of all samples that go from one kernel to another, though half the bytes would do. */
static int wide_between_kernels(const struct program_ir *p)
{
    int wide = 0;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int s = 0; s < n->stores; s++) {
            const struct value *v = &p->values[n->store[s].value];
            const struct expr *e = n->store[s].expr >= 0 ? &n->exprs[n->store[s].expr] : NULL;
            wide += v->place == PLACE_ARENA && v->first < v->last && v->dtype == TARN_F32 &&
                    e != NULL && e->kind == EXPR_MAP && e->code == op_from_bf16.code;
        }
    }
    return wide;
}

/* Rounded values that a product reads as rows, widened, and a later kernel as they are: the sum over all samples ends
 * one. */
static void make_centred(struct build *b)
{
    const tarn_shape shape = TARN_SHAPE(SAMPLES, ROWS, WIDTH);
    const uint32_t x = build_samples(b, shape), w = build_owned(b, TARN_SHAPE(WIDTH, WIDTH));
    const uint32_t y = rounded(b, build_map(b, &op_exp, x));
    const uint32_t rows = build_reshape(b, y, TARN_SHAPE(SAMPLES * ROWS, WIDTH));
    const uint32_t z = build_reshape(b, build_matmul(b, rows, w, false, false), shape);
    const uint32_t sum = build_expand(b, build_reduce(b, &op_sum, z, 1), shape);
    build_output(b, build_map2(b, &op_sub, y, sum));
}

Test(kept, halves_between_kernels)
{
    struct build b;
    build_begin(&b);
    make_centred(&b);
    struct kernel_plan plan = compiled(&b, 2);
    int halves = 0;
    for (int i = 0; i < plan.ir->value_count; i++) {
        const struct value *v = &plan.ir->values[i];
        halves += v->place == PLACE_ARENA && v->first < v->last && v->dtype == TARN_BF16;
    }
    cr_expect_geq(plan.kernel_count, 2);
    cr_expect_eq(wide_between_kernels(plan.ir), 0);
    cr_expect_eq(halves, 1, "%d of the activations", halves);
    kernel_plan_free(&plan);
}

/* Whether a node of an op, or the map after it, has a place in memory. */
static bool is_stored(const struct kernel_plan *plan, const struct op *op)
{
    const struct module *m = plan->ir->module;
    bool stored = false;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->nodes[i].op == op)
            stored |= m->stored[i] || (m->user[i] != UINT32_MAX && m->stored[m->user[i]]);
    return stored;
}

/* GELU and what its gradient reads of it, or of the error function alone. */
static struct kernel_plan gelu(bool gradient_reads_x)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = make_rows(&b, true), w = build_owned(&b, TARN_SHAPE(WIDTH, WIDTH));
    const uint32_t erf = build_map(&b, &op_erf, build_scaled(&b, x, 0.7f));
    const uint32_t phi = build_map2(&b, &op_add, erf, build_constant(&b, b.nodes[erf].shape, 1));
    const uint32_t half = build_scaled(&b, x, 0.5f);
    const uint32_t y = build_map2(&b, &op_mul, half, phi);
    uint32_t g = build_map2(&b, &op_mul, build_matmul(&b, y, w, false, false), phi);
    if (gradient_reads_x)
        g = build_map2(&b, &op_add, g, build_map(&b, &op_exp, build_scaled(&b, x, -1)));
    build_output(&b, g);
    return compiled(&b, 2);
}

Test(kept, what_is_there_again_is_computed_again)
{
    struct kernel_plan both = gelu(true), alone = gelu(false);
    cr_expect_not(is_stored(&both, &op_erf), "x is kept anyway");
    cr_expect(is_stored(&alone, &op_erf), "x would be kept for it");
    kernel_plan_free(&both);
    kernel_plan_free(&alone);
}
