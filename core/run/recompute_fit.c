/* SPDX-License-Identifier: Apache-2.0 */
/* How many regions of a step are computed again, by the memory that it may take. In: a program in which all are. Out:
 * from which one on they are kept. Those near the loss are the first to be kept, since their values leave soonest. The
 * memory is that of the compiled program, which is made for some numbers of regions; nothing of it is built. */
#include "run/recompute_fit.h"

#include "run/memory_need.h"

static uint32_t count_regions(const struct program *p)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < p->count; i++)
        if (p->nodes[i].op == &op_after && p->nodes[i].arg.after.region > most)
            most = p->nodes[i].arg.after.region;
    return most;
}

static tarn_status need_with(const tarn_replica *r, const struct target *target, size_t now,
                             const struct program *program, size_t *bytes)
{
    struct kernel_plan compiled = { 0 };
    const tarn_status status = compile_program(program, target, &compiled);
    if (status == TARN_OK) {
        const struct memory_need need = memory_need_of(r, program, &compiled, 0, now);
        *bytes = memory_need_sum(&need);
    }
    kernel_plan_free(&compiled);
    return status;
}

tarn_status recompute_fit(const tarn_replica *r, const struct target *target,
                          size_t temporaries_now, struct program *program)
{
    const uint32_t regions = r->recompute_bytes > 0 ? count_regions(program) : 0;
    uint32_t low = 0, high = regions; /* so many may be kept, as far as is known */
    while (low < high) {
        const uint32_t kept = high == regions && low == 0 ? regions : low + (high - low + 1) / 2;
        size_t bytes;
        program->kept_from = regions + 1 - kept;
        TRY(need_with(r, target, temporaries_now, program, &bytes));
        if (bytes <= r->recompute_bytes)
            low = kept;
        else
            high = kept - 1;
    }
    program->kept_from = low > 0 ? regions + 1 - low : 0;
    return TARN_OK;
}
