/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tensors that test/golden/generate.py wrote; shares no code with the library's reader.
 */
#ifndef TARN_TEST_GOLDEN_H
#define TARN_TEST_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#include "tarn.h"

/* Folder of the .safetensors files, as seen from where the tests run. */
#ifndef TARN_GOLDEN_DIR
#define TARN_GOLDEN_DIR "test/golden"
#endif

struct golden;

struct golden_tensor {
    tarn_shape shape;
    tarn_dtype dtype;
    const void *data; /* NULL: there is no such tensor */
    size_t count;
};

/* NULL when the file cannot be read; says why on stderr. */
struct golden *golden_open(const char *file);
void golden_close(struct golden *g);
struct golden_tensor golden_find(const struct golden *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The training batch `step` of generate.py: pixels float32 [size, 1, 28, 28], labels int32. */
void golden_batch(int step, int size, float *pixels, int32_t *labels);

#endif
