/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and checks untrusted safetensors headers, and builds our own. */
#include "safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES 8
#define MAX_DEPTH 4
/* The JSON parser takes far more memory for a value than the two bytes that it may have in the
 * file; this many are enough for 50,000 tensors. */
#define MAX_VALUES 500000

static const struct {
    const char *name;
    unsigned bits;
} dtypes[] = {
    { "BOOL", 8 },        { "U8", 8 },      { "I8", 8 },      { "F4", 4 },
    { "F6_E2M3", 6 },     { "F6_E3M2", 6 }, { "F8_E5M2", 8 }, { "F8_E4M3", 8 },
    { "F8_E8M0", 8 },     { "I16", 16 },    { "U16", 16 },    { "F16", 16 },
    { "F8_E4M3FNUZ", 8 }, { "BF16", 16 },   { "I32", 32 },    { "U32", 32 },
    { "F8_E5M2FNUZ", 8 }, { "F32", 32 },    { "F64", 64 },    { "I64", 64 },
    { "C64", 64 },        { "U64", 64 },
};

unsigned safetensors_dtype_bits(const char *dtype)
{
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(*dtypes); i++) {
        if (strcmp(dtypes[i].name, dtype) == 0)
            return dtypes[i].bits;
    }
    return 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool has_control(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
            return true;
    }
    return false;
}

bool safetensors_name_valid(const char *name)
{
    json_t *text = json_string(name); /* NULL unless UTF-8 */
    const bool valid = text && !has_control(name);
    json_decref(text);
    return valid;
}

const char *safetensors_escape(const char *name, char out[SAFETENSORS_ESCAPED])
{
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (n > SAFETENSORS_ESCAPED - 8) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        if (*c >= 0x20 && *c < 0x7f && *c != '\\' && *c != '"')
            out[n++] = (char)*c;
        else
            n += (size_t)snprintf(out + n, SAFETENSORS_ESCAPED - n, "\\x%02x", (unsigned)*c);
    }
    out[n] = '\0';
    return out;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct reading {
    const char *label; /* of the file */
    uint64_t data_bytes;
};

static tarn_status refuse(const struct reading *r, const char *name, const char *what)
{
    char shown[SAFETENSORS_ESCAPED];
    return error_set(TARN_ERR_FORMAT, "%s: not a valid safetensors file: tensor \"%s\": %s",
                     r->label, safetensors_escape(name, shown), what);
}

tarn_status safetensors_head_bytes(const uint8_t *first, size_t have, uint64_t file_bytes,
                                   const char *label, size_t *out)
{
    if (have < LENGTH_BYTES || file_bytes < LENGTH_BYTES)
        return error_set(TARN_ERR_FORMAT,
                         "%s: not a safetensors file: %" PRIu64 " bytes are too few", label,
                         file_bytes);
    uint64_t header = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        header = header << 8 | first[i];
    if (header > SAFETENSORS_MAX_HEADER)
        return error_set(TARN_ERR_FORMAT,
                         "%s: not a safetensors file: header of %" PRIu64
                         " bytes, at most %u are allowed",
                         label, header, SAFETENSORS_MAX_HEADER);
    if (header > file_bytes - LENGTH_BYTES)
        return error_set(TARN_ERR_FORMAT,
                         "%s: truncated: header of %" PRIu64 " bytes in a file of %" PRIu64
                         " bytes",
                         label, header, file_bytes);
    *out = LENGTH_BYTES + (size_t)header;
    return TARN_OK;
}

/* Bounds depth and number of values before the recursive parser sees them, and refuses a minus
 * sign: no number of the format has one. */
static const char *scan(const char *text, size_t bytes)
{
    int depth = 0;
    size_t values = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
            continue;
        }
        quoted = c == '"';
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']')
            depth--;
        if (c == ',' || c == '{' || c == '[')
            values++;
        if (depth > MAX_DEPTH)
            return "header is nested too deeply";
        if (values > MAX_VALUES)
            return "header holds too many values";
        if (c == '-')
            return "negative number in the header";
    }
    return NULL;
}

static tarn_status read_natural(const struct reading *r, const char *name, const json_t *value,
                                uint64_t *out)
{
    if (!json_is_integer(value))
        return refuse(r, name, "a dimension or offset is not a whole number");
    const json_int_t number = json_integer_value(value);
    if (number < 0)
        return refuse(r, name, "a dimension or offset is negative");
    *out = (uint64_t)number;
    return TARN_OK;
}

static tarn_status read_shape(const struct reading *r, const json_t *shape,
                              struct safetensors_entry *e)
{
    if (!json_is_array(shape))
        return refuse(r, e->name, "shape is not a list");
    if (json_array_size(shape) > SAFETENSORS_MAX_RANK)
        return refuse(r, e->name, "more than 8 dimensions");
    e->rank = (int)json_array_size(shape);
    for (int i = 0; i < e->rank; i++)
        TRY(read_natural(r, e->name, json_array_get(shape, (size_t)i), &e->dim[i]));
    return TARN_OK;
}

/* The size that shape and type ask for must be that of the data. */
static tarn_status check_size(const struct reading *r, const struct safetensors_entry *e)
{
    uint64_t bits = safetensors_dtype_bits(e->dtype);
    for (int i = 0; i < e->rank; i++) {
        if (e->dim[i] && bits > UINT64_MAX / e->dim[i])
            return refuse(r, e->name, "its size overflows");
        bits *= e->dim[i];
    }
    if (bits % 8)
        return refuse(r, e->name, "its elements do not fill whole bytes");
    if (e->begin > e->end || e->end > r->data_bytes)
        return refuse(r, e->name, "its data lie outside the file");
    if (e->end - e->begin != bits / 8)
        return refuse(r, e->name, "shape and type do not give the size of its data");
    return TARN_OK;
}

static tarn_status read_entry(const struct reading *r, const char *name, const json_t *value,
                              struct safetensors_entry *e)
{
    memset(e, 0, sizeof(*e));
    e->name = name;
    if (has_control(name))
        return refuse(r, name, "control character in the name");
    if (!json_is_object(value) || json_object_size(value) != 3)
        return refuse(r, name, "must have dtype, shape and data_offsets, and nothing else");
    const json_t *dtype = json_object_get(value, "dtype");
    const json_t *offsets = json_object_get(value, "data_offsets");
    if (!json_is_string(dtype) || !safetensors_dtype_bits(json_string_value(dtype)))
        return refuse(r, name, "unknown dtype");
    e->dtype = json_string_value(dtype);
    TRY(read_shape(r, json_object_get(value, "shape"), e));
    if (!json_is_array(offsets) || json_array_size(offsets) != 2)
        return refuse(r, name, "data_offsets is not a list of two numbers");
    TRY(read_natural(r, name, json_array_get(offsets, 0), &e->begin));
    TRY(read_natural(r, name, json_array_get(offsets, 1), &e->end));
    return check_size(r, e);
}

static tarn_status read_metadata(const struct reading *r, json_t *metadata, struct safetensors *s)
{
    if (!json_is_object(metadata))
        return refuse(r, SAFETENSORS_METADATA, "is not an object");
    s->texts = calloc(json_object_size(metadata) + 1, sizeof(*s->texts));
    if (!s->texts)
        return error_set(TARN_ERR_MEMORY, "%s: out of memory", r->label);
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return refuse(r, SAFETENSORS_METADATA, "holds a value that is not a string");
        if (has_control(key))
            return refuse(r, SAFETENSORS_METADATA, "holds a key with a control character");
        s->texts[s->text_count++] = (struct safetensors_text){ key, json_string_value(value) };
    }
    return TARN_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct safetensors_entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int by_name(const void *a, const void *b)
{
    const struct safetensors_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The data of all tensors must cover the rest of the file, each byte once. */
static tarn_status check_cover(const struct reading *r, struct safetensors *s)
{
    uint64_t at = 0;
    if (s->count)
        qsort(s->entries, s->count, sizeof(*s->entries), by_place);
    for (size_t i = 0; i < s->count; i++) {
        if (s->entries[i].begin != at)
            return refuse(r, s->entries[i].name,
                          s->entries[i].begin > at ? "there is a hole before its data"
                                                   : "its data overlap another's");
        at = s->entries[i].end;
    }
    if (at != r->data_bytes)
        return error_set(TARN_ERR_FORMAT,
                         "%s: not a valid safetensors file: tensors take %" PRIu64
                         " bytes, but %" PRIu64 " follow the header",
                         r->label, at, r->data_bytes);
    if (s->count)
        qsort(s->entries, s->count, sizeof(*s->entries), by_name);
    return TARN_OK;
}

static tarn_status read_entries(const struct reading *r, struct safetensors *s)
{
    json_t *root = s->json;
    if (!json_is_object(root))
        return refuse(r, "", "the header is not an object");
    s->entries = calloc(json_object_size(root) + 1, sizeof(*s->entries));
    if (!s->entries)
        return error_set(TARN_ERR_MEMORY, "%s: out of memory", r->label);
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        if (strcmp(name, SAFETENSORS_METADATA) == 0)
            TRY(read_metadata(r, value, s));
        else
            TRY(read_entry(r, name, value, &s->entries[s->count++]));
    }
    return check_cover(r, s);
}

static tarn_status load_json(const char *text, size_t bytes, const char *label, json_t **out)
{
    const char *problem = bytes && text[0] == '{' ? scan(text, bytes) : "no JSON object";
    if (problem)
        return error_set(TARN_ERR_FORMAT, "%s: not a valid safetensors file: %s", label, problem);
    json_error_t error;
    *out = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    char shown[SAFETENSORS_ESCAPED];
    if (!*out)
        return error_set(TARN_ERR_FORMAT,
                         "%s: not a valid safetensors file: JSON header, byte %d: %s", label,
                         error.position, safetensors_escape(error.text, shown));
    return TARN_OK;
}

tarn_status safetensors_parse(const uint8_t *head, size_t have, uint64_t file_bytes,
                              const char *label, struct safetensors *out)
{
    memset(out, 0, sizeof(*out));
    size_t head_bytes = 0;
    TRY(safetensors_head_bytes(head, have, file_bytes, label, &head_bytes));
    if (head_bytes > have)
        return error_set(TARN_ERR_FORMAT, "%s: truncated within the header", label);
    json_t *json = NULL;
    TRY(load_json((const char *)head + LENGTH_BYTES, head_bytes - LENGTH_BYTES, label, &json));
    out->json = json;
    out->data_start = head_bytes;
    const struct reading r = { .label = label, .data_bytes = file_bytes - head_bytes };
    const tarn_status status = read_entries(&r, out);
    if (status != TARN_OK)
        safetensors_release(out);
    return status;
}

void safetensors_release(struct safetensors *s)
{
    free(s->entries);
    free(s->texts);
    json_decref(s->json);
    memset(s, 0, sizeof(*s));
}

const struct safetensors_entry *safetensors_find(const struct safetensors *s, const char *name)
{
    const struct safetensors_entry wanted = { .name = name };
    if (!s->count)
        return NULL;
    return bsearch(&wanted, s->entries, s->count, sizeof(*s->entries), by_name);
}

const char *safetensors_metadata(const struct safetensors *s, const char *key)
{
    return json_string_value(json_object_get(json_object_get(s->json, SAFETENSORS_METADATA), key));
}

/* ---- writing -------------------------------------------------------------------------------- */

static json_t *build_entry(const struct safetensors_entry *e)
{
    json_t *shape = json_array();
    int failed = 0;
    for (int i = 0; i < e->rank; i++)
        failed |= json_array_append_new(shape, json_integer((json_int_t)e->dim[i]));
    json_t *offsets = json_array();
    failed |= json_array_append_new(offsets, json_integer((json_int_t)e->begin));
    failed |= json_array_append_new(offsets, json_integer((json_int_t)e->end));
    json_t *entry = json_object();
    failed |= json_object_set_new(entry, "dtype", json_string(e->dtype));
    failed |= json_object_set_new(entry, "shape", shape);
    failed |= json_object_set_new(entry, "data_offsets", offsets);
    if (failed) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

static json_t *build_json(const struct safetensors_entry *entries, size_t count,
                          const struct safetensors_text *metadata, size_t metadata_count)
{
    json_t *root = json_object(), *meta = json_object();
    int failed = 0;
    for (size_t i = 0; i < metadata_count; i++)
        failed |= json_object_set_new(meta, metadata[i].key, json_string(metadata[i].value));
    failed |= json_object_set_new(root, SAFETENSORS_METADATA, meta);
    for (size_t i = 0; i < count; i++)
        failed |= json_object_set_new(root, entries[i].name, build_entry(&entries[i]));
    if (failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

tarn_status safetensors_build(const struct safetensors_entry *entries, size_t count,
                              const struct safetensors_text *metadata, size_t metadata_count,
                              uint8_t **out, size_t *bytes)
{
    json_t *root = build_json(entries, count, metadata, metadata_count);
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    json_decref(root);
    const size_t length = text ? strlen(text) : 0;
    const size_t padded = (length + 7) / 8 * 8;
    uint8_t *head = text ? malloc(LENGTH_BYTES + padded) : NULL;
    if (!head || padded > SAFETENSORS_MAX_HEADER) {
        free(text);
        free(head);
        return error_set(TARN_ERR_MEMORY, "cannot build the header for %zu tensors: %s", count,
                         head ? "it is larger than the format allows" : "out of memory");
    }
    for (int i = 0; i < LENGTH_BYTES; i++)
        head[i] = (uint8_t)(padded >> (8 * i));
    memcpy(head + LENGTH_BYTES, text, length);
    memset(head + LENGTH_BYTES + length, ' ', padded - length);
    free(text);
    *out = head;
    *bytes = LENGTH_BYTES + padded;
    return TARN_OK;
}
