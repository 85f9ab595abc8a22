/* SPDX-License-Identifier: Apache-2.0 */
/* What the replica asks of its optimizer. */
#ifndef TARN_OPTIM_H
#define TARN_OPTIM_H

#include "graph.h"

/* Waits and reports the first optimizer step whose gradient was not finite, once. */
TARN_CHECKED tarn_status optimizer_check(tarn_replica *r);
/* To be called after the optimizer's state was written from a checkpoint. */
TARN_CHECKED tarn_status optimizer_reload(tarn_replica *r);

#endif
