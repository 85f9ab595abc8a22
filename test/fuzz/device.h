/* SPDX-License-Identifier: Apache-2.0 */
/* A program on a device, and what must come out of it. */
#ifndef TARN_FUZZ_DEVICE_H
#define TARN_FUZZ_DEVICE_H

#include "interpret.h"

enum { MAX_RESULTS = 192 };

/* One tensor that is read after a step: an output, or an owned tensor. */
struct result {
    int step;            /* line of the step mark */
    int line, slot;      /* of the output's operand; of the owned tensor; the other is -1 */
    int node[MAX_WORLD]; /* on the tape, of each replica */
    tarn_shape shape;
    tarn_dtype dtype;
};

struct results {
    struct result r[MAX_RESULTS];
    int count;
};

/* Runs the program on the tape; m has MAX_WORLD elements. False: a line asks for what is not
 * there. */
bool interpret_program(struct interpreter *m, struct program *p, struct tape *t,
                       struct results *out);
/* Adds what a step mark (line i, just interpreted) makes readable. */
void interpret_results(const struct interpreter *m, int i, struct results *out);

/* halves.c: what the bits of a half type mean, and those of a number that it has; and a line that begins or ends autocast, true. */
double half_value(unsigned bits, tarn_dtype dtype);
uint16_t half_bits(double v, tarn_dtype dtype);
bool half_autocast(tarn_replica *r, const struct line *l);

/* Values as a device gave them, one list for each result. */
struct readings {
    double *v[MAX_RESULTS];
};
void readings_free(struct readings *r);
/* The data of a leaf as bytes of its type; to be freed. */
void *device_data(const struct program *p, const struct line *l, int rank);
/* The values of a result; NULL after an error. The caller frees them. */
double *device_read(tarn_tensor t, const struct result *want);
/* batches.c: what a loader delivers to programs with virtual shards; in a step first samples, then
 * targets. */
struct batches *batches_open(tarn_replica *r, const struct program *p);
tarn_tensor batches_leaf(struct batches *b, int i);
void batches_close(struct batches *b);
/* On the replica that `m` is the state of. False: `error` says what a call reported. */
bool device_run(tarn_replica *r, const struct program *p, const struct interpreter *m,
                const struct results *want, struct readings *out, char *error, size_t capacity);

/* device_train.c: a line that makes an optimizer or sets something of parameters. False: there is no
 * optimizer. */
bool device_setting(tarn_replica *r, const struct line *l, tarn_optimizer **optimizer);

#endif
