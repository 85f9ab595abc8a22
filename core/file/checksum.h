/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of a safetensors file, in its metadata: XXH3 of each tensor's bytes as 16 hexadecimal
 * digits under "tarn.xxh3.NAME", and under "tarn.xxh3" that of the header: names, types, shapes
 * and all other metadata, these checksums among them. Files without any are read as they are. */
#ifndef TARN_CHECKSUM_H
#define TARN_CHECKSUM_H

#include "tarn.h"
#include "file/safetensors.h"

#define CHECKSUM_KEY "tarn.xxh3"
#define CHECKSUM_BYTES 17 /* with the end of the text */

/* The metadata of a file that is written: the caller's, and checksums, which are zeros at first. */
struct checksums {
    struct safetensors_text *texts;
    size_t text_count;
    const struct safetensors_entry *entries; /* the caller's */
    size_t count;
    char (*sums)[CHECKSUM_BYTES]; /* of the tensors, then of the header */
};

/* Entries and texts must live as long. To be released even after a failure. */
TARN_CHECKED tarn_status checksums_new(struct checksums *c, const struct safetensors_entry *entries,
                                       size_t count, const struct safetensors_text *texts,
                                       size_t text_count);
void checksums_release(struct checksums *c);
/* Puts in the checksum of a tensor, by the number of its entry. */
void checksums_tensor(struct checksums *c, size_t entry, const void *data, size_t bytes);
/* Puts in that of the header, when all tensors have theirs. */
TARN_CHECKED tarn_status checksums_header(struct checksums *c);

/* Refuses a file of which a checksum is not that of what it has. */
TARN_CHECKED tarn_status checksums_verify(const struct safetensors *head, const uint8_t *data,
                                          const char *label);

#endif
