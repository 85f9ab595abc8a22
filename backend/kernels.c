/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by their text: each is built once for a context, whichever plans it is part of. Those that
 * are missing are built in programs of several, since a program costs a driver much whatever is in
 * it (PoCL 0.1 s), and so does each kernel of a program that is large.
 *
 * Where there are compiler processes they build what the driver does not know yet. Two builds of a program
 * have the same bits: a quick one, with which training starts, and the optimised one that takes its place
 * once kernels of it are launched again and again. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "compilers.h"
#include "env.h"
#include "hash_table.h"
#include "log.h"
#include "opencl.h"
#include "progress.h"

/* A program ends with the kernel that exceeds so many bytes. The more processes share the work, the less
 * each gets at a time, but not so little that the driver's cost of a program outweighs it. */
#define PROGRAM_BYTES ((size_t)1 << 16)
#define LEAST_PROGRAM_BYTES ((size_t)1 << 14)
#define SHARES 3 /* programs for each process */
/* What is shorter is compiled before other processes have started, and their drivers' compilers. */
#define WORTH_ASKING ((size_t)1 << 17)
/* What is longer for each process takes many seconds, in which training may go on already. */
#define WORTH_QUICK ((size_t)1 << 18)
#define OFTEN 2 /* steps that launch a kernel which is worth optimising */
/* Seconds: what is asked for so soon after the last is one wait to who waits, such as the parts of a step with loops. */
#define ONE_WAIT 5

struct shared_program {
    struct built_program *program;
    int users;
    /* Of a quick build: what the better one is made of, NULL otherwise; and who makes it. */
    struct order *order;
    struct compile_job *better;
    struct known_kernel *kernels;
};

struct known_kernel {
    UT_hash_handle hh;
    uint64_t key[2]; /* of the text */
    struct context *context;
    struct kernel *kernel;
    struct shared_program *from;
    struct known_kernel *next; /* of the same program */
    int users;
    int steps;     /* of a quick build: how many it was launched in, */
    uint64_t last; /* and the last of them */
};

static tarn_status out_of_memory(const char *label)
{
    return error_set(TARN_ERR_MEMORY, "%s: out of host memory", label);
}

static void key_of(const char *text, uint64_t key[2])
{
    const XXH128_hash_t h = XXH3_128bits(text, strlen(text));
    key[0] = h.low64;
    key[1] = h.high64;
}

static void leave_program(struct shared_program *from)
{
    if (from == NULL || --from->users > 0)
        return;
    compile_job_drop(from->better);
    free(from->order);
    program_free(from->program);
    free(from);
}

static void forget(struct known_kernel *known)
{
    struct known_kernel **at = known->from != NULL ? &known->from->kernels : NULL;
    while (at != NULL && *at != NULL && *at != known)
        at = &(*at)->next;
    if (at != NULL && *at == known)
        *at = known->next;
}

void known_kernel_leave(struct known_kernel *known)
{
    if (known == NULL || --known->users > 0)
        return;
    HASH_DEL(known->context->kernels, known);
    forget(known);
    kernel_drop(known->kernel);
    leave_program(known->from);
    free(known);
}

/* The entry of a text, with one more user; a new one has no kernel yet. NULL without memory. */
static struct known_kernel *enter(struct context *c, const char *text)
{
    uint64_t key[2];
    struct known_kernel *k;
    key_of(text, key);
    HASH_FIND(hh, c->kernels, key, sizeof key, k);
    if (k == NULL) {
        k = calloc(1, sizeof *k);
        if (k == NULL)
            return NULL;
        memcpy(k->key, key, sizeof key);
        k->context = c;
        HASH_ADD(hh, c->kernels, key, sizeof k->key, k);
        if (k->hh.tbl == NULL) {
            free(k);
            return NULL;
        }
    }
    k->users++;
    return k;
}

/* ---- building ------------------------------------------------------------------------------- */

/* One program, of the missing kernels [first, last). */
struct program_part {
    int first, last;
    char *source;
    bool quick;
    struct compile_job *job; /* NULL: this process builds it */
};

/* Kernels to be built. */
struct request {
    struct context *context;
    const char *const *head;
    const struct kernel_text *list;
    struct known_kernel **known; /* of each text */
    int *missing;                /* numbers of texts, each once */
    int count;                   /* of the missing */
    struct program_part *parts;
    int part_count;
    int processes; /* that may help; 0: none */
    enum { QUICK_NEVER, QUICK_FIRST, QUICK_FOR_EVER } quick;
    const char *label;
    struct progress *progress;
};

static char *source_of(const struct request *q, int first, int last)
{
    size_t length = strlen(q->head[0]) + strlen(q->head[1]);
    for (int i = first; i < last; i++)
        length += strlen(q->list[q->missing[i]].text);
    char *source = malloc(length + 1);
    if (source == NULL)
        return NULL;
    char *end = stpcpy(stpcpy(source, q->head[0]), q->head[1]);
    for (int i = first; i < last; i++)
        end = stpcpy(end, q->list[q->missing[i]].text);
    return source;
}

static size_t all_bytes(const struct request *q)
{
    size_t all = 0;
    for (int i = 0; i < q->count; i++)
        all += strlen(q->list[q->missing[i]].text);
    return all;
}

static size_t program_bytes(const struct request *q)
{
    const size_t share = all_bytes(q) / ((size_t)q->processes * SHARES + 1);
    if (q->processes == 0 || share > PROGRAM_BYTES)
        return PROGRAM_BYTES;
    return share > LEAST_PROGRAM_BYTES ? share : LEAST_PROGRAM_BYTES;
}

/* Divides the missing kernels into programs. */
static tarn_status divide(struct request *q)
{
    const size_t most = program_bytes(q);
    size_t bytes = 0;
    for (int i = 0, first = 0; i < q->count; i++) {
        bytes += strlen(q->list[q->missing[i]].text);
        if (bytes < most && i + 1 < q->count)
            continue;
        char *source = source_of(q, first, i + 1);
        if (source == NULL)
            return out_of_memory(q->label);
        q->parts[q->part_count++] =
            (struct program_part){ .first = first, .last = i + 1, .source = source };
        first = i + 1;
        bytes = 0;
    }
    return TARN_OK;
}

static struct order *order_of(const struct request *q, const struct program_part *part)
{
    return order_new(part->source, q->list, q->missing + part->first, part->last - part->first);
}

static tarn_status take_from(const struct request *q, int number, struct shared_program *from)
{
    struct known_kernel *known = q->known[number];
    TRY(kernel_new(from->program, q->list[number].function, &known->kernel));
    known->kernel->known = known;
    known->from = from;
    known->next = from->kernels;
    from->kernels = known;
    from->users++;
    return TARN_OK;
}

static tarn_status build(const struct request *q, const struct program_part *part)
{
    struct shared_program *from = calloc(1, sizeof *from);
    if (from == NULL)
        return out_of_memory(q->label);
    tarn_status status =
        program_build_as(q->context, part->source, part->quick, q->label, &from->program);
    if (status != TARN_OK) {
        free(from);
        return status;
    }
    from->users = 1; /* this function, until its kernels are */
    if (part->quick && q->quick == QUICK_FIRST)
        from->order = order_of(q, part); /* without memory it stays as it is */
    for (int i = part->first; i < part->last && status == TARN_OK; i++)
        status = take_from(q, q->missing[i], from);
    leave_program(from);
    return status;
}

/* Has the driver finish the kernels of a program. */
static tarn_status finish(const struct request *q, const struct program_part *part)
{
    for (int i = part->first; i < part->last; i++) {
        const int number = q->missing[i];
        TRY(kernel_launch_idle(q->known[number]->kernel, &q->list[number].idle));
        if (part->job == NULL)
            progress_tell(q->progress, i + 1, q->count);
    }
    return TARN_OK;
}

/* ---- with other processes ------------------------------------------------------------------- */

/* Which build each program is to have, and who makes those that the driver does not have yet. */
static void ask_for(struct request *q, struct program_part *part)
{
    const struct device *d = &q->context->device;
    part->quick = q->quick == QUICK_FOR_EVER ||
                  (q->quick == QUICK_FIRST && !program_is_finished(d, part->source, false));
    if (q->processes == 0 || program_is_finished(d, part->source, part->quick))
        return;
    struct order *o = order_of(q, part);
    if (o == NULL)
        return;
    o->quick = part->quick;
    part->job = compilers_ask(d, o, true);
    free(o);
}

static bool has_ended(const struct compile_job *job)
{
    const enum job_state state = compile_job_state(job);
    return state == JOB_DONE || state == JOB_FAILED;
}

static void tell(const struct request *q)
{
    int done = 0;
    for (int i = 0; i < q->part_count; i++)
        if (q->parts[i].job == NULL || has_ended(q->parts[i].job))
            done += q->parts[i].last - q->parts[i].first;
    progress_tell(q->progress, done, q->count);
}

/* Waits for whoever builds a program, as long as a driver may take for it. What was not done in the end
 * is left to this process, whose errors say why. */
static void wait_for(const struct request *q, struct program_part *part)
{
    const double begin = seconds_now();
    const double most = q->context->build_timeout * q->count;
    while (part->job != NULL && !has_ended(part->job) && seconds_now() - begin < most) {
        compile_job_wait(part->job);
        tell(q);
    }
    if (part->job != NULL && compile_job_state(part->job) != JOB_DONE)
        part->quick = q->quick == QUICK_FOR_EVER;
}

static tarn_status build_parts(struct request *q)
{
    for (int i = 0; i < q->part_count; i++)
        ask_for(q, &q->parts[i]);
    for (int i = 0; i < q->part_count; i++) {
        wait_for(q, &q->parts[i]);
        TRY(build(q, &q->parts[i]));
        TRY(finish(q, &q->parts[i]));
    }
    return TARN_OK;
}

/* Counts what there is to compile together with what was before it in the same wait. */
static void count_bytes(const struct request *q)
{
    struct context *c = q->context;
    if (seconds_now() - c->built_at >= ONE_WAIT)
        c->built_bytes = 0;
    c->built_bytes += all_bytes(q);
}

static void choose_way(struct request *q)
{
    const size_t bytes = q->context->built_bytes;
    const char *quick = env_text(ENV_QUICK);
    const bool measures = strcmp(env_text(ENV_TUNE), "1") == 0; /* what is compared is optimised */
    q->processes = bytes < WORTH_ASKING ? 0 : compilers_for(&q->context->device);
    if (strcmp(quick, "1") == 0)
        q->quick = QUICK_FOR_EVER;
    else if (strcmp(quick, "0") != 0 && q->processes > 0 && !measures &&
             bytes > WORTH_QUICK * (size_t)q->processes)
        q->quick = QUICK_FIRST;
}

static tarn_status build_all(struct request *q)
{
    if (q->count == 0)
        return TARN_OK;
    q->parts = calloc((size_t)q->count + 1, sizeof *q->parts);
    if (q->parts == NULL)
        return out_of_memory(q->label);
    count_bytes(q);
    choose_way(q);
    tarn_status status = divide(q);
    if (status == TARN_OK)
        status = build_parts(q);
    q->context->built_at = seconds_now();
    for (int i = 0; i < q->part_count; i++) {
        compile_job_drop(q->parts[i].job);
        free(q->parts[i].source);
    }
    free(q->parts);
    return status;
}

/* ---- better builds -------------------------------------------------------------------------- */

/* No better build is waited for any more. */
static void stay_as_it_is(struct shared_program *from)
{
    compile_job_drop(from->better);
    free(from->order);
    from->better = NULL;
    from->order = NULL;
}

static void stay_quick(struct context *c, struct shared_program *from)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told))
        log_print(TARN_LOG_WARNING,
                  "tarn: kernels could not be optimised, since the processes that were to do it "
                  "failed, as where they are killed for want of memory; they stay as they are, "
                  "which is slow (TARN_QUICK=0 optimises before the first step)");
    for (const struct known_kernel *k = from->kernels; k != NULL; k = k->next)
        c->counters.quick_kept++;
    stay_as_it_is(from);
}

static tarn_status replace(struct context *c, struct shared_program *from)
{
    struct built_program *better, *old = from->program;
    TRY(program_build_as(c, order_source(from->order), false, "better", &better));
    from->program = better;
    for (struct known_kernel *k = from->kernels; k != NULL; k = k->next)
        TRY(kernel_replace(k->kernel, better));
    program_free(old);
    stay_as_it_is(from);
    return TARN_OK;
}

/* Asks for better builds of all that was launched: the rest of the step comes again, too. */
static void ask_for_better(struct context *c)
{
    struct known_kernel *k, *next;
    HASH_ITER(hh, c->kernels, k, next)
    {
        struct shared_program *from = k->from;
        if (k->steps > 0 && from != NULL && from->order != NULL && from->better == NULL &&
            !program_is_finished(&c->device, order_source(from->order), false))
            from->better = compilers_ask(&c->device, from->order, true);
    }
}

/* Who compiles needs the cores that a CPU computes with: a step would take many times as long until they are done,
 * which would be twice as late. */
static void wait_for_better(struct context *c)
{
    struct progress progress = progress_begin();
    struct known_kernel *k, *next;
    int done = 0;
    HASH_ITER(hh, c->kernels, k, next)
    {
        const double begin = seconds_now();
        const struct compile_job *job = k->from != NULL ? k->from->better : NULL;
        while (job != NULL && !has_ended(job) && seconds_now() - begin < c->build_timeout) {
            compile_job_wait(job);
            progress_tell(&progress, done, (int)HASH_COUNT(c->kernels));
        }
        done++;
    }
    progress_end(&progress);
}

/* Whether the kernel is launched in another step than before. */
static bool comes_again(struct known_kernel *known)
{
    const uint64_t now = known->context->steps;
    known->steps += known->steps == 0 || known->last != now;
    known->last = now;
    return known->steps >= OFTEN;
}

static tarn_status improve(struct known_kernel *known)
{
    struct shared_program *from = known->from;
    struct context *c = known->context;
    if (from->better == NULL && comes_again(known)) {
        if (program_is_finished(&c->device, order_source(from->order), false))
            return replace(c, from);
        ask_for_better(c);
        if (c->device.kind == DEVICE_CPU)
            wait_for_better(c);
        if (from->better == NULL)
            stay_quick(c, from);
    }
    if (from->better != NULL && compile_job_state(from->better) == JOB_DONE)
        return replace(c, from);
    if (from->better != NULL && has_ended(from->better))
        stay_quick(c, from);
    c->counters.quick_launches += from->order != NULL;
    return TARN_OK;
}

tarn_status known_kernel_improve(struct known_kernel *known)
{
    if (known->from->order == NULL)
        return TARN_OK;
    const double begin = seconds_now();
    const tarn_status status = improve(known);
    known->context->counters.improve_seconds += seconds_now() - begin;
    return status;
}

void context_step(struct context *c)
{
    c->steps++;
}

/* ---- taking --------------------------------------------------------------------------------- */

static tarn_status enter_all(struct request *q, int count)
{
    for (int i = 0; i < count; i++) {
        q->known[i] = enter(q->context, q->list[i].text);
        if (q->known[i] == NULL)
            return out_of_memory(q->label);
        if (q->known[i]->users == 1) /* new, or it would have another */
            q->missing[q->count++] = i;
    }
    return TARN_OK;
}

tarn_status kernels_take(struct context *c, const char *const head[2],
                         const struct kernel_text *list, int count, const char *label,
                         struct kernel **out)
{
    struct progress progress = progress_begin();
    struct request q = {
        .context = c, .head = head, .list = list, .label = label, .progress = &progress
    };
    q.known = calloc((size_t)count + 1, sizeof(struct known_kernel *));
    q.missing = calloc((size_t)count + 1, sizeof *q.missing);
    tarn_status status = q.known != NULL && q.missing != NULL ? TARN_OK : out_of_memory(label);
    if (status == TARN_OK)
        status = enter_all(&q, count);
    if (status == TARN_OK)
        status = build_all(&q);
    progress_end(&progress);
    for (int i = 0; i < count && q.known != NULL; i++) {
        if (status == TARN_OK)
            out[i] = q.known[i]->kernel;
        else
            known_kernel_leave(q.known[i]);
    }
    free(q.known);
    free(q.missing);
    return status;
}
