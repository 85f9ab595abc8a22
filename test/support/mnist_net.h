/* SPDX-License-Identifier: Apache-2.0 */
/* The network of examples/mnist.c, for tests that need a whole training step. */
#ifndef TARN_TEST_MNIST_NET_H
#define TARN_TEST_MNIST_NET_H

#include "tarn.h"

struct mnist_net {
    tarn_conv2d conv1, conv2;
    tarn_batch_norm bn1, bn2;
    tarn_linear fc1, fc2;
};

static inline struct mnist_net mnist_net_make(tarn_replica *r)
{
    const tarn_conv2d_options plain = { .groups = 1 };
    struct mnist_net n;
    n.conv1 = tarn_conv2d_make(r, "conv1", 1, 10, 5, plain);
    n.bn1 = tarn_batch_norm_make(r, "bn1", 10);
    n.conv2 = tarn_conv2d_make(r, "conv2", 10, 20, 5, plain);
    n.bn2 = tarn_batch_norm_make(r, "bn2", 20);
    n.fc1 = tarn_linear_make(r, "fc1", 320, 50);
    n.fc2 = tarn_linear_make(r, "fc2", 50, 10);
    return n;
}

static inline tarn_tensor mnist_net_loss(const struct mnist_net *n, tarn_tensor x, tarn_tensor y)
{
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv1, x), 2));
    x = tarn_batch_norm_forward(&n->bn1, x);
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv2, x), 2));
    x = tarn_batch_norm_forward(&n->bn2, x);
    x = tarn_relu(tarn_linear_forward(&n->fc1, tarn_flatten(x, 1)));
    return tarn_nll_loss(tarn_log_softmax(tarn_linear_forward(&n->fc2, x), 1), y);
}

#endif
