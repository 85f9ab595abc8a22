/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a kernel's text by order of appearance. Values and slots are numbered over a whole
 * program, so two layers that do the same would differ in nothing but these numbers, and the driver
 * would compile both. In: a text. Out: the same text with other numbers. Knows which names there
 * are, and nothing else of OpenCL C. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/6_source/source.h"

/* Names of one kind are counted together: b7 is where batch block b of v7 begins. */
static const struct {
    const char *word;
    int kind;
} names[] = { { "v", 0 },      { "b", 0 },      { "input", 1 },  { "owned", 2 },
              { "output", 3 }, { "shared", 4 }, { "number", 5 }, { "serial", 6 } };
enum { NAMES = sizeof names / sizeof *names, KINDS = 7, LONGEST = 10 };

struct numbers {
    uint32_t *given; /* by the number before; 0: none yet, else 1 + the new one */
    uint32_t most, count;
};

/* The kind of the identifier at `text`, and its number; -1: another identifier. `length` gets all of
 * it. */
static int kind_of(const char *text, size_t *length, size_t *word, uint32_t *number)
{
    size_t end = 0, letters = 0;
    while (isalnum((unsigned char)text[end]) || text[end] == '_')
        end++;
    while (islower((unsigned char)text[letters]))
        letters++;
    *length = end;
    *word = letters;
    if (letters == end || letters == 0 || strspn(text + letters, "0123456789") < end - letters)
        return -1;
    for (int i = 0; i < NAMES; i++)
        if (strlen(names[i].word) == letters && strncmp(text, names[i].word, letters) == 0) {
            *number = (uint32_t)strtoul(text + letters, NULL, 10);
            return names[i].kind;
        }
    return -1;
}

static bool begins_name(const char *from, const char *at)
{
    const bool inside = at > from && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
    return islower((unsigned char)*at) && !inside;
}

/* The largest numbers, and how long the new text may become. */
static size_t measure(const char *from, struct numbers *numbers)
{
    size_t length, word, names_met = 0;
    const char *at = from;
    for (; *at != '\0'; at += length) {
        uint32_t number;
        length = 1;
        if (!begins_name(from, at))
            continue;
        const int kind = kind_of(at, &length, &word, &number);
        if (kind < 0)
            continue;
        names_met++;
        if (number > numbers[kind].most)
            numbers[kind].most = number;
    }
    return (size_t)(at - from) + LONGEST * names_met + 1;
}

static void rewrite(const char *from, struct numbers *numbers, struct text *to)
{
    size_t length, word;
    char *out = to->data;
    for (const char *at = from; *at != '\0'; at += length) {
        uint32_t number;
        length = 1;
        const int kind = begins_name(from, at) ? kind_of(at, &length, &word, &number) : -1;
        if (kind < 0) {
            memcpy(out, at, length);
            out += length;
            continue;
        }
        struct numbers *n = &numbers[kind];
        if (n->given[number] == 0)
            n->given[number] = ++n->count;
        memcpy(out, at, word);
        out += word;
        out += snprintf(out, LONGEST + 1, "%u", n->given[number] - 1);
    }
    *out = '\0';
    to->length = (size_t)(out - to->data);
}

void number_names(const char *from, struct text *to)
{
    struct numbers numbers[KINDS] = { { 0 } };
    to->capacity = measure(from, numbers);
    to->data = malloc(to->capacity);
    bool enough = to->data != NULL;
    for (int i = 0; i < KINDS; i++) {
        numbers[i].given = calloc((size_t)numbers[i].most + 1, sizeof *numbers[i].given);
        enough &= numbers[i].given != NULL;
    }
    if (enough)
        rewrite(from, numbers, to);
    to->failed |= !enough;
    for (int i = 0; i < KINDS; i++)
        free(numbers[i].given);
}
