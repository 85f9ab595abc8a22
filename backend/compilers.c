/* SPDX-License-Identifier: Apache-2.0 */
/* A thread for each compiler process, which hands it one order after the other. */
#include "compilers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "env.h"
#include "file.h"
#include "log.h"
#include "near.h"
#include "opencl.h"

#define MOST_SERVERS 16     /* of more, few have something to do */
#define LINGER 5            /* seconds without an order, after which a process ends */
#define MOST_FAILURES 3     /* in a row, after which no more is asked */
#define NAPS 300            /* until a process that was told to end has ended */
#define NAP 10000000L       /* nanoseconds */
#define PATIENCE 250000000L /* nanoseconds in which a caller wants to say how far things are */

struct compile_job {
    struct compile_job *next;
    uint64_t key[2]; /* of device and order */
    int device;      /* number */
    char identity[DEVICE_IDENTITY_BYTES];
    struct order *order;
    bool urgent;
    int users;
    _Atomic int state;
};

struct server {
    pthread_t thread;
    int device;
    char identity[DEVICE_IDENTITY_BYTES];
    int socket; /* -1: no process */
    pid_t pid;
    enum { FREE, WORKING, ENDING, ENDED } state;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
/* All of this is guarded by `lock`. */
static struct compile_job *jobs;
static struct server servers[MOST_SERVERS];
static bool stopping;
static int failures; /* in a row */

/* ---- processes ------------------------------------------------------------------------------ */

/* The cores of the process; a thread that asks may be bound to a part of them. */
static int cores(cpu_set_t *set)
{
    return sched_getaffinity(getpid(), sizeof *set, set) == 0 ? CPU_COUNT(set) : 1;
}

static pid_t spawn(const char *program, char *const *arguments, char *const *environment,
                   int socket)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -1;
    }
    sigemptyset(&none);
    if (posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO) != 0 ||
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawnattr_setsigmask(&attributes, &none) != 0 ||
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK) != 0 ||
        posix_spawn(&pid, program, &files, &attributes, arguments, environment) != 0)
        pid = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

static bool start_process(struct server *s)
{
    char program[4300], number[16], version[] = ORDER_VERSION;
    int ends[2];
    snprintf(number, sizeof number, "%d", s->device);
    char *const arguments[] = { program, version, number, s->identity, NULL };
    if (!near_find("tarn-compiler", program, sizeof program) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        ends[i] = file_aside(ends[i]);
    char **const environment = env_for_child();
    const pid_t pid = ends[0] >= 0 && ends[1] >= 0 && environment != NULL
                          ? spawn(program, arguments, environment, ends[1])
                          : -1;
    free(environment);
    if (ends[1] >= 0)
        close(ends[1]);
    if (pid < 0) {
        if (ends[0] >= 0)
            close(ends[0]);
        return false;
    }
    pthread_mutex_lock(&lock);
    s->socket = ends[0];
    s->pid = pid;
    const bool wanted = !stopping;
    pthread_mutex_unlock(&lock);
    return wanted;
}

/* The process ends as soon as nobody holds the other end of its socket. */
static void end_process(struct server *s)
{
    const struct timespec nap = { .tv_nsec = NAP };
    if (s->socket < 0)
        return;
    pthread_mutex_lock(&lock);
    close(s->socket);
    s->socket = -1;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < NAPS && waitpid(s->pid, NULL, WNOHANG) == 0; i++)
        nanosleep(&nap, NULL);
}

static bool send_all(int socket, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t put = send(socket, (const char *)from + done, bytes - done, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

enum outcome { CARRIED_OUT, REFUSED, LOST };

/* What became of the order. A process that broke the rules is ended, as is what is left of one that died. */
static enum outcome give(struct server *s, const struct order *o)
{
    char answer = 0;
    ssize_t got = -1;
    if (s->socket < 0 && !start_process(s))
        return REFUSED;
    if (send_all(s->socket, o, (size_t)o->bytes))
        do
            got = recv(s->socket, &answer, 1, 0);
        while (got < 0 && errno == EINTR);
    if (got != 1)
        end_process(s);
    return got != 1 ? LOST : answer == 1 ? CARRIED_OUT : REFUSED;
}

/* Whether an order was carried out. A process may have been killed for no fault of the order's, as where memory was short:
 * another one gets it, once. */
static bool carry_out(struct server *s, const struct order *o)
{
    enum outcome outcome = give(s, o);
    pthread_mutex_lock(&lock);
    const bool again = outcome == LOST && !stopping;
    pthread_mutex_unlock(&lock);
    if (again)
        outcome = give(s, o);
    return outcome == CARRIED_OUT;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

/* Large programs first, so that no process is left with one at the end. */
static bool comes_before(const struct compile_job *a, const struct compile_job *b)
{
    return a->urgent != b->urgent ? a->urgent : a->order->bytes > b->order->bytes;
}

static struct compile_job *first_waiting(int device)
{
    struct compile_job *found = NULL;
    for (struct compile_job *j = jobs; j != NULL; j = j->next)
        if (j->state == JOB_WAITS && j->device == device &&
            (found == NULL || comes_before(j, found)))
            found = j;
    return found;
}

static void forget_unused(struct compile_job *job)
{
    if (job->users > 0 || job->state == JOB_RUNS)
        return;
    for (struct compile_job **at = &jobs; *at != NULL; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            break;
        }
    free(job->order);
    free(job);
}

static void end_job(struct compile_job *job, bool done)
{
    pthread_mutex_lock(&lock);
    job->state = done ? JOB_DONE : JOB_FAILED;
    failures = done || stopping ? 0 : failures + 1;
    for (struct compile_job *j = jobs; failures >= MOST_FAILURES && j != NULL; j = j->next)
        if (j->state == JOB_WAITS)
            j->state = JOB_FAILED;
    forget_unused(job);
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

/* The next job, or NULL when there was none for a while. */
static struct compile_job *wait_for_job(struct server *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LINGER;
    struct compile_job *job = NULL;
    pthread_mutex_lock(&lock);
    while (!stopping && (job = first_waiting(s->device)) == NULL)
        if (pthread_cond_timedwait(&asked, &lock, &until) != 0)
            break;
    if (job == NULL)
        s->state = ENDING; /* no job is left to it */
    else
        job->state = JOB_RUNS;
    pthread_mutex_unlock(&lock);
    return job;
}

static void *serve(void *arg)
{
    struct server *s = arg;
    cpu_set_t all;
    if (cores(&all) > 1)
        (void)!pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    for (struct compile_job *job; (job = wait_for_job(s)) != NULL;)
        end_job(job, carry_out(s, job->order));
    end_process(s);
    pthread_mutex_lock(&lock);
    s->state = ENDED;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* One more server, with the lock held; whether there is one now. */
static bool add_server(const struct compile_job *job)
{
    for (int i = 0; i < MOST_SERVERS; i++) {
        struct server *s = &servers[i];
        if (s->state == WORKING || s->state == ENDING)
            continue;
        if (s->state == ENDED)
            pthread_join(s->thread, NULL);
        *s = (struct server){ .device = job->device, .socket = -1 };
        memcpy(s->identity, job->identity, sizeof s->identity);
        if (pthread_create(&s->thread, NULL, serve, s) != 0)
            return false;
        s->state = WORKING;
        return true;
    }
    return false;
}

static int servers_of(int device)
{
    int count = 0;
    for (int i = 0; i < MOST_SERVERS; i++)
        count += servers[i].state == WORKING && servers[i].device == device;
    return count;
}

static int unfinished_of(int device)
{
    int count = 0;
    for (const struct compile_job *j = jobs; j != NULL; j = j->next)
        count += j->device == device && (j->state == JOB_WAITS || j->state == JOB_RUNS);
    return count;
}

/* A program that is linked to the library as it was built, and lies elsewhere, does not find it. */
static bool has_program(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char path[4300];
    const bool found = near_find("tarn-compiler", path, sizeof path);
    if (!found && !atomic_flag_test_and_set(&told))
        log_print(TARN_LOG_INFO,
                  "tarn: there is no tarn-compiler beside the library or the program, nor %s: this "
                  "process compiles kernels alone, which takes longer (TARN_COMPILERS=0 says that "
                  "it should)",
                  path);
    return found;
}

int compilers_for(const struct device *d)
{
    const char *wanted = env_text(ENV_COMPILERS);
    cpu_set_t all;
    if (!d->keeps_code || d->kind != DEVICE_CPU || strcmp(wanted, "0") == 0 || !has_program())
        return 0;
    const int count = strcmp(wanted, "auto") == 0 ? cores(&all) : (int)env_number(ENV_COMPILERS);
    return count < 0 ? 0 : count < MOST_SERVERS ? count : MOST_SERVERS;
}

static struct compile_job *find_job(const uint64_t key[2])
{
    for (struct compile_job *j = jobs; j != NULL; j = j->next)
        if (memcmp(j->key, key, sizeof j->key) == 0 && j->state != JOB_FAILED)
            return j;
    return NULL;
}

static struct compile_job *add_job(const struct device *d, const struct order *o,
                                   const uint64_t key[2])
{
    struct compile_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return NULL;
    job->order = malloc((size_t)o->bytes);
    if (job->order == NULL) {
        free(job);
        return NULL;
    }
    memcpy(job->order, o, (size_t)o->bytes);
    memcpy(job->key, key, sizeof job->key);
    job->device = d->number;
    device_identify(d, job->identity);
    job->next = jobs;
    jobs = job;
    return job;
}

struct compile_job *compilers_ask(const struct device *d, const struct order *o, bool urgent)
{
    const XXH128_hash_t h = XXH3_128bits_withSeed(o, (size_t)o->bytes, (XXH64_hash_t)d->number);
    const uint64_t key[2] = { h.low64, h.high64 };
    const int most = compilers_for(d);
    pthread_mutex_lock(&lock);
    struct compile_job *job = NULL;
    if (most > 0 && !stopping && failures < MOST_FAILURES) {
        job = find_job(key);
        if (job == NULL)
            job = add_job(d, o, key);
    }
    if (job != NULL) {
        job->users++;
        job->urgent |= urgent;
        const int have = servers_of(d->number);
        if (have < most && have < unfinished_of(d->number) && !add_server(job) && have == 0)
            job->state = JOB_FAILED;
        pthread_cond_signal(&asked);
    }
    pthread_mutex_unlock(&lock);
    return job;
}

enum job_state compile_job_state(const struct compile_job *job)
{
    return (enum job_state)job->state;
}

void compile_job_drop(struct compile_job *job)
{
    if (job == NULL)
        return;
    pthread_mutex_lock(&lock);
    job->users--;
    forget_unused(job);
    pthread_mutex_unlock(&lock);
}

void compile_job_wait(const struct compile_job *job)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    while (job->state == JOB_WAITS || job->state == JOB_RUNS)
        if (pthread_cond_timedwait(&ended, &lock, &until) != 0)
            break;
    pthread_mutex_unlock(&lock);
}

void compilers_end(void)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    bool started[MOST_SERVERS];
    pthread_mutex_lock(&one_at_a_time);
    pthread_mutex_lock(&lock);
    stopping = true; /* from here on no server is added */
    for (int i = 0; i < MOST_SERVERS; i++) {
        started[i] = servers[i].state != FREE;
        if (started[i] && servers[i].socket >= 0)
            (void)!shutdown(servers[i].socket, SHUT_RDWR); /* ends the process, and a recv here */
    }
    pthread_cond_broadcast(&asked);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < MOST_SERVERS; i++)
        if (started[i])
            pthread_join(servers[i].thread, NULL);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_SERVERS; i++)
        servers[i].state = FREE;
    stopping = false;
    failures = 0;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&one_at_a_time);
}
