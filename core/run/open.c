/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a replica on a device, and closes it with all that it has. In: a device, by text or as
 * selected. Out: a replica without nodes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "env.h"
#include "log.h"
#include "run/memory_need.h"
#include "run/plan_cache.h"
#include "run/when_known.h"
#include "trace.h"

tarn_status replica_check_options(const char *caller, const tarn_open_options *o)
{
    if (!(o->timeout >= 0) || isinf(o->timeout))
        return error_set(TARN_ERR_ARGUMENT, "%s: a timeout of %g s", caller, o->timeout);
    if (!(o->build_timeout >= 0) || isinf(o->build_timeout))
        return error_set(TARN_ERR_ARGUMENT, "%s: a build_timeout of %g s", caller,
                         o->build_timeout);
    if (o->winograd < -1 || o->winograd > 1)
        return error_set(TARN_ERR_ARGUMENT, "%s: winograd is %d, must be -1, 0 or 1", caller,
                         o->winograd);
    return TARN_OK;
}

tarn_status replica_open(const struct device *device, const tarn_open_options *options,
                         tarn_replica **out)
{
    *out = NULL;
    tarn_replica *r = calloc(1, sizeof *r);
    if (r == NULL)
        return error_set(TARN_ERR_MEMORY, "open: out of host memory for a replica");
    r->step = 1;
    r->training = true;
    const tarn_status s = context_open(device, &r->context);
    if (s != TARN_OK) {
        free(r);
        return s;
    }
    context_set_timeouts(r->context, options->timeout, options->build_timeout);
    r->memory_limit = options->memory_limit;
    r->winograd = options->winograd;
    *out = r;
    return TARN_OK;
}

tarn_replica *tarn_open(const char *device)
{
    return tarn_open_with((tarn_open_options){ .device = device });
}

tarn_replica *tarn_open_with(tarn_open_options options)
{
    struct device chosen;
    tarn_replica *r = NULL;
    int count = 0;
    if (replica_check_options("open", &options) != TARN_OK ||
        device_select(options.device, &chosen, 1, &count) != TARN_OK)
        return NULL;
    if (count < 1) {
        error_set(TARN_ERR_NO_DEVICE, "open: no OpenCL device was selected");
        return NULL;
    }
    return replica_open(&chosen, &options, &r) == TARN_OK ? r : NULL;
}

void tarn_close(tarn_replica *r)
{
    if (r == NULL)
        return;
    memory_need_end(r);
    graph_reset(r);
    while (r->resources != NULL) {
        const struct resource first = *r->resources;
        replica_unregister(r, first.self);
        first.close(first.self);
    }
    const tarn_status s = context_finish(r->context);
    if (s != TARN_OK)
        replica_fail(r, s, NULL);
    known_close(r);
    plan_cache_free(r->plans);
    owned_release(r);
    graph_release(&r->graph);
    context_close(r->context);
    free(r);
    trace_flush();
}

const char *tarn_device_name(const tarn_replica *r)
{
    return r != NULL ? context_device(r->context)->name : "";
}

tarn_status tarn_list_devices(char *out, size_t capacity)
{
    static const char *const kinds[] = { "cpu", "gpu", "other" };
    const struct device *list;
    int count = 0;
    if (out == NULL || capacity == 0)
        return error_set(TARN_ERR_ARGUMENT, "list_devices: no room for the text");
    out[0] = 0;
    TRY(device_list(&list, &count));
    size_t at = 0;
    for (int i = 0; i < count && at < capacity; i++) {
        const struct device *d = &list[i];
        const int n =
            snprintf(out + at, capacity - at, "%d: %s %s (%s), %u units, %zu MiB\n", d->number,
                     kinds[d->kind], d->name, d->platform, d->compute_units, d->memory_bytes >> 20);
        at += n > 0 ? (size_t)n : 0;
    }
    return TARN_OK;
}

/* ---- the library ---------------------------------------------------------------------------- */

const char *tarn_version(void)
{
    return TARN_VERSION;
}

int tarn_version_number(void)
{
    return TARN_VERSION_NUMBER;
}

void tarn_set_log(tarn_log_fn each, void *user)
{
    log_to(each, user);
}

tarn_status tarn_set_option(const char *name, const char *value)
{
    if (name == NULL)
        return error_set(TARN_ERR_ARGUMENT, "set_option: the name is NULL");
    return env_choose(name, value);
}
