/* k0: 1 groups of 1; skip 0, output 0, owned 0, at 0, owned 2, output 1, owned 3, owned 1; at bytes 0, 0, 0, 0 */
/* arena: 0 bytes */
/* pad conv2d */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_4757290464115ff6(const int skip, __global uchar *output0, __global uchar *owned0, __global const ulong *offset, __global uchar *owned1, __global uchar *output1, __global uchar *owned2, __global uchar *owned3)
{
    const int section_group = (int)get_group_id(0) + skip;
    __global float *v0 = (__global float *)(output0); /* [5,48] */
    __global float *v1 = (__global float *)(owned0 + offset[0]); /* [5,40] */
    __global float *v2 = (__global float *)(owned1 + offset[1]); /* [5] */
    __global float *v3 = (__global float *)(output1); /* [1,2,4,18] */
    __global float *v4 = (__global float *)(owned2 + offset[2]); /* [1,2,8,36] */
    __global float *v5 = (__global float *)(owned3 + offset[3]); /* [2,2,3,3] */
    /* pad */
    if (section_group >= 0 && section_group < 1) {
        const long group = section_group - 0;
        /* pad [5 48] */
        {
            #pragma unroll 1
            for (long i0 = 0; i0 < 5; i0 += 1) {
                long i1 = 0;
                #pragma unroll 1
                for (; i1 + 16 <= 48; i1 += 16) {
                    const int16 t1 = ((((int16)((int)(i1 - 3)) + 1 * TARN_LANES) >= 0) & (((int16)((int)(i1 - 3)) + 1 * TARN_LANES) <= 39));
                    const long t2 = 40 * i0 + i1 - 3;
                    const int16 t3 = t1 ? ((int16)((int)(40 * i0 + i1 - 3)) + 1 * TARN_LANES) : (int16)(0);
                    const float16 t4 = t2 >= 0 && t2 <= 184L ? (TARN_LOAD(__global, float, v1 + t2)) : (float16)(v1[t3.s0], v1[t3.s1], v1[t3.s2], v1[t3.s3], v1[t3.s4], v1[t3.s5], v1[t3.s6], v1[t3.s7], v1[t3.s8], v1[t3.s9], v1[t3.sa], v1[t3.sb], v1[t3.sc], v1[t3.sd], v1[t3.se], v1[t3.sf]);
                    const float16 t5 = (float16)(v2[i0]);
                    const float16 t6 = t4 - t5;
                    const float16 t7 = t1 ? t6 : (float16)(0x0p+0f);
                    TARN_STORE(__global, float, t7, v0 + 48 * i0 + i1);
                }
            }
        }
        /* conv2d [1 2 4 18 | 2 3 3] */
        {
            long i3 = 0;
            #pragma unroll 1
            for (; i3 + 16 <= 18; i3 += 16) {
                float16 acc0 = (float16)(0.0f);
                float16 acc1 = (float16)(0.0f);
                float16 acc2 = (float16)(0.0f);
                float16 acc3 = (float16)(0.0f);
                float16 acc4 = (float16)(0.0f);
                float16 acc5 = (float16)(0.0f);
                float16 acc6 = (float16)(0.0f);
                float16 acc7 = (float16)(0.0f);
                #pragma unroll 1
                for (long i4 = 0; i4 < 2; i4 += 1) {
                    #pragma unroll 1
                    for (long i5 = 0; i5 < 3; i5 += 1) {
                        const int16 t8 = (int16)(-((i5 - 1 >= 0))) & ((((int16)((int)(2 * i3 - 1)) + 2 * TARN_LANES) >= 0) & (((int16)((int)(2 * i3 - 1)) + 2 * TARN_LANES) <= 35));
                        const long t9 = 2 * i3 + 288 * i4 + 36 * i5 - 37;
                        const int16 t10 = t8 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 - 37)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t11 = t9 >= 0 && t9 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t9)) : (float16)(v4[t10.s0], v4[t10.s1], v4[t10.s2], v4[t10.s3], v4[t10.s4], v4[t10.s5], v4[t10.s6], v4[t10.s7], v4[t10.s8], v4[t10.s9], v4[t10.sa], v4[t10.sb], v4[t10.sc], v4[t10.sd], v4[t10.se], v4[t10.sf]);
                        const float16 t12 = (float16)(v5[9 * i4 + 3 * i5]);
                        acc0 = t8 ? fma(t11, t12, acc0) : acc0;
                        const int16 t13 = ((((int16)((int)(2 * i3 - 1)) + 2 * TARN_LANES) >= 0) & (((int16)((int)(2 * i3 - 1)) + 2 * TARN_LANES) <= 35));
                        const long t14 = 2 * i3 + 288 * i4 + 36 * i5 + 35;
                        const int16 t15 = t13 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 35)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t16 = t14 >= 0 && t14 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t14)) : (float16)(v4[t15.s0], v4[t15.s1], v4[t15.s2], v4[t15.s3], v4[t15.s4], v4[t15.s5], v4[t15.s6], v4[t15.s7], v4[t15.s8], v4[t15.s9], v4[t15.sa], v4[t15.sb], v4[t15.sc], v4[t15.sd], v4[t15.se], v4[t15.sf]);
                        acc1 = t13 ? fma(t16, t12, acc1) : acc1;
                        const long t17 = 2 * i3 + 288 * i4 + 36 * i5 + 107;
                        const int16 t18 = t13 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 107)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t19 = t17 >= 0 && t17 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t17)) : (float16)(v4[t18.s0], v4[t18.s1], v4[t18.s2], v4[t18.s3], v4[t18.s4], v4[t18.s5], v4[t18.s6], v4[t18.s7], v4[t18.s8], v4[t18.s9], v4[t18.sa], v4[t18.sb], v4[t18.sc], v4[t18.sd], v4[t18.se], v4[t18.sf]);
                        acc2 = t13 ? fma(t19, t12, acc2) : acc2;
                        const long t20 = 2 * i3 + 288 * i4 + 36 * i5 + 179;
                        const int16 t21 = t13 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 179)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t22 = t20 >= 0 && t20 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t20)) : (float16)(v4[t21.s0], v4[t21.s1], v4[t21.s2], v4[t21.s3], v4[t21.s4], v4[t21.s5], v4[t21.s6], v4[t21.s7], v4[t21.s8], v4[t21.s9], v4[t21.sa], v4[t21.sb], v4[t21.sc], v4[t21.sd], v4[t21.se], v4[t21.sf]);
                        acc3 = t13 ? fma(t22, t12, acc3) : acc3;
                        const float16 t23 = (float16)(v5[9 * i4 + 3 * i5 + 18]);
                        acc4 = t8 ? fma(t11, t23, acc4) : acc4;
                        acc5 = t13 ? fma(t16, t23, acc5) : acc5;
                        acc6 = t13 ? fma(t19, t23, acc6) : acc6;
                        acc7 = t13 ? fma(t22, t23, acc7) : acc7;
                        const int16 t24 = (int16)(-((i5 - 1 >= 0))) & ((((int16)((int)(2 * i3)) + 2 * TARN_LANES) <= 35));
                        const long t25 = 2 * i3 + 288 * i4 + 36 * i5 - 36;
                        const int16 t26 = t24 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 - 36)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t27 = t25 >= 0 && t25 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t25)) : (float16)(v4[t26.s0], v4[t26.s1], v4[t26.s2], v4[t26.s3], v4[t26.s4], v4[t26.s5], v4[t26.s6], v4[t26.s7], v4[t26.s8], v4[t26.s9], v4[t26.sa], v4[t26.sb], v4[t26.sc], v4[t26.sd], v4[t26.se], v4[t26.sf]);
                        const float16 t28 = (float16)(v5[9 * i4 + 3 * i5 + 1]);
                        acc0 = t24 ? fma(t27, t28, acc0) : acc0;
                        const int16 t29 = ((((int16)((int)(2 * i3)) + 2 * TARN_LANES) <= 35));
                        const long t30 = 2 * i3 + 288 * i4 + 36 * i5 + 36;
                        const int16 t31 = t29 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 36)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t32 = t30 >= 0 && t30 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t30)) : (float16)(v4[t31.s0], v4[t31.s1], v4[t31.s2], v4[t31.s3], v4[t31.s4], v4[t31.s5], v4[t31.s6], v4[t31.s7], v4[t31.s8], v4[t31.s9], v4[t31.sa], v4[t31.sb], v4[t31.sc], v4[t31.sd], v4[t31.se], v4[t31.sf]);
                        acc1 = t29 ? fma(t32, t28, acc1) : acc1;
                        const long t33 = 2 * i3 + 288 * i4 + 36 * i5 + 108;
                        const int16 t34 = t29 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 108)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t35 = t33 >= 0 && t33 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t33)) : (float16)(v4[t34.s0], v4[t34.s1], v4[t34.s2], v4[t34.s3], v4[t34.s4], v4[t34.s5], v4[t34.s6], v4[t34.s7], v4[t34.s8], v4[t34.s9], v4[t34.sa], v4[t34.sb], v4[t34.sc], v4[t34.sd], v4[t34.se], v4[t34.sf]);
                        acc2 = t29 ? fma(t35, t28, acc2) : acc2;
                        const long t36 = 2 * i3 + 288 * i4 + 36 * i5 + 180;
                        const int16 t37 = t29 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 180)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t38 = t36 >= 0 && t36 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t36)) : (float16)(v4[t37.s0], v4[t37.s1], v4[t37.s2], v4[t37.s3], v4[t37.s4], v4[t37.s5], v4[t37.s6], v4[t37.s7], v4[t37.s8], v4[t37.s9], v4[t37.sa], v4[t37.sb], v4[t37.sc], v4[t37.sd], v4[t37.se], v4[t37.sf]);
                        acc3 = t29 ? fma(t38, t28, acc3) : acc3;
                        const float16 t39 = (float16)(v5[9 * i4 + 3 * i5 + 19]);
                        acc4 = t24 ? fma(t27, t39, acc4) : acc4;
                        acc5 = t29 ? fma(t32, t39, acc5) : acc5;
                        acc6 = t29 ? fma(t35, t39, acc6) : acc6;
                        acc7 = t29 ? fma(t38, t39, acc7) : acc7;
                        const int16 t40 = (int16)(-((i5 - 1 >= 0))) & ((((int16)((int)(2 * i3 + 1)) + 2 * TARN_LANES) <= 35));
                        const long t41 = 2 * i3 + 288 * i4 + 36 * i5 - 35;
                        const int16 t42 = t40 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 - 35)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t43 = t41 >= 0 && t41 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t41)) : (float16)(v4[t42.s0], v4[t42.s1], v4[t42.s2], v4[t42.s3], v4[t42.s4], v4[t42.s5], v4[t42.s6], v4[t42.s7], v4[t42.s8], v4[t42.s9], v4[t42.sa], v4[t42.sb], v4[t42.sc], v4[t42.sd], v4[t42.se], v4[t42.sf]);
                        const float16 t44 = (float16)(v5[9 * i4 + 3 * i5 + 2]);
                        acc0 = t40 ? fma(t43, t44, acc0) : acc0;
                        const int16 t45 = ((((int16)((int)(2 * i3 + 1)) + 2 * TARN_LANES) <= 35));
                        const long t46 = 2 * i3 + 288 * i4 + 36 * i5 + 37;
                        const int16 t47 = t45 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 37)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t48 = t46 >= 0 && t46 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t46)) : (float16)(v4[t47.s0], v4[t47.s1], v4[t47.s2], v4[t47.s3], v4[t47.s4], v4[t47.s5], v4[t47.s6], v4[t47.s7], v4[t47.s8], v4[t47.s9], v4[t47.sa], v4[t47.sb], v4[t47.sc], v4[t47.sd], v4[t47.se], v4[t47.sf]);
                        acc1 = t45 ? fma(t48, t44, acc1) : acc1;
                        const long t49 = 2 * i3 + 288 * i4 + 36 * i5 + 109;
                        const int16 t50 = t45 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 109)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t51 = t49 >= 0 && t49 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t49)) : (float16)(v4[t50.s0], v4[t50.s1], v4[t50.s2], v4[t50.s3], v4[t50.s4], v4[t50.s5], v4[t50.s6], v4[t50.s7], v4[t50.s8], v4[t50.s9], v4[t50.sa], v4[t50.sb], v4[t50.sc], v4[t50.sd], v4[t50.se], v4[t50.sf]);
                        acc2 = t45 ? fma(t51, t44, acc2) : acc2;
                        const long t52 = 2 * i3 + 288 * i4 + 36 * i5 + 181;
                        const int16 t53 = t45 ? ((int16)((int)(2 * i3 + 288 * i4 + 36 * i5 + 181)) + 2 * TARN_LANES) : (int16)(0);
                        const float16 t54 = t52 >= 0 && t52 <= 545L ? (TARN_LOAD_EVEN(__global, float, v4 + t52)) : (float16)(v4[t53.s0], v4[t53.s1], v4[t53.s2], v4[t53.s3], v4[t53.s4], v4[t53.s5], v4[t53.s6], v4[t53.s7], v4[t53.s8], v4[t53.s9], v4[t53.sa], v4[t53.sb], v4[t53.sc], v4[t53.sd], v4[t53.se], v4[t53.sf]);
                        acc3 = t45 ? fma(t54, t44, acc3) : acc3;
                        const float16 t55 = (float16)(v5[9 * i4 + 3 * i5 + 20]);
                        acc4 = t40 ? fma(t43, t55, acc4) : acc4;
                        acc5 = t45 ? fma(t48, t55, acc5) : acc5;
                        acc6 = t45 ? fma(t51, t55, acc6) : acc6;
                        acc7 = t45 ? fma(t54, t55, acc7) : acc7;
                    }
                }
                TARN_STORE(__global, float, acc0, v3 + i3);
                TARN_STORE(__global, float, acc1, v3 + i3 + 18);
                TARN_STORE(__global, float, acc2, v3 + i3 + 36);
                TARN_STORE(__global, float, acc3, v3 + i3 + 54);
                TARN_STORE(__global, float, acc4, v3 + i3 + 72);
                TARN_STORE(__global, float, acc5, v3 + i3 + 90);
                TARN_STORE(__global, float, acc6, v3 + i3 + 108);
                TARN_STORE(__global, float, acc7, v3 + i3 + 126);
            }
            #pragma unroll 1
            for (; i3 < 18; ++i3) {
                float acc0 = (float)(0.0f);
                float acc1 = (float)(0.0f);
                float acc2 = (float)(0.0f);
                float acc3 = (float)(0.0f);
                float acc4 = (float)(0.0f);
                float acc5 = (float)(0.0f);
                float acc6 = (float)(0.0f);
                float acc7 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (long i4 = 0; i4 < 2; i4 += 1) {
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (long i5 = 0; i5 < 3; i5 += 1) {
                        if (((i5 - 1 >= 0)) && ((2 * i3 - 1 >= 0))) {
                            const float t56 = v4[2 * i3 + 288 * i4 + 36 * i5 - 37];
                            const float t57 = v5[9 * i4 + 3 * i5];
                            acc0 = fma(t56, t57, acc0);
                            const float t58 = v4[2 * i3 + 288 * i4 + 36 * i5 + 35];
                            acc1 = fma(t58, t57, acc1);
                            const float t59 = v4[2 * i3 + 288 * i4 + 36 * i5 + 107];
                            acc2 = fma(t59, t57, acc2);
                            const float t60 = v4[2 * i3 + 288 * i4 + 36 * i5 + 179];
                            acc3 = fma(t60, t57, acc3);
                            const float t61 = v5[9 * i4 + 3 * i5 + 18];
                            acc4 = fma(t56, t61, acc4);
                            acc5 = fma(t58, t61, acc5);
                            acc6 = fma(t59, t61, acc6);
                            acc7 = fma(t60, t61, acc7);
                            const float t62 = v4[2 * i3 + 288 * i4 + 36 * i5 - 36];
                            const float t63 = v5[9 * i4 + 3 * i5 + 1];
                            acc0 = fma(t62, t63, acc0);
                            const float t64 = v4[2 * i3 + 288 * i4 + 36 * i5 + 36];
                            acc1 = fma(t64, t63, acc1);
                            const float t65 = v4[2 * i3 + 288 * i4 + 36 * i5 + 108];
                            acc2 = fma(t65, t63, acc2);
                            const float t66 = v4[2 * i3 + 288 * i4 + 36 * i5 + 180];
                            acc3 = fma(t66, t63, acc3);
                            const float t67 = v5[9 * i4 + 3 * i5 + 19];
                            acc4 = fma(t62, t67, acc4);
                            acc5 = fma(t64, t67, acc5);
                            acc6 = fma(t65, t67, acc6);
                            acc7 = fma(t66, t67, acc7);
                            const float t68 = v4[2 * i3 + 288 * i4 + 36 * i5 - 35];
                            const float t69 = v5[9 * i4 + 3 * i5 + 2];
                            acc0 = fma(t68, t69, acc0);
                            const float t70 = v4[2 * i3 + 288 * i4 + 36 * i5 + 37];
                            acc1 = fma(t70, t69, acc1);
                            const float t71 = v4[2 * i3 + 288 * i4 + 36 * i5 + 109];
                            acc2 = fma(t71, t69, acc2);
                            const float t72 = v4[2 * i3 + 288 * i4 + 36 * i5 + 181];
                            acc3 = fma(t72, t69, acc3);
                            const float t73 = v5[9 * i4 + 3 * i5 + 20];
                            acc4 = fma(t68, t73, acc4);
                            acc5 = fma(t70, t73, acc5);
                            acc6 = fma(t71, t73, acc6);
                            acc7 = fma(t72, t73, acc7);
                        } else {
                            if (((i5 - 1 >= 0)) && ((2 * i3 - 1 >= 0))) {
                                const float t74 = v4[2 * i3 + 288 * i4 + 36 * i5 - 37];
                                const float t75 = v5[9 * i4 + 3 * i5];
                                acc0 = fma(t74, t75, acc0);
                                const float t76 = v5[9 * i4 + 3 * i5 + 18];
                                acc4 = fma(t74, t76, acc4);
                            }
                            if (((2 * i3 - 1 >= 0))) {
                                const float t77 = v4[2 * i3 + 288 * i4 + 36 * i5 + 35];
                                const float t78 = v5[9 * i4 + 3 * i5];
                                acc1 = fma(t77, t78, acc1);
                                const float t79 = v4[2 * i3 + 288 * i4 + 36 * i5 + 107];
                                acc2 = fma(t79, t78, acc2);
                                const float t80 = v4[2 * i3 + 288 * i4 + 36 * i5 + 179];
                                acc3 = fma(t80, t78, acc3);
                                const float t81 = v5[9 * i4 + 3 * i5 + 18];
                                acc5 = fma(t77, t81, acc5);
                                acc6 = fma(t79, t81, acc6);
                                acc7 = fma(t80, t81, acc7);
                            }
                            if (((i5 - 1 >= 0))) {
                                const float t82 = v4[2 * i3 + 288 * i4 + 36 * i5 - 36];
                                const float t83 = v5[9 * i4 + 3 * i5 + 1];
                                acc0 = fma(t82, t83, acc0);
                                const float t84 = v5[9 * i4 + 3 * i5 + 19];
                                acc4 = fma(t82, t84, acc4);
                            }
                            const float t85 = v4[2 * i3 + 288 * i4 + 36 * i5 + 36];
                            const float t86 = v5[9 * i4 + 3 * i5 + 1];
                            acc1 = fma(t85, t86, acc1);
                            const float t87 = v4[2 * i3 + 288 * i4 + 36 * i5 + 108];
                            acc2 = fma(t87, t86, acc2);
                            const float t88 = v4[2 * i3 + 288 * i4 + 36 * i5 + 180];
                            acc3 = fma(t88, t86, acc3);
                            const float t89 = v5[9 * i4 + 3 * i5 + 19];
                            acc5 = fma(t85, t89, acc5);
                            acc6 = fma(t87, t89, acc6);
                            acc7 = fma(t88, t89, acc7);
                            if (((i5 - 1 >= 0))) {
                                const float t90 = v4[2 * i3 + 288 * i4 + 36 * i5 - 35];
                                const float t91 = v5[9 * i4 + 3 * i5 + 2];
                                acc0 = fma(t90, t91, acc0);
                                const float t92 = v5[9 * i4 + 3 * i5 + 20];
                                acc4 = fma(t90, t92, acc4);
                            }
                            const float t93 = v4[2 * i3 + 288 * i4 + 36 * i5 + 37];
                            const float t94 = v5[9 * i4 + 3 * i5 + 2];
                            acc1 = fma(t93, t94, acc1);
                            const float t95 = v4[2 * i3 + 288 * i4 + 36 * i5 + 109];
                            acc2 = fma(t95, t94, acc2);
                            const float t96 = v4[2 * i3 + 288 * i4 + 36 * i5 + 181];
                            acc3 = fma(t96, t94, acc3);
                            const float t97 = v5[9 * i4 + 3 * i5 + 20];
                            acc5 = fma(t93, t97, acc5);
                            acc6 = fma(t95, t97, acc6);
                            acc7 = fma(t96, t97, acc7);
                        }
                    }
                }
                v3[i3] = acc0;
                v3[i3 + 18] = acc1;
                v3[i3 + 36] = acc2;
                v3[i3 + 54] = acc3;
                v3[i3 + 72] = acc4;
                v3[i3 + 90] = acc5;
                v3[i3 + 108] = acc6;
                v3[i3 + 126] = acc7;
            }
        }
    }
}


