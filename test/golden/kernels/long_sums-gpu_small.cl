/* k0: 82 groups of 32; output 0, input 0, arena 0, at 0, owned 0, input 1; at bytes 0, 64, 128, 0, 8576 */
/* k1: 3 groups of 32; arena 0, at 0, output 1; at bytes 10368, 128, 0, 10496, 8576 */
/* k2: 1 groups of 32; output 2, arena 0, at 0; at bytes 10496 */
/* arena: 10504 bytes */
/* sum sum sum sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_9489019bf96e8b57(__global uchar *output0, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *input1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [32,1,1] */
    __global float *v1 = (__global float *)(input0); /* [32,5,40] */
    __global float *v2 = (__global float *)(arena + offset[0]); /* [1] */
    __global float *v3 = (__global float *)(owned0 + offset[1]); /* [66,129,17] */
    __global float *v4 = (__global float *)(arena + offset[2]); /* [2112] */
    __global float *v5 = (__global float *)(owned0 + offset[3]); /* [66,129,17] */
    __global float *v6 = (__global float *)(arena + offset[4]); /* [32,14] blocked */
    __global float *v7 = (__global float *)(input1); /* [32,40,40] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [32 | 5 40] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 2) {
            const int b = team / 1;
            const int tile = team % 1;
            const int sample = 16 * b + lane;
            float acc0 = (float)(0.0f);
            {
                float sum0_0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut0 = 0; cut0 < 5; cut0 += 3) {
                    const int end0 = min(cut0 + 3, (int)5);
                    acc0 = (float)(0.0f);
                    #pragma unroll 1
                    #pragma clang loop vectorize(disable)
                    for (int i1 = cut0; i1 < end0; i1 += 1) {
                        #pragma unroll 1
                        #pragma clang loop vectorize(disable)
                        for (int i2 = 0; i2 < 40; i2 += 20) {
                            const float t1 = v1[200 * sample + 40 * i1 + i2];
                            const float t2 = v1[200 * sample + 40 * i1 + i2 + 1];
                            const float t3 = v1[200 * sample + 40 * i1 + i2 + 2];
                            const float t4 = v1[200 * sample + 40 * i1 + i2 + 3];
                            const float t5 = v1[200 * sample + 40 * i1 + i2 + 4];
                            const float t6 = v1[200 * sample + 40 * i1 + i2 + 5];
                            const float t7 = v1[200 * sample + 40 * i1 + i2 + 6];
                            const float t8 = v1[200 * sample + 40 * i1 + i2 + 7];
                            const float t9 = v1[200 * sample + 40 * i1 + i2 + 8];
                            const float t10 = v1[200 * sample + 40 * i1 + i2 + 9];
                            const float t11 = v1[200 * sample + 40 * i1 + i2 + 10];
                            const float t12 = v1[200 * sample + 40 * i1 + i2 + 11];
                            const float t13 = v1[200 * sample + 40 * i1 + i2 + 12];
                            const float t14 = v1[200 * sample + 40 * i1 + i2 + 13];
                            const float t15 = v1[200 * sample + 40 * i1 + i2 + 14];
                            const float t16 = v1[200 * sample + 40 * i1 + i2 + 15];
                            const float t17 = v1[200 * sample + 40 * i1 + i2 + 16];
                            const float t18 = v1[200 * sample + 40 * i1 + i2 + 17];
                            const float t19 = v1[200 * sample + 40 * i1 + i2 + 18];
                            const float t20 = v1[200 * sample + 40 * i1 + i2 + 19];
                            acc0 += t1;
                            acc0 += t2;
                            acc0 += t3;
                            acc0 += t4;
                            acc0 += t5;
                            acc0 += t6;
                            acc0 += t7;
                            acc0 += t8;
                            acc0 += t9;
                            acc0 += t10;
                            acc0 += t11;
                            acc0 += t12;
                            acc0 += t13;
                            acc0 += t14;
                            acc0 += t15;
                            acc0 += t16;
                            acc0 += t17;
                            acc0 += t18;
                            acc0 += t19;
                            acc0 += t20;
                        }
                    }
                    sum0_0 += acc0;
                }
                acc0 = sum0_0;
            }
            v0[sample] = acc0;
        }
    }
    if (section_group >= 1 && section_group < 2) {
        /* sum [66 129 1] */
        const int group = section_group - 1;
        const int number = group * 32 + item;
        if (number < 1) {
            float acc0 = (float)(0.0f);
            {
                float sum1_0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int cut1 = 0; cut1 < 66; cut1 += 64) {
                    const int end1 = min(cut1 + 64, (int)66);
                    float sum0_0 = (float)(0.0f);
                    #pragma unroll 1
                    #pragma clang loop vectorize(disable)
                    for (int i0 = cut1; i0 < end1; i0 += 1) {
                        #pragma unroll 1
                        #pragma clang loop vectorize(disable)
                        for (int cut0 = 0; cut0 < 129; cut0 += 128) {
                            const int end0 = min(cut0 + 128, (int)129);
                            acc0 = (float)(0.0f);
                            #pragma unroll 4
                            #pragma clang loop vectorize(disable)
                            for (int i1 = cut0; i1 < end0; i1 += 1) {
                                const float t21 = v3[2193 * i0 + 17 * i1];
                                acc0 += t21;
                            }
                            sum0_0 += acc0;
                        }
                    }
                    sum1_0 += sum0_0;
                }
                acc0 = sum1_0;
            }
            v2[0] = acc0;
        }
    }
    if (section_group >= 2 && section_group < 68) {
        /* sum [66 2 16 | 128 1] */
        const int group = section_group - 2;
        const int number = group * 32 + item;
        if (number < 2112) {
            const int i2 = number % 16;
            const int tile = number / 16;
            const int i1 = tile % 2;
            const int i0 = tile / 2;
            float acc0 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int i3 = 0; i3 < 128; i3 += 32) {
                float t22 = (float)(0x0p+0f);
                if (((128 * i1 + i3 <= 128))) {
                    const float t23 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3];
                    t22 = t23;
                }
                float t24 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 1 <= 128))) {
                    const float t25 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 17];
                    t24 = t25;
                }
                float t26 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 2 <= 128))) {
                    const float t27 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 34];
                    t26 = t27;
                }
                float t28 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 3 <= 128))) {
                    const float t29 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 51];
                    t28 = t29;
                }
                float t30 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 4 <= 128))) {
                    const float t31 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 68];
                    t30 = t31;
                }
                float t32 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 5 <= 128))) {
                    const float t33 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 85];
                    t32 = t33;
                }
                float t34 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 6 <= 128))) {
                    const float t35 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 102];
                    t34 = t35;
                }
                float t36 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 7 <= 128))) {
                    const float t37 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 119];
                    t36 = t37;
                }
                float t38 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 8 <= 128))) {
                    const float t39 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 136];
                    t38 = t39;
                }
                float t40 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 9 <= 128))) {
                    const float t41 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 153];
                    t40 = t41;
                }
                float t42 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 10 <= 128))) {
                    const float t43 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 170];
                    t42 = t43;
                }
                float t44 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 11 <= 128))) {
                    const float t45 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 187];
                    t44 = t45;
                }
                float t46 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 12 <= 128))) {
                    const float t47 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 204];
                    t46 = t47;
                }
                float t48 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 13 <= 128))) {
                    const float t49 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 221];
                    t48 = t49;
                }
                float t50 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 14 <= 128))) {
                    const float t51 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 238];
                    t50 = t51;
                }
                float t52 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 15 <= 128))) {
                    const float t53 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 255];
                    t52 = t53;
                }
                float t54 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 16 <= 128))) {
                    const float t55 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 272];
                    t54 = t55;
                }
                float t56 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 17 <= 128))) {
                    const float t57 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 289];
                    t56 = t57;
                }
                float t58 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 18 <= 128))) {
                    const float t59 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 306];
                    t58 = t59;
                }
                float t60 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 19 <= 128))) {
                    const float t61 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 323];
                    t60 = t61;
                }
                float t62 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 20 <= 128))) {
                    const float t63 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 340];
                    t62 = t63;
                }
                float t64 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 21 <= 128))) {
                    const float t65 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 357];
                    t64 = t65;
                }
                float t66 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 22 <= 128))) {
                    const float t67 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 374];
                    t66 = t67;
                }
                float t68 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 23 <= 128))) {
                    const float t69 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 391];
                    t68 = t69;
                }
                float t70 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 24 <= 128))) {
                    const float t71 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 408];
                    t70 = t71;
                }
                float t72 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 25 <= 128))) {
                    const float t73 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 425];
                    t72 = t73;
                }
                float t74 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 26 <= 128))) {
                    const float t75 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 442];
                    t74 = t75;
                }
                float t76 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 27 <= 128))) {
                    const float t77 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 459];
                    t76 = t77;
                }
                float t78 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 28 <= 128))) {
                    const float t79 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 476];
                    t78 = t79;
                }
                float t80 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 29 <= 128))) {
                    const float t81 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 493];
                    t80 = t81;
                }
                float t82 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 30 <= 128))) {
                    const float t83 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 510];
                    t82 = t83;
                }
                float t84 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 31 <= 128))) {
                    const float t85 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 527];
                    t84 = t85;
                }
                float t86 = (float)(0x0p+0f);
                if (((128 * i1 + i3 <= 128))) {
                    const float t87 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3];
                    t86 = t87;
                }
                acc0 += t86;
                float t88 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 1 <= 128))) {
                    const float t89 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 17];
                    t88 = t89;
                }
                acc0 += t88;
                float t90 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 2 <= 128))) {
                    const float t91 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 34];
                    t90 = t91;
                }
                acc0 += t90;
                float t92 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 3 <= 128))) {
                    const float t93 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 51];
                    t92 = t93;
                }
                acc0 += t92;
                float t94 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 4 <= 128))) {
                    const float t95 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 68];
                    t94 = t95;
                }
                acc0 += t94;
                float t96 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 5 <= 128))) {
                    const float t97 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 85];
                    t96 = t97;
                }
                acc0 += t96;
                float t98 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 6 <= 128))) {
                    const float t99 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 102];
                    t98 = t99;
                }
                acc0 += t98;
                float t100 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 7 <= 128))) {
                    const float t101 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 119];
                    t100 = t101;
                }
                acc0 += t100;
                float t102 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 8 <= 128))) {
                    const float t103 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 136];
                    t102 = t103;
                }
                acc0 += t102;
                float t104 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 9 <= 128))) {
                    const float t105 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 153];
                    t104 = t105;
                }
                acc0 += t104;
                float t106 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 10 <= 128))) {
                    const float t107 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 170];
                    t106 = t107;
                }
                acc0 += t106;
                float t108 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 11 <= 128))) {
                    const float t109 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 187];
                    t108 = t109;
                }
                acc0 += t108;
                float t110 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 12 <= 128))) {
                    const float t111 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 204];
                    t110 = t111;
                }
                acc0 += t110;
                float t112 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 13 <= 128))) {
                    const float t113 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 221];
                    t112 = t113;
                }
                acc0 += t112;
                float t114 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 14 <= 128))) {
                    const float t115 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 238];
                    t114 = t115;
                }
                acc0 += t114;
                float t116 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 15 <= 128))) {
                    const float t117 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 255];
                    t116 = t117;
                }
                acc0 += t116;
                float t118 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 16 <= 128))) {
                    const float t119 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 272];
                    t118 = t119;
                }
                acc0 += t118;
                float t120 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 17 <= 128))) {
                    const float t121 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 289];
                    t120 = t121;
                }
                acc0 += t120;
                float t122 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 18 <= 128))) {
                    const float t123 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 306];
                    t122 = t123;
                }
                acc0 += t122;
                float t124 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 19 <= 128))) {
                    const float t125 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 323];
                    t124 = t125;
                }
                acc0 += t124;
                float t126 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 20 <= 128))) {
                    const float t127 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 340];
                    t126 = t127;
                }
                acc0 += t126;
                float t128 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 21 <= 128))) {
                    const float t129 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 357];
                    t128 = t129;
                }
                acc0 += t128;
                float t130 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 22 <= 128))) {
                    const float t131 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 374];
                    t130 = t131;
                }
                acc0 += t130;
                float t132 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 23 <= 128))) {
                    const float t133 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 391];
                    t132 = t133;
                }
                acc0 += t132;
                float t134 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 24 <= 128))) {
                    const float t135 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 408];
                    t134 = t135;
                }
                acc0 += t134;
                float t136 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 25 <= 128))) {
                    const float t137 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 425];
                    t136 = t137;
                }
                acc0 += t136;
                float t138 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 26 <= 128))) {
                    const float t139 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 442];
                    t138 = t139;
                }
                acc0 += t138;
                float t140 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 27 <= 128))) {
                    const float t141 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 459];
                    t140 = t141;
                }
                acc0 += t140;
                float t142 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 28 <= 128))) {
                    const float t143 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 476];
                    t142 = t143;
                }
                acc0 += t142;
                float t144 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 29 <= 128))) {
                    const float t145 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 493];
                    t144 = t145;
                }
                acc0 += t144;
                float t146 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 30 <= 128))) {
                    const float t147 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 510];
                    t146 = t147;
                }
                acc0 += t146;
                float t148 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 31 <= 128))) {
                    const float t149 = v5[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 527];
                    t148 = t149;
                }
                acc0 += t148;
            }
            v4[32 * i0 + 16 * i1 + i2] = acc0;
        }
    }
    if (section_group >= 68 && section_group < 82) {
        /* sum [32 14 | 3 40] */
        const int group = section_group - 68;
        const int team = group * 2 + item / 16;
        if (team < 28) {
            const int b = team / 14;
            const int tile = team % 14;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b6 = v6 + 224L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int i2 = 0; i2 < 3; i2 += 1) {
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int i3 = 0; i3 < 40; i3 += 20) {
                    float t150 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t151 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3];
                        t150 = t151;
                    }
                    float t152 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t153 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 1];
                        t152 = t153;
                    }
                    float t154 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t155 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 2];
                        t154 = t155;
                    }
                    float t156 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t157 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 3];
                        t156 = t157;
                    }
                    float t158 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t159 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 4];
                        t158 = t159;
                    }
                    float t160 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t161 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 5];
                        t160 = t161;
                    }
                    float t162 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t163 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 6];
                        t162 = t163;
                    }
                    float t164 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t165 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 7];
                        t164 = t165;
                    }
                    float t166 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t167 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 8];
                        t166 = t167;
                    }
                    float t168 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t169 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 9];
                        t168 = t169;
                    }
                    float t170 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t171 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 10];
                        t170 = t171;
                    }
                    float t172 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t173 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 11];
                        t172 = t173;
                    }
                    float t174 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t175 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 12];
                        t174 = t175;
                    }
                    float t176 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t177 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 13];
                        t176 = t177;
                    }
                    float t178 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t179 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 14];
                        t178 = t179;
                    }
                    float t180 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t181 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 15];
                        t180 = t181;
                    }
                    float t182 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t183 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 16];
                        t182 = t183;
                    }
                    float t184 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t185 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 17];
                        t184 = t185;
                    }
                    float t186 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t187 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 18];
                        t186 = t187;
                    }
                    float t188 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t189 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 19];
                        t188 = t189;
                    }
                    float t190 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t191 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3];
                        t190 = t191;
                    }
                    acc0 += t190;
                    float t192 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t193 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 1];
                        t192 = t193;
                    }
                    acc0 += t192;
                    float t194 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t195 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 2];
                        t194 = t195;
                    }
                    acc0 += t194;
                    float t196 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t197 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 3];
                        t196 = t197;
                    }
                    acc0 += t196;
                    float t198 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t199 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 4];
                        t198 = t199;
                    }
                    acc0 += t198;
                    float t200 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t201 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 5];
                        t200 = t201;
                    }
                    acc0 += t200;
                    float t202 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t203 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 6];
                        t202 = t203;
                    }
                    acc0 += t202;
                    float t204 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t205 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 7];
                        t204 = t205;
                    }
                    acc0 += t204;
                    float t206 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t207 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 8];
                        t206 = t207;
                    }
                    acc0 += t206;
                    float t208 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t209 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 9];
                        t208 = t209;
                    }
                    acc0 += t208;
                    float t210 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t211 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 10];
                        t210 = t211;
                    }
                    acc0 += t210;
                    float t212 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t213 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 11];
                        t212 = t213;
                    }
                    acc0 += t212;
                    float t214 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t215 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 12];
                        t214 = t215;
                    }
                    acc0 += t214;
                    float t216 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t217 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 13];
                        t216 = t217;
                    }
                    acc0 += t216;
                    float t218 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t219 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 14];
                        t218 = t219;
                    }
                    acc0 += t218;
                    float t220 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t221 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 15];
                        t220 = t221;
                    }
                    acc0 += t220;
                    float t222 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t223 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 16];
                        t222 = t223;
                    }
                    acc0 += t222;
                    float t224 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t225 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 17];
                        t224 = t225;
                    }
                    acc0 += t224;
                    float t226 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t227 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 18];
                        t226 = t227;
                    }
                    acc0 += t226;
                    float t228 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t229 = v7[1600 * sample + 120 * i1 + 40 * i2 + i3 + 19];
                        t228 = t229;
                    }
                    acc0 += t228;
                }
            }
            b6[16 * (i1)] = acc0;
        }
    }
}


/* sum sum sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_c06625e926246d26(__global uchar *arena, __global const ulong *offset, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[34];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [1] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [2112] */
    __global float *v2 = (__global float *)(output0); /* [1,1,1] */
    __global float *v3 = (__global float *)(arena + offset[2]); /* [1] */
    __global float *v4 = (__global float *)(arena + offset[3]); /* [2,1] */
    __global float *v5 = (__global float *)(arena + offset[4]); /* [32,14] blocked */
    if (section_group >= 0 && section_group < 1) {
        /* sum [66 2 16] */
        const int group = section_group - 0;
        const int team = item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        float acc0 = (float)(0.0f);
        {
            float sum0_0 = (float)(0.0f);
            #pragma unroll 1
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 66; cut0 += 64) {
                const int end0 = min(cut0 + 64, (int)66);
                acc0 = (float)(0.0f);
                #pragma unroll 1
                #pragma clang loop vectorize(disable)
                for (int i0 = cut0; i0 < end0; i0 += 1) {
                    #pragma unroll 4
                    #pragma clang loop vectorize(disable)
                    for (int i1 = 0; i1 < 2; i1 += 1) {
                        const int i2 = lane;
                        const float t1 = v1[32 * i0 + 16 * i1 + i2];
                        acc0 += t1;
                    }
                }
                sum0_0 += acc0;
            }
            acc0 = sum0_0;
        }
        lanes[0 + lane] = acc0;
    }
    if (section_group >= 1 && section_group < 3) {
        /* sum [32 14], one row a group */
        const int group = section_group - 1;
        const int share = group / 1;
        const int b = share * 2 / 2;
        const int team = (group % 1) * 2 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b5 = v5 + 224L * b + lane;
        float acc0 = (float)(0.0f);
        #pragma unroll 1
        #pragma clang loop vectorize(disable)
        for (int i1 = 0; i1 < 14; i1 += 7) {
            const float t2 = b5[16 * (i1)];
            const float t3 = b5[16 * (i1 + 1)];
            const float t4 = b5[16 * (i1 + 2)];
            const float t5 = b5[16 * (i1 + 3)];
            const float t6 = b5[16 * (i1 + 4)];
            const float t7 = b5[16 * (i1 + 5)];
            const float t8 = b5[16 * (i1 + 6)];
            acc0 += t2;
            acc0 += t3;
            acc0 += t4;
            acc0 += t5;
            acc0 += t6;
            acc0 += t7;
            acc0 += t8;
        }
        lanes[0 + lane] = acc0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 1) {
        /* sum [66 2 16] */
        const int group = section_group - 0;
        const int team = item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const float sum0 = tarn_sum_float(vload16(0, lanes + 0));
        float acc0 = 0.0f;
        acc0 += sum0;
        const bool writes = live && lane == 0;
        if (writes) v0[0] = acc0;
    }
    if (section_group >= 1 && section_group < 3) {
        /* sum [32 14], one row a group */
        const int group = section_group - 1;
        const int share = group / 1;
        const int b = share * 2 / 2;
        const int team = (group % 1) * 2 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        if (live && lane == 0) {
            __global float *row = v4 + 1 * share + 0;
            float sum = tarn_sum_float(vload16(0, lanes + 0));
            *row = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 1) {
        /* sum [1] */
        const int group = section_group - 0;
        #pragma unroll 1
        for (int number = item; number < 1; number += 32) {
            float acc0 = (float)(0.0f);
            const float t9 = v3[0];
            const float t10 = v0[0];
            const float t11 = t9 + t10;
            acc0 += t11;
            v2[0] = acc0;
        }
    }
}


/* sum */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_fa2d7f34aec1bf82(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [1,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [1] */
        const int group = section_group - 0;
        const int number = group * 32 + item;
        if (number < 1) {
            float acc0 = (float)(0.0f);
            const float t1 = v1[0];
            const float t2 = v1[1];
            const float t3 = t1 + t2;
            acc0 += t3;
            v0[0] = acc0;
        }
    }
}


