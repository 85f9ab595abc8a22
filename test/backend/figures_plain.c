/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of devices: kinds lie within their limits, a device has those of its kind, and caches are
 * those that the operating system describes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"

static int failures;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, error_text()); \
            ++failures; \
        } \
    } while (0)

/* ---- kinds ---------------------------------------------------------------------------------- */

static void check_kinds(void)
{
    static const char *const names[] = { "avx512", "avx2", "neon", "generic",
                                         "nvidia", "amd",  "intel" };
    struct device_figures f;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(figures_kind(names[i], &f));
        CHECK(figures_check(&f) == TARN_OK);
        CHECK(f.items == (i >= 4) && !f.measured);
    }
    CHECK(!figures_kind("", &f) && !figures_kind("avx", &f));
}

static void check_limits(void)
{
    struct device_figures good, f;
    CHECK(figures_kind("avx2", &good));
    f = good;
    f.lanes = 0;
    CHECK(figures_check(&f) == TARN_ERR_ARGUMENT && strstr(error_text(), "lanes") != NULL);
    f = good;
    f.l2_bytes = 1;
    CHECK(figures_check(&f) == TARN_ERR_ARGUMENT && strstr(error_text(), "l2_bytes") != NULL);
    f = good;
    f.fma_latency = (double)NAN;
    CHECK(figures_check(&f) == TARN_ERR_ARGUMENT && strstr(error_text(), "fma_latency") != NULL);
}

/* A CPU by the width of its vectors, a GPU by its vendor, and what drivers say goes before. */
static void check_devices(void)
{
    struct device d = { .kind = DEVICE_CPU, .compute_units = 6, .native_float_width = 16 };
    struct device_figures f = figures_of(&d);
    CHECK(f.units == 6 && !f.items && figures_check(&f) == TARN_OK);
#ifdef __x86_64__
    CHECK(f.lanes == 16 && f.registers == 32);
    d.native_float_width = 8;
    CHECK(figures_of(&d).lanes == 8 && figures_of(&d).registers == 16);
#endif
    d = (struct device){ .kind = DEVICE_GPU, .vendor = "NVIDIA Corporation", .compute_units = 132 };
    d.cache_bytes = (size_t)132 << 19;
    d.clock_hz = 1.5e9;
    d.local_bytes = 49152;
    f = figures_of(&d);
    CHECK(f.items && f.lanes == 32 && f.l2_bytes == (size_t)1 << 19 && f.l1_bytes == 49152);
    CHECK(f.cycles_per_second == 1.5e9 && figures_check(&f) == TARN_OK);
    snprintf(d.vendor, sizeof d.vendor, "Advanced Micro Devices, Inc.");
    CHECK(figures_of(&d).lanes == 64);
    d.wavefront = 32;
    CHECK(figures_of(&d).lanes == 32);
}

static void check_this_machine(void)
{
    const struct device *list;
    int count = 0;
    CHECK(device_list(&list, &count) == TARN_OK && count > 0);
    for (int i = 0; i < count; i++) {
        const struct device_figures f = figures_of(&list[i]);
        CHECK(figures_check(&f) == TARN_OK);
        CHECK(f.units == (int)list[i].compute_units);
    }
}

/* ---- caches --------------------------------------------------------------------------------- */

static void put(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fprintf(file, "%s\n", text) > 0 && fclose(file) == 0);
}

static void describe(const char *folder, int number, const char *level, const char *type,
                     const char *size, const char *shared)
{
    char path[200];
    snprintf(path, sizeof path, "%s/index%d", folder, number);
    CHECK(mkdir(path, 0700) == 0);
    put(path, "level", level);
    put(path, "type", type);
    put(path, "size", size);
    if (shared != NULL)
        put(path, "shared_cpu_list", shared);
}

static void clear(const char *folder)
{
    static const char *const names[] = { "level", "type", "size", "shared_cpu_list" };
    char path[256];
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 4; k++) {
            snprintf(path, sizeof path, "%s/index%d/%s", folder, i, names[k]);
            (void)unlink(path);
        }
        snprintf(path, sizeof path, "%s/index%d", folder, i);
        (void)rmdir(path);
    }
    CHECK(rmdir(folder) == 0);
}

/* Two processors of a core share a first cache, four cores a second one; the third is nobody's. */
static void check_caches(void)
{
    char folder[] = "/tmp/tarn-caches-XXXXXX";
    size_t first = 7, second = 8;
    CHECK(mkdtemp(folder) != NULL);
    cpu_caches(folder, &first, &second);
    CHECK(first == 7 && second == 8); /* nothing is known */
    describe(folder, 0, "1", "Instruction", "64K", "0,4");
    describe(folder, 1, "1", "Data", "48K", "0,4");
    describe(folder, 2, "2", "Unified", "2M", "0-3,8-11");
    describe(folder, 3, "3", "Unified", "32M", NULL);
    cpu_caches(folder, &first, &second);
    CHECK(first == 24 << 10 && second == 256 << 10);
    clear(folder);
    char alone[] = "/tmp/tarn-caches-XXXXXX";
    CHECK(mkdtemp(alone) != NULL);
    describe(alone, 0, "1", "Data", "no number", "0");
    describe(alone, 1, "2", "Unified", "524288", "?");
    cpu_caches(alone, &first, &second);
    CHECK(first == 24 << 10 && second == 512 << 10);
    clear(alone);
}

int main(void)
{
    check_kinds();
    check_limits();
    check_devices();
    check_this_machine();
    check_caches();
    return failures > 0;
}
