/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over ranks, a block at a time: a block's sum is built in the cache by the one tree,
 * and stored from there to every replica. */
#include <stdint.h>
#include <string.h>

#include "pattern.h"

enum {
    LINE = 16,    /* elements of a cache line */
    BLOCK = 4096, /* elements that are reduced at once */
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
    float f[BLOCK];
    int32_t i[BLOCK];
};

/* The ways to combine blocks of one type by one reduction. `in` are whole replicas. */
struct combine {
    void (*two)(void *out, const void *const *in, size_t first, size_t count);
    void (*four)(void *out, const void *const *in, size_t first, size_t count);
    void (*into)(void *out, const void *right, size_t count); /* out = out . right */
};

static const void *element(const void *replica, size_t index)
{
    return (const char *)replica + 4 * index;
}

/* Vectors by hand: at -O2 not every compiler would make them of loops. */
enum { LANES = 4 };
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));

static inline floats add_f(floats a, floats b)
{
    return a + b;
}

/* `mask` has all bits of a lane set or none, as comparisons make it. */
static inline floats choose_f(ints mask, floats a, floats b)
{
    return (floats)((mask & (ints)a) | (~mask & (ints)b));
}

static inline floats max_f(floats a, floats b)
{
    return choose_f((a > b) | (a != a), a, b);
}

static inline floats min_f(floats a, floats b)
{
    return choose_f((a < b) | (a != a), a, b);
}

static inline words add_i(words a, words b)
{
    return a + b;
}

static inline ints max_i(ints a, ints b)
{
    const ints mask = a > b;
    return (mask & a) | (~mask & b);
}

static inline ints min_i(ints a, ints b)
{
    const ints mask = a < b;
    return (mask & a) | (~mask & b);
}

/* Runs `body` with `n` bytes to do from byte `i` on: whole vectors, and at last a part of one. */
#define EACH_VECTOR(body) \
    size_t i = 0; \
    for (const size_t n = 4 * LANES; i + n <= 4 * count; i += n) { \
        body; \
    } \
    if (i < 4 * count) { \
        const size_t n = 4 * count - i; \
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

static const struct combine *combine_of(tarn_dtype dtype, tarn_reduction reduction)
{
    static const struct combine on_floats[] = { { add_f_2, add_f_4, add_f_into },
                                                { max_f_2, max_f_4, max_f_into },
                                                { min_f_2, min_f_4, min_f_into } };
    static const struct combine on_ints[] = { { add_i_2, add_i_4, add_i_into },
                                              { max_i_2, max_i_4, max_i_into },
                                              { min_i_2, min_i_4, min_i_into } };
    const int which = reduction == TARN_MAX ? 1 : reduction == TARN_MIN ? 2 : 0;
    return dtype == TARN_I32 ? &on_ints[which] : &on_floats[which];
}

/* ---- the tree ------------------------------------------------------------------------------- */

static void tree(const struct combine *by, const void *const *in, int n, size_t first, size_t count,
                 void *out)
{
    if (n == 1) {
        memcpy(out, element(in[0], first), 4 * count);
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

static void reduce_block(tarn_dtype dtype, tarn_reduction reduction, const void *const *in,
                         int world, size_t first, size_t count, union block *out)
{
    tree(combine_of(dtype, reduction), in, world, first, count, out);
    if (reduction == TARN_MEAN) {
        const float scale = 1.0f / (float)world;
        for (size_t k = 0; k < BLOCK; k++)
            out->f[k] = k < count ? out->f[k] * scale : 0;
    }
}

void pattern_reduce(tarn_dtype dtype, tarn_reduction reduction, const void *const *in,
                    void *const *out, int world, int rank, size_t first, size_t count)
{
    union block sum;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = least(BLOCK, count - i), at = first + i;
        reduce_block(dtype, reduction, in, world, at, n, &sum);
        for (int step = 0; step < world; step++)
            memcpy((char *)out[pattern_target(world, rank, step)] + 4 * at, &sum, 4 * n);
    }
}

void pattern_reduce_to(tarn_dtype dtype, tarn_reduction reduction, const void *const *in, int world,
                       size_t first, size_t count, void *out)
{
    union block sum;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = least(BLOCK, count - i);
        reduce_block(dtype, reduction, in, world, first + i, n, &sum);
        memcpy((char *)out + 4 * i, &sum, 4 * n);
    }
}
