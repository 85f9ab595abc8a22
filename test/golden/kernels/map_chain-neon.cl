/* k0: 3 groups of 1; skip 0, input 0, output 0, owned 0, at 0; at bytes 0 */
/* arena: 0 bytes */
/* input tanh */
#ifndef TARN_nest_25e2c21903aaf62b
#define TARN_nest_25e2c21903aaf62b
TARN_APART void nest_25e2c21903aaf62b(long b, __local float *v0, __global float *v1)
{
    const int16 sample = min((int16)((int)(16 * b)) + TARN_LANES, (int16)(39));
    const int16 present = ((int16)((int)(16 * b)) + TARN_LANES) < (int16)(40);
    #pragma unroll 1
    for (long e = 0; e < 30; e += 16) {
        const long at = min(e, 14L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 0, 39L));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 1, 39L));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 2, 39L));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 3, 39L));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 4, 39L));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 5, 39L));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 6, 39L));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 7, 39L));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 8, 39L));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 9, 39L));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 10, 39L));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 11, 39L));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 12, 39L));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 13, 39L));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 14, 39L));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 30 * min(16 * b + 15, 39L));
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
#ifndef TARN_nest_7e51a543d36592ab
#define TARN_nest_7e51a543d36592ab
TARN_APART void nest_7e51a543d36592ab(long b, __global float *v0, __local float *v1, __global float *v2)
{
    const int16 sample = min((int16)((int)(16 * b)) + TARN_LANES, (int16)(39));
    const int16 present = ((int16)((int)(16 * b)) + TARN_LANES) < (int16)(40);
    #pragma unroll 1
    for (long i1 = 0; i1 < 6; i1 += 1) {
        #pragma unroll 1
        for (long i2 = 0; i2 < 5; i2 += 1) {
            const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (5 * i1 + i2)));
            const float16 t2 = (float16)(v2[i1]);
            const float16 t3 = t1 * t2;
            const float16 t4 = t3 + t1;
            const float16 t5 = TARN_SELECT_16(TARN_BOOL_16(t4 < TARN_F_16(0.0f)), TARN_F_16(0.0f), t4);
            const float16 t6 = TARN_TANH_16(t5);
            {
                const float16 lanes = t6;
                if (16 * b + 0 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 0)] = lanes.s0;
                if (16 * b + 1 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 1)] = lanes.s1;
                if (16 * b + 2 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 2)] = lanes.s2;
                if (16 * b + 3 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 3)] = lanes.s3;
                if (16 * b + 4 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 4)] = lanes.s4;
                if (16 * b + 5 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 5)] = lanes.s5;
                if (16 * b + 6 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 6)] = lanes.s6;
                if (16 * b + 7 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 7)] = lanes.s7;
                if (16 * b + 8 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 8)] = lanes.s8;
                if (16 * b + 9 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 9)] = lanes.s9;
                if (16 * b + 10 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 10)] = lanes.sa;
                if (16 * b + 11 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 11)] = lanes.sb;
                if (16 * b + 12 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 12)] = lanes.sc;
                if (16 * b + 13 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 13)] = lanes.sd;
                if (16 * b + 14 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 14)] = lanes.se;
                if (16 * b + 15 < 40) v0[5 * i1 + i2 + 30 * (16 * b + 15)] = lanes.sf;
            }
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_dd96ef9f9b4fa31b(const int skip, __global uchar *input0, __global uchar *output0, __global uchar *owned0, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[30];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [40,6,5] blocked */
    __global float *v1 = (__global float *)(input0); /* [40,6,5] */
    __global float *v2 = (__global float *)(output0); /* [40,6,5] */
    __global float *v3 = (__global float *)(owned0 + offset[0]); /* [6,1] */
    /* input */
    if (section_group >= 0 && section_group < 3) {
        const long group = section_group - 0;
        const long first = group * 3 / 3, last = (group + 1) * 3 / 3;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [40 6 5] */
            nest_25e2c21903aaf62b(b, v0, v1);
            /* tanh [40 6 5] */
            nest_7e51a543d36592ab(b, v2, v0, v3);
        }
    }
}


