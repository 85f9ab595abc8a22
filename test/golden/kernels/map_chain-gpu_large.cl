/* k0: 6 groups of 256; output 0, input 0, owned 0, at 0; at bytes 0 */
/* arena: 0 bytes */
/* tanh */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_6acba528823d5832(__global uchar *output0, __global uchar *input0, __global uchar *owned0, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [40,6,5] */
    __global float *v1 = (__global float *)(input0); /* [40,6,5] */
    __global float *v2 = (__global float *)(owned0 + offset[0]); /* [6,1] */
    if (section_group >= 0 && section_group < 6) {
        /* tanh [40 6 5] */
        const int group = section_group - 0;
        const int team = group * 16 + item / 16;
        if (team < 90) {
            const int b = team / 30;
            const int tile = team % 30;
            const int i2 = tile % 5;
            const int i1 = tile / 5;
            const bool present = 16 * b + lane < 40;
            const int sample = min((int)(16 * b) + lane, 39);
            const float t1 = v1[30 * sample + 5 * i1 + i2];
            const float t2 = v2[i1];
            const float t3 = t1 * t2;
            const float t4 = t3 + t1;
            const float t5 = TARN_SELECT_1(TARN_BOOL_1(t4 < TARN_F_1(0.0f)), TARN_F_1(0.0f), t4);
            const float t6 = TARN_TANH_1(t5);
            if (present) v0[30 * sample + 5 * i1 + i2] = t6;
        }
    }
}


