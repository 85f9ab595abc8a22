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
    size_t bytes;                /* of a model */
    /* Makes the layers, and then the optimizers. */
    void (*make)(tarn_replica *r, void *model);
    void (*optimize)(tarn_replica *r, void *model);
    /* Records a training step up to the optimizer's, and returns the loss. */
    tarn_tensor (*train)(tarn_replica *r, void *model, const tarn_batch *b);
};

/* Lists that end with a network without a name, one of each file. */
extern const struct network image_networks[], generative_networks[], attention_networks[],
    recurrent_networks[];

/* The usual step: backward, update. Returns the loss. */
tarn_tensor network_step(tarn_optimizer *o, tarn_tensor loss);
/* "layer1.0.conv1": a name of two parts. Valid until this thread's next call but three. */
const char *network_name(const char *prefix, const char *part);

#endif
