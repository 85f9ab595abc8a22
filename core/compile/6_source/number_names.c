/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a kernel's text by order of appearance. Values and slots are numbered over a whole
 * program, so two layers that do the same would differ in nothing but these numbers, and the driver
 * would compile both. In: a text. Out: the same text with other numbers. Knows which names there
 * are, and nothing else of OpenCL C. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/6_source/source.h"

/* Names of one kind are counted together: b7 is where batch block b of v7 begins, room7 where its worker
 * has it. */
static const struct {
    const char *word;
    int kind;
} names[] = { { "v", 0 },      { "b", 0 },      { "room", 0 },   { "input", 1 }, { "owned", 2 },
              { "output", 3 }, { "shared", 4 }, { "number", 5 }, { "serial", 6 } };
enum { NAMES = sizeof names / sizeof *names, KINDS = 7 };

/* A name in the text. */
struct name {
    size_t at, letters, length; /* with its number */
    uint32_t number;
    int kind;
};

struct renaming {
    bool in_word[256]; /* characters of words */
    struct name *names;
    size_t count, capacity;
    uint32_t *given[KINDS]; /* by the number before; 0: none yet, else 1 + the new one */
    uint32_t most[KINDS], next[KINDS];
    bool failed;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static void begin(struct renaming *r)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    *r = (struct renaming){ .failed = false };
    for (const char *c = all; *c != '\0'; c++)
        r->in_word[(unsigned char)*c] = true;
}

static size_t word_length(const struct renaming *r, const char *text)
{
    size_t length = 0;
    while (r->in_word[(unsigned char)text[length]])
        length++;
    return length;
}

static size_t until_word(const struct renaming *r, const char *text)
{
    size_t length = 0;
    while (text[length] != '\0' && !r->in_word[(unsigned char)text[length]])
        length++;
    return length;
}

/* Whether a word is a name, of small letters and a number. */
static bool is_name(const char *word, size_t length, struct name *out)
{
    size_t letters = 0;
    uint32_t number = 0;
    if (!is_lower(word[0]) || !is_digit(word[length - 1]))
        return false;
    while (is_lower(word[letters]))
        letters++;
    for (size_t i = letters; i < length; i++) {
        if (!is_digit(word[i]))
            return false;
        number = 10 * number + (uint32_t)(word[i] - '0');
    }
    for (int i = 0; i < NAMES; i++)
        if (word[0] == names[i].word[0] && strlen(names[i].word) == letters &&
            memcmp(word, names[i].word, letters) == 0) {
            *out = (struct name){
                .letters = letters, .length = length, .number = number, .kind = names[i].kind
            };
            return true;
        }
    return false;
}

static void add_name(struct renaming *r, struct name name, size_t at)
{
    if (r->count == r->capacity) {
        const size_t capacity = 2 * r->capacity + 1024;
        struct name *larger = realloc(r->names, capacity * sizeof *larger);
        r->failed |= larger == NULL;
        if (larger == NULL)
            return;
        r->names = larger;
        r->capacity = capacity;
    }
    name.at = at;
    r->names[r->count++] = name;
    if (name.number > r->most[name.kind])
        r->most[name.kind] = name.number;
}

static void find_names(struct renaming *r, const char *from)
{
    struct name name;
    for (size_t at = until_word(r, from), length; from[at] != '\0';
         at += length + until_word(r, from + at + length)) {
        length = word_length(r, from + at);
        if (is_name(from + at, length, &name))
            add_name(r, name, at);
    }
}

static void rewrite(struct renaming *r, const struct text *from, struct text *to)
{
    size_t done = 0; /* so much of the old text is in the new one */
    for (size_t i = 0; i < r->count; i++) {
        const struct name *n = &r->names[i];
        uint32_t *given = &r->given[n->kind][n->number];
        if (*given == 0)
            *given = ++r->next[n->kind];
        text_add_bytes(to, from->data + done, n->at + n->letters - done);
        text_add(to, "%u", *given - 1);
        done = n->at + n->length;
    }
    text_add_bytes(to, from->data + done, from->length - done);
}

void number_names(const struct text *from, struct text *to)
{
    struct renaming r;
    begin(&r);
    find_names(&r, from->data);
    for (int i = 0; i < KINDS; i++) {
        r.given[i] = calloc((size_t)r.most[i] + 1, sizeof *r.given[i]);
        r.failed |= r.given[i] == NULL;
    }
    if (!r.failed)
        rewrite(&r, from, to);
    to->failed |= r.failed;
    for (int i = 0; i < KINDS; i++)
        free(r.given[i]);
    free(r.names);
}
