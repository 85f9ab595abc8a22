/* SPDX-License-Identifier: Apache-2.0 */
/* Routines: what no nest of loops can say, since which elements meet depends on values. Each does the pieces
 * `from` to `to` of its work, which know nothing of each other; the compiler says how many there are, and
 * hands them out (core/compile/2_nests/routine.c). Part of the kernels that call one, once a program.
 * A line is what lies along one axis: element i of line l begins at (l / inner * length + i) * inner + l % inner. */
#define TARN_ROUTINE TARN_INLINE
#define TARN_LINE(line, length, inner) ((line) / (inner) * (length) * (inner) + (line) % (inner))

#define TARN_MERGE 64
#define TARN_KEY(i) keys[start + sorted[start + (i) * inner] * inner]
/* Two functions, for keys of a type. The first makes the positions of each run of so many elements of a line, by
 * key, equal ones in order: insertion. The second merges neighbouring runs, which are sorted, 64 positions of the
 * result at a time. Where they begin in both runs a binary search tells, so that all pieces of a merge go on at
 * once. */
#define TARN_SORT_FUNCTIONS(sort_runs, merge_runs, type) \
    TARN_ROUTINE void sort_runs(long from, long to, __global int *out, __global const type *keys, \
                                long length, long inner, long run) \
    { \
        const long runs = (length + run - 1) / run; \
        for (long piece = from; piece < to; ++piece) { \
            const long start = TARN_LINE(piece / runs, length, inner); \
            const long first = piece % runs * run, end = min(first + run, length); \
            for (long i = first; i < end; ++i) { \
                const type key = keys[start + i * inner]; \
                long at = i; \
                for (; at > first && keys[start + out[start + (at - 1) * inner] * inner] > key; --at) \
                    out[start + at * inner] = out[start + (at - 1) * inner]; \
                out[start + at * inner] = (int)i; \
            } \
        } \
    } \
    TARN_ROUTINE void merge_runs(long from, long to, __global int *out, __global const type *keys, \
                                 __global const int *sorted, long length, long inner, long run) \
    { \
        const long pieces = (length + TARN_MERGE - 1) / TARN_MERGE; \
        for (long piece = from; piece < to; ++piece) { \
            const long start = TARN_LINE(piece / pieces, length, inner); \
            const long first = piece % pieces * TARN_MERGE; \
            const long a = first / (2 * run) * 2 * run, b = min(a + run, length); \
            const long a_count = b - a, b_count = min(b + run, length) - b, skipped = first - a; \
            long low = max(0L, skipped - b_count), high = min(skipped, a_count); \
            while (low < high) { \
                const long mid = (low + high) / 2; \
                if (TARN_KEY(a + mid) <= TARN_KEY(b + skipped - 1 - mid)) \
                    low = mid + 1; \
                else \
                    high = mid; \
            } \
            long i = low, j = skipped - low; \
            for (long k = first; k < min(first + TARN_MERGE, b + b_count); ++k) { \
                const bool left = j >= b_count || (i < a_count && TARN_KEY(a + i) <= TARN_KEY(b + j)); \
                out[start + k * inner] = sorted[start + (left ? a + i : b + j) * inner]; \
                i += left; \
                j += !left; \
            } \
        } \
    }
TARN_SORT_FUNCTIONS(tarn_sort_runs, tarn_merge_runs, int)

/* The positions of lines by key, equal ones in order, digit by digit of 8 bits, the last first; a digit that all keys of a line
 * have is none. `own` has room for a line. A piece is a line. */
TARN_ROUTINE void tarn_sort_digits(long from, long to, __global int *out, __global float *own,
                                   __global const int *keys, long length, long inner)
{
    int next[4][256];
    for (long line = from; line < to; ++line) {
        const long start = TARN_LINE(line, length, inner);
        __global int *now = out + start, *then = (__global int *)own;
        long apart = inner, then_apart = 1;
        for (int d = 0; d < 4; ++d)
            for (int k = 0; k < 256; ++k)
                next[d][k] = 0;
        for (long i = 0; i < length; ++i) {
            const uint key = as_uint(keys[start + i * inner]) ^ 0x80000000u;
            for (int d = 0; d < 4; ++d)
                ++next[d][key >> 8 * d & 255];
            now[i * apart] = (int)i;
        }
        for (int d = 0; d < 4; ++d) {
            const uint any = (as_uint(keys[start]) ^ 0x80000000u) >> 8 * d & 255;
            if (next[d][any] == length)
                continue;
            for (int k = 0, before = 0; k < 256; ++k) {
                const int count = next[d][k];
                next[d][k] = before;
                before += count;
            }
            for (long i = 0; i < length; ++i) {
                const int at = now[i * apart];
                const uint key = as_uint(keys[start + at * inner]) ^ 0x80000000u;
                then[next[d][key >> 8 * d & 255]++ * then_apart] = at;
            }
            __global int *const sorted = then;
            const long sorted_apart = then_apart;
            then = now;
            then_apart = apart;
            now = sorted;
            apart = sorted_apart;
        }
        for (long i = 0; now != out + start && i < length; ++i)
            out[start + i * inner] = now[i * apart];
    }
}

/* Positions of lines by the digit of a key that begins at bit `shift`, one of `digits` values, equal ones in order. Keys name
 * `rows` rows; all below are one value before them, all above one behind. What the passes make has the positions of all
 * lines, and then the counters of each chunk: first how many positions a digit has there, then where the first of them goes. */
#define TARN_DIGITS 256
#define TARN_DIGIT(key) ((min(max((long)(key), -1L), rows) + 1) >> shift & (digits - 1))
#define TARN_COUNT_FUNCTION(name, before, position) \
    TARN_ROUTINE void name(long from, long to, __global int *out, __global const int *keys, before \
                           long lines, long length, long inner, long chunk, long digits, long shift, \
                           long rows) \
    { \
        const long chunks = (length + chunk - 1) / chunk; \
        for (long piece = from; piece < to; ++piece) { \
            const long start = TARN_LINE(piece / chunks, length, inner); \
            const long first = piece % chunks * chunk; \
            __global int *count = out + lines * length + piece * digits; \
            for (long d = 0; d < digits; ++d) \
                count[d] = 0; \
            for (long i = first; i < min(first + chunk, length); ++i) { \
                const int at = position; \
                out[start + i * inner] = at; \
                ++count[TARN_DIGIT(keys[start + at * inner])]; \
            } \
        } \
    }
#define TARN_SORTED_BEFORE __global const int *sorted,
TARN_COUNT_FUNCTION(tarn_count_first_digits, , (int)i)
TARN_COUNT_FUNCTION(tarn_count_digits, TARN_SORTED_BEFORE, sorted[start + i * inner])

/* A piece is a line. */
TARN_ROUTINE void tarn_add_counts(long from, long to, __global int *out, __global const int *counted,
                                  long lines, long length, long inner, long chunk, long digits)
{
    const long chunks = (length + chunk - 1) / chunk;
    for (long line = from; line < to; ++line) {
        const long start = TARN_LINE(line, length, inner);
        const long counts = lines * length + line * chunks * digits;
        int before = 0;
        for (long i = 0; i < length; ++i)
            out[start + i * inner] = counted[start + i * inner];
        for (long d = 0; d < digits; ++d)
            for (long c = 0; c < chunks; ++c) {
                const long at = counts + c * digits + d;
                out[at] = before;
                before += counted[at];
            }
    }
}

TARN_ROUTINE void tarn_place_positions(long from, long to, __global int *out,
                                       __global const int *keys, __global const int *counted,
                                       long lines, long length, long inner, long chunk, long digits,
                                       long shift, long rows)
{
    const long chunks = (length + chunk - 1) / chunk;
    int next[TARN_DIGITS];
    for (long piece = from; piece < to; ++piece) {
        const long start = TARN_LINE(piece / chunks, length, inner);
        const long first = piece % chunks * chunk;
        for (long d = 0; d < digits; ++d)
            next[d] = counted[lines * length + piece * digits + d];
        for (long i = first; i < min(first + chunk, length); ++i) {
            const int at = counted[start + i * inner];
            const long digit = TARN_DIGIT(keys[start + at * inner]);
            out[start + next[digit]++ * inner] = at;
        }
    }
}

/* The positions of the `count` least keys of each line, in order, equal ones as they lie; a piece is a line. */
#define TARN_LEAST_MOST 32
TARN_ROUTINE void tarn_least(long from, long to, __global int *out, __global const int *keys,
                             long length, long inner, long count)
{
    int least[TARN_LEAST_MOST], at[TARN_LEAST_MOST];
    for (long line = from; line < to; ++line) {
        const long start = TARN_LINE(line, length, inner);
        __global int *found = out + TARN_LINE(line, count, inner);
        long there = 0;
        for (long i = 0; i < length; ++i) {
            const int key = keys[start + i * inner];
            if (there == count && key >= least[count - 1])
                continue;
            there += there < count;
            long j = there - 1;
            for (; j > 0 && least[j - 1] > key; --j) {
                least[j] = least[j - 1];
                at[j] = at[j - 1];
            }
            least[j] = key;
            at[j] = (int)i;
        }
        for (long j = 0; j < count; ++j)
            found[j * inner] = at[j];
    }
}

/* How many elements of a sorted line have keys below `key`. */
TARN_ROUTINE long tarn_count_below(__global const int *keys, __global const int *sorted, long start,
                                   long length, long inner, long key)
{
    long low = 0, high = length;
    while (low < high) {
        const long mid = (low + high) / 2;
        if (TARN_KEY(mid) < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Behind the last element of a sorted line whose key is `row`, of which `first` is the first. */
TARN_ROUTINE long tarn_row_end(__global const int *keys, __global const int *sorted, long start,
                               long length, long inner, long row, long first)
{
    while (first < length && TARN_KEY(first) == row)
        ++first;
    return first;
}
