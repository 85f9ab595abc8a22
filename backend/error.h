/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where errors are born: a status flows through returns, its line through here. */
#ifndef TARN_ERROR_H
#define TARN_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "tarn_status.h"

#define TARN_CHECKED __attribute__((warn_unused_result))

/* Returns from the calling function when `call` fails. The only macro that hides a return. */
#define TRY(call) \
    do { \
        const tarn_status try_status_ = (call); \
        if (try_status_ != TARN_OK) \
            return try_status_; \
    } while (0)

/* Records one line (no newline at its end) for this thread and returns `code`. A breakpoint here
 * sees every error; TARN_DEBUG=trap raises SIGTRAP. Lines are cut at 1,000 bytes. */
tarn_status error_set(tarn_status code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies text with each control character, and each byte that is no UTF-8, as \xNN: names of
 * files and devices must not move the cursor of a terminal, nor begin a line. Lines of errors are
 * so. Cut at capacity - 1 bytes. */
void text_escape(const char *from, char *to, size_t capacity);
/* Copies text for between quotes, as JSON and Graphviz have it: with a backslash before quotes and backslashes, and
 * blanks for control characters. Cut at capacity - 1 bytes. */
void text_quote(const char *from, char *to, size_t capacity);
/* Whether text_escape would change nothing. */
bool text_is_plain(const char *text);

/* The line of this thread's last error; "" when there was none. Valid until the next error_set. */
const char *error_text(void);

/* The code of this thread's last error; TARN_OK when there was none. */
tarn_status error_last(void);

/* "TARN_ERR_SHAPE" for a code; "unknown status" for anything else. */
const char *status_name(tarn_status code);

#endif
