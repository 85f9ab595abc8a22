/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics as text. In: the numbers of a replica. Out: lines for people. */
#include <stdio.h>
#include <string.h>

#include "tensor/replica.h"

static double each(double sum, uint64_t steps)
{
    return steps > 0 ? 1e3 * sum / (double)steps : 0;
}

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

tarn_status tarn_metrics_report(const tarn_replica *r, char *out, size_t capacity)
{
    if (out == NULL || capacity < 1)
        return error_set(TARN_ERR_ARGUMENT, "metrics_report: no room for the text");
    out[0] = '\0';
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "metrics_report: the replica is NULL");
    const tarn_metrics m = tarn_metrics_get(r);
    snprintf(out, capacity,
             "rank %d after %llu steps on %s\n"
             "  compiled     %llu graphs in %.3f s; %llu times one was known\n"
             "  last step    %llu operations, %llu launches\n"
             "  each step    record %.3f ms, step mark %.3f ms, wait %.3f ms\n"
             "  device       %.1f MiB in use, at most %.1f MiB (%.1f expected)\n"
             "  steady       the last %llu steps: nothing compiled or allocated\n",
             r->peers != NULL ? r->peers->rank : 0, (unsigned long long)m.steps,
             tarn_device_name(r), (unsigned long long)m.plans_compiled, m.compile_seconds,
             (unsigned long long)m.plan_hits, (unsigned long long)m.nodes_last_step,
             (unsigned long long)m.launches_last_step, each(m.record_seconds, m.steps),
             each(m.host_seconds, m.steps), each(m.wait_seconds, m.steps), mib(m.device_bytes),
             mib(m.device_bytes_peak), mib(m.device_bytes_expected),
             (unsigned long long)m.steady_steps);
    const size_t used = strlen(out);
    if (m.exchanges > 0)
        snprintf(out + used, capacity - used, "  mesh         %llu exchanges, %.3f MiB received\n",
                 (unsigned long long)m.exchanges, mib(m.received_bytes));
    const size_t end = strlen(out);
    if (m.skipped_steps > 0)
        snprintf(out + end, capacity - end, "  loss scale   %llu steps skipped\n",
                 (unsigned long long)m.skipped_steps);
    const size_t last = strlen(out);
    if (m.quick_launches_last_step > 0)
        snprintf(out + last, capacity - last,
                 "  quick        %llu launches of the last step: still to be optimised\n",
                 (unsigned long long)m.quick_launches_last_step);
    const size_t kept = strlen(out);
    if (m.quick_kernels_kept > 0)
        snprintf(out + kept, capacity - kept,
                 "  quick        %llu kernels stay so: processes that were to optimise them died\n",
                 (unsigned long long)m.quick_kernels_kept);
    return TARN_OK;
}
