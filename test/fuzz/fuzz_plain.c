/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs against the reference: fuzz_plain [options], see --help. */
#include <argp.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "generate.h"

/* From so many results on, at least 90 % must be tested: one odd program is no rule. */
enum { ENOUGH_RESULTS = 50 };

struct options {
    long programs, seconds, minimise;
    struct form form;
    unsigned long long first;
    const char *totals, *folder;
    bool print, json, list, until_wrong;
};

struct counts {
    long programs, results, tested, wrong;
};

/* Of one run, or of all runs that wrote to one file. */
struct totals {
    struct counts all,
        on[MAX_WORLD + 1]; /* on[n]: programs for n replicas; on[0]: virtual shards */
    long refused, whole;   /* of these, and of those in launches with a mesh */
    double margin;
};

static const struct argp_option help[] = {
    { "programs", 'n', "N", 0, "run N programs (default 8; with --seconds as many as time allows)",
      0 },
    { "seconds", 's', "S", 0, "stop after S seconds", 0 },
    { "first-seed", 'f', "SEED", 0, "seed of the first program (default 1); the others follow", 0 },
    { "totals", 't', "FILE", 0, "add the counts to those in FILE, also from several runs at a time",
      0 },
    { "devices", 'd', "N", 0,
      "run all programs on N replicas, 1 to 4 (default: one in four on 2 or 3, as its seed tells)",
      0 },
    { "shards", 'v', "V", 0,
      "all programs train with V virtual shards, on 1, 2, ... V replicas (default: one in 16)", 0 },
    { "mesh", 'M', NULL, 0,
      "run all programs on one device and in launches with a mesh of 2, 4 or 8 ranks, marked at "
      "random",
      0 },
    { "half", 'H', NULL, 0,
      "all programs have half types (default: one in four of those for one device)", 0 },
    { "wide", 'W', NULL, 0,
      "all programs are of float64 and int64, on one device (default: one in five of those for one "
      "device without "
      "half types)",
      0 },
    { "minimise", 'm', "S", 0, "make failing programs small for at most S seconds each (default 0)",
      0 },
    { "output", 'o', "FOLDER", 0, "write failing programs to FOLDER/SEED.c, not to standard output",
      0 },
    { "print", 'p', NULL, 0, "print the programs as C and run nothing", 0 },
    { "json", 'j', NULL, 0, "print the programs and their results as JSON and run nothing", 0 },
    { "until-wrong", 'u', NULL, 0, "stop after the first program that is wrong", 0 },
    { "list", 'l', NULL, 0, "list the functions that programs may call", 0 },
    { 0 }
};

static error_t take(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'n':
        o->programs = strtol(arg, NULL, 10);
        return 0;
    case 's':
        o->seconds = strtol(arg, NULL, 10);
        return 0;
    case 'f':
        o->first = strtoull(arg, NULL, 10);
        return 0;
    case 'd':
        o->form.world = (int)strtol(arg, NULL, 10);
        if (o->form.world < 1 || o->form.world > MAX_WORLD)
            argp_error(state, "--devices: 1 to %d", MAX_WORLD);
        return 0;
    case 'v':
        o->form.shards = (int)strtol(arg, NULL, 10);
        if (o->form.shards != 1 && o->form.shards != 2 && o->form.shards != 4)
            argp_error(state, "--shards: 1, 2 or 4");
        return 0;
    case 'M':
        o->form.mesh = true;
        return 0;
    case 'H':
        o->form.half = 1;
        return 0;
    case 'W':
        o->form = (struct form){ .world = 1, .half = -1, .wide = 1 };
        return 0;
    case 't':
        o->totals = arg;
        return 0;
    case 'm':
        o->minimise = strtol(arg, NULL, 10);
        return 0;
    case 'o':
        o->folder = arg;
        return 0;
    case 'p':
        o->print = true;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case 'u':
        o->until_wrong = true;
        return 0;
    case 'l':
        o->list = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const struct options *o, struct program *p, struct outcome *outcome)
{
    fprintf(stderr, "fuzz: seed %llu, %d devices, %s: %s\n", p->seed, p->world,
            configuration_names[outcome->in], outcome->what);
    if (o->minimise > 0)
        minimise(p, outcome, (int)o->minimise);
    char path[4096];
    snprintf(path, sizeof path, "%s/%llu.c", o->folder != NULL ? o->folder : "", p->seed);
    FILE *f = o->folder != NULL ? fopen(path, "w") : stdout;
    if (f == NULL) {
        fprintf(stderr, "fuzz: cannot write %s\n", path);
        return;
    }
    print_program(f, p, outcome);
    if (f != stdout)
        fclose(f);
}

static void add(struct counts *to, const struct counts *c)
{
    to->programs += c->programs;
    to->results += c->results;
    to->tested += c->tested;
    to->wrong += c->wrong;
}

static void run(const struct options *o, struct totals *t)
{
    static struct program p;
    const double end = seconds_now() + (double)o->seconds;
    for (long i = 0; o->programs > 0 ? i < o->programs : o->seconds > 0; i++) {
        struct outcome outcome = { .failed = false };
        if (o->seconds > 0 && seconds_now() > end)
            break;
        generate(&p, o->first + (unsigned long long)i,
                 o->json ? (struct form){ .world = 1, .half = -1, .wide = -1 } : o->form);
        if (o->print) {
            print_program(stdout, &p, &outcome);
            continue;
        }
        if (o->json) {
            t->all.wrong += !print_json(stdout, &p);
            continue;
        }
        check_program(&p, check_other(&p), &outcome);
        const struct counts one = { 1, outcome.results, outcome.tested, outcome.failed };
        add(&t->all, &one);
        add(&t->on[p.shards > 0 ? 0 : p.world], &one);
        t->refused += outcome.refused;
        t->whole += outcome.whole;
        t->margin = fmin(t->margin, outcome.margin);
        if (outcome.failed)
            report(o, &p, &outcome);
        if (outcome.failed && o->until_wrong)
            break;
    }
}

static void read_totals(FILE *f, struct totals *t, char *runs, size_t capacity)
{
    struct counts *c = &t->all;
    int devices;
    if (fscanf(f, "programs %ld results %ld tested %ld wrong %ld margin %lf", &c->programs,
               &c->results, &c->tested, &c->wrong, &t->margin) != 5)
        return;
    while (fscanf(f, " on %d devices:", &devices) == 1 && devices >= 0 && devices <= MAX_WORLD) {
        c = &t->on[devices];
        if (fscanf(f, " programs %ld results %ld tested %ld wrong %ld", &c->programs, &c->results,
                   &c->tested, &c->wrong) != 4)
            break;
    }
    runs[fread(runs, 1, capacity - 1, f)] = '\0';
}

static void print_counts(FILE *f, const struct counts *c)
{
    fprintf(f, "programs %ld results %ld tested %ld wrong %ld", c->programs, c->results, c->tested,
            c->wrong);
}

/* The counts of all programs, those for each number of replicas (0: virtual shards), and the
 * seeds of each run. */
static bool add_totals(const struct options *o, const struct totals *t)
{
    struct totals sum = { .margin = INFINITY };
    char runs[65536] = "";
    const int fd = open(o->totals, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    FILE *f = fd < 0 || flock(fd, LOCK_EX) != 0 ? NULL : fdopen(fd, "r+");
    if (f == NULL)
        return false;
    read_totals(f, &sum, runs, sizeof runs);
    rewind(f);
    add(&sum.all, &t->all);
    print_counts(f, &sum.all);
    fprintf(f, " margin %.3g\n", fmin(sum.margin, t->margin));
    for (int n = 0; n <= MAX_WORLD; n++) {
        add(&sum.on[n], &t->on[n]);
        if (sum.on[n].programs == 0)
            continue;
        fprintf(f, "on %d devices: ", n);
        print_counts(f, &sum.on[n]);
        fprintf(f, "\n");
    }
    fprintf(f, "%sseeds %llu to %llu: %ld wrong\n", runs + strspn(runs, "\n"), o->first,
            o->first + (unsigned long long)t->all.programs - 1, t->all.wrong);
    return fclose(f) == 0;
}

int main(int argc, char **argv)
{
    const struct argp parser = {
        help, take,
        NULL, "Runs random programs on a device and compares all results with a reference.",
        NULL, NULL,
        NULL
    };
    struct options o = { .first = 1 };
    struct totals t = { .margin = INFINITY };
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (o.programs == 0 && o.seconds == 0)
        o.programs = 8;
    for (int k = 0; o.list && k < OP_ID_COUNT; k++)
        printf("tarn_%s\n", op_table[k].name);
    if (o.list)
        return EXIT_SUCCESS;
    const double begin = seconds_now();
    run(&o, &t);
    if (o.print || o.json)
        return t.all.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    const double share =
        t.all.results > 0 ? 100.0 * (double)t.all.tested / (double)t.all.results : 0;
    printf("%ld programs from seed %llu in %.0f s: %ld results, %.1f %% tested, %ld programs "
           "wrong, smallest bound / error %.3g\n",
           t.all.programs, o.first, seconds_now() - begin, t.all.results, share, t.all.wrong,
           t.margin);
    if (o.form.mesh)
        printf("%ld split no sum and had one device's bits, %ld were refused\n", t.whole,
               t.refused);
    if (t.on[0].programs > 0)
        printf("%ld with virtual shards, %ld of them refused\n", t.on[0].programs, t.refused);
    if (o.totals != NULL && !add_totals(&o, &t)) {
        fprintf(stderr, "fuzz: cannot add to %s\n", o.totals);
        return EXIT_FAILURE;
    }
    const bool blunt = share < 90 && t.all.results >= ENOUGH_RESULTS;
    if (blunt)
        fprintf(stderr, "fuzz: fewer than 90 %% of the results have a bound that says something\n");
    return t.all.wrong == 0 && !blunt ? EXIT_SUCCESS : EXIT_FAILURE;
}
