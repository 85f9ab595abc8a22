/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: what is computed of one element, from loads that are affine in the axes. */
#ifndef TARN_EXPR_H
#define TARN_EXPR_H

#include "compile/affine.h"
#include "tensor/op_record.h"

enum expr_kind {
    EXPR_CONSTANT,
    EXPR_NUMBER,
    EXPR_IOTA,
    EXPR_RAND,
    EXPR_LOAD,
    EXPR_MAP,
    EXPR_GUARD,
    EXPR_TRANSFORM,
    EXPR_ACC
};

struct access {
    int value;
    struct affine address; /* elements; in blocked values without the batch part */
    int part_count;        /* further terms stride * e / divide */
    struct {
        struct rational index;
        int32_t stride;
    } part[TARN_MAX_RANK];
    int gather; /* expression whose value, clamped to [0, extent), times stride is added; -1 */
    int32_t gather_stride, gather_extent;
    bool in_block; /* blocked: element of this block and lane */
    bool samples;  /* row-major, of the samples of this block only */
};

bool access_uses(const struct access *a, int axis);

struct expr {
    enum expr_kind kind;
    tarn_dtype dtype; /* type in registers: U8 computes as I32 */
    const char *code; /* MAP, of the arguments and these scalars */
    double scalar[MAP_SCALARS];
    int scalars;
    bool heavy; /* MAP: as of the op */
    int arg[3], args;
    uint32_t bits;         /* constant; slot of number; serial of rand */
    uint32_t high;         /* constant of 64 bits: the upper half */
    struct rational index; /* iota, rand: the number; transform: the row */
    int32_t
        step[MESH_AXES]; /* iota, rand: and so much for each step of the rank along a mesh axis */
    int table, over;     /* TRANSFORM: sum over axis `over` of table[row][over] * arg[0] */
    struct access access;
    struct guard guard[TARN_MAX_RANK];
    int guards; /* GUARD: arg[0] where all hold, else the constant `bits` */
};

#endif
