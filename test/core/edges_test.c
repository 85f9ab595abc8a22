/* SPDX-License-Identifier: Apache-2.0 */
/* Where the range of an argument or of a life ends: limits that cross, values that an integer
 * cannot hold, types that are none, tensors kept twice or in a step that was dropped. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(edges, .timeout = 600);

static tarn_replica *here;

static void open_here(void)
{
    here = tarn_open(NULL);
    cr_assert_not_null(here, "%s", tarn_error(NULL));
}

#define STICKS(call) \
    do { \
        call; \
        cr_expect_neq(tarn_error_status(here), TARN_OK, "%s: no error", #call); \
        tarn_error_clear(here); \
    } while (0)

static void expect_values(tarn_tensor t, const float *want, int count)
{
    float got[8] = { 0 };
    cr_assert_eq(tarn_read(t, got, (size_t)count * sizeof *got), TARN_OK, "%s",
                 tarn_error(t.replica));
    for (int i = 0; i < count; i++)
        cr_expect(isnan(want[i]) ? isnan(got[i]) : got[i] == want[i], "%d: %g, not %g", i,
                  (double)got[i], (double)want[i]);
}

Test(edges, limits_of_clamp_as_in_torch)
{
    open_here();
    const float x[4] = { NAN, -3, 0, INFINITY };
    const tarn_tensor t = tarn_from(here, TARN_SHAPE(4), TARN_F32, x);
    tarn_tensor y[3] = { tarn_clamp(t, 2, -2), tarn_clamp(t, -2, 2), tarn_clamp(t, NAN, 1) };
    cr_assert_eq(tarn_eval(y, 3), TARN_OK, "%s", tarn_error(here));
    expect_values(y[0], (const float[]){ NAN, -2, -2, -2 }, 4);
    expect_values(y[1], (const float[]){ NAN, -2, 0, 2 }, 4);
    expect_values(y[2], (const float[]){ NAN, NAN, NAN, NAN }, 4);
    tarn_close(here);
}

Test(edges, pad_refuses_what_an_integer_cannot_hold)
{
    open_here();
    const tarn_shape one = TARN_SHAPE(1);
    const float bad[] = { 1e10f, -1e10f, 0x1p31f, 0.5f, NAN, INFINITY };
    for (int i = 0; i < 6; i++)
        STICKS(tarn_pad(tarn_arange(here, 3), one, one, bad[i]));
    STICKS(tarn_pad(tarn_cast(tarn_arange(here, 3), TARN_U8), one, one, 256));
    STICKS(tarn_pad(tarn_cast(tarn_arange(here, 3), TARN_U8), one, one, -1));
    cr_expect_not(tarn_failed(tarn_pad(tarn_arange(here, 3), one, one, -0x1p31f)));
    cr_expect_not(tarn_failed(tarn_pad(tarn_ones(here, one), one, one, INFINITY)));
    tarn_close(here);
}

static void no_item(tarn_tensor t, const char *line)
{
    cr_expect(isnan(tarn_item(t)));
    cr_expect_eq(tarn_error_status(here), TARN_ERR_SHAPE);
    cr_expect_not_null(strstr(tarn_error(here), line), "%s", tarn_error(here));
    tarn_error_clear(here);
}

/* Of any rank; more elements than one, or none, are no item. */
Test(edges, an_item_is_one_element)
{
    open_here();
    static const float two[2] = { 3, 4 };
    const tarn_tensor owned = tarn_parameter(here, "w", TARN_SHAPE(2), two);
    cr_expect_eq(tarn_item(tarn_slice(tarn_reshape(owned, TARN_SHAPE(1, 2)), 1, 1, 2, 1)), 4);
    no_item(tarn_add(owned, owned), "item: the tensor is [2], must have one element");
    no_item(tarn_zeros(here, TARN_SHAPE(2, 0)), "item: the tensor is [2,0], must have one element");
    no_item(owned, "item: the tensor is [2], must have one element");
    cr_expect_eq(tarn_item(tarn_select(owned, 0, 1)), 4);
    tarn_close(here);
}

static void expect_shape(const char *name, tarn_tensor t, tarn_shape want)
{
    const tarn_shape s = tarn_shape_get(t);
    cr_expect(!tarn_failed(t) && memcmp(&s, &want, sizeof s) == 0, "%s: %s", name,
              tarn_error(here));
}

/* Of the other options one number is for all axes; a padding of 0 is one that may be meant. */
Test(edges, a_padding_of_one_number_is_the_first_axis_alone)
{
    open_here();
    const tarn_tensor image = tarn_zeros(here, TARN_SHAPE(1, 1, 5, 5));
    const tarn_tensor solid = tarn_zeros(here, TARN_SHAPE(1, 1, 5, 5, 5));
    const tarn_tensor flat = tarn_zeros(here, TARN_SHAPE(1, 1, 3, 3));
    const tarn_tensor cube = tarn_zeros(here, TARN_SHAPE(1, 1, 3, 3, 3));
    const tarn_tensor none = TARN_NONE;
    const tarn_shape higher = TARN_SHAPE(1, 1, 5, 3), deeper = TARN_SHAPE(1, 1, 5, 3, 3);
    expect_shape("conv2d",
                 tarn_conv2d_op(image, flat, none, (tarn_conv2d_options){ .padding = { 1 } }),
                 higher);
    expect_shape("conv3d",
                 tarn_conv3d_op(solid, cube, none, (tarn_conv3d_options){ .padding = { 1 } }),
                 deeper);
    const tarn_pool_options pool = { .window = { 3 }, .stride = { 1 }, .padding = { 1 } };
    expect_shape("max_pool2d", tarn_max_pool2d_with(image, pool), higher);
    expect_shape("avg_pool2d", tarn_avg_pool2d_with(image, pool), higher);
    const tarn_pool3d_options volume = { .window = { 3 }, .stride = { 1 }, .padding = { 1 } };
    expect_shape("max_pool3d", tarn_max_pool3d(solid, volume), deeper);
    expect_shape("unfold2d",
                 tarn_unfold2d(image, (tarn_unfold_options){ .window = { 3 }, .padding = { 1 } }),
                 TARN_SHAPE(1, 9, 15));
    expect_shape(
        "conv_transpose2d",
        tarn_conv_transpose2d_op(image, flat, none,
                                 (tarn_conv_transpose2d_options){
                                     .stride = { 2 }, .padding = { 1 }, .output_padding = { 1 } }),
        TARN_SHAPE(1, 1, 10, 11));
    expect_shape(
        "conv_transpose3d",
        tarn_conv_transpose3d_op(solid, cube, none,
                                 (tarn_conv_transpose3d_options){
                                     .stride = { 2 }, .padding = { 1 }, .output_padding = { 1 } }),
        TARN_SHAPE(1, 1, 10, 11, 11));
    tarn_close(here);
}

Test(edges, unknown_types_are_errors_of_type)
{
    open_here();
    const float x = 0;
    cr_expect(tarn_failed(tarn_from(here, TARN_SHAPE(1), (tarn_dtype)9, &x)));
    cr_expect_eq(tarn_error_status(here), TARN_ERR_DTYPE);
    tarn_error_clear(here);
    cr_expect(tarn_failed(tarn_buffer(here, "b", TARN_SHAPE(1), (tarn_dtype)9, &x)));
    cr_expect_eq(tarn_error_status(here), TARN_ERR_DTYPE);
    tarn_close(here);
}

Test(edges, too_many_elements_are_said_to_be)
{
    open_here();
    const tarn_tensor a = tarn_ones(here, TARN_SHAPE(65536, 1)),
                      b = tarn_ones(here, TARN_SHAPE(1, 65536));
    cr_expect(tarn_failed(tarn_add(a, b)));
    cr_expect_not_null(strstr(tarn_error(here), "2^31 - 1"), "%s", tarn_error(here));
    tarn_error_clear(here);
    cr_expect(
        tarn_failed(tarn_broadcast_to(tarn_ones(here, TARN_SHAPE(1)), TARN_SHAPE(65536, 65536))));
    cr_expect_not_null(strstr(tarn_error(here), "2^31 - 1"), "%s", tarn_error(here));
    tarn_error_clear(here);
    tarn_close(here);
}

/* A plan whose only temporary has no elements: its kernel takes the memory of temporaries all the same. */
Test(edges, temporaries_without_elements)
{
    open_here();
    const float weights[] = { 1, 2, 3, 4, 5, 6 };
    const tarn_tensor x = tarn_from(here, TARN_SHAPE(1, 2, 16, 0), TARN_F32, weights);
    const tarn_tensor turned = tarn_permute(tarn_add(x, x), TARN_SHAPE(2, 1, 0, 3));
    const tarn_tensor w = tarn_from(here, TARN_SHAPE(6, 1, 1, 1), TARN_F32, weights);
    const tarn_tensor b = tarn_from(here, TARN_SHAPE(6), TARN_F32, weights);
    const tarn_conv2d_options padded = { { 1, 4 }, { 2, 2 }, { 0, 0 }, 2 };
    float out[16 * 6 * 5];
    cr_assert_eq(tarn_read(tarn_conv2d_op(turned, w, b, padded), out, sizeof out), TARN_OK, "%s",
                 tarn_error(here));
    for (int i = 0; i < 16 * 6 * 5; i++)
        cr_expect_eq(out[i], weights[i / 5 % 6], "%d: %g", i, (double)out[i]);
    tarn_close(here);
}

Test(edges, what_is_kept_twice_is_two_tensors)
{
    open_here();
    const float one[2] = { 1, 1 }, five[2] = { 5, 5 };
    const tarn_tensor a = tarn_keep(tarn_from(here, TARN_SHAPE(2), TARN_F32, one));
    const tarn_tensor b = tarn_keep(a);
    cr_assert_eq(tarn_step(here), TARN_OK, "%s", tarn_error(here));
    const tarn_tensor c = tarn_keep(a);
    tarn_assign(a, tarn_from(here, TARN_SHAPE(2), TARN_F32, five));
    cr_assert_eq(tarn_step(here), TARN_OK, "%s", tarn_error(here));
    expect_values(b, one, 2);
    expect_values(c, one, 2);
    expect_values(a, five, 2);
    tarn_drop(a);
    expect_values(b, one, 2);
    tarn_drop(b);
    tarn_drop(c);
    cr_expect_eq(tarn_error_status(here), TARN_OK, "%s", tarn_error(here));
    tarn_close(here);
}

Test(edges, dropping_what_a_cleared_step_kept_is_no_error)
{
    open_here();
    const tarn_tensor lost = tarn_keep(tarn_ones(here, TARN_SHAPE(4)));
    tarn_error_clear(here);
    tarn_drop(lost);
    cr_expect_eq(tarn_error_status(here), TARN_OK, "%s", tarn_error(here));
    tarn_close(here);
}

Test(edges, reading_what_was_evaluated_compiles_nothing)
{
    open_here();
    tarn_tensor y = tarn_exp(tarn_zeros(here, TARN_SHAPE(4)));
    cr_assert_eq(tarn_eval(&y, 1), TARN_OK);
    const tarn_metrics before = tarn_metrics_get(here);
    expect_values(y, (const float[]){ 1, 1, 1, 1 }, 4);
    const float x[2] = { 3, 4 };
    expect_values(tarn_from(here, TARN_SHAPE(2), TARN_F32, x), x, 2);
    const tarn_metrics after = tarn_metrics_get(here);
    cr_expect_eq(after.plans_compiled + after.plan_hits, before.plans_compiled + before.plan_hits);
    cr_expect_eq(after.launches, before.launches);
    tarn_close(here);
}

/* ---- operations that change nothing --------------------------------------------------------- */

static tarn_tensor unchanged(tarn_tensor x, int which)
{
    const tarn_shape same = TARN_SHAPE(2), none = TARN_SHAPE(0);
    switch (which) {
    case 0:
        return tarn_sum(x, TARN_SCALAR, false);
    case 1:
        return tarn_min(x, TARN_SCALAR, true);
    case 2:
        return tarn_cast(x, TARN_F32);
    case 3:
        return tarn_reshape(x, same);
    case 4:
        return tarn_permute(x, none); /* axis 0 stays */
    case 5:
        return tarn_broadcast_to(x, same);
    case 6:
        return tarn_slice(x, 0, 0, 2, 1);
    case 7:
        return tarn_pad(x, none, none, 0);
    case 8:
        return tarn_concat(&x, 1, 0);
    case 9:
        return tarn_dropout(x, 0);
    case 10:
        return tarn_all_reduce(x, TARN_MEAN);
    case 11:
        return tarn_all_gather(x);
    default:
        return tarn_detach(x);
    }
}

/* Not the handle of an owned tensor, which would be the new value. */
Test(edges, what_was_recorded_before_an_assignment_has_the_value_of_then)
{
    enum { CASES = 13 };
    static const float was[] = { 1, 2 }, is[] = { 9, 9 };
    tarn_tensor owned[CASES], kept[CASES];
    open_here();
    for (int k = 0; k < CASES; k++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", k);
        owned[k] = tarn_buffer(here, name, TARN_SHAPE(2), TARN_F32, was);
        const tarn_tensor before = unchanged(owned[k], k);
        tarn_assign(owned[k], tarn_full(here, TARN_SHAPE(2), 9));
        kept[k] = tarn_keep(before);
    }
    cr_assert_eq(tarn_step(here), TARN_OK, "%s", tarn_error(here));
    for (int k = 0; k < CASES; k++) {
        float got[2] = { 0 };
        cr_assert_eq(tarn_read(kept[k], got, sizeof got), TARN_OK, "%s", tarn_error(here));
        cr_expect(got[0] == was[0] && got[1] == was[1], "case %d: %g %g", k, (double)got[0],
                  (double)got[1]);
        expect_values(owned[k], is, 2);
    }
    tarn_close(here);
}
