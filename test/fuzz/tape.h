/* SPDX-License-Identifier: Apache-2.0 */
/* Values in double, each with a bound on how far a device that rounds to float32 may be from it.
 *
 * A tape is a list of flat arrays, each made by one of a few primitives. Shapes are not known here:
 * every view, pad, window and broadcast is a gather by a list of indices, every sum a scatter, which
 * is the gather's transpose. A gradient is made of the same primitives, so it has bounds, too, and
 * can be differentiated again.
 *
 * u = 2^-24. One ULP of y is at most 2 u |y|. Sums of n terms: gamma(n) = n u / (1 - n u).
 *
 * With `wide` the device rounds to float64, and calls the driver's functions. Values here are doubles, too, so u is
 * twice its unit, 2^-52: one for the device, one for the tape.
 *
 * Rounding to a half type is monotone, so it takes the ends of an interval to those of the rounded one; an exact
 * value stays exact. Where gradients are rounded is the device's choice between rounding each part and the sum, so each
 * may be off by what it would make of it. */
#ifndef TARN_FUZZ_TAPE_H
#define TARN_FUZZ_TAPE_H

#include <stdbool.h>

#define TAPE_UNIT 0x1p-24 /* of float32 */
#define TAPE_UNIT_WIDE 0x1p-52

enum tape_map {
    T_NEG,
    T_EXP,
    T_LOG,
    T_SQRT,
    T_RSQRT,
    T_TANH,
    T_SIGMOID,
    T_ERF,
    T_SIN,
    T_COS,
    T_ATAN,
    T_LOG1P,
    T_EXPM1
};
enum tape_map2 { T_ADD, T_SUB, T_MUL, T_DIV, T_POW, T_ATAN2 };

enum tape_kind {
    TAPE_LEAF,
    TAPE_MAP,
    TAPE_MAP2,
    TAPE_GATHER,
    TAPE_SCATTER,
    TAPE_PICK,
    TAPE_ROUND, /* to a half type */
    TAPE_LOOSE  /* perhaps rounded to it */
};

enum tape_half { HALF_NONE, HALF_F16, HALF_BF16 };

struct tape_node {
    enum tape_kind kind;
    int which;  /* enum tape_map, tape_map2 or tape_half */
    int a, b;   /* operands, or -1 */
    int wa, wb; /* TAPE_PICK: the slopes in a and b, leaves */
    int count;
    int *
        index; /* TAPE_GATHER: element of a, or -1; TAPE_SCATTER, TAPE_PICK: element of the result */
    double *v, *e;       /* values and bounds */
    enum tape_half kept; /* all that is kept of it, so that slopes may be made of that */
    bool
        driver; /* made with a function of the driver, such as exp, whose bits OpenCL leaves open */
};

struct tape {
    struct tape_node *node;
    int count, capacity;
    bool integer; /* results of maps and sums are whole numbers: nothing rounds */
    bool failed;  /* out of memory */
    bool wide;    /* of float64 */
};

static inline double tape_unit(const struct tape *t)
{
    return t->wide ? TAPE_UNIT_WIDE : TAPE_UNIT;
}

void tape_free(struct tape *t);
/* Forgets all nodes from `count` on. */
void tape_cut(struct tape *t, int count);

/* All return the number of the new node. `index` is copied. */
int tape_leaf(struct tape *t, int count, const double *v, const double *e);
int tape_full(struct tape *t, int count, double v, double e);
int tape_map(struct tape *t, enum tape_map f, int a);
int tape_map2(struct tape *t, enum tape_map2 f, int a, int b);
/* y[i] = a[index[i]], or `fill` where the index is -1. */
int tape_gather(struct tape *t, int a, int count, const int *index, double fill);
/* y[index[i]] += a[i] for all i. */
int tape_scatter(struct tape *t, int a, int count, const int *index);
/* A value that was picked among the elements of a and b: v and e as given. Its slope in a[i], as in
 * b[i], is wa[i] at result index[i] (NULL: i). b and wb may be -1. */
int tape_pick(struct tape *t, int count, const double *v, const double *e, int a, int wa, int b,
              int wb, const int *index);
/* The same value, seen as constant. */
int tape_detach(struct tape *t, int a);
/* The nearest number of the type, of two the even one; NaN, an infinity or 0: itself. */
double half_nearest(double v, enum tape_half type);
/* a in a half type. */
int tape_round(struct tape *t, int a, enum tape_half type);
/* a times a constant that a device has rounded to float. */
int tape_scale(struct tape *t, int a, double c);

/* Gradient of element 0 of `loss`, times a constant that a device has rounded to float, with
 * respect to `count` nodes; -1 where it does not depend. */
void tape_gradients(struct tape *t, int loss, double weight, const int *inputs, int count,
                    int *gradients);

#endif
