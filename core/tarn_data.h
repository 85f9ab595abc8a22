/* SPDX-License-Identifier: Apache-2.0 */
/** Data sets, and loaders that bring their batches to the device.
 *  Part of tarn.h, which includes it. */
#ifndef TARN_DATA_H
#define TARN_DATA_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A data set in host memory: N samples of `bytes` uint8 values each, labels 0..classes-1. */
typedef struct tarn_dataset tarn_dataset;

/** Reads IDX files, plain or gzip. Refuses damaged, oversized and mismatched files, and labels
 *  outside 0..classes-1, before memory is taken for them. NULL on failure: tarn_error(NULL). */
TARN_API tarn_dataset *tarn_idx_open(const char *images, const char *labels, int classes);
/** MNIST's four file names in one folder (with or without .gz): the training or the test pair. */
TARN_API tarn_dataset *tarn_mnist_open(const char *folder, bool train);
/** `count` reproducible synthetic samples of MNIST's form, whose labels can be learnt. */
TARN_API tarn_dataset *tarn_dataset_fake(int count, uint64_t seed);
TARN_API void tarn_dataset_close(tarn_dataset *d);
TARN_API int tarn_dataset_size(const tarn_dataset *d);
TARN_API int tarn_dataset_classes(const tarn_dataset *d);
/** Shape of one sample, [1, 28, 28] for MNIST. */
TARN_API tarn_shape tarn_dataset_sample_shape(const tarn_dataset *d);
/** Borrowed pointers to all samples and labels. */
TARN_API const uint8_t *tarn_dataset_samples(const tarn_dataset *d);
TARN_API const uint8_t *tarn_dataset_labels(const tarn_dataset *d);

/** Zero means: batch 128, in order, seed 0, last smaller batch delivered, 3 batches ahead, MNIST's
 *  mean 0.1307 and deviation 0.3081.
 *
 *  `batch` is that of all replicas together (tarn_dist.h). Of a batch of n samples, replica `rank`
 *  of `world` gets those from n * rank / world to n * (rank + 1) / world, rounded down, in the order
 *  that one device would see, so that any number of devices sees the same batches. Open it with the
 *  same options on every replica.
 *
 *  With several replicas: `batch` is at least one sample for each. Shuffled, for training, `world`
 *  must divide a last, smaller batch, or choose drop_last or pad_last. In order, for evaluation, its
 *  parts may differ by one sample, so that every sample counts once; a replica whose part would be
 *  empty ends its epoch one batch before the others, so add up over replicas after the loop.
 *  With V virtual shards: whole batches, and shuffled a last smaller one, are multiples of 16 * V.
 *  tarn_loader_open refuses what differs. */
typedef struct tarn_loader_options {
    int32_t batch;
    bool shuffle;   /* permutation by a counter-based generator keyed by (seed, epoch) */
    bool drop_last; /* leave out a last, smaller batch */
    bool pad_last;  /* fill it with the epoch's first samples, which are seen again */
    uint64_t seed;
    int32_t prefetch;
    float mean, deviation;
} tarn_loader_options;

typedef struct tarn_loader tarn_loader;
typedef struct tarn_batch {
    tarn_tensor
        x; /* float32 [n, 1, 28, 28], normalised on the device: (v / 255 - mean) / deviation */
    tarn_tensor y;  /* int32 [n] */
    int32_t n;      /* samples in x and y: this replica's part */
    int32_t global; /* samples in the parts of all replicas: n / global is the part's weight */
} tarn_batch;

/** Opens a loader that prepares and uploads batches on a thread of its own. Starts at epoch 0.
 *  `d` must outlive it. NULL on failure (the error sticks to the replica). */
TARN_API tarn_loader *tarn_loader_open(tarn_replica *r, const tarn_dataset *d,
                                       tarn_loader_options options);
/** The next batch, for this step only. False at the epoch's end or on error; the call after that
 *  begins the next epoch. */
TARN_API bool tarn_loader_next(tarn_loader *l, tarn_batch *out);
/** Jumps to the start of an epoch, or into its middle (after `batches` batches), for a resume, also
 *  with another number of replicas. */
TARN_API void tarn_loader_seek(tarn_loader *l, uint64_t epoch, uint64_t batches);
TARN_API uint64_t tarn_loader_epoch(const tarn_loader *l);
/** Batches in an epoch: the same on all replicas. */
TARN_API int tarn_loader_length(const tarn_loader *l);
TARN_API void tarn_loader_close(tarn_loader *l);

#ifdef __cplusplus
}
#endif

#endif
