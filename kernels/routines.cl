/* SPDX-License-Identifier: Apache-2.0 */
/* Routines: what no nest of loops can say, since which elements meet depends on values. Each does the pieces
 * `from` to `to` of its work, which know nothing of each other; the compiler says how many there are, and
 * hands them out (core/compile/2_nests/routine.c). Part of the kernels that call one, once a program.
 * A line is what lies along one axis: element i of line l begins at (l / inner * length + i) * inner + l % inner. */
#define TARN_ROUTINE TARN_INLINE
#define TARN_LINE(line, length, inner) ((line) / (inner) * (length) * (inner) + (line) % (inner))

/* ---- sorting -------------------------------------------------------------------------------- */

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

/* ---- sums in the order of sums -------------------------------------------------------------- */

/* Sums of chunks of 128 terms, of 128 such sums and so on: what is at hand of each level, up to `top`, the highest that
 * has anything. A term at position `now` comes after one at `last`; what lies between is 0, and changes no bit of a sum. */
#define TARN_SUM_LEVELS 5
#define TARN_SUM_ALL(v, count) for (int v = 0; v < (count); ++v)
#define TARN_SUM_CARRY(level, top, last, now, count) \
    for (int l = 1; l < TARN_SUM_LEVELS && (last) >> 7 * l != (now) >> 7 * l; ++l) { \
        TARN_SUM_ALL(v, count) \
        { \
            level[l][v] = l > top ? level[l - 1][v] : level[l][v] + level[l - 1][v]; \
            level[l - 1][v] = 0; \
        } \
        top = max(top, l); \
    }

#define TARN_TREE_LEVELS 16
/* The sum of a segment: of the rows of a source whose positions are sorted[from] to sorted[to - 1], of `count` values side
 * by side. Each shard, so many positions, is a sum of its own; these are added as a tree over all shards, of which those
 * without terms are 0. tree[l] is what waits for its right neighbour on level l. */
#define TARN_SEGMENT_FUNCTION(name, element, type, count, lanes, load) \
    TARN_ROUTINE void name(type *sum, __global const element *source, __global const int *sorted, \
                           long start, long inner, long from, long to, long pitch, long shard) \
    { \
        type tree[TARN_TREE_LEVELS][count], level[TARN_SUM_LEVELS][count]; \
        int waits = 0; \
        TARN_SUM_ALL(v, count) sum[v] = 0; \
        for (long j = from, before = -1; j < to;) { \
            long last = sorted[start + j * inner]; \
            const long now = last / shard; \
            for (int l = 0; before >= 0; ++l) { \
                if (before >> (l + 1) == now >> (l + 1)) { \
                    TARN_SUM_ALL(v, count) tree[l][v] = sum[v]; \
                    waits |= 1 << l; \
                    break; \
                } \
                if (waits >> l & 1) \
                    TARN_SUM_ALL(v, count) sum[v] = tree[l][v] + sum[v]; \
                waits &= ~(1 << l); \
            } \
            TARN_SUM_ALL(v, count) level[0][v] = 0; \
            const long end = (now + 1) * shard, zero = now * shard; \
            int top = 0; \
            for (; j < to; ++j) { \
                const long at = sorted[start + j * inner]; \
                if (at >= end) \
                    break; \
                TARN_SUM_CARRY(level, top, last - zero, at - zero, count) \
                TARN_SUM_ALL(v, count) level[0][v] += load(source + at * pitch + (lanes) * v); \
                last = at; \
            } \
            for (int l = 1; l <= top; ++l) \
                TARN_SUM_ALL(v, count) level[l][v] += level[l - 1][v]; \
            TARN_SUM_ALL(v, count) sum[v] = level[top][v]; \
            before = now; \
        } \
        for (int l = 0; waits >> l != 0; ++l) \
            if (waits >> l & 1) \
                TARN_SUM_ALL(v, count) sum[v] = tree[l][v] + sum[v]; \
    }
#define TARN_LOAD_ONE(from) (*(from))
#define TARN_LOAD_LANES(from) TARN_LOAD(__global, float, from)
#define TARN_LOAD_FOUR(from) ((float4)((from)[0], (from)[1], (from)[2], (from)[3]))
TARN_SEGMENT_FUNCTION(tarn_segment, float, float, 1, 1, TARN_LOAD_ONE)
TARN_SEGMENT_FUNCTION(tarn_segment_four, float, float4, 1, 4, TARN_LOAD_FOUR)
TARN_SEGMENT_FUNCTION(tarn_segment_lanes, float, float16, 1, 16, TARN_LOAD_LANES)
TARN_SEGMENT_FUNCTION(tarn_segment_64, float, float16, 4, 16, TARN_LOAD_LANES)

/* So many elements of 0. */
TARN_ROUTINE void tarn_clear(__global float *to, long count)
{
    long i = 0;
    for (; i + 16 <= count; i += 16)
        TARN_STORE(__global, float, (float16)(0), to + i);
    for (; i < count; ++i)
        to[i] = 0;
}

/* So many rows of 0, `inner` of which lie between one and the next. */
TARN_ROUTINE void tarn_clear_rows(__global float *to, long rows, long width, long inner)
{
    for (long i = 0; inner > 1 && i < rows; ++i)
        tarn_clear(to + i * inner * width, width);
    if (inner == 1)
        tarn_clear(to, rows * width);
}

/* Rows of a table, each the sum of the source's rows that name it; `width` elements a row, of which a line has
 * `rows`. A piece is a row. Rows that none names, most of a large table, are cleared up to the next one that is named. */
TARN_ROUTINE void tarn_add_rows(long from, long to, __global float *out, __global const float *source,
                                __global const int *keys, __global const int *sorted, long length,
                                long rows, long width, long inner, long shard)
{
    const long pitch = inner * width;
    long end = 0, row = from % rows, line = from / rows;
    for (long piece = from; piece < to;) {
        const long start = TARN_LINE(line, length, inner);
        const bool goes_on = piece > from && row > 0;
        const long first = goes_on ? end : tarn_count_below(keys, sorted, start, length, inner, row);
        const long named = first < length ? min((long)TARN_KEY(first), rows) : rows;
        const long skipped = min(named - row, to - piece);
        __global float *to_row = out + (TARN_LINE(line, rows, inner) + row * inner) * width;
        tarn_clear_rows(to_row, skipped, width, inner);
        piece += skipped;
        row += skipped;
        if (row == rows) {
            row = 0;
            ++line;
            continue;
        }
        if (piece == to)
            break;
        to_row += skipped * pitch;
        end = tarn_row_end(keys, sorted, start, length, inner, row, first);
        __global const float *terms = source + start * width;
        long c = 0;
        for (; c + 64 <= width; c += 64) {
            float16 sum[4];
            tarn_segment_64(sum, terms + c, sorted, start, inner, first, end, pitch, shard);
            for (int v = 0; v < 4; ++v)
                TARN_STORE(__global, float, sum[v], to_row + c + 16 * v);
        }
        for (; c + 16 <= width; c += 16) {
            float16 sum;
            tarn_segment_lanes(&sum, terms + c, sorted, start, inner, first, end, pitch, shard);
            TARN_STORE(__global, float, sum, to_row + c);
        }
        for (; c + 4 <= width; c += 4) {
            float4 four;
            tarn_segment_four(&four, terms + c, sorted, start, inner, first, end, pitch, shard);
            to_row[c] = four.x;
            to_row[c + 1] = four.y;
            to_row[c + 2] = four.z;
            to_row[c + 3] = four.w;
        }
        for (; c < width; ++c) {
            float one;
            tarn_segment(&one, terms + c, sorted, start, inner, first, end, pitch, shard);
            to_row[c] = one;
        }
        ++piece;
        if (++row == rows) {
            row = 0;
            ++line;
        }
    }
}

/* The same where a piece is an element: for work-items. */
#define TARN_ADD_ELEMENTS_FUNCTION(name, segment, type) \
    TARN_ROUTINE void name(long from, long to, __global type *out, __global const type *source, \
                           __global const int *keys, __global const int *sorted, long length, \
                           long rows, long width, long inner, long shard) \
    { \
        for (long piece = from; piece < to; ++piece) { \
            const long c = piece % width, row = piece / width % rows, line = piece / width / rows; \
            const long start = TARN_LINE(line, length, inner); \
            const long first = tarn_count_below(keys, sorted, start, length, inner, row); \
            const long end = tarn_row_end(keys, sorted, start, length, inner, row, first); \
            type sum; \
            segment(&sum, source + start * width + c, sorted, start, inner, first, end, inner * width, \
                    shard); \
            out[(TARN_LINE(line, rows, inner) + row * inner) * width + c] = sum; \
        } \
    }
TARN_ADD_ELEMENTS_FUNCTION(tarn_add_elements, tarn_segment, float)

/* The same sums of lines of at most 128 terms, which are one chunk of the order of sums: each line of the result is
 * cleared, and gets its terms one after the other. A piece is a line. */
TARN_ROUTINE void tarn_add_lines(long from, long to, __global float *out, __global const float *source,
                                 __global const int *keys, long length, long rows, long width,
                                 long inner)
{
    const long pitch = inner * width;
    for (long line = from; line < to; ++line) {
        const long start = TARN_LINE(line, length, inner);
        __global float *to_line = out + TARN_LINE(line, rows, inner) * width;
        tarn_clear_rows(to_line, rows, width, inner);
        for (long j = 0; j < length; ++j) {
            const long row = keys[start + j * inner];
            if (row < 0 || row >= rows)
                continue;
            __global const float *terms = source + (start + j * inner) * width;
            __global float *to_row = to_line + row * pitch;
            long c = 0;
            for (; c + 16 <= width; c += 16)
                TARN_STORE(__global, float,
                           TARN_LOAD(__global, float, to_row + c) + TARN_LOAD(__global, float, terms + c),
                           to_row + c);
            for (; c < width; ++c)
                to_row[c] += terms[c];
        }
    }
}

/* The largest of the elements that name a row, -INFINITY where none does. A piece is an element: for work-items. */
#define TARN_MOST_FUNCTION(name, type) \
    TARN_ROUTINE void name(long from, long to, __global type *out, __global const type *source, \
                           __global const int *keys, __global const int *sorted, long length, \
                           long rows, long width, long inner) \
    { \
        for (long piece = from; piece < to; ++piece) { \
            const long c = piece % width, row = piece / width % rows, line = piece / width / rows; \
            const long start = TARN_LINE(line, length, inner); \
            const long first = tarn_count_below(keys, sorted, start, length, inner, row); \
            const long end = tarn_row_end(keys, sorted, start, length, inner, row, first); \
            type most = -INFINITY; \
            for (long j = first; j < end; ++j) { \
                const long at = start + sorted[start + j * inner] * inner; \
                most = TARN_MAX_1(most, source[at * width + c]); \
            } \
            out[(TARN_LINE(line, rows, inner) + row * inner) * width + c] = most; \
        } \
    }
TARN_MOST_FUNCTION(tarn_most, float)

/* The same where a piece is a row: for vectors. */
#define TARN_MOST_LANES(count, c) \
    { \
        float16 most[count]; \
        TARN_SUM_ALL(v, count) most[v] = -INFINITY; \
        for (long j = first; j < end; ++j) { \
            __global const float *term = terms + sorted[start + j * inner] * pitch + (c); \
            TARN_SUM_ALL(v, count) \
            most[v] = TARN_MAX_16(most[v], TARN_LOAD_LANES(term + 16 * v)); \
        } \
        TARN_SUM_ALL(v, count) TARN_STORE(__global, float, most[v], to_row + (c) + 16 * v); \
    }
TARN_ROUTINE void tarn_most_rows(long from, long to, __global float *out,
                                 __global const float *source, __global const int *keys,
                                 __global const int *sorted, long length, long rows, long width,
                                 long inner)
{
    const long pitch = inner * width;
    long end = 0;
    for (long piece = from; piece < to; ++piece) {
        const long row = piece % rows, line = piece / rows;
        const long start = TARN_LINE(line, length, inner);
        const long first = piece > from && row > 0
                               ? end
                               : tarn_count_below(keys, sorted, start, length, inner, row);
        __global float *to_row = out + (TARN_LINE(line, rows, inner) + row * inner) * width;
        __global const float *terms = source + start * width;
        end = tarn_row_end(keys, sorted, start, length, inner, row, first);
        long c = 0;
        for (; c + 64 <= width; c += 64)
            TARN_MOST_LANES(4, c)
        for (; c + 16 <= width; c += 16)
            TARN_MOST_LANES(1, c)
        for (; c < width; ++c) {
            float most = -INFINITY;
            for (long j = first; j < end; ++j)
                most = TARN_MAX_1(most, terms[sorted[start + j * inner] * pitch + c]);
            to_row[c] = most;
        }
    }
}

/* ---- along lines ---------------------------------------------------------------------------- */

/* Rows of `width` elements of lines of `length` by index; lines of the result have `picks`. A row has
 * `parts` pieces; piece i copies its elements i, i + parts, ... */
#define TARN_PICK_FUNCTION(type) \
    TARN_ROUTINE void tarn_pick_##type(long from, long to, __global type *out, \
                                       __global const type *x, __global const int *index, \
                                       long length, long picks, long inner, long width, long parts) \
    { \
        for (long piece = from; piece < to; ++piece) { \
            const long at = piece / parts, line = at / (picks * inner); \
            __global const type *row = x + ((line * length + index[at]) * inner + at % inner) * width; \
            for (long c = piece % parts; c < width; c += parts) \
                out[at * width + c] = row[c]; \
        } \
    }
TARN_PICK_FUNCTION(float)
TARN_PICK_FUNCTION(int)
TARN_PICK_FUNCTION(uchar)

/* The sum of all elements up to each, or, backwards, from each on; a piece is a line. */
#define TARN_CUMSUM_FUNCTION(type) \
    TARN_ROUTINE void tarn_cumsum_##type(long from, long to, __global type *out, \
                                         __global const type *x, long length, long inner, \
                                         long backwards) \
    { \
        for (long line = from; line < to; ++line) { \
            const long start = TARN_LINE(line, length, inner); \
            type level[TARN_SUM_LEVELS][1]; \
            int top = 0; \
            level[0][0] = 0; \
            for (long i = 0; i < length; ++i) { \
                const long at = start + (backwards ? length - 1 - i : i) * inner; \
                TARN_SUM_CARRY(level, top, max(i - 1, 0L), i, 1) \
                type sum = level[0][0] += x[at]; \
                for (int l = 1; l <= top; ++l) \
                    sum = level[l][0] + sum; \
                out[at] = sum; \
            } \
        } \
    }
TARN_CUMSUM_FUNCTION(float)

/* The sums of 16 lines at a time, `apart` elements from line to line: squares of 16 by 16 elements are turned over where
 * lines lie along memory, and what is left of them goes element by element. */
TARN_ROUTINE void tarn_cumsum_square(__global float *out, __global const float *x, long length,
                                     long inner, long apart, bool backwards)
{
    float16 level[TARN_SUM_LEVELS][1], square[16];
    float part[16];
    int top = 0;
    level[0][0] = 0;
    for (long i = 0; i < length; i += 16) {
        const long count = min(16L, length - i), low = backwards ? length - i - count : i;
        const bool whole = apart > 1 && count == 16;
        for (int l = 0; l < 16 && whole; ++l)
            square[l] = TARN_LOAD(__global, float, x + low + l * apart);
        if (whole) {
            TARN_TURN_16(float, square)
        }
        for (long k = 0; k < count; ++k) {
            const long at = backwards ? count - 1 - k : k;
            float16 term = square[at];
            if (apart == 1) {
                term = TARN_LOAD(__global, float, x + (low + at) * inner);
            } else if (!whole) {
                for (int l = 0; l < 16; ++l)
                    part[l] = x[low + at + l * apart];
                term = vload16(0, part);
            }
            TARN_SUM_CARRY(level, top, max(i + k - 1, 0L), i + k, 1)
            float16 sum = level[0][0] += term;
            for (int l = 1; l <= top; ++l)
                sum = level[l][0] + sum;
            square[at] = sum;
            if (apart == 1) {
                TARN_STORE(__global, float, sum, out + (low + at) * inner);
            } else if (!whole) {
                vstore16(sum, 0, part);
                for (int l = 0; l < 16; ++l)
                    out[low + at + l * apart] = part[l];
            }
        }
        if (whole) {
            TARN_TURN_16(float, square)
            for (int l = 0; l < 16; ++l)
                TARN_STORE(__global, float, square[l], out + low + l * apart);
        }
    }
}

/* The same as tarn_cumsum_float, for vectors. */
TARN_ROUTINE void tarn_cumsum_lanes(long from, long to, __global float *out,
                                    __global const float *x, long length, long inner,
                                    long backwards)
{
    for (long line = from; line < to;) {
        const long start = TARN_LINE(line, length, inner);
        if (line + 16 <= to && (inner == 1 || line % inner + 16 <= inner)) {
            tarn_cumsum_square(out + start, x + start, length, inner, inner == 1 ? length : 1,
                               backwards != 0);
            line += 16;
        } else {
            tarn_cumsum_float(line, line + 1, out, x, length, inner, backwards);
            ++line;
        }
    }
}

/* Of integers, which wrap: as unsigned ones. */
#define TARN_WRAPPING_CUMSUM_FUNCTION(type) \
    TARN_ROUTINE void tarn_cumsum_##type(long from, long to, __global type *out, \
                                         __global const type *x, long length, long inner, \
                                         long backwards) \
    { \
        for (long line = from; line < to; ++line) { \
            const long start = TARN_LINE(line, length, inner); \
            u##type sum = 0; \
            for (long i = 0; i < length; ++i) { \
                const long at = start + (backwards ? length - 1 - i : i) * inner; \
                sum += (u##type)x[at]; \
                out[at] = (type)sum; \
            } \
        } \
    }
TARN_WRAPPING_CUMSUM_FUNCTION(int)
