/* SPDX-License-Identifier: Apache-2.0 */
/* All tensors that replicas must share, by name, and one hash of them. */
#ifndef TENSORS_H
#define TENSORS_H

#include <tarn_dist.h>

/* Begin with the replica alone set. */
struct tensor_walk {
    tarn_replica *replica;
    int next;
    char name[256];
    tarn_tensor tensor;
    size_t bytes;
};

/* The next of parameters and buffers, their momentum, and the optimizer's step; false at the end. */
bool tensor_next(struct tensor_walk *w);

/* XXH3 of this replica's names and elements. Waits. */
tarn_status tensors_hash(tarn_replica *r, uint64_t *hash);
/* The hashes of all replicas, in rank order. Collective. Waits. */
tarn_status tensors_gather(tarn_replica *r, uint64_t *hashes);

#endif
