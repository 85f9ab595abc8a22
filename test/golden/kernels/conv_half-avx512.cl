/* k0: 2 groups of 1; skip 0, input 0, arena 0, at 0, owned 0, output 0, output 1; at bytes 0, 0 */
/* arena: 1280 bytes */
/* input cast from_bf16 conv2d argmax cast argmax */
#ifndef TARN_nest_c5600db755c802d5
#define TARN_nest_c5600db755c802d5
TARN_APART void nest_c5600db755c802d5(__global float *v0, __global float *v1)
{
    long i0 = 0;
    #pragma unroll 1
    for (; i0 + 16 <= 150; i0 += 16) {
        const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
        const int16 t2 = TARN_TO_BF16_16(t1);
        const float16 t3 = TARN_FROM_BF16_16(t2);
        TARN_STORE(__global, float, t3, v0 + i0);
    }
    #pragma unroll 1
    for (; i0 < 150; ++i0) {
        const float t4 = v1[i0];
        const int t5 = TARN_TO_BF16_1(t4);
        const float t6 = TARN_FROM_BF16_1(t5);
        v0[i0] = t6;
    }
}
#endif
#ifndef TARN_nest_6dd783ab69cb493a
#define TARN_nest_6dd783ab69cb493a
TARN_APART void nest_6dd783ab69cb493a(long b, __local float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 81; e += 16) {
        const long at = min(e, 65L);
        float16 row[16];
        row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 0));
        row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 1));
        row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 2));
        row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 3));
        row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 4));
        row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 5));
        row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 6));
        row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 7));
        row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 8));
        row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 9));
        row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 10));
        row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 11));
        row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 12));
        row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 13));
        row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 14));
        row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 81 * (16 * b + 15));
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
#ifndef TARN_nest_8cf275f9abd40d34
#define TARN_nest_8cf275f9abd40d34
TARN_APART void nest_8cf275f9abd40d34(__local float *v0, __local float *v1)
{
    #pragma unroll 1
    for (long i2 = 0; i2 < 9; i2 += 1) {
        #pragma unroll 1
        for (long i3 = 0; i3 < 9; i3 += 1) {
            const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (9 * i2 + i3)));
            const int16 t2 = TARN_TO_BF16_16(t1);
            const float16 t3 = TARN_FROM_BF16_16(t2);
            TARN_STORE(__local, float, t3, v0 + 16 * (9 * i2 + i3));
        }
    }
}
#endif
#ifndef TARN_nest_a793c52d50d63a9c
#define TARN_nest_a793c52d50d63a9c
TARN_APART void nest_a793c52d50d63a9c(__local float *v0, __local float *v1, __global float *v2)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 6; i1 += 2) {
        #pragma unroll 1
        for (long i3 = 0; i3 < 5; i3 += 1) {
            float16 acc0 = (float16)(0.0f);
            float16 acc1 = (float16)(0.0f);
            float16 acc2 = (float16)(0.0f);
            float16 acc3 = (float16)(0.0f);
            float16 acc4 = (float16)(0.0f);
            float16 acc5 = (float16)(0.0f);
            float16 acc6 = (float16)(0.0f);
            float16 acc7 = (float16)(0.0f);
            float16 acc8 = (float16)(0.0f);
            float16 acc9 = (float16)(0.0f);
            #pragma unroll 1
            for (long i5 = 0; i5 < 5; i5 += 1) {
                #pragma unroll 1
                for (long i6 = 0; i6 < 5; i6 += 1) {
                    const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i3 + 9 * i5 + i6)));
                    const float16 t2 = (float16)(v2[25 * i1 + 5 * i5 + i6]);
                    acc0 = fma(t1, t2, acc0);
                    const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (i3 + 9 * i5 + i6 + 9)));
                    acc1 = fma(t3, t2, acc1);
                    const float16 t4 = (TARN_LOAD(__local, float, v1 + 16 * (i3 + 9 * i5 + i6 + 18)));
                    acc2 = fma(t4, t2, acc2);
                    const float16 t5 = (TARN_LOAD(__local, float, v1 + 16 * (i3 + 9 * i5 + i6 + 27)));
                    acc3 = fma(t5, t2, acc3);
                    const float16 t6 = (TARN_LOAD(__local, float, v1 + 16 * (i3 + 9 * i5 + i6 + 36)));
                    acc4 = fma(t6, t2, acc4);
                    const float16 t7 = (float16)(v2[25 * i1 + 5 * i5 + i6 + 25]);
                    acc5 = fma(t1, t7, acc5);
                    acc6 = fma(t3, t7, acc6);
                    acc7 = fma(t4, t7, acc7);
                    acc8 = fma(t5, t7, acc8);
                    acc9 = fma(t6, t7, acc9);
                }
            }
            const int16 t8 = TARN_TO_BF16_16(acc0);
            const float16 t9 = TARN_FROM_BF16_16(t8);
            TARN_STORE(__local, float, t9, v0 + 16 * (25 * i1 + i3));
            const int16 t10 = TARN_TO_BF16_16(acc1);
            const float16 t11 = TARN_FROM_BF16_16(t10);
            TARN_STORE(__local, float, t11, v0 + 16 * (25 * i1 + i3 + 5));
            const int16 t12 = TARN_TO_BF16_16(acc2);
            const float16 t13 = TARN_FROM_BF16_16(t12);
            TARN_STORE(__local, float, t13, v0 + 16 * (25 * i1 + i3 + 10));
            const int16 t14 = TARN_TO_BF16_16(acc3);
            const float16 t15 = TARN_FROM_BF16_16(t14);
            TARN_STORE(__local, float, t15, v0 + 16 * (25 * i1 + i3 + 15));
            const int16 t16 = TARN_TO_BF16_16(acc4);
            const float16 t17 = TARN_FROM_BF16_16(t16);
            TARN_STORE(__local, float, t17, v0 + 16 * (25 * i1 + i3 + 20));
            const int16 t18 = TARN_TO_BF16_16(acc5);
            const float16 t19 = TARN_FROM_BF16_16(t18);
            TARN_STORE(__local, float, t19, v0 + 16 * (25 * i1 + i3 + 25));
            const int16 t20 = TARN_TO_BF16_16(acc6);
            const float16 t21 = TARN_FROM_BF16_16(t20);
            TARN_STORE(__local, float, t21, v0 + 16 * (25 * i1 + i3 + 30));
            const int16 t22 = TARN_TO_BF16_16(acc7);
            const float16 t23 = TARN_FROM_BF16_16(t22);
            TARN_STORE(__local, float, t23, v0 + 16 * (25 * i1 + i3 + 35));
            const int16 t24 = TARN_TO_BF16_16(acc8);
            const float16 t25 = TARN_FROM_BF16_16(t24);
            TARN_STORE(__local, float, t25, v0 + 16 * (25 * i1 + i3 + 40));
            const int16 t26 = TARN_TO_BF16_16(acc9);
            const float16 t27 = TARN_FROM_BF16_16(t26);
            TARN_STORE(__local, float, t27, v0 + 16 * (25 * i1 + i3 + 45));
        }
    }
}
#endif
#ifndef TARN_nest_678120cd008cae30
#define TARN_nest_678120cd008cae30
TARN_APART void nest_678120cd008cae30(__local int *v0, __local ushort *v1, __local float *v2)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 6; i1 += 1) {
        float16 best0 = (float16)(-INFINITY);
        int16 acc0 = (int16)(0);
        float16 best1 = (float16)(-INFINITY);
        int16 acc1 = (int16)(0);
        float16 best2 = (float16)(-INFINITY);
        int16 acc2 = (int16)(0);
        float16 best3 = (float16)(-INFINITY);
        int16 acc3 = (int16)(0);
        float16 best4 = (float16)(-INFINITY);
        int16 acc4 = (int16)(0);
        #pragma unroll 1
        for (long i3 = 0; i3 < 5; i3 += 1) {
            const float16 t1 = (TARN_LOAD(__local, float, v2 + 16 * (25 * i1 + i3)));
            {
                const int16 better = TARN_BETTER_16(t1, best0);
                acc0 = TARN_SELECT_16(better, (int16)((int)(i3)), acc0);
                best0 = TARN_SELECT_16(better, t1, best0);
            }
            const float16 t2 = (TARN_LOAD(__local, float, v2 + 16 * (25 * i1 + i3 + 5)));
            {
                const int16 better = TARN_BETTER_16(t2, best1);
                acc1 = TARN_SELECT_16(better, (int16)((int)(i3)), acc1);
                best1 = TARN_SELECT_16(better, t2, best1);
            }
            const float16 t3 = (TARN_LOAD(__local, float, v2 + 16 * (25 * i1 + i3 + 10)));
            {
                const int16 better = TARN_BETTER_16(t3, best2);
                acc2 = TARN_SELECT_16(better, (int16)((int)(i3)), acc2);
                best2 = TARN_SELECT_16(better, t3, best2);
            }
            const float16 t4 = (TARN_LOAD(__local, float, v2 + 16 * (25 * i1 + i3 + 15)));
            {
                const int16 better = TARN_BETTER_16(t4, best3);
                acc3 = TARN_SELECT_16(better, (int16)((int)(i3)), acc3);
                best3 = TARN_SELECT_16(better, t4, best3);
            }
            const float16 t5 = (TARN_LOAD(__local, float, v2 + 16 * (25 * i1 + i3 + 20)));
            {
                const int16 better = TARN_BETTER_16(t5, best4);
                acc4 = TARN_SELECT_16(better, (int16)((int)(i3)), acc4);
                best4 = TARN_SELECT_16(better, t5, best4);
            }
        }
        const int16 t6 = TARN_TO_BF16_16(best0);
        TARN_STORE(__local, int, acc0, v0 + 16 * (5 * i1));
        TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t6), v1 + 16 * (5 * i1));
        const int16 t7 = TARN_TO_BF16_16(best1);
        TARN_STORE(__local, int, acc1, v0 + 16 * (5 * i1 + 1));
        TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t7), v1 + 16 * (5 * i1 + 1));
        const int16 t8 = TARN_TO_BF16_16(best2);
        TARN_STORE(__local, int, acc2, v0 + 16 * (5 * i1 + 2));
        TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t8), v1 + 16 * (5 * i1 + 2));
        const int16 t9 = TARN_TO_BF16_16(best3);
        TARN_STORE(__local, int, acc3, v0 + 16 * (5 * i1 + 3));
        TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t9), v1 + 16 * (5 * i1 + 3));
        const int16 t10 = TARN_TO_BF16_16(best4);
        TARN_STORE(__local, int, acc4, v0 + 16 * (5 * i1 + 4));
        TARN_STORE(__local, ushort, TARN_CONVERT(ushort16, t10), v1 + 16 * (5 * i1 + 4));
    }
}
#endif
#ifndef TARN_nest_33e805008f7c4cc5
#define TARN_nest_33e805008f7c4cc5
TARN_APART void nest_33e805008f7c4cc5(long b, __global ushort *v0, __local ushort *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 30; e += 16) {
        const long at = min(e, 14L);
        ushort16 row[16];
        row[0] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 0));
        row[1] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 1));
        row[2] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 2));
        row[3] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 3));
        row[4] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 4));
        row[5] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 5));
        row[6] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 6));
        row[7] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 7));
        row[8] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 8));
        row[9] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 9));
        row[10] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 10));
        row[11] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 11));
        row[12] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 12));
        row[13] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 13));
        row[14] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 14));
        row[15] = TARN_LOAD(__local, ushort, v1 + 16 * (0 + at + 15));
        TARN_TURN_16(ushort, row)
        TARN_STORE(__global, ushort, row[0], v0 + 0 + at + 30 * (16 * b + 0));
        TARN_STORE(__global, ushort, row[1], v0 + 0 + at + 30 * (16 * b + 1));
        TARN_STORE(__global, ushort, row[2], v0 + 0 + at + 30 * (16 * b + 2));
        TARN_STORE(__global, ushort, row[3], v0 + 0 + at + 30 * (16 * b + 3));
        TARN_STORE(__global, ushort, row[4], v0 + 0 + at + 30 * (16 * b + 4));
        TARN_STORE(__global, ushort, row[5], v0 + 0 + at + 30 * (16 * b + 5));
        TARN_STORE(__global, ushort, row[6], v0 + 0 + at + 30 * (16 * b + 6));
        TARN_STORE(__global, ushort, row[7], v0 + 0 + at + 30 * (16 * b + 7));
        TARN_STORE(__global, ushort, row[8], v0 + 0 + at + 30 * (16 * b + 8));
        TARN_STORE(__global, ushort, row[9], v0 + 0 + at + 30 * (16 * b + 9));
        TARN_STORE(__global, ushort, row[10], v0 + 0 + at + 30 * (16 * b + 10));
        TARN_STORE(__global, ushort, row[11], v0 + 0 + at + 30 * (16 * b + 11));
        TARN_STORE(__global, ushort, row[12], v0 + 0 + at + 30 * (16 * b + 12));
        TARN_STORE(__global, ushort, row[13], v0 + 0 + at + 30 * (16 * b + 13));
        TARN_STORE(__global, ushort, row[14], v0 + 0 + at + 30 * (16 * b + 14));
        TARN_STORE(__global, ushort, row[15], v0 + 0 + at + 30 * (16 * b + 15));
    }
}
#endif
#ifndef TARN_nest_9bc59fde232f5427
#define TARN_nest_9bc59fde232f5427
TARN_APART void nest_9bc59fde232f5427(long b, __global int *v0, __local int *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 30; e += 16) {
        const long at = min(e, 14L);
        int16 row[16];
        row[0] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 0));
        row[1] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 1));
        row[2] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 2));
        row[3] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 3));
        row[4] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 4));
        row[5] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 5));
        row[6] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 6));
        row[7] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 7));
        row[8] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 8));
        row[9] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 9));
        row[10] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 10));
        row[11] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 11));
        row[12] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 12));
        row[13] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 13));
        row[14] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 14));
        row[15] = TARN_LOAD(__local, int, v1 + 16 * (0 + at + 15));
        TARN_TURN_16(int, row)
        TARN_STORE(__global, int, row[0], v0 + 0 + at + 30 * (16 * b + 0));
        TARN_STORE(__global, int, row[1], v0 + 0 + at + 30 * (16 * b + 1));
        TARN_STORE(__global, int, row[2], v0 + 0 + at + 30 * (16 * b + 2));
        TARN_STORE(__global, int, row[3], v0 + 0 + at + 30 * (16 * b + 3));
        TARN_STORE(__global, int, row[4], v0 + 0 + at + 30 * (16 * b + 4));
        TARN_STORE(__global, int, row[5], v0 + 0 + at + 30 * (16 * b + 5));
        TARN_STORE(__global, int, row[6], v0 + 0 + at + 30 * (16 * b + 6));
        TARN_STORE(__global, int, row[7], v0 + 0 + at + 30 * (16 * b + 7));
        TARN_STORE(__global, int, row[8], v0 + 0 + at + 30 * (16 * b + 8));
        TARN_STORE(__global, int, row[9], v0 + 0 + at + 30 * (16 * b + 9));
        TARN_STORE(__global, int, row[10], v0 + 0 + at + 30 * (16 * b + 10));
        TARN_STORE(__global, int, row[11], v0 + 0 + at + 30 * (16 * b + 11));
        TARN_STORE(__global, int, row[12], v0 + 0 + at + 30 * (16 * b + 12));
        TARN_STORE(__global, int, row[13], v0 + 0 + at + 30 * (16 * b + 13));
        TARN_STORE(__global, int, row[14], v0 + 0 + at + 30 * (16 * b + 14));
        TARN_STORE(__global, int, row[15], v0 + 0 + at + 30 * (16 * b + 15));
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_c9580fc9ebc0ba9b(const int skip, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *output0, __global uchar *output1)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[246];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [32,1,9,9] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,1,9,9] */
    __local float *v2 = (__local float *)((__local uchar *)scratch + 10560); /* [32,1,9,9] blocked */
    __global float *v3 = (__global float *)(arena + offset[0]); /* [6,1,5,5] */
    __global float *v4 = (__global float *)(owned0 + offset[1]); /* [6,1,5,5] */
    __local float *v5 = (__local float *)((__local uchar *)scratch + 960); /* [32,6,5,5] blocked */
    __local int *v6 = (__local int *)((__local uchar *)scratch + 10560); /* [32,6,5,1] blocked */
    __local ushort *v7 = (__local ushort *)((__local uchar *)scratch + 0); /* [32,6,5,1] blocked */
    __global ushort *v8 = (__global ushort *)(output0); /* [32,6,5,1] */
    __global int *v9 = (__global int *)(output1); /* [32,6,5,1] */
    /* input */
    if (section_group >= 0 && section_group < 2) {
        const long group = section_group - 0;
        v3 += 160 * group;
        /* from_bf16 [150] */
        nest_c5600db755c802d5(v3, v4);
        const long first = group * 2 / 2, last = (group + 1) * 2 / 2;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [32 1 9 9] */
            nest_6dd783ab69cb493a(b, v0, v1);
            /* cast [32 1 9 9] */
            nest_8cf275f9abd40d34(v2, v0);
            /* conv2d [32 6 5 5 | 1 5 5] */
            nest_a793c52d50d63a9c(v5, v2, v3);
            /* argmax [32 6 5 | 5] */
            nest_678120cd008cae30(v6, v7, v5);
            /* cast [32 6 5 1] */
            nest_33e805008f7c4cc5(b, v8, v7);
            /* argmax [32 6 5 1] */
            nest_9bc59fde232f5427(b, v9, v6);
        }
    }
}


