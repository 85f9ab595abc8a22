/* SPDX-License-Identifier: Apache-2.0 */
/* Several replicas together see the batches of one device: the arithmetic, and loaders that read. */
#include "data/sampler.h"
#include "digits.h"
#include "tensor/replica.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof a / sizeof(*(a))))

static const int worlds[] = { 1, 2, 3, 4, 5, 8 };

/* ---- the arithmetic ------------------------------------------------------------------------- */

Test(sampler, parts_join_to_the_batch)
{
    static const int32_t sizes[] = { 0, 1, 2, 3, 7, 8, 50, 127, 128, INT32_MAX };
    for (int w = 0; w < COUNT(worlds); w++) {
        for (int s = 0; s < COUNT(sizes); s++) {
            int32_t at = 0;
            for (int rank = 0; rank < worlds[w]; rank++) {
                int32_t first, count;
                sampler_part(sizes[s], rank, worlds[w], &first, &count);
                cr_expect_eq(first, at, "%d in %d parts", sizes[s], worlds[w]);
                cr_expect(count == sizes[s] / worlds[w] || count == sizes[s] / worlds[w] + 1);
                at += count;
            }
            cr_expect_eq(at, sizes[s], "%d in %d parts", sizes[s], worlds[w]);
        }
    }
}

static void expect_cut(struct sampler_cut c)
{
    int64_t sum = 0;
    int32_t most[8] = { 0 };
    for (int32_t i = 0; i < sampler_length(&c); i++) {
        const int32_t n = sampler_batch(&c, (uint64_t)i);
        cr_expect(n > 0 && n <= c.batch && (n == c.batch || i == sampler_length(&c) - 1));
        sum += n;
        for (int rank = 0; rank < 5; rank++) {
            int32_t first, count;
            sampler_part(n, rank, 5, &first, &count);
            most[rank] = count > most[rank] ? count : most[rank];
        }
    }
    const int32_t left = c.size % c.batch;
    const int32_t changed = c.drop_last ? -left : c.pad_last && left ? c.batch - left : 0;
    cr_expect_eq(sum, c.size + changed, "%d in batches of %d", c.size, c.batch);
    for (int rank = 0; rank < 5 && sum > 0; rank++)
        cr_expect_eq(sampler_most(&c, rank, 5), most[rank], "%d by %d", c.size, c.batch);
}

Test(sampler, batches_add_up)
{
    for (int32_t size = 1; size < 70; size++) {
        for (int32_t batch = 1; batch < 40; batch++) {
            expect_cut((struct sampler_cut){ .size = size, .batch = batch });
            expect_cut((struct sampler_cut){ .size = size, .batch = batch, .pad_last = true });
            expect_cut((struct sampler_cut){ .size = size, .batch = batch, .drop_last = true });
        }
    }
    const struct sampler_cut most = { .size = INT32_MAX, .batch = INT32_MAX - 1 };
    cr_expect_eq(sampler_length(&most), 2);
    cr_expect_eq(sampler_batch(&most, 1), 1);
}

/* ---- loaders -------------------------------------------------------------------------------- */

#define PIXELS 784
#define EPOCHS 2
#define ROOM 96 /* samples of an epoch, padding included */

/* What some epochs delivered, by place in the global order. */
struct seen {
    float x[EPOCHS][ROOM][PIXELS];
    int32_t y[EPOCHS][ROOM];
    int times[EPOCHS][ROOM];
};

static tarn_replica *open_replica(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static void take(struct seen *s, uint64_t epoch, int at, tarn_batch b)
{
    cr_assert(epoch < EPOCHS && at + b.n <= ROOM);
    const tarn_tensor both[] = { b.x, b.y };
    cr_assert_eq(tarn_eval(both, 2), TARN_OK);
    cr_assert_eq(tarn_read(b.x, s->x[epoch][at], (size_t)b.n * sizeof(s->x[0][0])), TARN_OK);
    cr_assert_eq(tarn_read(b.y, s->y[epoch] + at, (size_t)b.n * sizeof(s->y[0][0])), TARN_OK);
    for (int i = 0; i < b.n; i++)
        s->times[epoch][at + i]++;
}

/* All ranks of a world, one after the other, from batch `from` of epoch 0 to `to` of the last. */
static void collect(struct seen *s, tarn_replica *r, const tarn_dataset *d, tarn_loader_options o,
                    int world, int from, int to)
{
    struct peers peers = { .world = world };
    r->peers = &peers;
    o.mean = MNIST_MEAN;
    o.deviation = MNIST_DEVIATION;
    for (; peers.rank < world; peers.rank++) {
        tarn_loader *l = tarn_loader_open(r, d, o);
        cr_assert_not_null(l, "%s", tarn_error(r));
        tarn_loader_seek(l, 0, (uint64_t)from);
        for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
            const int stop = epoch == EPOCHS - 1 ? to : tarn_loader_length(l);
            int at = (epoch == 0 ? from : 0) * o.batch, batch = at / o.batch;
            cr_expect_eq(tarn_loader_epoch(l), epoch);
            for (tarn_batch b; batch < stop && tarn_loader_next(l, &b); batch++) {
                cr_expect_gt(b.n, 0);
                take(s, epoch, at + b.global * peers.rank / world, b);
                at += b.global;
                cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
            }
            cr_assert_eq(tarn_error_status(r), TARN_OK, "%s", tarn_error(r));
            if (batch == tarn_loader_length(l))
                cr_expect_not(tarn_loader_next(l, &(tarn_batch){ 0 }));
        }
        tarn_loader_close(l);
    }
    r->peers = NULL;
}

/* Against the data set itself: place p holds sample order[p], beginning again at the end. */
static void expect_samples(const struct seen *s, const tarn_dataset *d, tarn_loader_options o,
                           int expected)
{
    const int32_t size = tarn_dataset_size(d);
    int32_t order[ROOM];
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        for (int32_t i = 0; i < size; i++)
            order[i] = i;
        if (o.shuffle)
            sampler_permute(order, size, o.seed, epoch);
        for (int p = 0; p < ROOM; p++) {
            cr_assert_eq(s->times[epoch][p], p < expected, "place %d: %d", p, s->times[epoch][p]);
            if (p >= expected)
                continue;
            const int32_t chosen = order[p % size];
            const uint8_t *pixels = tarn_dataset_samples(d) + (size_t)chosen * PIXELS;
            double worst = 0;
            for (int i = 0; i < PIXELS; i++)
                worst =
                    fmax(worst, fabs(s->x[epoch][p][i] - (pixels[i] / 255.0 - 0.1307) / 0.3081));
            cr_expect_lt(worst, 1e-6, "place %d is off by %g", p, worst);
            cr_expect_eq(s->y[epoch][p], tarn_dataset_labels(d)[chosen], "place %d", p);
        }
    }
}

static void expect_same_everywhere(tarn_replica *r, int size, tarn_loader_options o, int expected,
                                   const int *tried, int count)
{
    tarn_dataset *d = digits_open(size, 1);
    struct seen *alone = calloc(1, sizeof *alone), *joined = malloc(sizeof *joined);
    cr_assert(d && alone && joined);
    const int length = (expected + o.batch - 1) / o.batch;
    collect(alone, r, d, o, 1, 0, length);
    expect_samples(alone, d, o, expected);
    const bool same = memcmp(alone->x[0], alone->x[1], sizeof(alone->x[0])) == 0;
    cr_expect_eq(same, !o.shuffle, "two epochs of %d samples", size);
    for (int w = 0; w < count; w++) {
        memset(joined, 0, sizeof *joined);
        collect(joined, r, d, o, tried[w], 0, length);
        cr_expect_eq(memcmp(alone, joined, sizeof *alone), 0, "%d samples, world %d", size,
                     tried[w]);
    }
    free(alone);
    free(joined);
    digits_close(d);
}

Test(replicas, in_order_see_each_sample_once, .timeout = 600)
{
    tarn_replica *r = open_replica();
    static const int sizes[] = { 48, 50, 3, 15 };
    for (int i = 0; i < COUNT(sizes); i++)
        expect_same_everywhere(r, sizes[i], (tarn_loader_options){ .batch = 16 }, sizes[i], worlds,
                               COUNT(worlds));
    /* A last part larger than that of a whole batch. */
    expect_same_everywhere(r, 15, (tarn_loader_options){ .batch = 8 }, 15, (const int[]){ 5 }, 1);
    tarn_close(r);
}

Test(replicas, shuffled_see_what_one_sees, .timeout = 600)
{
    tarn_replica *r = open_replica();
    tarn_loader_options o = { .batch = 16, .shuffle = true, .seed = 9 };
    expect_same_everywhere(r, 48, o, 48, worlds, COUNT(worlds));
    expect_same_everywhere(r, 56, o, 56, (const int[]){ 1, 2, 4, 8 }, 4);
    o.drop_last = true;
    expect_same_everywhere(r, 50, o, 48, worlds, COUNT(worlds));
    o.drop_last = false;
    o.pad_last = true;
    expect_same_everywhere(r, 50, o, 64, worlds, COUNT(worlds));
    expect_same_everywhere(r, 64, o, 64, (const int[]){ 4 }, 1);
    expect_same_everywhere(r, 7, o, 16, (const int[]){ 2, 4 }, 2);
    tarn_close(r);
}

/* Two replicas stop in the middle of an epoch, eight go on. */
Test(replicas, resume_with_another_world, .timeout = 600)
{
    tarn_replica *r = open_replica();
    tarn_dataset *d = digits_open(50, 1);
    const tarn_loader_options o = { .batch = 16,
                                    .shuffle = true,
                                    .drop_last = true,
                                    .seed = 9,
                                    .mean = MNIST_MEAN,
                                    .deviation = MNIST_DEVIATION };
    struct seen *alone = calloc(1, sizeof *alone), *joined = calloc(1, sizeof *joined);
    cr_assert(d && alone && joined);
    collect(alone, r, d, o, 1, 0, 3);
    struct peers peers = { .world = 2 };
    r->peers = &peers;
    for (; peers.rank < 2; peers.rank++) {
        tarn_batch b;
        tarn_loader *l = tarn_loader_open(r, d, o);
        cr_assert_not_null(l, "%s", tarn_error(r));
        cr_assert(tarn_loader_next(l, &b));
        take(joined, 0, 8 * peers.rank, b);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        tarn_loader_close(l);
    }
    collect(joined, r, d, o, 8, 1, 3);
    cr_expect_eq(memcmp(alone, joined, sizeof *alone), 0);
    free(alone);
    free(joined);
    digits_close(d);
    tarn_close(r);
}

/* Two at once, as a launch has them; closed with batches prepared and batches in the step. */
Test(replicas, read_and_close_side_by_side, .timeout = 600)
{
    struct peers peers[2] = { { .rank = 0, .world = 2 }, { .rank = 1, .world = 2 } };
    tarn_dataset *d = digits_open(50, 1);
    tarn_replica *r[2];
    tarn_loader *l[2];
    for (int i = 0; i < 2; i++) {
        r[i] = open_replica();
        r[i]->peers = &peers[i];
        l[i] = tarn_loader_open(r[i], d, (tarn_loader_options){ .batch = 16 });
        cr_assert_not_null(l[i], "%s", tarn_error(r[i]));
        cr_expect_eq(tarn_loader_length(l[i]), 4);
    }
    for (int batch = 0; batch < 2; batch++) {
        for (int i = 0; i < 2; i++) {
            tarn_batch b;
            int32_t y[8];
            cr_assert(tarn_loader_next(l[i], &b));
            cr_expect(b.n == 8 && b.global == 16);
            cr_assert_eq(tarn_read(b.y, y, sizeof y), TARN_OK);
            for (int s = 0; s < 8; s++)
                cr_expect_eq(y[s], tarn_dataset_labels(d)[16 * batch + 8 * i + s]);
            if (batch == 0)
                cr_assert_eq(tarn_step(r[i]), TARN_OK, "%s", tarn_error(r[i]));
        }
    }
    tarn_loader_close(l[0]);
    for (int i = 0; i < 2; i++)
        tarn_close(r[i]);
    digits_close(d);
}

/* Device memory that a loader takes. */
static uint64_t loader_bytes(tarn_replica *r, const tarn_dataset *d, struct peers *peers)
{
    r->peers = peers;
    const uint64_t before = tarn_metrics_get(r).device_bytes;
    tarn_loader *l = tarn_loader_open(r, d, (tarn_loader_options){ .batch = 64, .prefetch = 2 });
    cr_assert_not_null(l, "%s", tarn_error(r));
    const uint64_t taken = tarn_metrics_get(r).device_bytes - before;
    tarn_loader_close(l);
    r->peers = NULL;
    return taken;
}

Test(replicas, take_memory_for_their_part_only)
{
    tarn_replica *r = open_replica();
    tarn_dataset *many = digits_open(128, 1), *few = digits_open(3, 1);
    struct peers second = { .rank = 1, .world = 4 }, first = { .rank = 0, .world = 4 };
    const uint64_t whole = loader_bytes(r, many, NULL);
    cr_expect_geq(whole, 3 * 64 * (PIXELS + 1));
    cr_expect_lt(loader_bytes(r, many, &second), whole / 3);
    cr_expect_eq(loader_bytes(r, few, &first), 0, "no part in any batch");
    tarn_close(r);
    digits_close(many);
    digits_close(few);
}

/* ---- refusals ------------------------------------------------------------------------------- */

Test(replicas, name_their_refusals)
{
    static const struct {
        tarn_loader_options o;
        struct peers peers;
        const char *line; /* NULL: accepted */
    } cases[] = {
        { { .batch = 16, .drop_last = true, .pad_last = true },
          { .rank = 0, .world = 1, .shards = 0 },
          "choose one" },
        { { .batch = 3 },
          { .rank = 0, .world = 4, .shards = 0 },
          "a batch of 3 is too small for 4 replicas" },
        { { .batch = 4 }, { .rank = 3, .world = 4, .shards = 0 }, NULL },
        { { .batch = 16, .shuffle = true },
          { .rank = 1, .world = 4, .shards = 0 },
          "the last batch has 2 samples, no multiple of 4 for 4 replicas; choose drop_last or "
          "pad_last" },
        { { .batch = 16, .shuffle = true }, { .rank = 1, .world = 2, .shards = 0 }, NULL },
        { { .batch = 16, .shuffle = true, .drop_last = true },
          { .rank = 1, .world = 4, .shards = 0 },
          NULL },
        { { .batch = 16, .shuffle = true, .pad_last = true },
          { .rank = 1, .world = 4, .shards = 0 },
          NULL },
        { { .batch = 16 }, { .rank = 1, .world = 4, .shards = 0 }, NULL },
        { { .batch = 999, .shuffle = true },
          { .rank = 0, .world = 4, .shards = 0 },
          "has 50 samples" },
        { { .batch = 999 }, { .rank = 0, .world = 4, .shards = 0 }, NULL },
        { { .batch = INT32_MAX }, { .rank = 0, .world = 4, .shards = 0 }, NULL },
        { { .batch = 48, .drop_last = true },
          { .rank = 0, .world = 1, .shards = 2 },
          "batch 48 with 2 virtual shards: each of the 2 shards needs a multiple of 16 samples" },
        { { .batch = 33 }, { .rank = 0, .world = 2, .shards = 2 }, NULL },
        { { .batch = 33, .drop_last = true },
          { .rank = 0, .world = 2, .shards = 2 },
          "choose a multiple of 32" },
        { { .batch = 32 }, { .rank = 1, .world = 2, .shards = 2 }, NULL },
        { { .batch = 48, .pad_last = true },
          { .rank = 1, .world = 2, .shards = 2 },
          "each of the 2 shards" },
        { { .batch = 999 }, { .rank = 0, .world = 1, .shards = 2 }, NULL },
        { { .batch = 999, .pad_last = true },
          { .rank = 0, .world = 1, .shards = 2 },
          "batch 999 with 2 virtual shards" },
        { { .batch = 32, .shuffle = true, .drop_last = true },
          { .rank = 0, .world = 1, .shards = 2 },
          NULL },
        { { .batch = 32, .shuffle = true },
          { .rank = 0, .world = 1, .shards = 2 },
          "the last batch has 18 samples, no multiple of 32 for 2 virtual shards" },
    };
    tarn_replica *r = open_replica();
    tarn_dataset *d = digits_open(50, 1);
    for (int i = 0; i < COUNT(cases); i++) {
        struct peers peers = cases[i].peers;
        r->peers = &peers;
        tarn_loader *l = tarn_loader_open(r, d, cases[i].o);
        cr_expect_eq(l == NULL, cases[i].line != NULL, "case %d: %s", i, tarn_error(r));
        if (cases[i].line != NULL) {
            cr_expect_eq(tarn_error_status(r), TARN_ERR_ARGUMENT, "case %d", i);
            cr_expect_not_null(strstr(tarn_error(r), cases[i].line), "case %d: %s", i,
                               tarn_error(r));
            cr_expect_null(strchr(tarn_error(r), '\n'));
        }
        tarn_error_clear(r);
        tarn_loader_close(l);
        r->peers = NULL;
    }
    tarn_close(r);
    digits_close(d);
}
