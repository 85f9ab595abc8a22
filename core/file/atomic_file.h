/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are replaced as a whole or not at all, whatever happens meanwhile. */
#ifndef TARN_REPLACE_H
#define TARN_REPLACE_H

#include <limits.h>
#include <stddef.h>

#include "tarn.h"
#include "error.h"

struct atomic_file {
    const char *path;
    int folder, file; /* descriptors, or -1 */
    char target[NAME_MAX + 1], temporary[NAME_MAX + 1];
};

/* Makes an empty temporary file beside `path`, which must stay valid. On failure nothing is left
 * and there is nothing to end. */
TARN_CHECKED tarn_status atomic_file_begin(struct atomic_file *w, const char *path);
TARN_CHECKED tarn_status atomic_file_write(struct atomic_file *w, const void *from, size_t bytes);
/* Writes over the first bytes. */
TARN_CHECKED tarn_status atomic_file_start(struct atomic_file *w, const void *from, size_t bytes);
/* Syncs the file and gives it its name. When this returns TARN_OK, a power cut loses nothing. Ends
 * the replacement either way. */
TARN_CHECKED tarn_status atomic_file_commit(struct atomic_file *w);
/* Removes the temporary file; an older file stays. */
void atomic_file_abort(struct atomic_file *w);

#endif
