/* k0: 4536 groups of 32; arena 0, at 0, input 0; at bytes 0 */
/* k1: 9248 groups of 32; arena 0, at 0, owned 0; at bytes 580608, 0, 0 */
/* k2: 578 groups of 32; output 0, arena 0, at 0, owned 1; at bytes 580608, 0 */
/* arena: 10050560 bytes */
/* input */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_66d51fb67b7d0b7f(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,7,36,36] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,7,36,36] */
    if (section_group >= 0 && section_group < 4536) {
        /* input [16 7 36 36] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 9072) {
            const int b = team / 9072;
            const int tile = team % 9072;
            const int i3 = tile % 36;
            const int i2 = tile / 36 % 36;
            const int i1 = tile / 1296;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 145152L * b + lane;
            const float t1 = v1[9072 * sample + 1296 * i1 + 36 * i2 + i3];
            b0[16 * (1296 * i1 + 36 * i2 + i3)] = t1;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_fc56dff6d4138ead(__global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,128,34,34] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [16,7,36,36] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[2]); /* [128,7,3,3] */
    if (section_group >= 0 && section_group < 9248) {
        /* conv2d [16 128 34 34 | 7 3 3] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 18496) {
            const int b = team % 1;
            const int tile = team / 1;
            const int i3 = tile % 17 * 2;
            const int i2 = tile / 17 % 34;
            const int i1 = tile / 578 * 4;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 2367488L * b + lane;
            __global float *b1 = v1 + 145152L * b + lane;
            float acc0 = (float)(0.0f);
            float acc1 = (float)(0.0f);
            float acc2 = (float)(0.0f);
            float acc3 = (float)(0.0f);
            float acc4 = (float)(0.0f);
            float acc5 = (float)(0.0f);
            float acc6 = (float)(0.0f);
            float acc7 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int i4 = 0; i4 < 7; i4 += 1) {
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int i5 = 0; i5 < 3; i5 += 1) {
                    const float t1 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5)];
                    const float t2 = v2[63 * i1 + 9 * i4 + 3 * i5];
                    const float t3 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 1)];
                    const float t4 = v2[63 * i1 + 9 * i4 + 3 * i5 + 63];
                    const float t5 = v2[63 * i1 + 9 * i4 + 3 * i5 + 126];
                    const float t6 = v2[63 * i1 + 9 * i4 + 3 * i5 + 189];
                    const float t7 = v2[63 * i1 + 9 * i4 + 3 * i5 + 1];
                    const float t8 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 2)];
                    const float t9 = v2[63 * i1 + 9 * i4 + 3 * i5 + 64];
                    const float t10 = v2[63 * i1 + 9 * i4 + 3 * i5 + 127];
                    const float t11 = v2[63 * i1 + 9 * i4 + 3 * i5 + 190];
                    const float t12 = v2[63 * i1 + 9 * i4 + 3 * i5 + 2];
                    const float t13 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 3)];
                    const float t14 = v2[63 * i1 + 9 * i4 + 3 * i5 + 65];
                    const float t15 = v2[63 * i1 + 9 * i4 + 3 * i5 + 128];
                    const float t16 = v2[63 * i1 + 9 * i4 + 3 * i5 + 191];
                    acc0 = fma(t1, t2, acc0);
                    acc1 = fma(t3, t2, acc1);
                    acc2 = fma(t1, t4, acc2);
                    acc3 = fma(t3, t4, acc3);
                    acc4 = fma(t1, t5, acc4);
                    acc5 = fma(t3, t5, acc5);
                    acc6 = fma(t1, t6, acc6);
                    acc7 = fma(t3, t6, acc7);
                    acc0 = fma(t3, t7, acc0);
                    acc1 = fma(t8, t7, acc1);
                    acc2 = fma(t3, t9, acc2);
                    acc3 = fma(t8, t9, acc3);
                    acc4 = fma(t3, t10, acc4);
                    acc5 = fma(t8, t10, acc5);
                    acc6 = fma(t3, t11, acc6);
                    acc7 = fma(t8, t11, acc7);
                    acc0 = fma(t8, t12, acc0);
                    acc1 = fma(t13, t12, acc1);
                    acc2 = fma(t8, t14, acc2);
                    acc3 = fma(t13, t14, acc3);
                    acc4 = fma(t8, t15, acc4);
                    acc5 = fma(t13, t15, acc5);
                    acc6 = fma(t8, t16, acc6);
                    acc7 = fma(t13, t16, acc7);
                }
            }
            const float t17 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            b0[16 * (1156 * i1 + 34 * i2 + i3)] = t17;
            const float t18 = TARN_SELECT_1(TARN_BOOL_1(acc1 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc1);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1)] = t18;
            const float t19 = TARN_SELECT_1(TARN_BOOL_1(acc2 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc2);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1156)] = t19;
            const float t20 = TARN_SELECT_1(TARN_BOOL_1(acc3 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc3);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1157)] = t20;
            const float t21 = TARN_SELECT_1(TARN_BOOL_1(acc4 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc4);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 2312)] = t21;
            const float t22 = TARN_SELECT_1(TARN_BOOL_1(acc5 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc5);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 2313)] = t22;
            const float t23 = TARN_SELECT_1(TARN_BOOL_1(acc6 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc6);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 3468)] = t23;
            const float t24 = TARN_SELECT_1(TARN_BOOL_1(acc7 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc7);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 3469)] = t24;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_9924655bba3dded9(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [16,7,34,34] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,128,34,34] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [7,128,3,3] */
    if (section_group >= 0 && section_group < 578) {
        /* conv2d [16 7 34 34 | 128 3 3] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 1156) {
            const int b = team % 1;
            const int tile = team / 1;
            const int i3 = tile % 34;
            const int i2 = tile / 34;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 2367488L * b + lane;
            float acc0 = (float)(0.0f);
            float acc1 = (float)(0.0f);
            float acc2 = (float)(0.0f);
            float acc3 = (float)(0.0f);
            float acc4 = (float)(0.0f);
            float acc5 = (float)(0.0f);
            float acc6 = (float)(0.0f);
            {
                float sum0_0 = (float)(0.0f);
                float sum0_1 = (float)(0.0f);
                float sum0_2 = (float)(0.0f);
                float sum0_3 = (float)(0.0f);
                float sum0_4 = (float)(0.0f);
                float sum0_5 = (float)(0.0f);
                float sum0_6 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut0 = 0; cut0 < 128; cut0 += 14) {
                    const int end0 = min(cut0 + 14, (int)128);
                    acc0 = (float)(0.0f);
                    acc1 = (float)(0.0f);
                    acc2 = (float)(0.0f);
                    acc3 = (float)(0.0f);
                    acc4 = (float)(0.0f);
                    acc5 = (float)(0.0f);
                    acc6 = (float)(0.0f);
                    #pragma unroll 1
                    #pragma clang loop vectorize(disable)
                    for (int i4 = cut0; i4 < end0; i4 += 1) {
                        #pragma unroll 1
                        #pragma clang loop vectorize(disable)
                        for (int i5 = max((int)0, -(int)(i2 - 1)); i5 < min((int)3, 34 - (int)(i2 - 1)); ++i5) {
                            if (((i3 + 1 <= 33)) && ((i3 - 1 >= 0))) {
                                const float t1 = b1[16 * (34 * i2 + i3 + 1156 * i4 + 34 * i5 - 35)];
                                const float t2 = v2[9 * i4 + 3 * i5];
                                const float t3 = v2[9 * i4 + 3 * i5 + 1152];
                                const float t4 = v2[9 * i4 + 3 * i5 + 2304];
                                const float t5 = v2[9 * i4 + 3 * i5 + 3456];
                                const float t6 = v2[9 * i4 + 3 * i5 + 4608];
                                const float t7 = v2[9 * i4 + 3 * i5 + 5760];
                                const float t8 = v2[9 * i4 + 3 * i5 + 6912];
                                const float t9 = b1[16 * (34 * i2 + i3 + 1156 * i4 + 34 * i5 - 34)];
                                const float t10 = v2[9 * i4 + 3 * i5 + 1];
                                const float t11 = v2[9 * i4 + 3 * i5 + 1153];
                                const float t12 = v2[9 * i4 + 3 * i5 + 2305];
                                const float t13 = v2[9 * i4 + 3 * i5 + 3457];
                                const float t14 = v2[9 * i4 + 3 * i5 + 4609];
                                const float t15 = v2[9 * i4 + 3 * i5 + 5761];
                                const float t16 = v2[9 * i4 + 3 * i5 + 6913];
                                const float t17 = b1[16 * (34 * i2 + i3 + 1156 * i4 + 34 * i5 - 33)];
                                const float t18 = v2[9 * i4 + 3 * i5 + 2];
                                const float t19 = v2[9 * i4 + 3 * i5 + 1154];
                                const float t20 = v2[9 * i4 + 3 * i5 + 2306];
                                const float t21 = v2[9 * i4 + 3 * i5 + 3458];
                                const float t22 = v2[9 * i4 + 3 * i5 + 4610];
                                const float t23 = v2[9 * i4 + 3 * i5 + 5762];
                                const float t24 = v2[9 * i4 + 3 * i5 + 6914];
                                acc0 = fma(t1, t2, acc0);
                                acc1 = fma(t1, t3, acc1);
                                acc2 = fma(t1, t4, acc2);
                                acc3 = fma(t1, t5, acc3);
                                acc4 = fma(t1, t6, acc4);
                                acc5 = fma(t1, t7, acc5);
                                acc6 = fma(t1, t8, acc6);
                                acc0 = fma(t9, t10, acc0);
                                acc1 = fma(t9, t11, acc1);
                                acc2 = fma(t9, t12, acc2);
                                acc3 = fma(t9, t13, acc3);
                                acc4 = fma(t9, t14, acc4);
                                acc5 = fma(t9, t15, acc5);
                                acc6 = fma(t9, t16, acc6);
                                acc0 = fma(t17, t18, acc0);
                                acc1 = fma(t17, t19, acc1);
                                acc2 = fma(t17, t20, acc2);
                                acc3 = fma(t17, t21, acc3);
                                acc4 = fma(t17, t22, acc4);
                                acc5 = fma(t17, t23, acc5);
                                acc6 = fma(t17, t24, acc6);
                            } else {
                                const float t25 = b1[16 * (34 * i2 + i3 + 1156 * i4 + 34 * i5 - 34)];
                                const float t26 = v2[9 * i4 + 3 * i5 + 1];
                                const float t27 = v2[9 * i4 + 3 * i5 + 1153];
                                const float t28 = v2[9 * i4 + 3 * i5 + 2305];
                                const float t29 = v2[9 * i4 + 3 * i5 + 3457];
                                const float t30 = v2[9 * i4 + 3 * i5 + 4609];
                                const float t31 = v2[9 * i4 + 3 * i5 + 5761];
                                const float t32 = v2[9 * i4 + 3 * i5 + 6913];
                                if (((i3 - 1 >= 0))) {
                                    const float t33 = b1[16 * (34 * i2 + i3 + 1156 * i4 + 34 * i5 - 35)];
                                    const float t34 = v2[9 * i4 + 3 * i5];
                                    acc0 = fma(t33, t34, acc0);
                                    const float t35 = v2[9 * i4 + 3 * i5 + 1152];
                                    acc1 = fma(t33, t35, acc1);
                                    const float t36 = v2[9 * i4 + 3 * i5 + 2304];
                                    acc2 = fma(t33, t36, acc2);
                                    const float t37 = v2[9 * i4 + 3 * i5 + 3456];
                                    acc3 = fma(t33, t37, acc3);
                                    const float t38 = v2[9 * i4 + 3 * i5 + 4608];
                                    acc4 = fma(t33, t38, acc4);
                                    const float t39 = v2[9 * i4 + 3 * i5 + 5760];
                                    acc5 = fma(t33, t39, acc5);
                                    const float t40 = v2[9 * i4 + 3 * i5 + 6912];
                                    acc6 = fma(t33, t40, acc6);
                                }
                                acc0 = fma(t25, t26, acc0);
                                acc1 = fma(t25, t27, acc1);
                                acc2 = fma(t25, t28, acc2);
                                acc3 = fma(t25, t29, acc3);
                                acc4 = fma(t25, t30, acc4);
                                acc5 = fma(t25, t31, acc5);
                                acc6 = fma(t25, t32, acc6);
                                if (((i3 + 1 <= 33))) {
                                    const float t41 = b1[16 * (34 * i2 + i3 + 1156 * i4 + 34 * i5 - 33)];
                                    const float t42 = v2[9 * i4 + 3 * i5 + 2];
                                    acc0 = fma(t41, t42, acc0);
                                    const float t43 = v2[9 * i4 + 3 * i5 + 1154];
                                    acc1 = fma(t41, t43, acc1);
                                    const float t44 = v2[9 * i4 + 3 * i5 + 2306];
                                    acc2 = fma(t41, t44, acc2);
                                    const float t45 = v2[9 * i4 + 3 * i5 + 3458];
                                    acc3 = fma(t41, t45, acc3);
                                    const float t46 = v2[9 * i4 + 3 * i5 + 4610];
                                    acc4 = fma(t41, t46, acc4);
                                    const float t47 = v2[9 * i4 + 3 * i5 + 5762];
                                    acc5 = fma(t41, t47, acc5);
                                    const float t48 = v2[9 * i4 + 3 * i5 + 6914];
                                    acc6 = fma(t41, t48, acc6);
                                }
                            }
                        }
                    }
                    sum0_0 += acc0;
                    sum0_1 += acc1;
                    sum0_2 += acc2;
                    sum0_3 += acc3;
                    sum0_4 += acc4;
                    sum0_5 += acc5;
                    sum0_6 += acc6;
                }
                acc0 = sum0_0;
                acc1 = sum0_1;
                acc2 = sum0_2;
                acc3 = sum0_3;
                acc4 = sum0_4;
                acc5 = sum0_5;
                acc6 = sum0_6;
            }
            v0[8092 * sample + 34 * i2 + i3] = acc0;
            v0[8092 * sample + 34 * i2 + i3 + 1156] = acc1;
            v0[8092 * sample + 34 * i2 + i3 + 2312] = acc2;
            v0[8092 * sample + 34 * i2 + i3 + 3468] = acc3;
            v0[8092 * sample + 34 * i2 + i3 + 4624] = acc4;
            v0[8092 * sample + 34 * i2 + i3 + 5780] = acc5;
            v0[8092 * sample + 34 * i2 + i3 + 6936] = acc6;
        }
    }
}


