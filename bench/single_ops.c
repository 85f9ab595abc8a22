/* SPDX-License-Identifier: Apache-2.0 */
/* Single operations at sizes of ordinary networks, forward alone and with their gradients: milliseconds of a step, the least of
 * several, one JSON object a line. bench/peers/pytorch_ops.py does the same in PyTorch, and bench/compare-ops both. It looks
 * for what is much too slow, not for a tenth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tarn.h>

enum { WARM = 3, STEPS = 7 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* The same ones as in pytorch_ops.py. */
static tarn_tensor indices(tarn_replica *r, tarn_shape s, int below)
{
    static int32_t index[1 << 16];
    for (int64_t i = 0; i < tarn_shape_count(s); i++)
        index[i] = (int32_t)(((uint32_t)i * 2654435761u >> 8) % (uint32_t)below);
    return tarn_from(r, s, TARN_I32, index);
}

/* ---- operations of x, w and b ---------------------------------------------------------------- */

#define MADE(name, ...) \
    static tarn_tensor name(tarn_tensor x, tarn_tensor w, tarn_tensor b) \
    { \
        (void)w, (void)b; \
        __VA_ARGS__ \
    }
MADE(of_add, return tarn_add(x, w);)
MADE(of_gelu, return tarn_gelu(x);)
MADE(of_exp, return tarn_exp(x);)
MADE(of_sumall, return tarn_sum(x, TARN_ALL, false);)
MADE(of_sum0, return tarn_sum(x, TARN_AXES(0), false);)
MADE(of_sum1, return tarn_sum(x, TARN_AXES(1), false);)
MADE(of_max1, return tarn_max(x, TARN_AXES(1), false);)
MADE(of_max0, return tarn_max(x, TARN_AXES(0), false);)
MADE(of_var1, return tarn_var(x, TARN_AXES(1), 1, false);)
MADE(of_softmax1, return tarn_softmax(x, 1);)
MADE(of_softmax0, return tarn_softmax(x, 0);)
MADE(of_logsoftmax, return tarn_log_softmax(x, 1);)
MADE(of_ln, return tarn_layer_norm_op(x, w, b, 1e-5f);)
MADE(of_rms, return tarn_rms_norm_op(x, w, 1e-5f);)
MADE(of_cumsum1, return tarn_cumsum(x, 1);)
MADE(of_cumsum0, return tarn_cumsum(x, 0);)
MADE(of_transpose, return tarn_add_scalar(tarn_transpose(x, 0, 1), 1);)
MADE(of_permute, return tarn_add_scalar(tarn_permute(x, TARN_SHAPE(0, 2, 1, 3)), 1);)
MADE(of_nhwc, return tarn_add_scalar(tarn_permute(x, TARN_SHAPE(0, 2, 3, 1)), 1);)
MADE(of_concat, return tarn_concat((tarn_tensor[]){ x, w }, 2, 1);)
MADE(of_emb, return tarn_embedding(x, indices(x.replica, TARN_SHAPE(32, 512), 30000));)
MADE(of_indexadd, return tarn_index_add(x, 0, indices(x.replica, TARN_SHAPE(16384), 8192), w);)
MADE(of_add_few, return tarn_index_add(x, 0, indices(x.replica, TARN_SHAPE(32768), 3000), w);)
MADE(of_scattermax, const tarn_tensor i = indices(x.replica, TARN_SHAPE(32768, 1), 3000);
     return tarn_scatter_max(x, 0, tarn_broadcast_to(i, TARN_SHAPE(32768, 8)), w);)
MADE(of_sort, return tarn_sort(x, 1, false, NULL);)
MADE(of_topk, tarn_tensor i; return tarn_top_k(x, 5, 1, true, &i);)
MADE(of_bmm, return tarn_matmul(x, w);)
MADE(of_soft, return tarn_matmul(tarn_softmax(tarn_matmul(x, w), -1), x);)
MADE(of_einsum, return tarn_einsum("bhqd,bhkd->bhqk", x, w);)
MADE(of_attn2, return tarn_attention(x, w, b, (tarn_attention_options){ 0 });)
MADE(of_linear, return tarn_add(tarn_matmul(x, tarn_transpose(w, 0, 1)), b);)
MADE(of_mm, return tarn_matmul(x, w);)
MADE(of_conv3, return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .padding = { 1, 1 } });)
MADE(of_conv3s2,
     return tarn_conv2d_op(x, w, b,
                           (tarn_conv2d_options){ .padding = { 1, 1 }, .stride = { 2, 2 } });)
MADE(of_conv1, return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ 0 });)
MADE(of_conv7s2,
     return tarn_conv2d_op(x, w, b,
                           (tarn_conv2d_options){ .padding = { 3, 3 }, .stride = { 2, 2 } });)
MADE(of_conv5, return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .padding = { 2, 2 } });)
MADE(of_dil,
     return tarn_conv2d_op(x, w, b,
                           (tarn_conv2d_options){ .padding = { 2, 2 }, .dilation = { 2, 2 } });)
MADE(of_dw,
     return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .padding = { 1, 1 }, .groups = 128 });)
MADE(of_dw7,
     return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .padding = { 3, 3 }, .groups = 96 });)
MADE(of_patch, return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .stride = { 16, 16 } });)
MADE(of_tconv,
     return tarn_conv_transpose2d_op(x, w, b,
                                     (tarn_conv_transpose2d_options){ .stride = { 2, 2 } });)
MADE(of_tconv4, return tarn_conv_transpose2d_op(x, w, b,
                                                (tarn_conv_transpose2d_options){
                                                    .stride = { 2, 2 }, .padding = { 1, 1 } });)
MADE(of_tconv8,
     return tarn_conv_transpose2d_op(x, w, b,
                                     (tarn_conv_transpose2d_options){ .stride = { 8, 8 } });)
MADE(of_tconv16, return tarn_conv_transpose2d_op(x, w, b,
                                                 (tarn_conv_transpose2d_options){
                                                     .stride = { 8, 8 }, .padding = { 4, 4 } });)
MADE(of_conv4s4, return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .stride = { 4, 4 } });)
MADE(of_conv2s2, return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .stride = { 2, 2 } });)
MADE(of_conv1d, return tarn_conv1d_op(x, w, b, (tarn_conv1d_options){ .padding = 1 });)
MADE(of_conv3d, return tarn_conv3d_op(x, w, b, (tarn_conv3d_options){ .padding = { 1, 1, 1 } });)
MADE(of_maxpool, return tarn_max_pool2d(x, 2);)
MADE(of_maxpool3, return tarn_max_pool2d_with(x, (tarn_pool_options){ .window = { 3, 3 },
                                                                      .stride = { 2, 2 },
                                                                      .padding = { 1, 1 } });)
MADE(of_avgpool, return tarn_avg_pool2d(x, 2);)
MADE(of_gap, return tarn_global_avg_pool(x);)
MADE(of_upn, return tarn_upsample_nearest2d(x, 2, 2);)
MADE(of_upb, return tarn_upsample_bilinear2d(x, 2, 2);)
MADE(of_gn, return tarn_group_norm_op(x, w, b, 8, 1e-5f);)
MADE(of_in, return tarn_instance_norm_op(x, w, b, 1e-5f);)
MADE(of_bn, const tarn_tensor m = tarn_mean(x, TARN_AXES(0, 2, 3), true);
     const tarn_tensor v = tarn_var(x, TARN_AXES(0, 2, 3), 0, true);
     return tarn_add(tarn_mul(tarn_mul(tarn_sub(x, m), tarn_rsqrt(tarn_add_scalar(v, 1e-5))),
                              tarn_reshape(w, TARN_SHAPE(1, 64, 1, 1))),
                     tarn_reshape(b, TARN_SHAPE(1, 64, 1, 1)));)
MADE(of_drop, return tarn_dropout(x, 0.1f);)
MADE(of_ce, return tarn_cross_entropy(x, indices(x.replica, TARN_SHAPE(2048), 32000));)
MADE(of_attn, return tarn_attention(x, w, b, (tarn_attention_options){ .causal = true });)
MADE(of_outer,
     return tarn_mul(tarn_reshape(x, TARN_SHAPE(4096, 1)), tarn_reshape(w, TARN_SHAPE(1, 4096)));)
MADE(of_cdist, const tarn_tensor d = tarn_sub(tarn_reshape(x, TARN_SHAPE(512, 1, 64)),
                                              tarn_reshape(w, TARN_SHAPE(1, 512, 64)));
     return tarn_sum(tarn_mul(d, d), TARN_AXES(2), false);)
MADE(of_roll, return tarn_add_scalar(tarn_roll(x, 1, 7), 1);)
MADE(of_flip, return tarn_add_scalar(tarn_flip(x, TARN_AXES(1)), 1);)
MADE(of_pad, return tarn_pad_reflect(x, TARN_SHAPE(0, 0, 1, 1), TARN_SHAPE(0, 0, 1, 1));)
MADE(of_where, return tarn_where(tarn_gt(x, w), x, tarn_mul_scalar(w, 2));)
MADE(of_pixel, return tarn_add_scalar(tarn_pixel_shuffle(x, 2), 1);)
MADE(of_lse, return tarn_logsumexp(x, TARN_AXES(1), false);)
MADE(of_gather1, return tarn_gather(x, 1, indices(x.replica, TARN_SHAPE(4096, 16), 1024));)
MADE(of_argmax, return tarn_argmax(x, 1, false);)

static const struct operation {
    const char *name;
    tarn_tensor (*made)(tarn_tensor x, tarn_tensor w, tarn_tensor b);
    tarn_shape shape[3]; /* of x, w and b; none has rank 0 */
} operations[] = {
    { "add", of_add, { { 2, { 4096, 4096 } }, { 2, { 4096, 4096 } } } },
    { "gelu", of_gelu, { { 2, { 4096, 4096 } } } },
    { "exp", of_exp, { { 2, { 4096, 4096 } } } },
    { "sumall", of_sumall, { { 2, { 4096, 4096 } } } },
    { "sum0", of_sum0, { { 2, { 4096, 4096 } } } },
    { "sum1", of_sum1, { { 2, { 4096, 4096 } } } },
    { "max1", of_max1, { { 2, { 4096, 1024 } } } },
    { "max0", of_max0, { { 2, { 4096, 1024 } } } },
    { "var1", of_var1, { { 2, { 4096, 1024 } } } },
    { "softmax1", of_softmax1, { { 2, { 4096, 1024 } } } },
    { "softmax0", of_softmax0, { { 2, { 1024, 4096 } } } },
    { "softmax1_wide", of_softmax1, { { 2, { 64, 50000 } } } },
    { "logsoftmax", of_logsoftmax, { { 2, { 4096, 1000 } } } },
    { "layernorm", of_ln, { { 2, { 8192, 768 } }, { 1, { 768 } }, { 1, { 768 } } } },
    { "rmsnorm", of_rms, { { 2, { 8192, 768 } }, { 1, { 768 } } } },
    { "cumsum1", of_cumsum1, { { 2, { 1024, 4096 } } } },
    { "cumsum0", of_cumsum0, { { 2, { 4096, 1024 } } } },
    { "transpose", of_transpose, { { 2, { 4096, 4096 } } } },
    { "permute_heads", of_permute, { { 4, { 32, 256, 8, 64 } } } },
    { "nhwc", of_nhwc, { { 4, { 32, 64, 56, 56 } } } },
    { "concat", of_concat, { { 4, { 32, 64, 56, 56 } }, { 4, { 32, 64, 56, 56 } } } },
    { "embedding", of_emb, { { 2, { 30000, 512 } } } },
    { "index_add", of_indexadd, { { 2, { 8192, 64 } }, { 2, { 16384, 64 } } } },
    { "index_add_few", of_add_few, { { 2, { 3000, 4 } }, { 2, { 32768, 4 } } } },
    { "scatter_max", of_scattermax, { { 2, { 3000, 8 } }, { 2, { 32768, 8 } } } },
    { "sort", of_sort, { { 2, { 1024, 1000 } } } },
    { "topk", of_topk, { { 2, { 1024, 1000 } } } },
    { "bmm_big", of_bmm, { { 3, { 16, 512, 512 } }, { 3, { 16, 512, 512 } } } },
    { "bmm_b32", of_bmm, { { 3, { 32, 256, 256 } }, { 3, { 32, 256, 256 } } } },
    { "bmm_16", of_bmm, { { 3, { 64, 16, 16 } }, { 3, { 64, 16, 16 } } } },
    { "bmm_32", of_bmm, { { 3, { 64, 32, 32 } }, { 3, { 64, 32, 32 } } } },
    { "soft_32", of_soft, { { 3, { 64, 32, 32 } }, { 3, { 64, 32, 32 } } } },
    { "soft_64", of_soft, { { 4, { 32, 4, 64, 32 } }, { 4, { 32, 4, 32, 64 } } } },
    { "bmm_m8", of_bmm, { { 3, { 64, 8, 128 } }, { 3, { 64, 128, 128 } } } },
    { "bmm_m1", of_bmm, { { 3, { 64, 1, 128 } }, { 3, { 64, 128, 128 } } } },
    { "bmm_n1", of_bmm, { { 3, { 64, 128, 128 } }, { 3, { 64, 128, 1 } } } },
    { "qk16", of_einsum, { { 4, { 16, 8, 256, 64 } }, { 4, { 16, 8, 256, 64 } } } },
    { "attn16",
      of_attn2,
      { { 4, { 16, 8, 256, 64 } }, { 4, { 16, 8, 256, 64 } }, { 4, { 16, 8, 256, 64 } } } },
    { "linear_128", of_linear, { { 2, { 128, 1024 } }, { 2, { 4096, 1024 } }, { 1, { 4096 } } } },
    { "linear_8", of_linear, { { 2, { 8, 1024 } }, { 2, { 4096, 1024 } }, { 1, { 4096 } } } },
    { "linear_1", of_linear, { { 2, { 1, 4096 } }, { 2, { 4096, 4096 } }, { 1, { 4096 } } } },
    { "linear_2048", of_linear, { { 2, { 2048, 768 } }, { 2, { 3072, 768 } }, { 1, { 3072 } } } },
    { "linear_3d", of_bmm, { { 3, { 16, 128, 768 } }, { 2, { 768, 2304 } } } },
    { "mm", of_mm, { { 2, { 1024, 1024 } }, { 2, { 1024, 1024 } } } },
    { "matvec", of_mm, { { 2, { 4096, 4096 } }, { 2, { 4096, 1 } } } },
    { "conv3_c64_n8",
      of_conv3,
      { { 4, { 8, 64, 56, 56 } }, { 4, { 64, 64, 3, 3 } }, { 1, { 64 } } } },
    { "conv3_c64_n32",
      of_conv3,
      { { 4, { 32, 64, 56, 56 } }, { 4, { 64, 64, 3, 3 } }, { 1, { 64 } } } },
    { "conv3_c256_n16",
      of_conv3,
      { { 4, { 16, 256, 14, 14 } }, { 4, { 256, 256, 3, 3 } }, { 1, { 256 } } } },
    { "conv3_c512_n4",
      of_conv3,
      { { 4, { 4, 512, 7, 7 } }, { 4, { 512, 512, 3, 3 } }, { 1, { 512 } } } },
    { "conv3_c16_n128",
      of_conv3,
      { { 4, { 128, 16, 32, 32 } }, { 4, { 16, 16, 3, 3 } }, { 1, { 16 } } } },
    { "conv3s2",
      of_conv3s2,
      { { 4, { 16, 64, 56, 56 } }, { 4, { 128, 64, 3, 3 } }, { 1, { 128 } } } },
    { "conv1_c256",
      of_conv1,
      { { 4, { 16, 256, 28, 28 } }, { 4, { 64, 256, 1, 1 } }, { 1, { 64 } } } },
    { "conv7s2", of_conv7s2, { { 4, { 8, 3, 224, 224 } }, { 4, { 64, 3, 7, 7 } }, { 1, { 64 } } } },
    { "conv5", of_conv5, { { 4, { 64, 32, 16, 16 } }, { 4, { 64, 32, 5, 5 } }, { 1, { 64 } } } },
    { "dilated", of_dil, { { 4, { 8, 128, 28, 28 } }, { 4, { 128, 128, 3, 3 } }, { 1, { 128 } } } },
    { "depthwise", of_dw, { { 4, { 16, 128, 28, 28 } }, { 4, { 128, 1, 3, 3 } }, { 1, { 128 } } } },
    { "depthwise7", of_dw7, { { 4, { 8, 96, 56, 56 } }, { 4, { 96, 1, 7, 7 } }, { 1, { 96 } } } },
    { "patch16",
      of_patch,
      { { 4, { 16, 3, 224, 224 } }, { 4, { 384, 3, 16, 16 } }, { 1, { 384 } } } },
    { "tconv2", of_tconv, { { 4, { 16, 128, 16, 16 } }, { 4, { 128, 64, 2, 2 } }, { 1, { 64 } } } },
    { "tconv4s2",
      of_tconv4,
      { { 4, { 16, 128, 16, 16 } }, { 4, { 128, 64, 4, 4 } }, { 1, { 64 } } } },
    { "tconv8s8", of_tconv8, { { 4, { 8, 64, 16, 16 } }, { 4, { 64, 21, 8, 8 } }, { 1, { 21 } } } },
    { "tconv16s8",
      of_tconv16,
      { { 4, { 8, 21, 16, 16 } }, { 4, { 21, 21, 16, 16 } }, { 1, { 21 } } } },
    { "conv4s4",
      of_conv4s4,
      { { 4, { 16, 32, 64, 64 } }, { 4, { 64, 32, 4, 4 } }, { 1, { 64 } } } },
    { "conv2s2_n16",
      of_conv2s2,
      { { 4, { 16, 96, 32, 32 } }, { 4, { 192, 96, 2, 2 } }, { 1, { 192 } } } },
    { "mm_a", of_mm, { { 2, { 1000, 1000 } }, { 2, { 1000, 10 } } } },
    { "mm_b", of_mm, { { 2, { 64, 100000 } }, { 2, { 100000, 64 } } } },
    { "mm_c", of_mm, { { 2, { 100000, 64 } }, { 2, { 64, 64 } } } },
    { "mm_d", of_mm, { { 2, { 16, 4096 } }, { 2, { 4096, 16384 } } } },
    { "mm_e", of_mm, { { 2, { 17, 1000 } }, { 2, { 1000, 1000 } } } },
    { "mm_f", of_mm, { { 2, { 33, 513 } }, { 2, { 513, 257 } } } },
    { "mm_g", of_mm, { { 2, { 512, 32000 } }, { 2, { 32000, 64 } } } },
    { "mm_h", of_mm, { { 2, { 20000, 16 } }, { 2, { 16, 8 } } } },
    { "conv1d", of_conv1d, { { 3, { 32, 128, 512 } }, { 3, { 128, 128, 3 } }, { 1, { 128 } } } },
    { "conv3d",
      of_conv3d,
      { { 5, { 4, 16, 16, 32, 32 } }, { 5, { 32, 16, 3, 3, 3 } }, { 1, { 32 } } } },
    { "maxpool2", of_maxpool, { { 4, { 32, 64, 56, 56 } } } },
    { "maxpool3s2", of_maxpool3, { { 4, { 16, 64, 112, 112 } } } },
    { "avgpool", of_avgpool, { { 4, { 32, 64, 56, 56 } } } },
    { "globalavg", of_gap, { { 4, { 32, 256, 28, 28 } } } },
    { "up_nearest", of_upn, { { 4, { 16, 64, 28, 28 } } } },
    { "up_bilinear", of_upb, { { 4, { 16, 64, 28, 28 } } } },
    { "groupnorm", of_gn, { { 4, { 16, 64, 56, 56 } }, { 1, { 64 } }, { 1, { 64 } } } },
    { "instancenorm", of_in, { { 4, { 16, 64, 56, 56 } }, { 1, { 64 } }, { 1, { 64 } } } },
    { "batchnorm", of_bn, { { 4, { 32, 64, 56, 56 } }, { 1, { 64 } }, { 1, { 64 } } } },
    { "dropout", of_drop, { { 2, { 4096, 4096 } } } },
    { "cross_entropy", of_ce, { { 2, { 2048, 32000 } } } },
    { "attn_causal",
      of_attn,
      { { 4, { 8, 8, 512, 64 } }, { 4, { 8, 8, 512, 64 } }, { 4, { 8, 8, 512, 64 } } } },
    { "attn",
      of_attn2,
      { { 4, { 8, 8, 512, 64 } }, { 4, { 8, 8, 512, 64 } }, { 4, { 8, 8, 512, 64 } } } },
    { "outer", of_outer, { { 1, { 4096 } }, { 1, { 4096 } } } },
    { "cdist", of_cdist, { { 2, { 512, 64 } }, { 2, { 512, 64 } } } },
    { "einsum_qk", of_einsum, { { 4, { 8, 8, 256, 64 } }, { 4, { 8, 8, 256, 64 } } } },
    { "roll", of_roll, { { 2, { 4096, 1024 } } } },
    { "flip", of_flip, { { 2, { 4096, 1024 } } } },
    { "pad_reflect", of_pad, { { 4, { 16, 64, 56, 56 } } } },
    { "where", of_where, { { 2, { 4096, 1024 } }, { 2, { 4096, 1024 } } } },
    { "pixelshuffle", of_pixel, { { 4, { 16, 64, 28, 28 } } } },
    { "logsumexp", of_lse, { { 2, { 4096, 1024 } } } },
    { "gather1", of_gather1, { { 2, { 4096, 1024 } } } },
    { "argmax", of_argmax, { { 2, { 4096, 1024 } } } },
};

/* ---- time ------------------------------------------------------------------------------------ */

/* A step that makes y, or the gradients of the sum of its squares, into `out`, which the first one keeps. */
static tarn_status step(const struct operation *o, const tarn_tensor p[3], int count,
                        bool gradients, tarn_tensor out[3], bool first)
{
    const tarn_tensor in[3] = { tarn_batch_axis(p[0], 0), p[1], p[2] };
    tarn_tensor made[3] = { o->made(in[0], in[1], in[2]) };
    if (gradients)
        tarn_gradients(tarn_sum(tarn_mul(made[0], made[0]), TARN_ALL, false), in, count, made);
    for (int i = 0; i < (gradients ? count : 1); i++) {
        if (first)
            out[i] = tarn_keep(made[i]);
        else
            tarn_assign(out[i], made[i]);
    }
    const tarn_status status = tarn_step(p[0].replica);
    return status == TARN_OK ? tarn_wait(p[0].replica) : status;
}

/* The least of some steps; below 0 on failure. */
static double measure(const struct operation *o, bool gradients)
{
    tarn_replica *r = tarn_open(NULL);
    tarn_tensor p[3], out[3];
    int count = 0;
    double least = 1e30;
    if (r == NULL)
        return fprintf(stderr, "%s\n", tarn_error(NULL)), -1;
    tarn_train(r, gradients || strcmp(o->name, "dropout") == 0);
    for (int i = 0; i < 3; i++)
        p[i] = TARN_NONE;
    for (; count < 3 && o->shape[count].rank > 0; count++)
        p[count] = tarn_keep(tarn_mul_scalar(tarn_randn(r, o->shape[count]), count == 0 ? 1 : 0.1));
    tarn_status status = tarn_step(r);
    for (int i = 0; i < WARM + STEPS && status == TARN_OK; i++) {
        const double begin = now();
        status = step(o, p, count, gradients, out, i == 0);
        if (i >= WARM && now() - begin < least)
            least = now() - begin;
    }
    if (status != TARN_OK)
        fprintf(stderr, "%s: %s\n", o->name, tarn_error(r));
    tarn_close(r);
    return status == TARN_OK ? least : -1;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const struct operation *o = &operations[i];
        bool chosen = argc < 2;
        for (int k = 1; k < argc; k++)
            chosen |= strcmp(argv[k], o->name) == 0;
        if (!chosen)
            continue;
        const bool has_gradient = strcmp(o->name, "argmax") != 0;
        const double forward = measure(o, false), both = has_gradient ? measure(o, true) : 0;
        if (forward < 0 || both < 0)
            return 1;
        printf("{\"name\": \"%s\", \"forward\": %.3f, \"both\": %.3f}\n", o->name, forward, both);
        (void)fflush(stdout);
    }
    return 0;
}
