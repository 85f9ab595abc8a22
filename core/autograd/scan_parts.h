/* SPDX-License-Identifier: Apache-2.0 */
/* How scans are recorded, piece by piece: by tarn_scan() and by the gradient of a scan. */
#ifndef TARN_SCAN_PARTS_H
#define TARN_SCAN_PARTS_H

#include "op/steps.h"
#include "tensor/scan.h"

struct scan_maker {
    tarn_replica *r;
    struct scan s;
    tarn_tensor operand[SCAN_MOST];
};

/* What one step takes of an operand: elements from `offset` on, and as many for each further step. */
struct scan_slice {
    tarn_tensor operand;
    uint32_t offset;
    tarn_shape shape; /* of one step's */
    enum spread label;
};

/* Begins a body; to be ended also after a failure. `dtype`: of carries and results, float32 or float64. */
void scan_begin(struct scan_maker *m, tarn_replica *r, tarn_dtype dtype, uint32_t steps,
                bool reversed);
/* Leaves of the body. All carries come before all slices. */
tarn_tensor scan_carry(struct scan_maker *m, tarn_tensor first, enum scan_room room);
tarn_tensor scan_slice(struct scan_maker *m, const struct scan_slice *slice);
/* Ends what is recorded of the body itself, and appends to its results what the gradient will read of a step: `always`,
 * or where that pays. Returns how many there are then. */
int scan_keep(struct scan_maker *m, tarn_tensor *result, int count, bool always);
/* Ends the body: its results are the carries' next values and then what is put out. Returns the flat
 * value. */
tarn_tensor scan_end(struct scan_maker *m, const tarn_tensor *results, int count);

/* The gradient rule of a scan. */
void scan_grad(struct grad_call *c);

/* What each step put out as result k, [T, ...]; of a carry, its values after each step. */
tarn_tensor scan_put_out(tarn_tensor flat, const struct scan *s, uint32_t k);
/* Carry j after the last step. */
tarn_tensor scan_last(tarn_tensor flat, const struct scan *s, uint32_t j);
/* ---- gradients (autograd.c) ------------------------------------------------------------------ */

/* Gradients of several values at once, within the nodes from `first` on. */
struct pull {
    uint32_t first;
    const uint32_t *of; /* nodes, and the gradients with which they begin */
    const tarn_tensor *seed;
    int seeds;
    const uint32_t *with;  /* nodes that gradients are asked for */
    tarn_tensor *gradient; /* TARN_NONE: there is none */
    int count;
};
/* False after recording an error. */
bool autograd_pull(tarn_replica *r, const struct pull *p);

#endif
