/* k0: 2 groups of 256; output 0, owned 0, at 0, owned 2, output 1, owned 3, owned 1; at bytes 0, 0, 0, 0 */
/* arena: 0 bytes */
/* pad conv2d */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_603825c4ed408f1e(__global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1, __global uchar *output1, __global uchar *owned2, __global uchar *owned3)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [5,48] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [5,40] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [5] */
    __global float *v3 = (__global float *)(output1); /* [1,2,4,18] */
    __global float *v4 = (__global float *)(owned2 + offset[2]); /* [1,2,8,36] */
    __global float *v5 = (__global float *)(owned3 + offset[3]); /* [2,2,3,3] */
    if (section_group >= 0 && section_group < 1) {
        /* pad [5 48] */
        const int group = section_group - 0;
        const int number = group * 256 + item;
        if (number < 240) {
            const int i1 = number % 48;
            const int tile = number / 48;
            const int i0 = tile;
            float t1 = (float)(0x0p+0f);
            if (((i1 - 3 >= 0) && (i1 - 3 <= 39))) {
                const float t2 = v1[40 * i0 + i1 - 3];
                const float t3 = v2[i0];
                const float t4 = t2 - t3;
                t1 = t4;
            }
            v0[48 * i0 + i1] = t1;
        }
    }
    if (section_group >= 1 && section_group < 2) {
        /* conv2d [1 2 4 18 | 2 3 3] */
        const int group = section_group - 1;
        const int number = group * 256 + item;
        if (number < 144) {
            const int i3 = number % 18;
            const int tile = number / 18;
            const int i2 = tile % 4;
            const int i1 = tile / 4;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i4 = 0; i4 < 2; i4 += 1) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i5 = max((int)0, -(int)(2 * i2 - 1)); i5 < min((int)3, 8 - (int)(2 * i2 - 1)); ++i5) {
                    if (((2 * i3 - 1 >= 0))) {
                        const float t5 = v4[72 * i2 + 2 * i3 + 288 * i4 + 36 * i5 - 37];
                        const float t6 = v5[18 * i1 + 9 * i4 + 3 * i5];
                        const float t7 = v4[72 * i2 + 2 * i3 + 288 * i4 + 36 * i5 - 36];
                        const float t8 = v5[18 * i1 + 9 * i4 + 3 * i5 + 1];
                        const float t9 = v4[72 * i2 + 2 * i3 + 288 * i4 + 36 * i5 - 35];
                        const float t10 = v5[18 * i1 + 9 * i4 + 3 * i5 + 2];
                        acc0 = fma(t5, t6, acc0);
                        acc0 = fma(t7, t8, acc0);
                        acc0 = fma(t9, t10, acc0);
                    } else {
                        const float t11 = v4[72 * i2 + 2 * i3 + 288 * i4 + 36 * i5 - 36];
                        const float t12 = v5[18 * i1 + 9 * i4 + 3 * i5 + 1];
                        const float t13 = v4[72 * i2 + 2 * i3 + 288 * i4 + 36 * i5 - 35];
                        const float t14 = v5[18 * i1 + 9 * i4 + 3 * i5 + 2];
                        if (((2 * i3 - 1 >= 0))) {
                            const float t15 = v4[72 * i2 + 2 * i3 + 288 * i4 + 36 * i5 - 37];
                            const float t16 = v5[18 * i1 + 9 * i4 + 3 * i5];
                            acc0 = fma(t15, t16, acc0);
                        }
                        acc0 = fma(t11, t12, acc0);
                        acc0 = fma(t13, t14, acc0);
                    }
                }
            }
            v3[72 * i1 + 18 * i2 + i3] = acc0;
        }
    }
}


