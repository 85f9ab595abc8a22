/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-weights watch and inject: the training run. */
#include "live.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tarn_dist.h>

#include "commands.h"
#include "digits.h"
#include "network.h"
#include "terminal.h"
#include "report.h"
#include "tensors.h"

enum { SYNTHETIC = 10240 };

/* What all replicas share. Rank 0 writes it, but for the flip, which its own rank does: between the
 * two lies a collective. */
struct job {
    struct live_config config;
    tarn_dataset *data;
    int world;
    long steps, checks;
    bool started;       /* the first line was printed */
    const char *missed; /* what the library did not find; NULL: nothing */
    char refused[2048]; /* why the flip is not possible */
};

/* What a replica has of its own. */
struct run {
    struct job *job;
    tarn_replica *replica;
    tarn_loader *loader;
    tarn_optimizer *sgd;
    struct net net;
    tarn_tensor loss; /* stays on the device: only a check waits for it */
    uint64_t *hashes;
    bool first;
};

static tarn_status open_model(struct run *run)
{
    const struct live_config *c = &run->job->config;
    tarn_replica *r = run->replica;
    tarn_seed(r, c->seed);
    run->net = net_make(r);
    run->sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    run->loader = tarn_loader_open(r, run->job->data,
                                   (tarn_loader_options){ .batch = (int32_t)c->batch,
                                                          .shuffle = true,
                                                          .drop_last = true,
                                                          .seed = c->seed,
                                                          .mean = MNIST_MEAN,
                                                          .deviation = MNIST_DEVIATION });
    run->loss = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    run->hashes = calloc((size_t)tarn_world_size(r), sizeof *run->hashes);
    return run->hashes != NULL ? tarn_step(r) : TARN_ERR_MEMORY;
}

/* ---- looking at the weights ----------------------------------------------------------------- */

/* Gathers hashes and the loss; the step mark drops what was recorded for that. */
static tarn_status look(struct run *run, struct check *k)
{
    tarn_replica *r = run->replica;
    *k = (struct check){ .step = (long)tarn_step_count(r),
                         .world = tarn_world_size(r),
                         .hashes = run->hashes,
                         .equal = true };
    k->loss = (double)tarn_item(tarn_all_reduce(run->loss, TARN_MEAN));
    tarn_status s = tensors_gather(r, run->hashes);
    if (s == TARN_OK)
        s = tarn_step(r);
    for (int i = 1; i < k->world; i++)
        k->equal = k->equal && run->hashes[i] == run->hashes[0];
    return s;
}

/* What the library should have found and did not: differences now, or in the step that began with
 * the flip. */
static const char *missed(const struct live_config *c, const struct check *k, tarn_status found)
{
    if (k->equal)
        return NULL;
    if (found == TARN_OK)
        return "hashes differ, but tarn_check_weights() says that all is equal";
    if (c->flip.tensor != NULL && k->step >= c->flip.step)
        return "hashes still differ after the step, which did not find the flip";
    return NULL;
}

static tarn_status check(struct run *run)
{
    struct job *job = run->job;
    struct check k;
    tarn_status s = look(run, &k);
    if (s != TARN_OK)
        return s;
    s = tarn_check_weights(run->replica);
    if (s != TARN_OK && s != TARN_ERR_WEIGHTS)
        return s;
    if (run->first)
        job->missed = missed(&job->config, &k, s);
    k.equal = k.equal && s == TARN_OK;
    if (!k.equal)
        s = TARN_ERR_WEIGHTS;
    if (run->first) {
        k.number = ++job->checks;
        report_check(&job->config, &k);
    }
    return s;
}

/* The rank that flipped may be in another process than the one that reports. */
static tarn_status tell_flip(tarn_replica *r, struct flip *f)
{
    uint32_t words[3] = { f->before, f->after, (uint32_t)f->dtype };
    const uint32_t none[3] = { 0 };
    const bool mine = tarn_rank(r) == f->rank;
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(3), TARN_I32, mine ? words : none);
    const tarn_status s = tarn_read(tarn_all_reduce(x, TARN_SUM), words, sizeof words);
    if (s != TARN_OK)
        return s;
    f->before = words[0];
    f->after = words[1];
    f->dtype = (tarn_dtype)words[2];
    return TARN_OK;
}

static tarn_status inject(struct run *run)
{
    struct job *job = run->job;
    struct flip f = job->config.flip;
    tarn_status s = TARN_OK;
    if (tarn_rank(run->replica) == f.rank)
        s = flip_apply(run->replica, &f);
    if (s == TARN_OK)
        s = tell_flip(run->replica, &f);
    struct check k;
    if (s == TARN_OK)
        s = look(run, &k);
    if (s == TARN_OK && run->first) {
        report_flip(&job->config, &f);
        report_check(&job->config, &k);
    }
    return s;
}

/* ---- training ------------------------------------------------------------------------------- */

static tarn_status train_step(struct run *run)
{
    tarn_batch b;
    if (!tarn_loader_next(run->loader, &b)) {
        if (tarn_error_status(run->replica) != TARN_OK ||
            !tarn_loader_next(run->loader, &b)) /* the next epoch */
            return tarn_error_status(run->replica);
    }
    const tarn_tensor loss = tarn_nll_loss(net_forward(&run->net, b.x), b.y);
    tarn_backward(loss);
    tarn_optimizer_step(run->sgd);
    tarn_assign(run->loss, tarn_detach(loss));
    return tarn_step(run->replica);
}

static bool is_due(const struct live_config *c, long step)
{
    return step % c->check == 0 || step == c->steps ||
           (c->flip.tensor != NULL && step == c->flip.step);
}

static tarn_status train_steps(struct run *run)
{
    const struct live_config *c = &run->job->config;
    tarn_status s = TARN_OK;
    for (long step = 1; s == TARN_OK && step <= c->steps; step++) {
        if (c->flip.tensor != NULL && step == c->flip.step)
            s = inject(run);
        if (s == TARN_OK)
            s = train_step(run);
        if (s == TARN_OK && run->first)
            run->job->steps = step;
        if (s == TARN_OK && is_due(c, step))
            s = check(run);
    }
    return s;
}

/* What tarn_launch runs on every device. */
static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    struct run run = { .job = job, .replica = r, .first = tarn_rank(r) == 0 };
    const struct flip *f = &job->config.flip;
    char refused[sizeof job->refused] = "";
    tarn_status s = open_model(&run);
    /* All replicas refuse alike. */
    const bool possible =
        s == TARN_OK && (f->tensor == NULL || flip_possible(r, f, refused, sizeof refused));
    if (run.first) {
        job->world = tarn_world_size(r);
        memcpy(job->refused, refused, sizeof refused);
        job->started = possible;
        if (possible)
            report_start(&job->config, r);
    }
    if (possible)
        s = train_steps(&run);
    free(run.hashes);
    return s;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int fail(int code, const char *line)
{
    terminal_line("tarn-weights", "%s", line);
    return code;
}

static int exit_code_of(tarn_status s)
{
    if (s == TARN_ERR_NOT_FINITE) /* the run went astray, not the command line */
        return EXIT_REPLICA;
    return s >= 500 && s < 600   ? EXIT_REPLICA
           : s >= 400 && s < 500 ? EXIT_UNREADABLE
           : s >= 200 && s < 300 ? EXIT_USAGE
                                 : EXIT_DEVICE;
}

static int open_data(struct job *job)
{
    const struct live_config *c = &job->config;
    job->data = c->data != NULL ? tarn_mnist_open(c->data, true) : digits_open(SYNTHETIC, c->seed);
    if (job->data == NULL)
        return fail(EXIT_UNREADABLE, tarn_error(NULL));
    const int size = tarn_dataset_size(job->data);
    if (size >= c->batch)
        return EXIT_EQUAL;
    char line[100];
    snprintf(line, sizeof line, "--batch-size: %ld is more than the %d training samples", c->batch,
             size);
    return fail(EXIT_USAGE, line);
}

static int conclude(const struct job *job, tarn_status s)
{
    const struct live_config *c = &job->config;
    struct verdict v = {
        .word = "equal", .checks = job->checks, .steps = job->steps, .world = job->world
    };
    int code = EXIT_EQUAL;
    if (job->missed != NULL || (s == TARN_OK && c->flip.tensor != NULL && !c->heal)) {
        v.word = "not_found";
        v.line = job->missed != NULL ? job->missed
                                     : "a bit was flipped, and the run ended without an error";
        code = EXIT_NOT_FOUND;
    } else if (s == TARN_ERR_WEIGHTS) {
        v.word = "different";
        v.line = tarn_error(NULL);
        code = EXIT_DIFFERENT;
    } else if (s != TARN_OK) {
        v.word = "failed";
        v.line = tarn_error(NULL);
        code = fail(exit_code_of(s), v.line);
    }
    if (job->started)
        report_verdict(c, &v);
    return code;
}

static int run_job(struct job *job)
{
    const struct live_config *c = &job->config;
    const int code = open_data(job);
    if (code != EXIT_EQUAL)
        return code;
    const tarn_status s =
        tarn_launch(train, job,
                    (tarn_launch_options){ .devices = c->devices,
                                           .count = (int)c->count,
                                           .virtual_shards = (int)c->shards,
                                           .check_weights = 1, /* of the library: every step */
                                           .heal = c->heal });
    if (tarn_node() > 0 && s == TARN_OK)
        return EXIT_EQUAL; /* the first process talks */
    return *job->refused ? fail(EXIT_USAGE, job->refused) : conclude(job, s);
}

static int live_main(int argc, char **argv, bool with_flip)
{
    /* A replica that never came back still uses both. */
    static struct job job;
    job.config = live_parse(argc, argv, with_flip);
    const int code = run_job(&job);
    if (code != EXIT_REPLICA)
        (job.config.data != NULL ? tarn_dataset_close : digits_close)(job.data);
    return code;
}

int watch_main(int argc, char **argv)
{
    return live_main(argc, argv, false);
}

int inject_main(int argc, char **argv)
{
    return live_main(argc, argv, true);
}
