/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files are that belong to the library and are no part of it: plug-ins, its compiler. */
#ifndef TARN_NEAR_H
#define TARN_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/* Looks for a file beside the library, or beside the program that it is a part of; in `tarn` or `bin` below that;
 * where it would be installed. `path` is the file, or the last place that was tried. */
bool near_find(const char *name, char *path, size_t capacity);

#endif
