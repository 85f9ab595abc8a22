/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that waits in the driver of a CPU for what was launched last. Some drivers have a worker less than the
 * device has units, and count on whoever waits for a command to compute with them: of two cores one would rest. But
 * nobody waits there, since Tarn polls (event.c). So this thread does: it has no deadline, and what it is told of a
 * command is not used. Those that poll need not ask often meanwhile, which would take a core from it: they are woken.
 * In: contexts that flush, and threads that poll. Out: time on a core, for the driver. */
#include <stdlib.h>
#include <time.h>

#include "lock.h"
#include "opencl.h"

struct lender {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by `lock`: */
    cl_event newest; /* to be waited for next; NULL: none */
    bool waiting;    /* in the driver */
    bool stopping;
    bool left; /* the thread frees this */
};

static void lender_free(struct lender *l)
{
    if (l->newest != NULL)
        clReleaseEvent(l->newest);
    lock_free_waited(&l->lock, &l->changed);
    free(l);
}

/* Whether the driver can go on being waited for: a command that failed is found by polling. */
static bool wait_in_driver(cl_event event)
{
    const cl_int code = clWaitForEvents(1, &event);
    clReleaseEvent(event);
    return code == CL_SUCCESS || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

static void *lend(void *lender)
{
    struct lender *l = lender;
    bool able = true;
    (void)!pthread_setname_np(pthread_self(), "tarn lend");
    pthread_mutex_lock(&l->lock);
    while (!l->stopping && able) {
        if (l->newest == NULL) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        const cl_event event = l->newest;
        l->newest = NULL;
        l->waiting = true;
        pthread_mutex_unlock(&l->lock);
        able = wait_in_driver(event);
        pthread_mutex_lock(&l->lock);
        l->waiting = false;
        pthread_cond_broadcast(&l->changed);
    }
    const bool left = l->left;
    pthread_mutex_unlock(&l->lock);
    if (left)
        lender_free(l);
    return NULL;
}

static struct timespec time_in(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)(1e9 * seconds);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool lend_pause(const struct context *c, double seconds)
{
    struct lender *l = c->lender;
    if (l == NULL)
        return false;
    const struct timespec until = time_in(seconds);
    pthread_mutex_lock(&l->lock);
    const bool waiting = l->waiting;
    if (waiting)
        pthread_cond_timedwait(&l->changed, &l->lock, &until);
    pthread_mutex_unlock(&l->lock);
    return waiting;
}

/* Without it all goes on, slower, so its failures are none. */
void lend_open(struct context *c)
{
    struct lender *l =
        c->device.kind == DEVICE_CPU && !c->device.is_pocl ? calloc(1, sizeof *l) : NULL;
    if (l == NULL)
        return;
    if (lock_make_waited(&l->lock, &l->changed, "open") != TARN_OK) {
        free(l);
        return;
    }
    if (pthread_create(&l->thread, NULL, lend, l) == 0)
        c->lender = l;
    else
        lender_free(l);
}

void lend_newest(struct context *c)
{
    struct lender *l = c->lender;
    if (l == NULL || c->first == c->next)
        return;
    const cl_event event = event_before(c, c->next);
    if (clRetainEvent(event) != CL_SUCCESS)
        return;
    pthread_mutex_lock(&l->lock);
    const cl_event before = l->newest;
    l->newest = event;
    if (!l->waiting)
        pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    if (before != NULL)
        clReleaseEvent(before);
}

void lend_close(struct context *c, bool idle)
{
    struct lender *l = c->lender;
    if (l == NULL)
        return;
    const pthread_t thread = l->thread;
    c->lender = NULL;
    pthread_mutex_lock(&l->lock);
    l->stopping = true;
    l->left = !idle;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    if (!idle) {
        pthread_detach(thread); /* it may wait without an end */
        return;
    }
    pthread_join(thread, NULL);
    lender_free(l);
}
