/* SPDX-License-Identifier: Apache-2.0 */
/* One program, shared out over the ranks of a mesh in five ways, against one device: data parallel, tensor parallel,
 * expert parallel, states cut (ZeRO-1), fully sharded. Three optimizer steps each. Bits are equal where no sum is cut,
 * else as near as the order of sums allows. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(sharding, .timeout = 900);

enum {
    BATCH = 16,
    IN = 12,
    HIDDEN = 32,
    OUT = 8,
    EXPERTS = 4,
    STEPS = 3,
    TENSORS = 4,
    MOST = 4096
};
enum way { DATA, TENSOR, EXPERT, STATES, FULLY };

struct job {
    enum way way;
    tarn_mesh mesh;
    int steps;
    const char *save, *load;
    float values[TENSORS][MOST], loss;
    uint64_t received; /* bytes, by rank 0 in the first step */
};

static const char *const names[] = { "w1", "b1", "w2", "b2" };

static void fill(float *out, int count, float scale, int seed)
{
    for (int i = 0; i < count; i++)
        out[i] = scale * (float)((i * 37 + seed * 101) % 64 - 32) / 32.0f;
}

static tarn_tensor parameter(tarn_replica *r, const char *name, tarn_shape shape, int seed)
{
    float data[MOST];
    fill(data, (int)tarn_shape_count(shape), 0.5f, seed);
    return tarn_parameter(r, name, shape, data);
}

static void make(tarn_replica *r, const struct job *job, tarn_tensor p[TENSORS])
{
    if (job->way == EXPERT) {
        p[0] = parameter(r, "w1", TARN_SHAPE(EXPERTS, IN, HIDDEN / 4), 1);
        p[1] = parameter(r, "b1", TARN_SHAPE(EXPERTS, 1, HIDDEN / 4), 2);
        p[2] = parameter(r, "w2", TARN_SHAPE(EXPERTS, HIDDEN / 4, OUT), 3);
        p[3] = parameter(r, "b2", TARN_SHAPE(OUT), 4);
    } else {
        p[0] = parameter(r, "w1", TARN_SHAPE(IN, HIDDEN), 1);
        p[1] = parameter(r, "b1", TARN_SHAPE(HIDDEN), 2);
        p[2] = parameter(r, "w2", TARN_SHAPE(HIDDEN, OUT), 3);
        p[3] = parameter(r, "b2", TARN_SHAPE(OUT), 4);
    }
}

static void mark(const struct job *job, tarn_tensor p[TENSORS])
{
    if (job->way == TENSOR) {
        tarn_mark_sharding(p[0], job->mesh, TARN_SPEC(NULL, "model"));
        tarn_mark_sharding(p[1], job->mesh, TARN_SPEC("model"));
        tarn_mark_sharding(p[2], job->mesh, TARN_SPEC("model", NULL));
    } else if (job->way == EXPERT) {
        for (int i = 0; i < 3; i++)
            tarn_mark_sharding(p[i], job->mesh, TARN_SPEC("expert", NULL, NULL));
    } else if (job->way == FULLY) {
        tarn_mark_sharding(p[0], job->mesh, TARN_SPEC("data", NULL));
        tarn_mark_sharding(p[1], job->mesh, TARN_SPEC("data"));
        tarn_mark_sharding(p[2], job->mesh, TARN_SPEC("data", NULL));
        tarn_mark_sharding(p[3], job->mesh, TARN_SPEC("data"));
    }
}

static tarn_tensor forward(const struct job *job, tarn_tensor x, const tarn_tensor p[TENSORS])
{
    if (job->way != EXPERT) {
        const tarn_tensor h = tarn_relu(tarn_add(tarn_matmul(x, p[0]), p[1]));
        return tarn_add(tarn_matmul(tarn_dropout(h, 0.25f), p[2]), p[3]);
    }
    /* Each expert has its share of the tokens. */
    x = tarn_reshape(x, TARN_SHAPE(EXPERTS, BATCH / EXPERTS, IN));
    const tarn_tensor h = tarn_relu(tarn_add(tarn_matmul(x, p[0]), p[1]));
    return tarn_add(tarn_reshape(tarn_matmul(h, p[2]), TARN_SHAPE(BATCH, OUT)), p[3]);
}

static void batch(tarn_replica *r, const struct job *job, int step, tarn_tensor *x, tarn_tensor *y)
{
    float in[BATCH * IN], out[BATCH * OUT];
    const char *axis = job->way == EXPERT ? "expert" : job->way == TENSOR ? NULL : "data";
    fill(in, BATCH * IN, 1.0f, 10 + step);
    fill(out, BATCH * OUT, 1.0f, 20 + step);
    *x = tarn_from(r, TARN_SHAPE(BATCH, IN), TARN_F32, in);
    *y = tarn_from(r, TARN_SHAPE(BATCH, OUT), TARN_F32, out);
    *x = tarn_mark_sharding(*x, job->mesh, TARN_SPEC(axis, NULL));
    *y = tarn_mark_sharding(*y, job->mesh, TARN_SPEC(axis, NULL));
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    tarn_tensor p[TENSORS], x, y;
    float loss = 0;
    make(r, job, p);
    mark(job, p);
    tarn_optimizer *o = tarn_adamw(r, (tarn_adam_options){ .lr = 0.01f, .weight_decay = 0.1f });
    if (job->way == STATES)
        tarn_mark_state_sharding(r, o, job->mesh, "data");
    if (job->load != NULL && tarn_load(r, job->load, NULL) != TARN_OK)
        return tarn_wait(r);
    for (int step = 0; step < job->steps; step++) {
        batch(r, job, step, &x, &y);
        const tarn_tensor d = tarn_sub(forward(job, x, p), y);
        const tarn_tensor l = tarn_mean(tarn_mul(d, d), TARN_ALL, false);
        tarn_backward(l);
        tarn_clip_grad_norm(r, 1.0f);
        tarn_optimizer_step(o);
        if (step == 1 && tarn_rank(r) == 0)
            job->received = tarn_metrics_get(r).received_bytes;
        if (step == job->steps - 1)
            loss = tarn_item(l);
        (void)!tarn_step(r);
    }
    if (job->save != NULL && tarn_save(r, job->save, (tarn_progress){ 0 }) != TARN_OK)
        return tarn_wait(r);
    const bool first = tarn_rank(r) == 0;
    static float others[8][MOST];
    for (int i = 0; i < TENSORS; i++) {
        float *to = first ? job->values[i] : others[tarn_rank(r)];
        if (tarn_read(p[i], to, (size_t)tarn_shape_count(tarn_shape_get(p[i])) * sizeof *to) !=
            TARN_OK)
            break;
    }
    if (first)
        job->loss = loss;
    return tarn_wait(r);
}

static tarn_mesh alone(void)
{
    return (tarn_mesh){ .axis = { { "data", 1 }, { "model", 1 }, { "expert", 1 } } };
}

static void run(struct job *job, int ranks)
{
    tarn_launch_options options = { .devices = ranks == 4 ? "0,0,0,0" : ranks == 2 ? "0,0" : "0" };
    if (ranks > 1)
        options.mesh = job->mesh;
    cr_assert(tarn_launch(train, job, options) == TARN_OK, "%s", tarn_error(NULL));
}

/* The greatest difference of a value, as part of the greatest value. */
static double difference(const struct job *a, const struct job *b)
{
    double most = 0, size = 0;
    for (int i = 0; i < TENSORS; i++)
        for (int k = 0; k < MOST; k++) {
            most = fmax(most, fabs((double)a->values[i][k] - (double)b->values[i][k]));
            size = fmax(size, fabs((double)a->values[i][k]));
        }
    return most / size;
}

static struct job one, many;

/* `bytes`: what a rank receives in a step by the textbook; the loss and the norm of the gradients come to it. */
static void compare(enum way way, tarn_mesh mesh, int ranks, double most, uint64_t bytes)
{
    memset(&one, 0, sizeof one);
    memset(&many, 0, sizeof many);
    one.way = many.way = way;
    one.steps = many.steps = STEPS;
    one.mesh = alone();
    many.mesh = mesh;
    run(&one, 1);
    run(&many, ranks);
    printf("way %d: difference %g, loss %.9g and %.9g, %llu bytes received for %llu\n", way,
           difference(&one, &many), (double)one.loss, (double)many.loss,
           (unsigned long long)many.received, (unsigned long long)bytes);
    cr_assert(one.received == 0 && many.received > bytes / 2 && many.received <= bytes + 16);
    for (int i = 0; i < TENSORS; i++)
        cr_assert(one.values[i][0] != 0.0f, "%s", names[i]);
    cr_assert(difference(&one, &many) <= most, "way %d: %g", way, difference(&one, &many));
    cr_assert(fabs((double)one.loss - (double)many.loss) <= most * fabs((double)one.loss));
}

/* Sums of up to n terms in another order differ by n * 2^-24 of the sum of their sizes; an update of Adam divides by
 * the root of what it adds up, which keeps that, and is a step of lr from values of about 1. */
#define BOUND (STEPS * BATCH * OUT * 0x1p-24)

enum {
    W1 = IN * HIDDEN,
    W2 = HIDDEN * OUT,
    ALL = 4 * (W1 + HIDDEN + W2 +
               OUT), /* bytes of parameters; of two ranks each receives as many in an all-reduce */
    GATHERED = 3 * ALL / 2, /* parameters forward and backward, then their gradients' parts */
    VALUES = 4 * BATCH * OUT
};

Test(sharding, data_parallel)
{
    compare(DATA, (tarn_mesh){ .axis = { { "data", 2 } } }, 2, BOUND, ALL);
}

Test(sharding, tensor_parallel)
{
    compare(TENSOR, (tarn_mesh){ .axis = { { "model", 2 } } }, 2, BOUND, VALUES);
}

Test(sharding, expert_parallel)
{
    compare(EXPERT, (tarn_mesh){ .axis = { { "expert", 2 } } }, 2, BOUND, 4 * OUT);
}

Test(sharding, states_are_cut)
{
    compare(STATES, (tarn_mesh){ .axis = { { "data", 2 } } }, 2, BOUND, ALL);
}

Test(sharding, fully_sharded)
{
    compare(FULLY, (tarn_mesh){ .axis = { { "data", 2 } } }, 2, BOUND, GATHERED);
}

Test(sharding, fully_sharded_on_four)
{
    compare(FULLY, (tarn_mesh){ .axis = { { "data", 2 }, { "model", 2 } } }, 4, BOUND, GATHERED);
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

/* Fully sharded for three steps, saved, and loaded under another mesh and on one device: values and state. */
Test(sharding, checkpoints_know_no_mesh)
{
    static struct job saved, loaded[2];
    char path[64];
    snprintf(path, sizeof path, "/tmp/tarn-sharding-%d.safetensors", (int)getpid());
    saved = (struct job){
        .way = FULLY, .mesh = { .axis = { { "data", 2 } } }, .steps = STEPS, .save = path
    };
    run(&saved, 2);
    for (int i = 0; i < 2; i++) {
        loaded[i] = (struct job){ .way = i == 0 ? TENSOR : FULLY,
                                  .mesh = { .axis = { { i == 0 ? "model" : "data", 2 } } },
                                  .load = path };
        run(&loaded[i], 2 - i);
        cr_assert(memcmp(loaded[i].values, saved.values, sizeof saved.values) == 0, "%d", i);
    }
    /* With the state, too: going on is as near as before. */
    loaded[0].steps = loaded[1].steps = STEPS;
    run(&loaded[0], 2);
    run(&loaded[1], 1);
    cr_assert(difference(&loaded[1], &loaded[0]) <= 2 * BOUND);
    cr_assert(difference(&loaded[1], &saved) > 1e-3);
    unlink(path);
}

/* ---- bits ----------------------------------------------------------------------------------- */

static float product[2][BATCH * HIDDEN];

/* Columns are cut, and nothing is summed over them. */
static tarn_status multiply(tarn_replica *r, void *arg)
{
    const tarn_mesh mesh = { .axis = { { "model", 2 } } };
    float in[BATCH * IN], mine[BATCH * HIDDEN];
    fill(in, BATCH * IN, 1.0f, 3);
    const tarn_tensor w = parameter(r, "w", TARN_SHAPE(IN, HIDDEN), 1);
    tarn_mark_sharding(w, mesh, TARN_SPEC(NULL, "model"));
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(BATCH, IN), TARN_F32, in);
    const tarn_tensor y = tarn_dropout(tarn_tanh(tarn_matmul(x, w)), 0.5f);
    const tarn_status s = tarn_read(y, mine, sizeof mine);
    if (tarn_rank(r) == 0)
        memcpy(arg, mine, sizeof mine);
    return s;
}

Test(sharding, bits_are_those_of_one_device)
{
    const tarn_launch_options on_two = { .devices = "0,0", .mesh = { .axis = { { "model", 2 } } } };
    cr_assert(tarn_launch(multiply, product[0], (tarn_launch_options){ .devices = "0" }) == TARN_OK,
              "%s", tarn_error(NULL));
    cr_assert(tarn_launch(multiply, product[1], on_two) == TARN_OK, "%s", tarn_error(NULL));
    cr_assert(memcmp(product[0], product[1], sizeof product[0]) == 0);
}

/* ---- loaders -------------------------------------------------------------------------------- */

enum { SAMPLES = 10, EACH = 4 };

/* The last batch of 2 samples does not divide by 4. */
static tarn_status sum_batches(tarn_replica *r, void *arg)
{
    tarn_dataset *set = ((void **)arg)[0];
    float *sums = ((void **)arg)[1];
    const char *axis = ((void **)arg)[2];
    tarn_loader *l = tarn_loader_open(r, set, (tarn_loader_options){ .batch = 4, .axis = axis });
    tarn_batch b;
    for (int i = 0; tarn_loader_next(l, &b); i++) {
        float x[EACH * 3];
        if (b.n != b.global || tarn_shape_get(b.x).dim[0] != b.n)
            return TARN_ERR_INTERNAL;
        if (tarn_read(b.x, x, (size_t)b.n * 3 * sizeof *x) != TARN_OK)
            break;
        for (int k = 0; tarn_rank(r) == 0 && k < 3 * b.n; k++)
            sums[12 * i + k] = x[k];
        (void)!tarn_step(r);
    }
    tarn_loader_close(l);
    return tarn_wait(r);
}

struct heard {
    int lines;
    char text[400];
};

/* Of rank 0 alone. */
static void hear(tarn_log_level level, const char *text, void *user)
{
    struct heard *h = user;
    if (level != TARN_LOG_WARNING || strstr(text, "loader") == NULL)
        return;
    snprintf(h->text, sizeof h->text, "%s", text);
    h->lines++;
}

Test(sharding, batches_have_the_shape_of_the_whole)
{
    float samples[SAMPLES * 3];
    fill(samples, SAMPLES * 3, 1.0f, 1);
    tarn_dataset *set = tarn_dataset_from((tarn_arrays){
        .inputs = { { .data = samples, .dtype = TARN_F32, .shape = TARN_SHAPE(SAMPLES, 3) } } });
    cr_assert_not_null(set, "%s", tarn_error(NULL));
    const struct {
        tarn_mesh mesh;
        const char *axis, *line; /* what is said, if anything */
    } cases[] = {
        { { .axis = { { "data", 2 } } }, NULL, "" },
        { { .axis = { { "data", 4 } } },
          NULL,
          "tarn: loader: the last batch has 2 samples, which the 4 ranks along \"data\" do not "
          "divide: every rank loads and computes all of them; choose drop_last or pad_last" },
        { { .axis = { { "data", 2 }, { "model", 2 } } }, NULL, "" },
        { { .axis = { { "model", 1 }, { "rows", 4 } } },
          "rows",
          "tarn: loader: the last batch has 2 samples, which the 4 ranks along \"rows\" do not "
          "divide: every rank loads and computes all of them; choose drop_last or pad_last" },
        { { .axis = { { "rows", 4 } } }, NULL, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float sums[36] = { 0 };
        void *arg[3] = { set, sums, (void *)(uintptr_t)cases[i].axis };
        struct heard heard = { .text = "" };
        const tarn_launch_options o = { .devices = i == 0 ? "0,0" : "0,0,0,0",
                                        .mesh = cases[i].mesh };
        tarn_set_log(hear, &heard);
        const tarn_status status = tarn_launch(sum_batches, arg, o);
        tarn_set_log(NULL, NULL);
        cr_assert(status == TARN_OK, "%s", tarn_error(NULL));
        cr_assert(memcmp(sums, samples, sizeof samples) == 0, "case %zu", i);
        cr_assert_str_eq(heard.text, cases[i].line);
        cr_assert(heard.lines == (*cases[i].line != 0), "case %zu: %d lines", i, heard.lines);
    }
    void *arg[3] = { set, NULL, "columns" };
    const tarn_launch_options o = { .devices = "0,0", .mesh = cases[0].mesh };
    cr_assert(tarn_launch(sum_batches, arg, o) == TARN_ERR_ARGUMENT);
    cr_assert(strstr(tarn_error(NULL), "the launch's mesh has no axis \"columns\"") != NULL, "%s",
              tarn_error(NULL));
    tarn_dataset_close(set);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static tarn_status differ(tarn_replica *r, void *arg)
{
    const tarn_mesh *mesh = arg;
    const tarn_tensor w = parameter(r, "w", TARN_SHAPE(IN, HIDDEN), 1);
    tarn_mark_sharding(w, *mesh,
                       tarn_rank(r) == 0 ? TARN_SPEC(NULL, "data") : TARN_SPEC("data", NULL));
    (void)tarn_item(tarn_sum(tarn_exp(w), TARN_ALL, false));
    return tarn_wait(r);
}

static tarn_status by_hand(tarn_replica *r, void *arg)
{
    const tarn_mesh *mesh = arg;
    const tarn_tensor w = parameter(r, "w", TARN_SHAPE(IN, HIDDEN), 1);
    tarn_mark_sharding(w, *mesh, TARN_SPEC(NULL, "data"));
    (void)tarn_item(tarn_sum(tarn_all_reduce(w, TARN_SUM), TARN_ALL, false));
    return tarn_wait(r);
}

Test(sharding, refuses_other_programs)
{
    const tarn_launch_options o = { .devices = "0,0", .mesh = { .axis = { { "data", 2 } } } };
    tarn_mesh mesh = o.mesh;
    cr_assert(tarn_launch(differ, &mesh, o) == TARN_ERR_DISAGREE, "%s", tarn_error(NULL));
    cr_assert(strstr(tarn_error(NULL), "plan: rank 1 recorded another graph than rank 0: node 1 is "
                                       "owned [12,32] of w, on rank 0 owned [12,32] of w with "
                                       "another mark") != NULL,
              "%s", tarn_error(NULL));
    cr_assert(tarn_launch(by_hand, &mesh, o) != TARN_OK);
    cr_assert(strstr(tarn_error(NULL), "all_reduce: the launch has a mesh") != NULL, "%s",
              tarn_error(NULL));
}

/* ---- memory --------------------------------------------------------------------------------- */

enum { ROWS = 512, COLUMNS = 256 };

struct memory {
    enum way way;
    uint64_t parameters, state; /* bytes that making them took on rank 0 */
};

static tarn_status make_large(tarn_replica *r, void *arg)
{
    struct memory *m = arg;
    const tarn_mesh mesh = { .axis = { { "data", 4 } } };
    const uint64_t before = tarn_metrics_get(r).device_bytes;
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(ROWS, COLUMNS), NULL);
    if (m->way == FULLY)
        tarn_mark_sharding(w, mesh, TARN_SPEC("data", NULL));
    const uint64_t made = tarn_metrics_get(r).device_bytes;
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    if (m->way == STATES)
        tarn_mark_state_sharding(r, o, mesh, "data");
    if (tarn_rank(r) == 0) {
        m->parameters = made - before;
        m->state = tarn_metrics_get(r).device_bytes - made;
    }
    return tarn_wait(r);
}

Test(sharding, keeps_its_part_in_memory_alone)
{
    const uint64_t bytes = (uint64_t)ROWS * COLUMNS * sizeof(float), table = 36 << 10;
    const tarn_launch_options o = { .devices = "0,0,0,0", .mesh = { .axis = { { "data", 4 } } } };
    struct memory states = { .way = STATES }, fully = { .way = FULLY };
    cr_assert(tarn_launch(make_large, &states, o) == TARN_OK, "%s", tarn_error(NULL));
    cr_assert(tarn_launch(make_large, &fully, o) == TARN_OK, "%s", tarn_error(NULL));
    printf("parameters %llu and %llu, state %llu and %llu of %llu\n",
           (unsigned long long)states.parameters, (unsigned long long)fully.parameters,
           (unsigned long long)states.state, (unsigned long long)fully.state,
           (unsigned long long)bytes);
    /* Beside its two states Adam has a table of powers, which has nothing to do with the parameters. */
    cr_assert(states.parameters >= bytes && states.state <= 2 * bytes / 4 * 21 / 20 + table);
    cr_assert(fully.parameters <= bytes / 4 * 21 / 20 &&
              fully.state <= 2 * bytes / 4 * 21 / 20 + table);
}
