/* k0: 22 groups of 32; arena 0, at 0, input 0, owned 0; at bytes 0, 0 */
/* k1: 20 groups of 32; output 0, arena 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 2816 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_0bddc557563574e3(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[1056] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v1 = (__global float *)(input0); /* [1,256] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [704,256] */
    {
        /* matmul [1 704 | 256] */
        const bool mine = section_group >= 0 && section_group < 22;
        const int group = mine ? section_group - 0 : 0;
        const int from1 = group % 22 * 32;
        const int i1 = from1 + item % 32;
        const int from0 = 0 * 1;
        const int i0 = from0 + item / 32 * 1;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item % 32;
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
                for (int cut8 = cut0; cut8 < end0; cut8 += 32) {
                    const int end8 = cut8 + 32;
                    if (mine) {
                        #pragma unroll 16
                        #pragma clang loop vectorize(disable)
                        for (int e = item; e < 1024; e += 32) {
                            const int p2 = e % 32;
                            const int p1 = e / 32 % 32;
                            panel0[33 * p2 + 1 * p1] = v2[256 * (from1 + p1) + (cut8 + p2)];
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma unroll 4
                        #pragma clang loop vectorize(disable)
                        for (int i2 = cut8; i2 < end8; i2 += 1) {
                            const float t1 = v1[256 * i0 + i2];
                            const float t2 = own0[33 * (i2 - cut8)];
                            acc0 = fma(t1, t2, acc0);
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        if (mine) {
            const float t3 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            v0[704 * i0 + i1] = t3;
        }
    }
}


/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_ca4bc219bdb6d208(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[1056] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(output0); /* [1,640] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [640,704] */
    {
        /* matmul [1 640 | 704] */
        const bool mine = section_group >= 0 && section_group < 20;
        const int group = mine ? section_group - 0 : 0;
        const int from1 = group % 20 * 32;
        const int i1 = from1 + item % 32;
        const int from0 = 0 * 1;
        const int i0 = from0 + item / 32 * 1;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0 + item % 32;
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
                        for (int e = item; e < 1024; e += 32) {
                            const int p2 = e % 32;
                            const int p1 = e / 32 % 32;
                            panel0[33 * p2 + 1 * p1] = v2[704 * (from1 + p1) + (cut8 + p2)];
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (mine) {
                        #pragma unroll 4
                        #pragma clang loop vectorize(disable)
                        for (int i2 = cut8; i2 < end8; i2 += 1) {
                            const float t1 = v1[704 * i0 + i2];
                            const float t2 = own0[33 * (i2 - cut8)];
                            acc0 = fma(t1, t2, acc0);
                        }
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        if (mine) {
            v0[640 * i0 + i1] = acc0;
        }
    }
}


