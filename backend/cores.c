/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that stay on the cores of their part of a CPU. When every core has a worker of the
 * driver, a host thread shares its core with one. With that of its own part it takes turns: a
 * worker rests while its replica's thread records or reduces. One of another part goes on
 * computing, and the thread gets its next turn milliseconds later, when all others have long been
 * waiting for it. */
#include <sched.h>

#include "env.h"
#include "opencl.h"

/* PoCL's worker i stays on core i; equal parts have equal runs of workers. */
static bool cores_of(const struct device *d, cpu_set_t *out)
{
    const struct device *list;
    cpu_set_t allowed;
    int known = 0;
    if (d->kind != DEVICE_CPU || d->parts < 2 || !d->is_pocl ||
        env_system("POCL_AFFINITY")[0] != '1' || device_list(&list, &known) != TARN_OK ||
        sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return false;
    const unsigned cores = list[d->number].compute_units, each = cores / (unsigned)d->parts;
    for (unsigned i = 0; i < cores; i++)
        if (!CPU_ISSET(i, &allowed))
            return false;
    CPU_ZERO(out);
    for (unsigned i = 0; i < each; i++)
        CPU_SET((unsigned)d->part * each + i, out);
    return each > 0;
}

void device_stay(const struct device *d)
{
    cpu_set_t cores;
    if (env_number(ENV_PIN) != 0 && cores_of(d, &cores))
        (void)!sched_setaffinity(0, sizeof cores, &cores); /* a slower thread is no failure */
}
