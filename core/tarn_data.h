/* SPDX-License-Identifier: Apache-2.0 */
/** Data sets, and loaders that bring their batches to the device. docs/data.md has whole programs.
 *  Part of tarn.h, which includes it. */
#ifndef TARN_DATA_H
#define TARN_DATA_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data sets ------------------------------------------------------------------------------ */

/** Samples, each of one or more inputs and of any number of targets, in host memory or from a function.
 *  Several replicas and loaders may read one at a time. */
typedef struct tarn_dataset tarn_dataset;

/** Most inputs, and most targets, of a sample. */
#define TARN_DATA_MOST 8

/** One input, or one target, of all samples: axis 0 of `shape` counts the samples, the other axes (at
 *  most 7) are those of one sample, row-major. [50000, 3, 32, 32] holds images, [50000] a number for
 *  each. */
typedef struct tarn_array {
    const void
        *data; /* borrowed until tarn_dataset_close, never copied; NULL for tarn_dataset_call */
    tarn_dtype dtype; /* any; numbers of half types as their bits */
    tarn_shape shape;
    int32_t classes; /* integers are 0 .. classes - 1 (of tokens: the vocabulary); 0: unchecked */
} tarn_array;

/** What a data set holds. An array without a shape (rank 0) is none, and the last of its list has been
 *  before it; one input at least, targets at will; the same number of samples in all.
 *
 *      tarn_dataset_from((tarn_arrays){
 *          .inputs = { { .data = images, .dtype = TARN_U8,
 *                        .shape = TARN_SHAPE(50000, 3, 32, 32) } },
 *          .targets = { { .data = labels, .dtype = TARN_U8, .shape = TARN_SHAPE(50000),
 *                         .classes = 10 } } }); */
typedef struct tarn_arrays {
    tarn_array inputs[TARN_DATA_MOST], targets[TARN_DATA_MOST];
} tarn_arrays;

/** A data set of arrays in memory. NULL on failure, with the array, and of a value outside its classes
 *  the sample, in tarn_error(NULL): arrays that are NULL, without samples, of unequal counts or of
 *  sizes that no memory has. */
TARN_API TARN_MUST_USE tarn_dataset *tarn_dataset_from(tarn_arrays arrays);

/** Where a callback writes one sample: memory for each input and target, of the type and shape (without
 *  axis 0) that tarn_dataset_call was told, all zeros before the call. NULL for those that are not. */
typedef struct tarn_sample {
    void *inputs[TARN_DATA_MOST], *targets[TARN_DATA_MOST];
} tarn_sample;
/** Writes sample `index`. 0, or another number, which the error then shows. Called on the threads of
 *  loaders, of as many as they have, for several samples at the same time. */
typedef int (*tarn_sample_fn)(void *user, int32_t index, const tarn_sample *out);
/** A data set whose samples come from a function, for what does not fit into memory. `data` of all
 *  arrays is NULL. A sample that fails, has a value outside its classes, or does not come within the
 *  timeout (of the launch, or TARN_TIMEOUT), is the loader's error, which names it. `user` must stay valid as long as a
 *  call lasts, even one that the loader has given up. NULL on failure as tarn_dataset_from. */
TARN_API TARN_MUST_USE tarn_dataset *tarn_dataset_call(tarn_arrays arrays, tarn_sample_fn get,
                                                       void *user);

/** A data set of one batch, the n samples of `arrays`, delivered `times` times: sample i is that of
 *  place i % n. A loader's batch is n unless its options say otherwise. Borrows as tarn_dataset_from. */
TARN_API TARN_MUST_USE tarn_dataset *tarn_dataset_repeat(tarn_arrays arrays, int32_t times);

/** Reads IDX files of bytes, plain or gzip: samples of 1 to 4 dimensions with the count ([n, h, w] is
 *  n samples of [1, h, w]) and a label each. Refuses damaged, oversized and mismatched files, and
 *  labels outside 0..classes-1, before memory is taken for them. NULL on failure: tarn_error(NULL). */
TARN_API TARN_MUST_USE tarn_dataset *tarn_idx_open(const char *images, const char *labels,
                                                   int classes);
/** MNIST's four file names in one folder (with or without .gz): the training or the test pair. */
TARN_API TARN_MUST_USE tarn_dataset *tarn_mnist_open(const char *folder, bool train);

/** After all its loaders. NULL is a no-op. */
TARN_API void tarn_dataset_close(tarn_dataset *d);
/** Number of samples. */
TARN_API int tarn_dataset_size(const tarn_dataset *d);
/** `classes` of the first target; 0 for none. */
TARN_API int tarn_dataset_classes(const tarn_dataset *d);
/** Shape of one sample's first input, [1, 28, 28] for MNIST. */
TARN_API tarn_shape tarn_dataset_sample_shape(const tarn_dataset *d);
/** Borrowed pointer to all samples' first input, one sample after the other; NULL when they are not
 *  uint8 in memory. Valid until tarn_dataset_close. */
TARN_API const uint8_t *tarn_dataset_samples(const tarn_dataset *d);
/** The same of the first target, when that is one number a sample. */
TARN_API const uint8_t *tarn_dataset_labels(const tarn_dataset *d);

/* ---- loaders -------------------------------------------------------------------------------- */

/** Zero means: batch 128 (of tarn_dataset_repeat: its own), in order, seed 0, last smaller batch
 *  delivered, 3 batches ahead, one thread, mean 0 and deviation 1, no flip, no crop.
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
 *
 *  Mean, deviation, flip and crop are for the first input alone. What a sample's transforms draw
 *  depends on seed, epoch and the sample's number, and on nothing else: not on threads, on its place in
 *  a batch, or on the number of devices.
 *  tarn_loader_open refuses what differs. */
typedef struct tarn_loader_options {
    int32_t batch;
    bool shuffle;   /* permutation by a counter-based generator keyed by (seed, epoch) */
    bool drop_last; /* leave out a last, smaller batch */
    bool pad_last;  /* fill it with the epoch's first samples, which are seen again */
    uint64_t seed;
    int32_t prefetch; /* batches prepared ahead, at most 64 */
    /* uint8: (v / 255 - mean) / deviation, float32: (v - mean) / deviation, on the device. */
    float mean, deviation;
    const float *means, *deviations; /* one for each of `channels`, axis 0 of a sample; copied */
    int32_t channels;
    /* For samples [channels, height, width]: `pad` zeros on each side, then a window of this
     * height and width at a random place (0: as large as the sample; crop[1] 0: as crop[0]), then
     * mirrored from left to right with probability 1/2. */
    bool flip;
    int32_t pad, crop[2];
    int32_t threads; /* that prepare batches, at most 64 */
    /* In a launch with a mesh (tarn_dist.h): the axis along which the samples of a batch are shared out; default
     * "data". A batch that its ranks do not divide is loaded whole by all of them, and a line says so. */
    const char *axis;
} tarn_loader_options;

typedef struct tarn_loader tarn_loader;
typedef struct tarn_batch {
    tarn_tensor x; /* inputs[0] */
    tarn_tensor y; /* targets[0]; TARN_NONE when there is none */
    int32_t
        n; /* samples in x and y: this replica's part; in a launch with a mesh all, as x and y are
                       the whole batch then, of which each rank holds what lies at its place on the loader's axis */
    int32_t global; /* samples in the parts of all replicas: n / global is the part's weight */
    /* [n, a sample's shape] each. Inputs: uint8 and float32 as float32 (uint8 divided by 255),
     * int32 as it is. Targets: integers as int32, float32 as it is. */
    tarn_tensor inputs[TARN_DATA_MOST], targets[TARN_DATA_MOST];
    int input_count, target_count;
} tarn_batch;

/** Opens a loader that prepares and uploads batches on threads of its own. Starts at epoch 0.
 *  `d` must outlive it. NULL on failure (the error sticks to the replica). */
TARN_API TARN_MUST_USE tarn_loader *tarn_loader_open(tarn_replica *r, const tarn_dataset *d,
                                                     tarn_loader_options options);
/** The next batch, for this step only. False at the epoch's end or on error, which tarn_loader_status
 *  tells apart; the call after the end begins the next epoch, the call after an error (and
 *  tarn_error_clear) tries the same batch again. */
TARN_API bool tarn_loader_next(tarn_loader *l, tarn_batch *out);
/** How the last tarn_loader_next went: TARN_OK for a batch and for the end of an epoch, else the
 *  error, whose line tarn_error(replica) has. TARN_ERR_ARGUMENT for NULL. */
TARN_API TARN_MUST_USE tarn_status tarn_loader_status(const tarn_loader *l);
/** Jumps to the start of an epoch, or into its middle (after `batches` batches), for a resume, also
 *  with another number of replicas. */
TARN_API void tarn_loader_seek(tarn_loader *l, uint64_t epoch, uint64_t batches);
/** Number of the epoch under way. */
TARN_API uint64_t tarn_loader_epoch(const tarn_loader *l);
/** Batches in an epoch: the same on all replicas. */
TARN_API int tarn_loader_length(const tarn_loader *l);
/** Waits for what its threads are at, but for no callback longer than the timeout, and frees the
 *  loader. NULL is a no-op. */
TARN_API void tarn_loader_close(tarn_loader *l);

#ifdef __cplusplus
}
#endif

#endif
