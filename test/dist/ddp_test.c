/* SPDX-License-Identifier: Apache-2.0 */
/* Training on several devices: replicas stay equal, numbers of devices agree, and what goes wrong
 * is found. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/sampler.h"
#include "ddp_bound.h"
#include "ddp_run.h"
#include "digits.h"

TestSuite(ddp, .timeout = 600);

static void expect_ok(const struct ddp_run *run, const char *what)
{
    cr_assert_eq(run->status, TARN_OK, "%s on %d: %s", what, run->launch.count, run->line);
    cr_assert_eq(run->world, run->launch.count, "%s: %d replicas", what, run->world);
}

static void expect_same(const struct ddp_tensors *a, const struct ddp_tensors *b, const char *what,
                        int count)
{
    char why[160];
    cr_expect(ddp_equal(a, b, why, sizeof why), "%s, %d replicas: %s", what, count, why);
}

/* Runs, and expects the replicas to be equal. */
static void run_equal(struct ddp_run *run, const char *what)
{
    ddp_run(run);
    expect_ok(run, what);
    for (int i = 1; i < run->world; i++)
        expect_same(&run->ranks[0], &run->ranks[i], what, run->world);
}

/* ---- replicas are equal --------------------------------------------------------------------- */

static void expect_equal_replicas(struct ddp_run settings, const char *what)
{
    struct ddp_run one = settings, run = settings;
    one.launch.count = 1;
    one.last = 0;
    ddp_run(&one);
    expect_ok(&one, what);
    for (int count = 2; count <= 4; count++) {
        run = settings;
        run.launch.count = count;
        run_equal(&run, what);
        char why[160];
        cr_expect_not(ddp_equal(&one.ranks[0], &run.ranks[0], why, sizeof why),
                      "%s: nothing was learnt", what);
        ddp_free(&run);
    }
    ddp_free(&one);
}

Test(ddp, replicas_equal_with_momentum_and_batch_norm)
{
    expect_equal_replicas((struct ddp_run){ .last = 4, .norm = true }, "momentum, batch norm");
}

Test(ddp, replicas_equal_with_adamw_and_synced_batch_norm)
{
    expect_equal_replicas(
        (struct ddp_run){ .last = 4, .norm = true, .adamw = true, .launch = { .sync_norm = true } },
        "AdamW, synced batch norm");
}

Test(ddp, replicas_equal_with_clipping_and_dropout)
{
    expect_equal_replicas(
        (struct ddp_run){
            .last = 4, .dropout = true, .clip = 0.1f, .launch = { .bucket_bytes = 100 } },
        "clipping, dropout, buckets");
}

/* Replicas that begin apart begin with rank 0's weights. */
static tarn_status other_weights(tarn_replica *r, int step)
{
    if (step > 0)
        return TARN_OK;
    const tarn_tensor w = tarn_find(r, "fc1.weight");
    tarn_assign(w, tarn_mul_scalar(w, (float)(1 + tarn_rank(r))));
    return tarn_step(r);
}

Test(ddp, begins_with_the_weights_of_rank_0)
{
    struct ddp_run same = { .last = 2, .norm = true, .launch = { .count = 2 } };
    struct ddp_run apart = same;
    apart.hook = other_weights;
    run_equal(&same, "equal weights");
    run_equal(&apart, "other weights");
    expect_same(&same.ranks[0], &apart.ranks[0], "weights of rank 0", 2);
    ddp_free(&same);
    ddp_free(&apart);
}

/* Running statistics are the mean over replicas: more than what one of them saw. */
Test(ddp, running_statistics_are_of_all_samples)
{
    struct ddp_run one = { .last = 1, .norm = true, .launch = { .count = 1 } };
    struct ddp_run two = one;
    two.launch.count = 2;
    run_equal(&one, "one");
    run_equal(&two, "two");
    size_t bytes = 0, other = 0;
    const float *a = ddp_find(&one.ranks[0], "bn.running_mean", &bytes);
    const float *b = ddp_find(&two.ranks[0], "bn.running_mean", &other);
    cr_assert(a && b && bytes == other && bytes == DDP_HIDDEN * sizeof *a);
    /* After one step it is 0.1 times the mean over 128 outputs of fc1, sums of 785 terms below 3/28
     * each: far less than 1e-4 of rounding, while half of the batch has another mean. */
    for (int j = 0; j < DDP_HIDDEN; j++)
        cr_expect_float_eq((double)a[j], (double)b[j], 1e-4, "channel %d", j);
    ddp_free(&one);
    ddp_free(&two);
}

/* ---- steps without an update ---------------------------------------------------------------- */

enum { PART = 16, CYCLES = 3 };

/* Mean of a replica's samples in a step; what the running mean becomes of it. */
static double sample_mean(int rank, int step)
{
    return 1 + rank + 0.25 * step;
}

static double later(double running, double mean)
{
    return 0.9 * running + 0.1 * mean;
}

static tarn_tensor normalised(tarn_replica *r, const tarn_batch_norm *norm, int step)
{
    float x[PART];
    for (int i = 0; i < PART; i++)
        x[i] = (float)sample_mean(tarn_rank(r), step) + (i % 2 == 0 ? 1.0f : -1.0f);
    return tarn_batch_norm_forward(norm, tarn_from(r, TARN_SHAPE(PART, 1), TARN_F32, x));
}

/* Two steps that accumulate, one that updates, again and again. */
static tarn_status accumulate(tarn_replica *r, void *running)
{
    const tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", 1);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.125f });
    for (int step = 0; step < 3 * CYCLES; step++) {
        const tarn_tensor y = normalised(r, &norm, step);
        tarn_backward(tarn_mean(tarn_mul(y, tarn_mul(y, y)), TARN_ALL, false));
        if (step % 3 < 2)
            tarn_optimizer_accumulate(sgd);
        else
            tarn_optimizer_step(sgd);
        if (tarn_step(r) != TARN_OK)
            return tarn_error_status(r);
        if (step % 3 == 2 && tarn_check_weights(r) != TARN_OK)
            return tarn_error_status(r);
    }
    return tarn_read(tarn_find(r, "norm.running_mean"), (float *)running + tarn_rank(r),
                     sizeof(float));
}

/* The first update begins with the statistics of rank 0, as with all its buffers. */
Test(ddp, statistics_of_accumulated_steps_are_averaged)
{
    float got[2];
    double want[2] = { 0, 0 };
    for (int step = 0; step < 3 * CYCLES; step++) {
        if (step == 2)
            want[1] = want[0];
        for (int rank = 0; rank < 2; rank++)
            want[rank] = later(want[rank], sample_mean(rank, step));
        if (step % 3 == 2)
            want[0] = want[1] = (want[0] + want[1]) / 2;
    }
    const tarn_status s =
        tarn_launch(accumulate, got, (tarn_launch_options){ .devices = "0,0", .timeout = 60 });
    cr_assert_eq(s, TARN_OK, "%s", tarn_error(NULL));
    cr_expect_eq(got[0], got[1]);
    /* Each step rounds fewer than 8 times, each time by at most 2^-24 of a value below 4. */
    const double limit = 3 * CYCLES * 8 * 4 * 0x1p-24;
    cr_expect(got[0] - want[0] <= limit && want[0] - got[0] <= limit, "%.9g, not %.9g",
              (double)got[0], want[0]);
}

/* ---- virtual shards: the same bits on any number of devices --------------------------------- */

static void expect_same_on_all(struct ddp_run settings, const char *what)
{
    struct ddp_run first = settings;
    first.launch.virtual_shards = 8;
    first.launch.count = 1;
    first.launch.bucket_bytes = 0;
    run_equal(&first, what);
    for (int count = 2; count <= 8; count *= 2) {
        struct ddp_run run = settings;
        run.launch.virtual_shards = 8;
        run.launch.count = count;
        run_equal(&run, what);
        expect_same(&first.ranks[0], &run.ranks[0], what, count);
        ddp_free(&run);
    }
    ddp_free(&first);
}

Test(ddp, shards_give_equal_bits_for_three_seeds)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        expect_same_on_all((struct ddp_run){ .last = 6, .norm = true, .seed = seed },
                           "8 virtual shards");
}

Test(ddp, shards_give_equal_bits_with_dropout_and_clipping)
{
    expect_same_on_all(
        (struct ddp_run){ .last = 6, .norm = true, .dropout = true, .clip = 0.1f, .seed = 4 },
        "8 virtual shards, dropout, clipping");
}

Test(ddp, shards_give_equal_bits_with_adamw_and_small_buckets)
{
    expect_same_on_all(
        (struct ddp_run){ .last = 6, .norm = true, .adamw = true, .launch = { .bucket_bytes = 1 } },
        "8 virtual shards, a bucket for each parameter");
}

/* ---- plain data parallelism, within the error of rounding ----------------------------------- */

Test(ddp, unequal_parts_agree_with_one_device_within_rounding)
{
    static struct ddp_bound bound;
    static int32_t order[DDP_SAMPLES];
    struct ddp_run start = { .plain = true, .seed = 5, .launch = { .count = 1 } };
    run_equal(&start, "start");
    ddp_bound_start(&bound, &start.ranks[0]);
    tarn_dataset *d = digits_open(DDP_SAMPLES, 3);
    cr_assert_not_null(d);
    sampler_permute(order, DDP_SAMPLES, 5, 0);
    for (int i = 0; i < 2; i++)
        ddp_bound_step(&bound, d, order + (ptrdiff_t)i * DDP_BATCH, DDP_BATCH, 0.05f);
    for (int count = 1; count <= 3; count++) {
        struct ddp_run run = start;
        memset(run.ranks, 0, sizeof run.ranks);
        run.last = 2;
        run.launch.count = count;
        run_equal(&run, "plain");
        const double off = ddp_bound_compare(&bound, &run.ranks[0]);
        cr_log_info("%d replicas: %.3g of the bound", count, off);
        cr_expect(off <= 1, "%d replicas: %g times the bound", count, off);
        ddp_free(&run);
    }
    const double width = ddp_bound_width(&bound, &start.ranks[0]);
    cr_log_info("the bound is %.3g of an update", width);
    cr_expect(width < 0.1, "the bound says nothing: it is %g of an update", width);
    digits_close(d);
    ddp_free(&start);
}

/* ---- resuming ------------------------------------------------------------------------------- */

static size_t slurp(const char *path, char *out, size_t capacity)
{
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s", path);
    const size_t n = fread(out, 1, capacity, f);
    (void)fclose(f);
    (void)unlink(path);
    cr_assert(n > 0 && n < capacity);
    return n;
}

Test(ddp, resumes_on_other_numbers_of_devices)
{
    static char straight[1 << 18], resumed[1 << 18];
    char folder[] = "/tmp/tarn-ddp-test-XXXXXX", half[64], end[64], whole[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(half, sizeof half, "%s/half", folder);
    snprintf(end, sizeof end, "%s/end", folder);
    snprintf(whole, sizeof whole, "%s/whole", folder);
    const struct ddp_run settings = { .norm = true,
                                      .dropout = true,
                                      .clip = 0.1f,
                                      .seed = 6,
                                      .launch = { .virtual_shards = 8, .count = 1 } };
    struct ddp_run a = settings, b = settings, c = settings;
    a.last = 20;
    a.save = whole;
    b.last = 10;
    b.launch.count = 2;
    b.save = half;
    c.first = 10;
    c.last = 20;
    c.launch.count = 4;
    c.load = half;
    c.save = end;
    run_equal(&a, "straight");
    run_equal(&b, "first half");
    run_equal(&c, "second half");
    const size_t n = slurp(whole, straight, sizeof straight);
    cr_expect_eq(slurp(end, resumed, sizeof resumed), n);
    cr_expect_eq(memcmp(straight, resumed, n), 0, "the files differ");
    cr_expect_eq(memcmp(a.ranks[0].loss + 10, c.ranks[0].loss + 10, 10 * sizeof(float)), 0);
    (void)unlink(half);
    (void)rmdir(folder);
    ddp_free(&a);
    ddp_free(&b);
    ddp_free(&c);
}

/* ---- changes of weights are found ----------------------------------------------------------- */

/* Changes one bit of an element on rank 1 of all others, as a kernel gone wrong would. */
static tarn_status change(tarn_replica *r, const char *name, int element, uint32_t bit)
{
    static _Thread_local uint32_t values[DDP_HIDDEN * DDP_INPUTS];
    if (tarn_rank(r) != 1)
        return TARN_OK;
    const tarn_tensor t = tarn_find(r, name);
    const tarn_shape shape = tarn_shape_get(t);
    tarn_status s = tarn_read(t, values, (size_t)tarn_shape_count(shape) * sizeof *values);
    if (s != TARN_OK)
        return s;
    values[element] ^= bit;
    tarn_assign(t, tarn_from(r, shape, tarn_dtype_get(t), values));
    return tarn_step(r);
}

static tarn_status change_weight_at_2(tarn_replica *r, int step)
{
    return step == 2 ? change(r, "fc2.bias", 3, 1) : TARN_OK;
}

static tarn_status change_statistics_at_2(tarn_replica *r, int step)
{
    return step == 2 ? change(r, "bn.running_mean", 5, UINT32_C(1) << 20) : TARN_OK;
}

static tarn_status change_momentum_at_2(tarn_replica *r, int step)
{
    return step == 2 ? change(r, "optimizer.momentum_buffer.fc1.weight", 12345, 1) : TARN_OK;
}

static tarn_status change_counter_at_2(tarn_replica *r, int step)
{
    return step == 2 ? change(r, "optimizer.step", 0, 1) : TARN_OK;
}

static tarn_status change_weight_at_4(tarn_replica *r, int step)
{
    return step == 4 ? change(r, "fc2.bias", 3, 1) : TARN_OK;
}

static void expect_found(struct ddp_run run, const char *where, const char *when)
{
    unsigned bits[2];
    ddp_run(&run);
    cr_assert_eq(run.status, TARN_ERR_WEIGHTS, "%s: %s", tarn_status_name(run.status), run.line);
    cr_expect_not_null(strstr(run.line, where), "no \"%s\" in: %s", where, run.line);
    cr_expect_not_null(strstr(run.line, when), "no \"%s\" in: %s", when, run.line);
    const char *values = strstr(run.line, " is 0x");
    cr_assert_not_null(values, "%s", run.line);
    cr_expect_eq(sscanf(values, " is 0x%8x on rank 0 and 0x%8x on rank 1", &bits[0], &bits[1]), 2,
                 "%s", run.line);
    if (strstr(when, "before training step 3") != NULL && strstr(where, "running") == NULL)
        cr_expect_eq(bits[0] ^ bits[1], 1, "%s", run.line);
    ddp_free(&run);
}

static const struct ddp_run two_with_norm = { .last = 4, .norm = true, .launch = { .count = 2 } };

Test(ddp, finds_a_changed_weight_at_the_next_step)
{
    struct ddp_run run = two_with_norm;
    run.hook = change_weight_at_2;
    expect_found(run, "fc2.bias [10] element 3 ", "before training step 3");
}

Test(ddp, finds_changed_statistics_and_momentum)
{
    struct ddp_run run = two_with_norm;
    run.hook = change_statistics_at_2;
    expect_found(run, "bn.running_mean [16] element 5 ", "before training step 3");
    run.hook = change_momentum_at_2;
    expect_found(run, "optimizer.momentum_buffer.fc1.weight [16,784] element 12345 ",
                 "before training step 3");
    run.hook = change_counter_at_2;
    expect_found(run, "optimizer.step [] element 0 ", "before training step 3");
}

Test(ddp, finds_a_change_after_the_last_step)
{
    struct ddp_run run = two_with_norm;
    run.hook = change_weight_at_4;
    expect_found(run, "fc2.bias [10] element 3 ", "before training step 5");
}

Test(ddp, compares_every_so_many_steps)
{
    struct ddp_run run = two_with_norm;
    run.hook = change_weight_at_2;
    run.launch.check_weights = 3; /* before steps 1, 4, 7 */
    expect_found(run, "weights differ", "before training step 4");
}

Test(ddp, compares_never_when_told_so)
{
    char why[160];
    struct ddp_run run = two_with_norm;
    run.hook = change_weight_at_2;
    run.launch.check_weights = -1;
    ddp_run(&run);
    expect_ok(&run, "no comparison");
    cr_expect_not(ddp_equal(&run.ranks[0], &run.ranks[1], why, sizeof why));
    ddp_free(&run);
}

static void expect_healed(struct ddp_run run, tarn_status (*hook)(tarn_replica *r, int step))
{
    run.hook = hook;
    run.launch.heal = true;
    run.last = 8;
    run_equal(&run, "healed");
    ddp_free(&run);
}

Test(ddp, heals_and_goes_on_equal)
{
    expect_healed(two_with_norm, change_weight_at_2);
    expect_healed(two_with_norm, change_statistics_at_2);
    expect_healed(two_with_norm, change_momentum_at_2);
    struct ddp_run synced = two_with_norm;
    synced.launch.sync_norm = true;
    expect_healed(synced, change_statistics_at_2);
}
