/* k0: 15680 groups of 32; arena 0, at 0, input 0, input 1; at bytes 0, 802816 */
/* k1: 192 groups of 32; arena 0, at 0; at bytes 2007040, 0, 802816 */
/* k2: 48 groups of 32; output 0, arena 0, at 0; at bytes 2007040 */
/* arena: 2019328 bytes */
/* input input */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_904bed48c4f15a64(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *input1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [32,32,14,14] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,32,14,14] */
    __global float *v2 = (__global float *)(arena + offset[1]); /* [32,48,14,14] blocked */
    __global float *v3 = (__global float *)(input1); /* [32,48,14,14] */
    if (section_group >= 0 && section_group < 6272) {
        /* input [32 32 14 14] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
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
    if (section_group >= 6272 && section_group < 15680) {
        /* input [32 48 14 14] */
        const int group = section_group - 6272;
        const int team = group * 2 + item / 16;
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
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_5af72e439241009b(__global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[272];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [2,1536] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [32,32,14,14] blocked */
    __global float *v2 = (__global float *)(arena + offset[2]); /* [32,48,14,14] blocked */
    if (section_group >= 0 && section_group < 192) {
        /* conv2d_weight [48 32 1 1 | 32 14 14], one row a group */
        const int group = section_group - 0;
        const int share = group / 96;
        const int b = share * 2 / 2;
        const int team = (group % 96) * 2 + item / 16;
        const bool live = team < 192;
        const int tile = live ? team : 191;
        const int i1 = tile % 8 * 4;
        const int i0 = tile / 8 * 2;
        __local float *lanes = (__local float *)exchange + 136 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b1 = v1 + 100352L * b + lane;
        __global float *b2 = v2 + 150528L * b + lane;
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        float acc3 = (float)(0.0f);
        float acc4 = (float)(0.0f);
        float acc5 = (float)(0.0f);
        float acc6 = (float)(0.0f);
        float acc7 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            float sum0_1 = (float)(0.0f);
            float sum0_2 = (float)(0.0f);
            float sum0_3 = (float)(0.0f);
            float sum0_4 = (float)(0.0f);
            float sum0_5 = (float)(0.0f);
            float sum0_6 = (float)(0.0f);
            float sum0_7 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 14; cut0 += 9) {
                const int end0 = min(cut0 + 9, (int)14);
                acc0 = (float)(0.0f);
                acc1 = (float)(0.0f);
                acc2 = (float)(0.0f);
                acc3 = (float)(0.0f);
                acc4 = (float)(0.0f);
                acc5 = (float)(0.0f);
                acc6 = (float)(0.0f);
                acc7 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int i5 = cut0; i5 < end0; i5 += 1) {
                    #pragma unroll 1
                    #pragma clang loop vectorize(disable)
                    for (int i6 = 0; i6 < 14; i6 += 2) {
                        const float t1 = b1[16 * (196 * i1 + 14 * i5 + i6)];
                        const float t2 = b2[16 * (196 * i0 + 14 * i5 + i6)];
                        const float t3 = b1[16 * (196 * i1 + 14 * i5 + i6 + 196)];
                        const float t4 = b1[16 * (196 * i1 + 14 * i5 + i6 + 392)];
                        const float t5 = b1[16 * (196 * i1 + 14 * i5 + i6 + 588)];
                        const float t6 = b2[16 * (196 * i0 + 14 * i5 + i6 + 196)];
                        const float t7 = b1[16 * (196 * i1 + 14 * i5 + i6 + 1)];
                        const float t8 = b2[16 * (196 * i0 + 14 * i5 + i6 + 1)];
                        const float t9 = b1[16 * (196 * i1 + 14 * i5 + i6 + 197)];
                        const float t10 = b1[16 * (196 * i1 + 14 * i5 + i6 + 393)];
                        const float t11 = b1[16 * (196 * i1 + 14 * i5 + i6 + 589)];
                        const float t12 = b2[16 * (196 * i0 + 14 * i5 + i6 + 197)];
                        acc0 = fma(t1, t2, acc0);
                        acc1 = fma(t3, t2, acc1);
                        acc2 = fma(t4, t2, acc2);
                        acc3 = fma(t5, t2, acc3);
                        acc4 = fma(t1, t6, acc4);
                        acc5 = fma(t3, t6, acc5);
                        acc6 = fma(t4, t6, acc6);
                        acc7 = fma(t5, t6, acc7);
                        acc0 = fma(t7, t8, acc0);
                        acc1 = fma(t9, t8, acc1);
                        acc2 = fma(t10, t8, acc2);
                        acc3 = fma(t11, t8, acc3);
                        acc4 = fma(t7, t12, acc4);
                        acc5 = fma(t9, t12, acc5);
                        acc6 = fma(t10, t12, acc6);
                        acc7 = fma(t11, t12, acc7);
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
            }
            acc0 = sum0_0;
            acc1 = sum0_1;
            acc2 = sum0_2;
            acc3 = sum0_3;
            acc4 = sum0_4;
            acc5 = sum0_5;
            acc6 = sum0_6;
            acc7 = sum0_7;
        }
        lanes[0 + lane] = acc0;
        lanes[17 + lane] = acc1;
        lanes[34 + lane] = acc2;
        lanes[51 + lane] = acc3;
        lanes[68 + lane] = acc4;
        lanes[85 + lane] = acc5;
        lanes[102 + lane] = acc6;
        lanes[119 + lane] = acc7;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 192) {
        /* conv2d_weight [48 32 1 1 | 32 14 14], one row a group */
        const int group = section_group - 0;
        const int share = group / 96;
        const int b = share * 2 / 2;
        const int team = (group % 96) * 2 + item / 16;
        const bool live = team < 192;
        const int tile = live ? team : 191;
        const int i1 = tile % 8 * 4;
        const int i0 = tile / 8 * 2;
        __local float *lanes = (__local float *)exchange + 136 * (item / 16);
        if (live && lane == 0) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1;
            float sum = tarn_sum_float(vload16(0, lanes + 0));
            *row = sum;
        }
        if (live && lane == 1) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 1;
            float sum = tarn_sum_float(vload16(0, lanes + 17));
            *row = sum;
        }
        if (live && lane == 2) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 2;
            float sum = tarn_sum_float(vload16(0, lanes + 34));
            *row = sum;
        }
        if (live && lane == 3) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 3;
            float sum = tarn_sum_float(vload16(0, lanes + 51));
            *row = sum;
        }
        if (live && lane == 4) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 32;
            float sum = tarn_sum_float(vload16(0, lanes + 68));
            *row = sum;
        }
        if (live && lane == 5) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 33;
            float sum = tarn_sum_float(vload16(0, lanes + 85));
            *row = sum;
        }
        if (live && lane == 6) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 34;
            float sum = tarn_sum_float(vload16(0, lanes + 102));
            *row = sum;
        }
        if (live && lane == 7) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 35;
            float sum = tarn_sum_float(vload16(0, lanes + 119));
            *row = sum;
        }
    }
}


/* conv2d_weight */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_f81171cc89bdae29(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [48,32,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1536] */
    if (section_group >= 0 && section_group < 48) {
        /* conv2d_weight [1536 | 1] */
        const int group = section_group - 0;
        const int number = group * 32 + item;
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


