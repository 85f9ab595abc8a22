/* SPDX-License-Identifier: Apache-2.0 */
/* What layers own, their names and first values, what they refuse, and that a block with all options trains. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "refuses.h"
#include "tarn.h"
#include "tarn_use.h"

#define COUNT(list) ((int)(sizeof list / sizeof *(list)))

static tarn_replica *opened(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    return r;
}

static void expect_shape(tarn_replica *r, const char *name, tarn_shape want)
{
    const tarn_shape s = tarn_shape_get(tarn_find(r, name));
    cr_expect(s.rank == want.rank && memcmp(s.dim, want.dim, (size_t)s.rank * sizeof s.dim[0]) == 0,
              "%s", name);
}

/* All values within +-reach, some of them in the outer half, or all equal to `value` where reach is 0. */
static void expect_values(tarn_replica *r, const char *name, double reach, float value)
{
    static float v[4096];
    const tarn_tensor t = tarn_find(r, name);
    const int64_t n = tarn_shape_count(tarn_shape_get(t));
    double most = 0;
    cr_assert(n <= COUNT(v) && tarn_read(t, v, (size_t)n * sizeof *v) == TARN_OK, "%s: %s", name,
              tarn_error(r));
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)v[i]));
        cr_expect(reach > 0 || v[i] == value, "%s is %g", name, (double)v[i]);
    }
    cr_expect(reach == 0 || (most <= reach && most > reach / 2), "%s: %g of %g", name, most, reach);
}

Test(layers, own_what_pytorch_names, .timeout = 300)
{
    tarn_replica *r = opened();
    tarn_linear_make_with(r, "fc", 25, 4, (tarn_linear_options){ .no_bias = true });
    tarn_conv2d_make_with(
        r, "conv", 4, 6,
        (tarn_conv2d_make_options){ .window = { 3, 5 }, .no_bias = true, .options.groups = 2 });
    tarn_conv1d_make(r, "line", 4, 6, 3, (tarn_conv1d_options){ .groups = 2 });
    tarn_conv_transpose2d_make(r, "up", 4, 6, 3, (tarn_conv_transpose2d_options){ .groups = 2 });
    tarn_embedding_make(r, "words", 7, 3);
    tarn_group_norm_make(r, "group", 2, 6);
    tarn_rms_norm_make(r, "rms", 5);
    tarn_transformer_block_make(r, "block", 8, (tarn_transformer_block_options){ .heads = 2 });
    static const char *const names[] = { "fc.weight",
                                         "conv.weight",
                                         "line.weight",
                                         "line.bias",
                                         "up.weight",
                                         "up.bias",
                                         "words.weight",
                                         "group.weight",
                                         "group.bias",
                                         "rms.weight",
                                         "block.self_attn.in_proj_weight",
                                         "block.self_attn.out_proj.weight",
                                         "block.self_attn.in_proj_bias",
                                         "block.self_attn.out_proj.bias",
                                         "block.linear1.weight",
                                         "block.linear1.bias",
                                         "block.linear2.weight",
                                         "block.linear2.bias",
                                         "block.norm1.weight",
                                         "block.norm1.bias",
                                         "block.norm2.weight",
                                         "block.norm2.bias" };
    cr_assert_eq(tarn_owned_count(r), COUNT(names), "%s", tarn_error(r));
    for (int i = 0; i < COUNT(names); i++)
        cr_expect_str_eq(tarn_owned_name(r, i), names[i]);
    expect_shape(r, "conv.weight", TARN_SHAPE(6, 2, 3, 5));
    expect_shape(r, "line.weight", TARN_SHAPE(6, 2, 3));
    expect_shape(r, "up.weight", TARN_SHAPE(4, 3, 3, 3));
    expect_shape(r, "block.self_attn.in_proj_weight", TARN_SHAPE(24, 8));
    expect_shape(r, "block.linear1.weight", TARN_SHAPE(32, 8));
    expect_values(r, "fc.weight", 0.2, 0);
    expect_values(r, "conv.weight", 1 / sqrt(30), 0);
    expect_values(r, "line.bias", 1 / sqrt(6), 0);
    expect_values(r, "up.weight", 1 / sqrt(27), 0);
    expect_values(r, "group.weight", 0, 1);
    expect_values(r, "rms.weight", 0, 1);
    expect_values(r, "block.self_attn.in_proj_weight", sqrt(6.0 / 32), 0);
    expect_values(r, "block.self_attn.in_proj_bias", 0, 0);
    tarn_close(r);
}

/* With norms in front and after: the same as what it is made of, bit for bit. */
static void check_decoder(tarn_replica *r, const char *name, bool after)
{
    enum { N = 2, T = 3, S = 5, E = 4 };
    const tarn_transformer_decoder d = tarn_transformer_decoder_make(
        r, name, E,
        (tarn_transformer_block_options){ .heads = 2, .causal = true, .norm_after = after });
    static float data[N * T * E], told[N * S * E], bias[T * S];
    for (int i = 0; i < N * S * E; i++)
        told[i] = (float)(i * 29 % 31) / 15 - 1;
    for (int i = 0; i < N * T * E; i++)
        data[i] = (float)(i * 37 % 101) / 50 - 1;
    for (int i = 0; i < T * S; i++)
        bias[i] = (float)(i * 7 % 5) / 3;
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(N, T, E), TARN_F32, data);
    const tarn_attention_inputs own = { .memory = TARN_NONE },
                                cross = { .memory =
                                              tarn_from(r, TARN_SHAPE(N, S, E), TARN_F32, told),
                                          .mask = tarn_from(r, TARN_SHAPE(T, S), TARN_F32, bias) };
    const tarn_tensor y = tarn_transformer_decoder_forward(&d, x, own, cross);
    const tarn_transformer_block *b = &d.block;
#define NORM(i, x) tarn_layer_norm_forward(i, x)
    const tarn_tensor a =
        tarn_multi_head_attention_forward_with(&b->attention, after ? x : NORM(&b->norm1, x), own);
    const tarn_tensor x1 = after ? NORM(&b->norm1, tarn_add(x, a)) : tarn_add(x, a);
    const tarn_tensor c =
        tarn_multi_head_attention_forward_with(&d.cross, after ? x1 : NORM(&b->norm2, x1), cross);
    const tarn_tensor x2 = after ? NORM(&b->norm2, tarn_add(x1, c)) : tarn_add(x1, c);
    const tarn_tensor in = after ? x2 : NORM(&d.norm3, x2);
    const tarn_tensor m =
        tarn_linear_forward(&b->linear2, tarn_gelu(tarn_linear_forward(&b->linear1, in)));
    const tarn_tensor x3 = after ? NORM(&d.norm3, tarn_add(x2, m)) : tarn_add(x2, m);
#undef NORM
    float got[2][N * T * E];
    cr_assert_eq(tarn_read(y, got[0], sizeof got[0]), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(x3, got[1], sizeof got[1]), TARN_OK, "%s", tarn_error(r));
    cr_expect_arr_eq(got[0], got[1], sizeof got[0]);
}

Test(layers, a_decoder_is_what_it_is_made_of, .timeout = 300)
{
    tarn_replica *r = opened();
    check_decoder(r, "d", false);
    check_decoder(r, "e", true);
    static const char *const names[] = { "d.self_attn.in_proj_weight",
                                         "d.linear1.weight",
                                         "d.norm1.bias",
                                         "d.multihead_attn.in_proj_weight",
                                         "d.multihead_attn.out_proj.bias",
                                         "d.norm3.weight" };
    for (int i = 0; i < COUNT(names); i++)
        cr_expect_not(tarn_failed(tarn_find(r, names[i])), "%s", names[i]);
    tarn_close(r);
}

/* Causal, with a mask, dropout and no biases: the loss falls, and a position never depends on later ones. */
Test(layers, a_block_trains, .timeout = 600)
{
    enum { N = 16, T = 4, E = 6 };
    tarn_replica *r = opened();
    const tarn_transformer_block b = tarn_transformer_block_make(
        r, "block", E,
        (tarn_transformer_block_options){
            .heads = 3, .mlp_ratio = 2, .causal = true, .no_bias = true, .dropout = 0.1f });
    tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    static float data[N * T * E], changed[N * T * E], y[2][N * T * E];
    static uint8_t seen[N * T];
    for (int i = 0; i < N * T * E; i++)
        changed[i] = data[i] = (float)(i * 37 % 101) / 50 - 1;
    for (int i = 0; i < N * T; i++)
        seen[i] = i % T < 3;
    float first = 0, last = 0;
    for (int step = 0; step < 40; step++) {
        const tarn_tensor x = tarn_from(r, TARN_SHAPE(N, T, E), TARN_F32, data);
        const tarn_tensor mask = tarn_from(r, TARN_SHAPE(N, T), TARN_U8, seen);
        const tarn_tensor out = tarn_transformer_block_forward(&b, x, mask);
        const tarn_tensor loss = tarn_mse_loss(out, tarn_mul_scalar(x, -0.5f));
        tarn_backward(loss);
        tarn_optimizer_step(adam);
        last = tarn_item(loss);
        first = step == 0 ? last : first;
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    cr_expect(last < 0.7f * first, "from %g to %g", (double)first, (double)last);
    tarn_train(r, false);
    for (int i = 0; i < N * T * E; i++)
        changed[i] += i / E % T == 2 ? 1.0f : 0.0f;
    for (int k = 0; k < 2; k++) {
        const tarn_tensor x = tarn_from(r, TARN_SHAPE(N, T, E), TARN_F32, k == 0 ? data : changed);
        cr_assert_eq(tarn_read(tarn_transformer_block_forward(&b, x, TARN_NONE), y[k], sizeof y[k]),
                     TARN_OK);
    }
    for (int i = 0; i < N * T * E; i++)
        cr_assert(i / E % T >= 2 || y[0][i] == y[1][i], "element %d sees a later one", i);
    cr_expect(memcmp(y[0], y[1], sizeof y[0]) != 0);
    tarn_close(r);
}

Test(layers, refuse_what_does_not_fit, .timeout = 300)
{
    tarn_replica *r = opened();
#define X(...) tarn_zeros(r, TARN_SHAPE(__VA_ARGS__))
    const tarn_tensor none = TARN_NONE;
    REFUSES("2 heads do not divide 5",
            tarn_multi_head_attention_make(r, "a", 5,
                                           (tarn_multi_head_attention_options){ .heads = 2 }));
    REFUSES("values [2,3,4] must be of the keys' shape [2,5,4]",
            tarn_use_multi_head_attention_with(
                X(2, 3, 4), "v", (tarn_multi_head_attention_options){ .heads = 2 },
                (tarn_attention_inputs){ .memory = X(2, 5, 4), .values = X(2, 3, 4) }));
    REFUSES("the second inputs need memory",
            tarn_use_transformer_decoder(X(2, 3, 4), "t",
                                         (tarn_transformer_block_options){ .heads = 2 },
                                         (tarn_attention_inputs){ .memory = none },
                                         (tarn_attention_inputs){ .mask = none }));
    REFUSES("linear: x [2,5] does not fit the weight fc.weight [3,4]",
            tarn_linear_forward(&(tarn_linear){ tarn_linear_make(r, "fc", 4, 3).weight, none },
                                X(2, 5)));
    REFUSES("the last one tarn_find of \"fc.wieght\"", tarn_relu(tarn_find(r, "fc.wieght")));
    REFUSES("the last one tarn_grad of fc.bias", tarn_relu(tarn_grad(tarn_find(r, "fc.bias"))));
    REFUSES("3 groups do not divide 4", tarn_group_norm_make(r, "g", 3, 4));
    REFUSES("window 0", tarn_conv1d_make(r, "c", 2, 2, 0, (tarn_conv1d_options){ .groups = 1 }));
    REFUSES("output_padding", tarn_conv_transpose2d_op(
                                  X(1, 2, 3, 3), X(2, 1, 3, 3), none,
                                  (tarn_conv_transpose2d_options){ .output_padding = { 1, 1 } }));
    REFUSES("conv_transpose2d: x [1,3,3,3]",
            tarn_conv_transpose2d_op(X(1, 3, 3, 3), X(2, 1, 3, 3), none,
                                     (tarn_conv_transpose2d_options){ .groups = 1 }));
    REFUSES("upsample_nearest2d: 0 and 2", tarn_upsample_nearest2d(X(1, 1, 2, 2), 0, 2));
    REFUSES("upsample_bilinear2d: x is float32 [2,2]", tarn_upsample_bilinear2d(X(2, 2), 2, 2));
    REFUSES("global_avg_pool: x is", tarn_global_avg_pool(X(2, 2)));
    REFUSES("group_norm: x [2,4]", tarn_group_norm_op(X(2, 4), X(3), none, 2, 1e-5f));
    REFUSES("rms_norm: x [2,4]", tarn_rms_norm_op(X(2, 4), X(3), 1e-5f));
    REFUSES("attention: q [2,3,4]", tarn_attention(X(2, 3, 4), X(2, 3, 5), X(2, 3, 4),
                                                   (tarn_attention_options){ .causal = true }));
    REFUSES("key_mask is", tarn_attention(X(2, 3, 4), X(2, 3, 4), X(2, 3, 4),
                                          (tarn_attention_options){ .key_mask = X(2, 3) }));
    REFUSES("stands twice in the result", tarn_einsum("ij,jk->ii", X(2, 2), X(2, 3)));
    REFUSES("does not fit [2,3] and [2]", tarn_einsum("ii,i->i", X(2, 3), X(2)));
    REFUSES("does not fit [2] and [2]", tarn_einsum("...ij,j", X(2), X(2)));
    REFUSES("dots must be three", tarn_einsum("..i,i", X(2), X(2)));
    REFUSES("dots must be three", tarn_einsum("...i...,i", X(2), X(2)));
    REFUSES("no operand has", tarn_einsum("i,i->...", X(2), X(2)));
    REFUSES("resize_bilinear2d: x is float32 [2,2]",
            tarn_resize_bilinear2d(X(2, 2), (tarn_resize_options){ .size = { 2, 2 } }));
    REFUSES("resize_bilinear2d: [1,1,2,2] to size 2 or by scale 2",
            tarn_resize_bilinear2d(X(1, 1, 2, 2),
                                   (tarn_resize_options){ .size = { 2, 2 }, .scale = { 2, 2 } }));
    REFUSES("to size 0 or by scale 0.25",
            tarn_resize_bilinear2d(X(1, 1, 2, 2), (tarn_resize_options){ .scale = { 0.25f, 1 } }));
    REFUSES("to size -1 or by scale 0",
            tarn_resize_bilinear2d(X(1, 1, 2, 2), (tarn_resize_options){ .size = { 2, -1 } }));
    REFUSES("a comma must come", tarn_einsum("ij", X(2, 2), X(2, 3)));
    REFUSES("there is no second operand", tarn_einsum("ij,jk", X(2, 2), none));
    REFUSES("does not fit [2,3]: a letter", tarn_einsum("ii", X(2, 3), none));
    REFUSES("no operand has", tarn_einsum("ij->ik", X(2, 2), none));
    REFUSES("no operand has", tarn_einsum("ij,jk->iz", X(2, 2), X(2, 3)));
    REFUSES("nothing may come", tarn_einsum("ij,jk->ik,", X(2, 2), X(2, 3)));
    REFUSES("must come, or nothing", tarn_einsum("ij,jk=ik", X(2, 2), X(2, 3)));
    REFUSES("does not fit [2,2] and [3,3]", tarn_einsum("ij,jk->ik", X(2, 2), X(3, 3)));
    REFUSES("there is none", tarn_einsum(NULL, X(2, 2), X(3, 3)));
    REFUSES("stack: part 1 is [3]", tarn_stack((tarn_tensor[]){ X(2), X(3) }, 2, 0));
    tarn_tensor parts[2];
    tarn_split(X(5), NULL, 2, 0, parts);
    cr_expect(tarn_failed(parts[0]) && strstr(tarn_error(r), "2 parts of one size") != NULL);
    tarn_error_clear(r);
    REFUSES("label_smoothing is 2",
            tarn_cross_entropy_with(X(2, 3), tarn_arange(r, 2),
                                    (tarn_cross_entropy_options){ .label_smoothing = 2 }));
    REFUSES("weight is float32 [2]",
            tarn_cross_entropy_with(X(2, 3), tarn_arange(r, 2),
                                    (tarn_cross_entropy_options){ .weight = X(2) }));
    const tarn_cross_entropy_options forgotten = { .ignore_index = -100 };
    REFUSES("cross_entropy: ignore_index is -100, but ignore is false: set .ignore = true",
            tarn_cross_entropy_with(X(2, 3), tarn_arange(r, 2), forgotten));
    REFUSES("nll_loss: ignore_index is -100, but ignore is false",
            tarn_nll_loss_with(X(2, 3), tarn_arange(r, 2), forgotten));
    REFUSES("huber_loss: delta is 0", tarn_huber_loss(X(2), X(2), 0));
    REFUSES("bce_with_logits: float32 [2]", tarn_bce_with_logits(X(2), X(3), none));
    REFUSES("pos_weight [3,2]", tarn_bce_with_logits(X(2), X(2), X(3, 2)));
    REFUSES("kl_div: float32 [2]",
            tarn_kl_div(X(2), X(3), (tarn_kl_div_options){ .batch_mean = true }));
    const tarn_loss_reduction odd = (tarn_loss_reduction)3;
    REFUSES("mse_loss: there is no reduction 3", tarn_mse_loss_with(X(2), X(2), odd));
    REFUSES("l1_loss: there is no reduction 3", tarn_l1_loss_with(X(2), X(2), odd));
    REFUSES("huber_loss: there is no reduction 3", tarn_huber_loss_with(X(2), X(2), 1, odd));
    REFUSES("smooth_l1_loss: there is no reduction 3",
            tarn_smooth_l1_loss_with(X(2), X(2), 1, odd));
    REFUSES("bce_with_logits: weight [3] does not broadcast to [2]",
            tarn_bce_with_logits_with(X(2), X(2), (tarn_bce_options){ .weight = X(3) }));
    REFUSES("bce_with_logits: there is no reduction 3",
            tarn_bce_with_logits_with(X(2), X(2), (tarn_bce_options){ .reduction = odd }));
    REFUSES("kl_div: batch_mean is a mean, reduction 1 is none",
            tarn_kl_div(X(2), X(2),
                        (tarn_kl_div_options){ .batch_mean = true, .reduction = TARN_LOSS_SUM }));
    REFUSES("nll_loss: weight is float32 [2]",
            tarn_nll_loss_with(X(2, 3), tarn_arange(r, 2),
                               (tarn_cross_entropy_options){ .weight = X(2) }));
    REFUSES("softplus: beta is 0", tarn_softplus(X(2), 0, 20));
    tarn_close(r);
}
