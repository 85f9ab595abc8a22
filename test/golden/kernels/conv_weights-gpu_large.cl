/* k0: 1960 groups of 256; arena 0, at 0, input 0, input 1; at bytes 0, 802816 */
/* k1: 64 groups of 256; arena 0, at 0; at bytes 2007040, 0, 802816 */
/* k2: 6 groups of 256; output 0, arena 0, at 0; at bytes 2007040 */
/* arena: 2019328 bytes */
/* input input */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_9fdb0f4e14500365(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *input1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [32,32,14,14] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,32,14,14] */
    __global float *v2 = (__global float *)(arena + offset[1]); /* [32,48,14,14] blocked */
    __global float *v3 = (__global float *)(input1); /* [32,48,14,14] */
    if (section_group >= 0 && section_group < 784) {
        /* input [32 32 14 14] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 12544) {
            const int b = team / 6272;
            const int tile = team % 6272;
            const int i3 = tile % 14;
            const int i2 = tile / 14 % 14;
            const int i1 = tile / 196;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 100352L * b + lane;
            const float t1 = v1[6272 * sample + 196 * i1 + 14 * i2 + i3];
            b0[16 * (196 * i1 + 14 * i2 + i3)] = t1;
        }
    }
    if (section_group >= 784 && section_group < 1960) {
        /* input [32 48 14 14] */
        const int group = section_group - 784;
        const int team = group * 16 + item / 16;
        if (team < 18816) {
            const int b = team / 9408;
            const int tile = team % 9408;
            const int i3 = tile % 14;
            const int i2 = tile / 14 % 14;
            const int i1 = tile / 196;
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 150528L * b + lane;
            const float t2 = v3[9408 * sample + 196 * i1 + 14 * i2 + i3];
            b2[16 * (196 * i1 + 14 * i2 + i3)] = t2;
        }
    }
}


/* conv2d_weight */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_6e72514c89ef2b8e(__global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[816];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [2,1536] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [32,32,14,14] blocked */
    __global float *v2 = (__global float *)(arena + offset[2]); /* [32,48,14,14] blocked */
    if (section_group >= 0 && section_group < 64) {
        /* conv2d_weight [48 32 1 1 | 32 14 14], one row a group */
        const int group = section_group - 0;
        const int share = group / 32;
        const int b = share * 2 / 2;
        const int team = (group % 32) * 16 + item / 16;
        const bool live = team < 512;
        const int tile = live ? team : 511;
        const int i1 = tile % 32;
        const int i0 = tile / 32 * 3;
        __local float *lanes = (__local float *)exchange + 51 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b1 = v1 + 100352L * b + lane;
        __global float *b2 = v2 + 150528L * b + lane;
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            float sum0_1 = (float)(0.0f);
            float sum0_2 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 14; cut0 += 9) {
                const int end0 = min(cut0 + 9, (int)14);
                acc0 = (float)(0.0f);
                acc1 = (float)(0.0f);
                acc2 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i5 = cut0; i5 < end0; i5 += 1) {
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (int i6 = 0; i6 < 14; i6 += 7) {
                        const float t1 = b1[16 * (196 * i1 + 14 * i5 + i6)];
                        const float t2 = b2[16 * (196 * i0 + 14 * i5 + i6)];
                        const float t3 = b2[16 * (196 * i0 + 14 * i5 + i6 + 196)];
                        const float t4 = b2[16 * (196 * i0 + 14 * i5 + i6 + 392)];
                        const float t5 = b1[16 * (196 * i1 + 14 * i5 + i6 + 1)];
                        const float t6 = b2[16 * (196 * i0 + 14 * i5 + i6 + 1)];
                        const float t7 = b2[16 * (196 * i0 + 14 * i5 + i6 + 197)];
                        const float t8 = b2[16 * (196 * i0 + 14 * i5 + i6 + 393)];
                        const float t9 = b1[16 * (196 * i1 + 14 * i5 + i6 + 2)];
                        const float t10 = b2[16 * (196 * i0 + 14 * i5 + i6 + 2)];
                        const float t11 = b2[16 * (196 * i0 + 14 * i5 + i6 + 198)];
                        const float t12 = b2[16 * (196 * i0 + 14 * i5 + i6 + 394)];
                        const float t13 = b1[16 * (196 * i1 + 14 * i5 + i6 + 3)];
                        const float t14 = b2[16 * (196 * i0 + 14 * i5 + i6 + 3)];
                        const float t15 = b2[16 * (196 * i0 + 14 * i5 + i6 + 199)];
                        const float t16 = b2[16 * (196 * i0 + 14 * i5 + i6 + 395)];
                        const float t17 = b1[16 * (196 * i1 + 14 * i5 + i6 + 4)];
                        const float t18 = b2[16 * (196 * i0 + 14 * i5 + i6 + 4)];
                        const float t19 = b2[16 * (196 * i0 + 14 * i5 + i6 + 200)];
                        const float t20 = b2[16 * (196 * i0 + 14 * i5 + i6 + 396)];
                        const float t21 = b1[16 * (196 * i1 + 14 * i5 + i6 + 5)];
                        const float t22 = b2[16 * (196 * i0 + 14 * i5 + i6 + 5)];
                        const float t23 = b2[16 * (196 * i0 + 14 * i5 + i6 + 201)];
                        const float t24 = b2[16 * (196 * i0 + 14 * i5 + i6 + 397)];
                        const float t25 = b1[16 * (196 * i1 + 14 * i5 + i6 + 6)];
                        const float t26 = b2[16 * (196 * i0 + 14 * i5 + i6 + 6)];
                        const float t27 = b2[16 * (196 * i0 + 14 * i5 + i6 + 202)];
                        const float t28 = b2[16 * (196 * i0 + 14 * i5 + i6 + 398)];
                        acc0 = fma(t1, t2, acc0);
                        acc1 = fma(t1, t3, acc1);
                        acc2 = fma(t1, t4, acc2);
                        acc0 = fma(t5, t6, acc0);
                        acc1 = fma(t5, t7, acc1);
                        acc2 = fma(t5, t8, acc2);
                        acc0 = fma(t9, t10, acc0);
                        acc1 = fma(t9, t11, acc1);
                        acc2 = fma(t9, t12, acc2);
                        acc0 = fma(t13, t14, acc0);
                        acc1 = fma(t13, t15, acc1);
                        acc2 = fma(t13, t16, acc2);
                        acc0 = fma(t17, t18, acc0);
                        acc1 = fma(t17, t19, acc1);
                        acc2 = fma(t17, t20, acc2);
                        acc0 = fma(t21, t22, acc0);
                        acc1 = fma(t21, t23, acc1);
                        acc2 = fma(t21, t24, acc2);
                        acc0 = fma(t25, t26, acc0);
                        acc1 = fma(t25, t27, acc1);
                        acc2 = fma(t25, t28, acc2);
                    }
                }
                sum0_0 += acc0;
                sum0_1 += acc1;
                sum0_2 += acc2;
            }
            acc0 = sum0_0;
            acc1 = sum0_1;
            acc2 = sum0_2;
        }
        lanes[0 + lane] = acc0;
        lanes[17 + lane] = acc1;
        lanes[34 + lane] = acc2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 64) {
        /* conv2d_weight [48 32 1 1 | 32 14 14], one row a group */
        const int group = section_group - 0;
        const int share = group / 32;
        const int b = share * 2 / 2;
        const int team = (group % 32) * 16 + item / 16;
        const bool live = team < 512;
        const int tile = live ? team : 511;
        const int i1 = tile % 32;
        const int i0 = tile / 32 * 3;
        __local float *lanes = (__local float *)exchange + 51 * (item / 16);
        if (live && lane == 0) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1;
            float sum = tarn_sum_float(vload16(0, lanes + 0));
            *row = sum;
        }
        if (live && lane == 1) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 32;
            float sum = tarn_sum_float(vload16(0, lanes + 17));
            *row = sum;
        }
        if (live && lane == 2) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 64;
            float sum = tarn_sum_float(vload16(0, lanes + 34));
            *row = sum;
        }
    }
}


/* conv2d_weight */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_748f653b136f507f(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [48,32,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1536] */
    if (section_group >= 0 && section_group < 6) {
        /* conv2d_weight [1536 | 1] */
        const int group = section_group - 0;
        const int number = group * 256 + item;
        if (number < 1536) {
            const int i0 = number % 1536;
            const int tile = number / 1536;
            float acc0 = (float)(0.0f);
            const float t1 = v1[i0];
            const float t2 = v1[i0 + 1536];
            const float t3 = t1 + t2;
            acc0 += t3;
            v0[i0] = acc0;
        }
    }
}


