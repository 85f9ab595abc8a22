/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a small convolutional network on MNIST or Fashion-MNIST on one device. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tarn.h>

enum exit_code {
    EXIT_OK = 0,
    EXIT_TARGET = 1,
    EXIT_USAGE = 2,
    EXIT_FILE = 3,
    EXIT_DEVICE = 4,
    EXIT_IO = 5
};

enum { TEST_BATCH = 1000, FAKE_TRAIN = 10240, FAKE_TEST = 2500 };

/* ---- options ----------------------------------------------------------------------------------
 */

struct config {
    const char *data, *device, *save, *resume, *log;
    long epochs, steps, batch;
    double lr, momentum, target;
    unsigned long long seed;
    bool fake, progress;
};

const char *argp_program_version = "mnist (Tarn) " TARN_VERSION;
static const char usage[] =
    "Trains conv-pool-norm twice and two linear layers on handwritten digits (or, when MNIST is "
    "not found, on Fashion-MNIST).\vExit status: 0 success, 1 --target-accuracy missed, 2 usage, "
    "3 bad input file, 4 device, 5 input or output failed.";

enum { KEY_LR = 256, KEY_MOMENTUM, KEY_FAKE, KEY_SAVE, KEY_RESUME, KEY_LOG, KEY_TARGET, KEY_QUIET };

/* clang-format off */
static const struct argp_option options[] = {
    { "data",            'd',          "DIR",  0, "folder with the four IDX files, plain or .gz", 0 },
    { "fake-data",       KEY_FAKE,     NULL,   0, "train on synthetic samples", 0 },
    { "epochs",          'e',          "N",    0, "passes over the training set (3)", 0 },
    { "steps",           'n',          "N",    0, "stop after N steps, whatever --epochs says", 0 },
    { "batch-size",      'b',          "N",    0, "samples in a step (128)", 0 },
    { "lr",              KEY_LR,       "X",    0, "learning rate (0.01)", 0 },
    { "momentum",        KEY_MOMENTUM, "X",    0, "momentum (0.5)", 0 },
    { "seed",            's',          "N",    0, "seed of weights and order (0)", 0 },
    { "device",          'D',          "SPEC", 0, "device: a number, gpu, cpu, part of a name", 0 },
    { "save",            KEY_SAVE,     "FILE", 0, "write a checkpoint after each epoch", 0 },
    { "resume",          KEY_RESUME,   "FILE", 0, "go on from a checkpoint", 0 },
    { "log",             KEY_LOG,      "FILE", 0, "write results as JSON Lines", 0 },
    { "target-accuracy", KEY_TARGET,   "X",    0, "exit with 1 when the test accuracy is below", 0 },
    { "no-progress",     KEY_QUIET,    NULL,   0, "no progress bar", 0 },
    { NULL,              0,            NULL,   0, NULL, 0 }
};
/* clang-format on */

static long parse_long(const struct argp_state *state, const char *name, const char *text, long low,
                       long high)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high)
        argp_failure(state, EXIT_USAGE, 0, "--%s: '%s' is not a whole number from %ld to %ld", name,
                     text, low, high);
    return value;
}

static double parse_real(const struct argp_state *state, const char *name, const char *text,
                         double low, double high)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= low && value <= high))
        argp_failure(state, EXIT_USAGE, 0, "--%s: '%s' is not a number from %g to %g", name, text,
                     low, high);
    return value;
}

static unsigned long long parse_seed(const struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        argp_failure(state, EXIT_USAGE, 0, "--seed: '%s' is not a whole number from 0 to 2^64-1",
                     text);
    return value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case 'd':
        c->data = arg;
        break;
    case 'D':
        c->device = arg;
        break;
    case 'e':
        c->epochs = parse_long(state, "epochs", arg, 1, 1000000);
        break;
    case 'n':
        c->steps = parse_long(state, "steps", arg, 1, INT_MAX);
        break;
    case 'b':
        c->batch = parse_long(state, "batch-size", arg, 1, 1 << 20);
        break;
    case 's':
        c->seed = parse_seed(state, arg);
        break;
    case KEY_LR:
        c->lr = parse_real(state, "lr", arg, 0, 1e6);
        break;
    case KEY_MOMENTUM:
        c->momentum = parse_real(state, "momentum", arg, 0, 1);
        break;
    case KEY_FAKE:
        c->fake = true;
        break;
    case KEY_SAVE:
        c->save = arg;
        break;
    case KEY_RESUME:
        c->resume = arg;
        break;
    case KEY_LOG:
        c->log = arg;
        break;
    case KEY_TARGET:
        c->target = parse_real(state, "target-accuracy", arg, 0, 1);
        break;
    case KEY_QUIET:
        c->progress = false;
        break;
    case ARGP_KEY_ARG:
        argp_failure(state, EXIT_USAGE, 0, "'%s' is not an option; see --help", arg);
        break;
    case ARGP_KEY_END:
        if (c->fake && c->data != NULL)
            argp_failure(state, EXIT_USAGE, 0, "--data and --fake-data exclude each other");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- the network --------------------------------------------------------------------------------
 */

struct net {
    tarn_conv2d conv1, conv2;
    tarn_batch_norm bn1, bn2;
    tarn_linear fc1, fc2;
};

static struct net net_make(tarn_replica *r)
{
    const tarn_conv2d_options plain = { .groups = 1 };
    struct net n;
    n.conv1 = tarn_conv2d_make(r, "conv1", 1, 10, 5, plain);
    n.bn1 = tarn_batch_norm_make(r, "bn1", 10);
    n.conv2 = tarn_conv2d_make(r, "conv2", 10, 20, 5, plain);
    n.bn2 = tarn_batch_norm_make(r, "bn2", 20);
    n.fc1 = tarn_linear_make(r, "fc1", 320, 50);
    n.fc2 = tarn_linear_make(r, "fc2", 50, 10);
    return n;
}

static tarn_tensor net_forward(const struct net *n, tarn_tensor x)
{
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv1, x), 2));
    x = tarn_batch_norm_forward(&n->bn1, x);
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv2, x), 2));
    x = tarn_batch_norm_forward(&n->bn2, x);
    x = tarn_relu(tarn_linear_forward(&n->fc1, tarn_flatten(x, 1)));
    return tarn_log_softmax(tarn_linear_forward(&n->fc2, x), 1);
}

/* ---- a run --------------------------------------------------------------------------------------
 */

struct totals {
    double loss_sum, seconds; /* seconds of training only */
    long steps, samples;
};

struct run {
    const struct config *config;
    tarn_replica *replica;
    tarn_dataset *train, *test;
    tarn_loader *train_loader, *test_loader;
    tarn_optimizer *sgd;
    struct net net;
    /* Sums over steps live on the device, so that no step waits for its own loss. */
    tarn_tensor loss_sum, correct;
    tarn_progress progress;
    struct totals all;
    double accuracy;
    FILE *log;
    bool bar;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("mnist: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

/* Prints the error of a replica (NULL: of this thread) and returns its exit code; `code` where the
 * library keeps no status. */
static int fail_as(const tarn_replica *r, int code)
{
    const tarn_status s = tarn_error_status(r);
    if (s == TARN_ERR_IO)
        code = EXIT_IO;
    else if (s >= 400 && s < 500)
        code = EXIT_FILE;
    else if (s >= 200 && s < 300)
        code = EXIT_USAGE;
    else if (s != TARN_OK)
        code = EXIT_DEVICE;
    return fail(code, "%s", tarn_error(r));
}

static int fail_tarn(const tarn_replica *r)
{
    return fail_as(r, EXIT_DEVICE);
}

static bool has_mnist(const char *folder)
{
    char path[512];
    static const char *const endings[] = { "", ".gz" };
    for (int i = 0; i < 2; i++) {
        const int n =
            snprintf(path, sizeof(path), "%s/train-images-idx3-ubyte%s", folder, endings[i]);
        if (n > 0 && (size_t)n < sizeof(path) && access(path, R_OK) == 0)
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
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (has_mnist(folders[i]))
            return folders[i];
    return "/usr/share/datasets/fashion-mnist";
}

static int open_data(struct run *run)
{
    const struct config *c = run->config;
    const char *folder = c->data != NULL ? c->data : find_data();
    if (c->fake) {
        run->train = tarn_dataset_fake(FAKE_TRAIN, c->seed);
        run->test = tarn_dataset_fake(FAKE_TEST, c->seed + 1);
        printf("data: synthetic\n");
    } else {
        run->train = tarn_mnist_open(folder, true);
        if (run->train != NULL)
            run->test = tarn_mnist_open(folder, false);
        if (run->test != NULL)
            printf("data: %s (%d training, %d test samples)\n", folder,
                   tarn_dataset_size(run->train), tarn_dataset_size(run->test));
    }
    if (run->train == NULL || run->test == NULL)
        return fail_as(NULL, has_mnist(folder) ? EXIT_FILE : EXIT_IO);
    if (tarn_dataset_size(run->train) < c->batch)
        return fail(EXIT_USAGE, "--batch-size: %ld is more than the %d training samples", c->batch,
                    tarn_dataset_size(run->train));
    return EXIT_OK;
}

static int open_model(struct run *run)
{
    const struct config *c = run->config;
    tarn_replica *r = run->replica = tarn_open(c->device);
    if (r == NULL)
        return fail_tarn(NULL);
    printf("device: %s\n", tarn_device_name(r));
    tarn_seed(r, c->seed);
    run->net = net_make(r);
    run->sgd =
        tarn_sgd(r, (tarn_sgd_options){ .lr = (float)c->lr, .momentum = (float)c->momentum });
    if (c->resume != NULL && tarn_load(r, c->resume, &run->progress) != TARN_OK)
        return fail_tarn(r);
    /* A last, smaller batch would need a second plan; the next epoch's order uses its samples. */
    run->train_loader = tarn_loader_open(
        r, run->train,
        (tarn_loader_options){
            .batch = (int32_t)c->batch, .shuffle = true, .drop_last = true, .seed = c->seed });
    run->test_loader = tarn_loader_open(r, run->test, (tarn_loader_options){ .batch = TEST_BATCH });
    if (run->train_loader != NULL)
        tarn_loader_seek(run->train_loader, run->progress.epoch, run->progress.batches);
    run->loss_sum = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    run->correct = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    return tarn_step(r) == TARN_OK ? EXIT_OK : fail_tarn(r);
}

/* ---- what the user sees
 * --------------------------------------------------------------------------- */

static void draw_bar(const struct run *run, const struct totals *epoch, long done, long length,
                     double seconds, float loss)
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
            length > 0 ? 100 * done / length : 100, rate, (double)loss / (double)epoch->steps,
            left);
    fflush(stderr);
}

static void json_number(FILE *f, const char *key, double value)
{
    if (isfinite(value))
        fprintf(f, ", \"%s\": %.9g", key, value);
    else
        fprintf(f, ", \"%s\": null", key);
}

/* One line of the log; `event` is "epoch" or "done". False when it cannot be written. */
static bool log_result(const struct run *run, const char *event, const struct totals *t,
                       double accuracy)
{
    if (run->log == NULL)
        return true;
    fprintf(run->log, "{\"event\": \"%s\", \"epoch\": %llu", event,
            (unsigned long long)(run->progress.epoch + (run->progress.batches != 0)));
    json_number(run->log, "train_loss", t->steps > 0 ? t->loss_sum / (double)t->steps : NAN);
    json_number(run->log, "test_accuracy", accuracy);
    json_number(run->log, "samples_per_second",
                t->seconds > 0 ? (double)t->samples / t->seconds : NAN);
    json_number(run->log, "seconds", t->seconds);
    fprintf(run->log, ", \"steps\": %ld, \"world_size\": 1}\n", t->steps);
    return fflush(run->log) == 0 && !ferror(run->log);
}

/* ---- training and evaluation
 * ------------------------------------------------------------------------ */

static void reset_sum(tarn_tensor sum)
{
    tarn_assign(sum, tarn_zeros(sum.replica, TARN_SCALAR));
}

static tarn_status train_step(struct run *run, const tarn_batch *b)
{
    const tarn_tensor loss = tarn_nll_loss(net_forward(&run->net, b->x), b->y);
    tarn_backward(loss);
    tarn_optimizer_step(run->sgd);
    tarn_assign(run->loss_sum, tarn_add(run->loss_sum, tarn_detach(loss)));
    return tarn_step(run->replica);
}

/* Trains to the epoch's end, or until --steps are done. */
static int train_epoch(struct run *run, struct totals *epoch)
{
    tarn_replica *r = run->replica;
    const long length = tarn_loader_length(run->train_loader);
    const double compiled = tarn_metrics_get(r).compile_seconds;
    double start = now(), drawn = start;
    bool ended = false;
    tarn_train(r, true);
    reset_sum(run->loss_sum);
    if (tarn_step(r) != TARN_OK)
        return fail_tarn(r);
    while (run->config->steps == 0 || run->all.steps + epoch->steps < run->config->steps) {
        tarn_batch b;
        if (!tarn_loader_next(run->train_loader, &b)) {
            ended = true;
            break;
        }
        if (train_step(run, &b) != TARN_OK)
            return fail_tarn(r);
        epoch->steps++;
        epoch->samples += b.n;
        run->progress.batches++;
        /* Reading waits for the device: only for a person's eyes, and twice a second. */
        if (run->bar && now() - drawn > 0.5) {
            const double busy = now() - start - (tarn_metrics_get(r).compile_seconds - compiled);
            draw_bar(run, epoch, (long)run->progress.batches, length, busy,
                     tarn_item(run->loss_sum));
            drawn = now();
        }
    }
    epoch->loss_sum = (double)tarn_item(run->loss_sum);
    if (tarn_error_status(r) != TARN_OK)
        return fail_tarn(r);
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
    return EXIT_OK;
}

static int evaluate(struct run *run)
{
    tarn_replica *r = run->replica;
    tarn_train(r, false);
    reset_sum(run->correct);
    if (tarn_step(r) != TARN_OK)
        return fail_tarn(r);
    long seen = 0;
    for (tarn_batch b; tarn_loader_next(run->test_loader, &b);) {
        const tarn_tensor guess = tarn_argmax(net_forward(&run->net, b.x), 1, false);
        const tarn_tensor right = tarn_cast(tarn_eq(guess, b.y), TARN_F32);
        tarn_assign(run->correct, tarn_add(run->correct, tarn_sum(right, TARN_ALL, false)));
        if (tarn_step(r) != TARN_OK)
            return fail_tarn(r);
        seen += b.n;
    }
    const double correct = (double)tarn_item(run->correct);
    if (tarn_error_status(r) != TARN_OK)
        return fail_tarn(r);
    run->accuracy = seen > 0 ? correct / (double)seen : 0;
    return EXIT_OK;
}

static int finish_epoch(struct run *run, const struct totals *epoch)
{
    const int code = evaluate(run);
    if (code != EXIT_OK)
        return code;
    run->all.loss_sum += epoch->loss_sum;
    run->all.seconds += epoch->seconds;
    run->all.steps += epoch->steps;
    run->all.samples += epoch->samples;
    printf("epoch %llu: loss %.4f, test accuracy %.2f%%, %.0f samples/s, %.2f s%s\n",
           (unsigned long long)(run->progress.epoch + (run->progress.batches != 0)),
           epoch->loss_sum / (double)epoch->steps, 100 * run->accuracy,
           epoch->seconds > 0 ? (double)epoch->samples / epoch->seconds : 0, epoch->seconds,
           run->progress.batches != 0 ? " (not complete)" : "");
    fflush(stdout);
    if (!log_result(run, "epoch", epoch, run->accuracy))
        return fail(EXIT_IO, "%s: cannot write", run->config->log);
    const char *save = run->config->save;
    if (save != NULL && tarn_save(run->replica, save, run->progress) != TARN_OK)
        return fail_tarn(run->replica);
    return EXIT_OK;
}

static int run_all(struct run *run)
{
    const struct config *c = run->config;
    int code = open_data(run);
    if (code == EXIT_OK)
        code = open_model(run);
    if (code != EXIT_OK)
        return code;
    if (c->log != NULL && (run->log = fopen(c->log, "w")) == NULL)
        return fail(EXIT_IO, "%s: %s", c->log, strerror(errno));
    run->bar = c->progress && isatty(STDERR_FILENO);

    while (c->steps != 0 ? run->all.steps < c->steps : run->progress.epoch < (uint64_t)c->epochs) {
        struct totals epoch = { 0 };
        code = train_epoch(run, &epoch);
        if (code == EXIT_OK && epoch.steps > 0)
            code = finish_epoch(run, &epoch);
        if (code != EXIT_OK)
            return code;
    }
    if (run->all.steps == 0 && (code = evaluate(run)) != EXIT_OK)
        return code;
    printf("done: test accuracy %.2f%%, %ld steps, %.2f s of training\n", 100 * run->accuracy,
           run->all.steps, run->all.seconds);
    if (!log_result(run, "done", &run->all, run->accuracy))
        return fail(EXIT_IO, "%s: cannot write", c->log);
    if (run->accuracy < c->target)
        return fail(EXIT_TARGET, "test accuracy %.4f is below the target %.4f", run->accuracy,
                    c->target);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    static const struct argp parser = { options, parse_option, NULL, usage, NULL, NULL, NULL };
    struct config config = {
        .epochs = 3, .batch = 128, .lr = 0.01, .momentum = 0.5, .progress = true
    };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &config);

    struct run run = { .config = &config };
    int code = run_all(&run);
    if (run.log != NULL && fclose(run.log) != 0 && code == EXIT_OK)
        code = fail(EXIT_IO, "%s: %s", config.log, strerror(errno));
    tarn_close(run.replica);
    tarn_dataset_close(run.test);
    tarn_dataset_close(run.train);
    return code;
}
