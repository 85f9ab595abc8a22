/* SPDX-License-Identifier: Apache-2.0 */
/* What a device is like where OpenCL does not tell: vectors, registers, caches, what a launch
 * costs. Plain numbers, so that the compiler may know them; backend.h has figures_of(). */
#ifndef TARN_FIGURES_H
#define TARN_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* clang-format off */
/* A unit is a core, or a GPU's compute unit; a vector is a register of a core, or the work-items of
 * a GPU that go together. A figure below least or above most is a mistake.
 *    type    name               least   most      meaning */
#define FIGURE_LIST(X) \
    X(int,    lanes,             1,      128,      "floats of a vector") \
    X(int,    registers,         8,      512,      "vectors that registers hold; GPUs: floats that a work-item's hold") \
    X(double, fmas_per_cycle,    0.05,   64,       "multiply-adds of vectors that a unit begins in a cycle") \
    X(double, loads_per_cycle,   0.05,   64,       "loads of vectors likewise, from the first cache") \
    X(double, fma_latency,       1,      64,       "cycles of a multiply-add, for one that waits for it") \
    X(size_t, l1_bytes,          4096,   1 << 24,  "first cache that a unit has for itself; GPUs: local memory") \
    X(size_t, l2_bytes,          4096,   1 << 30,  "second cache, likewise; of a shared one its share") \
    X(double, l2_line_cycles,    0.1,    500,      "cycles to read 64 bytes in a row from the second cache") \
    X(double, far_line_cycles,   0.1,    5000,     "the same from behind it, while all units read") \
    X(double, cycles_per_second, 1e7,    2e10,     "clock of a unit at work") \
    X(double, launch_seconds,    1e-7,   1e-2,     "a kernel more, all units at work before and after") \
    X(double, barrier_seconds,   1e-10,  1e-3,     "a barrier of a group") \
    X(double, copy_bytes_per_second, 1e7, 1e14,    "a copy from memory to memory, by all units")
/* clang-format on */

struct device_figures {
#define FIGURE_MEMBER(type, name, least, most, meaning) type name;
    FIGURE_LIST(FIGURE_MEMBER)
#undef FIGURE_MEMBER
    int units;
    int group_items; /* work-items of a group; 0: as the compiler thinks best */
    bool items;      /* of a GPU's kind: for kernels of work-items, not of vectors */
    bool measured;   /* on such a device; else defaults */
};

/* For lists of all figures. */
#define FIGURE_ONE(type, name, least, most, meaning) +1
enum { FIGURE_COUNT = 0 FIGURE_LIST(FIGURE_ONE) };
#undef FIGURE_ONE
struct figure_row {
    const char *name, *meaning;
    double least, most;
};
extern const struct figure_row figure_rows[FIGURE_COUNT];
void figures_values(const struct device_figures *f, double out[FIGURE_COUNT]);
void figures_set(struct device_figures *f, const double values[FIGURE_COUNT]);

/* Typical figures of a kind of device, one unit, by name: "avx2", "neon". False: no such kind. */
bool figures_kind(const char *name, struct device_figures *out);
/* The same with units behind the name, and work-items of a group where a kind has them: "nvidia", "nvidia:132",
 * "nvidia:132x256"; and last with what a launch costs, in nanoseconds: "avx2:8@1". False, and *out is as it was: no such kind, or no
 * such numbers. */
bool figures_wanted(const char *text, struct device_figures *out);
/* Whether all are within their limits; else TARN_ERR_ARGUMENT, and error_text() says which is not. */
TARN_CHECKED tarn_status figures_check(const struct device_figures *f);

/* Bytes of the first and second cache that one of the first processor's units has for itself, by
 * the folder in which Linux describes it ("/sys/devices/system/cpu/cpu0/cache"): processors that
 * share a cache have a part each. What is not known stays as it is. */
void cpu_caches(const char *folder, size_t *first, size_t *second);

#endif
