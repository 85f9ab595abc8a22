/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels timed by the device's clock, and told of: to the user's function, or as lines. In: a
 * kernel that ran. Out: its time and its cost, told. Changes nothing that is computed. */
#include "run/profile.h"
#include "tensor/replica.h"

#include "clock.h"
#include "env.h"
#include "log.h"

bool profile_wanted(const tarn_replica *r)
{
    return r->profile != NULL || env_debug("time");
}

tarn_status profile_begin(tarn_replica *r, struct profiling *out)
{
    TRY(context_profile(r->context, true));
    TRY(context_finish(r->context));
    out->busy = context_counters(r->context).busy_seconds;
    out->clock = seconds_now();
    return TARN_OK;
}

static void print(const tarn_kernel_run *run)
{
    log_print(TARN_LOG_DEBUG, "tarn: time %8.1f us %8.2f GFLOP/s %7.2f GB/s  %s: %s",
              1e6 * run->seconds, 1e-9 * run->flops / run->seconds,
              1e-9 * run->bytes / run->seconds, run->name, run->about);
}

tarn_status profile_end(tarn_replica *r, const struct profiling *begin, const struct plan_kernel *k,
                        uint32_t times)
{
    TRY(context_finish(r->context));
    const double clock = seconds_now() - begin->clock;
    const double busy = context_counters(r->context).busy_seconds - begin->busy;
    /* A library tells only of the last of its kernels, and some drivers of none. */
    const bool told = k->product_count == 0 && busy > 0;
    const tarn_kernel_run run = { .name = k->kernel != NULL ? k->name : "product",
                                  .about = k->about,
                                  .seconds = told ? busy : clock,
                                  .flops = times * k->cost.flops,
                                  .bytes = times * k->cost.bytes,
                                  .expected = times * k->time.seconds,
                                  .bound = kernel_bound_name(k->time.bound) };
    if (env_debug("time"))
        print(&run);
    if (r->profile != NULL)
        r->profile(&run, r->profile_user);
    return TARN_OK;
}

tarn_status tarn_profile(tarn_replica *r, tarn_profile_fn each, void *user)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "profile: the replica is NULL");
    const tarn_status s = context_profile(r->context, each != NULL || env_debug("time"));
    if (s != TARN_OK)
        return replica_fail(r, s, NULL);
    r->profile = each;
    r->profile_user = user;
    return TARN_OK;
}
