/* k0: 54 groups of 32; arena 0, at 0, input 0; at bytes 0 */
/* k1: 18 groups of 32; output 0, arena 0, at 0, owned 0; at bytes 0, 0 */
/* arena: 6912 bytes */
/* input */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_a7fd6179740af536(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,3,6,6] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,3,6,6] */
    if (section_group >= 0 && section_group < 54) {
        /* input [16 3 6 6] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 108) {
            const int b = team / 108;
            const int tile = team % 108;
            const int i3 = tile % 6;
            const int i2 = tile / 6 % 6;
            const int i1 = tile / 36;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 1728L * b + lane;
            const float t1 = v1[108 * sample + 36 * i1 + 6 * i2 + i3];
            b0[16 * (36 * i1 + 6 * i2 + i3)] = t1;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_9c7856e3cb260087(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[216] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(output0); /* [16,4,6,6] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,3,6,6] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [4,3,3,3] */
    {
        /* conv2d [16 4 6 6 | 3 3 3] */
        const bool mine = section_group >= 0 && section_group < 18;
        const int group = mine ? section_group - 0 : 0;
        const int from0 = 0 * 16;
        const int b = from0 / 16 + item % 16 / 16;
        const int sample = 16 * b + lane;
        __global float *b1 = v1 + 1728L * b + lane;
        const int i3 = group % 3 * 2;
        const int from2 = group / 3 % 3 * 2;
        const int i2 = from2 + item / 16 * 1;
        const int i1 = group / 9 % 2 * 2;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0;
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        float acc3 = (float)(0.0f);
        #pragma nounroll
        #pragma clang loop vectorize(disable)
        for (int cut8 = 0; cut8 < 3; cut8 += 3) {
            const int end8 = cut8 + 3;
            if (mine) {
                const int e0_0 = item + 0;
                const int toe0_0 = 8 * (e0_0 % 3) + 24 * (e0_0 / 3 % 3) + 72 * (e0_0 / 9 % 3) + 2 * (0);
                const float ce0_0_0 = e0_0 < 27 ? v2[(27 * (i1 + 2 * (0)) + 9 * (cut8 + e0_0 / 9 % 3) + 3 * (0 + e0_0 / 3 % 3) + (0 + e0_0 % 3))] : 0;
                const float ce0_0_1 = e0_0 < 27 ? v2[(27 * (i1 + 2 * (0)) + 9 * (cut8 + e0_0 / 9 % 3) + 3 * (0 + e0_0 / 3 % 3) + (0 + e0_0 % 3) + 27)] : 0;
                if (e0_0 < 27) {
                    panel0[toe0_0 + 0] = ce0_0_0;
                    panel0[toe0_0 + 1] = ce0_0_1;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (mine) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i4 = cut8; i4 < end8; i4 += 1) {
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (int i5 = max((int)0, -(int)(i2 - 1)); i5 < min((int)3, 6 - (int)(i2 - 1)); ++i5) {
                        if (((i3 + 2 <= 5)) && ((i3 - 1 >= 0))) {
                            const float t1 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 7)];
                            const float t2 = own0[72 * (i4 - cut8) + 24 * i5];
                            const float t3 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 6)];
                            const float t4 = own0[72 * (i4 - cut8) + 24 * i5 + 1];
                            const float t5 = own0[72 * (i4 - cut8) + 24 * i5 + 8];
                            const float t6 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 5)];
                            const float t7 = own0[72 * (i4 - cut8) + 24 * i5 + 9];
                            const float t8 = own0[72 * (i4 - cut8) + 24 * i5 + 16];
                            const float t9 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 4)];
                            const float t10 = own0[72 * (i4 - cut8) + 24 * i5 + 17];
                            acc0 = fma(t1, t2, acc0);
                            acc1 = fma(t3, t2, acc1);
                            acc2 = fma(t1, t4, acc2);
                            acc3 = fma(t3, t4, acc3);
                            acc0 = fma(t3, t5, acc0);
                            acc1 = fma(t6, t5, acc1);
                            acc2 = fma(t3, t7, acc2);
                            acc3 = fma(t6, t7, acc3);
                            acc0 = fma(t6, t8, acc0);
                            acc1 = fma(t9, t8, acc1);
                            acc2 = fma(t6, t10, acc2);
                            acc3 = fma(t9, t10, acc3);
                        } else {
                            const float t11 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 6)];
                            const float t12 = own0[72 * (i4 - cut8) + 24 * i5];
                            const float t13 = own0[72 * (i4 - cut8) + 24 * i5 + 1];
                            const float t14 = own0[72 * (i4 - cut8) + 24 * i5 + 8];
                            const float t15 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 5)];
                            const float t16 = own0[72 * (i4 - cut8) + 24 * i5 + 9];
                            const float t17 = own0[72 * (i4 - cut8) + 24 * i5 + 16];
                            const float t18 = own0[72 * (i4 - cut8) + 24 * i5 + 17];
                            if (((i3 - 1 >= 0))) {
                                const float t19 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 7)];
                                acc0 = fma(t19, t12, acc0);
                                acc2 = fma(t19, t13, acc2);
                            }
                            acc1 = fma(t11, t12, acc1);
                            acc3 = fma(t11, t13, acc3);
                            acc0 = fma(t11, t14, acc0);
                            acc1 = fma(t15, t14, acc1);
                            acc2 = fma(t11, t16, acc2);
                            acc3 = fma(t15, t16, acc3);
                            acc0 = fma(t15, t17, acc0);
                            if (((i3 + 2 <= 5))) {
                                const float t20 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 4)];
                                acc1 = fma(t20, t17, acc1);
                                acc3 = fma(t20, t18, acc3);
                            }
                            acc2 = fma(t15, t18, acc2);
                        }
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (mine) {
            const float t21 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            v0[144 * sample + 36 * i1 + 6 * i2 + i3] = t21;
            const float t22 = TARN_SELECT_1(TARN_BOOL_1(acc1 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc1);
            v0[144 * sample + 36 * i1 + 6 * i2 + i3 + 1] = t22;
            const float t23 = TARN_SELECT_1(TARN_BOOL_1(acc2 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc2);
            v0[144 * sample + 36 * i1 + 6 * i2 + i3 + 36] = t23;
            const float t24 = TARN_SELECT_1(TARN_BOOL_1(acc3 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc3);
            v0[144 * sample + 36 * i1 + 6 * i2 + i3 + 37] = t24;
        }
    }
}


