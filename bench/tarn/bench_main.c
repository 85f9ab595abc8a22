/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-bench: what Tarn reaches on each device, group by group. */
#include "bench.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "terminal.h"
#include "timed.h"

enum exit_code { EXIT_FAILED = 1, EXIT_OUTPUT = 3, EXIT_DEVICE = 4 }; /* 2: EXIT_USAGE */
enum { MOST_SELECTED = 64, MOST_NETWORKS = 16 };

static const struct {
    const char *name;
    void (*run)(struct bench *b);
} groups[] = { { "launch/", launch_run },      { "memory/", memory_run }, { "fma/", fma_run },
               { "gemm/", gemm_run },          { "conv/", conv_run },     { "reduce/", reduce_run },
               { "norm/", norm_run },          { "step/", step_run },     { "kernel/", kernel_run },
               { "optimizer/", optimizer_run } };
enum { GROUPS = sizeof groups / sizeof *groups };

struct config {
    const char *devices, *only, *roofline;
    const char *command;                 /* target, cache, model; NULL: items are measured */
    const char *networks[MOST_NETWORKS]; /* of model; none: all */
    int network_count;
    bool quick, json, store, clear;
    double older, beyond; /* days, MiB */
};

enum { KEY_STORE = 256, KEY_CLEAR, KEY_OLDER, KEY_BEYOND };

/* argp finds it by its name, so it must be seen outside of the program. */
__attribute__((visibility("default"))) const char *argp_program_version =
    "tarn-bench (Tarn) " TARN_VERSION;

static const struct argp_option options[] = {
    { "devices", 'D', "SPEC", 0, "devices as in TARN_DEVICES (default: that, else all)", 0 },
    { "only", 'o', "NAME,...", 0, "items that begin so: gemm, conv/3x3, step/batch 128", 0 },
    { "quick", 'q', NULL, 0, "fewer items, smaller ones, and less time for each", 0 },
    { "json", 'j', NULL, 0, "one JSON object for each device", 0 },
    { "store", KEY_STORE, NULL, 0, "of target: keep the figures, for all programs", 0 },
    { "clear", KEY_CLEAR, NULL, 0, "of cache: remove all entries, or those that", 0 },
    { "older", KEY_OLDER, "DAYS", 0, "of cache --clear: were unused for so long", 0 },
    { "beyond", KEY_BEYOND, "MIB", 0,
      "of cache --clear: are more than so much, the least recently used", 0 },
    { "roofline", 'r', "FILE.svg", 0, "draw the items; several devices: FILE-0.svg, ...", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

/* Each name must begin a group, or go on from one. */
static void check_only(const struct argp_state *state, const char *only)
{
    for (const char *at = only; *at != '\0'; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (int k = 0; k < GROUPS; k++) {
            const size_t whole = strlen(groups[k].name);
            known |=
                length > 0 && strncmp(at, groups[k].name, length < whole ? length : whole) == 0;
        }
        if (!known)
            usage_error(state,
                        "no item begins with '%.*s'; groups are launch, memory, fma, gemm, conv, "
                        "reduce, norm, step, kernel, optimizer",
                        (int)length, at);
        at += length;
    }
}

static bool is_command(const struct config *c, const char *name)
{
    return c->command != NULL && strcmp(c->command, name) == 0;
}

static void take_argument(const struct argp_state *state, struct config *c, const char *arg)
{
    static const char *const commands[] = { "target", "cache", "model" };
    if (is_command(c, "model")) {
        if (timed_find(arg) == NULL || c->network_count == MOST_NETWORKS)
            usage_error(state, "there is no network %s", arg);
        c->networks[c->network_count++] = arg;
        return;
    }
    for (size_t i = 0; c->command == NULL && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(arg, commands[i]) == 0) {
            c->command = commands[i];
            return;
        }
    usage_error(state, "'%s' is no command; there are target, cache and model", arg);
}

static void check_options(const struct argp_state *state, const struct config *c)
{
    if ((c->clear && !is_command(c, "cache")) || ((c->older > 0 || c->beyond > 0) && !c->clear))
        usage_error(state, "--clear belongs to cache, --older and --beyond to --clear");
    if (c->store && !is_command(c, "target"))
        usage_error(state, "--store belongs to target");
    if (is_command(c, "target") && (c->only != NULL || c->quick || c->roofline != NULL))
        usage_error(state, "target takes --devices, --json and --store alone");
    if (is_command(c, "model") && (c->only != NULL || c->roofline != NULL))
        usage_error(state, "model takes --devices, --json, --quick and networks alone");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        usage_init(state);
        break;
    case 'D':
        c->devices = arg;
        break;
    case 'o':
        check_only(state, arg);
        c->only = arg;
        break;
    case 'q':
        c->quick = true;
        break;
    case 'j':
        c->json = true;
        break;
    case 'r':
        c->roofline = arg;
        break;
    case KEY_STORE:
        c->store = true;
        break;
    case KEY_CLEAR:
        c->clear = true;
        break;
    case KEY_OLDER:
        c->older = parse_real(state, "older", arg, 0, 1e5);
        break;
    case KEY_BEYOND:
        c->beyond = parse_real(state, "beyond", arg, 0, 1e9);
        break;
    case ARGP_KEY_ARG:
        take_argument(state, c, arg);
        break;
    case ARGP_KEY_END:
        check_options(state, c);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* FILE.svg becomes FILE-N.svg when there are several devices. */
static void picture_path(const char *path, int number, int count, char *out, size_t capacity)
{
    const char *name = strrchr(path, '/'), *dot = strrchr(name != NULL ? name : path, '.');
    const int stem = dot != NULL ? (int)(dot - path) : (int)strlen(path);
    if (count == 1)
        snprintf(out, capacity, "%s", path);
    else
        snprintf(out, capacity, "%.*s-%d%s", stem, path, number, path + stem);
}

static enum exit_code bench_device(const struct config *c, const struct device *d, int number,
                                   int count)
{
    static struct bench b;
    char path[4096];
    b = (struct bench){ .device = d, .only = c->only, .quick = c->quick, .json = c->json };
    if (is_command(c, "model"))
        return model_run(&b, c->networks, c->network_count) ? 0 : EXIT_FAILED;
    if (is_command(c, "target")) {
        const bool done = target_run(&b, c->store);
        if (!done)
            terminal_line("tarn-bench", "%s", error_text());
        return done ? 0 : EXIT_FAILED;
    }
    report_begin(&b);
    for (int k = 0; k < GROUPS; k++)
        if (bench_wants(&b, groups[k].name))
            groups[k].run(&b);
    if (!report_end(&b)) {
        terminal_line("tarn-bench", "cannot write to the standard output");
        return EXIT_OUTPUT;
    }
    if (c->roofline != NULL) {
        picture_path(c->roofline, number, count, path, sizeof path);
        if (!roofline_write(&b, path)) {
            terminal_line("tarn-bench", "%s", error_text());
            return EXIT_OUTPUT;
        }
    }
    return b.failed > 0 ? EXIT_FAILED : 0;
}

int main(int argc, char **argv)
{
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    static const struct argp parser = {
        options,
        parse_option,
        "[target|cache|model [NETWORK...]]",
        "Measures what Tarn reaches on each device. With target it measures what each device is "
        "like "
        "where OpenCL does not tell, registers and caches for instance, and keeps that in the "
        "compile "
        "cache: kernels that are compiled from then on are made for it. With cache it lists the "
        "entries of the compile cache, or removes them. With model it trains networks and prints "
        "what "
        "the "
        "compiler expects of each kernel next to what it takes.",
        NULL,
        NULL,
        NULL
    };
    static struct device devices[MOST_SELECTED];
    struct config config = { 0 };
    int count = 0;
    enum exit_code code = 0;
    terminal_open();
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &config);
    if (is_command(&config, "cache")) {
        const bool done = config.clear ? cache_empty(config.older, config.beyond) : cache_show();
        if (!done)
            terminal_line("tarn-bench", "%s", error_text());
        else if (fflush(stdout) != 0)
            terminal_line("tarn-bench", "cannot write to the standard output");
        return !done ? EXIT_FAILED : ferror(stdout) ? EXIT_OUTPUT : 0;
    }
    if (config.devices == NULL)
        config.devices = getenv("TARN_DEVICES");
    if (config.devices == NULL || *config.devices == '\0')
        config.devices = "all";
    if (device_select(config.devices, devices, MOST_SELECTED, &count) != TARN_OK) {
        terminal_line("tarn-bench", "%s", error_text());
        return EXIT_DEVICE;
    }
    for (int i = 0; i < count && code <= EXIT_FAILED; i++) {
        const enum exit_code one = bench_device(&config, &devices[i], i, count);
        code = one > code ? one : code;
    }
    return (int)code;
}
