/* SPDX-License-Identifier: Apache-2.0 */
/* Loads weights of any origin into parameters and buffers: under other names, of other types, and of a
 * part of the model or of the file, with a report of what was left. All that is wanted, or nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/checkpoint.h"
#include "file/convert.h"
#include "file/differences.h"
#include "tensor/name_match.h"
#include "tensor/shape.h"

#define STATE_PREFIX "optimizer."

/* A tensor of the file with the name that it would have in the model. */
struct named {
    char *name;
    const struct safetensors_entry *entry;
    bool used;
};

struct loading {
    tarn_replica *r;
    const char *path;
    tarn_load_options with;
    const struct tarn_weight_file *file;
    struct named *list; /* by name */
    size_t count;
    struct named **of; /* of each owned tensor: what it takes; NULL: it stays */
    struct differences refused;
};

static bool begins(const char *name, const char *prefix)
{
    return prefix == NULL || strncmp(name, prefix, strlen(prefix)) == 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* `text` with `to` wherever `from` stood, for free(). */
static char *replaced(const char *text, const char *from, const char *to)
{
    const size_t old = strlen(from), new = strlen(to);
    size_t bytes = strlen(text) + 1;
    for (const char *at = text; old && (at = strstr(at, from)) != NULL; at += old)
        bytes += new;
    char *out = malloc(bytes), *end = out;
    const char *at;
    while (out != NULL && old && (at = strstr(text, from)) != NULL) {
        memcpy(end, text, (size_t)(at - text));
        end += at - text;
        memcpy(end, to, new);
        end += new;
        text = at + old;
    }
    if (out != NULL)
        memcpy(end, text, strlen(text) + 1);
    return out;
}

static char *model_name(const tarn_load_options *with, const char *name)
{
    const char *const *rename = with->rename;
    char *now = strdup(name + (with->from != NULL ? strlen(with->from) : 0));
    for (; now != NULL && rename != NULL && rename[0] != NULL; rename += 2) {
        char *next = replaced(now, rename[0], rename[1]);
        free(now);
        now = next;
    }
    if (now == NULL || with->to == NULL)
        return now;
    const size_t bytes = strlen(with->to) + strlen(now) + 1;
    char *whole = malloc(bytes);
    if (whole != NULL)
        snprintf(whole, bytes, "%s%s", with->to, now);
    free(now);
    return whole;
}

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static tarn_status no_memory(const struct loading *l)
{
    return error_set(TARN_ERR_MEMORY, "%s: out of host memory", l->path);
}

static tarn_status name_entries(struct loading *l)
{
    const struct safetensors *head = &l->file->head;
    l->list = calloc(head->count + 1, sizeof *l->list);
    if (l->list == NULL)
        return no_memory(l);
    for (size_t i = 0; i < head->count; i++) {
        const char *name = head->entries[i].name;
        if (!begins(name, l->with.from) || begins(name, STATE_PREFIX))
            continue;
        l->list[l->count] =
            (struct named){ .name = model_name(&l->with, name), .entry = &head->entries[i] };
        if (l->list[l->count].name == NULL)
            return no_memory(l);
        l->count++;
    }
    qsort(l->list, l->count, sizeof *l->list, by_name);
    for (size_t i = 1; i < l->count; i++) {
        char shown[2][SAFETENSORS_ESCAPED], both[SAFETENSORS_ESCAPED];
        if (strcmp(l->list[i - 1].name, l->list[i].name) == 0)
            return error_set(TARN_ERR_MISMATCH, "%s: %s and %s would both be %s", l->path,
                             safetensors_escape(l->list[i - 1].entry->name, shown[0]),
                             safetensors_escape(l->list[i].entry->name, shown[1]),
                             safetensors_escape(l->list[i].name, both));
    }
    return TARN_OK;
}

/* ---- what is left --------------------------------------------------------------------------- */

/* Tells of a tensor that is left, and refuses the file unless that is allowed. */
static void leave(struct loading *l, tarn_left left, const char *name, const char *why)
{
    const bool allowed = left == TARN_LEFT_MISSING      ? l->with.missing
                         : left == TARN_LEFT_UNEXPECTED ? l->with.unexpected
                                                        : l->with.mismatched;
    char shown[SAFETENSORS_ESCAPED];
    safetensors_escape(name, shown);
    if (l->with.report != NULL)
        l->with.report(l->with.user, left, shown, why);
    if (!allowed)
        differ(&l->refused, "%s %s", shown, why);
}

static bool shapes_fit(const struct owned *o, const struct safetensors_entry *e, bool transposed)
{
    if (e->rank != o->shape.rank || (transposed && e->rank != 2))
        return false;
    for (int i = 0; i < e->rank; i++)
        if (e->dim[transposed ? 1 - i : i] != (uint64_t)o->shape.dim[i])
            return false;
    return true;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool is_transposed(const struct loading *l, const struct owned *o)
{
    return l->with.transposed != NULL && name_matches(l->with.transposed, o->name);
}

/* All elements of a tensor, to `out`; or only whether they can be (NULL), with the first that cannot. */
static bool convert(const struct loading *l, const struct owned *o, const struct named *n,
                    uint8_t *out, char *why, size_t capacity)
{
    struct source s;
    char text[CONVERT_WHY];
    uint8_t one[8];
    const size_t width = tarn_dtype_bytes(o->dtype), count = (size_t)tarn_shape_count(o->shape);
    const uint8_t *from = l->file->data + n->entry->begin;
    const bool turned = is_transposed(l, o);
    const size_t columns = turned ? (size_t)o->shape.dim[1] : 1,
                 rows = count / (columns + !columns);
    if (!convert_source(n->entry->dtype, o->dtype, &s))
        return false;
    for (size_t i = 0; i < count; i++) {
        const size_t at = turned ? i % columns * rows + i / columns : i;
        if (!convert_element(s, from + at * (size_t)s.width, o->dtype,
                             out != NULL ? out + i * width : one, text)) {
            snprintf(why, capacity, "has an element %zu of %s", at, text);
            return false;
        }
    }
    return true;
}

/* Whether a tensor of the model takes one of the file; says why not. */
static bool fits(const struct loading *l, const struct owned *o, const struct named *n, char *why,
                 size_t capacity)
{
    struct source s;
    char has[128];
    if (shapes_fit(o, n->entry, is_transposed(l, o)) &&
        convert_source(n->entry->dtype, o->dtype, &s))
        return convert(l, o, n, NULL, why, capacity);
    entry_text(n->entry, has, sizeof has);
    snprintf(why, capacity, "is %s in the file%s, %s %s in the model", has,
             is_transposed(l, o) ? " to be transposed" : "", tarn_dtype_name(o->dtype),
             shape_text(o->shape));
    return false;
}

/* ---- loading -------------------------------------------------------------------------------- */

static void match(struct loading *l, uint32_t i)
{
    const struct owned *o = &l->r->owned[i];
    char why[256];
    if ((o->kind != OWNED_PARAMETER && o->kind != OWNED_BUFFER) || !begins(o->name, l->with.to))
        return;
    const struct named key = { .name = o->name };
    struct named *n = bsearch(&key, l->list, l->count, sizeof key, by_name);
    if (n != NULL)
        n->used = true;
    if (l->with.skip != NULL && name_matches(l->with.skip, o->name))
        return;
    if (n == NULL)
        leave(l, TARN_LEFT_MISSING, o->name, "is missing");
    else if (fits(l, o, n, why, sizeof why))
        l->of[i] = n;
    else
        leave(l, TARN_LEFT_MISMATCHED, o->name, why);
}

/* Allocates all that it needs first, so that only a failing device can stop it between two. */
static tarn_status put_all(const struct loading *l)
{
    size_t most = 1;
    for (uint32_t i = 0; i < l->r->owned_count; i++)
        if (l->of[i] != NULL && owned_bytes(&l->r->owned[i]) > most)
            most = owned_bytes(&l->r->owned[i]);
    uint8_t *data = malloc(most);
    tarn_status s = data != NULL ? TARN_OK : no_memory(l);
    for (uint32_t i = 0; s == TARN_OK && i < l->r->owned_count; i++) {
        char why[256];
        const struct owned *o = &l->r->owned[i];
        if (l->of[i] != NULL && convert(l, o, l->of[i], data, why, sizeof why))
            s = owned_write(l->r, o, data);
    }
    free(data);
    return s;
}

static tarn_status load(struct loading *l)
{
    TRY(name_entries(l));
    l->of = calloc((size_t)l->r->owned_count + 1, sizeof *l->of);
    if (l->of == NULL)
        return no_memory(l);
    for (uint32_t i = 0; i < l->r->owned_count; i++)
        match(l, i);
    for (size_t i = 0; i < l->count; i++)
        if (!l->list[i].used)
            leave(l, TARN_LEFT_UNEXPECTED, l->list[i].entry->name, "is in the file only");
    TRY(differences_status(&l->refused, l->path));
    return put_all(l);
}

static void release(struct loading *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->list[i].name);
    free(l->list);
    free(l->of);
}

tarn_status tarn_load_weights(tarn_replica *r, const char *path, tarn_load_options options)
{
    if (r == NULL || path == NULL)
        return error_set(TARN_ERR_ARGUMENT, "tarn_load_weights: no %s given",
                         r != NULL ? "path" : "replica");
    if (r->status != TARN_OK)
        return r->status;
    struct tarn_weight_file file = { .data = NULL };
    struct loading l = { .r = r, .path = path, .with = options, .file = &file };
    tarn_status status = checkpoint_check(r);
    if (status == TARN_OK)
        status = checkpoint_read(r, path, &file);
    if (status == TARN_OK)
        status = load(&l);
    release(&l);
    weight_file_release(&file);
    if (status == TARN_OK)
        status = checkpoint_loaded(r, false);
    return status == TARN_OK ? TARN_OK : replica_fail(r, status, NULL);
}
