/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by blocks of queries: e = exp(scores - their maximum) of a block and all keys that it sees lies in memory of
 * the group's own, and never that of all queries. Lanes are queries, so each sum is one accumulator a lane, over the keys
 * or the features in their order: the bits are those of the products and sums that core/op/attention.c expands to where
 * this is not used. Parameters that the compiler gives are literals, so that loops over features have constant bounds.
 * TARN_ATTENTION_VECTORS registers of queries are a block, TARN_ATTENTION_TILE keys or features a tile: as many
 * accumulators as the device has room for. TARN_ATTENTION_WHOLE: a register of the device has 16 lanes. */
#define TARN_QUERIES (16 * TARN_ATTENTION_VECTORS)
#define TARN_CHUNK 128 /* terms that are added one after another: core/tensor/sum_order.h */
#define TARN_UNROLL _Pragma("unroll")
#if TARN_ATTENTION_WHOLE
#define TARN_TURN_SQUARE(a) TARN_TURN_16(float, a)
#else
#define TARN_TURN_SQUARE(a) TARN_TURN_8(float, a)
#endif
#define TARN_EACH_VECTOR TARN_UNROLL for (int v = 0; v < TARN_ATTENTION_VECTORS; ++v)

/* What all blocks of a head have in common. */
struct tarn_head {
    __global const float *q, *k, *v;
    __global const int *seen; /* a flag for each key; 0: all are seen */
    long features, width; /* E, V */
    float scale;
    bool causal;
};

TARN_ROUTINE void tarn_take_head(struct tarn_head *h, long head, __global const float *q,
                                 __global const float *k, __global const float *v,
                                 __global const int *seen, long heads, long queries, long keys,
                                 long features, long width, long scale, long causal)
{
    h->q = q + head * queries * features;
    h->k = k + head * keys * features;
    h->v = v + head * keys * width;
    h->seen = seen == 0 ? 0 : seen + head / heads * keys;
    h->features = features;
    h->width = width;
    h->scale = as_float((int)scale);
    h->causal = causal != 0;
}

/* turned[c][query] = times * rows[first + query][c]; queries past the end are the last one once more. In squares, as far as there
 * are columns. */
TARN_ROUTINE void tarn_turn_queries(__global const float *rows, long first, long queries, long pitch,
                                    long columns, float times, __global float *turned)
{
    const long whole = columns / 16 * 16;
    for (long r = 0; r < TARN_QUERIES; r += 16)
        for (long c = 0; c < whole; c += 16) {
            float16 square[16];
            TARN_UNROLL for (int i = 0; i < 16; ++i)
                square[i] = TARN_LOAD(__global, float, rows + min(first + r + i, queries - 1) * pitch + c);
            TARN_TURN_SQUARE(square)
            TARN_UNROLL for (int i = 0; i < 16; ++i)
                TARN_STORE(__global, float, square[i] * times, turned + (c + i) * TARN_QUERIES + r);
        }
    for (long r = 0; r < TARN_QUERIES; ++r) {
        __global const float *row = rows + min(first + r, queries - 1) * pitch;
        for (long c = whole; c < columns; ++c)
            turned[c * TARN_QUERIES + r] = row[c] * times;
    }
}

/* sum[t][v] = products of rows t of `rows`, which lie `pitch` apart, with the block's queries: over the columns, in
 * chunks. */
#define TARN_PRODUCT_FUNCTION(name, tile) \
    TARN_ROUTINE void name(__global const float *rows, long pitch, __global const float *turned, \
                           long columns, float16 sum[tile][TARN_ATTENTION_VECTORS]) \
    { \
        for (long begin = 0; begin < columns; begin += TARN_CHUNK) { \
            float16 chunk[tile][TARN_ATTENTION_VECTORS]; \
            TARN_UNROLL for (int t = 0; t < tile; ++t) TARN_EACH_VECTOR chunk[t][v] = (float16)(0.0f); \
            for (long c = begin; c < min(begin + TARN_CHUNK, columns); ++c) { \
                float16 x[TARN_ATTENTION_VECTORS]; \
                TARN_EACH_VECTOR x[v] = \
                    TARN_LOAD(__global, float, turned + c * TARN_QUERIES + 16 * v); \
                TARN_UNROLL for (int t = 0; t < tile; ++t) \
                    TARN_EACH_VECTOR chunk[t][v] = \
                        fma((float16)(rows[t * pitch + c]), x[v], chunk[t][v]); \
            } \
            TARN_UNROLL for (int t = 0; t < tile; ++t) \
                TARN_EACH_VECTOR sum[t][v] = begin == 0 ? chunk[t][v] : sum[t][v] + chunk[t][v]; \
        } \
    }
TARN_PRODUCT_FUNCTION(tarn_product_tile, TARN_ATTENTION_TILE)
TARN_PRODUCT_FUNCTION(tarn_product_one, 1)

/* sum[t][v] = products of the block's e with columns t of `rows`: over the keys, in chunks. */
#define TARN_WEIGHTED_FUNCTION(name, tile) \
    TARN_ROUTINE void name(__global const float *rows, long pitch, __global const float *e, long keys, \
                           float16 sum[tile][TARN_ATTENTION_VECTORS]) \
    { \
        for (long begin = 0; begin < keys; begin += TARN_CHUNK) { \
            float16 chunk[tile][TARN_ATTENTION_VECTORS]; \
            TARN_UNROLL for (int t = 0; t < tile; ++t) TARN_EACH_VECTOR chunk[t][v] = (float16)(0.0f); \
            for (long j = begin; j < min(begin + TARN_CHUNK, keys); ++j) { \
                float16 x[TARN_ATTENTION_VECTORS]; \
                TARN_EACH_VECTOR x[v] = TARN_LOAD(__global, float, e + j * TARN_QUERIES + 16 * v); \
                TARN_UNROLL for (int t = 0; t < tile; ++t) \
                    TARN_EACH_VECTOR chunk[t][v] = \
                        fma(x[v], (float16)(rows[j * pitch + t]), chunk[t][v]); \
            } \
            TARN_UNROLL for (int t = 0; t < tile; ++t) \
                TARN_EACH_VECTOR sum[t][v] = begin == 0 ? chunk[t][v] : sum[t][v] + chunk[t][v]; \
        } \
    }
TARN_WEIGHTED_FUNCTION(tarn_weighted_tile, TARN_ATTENTION_TILE)
TARN_WEIGHTED_FUNCTION(tarn_weighted_one, 1)

/* The queries of lanes 16 v to 16 v + 15 that see key j. */
TARN_ROUTINE int16 tarn_sees(const struct tarn_head *h, long first, long j, int v)
{
    int16 sees = (int16)(-1);
    if (h->causal)
        sees = (int16)((int)j) <= (int16)((int)first + 16 * v) + TARN_LANES;
    return h->seen == 0 || h->seen[j] != 0 ? sees : (int16)(0);
}

/* Scores of the block and of one or more keys from j on go to e, and to the maxima. */
#define TARN_STORE_SCORES(count) \
    TARN_UNROLL for (int t = 0; t < count; ++t) TARN_EACH_VECTOR \
    { \
        float16 s = sum[t][v]; \
        if (h->seen != 0 || (h->causal && j + t > first)) \
            s = tarn_sees(h, first, j + t, v) != 0 ? s : (float16)(-INFINITY); \
        most[v] = TARN_MAX_16(s, most[v]); \
        TARN_STORE(__global, float, s, e + (j + t) * TARN_QUERIES + 16 * v); \
    }
TARN_ROUTINE void tarn_scores(const struct tarn_head *h, long first, long keys,
                              __global const float *turned, __global float *e,
                              float16 most[TARN_ATTENTION_VECTORS])
{
    long j = 0;
    TARN_EACH_VECTOR most[v] = (float16)(-INFINITY);
    for (; j + TARN_ATTENTION_TILE <= keys; j += TARN_ATTENTION_TILE) {
        float16 sum[TARN_ATTENTION_TILE][TARN_ATTENTION_VECTORS];
        tarn_product_tile(h->k + j * h->features, h->features, turned, h->features, sum);
        TARN_STORE_SCORES(TARN_ATTENTION_TILE)
    }
    for (; j < keys; ++j) {
        float16 sum[1][TARN_ATTENTION_VECTORS];
        tarn_product_one(h->k + j * h->features, h->features, turned, h->features, sum);
        TARN_STORE_SCORES(1)
    }
}

/* Scores become e. */
TARN_ROUTINE void tarn_exponents(__global float *e, long keys,
                                 const float16 most[TARN_ATTENTION_VECTORS])
{
    for (long j = 0; j < keys; ++j)
        TARN_EACH_VECTOR
        {
            __global float *at = e + j * TARN_QUERIES + 16 * v;
            TARN_STORE(__global, float, TARN_EXP_16(TARN_LOAD(__global, float, at) - most[v]), at);
        }
}

/* The sum of every `step`-th row of e from `from` on, up to `to`, in chunks. */
TARN_ROUTINE float16 tarn_sum_keys(__global const float *e, long from, long to, long step)
{
    float16 sum = (float16)(0.0f);
    for (long begin = from; begin < to; begin += TARN_CHUNK * step) {
        float16 chunk = (float16)(0.0f);
        for (long j = begin; j < min(begin + TARN_CHUNK * step, to); j += step)
            chunk += TARN_LOAD(__global, float, e + j * TARN_QUERIES);
        sum = begin == from ? chunk : sum + chunk;
    }
    return sum;
}

/* The sum over all keys, of which e has those that are seen: in their order; or, of values without a batch, of 16
 * sums of every 16th key, by the tree of lanes, and what is left over. */
TARN_ROUTINE float16 tarn_sum_exponents(__global const float *e, long keys, long all, bool lanes)
{
    if (!lanes || all < 16)
        return tarn_sum_keys(e, 0, keys, 1);
    const long whole = all / 16 * 16, end = min(keys, whole);
    float16 lane[16];
    for (int i = 0; i < 16; ++i)
        lane[i] = tarn_sum_keys(e, i, end, 16);
    for (int pairs = 8; pairs > 0; pairs /= 2)
        for (int i = 0; i < pairs; ++i)
            lane[i] += lane[i + pairs];
    return whole < all ? tarn_sum_keys(e, whole, keys, 1) + lane[0] : lane[0];
}

/* Columns of a block's result, turned back: out[query][column + t] = times * sum[t]. */
TARN_ROUTINE void tarn_store_turned(float16 sum, float times, long first, long queries, int v, long pitch,
                                    __global float *out)
{
    float x[16];
    vstore16(sum * times, 0, x);
    for (int i = 0; i < 16; ++i)
        if (first + 16 * v + i < queries)
            out[(first + 16 * v + i) * pitch] = x[i];
}

/* The same of 16 columns. */
TARN_ROUTINE void tarn_store_square(float16 square[16], float times, long first, long queries, int v,
                                    long pitch, __global float *out)
{
    TARN_TURN_SQUARE(square)
    TARN_UNROLL for (int i = 0; i < 16; ++i)
        if (first + 16 * v + i < queries)
            TARN_STORE(__global, float, square[i] * times, out + (first + 16 * v + i) * pitch);
}

/* out[query][c] = times * products of the block's e with column c of rows, for all columns. */
TARN_ROUTINE void tarn_weighted(__global const float *rows, long columns, __global const float *e,
                                long keys, float times, long first, long queries, long pitch,
                                __global float *out)
{
    long c = 0;
    for (; c + 16 <= columns; c += 16) {
        float16 square[TARN_ATTENTION_VECTORS][16];
        for (int i = 0; i < 16; i += TARN_ATTENTION_TILE) {
            float16 sum[TARN_ATTENTION_TILE][TARN_ATTENTION_VECTORS];
            tarn_weighted_tile(rows + c + i, columns, e, keys, sum);
            TARN_UNROLL for (int t = 0; t < TARN_ATTENTION_TILE; ++t) TARN_EACH_VECTOR
                square[v][i + t] = sum[t][v];
        }
        TARN_EACH_VECTOR tarn_store_square(square[v], times, first, queries, v, pitch, out + c);
    }
    for (; c + TARN_ATTENTION_TILE <= columns; c += TARN_ATTENTION_TILE) {
        float16 sum[TARN_ATTENTION_TILE][TARN_ATTENTION_VECTORS];
        tarn_weighted_tile(rows + c, columns, e, keys, sum);
        TARN_UNROLL for (int t = 0; t < TARN_ATTENTION_TILE; ++t) TARN_EACH_VECTOR
            tarn_store_turned(sum[t][v], times, first, queries, v, pitch, out + c + t);
    }
    for (; c < columns; ++c) {
        float16 sum[1][TARN_ATTENTION_VECTORS];
        tarn_weighted_one(rows + c, columns, e, keys, sum);
        TARN_EACH_VECTOR tarn_store_turned(sum[0][v], times, first, queries, v, pitch, out + c);
    }
}

/* [e v, sum of e] of blocks of queries; a piece is a block of a head. Of two neighbours one is from the front and one from the
 * back, since causal ones see more and more keys. */
TARN_ROUTINE void tarn_attention(long from, long to, __global float *out, __global float *own,
                                 __global const float *q, __global const float *k,
                                 __global const float *v, __global const int *seen, long heads,
                                 long queries, long keys, long features, long width, long scale,
                                 long causal, long lanes)
{
    const long blocks = (queries + TARN_QUERIES - 1) / TARN_QUERIES;
    __global float *e = own + features * TARN_QUERIES;
    for (long piece = from; piece < to; ++piece) {
        const long head = piece / blocks, turn = piece % blocks;
        const long first = (turn % 2 == 0 ? turn / 2 : blocks - 1 - turn / 2) * TARN_QUERIES;
        struct tarn_head h;
        tarn_take_head(&h, head, q, k, v, seen, heads, queries, keys, features, width, scale, causal);
        const long sees = causal ? min(keys, first + TARN_QUERIES) : keys;
        float16 most[TARN_ATTENTION_VECTORS];
        tarn_turn_queries(h.q, first, queries, features, features, h.scale, own);
        tarn_scores(&h, first, sees, own, e, most);
        tarn_exponents(e, sees, most);
        __global float *to_rows = out + head * queries * (width + 1);
        tarn_weighted(h.v, width, e, sees, 1.0f, first, queries, width + 1, to_rows);
        TARN_EACH_VECTOR
        tarn_store_turned(tarn_sum_exponents(e + 16 * v, sees, keys, lanes != 0), 1.0f, first, queries, v,
                          width + 1, to_rows + width);
    }
}

/* ---- gradients ------------------------------------------------------------------------------ */

/* to[query][c] = times * rows[first + query][c], with zeros up to `padded` columns. */
TARN_ROUTINE void tarn_copy_queries(__global const float *rows, long count, long pitch, long columns,
                                    long padded, float times, __global float *to)
{
    const long whole = columns / 16 * 16;
    for (long r = 0; r < count; ++r, rows += pitch, to += padded) {
        for (long c = 0; c < whole; c += 16)
            TARN_STORE(__global, float, TARN_LOAD(__global, float, rows + c) * times, to + c);
        for (long c = whole; c < padded; ++c)
            to[c] = c < columns ? rows[c] * times : 0.0f;
    }
}

/* Adds to a tile of sums[key][c] the products x[key][query] * rows[query][c] of the block's queries, one after the other. */
#define TARN_OUTER_FUNCTION(name, tile, vectors) \
    TARN_ROUTINE void name(__global const float *x, __global const float *rows, long count, long pitch, \
                           __global float *sums) \
    { \
        float16 sum[tile][vectors]; \
        TARN_UNROLL for (int t = 0; t < tile; ++t) TARN_UNROLL for (int v = 0; v < vectors; ++v) \
            sum[t][v] = TARN_LOAD(__global, float, sums + t * pitch + 16 * v); \
        for (long r = 0; r < count; ++r) { \
            float16 y[vectors]; \
            TARN_UNROLL for (int v = 0; v < vectors; ++v) y[v] = \
                TARN_LOAD(__global, float, rows + r * pitch + 16 * v); \
            TARN_UNROLL for (int t = 0; t < tile; ++t) TARN_UNROLL for (int v = 0; v < vectors; ++v) \
                sum[t][v] = fma((float16)(x[t * TARN_QUERIES + r]), y[v], sum[t][v]); \
        } \
        TARN_UNROLL for (int t = 0; t < tile; ++t) TARN_UNROLL for (int v = 0; v < vectors; ++v) \
            TARN_STORE(__global, float, sum[t][v], sums + t * pitch + 16 * v); \
    }
TARN_OUTER_FUNCTION(tarn_outer_tile, TARN_ATTENTION_TILE, TARN_ATTENTION_VECTORS)
TARN_OUTER_FUNCTION(tarn_outer_tile_one, TARN_ATTENTION_TILE, 1)
TARN_OUTER_FUNCTION(tarn_outer_one, 1, 1)

TARN_ROUTINE void tarn_outer(__global const float *x, long keys, __global const float *rows, long count,
                             long pitch, __global float *sums)
{
    long j = 0;
    for (; j + TARN_ATTENTION_TILE <= keys; j += TARN_ATTENTION_TILE) {
        long c = 0;
        for (; c + TARN_QUERIES <= pitch; c += TARN_QUERIES)
            tarn_outer_tile(x + j * TARN_QUERIES, rows + c, count, pitch, sums + j * pitch + c);
        for (; c < pitch; c += 16)
            tarn_outer_tile_one(x + j * TARN_QUERIES, rows + c, count, pitch, sums + j * pitch + c);
    }
    for (; j < keys; ++j)
        for (long c = 0; c < pitch; c += 16)
            tarn_outer_one(x + j * TARN_QUERIES, rows + c, count, pitch, sums + j * pitch + c);
}

/* x = (v g + the gradient of the sum) * e, the gradient of the scores; `turned` holds g, and the gradient of the sum
 * behind it. */
#define TARN_STORE_SLOPES(count) \
    TARN_UNROLL for (int t = 0; t < count; ++t) TARN_EACH_VECTOR \
    { \
        const long at = (j + t) * TARN_QUERIES + 16 * v; \
        float16 s = (sum[t][v] + slope[v]) * TARN_LOAD(__global, float, e + at); \
        if (h->seen != 0 || (h->causal && j + t > first)) \
            s = tarn_sees(h, first, j + t, v) != 0 ? s : (float16)(0.0f); \
        TARN_STORE(__global, float, s, x + at); \
    }
TARN_ROUTINE void tarn_slopes(const struct tarn_head *h, long first, long keys,
                              __global const float *turned, __global const float *e, __global float *x)
{
    float16 slope[TARN_ATTENTION_VECTORS];
    TARN_EACH_VECTOR slope[v] =
        TARN_LOAD(__global, float, turned + h->width * TARN_QUERIES + 16 * v);
    long j = 0;
    for (; j + TARN_ATTENTION_TILE <= keys; j += TARN_ATTENTION_TILE) {
        float16 sum[TARN_ATTENTION_TILE][TARN_ATTENTION_VECTORS];
        tarn_product_tile(h->v + j * h->width, h->width, turned, h->width, sum);
        TARN_STORE_SLOPES(TARN_ATTENTION_TILE)
    }
    for (; j < keys; ++j) {
        float16 sum[1][TARN_ATTENTION_VECTORS];
        tarn_product_one(h->v + j * h->width, h->width, turned, h->width, sum);
        TARN_STORE_SLOPES(1)
    }
}

/* out[key][c] += sums[key][c], which begin anew. */
TARN_ROUTINE void tarn_end_chunk(__global float *sums, long keys, long columns, long padded,
                                 __global float *out)
{
    for (long j = 0; j < keys; ++j)
        for (long c = 0; c < padded; ++c) {
            if (c < columns)
                out[j * columns + c] += sums[j * padded + c];
            sums[j * padded + c] = 0.0f;
        }
}

/* Gradients with respect to q, k and v, one behind the other for each head, of g with respect to what tarn_attention() makes.
 * A piece is a head; its queries go in order, since k and v have sums over them. */
TARN_ROUTINE void tarn_attention_grad(long from, long to, __global float *out, __global float *own,
                                      __global const float *q, __global const float *k,
                                      __global const float *v, __global const float *g,
                                      __global const int *seen, long heads, long queries, long keys,
                                      long features, long width, long scale, long causal)
{
    const long wide_k = (features + 15) / 16 * 16, wide_v = (width + 15) / 16 * 16;
    __global float *turned_g = own + features * TARN_QUERIES;
    __global float *rows_q = turned_g + (width + 1) * TARN_QUERIES;
    __global float *rows_g = rows_q + wide_k * TARN_QUERIES, *e = rows_g + wide_v * TARN_QUERIES;
    __global float *x = e + keys * TARN_QUERIES, *sums_k = x + keys * TARN_QUERIES;
    __global float *sums_v = sums_k + keys * wide_k;
    for (long head = from; head < to; ++head) {
        struct tarn_head h;
        tarn_take_head(&h, head, q, k, v, seen, heads, queries, keys, features, width, scale, causal);
        __global const float *slopes = g + head * queries * (width + 1);
        __global float *out_q = out + head * (queries * features + keys * (features + width));
        __global float *out_k = out_q + queries * features, *out_v = out_k + keys * features;
        for (long i = 0; i < keys * (features + width); ++i)
            out_k[i] = 0.0f;
        for (long i = 0; i < keys * (wide_k + wide_v); ++i)
            sums_k[i] = 0.0f;
        for (long first = 0; first < queries; first += TARN_QUERIES) {
            const long count = min((long)TARN_QUERIES, queries - first);
            const long sees = causal ? min(keys, first + TARN_QUERIES) : keys;
            __global const float *block = slopes + first * (width + 1);
            float16 most[TARN_ATTENTION_VECTORS];
            tarn_turn_queries(h.q, first, queries, features, features, h.scale, own);
            tarn_turn_queries(slopes, first, queries, width + 1, width + 1, 1.0f, turned_g);
            tarn_copy_queries(h.q + first * features, count, features, features, wide_k, h.scale, rows_q);
            tarn_copy_queries(block, count, width + 1, width, wide_v, 1.0f, rows_g);
            tarn_scores(&h, first, sees, own, e, most);
            tarn_exponents(e, sees, most);
            tarn_slopes(&h, first, sees, turned_g, e, x);
            tarn_weighted(h.k, features, x, sees, h.scale, first, queries, features, out_q);
            tarn_outer(x, sees, rows_q, count, wide_k, sums_k);
            tarn_outer(e, sees, rows_g, count, wide_v, sums_v);
            if ((first + TARN_QUERIES) % TARN_CHUNK != 0 && first + TARN_QUERIES < queries)
                continue;
            tarn_end_chunk(sums_k, sees, features, wide_k, out_k);
            tarn_end_chunk(sums_v, sees, width, wide_v, out_v);
        }
    }
}

/* Without flags of keys, and with them. */
#define TARN_NO_FLAGS ((__global const int *)0)
#define tarn_attention_seen tarn_attention
#define tarn_attention_all(from, to, out, own, q, k, v, heads, queries, keys, features, width, scale, causal, lanes) \
    tarn_attention(from, to, out, own, q, k, v, TARN_NO_FLAGS, heads, queries, keys, features, width, scale, \
                   causal, lanes)
#define tarn_attention_grad_seen tarn_attention_grad
#define tarn_attention_grad_all(from, to, out, own, q, k, v, g, heads, queries, keys, features, width, scale, \
                                causal) \
    tarn_attention_grad(from, to, out, own, q, k, v, g, TARN_NO_FLAGS, heads, queries, keys, features, width, \
                        scale, causal)
