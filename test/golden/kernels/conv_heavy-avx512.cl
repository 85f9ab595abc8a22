/* k0: 2 groups of 1; skip 0, input 0, arena 0, at 0, owned 0; at bytes 0, 0 */
/* k1: 2 groups of 1; skip 0, arena 0, at 0, owned 1, output 0; at bytes 0, 0 */
/* arena: 9469952 bytes */
/* input conv2d */
#ifndef TARN_nest_c4e249a9263e2f18
#define TARN_nest_c4e249a9263e2f18
TARN_APART void nest_c4e249a9263e2f18(long part, long b, __local float *v0, __global float *v1)
{
    const long low = max(part * 2 / 2 * 17 + 0, 0L);
    const long high = min(((part + 1) * 2 / 2 * 17 - 1) * 1 + 3, 36L);
    #pragma unroll 1
    for (long i1 = 0; i1 < 7; i1 += 1) {
        #pragma unroll 1
        for (long e = low * 36; e < high * 36; e += 16) {
            const long at = min(e, high * 36 - 16);
            float16 row[16];
            row[0] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 0));
            row[1] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 1));
            row[2] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 2));
            row[3] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 3));
            row[4] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 4));
            row[5] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 5));
            row[6] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 6));
            row[7] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 7));
            row[8] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 8));
            row[9] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 9));
            row[10] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 10));
            row[11] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 11));
            row[12] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 12));
            row[13] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 13));
            row[14] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 14));
            row[15] = TARN_LOAD(__global, float, v1 + 1296 * i1 + at + 9072 * (16 * b + 15));
            TARN_TURN_16(float, row)
            TARN_STORE(__local, float, row[0], v0 + 16 * (1296 * i1 + at + 0));
            TARN_STORE(__local, float, row[1], v0 + 16 * (1296 * i1 + at + 1));
            TARN_STORE(__local, float, row[2], v0 + 16 * (1296 * i1 + at + 2));
            TARN_STORE(__local, float, row[3], v0 + 16 * (1296 * i1 + at + 3));
            TARN_STORE(__local, float, row[4], v0 + 16 * (1296 * i1 + at + 4));
            TARN_STORE(__local, float, row[5], v0 + 16 * (1296 * i1 + at + 5));
            TARN_STORE(__local, float, row[6], v0 + 16 * (1296 * i1 + at + 6));
            TARN_STORE(__local, float, row[7], v0 + 16 * (1296 * i1 + at + 7));
            TARN_STORE(__local, float, row[8], v0 + 16 * (1296 * i1 + at + 8));
            TARN_STORE(__local, float, row[9], v0 + 16 * (1296 * i1 + at + 9));
            TARN_STORE(__local, float, row[10], v0 + 16 * (1296 * i1 + at + 10));
            TARN_STORE(__local, float, row[11], v0 + 16 * (1296 * i1 + at + 11));
            TARN_STORE(__local, float, row[12], v0 + 16 * (1296 * i1 + at + 12));
            TARN_STORE(__local, float, row[13], v0 + 16 * (1296 * i1 + at + 13));
            TARN_STORE(__local, float, row[14], v0 + 16 * (1296 * i1 + at + 14));
            TARN_STORE(__local, float, row[15], v0 + 16 * (1296 * i1 + at + 15));
        }
    }
}
#endif
#ifndef TARN_nest_1007cdb8d4341779
#define TARN_nest_1007cdb8d4341779
TARN_APART void nest_1007cdb8d4341779(long part, long b, __global float *v0, __local float *v1, __global float *v2)
{
    const long low = part * 2 / 2 * 17;
    const long high = (part + 1) * 2 / 2 * 17;
    #pragma unroll 1
    for (long i2 = low; i2 < high; i2 += 1) {
        #pragma unroll 1
        for (long i3 = 0; i3 < 34; i3 += 2) {
            #pragma unroll 1
            for (long i1 = 0; i1 < 128; i1 += 8) {
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
                float16 acc10 = (float16)(0.0f);
                float16 acc11 = (float16)(0.0f);
                float16 acc12 = (float16)(0.0f);
                float16 acc13 = (float16)(0.0f);
                float16 acc14 = (float16)(0.0f);
                float16 acc15 = (float16)(0.0f);
                #pragma unroll 1
                for (long i4 = 0; i4 < 7; i4 += 1) {
                    #pragma unroll 1
                    for (long i5 = 0; i5 < 3; i5 += 1) {
                        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5)));
                        const float16 t2 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5]);
                        acc0 = fma(t1, t2, acc0);
                        const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 1)));
                        acc1 = fma(t3, t2, acc1);
                        const float16 t4 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 63]);
                        acc2 = fma(t1, t4, acc2);
                        acc3 = fma(t3, t4, acc3);
                        const float16 t5 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 126]);
                        acc4 = fma(t1, t5, acc4);
                        acc5 = fma(t3, t5, acc5);
                        const float16 t6 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 189]);
                        acc6 = fma(t1, t6, acc6);
                        acc7 = fma(t3, t6, acc7);
                        const float16 t7 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 252]);
                        acc8 = fma(t1, t7, acc8);
                        acc9 = fma(t3, t7, acc9);
                        const float16 t8 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 315]);
                        acc10 = fma(t1, t8, acc10);
                        acc11 = fma(t3, t8, acc11);
                        const float16 t9 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 378]);
                        acc12 = fma(t1, t9, acc12);
                        acc13 = fma(t3, t9, acc13);
                        const float16 t10 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 441]);
                        acc14 = fma(t1, t10, acc14);
                        acc15 = fma(t3, t10, acc15);
                        const float16 t11 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 1]);
                        acc0 = fma(t3, t11, acc0);
                        const float16 t12 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 2)));
                        acc1 = fma(t12, t11, acc1);
                        const float16 t13 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 64]);
                        acc2 = fma(t3, t13, acc2);
                        acc3 = fma(t12, t13, acc3);
                        const float16 t14 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 127]);
                        acc4 = fma(t3, t14, acc4);
                        acc5 = fma(t12, t14, acc5);
                        const float16 t15 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 190]);
                        acc6 = fma(t3, t15, acc6);
                        acc7 = fma(t12, t15, acc7);
                        const float16 t16 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 253]);
                        acc8 = fma(t3, t16, acc8);
                        acc9 = fma(t12, t16, acc9);
                        const float16 t17 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 316]);
                        acc10 = fma(t3, t17, acc10);
                        acc11 = fma(t12, t17, acc11);
                        const float16 t18 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 379]);
                        acc12 = fma(t3, t18, acc12);
                        acc13 = fma(t12, t18, acc13);
                        const float16 t19 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 442]);
                        acc14 = fma(t3, t19, acc14);
                        acc15 = fma(t12, t19, acc15);
                        const float16 t20 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 2]);
                        acc0 = fma(t12, t20, acc0);
                        const float16 t21 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i2 + i3 + 1296 * i4 + 36 * i5 + 3)));
                        acc1 = fma(t21, t20, acc1);
                        const float16 t22 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 65]);
                        acc2 = fma(t12, t22, acc2);
                        acc3 = fma(t21, t22, acc3);
                        const float16 t23 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 128]);
                        acc4 = fma(t12, t23, acc4);
                        acc5 = fma(t21, t23, acc5);
                        const float16 t24 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 191]);
                        acc6 = fma(t12, t24, acc6);
                        acc7 = fma(t21, t24, acc7);
                        const float16 t25 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 254]);
                        acc8 = fma(t12, t25, acc8);
                        acc9 = fma(t21, t25, acc9);
                        const float16 t26 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 317]);
                        acc10 = fma(t12, t26, acc10);
                        acc11 = fma(t21, t26, acc11);
                        const float16 t27 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 380]);
                        acc12 = fma(t12, t27, acc12);
                        acc13 = fma(t21, t27, acc13);
                        const float16 t28 = (float16)(v2[63 * i1 + 9 * i4 + 3 * i5 + 443]);
                        acc14 = fma(t12, t28, acc14);
                        acc15 = fma(t21, t28, acc15);
                    }
                }
                const float16 t29 = TARN_SELECT_16(TARN_BOOL_16(acc0 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc0);
                TARN_STORE(__global, float, t29, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3));
                const float16 t30 = TARN_SELECT_16(TARN_BOOL_16(acc1 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc1);
                TARN_STORE(__global, float, t30, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 1));
                const float16 t31 = TARN_SELECT_16(TARN_BOOL_16(acc2 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc2);
                TARN_STORE(__global, float, t31, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 1156));
                const float16 t32 = TARN_SELECT_16(TARN_BOOL_16(acc3 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc3);
                TARN_STORE(__global, float, t32, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 1157));
                const float16 t33 = TARN_SELECT_16(TARN_BOOL_16(acc4 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc4);
                TARN_STORE(__global, float, t33, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 2312));
                const float16 t34 = TARN_SELECT_16(TARN_BOOL_16(acc5 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc5);
                TARN_STORE(__global, float, t34, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 2313));
                const float16 t35 = TARN_SELECT_16(TARN_BOOL_16(acc6 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc6);
                TARN_STORE(__global, float, t35, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 3468));
                const float16 t36 = TARN_SELECT_16(TARN_BOOL_16(acc7 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc7);
                TARN_STORE(__global, float, t36, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 3469));
                const float16 t37 = TARN_SELECT_16(TARN_BOOL_16(acc8 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc8);
                TARN_STORE(__global, float, t37, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 4624));
                const float16 t38 = TARN_SELECT_16(TARN_BOOL_16(acc9 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc9);
                TARN_STORE(__global, float, t38, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 4625));
                const float16 t39 = TARN_SELECT_16(TARN_BOOL_16(acc10 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc10);
                TARN_STORE(__global, float, t39, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 5780));
                const float16 t40 = TARN_SELECT_16(TARN_BOOL_16(acc11 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc11);
                TARN_STORE(__global, float, t40, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 5781));
                const float16 t41 = TARN_SELECT_16(TARN_BOOL_16(acc12 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc12);
                TARN_STORE(__global, float, t41, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 6936));
                const float16 t42 = TARN_SELECT_16(TARN_BOOL_16(acc13 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc13);
                TARN_STORE(__global, float, t42, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 6937));
                const float16 t43 = TARN_SELECT_16(TARN_BOOL_16(acc14 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc14);
                TARN_STORE(__global, float, t43, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 8092));
                const float16 t44 = TARN_SELECT_16(TARN_BOOL_16(acc15 < TARN_F_16(0.0f)), TARN_F_16(0.0f), acc15);
                TARN_STORE(__global, float, t44, v0 + 16 * (147968 * b + 1156 * i1 + 34 * i2 + i3 + 8093));
            }
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_3442672a208533c8(const int skip, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[9072];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [16,7,36,36] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,7,36,36] */
    __global float *v2 = (__global float *)(arena + offset[0]); /* [16,128,34,34] blocked */
    __global float *v3 = (__global float *)(owned0 + offset[1]); /* [128,7,3,3] */
    /* input */
    if (section_group >= 0 && section_group < 2) {
        const long share = section_group - 0;
        const long group = share / 2, part = share % 2;
        const long first = group * 1 / 1, last = (group + 1) * 1 / 1;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [16 7 36 36] */
            nest_c4e249a9263e2f18(part, b, v0, v1);
            /* conv2d [16 128 34 34 | 7 3 3] */
            nest_1007cdb8d4341779(part, b, v2, v0, v3);
        }
    }
}


/* conv2d conv2d */
#ifndef TARN_nest_723273ac901d1238
#define TARN_nest_723273ac901d1238
TARN_APART void nest_723273ac901d1238(long part, long b, __local float *v0, __global float *v1, __global float *v2)
{
    const long low = part * 2 / 2 * 17;
    const long high = (part + 1) * 2 / 2 * 17;
    #pragma unroll 1
    for (long i3 = 0; i3 < 34; i3 += 2) {
        #pragma unroll 1
        for (long i2 = low; i2 < high; i2 += 1) {
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
            float16 acc10 = (float16)(0.0f);
            float16 acc11 = (float16)(0.0f);
            float16 acc12 = (float16)(0.0f);
            float16 acc13 = (float16)(0.0f);
            {
                float16 sum0_0 = (float16)(0.0f);
                float16 sum0_1 = (float16)(0.0f);
                float16 sum0_2 = (float16)(0.0f);
                float16 sum0_3 = (float16)(0.0f);
                float16 sum0_4 = (float16)(0.0f);
                float16 sum0_5 = (float16)(0.0f);
                float16 sum0_6 = (float16)(0.0f);
                float16 sum0_7 = (float16)(0.0f);
                float16 sum0_8 = (float16)(0.0f);
                float16 sum0_9 = (float16)(0.0f);
                float16 sum0_10 = (float16)(0.0f);
                float16 sum0_11 = (float16)(0.0f);
                float16 sum0_12 = (float16)(0.0f);
                float16 sum0_13 = (float16)(0.0f);
                #pragma unroll 1
                for (long cut0 = 0; cut0 < 128; cut0 += 14) {
                    const long end0 = min(cut0 + 14, (long)128);
                    acc0 = (float16)(0.0f);
                    acc1 = (float16)(0.0f);
                    acc2 = (float16)(0.0f);
                    acc3 = (float16)(0.0f);
                    acc4 = (float16)(0.0f);
                    acc5 = (float16)(0.0f);
                    acc6 = (float16)(0.0f);
                    acc7 = (float16)(0.0f);
                    acc8 = (float16)(0.0f);
                    acc9 = (float16)(0.0f);
                    acc10 = (float16)(0.0f);
                    acc11 = (float16)(0.0f);
                    acc12 = (float16)(0.0f);
                    acc13 = (float16)(0.0f);
                    #pragma unroll 1
                    for (long i4 = cut0; i4 < end0; i4 += 1) {
                        #pragma unroll 1
                        for (long i5 = max((long)0, -(long)(i2 - 1)); i5 < min((long)3, 34 - (long)(i2 - 1)); ++i5) {
                            if (((i3 + 2 <= 33)) && ((i3 - 1 >= 0))) {
                                const float16 t1 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 35)));
                                const float16 t2 = (float16)(v2[9 * i4 + 3 * i5]);
                                acc0 = fma(t1, t2, acc0);
                                const float16 t3 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 34)));
                                acc1 = fma(t3, t2, acc1);
                                const float16 t4 = (float16)(v2[9 * i4 + 3 * i5 + 1152]);
                                acc2 = fma(t1, t4, acc2);
                                acc3 = fma(t3, t4, acc3);
                                const float16 t5 = (float16)(v2[9 * i4 + 3 * i5 + 2304]);
                                acc4 = fma(t1, t5, acc4);
                                acc5 = fma(t3, t5, acc5);
                                const float16 t6 = (float16)(v2[9 * i4 + 3 * i5 + 3456]);
                                acc6 = fma(t1, t6, acc6);
                                acc7 = fma(t3, t6, acc7);
                                const float16 t7 = (float16)(v2[9 * i4 + 3 * i5 + 4608]);
                                acc8 = fma(t1, t7, acc8);
                                acc9 = fma(t3, t7, acc9);
                                const float16 t8 = (float16)(v2[9 * i4 + 3 * i5 + 5760]);
                                acc10 = fma(t1, t8, acc10);
                                acc11 = fma(t3, t8, acc11);
                                const float16 t9 = (float16)(v2[9 * i4 + 3 * i5 + 6912]);
                                acc12 = fma(t1, t9, acc12);
                                acc13 = fma(t3, t9, acc13);
                                const float16 t10 = (float16)(v2[9 * i4 + 3 * i5 + 1]);
                                acc0 = fma(t3, t10, acc0);
                                const float16 t11 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 33)));
                                acc1 = fma(t11, t10, acc1);
                                const float16 t12 = (float16)(v2[9 * i4 + 3 * i5 + 1153]);
                                acc2 = fma(t3, t12, acc2);
                                acc3 = fma(t11, t12, acc3);
                                const float16 t13 = (float16)(v2[9 * i4 + 3 * i5 + 2305]);
                                acc4 = fma(t3, t13, acc4);
                                acc5 = fma(t11, t13, acc5);
                                const float16 t14 = (float16)(v2[9 * i4 + 3 * i5 + 3457]);
                                acc6 = fma(t3, t14, acc6);
                                acc7 = fma(t11, t14, acc7);
                                const float16 t15 = (float16)(v2[9 * i4 + 3 * i5 + 4609]);
                                acc8 = fma(t3, t15, acc8);
                                acc9 = fma(t11, t15, acc9);
                                const float16 t16 = (float16)(v2[9 * i4 + 3 * i5 + 5761]);
                                acc10 = fma(t3, t16, acc10);
                                acc11 = fma(t11, t16, acc11);
                                const float16 t17 = (float16)(v2[9 * i4 + 3 * i5 + 6913]);
                                acc12 = fma(t3, t17, acc12);
                                acc13 = fma(t11, t17, acc13);
                                const float16 t18 = (float16)(v2[9 * i4 + 3 * i5 + 2]);
                                acc0 = fma(t11, t18, acc0);
                                const float16 t19 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 32)));
                                acc1 = fma(t19, t18, acc1);
                                const float16 t20 = (float16)(v2[9 * i4 + 3 * i5 + 1154]);
                                acc2 = fma(t11, t20, acc2);
                                acc3 = fma(t19, t20, acc3);
                                const float16 t21 = (float16)(v2[9 * i4 + 3 * i5 + 2306]);
                                acc4 = fma(t11, t21, acc4);
                                acc5 = fma(t19, t21, acc5);
                                const float16 t22 = (float16)(v2[9 * i4 + 3 * i5 + 3458]);
                                acc6 = fma(t11, t22, acc6);
                                acc7 = fma(t19, t22, acc7);
                                const float16 t23 = (float16)(v2[9 * i4 + 3 * i5 + 4610]);
                                acc8 = fma(t11, t23, acc8);
                                acc9 = fma(t19, t23, acc9);
                                const float16 t24 = (float16)(v2[9 * i4 + 3 * i5 + 5762]);
                                acc10 = fma(t11, t24, acc10);
                                acc11 = fma(t19, t24, acc11);
                                const float16 t25 = (float16)(v2[9 * i4 + 3 * i5 + 6914]);
                                acc12 = fma(t11, t25, acc12);
                                acc13 = fma(t19, t25, acc13);
                            } else {
                                if (((i3 - 1 >= 0))) {
                                    const float16 t26 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 35)));
                                    const float16 t27 = (float16)(v2[9 * i4 + 3 * i5]);
                                    acc0 = fma(t26, t27, acc0);
                                    const float16 t28 = (float16)(v2[9 * i4 + 3 * i5 + 1152]);
                                    acc2 = fma(t26, t28, acc2);
                                    const float16 t29 = (float16)(v2[9 * i4 + 3 * i5 + 2304]);
                                    acc4 = fma(t26, t29, acc4);
                                    const float16 t30 = (float16)(v2[9 * i4 + 3 * i5 + 3456]);
                                    acc6 = fma(t26, t30, acc6);
                                    const float16 t31 = (float16)(v2[9 * i4 + 3 * i5 + 4608]);
                                    acc8 = fma(t26, t31, acc8);
                                    const float16 t32 = (float16)(v2[9 * i4 + 3 * i5 + 5760]);
                                    acc10 = fma(t26, t32, acc10);
                                    const float16 t33 = (float16)(v2[9 * i4 + 3 * i5 + 6912]);
                                    acc12 = fma(t26, t33, acc12);
                                }
                                const float16 t34 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 34)));
                                const float16 t35 = (float16)(v2[9 * i4 + 3 * i5]);
                                acc1 = fma(t34, t35, acc1);
                                const float16 t36 = (float16)(v2[9 * i4 + 3 * i5 + 1152]);
                                acc3 = fma(t34, t36, acc3);
                                const float16 t37 = (float16)(v2[9 * i4 + 3 * i5 + 2304]);
                                acc5 = fma(t34, t37, acc5);
                                const float16 t38 = (float16)(v2[9 * i4 + 3 * i5 + 3456]);
                                acc7 = fma(t34, t38, acc7);
                                const float16 t39 = (float16)(v2[9 * i4 + 3 * i5 + 4608]);
                                acc9 = fma(t34, t39, acc9);
                                const float16 t40 = (float16)(v2[9 * i4 + 3 * i5 + 5760]);
                                acc11 = fma(t34, t40, acc11);
                                const float16 t41 = (float16)(v2[9 * i4 + 3 * i5 + 6912]);
                                acc13 = fma(t34, t41, acc13);
                                const float16 t42 = (float16)(v2[9 * i4 + 3 * i5 + 1]);
                                acc0 = fma(t34, t42, acc0);
                                const float16 t43 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 33)));
                                acc1 = fma(t43, t42, acc1);
                                const float16 t44 = (float16)(v2[9 * i4 + 3 * i5 + 1153]);
                                acc2 = fma(t34, t44, acc2);
                                acc3 = fma(t43, t44, acc3);
                                const float16 t45 = (float16)(v2[9 * i4 + 3 * i5 + 2305]);
                                acc4 = fma(t34, t45, acc4);
                                acc5 = fma(t43, t45, acc5);
                                const float16 t46 = (float16)(v2[9 * i4 + 3 * i5 + 3457]);
                                acc6 = fma(t34, t46, acc6);
                                acc7 = fma(t43, t46, acc7);
                                const float16 t47 = (float16)(v2[9 * i4 + 3 * i5 + 4609]);
                                acc8 = fma(t34, t47, acc8);
                                acc9 = fma(t43, t47, acc9);
                                const float16 t48 = (float16)(v2[9 * i4 + 3 * i5 + 5761]);
                                acc10 = fma(t34, t48, acc10);
                                acc11 = fma(t43, t48, acc11);
                                const float16 t49 = (float16)(v2[9 * i4 + 3 * i5 + 6913]);
                                acc12 = fma(t34, t49, acc12);
                                acc13 = fma(t43, t49, acc13);
                                const float16 t50 = (float16)(v2[9 * i4 + 3 * i5 + 2]);
                                acc0 = fma(t43, t50, acc0);
                                if (((i3 + 2 <= 33))) {
                                    const float16 t51 = (TARN_LOAD(__global, float, v1 + 16 * (147968 * b + 34 * i2 + i3 + 1156 * i4 + 34 * i5 - 32)));
                                    acc1 = fma(t51, t50, acc1);
                                    const float16 t52 = (float16)(v2[9 * i4 + 3 * i5 + 1154]);
                                    acc3 = fma(t51, t52, acc3);
                                    const float16 t53 = (float16)(v2[9 * i4 + 3 * i5 + 2306]);
                                    acc5 = fma(t51, t53, acc5);
                                    const float16 t54 = (float16)(v2[9 * i4 + 3 * i5 + 3458]);
                                    acc7 = fma(t51, t54, acc7);
                                    const float16 t55 = (float16)(v2[9 * i4 + 3 * i5 + 4610]);
                                    acc9 = fma(t51, t55, acc9);
                                    const float16 t56 = (float16)(v2[9 * i4 + 3 * i5 + 5762]);
                                    acc11 = fma(t51, t56, acc11);
                                    const float16 t57 = (float16)(v2[9 * i4 + 3 * i5 + 6914]);
                                    acc13 = fma(t51, t57, acc13);
                                }
                                const float16 t58 = (float16)(v2[9 * i4 + 3 * i5 + 1154]);
                                acc2 = fma(t43, t58, acc2);
                                const float16 t59 = (float16)(v2[9 * i4 + 3 * i5 + 2306]);
                                acc4 = fma(t43, t59, acc4);
                                const float16 t60 = (float16)(v2[9 * i4 + 3 * i5 + 3458]);
                                acc6 = fma(t43, t60, acc6);
                                const float16 t61 = (float16)(v2[9 * i4 + 3 * i5 + 4610]);
                                acc8 = fma(t43, t61, acc8);
                                const float16 t62 = (float16)(v2[9 * i4 + 3 * i5 + 5762]);
                                acc10 = fma(t43, t62, acc10);
                                const float16 t63 = (float16)(v2[9 * i4 + 3 * i5 + 6914]);
                                acc12 = fma(t43, t63, acc12);
                            }
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
                    sum0_8 += acc8;
                    sum0_9 += acc9;
                    sum0_10 += acc10;
                    sum0_11 += acc11;
                    sum0_12 += acc12;
                    sum0_13 += acc13;
                }
                acc0 = sum0_0;
                acc1 = sum0_1;
                acc2 = sum0_2;
                acc3 = sum0_3;
                acc4 = sum0_4;
                acc5 = sum0_5;
                acc6 = sum0_6;
                acc7 = sum0_7;
                acc8 = sum0_8;
                acc9 = sum0_9;
                acc10 = sum0_10;
                acc11 = sum0_11;
                acc12 = sum0_12;
                acc13 = sum0_13;
            }
            TARN_STORE(__local, float, acc0, v0 + 16 * (34 * i2 + i3));
            TARN_STORE(__local, float, acc1, v0 + 16 * (34 * i2 + i3 + 1));
            TARN_STORE(__local, float, acc2, v0 + 16 * (34 * i2 + i3 + 1156));
            TARN_STORE(__local, float, acc3, v0 + 16 * (34 * i2 + i3 + 1157));
            TARN_STORE(__local, float, acc4, v0 + 16 * (34 * i2 + i3 + 2312));
            TARN_STORE(__local, float, acc5, v0 + 16 * (34 * i2 + i3 + 2313));
            TARN_STORE(__local, float, acc6, v0 + 16 * (34 * i2 + i3 + 3468));
            TARN_STORE(__local, float, acc7, v0 + 16 * (34 * i2 + i3 + 3469));
            TARN_STORE(__local, float, acc8, v0 + 16 * (34 * i2 + i3 + 4624));
            TARN_STORE(__local, float, acc9, v0 + 16 * (34 * i2 + i3 + 4625));
            TARN_STORE(__local, float, acc10, v0 + 16 * (34 * i2 + i3 + 5780));
            TARN_STORE(__local, float, acc11, v0 + 16 * (34 * i2 + i3 + 5781));
            TARN_STORE(__local, float, acc12, v0 + 16 * (34 * i2 + i3 + 6936));
            TARN_STORE(__local, float, acc13, v0 + 16 * (34 * i2 + i3 + 6937));
        }
    }
}
#endif
#ifndef TARN_nest_cb5f4b67167812c7
#define TARN_nest_cb5f4b67167812c7
TARN_APART void nest_cb5f4b67167812c7(long part, long b, __global float *v0, __local float *v1)
{
    const long low = part * 2 / 2 * 17;
    const long high = (part + 1) * 2 / 2 * 17;
    #pragma unroll 1
    for (long i1 = 0; i1 < 7; i1 += 1) {
        #pragma unroll 1
        for (long e = low * 34; e < high * 34; e += 16) {
            const long at = min(e, high * 34 - 16);
            float16 row[16];
            row[0] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 0));
            row[1] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 1));
            row[2] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 2));
            row[3] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 3));
            row[4] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 4));
            row[5] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 5));
            row[6] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 6));
            row[7] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 7));
            row[8] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 8));
            row[9] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 9));
            row[10] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 10));
            row[11] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 11));
            row[12] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 12));
            row[13] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 13));
            row[14] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 14));
            row[15] = TARN_LOAD(__local, float, v1 + 16 * (1156 * i1 + at + 15));
            TARN_TURN_16(float, row)
            TARN_STORE(__global, float, row[0], v0 + 1156 * i1 + at + 8092 * (16 * b + 0));
            TARN_STORE(__global, float, row[1], v0 + 1156 * i1 + at + 8092 * (16 * b + 1));
            TARN_STORE(__global, float, row[2], v0 + 1156 * i1 + at + 8092 * (16 * b + 2));
            TARN_STORE(__global, float, row[3], v0 + 1156 * i1 + at + 8092 * (16 * b + 3));
            TARN_STORE(__global, float, row[4], v0 + 1156 * i1 + at + 8092 * (16 * b + 4));
            TARN_STORE(__global, float, row[5], v0 + 1156 * i1 + at + 8092 * (16 * b + 5));
            TARN_STORE(__global, float, row[6], v0 + 1156 * i1 + at + 8092 * (16 * b + 6));
            TARN_STORE(__global, float, row[7], v0 + 1156 * i1 + at + 8092 * (16 * b + 7));
            TARN_STORE(__global, float, row[8], v0 + 1156 * i1 + at + 8092 * (16 * b + 8));
            TARN_STORE(__global, float, row[9], v0 + 1156 * i1 + at + 8092 * (16 * b + 9));
            TARN_STORE(__global, float, row[10], v0 + 1156 * i1 + at + 8092 * (16 * b + 10));
            TARN_STORE(__global, float, row[11], v0 + 1156 * i1 + at + 8092 * (16 * b + 11));
            TARN_STORE(__global, float, row[12], v0 + 1156 * i1 + at + 8092 * (16 * b + 12));
            TARN_STORE(__global, float, row[13], v0 + 1156 * i1 + at + 8092 * (16 * b + 13));
            TARN_STORE(__global, float, row[14], v0 + 1156 * i1 + at + 8092 * (16 * b + 14));
            TARN_STORE(__global, float, row[15], v0 + 1156 * i1 + at + 8092 * (16 * b + 15));
        }
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_01f665aeb4fbe76e(const int skip, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[8092];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [16,7,34,34] blocked */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [16,128,34,34] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[1]); /* [7,128,3,3] */
    __global float *v3 = (__global float *)(output0); /* [16,7,34,34] */
    /* conv2d */
    if (section_group >= 0 && section_group < 2) {
        const long share = section_group - 0;
        const long group = share / 2, part = share % 2;
        const long first = group * 1 / 1, last = (group + 1) * 1 / 1;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* conv2d [16 7 34 34 | 128 3 3] */
            nest_723273ac901d1238(part, b, v0, v1, v2);
            /* conv2d [16 7 34 34] */
            nest_cb5f4b67167812c7(part, b, v3, v0);
        }
    }
}


