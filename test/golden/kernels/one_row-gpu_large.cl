/* k0: 4 groups of 256; arena 0, at 0, input 0, owned 0; at bytes 0, 0 */
/* k1: 4 groups of 256; output 0, arena 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 2816 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_3d991ef0bd47c8a0(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[2832] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v1 = (__global float *)(input0); /* [1,256] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [704,256] */
    {
        /* matmul [1 2 352 | 256] */
        const bool mine = section_group >= 0 && section_group < 4;
        const bool busy = mine && item < 176;
        const int group = mine ? section_group - 0 : 0;
        const int from2 = group % 2 * 176;
        const int i2 = from2 + item % 176;
        const int i1 = group / 2 % 2 * 1;
        const int i0 = 0 * 1;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item % 176 * 1;
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
                for (int cut8 = cut0; cut8 < end0; cut8 += 16) {
                    const int end8 = cut8 + 16;
                    if (mine) {
                        const int e0_0 = item + 0;
                        const int toe0_0 = 177 * (e0_0 % 16) + 1 * (e0_0 / 16 % 176) + 177 * (0);
                        const float ce0_0_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_0 / 16 % 176) + (cut8 + e0_0 % 16))];
                        const int e0_1 = item + 256;
                        const int toe0_1 = 177 * (e0_1 % 16) + 1 * (e0_1 / 16 % 176) + 177 * (0);
                        const float ce0_1_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_1 / 16 % 176) + (cut8 + e0_1 % 16))];
                        const int e0_2 = item + 512;
                        const int toe0_2 = 177 * (e0_2 % 16) + 1 * (e0_2 / 16 % 176) + 177 * (0);
                        const float ce0_2_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_2 / 16 % 176) + (cut8 + e0_2 % 16))];
                        const int e0_3 = item + 768;
                        const int toe0_3 = 177 * (e0_3 % 16) + 1 * (e0_3 / 16 % 176) + 177 * (0);
                        const float ce0_3_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_3 / 16 % 176) + (cut8 + e0_3 % 16))];
                        const int e0_4 = item + 1024;
                        const int toe0_4 = 177 * (e0_4 % 16) + 1 * (e0_4 / 16 % 176) + 177 * (0);
                        const float ce0_4_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_4 / 16 % 176) + (cut8 + e0_4 % 16))];
                        const int e0_5 = item + 1280;
                        const int toe0_5 = 177 * (e0_5 % 16) + 1 * (e0_5 / 16 % 176) + 177 * (0);
                        const float ce0_5_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_5 / 16 % 176) + (cut8 + e0_5 % 16))];
                        const int e0_6 = item + 1536;
                        const int toe0_6 = 177 * (e0_6 % 16) + 1 * (e0_6 / 16 % 176) + 177 * (0);
                        const float ce0_6_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_6 / 16 % 176) + (cut8 + e0_6 % 16))];
                        const int e0_7 = item + 1792;
                        const int toe0_7 = 177 * (e0_7 % 16) + 1 * (e0_7 / 16 % 176) + 177 * (0);
                        const float ce0_7_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_7 / 16 % 176) + (cut8 + e0_7 % 16))];
                        const int e0_8 = item + 2048;
                        const int toe0_8 = 177 * (e0_8 % 16) + 1 * (e0_8 / 16 % 176) + 177 * (0);
                        const float ce0_8_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_8 / 16 % 176) + (cut8 + e0_8 % 16))];
                        const int e0_9 = item + 2304;
                        const int toe0_9 = 177 * (e0_9 % 16) + 1 * (e0_9 / 16 % 176) + 177 * (0);
                        const float ce0_9_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_9 / 16 % 176) + (cut8 + e0_9 % 16))];
                        const int e0_10 = item + 2560;
                        const int toe0_10 = 177 * (e0_10 % 16) + 1 * (e0_10 / 16 % 176) + 177 * (0);
                        const float ce0_10_0 = v2[(90112 * (i1 + 0) + 256 * (from2 + e0_10 / 16 % 176) + (cut8 + e0_10 % 16))];
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
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (busy) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 8) {
                            const float t1 = v1[256 * i0 + i3];
                            const float t2 = own0[177 * (i3 - cut8)];
                            const float t3 = v1[256 * i0 + i3 + 1];
                            const float t4 = own0[177 * (i3 - cut8) + 177];
                            const float t5 = v1[256 * i0 + i3 + 2];
                            const float t6 = own0[177 * (i3 - cut8) + 354];
                            const float t7 = v1[256 * i0 + i3 + 3];
                            const float t8 = own0[177 * (i3 - cut8) + 531];
                            const float t9 = v1[256 * i0 + i3 + 4];
                            const float t10 = own0[177 * (i3 - cut8) + 708];
                            const float t11 = v1[256 * i0 + i3 + 5];
                            const float t12 = own0[177 * (i3 - cut8) + 885];
                            const float t13 = v1[256 * i0 + i3 + 6];
                            const float t14 = own0[177 * (i3 - cut8) + 1062];
                            const float t15 = v1[256 * i0 + i3 + 7];
                            const float t16 = own0[177 * (i3 - cut8) + 1239];
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
        if (busy) {
            const float t17 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            v0[704 * i0 + 352 * i1 + i2] = t17;
        }
    }
}


/* matmul */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_c3e71597ede630f7(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[5152] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(output0); /* [1,640] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [640,704] */
    {
        /* matmul [1 4 160 | 704] */
        const bool mine = section_group >= 0 && section_group < 4;
        const bool busy = mine && item < 160;
        const int group = mine ? section_group - 0 : 0;
        const int from2 = 0 * 160;
        const int i2 = from2 + item % 160;
        const int i1 = group % 4 * 1;
        const int i0 = 0 * 1;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item % 160 * 1;
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
                        for (int base = item; base < 5120; base += 4096) {
                            const int e0_0 = base + 0;
                            const int toe0_0 = 161 * (e0_0 % 32) + 1 * (e0_0 / 32 % 160) + 161 * (0);
                            const float ce0_0_0 = e0_0 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_0 / 32 % 160) + (cut8 + e0_0 % 32))] : 0;
                            const int e0_1 = base + 256;
                            const int toe0_1 = 161 * (e0_1 % 32) + 1 * (e0_1 / 32 % 160) + 161 * (0);
                            const float ce0_1_0 = e0_1 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_1 / 32 % 160) + (cut8 + e0_1 % 32))] : 0;
                            const int e0_2 = base + 512;
                            const int toe0_2 = 161 * (e0_2 % 32) + 1 * (e0_2 / 32 % 160) + 161 * (0);
                            const float ce0_2_0 = e0_2 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_2 / 32 % 160) + (cut8 + e0_2 % 32))] : 0;
                            const int e0_3 = base + 768;
                            const int toe0_3 = 161 * (e0_3 % 32) + 1 * (e0_3 / 32 % 160) + 161 * (0);
                            const float ce0_3_0 = e0_3 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_3 / 32 % 160) + (cut8 + e0_3 % 32))] : 0;
                            const int e0_4 = base + 1024;
                            const int toe0_4 = 161 * (e0_4 % 32) + 1 * (e0_4 / 32 % 160) + 161 * (0);
                            const float ce0_4_0 = e0_4 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_4 / 32 % 160) + (cut8 + e0_4 % 32))] : 0;
                            const int e0_5 = base + 1280;
                            const int toe0_5 = 161 * (e0_5 % 32) + 1 * (e0_5 / 32 % 160) + 161 * (0);
                            const float ce0_5_0 = e0_5 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_5 / 32 % 160) + (cut8 + e0_5 % 32))] : 0;
                            const int e0_6 = base + 1536;
                            const int toe0_6 = 161 * (e0_6 % 32) + 1 * (e0_6 / 32 % 160) + 161 * (0);
                            const float ce0_6_0 = e0_6 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_6 / 32 % 160) + (cut8 + e0_6 % 32))] : 0;
                            const int e0_7 = base + 1792;
                            const int toe0_7 = 161 * (e0_7 % 32) + 1 * (e0_7 / 32 % 160) + 161 * (0);
                            const float ce0_7_0 = e0_7 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_7 / 32 % 160) + (cut8 + e0_7 % 32))] : 0;
                            const int e0_8 = base + 2048;
                            const int toe0_8 = 161 * (e0_8 % 32) + 1 * (e0_8 / 32 % 160) + 161 * (0);
                            const float ce0_8_0 = e0_8 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_8 / 32 % 160) + (cut8 + e0_8 % 32))] : 0;
                            const int e0_9 = base + 2304;
                            const int toe0_9 = 161 * (e0_9 % 32) + 1 * (e0_9 / 32 % 160) + 161 * (0);
                            const float ce0_9_0 = e0_9 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_9 / 32 % 160) + (cut8 + e0_9 % 32))] : 0;
                            const int e0_10 = base + 2560;
                            const int toe0_10 = 161 * (e0_10 % 32) + 1 * (e0_10 / 32 % 160) + 161 * (0);
                            const float ce0_10_0 = e0_10 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_10 / 32 % 160) + (cut8 + e0_10 % 32))] : 0;
                            const int e0_11 = base + 2816;
                            const int toe0_11 = 161 * (e0_11 % 32) + 1 * (e0_11 / 32 % 160) + 161 * (0);
                            const float ce0_11_0 = e0_11 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_11 / 32 % 160) + (cut8 + e0_11 % 32))] : 0;
                            const int e0_12 = base + 3072;
                            const int toe0_12 = 161 * (e0_12 % 32) + 1 * (e0_12 / 32 % 160) + 161 * (0);
                            const float ce0_12_0 = e0_12 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_12 / 32 % 160) + (cut8 + e0_12 % 32))] : 0;
                            const int e0_13 = base + 3328;
                            const int toe0_13 = 161 * (e0_13 % 32) + 1 * (e0_13 / 32 % 160) + 161 * (0);
                            const float ce0_13_0 = e0_13 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_13 / 32 % 160) + (cut8 + e0_13 % 32))] : 0;
                            const int e0_14 = base + 3584;
                            const int toe0_14 = 161 * (e0_14 % 32) + 1 * (e0_14 / 32 % 160) + 161 * (0);
                            const float ce0_14_0 = e0_14 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_14 / 32 % 160) + (cut8 + e0_14 % 32))] : 0;
                            const int e0_15 = base + 3840;
                            const int toe0_15 = 161 * (e0_15 % 32) + 1 * (e0_15 / 32 % 160) + 161 * (0);
                            const float ce0_15_0 = e0_15 < 5120 ? v2[(112640 * (i1 + 0) + 704 * (from2 + e0_15 / 32 % 160) + (cut8 + e0_15 % 32))] : 0;
                            if (e0_0 < 5120) {
                                panel0[toe0_0 + 0] = ce0_0_0;
                            }
                            if (e0_1 < 5120) {
                                panel0[toe0_1 + 0] = ce0_1_0;
                            }
                            if (e0_2 < 5120) {
                                panel0[toe0_2 + 0] = ce0_2_0;
                            }
                            if (e0_3 < 5120) {
                                panel0[toe0_3 + 0] = ce0_3_0;
                            }
                            if (e0_4 < 5120) {
                                panel0[toe0_4 + 0] = ce0_4_0;
                            }
                            if (e0_5 < 5120) {
                                panel0[toe0_5 + 0] = ce0_5_0;
                            }
                            if (e0_6 < 5120) {
                                panel0[toe0_6 + 0] = ce0_6_0;
                            }
                            if (e0_7 < 5120) {
                                panel0[toe0_7 + 0] = ce0_7_0;
                            }
                            if (e0_8 < 5120) {
                                panel0[toe0_8 + 0] = ce0_8_0;
                            }
                            if (e0_9 < 5120) {
                                panel0[toe0_9 + 0] = ce0_9_0;
                            }
                            if (e0_10 < 5120) {
                                panel0[toe0_10 + 0] = ce0_10_0;
                            }
                            if (e0_11 < 5120) {
                                panel0[toe0_11 + 0] = ce0_11_0;
                            }
                            if (e0_12 < 5120) {
                                panel0[toe0_12 + 0] = ce0_12_0;
                            }
                            if (e0_13 < 5120) {
                                panel0[toe0_13 + 0] = ce0_13_0;
                            }
                            if (e0_14 < 5120) {
                                panel0[toe0_14 + 0] = ce0_14_0;
                            }
                            if (e0_15 < 5120) {
                                panel0[toe0_15 + 0] = ce0_15_0;
                            }
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (busy) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 8) {
                            const float t1 = v1[704 * i0 + i3];
                            const float t2 = own0[161 * (i3 - cut8)];
                            const float t3 = v1[704 * i0 + i3 + 1];
                            const float t4 = own0[161 * (i3 - cut8) + 161];
                            const float t5 = v1[704 * i0 + i3 + 2];
                            const float t6 = own0[161 * (i3 - cut8) + 322];
                            const float t7 = v1[704 * i0 + i3 + 3];
                            const float t8 = own0[161 * (i3 - cut8) + 483];
                            const float t9 = v1[704 * i0 + i3 + 4];
                            const float t10 = own0[161 * (i3 - cut8) + 644];
                            const float t11 = v1[704 * i0 + i3 + 5];
                            const float t12 = own0[161 * (i3 - cut8) + 805];
                            const float t13 = v1[704 * i0 + i3 + 6];
                            const float t14 = own0[161 * (i3 - cut8) + 966];
                            const float t15 = v1[704 * i0 + i3 + 7];
                            const float t16 = own0[161 * (i3 - cut8) + 1127];
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
        if (busy) {
            v0[640 * i0 + 160 * i1 + i2] = acc0;
        }
    }
}


