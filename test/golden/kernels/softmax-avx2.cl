/* k0: 2 groups of 1; skip 0, input 0, output 0 */
/* arena: 0 bytes */
/* max exp sum div */
#ifndef TARN_nest_4d23273d340d7608
#define TARN_nest_4d23273d340d7608
TARN_APART void nest_4d23273d340d7608(long b, __local float *v0, __global float *v1)
{
    float16 acc0 = (float16)(-INFINITY);
    #pragma unroll 1
    for (long i1 = 0; i1 < 10; i1 += 1) {
        const long t1 = 160 * b + i1;
        const float16 t2 = (float16)(v1[t1 + 0], v1[t1 + 10], v1[t1 + 20], v1[t1 + 30], v1[t1 + 40], v1[t1 + 50], v1[t1 + 60], v1[t1 + 70], v1[t1 + 80], v1[t1 + 90], v1[t1 + 100], v1[t1 + 110], v1[t1 + 120], v1[t1 + 130], v1[t1 + 140], v1[t1 + 150]);
        acc0 = TARN_MAX_16(t2, acc0);
    }
    TARN_STORE(__local, float, acc0, v0 + 16 * (0));
}
#endif
#ifndef TARN_nest_ee17181ed611fe0b
#define TARN_nest_ee17181ed611fe0b
TARN_APART void nest_ee17181ed611fe0b(long b, __local float *v0, __global float *v1, __local float *v2)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 10; i1 += 1) {
        const long t1 = 160 * b + i1;
        const float16 t2 = (float16)(v1[t1 + 0], v1[t1 + 10], v1[t1 + 20], v1[t1 + 30], v1[t1 + 40], v1[t1 + 50], v1[t1 + 60], v1[t1 + 70], v1[t1 + 80], v1[t1 + 90], v1[t1 + 100], v1[t1 + 110], v1[t1 + 120], v1[t1 + 130], v1[t1 + 140], v1[t1 + 150]);
        const float16 t3 = (TARN_LOAD(__local, float, v2 + 16 * (0)));
        const float16 t4 = t2 - t3;
        const float16 t5 = TARN_EXP_16(t4);
        TARN_STORE(__local, float, t5, v0 + 16 * (i1));
    }
}
#endif
#ifndef TARN_nest_d4594bde70cf94cd
#define TARN_nest_d4594bde70cf94cd
TARN_APART void nest_d4594bde70cf94cd(__local float *v0, __local float *v1)
{
    float16 acc0 = (float16)(0.0f);
    #pragma unroll 1
    for (long i1 = 0; i1 < 10; i1 += 1) {
        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i1)));
        acc0 += t1;
    }
    TARN_STORE(__local, float, acc0, v0 + 16 * (0));
}
#endif
#ifndef TARN_nest_b69577a88c827e2e
#define TARN_nest_b69577a88c827e2e
TARN_APART void nest_b69577a88c827e2e(long b, __global float *v0, __local float *v1, __local float *v2)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 10; i1 += 1) {
        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i1)));
        const float16 t2 = (TARN_LOAD(__local, float, v2 + 16 * (0)));
        const float16 t3 = t1 / t2;
        {
            const float16 lanes = t3;
            v0[160 * b + i1 + 0] = lanes.s0;
            v0[160 * b + i1 + 10] = lanes.s1;
            v0[160 * b + i1 + 20] = lanes.s2;
            v0[160 * b + i1 + 30] = lanes.s3;
            v0[160 * b + i1 + 40] = lanes.s4;
            v0[160 * b + i1 + 50] = lanes.s5;
            v0[160 * b + i1 + 60] = lanes.s6;
            v0[160 * b + i1 + 70] = lanes.s7;
            v0[160 * b + i1 + 80] = lanes.s8;
            v0[160 * b + i1 + 90] = lanes.s9;
            v0[160 * b + i1 + 100] = lanes.sa;
            v0[160 * b + i1 + 110] = lanes.sb;
            v0[160 * b + i1 + 120] = lanes.sc;
            v0[160 * b + i1 + 130] = lanes.sd;
            v0[160 * b + i1 + 140] = lanes.se;
            v0[160 * b + i1 + 150] = lanes.sf;
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_6e208216e8187e9d(const int skip, __global uchar *input0, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[11];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 640); /* [32,1] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,10] */
    __local float *v2 = (__local float *)((__local uchar *)scratch + 0); /* [32,10] blocked */
    __local float *v3 = (__local float *)((__local uchar *)scratch + 640); /* [32,1] blocked */
    __global float *v4 = (__global float *)(output0); /* [32,10] */
    /* max */
    if (section_group >= 0 && section_group < 2) {
        const long group = section_group - 0;
        const long first = group * 2 / 2, last = (group + 1) * 2 / 2;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* max [32 | 10] */
            nest_4d23273d340d7608(b, v0, v1);
            /* exp [32 10] */
            nest_ee17181ed611fe0b(b, v2, v1, v0);
            /* sum [32 | 10] */
            nest_d4594bde70cf94cd(v3, v2);
            /* div [32 10] */
            nest_b69577a88c827e2e(b, v4, v2, v3);
        }
    }
}


