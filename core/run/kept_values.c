/* SPDX-License-Identifier: Apache-2.0 */
/* What the first kernels of a plan make of tensors that seldom change, such as parameters in evaluation
 * (3_kernels/repeat.c). In: a plan that comes to run. Out: its commands, without those kernels where what they made last
 * time still holds. */
#include "run/kept_values.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Times the bytes of parameters and buffers, that all plans together keep of what they made of them. */
#define KEPT_MOST 16

/* What a plan's first kernels make something of, and how often that had been written. */
static uint64_t state_of(const tarn_replica *r, const struct plan *plan)
{
    uint64_t h = r->owned_writes;
    for (int k = 0; k < plan->once; k++)
        for (int i = 0; i < plan->kernels[k].param_count; i++) {
            const struct param *p = &plan->kernels[k].params[i];
            if (p->kind != PARAM_OWNED)
                continue;
            const uint32_t slot = r->graph.owned_slots[p->slot];
            const struct owned *o = &r->owned[slot];
            const uint64_t flat = o->flat != 0 ? r->owned[o->flat - 1].writes : 0;
            const uint64_t state[] = { slot, o->generation, o->writes, flat };
            h = XXH3_64bits_withSeed(state, sizeof state, h);
        }
    return h != 0 ? h : 1;
}

static void forget_kept(struct plan *p)
{
    buffer_free(p->kept);
    p->kept = NULL;
    p->kept_of = 0;
}

/* Memory for what a plan keeps. All together keep so many times what parameters and buffers take; beyond that who has
 * not run for longest gives his back. */
static tarn_status need_kept(tarn_replica *r, struct plan *plans, struct plan *plan)
{
    struct plan *p, *next;
    size_t most = 0, sum = plan->kept_bytes;
    if (plan->kept_bytes == 0 || plan->kept != NULL)
        return TARN_OK;
    for (uint32_t i = 0; i < r->owned_count; i++)
        if (r->owned[i].kind == OWNED_PARAMETER || r->owned[i].kind == OWNED_BUFFER)
            most += KEPT_MOST * owned_bytes(&r->owned[i]);
    HASH_ITER(hh, plans, p, next)
    {
        sum += p->kept != NULL ? p->kept_bytes : 0;
    }
    HASH_ITER(hh, plans, p, next)
    {
        if (sum > most && p->kept != NULL) {
            sum -= p->kept_bytes;
            forget_kept(p);
        }
    }
    return buffer_new(r->context, plan->kept_bytes, &plan->kept);
}

tarn_status kept_values_run(tarn_replica *r, struct plan *plans, struct plan *plan,
                            const struct binding *b)
{
    TRY(need_kept(r, plans, plan));
    const uint64_t now = plan->kept != NULL && plan->call_count == 0 ? state_of(r, plan) : 0;
    const int first = now != 0 && plan->kept_of == now ? plan->once : 0;
    plan->kept_of = 0;
    for (uint32_t i = 0; i < r->owned_count; i++)
        r->owned[i].writes += r->owned[i].value != 0;
    TRY(execute_plan(r, plan, b, first));
    plan->kept_of = now;
    return TARN_OK;
}
