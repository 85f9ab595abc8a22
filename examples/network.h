/* SPDX-License-Identifier: Apache-2.0 */
/* The small convolutional network that the examples train: two convolutions with pooling and batch
 * norm, and two linear layers, for images [N, 1, 28, 28] and 10 classes. */
#ifndef NETWORK_H
#define NETWORK_H

#include <tarn.h>

struct net {
    tarn_conv2d conv1, conv2;
    tarn_batch_norm bn1, bn2;
    tarn_linear fc1, fc2;
};

/* Makes the layers on a replica, with fresh weights. */
struct net net_make(tarn_replica *r);
/* Log-probabilities [N, 10]. */
tarn_tensor net_forward(const struct net *n, tarn_tensor x);

#endif
