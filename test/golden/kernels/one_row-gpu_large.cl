/* k0: 4 groups of 256; arena 0, at 0, input 0, owned 0; at bytes 0, 0 */
/* k1: 4 groups of 256; output 0, arena 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 2816 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_aa1fa5e2ff994319(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
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
        __local const float *own0 = panel0 + item % 176;
        float acc0 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 256; cut0 += 128) {
                const int end0 = cut0 + 128;
                acc0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut8 = cut0; cut8 < end0; cut8 += 16) {
                    const int end8 = cut8 + 16;
                    if (mine) {
                        #pragma unroll 11
                        #pragma clang loop vectorize(disable)
                        for (int e = item; e < 2816; e += 256) {
                            const int p3 = e % 16;
                            const int p2 = e / 16 % 176;
                            const int p1 = 0;
                            panel0[177 * p3 + 1 * p2 + 177 * p1] = v2[90112 * (i1 + p1) + 256 * (from2 + p2) + (cut8 + p3)];
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (busy) {
                        #pragma unroll 4
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 1) {
                            const float t1 = v1[256 * i0 + i3];
                            const float t2 = own0[177 * (i3 - cut8)];
                            acc0 = fma(t1, t2, acc0);
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        if (busy) {
            const float t3 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            v0[704 * i0 + 352 * i1 + i2] = t3;
        }
    }
}


/* matmul */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_9368008f9de2f29f(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
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
        __local const float *own0 = panel0 + item % 160;
        float acc0 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 704; cut0 += 128) {
                const int end0 = min(cut0 + 128, (int)704);
                acc0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut8 = cut0; cut8 < end0; cut8 += 32) {
                    const int end8 = cut8 + 32;
                    if (mine) {
                        #pragma unroll 16
                        #pragma clang loop vectorize(disable)
                        for (int e = item; e < 5120; e += 256) {
                            const int p3 = e % 32;
                            const int p2 = e / 32 % 160;
                            const int p1 = 0;
                            panel0[161 * p3 + 1 * p2 + 161 * p1] = v2[112640 * (i1 + p1) + 704 * (from2 + p2) + (cut8 + p3)];
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (busy) {
                        #pragma unroll 4
                        #pragma clang loop vectorize(disable)
                        for (int i3 = cut8; i3 < end8; i3 += 1) {
                            const float t1 = v1[704 * i0 + i3];
                            const float t2 = own0[161 * (i3 - cut8)];
                            acc0 = fma(t1, t2, acc0);
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


