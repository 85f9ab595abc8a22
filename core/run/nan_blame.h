/* SPDX-License-Identifier: Apache-2.0 */
/* Who made the first NaN or infinity of a step (TARN_DEBUG=nan). */
#ifndef TARN_NAN_BLAME_H
#define TARN_NAN_BLAME_H

#include "tensor/replica.h"

/* To be called before what was recorded is launched, on all ranks. Computes gradients and what is assigned, and looks
 * at them; where one is not finite, computes the step op by op and tells of the first op that is to blame, once for a
 * replica. What it computed becomes leaves of the graph, with the bits that the step would have. */
TARN_CHECKED tarn_status nan_blame(tarn_replica *r);

#endif
