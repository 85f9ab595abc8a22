/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose text was once wrong: each graph in all schedules, against sums made here. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

static const struct {
    const char *fuse, *schedule;
} ways[] = { { "1", "cpu" }, { "0", "cpu" }, { "1", "gpu" }, { "0", "gpu" } };
enum { WAYS = sizeof ways / sizeof *ways };

static tarn_replica *open_with(int way)
{
    cr_assert_eq(setenv("TARN_FUSE", ways[way].fuse, 1), 0);
    cr_assert_eq(setenv("TARN_SCHEDULE", ways[way].schedule, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

/* Multiples of 1/8 between -2 and 2: sums and products of a few are exact. */
static void fill(float *out, int count, unsigned seed)
{
    for (int i = 0; i < count; i++)
        out[i] = (float)((int)((unsigned)i * 37u + seed * 11u) % 33 - 16) / 8.0f;
}

static tarn_tensor numbers(tarn_replica *r, tarn_shape shape, unsigned seed)
{
    float data[4096];
    fill(data, (int)tarn_shape_count(shape), seed);
    return tarn_from(r, shape, TARN_F32, data);
}

static void expect(tarn_tensor t, const float *wanted, int count)
{
    float seen[4096];
    cr_assert_eq(tarn_read(t, seen, (size_t)count * sizeof *seen), TARN_OK, "%s",
                 tarn_error(t.replica));
    for (int i = 0; i < count; i++)
        cr_assert_eq(seen[i], wanted[i], "element %d is %g, not %g", i, (double)seen[i],
                     (double)wanted[i]);
}

/* A queue: what goes out at the front comes in at the end, along both axes, over several steps. */
Test(assign, concat_of_its_own_target)
{
    enum { LENGTH = 6, WIDTH = 3 };
    for (int way = 0; way < WAYS; way++)
        for (int axis = 0; axis < 2; axis++) {
            tarn_replica *r = open_with(way);
            const tarn_shape shape =
                axis == 0 ? TARN_SHAPE(LENGTH, WIDTH) : TARN_SHAPE(WIDTH, LENGTH);
            const tarn_shape piece = axis == 0 ? TARN_SHAPE(2, WIDTH) : TARN_SHAPE(WIDTH, 2);
            float queue[LENGTH * WIDTH], next[LENGTH * WIDTH], in[2 * WIDTH];
            fill(queue, LENGTH * WIDTH, 1);
            const tarn_tensor q = tarn_buffer(r, "queue", shape, TARN_F32, queue);
            for (unsigned step = 0; step < 3; step++) {
                fill(in, 2 * WIDTH, 2 + step);
                const tarn_tensor parts[] = { tarn_slice(q, axis, 2, LENGTH, 1),
                                              tarn_from(r, piece, TARN_F32, in) };
                tarn_assign(q, tarn_concat(parts, 2, axis));
                cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
                for (int i = 0; i < LENGTH; i++)
                    for (int w = 0; w < WIDTH; w++) {
                        const int from = i + 2;
                        const int at = axis == 0 ? i * WIDTH + w : w * LENGTH + i;
                        next[at] = from < LENGTH
                                       ? queue[axis == 0 ? from * WIDTH + w : w * LENGTH + from]
                                       : in[axis == 0 ? (from - LENGTH) * WIDTH + w
                                                      : w * 2 + from - LENGTH];
                    }
                memcpy(queue, next, sizeof queue);
                expect(q, queue, LENGTH * WIDTH);
            }
            tarn_close(r);
        }
}

/* Another tensor's update reads what is put together from parts of it, and the other way round. */
Test(assign, concat_while_others_read)
{
    for (int way = 0; way < WAYS; way++) {
        tarn_replica *r = open_with(way);
        float a[4] = { 1, 2, 3, 4 }, b[4] = { 10, 20, 30, 40 };
        const tarn_tensor x = tarn_buffer(r, "x", TARN_SHAPE(4), TARN_F32, a);
        const tarn_tensor y = tarn_keep(tarn_from(r, TARN_SHAPE(4), TARN_F32, b));
        const tarn_tensor mixed[] = { tarn_slice(y, 0, 2, 4, 1), tarn_slice(x, 0, 0, 2, 1) };
        const tarn_tensor turned[] = { tarn_slice(x, 0, 3, 4, 1), tarn_slice(x, 0, 0, 3, 1) };
        const tarn_tensor new_x = tarn_concat(mixed, 2, 0), new_y = tarn_concat(turned, 2, 0);
        tarn_assign(x, new_x);
        tarn_assign(y, new_y);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        expect(x, (const float[]){ 30, 40, 1, 2 }, 4);
        expect(y, (const float[]){ 4, 1, 2, 3 }, 4);
        tarn_close(r);
    }
}

/* Each takes what the other one was before. */
Test(assign, tensors_change_places)
{
    for (int way = 0; way < WAYS; way++) {
        float a[24], b[24];
        tarn_replica *r = open_with(way);
        fill(a, 24, 1);
        fill(b, 24, 2);
        const tarn_tensor x = tarn_buffer(r, "x", TARN_SHAPE(24), TARN_F32, a);
        const tarn_tensor y = tarn_buffer(r, "y", TARN_SHAPE(24), TARN_F32, b);
        const tarn_tensor to_x = tarn_mul_scalar(y, 2), to_y = tarn_mul_scalar(x, 0.5f);
        tarn_assign(x, to_x);
        tarn_assign(y, to_y);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        for (int i = 0; i < 24; i++) {
            const float before = a[i];
            a[i] = 2 * b[i];
            b[i] = before / 2;
        }
        expect(x, a, 24);
        expect(y, b, 24);
        tarn_close(r);
    }
}

/* A later assignment in a step takes what the earlier one gave, and is what stays. */
Test(assign, the_last_one_counts)
{
    for (int way = 0; way < WAYS; way++) {
        float a[20];
        tarn_replica *r = open_with(way);
        fill(a, 20, 4);
        const tarn_tensor x = tarn_buffer(r, "x", TARN_SHAPE(20), TARN_F32, a);
        tarn_assign(x, tarn_mul_scalar(x, 2));
        tarn_assign(x, tarn_add_scalar(x, 1));
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        for (int i = 0; i < 20; i++)
            a[i] = 2 * a[i] + 1;
        expect(x, a, 20);
        tarn_close(r);
    }
}

/* The two halves of one tensor: views of equal shapes. */
Test(views, halves_are_told_apart)
{
    float a[32], wanted[16];
    fill(a, 32, 3);
    for (int i = 0; i < 16; i++)
        wanted[i] = a[i] - a[16 + i];
    for (int way = 0; way < WAYS; way++) {
        tarn_replica *r = open_with(way);
        const tarn_tensor x = numbers(r, TARN_SHAPE(32), 3);
        const tarn_tensor low = tarn_slice(x, 0, 0, 16, 1);
        expect(tarn_sub(low, tarn_slice(x, 0, 16, 32, 1)), wanted, 16);
        tarn_close(r);
    }
}

/* A guard on the samples' axis, in a kernel where a tile of the matrix product before it has left
 * axis 0 at a point of its own. */
Test(guards, batch_axis_after_a_tile)
{
    enum { BATCH = 31, WIDTH = 5, INNER = 7, COLUMNS = 6 };
    float x[BATCH * WIDTH], u[WIDTH * INNER], v[INNER * COLUMNS], wanted[BATCH];
    fill(x, BATCH * WIDTH, 3);
    fill(u, WIDTH * INNER, 4);
    fill(v, INNER * COLUMNS, 5);
    for (int n = 0; n < BATCH; n++) {
        wanted[n] = 0;
        for (int i = 0; n > 0 && i < WIDTH; i++)
            for (int j = 0; j < COLUMNS; j++)
                for (int k = 0; k < INNER; k++)
                    wanted[n] += x[(n - 1) * WIDTH + i] * x[n * WIDTH + i] * u[i * INNER + k] *
                                 v[k * COLUMNS + j];
    }
    for (int way = 0; way < WAYS; way++) {
        tarn_replica *r = open_with(way);
        const tarn_tensor product = tarn_matmul(numbers(r, TARN_SHAPE(WIDTH, INNER), 4),
                                                numbers(r, TARN_SHAPE(INNER, COLUMNS), 5));
        const tarn_tensor samples = numbers(r, TARN_SHAPE(BATCH, WIDTH), 3);
        const tarn_tensor shifted = tarn_pad(tarn_slice(samples, 0, 0, BATCH - 1, 1),
                                             TARN_SHAPE(1, 0), TARN_SHAPE(0, 0), 0.0f);
        const tarn_tensor y = tarn_mul(
            tarn_reshape(tarn_mul(shifted, samples), TARN_SHAPE(BATCH, WIDTH, 1)), product);
        expect(tarn_sum(y, TARN_AXES(1, 2), false), wanted, BATCH);
        tarn_close(r);
    }
}

/* What was cut off is padded again: the value below is of the same block of samples, and is read
 * under a mask of them, with an index that is out of range where the mask is not set. */
Test(guards, block_under_a_mask)
{
    enum { BATCH = 31, WIDTH = 7, TERMS = 5 };
    float x[BATCH * WIDTH], y[BATCH * WIDTH * TERMS], wanted[BATCH * WIDTH];
    fill(x, BATCH * WIDTH, 6);
    fill(y, BATCH * WIDTH * TERMS, 7);
    for (int n = 0; n < BATCH; n++)
        for (int i = 0; i < WIDTH; i++) {
            float sum = 0;
            for (int k = 0; k < TERMS; k++)
                sum += y[(n * WIDTH + i) * TERMS + k] * x[n * WIDTH + i];
            wanted[n * WIDTH + i] = n > 0 && i > 0 ? sum * sum : 3.0f * sum;
        }
    for (int way = 0; way < WAYS; way++) {
        tarn_replica *r = open_with(way);
        const tarn_tensor h = tarn_sum(tarn_mul(numbers(r, TARN_SHAPE(BATCH, WIDTH, TERMS), 7),
                                                numbers(r, TARN_SHAPE(BATCH, WIDTH, 1), 6)),
                                       TARN_AXES(2), false);
        const tarn_tensor cut = tarn_slice(tarn_slice(h, 0, 1, BATCH, 1), 1, 1, WIDTH, 1);
        const tarn_tensor padded = tarn_pad(cut, TARN_SHAPE(1, 1), TARN_SHAPE(0, 0), 3.0f);
        expect(tarn_mul(padded, h), wanted, BATCH * WIDTH);
        tarn_close(r);
    }
}

/* Gradients of convolutions with large windows and unequal strides: the conditions of one unrolled
 * body take more than 4096 characters. */
Test(guards, conditions_of_many_points)
{
    static const int cases[][6] = { { 11, 15, 6, 4, 2, 4 },
                                    { 11, 17, 7, 4, 2, 2 },
                                    { 11, 15, 6, 4, 2, 3 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int h = cases[c][0], w = cases[c][1], kh = cases[c][2], kw = cases[c][3];
        const int sh = cases[c][4], sw = cases[c][5];
        const int oh = (h - kh) / sh + 1, ow = (w - kw) / sw + 1;
        float weight[64], g[256], wanted[256] = { 0 };
        fill(weight, kh * kw, 8);
        fill(g, oh * ow, 9);
        for (int y = 0; y < oh; y++)
            for (int x = 0; x < ow; x++)
                for (int i = 0; i < kh; i++)
                    for (int j = 0; j < kw; j++)
                        wanted[(y * sh + i) * w + x * sw + j] += g[y * ow + x] * weight[i * kw + j];
        for (int way = 0; way < WAYS; way++) {
            tarn_replica *r = open_with(way);
            const tarn_tensor image = numbers(r, TARN_SHAPE(1, 1, h, w), 10);
            const tarn_tensor y =
                tarn_conv2d_op(image, numbers(r, TARN_SHAPE(1, 1, kh, kw), 8), TARN_NONE,
                               (tarn_conv2d_options){ .stride = { sh, sw } });
            const tarn_tensor loss =
                tarn_sum(tarn_mul(y, numbers(r, TARN_SHAPE(1, 1, oh, ow), 9)), TARN_ALL, false);
            tarn_tensor gradient;
            tarn_gradients(loss, &image, 1, &gradient);
            expect(gradient, wanted, h * w);
            tarn_close(r);
        }
    }
}

/* Some parts carry the batch, and others, a constant, a sum, do not. */
Test(concat, parts_without_the_batch)
{
    enum { BATCH = 17, WIDTH = 20 };
    float x[BATCH * WIDTH], w[BATCH * 3], wanted[BATCH * (WIDTH + 3)];
    fill(x, BATCH * WIDTH, 11);
    fill(w, BATCH * 3, 12);
    for (int n = 0; n < BATCH; n++) {
        for (int i = 0; i < WIDTH; i++)
            wanted[n * (WIDTH + 3) + i] = 4 * x[n * WIDTH + i];
        wanted[n * (WIDTH + 3) + WIDTH] = 1;
        wanted[n * (WIDTH + 3) + WIDTH + 1] = 2 * w[2 * n] + 2 * w[2 * n + 1];
        wanted[n * (WIDTH + 3) + WIDTH + 2] = (float)(2 * n);
    }
    for (int way = 0; way < WAYS; way++) {
        tarn_replica *r = open_with(way);
        const tarn_tensor pairs =
            tarn_reshape(numbers(r, TARN_SHAPE(BATCH * 2), 12), TARN_SHAPE(BATCH, 2));
        const tarn_tensor row = tarn_reshape(tarn_arange(r, BATCH), TARN_SHAPE(BATCH, 1));
        const tarn_tensor parts[] = { tarn_mul_scalar(numbers(r, TARN_SHAPE(BATCH, WIDTH), 11), 2),
                                      tarn_full(r, TARN_SHAPE(BATCH, 1), 0.5f),
                                      tarn_sum(pairs, TARN_AXES(1), true),
                                      tarn_cast(row, TARN_F32) };
        const tarn_tensor all = tarn_concat(parts, 4, 1);
        expect(tarn_mul_scalar(all, 2), wanted, BATCH * (WIDTH + 3));
        tarn_close(r);
    }
}

/* A map whose lanes are the rows, since three of four operands lie so: it reads the fourth in squares and is written in
 * squares. Two samples are too few for a batch. */
Test(maps, written_in_squares_without_a_batch)
{
    enum { SAMPLES = 2, ROWS = 48, COLUMNS = 32, ALL = SAMPLES * ROWS * COLUMNS };
    float data[4][ALL], wanted[ALL];
    for (unsigned i = 0; i < 4; i++)
        fill(data[i], ALL, 20 + i);
    for (int n = 0; n < SAMPLES; n++)
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++) {
                const int at = (n * ROWS + r) * COLUMNS + c, turned = (n * COLUMNS + c) * ROWS + r;
                wanted[at] = data[0][at] + data[1][turned] + data[2][turned] + data[3][turned];
            }
    for (int way = 0; way < WAYS; way++) {
        tarn_replica *r = open_with(way);
        tarn_tensor sum = numbers(r, TARN_SHAPE(SAMPLES, ROWS, COLUMNS), 20);
        for (unsigned i = 1; i < 4; i++) {
            const tarn_tensor other = numbers(r, TARN_SHAPE(SAMPLES, COLUMNS, ROWS), 20 + i);
            sum = tarn_add(sum, tarn_transpose(other, 1, 2));
        }
        expect(sum, wanted, ALL);
        tarn_close(r);
    }
}
