/* SPDX-License-Identifier: Apache-2.0 */
/* Routines of sums, extremes and rows by index, and along lines; after kernels/sorting.cl. */

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
