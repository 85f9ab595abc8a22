/* SPDX-License-Identifier: Apache-2.0 */
/* Commands in flight: their events are kept and polled. OpenCL knows no deadline, and clFinish
 * succeeds over commands that failed, so neither it nor clWaitForEvents is used.
 *
 * GPUs' drivers take microseconds for an event, and for each question about it: there only some launches have one, and
 * what lies between two of them is asked for together. The newest command that was flushed always has one. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "clock.h"
#include "hash_table.h"
#include "opencl.h"
#include "trace.h"

#define LONG_NAP 1e-3   /* seconds */
#define LOOK_AFTER 0.01 /* seconds of waiting before the commands in line are looked at */
#define TURN 0.5e-3     /* seconds that a waiting thread turns on a free core */
#define PAUSES 16       /* between two questions */

struct label {
    UT_hash_handle hh;
    char text[];
};
static struct label *labels;
static pthread_mutex_t label_lock = PTHREAD_MUTEX_INITIALIZER;

const char *label_keep(const char *text)
{
    struct label *found;
    pthread_mutex_lock(&label_lock);
    HASH_FIND_STR(labels, text, found);
    if (found == NULL) {
        const size_t bytes = strlen(text) + 1;
        found = malloc(sizeof *found + bytes);
        if (found != NULL) {
            memcpy(found->text, text, bytes);
            HASH_ADD_KEYPTR(hh, labels, found->text, bytes - 1, found);
            if (found->hh.tbl == NULL) {
                free(found);
                found = NULL;
            }
        }
    }
    pthread_mutex_unlock(&label_lock);
    return found != NULL ? found->text : "a command";
}

tarn_status event_status(const struct context *c, cl_event event, cl_int *status)
{
    const cl_int code =
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status, status, NULL);
    return code == CL_SUCCESS ? TARN_OK : cl_failed(c, "clGetEventInfo", code);
}

bool event_ended(cl_event event)
{
    cl_int status;
    return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) ==
               CL_SUCCESS &&
           status <= CL_COMPLETE;
}

static tarn_status command_failed(const struct context *c, const char *label, cl_int status)
{
    return error_set(TARN_ERR_DEVICE, "%s failed on device \"%s\": %s (%d)", label, c->label,
                     cl_error_name(status), status);
}

/* Sleeps, and not for the 50 us more that the system may add to gather wake-ups: steps may take as long. */
static void nap_for(double seconds)
{
    const struct timespec t = { .tv_nsec = (long)(seconds * 1e9) };
    const int slack = prctl(PR_GET_TIMERSLACK);
    (void)prctl(PR_SET_TIMERSLACK, 1000UL);
    nanosleep(&t, NULL);
    if (slack > 0)
        (void)prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
}

/* Whether commands in flight leave no core to the thread that waits for them. */
static bool is_filled(const struct context *c)
{
    for (uint64_t i = c->first; i < c->next; i++)
        if (c->ring[i % TRACKED].fills)
            return true;
    return c->device.kind == DEVICE_CPU && c->device.compute_units < 2;
}

/* On a core that nobody needs the thread turns for as long as it may take to evaluate something small,
 * since to be let in again after a rest takes as long. Else it lets the driver's workers go first, briefly,
 * then sleeps for 1/32 of the time waited so far: the wait ends at most about 3 % late. */
static void pause_after(const struct context *c, double waited, bool filled)
{
    if (lend_pause(c, LONG_NAP))
        return;
    if (!filled && waited < TURN) {
        for (int i = 0; i < PAUSES; i++)
            awake_pause();
        return;
    }
    if (waited < 50e-6) {
        sched_yield();
        return;
    }
    const double part = waited / 32;
    const double nap = part < 10e-6 ? 10e-6 : part > LONG_NAP ? LONG_NAP : part;
    nap_for(nap);
}

static tarn_status too_late(const struct context *c, const char *label, double limit)
{
    return error_set(TARN_ERR_TIMEOUT,
                     "%s did not end on device \"%s\" within %g s; TARN_TIMEOUT, or the timeout "
                     "of the launch, sets the limit",
                     label, c->label, limit);
}

/* Command number `from`, or the first one after it that has an event; c->next: none has. */
static uint64_t with_event(const struct context *c, uint64_t from)
{
    while (from < c->next && c->ring[from % TRACKED].event == NULL)
        from++;
    return from;
}

cl_event event_before(const struct context *c, queue_mark mark)
{
    const uint64_t at = with_event(c, mark - 1);
    return at < c->next ? c->ring[at % TRACKED].event : NULL;
}

bool event_wanted(const struct context *c, bool first)
{
    return first || c->profiled || c->silent + 1 >= c->event_every;
}

/* How long the oldest command may be late: not because the driver compiles it, or one that is in line
 * before. Of several that are asked for together each may take as long. */
static double limit_of(const struct context *c)
{
    const uint64_t together = with_event(c, c->first) - c->first + 1;
    double limit = c->timeout;
    for (uint64_t i = c->first; i < c->next; i++)
        if (c->ring[i % TRACKED].first && c->build_timeout > limit)
            limit = c->build_timeout;
    return limit * (double)together;
}

tarn_status event_wait(const struct context *c, cl_event event, const char *label)
{
    const double start = seconds_now(), limit = limit_of(c);
    const bool filled = is_filled(c);
    for (;;) {
        cl_int status;
        TRY(event_status(c, event, &status));
        if (status < 0)
            return command_failed(c, label, status);
        if (status == CL_COMPLETE)
            return TARN_OK;
        const double waited = seconds_now() - start;
        if (!(waited <= limit))
            return too_late(c, label, limit);
        pause_after(c, waited, filled);
    }
}

void event_forget(struct tracked *t)
{
    if (t->event != NULL)
        clReleaseEvent(t->event);
    if (t->cause != NULL)
        clReleaseEvent(t->cause);
    *t = (struct tracked){ 0 };
}

/* When a command ran, by the device's clock in seconds; two zeros where the driver cannot tell. */
static void times_of(cl_event event, double *start, double *end)
{
    cl_ulong from, to;
    *start = *end = 0;
    if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) !=
            CL_SUCCESS ||
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL) !=
            CL_SUCCESS ||
        to < from)
        return;
    *start = 1e-9 * (double)from;
    *end = 1e-9 * (double)to;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Commands of a queue in order end in order, so a span is never before the last one but for what the clocks'
 * comparison is wrong by. */
static void note_times(struct context *c, const struct tracked *t)
{
    double start, end;
    times_of(t->event, &start, &end);
    c->counters.busy_seconds += end - start;
    if (c->track == 0 || end == 0)
        return;
    start = later(c->device_zero + start, c->traced);
    end = later(c->device_zero + end, start);
    c->traced = end;
    trace_span(c->track, t->about != NULL ? t->about : t->label, start, end);
}

/* Of a command that ended, and of the one of the other queue that it waited for. */
static tarn_status tracked_status(const struct context *c, const struct tracked *t, cl_int *status)
{
    cl_int earlier = CL_COMPLETE;
    TRY(event_status(c, t->event, status));
    if (*status <= CL_COMPLETE && t->cause != NULL)
        TRY(event_status(c, t->cause, &earlier));
    *status = earlier != CL_COMPLETE ? earlier : *status;
    return TARN_OK;
}

/* Takes the oldest commands off the ring, up to number `last`, the only one of them that has an event; remembers the first
 * failure. */
static void retire(struct context *c, uint64_t last, cl_int status)
{
    struct tracked *t = &c->ring[last % TRACKED];
    if (status < 0 && c->failed == TARN_OK) {
        char label[300];
        snprintf(label, sizeof label, "%s", t->label);
        if (last > c->first)
            snprintf(label, sizeof label, "%s, or one of the %d launches before it", t->label,
                     (int)(last - c->first));
        c->failed = command_failed(c, label, status);
        snprintf(c->failure, sizeof c->failure, "%s", error_text());
    }
    if (c->profiled && status >= 0)
        note_times(c, t);
    while (c->first <= last)
        event_forget(&c->ring[c->first++ % TRACKED]);
}

static tarn_status report(struct context *c)
{
    if (c->failed == TARN_OK)
        return TARN_OK;
    const tarn_status status = error_set(c->failed, "%s", c->failure);
    c->failed = TARN_OK;
    return status;
}

void context_set_timeouts(struct context *c, double command, double build)
{
    if (command > 0)
        c->timeout = command;
    if (build > 0)
        c->build_timeout = build;
}

double context_timeout(const struct context *c)
{
    return c->timeout;
}

bool context_is_past(const struct context *c, queue_mark mark)
{
    return c->first >= mark;
}

tarn_status context_mark(struct context *c, queue_mark *out)
{
    *out = c->next;
    return TARN_OK;
}

/* Takes the commands before `mark` that are known to have ended off the ring; whether there were any. */
static tarn_status retire_ended(struct context *c, queue_mark mark, bool *any)
{
    *any = false;
    while (c->first < mark) {
        cl_int status;
        const uint64_t last = with_event(c, c->first);
        if (last == c->next)
            break;
        TRY(tracked_status(c, &c->ring[last % TRACKED], &status));
        if (status > CL_COMPLETE)
            break;
        retire(c, last, status);
        *any = true;
    }
    return TARN_OK;
}

tarn_status context_poll(struct context *c)
{
    bool any;
    TRY(retire_ended(c, c->next, &any));
    return report(c);
}

/* The limit is for one command, not for all that wait in line: drivers may compile each of them
 * when its turn comes. The last one is asked first, which saves questions; but only commands that
 * ended count: the last may have failed alone, while those before it run. */
tarn_status context_settle(struct context *c, queue_mark mark)
{
    if (mark > c->next)
        mark = c->next;
    if (c->first >= mark)
        return TARN_OK;
    TRY(context_flush(c));
    const double start = seconds_now();
    double alive = start, limit = limit_of(c);
    const bool filled = is_filled(c);
    for (;;) {
        cl_int status;
        bool progress = false;
        TRY(event_status(c, event_before(c, mark), &status));
        const double waited = seconds_now() - start;
        if (status <= CL_COMPLETE || waited > LOOK_AFTER)
            TRY(retire_ended(c, mark, &progress));
        if (c->first >= mark)
            return TARN_OK;
        alive = progress ? seconds_now() : alive;
        limit = progress ? limit_of(c) : limit;
        if (!(seconds_now() - alive <= limit))
            return too_late(c, c->ring[c->first % TRACKED].label, limit);
        pause_after(c, waited, filled);
    }
}

bool context_is_idle(struct context *c)
{
    return context_settle(c, c->next) == TARN_OK;
}

tarn_status context_wait(struct context *c, queue_mark mark)
{
    TRY(context_settle(c, mark));
    return context_poll(c);
}

tarn_status context_finish(struct context *c)
{
    return context_wait(c, c->next);
}

tarn_status event_track(struct context *c, cl_event event, const char *label)
{
    return event_track_cause(c, event, NULL, label);
}

tarn_status event_track_cause(struct context *c, cl_event event, cl_event cause, const char *label)
{
    c->unflushed = true;
    struct tracked t = { .event = event, .cause = cause, .label = label, .about = c->about };
    /* A full ring waits for its older half: nobody should have thousands of commands queued. */
    if (c->next - c->first == TRACKED) {
        const tarn_status status = context_wait(c, c->first + TRACKED / 2);
        if (status != TARN_OK) {
            event_forget(&t);
            return status;
        }
    }
    c->ring[c->next % TRACKED] = t;
    c->next++;
    c->silent = event == NULL ? c->silent + 1 : 0;
    return TARN_OK;
}

tarn_status event_close(struct context *c)
{
    cl_event event;
    if (c->silent == 0)
        return TARN_OK;
    c->silent = 0; /* a full ring may wait, and so flush, meanwhile */
    const cl_int code = clEnqueueMarkerWithWaitList(c->compute, 0, NULL, &event);
    return code == CL_SUCCESS ? event_track(c, event, c->ring[(c->next - 1) % TRACKED].label)
                              : cl_failed(c, "clEnqueueMarkerWithWaitList", code);
}
