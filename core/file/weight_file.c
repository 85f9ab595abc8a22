/* SPDX-License-Identifier: Apache-2.0 */
/* Reads safetensors files of any origin: nothing is believed before it was checked. */
#include "file/checksum.h"
#include "file/weight_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tarn.h"

_Static_assert(SAFETENSORS_MAX_RANK == TARN_MAX_RANK, "a weight has the dimensions of an entry");

/* ---- reading -------------------------------------------------------------------------------- */

static tarn_status read_fully(int fd, const char *path, uint8_t *to, size_t want)
{
    for (size_t done = 0; done < want;) {
        const size_t ask = want - done < (1u << 30) ? want - done : (1u << 30);
        const ssize_t n = read(fd, to + done, ask);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(TARN_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        if (n == 0)
            return error_set(TARN_ERR_IO, "%s: became shorter while it was read", path);
        done += (size_t)n;
    }
    return TARN_OK;
}

static tarn_status file_size(int fd, const char *path, uint64_t *out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_set(TARN_ERR_IO, "%s: cannot examine: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(TARN_ERR_IO, "%s: not a regular file", path);
    *out = (uint64_t)st.st_size;
    if (*out > SIZE_MAX / 2)
        return error_set(TARN_ERR_MEMORY, "%s: too large for this machine", path);
    return TARN_OK;
}

static tarn_status read_head(int fd, const char *path, uint64_t size, struct safetensors *out)
{
    uint8_t first[8];
    const size_t have = size < sizeof first ? (size_t)size : sizeof first;
    size_t bytes = 0;
    TRY(read_fully(fd, path, first, have));
    TRY(safetensors_head_bytes(first, have, size, path, &bytes));
    uint8_t *head = malloc(bytes);
    if (head == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory for a header of %zu bytes", path,
                         bytes);
    memcpy(head, first, have);
    const tarn_status status = read_fully(fd, path, head + have, bytes - have);
    if (status == TARN_OK)
        return safetensors_parse(head, bytes, size, path, out);
    free(head);
    return status;
}

/* Into memory, not mapped: a mapped file can change after it was checked. */
static tarn_status read_data(int fd, const char *path, size_t bytes, uint8_t **out)
{
    *out = malloc(bytes + 1);
    if (*out == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory for %zu bytes", path, bytes);
    return read_fully(fd, path, *out, bytes);
}

static tarn_status read_open(int fd, const char *path, struct tarn_weight_file *out)
{
    uint64_t size = 0;
    TRY(file_size(fd, path, &size));
    TRY(read_head(fd, path, size, &out->head));
    TRY(read_data(fd, path, (size_t)(size - out->head.data_start), &out->data));
    return checksums_verify(&out->head, out->data, path);
}

tarn_status weight_file_read_open(int fd, const char *path, struct tarn_weight_file *out)
{
    memset(out, 0, sizeof *out);
    const tarn_status status = read_open(fd, path, out);
    (void)close(fd);
    if (status != TARN_OK)
        weight_file_release(out);
    return status;
}

tarn_status weight_file_read(const char *path, struct tarn_weight_file *out)
{
    memset(out, 0, sizeof *out);
    /* Not to be held up by a pipe that nobody writes to. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(TARN_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    return weight_file_read_open(fd, path, out);
}

void weight_file_release(struct tarn_weight_file *f)
{
    safetensors_release(&f->head);
    free(f->data);
    f->data = NULL;
}

/* ---- the public side ------------------------------------------------------------------------ */

tarn_weight_file *tarn_weight_file_open(const char *path)
{
    if (path == NULL) {
        (void)error_set(TARN_ERR_ARGUMENT, "tarn_weight_file_open: no path given");
        return NULL;
    }
    tarn_weight_file *f = malloc(sizeof *f);
    if (f == NULL) {
        (void)error_set(TARN_ERR_MEMORY, "%s: out of host memory", path);
        return NULL;
    }
    if (weight_file_read(path, f) == TARN_OK)
        return f;
    free(f);
    return NULL;
}

void tarn_weight_file_close(tarn_weight_file *f)
{
    if (f != NULL)
        weight_file_release(f);
    free(f);
}

int tarn_weight_file_count(const tarn_weight_file *f)
{
    return f != NULL ? (int)f->head.count : 0; /* the header's limit on values bounds it */
}

static tarn_weight_kind kind_of(const char *dtype)
{
    static const char *const floats[] = { "F16", "BF16", "F32", "F64" };
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        if (strcmp(dtype, floats[i]) == 0)
            return TARN_WEIGHT_FLOAT;
    }
    return dtype[0] == 'I' || dtype[0] == 'U' ? TARN_WEIGHT_INTEGER : TARN_WEIGHT_BITS;
}

static tarn_weight view(const tarn_weight_file *f, const struct safetensors_entry *e)
{
    const unsigned bits = safetensors_dtype_bits(e->dtype);
    tarn_weight w = { .name = e->name,
                      .dtype = e->dtype,
                      .kind = kind_of(e->dtype),
                      .rank = e->rank,
                      .width = bits < 8 ? 1 : bits / 8,
                      .bytes = (size_t)(e->end - e->begin),
                      .data = f->data + e->begin };
    w.count = w.bytes / w.width;
    memcpy(w.dim, e->dim, sizeof w.dim);
    return w;
}

tarn_weight tarn_weight_file_at(const tarn_weight_file *f, int i)
{
    if (f == NULL || i < 0 || (size_t)i >= f->head.count)
        return (tarn_weight){ .name = NULL };
    return view(f, &f->head.entries[i]);
}

tarn_weight tarn_weight_file_find(const tarn_weight_file *f, const char *name)
{
    const struct safetensors_entry *e =
        f != NULL && name != NULL ? safetensors_find(&f->head, name) : NULL;
    return e != NULL ? view(f, e) : (tarn_weight){ .name = NULL };
}

const char *tarn_weight_file_metadata(const tarn_weight_file *f, const char *key)
{
    return f != NULL && key != NULL ? safetensors_metadata(&f->head, key) : NULL;
}
