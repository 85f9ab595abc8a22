/* SPDX-License-Identifier: Apache-2.0 */
/* A launch: one thread and one replica for each device of this node, and a way out for all when one fails. */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "across.h"
#include "env.h"
#include "lock.h"
#include "log.h"
#include "member.h"
#include "mesh_axes.h"
#include "porter.h"
#include "seating.h"
#include "trace.h"

#define BUCKET_BYTES ((size_t)4 << 20)
#define GRACE 2.0 /* seconds for other nodes to answer, and to end after a failure */

struct launch;

struct worker {
    struct member member;
    struct launch *launch;
    struct device device;
    pthread_t thread;
    bool ended, left; /* under the launch's lock */
};

struct launch {
    tarn_replica_fn fn;
    void *arg;
    struct communicator *communicator;
    struct seating seating;
    double timeout;
    tarn_open_options each; /* of each replica */
    int count, started;     /* of this node */
    bool shares_host;       /* with other replicas, of this process or of others */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ended;
    bool printed;   /* the record */
    bool abandoned; /* tarn_launch has returned: the last thread frees all this */
    struct worker workers[COMMUNICATOR_MOST];
};

static _Atomic int left_behind;

/* ---- a replica's thread --------------------------------------------------------------------- */

static tarn_status train(const struct worker *s, tarn_replica *r)
{
    const struct launch *l = s->launch;
    tarn_status status = l->fn(r, l->arg);
    if (status == TARN_OK)
        status = tarn_wait(r);
    /* The last update is checked too; under a mesh it is the only check. */
    const bool trained = s->member.begun || (s->member.peers.mesh.axes > 0 && r->step_count > 0);
    if (status == TARN_OK && trained && s->member.check_weights > 0)
        status = tarn_check_weights(r);
    return status;
}

static void launch_free(struct launch *l)
{
    communicator_free(l->communicator);
    seating_free(&l->seating);
    lock_free_waited(&l->lock, &l->changed);
    free(l);
}

static void *seat_main(void *arg)
{
    struct worker *s = arg;
    struct launch *l = s->launch;
    const int seat = s->member.seat;
    tarn_replica *r = NULL;
    char name[16]; /* for those who look at the program's threads */
    snprintf(name, sizeof name, "tarn rank %d", s->member.peers.rank);
    (void)!pthread_setname_np(pthread_self(), name);
    if (l->shares_host)
        device_stay(&s->device);
    tarn_status status = replica_open(&s->device, &l->each, &r);
    if (status == TARN_OK) {
        /* One replica without shards is nothing but a replica. */
        if (s->member.peers.world > 1 || s->member.peers.shards > 0 ||
            s->member.peers.mesh.axes > 0)
            r->peers = &s->member.peers;
        status = train(s, r);
    }
    if (status != TARN_OK) {
        char line[1200];
        const char *why = r != NULL && r->status != TARN_OK ? r->error : error_text();
        snprintf(line, sizeof line, "%s", *why ? why : status_name(status));
        communicator_abort(l->communicator, seat, status, line);
    }
    communicator_leave(l->communicator, seat);
    tarn_close(r);
    pthread_mutex_lock(&l->lock);
    s->ended = true;
    const bool was_left = s->left;
    l->ended++;
    const bool last = l->abandoned && l->ended == l->started;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    if (last)
        launch_free(l);
    left_behind -= was_left;
    return NULL;
}

/* ---- starting ------------------------------------------------------------------------------- */

static tarn_status check_options(const tarn_launch_options *o, const tarn_open_options *each)
{
    if (o->count < 0 || o->count > COMMUNICATOR_MOST)
        return error_set(TARN_ERR_ARGUMENT, "launch: %d replicas, must be 1 to %d", o->count,
                         COMMUNICATOR_MOST);
    TRY(replica_check_options("launch", each));
    if (o->virtual_shards < 0)
        return error_set(TARN_ERR_ARGUMENT, "launch: %d virtual shards", o->virtual_shards);
    if (o->virtual_shards > 0 && o->mesh.axis[0].name != NULL)
        return error_set(TARN_ERR_ARGUMENT,
                         "launch: %d virtual shards and a mesh exclude each other; leave one out",
                         o->virtual_shards);
    return TARN_OK;
}

/* Other nodes' ranks take part, too. */
static tarn_status join_nodes(struct launch *l)
{
    const struct seating *s = &l->seating;
    const struct link *link = porter_link(s->porter);
    struct porter_user user;
    struct across *across;
    TRY(across_new(link->node, link->nodes, s->firsts, &across));
    communicator_join(l->communicator, across, s->porter, &user);
    porter_attend(s->porter, &user, (const char *const *)s->names);
    return TARN_OK;
}

static void take_seats(struct launch *l, const tarn_launch_options *o, const struct mesh *mesh)
{
    for (int i = 0; i < l->count; i++) {
        struct worker *s = &l->workers[i];
        s->launch = l;
        s->device = l->seating.devices[i];
        s->member =
            (struct member){ .peers = { .rank = l->seating.ranks.first + i,
                                        .world = l->seating.ranks.world,
                                        .mesh = *mesh,
                                        .shards = o->virtual_shards,
                                        .sync_norm = o->sync_norm,
                                        .fetch = l->seating.porter != NULL ? file_fetch : NULL,
                                        .bucket_bytes =
                                            o->bucket_bytes ? o->bucket_bytes : BUCKET_BYTES },
                             .communicator = l->communicator,
                             .seat = i,
                             .heal = o->heal };
        s->member.check_weights = o->check_weights < 0 ? 0
                                  : o->check_weights   ? o->check_weights
                                                       : 1;
        ddp_set_up(&s->member);
    }
}

static tarn_status prepare(struct launch *l, const tarn_launch_options *o)
{
    struct porter_times times = { 0 };
    if (l->each.timeout == 0)
        TRY(env_seconds(ENV_TIMEOUT, &l->each.timeout));
    if (l->each.build_timeout == 0)
        TRY(env_seconds(ENV_BUILD_TIMEOUT, &l->each.build_timeout));
    l->timeout = l->each.timeout;
    times.build_timeout = l->each.build_timeout;
    times.timeout = l->timeout;
    times.grace = fmin(GRACE, l->timeout);
    TRY(seating_make(o, times, &l->seating));
    l->count = l->seating.ranks.count;
    const struct link *link = l->seating.porter != NULL ? porter_link(l->seating.porter) : NULL;
    l->shares_host = l->count > 1 || (link != NULL && link->seats > 1);
    tarn_status status =
        communicator_new(l->count, l->timeout, times.build_timeout, &l->communicator);
    if (status == TARN_OK && l->seating.porter != NULL)
        status = join_nodes(l);
    struct mesh mesh = { 0 };
    if (status == TARN_OK && o->mesh.axis[0].name != NULL)
        status = mesh_make(o->mesh, l->seating.ranks.world, &mesh);
    if (status != TARN_OK && l->seating.porter != NULL)
        porter_tell(l->seating.porter, status, error_text());
    if (status == TARN_OK)
        take_seats(l, o, &mesh);
    return status;
}

static void start(struct launch *l)
{
    for (; l->started < l->count; l->started++) {
        struct worker *s = &l->workers[l->started];
        const int code = pthread_create(&s->thread, NULL, seat_main, s);
        if (code != 0) {
            char line[160];
            snprintf(line, sizeof line, "launch: cannot start a thread: %s", strerror(code));
            communicator_abort(l->communicator, l->started, TARN_ERR_MEMORY, line);
            return;
        }
    }
}

/* ---- ending --------------------------------------------------------------------------------- */

static struct timespec in_seconds(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double whole = floor(seconds);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)((seconds - whole) * 1e9);
    if (t.tv_nsec >= 1000000000L) {
        t.tv_nsec -= 1000000000L;
        t.tv_sec++;
    }
    return t;
}

static void to_log(void *user, const char *text)
{
    (void)user;
    log_print(TARN_LOG_WARNING, "tarn: flight %s", text);
}

/* The last collectives of this node's ranks; with other nodes those of the one that failed come first. */
static void print_record(struct launch *l)
{
    const struct seating *s = &l->seating;
    if (s->ranks.world == 1)
        return;
    if (s->porter != NULL) {
        const int node = porter_link(s->porter)->node;
        porter_hear_culprit(s->porter);
        log_print(TARN_LOG_WARNING, "tarn: flight of node %d (%s)", node, s->names[node]);
    }
    communicator_record(l->communicator, 4, to_log, NULL);
}

/* Waits for all threads; after a failure not longer than the timeout. With other nodes the job may be over before
 * that, so the record is printed at once. */
static void await_all(struct launch *l)
{
    struct timespec until;
    bool failed = false, late = false;
    pthread_mutex_lock(&l->lock);
    while (l->ended < l->started && !late) {
        if (!failed && communicator_cause(l->communicator, NULL, 0, NULL) != TARN_OK) {
            failed = true;
            until = in_seconds(l->timeout);
            if (l->seating.porter != NULL) {
                pthread_mutex_unlock(&l->lock);
                print_record(l);
                l->printed = true;
                pthread_mutex_lock(&l->lock);
                continue;
            }
        }
        if (failed) {
            late = pthread_cond_timedwait(&l->changed, &l->lock, &until) != 0;
        } else {
            /* A failed communicator wakes its threads, and one that ends wakes this one; a stuck
             * one is found by looking. */
            struct timespec soon = in_seconds(0.05);
            (void)pthread_cond_timedwait(&l->changed, &l->lock, &soon);
        }
    }
    pthread_mutex_unlock(&l->lock);
}

/* Counts the threads that are given up; whether there are none. */
static bool leave_behind(struct launch *l)
{
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < l->started; i++) {
        l->workers[i].left = !l->workers[i].ended;
        left_behind += l->workers[i].left;
    }
    const bool none = l->ended == l->started;
    pthread_mutex_unlock(&l->lock);
    return none;
}

int tarn_launch_left(void)
{
    return left_behind;
}

static tarn_status verdict(struct launch *l, bool all)
{
    char line[1400], left[200] = "";
    int rank = 0;
    const tarn_status status = communicator_cause(l->communicator, line, sizeof line, &rank);
    if (status == TARN_OK)
        return TARN_OK;
    if (!l->printed)
        print_record(l);
    size_t used = 0;
    pthread_mutex_lock(&l->lock);
    for (int i = 0; !all && i < l->started && used < sizeof left; i++)
        if (l->workers[i].left)
            used += (size_t)snprintf(left + used, sizeof left - used, "%s %d",
                                     used ? "," : "; never came back: rank",
                                     l->seating.ranks.first + i);
    pthread_mutex_unlock(&l->lock);
    return error_set(status, "%s%s", line, left);
}

/* This node is done: a launch has succeeded when it has on all. */
static void leave_nodes(struct launch *l)
{
    if (l->seating.porter != NULL && communicator_cause(l->communicator, NULL, 0, NULL) == TARN_OK)
        porter_leave(l->seating.porter, true);
}

static tarn_status run(struct launch *l)
{
    start(l);
    await_all(l);
    const bool all = leave_behind(l);
    leave_nodes(l);
    const tarn_status status = verdict(l, all);
    /* Others are given a moment to say what they know before this process ends, and the job with it. */
    if (status != TARN_OK && l->seating.porter != NULL)
        porter_leave(l->seating.porter, false);
    for (int i = 0; i < l->started; i++)
        (void)(all ? pthread_join(l->workers[i].thread, NULL)
                   : pthread_detach(l->workers[i].thread));
    return status;
}

tarn_status tarn_launch(tarn_replica_fn fn, void *arg, tarn_launch_options options)
{
    if (fn == NULL)
        return error_set(TARN_ERR_ARGUMENT, "launch: no function");
    const tarn_open_options each = { .timeout = options.timeout,
                                     .build_timeout = options.build_timeout,
                                     .memory_limit = options.memory_limit,
                                     .winograd = options.winograd };
    TRY(check_options(&options, &each));
    trace_node(tarn_node());
    struct launch *l = calloc(1, sizeof *l);
    if (l == NULL)
        return error_set(TARN_ERR_MEMORY, "launch: out of host memory");
    l->fn = fn;
    l->each = each;
    l->arg = arg;
    tarn_status status = lock_make_waited(&l->lock, &l->changed, "launch");
    if (status != TARN_OK) {
        free(l);
        return status;
    }
    status = prepare(l, &options);
    if (status != TARN_OK) {
        /* Refused on all nodes, or broken. */
        if (l->seating.porter != NULL)
            porter_leave(l->seating.porter, !porter_is_broken(l->seating.porter));
        launch_free(l);
        return status;
    }
    status = run(l);
    /* Threads that did not come back still use all of this; the last one frees it. */
    pthread_mutex_lock(&l->lock);
    l->abandoned = true;
    const bool last = l->ended == l->started;
    pthread_mutex_unlock(&l->lock);
    if (last)
        launch_free(l);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------ */

int tarn_rank(const tarn_replica *r)
{
    return r != NULL && r->peers != NULL ? r->peers->rank : 0;
}

int tarn_world_size(const tarn_replica *r)
{
    return r != NULL && r->peers != NULL ? r->peers->world : 1;
}

int tarn_virtual_shards(const tarn_replica *r)
{
    return r != NULL && r->peers != NULL ? r->peers->shards : 0;
}

void tarn_print0(const tarn_replica *r, const char *format, ...)
{
    if (tarn_rank(r) != 0)
        return;
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

tarn_status tarn_barrier(tarn_replica *r)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "barrier: the replica is NULL");
    if (r->status != TARN_OK || tarn_world_size(r) == 1)
        return r->status;
    const tarn_status s =
        member_collect(r, (struct collective){ .kind = COLLECTIVE_BARRIER, .label = "barrier" });
    return s == TARN_OK ? s : replica_fail(r, s, NULL);
}
