/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: the line of a thread's last one, and the names of the codes. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "env.h"
#include "error.h"

static _Thread_local char line[1001];
static _Thread_local tarn_status last;

tarn_status error_set(tarn_status code, const char *format, ...)
{
    char text[sizeof line];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* Through a copy, since an argument may be the old line. */
    snprintf(line, sizeof line, "%s", text);
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
