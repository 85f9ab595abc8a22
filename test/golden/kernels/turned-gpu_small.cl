/* k0: 32 groups of 32; output 0, owned 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 0 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_748c75ba1c7c85f9(__global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[1184] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(output0); /* [32,256] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [32,320] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [256,320] */
    {
        /* matmul [32 4 64 | 320] */
        const bool mine = section_group >= 0 && section_group < 32;
        const int group = mine ? section_group - 0 : 0;
        const int from2 = group % 4 * 16;
        const int i2 = from2 + item % 16;
        const int i1 = group / 4 % 4 * 1;
        const int from0 = group / 16 % 2 * 16;
        const int i0 = from0 + item / 16 * 8;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item / 16 * 8;
        __local float *panel1 = (__local float *)(exchange + 640);
        __local const float *own1 = panel1 + item % 16;
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        float acc3 = (float)(0.0f);
        float acc4 = (float)(0.0f);
        float acc5 = (float)(0.0f);
        float acc6 = (float)(0.0f);
        float acc7 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            float sum0_1 = (float)(0.0f);
            float sum0_2 = (float)(0.0f);
            float sum0_3 = (float)(0.0f);
            float sum0_4 = (float)(0.0f);
            float sum0_5 = (float)(0.0f);
            float sum0_6 = (float)(0.0f);
            float sum0_7 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 320; cut0 += 128) {
                const int end0 = min(cut0 + 128, (int)320);
                acc0 = (float)(0.0f);
                acc1 = (float)(0.0f);
                acc2 = (float)(0.0f);
                acc3 = (float)(0.0f);
                acc4 = (float)(0.0f);
                acc5 = (float)(0.0f);
                acc6 = (float)(0.0f);
                acc7 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut8 = cut0; cut8 < end0; cut8 += 32) {
                    const int end8 = cut8 + 32;
                    if (mine) {
                        const int e0_0 = item + 0;
                        const int toe0_0 = 20 * (e0_0 % 32) + 1 * (e0_0 / 32 % 16);
                        const float ce0_0 = v1[320 * (from0 + e0_0 / 32 % 16) + (cut8 + e0_0 % 32)];
                        const int e0_1 = item + 32;
                        const int toe0_1 = 20 * (e0_1 % 32) + 1 * (e0_1 / 32 % 16);
                        const float ce0_1 = v1[320 * (from0 + e0_1 / 32 % 16) + (cut8 + e0_1 % 32)];
                        const int e0_2 = item + 64;
                        const int toe0_2 = 20 * (e0_2 % 32) + 1 * (e0_2 / 32 % 16);
                        const float ce0_2 = v1[320 * (from0 + e0_2 / 32 % 16) + (cut8 + e0_2 % 32)];
                        const int e0_3 = item + 96;
                        const int toe0_3 = 20 * (e0_3 % 32) + 1 * (e0_3 / 32 % 16);
                        const float ce0_3 = v1[320 * (from0 + e0_3 / 32 % 16) + (cut8 + e0_3 % 32)];
                        const int e0_4 = item + 128;
                        const int toe0_4 = 20 * (e0_4 % 32) + 1 * (e0_4 / 32 % 16);
                        const float ce0_4 = v1[320 * (from0 + e0_4 / 32 % 16) + (cut8 + e0_4 % 32)];
                        const int e0_5 = item + 160;
                        const int toe0_5 = 20 * (e0_5 % 32) + 1 * (e0_5 / 32 % 16);
                        const float ce0_5 = v1[320 * (from0 + e0_5 / 32 % 16) + (cut8 + e0_5 % 32)];
                        const int e0_6 = item + 192;
                        const int toe0_6 = 20 * (e0_6 % 32) + 1 * (e0_6 / 32 % 16);
                        const float ce0_6 = v1[320 * (from0 + e0_6 / 32 % 16) + (cut8 + e0_6 % 32)];
                        const int e0_7 = item + 224;
                        const int toe0_7 = 20 * (e0_7 % 32) + 1 * (e0_7 / 32 % 16);
                        const float ce0_7 = v1[320 * (from0 + e0_7 / 32 % 16) + (cut8 + e0_7 % 32)];
                        const int e0_8 = item + 256;
                        const int toe0_8 = 20 * (e0_8 % 32) + 1 * (e0_8 / 32 % 16);
                        const float ce0_8 = v1[320 * (from0 + e0_8 / 32 % 16) + (cut8 + e0_8 % 32)];
                        const int e0_9 = item + 288;
                        const int toe0_9 = 20 * (e0_9 % 32) + 1 * (e0_9 / 32 % 16);
                        const float ce0_9 = v1[320 * (from0 + e0_9 / 32 % 16) + (cut8 + e0_9 % 32)];
                        const int e0_10 = item + 320;
                        const int toe0_10 = 20 * (e0_10 % 32) + 1 * (e0_10 / 32 % 16);
                        const float ce0_10 = v1[320 * (from0 + e0_10 / 32 % 16) + (cut8 + e0_10 % 32)];
                        const int e0_11 = item + 352;
                        const int toe0_11 = 20 * (e0_11 % 32) + 1 * (e0_11 / 32 % 16);
                        const float ce0_11 = v1[320 * (from0 + e0_11 / 32 % 16) + (cut8 + e0_11 % 32)];
                        const int e0_12 = item + 384;
                        const int toe0_12 = 20 * (e0_12 % 32) + 1 * (e0_12 / 32 % 16);
                        const float ce0_12 = v1[320 * (from0 + e0_12 / 32 % 16) + (cut8 + e0_12 % 32)];
                        const int e0_13 = item + 416;
                        const int toe0_13 = 20 * (e0_13 % 32) + 1 * (e0_13 / 32 % 16);
                        const float ce0_13 = v1[320 * (from0 + e0_13 / 32 % 16) + (cut8 + e0_13 % 32)];
                        const int e0_14 = item + 448;
                        const int toe0_14 = 20 * (e0_14 % 32) + 1 * (e0_14 / 32 % 16);
                        const float ce0_14 = v1[320 * (from0 + e0_14 / 32 % 16) + (cut8 + e0_14 % 32)];
                        const int e0_15 = item + 480;
                        const int toe0_15 = 20 * (e0_15 % 32) + 1 * (e0_15 / 32 % 16);
                        const float ce0_15 = v1[320 * (from0 + e0_15 / 32 % 16) + (cut8 + e0_15 % 32)];
                        const int e1_0 = item + 0;
                        const int toe1_0 = 17 * (e1_0 % 32) + 1 * (e1_0 / 32 % 16) + 17 * (0);
                        const float ce1_0 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_0 / 32 % 16) + (cut8 + e1_0 % 32)];
                        const int e1_1 = item + 32;
                        const int toe1_1 = 17 * (e1_1 % 32) + 1 * (e1_1 / 32 % 16) + 17 * (0);
                        const float ce1_1 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_1 / 32 % 16) + (cut8 + e1_1 % 32)];
                        const int e1_2 = item + 64;
                        const int toe1_2 = 17 * (e1_2 % 32) + 1 * (e1_2 / 32 % 16) + 17 * (0);
                        const float ce1_2 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_2 / 32 % 16) + (cut8 + e1_2 % 32)];
                        const int e1_3 = item + 96;
                        const int toe1_3 = 17 * (e1_3 % 32) + 1 * (e1_3 / 32 % 16) + 17 * (0);
                        const float ce1_3 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_3 / 32 % 16) + (cut8 + e1_3 % 32)];
                        const int e1_4 = item + 128;
                        const int toe1_4 = 17 * (e1_4 % 32) + 1 * (e1_4 / 32 % 16) + 17 * (0);
                        const float ce1_4 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_4 / 32 % 16) + (cut8 + e1_4 % 32)];
                        const int e1_5 = item + 160;
                        const int toe1_5 = 17 * (e1_5 % 32) + 1 * (e1_5 / 32 % 16) + 17 * (0);
                        const float ce1_5 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_5 / 32 % 16) + (cut8 + e1_5 % 32)];
                        const int e1_6 = item + 192;
                        const int toe1_6 = 17 * (e1_6 % 32) + 1 * (e1_6 / 32 % 16) + 17 * (0);
                        const float ce1_6 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_6 / 32 % 16) + (cut8 + e1_6 % 32)];
                        const int e1_7 = item + 224;
                        const int toe1_7 = 17 * (e1_7 % 32) + 1 * (e1_7 / 32 % 16) + 17 * (0);
                        const float ce1_7 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_7 / 32 % 16) + (cut8 + e1_7 % 32)];
                        const int e1_8 = item + 256;
                        const int toe1_8 = 17 * (e1_8 % 32) + 1 * (e1_8 / 32 % 16) + 17 * (0);
                        const float ce1_8 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_8 / 32 % 16) + (cut8 + e1_8 % 32)];
                        const int e1_9 = item + 288;
                        const int toe1_9 = 17 * (e1_9 % 32) + 1 * (e1_9 / 32 % 16) + 17 * (0);
                        const float ce1_9 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_9 / 32 % 16) + (cut8 + e1_9 % 32)];
                        const int e1_10 = item + 320;
                        const int toe1_10 = 17 * (e1_10 % 32) + 1 * (e1_10 / 32 % 16) + 17 * (0);
                        const float ce1_10 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_10 / 32 % 16) + (cut8 + e1_10 % 32)];
                        const int e1_11 = item + 352;
                        const int toe1_11 = 17 * (e1_11 % 32) + 1 * (e1_11 / 32 % 16) + 17 * (0);
                        const float ce1_11 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_11 / 32 % 16) + (cut8 + e1_11 % 32)];
                        const int e1_12 = item + 384;
                        const int toe1_12 = 17 * (e1_12 % 32) + 1 * (e1_12 / 32 % 16) + 17 * (0);
                        const float ce1_12 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_12 / 32 % 16) + (cut8 + e1_12 % 32)];
                        const int e1_13 = item + 416;
                        const int toe1_13 = 17 * (e1_13 % 32) + 1 * (e1_13 / 32 % 16) + 17 * (0);
                        const float ce1_13 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_13 / 32 % 16) + (cut8 + e1_13 % 32)];
                        const int e1_14 = item + 448;
                        const int toe1_14 = 17 * (e1_14 % 32) + 1 * (e1_14 / 32 % 16) + 17 * (0);
                        const float ce1_14 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_14 / 32 % 16) + (cut8 + e1_14 % 32)];
                        const int e1_15 = item + 480;
                        const int toe1_15 = 17 * (e1_15 % 32) + 1 * (e1_15 / 32 % 16) + 17 * (0);
                        const float ce1_15 = v2[20480 * (i1 + 0) + 320 * (from2 + e1_15 / 32 % 16) + (cut8 + e1_15 % 32)];
                        panel0[toe0_0] = ce0_0;
                        panel0[toe0_1] = ce0_1;
                        panel0[toe0_2] = ce0_2;
                        panel0[toe0_3] = ce0_3;
                        panel0[toe0_4] = ce0_4;
                        panel0[toe0_5] = ce0_5;
                        panel0[toe0_6] = ce0_6;
                        panel0[toe0_7] = ce0_7;
                        panel0[toe0_8] = ce0_8;
                        panel0[toe0_9] = ce0_9;
                        panel0[toe0_10] = ce0_10;
                        panel0[toe0_11] = ce0_11;
                        panel0[toe0_12] = ce0_12;
                        panel0[toe0_13] = ce0_13;
                        panel0[toe0_14] = ce0_14;
                        panel0[toe0_15] = ce0_15;
                        panel1[toe1_0] = ce1_0;
                        panel1[toe1_1] = ce1_1;
                        panel1[toe1_2] = ce1_2;
                        panel1[toe1_3] = ce1_3;
                        panel1[toe1_4] = ce1_4;
                        panel1[toe1_5] = ce1_5;
                        panel1[toe1_6] = ce1_6;
                        panel1[toe1_7] = ce1_7;
                        panel1[toe1_8] = ce1_8;
                        panel1[toe1_9] = ce1_9;
                        panel1[toe1_10] = ce1_10;
                        panel1[toe1_11] = ce1_11;
                        panel1[toe1_12] = ce1_12;
                        panel1[toe1_13] = ce1_13;
                        panel1[toe1_14] = ce1_14;
                        panel1[toe1_15] = ce1_15;
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma unroll 1
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 4) {
                            const float t1 = own0[20 * (i3 - cut8)];
                            const float t2 = own1[17 * (i3 - cut8)];
                            const float t3 = own0[20 * (i3 - cut8) + 1];
                            const float t4 = own0[20 * (i3 - cut8) + 2];
                            const float t5 = own0[20 * (i3 - cut8) + 3];
                            const float t6 = own0[20 * (i3 - cut8) + 4];
                            const float t7 = own0[20 * (i3 - cut8) + 5];
                            const float t8 = own0[20 * (i3 - cut8) + 6];
                            const float t9 = own0[20 * (i3 - cut8) + 7];
                            const float t10 = own0[20 * (i3 - cut8) + 20];
                            const float t11 = own1[17 * (i3 - cut8) + 17];
                            const float t12 = own0[20 * (i3 - cut8) + 21];
                            const float t13 = own0[20 * (i3 - cut8) + 22];
                            const float t14 = own0[20 * (i3 - cut8) + 23];
                            const float t15 = own0[20 * (i3 - cut8) + 24];
                            const float t16 = own0[20 * (i3 - cut8) + 25];
                            const float t17 = own0[20 * (i3 - cut8) + 26];
                            const float t18 = own0[20 * (i3 - cut8) + 27];
                            const float t19 = own0[20 * (i3 - cut8) + 40];
                            const float t20 = own1[17 * (i3 - cut8) + 34];
                            const float t21 = own0[20 * (i3 - cut8) + 41];
                            const float t22 = own0[20 * (i3 - cut8) + 42];
                            const float t23 = own0[20 * (i3 - cut8) + 43];
                            const float t24 = own0[20 * (i3 - cut8) + 44];
                            const float t25 = own0[20 * (i3 - cut8) + 45];
                            const float t26 = own0[20 * (i3 - cut8) + 46];
                            const float t27 = own0[20 * (i3 - cut8) + 47];
                            const float t28 = own0[20 * (i3 - cut8) + 60];
                            const float t29 = own1[17 * (i3 - cut8) + 51];
                            const float t30 = own0[20 * (i3 - cut8) + 61];
                            const float t31 = own0[20 * (i3 - cut8) + 62];
                            const float t32 = own0[20 * (i3 - cut8) + 63];
                            const float t33 = own0[20 * (i3 - cut8) + 64];
                            const float t34 = own0[20 * (i3 - cut8) + 65];
                            const float t35 = own0[20 * (i3 - cut8) + 66];
                            const float t36 = own0[20 * (i3 - cut8) + 67];
                            acc0 = fma(t1, t2, acc0);
                            acc1 = fma(t3, t2, acc1);
                            acc2 = fma(t4, t2, acc2);
                            acc3 = fma(t5, t2, acc3);
                            acc4 = fma(t6, t2, acc4);
                            acc5 = fma(t7, t2, acc5);
                            acc6 = fma(t8, t2, acc6);
                            acc7 = fma(t9, t2, acc7);
                            acc0 = fma(t10, t11, acc0);
                            acc1 = fma(t12, t11, acc1);
                            acc2 = fma(t13, t11, acc2);
                            acc3 = fma(t14, t11, acc3);
                            acc4 = fma(t15, t11, acc4);
                            acc5 = fma(t16, t11, acc5);
                            acc6 = fma(t17, t11, acc6);
                            acc7 = fma(t18, t11, acc7);
                            acc0 = fma(t19, t20, acc0);
                            acc1 = fma(t21, t20, acc1);
                            acc2 = fma(t22, t20, acc2);
                            acc3 = fma(t23, t20, acc3);
                            acc4 = fma(t24, t20, acc4);
                            acc5 = fma(t25, t20, acc5);
                            acc6 = fma(t26, t20, acc6);
                            acc7 = fma(t27, t20, acc7);
                            acc0 = fma(t28, t29, acc0);
                            acc1 = fma(t30, t29, acc1);
                            acc2 = fma(t31, t29, acc2);
                            acc3 = fma(t32, t29, acc3);
                            acc4 = fma(t33, t29, acc4);
                            acc5 = fma(t34, t29, acc5);
                            acc6 = fma(t35, t29, acc6);
                            acc7 = fma(t36, t29, acc7);
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                sum0_0 += acc0;
                sum0_1 += acc1;
                sum0_2 += acc2;
                sum0_3 += acc3;
                sum0_4 += acc4;
                sum0_5 += acc5;
                sum0_6 += acc6;
                sum0_7 += acc7;
            }
            acc0 = sum0_0;
            acc1 = sum0_1;
            acc2 = sum0_2;
            acc3 = sum0_3;
            acc4 = sum0_4;
            acc5 = sum0_5;
            acc6 = sum0_6;
            acc7 = sum0_7;
        }
        if (mine) {
            v0[256 * i0 + 64 * i1 + i2] = acc0;
            v0[256 * i0 + 64 * i1 + i2 + 256] = acc1;
            v0[256 * i0 + 64 * i1 + i2 + 512] = acc2;
            v0[256 * i0 + 64 * i1 + i2 + 768] = acc3;
            v0[256 * i0 + 64 * i1 + i2 + 1024] = acc4;
            v0[256 * i0 + 64 * i1 + i2 + 1280] = acc5;
            v0[256 * i0 + 64 * i1 + i2 + 1536] = acc6;
            v0[256 * i0 + 64 * i1 + i2 + 1792] = acc7;
        }
    }
}


