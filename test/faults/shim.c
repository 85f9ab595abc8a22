/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library (LD_PRELOAD=PATH) that plays a machine without memory, threads or disk under
 * any program. Only calls from the program, libtarn and libjansson count, never those of the driver.
 * TARN_FAULT=ACTION:FUNCTION:N[:VALUE] plans one fault at call N, counted from 0, of FUNCTION, of a
 * group of functions (memory, threads, files; transfers: those files that may be short), or of all
 * ("*"):
 *
 *   fail   the call does nothing and says why: errno VALUE, or one that suits the function
 *   short  a transfer moves half of its bytes; another call is as always
 *   delay  the call sleeps VALUE ms (1000) first
 *   hang   the call never returns
 *
 * "none", or none:FUNCTION:0, counts only. With TARN_FAULT_WAYS=D calls that come by a way that was
 * taken before do not count: the same function, by the same D innermost callers. TARN_FAULT_REPORT=FILE
 * appends a line when the process ends: "calls N", and so many of each group. Processes that the program
 * starts are left alone. */
#include "layer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST_RANGES 16
#define MOST_DEPTH 16
#define MOST_WAYS (1 << 16)

enum action { NONE, FAIL, SHORT, DELAY, HANG };
enum group { MEMORY, THREADS, FILES, TRANSFERS, GROUPS };

static const char *const actions[] = {
    [NONE] = "none", [FAIL] = "fail", [SHORT] = "short", [DELAY] = "delay", [HANG] = "hang"
};
static const char *const groups[] = {
    [MEMORY] = "memory", [THREADS] = "threads", [FILES] = "files", [TRANSFERS] = "transfers"
};

struct fault {
    enum action action;
    int value;
};

static struct {
    uintptr_t from, to;
} ranges[MOST_RANGES];
static int range_count;

static struct fault planned;
static char function[64] = "*";
static long nth = -1;
static int depth; /* of ways; 0: every call counts */
static uint64_t ways[MOST_WAYS];
static atomic_long calls, of_group[GROUPS];

/* ---- the plan ------------------------------------------------------------------------------- */

EXPORT int fault_plan(const char *text)
{
    char action[16] = "";
    long at = 0;
    int value = 0, chosen = 0;
    snprintf(function, sizeof function, "*");
    const int got = sscanf(text, "%15[^:]:%63[^:]:%ld:%d", action, function, &at, &value);
    while (chosen <= HANG && strcmp(action, actions[chosen]) != 0)
        chosen++;
    if (chosen > HANG || (got < 3 && chosen != NONE))
        return -1;
    planned = (struct fault){ (enum action)chosen, got == 4 ? value : chosen == DELAY ? 1000 : 0 };
    nth = chosen != NONE ? at : -1;
    calls = 0;
    memset(ways, 0, sizeof ways);
    return 0;
}

EXPORT long fault_calls(void)
{
    return calls;
}

static bool counts(const char *name, enum group group)
{
    return strcmp(function, "*") == 0 || strcmp(function, name) == 0 ||
           strcmp(function, groups[group]) == 0 ||
           (group == TRANSFERS && strcmp(function, groups[FILES]) == 0);
}

static void sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&t, &t) != 0)
        ;
}

/* Whether no call came by this way before. */
__attribute__((noinline)) static bool is_new_way(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *frames[MOST_DEPTH + 3];
    const int found = backtrace(frames, depth + 3); /* this function, arrive, the call itself */
    uint64_t way = (uintptr_t)name | 1;
    for (int i = 3; i < found; i++)
        way = (way ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
    pthread_mutex_lock(&lock);
    size_t at = way >> 48;
    for (int i = 0; i < MOST_WAYS && ways[at] != 0 && ways[at] != way; i++)
        at = (at + 1) % MOST_WAYS;
    const bool new = ways[at] != way;
    ways[at] = way;
    pthread_mutex_unlock(&lock);
    return new;
}

static bool is_ours(const void *caller)
{
    for (int i = 0; i < range_count; i++)
        if ((uintptr_t)caller >= ranges[i].from && (uintptr_t)caller < ranges[i].to)
            return true;
    return false;
}

/* What happens to this call; errno stays as it is unless the call fails. */
__attribute__((noinline)) static enum action arrive(const char *name, enum group group,
                                                    const void *caller, int why)
{
    if (!is_ours(caller) || (depth > 0 && !is_new_way(name)))
        return NONE;
    of_group[group]++;
    if (!counts(name, group) || calls++ != nth)
        return NONE;
    const int before = errno;
    while (planned.action == HANG)
        sleep_ms(1000000);
    if (planned.action == DELAY)
        sleep_ms(planned.value);
    errno = planned.action != FAIL ? before : planned.value != 0 ? planned.value : why;
    return planned.action;
}

#define ARRIVE(name, group, why) arrive(#name, group, __builtin_return_address(0), why)

/* ---- memory: glibc's own names, since looking others up asks for memory --------------------- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

EXPORT void *malloc(size_t bytes)
{
    return ARRIVE(malloc, MEMORY, ENOMEM) == FAIL ? NULL : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    return ARRIVE(calloc, MEMORY, ENOMEM) == FAIL ? NULL : __libc_calloc(count, bytes);
}

EXPORT void *realloc(void *old, size_t bytes)
{
    return ARRIVE(realloc, MEMORY, ENOMEM) == FAIL ? NULL : __libc_realloc(old, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return ARRIVE(aligned_alloc, MEMORY, ENOMEM) == FAIL ? NULL : __libc_memalign(alignment, bytes);
}

EXPORT char *strndup(const char *text, size_t most)
{
    const size_t bytes = strnlen(text, most);
    char *copy = ARRIVE(strndup, MEMORY, ENOMEM) == FAIL ? NULL : __libc_malloc(bytes + 1);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    return copy;
}

EXPORT char *strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = ARRIVE(strdup, MEMORY, ENOMEM) == FAIL ? NULL : __libc_malloc(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

/* ---- the rest: type, name, parameters, group, errno, what it returns then, arguments -------- */

/* The function of this name behind this library. */
#define NEXT(type, name, parameters) \
    static type(*next) parameters; \
    if (next == NULL) \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

#define CALL(type, name, parameters, group, why, failed, ...) \
    EXPORT type name parameters \
    { \
        NEXT(type, name, parameters); \
        return ARRIVE(name, group, why) == FAIL ? (failed) : next(__VA_ARGS__); \
    }

CALL(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *a, void *(*start)(void *), void *arg), THREADS,
     EAGAIN, errno, thread, a, start, arg)
/* What was not made is not fit for use, though on some systems memory of zeros is. */
#define LOCK(name, object, attributes) \
    EXPORT int name(object *at, const attributes *with) \
    { \
        NEXT(int, name, (object *, const attributes *)); \
        if (ARRIVE(name, THREADS, ENOMEM) != FAIL) \
            return next(at, with); \
        memset(at, 0xa5, sizeof *at); \
        return errno; \
    }
LOCK(pthread_mutex_init, pthread_mutex_t, pthread_mutexattr_t)
LOCK(pthread_cond_init, pthread_cond_t, pthread_condattr_t)
CALL(int, pthread_condattr_init, (pthread_condattr_t * a), THREADS, ENOMEM, errno, a)
CALL(int, pthread_condattr_setclock, (pthread_condattr_t * a, clockid_t clock), THREADS, EINVAL,
     errno, a, clock)
CALL(int, pthread_attr_init, (pthread_attr_t * a), THREADS, ENOMEM, errno, a)

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags)&O_CREAT) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

EXPORT int open(const char *path, int flags, ...)
{
    NEXT(int, open, (const char *, int, ...));
    MODE(flags)
    return ARRIVE(open, FILES, EMFILE) == FAIL ? -1 : next(path, flags, mode);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    NEXT(int, openat, (int, const char *, int, ...));
    MODE(flags)
    return ARRIVE(openat, FILES, EMFILE) == FAIL ? -1 : next(folder, path, flags, mode);
}

CALL(FILE *, fopen, (const char *path, const char *mode), FILES, EMFILE, NULL, path, mode)
CALL(DIR *, opendir, (const char *path), FILES, EMFILE, NULL, path)
CALL(DIR *, fdopendir, (int file), FILES, ENOMEM, NULL, file)
CALL(int, fsync, (int file), FILES, EIO, -1, file)
CALL(int, rename, (const char *old, const char *new), FILES, ENOSPC, -1, old, new)
CALL(int, renameat, (int from, const char *old, int to, const char *new), FILES, ENOSPC, -1, from,
     old, to, new)
CALL(int, mkdir, (const char *path, mode_t mode), FILES, ENOSPC, -1, path, mode)
CALL(int, mkdirat, (int folder, const char *path, mode_t mode), FILES, ENOSPC, -1, folder, path,
     mode)
CALL(int, mkstemps, (char *path, int ending), FILES, ENOSPC, -1, path, ending)
CALL(char *, mkdtemp, (char *path), FILES, ENOSPC, NULL, path)
CALL(int, flock, (int file, int how), FILES, ENOLCK, -1, file, how)
CALL(int, stat, (const char *path, struct stat *out), FILES, EIO, -1, path, out)
CALL(int, fstat, (int file, struct stat *out), FILES, EIO, -1, file, out)
CALL(int, fstatat, (int folder, const char *path, struct stat *out, int how), FILES, EIO, -1,
     folder, path, out, how)
CALL(int, fstatvfs, (int file, struct statvfs *out), FILES, EIO, -1, file, out)
CALL(off_t, lseek, (int file, off_t at, int from), FILES, EIO, -1, file, at, from)
CALL(char *, realpath, (const char *path, char *out), FILES, EIO, NULL, path, out)

#define TRANSFER(name, buffer) \
    EXPORT ssize_t name(int file, buffer data, size_t bytes) \
    { \
        NEXT(ssize_t, name, (int, buffer, size_t)); \
        const enum action now = ARRIVE(name, TRANSFERS, strcmp(#name, "read") ? ENOSPC : EIO); \
        return now == FAIL ? -1 : next(file, data, now == SHORT ? (bytes + 1) / 2 : bytes); \
    }
TRANSFER(read, void *)
TRANSFER(write, const void *)

/* The file is closed all the same, as Linux does. */
EXPORT int close(int file)
{
    NEXT(int, close, (int));
    const enum action now = ARRIVE(close, FILES, EIO);
    const int why = errno, result = next(file);
    if (now != FAIL)
        return result;
    errno = why;
    return -1;
}

EXPORT int fclose(FILE *file)
{
    NEXT(int, fclose, (FILE *));
    const enum action now = ARRIVE(fclose, FILES, ENOSPC);
    const int why = errno, result = next(file);
    if (now != FAIL)
        return result;
    errno = why;
    return EOF;
}

/* A stream remembers that it failed. */
static bool stream_fails(enum action now, FILE *file)
{
    if (now == FAIL && file != NULL)
        file->_flags |= _IO_ERR_SEEN;
    return now == FAIL;
}

EXPORT int fflush(FILE *file)
{
    NEXT(int, fflush, (FILE *));
    return stream_fails(ARRIVE(fflush, FILES, ENOSPC), file) ? EOF : next(file);
}

EXPORT size_t fwrite(const void *data, size_t bytes, size_t count, FILE *file)
{
    NEXT(size_t, fwrite, (const void *, size_t, size_t, FILE *));
    return stream_fails(ARRIVE(fwrite, FILES, ENOSPC), file) ? 0 : next(data, bytes, count, file);
}

/* ---- the process ---------------------------------------------------------------------------- */

static int add_ranges(struct dl_phdr_info *info, size_t bytes, void *first)
{
    (void)bytes;
    const bool ours = *(bool *)first || strstr(info->dlpi_name, "/libtarn") != NULL ||
                      strstr(info->dlpi_name, "/libjansson") != NULL;
    *(bool *)first = false; /* the program comes first */
    for (int i = 0; ours && i < info->dlpi_phnum && range_count < MOST_RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        ranges[range_count].from = info->dlpi_addr + part->p_vaddr;
        ranges[range_count].to = ranges[range_count].from + part->p_memsz;
        range_count++;
    }
    return 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("TARN_FAULT");
    bool first = true;
    const char *text_depth = getenv("TARN_FAULT_WAYS");
    if (text != NULL && fault_plan(text) != 0) {
        fprintf(stderr, "TARN_FAULT: '%s' is no fault\n", text);
        _exit(99);
    }
    unsetenv("LD_PRELOAD");
    dl_iterate_phdr(add_ranges, &first);
    const int wanted = text_depth != NULL ? atoi(text_depth) : 0;
    void *frame; /* what looks at frames is loaded now, not in the middle of a call */
    (void)backtrace(&frame, 1);
    depth = wanted < MOST_DEPTH ? wanted : MOST_DEPTH;
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("TARN_FAULT_REPORT");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file == NULL)
        return;
    fprintf(file, "calls %ld", calls);
    for (int i = 0; i < GROUPS; i++)
        fprintf(file, " %s %ld", groups[i], of_group[i] + (i == FILES ? of_group[TRANSFERS] : 0));
    fprintf(file, "\n");
    fclose(file);
}
