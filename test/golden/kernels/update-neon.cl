/* k0: 1 groups of 1; skip 0, output 0, owned 2, at 0, owned 1, arena 0, owned 4, owned 0, owned 3; at bytes 160, 0, 0, 0, 0, 0, 0 */
/* k1: 1 groups of 1; skip 0, owned 0, at 0, arena 0; at bytes 0, 0 */
/* arena: 800 bytes */
/* sum add sum */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_14d4d154cd18f21d(const int skip, __global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1, __global uchar *arena, __global uchar *owned2, __global uchar *owned3, __global uchar *owned4)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [1,10] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [12,10] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [200] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [200] */
    __global float *v4 = (__global float *)(owned1 + offset[3]); /* [200] */
    __global float *v5 = (__global float *)(owned2 + offset[4]); /* [200] */
    __global float *v6 = (__global float *)(owned3 + offset[5]); /* [200] */
    __global float *v7 = (__global float *)(owned4 + offset[6]); /* [1] */
    /* sum */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* sum [10 | 12] */
        {
            #pragma unroll 1
            for (long i0 = 0; i0 < 10; i0 += 2) {
                float acc0 = (float)(0.0f);
                float acc1 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (long i1 = 0; i1 < 12; i1 += 1) {
                    const float t1 = v1[i0 + 10 * i1];
                    acc0 += t1;
                    const float t2 = v1[i0 + 10 * i1 + 1];
                    acc1 += t2;
                }
                v0[i0] = acc0;
                v0[i0 + 1] = acc1;
            }
        }
        /* add [200] */
        {
            long i0 = 0;
            #pragma unroll 1
            for (; i0 + 16 <= 200; i0 += 16) {
                const float16 t3 = (TARN_LOAD(__global, float, v4 + i0));
                const float16 t4 = t3 * (float16)(0x1.ccccccp-1f);
                const float16 t5 = (TARN_LOAD(__global, float, v5 + i0));
                const float16 t6 = t4 + t5;
                const float16 t7 = (TARN_LOAD(__global, float, v6 + i0));
                const float16 t8 = t6 * (float16)(0x1.99999ap-4f);
                const float16 t9 = t7 - t8;
                TARN_STORE(__global, float, t6, v2 + i0);
                TARN_STORE(__global, float, t9, v3 + i0);
            }
            #pragma unroll 1
            for (; i0 < 200; ++i0) {
                const float t10 = v4[i0];
                const float t11 = t10 * (float)(0x1.ccccccp-1f);
                const float t12 = v5[i0];
                const float t13 = t11 + t12;
                const float t14 = v6[i0];
                const float t15 = t13 * (float)(0x1.99999ap-4f);
                const float t16 = t14 - t15;
                v2[i0] = t13;
                v3[i0] = t16;
            }
        }
        /* sum [200] */
        {
            float sum0;
            {
                float16 acc0 = (float16)(0.0f);
                #pragma unroll 1
                for (long i0 = 0; i0 < 192; i0 += 16) {
                    const float16 t17 = (TARN_LOAD(__global, float, v6 + i0));
                    const float16 t18 = t17 * t17;
                    acc0 += t18;
                }
                sum0 = tarn_sum_float(acc0);
            }
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (long i0 = 192; i0 < 200; i0 += 1) {
                const float t19 = v6[i0];
                const float t20 = t19 * t19;
                acc0 += t20;
            }
            acc0 += sum0;
            v7[0] = acc0;
        }
    }
}


/* copy */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_ca8ca53f52f95c79(const int skip, __global uchar *owned0, __global const ulong *offset, __global uchar *arena)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(owned0 + offset[0]); /* [200] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [200] */
    /* copy */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* copy [200] */
        {
            long i0 = 0;
            #pragma unroll 1
            for (; i0 + 16 <= 200; i0 += 16) {
                const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
                TARN_STORE(__global, float, t1, v0 + i0);
            }
            #pragma unroll 1
            for (; i0 < 200; ++i0) {
                const float t2 = v1[i0];
                v0[i0] = t2;
            }
        }
    }
}


