/* k0: 7 groups of 256; arena 0, at 0, input 0; at bytes 0 */
/* k1: 9 groups of 256; output 0, arena 0, at 0, owned 0; at bytes 0, 0 */
/* arena: 6912 bytes */
/* input */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_28b4904603c9bacc(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,3,6,6] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,3,6,6] */
    if (section_group >= 0 && section_group < 7) {
        /* input [16 3 6 6] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 108) {
            const int b = team / 108;
            const int tile = team % 108;
            const int i3 = tile % 6;
            const int i2 = tile / 6 % 6;
            const int i1 = tile / 36;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 1728L * b + lane;
            const float t1 = v1[108 * sample + 36 * i1 + 6 * i2 + i3];
            b0[16 * (36 * i1 + 6 * i2 + i3)] = t1;
        }
    }
}


/* conv2d */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_6d147923826ca27c(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [16,4,6,6] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,3,6,6] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [4,3,3,3] */
    if (section_group >= 0 && section_group < 9) {
        /* conv2d [16 4 6 6 | 3 3 3] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 144) {
            const int b = team % 1;
            const int tile = team / 1;
            const int i3 = tile % 6;
            const int i2 = tile / 6 % 6;
            const int i1 = tile / 36;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 1728L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i4 = 0; i4 < 3; i4 += 1) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i5 = max((int)0, -(int)(i2 - 1)); i5 < min((int)3, 6 - (int)(i2 - 1)); ++i5) {
                    if (((i3 + 1 <= 5)) && ((i3 - 1 >= 0))) {
                        const float t1 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 7)];
                        const float t2 = v2[27 * i1 + 9 * i4 + 3 * i5];
                        const float t3 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 6)];
                        const float t4 = v2[27 * i1 + 9 * i4 + 3 * i5 + 1];
                        const float t5 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 5)];
                        const float t6 = v2[27 * i1 + 9 * i4 + 3 * i5 + 2];
                        acc0 = fma(t1, t2, acc0);
                        acc0 = fma(t3, t4, acc0);
                        acc0 = fma(t5, t6, acc0);
                    } else {
                        const float t7 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 6)];
                        const float t8 = v2[27 * i1 + 9 * i4 + 3 * i5 + 1];
                        if (((i3 - 1 >= 0))) {
                            const float t9 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 7)];
                            const float t10 = v2[27 * i1 + 9 * i4 + 3 * i5];
                            acc0 = fma(t9, t10, acc0);
                        }
                        acc0 = fma(t7, t8, acc0);
                        if (((i3 + 1 <= 5))) {
                            const float t11 = b1[16 * (6 * i2 + i3 + 36 * i4 + 6 * i5 - 5)];
                            const float t12 = v2[27 * i1 + 9 * i4 + 3 * i5 + 2];
                            acc0 = fma(t11, t12, acc0);
                        }
                    }
                }
            }
            const float t13 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            v0[144 * sample + 36 * i1 + 6 * i2 + i3] = t13;
        }
    }
}


