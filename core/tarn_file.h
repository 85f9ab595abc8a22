/* SPDX-License-Identifier: Apache-2.0 */
/** Checkpoints, and weight files of any framework: safetensors.
 *  Part of tarn.h, which includes it. */
#ifndef TARN_FILE_H
#define TARN_FILE_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checkpoints: safetensors --------------------------------------------------------------- */

/** What a run needs besides tensors to go on bit for bit. */
typedef struct tarn_progress {
    uint64_t epoch;   /* epochs finished */
    uint64_t batches; /* batches done in the current epoch */
} tarn_progress;

/** Writes parameters and buffers under their names, optimizer state under "optimizer.*", and step,
 *  seed and progress as metadata, to a temporary file in the same folder; syncs; renames it to
 *  `path`. The same state gives the same bytes. On failure an older file is untouched. Waits.
 *  The metadata have a checksum (XXH3) of each tensor and of the header, under "tarn.xxh3...". */
TARN_API TARN_MUST_USE tarn_status tarn_save(tarn_replica *r, const char *path,
                                             tarn_progress progress);
/** Loads all or nothing: every difference in name, shape or type is listed in the error. A file with
 *  checksums, of which one is wrong, is refused; files without them are loaded as they are. Optimizer
 *  state is restored when the file has it and an optimizer is open. `progress` may be NULL. */
TARN_API TARN_MUST_USE tarn_status tarn_load(tarn_replica *r, const char *path,
                                             tarn_progress *progress);

/* ---- weights of any origin into a model ----------------------------------------------------- */

/** Why tarn_load_weights left a tensor as it was. */
typedef enum tarn_left {
    TARN_LEFT_MISSING,    /* the file has none for this parameter or buffer */
    TARN_LEFT_UNEXPECTED, /* the model has none for this tensor of the file */
    TARN_LEFT_MISMATCHED  /* both have it, but shape, type or a value does not fit */
} tarn_left;

/** How a file's names become the model's, and what may be left. All zero: the names are equal, and
 *  nothing may be left. Patterns are those of tarn_freeze: "head.*,*.bias". */
typedef struct tarn_load_options {
    const char *from; /* only tensors of the file whose names begin so, which is cut off */
    const char *to;   /* then put before: only the model's tensors whose names begin so take part */
    /* Pairs of texts, NULL at the end: between cutting and putting, the first is replaced by the second
     * wherever it stands, pair after pair. { "ln_1.", "norm1.", NULL } */
    const char *const *rename;
    const char
        *transposed;  /* the model's tensors that are [columns, rows] in the file; NULL: none */
    const char *skip; /* the model's tensors that stay as they are; NULL: none */
    /* What may be left: without it, the file is refused, and nothing loaded. */
    bool missing, unexpected, mismatched;
    /* Is told of each tensor that is left or refused, with its name and the reason ("is missing"), by
     * each replica; may be NULL. */
    void (*report)(void *user, tarn_left left, const char *name, const char *why);
    void *user;
} tarn_load_options;

/** Loads parameters and buffers from a file of any framework: all that the options want, or nothing;
 *  the error lists every difference that they do not allow. F16, BF16 and integers become float32
 *  where that has the same value, F64 is rounded to the nearest float32 (all of them to float64 where the
 *  model has that); a value that the model's
 *  type does not have is a mismatch. Optimizer state, step and seed stay; accumulated gradients are
 *  dropped, averages of weights begin anew. On several devices all call it, and a file on the first
 *  node suffices. */
TARN_API TARN_MUST_USE tarn_status tarn_load_weights(tarn_replica *r, const char *path,
                                                     tarn_load_options options);

/* ---- weight files: safetensors of any framework, read without a replica --------------------- */

typedef struct tarn_weight_file tarn_weight_file;

typedef enum tarn_weight_kind {
    TARN_WEIGHT_FLOAT,   /* F16, BF16, F32, F64 */
    TARN_WEIGHT_INTEGER, /* I8 to I64, U8 to U64 */
    TARN_WEIGHT_BITS     /* all other types, taken as bits: BOOL, C64, F8_*, F6_*, F4 */
} tarn_weight_kind;

/** One tensor of a file. All pointers end with the file. */
typedef struct tarn_weight {
    const char *name;
    const char *dtype; /* as in the file: "F32", "BF16", "I64", ... */
    tarn_weight_kind kind;
    int32_t rank;
    uint64_t dim[TARN_MAX_RANK];
    size_t width, count; /* bytes of an element, elements; F4 and F6_* are taken byte by byte */
    size_t bytes;
    const void *data; /* row-major, little-endian, with no alignment */
} tarn_weight;

/** Reads a file into memory once its size and header are checked; all types of the format, at most
 *  TARN_MAX_RANK dimensions. Checksums that tarn_save left are compared, and a file that does not have
 *  them is refused. NULL on failure: tarn_error(NULL). */
TARN_API TARN_MUST_USE tarn_weight_file *tarn_weight_file_open(const char *path);
/** NULL is a no-op. */
TARN_API void tarn_weight_file_close(tarn_weight_file *f);
/** Number of tensors in the file; 0 for NULL. */
TARN_API int tarn_weight_file_count(const tarn_weight_file *f);
/** The i-th tensor, from 0, in the byte order of names; its name is NULL when there is none.
 *  Borrows from the file. */
TARN_API tarn_weight tarn_weight_file_at(const tarn_weight_file *f, int i);
/** The tensor of that name, likewise. */
TARN_API tarn_weight tarn_weight_file_find(const tarn_weight_file *f, const char *name);
/** The text that the file's metadata have under a key; NULL for none. */
TARN_API const char *tarn_weight_file_metadata(const tarn_weight_file *f, const char *key);

/** How the elements of two tensors differ. NaNs take no part in the largest differences. */
typedef struct tarn_weight_difference {
    uint64_t different;      /* elements with different bits */
    uint64_t beyond;         /* of these, the ones that the tolerance does not excuse */
    uint64_t first;          /* index of the first of `different` */
    uint64_t nan_a, nan_b;   /* NaNs of each side */
    uint64_t max_steps;      /* floats: ULP, -0 being 0; integers: largest absolute difference */
    double max_abs, max_rel; /* floats; relative to the larger of both magnitudes */
} tarn_weight_difference;

/** Compares bit by bit; `tolerance` excuses floats of up to so many ULP, but no NaN. An error when
 *  type or shape differ. */
TARN_API TARN_MUST_USE tarn_status tarn_weight_compare(const tarn_weight *a, const tarn_weight *b,
                                                       uint64_t tolerance,
                                                       tarn_weight_difference *out);
/** An element's bits, in the low ones of the result; 0 where there is no such element. `element`
 *  counts row-major from 0. */
TARN_API uint64_t tarn_weight_bits(const tarn_weight *w, size_t element);
/** Its value as text that reads back exactly: hexadecimal for TARN_WEIGHT_BITS, "nan" for any NaN,
 *  "none" where there is no such element. Cut at capacity - 1 bytes; 32 are enough for all. */
TARN_API void tarn_weight_text(const tarn_weight *w, size_t element, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
