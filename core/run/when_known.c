/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks with values. What is asked for becomes results of the step's plan; they are copied to memory that the
 * host sees, and a later call of the program's finds that the copy has ended. In: tensors and functions. Out: calls
 * of these, in order. Memory for the host is used again, so that a steady loop allocates none. */
#include "run/when_known.h"

#include <stdlib.h>

/* Somebody waits for a value. */
struct waiting {
    struct waiting *next;
    tarn_value_fn each;
    void *user;
    uint32_t step, node; /* that recorded it */
    uint64_t number;     /* of the step, for people */
    size_t bytes;
    struct shared *memory; /* NULL: not enqueued */
    queue_mark ready;
};

/* Memory that nobody uses now. */
struct idle {
    struct idle *next;
    struct shared *memory;
    size_t bytes;
};

struct known {
    struct waiting *first, **end;
    struct idle *idle;
};

static struct known *need_known(tarn_replica *r)
{
    if (r->known != NULL)
        return r->known;
    r->known = calloc(1, sizeof *r->known);
    if (r->known != NULL)
        r->known->end = &r->known->first;
    return r->known;
}

tarn_status tarn_when_known(tarn_tensor t, tarn_value_fn each, void *user)
{
    tarn_replica *r = t.replica;
    const uint32_t node = graph_operand(NULL, t, "when_known", 0);
    if (node == 0)
        return r != NULL ? r->status : TARN_ERR_ARGUMENT;
    if (each == NULL)
        return replica_fail(r, TARN_ERR_ARGUMENT, "when_known: the function is NULL");
    struct known *k = need_known(r);
    struct waiting *w = k != NULL ? malloc(sizeof *w) : NULL;
    if (w == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "when_known: out of host memory");
    *w = (struct waiting){ .each = each,
                           .user = user,
                           .step = r->step,
                           .node = node,
                           .number = r->metrics.steps + 1,
                           .bytes = tensor_bytes(t) };
    *k->end = w;
    k->end = &w->next;
    return TARN_OK;
}

static bool is_of_step(const tarn_replica *r, const struct waiting *w)
{
    return w->memory == NULL && w->step == r->step;
}

tarn_status known_wanted(tarn_replica *r, uint32_t **nodes, int *count)
{
    *nodes = NULL;
    *count = 0;
    for (const struct waiting *w = r->known != NULL ? r->known->first : NULL; w != NULL;
         w = w->next)
        *count += is_of_step(r, w);
    if (*count == 0)
        return TARN_OK;
    *nodes = calloc((size_t)*count, sizeof **nodes);
    if (*nodes == NULL)
        return error_set(TARN_ERR_MEMORY, "when_known: out of host memory");
    int at = 0;
    for (const struct waiting *w = r->known->first; w != NULL; w = w->next)
        if (is_of_step(r, w))
            (*nodes)[at++] = w->node;
    return TARN_OK;
}

/* ---- memory --------------------------------------------------------------------------------- */

static tarn_status take_memory(tarn_replica *r, size_t bytes, struct shared **out)
{
    for (struct idle **at = &r->known->idle; *at != NULL; at = &(*at)->next) {
        struct idle *found = *at;
        if (found->bytes != bytes)
            continue;
        *out = found->memory;
        *at = found->next;
        free(found);
        return TARN_OK;
    }
    return shared_new(r->context, bytes, out);
}

static void give_memory(struct known *k, struct shared *memory, size_t bytes)
{
    struct idle *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        shared_free(memory);
        return;
    }
    *entry = (struct idle){ k->idle, memory, bytes };
    k->idle = entry;
}

static tarn_status copy_out(tarn_replica *r, struct waiting *w, struct buffer *value)
{
    struct shared *memory;
    TRY(take_memory(r, w->bytes, &memory));
    tarn_status s = TARN_OK;
    if (w->bytes > 0)
        s = buffer_copy(shared_buffer(memory), 0, value, 0, w->bytes);
    if (s == TARN_OK)
        s = context_mark(r->context, &w->ready);
    if (s == TARN_OK)
        w->memory = memory;
    else
        shared_free(memory);
    return s;
}

tarn_status known_enqueued(tarn_replica *r, struct buffer **values)
{
    tarn_status s = TARN_OK;
    int at = 0;
    for (struct waiting *w = r->known != NULL ? r->known->first : NULL; w != NULL; w = w->next) {
        if (!is_of_step(r, w))
            continue;
        if (s == TARN_OK)
            s = copy_out(r, w, values[at]);
        buffer_free(values[at]);
        values[at++] = NULL;
    }
    return s;
}

/* ---- calling back --------------------------------------------------------------------------- */

/* Takes it out of the list first: the function may ask for more, or end a step. */
static void call(tarn_replica *r, const void *data)
{
    struct known *k = r->known;
    struct waiting *w = k->first;
    k->first = w->next;
    if (k->first == NULL)
        k->end = &k->first;
    w->each(r, w->number, data, data != NULL ? w->bytes : 0, w->user);
    if (w->memory != NULL && data != NULL && shared_end(w->memory, false) != TARN_OK)
        replica_fail(r, error_last(), NULL);
    if (w->memory != NULL)
        give_memory(k, w->memory, w->bytes);
    free(w);
}

/* Of memory that the host may look at now, the contents; NULL: the device failed. */
static const void *contents(tarn_replica *r, const struct waiting *w)
{
    void *host = NULL;
    if (w->memory == NULL)
        return NULL;
    const tarn_status s = shared_begin(w->memory, w->ready, true, &host);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    return s == TARN_OK ? host : NULL;
}

void known_deliver(tarn_replica *r)
{
    if (r->known == NULL || r->known->first == NULL)
        return;
    const tarn_status s = context_poll(r->context);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    while (r->known->first != NULL) {
        const struct waiting *w = r->known->first;
        if (is_of_step(r, w) || (w->memory != NULL && !context_is_past(r->context, w->ready)))
            return;
        call(r, contents(r, w));
    }
}

void known_close(tarn_replica *r)
{
    if (r->known == NULL)
        return;
    while (r->known->first != NULL)
        call(r, contents(r, r->known->first));
    while (r->known->idle != NULL) {
        struct idle *entry = r->known->idle;
        r->known->idle = entry->next;
        shared_free(entry->memory);
        free(entry);
    }
    free(r->known);
    r->known = NULL;
}
