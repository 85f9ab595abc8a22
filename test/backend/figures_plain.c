/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of devices: kinds lie within their limits, a device has those of its kind, and caches are
 * those that the operating system describes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* ---- kinds ---------------------------------------------------------------------------------- */

static void check_kinds(void)
{
    static const char *const names[] = { "avx512",  "zen",    "avx2", "neon",
                                         "generic", "nvidia", "amd",  "intel" };
    struct device_figures f;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(figures_kind(names[i], &f));
        CHECK(figures_check(&f) == TARN_OK);
        CHECK(f.items == (i >= 5) && !f.measured);
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
    struct device_figures f = figures_default(&d);
    CHECK(f.units == 6 && !f.items && figures_check(&f) == TARN_OK);
#ifdef __x86_64__
    CHECK(f.lanes == 16 && f.registers == 32);
    snprintf(d.vendor, sizeof d.vendor, "AuthenticAMD");
    CHECK(figures_default(&d).lanes == 16);
    CHECK(figures_default(&d).far_line_cycles < f.far_line_cycles);
    d.native_float_width = 8;
    CHECK(figures_default(&d).lanes == 8 && figures_default(&d).registers == 16);
#endif
    d = (struct device){ .kind = DEVICE_GPU, .vendor = "NVIDIA Corporation", .compute_units = 132 };
    d.cache_bytes = (size_t)132 << 19;
    d.clock_hz = 1.5e9;
    d.local_bytes = 49152;
    f = figures_default(&d);
    CHECK(f.items && f.lanes == 32 && f.l2_bytes == (size_t)1 << 19 && f.l1_bytes == 49152);
    CHECK(f.cycles_per_second == 1.5e9 && figures_check(&f) == TARN_OK);
    snprintf(d.vendor, sizeof d.vendor, "Advanced Micro Devices, Inc.");
    CHECK(figures_default(&d).lanes == 64);
    d.wavefront = 32;
    CHECK(figures_default(&d).lanes == 32);
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

/* What was measured stays for other processes, and is refused when it cannot be true; a damaged or
 * partial entry counts as none. */
static void check_kept(void)
{
    struct device d = { .kind = DEVICE_CPU, .compute_units = 3, .native_float_width = 8 };
    snprintf(d.name, sizeof d.name, "made up by figures_plain, process %ld", (long)getpid());
    struct device_figures f = figures_default(&d);
    d.number = 60;
    CHECK(!figures_of(&d).measured);
    f.lanes = 2;
    f.l2_bytes = 123456;
    f.launch_seconds = 1.0 / 3;
    CHECK(figures_keep(&d, &f, 0) == TARN_ERR_ARGUMENT);
    CHECK(strstr(error_text(), "launch_seconds") != NULL);
    f.launch_seconds = 1e-3 / 3;
    CHECK(figures_keep(&d, &f, 0) == TARN_OK);
    const struct device_figures now = figures_of(&d);
    CHECK(now.measured && now.lanes == 2 && now.l2_bytes == 123456 && now.units == 3);
    CHECK(now.launch_seconds == f.launch_seconds);
    d.number = 61; /* as another process sees it: a part, whose driver is another */
    d.compute_units = 1;
    CHECK(figures_of(&d).measured && figures_of(&d).units == 1);
    d.number = 62;
    snprintf(d.driver, sizeof d.driver, "another");
    CHECK(!figures_of(&d).measured);
    static const char *const damaged[] = { "lanes 8\n", "lanes 8", "lanes x\nregisters 16\n", "" };
    for (int i = 0; i < 4; i++) {
        char key[512];
        d.number = 56 + i;
        snprintf(d.driver, sizeof d.driver, "damaged %d", i);
        snprintf(key, sizeof key, "figures 1|%s|%s|%s", d.name, d.driver, d.platform);
        cache_store_text(key, damaged[i], 0);
        CHECK(!figures_of(&d).measured && figures_of(&d).lanes == figures_default(&d).lanes);
    }
}

/* Numbers of units, work-items and launches; not those that are none, or of what a kind has not. */
static void check_numbers(void)
{
    static const char *const wrong[] = {
        "nvidia:",   "nvidia:0",  "nvidia:x64",      "nvidia:8x",   "nvidia:8x0", "nvidia:8x64x2",
        "nvidia:-1", "nvidia: 8", "nvidia:12345678", "avx512:8x64", ":8",         "nvidia132",
        "avx2@",     "avx2:8@0",  "avx2@1:8",        "avx2:8@1x"
    };
    struct device_figures f = { .lanes = 77 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(!figures_wanted(wrong[i], &f));
        CHECK(f.lanes == 77);
    }
    CHECK(figures_wanted("avx2:8@1", &f) && f.units == 8 && f.lanes == 8);
    CHECK(f.launch_seconds > 0.9e-9 && f.launch_seconds < 1.1e-9);
    CHECK(figures_wanted("nvidia:132x64@100", &f) && f.units == 132 && f.group_items == 64);
    CHECK(figures_wanted("neon@20", &f) && f.launch_seconds < 1e-7);
}

/* TARN_TARGET goes before all, and a wrong one opens nothing. */
static void check_named(void)
{
    const struct device d = { .kind = DEVICE_CPU, .compute_units = 5, .native_float_width = 16 };
    const struct device *list;
    struct context *c = NULL;
    int count = 0;
    CHECK(setenv("TARN_TARGET", "neon", 1) == 0);
    CHECK(figures_of(&d).lanes == 4 && figures_of(&d).units == 5);
    CHECK(setenv("TARN_TARGET", "nvidia", 1) == 0);
    CHECK(figures_of(&d).items && figures_of(&d).units > 5);
    CHECK(setenv("TARN_TARGET", "nvidia:132", 1) == 0);
    CHECK(figures_of(&d).items && figures_of(&d).units == 132 && figures_of(&d).group_items == 0);
    CHECK(setenv("TARN_TARGET", "amd:304x256", 1) == 0);
    CHECK(figures_of(&d).units == 304 && figures_of(&d).group_items == 256);
    CHECK(setenv("TARN_TARGET", "avx2:64", 1) == 0);
    CHECK(figures_of(&d).lanes == 8 && figures_of(&d).units == 64);
    check_numbers();
    CHECK(setenv("TARN_TARGET", "abacus", 1) == 0);
    CHECK(device_list(&list, &count) == TARN_OK && count > 0);
    CHECK(context_open(&list[0], &c) == TARN_ERR_ENVIRONMENT && c == NULL);
    CHECK(strstr(error_text(), "TARN_TARGET=abacus") != NULL);
    CHECK(strstr(error_text(), "avx512, zen, avx2, neon") != NULL);
    CHECK(unsetenv("TARN_TARGET") == 0);
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
    check_kept();
    check_named();
    check_caches();
    return failures > 0;
}
