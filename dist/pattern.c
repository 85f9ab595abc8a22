/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over ranks, a block at a time: a block's sum is built in the cache by the one tree,
 * and stored from there to every replica. */
#include <stdint.h>
#include <string.h>

#include "pattern.h"

enum {
    LINE = 16,           /* elements of a cache line */
    BLOCK_BYTES = 16384, /* that are reduced at once */
};

/* ---- who owns what -------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct chunk pattern_chunk(size_t count, int world, int rank)
{
    const size_t lines = count / LINE + (count % LINE != 0), n = (size_t)world, r = (size_t)rank;
    const size_t each = lines / n, more = lines % n;
    const size_t first_line = r * each + least(r, more);
    const size_t last_line = first_line + each + (r < more);
    /* Only the end of the last line can lie behind the elements; no product overflows. */
    const size_t first = first_line > count / LINE ? count : first_line * LINE;
    const size_t last = last_line > count / LINE ? count : last_line * LINE;
    return (struct chunk){ first, last - first };
}

int pattern_target(int world, int rank, int step)
{
    return (rank + step) % world;
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

union block {
    char bytes[BLOCK_BYTES];
    float f[BLOCK_BYTES / sizeof(float)];
    double d[BLOCK_BYTES / sizeof(double)];
};

/* The ways to combine blocks of one type by one reduction. `in` are whole replicas; `first` and `count` are bytes. */
struct combine {
    void (*two)(void *out, const void *const *in, size_t first, size_t count);
    void (*four)(void *out, const void *const *in, size_t first, size_t count);
    void (*into)(void *out, const void *right, size_t count); /* out = out . right */
};

static const void *element(const void *replica, size_t first)
{
    return (const char *)replica + first;
}

/* Vectors by hand: at -O2 not every compiler would make them of loops. */
enum { VECTOR = 16 };
typedef float floats __attribute__((vector_size(VECTOR)));
typedef uint32_t words __attribute__((vector_size(VECTOR)));
typedef int32_t ints __attribute__((vector_size(VECTOR)));
typedef double doubles __attribute__((vector_size(VECTOR)));
typedef uint64_t long_words __attribute__((vector_size(VECTOR)));
typedef int64_t longs __attribute__((vector_size(VECTOR)));

/* `mask` has all bits of a lane set or none, as comparisons make it. */
#define CHOOSE(vector, bits, mask, a, b) \
    ((vector)(((bits)(mask) & (bits)(a)) | (~(bits)(mask) & (bits)(b))))

/* NaN wins, as no integer is. */
#define ARITHMETIC(id, vector, bits, sums) \
    static inline sums add_##id(sums a, sums b) \
    { \
        return a + b; \
    } \
    static inline vector max_##id(vector a, vector b) \
    { \
        return CHOOSE(vector, bits, (a > b) | (a != a), a, b); \
    } \
    static inline vector min_##id(vector a, vector b) \
    { \
        return CHOOSE(vector, bits, (a < b) | (a != a), a, b); \
    }

ARITHMETIC(f, floats, ints, floats)
ARITHMETIC(i, ints, ints, words)
ARITHMETIC(d, doubles, longs, doubles)
ARITHMETIC(l, longs, longs, long_words)

/* Runs `body` with `n` bytes to do from byte `i` on: whole vectors, and at last a part of one. */
#define EACH_VECTOR(body) \
    size_t i = 0; \
    for (const size_t n = VECTOR; i + n <= count; i += n) { \
        body; \
    } \
    if (i < count) { \
        const size_t n = count - i; \
        body; \
    }
#define LOAD(vector, name, from) \
    vector name = { 0 }; \
    memcpy(&name, (const char *)(from) + i, n)
#define STORE(vector, value) \
    const vector sum = (value); \
    memcpy((char *)out + i, &sum, n)

#define COMBINE(op, vector) \
    static void op##_2(void *restrict out, const void *const *in, size_t first, size_t count) \
    { \
        const void *const p = element(in[0], first), *const q = element(in[1], first); \
        EACH_VECTOR(LOAD(vector, a, p); LOAD(vector, b, q); STORE(vector, op(a, b))) \
    } \
    static void op##_4(void *restrict out, const void *const *in, size_t first, size_t count) \
    { \
        const void *const p = element(in[0], first), *const q = element(in[1], first); \
        const void *const r = element(in[2], first), *const s = element(in[3], first); \
        EACH_VECTOR(LOAD(vector, a, p); LOAD(vector, b, q); LOAD(vector, c, r); \
                    LOAD(vector, d, s); STORE(vector, op(op(a, b), op(c, d)))) \
    } \
    static void op##_into(void *restrict out, const void *right, size_t count) \
    { \
        EACH_VECTOR(LOAD(vector, a, out); LOAD(vector, b, right); STORE(vector, op(a, b))) \
    }

COMBINE(add_f, floats)
COMBINE(max_f, floats)
COMBINE(min_f, floats)
COMBINE(add_i, words)
COMBINE(max_i, ints)
COMBINE(min_i, ints)
COMBINE(add_d, doubles)
COMBINE(max_d, doubles)
COMBINE(min_d, doubles)
COMBINE(add_l, long_words)
COMBINE(max_l, longs)
COMBINE(min_l, longs)

#define COMBINES(id) \
    { \
        { add_##id##_2, add_##id##_4, add_##id##_into }, \
            { max_##id##_2, max_##id##_4, max_##id##_into }, \
        { \
            min_##id##_2, min_##id##_4, min_##id##_into \
        } \
    }

static const struct combine *combine_of(tarn_dtype dtype, tarn_reduction reduction)
{
    static const struct combine by[][3] = { [TARN_F32] = COMBINES(f),
                                            [TARN_I32] = COMBINES(i),
                                            [TARN_F64] = COMBINES(d),
                                            [TARN_I64] = COMBINES(l) };
    return &by[dtype][reduction == TARN_MAX ? 1 : reduction == TARN_MIN ? 2 : 0];
}

/* ---- the tree ------------------------------------------------------------------------------- */

static void tree(const struct combine *by, const void *const *in, int n, size_t first, size_t count,
                 void *out)
{
    if (n == 1) {
        memcpy(out, element(in[0], first), count);
    } else if (n == 2) {
        by->two(out, in, first, count);
    } else if (n == 4) {
        by->four(out, in, first, count);
    } else {
        int half = 1;
        while (2 * half < n)
            half *= 2;
        tree(by, in, half, first, count, out);
        if (n - half == 1) {
            by->into(out, element(in[half], first), count);
        } else {
            union block right;
            tree(by, in + half, n - half, first, count, &right);
            by->into(out, &right, count);
        }
    }
}

static void scale(tarn_dtype dtype, int world, size_t bytes, union block *out)
{
    const float single = 1.0f / (float)world;
    const double wide = 1.0 / world;
    if (dtype == TARN_F64)
        for (size_t k = 0; k < BLOCK_BYTES / sizeof(double); k++)
            out->d[k] = k < bytes / sizeof(double) ? out->d[k] * wide : 0;
    else
        for (size_t k = 0; k < BLOCK_BYTES / sizeof(float); k++)
            out->f[k] = k < bytes / sizeof(float) ? out->f[k] * single : 0;
}

static void reduce_block(tarn_dtype dtype, tarn_reduction reduction, const void *const *in,
                         int world, size_t first, size_t bytes, union block *out)
{
    tree(combine_of(dtype, reduction), in, world, first, bytes, out);
    if (reduction == TARN_MEAN)
        scale(dtype, world, bytes, out);
}

void pattern_reduce(tarn_dtype dtype, tarn_reduction reduction, const void *const *in,
                    void *const *out, int world, int rank, size_t first, size_t count)
{
    union block sum;
    const size_t size = tarn_dtype_bytes(dtype), bytes = size * count;
    for (size_t i = 0; i < bytes; i += BLOCK_BYTES) {
        const size_t n = least(BLOCK_BYTES, bytes - i), at = size * first + i;
        reduce_block(dtype, reduction, in, world, at, n, &sum);
        for (int step = 0; step < world; step++)
            memcpy((char *)out[pattern_target(world, rank, step)] + at, &sum, n);
    }
}

void pattern_reduce_to(tarn_dtype dtype, tarn_reduction reduction, const void *const *in, int world,
                       size_t first, size_t count, void *out)
{
    union block sum;
    const size_t size = tarn_dtype_bytes(dtype), bytes = size * count;
    for (size_t i = 0; i < bytes; i += BLOCK_BYTES) {
        const size_t n = least(BLOCK_BYTES, bytes - i);
        reduce_block(dtype, reduction, in, world, size * first + i, n, &sum);
        memcpy((char *)out + i, &sum, n);
    }
}
