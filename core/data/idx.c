/* SPDX-License-Identifier: Apache-2.0 */
/* Reads IDX files, plain or gzip, and refuses what is damaged before memory is taken for it. */
#include "data/idx.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK 65536
/* No deflate stream grows by more than this factor, so a size beyond it is known to be a lie. */
#define MAX_RATIO 1032

/* A file as a stream of its contents, whether they are compressed or not. */
struct source {
    const char *path;
    int fd;
    uint64_t file_bytes;
    bool zipped, ended, at_eof;
    z_stream z;
    size_t have, used; /* of chunk */
    uint8_t chunk[CHUNK];
};

static tarn_status refill(struct source *s)
{
    if (s->used < s->have || s->at_eof)
        return TARN_OK;
    ssize_t got;
    do {
        got = read(s->fd, s->chunk, CHUNK);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_set(TARN_ERR_IO, "%s: cannot read: %s", s->path, strerror(errno));
    s->at_eof = got == 0;
    s->have = (size_t)got;
    s->used = 0;
    return TARN_OK;
}

static tarn_status inflate_error(const struct source *s, int code)
{
    if (code == Z_MEM_ERROR)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory while unpacking", s->path);
    return error_set(TARN_ERR_FORMAT, "%s: damaged gzip file: %s", s->path,
                     s->z.msg != NULL ? s->z.msg : "bad data");
}

static tarn_status read_zipped(struct source *s, uint8_t *to, size_t want, size_t *got)
{
    size_t done = 0;
    while (done < want && !s->ended) {
        TRY(refill(s));
        if (s->at_eof)
            return error_set(TARN_ERR_FORMAT,
                             "%s: truncated: the gzip data end after %" PRIu64 " bytes; "
                             "fetch the file again",
                             s->path, s->file_bytes);
        const size_t ask = want - done < CHUNK ? want - done : CHUNK;
        s->z.next_in = s->chunk + s->used;
        s->z.avail_in = (uInt)(s->have - s->used);
        s->z.next_out = to + done;
        s->z.avail_out = (uInt)ask;
        const int code = inflate(&s->z, Z_NO_FLUSH);
        s->used = s->have - s->z.avail_in;
        done += ask - s->z.avail_out;
        s->ended = code == Z_STREAM_END;
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return inflate_error(s, code);
    }
    *got = done;
    return TARN_OK;
}

static tarn_status read_plain(struct source *s, uint8_t *to, size_t want, size_t *got)
{
    size_t done = 0;
    while (done < want) {
        TRY(refill(s));
        if (s->at_eof)
            break;
        const size_t left = s->have - s->used;
        const size_t n = want - done < left ? want - done : left;
        memcpy(to + done, s->chunk + s->used, n);
        s->used += n;
        done += n;
    }
    *got = done;
    return TARN_OK;
}

static tarn_status source_read(struct source *s, uint8_t *to, size_t want)
{
    size_t got = 0;
    TRY(s->zipped ? read_zipped(s, to, want, &got) : read_plain(s, to, want, &got));
    if (got != want)
        return error_set(TARN_ERR_FORMAT, "%s: truncated: %zu bytes missing; fetch the file again",
                         s->path, want - got);
    return TARN_OK;
}

/* Asks for one byte more than there should be: this also makes zlib compare checksum and size. */
static tarn_status source_expect_end(struct source *s)
{
    uint8_t extra;
    size_t got = 0;
    TRY(s->zipped ? read_zipped(s, &extra, 1, &got) : read_plain(s, &extra, 1, &got));
    if (got)
        return error_set(TARN_ERR_FORMAT, "%s: holds more data than its header says", s->path);
    TRY(refill(s));
    if (!s->at_eof)
        return error_set(TARN_ERR_FORMAT, "%s: holds other data after the end of the gzip data",
                         s->path);
    return TARN_OK;
}

static tarn_status source_start(struct source *s)
{
    struct stat st;
    if (fstat(s->fd, &st) != 0)
        return error_set(TARN_ERR_IO, "%s: cannot examine: %s", s->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(TARN_ERR_IO, "%s: not a regular file", s->path);
    s->file_bytes = (uint64_t)st.st_size;
    TRY(refill(s));
    if (s->have < 2 || s->chunk[0] != 0x1f || s->chunk[1] != 0x8b)
        return TARN_OK;
    if (inflateInit2(&s->z, 15 + 16) != Z_OK)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory while unpacking", s->path);
    s->zipped = true;
    return TARN_OK;
}

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* Whether a file of this length can hold the contents that its header announces. */
static tarn_status check_room(const struct source *s, uint64_t header, uint64_t bytes)
{
    const uint64_t whole = header + bytes;
    if (s->zipped && whole / MAX_RATIO > s->file_bytes)
        return error_set(TARN_ERR_FORMAT,
                         "%s: truncated: header promises %" PRIu64 " bytes, more than %" PRIu64
                         " bytes of gzip can hold",
                         s->path, bytes, s->file_bytes);
    if (s->zipped || whole == s->file_bytes)
        return TARN_OK;
    return error_set(
        TARN_ERR_FORMAT, "%s: %s: header and data need %" PRIu64 " bytes, the file has %" PRIu64,
        s->path, whole > s->file_bytes ? "truncated" : "trailing data", whole, s->file_bytes);
}

static tarn_status read_magic(struct source *s, uint32_t wanted, uint32_t *rank)
{
    uint8_t head[4];
    TRY(source_read(s, head, sizeof head));
    const uint32_t magic = big_endian(head);
    *rank = magic & 0xff;
    const bool fits = wanted ? *rank == wanted : *rank >= 1 && *rank <= IDX_MAX_RANK;
    if (magic >> 8 == 0x08 && fits)
        return TARN_OK;
    if (!wanted)
        return error_set(TARN_ERR_FORMAT,
                         "%s: not the expected IDX file: magic is %08" PRIx32
                         ", expected 00000801 to %08x (bytes in up to %d dimensions)",
                         s->path, magic, 0x0800u | IDX_MAX_RANK, IDX_MAX_RANK);
    return error_set(TARN_ERR_FORMAT,
                     "%s: not the expected IDX file: magic is %08" PRIx32 ", expected %08" PRIx32
                     " (bytes in %" PRIu32 " dimension%s)",
                     s->path, magic, 0x0800u | wanted, wanted, wanted == 1 ? "" : "s");
}

static tarn_status read_header(struct source *s, uint32_t wanted, struct idx *out)
{
    uint8_t head[4 * IDX_MAX_RANK];
    uint32_t rank;
    TRY(read_magic(s, wanted, &rank));
    out->rank = rank;
    TRY(source_read(s, head, 4 * (size_t)rank));
    uint64_t bytes = 1;
    for (uint32_t i = 0; i < rank; i++) {
        out->dim[i] = big_endian(head + 4 * i);
        if (out->dim[i] == 0)
            return error_set(TARN_ERR_FORMAT, "%s: dimension %" PRIu32 " is 0", s->path, i);
        if (out->dim[i] > IDX_MAX_BYTES || bytes * out->dim[i] > IDX_MAX_BYTES)
            return error_set(TARN_ERR_FORMAT,
                             "%s: dimension %" PRIu32 " of %" PRIu32
                             " makes it larger than the limit of %zu bytes",
                             s->path, i, out->dim[i], IDX_MAX_BYTES);
        bytes *= out->dim[i];
    }
    if (out->dim[0] > INT32_MAX)
        return error_set(TARN_ERR_FORMAT, "%s: more than %d items", s->path, INT32_MAX);
    out->bytes = (size_t)bytes;
    return check_room(s, 4 + 4 * (uint64_t)rank, bytes);
}

static tarn_status read_all(struct source *s, uint32_t rank, struct idx *out)
{
    TRY(source_start(s));
    TRY(read_header(s, rank, out));
    out->data = malloc(out->bytes);
    if (out->data == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory for %zu bytes", s->path,
                         out->bytes);
    TRY(source_read(s, out->data, out->bytes));
    return source_expect_end(s);
}

tarn_status idx_read(const char *path, uint32_t rank, struct idx *out)
{
    memset(out, 0, sizeof *out);
    if (path == NULL || rank > IDX_MAX_RANK)
        return error_set(TARN_ERR_ARGUMENT, "idx: no file name");
    struct source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", path);
    s->path = path;
    /* Not blocking, so that a pipe under this name is refused instead of waited for. */
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    tarn_status status;
    if (s->fd < 0)
        status = error_set(TARN_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    else
        status = read_all(s, rank, out);
    if (s->zipped)
        (void)inflateEnd(&s->z);
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s);
    if (status != TARN_OK) {
        free(out->data);
        memset(out, 0, sizeof *out);
    }
    return status;
}
