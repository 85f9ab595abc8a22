/* SPDX-License-Identifier: Apache-2.0 */
/* IDX files good and bad, data sets, the order of samples, and the loader on a replica. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "data/idx.h"
#include "data/sampler.h"
#include "digits.h"
#include "tarn.h"

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/tarn-data-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    static const char *const names[] = { "x", "y", "train-images-idx3-ubyte",
                                         "train-labels-idx1-ubyte.gz" };
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

TestSuite(data, .init = make_folder, .fini = remove_folder, .timeout = 600);

static const char *put(const char *name, const void *bytes, size_t size)
{
    static char paths[4][128];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    cr_assert_eq(fclose(f), 0);
    return path;
}

/* gzip of `from` into `to`. */
static size_t pack(const void *from, size_t size, unsigned char *to, size_t capacity)
{
    z_stream z = { .next_in = NULL };
    cr_assert_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(size_t)from;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)capacity;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t n = capacity - z.avail_out;
    (void)deflateEnd(&z);
    return n;
}

/* Two images of 2 x 3. */
static const unsigned char images[] = { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                                        0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
static const unsigned char labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 9, 3 };

static void expect_refused(const void *bytes, size_t size, const char *what)
{
    struct idx x;
    const char *path = put("x", bytes, size);
    cr_expect_neq(idx_read(path, 3, &x), TARN_OK, "%s", what);
    cr_expect_null(x.data, "%s", what);
    cr_expect_not_null(strstr(error_text(), path), "%s: %s", what, error_text());
}

Test(data, reads_plain_and_gzip)
{
    unsigned char gz[256];
    const size_t n = pack(labels, sizeof labels, gz, sizeof gz);
    (void)put("train-images-idx3-ubyte", images, sizeof images);
    (void)put("train-labels-idx1-ubyte.gz", gz, n);
    tarn_dataset *d = tarn_mnist_open(folder, true);
    cr_assert_not_null(d, "%s", error_text());
    cr_expect_eq(tarn_dataset_size(d), 2);
    cr_expect_eq(tarn_dataset_sample_shape(d).dim[2], 3);
    cr_expect_eq(memcmp(tarn_dataset_samples(d), images + 16, 12), 0);
    cr_expect_eq(memcmp(tarn_dataset_labels(d), labels + 8, 2), 0);
    tarn_dataset_close(d);
    cr_expect_null(tarn_mnist_open(folder, false));
    /* A plain file whose name says gzip. */
    (void)put("train-labels-idx1-ubyte.gz", labels, sizeof labels);
    d = tarn_mnist_open(folder, true);
    cr_expect_not_null(d, "%s", error_text());
    tarn_dataset_close(d);
}

Test(data, refuses_every_prefix)
{
    unsigned char gz[256];
    const size_t n = pack(images, sizeof images, gz, sizeof gz);
    char what[64];
    for (size_t i = 0; i < n; i++) {
        snprintf(what, sizeof what, "first %zu bytes of gzip", i);
        expect_refused(gz, i, what);
    }
    for (size_t i = 0; i < sizeof images; i++) {
        snprintf(what, sizeof what, "first %zu bytes of plain", i);
        expect_refused(images, i, what);
    }
}

Test(data, refuses_changed_bytes)
{
    unsigned char bad[sizeof images], gz[256];
    static const struct {
        size_t at;
        unsigned char value;
        const char *what;
    } changes[] = {
        { 0, 1, "first byte of magic" },
        { 1, 1, "second byte of magic" },
        { 2, 9, "element type" },
        { 3, 1, "rank" },
        { 7, 0, "no images" },
        { 7, 3, "one image too many" },
        { 7, 1, "one image too few" },
        { 11, 0, "no rows" },
        { 15, 0, "no columns" },
        { 4, 0x7f, "more than the limit" },
        { 8, 0x80, "product over limit" },
        { 12, 0xff, "product overflows" },
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        memcpy(bad, images, sizeof bad);
        bad[changes[i].at] = changes[i].value;
        expect_refused(bad, sizeof bad, changes[i].what);
        expect_refused(gz, pack(bad, sizeof bad, gz, sizeof gz), changes[i].what);
    }
    const size_t n = pack(images, sizeof images, gz, sizeof gz);
    for (size_t i = 1; i <= 8; i++) {
        gz[n - i] ^= 0x10;
        expect_refused(gz, n, "checksum or size");
        gz[n - i] ^= 0x10;
    }
    gz[n] = 0;
    expect_refused(gz, n + 1, "trailing byte");
    memcpy(gz + n, gz, n);
    expect_refused(gz, 2 * n, "two gzip members");
}

Test(data, refuses_bombs_and_lies)
{
    const size_t size = 8u << 20, capacity = 65536;
    unsigned char *zeros = calloc(1, size), *gz = malloc(capacity);
    cr_assert(zeros && gz);
    memcpy(zeros, images, 16);
    expect_refused(gz, pack(zeros, size, gz, capacity), "bomb");
    zeros[4] = 0x10; /* 1.6 GB promised by a file of a few bytes */
    expect_refused(gz, pack(zeros, 28, gz, capacity), "lie");
    cr_expect_not_null(strstr(error_text(), "can hold"), "%s", error_text());
    free(zeros);
    free(gz);
}

Test(data, refuses_pairs)
{
    struct idx x;
    const char *a = put("x", images, sizeof images), *b = put("y", labels, sizeof labels);
    cr_expect_null(tarn_idx_open(a, b, 9));
    cr_expect_not_null(strstr(error_text(), "label 0 is 9"), "%s", error_text());
    cr_expect_null(tarn_idx_open(a, b, 0));
    cr_expect_null(tarn_idx_open(a, b, 257));
    cr_expect_null(tarn_idx_open(a, a, 10));
    cr_expect_null(tarn_idx_open(a, NULL, 10));
    cr_expect_neq(idx_read(folder, 3, &x), TARN_OK);
    static const unsigned char three[] = { 0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3 };
    cr_expect_null(tarn_idx_open(a, put("y", three, sizeof three), 10));
    cr_expect_not_null(strstr(error_text(), "3 labels"), "%s", error_text());
}

Test(data, sampler_covers_exactly)
{
    enum { N = 1000 };
    int32_t a[N], b[N];
    static const int32_t sizes[] = { 1, 2, 3, 17, N };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int32_t n = sizes[s];
        bool seen[N] = { false };
        sampler_permute(a, n, 7, 3);
        for (int32_t i = 0; i < n; i++) {
            cr_assert(a[i] >= 0 && a[i] < n && !seen[a[i]]);
            seen[a[i]] = true;
        }
        sampler_permute(b, n, 7, 3);
        cr_expect_eq(memcmp(a, b, (size_t)n * sizeof *a), 0);
    }
    sampler_permute(b, N, 7, 4);
    cr_expect_neq(memcmp(a, b, sizeof a), 0);
    sampler_permute(b, N, 8, 3);
    cr_expect_neq(memcmp(a, b, sizeof a), 0);
}

/* All 6 orders of 3 come equally often: 10,000 each, give or take 6 standard deviations. */
Test(data, sampler_is_even)
{
    int count[27] = { 0 };
    for (uint64_t epoch = 0; epoch < 60000; epoch++) {
        int32_t p[3];
        sampler_permute(p, 3, 1, epoch);
        count[p[0] * 9 + p[1] * 3 + p[2]]++;
    }
    int orders = 0;
    for (int i = 0; i < 27; i++) {
        orders += count[i] != 0;
        cr_expect(count[i] == 0 || (count[i] > 9450 && count[i] < 10550), "%d", count[i]);
    }
    cr_expect_eq(orders, 6);
}

Test(data, digits_are_reproducible)
{
    tarn_dataset *a = digits_open(300, 5), *b = digits_open(200, 5);
    tarn_dataset *c = digits_open(200, 6);
    cr_assert(a && b && c);
    cr_expect_eq(memcmp(tarn_dataset_samples(a), tarn_dataset_samples(b), 200 * 784), 0);
    cr_expect_eq(memcmp(tarn_dataset_labels(a), tarn_dataset_labels(b), 200), 0);
    cr_expect_neq(memcmp(tarn_dataset_samples(c), tarn_dataset_samples(b), 200 * 784), 0);
    int count[10] = { 0 };
    for (int i = 0; i < 300; i++)
        count[tarn_dataset_labels(a)[i] % 10]++;
    for (int i = 0; i < 10; i++)
        cr_expect_gt(count[i], 10, "class %d", i);
    digits_close(a);
    digits_close(b);
    digits_close(c);
    digits_close(NULL);
    cr_expect_null(digits_open(0, 1));
    cr_expect_null(digits_open(INT32_MAX, 1));
}

/* ---- loader --------------------------------------------------------------------------------- */

static void expect_batch(tarn_batch b, const tarn_dataset *d, const int32_t *chosen)
{
    float *x = malloc((size_t)b.n * 784 * sizeof *x);
    int32_t *y = malloc((size_t)b.n * sizeof *y);
    cr_assert(x && y);
    cr_assert_eq(tarn_read(b.x, x, (size_t)b.n * 784 * sizeof *x), TARN_OK);
    cr_assert_eq(tarn_read(b.y, y, (size_t)b.n * sizeof *y), TARN_OK);
    for (int32_t i = 0; i < b.n; i++) {
        const uint8_t *sample = tarn_dataset_samples(d) + (size_t)chosen[i] * 784;
        cr_expect_eq(y[i], tarn_dataset_labels(d)[chosen[i]]);
        double worst = 0;
        for (int p = 0; p < 784; p++) {
            const double expected = (sample[p] / 255.0 - 0.1307) / 0.3081;
            worst = fmax(worst, fabs(x[i * 784 + p] - expected));
        }
        cr_expect_lt(worst, 1e-6, "sample %d is off by %g", i, worst);
    }
    free(x);
    free(y);
}

Test(loader, delivers_epochs, .timeout = 600)
{
    enum { N = 50, BATCH = 16 };
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *d = digits_open(N, 1);
    tarn_loader *l = tarn_loader_open(r, d,
                                      (tarn_loader_options){ .batch = BATCH,
                                                             .shuffle = true,
                                                             .seed = 9,
                                                             .mean = MNIST_MEAN,
                                                             .deviation = MNIST_DEVIATION });
    cr_assert_not_null(l, "%s", tarn_error(r));
    cr_expect_eq(tarn_loader_length(l), 4);
    int32_t order[N];
    tarn_batch b;
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        int at = 0;
        sampler_permute(order, N, 9, epoch);
        cr_expect_eq(tarn_loader_epoch(l), epoch);
        while (tarn_loader_next(l, &b)) {
            expect_batch(b, d, order + at);
            at += b.n;
            cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        }
        cr_expect_eq(at, N);
    }
    sampler_permute(order, N, 9, 7);
    tarn_loader_seek(l, 7, 2);
    cr_assert(tarn_loader_next(l, &b));
    expect_batch(b, d, order + 2 * BATCH);
    cr_expect_eq(tarn_step(r), TARN_OK);
    tarn_loader_seek(l, 7, 99);
    cr_expect_eq(tarn_error_status(r), TARN_ERR_ARGUMENT);
    tarn_error_clear(r);
    tarn_loader_close(l);
    tarn_close(r);
    digits_close(d);
}

Test(loader, closes_at_any_time, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *d = digits_open(64, 1);
    tarn_batch b;
    for (int taken = 0; taken < 12; taken++) {
        tarn_loader *l = tarn_loader_open(
            r, d,
            (tarn_loader_options){ .batch = 8, .drop_last = true, .prefetch = 1 + taken % 3 });
        cr_assert_not_null(l, "%s", tarn_error(r));
        for (int i = 0; i < taken; i++) {
            (void)tarn_loader_next(l, &b);
            cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        }
        if (taken % 2)
            (void)tarn_loader_next(l, &b);
        if (taken % 3)
            tarn_loader_close(l);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    tarn_close(r);
    digits_close(d);
}

Test(loader, names_its_refusals, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_dataset *d = digits_open(64, 1);
    static const tarn_loader_options bad[] = {
        { .batch = -1 },
        { .prefetch = -1 },
        { .prefetch = 65 },
        { .deviation = -1.0f },
        { .batch = 65, .drop_last = true },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_null(tarn_loader_open(r, d, bad[i]), "case %zu", i);
        cr_expect_eq(tarn_error_status(r), TARN_ERR_ARGUMENT, "case %zu", i);
        tarn_error_clear(r);
    }
    tarn_loader *l = tarn_loader_open(r, d, (tarn_loader_options){ .batch = 8, .prefetch = 1 });
    cr_assert_not_null(l);
    tarn_batch b;
    cr_expect(tarn_loader_next(l, &b));
    cr_expect(tarn_loader_next(l, &b));
    cr_expect_not(tarn_loader_next(l, &b), "more batches in a step than slots");
    cr_expect_eq(tarn_error_status(r), TARN_ERR_STATE);
    tarn_close(r);
    digits_close(d);
}
