/* k0: 9 groups of 32; output 0, owned 2, at 0, owned 1, arena 0, owned 4, owned 0, owned 3; at bytes 160, 0, 0, 0, 0, 0, 0 */
/* k1: 7 groups of 32; owned 0, at 0, arena 0; at bytes 0, 0 */
/* arena: 800 bytes */
/* sum add sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_41b2c58343c9d35d(__global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1, __global uchar *arena, __global uchar *owned2, __global uchar *owned3, __global uchar *owned4)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[34];
    __global float *v0 = (__global float *)(output0); /* [1,10] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [12,10] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [200] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [200] */
    __global float *v4 = (__global float *)(owned1 + offset[3]); /* [200] */
    __global float *v5 = (__global float *)(owned2 + offset[4]); /* [200] */
    __global float *v6 = (__global float *)(owned3 + offset[5]); /* [200] */
    __global float *v7 = (__global float *)(owned4 + offset[6]); /* [1] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [10 | 12] */
        const int group = section_group - 0;
        const int number = group * 32 + item;
        if (number < 10) {
            const int i0 = number % 10;
            const int tile = number / 10;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i1 = 0; i1 < 12; i1 += 6) {
                const float t1 = v1[i0 + 10 * i1];
                const float t2 = v1[i0 + 10 * i1 + 10];
                const float t3 = v1[i0 + 10 * i1 + 20];
                const float t4 = v1[i0 + 10 * i1 + 30];
                const float t5 = v1[i0 + 10 * i1 + 40];
                const float t6 = v1[i0 + 10 * i1 + 50];
                acc0 += t1;
                acc0 += t2;
                acc0 += t3;
                acc0 += t4;
                acc0 += t5;
                acc0 += t6;
            }
            v0[i0] = acc0;
        }
    }
    if (section_group >= 1 && section_group < 8) {
        /* add [200] */
        const int group = section_group - 1;
        const int number = group * 32 + item;
        if (number < 200) {
            const int i0 = number % 200;
            const int tile = number / 200;
            const float t7 = v4[i0];
            const float t8 = t7 * (float)(0x1.ccccccp-1f);
            const float t9 = v5[i0];
            const float t10 = t8 + t9;
            const float t11 = v6[i0];
            const float t12 = t10 * (float)(0x1.99999ap-4f);
            const float t13 = t11 - t12;
            v2[i0] = t10;
            v3[i0] = t13;
        }
    }
    if (section_group >= 8 && section_group < 9) {
        /* sum [200] */
        const int group = section_group - 8;
        const int team = group * 2 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        float acc0 = (float)(0.0f);
        #pragma unroll 8
        #pragma clang loop vectorize(disable)
        for (int first0 = 0; first0 < 192; first0 += 16) {
            const int i0 = first0 + lane;
            const float t14 = v6[i0];
            const float t15 = t14 * t14;
            acc0 += t15;
        }
        lanes[0 + lane] = acc0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 8 && section_group < 9) {
        /* sum [200] */
        const int group = section_group - 8;
        const int team = group * 2 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const float sum0 = tarn_sum_float(vload16(0, lanes + 0));
        float acc0 = 0.0f;
        #pragma unroll 4
        #pragma clang loop vectorize(disable)
        for (int i0 = 192; i0 < 200; i0 += 1) {
            const float t16 = v6[i0];
            const float t17 = t16 * t16;
            acc0 += t17;
        }
        acc0 += sum0;
        const bool writes = live && lane == 0;
        if (writes) v7[0] = acc0;
    }
}


/* copy */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_a12977d44c1ee505(__global uchar *owned0, __global const ulong *offset, __global uchar *arena)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(owned0 + offset[0]); /* [200] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [200] */
    if (section_group >= 0 && section_group < 7) {
        /* copy [200] */
        const int group = section_group - 0;
        const int number = group * 32 + item;
        if (number < 200) {
            const int i0 = number % 200;
            const int tile = number / 200;
            const float t1 = v1[i0];
            v0[i0] = t1;
        }
    }
}


