/* SPDX-License-Identifier: Apache-2.0 */
/* A compile cache that cannot be used: each time work goes on without it, nothing waits without
 * end, and one line says why. What is written about failures stays bounded and printable. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "opencl.h"

#include "check.h"
#include "file.h"

#define LONGEST 60 /* seconds that this program may take */

static char base[] = "/tmp/tarn-cache-smoke-XXXXXX";
static bool full; /* what the disk is to be */

/* In the place of the C library's. */
int fstatvfs(int file, struct statvfs *out)
{
    (void)file;
    *out = (struct statvfs){ .f_frsize = 4096, .f_bavail = full ? 1000 : 1 << 24 };
    return 0;
}

static const char *in_base(const char *name)
{
    static char path[2][300];
    static int next;
    next = !next;
    snprintf(path[next], sizeof path[next], "%s/%s", base, name);
    return path[next];
}

static void remove_all(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    CHECK(system(command) == 0);
}

/* ---- folders that are refused --------------------------------------------------------------- */

/* In a process of its own, since there is one line in each. */
static void check_refused(const char *folder, const char *why)
{
    char told[2000] = "";
    int status = 0;
    FILE *lines = tmpfile();
    CHECK(lines != NULL);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char path[400];
        dup2(fileno(lines), STDERR_FILENO);
        setenv("TARN_CACHE_DIR", folder, 1);
        const bool used = cache_folder_of_pocl(path, sizeof path);
        cache_store("key", "value", 6, 0);
        _exit(used || cache_folder_of_pocl(path, sizeof path));
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rewind(lines);
    const size_t bytes = fread(told, 1, sizeof told - 1, lines);
    fclose(lines);
    const char *end = strchr(told, '\n');
    const bool one = end != NULL && end == told + bytes - 1;
    if (!one || strstr(told, why) == NULL || strstr(told, folder) == NULL) {
        fprintf(stderr, "%s: expected one line with \"%s\", got: %s\n", folder, why, told);
        failures++;
    }
}

static void check_folders(void)
{
    CHECK(mkdir(in_base("open"), 0700) == 0 && chmod(in_base("open"), 0777) == 0);
    check_refused(in_base("open"), "others may write");
    check_refused(in_base("open/below"), "a folder above it");
    CHECK(symlink("open", in_base("link")) == 0);
    check_refused(in_base("link"), "symbolic link");
    CHECK(close(open(in_base("file"), O_CREAT | O_WRONLY, 0600)) == 0);
    check_refused(in_base("file"), "Not a directory");
    CHECK(mkdir(in_base("one"), 0700) == 0 && symlink("../open", in_base("one/pocl")) == 0);
    check_refused(in_base("one"), "symbolic link");
    CHECK(mkdir(in_base("two"), 0700) == 0 && mkdir(in_base("two/pocl"), 0700) == 0 &&
          chmod(in_base("two/pocl"), 0777) == 0);
    check_refused(in_base("two"), "others may write");
    CHECK(mkdir(in_base("good"), 0700) == 0);
    full = true;
    check_refused(in_base("good"), "64 MiB");
    full = false;
    if (geteuid() == 0) {
        CHECK(mkdir(in_base("foreign"), 0755) == 0 && chown(in_base("foreign"), 12345, 12345) == 0);
        check_refused(in_base("foreign"), "another user's");
    }
}

static void check_used(void)
{
    char path[400], expected[400];
    CHECK(realpath(in_base("good"), expected) != NULL);
    strcat(expected, "/pocl");
    CHECK(cache_folder_of_pocl(path, sizeof path) && strcmp(path, expected) == 0);
}

/* ---- entries -------------------------------------------------------------------------------- */

static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == 32 && name[32] == '\0';
}

static void check_fifo(void)
{
    char name[64] = "";
    size_t bytes;
    cache_store("key", "value", 6, 0);
    DIR *all = opendir(in_base("good"));
    CHECK(all != NULL);
    for (const struct dirent *e = readdir(all); e != NULL; e = readdir(all))
        if (is_entry(e->d_name))
            snprintf(name, sizeof name, "good/%.40s", e->d_name);
    closedir(all);
    CHECK(*name != '\0' && unlink(in_base(name)) == 0 && mkfifo(in_base(name), 0600) == 0);
    CHECK(cache_load("key", &bytes) == NULL); /* LONGEST ends this program when it waits */
    cache_store("key", "value", 6, 0);
    void *value = cache_load("key", &bytes);
    CHECK(value != NULL && bytes == 6 && strcmp(value, "value") == 0);
    free(value);
}

/* ---- damage --------------------------------------------------------------------------------- */

enum { MUTATIONS = 300, PAYLOAD = 700 };

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Of two entries, that of `key`. */
static void path_of(const char *key, char *path, size_t capacity)
{
    const XXH128_hash_t h = XXH3_128bits(key, strlen(key));
    snprintf(path, capacity, "%s/%016llx%016llx", in_base("good"), (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

/* Bits flipped, cut off, emptied, replaced by noise, made longer, or taken from another entry. */
static size_t damage(unsigned char *data, size_t bytes, const unsigned char *other, size_t others,
                     uint32_t *state)
{
    const uint32_t kind = draw(state) % 6;
    for (uint32_t i = 0; kind == 0 && i <= draw(state) % 4; i++)
        data[draw(state) % bytes] ^= (unsigned char)(1u << draw(state) % 8);
    if (kind == 1)
        return draw(state) % bytes;
    if (kind == 2)
        return 0;
    for (size_t i = 0; kind == 3 && i < bytes; i++)
        data[i] = (unsigned char)draw(state);
    if (kind == 4)
        data[bytes] = (unsigned char)draw(state);
    if (kind == 5)
        memcpy(data, other, others);
    return kind == 5 ? others : kind == 4 ? bytes + 1 : bytes;
}

static size_t read_file(const char *path, unsigned char *data, size_t capacity)
{
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    const size_t bytes = f != NULL ? fread(data, 1, capacity, f) : 0;
    if (f != NULL)
        fclose(f);
    return bytes;
}

/* A damaged entry is a miss, and is stored again; never is another value loaded. */
static void check_damage(long count)
{
    static unsigned char value[PAYLOAD], data[2 * PAYLOAD], other[2 * PAYLOAD];
    char path[400], second[400];
    uint32_t state = 7;
    long misses = 0;
    for (int i = 0; i < PAYLOAD; i++)
        value[i] = (unsigned char)draw(&state);
    cache_store("another key", value, PAYLOAD / 2, 0);
    path_of("a key", path, sizeof path);
    path_of("another key", second, sizeof second);
    const size_t others = read_file(second, other, sizeof other);
    for (long i = 0; i < count; i++) {
        cache_store("a key", value, PAYLOAD, 1);
        const size_t bytes = read_file(path, data, sizeof data);
        CHECK(bytes > PAYLOAD);
        const size_t now = damage(data, bytes, other, others, &state);
        FILE *f = fopen(path, "wb");
        CHECK(f != NULL && fwrite(data, 1, now, f) == now && fclose(f) == 0);
        size_t loaded = 0;
        unsigned char *got = cache_load("a key", &loaded);
        misses += got == NULL;
        CHECK(got == NULL || (loaded == PAYLOAD && memcmp(got, value, PAYLOAD) == 0));
        CHECK(got != NULL || access(path, F_OK) != 0);
        free(got);
    }
    /* Of a few, two flips undo each other. */
    CHECK(misses > count * 9 / 10);
    printf("cache: %ld of %ld damaged entries were misses\n", misses, count);
}

/* ---- the lock ------------------------------------------------------------------------------- */

static void check_lock(void)
{
    int ready[2];
    char byte;
    const int mine = cache_lock();
    CHECK(mine >= 0 && close(mine) == 0 && pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(LONGEST);
        const int file = open(in_base("good/lock"), O_RDWR);
        if (flock(file, LOCK_EX) == 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK(child > 0 && read(ready[0], &byte, 1) == 1);
    CHECK(cache_lock() < 0); /* after seconds */
    for (int i = 0; i < 100; i++)
        CHECK(cache_lock() < 0); /* at once: LONGEST is less than that many waits */
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    const int again = cache_lock();
    CHECK(again >= 0 && close(again) == 0);
    close(ready[0]);
    close(ready[1]);
}

/* ---- what is written ------------------------------------------------------------------------ */

static void check_failed_sources(void)
{
    char path[400] = "", text[40];
    int count = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "kernel %d", i);
        failed_save(text, path, sizeof path);
        CHECK(access(path, R_OK) == 0);
    }
    DIR *all = opendir(in_base("good"));
    CHECK(all != NULL);
    for (const struct dirent *e = readdir(all); e != NULL; e = readdir(all))
        count += strstr(e->d_name, "failed") != NULL;
    closedir(all);
    CHECK(count == 8);
}

static void check_standard_streams(void)
{
    const int saved = dup(STDIN_FILENO);
    CHECK(saved > STDERR_FILENO && close(STDIN_FILENO) == 0);
    const int file = file_aside(open("/dev/null", O_WRONLY | O_CLOEXEC));
    CHECK(file > STDERR_FILENO && fcntl(STDIN_FILENO, F_GETFD) < 0);
    CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(dup2(saved, STDIN_FILENO) == STDIN_FILENO && close(saved) == 0 && close(file) == 0);
    CHECK(file_aside(-1) == -1);
}

static void check_escape(void)
{
    char small[6];
    error_set(TARN_ERR_IO, "%s",
              "a\n\x1b[31mb\t\x7f\xc2\x9b"
              "c \xc3\xa4 \xe2\x82\xac \xff\x80");
    CHECK(strcmp(error_text(), "a\\x0a\\x1b[31mb\\x09\\x7f\\xc2\\x9bc \xc3\xa4 \xe2\x82\xac "
                               "\\xff\\x80") == 0);
    error_set(TARN_ERR_IO, "%s", error_text()); /* once is enough */
    CHECK(strstr(error_text(), "\\x0a\\x1b[31mb") == error_text() + 1);
    text_escape("ab\ncd", small, sizeof small);
    CHECK(strcmp(small, "ab") == 0); /* never a part of an escape */
}

/* An argument: how many entries are damaged. */
int main(int argc, char **argv)
{
    const long damaged = argc > 1 ? strtol(argv[1], NULL, 10) : MUTATIONS;
    alarm(damaged > MUTATIONS ? 60 * LONGEST : LONGEST);
    umask(022);
    CHECK(mkdtemp(base) != NULL);
    check_folders();
    CHECK(setenv("TARN_CACHE_DIR", in_base("good"), 1) == 0);
    check_used();
    check_fifo();
    check_damage(damaged);
    check_lock();
    check_failed_sources();
    check_standard_streams();
    check_escape();
    remove_all();
    printf("cache: %d failures\n", failures);
    return failures > 0;
}
