/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written as a whole, or not at all. */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a text and then bytes to another name, syncs, and renames it, so that nobody sees half of a file.
 * False with errno. */
bool whole_file_write(const char *path, const char *head, const void *bytes, size_t count);

#endif
