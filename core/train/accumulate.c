/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients that are added up over steps before an update. */
#include <stdlib.h>

#include "op/op.h"
#include "train/optimizer.h"

void tarn_optimizer_accumulate(tarn_optimizer *o)
{
    if (!o) {
        error_set(TARN_ERR_ARGUMENT, "optimizer_accumulate: the optimizer is NULL");
        return;
    }
    tarn_replica *r = o->replica;
    bool all;
    if (r->status != TARN_OK || !gradient_check(o, &all))
        return;
    if (!o->kept) {
        float *zeros = calloc((size_t)o->total + 1, sizeof *zeros);
        if (!zeros) {
            replica_fail(r, TARN_ERR_MEMORY, "optimizer_accumulate: no host memory");
            return;
        }
        o->kept = owned_add(r, OWNED_KEPT, NULL, TARN_SHAPE(o->total), TARN_F32, zeros);
        free(zeros);
    }
    const tarn_tensor g = gradient_whole(o, 0, o->slice_count);
    if (r->status != TARN_OK)
        return;
    tarn_assign(owned_handle(r, o->kept), g);
    o->accumulated = r->status == TARN_OK;
}
