/* k0: 1 groups of 1; skip 0, output 0, owned 0, at 0, owned 2, output 1, owned 3, owned 1; at bytes 0, 0, 0, 0 */
/* arena: 0 bytes */
/* pad conv2d */
#ifndef TARN_nest_db2d9f9a021a5296
#define TARN_nest_db2d9f9a021a5296
TARN_APART void nest_db2d9f9a021a5296(__global float *v0, __global float *v1, __global float *v2)
{
    #pragma unroll 1
    for (long i0 = 0; i0 < 5; i0 += 1) {
        long i1 = 0;
        #pragma unroll 1
        for (; i1 + 16 <= 48; i1 += 16) {
            const int16 t1 = ((((int16)((int)(i1 - 3)) + 1 * TARN_LANES) >= 0) & (((int16)((int)(i1 - 3)) + 1 * TARN_LANES) <= 39));
            const long t2 = 40 * i0 + i1 - 3;
            const int16 t3 = t1 ? ((int16)((int)(40 * i0 + i1 - 3)) + 1 * TARN_LANES) : (int16)(0);
            const float16 t4 = t2 >= 0 && t2 <= 184L ? (TARN_LOAD(__global, float, v1 + t2)) : (float16)(v1[t3.s0], v1[t3.s1], v1[t3.s2], v1[t3.s3], v1[t3.s4], v1[t3.s5], v1[t3.s6], v1[t3.s7], v1[t3.s8], v1[t3.s9], v1[t3.sa], v1[t3.sb], v1[t3.sc], v1[t3.sd], v1[t3.se], v1[t3.sf]);
            const float16 t5 = (float16)(v2[i0]);
            const float16 t6 = t4 - t5;
            const float16 t7 = t1 ? t6 : (float16)(0x0p+0f);
            TARN_STORE(__global, float, t7, v0 + 48 * i0 + i1);
        }
    }
}
#endif
#ifndef TARN_nest_cb7f7cbb65fa2708
#define TARN_nest_cb7f7cbb65fa2708
TARN_APART void nest_cb7f7cbb65fa2708(__global float *v0, __global float *v1, __global float *v2)
{
    #pragma unroll 1
    for (long lane = 0; lane < 18; lane += 16) {
        const long i2 = min(lane, 18 - 16L);
        float16 acc0 = (float16)(0.0f);
        float16 acc1 = (float16)(0.0f);
        float16 acc2 = (float16)(0.0f);
        float16 acc3 = (float16)(0.0f);
        float16 acc4 = (float16)(0.0f);
        float16 acc5 = (float16)(0.0f);
        float16 acc6 = (float16)(0.0f);
        float16 acc7 = (float16)(0.0f);
        #pragma unroll 1
        for (long i3 = 0; i3 < 2; i3 += 1) {
            #pragma unroll 1
            for (long i4 = 0; i4 < 3; i4 += 1) {
                const int16 t1 = (int16)(-((i4 - 1 >= 0))) & ((((int16)((int)(2 * i2 - 1)) + 2 * TARN_LANES) >= 0) & (((int16)((int)(2 * i2 - 1)) + 2 * TARN_LANES) <= 35));
                const long t2 = 2 * i2 + 288 * i3 + 36 * i4 - 37;
                const int16 t3 = t1 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 - 37)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t4 = t2 >= 0 && t2 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t2)) : (float16)(v1[t3.s0], v1[t3.s1], v1[t3.s2], v1[t3.s3], v1[t3.s4], v1[t3.s5], v1[t3.s6], v1[t3.s7], v1[t3.s8], v1[t3.s9], v1[t3.sa], v1[t3.sb], v1[t3.sc], v1[t3.sd], v1[t3.se], v1[t3.sf]);
                const float16 t5 = (float16)(v2[9 * i3 + 3 * i4]);
                acc0 = t1 ? fma(t4, t5, acc0) : acc0;
                const int16 t6 = ((((int16)((int)(2 * i2 - 1)) + 2 * TARN_LANES) >= 0) & (((int16)((int)(2 * i2 - 1)) + 2 * TARN_LANES) <= 35));
                const long t7 = 2 * i2 + 288 * i3 + 36 * i4 + 35;
                const int16 t8 = t6 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 35)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t9 = t7 >= 0 && t7 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t7)) : (float16)(v1[t8.s0], v1[t8.s1], v1[t8.s2], v1[t8.s3], v1[t8.s4], v1[t8.s5], v1[t8.s6], v1[t8.s7], v1[t8.s8], v1[t8.s9], v1[t8.sa], v1[t8.sb], v1[t8.sc], v1[t8.sd], v1[t8.se], v1[t8.sf]);
                acc1 = t6 ? fma(t9, t5, acc1) : acc1;
                const long t10 = 2 * i2 + 288 * i3 + 36 * i4 + 107;
                const int16 t11 = t6 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 107)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t12 = t10 >= 0 && t10 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t10)) : (float16)(v1[t11.s0], v1[t11.s1], v1[t11.s2], v1[t11.s3], v1[t11.s4], v1[t11.s5], v1[t11.s6], v1[t11.s7], v1[t11.s8], v1[t11.s9], v1[t11.sa], v1[t11.sb], v1[t11.sc], v1[t11.sd], v1[t11.se], v1[t11.sf]);
                acc2 = t6 ? fma(t12, t5, acc2) : acc2;
                const long t13 = 2 * i2 + 288 * i3 + 36 * i4 + 179;
                const int16 t14 = t6 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 179)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t15 = t13 >= 0 && t13 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t13)) : (float16)(v1[t14.s0], v1[t14.s1], v1[t14.s2], v1[t14.s3], v1[t14.s4], v1[t14.s5], v1[t14.s6], v1[t14.s7], v1[t14.s8], v1[t14.s9], v1[t14.sa], v1[t14.sb], v1[t14.sc], v1[t14.sd], v1[t14.se], v1[t14.sf]);
                acc3 = t6 ? fma(t15, t5, acc3) : acc3;
                const float16 t16 = (float16)(v2[9 * i3 + 3 * i4 + 18]);
                acc4 = t1 ? fma(t4, t16, acc4) : acc4;
                acc5 = t6 ? fma(t9, t16, acc5) : acc5;
                acc6 = t6 ? fma(t12, t16, acc6) : acc6;
                acc7 = t6 ? fma(t15, t16, acc7) : acc7;
                const int16 t17 = (int16)(-((i4 - 1 >= 0))) & ((((int16)((int)(2 * i2)) + 2 * TARN_LANES) <= 35));
                const long t18 = 2 * i2 + 288 * i3 + 36 * i4 - 36;
                const int16 t19 = t17 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 - 36)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t20 = t18 >= 0 && t18 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t18)) : (float16)(v1[t19.s0], v1[t19.s1], v1[t19.s2], v1[t19.s3], v1[t19.s4], v1[t19.s5], v1[t19.s6], v1[t19.s7], v1[t19.s8], v1[t19.s9], v1[t19.sa], v1[t19.sb], v1[t19.sc], v1[t19.sd], v1[t19.se], v1[t19.sf]);
                const float16 t21 = (float16)(v2[9 * i3 + 3 * i4 + 1]);
                acc0 = t17 ? fma(t20, t21, acc0) : acc0;
                const int16 t22 = ((((int16)((int)(2 * i2)) + 2 * TARN_LANES) <= 35));
                const long t23 = 2 * i2 + 288 * i3 + 36 * i4 + 36;
                const int16 t24 = t22 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 36)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t25 = t23 >= 0 && t23 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t23)) : (float16)(v1[t24.s0], v1[t24.s1], v1[t24.s2], v1[t24.s3], v1[t24.s4], v1[t24.s5], v1[t24.s6], v1[t24.s7], v1[t24.s8], v1[t24.s9], v1[t24.sa], v1[t24.sb], v1[t24.sc], v1[t24.sd], v1[t24.se], v1[t24.sf]);
                acc1 = t22 ? fma(t25, t21, acc1) : acc1;
                const long t26 = 2 * i2 + 288 * i3 + 36 * i4 + 108;
                const int16 t27 = t22 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 108)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t28 = t26 >= 0 && t26 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t26)) : (float16)(v1[t27.s0], v1[t27.s1], v1[t27.s2], v1[t27.s3], v1[t27.s4], v1[t27.s5], v1[t27.s6], v1[t27.s7], v1[t27.s8], v1[t27.s9], v1[t27.sa], v1[t27.sb], v1[t27.sc], v1[t27.sd], v1[t27.se], v1[t27.sf]);
                acc2 = t22 ? fma(t28, t21, acc2) : acc2;
                const long t29 = 2 * i2 + 288 * i3 + 36 * i4 + 180;
                const int16 t30 = t22 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 180)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t31 = t29 >= 0 && t29 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t29)) : (float16)(v1[t30.s0], v1[t30.s1], v1[t30.s2], v1[t30.s3], v1[t30.s4], v1[t30.s5], v1[t30.s6], v1[t30.s7], v1[t30.s8], v1[t30.s9], v1[t30.sa], v1[t30.sb], v1[t30.sc], v1[t30.sd], v1[t30.se], v1[t30.sf]);
                acc3 = t22 ? fma(t31, t21, acc3) : acc3;
                const float16 t32 = (float16)(v2[9 * i3 + 3 * i4 + 19]);
                acc4 = t17 ? fma(t20, t32, acc4) : acc4;
                acc5 = t22 ? fma(t25, t32, acc5) : acc5;
                acc6 = t22 ? fma(t28, t32, acc6) : acc6;
                acc7 = t22 ? fma(t31, t32, acc7) : acc7;
                const int16 t33 = (int16)(-((i4 - 1 >= 0))) & ((((int16)((int)(2 * i2 + 1)) + 2 * TARN_LANES) <= 35));
                const long t34 = 2 * i2 + 288 * i3 + 36 * i4 - 35;
                const int16 t35 = t33 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 - 35)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t36 = t34 >= 0 && t34 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t34)) : (float16)(v1[t35.s0], v1[t35.s1], v1[t35.s2], v1[t35.s3], v1[t35.s4], v1[t35.s5], v1[t35.s6], v1[t35.s7], v1[t35.s8], v1[t35.s9], v1[t35.sa], v1[t35.sb], v1[t35.sc], v1[t35.sd], v1[t35.se], v1[t35.sf]);
                const float16 t37 = (float16)(v2[9 * i3 + 3 * i4 + 2]);
                acc0 = t33 ? fma(t36, t37, acc0) : acc0;
                const int16 t38 = ((((int16)((int)(2 * i2 + 1)) + 2 * TARN_LANES) <= 35));
                const long t39 = 2 * i2 + 288 * i3 + 36 * i4 + 37;
                const int16 t40 = t38 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 37)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t41 = t39 >= 0 && t39 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t39)) : (float16)(v1[t40.s0], v1[t40.s1], v1[t40.s2], v1[t40.s3], v1[t40.s4], v1[t40.s5], v1[t40.s6], v1[t40.s7], v1[t40.s8], v1[t40.s9], v1[t40.sa], v1[t40.sb], v1[t40.sc], v1[t40.sd], v1[t40.se], v1[t40.sf]);
                acc1 = t38 ? fma(t41, t37, acc1) : acc1;
                const long t42 = 2 * i2 + 288 * i3 + 36 * i4 + 109;
                const int16 t43 = t38 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 109)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t44 = t42 >= 0 && t42 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t42)) : (float16)(v1[t43.s0], v1[t43.s1], v1[t43.s2], v1[t43.s3], v1[t43.s4], v1[t43.s5], v1[t43.s6], v1[t43.s7], v1[t43.s8], v1[t43.s9], v1[t43.sa], v1[t43.sb], v1[t43.sc], v1[t43.sd], v1[t43.se], v1[t43.sf]);
                acc2 = t38 ? fma(t44, t37, acc2) : acc2;
                const long t45 = 2 * i2 + 288 * i3 + 36 * i4 + 181;
                const int16 t46 = t38 ? ((int16)((int)(2 * i2 + 288 * i3 + 36 * i4 + 181)) + 2 * TARN_LANES) : (int16)(0);
                const float16 t47 = t45 >= 0 && t45 <= 545L ? (TARN_LOAD_EVEN(__global, float, v1 + t45)) : (float16)(v1[t46.s0], v1[t46.s1], v1[t46.s2], v1[t46.s3], v1[t46.s4], v1[t46.s5], v1[t46.s6], v1[t46.s7], v1[t46.s8], v1[t46.s9], v1[t46.sa], v1[t46.sb], v1[t46.sc], v1[t46.sd], v1[t46.se], v1[t46.sf]);
                acc3 = t38 ? fma(t47, t37, acc3) : acc3;
                const float16 t48 = (float16)(v2[9 * i3 + 3 * i4 + 20]);
                acc4 = t33 ? fma(t36, t48, acc4) : acc4;
                acc5 = t38 ? fma(t41, t48, acc5) : acc5;
                acc6 = t38 ? fma(t44, t48, acc6) : acc6;
                acc7 = t38 ? fma(t47, t48, acc7) : acc7;
            }
        }
        TARN_STORE(__global, float, acc0, v0 + i2);
        TARN_STORE(__global, float, acc1, v0 + i2 + 18);
        TARN_STORE(__global, float, acc2, v0 + i2 + 36);
        TARN_STORE(__global, float, acc3, v0 + i2 + 54);
        TARN_STORE(__global, float, acc4, v0 + i2 + 72);
        TARN_STORE(__global, float, acc5, v0 + i2 + 90);
        TARN_STORE(__global, float, acc6, v0 + i2 + 108);
        TARN_STORE(__global, float, acc7, v0 + i2 + 126);
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_11433ba8048267fa(const int skip, __global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1, __global uchar *output1, __global uchar *owned2, __global uchar *owned3)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [5,48] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [5,40] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [5] */
    __global float *v3 = (__global float *)(output1); /* [1,2,4,18] */
    __global float *v4 = (__global float *)(owned2 + offset[2]); /* [1,2,8,36] */
    __global float *v5 = (__global float *)(owned3 + offset[3]); /* [2,2,3,3] */
    /* pad */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* pad [5 48] */
        nest_db2d9f9a021a5296(v0, v1, v2);
        /* conv2d [2 4 18 | 2 3 3] */
        nest_cb7f7cbb65fa2708(v3, v4, v5);
    }
}


