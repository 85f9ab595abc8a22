/* k0: 3 groups of 1; skip 0, input 0, owned 0, at 0, owned 1, output 0, input 1, arena 0; at bytes 0, 0, 0, 7680 */
/* k1: 1 groups of 1; skip 0, owned 2, at 0, arena 0, owned 3; at bytes 0, 0, 0, 7680 */
/* arena: 8064 bytes */
/* input matmul relu input where matmul sum */
#ifndef TARN_nest_9c26b269ef72ba65
#define TARN_nest_9c26b269ef72ba65
TARN_APART void nest_9c26b269ef72ba65(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 20; e += 16) {
        const long at = min(e, 4L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 20 * (16 * b + 15));
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
#ifndef TARN_nest_738305294e789aa3
#define TARN_nest_738305294e789aa3
TARN_APART void nest_738305294e789aa3(__local float *v0, __local float *v1, __global float *v2, __global float *v3)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 32; i1 += 4) {
        float16 acc0 = (float16)(0.0f);
        float16 acc1 = (float16)(0.0f);
        float16 acc2 = (float16)(0.0f);
        float16 acc3 = (float16)(0.0f);
        #pragma unroll 1
        for (long i2 = 0; i2 < 20; i2 += 1) {
            const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i2)));
            const float16 t2 = (float16)(v2[20 * i1 + i2]);
            acc0 = fma(t1, t2, acc0);
            const float16 t3 = (float16)(v2[20 * i1 + i2 + 20]);
            acc1 = fma(t1, t3, acc1);
            const float16 t4 = (float16)(v2[20 * i1 + i2 + 40]);
            acc2 = fma(t1, t4, acc2);
            const float16 t5 = (float16)(v2[20 * i1 + i2 + 60]);
            acc3 = fma(t1, t5, acc3);
        }
        const float16 t6 = (float16)(v3[i1]);
        const float16 t7 = acc0 + t6;
        const float16 t8 = TARN_SELECT_16(TARN_BOOL_16(t7 < TARN_F_16(0.0f)), TARN_F_16(0.0f), t7);
        TARN_STORE(__local, float, t8, v0 + 16 * (i1));
        const float16 t9 = (float16)(v3[i1 + 1]);
        const float16 t10 = acc1 + t9;
        const float16 t11 = TARN_SELECT_16(TARN_BOOL_16(t10 < TARN_F_16(0.0f)), TARN_F_16(0.0f), t10);
        TARN_STORE(__local, float, t11, v0 + 16 * (i1 + 1));
        const float16 t12 = (float16)(v3[i1 + 2]);
        const float16 t13 = acc2 + t12;
        const float16 t14 = TARN_SELECT_16(TARN_BOOL_16(t13 < TARN_F_16(0.0f)), TARN_F_16(0.0f), t13);
        TARN_STORE(__local, float, t14, v0 + 16 * (i1 + 2));
        const float16 t15 = (float16)(v3[i1 + 3]);
        const float16 t16 = acc3 + t15;
        const float16 t17 = TARN_SELECT_16(TARN_BOOL_16(t16 < TARN_F_16(0.0f)), TARN_F_16(0.0f), t16);
        TARN_STORE(__local, float, t17, v0 + 16 * (i1 + 3));
    }
}
#endif
#ifndef TARN_nest_87c0b8ef6fff5f3f
#define TARN_nest_87c0b8ef6fff5f3f
TARN_APART void nest_87c0b8ef6fff5f3f(long b, __global float *v0, __local float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 32; e += 16) {
        const long at = min(e, 16L);
        float16 row[16];
        row[0] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 0));
        row[1] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 1));
        row[2] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 2));
        row[3] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 3));
        row[4] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 4));
        row[5] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 5));
        row[6] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 6));
        row[7] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 7));
        row[8] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 8));
        row[9] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 9));
        row[10] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 10));
        row[11] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 11));
        row[12] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 12));
        row[13] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 13));
        row[14] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 14));
        row[15] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 15));
        TARN_TURN_8(float, row)
        TARN_STORE(__global, float, row[0], v0 + 0 + at + 32 * (16 * b + 0));
        TARN_STORE(__global, float, row[1], v0 + 0 + at + 32 * (16 * b + 1));
        TARN_STORE(__global, float, row[2], v0 + 0 + at + 32 * (16 * b + 2));
        TARN_STORE(__global, float, row[3], v0 + 0 + at + 32 * (16 * b + 3));
        TARN_STORE(__global, float, row[4], v0 + 0 + at + 32 * (16 * b + 4));
        TARN_STORE(__global, float, row[5], v0 + 0 + at + 32 * (16 * b + 5));
        TARN_STORE(__global, float, row[6], v0 + 0 + at + 32 * (16 * b + 6));
        TARN_STORE(__global, float, row[7], v0 + 0 + at + 32 * (16 * b + 7));
        TARN_STORE(__global, float, row[8], v0 + 0 + at + 32 * (16 * b + 8));
        TARN_STORE(__global, float, row[9], v0 + 0 + at + 32 * (16 * b + 9));
        TARN_STORE(__global, float, row[10], v0 + 0 + at + 32 * (16 * b + 10));
        TARN_STORE(__global, float, row[11], v0 + 0 + at + 32 * (16 * b + 11));
        TARN_STORE(__global, float, row[12], v0 + 0 + at + 32 * (16 * b + 12));
        TARN_STORE(__global, float, row[13], v0 + 0 + at + 32 * (16 * b + 13));
        TARN_STORE(__global, float, row[14], v0 + 0 + at + 32 * (16 * b + 14));
        TARN_STORE(__global, float, row[15], v0 + 0 + at + 32 * (16 * b + 15));
    }
}
#endif
#ifndef TARN_nest_947f11511003d324
#define TARN_nest_947f11511003d324
TARN_APART void nest_947f11511003d324(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 32; e += 16) {
        const long at = min(e, 16L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 32 * (16 * b + 15));
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
#ifndef TARN_nest_75cd7a19bf1e521d
#define TARN_nest_75cd7a19bf1e521d
TARN_APART void nest_75cd7a19bf1e521d(__local float *v0, __local float *v1, __local float *v2)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 32; i1 += 1) {
        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i1)));
        const int16 t2 = TARN_BOOL_16(t1 > (float16)(0x0p+0f));
        const float16 t3 = (TARN_LOAD(__local, float, v2 + 16 * (i1)));
        const float16 t4 = TARN_SELECT_16(t2, t3, (float16)(0x0p+0f));
        TARN_STORE(__local, float, t4, v0 + 16 * (i1));
    }
}
#endif
#ifndef TARN_nest_90fcd0d5d8f78768
#define TARN_nest_90fcd0d5d8f78768
TARN_APART void nest_90fcd0d5d8f78768(long group, long b, long first, __global float *v0, __local float *v1, __global float *v2)
{
    #pragma unroll 1
    for (long i0 = 0; i0 < 32; i0 += 4) {
        long i1 = 0;
        #pragma unroll 1
        for (; i1 + 16 <= 20; i1 += 16) {
            float16 acc0 = (float16)(0.0f);
            float16 acc1 = (float16)(0.0f);
            float16 acc2 = (float16)(0.0f);
            float16 acc3 = (float16)(0.0f);
            #pragma unroll 1
            for (long i2 = 16 * b; i2 < 16 * b + 16; ++i2) {
                const float16 t1 = (float16)(v1[16 * (i0) + i2 - 16 * b]);
                const float16 t2 = (TARN_LOAD(__global, float, v2 + i1 + 20 * i2));
                acc0 = fma(t1, t2, acc0);
                const float16 t3 = (float16)(v1[16 * (i0 + 1) + i2 - 16 * b]);
                acc1 = fma(t3, t2, acc1);
                const float16 t4 = (float16)(v1[16 * (i0 + 2) + i2 - 16 * b]);
                acc2 = fma(t4, t2, acc2);
                const float16 t5 = (float16)(v1[16 * (i0 + 3) + i2 - 16 * b]);
                acc3 = fma(t5, t2, acc3);
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1;
                TARN_STORE(__global, float, b > first ? acc0 + TARN_LOAD(__global, float, row) : acc0, row);
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1 + 20;
                TARN_STORE(__global, float, b > first ? acc1 + TARN_LOAD(__global, float, row) : acc1, row);
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1 + 40;
                TARN_STORE(__global, float, b > first ? acc2 + TARN_LOAD(__global, float, row) : acc2, row);
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1 + 60;
                TARN_STORE(__global, float, b > first ? acc3 + TARN_LOAD(__global, float, row) : acc3, row);
            }
        }
        #pragma unroll 1
        for (; i1 < 20; ++i1) {
            float acc0 = (float)(0.0f);
            float acc1 = (float)(0.0f);
            float acc2 = (float)(0.0f);
            float acc3 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (long i2 = 16 * b; i2 < 16 * b + 16; ++i2) {
                const float t6 = (float)(v1[16 * (i0) + i2 - 16 * b]);
                const float t7 = v2[i1 + 20 * i2];
                acc0 = fma(t6, t7, acc0);
                const float t8 = (float)(v1[16 * (i0 + 1) + i2 - 16 * b]);
                acc1 = fma(t8, t7, acc1);
                const float t9 = (float)(v1[16 * (i0 + 2) + i2 - 16 * b]);
                acc2 = fma(t9, t7, acc2);
                const float t10 = (float)(v1[16 * (i0 + 3) + i2 - 16 * b]);
                acc3 = fma(t10, t7, acc3);
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1;
                *row = b > first ? acc0 + *row : acc0;
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1 + 20;
                *row = b > first ? acc1 + *row : acc1;
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1 + 40;
                *row = b > first ? acc2 + *row : acc2;
            }
            {
                __global float *row = v0 + 640 * group + 20 * i0 + i1 + 60;
                *row = b > first ? acc3 + *row : acc3;
            }
        }
    }
}
#endif
#ifndef TARN_nest_61cca47b797a4f7c
#define TARN_nest_61cca47b797a4f7c
TARN_APART void nest_61cca47b797a4f7c(long group, long b, long first, __global float *v0, __local float *v1)
{
    #pragma unroll 1
    for (long i0 = 0; i0 < 32; i0 += 2) {
        float16 acc0 = (float16)(0.0f);
        float16 acc1 = (float16)(0.0f);
        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i0)));
        acc0 += t1;
        const float16 t2 = (TARN_LOAD(__local, float, v1 + 16 * (i0 + 1)));
        acc1 += t2;
        {
            float sum = tarn_sum_float(acc0);
            __global float *row = v0 + 32 * group + i0;
            if (b > first)
                sum += *row;
            *row = sum;
        }
        {
            float sum = tarn_sum_float(acc1);
            __global float *row = v0 + 32 * group + i0 + 1;
            if (b > first)
                sum += *row;
            *row = sum;
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_b3af7e9bd66de14e(const int skip, __global uchar *input0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1, __global uchar *output0, __global uchar *input1, __global uchar *arena)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[96];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 2048); /* [48,20] blocked */
    __global float *v1 = (__global float *)(input0); /* [48,20] */
    __local float *v2 = (__local float *)((__local uchar *)scratch + 0); /* [48,32] blocked */
    __global float *v3 = (__global float *)(owned0 + offset[0]); /* [32,20] */
    __global float *v4 = (__global float *)(owned1 + offset[1]); /* [1,32] */
    __global float *v5 = (__global float *)(output0); /* [48,32] */
    __local float *v6 = (__local float *)((__local uchar *)scratch + 4096); /* [48,32] blocked */
    __global float *v7 = (__global float *)(input1); /* [48,32] */
    __local float *v8 = (__local float *)((__local uchar *)scratch + 2048); /* [48,32] blocked */
    __global float *v9 = (__global float *)(arena + offset[2]); /* [3,640] */
    __global float *v10 = (__global float *)(arena + offset[3]); /* [3,32] */
    /* input */
    if (section_group >= 0 && section_group < 3) {
        const long group = section_group - 0;
        const long first = group * 3 / 3, last = (group + 1) * 3 / 3;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [48 20] */
            nest_9c26b269ef72ba65(b, v0, v1);
            /* matmul [48 32 | 20] */
            nest_738305294e789aa3(v2, v0, v3, v4);
            /* relu [48 32] */
            nest_87c0b8ef6fff5f3f(b, v5, v2);
            /* input [48 32] */
            nest_947f11511003d324(b, v6, v7);
            /* where [48 32] */
            nest_75cd7a19bf1e521d(v8, v2, v6);
            /* matmul [32 20 | 48], one row a group */
            nest_90fcd0d5d8f78768(group, b, first, v9, v8, v1);
            /* sum [32 | 48], one row a group */
            nest_61cca47b797a4f7c(group, b, first, v10, v8);
        }
    }
}


/* matmul sum */
#ifndef TARN_nest_a862682f055e1e1e
#define TARN_nest_a862682f055e1e1e
TARN_APART void nest_a862682f055e1e1e(__global float *v0, __global float *v1)
{
    long i0 = 0;
    #pragma unroll 1
    for (; i0 + 16 <= 640; i0 += 16) {
        float16 acc0 = (float16)(0.0f);
        const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
        const float16 t2 = (TARN_LOAD(__global, float, v1 + i0 + 640));
        const float16 t3 = t1 + t2;
        const float16 t4 = (TARN_LOAD(__global, float, v1 + i0 + 1280));
        const float16 t5 = t3 + t4;
        acc0 += t5;
        TARN_STORE(__global, float, acc0, v0 + i0);
    }
}
#endif
#ifndef TARN_nest_f6815c52e84e4740
#define TARN_nest_f6815c52e84e4740
TARN_APART void nest_f6815c52e84e4740(__global float *v0, __global float *v1)
{
    long i0 = 0;
    #pragma unroll 1
    for (; i0 + 16 <= 32; i0 += 16) {
        float16 acc0 = (float16)(0.0f);
        const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
        const float16 t2 = (TARN_LOAD(__global, float, v1 + i0 + 32));
        const float16 t3 = t1 + t2;
        const float16 t4 = (TARN_LOAD(__global, float, v1 + i0 + 64));
        const float16 t5 = t3 + t4;
        acc0 += t5;
        TARN_STORE(__global, float, acc0, v0 + i0);
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_f1eed235f516171c(const int skip, __global uchar *owned0, __global const ulong *offset, __global uchar *arena, __global uchar *owned1)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(owned0 + offset[0]); /* [32,20] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [3,640] */
    __global float *v2 = (__global float *)(owned1 + offset[2]); /* [1,32] */
    __global float *v3 = (__global float *)(arena + offset[3]); /* [3,32] */
    /* matmul */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* matmul [640 | 1] */
        nest_a862682f055e1e1e(v0, v1);
        /* sum [32 | 1] */
        nest_f6815c52e84e4740(v2, v3);
    }
}


