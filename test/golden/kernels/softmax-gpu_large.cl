/* k0: 2 groups of 256; arena 0, at 0, input 0, output 0; at bytes 1280, 0, 1408 */
/* arena: 1536 bytes */
/* max exp sum div */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_7aedcabca810fc09(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [32,1] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,10] */
    __global float *v2 = (__global float *)(arena + offset[1]); /* [32,10] blocked */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [32,1] blocked */
    __global float *v4 = (__global float *)(output0); /* [32,10] */
    if (section_group >= 0 && section_group < 2) {
        /* max [32 | 10] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 1; tile += 16) {
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 16L * b + lane;
            float acc0 = (float)(-INFINITY);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i1 = 0; i1 < 10; i1 += 5) {
                const float t1 = v1[10 * sample + i1];
                const float t2 = v1[10 * sample + i1 + 1];
                const float t3 = v1[10 * sample + i1 + 2];
                const float t4 = v1[10 * sample + i1 + 3];
                const float t5 = v1[10 * sample + i1 + 4];
                acc0 = TARN_MAX_1(t1, acc0);
                acc0 = TARN_MAX_1(t2, acc0);
                acc0 = TARN_MAX_1(t3, acc0);
                acc0 = TARN_MAX_1(t4, acc0);
                acc0 = TARN_MAX_1(t5, acc0);
            }
            b0[16 * (0)] = acc0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 2) {
        /* exp [32 10] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 10; tile += 16) {
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 160L * b + lane;
            __global float *b0 = v0 + 16L * b + lane;
            const float t6 = v1[10 * sample + i1];
            const float t7 = b0[16 * (0)];
            const float t8 = t6 - t7;
            const float t9 = TARN_EXP_1(t8);
            b2[16 * (i1)] = t9;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 2) {
        /* sum [32 | 10] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 1; tile += 16) {
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 160L * b + lane;
            __global float *b3 = v3 + 16L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i1 = 0; i1 < 10; i1 += 5) {
                const float t10 = b2[16 * (i1)];
                const float t11 = b2[16 * (i1 + 1)];
                const float t12 = b2[16 * (i1 + 2)];
                const float t13 = b2[16 * (i1 + 3)];
                const float t14 = b2[16 * (i1 + 4)];
                acc0 += t10;
                acc0 += t11;
                acc0 += t12;
                acc0 += t13;
                acc0 += t14;
            }
            b3[16 * (0)] = acc0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 2) {
        /* div [32 10] */
        const int group = section_group - 0;
        const int b = group;
        #pragma unroll 1
        for (int tile = item / 16; tile < 10; tile += 16) {
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 160L * b + lane;
            __global float *b3 = v3 + 16L * b + lane;
            const float t15 = b2[16 * (i1)];
            const float t16 = b3[16 * (0)];
            const float t17 = t15 / t16;
            v4[10 * sample + i1] = t17;
        }
    }
}


