/* SPDX-License-Identifier: Apache-2.0 */
/* Names of layers that are made at their first use, and the list of those that are there. */
#include "nn/use.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

const char *tarn_name_in(tarn_name_room *room, const char *format, ...)
{
    if (room == NULL || format == NULL)
        return "";
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(room->text, sizeof room->text, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof room->text)
        room->text[0] = '\0';
    return room->text;
}

static void list_close(void *self)
{
    struct use_list *l = self;
    while (l->first != NULL) {
        struct used *u = l->first;
        l->first = u->next;
        free(u);
    }
    free(l);
}

struct use_list *use_list_of(tarn_replica *r)
{
    for (struct resource *p = r->resources; p != NULL; p = p->next)
        if (p->close == list_close)
            return p->self;
    struct use_list *l = calloc(1, sizeof *l);
    if (l != NULL && replica_register(r, list_close, l) == TARN_OK)
        return l;
    free(l);
    replica_fail(r, TARN_ERR_MEMORY, "use: out of host memory for a list of layers");
    return NULL;
}

void tarn_enter(tarn_replica *r, const char *format, ...)
{
    struct use_list *l = r != NULL ? use_list_of(r) : NULL;
    if (l == NULL || format == NULL) {
        graph_fail(r, TARN_ERR_ARGUMENT, "enter: needs a replica and a name");
        return;
    }
    const size_t before = strlen(l->scope), room = sizeof l->scope - before;
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(l->scope + before, room, format, list);
    va_end(list);
    if (n < 1 || (size_t)n + 2 > room || l->depth == USE_DEEPEST) {
        l->scope[before] = '\0';
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "enter \"%s\" in \"%s\": a name is empty, all have %d characters or more, or "
                   "there are more than %d: is a tarn_leave() missing?",
                   format, l->scope, TARN_NAME_BYTES - 1, USE_DEEPEST);
        return;
    }
    if (l->depth == 0)
        l->entered = r->metrics.steps;
    l->length[l->depth++] = before;
    strcat(l->scope, ".");
}

void tarn_leave(tarn_replica *r)
{
    struct use_list *l = r != NULL ? use_list_of(r) : NULL;
    if (l != NULL && l->depth > 0)
        l->scope[l->length[--l->depth]] = '\0';
    else if (r == NULL || r->status == TARN_OK) /* a tarn_enter that failed has said so */
        graph_fail(r, TARN_ERR_STATE, "leave: without a tarn_enter() before it");
}

/* What the first numbers of a kind of layer are; options come behind. */
static const struct {
    const char *kind, *number[6];
} meanings[] = {
    { "linear", { "in", "out" } },
    { "conv1d", { "in", "out", NULL, "window" } },
    { "conv2d", { "in", "out", NULL, "window[0]", "window[1]" } },
    { "conv3d", { "in", "out", NULL, "window[0]", "window[1]", "window[2]" } },
    { "conv_transpose1d", { "in", "out", NULL, "window" } },
    { "conv_transpose2d", { "in", "out", NULL, "window[0]", "window[1]" } },
    { "conv_transpose3d", { "in", "out", NULL, "window[0]", "window[1]", "window[2]" } },
    { "batch_norm", { "channels" } },
    { "layer_norm", { "features" } },
    { "rms_norm", { "features" } },
    { "group_norm", { "channels", "groups" } },
    { "embedding", { "rows", "width" } },
    { "lstm", { "in", "hidden" } },
    { "gru", { "in", "hidden" } },
    { "rnn", { "in", "hidden" } },
    { "multi_head_attention", { "features", "heads" } },
    { "transformer_block", { "features", "heads" } },
    { "transformer_decoder", { "features", "heads" } },
};

static const char *meaning(const char *kind, int number)
{
    const size_t kinds = sizeof meanings / sizeof *meanings;
    const size_t numbers = sizeof meanings->number / sizeof *meanings->number;
    for (size_t i = 0; i < kinds; i++)
        if (strcmp(meanings[i].kind, kind) == 0 && (size_t)number < numbers)
            return meanings[i].number[number];
    return NULL;
}

static bool fits(tarn_replica *r, const struct used *u, const char *kind,
                 const int32_t sizes[USE_SIZES])
{
    int at = 0;
    while (at < USE_SIZES && u->sizes[at] == sizes[at])
        at++;
    const bool tensor = strcmp(kind, "parameter") == 0 || strcmp(kind, "buffer") == 0;
    const char *what = meaning(kind, at);
    if (strcmp(u->kind, kind) != 0)
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "use_%s %s: there is a %s of this name; another layer needs another name", kind,
                   u->name, u->kind);
    else if (at < USE_SIZES && what != NULL)
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "use_%s %s: it was made with %s %d, not %d; another layer needs another name",
                   kind, u->name, what, u->sizes[at], sizes[at]);
    else if (at < USE_SIZES)
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "use_%s %s: it was made with other %s; another layer needs another name", kind,
                   u->name,
                   !tensor               ? "options"
                   : at <= TARN_MAX_RANK ? "sizes"
                                         : "values or of another type");
    return at == USE_SIZES && strcmp(u->kind, kind) == 0;
}

static uint64_t hash_of(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

static struct used *find(const struct use_list *l, const char *name)
{
    const uint64_t hash = hash_of(name);
    struct used *u = l->first;
    while (u != NULL && (u->hash != hash || strcmp(u->name, name) != 0))
        u = u->next;
    return u;
}

/* Whether a new name is one that exists, but for a part in front that was entered in an earlier step. */
static bool is_under_open(const tarn_replica *r, const struct use_list *l, const char *name)
{
    const bool open = l->depth > 0 && l->entered < r->metrics.steps;
    const char *rest = open ? strchr(name, '.') : NULL;
    while (rest != NULL && find(l, rest + 1) == NULL)
        rest = rest < name + strlen(l->scope) ? strchr(rest + 1, '.') : NULL;
    return rest != NULL;
}

static struct used *add(tarn_replica *r, struct use_list *l, const char *kind, const char *name)
{
    if (r->optimizer != NULL && strcmp(kind, "buffer") != 0) {
        const bool open = l->depth > 0 && l->entered < r->metrics.steps;
        graph_fail(
            r, TARN_ERR_STATE,
            "use_%s %s: a new layer, but there is an optimizer, which would not train it: run "
            "the network, and what of the loss has parameters, once before the optimizer is made%s",
            kind, name, open ? "; or is a tarn_leave() of an earlier step missing?" : "");
        return NULL;
    }
    if (is_under_open(r, l, name)) {
        graph_fail(
            r, TARN_ERR_STATE,
            "use_%s %s: a new layer in \"%s\", which an earlier step has entered, though there is "
            "such a layer outside of it: is a tarn_leave() missing?",
            kind, name, l->scope);
        return NULL;
    }
    struct used *u = calloc(1, sizeof *u + strlen(name) + 1);
    if (u == NULL) {
        graph_fail(r, TARN_ERR_MEMORY, "use_%s %s: out of host memory", kind, name);
        return NULL;
    }
    strcpy(u->name, name);
    u->hash = hash_of(name);
    u->kind = kind;
    u->next = l->first;
    l->first = u;
    return u;
}

struct used *use_find(tarn_replica *r, const char *kind, const char *name,
                      const int32_t sizes[USE_SIZES])
{
    struct use_list *l = use_list_of(r);
    if (l == NULL || r->status != TARN_OK)
        return NULL;
    tarn_name_room room;
    const char *whole = tarn_name_in(&room, "%s%s", l->scope, name != NULL ? name : "");
    if (name == NULL || !*name || !*whole) {
        graph_fail(r, TARN_ERR_ARGUMENT, "use_%s: needs a name, in all of less than %d characters",
                   kind, TARN_NAME_BYTES);
        return NULL;
    }
    struct used *u = find(l, whole);
    if (u != NULL)
        return fits(r, u, kind, sizes) ? u : NULL;
    u = add(r, l, kind, whole);
    if (u != NULL)
        memcpy(u->sizes, sizes, sizeof u->sizes);
    return u;
}

bool use_made(tarn_replica *r, struct used *u)
{
    struct use_list *l = use_list_of(r);
    u->made = r->status == TARN_OK;
    if (u->made || l == NULL)
        return u->made;
    l->first = u->next; /* it was added last */
    free(u);
    return false;
}
