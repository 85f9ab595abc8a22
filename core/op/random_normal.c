/* SPDX-License-Identifier: Apache-2.0 */
/* Normal random numbers: the inverse of the normal distribution function at a uniform number. It is
 * made of additions, products and bits only, so all devices and all widths of registers give the same
 * bits. t is 2 u - 1, shifted by half a step so that 0, -1 and 1 are left out; with w = -log(1 - t^2) the
 * value is t times a smooth function of w, a polynomial each below and above w = 5: within 4 units of 2^-24
 * of sqrt(2) erfinv(t) for all 2^24 values of t, and monotone. */
#include <math.h>

#include "op/op.h"
#include "tensor/shape.h"

/* -log(x) for 0 < x <= 1. E is the exponent, of a mantissa from sqrt(1/2) to sqrt(2), which is 1 + F. */
#define E "((TARN_BITS(x) - TARN_I(0x3f3504f3)) >> TARN_I(23))"
#define F "(TARN_FROM_BITS(TARN_BITS(x) - (" E " << TARN_I(23))) - TARN_F(1.0f))"
#define STEP(variable, constant, rest) "(TARN_F(" constant ") + " variable " * " rest ")"
const struct op op_minus_log = {
    .name = "minus_log",
    .arity = 1,
    .kind = OP_MAP,
    .code = "TARN_F(-0.693147181f) * TARN_TO_F32(" E ") - " F " * " STEP(
        F, "1.0f",
        STEP(F, "-0.49999997f",
             STEP(F, "0.333341956f",
                  STEP(F, "-0.250012726f",
                       STEP(F, "0.199558288f",
                            STEP(F, "-0.165797278f",
                                 STEP(F, "0.149802372f",
                                      STEP(F, "-0.142584264f", "TARN_F(0.0851221383f)")))))))),
    .heavy = true,
    .grad = op_no_grad,
};

#define LOW "(y - TARN_F(2.5f))"
#define HIGH "(y - TARN_F(10.5f))"
const struct op op_normal = {
    .name = "normal",
    .arity = 2,
    .kind = OP_MAP,
    .code = "x * TARN_SELECT(TARN_BOOL(y < TARN_F(5.0f)), " STEP(
        LOW, "2.12331343f",
        STEP(
            LOW, "0.34880203f",
            STEP(
                LOW, "-0.00590771949f",
                STEP(
                    LOW, "-0.00177162106f",
                    STEP(
                        LOW, "0.000308787712f",
                        STEP(
                            LOW, "-7.03298247e-06f",
                            STEP(
                                LOW, "-4.89755303e-06f",
                                STEP(
                                    LOW, "6.62229525e-07f",
                                    STEP(
                                        LOW, "3.29013972e-08f",
                                        "TARN_F(-1.2645069e-08f)"))))))))) ", " STEP(HIGH,
                                                                                     "4.34758377f",
                                                                                     STEP(
                                                                                         HIGH,
                                                                                         "0."
                                                                                         "219342664"
                                                                                         "f",
                                                                                         STEP(
                                                                                             HIGH,
                                                                                             "-0."
                                                                                             "00503"
                                                                                             "79284"
                                                                                             "7f",
                                                                                             STEP(
                                                                                                 HIGH,
                                                                                                 "0"
                                                                                                 "."
                                                                                                 "0"
                                                                                                 "0"
                                                                                                 "0"
                                                                                                 "2"
                                                                                                 "1"
                                                                                                 "9"
                                                                                                 "9"
                                                                                                 "2"
                                                                                                 "1"
                                                                                                 "2"
                                                                                                 "9"
                                                                                                 "f",
                                                                                                 STEP(
                                                                                                     HIGH,
                                                                                                     "-1.07789119e-05f",
                                                                                                     STEP(
                                                                                                         HIGH,
                                                                                                         "4.34389989e-07f",
                                                                                                         STEP(
                                                                                                             HIGH,
                                                                                                             "-7.13867021e-10f",
                                                                                                             STEP(
                                                                                                                 HIGH,
                                                                                                                 "-2.72402678e-09f",
                                                                                                                 STEP(
                                                                                                                     HIGH,
                                                                                                                     "4.94368213e-10f",
                                                                                                                     STEP(
                                                                                                                         HIGH,
                                                                                                                         "-5.60362833e-11f",
                                                                                                                         "TARN_F(2.75651529e-12f)")))))))))) ")",
    .heavy = true,
    .grad = op_no_grad,
};

/* sqrt(2) erfinv(t) for -1 < t < 1. */
static tarn_tensor normal_at(tarn_tensor t)
{
    const tarn_tensor one = tarn_full(t.replica, TARN_SCALAR, 1.0f), size = tarn_abs(t);
    const tarn_tensor rest = tarn_mul(tarn_sub(one, size), tarn_add(one, size));
    const tarn_shape shape = tarn_shape_get(t);
    const tarn_tensor w = graph_record(t.replica, &op_minus_log, &rest, 1, shape, TARN_F32, NULL);
    return graph_record(t.replica, &op_normal, (tarn_tensor[]){ t, w }, 2, shape, TARN_F32, NULL);
}

tarn_tensor tarn_randn(tarn_replica *r, tarn_shape shape)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "randn: the replica is NULL");
    const tarn_tensor u = tarn_rand(r, shape);
    return normal_at(tarn_add_scalar(tarn_mul_scalar(u, 2.0f), -1.0f + 0x1p-24f));
}

/* As torch.nn.init.trunc_normal_: a uniform number between the values of the distribution function at
 * both ends, and what rounding leaves outside is brought back to them. */
tarn_tensor tarn_randn_truncated(tarn_replica *r, tarn_shape shape, float low, float high)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "randn_truncated: the replica is NULL");
    if (!(low < high))
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "randn_truncated: from %g to %g is no interval: low must be below high",
                          (double)low, (double)high);
    const double first = erf((double)low / sqrt(2.0)), last = erf((double)high / sqrt(2.0));
    const float size = (float)(last - first), most = 1.0f - 0x1p-24f;
    const tarn_tensor u = tarn_add_scalar(tarn_mul_scalar(tarn_rand(r, shape), size),
                                          (float)(first + (last - first) * 0x1p-25));
    return tarn_clamp(normal_at(tarn_clamp(u, -most, most)), low, high);
}
