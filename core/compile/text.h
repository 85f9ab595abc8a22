/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows. */
#ifndef TARN_TEXT_H
#define TARN_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_list(struct text *t, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void text_free(struct text *t);

#endif
