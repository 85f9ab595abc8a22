/* SPDX-License-Identifier: Apache-2.0 */
/* A list of differences between a file and a model that fits into an error line. */
#ifndef TARN_DIFFERENCES_H
#define TARN_DIFFERENCES_H

#include <stddef.h>

#include "tarn.h"
#include "error.h"
#include "file/safetensors.h"

struct differences {
    char text[800];
    size_t used;
    unsigned count, left_out;
};

void differ(struct differences *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* TARN_OK when there is none; else the line that refuses the file. */
TARN_CHECKED tarn_status differences_status(const struct differences *d, const char *path);
/* An entry's type and shape, "F32 [2,3]". */
void entry_text(const struct safetensors_entry *e, char *out, size_t capacity);

#endif
