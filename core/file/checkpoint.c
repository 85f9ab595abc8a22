/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads the state of a replica as safetensors: whole, or not at all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/atomic_file.h"
#include "file/checkpoint.h"
#include "file/checksum.h"
#include "file/differences.h"
#include "tensor/shape.h"

#define VIRTUAL_SHARDS "virtual_shards" /* key of the metadata */

#define STATE_PREFIX "optimizer."
#define COUNTER "num_batches_tracked"
#define STEPS "optimizer.step"         /* of the optimizer */
#define STEPS_PREFIX "optimizer.step." /* of each parameter */

/* ---- what is saved -------------------------------------------------------------------------- */

struct item {
    struct owned *owned;
    char *name; /* in the file */
    bool wide;  /* an int32 counter that PyTorch keeps as int64 */
};

struct items {
    struct item *list;
    size_t count;
};

static bool is_state_name(const char *name)
{
    return strncmp(name, STATE_PREFIX, strlen(STATE_PREFIX)) == 0;
}

static bool is_counter(const struct owned *o)
{
    const size_t n = strlen(o->name), tail = strlen(COUNTER);
    return o->dtype == TARN_I32 && n >= tail && strcmp(o->name + n - tail, COUNTER) == 0;
}

static char *file_name(const struct owned *o)
{
    const bool bare = o->kind == OWNED_STATE && !is_state_name(o->name);
    const size_t bytes = strlen(o->name) + sizeof(STATE_PREFIX);
    char *name = malloc(bytes);
    if (name != NULL)
        snprintf(name, bytes, "%s%s", bare ? STATE_PREFIX : "", o->name);
    return name;
}

static size_t element_bytes(const struct item *i)
{
    return i->wide ? sizeof(int64_t) : tarn_dtype_bytes(i->owned->dtype);
}

static size_t item_elements(const struct item *i)
{
    return (size_t)tarn_shape_count(i->owned->shape);
}

static const char *item_dtype(const struct item *i)
{
    return dtype_records[i->wide ? TARN_I64 : i->owned->dtype].file;
}

/* Wide elements first, as readers that map the file need them aligned; then by name. */
static int by_width_and_name(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const size_t p = element_bytes(x), q = element_bytes(y);
    return p != q ? (p > q ? -1 : 1) : strcmp(x->name, y->name);
}

static void items_release(struct items *items)
{
    for (size_t i = 0; i < items->count; i++)
        free(items->list[i].name);
    free(items->list);
    memset(items, 0, sizeof *items);
}

tarn_status checkpoint_check(const tarn_replica *r)
{
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (o->assigned && o->kind != OWNED_KEPT)
            return error_set(TARN_ERR_STATE,
                             "checkpoint: %s is assigned in a step that has not ended; call "
                             "tarn_step first",
                             o->name != NULL ? o->name : "the storage of parameters");
    }
    return TARN_OK;
}

static tarn_status items_collect(tarn_replica *r, struct items *out)
{
    out->count = 0;
    out->list = calloc((size_t)r->owned_count + 1, sizeof *out->list);
    if (out->list == NULL)
        return error_set(TARN_ERR_MEMORY, "checkpoint: out of host memory");
    TRY(checkpoint_check(r));
    for (uint32_t i = 0; i < r->owned_count; i++) {
        struct owned *o = &r->owned[i];
        if (o->name == NULL || o->kind > OWNED_STATE)
            continue;
        if (!text_is_plain(o->name) || strcmp(o->name, SAFETENSORS_METADATA) == 0)
            return error_set(TARN_ERR_ARGUMENT,
                             "checkpoint: a tensor's name cannot stand in a file: it must be UTF-8 "
                             "without control characters");
        struct item *item = &out->list[out->count];
        *item = (struct item){ .owned = o, .name = file_name(o), .wide = is_counter(o) };
        if (item->name == NULL)
            return error_set(TARN_ERR_MEMORY, "checkpoint: out of host memory");
        out->count++;
    }
    qsort(out->list, out->count, sizeof *out->list, by_width_and_name);
    return TARN_OK;
}

/* ---- saving --------------------------------------------------------------------------------- */

/* The header of a file that is written, with what it is made of. */
struct heading {
    struct safetensors_entry *entries;
    struct checksums sums;
    char step[24], seed[24], epoch[24], batches[24], shards[24];
    uint8_t *bytes;
    size_t size;
};

static void heading_release(struct heading *h)
{
    checksums_release(&h->sums);
    free(h->entries);
    free(h->bytes);
}

static void fill_entries(const struct items *items, struct safetensors_entry *entries)
{
    uint64_t at = 0;
    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->list[i];
        struct safetensors_entry *e = &entries[i];
        e->name = item->name;
        e->dtype = item_dtype(item);
        e->rank = item->owned->shape.rank;
        for (int d = 0; d < e->rank; d++)
            e->dim[d] = (uint64_t)item->owned->shape.dim[d];
        e->begin = at;
        at += (uint64_t)item_elements(item) * element_bytes(item);
        e->end = at;
    }
}

/* Its size does not depend on the checksums. */
static tarn_status heading_build(struct heading *h)
{
    free(h->bytes);
    h->bytes = NULL;
    return safetensors_build(h->entries, h->sums.count, h->sums.texts, h->sums.text_count,
                             &h->bytes, &h->size);
}

static tarn_status heading_begin(const tarn_replica *r, const struct items *items,
                                 tarn_progress progress, struct heading *h)
{
    h->entries = calloc(items->count + 1, sizeof *h->entries);
    if (h->entries == NULL)
        return error_set(TARN_ERR_MEMORY, "tarn_save: out of host memory");
    fill_entries(items, h->entries);
    const int virtual_shards = r->peers != NULL ? r->peers->shards : 0;
    snprintf(h->step, sizeof h->step, "%" PRIu64, r->step_count);
    snprintf(h->seed, sizeof h->seed, "%" PRIu64, r->seed);
    snprintf(h->epoch, sizeof h->epoch, "%" PRIu64, progress.epoch);
    snprintf(h->batches, sizeof h->batches, "%" PRIu64, progress.batches);
    snprintf(h->shards, sizeof h->shards, "%d", virtual_shards);
    const struct safetensors_text metadata[] = {
        { "batches", h->batches },     { "epoch", h->epoch }, { "format", "tarn" },
        { "seed", h->seed },           { "step", h->step },   { "version", TARN_VERSION },
        { VIRTUAL_SHARDS, h->shards }, /* the last: left out when there are none */
    };
    const size_t texts = sizeof metadata / sizeof *metadata - (virtual_shards == 0);
    TRY(checksums_new(&h->sums, h->entries, items->count, metadata, texts));
    return heading_build(h);
}

/* Files are little-endian, whatever the host is. */
static void store_wide(uint8_t *to, const int32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = (uint64_t)(int64_t)from[i];
        for (int b = 0; b < 8; b++)
            to[8 * i + (size_t)b] = (uint8_t)(value >> (8 * b));
    }
}

static tarn_status write_item(tarn_replica *r, struct atomic_file *w, const struct item *item,
                              struct checksums *sums, size_t number)
{
    const size_t count = item_elements(item);
    const size_t bytes = count * element_bytes(item);
    uint8_t *data = malloc(bytes + 1), *wide = item->wide ? malloc(bytes + 1) : NULL;
    tarn_status status = TARN_OK;
    if (data == NULL || (item->wide && wide == NULL))
        status = error_set(TARN_ERR_MEMORY, "tarn_save: out of host memory for %s", item->name);
    if (status == TARN_OK)
        status = owned_read(r, item->owned, data);
    if (status == TARN_OK && w != NULL && wide != NULL)
        store_wide(wide, (const int32_t *)(const void *)data, count);
    const uint8_t *from = wide != NULL ? wide : data;
    if (status == TARN_OK && w != NULL) {
        checksums_tensor(sums, number, from, bytes);
        status = atomic_file_write(w, from, bytes);
    }
    free(data);
    free(wide);
    return status;
}

/* Whether no rank has all: then all of them come together to each tensor that is cut, and rank 0 writes. */
static bool is_cut(const tarn_replica *r, const struct items *items)
{
    bool any = false;
    for (size_t i = 0; i < items->count; i++)
        any |= owned_is_cut(r, items->list[i].owned);
    return any;
}

/* Without a file, or once that has failed, the tensors are read for the other ranks alone. */
static tarn_status write_items(tarn_replica *r, struct atomic_file *w, const struct items *items,
                               struct heading *h)
{
    const bool together = is_cut(r, items);
    tarn_status status = w != NULL ? atomic_file_write(w, h->bytes, h->size) : TARN_OK;
    for (size_t i = 0; i < items->count && (together || status == TARN_OK); i++) {
        const tarn_status s =
            write_item(r, status == TARN_OK ? w : NULL, &items->list[i], &h->sums, i);
        status = status == TARN_OK ? s : status;
    }
    if (w == NULL || status != TARN_OK)
        return status;
    TRY(checksums_header(&h->sums));
    TRY(heading_build(h));
    return atomic_file_start(w, h->bytes, h->size);
}

static tarn_status write_file(tarn_replica *r, const char *path, const struct items *items,
                              struct heading *h)
{
    struct atomic_file w;
    const tarn_status begun = atomic_file_begin(&w, path);
    const tarn_status status = begun == TARN_OK   ? write_items(r, &w, items, h)
                               : is_cut(r, items) ? write_items(r, NULL, items, h)
                                                  : TARN_OK;
    if (begun == TARN_OK && status == TARN_OK)
        return atomic_file_commit(&w);
    if (begun == TARN_OK)
        atomic_file_abort(&w);
    return begun != TARN_OK ? begun : status;
}

/* All ranks know whether the first has written the file. */
static tarn_status write_together(tarn_replica *r, const char *path, const struct items *items,
                                  struct heading *h)
{
    if (!is_cut(r, items))
        return write_file(r, path, items, h);
    const bool writes = r->peers->rank == 0;
    const tarn_status status =
        writes ? write_file(r, path, items, h) : write_items(r, NULL, items, h);
    int32_t failed = writes && status != TARN_OK;
    if (status != TARN_OK && !writes)
        return status;
    char line[600];
    snprintf(line, sizeof line, "%s", failed ? error_text() : "");
    TRY(r->peers->add_words(r, "the end of a checkpoint", &failed, 1));
    return failed == 0 ? TARN_OK
           : writes    ? error_set(status, "%s", line)
                       : error_set(TARN_ERR_IO, "%s: rank 0 could not write it", path);
}

tarn_status tarn_save(tarn_replica *r, const char *path, tarn_progress progress)
{
    if (r == NULL || path == NULL)
        return error_set(TARN_ERR_ARGUMENT, "tarn_save: no %s given",
                         r != NULL ? "path" : "replica");
    if (r->status != TARN_OK)
        return r->status;
    TRY(tarn_wait(r));
    struct items items = { .list = NULL };
    struct heading h = { .entries = NULL };
    tarn_status status = items_collect(r, &items);
    if (status == TARN_OK)
        status = heading_begin(r, &items, progress, &h);
    if (status == TARN_OK)
        status = write_together(r, path, &items, &h);
    heading_release(&h);
    items_release(&items);
    return status == TARN_OK ? TARN_OK : replica_fail(r, status, NULL);
}

/* ---- loading -------------------------------------------------------------------------------- */

static bool fits(const struct item *item, const struct safetensors_entry *e)
{
    const struct owned *o = item->owned;
    const struct item narrow = { .owned = item->owned };
    if (strcmp(e->dtype, item_dtype(item)) != 0 && strcmp(e->dtype, item_dtype(&narrow)) != 0)
        return false;
    if (e->rank != o->shape.rank)
        return false;
    for (int i = 0; i < e->rank; i++) {
        if (e->dim[i] != (uint64_t)o->shape.dim[i])
            return false;
    }
    return true;
}

static int64_t load_wide(const uint8_t *from)
{
    uint64_t value = 0;
    for (int b = 7; b >= 0; b--)
        value = value << 8 | from[b];
    return (int64_t)value;
}

/* Whether the file has a counter as PyTorch does. */
static bool is_narrowed(const struct item *item, const struct safetensors_entry *e)
{
    return item->owned->dtype == TARN_I32 && strcmp(e->dtype, "I64") == 0;
}

static bool is_steps_name(const char *name)
{
    return strncmp(name, STEPS_PREFIX, strlen(STEPS_PREFIX)) == 0;
}

/* The tensor that an item is loaded from; NULL: none. Files of earlier versions have one count of
 * steps for all parameters. */
static const struct safetensors_entry *find_entry(const struct safetensors *file,
                                                  const struct item *item)
{
    const struct safetensors_entry *e = safetensors_find(file, item->name);
    if (e != NULL || item->owned->kind != OWNED_STATE || !is_steps_name(item->name))
        return e;
    for (size_t i = 0; i < file->count; i++) {
        if (is_steps_name(file->entries[i].name))
            return NULL;
    }
    return safetensors_find(file, STEPS);
}

static void compare_item(const struct item *item, const struct safetensors *file,
                         const uint8_t *data, struct differences *d)
{
    char name[SAFETENSORS_ESCAPED], has[128];
    const struct safetensors_entry *e = find_entry(file, item);
    safetensors_escape(item->name, name);
    if (e == NULL) {
        differ(d, "%s is missing", name);
        return;
    }
    if (!fits(item, e)) {
        entry_text(e, has, sizeof has);
        differ(d, "%s is %s in the file, %s %s in the model", name, has, item_dtype(item),
               shape_text(item->owned->shape));
        return;
    }
    if (!is_narrowed(item, e))
        return;
    for (uint64_t at = e->begin; at < e->end; at += 8) {
        const int64_t value = load_wide(data + at);
        if (value < INT32_MIN || value > INT32_MAX) {
            differ(d, "%s is %" PRId64 ", more than int32 holds", name, value);
            return;
        }
    }
}

static bool in_items(const struct items *items, const char *name)
{
    /* Sorted by width first: one search for each. */
    for (size_t first = 0; first < items->count;) {
        size_t last = first;
        while (last < items->count &&
               element_bytes(&items->list[last]) == element_bytes(&items->list[first]))
            last++;
        for (size_t low = first, high = last; low < high;) {
            const size_t middle = low + (high - low) / 2;
            const int order = strcmp(items->list[middle].name, name);
            if (order == 0)
                return true;
            if (order < 0)
                low = middle + 1;
            else
                high = middle;
        }
        first = last;
    }
    return false;
}

/* An optimizer that does not depend on the steps of each parameter does without them. */
static bool counts_steps(const struct items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        if (items->list[i].owned->kind == OWNED_STATE && is_steps_name(items->list[i].name))
            return true;
    }
    return false;
}

/* Whether optimizer state takes part: only when there is some on both sides. */
static bool wants_state(const tarn_replica *r, const struct safetensors *file)
{
    for (size_t i = 0; r->optimizer != NULL && i < file->count; i++) {
        if (is_state_name(file->entries[i].name))
            return true;
    }
    return false;
}

static tarn_status compare(const struct items *items, const struct safetensors *file,
                           const uint8_t *data, const char *path, bool state)
{
    const bool counts = counts_steps(items);
    struct differences d = { .used = 0 };
    for (size_t i = 0; i < items->count; i++) {
        if (state || items->list[i].owned->kind != OWNED_STATE)
            compare_item(&items->list[i], file, data, &d);
    }
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->entries[i].name;
        char shown[SAFETENSORS_ESCAPED];
        if ((!is_state_name(name) || (state && (counts || !is_steps_name(name)))) &&
            !in_items(items, name))
            differ(&d, "%s is in the file only", safetensors_escape(name, shown));
    }
    return differences_status(&d, path);
}

static tarn_status read_number(const struct safetensors *file, const char *key, const char *path,
                               uint64_t *out)
{
    const char *text = safetensors_metadata(file, key);
    uint64_t value = 0;
    bool good = text != NULL && *text;
    for (const char *c = text; good && *c; c++) {
        const uint64_t digit = (uint64_t)(*c - '0');
        good = *c >= '0' && *c <= '9' && value <= (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    if (!good)
        return error_set(TARN_ERR_FORMAT, "%s: metadata \"%s\" is not a number", path, key);
    *out = value;
    return TARN_OK;
}

struct run_state {
    uint64_t step, seed, shards;
    tarn_progress progress;
    bool known;  /* false for a file that Tarn did not write */
    bool states; /* optimizer state was loaded, too */
};

static tarn_status read_run_state(const struct safetensors *file, const char *path,
                                  struct run_state *out)
{
    const char *format = safetensors_metadata(file, "format");
    memset(out, 0, sizeof *out);
    if (format == NULL || strcmp(format, "tarn") != 0)
        return TARN_OK;
    out->known = true;
    TRY(read_number(file, "step", path, &out->step));
    TRY(read_number(file, "seed", path, &out->seed));
    TRY(read_number(file, "epoch", path, &out->progress.epoch));
    if (safetensors_metadata(file, VIRTUAL_SHARDS) != NULL)
        TRY(read_number(file, VIRTUAL_SHARDS, path, &out->shards));
    return read_number(file, "batches", path, &out->progress.batches);
}

/* A run with virtual shards goes on with as many, on any number of devices, or not at all. */
static tarn_status check_shards(const tarn_replica *r, const struct run_state *run,
                                const char *path)
{
    const uint64_t own = r->peers != NULL ? (uint64_t)r->peers->shards : 0;
    if (run->shards == 0 || run->shards == own)
        return TARN_OK;
    return error_set(TARN_ERR_MISMATCH,
                     "%s: of a run with %" PRIu64 " virtual shards, this one has %" PRIu64
                     ": its bits would be others; nothing was loaded",
                     path, run->shards, own);
}

/* Allocates nothing, so that only a failing device can stop it between two tensors. */
static tarn_status put_item(tarn_replica *r, const struct item *item,
                            const struct safetensors_entry *e, uint8_t *data)
{
    uint8_t *from = data + e->begin;
    const size_t count = is_narrowed(item, e) ? item_elements(item) : 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t narrow = (int32_t)load_wide(from + 8 * i);
        memcpy(from + 4 * i, &narrow, sizeof narrow);
    }
    return owned_write(r, item->owned, from);
}

static tarn_status load_checked(tarn_replica *r, const struct items *items,
                                const struct safetensors *file, uint8_t *data, const char *path,
                                struct run_state *run)
{
    const bool state = wants_state(r, file);
    TRY(compare(items, file, data, path, state));
    TRY(read_run_state(file, path, run));
    TRY(check_shards(r, run, path));
    run->states = state;
    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->list[i];
        if (state || item->owned->kind != OWNED_STATE)
            TRY(put_item(r, item, find_entry(file, item), data));
    }
    return TARN_OK;
}

tarn_status checkpoint_read(tarn_replica *r, const char *path, struct tarn_weight_file *file)
{
    int fd;
    if (r->peers == NULL || r->peers->fetch == NULL)
        return weight_file_read(path, file);
    TRY(r->peers->fetch(r, path, &fd));
    return weight_file_read_open(fd, path, file);
}

tarn_status checkpoint_loaded(tarn_replica *r, bool state)
{
    if (r->trainer != NULL)
        r->trainer->forget(r);
    for (uint32_t i = 0; i < r->owned_count; i++)
        r->owned[i].apart = false;
    return r->trainer != NULL ? r->trainer->reload(r, state) : TARN_OK;
}

tarn_status tarn_load(tarn_replica *r, const char *path, tarn_progress *progress)
{
    if (r == NULL || path == NULL)
        return error_set(TARN_ERR_ARGUMENT, "tarn_load: no %s given",
                         r != NULL ? "path" : "replica");
    if (r->status != TARN_OK)
        return r->status;
    struct tarn_weight_file file = { .data = NULL };
    struct items items = { .list = NULL };
    struct run_state run = { .known = false };
    tarn_status status = items_collect(r, &items);
    if (status == TARN_OK)
        status = checkpoint_read(r, path, &file);
    if (status == TARN_OK)
        status = load_checked(r, &items, &file.head, file.data, path, &run);
    weight_file_release(&file);
    items_release(&items);
    if (status != TARN_OK)
        return replica_fail(r, status, NULL);
    status = checkpoint_loaded(r, run.states);
    if (status != TARN_OK)
        return replica_fail(r, status, NULL);
    if (run.known) {
        r->step_count = run.step;
        r->side_steps = 0;
        r->seed = run.seed;
    }
    if (progress != NULL)
        *progress = run.progress;
    return TARN_OK;
}
