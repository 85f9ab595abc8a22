/* SPDX-License-Identifier: Apache-2.0 */
/* A text as numbers of words: bytes, or tokens that another program made of it; and data sets of its pieces. */
#ifndef GPT_TEXT_H
#define GPT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <tarn.h>

struct gpt_text {
    uint16_t *words;
    size_t count;
    size_t begin; /* of the part that a data set is of */
    int32_t context;
};

/* Reads a file of bytes, or of tokens of 16 bits, the low byte first. All must be below `words`. False with
 * one line that names the file. */
bool gpt_text_read(const char *path, bool tokens, int32_t words, struct gpt_text *out,
                   char *problem, size_t capacity);

/* Pieces of the text from `begin` to before `end`: `context` words, and the same one word later. Keeps `t`.
 * NULL on failure. */
tarn_dataset *gpt_text_pieces(struct gpt_text *t, size_t begin, size_t end, int32_t words);

#endif
