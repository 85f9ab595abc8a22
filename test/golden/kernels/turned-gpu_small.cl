/* k0: 16 groups of 32; output 0, owned 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 0 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_d3dee4306d6bfc77(__global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[2560] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(output0); /* [32,256] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [32,320] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [256,320] */
    {
        /* matmul [32 4 64 | 320] */
        const bool mine = section_group >= 0 && section_group < 16;
        const int group = mine ? section_group - 0 : 0;
        const int from2 = group % 4 * 16;
        const int i2 = from2 + item % 16;
        const int i1 = 0 * 4;
        const int from0 = group / 4 % 4 * 8;
        const int i0 = from0 + item / 16 * 4;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item / 16 * 4;
        __local float *panel1 = (__local float *)(exchange + 384);
        __local const float *own1 = panel1 + item % 16 * 4;
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
        {
            float sum0_0 = (float)(0.0f);
            float sum0_1 = (float)(0.0f);
            float sum0_2 = (float)(0.0f);
            float sum0_3 = (float)(0.0f);
            float sum0_4 = (float)(0.0f);
            float sum0_5 = (float)(0.0f);
            float sum0_6 = (float)(0.0f);
            float sum0_7 = (float)(0.0f);
            float sum0_8 = (float)(0.0f);
            float sum0_9 = (float)(0.0f);
            float sum0_10 = (float)(0.0f);
            float sum0_11 = (float)(0.0f);
            float sum0_12 = (float)(0.0f);
            float sum0_13 = (float)(0.0f);
            float sum0_14 = (float)(0.0f);
            float sum0_15 = (float)(0.0f);
            #pragma nounroll
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
                acc8 = (float)(0.0f);
                acc9 = (float)(0.0f);
                acc10 = (float)(0.0f);
                acc11 = (float)(0.0f);
                acc12 = (float)(0.0f);
                acc13 = (float)(0.0f);
                acc14 = (float)(0.0f);
                acc15 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int cut8 = cut0; cut8 < end0; cut8 += 32) {
                    const int end8 = cut8 + 32;
                    if (mine) {
                        const int e0_0 = item + 0;
                        const int toe0_0 = 12 * (e0_0 % 32) + 4 * (e0_0 / 32 % 2);
                        const float ce0_0_0 = v1[(320 * (from0 + 4 * (e0_0 / 32 % 2)) + (cut8 + e0_0 % 32))];
                        const float ce0_0_1 = v1[(320 * (from0 + 4 * (e0_0 / 32 % 2)) + (cut8 + e0_0 % 32) + 320)];
                        const float ce0_0_2 = v1[(320 * (from0 + 4 * (e0_0 / 32 % 2)) + (cut8 + e0_0 % 32) + 640)];
                        const float ce0_0_3 = v1[(320 * (from0 + 4 * (e0_0 / 32 % 2)) + (cut8 + e0_0 % 32) + 960)];
                        const int e0_1 = item + 32;
                        const int toe0_1 = 12 * (e0_1 % 32) + 4 * (e0_1 / 32 % 2);
                        const float ce0_1_0 = v1[(320 * (from0 + 4 * (e0_1 / 32 % 2)) + (cut8 + e0_1 % 32))];
                        const float ce0_1_1 = v1[(320 * (from0 + 4 * (e0_1 / 32 % 2)) + (cut8 + e0_1 % 32) + 320)];
                        const float ce0_1_2 = v1[(320 * (from0 + 4 * (e0_1 / 32 % 2)) + (cut8 + e0_1 % 32) + 640)];
                        const float ce0_1_3 = v1[(320 * (from0 + 4 * (e0_1 / 32 % 2)) + (cut8 + e0_1 % 32) + 960)];
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int base = item; base < 512; base += 128) {
                            const int e1_0 = base + 0;
                            const int toe1_0 = 68 * (e1_0 % 32) + 4 * (e1_0 / 32 % 16) + 4 * (0);
                            const float ce1_0_0 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_0 / 32 % 16) + (cut8 + e1_0 % 32))];
                            const float ce1_0_1 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_0 / 32 % 16) + (cut8 + e1_0 % 32) + 20480)];
                            const float ce1_0_2 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_0 / 32 % 16) + (cut8 + e1_0 % 32) + 40960)];
                            const float ce1_0_3 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_0 / 32 % 16) + (cut8 + e1_0 % 32) + 61440)];
                            const int e1_1 = base + 32;
                            const int toe1_1 = 68 * (e1_1 % 32) + 4 * (e1_1 / 32 % 16) + 4 * (0);
                            const float ce1_1_0 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_1 / 32 % 16) + (cut8 + e1_1 % 32))];
                            const float ce1_1_1 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_1 / 32 % 16) + (cut8 + e1_1 % 32) + 20480)];
                            const float ce1_1_2 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_1 / 32 % 16) + (cut8 + e1_1 % 32) + 40960)];
                            const float ce1_1_3 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_1 / 32 % 16) + (cut8 + e1_1 % 32) + 61440)];
                            const int e1_2 = base + 64;
                            const int toe1_2 = 68 * (e1_2 % 32) + 4 * (e1_2 / 32 % 16) + 4 * (0);
                            const float ce1_2_0 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_2 / 32 % 16) + (cut8 + e1_2 % 32))];
                            const float ce1_2_1 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_2 / 32 % 16) + (cut8 + e1_2 % 32) + 20480)];
                            const float ce1_2_2 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_2 / 32 % 16) + (cut8 + e1_2 % 32) + 40960)];
                            const float ce1_2_3 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_2 / 32 % 16) + (cut8 + e1_2 % 32) + 61440)];
                            const int e1_3 = base + 96;
                            const int toe1_3 = 68 * (e1_3 % 32) + 4 * (e1_3 / 32 % 16) + 4 * (0);
                            const float ce1_3_0 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_3 / 32 % 16) + (cut8 + e1_3 % 32))];
                            const float ce1_3_1 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_3 / 32 % 16) + (cut8 + e1_3 % 32) + 20480)];
                            const float ce1_3_2 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_3 / 32 % 16) + (cut8 + e1_3 % 32) + 40960)];
                            const float ce1_3_3 = v2[(20480 * (i1 + 4 * (0)) + 320 * (from2 + e1_3 / 32 % 16) + (cut8 + e1_3 % 32) + 61440)];
                            panel1[toe1_0 + 0] = ce1_0_0;
                            panel1[toe1_0 + 1] = ce1_0_1;
                            panel1[toe1_0 + 2] = ce1_0_2;
                            panel1[toe1_0 + 3] = ce1_0_3;
                            panel1[toe1_1 + 0] = ce1_1_0;
                            panel1[toe1_1 + 1] = ce1_1_1;
                            panel1[toe1_1 + 2] = ce1_1_2;
                            panel1[toe1_1 + 3] = ce1_1_3;
                            panel1[toe1_2 + 0] = ce1_2_0;
                            panel1[toe1_2 + 1] = ce1_2_1;
                            panel1[toe1_2 + 2] = ce1_2_2;
                            panel1[toe1_2 + 3] = ce1_2_3;
                            panel1[toe1_3 + 0] = ce1_3_0;
                            panel1[toe1_3 + 1] = ce1_3_1;
                            panel1[toe1_3 + 2] = ce1_3_2;
                            panel1[toe1_3 + 3] = ce1_3_3;
                        }
                        panel0[toe0_0 + 0] = ce0_0_0;
                        panel0[toe0_0 + 1] = ce0_0_1;
                        panel0[toe0_0 + 2] = ce0_0_2;
                        panel0[toe0_0 + 3] = ce0_0_3;
                        panel0[toe0_1 + 0] = ce0_1_0;
                        panel0[toe0_1 + 1] = ce0_1_1;
                        panel0[toe0_1 + 2] = ce0_1_2;
                        panel0[toe0_1 + 3] = ce0_1_3;
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 4) {
                            const float t1 = own0[12 * (i3 - cut8)];
                            const float t2 = own1[68 * (i3 - cut8)];
                            const float t3 = own1[68 * (i3 - cut8) + 1];
                            const float t4 = own1[68 * (i3 - cut8) + 2];
                            const float t5 = own1[68 * (i3 - cut8) + 3];
                            const float t6 = own0[12 * (i3 - cut8) + 1];
                            const float t7 = own0[12 * (i3 - cut8) + 2];
                            const float t8 = own0[12 * (i3 - cut8) + 3];
                            const float t9 = own0[12 * (i3 - cut8) + 12];
                            const float t10 = own1[68 * (i3 - cut8) + 68];
                            const float t11 = own1[68 * (i3 - cut8) + 69];
                            const float t12 = own1[68 * (i3 - cut8) + 70];
                            const float t13 = own1[68 * (i3 - cut8) + 71];
                            const float t14 = own0[12 * (i3 - cut8) + 13];
                            const float t15 = own0[12 * (i3 - cut8) + 14];
                            const float t16 = own0[12 * (i3 - cut8) + 15];
                            const float t17 = own0[12 * (i3 - cut8) + 24];
                            const float t18 = own1[68 * (i3 - cut8) + 136];
                            const float t19 = own1[68 * (i3 - cut8) + 137];
                            const float t20 = own1[68 * (i3 - cut8) + 138];
                            const float t21 = own1[68 * (i3 - cut8) + 139];
                            const float t22 = own0[12 * (i3 - cut8) + 25];
                            const float t23 = own0[12 * (i3 - cut8) + 26];
                            const float t24 = own0[12 * (i3 - cut8) + 27];
                            const float t25 = own0[12 * (i3 - cut8) + 36];
                            const float t26 = own1[68 * (i3 - cut8) + 204];
                            const float t27 = own1[68 * (i3 - cut8) + 205];
                            const float t28 = own1[68 * (i3 - cut8) + 206];
                            const float t29 = own1[68 * (i3 - cut8) + 207];
                            const float t30 = own0[12 * (i3 - cut8) + 37];
                            const float t31 = own0[12 * (i3 - cut8) + 38];
                            const float t32 = own0[12 * (i3 - cut8) + 39];
                            acc0 = fma(t1, t2, acc0);
                            acc1 = fma(t1, t3, acc1);
                            acc2 = fma(t1, t4, acc2);
                            acc3 = fma(t1, t5, acc3);
                            acc4 = fma(t6, t2, acc4);
                            acc5 = fma(t6, t3, acc5);
                            acc6 = fma(t6, t4, acc6);
                            acc7 = fma(t6, t5, acc7);
                            acc8 = fma(t7, t2, acc8);
                            acc9 = fma(t7, t3, acc9);
                            acc10 = fma(t7, t4, acc10);
                            acc11 = fma(t7, t5, acc11);
                            acc12 = fma(t8, t2, acc12);
                            acc13 = fma(t8, t3, acc13);
                            acc14 = fma(t8, t4, acc14);
                            acc15 = fma(t8, t5, acc15);
                            acc0 = fma(t9, t10, acc0);
                            acc1 = fma(t9, t11, acc1);
                            acc2 = fma(t9, t12, acc2);
                            acc3 = fma(t9, t13, acc3);
                            acc4 = fma(t14, t10, acc4);
                            acc5 = fma(t14, t11, acc5);
                            acc6 = fma(t14, t12, acc6);
                            acc7 = fma(t14, t13, acc7);
                            acc8 = fma(t15, t10, acc8);
                            acc9 = fma(t15, t11, acc9);
                            acc10 = fma(t15, t12, acc10);
                            acc11 = fma(t15, t13, acc11);
                            acc12 = fma(t16, t10, acc12);
                            acc13 = fma(t16, t11, acc13);
                            acc14 = fma(t16, t12, acc14);
                            acc15 = fma(t16, t13, acc15);
                            acc0 = fma(t17, t18, acc0);
                            acc1 = fma(t17, t19, acc1);
                            acc2 = fma(t17, t20, acc2);
                            acc3 = fma(t17, t21, acc3);
                            acc4 = fma(t22, t18, acc4);
                            acc5 = fma(t22, t19, acc5);
                            acc6 = fma(t22, t20, acc6);
                            acc7 = fma(t22, t21, acc7);
                            acc8 = fma(t23, t18, acc8);
                            acc9 = fma(t23, t19, acc9);
                            acc10 = fma(t23, t20, acc10);
                            acc11 = fma(t23, t21, acc11);
                            acc12 = fma(t24, t18, acc12);
                            acc13 = fma(t24, t19, acc13);
                            acc14 = fma(t24, t20, acc14);
                            acc15 = fma(t24, t21, acc15);
                            acc0 = fma(t25, t26, acc0);
                            acc1 = fma(t25, t27, acc1);
                            acc2 = fma(t25, t28, acc2);
                            acc3 = fma(t25, t29, acc3);
                            acc4 = fma(t30, t26, acc4);
                            acc5 = fma(t30, t27, acc5);
                            acc6 = fma(t30, t28, acc6);
                            acc7 = fma(t30, t29, acc7);
                            acc8 = fma(t31, t26, acc8);
                            acc9 = fma(t31, t27, acc9);
                            acc10 = fma(t31, t28, acc10);
                            acc11 = fma(t31, t29, acc11);
                            acc12 = fma(t32, t26, acc12);
                            acc13 = fma(t32, t27, acc13);
                            acc14 = fma(t32, t28, acc14);
                            acc15 = fma(t32, t29, acc15);
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
                sum0_8 += acc8;
                sum0_9 += acc9;
                sum0_10 += acc10;
                sum0_11 += acc11;
                sum0_12 += acc12;
                sum0_13 += acc13;
                sum0_14 += acc14;
                sum0_15 += acc15;
            }
            acc0 = sum0_0;
            acc1 = sum0_1;
            acc2 = sum0_2;
            acc3 = sum0_3;
            acc4 = sum0_4;
            acc5 = sum0_5;
            acc6 = sum0_6;
            acc7 = sum0_7;
            acc8 = sum0_8;
            acc9 = sum0_9;
            acc10 = sum0_10;
            acc11 = sum0_11;
            acc12 = sum0_12;
            acc13 = sum0_13;
            acc14 = sum0_14;
            acc15 = sum0_15;
        }
        if (mine) {
            v0[256 * i0 + 64 * i1 + i2] = acc0;
            v0[256 * i0 + 64 * i1 + i2 + 64] = acc1;
            v0[256 * i0 + 64 * i1 + i2 + 128] = acc2;
            v0[256 * i0 + 64 * i1 + i2 + 192] = acc3;
            v0[256 * i0 + 64 * i1 + i2 + 256] = acc4;
            v0[256 * i0 + 64 * i1 + i2 + 320] = acc5;
            v0[256 * i0 + 64 * i1 + i2 + 384] = acc6;
            v0[256 * i0 + 64 * i1 + i2 + 448] = acc7;
            v0[256 * i0 + 64 * i1 + i2 + 512] = acc8;
            v0[256 * i0 + 64 * i1 + i2 + 576] = acc9;
            v0[256 * i0 + 64 * i1 + i2 + 640] = acc10;
            v0[256 * i0 + 64 * i1 + i2 + 704] = acc11;
            v0[256 * i0 + 64 * i1 + i2 + 768] = acc12;
            v0[256 * i0 + 64 * i1 + i2 + 832] = acc13;
            v0[256 * i0 + 64 * i1 + i2 + 896] = acc14;
            v0[256 * i0 + 64 * i1 + i2 + 960] = acc15;
        }
    }
}


