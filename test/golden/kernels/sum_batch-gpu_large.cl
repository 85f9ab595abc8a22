/* k0: 32 groups of 256; arena 0, at 0, input 0; at bytes 0 */
/* k1: 1 groups of 256; output 0, arena 0, at 0; at bytes 0 */
/* arena: 1536 bytes */
/* sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_969301b7b33e6b66(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[272];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [16,24] */
    __global float *v1 = (__global float *)(input0); /* [330,24] */
    #pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
        if (section_group >= 0 && section_group < 32) {
            /* sum [24 | 330], one row a group */
            const int group = section_group - 0;
            const int share = group / 2;
            const int b = share * 21 / 16 + turn;
            const int team = (group % 2) * 16 + item / 16;
            const bool live = team < 24;
            const int tile = live ? team : 23;
            const int i0 = tile;
            __local float *lanes = (__local float *)exchange + 17 * (item / 16);
            if (b < (share + 1) * 21 / 16) {
                const bool present = 16 * b + lane < 330;
                const int sample = min((int)(16 * b) + lane, 329);
                float acc0 = (float)(0.0f);
                const float t1 = v1[i0 + 24 * sample];
                const float t2 = present ? t1 : (float)(0.0f);
                acc0 += t2;
                lanes[0 + lane] = acc0;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (section_group >= 0 && section_group < 32) {
            /* sum [24 | 330], one row a group */
            const int group = section_group - 0;
            const int share = group / 2;
            const int b = share * 21 / 16 + turn;
            const int team = (group % 2) * 16 + item / 16;
            const bool live = team < 24;
            const int tile = live ? team : 23;
            const int i0 = tile;
            __local float *lanes = (__local float *)exchange + 17 * (item / 16);
            if (b < (share + 1) * 21 / 16) {
                if (live && lane == 0) {
                    __global float *row = v0 + 24 * share + i0;
                    float sum = tarn_sum_float(vload16(0, lanes + 0));
                    if (turn > 0)
                        sum += *row;
                    *row = sum;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}


/* sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_7ce802d62f743f88(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [1,24] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,24] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [24 | 1] */
        const int group = section_group - 0;
        const int number = group * 256 + item;
        if (number < 24) {
            const int i0 = number % 24;
            const int tile = number / 24;
            float acc0 = (float)(0.0f);
            const float t1 = v1[i0];
            const float t2 = v1[i0 + 24];
            const float t3 = t1 + t2;
            const float t4 = v1[i0 + 48];
            const float t5 = v1[i0 + 72];
            const float t6 = t4 + t5;
            const float t7 = t3 + t6;
            const float t8 = v1[i0 + 96];
            const float t9 = v1[i0 + 120];
            const float t10 = t8 + t9;
            const float t11 = v1[i0 + 144];
            const float t12 = v1[i0 + 168];
            const float t13 = t11 + t12;
            const float t14 = t10 + t13;
            const float t15 = t7 + t14;
            const float t16 = v1[i0 + 192];
            const float t17 = v1[i0 + 216];
            const float t18 = t16 + t17;
            const float t19 = v1[i0 + 240];
            const float t20 = v1[i0 + 264];
            const float t21 = t19 + t20;
            const float t22 = t18 + t21;
            const float t23 = v1[i0 + 288];
            const float t24 = v1[i0 + 312];
            const float t25 = t23 + t24;
            const float t26 = v1[i0 + 336];
            const float t27 = v1[i0 + 360];
            const float t28 = t26 + t27;
            const float t29 = t25 + t28;
            const float t30 = t22 + t29;
            const float t31 = t15 + t30;
            acc0 += t31;
            const float t32 = acc0 * (float)(0x1.8d3018p-9f);
            v0[i0] = t32;
        }
    }
}


