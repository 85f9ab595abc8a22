/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of devices: those of a kind, and what driver and operating system know better. */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "opencl.h"

/* ---- kinds ---------------------------------------------------------------------------------- */

enum kind_number {
    KIND_AVX512,
    KIND_ZEN,
    KIND_AVX2,
    KIND_NEON,
    KIND_GENERIC,
    KIND_NVIDIA,
    KIND_AMD,
    KIND_INTEL,
    KINDS
};

struct kind {
    const char *name;
    struct device_figures figures;
};

/* What CPUs with such vectors have in common; a third cache is near to cores or far. */
#define VECTORS_OF_512 \
    .lanes = 16, .registers = 32, .fmas_per_cycle = 2, .loads_per_cycle = 2, .fma_latency = 4, \
    .l1_bytes = 32 << 10, .l2_bytes = 1 << 20, .l2_line_cycles = 1.3, .cycles_per_second = 2.6e9, \
    .launch_seconds = 30e-6, .barrier_seconds = 20e-9, .copy_bytes_per_second = 1e10

/* Of common members of each kind, by their makers' optimisation manuals; what a launch costs on a
 * CPU is PoCL's, with its workers awake. On the safe side where members differ: a tile that leaves
 * registers free costs a few percent, one that spills more. */
static const struct kind kinds[KINDS] = {
    [KIND_AVX512] = { "avx512",
                      { VECTORS_OF_512,
                        .far_line_cycles = 8.5 } }, /* servers: two units of 512 bits */
    /* AMD's: four or eight cores share a third cache, which gives each of them 32 bytes a cycle. Zen 4 computes these
     * vectors in halves; kernels were not better for knowing it. */
    [KIND_ZEN] = { "zen", { VECTORS_OF_512, .far_line_cycles = 4 } },
    [KIND_AVX2] = { "avx2",
                    { .lanes = 8,
                      .registers = 16,
                      .fmas_per_cycle = 2,
                      .loads_per_cycle = 2,
                      .fma_latency = 4, /* Zen's, Haswell's is 5 */
                      .l1_bytes = 32 << 10,
                      .l2_bytes = 256 << 10,
                      .l2_line_cycles = 2,
                      .far_line_cycles = 7,
                      .cycles_per_second = 3e9,
                      .launch_seconds = 30e-6,
                      .barrier_seconds = 20e-9,
                      .copy_bytes_per_second = 1e10 } },
    [KIND_NEON] = { "neon", /* Cortex-A7x, Neoverse */
                    { .lanes = 4,
                      .registers = 32,
                      .fmas_per_cycle = 2,
                      .loads_per_cycle = 2,
                      .fma_latency = 4,
                      .l1_bytes = 32 << 10,
                      .l2_bytes = 256 << 10,
                      .l2_line_cycles = 3,
                      .far_line_cycles = 8.5,
                      .cycles_per_second = 2.4e9,
                      .launch_seconds = 30e-6,
                      .barrier_seconds = 20e-9,
                      .copy_bytes_per_second = 1e10 } },
    [KIND_GENERIC] = { "generic", /* any CPU: vectors of 128 bits, as SSE has them */
                       { .lanes = 4,
                         .registers = 16,
                         .fmas_per_cycle = 1,
                         .loads_per_cycle = 1,
                         .fma_latency = 5,
                         .l1_bytes = 32 << 10,
                         .l2_bytes = 256 << 10,
                         .l2_line_cycles = 4,
                         .far_line_cycles = 8.5,
                         .cycles_per_second = 2e9,
                         .launch_seconds = 30e-6,
                         .barrier_seconds = 20e-9,
                         .copy_bytes_per_second = 5e9 } },
    [KIND_NVIDIA] = { "nvidia", /* a multiprocessor: four units of a warp; half of the 255 registers of an item */
                      { .lanes = 32,
                        .registers = 128,
                        .fmas_per_cycle = 4,
                        .loads_per_cycle = 1,
                        .fma_latency = 4,
                        .l1_bytes = 48 << 10,
                        .l2_bytes = 256 << 10,
                        .l2_line_cycles = 1,
                        .far_line_cycles = 3,
                        .cycles_per_second = 1.7e9,
                        .launch_seconds = 5e-6,
                        .barrier_seconds = 20e-9,
                        .copy_bytes_per_second = 5e11,
                        .units = 100,
                        .items = true } },
    [KIND_AMD] = { "amd", /* wavefronts of 64 on four units of 16 */
                   { .lanes = 64,
                     .registers = 128,
                     .fmas_per_cycle = 1,
                     .loads_per_cycle = 0.25,
                     .fma_latency = 4,
                     .l1_bytes = 32 << 10,
                     .l2_bytes = 64 << 10,
                     .l2_line_cycles = 1,
                     .far_line_cycles = 4,
                     .cycles_per_second = 1.7e9,
                     .launch_seconds = 8e-6,
                     .barrier_seconds = 20e-9,
                     .copy_bytes_per_second = 5e11,
                     .units = 60,
                     .items = true } },
    [KIND_INTEL] = { "intel", /* eight threads of sixteen items */
                     { .lanes = 16,
                       .registers = 64,
                       .fmas_per_cycle = 1,
                       .loads_per_cycle = 0.5,
                       .fma_latency = 8,
                       .l1_bytes = 32 << 10,
                       .l2_bytes = 32 << 10,
                       .l2_line_cycles = 2,
                       .far_line_cycles = 8,
                       .cycles_per_second = 1.2e9,
                       .launch_seconds = 1e-5,
                       .barrier_seconds = 50e-9,
                       .copy_bytes_per_second = 4e10,
                       .units = 32,
                       .items = true } },
};
bool figures_kind(const char *name, struct device_figures *out)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *out = kinds[i].figures;
            if (out->units == 0)
                out->units = 1;
            return true;
        }
    return false;
}

/* Takes a number from a text: how many characters it has; 0: there is none. */
static int take_count(const char *text, int *out)
{
    enum { MOST_DIGITS = 6 };
    const int digits = (int)strspn(text, "0123456789");
    *out = digits > 0 && digits <= MOST_DIGITS ? atoi(text) : 0;
    return *out > 0 ? digits : 0;
}

/* The same behind a sign: whether there is none, or one with its number. */
static bool take_behind(const char **at, char sign, int *out)
{
    if (**at != sign)
        return true;
    *at += 1 + take_count(*at + 1, out);
    return *out > 0;
}

bool figures_wanted(const char *text, struct device_figures *out)
{
    char name[16];
    struct device_figures f;
    int units = 0, items = 0, launch = 0;
    const size_t length = strcspn(text, ":@");
    const char *at = text + length;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (!figures_kind(name, &f) || !take_behind(&at, ':', &units) ||
        (units > 0 && f.items && !take_behind(&at, 'x', &items)) ||
        !take_behind(&at, '@', &launch) || *at != '\0')
        return false;
    *out = f;
    out->units = units > 0 ? units : f.units;
    out->group_items = items;
    out->launch_seconds = launch > 0 ? launch * 1e-9 : f.launch_seconds;
    return true;
}

const struct figure_row figure_rows[FIGURE_COUNT] = {
#define FIGURE_ROW(type, name, least, most, meaning) { #name, meaning, least, most },
    FIGURE_LIST(FIGURE_ROW)
#undef FIGURE_ROW
};

void figures_values(const struct device_figures *f, double out[FIGURE_COUNT])
{
#define FIGURE_VALUE(type, name, least, most, meaning) *out++ = (double)f->name;
    FIGURE_LIST(FIGURE_VALUE)
#undef FIGURE_VALUE
}

void figures_set(struct device_figures *f, const double values[FIGURE_COUNT])
{
#define FIGURE_SET(type, name, least, most, meaning) f->name = (type)*values++;
    FIGURE_LIST(FIGURE_SET)
#undef FIGURE_SET
}

tarn_status figures_check(const struct device_figures *f)
{
    double values[FIGURE_COUNT];
    figures_values(f, values);
    for (int i = 0; i < FIGURE_COUNT; i++)
        if (!(values[i] >= figure_rows[i].least && values[i] <= figure_rows[i].most)) /* NaN, too */
            return error_set(TARN_ERR_ARGUMENT, "figures: %s is %g, must be from %g to %g",
                             figure_rows[i].name, values[i], figure_rows[i].least,
                             figure_rows[i].most);
    return TARN_OK;
}

/* ---- devices -------------------------------------------------------------------------------- */

static bool says(const struct device *d, const char *vendor)
{
    return strstr(d->vendor, vendor) != NULL || strstr(d->platform, vendor) != NULL;
}

/* A CPU's kind by the vectors of its driver, and by whose it is; a GPU's by whose it is. */
static enum kind_number kind_of(const struct device *d)
{
    if (d->kind != DEVICE_CPU)
        return says(d, "NVIDIA")                             ? KIND_NVIDIA
               : says(d, "AMD") || says(d, "Advanced Micro") ? KIND_AMD
                                                             : KIND_INTEL;
#ifdef __aarch64__
    return KIND_NEON;
#else
    if (d->native_float_width >= 16)
        return says(d, "AMD") ? KIND_ZEN : KIND_AVX512;
    return d->native_float_width >= 8 ? KIND_AVX2 : KIND_GENERIC;
#endif
}

/* Below it the driver means the cache of one unit, as AMD's does. */
#define SMALL_CACHE ((size_t)4096)

tarn_status target_check_name(void)
{
    struct device_figures f;
    char names[128] = "";
    const char *name = env_text(ENV_TARGET);
    if (*name == '\0' || figures_wanted(name, &f))
        return TARN_OK;
    for (int i = 0; i < KINDS; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? ", " : "",
                 kinds[i].name);
    return error_set(TARN_ERR_ENVIRONMENT,
                     "TARN_TARGET=%s: no such kind of device; there are %s, with :UNITS behind "
                     "them, or :UNITSxITEMS of a GPU's groups, and @NANOSECONDS of a launch",
                     name, names);
}

struct device_figures figures_default(const struct device *d)
{
    struct device_figures f = kinds[kind_of(d)].figures;
    f.units = (int)d->compute_units;
    if (d->clock_hz > 0)
        f.cycles_per_second = d->clock_hz;
    if (d->wavefront > 0)
        f.lanes = (int)d->wavefront;
    if (d->kind == DEVICE_CPU)
        cpu_caches("/sys/devices/system/cpu/cpu0/cache", &f.l1_bytes, &f.l2_bytes);
    else if (d->compute_units > 0 && d->cache_bytes / d->compute_units >= SMALL_CACHE)
        f.l2_bytes = d->cache_bytes / d->compute_units;
    if (d->kind != DEVICE_CPU && d->local_bytes > 0)
        f.l1_bytes = d->local_bytes;
    return f;
}
