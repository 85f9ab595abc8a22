/* k0: 1 groups of 1; skip 0, input 0, arena 0, at 0, owned 0, output 0; at bytes 0, 0 */
/* arena: 9216 bytes */
/* input winograd input winograd weight winograd product winograd result winograd result */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_27bf6eeb2dd273cd(const int skip, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *output0)
{
    const int section_group = (int)get_group_id(0) + skip;
    __local float16 scratch[776];
    __local float *v0 = (__local float *)((__local uchar *)scratch + 0); /* [16,8,6,6] blocked */
    __global float *v1 = (__global float *)(input0); /* [16,8,6,6] */
    __local float *v2 = (__local float *)((__local uchar *)scratch + 28928); /* [16,6,6,9] blocked */
    __global float *v3 = (__global float *)(arena + offset[0]); /* [6,6,64] */
    __global float *v4 = (__global float *)(owned0 + offset[1]); /* [8,8,3,3] */
    __local float *v5 = (__local float *)((__local uchar *)scratch + 8192); /* [16,6,6,9] blocked */
    __local float *v6 = (__local float *)((__local uchar *)scratch + 0); /* [16,8,4,4] blocked */
    __global float *v7 = (__global float *)(output0); /* [16,8,4,4] */
    /* input */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        v3 += 2304 * group;
        /* winograd weight [64 6 6 | 3 3] */
        {
            long i0 = 0;
            #pragma unroll 1
            for (; i0 + 16 <= 64; i0 += 16) {
                const long t1 = 9 * i0;
                const float16 t2 = (float16)(v4[t1 + 0], v4[t1 + 9], v4[t1 + 18], v4[t1 + 27], v4[t1 + 36], v4[t1 + 45], v4[t1 + 54], v4[t1 + 63], v4[t1 + 72], v4[t1 + 81], v4[t1 + 90], v4[t1 + 99], v4[t1 + 108], v4[t1 + 117], v4[t1 + 126], v4[t1 + 135]);
                const float16 t3 = t2 * (float16)(0x1p-2f);
                const float16 t4 = t3 * (float16)(0x1p-2f);
                TARN_STORE(__global, float, t4, v3 + i0);
                const long t5 = 9 * i0 + 2;
                const float16 t6 = (float16)(v4[t5 + 0], v4[t5 + 9], v4[t5 + 18], v4[t5 + 27], v4[t5 + 36], v4[t5 + 45], v4[t5 + 54], v4[t5 + 63], v4[t5 + 72], v4[t5 + 81], v4[t5 + 90], v4[t5 + 99], v4[t5 + 108], v4[t5 + 117], v4[t5 + 126], v4[t5 + 135]);
                const float16 t7 = fma(t6, (float16)(0x1.555556p-3f), t2 * (float16)(0x1.555556p-3f));
                const long t8 = 9 * i0 + 1;
                const float16 t9 = (float16)(v4[t8 + 0], v4[t8 + 9], v4[t8 + 18], v4[t8 + 27], v4[t8 + 36], v4[t8 + 45], v4[t8 + 54], v4[t8 + 63], v4[t8 + 72], v4[t8 + 81], v4[t8 + 90], v4[t8 + 99], v4[t8 + 108], v4[t8 + 117], v4[t8 + 126], v4[t8 + 135]);
                const float16 t10 = t9 * (float16)(0x1.555556p-3f);
                const float16 t11 = (-t7) - t10;
                const float16 t12 = t11 * (float16)(0x1p-2f);
                TARN_STORE(__global, float, t12, v3 + i0 + 64);
                const float16 t13 = (-t7) + t10;
                const float16 t14 = t13 * (float16)(0x1p-2f);
                TARN_STORE(__global, float, t14, v3 + i0 + 128);
                const float16 t15 = fma(t6, (float16)(0x1.555556p-3f), t2 * (float16)(0x1.555556p-5f));
                const float16 t16 = t9 * (float16)(0x1.555556p-4f);
                const float16 t17 = (t15) + t16;
                const float16 t18 = t17 * (float16)(0x1p-2f);
                TARN_STORE(__global, float, t18, v3 + i0 + 192);
                const float16 t19 = (t15) - t16;
                const float16 t20 = t19 * (float16)(0x1p-2f);
                TARN_STORE(__global, float, t20, v3 + i0 + 256);
                const float16 t21 = t6 * (float16)(0x1p-2f);
                TARN_STORE(__global, float, t21, v3 + i0 + 320);
                const long t22 = 9 * i0 + 6;
                const float16 t23 = (float16)(v4[t22 + 0], v4[t22 + 9], v4[t22 + 18], v4[t22 + 27], v4[t22 + 36], v4[t22 + 45], v4[t22 + 54], v4[t22 + 63], v4[t22 + 72], v4[t22 + 81], v4[t22 + 90], v4[t22 + 99], v4[t22 + 108], v4[t22 + 117], v4[t22 + 126], v4[t22 + 135]);
                const float16 t24 = t23 * (float16)(0x1p-2f);
                const float16 t25 = fma(t24, (float16)(0x1.555556p-3f), t3 * (float16)(0x1.555556p-3f));
                const long t26 = 9 * i0 + 3;
                const float16 t27 = (float16)(v4[t26 + 0], v4[t26 + 9], v4[t26 + 18], v4[t26 + 27], v4[t26 + 36], v4[t26 + 45], v4[t26 + 54], v4[t26 + 63], v4[t26 + 72], v4[t26 + 81], v4[t26 + 90], v4[t26 + 99], v4[t26 + 108], v4[t26 + 117], v4[t26 + 126], v4[t26 + 135]);
                const float16 t28 = t27 * (float16)(0x1p-2f);
                const float16 t29 = t28 * (float16)(0x1.555556p-3f);
                const float16 t30 = (-t25) - t29;
                TARN_STORE(__global, float, t30, v3 + i0 + 384);
                const long t31 = 9 * i0 + 8;
                const float16 t32 = (float16)(v4[t31 + 0], v4[t31 + 9], v4[t31 + 18], v4[t31 + 27], v4[t31 + 36], v4[t31 + 45], v4[t31 + 54], v4[t31 + 63], v4[t31 + 72], v4[t31 + 81], v4[t31 + 90], v4[t31 + 99], v4[t31 + 108], v4[t31 + 117], v4[t31 + 126], v4[t31 + 135]);
                const float16 t33 = fma(t32, (float16)(0x1.555556p-3f), t23 * (float16)(0x1.555556p-3f));
                const long t34 = 9 * i0 + 7;
                const float16 t35 = (float16)(v4[t34 + 0], v4[t34 + 9], v4[t34 + 18], v4[t34 + 27], v4[t34 + 36], v4[t34 + 45], v4[t34 + 54], v4[t34 + 63], v4[t34 + 72], v4[t34 + 81], v4[t34 + 90], v4[t34 + 99], v4[t34 + 108], v4[t34 + 117], v4[t34 + 126], v4[t34 + 135]);
                const float16 t36 = t35 * (float16)(0x1.555556p-3f);
                const float16 t37 = (-t33) - t36;
                const float16 t38 = fma(t37, (float16)(0x1.555556p-3f), t11 * (float16)(0x1.555556p-3f));
                const long t39 = 9 * i0 + 5;
                const float16 t40 = (float16)(v4[t39 + 0], v4[t39 + 9], v4[t39 + 18], v4[t39 + 27], v4[t39 + 36], v4[t39 + 45], v4[t39 + 54], v4[t39 + 63], v4[t39 + 72], v4[t39 + 81], v4[t39 + 90], v4[t39 + 99], v4[t39 + 108], v4[t39 + 117], v4[t39 + 126], v4[t39 + 135]);
                const float16 t41 = fma(t40, (float16)(0x1.555556p-3f), t27 * (float16)(0x1.555556p-3f));
                const long t42 = 9 * i0 + 4;
                const float16 t43 = (float16)(v4[t42 + 0], v4[t42 + 9], v4[t42 + 18], v4[t42 + 27], v4[t42 + 36], v4[t42 + 45], v4[t42 + 54], v4[t42 + 63], v4[t42 + 72], v4[t42 + 81], v4[t42 + 90], v4[t42 + 99], v4[t42 + 108], v4[t42 + 117], v4[t42 + 126], v4[t42 + 135]);
                const float16 t44 = t43 * (float16)(0x1.555556p-3f);
                const float16 t45 = (-t41) - t44;
                const float16 t46 = t45 * (float16)(0x1.555556p-3f);
                const float16 t47 = (-t38) - t46;
                TARN_STORE(__global, float, t47, v3 + i0 + 448);
                const float16 t48 = (-t33) + t36;
                const float16 t49 = fma(t48, (float16)(0x1.555556p-3f), t13 * (float16)(0x1.555556p-3f));
                const float16 t50 = (-t41) + t44;
                const float16 t51 = t50 * (float16)(0x1.555556p-3f);
                const float16 t52 = (-t49) - t51;
                TARN_STORE(__global, float, t52, v3 + i0 + 512);
                const float16 t53 = fma(t32, (float16)(0x1.555556p-3f), t23 * (float16)(0x1.555556p-5f));
                const float16 t54 = t35 * (float16)(0x1.555556p-4f);
                const float16 t55 = (t53) + t54;
                const float16 t56 = fma(t55, (float16)(0x1.555556p-3f), t17 * (float16)(0x1.555556p-3f));
                const float16 t57 = fma(t40, (float16)(0x1.555556p-3f), t27 * (float16)(0x1.555556p-5f));
                const float16 t58 = t43 * (float16)(0x1.555556p-4f);
                const float16 t59 = (t57) + t58;
                const float16 t60 = t59 * (float16)(0x1.555556p-3f);
                const float16 t61 = (-t56) - t60;
                TARN_STORE(__global, float, t61, v3 + i0 + 576);
                const float16 t62 = (t53) - t54;
                const float16 t63 = fma(t62, (float16)(0x1.555556p-3f), t19 * (float16)(0x1.555556p-3f));
                const float16 t64 = (t57) - t58;
                const float16 t65 = t64 * (float16)(0x1.555556p-3f);
                const float16 t66 = (-t63) - t65;
                TARN_STORE(__global, float, t66, v3 + i0 + 640);
                const float16 t67 = fma(t32, (float16)(0x1.555556p-3f), t6 * (float16)(0x1.555556p-3f));
                const float16 t68 = t40 * (float16)(0x1.555556p-3f);
                const float16 t69 = (-t67) - t68;
                TARN_STORE(__global, float, t69, v3 + i0 + 704);
                const float16 t70 = (-t25) + t29;
                TARN_STORE(__global, float, t70, v3 + i0 + 768);
                const float16 t71 = (-t38) + t46;
                TARN_STORE(__global, float, t71, v3 + i0 + 832);
                const float16 t72 = (-t49) + t51;
                TARN_STORE(__global, float, t72, v3 + i0 + 896);
                const float16 t73 = (-t56) + t60;
                TARN_STORE(__global, float, t73, v3 + i0 + 960);
                const float16 t74 = (-t63) + t65;
                TARN_STORE(__global, float, t74, v3 + i0 + 1024);
                const float16 t75 = (-t67) + t68;
                TARN_STORE(__global, float, t75, v3 + i0 + 1088);
                const float16 t76 = fma(t24, (float16)(0x1.555556p-3f), t3 * (float16)(0x1.555556p-5f));
                const float16 t77 = t28 * (float16)(0x1.555556p-4f);
                const float16 t78 = (t76) + t77;
                TARN_STORE(__global, float, t78, v3 + i0 + 1152);
                const float16 t79 = fma(t37, (float16)(0x1.555556p-3f), t11 * (float16)(0x1.555556p-5f));
                const float16 t80 = t45 * (float16)(0x1.555556p-4f);
                const float16 t81 = (t79) + t80;
                TARN_STORE(__global, float, t81, v3 + i0 + 1216);
                const float16 t82 = fma(t48, (float16)(0x1.555556p-3f), t13 * (float16)(0x1.555556p-5f));
                const float16 t83 = t50 * (float16)(0x1.555556p-4f);
                const float16 t84 = (t82) + t83;
                TARN_STORE(__global, float, t84, v3 + i0 + 1280);
                const float16 t85 = fma(t55, (float16)(0x1.555556p-3f), t17 * (float16)(0x1.555556p-5f));
                const float16 t86 = t59 * (float16)(0x1.555556p-4f);
                const float16 t87 = (t85) + t86;
                TARN_STORE(__global, float, t87, v3 + i0 + 1344);
                const float16 t88 = fma(t62, (float16)(0x1.555556p-3f), t19 * (float16)(0x1.555556p-5f));
                const float16 t89 = t64 * (float16)(0x1.555556p-4f);
                const float16 t90 = (t88) + t89;
                TARN_STORE(__global, float, t90, v3 + i0 + 1408);
                const float16 t91 = fma(t32, (float16)(0x1.555556p-3f), t6 * (float16)(0x1.555556p-5f));
                const float16 t92 = t40 * (float16)(0x1.555556p-4f);
                const float16 t93 = (t91) + t92;
                TARN_STORE(__global, float, t93, v3 + i0 + 1472);
                const float16 t94 = (t76) - t77;
                TARN_STORE(__global, float, t94, v3 + i0 + 1536);
                const float16 t95 = (t79) - t80;
                TARN_STORE(__global, float, t95, v3 + i0 + 1600);
                const float16 t96 = (t82) - t83;
                TARN_STORE(__global, float, t96, v3 + i0 + 1664);
                const float16 t97 = (t85) - t86;
                TARN_STORE(__global, float, t97, v3 + i0 + 1728);
                const float16 t98 = (t88) - t89;
                TARN_STORE(__global, float, t98, v3 + i0 + 1792);
                const float16 t99 = (t91) - t92;
                TARN_STORE(__global, float, t99, v3 + i0 + 1856);
                TARN_STORE(__global, float, t24, v3 + i0 + 1920);
                TARN_STORE(__global, float, t37, v3 + i0 + 1984);
                TARN_STORE(__global, float, t48, v3 + i0 + 2048);
                TARN_STORE(__global, float, t55, v3 + i0 + 2112);
                TARN_STORE(__global, float, t62, v3 + i0 + 2176);
                TARN_STORE(__global, float, t32, v3 + i0 + 2240);
            }
        }
        const long first = group * 1 / 1, last = (group + 1) * 1 / 1;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [16 8 6 6] */
            {
                #pragma unroll 1
                for (long e = 0; e < 288; e += 16) {
                    const long at = min(e, 272L);
                    float16 row[16];
                    row[0] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 0));
                    row[1] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 1));
                    row[2] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 2));
                    row[3] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 3));
                    row[4] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 4));
                    row[5] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 5));
                    row[6] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 6));
                    row[7] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 7));
                    row[8] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 8));
                    row[9] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 9));
                    row[10] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 10));
                    row[11] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 11));
                    row[12] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 12));
                    row[13] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 13));
                    row[14] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 14));
                    row[15] = TARN_LOAD(__global, float, v1 + 0 + at + 288 * (16 * b + 15));
                    TARN_TURN_16(float, row)
                    TARN_STORE(__local, float, row[0], v0 + 16 * (0 + at + 0));
                    TARN_STORE(__local, float, row[1], v0 + 16 * (0 + at + 1));
                    TARN_STORE(__local, float, row[2], v0 + 16 * (0 + at + 2));
                    TARN_STORE(__local, float, row[3], v0 + 16 * (0 + at + 3));
                    TARN_STORE(__local, float, row[4], v0 + 16 * (0 + at + 4));
                    TARN_STORE(__local, float, row[5], v0 + 16 * (0 + at + 5));
                    TARN_STORE(__local, float, row[6], v0 + 16 * (0 + at + 6));
                    TARN_STORE(__local, float, row[7], v0 + 16 * (0 + at + 7));
                    TARN_STORE(__local, float, row[8], v0 + 16 * (0 + at + 8));
                    TARN_STORE(__local, float, row[9], v0 + 16 * (0 + at + 9));
                    TARN_STORE(__local, float, row[10], v0 + 16 * (0 + at + 10));
                    TARN_STORE(__local, float, row[11], v0 + 16 * (0 + at + 11));
                    TARN_STORE(__local, float, row[12], v0 + 16 * (0 + at + 12));
                    TARN_STORE(__local, float, row[13], v0 + 16 * (0 + at + 13));
                    TARN_STORE(__local, float, row[14], v0 + 16 * (0 + at + 14));
                    TARN_STORE(__local, float, row[15], v0 + 16 * (0 + at + 15));
                }
            }
            /* winograd input [16 6 6 8 1 1 | 6 6] */
            {
                #pragma unroll 1
                for (long i3 = 0; i3 < 8; i3 += 1) {
                    const float16 t100 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3)));
                    const float16 t101 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 2)));
                    const float16 t102 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 4)));
                    const float16 t103 = (fma(t101, (float16)(-0x1.4p+2f), t100 * (float16)(0x1p+2f))) + t102;
                    const float16 t104 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 12)));
                    const float16 t105 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 14)));
                    const float16 t106 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 16)));
                    const float16 t107 = (fma(t105, (float16)(-0x1.4p+2f), t104 * (float16)(0x1p+2f))) + t106;
                    const float16 t108 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 24)));
                    const float16 t109 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 26)));
                    const float16 t110 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 28)));
                    const float16 t111 = (fma(t109, (float16)(-0x1.4p+2f), t108 * (float16)(0x1p+2f))) + t110;
                    const float16 t112 = (fma(t107, (float16)(-0x1.4p+2f), t103 * (float16)(0x1p+2f))) + t111;
                    TARN_STORE(__local, float, t112, v2 + 16 * (i3));
                    const float16 t113 = (t101 * (float16)(0x1p+2f)) - t102;
                    const float16 t114 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 1)));
                    const float16 t115 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 3)));
                    const float16 t116 = (t114 * (float16)(0x1p+2f)) - t115;
                    const float16 t117 = (-t113) - t116;
                    const float16 t118 = (t105 * (float16)(0x1p+2f)) - t106;
                    const float16 t119 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 13)));
                    const float16 t120 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 15)));
                    const float16 t121 = (t119 * (float16)(0x1p+2f)) - t120;
                    const float16 t122 = (-t118) - t121;
                    const float16 t123 = (t109 * (float16)(0x1p+2f)) - t110;
                    const float16 t124 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 25)));
                    const float16 t125 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 27)));
                    const float16 t126 = (t124 * (float16)(0x1p+2f)) - t125;
                    const float16 t127 = (-t123) - t126;
                    const float16 t128 = (fma(t122, (float16)(-0x1.4p+2f), t117 * (float16)(0x1p+2f))) + t127;
                    TARN_STORE(__local, float, t128, v2 + 16 * (i3 + 9));
                    const float16 t129 = (-t113) + t116;
                    const float16 t130 = (-t118) + t121;
                    const float16 t131 = (-t123) + t126;
                    const float16 t132 = (fma(t130, (float16)(-0x1.4p+2f), t129 * (float16)(0x1p+2f))) + t131;
                    TARN_STORE(__local, float, t132, v2 + 16 * (i3 + 18));
                    const float16 t133 = (t101) - t102;
                    const float16 t134 = fma(t115, (float16)(-0x1p+1f), t114 * (float16)(0x1p+1f));
                    const float16 t135 = (-t133) - t134;
                    const float16 t136 = (t105) - t106;
                    const float16 t137 = fma(t120, (float16)(-0x1p+1f), t119 * (float16)(0x1p+1f));
                    const float16 t138 = (-t136) - t137;
                    const float16 t139 = (t109) - t110;
                    const float16 t140 = fma(t125, (float16)(-0x1p+1f), t124 * (float16)(0x1p+1f));
                    const float16 t141 = (-t139) - t140;
                    const float16 t142 = (fma(t138, (float16)(-0x1.4p+2f), t135 * (float16)(0x1p+2f))) + t141;
                    TARN_STORE(__local, float, t142, v2 + 16 * (i3 + 27));
                    const float16 t143 = (-t133) + t134;
                    const float16 t144 = (-t136) + t137;
                    const float16 t145 = (-t139) + t140;
                    const float16 t146 = (fma(t144, (float16)(-0x1.4p+2f), t143 * (float16)(0x1p+2f))) + t145;
                    TARN_STORE(__local, float, t146, v2 + 16 * (i3 + 36));
                    const float16 t147 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 5)));
                    const float16 t148 = (fma(t115, (float16)(-0x1.4p+2f), t114 * (float16)(0x1p+2f))) + t147;
                    const float16 t149 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 17)));
                    const float16 t150 = (fma(t120, (float16)(-0x1.4p+2f), t119 * (float16)(0x1p+2f))) + t149;
                    const float16 t151 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 29)));
                    const float16 t152 = (fma(t125, (float16)(-0x1.4p+2f), t124 * (float16)(0x1p+2f))) + t151;
                    const float16 t153 = (fma(t150, (float16)(-0x1.4p+2f), t148 * (float16)(0x1p+2f))) + t152;
                    TARN_STORE(__local, float, t153, v2 + 16 * (i3 + 45));
                    const float16 t154 = (t107 * (float16)(0x1p+2f)) - t111;
                    const float16 t155 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 6)));
                    const float16 t156 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 8)));
                    const float16 t157 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 10)));
                    const float16 t158 = (fma(t156, (float16)(-0x1.4p+2f), t155 * (float16)(0x1p+2f))) + t157;
                    const float16 t159 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 18)));
                    const float16 t160 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 20)));
                    const float16 t161 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 22)));
                    const float16 t162 = (fma(t160, (float16)(-0x1.4p+2f), t159 * (float16)(0x1p+2f))) + t161;
                    const float16 t163 = (t158 * (float16)(0x1p+2f)) - t162;
                    const float16 t164 = (-t154) - t163;
                    TARN_STORE(__local, float, t164, v2 + 16 * (i3 + 54));
                    const float16 t165 = (t122 * (float16)(0x1p+2f)) - t127;
                    const float16 t166 = (t156 * (float16)(0x1p+2f)) - t157;
                    const float16 t167 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 7)));
                    const float16 t168 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 9)));
                    const float16 t169 = (t167 * (float16)(0x1p+2f)) - t168;
                    const float16 t170 = (-t166) - t169;
                    const float16 t171 = (t160 * (float16)(0x1p+2f)) - t161;
                    const float16 t172 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 19)));
                    const float16 t173 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 21)));
                    const float16 t174 = (t172 * (float16)(0x1p+2f)) - t173;
                    const float16 t175 = (-t171) - t174;
                    const float16 t176 = (t170 * (float16)(0x1p+2f)) - t175;
                    const float16 t177 = (-t165) - t176;
                    TARN_STORE(__local, float, t177, v2 + 16 * (i3 + 63));
                    const float16 t178 = (t130 * (float16)(0x1p+2f)) - t131;
                    const float16 t179 = (-t166) + t169;
                    const float16 t180 = (-t171) + t174;
                    const float16 t181 = (t179 * (float16)(0x1p+2f)) - t180;
                    const float16 t182 = (-t178) - t181;
                    TARN_STORE(__local, float, t182, v2 + 16 * (i3 + 72));
                    const float16 t183 = (t138 * (float16)(0x1p+2f)) - t141;
                    const float16 t184 = (t156) - t157;
                    const float16 t185 = fma(t168, (float16)(-0x1p+1f), t167 * (float16)(0x1p+1f));
                    const float16 t186 = (-t184) - t185;
                    const float16 t187 = (t160) - t161;
                    const float16 t188 = fma(t173, (float16)(-0x1p+1f), t172 * (float16)(0x1p+1f));
                    const float16 t189 = (-t187) - t188;
                    const float16 t190 = (t186 * (float16)(0x1p+2f)) - t189;
                    const float16 t191 = (-t183) - t190;
                    TARN_STORE(__local, float, t191, v2 + 16 * (i3 + 81));
                    const float16 t192 = (t144 * (float16)(0x1p+2f)) - t145;
                    const float16 t193 = (-t184) + t185;
                    const float16 t194 = (-t187) + t188;
                    const float16 t195 = (t193 * (float16)(0x1p+2f)) - t194;
                    const float16 t196 = (-t192) - t195;
                    TARN_STORE(__local, float, t196, v2 + 16 * (i3 + 90));
                    const float16 t197 = (t150 * (float16)(0x1p+2f)) - t152;
                    const float16 t198 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 11)));
                    const float16 t199 = (fma(t168, (float16)(-0x1.4p+2f), t167 * (float16)(0x1p+2f))) + t198;
                    const float16 t200 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 23)));
                    const float16 t201 = (fma(t173, (float16)(-0x1.4p+2f), t172 * (float16)(0x1p+2f))) + t200;
                    const float16 t202 = (t199 * (float16)(0x1p+2f)) - t201;
                    const float16 t203 = (-t197) - t202;
                    TARN_STORE(__local, float, t203, v2 + 16 * (i3 + 99));
                    const float16 t204 = (-t154) + t163;
                    TARN_STORE(__local, float, t204, v2 + 16 * (i3 + 108));
                    const float16 t205 = (-t165) + t176;
                    TARN_STORE(__local, float, t205, v2 + 16 * (i3 + 117));
                    const float16 t206 = (-t178) + t181;
                    TARN_STORE(__local, float, t206, v2 + 16 * (i3 + 126));
                    const float16 t207 = (-t183) + t190;
                    TARN_STORE(__local, float, t207, v2 + 16 * (i3 + 135));
                    const float16 t208 = (-t192) + t195;
                    TARN_STORE(__local, float, t208, v2 + 16 * (i3 + 144));
                    const float16 t209 = (-t197) + t202;
                    TARN_STORE(__local, float, t209, v2 + 16 * (i3 + 153));
                    const float16 t210 = (t107) - t111;
                    const float16 t211 = fma(t162, (float16)(-0x1p+1f), t158 * (float16)(0x1p+1f));
                    const float16 t212 = (-t210) - t211;
                    TARN_STORE(__local, float, t212, v2 + 16 * (i3 + 162));
                    const float16 t213 = (t122) - t127;
                    const float16 t214 = fma(t175, (float16)(-0x1p+1f), t170 * (float16)(0x1p+1f));
                    const float16 t215 = (-t213) - t214;
                    TARN_STORE(__local, float, t215, v2 + 16 * (i3 + 171));
                    const float16 t216 = (t130) - t131;
                    const float16 t217 = fma(t180, (float16)(-0x1p+1f), t179 * (float16)(0x1p+1f));
                    const float16 t218 = (-t216) - t217;
                    TARN_STORE(__local, float, t218, v2 + 16 * (i3 + 180));
                    const float16 t219 = (t138) - t141;
                    const float16 t220 = fma(t189, (float16)(-0x1p+1f), t186 * (float16)(0x1p+1f));
                    const float16 t221 = (-t219) - t220;
                    TARN_STORE(__local, float, t221, v2 + 16 * (i3 + 189));
                    const float16 t222 = (t144) - t145;
                    const float16 t223 = fma(t194, (float16)(-0x1p+1f), t193 * (float16)(0x1p+1f));
                    const float16 t224 = (-t222) - t223;
                    TARN_STORE(__local, float, t224, v2 + 16 * (i3 + 198));
                    const float16 t225 = (t150) - t152;
                    const float16 t226 = fma(t201, (float16)(-0x1p+1f), t199 * (float16)(0x1p+1f));
                    const float16 t227 = (-t225) - t226;
                    TARN_STORE(__local, float, t227, v2 + 16 * (i3 + 207));
                    const float16 t228 = (-t210) + t211;
                    TARN_STORE(__local, float, t228, v2 + 16 * (i3 + 216));
                    const float16 t229 = (-t213) + t214;
                    TARN_STORE(__local, float, t229, v2 + 16 * (i3 + 225));
                    const float16 t230 = (-t216) + t217;
                    TARN_STORE(__local, float, t230, v2 + 16 * (i3 + 234));
                    const float16 t231 = (-t219) + t220;
                    TARN_STORE(__local, float, t231, v2 + 16 * (i3 + 243));
                    const float16 t232 = (-t222) + t223;
                    TARN_STORE(__local, float, t232, v2 + 16 * (i3 + 252));
                    const float16 t233 = (-t225) + t226;
                    TARN_STORE(__local, float, t233, v2 + 16 * (i3 + 261));
                    const float16 t234 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 30)));
                    const float16 t235 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 32)));
                    const float16 t236 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 34)));
                    const float16 t237 = (fma(t235, (float16)(-0x1.4p+2f), t234 * (float16)(0x1p+2f))) + t236;
                    const float16 t238 = (fma(t162, (float16)(-0x1.4p+2f), t158 * (float16)(0x1p+2f))) + t237;
                    TARN_STORE(__local, float, t238, v2 + 16 * (i3 + 270));
                    const float16 t239 = (t235 * (float16)(0x1p+2f)) - t236;
                    const float16 t240 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 31)));
                    const float16 t241 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 33)));
                    const float16 t242 = (t240 * (float16)(0x1p+2f)) - t241;
                    const float16 t243 = (-t239) - t242;
                    const float16 t244 = (fma(t175, (float16)(-0x1.4p+2f), t170 * (float16)(0x1p+2f))) + t243;
                    TARN_STORE(__local, float, t244, v2 + 16 * (i3 + 279));
                    const float16 t245 = (-t239) + t242;
                    const float16 t246 = (fma(t180, (float16)(-0x1.4p+2f), t179 * (float16)(0x1p+2f))) + t245;
                    TARN_STORE(__local, float, t246, v2 + 16 * (i3 + 288));
                    const float16 t247 = (t235) - t236;
                    const float16 t248 = fma(t241, (float16)(-0x1p+1f), t240 * (float16)(0x1p+1f));
                    const float16 t249 = (-t247) - t248;
                    const float16 t250 = (fma(t189, (float16)(-0x1.4p+2f), t186 * (float16)(0x1p+2f))) + t249;
                    TARN_STORE(__local, float, t250, v2 + 16 * (i3 + 297));
                    const float16 t251 = (-t247) + t248;
                    const float16 t252 = (fma(t194, (float16)(-0x1.4p+2f), t193 * (float16)(0x1p+2f))) + t251;
                    TARN_STORE(__local, float, t252, v2 + 16 * (i3 + 306));
                    const float16 t253 = (TARN_LOAD(__local, float, v0 + 16 * (36 * i3 + 35)));
                    const float16 t254 = (fma(t241, (float16)(-0x1.4p+2f), t240 * (float16)(0x1p+2f))) + t253;
                    const float16 t255 = (fma(t201, (float16)(-0x1.4p+2f), t199 * (float16)(0x1p+2f))) + t254;
                    TARN_STORE(__local, float, t255, v2 + 16 * (i3 + 315));
                }
            }
            /* winograd product [16 6 6 8 1 | 8] */
            {
                #pragma unroll 1
                for (long i1 = 0; i1 < 6; i1 += 1) {
                    #pragma unroll 1
                    for (long i2 = 0; i2 < 6; i2 += 1) {
                        float16 acc0 = (float16)(0.0f);
                        float16 acc1 = (float16)(0.0f);
                        float16 acc2 = (float16)(0.0f);
                        float16 acc3 = (float16)(0.0f);
                        float16 acc4 = (float16)(0.0f);
                        float16 acc5 = (float16)(0.0f);
                        float16 acc6 = (float16)(0.0f);
                        float16 acc7 = (float16)(0.0f);
                        #pragma unroll 1
                        for (long i5 = 0; i5 < 8; i5 += 1) {
                            const float16 t256 = (TARN_LOAD(__local, float, v2 + 16 * (54 * i1 + 9 * i2 + i5)));
                            const float16 t257 = (float16)(v3[384 * i1 + 64 * i2 + i5]);
                            acc0 = fma(t256, t257, acc0);
                            const float16 t258 = (float16)(v3[384 * i1 + 64 * i2 + i5 + 8]);
                            acc1 = fma(t256, t258, acc1);
                            const float16 t259 = (float16)(v3[384 * i1 + 64 * i2 + i5 + 16]);
                            acc2 = fma(t256, t259, acc2);
                            const float16 t260 = (float16)(v3[384 * i1 + 64 * i2 + i5 + 24]);
                            acc3 = fma(t256, t260, acc3);
                            const float16 t261 = (float16)(v3[384 * i1 + 64 * i2 + i5 + 32]);
                            acc4 = fma(t256, t261, acc4);
                            const float16 t262 = (float16)(v3[384 * i1 + 64 * i2 + i5 + 40]);
                            acc5 = fma(t256, t262, acc5);
                            const float16 t263 = (float16)(v3[384 * i1 + 64 * i2 + i5 + 48]);
                            acc6 = fma(t256, t263, acc6);
                            const float16 t264 = (float16)(v3[384 * i1 + 64 * i2 + i5 + 56]);
                            acc7 = fma(t256, t264, acc7);
                        }
                        TARN_STORE(__local, float, acc0, v5 + 16 * (54 * i1 + 9 * i2));
                        TARN_STORE(__local, float, acc1, v5 + 16 * (54 * i1 + 9 * i2 + 1));
                        TARN_STORE(__local, float, acc2, v5 + 16 * (54 * i1 + 9 * i2 + 2));
                        TARN_STORE(__local, float, acc3, v5 + 16 * (54 * i1 + 9 * i2 + 3));
                        TARN_STORE(__local, float, acc4, v5 + 16 * (54 * i1 + 9 * i2 + 4));
                        TARN_STORE(__local, float, acc5, v5 + 16 * (54 * i1 + 9 * i2 + 5));
                        TARN_STORE(__local, float, acc6, v5 + 16 * (54 * i1 + 9 * i2 + 6));
                        TARN_STORE(__local, float, acc7, v5 + 16 * (54 * i1 + 9 * i2 + 7));
                    }
                }
            }
            /* winograd result [16 8 1 4 1 4 | 6 6] */
            {
                #pragma unroll 1
                for (long i1 = 0; i1 < 8; i1 += 1) {
                    const float16 t265 = (TARN_LOAD(__local, float, v5 + 16 * (i1)));
                    const float16 t266 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 9)));
                    const float16 t267 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 18)));
                    const float16 t268 = (t266) + t267;
                    const float16 t269 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 27)));
                    const float16 t270 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 36)));
                    const float16 t271 = (t269) + t270;
                    const float16 t272 = ((t265) + t268) + t271;
                    const float16 t273 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 54)));
                    const float16 t274 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 63)));
                    const float16 t275 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 72)));
                    const float16 t276 = (t274) + t275;
                    const float16 t277 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 81)));
                    const float16 t278 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 90)));
                    const float16 t279 = (t277) + t278;
                    const float16 t280 = ((t273) + t276) + t279;
                    const float16 t281 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 108)));
                    const float16 t282 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 117)));
                    const float16 t283 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 126)));
                    const float16 t284 = (t282) + t283;
                    const float16 t285 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 135)));
                    const float16 t286 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 144)));
                    const float16 t287 = (t285) + t286;
                    const float16 t288 = ((t281) + t284) + t287;
                    const float16 t289 = (t280) + t288;
                    const float16 t290 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 162)));
                    const float16 t291 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 171)));
                    const float16 t292 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 180)));
                    const float16 t293 = (t291) + t292;
                    const float16 t294 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 189)));
                    const float16 t295 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 198)));
                    const float16 t296 = (t294) + t295;
                    const float16 t297 = ((t290) + t293) + t296;
                    const float16 t298 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 216)));
                    const float16 t299 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 225)));
                    const float16 t300 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 234)));
                    const float16 t301 = (t299) + t300;
                    const float16 t302 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 243)));
                    const float16 t303 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 252)));
                    const float16 t304 = (t302) + t303;
                    const float16 t305 = ((t298) + t301) + t304;
                    const float16 t306 = (t297) + t305;
                    const float16 t307 = ((t272) + t289) + t306;
                    TARN_STORE(__local, float, t307, v6 + 16 * (16 * i1));
                    const float16 t308 = (t266) - t267;
                    const float16 t309 = (t269) - t270;
                    const float16 t310 = fma(t309, (float16)(0x1p+1f), t308);
                    const float16 t311 = (t274) - t275;
                    const float16 t312 = (t277) - t278;
                    const float16 t313 = fma(t312, (float16)(0x1p+1f), t311);
                    const float16 t314 = (t282) - t283;
                    const float16 t315 = (t285) - t286;
                    const float16 t316 = fma(t315, (float16)(0x1p+1f), t314);
                    const float16 t317 = (t313) + t316;
                    const float16 t318 = (t291) - t292;
                    const float16 t319 = (t294) - t295;
                    const float16 t320 = fma(t319, (float16)(0x1p+1f), t318);
                    const float16 t321 = (t299) - t300;
                    const float16 t322 = (t302) - t303;
                    const float16 t323 = fma(t322, (float16)(0x1p+1f), t321);
                    const float16 t324 = (t320) + t323;
                    const float16 t325 = ((t310) + t317) + t324;
                    TARN_STORE(__local, float, t325, v6 + 16 * (16 * i1 + 1));
                    const float16 t326 = fma(t271, (float16)(0x1p+2f), t268);
                    const float16 t327 = fma(t279, (float16)(0x1p+2f), t276);
                    const float16 t328 = fma(t287, (float16)(0x1p+2f), t284);
                    const float16 t329 = (t327) + t328;
                    const float16 t330 = fma(t296, (float16)(0x1p+2f), t293);
                    const float16 t331 = fma(t304, (float16)(0x1p+2f), t301);
                    const float16 t332 = (t330) + t331;
                    const float16 t333 = ((t326) + t329) + t332;
                    TARN_STORE(__local, float, t333, v6 + 16 * (16 * i1 + 2));
                    const float16 t334 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 45)));
                    const float16 t335 = (fma(t309, (float16)(0x1p+3f), t308)) + t334;
                    const float16 t336 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 99)));
                    const float16 t337 = (fma(t312, (float16)(0x1p+3f), t311)) + t336;
                    const float16 t338 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 153)));
                    const float16 t339 = (fma(t315, (float16)(0x1p+3f), t314)) + t338;
                    const float16 t340 = (t337) + t339;
                    const float16 t341 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 207)));
                    const float16 t342 = (fma(t319, (float16)(0x1p+3f), t318)) + t341;
                    const float16 t343 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 261)));
                    const float16 t344 = (fma(t322, (float16)(0x1p+3f), t321)) + t343;
                    const float16 t345 = (t342) + t344;
                    const float16 t346 = ((t335) + t340) + t345;
                    TARN_STORE(__local, float, t346, v6 + 16 * (16 * i1 + 3));
                    const float16 t347 = (t280) - t288;
                    const float16 t348 = (t297) - t305;
                    const float16 t349 = fma(t348, (float16)(0x1p+1f), t347);
                    TARN_STORE(__local, float, t349, v6 + 16 * (16 * i1 + 4));
                    const float16 t350 = (t313) - t316;
                    const float16 t351 = (t320) - t323;
                    const float16 t352 = fma(t351, (float16)(0x1p+1f), t350);
                    TARN_STORE(__local, float, t352, v6 + 16 * (16 * i1 + 5));
                    const float16 t353 = (t327) - t328;
                    const float16 t354 = (t330) - t331;
                    const float16 t355 = fma(t354, (float16)(0x1p+1f), t353);
                    TARN_STORE(__local, float, t355, v6 + 16 * (16 * i1 + 6));
                    const float16 t356 = (t337) - t339;
                    const float16 t357 = (t342) - t344;
                    const float16 t358 = fma(t357, (float16)(0x1p+1f), t356);
                    TARN_STORE(__local, float, t358, v6 + 16 * (16 * i1 + 7));
                    const float16 t359 = fma(t306, (float16)(0x1p+2f), t289);
                    TARN_STORE(__local, float, t359, v6 + 16 * (16 * i1 + 8));
                    const float16 t360 = fma(t324, (float16)(0x1p+2f), t317);
                    TARN_STORE(__local, float, t360, v6 + 16 * (16 * i1 + 9));
                    const float16 t361 = fma(t332, (float16)(0x1p+2f), t329);
                    TARN_STORE(__local, float, t361, v6 + 16 * (16 * i1 + 10));
                    const float16 t362 = fma(t345, (float16)(0x1p+2f), t340);
                    TARN_STORE(__local, float, t362, v6 + 16 * (16 * i1 + 11));
                    const float16 t363 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 270)));
                    const float16 t364 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 279)));
                    const float16 t365 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 288)));
                    const float16 t366 = (t364) + t365;
                    const float16 t367 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 297)));
                    const float16 t368 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 306)));
                    const float16 t369 = (t367) + t368;
                    const float16 t370 = ((t363) + t366) + t369;
                    const float16 t371 = (fma(t348, (float16)(0x1p+3f), t347)) + t370;
                    TARN_STORE(__local, float, t371, v6 + 16 * (16 * i1 + 12));
                    const float16 t372 = (t364) - t365;
                    const float16 t373 = (t367) - t368;
                    const float16 t374 = fma(t373, (float16)(0x1p+1f), t372);
                    const float16 t375 = (fma(t351, (float16)(0x1p+3f), t350)) + t374;
                    TARN_STORE(__local, float, t375, v6 + 16 * (16 * i1 + 13));
                    const float16 t376 = fma(t369, (float16)(0x1p+2f), t366);
                    const float16 t377 = (fma(t354, (float16)(0x1p+3f), t353)) + t376;
                    TARN_STORE(__local, float, t377, v6 + 16 * (16 * i1 + 14));
                    const float16 t378 = (TARN_LOAD(__local, float, v5 + 16 * (i1 + 315)));
                    const float16 t379 = (fma(t373, (float16)(0x1p+3f), t372)) + t378;
                    const float16 t380 = (fma(t357, (float16)(0x1p+3f), t356)) + t379;
                    TARN_STORE(__local, float, t380, v6 + 16 * (16 * i1 + 15));
                }
            }
            /* winograd result [16 8 4 4] */
            {
                #pragma unroll 1
                for (long e = 0; e < 128; e += 16) {
                    const long at = min(e, 112L);
                    float16 row[16];
                    row[0] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 0));
                    row[1] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 1));
                    row[2] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 2));
                    row[3] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 3));
                    row[4] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 4));
                    row[5] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 5));
                    row[6] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 6));
                    row[7] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 7));
                    row[8] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 8));
                    row[9] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 9));
                    row[10] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 10));
                    row[11] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 11));
                    row[12] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 12));
                    row[13] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 13));
                    row[14] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 14));
                    row[15] = TARN_LOAD(__local, float, v6 + 16 * (0 + at + 15));
                    TARN_TURN_16(float, row)
                    TARN_STORE(__global, float, row[0], v7 + 0 + at + 128 * (16 * b + 0));
                    TARN_STORE(__global, float, row[1], v7 + 0 + at + 128 * (16 * b + 1));
                    TARN_STORE(__global, float, row[2], v7 + 0 + at + 128 * (16 * b + 2));
                    TARN_STORE(__global, float, row[3], v7 + 0 + at + 128 * (16 * b + 3));
                    TARN_STORE(__global, float, row[4], v7 + 0 + at + 128 * (16 * b + 4));
                    TARN_STORE(__global, float, row[5], v7 + 0 + at + 128 * (16 * b + 5));
                    TARN_STORE(__global, float, row[6], v7 + 0 + at + 128 * (16 * b + 6));
                    TARN_STORE(__global, float, row[7], v7 + 0 + at + 128 * (16 * b + 7));
                    TARN_STORE(__global, float, row[8], v7 + 0 + at + 128 * (16 * b + 8));
                    TARN_STORE(__global, float, row[9], v7 + 0 + at + 128 * (16 * b + 9));
                    TARN_STORE(__global, float, row[10], v7 + 0 + at + 128 * (16 * b + 10));
                    TARN_STORE(__global, float, row[11], v7 + 0 + at + 128 * (16 * b + 11));
                    TARN_STORE(__global, float, row[12], v7 + 0 + at + 128 * (16 * b + 12));
                    TARN_STORE(__global, float, row[13], v7 + 0 + at + 128 * (16 * b + 13));
                    TARN_STORE(__global, float, row[14], v7 + 0 + at + 128 * (16 * b + 14));
                    TARN_STORE(__global, float, row[15], v7 + 0 + at + 128 * (16 * b + 15));
                }
            }
        }
    }
}


