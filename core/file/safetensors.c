/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and checks untrusted safetensors headers, and builds our own. */
#include "file/safetensors.h"
#include "tensor/replica.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES 8
#define MAX_DEPTH 4
/* A header may take no more memory than it has bytes and a few MiB: see safetensors.h. */
#define MAX_VALUES 500000
#define MAX_TENSORS 50000
#define MAX_TEXTS 100000
#define MORE 1024                        /* entries or texts that memory is taken for at once */
#define MAX_TEXT_BYTES ((size_t)1 << 20) /* of a name, or of a value of the metadata */

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
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, dtype) == 0)
            return dtypes[i].bits;
    }
    return 0;
}

/* The name as a text that lives for ever; NULL for one that is not in the format. */
static const char *dtype_name(const char *dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, dtype) == 0)
            return dtypes[i].name;
    }
    return NULL;
}

/* ---- names ---------------------------------------------------------------------------------- */

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
    size_t values = 0, opened = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        if (quoted) {
            if (i - opened > MAX_TEXT_BYTES)
                return "header holds a text of more than 1 MiB";
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
            continue;
        }
        quoted = c == '"';
        opened = i;
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
    memset(e, 0, sizeof *e);
    e->name = name;
    if (!text_is_plain(name))
        return refuse(r, name, "control character in the name");
    if (!json_is_object(value) || json_object_size(value) != 3)
        return refuse(r, name, "must have dtype, shape and data_offsets, and nothing else");
    const json_t *dtype = json_object_get(value, "dtype");
    const json_t *offsets = json_object_get(value, "data_offsets");
    e->dtype = json_is_string(dtype) ? dtype_name(json_string_value(dtype)) : NULL;
    if (e->dtype == NULL)
        return refuse(r, name, "unknown dtype");
    TRY(read_shape(r, json_object_get(value, "shape"), e));
    if (!json_is_array(offsets) || json_array_size(offsets) != 2)
        return refuse(r, name, "data_offsets is not a list of two numbers");
    TRY(read_natural(r, name, json_array_get(offsets, 0), &e->begin));
    TRY(read_natural(r, name, json_array_get(offsets, 1), &e->end));
    return check_size(r, e);
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
        qsort(s->entries, s->count, sizeof *s->entries, by_place);
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
        qsort(s->entries, s->count, sizeof *s->entries, by_name);
    for (size_t i = 1; i < s->count; i++) {
        if (strcmp(s->entries[i - 1].name, s->entries[i].name) == 0)
            return refuse(r, s->entries[i].name, "stands twice");
    }
    return TARN_OK;
}

/* ---- piece by piece: the JSON parser sees one name or one tensor at a time ------------------ */

struct cursor {
    char *at, *end;
};

struct piece {
    char *text;
    size_t bytes;
};

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && strchr(" \t\r\n", *c->at) != NULL && *c->at)
        c->at++;
}

static bool take(struct cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* Up to where a value ends; what is wrong within it is for the parser to see. */
static struct piece take_value(struct cursor *c)
{
    skip_space(c);
    struct piece p = { c->at, 0 };
    int depth = 0;
    bool quoted = false;
    for (; c->at < c->end; c->at++) {
        const char x = *c->at;
        if (quoted && x == '\\' && c->at + 1 < c->end)
            c->at++;
        else if (x == '"')
            quoted = !quoted;
        else if (!quoted && depth == 0 && strchr(",:}]", x) != NULL && x)
            break;
        else if (!quoted)
            depth += (x == '{' || x == '[') - (x == '}' || x == ']');
    }
    p.bytes = (size_t)(c->at - p.text);
    return p;
}

static tarn_status parse_piece(const struct reading *r, struct piece p, json_t **out)
{
    json_error_t error;
    char shown[SAFETENSORS_ESCAPED];
    *out = json_loadb(p.text, p.bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (*out != NULL)
        return TARN_OK;
    return error_set(TARN_ERR_FORMAT, "%s: not a valid safetensors file: JSON header: %s", r->label,
                     safetensors_escape(error.text, shown));
}

/* A text, decoded in its place, where it is shorter than with quotes and escapes. */
static tarn_status read_text(const struct reading *r, struct piece p, const char **out)
{
    json_t *json = NULL;
    TRY(parse_piece(r, p, &json));
    const char *text = json_string_value(json);
    if (text != NULL)
        memcpy(p.text, text, json_string_length(json) + 1);
    *out = text != NULL ? p.text : NULL;
    json_decref(json);
    return TARN_OK;
}

/* The next member of an object; `*more` becomes false after the last one. */
static tarn_status next_member(const struct reading *r, struct cursor *c, bool first,
                               const char **name, struct piece *value, bool *more)
{
    *more = false;
    if (take(c, '}')) {
        if (first)
            return TARN_OK;
        return refuse(r, "", "the header ends after a comma");
    }
    const struct piece key = take_value(c);
    TRY(read_text(r, key, name));
    if (*name == NULL || !take(c, ':'))
        return refuse(r, *name != NULL ? *name : "",
                      "the header is no JSON: a name and a colon are missing");
    *value = take_value(c);
    *more = true;
    return TARN_OK;
}

/* Whether another member comes; the end of the object is left to next_member() but for a comma. */
static tarn_status after_member(const struct reading *r, struct cursor *c, const char *name,
                                bool *more)
{
    if (take(c, ','))
        return TARN_OK;
    *more = false;
    return take(c, '}') ? TARN_OK
                        : refuse(r, name, "the header is no JSON: a comma or brace is missing");
}

static bool more_texts(struct safetensors *s)
{
    struct safetensors_text *bigger = realloc(s->texts, (s->text_count + MORE) * sizeof *bigger);
    if (bigger != NULL)
        s->texts = bigger;
    return bigger != NULL;
}

static tarn_status add_text(const struct reading *r, struct safetensors *s, const char *key,
                            const char *value)
{
    if (value == NULL)
        return refuse(r, SAFETENSORS_METADATA, "holds a value that is not a string");
    if (!text_is_plain(key))
        return refuse(r, SAFETENSORS_METADATA, "holds a key with a control character");
    if (s->text_count == MAX_TEXTS)
        return refuse(r, SAFETENSORS_METADATA, "holds too many texts");
    if (s->text_count > 0 && s->text_count % MORE == 0 && !more_texts(s))
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", r->label);
    s->texts[s->text_count++] = (struct safetensors_text){ key, value };
    return TARN_OK;
}

static int by_key(const void *a, const void *b)
{
    const struct safetensors_text *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static tarn_status read_metadata(const struct reading *r, struct piece object,
                                 struct safetensors *s)
{
    struct cursor c = { object.text, object.text + object.bytes };
    if (s->texts != NULL)
        return refuse(r, SAFETENSORS_METADATA, "stands twice");
    if (!take(&c, '{'))
        return refuse(r, SAFETENSORS_METADATA, "is not an object");
    if (!more_texts(s))
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", r->label);
    bool more = true;
    for (bool first = true; more; first = false) {
        const char *key = NULL, *text = NULL;
        struct piece value = { NULL, 0 };
        TRY(next_member(r, &c, first, &key, &value, &more));
        if (!more)
            break;
        TRY(read_text(r, value, &text));
        TRY(add_text(r, s, key, text));
        TRY(after_member(r, &c, key, &more));
    }
    skip_space(&c);
    if (c.at != c.end)
        return refuse(r, SAFETENSORS_METADATA, "is not an object");
    if (s->text_count)
        qsort(s->texts, s->text_count, sizeof *s->texts, by_key);
    for (size_t i = 1; i < s->text_count; i++) {
        if (strcmp(s->texts[i - 1].key, s->texts[i].key) == 0)
            return refuse(r, SAFETENSORS_METADATA, "holds a key twice");
    }
    return TARN_OK;
}

static bool more_entries(struct safetensors *s)
{
    struct safetensors_entry *bigger = realloc(s->entries, (s->count + MORE) * sizeof *bigger);
    if (bigger != NULL)
        s->entries = bigger;
    return bigger != NULL;
}

static tarn_status read_member(const struct reading *r, const char *name, struct piece value,
                               struct safetensors *s)
{
    if (strcmp(name, SAFETENSORS_METADATA) == 0)
        return read_metadata(r, value, s);
    if (s->count == MAX_TENSORS)
        return refuse(r, name, "too many tensors");
    if (s->count % MORE == 0 && !more_entries(s))
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", r->label);
    json_t *json = NULL;
    TRY(parse_piece(r, value, &json));
    const tarn_status status = read_entry(r, name, json, &s->entries[s->count++]);
    json_decref(json);
    return status;
}

static tarn_status read_entries(const struct reading *r, struct cursor c, struct safetensors *s)
{
    bool more = take(&c, '{');
    for (bool first = true; more; first = false) {
        const char *name = NULL;
        struct piece value = { NULL, 0 };
        TRY(next_member(r, &c, first, &name, &value, &more));
        if (!more)
            break;
        TRY(read_member(r, name, value, s));
        TRY(after_member(r, &c, name, &more));
    }
    skip_space(&c);
    return c.at == c.end ? check_cover(r, s) : refuse(r, "", "something follows the JSON header");
}

static tarn_status parse(const char *label, uint64_t file_bytes, size_t have,
                         struct safetensors *out)
{
    size_t head_bytes = 0;
    TRY(safetensors_head_bytes(out->head, have, file_bytes, label, &head_bytes));
    if (head_bytes > have)
        return error_set(TARN_ERR_FORMAT, "%s: truncated within the header", label);
    char *text = (char *)out->head + LENGTH_BYTES;
    const size_t bytes = head_bytes - LENGTH_BYTES;
    const char *problem = bytes && text[0] == '{' ? scan(text, bytes) : "no JSON object";
    if (problem != NULL)
        return error_set(TARN_ERR_FORMAT, "%s: not a valid safetensors file: %s", label, problem);
    out->data_start = head_bytes;
    const struct reading r = { .label = label, .data_bytes = file_bytes - head_bytes };
    return read_entries(&r, (struct cursor){ text, text + bytes }, out);
}

tarn_status safetensors_parse(uint8_t *head, size_t have, uint64_t file_bytes, const char *label,
                              struct safetensors *out)
{
    memset(out, 0, sizeof *out);
    out->head = head;
    const tarn_status status = parse(label, file_bytes, have, out);
    if (status != TARN_OK)
        safetensors_release(out);
    return status;
}

void safetensors_release(struct safetensors *s)
{
    free(s->entries);
    free(s->texts);
    free(s->head);
    memset(s, 0, sizeof *s);
}

const struct safetensors_entry *safetensors_find(const struct safetensors *s, const char *name)
{
    const struct safetensors_entry wanted = { .name = name };
    if (!s->count)
        return NULL;
    return bsearch(&wanted, s->entries, s->count, sizeof *s->entries, by_name);
}

const char *safetensors_metadata(const struct safetensors *s, const char *key)
{
    const struct safetensors_text wanted = { .key = key };
    const struct safetensors_text *found =
        s->text_count ? bsearch(&wanted, s->texts, s->text_count, sizeof *s->texts, by_key) : NULL;
    return found != NULL ? found->value : NULL;
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

/* Read again, since json_dumps of some versions leaves text out when memory runs out, and says
 * nothing. */
static char *build_text(const json_t *root)
{
    char *text = json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_t *again = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const bool whole = again != NULL && json_equal(root, again);
    json_decref(again);
    if (whole)
        return text;
    free(text);
    return NULL;
}

tarn_status safetensors_build(const struct safetensors_entry *entries, size_t count,
                              const struct safetensors_text *metadata, size_t metadata_count,
                              uint8_t **out, size_t *bytes)
{
    json_t *root = build_json(entries, count, metadata, metadata_count);
    char *text = root != NULL ? build_text(root) : NULL;
    json_decref(root);
    const size_t length = text != NULL ? strlen(text) : 0;
    const size_t padded = (length + 7) / 8 * 8;
    uint8_t *head = text != NULL ? malloc(LENGTH_BYTES + padded) : NULL;
    if (head == NULL || padded > SAFETENSORS_MAX_HEADER) {
        free(text);
        free(head);
        return error_set(TARN_ERR_MEMORY, "cannot build the header for %zu tensors: %s", count,
                         head != NULL ? "it is larger than the format allows"
                                      : "out of host memory");
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
