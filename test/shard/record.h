/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that the library records, without a device: a replica that only has a graph. With specs of its leaves. */
#ifndef TARN_TEST_RECORD_H
#define TARN_TEST_RECORD_H

#include "lockstep.h"
#include "tensor/replica.h"

#define RECORD_MOST 96
struct record {
    tarn_replica *r;
    struct mesh mesh;
    struct spec inputs[RECORD_MOST], owned[RECORD_MOST], outputs[RECORD_MOST];
    tarn_shape input_shape[RECORD_MOST], owned_shape[RECORD_MOST];
    bool zero[RECORD_MOST];    /* owned tensors that begin with zeros */
    int32_t rows[RECORD_MOST]; /* of an int32 input, which is an index into so many */
    uint32_t input_count, owned_count;
    uint32_t output[RECORD_MOST];
    int output_count;
    struct program program;
};

void record_begin(struct record *t, const struct mesh *m);
void record_end(struct record *t);
/* "0:a 1:bc": dimension 0 is cut by axis 0, dimension 1 by axes 1 and 2. */
struct spec record_spec(const char *text);
tarn_tensor record_input(struct record *t, tarn_shape shape, struct spec spec);
tarn_tensor record_index(struct record *t, tarn_shape shape, int32_t rows, struct spec spec);
tarn_tensor record_owned(struct record *t, tarn_shape shape, struct spec spec);
/* The same, of zeros. */
tarn_tensor record_state(struct record *t, tarn_shape shape, struct spec spec);
tarn_tensor record_mark(tarn_tensor x, struct spec spec);
/* To the owned tensor that `owned` is. */
void record_assign(tarn_tensor owned, tarn_tensor value);
void record_output(struct record *t, tarn_tensor x, struct spec spec);
/* What shard_program() takes; it borrows *t. */
struct shard_input record_done(struct record *t);

/* Runs the program as recorded on one rank, and that of shard_program() on all, so many times, each with other inputs and
 * with what the one before assigned; false with a line where they differ. */
bool record_agrees(struct record *t, const struct shard_input *in, const struct shard_program *s,
                   int steps, const char *what);

#endif
