/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a small convolutional network on MNIST or Fashion-MNIST, on one device, on several, or on those of
 * several machines: mpirun -np 2 mnist. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tarn_dist.h>

#include "digits.h"
#include "exits.h"
#include "now.h"
#include "mnist_options.h"
#include "network.h"
#include "terminal.h"
#include "training_log.h"

enum { TEST_BATCH = 1000, FAKE_TRAIN = 10240, FAKE_TEST = 2500 };

/* ---- a run ---------------------------------------------------------------------------------- */

/* What all replicas share; written by rank 0 alone. */
struct job {
    struct config config;
    tarn_dataset *train, *test;
    struct training_log log;
    double accuracy;
    long steps;
    double seconds;
    char problem[600]; /* of the example itself, not of the library */
};

struct totals {
    double loss_sum, seconds; /* seconds of training only */
    long steps, samples;
};

/* What a replica has of its own. */
struct run {
    struct job *job;
    tarn_replica *replica;
    tarn_loader *train_loader, *test_loader;
    tarn_optimizer *sgd;
    struct net net;
    /* Results stay on the device, so that no step waits for its own loss: one loss for each step of
     * an epoch, of this replica's samples, and the number of right guesses. */
    tarn_tensor losses, correct;
    tarn_progress progress;
    struct totals all;
    double accuracy;
    bool first, bar, lines; /* first: rank 0, which talks; lines: where a bar cannot be drawn */
};

static int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(int code, const char *format, ...)
{
    char line[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    terminal_line("mnist", "%s", line);
    return code;
}

static tarn_status problem(struct job *job, tarn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static tarn_status problem(struct job *job, tarn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(job->problem, sizeof job->problem, format, args);
    va_end(args);
    return status;
}

/* Tells before the training what would otherwise come out after an epoch. */
static int check_save(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (path[length] == '\0' || length >= sizeof folder)
        return fail(EXIT_USAGE, "--save: '%s' is no file name", path);
    memcpy(folder, length > 0 ? path : ".", length > 0 ? length : 1);
    folder[length > 0 ? length : 1] = '\0';
    struct stat st;
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))
        errno = ENOTDIR;
    else if (access(folder, W_OK | X_OK) == 0)
        return EXIT_OK;
    return fail(EXIT_IO, "--save: cannot write to the folder of %s: %s; make it, or name another",
                path, strerror(errno));
}

static bool has_mnist(const char *folder)
{
    char path[512];
    static const char *const endings[] = { "", ".gz" };
    for (int i = 0; i < 2; i++) {
        const int n =
            snprintf(path, sizeof path, "%s/train-images-idx3-ubyte%s", folder, endings[i]);
        if (n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static const char *find_data(void)
{
    static const char *const folders[] = { "data/mnist",
                                           "data/MNIST/raw",
                                           "mnist",
                                           "/usr/share/datasets/mnist",
                                           "/usr/local/share/datasets/mnist",
                                           "data/fashion-mnist" };
    for (size_t i = 0; i < sizeof folders / sizeof(folders[0]); i++)
        if (has_mnist(folders[i]))
            return folders[i];
    return "/usr/share/datasets/fashion-mnist";
}

/* What the network's layers have room for. */
static bool fits_network(const tarn_dataset *d, const char *folder, const char *part)
{
    const tarn_shape s = tarn_dataset_sample_shape(d);
    if (s.rank == 3 && s.dim[0] == 1 && s.dim[1] == 28 && s.dim[2] == 28)
        return true;
    fail(EXIT_FILE, "%s/%s-images-idx3-ubyte: images of %dx%d, but this network takes 28x28",
         folder, part, s.rank > 1 ? s.dim[s.rank - 2] : 1, s.rank > 0 ? s.dim[s.rank - 1] : 1);
    return false;
}

static int open_data(struct job *job)
{
    const struct config *c = &job->config;
    const char *folder = c->data != NULL ? c->data : find_data();
    if (c->fake) {
        job->train = digits_open(FAKE_TRAIN, c->run.seed);
        job->test = digits_open(FAKE_TEST, c->run.seed + 1);
        if (tarn_node() == 0)
            printf("data: synthetic\n");
    } else {
        job->train = tarn_mnist_open(folder, true);
        if (job->train != NULL)
            job->test = tarn_mnist_open(folder, false);
        if (job->test != NULL && tarn_node() == 0)
            printf("data: %s (%d training, %d test samples)\n", terminal_name(folder),
                   tarn_dataset_size(job->train), tarn_dataset_size(job->test));
    }
    if (job->train == NULL || job->test == NULL)
        return fail(exit_code_of(tarn_error_status(NULL)), "%s%s", tarn_error(NULL),
                    has_mnist(folder) ? ""
                                      : "; name the folder with --data, install Debian's "
                                        "dataset-fashion-mnist, or use --fake-data");
    if (!c->fake &&
        !(fits_network(job->train, folder, "train") && fits_network(job->test, folder, "t10k")))
        return EXIT_FILE;
    if (tarn_dataset_size(job->train) < c->run.batch)
        return fail(EXIT_USAGE, "--batch-size: %ld is more than the %d training samples",
                    c->run.batch, tarn_dataset_size(job->train));
    return EXIT_OK;
}

static tarn_status open_model(struct run *run)
{
    const struct config *c = &run->job->config;
    tarn_replica *r = run->replica;
    const int world = tarn_world_size(r);
    if (world > 1)
        tarn_print0(r, "devices: %d x %s\n", world, tarn_device_name(r));
    else
        tarn_print0(r, "device: %s\n", tarn_device_name(r));
    tarn_seed(r, c->run.seed);
    run->net = net_make(r);
    run->sgd =
        tarn_sgd(r, (tarn_sgd_options){ .lr = (float)c->run.lr, .momentum = (float)c->momentum });
    training_precision(r, &c->run);
    if (c->run.resume != NULL && tarn_load(r, c->run.resume, &run->progress) != TARN_OK)
        return tarn_error_status(r);
    /* A last, smaller batch would need a second plan; the next epoch's order uses its samples. */
    run->train_loader = tarn_loader_open(r, run->job->train,
                                         (tarn_loader_options){ .batch = (int32_t)c->run.batch,
                                                                .shuffle = true,
                                                                .drop_last = true,
                                                                .seed = c->run.seed,
                                                                .mean = MNIST_MEAN,
                                                                .deviation = MNIST_DEVIATION });
    run->test_loader = tarn_loader_open(r, run->job->test,
                                        (tarn_loader_options){ .batch = TEST_BATCH,
                                                               .mean = MNIST_MEAN,
                                                               .deviation = MNIST_DEVIATION });
    if (run->train_loader == NULL || run->test_loader == NULL)
        return tarn_error_status(r);
    tarn_loader_seek(run->train_loader, run->progress.epoch, run->progress.batches);
    run->losses = tarn_keep(tarn_zeros(r, TARN_SHAPE(tarn_loader_length(run->train_loader))));
    run->correct = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    return tarn_step(r);
}

/* ---- what the user sees --------------------------------------------------------------------- */

static void draw_bar(const struct run *run, const struct totals *epoch, long done, long length,
                     double seconds, double loss)
{
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    const long filled = length > 0 ? done * WIDTH / length : WIDTH;
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < filled ? '=' : ' ';
    bar[WIDTH] = '\0';
    const double rate = seconds > 0 ? (double)epoch->samples / seconds : 0;
    const double left =
        epoch->steps > 0 ? seconds / (double)epoch->steps * (double)(length - done) : 0;
    fprintf(stderr, "\repoch %llu [%s] %3ld%%  %.0f samples/s  loss %.4f  %.0f s left ",
            (unsigned long long)run->progress.epoch + 1, bar,
            length > 0 ? 100 * done / length : 100, rate, loss / (double)epoch->steps, left);
    fflush(stderr);
}

static void print_line(const struct run *run, const struct totals *epoch, long length,
                       double seconds, double loss)
{
    fprintf(stderr, "epoch %llu, step %ld of %ld: %.0f samples/s, loss %.4f\n",
            (unsigned long long)run->progress.epoch + 1, (long)run->progress.batches, length,
            seconds > 0 ? (double)epoch->samples / seconds : 0, loss / (double)epoch->steps);
}

/* One line of the log; `event` is "epoch" or "done". */
static tarn_status log_result(const struct run *run, const char *event, const struct totals *t,
                              double accuracy)
{
    struct job *job = run->job;
    const struct training_point p = {
        .event = event,
        .epoch = run->progress.epoch + (run->progress.batches != 0),
        .step = tarn_step_count(run->replica),
        .steps = t->steps,
        .seconds = t->seconds,
        .samples = (double)t->samples,
        .train_loss = t->steps > 0 ? t->loss_sum / (double)t->steps : NAN,
        .lr = job->config.run.lr,
        .tested = accuracy,
        .measure = "accuracy",
        .world_size = tarn_world_size(run->replica),
    };
    return !run->first || training_log_write(&job->log, &p, job->problem, sizeof job->problem)
               ? TARN_OK
               : TARN_ERR_IO;
}

/* ---- training and evaluation ---------------------------------------------------------------- */

static tarn_status train_step(struct run *run, const tarn_batch *b)
{
    tarn_replica *r = run->replica;
    const tarn_tensor loss = tarn_nll_loss(net_forward(&run->net, b->x), b->y);
    tarn_backward(loss);
    tarn_optimizer_step(run->sgd);
    const tarn_tensor at = tarn_eq(tarn_arange(r, tarn_loader_length(run->train_loader)),
                                   tarn_number(r, (float)run->progress.batches));
    tarn_assign(run->losses, tarn_where(at, tarn_detach(loss), run->losses));
    return tarn_step(r);
}

/* Adds up the losses of the epoch so far: of all replicas, or of this one alone. */
static tarn_status sum_losses(const struct run *run, bool all, double *sum)
{
    const int length = tarn_loader_length(run->train_loader);
    float *values = malloc((size_t)length * sizeof *values);
    if (values == NULL)
        return problem(run->job, TARN_ERR_MEMORY, "no memory for %d losses", length);
    const tarn_tensor losses = all ? tarn_all_reduce(run->losses, TARN_MEAN) : run->losses;
    const tarn_status s = tarn_read(losses, values, (size_t)length * sizeof *values);
    *sum = 0;
    for (int i = 0; s == TARN_OK && i < length; i++)
        *sum += (double)values[i];
    free(values);
    return s;
}

static tarn_status show_progress(const struct run *run, const struct totals *epoch, double busy)
{
    double sum;
    const tarn_status s = sum_losses(run, false, &sum);
    const long length = tarn_loader_length(run->train_loader);
    if (run->bar)
        draw_bar(run, epoch, (long)run->progress.batches, length, busy, sum);
    else
        print_line(run, epoch, length, busy, sum);
    return s;
}

/* All replicas hold the same state: one of them writes it, and the others wait for it. */
static tarn_status save(struct run *run)
{
    const char *path = run->job->config.run.save;
    tarn_status s;
    if (path != NULL && run->first && (s = tarn_save(run->replica, path, run->progress)) != TARN_OK)
        return s;
    return tarn_barrier(run->replica);
}

/* Trains to the epoch's end, or until --steps are done. */
static tarn_status train_epoch(struct run *run, struct totals *epoch)
{
    tarn_replica *r = run->replica;
    const struct config *c = &run->job->config;
    const long length = tarn_loader_length(run->train_loader);
    const double compiled = tarn_metrics_get(r).compile_seconds;
    double start = now(), drawn = start;
    bool ended = false;
    tarn_status s;
    tarn_train(r, true);
    tarn_assign(run->losses, tarn_zeros(r, TARN_SHAPE((int32_t)length)));
    if ((s = tarn_step(r)) != TARN_OK)
        return s;
    while (c->run.steps == 0 || run->all.steps + epoch->steps < c->run.steps) {
        tarn_batch b;
        if (!tarn_loader_next(run->train_loader, &b)) {
            ended = true;
            break;
        }
        if ((s = train_step(run, &b)) != TARN_OK)
            return s;
        epoch->steps++;
        epoch->samples += b.global;
        run->progress.batches++;
        if (c->save_every > 0 && run->progress.batches % (uint64_t)c->save_every == 0 &&
            (s = save(run)) != TARN_OK)
            return s;
        /* Reading waits for the device: only for a person's eyes, and twice a second; in a log, rarely. */
        if ((run->bar && now() - drawn > 0.5) || (run->lines && now() - drawn > 10)) {
            const double busy = now() - start - (tarn_metrics_get(r).compile_seconds - compiled);
            if ((s = show_progress(run, epoch, busy)) != TARN_OK)
                return s;
            drawn = now();
        }
    }
    if ((s = sum_losses(run, true, &epoch->loss_sum)) != TARN_OK)
        return s;
    epoch->seconds = now() - start - (tarn_metrics_get(r).compile_seconds - compiled);
    /* --steps may end exactly with the epoch, before the loader said so. */
    if (ended || (long)run->progress.batches >= length) {
        run->progress.epoch++;
        run->progress.batches = 0;
        if (!ended)
            tarn_loader_seek(run->train_loader, run->progress.epoch, 0);
    }
    if (run->bar)
        fputs("\r\033[K", stderr);
    return TARN_OK;
}

static tarn_status evaluate(struct run *run)
{
    tarn_replica *r = run->replica;
    tarn_status s;
    tarn_train(r, false);
    tarn_assign(run->correct, tarn_zeros(r, TARN_SCALAR));
    if ((s = tarn_step(r)) != TARN_OK)
        return s;
    for (tarn_batch b; tarn_loader_next(run->test_loader, &b);) {
        const tarn_tensor guess = tarn_argmax(net_forward(&run->net, b.x), 1, false);
        const tarn_tensor right = tarn_cast(tarn_eq(guess, b.y), TARN_F32);
        tarn_assign(run->correct, tarn_add(run->correct, tarn_sum(right, TARN_ALL, false)));
        if ((s = tarn_step(r)) != TARN_OK)
            return s;
    }
    const double correct = (double)tarn_item(tarn_all_reduce(run->correct, TARN_SUM));
    run->accuracy = correct / (double)tarn_dataset_size(run->job->test);
    return tarn_error_status(r);
}

static tarn_status finish_epoch(struct run *run, const struct totals *epoch)
{
    tarn_replica *r = run->replica;
    tarn_status s = evaluate(run);
    if (s != TARN_OK)
        return s;
    run->all.loss_sum += epoch->loss_sum;
    run->all.seconds += epoch->seconds;
    run->all.steps += epoch->steps;
    run->all.samples += epoch->samples;
    tarn_print0(r, "epoch %llu: loss %.4f, test accuracy %.2f%%, %.0f samples/s, %.2f s%s\n",
                (unsigned long long)(run->progress.epoch + (run->progress.batches != 0)),
                epoch->loss_sum / (double)epoch->steps, 100 * run->accuracy,
                epoch->seconds > 0 ? (double)epoch->samples / epoch->seconds : 0, epoch->seconds,
                run->progress.batches != 0 ? " (not complete)" : "");
    if ((s = log_result(run, "epoch", epoch, run->accuracy)) != TARN_OK)
        return s;
    return save(run);
}

/* What tarn_launch runs on every device. */
static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    const struct config *c = &job->config;
    struct run run = { .job = job, .replica = r, .first = tarn_rank(r) == 0 };
    run.bar = run.first && c->progress && isatty(STDERR_FILENO);
    run.lines = run.first && c->progress && !run.bar;
    tarn_status s = open_model(&run);
    while (s == TARN_OK && (c->run.steps ? run.all.steps < c->run.steps
                                         : run.progress.epoch < (uint64_t)c->epochs)) {
        struct totals epoch = { 0 };
        s = train_epoch(&run, &epoch);
        if (s == TARN_OK && epoch.steps > 0)
            s = finish_epoch(&run, &epoch);
    }
    if (s == TARN_OK && run.all.steps == 0)
        s = evaluate(&run);
    if (s != TARN_OK || !run.first)
        return s;
    job->accuracy = run.accuracy;
    tarn_print0(r, "done: test accuracy %.2f%%, %ld steps, %.2f s of training\n",
                100 * run.accuracy, run.all.steps, run.all.seconds);
    return log_result(&run, "done", &run.all, run.accuracy);
}

static int run_job(struct job *job)
{
    const struct config *c = &job->config;
    const bool talks = tarn_node() == 0; /* and writes */
    int code = c->run.save != NULL && talks ? check_save(c->run.save) : EXIT_OK;
    if (code == EXIT_OK)
        code = open_data(job);
    if (code != EXIT_OK)
        return code;
    if (talks && !training_log_open(&job->log, c->run.log, job->problem, sizeof job->problem))
        return fail(EXIT_IO, "%s", job->problem);
    tarn_launch_options launch = training_launch(&c->run);
    launch.check_weights = c->check > 0 ? (int)c->check : -1;
    launch.sync_norm = c->sync_norm;
    launch.heal = c->heal;
    const tarn_status s = tarn_launch(train, job, launch);
    if (s != TARN_OK)
        return fail(exit_code_of(s), "%s", *job->problem ? job->problem : tarn_error(NULL));
    if (talks && job->accuracy < c->target)
        return fail(EXIT_TARGET, "test accuracy %.4f is below the target %.4f", job->accuracy,
                    c->target);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    terminal_open();
    struct job job = { .config = config_parse(argc, argv) };
    int code = run_job(&job);
    if (tarn_launch_left() > 0) {
        /* A thread that never came back may still use the data sets and the log. */
        (void)fflush(stdout);
        _exit(code);
    }
    if (!training_log_close(&job.log, job.problem, sizeof job.problem) && code == EXIT_OK)
        code = fail(EXIT_IO, "%s", job.problem);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_OK)
        code = fail(EXIT_IO, "cannot write to the standard output");
    void (*close)(tarn_dataset *) = job.config.fake ? digits_close : tarn_dataset_close;
    close(job.test);
    close(job.train);
    return code;
}
