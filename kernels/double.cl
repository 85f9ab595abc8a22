/* SPDX-License-Identifier: Apache-2.0 */
/* Before kernels that have values of float64, each in a register of its own. Functions are the driver's, whose last
 * bits are its own; what OpenCL rounds exactly, as + - * / fma and sqrt, is one on all devices. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define TARN_BOOL_F64(c) TARN_BOOL_1(c)
#define TARN_SELECT_F64(c, a, b) TARN_SELECT_1(c, a, b)
#define TARN_MAX_F64(a, b) TARN_MAX_1(a, b)
#define TARN_MIN_F64(a, b) TARN_MIN_1(a, b)
#define TARN_F_F64(c) TARN_F_1(c)
#define TARN_TO_F64_F64(x) convert_double(x)
#define TARN_TO_F32_F64(x) convert_float(x)
#define TARN_TO_I32_F64(x) convert_int_sat_rtz(x)
#define TARN_TO_I64_F64(x) convert_long_sat_rtz(x)
#define TARN_TO_U8_F64(x) (convert_int(x) & 255)
#define TARN_BITS_F64(x) as_long(x)
#define TARN_LOW_F64(x) as_int((uint)as_ulong(x))
#define TARN_HIGH_F64(x) as_int((uint)(as_ulong(x) >> 32))
#define TARN_EXP_F64(x) exp(x)
#define TARN_EXPM1_F64(x) expm1(x)
#define TARN_LOG_F64(x) log(x)
#define TARN_LOG1P_F64(x) log1p(x)
#define TARN_POW_F64(x, y) pow(x, y)
#define TARN_TANH_F64(x) tanh(x)
#define TARN_ERF_F64(x) erf(x)
#define TARN_SIN_F64(x) sin(x)
#define TARN_COS_F64(x) cos(x)
#define TARN_ATAN_F64(x) atan(x)
#define TARN_ATAN2_F64(y, x) atan2(y, x)

/* The lanes of a team, in the order of tarn_sum_float. */
double tarn_sum_double(double16 v)
{
    const double8 a = v.lo + v.hi;
    const double4 b = a.lo + a.hi;
    const double2 c = b.lo + b.hi;
    return c.x + c.y;
}
TARN_LANE_REDUCTION(tarn_max_double, double, TARN_MAX)
TARN_LANE_REDUCTION(tarn_min_double, double, TARN_MIN)
