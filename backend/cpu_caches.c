/* SPDX-License-Identifier: Apache-2.0 */
/* The caches of this machine's processors, as Linux describes them. OpenCL's CPU devices say the
 * last level at best, which all cores share. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

enum { MOST_CACHES = 16 };

static bool read_line(const char *folder, int number, const char *name, char *out, int capacity)
{
    char path[512];
    snprintf(path, sizeof path, "%s/index%d/%s", folder, number, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const bool read = fgets(out, capacity, file) != NULL;
    (void)fclose(file);
    return read;
}

/* "48K", "2M" or plain bytes. */
static size_t bytes_of(const char *text)
{
    char *end;
    const unsigned long long count = strtoull(text, &end, 10);
    const int unit = toupper((unsigned char)*end);
    return (size_t)count << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

/* How many processors a list like "0-3,8,10-11" has; 1 where it cannot be read. */
static size_t sharers(const char *list)
{
    size_t count = 0;
    while (isdigit((unsigned char)*list)) {
        char *end;
        const long first = strtol(list, &end, 10),
                   last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        count += last >= first ? (size_t)(last - first) + 1 : 0;
        list = *end == ',' ? end + 1 : "";
    }
    return count > 0 ? count : 1;
}

void cpu_caches(const char *folder, size_t *first, size_t *second)
{
    char level[32], kind[32], size[32], shared[1024];
    for (int i = 0; i < MOST_CACHES; i++) {
        if (!read_line(folder, i, "level", level, sizeof level) ||
            !read_line(folder, i, "type", kind, sizeof kind) ||
            !read_line(folder, i, "size", size, sizeof size) || kind[0] == 'I')
            continue; /* no such cache, or one of instructions */
        size_t bytes = bytes_of(size);
        if (read_line(folder, i, "shared_cpu_list", shared, sizeof shared))
            bytes /= sharers(shared);
        if (bytes > 0 && atoi(level) == 1)
            *first = bytes;
        if (bytes > 0 && atoi(level) == 2)
            *second = bytes;
    }
}
