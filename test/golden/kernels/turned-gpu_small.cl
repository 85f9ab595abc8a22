/* k0: 32 groups of 32; output 0, owned 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 0 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_ae05b62229a85562(__global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1)
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
                        #pragma unroll 16
                        #pragma clang loop vectorize(disable)
                        for (int e = item; e < 512; e += 32) {
                            const int p3 = e % 32;
                            const int p0 = e / 32 % 16;
                            panel0[20 * p3 + 1 * p0] = v1[320 * (from0 + p0) + (cut8 + p3)];
                        }
                        #pragma unroll 16
                        #pragma clang loop vectorize(disable)
                        for (int e = item; e < 512; e += 32) {
                            const int p3 = e % 32;
                            const int p2 = e / 32 % 16;
                            const int p1 = 0;
                            panel1[17 * p3 + 1 * p2 + 17 * p1] = v2[20480 * (i1 + p1) + 320 * (from2 + p2) + (cut8 + p3)];
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma unroll 1
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 1) {
                            const float t1 = own0[20 * (i3 - cut8)];
                            const float t2 = own1[17 * (i3 - cut8)];
                            const float t3 = own0[20 * (i3 - cut8) + 1];
                            const float t4 = own0[20 * (i3 - cut8) + 2];
                            const float t5 = own0[20 * (i3 - cut8) + 3];
                            const float t6 = own0[20 * (i3 - cut8) + 4];
                            const float t7 = own0[20 * (i3 - cut8) + 5];
                            const float t8 = own0[20 * (i3 - cut8) + 6];
                            const float t9 = own0[20 * (i3 - cut8) + 7];
                            acc0 = fma(t1, t2, acc0);
                            acc1 = fma(t3, t2, acc1);
                            acc2 = fma(t4, t2, acc2);
                            acc3 = fma(t5, t2, acc3);
                            acc4 = fma(t6, t2, acc4);
                            acc5 = fma(t7, t2, acc5);
                            acc6 = fma(t8, t2, acc6);
                            acc7 = fma(t9, t2, acc7);
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


