/* k0: 4536 groups of 32; arena 0, at 0, input 0; at bytes 0 */
/* k1: 2312 groups of 32; arena 0, at 0, owned 0; at bytes 580608, 0, 0 */
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
void k_84619e23789cff26(__global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[1260] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,128,34,34] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [16,7,36,36] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[2]); /* [128,7,3,3] */
    {
        /* conv2d [16 128 34 34 | 7 3 3] */
        const bool mine = section_group >= 0 && section_group < 2312;
        const int group = mine ? section_group - 0 : 0;
        const int from0 = 0 * 16;
        const int b = from0 / 16 + item % 16 / 16;
        const int sample = 16 * b + lane;
        __global float *b0 = v0 + 2367488L * b + lane;
        __global float *b1 = v1 + 145152L * b + lane;
        const int i3 = group % 17 * 2;
        const int from2 = group / 17 % 17 * 2;
        const int i2 = from2 + item / 16 * 1;
        const int i1 = group / 289 % 8 * 16;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0;
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
        float acc16 = (float)(0.0f);
        float acc17 = (float)(0.0f);
        float acc18 = (float)(0.0f);
        float acc19 = (float)(0.0f);
        float acc20 = (float)(0.0f);
        float acc21 = (float)(0.0f);
        float acc22 = (float)(0.0f);
        float acc23 = (float)(0.0f);
        float acc24 = (float)(0.0f);
        float acc25 = (float)(0.0f);
        float acc26 = (float)(0.0f);
        float acc27 = (float)(0.0f);
        float acc28 = (float)(0.0f);
        float acc29 = (float)(0.0f);
        float acc30 = (float)(0.0f);
        float acc31 = (float)(0.0f);
        #pragma nounroll
        #pragma clang loop vectorize(disable)
        for (int cut8 = 0; cut8 < 7; cut8 += 7) {
            const int end8 = cut8 + 7;
            if (mine) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int base = item; base < 1008; base += 512) {
                    const int e0_0 = base + 0;
                    const int toe0_0 = 20 * (e0_0 % 3) + 60 * (e0_0 / 3 % 3) + 180 * (e0_0 / 9 % 7) + 1 * (e0_0 / 63 % 16);
                    const float ce0_0_0 = e0_0 < 1008 ? v2[(63 * (i1 + e0_0 / 63 % 16) + 9 * (cut8 + e0_0 / 9 % 7) + 3 * (0 + e0_0 / 3 % 3) + (0 + e0_0 % 3))] : 0;
                    const int e0_1 = base + 32;
                    const int toe0_1 = 20 * (e0_1 % 3) + 60 * (e0_1 / 3 % 3) + 180 * (e0_1 / 9 % 7) + 1 * (e0_1 / 63 % 16);
                    const float ce0_1_0 = e0_1 < 1008 ? v2[(63 * (i1 + e0_1 / 63 % 16) + 9 * (cut8 + e0_1 / 9 % 7) + 3 * (0 + e0_1 / 3 % 3) + (0 + e0_1 % 3))] : 0;
                    const int e0_2 = base + 64;
                    const int toe0_2 = 20 * (e0_2 % 3) + 60 * (e0_2 / 3 % 3) + 180 * (e0_2 / 9 % 7) + 1 * (e0_2 / 63 % 16);
                    const float ce0_2_0 = e0_2 < 1008 ? v2[(63 * (i1 + e0_2 / 63 % 16) + 9 * (cut8 + e0_2 / 9 % 7) + 3 * (0 + e0_2 / 3 % 3) + (0 + e0_2 % 3))] : 0;
                    const int e0_3 = base + 96;
                    const int toe0_3 = 20 * (e0_3 % 3) + 60 * (e0_3 / 3 % 3) + 180 * (e0_3 / 9 % 7) + 1 * (e0_3 / 63 % 16);
                    const float ce0_3_0 = e0_3 < 1008 ? v2[(63 * (i1 + e0_3 / 63 % 16) + 9 * (cut8 + e0_3 / 9 % 7) + 3 * (0 + e0_3 / 3 % 3) + (0 + e0_3 % 3))] : 0;
                    const int e0_4 = base + 128;
                    const int toe0_4 = 20 * (e0_4 % 3) + 60 * (e0_4 / 3 % 3) + 180 * (e0_4 / 9 % 7) + 1 * (e0_4 / 63 % 16);
                    const float ce0_4_0 = e0_4 < 1008 ? v2[(63 * (i1 + e0_4 / 63 % 16) + 9 * (cut8 + e0_4 / 9 % 7) + 3 * (0 + e0_4 / 3 % 3) + (0 + e0_4 % 3))] : 0;
                    const int e0_5 = base + 160;
                    const int toe0_5 = 20 * (e0_5 % 3) + 60 * (e0_5 / 3 % 3) + 180 * (e0_5 / 9 % 7) + 1 * (e0_5 / 63 % 16);
                    const float ce0_5_0 = e0_5 < 1008 ? v2[(63 * (i1 + e0_5 / 63 % 16) + 9 * (cut8 + e0_5 / 9 % 7) + 3 * (0 + e0_5 / 3 % 3) + (0 + e0_5 % 3))] : 0;
                    const int e0_6 = base + 192;
                    const int toe0_6 = 20 * (e0_6 % 3) + 60 * (e0_6 / 3 % 3) + 180 * (e0_6 / 9 % 7) + 1 * (e0_6 / 63 % 16);
                    const float ce0_6_0 = e0_6 < 1008 ? v2[(63 * (i1 + e0_6 / 63 % 16) + 9 * (cut8 + e0_6 / 9 % 7) + 3 * (0 + e0_6 / 3 % 3) + (0 + e0_6 % 3))] : 0;
                    const int e0_7 = base + 224;
                    const int toe0_7 = 20 * (e0_7 % 3) + 60 * (e0_7 / 3 % 3) + 180 * (e0_7 / 9 % 7) + 1 * (e0_7 / 63 % 16);
                    const float ce0_7_0 = e0_7 < 1008 ? v2[(63 * (i1 + e0_7 / 63 % 16) + 9 * (cut8 + e0_7 / 9 % 7) + 3 * (0 + e0_7 / 3 % 3) + (0 + e0_7 % 3))] : 0;
                    const int e0_8 = base + 256;
                    const int toe0_8 = 20 * (e0_8 % 3) + 60 * (e0_8 / 3 % 3) + 180 * (e0_8 / 9 % 7) + 1 * (e0_8 / 63 % 16);
                    const float ce0_8_0 = e0_8 < 1008 ? v2[(63 * (i1 + e0_8 / 63 % 16) + 9 * (cut8 + e0_8 / 9 % 7) + 3 * (0 + e0_8 / 3 % 3) + (0 + e0_8 % 3))] : 0;
                    const int e0_9 = base + 288;
                    const int toe0_9 = 20 * (e0_9 % 3) + 60 * (e0_9 / 3 % 3) + 180 * (e0_9 / 9 % 7) + 1 * (e0_9 / 63 % 16);
                    const float ce0_9_0 = e0_9 < 1008 ? v2[(63 * (i1 + e0_9 / 63 % 16) + 9 * (cut8 + e0_9 / 9 % 7) + 3 * (0 + e0_9 / 3 % 3) + (0 + e0_9 % 3))] : 0;
                    const int e0_10 = base + 320;
                    const int toe0_10 = 20 * (e0_10 % 3) + 60 * (e0_10 / 3 % 3) + 180 * (e0_10 / 9 % 7) + 1 * (e0_10 / 63 % 16);
                    const float ce0_10_0 = e0_10 < 1008 ? v2[(63 * (i1 + e0_10 / 63 % 16) + 9 * (cut8 + e0_10 / 9 % 7) + 3 * (0 + e0_10 / 3 % 3) + (0 + e0_10 % 3))] : 0;
                    const int e0_11 = base + 352;
                    const int toe0_11 = 20 * (e0_11 % 3) + 60 * (e0_11 / 3 % 3) + 180 * (e0_11 / 9 % 7) + 1 * (e0_11 / 63 % 16);
                    const float ce0_11_0 = e0_11 < 1008 ? v2[(63 * (i1 + e0_11 / 63 % 16) + 9 * (cut8 + e0_11 / 9 % 7) + 3 * (0 + e0_11 / 3 % 3) + (0 + e0_11 % 3))] : 0;
                    const int e0_12 = base + 384;
                    const int toe0_12 = 20 * (e0_12 % 3) + 60 * (e0_12 / 3 % 3) + 180 * (e0_12 / 9 % 7) + 1 * (e0_12 / 63 % 16);
                    const float ce0_12_0 = e0_12 < 1008 ? v2[(63 * (i1 + e0_12 / 63 % 16) + 9 * (cut8 + e0_12 / 9 % 7) + 3 * (0 + e0_12 / 3 % 3) + (0 + e0_12 % 3))] : 0;
                    const int e0_13 = base + 416;
                    const int toe0_13 = 20 * (e0_13 % 3) + 60 * (e0_13 / 3 % 3) + 180 * (e0_13 / 9 % 7) + 1 * (e0_13 / 63 % 16);
                    const float ce0_13_0 = e0_13 < 1008 ? v2[(63 * (i1 + e0_13 / 63 % 16) + 9 * (cut8 + e0_13 / 9 % 7) + 3 * (0 + e0_13 / 3 % 3) + (0 + e0_13 % 3))] : 0;
                    const int e0_14 = base + 448;
                    const int toe0_14 = 20 * (e0_14 % 3) + 60 * (e0_14 / 3 % 3) + 180 * (e0_14 / 9 % 7) + 1 * (e0_14 / 63 % 16);
                    const float ce0_14_0 = e0_14 < 1008 ? v2[(63 * (i1 + e0_14 / 63 % 16) + 9 * (cut8 + e0_14 / 9 % 7) + 3 * (0 + e0_14 / 3 % 3) + (0 + e0_14 % 3))] : 0;
                    const int e0_15 = base + 480;
                    const int toe0_15 = 20 * (e0_15 % 3) + 60 * (e0_15 / 3 % 3) + 180 * (e0_15 / 9 % 7) + 1 * (e0_15 / 63 % 16);
                    const float ce0_15_0 = e0_15 < 1008 ? v2[(63 * (i1 + e0_15 / 63 % 16) + 9 * (cut8 + e0_15 / 9 % 7) + 3 * (0 + e0_15 / 3 % 3) + (0 + e0_15 % 3))] : 0;
                    if (e0_0 < 1008) {
                        panel0[toe0_0 + 0] = ce0_0_0;
                    }
                    if (e0_1 < 1008) {
                        panel0[toe0_1 + 0] = ce0_1_0;
                    }
                    if (e0_2 < 1008) {
                        panel0[toe0_2 + 0] = ce0_2_0;
                    }
                    if (e0_3 < 1008) {
                        panel0[toe0_3 + 0] = ce0_3_0;
                    }
                    if (e0_4 < 1008) {
                        panel0[toe0_4 + 0] = ce0_4_0;
                    }
                    if (e0_5 < 1008) {
                        panel0[toe0_5 + 0] = ce0_5_0;
                    }
                    if (e0_6 < 1008) {
                        panel0[toe0_6 + 0] = ce0_6_0;
                    }
                    if (e0_7 < 1008) {
                        panel0[toe0_7 + 0] = ce0_7_0;
                    }
                    if (e0_8 < 1008) {
                        panel0[toe0_8 + 0] = ce0_8_0;
                    }
                    if (e0_9 < 1008) {
                        panel0[toe0_9 + 0] = ce0_9_0;
                    }
                    if (e0_10 < 1008) {
                        panel0[toe0_10 + 0] = ce0_10_0;
                    }
                    if (e0_11 < 1008) {
                        panel0[toe0_11 + 0] = ce0_11_0;
                    }
                    if (e0_12 < 1008) {
                        panel0[toe0_12 + 0] = ce0_12_0;
                    }
                    if (e0_13 < 1008) {
                        panel0[toe0_13 + 0] = ce0_13_0;
                    }
                    if (e0_14 < 1008) {
                        panel0[toe0_14 + 0] = ce0_14_0;
                    }
                    if (e0_15 < 1008) {
                        panel0[toe0_15 + 0] = ce0_15_0;
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (mine) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i4 = cut8; i4 < end8; i4 += 1) {
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (int i5 = 0; i5 < 3; i5 += 1) {
                        const float t1 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5)];
                        const float t2 = own0[180 * (i4 - cut8) + 60 * i5];
                        const float t3 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 1)];
                        const float t4 = own0[180 * (i4 - cut8) + 60 * i5 + 1];
                        const float t5 = own0[180 * (i4 - cut8) + 60 * i5 + 2];
                        const float t6 = own0[180 * (i4 - cut8) + 60 * i5 + 3];
                        const float t7 = own0[180 * (i4 - cut8) + 60 * i5 + 4];
                        const float t8 = own0[180 * (i4 - cut8) + 60 * i5 + 5];
                        const float t9 = own0[180 * (i4 - cut8) + 60 * i5 + 6];
                        const float t10 = own0[180 * (i4 - cut8) + 60 * i5 + 7];
                        const float t11 = own0[180 * (i4 - cut8) + 60 * i5 + 8];
                        const float t12 = own0[180 * (i4 - cut8) + 60 * i5 + 9];
                        const float t13 = own0[180 * (i4 - cut8) + 60 * i5 + 10];
                        const float t14 = own0[180 * (i4 - cut8) + 60 * i5 + 11];
                        const float t15 = own0[180 * (i4 - cut8) + 60 * i5 + 12];
                        const float t16 = own0[180 * (i4 - cut8) + 60 * i5 + 13];
                        const float t17 = own0[180 * (i4 - cut8) + 60 * i5 + 14];
                        const float t18 = own0[180 * (i4 - cut8) + 60 * i5 + 15];
                        const float t19 = own0[180 * (i4 - cut8) + 60 * i5 + 20];
                        const float t20 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 2)];
                        const float t21 = own0[180 * (i4 - cut8) + 60 * i5 + 21];
                        const float t22 = own0[180 * (i4 - cut8) + 60 * i5 + 22];
                        const float t23 = own0[180 * (i4 - cut8) + 60 * i5 + 23];
                        const float t24 = own0[180 * (i4 - cut8) + 60 * i5 + 24];
                        const float t25 = own0[180 * (i4 - cut8) + 60 * i5 + 25];
                        const float t26 = own0[180 * (i4 - cut8) + 60 * i5 + 26];
                        const float t27 = own0[180 * (i4 - cut8) + 60 * i5 + 27];
                        const float t28 = own0[180 * (i4 - cut8) + 60 * i5 + 28];
                        const float t29 = own0[180 * (i4 - cut8) + 60 * i5 + 29];
                        const float t30 = own0[180 * (i4 - cut8) + 60 * i5 + 30];
                        const float t31 = own0[180 * (i4 - cut8) + 60 * i5 + 31];
                        const float t32 = own0[180 * (i4 - cut8) + 60 * i5 + 32];
                        const float t33 = own0[180 * (i4 - cut8) + 60 * i5 + 33];
                        const float t34 = own0[180 * (i4 - cut8) + 60 * i5 + 34];
                        const float t35 = own0[180 * (i4 - cut8) + 60 * i5 + 35];
                        const float t36 = own0[180 * (i4 - cut8) + 60 * i5 + 40];
                        const float t37 = b1[16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 3)];
                        const float t38 = own0[180 * (i4 - cut8) + 60 * i5 + 41];
                        const float t39 = own0[180 * (i4 - cut8) + 60 * i5 + 42];
                        const float t40 = own0[180 * (i4 - cut8) + 60 * i5 + 43];
                        const float t41 = own0[180 * (i4 - cut8) + 60 * i5 + 44];
                        const float t42 = own0[180 * (i4 - cut8) + 60 * i5 + 45];
                        const float t43 = own0[180 * (i4 - cut8) + 60 * i5 + 46];
                        const float t44 = own0[180 * (i4 - cut8) + 60 * i5 + 47];
                        const float t45 = own0[180 * (i4 - cut8) + 60 * i5 + 48];
                        const float t46 = own0[180 * (i4 - cut8) + 60 * i5 + 49];
                        const float t47 = own0[180 * (i4 - cut8) + 60 * i5 + 50];
                        const float t48 = own0[180 * (i4 - cut8) + 60 * i5 + 51];
                        const float t49 = own0[180 * (i4 - cut8) + 60 * i5 + 52];
                        const float t50 = own0[180 * (i4 - cut8) + 60 * i5 + 53];
                        const float t51 = own0[180 * (i4 - cut8) + 60 * i5 + 54];
                        const float t52 = own0[180 * (i4 - cut8) + 60 * i5 + 55];
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
                        acc16 = fma(t1, t11, acc16);
                        acc17 = fma(t3, t11, acc17);
                        acc18 = fma(t1, t12, acc18);
                        acc19 = fma(t3, t12, acc19);
                        acc20 = fma(t1, t13, acc20);
                        acc21 = fma(t3, t13, acc21);
                        acc22 = fma(t1, t14, acc22);
                        acc23 = fma(t3, t14, acc23);
                        acc24 = fma(t1, t15, acc24);
                        acc25 = fma(t3, t15, acc25);
                        acc26 = fma(t1, t16, acc26);
                        acc27 = fma(t3, t16, acc27);
                        acc28 = fma(t1, t17, acc28);
                        acc29 = fma(t3, t17, acc29);
                        acc30 = fma(t1, t18, acc30);
                        acc31 = fma(t3, t18, acc31);
                        acc0 = fma(t3, t19, acc0);
                        acc1 = fma(t20, t19, acc1);
                        acc2 = fma(t3, t21, acc2);
                        acc3 = fma(t20, t21, acc3);
                        acc4 = fma(t3, t22, acc4);
                        acc5 = fma(t20, t22, acc5);
                        acc6 = fma(t3, t23, acc6);
                        acc7 = fma(t20, t23, acc7);
                        acc8 = fma(t3, t24, acc8);
                        acc9 = fma(t20, t24, acc9);
                        acc10 = fma(t3, t25, acc10);
                        acc11 = fma(t20, t25, acc11);
                        acc12 = fma(t3, t26, acc12);
                        acc13 = fma(t20, t26, acc13);
                        acc14 = fma(t3, t27, acc14);
                        acc15 = fma(t20, t27, acc15);
                        acc16 = fma(t3, t28, acc16);
                        acc17 = fma(t20, t28, acc17);
                        acc18 = fma(t3, t29, acc18);
                        acc19 = fma(t20, t29, acc19);
                        acc20 = fma(t3, t30, acc20);
                        acc21 = fma(t20, t30, acc21);
                        acc22 = fma(t3, t31, acc22);
                        acc23 = fma(t20, t31, acc23);
                        acc24 = fma(t3, t32, acc24);
                        acc25 = fma(t20, t32, acc25);
                        acc26 = fma(t3, t33, acc26);
                        acc27 = fma(t20, t33, acc27);
                        acc28 = fma(t3, t34, acc28);
                        acc29 = fma(t20, t34, acc29);
                        acc30 = fma(t3, t35, acc30);
                        acc31 = fma(t20, t35, acc31);
                        acc0 = fma(t20, t36, acc0);
                        acc1 = fma(t37, t36, acc1);
                        acc2 = fma(t20, t38, acc2);
                        acc3 = fma(t37, t38, acc3);
                        acc4 = fma(t20, t39, acc4);
                        acc5 = fma(t37, t39, acc5);
                        acc6 = fma(t20, t40, acc6);
                        acc7 = fma(t37, t40, acc7);
                        acc8 = fma(t20, t41, acc8);
                        acc9 = fma(t37, t41, acc9);
                        acc10 = fma(t20, t42, acc10);
                        acc11 = fma(t37, t42, acc11);
                        acc12 = fma(t20, t43, acc12);
                        acc13 = fma(t37, t43, acc13);
                        acc14 = fma(t20, t44, acc14);
                        acc15 = fma(t37, t44, acc15);
                        acc16 = fma(t20, t45, acc16);
                        acc17 = fma(t37, t45, acc17);
                        acc18 = fma(t20, t46, acc18);
                        acc19 = fma(t37, t46, acc19);
                        acc20 = fma(t20, t47, acc20);
                        acc21 = fma(t37, t47, acc21);
                        acc22 = fma(t20, t48, acc22);
                        acc23 = fma(t37, t48, acc23);
                        acc24 = fma(t20, t49, acc24);
                        acc25 = fma(t37, t49, acc25);
                        acc26 = fma(t20, t50, acc26);
                        acc27 = fma(t37, t50, acc27);
                        acc28 = fma(t20, t51, acc28);
                        acc29 = fma(t37, t51, acc29);
                        acc30 = fma(t20, t52, acc30);
                        acc31 = fma(t37, t52, acc31);
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (mine) {
            const float t53 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            b0[16 * (1156 * i1 + 34 * i2 + i3)] = t53;
            const float t54 = TARN_SELECT_1(TARN_BOOL_1(acc1 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc1);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1)] = t54;
            const float t55 = TARN_SELECT_1(TARN_BOOL_1(acc2 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc2);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1156)] = t55;
            const float t56 = TARN_SELECT_1(TARN_BOOL_1(acc3 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc3);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 1157)] = t56;
            const float t57 = TARN_SELECT_1(TARN_BOOL_1(acc4 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc4);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 2312)] = t57;
            const float t58 = TARN_SELECT_1(TARN_BOOL_1(acc5 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc5);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 2313)] = t58;
            const float t59 = TARN_SELECT_1(TARN_BOOL_1(acc6 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc6);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 3468)] = t59;
            const float t60 = TARN_SELECT_1(TARN_BOOL_1(acc7 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc7);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 3469)] = t60;
            const float t61 = TARN_SELECT_1(TARN_BOOL_1(acc8 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc8);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 4624)] = t61;
            const float t62 = TARN_SELECT_1(TARN_BOOL_1(acc9 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc9);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 4625)] = t62;
            const float t63 = TARN_SELECT_1(TARN_BOOL_1(acc10 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc10);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 5780)] = t63;
            const float t64 = TARN_SELECT_1(TARN_BOOL_1(acc11 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc11);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 5781)] = t64;
            const float t65 = TARN_SELECT_1(TARN_BOOL_1(acc12 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc12);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 6936)] = t65;
            const float t66 = TARN_SELECT_1(TARN_BOOL_1(acc13 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc13);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 6937)] = t66;
            const float t67 = TARN_SELECT_1(TARN_BOOL_1(acc14 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc14);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 8092)] = t67;
            const float t68 = TARN_SELECT_1(TARN_BOOL_1(acc15 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc15);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 8093)] = t68;
            const float t69 = TARN_SELECT_1(TARN_BOOL_1(acc16 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc16);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 9248)] = t69;
            const float t70 = TARN_SELECT_1(TARN_BOOL_1(acc17 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc17);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 9249)] = t70;
            const float t71 = TARN_SELECT_1(TARN_BOOL_1(acc18 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc18);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 10404)] = t71;
            const float t72 = TARN_SELECT_1(TARN_BOOL_1(acc19 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc19);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 10405)] = t72;
            const float t73 = TARN_SELECT_1(TARN_BOOL_1(acc20 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc20);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 11560)] = t73;
            const float t74 = TARN_SELECT_1(TARN_BOOL_1(acc21 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc21);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 11561)] = t74;
            const float t75 = TARN_SELECT_1(TARN_BOOL_1(acc22 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc22);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 12716)] = t75;
            const float t76 = TARN_SELECT_1(TARN_BOOL_1(acc23 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc23);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 12717)] = t76;
            const float t77 = TARN_SELECT_1(TARN_BOOL_1(acc24 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc24);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 13872)] = t77;
            const float t78 = TARN_SELECT_1(TARN_BOOL_1(acc25 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc25);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 13873)] = t78;
            const float t79 = TARN_SELECT_1(TARN_BOOL_1(acc26 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc26);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 15028)] = t79;
            const float t80 = TARN_SELECT_1(TARN_BOOL_1(acc27 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc27);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 15029)] = t80;
            const float t81 = TARN_SELECT_1(TARN_BOOL_1(acc28 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc28);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 16184)] = t81;
            const float t82 = TARN_SELECT_1(TARN_BOOL_1(acc29 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc29);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 16185)] = t82;
            const float t83 = TARN_SELECT_1(TARN_BOOL_1(acc30 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc30);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 17340)] = t83;
            const float t84 = TARN_SELECT_1(TARN_BOOL_1(acc31 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc31);
            b0[16 * (1156 * i1 + 34 * i2 + i3 + 17341)] = t84;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_c91c545e6fa0bcf7(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
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
                #pragma nounroll
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
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (int i4 = cut0; i4 < end0; i4 += 1) {
                        #pragma nounroll
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


