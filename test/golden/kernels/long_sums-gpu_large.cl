/* k0: 1 groups of 256; output 0, input 0 */
/* k1: 1 groups of 256; output 1, owned 0, at 0; at bytes 0 */
/* arena: 0 bytes */
/* sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_7e5fefebc09503cf(__global uchar *output0, __global uchar *input0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [32,1,1] */
    __global float *v1 = (__global float *)(input0); /* [32,5,40] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [32 | 5 40] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 2) {
            const int b = team / 1;
            const int tile = team % 1;
            const int sample = 16 * b + lane;
            float acc0 = (float)(0.0f);
            {
                float sum0_0 = (float)(0.0f);
                #pragma unroll 1
                for (int cut0 = 0; cut0 < 5; cut0 += 3) {
                    const int end0 = min(cut0 + 3, (int)5);
                    acc0 = (float)(0.0f);
                    #pragma unroll 1
                    for (int i1 = cut0; i1 < end0; i1 += 1) {
                        #pragma unroll 4
                        for (int i2 = 0; i2 < 40; i2 += 1) {
                            const float t1 = v1[200 * sample + 40 * i1 + i2];
                            acc0 += t1;
                        }
                    }
                    sum0_0 += acc0;
                }
                acc0 = sum0_0;
            }
            v0[sample] = acc0;
        }
    }
}


/* sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_995c7691b84cc4fd(__global uchar *output0, __global uchar *owned0, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[272];
    __global float *v0 = (__global float *)(output0); /* [1,1,1] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [66,129,17] */
    {
        /* sum [66 129 17] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        float acc0 = (float)(0.0f);
        {
            float sum1_0 = (float)(0.0f);
            #pragma unroll 1
            for (int cut1 = 0; cut1 < 66; cut1 += 64) {
                const int end1 = min(cut1 + 64, (int)66);
                float sum0_0 = (float)(0.0f);
                #pragma unroll 1
                for (int i0 = cut1; i0 < end1; i0 += 1) {
                    #pragma unroll 1
                    for (int cut0 = 0; cut0 < 129; cut0 += 128) {
                        const int end0 = min(cut0 + 128, (int)129);
                        acc0 = (float)(0.0f);
                        #pragma unroll 1
                        for (int i1 = cut0; i1 < end0; i1 += 1) {
                            #pragma unroll 4
                            for (int i2 = 0 + lane; i2 < 16; i2 += 16) {
                                const float t1 = v1[2193 * i0 + 17 * i1 + i2];
                                acc0 += t1;
                            }
                        }
                        sum0_0 += acc0;
                    }
                }
                sum1_0 += sum0_0;
            }
            acc0 = sum1_0;
        }
        lanes[0 + lane] = acc0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const float sum0 = tarn_sum_float(vload16(0, lanes + 0));
        acc0 = 0.0f;
        {
            float sum1_0 = (float)(0.0f);
            #pragma unroll 1
            for (int cut1 = 0; cut1 < 66; cut1 += 64) {
                const int end1 = min(cut1 + 64, (int)66);
                float sum0_0 = (float)(0.0f);
                #pragma unroll 1
                for (int i0 = cut1; i0 < end1; i0 += 1) {
                    #pragma unroll 1
                    for (int cut0 = 0; cut0 < 129; cut0 += 128) {
                        const int end0 = min(cut0 + 128, (int)129);
                        acc0 = (float)(0.0f);
                        #pragma unroll 1
                        for (int i1 = cut0; i1 < end0; i1 += 1) {
                            #pragma unroll 4
                            for (int i2 = 16; i2 < 17; i2 += 1) {
                                const float t2 = v1[2193 * i0 + 17 * i1 + i2];
                                acc0 += t2;
                            }
                        }
                        sum0_0 += acc0;
                    }
                }
                sum1_0 += sum0_0;
            }
            acc0 = sum1_0;
        }
        acc0 += sum0;
        const bool writes = live && lane == 0;
        if (writes) v0[0] = acc0;
    }
}


