/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets of one's own: what they hold, how it arrives, and what is refused. */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tarn.h"

#define COUNT(a) (sizeof a / sizeof(*(a)))

static const uint8_t bytes[4][3] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, { 10, 11, 255 } };
static const float floats[4] = { 0.5f, -1, 2, NAN };
static const int32_t numbers[4][2][2] = { { { 1, 2 }, { 3, 4 } },
                                          { { -5, 6 }, { 7, 8 } },
                                          { { 9, 10 }, { 11, 12 } },
                                          { { 0, 0 }, { 0, 1 } } };

static tarn_array array(const void *data, tarn_dtype dtype, tarn_shape shape, int32_t classes)
{
    return (tarn_array){ .data = data, .dtype = dtype, .shape = shape, .classes = classes };
}

/* ---- refusals ------------------------------------------------------------------------------- */

static int never(void *user, int32_t index, const tarn_sample *out)
{
    (void)user;
    (void)index;
    (void)out;
    return 1;
}

static void expect_line(const tarn_dataset *d, tarn_status status, const char *part)
{
    cr_expect_null(d, "%s", part);
    cr_expect_eq(tarn_error_status(NULL), status, "%s: %s", part, tarn_error(NULL));
    cr_expect_not_null(strstr(tarn_error(NULL), part), "%s: %s", part, tarn_error(NULL));
    cr_expect_null(strchr(tarn_error(NULL), '\n'));
}

Test(dataset, arrays_that_cannot_be_are_refused)
{
    const tarn_shape one = TARN_SHAPE(4), deep = TARN_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1);
    const tarn_shape negative = { .rank = -1 };
    const struct {
        tarn_array input, target;
        tarn_status status;
        const char *line;
    } cases[] = {
        { .status = TARN_ERR_ARGUMENT, .line = "no inputs" },
        { { .data = bytes }, .status = TARN_ERR_SHAPE, .line = "but no shape" },
        { array(NULL, TARN_U8, one, 0), .status = TARN_ERR_ARGUMENT,
          .line = "inputs[0]: data is NULL" },
        { array(bytes, TARN_U8, TARN_SHAPE(0, 3), 0), .status = TARN_ERR_SHAPE,
          .line = "inputs[0] has no samples" },
        { array(bytes, TARN_U8, TARN_SHAPE(4, 0), 0), .status = TARN_ERR_SHAPE,
          .line = "dimension 1 is 0" },
        { array(bytes, TARN_U8, TARN_SHAPE(-4, 3), 0), .status = TARN_ERR_SHAPE,
          .line = "dimension 0 is -4" },
        { array(bytes, TARN_U8, TARN_SHAPE(4, -3), 0), .status = TARN_ERR_SHAPE,
          .line = "dimension 1 is -3" },
        { array(bytes, TARN_U8, deep, 0), .status = TARN_ERR_SHAPE, .line = "9 dimensions" },
        { array(bytes, TARN_U8, negative, 0), .status = TARN_ERR_SHAPE, .line = "-1 dimensions" },
        { array(bytes, (tarn_dtype)7, one, 0), .status = TARN_ERR_DTYPE,
          .line = "unknown element type 7" },
        { array(bytes, TARN_U8, TARN_SHAPE(4, 65536, 65536), 0), .status = TARN_ERR_SHAPE,
          .line = "more than 2147483647 elements" },
        { array(bytes, TARN_U8, TARN_SHAPE(4, INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX), 0),
          .status = TARN_ERR_SHAPE, .line = "more than 2147483647 elements" },
        { array(floats, TARN_F32, TARN_SHAPE(INT_MAX, INT_MAX), 0), .status = TARN_ERR_SHAPE,
          .line = "larger than any memory" },
        { array(bytes, TARN_U8, one, 0), array(floats, TARN_F32, TARN_SHAPE(3), 0), TARN_ERR_SHAPE,
          "inputs[0] has 4 samples but targets[0] has 3" },
        { array(bytes, TARN_U8, one, 0), array(NULL, TARN_F32, one, 0), TARN_ERR_ARGUMENT,
          "targets[0]: data is NULL" },
        { array(bytes, TARN_U8, one, 0), array(floats, TARN_F32, one, 3), TARN_ERR_ARGUMENT,
          "3 classes of float32" },
        { array(bytes, TARN_U8, one, 0), array(bytes, TARN_U8, one, -1), TARN_ERR_ARGUMENT,
          "-1 classes" },
        { array(bytes, TARN_U8, one, 0), array(bytes, TARN_U8, TARN_SHAPE(4, 3), 9),
          TARN_ERR_ARGUMENT, "targets[0]: sample 2 has 9, but classes go from 0 to 8" },
        { array(numbers, TARN_I32, TARN_SHAPE(4, 2, 2), 12), .status = TARN_ERR_ARGUMENT,
          .line = "inputs[0]: sample 1 has -5, but classes go from 0 to 11" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tarn_arrays a = { .inputs = { cases[i].input }, .targets = { cases[i].target } };
        expect_line(tarn_dataset_from(a), cases[i].status, cases[i].line);
    }
}

Test(dataset, lists_with_gaps_are_refused)
{
    tarn_arrays a = { .inputs = { array(bytes, TARN_U8, TARN_SHAPE(4), 0) } };
    a.targets[1] = a.inputs[0];
    expect_line(tarn_dataset_from(a), TARN_ERR_SHAPE, "targets: an array has data");
    a.targets[0] = a.targets[7] = a.inputs[0];
    expect_line(tarn_dataset_from(a), TARN_ERR_SHAPE, "targets: an array has data");
}

Test(dataset, functions_and_repeats_are_checked)
{
    tarn_arrays a = { .inputs = { array(bytes, TARN_U8, TARN_SHAPE(4), 0) } };
    expect_line(tarn_dataset_call(a, NULL, NULL), TARN_ERR_ARGUMENT, "no function");
    expect_line(tarn_dataset_call(a, never, NULL), TARN_ERR_ARGUMENT, "data is given");
    expect_line(tarn_dataset_repeat(a, 0), TARN_ERR_ARGUMENT, "0 times");
    expect_line(tarn_dataset_repeat(a, -3), TARN_ERR_ARGUMENT, "-3 times");
    expect_line(tarn_dataset_repeat(a, INT_MAX), TARN_ERR_ARGUMENT, "are the most");
    a.inputs[0].data = NULL;
    expect_line(tarn_dataset_repeat(a, 2), TARN_ERR_ARGUMENT, "data is NULL");
    cr_expect_eq(tarn_dataset_size(NULL), 0);
    cr_expect_eq(tarn_dataset_classes(NULL), 0);
    cr_expect_null(tarn_dataset_samples(NULL));
    cr_expect_null(tarn_dataset_labels(NULL));
    tarn_dataset_close(NULL);
}

Test(dataset, loaders_refuse_what_samples_cannot_do, .timeout = 600)
{
    static const float three[] = { 1, 2, 3 }, zeros[] = { 1, 0, 1 }, nan[] = { 0, NAN, 0 };
    static const struct {
        tarn_loader_options o;
        tarn_shape shape;
        tarn_dtype dtype;
        tarn_status status;
        const char *line;
    } cases[] = {
        { { .flip = true },
          { 2, { 4, 6 } },
          TARN_U8,
          TARN_ERR_SHAPE,
          "flip and crop are for images" },
        { { .pad = 1 }, { 3, { 4, 6, 6 } }, TARN_U8, TARN_ERR_SHAPE, "a sample is [6,6]" },
        { { .crop = { 7 } },
          { 4, { 4, 3, 6, 8 } },
          TARN_U8,
          TARN_ERR_SHAPE,
          "a crop of 7x7 with padding 0 does not fit samples of [3,6,8]" },
        { { .crop = { 8, 11 }, .pad = 1 },
          { 4, { 4, 3, 6, 8 } },
          TARN_F32,
          TARN_ERR_SHAPE,
          "8x11" },
        { { .crop = { 0, 3 } }, { 4, { 4, 3, 6, 8 } }, TARN_U8, TARN_ERR_SHAPE, "0x3" },
        { { .crop = { -1 } }, { 4, { 4, 3, 6, 8 } }, TARN_U8, TARN_ERR_SHAPE, "-1x-1" },
        { { .pad = -1 }, { 4, { 4, 3, 6, 8 } }, TARN_U8, TARN_ERR_SHAPE, "padding -1" },
        { { .pad = INT_MAX },
          { 4, { 4, 3, 6, 8 } },
          TARN_U8,
          TARN_ERR_SHAPE,
          "padding 2147483647" },
        { { .deviation = -1 }, { 1, { 4 } }, TARN_U8, TARN_ERR_ARGUMENT, "deviation -1" },
        { { .mean = INFINITY }, { 1, { 4 } }, TARN_F32, TARN_ERR_ARGUMENT, "mean inf" },
        { { .means = three, .channels = 2 },
          { 4, { 4, 3, 6, 8 } },
          TARN_U8,
          TARN_ERR_SHAPE,
          "of 2 channels for samples of [3,6,8]" },
        { { .means = three, .channels = 3 }, { 1, { 4 } }, TARN_U8, TARN_ERR_SHAPE, "3 channels" },
        { { .deviations = zeros, .channels = 3 },
          { 2, { 4, 3 } },
          TARN_U8,
          TARN_ERR_ARGUMENT,
          "deviation 0 of channel 1" },
        { { .means = nan, .channels = 3 },
          { 2, { 4, 3 } },
          TARN_F32,
          TARN_ERR_ARGUMENT,
          "mean nan" },
        { { .means = three, .channels = 3, .mean = 1 },
          { 2, { 4, 3 } },
          TARN_F32,
          TARN_ERR_ARGUMENT,
          "one of them" },
        { { .channels = 3 }, { 2, { 4, 3 } }, TARN_F32, TARN_ERR_ARGUMENT, "neither" },
        { { .mean = 1 }, { 2, { 4, 3 } }, TARN_I32, TARN_ERR_DTYPE, "int32" },
        { { .threads = -1 }, { 1, { 4 } }, TARN_U8, TARN_ERR_ARGUMENT, "-1 threads" },
        { { .threads = 65 }, { 1, { 4 } }, TARN_U8, TARN_ERR_ARGUMENT, "65 threads" },
        { { .pad = 20000 }, { 4, { 4, 3, 6, 8 } }, TARN_U8, TARN_OK, "" },
    };
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (size_t i = 0; i < COUNT(cases); i++) {
        tarn_arrays a = { .inputs = { array(NULL, cases[i].dtype, cases[i].shape, 0) } };
        tarn_dataset *d = tarn_dataset_call(a, never, NULL);
        cr_assert_not_null(d, "%s", tarn_error(NULL));
        const uint64_t before = tarn_metrics_get(r).device_bytes;
        tarn_loader *l = tarn_loader_open(r, d, cases[i].o);
        cr_expect_eq(l == NULL, cases[i].status != TARN_OK, "case %zu", i);
        cr_expect_eq(tarn_error_status(r), cases[i].status, "case %zu: %s", i, tarn_error(r));
        cr_expect_not_null(strstr(tarn_error(r), cases[i].line), "case %zu: %s", i, tarn_error(r));
        cr_expect(l || tarn_metrics_get(r).device_bytes == before, "case %zu takes memory", i);
        tarn_error_clear(r);
        tarn_loader_close(l);
        tarn_dataset_close(d);
    }
    cr_expect_eq(tarn_loader_status(NULL), TARN_ERR_ARGUMENT);
    cr_expect_not(tarn_loader_next(NULL, NULL));
    tarn_close(r);
}

/* A batch of more elements than a tensor may have. */
Test(dataset, batches_that_are_too_large_are_refused, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_arrays a = { .inputs = { array(NULL, TARN_U8, TARN_SHAPE(1000, 32768, 1024), 0) } };
    tarn_dataset *d = tarn_dataset_call(a, never, NULL);
    cr_assert_not_null(d, "%s", tarn_error(NULL));
    cr_expect_null(tarn_loader_open(r, d, (tarn_loader_options){ .batch = 64 }));
    cr_expect_not_null(strstr(tarn_error(r), "inputs[0]: 64 samples of 33554432 elements"), "%s",
                       tarn_error(r));
    tarn_close(r);
    tarn_dataset_close(d);
}

/* ---- what arrives --------------------------------------------------------------------------- */

static void expect_read(tarn_tensor t, tarn_dtype dtype, tarn_shape shape, const void *expected)
{
    unsigned char got[64];
    const size_t size = (size_t)tarn_shape_count(shape) * tarn_dtype_bytes(dtype);
    const tarn_shape its = tarn_shape_get(t);
    cr_assert_eq(tarn_dtype_get(t), dtype);
    cr_assert(its.rank == shape.rank &&
              memcmp(its.dim, shape.dim, (size_t)shape.rank * sizeof *shape.dim) == 0);
    cr_assert_eq(tarn_read(t, got, size), TARN_OK);
    cr_expect_eq(memcmp(got, expected, size), 0);
}

Test(dataset, several_inputs_and_targets_arrive, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *d = tarn_dataset_from(
        (tarn_arrays){ .inputs = { array(numbers, TARN_I32, TARN_SHAPE(4, 2, 2), 0),
                                   array(floats, TARN_F32, TARN_SHAPE(4), 0),
                                   array(bytes, TARN_U8, TARN_SHAPE(4, 3), 0) },
                       .targets = { array(bytes, TARN_U8, TARN_SHAPE(4, 3), 256),
                                    array(floats, TARN_F32, TARN_SHAPE(4, 1), 0) } });
    cr_assert_not_null(d, "%s", tarn_error(NULL));
    cr_expect_eq(tarn_dataset_classes(d), 256);
    cr_expect_null(tarn_dataset_samples(d));
    cr_expect_null(tarn_dataset_labels(d), "a target of three numbers is no label");
    tarn_loader *l = tarn_loader_open(r, d, (tarn_loader_options){ .batch = 2, .threads = 2 });
    tarn_batch b;
    cr_assert(tarn_loader_next(l, &b) && tarn_loader_next(l, &b), "%s", tarn_error(r));
    cr_expect(b.input_count == 3 && b.target_count == 2 && b.n == 2 && b.global == 2);
    cr_expect(b.x.node == b.inputs[0].node && b.y.node == b.targets[0].node);
    cr_expect(b.inputs[3].node == 0 && b.targets[2].node == 0);
    int32_t wide[6];
    float third[6];
    for (int i = 0; i < 6; i++) {
        wide[i] = bytes[2 + i / 3][i % 3];
        third[i] = (float)wide[i] * (float)(1 / 255.0);
    }
    expect_read(b.inputs[0], TARN_I32, TARN_SHAPE(2, 2, 2), numbers[2]);
    expect_read(b.inputs[1], TARN_F32, TARN_SHAPE(2), floats + 2);
    expect_read(b.inputs[2], TARN_F32, TARN_SHAPE(2, 3), third);
    expect_read(b.targets[0], TARN_I32, TARN_SHAPE(2, 3), wide);
    expect_read(b.targets[1], TARN_F32, TARN_SHAPE(2, 1), floats + 2);
    tarn_close(r);
    tarn_dataset_close(d);
}

Test(dataset, targets_are_not_needed, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *d = tarn_dataset_from(
        (tarn_arrays){ .inputs = { array(bytes, TARN_U8, TARN_SHAPE(4, 3), 0) } });
    tarn_loader *l = tarn_loader_open(r, d, (tarn_loader_options){ 0 });
    tarn_batch b;
    cr_assert(tarn_loader_next(l, &b), "%s", tarn_error(r));
    cr_expect(b.target_count == 0 && b.y.node == 0 && b.y.replica == NULL);
    cr_expect_eq(tarn_dataset_samples(d), &bytes[0][0]);
    cr_expect_not(tarn_loader_next(l, &b));
    cr_expect_eq(tarn_loader_status(l), TARN_OK);
    cr_expect_not(tarn_loader_next(l, NULL));
    cr_expect_eq(tarn_loader_status(l), TARN_ERR_ARGUMENT);
    tarn_close(r);
    tarn_dataset_close(d);
}

/* Samples of seven dimensions: eight with the batch. */
Test(dataset, samples_may_have_seven_dimensions, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *d = tarn_dataset_from((tarn_arrays){
        .inputs = { array(numbers, TARN_I32, TARN_SHAPE(4, 1, 2, 1, 1, 2, 1, 1), 0) } });
    tarn_loader *l = tarn_loader_open(r, d, (tarn_loader_options){ .batch = 4 });
    tarn_batch b;
    cr_assert(tarn_loader_next(l, &b), "%s", tarn_error(r));
    expect_read(b.x, TARN_I32, TARN_SHAPE(4, 1, 2, 1, 1, 2, 1, 1), numbers);
    tarn_close(r);
    tarn_dataset_close(d);
}

/* ---- files ---------------------------------------------------------------------------------- */

static tarn_dataset *open_idx(const unsigned char *head, size_t rank, const void *data, size_t size)
{
    static const unsigned char labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 1, 0 };
    char x[] = "/tmp/tarn-idx-x-XXXXXX", y[] = "/tmp/tarn-idx-y-XXXXXX";
    const int fx = mkstemp(x), fy = mkstemp(y);
    cr_assert(fx >= 0 && fy >= 0);
    cr_assert_eq(write(fx, head, 4 + 4 * rank), (ssize_t)(4 + 4 * rank));
    cr_assert_eq(write(fx, data, size), (ssize_t)size);
    cr_assert_eq(write(fy, labels, sizeof labels), (ssize_t)sizeof labels);
    (void)close(fx);
    (void)close(fy);
    tarn_dataset *d = tarn_idx_open(x, y, 2);
    (void)unlink(x);
    (void)unlink(y);
    return d;
}

Test(dataset, idx_files_have_one_to_four_dimensions)
{
    static const struct {
        size_t rank, size;
        unsigned char head[24];
        tarn_shape sample;
    } cases[] = {
        { 1, 2, { 0, 0, 8, 1, 0, 0, 0, 2 }, { 0, { 0 } } },
        { 2, 6, { 0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3 }, { 1, { 3 } } },
        { 3, 12, { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3 }, { 3, { 1, 2, 3 } } },
        { 4,
          24,
          { 0, 0, 8, 4, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3 },
          { 3, { 2, 2, 3 } } },
    };
    unsigned char data[24];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tarn_dataset *d = open_idx(cases[i].head, cases[i].rank, data, cases[i].size);
        cr_assert_not_null(d, "%s", tarn_error(NULL));
        const tarn_shape sample = tarn_dataset_sample_shape(d);
        cr_expect_eq(sample.rank, cases[i].sample.rank);
        cr_expect_eq(memcmp(sample.dim, cases[i].sample.dim, sizeof sample.dim), 0);
        cr_expect_eq(memcmp(tarn_dataset_samples(d), data, cases[i].size), 0);
        tarn_dataset_close(d);
    }
    static const unsigned char five[24] = { 0, 0, 8, 5, 0, 0, 0, 2, 0, 0, 0, 1,
                                            0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    cr_expect_null(open_idx(five, 5, data, 2));
    cr_expect_not_null(strstr(tarn_error(NULL), "up to 4 dimensions"), "%s", tarn_error(NULL));
}
