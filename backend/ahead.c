/* SPDX-License-Identifier: Apache-2.0 */
/* Builds programs ahead, in a thread and a context of its own, so that the driver's cache has them when
 * they are asked for. PoCL compiles in two halves: a program when it is built, under a lock of its
 * context, and each kernel when it is first launched, under a lock of the process. While one thread
 * launches, this one builds: that is all that can go on at once, and it hides the shorter half. */
#include <stdlib.h>
#include <string.h>

#include "deep.h"
#include "lock.h"
#include "opencl.h"

enum state { NOT_BEGUN, UNDER_WAY, ENDED, TAKEN };

struct ahead {
    struct context *context;
    char *const *sources;
    int count;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state *state; /* of each program */
};

/* The next program that nobody has begun; -1: none. */
static int take_next(struct ahead *a)
{
    int found = -1;
    pthread_mutex_lock(&a->lock);
    for (int i = 0; i < a->count && found < 0; i++)
        if (a->state[i] == NOT_BEGUN)
            found = i;
    if (found >= 0)
        a->state[found] = UNDER_WAY;
    pthread_mutex_unlock(&a->lock);
    return found;
}

static void set_ended(struct ahead *a, int i)
{
    pthread_mutex_lock(&a->lock);
    a->state[i] = ENDED;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

/* What fails here is built again, and told, by the thread that needs it. */
static tarn_status build_ahead(void *arg)
{
    struct ahead *a = arg;
    for (int i; (i = take_next(a)) >= 0;) {
        struct built_program *p = NULL;
        if (program_build(a->context, a->sources[i], "ahead", &p) == TARN_OK)
            program_free(p);
        set_ended(a, i);
    }
    return TARN_OK;
}

static void *begin(void *arg)
{
    (void)!run_deep(build_ahead, arg);
    return NULL;
}

/* A context that can build, and nothing else. */
static struct context *bare_context(const struct context *c)
{
    struct context *out = calloc(1, sizeof *out);
    cl_int code = CL_OUT_OF_HOST_MEMORY;
    if (out == NULL)
        return NULL;
    out->device = c->device;
    out->id = c->id;
    memcpy(out->label, c->label, sizeof out->label);
    out->context = clCreateContext(NULL, 1, &out->id, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        return out;
    free(out);
    return NULL;
}

static void release(struct ahead *a)
{
    if (a->context != NULL)
        clReleaseContext(a->context->context);
    free(a->context);
    free(a->state);
    free(a);
}

struct ahead *ahead_begin(const struct context *c, char *const *sources, int count)
{
    if (!c->device.keeps_code || count < 2)
        return NULL;
    struct ahead *a = calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->sources = sources;
    a->count = count;
    a->state = calloc((size_t)count, sizeof *a->state);
    a->context = bare_context(c);
    if (a->state == NULL || a->context == NULL ||
        lock_make_waited(&a->lock, &a->changed, "build") != TARN_OK) {
        release(a);
        return NULL;
    }
    a->state[0] = TAKEN; /* the caller's next */
    if (pthread_create(&a->thread, NULL, begin, a) != 0) {
        lock_free_waited(&a->lock, &a->changed);
        release(a);
        return NULL;
    }
    return a;
}

void ahead_wait(struct ahead *a, int i)
{
    if (a == NULL)
        return;
    pthread_mutex_lock(&a->lock);
    if (a->state[i] == NOT_BEGUN)
        a->state[i] = TAKEN;
    while (a->state[i] == UNDER_WAY)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

void ahead_end(struct ahead *a)
{
    if (a == NULL)
        return;
    pthread_mutex_lock(&a->lock);
    for (int i = 0; i < a->count; i++)
        if (a->state[i] == NOT_BEGUN)
            a->state[i] = TAKEN;
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    lock_free_waited(&a->lock, &a->changed);
    release(a);
}
