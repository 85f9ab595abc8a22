/* k0: 3 groups of 256; arena 0, at 0, input 0, owned 0; at bytes 0, 0 */
/* k1: 3 groups of 256; output 0, arena 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 2816 bytes */
/* matmul */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_58dae2152db76761(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v1 = (__global float *)(input0); /* [1,256] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [704,256] */
    if (section_group >= 0 && section_group < 3) {
        /* matmul [1 704 | 256] */
        const int group = section_group - 0;
        const int number = group * 256 + item;
        if (number < 704) {
            const int i1 = number % 704;
            const int tile = number / 704;
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
                    for (int i2 = cut0; i2 < end0; i2 += 16) {
                        const float t1 = v1[i2];
                        const float t2 = v2[256 * i1 + i2];
                        const float t3 = v1[i2 + 1];
                        const float t4 = v2[256 * i1 + i2 + 1];
                        const float t5 = v1[i2 + 2];
                        const float t6 = v2[256 * i1 + i2 + 2];
                        const float t7 = v1[i2 + 3];
                        const float t8 = v2[256 * i1 + i2 + 3];
                        const float t9 = v1[i2 + 4];
                        const float t10 = v2[256 * i1 + i2 + 4];
                        const float t11 = v1[i2 + 5];
                        const float t12 = v2[256 * i1 + i2 + 5];
                        const float t13 = v1[i2 + 6];
                        const float t14 = v2[256 * i1 + i2 + 6];
                        const float t15 = v1[i2 + 7];
                        const float t16 = v2[256 * i1 + i2 + 7];
                        const float t17 = v1[i2 + 8];
                        const float t18 = v2[256 * i1 + i2 + 8];
                        const float t19 = v1[i2 + 9];
                        const float t20 = v2[256 * i1 + i2 + 9];
                        const float t21 = v1[i2 + 10];
                        const float t22 = v2[256 * i1 + i2 + 10];
                        const float t23 = v1[i2 + 11];
                        const float t24 = v2[256 * i1 + i2 + 11];
                        const float t25 = v1[i2 + 12];
                        const float t26 = v2[256 * i1 + i2 + 12];
                        const float t27 = v1[i2 + 13];
                        const float t28 = v2[256 * i1 + i2 + 13];
                        const float t29 = v1[i2 + 14];
                        const float t30 = v2[256 * i1 + i2 + 14];
                        const float t31 = v1[i2 + 15];
                        const float t32 = v2[256 * i1 + i2 + 15];
                        acc0 = fma(t1, t2, acc0);
                        acc0 = fma(t3, t4, acc0);
                        acc0 = fma(t5, t6, acc0);
                        acc0 = fma(t7, t8, acc0);
                        acc0 = fma(t9, t10, acc0);
                        acc0 = fma(t11, t12, acc0);
                        acc0 = fma(t13, t14, acc0);
                        acc0 = fma(t15, t16, acc0);
                        acc0 = fma(t17, t18, acc0);
                        acc0 = fma(t19, t20, acc0);
                        acc0 = fma(t21, t22, acc0);
                        acc0 = fma(t23, t24, acc0);
                        acc0 = fma(t25, t26, acc0);
                        acc0 = fma(t27, t28, acc0);
                        acc0 = fma(t29, t30, acc0);
                        acc0 = fma(t31, t32, acc0);
                    }
                    sum0_0 += acc0;
                }
                acc0 = sum0_0;
            }
            const float t33 = TARN_SELECT_1(TARN_BOOL_1(acc0 < TARN_F_1(0.0f)), TARN_F_1(0.0f), acc0);
            v0[i1] = t33;
        }
    }
}


/* matmul */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_4a5b2a96fae71656(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [1,640] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [640,704] */
    if (section_group >= 0 && section_group < 3) {
        /* matmul [1 640 | 704] */
        const int group = section_group - 0;
        const int number = group * 256 + item;
        if (number < 640) {
            const int i1 = number % 640;
            const int tile = number / 640;
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
                    for (int i2 = cut0; i2 < end0; i2 += 16) {
                        const float t1 = v1[i2];
                        const float t2 = v2[704 * i1 + i2];
                        const float t3 = v1[i2 + 1];
                        const float t4 = v2[704 * i1 + i2 + 1];
                        const float t5 = v1[i2 + 2];
                        const float t6 = v2[704 * i1 + i2 + 2];
                        const float t7 = v1[i2 + 3];
                        const float t8 = v2[704 * i1 + i2 + 3];
                        const float t9 = v1[i2 + 4];
                        const float t10 = v2[704 * i1 + i2 + 4];
                        const float t11 = v1[i2 + 5];
                        const float t12 = v2[704 * i1 + i2 + 5];
                        const float t13 = v1[i2 + 6];
                        const float t14 = v2[704 * i1 + i2 + 6];
                        const float t15 = v1[i2 + 7];
                        const float t16 = v2[704 * i1 + i2 + 7];
                        const float t17 = v1[i2 + 8];
                        const float t18 = v2[704 * i1 + i2 + 8];
                        const float t19 = v1[i2 + 9];
                        const float t20 = v2[704 * i1 + i2 + 9];
                        const float t21 = v1[i2 + 10];
                        const float t22 = v2[704 * i1 + i2 + 10];
                        const float t23 = v1[i2 + 11];
                        const float t24 = v2[704 * i1 + i2 + 11];
                        const float t25 = v1[i2 + 12];
                        const float t26 = v2[704 * i1 + i2 + 12];
                        const float t27 = v1[i2 + 13];
                        const float t28 = v2[704 * i1 + i2 + 13];
                        const float t29 = v1[i2 + 14];
                        const float t30 = v2[704 * i1 + i2 + 14];
                        const float t31 = v1[i2 + 15];
                        const float t32 = v2[704 * i1 + i2 + 15];
                        acc0 = fma(t1, t2, acc0);
                        acc0 = fma(t3, t4, acc0);
                        acc0 = fma(t5, t6, acc0);
                        acc0 = fma(t7, t8, acc0);
                        acc0 = fma(t9, t10, acc0);
                        acc0 = fma(t11, t12, acc0);
                        acc0 = fma(t13, t14, acc0);
                        acc0 = fma(t15, t16, acc0);
                        acc0 = fma(t17, t18, acc0);
                        acc0 = fma(t19, t20, acc0);
                        acc0 = fma(t21, t22, acc0);
                        acc0 = fma(t23, t24, acc0);
                        acc0 = fma(t25, t26, acc0);
                        acc0 = fma(t27, t28, acc0);
                        acc0 = fma(t29, t30, acc0);
                        acc0 = fma(t31, t32, acc0);
                    }
                    sum0_0 += acc0;
                }
                acc0 = sum0_0;
            }
            v0[i1] = acc0;
        }
    }
}


