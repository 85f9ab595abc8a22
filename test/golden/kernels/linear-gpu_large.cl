/* k0: 3 groups of 256; arena 0, at 0, input 0, owned 0, output 0, owned 1, input 1; at bytes 6144, 0, 0, 0, 16128, 9984 */
/* k1: 14 groups of 256; arena 0, at 0, input 0; at bytes 0, 9984, 7680 */
/* k2: 4 groups of 256; owned 2, at 0, arena 0, owned 3; at bytes 0, 0, 0, 7680 */
/* arena: 22272 bytes */
/* input matmul relu relu where */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_c487c32d1011b4c4(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *owned0, __global uchar *output0, __global uchar *owned1, __global uchar *input1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [48,20] blocked */
    __global float *v1 = (__global float *)(input0); /* [48,20] */
    __global float *v2 = (__global float *)(arena + offset[1]); /* [48,32] blocked */
    __global float *v3 = (__global float *)(owned0 + offset[2]); /* [32,20] */
    __global float *v4 = (__global float *)(output0); /* [48,32] */
    __global float *v5 = (__global float *)(owned1 + offset[3]); /* [1,32] */
    __global float *v6 = (__global float *)(arena + offset[4]); /* [48,32] blocked */
    __global float *v7 = (__global float *)(arena + offset[5]); /* [48,32] blocked */
    __global float *v8 = (__global float *)(input1); /* [48,32] */
    if (section_group >= 0 && section_group < 3) {
        /* input [48 20] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 20; tile += 16) {
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 320L * b + lane;
            const float t1 = v1[20 * sample + i1];
            b0[16 * (i1)] = t1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 3) {
        /* matmul [48 32 | 20] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 16; tile += 16) {
            const int i1 = tile * 2;
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 512L * b + lane;
            __global float *b0 = v0 + 320L * b + lane;
            float acc0 = (float)(0.0f);
            float acc1 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i2 = 0; i2 < 20; i2 += 10) {
                const float t2 = b0[16 * (i2)];
                const float t3 = v3[20 * i1 + i2];
                const float t4 = v3[20 * i1 + i2 + 20];
                const float t5 = b0[16 * (i2 + 1)];
                const float t6 = v3[20 * i1 + i2 + 1];
                const float t7 = v3[20 * i1 + i2 + 21];
                const float t8 = b0[16 * (i2 + 2)];
                const float t9 = v3[20 * i1 + i2 + 2];
                const float t10 = v3[20 * i1 + i2 + 22];
                const float t11 = b0[16 * (i2 + 3)];
                const float t12 = v3[20 * i1 + i2 + 3];
                const float t13 = v3[20 * i1 + i2 + 23];
                const float t14 = b0[16 * (i2 + 4)];
                const float t15 = v3[20 * i1 + i2 + 4];
                const float t16 = v3[20 * i1 + i2 + 24];
                const float t17 = b0[16 * (i2 + 5)];
                const float t18 = v3[20 * i1 + i2 + 5];
                const float t19 = v3[20 * i1 + i2 + 25];
                const float t20 = b0[16 * (i2 + 6)];
                const float t21 = v3[20 * i1 + i2 + 6];
                const float t22 = v3[20 * i1 + i2 + 26];
                const float t23 = b0[16 * (i2 + 7)];
                const float t24 = v3[20 * i1 + i2 + 7];
                const float t25 = v3[20 * i1 + i2 + 27];
                const float t26 = b0[16 * (i2 + 8)];
                const float t27 = v3[20 * i1 + i2 + 8];
                const float t28 = v3[20 * i1 + i2 + 28];
                const float t29 = b0[16 * (i2 + 9)];
                const float t30 = v3[20 * i1 + i2 + 9];
                const float t31 = v3[20 * i1 + i2 + 29];
                acc0 = fma(t2, t3, acc0);
                acc1 = fma(t2, t4, acc1);
                acc0 = fma(t5, t6, acc0);
                acc1 = fma(t5, t7, acc1);
                acc0 = fma(t8, t9, acc0);
                acc1 = fma(t8, t10, acc1);
                acc0 = fma(t11, t12, acc0);
                acc1 = fma(t11, t13, acc1);
                acc0 = fma(t14, t15, acc0);
                acc1 = fma(t14, t16, acc1);
                acc0 = fma(t17, t18, acc0);
                acc1 = fma(t17, t19, acc1);
                acc0 = fma(t20, t21, acc0);
                acc1 = fma(t20, t22, acc1);
                acc0 = fma(t23, t24, acc0);
                acc1 = fma(t23, t25, acc1);
                acc0 = fma(t26, t27, acc0);
                acc1 = fma(t26, t28, acc1);
                acc0 = fma(t29, t30, acc0);
                acc1 = fma(t29, t31, acc1);
            }
            b2[16 * (i1)] = acc0;
            b2[16 * (i1 + 1)] = acc1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 3) {
        /* relu [48 32] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 32; tile += 16) {
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 512L * b + lane;
            const float t32 = b2[16 * (i1)];
            const float t33 = v5[i1];
            const float t34 = t32 + t33;
            const float t35 = TARN_SELECT_1(TARN_BOOL_1(t34 < TARN_F_1(0.0f)), TARN_F_1(0.0f), t34);
            v4[32 * sample + i1] = t35;
        }
    }
    if (section_group >= 0 && section_group < 3) {
        /* relu [48 32] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 32; tile += 16) {
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 512L * b + lane;
            __global float *b6 = v6 + 512L * b + lane;
            const float t36 = b2[16 * (i1)];
            const float t37 = v5[i1];
            const float t38 = t36 + t37;
            const float t39 = TARN_SELECT_1(TARN_BOOL_1(t38 < TARN_F_1(0.0f)), TARN_F_1(0.0f), t38);
            b6[16 * (i1)] = t39;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 3) {
        /* where [48 32] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 32; tile += 16) {
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b7 = v7 + 512L * b + lane;
            __global float *b6 = v6 + 512L * b + lane;
            const float t40 = b6[16 * (i1)];
            const int t41 = TARN_BOOL_1(t40 > (float)(0x0p+0f));
            const float t42 = v8[32 * sample + i1];
            const float t43 = TARN_SELECT_1(t41, t42, (float)(0x0p+0f));
            b7[16 * (i1)] = t43;
        }
    }
}


/* matmul sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_0fc88532ecde9913(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[272];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [3,640] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [48,32] blocked */
    __global float *v2 = (__global float *)(input0); /* [48,20] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [3,32] */
    if (section_group >= 0 && section_group < 8) {
        /* matmul [32 20 | 48], one row a group */
        const int group = section_group - 0;
        const int number = group * 256 + item;
        if (number < 1920) {
            const int share = number / 640;
            const int first = share * 3 / 3, last = (share + 1) * 3 / 3;
            const int i1 = number % 20;
            const int tile = number / 20 % 32;
            const int i0 = tile;
            float row0 = 0.0f;
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int b = first; b < last; ++b) {
                float acc0 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i2 = 16 * b; i2 < 16 * b + 16; i2 += 8) {
                    const float t1 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b]);
                    const float t2 = v2[i1 + 20 * i2];
                    const float t3 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b + 1]);
                    const float t4 = v2[i1 + 20 * i2 + 20];
                    const float t5 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b + 2]);
                    const float t6 = v2[i1 + 20 * i2 + 40];
                    const float t7 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b + 3]);
                    const float t8 = v2[i1 + 20 * i2 + 60];
                    const float t9 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b + 4]);
                    const float t10 = v2[i1 + 20 * i2 + 80];
                    const float t11 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b + 5]);
                    const float t12 = v2[i1 + 20 * i2 + 100];
                    const float t13 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b + 6]);
                    const float t14 = v2[i1 + 20 * i2 + 120];
                    const float t15 = (float)(v1[16 * (32 * b + i0) + i2 - 16 * b + 7]);
                    const float t16 = v2[i1 + 20 * i2 + 140];
                    acc0 = fma(t1, t2, acc0);
                    acc0 = fma(t3, t4, acc0);
                    acc0 = fma(t5, t6, acc0);
                    acc0 = fma(t7, t8, acc0);
                    acc0 = fma(t9, t10, acc0);
                    acc0 = fma(t11, t12, acc0);
                    acc0 = fma(t13, t14, acc0);
                    acc0 = fma(t15, t16, acc0);
                }
                row0 = b > first ? acc0 + row0 : acc0;
            }
            v0[640 * share + 20 * i0 + i1] = row0;
        }
    }
    if (section_group >= 8 && section_group < 14) {
        /* sum [32 | 48], one row a group */
        const int group = section_group - 8;
        const int share = group / 2;
        const int b = share * 3 / 3;
        const int team = (group % 2) * 16 + item / 16;
        const bool live = team < 32;
        const int tile = live ? team : 31;
        const int i0 = tile;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b1 = v1 + 512L * b + lane;
        float acc0 = (float)(0.0f);
        const float t17 = b1[16 * (i0)];
        acc0 += t17;
        lanes[0 + lane] = acc0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 8 && section_group < 14) {
        /* sum [32 | 48], one row a group */
        const int group = section_group - 8;
        const int share = group / 2;
        const int b = share * 3 / 3;
        const int team = (group % 2) * 16 + item / 16;
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
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_c1a5cfd3d11a8f3d(__global uchar *owned0, __global const ulong *offset, __global uchar *arena, __global uchar *owned1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(owned0 + offset[0]); /* [32,20] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [3,640] */
    __global float *v2 = (__global float *)(owned1 + offset[2]); /* [1,32] */
    __global float *v3 = (__global float *)(arena + offset[3]); /* [3,32] */
    if (section_group >= 0 && section_group < 3) {
        /* matmul [640 | 1] */
        const int group = section_group - 0;
        const int number = group * 256 + item;
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
    if (section_group >= 3 && section_group < 4) {
        /* sum [32 | 1] */
        const int group = section_group - 3;
        const int number = group * 256 + item;
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


