/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that come again as they were. In: what a plan launches, step after step. Out: the same commands; but a run of
 * launches whose kernels, arguments and sizes have not changed for some steps is recorded by the driver
 * (cl_khr_command_buffer) and from then on enqueued as one command. Where one of them differs, the run is launched one by
 * one again, and recorded anew when it is steady. A driver that fails at it is not asked again, and a line says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_recorder.h"
#include "log.h"

/* Steps without a change before a launch is recorded; doubled when a recording was lost over it. */
#define STEADY 3
#define MOST_PATIENCE 4096
#define LEAST_RUN 2  /* launches that are worth a recording */
#define RECORDINGS 3 /* of a run, where one cannot be in the queue twice: two steps are in flight */
/* Operations and bytes of a run: one command, whose lateness is measured, is below a second. */
#define MOST_WORK 4e9

struct run {
    int first, last; /* launches first .. last - 1 */
    recording made[RECORDINGS];
    queue_mark used[RECORDINGS]; /* when each was enqueued last */
    int count;
    bool fills;
    const char *label;
};

/* A launch, as it was the last time. */
struct noted {
    struct kernel *kernel;
    cl_kernel built; /* of the kernel, which may get a better one */
    struct kernel_arg *args;
    int count;
    size_t groups, local;
    double work;
    int same, patience; /* steps since it changed, and how many are waited for */
    bool apart;         /* something else is enqueued before it */
    struct run *run;    /* that it is recorded in; NULL: none */
};

struct replay {
    struct context *context;
    struct replay *next; /* of the context's */
    struct noted *list;
    int count, at; /* launches, and which comes */
    bool apart;
};

/* ---- runs ----------------------------------------------------------------------------------- */

/* A recording in the queue is kept by the driver until it ended. */
static void drop_run(struct replay *r, struct run *run)
{
    for (int i = run->first; i < run->last; i++) {
        r->list[i].run = NULL;
        r->list[i].same = 0;
    }
    for (int i = 0; i < run->count; i++)
        r->context->recorder->release(run->made[i]);
    free(run);
}

void replay_forget(struct context *c)
{
    for (struct replay *r = c->recorder != NULL ? c->recorder->first : NULL; r != NULL; r = r->next)
        for (int i = 0; i < r->count; i++)
            if (r->list[i].run != NULL)
                drop_run(r, r->list[i].run);
}

/* The driver cannot do what it says: launches go one by one from now on. */
static void give_up(struct context *c, const char *call, cl_int code)
{
    replay_forget(c);
    log_print(TARN_LOG_WARNING,
              "tarn: %s on device \"%s\": %s (%d); its kernels are launched one by one, as with "
              "TARN_REPLAY=0",
              call, c->label, cl_error_name(code), code);
    c->no_replay = true;
}

static tarn_status launch_noted(const struct noted *n)
{
    return kernel_launch(n->kernel, n->args, n->count, n->groups, n->local);
}

/* Records the run once more; what failed, with its code, or NULL. */
static const char *record(struct replay *r, struct run *run, cl_int *code)
{
    const struct context *c = r->context;
    const struct command_recorder *by = c->recorder;
    const cl_ulong twice[] = { RECORDING_FLAGS, MAY_QUEUE_TWICE, 0 };
    const char *failed = NULL;
    const recording made = by->create(1, &c->compute, by->twice ? twice : NULL, code);
    if (*code != CL_SUCCESS || made == NULL)
        return "clCreateCommandBufferKHR";
    for (int i = run->first; i < run->last && failed == NULL; i++) {
        const struct noted *n = &r->list[i];
        const size_t global = n->groups * n->local;
        *code = kernel_set_args(n->kernel, n->args, n->count);
        if (*code != CL_SUCCESS) {
            failed = "clSetKernelArg";
            break;
        }
        *code = by->launch(made, NULL, NULL, n->built, 1, NULL, &global, &n->local, 0, NULL, NULL,
                           NULL);
        failed = *code != CL_SUCCESS ? "clCommandNDRangeKernelKHR" : NULL;
    }
    if (failed == NULL) {
        *code = by->finalize(made);
        failed = *code != CL_SUCCESS ? "clFinalizeCommandBufferKHR" : NULL;
    }
    if (failed != NULL) {
        by->release(made);
        return failed;
    }
    run->made[run->count++] = made;
    return NULL;
}

/* A recording of the run that may be enqueued now; -1: there is none, and where one could not be made, no run either. */
static int free_recording(struct replay *r, struct run *run)
{
    struct context *c = r->context;
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < run->count; i++)
        if (c->recorder->twice || context_is_past(c, run->used[i]))
            return i;
    if (run->count == RECORDINGS)
        return -1;
    const char *failed = record(r, run, &code);
    if (failed == NULL)
        return run->count - 1;
    give_up(c, failed, code);
    return -1;
}

static tarn_status launch_each(const struct replay *r, int first, int last)
{
    for (int i = first; i < last; i++)
        TRY(launch_noted(&r->list[i]));
    return TARN_OK;
}

static tarn_status enqueue_run(struct replay *r, struct run *run)
{
    struct context *c = r->context;
    const int first = run->first, last = run->last, number = free_recording(r, run);
    cl_event event;
    if (number < 0)
        return launch_each(r, first, last);
    if (backend_fails_now())
        return error_set(TARN_ERR_DEVICE, "%s on device \"%s\": planned", run->label, c->label);
    awake_now(c);
    const cl_int code = c->recorder->enqueue(0, NULL, run->made[number], 0, NULL, &event);
    if (code != CL_SUCCESS) {
        give_up(c, "clEnqueueCommandBufferKHR", code);
        return launch_each(r, first, last);
    }
    TRY(event_track(c, event, run->label));
    c->ring[(c->next - 1) % TRACKED].fills = run->fills;
    run->used[number] = c->next;
    c->counters.launches += (uint64_t)(last - first);
    c->counters.replayed += (uint64_t)(last - first);
    return TARN_OK;
}

static bool is_steady(const struct noted *n)
{
    return n->run == NULL && n->kernel != NULL && n->same >= n->patience;
}

/* The end of the longest run that begins with launch `first`. */
static int end_of_run(const struct replay *r, int first)
{
    double work = 0;
    int last = first;
    while (last < r->count && is_steady(&r->list[last]) &&
           (last == first || !r->list[last].apart)) {
        work += r->list[last].work;
        if (work > MOST_WORK)
            break;
        last++;
    }
    return last;
}

/* Without memory it is launched one by one. */
static void make_run(struct replay *r, int first, int last)
{
    struct context *c = r->context;
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return;
    char label[128];
    cl_int code = CL_SUCCESS;
    run->first = first;
    run->last = last;
    for (int i = first; i < last; i++) {
        run->fills |= c->device.kind == DEVICE_CPU && r->list[i].groups >= c->device.compute_units;
        r->list[i].run = run;
    }
    snprintf(label, sizeof label, "a run of %d kernels from %s", last - first,
             r->list[first].kernel->name);
    run->label = label_keep(label);
    const char *failed = record(r, run, &code);
    if (failed != NULL)
        give_up(c, failed, code);
}

/* ---- launches ------------------------------------------------------------------------------- */

tarn_status replay_new(struct context *c, int launches, struct replay **out)
{
    *out = NULL;
    if (c->recorder == NULL || launches < LEAST_RUN)
        return TARN_OK;
    struct replay *r = calloc(1, sizeof *r);
    struct noted *list = calloc((size_t)launches, sizeof *list);
    if (r == NULL || list == NULL) {
        free(r);
        free(list);
        return error_set(TARN_ERR_MEMORY, "replay: out of host memory");
    }
    *r = (struct replay){
        .context = c, .next = c->recorder->first, .list = list, .count = launches
    };
    for (int i = 0; i < launches; i++)
        list[i].patience = STEADY;
    c->recorder->first = r;
    *out = r;
    return TARN_OK;
}

void replay_free(struct replay *r)
{
    if (r == NULL)
        return;
    struct replay **at = &r->context->recorder->first;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    for (int i = 0; i < r->count; i++) {
        if (r->list[i].run != NULL)
            drop_run(r, r->list[i].run);
        free(r->list[i].args);
    }
    free(r->list);
    free(r);
}

void replay_begin(struct replay *r)
{
    r->at = 0;
    r->apart = false;
}

void replay_apart(struct replay *r)
{
    r->apart = true;
}

static bool same_arg(const struct kernel_arg *a, const struct kernel_arg *b)
{
    if (a->buffer != NULL || b->buffer != NULL)
        return a->buffer == b->buffer;
    return a->size == b->size && memcmp(&a->value, &b->value, a->size) == 0;
}

static bool is_same(const struct noted *n, const struct noted *now)
{
    bool same = n->kernel == now->kernel && n->built == now->built && n->count == now->count &&
                n->groups == now->groups && n->local == now->local && n->apart == now->apart;
    for (int i = 0; same && i < n->count; i++)
        same = same_arg(&n->args[i], &now->args[i]);
    return same;
}

/* Takes note of a launch that is not what it was. */
static tarn_status note(struct noted *n, const struct noted *now)
{
    struct kernel_arg *args = n->args;
    if (args == NULL || n->count < now->count) {
        args = realloc(n->args, ((size_t)now->count + 1) * sizeof *args);
        if (args == NULL)
            return error_set(TARN_ERR_MEMORY, "replay: out of host memory");
    }
    if (now->count > 0)
        memcpy(args, now->args, (size_t)now->count * sizeof *args);
    const int patience = n->patience;
    *n = *now;
    n->args = args;
    n->patience = patience;
    return TARN_OK;
}

static tarn_status launch_changed(struct replay *r, int at, const struct noted *now)
{
    struct noted *n = &r->list[at];
    if (n->run != NULL) {
        const int first = n->run->first;
        drop_run(r, n->run);
        n->patience = n->patience < MOST_PATIENCE ? 2 * n->patience : n->patience;
        TRY(launch_each(r, first, at)); /* held back so far */
    }
    TRY(note(n, now));
    return launch_noted(n);
}

tarn_status replay_launch(struct replay *r, struct kernel *k, const struct kernel_arg *args,
                          int count, size_t groups, size_t local, double work)
{
    const int at = r->at++;
    if (r->context->no_replay || r->context->profiled || at >= r->count || groups == 0)
        return kernel_launch(k, args, count, groups, local);
    if (k->known != NULL)
        TRY(known_kernel_improve(k->known));
    struct noted *n = &r->list[at];
    const struct noted now = { .kernel = k,
                               .built = k->kernel,
                               .args = (struct kernel_arg *)args,
                               .count = count,
                               .groups = groups,
                               .local = local,
                               .work = work,
                               .apart = r->apart };
    r->apart = false;
    if (!is_same(n, &now))
        return launch_changed(r, at, &now);
    if (n->same < n->patience)
        n->same++;
    if (n->run == NULL)
        return launch_noted(n);
    return at + 1 < n->run->last ? TARN_OK : enqueue_run(r, n->run);
}

void replay_end(struct replay *r)
{
    for (int i = 0; i < r->count && !r->context->no_replay && !r->context->profiled;) {
        const int last = end_of_run(r, i);
        if (last - i >= LEAST_RUN)
            make_run(r, i, last);
        i = last > i ? last : i + 1;
    }
}
