/* SPDX-License-Identifier: Apache-2.0 */
/* Views around loops, which have no public names. All return poison on an error. A value whose axis 0
 * are steps is labelled as its steps' values are: only loops and these views may see it. */
#ifndef TARN_STEPS_H
#define TARN_STEPS_H

#include "op/op.h"
#include "tensor/expand.h"

/* x with axes 0 and 1 swapped; `steps_lead`: axis 0 of the result are steps. */
tarn_tensor op_steps_of(tarn_tensor x, bool steps_lead);
/* Elements of a flat value, from `first` on. */
tarn_tensor op_piece_of(tarn_tensor flat, uint32_t first, tarn_shape shape, enum spread label,
                        bool steps_lead);
/* A flat value of zeros but for x, from `first` on: the gradient of such a piece. */
tarn_tensor op_place_in(tarn_tensor x, int32_t elements, uint32_t first, enum spread label,
                        bool steps_lead);

#endif
