/* k0: 2 groups of 1; skip 0, input 0, output 0, output 1, owned 0, at 0, input 1, arena 0; at bytes 0, 0 */
/* k1: 1 groups of 1; skip 0, output 2, arena 0, at 0; at bytes 0 */
/* arena: 8 bytes */
/* input sum sum input sum */
#ifndef TARN_nest_7ced1ad07d0a2ff4
#define TARN_nest_7ced1ad07d0a2ff4
TARN_APART void nest_7ced1ad07d0a2ff4(__global float *v0, __global float *v1)
{
    float sum0;
    {
        float16 acc0 = (float16)(0.0f);
        {
            float16 sum1_0 = (float16)(0.0f);
            #pragma unroll 1
            for (long cut1 = 0; cut1 < 66; cut1 += 64) {
                const long end1 = min(cut1 + 64, (long)66);
                float16 sum0_0 = (float16)(0.0f);
                #pragma unroll 1
                for (long i0 = cut1; i0 < end1; i0 += 1) {
                    #pragma unroll 1
                    for (long cut0 = 0; cut0 < 129; cut0 += 128) {
                        const long end0 = min(cut0 + 128, (long)129);
                        acc0 = (float16)(0.0f);
                        #pragma unroll 1
                        for (long i1 = cut0; i1 < end0; i1 += 1) {
                            #pragma unroll 1
                            for (long i2 = 0; i2 < 16; i2 += 16) {
                                const float16 t1 = (TARN_LOAD(__global, float, v1 + 2193 * i0 + 17 * i1 + i2));
                                acc0 += t1;
                            }
                        }
                        sum0_0 += acc0;
                    }
                }
                sum1_0 += sum0_0;
            }
            acc0 = sum1_0;
        }
        sum0 = tarn_sum_float(acc0);
    }
    float acc0 = (float)(0.0f);
    {
        float sum1_0 = (float)(0.0f);
        #pragma nounroll
        #pragma clang loop vectorize(disable)
        for (long cut1 = 0; cut1 < 66; cut1 += 64) {
            const long end1 = min(cut1 + 64, (long)66);
            float sum0_0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (long i0 = cut1; i0 < end1; i0 += 1) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (long cut0 = 0; cut0 < 129; cut0 += 128) {
                    const long end0 = min(cut0 + 128, (long)129);
                    acc0 = (float)(0.0f);
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (long i1 = cut0; i1 < end0; i1 += 1) {
                        #pragma nounroll
                        #pragma clang loop vectorize(disable)
                        for (long i2 = 16; i2 < 17; i2 += 1) {
                            const float t2 = v1[2193 * i0 + 17 * i1 + i2];
                            acc0 += t2;
                        }
                    }
                    sum0_0 += acc0;
                }
            }
            sum1_0 += sum0_0;
        }
        acc0 = sum1_0;
    }
    acc0 += sum0;
    v0[0] = acc0;
}
#endif
#ifndef TARN_nest_e550cf53c9b47aa7
#define TARN_nest_e550cf53c9b47aa7
TARN_APART void nest_e550cf53c9b47aa7(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 200; e += 16) {
        const long at = min(e, 184L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 200 * (16 * b + 15));
        TARN_TURN_16(float, row)
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
#ifndef TARN_nest_674e263fe975becd
#define TARN_nest_674e263fe975becd
TARN_APART void nest_674e263fe975becd(long b, __global float *v0, __local float *v1)
{
    float16 acc0 = (float16)(0.0f);
    {
        float16 sum0_0 = (float16)(0.0f);
        #pragma unroll 1
        for (long cut0 = 0; cut0 < 5; cut0 += 3) {
            const long end0 = min(cut0 + 3, (long)5);
            acc0 = (float16)(0.0f);
            #pragma unroll 1
            for (long i1 = cut0; i1 < end0; i1 += 1) {
                #pragma unroll 1
                for (long i2 = 0; i2 < 40; i2 += 2) {
                    const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (40 * i1 + i2)));
                    acc0 += t1;
                    const float16 t2 = (TARN_LOAD(__local, float, v1 + 16 * (40 * i1 + i2 + 1)));
                    acc0 += t2;
                }
            }
            sum0_0 += acc0;
        }
        acc0 = sum0_0;
    }
    TARN_STORE(__global, float, acc0, v0 + 16 * b);
}
#endif
#ifndef TARN_nest_d173dc04963adca5
#define TARN_nest_d173dc04963adca5
TARN_APART void nest_d173dc04963adca5(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 1600; e += 16) {
        const long at = min(e, 1584L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 1600 * (16 * b + 15));
        TARN_TURN_16(float, row)
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
#ifndef TARN_nest_469b3f6835c20386
#define TARN_nest_469b3f6835c20386
TARN_APART void nest_469b3f6835c20386(long group, long b, long first, __global float *v0, __local float *v1)
{
    float16 acc0 = (float16)(0.0f);
    {
        float16 sum0_0 = (float16)(0.0f);
        #pragma unroll 1
        for (long cut0 = 0; cut0 < 40; cut0 += 3) {
            const long end0 = min(cut0 + 3, (long)40);
            acc0 = (float16)(0.0f);
            #pragma unroll 1
            for (long i1 = cut0; i1 < end0; i1 += 1) {
                #pragma unroll 1
                for (long i2 = 0; i2 < 40; i2 += 4) {
                    const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (40 * i1 + i2)));
                    acc0 += t1;
                    const float16 t2 = (TARN_LOAD(__local, float, v1 + 16 * (40 * i1 + i2 + 1)));
                    acc0 += t2;
                    const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (40 * i1 + i2 + 2)));
                    acc0 += t3;
                    const float16 t4 = (TARN_LOAD(__local, float, v1 + 16 * (40 * i1 + i2 + 3)));
                    acc0 += t4;
                }
            }
            sum0_0 += acc0;
        }
        acc0 = sum0_0;
    }
    {
        float sum = tarn_sum_float(acc0);
        __global float *row = v0 + 1 * group + 0;
        if (b > first)
            sum += *row;
        *row = sum;
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_36b5e41761198160(const int skip, __global uchar *input0, __global uchar *output0, __global uchar *output1, __global uchar *owned0, __global const ulong *offset, __global uchar *input1, __global uchar *arena)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[1600];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [32,5,40] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,5,40] */
    __global float *v2 = (__global float *)(output0); /* [32,1,1] */
    __global float *v3 = (__global float *)(output1); /* [1,1,1] */
    __global float *v4 = (__global float *)(owned0 + offset[0]); /* [66,129,17] */
    __local float *v5 = (__local float *)((__local uchar *)scratch + 0); /* [32,40,40] blocked */
    __global float *v6 = (__global float *)(input1); /* [32,40,40] */
    __global float *v7 = (__global float *)(arena + offset[1]); /* [2,1] */
    /* input */
    if (section_group >= 0 && section_group < 2) {
        const long group = section_group - 0;
        if (group == 0) {
            /* sum [66 129 17] */
            nest_7ced1ad07d0a2ff4(v3, v4);
        }
        const long first = group * 2 / 2, last = (group + 1) * 2 / 2;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [32 5 40] */
            nest_e550cf53c9b47aa7(b, v0, v1);
            /* sum [32 | 5 40] */
            nest_674e263fe975becd(b, v2, v0);
            /* input [32 40 40] */
            nest_d173dc04963adca5(b, v5, v6);
            /* sum [32 40 40], one row a group */
            nest_469b3f6835c20386(group, b, first, v7, v5);
        }
    }
}


/* sum */
#ifndef TARN_nest_9560dce1d23b2c42
#define TARN_nest_9560dce1d23b2c42
TARN_APART void nest_9560dce1d23b2c42(__global float *v0, __global float *v1)
{
    float acc0 = (float)(0.0f);
    const float t1 = v1[0];
    const float t2 = v1[1];
    const float t3 = t1 + t2;
    acc0 += t3;
    v0[0] = acc0;
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_67fa333a02b6441e(const int skip, __global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [1,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1] */
    /* sum */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* sum [1] */
        nest_9560dce1d23b2c42(v0, v1);
    }
}


