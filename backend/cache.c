/* SPDX-License-Identifier: Apache-2.0 */
/* The compile cache on disk. It holds code, so its folder is private and checked, and so is every
 * entry: a bad one is a miss. File: magic, key length, payload length, hash of the payload, key,
 * payload. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "env.h"
#include "opencl.h"

#define MAGIC UINT64_C(0x31303065686361e7)
#define LARGEST_PAYLOAD ((size_t)256 << 20)

struct head {
    uint64_t magic, key_bytes, payload_bytes, low, high;
};

/* ---- the folder
 * ---------------------------------------------------------------------------------------- */

static bool folder_name(char *path, size_t capacity)
{
    const char *own = env_text(ENV_CACHE_DIR), *xdg = env_system("XDG_CACHE_HOME"),
               *home = env_system("HOME");
    int length = -1;
    if (strcmp(own, "off") == 0)
        return false;
    if (*own != '\0')
        length = snprintf(path, capacity, "%s", own);
    else if (*xdg == '/')
        length = snprintf(path, capacity, "%s/tarn", xdg);
    else if (*home == '/')
        length = snprintf(path, capacity, "%s/.cache/tarn", home);
    return length > 0 && (size_t)length < capacity;
}

static void make_folders(char *path)
{
    for (char *at = path + 1; *at != '\0'; ++at)
        if (*at == '/') {
            *at = '\0';
            (void)!mkdir(path, 0700); /* what cannot be made shows when the last one is opened */
            *at = '/';
        }
    (void)!mkdir(path, 0700);
}

int cache_directory(char *path, size_t capacity)
{
    char name[400];
    if (geteuid() != getuid() || getauxval(AT_SECURE) != 0 || !folder_name(name, sizeof name))
        return -1;
    make_folders(name);
    const int at = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat s;
    if (at < 0)
        return -1;
    if (fstat(at, &s) != 0 || s.st_uid != geteuid() || (s.st_mode & 022) != 0 ||
        faccessat(at, ".", W_OK, 0) != 0) {
        close(at);
        return -1;
    }
    if (path != NULL)
        snprintf(path, capacity, "%s", name);
    return at;
}

/* ---- entries
 * --------------------------------------------------------------------------------------------- */

static void entry_name(const char *key, char name[40])
{
    const XXH128_hash_t h = XXH3_128bits(key, strlen(key));
    snprintf(name, 40, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

static bool read_all(int file, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = read(file, (char *)to + done, bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool write_all(int file, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t put = write(file, (const char *)from + done, bytes - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

static void *read_entry(int file, const char *key, size_t *bytes)
{
    struct head head;
    struct stat s;
    const size_t key_bytes = strlen(key);
    if (fstat(file, &s) != 0 || !read_all(file, &head, sizeof head) || head.magic != MAGIC ||
        head.key_bytes != key_bytes || head.payload_bytes > LARGEST_PAYLOAD ||
        (uint64_t)s.st_size != sizeof head + key_bytes + head.payload_bytes)
        return NULL;
    char *both = malloc(key_bytes + (size_t)head.payload_bytes + 1);
    if (both == NULL)
        return NULL;
    *bytes = (size_t)head.payload_bytes;
    if (read_all(file, both, key_bytes + *bytes) && memcmp(both, key, key_bytes) == 0) {
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
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    void *out = NULL;
    if (file >= 0) {
        out = read_entry(file, key, bytes);
        close(file);
        if (out == NULL)
            (void)!unlinkat(folder, name, 0);
    }
    close(folder);
    return out;
}

void cache_store(const char *key, const void *payload, size_t bytes)
{
    char name[40], temporary[80];
    const int folder = cache_directory(NULL, 0);
    if (folder < 0)
        return;
    entry_name(key, name);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", name, (long)getpid());
    const XXH128_hash_t h = XXH3_128bits(payload, bytes);
    const struct head head = { MAGIC, strlen(key), bytes, h.low64, h.high64 };
    const int file =
        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
        const bool written = write_all(file, &head, sizeof head) &&
                             write_all(file, key, strlen(key)) && write_all(file, payload, bytes) &&
                             fsync(file) == 0;
        const bool closed = close(file) == 0;
        if (!written || !closed || renameat(folder, temporary, folder, name) != 0)
            (void)!unlinkat(folder, temporary, 0);
    }
    close(folder);
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

void cache_store_text(const char *key, const char *text)
{
    cache_store(key, text, strlen(text));
}

int cache_lock(void)
{
    const int folder = cache_directory(NULL, 0);
    if (folder < 0)
        return -1;
    const int file = openat(folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    close(folder);
    if (file >= 0 && flock(file, LOCK_EX) != 0) {
        close(file);
        return -1;
    }
    return file;
}
