/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that need a large stack. */
#include "deep.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

/* Of address space: memory is taken as it is used. A plan takes some 10 KB for each value that
 * waits for another one, of which there are hundreds; LLVM's passes take a few MB. */
#define STACK_BYTES ((size_t)256 << 20)
#define WORKER_BYTES ((size_t)16 << 20) /* of a driver's thread that compiles kernel by kernel */

struct deep {
    tarn_status (*fn)(void *arg);
    void *arg;
    tarn_status status;
    char line[1024];
};

static _Thread_local bool is_deep; /* on such a thread already */

static void *begin(void *arg)
{
    struct deep *d = arg;
    is_deep = true;
    d->status = d->fn(d->arg);
    snprintf(d->line, sizeof d->line, "%s", error_text());
    return NULL;
}

tarn_status run_deep(tarn_status (*fn)(void *arg), void *arg)
{
    struct deep d = { .fn = fn, .arg = arg };
    pthread_attr_t attributes;
    pthread_t thread;
    if (is_deep || pthread_attr_init(&attributes) != 0)
        return fn(arg);
    const bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                         pthread_create(&thread, &attributes, begin, &d) == 0;
    pthread_attr_destroy(&attributes);
    if (!started)
        return fn(arg);
    pthread_join(thread, NULL);
    return d.status == TARN_OK ? TARN_OK : error_set(d.status, "%s", d.line);
}

void run_for_deep_threads(void (*fn)(void))
{
#ifdef __GLIBC__
    size_t before = 0;
    pthread_attr_t usual;
    const bool known =
        pthread_getattr_default_np(&usual) == 0 && pthread_attr_getstacksize(&usual, &before) == 0;
    const bool raised = known && before < WORKER_BYTES &&
                        pthread_attr_setstacksize(&usual, WORKER_BYTES) == 0 &&
                        pthread_setattr_default_np(&usual) == 0;
    fn();
    if (raised && pthread_attr_setstacksize(&usual, before) == 0)
        (void)pthread_setattr_default_np(&usual);
    if (known)
        pthread_attr_destroy(&usual);
#else
    fn();
#endif
}
