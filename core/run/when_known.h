/* SPDX-License-Identifier: Apache-2.0 */
/* Values that a program gets when the device has them. */
#ifndef TARN_WHEN_KNOWN_H
#define TARN_WHEN_KNOWN_H

#include "tensor/replica.h"

/* The nodes that the current step is asked for: a list to be freed; NULL: there are none. */
TARN_CHECKED tarn_status known_wanted(tarn_replica *r, uint32_t **nodes, int *count);
/* The step was enqueued, and these are the values of the nodes, whose buffers are taken. Enqueues copies of them to
 * where the host gets them from. */
TARN_CHECKED tarn_status known_enqueued(tarn_replica *r, struct buffer **values);
/* Calls back for the values that are there, the oldest first, and for those of steps that failed. Between steps. */
void known_deliver(tarn_replica *r);
/* Calls back for all that is left. */
void known_close(tarn_replica *r);

#endif
