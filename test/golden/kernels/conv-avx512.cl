/* k0: 1 groups of 1; skip 0, input 0, owned 0, at 0, output 0; at bytes 0 */
/* arena: 0 bytes */
/* input conv2d relu */
#ifndef TARN_nest_c3a5c3dfbd7d1b5a
#define TARN_nest_c3a5c3dfbd7d1b5a
TARN_APART void nest_c3a5c3dfbd7d1b5a(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 108; e += 16) {
        const long at = min(e, 92L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 108 * (16 * b + 15));
        TARN_TURN_16(float, row)
        TARN_STORE(__local, float, row[0], v0 + 16 * (0 + at + 0));
        TARN_STORE(__local, float, row[1], v0 + 16 * (0 + at + 1));
        TARN_STORE(__local, float, row[2], v0 + 16 * (0 + at + 2));
        TARN_STORE(__local, float, row[3], v0 + 16 * (0 + at + 3));
        TARN_STORE(__local, float, row[4], v0 + 16 * (0 + at + 4));
        TARN_STORE(__local, float, row[5], v0 + 16 * (0 + at + 5));
        TARN_STORE(__local, float, row[6], v0 + 16 * (0 + at + 6));
        TARN_STORE(__local, float, row[7], v0 + 16 * (0 + at + 7));
        TARN_STORE(__local, float, row[8], v0 + 16 * (0 + at + 8));
        TARN_STORE(__local, float, row[9], v0 + 16 * (0 + at + 9));
        TARN_STORE(__local, float, row[10], v0 + 16 * (0 + at + 10));
        TARN_STORE(__local, float, row[11], v0 + 16 * (0 + at + 11));
        TARN_STORE(__local, float, row[12], v0 + 16 * (0 + at + 12));
        TARN_STORE(__local, float, row[13], v0 + 16 * (0 + at + 13));
        TARN_STORE(__local, float, row[14], v0 + 16 * (0 + at + 14));
        TARN_STORE(__local, float, row[15], v0 + 16 * (0 + at + 15));
    }
}
#endif
#ifndef TARN_nest_4daba58214f1b463
#define TARN_nest_4daba58214f1b463
TARN_APART void nest_4daba58214f1b463(__local float *v0, __local float *v1, __global float *v2)
{
    #pragma unroll 1
    for (long i2 = 0; i2 < 6; i2 += 1) {
        float16 acc0 = (float16)(0.0f);
        float16 acc1 = (float16)(0.0f);
        float16 acc2 = (float16)(0.0f);
        float16 acc3 = (float16)(0.0f);
        float16 acc4 = (float16)(0.0f);
        float16 acc5 = (float16)(0.0f);
        float16 acc6 = (float16)(0.0f);
        float16 acc7 = (float16)(0.0f);
        float16 acc8 = (float16)(0.0f);
        float16 acc9 = (float16)(0.0f);
        float16 acc10 = (float16)(0.0f);
        float16 acc11 = (float16)(0.0f);
        float16 acc12 = (float16)(0.0f);
        float16 acc13 = (float16)(0.0f);
        float16 acc14 = (float16)(0.0f);
        float16 acc15 = (float16)(0.0f);
        float16 acc16 = (float16)(0.0f);
        float16 acc17 = (float16)(0.0f);
        float16 acc18 = (float16)(0.0f);
        float16 acc19 = (float16)(0.0f);
        float16 acc20 = (float16)(0.0f);
        float16 acc21 = (float16)(0.0f);
        float16 acc22 = (float16)(0.0f);
        float16 acc23 = (float16)(0.0f);
        #pragma unroll 1
        for (long i4 = 0; i4 < 3; i4 += 1) {
            #pragma unroll 1
            for (long i5 = max((long)0, -(long)(i2 - 1)); i5 < min((long)3, 6 - (long)(i2 - 1)); ++i5) {
                const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + 36 * i4 + 6 * i5 - 6)));
                const float16 t2 = (float16)(v2[9 * i4 + 3 * i5]);
                acc1 = fma(t1, t2, acc1);
                const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + 36 * i4 + 6 * i5 - 5)));
                acc2 = fma(t3, t2, acc2);
                const float16 t4 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + 36 * i4 + 6 * i5 - 4)));
                acc3 = fma(t4, t2, acc3);
                const float16 t5 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + 36 * i4 + 6 * i5 - 3)));
                acc4 = fma(t5, t2, acc4);
                const float16 t6 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + 36 * i4 + 6 * i5 - 2)));
                acc5 = fma(t6, t2, acc5);
                const float16 t7 = (float16)(v2[9 * i4 + 3 * i5 + 27]);
                acc7 = fma(t1, t7, acc7);
                acc8 = fma(t3, t7, acc8);
                acc9 = fma(t4, t7, acc9);
                acc10 = fma(t5, t7, acc10);
                acc11 = fma(t6, t7, acc11);
                const float16 t8 = (float16)(v2[9 * i4 + 3 * i5 + 54]);
                acc13 = fma(t1, t8, acc13);
                acc14 = fma(t3, t8, acc14);
                acc15 = fma(t4, t8, acc15);
                acc16 = fma(t5, t8, acc16);
                acc17 = fma(t6, t8, acc17);
                const float16 t9 = (float16)(v2[9 * i4 + 3 * i5 + 81]);
                acc19 = fma(t1, t9, acc19);
                acc20 = fma(t3, t9, acc20);
                acc21 = fma(t4, t9, acc21);
                acc22 = fma(t5, t9, acc22);
                acc23 = fma(t6, t9, acc23);
                const float16 t10 = (float16)(v2[9 * i4 + 3 * i5 + 1]);
                acc0 = fma(t1, t10, acc0);
                acc1 = fma(t3, t10, acc1);
                acc2 = fma(t4, t10, acc2);
                acc3 = fma(t5, t10, acc3);
                acc4 = fma(t6, t10, acc4);
                const float16 t11 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + 36 * i4 + 6 * i5 - 1)));
                acc5 = fma(t11, t10, acc5);
                const float16 t12 = (float16)(v2[9 * i4 + 3 * i5 + 28]);
                acc6 = fma(t1, t12, acc6);
                acc7 = fma(t3, t12, acc7);
                acc8 = fma(t4, t12, acc8);
                acc9 = fma(t5, t12, acc9);
                acc10 = fma(t6, t12, acc10);
                acc11 = fma(t11, t12, acc11);
                const float16 t13 = (float16)(v2[9 * i4 + 3 * i5 + 55]);
                acc12 = fma(t1, t13, acc12);
                acc13 = fma(t3, t13, acc13);
                acc14 = fma(t4, t13, acc14);
                acc15 = fma(t5, t13, acc15);
                acc16 = fma(t6, t13, acc16);
                acc17 = fma(t11, t13, acc17);
                const float16 t14 = (float16)(v2[9 * i4 + 3 * i5 + 82]);
                acc18 = fma(t1, t14, acc18);
                acc19 = fma(t3, t14, acc19);
                acc20 = fma(t4, t14, acc20);
                acc21 = fma(t5, t14, acc21);
                acc22 = fma(t6, t14, acc22);
                acc23 = fma(t11, t14, acc23);
                const float16 t15 = (float16)(v2[9 * i4 + 3 * i5 + 2]);
                acc0 = fma(t3, t15, acc0);
                acc1 = fma(t4, t15, acc1);
                acc2 = fma(t5, t15, acc2);
                acc3 = fma(t6, t15, acc3);
                acc4 = fma(t11, t15, acc4);
                const float16 t16 = (float16)(v2[9 * i4 + 3 * i5 + 29]);
                acc6 = fma(t3, t16, acc6);
                acc7 = fma(t4, t16, acc7);
                acc8 = fma(t5, t16, acc8);
                acc9 = fma(t6, t16, acc9);
                acc10 = fma(t11, t16, acc10);
                const float16 t17 = (float16)(v2[9 * i4 + 3 * i5 + 56]);
                acc12 = fma(t3, t17, acc12);
                acc13 = fma(t4, t17, acc13);
                acc14 = fma(t5, t17, acc14);
                acc15 = fma(t6, t17, acc15);
                acc16 = fma(t11, t17, acc16);
                const float16 t18 = (float16)(v2[9 * i4 + 3 * i5 + 83]);
                acc18 = fma(t3, t18, acc18);
                acc19 = fma(t4, t18, acc19);
                acc20 = fma(t5, t18, acc20);
                acc21 = fma(t6, t18, acc21);
                acc22 = fma(t11, t18, acc22);
            }
        }
        const float16 t19 = TARN_SELECT_16(TARN_BOOL_16(acc0 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc0);
        TARN_STORE(__local, float, t19, v0 + 16 * (6 * i2));
        const float16 t20 = TARN_SELECT_16(TARN_BOOL_16(acc1 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc1);
        TARN_STORE(__local, float, t20, v0 + 16 * (6 * i2 + 1));
        const float16 t21 = TARN_SELECT_16(TARN_BOOL_16(acc2 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc2);
        TARN_STORE(__local, float, t21, v0 + 16 * (6 * i2 + 2));
        const float16 t22 = TARN_SELECT_16(TARN_BOOL_16(acc3 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc3);
        TARN_STORE(__local, float, t22, v0 + 16 * (6 * i2 + 3));
        const float16 t23 = TARN_SELECT_16(TARN_BOOL_16(acc4 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc4);
        TARN_STORE(__local, float, t23, v0 + 16 * (6 * i2 + 4));
        const float16 t24 = TARN_SELECT_16(TARN_BOOL_16(acc5 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc5);
        TARN_STORE(__local, float, t24, v0 + 16 * (6 * i2 + 5));
        const float16 t25 = TARN_SELECT_16(TARN_BOOL_16(acc6 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc6);
        TARN_STORE(__local, float, t25, v0 + 16 * (6 * i2 + 36));
        const float16 t26 = TARN_SELECT_16(TARN_BOOL_16(acc7 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc7);
        TARN_STORE(__local, float, t26, v0 + 16 * (6 * i2 + 37));
        const float16 t27 = TARN_SELECT_16(TARN_BOOL_16(acc8 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc8);
        TARN_STORE(__local, float, t27, v0 + 16 * (6 * i2 + 38));
        const float16 t28 = TARN_SELECT_16(TARN_BOOL_16(acc9 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc9);
        TARN_STORE(__local, float, t28, v0 + 16 * (6 * i2 + 39));
        const float16 t29 = TARN_SELECT_16(TARN_BOOL_16(acc10 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc10);
        TARN_STORE(__local, float, t29, v0 + 16 * (6 * i2 + 40));
        const float16 t30 = TARN_SELECT_16(TARN_BOOL_16(acc11 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc11);
        TARN_STORE(__local, float, t30, v0 + 16 * (6 * i2 + 41));
        const float16 t31 = TARN_SELECT_16(TARN_BOOL_16(acc12 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc12);
        TARN_STORE(__local, float, t31, v0 + 16 * (6 * i2 + 72));
        const float16 t32 = TARN_SELECT_16(TARN_BOOL_16(acc13 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc13);
        TARN_STORE(__local, float, t32, v0 + 16 * (6 * i2 + 73));
        const float16 t33 = TARN_SELECT_16(TARN_BOOL_16(acc14 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc14);
        TARN_STORE(__local, float, t33, v0 + 16 * (6 * i2 + 74));
        const float16 t34 = TARN_SELECT_16(TARN_BOOL_16(acc15 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc15);
        TARN_STORE(__local, float, t34, v0 + 16 * (6 * i2 + 75));
        const float16 t35 = TARN_SELECT_16(TARN_BOOL_16(acc16 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc16);
        TARN_STORE(__local, float, t35, v0 + 16 * (6 * i2 + 76));
        const float16 t36 = TARN_SELECT_16(TARN_BOOL_16(acc17 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc17);
        TARN_STORE(__local, float, t36, v0 + 16 * (6 * i2 + 77));
        const float16 t37 = TARN_SELECT_16(TARN_BOOL_16(acc18 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc18);
        TARN_STORE(__local, float, t37, v0 + 16 * (6 * i2 + 108));
        const float16 t38 = TARN_SELECT_16(TARN_BOOL_16(acc19 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc19);
        TARN_STORE(__local, float, t38, v0 + 16 * (6 * i2 + 109));
        const float16 t39 = TARN_SELECT_16(TARN_BOOL_16(acc20 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc20);
        TARN_STORE(__local, float, t39, v0 + 16 * (6 * i2 + 110));
        const float16 t40 = TARN_SELECT_16(TARN_BOOL_16(acc21 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc21);
        TARN_STORE(__local, float, t40, v0 + 16 * (6 * i2 + 111));
        const float16 t41 = TARN_SELECT_16(TARN_BOOL_16(acc22 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc22);
        TARN_STORE(__local, float, t41, v0 + 16 * (6 * i2 + 112));
        const float16 t42 = TARN_SELECT_16(TARN_BOOL_16(acc23 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc23);
        TARN_STORE(__local, float, t42, v0 + 16 * (6 * i2 + 113));
    }
}
#endif
#ifndef TARN_nest_d0fd6508664e9441
#define TARN_nest_d0fd6508664e9441
TARN_APART void nest_d0fd6508664e9441(long b, __global float *v0, __local float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 144; e += 16) {
        const long at = min(e, 128L);
        float16 row[16];
        row[0] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 0));
        row[1] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 1));
        row[2] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 2));
        row[3] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 3));
        row[4] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 4));
        row[5] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 5));
        row[6] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 6));
        row[7] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 7));
        row[8] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 8));
        row[9] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 9));
        row[10] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 10));
        row[11] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 11));
        row[12] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 12));
        row[13] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 13));
        row[14] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 14));
        row[15] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 15));
        TARN_TURN_16(float, row)
        TARN_STORE(__global, float, row[0], v0 + 0 + at + 144 * (16 * b + 0));
        TARN_STORE(__global, float, row[1], v0 + 0 + at + 144 * (16 * b + 1));
        TARN_STORE(__global, float, row[2], v0 + 0 + at + 144 * (16 * b + 2));
        TARN_STORE(__global, float, row[3], v0 + 0 + at + 144 * (16 * b + 3));
        TARN_STORE(__global, float, row[4], v0 + 0 + at + 144 * (16 * b + 4));
        TARN_STORE(__global, float, row[5], v0 + 0 + at + 144 * (16 * b + 5));
        TARN_STORE(__global, float, row[6], v0 + 0 + at + 144 * (16 * b + 6));
        TARN_STORE(__global, float, row[7], v0 + 0 + at + 144 * (16 * b + 7));
        TARN_STORE(__global, float, row[8], v0 + 0 + at + 144 * (16 * b + 8));
        TARN_STORE(__global, float, row[9], v0 + 0 + at + 144 * (16 * b + 9));
        TARN_STORE(__global, float, row[10], v0 + 0 + at + 144 * (16 * b + 10));
        TARN_STORE(__global, float, row[11], v0 + 0 + at + 144 * (16 * b + 11));
        TARN_STORE(__global, float, row[12], v0 + 0 + at + 144 * (16 * b + 12));
        TARN_STORE(__global, float, row[13], v0 + 0 + at + 144 * (16 * b + 13));
        TARN_STORE(__global, float, row[14], v0 + 0 + at + 144 * (16 * b + 14));
        TARN_STORE(__global, float, row[15], v0 + 0 + at + 144 * (16 * b + 15));
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_fdb2c25866ef18eb(const int skip, __global uchar *input0, __global uchar *owned0, __global const ulong *offset, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[252];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 9216); /* [16,3,6,6] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,3,6,6] */
    __local float *v2 = (__local float *)((__local uchar *)scratch + 0); /* [16,4,6,6] blocked */
    __global float *v3 = (__global float *)(owned0 + offset[0]); /* [4,3,3,3] */
    __global float *v4 = (__global float *)(output0); /* [16,4,6,6] */
    /* input */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        const long first = group * 1 / 1, last = (group + 1) * 1 / 1;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [16 3 6 6] */
            nest_c3a5c3dfbd7d1b5a(b, v0, v1);
            /* conv2d [16 4 6 6 | 3 3 3] */
            nest_4daba58214f1b463(v2, v0, v3);
            /* relu [16 4 6 6] */
            nest_d0fd6508664e9441(b, v4, v2);
        }
    }
}


