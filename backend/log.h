/* SPDX-License-Identifier: Apache-2.0 */
/* What the library says beside errors: to the program's function, else on the standard error stream. No
 * other file of the library writes there. Any thread. */
#ifndef TARN_BACKEND_LOG_H
#define TARN_BACKEND_LOG_H

#include "tarn_log.h"

/* From now on `each` gets all messages; NULL: the standard error stream does. */
void log_to(tarn_log_fn each, void *user);
/* Whether a program's function gets them: no terminal shows them as they come. */
bool log_is_taken(void);
/* One line, without a newline at its end; control characters are escaped. */
void log_print(tarn_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Many lines as they are; a program's function gets them without the newlines at their end. */
void log_text(tarn_log_level level, const char *text);

#endif
