/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the cores of a CPU device from falling asleep between its kernels. A core that has
 * nothing to do halts, and to wake it takes tens of microseconds, on virtual machines more:
 * longer than many a kernel. So while kernels are being launched a thread of the idle scheduling
 * class turns on each core. Whatever else is runnable there, the device's workers first, takes
 * its place at once. It yields all the time, since one that yields lets even the idle class run, for a whole
 * tick of the clock if that does not give the core back: MPI yields wherever it has nothing to do. */
#include "opencl.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "env.h"

#define MOST_CORES 8 /* of more, few wait for each other's halves of a kernel */
#define LINGER 0.02  /* seconds after a launch */
#define PAUSES 64    /* between two looks at the clock */

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static int users, thread_count; /* guarded by `users_lock`, as are the threads */
static pthread_t threads[MOST_CORES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool stopping; /* guarded by `lock` */
static _Atomic int asleep;
static _Atomic int64_t until; /* nanoseconds: cores stay awake so long */

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void awake_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void *turn(void *unused)
{
    const struct sched_param parameter = { 0 };
    (void)unused;
    (void)!pthread_setname_np(pthread_self(), "tarn awake");
    /* Never at the cost of others: without the idle class there is no turning. */
    bool running = sched_setscheduler(0, SCHED_IDLE, &parameter) == 0;
    while (running) {
        while (nanoseconds() < until) {
            for (int i = 0; i < PAUSES; i++)
                awake_pause();
            sched_yield();
        }
        pthread_mutex_lock(&lock);
        asleep++;
        while (!stopping && nanoseconds() >= until)
            pthread_cond_wait(&wake, &lock);
        asleep--;
        running = !stopping;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void start_on(int core)
{
    pthread_attr_t attributes;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)core, &one);
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setaffinity_np(&attributes, sizeof one, &one) == 0 &&
        pthread_create(&threads[thread_count], &attributes, turn, NULL) == 0)
        thread_count++;
    pthread_attr_destroy(&attributes);
}

static void start_all(void)
{
    cpu_set_t allowed; /* the process: this thread may stay on a part (cores.c) */
    if (sched_getaffinity(getpid(), sizeof allowed, &allowed) != 0 ||
        CPU_COUNT(&allowed) > MOST_CORES)
        return;
    stopping = false;
    for (int core = 0; core < CPU_SETSIZE && thread_count < MOST_CORES; core++)
        if (CPU_ISSET((size_t)core, &allowed))
            start_on(core);
}

void awake_join(const struct device *d)
{
    if (d->kind != DEVICE_CPU || env_number(ENV_AWAKE) == 0)
        return;
    pthread_mutex_lock(&users_lock);
    if (users++ == 0)
        start_all();
    pthread_mutex_unlock(&users_lock);
}

void awake_leave(const struct device *d)
{
    if (d->kind != DEVICE_CPU || env_number(ENV_AWAKE) == 0)
        return;
    pthread_mutex_lock(&users_lock);
    if (--users == 0) {
        pthread_mutex_lock(&lock);
        stopping = true;
        until = 0;
        pthread_cond_broadcast(&wake);
        pthread_mutex_unlock(&lock);
        while (thread_count > 0)
            pthread_join(threads[--thread_count], NULL);
    }
    pthread_mutex_unlock(&users_lock);
}

void awake_now(const struct context *c)
{
    if (c->device.kind != DEVICE_CPU)
        return;
    until = nanoseconds() + (int64_t)(LINGER * 1e9);
    if (asleep == 0)
        return;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&lock);
}
