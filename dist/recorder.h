/* SPDX-License-Identifier: Apache-2.0 */
/* A flight recorder: the last collectives of every rank, always on, read after something went wrong.
 *
 * Threads: each rank writes from one thread; anybody may read at any time. */
#ifndef TARN_RECORDER_H
#define TARN_RECORDER_H

#include "communicator.h"

struct recorder;

enum moment { MOMENT_ARRIVAL, MOMENT_START, MOMENT_END, MOMENTS };

/* Times count from here. */
TARN_CHECKED tarn_status recorder_new(int world, struct recorder **out);
/* NULL is a no-op. */
void recorder_free(struct recorder *r);

/* Rank begins collective `number`, 1 and up without gaps; its arrival is now. The oldest of 1,024
 * gives way. */
void recorder_begin(struct recorder *r, int rank, uint64_t number, const struct collective *c);
/* A later moment of the rank's newest collective is now. */
void recorder_mark(struct recorder *r, int rank, enum moment moment);
/* As communicator_record(); `first` is added to the ranks. */
void recorder_write(struct recorder *r, int first, int most,
                    void (*line)(void *user, const char *text), void *user);

/* "all_reduce". */
const char *collective_name(enum collective_kind kind);

#endif
