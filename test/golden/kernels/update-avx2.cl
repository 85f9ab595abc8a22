/* k0: 1 groups of 1; skip 0, output 0, owned 2, at 0, owned 1, arena 0, owned 4, owned 0, owned 3; at bytes 160, 0, 0, 0, 0, 0, 0 */
/* k1: 1 groups of 1; skip 0, owned 0, at 0, arena 0; at bytes 0, 0 */
/* arena: 800 bytes */
/* sum add sum */
#ifndef TARN_nest_300a6f78413216f3
#define TARN_nest_300a6f78413216f3
TARN_APART void nest_300a6f78413216f3(__global float *v0, __global float *v1)
{
    #pragma unroll 1
    for (long at0 = 0; at0 < 10; at0 += 4) {
        const long i0 = min(at0, 10 - 4L);
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        float acc3 = (float)(0.0f);
        #pragma nounroll
        #pragma clang loop vectorize(disable)
        for (long i1 = 0; i1 < 12; i1 += 1) {
            const float t1 = v1[i0 + 10 * i1];
            acc0 += t1;
            const float t2 = v1[i0 + 10 * i1 + 1];
            acc1 += t2;
            const float t3 = v1[i0 + 10 * i1 + 2];
            acc2 += t3;
            const float t4 = v1[i0 + 10 * i1 + 3];
            acc3 += t4;
        }
        v0[i0] = acc0;
        v0[i0 + 1] = acc1;
        v0[i0 + 2] = acc2;
        v0[i0 + 3] = acc3;
    }
}
#endif
#ifndef TARN_nest_c427c7e95b41c489
#define TARN_nest_c427c7e95b41c489
TARN_APART void nest_c427c7e95b41c489(__global float *v0, __global float *v1, __global float *v2, __global float *v3, __global float *v4)
{
    long i0 = 0;
    #pragma unroll 1
    for (; i0 + 16 <= 200; i0 += 16) {
        const float16 t1 = (TARN_LOAD(__global, float, v2 + i0));
        const float16 t2 = t1 * (float16)(0x1.ccccccp-1f);
        const float16 t3 = (TARN_LOAD(__global, float, v3 + i0));
        const float16 t4 = t2 + t3;
        const float16 t5 = (TARN_LOAD(__global, float, v4 + i0));
        const float16 t6 = t4 * (float16)(0x1.99999ap-4f);
        const float16 t7 = t5 - t6;
        TARN_STORE(__global, float, t4, v0 + i0);
        TARN_STORE(__global, float, t7, v1 + i0);
    }
    #pragma unroll 1
    for (; i0 < 200; ++i0) {
        const float t8 = v2[i0];
        const float t9 = t8 * (float)(0x1.ccccccp-1f);
        const float t10 = v3[i0];
        const float t11 = t9 + t10;
        const float t12 = v4[i0];
        const float t13 = t11 * (float)(0x1.99999ap-4f);
        const float t14 = t12 - t13;
        v0[i0] = t11;
        v1[i0] = t14;
    }
}
#endif
#ifndef TARN_nest_9cb82cd015b0b345
#define TARN_nest_9cb82cd015b0b345
TARN_APART void nest_9cb82cd015b0b345(__global float *v0, __global float *v1)
{
    float sum0;
    {
        float16 acc0 = (float16)(0.0f);
        #pragma unroll 1
        for (long i0 = 0; i0 < 192; i0 += 16) {
            const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
            const float16 t2 = t1 * t1;
            acc0 += t2;
        }
        sum0 = tarn_sum_float(acc0);
    }
    float acc0 = (float)(0.0f);
    #pragma nounroll
    #pragma clang loop vectorize(disable)
    for (long i0 = 192; i0 < 200; i0 += 1) {
        const float t3 = v1[i0];
        const float t4 = t3 * t3;
        acc0 += t4;
    }
    acc0 += sum0;
    v0[0] = acc0;
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_210d0e66e2e7e2c2(const int skip, __global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1, __global uchar *arena, __global uchar *owned2, __global uchar *owned3, __global uchar *owned4)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [1,10] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [12,10] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [200] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [200] */
    __global float *v4 = (__global float *)(owned1 + offset[3]); /* [200] */
    __global float *v5 = (__global float *)(owned2 + offset[4]); /* [200] */
    __global float *v6 = (__global float *)(owned3 + offset[5]); /* [200] */
    __global float *v7 = (__global float *)(owned4 + offset[6]); /* [1] */
    /* sum */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* sum [10 | 12] */
        nest_300a6f78413216f3(v0, v1);
        /* add [200] */
        nest_c427c7e95b41c489(v2, v3, v4, v5, v6);
        /* sum [200] */
        nest_9cb82cd015b0b345(v7, v6);
    }
}


/* copy */
#ifndef TARN_nest_1d412191d9887bc5
#define TARN_nest_1d412191d9887bc5
TARN_APART void nest_1d412191d9887bc5(__global float *v0, __global float *v1)
{
    long i0 = 0;
    #pragma unroll 1
    for (; i0 + 16 <= 200; i0 += 16) {
        const float16 t1 = (TARN_LOAD(__global, float, v1 + i0));
        TARN_STORE(__global, float, t1, v0 + i0);
    }
    #pragma unroll 1
    for (; i0 < 200; ++i0) {
        const float t2 = v1[i0];
        v0[i0] = t2;
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_f5e06d0f17fbc66b(const int skip, __global uchar *owned0, __global const ulong *offset, __global uchar *arena)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(owned0 + offset[0]); /* [200] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [200] */
    /* copy */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* copy [200] */
        nest_1d412191d9887bc5(v0, v1);
    }
}


