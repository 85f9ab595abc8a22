/* SPDX-License-Identifier: Apache-2.0 */
/* Sources that did not build: in the cache's folder, or in /tmp when there is none. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "opencl.h"

#define PREFIX "tarn-failed-"
#define MOST_KEPT 8

struct saved {
    struct timespec when;
    char name[64];
};

static bool is_saved(int folder, const char *name, struct saved *out)
{
    struct stat s;
    const size_t length = strlen(name);
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || length >= sizeof out->name ||
        fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode) ||
        s.st_uid != geteuid())
        return false;
    out->when = s.st_mtim;
    memcpy(out->name, name, length + 1);
    return true;
}

static bool is_older(const struct saved *a, const struct saved *b)
{
    return a->when.tv_sec != b->when.tv_sec ? a->when.tv_sec < b->when.tv_sec
                                            : a->when.tv_nsec < b->when.tv_nsec;
}

/* Removes all but the latest; other processes may do so, too. */
static void keep_latest(DIR *folder)
{
    struct saved kept[MOST_KEPT], next;
    int count = 0;
    for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        if (!is_saved(dirfd(folder), e->d_name, &next))
            continue;
        if (count < MOST_KEPT) {
            kept[count++] = next;
            continue;
        }
        int oldest = 0;
        for (int i = 1; i < count; i++)
            oldest = is_older(&kept[i], &kept[oldest]) ? i : oldest;
        struct saved out = next;
        if (is_older(&kept[oldest], &next)) {
            out = kept[oldest];
            kept[oldest] = next;
        }
        (void)!unlinkat(dirfd(folder), out.name, 0);
    }
}

static bool write_text(int file, const char *text)
{
    const size_t bytes = strlen(text);
    return write(file, text, bytes) == (ssize_t)bytes;
}

void failed_save(const char *source, char *path, size_t capacity)
{
    char folder[400] = "/tmp";
    const int at = cache_directory(folder, sizeof folder);
    if (at >= 0)
        close(at);
    const int length = snprintf(path, capacity, "%s/" PREFIX "XXXXXX.cl", folder);
    const int file = length > 0 && (size_t)length < capacity ? file_aside(mkstemps(path, 3)) : -1;
    const bool written = file >= 0 && write_text(file, source);
    if (file >= 0)
        close(file);
    if (file >= 0 && !written)
        (void)!unlink(path);
    if (!written)
        snprintf(path, capacity, "nothing, since %s cannot be written to", folder);
    DIR *all = opendir(folder);
    if (all != NULL) {
        keep_latest(all);
        closedir(all);
    }
}
