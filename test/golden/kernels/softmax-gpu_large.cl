/* k0: 1 groups of 256; arena 0, at 0, input 0; at bytes 0 */
/* k1: 2 groups of 256; arena 0, at 0, input 0; at bytes 128, 0 */
/* k2: 1 groups of 256; arena 0, at 0; at bytes 0, 128 */
/* k3: 2 groups of 256; output 0, arena 0, at 0; at bytes 128, 0 */
/* arena: 1408 bytes */
/* max */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_f1ca963768642db5(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [32,1] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,10] */
    if (section_group >= 0 && section_group < 1) {
        /* max [32 | 10] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 2) {
            const int b = team / 1;
            const int tile = team % 1;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 16L * b + lane;
            float acc0 = (float)(-INFINITY);
            #pragma unroll 4
            #pragma clang loop vectorize(disable)
            for (int i1 = 0; i1 < 10; i1 += 1) {
                const float t1 = v1[10 * sample + i1];
                acc0 = TARN_MAX_1(t1, acc0);
            }
            b0[16 * (0)] = acc0;
        }
    }
}


/* exp */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_00af46e9c1750c50(__global uchar *arena, __global const ulong *offset, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [32,10] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,10] */
    __global float *v2 = (__global float *)(arena + offset[1]); /* [32,1] blocked */
    if (section_group >= 0 && section_group < 2) {
        /* exp [32 10] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 20) {
            const int b = team / 10;
            const int tile = team % 10;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 160L * b + lane;
            __global float *b2 = v2 + 16L * b + lane;
            const float t1 = v1[10 * sample + i1];
            const float t2 = b2[16 * (0)];
            const float t3 = t1 - t2;
            const float t4 = TARN_EXP_1(t3);
            b0[16 * (i1)] = t4;
        }
    }
}


/* sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_f8c67785d87d9a0e(__global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [32,1] blocked */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [32,10] blocked */
    if (section_group >= 0 && section_group < 1) {
        /* sum [32 | 10] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 2) {
            const int b = team / 1;
            const int tile = team % 1;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 160L * b + lane;
            __global float *b0 = v0 + 16L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma unroll 4
            #pragma clang loop vectorize(disable)
            for (int i1 = 0; i1 < 10; i1 += 1) {
                const float t1 = b1[16 * (i1)];
                acc0 += t1;
            }
            b0[16 * (0)] = acc0;
        }
    }
}


/* div */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_9daad0e2293a164a(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [32,10] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [32,10] blocked */
    __global float *v2 = (__global float *)(arena + offset[1]); /* [32,1] blocked */
    if (section_group >= 0 && section_group < 2) {
        /* div [32 10] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 20) {
            const int b = team / 10;
            const int tile = team % 10;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b1 = v1 + 160L * b + lane;
            __global float *b2 = v2 + 16L * b + lane;
            const float t1 = b1[16 * (i1)];
            const float t2 = b2[16 * (0)];
            const float t3 = t1 / t2;
            v0[10 * sample + i1] = t3;
        }
    }
}


