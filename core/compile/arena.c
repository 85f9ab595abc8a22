/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory of one compilation, and growing text. In: sizes, formats. Out: zeroed memory that
 * lives until the arena is freed, and strings; a failure is remembered and told at the end. */
#include <stdarg.h>
#include <stdint.h>
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

static bool grow(struct text *t, size_t more)
{
    const size_t capacity = 2 * t->capacity + more + 256;
    char *data = t->failed || t->fixed ? NULL : realloc(t->data, capacity);
    t->failed = data == NULL;
    if (data != NULL) {
        t->data = data;
        t->capacity = capacity;
    }
    return !t->failed;
}

/* Room for so many more characters and the zero that ends them. */
static inline bool make_room(struct text *t, size_t more)
{
    return (more < t->capacity - t->length && !t->failed) || grow(t, more);
}

static inline void add_bytes(struct text *t, const char *from, size_t count)
{
    if (!make_room(t, count))
        return;
    memcpy(t->data + t->length, from, count);
    t->length += count;
    t->data[t->length] = '\0';
}

static void add_unsigned(struct text *t, unsigned long long number, unsigned base)
{
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    add_bytes(t, at, (size_t)(digits + sizeof digits - at));
}

static void add_decimal(struct text *t, long long number)
{
    if (number < 0)
        add_bytes(t, "-", 1);
    add_unsigned(t, number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number, 10);
}

/* As %a: exactly. */
static void add_hexadecimal(struct text *t, double number)
{
    char digits[13];
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0x7ff || (exponent == 0 && fraction != 0)) { /* not finite, or not normal */
        char printed[40];
        add_bytes(t, printed, (size_t)snprintf(printed, sizeof printed, "%a", number));
        return;
    }
    size_t length = 0;
    for (uint64_t rest = fraction << 12; rest != 0; rest <<= 4)
        digits[length++] = "0123456789abcdef"[rest >> 60];
    if (bits >> 63 != 0)
        add_bytes(t, "-", 1);
    add_bytes(t, exponent == 0 ? "0x0" : "0x1", 3);
    add_bytes(t, ".", length > 0);
    add_bytes(t, digits, length);
    const int power = exponent == 0 ? 0 : exponent - 1023;
    add_bytes(t, power < 0 ? "p" : "p+", power < 0 ? 1 : 2);
    add_decimal(t, power);
}

static void add_printed(struct text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int need = vsnprintf(NULL, 0, format, args);
    t->failed |= need < 0;
    if (!t->failed && make_room(t, (size_t)need))
        t->length += (size_t)vsnprintf(t->data + t->length, t->capacity - t->length, format, again);
    va_end(again);
}

/* Kernels are made of strings and numbers, a million of them for a deep network, and the C library takes its time over
 * each. It gets what follows the first of another kind. */
void text_add_list(struct text *t, const char *format, va_list args)
{
    (void)make_room(t, 0); /* what is empty is a string, too */
    for (;;) {
        size_t plain = 0;
        while (format[plain] != '\0' && format[plain] != '%')
            plain++;
        if (plain > 0)
            add_bytes(t, format, plain);
        format += plain;
        if (*format == '\0' || t->failed)
            return;
        const bool is_long = format[1] == 'l' && format[2] == 'l' && format[3] == 'd';
        if (format[1] == 's') {
            const char *string = va_arg(args, const char *);
            string = string != NULL ? string : "(null)";
            add_bytes(t, string, strlen(string));
        } else if (format[1] == 'd') {
            add_decimal(t, va_arg(args, int));
        } else if (format[1] == 'u' || format[1] == 'x') {
            add_unsigned(t, va_arg(args, unsigned), format[1] == 'u' ? 10 : 16);
        } else if (is_long) {
            add_decimal(t, va_arg(args, long long));
        } else if (format[1] == 'a') {
            add_hexadecimal(t, va_arg(args, double));
        } else if (format[1] == '%') {
            add_bytes(t, "%", 1);
        } else {
            add_printed(t, format, args);
            return;
        }
        format += is_long ? 4 : 2;
    }
}

void text_fill(char *out, size_t capacity, const char *format, ...)
{
    struct text t = { .data = out, .capacity = capacity, .fixed = true };
    va_list args;
    out[0] = '\0';
    va_start(args, format);
    text_add_list(&t, format, args);
    va_end(args);
}

void text_add_bytes(struct text *t, const void *from, size_t count)
{
    add_bytes(t, from, count);
}

void text_add_spaces(struct text *t, int count)
{
    const size_t spaces = count > 0 ? (size_t)count : 0;
    if (!make_room(t, spaces))
        return;
    memset(t->data + t->length, ' ', spaces);
    t->length += spaces;
    t->data[t->length] = '\0';
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
