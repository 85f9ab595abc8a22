/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the examples, for images [N, 1, 28, 28] of 10 classes, and images for it. */
#ifndef TARN_TEST_CORPUS_MNIST_H
#define TARN_TEST_CORPUS_MNIST_H

#include <tarn.h>

struct net {
    tarn_conv2d conv1, conv2;
    tarn_batch_norm bn1, bn2;
    tarn_linear fc1, fc2;
};

struct net net_make(tarn_replica *r);
/* Log-probabilities [N, 10]. */
tarn_tensor net_forward(const struct net *n, tarn_tensor x);

#define DIGITS 384
/* So many black images. */
tarn_dataset *digits_open(void);

#endif
