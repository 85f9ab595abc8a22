/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs over the public API, for scripts/same-kernels: what they compile is compared
 * between two versions of the library. So they include public headers only, and compute nothing
 * of interest. */
#ifndef TARN_TEST_CORPUS_H
#define TARN_TEST_CORPUS_H

#include <tarn.h>

struct program {
    const char *name;
    void (*run)(void);
};

/* Those of each file; the last has no name. */
extern const struct program mnist_programs[], launch_programs[], fuse_programs[], image_programs[],
    sequence_programs[], op_programs[], layer_programs[];

/* Ends the process with the error's line unless `status` is TARN_OK. NULL: the thread's error. */
void must(const tarn_replica *r, tarn_status status);
tarn_replica *open_device(void);
/* Waits for the device and closes it. */
void close_device(tarn_replica *r);

/* Tensors of this step; what is in them is of no consequence. */
tarn_tensor numbers(tarn_replica *r, tarn_shape shape);
tarn_tensor positive(tarn_replica *r, tarn_shape shape);
/* 0 .. classes - 1, of type int32 or uint8. */
tarn_tensor integers(tarn_replica *r, tarn_shape shape, int classes, tarn_dtype dtype);

/* The sum of squares: a scalar to take gradients of. */
tarn_tensor squares(tarn_tensor y);
/* One plan of y and the gradients of its squares in `count` inputs. Ends the step. */
void compile(tarn_tensor y, const tarn_tensor *in, int count);
#define COMPILE(y, ...) \
    compile(y, (const tarn_tensor[]){ __VA_ARGS__ }, \
            (int)(sizeof((const tarn_tensor[]){ __VA_ARGS__ }) / sizeof(tarn_tensor)))
/* Backward, update, step mark; then reads the loss, as a user who prints it. */
void train(tarn_optimizer *o, tarn_tensor loss);

#endif
