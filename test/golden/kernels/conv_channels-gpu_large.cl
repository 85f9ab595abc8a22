/* k0: 18 groups of 256; arena 0, at 0, input 0; at bytes 0 */
/* k1: 8 groups of 256; output 0, arena 0, at 0, owned 0; at bytes 0, 0 */
/* arena: 18432 bytes */
/* input */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_2bd42e0e20c3da06(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,8,6,6] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,8,6,6] */
    if (section_group >= 0 && section_group < 18) {
        /* input [16 8 6 6] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
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
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_5e10ab47c56fb5d2(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [16,8,4,4] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,8,6,6] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [8,8,3,3] */
    if (section_group >= 0 && section_group < 8) {
        /* conv2d [16 8 4 4 | 8 3 3] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 128) {
            const int b = team % 1;
            const int tile = team / 1;
            const int i3 = tile % 4;
            const int i2 = tile / 4 % 4;
            const int i1 = tile / 16;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 4608L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i4 = 0; i4 < 8; i4 += 1) {
                #pragma unroll 4
                #pragma clang loop vectorize(disable)
                for (int i5 = 0; i5 < 3; i5 += 1) {
                    const float t1 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5)];
                    const float t2 = v2[72 * i1 + 9 * i4 + 3 * i5];
                    const float t3 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 + 1)];
                    const float t4 = v2[72 * i1 + 9 * i4 + 3 * i5 + 1];
                    const float t5 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 + 2)];
                    const float t6 = v2[72 * i1 + 9 * i4 + 3 * i5 + 2];
                    acc0 = fma(t1, t2, acc0);
                    acc0 = fma(t3, t4, acc0);
                    acc0 = fma(t5, t6, acc0);
                }
            }
            v0[128 * sample + 16 * i1 + 4 * i2 + i3] = acc0;
        }
    }
}


