/* k0: 1 groups of 1; skip 0, input 0, owned 0, at 0, output 0; at bytes 0 */
/* arena: 0 bytes */
/* input conv2d relu */
#ifndef TARN_nest_5d1111ccb0b8ff01
#define TARN_nest_5d1111ccb0b8ff01
TARN_APART void nest_5d1111ccb0b8ff01(long b, __local float *v0, __global float *v1)
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
        TARN_TURN_8(float, row)
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
#ifndef TARN_nest_85e6b603be0a13f2
#define TARN_nest_85e6b603be0a13f2
TARN_APART void nest_85e6b603be0a13f2(__local float *v0, __local float *v1, __global float *v2)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 4; i1 += 2) {
        #pragma unroll 1
        for (long i2 = 0; i2 < 6; i2 += 1) {
            #pragma unroll 1
            for (long i3 = 0; i3 < 6; i3 += 2) {
                float16 acc0 = (float16)(0.0f);
                float16 acc1 = (float16)(0.0f);
                float16 acc2 = (float16)(0.0f);
                float16 acc3 = (float16)(0.0f);
                #pragma unroll 1
                for (long i4 = 0; i4 < 3; i4 += 1) {
                    #pragma unroll 1
                    for (long i5 = max((long)0, -(long)(i2 - 1)); i5 < min((long)3, 6 - (long)(i2 - 1)); ++i5) {
                        if (((i3 + 2 <= 5)) && ((i3 - 1 >= 0))) {
                            const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 7)));
                            const float16 t2 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5]);
                            acc0 = fma(t1, t2, acc0);
                            const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 6)));
                            acc1 = fma(t3, t2, acc1);
                            const float16 t4 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 27]);
                            acc2 = fma(t1, t4, acc2);
                            acc3 = fma(t3, t4, acc3);
                            const float16 t5 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 1]);
                            acc0 = fma(t3, t5, acc0);
                            const float16 t6 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 5)));
                            acc1 = fma(t6, t5, acc1);
                            const float16 t7 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 28]);
                            acc2 = fma(t3, t7, acc2);
                            acc3 = fma(t6, t7, acc3);
                            const float16 t8 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 2]);
                            acc0 = fma(t6, t8, acc0);
                            const float16 t9 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 4)));
                            acc1 = fma(t9, t8, acc1);
                            const float16 t10 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 29]);
                            acc2 = fma(t6, t10, acc2);
                            acc3 = fma(t9, t10, acc3);
                        } else {
                            if (((i3 - 1 >= 0))) {
                                const float16 t11 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 7)));
                                const float16 t12 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5]);
                                acc0 = fma(t11, t12, acc0);
                                const float16 t13 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 27]);
                                acc2 = fma(t11, t13, acc2);
                            }
                            const float16 t14 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 6)));
                            const float16 t15 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5]);
                            acc1 = fma(t14, t15, acc1);
                            const float16 t16 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 27]);
                            acc3 = fma(t14, t16, acc3);
                            const float16 t17 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 1]);
                            acc0 = fma(t14, t17, acc0);
                            const float16 t18 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 5)));
                            acc1 = fma(t18, t17, acc1);
                            const float16 t19 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 28]);
                            acc2 = fma(t14, t19, acc2);
                            acc3 = fma(t18, t19, acc3);
                            const float16 t20 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 2]);
                            acc0 = fma(t18, t20, acc0);
                            if (((i3 + 2 <= 5))) {
                                const float16 t21 = (TARN_LOAD(__local, float, v1 + 16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 4)));
                                acc1 = fma(t21, t20, acc1);
                                const float16 t22 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 29]);
                                acc3 = fma(t21, t22, acc3);
                            }
                            const float16 t23 = (float16)(v2[27 * i1 + 9 * i4 + 3 * i5 + 29]);
                            acc2 = fma(t18, t23, acc2);
                        }
                    }
                }
                const float16 t24 = TARN_SELECT_16(TARN_BOOL_16(acc0 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc0);
                TARN_STORE(__local, float, t24, v0 + 16 * (36 * i1 + 6 * i2 + i3));
                const float16 t25 = TARN_SELECT_16(TARN_BOOL_16(acc1 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc1);
                TARN_STORE(__local, float, t25, v0 + 16 * (36 * i1 + 6 * i2 + i3 + 1));
                const float16 t26 = TARN_SELECT_16(TARN_BOOL_16(acc2 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc2);
                TARN_STORE(__local, float, t26, v0 + 16 * (36 * i1 + 6 * i2 + i3 + 36));
                const float16 t27 = TARN_SELECT_16(TARN_BOOL_16(acc3 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc3);
                TARN_STORE(__local, float, t27, v0 + 16 * (36 * i1 + 6 * i2 + i3 + 37));
            }
        }
    }
}
#endif
#ifndef TARN_nest_592674e4956f5c5b
#define TARN_nest_592674e4956f5c5b
TARN_APART void nest_592674e4956f5c5b(long b, __global float *v0, __local float *v1)
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
        TARN_TURN_8(float, row)
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
void k_509a91bf3a6c0fb4(const int skip, __global uchar *input0, __global uchar *owned0, __global const ulong *offset, __global uchar *output0)
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
            nest_5d1111ccb0b8ff01(b, v0, v1);
            /* conv2d [16 4 6 6 | 3 3 3] */
            nest_85e6b603be0a13f2(v2, v0, v3);
            /* relu [16 4 6 6] */
            nest_592674e4956f5c5b(b, v4, v2);
        }
    }
}


