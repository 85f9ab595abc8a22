/* SPDX-License-Identifier: Apache-2.0 */
/* One loop that never waits for the link: it sends what is to be told, answers what is asked, and asks the task
 * to go on. Between two looks it sleeps, the longer the less happens, and leaves the cores to the kernels.
 *
 * The thread holds the lock but for its sleep and for the calls of the user's functions. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "clock.h"
#include "lock.h"
#include "porter_parts.h"

enum {
    NANOSECONDS = 1000000000,
    SPIN = 50000,         /* nanoseconds of looking without sleep after something moved */
    SHORT_SLEEP = 20000,  /* while a task is young, */
    LONG_SLEEP = 1000000, /* and when it is old */
    IDLE_SLEEP = 2000000  /* without a task */
};

static struct timespec after(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double whole = floor(seconds);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)((seconds - whole) * 1e9);
    if (t.tv_nsec >= NANOSECONDS) {
        t.tv_nsec -= NANOSECONDS;
        t.tv_sec++;
    }
    return t;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* What cannot be sent is not told: the other side has a deadline of its own. */
static void send(struct porter *p, int node, const struct message *m)
{
    struct outgoing *o = calloc(1, sizeof *o);
    if (o == NULL)
        return;
    o->message = *m;
    o->message.node = p->link->node;
    o->message.launch = p->launch;
    o->ticket = p->link->send(p->link, node, LINK_CONTROL, &o->message, sizeof o->message);
    if (o->ticket < 0) {
        free(o);
        return;
    }
    o->next = p->outgoing;
    p->outgoing = o;
}

void porter_send_all(struct porter *p, const struct message *m)
{
    for (int i = 1; i < p->link->nodes; i++)
        send(p, (p->link->node + i) % p->link->nodes, m);
}

static void poll_outgoing(struct porter *p)
{
    for (struct outgoing **at = &p->outgoing; *at != NULL;) {
        struct outgoing *o = *at;
        if (p->link->test(p->link, o->ticket) == 0) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        free(o);
    }
}

void porter_name_node(const struct porter *p, int node, char *out, size_t capacity)
{
    if (p->names != NULL)
        snprintf(out, capacity, "node %d (%.60s)", node, p->names[node]);
    else
        snprintf(out, capacity, "node %d", node);
}

/* ---- failing -------------------------------------------------------------------------------- */

void porter_fail(struct porter *p, tarn_status status, const char *line, bool mine)
{
    if (!p->entered || p->cause != TARN_OK)
        return;
    p->cause = status;
    p->broken = true;
    p->failed_at = seconds_now();
    snprintf(p->cause_line, sizeof p->cause_line, "%s", line);
    pthread_cond_broadcast(&p->changed);
    if (mine) {
        struct message m = { .kind = FAILED, .status = (int32_t)status, .culprit = p->culprit };
        m.gone = p->culprit >= 0 && p->others[p->culprit].gone;
        snprintf(m.line, sizeof m.line, "%s", line);
        porter_send_all(p, &m);
    }
    if (!p->attended)
        return;
    const struct porter_user user = p->user;
    char own[sizeof p->cause_line];
    memcpy(own, p->cause_line, sizeof own);
    pthread_mutex_unlock(&p->lock);
    user.failed(user.user, status, own);
    pthread_mutex_lock(&p->lock);
}

static void end_task(struct porter *p, tarn_status status, const char *line)
{
    p->running = p->has_task = false;
    pthread_cond_broadcast(&p->changed);
    if (!p->attended)
        return;
    const struct porter_user user = p->user;
    pthread_mutex_unlock(&p->lock);
    user.over(user.user, status, line);
    pthread_mutex_lock(&p->lock);
}

static void answer(struct porter *p, int node)
{
    struct message m = { .kind = ANSWER };
    if (p->attended) {
        const struct porter_user user = p->user;
        pthread_mutex_unlock(&p->lock);
        user.where(user.user, &m.where);
        pthread_mutex_lock(&p->lock);
    }
    send(p, node, &m);
}

/* ---- being told ----------------------------------------------------------------------------- */

static void take(struct porter *p, const struct message *m)
{
    struct other *o = &p->others[m->node];
    if (m->kind == ASK) {
        answer(p, m->node);
    } else if (m->kind == ANSWER) {
        o->answered = true;
        o->where = m->where;
        o->launch = m->launch;
    } else if (m->launch != p->launch) {
        /* Of a launch that this node has not come to yet; a failure is the last that a node says. */
        if (m->launch > p->launch && m->kind == FAILED)
            p->later = *m;
    } else if (m->kind == LEFT) {
        o->left = true;
        pthread_cond_broadcast(&p->changed);
    } else {
        if (p->cause == TARN_OK && m->culprit < p->link->nodes) {
            p->culprit = m->culprit;
            if (m->culprit >= 0 && m->gone)
                p->others[m->culprit].gone = true;
        }
        porter_fail(p, (tarn_status)m->status, m->line, false);
    }
}

static void listen(struct porter *p)
{
    p->control =
        p->link->receive(p->link, LINK_ANY, LINK_CONTROL, &p->incoming, sizeof p->incoming);
}

static void poll_incoming(struct porter *p)
{
    while (p->control >= 0) {
        const int code = p->link->test(p->link, p->control);
        if (code == 0)
            return;
        struct message m = p->incoming;
        p->control = -1;
        if (code > 0)
            listen(p);
        if (p->control < 0)
            porter_fail(p, TARN_ERR_STALLED, p->link->problem, true);
        m.line[sizeof m.line - 1] = '\0';
        if (code > 0 && m.node >= 0 && m.node < p->link->nodes)
            take(p, &m);
    }
}

/* ---- the task ------------------------------------------------------------------------------- */

static void end_of_rounds(struct porter *p)
{
    const struct notice *n = rounds_notice(p->rounds);
    if (n->differs < 0) {
        end_task(p, TARN_OK, "");
        return;
    }
    char line[300], name[100];
    porter_name_node(p, n->differs, name, sizeof name);
    snprintf(line, sizeof line, "step %" PRIu64 ", \"%s\": the weights of %s differ", n->ask.step,
             n->label, name);
    end_task(p, TARN_ERR_WEIGHTS, line);
}

static void poll_task(struct porter *p)
{
    bool over = false;
    const tarn_status status = rounds_poll(p->rounds, &over);
    if (rounds_moved(p->rounds) != p->moved) {
        p->moved = rounds_moved(p->rounds);
        p->since = seconds_now();
        p->asked = 0;
    }
    if (status != TARN_OK)
        porter_fail(p, status, error_text(), true);
    else if (over)
        end_of_rounds(p);
}

static void begin_task(struct porter *p)
{
    p->running = true;
    p->since = p->began = seconds_now();
    p->asked = 0;
    const tarn_status status = rounds_begin(p->rounds, &p->task);
    if (status != TARN_OK)
        porter_fail(p, status, error_text(), true);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static bool others_left(const struct porter *p)
{
    for (int i = 0; i < p->link->nodes; i++)
        if (i != p->link->node && !p->others[i].left && !p->others[i].gone)
            return false;
    return true;
}

/* A sleep until there is a task, or a moment has passed. */
static void rest(struct porter *p)
{
    const double still = seconds_now() - p->since;
    if (!p->running) {
        const struct timespec until = after(1e-9 * IDLE_SLEEP);
        if (!p->has_task && p->tell.kind == 0 && !p->quits)
            (void)pthread_cond_timedwait(&p->changed, &p->lock, &until);
        return;
    }
    const double sleep = fmin(fmax(still * 1e8, SHORT_SLEEP), LONG_SLEEP);
    const struct timespec pause = { .tv_nsec = (long)sleep };
    pthread_mutex_unlock(&p->lock);
    if (still * 1e9 > SPIN)
        nanosleep(&pause, NULL);
    pthread_mutex_lock(&p->lock);
}

static void look(struct porter *p)
{
    if (p->tell.kind != 0) {
        porter_send_all(p, &p->tell);
        p->tell.kind = 0;
        pthread_cond_broadcast(&p->changed);
    }
    poll_incoming(p);
    poll_outgoing(p);
    if (p->entered && p->later.kind != 0 && p->later.launch == p->launch) {
        const struct message m = p->later;
        p->later.kind = 0;
        take(p, &m);
    }
    if (p->has_task && !p->running && p->cause == TARN_OK)
        begin_task(p);
    if (p->running && p->cause == TARN_OK)
        poll_task(p);
    const bool waits = p->running || (p->leaving && p->entered && !others_left(p));
    porter_watch(p, waits && p->cause == TARN_OK);
    if (p->has_task && p->cause != TARN_OK) {
        char line[sizeof p->cause_line];
        memcpy(line, p->cause_line, sizeof line);
        end_task(p, p->cause, line);
    }
}

static bool open_link(struct porter *p)
{
    p->link = p->open(LINK_VERSION, p->problem, sizeof p->problem);
    bool good = p->link != NULL;
    if (good) {
        p->others = calloc((size_t)p->link->nodes, sizeof *p->others);
        good = p->others != NULL && rounds_new(p->link, &p->rounds) == TARN_OK;
        if (!good)
            snprintf(p->problem, sizeof p->problem, "out of memory");
        else
            listen(p);
    }
    pthread_mutex_lock(&p->lock);
    p->opened = true;
    p->broken = !good;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return good;
}

static void *porter_main(void *arg)
{
    struct porter *p = arg;
    (void)!pthread_setname_np(pthread_self(), "tarn porter");
    (void)prctl(PR_SET_TIMERSLACK, 1000UL);
    if (!open_link(p))
        return NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->quits) {
        look(p);
        rest(p);
    }
    const bool orderly = !p->broken && !p->entered;
    p->broken = !orderly;
    while (orderly && p->outgoing != NULL)
        poll_outgoing(p);
    pthread_mutex_unlock(&p->lock);
    p->link->leave(p->link, orderly);
    return NULL;
}

/* ---- for others ----------------------------------------------------------------------------- */

tarn_status porter_new(link_open_fn open, struct porter **out)
{
    struct porter *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_set(TARN_ERR_MEMORY, "no memory for a link to other nodes");
    p->open = open;
    tarn_status status = lock_make_waited(&p->lock, &p->changed, "link");
    if (status != TARN_OK) {
        free(p);
        return status;
    }
    const int code = pthread_create(&p->thread, NULL, porter_main, p);
    if (code != 0) {
        lock_free_waited(&p->lock, &p->changed);
        free(p);
        return error_set(TARN_ERR_MEMORY, "link: cannot start a thread: %s", strerror(code));
    }
    pthread_mutex_lock(&p->lock);
    while (!p->opened)
        pthread_cond_wait(&p->changed, &p->lock);
    const bool good = !p->broken;
    pthread_mutex_unlock(&p->lock);
    if (good) {
        *out = p;
        return TARN_OK;
    }
    pthread_join(p->thread, NULL);
    status = error_set(TARN_ERR_DEVICE, "link to other nodes: %s", p->problem);
    lock_free_waited(&p->lock, &p->changed);
    free(p->others);
    free(p);
    return status;
}

void porter_free(struct porter *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->quits = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    /* Of a broken link messages may still be under way. */
    if (p->broken)
        return;
    lock_free_waited(&p->lock, &p->changed);
    rounds_free(p->rounds);
    free(p->others);
    free(p);
}

const struct link *porter_link(const struct porter *p)
{
    return p->link;
}

bool porter_is_broken(struct porter *p)
{
    pthread_mutex_lock(&p->lock);
    const bool broken = p->broken;
    pthread_mutex_unlock(&p->lock);
    return broken;
}

/* The lock is held. */
static void start(struct porter *p, const struct task *task)
{
    p->task = *task;
    p->has_task = true;
}

void porter_start(struct porter *p, const struct task *task)
{
    pthread_mutex_lock(&p->lock);
    start(p, task);
    pthread_mutex_unlock(&p->lock);
    pthread_cond_broadcast(&p->changed);
}

static tarn_status gather(struct porter *p, const void *own, size_t bytes, void *all)
{
    const size_t nodes = (size_t)p->link->nodes, here = (size_t)p->link->node;
    struct block *blocks = calloc(2 * nodes, sizeof *blocks);
    if (blocks == NULL)
        return error_set(TARN_ERR_MEMORY, "no memory to hear of %zu nodes", nodes);
    char *mine = (char *)all + here * bytes;
    memcpy(mine, own, bytes);
    for (size_t i = 0; i < nodes; i++) {
        blocks[i] = (struct block){ mine, bytes };
        blocks[nodes + i] = (struct block){ (char *)all + i * bytes, bytes };
    }
    struct task task = { .kind = TASK_EXCHANGE, .to = blocks, .from = blocks + nodes };
    const struct collective c = { .kind = COLLECTIVE_ALL_GATHER,
                                  .count = bytes,
                                  .label = "launch" };
    notice_make(&task.notice, &c, 0, (int)here, (int)here, false);
    pthread_mutex_lock(&p->lock);
    start(p, &task);
    pthread_cond_broadcast(&p->changed);
    while (p->has_task)
        pthread_cond_wait(&p->changed, &p->lock);
    const tarn_status status =
        p->cause == TARN_OK ? TARN_OK : error_set(p->cause, "launch: %s", p->cause_line);
    pthread_mutex_unlock(&p->lock);
    if (status == TARN_OK)
        free(blocks);
    return status;
}

tarn_status porter_enter(struct porter *p, struct porter_times times, const void *own, size_t bytes,
                         void *all)
{
    pthread_mutex_lock(&p->lock);
    p->launch++;
    p->times = times;
    p->entered = true;
    p->attended = p->leaving = false;
    p->names = NULL;
    p->cause = TARN_OK;
    p->culprit = p->blamed = -1;
    for (int i = 0; i < p->link->nodes; i++)
        p->others[i] = (struct other){ 0 };
    pthread_mutex_unlock(&p->lock);
    return gather(p, own, bytes, all);
}

void porter_attend(struct porter *p, const struct porter_user *user, const char *const *names)
{
    pthread_mutex_lock(&p->lock);
    p->user = *user;
    p->names = names;
    p->attended = true;
    const tarn_status cause = p->cause;
    pthread_mutex_unlock(&p->lock);
    /* Another node may have failed meanwhile. */
    if (cause != TARN_OK)
        user->failed(user->user, cause, p->cause_line);
}

void porter_blame(struct porter *p, int node)
{
    pthread_mutex_lock(&p->lock);
    p->blamed = node;
    pthread_mutex_unlock(&p->lock);
}

void porter_tell(struct porter *p, tarn_status status, const char *line)
{
    pthread_mutex_lock(&p->lock);
    if (p->entered && p->cause == TARN_OK) {
        p->cause = status;
        p->broken = true;
        p->failed_at = seconds_now();
        p->culprit = p->blamed >= 0 ? p->blamed : p->link->node;
        snprintf(p->cause_line, sizeof p->cause_line, "%s", line);
        char name[100];
        porter_name_node(p, p->link->node, name, sizeof name);
        p->tell =
            (struct message){ .kind = FAILED, .status = (int32_t)status, .culprit = p->culprit };
        snprintf(p->tell.line, sizeof p->tell.line, "%s: %s", name, line);
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
}

void porter_hear_culprit(struct porter *p)
{
    pthread_mutex_lock(&p->lock);
    const struct timespec until = after(p->times.grace / 2);
    const int culprit = p->culprit;
    int code = 0;
    while (code == 0 && culprit >= 0 && culprit != p->link->node && !p->others[culprit].left &&
           !p->others[culprit].gone)
        code = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    pthread_mutex_unlock(&p->lock);
}

/* The lock is held; `others` changes under it, too. */
static bool may_leave(const struct porter *p, bool good)
{
    return others_left(p) || (good && p->cause != TARN_OK);
}

void porter_leave(struct porter *p, bool good)
{
    pthread_mutex_lock(&p->lock);
    /* From when it was known, but for a moment for what this node says now. */
    const double left = good ? 0 : p->failed_at + p->times.grace - seconds_now();
    const struct timespec until = after(fmax(left, p->times.grace / 4));
    /* What is to be told goes first. */
    while (p->tell.kind != 0)
        pthread_cond_wait(&p->changed, &p->lock);
    if (!p->leaving || !good)
        p->tell = (struct message){ .kind = LEFT };
    p->leaving = true;
    p->since = seconds_now();
    pthread_cond_broadcast(&p->changed);
    while (!may_leave(p, good)) {
        if (good)
            pthread_cond_wait(&p->changed, &p->lock);
        else if (pthread_cond_timedwait(&p->changed, &p->lock, &until) != 0)
            break;
    }
    if (!good || p->cause == TARN_OK) {
        /* Others wait for what this one has to say. */
        while (p->tell.kind != 0)
            pthread_cond_wait(&p->changed, &p->lock);
        p->entered = p->attended = false;
        p->names = NULL;
    }
    pthread_mutex_unlock(&p->lock);
}
