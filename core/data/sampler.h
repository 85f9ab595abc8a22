/* SPDX-License-Identifier: Apache-2.0 */
/* The order of samples in an epoch: a function of seed and epoch only; and how that order is cut
 * into batches, and a batch into the parts of the replicas. */
#ifndef TARN_SAMPLER_H
#define TARN_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Fills `order` with a uniformly random permutation of 0..n-1 keyed by (seed, epoch). */
void sampler_permute(int32_t *order, int32_t n, uint64_t seed, uint64_t epoch);
/* A number in 0..bound-1, all equally likely, from the generator's counters from *counter on. */
uint32_t sampler_below(uint32_t bound, uint64_t key, uint64_t *counter);

/* How an epoch of `size` samples is cut into batches, the same for every number of replicas. */
struct sampler_cut {
    int32_t size, batch;
    bool drop_last; /* no last, smaller batch */
    bool pad_last;  /* the last batch is whole: it goes on with the first samples of the order */
    bool equal;     /* parts are equal: of a batch that does not divide every replica has all */
};

/* Batches in an epoch. */
int32_t sampler_length(const struct sampler_cut *c);
/* Samples in batch `index`, which is below the length. */
int32_t sampler_batch(const struct sampler_cut *c, uint64_t index);
/* The part of a batch of n samples that is replica `rank`'s: contiguous, joined in the order of
 * ranks the whole batch, equal but for one sample at most, and perhaps empty. */
void sampler_part(int32_t n, int rank, int world, int32_t *first, int32_t *count);
/* The same of a batch of the cut, which may want equal parts. */
void sampler_share(const struct sampler_cut *c, int32_t n, int rank, int world, int32_t *first,
                   int32_t *count);
/* The largest part of an epoch for `rank`: not always that of the largest batch. */
int32_t sampler_most(const struct sampler_cut *c, int rank, int world);

#endif
