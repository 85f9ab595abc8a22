/* SPDX-License-Identifier: Apache-2.0 */
#include "image_trainer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digits.h"
#include "exits.h"
#include "image_folder.h"
#include "now.h"
#include "terminal.h"
#include "training_log.h"
#include "whole_file.h"
#include "image_options.h"

enum {
    TEST_BATCH = 500,
    FAKE_TRAIN = 5120,
    FAKE_TEST = 1000,
    SHEET_COLUMNS = 8,
    SHOWN_CLASSES = 20
};

/* What all replicas share; written by rank 0 alone. */
struct job {
    const struct example *example;
    struct config config;
    struct image_folder folder;
    tarn_dataset *train, *test;
    double tested; /* the last test's result */
    struct training_log log;
    char problem[5000]; /* of the example itself, not of the library */
};

struct run {
    struct job *job;
    const struct example *example;
    tarn_replica *replica;
    void *model;
    tarn_loader *train, *test;
    tarn_tensor sum; /* of losses, or of what is tested: on the device, so that no step waits */
    tarn_progress progress;
    long steps;
    double lr; /* of the last step */
};

/* ---- data ----------------------------------------------------------------------------------- */

static const char *find_data(void)
{
    static const char *const folders[] = { "data/mnist", "data/fashion-mnist",
                                           "/usr/share/datasets/fashion-mnist" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (access(folders[i], X_OK) == 0)
            return folders[i];
    return folders[2];
}

/* PNG and JPEG files, a folder for each class. */
static tarn_status open_folder(struct job *job)
{
    const struct config *c = &job->config;
    struct image_folder *f = &job->folder;
    if (!image_folder_open(&c->folder, f, job->problem, sizeof job->problem))
        return TARN_ERR_FORMAT;
    job->train = f->train.set;
    job->test = f->test.set;
    if (tarn_node() != 0)
        return TARN_OK;
    printf("data: %s (%d training, %d test samples)\nclasses: %d:", terminal_name(c->folder.path),
           f->train.count, f->test.count, f->class_count);
    for (int i = 0; i < f->class_count && i < SHOWN_CLASSES; i++)
        printf(" %s", terminal_name(f->classes[i]));
    puts(f->class_count > SHOWN_CLASSES ? " ..." : "");
    return TARN_OK;
}

static tarn_status open_digits(struct job *job)
{
    const struct config *c = &job->config;
    const char *folder = c->data != NULL ? c->data : find_data();
    job->train = c->fake ? digits_open(FAKE_TRAIN, c->run.seed) : tarn_mnist_open(folder, true);
    if (job->train != NULL)
        job->test =
            c->fake ? digits_open(FAKE_TEST, c->run.seed + 1) : tarn_mnist_open(folder, false);
    if (job->test == NULL)
        return tarn_error_status(NULL);
    if (tarn_node() == 0)
        printf("data: %s (%d training, %d test samples)\n",
               c->fake ? "synthetic" : terminal_name(folder), tarn_dataset_size(job->train),
               tarn_dataset_size(job->test));
    const tarn_shape s = tarn_dataset_sample_shape(job->train);
    if (s.rank == 3 && s.dim[0] == 1 && s.dim[1] == 28 && s.dim[2] == 28)
        return TARN_OK;
    snprintf(job->problem, sizeof job->problem, "%s: images of %dx%d, must be 28x28", folder,
             s.rank > 1 ? s.dim[s.rank - 2] : 1, s.rank > 0 ? s.dim[s.rank - 1] : 1);
    return TARN_ERR_FORMAT;
}

static tarn_status open_data(struct job *job)
{
    const bool folder = job->config.folder.path != NULL;
    const tarn_status s = folder ? open_folder(job) : open_digits(job);
    if (s != TARN_OK || tarn_dataset_size(job->train) >= job->config.run.batch)
        return s;
    snprintf(job->problem, sizeof job->problem,
             "--batch-size: %ld are more than the %d training samples", job->config.run.batch,
             tarn_dataset_size(job->train));
    return TARN_ERR_ARGUMENT;
}

/* What pixels are divided by, less what. */
static tarn_loader_options normalised(const struct job *job)
{
    const struct image_folder *f = &job->folder;
    tarn_loader_options in = { .batch = TEST_BATCH };
    if (job->config.folder.path != NULL) {
        in.means = f->means;
        in.deviations = f->deviations;
        in.channels = sizeof f->means / sizeof *f->means;
    } else if (!job->example->unit_pixels) {
        in.mean = MNIST_MEAN;
        in.deviation = MNIST_DEVIATION;
    }
    return in;
}

static tarn_status open_run(struct run *run)
{
    const struct config *c = &run->job->config;
    const struct example *e = run->example;
    tarn_replica *r = run->replica;
    tarn_print0(r, "device: %d x %s\n", tarn_world_size(r), tarn_device_name(r));
    tarn_seed(r, c->run.seed);
    if (e->fit != NULL)
        e->fit(run->model, tarn_dataset_sample_shape(run->job->train),
               tarn_dataset_classes(run->job->train));
    e->make(r, run->model);
    tarn_print0(r, "model: %lld parameters\n", (long long)tarn_parameter_count(r, false));
    e->optimize(r, run->model);
    training_precision(r, &c->run);
    if (c->run.resume != NULL && tarn_load(r, c->run.resume, &run->progress) != TARN_OK)
        return tarn_error_status(r);
    tarn_loader_options in = normalised(run->job);
    run->test = tarn_loader_open(r, run->job->test, in);
    in.batch = (int32_t)c->run.batch;
    in.shuffle = in.drop_last = true;
    in.seed = c->run.seed;
    run->train = tarn_loader_open(r, run->job->train, in);
    if (run->train == NULL || run->test == NULL)
        return tarn_error_status(r);
    tarn_loader_seek(run->train, run->progress.epoch, run->progress.batches);
    run->steps = (long)tarn_step_count(r);
    run->sum = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    return tarn_step(r);
}

/* ---- sheets of images ----------------------------------------------------------------------- */

/* Images [N, 1, H, W] side by side, on a ground of black. */
static bool write_sheet(const char *path, const float *images, tarn_shape s)
{
    char head[64];
    const int h = s.dim[2], w = s.dim[3], rows = (s.dim[0] + SHEET_COLUMNS - 1) / SHEET_COLUMNS;
    const int wide = SHEET_COLUMNS * w, high = rows * h;
    unsigned char *pixels = calloc((size_t)wide * (size_t)high, 1);
    if (pixels == NULL)
        return false;
    for (int i = 0; i < s.dim[0]; i++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const float v = images[(i * h + y) * w + x];
                const int at = (i / SHEET_COLUMNS * h + y) * wide + i % SHEET_COLUMNS * w + x;
                pixels[at] = (unsigned char)lrintf(255 * fminf(fmaxf(v, 0), 1));
            }
    snprintf(head, sizeof head, "P5\n%d %d\n255\n", wide, high);
    const bool good = whole_file_write(path, head, pixels, (size_t)wide * (size_t)high);
    free(pixels);
    return good;
}

/* All replicas draw the same; rank 0 writes it. */
static tarn_status draw(struct run *run)
{
    const char *path = run->job->config.sheet;
    tarn_replica *r = run->replica;
    if (path == NULL || run->example->draw == NULL)
        return TARN_OK;
    tarn_train(r, false);
    const tarn_tensor images = run->example->draw(r, run->model);
    const tarn_shape s = tarn_shape_get(images);
    const size_t bytes = (size_t)tarn_shape_count(s) * sizeof(float);
    float *values = malloc(bytes > 0 ? bytes : 1);
    tarn_status status = values != NULL ? tarn_read(images, values, bytes) : TARN_ERR_MEMORY;
    if (status == TARN_OK)
        status = tarn_step(r);
    tarn_train(r, true);
    if (status == TARN_OK && tarn_rank(r) == 0 && !write_sheet(path, values, s)) {
        snprintf(run->job->problem, sizeof run->job->problem, "--sheet: cannot write %s: %s", path,
                 strerror(errno));
        status = TARN_ERR_IO;
    }
    free(values);
    return status;
}

/* ---- training and tests --------------------------------------------------------------------- */

static tarn_status clear_sum(struct run *run)
{
    tarn_assign(run->sum, tarn_zeros(run->replica, TARN_SCALAR));
    return tarn_step(run->replica);
}

tarn_tensor image_accuracy(tarn_tensor logits, tarn_tensor y)
{
    const tarn_tensor guess = tarn_argmax(logits, 1, false);
    return tarn_mean(tarn_cast(tarn_eq(guess, y), TARN_F32), TARN_ALL, false);
}

static tarn_status test(struct run *run, double *result)
{
    tarn_replica *r = run->replica;
    tarn_batch b;
    tarn_train(r, false);
    tarn_status s = clear_sum(run);
    while (s == TARN_OK && tarn_loader_next(run->test, &b)) {
        const tarn_tensor mean = tarn_detach(run->example->test(run->model, &b));
        tarn_assign(run->sum, tarn_add(run->sum, tarn_mul_scalar(mean, (float)b.n)));
        s = tarn_step(r);
    }
    const double all = (double)tarn_item(tarn_all_reduce(run->sum, TARN_SUM));
    *result = all / (double)tarn_dataset_size(run->job->test);
    tarn_train(r, true);
    return s == TARN_OK ? clear_sum(run) : s;
}

static tarn_status train_step(struct run *run, const tarn_batch *b, uint64_t all)
{
    const struct config *c = &run->job->config;
    const float lr = (float)c->run.lr;
    const struct example *e = run->example;
    const float now = e->cosine ? tarn_lr_cosine(lr, (uint64_t)run->steps, all, 0) : lr;
    run->lr = (double)now;
    e->set_lr(run->model, now);
    const tarn_tensor loss = tarn_detach(e->train(run->model, b));
    tarn_assign(run->sum, tarn_add(run->sum, loss));
    run->progress.batches++;
    run->steps++;
    return tarn_step(run->replica);
}

/* By rank 0. */
static tarn_status log_epoch(const struct run *run, long steps, double seconds, double loss)
{
    struct job *job = run->job;
    const struct training_point p = {
        .event = "epoch",
        .epoch = run->progress.epoch + (run->progress.batches != 0),
        .step = (uint64_t)run->steps,
        .steps = steps,
        .seconds = seconds,
        .samples = (double)steps * (double)job->config.run.batch,
        .train_loss = loss,
        .lr = run->lr,
        .tested = job->tested,
        .measure = run->example->measure,
        .world_size = tarn_world_size(run->replica),
    };
    return training_log_write(&job->log, &p, job->problem, sizeof job->problem) ? TARN_OK
                                                                                : TARN_ERR_IO;
}

static tarn_status train_epoch(struct run *run)
{
    const struct config *c = &run->job->config;
    tarn_replica *r = run->replica;
    const uint64_t length = (uint64_t)tarn_loader_length(run->train);
    const uint64_t all = c->run.steps > 0 ? (uint64_t)c->run.steps : length * (uint64_t)c->epochs;
    const double start = now(), compiled = tarn_metrics_get(r).compile_seconds;
    long count = 0;
    tarn_batch b;
    tarn_status s = TARN_OK;
    while (s == TARN_OK && (c->run.steps == 0 || run->steps < c->run.steps) &&
           tarn_loader_next(run->train, &b)) {
        s = train_step(run, &b, all);
        count++;
    }
    if (s == TARN_OK)
        s = tarn_wait(r);
    const double busy = now() - start - (tarn_metrics_get(r).compile_seconds - compiled);
    const double loss = (double)tarn_item(tarn_all_reduce(run->sum, TARN_MEAN)) / (double)count;
    if (run->progress.batches >= length)
        run->progress = (tarn_progress){ .epoch = run->progress.epoch + 1 };
    double tested = 0;
    if (s == TARN_OK)
        s = test(run, &tested);
    if (s != TARN_OK)
        return s;
    if (tarn_rank(r) == 0) {
        run->job->tested = tested;
        s = log_epoch(run, count, busy, loss);
    }
    tarn_print0(r, "epoch %llu: loss %.4f, test %s %.4f, %.0f samples/s\n",
                (unsigned long long)(run->progress.epoch + (run->progress.batches != 0)), loss,
                run->example->measure, tested,
                busy > 0 ? (double)count * (double)c->run.batch / busy : 0);
    if (s == TARN_OK)
        s = draw(run);
    if (s == TARN_OK && c->run.save != NULL && tarn_rank(r) == 0)
        s = tarn_save(r, c->run.save, run->progress);
    return s == TARN_OK ? tarn_barrier(r) : s;
}

/* What tarn_launch runs on every device. */
static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    const struct config *c = &job->config;
    struct run run = { .job = job, .example = job->example, .replica = r };
    run.model = calloc(1, job->example->bytes);
    tarn_status s = run.model != NULL ? open_run(&run) : TARN_ERR_MEMORY;
    while (s == TARN_OK &&
           (c->run.steps > 0 ? run.steps < c->run.steps : run.progress.epoch < (uint64_t)c->epochs))
        s = train_epoch(&run);
    free(run.model);
    return s != TARN_OK ? s : tarn_error_status(r);
}

/* ---- the program ---------------------------------------------------------------------------- */

static void close_data(struct job *job)
{
    void (*close)(tarn_dataset *) = job->config.fake ? digits_close : tarn_dataset_close;
    if (job->config.folder.path != NULL) {
        image_folder_close(&job->folder);
        return;
    }
    close(job->test);
    close(job->train);
}

static int run_job(struct job *job)
{
    const struct config *c = &job->config;
    const struct example *e = job->example;
    if (c->sheet != NULL && e->draw == NULL) {
        terminal_line(e->name, "--sheet: this model makes no images");
        return EXIT_USAGE;
    }
    if (c->folder.path != NULL && e->fit == NULL) {
        terminal_line(e->name, "--images: this model takes MNIST's kind of data alone");
        return EXIT_USAGE;
    }
    tarn_status s = open_data(job);
    if (s == TARN_OK && tarn_node() == 0 &&
        !training_log_open(&job->log, c->run.log, job->problem, sizeof job->problem))
        s = TARN_ERR_IO;
    if (s == TARN_OK)
        s = tarn_launch(train, job, training_launch(&c->run));
    if (s != TARN_OK) {
        terminal_line(e->name, "%s", *job->problem ? job->problem : tarn_error(NULL));
        return exit_code_of(s);
    }
    if (tarn_node() != 0 || !c->has_target ||
        (e->higher ? job->tested >= c->target : job->tested <= c->target))
        return EXIT_OK;
    terminal_line(e->name, "test %s %.4f misses the target %.4f", e->measure, job->tested,
                  c->target);
    return EXIT_TARGET;
}

int image_main(const struct example *e, int argc, char **argv)
{
    terminal_open();
    struct job job = { .example = e, .config = image_parse(e, argc, argv) };
    int code = run_job(&job);
    if (tarn_launch_left() > 0) {
        /* A thread that never came back may still use the data sets. */
        (void)fflush(stdout);
        _exit(code);
    }
    if (!training_log_close(&job.log, job.problem, sizeof job.problem) && code == EXIT_OK) {
        terminal_line(e->name, "%s", job.problem);
        code = EXIT_IO;
    }
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_OK) {
        terminal_line(e->name, "cannot write to the standard output");
        code = EXIT_IO;
    }
    close_data(&job);
    return code;
}
