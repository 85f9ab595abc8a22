/* k0: 16 groups of 1; skip 0, output 0, owned 0, at 0, owned 1; at bytes 0, 0 */
/* arena: 0 bytes */
/* matmul */
#ifndef TARN_nest_ccec772bc10b454a
#define TARN_nest_ccec772bc10b454a
TARN_APART void nest_ccec772bc10b454a(long group, __global float *v0, __global float *v1, __global float *v2)
{
    const long low = group * 16 / 16 * 16;
    const long high = min((group + 1) * 16 / 16 * 16, 256L);
    #pragma unroll 1
    for (long i0 = 0; i0 < 32; i0 += 16) {
        long i1 = low;
        #pragma unroll 1
        for (; i1 + 16 <= high; i1 += 16) {
            float16 acc0 = (float16)(0.0f);
            float16 acc1 = (float16)(0.0f);
            float16 acc2 = (float16)(0.0f);
            float16 acc3 = (float16)(0.0f);
            float16 acc4 = (float16)(0.0f);
            float16 acc5 = (float16)(0.0f);
            float16 acc6 = (float16)(0.0f);
            float16 acc7 = (float16)(0.0f);
            float16 acc8 = (float16)(0.0f);
            float16 acc9 = (float16)(0.0f);
            float16 acc10 = (float16)(0.0f);
            float16 acc11 = (float16)(0.0f);
            float16 acc12 = (float16)(0.0f);
            float16 acc13 = (float16)(0.0f);
            float16 acc14 = (float16)(0.0f);
            float16 acc15 = (float16)(0.0f);
            {
                float16 sum0_0 = (float16)(0.0f);
                float16 sum0_1 = (float16)(0.0f);
                float16 sum0_2 = (float16)(0.0f);
                float16 sum0_3 = (float16)(0.0f);
                float16 sum0_4 = (float16)(0.0f);
                float16 sum0_5 = (float16)(0.0f);
                float16 sum0_6 = (float16)(0.0f);
                float16 sum0_7 = (float16)(0.0f);
                float16 sum0_8 = (float16)(0.0f);
                float16 sum0_9 = (float16)(0.0f);
                float16 sum0_10 = (float16)(0.0f);
                float16 sum0_11 = (float16)(0.0f);
                float16 sum0_12 = (float16)(0.0f);
                float16 sum0_13 = (float16)(0.0f);
                float16 sum0_14 = (float16)(0.0f);
                float16 sum0_15 = (float16)(0.0f);
                #pragma unroll 1
                for (long cut0 = 0; cut0 < 320; cut0 += 128) {
                    const long end0 = min(cut0 + 128, (long)320);
                    acc0 = (float16)(0.0f);
                    acc1 = (float16)(0.0f);
                    acc2 = (float16)(0.0f);
                    acc3 = (float16)(0.0f);
                    acc4 = (float16)(0.0f);
                    acc5 = (float16)(0.0f);
                    acc6 = (float16)(0.0f);
                    acc7 = (float16)(0.0f);
                    acc8 = (float16)(0.0f);
                    acc9 = (float16)(0.0f);
                    acc10 = (float16)(0.0f);
                    acc11 = (float16)(0.0f);
                    acc12 = (float16)(0.0f);
                    acc13 = (float16)(0.0f);
                    acc14 = (float16)(0.0f);
                    acc15 = (float16)(0.0f);
                    #pragma unroll 1
                    for (long at2 = cut0; at2 < end0; at2 += 16) {
                        float16 square0[16];
                        square0[0] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 0);
                        square0[1] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 320);
                        square0[2] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 640);
                        square0[3] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 960);
                        square0[4] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 1280);
                        square0[5] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 1600);
                        square0[6] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 1920);
                        square0[7] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 2240);
                        square0[8] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 2560);
                        square0[9] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 2880);
                        square0[10] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 3200);
                        square0[11] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 3520);
                        square0[12] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 3840);
                        square0[13] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 4160);
                        square0[14] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 4480);
                        square0[15] = TARN_LOAD(__global, float, v2 + 320 * i1 + at2 + 4800);
                        TARN_TURN_16(float, square0)
                        #pragma unroll 1
                        for (long i2 = at2; i2 < at2 + 16; i2 += 1) {
                            const float16 t1 = (float16)(v1[320 * i0 + i2]);
                            const float16 t2 = square0[i2 - at2 + 0];
                            acc0 = fma(t1, t2, acc0);
                            const float16 t3 = (float16)(v1[320 * i0 + i2 + 320]);
                            acc1 = fma(t3, t2, acc1);
                            const float16 t4 = (float16)(v1[320 * i0 + i2 + 640]);
                            acc2 = fma(t4, t2, acc2);
                            const float16 t5 = (float16)(v1[320 * i0 + i2 + 960]);
                            acc3 = fma(t5, t2, acc3);
                            const float16 t6 = (float16)(v1[320 * i0 + i2 + 1280]);
                            acc4 = fma(t6, t2, acc4);
                            const float16 t7 = (float16)(v1[320 * i0 + i2 + 1600]);
                            acc5 = fma(t7, t2, acc5);
                            const float16 t8 = (float16)(v1[320 * i0 + i2 + 1920]);
                            acc6 = fma(t8, t2, acc6);
                            const float16 t9 = (float16)(v1[320 * i0 + i2 + 2240]);
                            acc7 = fma(t9, t2, acc7);
                            const float16 t10 = (float16)(v1[320 * i0 + i2 + 2560]);
                            acc8 = fma(t10, t2, acc8);
                            const float16 t11 = (float16)(v1[320 * i0 + i2 + 2880]);
                            acc9 = fma(t11, t2, acc9);
                            const float16 t12 = (float16)(v1[320 * i0 + i2 + 3200]);
                            acc10 = fma(t12, t2, acc10);
                            const float16 t13 = (float16)(v1[320 * i0 + i2 + 3520]);
                            acc11 = fma(t13, t2, acc11);
                            const float16 t14 = (float16)(v1[320 * i0 + i2 + 3840]);
                            acc12 = fma(t14, t2, acc12);
                            const float16 t15 = (float16)(v1[320 * i0 + i2 + 4160]);
                            acc13 = fma(t15, t2, acc13);
                            const float16 t16 = (float16)(v1[320 * i0 + i2 + 4480]);
                            acc14 = fma(t16, t2, acc14);
                            const float16 t17 = (float16)(v1[320 * i0 + i2 + 4800]);
                            acc15 = fma(t17, t2, acc15);
                        }
                    }
                    sum0_0 += acc0;
                    sum0_1 += acc1;
                    sum0_2 += acc2;
                    sum0_3 += acc3;
                    sum0_4 += acc4;
                    sum0_5 += acc5;
                    sum0_6 += acc6;
                    sum0_7 += acc7;
                    sum0_8 += acc8;
                    sum0_9 += acc9;
                    sum0_10 += acc10;
                    sum0_11 += acc11;
                    sum0_12 += acc12;
                    sum0_13 += acc13;
                    sum0_14 += acc14;
                    sum0_15 += acc15;
                }
                acc0 = sum0_0;
                acc1 = sum0_1;
                acc2 = sum0_2;
                acc3 = sum0_3;
                acc4 = sum0_4;
                acc5 = sum0_5;
                acc6 = sum0_6;
                acc7 = sum0_7;
                acc8 = sum0_8;
                acc9 = sum0_9;
                acc10 = sum0_10;
                acc11 = sum0_11;
                acc12 = sum0_12;
                acc13 = sum0_13;
                acc14 = sum0_14;
                acc15 = sum0_15;
            }
            TARN_STORE(__global, float, acc0, v0 + 256 * i0 + i1);
            TARN_STORE(__global, float, acc1, v0 + 256 * i0 + i1 + 256);
            TARN_STORE(__global, float, acc2, v0 + 256 * i0 + i1 + 512);
            TARN_STORE(__global, float, acc3, v0 + 256 * i0 + i1 + 768);
            TARN_STORE(__global, float, acc4, v0 + 256 * i0 + i1 + 1024);
            TARN_STORE(__global, float, acc5, v0 + 256 * i0 + i1 + 1280);
            TARN_STORE(__global, float, acc6, v0 + 256 * i0 + i1 + 1536);
            TARN_STORE(__global, float, acc7, v0 + 256 * i0 + i1 + 1792);
            TARN_STORE(__global, float, acc8, v0 + 256 * i0 + i1 + 2048);
            TARN_STORE(__global, float, acc9, v0 + 256 * i0 + i1 + 2304);
            TARN_STORE(__global, float, acc10, v0 + 256 * i0 + i1 + 2560);
            TARN_STORE(__global, float, acc11, v0 + 256 * i0 + i1 + 2816);
            TARN_STORE(__global, float, acc12, v0 + 256 * i0 + i1 + 3072);
            TARN_STORE(__global, float, acc13, v0 + 256 * i0 + i1 + 3328);
            TARN_STORE(__global, float, acc14, v0 + 256 * i0 + i1 + 3584);
            TARN_STORE(__global, float, acc15, v0 + 256 * i0 + i1 + 3840);
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_805be4f9e345ddab(const int skip, __global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [32,256] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [32,320] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [256,320] */
    /* matmul */
    if (section_group >= 0 && section_group < 16) {
        const long group = section_group - 0;
        /* matmul [32 256 | 320] */
        nest_ccec772bc10b454a(group, v0, v1, v2);
    }
}


