/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: the line of a thread's last one, and the names of the codes. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "env.h"
#include "error.h"

static _Thread_local char line[1001];
static _Thread_local tarn_status last;

/* Bytes of the character of UTF-8 at `at`; 0: it is none, or controls the terminal. */
static size_t plain_bytes(const unsigned char *at)
{
    const unsigned char c = at[0];
    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    const size_t bytes = c >= 0xf0 && c < 0xf5   ? 4
                         : c >= 0xe0 && c < 0xf0 ? 3
                         : c >= 0xc2 && c < 0xe0 ? 2
                                                 : 0;
    for (size_t i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    const unsigned char next = bytes > 0 ? at[1] : 0;
    const bool controls = c == 0xc2 && next < 0xa0; /* U+0080 to U+009F */
    const bool too_long = (c == 0xe0 && next < 0xa0) || (c == 0xf0 && next < 0x90);
    const bool surrogate = c == 0xed && next >= 0xa0, too_large = c == 0xf4 && next >= 0x90;
    return controls || too_long || surrogate || too_large ? 0 : bytes;
}

bool text_is_plain(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t bytes = 1;
    while (*at != '\0' && (bytes = plain_bytes(at)) > 0)
        at += bytes;
    return *at == '\0';
}

void text_escape(const char *from, char *to, size_t capacity)
{
    const unsigned char *at = (const unsigned char *)from;
    size_t used = 0;
    while (*at != '\0') {
        const size_t plain = plain_bytes(at), need = plain > 0 ? plain : 4;
        if (used + need >= capacity)
            break;
        if (plain > 0)
            memcpy(to + used, at, plain);
        else
            snprintf(to + used, capacity - used, "\\x%02x", *at);
        used += need;
        at += plain > 0 ? plain : 1;
    }
    to[used] = '\0';
}

void text_quote(const char *from, char *to, size_t capacity)
{
    size_t used = 0;
    for (; *from != '\0' && used + 2 < capacity; from++) {
        if (*from == '"' || *from == '\\')
            to[used++] = '\\';
        to[used++] = (unsigned char)*from < 0x20 ? ' ' : *from;
    }
    to[used] = '\0';
}

tarn_status error_set(tarn_status code, const char *format, ...)
{
    char text[sizeof line];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* Through a copy, since an argument may be the old line. */
    text_escape(text, line, sizeof line);
    last = code;
    if (env_debug("trap"))
        raise(SIGTRAP);
    return code;
}

const char *error_text(void)
{
    return line;
}

tarn_status error_last(void)
{
    return last;
}

const char *status_name(tarn_status code)
{
    switch (code) {
#define STATUS_CASE(name, number, text) \
    case TARN_##name: \
        return "TARN_" #name;
        TARN_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}
