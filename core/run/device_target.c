/* SPDX-License-Identifier: Apache-2.0 */
/* A device and the environment as the compiler's figures. In: what the driver says. Out: a
 * target. */
#include "run/device_target.h"

#include <stdatomic.h>
#include <string.h>

#include "env.h"
#include "log.h"
#include "tensor/sum_order.h"

/* Such a driver takes a hundred times as long and more: who waits should know why, and is told once. */
static void warn_of_scalars(const struct device *d)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told))
        log_print(
            TARN_LOG_WARNING,
            "tarn: device \"%s\": its driver compiles no vectors, so steps take a hundred times "
            "as long as with others; TARN_DEVICES chooses another driver's device, such as "
            "PoCL's",
            d->name);
}

/* Whether the environment and the figures ask for work-items rather than vectors. */
static tarn_status wants_items(const struct device *d, const struct device_figures *f, bool wide,
                               bool *items)
{
    const char *wanted = env_text(ENV_SCHEDULE);
    const bool automatic = strcmp(wanted, "auto") == 0;
    /* A driver that makes scalars of vectors compiles sixteen times as much for the same sums. */
    const bool scalar = d->kind == DEVICE_CPU && d->native_float_width == 1;
    *items = wide || strcmp(wanted, "gpu") == 0 || (automatic && (f->items || scalar));
    if (d->max_group < LANES)
        *items = false; /* a team must fit into a group */
    if (scalar)
        warn_of_scalars(d);
    if (wide && !*items)
        return error_set(TARN_ERR_DTYPE,
                         "compile: types of 64 bits need groups of %d work-items, %s has %zu: use "
                         "float32 and int32",
                         LANES, d->name, d->max_group);
    if (strcmp(wanted, "gpu") != 0 && strcmp(wanted, "cpu") != 0 && !automatic)
        return error_set(TARN_ERR_ENVIRONMENT,
                         "TARN_SCHEDULE=%s: no such schedule; there are auto, cpu, gpu", wanted);
    return TARN_OK;
}

static enum winograd_use wanted_winograd(const struct device *d, int option)
{
    if (option != 0)
        return option > 0 ? WINOGRAD_ALWAYS : WINOGRAD_NEVER;
    if (strcmp(env_text(ENV_WINOGRAD), "auto") == 0)
        return d->kind == DEVICE_CPU ? WINOGRAD_WHERE_FASTER : WINOGRAD_NEVER;
    return env_number(ENV_WINOGRAD) != 0 ? WINOGRAD_ALWAYS : WINOGRAD_NEVER;
}

tarn_status device_target(const struct device *d, int winograd, bool wide, struct target *out)
{
    struct device_figures f = figures_of(d);
    const int units = f.units;
    bool items;
    TRY(wants_items(d, &f, wide, &items));
    /* Either schedule runs on any device: here with the figures of a kind that it is for. */
    const bool items_fit = f.items == items;
    if (!items_fit) {
        (void)figures_kind(items ? "nvidia" : "generic", &f);
        f.units = units;
    }
    *out = target_of(&f);
    if (!items_fit)
        out->item.panel_bytes = 0; /* a CPU's local memory is memory like the rest */
    out->fuse = env_number(ENV_FUSE) != 0;
    if (out->local_bytes > d->local_bytes)
        out->local_bytes = d->local_bytes;
    if (!items)
        out->winograd = wanted_winograd(d, winograd);
    const double tile = env_number(ENV_TILE);
    out->tile_number = tile >= 0 && tile < TARGET_TILES ? (int)tile : 0;
    out->product.library = d->kind != DEVICE_CPU;
    while (out->item.group_items > (int)d->max_group)
        out->item.group_items /= 2;
    return TARN_OK;
}
