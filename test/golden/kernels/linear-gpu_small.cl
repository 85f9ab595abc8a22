/* k0: 30 groups of 32; arena 0, at 0, input 0; at bytes 0 */
/* k1: 24 groups of 32; arena 0, at 0, owned 0; at bytes 3840, 0, 0 */
/* k2: 96 groups of 32; output 0, arena 0, at 0, owned 1; at bytes 3840, 0, 9984 */
/* k3: 48 groups of 32; arena 0, at 0, input 1; at bytes 9984, 9984 */
/* k4: 30 groups of 32; arena 0, at 0, input 0; at bytes 0, 9984 */
/* k5: 48 groups of 32; arena 0, at 0; at bytes 7680, 9984 */
/* k6: 21 groups of 32; owned 2, at 0, arena 0, owned 3; at bytes 0, 0, 0, 7680 */
/* arena: 16128 bytes */
/* input */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_bd2ebd288847753f(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [48,20] blocked */
    __global float *v1 = (__global float *)(input0); /* [48,20] */
    if (section_group >= 0 && section_group < 30) {
        /* input [48 20] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 60) {
            const int b = team / 20;
            const int tile = team % 20;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 320L * b + lane;
            const float t1 = v1[20 * sample + i1];
            b0[16 * (i1)] = t1;
        }
    }
}


/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_02e2e9a346176a7d(__global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [48,32] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [48,20] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[2]); /* [32,20] */
    if (section_group >= 0 && section_group < 24) {
        /* matmul [48 32 | 20] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 48) {
            const int b = team % 3;
            const int tile = team / 3;
            const int i1 = tile * 2;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 512L * b + lane;
            __global float *b1 = v1 + 320L * b + lane;
            float acc0 = (float)(0.0f);
            float acc1 = (float)(0.0f);
            #pragma unroll 4
            #pragma clang loop vectorize(disable)
            for (int i2 = 0; i2 < 20; i2 += 1) {
                const float t1 = b1[16 * (i2)];
                const float t2 = v2[20 * i1 + i2];
                acc0 = fma(t1, t2, acc0);
                const float t3 = v2[20 * i1 + i2 + 20];
                acc1 = fma(t1, t3, acc1);
            }
            b0[16 * (i1)] = acc0;
            b0[16 * (i1 + 1)] = acc1;
        }
    }
}


/* relu relu */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_9c3e7f0bb9b16d4f(__global uchar *output0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [48,32] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [48,32] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [1,32] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [48,32] blocked */
    if (section_group >= 0 && section_group < 48) {
        /* relu [48 32] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 96) {
            const int b = team / 32;
            const int tile = team % 32;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 512L * b + lane;
            const float t1 = b1[16 * (i1)];
            const float t2 = v2[i1];
            const float t3 = t1 + t2;
            const float t4 = TARN_SELECT_1(TARN_BOOL_1(t3 < TARN_F_1(0.0f)), TARN_F_1(0.0f), t3);
            v0[32 * sample + i1] = t4;
        }
    }
    if (section_group >= 48 && section_group < 96) {
        /* relu [48 32] */
        const int group = section_group - 48;
        const int team = group * 2 + item / 16;
        if (team < 96) {
            const int b = team / 32;
            const int tile = team % 32;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 512L * b + lane;
            __global float *b3 = v3 + 512L * b + lane;
            const float t5 = b1[16 * (i1)];
            const float t6 = v2[i1];
            const float t7 = t5 + t6;
            const float t8 = TARN_SELECT_1(TARN_BOOL_1(t7 < TARN_F_1(0.0f)), TARN_F_1(0.0f), t7);
            b3[16 * (i1)] = t8;
        }
    }
}


/* where */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_9eec0ad504296ebf(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [48,32] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [48,32] blocked */
    __global float *v2 = (__global float *)(input0); /* [48,32] */
    if (section_group >= 0 && section_group < 48) {
        /* where [48 32] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 96) {
            const int b = team / 32;
            const int tile = team % 32;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 512L * b + lane;
            __global float *b1 = v1 + 512L * b + lane;
            const float t1 = b1[16 * (i1)];
            const int t2 = TARN_BOOL_1(t1 > (float)(0x0p+0f));
            const float t3 = v2[32 * sample + i1];
            const float t4 = TARN_SELECT_1(t2, t3, (float)(0x0p+0f));
            b0[16 * (i1)] = t4;
        }
    }
}


/* matmul */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_b4606604560422d5(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [3,640] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [48,32] blocked */
    __global float *v2 = (__global float *)(input0); /* [48,20] */
    if (section_group >= 0 && section_group < 30) {
        /* matmul [32 20 | 48], one row a group */
        const int group = section_group - 0;
        const int number = group * 32 + item;
        if (number < 960) {
            const int share = number / 320;
            const int first = share * 3 / 3, last = (share + 1) * 3 / 3;
            const int i1 = number % 20;
            const int tile = number / 20 % 16;
            const int i0 = tile * 2;
            float row0 = 0.0f;
            float row1 = 0.0f;
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int b = first; b < last; ++b) {
                float acc0 = (float)(0.0f);
                float acc1 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int i2 = 16 * b; i2 < min((int)(16 * b + 16), (int)48); ++i2) {
                    const float t1 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b]);
                    const float t2 = v2[i1 + 20 * i2];
                    acc0 = fma(t1, t2, acc0);
                    const float t3 = (float)(v1[16 * (32 * b + i0 + 1) + i2 - 16 * b]);
                    acc1 = fma(t3, t2, acc1);
                }
                row0 = b > first ? acc0 + row0 : acc0;
                row1 = b > first ? acc1 + row1 : acc1;
            }
            v0[640 * share + 20 * i0 + i1] = row0;
            v0[640 * share + 20 * i0 + i1 + 20] = row1;
        }
    }
}


/* sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_f64bb21e95be2155(__global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[34];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [3,32] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [48,32] blocked */
    {
        /* sum [32 | 48], one row a group */
        const int group = section_group - 0;
        const int share = group / 16;
        const int first = share * 3 / 3, last = (share + 1) * 3 / 3;
        const int team = (group % 16) * 2 + item / 16;
        const bool live = team < 32;
        const int tile = live ? team : 31;
        const int i0 = tile;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        float row0 = 0.0f;
        #pragma unroll 1
        for (int b = first; b < last; ++b) {
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 512L * b + lane;
            float acc0 = (float)(0.0f);
            const float t1 = b1[16 * (i0)];
            acc0 += t1;
            lanes[0 + lane] = acc0;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < 1) {
                float sum = tarn_sum_float(vload16(0, lanes + 17 * (lane + 0)));
                if (b > first)
                    sum += row0;
                row0 = sum;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (live && lane == 0)
            v0[32 * share + i0] = row0;
    }
}


/* matmul sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_600cc3934f10bbdb(__global uchar *owned0, __global const ulong *offset, __global uchar *arena, __global uchar *owned1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(owned0 + offset[0]); /* [32,20] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [3,640] */
    __global float *v2 = (__global float *)(owned1 + offset[2]); /* [1,32] */
    __global float *v3 = (__global float *)(arena + offset[3]); /* [3,32] */
    if (section_group >= 0 && section_group < 20) {
        /* matmul [640 | 1] */
        const int group = section_group - 0;
        const int number = group * 32 + item;
        if (number < 640) {
            const int i0 = number % 640;
            const int tile = number / 640;
            float acc0 = (float)(0.0f);
            const float t1 = v1[i0];
            const float t2 = v1[i0 + 640];
            const float t3 = t1 + t2;
            const float t4 = v1[i0 + 1280];
            const float t5 = t3 + t4;
            acc0 += t5;
            v0[i0] = acc0;
        }
    }
    if (section_group >= 20 && section_group < 21) {
        /* sum [32 | 1] */
        const int group = section_group - 20;
        const int number = group * 32 + item;
        if (number < 32) {
            const int i0 = number % 32;
            const int tile = number / 32;
            float acc0 = (float)(0.0f);
            const float t6 = v3[i0];
            const float t7 = v3[i0 + 32];
            const float t8 = t6 + t7;
            const float t9 = v3[i0 + 64];
            const float t10 = t8 + t9;
            acc0 += t10;
            v2[i0] = acc0;
        }
    }
}


