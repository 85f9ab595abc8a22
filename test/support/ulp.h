/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of single functions, in ULP of the exact result: what kernels/math.cl keeps to, as test/core/math_plain.c
 * measures it; of the square root the OpenCL table. */
#ifndef TARN_TEST_ULP_H
#define TARN_TEST_ULP_H

#define ULP_EXP 1
#define ULP_LOG 1
#define ULP_TANH 3
#define ULP_ERF 2
#define ULP_SIN 2
#define ULP_COS 2
#define ULP_ATAN 2
#define ULP_ATAN2 2
#define ULP_LOG1P 1.5
#define ULP_EXPM1 2
#define ULP_SQRT 3
#define ULP_RSQRT 1.5
#define ULP_POW 4

#endif
