/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, which may need memory: each is made or there is an error line. */
#ifndef TARN_LOCK_H
#define TARN_LOCK_H

#include <pthread.h>

#include "error.h"

/* `what` begins the line: "launch". */
TARN_CHECKED tarn_status lock_make(pthread_mutex_t *lock, const char *what);

/* Its deadlines are of CLOCK_MONOTONIC. */
TARN_CHECKED tarn_status lock_make_condition(pthread_cond_t *changed, const char *what);

/* A lock and a condition: both, or none. */
TARN_CHECKED tarn_status lock_make_waited(pthread_mutex_t *lock, pthread_cond_t *changed,
                                          const char *what);
void lock_free_waited(pthread_mutex_t *lock, pthread_cond_t *changed);

#endif
