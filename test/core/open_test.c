/* SPDX-License-Identifier: Apache-2.0 */
/* Options of tarn_open_with and of a launch: each replica has its own, and what makes no sense is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "backend.h"
#include "tarn.h"
#include "tarn_dist.h"
#include "tensor/replica.h"

TestSuite(open, .timeout = 300);

enum { CHANNELS = 8, SIZE = 8, IMAGE = CHANNELS * SIZE * SIZE };

static void refuse(tarn_open_options options, const char *line)
{
    cr_expect_null(tarn_open_with(options));
    cr_expect_eq(tarn_error_status(NULL), TARN_ERR_ARGUMENT);
    cr_expect_str_eq(tarn_error(NULL), line);
}

Test(open, refuses_what_is_no_option)
{
    refuse((tarn_open_options){ .timeout = -1 }, "open: a timeout of -1 s");
    refuse((tarn_open_options){ .timeout = INFINITY }, "open: a timeout of inf s");
    refuse((tarn_open_options){ .build_timeout = NAN }, "open: a build_timeout of nan s");
    refuse((tarn_open_options){ .winograd = 2 }, "open: winograd is 2, must be -1, 0 or 1");
}

Test(open, a_timeout_is_the_replicas)
{
    tarn_replica *a = tarn_open_with((tarn_open_options){ .timeout = 7 }), *b = tarn_open(NULL);
    cr_assert(a != NULL && b != NULL, "%s", tarn_error(NULL));
    cr_expect_eq(context_timeout(a->context), 7);
    cr_expect_eq(context_timeout(b->context), 30);
    tarn_close(a);
    tarn_close(b);
}

/* A parameter of 4 MB. */
static tarn_status step_of_4_mb(tarn_replica *r, void *unused)
{
    (void)unused;
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(1000, 1000), NULL);
    tarn_assign(w, tarn_add(w, tarn_number(r, 1)));
    return tarn_step(r);
}

Test(open, memory_limits_are_the_replicas)
{
    tarn_replica *a = tarn_open_with((tarn_open_options){ .memory_limit = 2000000 });
    tarn_replica *b = tarn_open_with((tarn_open_options){ .memory_limit = 200000000 });
    cr_assert(a != NULL && b != NULL, "%s", tarn_error(NULL));
    cr_expect_eq(step_of_4_mb(a, NULL), TARN_ERR_DEVICE_MEMORY);
    cr_expect_not_null(strstr(tarn_error(a), "memory_limit allows 1.91"), "%s", tarn_error(a));
    cr_expect_eq(step_of_4_mb(b, NULL), TARN_OK, "%s", tarn_error(b));
    tarn_close(a);
    tarn_close(b);
    const tarn_launch_options small = { .devices = "0", .memory_limit = 2000000 };
    cr_expect_eq(tarn_launch(step_of_4_mb, NULL, small), TARN_ERR_DEVICE_MEMORY);
}

static void convolve(int option, float out[IMAGE])
{
    float image[IMAGE], window[CHANNELS * CHANNELS * 9];
    for (int i = 0; i < IMAGE; i++)
        image[i] = (float)((i * 37) % 64 - 32) / 31.0f;
    for (int i = 0; i < CHANNELS * CHANNELS * 9; i++)
        window[i] = (float)((i * 29) % 61 - 30) / 37.0f;
    tarn_replica *r = tarn_open_with((tarn_open_options){ .winograd = option });
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, CHANNELS, SIZE, SIZE), TARN_F32, image);
    const tarn_tensor w = tarn_from(r, TARN_SHAPE(CHANNELS, CHANNELS, 3, 3), TARN_F32, window);
    const tarn_tensor y =
        tarn_conv2d_op(x, w, TARN_NONE, (tarn_conv2d_options){ .padding = { 1, 1 } });
    cr_assert_eq(tarn_read(y, out, IMAGE * sizeof *out), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

/* Winograd's digits are others, and are the same whoever asks for them. */
Test(open, winograd_is_the_replicas)
{
    static float never[IMAGE], always[IMAGE], as_variable[IMAGE];
    convolve(-1, never);
    convolve(1, always);
    cr_expect_neq(memcmp(never, always, sizeof never), 0);
    cr_assert_eq(tarn_set_option("TARN_WINOGRAD", "0"), TARN_OK);
    convolve(0, as_variable);
    cr_expect_eq(memcmp(never, as_variable, sizeof never), 0);
    convolve(1, as_variable);
    cr_expect_eq(memcmp(always, as_variable, sizeof never), 0);
    cr_assert_eq(tarn_set_option("TARN_WINOGRAD", "1"), TARN_OK);
    convolve(0, as_variable);
    cr_expect_eq(memcmp(always, as_variable, sizeof never), 0);
    convolve(-1, as_variable);
    cr_expect_eq(memcmp(never, as_variable, sizeof never), 0);
}
