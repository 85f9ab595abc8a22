/* k0: 82 groups of 32; output 0, input 0, arena 0, at 0, owned 0, input 1; at bytes 0, 64, 128, 0, 8576 */
/* k1: 3 groups of 32; arena 0, at 0, output 1; at bytes 10368, 128, 0, 10496, 8576 */
/* k2: 1 groups of 32; output 2, arena 0, at 0; at bytes 10496 */
/* arena: 10504 bytes */
/* sum sum sum sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_d381c1593e3be748(__global uchar *output0, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *input1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [32,1,1] */
    __global float *v1 = (__global float *)(input0); /* [32,5,40] */
    __global float *v2 = (__global float *)(arena + offset[0]); /* [1] */
    __global float *v3 = (__global float *)(owned0 + offset[1]); /* [66,129,17] */
    __global float *v4 = (__global float *)(arena + offset[2]); /* [2112] */
    __global float *v5 = (__global float *)(owned0 + offset[3]); /* [66,129,17] */
    __global float *v6 = (__global float *)(arena + offset[4]); /* [32,14] blocked */
    __global float *v7 = (__global float *)(input1); /* [32,40,40] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [32 | 5 40] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 2) {
            const int b = team / 1;
            const int tile = team % 1;
            const int sample = 16 * b + lane;
            float acc0 = (float)(0.0f);
            {
                float sum0_0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut0 = 0; cut0 < 5; cut0 += 3) {
                    const int end0 = min(cut0 + 3, (int)5);
                    acc0 = (float)(0.0f);
                    #pragma unroll 1
                    #pragma clang loop vectorize(disable)
                    for (int i1 = cut0; i1 < end0; i1 += 1) {
                        #pragma unroll 4
                        #pragma clang loop vectorize(disable)
                        for (int i2 = 0; i2 < 40; i2 += 1) {
                            const float t1 = v1[200 * sample + 40 * i1 + i2];
                            acc0 += t1;
                        }
                    }
                    sum0_0 += acc0;
                }
                acc0 = sum0_0;
            }
            v0[sample] = acc0;
        }
    }
    if (section_group >= 1 && section_group < 2) {
        /* sum [66 129 1] */
        const int group = section_group - 1;
        const int number = group * 32 + item;
        if (number < 1) {
            float acc0 = (float)(0.0f);
            {
                float sum1_0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut1 = 0; cut1 < 66; cut1 += 64) {
                    const int end1 = min(cut1 + 64, (int)66);
                    float sum0_0 = (float)(0.0f);
                    #pragma unroll 1
                    #pragma clang loop vectorize(disable)
                    for (int i0 = cut1; i0 < end1; i0 += 1) {
                        #pragma unroll 1
                        #pragma clang loop vectorize(disable)
                        for (int cut0 = 0; cut0 < 129; cut0 += 128) {
                            const int end0 = min(cut0 + 128, (int)129);
                            acc0 = (float)(0.0f);
                            #pragma unroll 4
                            #pragma clang loop vectorize(disable)
                            for (int i1 = cut0; i1 < end0; i1 += 1) {
                                const float t2 = v3[2193 * i0 + 17 * i1];
                                acc0 += t2;
                            }
                            sum0_0 += acc0;
                        }
                    }
                    sum1_0 += sum0_0;
                }
                acc0 = sum1_0;
            }
            v2[0] = acc0;
        }
    }
    if (section_group >= 2 && section_group < 68) {
        /* sum [66 2 16 | 128 1] */
        const int group = section_group - 2;
        const int number = group * 32 + item;
        if (number < 2112) {
            const int i2 = number % 16;
            const int tile = number / 16;
            const int i1 = tile % 2;
            const int i0 = tile / 2;
            float acc0 = (float)(0.0f);
            #pragma unroll 4
            #pragma clang loop vectorize(disable)
            for (int i3 = 0; i3 < 128; i3 += 1) {
                float t3 = (float)(0x0p+0f);
                if (((128 * i1 + i3 <= 128))) {
                    const float t4 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3];
                    t3 = t4;
                }
                acc0 += t3;
            }
            v4[32 * i0 + 16 * i1 + i2] = acc0;
        }
    }
    if (section_group >= 68 && section_group < 82) {
        /* sum [32 14 | 3 40] */
        const int group = section_group - 68;
        const int team = group * 2 + item / 16;
        if (team < 28) {
            const int b = team / 14;
            const int tile = team % 14;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b6 = v6 + 224L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int i2 = 0; i2 < 3; i2 += 1) {
                #pragma unroll 4
                #pragma clang loop vectorize(disable)
                for (int i3 = 0; i3 < 40; i3 += 1) {
                    float t5 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t6 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3];
                        t5 = t6;
                    }
                    acc0 += t5;
                }
            }
            b6[16 * (i1)] = acc0;
        }
    }
}


/* sum sum sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_2630aeab76f29343(__global uchar *arena, __global const ulong *offset, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[34];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [1] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [2112] */
    __global float *v2 = (__global float *)(output0); /* [1,1,1] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [1] */
    __global float *v4 = (__global float *)(arena + offset[3]); /* [2,1] */
    __global float *v5 = (__global float *)(arena + offset[4]); /* [32,14] blocked */
    if (section_group >= 0 && section_group < 1) {
        /* sum [66 2 16] */
        const int group = section_group - 0;
        const int team = item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        float acc0 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 66; cut0 += 64) {
                const int end0 = min(cut0 + 64, (int)66);
                acc0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int i0 = cut0; i0 < end0; i0 += 1) {
                    #pragma unroll 1
                    #pragma clang loop vectorize(disable)
                    for (int i1 = 0; i1 < 2; i1 += 1) {
                        #pragma unroll 4
                        #pragma clang loop vectorize(disable)
                        for (int i2 = 0 + lane; i2 < 16; i2 += 16) {
                            const float t1 = v1[32 * i0 + 16 * i1 + i2];
                            acc0 += t1;
                        }
                    }
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        lanes[0 + lane] = acc0;
    }
    if (section_group >= 1 && section_group < 3) {
        /* sum [32 14], one row a group */
        const int group = section_group - 1;
        const int share = group / 1;
        const int b = share * 2 / 2;
        const int team = (group % 1) * 2 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b5 = v5 + 224L * b + lane;
        float acc0 = (float)(0.0f);
        #pragma unroll 4
        #pragma clang loop vectorize(disable)
        for (int i1 = 0; i1 < 14; i1 += 1) {
            const float t2 = b5[16 * (i1)];
            acc0 += t2;
        }
        lanes[0 + lane] = acc0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 1) {
        /* sum [66 2 16] */
        const int group = section_group - 0;
        const int team = item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const float sum0 = tarn_sum_float(vload16(0, lanes + 0));
        float acc0 = 0.0f;
        acc0 += sum0;
        const bool writes = live && lane == 0;
        if (writes) v0[0] = acc0;
    }
    if (section_group >= 1 && section_group < 3) {
        /* sum [32 14], one row a group */
        const int group = section_group - 1;
        const int share = group / 1;
        const int b = share * 2 / 2;
        const int team = (group % 1) * 2 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        if (live && lane == 0) {
            __global float *row = v4 + 1 * share + 0;
            float sum = tarn_sum_float(vload16(0, lanes + 0));
            *row = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 1) {
        /* sum [1] */
        const int group = section_group - 0;
        #pragma unroll 1
        for (int number = item; number < 1; number += 32) {
            float acc0 = (float)(0.0f);
            const float t3 = v3[0];
            const float t4 = v0[0];
            const float t5 = t3 + t4;
            acc0 += t5;
            v2[0] = acc0;
        }
    }
}


/* sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_fa2d7f34aec1bf82(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [1,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [1] */
        const int group = section_group - 0;
        const int number = group * 32 + item;
        if (number < 1) {
            float acc0 = (float)(0.0f);
            const float t1 = v1[0];
            const float t2 = v1[1];
            const float t3 = t1 + t2;
            acc0 += t3;
            v0[0] = acc0;
        }
    }
}


