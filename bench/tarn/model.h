/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the examples, to be trained on one batch that is on the device (bench_step.c). */
#ifndef MODEL_H
#define MODEL_H

#include "bench.h"
#include "network.h"

struct model {
    tarn_replica *replica;
    struct net net;
    tarn_optimizer *sgd;
    tarn_tensor x, y;
};

tarn_status model_make(struct model *m, int batch);
/* One training step; `arg` is the model. */
tarn_status model_step(void *arg);

#endif
