/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of untrusted IDX files of bytes, plain or gzip. */
#ifndef TARN_IDX_H
#define TARN_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "tarn.h"
#include "error.h"

#define IDX_MAX_RANK 4
#define IDX_MAX_BYTES ((size_t)1 << 31)

struct idx {
    uint32_t rank;
    uint32_t dim[IDX_MAX_RANK];
    uint8_t *data; /* for free() */
    size_t bytes;
};

/* Reads a whole file of `rank` dimensions (0: of any number up to IDX_MAX_RANK). Nothing is left in
 * `out` on failure. */
TARN_CHECKED tarn_status idx_read(const char *path, uint32_t rank, struct idx *out);

#endif
