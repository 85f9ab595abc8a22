/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products on CPUs. A group of one work-item computes a block of c from panels of a and b that
 * it copied, in tiles of ROWS x COLS that live in registers. Every element of c is a sum in the order
 * of docs/numerics.md, whatever the blocks are: the bits of a nest. A chunk of CHUNK terms is one chain
 * of fma, and chunks are added in order. CHUNK of them are a sum of their own, made in `low` and then
 * added to others, and so on.
 *
 * Before this text stand WIDTH (of a vector, a multiple of 4), ROWS, VECTORS (of a tile's row), DEPTH
 * (most steps of k in a panel, a multiple of CHUNK), BLOCK_COLS (most columns of a block; a multiple of
 * COLS), CHUNK, A_ACROSS (whether a is transposed: its rows lie across k), and A_WORDS and B_WORDS: 0 where an operand
 * is of float32, 1 of float16, 2 of bfloat16; where one is of a half type, prelude.cl and half.cl, too. */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define COLS (VECTORS * WIDTH)
#define UNROLL _Pragma("unroll")
typedef CAT(float, WIDTH) vec;

/* Vectors at any address. PoCL's vload16 and vstore16 go by quarters. */
#ifdef __clang__
#define ANY(type, n) typedef type##n any_##type##n __attribute__((aligned(sizeof(type))));
ANY(float, 4)
ANY(float, 8)
ANY(float, 16)
ANY(ushort, 4)
ANY(ushort, 8)
ANY(ushort, 16)
#define VECTOR_AT(space, type, n, x) (*(space CAT(CAT(any_, type), n) *)(x))
#define GET(space, type, n, x) VECTOR_AT(const space, type, n, x)
#define PUT(space, n, value, x) (VECTOR_AT(space, float, n, x) = (value))
#else
#define GET(space, type, n, x) CAT(vload, n)(0, x)
#define PUT(space, n, value, x) CAT(vstore, n)(value, 0, x)
#endif
#define LOAD(space, x) GET(space, float, WIDTH, x)
#define STORE(space, value, x) PUT(space, WIDTH, value, x)

/* Asks for `count` floats ahead of their use. They may lie outside of the buffer, which the standard's
 * prefetch() forbids, and which is not always what it is on a CPU. SPIR-V has no word for it, and over that in its
 * compiler's output Rusticl ends the process: so only where a driver compiles for a known machine. */
#define TOUCH(x, count)
#if defined(__has_builtin) && (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv) || \
                               defined(__powerpc64__) || defined(__loongarch__))
#if __has_builtin(__builtin_prefetch)
#undef TOUCH
#define TOUCH(x, count) \
    for (int at = 0; at < (count); at += 16) \
        __builtin_prefetch((const void *)(size_t)((x) + at))
#endif
#endif

/* ---- operands -------------------------------------------------------------------------------- */

/* Half types are widened, which is exact, while panels are copied. */
#if A_WORDS != 0 || B_WORDS != 0
#define CONVERT_ONE(type, x) ((type)(x))
#define WIDENING(n, convert, f, h, i) \
    static f words_1_##n(h x) \
    { \
        return TARN_FROM_F16_##n(convert(i, x)); \
    } \
    static f words_2_##n(h x) \
    { \
        return TARN_FROM_BF16_##n(convert(i, x)); \
    }
WIDENING(1, CONVERT_ONE, float, ushort, int)
WIDENING(4, TARN_CONVERT, float4, ushort4, int4)
WIDENING(8, TARN_CONVERT, float8, ushort8, int8)
WIDENING(16, TARN_CONVERT, float16, ushort16, int16)
#endif
#define AS_IT_IS(n, f) \
    static f words_0_##n(f x) \
    { \
        return x; \
    }
AS_IT_IS(1, float)
AS_IT_IS(4, float4)
AS_IT_IS(8, float8)
AS_IT_IS(16, float16)
#define TYPE_0 float
#define TYPE_1 ushort
#define TYPE_2 ushort
#define A_TYPE CAT(TYPE_, A_WORDS)
#define B_TYPE CAT(TYPE_, B_WORDS)
typedef A_TYPE a_word;
typedef B_TYPE b_word;
#define WORDS(words, n) CAT(CAT(CAT(words_, words), _), n)
#define LOAD_A(n, x) WORDS(A_WORDS, n)(GET(__global, A_TYPE, n, x))
#define LOAD_B(n, x) WORDS(B_WORDS, n)(GET(__global, B_TYPE, n, x))
#define ONE_A(x) WORDS(A_WORDS, 1)(x)
#define ONE_B(x) WORDS(B_WORDS, 1)(x)

/* ---- panels ---------------------------------------------------------------------------------- */

/* Of a: element p of row r is [r * ROW + p]. Of b: element j of step p is [p * COLS + j], and panels
 * lie PANEL apart. Without the few elements between them, rows and panels would share sets of a cache. */
#define ROW (DEPTH + 16)
#define PANEL (COLS * DEPTH + 32)
#define STRIP (4 * ROWS) /* rows of a that are copied at once; across k they share lines and pages */
#define SIDE WIDTH       /* of the squares of b that are turned over; divides COLS */
#define FEW_PANELS 8     /* of b, which meet a row of a too seldom to repay its copy */
#define PAGE 1024        /* floats; steps of k that lie further apart share few sets of the caches */
#define AHEAD 4          /* rows of b are asked for so many before they are copied */

/* 4 runs of 4 elements, transposed in registers. */
static void transpose(float4 a, float4 b, float4 c, float4 d, __local float *to, int to_stride)
{
    const float4 ab = (float4)(a.x, b.x, a.y, b.y), cd = (float4)(c.x, d.x, c.y, d.y);
    const float4 AB = (float4)(a.z, b.z, a.w, b.w), CD = (float4)(c.z, d.z, c.w, d.w);
    PUT(__local, 4, ((float4)(ab.xy, cd.xy)), to);
    PUT(__local, 4, ((float4)(ab.zw, cd.zw)), to + to_stride);
    PUT(__local, 4, ((float4)(AB.xy, CD.xy)), to + 2 * to_stride);
    PUT(__local, 4, ((float4)(AB.zw, CD.zw)), to + 3 * to_stride);
}

#if A_ACROSS
/* Rows of a that lie across k, the steps `stride` apart. Those behind the last are 0. */
static void copy_rows(__global const a_word *x, ulong stride, int count, int depth, __local float *to)
{
    for (int p = 0; p < depth; p += 4, x += 4 * stride)
        for (int r = 0; r < count || r % ROWS != 0; r += 4) {
            if (r + 4 <= count && p + 4 <= depth) {
                transpose(LOAD_A(4, x + r), LOAD_A(4, x + r + stride),
                          LOAD_A(4, x + r + 2 * stride), LOAD_A(4, x + r + 3 * stride),
                          to + r * ROW + p, ROW);
                continue;
            }
            for (int e = 0; e < 16; ++e) {
                const int row = r + e % 4, step = e / 4;
                to[row * ROW + p + step] =
                    row < count && p + step < depth ? ONE_A(x[step * stride + row]) : 0.0f;
            }
        }
}
#else
/* Rows of a that lie along k, `stride` apart. Those behind the last are 0. */
static void copy_rows(__global const a_word *x, ulong stride, int count, int depth, __local float *to)
{
    for (int r = 0; r < count || r % ROWS != 0; ++r, x += stride, to += ROW) {
        int p = 0;
        for (; r < count && p + WIDTH <= depth; p += WIDTH)
            STORE(__local, LOAD_A(WIDTH, x + p), to + p);
        for (; p < depth; ++p)
            to[p] = r < count ? ONE_A(x[p]) : 0.0f;
    }
}
#endif

/* b as it lies, row by row into all panels: a panel's own part of rows that are a power of two long
 * would pass through few sets of a cache. */
static void pack_rows(__global const b_word *x, ulong stride, int count, int depth, __local float *to)
{
    for (int p = 0; p < depth; ++p, x += stride, to += COLS) {
        __local float *panel = to;
        TOUCH(x + AHEAD * stride, count);
        for (int j = 0; j < count; j += COLS, panel += PANEL) {
            if (j + COLS <= count) {
                UNROLL for (int v = 0; v < VECTORS; ++v)
                    STORE(__local, LOAD_B(WIDTH, x + j + v * WIDTH), panel + v * WIDTH);
                continue;
            }
            for (int i = 0; i < COLS; ++i)
                panel[i] = j + i < count ? ONE_B(x[j + i]) : 0.0f;
        }
    }
}

/* Four steps of four columns of b, which lie along k. */
static void turn_columns(__global const b_word *x, ulong stride, __local float *to)
{
    transpose(LOAD_B(4, x), LOAD_B(4, x + stride), LOAD_B(4, x + 2 * stride),
              LOAD_B(4, x + 3 * stride), to, COLS);
}

/* b transposed: its columns lie along k, `stride` apart. Of SIDE at once, so that whole lines of a panel are written
 * one after the other: rows of a power of two of bytes share few sets of a cache, which drops half a line. */
static void pack_columns(__global const b_word *x, ulong stride, int count, int depth,
                         __local float *to)
{
    for (int j = 0; j < (count + COLS - 1) / COLS * COLS; j += SIDE, x += SIDE * stride) {
        __local float *panel = to + j / COLS * PANEL + j % COLS;
        const int fours = clamp(count - j, 0, SIDE) / 4 * 4;
        int p = 0;
        for (; fours == SIDE && p + SIDE <= depth; p += SIDE)
            UNROLL for (int h = 0; h < SIDE; h += 4)
                UNROLL for (int i = 0; i < SIDE; i += 4)
                    turn_columns(x + h * stride + p + i, stride, panel + (p + i) * COLS + h);
        for (; p + 4 <= depth; p += 4)
            for (int h = 0; h < fours; h += 4)
                turn_columns(x + h * stride + p, stride, panel + p * COLS + h);
        for (int q = fours == SIDE ? p : 0; q < depth; ++q)
            for (int i = q < p ? fours : 0; i < SIDE; ++i)
                panel[q * COLS + i] = j + i < count ? ONE_B(x[i * stride + q]) : 0.0f;
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

#define EACH(vectors) \
    UNROLL for (int r = 0; r < ROWS; ++r) UNROLL for (int v = 0; v < (vectors); ++v)

/* Where row r of a has step p: its rows, or its steps, are `apart`. */
#define ALONG(r, p) ((r) * apart + (p))
#define ACROSS(r, p) ((p) * apart + (r))

/* c = rows of a times the first vectors of a panel of b, chunk by chunk onto what c holds, or onto `start` if this is
 * the first. */
#define TILE(name, from, at, to, vectors) \
    static void name(from const float *a, ulong apart, __local const float *b, int depth, bool first, \
                     float start, to float *c, ulong stride) \
    { \
        for (int begin = 0; begin < depth; begin += CHUNK) { \
            const int end = min(begin + CHUNK, depth); \
            vec sum[ROWS][vectors]; \
            EACH(vectors) sum[r][v] = (vec)(0.0f); \
            _Pragma("unroll 4") for (int p = begin; p < end; ++p, b += COLS) { \
                vec x[vectors]; \
                UNROLL for (int v = 0; v < (vectors); ++v) \
                    x[v] = LOAD(__local, b + v * WIDTH); \
                EACH(vectors) sum[r][v] = fma((vec)(a[at(r, p)]), x[v], sum[r][v]); \
            } \
            if (first && begin == 0) \
                EACH(vectors) \
                STORE(to, (vec)(start) + sum[r][v], c + r * stride + v * WIDTH); \
            else \
                EACH(vectors) \
                STORE(to, LOAD(to, c + r * stride + v * WIDTH) + sum[r][v], c + r * stride + v * WIDTH); \
        } \
    }

/* The last columns of c may fill a part of a tile only. A tile that reaches over the edge of c goes through a copy. */
#define HALF ((VECTORS + 1) / 2)
#define TILES(name, from, at) \
    TILE(name##_whole, from, at, __global, VECTORS) \
    TILE(name##_copy, from, at, __local, VECTORS) \
    TILE(name##_half, from, at, __local, HALF) \
    TILE(name##_one, from, at, __local, 1) \
    static void name(from const float *a, ulong apart, __local const float *b, int depth, bool first, \
                     float start, __global float *c, ulong stride, int rows, int cols, \
                     __local float *copy) \
    { \
        if (rows == ROWS && cols == COLS) { \
            UNROLL for (int r = 0; r < ROWS; ++r) \
                TOUCH(c + r * stride, COLS); /* there when the first chunk is summed */ \
            name##_whole(a, apart, b, depth, first, start, c, stride); \
            return; \
        } \
        for (int r = 0; r < rows && !first; ++r) \
            for (int i = 0; i < cols; ++i) \
                copy[r * COLS + i] = c[r * stride + i]; \
        if (cols <= WIDTH) \
            name##_one(a, apart, b, depth, first, start, copy, COLS); \
        else if (cols <= HALF * WIDTH) \
            name##_half(a, apart, b, depth, first, start, copy, COLS); \
        else \
            name##_copy(a, apart, b, depth, first, start, copy, COLS); \
        for (int r = 0; r < rows; ++r) \
            for (int i = 0; i < cols; ++i) \
                c[r * stride + i] = copy[r * COLS + i]; \
    }
TILES(tile, __local, ALONG)
#if A_WORDS == 0 && A_ACROSS
TILES(tile_direct, __global, ACROSS)
#elif A_WORDS == 0
TILES(tile_direct, __global, ALONG)
#endif

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Asks for the share of `part` of `parts` in the next strip of a, which comes after these tiles. */
static void touch_rows(__global const a_word *x, ulong stride, int depth, int part, int parts)
{
    if (A_ACROSS)
        for (int p = part; p < depth; p += parts)
            TOUCH(x + p * stride, STRIP);
    else
        for (int r = part; r < STRIP * (DEPTH / 16); r += parts)
            TOUCH(x + r % STRIP * stride + r / STRIP * 16, 1);
}

/* to = 0 + from, or to + from. */
static void carry(__global const float *from, bool first, __global float *to, ulong stride, int rows,
                  int cols)
{
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < cols; ++i)
            to[r * stride + i] = (first ? 0.0f : to[r * stride + i]) + from[r * stride + i];
}

/* The panels of b for a block stay in the second cache, one of a and one of b in the first. `low` is
 * as large as c, its batches side by side, `levels` times: for sums of chunks, sums of those, ... */
__kernel void tarn_gemm(__global const a_word *a, __global const b_word *b,
                        __global float *c, __global float *low, ulong a_offset, ulong b_offset, ulong c_offset,
                        ulong a_stride, ulong b_stride, ulong c_stride, int m, int n, int k,
                        int b_across, int block_rows, int block_cols, int levels)
{
    __local float as[STRIP * ROW], bs[BLOCK_COLS / COLS * PANEL], copy[ROWS * COLS];
    const int over = (n + block_cols - 1) / block_cols;
    const int blocks = (m + block_rows - 1) / block_rows * over;
    const int group = (int)get_group_id(0), block = group % blocks;
    const int i0 = block / over * block_rows, j0 = block % over * block_cols;
    const int i1 = min(m, i0 + block_rows), j1 = min(n, j0 + block_cols);
    const int panels = (j1 - j0 + COLS - 1) / COLS;
    const ulong batch = (ulong)(group / blocks), a_apart = A_ACROSS ? m : k, a_row = A_ACROSS ? 1 : k,
                a_step = A_ACROSS ? m : 1, plane = (ulong)m * n, corner = (ulong)i0 * n + j0;
    a += a_offset + batch * a_stride;
    b += b_offset + batch * b_stride + (b_across ? (ulong)j0 * k : j0);
    c += c_offset + batch * c_stride;
    low += batch * levels * plane;
    __global float *sums = levels > 0 ? low : c;
    for (int p = 0, depth; p < k; p += depth) {
        depth = min(min(k - p, DEPTH), CHUNK * CHUNK - p % (CHUNK * CHUNK));
        const bool first = p % (CHUNK * CHUNK) == 0;
        const float start = k > CHUNK ? 0.0f : -0.0f; /* one chunk is added to nothing */
        if (b_across)
            pack_columns(b + p, k, j1 - j0, depth, bs);
        else
            pack_rows(b + (ulong)p * n, n, j1 - j0, depth, bs);
        for (int i = i0; i < i1; i += STRIP) {
            const int strip = min(i1 - i, STRIP), tiles = (strip + ROWS - 1) / ROWS * panels;
            __global const a_word *x = a + i * a_row + p * a_step;
            const bool direct = A_WORDS == 0 && panels <= FEW_PANELS && strip % ROWS == 0 && a_step < PAGE;
            if (!direct)
                copy_rows(x, a_apart, strip, depth, as);
            for (int t = 0; t < tiles; ++t) {
                const int r = t / panels * ROWS, j = t % panels, rows = min(strip - r, ROWS),
                          cols = min(j1 - j0 - j * COLS, COLS);
                __local const float *panel = bs + j * PANEL;
                __global float *sum = sums + (ulong)(i + r) * n + j0 + j * COLS;
                if (A_ACROSS || !direct) /* rows along k come by themselves */
                    touch_rows(x + STRIP * a_row, a_apart, depth, t, tiles);
#if A_WORDS == 0
                if (direct) {
                    tile_direct(x + r * a_row, a_apart, panel, depth, first, start, sum, n, rows, cols,
                                copy);
                    continue;
                }
#endif
                tile(as + r * ROW, ROW, panel, depth, first, start, sum, n, rows, cols, copy);
            }
        }
        const int q = p + depth;
        for (int level = 0, span = CHUNK * CHUNK; level < levels && (q % span == 0 || q == k);
             ++level, span *= CHUNK) {
            __global float *to = level + 1 < levels ? low + (level + 1) * plane : c;
            carry(low + level * plane + corner, (q - 1) / span % CHUNK == 0, to + corner, n, i1 - i0,
                  j1 - j0);
        }
    }
}
