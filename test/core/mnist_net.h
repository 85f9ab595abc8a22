/* SPDX-License-Identifier: Apache-2.0 */
/* The MNIST network that several tests train, and samples whose labels can be learnt. */
#ifndef TARN_TEST_MNIST_NET_H
#define TARN_TEST_MNIST_NET_H

#include <stdint.h>

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

/* The hash and the samples of test/golden/generate.py. */
static inline uint32_t mnist_mix(uint32_t z)
{
    z = (z ^ z >> 16) * 0x7feb352du;
    z = (z ^ z >> 15) * 0x846ca68bu;
    return z ^ z >> 16;
}

/* Samples first, first + 1, ...: x [n, 1, 28, 28], y [n]. */
static inline void mnist_samples(uint32_t first, uint32_t n, float *x, int32_t *y)
{
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t i = first + j, label = mnist_mix(i + 0x40000000u) % 10;
        y[j] = (int32_t)label;
        for (uint32_t p = 0; p < 784; p++) {
            const uint32_t noise = mnist_mix(784 * i + p) >> 24, row = p / 28;
            const bool bright = row >= 2 * label + 4 && row < 2 * label + 6;
            x[784 * j + p] = (float)(noise / 2 + (bright ? 128 : 0)) / 256 - 0.5f;
        }
    }
}

#endif
