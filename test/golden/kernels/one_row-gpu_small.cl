/* k0: 22 groups of 32; arena 0, at 0, input 0, owned 0; at bytes 0, 0 */
/* k1: 20 groups of 32; output 0, arena 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 2816 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_1794276625f85724(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[1056] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v1 = (__global float *)(input0); /* [1,256] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [704,256] */
    {
        /* matmul [1 2 352 | 256] */
        const bool mine = section_group >= 0 && section_group < 22;
        const int group = mine ? section_group - 0 : 0;
        const int from2 = group % 11 * 32;
        const int i2 = from2 + item % 32;
        const int i1 = group / 11 % 2 * 1;
        const int i0 = 0 * 1;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item % 32 * 1;
        float acc0 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 256; cut0 += 128) {
                const int end0 = cut0 + 128;
                acc0 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int cut8 = cut0; cut8 < end0; cut8 += 32) {
                    const int end8 = cut8 + 32;
                    if (mine) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int base = item; base < 1024; base += 512) {
                            const int e0_0 = base + 0;
                            const int toe0_0 = 33 * (e0_0 % 32) + 1 * (e0_0 / 32 % 32) + 33 * (0);
                            const float ce0_0_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_0 / 32 % 32) + (cut8 + e0_0 % 32))];
                            const int e0_1 = base + 32;
                            const int toe0_1 = 33 * (e0_1 % 32) + 1 * (e0_1 / 32 % 32) + 33 * (0);
                            const float ce0_1_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_1 / 32 % 32) + (cut8 + e0_1 % 32))];
                            const int e0_2 = base + 64;
                            const int toe0_2 = 33 * (e0_2 % 32) + 1 * (e0_2 / 32 % 32) + 33 * (0);
                            const float ce0_2_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_2 / 32 % 32) + (cut8 + e0_2 % 32))];
                            const int e0_3 = base + 96;
                            const int toe0_3 = 33 * (e0_3 % 32) + 1 * (e0_3 / 32 % 32) + 33 * (0);
                            const float ce0_3_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_3 / 32 % 32) + (cut8 + e0_3 % 32))];
                            const int e0_4 = base + 128;
                            const int toe0_4 = 33 * (e0_4 % 32) + 1 * (e0_4 / 32 % 32) + 33 * (0);
                            const float ce0_4_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_4 / 32 % 32) + (cut8 + e0_4 % 32))];
                            const int e0_5 = base + 160;
                            const int toe0_5 = 33 * (e0_5 % 32) + 1 * (e0_5 / 32 % 32) + 33 * (0);
                            const float ce0_5_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_5 / 32 % 32) + (cut8 + e0_5 % 32))];
                            const int e0_6 = base + 192;
                            const int toe0_6 = 33 * (e0_6 % 32) + 1 * (e0_6 / 32 % 32) + 33 * (0);
                            const float ce0_6_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_6 / 32 % 32) + (cut8 + e0_6 % 32))];
                            const int e0_7 = base + 224;
                            const int toe0_7 = 33 * (e0_7 % 32) + 1 * (e0_7 / 32 % 32) + 33 * (0);
                            const float ce0_7_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_7 / 32 % 32) + (cut8 + e0_7 % 32))];
                            const int e0_8 = base + 256;
                            const int toe0_8 = 33 * (e0_8 % 32) + 1 * (e0_8 / 32 % 32) + 33 * (0);
                            const float ce0_8_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_8 / 32 % 32) + (cut8 + e0_8 % 32))];
                            const int e0_9 = base + 288;
                            const int toe0_9 = 33 * (e0_9 % 32) + 1 * (e0_9 / 32 % 32) + 33 * (0);
                            const float ce0_9_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_9 / 32 % 32) + (cut8 + e0_9 % 32))];
                            const int e0_10 = base + 320;
                            const int toe0_10 = 33 * (e0_10 % 32) + 1 * (e0_10 / 32 % 32) + 33 * (0);
                            const float ce0_10_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_10 / 32 % 32) + (cut8 + e0_10 % 32))];
                            const int e0_11 = base + 352;
                            const int toe0_11 = 33 * (e0_11 % 32) + 1 * (e0_11 / 32 % 32) + 33 * (0);
                            const float ce0_11_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_11 / 32 % 32) + (cut8 + e0_11 % 32))];
                            const int e0_12 = base + 384;
                            const int toe0_12 = 33 * (e0_12 % 32) + 1 * (e0_12 / 32 % 32) + 33 * (0);
                            const float ce0_12_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_12 / 32 % 32) + (cut8 + e0_12 % 32))];
                            const int e0_13 = base + 416;
                            const int toe0_13 = 33 * (e0_13 % 32) + 1 * (e0_13 / 32 % 32) + 33 * (0);
                            const float ce0_13_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_13 / 32 % 32) + (cut8 + e0_13 % 32))];
                            const int e0_14 = base + 448;
                            const int toe0_14 = 33 * (e0_14 % 32) + 1 * (e0_14 / 32 % 32) + 33 * (0);
                            const float ce0_14_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_14 / 32 % 32) + (cut8 + e0_14 % 32))];
                            const int e0_15 = base + 480;
                            const int toe0_15 = 33 * (e0_15 % 32) + 1 * (e0_15 / 32 % 32) + 33 * (0);
                            const float ce0_15_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_15 / 32 % 32) + (cut8 + e0_15 % 32))];
                            panel0[toe0_0 + 0] = ce0_0_0;
                            panel0[toe0_1 + 0] = ce0_1_0;
                            panel0[toe0_2 + 0] = ce0_2_0;
                            panel0[toe0_3 + 0] = ce0_3_0;
                            panel0[toe0_4 + 0] = ce0_4_0;
                            panel0[toe0_5 + 0] = ce0_5_0;
                            panel0[toe0_6 + 0] = ce0_6_0;
                            panel0[toe0_7 + 0] = ce0_7_0;
                            panel0[toe0_8 + 0] = ce0_8_0;
                            panel0[toe0_9 + 0] = ce0_9_0;
                            panel0[toe0_10 + 0] = ce0_10_0;
                            panel0[toe0_11 + 0] = ce0_11_0;
                            panel0[toe0_12 + 0] = ce0_12_0;
                            panel0[toe0_13 + 0] = ce0_13_0;
                            panel0[toe0_14 + 0] = ce0_14_0;
                            panel0[toe0_15 + 0] = ce0_15_0;
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 8) {
                            const float t1 = v1[256 * i0 + i3];
                            const float t2 = own0[33 * (i3 - cut8)];
                            const float t3 = v1[256 * i0 + i3 + 1];
                            const float t4 = own0[33 * (i3 - cut8) + 33];
                            const float t5 = v1[256 * i0 + i3 + 2];
                            const float t6 = own0[33 * (i3 - cut8) + 66];
                            const float t7 = v1[256 * i0 + i3 + 3];
                            const float t8 = own0[33 * (i3 - cut8) + 99];
                            const float t9 = v1[256 * i0 + i3 + 4];
                            const float t10 = own0[33 * (i3 - cut8) + 132];
                            const float t11 = v1[256 * i0 + i3 + 5];
                            const float t12 = own0[33 * (i3 - cut8) + 165];
                            const float t13 = v1[256 * i0 + i3 + 6];
                            const float t14 = own0[33 * (i3 - cut8) + 198];
                            const float t15 = v1[256 * i0 + i3 + 7];
                            const float t16 = own0[33 * (i3 - cut8) + 231];
                            acc0 = fma(t1, t2, acc0);
                            acc0 = fma(t3, t4, acc0);
                            acc0 = fma(t5, t6, acc0);
                            acc0 = fma(t7, t8, acc0);
                            acc0 = fma(t9, t10, acc0);
                            acc0 = fma(t11, t12, acc0);
                            acc0 = fma(t13, t14, acc0);
                            acc0 = fma(t15, t16, acc0);
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        if (mine) {
            const float t17 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            v0[704 * i0 + 352 * i1 + i2] = t17;
        }
    }
}


/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_d1a110ca30b78082(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[1056] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(output0); /* [1,640] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [640,704] */
    {
        /* matmul [1 4 160 | 704] */
        const bool mine = section_group >= 0 && section_group < 20;
        const int group = mine ? section_group - 0 : 0;
        const int from2 = group % 5 * 32;
        const int i2 = from2 + item % 32;
        const int i1 = group / 5 % 4 * 1;
        const int i0 = 0 * 1;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item % 32 * 1;
        float acc0 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 704; cut0 += 128) {
                const int end0 = min(cut0 + 128, (int)704);
                acc0 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int cut8 = cut0; cut8 < end0; cut8 += 32) {
                    const int end8 = cut8 + 32;
                    if (mine) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int base = item; base < 1024; base += 512) {
                            const int e0_0 = base + 0;
                            const int toe0_0 = 33 * (e0_0 % 32) + 1 * (e0_0 / 32 % 32) + 33 * (0);
                            const float ce0_0_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_0 / 32 % 32) + (cut8 + e0_0 % 32))];
                            const int e0_1 = base + 32;
                            const int toe0_1 = 33 * (e0_1 % 32) + 1 * (e0_1 / 32 % 32) + 33 * (0);
                            const float ce0_1_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_1 / 32 % 32) + (cut8 + e0_1 % 32))];
                            const int e0_2 = base + 64;
                            const int toe0_2 = 33 * (e0_2 % 32) + 1 * (e0_2 / 32 % 32) + 33 * (0);
                            const float ce0_2_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_2 / 32 % 32) + (cut8 + e0_2 % 32))];
                            const int e0_3 = base + 96;
                            const int toe0_3 = 33 * (e0_3 % 32) + 1 * (e0_3 / 32 % 32) + 33 * (0);
                            const float ce0_3_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_3 / 32 % 32) + (cut8 + e0_3 % 32))];
                            const int e0_4 = base + 128;
                            const int toe0_4 = 33 * (e0_4 % 32) + 1 * (e0_4 / 32 % 32) + 33 * (0);
                            const float ce0_4_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_4 / 32 % 32) + (cut8 + e0_4 % 32))];
                            const int e0_5 = base + 160;
                            const int toe0_5 = 33 * (e0_5 % 32) + 1 * (e0_5 / 32 % 32) + 33 * (0);
                            const float ce0_5_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_5 / 32 % 32) + (cut8 + e0_5 % 32))];
                            const int e0_6 = base + 192;
                            const int toe0_6 = 33 * (e0_6 % 32) + 1 * (e0_6 / 32 % 32) + 33 * (0);
                            const float ce0_6_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_6 / 32 % 32) + (cut8 + e0_6 % 32))];
                            const int e0_7 = base + 224;
                            const int toe0_7 = 33 * (e0_7 % 32) + 1 * (e0_7 / 32 % 32) + 33 * (0);
                            const float ce0_7_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_7 / 32 % 32) + (cut8 + e0_7 % 32))];
                            const int e0_8 = base + 256;
                            const int toe0_8 = 33 * (e0_8 % 32) + 1 * (e0_8 / 32 % 32) + 33 * (0);
                            const float ce0_8_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_8 / 32 % 32) + (cut8 + e0_8 % 32))];
                            const int e0_9 = base + 288;
                            const int toe0_9 = 33 * (e0_9 % 32) + 1 * (e0_9 / 32 % 32) + 33 * (0);
                            const float ce0_9_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_9 / 32 % 32) + (cut8 + e0_9 % 32))];
                            const int e0_10 = base + 320;
                            const int toe0_10 = 33 * (e0_10 % 32) + 1 * (e0_10 / 32 % 32) + 33 * (0);
                            const float ce0_10_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_10 / 32 % 32) + (cut8 + e0_10 % 32))];
                            const int e0_11 = base + 352;
                            const int toe0_11 = 33 * (e0_11 % 32) + 1 * (e0_11 / 32 % 32) + 33 * (0);
                            const float ce0_11_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_11 / 32 % 32) + (cut8 + e0_11 % 32))];
                            const int e0_12 = base + 384;
                            const int toe0_12 = 33 * (e0_12 % 32) + 1 * (e0_12 / 32 % 32) + 33 * (0);
                            const float ce0_12_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_12 / 32 % 32) + (cut8 + e0_12 % 32))];
                            const int e0_13 = base + 416;
                            const int toe0_13 = 33 * (e0_13 % 32) + 1 * (e0_13 / 32 % 32) + 33 * (0);
                            const float ce0_13_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_13 / 32 % 32) + (cut8 + e0_13 % 32))];
                            const int e0_14 = base + 448;
                            const int toe0_14 = 33 * (e0_14 % 32) + 1 * (e0_14 / 32 % 32) + 33 * (0);
                            const float ce0_14_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_14 / 32 % 32) + (cut8 + e0_14 % 32))];
                            const int e0_15 = base + 480;
                            const int toe0_15 = 33 * (e0_15 % 32) + 1 * (e0_15 / 32 % 32) + 33 * (0);
                            const float ce0_15_0 = v2[(112640 * (i1 + 0) + 704 * (from2 + e0_15 / 32 % 32) + (cut8 + e0_15 % 32))];
                            panel0[toe0_0 + 0] = ce0_0_0;
                            panel0[toe0_1 + 0] = ce0_1_0;
                            panel0[toe0_2 + 0] = ce0_2_0;
                            panel0[toe0_3 + 0] = ce0_3_0;
                            panel0[toe0_4 + 0] = ce0_4_0;
                            panel0[toe0_5 + 0] = ce0_5_0;
                            panel0[toe0_6 + 0] = ce0_6_0;
                            panel0[toe0_7 + 0] = ce0_7_0;
                            panel0[toe0_8 + 0] = ce0_8_0;
                            panel0[toe0_9 + 0] = ce0_9_0;
                            panel0[toe0_10 + 0] = ce0_10_0;
                            panel0[toe0_11 + 0] = ce0_11_0;
                            panel0[toe0_12 + 0] = ce0_12_0;
                            panel0[toe0_13 + 0] = ce0_13_0;
                            panel0[toe0_14 + 0] = ce0_14_0;
                            panel0[toe0_15 + 0] = ce0_15_0;
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 8) {
                            const float t1 = v1[704 * i0 + i3];
                            const float t2 = own0[33 * (i3 - cut8)];
                            const float t3 = v1[704 * i0 + i3 + 1];
                            const float t4 = own0[33 * (i3 - cut8) + 33];
                            const float t5 = v1[704 * i0 + i3 + 2];
                            const float t6 = own0[33 * (i3 - cut8) + 66];
                            const float t7 = v1[704 * i0 + i3 + 3];
                            const float t8 = own0[33 * (i3 - cut8) + 99];
                            const float t9 = v1[704 * i0 + i3 + 4];
                            const float t10 = own0[33 * (i3 - cut8) + 132];
                            const float t11 = v1[704 * i0 + i3 + 5];
                            const float t12 = own0[33 * (i3 - cut8) + 165];
                            const float t13 = v1[704 * i0 + i3 + 6];
                            const float t14 = own0[33 * (i3 - cut8) + 198];
                            const float t15 = v1[704 * i0 + i3 + 7];
                            const float t16 = own0[33 * (i3 - cut8) + 231];
                            acc0 = fma(t1, t2, acc0);
                            acc0 = fma(t3, t4, acc0);
                            acc0 = fma(t5, t6, acc0);
                            acc0 = fma(t7, t8, acc0);
                            acc0 = fma(t9, t10, acc0);
                            acc0 = fma(t11, t12, acc0);
                            acc0 = fma(t13, t14, acc0);
                            acc0 = fma(t15, t16, acc0);
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        if (mine) {
            v0[640 * i0 + 160 * i1 + i2] = acc0;
        }
    }
}


