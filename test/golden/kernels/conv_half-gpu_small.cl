/* k0: 86 groups of 32; arena 0, at 0, input 0, owned 0; at bytes 0, 5248, 0 */
/* k1: 15 groups of 32; arena 0, at 0; at bytes 5632, 0, 5248 */
/* k2: 60 groups of 32; output 0, arena 0, at 0, output 1; at bytes 5632 */
/* arena: 15232 bytes */
/* cast cast */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_94a051cf06e6d5f6(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global ushort *v0 = (__global ushort *)(arena + offset[0]); /* [32,1,9,9] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,1,9,9] */
    __global ushort *v2 = (__global ushort *)(arena + offset[1]); /* [6,1,5,5] */
    __global float *v3 = (__global float *)(owned0 + offset[2]); /* [6,1,5,5] */
    if (section_group >= 0 && section_group < 81) {
        /* cast [32 1 9 9] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 162) {
            const int b = team / 81;
            const int tile = team % 81;
            const int i3 = tile % 9;
            const int i2 = tile / 9;
            const int sample = 16 * b + lane;
            __global ushort *b0 = v0 + 1296L * b + lane;
            const float t1 = v1[81 * sample + 9 * i2 + i3];
            const int t2 = TARN_TO_BF16_1(t1);
            b0[16 * (9 * i2 + i3)] = t2;
        }
    }
    if (section_group >= 81 && section_group < 86) {
        /* cast [150] */
        const int group = section_group - 81;
        const int number = group * 32 + item;
        if (number < 150) {
            const int i0 = number % 150;
            const int tile = number / 150;
            const float t3 = v3[i0];
            const int t4 = TARN_TO_BF16_1(t3);
            v2[i0] = t4;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_deaf7b3b84077a79(__global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[200] __attribute__((aligned(16)));
    __global ushort *v0 = (__global ushort *)(arena + offset[0]); /* [32,6,5,5] blocked */
    __global ushort *v1 = (__global ushort *)(arena + offset[1]); /* [32,1,9,9] blocked */
    __global ushort *v2 = (__global ushort *)(arena + offset[2]); /* [6,1,5,5] */
    {
        /* conv2d [32 6 5 5 | 1 5 5] */
        const bool mine = section_group >= 0 && section_group < 15;
        const int group = mine ? section_group - 0 : 0;
        const int from0 = 0 * 32;
        const int b = from0 / 16 + item % 32 / 16;
        const int sample = 16 * b + lane;
        __global ushort *b0 = v0 + 2400L * b + lane;
        __global ushort *b1 = v1 + 1296L * b + lane;
        const int i3 = 0 * 5;
        const int i2 = group % 5 * 1;
        const int i1 = group / 5 % 3 * 2;
        __local ushort *panel0 = (__local ushort *)(exchange + 0);
        __local const ushort *own0 = panel0;
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        float acc3 = (float)(0.0f);
        float acc4 = (float)(0.0f);
        float acc5 = (float)(0.0f);
        float acc6 = (float)(0.0f);
        float acc7 = (float)(0.0f);
        float acc8 = (float)(0.0f);
        float acc9 = (float)(0.0f);
        #pragma nounroll
        #pragma clang loop vectorize(disable)
        for (int cut8 = 0; cut8 < 1; cut8 += 1) {
            const int end8 = cut8 + 1;
            if (mine) {
                const int e0_0 = item + 0;
                const int toe0_0 = 8 * (e0_0 % 5) + 40 * (e0_0 / 5 % 5) + 2 * (0) + 200 * (0);
                const ushort ce0_0_0 = e0_0 < 25 ? v2[(25 * (i1 + 2 * (0)) + 25 * (cut8 + 0) + 5 * (0 + e0_0 / 5 % 5) + (0 + e0_0 % 5))] : 0;
                const ushort ce0_0_1 = e0_0 < 25 ? v2[(25 * (i1 + 2 * (0)) + 25 * (cut8 + 0) + 5 * (0 + e0_0 / 5 % 5) + (0 + e0_0 % 5) + 25)] : 0;
                if (e0_0 < 25) {
                    panel0[toe0_0 + 0] = ce0_0_0;
                    panel0[toe0_0 + 1] = ce0_0_1;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (mine) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i5 = 0; i5 < 5; i5 += 1) {
                    const int t1 = b1[16 * (9 * i2 + i3 + 9 * i5)];
                    const float t2 = TARN_FROM_BF16_1(t1);
                    const int t3 = own0[40 * i5];
                    const float t4 = TARN_FROM_BF16_1(t3);
                    const int t5 = b1[16 * (9 * i2 + i3 + 9 * i5 + 1)];
                    const float t6 = TARN_FROM_BF16_1(t5);
                    const int t7 = b1[16 * (9 * i2 + i3 + 9 * i5 + 2)];
                    const float t8 = TARN_FROM_BF16_1(t7);
                    const int t9 = b1[16 * (9 * i2 + i3 + 9 * i5 + 3)];
                    const float t10 = TARN_FROM_BF16_1(t9);
                    const int t11 = b1[16 * (9 * i2 + i3 + 9 * i5 + 4)];
                    const float t12 = TARN_FROM_BF16_1(t11);
                    const int t13 = own0[40 * i5 + 1];
                    const float t14 = TARN_FROM_BF16_1(t13);
                    const int t15 = own0[40 * i5 + 8];
                    const float t16 = TARN_FROM_BF16_1(t15);
                    const int t17 = b1[16 * (9 * i2 + i3 + 9 * i5 + 5)];
                    const float t18 = TARN_FROM_BF16_1(t17);
                    const int t19 = own0[40 * i5 + 9];
                    const float t20 = TARN_FROM_BF16_1(t19);
                    const int t21 = own0[40 * i5 + 16];
                    const float t22 = TARN_FROM_BF16_1(t21);
                    const int t23 = b1[16 * (9 * i2 + i3 + 9 * i5 + 6)];
                    const float t24 = TARN_FROM_BF16_1(t23);
                    const int t25 = own0[40 * i5 + 17];
                    const float t26 = TARN_FROM_BF16_1(t25);
                    const int t27 = own0[40 * i5 + 24];
                    const float t28 = TARN_FROM_BF16_1(t27);
                    const int t29 = b1[16 * (9 * i2 + i3 + 9 * i5 + 7)];
                    const float t30 = TARN_FROM_BF16_1(t29);
                    const int t31 = own0[40 * i5 + 25];
                    const float t32 = TARN_FROM_BF16_1(t31);
                    const int t33 = own0[40 * i5 + 32];
                    const float t34 = TARN_FROM_BF16_1(t33);
                    const int t35 = b1[16 * (9 * i2 + i3 + 9 * i5 + 8)];
                    const float t36 = TARN_FROM_BF16_1(t35);
                    const int t37 = own0[40 * i5 + 33];
                    const float t38 = TARN_FROM_BF16_1(t37);
                    acc0 = fma(t2, t4, acc0);
                    acc1 = fma(t6, t4, acc1);
                    acc2 = fma(t8, t4, acc2);
                    acc3 = fma(t10, t4, acc3);
                    acc4 = fma(t12, t4, acc4);
                    acc5 = fma(t2, t14, acc5);
                    acc6 = fma(t6, t14, acc6);
                    acc7 = fma(t8, t14, acc7);
                    acc8 = fma(t10, t14, acc8);
                    acc9 = fma(t12, t14, acc9);
                    acc0 = fma(t6, t16, acc0);
                    acc1 = fma(t8, t16, acc1);
                    acc2 = fma(t10, t16, acc2);
                    acc3 = fma(t12, t16, acc3);
                    acc4 = fma(t18, t16, acc4);
                    acc5 = fma(t6, t20, acc5);
                    acc6 = fma(t8, t20, acc6);
                    acc7 = fma(t10, t20, acc7);
                    acc8 = fma(t12, t20, acc8);
                    acc9 = fma(t18, t20, acc9);
                    acc0 = fma(t8, t22, acc0);
                    acc1 = fma(t10, t22, acc1);
                    acc2 = fma(t12, t22, acc2);
                    acc3 = fma(t18, t22, acc3);
                    acc4 = fma(t24, t22, acc4);
                    acc5 = fma(t8, t26, acc5);
                    acc6 = fma(t10, t26, acc6);
                    acc7 = fma(t12, t26, acc7);
                    acc8 = fma(t18, t26, acc8);
                    acc9 = fma(t24, t26, acc9);
                    acc0 = fma(t10, t28, acc0);
                    acc1 = fma(t12, t28, acc1);
                    acc2 = fma(t18, t28, acc2);
                    acc3 = fma(t24, t28, acc3);
                    acc4 = fma(t30, t28, acc4);
                    acc5 = fma(t10, t32, acc5);
                    acc6 = fma(t12, t32, acc6);
                    acc7 = fma(t18, t32, acc7);
                    acc8 = fma(t24, t32, acc8);
                    acc9 = fma(t30, t32, acc9);
                    acc0 = fma(t12, t34, acc0);
                    acc1 = fma(t18, t34, acc1);
                    acc2 = fma(t24, t34, acc2);
                    acc3 = fma(t30, t34, acc3);
                    acc4 = fma(t36, t34, acc4);
                    acc5 = fma(t12, t38, acc5);
                    acc6 = fma(t18, t38, acc6);
                    acc7 = fma(t24, t38, acc7);
                    acc8 = fma(t30, t38, acc8);
                    acc9 = fma(t36, t38, acc9);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (mine) {
            const int t39 = TARN_TO_BF16_1(acc0);
            b0[16 * (25 * i1 + 5 * i2 + i3)] = t39;
            const int t40 = TARN_TO_BF16_1(acc1);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 1)] = t40;
            const int t41 = TARN_TO_BF16_1(acc2);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 2)] = t41;
            const int t42 = TARN_TO_BF16_1(acc3);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 3)] = t42;
            const int t43 = TARN_TO_BF16_1(acc4);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 4)] = t43;
            const int t44 = TARN_TO_BF16_1(acc5);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 25)] = t44;
            const int t45 = TARN_TO_BF16_1(acc6);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 26)] = t45;
            const int t46 = TARN_TO_BF16_1(acc7);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 27)] = t46;
            const int t47 = TARN_TO_BF16_1(acc8);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 28)] = t47;
            const int t48 = TARN_TO_BF16_1(acc9);
            b0[16 * (25 * i1 + 5 * i2 + i3 + 29)] = t48;
        }
    }
}


/* max_first argmax */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_56cb4a7b4da4e4de(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *output1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global ushort *v0 = (__global ushort *)(output0); /* [32,6,5,1] */
    __global ushort *v1 = (__global ushort *)(arena + offset[0]); /* [32,6,5,5] blocked */
    __global int *v2 = (__global int *)(output1); /* [32,6,5,1] */
    if (section_group >= 0 && section_group < 30) {
        /* max_first [32 6 5 | 5] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 60) {
            const int b = team / 30;
            const int tile = team % 30;
            const int i2 = tile % 5;
            const int i1 = tile / 5;
            const int sample = 16 * b + lane;
            __global ushort *b1 = v1 + 2400L * b + lane;
            float acc0 = (float)(-INFINITY);
            const int t1 = b1[16 * (25 * i1 + 5 * i2)];
            const float t2 = TARN_FROM_BF16_1(t1);
            const int t3 = b1[16 * (25 * i1 + 5 * i2 + 1)];
            const float t4 = TARN_FROM_BF16_1(t3);
            const int t5 = b1[16 * (25 * i1 + 5 * i2 + 2)];
            const float t6 = TARN_FROM_BF16_1(t5);
            const int t7 = b1[16 * (25 * i1 + 5 * i2 + 3)];
            const float t8 = TARN_FROM_BF16_1(t7);
            const int t9 = b1[16 * (25 * i1 + 5 * i2 + 4)];
            const float t10 = TARN_FROM_BF16_1(t9);
            acc0 = TARN_MAX_1(t2, acc0);
            acc0 = TARN_MAX_1(t4, acc0);
            acc0 = TARN_MAX_1(t6, acc0);
            acc0 = TARN_MAX_1(t8, acc0);
            acc0 = TARN_MAX_1(t10, acc0);
            const int t11 = TARN_TO_BF16_1(acc0);
            v0[30 * sample + 5 * i1 + i2] = t11;
        }
    }
    if (section_group >= 30 && section_group < 60) {
        /* argmax [32 6 5 | 5] */
        const int group = section_group - 30;
        const int team = group * 2 + item / 16;
        if (team < 60) {
            const int b = team / 30;
            const int tile = team % 30;
            const int i2 = tile % 5;
            const int i1 = tile / 5;
            const int sample = 16 * b + lane;
            __global ushort *b1 = v1 + 2400L * b + lane;
            float best0 = (float)(-INFINITY);
            int acc0 = (int)(0);
            const int t12 = b1[16 * (25 * i1 + 5 * i2)];
            const float t13 = TARN_FROM_BF16_1(t12);
            const int t14 = b1[16 * (25 * i1 + 5 * i2 + 1)];
            const float t15 = TARN_FROM_BF16_1(t14);
            const int t16 = b1[16 * (25 * i1 + 5 * i2 + 2)];
            const float t17 = TARN_FROM_BF16_1(t16);
            const int t18 = b1[16 * (25 * i1 + 5 * i2 + 3)];
            const float t19 = TARN_FROM_BF16_1(t18);
            const int t20 = b1[16 * (25 * i1 + 5 * i2 + 4)];
            const float t21 = TARN_FROM_BF16_1(t20);
            {
                const int better = TARN_BETTER_1(t13, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(0)), acc0);
                best0 = TARN_SELECT_1(better, t13, best0);
            }
            {
                const int better = TARN_BETTER_1(t15, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(1)), acc0);
                best0 = TARN_SELECT_1(better, t15, best0);
            }
            {
                const int better = TARN_BETTER_1(t17, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(2)), acc0);
                best0 = TARN_SELECT_1(better, t17, best0);
            }
            {
                const int better = TARN_BETTER_1(t19, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(3)), acc0);
                best0 = TARN_SELECT_1(better, t19, best0);
            }
            {
                const int better = TARN_BETTER_1(t21, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(4)), acc0);
                best0 = TARN_SELECT_1(better, t21, best0);
            }
            v2[30 * sample + 5 * i1 + i2] = acc0;
        }
    }
}


