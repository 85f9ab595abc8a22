/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of data set gives each sample once an epoch, in the order of the seed, to 1, 2 and 3
 * replicas, and goes on in the middle of an epoch. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "data/sampler.h"
#include "tensor/replica.h"

enum { ROOM = 64, EPOCHS = 2, BATCH = 12, GIVEN = 6 };
enum kind { FLOATS, BYTES, INTEGERS, CALLED, REPEATED, KINDS };

static const char *const kind_names[] = { "floats", "bytes", "integers", "called", "repeated" };
static const int worlds[] = { 1, 2, 3 };

/* Sample i holds i in its first input, 100 + i in its second and i in its target. */
static struct {
    float f[ROOM];
    uint8_t u[ROOM];
    int32_t i[ROOM], second[ROOM][2];
} arrays;

static int get(void *user, int32_t index, const tarn_sample *out)
{
    int32_t *second = out->inputs[1], *target = out->targets[0];
    (void)user;
    *(float *)out->inputs[0] = (float)index;
    second[0] = second[1] = 100 + index;
    *target = index;
    return 0;
}

static tarn_dataset *make(enum kind kind, int32_t size)
{
    for (int i = 0; i < ROOM; i++) {
        arrays.f[i] = (float)i;
        arrays.u[i] = (uint8_t)i;
        arrays.i[i] = i;
        arrays.second[i][0] = arrays.second[i][1] = 100 + i;
    }
    const int32_t count = kind == REPEATED ? GIVEN : size;
    const tarn_dtype dtype = kind == BYTES ? TARN_U8 : kind == INTEGERS ? TARN_I32 : TARN_F32;
    const void *first = kind == BYTES      ? (void *)arrays.u
                        : kind == INTEGERS ? (void *)arrays.i
                                           : (void *)arrays.f;
    tarn_arrays a = {
        .inputs = { { .data = first, .dtype = dtype, .shape = TARN_SHAPE(count, 1, 1) },
                    { .data = arrays.second, .dtype = TARN_I32, .shape = TARN_SHAPE(count, 2) } },
        .targets = { { .data = arrays.i, .dtype = TARN_I32, .shape = TARN_SHAPE(count) } }
    };
    if (kind == CALLED) {
        a.inputs[0].data = a.inputs[1].data = a.targets[0].data = NULL;
        return tarn_dataset_call(a, get, NULL);
    }
    return kind == REPEATED ? tarn_dataset_repeat(a, size / GIVEN) : tarn_dataset_from(a);
}

struct seen {
    int32_t id[EPOCHS][ROOM];
    int times[EPOCHS][ROOM];
};

/* The target is looked at in every batch; the inputs, which take a compilation for each shape, by
 * one replica. */
static void take(struct seen *s, int epoch, int at, const tarn_batch *b, enum kind kind, bool all)
{
    float x[ROOM];
    int32_t second[ROOM][2];
    const size_t n = (size_t)b->n;
    cr_assert(b->input_count == 2 && b->target_count == 1 && at + b->n <= ROOM);
    cr_expect_eq(tarn_shape_get(b->x).rank, 3);
    cr_assert_eq(tarn_read(b->targets[0], s->id[epoch] + at, n * sizeof(int32_t)), TARN_OK);
    for (int i = 0; i < b->n; i++)
        s->times[epoch][at + i]++;
    if (!all)
        return;
    const tarn_tensor first = tarn_cast(b->inputs[0], TARN_F32);
    cr_assert_eq(tarn_read(first, x, n * sizeof *x), TARN_OK);
    cr_assert_eq(tarn_read(b->inputs[1], second, n * sizeof *second), TARN_OK);
    for (int i = 0; i < b->n; i++) {
        const float id = (float)s->id[epoch][at + i];
        const float back = kind == BYTES ? x[i] * 255 : x[i];
        cr_expect(back > id - 0.01f && back < id + 0.01f, "%g for %g", (double)back, (double)id);
        cr_expect(second[i][0] == 100 + (int)id && second[i][1] == 100 + (int)id);
    }
}

/* Replicas one after the other, from batch `from` of epoch 0. */
static void collect(struct seen *s, tarn_replica *r, const tarn_dataset *d, enum kind kind,
                    tarn_loader_options o, int world, int from)
{
    struct peers peers = { .world = world };
    memset(s, 0, sizeof *s);
    r->peers = &peers;
    for (; peers.rank < world; peers.rank++) {
        o.threads = 1 + (peers.rank + world) % 3;
        tarn_loader *l = tarn_loader_open(r, d, o);
        cr_assert_not_null(l, "%s: %s", kind_names[kind], tarn_error(r));
        tarn_loader_seek(l, 0, (uint64_t)from);
        for (int epoch = 0, at; epoch < EPOCHS; epoch++) {
            at = epoch == 0 ? from * BATCH : 0;
            for (tarn_batch b; tarn_loader_next(l, &b); at += b.global) {
                take(s, epoch, at + b.global * peers.rank / world, &b, kind, world == 2);
                cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
            }
            cr_assert_eq(tarn_loader_status(l), TARN_OK, "%s", tarn_error(r));
        }
        tarn_loader_close(l);
    }
    r->peers = NULL;
}

/* Place p of an epoch holds sample order[p]; an order that is too short begins again. */
static void expect_order(const struct seen *s, enum kind kind, tarn_loader_options o, int32_t size,
                         int from, const char *what)
{
    const int32_t whole = size / BATCH * BATCH;
    const int32_t expected = o.drop_last                  ? whole
                             : o.pad_last && size > whole ? whole + BATCH
                                                          : size;
    int32_t order[ROOM];
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        for (int32_t i = 0; i < size; i++)
            order[i] = i;
        if (o.shuffle)
            sampler_permute(order, size, o.seed, (uint64_t)epoch);
        for (int32_t p = 0; p < ROOM; p++) {
            const bool due = p < expected && (epoch > 0 || p >= from * BATCH);
            const int32_t id = kind == REPEATED ? order[p % size] % GIVEN : order[p % size];
            cr_assert_eq(s->times[epoch][p], due, "%s, %s: place %d comes %d times",
                         kind_names[kind], what, p, s->times[epoch][p]);
            cr_assert(!due || s->id[epoch][p] == id, "%s, %s: place %d", kind_names[kind], what, p);
        }
    }
}

static void cover(enum kind kind)
{
    static const struct {
        const char *what;
        int32_t size;
        tarn_loader_options o;
    } cases[] = {
        { "in order", 24, { .batch = BATCH } },
        { "in order, a short last batch", 30, { .batch = BATCH } },
        { "shuffled", 30, { .batch = BATCH, .shuffle = true, .seed = 5 } },
        { "dropped", 30, { .batch = BATCH, .shuffle = true, .drop_last = true, .seed = 6 } },
        { "filled", 30, { .batch = BATCH, .shuffle = true, .pad_last = true, .seed = 7 } },
    };
    struct seen seen;
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tarn_dataset *d = make(kind, cases[c].size);
        cr_assert_not_null(d, "%s", tarn_error(NULL));
        cr_expect_eq(tarn_dataset_size(d), cases[c].size);
        for (int w = 0; w < 3; w++) {
            collect(&seen, r, d, kind, cases[c].o, worlds[w], 0);
            expect_order(&seen, kind, cases[c].o, cases[c].size, 0, cases[c].what);
        }
        /* In the middle of an epoch, with another number of replicas. */
        collect(&seen, r, d, kind, cases[c].o, 2, 1);
        expect_order(&seen, kind, cases[c].o, cases[c].size, 1, "resumed");
        tarn_dataset_close(d);
    }
    tarn_close(r);
}

TestSuite(cover, .timeout = 600);

Test(cover, floats)
{
    cover(FLOATS);
}

Test(cover, bytes)
{
    cover(BYTES);
}

Test(cover, integers)
{
    cover(INTEGERS);
}

Test(cover, called)
{
    cover(CALLED);
}

Test(cover, repeated)
{
    cover(REPEATED);
}

/* A part that is empty in the last batch. */
Test(cover, in_order_with_fewer_samples_than_replicas)
{
    struct seen seen;
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int kind = 0; kind < KINDS; kind += CALLED) {
        tarn_dataset *d = make((enum kind)kind, 26);
        collect(&seen, r, d, (enum kind)kind, (tarn_loader_options){ .batch = BATCH }, 3, 0);
        expect_order(&seen, (enum kind)kind, (tarn_loader_options){ .batch = BATCH }, 26, 0, "few");
        tarn_dataset_close(d);
    }
    tarn_close(r);
}
