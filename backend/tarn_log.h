/* SPDX-License-Identifier: Apache-2.0 */
/* How messages of Tarn are delivered. Public; included by tarn.h. */
#ifndef TARN_LOG_H
#define TARN_LOG_H

#include <stdbool.h>

typedef enum tarn_log_level {
    TARN_LOG_DEBUG,  /* asked for with TARN_DEBUG */
    TARN_LOG_INFO,   /* goes on, but takes long */
    TARN_LOG_WARNING /* goes on, but not as it should */
} tarn_log_level;

/** Gets a message: a line, or, with TARN_LOG_DEBUG, several, without a newline at the end. The text ends with the
 *  call. Called by one thread at a time, any of the library's; must not call Tarn. */
typedef void (*tarn_log_fn)(tarn_log_level level, const char *text, void *user);

#endif
