/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of a safetensors file: made when it is written, compared when it is read. */
#include "file/checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define TENSOR_PREFIX CHECKSUM_KEY "."

static void print(uint64_t sum, char out[CHECKSUM_BYTES])
{
    snprintf(out, CHECKSUM_BYTES, "%016" PRIx64, sum);
}

static int by_name(const void *a, const void *b)
{
    const struct safetensors_entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int by_key(const void *a, const void *b)
{
    const struct safetensors_text *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

/* Ends with a zero byte, so that no two lists of texts are the same bytes. */
static void add_text(XXH3_state_t *state, const char *text)
{
    XXH3_64bits_update(state, text, strlen(text) + 1);
}

static void add_entry(XXH3_state_t *state, const struct safetensors_entry *e)
{
    char shape[SAFETENSORS_MAX_RANK * 21 + 1] = "";
    size_t used = 0;
    for (int i = 0; i < e->rank; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%" PRIu64 ",", e->dim[i]);
    add_text(state, e->name);
    add_text(state, e->dtype);
    add_text(state, shape);
}

/* Places are left out: the checksums of the data show whether they are right. So is the order, in
 * which other programs may write the same file. */
static tarn_status header_sum(const struct safetensors_entry *entries, size_t count,
                              const struct safetensors_text *texts, size_t text_count,
                              const char *label, uint64_t *out)
{
    const struct safetensors_entry **e = calloc(count + 1, sizeof *e);
    const struct safetensors_text **t = calloc(text_count + 1, sizeof *t);
    if (e == NULL || t == NULL) {
        free(e);
        free(t);
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory for its checksum", label);
    }
    for (size_t i = 0; i < count; i++)
        e[i] = &entries[i];
    for (size_t i = 0; i < text_count; i++)
        t[i] = &texts[i];
    qsort(e, count, sizeof *e, by_name);
    qsort(t, text_count, sizeof *t, by_key);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < count; i++)
        add_entry(&state, e[i]);
    for (size_t i = 0; i < text_count; i++) {
        if (strcmp(t[i]->key, CHECKSUM_KEY) == 0)
            continue;
        add_text(&state, t[i]->key);
        add_text(&state, t[i]->value);
    }
    *out = XXH3_64bits_digest(&state);
    free(e);
    free(t);
    return TARN_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static char *tensor_key(const char *name)
{
    const size_t bytes = sizeof(TENSOR_PREFIX) + strlen(name);
    char *key = malloc(bytes);
    if (key != NULL)
        snprintf(key, bytes, "%s%s", TENSOR_PREFIX, name);
    return key;
}

tarn_status checksums_new(struct checksums *c, const struct safetensors_entry *entries,
                          size_t count, const struct safetensors_text *texts, size_t text_count)
{
    *c = (struct checksums){ .entries = entries, .count = count };
    c->texts = calloc(text_count + count + 1, sizeof *c->texts);
    c->sums = calloc(count + 1, sizeof *c->sums);
    if (c->texts == NULL || c->sums == NULL)
        return error_set(TARN_ERR_MEMORY, "tarn_save: out of host memory");
    memcpy(c->texts, texts, text_count * sizeof *texts);
    for (size_t i = 0; i <= count; i++) {
        print(0, c->sums[i]);
        char *key = i < count ? tensor_key(entries[i].name) : strdup(CHECKSUM_KEY);
        if (key == NULL)
            return error_set(TARN_ERR_MEMORY, "tarn_save: out of host memory");
        c->texts[text_count + i] = (struct safetensors_text){ key, c->sums[i] };
        c->text_count = text_count + i + 1;
    }
    return TARN_OK;
}

void checksums_release(struct checksums *c)
{
    for (size_t i = 0; i < c->text_count; i++) {
        /* The caller's texts have other values. */
        const char *value = c->texts[i].value, *first = (const char *)c->sums;
        if (value >= first && value < first + (c->count + 1) * sizeof *c->sums)
            free((char *)(uintptr_t)c->texts[i].key);
    }
    free(c->texts);
    free(c->sums);
    memset(c, 0, sizeof *c);
}

void checksums_tensor(struct checksums *c, size_t entry, const void *data, size_t bytes)
{
    print(XXH3_64bits(data, bytes), c->sums[entry]);
}

tarn_status checksums_header(struct checksums *c)
{
    uint64_t sum = 0;
    TRY(header_sum(c->entries, c->count, c->texts, c->text_count, "tarn_save", &sum));
    print(sum, c->sums[c->count]);
    return TARN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool has_checksums(const struct safetensors *head)
{
    for (size_t i = 0; i < head->text_count; i++) {
        if (strncmp(head->texts[i].key, CHECKSUM_KEY, strlen(CHECKSUM_KEY)) == 0)
            return true;
    }
    return false;
}

static tarn_status verify_header(const struct safetensors *head, const char *label)
{
    uint64_t sum = 0;
    char text[CHECKSUM_BYTES];
    const char *stored = safetensors_metadata(head, CHECKSUM_KEY);
    TRY(header_sum(head->entries, head->count, head->texts, head->text_count, label, &sum));
    print(sum, text);
    if (stored != NULL && strcmp(stored, text) == 0)
        return TARN_OK;
    return error_set(TARN_ERR_FORMAT,
                     "%s: the header does not have the checksum that is stored in it: the file is "
                     "damaged, or a program changed it that should have removed the metadata "
                     "\"%s\"",
                     label, CHECKSUM_KEY "*");
}

static tarn_status verify_tensor(const struct safetensors *head, const struct safetensors_entry *e,
                                 const uint8_t *data, const char *label)
{
    char text[CHECKSUM_BYTES], shown[SAFETENSORS_ESCAPED];
    char *key = tensor_key(e->name);
    if (key == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory for its checksums", label);
    const char *stored = safetensors_metadata(head, key);
    free(key);
    print(XXH3_64bits(data + e->begin, (size_t)(e->end - e->begin)), text);
    if (stored != NULL && strcmp(stored, text) == 0)
        return TARN_OK;
    return error_set(TARN_ERR_FORMAT,
                     "%s: the data of tensor \"%s\" do not have the checksum that is stored for "
                     "them: the file is damaged",
                     label, safetensors_escape(e->name, shown));
}

tarn_status checksums_verify(const struct safetensors *head, const uint8_t *data, const char *label)
{
    if (!has_checksums(head))
        return TARN_OK;
    TRY(verify_header(head, label));
    for (size_t i = 0; i < head->count; i++)
        TRY(verify_tensor(head, &head->entries[i], data, label));
    return TARN_OK;
}
