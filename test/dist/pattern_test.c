/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks, rings and the one tree of a sum, against a recursion written down from the definition. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

enum { MOST = 64 };

/* ---- who owns what -------------------------------------------------------------------------- */

static void check_chunks(size_t count, int world)
{
    size_t next = 0;
    for (int r = 0; r < world; r++) {
        const struct chunk c = pattern_chunk(count, world, r);
        cr_assert_eq(c.first, next, "%zu elements, rank %d of %d", count, r, world);
        cr_assert(c.first % 16 == 0 || c.count == 0);
        cr_assert(c.count % 16 == 0 || c.first + c.count == count);
        next = c.first + c.count;
    }
    cr_assert_eq(next, count);
}

Test(pattern, chunks_cover_all_elements_in_whole_lines)
{
    static const size_t counts[] = { 0, 1, 15, 16, 17, 31, 100, 1000, 21840, 65537, 1 << 20 };
    for (int world = 1; world <= MOST; world++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            check_chunks(counts[i], world);
    check_chunks(SIZE_MAX / 4, 7);
    check_chunks(SIZE_MAX, 64);
}

Test(pattern, chunks_are_even)
{
    for (int world = 1; world <= MOST; world++) {
        size_t least = SIZE_MAX, most = 0;
        for (int r = 0; r < world; r++) {
            const size_t n = pattern_chunk(1 << 16, world, r).count;
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
        cr_assert_leq(most - least, 16);
    }
}

Test(pattern, no_two_ranks_store_to_one_replica_in_a_step)
{
    for (int world = 1; world <= MOST; world++)
        for (int step = 0; step < world; step++) {
            uint64_t targets = 0;
            for (int r = 0; r < world; r++)
                targets |= UINT64_C(1) << pattern_target(world, r, step);
            cr_assert_eq(targets, ~UINT64_C(0) >> (64 - world));
            cr_assert_eq(pattern_target(world, world - 1, 0), world - 1);
        }
}

/* ---- the tree ------------------------------------------------------------------------------- */

static float sum_of(const float *v, int n)
{
    if (n == 1)
        return v[0];
    int h = 1;
    for (int p = 1; p < n; p *= 2)
        h = p;
    return sum_of(v, h) + sum_of(v + h, n - h);
}

static float float_of(const float *v, int n, tarn_reduction reduction)
{
    if (reduction == TARN_SUM)
        return sum_of(v, n);
    if (reduction == TARN_MEAN)
        return sum_of(v, n) * (1.0f / (float)n);
    float best = v[0];
    for (int i = 0; i < n; i++) {
        if (isnan(v[i]))
            return v[i];
        best = reduction == TARN_MAX ? fmaxf(best, v[i]) : fminf(best, v[i]);
    }
    return best;
}

static int32_t int_of(const int32_t *v, int n, tarn_reduction reduction)
{
    uint32_t sum = 0;
    int32_t best = v[0];
    for (int i = 0; i < n; i++) {
        sum += (uint32_t)v[i];
        if (reduction == TARN_MAX ? v[i] > best : v[i] < best)
            best = v[i];
    }
    int32_t wrapped;
    memcpy(&wrapped, &sum, 4);
    return reduction == TARN_SUM ? wrapped : best;
}

/* Signs and magnitudes so mixed that another order gives other bits. */
static float any_float(void)
{
    return ldexpf((float)(rand() % 16777216 - 8388608), rand() % 8 - 20);
}

static int32_t any_int(void)
{
    const uint32_t bits = (uint32_t)rand() * 2654435761u;
    int32_t value;
    memcpy(&value, &bits, 4);
    return value;
}

struct data {
    size_t count;
    void *in[MOST], *out[MOST], *part;
};

static void fill(struct data *d, tarn_dtype dtype, int world, size_t count)
{
    d->count = count;
    d->part = malloc(4 * count + 1);
    for (int r = 0; r < world; r++) {
        d->in[r] = malloc(4 * count + 1);
        d->out[r] = malloc(4 * count + 1);
        memset(d->out[r], 0x5a, 4 * count);
        for (size_t i = 0; i < count; i++) {
            if (dtype == TARN_I32)
                ((int32_t *)d->in[r])[i] = any_int();
            else
                ((float *)d->in[r])[i] = any_float();
        }
    }
}

static void drop(struct data *d, int world)
{
    free(d->part);
    for (int r = 0; r < world; r++) {
        free(d->in[r]);
        free(d->out[r]);
    }
}

static uint32_t expected(const struct data *d, tarn_dtype dtype, tarn_reduction reduction,
                         int world, size_t i)
{
    float f[MOST] = { 0 };
    int32_t n[MOST] = { 0 };
    uint32_t bits;
    for (int r = 0; r < world; r++) {
        memcpy(&f[r], (const char *)d->in[r] + 4 * i, 4);
        memcpy(&n[r], (const char *)d->in[r] + 4 * i, 4);
    }
    const float real = dtype == TARN_F32 ? float_of(f, world, reduction) : 0;
    const int32_t whole = dtype == TARN_I32 ? int_of(n, world, reduction) : 0;
    memcpy(&bits, dtype == TARN_F32 ? (const void *)&real : (const void *)&whole, 4);
    return bits;
}

static uint32_t word(const void *memory, size_t i)
{
    uint32_t bits;
    memcpy(&bits, (const char *)memory + 4 * i, 4);
    return bits;
}

static void check(tarn_dtype dtype, tarn_reduction reduction, int world, size_t first, size_t count)
{
    struct data d;
    fill(&d, dtype, world, first + count + 5);
    pattern_reduce(dtype, reduction, (const void *const *)d.in, d.out, world, world / 2, first,
                   count);
    pattern_reduce_to(dtype, reduction, (const void *const *)d.in, world, first, count, d.part);
    for (size_t i = 0; i < d.count; i++) {
        const bool mine = i >= first && i < first + count;
        const uint32_t want = mine ? expected(&d, dtype, reduction, world, i) : 0x5a5a5a5a;
        for (int r = 0; r < world; r++)
            cr_assert_eq(word(d.out[r], i), want, "world %d, reduction %d, element %zu", world,
                         (int)reduction, i);
        if (mine)
            cr_assert_eq(word(d.part, i - first), want);
    }
    drop(&d, world);
}

Test(pattern, reductions_follow_the_tree_bit_for_bit)
{
    srand(1);
    for (int world = 1; world <= MOST; world += world < 18 ? 1 : 23)
        for (int reduction = TARN_SUM; reduction <= TARN_MIN; reduction++) {
            check(TARN_F32, (tarn_reduction)reduction, world, 3, 103);
            if (reduction != TARN_MEAN)
                check(TARN_I32, (tarn_reduction)reduction, world, 5, 101);
        }
    check(TARN_F32, TARN_SUM, 64, 0, 40);
    check(TARN_F32, TARN_SUM, 3, 1, 0);
    check(TARN_F32, TARN_SUM, 5, 16, 4096 * 2 + 3);
    check(TARN_F32, TARN_MEAN, 7, 0, 4096);
}

/* Else the test above would prove nothing. */
Test(pattern, another_order_gives_other_bits)
{
    srand(2);
    int differ = 0;
    for (int i = 0; i < 100; i++) {
        float v[5], line = 0;
        for (int k = 0; k < 5; k++) {
            v[k] = any_float();
            line += v[k];
        }
        differ += line != sum_of(v, 5);
    }
    cr_assert_gt(differ, 10);
}

Test(pattern, works_in_place)
{
    srand(3);
    for (int world = 1; world <= 9; world++) {
        struct data d;
        fill(&d, TARN_F32, world, 5000);
        uint32_t *want = malloc(4 * d.count);
        for (size_t i = 0; i < d.count; i++)
            want[i] = expected(&d, TARN_F32, TARN_SUM, world, i);
        for (int r = 0; r < world; r++) {
            const struct chunk c = pattern_chunk(d.count, world, r);
            pattern_reduce(TARN_F32, TARN_SUM, (const void *const *)d.in, d.in, world, r, c.first,
                           c.count);
        }
        for (int r = 0; r < world; r++)
            cr_assert_eq(memcmp(d.in[r], want, 4 * d.count), 0, "world %d", world);
        free(want);
        drop(&d, world);
    }
}

Test(pattern, nan_wins_on_any_rank)
{
    for (int world = 1; world <= 9; world++)
        for (int rank = 0; rank < world; rank++) {
            struct data d;
            fill(&d, TARN_F32, world, 21);
            for (size_t i = 0; i < d.count; i += 2)
                ((float *)d.in[rank])[i] = NAN;
            for (int reduction = TARN_SUM; reduction <= TARN_MIN; reduction++) {
                pattern_reduce(TARN_F32, (tarn_reduction)reduction, (const void *const *)d.in,
                               d.out, world, 0, 0, d.count);
                for (size_t i = 0; i < d.count; i++)
                    cr_assert_eq(!!isnan(((float *)d.out[world - 1])[i]), i % 2 == 0);
            }
            drop(&d, world);
        }
}

/* ---- 64 bits -------------------------------------------------------------------------------- */

static double double_sum(const double *v, int n)
{
    if (n == 1)
        return v[0];
    int h = 1;
    for (int p = 1; p < n; p *= 2)
        h = p;
    return double_sum(v, h) + double_sum(v + h, n - h);
}

static double double_of(const double *v, int n, tarn_reduction reduction)
{
    if (reduction == TARN_SUM || reduction == TARN_MEAN)
        return double_sum(v, n) * (reduction == TARN_MEAN ? 1.0 / n : 1);
    double best = v[0];
    for (int i = 1; i < n; i++)
        best = reduction == TARN_MAX ? fmax(best, v[i]) : fmin(best, v[i]);
    return best;
}

static int64_t long_of(const int64_t *v, int n, tarn_reduction reduction)
{
    uint64_t sum = 0;
    int64_t best = v[0];
    for (int i = 0; i < n; i++) {
        sum += (uint64_t)v[i];
        if (reduction == TARN_MAX ? v[i] > best : v[i] < best)
            best = v[i];
    }
    return reduction == TARN_SUM ? (int64_t)sum : best;
}

enum { WIDE = 2500 }; /* more than a block */

/* Doubles that no float is, and integers that no int32 is, in all bits of which another order or type would show. */
static void check_wide(tarn_dtype dtype, tarn_reduction reduction, int world, size_t first)
{
    static double in[9][WIDE], out[9][WIDE], part[WIDE];
    const void *from[9];
    void *to[9];
    for (int r = 0; r < world; r++) {
        from[r] = in[r];
        to[r] = out[r];
        for (int i = 0; i < WIDE; i++) {
            const uint64_t bits = (uint64_t)any_int() << 32 ^ (uint32_t)any_int();
            in[r][i] = (double)any_float() + ldexp((double)any_float(), -30);
            if (dtype == TARN_I64)
                memcpy(&in[r][i], &bits, sizeof bits);
        }
    }
    pattern_reduce(dtype, reduction, from, to, world, world / 2, first, WIDE - first);
    pattern_reduce_to(dtype, reduction, from, world, first, WIDE - first, part);
    for (size_t i = first; i < WIDE; i++) {
        double d[9], want;
        int64_t l[9];
        for (int r = 0; r < world; r++)
            memcpy(&l[r], &in[r][i], sizeof l[r]), d[r] = in[r][i];
        const int64_t whole = long_of(l, world, reduction);
        want = double_of(d, world, reduction);
        if (dtype == TARN_I64)
            memcpy(&want, &whole, sizeof want);
        for (int r = 0; r < world; r++)
            cr_assert_eq(memcmp(&out[r][i], &want, sizeof want), 0, "world %d, %d, element %zu",
                         world, (int)reduction, i);
        cr_assert_eq(memcmp(&part[i - first], &want, sizeof want), 0);
    }
}

Test(pattern, types_of_64_bits)
{
    for (int world = 1; world <= 9; world++)
        for (int reduction = TARN_SUM; reduction <= TARN_MIN; reduction++) {
            check_wide(TARN_F64, (tarn_reduction)reduction, world, 16);
            if (reduction != TARN_MEAN)
                check_wide(TARN_I64, (tarn_reduction)reduction, world, 0);
        }
}
