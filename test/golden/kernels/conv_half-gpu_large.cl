/* k0: 12 groups of 256; arena 0, at 0, input 0, owned 0; at bytes 0, 5248, 0 */
/* k1: 12 groups of 256; arena 0, at 0, output 0, output 1; at bytes 5632, 0, 5248 */
/* arena: 15232 bytes */
/* cast cast */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_3d2bf8a8c7664abd(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global ushort *v0 = (__global ushort *)(arena + offset[0]); /* [32,1,9,9] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,1,9,9] */
    __global ushort *v2 = (__global ushort *)(arena + offset[1]); /* [6,1,5,5] */
    __global float *v3 = (__global float *)(owned0 + offset[2]); /* [6,1,5,5] */
    if (section_group >= 0 && section_group < 11) {
        /* cast [32 1 9 9] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
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
    if (section_group >= 11 && section_group < 12) {
        /* cast [150] */
        const int group = section_group - 11;
        const int number = group * 256 + item;
        if (number < 150) {
            const int i0 = number % 150;
            const int tile = number / 150;
            const float t3 = v3[i0];
            const int t4 = TARN_TO_BF16_1(t3);
            v2[i0] = t4;
        }
    }
}


/* conv2d max_first argmax */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_05ffb12057974a4d(__global uchar *arena, __global const ulong *offset, __global uchar *output0, __global uchar *output1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global ushort *v0 = (__global ushort *)(arena + offset[0]); /* [32,6,5,5] blocked */
    __global ushort *v1 = (__global ushort *)(arena + offset[1]); /* [32,1,9,9] blocked */
    __global ushort *v2 = (__global ushort *)(arena + offset[2]); /* [6,1,5,5] */
    __global ushort *v3 = (__global ushort *)(output0); /* [32,6,5,1] */
    __global int *v4 = (__global int *)(output1); /* [32,6,5,1] */
    if (section_group >= 0 && section_group < 12) {
        /* conv2d [32 6 5 5 | 1 5 5] */
        const int group = section_group - 0;
        const int b = group / 6, part = group % 6;
        #pragma unroll 1
        for (int tile = item / 16; tile < 25; tile += 16) {
            const int i3 = tile % 5;
            const int i2 = tile / 5;
            const int i1 = 1 * part + 0;
            const int sample = 16 * b + lane;
            __global ushort *b0 = v0 + 2400L * b + lane;
            __global ushort *b1 = v1 + 1296L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma unroll 4
            #pragma clang loop vectorize(disable)
            for (int i5 = 0; i5 < 5; i5 += 1) {
                const int t1 = b1[16 * (9 * i2 + i3 + 9 * i5)];
                const float t2 = TARN_FROM_BF16_1(t1);
                const int t3 = v2[25 * i1 + 5 * i5];
                const float t4 = TARN_FROM_BF16_1(t3);
                const int t5 = b1[16 * (9 * i2 + i3 + 9 * i5 + 1)];
                const float t6 = TARN_FROM_BF16_1(t5);
                const int t7 = v2[25 * i1 + 5 * i5 + 1];
                const float t8 = TARN_FROM_BF16_1(t7);
                const int t9 = b1[16 * (9 * i2 + i3 + 9 * i5 + 2)];
                const float t10 = TARN_FROM_BF16_1(t9);
                const int t11 = v2[25 * i1 + 5 * i5 + 2];
                const float t12 = TARN_FROM_BF16_1(t11);
                const int t13 = b1[16 * (9 * i2 + i3 + 9 * i5 + 3)];
                const float t14 = TARN_FROM_BF16_1(t13);
                const int t15 = v2[25 * i1 + 5 * i5 + 3];
                const float t16 = TARN_FROM_BF16_1(t15);
                const int t17 = b1[16 * (9 * i2 + i3 + 9 * i5 + 4)];
                const float t18 = TARN_FROM_BF16_1(t17);
                const int t19 = v2[25 * i1 + 5 * i5 + 4];
                const float t20 = TARN_FROM_BF16_1(t19);
                acc0 = fma(t2, t4, acc0);
                acc0 = fma(t6, t8, acc0);
                acc0 = fma(t10, t12, acc0);
                acc0 = fma(t14, t16, acc0);
                acc0 = fma(t18, t20, acc0);
            }
            const int t21 = TARN_TO_BF16_1(acc0);
            b0[16 * (25 * i1 + 5 * i2 + i3)] = t21;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 12) {
        /* max_first [32 6 5 | 5] */
        const int group = section_group - 0;
        const int b = group / 6, part = group % 6;
        #pragma unroll 1
        for (int tile = item / 16; tile < 5; tile += 16) {
            const int i2 = tile;
            const int i1 = 1 * part + 0;
            const int sample = 16 * b + lane;
            __global ushort *b0 = v0 + 2400L * b + lane;
            float acc0 = (float)(-INFINITY);
            const int t22 = b0[16 * (25 * i1 + 5 * i2)];
            const float t23 = TARN_FROM_BF16_1(t22);
            const int t24 = b0[16 * (25 * i1 + 5 * i2 + 1)];
            const float t25 = TARN_FROM_BF16_1(t24);
            const int t26 = b0[16 * (25 * i1 + 5 * i2 + 2)];
            const float t27 = TARN_FROM_BF16_1(t26);
            const int t28 = b0[16 * (25 * i1 + 5 * i2 + 3)];
            const float t29 = TARN_FROM_BF16_1(t28);
            const int t30 = b0[16 * (25 * i1 + 5 * i2 + 4)];
            const float t31 = TARN_FROM_BF16_1(t30);
            acc0 = TARN_MAX_1(t23, acc0);
            acc0 = TARN_MAX_1(t25, acc0);
            acc0 = TARN_MAX_1(t27, acc0);
            acc0 = TARN_MAX_1(t29, acc0);
            acc0 = TARN_MAX_1(t31, acc0);
            const int t32 = TARN_TO_BF16_1(acc0);
            v3[30 * sample + 5 * i1 + i2] = t32;
        }
    }
    if (section_group >= 0 && section_group < 12) {
        /* argmax [32 6 5 | 5] */
        const int group = section_group - 0;
        const int b = group / 6, part = group % 6;
        #pragma unroll 1
        for (int tile = item / 16; tile < 5; tile += 16) {
            const int i2 = tile;
            const int i1 = 1 * part + 0;
            const int sample = 16 * b + lane;
            __global ushort *b0 = v0 + 2400L * b + lane;
            float best0 = (float)(-INFINITY);
            int acc0 = (int)(0);
            const int t33 = b0[16 * (25 * i1 + 5 * i2)];
            const float t34 = TARN_FROM_BF16_1(t33);
            const int t35 = b0[16 * (25 * i1 + 5 * i2 + 1)];
            const float t36 = TARN_FROM_BF16_1(t35);
            const int t37 = b0[16 * (25 * i1 + 5 * i2 + 2)];
            const float t38 = TARN_FROM_BF16_1(t37);
            const int t39 = b0[16 * (25 * i1 + 5 * i2 + 3)];
            const float t40 = TARN_FROM_BF16_1(t39);
            const int t41 = b0[16 * (25 * i1 + 5 * i2 + 4)];
            const float t42 = TARN_FROM_BF16_1(t41);
            {
                const int better = TARN_BETTER_1(t34, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(0)), acc0);
                best0 = TARN_SELECT_1(better, t34, best0);
            }
            {
                const int better = TARN_BETTER_1(t36, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(1)), acc0);
                best0 = TARN_SELECT_1(better, t36, best0);
            }
            {
                const int better = TARN_BETTER_1(t38, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(2)), acc0);
                best0 = TARN_SELECT_1(better, t38, best0);
            }
            {
                const int better = TARN_BETTER_1(t40, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(3)), acc0);
                best0 = TARN_SELECT_1(better, t40, best0);
            }
            {
                const int better = TARN_BETTER_1(t42, best0);
                acc0 = TARN_SELECT_1(better, (int)((int)(4)), acc0);
                best0 = TARN_SELECT_1(better, t42, best0);
            }
            v4[30 * sample + 5 * i1 + i2] = acc0;
        }
    }
}


