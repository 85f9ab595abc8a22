/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, refusals and flat storage of contractions, pools, layers and optimizers, recorded without
 * running anything. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/shape.h"
#include "run/plan_cache.h"
#include "train/optimizer.h"

static int failures;

/* ---- checks --------------------------------------------------------------------------------- */

static void expect(bool good, const char *what)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "FAILED: %s (error: %s)\n", what, error_text());
}

static void expect_shape(tarn_tensor t, tarn_shape s, const char *what)
{
    expect(!tarn_failed(t) && shape_equal(tarn_shape_get(t), s), what);
}

static void clear(tarn_replica *r)
{
    r->status = TARN_OK;
    r->error[0] = '\0';
    r->errors = 0;
}

static void expect_refused(tarn_replica *r, tarn_tensor t, tarn_status status, const char *text)
{
    expect(tarn_failed(t) && r->status == status && strstr(r->error, text) != NULL, text);
    printf("  %s\n", r->error);
    clear(r);
}

static tarn_tensor make(tarn_replica *r, tarn_shape s)
{
    return tarn_rand(r, s);
}

static void test_matmul(tarn_replica *r)
{
    const tarn_tensor a = make(r, TARN_SHAPE(3, 4)), b = make(r, TARN_SHAPE(4, 5));
    const tarn_tensor v = make(r, TARN_SHAPE(4));
    expect_shape(tarn_matmul(a, b), TARN_SHAPE(3, 5), "matrix x matrix");
    expect_shape(tarn_matmul(a, v), TARN_SHAPE(3), "matrix x vector");
    expect_shape(tarn_matmul(v, b), TARN_SHAPE(5), "vector x matrix");
    expect_shape(tarn_matmul(v, v), TARN_SCALAR, "vector x vector");
    const tarn_tensor many = make(r, TARN_SHAPE(2, 1, 3, 4)), more = make(r, TARN_SHAPE(7, 4, 5));
    expect_shape(tarn_matmul(many, more), TARN_SHAPE(2, 7, 3, 5), "batches broadcast");
    expect_shape(tarn_matmul(many, b), TARN_SHAPE(2, 1, 3, 5), "rows of a batch");
    const tarn_tensor t = tarn_matmul(a, tarn_transpose(make(r, TARN_SHAPE(5, 4)), 0, 1));
    expect_shape(t, TARN_SHAPE(3, 5), "transposed operand");
    expect(graph_node(t)->arg.matmul.transpose[1] == 1, "a transpose is folded");
    expect_refused(r, tarn_matmul(a, a), TARN_ERR_SHAPE, "do not fit");
}

static void test_conv(tarn_replica *r)
{
    const tarn_tensor x = make(r, TARN_SHAPE(2, 4, 9, 8)), w = make(r, TARN_SHAPE(6, 2, 3, 3));
    const tarn_conv2d_options o = { .stride = { 2 }, .padding = { 1, 0 }, .groups = 2 };
    const tarn_tensor y = tarn_conv2d_op(x, w, TARN_NONE, o);
    expect_shape(y, TARN_SHAPE(2, 6, 5, 3), "strided, padded, grouped convolution");
    const tarn_shape in[2] = { tarn_shape_get(x), tarn_shape_get(w) };
    struct contract c;
    op_conv2d.contract(graph_node(y), in, &c);
    expect(c.axes == 8 && c.out_axes == 5, "a group axis");
    expect(c.in[0].dim[2].guarded && !c.in[0].dim[3].guarded, "guards only where there is padding");
    expect_refused(r, tarn_conv2d_op(x, w, TARN_NONE, (tarn_conv2d_options){ .groups = 1 }),
                   TARN_ERR_SHAPE, "channels");
    expect_refused(r, tarn_conv2d_op(x, w, make(r, TARN_SHAPE(5)), o), TARN_ERR_SHAPE, "bias");
    expect_refused(r, tarn_conv2d_op(x, w, TARN_NONE, (tarn_conv2d_options){ .stride = { -1 } }),
                   TARN_ERR_ARGUMENT, "stride");
    expect_refused(r,
                   tarn_conv2d_op(x, make(r, TARN_SHAPE(6, 4, 10, 3)), TARN_NONE,
                                  (tarn_conv2d_options){ .groups = 1 }),
                   TARN_ERR_SHAPE, "does not fit");
}

static void test_pool(tarn_replica *r)
{
    const tarn_tensor x = make(r, TARN_SHAPE(2, 3, 9, 8));
    expect_shape(tarn_max_pool2d(x, 2), TARN_SHAPE(2, 3, 4, 4), "max pool");
    const tarn_pool_options o = { .window = { 3 }, .stride = { 2 }, .padding = { 1, 1 } };
    expect_shape(tarn_avg_pool2d_with(x, o), TARN_SHAPE(2, 3, 5, 4), "padded mean pool");
    expect_refused(r, tarn_max_pool2d(x, 0), TARN_ERR_ARGUMENT, "window");
    expect_refused(r, tarn_max_pool2d(x, 10), TARN_ERR_SHAPE, "does not fit");
}

/* A small network; returns its loss. */
static tarn_tensor forward(const tarn_conv2d *conv, const tarn_batch_norm *bn,
                           const tarn_linear *fc, tarn_replica *r)
{
    tarn_tensor x = tarn_conv2d_forward(conv, make(r, TARN_SHAPE(4, 1, 8, 8)));
    x = tarn_max_pool2d(tarn_relu(tarn_batch_norm_forward(bn, x)), 2);
    x = tarn_dropout(tarn_linear_forward(fc, tarn_flatten(x, 1)), 0.5f);
    expect_shape(x, TARN_SHAPE(4, 10), "logits");
    return tarn_cross_entropy(x, tarn_arange(r, 4));
}

static void test_training(tarn_replica *r)
{
    const tarn_conv2d conv =
        tarn_conv2d_make(r, "conv", 1, 3, 3, (tarn_conv2d_options){ .padding = { 1, 1 } });
    const tarn_batch_norm bn = tarn_batch_norm_make(r, "bn", 3);
    const tarn_linear fc = tarn_linear_make(r, "fc", 48, 10);
    const struct owned *p = owned_find(r, "fc.bias");
    float before[10], after[10];
    expect(owned_read(r, p, before) == TARN_OK, "read before");
    tarn_optimizer *o = tarn_adamw(r, (tarn_adam_options){ .lr = 0.1f });
    expect(o != NULL, "adamw");
    p = owned_find(r, "fc.bias");
    expect(p->flat && p->offset % 64 == 0, "slices of flat storage, aligned");
    expect(owned_read(r, p, after) == TARN_OK && !memcmp(before, after, sizeof after),
           "values survive the move");
    expect(owned_find(r, "optimizer.exp_avg_sq.conv.weight") != NULL, "named state");
    for (int i = 0; i < 2; i++) {
        tarn_backward(forward(&conv, &bn, &fc, r));
        expect_shape(tarn_clip_grad_norm(r, 1.0f), TARN_SCALAR, "gradient norm");
        tarn_optimizer_step(o);
        expect(r->status == TARN_OK, r->error);
        printf("  %u nodes\n", (unsigned)r->graph.count);
        graph_reset(r);
    }
    tarn_backward(tarn_sum(fc.bias, TARN_ALL, false));
    tarn_optimizer_step(o);
    expect(r->status == TARN_OK, "a step with missing gradients");
    graph_reset(r);
    tarn_optimizer_step(o);
    expect_refused(r, graph_poison(r), TARN_ERR_STATE, "no parameter has a gradient");
    expect(tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f }) == NULL, "a second optimizer");
    expect_refused(r, graph_poison(r), TARN_ERR_STATE, "has an optimizer already");
    const int32_t bad = 7;
    expect(owned_write(r, &r->owned[r->owned_count - 1], &bad) == TARN_OK, "set the flag");
    expect(optimizer_check(r) == TARN_ERR_NOT_FINITE, "the flag is reported");
    expect_refused(r, graph_poison(r), TARN_ERR_NOT_FINITE, "optimizer step 7");
    expect(optimizer_check(r) == TARN_OK, "reported once");
}

int main(void)
{
    tarn_replica *r = tarn_open(NULL);
    if (r == NULL) {
        fprintf(stderr, "%s\n", tarn_error(NULL));
        return 1;
    }
    test_matmul(r);
    test_conv(r);
    test_pool(r);
    const tarn_tensor x = make(r, TARN_SHAPE(2, 5, 6)), w = make(r, TARN_SHAPE(6));
    expect_shape(tarn_layer_norm_op(x, w, w, 1e-5f), TARN_SHAPE(2, 5, 6), "layer norm");
    expect_shape(tarn_softmax(x, -1), TARN_SHAPE(2, 5, 6), "soft-max");
    expect_refused(r, tarn_nll_loss(x, w), TARN_ERR_SHAPE, "[N, C, ...] and [N, ...]");
    graph_reset(r);
    test_training(r);
    tarn_close(r);
    printf("%d failed\n", failures);
    return failures != 0;
}
