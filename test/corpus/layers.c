/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of layers one by one: products, windows, gathers, norms, random numbers; and gradients of
 * gradients. */
#include <stddef.h>

#include "corpus.h"

#define COUNT(list) ((int)(sizeof list / sizeof *(list)))
static const int sizes[] = { 3, 32, 37 };

/* ---- products ------------------------------------------------------------------------------- */

static void products(void)
{
    tarn_replica *r = open_device();
    const tarn_shape pairs[][2] = {
        { TARN_SHAPE(5, 7), TARN_SHAPE(7, 3) },
        { TARN_SHAPE(16, 33), TARN_SHAPE(33, 17) },
        { TARN_SHAPE(128, 320), TARN_SHAPE(320, 50) },
        { TARN_SHAPE(512, 256), TARN_SHAPE(256, 768) }, /* large enough for a kernel of its own */
        { TARN_SHAPE(7), TARN_SHAPE(7) },
        { TARN_SHAPE(7), TARN_SHAPE(7, 3) },
        { TARN_SHAPE(2, 5, 7), TARN_SHAPE(7) },
        { TARN_SHAPE(2, 5, 7), TARN_SHAPE(2, 7, 3) },
        { TARN_SHAPE(32, 4, 16, 8), TARN_SHAPE(32, 4, 8, 16) },
        { TARN_SHAPE(2, 1, 3, 5), TARN_SHAPE(3, 5, 2) },
    };
    for (int i = 0; i < COUNT(pairs); i++) {
        tarn_tensor a = numbers(r, pairs[i][0]), b = numbers(r, pairs[i][1]);
        COMPILE(tarn_matmul(a, b), a, b);
        a = numbers(r, pairs[i][0]), b = numbers(r, pairs[i][1]);
        COMPILE(tarn_gelu(tarn_matmul(tarn_tanh(a), b)), a, b);
    }
    for (int s = 0; s < COUNT(sizes); s++) {
        const tarn_tensor a = numbers(r, TARN_SHAPE(17, sizes[s]));
        const tarn_tensor b = numbers(r, TARN_SHAPE(9, 17));
        COMPILE(tarn_matmul(tarn_transpose(a, 0, 1), tarn_transpose(b, 0, 1)), a, b);
    }
    close_device(r);
}

/* ---- windows -------------------------------------------------------------------------------- */

static void convolutions(void)
{
    static const struct {
        int in, out, window, side;
        tarn_conv2d_options options;
    } all[] = {
        { 3, 4, 1, 5, { .groups = 1 } },
        { 1, 10, 5, 12, { .groups = 1 } },
        { 8, 16, 3, 8, { .padding = { 1, 1 } } }, /* may be Winograd's, as the next two */
        { 16, 8, 5, 12, { .padding = { 2, 2 } } },
        { 8, 8, 3, 9, { .groups = 1 } },
        { 2, 3, 3, 9, { .padding = { 1, 2 } } },
        { 2, 3, 3, 9, { .stride = { 2, 3 } } },
        { 8, 8, 3, 8, { .stride = { 2, 2 }, .padding = { 1, 1 } } },
        { 2, 3, 3, 7, { .padding = { 1, 1 }, .dilation = { 2, 1 } } },
        { 4, 6, 3, 5, { .groups = 2 } },
        { 5, 5, 3, 5, { .padding = { 1, 1 }, .groups = 5 } },
        { 4, 6, 2, 9, { { 2, 1 }, { 1, 2 }, { 1, 2 }, 2 } },
    };
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++)
        for (int i = 0; i < COUNT(all); i++) {
            const tarn_conv2d_options o = all[i].options;
            const int in = all[i].in / (o.groups > 0 ? o.groups : 1), k = all[i].window;
            const tarn_tensor x =
                numbers(r, TARN_SHAPE(sizes[s], all[i].in, all[i].side, all[i].side));
            const tarn_tensor w = numbers(r, TARN_SHAPE(all[i].out, in, k, k));
            const tarn_tensor b = numbers(r, TARN_SHAPE(all[i].out));
            COMPILE(tarn_relu(tarn_conv2d_op(x, w, b, o)), x, w, b);
        }
    close_device(r);
}

static void pools(void)
{
    static const tarn_pool_options all[] = {
        { .window = { 2, 2 } },
        { .window = { 3, 3 }, .stride = { 2, 2 } },
        { .window = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } },
        { .window = { 2, 3 }, .stride = { 1, 1 }, .padding = { 1, 1 } },
        { .window = { 3 },
          .stride = { 2 },
          .padding = { 1, 1 },
          .round_up = true,
          .exclude_padding = true },
    };
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++)
        for (int i = 0; i < COUNT(all); i++) {
            const tarn_shape shape = TARN_SHAPE(sizes[s], 2, 7, 8);
            const tarn_tensor x = numbers(r, shape);
            COMPILE(tarn_max_pool2d_with(x, all[i]), x);
            const tarn_tensor y = numbers(r, shape);
            COMPILE(tarn_avg_pool2d_with(tarn_exp(y), all[i]), y);
        }
    close_device(r);
}

static void volumes(void)
{
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++) {
        const tarn_shape shape = TARN_SHAPE(sizes[s], 2, 4, 5, 6);
        tarn_tensor x = numbers(r, shape), w = numbers(r, TARN_SHAPE(3, 2, 3, 3, 3));
        COMPILE(tarn_relu(tarn_conv3d_op(x, w, TARN_NONE,
                                         (tarn_conv3d_options){ .padding = { 1, 1, 1 } })),
                x, w);
        x = numbers(r, shape), w = numbers(r, TARN_SHAPE(2, 3, 2, 3, 3));
        COMPILE(tarn_conv_transpose3d_op(x, w, TARN_NONE,
                                         (tarn_conv_transpose3d_options){ .stride = { 2 } }),
                x, w);
        x = numbers(r, shape);
        COMPILE(tarn_max_pool3d(
                    x, (tarn_pool3d_options){ .window = { 3 }, .stride = { 2 }, .round_up = true }),
                x);
        x = numbers(r, TARN_SHAPE(sizes[s], 3, 7, 5));
        COMPILE(tarn_adaptive_avg_pool2d(x, 3, 4), x);
    }
    close_device(r);
}

/* ---- gathers, soft-max, losses -------------------------------------------------------------- */

static void gathers(void)
{
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++) {
        const tarn_tensor table = numbers(r, TARN_SHAPE(11, 6));
        COMPILE(tarn_embedding(table, integers(r, TARN_SHAPE(sizes[s]), 11, TARN_I32)), table);
        const tarn_tensor wide = numbers(r, TARN_SHAPE(300, 16));
        COMPILE(tarn_embedding(wide, integers(r, TARN_SHAPE(sizes[s], 5), 300, TARN_I32)), wide);
        const tarn_shape many = TARN_SHAPE(sizes[s], 40), few = TARN_SHAPE(sizes[s], 3);
        tarn_tensor rows = numbers(r, many);
        COMPILE(tarn_gather(rows, 1, integers(r, few, 40, TARN_I32)), rows);
        rows = numbers(r, many);
        const tarn_tensor terms = numbers(r, few);
        COMPILE(tarn_scatter_add(rows, 1, integers(r, few, 40, TARN_I32), terms), rows, terms);
        rows = numbers(r, many);
        const tarn_tensor some = numbers(r, few);
        COMPILE(tarn_scatter_max(rows, 1, integers(r, few, 40, TARN_I32), some), rows, some);
        rows = numbers(r, many);
        COMPILE(tarn_sort(rows, 1, true, NULL), rows);
        rows = numbers(r, many);
        COMPILE(tarn_cumprod(rows, 1), rows);
        compile(tarn_searchsorted(numbers(r, TARN_SHAPE(40)), numbers(r, few), true), NULL, 0);
        rows = numbers(r, many);
        COMPILE(tarn_cumsum(rows, 0), rows);
        compile(tarn_one_hot(integers(r, TARN_SHAPE(sizes[s]), 10, TARN_U8), 10), NULL, 0);
        compile(tarn_one_hot(integers(r, TARN_SHAPE(sizes[s], 3), 7, TARN_I32), 7), NULL, 0);
    }
    close_device(r);
}

static void losses(void)
{
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++) {
        const tarn_shape shape = TARN_SHAPE(sizes[s], 10), count = TARN_SHAPE(sizes[s]);
        tarn_tensor x, y;
        for (int axis = 0; axis < 2; axis++) {
            x = numbers(r, shape);
            COMPILE(tarn_softmax(x, axis), x);
            x = numbers(r, shape);
            COMPILE(tarn_log_softmax(x, axis), x);
        }
        x = numbers(r, shape);
        COMPILE(tarn_nll_loss(x, integers(r, count, 10, TARN_I32)), x);
        x = numbers(r, shape);
        COMPILE(tarn_cross_entropy(x, integers(r, count, 10, TARN_U8)), x);
        x = numbers(r, shape), y = numbers(r, shape);
        COMPILE(tarn_mse_loss(x, y), x, y);
    }
    close_device(r);
}

/* ---- norms, random numbers ------------------------------------------------------------------ */

static void norms(void)
{
    for (int s = 0; s < COUNT(sizes); s++)
        for (int training = 0; training < 2; training++) {
            tarn_replica *r = open_device();
            const tarn_batch_norm flat = tarn_batch_norm_make(r, "flat", 6);
            const tarn_batch_norm image = tarn_batch_norm_make(r, "image", 3);
            const tarn_layer_norm last = tarn_layer_norm_make(r, "last", 33);
            tarn_train(r, training);
            tarn_tensor x = numbers(r, TARN_SHAPE(sizes[s], 6));
            COMPILE(tarn_batch_norm_forward(&flat, x), x, flat.weight, flat.bias);
            x = numbers(r, TARN_SHAPE(sizes[s], 3, 5, 4));
            COMPILE(tarn_batch_norm_forward(&image, tarn_exp(x)), x, image.weight, image.bias);
            x = numbers(r, TARN_SHAPE(sizes[s], 33));
            COMPILE(tarn_layer_norm_forward(&last, x), x, last.weight, last.bias);
            x = numbers(r, TARN_SHAPE(sizes[s], 5, 7));
            const tarn_tensor w = numbers(r, TARN_SHAPE(5, 7)), b = numbers(r, TARN_SHAPE(5, 7));
            COMPILE(tarn_layer_norm_op(tarn_exp(x), w, b, 1e-5f), x, w, b);
            close_device(r);
        }
}

static void leaves(void)
{
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++) {
        const tarn_shape shape = TARN_SHAPE(sizes[s], 5);
        tarn_seed(r, 7);
        compile(tarn_rand(r, shape), NULL, 0);
        compile(tarn_add(tarn_arange(r, 5), tarn_arange(r, 5)), NULL, 0);
        compile(tarn_add(tarn_ones(r, shape), tarn_full(r, TARN_SCALAR, 0.3f)), NULL, 0);
        const tarn_tensor x = numbers(r, shape);
        COMPILE(tarn_dropout(tarn_exp(x), 0.25f), x);
        const tarn_tensor kept = tarn_keep(tarn_zeros(r, shape));
        tarn_assign(kept, tarn_add(kept, tarn_rand(r, shape)));
        must(r, tarn_step(r));
        tarn_assign(kept, tarn_slice(tarn_concat((tarn_tensor[]){ kept, kept }, 2, 1), 1, 2, 7, 1));
        must(r, tarn_step(r));
        tarn_drop(kept);
    }
    close_device(r);
}

/* ---- gradients of gradients ----------------------------------------------------------------- */

/* Of one tensor x [n, 4, 6, 6]. */
typedef tarn_tensor layer_fn(tarn_tensor x);

static tarn_tensor by_division(tarn_tensor x)
{
    return tarn_div(tarn_sigmoid(x), tarn_add_scalar(tarn_pow_scalar(x, 2.0f), 1.0f));
}

static tarn_tensor by_product(tarn_tensor x)
{
    return tarn_matmul(x, tarn_transpose(x, 2, 3));
}

static tarn_tensor by_softmax(tarn_tensor x)
{
    return tarn_softmax(tarn_flatten(x, 1), 1);
}

static tarn_tensor by_reductions(tarn_tensor x)
{
    const tarn_tensor highest = tarn_max(x, TARN_AXES(0), true);
    return tarn_mul(tarn_sub(x, highest), tarn_var(x, TARN_AXES(2, 3), 0, true));
}

static tarn_tensor by_convolution(tarn_tensor x)
{
    const tarn_tensor w = tarn_reshape(tarn_slice(x, 0, 0, 2, 1), TARN_SHAPE(2, 4, 6, 6));
    const tarn_conv2d_options o = { .stride = { 2, 1 }, .padding = { 1, 1 } };
    return tarn_conv2d_op(x, tarn_slice(tarn_slice(w, 2, 0, 3, 1), 3, 0, 3, 1), TARN_NONE, o);
}

static tarn_tensor by_norm(tarn_tensor x)
{
    const tarn_tensor w = tarn_full(x.replica, TARN_SHAPE(6), 1.5f);
    return tarn_layer_norm_op(x, w, tarn_tanh(w), 1e-5f);
}

static tarn_tensor by_views(tarn_tensor x)
{
    const tarn_tensor p = tarn_permute(tarn_exp(x), TARN_AXES(0, 3, 1, 2));
    const tarn_tensor s = tarn_slice(p, 1, 1, 6, 2);
    return tarn_concat((tarn_tensor[]){ s, tarn_gelu(p) }, 2, 1);
}

static void second(void)
{
    static layer_fn *const all[] = { by_division,    by_product, by_softmax, by_reductions,
                                     by_convolution, by_norm,    by_views };
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++)
        for (int i = 0; i < COUNT(all); i++) {
            const tarn_tensor x = numbers(r, TARN_SHAPE(sizes[s], 4, 6, 6));
            tarn_tensor first;
            tarn_gradients(squares(all[i](x)), &x, 1, &first);
            COMPILE(first, x);
        }
    close_device(r);
}

const struct program layer_programs[] = {
    { "ops-products", products },
    { "ops-convolutions", convolutions },
    { "ops-pools", pools },
    { "ops-volumes", volumes },
    { "ops-gathers", gathers },
    { "ops-losses", losses },
    { "ops-norms", norms },
    { "ops-leaves", leaves },
    { "ops-second-gradients", second },
    { 0 },
};
