/* SPDX-License-Identifier: Apache-2.0 */
/* Checks one op on a device, value and gradients, against the reference and a derived bound. */
#ifndef TARN_TEST_OP_CHECK_H
#define TARN_TEST_OP_CHECK_H

#include "reference.h"
#include "tarn.h"

/* How the bound on the error is made; u = 2^-24, gamma(n) = n u / (1 - n u). */
enum bound_class {
    BOUND_EXACT,   /* no rounding: bits of the value are those of the reference */
    BOUND_MAP,     /* `ulps` of the result, element by element (the OpenCL table) */
    BOUND_LINEAR,  /* gamma(terms) times the op of the absolute operands */
    BOUND_COMPOSED /* gamma(terms) times the condition of the whole result */
};

enum fill {
    FILL_SIGNED,   /* -2 to 2, not within 0.01 of 0 */
    FILL_POSITIVE, /* 0.5 to 2 */
    FILL_INDEX,    /* int32, 0 to limit - 1 */
    FILL_BOOL,     /* uint8, 0 or 1 */
    FILL_COARSE    /* -2, -1, 0, 1, 2: equal elements */
};

enum { OP_INPUTS = 3, OP_ARGS = 12 };

struct op_input {
    enum fill fill;
    int limit; /* of FILL_INDEX */
    int rank, dim[6];
};

struct op_case {
    const char *name;
    tarn_tensor (*device)(const tarn_tensor *in, const struct op_case *c);
    struct ref (*reference)(const struct ref *in, const struct op_case *c);
    enum bound_class bound;
    double ulps; /* BOUND_MAP */
    int terms;   /* longest chain of roundings; BOUND_LINEAR, BOUND_COMPOSED */
    bool no_gradient;
    int arg[OP_ARGS]; /* what the two functions make of them */
    int inputs;
    struct op_input in[OP_INPUTS];
};

/* False: `message` names the case, the tensor, the worst element, its error and the limit. */
bool op_check(tarn_replica *r, const struct op_case *c, char *message, size_t capacity);

/* The same where operands of a float type are of this one, float32 or float64. In float64 the reference rounds as
 * the device does, so bounds are twice as wide in units of u = 2^-53, and a map's functions are the driver's, within
 * 16 ulps (the OpenCL table for double), as against 1 of the host's. */
bool op_check_as(tarn_replica *r, const struct op_case *c, tarn_dtype dtype, char *message,
                 size_t capacity);

/* Reproducible doubles in [0, 1), all representable as float. */
double check_random(unsigned long long *state);

#endif
