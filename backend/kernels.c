/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by their text: each is built once for a context, whichever plans it is part of. Those that
 * are missing are built in programs of several, since a program costs a driver much whatever is in
 * it (PoCL 0.1 s), and so does each kernel of a program that is large. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hash_table.h"
#include "opencl.h"
#include "progress.h"

#define COLD_SECONDS \
    0.01 /* of launching a kernel: from a driver's cache it takes a tenth of that */
#define PROGRAM_BYTES ((size_t)1 << 16) /* a program ends with the kernel that exceeds it */

struct shared_program {
    struct built_program *program;
    int users;
};

struct known_kernel {
    UT_hash_handle hh;
    uint64_t key[2]; /* of the text */
    struct context *context;
    struct kernel *kernel;
    struct shared_program *from;
    int users;
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
    program_free(from->program);
    free(from);
}

void known_kernel_leave(struct known_kernel *known)
{
    if (known == NULL || --known->users > 0)
        return;
    HASH_DEL(known->context->kernels, known);
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

/* Kernels to be built. */
struct request {
    const char *const *head;
    const struct kernel_text *list;
    struct known_kernel **known; /* of each text */
    int *missing;                /* numbers of texts, each once */
    int count;                   /* of the missing */
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

static tarn_status take_from(const struct request *q, int number, struct shared_program *from)
{
    struct known_kernel *known = q->known[number];
    TRY(kernel_new(from->program, q->list[number].function, &known->kernel));
    known->kernel->known = known;
    known->from = from;
    from->users++;
    return TARN_OK;
}

/* One program, of the missing kernels [first, last). */
struct program_part {
    int first, last;
};

static tarn_status build(struct context *c, const struct request *q, struct program_part part,
                         const char *source)
{
    struct shared_program *from = calloc(1, sizeof *from);
    if (from == NULL)
        return out_of_memory(q->label);
    tarn_status status = program_build(c, source, q->label, &from->program);
    if (status != TARN_OK) {
        free(from);
        return status;
    }
    from->users = 1; /* this function, until its kernels are */
    for (int i = part.first; i < part.last && status == TARN_OK; i++)
        status = take_from(q, q->missing[i], from);
    leave_program(from);
    return status;
}

/* Has the driver finish the kernels of a program. */
static tarn_status finish(const struct request *q, struct program_part part)
{
    for (int i = part.first; i < part.last; i++) {
        const int number = q->missing[i];
        TRY(kernel_launch_idle(q->known[number]->kernel, &q->list[number].idle));
        progress_tell(q->progress, i + 1, q->count);
    }
    return TARN_OK;
}

/* Divides the missing kernels into programs; how many there are. */
static int divide(const struct request *q, struct program_part *parts)
{
    size_t bytes = 0;
    int count = 0;
    for (int i = 0, first = 0; i < q->count; i++) {
        bytes += strlen(q->list[q->missing[i]].text);
        if (bytes < PROGRAM_BYTES && i + 1 < q->count)
            continue;
        parts[count++] = (struct program_part){ first, i + 1 };
        first = i + 1;
        bytes = 0;
    }
    return count;
}

/* The same, and whether it took so long that the driver compiled them, and had none in a cache. */
static tarn_status finish_timed(struct context *c, const struct request *q,
                                struct program_part part, bool *cold)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    TRY(finish(q, part));
    TRY(context_finish(c));
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    *cold = seconds > COLD_SECONDS * (part.last - part.first);
    return TARN_OK;
}

static tarn_status build_parts(struct context *c, const struct request *q,
                               const struct program_part *parts, char *const *sources, int count)
{
    tarn_status status = TARN_OK;
    struct ahead *ahead = NULL; /* of the programs after the first */
    bool cold = false;
    for (int i = 0; i < count; i++)
        if (sources[i] == NULL)
            return out_of_memory(q->label);
    for (int i = 0; i < count && status == TARN_OK; i++) {
        ahead_wait(ahead, i - 1);
        status = build(c, q, parts[i], sources[i]);
        if (status == TARN_OK)
            status = i > 0 ? finish(q, parts[i]) : finish_timed(c, q, parts[i], &cold);
        if (i == 0 && status == TARN_OK && cold)
            ahead = ahead_begin(c, sources + 1, count - 1);
    }
    ahead_end(ahead);
    return status;
}

static tarn_status build_all(struct context *c, const struct request *q)
{
    struct program_part *parts = calloc((size_t)q->count + 1, sizeof *parts);
    char **sources = calloc((size_t)q->count + 1, sizeof(char *));
    tarn_status status = parts != NULL && sources != NULL ? TARN_OK : out_of_memory(q->label);
    const int count = status == TARN_OK ? divide(q, parts) : 0;
    for (int i = 0; i < count; i++)
        sources[i] = source_of(q, parts[i].first, parts[i].last);
    if (status == TARN_OK)
        status = build_parts(c, q, parts, sources, count);
    for (int i = 0; i < count; i++)
        free(sources[i]);
    free(sources);
    free(parts);
    return status;
}

static tarn_status enter_all(struct context *c, struct request *q, int count)
{
    for (int i = 0; i < count; i++) {
        q->known[i] = enter(c, q->list[i].text);
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
    struct request q = { .head = head, .list = list, .label = label, .progress = &progress };
    q.known = calloc((size_t)count + 1, sizeof(struct known_kernel *));
    q.missing = calloc((size_t)count + 1, sizeof *q.missing);
    tarn_status status = q.known != NULL && q.missing != NULL ? TARN_OK : out_of_memory(label);
    if (status == TARN_OK)
        status = enter_all(c, &q, count);
    if (status == TARN_OK)
        status = build_all(c, &q);
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
