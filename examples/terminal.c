/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <tarn.h>

enum { LONGEST = 5000, ESCAPED = 4 * LONGEST };

/* open() takes the lowest free number, so it is this stream that it opens. Only for reading: a
 * program whose output goes nowhere must find that out. */
void terminal_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        if (open("/dev/null", O_RDONLY) < 0)
            (void)!open("/", O_RDONLY | O_DIRECTORY);
    }
}

void terminal_line(const char *program, const char *format, ...)
{
    char line[LONGEST], escaped[ESCAPED];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    tarn_escape(line, escaped, sizeof escaped);
    fprintf(stderr, "%s: %s\n", program, escaped);
}

const char *terminal_name(const char *name)
{
    static char escaped[2][ESCAPED];
    static int next;
    next = !next;
    tarn_escape(name, escaped[next], sizeof(escaped[next]));
    return escaped[next];
}
