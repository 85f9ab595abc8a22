/* SPDX-License-Identifier: Apache-2.0 */
/* A safetensors file in memory: a checked header and the bytes of all tensors. */
#ifndef TARN_WEIGHT_FILE_H
#define TARN_WEIGHT_FILE_H

#include "file/safetensors.h"

struct tarn_weight_file {
    struct safetensors head;
    uint8_t *data;
};

/* Takes memory for the data once header and size agree, and compares checksums. Nothing is left
 * in `out` on failure. */
TARN_CHECKED tarn_status weight_file_read(const char *path, struct tarn_weight_file *out);
/* The same of an open file, which it closes; `path` is for messages. */
TARN_CHECKED tarn_status weight_file_read_open(int fd, const char *path,
                                               struct tarn_weight_file *out);
void weight_file_release(struct tarn_weight_file *f);

#endif
