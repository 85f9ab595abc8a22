/* k0: 567 groups of 256; arena 0, at 0, input 0; at bytes 0 */
/* k1: 578 groups of 256; arena 0, at 0, owned 0; at bytes 580608, 0, 0 */
/* k2: 362 groups of 256; arena 0, at 0, owned 1; at bytes 10050560, 580608, 0 */
/* k3: 506 groups of 256; output 0, arena 0, at 0; at bytes 10050560 */
/* arena: 15229440 bytes */
/* input */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_1a1a685d10c3360e(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,7,36,36] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,7,36,36] */
    if (section_group >= 0 && section_group < 567) {
        /* input [16 7 36 36] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
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
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_25ecfba4628c5ed0(__global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,128,34,34] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [16,7,36,36] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[2]); /* [128,7,3,3] */
    if (section_group >= 0 && section_group < 578) {
        /* conv2d [16 128 34 34 | 7 3 3] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 9248) {
            const int b = team % 1;
            const int tile = team / 1;
            const int i3 = tile % 17 * 2;
            const int i2 = tile / 17 % 34;
            const int i1 = tile / 578 * 8;
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
            float acc8 = (float)(0.0f);
            float acc9 = (float)(0.0f);
            float acc10 = (float)(0.0f);
            float acc11 = (float)(0.0f);
            float acc12 = (float)(0.0f);
            float acc13 = (float)(0.0f);
            float acc14 = (float)(0.0f);
            float acc15 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i4 = 0; i4 < 7; i4 += 1) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i5 = 0; i5 < 3; i5 += 1) {
                    const float t1 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5)];
                    const float t2 = v2[63 * i1 + 9 * i4 + 3 * i5];
                    const float t3 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 1)];
                    const float t4 = v2[63 * i1 + 9 * i4 + 3 * i5 + 63];
                    const float t5 = v2[63 * i1 + 9 * i4 + 3 * i5 + 126];
                    const float t6 = v2[63 * i1 + 9 * i4 + 3 * i5 + 189];
                    const float t7 = v2[63 * i1 + 9 * i4 + 3 * i5 + 252];
                    const float t8 = v2[63 * i1 + 9 * i4 + 3 * i5 + 315];
                    const float t9 = v2[63 * i1 + 9 * i4 + 3 * i5 + 378];
                    const float t10 = v2[63 * i1 + 9 * i4 + 3 * i5 + 441];
                    const float t11 = v2[63 * i1 + 9 * i4 + 3 * i5 + 1];
                    const float t12 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 2)];
                    const float t13 = v2[63 * i1 + 9 * i4 + 3 * i5 + 64];
                    const float t14 = v2[63 * i1 + 9 * i4 + 3 * i5 + 127];
                    const float t15 = v2[63 * i1 + 9 * i4 + 3 * i5 + 190];
                    const float t16 = v2[63 * i1 + 9 * i4 + 3 * i5 + 253];
                    const float t17 = v2[63 * i1 + 9 * i4 + 3 * i5 + 316];
                    const float t18 = v2[63 * i1 + 9 * i4 + 3 * i5 + 379];
                    const float t19 = v2[63 * i1 + 9 * i4 + 3 * i5 + 442];
                    const float t20 = v2[63 * i1 + 9 * i4 + 3 * i5 + 2];
                    const float t21 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 3)];
                    const float t22 = v2[63 * i1 + 9 * i4 + 3 * i5 + 65];
                    const float t23 = v2[63 * i1 + 9 * i4 + 3 * i5 + 128];
                    const float t24 = v2[63 * i1 + 9 * i4 + 3 * i5 + 191];
                    const float t25 = v2[63 * i1 + 9 * i4 + 3 * i5 + 254];
                    const float t26 = v2[63 * i1 + 9 * i4 + 3 * i5 + 317];
                    const float t27 = v2[63 * i1 + 9 * i4 + 3 * i5 + 380];
                    const float t28 = v2[63 * i1 + 9 * i4 + 3 * i5 + 443];
                    acc0 = fma(t1, t2, acc0);
                    acc1 = fma(t3, t2, acc1);
                    acc2 = fma(t1, t4, acc2);
                    acc3 = fma(t3, t4, acc3);
                    acc4 = fma(t1, t5, acc4);
                    acc5 = fma(t3, t5, acc5);
                    acc6 = fma(t1, t6, acc6);
                    acc7 = fma(t3, t6, acc7);
                    acc8 = fma(t1, t7, acc8);
                    acc9 = fma(t3, t7, acc9);
                    acc10 = fma(t1, t8, acc10);
                    acc11 = fma(t3, t8, acc11);
                    acc12 = fma(t1, t9, acc12);
                    acc13 = fma(t3, t9, acc13);
                    acc14 = fma(t1, t10, acc14);
                    acc15 = fma(t3, t10, acc15);
                    acc0 = fma(t3, t11, acc0);
                    acc1 = fma(t12, t11, acc1);
                    acc2 = fma(t3, t13, acc2);
                    acc3 = fma(t12, t13, acc3);
                    acc4 = fma(t3, t14, acc4);
                    acc5 = fma(t12, t14, acc5);
                    acc6 = fma(t3, t15, acc6);
                    acc7 = fma(t12, t15, acc7);
                    acc8 = fma(t3, t16, acc8);
                    acc9 = fma(t12, t16, acc9);
                    acc10 = fma(t3, t17, acc10);
                    acc11 = fma(t12, t17, acc11);
                    acc12 = fma(t3, t18, acc12);
                    acc13 = fma(t12, t18, acc13);
                    acc14 = fma(t3, t19, acc14);
                    acc15 = fma(t12, t19, acc15);
                    acc0 = fma(t12, t20, acc0);
                    acc1 = fma(t21, t20, acc1);
                    acc2 = fma(t12, t22, acc2);
                    acc3 = fma(t21, t22, acc3);
                    acc4 = fma(t12, t23, acc4);
                    acc5 = fma(t21, t23, acc5);
                    acc6 = fma(t12, t24, acc6);
                    acc7 = fma(t21, t24, acc7);
                    acc8 = fma(t12, t25, acc8);
                    acc9 = fma(t21, t25, acc9);
                    acc10 = fma(t12, t26, acc10);
                    acc11 = fma(t21, t26, acc11);
                    acc12 = fma(t12, t27, acc12);
                    acc13 = fma(t21, t27, acc13);
                    acc14 = fma(t12, t28, acc14);
                    acc15 = fma(t21, t28, acc15);
                }
            }
            const float t29 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            b0[16 * (1156 * i1 + 34 * i2 + i3)] = t29;
            const float t30 = TARN_SELECT_1(TARN_BOOL_1(acc1 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc1);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1)] = t30;
            const float t31 = TARN_SELECT_1(TARN_BOOL_1(acc2 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc2);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1156)] = t31;
            const float t32 = TARN_SELECT_1(TARN_BOOL_1(acc3 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc3);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1157)] = t32;
            const float t33 = TARN_SELECT_1(TARN_BOOL_1(acc4 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc4);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 2312)] = t33;
            const float t34 = TARN_SELECT_1(TARN_BOOL_1(acc5 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc5);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 2313)] = t34;
            const float t35 = TARN_SELECT_1(TARN_BOOL_1(acc6 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc6);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 3468)] = t35;
            const float t36 = TARN_SELECT_1(TARN_BOOL_1(acc7 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc7);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 3469)] = t36;
            const float t37 = TARN_SELECT_1(TARN_BOOL_1(acc8 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc8);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 4624)] = t37;
            const float t38 = TARN_SELECT_1(TARN_BOOL_1(acc9 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc9);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 4625)] = t38;
            const float t39 = TARN_SELECT_1(TARN_BOOL_1(acc10 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc10);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 5780)] = t39;
            const float t40 = TARN_SELECT_1(TARN_BOOL_1(acc11 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc11);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 5781)] = t40;
            const float t41 = TARN_SELECT_1(TARN_BOOL_1(acc12 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc12);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 6936)] = t41;
            const float t42 = TARN_SELECT_1(TARN_BOOL_1(acc13 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc13);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 6937)] = t42;
            const float t43 = TARN_SELECT_1(TARN_BOOL_1(acc14 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc14);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 8092)] = t43;
            const float t44 = TARN_SELECT_1(TARN_BOOL_1(acc15 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc15);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 8093)] = t44;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_2da064bebee0ac64(__global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,80920] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [16,128,34,34] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[2]); /* [7,128,3,3] */
    if (section_group >= 0 && section_group < 362) {
        /* conv2d [16 7 34 34 10 | 14 3 3] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 5780) {
            const int b = team % 1;
            const int tile = team / 1;
            const int i4 = tile % 10;
            const int i3 = tile / 10 % 17 * 2;
            const int i2 = tile / 170;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 2367488L * b + lane;
            __global float *b0 = v0 + 1294720L * b + lane;
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
            float acc10 = (float)(0.0f);
            float acc11 = (float)(0.0f);
            float acc12 = (float)(0.0f);
            float acc13 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i5 = max((int)0, -(int)(14 * i4)); i5 < min((int)14, 128 - (int)(14 * i4)); ++i5) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i6 = max((int)0, -(int)(i2 - 1)); i6 < min((int)3, 34 - (int)(i2 - 1)); ++i6) {
                    if (((i3 + 2 <= 33)) && ((i3 - 1 >= 0))) {
                        const float t1 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 35)];
                        const float t2 = v2[126 * i4 + 9 * i5 + 3 * i6];
                        const float t3 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 34)];
                        const float t4 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1152];
                        const float t5 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2304];
                        const float t6 = v2[126 * i4 + 9 * i5 + 3 * i6 + 3456];
                        const float t7 = v2[126 * i4 + 9 * i5 + 3 * i6 + 4608];
                        const float t8 = v2[126 * i4 + 9 * i5 + 3 * i6 + 5760];
                        const float t9 = v2[126 * i4 + 9 * i5 + 3 * i6 + 6912];
                        const float t10 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1];
                        const float t11 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 33)];
                        const float t12 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1153];
                        const float t13 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2305];
                        const float t14 = v2[126 * i4 + 9 * i5 + 3 * i6 + 3457];
                        const float t15 = v2[126 * i4 + 9 * i5 + 3 * i6 + 4609];
                        const float t16 = v2[126 * i4 + 9 * i5 + 3 * i6 + 5761];
                        const float t17 = v2[126 * i4 + 9 * i5 + 3 * i6 + 6913];
                        const float t18 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2];
                        const float t19 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 32)];
                        const float t20 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1154];
                        const float t21 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2306];
                        const float t22 = v2[126 * i4 + 9 * i5 + 3 * i6 + 3458];
                        const float t23 = v2[126 * i4 + 9 * i5 + 3 * i6 + 4610];
                        const float t24 = v2[126 * i4 + 9 * i5 + 3 * i6 + 5762];
                        const float t25 = v2[126 * i4 + 9 * i5 + 3 * i6 + 6914];
                        acc0 = fma(t1, t2, acc0);
                        acc1 = fma(t3, t2, acc1);
                        acc2 = fma(t1, t4, acc2);
                        acc3 = fma(t3, t4, acc3);
                        acc4 = fma(t1, t5, acc4);
                        acc5 = fma(t3, t5, acc5);
                        acc6 = fma(t1, t6, acc6);
                        acc7 = fma(t3, t6, acc7);
                        acc8 = fma(t1, t7, acc8);
                        acc9 = fma(t3, t7, acc9);
                        acc10 = fma(t1, t8, acc10);
                        acc11 = fma(t3, t8, acc11);
                        acc12 = fma(t1, t9, acc12);
                        acc13 = fma(t3, t9, acc13);
                        acc0 = fma(t3, t10, acc0);
                        acc1 = fma(t11, t10, acc1);
                        acc2 = fma(t3, t12, acc2);
                        acc3 = fma(t11, t12, acc3);
                        acc4 = fma(t3, t13, acc4);
                        acc5 = fma(t11, t13, acc5);
                        acc6 = fma(t3, t14, acc6);
                        acc7 = fma(t11, t14, acc7);
                        acc8 = fma(t3, t15, acc8);
                        acc9 = fma(t11, t15, acc9);
                        acc10 = fma(t3, t16, acc10);
                        acc11 = fma(t11, t16, acc11);
                        acc12 = fma(t3, t17, acc12);
                        acc13 = fma(t11, t17, acc13);
                        acc0 = fma(t11, t18, acc0);
                        acc1 = fma(t19, t18, acc1);
                        acc2 = fma(t11, t20, acc2);
                        acc3 = fma(t19, t20, acc3);
                        acc4 = fma(t11, t21, acc4);
                        acc5 = fma(t19, t21, acc5);
                        acc6 = fma(t11, t22, acc6);
                        acc7 = fma(t19, t22, acc7);
                        acc8 = fma(t11, t23, acc8);
                        acc9 = fma(t19, t23, acc9);
                        acc10 = fma(t11, t24, acc10);
                        acc11 = fma(t19, t24, acc11);
                        acc12 = fma(t11, t25, acc12);
                        acc13 = fma(t19, t25, acc13);
                    } else {
                        const float t26 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 34)];
                        const float t27 = v2[126 * i4 + 9 * i5 + 3 * i6];
                        const float t28 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1152];
                        const float t29 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2304];
                        const float t30 = v2[126 * i4 + 9 * i5 + 3 * i6 + 3456];
                        const float t31 = v2[126 * i4 + 9 * i5 + 3 * i6 + 4608];
                        const float t32 = v2[126 * i4 + 9 * i5 + 3 * i6 + 5760];
                        const float t33 = v2[126 * i4 + 9 * i5 + 3 * i6 + 6912];
                        const float t34 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1];
                        const float t35 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 33)];
                        const float t36 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1153];
                        const float t37 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2305];
                        const float t38 = v2[126 * i4 + 9 * i5 + 3 * i6 + 3457];
                        const float t39 = v2[126 * i4 + 9 * i5 + 3 * i6 + 4609];
                        const float t40 = v2[126 * i4 + 9 * i5 + 3 * i6 + 5761];
                        const float t41 = v2[126 * i4 + 9 * i5 + 3 * i6 + 6913];
                        const float t42 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2];
                        const float t43 = v2[126 * i4 + 9 * i5 + 3 * i6 + 1154];
                        const float t44 = v2[126 * i4 + 9 * i5 + 3 * i6 + 2306];
                        const float t45 = v2[126 * i4 + 9 * i5 + 3 * i6 + 3458];
                        const float t46 = v2[126 * i4 + 9 * i5 + 3 * i6 + 4610];
                        const float t47 = v2[126 * i4 + 9 * i5 + 3 * i6 + 5762];
                        const float t48 = v2[126 * i4 + 9 * i5 + 3 * i6 + 6914];
                        if (((i3 - 1 >= 0))) {
                            const float t49 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 35)];
                            acc0 = fma(t49, t27, acc0);
                            acc2 = fma(t49, t28, acc2);
                            acc4 = fma(t49, t29, acc4);
                            acc6 = fma(t49, t30, acc6);
                            acc8 = fma(t49, t31, acc8);
                            acc10 = fma(t49, t32, acc10);
                            acc12 = fma(t49, t33, acc12);
                        }
                        acc1 = fma(t26, t27, acc1);
                        acc3 = fma(t26, t28, acc3);
                        acc5 = fma(t26, t29, acc5);
                        acc7 = fma(t26, t30, acc7);
                        acc9 = fma(t26, t31, acc9);
                        acc11 = fma(t26, t32, acc11);
                        acc13 = fma(t26, t33, acc13);
                        acc0 = fma(t26, t34, acc0);
                        acc1 = fma(t35, t34, acc1);
                        acc2 = fma(t26, t36, acc2);
                        acc3 = fma(t35, t36, acc3);
                        acc4 = fma(t26, t37, acc4);
                        acc5 = fma(t35, t37, acc5);
                        acc6 = fma(t26, t38, acc6);
                        acc7 = fma(t35, t38, acc7);
                        acc8 = fma(t26, t39, acc8);
                        acc9 = fma(t35, t39, acc9);
                        acc10 = fma(t26, t40, acc10);
                        acc11 = fma(t35, t40, acc11);
                        acc12 = fma(t26, t41, acc12);
                        acc13 = fma(t35, t41, acc13);
                        acc0 = fma(t35, t42, acc0);
                        if (((i3 + 2 <= 33))) {
                            const float t50 = b1[16 * (34 * i2 + i3 + 16184 * i4 + 1156 * i5 + 34 * i6 - 32)];
                            acc1 = fma(t50, t42, acc1);
                            acc3 = fma(t50, t43, acc3);
                            acc5 = fma(t50, t44, acc5);
                            acc7 = fma(t50, t45, acc7);
                            acc9 = fma(t50, t46, acc9);
                            acc11 = fma(t50, t47, acc11);
                            acc13 = fma(t50, t48, acc13);
                        }
                        acc2 = fma(t35, t43, acc2);
                        acc4 = fma(t35, t44, acc4);
                        acc6 = fma(t35, t45, acc6);
                        acc8 = fma(t35, t46, acc8);
                        acc10 = fma(t35, t47, acc10);
                        acc12 = fma(t35, t48, acc12);
                    }
                }
            }
            b0[16 * (340 * i2 + 10 * i3 + i4)] = acc0;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 10)] = acc1;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 11560)] = acc2;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 11570)] = acc3;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 23120)] = acc4;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 23130)] = acc5;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 34680)] = acc6;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 34690)] = acc7;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 46240)] = acc8;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 46250)] = acc9;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 57800)] = acc10;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 57810)] = acc11;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 69360)] = acc12;
            b0[16 * (340 * i2 + 10 * i3 + i4 + 69370)] = acc13;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_be9ea393b06e5567(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [16,7,34,34] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,80920] blocked */
    if (section_group >= 0 && section_group < 506) {
        /* conv2d [16 7 34 34 | 10] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 8092) {
            const int b = team / 8092;
            const int tile = team % 8092;
            const int i3 = tile % 34;
            const int i2 = tile / 34 % 34;
            const int i1 = tile / 1156;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 1294720L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i4 = 0; i4 < 10; i4 += 5) {
                const float t1 = b1[16 * (11560 * i1 + 340 * i2 + 10 * i3 + i4)];
                const float t2 = b1[16 * (11560 * i1 + 340 * i2 + 10 * i3 + i4 + 1)];
                const float t3 = b1[16 * (11560 * i1 + 340 * i2 + 10 * i3 + i4 + 2)];
                const float t4 = b1[16 * (11560 * i1 + 340 * i2 + 10 * i3 + i4 + 3)];
                const float t5 = b1[16 * (11560 * i1 + 340 * i2 + 10 * i3 + i4 + 4)];
                acc0 += t1;
                acc0 += t2;
                acc0 += t3;
                acc0 += t4;
                acc0 += t5;
            }
            v0[8092 * sample + 1156 * i1 + 34 * i2 + i3] = acc0;
        }
    }
}


