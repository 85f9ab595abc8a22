/* k0: 2 groups of 1; skip 0, input 0, input 1, arena 0, at 0; at bytes 0 */
/* k1: 1 groups of 1; skip 0, output 0, arena 0, at 0; at bytes 0 */
/* arena: 12288 bytes */
/* input input conv2d_weight */
#ifndef TARN_nest_0e3d0cc67d859e8b
#define TARN_nest_0e3d0cc67d859e8b
TARN_APART void nest_0e3d0cc67d859e8b(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 6272; e += 16) {
        const long at = min(e, 6256L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 6272 * (16 * b + 15));
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
#ifndef TARN_nest_3745aa83e81a3945
#define TARN_nest_3745aa83e81a3945
TARN_APART void nest_3745aa83e81a3945(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 9408; e += 16) {
        const long at = min(e, 9392L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 9408 * (16 * b + 15));
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
#ifndef TARN_nest_65197fb7ecda85a0
#define TARN_nest_65197fb7ecda85a0
TARN_APART void nest_65197fb7ecda85a0(long group, long b, long first, __global float *v0, __local float *v1, __local float *v2)
{
    #pragma unroll 1
    for (long p0 = 0; p0 < 48; p0 += 24) {
        const long q0 = min(p0 + 24, (long)48);
        #pragma unroll 1
        for (long p1 = 0; p1 < 32; p1 += 8) {
            const long q1 = min(p1 + 8, (long)32);
            float16 kept[192];
            float16 sums[192];
            for (int k = 0; k < 192; k++) kept[k] = sums[k] = (float16)(0.0f);
            #pragma unroll 1
            for (long cut0 = 0; cut0 < 14; cut0 += 9) {
                const long end0 = min(cut0 + 9, (long)14);
                #pragma unroll 1
                for (long cut8 = cut0; cut8 < end0; cut8 += 2) {
                    const long end8 = min(cut8 + 2, (long)end0);
                    {
                        long at = 0;
                        #pragma unroll 1
                        for (long i0 = p0; i0 < q0; i0 += 6) {
                            #pragma unroll 1
                            for (long i1 = p1; i1 < q1; i1 += 4) {
                                float16 acc0 = kept[at + 0];
                                float16 acc1 = kept[at + 1];
                                float16 acc2 = kept[at + 2];
                                float16 acc3 = kept[at + 3];
                                float16 acc4 = kept[at + 4];
                                float16 acc5 = kept[at + 5];
                                float16 acc6 = kept[at + 6];
                                float16 acc7 = kept[at + 7];
                                float16 acc8 = kept[at + 8];
                                float16 acc9 = kept[at + 9];
                                float16 acc10 = kept[at + 10];
                                float16 acc11 = kept[at + 11];
                                float16 acc12 = kept[at + 12];
                                float16 acc13 = kept[at + 13];
                                float16 acc14 = kept[at + 14];
                                float16 acc15 = kept[at + 15];
                                float16 acc16 = kept[at + 16];
                                float16 acc17 = kept[at + 17];
                                float16 acc18 = kept[at + 18];
                                float16 acc19 = kept[at + 19];
                                float16 acc20 = kept[at + 20];
                                float16 acc21 = kept[at + 21];
                                float16 acc22 = kept[at + 22];
                                float16 acc23 = kept[at + 23];
                                #pragma unroll 1
                                for (long i5 = cut8; i5 < end8; i5 += 1) {
                                    #pragma unroll 1
                                    for (long i6 = 0; i6 < 14; i6 += 2) {
                                        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6)));
                                        const float16 t2 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6)));
                                        acc0 = fma(t1, t2, acc0);
                                        const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6 + 196)));
                                        acc1 = fma(t3, t2, acc1);
                                        const float16 t4 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6 + 392)));
                                        acc2 = fma(t4, t2, acc2);
                                        const float16 t5 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6 + 588)));
                                        acc3 = fma(t5, t2, acc3);
                                        const float16 t6 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 196)));
                                        acc4 = fma(t1, t6, acc4);
                                        acc5 = fma(t3, t6, acc5);
                                        acc6 = fma(t4, t6, acc6);
                                        acc7 = fma(t5, t6, acc7);
                                        const float16 t7 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 392)));
                                        acc8 = fma(t1, t7, acc8);
                                        acc9 = fma(t3, t7, acc9);
                                        acc10 = fma(t4, t7, acc10);
                                        acc11 = fma(t5, t7, acc11);
                                        const float16 t8 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 588)));
                                        acc12 = fma(t1, t8, acc12);
                                        acc13 = fma(t3, t8, acc13);
                                        acc14 = fma(t4, t8, acc14);
                                        acc15 = fma(t5, t8, acc15);
                                        const float16 t9 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 784)));
                                        acc16 = fma(t1, t9, acc16);
                                        acc17 = fma(t3, t9, acc17);
                                        acc18 = fma(t4, t9, acc18);
                                        acc19 = fma(t5, t9, acc19);
                                        const float16 t10 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 980)));
                                        acc20 = fma(t1, t10, acc20);
                                        acc21 = fma(t3, t10, acc21);
                                        acc22 = fma(t4, t10, acc22);
                                        acc23 = fma(t5, t10, acc23);
                                        const float16 t11 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6 + 1)));
                                        const float16 t12 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 1)));
                                        acc0 = fma(t11, t12, acc0);
                                        const float16 t13 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6 + 197)));
                                        acc1 = fma(t13, t12, acc1);
                                        const float16 t14 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6 + 393)));
                                        acc2 = fma(t14, t12, acc2);
                                        const float16 t15 = (TARN_LOAD(__local, float, v1 + 16 * (196 * i1 + 14 * i5 + i6 + 589)));
                                        acc3 = fma(t15, t12, acc3);
                                        const float16 t16 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 197)));
                                        acc4 = fma(t11, t16, acc4);
                                        acc5 = fma(t13, t16, acc5);
                                        acc6 = fma(t14, t16, acc6);
                                        acc7 = fma(t15, t16, acc7);
                                        const float16 t17 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 393)));
                                        acc8 = fma(t11, t17, acc8);
                                        acc9 = fma(t13, t17, acc9);
                                        acc10 = fma(t14, t17, acc10);
                                        acc11 = fma(t15, t17, acc11);
                                        const float16 t18 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 589)));
                                        acc12 = fma(t11, t18, acc12);
                                        acc13 = fma(t13, t18, acc13);
                                        acc14 = fma(t14, t18, acc14);
                                        acc15 = fma(t15, t18, acc15);
                                        const float16 t19 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 785)));
                                        acc16 = fma(t11, t19, acc16);
                                        acc17 = fma(t13, t19, acc17);
                                        acc18 = fma(t14, t19, acc18);
                                        acc19 = fma(t15, t19, acc19);
                                        const float16 t20 = (TARN_LOAD(__local, float, v2 + 16 * (196 * i0 + 14 * i5 + i6 + 981)));
                                        acc20 = fma(t11, t20, acc20);
                                        acc21 = fma(t13, t20, acc21);
                                        acc22 = fma(t14, t20, acc22);
                                        acc23 = fma(t15, t20, acc23);
                                    }
                                }
                                kept[at + 0] = acc0;
                                kept[at + 1] = acc1;
                                kept[at + 2] = acc2;
                                kept[at + 3] = acc3;
                                kept[at + 4] = acc4;
                                kept[at + 5] = acc5;
                                kept[at + 6] = acc6;
                                kept[at + 7] = acc7;
                                kept[at + 8] = acc8;
                                kept[at + 9] = acc9;
                                kept[at + 10] = acc10;
                                kept[at + 11] = acc11;
                                kept[at + 12] = acc12;
                                kept[at + 13] = acc13;
                                kept[at + 14] = acc14;
                                kept[at + 15] = acc15;
                                kept[at + 16] = acc16;
                                kept[at + 17] = acc17;
                                kept[at + 18] = acc18;
                                kept[at + 19] = acc19;
                                kept[at + 20] = acc20;
                                kept[at + 21] = acc21;
                                kept[at + 22] = acc22;
                                kept[at + 23] = acc23;
                                at += 24;
                            }
                        }
                    }
                }
                for (int k = 0; k < 192; k++) {
                    sums[k] += kept[k];
                    kept[k] = (float16)(0.0f);
                }
            }
            {
                long at = 0;
                #pragma unroll 1
                for (long i0 = p0; i0 < q0; i0 += 6) {
                    #pragma unroll 1
                    for (long i1 = p1; i1 < q1; i1 += 4) {
                        float16 acc0 = sums[at + 0];
                        float16 acc1 = sums[at + 1];
                        float16 acc2 = sums[at + 2];
                        float16 acc3 = sums[at + 3];
                        float16 acc4 = sums[at + 4];
                        float16 acc5 = sums[at + 5];
                        float16 acc6 = sums[at + 6];
                        float16 acc7 = sums[at + 7];
                        float16 acc8 = sums[at + 8];
                        float16 acc9 = sums[at + 9];
                        float16 acc10 = sums[at + 10];
                        float16 acc11 = sums[at + 11];
                        float16 acc12 = sums[at + 12];
                        float16 acc13 = sums[at + 13];
                        float16 acc14 = sums[at + 14];
                        float16 acc15 = sums[at + 15];
                        float16 acc16 = sums[at + 16];
                        float16 acc17 = sums[at + 17];
                        float16 acc18 = sums[at + 18];
                        float16 acc19 = sums[at + 19];
                        float16 acc20 = sums[at + 20];
                        float16 acc21 = sums[at + 21];
                        float16 acc22 = sums[at + 22];
                        float16 acc23 = sums[at + 23];
                        {
                            const float16 sums = tarn_sums(acc0, acc1, acc2, acc3, acc4, acc5, acc6, acc7, acc8, acc9, acc10, acc11, acc12, acc13, acc14, acc15);
                            __global float *row = v0 + 1536 * group;
                            vstore4(b > first ? sums.s0123 + vload4(0, row + 32 * i0 + i1) : sums.s0123, 0, row + 32 * i0 + i1);
                            vstore4(b > first ? sums.s4567 + vload4(0, row + 32 * i0 + i1 + 32) : sums.s4567, 0, row + 32 * i0 + i1 + 32);
                            vstore4(b > first ? sums.s89ab + vload4(0, row + 32 * i0 + i1 + 64) : sums.s89ab, 0, row + 32 * i0 + i1 + 64);
                            vstore4(b > first ? sums.scdef + vload4(0, row + 32 * i0 + i1 + 96) : sums.scdef, 0, row + 32 * i0 + i1 + 96);
                        }
                        {
                            const float16 sums = tarn_sums(acc16, acc17, acc18, acc19, acc20, acc21, acc22, acc23, acc16, acc16, acc16, acc16, acc16, acc16, acc16, acc16);
                            __global float *row = v0 + 1536 * group;
                            vstore4(b > first ? sums.s0123 + vload4(0, row + 32 * i0 + i1 + 128) : sums.s0123, 0, row + 32 * i0 + i1 + 128);
                            vstore4(b > first ? sums.s4567 + vload4(0, row + 32 * i0 + i1 + 160) : sums.s4567, 0, row + 32 * i0 + i1 + 160);
                        }
                        at += 24;
                    }
                }
            }
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_c2ffafcb3d737890(const int skip, __global uchar *input0, __global uchar *input1, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[15680];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [32,32,14,14] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,32,14,14] */
    __local float *v2 = (__local float *)((__local uchar *)scratch + 401408); /* [32,48,14,14] blocked */
    __global float *v3 = (__global float *)(input1); /* [32,48,14,14] */
    __global float *v4 = (__global float *)(arena + offset[0]); /* [2,1536] */
    /* input */
    if (section_group >= 0 && section_group < 2) {
        const long group = section_group - 0;
        const long first = group * 2 / 2, last = (group + 1) * 2 / 2;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [32 32 14 14] */
            nest_0e3d0cc67d859e8b(b, v0, v1);
            /* input [32 48 14 14] */
            nest_3745aa83e81a3945(b, v2, v3);
            /* conv2d_weight [48 32 1 1 | 32 14 14], one row a group */
            nest_65197fb7ecda85a0(group, b, first, v4, v0, v2);
        }
    }
}


/* conv2d_weight */
#ifndef TARN_nest_3778d96277546375
#define TARN_nest_3778d96277546375
TARN_APART void nest_3778d96277546375(__global float *v0, __global float *v1)
{
    long i0 = 0;
    #pragma unroll 1
    for (; i0 + 16 <= 1536; i0 += 16) {
        float16 acc0 = (float16)(0.0f);
        const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
        const float16 t2 = (TARN_LOAD(__global, float, v1 + i0 + 1536));
        const float16 t3 = t1 + t2;
        acc0 += t3;
        TARN_STORE(__global, float, acc0, v0 + i0);
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_14c8a3783fcd2ad1(const int skip, __global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [48,32,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1536] */
    /* conv2d_weight */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* conv2d_weight [1536 | 1] */
        nest_3778d96277546375(v0, v1);
    }
}


