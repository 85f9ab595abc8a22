/* k0: 2 groups of 1; skip 0, input 0, arena 0, at 0, owned 0, output 0, output 1; at bytes 0, 0 */
/* arena: 1280 bytes */
/* input cast from_bf16 conv2d argmax cast argmax */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_40f80490e396d021(const int skip, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *output0, __global uchar *output1)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[246];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [32,1,9,9] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,1,9,9] */
    __local float *v2 = (__local float *)((__local uchar *)scratch + 10560); /* [32,1,9,9] blocked */
    __global float *v3 = (__global float *)(arena + offset[0]); /* [6,1,5,5] */
    __global float *v4 = (__global float *)(owned0 + offset[1]); /* [6,1,5,5] */
    __local float *v5 = (__local float *)((__local uchar *)scratch + 960); /* [32,6,5,5] blocked */
    __local int *v6 = (__local int *)((__local uchar *)scratch + 10560); /* [32,6,5,1] blocked */
    __local ushort *v7 = (__local ushort *)((__local uchar *)scratch + 0); /* [32,6,5,1] blocked */
    __global ushort *v8 = (__global ushort *)(output0); /* [32,6,5,1] */
    __global int *v9 = (__global int *)(output1); /* [32,6,5,1] */
    /* input */
    if (section_group >= 0 && section_group < 2) {
        const long group = section_group - 0;
        v3 += 160 * group;
        /* from_bf16 [150] */
        {
            long i0 = 0;
            #pragma unroll 1
            for (; i0 + 16 <= 150; i0 += 16) {
                const float16 t1 = (TARN_LOAD(__global, float, v4 + i0));
                const int16 t2 = TARN_TO_BF16_16(t1);
                const float16 t3 = TARN_FROM_BF16_16(t2);
                TARN_STORE(__global, float, t3, v3 + i0);
            }
            #pragma unroll 1
            for (; i0 < 150; ++i0) {
                const float t4 = v4[i0];
                const int t5 = TARN_TO_BF16_1(t4);
                const float t6 = TARN_FROM_BF16_1(t5);
                v3[i0] = t6;
            }
        }
        const long first = group * 2 / 2, last = (group + 1) * 2 / 2;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [32 1 9 9] */
            {
                #pragma unroll 1
                for (long e = 0; e < 81; e += 16) {
                    const long at = min(e, 65L);
                    float16 row[16];
                    row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 0));
                    row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 1));
                    row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 2));
                    row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 3));
                    row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 4));
                    row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 5));
                    row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 6));
                    row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 7));
                    row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 8));
                    row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 9));
                    row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 10));
                    row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 11));
                    row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 12));
                    row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 13));
                    row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 14));
                    row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 15));
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
            /* cast [32 1 9 9] */
            {
                #pragma unroll 1
                for (long i2 = 0; i2 < 9; i2 += 1) {
                    #pragma unroll 1
                    for (long i3 = 0; i3 < 9; i3 += 1) {
                        const float16 t7 = (TARN_LOAD(__local, float, v0 + 16 * (9 * i2 + i3)));
                        const int16 t8 = TARN_TO_BF16_16(t7);
                        const float16 t9 = TARN_FROM_BF16_16(t8);
                        TARN_STORE(__local, float, t9, v2 + 16 * (9 * i2 + i3));
                    }
                }
            }
            /* conv2d [32 6 5 5 | 1 5 5] */
            {
                #pragma unroll 1
                for (long i1 = 0; i1 < 6; i1 += 2) {
                    #pragma unroll 1
                    for (long i3 = 0; i3 < 5; i3 += 1) {
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
                        #pragma unroll 1
                        for (long i5 = 0; i5 < 5; i5 += 1) {
                            #pragma unroll 1
                            for (long i6 = 0; i6 < 5; i6 += 1) {
                                const float16 t10 = (TARN_LOAD(__local, float, v2 + 16 * (i3 + 9 * i5 + i6)));
                                const float16 t11 = (float16)(v3[25 * i1 + 5 * i5 + i6]);
                                acc0 = fma(t10, t11, acc0);
                                const float16 t12 = (TARN_LOAD(__local, float, v2 + 16 * (i3 + 9 * i5 + i6 + 9)));
                                acc1 = fma(t12, t11, acc1);
                                const float16 t13 = (TARN_LOAD(__local, float, v2 + 16 * (i3 + 9 * i5 + i6 + 18)));
                                acc2 = fma(t13, t11, acc2);
                                const float16 t14 = (TARN_LOAD(__local, float, v2 + 16 * (i3 + 9 * i5 + i6 + 27)));
                                acc3 = fma(t14, t11, acc3);
                                const float16 t15 = (TARN_LOAD(__local, float, v2 + 16 * (i3 + 9 * i5 + i6 + 36)));
                                acc4 = fma(t15, t11, acc4);
                                const float16 t16 = (float16)(v3[25 * i1 + 5 * i5 + i6 + 25]);
                                acc5 = fma(t10, t16, acc5);
                                acc6 = fma(t12, t16, acc6);
                                acc7 = fma(t13, t16, acc7);
                                acc8 = fma(t14, t16, acc8);
                                acc9 = fma(t15, t16, acc9);
                            }
                        }
                        const int16 t17 = TARN_TO_BF16_16(acc0);
                        const float16 t18 = TARN_FROM_BF16_16(t17);
                        TARN_STORE(__local, float, t18, v5 + 16 * (25 * i1 + i3));
                        const int16 t19 = TARN_TO_BF16_16(acc1);
                        const float16 t20 = TARN_FROM_BF16_16(t19);
                        TARN_STORE(__local, float, t20, v5 + 16 * (25 * i1 + i3 + 5));
                        const int16 t21 = TARN_TO_BF16_16(acc2);
                        const float16 t22 = TARN_FROM_BF16_16(t21);
                        TARN_STORE(__local, float, t22, v5 + 16 * (25 * i1 + i3 + 10));
                        const int16 t23 = TARN_TO_BF16_16(acc3);
                        const float16 t24 = TARN_FROM_BF16_16(t23);
                        TARN_STORE(__local, float, t24, v5 + 16 * (25 * i1 + i3 + 15));
                        const int16 t25 = TARN_TO_BF16_16(acc4);
                        const float16 t26 = TARN_FROM_BF16_16(t25);
                        TARN_STORE(__local, float, t26, v5 + 16 * (25 * i1 + i3 + 20));
                        const int16 t27 = TARN_TO_BF16_16(acc5);
                        const float16 t28 = TARN_FROM_BF16_16(t27);
                        TARN_STORE(__local, float, t28, v5 + 16 * (25 * i1 + i3 + 25));
                        const int16 t29 = TARN_TO_BF16_16(acc6);
                        const float16 t30 = TARN_FROM_BF16_16(t29);
                        TARN_STORE(__local, float, t30, v5 + 16 * (25 * i1 + i3 + 30));
                        const int16 t31 = TARN_TO_BF16_16(acc7);
                        const float16 t32 = TARN_FROM_BF16_16(t31);
                        TARN_STORE(__local, float, t32, v5 + 16 * (25 * i1 + i3 + 35));
                        const int16 t33 = TARN_TO_BF16_16(acc8);
                        const float16 t34 = TARN_FROM_BF16_16(t33);
                        TARN_STORE(__local, float, t34, v5 + 16 * (25 * i1 + i3 + 40));
                        const int16 t35 = TARN_TO_BF16_16(acc9);
                        const float16 t36 = TARN_FROM_BF16_16(t35);
                        TARN_STORE(__local, float, t36, v5 + 16 * (25 * i1 + i3 + 45));
                    }
                }
            }
            /* argmax [32 6 5 | 5] */
            {
                #pragma unroll 1
                for (long i1 = 0; i1 < 6; i1 += 1) {
                    float16 best0 = (float16)(-INFINITY);
                    int16 acc0 = (int16)(0);
                    float16 best1 = (float16)(-INFINITY);
                    int16 acc1 = (int16)(0);
                    float16 best2 = (float16)(-INFINITY);
                    int16 acc2 = (int16)(0);
                    float16 best3 = (float16)(-INFINITY);
                    int16 acc3 = (int16)(0);
                    float16 best4 = (float16)(-INFINITY);
                    int16 acc4 = (int16)(0);
                    #pragma unroll 1
                    for (long i3 = 0; i3 < 5; i3 += 1) {
                        const float16 t37 = (TARN_LOAD(__local, float, v5 + 16 * (25 * i1 + i3)));
                        {
                            const int16 better = TARN_BETTER_16(t37, best0);
                            acc0 = TARN_SELECT_16(better, (int16)((int)(i3)), acc0);
                            best0 = TARN_SELECT_16(better, t37, best0);
                        }
                        const float16 t38 = (TARN_LOAD(__local, float, v5 + 16 * (25 * i1 + i3 + 5)));
                        {
                            const int16 better = TARN_BETTER_16(t38, best1);
                            acc1 = TARN_SELECT_16(better, (int16)((int)(i3)), acc1);
                            best1 = TARN_SELECT_16(better, t38, best1);
                        }
                        const float16 t39 = (TARN_LOAD(__local, float, v5 + 16 * (25 * i1 + i3 + 10)));
                        {
                            const int16 better = TARN_BETTER_16(t39, best2);
                            acc2 = TARN_SELECT_16(better, (int16)((int)(i3)), acc2);
                            best2 = TARN_SELECT_16(better, t39, best2);
                        }
                        const float16 t40 = (TARN_LOAD(__local, float, v5 + 16 * (25 * i1 + i3 + 15)));
                        {
                            const int16 better = TARN_BETTER_16(t40, best3);
                            acc3 = TARN_SELECT_16(better, (int16)((int)(i3)), acc3);
                            best3 = TARN_SELECT_16(better, t40, best3);
                        }
                        const float16 t41 = (TARN_LOAD(__local, float, v5 + 16 * (25 * i1 + i3 + 20)));
                        {
                            const int16 better = TARN_BETTER_16(t41, best4);
                            acc4 = TARN_SELECT_16(better, (int16)((int)(i3)), acc4);
                            best4 = TARN_SELECT_16(better, t41, best4);
                        }
                    }
                    const int16 t42 = TARN_TO_BF16_16(best0);
                    TARN_STORE(__local, int, acc0, v6 + 16 * (5 * i1));
                    TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t42), v7 + 16 * (5 * i1));
                    const int16 t43 = TARN_TO_BF16_16(best1);
                    TARN_STORE(__local, int, acc1, v6 + 16 * (5 * i1 + 1));
                    TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t43), v7 + 16 * (5 * i1 + 1));
                    const int16 t44 = TARN_TO_BF16_16(best2);
                    TARN_STORE(__local, int, acc2, v6 + 16 * (5 * i1 + 2));
                    TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t44), v7 + 16 * (5 * i1 + 2));
                    const int16 t45 = TARN_TO_BF16_16(best3);
                    TARN_STORE(__local, int, acc3, v6 + 16 * (5 * i1 + 3));
                    TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t45), v7 + 16 * (5 * i1 + 3));
                    const int16 t46 = TARN_TO_BF16_16(best4);
                    TARN_STORE(__local, int, acc4, v6 + 16 * (5 * i1 + 4));
                    TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t46), v7 + 16 * (5 * i1 + 4));
                }
            }
            /* cast [32 6 5 1] */
            {
                #pragma unroll 1
                for (long e = 0; e < 30; e += 16) {
                    const long at = min(e, 14L);
                    ushort16 row[16];
                    row[0] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 0));
                    row[1] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 1));
                    row[2] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 2));
                    row[3] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 3));
                    row[4] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 4));
                    row[5] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 5));
                    row[6] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 6));
                    row[7] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 7));
                    row[8] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 8));
                    row[9] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 9));
                    row[10] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 10));
                    row[11] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 11));
                    row[12] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 12));
                    row[13] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 13));
                    row[14] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 14));
                    row[15] = TARN_LOAD(__local, ushort, v7 + 16 * (0 + at + 15));
                    TARN_TURN_16(ushort, row)
                    TARN_STORE(__global, ushort, row[0], v8 + 0 + at + 30 * (16 * b + 0));
                    TARN_STORE(__global, ushort, row[1], v8 + 0 + at + 30 * (16 * b + 1));
                    TARN_STORE(__global, ushort, row[2], v8 + 0 + at + 30 * (16 * b + 2));
                    TARN_STORE(__global, ushort, row[3], v8 + 0 + at + 30 * (16 * b + 3));
                    TARN_STORE(__global, ushort, row[4], v8 + 0 + at + 30 * (16 * b + 4));
                    TARN_STORE(__global, ushort, row[5], v8 + 0 + at + 30 * (16 * b + 5));
                    TARN_STORE(__global, ushort, row[6], v8 + 0 + at + 30 * (16 * b + 6));
                    TARN_STORE(__global, ushort, row[7], v8 + 0 + at + 30 * (16 * b + 7));
                    TARN_STORE(__global, ushort, row[8], v8 + 0 + at + 30 * (16 * b + 8));
                    TARN_STORE(__global, ushort, row[9], v8 + 0 + at + 30 * (16 * b + 9));
                    TARN_STORE(__global, ushort, row[10], v8 + 0 + at + 30 * (16 * b + 10));
                    TARN_STORE(__global, ushort, row[11], v8 + 0 + at + 30 * (16 * b + 11));
                    TARN_STORE(__global, ushort, row[12], v8 + 0 + at + 30 * (16 * b + 12));
                    TARN_STORE(__global, ushort, row[13], v8 + 0 + at + 30 * (16 * b + 13));
                    TARN_STORE(__global, ushort, row[14], v8 + 0 + at + 30 * (16 * b + 14));
                    TARN_STORE(__global, ushort, row[15], v8 + 0 + at + 30 * (16 * b + 15));
                }
            }
            /* argmax [32 6 5 1] */
            {
                #pragma unroll 1
                for (long e = 0; e < 30; e += 16) {
                    const long at = min(e, 14L);
                    int16 row[16];
                    row[0] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 0));
                    row[1] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 1));
                    row[2] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 2));
                    row[3] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 3));
                    row[4] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 4));
                    row[5] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 5));
                    row[6] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 6));
                    row[7] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 7));
                    row[8] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 8));
                    row[9] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 9));
                    row[10] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 10));
                    row[11] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 11));
                    row[12] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 12));
                    row[13] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 13));
                    row[14] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 14));
                    row[15] = TARN_LOAD(__local, int, v6 + 16 * (0 + at + 15));
                    TARN_TURN_16(int, row)
                    TARN_STORE(__global, int, row[0], v9 + 0 + at + 30 * (16 * b + 0));
                    TARN_STORE(__global, int, row[1], v9 + 0 + at + 30 * (16 * b + 1));
                    TARN_STORE(__global, int, row[2], v9 + 0 + at + 30 * (16 * b + 2));
                    TARN_STORE(__global, int, row[3], v9 + 0 + at + 30 * (16 * b + 3));
                    TARN_STORE(__global, int, row[4], v9 + 0 + at + 30 * (16 * b + 4));
                    TARN_STORE(__global, int, row[5], v9 + 0 + at + 30 * (16 * b + 5));
                    TARN_STORE(__global, int, row[6], v9 + 0 + at + 30 * (16 * b + 6));
                    TARN_STORE(__global, int, row[7], v9 + 0 + at + 30 * (16 * b + 7));
                    TARN_STORE(__global, int, row[8], v9 + 0 + at + 30 * (16 * b + 8));
                    TARN_STORE(__global, int, row[9], v9 + 0 + at + 30 * (16 * b + 9));
                    TARN_STORE(__global, int, row[10], v9 + 0 + at + 30 * (16 * b + 10));
                    TARN_STORE(__global, int, row[11], v9 + 0 + at + 30 * (16 * b + 11));
                    TARN_STORE(__global, int, row[12], v9 + 0 + at + 30 * (16 * b + 12));
                    TARN_STORE(__global, int, row[13], v9 + 0 + at + 30 * (16 * b + 13));
                    TARN_STORE(__global, int, row[14], v9 + 0 + at + 30 * (16 * b + 14));
                    TARN_STORE(__global, int, row[15], v9 + 0 + at + 30 * (16 * b + 15));
                }
            }
        }
    }
}


