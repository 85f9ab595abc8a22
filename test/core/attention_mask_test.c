/* SPDX-License-Identifier: Apache-2.0 */
/* Masks of queries and keys, and heads that share keys, next to the same attention said otherwise: equal bits, of
 * gradients, too. Small ones next to double are the fuzzer's. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { SAMPLES = 8, HEADS = 4, GROUPS = 2, QUERIES = 128, KEYS = 130, EACH = 16 };
enum { Q, K, V, WEIGHT, INPUTS, SQUARE = QUERIES * KEYS, Y = INPUTS, RESULTS };

/* How an attention is said. */
enum way {
    CAUSAL, /* by blocks of queries */
    FLAGS,  /* the same of flags */
    ADDED,  /* and of 0 and -infinity, which are added */
    SHARED, /* causal; each head of k and v is one of two heads of q's */
    COPIED  /* the same with heads that are copied */
};

static bool shares(enum way way)
{
    return way == SHARED || way == COPIED;
}

static tarn_shape shape_of(enum way way, int i)
{
    const bool of_keys = i == K || i == V;
    return TARN_SHAPE(SAMPLES, shares(way) && of_keys ? GROUPS : HEADS, of_keys ? KEYS : QUERIES,
                      EACH);
}

static size_t count_of(enum way way, int i)
{
    return (size_t)tarn_shape_count(shape_of(way, i));
}

/* Each head twice. */
static tarn_tensor copied(tarn_tensor x)
{
    tarn_shape s = tarn_shape_get(x), wide = TARN_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2], s.dim[3]);
    x = tarn_reshape(x, wide);
    wide.dim[2] = HEADS / GROUPS;
    s.dim[1] = HEADS;
    return tarn_reshape(tarn_broadcast_to(x, wide), s);
}

static tarn_tensor mask_of(tarn_replica *r, enum way way)
{
    static unsigned char flags[SQUARE];
    static float added[SQUARE];
    const tarn_shape s = TARN_SHAPE(QUERIES, KEYS);
    for (int i = 0; i < SQUARE; i++) {
        flags[i] = i % KEYS <= i / KEYS;
        added[i] = flags[i] ? 0 : -INFINITY;
    }
    return way == FLAGS   ? tarn_from(r, s, TARN_U8, flags)
           : way == ADDED ? tarn_from(r, s, TARN_F32, added)
                          : TARN_NONE;
}

/* result[Q], [K] and [V] are gradients of the sum of Y times x[WEIGHT]; the caller frees them. */
static void run(enum way way, float *const x[INPUTS], float *result[RESULTS])
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_tensor in[INPUTS], out[RESULTS];
    for (int i = 0; i < INPUTS; i++)
        in[i] = tarn_from(r, shape_of(way, i), TARN_F32, x[i]);
    const bool copies = way == COPIED;
    const tarn_attention_options options = { .causal = way != FLAGS && way != ADDED,
                                             .mask = mask_of(r, way),
                                             .grouped_heads = way == SHARED };
    out[Y] = tarn_attention(in[Q], copies ? copied(in[K]) : in[K], copies ? copied(in[V]) : in[V],
                            options);
    tarn_gradients(tarn_sum(tarn_mul(out[Y], in[WEIGHT]), TARN_ALL, false), in, 3, out);
    out[WEIGHT] = in[WEIGHT];
    for (int i = 0; i < RESULTS; i++)
        out[i] = tarn_keep(out[i]);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < RESULTS; i++) {
        const size_t bytes = count_of(way, i == Y ? Q : i) * sizeof(float);
        result[i] = malloc(bytes);
        cr_assert_not_null(result[i]);
        cr_assert_eq(tarn_read(out[i], result[i], bytes), TARN_OK, "%s", tarn_error(r));
    }
    tarn_close(r);
}

/* Both ways give the same bits. */
static void expect_equal(enum way one, enum way other)
{
    float *x[INPUTS], *found[RESULTS], *wanted[RESULTS];
    for (int i = 0; i < INPUTS; i++) {
        x[i] = malloc(count_of(one, i) * sizeof(float));
        cr_assert_not_null(x[i]);
        for (size_t k = 0; k < count_of(one, i); k++)
            x[i][k] =
                (float)(random_u32(7, (uint32_t)(k * INPUTS) + (uint32_t)i) >> 8) / (1 << 22) - 2;
    }
    run(one, x, found);
    run(other, x, wanted);
    for (int i = 0; i < RESULTS; i++) {
        const size_t bytes = count_of(one, i == Y ? Q : i) * sizeof(float);
        cr_expect_eq(memcmp(found[i], wanted[i], bytes), 0, "ways %d and %d: result %d differs",
                     one, other, i);
        free(found[i]);
        free(wanted[i]);
    }
    for (int i = 0; i < INPUTS; i++)
        free(x[i]);
}

static void build_quickly(void)
{
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
}

TestSuite(attention_mask, .init = build_quickly);

Test(attention_mask, flags_are_causal_where_they_say_so, .timeout = 300)
{
    expect_equal(FLAGS, CAUSAL);
}

Test(attention_mask, minus_infinity_hides, .timeout = 300)
{
    expect_equal(ADDED, CAUSAL);
}

Test(attention_mask, heads_share_keys, .timeout = 300)
{
    expect_equal(SHARED, COPIED);
}

static void expect_refused(tarn_shape q, tarn_shape k, tarn_shape mask, bool grouped,
                           const char *line)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor keys = tarn_ones(r, k);
    const tarn_attention_options options = { .mask = mask.rank > 0 ? tarn_ones(r, mask) : TARN_NONE,
                                             .grouped_heads = grouped };
    cr_expect(tarn_failed(tarn_attention(tarn_ones(r, q), keys, keys, options)));
    cr_expect_eq(strncmp(tarn_error(r), line, strlen(line)), 0, "%s", tarn_error(r));
    tarn_close(r);
}

Test(attention_mask, refuses, .timeout = 60)
{
    const tarn_shape q = TARN_SHAPE(2, 4, 3, 8), rows = TARN_SHAPE(4, 3, 8);
    const tarn_shape none = TARN_SCALAR;
    expect_refused(q, TARN_SHAPE(2, 3, 5, 8), none, true,
                   "attention: q [2,4,3,8], k [2,3,5,8], v [2,3,5,8] must be [..., L, E], [..., S, "
                   "E] and [..., S, V], of 4 to 7 axes; the heads of k and v, axis -3, must divide "
                   "those of q");
    expect_refused(
        rows, rows, none, true,
        "attention: q [4,3,8], k [4,3,8], v [4,3,8] must be [..., L, E], [..., S, E] and "
        "[..., S, V], of 4 to 7 axes; the heads of k and v, axis -3, must divide those "
        "of q");
    expect_refused(q, TARN_SHAPE(2, 2, 5, 8), none, false,
                   "attention: q [2,4,3,8], k [2,2,5,8], v [2,2,5,8] must be [..., L, E], [..., S, "
                   "E] and [..., S, V] (step 1)");
    expect_refused(q, q, TARN_SHAPE(4, 3), false,
                   "attention: mask [4,3] must broadcast to [2,4,3,3] (step 1)");
}
