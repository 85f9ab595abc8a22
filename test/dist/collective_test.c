/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives as operations of a graph, and the ways in which a launch is refused or ends early. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "digits.h"
#include "tarn.h"
#include "tarn_dist.h"
#include "tarn_train.h"

/* More replicas than a machine may have devices: copies of the first. */
#define COPIES "0,0,0,0,0,0,0,0"

TestSuite(collective, .timeout = 600);
TestSuite(launch, .timeout = 600);

static tarn_launch_options on(int count)
{
    return (tarn_launch_options){ .devices = COPIES, .count = count, .timeout = 20 };
}

static void expect_ok(tarn_status s)
{
    cr_assert_eq(s, TARN_OK, "%s: %s", tarn_status_name(s), tarn_error(NULL));
}

static void expect_failure(tarn_status s, tarn_status want, const char *text)
{
    cr_expect_eq(s, want, "%s, not %s: %s", tarn_status_name(s), tarn_status_name(want),
                 tarn_error(NULL));
    cr_expect_not_null(strstr(tarn_error(NULL), text), "no \"%s\" in: %s", text, tarn_error(NULL));
}

/* ---- values --------------------------------------------------------------------------------- */

enum { WORLD = 3, ROWS = 6, COUNT = 2 * ROWS, CASES = 10, MOST = WORLD * COUNT };

/* Small whole numbers: every float sum of them is exact. */
static int input(int rank, int i)
{
    return 7 * rank + (i * 5) % 11 - 4;
}

/* Each is one collective between two maps: twice the input goes in, what comes out is doubled. */
static tarn_tensor operate(int which, tarn_tensor x)
{
    switch (which) {
    case 0:
        return tarn_all_reduce(x, TARN_SUM);
    case 1:
        return tarn_all_reduce(x, TARN_MAX);
    case 2:
        return tarn_all_reduce(x, TARN_MIN);
    case 3:
        return tarn_reduce_scatter(x, TARN_SUM);
    case 4:
        return tarn_reduce_scatter(x, TARN_MAX);
    case 5:
        return tarn_all_gather(x);
    case 6:
        return tarn_broadcast(x, 2);
    case 7:
        return tarn_broadcast(x, 0);
    case 8:
        return tarn_all_to_all(x);
    default:
        return tarn_reduce_scatter(x, TARN_MIN);
    }
}

static int reduced(int reduction, int i)
{
    int result = 2 * input(0, i);
    for (int rank = 1; rank < WORLD; rank++) {
        const int v = 2 * input(rank, i);
        result = reduction == TARN_SUM                     ? result + v
                 : (reduction == TARN_MAX) == (v > result) ? v
                                                           : result;
    }
    return 2 * result;
}

/* Element i of what `rank` must get; `count` how many there are. */
static int expected(int which, int rank, int i, int *count)
{
    const int part = COUNT / WORLD;
    static const int reduction[CASES] = { TARN_SUM, TARN_MAX, TARN_MIN, TARN_SUM, TARN_MAX,
                                          0,        0,        0,        0,        TARN_MIN };
    *count = COUNT;
    if (which <= 2)
        return reduced(reduction[which], i);
    if (which == 3 || which == 4 || which == 9) {
        *count = part;
        return reduced(reduction[which], rank * part + i);
    }
    if (which == 5) {
        *count = MOST;
        return 4 * input(i / COUNT, i % COUNT);
    }
    if (which == 8)
        return 4 * input(i / part, rank * part + i % part);
    return 4 * input(which == 6 ? 2 : 0, i);
}

/* What came out: read at once, and kept over the step mark; as doubles for both types. */
struct results {
    tarn_dtype dtype;
    double got[WORLD][2][CASES][MOST];
};

/* What values are times: of 64 bits they need more than 32, and their sums are still exact. */
static double factor(tarn_dtype dtype)
{
    return dtype == TARN_F64 ? 1 + 0x1p-40 : dtype == TARN_I64 ? 0x1p40 : 1;
}

static tarn_tensor make(tarn_replica *r, tarn_dtype dtype)
{
    int32_t whole[COUNT];
    float parts[COUNT];
    double wide[COUNT];
    int64_t wide_whole[COUNT];
    for (int i = 0; i < COUNT; i++) {
        whole[i] = input(tarn_rank(r), i);
        parts[i] = (float)whole[i];
        wide[i] = whole[i] * factor(dtype);
        wide_whole[i] = (int64_t)wide[i];
    }
    const void *const data[] = {
        [TARN_F32] = parts, [TARN_I32] = whole, [TARN_F64] = wide, [TARN_I64] = wide_whole
    };
    return tarn_from(r, TARN_SHAPE(ROWS, 2), dtype, data[dtype]);
}

static tarn_status fetch(tarn_tensor t, double *out)
{
    union {
        int32_t i[MOST];
        float f[MOST];
        double d[MOST];
        int64_t l[MOST];
    } data;
    const tarn_dtype dtype = tarn_dtype_get(t);
    const size_t n = (size_t)tarn_shape_count(tarn_shape_get(t));
    if (n > MOST)
        return TARN_ERR_SHAPE;
    const tarn_status s = tarn_read(t, &data, tarn_dtype_bytes(dtype) * n);
    for (size_t i = 0; i < n; i++)
        out[i] = dtype == TARN_I32   ? (double)data.i[i]
                 : dtype == TARN_F32 ? (double)data.f[i]
                 : dtype == TARN_F64 ? data.d[i]
                                     : (double)data.l[i];
    return s;
}

static tarn_status collect(tarn_replica *r, void *arg)
{
    struct results *all = arg;
    tarn_tensor kept[CASES];
    tarn_status s = TARN_OK;
    const int rank = tarn_rank(r);
    for (int k = 0; s == TARN_OK && k < CASES; k++) {
        const tarn_tensor x = make(r, all->dtype);
        const tarn_tensor y = operate(k, tarn_add(x, x));
        s = fetch(tarn_add(y, y), all->got[rank][0][k]);
    }
    if (s == TARN_OK)
        s = tarn_step(r);
    /* All in one step, of which some need what others gave. */
    const tarn_tensor x = make(r, all->dtype);
    for (int k = 0; s == TARN_OK && k < CASES; k++) {
        const tarn_tensor y = operate(k, tarn_add(x, x));
        kept[k] = tarn_keep(tarn_add(y, y));
    }
    if (s == TARN_OK)
        s = tarn_step(r);
    for (int k = 0; s == TARN_OK && k < CASES; k++) {
        s = fetch(kept[k], all->got[rank][1][k]);
        tarn_drop(kept[k]);
    }
    return s;
}

static void expect_values(tarn_dtype dtype)
{
    static struct results all;
    all.dtype = dtype;
    expect_ok(tarn_launch(collect, &all, on(WORLD)));
    for (int rank = 0; rank < WORLD; rank++)
        for (int way = 0; way < 2; way++)
            for (int k = 0; k < CASES; k++)
                for (int i = 0, n = 1; i < n; i++) {
                    const double want = expected(k, rank, i, &n) * factor(dtype);
                    cr_expect_eq(all.got[rank][way][k][i], want,
                                 "case %d, way %d, rank %d, element %d: %g, not %g", k, way, rank,
                                 i, all.got[rank][way][k][i], want);
                }
}

Test(collective, floats_in_a_graph)
{
    expect_values(TARN_F32);
}

Test(collective, integers_in_a_graph)
{
    expect_values(TARN_I32);
}

Test(collective, types_of_64_bits_in_a_graph)
{
    expect_values(TARN_F64);
    expect_values(TARN_I64);
}

/* One feeds the other; a mean; and both sides of an all-reduce in one map. */
static tarn_status chain(tarn_replica *r, void *arg)
{
    float *out = arg;
    const tarn_tensor x = make(r, TARN_F32);
    const tarn_tensor mean = tarn_all_reduce(x, TARN_MEAN);
    const tarn_tensor off = tarn_sub(x, mean);
    const tarn_tensor spread = tarn_all_reduce(tarn_mul(off, off), TARN_SUM);
    return tarn_read(spread, out + (ptrdiff_t)tarn_rank(r) * COUNT, COUNT * sizeof *out);
}

Test(collective, one_feeds_another)
{
    static float out[2 * COUNT];
    expect_ok(tarn_launch(chain, out, on(2)));
    for (int i = 0; i < COUNT; i++) {
        cr_expect_eq(out[i], 2 * 3.5F * 3.5F, "element %d: %g", i, (double)out[i]);
        cr_expect_eq(out[i], out[COUNT + i]);
    }
}

/* Loss of rank s: (s + 1) times the sum of y, y = sum or mean over ranks r of (r + 1) p_r. The
 * gradient of all losses in p_r is (1 + 2) (r + 1), halved for a mean. */
static tarn_status differentiate(tarn_replica *r, void *arg)
{
    float *out = (float *)arg + (ptrdiff_t)8 * tarn_rank(r);
    const float mine = (float)(tarn_rank(r) + 1);
    tarn_status s = TARN_OK;
    for (int mean = 0; s == TARN_OK && mean < 2; mean++) {
        const tarn_tensor p = tarn_ones(r, TARN_SHAPE(4));
        const tarn_tensor y =
            tarn_all_reduce(tarn_mul_scalar(p, mine), mean ? TARN_MEAN : TARN_SUM);
        const tarn_tensor loss = tarn_sum(tarn_mul_scalar(y, mine), TARN_ALL, false);
        tarn_tensor g = TARN_NONE;
        tarn_gradients(loss, &p, 1, &g);
        s = tarn_read(g, out + (ptrdiff_t)4 * mean, 4 * sizeof *out);
    }
    return s;
}

Test(collective, all_reduce_has_a_gradient)
{
    float out[16] = { 0 };
    expect_ok(tarn_launch(differentiate, out, on(2)));
    for (int rank = 0; rank < 2; rank++)
        for (int i = 0; i < 4; i++) {
            cr_expect_eq(out[8 * rank + i], 3.0F * (float)(rank + 1), "sum");
            cr_expect_eq(out[8 * rank + 4 + i], 1.5F * (float)(rank + 1), "mean");
        }
}

Test(collective, one_replica_gets_what_it_gave)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    cr_expect(tarn_rank(r) == 0 && tarn_world_size(r) == 1 && tarn_virtual_shards(r) == 0);
    for (int k = 0; k < CASES; k++) {
        double out[MOST] = { 0 };
        if (k == 6) /* there is no rank 2 */
            continue;
        cr_expect_eq(fetch(operate(k, make(r, TARN_I32)), out), TARN_OK, "%s", tarn_error(r));
        for (int i = 0; i < COUNT; i++)
            cr_expect_eq(out[i], input(0, i), "case %d", k);
    }
    cr_expect_eq(tarn_barrier(r), TARN_OK);
    cr_expect_eq(tarn_check_weights(r), TARN_OK);
    tarn_close(r);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static tarn_status misuse(tarn_replica *r, void *arg)
{
    const int which = *(const int *)arg;
    const tarn_tensor rows = tarn_zeros(r, TARN_SHAPE(5, 2));
    const tarn_tensor y = which == 0   ? tarn_all_reduce(tarn_arange(r, 4), TARN_MEAN)
                          : which == 1 ? tarn_reduce_scatter(rows, TARN_SUM)
                          : which == 2 ? tarn_broadcast(rows, 2)
                          : which == 3 ? tarn_all_gather(tarn_zeros(r, TARN_SCALAR))
                          : which == 4 ? tarn_all_to_all(rows)
                          : which == 5 ? tarn_all_reduce(rows, (tarn_reduction)9)
                                       : tarn_all_reduce(tarn_eq(rows, rows), TARN_SUM);
    float out;
    return tarn_failed(y) ? tarn_error_status(r) : tarn_read(y, &out, sizeof out);
}

Test(collective, misuse_is_refused)
{
    static const struct {
        tarn_status status;
        const char *text;
    } want[] = { { TARN_ERR_DTYPE, "all_reduce" },   { TARN_ERR_SHAPE, "[5,2]" },
                 { TARN_ERR_ARGUMENT, "no rank 2" }, { TARN_ERR_SHAPE, "scalar" },
                 { TARN_ERR_SHAPE, "all_to_all" },   { TARN_ERR_ARGUMENT, "reduction 9" },
                 { TARN_ERR_DTYPE, "uint8" } };
    for (int i = 0; i < 7; i++)
        expect_failure(tarn_launch(misuse, &i, on(2)), want[i].status, want[i].text);
}

/* Rank 1 does not do what the others do. */
static tarn_status stray(tarn_replica *r, void *arg)
{
    const int which = *(const int *)arg;
    const bool other = tarn_rank(r) == 1;
    const tarn_tensor x = tarn_ones(r, other && which == 0 ? TARN_SHAPE(4) : TARN_SHAPE(8));
    tarn_tensor y;
    if (which == 0)
        y = tarn_all_reduce(x, TARN_SUM);
    else if (which == 1)
        y = other ? tarn_all_reduce(tarn_broadcast(x, 0), TARN_SUM)
                  : tarn_broadcast(tarn_all_reduce(x, TARN_SUM), 0);
    else if (which == 2)
        y = tarn_all_reduce(x, other ? TARN_MAX : TARN_SUM);
    else if (which == 3)
        y = tarn_all_reduce(other ? tarn_cast(x, TARN_I32) : x, TARN_SUM);
    else
        y = tarn_broadcast(x, other ? 1 : 0);
    float out[8];
    return tarn_read(y, out, (size_t)tarn_shape_count(tarn_shape_get(y)) * sizeof *out);
}

Test(collective, disagreement_is_refused)
{
    static const char *const text[] = { "8", "broadcast", "max", "int32", "root" };
    for (int i = 0; i < 5; i++)
        expect_failure(tarn_launch(stray, &i, on(3)), TARN_ERR_DISAGREE, text[i]);
}

static tarn_status other_layers(tarn_replica *r, void *arg)
{
    (void)arg;
    const tarn_linear fc = tarn_linear_make(r, tarn_rank(r) == 1 ? "first" : "fc", 4, 2);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    tarn_backward(
        tarn_sum(tarn_linear_forward(&fc, tarn_ones(r, TARN_SHAPE(3, 4))), TARN_ALL, false));
    tarn_optimizer_step(o);
    return tarn_step(r);
}

Test(collective, other_layers_are_refused)
{
    expect_failure(tarn_launch(other_layers, NULL, on(2)), TARN_ERR_DISAGREE,
                   "rank 1 owns other tensors");
}

/* ---- launches ------------------------------------------------------------------------------- */

static tarn_status open_loader(tarn_replica *r, void *arg)
{
    const int batch = *(const int *)arg;
    tarn_dataset *d = digits_open(256, 1);
    tarn_loader *l = tarn_loader_open(
        r, d, (tarn_loader_options){ .batch = batch, .shuffle = true, .drop_last = true });
    const tarn_status s = l != NULL ? TARN_OK : tarn_error_status(r);
    tarn_loader_close(l);
    digits_close(d);
    return s;
}

static tarn_status refused(int count, int shards, double timeout)
{
    int batch = 128;
    tarn_launch_options o = on(count);
    o.virtual_shards = shards;
    o.timeout = timeout;
    return tarn_launch(open_loader, &batch, o);
}

Test(launch, bad_options_are_refused)
{
    expect_failure(tarn_launch(NULL, NULL, on(1)), TARN_ERR_ARGUMENT, "no function");
    expect_failure(refused(-1, 0, 20), TARN_ERR_ARGUMENT, "-1 replicas");
    expect_failure(refused(65, 0, 20), TARN_ERR_ARGUMENT, "65 replicas");
    expect_failure(refused(1, 0, -1), TARN_ERR_ARGUMENT, "timeout");
    expect_failure(refused(1, 0, (double)NAN), TARN_ERR_ARGUMENT, "timeout");
    expect_failure(refused(1, 3, 20), TARN_ERR_ARGUMENT, "3 virtual shards");
    expect_failure(refused(1, 32, 20), TARN_ERR_ARGUMENT, "32 virtual shards");
    expect_failure(refused(1, -8, 20), TARN_ERR_ARGUMENT, "-8 virtual shards");
    expect_failure(refused(3, 8, 20), TARN_ERR_ARGUMENT, "by 3 replicas");
    expect_failure(refused(8, 4, 20), TARN_ERR_ARGUMENT, "by 8 replicas");
    expect_ok(refused(2, 8, 20));
}

Test(launch, batches_that_cannot_be_shared_are_refused)
{
    tarn_launch_options o = on(2);
    int batch = 1;
    expect_failure(tarn_launch(open_loader, &batch, o), TARN_ERR_ARGUMENT, "batch");
    o.virtual_shards = 8;
    batch = 96;
    expect_failure(tarn_launch(open_loader, &batch, o), TARN_ERR_ARGUMENT, "8 virtual shards");
    batch = 256;
    expect_ok(tarn_launch(open_loader, &batch, o));
}

/* Rank 1 fails while the others wait for it in a collective. */
static tarn_status fail_alone(tarn_replica *r, void *arg)
{
    (void)arg;
    if (tarn_rank(r) == 1)
        return tarn_load(r, "/nowhere/at/all", NULL);
    float out;
    return tarn_read(tarn_all_reduce(tarn_ones(r, TARN_SHAPE(1)), TARN_SUM), &out, sizeof out);
}

Test(launch, a_replica_that_fails_ends_it)
{
    const tarn_status s = tarn_launch(fail_alone, NULL, on(3));
    expect_failure(s, TARN_ERR_IO, "rank 1");
    cr_expect_not_null(strstr(tarn_error(NULL), "/nowhere/at/all"), "%s", tarn_error(NULL));
}

static tarn_status fail_without_a_line(tarn_replica *r, void *arg)
{
    (void)arg;
    return tarn_rank(r) == 1 ? TARN_ERR_STATE : tarn_barrier(r);
}

Test(launch, a_status_without_a_line_is_told)
{
    const tarn_status s = tarn_launch(fail_without_a_line, NULL, on(2));
    expect_failure(s, TARN_ERR_STATE, "rank 1");
    cr_expect_not_null(strstr(tarn_error(NULL), "TARN_ERR_STATE"), "%s", tarn_error(NULL));
}

/* Rank 1 says that all is well, and leaves the others waiting, or about to. */
static tarn_status leave_early(tarn_replica *r, void *arg)
{
    const int late = *(const int *)arg;
    const struct timespec moment = { .tv_nsec = 100000000 };
    if ((tarn_rank(r) == 1) == late)
        (void)nanosleep(&moment, NULL);
    return tarn_rank(r) == 1 ? TARN_OK : tarn_barrier(r);
}

/* At once: the timeout is longer than that of the test. */
Test(launch, a_replica_that_leaves_is_missed)
{
    tarn_launch_options o = on(3);
    o.timeout = 1000;
    for (int late = 0; late < 2; late++) {
        expect_failure(tarn_launch(leave_early, &late, o), TARN_ERR_STALLED,
                       "the function of rank 1 has returned");
        cr_expect_not_null(strstr(tarn_error(NULL), "barrier"), "%s", tarn_error(NULL));
    }
}

/* Rank 1 hangs until the main thread lets it go. */
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

static tarn_status hang(tarn_replica *r, void *arg)
{
    (void)arg;
    if (tarn_rank(r) != 1)
        return tarn_barrier(r);
    pthread_mutex_lock(&door);
    pthread_mutex_unlock(&door);
    return TARN_OK;
}

Test(launch, threads_left_behind_are_counted)
{
    tarn_launch_options o = on(2);
    o.timeout = 0.2;
    pthread_mutex_lock(&door);
    expect_failure(tarn_launch(hang, NULL, o), TARN_ERR_STALLED, "never came back: rank 1");
    cr_expect_eq(tarn_launch_left(), 1);
    pthread_mutex_unlock(&door);
    const struct timespec moment = { .tv_nsec = 1000000 };
    while (tarn_launch_left() > 0) /* the test's timeout ends it */
        (void)nanosleep(&moment, NULL);
}

/* It has done all that the others do, only earlier. */
static tarn_status leave_first(tarn_replica *r, void *arg)
{
    const struct timespec moment = { .tv_nsec = 100000000 };
    (void)arg;
    const tarn_status s = tarn_barrier(r);
    if (tarn_rank(r) != 1)
        (void)nanosleep(&moment, NULL);
    return s;
}

Test(launch, a_replica_may_end_first)
{
    expect_ok(tarn_launch(leave_first, NULL, on(3)));
}

static tarn_status look_around(tarn_replica *r, void *arg)
{
    int *seen = arg;
    seen[tarn_rank(r)] = 100 * tarn_world_size(r) + tarn_virtual_shards(r);
    return tarn_barrier(r);
}

Test(launch, replicas_know_their_place)
{
    int seen[4] = { 0 };
    tarn_launch_options o = on(4);
    o.virtual_shards = 8;
    expect_ok(tarn_launch(look_around, seen, o));
    for (int i = 0; i < 4; i++)
        cr_expect_eq(seen[i], 408);
    cr_expect(tarn_rank(NULL) == 0 && tarn_world_size(NULL) == 1 && tarn_virtual_shards(NULL) == 0);
    cr_expect_eq(tarn_barrier(NULL), TARN_ERR_ARGUMENT);
    cr_expect_eq(tarn_check_weights(NULL), TARN_ERR_ARGUMENT);
}

/* ---- how long a device may be late ---------------------------------------------------------- */

/* Work of more than a millisecond in each kernel. */
static tarn_status compute(tarn_replica *r, void *arg)
{
    (void)arg;
    tarn_tensor x = tarn_rand(r, TARN_SHAPE(700, 700));
    for (int i = 0; i < 3; i++)
        x = tarn_mul_scalar(tarn_matmul(x, x), 1e-3f);
    (void)tarn_keep(x);
    (void)!tarn_step(r);
    return tarn_wait(r);
}

Test(launch, its_timeout_holds_for_the_device)
{
    /* A first launch has its own limit, for the driver's compiler. */
    cr_assert_eq(setenv("TARN_BUILD_TIMEOUT", "0.001", 1), 0);
    tarn_launch_options o = on(1);
    o.timeout = 60;
    (void)setenv("TARN_TIMEOUT", "0.001", 1);
    expect_ok(tarn_launch(compute, NULL, o));
    (void)setenv("TARN_TIMEOUT", "60", 1);
    o.timeout = 0.001;
    expect_failure(tarn_launch(compute, NULL, o), TARN_ERR_TIMEOUT, "within 0.001 s");
}

Test(launch, a_timeout_must_be_above_0)
{
    const char *bad[] = { "0", "-1", "nan", "inf", "soon", "3 s" };
    for (int i = 0; i < 6; i++) {
        (void)setenv("TARN_TIMEOUT", bad[i], 1);
        expect_failure(tarn_launch(look_around, (int[4]){ 0 }, (tarn_launch_options){ .count = 1 }),
                       TARN_ERR_ARGUMENT, "TARN_TIMEOUT");
        cr_expect_null(tarn_open("0"));
        cr_expect_not_null(strstr(tarn_error(NULL), "TARN_TIMEOUT"), "%s", tarn_error(NULL));
    }
    (void)setenv("TARN_TIMEOUT", "", 1);
    expect_ok(tarn_launch(look_around, (int[4]){ 0 }, on(1)));
}
