/* SPDX-License-Identifier: Apache-2.0 */
/* Locks and conditions, whose making may be refused for lack of memory. In: who wants one. Out: a
 * status with a line. Knows nothing of what they guard. */
#include "lock.h"

#include <string.h>
#include <time.h>

static tarn_status refused(const char *what, int code)
{
    return error_set(TARN_ERR_MEMORY, "%s: cannot make a lock: %s", what, strerror(code));
}

tarn_status lock_make(pthread_mutex_t *lock, const char *what)
{
    const int code = pthread_mutex_init(lock, NULL);
    return code == 0 ? TARN_OK : refused(what, code);
}

static int make_condition(pthread_cond_t *changed)
{
    pthread_condattr_t clock;
    int code = pthread_condattr_init(&clock);
    if (code != 0)
        return code;
    code = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    if (code == 0)
        code = pthread_cond_init(changed, &clock);
    pthread_condattr_destroy(&clock);
    return code;
}

tarn_status lock_make_condition(pthread_cond_t *changed, const char *what)
{
    const int code = make_condition(changed);
    return code == 0 ? TARN_OK : refused(what, code);
}

tarn_status lock_make_waited(pthread_mutex_t *lock, pthread_cond_t *changed, const char *what)
{
    TRY(lock_make(lock, what));
    const tarn_status status = lock_make_condition(changed, what);
    if (status != TARN_OK)
        pthread_mutex_destroy(lock);
    return status;
}

void lock_free_waited(pthread_mutex_t *lock, pthread_cond_t *changed)
{
    pthread_cond_destroy(changed);
    pthread_mutex_destroy(lock);
}
