/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels use of OpenCL C, for a compiler that would read all declarations of it, 18,000 lines, for each program
 * (backend/bitcode.c). With the names, types and attributes of OpenCL C's own, so that the same code comes out. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef uint cl_mem_fence_flags;

#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL - 1)
#define INFINITY (__builtin_inff())
#define NAN as_float(INT_MAX)
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

#define TARN_OVERLOADED __attribute__((overloadable))
#define TARN_EXACT __attribute__((overloadable, const)) /* of its arguments alone */
#define TARN_READS __attribute__((overloadable, pure))

/* ---- vectors, their parts from memory and to it ---------------------------------------------- */

#define TARN_VECTOR(type, n) typedef type type##n __attribute__((ext_vector_type(n)));
#define TARN_LOADED_FROM(space, type, n) type##n TARN_READS vload##n(size_t, const space type *);
#define TARN_STORED_TO(space, type, n) void TARN_OVERLOADED vstore##n(type##n, size_t, space type *);
#define TARN_MOVED(type, n) \
    TARN_VECTOR(type, n) \
    TARN_LOADED_FROM(__global, type, n) TARN_STORED_TO(__global, type, n) \
    TARN_LOADED_FROM(__local, type, n) TARN_STORED_TO(__local, type, n) \
    TARN_LOADED_FROM(__private, type, n) TARN_STORED_TO(__private, type, n)
#define TARN_MOVED_ALL(type) TARN_MOVED(type, 2) TARN_MOVED(type, 4) TARN_MOVED(type, 8) TARN_MOVED(type, 16)
TARN_MOVED_ALL(char) TARN_MOVED_ALL(uchar) TARN_MOVED_ALL(short) TARN_MOVED_ALL(ushort)
TARN_MOVED_ALL(int) TARN_MOVED_ALL(uint) TARN_MOVED_ALL(long) TARN_MOVED_ALL(ulong)
TARN_MOVED_ALL(float)
#ifdef cl_khr_fp64
TARN_MOVED_ALL(double)
#endif

/* ---- bits seen as another type, and conversions ---------------------------------------------- */

#define as_int(x) __builtin_astype((x), int)
#define as_uint(x) __builtin_astype((x), uint)
#define as_long(x) __builtin_astype((x), long)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_float(x) __builtin_astype((x), float)
#define as_double(x) __builtin_astype((x), double)
#define as_ushort16(x) __builtin_astype((x), ushort16)
#define as_int16(x) __builtin_astype((x), int16)
#define as_uint16(x) __builtin_astype((x), uint16)
#define as_float16(x) __builtin_astype((x), float16)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_uint8(x) __builtin_astype((x), uint8)
#define as_float4(x) __builtin_astype((x), float4)
#define as_float8(x) __builtin_astype((x), float8)

#define TARN_CONVERTED(to, how, n) \
    to##n TARN_EXACT convert_##to##n##how(char##n); \
    to##n TARN_EXACT convert_##to##n##how(uchar##n); \
    to##n TARN_EXACT convert_##to##n##how(short##n); \
    to##n TARN_EXACT convert_##to##n##how(ushort##n); \
    to##n TARN_EXACT convert_##to##n##how(int##n); \
    to##n TARN_EXACT convert_##to##n##how(uint##n); \
    to##n TARN_EXACT convert_##to##n##how(long##n); \
    to##n TARN_EXACT convert_##to##n##how(ulong##n); \
    to##n TARN_EXACT convert_##to##n##how(float##n);
TARN_CONVERTED(int, , ) TARN_CONVERTED(int, _sat_rtz, ) TARN_CONVERTED(long, _sat_rtz, ) TARN_CONVERTED(float, , )
TARN_CONVERTED(ushort, , 16) TARN_CONVERTED(int, , 16) TARN_CONVERTED(int, _sat_rtz, 16) TARN_CONVERTED(float, , 16)
#ifdef cl_khr_fp64
TARN_CONVERTED(double, , )
int TARN_EXACT convert_int(double);
int TARN_EXACT convert_int_sat_rtz(double);
long TARN_EXACT convert_long_sat_rtz(double);
float TARN_EXACT convert_float(double);
double TARN_EXACT convert_double(double);
#endif

/* ---- functions ------------------------------------------------------------------------------- */

#define TARN_ORDERED(type) \
    type TARN_EXACT min(type, type); \
    type TARN_EXACT max(type, type); \
    type TARN_EXACT clamp(type, type, type);
#define TARN_WHOLE(type) TARN_ORDERED(type) type TARN_EXACT mul_hi(type, type);
#define TARN_REAL(type) \
    type TARN_EXACT fma(type, type, type); \
    type TARN_EXACT fabs(type); \
    type TARN_EXACT floor(type); \
    type TARN_EXACT rint(type); \
    type TARN_EXACT sqrt(type); \
    TARN_ORDERED(type)
#define TARN_OF_ALL(what, type) what(type) what(type##2) what(type##4) what(type##8) what(type##16)
TARN_OF_ALL(TARN_WHOLE, int) TARN_OF_ALL(TARN_WHOLE, uint) TARN_OF_ALL(TARN_WHOLE, long) TARN_OF_ALL(TARN_WHOLE, ulong)
TARN_OF_ALL(TARN_REAL, float)
#ifdef cl_khr_fp64
TARN_OF_ALL(TARN_REAL, double)
#define TARN_ONE(name) double TARN_EXACT name(double);
TARN_ONE(exp) TARN_ONE(expm1) TARN_ONE(log) TARN_ONE(log1p) TARN_ONE(tanh) TARN_ONE(erf) TARN_ONE(sin) TARN_ONE(cos)
TARN_ONE(atan)
double TARN_EXACT pow(double, double);
double TARN_EXACT atan2(double, double);
#endif
float16 TARN_EXACT select(float16, float16, int16);
int16 TARN_EXACT select(int16, int16, int16);
uint16 TARN_EXACT select(uint16, uint16, int16);

uint TARN_EXACT get_work_dim(void);
size_t TARN_EXACT get_group_id(uint);
size_t TARN_EXACT get_local_id(uint);
size_t TARN_EXACT get_global_id(uint);
size_t TARN_EXACT get_num_groups(uint);
size_t TARN_EXACT get_global_size(uint);
void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);
