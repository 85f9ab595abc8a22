/* SPDX-License-Identifier: Apache-2.0 */
/* What a replica has beside its graph and its owned tensors: the first error that it met, what is
 * to be closed with it, settings, and numbers. In: calls from all of core. Out: lines for people.
 * Knows neither the compiler nor plans: run/ opens, steps and evaluates. */
#include "tensor/replica.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "trace.h"

/* ---- errors --------------------------------------------------------------------------------- */

static void keep_first(tarn_replica *r, tarn_status status, const char *line)
{
    if (r == NULL) {
        error_set(status, "%s", line);
        return;
    }
    if (r->status != TARN_OK) {
        r->errors++;
        return;
    }
    r->status = status;
    error_set(status, "%s (step %u)", line, (unsigned)r->step);
    snprintf(r->error, sizeof r->error, "%s", error_text());
}

tarn_tensor graph_poison(tarn_replica *r)
{
    return (tarn_tensor){ r, 0, r != NULL ? r->step : 0 };
}

void graph_warn(const char *format, ...)
{
    char line[960];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    log_print(TARN_LOG_WARNING, "tarn: %s", line);
}

tarn_tensor graph_missing(tarn_replica *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->missing, sizeof r->missing, format, args);
    va_end(args);
    return graph_poison(r);
}

tarn_tensor graph_fail(tarn_replica *r, tarn_status status, const char *format, ...)
{
    char line[960];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    keep_first(r, status, line);
    return graph_poison(r);
}

tarn_status replica_fail(tarn_replica *r, tarn_status status, const char *format, ...)
{
    char line[960];
    if (format != NULL) {
        va_list args;
        va_start(args, format);
        vsnprintf(line, sizeof line, format, args);
        va_end(args);
    } else {
        snprintf(line, sizeof line, "%s", error_text());
    }
    keep_first(r, status, line);
    return status;
}

const char *tarn_error(const tarn_replica *r)
{
    return r != NULL ? r->error : error_text();
}

void tarn_escape(const char *text, char *out, size_t capacity)
{
    text_escape(text, out, capacity);
}

tarn_status tarn_error_status(const tarn_replica *r)
{
    return r != NULL ? r->status : error_last();
}

void tarn_error_clear(tarn_replica *r)
{
    if (r == NULL)
        return;
    /* The step is dropped as a failed one, so that kept tensors without a value go. */
    if (r->status == TARN_OK)
        r->status = TARN_ERR_STATE;
    graph_reset(r);
    r->status = TARN_OK;
    r->errors = 0;
    r->error[0] = 0;
}

const char *tarn_status_name(tarn_status status)
{
    return status_name(status);
}

/* ---- what is closed with it ----------------------------------------------------------------- */

tarn_status replica_register(tarn_replica *r, void (*close)(void *self), void *self)
{
    struct resource *entry = malloc(sizeof *entry);
    if (entry == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "out of host memory to register a resource");
    *entry = (struct resource){ close, self, r->resources };
    r->resources = entry;
    return TARN_OK;
}

void replica_unregister(tarn_replica *r, void *self)
{
    for (struct resource **at = &r->resources; *at; at = &(*at)->next) {
        struct resource *entry = *at;
        if (entry->self == self) {
            *at = entry->next;
            free(entry);
            return;
        }
    }
}

/* ---- settings and numbers ------------------------------------------------------------------- */

void tarn_seed(tarn_replica *r, uint64_t seed)
{
    if (r != NULL)
        r->seed = seed;
}

void tarn_train(tarn_replica *r, bool training)
{
    if (r != NULL)
        r->training = training;
}

bool tarn_training(const tarn_replica *r)
{
    return r != NULL && r->training;
}

void replica_trace(tarn_replica *r)
{
    char name[64];
    if (r->traced)
        return;
    r->traced = true;
    const int rank = r->peers != NULL ? r->peers->rank : 0;
    r->track = trace_track("rank %d: host", rank);
    snprintf(name, sizeof name, "rank %d: device", rank);
    const tarn_status s = context_trace(r->context, name);
    if (s != TARN_OK)
        replica_fail(r, s, NULL);
}

tarn_metrics tarn_metrics_get(const tarn_replica *r)
{
    tarn_metrics m;
    memset(&m, 0, sizeof m);
    if (r == NULL)
        return m;
    m = r->metrics;
    m.launches = context_counters(r->context).launches;
    m.device_bytes = buffer_statistics(r->context).live_bytes;
    m.allocations = context_counters(r->context).buffers_created;
    m.device_bytes_peak = buffer_statistics(r->context).peak_bytes;
    return m;
}
