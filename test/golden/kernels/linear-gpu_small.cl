/* k0: 30 groups of 32; arena 0, at 0, input 0; at bytes 0 */
/* k1: 96 groups of 32; arena 0, at 0, owned 0, output 0, owned 1, input 1; at bytes 3840, 0, 0, 0, 16128, 9984 */
/* k2: 72 groups of 32; arena 0, at 0, input 0; at bytes 0, 9984, 7680 */
/* k3: 21 groups of 32; owned 2, at 0, arena 0, owned 3; at bytes 0, 0, 0, 7680 */
/* arena: 22272 bytes */
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


/* matmul relu relu where */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_739c3e0afb0d2d80(__global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *output0, __global uchar *owned1, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [48,32] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [48,20] blocked */
    __global float *v2 = (__global float *)(owned0 + offset[2]); /* [32,20] */
    __global float *v3 = (__global float *)(output0); /* [48,32] */
    __global float *v4 = (__global float *)(owned1 + offset[3]); /* [1,32] */
    __global float *v5 = (__global float *)(arena + offset[4]); /* [48,32] blocked */
    __global float *v6 = (__global float *)(arena + offset[5]); /* [48,32] blocked */
    __global float *v7 = (__global float *)(input0); /* [48,32] */
    if (section_group >= 0 && section_group < 96) {
        /* matmul [48 32 | 20] */
        const int group = section_group - 0;
        const int b = group / 32, part = group % 32;
        #pragma unroll 1
        for (int tile = item / 16; tile < 1; tile += 2) {
            const int i1 = 1 * part + 0;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 512L * b + lane;
            __global float *b1 = v1 + 320L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i2 = 0; i2 < 20; i2 += 10) {
                const float t1 = b1[16 * (i2)];
                const float t2 = v2[20 * i1 + i2];
                const float t3 = b1[16 * (i2 + 1)];
                const float t4 = v2[20 * i1 + i2 + 1];
                const float t5 = b1[16 * (i2 + 2)];
                const float t6 = v2[20 * i1 + i2 + 2];
                const float t7 = b1[16 * (i2 + 3)];
                const float t8 = v2[20 * i1 + i2 + 3];
                const float t9 = b1[16 * (i2 + 4)];
                const float t10 = v2[20 * i1 + i2 + 4];
                const float t11 = b1[16 * (i2 + 5)];
                const float t12 = v2[20 * i1 + i2 + 5];
                const float t13 = b1[16 * (i2 + 6)];
                const float t14 = v2[20 * i1 + i2 + 6];
                const float t15 = b1[16 * (i2 + 7)];
                const float t16 = v2[20 * i1 + i2 + 7];
                const float t17 = b1[16 * (i2 + 8)];
                const float t18 = v2[20 * i1 + i2 + 8];
                const float t19 = b1[16 * (i2 + 9)];
                const float t20 = v2[20 * i1 + i2 + 9];
                acc0 = fma(t1, t2, acc0);
                acc0 = fma(t3, t4, acc0);
                acc0 = fma(t5, t6, acc0);
                acc0 = fma(t7, t8, acc0);
                acc0 = fma(t9, t10, acc0);
                acc0 = fma(t11, t12, acc0);
                acc0 = fma(t13, t14, acc0);
                acc0 = fma(t15, t16, acc0);
                acc0 = fma(t17, t18, acc0);
                acc0 = fma(t19, t20, acc0);
            }
            b0[16 * (i1)] = acc0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 96) {
        /* relu [48 32] */
        const int group = section_group - 0;
        const int b = group / 32, part = group % 32;
        #pragma unroll 1
        for (int tile = item / 16; tile < 1; tile += 2) {
            const int i1 = 1 * part + 0;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 512L * b + lane;
            const float t21 = b0[16 * (i1)];
            const float t22 = v4[i1];
            const float t23 = t21 + t22;
            const float t24 = TARN_SELECT_1(TARN_BOOL_1(t23 < TARN_F_1(0.0f)), TARN_F_1(0.0f), t23);
            v3[32 * sample + i1] = t24;
        }
    }
    if (section_group >= 0 && section_group < 96) {
        /* relu [48 32] */
        const int group = section_group - 0;
        const int b = group / 32, part = group % 32;
        #pragma unroll 1
        for (int tile = item / 16; tile < 1; tile += 2) {
            const int i1 = 1 * part + 0;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 512L * b + lane;
            __global float *b5 = v5 + 512L * b + lane;
            const float t25 = b0[16 * (i1)];
            const float t26 = v4[i1];
            const float t27 = t25 + t26;
            const float t28 = TARN_SELECT_1(TARN_BOOL_1(t27 < TARN_F_1(0.0f)), TARN_F_1(0.0f), t27);
            b5[16 * (i1)] = t28;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 96) {
        /* where [48 32] */
        const int group = section_group - 0;
        const int b = group / 32, part = group % 32;
        #pragma unroll 1
        for (int tile = item / 16; tile < 1; tile += 2) {
            const int i1 = 1 * part + 0;
            const int sample = 16 * b + lane;
            __global float *b6 = v6 + 512L * b + lane;
            __global float *b5 = v5 + 512L * b + lane;
            const float t29 = b5[16 * (i1)];
            const int t30 = TARN_BOOL_1(t29 > (float)(0x0p+0f));
            const float t31 = v7[32 * sample + i1];
            const float t32 = TARN_SELECT_1(t30, t31, (float)(0x0p+0f));
            b6[16 * (i1)] = t32;
        }
    }
}


/* matmul sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_f42984e14d61336b(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[128] __attribute__((aligned(16)));
    __global float *v0 = (__global float *)(arena + offset[0]); /* [3,640] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [48,32] blocked */
    __global float *v2 = (__global float *)(input0); /* [48,20] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [3,32] */
    {
        /* matmul [32 20 | 48], one row a group */
        const bool mine = section_group >= 0 && section_group < 24;
        const bool busy = mine && item < 20;
        const int all = mine ? section_group - 0 : 0;
        const int group = all % 8, share = all / 8;
        const int from1 = 0 * 20;
        const int i1 = from1 + item % 20;
        const int i0 = group % 8 * 4;
        __local float *panel0 = (__local float *)(exchange + 0);
        __local const float *own0 = panel0;
        float row0 = 0.0f;
        float row1 = 0.0f;
        float row2 = 0.0f;
        float row3 = 0.0f;
        #pragma nounroll
        #pragma clang loop vectorize(disable)
        for (int turn = 0; turn < 1; ++turn) {
            const int b = share * 3 / 3 + turn, cut8 = 16 * b;
            const bool has = b < (share + 1) * 3 / 3;
            float acc0 = (float)(0.0f);
            float acc1 = (float)(0.0f);
            float acc2 = (float)(0.0f);
            float acc3 = (float)(0.0f);
            if (mine && has) {
                const int e0_0 = item + 0;
                const int toe0_0 = 8 * (e0_0 % 16) + 4 * (0);
                const float ce0_0_0 = e0_0 < 16 ? v1[512 * b + e0_0 % 16 + 16 * ((i0 + 4 * (0)))] : 0;
                const float ce0_0_1 = e0_0 < 16 ? v1[512 * b + e0_0 % 16 + 16 * ((i0 + 4 * (0)) + 1)] : 0;
                const float ce0_0_2 = e0_0 < 16 ? v1[512 * b + e0_0 % 16 + 16 * ((i0 + 4 * (0)) + 2)] : 0;
                const float ce0_0_3 = e0_0 < 16 ? v1[512 * b + e0_0 % 16 + 16 * ((i0 + 4 * (0)) + 3)] : 0;
                if (e0_0 < 16) {
                    panel0[toe0_0 + 0] = ce0_0_0;
                    panel0[toe0_0 + 1] = ce0_0_1;
                    panel0[toe0_0 + 2] = ce0_0_2;
                    panel0[toe0_0 + 3] = ce0_0_3;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (busy && has) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i2 = cut8; i2 < cut8 + 16; i2 += 8) {
                    const float t1 = own0[8 * (i2 - cut8)];
                    const float t2 = v2[i1 + 20 * i2];
                    const float t3 = own0[8 * (i2 - cut8) + 1];
                    const float t4 = own0[8 * (i2 - cut8) + 2];
                    const float t5 = own0[8 * (i2 - cut8) + 3];
                    const float t6 = own0[8 * (i2 - cut8) + 8];
                    const float t7 = v2[i1 + 20 * i2 + 20];
                    const float t8 = own0[8 * (i2 - cut8) + 9];
                    const float t9 = own0[8 * (i2 - cut8) + 10];
                    const float t10 = own0[8 * (i2 - cut8) + 11];
                    const float t11 = own0[8 * (i2 - cut8) + 16];
                    const float t12 = v2[i1 + 20 * i2 + 40];
                    const float t13 = own0[8 * (i2 - cut8) + 17];
                    const float t14 = own0[8 * (i2 - cut8) + 18];
                    const float t15 = own0[8 * (i2 - cut8) + 19];
                    const float t16 = own0[8 * (i2 - cut8) + 24];
                    const float t17 = v2[i1 + 20 * i2 + 60];
                    const float t18 = own0[8 * (i2 - cut8) + 25];
                    const float t19 = own0[8 * (i2 - cut8) + 26];
                    const float t20 = own0[8 * (i2 - cut8) + 27];
                    const float t21 = own0[8 * (i2 - cut8) + 32];
                    const float t22 = v2[i1 + 20 * i2 + 80];
                    const float t23 = own0[8 * (i2 - cut8) + 33];
                    const float t24 = own0[8 * (i2 - cut8) + 34];
                    const float t25 = own0[8 * (i2 - cut8) + 35];
                    const float t26 = own0[8 * (i2 - cut8) + 40];
                    const float t27 = v2[i1 + 20 * i2 + 100];
                    const float t28 = own0[8 * (i2 - cut8) + 41];
                    const float t29 = own0[8 * (i2 - cut8) + 42];
                    const float t30 = own0[8 * (i2 - cut8) + 43];
                    const float t31 = own0[8 * (i2 - cut8) + 48];
                    const float t32 = v2[i1 + 20 * i2 + 120];
                    const float t33 = own0[8 * (i2 - cut8) + 49];
                    const float t34 = own0[8 * (i2 - cut8) + 50];
                    const float t35 = own0[8 * (i2 - cut8) + 51];
                    const float t36 = own0[8 * (i2 - cut8) + 56];
                    const float t37 = v2[i1 + 20 * i2 + 140];
                    const float t38 = own0[8 * (i2 - cut8) + 57];
                    const float t39 = own0[8 * (i2 - cut8) + 58];
                    const float t40 = own0[8 * (i2 - cut8) + 59];
                    acc0 = fma(t1, t2, acc0);
                    acc1 = fma(t3, t2, acc1);
                    acc2 = fma(t4, t2, acc2);
                    acc3 = fma(t5, t2, acc3);
                    acc0 = fma(t6, t7, acc0);
                    acc1 = fma(t8, t7, acc1);
                    acc2 = fma(t9, t7, acc2);
                    acc3 = fma(t10, t7, acc3);
                    acc0 = fma(t11, t12, acc0);
                    acc1 = fma(t13, t12, acc1);
                    acc2 = fma(t14, t12, acc2);
                    acc3 = fma(t15, t12, acc3);
                    acc0 = fma(t16, t17, acc0);
                    acc1 = fma(t18, t17, acc1);
                    acc2 = fma(t19, t17, acc2);
                    acc3 = fma(t20, t17, acc3);
                    acc0 = fma(t21, t22, acc0);
                    acc1 = fma(t23, t22, acc1);
                    acc2 = fma(t24, t22, acc2);
                    acc3 = fma(t25, t22, acc3);
                    acc0 = fma(t26, t27, acc0);
                    acc1 = fma(t28, t27, acc1);
                    acc2 = fma(t29, t27, acc2);
                    acc3 = fma(t30, t27, acc3);
                    acc0 = fma(t31, t32, acc0);
                    acc1 = fma(t33, t32, acc1);
                    acc2 = fma(t34, t32, acc2);
                    acc3 = fma(t35, t32, acc3);
                    acc0 = fma(t36, t37, acc0);
                    acc1 = fma(t38, t37, acc1);
                    acc2 = fma(t39, t37, acc2);
                    acc3 = fma(t40, t37, acc3);
                }
                row0 = turn > 0 ? acc0 + row0 : acc0;
                row1 = turn > 0 ? acc1 + row1 : acc1;
                row2 = turn > 0 ? acc2 + row2 : acc2;
                row3 = turn > 0 ? acc3 + row3 : acc3;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (busy) {
            v0[640 * share + 20 * i0 + i1] = row0;
            v0[640 * share + 20 * i0 + i1 + 20] = row1;
            v0[640 * share + 20 * i0 + i1 + 40] = row2;
            v0[640 * share + 20 * i0 + i1 + 60] = row3;
        }
    }
    if (section_group >= 24 && section_group < 72) {
        /* sum [32 | 48], one row a group */
        const int group = section_group - 24;
        const int share = group / 16;
        const int b = share * 3 / 3;
        const int team = (group % 16) * 2 + item / 16;
        const bool live = team < 32;
        const int tile = live ? team : 31;
        const int i0 = tile;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b1 = v1 + 512L * b + lane;
        float acc0 = (float)(0.0f);
        const float t41 = b1[16 * (i0)];
        acc0 += t41;
        lanes[0 + lane] = acc0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 24 && section_group < 72) {
        /* sum [32 | 48], one row a group */
        const int group = section_group - 24;
        const int share = group / 16;
        const int b = share * 3 / 3;
        const int team = (group % 16) * 2 + item / 16;
        const bool live = team < 32;
        const int tile = live ? team : 31;
        const int i0 = tile;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        if (live && lane == 0) {
            __global float *row = v3 + 32 * share + i0;
            float sum = tarn_sum_float(vload16(0, lanes + 0));
            *row = sum;
        }
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


