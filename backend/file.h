/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written. */
#ifndef TARN_FILE_ASIDE_H
#define TARN_FILE_ASIDE_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Takes an open file, or -1, away from descriptors 0 to 2: it has one of those when the program
 * was started with a standard stream closed, and what anybody prints would land in it. */
static inline int file_aside(int file)
{
    if (file < 0 || file > STDERR_FILENO)
        return file;
    const int aside = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), code = errno;
    (void)close(file);
    errno = code;
    return aside;
}

#endif
