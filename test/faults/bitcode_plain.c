/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that PoCL makes of bitcode: from an empty cache, from a full one, without what PoCL kept, and from
 * entries that are damaged or that no driver takes. The kernel computes the same each time. What kernels/declared.cl
 * has is enough for it, and another program is compiled all the same. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opencl.h"

#include "check.h"

static const char source[] = "__kernel void root(__global float *x)\n"
                             "{\n"
                             "    x[get_global_id(0)] = sqrt(x[get_global_id(0)]) + 1.0f;\n"
                             "}\n";

static char base[] = "/tmp/tarn-bitcode-XXXXXX";

static bool run(struct context *c)
{
    float x[4] = { 0, 1, 4, 9 };
    struct built_program *p;
    struct kernel *k;
    struct buffer *b;
    if (program_build(c, source, "bitcode", &p) != TARN_OK ||
        kernel_new(p, "root", &k) != TARN_OK || buffer_new(c, sizeof x, &b) != TARN_OK)
        return false;
    const struct kernel_arg args[] = { { .buffer = b } };
    const bool done = buffer_write(b, 0, x, sizeof x) == TARN_OK &&
                      kernel_launch(k, args, 1, 4, 1) == TARN_OK &&
                      buffer_read(b, 0, x, sizeof x) == TARN_OK;
    buffer_free(b);
    kernel_free(k);
    program_free(p);
    return done && x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 4;
}

/* Bitcode of a source with Tarn's declarations, or with the driver's. */
static bool gives_bitcode(const struct context *c, const char *text, bool declared)
{
    size_t bytes = 0;
    unsigned char *code = bitcode_of(c, text, "-cl-std=CL1.2 -w", declared, &bytes);
    const bool given = code != NULL && bytes > 0;
    free(code);
    return given;
}

static void try_declarations(struct context *c)
{
    static const char other[] = "__kernel void root(__global float *x) { x[0] = acos(x[0]); }";
    struct built_program *p;
    CHECK(gives_bitcode(c, source, false) && gives_bitcode(c, other, false));
    CHECK(!gives_bitcode(c, other, true));
    if (strstr(c->device.driver, "3.1") != NULL) { /* of others it is not known */
        CHECK(gives_bitcode(c, source, true));
        CHECK(run(c) && !c->no_declared);
        CHECK(program_build(c, other, "other", &p) == TARN_OK && c->no_declared);
        CHECK(program_build(c, "broken", "broken", &p) == TARN_ERR_BUILD);
    }
}

/* One process: 0 when its program was built so often and taken from the cache so often; 77 where there is no PoCL.
 * `more` (may be NULL) is tried after that. */
static int child(int builds, int hits, void (*more)(struct context *c))
{
    struct device d;
    struct context *c;
    int count;
    CHECK(device_select(NULL, &d, 1, &count) == TARN_OK);
    if (failures == 0 && !d.is_pocl)
        return 77;
    CHECK(context_open(&d, &c) == TARN_OK);
    if (failures > 0)
        return 1;
    CHECK(run(c));
    const struct backend_counters n = context_counters(c);
    CHECK((int)n.builds == builds && (int)n.cache_hits == hits);
    if (more != NULL)
        more(c);
    context_close(c);
    return failures > 0;
}

static int run_child_and(const char *about, int builds, int hits, void (*more)(struct context *c))
{
    int status = -1;
    fflush(NULL);
    const pid_t process = fork();
    if (process == 0)
        _exit(child(builds, hits, more));
    CHECK(process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status));
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 0 && code != 77) {
        fprintf(stderr, "%s: expected %d builds, %d hits\n", about, builds, hits);
        failures++;
    }
    return code;
}

static int run_child(const char *about, int builds, int hits)
{
    return run_child_and(about, builds, hits, NULL);
}

static void shell(const char *line)
{
    char command[400];
    snprintf(command, sizeof command, "cd '%s' && %s", base, line);
    CHECK(system(command) == 0);
}

/* An entry begins with six numbers of 8 bytes, of which the second is the length of the key after them
 * (backend/cache.c). */
static bool whole_key(int folder, const char *name, char *key, size_t capacity)
{
    uint64_t head[6];
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    const bool read_head = file >= 0 && read(file, head, sizeof head) == (ssize_t)sizeof head;
    const bool whole =
        read_head && head[1] < capacity && read(file, key, (size_t)head[1]) == (ssize_t)head[1];
    if (whole)
        key[head[1]] = '\0';
    if (file >= 0)
        close(file);
    return whole;
}

/* Whole entries with a payload that no driver takes. */
static void replace_payloads(void)
{
    DIR *d = opendir(base);
    CHECK(d != NULL);
    for (const struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d)) {
        char key[1000];
        if (whole_key(dirfd(d), e->d_name, key, sizeof key) &&
            strncmp(key, "bitcode ", strlen("bitcode ")) == 0)
            cache_store(key, "no bitcode", 10, 0);
    }
    if (d != NULL)
        closedir(d);
}

int main(void)
{
    CHECK(mkdtemp(base) != NULL);
    setenv("TARN_CACHE_DIR", base, 1);
    unsetenv("POCL_CACHE_DIR"); /* it is in the cache's folder then */
    if (run_child("empty", 1, 0) == 77)
        return printf("bitcode: no PoCL\n"), shell("rm -rf ../\"${PWD##*/}\""), 0;
    run_child("full", 0, 1);
    shell("rm -rf pocl");
    run_child("without what PoCL kept", 0, 1);
    shell("for f in [0-9a-f]*; do truncate -s -1 $f; done");
    run_child("damaged", 1, 0);
    run_child("mended", 0, 1);
    replace_payloads();
    run_child("of no use", 1, 0);
    run_child("replaced", 0, 1);
    run_child_and("declarations", 0, 1, try_declarations);
    shell("rm -rf ../\"${PWD##*/}\"");
    printf("bitcode: %d failures\n", failures);
    return failures > 0;
}
