/* SPDX-License-Identifier: Apache-2.0 */
/* Places temporaries in one arena: values whose kernels do not overlap share memory. In: values
 * with the kernels that write and read them. Out: an offset for each, and the arena's size. Goes
 * through the kernels in order, with a list of the holes that are free meanwhile. */
#include <string.h>

#include "compile/5_memory/memory_passes.h"

#define ALIGNMENT 128u

struct hole {
    size_t at, end;
};

/* By offset; the last one has no end. */
struct holes {
    struct hole *list;
    int count;
};

static size_t rounded(const struct value *v)
{
    return (v->bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static bool is_temporary(const struct value *v)
{
    return v->place == PLACE_ARENA && v->first >= 0 && v->room == 0 && !v->kept;
}

/* First fit: the lowest offset with room. */
static size_t take(struct holes *h, size_t bytes)
{
    int i = 0;
    while (h->list[i].end - h->list[i].at < bytes)
        i++;
    const size_t at = h->list[i].at;
    h->list[i].at += bytes;
    if (h->list[i].at == h->list[i].end)
        memmove(&h->list[i], &h->list[i + 1], (size_t)(--h->count - i) * sizeof *h->list);
    return at;
}

static void give_back(struct holes *h, size_t at, size_t bytes)
{
    int low = 0, high = h->count - 1; /* of the first hole behind */
    if (bytes == 0)
        return;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (h->list[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    const bool joins_next = h->list[low].at == at + bytes;
    const bool joins_last = low > 0 && h->list[low - 1].end == at;
    if (joins_next && joins_last) {
        h->list[low].at = h->list[low - 1].at;
        memmove(&h->list[low - 1], &h->list[low], (size_t)(h->count-- - low) * sizeof *h->list);
    } else if (joins_next) {
        h->list[low].at = at;
    } else if (joins_last) {
        h->list[low - 1].end = at + bytes;
    } else {
        memmove(&h->list[low + 1], &h->list[low], (size_t)(h->count++ - low) * sizeof *h->list);
        h->list[low] = (struct hole){ at, at + bytes };
    }
}

/* Temporaries by the kernel that first writes, or last reads them: lists that end with -1. */
struct events {
    int *born, *dead;           /* by kernel: the first of a list */
    int *next_born, *next_dead; /* by value */
};

static bool list_events(const struct program_ir *p, struct events *e)
{
    const size_t kernels = (size_t)p->kernel_count + 1, values = (size_t)p->value_count + 1;
    e->born = arena_take(p->arena, kernels * sizeof *e->born);
    e->dead = arena_take(p->arena, kernels * sizeof *e->dead);
    e->next_born = arena_take(p->arena, values * sizeof *e->next_born);
    e->next_dead = arena_take(p->arena, values * sizeof *e->next_dead);
    if (p->arena->failed)
        return false;
    for (int k = 0; k <= p->kernel_count; k++)
        e->born[k] = e->dead[k] = -1;
    for (int i = p->value_count; i-- > 0;) {
        const struct value *v = &p->values[i];
        if (!is_temporary(v))
            continue;
        e->next_born[i] = e->born[v->first];
        e->born[v->first] = i;
        e->next_dead[i] = e->dead[v->last];
        e->dead[v->last] = i;
    }
    return true;
}

/* What is kept lies side by side. */
static void place_kept(struct program_ir *p)
{
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i].kept) {
            p->values[i].offset = p->kept_bytes;
            p->kept_bytes += rounded(&p->values[i]);
        }
}

void memplan(struct program_ir *p)
{
    struct events e;
    place_kept(p);
    struct holes h = { .count = 1 };
    h.list = arena_take(p->arena, ((size_t)p->value_count + 2) * sizeof *h.list);
    if (h.list == NULL || !list_events(p, &e))
        return;
    const int *over = list_taken_over(p);
    bool *goes_on = arena_take(p->arena, (size_t)p->value_count + 1); /* as another value */
    if (over == NULL || goes_on == NULL)
        return;
    h.list[0].end = SIZE_MAX;
    for (int k = 0; k < p->kernel_count; k++) {
        for (int i = e.born[k]; i >= 0; i = e.next_born[i]) {
            struct value *v = &p->values[i];
            v->offset = over[i] > 0 ? p->values[over[i] - 1].offset : take(&h, rounded(v));
            if (over[i] > 0)
                goes_on[over[i] - 1] = true;
            if (v->offset + v->bytes > p->arena_bytes)
                p->arena_bytes = v->offset + v->bytes;
        }
        for (int i = e.dead[k]; i >= 0; i = e.next_dead[i])
            if (!goes_on[i])
                give_back(&h, p->values[i].offset, rounded(&p->values[i]));
    }
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i].room > 0)
            p->values[i].offset += p->values[p->values[i].room - 1].offset;
    /* A kernel that names a value of no elements takes the arena, too, so there must be one. */
    for (int i = 0; i < p->value_count && p->arena_bytes == 0; i++)
        p->arena_bytes = p->values[i].place == PLACE_ARENA;
}
