/* SPDX-License-Identifier: Apache-2.0 */
#include "gpt_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a file, for free(). */
static unsigned char *read_bytes(const char *path, size_t *count)
{
    FILE *f = fopen(path, "rb");
    bool good = f != NULL && fseek(f, 0, SEEK_END) == 0;
    const long size = good ? ftell(f) : -1;
    good = size >= 0 && fseek(f, 0, SEEK_SET) == 0;
    unsigned char *bytes = good ? malloc((size_t)size + 1) : NULL;
    if (bytes != NULL && fread(bytes, 1, (size_t)size, f) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    *count = bytes != NULL ? (size_t)size : 0;
    if (f != NULL)
        (void)fclose(f);
    return bytes;
}

bool gpt_text_read(const char *path, bool tokens, int32_t words, struct gpt_text *out,
                   char *problem, size_t capacity)
{
    const char *option = tokens ? "--tokens" : "--data";
    const size_t width = tokens ? 2 : 1;
    size_t bytes;
    errno = 0;
    unsigned char *from = read_bytes(path, &bytes);
    out->count = bytes / width;
    out->words = from != NULL ? malloc((out->count + 1) * sizeof *out->words) : NULL;
    if (out->words == NULL) {
        snprintf(problem, capacity, "%s: cannot read %s: %s", option, path,
                 errno != 0 ? strerror(errno) : "it ended early");
        free(from);
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        const int word = tokens ? from[2 * i] + 256 * from[2 * i + 1] : from[i];
        out->words[i] = (uint16_t)word;
        if (word >= words) {
            snprintf(problem, capacity, "%s: %s: number %zu is %d, and the model knows %d words",
                     option, path, i, word, words);
            free(from);
            return false;
        }
    }
    free(from);
    return true;
}

/* Piece i of the text, and the same one word later. */
static int get_piece(void *user, int32_t index, const tarn_sample *out)
{
    const struct gpt_text *t = user;
    const uint16_t *from = t->words + t->begin + (size_t)index * (size_t)t->context;
    int32_t *x = out->inputs[0], *y = out->targets[0];
    for (int32_t i = 0; i < t->context; i++) {
        x[i] = from[i];
        y[i] = from[i + 1];
    }
    return 0;
}

tarn_dataset *gpt_text_pieces(struct gpt_text *t, size_t begin, size_t end, int32_t words)
{
    const size_t pieces = end > begin + 1 ? (end - begin - 1) / (size_t)t->context : 0;
    const tarn_shape shape =
        TARN_SHAPE(pieces < INT32_MAX ? (int32_t)pieces : INT32_MAX, t->context);
    const tarn_array part = { .dtype = TARN_I32, .shape = shape, .classes = words };
    t->begin = begin;
    return tarn_dataset_call((tarn_arrays){ .inputs = { part }, .targets = { part } }, get_piece,
                             t);
}
