/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the compile cache, PoCL's part of it included, below TARN_CACHE_BYTES: the entries that were
 * used least recently leave. An entry is a file of ours, which is touched when it is loaded, or the
 * folder in which PoCL keeps a program, whose file "last_accessed" PoCL touches at each build.
 *
 * Other processes may use the cache at the same time. What was used in the last minutes stays: it may
 * be in the middle of a build. A process that built a program before that has it in memory; kernels
 * that were loaded stay mapped when their file goes, and PoCL compiles again what it does not find. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "env.h"
#include "opencl.h"

#define NAME_BYTES 80
#define DEPTH_MOST 6         /* of folders within an entry */
#define FRESH_SECONDS 600    /* unused for so long before an entry may leave */
#define BUILDS_BETWEEN 64    /* trims of one process */
#define TEMPORARY "tempfile" /* how PoCL calls what it has not finished */
#define GONE "gone-"         /* what an entry is called while it is being removed */

struct entry {
    char folder[16]; /* "." for ours, else "pocl/XX", or "pocl" of what PoCL did not finish */
    char name[NAME_BYTES];
    uint64_t bytes;
    time_t used;
};

struct survey {
    struct entry *list;
    size_t count, capacity;
    uint64_t bytes;
};

/* ---- trees ---------------------------------------------------------------------------------- */

static DIR *open_folder(int at, const char *name)
{
    const int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = folder >= 0 ? fdopendir(folder) : NULL;
    if (d == NULL && folder >= 0)
        close(folder);
    return d;
}

/* The next name but "." and ".."; NULL at the end. */
static const char *next_name(DIR *d)
{
    const struct dirent *e = readdir(d);
    while (e != NULL && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0))
        e = readdir(d);
    return e != NULL ? e->d_name : NULL;
}

/* Adds the disk space of a file, or of a folder and all in it, and finds its latest change. */
static void measure(int at, const char *name, int depth, struct entry *e)
{
    struct stat s;
    if (fstatat(at, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    e->bytes += (uint64_t)s.st_blocks * 512;
    e->used = s.st_mtime > e->used ? s.st_mtime : e->used;
    DIR *d = S_ISDIR(s.st_mode) && depth < DEPTH_MOST ? open_folder(at, name) : NULL;
    for (const char *in = d != NULL ? next_name(d) : NULL; in != NULL; in = next_name(d))
        measure(dirfd(d), in, depth + 1, e);
    if (d != NULL)
        closedir(d);
}

static void remove_tree(int at, const char *name, int depth)
{
    if (unlinkat(at, name, 0) == 0)
        return;
    DIR *d = depth < DEPTH_MOST ? open_folder(at, name) : NULL;
    for (const char *in = d != NULL ? next_name(d) : NULL; in != NULL; in = next_name(d))
        remove_tree(dirfd(d), in, depth + 1);
    if (d != NULL)
        closedir(d);
    (void)!unlinkat(at, name, AT_REMOVEDIR); /* what stays is tried again by the next trim */
}

/* ---- what there is -------------------------------------------------------------------------- */

static bool note(struct survey *s, int at, const char *folder, const char *name)
{
    if (s->count == s->capacity) {
        const size_t capacity = s->capacity > 0 ? 2 * s->capacity : 256;
        struct entry *bigger = realloc(s->list, capacity * sizeof *bigger);
        if (bigger == NULL)
            return false;
        s->list = bigger;
        s->capacity = capacity;
    }
    struct entry *e = &s->list[s->count];
    *e = (struct entry){ .bytes = 0 };
    if (strlen(name) >= sizeof e->name)
        return true;
    snprintf(e->folder, sizeof e->folder, "%s", folder);
    snprintf(e->name, sizeof e->name, "%s", name);
    measure(at, name, 0, e);
    s->bytes += e->bytes;
    s->count++;
    return true;
}

/* All but "lock" and sources that did not build, which are few. */
static bool is_own_entry(const char *name)
{
    return strlen(name) >= 32 && strspn(name, "0123456789abcdef") == 32;
}

static bool survey_own(int cache, struct survey *s)
{
    DIR *d = open_folder(cache, ".");
    bool good = d != NULL;
    for (const char *name = good ? next_name(d) : NULL; good && name != NULL; name = next_name(d)) {
        if (is_own_entry(name))
            good = note(s, dirfd(d), ".", name);
        else if (strncmp(name, GONE, strlen(GONE)) == 0)
            remove_tree(dirfd(d), name, 0); /* of a process that ended meanwhile */
    }
    if (d != NULL)
        closedir(d);
    return good;
}

/* A program's folder is pocl/XX/REST, of which XX are two letters of its hash. */
static bool survey_pocl(int cache, struct survey *s)
{
    DIR *all = open_folder(cache, "pocl");
    bool good = true;
    for (const char *two = all != NULL ? next_name(all) : NULL; good && two != NULL;
         two = next_name(all)) {
        char folder[16];
        if (strncmp(two, TEMPORARY, strlen(TEMPORARY)) == 0)
            good = note(s, dirfd(all), "pocl", two);
        DIR *d = strlen(two) == 2 ? open_folder(dirfd(all), two) : NULL;
        snprintf(folder, sizeof folder, "pocl/%.2s", two);
        for (const char *name = d != NULL ? next_name(d) : NULL; good && name != NULL;
             name = next_name(d))
            good = note(s, dirfd(d), folder, name);
        if (d != NULL)
            closedir(d);
    }
    if (all != NULL)
        closedir(all);
    return good;
}

/* ---- what leaves ---------------------------------------------------------------------------- */

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->used < y->used ? -1 : x->used > y->used;
}

static bool is_unfinished(const struct entry *e)
{
    return strncmp(e->name, TEMPORARY, strlen(TEMPORARY)) == 0;
}

/* Away under its name at once, so that nobody meets half of it. */
static void remove_entry(int cache, const struct entry *e)
{
    char gone[32];
    DIR *d = open_folder(cache, e->folder);
    snprintf(gone, sizeof gone, GONE "%ld", (long)getpid());
    if (d != NULL && renameat(dirfd(d), e->name, cache, gone) == 0)
        remove_tree(cache, gone, 0);
    if (d != NULL)
        closedir(d);
}

/* Those that were used before `latest`, until the rest has no more than `limit`. What PoCL did not finish is of no
 * use, and leaves anyway. */
static uint64_t remove_oldest(int cache, const struct survey *s, uint64_t limit, time_t latest)
{
    uint64_t left = s->bytes;
    if (s->count > 0) /* else there is no list */
        qsort(s->list, s->count, sizeof *s->list, by_use);
    for (size_t i = 0; i < s->count && s->list[i].used < latest; i++) {
        if (left <= limit && !is_unfinished(&s->list[i]))
            continue;
        remove_entry(cache, &s->list[i]);
        left -= s->list[i].bytes;
    }
    return s->bytes - left;
}

static bool survey_all(int cache, struct survey *s)
{
    return survey_own(cache, s) && survey_pocl(cache, s);
}

void cache_trim(void)
{
    const double limit = env_number(ENV_CACHE_BYTES);
    const int cache = limit > 0 && limit < 0x1p63 ? cache_directory(NULL, 0) : -1;
    if (cache < 0)
        return;
    struct survey s = { .count = 0 };
    if (survey_all(cache, &s)) {
        const bool beyond = (double)s.bytes > limit;
        (void)remove_oldest(cache, &s, beyond ? (uint64_t)(0.9 * limit) : s.bytes,
                            time(NULL) - FRESH_SECONDS);
    }
    free(s.list);
    close(cache);
}

/* ---- for people ----------------------------------------------------------------------------- */

/* An open cache and what is in it; -1 after recording an error. */
static int survey_for_people(struct survey *s)
{
    const int cache = cache_directory(NULL, 0);
    *s = (struct survey){ .count = 0 };
    if (cache < 0)
        error_set(TARN_ERR_STATE, "there is no compile cache (TARN_CACHE_DIR)");
    else if (!survey_all(cache, s)) {
        error_set(TARN_ERR_IO, "cannot read the compile cache");
        close(cache);
        free(s->list);
        return -1;
    }
    return cache;
}

static void describe(int cache, const struct entry *from, struct cache_entry *to)
{
    *to = (struct cache_entry){ .pocl = from->folder[0] != '.',
                                .bytes = from->bytes,
                                .idle = difftime(time(NULL), from->used),
                                .seconds = NAN };
    if (to->pocl)
        snprintf(to->about, sizeof to->about, "%s/%s", from->folder, from->name);
    else
        cache_describe(cache, from->name, to);
}

bool cache_list(struct cache_entry **list, size_t *count)
{
    struct survey s;
    const int cache = survey_for_people(&s);
    if (cache < 0)
        return false;
    *list = calloc(s.count + 1, sizeof **list);
    *count = s.count;
    for (size_t i = 0; *list != NULL && i < s.count; i++)
        describe(cache, &s.list[i], &(*list)[i]);
    if (*list == NULL)
        error_set(TARN_ERR_MEMORY, "out of host memory for a list of the compile cache");
    free(s.list);
    close(cache);
    return *list != NULL;
}

bool cache_clear(double idle, double most_bytes, uint64_t *removed)
{
    struct survey s;
    const int cache = survey_for_people(&s);
    if (cache < 0)
        return false;
    const uint64_t limit = most_bytes < 0x1p63 ? (uint64_t)most_bytes : UINT64_MAX;
    *removed = remove_oldest(cache, &s, limit, time(NULL) - (time_t)idle + 1);
    free(s.list);
    close(cache);
    return true;
}

void cache_grew(void)
{
    static unsigned builds;
    if (builds++ % BUILDS_BETWEEN == 0)
        cache_trim();
}
