/* SPDX-License-Identifier: Apache-2.0 */
/* tarn_when_known gives each value once, in order, as tarn_read would, and nothing waits for it. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"

enum { STEPS = 24 };

struct seen {
    int calls, failed;
    uint64_t step[2 * STEPS];
    float value[2 * STEPS];
    size_t bytes;
    tarn_replica *replica;
};

static tarn_replica *open_device(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static void see(tarn_replica *r, uint64_t step, const void *data, size_t bytes, void *user)
{
    struct seen *s = user;
    s->replica = r;
    s->bytes = bytes;
    if (data == NULL) {
        s->failed++;
        return;
    }
    s->step[s->calls] = step;
    memcpy(&s->value[s->calls++], data, sizeof(float));
}

/* 1, 2, 3, ... */
static tarn_tensor count(tarn_replica *r, tarn_tensor w)
{
    const tarn_tensor y = tarn_add(w, tarn_number(r, 1));
    tarn_assign(w, y);
    return y;
}

Test(when_known, gives_each_value_once_in_order)
{
    tarn_replica *r = open_device();
    struct seen s = { 0 };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(3), (const float[]){ 0, 0, 0 });
    for (int i = 0; i < STEPS; i++) {
        const tarn_tensor y = count(r, w);
        cr_assert_eq(tarn_when_known(y, see, &s), TARN_OK);
        cr_assert_eq(tarn_when_known(tarn_mul(y, y), see, &s), TARN_OK);
        cr_expect_leq(s.calls, 2 * i, "before the step was enqueued");
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        /* The step before the last was waited for. */
        cr_expect_geq(s.calls, 2 * (i - 1));
    }
    cr_assert_eq(tarn_wait(r), TARN_OK);
    cr_assert_eq(s.calls, 2 * STEPS);
    cr_expect_eq(s.bytes, 12);
    cr_expect_eq(s.replica, r);
    for (int i = 0; i < 2 * STEPS; i++) {
        const float n = (float)(i / 2 + 1);
        cr_expect_eq(s.step[i], (uint64_t)(i / 2 + 1));
        cr_expect_eq(s.value[i], i % 2 ? n * n : n);
    }
    cr_expect_eq(tarn_metrics_get(r).plans_compiled, 1);
    /* Of three steps at most values are under way: memory is used again. */
    const tarn_metrics m = tarn_metrics_get(r);
    cr_expect_lt(m.allocations, 2 * STEPS - 10, "%d", (int)m.allocations);
    tarn_close(r);
    cr_expect_eq(s.calls, 2 * STEPS);
    cr_expect_eq(s.failed, 0);
}

Test(when_known, takes_leaves_and_what_was_evaluated)
{
    tarn_replica *r = open_device();
    struct seen s = { 0 };
    const float data[] = { 5, 6 };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(2), (const float[]){ 7, 8 });
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(2), TARN_F32, data);
    const tarn_tensor y = tarn_add(x, w);
    cr_assert_eq(tarn_eval(&y, 1), TARN_OK);
    tarn_when_known(x, see, &s);
    tarn_when_known(w, see, &s);
    tarn_when_known(y, see, &s);
    tarn_when_known(y, see, &s);
    tarn_assign(w, x);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r); /* gives what is left */
    cr_assert_eq(s.calls, 4);
    cr_expect_eq(s.value[0], 5);
    cr_expect_eq(s.value[1], 7, "its value when it was asked for");
    cr_expect_eq(s.value[2], 12);
    cr_expect_eq(s.value[3], 12);
}

Test(when_known, says_that_a_step_failed)
{
    tarn_replica *r = open_device();
    struct seen s = { 0 };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(2), NULL);
    cr_expect_eq(tarn_when_known(count(r, w), see, &s), TARN_OK);
    tarn_add(w, tarn_zeros(r, TARN_SHAPE(3)));
    cr_expect_neq(tarn_step(r), TARN_OK);
    cr_expect_eq(s.failed, 1);
    cr_expect_eq(s.bytes, 0);
    tarn_error_clear(r);
    cr_expect_eq(tarn_when_known(count(r, w), see, &s), TARN_OK);
    tarn_error_clear(r); /* drops the step, too */
    cr_expect_eq(tarn_step(r), TARN_OK);
    cr_expect_eq(s.failed, 2);
    cr_expect_eq(tarn_when_known(w, NULL, NULL), TARN_ERR_ARGUMENT);
    cr_expect_eq(tarn_when_known(TARN_NONE, see, &s), TARN_ERR_ARGUMENT);
    tarn_close(r);
    cr_expect_eq(s.calls, 0);
}

/* Functions may use the replica. */
static void ask_again(tarn_replica *r, uint64_t step, const void *data, size_t bytes, void *user)
{
    see(r, step, data, bytes, user);
    if (data != NULL && ((struct seen *)user)->calls < 3)
        tarn_when_known(tarn_full(r, TARN_SCALAR, 9), ask_again, user);
}

Test(when_known, may_ask_again)
{
    tarn_replica *r = open_device();
    struct seen s = { 0 };
    tarn_when_known(tarn_full(r, TARN_SCALAR, 8), ask_again, &s);
    for (int i = 0; i < 20 && s.calls < 3; i++) {
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        cr_assert_eq(tarn_wait(r), TARN_OK, "%s", tarn_error(r));
    }
    cr_assert_eq(s.calls, 3);
    cr_expect_eq(s.value[0], 8);
    cr_expect_eq(s.value[2], 9);
    tarn_close(r);
}
