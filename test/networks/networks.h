/* SPDX-License-Identifier: Apache-2.0 */
/* Networks as a user writes them, small, to be held to PyTorch's: networks.py has the same ones. */
#ifndef TARN_NETWORKS_H
#define TARN_NETWORKS_H

#include <tarn.h>

enum { NETWORK_ARRAYS = 2 };

/* One input or target of a sample. Numbers are uniform in +-1/2; whole numbers from 0 to classes - 1. */
struct network_array {
    int32_t classes; /* 0: numbers */
    int rank;
    int32_t dim[3];
};

struct network {
    const char *name;
    struct network_array inputs[NETWORK_ARRAYS],
        targets[NETWORK_ARRAYS]; /* rank 0 and no classes: none */
    /* A network that makes its layers at their first use: its loss, its optimizer, and the norm to which
     * gradients are clipped (0: they are not). */
    tarn_tensor (*loss)(const tarn_batch *b);
    tarn_optimizer *(*optimizer)(tarn_replica *r);
    float clip;
    /* Or one whose layers and optimizers are a struct of so many bytes. Makes the layers, and then the
     * optimizers. */
    size_t bytes;
    void (*make)(tarn_replica *r, void *model);
    void (*optimize)(tarn_replica *r, void *model);
    /* Records a training step up to the optimizer's, and returns the loss. */
    tarn_tensor (*train)(tarn_replica *r, void *model, const tarn_batch *b);
};

/* Lists that end with a network without a name, one of each file. */
extern const struct network image_networks[], generative_networks[], attention_networks[],
    recurrent_networks[];

#endif
