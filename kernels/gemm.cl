/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products on CPUs. A group of one work-item computes a block of c from panels of a and b that
 * it copied, in tiles of ROWS x COLS that live in registers. Every element of c is a sum in the order
 * of docs/numerics.md, whatever the blocks are: the bits of a nest. A chunk of CHUNK terms is one chain
 * of fma, and chunks are added in order. Beyond SPAN terms these are sums of their own, made in `low`
 * and then added to c.
 *
 * Before this text stand WIDTH (of a vector), ROWS (a multiple of 4), VECTORS (of a tile's row), DEPTH
 * (most steps of k in a panel, a multiple of CHUNK), BLOCK_COLS (most columns of a block; a multiple of
 * COLS), CHUNK and SPAN (a multiple of it). */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define LOAD CAT(vload, WIDTH)
#define STORE CAT(vstore, WIDTH)
#define COLS (VECTORS * WIDTH)
#define UNROLL _Pragma("unroll")
typedef CAT(float, WIDTH) vec;

/* Asks for `count` floats ahead of their use. They may lie outside of the buffer, which the standard's
 * prefetch() forbids, and which is not always what it is on a CPU. */
#define TOUCH(x, count)
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch)
#undef TOUCH
#define TOUCH(x, count) \
    UNROLL for (int at = 0; at < (count); at += 16) \
        __builtin_prefetch((const void *)(size_t)((x) + at))
#endif
#endif

/* ---- panels: to[p * height + r] = element r of step p ---------------------------------------- */

/* Steps lie in memory at `stride`, elements at 1. The next panel is asked for. */
#define PACK_ALONG(name, height) \
    static void name(__global const float *x, ulong stride, int count, int depth, \
                     __local float *to) \
    { \
        for (int p = 0; p < depth; ++p, x += stride, to += height) { \
            TOUCH(x + height, height); \
            if (count == height) { \
                UNROLL for (int r = 0; r < height; r += 4) \
                    vstore4(vload4(0, x + r), 0, to + r); \
                continue; \
            } \
            for (int r = 0; r < height; ++r) \
                to[r] = r < count ? x[r] : 0.0f; \
        } \
    }
PACK_ALONG(pack_rows_along, ROWS)
PACK_ALONG(pack_cols_along, COLS)

/* 4 steps of 4 elements, transposed in registers. */
static void transpose(__global const float *x, ulong stride, int height, __local float *to)
{
    const float4 a = vload4(0, x), b = vload4(0, x + stride), c = vload4(0, x + 2 * stride),
                 d = vload4(0, x + 3 * stride);
    const float4 ab = (float4)(a.x, b.x, a.y, b.y), cd = (float4)(c.x, d.x, c.y, d.y);
    const float4 AB = (float4)(a.z, b.z, a.w, b.w), CD = (float4)(c.z, d.z, c.w, d.w);
    vstore4((float4)(ab.xy, cd.xy), 0, to);
    vstore4((float4)(ab.zw, cd.zw), 0, to + height);
    vstore4((float4)(AB.xy, CD.xy), 0, to + 2 * height);
    vstore4((float4)(AB.zw, CD.zw), 0, to + 3 * height);
}

/* Elements lie in memory at `stride`, steps at 1. */
static void pack_across(__global const float *x, ulong stride, int count, int height, int depth,
                        __local float *to)
{
    for (int r = 0; r < height; r += 4, x += 4 * stride) {
        int p = 0;
        for (; r + 4 <= count && p + 16 <= depth; p += 16) {
            UNROLL for (int i = 4; i < 8; ++i)
                TOUCH(x + p + i * stride, 1);
            UNROLL for (int i = 0; i < 16; i += 4)
                transpose(x + p + i, stride, height, to + (p + i) * height + r);
        }
        for (; p < depth; ++p)
            for (int i = 0; i < 4; ++i)
                to[p * height + r + i] = r + i < count ? x[i * stride + p] : 0.0f;
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

#define EACH UNROLL for (int r = 0; r < ROWS; ++r) UNROLL for (int v = 0; v < VECTORS; ++v)

/* c = a panel of a times one of b, chunk by chunk onto what c holds unless this is the first. */
#define TILE(name, space) \
    static void name(__local const float *a, __local const float *b, int depth, bool first, \
                     space float *c, ulong stride) \
    { \
        for (int begin = 0; begin < depth; begin += CHUNK) { \
            const int end = min(begin + CHUNK, depth); \
            vec sum[ROWS][VECTORS]; \
            EACH sum[r][v] = (vec)(0.0f); \
            _Pragma("unroll 2") for (int p = begin; p < end; ++p, a += ROWS, b += COLS) { \
                vec x[VECTORS]; \
                UNROLL for (int v = 0; v < VECTORS; ++v) \
                    x[v] = LOAD(v, b); \
                EACH sum[r][v] = fma((vec)(a[r]), x[v], sum[r][v]); \
            } \
            if (!first || begin > 0) \
                EACH sum[r][v] += LOAD(v, c + r * stride); \
            EACH STORE(sum[r][v], v, c + r * stride); \
        } \
    }
TILE(tile_whole, __global)
TILE(tile_copy, __local)

/* A tile that reaches over the edge of c goes through a copy. */
static void tile(__local const float *a, __local const float *b, int depth, bool first,
                 __global float *c, ulong stride, int rows, int cols, __local float *copy)
{
    if (rows == ROWS && cols == COLS) {
        tile_whole(a, b, depth, first, c, stride);
        return;
    }
    for (int r = 0; r < rows && !first; ++r)
        for (int i = 0; i < cols; ++i)
            copy[r * COLS + i] = c[r * stride + i];
    tile_copy(a, b, depth, first, copy, COLS);
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < cols; ++i)
            c[r * stride + i] = copy[r * COLS + i];
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* c = low, or c + low. */
static void carry(__global const float *low, bool first, __global float *c, ulong stride, int rows,
                  int cols)
{
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < cols; ++i)
            c[r * stride + i] = (first ? 0.0f : c[r * stride + i]) + low[r * stride + i];
}

/* The panels of b for a block stay in the second cache, one panel of a in the first. `low` is as large
 * as all of c, its batches side by side, and only used where k is above SPAN. */
__kernel void tarn_gemm(__global const float *a, __global const float *b, __global float *c,
                        __global float *low, ulong a_offset, ulong b_offset, ulong c_offset,
                        ulong a_stride, ulong b_stride, ulong c_stride, int m, int n, int k,
                        int transposed, int block_rows, int block_cols)
{
    __local float as[ROWS * DEPTH], bs[BLOCK_COLS * DEPTH], copy[ROWS * COLS];
    const int over = (n + block_cols - 1) / block_cols;
    const int blocks = (m + block_rows - 1) / block_rows * over;
    const int group = (int)get_group_id(0), block = group % blocks;
    const int i0 = block / over * block_rows, j0 = block % over * block_cols;
    const int i1 = min(m, i0 + block_rows), j1 = min(n, j0 + block_cols);
    const ulong batch = (ulong)(group / blocks);
    a += a_offset + batch * a_stride;
    b += b_offset + batch * b_stride;
    c += c_offset + batch * c_stride;
    __global float *sums = k > SPAN ? low + batch * m * n : c;
    for (int p = 0, depth; p < k; p += depth) {
        depth = min(min(k - p, DEPTH), SPAN - p % SPAN);
        for (int j = j0; j < j1; j += COLS) {
            const int cols = min(j1 - j, COLS);
            __local float *to = bs + (j - j0) * DEPTH;
            if ((transposed & 2) != 0)
                pack_across(b + (ulong)j * k + p, k, cols, COLS, depth, to);
            else
                pack_cols_along(b + (ulong)p * n + j, n, cols, depth, to);
        }
        for (int i = i0; i < i1; i += ROWS) {
            const int rows = min(i1 - i, ROWS);
            if ((transposed & 1) != 0)
                pack_rows_along(a + (ulong)p * m + i, m, rows, depth, as);
            else
                pack_across(a + (ulong)i * k + p, k, rows, ROWS, depth, as);
            for (int j = j0; j < j1; j += COLS) {
                __global float *to = sums + (ulong)i * n + j;
                for (int r = 0; r < rows; ++r)
                    TOUCH(to + (ulong)r * n + COLS, COLS); /* of the next tile */
                tile(as, bs + (j - j0) * DEPTH, depth, p % SPAN == 0, to, n, rows,
                     min(j1 - j, COLS), copy);
            }
        }
        if (k > SPAN && ((p + depth) % SPAN == 0 || p + depth == k))
            carry(sums + (ulong)i0 * n + j0, p < SPAN, c + (ulong)i0 * n + j0, n, i1 - i0, j1 - j0);
    }
}
