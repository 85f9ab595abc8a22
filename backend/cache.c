/* SPDX-License-Identifier: Apache-2.0 */
/* The compile cache on disk. It holds code, so its folder is private (folder.c), and every entry is
 * checked: a bad one is a miss. File: magic, key length, payload length, hash of the payload, what it
 * took to make, key, payload. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "file.h"
#include "opencl.h"

#define MAGIC UINT64_C(0x32303065686361e7)
#define LOCK_SECONDS 5
#define NAPS 50 /* in a second of waiting for the lock */
#define LARGEST_PAYLOAD ((size_t)256 << 20)

struct head {
    uint64_t magic, key_bytes, payload_bytes, low, high;
    double seconds; /* for people alone, so that nothing is lost with it */
};

/* ---- entries -------------------------------------------------------------------------------- */

static void entry_name(const char *key, char name[40])
{
    const XXH128_hash_t h = XXH3_128bits(key, strlen(key));
    snprintf(name, 40, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

static void *read_entry(int file, const char *key, size_t *bytes)
{
    struct head head;
    struct stat s;
    const size_t key_bytes = strlen(key);
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || !file_read_all(file, &head, sizeof head) ||
        head.magic != MAGIC || head.key_bytes != key_bytes ||
        head.payload_bytes > LARGEST_PAYLOAD ||
        (uint64_t)s.st_size != sizeof head + key_bytes + head.payload_bytes)
        return NULL;
    char *both = malloc(key_bytes + (size_t)head.payload_bytes + 1);
    if (both == NULL)
        return NULL;
    *bytes = (size_t)head.payload_bytes;
    if (file_read_all(file, both, key_bytes + *bytes) && memcmp(both, key, key_bytes) == 0) {
        memmove(both, both + key_bytes, *bytes);
        both[*bytes] = '\0';
        const XXH128_hash_t h = XXH3_128bits(both, *bytes);
        if (h.low64 == head.low && h.high64 == head.high)
            return both;
    }
    free(both);
    return NULL;
}

void *cache_load(const char *key, size_t *bytes)
{
    char name[40];
    const int folder = cache_directory(NULL, 0);
    if (folder < 0)
        return NULL;
    entry_name(key, name);
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    void *out = NULL;
    if (file >= 0) {
        out = read_entry(file, key, bytes);
        (void)!futimens(file, NULL); /* used now: cache_trim.c */
        close(file);
        if (out == NULL)
            (void)!unlinkat(folder, name, 0);
    }
    close(folder);
    return out;
}

void cache_store(const char *key, const void *payload, size_t bytes, double seconds)
{
    char name[40], temporary[80];
    const int folder = cache_directory(NULL, 0);
    if (folder < 0)
        return;
    entry_name(key, name);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", name, (long)getpid());
    const XXH128_hash_t h = XXH3_128bits(payload, bytes);
    const struct head head = { MAGIC, strlen(key), bytes, h.low64, h.high64, seconds };
    const int file = file_aside(
        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file >= 0) {
        const bool written = file_write_all(file, &head, sizeof head) &&
                             file_write_all(file, key, strlen(key)) &&
                             file_write_all(file, payload, bytes) && fsync(file) == 0;
        const bool closed = close(file) == 0;
        if (!written || !closed || renameat(folder, temporary, folder, name) != 0)
            (void)!unlinkat(folder, temporary, 0);
    }
    close(folder);
}

void cache_describe(int folder, const char *name, struct cache_entry *out)
{
    const size_t capacity = sizeof out->about;
    struct head head;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    snprintf(out->about, capacity, "damaged");
    if (file >= 0 && file_read_all(file, &head, sizeof head) && head.magic == MAGIC) {
        const size_t bytes = head.key_bytes < capacity ? (size_t)head.key_bytes : capacity - 1;
        out->about[file_read_all(file, out->about, bytes) ? bytes : 0] = '\0';
        out->seconds = head.seconds;
    }
    if (file >= 0)
        close(file);
}

bool cache_load_text(const char *key, char *out, size_t capacity)
{
    size_t bytes;
    char *text = cache_load(key, &bytes);
    const bool fits = text != NULL && bytes < capacity;
    if (fits)
        memcpy(out, text, bytes + 1);
    free(text);
    return fits;
}

void cache_store_text(const char *key, const char *text, double seconds)
{
    cache_store(key, text, strlen(text), seconds);
}

/* A process that is stopped, or whose compiler hangs, keeps its lock. The lock saves double work
 * and nothing else, so after one wait that was in vain this process only tries. */
static bool lock_soon(int file)
{
    static _Atomic bool in_vain;
    for (int naps = 0; flock(file, LOCK_EX | LOCK_NB) != 0; naps++) {
        const struct timespec nap = { .tv_nsec = 1000000000 / NAPS };
        if ((errno != EWOULDBLOCK && errno != EINTR) || in_vain)
            return false;
        if (naps == NAPS * LOCK_SECONDS) {
            in_vain = true;
            cache_warn("tarn: another process has held the lock of the compile cache for %d s; "
                       "compiling without it",
                       LOCK_SECONDS);
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

int cache_lock(void)
{
    const int folder = cache_directory(NULL, 0);
    if (folder < 0)
        return -1;
    const int file =
        openat(folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    close(folder);
    if (file >= 0 && !lock_soon(file)) {
        close(file);
        return -1;
    }
    return file;
}
