/* k0: 32 groups of 256; output 0, owned 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 0 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_84947319f80a3662(__global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[544] __attribute__((aligned(16)));
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
        const int i0 = from0 + item / 16 * 1;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item % 16 * 1;
        float acc0 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 320; cut0 += 128) {
                const int end0 = min(cut0 + 128, (int)320);
                acc0 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int cut8 = cut0; cut8 < end0; cut8 += 32) {
                    const int end8 = cut8 + 32;
                    if (mine) {
                        const int e0_0 = item + 0;
                        const int toe0_0 = 17 * (e0_0 % 32) + 1 * (e0_0 / 32 % 16) + 17 * (0);
                        const float ce0_0_0 = v2[(20480 * (i1 + 0) + 320 * (from2 + e0_0 / 32 % 16) + (cut8 + e0_0 % 32))];
                        const int e0_1 = item + 256;
                        const int toe0_1 = 17 * (e0_1 % 32) + 1 * (e0_1 / 32 % 16) + 17 * (0);
                        const float ce0_1_0 = v2[(20480 * (i1 + 0) + 320 * (from2 + e0_1 / 32 % 16) + (cut8 + e0_1 % 32))];
                        panel0[toe0_0 + 0] = ce0_0_0;
                        panel0[toe0_1 + 0] = ce0_1_0;
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 8) {
                            const float t1 = v1[320 * i0 + i3];
                            const float t2 = own0[17 * (i3 - cut8)];
                            const float t3 = v1[320 * i0 + i3 + 1];
                            const float t4 = own0[17 * (i3 - cut8) + 17];
                            const float t5 = v1[320 * i0 + i3 + 2];
                            const float t6 = own0[17 * (i3 - cut8) + 34];
                            const float t7 = v1[320 * i0 + i3 + 3];
                            const float t8 = own0[17 * (i3 - cut8) + 51];
                            const float t9 = v1[320 * i0 + i3 + 4];
                            const float t10 = own0[17 * (i3 - cut8) + 68];
                            const float t11 = v1[320 * i0 + i3 + 5];
                            const float t12 = own0[17 * (i3 - cut8) + 85];
                            const float t13 = v1[320 * i0 + i3 + 6];
                            const float t14 = own0[17 * (i3 - cut8) + 102];
                            const float t15 = v1[320 * i0 + i3 + 7];
                            const float t16 = own0[17 * (i3 - cut8) + 119];
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
            v0[256 * i0 + 64 * i1 + i2] = acc0;
        }
    }
}


