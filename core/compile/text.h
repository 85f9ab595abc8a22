/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, and what prints into it: formats are those of printf(). */
#ifndef TARN_TEXT_H
#define TARN_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data;
    size_t length, capacity;
    bool failed;
    bool fixed; /* it cannot grow */
};
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_list(struct text *t, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void text_add_bytes(struct text *t, const void *from, size_t count);
void text_add_spaces(struct text *t, int count);
/* As snprintf(), but what does not fit is left out. */
void text_fill(char *out, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void text_free(struct text *t);

#endif
