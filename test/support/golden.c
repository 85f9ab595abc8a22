/* SPDX-License-Identifier: Apache-2.0 */
/* Golden tensors: a safetensors file as a header in JSON over bytes in memory. */
#include "golden.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden {
    char *bytes;
    const char *data;
    size_t data_bytes;
    json_t *header;
};

static char *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    char *out = NULL;
    long size = -1;
    if (fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 8 && fseek(f, 0, SEEK_SET) == 0)
        out = malloc((size_t)size);
    if (out != NULL && fread(out, 1, (size_t)size, f) != (size_t)size) {
        free(out);
        out = NULL;
    }
    fclose(f);
    *bytes = (size_t)size;
    return out;
}

struct golden *golden_open(const char *file)
{
    char path[1024];
    size_t bytes = 0;
    uint64_t length = 0;
    snprintf(path, sizeof path, "%s/%s", TARN_GOLDEN_DIR, file);
    struct golden *g = calloc(1, sizeof *g);
    if (g != NULL && (g->bytes = read_file(path, &bytes)) != NULL) {
        for (int i = 7; i >= 0; i--)
            length = length << 8 | (unsigned char)g->bytes[i];
        if (length <= bytes - 8)
            g->header = json_loadb(g->bytes + 8, (size_t)length, 0, NULL);
    }
    if (g == NULL || g->header == NULL) {
        fprintf(stderr, "%s: cannot be read as safetensors\n", path);
        golden_close(g);
        return NULL;
    }
    /* The header's length is any number: move the data to where tensors are aligned. */
    g->data_bytes = bytes - 8 - (size_t)length;
    memmove(g->bytes, g->bytes + 8 + length, g->data_bytes);
    g->data = g->bytes;
    return g;
}

void golden_close(struct golden *g)
{
    if (g == NULL)
        return;
    json_decref(g->header);
    free(g->bytes);
    free(g);
}

static const char *const type_names[] = {
    [TARN_F32] = "F32",   [TARN_I32] = "I32", [TARN_U8] = "U8",   [TARN_F16] = "F16",
    [TARN_BF16] = "BF16", [TARN_F64] = "F64", [TARN_I64] = "I64",
};

struct golden_tensor golden_find(const struct golden *g, const char *format, ...)
{
    char name[128];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    struct golden_tensor t = { .data = NULL, .count = 1 };
    const json_t *entry = json_object_get(g->header, name);
    if (entry == NULL)
        return t;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    t.dtype = TARN_F32;
    while (t.dtype < TARN_I64 && strcmp(dtype, type_names[t.dtype]) != 0)
        t.dtype++;
    const json_t *shape = json_object_get(entry, "shape");
    t.shape.rank = (int32_t)json_array_size(shape);
    for (int d = 0; d < t.shape.rank && d < TARN_MAX_RANK; d++) {
        t.shape.dim[d] = (int32_t)json_integer_value(json_array_get(shape, (size_t)d));
        t.count *= (size_t)t.shape.dim[d];
    }
    const json_t *range = json_object_get(entry, "data_offsets");
    const size_t start = (size_t)json_integer_value(json_array_get(range, 0));
    const size_t bytes = t.count * tarn_dtype_bytes(t.dtype);
    if (start <= g->data_bytes && bytes <= g->data_bytes - start)
        t.data = g->data + start;
    return t;
}

static uint32_t golden_hash(uint32_t z)
{
    z = (z ^ z >> 16) * 0x7feb352du;
    z = (z ^ z >> 15) * 0x846ca68bu;
    return z ^ z >> 16;
}

void golden_batch(int step, int size, float *pixels, int32_t *labels)
{
    for (int i = 0; i < size; i++) {
        const uint32_t sample = (uint32_t)(step * size + i);
        const int label = (int)(golden_hash(sample + 0x40000000u) % 10);
        labels[i] = label;
        for (int p = 0; p < 784; p++) {
            const int row = p / 28;
            int v = (int)(golden_hash(sample * 784 + (uint32_t)p) >> 24) / 2;
            if (row >= 2 * label + 4 && row < 2 * label + 6)
                v += 128;
            pixels[i * 784 + p] = (float)v / 256 - 0.5f;
        }
    }
}
