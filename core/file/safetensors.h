/* SPDX-License-Identifier: Apache-2.0 */
/* The safetensors format: an 8-byte length, a JSON header, and the bytes of all tensors. Headers
 * that are read are untrusted. */
#ifndef TARN_SAFETENSORS_H
#define TARN_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tarn.h"
#include "error.h"

#define SAFETENSORS_MAX_HEADER 100000000u
#define SAFETENSORS_MAX_RANK 8
#define SAFETENSORS_METADATA "__metadata__"

struct safetensors_entry {
    const char *name;
    const char *dtype; /* "F32", as in the format */
    int rank;
    uint64_t dim[SAFETENSORS_MAX_RANK];
    uint64_t begin, end; /* from the start of the data */
};

struct safetensors_text {
    const char *key, *value;
};

/* A checked header; entries are sorted by name. */
struct safetensors {
    struct safetensors_entry *entries;
    size_t count;
    struct safetensors_text *texts; /* the metadata, sorted by key */
    size_t text_count;
    uint64_t data_start; /* in the file */
    uint8_t *head;       /* length and header; names and texts lie in it */
};

/* Checks the first `have` bytes of a file of `file_bytes` bytes, which must include the whole
 * header. They are from malloc and belong to `out` from now on, or are freed on failure. Besides
 * them it takes at most 16 MiB, whatever they say. `label` names the file in errors. */
TARN_CHECKED tarn_status safetensors_parse(uint8_t *head, size_t have, uint64_t file_bytes,
                                           const char *label, struct safetensors *out);
void safetensors_release(struct safetensors *s);
/* Bytes that hold the length and the header, from the first 8 bytes of the file. */
TARN_CHECKED tarn_status safetensors_head_bytes(const uint8_t *first, size_t have,
                                                uint64_t file_bytes, const char *label,
                                                size_t *out);

/* NULL when there is none. */
const struct safetensors_entry *safetensors_find(const struct safetensors *s, const char *name);
const char *safetensors_metadata(const struct safetensors *s, const char *key);

/* Bits of one element; 0 for a name that is not in the format. */
unsigned safetensors_dtype_bits(const char *dtype);
/* A name of unknown origin as printable ASCII of at most 100 characters. Returns `out`. */
#define SAFETENSORS_ESCAPED 104
const char *safetensors_escape(const char *name, char out[SAFETENSORS_ESCAPED]);

/* Length and header, padded so that the data start at a multiple of 8; for free(). The entries must
 * be in the order of their data and the metadata in the order wanted. */
TARN_CHECKED tarn_status safetensors_build(const struct safetensors_entry *entries, size_t count,
                                           const struct safetensors_text *metadata,
                                           size_t metadata_count, uint8_t **out, size_t *bytes);

#endif
