/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and mirror images against a plain reference; mean and deviation in double. */
#include "data/sampler.h"
#include "data/transform.h"
#include "tensor/random.h"
#include "tensor/replica.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 12, PLANES = 3, HEIGHT = 5, WIDTH = 7, PIXELS = PLANES * HEIGHT * WIDTH };

/* ---- one sample ----------------------------------------------------------------------------- */

/* Where the pixel of (i, j) comes from, element by element. */
static void reference(const struct transform *t, uint64_t seed, uint64_t epoch, int32_t index,
                      const uint8_t *from, uint8_t *to)
{
    const uint64_t key =
        random_key_number(random_key_number(random_key(seed, "augment"), epoch), (uint64_t)index);
    const bool flipped = t->flip && random_u32(key, 0) % 2 == 1;
    uint64_t counter = 1;
    const int tall = t->crop_height, wide = t->crop_width;
    const int top =
        (int)sampler_below((uint32_t)(t->height + 2 * t->pad - tall + 1), key, &counter);
    const int left =
        (int)sampler_below((uint32_t)(t->width + 2 * t->pad - wide + 1), key, &counter);
    for (int c = 0; c < t->planes; c++) {
        for (int i = 0; i < tall; i++) {
            for (int j = 0; j < wide; j++) {
                const int y = top + i - t->pad, x = left + (flipped ? wide - 1 - j : j) - t->pad;
                const bool inside = y >= 0 && y < t->height && x >= 0 && x < t->width;
                for (size_t e = 0; e < t->element; e++)
                    to[((size_t)(c * tall + i) * (size_t)wide + (size_t)j) * t->element + e] =
                        inside ? from[((size_t)(c * t->height + y) * (size_t)t->width + (size_t)x) *
                                          t->element +
                                      e]
                               : 0;
            }
        }
    }
}

static const tarn_loader_options recipes[] = {
    { .flip = true },
    { .pad = 2 },
    { .crop = { 3 } },
    { .crop = { 4, 6 }, .flip = true },
    { .crop = { 1, 1 }, .flip = true },
    { .crop = { 2, 3 }, .pad = 6, .flip = true }, /* may see nothing but padding */
    { .crop = { 9, 11 }, .pad = 2 },              /* all of it */
    { .crop = { 8, 3 }, .pad = 3, .flip = true },
};

Test(transform, agrees_with_the_reference)
{
    uint8_t from[4 * PIXELS], got[4 * 1024], expected[4 * 1024];
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)(1 + i % 251);
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) {
        for (int wide = 0; wide < 2; wide++) {
            struct transform t;
            tarn_loader_options o = recipes[k];
            o.seed = k;
            const tarn_dtype dtype = wide ? TARN_F32 : TARN_U8;
            const tarn_shape sample = TARN_SHAPE(PLANES, HEIGHT, WIDTH);
            cr_assert_eq(transform_make(&o, sample, dtype, &t), TARN_OK);
            const size_t bytes =
                (size_t)tarn_shape_count(transform_shape(&t, sample)) * tarn_dtype_bytes(dtype);
            cr_assert_leq(bytes, sizeof got);
            for (int32_t i = 0; i < 200; i++) {
                memset(got, 255, sizeof got);
                memset(expected, 255, sizeof expected);
                transform_sample(&t, (uint64_t)i % 3, i, from, got);
                reference(&t, k, (uint64_t)i % 3, i, from, expected);
                cr_assert_eq(memcmp(got, expected, sizeof got), 0, "recipe %zu, sample %d", k, i);
            }
        }
    }
}

/* Both sides and all 5 x 5 windows of pad 2 come as often as chance has it: within 6 standard
 * deviations. */
Test(transform, is_even)
{
    const tarn_loader_options o = { .pad = 2, .flip = true, .seed = 1 };
    const tarn_shape sample = TARN_SHAPE(1, 5, 5);
    enum { DRAWS = 50000 };
    uint8_t from[25] = { 0 }, to[25];
    int windows[25] = { 0 }, mirrored = 0;
    struct transform t;
    from[12] = 1; /* the middle */
    cr_assert_eq(transform_make(&o, sample, TARN_U8, &t), TARN_OK);
    for (int32_t i = 0; i < DRAWS; i++) {
        transform_sample(&t, 0, i, from, to);
        windows[(const uint8_t *)memchr(to, 1, sizeof to) - to]++;
    }
    for (int i = 0; i < 25; i++)
        cr_expect(abs(windows[i] - DRAWS / 25) < 6 * 44, "window %d: %d", i, windows[i]);
    const tarn_loader_options mirror = { .flip = true, .seed = 1 };
    cr_assert_eq(transform_make(&mirror, sample, TARN_U8, &t), TARN_OK);
    from[12] = 0;
    from[10] = 1;
    for (int32_t i = 0; i < DRAWS; i++) {
        transform_sample(&t, 0, i, from, to);
        mirrored += to[14];
    }
    cr_expect(abs(mirrored - DRAWS / 2) < 6 * 112, "%d", mirrored);
}

/* ---- through a loader ----------------------------------------------------------------------- */

static uint8_t images[SIZE][PLANES][HEIGHT][WIDTH];

static int get(void *user, int32_t index, const tarn_sample *out)
{
    (void)user;
    memcpy(out->inputs[0], images[index], sizeof images[0]);
    return 0;
}

static tarn_dataset *make(bool called)
{
    for (size_t i = 0; i < sizeof images; i++)
        ((uint8_t *)images)[i] = (uint8_t)(i * 37 % 256);
    const tarn_array a = { .data = called ? NULL : images,
                           .dtype = TARN_U8,
                           .shape = TARN_SHAPE(SIZE, PLANES, HEIGHT, WIDTH) };
    const tarn_arrays arrays = { .inputs = { a } };
    return called ? tarn_dataset_call(arrays, get, NULL) : tarn_dataset_from(arrays);
}

static const float means[] = { 0.4914f, 0.4822f, 0.4465f };
static const float deviations[] = { 0.2470f, 0.2435f, 0.2616f };

enum { TALL = 4, WIDE = 6, OUT = PLANES * TALL * WIDE, BATCH = 6 };

/* Epoch 1 of a shuffled loader, in the places of one device. */
static void collect(tarn_replica *r, const tarn_dataset *d, int world, int threads, int32_t batch,
                    float (*to)[OUT])
{
    struct peers peers = { .world = world };
    r->peers = &peers;
    for (; peers.rank < world; peers.rank++) {
        tarn_loader *l = tarn_loader_open(r, d,
                                          (tarn_loader_options){ .batch = batch,
                                                                 .shuffle = true,
                                                                 .seed = 11,
                                                                 .means = means,
                                                                 .deviations = deviations,
                                                                 .channels = PLANES,
                                                                 .pad = 2,
                                                                 .crop = { TALL, WIDE },
                                                                 .flip = true,
                                                                 .threads = threads });
        cr_assert_not_null(l, "%s", tarn_error(r));
        tarn_loader_seek(l, 1, 0);
        int at = 0;
        for (tarn_batch b; tarn_loader_next(l, &b); at += b.global) {
            float *place = to[at + b.global * peers.rank / world];
            cr_assert_eq(tarn_read(b.x, place, (size_t)b.n * sizeof *to), TARN_OK, "%s",
                         tarn_error(r));
            cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        }
        cr_assert_eq(at, SIZE);
        tarn_loader_close(l);
    }
    r->peers = NULL;
}

TestSuite(augment, .timeout = 600);

Test(augment, same_with_any_threads_replicas_and_batches)
{
    static float first[SIZE][OUT], seen[SIZE][OUT];
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *from = make(false), *called = make(true);
    collect(r, from, 1, 1, BATCH, first);
    static const struct {
        int world, threads, batch;
        bool called;
    } cases[] = {
        { 1, 3, BATCH, false }, { 1, 2, BATCH, true }, { 2, 1, BATCH, true }, { 1, 1, 12, false }
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(seen, 0, sizeof seen);
        collect(r, cases[i].called ? called : from, cases[i].world, cases[i].threads,
                cases[i].batch, seen);
        cr_expect_eq(memcmp(first, seen, sizeof first), 0, "case %zu", i);
    }
    /* Against the reference, in double: the device rounds four times. */
    int32_t order[SIZE];
    uint8_t image[OUT];
    struct transform t;
    const tarn_loader_options o = { .pad = 2, .crop = { TALL, WIDE }, .flip = true, .seed = 11 };
    cr_assert_eq(transform_make(&o, TARN_SHAPE(PLANES, HEIGHT, WIDTH), TARN_U8, &t), TARN_OK);
    sampler_permute(order, SIZE, 11, 1);
    for (int i = 0; i < SIZE; i++) {
        reference(&t, 11, 1, order[i], (const uint8_t *)images[order[i]], image);
        for (int k = 0; k < OUT; k++) {
            const int c = k / (TALL * WIDE);
            const double mean = (double)means[c], deviation = (double)deviations[c];
            const double exact = (image[k] / 255.0 - mean) / deviation;
            const double bound = 4 * 0x1p-24 * (image[k] / 255.0 + mean) / deviation;
            cr_assert(fabs((double)first[i][k] - exact) <= bound, "%g for %g", (double)first[i][k],
                      exact);
        }
    }
    tarn_close(r);
    tarn_dataset_close(from);
    tarn_dataset_close(called);
}

/* A large mean costs no digits: it is taken away first. */
Test(augment, floats_are_normalised)
{
    static const float x[4][2] = { { 1000.25f, -3 }, { 1000.5f, 4 }, { 999, 0 }, { 1002, 1.5f } };
    static const float mean[] = { 1000, 1 }, deviation[] = { 0.3f, 2 };
    float got[4][2];
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *d =
        tarn_dataset_from((tarn_arrays){ .inputs = { { .data = x, .shape = TARN_SHAPE(4, 2) } } });
    for (int each = 0; each < 2; each++) {
        tarn_loader_options o = { .batch = 4, .mean = mean[0], .deviation = deviation[0] };
        if (each)
            o = (tarn_loader_options){
                .batch = 4, .means = mean, .deviations = deviation, .channels = 2
            };
        tarn_loader *l = tarn_loader_open(r, d, o);
        tarn_batch b;
        cr_assert(tarn_loader_next(l, &b), "%s", tarn_error(r));
        cr_assert_eq(tarn_read(b.x, got, sizeof got), TARN_OK);
        for (int i = 0; i < 8; i++) {
            const int c = each ? i % 2 : 0;
            const double exact = ((double)x[i / 2][i % 2] - (double)mean[c]) / (double)deviation[c];
            cr_expect(fabs((double)got[i / 2][i % 2] - exact) <= 3 * 0x1p-24 * fabs(exact),
                      "%.9g for %.9g", (double)got[i / 2][i % 2], exact);
        }
        cr_assert_eq(tarn_step(r), TARN_OK);
        tarn_loader_close(l);
    }
    tarn_close(r);
    tarn_dataset_close(d);
}
