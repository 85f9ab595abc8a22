/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the examples: training by every optimizer, evaluation, loaders. */
#include <stdlib.h>

#include "corpus.h"
#include "mnist.h"

struct net net_make(tarn_replica *r)
{
    const tarn_conv2d_options plain = { .groups = 1 };
    struct net n;
    n.conv1 = tarn_conv2d_make(r, "conv1", 1, 10, 5, plain);
    n.bn1 = tarn_batch_norm_make(r, "bn1", 10);
    n.conv2 = tarn_conv2d_make(r, "conv2", 10, 20, 5, plain);
    n.bn2 = tarn_batch_norm_make(r, "bn2", 20);
    n.fc1 = tarn_linear_make(r, "fc1", 320, 50);
    n.fc2 = tarn_linear_make(r, "fc2", 50, 10);
    return n;
}

tarn_tensor net_forward(const struct net *n, tarn_tensor x)
{
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv1, x), 2));
    x = tarn_batch_norm_forward(&n->bn1, x);
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv2, x), 2));
    x = tarn_batch_norm_forward(&n->bn2, x);
    x = tarn_relu(tarn_linear_forward(&n->fc1, tarn_flatten(x, 1)));
    return tarn_log_softmax(tarn_linear_forward(&n->fc2, x), 1);
}

tarn_dataset *digits_open(void)
{
    static uint8_t images[DIGITS * 28 * 28], labels[DIGITS];
    tarn_dataset *d = tarn_dataset_from((tarn_arrays){
        .inputs = { { .data = images, .dtype = TARN_U8, .shape = TARN_SHAPE(DIGITS, 1, 28, 28) } },
        .targets = {
            { .data = labels, .dtype = TARN_U8, .shape = TARN_SHAPE(DIGITS), .classes = 10 } } });
    if (d == NULL)
        must(NULL, TARN_ERR_ARGUMENT);
    return d;
}

static tarn_tensor loss_of(const struct net *n, tarn_replica *r, int batch)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 1, 28, 28));
    return tarn_nll_loss(net_forward(n, x), integers(r, TARN_SHAPE(batch), 10, TARN_I32));
}

/* ---- training ------------------------------------------------------------------------------- */

typedef tarn_optimizer *optimizer_fn(tarn_replica *r);

static tarn_optimizer *momentum(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
}

static tarn_optimizer *adam(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 0.001f });
}

/* Two steps of each size, with the first of which moments begin. */
static void train_sizes(optimizer_fn *optimizer)
{
    static const int sizes[] = { 128, 16, 1024, 100 };
    for (int i = 0; i < 4; i++) {
        tarn_replica *r = open_device();
        const struct net n = net_make(r);
        tarn_optimizer *o = optimizer(r);
        for (int step = 0; step < 2; step++)
            train(o, loss_of(&n, r, sizes[i]));
        close_device(r);
    }
}

static void train_sgd(void)
{
    train_sizes(momentum);
}

static void train_adam(void)
{
    train_sizes(adam);
}

/* One replica, and sizes in turns: plans come back. */
static void train_loader(void)
{
    tarn_dataset *d = digits_open();
    tarn_replica *r = open_device();
    const struct net n = net_make(r);
    tarn_optimizer *o = adam(r);
    tarn_loader *l = tarn_loader_open(
        r, d,
        (tarn_loader_options){
            .shuffle = true, .mean = 0.1307f, .deviation = 0.3081f, .flip = true, .pad = 2 });
    tarn_batch b;
    for (int epoch = 0; epoch < 2; epoch++)
        while (tarn_loader_next(l, &b))
            train(o, tarn_nll_loss(net_forward(&n, b.x), b.y));
    close_device(r);
    tarn_dataset_close(d);
}

/* ---- optimizers ----------------------------------------------------------------------------- */

static tarn_optimizer *plain(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f });
}

static tarn_optimizer *nesterov(tarn_replica *r)
{
    return tarn_sgd(r,
                    (tarn_sgd_options){
                        .lr = 0.01f, .momentum = 0.9f, .weight_decay = 1e-4f, .nesterov = true });
}

static tarn_optimizer *dampened(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.9f, .dampening = 0.1f });
}

static tarn_optimizer *decayed(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .weight_decay = 1e-4f });
}

static tarn_optimizer *adamw(tarn_replica *r)
{
    return tarn_adamw(r, (tarn_adam_options){ .beta1 = 0.8f });
}

static void train_optimizers(void)
{
    static optimizer_fn *const all[] = { plain, nesterov, dampened, decayed, adamw };
    for (int i = 0; i < 5; i++) {
        tarn_replica *r = open_device();
        const struct net n = net_make(r);
        tarn_optimizer *o = all[i](r);
        for (int step = 0; step < 3; step++) {
            tarn_optimizer_set_lr(o, tarn_lr_cosine(0.01f, (uint64_t)step, 3, 0.0f));
            train(o, loss_of(&n, r, 32));
        }
        close_device(r);
    }
}

/* Gradients over several steps, clipped before or after they are kept. */
static void train_accumulate(void)
{
    tarn_replica *r = open_device();
    const struct net n = net_make(r);
    tarn_optimizer *o = adam(r);
    for (int step = 0; step < 8; step++) {
        tarn_backward_weighted(loss_of(&n, r, 24), 0.25f);
        if (step > 3)
            tarn_clip_grad_norm(r, 1.0f);
        if (step % 4 == 3)
            tarn_optimizer_step(o);
        else
            tarn_optimizer_accumulate(o);
        must(r, tarn_step(r));
    }
    close_device(r);
}

/* ---- evaluation ----------------------------------------------------------------------------- */

static void evaluate(void)
{
    static const int sizes[] = { 128, 100, 1, 1000 };
    tarn_replica *r = open_device();
    const struct net n = net_make(r);
    const tarn_tensor right = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    tarn_train(r, false);
    for (int i = 0; i < 4; i++) {
        const tarn_tensor y = integers(r, TARN_SHAPE(sizes[i]), 10, TARN_U8);
        const tarn_tensor out = net_forward(&n, numbers(r, TARN_SHAPE(sizes[i], 1, 28, 28)));
        const tarn_tensor same = tarn_eq(tarn_argmax(out, 1, false), tarn_cast(y, TARN_I32));
        tarn_assign(right, tarn_add(right, tarn_sum(tarn_cast(same, TARN_F32), TARN_ALL, false)));
        (void)tarn_item(tarn_nll_loss(out, y));
        must(r, tarn_step(r));
    }
    (void)tarn_item(right);
    close_device(r);
}

const struct program mnist_programs[] = {
    { "mnist-sgd", train_sgd },
    { "mnist-adam", train_adam },
    { "mnist-loader", train_loader },
    { "mnist-optimizers", train_optimizers },
    { "mnist-accumulate", train_accumulate },
    { "mnist-evaluate", evaluate },
    { 0 },
};
