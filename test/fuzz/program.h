/* SPDX-License-Identifier: Apache-2.0 */
/* A random program: straight-line calls of the public API, one a line. */
#ifndef TARN_FUZZ_PROGRAM_H
#define TARN_FUZZ_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tarn.h"

enum { MAX_LINES = 160, MAX_OPERANDS = 8, MAX_ARGS = 10, MAX_ELEMENTS = 4096, MAX_OWNED = 48 };
enum { MAX_WORLD = 4 }; /* replicas of one program */

enum op_id {
#define OP(id, result, operands, text) OP_ID_##id,
#include "ops.def"
#undef OP
    OP_ID_COUNT
};

struct op_info {
    const char *name;
    char result;
    int operands;
    const char *text;
};
extern const struct op_info op_table[OP_ID_COUNT];

/* What data a leaf holds. */
enum fill {
    FILL_SIGNED,   /* -2 to 2, not within 0.01 of 0 */
    FILL_POSITIVE, /* 0.5 to 2 */
    FILL_COARSE,   /* -2, -1, 0, 1, 2: equal elements */
    FILL_INDEX     /* 0 to arg[1] - 1 */
};

struct line {
    enum op_id op;
    uint32_t id; /* of data and names: stays when lines are removed */
    int in[MAX_OPERANDS], ins;
    int arg[MAX_ARGS];
    float f[5];
    tarn_shape list[2];
    /* By program_infer. */
    tarn_shape shape;
    tarn_dtype dtype;
    tarn_dtype amp; /* the type that autocast casts operands of products to; float32: none */
    int segment;    /* number of step marks before it */
    bool owned;     /* outlives the step */
};

struct program {
    unsigned long long seed;
    int world;  /* replicas that run it, each the same lines */
    int shards; /* virtual shards, 0: none. Then the program is that of one device with all samples,
                     and runs on 1, 2, 4, ... replicas; a loader delivers the data of its leaves */
    bool mesh;  /* it runs on one device, and in a launch with a mesh, where tensors are marked */
    tarn_dtype half; /* the half type that it has most of; float32: none */
    bool wide; /* all that is float32 or int32 here is float64 or int64 on the device (doubles.c) */
    bool by_rank; /* data that is neither a parameter nor a buffer is another on each replica */
    struct line line[MAX_LINES];
    int count;
};

/* Fills in shape, type and segment of line `i` from the lines before. False: no such call. */
bool program_infer(struct program *p, int i);
/* All lines. */
bool program_check(struct program *p);
/* The data of a leaf on a replica: line.shape elements. */
void program_data(const struct program *p, const struct line *l, int rank, double *out);
/* Its name as a parameter, buffer or layer. */
void program_name(const struct line *l, char out[24]);
/* The name that a `find` line looks for: part arg[0] of a layer, or the parameter itself. */
void program_find_name(const struct program *p, const struct line *l, char out[48]);
bool program_is_layer(enum op_id op);
/* The pattern of names that a line of settings has: part of a name, between two stars. */
const char *program_pattern(const struct line *l);
/* Settings of parameters, which stand before everything else of a step. */
bool program_is_setting(enum op_id op);
bool program_is_parameter(enum op_id op);

/* float32, or a half type (halves.c). */
bool program_floats(tarn_dtype dtype);
/* tarn_argmax and tarn_argmin: the axis is arg[1], the result a position. */
bool program_searches(enum op_id op);
bool program_half(tarn_dtype dtype);
/* v as a half type has it, where it is one. */
double program_rounded(double v, tarn_dtype dtype);
/* The type of a map of the operands from `first` on, as PyTorch's promotion has it. */
tarn_dtype program_promoted(const struct program *p, const struct line *l, int first);
/* Of a product of these types. */
tarn_dtype program_product(const struct line *l, tarn_dtype a, tarn_dtype b);
/* What autocast takes in float32 has this type, else that of its operand. */
tarn_dtype program_wide(const struct line *l, tarn_dtype x);
/* Whether autocast has this op take operands in float32. */
bool program_takes_wide(enum op_id op);
/* The autocast that line i is in. */
tarn_dtype program_amp(const struct program *p, int i);

/* The device's type for one of the program; whether a line may be in a program of 64 bits; its tensor in such. */
tarn_dtype program_type(const struct program *p, tarn_dtype dtype);
bool program_fits(const struct program *p, const struct line *l);
/* Float k of a line, where the op takes a double. */
double line_scalar(const struct line *l, int k, bool wide);
tarn_tensor wide_value(const struct program *p, const struct line *l, tarn_tensor t);

/* Reproducible numbers in [0, 1), multiples of 2^-22. */
double fuzz_random(unsigned long long *state);

/* The call, and the shape and type, of what goes along an axis by index, or by order (lines.c). */
static inline bool along_lines(enum op_id op)
{
    return op >= OP_ID_gather && op <= OP_ID_cumsum;
}
tarn_tensor lines_call(const struct line *l, const tarn_tensor *in);
bool lines_shape(const struct program *p, struct line *l, const struct line *x,
                 const struct line *y);

/* As PyTorch's conv2d; o is stride, padding, dilation (two each), groups. */
bool conv_shape(tarn_shape x, tarn_shape w, const int *o, tarn_shape *out);
tarn_shape matmul_shape(tarn_shape a, tarn_shape b, bool *good);
bool broadcast_shape(tarn_shape a, tarn_shape b, tarn_shape *out);
/* Bit d: axis d is reduced. */
unsigned axes_mask(tarn_shape axes, int rank);

/* Of an einsum: the text of arg[0]. */
enum { EINSUMS = 18 };
extern const char *const einsum_text[EINSUMS];

#endif
