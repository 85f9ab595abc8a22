/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory of one compilation, and growing text. In: sizes, formats. Out: zeroed memory that
 * lives until the arena is freed, and strings; a failure is remembered and told at the end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/arena.h"
#include "compile/text.h"

#define BLOCK_BYTES ((size_t)1 << 18)

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

void *arena_take(struct arena *a, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    struct arena_block *b = a->blocks;
    if (b == NULL || b->size - b->used < bytes) {
        const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b = malloc(sizeof *b + size);
        if (b == NULL) {
            a->failed = true;
            return NULL;
        }
        *b = (struct arena_block){ .next = a->blocks, .size = size };
        a->blocks = b;
    }
    void *out = b->data + b->used;
    b->used += bytes;
    return memset(out, 0, bytes);
}

void arena_free(struct arena *a)
{
    while (a->blocks != NULL) {
        struct arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
}

void text_add_list(struct text *t, const char *format, va_list args)
{
    if (t->failed)
        return;
    va_list again;
    va_copy(again, args);
    const size_t room = t->capacity - t->length;
    const int need = vsnprintf(room > 0 ? t->data + t->length : NULL, room, format, args);
    t->failed = need < 0;
    if (need >= 0 && (size_t)need >= room) {
        const size_t capacity = 2 * t->capacity + (size_t)need + 1024;
        char *data = realloc(t->data, capacity);
        t->failed = data == NULL;
        if (data != NULL) {
            t->data = data;
            t->capacity = capacity;
            vsnprintf(data + t->length, capacity - t->length, format, again);
        } else if (room > 0) {
            t->data[t->length] = '\0';
        }
    }
    t->length += t->failed ? 0 : (size_t)need;
    va_end(again);
}

void text_add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add_list(t, format, args);
    va_end(args);
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){ 0 };
}
