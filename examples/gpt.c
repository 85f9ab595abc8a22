/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a GPT on the bytes or the tokens of a text, from nothing or from the weights of GPT-2, on one device, on
 * several, or on those of several machines, and prints what it writes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tarn_dist.h>

#include "exits.h"
#include "gpt_2.h"
#include "gpt_options.h"
#include "gpt_text.h"
#include "now.h"
#include "terminal.h"
#include "training_log.h"
#include "whole_file.h"

enum { MOST_TESTS = 16 };

/* ---- a run ---------------------------------------------------------------------------------- */

struct job {
    struct config config;
    struct gpt_shape shape;
    struct gpt_text text, rest; /* for training and for tests */
    tarn_dataset *train, *test;
    double tested; /* the last test's loss; written by rank 0, as are the log and */
    struct training_log log;
    char problem[5000]; /* of the example itself, not of the library */
};

struct run {
    struct job *job;
    tarn_replica *replica;
    struct gpt gpt;
    tarn_optimizer *adam;
    tarn_loader *train, *test;
    tarn_tensor sum; /* of losses, on the device: no step waits for its own */
    tarn_progress progress;
    uint64_t random;
    double lr; /* of the last step */
};

static tarn_tensor loss_of(const struct gpt *g, const tarn_batch *b)
{
    const tarn_tensor logits = gpt_forward(g, b->x);
    const int32_t rows = b->n * tarn_shape_get(logits).dim[1];
    return tarn_cross_entropy(tarn_reshape(logits, TARN_SHAPE(rows, g->shape.words)),
                              tarn_reshape(b->y, TARN_SHAPE(rows)));
}

/* What the user wants for some parameters, in that order. */
static void apply_rules(const struct config *c, tarn_replica *r, tarn_optimizer *adam)
{
    tarn_optimizer_set_weight_decay(adam, "*bias,*norm*,places*", 0);
    for (int i = 0; i < c->rule_count; i++) {
        const struct rule *rule = &c->rules[i];
        switch (rule->kind) {
        case RULE_TRAIN_ONLY:
            tarn_freeze(r, "*", true);
            tarn_freeze(r, rule->pattern, false);
            break;
        case RULE_FREEZE:
            tarn_freeze(r, rule->pattern, true);
            break;
        case RULE_SCALE_LR:
            tarn_optimizer_scale_lr(adam, rule->pattern, (float)rule->value);
            break;
        case RULE_WEIGHT_DECAY:
            tarn_optimizer_set_weight_decay(adam, rule->pattern, (float)rule->value);
            break;
        }
    }
}

static tarn_status open_run(struct run *run)
{
    const struct config *c = &run->job->config;
    tarn_replica *r = run->replica;
    tarn_print0(r, "device: %d x %s\n", tarn_world_size(r), tarn_device_name(r));
    tarn_seed(r, c->run.seed);
    gpt_make(r, &run->job->shape, (float)c->dropout, &run->gpt);
    run->gpt.recompute = c->recompute;
    tarn_recompute_budget(r, (size_t)c->budget << 20);
    if (c->load != NULL)
        (void)gpt_2_load(r, c->load);
    run->adam = tarn_adamw(r, (tarn_adam_options){ .beta2 = 0.99f, .weight_decay = 0.1f });
    apply_rules(c, r, run->adam);
    training_precision(r, &c->run);
    if (c->run.resume != NULL && tarn_load(r, c->run.resume, &run->progress) != TARN_OK)
        return tarn_error_status(r);
    const tarn_loader_options in_order = { .batch = (int32_t)c->run.batch, .drop_last = true };
    tarn_loader_options shuffled = in_order;
    shuffled.shuffle = !c->in_order;
    shuffled.seed = c->run.seed;
    run->train = tarn_loader_open(r, run->job->train, shuffled);
    run->test = tarn_loader_open(r, run->job->test, in_order);
    if (run->train == NULL || run->test == NULL)
        return tarn_error_status(r);
    tarn_loader_seek(run->train, run->progress.epoch, run->progress.batches);
    run->sum = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    run->random = c->run.seed ^ tarn_step_count(r) << 32 ^ 0x9e3779b97f4a7c15u;
    tarn_print0(r, "model: %lld parameters, %lld of them trained\n",
                (long long)tarn_parameter_count(r, false),
                (long long)tarn_parameter_count(r, true));
    return tarn_step(r);
}

/* The mean of what was added since, of all replicas. */
static double take_sum(struct run *run, long count)
{
    const float sum = tarn_item(tarn_all_reduce(run->sum, TARN_MEAN));
    tarn_assign(run->sum, tarn_zeros(run->replica, TARN_SCALAR));
    return (double)sum / (double)count;
}

static tarn_status test(struct run *run, double *loss)
{
    tarn_replica *r = run->replica;
    tarn_batch b;
    long count = 0;
    tarn_train(r, false);
    tarn_loader_seek(run->test, 0, 0);
    while (count < MOST_TESTS && tarn_loader_next(run->test, &b)) {
        const tarn_tensor each = loss_of(&run->gpt, &b);
        tarn_assign(run->sum, tarn_add(run->sum, each));
        if (tarn_step(r) != TARN_OK)
            return tarn_error_status(r);
        count++;
    }
    *loss = take_sum(run, count);
    tarn_train(r, true);
    return tarn_step(r);
}

/* ---- samples -------------------------------------------------------------------------------- */

/* From 0 to below 1 (splitmix64). */
static double draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static int choose(const float *logits, int words, double temperature, uint64_t *random)
{
    double most = -INFINITY, all = 0;
    for (int i = 0; i < words; i++)
        most = fmax(most, (double)logits[i]);
    for (int i = 0; i < words; i++)
        all += exp(((double)logits[i] - most) / temperature);
    double left = draw(random) * all;
    int chosen = 0;
    for (; chosen < words - 1; chosen++) {
        left -= exp(((double)logits[chosen] - most) / temperature);
        if (left < 0)
            break;
    }
    return chosen;
}

static void show(const struct run *run, int32_t word)
{
    tarn_print0(run->replica, run->job->config.tokens != NULL ? "%d " : "%c", word);
}

/* The prompt's bytes, or its numbers of tokens; of more than fit, the last. */
static int32_t take_prompt(const struct run *run, int32_t context, int32_t *seen)
{
    const char *at = run->job->config.prompt;
    const bool tokens = run->job->config.tokens != NULL;
    int32_t count = 0;
    for (char *end; *at != '\0'; at = end) {
        const long word = tokens ? strtol(at, &end, 10) : (unsigned char)*at;
        if (!tokens)
            end = (char *)at + 1;
        if (end == at || word < 0 || word >= run->gpt.shape.words)
            break;
        show(run, (int32_t)word);
        if (count == context - 1)
            memmove(seen, seen + 1, (size_t)--count * sizeof *seen);
        seen[count++] = (int32_t)word;
    }
    return count;
}

/* Goes on with the prompt, word by word; all replicas write the same, and rank 0 shows it. */
static tarn_status write_sample(struct run *run)
{
    const struct config *c = &run->job->config;
    const int32_t context = run->job->text.context, words = run->gpt.shape.words;
    const size_t bytes = (size_t)context * (size_t)words * sizeof(float);
    tarn_replica *r = run->replica;
    int32_t *seen = calloc((size_t)context, sizeof *seen);
    float *logits = malloc(bytes);
    tarn_status s = seen != NULL && logits != NULL ? TARN_OK : TARN_ERR_MEMORY;
    int32_t count = s == TARN_OK ? take_prompt(run, context, seen) : 0;
    tarn_train(r, false);
    for (long i = 0; i < c->sample && s == TARN_OK; i++) {
        const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, context), TARN_I32, seen);
        s = tarn_read(tarn_cast(gpt_forward(&run->gpt, x), TARN_F32), logits, bytes);
        if (s == TARN_OK)
            s = tarn_step(r);
        const float *last = logits + (size_t)(count > 0 ? count - 1 : 0) * (size_t)words;
        const int next = s == TARN_OK ? choose(last, words, c->temperature, &run->random) : 0;
        show(run, next);
        if (count == context)
            memmove(seen, seen + 1, (size_t)--count * sizeof *seen);
        seen[count++] = next;
    }
    tarn_print0(r, "\n");
    tarn_train(r, true);
    free(seen);
    free(logits);
    return s;
}

/* ---- logits --------------------------------------------------------------------------------- */

/* Those of the text's first pieces; all replicas compute the same, and rank 0 writes them. */
static tarn_status write_logits(struct run *run)
{
    const struct config *c = &run->job->config;
    const struct gpt_text *t = &run->job->text;
    const size_t count = (size_t)c->run.batch * (size_t)t->context,
                 bytes = count * (size_t)run->gpt.shape.words * sizeof(float);
    tarn_replica *r = run->replica;
    int32_t *x = malloc(count * sizeof *x);
    float *logits = malloc(bytes);
    tarn_status s = x != NULL && logits != NULL ? TARN_OK : TARN_ERR_MEMORY;
    for (size_t i = 0; s == TARN_OK && i < count; i++)
        x[i] = t->words[i];
    tarn_train(r, false);
    if (s == TARN_OK)
        s = tarn_read(
            tarn_cast(
                gpt_forward(&run->gpt, tarn_from(r, TARN_SHAPE((int32_t)c->run.batch, t->context),
                                                 TARN_I32, x)),
                TARN_F32),
            logits, bytes);
    if (s == TARN_OK && tarn_rank(r) == 0 && !whole_file_write(c->logits, "", logits, bytes)) {
        snprintf(run->job->problem, sizeof run->job->problem, "--logits: cannot write %s: %s",
                 c->logits, strerror(errno));
        s = TARN_ERR_IO;
    }
    free(x);
    free(logits);
    return s;
}

/* ---- training ------------------------------------------------------------------------------- */

static bool next_batch(struct run *run, tarn_batch *b)
{
    if (tarn_loader_next(run->train, b))
        return true;
    if (tarn_loader_status(run->train) != TARN_OK)
        return false;
    run->progress = (tarn_progress){ .epoch = run->progress.epoch + 1 };
    return tarn_loader_next(run->train, b);
}

static tarn_status train_step(struct run *run, uint64_t step)
{
    const struct config *c = &run->job->config;
    tarn_replica *r = run->replica;
    const uint64_t all = (uint64_t)c->run.steps, warm = all / 20 + 1;
    const float rate = tarn_lr_cosine((float)c->run.lr, step, all, (float)c->run.lr / 10);
    tarn_batch b;
    if (!next_batch(run, &b))
        return tarn_error_status(r);
    run->lr = (double)tarn_lr_warmup(rate, step, warm);
    tarn_optimizer_set_lr(run->adam, (float)run->lr);
    const tarn_tensor loss = loss_of(&run->gpt, &b);
    tarn_backward(loss);
    (void)tarn_clip_grad_norm(r, 1.0f);
    tarn_optimizer_step(run->adam);
    tarn_assign(run->sum, tarn_add(run->sum, tarn_detach(loss)));
    run->progress.batches++;
    return tarn_step(r);
}

/* By rank 0. */
static tarn_status log_report(const struct run *run, uint64_t step, long steps, double seconds,
                              double loss)
{
    struct job *job = run->job;
    const struct training_point p = {
        .event = "step",
        .epoch = run->progress.epoch,
        .step = step,
        .steps = steps,
        .seconds = seconds,
        .samples = (double)steps * (double)job->config.run.batch,
        .train_loss = loss,
        .lr = run->lr,
        .tested = job->tested,
        .measure = "loss",
        .world_size = tarn_world_size(run->replica),
    };
    return training_log_write(&job->log, &p, job->problem, sizeof job->problem) ? TARN_OK
                                                                                : TARN_ERR_IO;
}

static tarn_status report(struct run *run, uint64_t step, long done, double seconds)
{
    const struct config *c = &run->job->config;
    tarn_replica *r = run->replica;
    const double loss = take_sum(run, done);
    double tested = 0;
    tarn_status s = tarn_step(r);
    if (s == TARN_OK)
        s = test(run, &tested);
    if (s != TARN_OK)
        return s;
    if (tarn_rank(r) == 0) {
        run->job->tested = tested;
        s = log_report(run, step, done, seconds, loss);
    }
    const double words = (double)done * (double)c->run.batch * (double)run->job->text.context;
    tarn_print0(r, "step %llu: loss %.4f, test %.4f, %.0f %s/s\n", (unsigned long long)step, loss,
                tested, seconds > 0 ? words / seconds : 0, c->tokens != NULL ? "tokens" : "bytes");
    if (s == TARN_OK && c->sample > 0)
        s = write_sample(run);
    if (s == TARN_OK && c->run.save != NULL && tarn_rank(r) == 0)
        s = tarn_save(r, c->run.save, run->progress);
    return s == TARN_OK ? tarn_barrier(r) : s;
}

/* What tarn_launch runs on every device. */
static tarn_status train(tarn_replica *r, void *arg)
{
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return TARN_ERR_MEMORY;
    *run = (struct run){ .job = arg, .replica = r };
    const struct config *c = &run->job->config;
    tarn_status s = open_run(run);
    uint64_t step = tarn_step_count(r);
    if (s == TARN_OK && c->logits != NULL) {
        s = write_logits(run);
        step = (uint64_t)c->run.steps;
    }
    double start = now(), compiled = tarn_metrics_get(r).compile_seconds;
    for (long done = 0; s == TARN_OK && step < (uint64_t)c->run.steps;) {
        s = train_step(run, step++);
        done++;
        if (s == TARN_OK && (step % (uint64_t)c->every == 0 || step == (uint64_t)c->run.steps)) {
            s = tarn_wait(r);
            const double made = tarn_metrics_get(r).compile_seconds - compiled;
            if (s == TARN_OK)
                s = report(run, step, done, now() - start - made);
            done = 0;
            start = now();
            compiled = tarn_metrics_get(r).compile_seconds;
        }
    }
    free(run);
    return s != TARN_OK ? s : tarn_error_status(r);
}

/* ---- the program ---------------------------------------------------------------------------- */

static int fail(int code, const char *line)
{
    terminal_line("gpt", "%s", line);
    return code;
}

static int open_shape(struct job *job)
{
    struct config *c = &job->config;
    struct gpt_shape *s = &job->shape;
    if (c->load == NULL) {
        c->context = c->context > 0 ? c->context : DEFAULT_CONTEXT;
        *s = (struct gpt_shape){ .layers = (int)c->layers,
                                 .width = (int)c->width,
                                 .heads = (int)c->heads,
                                 .words = (int32_t)c->words,
                                 .places = (int32_t)c->context };
        return EXIT_OK;
    }
    if (!gpt_2_shape(c->load, (int)c->heads, s, job->problem, sizeof job->problem))
        return fail(EXIT_FILE, job->problem);
    if (c->context == 0)
        c->context = s->places < DEFAULT_CONTEXT ? s->places : DEFAULT_CONTEXT;
    if (c->context > s->places) {
        snprintf(job->problem, sizeof job->problem, "--context: %ld are more than the %d of %s",
                 c->context, (int)s->places, c->load);
        return fail(EXIT_USAGE, job->problem);
    }
    if (c->tokens == NULL && s->words != BYTES) {
        snprintf(job->problem, sizeof job->problem,
                 "--load: %s knows %d words, which are not bytes: give --tokens", c->load,
                 (int)s->words);
        return fail(EXIT_USAGE, job->problem);
    }
    if (tarn_node() == 0)
        printf("load: %s (%d layers, width %d, %d heads, context %d, %d words)\n",
               terminal_name(c->load), s->layers, s->width, s->heads, (int)s->places,
               (int)s->words);
    return EXIT_OK;
}

static int open_text(struct job *job)
{
    const struct config *c = &job->config;
    const char *path = c->tokens != NULL ? c->tokens : c->data;
    const int32_t words = job->shape.words;
    job->text.context = (int32_t)c->context;
    if (!gpt_text_read(path, c->tokens != NULL, words, &job->text, job->problem,
                       sizeof job->problem))
        return fail(EXIT_FILE, job->problem);
    job->rest = job->text;
    const size_t cut = job->text.count / 10 * 9;
    job->train = gpt_text_pieces(&job->text, 0, cut, words);
    job->test =
        job->train != NULL ? gpt_text_pieces(&job->rest, cut, job->text.count, words) : NULL;
    if (job->test == NULL)
        return fail(EXIT_FILE,
                    "--data: too short: a tenth of it must hold more than --context bytes");
    if (tarn_dataset_size(job->test) < c->run.batch || tarn_dataset_size(job->train) < c->run.batch)
        return fail(EXIT_USAGE,
                    "--batch-size: more than the text's pieces of --context bytes: a tenth of "
                    "them, which is for tests, must make a batch");
    if (tarn_node() == 0)
        printf("data: %s (%zu %s)\n", terminal_name(path), job->text.count,
               c->tokens != NULL ? "tokens" : "bytes");
    return EXIT_OK;
}

static int run_job(struct job *job)
{
    const struct config *c = &job->config;
    int code = open_shape(job);
    if (code == EXIT_OK)
        code = open_text(job);
    if (code != EXIT_OK)
        return code;
    if (tarn_node() == 0 &&
        !training_log_open(&job->log, c->run.log, job->problem, sizeof job->problem))
        return fail(EXIT_IO, job->problem);
    const tarn_status s = tarn_launch(train, job, training_launch(&c->run));
    if (s != TARN_OK)
        return fail(exit_code_of(s), *job->problem ? job->problem : tarn_error(NULL));
    if (tarn_node() == 0 && job->tested > c->target)
        return fail(EXIT_TARGET, "the last test's loss is above the target");
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    terminal_open();
    struct job job = { .config = config_parse(argc, argv) };
    int code = run_job(&job);
    if (tarn_launch_left() > 0) {
        /* A thread that never came back may still use the text. */
        (void)fflush(stdout);
        _exit(code);
    }
    if (!training_log_close(&job.log, job.problem, sizeof job.problem) && code == EXIT_OK)
        code = fail(EXIT_IO, job.problem);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_OK)
        code = fail(EXIT_IO, "cannot write to the standard output");
    tarn_dataset_close(job.test);
    tarn_dataset_close(job.train);
    free(job.text.words);
    return code;
}
