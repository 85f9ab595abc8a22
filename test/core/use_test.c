/* SPDX-License-Identifier: Apache-2.0 */
/* Layers at their first use are those of make and forward, bit for bit; names; what is refused. And the
 * two shorthands tarn_select and tarn_minimize. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"

static tarn_replica *opened(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    return r;
}

static tarn_tensor ramp(tarn_replica *r, tarn_shape shape)
{
    const int32_t n = (int32_t)tarn_shape_count(shape);
    const tarn_tensor t = tarn_sin(tarn_cast(tarn_arange(r, n), TARN_F32));
    return tarn_reshape(t, shape);
}

/* ---- the same as make and forward ----------------------------------------------------------- */

static const tarn_conv2d_options half = { .stride = { 2, 2 }, .padding = { 1, 1 } };
static const tarn_conv2d_make_options plain = { .window = { 3, 1 }, .no_bias = true };
static const tarn_conv1d_make_options bare_line = { .window = 3, .no_bias = true };
static const tarn_conv3d_make_options deep = { .window = { 3, 2 }, .options.stride = { 1, 2 } };
static const tarn_conv_transpose1d_make_options longer = { .window = 3, .options.stride = 2 };
static const tarn_conv_transpose2d_options twice = { .stride = { 2, 2 } };
static const tarn_conv_transpose2d_make_options bare_up = { .window = { 3, 2 }, .no_bias = true };
static const tarn_conv_transpose3d_make_options deeper = { .window = { 2 }, .no_bias = true };
static const tarn_recurrent_options rows = { .batch_first = true, .layers = 2 };
static const tarn_recurrent_options both = { .bidirectional = true, .relu = true };
static const tarn_multi_head_attention_options heads = { .heads = 2, .causal = true };
static const tarn_transformer_block_options block = { .heads = 2, .mlp_ratio = 2 };
static const tarn_transformer_block_options after = { .heads = 4,
                                                      .causal = true,
                                                      .norm_after = true };

enum { KINDS = 25 };

#define DEPTH TARN_SHAPE(1, 2, 4, 5, 6) /* of the image's elements */

/* Hides the second of six keys. */
#define SECOND(r) tarn_ne(tarn_arange(r, 6), tarn_cast(tarn_ones(r, TARN_SHAPE(1)), TARN_I32))

/* Two sequences, of which the first is shorter. */
static tarn_recurrent_inputs cut(tarn_replica *r)
{
    return (tarn_recurrent_inputs){ .lengths = tarn_from(r, TARN_SHAPE(2), TARN_I32,
                                                         (int32_t[]){ 4, 6 }) };
}

static void by_use(tarn_replica *r, tarn_tensor image, tarn_tensor text, tarn_tensor *y)
{
    y[0] = tarn_use_linear(text, "fc", 3);
    y[1] = tarn_use_linear_with(text, "bare", 3, (tarn_linear_options){ .no_bias = true });
    y[2] = tarn_use_conv2d(image, "conv", 6, 3, half);
    y[3] = tarn_use_conv2d_with(image, "tall", 2, plain);
    y[4] = tarn_use_conv1d(text, "line", 5, 2, (tarn_conv1d_options){ .padding = 1 });
    y[5] = tarn_use_conv_transpose2d(image, "up", 3, 2, twice);
    y[6] = tarn_use_group_norm(tarn_use_batch_norm(image, "bn"), "gn", 2);
    y[7] = tarn_use_rms_norm(tarn_use_layer_norm(text, "ln"), "rms");
    y[8] = tarn_use_embedding(tarn_arange(r, 5), "words", 7, 3);
    y[9] = tarn_use_lstm(text, "lstm", 3, rows, NULL, NULL).y;
    y[10] = tarn_use_gru(text, "gru", 3, rows, NULL).y;
    y[11] = tarn_use_multi_head_attention(text, "heads", heads, TARN_NONE, TARN_NONE);
    y[12] = tarn_use_transformer_block(text, "block", block, TARN_NONE);
    y[13] = tarn_use_conv1d_with(text, "bare_line", 2, bare_line);
    y[14] = tarn_use_conv3d(tarn_reshape(image, DEPTH), "deep", 2, deep);
    y[15] = tarn_use_conv_transpose1d(text, "longer", 2, longer);
    y[16] = tarn_use_conv_transpose2d_with(image, "bare_up", 2, bare_up);
    y[17] = tarn_use_conv_transpose3d(tarn_reshape(image, DEPTH), "deeper", 2, deeper);
    y[18] = tarn_use_rnn(text, "rnn", 3, both, NULL).y;
    const tarn_attention_inputs other = { .memory = tarn_mul_scalar(text, 2), .values = text };
    y[19] = tarn_use_multi_head_attention_with(text, "other", heads, other);
    y[20] = tarn_use_transformer_block_with(text, "after", after,
                                            (tarn_attention_inputs){ .mask = SECOND(r) });
    y[21] = tarn_use_transformer_decoder(text, "decoder", after,
                                         (tarn_attention_inputs){ .memory = TARN_NONE }, other);
    y[22] = tarn_use_lstm_with(text, "lstm", 3, rows, cut(r)).h;
    y[23] = tarn_use_gru_with(text, "gru", 3, rows, cut(r)).h;
    y[24] = tarn_use_rnn_with(text, "last", 3, rows, cut(r)).h;
}

static void by_make(tarn_replica *r, tarn_tensor image, tarn_tensor text, tarn_tensor *y)
{
    const tarn_linear fc = tarn_linear_make(r, "fc", 8, 3);
    const tarn_linear bare =
        tarn_linear_make_with(r, "bare", 8, 3, (tarn_linear_options){ .no_bias = true });
    const tarn_conv2d conv = tarn_conv2d_make(r, "conv", 4, 6, 3, half);
    const tarn_conv2d tall = tarn_conv2d_make_with(r, "tall", 4, 2, plain);
    const tarn_conv1d line =
        tarn_conv1d_make(r, "line", 6, 5, 2, (tarn_conv1d_options){ .padding = 1 });
    const tarn_conv_transpose2d up = tarn_conv_transpose2d_make(r, "up", 4, 3, 2, twice);
    const tarn_batch_norm bn = tarn_batch_norm_make(r, "bn", 4);
    const tarn_group_norm gn = tarn_group_norm_make(r, "gn", 2, 4);
    const tarn_layer_norm ln = tarn_layer_norm_make(r, "ln", 8);
    const tarn_rms_norm rms = tarn_rms_norm_make(r, "rms", 8);
    const tarn_embedding_layer words = tarn_embedding_make(r, "words", 7, 3);
    const tarn_lstm lstm = tarn_lstm_make(r, "lstm", 8, 3, rows);
    const tarn_gru gru = tarn_gru_make(r, "gru", 8, 3, rows);
    const tarn_rnn rnn = tarn_rnn_make(r, "rnn", 8, 3, both);
    const tarn_rnn last = tarn_rnn_make(r, "last", 8, 3, rows);
    const tarn_multi_head_attention a = tarn_multi_head_attention_make(r, "heads", 8, heads);
    const tarn_transformer_block b = tarn_transformer_block_make(r, "block", 8, block);
    const tarn_multi_head_attention m = tarn_multi_head_attention_make(r, "other", 8, heads);
    const tarn_transformer_block c = tarn_transformer_block_make(r, "after", 8, after);
    const tarn_transformer_decoder d = tarn_transformer_decoder_make(r, "decoder", 8, after);
    const tarn_conv1d bare_conv = tarn_conv1d_make_with(r, "bare_line", 6, 2, bare_line);
    const tarn_conv3d cube = tarn_conv3d_make(r, "deep", 2, 2, deep);
    const tarn_conv_transpose1d long_line = tarn_conv_transpose1d_make(r, "longer", 6, 2, longer);
    const tarn_conv_transpose2d tall_up =
        tarn_conv_transpose2d_make_with(r, "bare_up", 4, 2, bare_up);
    const tarn_conv_transpose3d cube_up = tarn_conv_transpose3d_make(r, "deeper", 2, 2, deeper);
    y[0] = tarn_linear_forward(&fc, text);
    y[1] = tarn_linear_forward(&bare, text);
    y[2] = tarn_conv2d_forward(&conv, image);
    y[3] = tarn_conv2d_forward(&tall, image);
    y[4] = tarn_conv1d_forward(&line, text);
    y[5] = tarn_conv_transpose2d_forward(&up, image);
    y[6] = tarn_group_norm_forward(&gn, tarn_batch_norm_forward(&bn, image));
    y[7] = tarn_rms_norm_forward(&rms, tarn_layer_norm_forward(&ln, text));
    y[8] = tarn_embedding_forward(&words, tarn_arange(r, 5));
    y[9] = tarn_lstm_forward(&lstm, text, NULL, NULL).y;
    y[10] = tarn_gru_forward(&gru, text, NULL).y;
    y[11] = tarn_multi_head_attention_forward(&a, text, TARN_NONE, TARN_NONE);
    y[12] = tarn_transformer_block_forward(&b, text, TARN_NONE);
    y[13] = tarn_conv1d_forward(&bare_conv, text);
    y[14] = tarn_conv3d_forward(&cube, tarn_reshape(image, DEPTH));
    y[15] = tarn_conv_transpose1d_forward(&long_line, text);
    y[16] = tarn_conv_transpose2d_forward(&tall_up, image);
    y[17] = tarn_conv_transpose3d_forward(&cube_up, tarn_reshape(image, DEPTH));
    y[18] = tarn_rnn_forward(&rnn, text, NULL).y;
    const tarn_attention_inputs other = { .memory = tarn_mul_scalar(text, 2), .values = text };
    y[19] = tarn_multi_head_attention_forward_with(&m, text, other);
    y[20] =
        tarn_transformer_block_forward_with(&c, text, (tarn_attention_inputs){ .mask = SECOND(r) });
    y[21] = tarn_transformer_decoder_forward(&d, text,
                                             (tarn_attention_inputs){ .memory = TARN_NONE }, other);
    y[22] = tarn_lstm_forward_with(&lstm, text, cut(r)).h;
    y[23] = tarn_gru_forward_with(&gru, text, cut(r)).h;
    y[24] = tarn_rnn_forward_with(&last, text, cut(r)).h;
}

/* All that a network puts out, one after the other. */
static size_t run(tarn_replica *r,
                  void (*network)(tarn_replica *, tarn_tensor, tarn_tensor, tarn_tensor *),
                  float *out)
{
    tarn_tensor y[KINDS];
    network(r, ramp(r, TARN_SHAPE(2, 4, 5, 6)), ramp(r, TARN_SHAPE(2, 6, 8)), y);
    for (int i = 0; i < KINDS; i++)
        y[i] = tarn_flatten(y[i], 0);
    const tarn_tensor all = tarn_concat(y, KINDS, 0);
    const size_t n = (size_t)tarn_shape_count(tarn_shape_get(all));
    cr_assert_eq(tarn_read(all, out, n * sizeof *out), TARN_OK, "%s", tarn_error(r));
    return n;
}

Test(use, is_make_and_forward, .timeout = 300)
{
    static float used[4096], made[4096], again[4096];
    tarn_replica *a = opened(), *b = opened();
    tarn_seed(a, 5);
    tarn_seed(b, 5);
    const size_t n = run(a, by_use, used);
    cr_expect_eq(run(b, by_make, made), n);
    cr_expect(memcmp(used, made, n * sizeof *used) == 0);
    cr_assert_eq(tarn_owned_count(a), tarn_owned_count(b));
    for (int i = 0; i < tarn_owned_count(a); i++)
        cr_expect(tarn_failed(tarn_find(b, tarn_owned_name(a, i))) == false, "%s",
                  tarn_owned_name(a, i));
    const int count = tarn_owned_count(a);
    (void)run(a, by_use, again); /* finds all of them */
    cr_expect_eq(tarn_owned_count(a), count);
    cr_expect(memcmp(used, again, n * sizeof *used) == 0);
    tarn_close(a);
    tarn_close(b);
}

/* ---- options of norms ----------------------------------------------------------------------- */

static void same_values(tarn_tensor a, tarn_tensor b, size_t count)
{
    float of[2][120];
    cr_assert_leq(count, 120);
    cr_assert_eq(tarn_read(a, of[0], count * sizeof(float)), TARN_OK, "%s", tarn_error(a.replica));
    cr_assert_eq(tarn_read(b, of[1], count * sizeof(float)), TARN_OK, "%s", tarn_error(b.replica));
    cr_expect_arr_eq(of[0], of[1], count * sizeof(float));
}

Test(use, norms_do_as_their_options_say, .timeout = 300)
{
    tarn_replica *r = opened();
    const tarn_norm_options bare = { .eps = 0.5f, .no_bias = true };
    tarn_tensor x = tarn_keep(ramp(r, TARN_SHAPE(3, 4, 10)));
    const tarn_tensor ln = tarn_use_layer_norm_with(x, "ln", bare);
    const tarn_tensor ten = tarn_ones(r, TARN_SHAPE(10)), four = tarn_ones(r, TARN_SHAPE(4));
    same_values(ln, tarn_layer_norm_op(x, ten, TARN_NONE, 0.5f), 120);
    same_values(tarn_use_rms_norm_with(x, "rms", bare), tarn_rms_norm_op(x, ten, 0.5f), 120);
    same_values(tarn_use_group_norm_with(x, "gn", 2, bare),
                tarn_group_norm_op(x, four, TARN_NONE, 2, 0.5f), 120);
    cr_expect(tarn_failed(tarn_find(r, "ln.bias")) && tarn_failed(tarn_find(r, "gn.bias")));
    cr_expect_not(tarn_failed(tarn_find(r, "ln.weight")));
    cr_expect(tarn_failed(tarn_use_layer_norm(x, "ln")), "it was made with other options");
    tarn_close(r);
}

/* A momentum of 1 makes the running statistics those of the batch, TARN_ZERO leaves them as they are. */
Test(use, batch_norms_track_as_their_options_say, .timeout = 300)
{
    tarn_replica *r = opened();
    tarn_tensor x = tarn_keep(ramp(r, TARN_SHAPE(30, 4)));
    const tarn_norm_options all = { .momentum = 1 }, nothing = { .momentum = TARN_ZERO };
    const tarn_tensor y[] = { tarn_use_batch_norm_with(x, "all", all),
                              tarn_use_batch_norm_with(x, "nothing", nothing) };
    cr_assert_eq(tarn_eval(y, 2), TARN_OK);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    float mean[4], tracked[4];
    cr_assert_eq(tarn_read(tarn_mean(x, TARN_AXES(0), false), mean, sizeof mean), TARN_OK);
    cr_assert_eq(tarn_read(tarn_find(r, "all.running_mean"), tracked, sizeof tracked), TARN_OK);
    for (int i = 0; i < 4; i++) /* two sums of 30 values up to 1, each within 30 halves of an ULP */
        cr_expect_float_eq(tracked[i], mean[i], 2 * 30 * 0x1p-24);
    same_values(tarn_find(r, "nothing.running_mean"), tarn_zeros(r, TARN_SHAPE(4)), 4);
    cr_expect(
        tarn_failed(tarn_use_batch_norm_with(x, "none", (tarn_norm_options){ .no_bias = true })));
    cr_expect_not_null(strstr(tarn_error(r), "batch_norm none: it has a bias"), "%s",
                       tarn_error(r));
    tarn_close(r);
}

/* ---- names ---------------------------------------------------------------------------------- */

Test(use, names_have_their_scope, .timeout = 300)
{
    tarn_replica *r = opened();
    const tarn_tensor x = ramp(r, TARN_SHAPE(4, 3));
    (void)tarn_use_linear(x, "a", 3);
    for (int i = 0; i < 2; i++) {
        tarn_enter(r, "blocks.%d", i);
        (void)tarn_use_linear(x, "a", 3);
        tarn_enter(r, "in");
        (void)tarn_use_linear(x, TARN_NAME("b%d", i), 3);
        tarn_leave(r);
        (void)tarn_use_parameter(r, "c", TARN_SHAPE(2), (tarn_init){ TARN_INIT_CONSTANT, .a = 2 });
        tarn_leave(r);
    }
    (void)tarn_use_linear(x, "d", 3);
    static const char *const names[] = { "a.weight",
                                         "a.bias",
                                         "blocks.0.a.weight",
                                         "blocks.0.a.bias",
                                         "blocks.0.in.b0.weight",
                                         "blocks.0.in.b0.bias",
                                         "blocks.0.c",
                                         "blocks.1.a.weight",
                                         "blocks.1.a.bias",
                                         "blocks.1.in.b1.weight",
                                         "blocks.1.in.b1.bias",
                                         "blocks.1.c",
                                         "d.weight",
                                         "d.bias" };
    const int count = (int)(sizeof names / sizeof *names);
    cr_assert_eq(tarn_owned_count(r), count, "%s", tarn_error(r));
    for (int i = 0; i < count; i++)
        cr_expect_str_eq(tarn_owned_name(r, i), names[i]);
    /* Another name has other values. */
    float one[9], other[9];
    cr_assert_eq(tarn_read(tarn_find(r, names[0]), one, sizeof one), TARN_OK);
    cr_assert_eq(tarn_read(tarn_find(r, names[2]), other, sizeof other), TARN_OK);
    cr_expect(memcmp(one, other, sizeof one) != 0);
    tarn_close(r);
}

static void refused(tarn_replica *r, tarn_status status, const char *part)
{
    cr_expect_eq(tarn_error_status(r), status, "%s", tarn_error(r));
    cr_expect(strstr(tarn_error(r), part) != NULL, "%s", tarn_error(r));
    tarn_error_clear(r);
}

Test(use, refuses, .timeout = 300)
{
    tarn_replica *r = opened();
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "a", 3);
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "a", 4);
    refused(r, TARN_ERR_ARGUMENT, "use_linear a: it was made with out 3, not 4");
    (void)tarn_use_layer_norm(ramp(r, TARN_SHAPE(4, 3)), "a");
    refused(r, TARN_ERR_ARGUMENT, "use_layer_norm a: there is a linear of this name");
    (void)tarn_use_conv2d(ramp(r, TARN_SHAPE(2, 3, 5, 5)), "c", 3, 3, half);
    (void)tarn_use_conv2d(ramp(r, TARN_SHAPE(2, 3, 5, 5)), "c", 3, 3, (tarn_conv2d_options){ 0 });
    refused(r, TARN_ERR_ARGUMENT, "use_conv2d c: it was made with other options");
    (void)tarn_use_conv2d(ramp(r, TARN_SHAPE(2, 3, 5, 5)), "c", 3, 5, half);
    refused(r, TARN_ERR_ARGUMENT, "use_conv2d c: it was made with window[0] 3, not 5");
    (void)tarn_use_parameter(r, "p", TARN_SHAPE(3), (tarn_init){ TARN_INIT_CONSTANT, .a = 0 });
    (void)tarn_use_parameter(r, "p", TARN_SHAPE(4), (tarn_init){ TARN_INIT_CONSTANT, .a = 0 });
    refused(r, TARN_ERR_ARGUMENT, "use_parameter p: it was made with other sizes");
    (void)tarn_use_parameter(r, "p", TARN_SHAPE(3), (tarn_init){ TARN_INIT_CONSTANT, .a = 2 });
    refused(r, TARN_ERR_ARGUMENT, "use_parameter p: it was made with other values");
    (void)tarn_use_linear(tarn_number(r, 1), "b", 3);
    refused(r, TARN_ERR_SHAPE, "use_linear b: x [] must have 1 axes or more");
    (void)tarn_use_conv2d(ramp(r, TARN_SHAPE(4, 3)), "b", 3, 3, half);
    refused(r, TARN_ERR_SHAPE, "use_conv2d b: x [4,3] must have 4 axes");
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "", 3);
    refused(r, TARN_ERR_ARGUMENT, "needs a name");
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), TARN_NAME("%200d", 1), 3);
    refused(r, TARN_ERR_ARGUMENT, "needs a name");
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "b", 0);
    refused(r, TARN_ERR_ARGUMENT, "linear b: a layer needs");
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "b",
                          3); /* that it failed before is forgotten */
    cr_expect_eq(tarn_error_status(r), TARN_OK, "%s", tarn_error(r));
    tarn_leave(r);
    refused(r, TARN_ERR_STATE, "leave: without a tarn_enter()");
    for (int i = 0; i < 17; i++)
        tarn_enter(r, "s");
    refused(r, TARN_ERR_ARGUMENT, "is a tarn_leave() missing?");
    for (int i = 0; i < 16; i++)
        tarn_leave(r);
    tarn_enter(r, "%127d", 1);
    refused(r, TARN_ERR_ARGUMENT, "127 characters or more");
    cr_assert(tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f }) != NULL, "%s", tarn_error(r));
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "a", 3);
    cr_expect_eq(tarn_error_status(r), TARN_OK, "%s", tarn_error(r));
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "late", 3);
    refused(r, TARN_ERR_STATE, "once before the optimizer is made");
    tarn_enter(r, "left");
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "a", 3);
    refused(r, TARN_ERR_STATE, "is a tarn_leave() of an earlier step missing?");
    tarn_close(r);
}

/* A name that stays open would make a second layer of each that was used outside of it. */
Test(use, a_forgotten_leave_is_found, .timeout = 300)
{
    tarn_replica *r = opened();
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "a", 3);
    tarn_enter(r, "in");
    tarn_enter(r, "left");
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "b", 3);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "new", 3); /* it may be meant */
    cr_expect_eq(tarn_error_status(r), TARN_OK, "%s", tarn_error(r));
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "a", 3);
    refused(r, TARN_ERR_STATE, "is a tarn_leave() missing?");
    tarn_enter(r, "in");
    tarn_enter(r, "left");
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "b", 3);
    refused(r, TARN_ERR_STATE, "use_linear in.left.in.left.b: a new layer in \"in.left.in.left.\"");
    tarn_close(r);
}

Test(use, buffers_are_made_once, .timeout = 300)
{
    tarn_replica *r = opened();
    static const float first[] = { 1, 2 }, other[] = { 3, 4 };
    float seen[2];
    tarn_enter(r, "blocks.%d", 0);
    const tarn_tensor a = tarn_use_buffer(r, "table", TARN_SHAPE(2), TARN_F32, first);
    const tarn_tensor b = tarn_use_buffer(r, "table", TARN_SHAPE(2), TARN_F32, other);
    cr_assert(tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f }) == NULL);
    tarn_error_clear(r); /* there is no parameter */
    (void)tarn_use_linear(ramp(r, TARN_SHAPE(4, 3)), "linear", 3);
    cr_assert(tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f }) != NULL, "%s", tarn_error(r));
    (void)tarn_use_buffer(r, "late", TARN_SHAPE(2), TARN_F32, first); /* nobody would train it */
    cr_assert_eq(tarn_read(b, seen, sizeof seen), TARN_OK, "%s", tarn_error(r));
    cr_expect(seen[0] == 1 && seen[1] == 2);
    cr_assert_eq(tarn_read(tarn_find(r, "blocks.0.table"), seen, sizeof seen), TARN_OK);
    cr_expect(seen[0] == 1 && seen[1] == 2 && !tarn_failed(a));
    (void)tarn_use_buffer(r, "table", TARN_SHAPE(2), TARN_I32, first);
    refused(r, TARN_ERR_ARGUMENT, "it was made with other values or of another type");
    (void)tarn_use_parameter(r, "table", TARN_SHAPE(2), (tarn_init){ TARN_INIT_CONSTANT, .a = 2 });
    refused(r, TARN_ERR_ARGUMENT, "there is a buffer of this name");
    tarn_leave(r);
    tarn_close(r);
}

/* ---- training ------------------------------------------------------------------------------- */

static tarn_tensor loss_of(tarn_tensor x)
{
    const tarn_tensor h = tarn_relu(tarn_use_batch_norm(tarn_use_linear(x, "in", 5), "bn"));
    return tarn_mean(tarn_pow_scalar(tarn_use_linear(h, "out", 1), 2), TARN_ALL, false);
}

/* Three steps; the loss of the last one, and the plans that were compiled. */
static float trained(bool shorthand, uint64_t *plans)
{
    tarn_replica *r = opened();
    tarn_train(r, false);
    (void)loss_of(tarn_zeros(r, TARN_SHAPE(1, 3)));
    tarn_train(r, true);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    float last = 0;
    for (int i = 0; i < 3; i++) {
        const tarn_tensor loss = loss_of(ramp(r, TARN_SHAPE(8, 3)));
        if (shorthand) {
            tarn_minimize(sgd, loss);
        } else {
            tarn_backward(loss);
            tarn_optimizer_step(sgd);
        }
        const tarn_tensor kept = tarn_keep(loss);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        last = tarn_item(kept);
        tarn_drop(kept);
    }
    int32_t count = 0;
    cr_assert_eq(tarn_read(tarn_find(r, "bn.num_batches_tracked"), &count, sizeof count), TARN_OK);
    cr_expect_eq(count, 3); /* the run on zeros does not count */
    *plans = tarn_metrics_get(r).plans_compiled;
    tarn_close(r);
    return last;
}

Test(use, minimize_is_backward_and_step, .timeout = 300)
{
    uint64_t plans, others;
    cr_expect_eq(trained(true, &plans), trained(false, &others));
    cr_expect_eq(plans, others);
    cr_expect(plans <= 2, "%llu plans",
              (unsigned long long)plans); /* a step, and reading a count */
    tarn_minimize(NULL, TARN_NONE);
    cr_expect(strstr(tarn_error(NULL), "the optimizer is NULL") != NULL, "%s", tarn_error(NULL));
}

/* ---- select --------------------------------------------------------------------------------- */

Test(select, takes_one_element_of_an_axis, .timeout = 300)
{
    tarn_replica *r = opened();
    const tarn_tensor x = tarn_reshape(tarn_arange(r, 24), TARN_SHAPE(2, 3, 4));
    int32_t y[8];
    const tarn_tensor last = tarn_select(x, 1, -1), first = tarn_select(x, -1, 0);
    cr_expect_eq(tarn_shape_get(last).rank, 2);
    cr_assert_eq(tarn_read(last, y, sizeof y), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < 8; i++)
        cr_expect_eq(y[i], i < 4 ? 8 + i : 16 + i);
    cr_assert_eq(tarn_read(first, y, 6 * sizeof *y), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < 6; i++)
        cr_expect_eq(y[i], 4 * i);
    (void)tarn_select(x, 1, 3);
    refused(r, TARN_ERR_ARGUMENT, "select: element 3 of axis 1 of [2,3,4]: there are 3");
    (void)tarn_select(tarn_arange(r, 3), 0, -4);
    refused(r, TARN_ERR_ARGUMENT, "select: element -4");
    (void)tarn_select(tarn_arange(r, 3), 1, 0);
    refused(r, TARN_ERR_ARGUMENT, "select");
    tarn_close(r);
}
