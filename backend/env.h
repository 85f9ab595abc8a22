/* SPDX-License-Identifier: Apache-2.0 */
/* Every environment variable that Tarn reads: no getenv elsewhere. */
#ifndef TARN_ENV_H
#define TARN_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* clang-format off */
/*      id         name                 default   meaning */
#define ENV_LIST(X) \
    X(DEVICES,     "TARN_DEVICES",      "",       "devices to use, by number, type, part or name: 0,2  gpu  cpu/2  cpu:0/2  pthread; default: the first GPU, else the first device; in a launch all") \
    X(NUM_DEVICES, "TARN_NUM_DEVICES",  "",       "so many devices of those selected; a launch divides a lone CPU into them") \
    X(CACHE_DIR,   "TARN_CACHE_DIR",    "",       "compile cache; default $XDG_CACHE_HOME/tarn, else $HOME/.cache/tarn; 'off' disables it") \
    X(CACHE_BYTES, "TARN_CACHE_BYTES",  "1e9",    "size of the compile cache, the driver's part included; 0: no limit") \
    X(FUSE,        "TARN_FUSE",         "1",      "0 runs each op as its own kernel") \
    X(DEBUG,       "TARN_DEBUG",        "",       "comma-separated: graph, fuse, cost, plan, memory, nan, kernels, time, shard, trap") \
    X(MEMORY_LIMIT, "TARN_MEMORY_LIMIT", "0",     "bytes of device memory that a replica may have in use; what would need more is refused before it runs; 0: no limit") \
    X(COMPILERS,   "TARN_COMPILERS",    "auto",   "processes that compile kernels side by side, where the driver compiles one at a time: auto (one a core), 0: this one alone") \
    X(QUICK,       "TARN_QUICK",        "auto",   "kernels that the driver compiled without its optimiser, same bits: auto where it takes seconds, until the optimised ones are there, 0 never, 1 for ever") \
    X(PROGRESS,    "TARN_PROGRESS",     "auto",   "a line while compiling takes more than 2 s: auto (where stderr is a terminal), 1 always, 0 never") \
    X(TIMEOUT,     "TARN_TIMEOUT",      "30",     "seconds to wait for a device before giving up") \
    X(BUILD_TIMEOUT, "TARN_BUILD_TIMEOUT", "300", "seconds that the driver may take to compile a kernel, at its first launch") \
    X(AWAKE,       "TARN_AWAKE",        "1",      "0 lets the cores of a CPU device sleep between its kernels") \
    X(PIN,         "TARN_PIN",          "1",      "0 lets the threads of replicas on parts of a CPU move between its cores") \
    X(WINOGRAD,    "TARN_WINOGRAD",     "auto",   "Winograd's algorithm for convolutions of 3x3 and 5x5 windows: auto where it is faster, on CPUs; 1 wherever it applies; 0 nowhere") \
    X(GEMM,        "TARN_GEMM",         "auto",   "who computes large matrix products: auto, nest, tarn, clblast") \
    X(TUNE,        "TARN_TUNE",         "",       "1 measures providers of matrix products and tiles of heavy sums, 0 nothing; default: only on devices other than CPUs") \
    X(TILE,        "TARN_TILE",         "0",      "for tests: sums take another of their four tiles, 1 to 3; same bits") \
    X(SCHEDULE,    "TARN_SCHEDULE",     "auto",   "shape of kernels: auto (by the device's type), cpu, gpu") \
    X(TARGET,      "TARN_TARGET",       "",       "for tests: kernels for a kind of device, wherever they run: avx512, avx2, neon, generic, nvidia, amd, intel; with units behind it: nvidia:132, or with those and the work-items of groups: nvidia:132x256") \
    X(REPLAY,      "TARN_REPLAY",       "auto",   "launches that come again as they were are recorded by the driver and enqueued as one command, where it can: auto (on devices other than CPUs, where a trial was faster), 0 never, 1 wherever it can; same bits") \
    X(TRACE,       "TARN_TRACE",        "",       "file that gets a trace of what the host, the devices and the loaders do when, for Perfetto or chrome://tracing") \
    X(LINK,        "TARN_LINK",         "",       "how several machines are joined: openmpi, mpich, the path of a plug-in, off; default: as the launcher says") \
    X(EXCHANGE,    "TARN_EXCHANGE",     "auto",   "how nodes add up: auto (by nodes and size), direct, halving, doubling")
/* clang-format on */

enum env_id {
#define ENV_ENUM(id, name, fallback, help) ENV_##id,
    ENV_LIST(ENV_ENUM)
#undef ENV_ENUM
        ENV_COUNT
};

struct env_entry {
    const char *name, *fallback, *help;
};
extern const struct env_entry env_table[ENV_COUNT];

/* Value of a variable, its default when unset or empty. Never NULL. */
const char *env_text(enum env_id id);
/* As a number; the default when it does not parse completely. */
double env_number(enum env_id id);
/* As seconds, above 0; TARN_ERR_ARGUMENT for anything else. */
TARN_CHECKED tarn_status env_seconds(enum env_id id, double *out);
/* Whether comma-separated TARN_DEBUG contains this word. */
bool env_debug(const char *word);

/* From now on a variable has this value, whatever the environment says; NULL: what that says.
 * TARN_ERR_ARGUMENT for a name that is none of the above. Any thread. */
TARN_CHECKED tarn_status env_choose(const char *name, const char *value);
/* The environment for a program that is to see what was chosen, too: one piece of memory, to be freed, which
 * points into the process's own; NULL: no memory. */
char **env_for_child(void);

/* A variable of the system (HOME, XDG_CACHE_HOME, POCL_CACHE_DIR); "" when unset. */
const char *env_system(const char *name);

#endif
