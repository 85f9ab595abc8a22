/* k0: 1 groups of 1; skip 0, arena 0, at 0, input 0, owned 0; at bytes 0, 0 */
/* k1: 16 groups of 1; skip 0, output 0, arena 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 2816 bytes */
/* matmul */
#ifndef TARN_nest_781c9d9e336c0780
#define TARN_nest_781c9d9e336c0780
TARN_APART void nest_781c9d9e336c0780(__global float *v0, __global float *v1, __global float *v2)
{
    long i1 = 0;
    #pragma unroll 1
    for (; i1 + 16 <= 704; i1 += 16) {
        float16 acc0 = (float16)(0.0f);
        {
            float16 sum0_0 = (float16)(0.0f);
            #pragma unroll 1
            for (long cut0 = 0; cut0 < 256; cut0 += 128) {
                const long end0 = cut0 + 128;
                acc0 = (float16)(0.0f);
                #pragma unroll 1
                for (long at2 = cut0; at2 < end0; at2 += 16) {
                    float16 square0[16];
                    square0[0] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 0);
                    square0[1] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 256);
                    square0[2] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 512);
                    square0[3] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 768);
                    square0[4] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 1024);
                    square0[5] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 1280);
                    square0[6] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 1536);
                    square0[7] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 1792);
                    square0[8] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 2048);
                    square0[9] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 2304);
                    square0[10] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 2560);
                    square0[11] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 2816);
                    square0[12] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 3072);
                    square0[13] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 3328);
                    square0[14] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 3584);
                    square0[15] = TARN_LOAD(__global, float, v2 + 256 * i1 + at2 + 3840);
                    TARN_TURN_16(float, square0)
                    #pragma unroll 1
                    for (long i2 = at2; i2 < at2 + 16; i2 += 2) {
                        const float16 t1 = (float16)(v1[i2]);
                        const float16 t2 = square0[i2 - at2 + 0];
                        acc0 = fma(t1, t2, acc0);
                        const float16 t3 = (float16)(v1[i2 + 1]);
                        const float16 t4 = square0[i2 - at2 + 1];
                        acc0 = fma(t3, t4, acc0);
                    }
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        const float16 t5 = TARN_SELECT_16(TARN_BOOL_16(acc0 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc0);
        TARN_STORE(__global, float, t5, v0 + i1);
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_d3e8b8c2fe186de3(const int skip, __global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v1 = (__global float *)(input0); /* [1,256] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [704,256] */
    /* matmul */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* matmul [1 704 | 256] */
        nest_781c9d9e336c0780(v0, v1, v2);
    }
}


/* matmul */
#ifndef TARN_nest_44147558cfb38452
#define TARN_nest_44147558cfb38452
TARN_APART void nest_44147558cfb38452(long group, __global float *v0, __global float *v1, __global float *v2)
{
    const long low = group * 40 / 16 * 16;
    const long high = min((group + 1) * 40 / 16 * 16, 640L);
    long i1 = low;
    #pragma unroll 1
    for (; i1 + 16 <= high; i1 += 16) {
        float16 acc0 = (float16)(0.0f);
        {
            float16 sum0_0 = (float16)(0.0f);
            #pragma unroll 1
            for (long cut0 = 0; cut0 < 704; cut0 += 128) {
                const long end0 = min(cut0 + 128, (long)704);
                acc0 = (float16)(0.0f);
                #pragma unroll 1
                for (long at2 = cut0; at2 < end0; at2 += 16) {
                    float16 square0[16];
                    square0[0] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 0);
                    square0[1] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 704);
                    square0[2] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 1408);
                    square0[3] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 2112);
                    square0[4] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 2816);
                    square0[5] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 3520);
                    square0[6] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 4224);
                    square0[7] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 4928);
                    square0[8] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 5632);
                    square0[9] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 6336);
                    square0[10] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 7040);
                    square0[11] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 7744);
                    square0[12] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 8448);
                    square0[13] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 9152);
                    square0[14] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 9856);
                    square0[15] = TARN_LOAD(__global, float, v2 + 704 * i1 + at2 + 10560);
                    TARN_TURN_16(float, square0)
                    #pragma unroll 1
                    for (long i2 = at2; i2 < at2 + 16; i2 += 4) {
                        const float16 t1 = (float16)(v1[i2]);
                        const float16 t2 = square0[i2 - at2 + 0];
                        acc0 = fma(t1, t2, acc0);
                        const float16 t3 = (float16)(v1[i2 + 1]);
                        const float16 t4 = square0[i2 - at2 + 1];
                        acc0 = fma(t3, t4, acc0);
                        const float16 t5 = (float16)(v1[i2 + 2]);
                        const float16 t6 = square0[i2 - at2 + 2];
                        acc0 = fma(t5, t6, acc0);
                        const float16 t7 = (float16)(v1[i2 + 3]);
                        const float16 t8 = square0[i2 - at2 + 3];
                        acc0 = fma(t7, t8, acc0);
                    }
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        TARN_STORE(__global, float, acc0, v0 + i1);
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_cbd63c3a37dae9ad(const int skip, __global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [1,640] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [1,704] */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [640,704] */
    /* matmul */
    if (section_group >= 0 && section_group < 16) {
        const long group = section_group - 0;
        /* matmul [1 640 | 704] */
        nest_44147558cfb38452(group, v0, v1, v2);
    }
}


