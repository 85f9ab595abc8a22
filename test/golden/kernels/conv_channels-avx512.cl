/* k0: 1 groups of 1; skip 0, input 0, arena 0, at 0, owned 0, output 0; at bytes 0, 0 */
/* arena: 9216 bytes */
/* input winograd input winograd weight winograd product winograd result winograd result */
#ifndef TARN_nest_67b269a137ec3cbb
#define TARN_nest_67b269a137ec3cbb
TARN_APART void nest_67b269a137ec3cbb(__global float *v0, __global float *v1)
{
    long i0 = 0;
    #pragma unroll 1
    for (; i0 + 16 <= 64; i0 += 16) {
        const long t1 = 9 * i0;
        const float16 t2 = (float16)(v1[t1 + 0], v1[t1 + 9], v1[t1 + 18], v1[t1 + 27], v1[t1 + 36], v1[t1 + 45], v1[t1 + 54], v1[t1 + 63], v1[t1 + 72], v1[t1 + 81], v1[t1 + 90], v1[t1 + 99], v1[t1 + 108], v1[t1 + 117], v1[t1 + 126], v1[t1 + 135]);
        const float16 t3 = t2 * (float16)(0x1.234568p+0f);
        const float16 t4 = t3 * (float16)(0x1.234568p+0f);
        TARN_STORE(__global, float, t4, v0 + i0);
        const long t5 = 9 * i0 + 2;
        const float16 t6 = (float16)(v1[t5 + 0], v1[t5 + 9], v1[t5 + 18], v1[t5 + 27], v1[t5 + 36], v1[t5 + 45], v1[t5 + 54], v1[t5 + 63], v1[t5 + 72], v1[t5 + 81], v1[t5 + 90], v1[t5 + 99], v1[t5 + 108], v1[t5 + 117], v1[t5 + 126], v1[t5 + 135]);
        const float16 t7 = fma(t6, (float16)(0x1.135c82p-2f), t2 * (float16)(0x1.607668p-1f));
        const long t8 = 9 * i0 + 1;
        const float16 t9 = (float16)(v1[t8 + 0], v1[t8 + 9], v1[t8 + 18], v1[t8 + 27], v1[t8 + 36], v1[t8 + 45], v1[t8 + 54], v1[t8 + 63], v1[t8 + 72], v1[t8 + 81], v1[t8 + 90], v1[t8 + 99], v1[t8 + 108], v1[t8 + 117], v1[t8 + 126], v1[t8 + 135]);
        const float16 t10 = t9 * (float16)(0x1.b89402p-2f);
        const float16 t11 = (-t7) - t10;
        const float16 t12 = t11 * (float16)(0x1.234568p+0f);
        TARN_STORE(__global, float, t12, v0 + i0 + 64);
        const float16 t13 = (-t7) + t10;
        const float16 t14 = t13 * (float16)(0x1.234568p+0f);
        TARN_STORE(__global, float, t14, v0 + i0 + 128);
        const float16 t15 = fma(t6, (float16)(0x1.135c82p-2f), t2 * (float16)(0x1.e98802p-4f));
        const float16 t16 = t9 * (float16)(0x1.6f2602p-3f);
        const float16 t17 = (t15) + t16;
        const float16 t18 = t17 * (float16)(0x1.234568p+0f);
        TARN_STORE(__global, float, t18, v0 + i0 + 192);
        const float16 t19 = (t15) - t16;
        const float16 t20 = t19 * (float16)(0x1.234568p+0f);
        TARN_STORE(__global, float, t20, v0 + i0 + 256);
        const float16 t21 = t6 * (float16)(0x1.234568p+0f);
        TARN_STORE(__global, float, t21, v0 + i0 + 320);
        const long t22 = 9 * i0 + 6;
        const float16 t23 = (float16)(v1[t22 + 0], v1[t22 + 9], v1[t22 + 18], v1[t22 + 27], v1[t22 + 36], v1[t22 + 45], v1[t22 + 54], v1[t22 + 63], v1[t22 + 72], v1[t22 + 81], v1[t22 + 90], v1[t22 + 99], v1[t22 + 108], v1[t22 + 117], v1[t22 + 126], v1[t22 + 135]);
        const float16 t24 = t23 * (float16)(0x1.234568p+0f);
        const float16 t25 = fma(t24, (float16)(0x1.135c82p-2f), t3 * (float16)(0x1.607668p-1f));
        const long t26 = 9 * i0 + 3;
        const float16 t27 = (float16)(v1[t26 + 0], v1[t26 + 9], v1[t26 + 18], v1[t26 + 27], v1[t26 + 36], v1[t26 + 45], v1[t26 + 54], v1[t26 + 63], v1[t26 + 72], v1[t26 + 81], v1[t26 + 90], v1[t26 + 99], v1[t26 + 108], v1[t26 + 117], v1[t26 + 126], v1[t26 + 135]);
        const float16 t28 = t27 * (float16)(0x1.234568p+0f);
        const float16 t29 = t28 * (float16)(0x1.b89402p-2f);
        const float16 t30 = (-t25) - t29;
        TARN_STORE(__global, float, t30, v0 + i0 + 384);
        const long t31 = 9 * i0 + 8;
        const float16 t32 = (float16)(v1[t31 + 0], v1[t31 + 9], v1[t31 + 18], v1[t31 + 27], v1[t31 + 36], v1[t31 + 45], v1[t31 + 54], v1[t31 + 63], v1[t31 + 72], v1[t31 + 81], v1[t31 + 90], v1[t31 + 99], v1[t31 + 108], v1[t31 + 117], v1[t31 + 126], v1[t31 + 135]);
        const float16 t33 = fma(t32, (float16)(0x1.135c82p-2f), t23 * (float16)(0x1.607668p-1f));
        const long t34 = 9 * i0 + 7;
        const float16 t35 = (float16)(v1[t34 + 0], v1[t34 + 9], v1[t34 + 18], v1[t34 + 27], v1[t34 + 36], v1[t34 + 45], v1[t34 + 54], v1[t34 + 63], v1[t34 + 72], v1[t34 + 81], v1[t34 + 90], v1[t34 + 99], v1[t34 + 108], v1[t34 + 117], v1[t34 + 126], v1[t34 + 135]);
        const float16 t36 = t35 * (float16)(0x1.b89402p-2f);
        const float16 t37 = (-t33) - t36;
        const float16 t38 = fma(t37, (float16)(0x1.135c82p-2f), t11 * (float16)(0x1.607668p-1f));
        const long t39 = 9 * i0 + 5;
        const float16 t40 = (float16)(v1[t39 + 0], v1[t39 + 9], v1[t39 + 18], v1[t39 + 27], v1[t39 + 36], v1[t39 + 45], v1[t39 + 54], v1[t39 + 63], v1[t39 + 72], v1[t39 + 81], v1[t39 + 90], v1[t39 + 99], v1[t39 + 108], v1[t39 + 117], v1[t39 + 126], v1[t39 + 135]);
        const float16 t41 = fma(t40, (float16)(0x1.135c82p-2f), t27 * (float16)(0x1.607668p-1f));
        const long t42 = 9 * i0 + 4;
        const float16 t43 = (float16)(v1[t42 + 0], v1[t42 + 9], v1[t42 + 18], v1[t42 + 27], v1[t42 + 36], v1[t42 + 45], v1[t42 + 54], v1[t42 + 63], v1[t42 + 72], v1[t42 + 81], v1[t42 + 90], v1[t42 + 99], v1[t42 + 108], v1[t42 + 117], v1[t42 + 126], v1[t42 + 135]);
        const float16 t44 = t43 * (float16)(0x1.b89402p-2f);
        const float16 t45 = (-t41) - t44;
        const float16 t46 = t45 * (float16)(0x1.b89402p-2f);
        const float16 t47 = (-t38) - t46;
        TARN_STORE(__global, float, t47, v0 + i0 + 448);
        const float16 t48 = (-t33) + t36;
        const float16 t49 = fma(t48, (float16)(0x1.135c82p-2f), t13 * (float16)(0x1.607668p-1f));
        const float16 t50 = (-t41) + t44;
        const float16 t51 = t50 * (float16)(0x1.b89402p-2f);
        const float16 t52 = (-t49) - t51;
        TARN_STORE(__global, float, t52, v0 + i0 + 512);
        const float16 t53 = fma(t32, (float16)(0x1.135c82p-2f), t23 * (float16)(0x1.e98802p-4f));
        const float16 t54 = t35 * (float16)(0x1.6f2602p-3f);
        const float16 t55 = (t53) + t54;
        const float16 t56 = fma(t55, (float16)(0x1.135c82p-2f), t17 * (float16)(0x1.607668p-1f));
        const float16 t57 = fma(t40, (float16)(0x1.135c82p-2f), t27 * (float16)(0x1.e98802p-4f));
        const float16 t58 = t43 * (float16)(0x1.6f2602p-3f);
        const float16 t59 = (t57) + t58;
        const float16 t60 = t59 * (float16)(0x1.b89402p-2f);
        const float16 t61 = (-t56) - t60;
        TARN_STORE(__global, float, t61, v0 + i0 + 576);
        const float16 t62 = (t53) - t54;
        const float16 t63 = fma(t62, (float16)(0x1.135c82p-2f), t19 * (float16)(0x1.607668p-1f));
        const float16 t64 = (t57) - t58;
        const float16 t65 = t64 * (float16)(0x1.b89402p-2f);
        const float16 t66 = (-t63) - t65;
        TARN_STORE(__global, float, t66, v0 + i0 + 640);
        const float16 t67 = fma(t32, (float16)(0x1.135c82p-2f), t6 * (float16)(0x1.607668p-1f));
        const float16 t68 = t40 * (float16)(0x1.b89402p-2f);
        const float16 t69 = (-t67) - t68;
        TARN_STORE(__global, float, t69, v0 + i0 + 704);
        const float16 t70 = (-t25) + t29;
        TARN_STORE(__global, float, t70, v0 + i0 + 768);
        const float16 t71 = (-t38) + t46;
        TARN_STORE(__global, float, t71, v0 + i0 + 832);
        const float16 t72 = (-t49) + t51;
        TARN_STORE(__global, float, t72, v0 + i0 + 896);
        const float16 t73 = (-t56) + t60;
        TARN_STORE(__global, float, t73, v0 + i0 + 960);
        const float16 t74 = (-t63) + t65;
        TARN_STORE(__global, float, t74, v0 + i0 + 1024);
        const float16 t75 = (-t67) + t68;
        TARN_STORE(__global, float, t75, v0 + i0 + 1088);
        const float16 t76 = fma(t24, (float16)(0x1.135c82p-2f), t3 * (float16)(0x1.e98802p-4f));
        const float16 t77 = t28 * (float16)(0x1.6f2602p-3f);
        const float16 t78 = (t76) + t77;
        TARN_STORE(__global, float, t78, v0 + i0 + 1152);
        const float16 t79 = fma(t37, (float16)(0x1.135c82p-2f), t11 * (float16)(0x1.e98802p-4f));
        const float16 t80 = t45 * (float16)(0x1.6f2602p-3f);
        const float16 t81 = (t79) + t80;
        TARN_STORE(__global, float, t81, v0 + i0 + 1216);
        const float16 t82 = fma(t48, (float16)(0x1.135c82p-2f), t13 * (float16)(0x1.e98802p-4f));
        const float16 t83 = t50 * (float16)(0x1.6f2602p-3f);
        const float16 t84 = (t82) + t83;
        TARN_STORE(__global, float, t84, v0 + i0 + 1280);
        const float16 t85 = fma(t55, (float16)(0x1.135c82p-2f), t17 * (float16)(0x1.e98802p-4f));
        const float16 t86 = t59 * (float16)(0x1.6f2602p-3f);
        const float16 t87 = (t85) + t86;
        TARN_STORE(__global, float, t87, v0 + i0 + 1344);
        const float16 t88 = fma(t62, (float16)(0x1.135c82p-2f), t19 * (float16)(0x1.e98802p-4f));
        const float16 t89 = t64 * (float16)(0x1.6f2602p-3f);
        const float16 t90 = (t88) + t89;
        TARN_STORE(__global, float, t90, v0 + i0 + 1408);
        const float16 t91 = fma(t32, (float16)(0x1.135c82p-2f), t6 * (float16)(0x1.e98802p-4f));
        const float16 t92 = t40 * (float16)(0x1.6f2602p-3f);
        const float16 t93 = (t91) + t92;
        TARN_STORE(__global, float, t93, v0 + i0 + 1472);
        const float16 t94 = (t76) - t77;
        TARN_STORE(__global, float, t94, v0 + i0 + 1536);
        const float16 t95 = (t79) - t80;
        TARN_STORE(__global, float, t95, v0 + i0 + 1600);
        const float16 t96 = (t82) - t83;
        TARN_STORE(__global, float, t96, v0 + i0 + 1664);
        const float16 t97 = (t85) - t86;
        TARN_STORE(__global, float, t97, v0 + i0 + 1728);
        const float16 t98 = (t88) - t89;
        TARN_STORE(__global, float, t98, v0 + i0 + 1792);
        const float16 t99 = (t91) - t92;
        TARN_STORE(__global, float, t99, v0 + i0 + 1856);
        TARN_STORE(__global, float, t24, v0 + i0 + 1920);
        TARN_STORE(__global, float, t37, v0 + i0 + 1984);
        TARN_STORE(__global, float, t48, v0 + i0 + 2048);
        TARN_STORE(__global, float, t55, v0 + i0 + 2112);
        TARN_STORE(__global, float, t62, v0 + i0 + 2176);
        TARN_STORE(__global, float, t32, v0 + i0 + 2240);
    }
}
#endif
#ifndef TARN_nest_0e09ce3a53c2d51b
#define TARN_nest_0e09ce3a53c2d51b
TARN_APART void nest_0e09ce3a53c2d51b(long b, __local float *v0, __global float *v1)
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
#endif
#ifndef TARN_nest_7c1cc641aa788527
#define TARN_nest_7c1cc641aa788527
TARN_APART void nest_7c1cc641aa788527(__local float *v0, __local float *v1)
{
    #pragma unroll 1
    for (long i3 = 0; i3 < 8; i3 += 1) {
        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3)));
        const float16 t2 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 2)));
        const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 4)));
        const float16 t4 = (fma(t2, (float16)(-0x1.52p+1f), t1 * (float16)(0x1.c2p-1f))) + t3;
        const float16 t5 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 12)));
        const float16 t6 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 14)));
        const float16 t7 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 16)));
        const float16 t8 = (fma(t6, (float16)(-0x1.52p+1f), t5 * (float16)(0x1.c2p-1f))) + t7;
        const float16 t9 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 24)));
        const float16 t10 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 26)));
        const float16 t11 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 28)));
        const float16 t12 = (fma(t10, (float16)(-0x1.52p+1f), t9 * (float16)(0x1.c2p-1f))) + t11;
        const float16 t13 = (fma(t8, (float16)(-0x1.52p+1f), t4 * (float16)(0x1.c2p-1f))) + t12;
        TARN_STORE(__local, float, t13, v0 + 16 * (i3));
        const float16 t14 = (t2 * (float16)(0x1.2p+1f)) - t3;
        const float16 t15 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 1)));
        const float16 t16 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 3)));
        const float16 t17 = fma(t16, (float16)(-0x1.4p-1f), t15 * (float16)(0x1.68p+0f));
        const float16 t18 = (-t14) - t17;
        const float16 t19 = (t6 * (float16)(0x1.2p+1f)) - t7;
        const float16 t20 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 13)));
        const float16 t21 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 15)));
        const float16 t22 = fma(t21, (float16)(-0x1.4p-1f), t20 * (float16)(0x1.68p+0f));
        const float16 t23 = (-t19) - t22;
        const float16 t24 = (t10 * (float16)(0x1.2p+1f)) - t11;
        const float16 t25 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 25)));
        const float16 t26 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 27)));
        const float16 t27 = fma(t26, (float16)(-0x1.4p-1f), t25 * (float16)(0x1.68p+0f));
        const float16 t28 = (-t24) - t27;
        const float16 t29 = (fma(t23, (float16)(-0x1.52p+1f), t18 * (float16)(0x1.c2p-1f))) + t28;
        TARN_STORE(__local, float, t29, v0 + 16 * (i3 + 9));
        const float16 t30 = (-t14) + t17;
        const float16 t31 = (-t19) + t22;
        const float16 t32 = (-t24) + t27;
        const float16 t33 = (fma(t31, (float16)(-0x1.52p+1f), t30 * (float16)(0x1.c2p-1f))) + t32;
        TARN_STORE(__local, float, t33, v0 + 16 * (i3 + 18));
        const float16 t34 = (t2 * (float16)(0x1.9p-2f)) - t3;
        const float16 t35 = fma(t16, (float16)(-0x1.8p+0f), t15 * (float16)(0x1.2cp-1f));
        const float16 t36 = (-t34) - t35;
        const float16 t37 = (t6 * (float16)(0x1.9p-2f)) - t7;
        const float16 t38 = fma(t21, (float16)(-0x1.8p+0f), t20 * (float16)(0x1.2cp-1f));
        const float16 t39 = (-t37) - t38;
        const float16 t40 = (t10 * (float16)(0x1.9p-2f)) - t11;
        const float16 t41 = fma(t26, (float16)(-0x1.8p+0f), t25 * (float16)(0x1.2cp-1f));
        const float16 t42 = (-t40) - t41;
        const float16 t43 = (fma(t39, (float16)(-0x1.52p+1f), t36 * (float16)(0x1.c2p-1f))) + t42;
        TARN_STORE(__local, float, t43, v0 + 16 * (i3 + 27));
        const float16 t44 = (-t34) + t35;
        const float16 t45 = (-t37) + t38;
        const float16 t46 = (-t40) + t41;
        const float16 t47 = (fma(t45, (float16)(-0x1.52p+1f), t44 * (float16)(0x1.c2p-1f))) + t46;
        TARN_STORE(__local, float, t47, v0 + 16 * (i3 + 36));
        const float16 t48 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 5)));
        const float16 t49 = (fma(t16, (float16)(-0x1.52p+1f), t15 * (float16)(0x1.c2p-1f))) + t48;
        const float16 t50 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 17)));
        const float16 t51 = (fma(t21, (float16)(-0x1.52p+1f), t20 * (float16)(0x1.c2p-1f))) + t50;
        const float16 t52 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 29)));
        const float16 t53 = (fma(t26, (float16)(-0x1.52p+1f), t25 * (float16)(0x1.c2p-1f))) + t52;
        const float16 t54 = (fma(t51, (float16)(-0x1.52p+1f), t49 * (float16)(0x1.c2p-1f))) + t53;
        TARN_STORE(__local, float, t54, v0 + 16 * (i3 + 45));
        const float16 t55 = (t8 * (float16)(0x1.2p+1f)) - t12;
        const float16 t56 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 6)));
        const float16 t57 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 8)));
        const float16 t58 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 10)));
        const float16 t59 = (fma(t57, (float16)(-0x1.52p+1f), t56 * (float16)(0x1.c2p-1f))) + t58;
        const float16 t60 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 18)));
        const float16 t61 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 20)));
        const float16 t62 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 22)));
        const float16 t63 = (fma(t61, (float16)(-0x1.52p+1f), t60 * (float16)(0x1.c2p-1f))) + t62;
        const float16 t64 = fma(t63, (float16)(-0x1.4p-1f), t59 * (float16)(0x1.68p+0f));
        const float16 t65 = (-t55) - t64;
        TARN_STORE(__local, float, t65, v0 + 16 * (i3 + 54));
        const float16 t66 = (t23 * (float16)(0x1.2p+1f)) - t28;
        const float16 t67 = (t57 * (float16)(0x1.2p+1f)) - t58;
        const float16 t68 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 7)));
        const float16 t69 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 9)));
        const float16 t70 = fma(t69, (float16)(-0x1.4p-1f), t68 * (float16)(0x1.68p+0f));
        const float16 t71 = (-t67) - t70;
        const float16 t72 = (t61 * (float16)(0x1.2p+1f)) - t62;
        const float16 t73 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 19)));
        const float16 t74 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 21)));
        const float16 t75 = fma(t74, (float16)(-0x1.4p-1f), t73 * (float16)(0x1.68p+0f));
        const float16 t76 = (-t72) - t75;
        const float16 t77 = fma(t76, (float16)(-0x1.4p-1f), t71 * (float16)(0x1.68p+0f));
        const float16 t78 = (-t66) - t77;
        TARN_STORE(__local, float, t78, v0 + 16 * (i3 + 63));
        const float16 t79 = (t31 * (float16)(0x1.2p+1f)) - t32;
        const float16 t80 = (-t67) + t70;
        const float16 t81 = (-t72) + t75;
        const float16 t82 = fma(t81, (float16)(-0x1.4p-1f), t80 * (float16)(0x1.68p+0f));
        const float16 t83 = (-t79) - t82;
        TARN_STORE(__local, float, t83, v0 + 16 * (i3 + 72));
        const float16 t84 = (t39 * (float16)(0x1.2p+1f)) - t42;
        const float16 t85 = (t57 * (float16)(0x1.9p-2f)) - t58;
        const float16 t86 = fma(t69, (float16)(-0x1.8p+0f), t68 * (float16)(0x1.2cp-1f));
        const float16 t87 = (-t85) - t86;
        const float16 t88 = (t61 * (float16)(0x1.9p-2f)) - t62;
        const float16 t89 = fma(t74, (float16)(-0x1.8p+0f), t73 * (float16)(0x1.2cp-1f));
        const float16 t90 = (-t88) - t89;
        const float16 t91 = fma(t90, (float16)(-0x1.4p-1f), t87 * (float16)(0x1.68p+0f));
        const float16 t92 = (-t84) - t91;
        TARN_STORE(__local, float, t92, v0 + 16 * (i3 + 81));
        const float16 t93 = (t45 * (float16)(0x1.2p+1f)) - t46;
        const float16 t94 = (-t85) + t86;
        const float16 t95 = (-t88) + t89;
        const float16 t96 = fma(t95, (float16)(-0x1.4p-1f), t94 * (float16)(0x1.68p+0f));
        const float16 t97 = (-t93) - t96;
        TARN_STORE(__local, float, t97, v0 + 16 * (i3 + 90));
        const float16 t98 = (t51 * (float16)(0x1.2p+1f)) - t53;
        const float16 t99 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 11)));
        const float16 t100 = (fma(t69, (float16)(-0x1.52p+1f), t68 * (float16)(0x1.c2p-1f))) + t99;
        const float16 t101 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 23)));
        const float16 t102 = (fma(t74, (float16)(-0x1.52p+1f), t73 * (float16)(0x1.c2p-1f))) + t101;
        const float16 t103 = fma(t102, (float16)(-0x1.4p-1f), t100 * (float16)(0x1.68p+0f));
        const float16 t104 = (-t98) - t103;
        TARN_STORE(__local, float, t104, v0 + 16 * (i3 + 99));
        const float16 t105 = (-t55) + t64;
        TARN_STORE(__local, float, t105, v0 + 16 * (i3 + 108));
        const float16 t106 = (-t66) + t77;
        TARN_STORE(__local, float, t106, v0 + 16 * (i3 + 117));
        const float16 t107 = (-t79) + t82;
        TARN_STORE(__local, float, t107, v0 + 16 * (i3 + 126));
        const float16 t108 = (-t84) + t91;
        TARN_STORE(__local, float, t108, v0 + 16 * (i3 + 135));
        const float16 t109 = (-t93) + t96;
        TARN_STORE(__local, float, t109, v0 + 16 * (i3 + 144));
        const float16 t110 = (-t98) + t103;
        TARN_STORE(__local, float, t110, v0 + 16 * (i3 + 153));
        const float16 t111 = (t8 * (float16)(0x1.9p-2f)) - t12;
        const float16 t112 = fma(t63, (float16)(-0x1.8p+0f), t59 * (float16)(0x1.2cp-1f));
        const float16 t113 = (-t111) - t112;
        TARN_STORE(__local, float, t113, v0 + 16 * (i3 + 162));
        const float16 t114 = (t23 * (float16)(0x1.9p-2f)) - t28;
        const float16 t115 = fma(t76, (float16)(-0x1.8p+0f), t71 * (float16)(0x1.2cp-1f));
        const float16 t116 = (-t114) - t115;
        TARN_STORE(__local, float, t116, v0 + 16 * (i3 + 171));
        const float16 t117 = (t31 * (float16)(0x1.9p-2f)) - t32;
        const float16 t118 = fma(t81, (float16)(-0x1.8p+0f), t80 * (float16)(0x1.2cp-1f));
        const float16 t119 = (-t117) - t118;
        TARN_STORE(__local, float, t119, v0 + 16 * (i3 + 180));
        const float16 t120 = (t39 * (float16)(0x1.9p-2f)) - t42;
        const float16 t121 = fma(t90, (float16)(-0x1.8p+0f), t87 * (float16)(0x1.2cp-1f));
        const float16 t122 = (-t120) - t121;
        TARN_STORE(__local, float, t122, v0 + 16 * (i3 + 189));
        const float16 t123 = (t45 * (float16)(0x1.9p-2f)) - t46;
        const float16 t124 = fma(t95, (float16)(-0x1.8p+0f), t94 * (float16)(0x1.2cp-1f));
        const float16 t125 = (-t123) - t124;
        TARN_STORE(__local, float, t125, v0 + 16 * (i3 + 198));
        const float16 t126 = (t51 * (float16)(0x1.9p-2f)) - t53;
        const float16 t127 = fma(t102, (float16)(-0x1.8p+0f), t100 * (float16)(0x1.2cp-1f));
        const float16 t128 = (-t126) - t127;
        TARN_STORE(__local, float, t128, v0 + 16 * (i3 + 207));
        const float16 t129 = (-t111) + t112;
        TARN_STORE(__local, float, t129, v0 + 16 * (i3 + 216));
        const float16 t130 = (-t114) + t115;
        TARN_STORE(__local, float, t130, v0 + 16 * (i3 + 225));
        const float16 t131 = (-t117) + t118;
        TARN_STORE(__local, float, t131, v0 + 16 * (i3 + 234));
        const float16 t132 = (-t120) + t121;
        TARN_STORE(__local, float, t132, v0 + 16 * (i3 + 243));
        const float16 t133 = (-t123) + t124;
        TARN_STORE(__local, float, t133, v0 + 16 * (i3 + 252));
        const float16 t134 = (-t126) + t127;
        TARN_STORE(__local, float, t134, v0 + 16 * (i3 + 261));
        const float16 t135 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 30)));
        const float16 t136 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 32)));
        const float16 t137 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 34)));
        const float16 t138 = (fma(t136, (float16)(-0x1.52p+1f), t135 * (float16)(0x1.c2p-1f))) + t137;
        const float16 t139 = (fma(t63, (float16)(-0x1.52p+1f), t59 * (float16)(0x1.c2p-1f))) + t138;
        TARN_STORE(__local, float, t139, v0 + 16 * (i3 + 270));
        const float16 t140 = (t136 * (float16)(0x1.2p+1f)) - t137;
        const float16 t141 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 31)));
        const float16 t142 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 33)));
        const float16 t143 = fma(t142, (float16)(-0x1.4p-1f), t141 * (float16)(0x1.68p+0f));
        const float16 t144 = (-t140) - t143;
        const float16 t145 = (fma(t76, (float16)(-0x1.52p+1f), t71 * (float16)(0x1.c2p-1f))) + t144;
        TARN_STORE(__local, float, t145, v0 + 16 * (i3 + 279));
        const float16 t146 = (-t140) + t143;
        const float16 t147 = (fma(t81, (float16)(-0x1.52p+1f), t80 * (float16)(0x1.c2p-1f))) + t146;
        TARN_STORE(__local, float, t147, v0 + 16 * (i3 + 288));
        const float16 t148 = (t136 * (float16)(0x1.9p-2f)) - t137;
        const float16 t149 = fma(t142, (float16)(-0x1.8p+0f), t141 * (float16)(0x1.2cp-1f));
        const float16 t150 = (-t148) - t149;
        const float16 t151 = (fma(t90, (float16)(-0x1.52p+1f), t87 * (float16)(0x1.c2p-1f))) + t150;
        TARN_STORE(__local, float, t151, v0 + 16 * (i3 + 297));
        const float16 t152 = (-t148) + t149;
        const float16 t153 = (fma(t95, (float16)(-0x1.52p+1f), t94 * (float16)(0x1.c2p-1f))) + t152;
        TARN_STORE(__local, float, t153, v0 + 16 * (i3 + 306));
        const float16 t154 = (TARN_LOAD(__local, float, v1 + 16 * (36 * i3 + 35)));
        const float16 t155 = (fma(t142, (float16)(-0x1.52p+1f), t141 * (float16)(0x1.c2p-1f))) + t154;
        const float16 t156 = (fma(t102, (float16)(-0x1.52p+1f), t100 * (float16)(0x1.c2p-1f))) + t155;
        TARN_STORE(__local, float, t156, v0 + 16 * (i3 + 315));
    }
}
#endif
#ifndef TARN_nest_4eea3e793bcf918e
#define TARN_nest_4eea3e793bcf918e
TARN_APART void nest_4eea3e793bcf918e(__local float *v0, __local float *v1, __global float *v2)
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
                const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (54 * i1 + 9 * i2 + i5)));
                const float16 t2 = (float16)(v2[384 * i1 + 64 * i2 + i5]);
                acc0 = fma(t1, t2, acc0);
                const float16 t3 = (float16)(v2[384 * i1 + 64 * i2 + i5 + 8]);
                acc1 = fma(t1, t3, acc1);
                const float16 t4 = (float16)(v2[384 * i1 + 64 * i2 + i5 + 16]);
                acc2 = fma(t1, t4, acc2);
                const float16 t5 = (float16)(v2[384 * i1 + 64 * i2 + i5 + 24]);
                acc3 = fma(t1, t5, acc3);
                const float16 t6 = (float16)(v2[384 * i1 + 64 * i2 + i5 + 32]);
                acc4 = fma(t1, t6, acc4);
                const float16 t7 = (float16)(v2[384 * i1 + 64 * i2 + i5 + 40]);
                acc5 = fma(t1, t7, acc5);
                const float16 t8 = (float16)(v2[384 * i1 + 64 * i2 + i5 + 48]);
                acc6 = fma(t1, t8, acc6);
                const float16 t9 = (float16)(v2[384 * i1 + 64 * i2 + i5 + 56]);
                acc7 = fma(t1, t9, acc7);
            }
            TARN_STORE(__local, float, acc0, v0 + 16 * (54 * i1 + 9 * i2));
            TARN_STORE(__local, float, acc1, v0 + 16 * (54 * i1 + 9 * i2 + 1));
            TARN_STORE(__local, float, acc2, v0 + 16 * (54 * i1 + 9 * i2 + 2));
            TARN_STORE(__local, float, acc3, v0 + 16 * (54 * i1 + 9 * i2 + 3));
            TARN_STORE(__local, float, acc4, v0 + 16 * (54 * i1 + 9 * i2 + 4));
            TARN_STORE(__local, float, acc5, v0 + 16 * (54 * i1 + 9 * i2 + 5));
            TARN_STORE(__local, float, acc6, v0 + 16 * (54 * i1 + 9 * i2 + 6));
            TARN_STORE(__local, float, acc7, v0 + 16 * (54 * i1 + 9 * i2 + 7));
        }
    }
}
#endif
#ifndef TARN_nest_9d26e43fc5f532b8
#define TARN_nest_9d26e43fc5f532b8
TARN_APART void nest_9d26e43fc5f532b8(__local float *v0, __local float *v1)
{
    #pragma unroll 1
    for (long i1 = 0; i1 < 8; i1 += 1) {
        const float16 t1 = (TARN_LOAD(__local, float, v1 + 16 * (i1)));
        const float16 t2 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 9)));
        const float16 t3 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 18)));
        const float16 t4 = (t2) + t3;
        const float16 t5 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 27)));
        const float16 t6 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 36)));
        const float16 t7 = (t5) + t6;
        const float16 t8 = ((t1) + t4) + t7;
        const float16 t9 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 54)));
        const float16 t10 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 63)));
        const float16 t11 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 72)));
        const float16 t12 = (t10) + t11;
        const float16 t13 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 81)));
        const float16 t14 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 90)));
        const float16 t15 = (t13) + t14;
        const float16 t16 = ((t9) + t12) + t15;
        const float16 t17 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 108)));
        const float16 t18 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 117)));
        const float16 t19 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 126)));
        const float16 t20 = (t18) + t19;
        const float16 t21 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 135)));
        const float16 t22 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 144)));
        const float16 t23 = (t21) + t22;
        const float16 t24 = ((t17) + t20) + t23;
        const float16 t25 = (t16) + t24;
        const float16 t26 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 162)));
        const float16 t27 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 171)));
        const float16 t28 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 180)));
        const float16 t29 = (t27) + t28;
        const float16 t30 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 189)));
        const float16 t31 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 198)));
        const float16 t32 = (t30) + t31;
        const float16 t33 = ((t26) + t29) + t32;
        const float16 t34 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 216)));
        const float16 t35 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 225)));
        const float16 t36 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 234)));
        const float16 t37 = (t35) + t36;
        const float16 t38 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 243)));
        const float16 t39 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 252)));
        const float16 t40 = (t38) + t39;
        const float16 t41 = ((t34) + t37) + t40;
        const float16 t42 = (t33) + t41;
        const float16 t43 = ((t8) + t25) + t42;
        TARN_STORE(__local, float, t43, v0 + 16 * (16 * i1));
        const float16 t44 = (t2) - t3;
        const float16 t45 = (t5) - t6;
        const float16 t46 = fma(t45, (float16)(0x1.8p+0f), t44 * (float16)(0x1.4p-1f));
        const float16 t47 = (t10) - t11;
        const float16 t48 = (t13) - t14;
        const float16 t49 = fma(t48, (float16)(0x1.8p+0f), t47 * (float16)(0x1.4p-1f));
        const float16 t50 = (t18) - t19;
        const float16 t51 = (t21) - t22;
        const float16 t52 = fma(t51, (float16)(0x1.8p+0f), t50 * (float16)(0x1.4p-1f));
        const float16 t53 = (t49) + t52;
        const float16 t54 = (t27) - t28;
        const float16 t55 = (t30) - t31;
        const float16 t56 = fma(t55, (float16)(0x1.8p+0f), t54 * (float16)(0x1.4p-1f));
        const float16 t57 = (t35) - t36;
        const float16 t58 = (t38) - t39;
        const float16 t59 = fma(t58, (float16)(0x1.8p+0f), t57 * (float16)(0x1.4p-1f));
        const float16 t60 = (t56) + t59;
        const float16 t61 = ((t46) + t53) + t60;
        TARN_STORE(__local, float, t61, v0 + 16 * (16 * i1 + 1));
        const float16 t62 = fma(t7, (float16)(0x1.2p+1f), t4 * (float16)(0x1.9p-2f));
        const float16 t63 = fma(t15, (float16)(0x1.2p+1f), t12 * (float16)(0x1.9p-2f));
        const float16 t64 = fma(t23, (float16)(0x1.2p+1f), t20 * (float16)(0x1.9p-2f));
        const float16 t65 = (t63) + t64;
        const float16 t66 = fma(t32, (float16)(0x1.2p+1f), t29 * (float16)(0x1.9p-2f));
        const float16 t67 = fma(t40, (float16)(0x1.2p+1f), t37 * (float16)(0x1.9p-2f));
        const float16 t68 = (t66) + t67;
        const float16 t69 = ((t62) + t65) + t68;
        TARN_STORE(__local, float, t69, v0 + 16 * (16 * i1 + 2));
        const float16 t70 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 45)));
        const float16 t71 = (fma(t45, (float16)(0x1.bp+1f), t44 * (float16)(0x1.f4p-3f))) + t70;
        const float16 t72 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 99)));
        const float16 t73 = (fma(t48, (float16)(0x1.bp+1f), t47 * (float16)(0x1.f4p-3f))) + t72;
        const float16 t74 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 153)));
        const float16 t75 = (fma(t51, (float16)(0x1.bp+1f), t50 * (float16)(0x1.f4p-3f))) + t74;
        const float16 t76 = (t73) + t75;
        const float16 t77 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 207)));
        const float16 t78 = (fma(t55, (float16)(0x1.bp+1f), t54 * (float16)(0x1.f4p-3f))) + t77;
        const float16 t79 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 261)));
        const float16 t80 = (fma(t58, (float16)(0x1.bp+1f), t57 * (float16)(0x1.f4p-3f))) + t79;
        const float16 t81 = (t78) + t80;
        const float16 t82 = ((t71) + t76) + t81;
        TARN_STORE(__local, float, t82, v0 + 16 * (16 * i1 + 3));
        const float16 t83 = (t16) - t24;
        const float16 t84 = (t33) - t41;
        const float16 t85 = fma(t84, (float16)(0x1.8p+0f), t83 * (float16)(0x1.4p-1f));
        TARN_STORE(__local, float, t85, v0 + 16 * (16 * i1 + 4));
        const float16 t86 = (t49) - t52;
        const float16 t87 = (t56) - t59;
        const float16 t88 = fma(t87, (float16)(0x1.8p+0f), t86 * (float16)(0x1.4p-1f));
        TARN_STORE(__local, float, t88, v0 + 16 * (16 * i1 + 5));
        const float16 t89 = (t63) - t64;
        const float16 t90 = (t66) - t67;
        const float16 t91 = fma(t90, (float16)(0x1.8p+0f), t89 * (float16)(0x1.4p-1f));
        TARN_STORE(__local, float, t91, v0 + 16 * (16 * i1 + 6));
        const float16 t92 = (t73) - t75;
        const float16 t93 = (t78) - t80;
        const float16 t94 = fma(t93, (float16)(0x1.8p+0f), t92 * (float16)(0x1.4p-1f));
        TARN_STORE(__local, float, t94, v0 + 16 * (16 * i1 + 7));
        const float16 t95 = fma(t42, (float16)(0x1.2p+1f), t25 * (float16)(0x1.9p-2f));
        TARN_STORE(__local, float, t95, v0 + 16 * (16 * i1 + 8));
        const float16 t96 = fma(t60, (float16)(0x1.2p+1f), t53 * (float16)(0x1.9p-2f));
        TARN_STORE(__local, float, t96, v0 + 16 * (16 * i1 + 9));
        const float16 t97 = fma(t68, (float16)(0x1.2p+1f), t65 * (float16)(0x1.9p-2f));
        TARN_STORE(__local, float, t97, v0 + 16 * (16 * i1 + 10));
        const float16 t98 = fma(t81, (float16)(0x1.2p+1f), t76 * (float16)(0x1.9p-2f));
        TARN_STORE(__local, float, t98, v0 + 16 * (16 * i1 + 11));
        const float16 t99 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 270)));
        const float16 t100 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 279)));
        const float16 t101 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 288)));
        const float16 t102 = (t100) + t101;
        const float16 t103 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 297)));
        const float16 t104 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 306)));
        const float16 t105 = (t103) + t104;
        const float16 t106 = ((t99) + t102) + t105;
        const float16 t107 = (fma(t84, (float16)(0x1.bp+1f), t83 * (float16)(0x1.f4p-3f))) + t106;
        TARN_STORE(__local, float, t107, v0 + 16 * (16 * i1 + 12));
        const float16 t108 = (t100) - t101;
        const float16 t109 = (t103) - t104;
        const float16 t110 = fma(t109, (float16)(0x1.8p+0f), t108 * (float16)(0x1.4p-1f));
        const float16 t111 = (fma(t87, (float16)(0x1.bp+1f), t86 * (float16)(0x1.f4p-3f))) + t110;
        TARN_STORE(__local, float, t111, v0 + 16 * (16 * i1 + 13));
        const float16 t112 = fma(t105, (float16)(0x1.2p+1f), t102 * (float16)(0x1.9p-2f));
        const float16 t113 = (fma(t90, (float16)(0x1.bp+1f), t89 * (float16)(0x1.f4p-3f))) + t112;
        TARN_STORE(__local, float, t113, v0 + 16 * (16 * i1 + 14));
        const float16 t114 = (TARN_LOAD(__local, float, v1 + 16 * (i1 + 315)));
        const float16 t115 = (fma(t109, (float16)(0x1.bp+1f), t108 * (float16)(0x1.f4p-3f))) + t114;
        const float16 t116 = (fma(t93, (float16)(0x1.bp+1f), t92 * (float16)(0x1.f4p-3f))) + t115;
        TARN_STORE(__local, float, t116, v0 + 16 * (16 * i1 + 15));
    }
}
#endif
#ifndef TARN_nest_fb54507a26ee94e4
#define TARN_nest_fb54507a26ee94e4
TARN_APART void nest_fb54507a26ee94e4(long b, __global float *v0, __local float *v1)
{
    #pragma unroll 1
    for (long e = 0; e < 128; e += 16) {
        const long at = min(e, 112L);
        float16 row[16];
        row[0] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 0));
        row[1] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 1));
        row[2] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 2));
        row[3] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 3));
        row[4] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 4));
        row[5] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 5));
        row[6] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 6));
        row[7] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 7));
        row[8] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 8));
        row[9] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 9));
        row[10] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 10));
        row[11] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 11));
        row[12] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 12));
        row[13] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 13));
        row[14] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 14));
        row[15] = TARN_LOAD(__local, float, v1 + 16 * (0 + at + 15));
        TARN_TURN_16(float, row)
        TARN_STORE(__global, float, row[0], v0 + 0 + at + 128 * (16 * b + 0));
        TARN_STORE(__global, float, row[1], v0 + 0 + at + 128 * (16 * b + 1));
        TARN_STORE(__global, float, row[2], v0 + 0 + at + 128 * (16 * b + 2));
        TARN_STORE(__global, float, row[3], v0 + 0 + at + 128 * (16 * b + 3));
        TARN_STORE(__global, float, row[4], v0 + 0 + at + 128 * (16 * b + 4));
        TARN_STORE(__global, float, row[5], v0 + 0 + at + 128 * (16 * b + 5));
        TARN_STORE(__global, float, row[6], v0 + 0 + at + 128 * (16 * b + 6));
        TARN_STORE(__global, float, row[7], v0 + 0 + at + 128 * (16 * b + 7));
        TARN_STORE(__global, float, row[8], v0 + 0 + at + 128 * (16 * b + 8));
        TARN_STORE(__global, float, row[9], v0 + 0 + at + 128 * (16 * b + 9));
        TARN_STORE(__global, float, row[10], v0 + 0 + at + 128 * (16 * b + 10));
        TARN_STORE(__global, float, row[11], v0 + 0 + at + 128 * (16 * b + 11));
        TARN_STORE(__global, float, row[12], v0 + 0 + at + 128 * (16 * b + 12));
        TARN_STORE(__global, float, row[13], v0 + 0 + at + 128 * (16 * b + 13));
        TARN_STORE(__global, float, row[14], v0 + 0 + at + 128 * (16 * b + 14));
        TARN_STORE(__global, float, row[15], v0 + 0 + at + 128 * (16 * b + 15));
    }
}
#endif
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_1afd072d314dbcf5(const int skip, __global uchar *input0, __global uchar *arena, __global const ulong *offset, __global uchar *owned0, __global uchar *output0)
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
        nest_67b269a137ec3cbb(v3, v4);
        const long first = group * 1 / 1, last = (group + 1) * 1 / 1;
        #pragma unroll 1
        for (long b = first; b < last; ++b) {
            /* input [16 8 6 6] */
            nest_0e09ce3a53c2d51b(b, v0, v1);
            /* winograd input [16 6 6 8 1 1 | 6 6] */
            nest_7c1cc641aa788527(v2, v0);
            /* winograd product [16 6 6 8 1 | 8] */
            nest_4eea3e793bcf918e(v5, v2, v3);
            /* winograd result [16 8 1 4 1 4 | 6 6] */
            nest_9d26e43fc5f532b8(v6, v5);
            /* winograd result [16 8 4 4] */
            nest_fb54507a26ee94e4(b, v7, v6);
        }
    }
}


