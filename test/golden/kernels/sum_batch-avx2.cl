/* k0: 16 groups of 1; skip 0, input 0, arena 0, at 0; at bytes 0 */
/* k1: 1 groups of 1; skip 0, output 0, arena 0, at 0; at bytes 0 */
/* arena: 1536 bytes */
/* input sum */
#ifndef TARN_nest_d9e156eadf2ed168
#define TARN_nest_d9e156eadf2ed168
TARN_APART void nest_d9e156eadf2ed168(long b, __local float *v0, __global float *v1)
{
    const int16 sample = min((int16)((int)(16 * b)) + TARN_LANES, (int16)(329));
    const int16 present = ((int16)((int)(16 * b)) + TARN_LANES) < (int16)(330);
    #pragma unroll 1
    for (long e = 0; e < 24; e += 16) {
        const long at = min(e, 8L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 0, 329L));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 1, 329L));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 2, 329L));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 3, 329L));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 4, 329L));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 5, 329L));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 6, 329L));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 7, 329L));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 8, 329L));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 9, 329L));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 10, 329L));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 11, 329L));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 12, 329L));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 13, 329L));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 14, 329L));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 24 * min(16 * b + 15, 329L));
        TARN_TURN_8(float, row)
        TARN_STORE(__local, float, row[0], v0 + 16 * (0 + at + 0));
        TARN_STORE(__local, float, row[1], v0 + 16 * (0 + at + 1));
        TARN_STORE(__local, float, row[2], v0 + 16 * (0 + at + 2));
        TARN_STORE(__local, float, row[3], v0 + 16 * (0 + at + 3));
        TARN_STORE(__local, float, row[4], v0 + 16 * (0 + at + 4));
        TARN_STORE(__local, float, row[5], v0 + 16 * (0 + at + 5));
        TARN_STORE(__local, float, row[6], v0 + 16 * (0 + at + 6));
        TARN_STORE(__local, float, row[7], v0 + 16 * (0 + at + 7));
        TARN_STORE(__local, float, row[8], v0 + 16 * (0 + at + 8));
        TARN_STORE(__local, float, row[9], v0 + 16 * (0 + at + 9));
        TARN_STORE(__local, float, row[10], v0 + 16 * (0 + at + 10));
        TARN_STORE(__local, float, row[11], v0 + 16 * (0 + at + 11));
        TARN_STORE(__local, float, row[12], v0 + 16 * (0 + at + 12));
        TARN_STORE(__local, float, row[13], v0 + 16 * (0 + at + 13));
        TARN_STORE(__local, float, row[14], v0 + 16 * (0 + at + 14));
        TARN_STORE(__local, float, row[15], v0 + 16 * (0 + at + 15));
    }
}
#endif
#ifndef TARN_nest_7ff790ba1956cf84
#define TARN_nest_7ff790ba1956cf84
TARN_APART void nest_7ff790ba1956cf84(long group, long b, long first, __global float *v0, __local float *v1)
{
    const int16 sample = min((int16)((int)(16 * b)) + TARN_LANES, (int16)(329));
    const int16 present = ((int16)((int)(16 * b)) + TARN_LANES) < (int16)(330);
    #pragma unroll 1
    for (long i0 = 0; i0 < 24; i0 += 2) {
        float16 acc0 = (float16)(0.0f);
        float16 acc1 = (float16)(0.0f);
        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i0)));
        const float16 t2 = present ? t1 : (float16)(0.0f);
        acc0 += t2;
        const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (i0 + 1)));
        const float16 t4 = present ? t3 : (float16)(0.0f);
        acc1 += t4;
        {
            float sum = tarn_sum_float(acc0);
            __global float *row = v0 + 24 * group + i0;
            if (b > first)
                sum += *row;
            *row = sum;
        }
        {
            float sum = tarn_sum_float(acc1);
            __global float *row = v0 + 24 * group + i0 + 1;
            if (b > first)
                sum += *row;
            *row = sum;
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_21f9a5bcbd393fb6(const int skip, __global uchar *input0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[24];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [330,24] blocked */
    __global float *v1 = (__global float *)(input0); /* [330,24] */
    __global float *v2 = (__global float *)(arena + offset[0]); /* [16,24] */
    /* input */
    if (section_group >= 0 && section_group < 16) {
        const long group = section_group - 0;
        const long first = group * 21 / 16, last = (group + 1) * 21 / 16;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [330 24] */
            nest_d9e156eadf2ed168(b, v0, v1);
            /* sum [24 | 330], one row a group */
            nest_7ff790ba1956cf84(group, b, first, v2, v0);
        }
    }
}


/* sum */
#ifndef TARN_nest_bfc0fd39a16961af
#define TARN_nest_bfc0fd39a16961af
TARN_APART void nest_bfc0fd39a16961af(__global float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long lane = 0; lane < 24; lane += 16) {
        const long i0 = min(lane, 24 - 16L);
        float16 acc0 = (float16)(0.0f);
        const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
        const float16 t2 = (TARN_LOAD(__global, float, v1 + i0 + 24));
        const float16 t3 = t1 + t2;
        const float16 t4 = (TARN_LOAD(__global, float, v1 + i0 + 48));
        const float16 t5 = (TARN_LOAD(__global, float, v1 + i0 + 72));
        const float16 t6 = t4 + t5;
        const float16 t7 = t3 + t6;
        const float16 t8 = (TARN_LOAD(__global, float, v1 + i0 + 96));
        const float16 t9 = (TARN_LOAD(__global, float, v1 + i0 + 120));
        const float16 t10 = t8 + t9;
        const float16 t11 = (TARN_LOAD(__global, float, v1 + i0 + 144));
        const float16 t12 = (TARN_LOAD(__global, float, v1 + i0 + 168));
        const float16 t13 = t11 + t12;
        const float16 t14 = t10 + t13;
        const float16 t15 = t7 + t14;
        const float16 t16 = (TARN_LOAD(__global, float, v1 + i0 + 192));
        const float16 t17 = (TARN_LOAD(__global, float, v1 + i0 + 216));
        const float16 t18 = t16 + t17;
        const float16 t19 = (TARN_LOAD(__global, float, v1 + i0 + 240));
        const float16 t20 = (TARN_LOAD(__global, float, v1 + i0 + 264));
        const float16 t21 = t19 + t20;
        const float16 t22 = t18 + t21;
        const float16 t23 = (TARN_LOAD(__global, float, v1 + i0 + 288));
        const float16 t24 = (TARN_LOAD(__global, float, v1 + i0 + 312));
        const float16 t25 = t23 + t24;
        const float16 t26 = (TARN_LOAD(__global, float, v1 + i0 + 336));
        const float16 t27 = (TARN_LOAD(__global, float, v1 + i0 + 360));
        const float16 t28 = t26 + t27;
        const float16 t29 = t25 + t28;
        const float16 t30 = t22 + t29;
        const float16 t31 = t15 + t30;
        acc0 += t31;
        const float16 t32 = acc0 * (float16)(0x1.8d3018p-9f);
        TARN_STORE(__global, float, t32, v0 + i0);
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_cc212f77a113b033(const int skip, __global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [1,24] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,24] */
    /* sum */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* sum [24 | 1] */
        nest_bfc0fd39a16961af(v0, v1);
    }
}


