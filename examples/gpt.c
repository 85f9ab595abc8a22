/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a small GPT on the bytes of a text, on one device, on several, or on those of several machines, and
 * prints what it writes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tarn_dist.h>

#include "exits.h"
#include "gpt_options.h"
#include "now.h"
#include "terminal.h"

enum { BYTES = 256, MOST_LAYERS = 64, MOST_TESTS = 16 };

/* ---- the text ------------------------------------------------------------------------------- */

struct text {
    unsigned char *bytes;
    size_t count;
    size_t begin; /* of the part that a data set is of */
    int32_t context;
};

static int fail(int code, const char *line)
{
    terminal_line("gpt", "%s", line);
    return code;
}

static int read_text(const char *path, struct text *t)
{
    char line[600];
    FILE *f = fopen(path, "rb");
    bool good = f != NULL && fseek(f, 0, SEEK_END) == 0;
    const long size = good ? ftell(f) : -1;
    good = size >= 0 && fseek(f, 0, SEEK_SET) == 0;
    if (good)
        t->bytes = malloc((size_t)size + 1);
    if (t->bytes != NULL)
        t->count = fread(t->bytes, 1, (size_t)size, f);
    good = good && t->bytes != NULL && t->count == (size_t)size;
    if (!good)
        snprintf(line, sizeof line, "--data: cannot read %s: %s", path,
                 errno != 0 ? strerror(errno) : "it ended early");
    if (f != NULL)
        (void)fclose(f);
    return good ? EXIT_OK : fail(EXIT_FILE, line);
}

/* Piece i of the text, and the same one byte later. */
static int get_piece(void *user, int32_t index, const tarn_sample *out)
{
    const struct text *t = user;
    const unsigned char *from = t->bytes + t->begin + (size_t)index * (size_t)t->context;
    int32_t *x = out->inputs[0], *y = out->targets[0];
    for (int32_t i = 0; i < t->context; i++) {
        x[i] = from[i];
        y[i] = from[i + 1];
    }
    return 0;
}

static tarn_dataset *open_pieces(struct text *t, size_t begin, size_t end)
{
    const size_t pieces = end > begin + 1 ? (end - begin - 1) / (size_t)t->context : 0;
    const tarn_shape shape =
        TARN_SHAPE(pieces < INT32_MAX ? (int32_t)pieces : INT32_MAX, t->context);
    const tarn_array part = { .dtype = TARN_I32, .shape = shape, .classes = BYTES };
    t->begin = begin;
    return tarn_dataset_call((tarn_arrays){ .inputs = { part }, .targets = { part } }, get_piece,
                             t);
}

/* ---- the model ------------------------------------------------------------------------------ */

struct gpt {
    tarn_embedding_layer words, places;
    tarn_transformer_block blocks[MOST_LAYERS];
    tarn_layer_norm norm;
    int layers;
    int32_t context;
};

static void make(tarn_replica *r, const struct config *c, struct gpt *g)
{
    const int width = (int)c->width;
    const tarn_transformer_block_options block = { .heads = (int)c->heads,
                                                   .causal = true,
                                                   .dropout = (float)c->dropout };
    const tarn_init small = { TARN_INIT_NORMAL, .b = 0.02f };
    g->layers = (int)c->layers;
    g->context = (int32_t)c->context;
    g->words.weight = tarn_parameter_with(r, "words.weight", TARN_SHAPE(BYTES, width), small);
    g->places.weight =
        tarn_parameter_with(r, "places.weight", TARN_SHAPE(g->context, width), small);
    for (int i = 0; i < g->layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "blocks.%d", i);
        g->blocks[i] = tarn_transformer_block_make(r, name, width, block);
    }
    g->norm = tarn_layer_norm_make(r, "norm", width);
}

/* Bytes [N, T] to logits [N, T, 256] of those that follow. The last layer is the embedding's. */
static tarn_tensor forward(const struct gpt *g, tarn_tensor x)
{
    tarn_tensor h = tarn_add(tarn_embedding_forward(&g->words, x), g->places.weight);
    for (int i = 0; i < g->layers; i++)
        h = tarn_transformer_block_forward(&g->blocks[i], h, TARN_NONE);
    h = tarn_layer_norm_forward(&g->norm, h);
    return tarn_matmul(h, tarn_transpose(g->words.weight, 0, 1));
}

static tarn_tensor loss_of(const struct gpt *g, const tarn_batch *b)
{
    const int32_t rows = b->n * g->context;
    const tarn_tensor logits = tarn_reshape(forward(g, b->x), TARN_SHAPE(rows, BYTES));
    return tarn_cross_entropy(logits, tarn_reshape(b->y, TARN_SHAPE(rows)));
}

/* ---- a run ---------------------------------------------------------------------------------- */

struct job {
    struct config config;
    struct text text, rest; /* for training and for tests */
    tarn_dataset *train, *test;
    double tested; /* the last test's loss; written by rank 0 */
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
};

static tarn_status open_run(struct run *run)
{
    const struct config *c = &run->job->config;
    tarn_replica *r = run->replica;
    tarn_print0(r, "device: %d x %s\n", tarn_world_size(r), tarn_device_name(r));
    tarn_seed(r, c->seed);
    make(r, c, &run->gpt);
    run->adam = tarn_adamw(r, (tarn_adam_options){ .beta2 = 0.99f, .weight_decay = 0.1f });
    tarn_optimizer_set_weight_decay(run->adam, "*bias,*norm*,places*", 0);
    if (c->resume != NULL)
        (void)tarn_load(r, c->resume, &run->progress);
    const tarn_loader_options in_order = { .batch = (int32_t)c->batch, .drop_last = true };
    tarn_loader_options shuffled = in_order;
    shuffled.shuffle = true;
    shuffled.seed = c->seed;
    run->train = tarn_loader_open(r, run->job->train, shuffled);
    run->test = tarn_loader_open(r, run->job->test, in_order);
    if (run->train == NULL || run->test == NULL)
        return tarn_error_status(r);
    tarn_loader_seek(run->train, run->progress.epoch, run->progress.batches);
    run->sum = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    run->random = c->seed ^ tarn_step_count(r) << 32 ^ 0x9e3779b97f4a7c15u;
    tarn_print0(r, "model: %lld parameters\n", (long long)tarn_parameter_count(r, false));
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

static int choose(const float *logits, double temperature, uint64_t *random)
{
    double most = -INFINITY, all = 0;
    for (int i = 0; i < BYTES; i++)
        most = fmax(most, (double)logits[i]);
    for (int i = 0; i < BYTES; i++)
        all += exp(((double)logits[i] - most) / temperature);
    double left = draw(random) * all;
    int chosen = 0;
    for (; chosen < BYTES - 1; chosen++) {
        left -= exp(((double)logits[chosen] - most) / temperature);
        if (left < 0)
            break;
    }
    return chosen;
}

/* Goes on with the prompt, byte by byte; all replicas write the same, and rank 0 shows it. */
static tarn_status write_sample(struct run *run)
{
    const struct config *c = &run->job->config;
    const int32_t context = run->gpt.context;
    tarn_replica *r = run->replica;
    int32_t *seen = calloc((size_t)context, sizeof *seen);
    float *logits = malloc((size_t)context * BYTES * sizeof *logits);
    tarn_status s = seen != NULL && logits != NULL ? TARN_OK : TARN_ERR_MEMORY;
    const size_t length = strlen(c->prompt);
    const size_t used = length < (size_t)context ? length : (size_t)context - 1;
    int32_t count = 0;
    for (size_t i = length - used; i < length && s == TARN_OK; i++)
        seen[count++] = (unsigned char)c->prompt[i];
    tarn_train(r, false);
    tarn_print0(r, "%s", c->prompt);
    for (long i = 0; i < c->sample && s == TARN_OK; i++) {
        const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, context), TARN_I32, seen);
        s = tarn_read(forward(&run->gpt, x), logits, (size_t)context * BYTES * sizeof *logits);
        if (s == TARN_OK)
            s = tarn_step(r);
        const float *last = logits + (count > 0 ? count - 1 : 0) * BYTES;
        const int next = s == TARN_OK ? choose(last, c->temperature, &run->random) : 0;
        tarn_print0(r, "%c", next);
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
    const uint64_t all = (uint64_t)c->steps, warm = all / 20 + 1;
    const float rate = tarn_lr_cosine((float)c->lr, step, all, (float)c->lr / 10);
    tarn_batch b;
    if (!next_batch(run, &b))
        return tarn_error_status(r);
    tarn_optimizer_set_lr(run->adam, tarn_lr_warmup(rate, step, warm));
    const tarn_tensor loss = loss_of(&run->gpt, &b);
    tarn_backward(loss);
    (void)tarn_clip_grad_norm(r, 1.0f);
    tarn_optimizer_step(run->adam);
    tarn_assign(run->sum, tarn_add(run->sum, tarn_detach(loss)));
    run->progress.batches++;
    return tarn_step(r);
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
    if (tarn_rank(r) == 0)
        run->job->tested = tested;
    const double bytes = (double)done * (double)c->batch * (double)c->context;
    tarn_print0(r, "step %llu: loss %.4f, test %.4f, %.0f bytes/s\n", (unsigned long long)step,
                loss, tested, seconds > 0 ? bytes / seconds : 0);
    if (c->sample > 0)
        s = write_sample(run);
    if (s == TARN_OK && c->save != NULL && tarn_rank(r) == 0)
        s = tarn_save(r, c->save, run->progress);
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
    double start = now(), compiled = tarn_metrics_get(r).compile_seconds;
    for (long done = 0; s == TARN_OK && step < (uint64_t)c->steps;) {
        s = train_step(run, step++);
        done++;
        if (s == TARN_OK && (step % (uint64_t)c->every == 0 || step == (uint64_t)c->steps)) {
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

static int run_job(struct job *job)
{
    const struct config *c = &job->config;
    const int code = read_text(c->data, &job->text);
    if (code != EXIT_OK)
        return code;
    job->text.context = (int32_t)c->context;
    job->rest = job->text;
    const size_t cut = job->text.count / 10 * 9;
    job->train = open_pieces(&job->text, 0, cut);
    job->test = job->train != NULL ? open_pieces(&job->rest, cut, job->text.count) : NULL;
    if (job->test == NULL)
        return fail(EXIT_FILE,
                    "--data: too short: a tenth of it must hold more than --context bytes");
    if (tarn_dataset_size(job->test) < c->batch || tarn_dataset_size(job->train) < c->batch)
        return fail(EXIT_USAGE,
                    "--batch-size: more than the text's pieces of --context bytes: a tenth of "
                    "them, which is for tests, must make a batch");
    if (tarn_node() == 0)
        printf("data: %s (%zu bytes)\n", terminal_name(c->data), job->text.count);
    const tarn_status s = tarn_launch(train, job,
                                      (tarn_launch_options){ .devices = c->devices,
                                                             .count = (int)c->replicas,
                                                             .virtual_shards = (int)c->shards,
                                                             .timeout = c->timeout });
    if (s != TARN_OK)
        return fail(exit_code_of(s), tarn_error(NULL));
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
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_OK)
        code = fail(EXIT_IO, "cannot write to the standard output");
    tarn_dataset_close(job.test);
    tarn_dataset_close(job.train);
    free(job.text.bytes);
    return code;
}
