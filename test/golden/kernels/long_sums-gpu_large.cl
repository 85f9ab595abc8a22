/* k0: 13 groups of 256; output 0, input 0, arena 0, at 0, owned 0, input 1; at bytes 0, 64, 640, 768, 0, 9216 */
/* k1: 3 groups of 256; arena 0, at 0, output 1; at bytes 0, 768, 640, 128, 9216 */
/* k2: 1 groups of 256; output 2, arena 0, at 0; at bytes 128 */
/* arena: 11008 bytes */
/* sum sum sum sum sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_6da80a5111710dd9(__global uchar *output0, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *input1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [32,1,1] */
    __global float *v1 = (__global float *)(input0); /* [32,5,40] */
    __global float *v2 = (__global float *)(arena + offset[0]); /* [132] */
    __global float *v3 = (__global float *)(owned0 + offset[1]); /* [66,129,17] */
    __global float *v4 = (__global float *)(arena + offset[2]); /* [1] */
    __global float *v5 = (__global float *)(arena + offset[3]); /* [2112] */
    __global float *v6 = (__global float *)(owned0 + offset[4]); /* [66,129,17] */
    __global float *v7 = (__global float *)(arena + offset[5]); /* [32,14] blocked */
    __global float *v8 = (__global float *)(input1); /* [32,40,40] */
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
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int cut0 = 0; cut0 < 5; cut0 += 3) {
                    const int end0 = min(cut0 + 3, (int)5);
                    acc0 = (float)(0.0f);
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (int i1 = cut0; i1 < end0; i1 += 1) {
                        #pragma nounroll
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
        /* sum [66 2 | 128 1] */
        const int group = section_group - 1;
        #pragma unroll 1
        for (int number = item; number < 132; number += 256) {
            const int i1 = number % 2;
            const int tile = number / 2;
            const int i0 = tile;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i2 = 0; i2 < 128; i2 += 32) {
                float t21 = (float)(0x0p+0f);
                if (((128 * i1 + i2 <= 128))) {
                    const float t22 = v3[2193 * i0 + 2176 * i1 + 17 * i2];
                    t21 = t22;
                }
                float t23 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 1 <= 128))) {
                    const float t24 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 17];
                    t23 = t24;
                }
                float t25 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 2 <= 128))) {
                    const float t26 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 34];
                    t25 = t26;
                }
                float t27 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 3 <= 128))) {
                    const float t28 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 51];
                    t27 = t28;
                }
                float t29 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 4 <= 128))) {
                    const float t30 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 68];
                    t29 = t30;
                }
                float t31 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 5 <= 128))) {
                    const float t32 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 85];
                    t31 = t32;
                }
                float t33 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 6 <= 128))) {
                    const float t34 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 102];
                    t33 = t34;
                }
                float t35 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 7 <= 128))) {
                    const float t36 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 119];
                    t35 = t36;
                }
                float t37 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 8 <= 128))) {
                    const float t38 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 136];
                    t37 = t38;
                }
                float t39 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 9 <= 128))) {
                    const float t40 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 153];
                    t39 = t40;
                }
                float t41 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 10 <= 128))) {
                    const float t42 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 170];
                    t41 = t42;
                }
                float t43 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 11 <= 128))) {
                    const float t44 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 187];
                    t43 = t44;
                }
                float t45 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 12 <= 128))) {
                    const float t46 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 204];
                    t45 = t46;
                }
                float t47 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 13 <= 128))) {
                    const float t48 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 221];
                    t47 = t48;
                }
                float t49 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 14 <= 128))) {
                    const float t50 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 238];
                    t49 = t50;
                }
                float t51 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 15 <= 128))) {
                    const float t52 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 255];
                    t51 = t52;
                }
                float t53 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 16 <= 128))) {
                    const float t54 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 272];
                    t53 = t54;
                }
                float t55 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 17 <= 128))) {
                    const float t56 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 289];
                    t55 = t56;
                }
                float t57 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 18 <= 128))) {
                    const float t58 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 306];
                    t57 = t58;
                }
                float t59 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 19 <= 128))) {
                    const float t60 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 323];
                    t59 = t60;
                }
                float t61 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 20 <= 128))) {
                    const float t62 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 340];
                    t61 = t62;
                }
                float t63 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 21 <= 128))) {
                    const float t64 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 357];
                    t63 = t64;
                }
                float t65 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 22 <= 128))) {
                    const float t66 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 374];
                    t65 = t66;
                }
                float t67 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 23 <= 128))) {
                    const float t68 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 391];
                    t67 = t68;
                }
                float t69 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 24 <= 128))) {
                    const float t70 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 408];
                    t69 = t70;
                }
                float t71 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 25 <= 128))) {
                    const float t72 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 425];
                    t71 = t72;
                }
                float t73 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 26 <= 128))) {
                    const float t74 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 442];
                    t73 = t74;
                }
                float t75 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 27 <= 128))) {
                    const float t76 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 459];
                    t75 = t76;
                }
                float t77 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 28 <= 128))) {
                    const float t78 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 476];
                    t77 = t78;
                }
                float t79 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 29 <= 128))) {
                    const float t80 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 493];
                    t79 = t80;
                }
                float t81 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 30 <= 128))) {
                    const float t82 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 510];
                    t81 = t82;
                }
                float t83 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 31 <= 128))) {
                    const float t84 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 527];
                    t83 = t84;
                }
                float t85 = (float)(0x0p+0f);
                if (((128 * i1 + i2 <= 128))) {
                    const float t86 = v3[2193 * i0 + 2176 * i1 + 17 * i2];
                    t85 = t86;
                }
                acc0 += t85;
                float t87 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 1 <= 128))) {
                    const float t88 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 17];
                    t87 = t88;
                }
                acc0 += t87;
                float t89 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 2 <= 128))) {
                    const float t90 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 34];
                    t89 = t90;
                }
                acc0 += t89;
                float t91 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 3 <= 128))) {
                    const float t92 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 51];
                    t91 = t92;
                }
                acc0 += t91;
                float t93 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 4 <= 128))) {
                    const float t94 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 68];
                    t93 = t94;
                }
                acc0 += t93;
                float t95 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 5 <= 128))) {
                    const float t96 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 85];
                    t95 = t96;
                }
                acc0 += t95;
                float t97 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 6 <= 128))) {
                    const float t98 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 102];
                    t97 = t98;
                }
                acc0 += t97;
                float t99 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 7 <= 128))) {
                    const float t100 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 119];
                    t99 = t100;
                }
                acc0 += t99;
                float t101 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 8 <= 128))) {
                    const float t102 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 136];
                    t101 = t102;
                }
                acc0 += t101;
                float t103 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 9 <= 128))) {
                    const float t104 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 153];
                    t103 = t104;
                }
                acc0 += t103;
                float t105 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 10 <= 128))) {
                    const float t106 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 170];
                    t105 = t106;
                }
                acc0 += t105;
                float t107 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 11 <= 128))) {
                    const float t108 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 187];
                    t107 = t108;
                }
                acc0 += t107;
                float t109 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 12 <= 128))) {
                    const float t110 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 204];
                    t109 = t110;
                }
                acc0 += t109;
                float t111 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 13 <= 128))) {
                    const float t112 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 221];
                    t111 = t112;
                }
                acc0 += t111;
                float t113 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 14 <= 128))) {
                    const float t114 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 238];
                    t113 = t114;
                }
                acc0 += t113;
                float t115 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 15 <= 128))) {
                    const float t116 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 255];
                    t115 = t116;
                }
                acc0 += t115;
                float t117 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 16 <= 128))) {
                    const float t118 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 272];
                    t117 = t118;
                }
                acc0 += t117;
                float t119 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 17 <= 128))) {
                    const float t120 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 289];
                    t119 = t120;
                }
                acc0 += t119;
                float t121 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 18 <= 128))) {
                    const float t122 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 306];
                    t121 = t122;
                }
                acc0 += t121;
                float t123 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 19 <= 128))) {
                    const float t124 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 323];
                    t123 = t124;
                }
                acc0 += t123;
                float t125 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 20 <= 128))) {
                    const float t126 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 340];
                    t125 = t126;
                }
                acc0 += t125;
                float t127 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 21 <= 128))) {
                    const float t128 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 357];
                    t127 = t128;
                }
                acc0 += t127;
                float t129 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 22 <= 128))) {
                    const float t130 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 374];
                    t129 = t130;
                }
                acc0 += t129;
                float t131 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 23 <= 128))) {
                    const float t132 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 391];
                    t131 = t132;
                }
                acc0 += t131;
                float t133 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 24 <= 128))) {
                    const float t134 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 408];
                    t133 = t134;
                }
                acc0 += t133;
                float t135 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 25 <= 128))) {
                    const float t136 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 425];
                    t135 = t136;
                }
                acc0 += t135;
                float t137 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 26 <= 128))) {
                    const float t138 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 442];
                    t137 = t138;
                }
                acc0 += t137;
                float t139 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 27 <= 128))) {
                    const float t140 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 459];
                    t139 = t140;
                }
                acc0 += t139;
                float t141 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 28 <= 128))) {
                    const float t142 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 476];
                    t141 = t142;
                }
                acc0 += t141;
                float t143 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 29 <= 128))) {
                    const float t144 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 493];
                    t143 = t144;
                }
                acc0 += t143;
                float t145 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 30 <= 128))) {
                    const float t146 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 510];
                    t145 = t146;
                }
                acc0 += t145;
                float t147 = (float)(0x0p+0f);
                if (((128 * i1 + i2 + 31 <= 128))) {
                    const float t148 = v3[2193 * i0 + 2176 * i1 + 17 * i2 + 527];
                    t147 = t148;
                }
                acc0 += t147;
            }
            v2[2 * i0 + i1] = acc0;
        }
    }
    if (section_group >= 2 && section_group < 11) {
        /* sum [66 2 16 | 128 1] */
        const int group = section_group - 2;
        const int number = group * 256 + item;
        if (number < 2112) {
            const int i2 = number % 16;
            const int tile = number / 16;
            const int i1 = tile % 2;
            const int i0 = tile / 2;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i3 = 0; i3 < 128; i3 += 32) {
                float t149 = (float)(0x0p+0f);
                if (((128 * i1 + i3 <= 128))) {
                    const float t150 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3];
                    t149 = t150;
                }
                float t151 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 1 <= 128))) {
                    const float t152 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 17];
                    t151 = t152;
                }
                float t153 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 2 <= 128))) {
                    const float t154 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 34];
                    t153 = t154;
                }
                float t155 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 3 <= 128))) {
                    const float t156 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 51];
                    t155 = t156;
                }
                float t157 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 4 <= 128))) {
                    const float t158 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 68];
                    t157 = t158;
                }
                float t159 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 5 <= 128))) {
                    const float t160 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 85];
                    t159 = t160;
                }
                float t161 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 6 <= 128))) {
                    const float t162 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 102];
                    t161 = t162;
                }
                float t163 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 7 <= 128))) {
                    const float t164 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 119];
                    t163 = t164;
                }
                float t165 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 8 <= 128))) {
                    const float t166 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 136];
                    t165 = t166;
                }
                float t167 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 9 <= 128))) {
                    const float t168 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 153];
                    t167 = t168;
                }
                float t169 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 10 <= 128))) {
                    const float t170 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 170];
                    t169 = t170;
                }
                float t171 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 11 <= 128))) {
                    const float t172 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 187];
                    t171 = t172;
                }
                float t173 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 12 <= 128))) {
                    const float t174 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 204];
                    t173 = t174;
                }
                float t175 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 13 <= 128))) {
                    const float t176 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 221];
                    t175 = t176;
                }
                float t177 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 14 <= 128))) {
                    const float t178 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 238];
                    t177 = t178;
                }
                float t179 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 15 <= 128))) {
                    const float t180 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 255];
                    t179 = t180;
                }
                float t181 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 16 <= 128))) {
                    const float t182 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 272];
                    t181 = t182;
                }
                float t183 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 17 <= 128))) {
                    const float t184 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 289];
                    t183 = t184;
                }
                float t185 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 18 <= 128))) {
                    const float t186 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 306];
                    t185 = t186;
                }
                float t187 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 19 <= 128))) {
                    const float t188 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 323];
                    t187 = t188;
                }
                float t189 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 20 <= 128))) {
                    const float t190 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 340];
                    t189 = t190;
                }
                float t191 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 21 <= 128))) {
                    const float t192 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 357];
                    t191 = t192;
                }
                float t193 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 22 <= 128))) {
                    const float t194 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 374];
                    t193 = t194;
                }
                float t195 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 23 <= 128))) {
                    const float t196 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 391];
                    t195 = t196;
                }
                float t197 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 24 <= 128))) {
                    const float t198 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 408];
                    t197 = t198;
                }
                float t199 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 25 <= 128))) {
                    const float t200 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 425];
                    t199 = t200;
                }
                float t201 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 26 <= 128))) {
                    const float t202 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 442];
                    t201 = t202;
                }
                float t203 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 27 <= 128))) {
                    const float t204 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 459];
                    t203 = t204;
                }
                float t205 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 28 <= 128))) {
                    const float t206 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 476];
                    t205 = t206;
                }
                float t207 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 29 <= 128))) {
                    const float t208 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 493];
                    t207 = t208;
                }
                float t209 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 30 <= 128))) {
                    const float t210 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 510];
                    t209 = t210;
                }
                float t211 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 31 <= 128))) {
                    const float t212 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 527];
                    t211 = t212;
                }
                float t213 = (float)(0x0p+0f);
                if (((128 * i1 + i3 <= 128))) {
                    const float t214 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3];
                    t213 = t214;
                }
                acc0 += t213;
                float t215 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 1 <= 128))) {
                    const float t216 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 17];
                    t215 = t216;
                }
                acc0 += t215;
                float t217 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 2 <= 128))) {
                    const float t218 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 34];
                    t217 = t218;
                }
                acc0 += t217;
                float t219 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 3 <= 128))) {
                    const float t220 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 51];
                    t219 = t220;
                }
                acc0 += t219;
                float t221 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 4 <= 128))) {
                    const float t222 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 68];
                    t221 = t222;
                }
                acc0 += t221;
                float t223 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 5 <= 128))) {
                    const float t224 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 85];
                    t223 = t224;
                }
                acc0 += t223;
                float t225 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 6 <= 128))) {
                    const float t226 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 102];
                    t225 = t226;
                }
                acc0 += t225;
                float t227 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 7 <= 128))) {
                    const float t228 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 119];
                    t227 = t228;
                }
                acc0 += t227;
                float t229 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 8 <= 128))) {
                    const float t230 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 136];
                    t229 = t230;
                }
                acc0 += t229;
                float t231 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 9 <= 128))) {
                    const float t232 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 153];
                    t231 = t232;
                }
                acc0 += t231;
                float t233 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 10 <= 128))) {
                    const float t234 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 170];
                    t233 = t234;
                }
                acc0 += t233;
                float t235 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 11 <= 128))) {
                    const float t236 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 187];
                    t235 = t236;
                }
                acc0 += t235;
                float t237 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 12 <= 128))) {
                    const float t238 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 204];
                    t237 = t238;
                }
                acc0 += t237;
                float t239 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 13 <= 128))) {
                    const float t240 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 221];
                    t239 = t240;
                }
                acc0 += t239;
                float t241 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 14 <= 128))) {
                    const float t242 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 238];
                    t241 = t242;
                }
                acc0 += t241;
                float t243 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 15 <= 128))) {
                    const float t244 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 255];
                    t243 = t244;
                }
                acc0 += t243;
                float t245 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 16 <= 128))) {
                    const float t246 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 272];
                    t245 = t246;
                }
                acc0 += t245;
                float t247 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 17 <= 128))) {
                    const float t248 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 289];
                    t247 = t248;
                }
                acc0 += t247;
                float t249 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 18 <= 128))) {
                    const float t250 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 306];
                    t249 = t250;
                }
                acc0 += t249;
                float t251 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 19 <= 128))) {
                    const float t252 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 323];
                    t251 = t252;
                }
                acc0 += t251;
                float t253 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 20 <= 128))) {
                    const float t254 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 340];
                    t253 = t254;
                }
                acc0 += t253;
                float t255 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 21 <= 128))) {
                    const float t256 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 357];
                    t255 = t256;
                }
                acc0 += t255;
                float t257 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 22 <= 128))) {
                    const float t258 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 374];
                    t257 = t258;
                }
                acc0 += t257;
                float t259 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 23 <= 128))) {
                    const float t260 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 391];
                    t259 = t260;
                }
                acc0 += t259;
                float t261 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 24 <= 128))) {
                    const float t262 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 408];
                    t261 = t262;
                }
                acc0 += t261;
                float t263 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 25 <= 128))) {
                    const float t264 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 425];
                    t263 = t264;
                }
                acc0 += t263;
                float t265 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 26 <= 128))) {
                    const float t266 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 442];
                    t265 = t266;
                }
                acc0 += t265;
                float t267 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 27 <= 128))) {
                    const float t268 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 459];
                    t267 = t268;
                }
                acc0 += t267;
                float t269 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 28 <= 128))) {
                    const float t270 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 476];
                    t269 = t270;
                }
                acc0 += t269;
                float t271 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 29 <= 128))) {
                    const float t272 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 493];
                    t271 = t272;
                }
                acc0 += t271;
                float t273 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 30 <= 128))) {
                    const float t274 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 510];
                    t273 = t274;
                }
                acc0 += t273;
                float t275 = (float)(0x0p+0f);
                if (((128 * i1 + i3 + 31 <= 128))) {
                    const float t276 = v6[2193 * i0 + 2176 * i1 + i2 + 17 * i3 + 527];
                    t275 = t276;
                }
                acc0 += t275;
            }
            v5[32 * i0 + 16 * i1 + i2] = acc0;
        }
    }
    if (section_group >= 11 && section_group < 13) {
        /* sum [32 14 | 3 40] */
        const int group = section_group - 11;
        const int team = group * 16 + item / 16;
        if (team < 28) {
            const int b = team / 14;
            const int tile = team % 14;
            const int i1 = tile;
            const int sample = 16 * b + lane;
            __global float *b7 = v7 + 224L * b + lane;
            float acc0 = (float)(0.0f);
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int i2 = 0; i2 < 3; i2 += 1) {
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i3 = 0; i3 < 40; i3 += 20) {
                    float t277 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t278 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3];
                        t277 = t278;
                    }
                    float t279 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t280 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 1];
                        t279 = t280;
                    }
                    float t281 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t282 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 2];
                        t281 = t282;
                    }
                    float t283 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t284 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 3];
                        t283 = t284;
                    }
                    float t285 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t286 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 4];
                        t285 = t286;
                    }
                    float t287 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t288 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 5];
                        t287 = t288;
                    }
                    float t289 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t290 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 6];
                        t289 = t290;
                    }
                    float t291 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t292 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 7];
                        t291 = t292;
                    }
                    float t293 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t294 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 8];
                        t293 = t294;
                    }
                    float t295 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t296 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 9];
                        t295 = t296;
                    }
                    float t297 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t298 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 10];
                        t297 = t298;
                    }
                    float t299 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t300 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 11];
                        t299 = t300;
                    }
                    float t301 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t302 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 12];
                        t301 = t302;
                    }
                    float t303 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t304 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 13];
                        t303 = t304;
                    }
                    float t305 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t306 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 14];
                        t305 = t306;
                    }
                    float t307 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t308 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 15];
                        t307 = t308;
                    }
                    float t309 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t310 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 16];
                        t309 = t310;
                    }
                    float t311 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t312 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 17];
                        t311 = t312;
                    }
                    float t313 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t314 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 18];
                        t313 = t314;
                    }
                    float t315 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t316 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 19];
                        t315 = t316;
                    }
                    float t317 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t318 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3];
                        t317 = t318;
                    }
                    acc0 += t317;
                    float t319 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t320 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 1];
                        t319 = t320;
                    }
                    acc0 += t319;
                    float t321 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t322 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 2];
                        t321 = t322;
                    }
                    acc0 += t321;
                    float t323 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t324 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 3];
                        t323 = t324;
                    }
                    acc0 += t323;
                    float t325 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t326 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 4];
                        t325 = t326;
                    }
                    acc0 += t325;
                    float t327 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t328 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 5];
                        t327 = t328;
                    }
                    acc0 += t327;
                    float t329 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t330 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 6];
                        t329 = t330;
                    }
                    acc0 += t329;
                    float t331 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t332 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 7];
                        t331 = t332;
                    }
                    acc0 += t331;
                    float t333 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t334 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 8];
                        t333 = t334;
                    }
                    acc0 += t333;
                    float t335 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t336 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 9];
                        t335 = t336;
                    }
                    acc0 += t335;
                    float t337 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t338 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 10];
                        t337 = t338;
                    }
                    acc0 += t337;
                    float t339 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t340 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 11];
                        t339 = t340;
                    }
                    acc0 += t339;
                    float t341 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t342 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 12];
                        t341 = t342;
                    }
                    acc0 += t341;
                    float t343 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t344 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 13];
                        t343 = t344;
                    }
                    acc0 += t343;
                    float t345 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t346 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 14];
                        t345 = t346;
                    }
                    acc0 += t345;
                    float t347 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t348 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 15];
                        t347 = t348;
                    }
                    acc0 += t347;
                    float t349 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t350 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 16];
                        t349 = t350;
                    }
                    acc0 += t349;
                    float t351 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t352 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 17];
                        t351 = t352;
                    }
                    acc0 += t351;
                    float t353 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t354 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 18];
                        t353 = t354;
                    }
                    acc0 += t353;
                    float t355 = (float)(0x0p+0f);
                    if (((3 * i1 + i2 <= 39))) {
                        const float t356 = v8[1600 * sample + 120 * i1 + 40 * i2 + i3 + 19];
                        t355 = t356;
                    }
                    acc0 += t355;
                }
            }
            b7[16 * (i1)] = acc0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (section_group >= 1 && section_group < 2) {
        /* sum [66 2 1] */
        const int group = section_group - 1;
        #pragma unroll 1
        for (int number = item; number < 1; number += 256) {
            float acc0 = (float)(0.0f);
            {
                float sum0_0 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int cut0 = 0; cut0 < 66; cut0 += 64) {
                    const int end0 = min(cut0 + 64, (int)66);
                    acc0 = (float)(0.0f);
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (int i0 = cut0; i0 < end0; i0 += 1) {
                        #pragma unroll 4
                        #pragma clang loop vectorize(disable)
                        for (int i1 = 0; i1 < 2; i1 += 1) {
                            const float t357 = v2[2 * i0 + i1];
                            acc0 += t357;
                        }
                    }
                    sum0_0 += acc0;
                }
                acc0 = sum0_0;
            }
            v4[0] = acc0;
        }
    }
}


/* sum sum sum */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_75b6f5f5f84fdba8(__global uchar *arena, __global const ulong *offset, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[272];
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
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 66; cut0 += 64) {
                const int end0 = min(cut0 + 64, (int)66);
                acc0 = (float)(0.0f);
                #pragma nounroll
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
        const int team = (group % 1) * 16 + item / 16;
        const bool live = team < 1;
        const int tile = live ? team : 0;
        __local float *lanes = (__local float *)exchange + 17 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b5 = v5 + 224L * b + lane;
        float acc0 = (float)(0.0f);
        #pragma nounroll
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
        const int team = (group % 1) * 16 + item / 16;
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
        for (int number = item; number < 1; number += 256) {
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
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k_90694c460693d256(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [1,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1] */
    if (section_group >= 0 && section_group < 1) {
        /* sum [1] */
        const int group = section_group - 0;
        const int number = group * 256 + item;
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


