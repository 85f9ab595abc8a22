/* SPDX-License-Identifier: Apache-2.0 */
/* Files: what the C library leaves to its callers. */
#ifndef TARN_FILE_ASIDE_H
#define TARN_FILE_ASIDE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
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

/* Whether so many bytes could be read; the same of writing. */
static inline bool file_read_all(int file, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = read(file, (char *)to + done, bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static inline bool file_write_all(int file, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t put = write(file, (const char *)from + done, bytes - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

#endif
