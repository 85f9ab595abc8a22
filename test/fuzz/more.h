/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that the library makes of others (result 'x'): all that the fuzzer knows of one, side by side. */
#ifndef TARN_FUZZ_MORE_H
#define TARN_FUZZ_MORE_H

#include "net.h"

struct generator;

struct more {
    enum op_id op;
    /* Sets the line's shape; its type is float32 unless changed. False: no such call. */
    bool (*shape)(const struct program *p, struct line *l);
    /* Its value on the tape. */
    int (*value)(struct interpreter *m, const struct line *l);
    tarn_tensor (*call)(const struct line *l, const tarn_tensor *in);
    /* Sets operands, of which `a` may be one, and arguments. False: it does not go. */
    bool (*grow)(struct generator *g, struct line *l, int a);
};

const struct more *more_of(enum op_id op);
int more_grow(struct generator *g, enum op_id op, int a);

extern const struct more more_views[], more_losses[], more_images[], more_attentions[],
    more_further[], more_ctcs[], more_pools[], more_convs[], more_blocks[];
extern const int more_view_count, more_loss_count, more_image_count, more_attention_count,
    more_further_count, more_ctc_count, more_pool_count, more_conv_count, more_block_count;
extern const struct more more_scan;
/* The C text of scan_of(), which a printed program calls. */
extern const char *const scan_source;

/* more_pool.c: all pools, also those of the library's own ('n'). False: no such windows. */
bool pool_shape(const struct line *l, tarn_shape x, tarn_shape *out);
int pool_value(struct interpreter *m, const struct line *l);
tarn_tensor pool_call(const struct line *l, const tarn_tensor *in);
bool pool_grow(struct generator *g, struct line *l, int a);

/* Helpers. Operand k; whether all operands from k on are float32. */
const struct line *operand_of(const struct program *p, const struct line *l, int k);
bool all_floats(const struct program *p, const struct line *l);
bool same_shape(tarn_shape a, tarn_shape b);
tarn_shape shape_of(const struct interpreter *m, const struct line *l, int k);
/* The mean, or the sum times a constant, of all elements. */
int mean_of(struct tape *t, int x);
int scaled_sum(struct tape *t, int x, double scale);
int leaf_of(struct generator *g, tarn_shape s);

#endif
