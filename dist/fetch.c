/* SPDX-License-Identifier: Apache-2.0 */
/* A file that rank 0 can read, for all ranks: other nodes need not have it. Each gets it as a file in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "member.h"

enum { AT_ONCE = 16 << 20 };

/* What rank 0 says before the bytes. */
struct cover {
    int64_t bytes;
    int32_t status;
    char line[1000];
};

static tarn_status broadcast(tarn_replica *r, void *data, size_t bytes)
{
    return member_collect(r, (struct collective){ .kind = COLLECTIVE_BROADCAST,
                                                  .dtype = TARN_U8,
                                                  .count = bytes,
                                                  .label = "file",
                                                  .in = data,
                                                  .out = data });
}

static tarn_status open_file(const char *path, int *fd, int64_t *bytes)
{
    struct stat st;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return error_set(TARN_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode))
        return error_set(TARN_ERR_IO, "%s: no regular file", path);
    *bytes = st.st_size;
    return TARN_OK;
}

static tarn_status read_all(const char *path, int fd, char *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = read(fd, to + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set(TARN_ERR_IO, "%s: cannot read: %s", path,
                             n < 0 ? strerror(errno) : "it has become shorter");
        done += (size_t)n;
    }
    return TARN_OK;
}

static tarn_status make_memory(const char *path, size_t bytes, int *fd, char **at)
{
    *fd = memfd_create("tarn", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, (off_t)bytes) != 0)
        return error_set(TARN_ERR_MEMORY, "%s: no memory for %zu bytes: %s", path, bytes,
                         strerror(errno));
    *at = NULL;
    if (bytes == 0)
        return TARN_OK;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (memory == MAP_FAILED)
        return error_set(TARN_ERR_MEMORY, "%s: no memory for %zu bytes: %s", path, bytes,
                         strerror(errno));
    *at = memory;
    return TARN_OK;
}

/* Rank 0 knows after this whether it can be done. */
static tarn_status read_to_memory(const char *path, struct cover *cover, int *fd, char **at)
{
    int file = -1;
    tarn_status status = open_file(path, &file, &cover->bytes);
    if (status == TARN_OK)
        status = make_memory(path, (size_t)cover->bytes, fd, at);
    if (status == TARN_OK)
        status = read_all(path, file, *at, (size_t)cover->bytes);
    if (file >= 0)
        (void)close(file);
    cover->status = (int32_t)status;
    snprintf(cover->line, sizeof cover->line, "%s", status != TARN_OK ? error_text() : "");
    return status;
}

static tarn_status pass_on(tarn_replica *r, char *at, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += AT_ONCE)
        TRY(broadcast(r, at + done, bytes - done < AT_ONCE ? bytes - done : AT_ONCE));
    return TARN_OK;
}

tarn_status file_fetch(tarn_replica *r, const char *path, int *fd)
{
    struct cover cover;
    char *at = NULL;
    const bool reads = r->peers->rank == 0;
    *fd = -1;
    memset(&cover, 0, sizeof cover);
    if (reads)
        (void)read_to_memory(path, &cover, fd, &at);
    tarn_status status = broadcast(r, &cover, sizeof cover);
    const size_t bytes = (size_t)cover.bytes;
    if (status == TARN_OK && cover.status != TARN_OK)
        status = error_set((tarn_status)cover.status, "%s", cover.line);
    if (status == TARN_OK && !reads)
        status = make_memory(path, bytes, fd, &at);
    if (status == TARN_OK)
        status = pass_on(r, at, bytes);
    if (at != NULL)
        (void)munmap(at, bytes);
    if (status != TARN_OK && *fd >= 0)
        (void)close(*fd);
    return status;
}
