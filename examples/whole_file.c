/* SPDX-License-Identifier: Apache-2.0 */
#include "whole_file.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool whole_file_write(const char *path, const char *head, const void *bytes, size_t count)
{
    char other[PATH_MAX];
    const int n = snprintf(other, sizeof other, "%s.tmp", path);
    FILE *f = n > 0 && (size_t)n < sizeof other ? fopen(other, "wb") : NULL;
    if (f == NULL)
        return false;
    bool good = fputs(head, f) >= 0 && fwrite(bytes, 1, count, f) == count && fflush(f) == 0 &&
                fsync(fileno(f)) == 0;
    good = fclose(f) == 0 && good && rename(other, path) == 0;
    if (!good)
        (void)remove(other);
    return good;
}
