/* k0: 144 groups of 32; arena 0, at 0, input 0; at bytes 0 */
/* k1: 16 groups of 32; output 0, arena 0, at 0, owned 0; at bytes 0, 0 */
/* arena: 18432 bytes */
/* input */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_f07dc16a8c8f319c(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,8,6,6] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,8,6,6] */
    if (section_group >= 0 && section_group < 144) {
        /* input [16 8 6 6] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 288) {
            const int b = team / 288;
            const int tile = team % 288;
            const int i3 = tile % 6;
            const int i2 = tile / 6 % 6;
            const int i1 = tile / 36;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 4608L * b + lane;
            const float t1 = v1[288 * sample + 36 * i1 + 6 * i2 + i3];
            b0[16 * (36 * i1 + 6 * i2 + i3)] = t1;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_481f76764c17f037(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[576] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(output0); /* [16,8,4,4] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,8,6,6] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [8,8,3,3] */
    {
        /* conv2d [16 8 4 4 | 8 3 3] */
        const bool mine = section_group >= 0 && section_group < 16;
        const int group = mine ? section_group - 0 : 0;
        const int from0 = 0 * 16;
        const int b = from0 / 16 + item % 16 / 16;
        const int sample = 16 * b + lane;
        __global float *b1 = v1 + 4608L * b + lane;
        const int i3 = group % 2 * 2;
        const int from2 = group / 2 % 2 * 2;
        const int i2 = from2 + item / 16 * 1;
        const int i1 = group / 4 % 4 * 2;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0;
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        float acc3 = (float)(0.0f);
        #pragma nounroll
        #pragma clang loop vectorize(disable)
        for (int cut8 = 0; cut8 < 8; cut8 += 8) {
            const int end8 = cut8 + 8;
            if (mine) {
                const int e0_0 = item + 0;
                const int toe0_0 = 8 * (e0_0 % 3) + 24 * (e0_0 / 3 % 3) + 72 * (e0_0 / 9 % 8) + 2 * (0);
                const float ce0_0_0 = e0_0 < 72 ? v2[(72 * (i1 + 2 * (0)) + 9 * (cut8 + e0_0 / 9 % 8) + 3 * (0 + e0_0 / 3 % 3) + (0 + e0_0 % 3))] : 0;
                const float ce0_0_1 = e0_0 < 72 ? v2[(72 * (i1 + 2 * (0)) + 9 * (cut8 + e0_0 / 9 % 8) + 3 * (0 + e0_0 / 3 % 3) + (0 + e0_0 % 3) + 72)] : 0;
                const int e0_1 = item + 32;
                const int toe0_1 = 8 * (e0_1 % 3) + 24 * (e0_1 / 3 % 3) + 72 * (e0_1 / 9 % 8) + 2 * (0);
                const float ce0_1_0 = e0_1 < 72 ? v2[(72 * (i1 + 2 * (0)) + 9 * (cut8 + e0_1 / 9 % 8) + 3 * (0 + e0_1 / 3 % 3) + (0 + e0_1 % 3))] : 0;
                const float ce0_1_1 = e0_1 < 72 ? v2[(72 * (i1 + 2 * (0)) + 9 * (cut8 + e0_1 / 9 % 8) + 3 * (0 + e0_1 / 3 % 3) + (0 + e0_1 % 3) + 72)] : 0;
                const int e0_2 = item + 64;
                const int toe0_2 = 8 * (e0_2 % 3) + 24 * (e0_2 / 3 % 3) + 72 * (e0_2 / 9 % 8) + 2 * (0);
                const float ce0_2_0 = e0_2 < 72 ? v2[(72 * (i1 + 2 * (0)) + 9 * (cut8 + e0_2 / 9 % 8) + 3 * (0 + e0_2 / 3 % 3) + (0 + e0_2 % 3))] : 0;
                const float ce0_2_1 = e0_2 < 72 ? v2[(72 * (i1 + 2 * (0)) + 9 * (cut8 + e0_2 / 9 % 8) + 3 * (0 + e0_2 / 3 % 3) + (0 + e0_2 % 3) + 72)] : 0;
                if (e0_0 < 72) {
                    panel0[toe0_0 + 0] = ce0_0_0;
                    panel0[toe0_0 + 1] = ce0_0_1;
                }
                if (e0_1 < 72) {
                    panel0[toe0_1 + 0] = ce0_1_0;
                    panel0[toe0_1 + 1] = ce0_1_1;
                }
                if (e0_2 < 72) {
                    panel0[toe0_2 + 0] = ce0_2_0;
                    panel0[toe0_2 + 1] = ce0_2_1;
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
                        const float t1 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5)];
                        const float t2 = own0[72 * (i4 - cut8) + 24 * i5];
                        const float t3 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 + 1)];
                        const float t4 = own0[72 * (i4 - cut8) + 24 * i5 + 1];
                        const float t5 = own0[72 * (i4 - cut8) + 24 * i5 + 8];
                        const float t6 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 + 2)];
                        const float t7 = own0[72 * (i4 - cut8) + 24 * i5 + 9];
                        const float t8 = own0[72 * (i4 - cut8) + 24 * i5 + 16];
                        const float t9 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 + 3)];
                        const float t10 = own0[72 * (i4 - cut8) + 24 * i5 + 17];
                        acc0 = fma(t1, t2, acc0);
                        acc1 = fma(t3, t2, acc1);
                        acc2 = fma(t1, t4, acc2);
                        acc3 = fma(t3, t4, acc3);
                        acc0 = fma(t3, t5, acc0);
                        acc1 = fma(t6, t5, acc1);
                        acc2 = fma(t3, t7, acc2);
                        acc3 = fma(t6, t7, acc3);
                        acc0 = fma(t6, t8, acc0);
                        acc1 = fma(t9, t8, acc1);
                        acc2 = fma(t6, t10, acc2);
                        acc3 = fma(t9, t10, acc3);
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (mine) {
            v0[128 * sample + 16 * i1 + 4 * i2 + i3] = acc0;
            v0[128 * sample + 16 * i1 + 4 * i2 + i3 + 1] = acc1;
            v0[128 * sample + 16 * i1 + 4 * i2 + i3 + 16] = acc2;
            v0[128 * sample + 16 * i1 + 4 * i2 + i3 + 17] = acc3;
        }
    }
}


