/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of any length: values and gradients against the reference, the same bits fused, unfused
 * and in the schedule for GPUs; and which axis is taken for the batch. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "op_check.h"
#include "tarn.h"
#include "tensor/random.h"

TestSuite(batch, .timeout = 1200);

static const int lengths[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 20, 31, 33 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static tarn_replica *open_with(const char *fuse, const char *schedule)
{
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0); /* a GPU has no such convolution */
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

/* ---- values --------------------------------------------------------------------------------- */

static struct ref multiply(struct ref a, struct ref b)
{
    const struct ref y = ref_matmul(&a, &b);
    ref_free(&a);
    ref_free(&b);
    return y;
}

static struct ref square(struct ref a)
{
    for (size_t i = 0; i < ref_count(&a); i++)
        a.v[i] *= a.v[i];
    return a;
}

static tarn_tensor device_conv(const tarn_tensor *in, const struct op_case *c)
{
    (void)c;
    return tarn_conv2d_op(in[0], in[1], in[2], (tarn_conv2d_options){ .padding = { 1, 1 } });
}

static struct ref reference_conv(const struct ref *in, const struct op_case *c)
{
    (void)c;
    const struct ref_conv o = { { 1, 1 }, { 1, 1 }, { 1, 1 }, 1 };
    return ref_conv2d(&in[0], &in[1], &in[2], &o);
}

static tarn_tensor device_layers(const tarn_tensor *in, const struct op_case *c)
{
    (void)c;
    const tarn_tensor h = tarn_matmul(in[0], in[1]);
    return tarn_matmul(tarn_mul(h, h), in[2]);
}

static struct ref reference_layers(const struct ref *in, const struct op_case *c)
{
    (void)c;
    return multiply(square(ref_matmul(&in[0], &in[1])), ref_copy(&in[2]));
}

/* Over the times of a sequence, h = (x[t] a + h b). */
static tarn_tensor device_recurrence(const tarn_tensor *in, const struct op_case *c)
{
    const tarn_shape s = tarn_shape_get(in[0]);
    (void)c;
    tarn_tensor h = TARN_NONE;
    for (int t = 0; t < s.dim[1]; t++) {
        const tarn_tensor x =
            tarn_reshape(tarn_slice(in[0], 1, t, t + 1, 1), TARN_SHAPE(s.dim[0], s.dim[2]));
        const tarn_tensor now = tarn_matmul(x, in[1]);
        h = t == 0 ? now : tarn_add(now, tarn_matmul(h, in[2]));
    }
    return h;
}

static double plus(double a, double b)
{
    return a + b;
}

static struct ref reference_recurrence(const struct ref *in, const struct op_case *c)
{
    struct ref h = { 0 };
    (void)c;
    for (int t = 0; t < in[0].dim[1]; t++) {
        struct ref row = ref_slice(&in[0], 1, t, t + 1, 1);
        const int dim[] = { row.dim[0], row.dim[2] };
        struct ref now = multiply(ref_reshape(&row, 2, dim), ref_copy(&in[1]));
        ref_free(&row);
        if (t > 0) {
            struct ref state = multiply(h, ref_copy(&in[2]));
            h = ref_binary(plus, &now, &state);
            ref_free(&now);
            ref_free(&state);
        } else {
            h = now;
        }
    }
    return h;
}

/* [B, T, D] as rows [B T, D], and back. */
static tarn_tensor device_rows(const tarn_tensor *in, const struct op_case *c)
{
    const tarn_shape s = tarn_shape_get(in[0]);
    (void)c;
    const tarn_tensor rows = tarn_reshape(in[0], TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2]));
    const tarn_tensor y = tarn_matmul(rows, in[1]);
    return tarn_sum(
        tarn_mul(tarn_reshape(y, TARN_SHAPE(s.dim[0], s.dim[1], tarn_shape_get(y).dim[1])), in[2]),
        TARN_AXES(1), false);
}

static double times(double a, double b)
{
    return a * b;
}

static struct ref reference_rows(const struct ref *in, const struct op_case *c)
{
    (void)c;
    struct ref y = ref_matmul(&in[0], &in[1]), scaled = ref_binary(times, &y, &in[2]);
    const struct ref sum = ref_sum(&scaled, 2, false);
    ref_free(&y);
    ref_free(&scaled);
    return sum;
}

/* Input 0 gets the batch's length. */
static const struct op_case nets[] = {
    { .name = "conv",
      .device = device_conv,
      .reference = reference_conv,
      .bound = BOUND_LINEAR,
      .terms = 28,
      .inputs = 3,
      .in = { { FILL_SIGNED, 0, 4, { 0, 3, 5, 6 } },
              { FILL_SIGNED, 0, 4, { 4, 3, 3, 3 } },
              { FILL_SIGNED, 0, 1, { 4 } } } },
    { .name = "layers",
      .device = device_layers,
      .reference = reference_layers,
      .bound = BOUND_COMPOSED,
      .terms = 32,
      .inputs = 3,
      .in = { { FILL_SIGNED, 0, 2, { 0, 11 } },
              { FILL_SIGNED, 0, 2, { 11, 19 } },
              { FILL_SIGNED, 0, 2, { 19, 5 } } } },
    { .name = "recurrence",
      .device = device_recurrence,
      .reference = reference_recurrence,
      .bound = BOUND_COMPOSED,
      .terms = 32,
      .inputs = 3,
      .in = { { FILL_SIGNED, 0, 3, { 0, 3, 5 } },
              { FILL_SIGNED, 0, 2, { 5, 6 } },
              { FILL_SIGNED, 0, 2, { 6, 6 } } } },
    { .name = "rows",
      .device = device_rows,
      .reference = reference_rows,
      .bound = BOUND_COMPOSED,
      .terms = 14,
      .inputs = 3,
      .in = { { FILL_SIGNED, 0, 3, { 0, 3, 7 } },
              { FILL_SIGNED, 0, 2, { 7, 5 } },
              { FILL_SIGNED, 0, 2, { 3, 5 } } } },
};

Test(batch, values_of_every_length)
{
    tarn_replica *r = open_with("1", "cpu");
    for (int i = 0; i < LENGTHS; i++)
        /* The longer programs at some lengths. */
        for (size_t k = 0; k < (i % 3 == 0 ? sizeof nets / sizeof *nets : 2); k++) {
            struct op_case c = nets[k];
            char message[400];
            c.in[0].dim[0] = lengths[i];
            cr_expect(op_check(r, &c, message, sizeof message), "batch %d: %s", lengths[i],
                      message);
        }
    tarn_close(r);
}

/* ---- bits ----------------------------------------------------------------------------------- */

enum { SIDE = 6, CLASSES = 5, STEPS = 2, MOST = 33 };

static tarn_tensor numbers(tarn_replica *r, tarn_shape s, unsigned salt)
{
    static float v[MOST * 2 * SIDE * SIDE];
    cr_assert_leq((size_t)tarn_shape_count(s), sizeof v / sizeof *v);
    for (size_t i = 0; i < (size_t)tarn_shape_count(s); i++)
        v[i] = (float)(random_u32(7, (uint32_t)i * 16 + salt) >> 8) / (1 << 22) - 2;
    return tarn_from(r, s, TARN_F32, v);
}

/* Losses, and the weights in the end. */
struct trace {
    float loss[STEPS], weight[CLASSES * 4 * 3 * 3];
};

static struct trace train(const char *fuse, const char *schedule, int batch)
{
    struct trace t;
    tarn_replica *r = open_with(fuse, schedule);
    const tarn_conv2d conv =
        tarn_conv2d_make(r, "conv", 2, 4, 3, (tarn_conv2d_options){ .padding = { 1, 1 } });
    const tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", 4);
    const tarn_linear head = tarn_linear_make(r, "head", 4 * 3 * 3, CLASSES);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.05f });
    for (unsigned s = 0; s < STEPS; s++) {
        tarn_tensor x = numbers(r, TARN_SHAPE(batch, 2, SIDE, SIDE), s);
        x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&conv, x), 2));
        x = tarn_linear_forward(&head, tarn_flatten(tarn_batch_norm_forward(&norm, x), 1));
        x = tarn_sub(x, numbers(r, TARN_SHAPE(batch, CLASSES), s + 8));
        const tarn_tensor loss = tarn_keep(tarn_mean(tarn_mul(x, x), TARN_ALL, false));
        tarn_backward(loss);
        tarn_optimizer_step(sgd);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        t.loss[s] = tarn_item(loss);
        tarn_drop(loss);
    }
    cr_assert_eq(tarn_read(head.weight, t.weight, sizeof t.weight), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return t;
}

Test(batch, bits_of_every_length)
{
    static const int some[] = { 1, 3, 7, 8, 15, 16, 33 };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const struct trace fused = train("1", "cpu", some[i]), single = train("0", "cpu", some[i]),
                           items = train("1", "gpu", some[i]);
        cr_expect_eq(memcmp(&fused, &single, sizeof fused), 0, "batch %d: unfused bits differ",
                     some[i]);
        cr_expect_eq(memcmp(&fused, &items, sizeof fused), 0, "batch %d: a GPU's bits differ",
                     some[i]);
    }
}

/* ---- which axis ----------------------------------------------------------------------------- */

/* What TARN_DEBUG=graph says of the batch when y is computed, and y's sum: "" when nothing was
 * compiled. */
static double batch_line(tarn_tensor y, char line[200])
{
    char name[] = "/tmp/tarn-batch-XXXXXX", text[200];
    double sum = 0;
    const size_t n = (size_t)tarn_shape_count(tarn_shape_get(y));
    float *v = calloc(n + 1, sizeof *v);
    const int file = mkstemp(name), standard = dup(STDERR_FILENO);
    cr_assert(v != NULL && file >= 0 && standard >= 0);
    fflush(stderr);
    cr_assert(setenv("TARN_DEBUG", "graph", 1) == 0 && dup2(file, STDERR_FILENO) >= 0);
    const tarn_status status = tarn_read(y, v, n * sizeof *v);
    fflush(stderr);
    cr_assert(dup2(standard, STDERR_FILENO) >= 0 && unsetenv("TARN_DEBUG") == 0);
    close(standard);
    cr_assert_eq(status, TARN_OK, "%s", tarn_error(y.replica));
    FILE *said = fdopen(file, "r");
    cr_assert_not_null(said);
    rewind(said);
    line[0] = '\0';
    while (fgets(text, sizeof text, said) != NULL)
        if (strstr(text, "graph of") != NULL)
            memcpy(line, text, sizeof text);
    fclose(said);
    unlink(name);
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i];
    free(v);
    return sum;
}

static void expect_batch(tarn_tensor y, const char *words)
{
    char line[200];
    (void)batch_line(y, line);
    cr_expect_not_null(strstr(line, words), "%s: %s", words, line);
}

Test(batch, the_rule_and_the_word)
{
    tarn_replica *r = open_with("1", "cpu");
    const tarn_tensor kept = tarn_keep(numbers(r, TARN_SHAPE(32, 70), 1)),
                      matrix = tarn_keep(numbers(r, TARN_SHAPE(70, 20), 2));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    expect_batch(tarn_mul(kept, kept),
                 "no batch: axis 0 of %0, the largest kept tensor, takes less time in rows");
    expect_batch(tarn_matmul(kept, matrix), "batch 32: axis 0 of %0, the largest kept tensor");
    tarn_tensor x = numbers(r, TARN_SHAPE(32, 30), 2), y = numbers(r, TARN_SHAPE(30, 50), 3);
    expect_batch(tarn_matmul(x, y), "batch 30: axis 0 of %1, the largest input");
    expect_batch(tarn_matmul(tarn_batch_axis(x, 0), y),
                 "batch 32: axis 0 of %0, by tarn_batch_axis(); 2 values carry it");
    /* From then on a kept tensor of that length is no batch, unless it is named. */
    expect_batch(tarn_matmul(tarn_transpose(kept, 0, 1), tarn_batch_axis(x, -2)),
                 "by tarn_batch_axis(); 1 values carry it");
    expect_batch(tarn_matmul(tarn_add(tarn_slice(tarn_batch_axis(kept, 0), 1, 0, 30, 1), x), y),
                 "by tarn_batch_axis(); 5 values carry it");
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    x = numbers(r, TARN_SHAPE(32, 30), 2);
    expect_batch(tarn_mul(tarn_batch_axis(x, TARN_NO_BATCH), x), "no batch: no input");
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    x = numbers(r, TARN_SHAPE(3, 7), 4);
    expect_batch(tarn_mul(tarn_batch_axis(x, 0), x),
                 "no batch: axis 0 of %0, by tarn_batch_axis(), is too short");
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    /* Two blocks for 20 rows that are summed over, with 16 lanes for each: the model prefers 20 rows. */
    x = tarn_batch_axis(numbers(r, TARN_SHAPE(20, 30), 2), 0);
    y = numbers(r, TARN_SHAPE(20, 70), 3);
    expect_batch(tarn_matmul(tarn_transpose(y, 0, 1), x),
                 "no batch: axis 0 of %0, by tarn_batch_axis(), takes less time in rows");
    tarn_close(r);
}

/* Images that a network makes of noise, where there is nothing else that samples could be; noise by itself is none, nor is
 * that of another length, or beside data. */
Test(batch, noise_has_samples_where_it_becomes_images)
{
    tarn_replica *r = open_with("1", "cpu");
    const tarn_tensor w = tarn_keep(numbers(r, TARN_SHAPE(4, 3, 3, 3), 1)),
                      m = tarn_keep(numbers(r, TARN_SHAPE(10, 192), 2));
    const tarn_conv2d_options around = { .padding = { 1, 1 } };
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor weight = tarn_batch_axis(w, TARN_NO_BATCH),
                      matrix = tarn_batch_axis(m, TARN_NO_BATCH);
    const tarn_tensor images = tarn_reshape(tarn_matmul(tarn_randn(r, TARN_SHAPE(32, 10)), matrix),
                                            TARN_SHAPE(32, 3, 8, 8));
    expect_batch(images, "no batch: no input");
    expect_batch(tarn_conv2d_op(images, weight, TARN_NONE, around), "batch 32: axis 0 of ");
    expect_batch(tarn_conv2d_op(images, weight, TARN_NONE, around), "which images are made of; ");
    const tarn_tensor given = numbers(r, TARN_SHAPE(32, 3, 4, 4), 3);
    expect_batch(tarn_conv2d_op(tarn_mul(given, tarn_rand(r, TARN_SHAPE(3, 1, 1))), weight,
                                TARN_NONE, around),
                 "the largest input; ");
    tarn_close(r);
}

/* Images that are learnt themselves are the samples, a single one too, and what is no image has none; data that a
 * convolution goes over come first, and other data do not count. */
Test(batch, parameters_have_samples_where_they_become_images)
{
    tarn_replica *r = open_with("1", "cpu");
    const tarn_init init = { TARN_INIT_UNIFORM, .a = -1, .b = 1 };
    const tarn_tensor image = tarn_parameter_with(r, "image", TARN_SHAPE(20, 3, 8, 8), init),
                      one = tarn_parameter_with(r, "one", TARN_SHAPE(1, 3, 8, 8), init),
                      weight = tarn_parameter_with(r, "w", TARN_SHAPE(20, 3, 3, 3), init),
                      style = tarn_keep(numbers(r, TARN_SHAPE(70, 20), 2));
    const tarn_conv2d_options around = { .padding = { 1, 1 } };
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    expect_batch(tarn_mul(image, image), "no batch: no input");
    tarn_tensor y = tarn_conv2d_op(tarn_sigmoid(image), weight, TARN_NONE, around);
    expect_batch(y, "batch 20: axis 0 of ");
    y = tarn_conv2d_op(tarn_sigmoid(image), weight, TARN_NONE, around);
    expect_batch(y, "which images are made of; 3 values carry it"); /* image, sigmoid, y */
    y = tarn_mul(y, tarn_slice(tarn_sum(style, TARN_AXES(0), true), 1, 0, 1, 1));
    expect_batch(y, "batch 20: axis 0 of ");
    y = tarn_conv2d_op(one, weight, TARN_NONE, around);
    expect_batch(y, "which images are made of, is too short");
    y = tarn_conv2d_op(numbers(r, TARN_SHAPE(32, 3, 4, 4), 3), weight, TARN_NONE, around);
    expect_batch(tarn_add(tarn_sum(y, TARN_ALL, false), tarn_sum(image, TARN_ALL, false)),
                 "the largest input; ");
    tarn_close(r);
}

/* Two views of each picture are joined to one batch, which lies in blocks from there on: the same bits as of a batch that
 * is named. */
Test(batch, joined_batches_are_one)
{
    enum { N = 32, C = 16, H = 14, COUNT = N * C * H * H };
    float *v = malloc(2 * COUNT * sizeof *v), *out = malloc(4 * COUNT * sizeof *out);
    cr_assert(v != NULL && out != NULL);
    for (unsigned i = 0; i < 2 * COUNT; i++)
        v[i] = (float)(random_u32(7, i) >> 8) / (1 << 23) - 1;
    tarn_replica *r = open_with("1", "cpu");
    const tarn_init init = { TARN_INIT_UNIFORM, .a = -1, .b = 1 };
    const tarn_tensor w = tarn_parameter_with(r, "w", TARN_SHAPE(C, C, 3, 3), init);
    const tarn_shape s = TARN_SHAPE(N, C, H, H);
    const tarn_conv2d_options around = { .padding = { 1, 1 } };
    float weight[2][C * C * 9];
    for (int named = 0; named < 2; named++) {
        const tarn_tensor view[] = { tarn_from(r, s, TARN_F32, v),
                                     tarn_from(r, s, TARN_F32, v + COUNT) };
        tarn_tensor x = tarn_concat(view, 2, 0);
        if (named)
            x = tarn_batch_axis(x, 0);
        const tarn_tensor y = tarn_relu(tarn_conv2d_op(x, w, TARN_NONE, around));
        tarn_tensor gradient;
        tarn_gradients(tarn_sum(tarn_mul(y, y), TARN_ALL, false), &w, 1, &gradient);
        char line[200];
        (void)batch_line(y, line);
        cr_expect_not_null(
            strstr(line, named ? "batch 64: axis 0" : "batch 64: images of which each"), "%s",
            line);
        cr_assert_eq(tarn_read(y, out + 2 * COUNT * named, 2 * COUNT * sizeof *out), TARN_OK, "%s",
                     tarn_error(r));
        cr_assert_eq(tarn_read(gradient, weight[named], sizeof weight[named]), TARN_OK, "%s",
                     tarn_error(r));
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    cr_expect_arr_eq(out, out + 2 * COUNT, 2 * COUNT * sizeof *out);
    cr_expect_arr_eq(weight[0], weight[1], sizeof weight[0]);
    tarn_close(r);
    free(v);
    free(out);
}

/* A sum, a view and rows of a table become a batch by the program's word, and change no value. */
Test(batch, computed_values_become_batches)
{
    tarn_replica *r = open_with("1", "cpu");
    char line[200];
    for (int kind = 0; kind < 3; kind++) {
        double sum[2];
        for (int said = 0; said < 2; said++) {
            const tarn_tensor table = numbers(r, TARN_SHAPE(24, 18), 5);
            tarn_tensor x = kind == 0   ? tarn_transpose(table, 0, 1)
                            : kind == 1 ? tarn_sum(tarn_reshape(table, TARN_SHAPE(2, 18, 12)),
                                                   TARN_AXES(0), false)
                                        : tarn_slice(table, 0, 3, 21, 1);
            x = said ? tarn_batch_axis(x, 0) : x;
            sum[said] = batch_line(tarn_mul(tarn_add_scalar(x, 1.0f), x), line);
            if (said)
                cr_expect_not_null(strstr(line, "batch 18: "), "%d: %s", kind, line);
            cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        }
        cr_expect_eq(sum[0], sum[1], "%d: %g becomes %g", kind, sum[0], sum[1]);
    }
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(18, 2), (const float[36]){ 1, 2 });
    tarn_tensor g;
    tarn_gradients(tarn_sum(tarn_batch_axis(tarn_mul(w, w), 0), TARN_ALL, false), &w, 1, &g);
    float v[36];
    cr_assert_eq(tarn_read(g, v, sizeof v), TARN_OK, "%s", tarn_error(r));
    cr_expect(v[0] == 2.0f && v[1] == 4.0f && v[2] == 0.0f);
    tarn_close(r);
}

static void expect_refusal(tarn_replica *r, tarn_tensor t, tarn_status status, const char *words)
{
    cr_expect(tarn_failed(t));
    cr_expect_eq(tarn_error_status(r), status);
    cr_expect_not_null(strstr(tarn_error(r), words), "%s", tarn_error(r));
    tarn_error_clear(r);
}

Test(batch, nonsense_is_refused)
{
    tarn_replica *r = open_with("1", "cpu");
    expect_refusal(r, tarn_batch_axis(tarn_number(r, 1.0f), 0), TARN_ERR_ARGUMENT,
                   "batch_axis: a scalar has no axis");
    expect_refusal(r, tarn_batch_axis(tarn_zeros(r, TARN_SHAPE(4, 5)), 2), TARN_ERR_ARGUMENT,
                   "axis 2 is outside [4,5]");
    expect_refusal(r, tarn_batch_axis(tarn_zeros(r, TARN_SHAPE(4, 5)), -1), TARN_ERR_ARGUMENT,
                   "axis 1 of [4,5]: samples must lie along axis 0; tarn_transpose(x, 0, 1)");
    expect_refusal(r, tarn_batch_axis(TARN_NONE, 0), TARN_OK, "");
    (void)tarn_batch_axis(numbers(r, TARN_SHAPE(4, 5), 1), 0);
    expect_refusal(r, tarn_batch_axis(numbers(r, TARN_SHAPE(6, 5), 1), 0), TARN_ERR_SHAPE,
                   "6 samples in [6,5], but 4 were said before");
    /* Each step may have another one. */
    cr_expect_not(tarn_failed(tarn_batch_axis(numbers(r, TARN_SHAPE(6, 5), 1), 0)));
    tarn_close(r);
}
