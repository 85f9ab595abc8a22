/* SPDX-License-Identifier: Apache-2.0 */
/* What the groups of tarn-bench share: items, their timing, and where they are reported. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include <tarn.h>

#include "backend.h"

enum { MOST_ITEMS = 256, MOST_INPUTS = 3, MOST_TIMES = 16 };

/* One figure. Least and most are those of the blocks that were timed. */
struct item {
    char name[64];
    const char *unit, *note; /* note: a word on the figure, or NULL */
    double value, least, most;
    double flops, bytes; /* of one run, at least; 0: not known */
    double seconds;      /* of one run, the median; 0: no run of its own */
    char error[512];     /* "" when it was measured */
};

struct bench {
    const struct device *device;
    const char *only; /* NULL: all */
    bool quick, json;
    int count, failed;
    struct item items[MOST_ITEMS];
};

/* Seconds of one run, over blocks. */
struct times {
    double median, least, most;
};

/* What is timed: `once` again and again, and after each block of it `wait`. */
struct work {
    tarn_status (*once)(void *arg);
    tarn_status (*wait)(void *arg);
    void *arg;
};

/* ---- items (measure.c) ---------------------------------------------------------------------- */

/* The next item, or NULL when it was not asked for. */
struct item *item_new(struct bench *b, const char *unit, double flops, double bytes,
                      const char *name, ...) __attribute__((format(printf, 5, 6)));
/* Each ends the item: `amount` per second, `scale` times the seconds, a plain number, an error. */
void item_rate(struct bench *b, struct item *i, double amount, const struct times *t);
void item_time(struct bench *b, struct item *i, double scale, const struct times *t);
void item_number(struct bench *b, struct item *i, double value);
void item_fail(struct bench *b, struct item *i, const char *line);
/* Whether an item whose name begins so can be asked for. */
bool bench_wants(const struct bench *b, const char *prefix);

double seconds_now(void);
/* Warms up, chooses how many runs make a block, and times blocks until the budget is used. */
tarn_status measure(const struct bench *b, const struct work *w, struct times *out);

/* ---- operations of the public API (ops.c) --------------------------------------------------- */

/* An input is samples, whose axis 0 is the batch as in training, or else weights. */
struct operation {
    tarn_shape in[MOST_INPUTS];
    bool samples[MOST_INPUTS];
    int inputs;
    tarn_tensor (*record)(const tarn_tensor *in, const void *arg);
    const void *arg;
    int times; /* how often, on inputs of their own, in one step mark; 0: once */
};

/* Times a step mark that computes just this operation, on a replica of its own; `amount` is what
 * one operation does. */
void operation_run(struct bench *b, struct item *i, const struct operation *o, double amount);
/* The replica as the public API opens it. */
tarn_replica *bench_open(const struct bench *b);
/* A kept tensor, which nothing is compiled for: a batch that is on the device already. `data` NULL:
 * there was no memory for it, an error of the replica. */
tarn_tensor bench_samples(tarn_replica *r, tarn_shape shape, tarn_dtype dtype, const void *data);

/* ---- groups --------------------------------------------------------------------------------- */

void launch_run(struct bench *b);
void fma_run(struct bench *b);
void memory_run(struct bench *b);
void reduce_run(struct bench *b);
void norm_run(struct bench *b);
void gemm_run(struct bench *b);
void conv_run(struct bench *b);
void step_run(struct bench *b);
void kernel_run(struct bench *b);
void optimizer_run(struct bench *b);

/* Measures figures of the device, and prints them (`tarn-bench target`); `keep`: for all programs.
 * False: error_text() has the line. */
bool target_run(struct bench *b, bool keep);

/* Prints what the compiler expects of each kernel of these networks' steps next to what it takes (`tarn-bench model`);
 * none: of all. False: what failed was said. */
bool model_run(const struct bench *b, const char *const *names, int count);

/* ---- the compile cache (bench_cache.c); false: error_text() has the line --------------------- */

/* Prints its entries, the last used first. */
bool cache_show(void);
/* Removes what was unused for so many days, until the rest has at most so many MiB. */
bool cache_empty(double days, double mib);

/* ---- results -------------------------------------------------------------------------------- */

void report_begin(const struct bench *b);
void report_item(const struct item *i);
/* False when the output cannot be written. */
bool report_end(const struct bench *b);
/* False when the file cannot be written; error_text() has the line. */
bool roofline_write(const struct bench *b, const char *path);

#endif
