/* k0: 15680 groups of 32; arena 0, at 0, input 0, input 1; at bytes 0, 802816 */
/* k1: 32 groups of 32; arena 0, at 0; at bytes 2007040, 0, 802816 */
/* k2: 48 groups of 32; output 0, arena 0, at 0; at bytes 2007040 */
/* arena: 2019328 bytes */
/* input input */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_904bed48c4f15a64(__global uchar *arena, __global const ulong *offset, __global uchar *input0, __global uchar *input1)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(arena + offset[0]); /* [32,32,14,14] blocked */
    __global float *v1 = (__global float *)(input0); /* [32,32,14,14] */
    __global float *v2 = (__global float *)(arena + offset[1]); /* [32,48,14,14] blocked */
    __global float *v3 = (__global float *)(input1); /* [32,48,14,14] */
    if (section_group >= 0 && section_group < 6272) {
        /* input [32 32 14 14] */
        const int group = section_group - 0;
        const int team = group * 2 + item / 16;
        if (team < 12544) {
            const int b = team / 6272;
            const int tile = team % 6272;
            const int i3 = tile % 14;
            const int i2 = tile / 14 % 14;
            const int i1 = tile / 196;
            const int sample = 16 * b + lane;
            __global float *b0 = v0 + 100352L * b + lane;
            const float t1 = v1[6272 * sample + 196 * i1 + 14 * i2 + i3];
            b0[16 * (196 * i1 + 14 * i2 + i3)] = t1;
        }
    }
    if (section_group >= 6272 && section_group < 15680) {
        /* input [32 48 14 14] */
        const int group = section_group - 6272;
        const int team = group * 2 + item / 16;
        if (team < 18816) {
            const int b = team / 9408;
            const int tile = team % 9408;
            const int i3 = tile % 14;
            const int i2 = tile / 14 % 14;
            const int i1 = tile / 196;
            const int sample = 16 * b + lane;
            __global float *b2 = v2 + 150528L * b + lane;
            const float t2 = v3[9408 * sample + 196 * i1 + 14 * i2 + i3];
            b2[16 * (196 * i1 + 14 * i2 + i3)] = t2;
        }
    }
}


/* conv2d_weight */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_54222e1755e1cbd1(__global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __local uint exchange[1632];
    __global float *v0 = (__global float *)(arena + offset[0]); /* [2,1536] */
    __global float *v1 = (__global float *)(arena + offset[1]); /* [32,32,14,14] blocked */
    __global float *v2 = (__global float *)(arena + offset[2]); /* [32,48,14,14] blocked */
    if (section_group >= 0 && section_group < 32) {
        /* conv2d_weight [48 32 1 1 | 32 14 14], one row a group */
        const int group = section_group - 0;
        const int share = group / 16;
        const int b = share * 2 / 2;
        const int team = (group % 16) * 2 + item / 16;
        const bool live = team < 32;
        const int tile = live ? team : 31;
        const int i1 = tile % 4 * 8;
        const int i0 = tile / 4 * 6;
        __local float *lanes = (__local float *)exchange + 816 * (item / 16);
        const int sample = 16 * b + lane;
        __global float *b1 = v1 + 100352L * b + lane;
        __global float *b2 = v2 + 150528L * b + lane;
        float acc0 = (float)(0.0f);
        float acc1 = (float)(0.0f);
        float acc2 = (float)(0.0f);
        float acc3 = (float)(0.0f);
        float acc4 = (float)(0.0f);
        float acc5 = (float)(0.0f);
        float acc6 = (float)(0.0f);
        float acc7 = (float)(0.0f);
        float acc8 = (float)(0.0f);
        float acc9 = (float)(0.0f);
        float acc10 = (float)(0.0f);
        float acc11 = (float)(0.0f);
        float acc12 = (float)(0.0f);
        float acc13 = (float)(0.0f);
        float acc14 = (float)(0.0f);
        float acc15 = (float)(0.0f);
        float acc16 = (float)(0.0f);
        float acc17 = (float)(0.0f);
        float acc18 = (float)(0.0f);
        float acc19 = (float)(0.0f);
        float acc20 = (float)(0.0f);
        float acc21 = (float)(0.0f);
        float acc22 = (float)(0.0f);
        float acc23 = (float)(0.0f);
        float acc24 = (float)(0.0f);
        float acc25 = (float)(0.0f);
        float acc26 = (float)(0.0f);
        float acc27 = (float)(0.0f);
        float acc28 = (float)(0.0f);
        float acc29 = (float)(0.0f);
        float acc30 = (float)(0.0f);
        float acc31 = (float)(0.0f);
        float acc32 = (float)(0.0f);
        float acc33 = (float)(0.0f);
        float acc34 = (float)(0.0f);
        float acc35 = (float)(0.0f);
        float acc36 = (float)(0.0f);
        float acc37 = (float)(0.0f);
        float acc38 = (float)(0.0f);
        float acc39 = (float)(0.0f);
        float acc40 = (float)(0.0f);
        float acc41 = (float)(0.0f);
        float acc42 = (float)(0.0f);
        float acc43 = (float)(0.0f);
        float acc44 = (float)(0.0f);
        float acc45 = (float)(0.0f);
        float acc46 = (float)(0.0f);
        float acc47 = (float)(0.0f);
        {
            volatile float sum0[48];
            for (int i = 0; i < 48; ++i)
                sum0[i] = 0.0f;
            #pragma nounroll
            #pragma clang loop vectorize(disable)
            for (int cut0 = 0; cut0 < 14; cut0 += 9) {
                const int end0 = min(cut0 + 9, (int)14);
                acc0 = (float)(0.0f);
                acc1 = (float)(0.0f);
                acc2 = (float)(0.0f);
                acc3 = (float)(0.0f);
                acc4 = (float)(0.0f);
                acc5 = (float)(0.0f);
                acc6 = (float)(0.0f);
                acc7 = (float)(0.0f);
                acc8 = (float)(0.0f);
                acc9 = (float)(0.0f);
                acc10 = (float)(0.0f);
                acc11 = (float)(0.0f);
                acc12 = (float)(0.0f);
                acc13 = (float)(0.0f);
                acc14 = (float)(0.0f);
                acc15 = (float)(0.0f);
                acc16 = (float)(0.0f);
                acc17 = (float)(0.0f);
                acc18 = (float)(0.0f);
                acc19 = (float)(0.0f);
                acc20 = (float)(0.0f);
                acc21 = (float)(0.0f);
                acc22 = (float)(0.0f);
                acc23 = (float)(0.0f);
                acc24 = (float)(0.0f);
                acc25 = (float)(0.0f);
                acc26 = (float)(0.0f);
                acc27 = (float)(0.0f);
                acc28 = (float)(0.0f);
                acc29 = (float)(0.0f);
                acc30 = (float)(0.0f);
                acc31 = (float)(0.0f);
                acc32 = (float)(0.0f);
                acc33 = (float)(0.0f);
                acc34 = (float)(0.0f);
                acc35 = (float)(0.0f);
                acc36 = (float)(0.0f);
                acc37 = (float)(0.0f);
                acc38 = (float)(0.0f);
                acc39 = (float)(0.0f);
                acc40 = (float)(0.0f);
                acc41 = (float)(0.0f);
                acc42 = (float)(0.0f);
                acc43 = (float)(0.0f);
                acc44 = (float)(0.0f);
                acc45 = (float)(0.0f);
                acc46 = (float)(0.0f);
                acc47 = (float)(0.0f);
                #pragma nounroll
                #pragma clang loop vectorize(disable)
                for (int i5 = cut0; i5 < end0; i5 += 1) {
                    #pragma nounroll
                    #pragma clang loop vectorize(disable)
                    for (int i6 = 0; i6 < 14; i6 += 2) {
                        const float t1 = b1[16 * (196 * i1 + 14 * i5 + i6)];
                        const float t2 = b2[16 * (196 * i0 + 14 * i5 + i6)];
                        const float t3 = b1[16 * (196 * i1 + 14 * i5 + i6 + 196)];
                        const float t4 = b1[16 * (196 * i1 + 14 * i5 + i6 + 392)];
                        const float t5 = b1[16 * (196 * i1 + 14 * i5 + i6 + 588)];
                        const float t6 = b1[16 * (196 * i1 + 14 * i5 + i6 + 784)];
                        const float t7 = b1[16 * (196 * i1 + 14 * i5 + i6 + 980)];
                        const float t8 = b1[16 * (196 * i1 + 14 * i5 + i6 + 1176)];
                        const float t9 = b1[16 * (196 * i1 + 14 * i5 + i6 + 1372)];
                        const float t10 = b2[16 * (196 * i0 + 14 * i5 + i6 + 196)];
                        const float t11 = b2[16 * (196 * i0 + 14 * i5 + i6 + 392)];
                        const float t12 = b2[16 * (196 * i0 + 14 * i5 + i6 + 588)];
                        const float t13 = b2[16 * (196 * i0 + 14 * i5 + i6 + 784)];
                        const float t14 = b2[16 * (196 * i0 + 14 * i5 + i6 + 980)];
                        const float t15 = b1[16 * (196 * i1 + 14 * i5 + i6 + 1)];
                        const float t16 = b2[16 * (196 * i0 + 14 * i5 + i6 + 1)];
                        const float t17 = b1[16 * (196 * i1 + 14 * i5 + i6 + 197)];
                        const float t18 = b1[16 * (196 * i1 + 14 * i5 + i6 + 393)];
                        const float t19 = b1[16 * (196 * i1 + 14 * i5 + i6 + 589)];
                        const float t20 = b1[16 * (196 * i1 + 14 * i5 + i6 + 785)];
                        const float t21 = b1[16 * (196 * i1 + 14 * i5 + i6 + 981)];
                        const float t22 = b1[16 * (196 * i1 + 14 * i5 + i6 + 1177)];
                        const float t23 = b1[16 * (196 * i1 + 14 * i5 + i6 + 1373)];
                        const float t24 = b2[16 * (196 * i0 + 14 * i5 + i6 + 197)];
                        const float t25 = b2[16 * (196 * i0 + 14 * i5 + i6 + 393)];
                        const float t26 = b2[16 * (196 * i0 + 14 * i5 + i6 + 589)];
                        const float t27 = b2[16 * (196 * i0 + 14 * i5 + i6 + 785)];
                        const float t28 = b2[16 * (196 * i0 + 14 * i5 + i6 + 981)];
                        acc0 = fma(t1, t2, acc0);
                        acc1 = fma(t3, t2, acc1);
                        acc2 = fma(t4, t2, acc2);
                        acc3 = fma(t5, t2, acc3);
                        acc4 = fma(t6, t2, acc4);
                        acc5 = fma(t7, t2, acc5);
                        acc6 = fma(t8, t2, acc6);
                        acc7 = fma(t9, t2, acc7);
                        acc8 = fma(t1, t10, acc8);
                        acc9 = fma(t3, t10, acc9);
                        acc10 = fma(t4, t10, acc10);
                        acc11 = fma(t5, t10, acc11);
                        acc12 = fma(t6, t10, acc12);
                        acc13 = fma(t7, t10, acc13);
                        acc14 = fma(t8, t10, acc14);
                        acc15 = fma(t9, t10, acc15);
                        acc16 = fma(t1, t11, acc16);
                        acc17 = fma(t3, t11, acc17);
                        acc18 = fma(t4, t11, acc18);
                        acc19 = fma(t5, t11, acc19);
                        acc20 = fma(t6, t11, acc20);
                        acc21 = fma(t7, t11, acc21);
                        acc22 = fma(t8, t11, acc22);
                        acc23 = fma(t9, t11, acc23);
                        acc24 = fma(t1, t12, acc24);
                        acc25 = fma(t3, t12, acc25);
                        acc26 = fma(t4, t12, acc26);
                        acc27 = fma(t5, t12, acc27);
                        acc28 = fma(t6, t12, acc28);
                        acc29 = fma(t7, t12, acc29);
                        acc30 = fma(t8, t12, acc30);
                        acc31 = fma(t9, t12, acc31);
                        acc32 = fma(t1, t13, acc32);
                        acc33 = fma(t3, t13, acc33);
                        acc34 = fma(t4, t13, acc34);
                        acc35 = fma(t5, t13, acc35);
                        acc36 = fma(t6, t13, acc36);
                        acc37 = fma(t7, t13, acc37);
                        acc38 = fma(t8, t13, acc38);
                        acc39 = fma(t9, t13, acc39);
                        acc40 = fma(t1, t14, acc40);
                        acc41 = fma(t3, t14, acc41);
                        acc42 = fma(t4, t14, acc42);
                        acc43 = fma(t5, t14, acc43);
                        acc44 = fma(t6, t14, acc44);
                        acc45 = fma(t7, t14, acc45);
                        acc46 = fma(t8, t14, acc46);
                        acc47 = fma(t9, t14, acc47);
                        acc0 = fma(t15, t16, acc0);
                        acc1 = fma(t17, t16, acc1);
                        acc2 = fma(t18, t16, acc2);
                        acc3 = fma(t19, t16, acc3);
                        acc4 = fma(t20, t16, acc4);
                        acc5 = fma(t21, t16, acc5);
                        acc6 = fma(t22, t16, acc6);
                        acc7 = fma(t23, t16, acc7);
                        acc8 = fma(t15, t24, acc8);
                        acc9 = fma(t17, t24, acc9);
                        acc10 = fma(t18, t24, acc10);
                        acc11 = fma(t19, t24, acc11);
                        acc12 = fma(t20, t24, acc12);
                        acc13 = fma(t21, t24, acc13);
                        acc14 = fma(t22, t24, acc14);
                        acc15 = fma(t23, t24, acc15);
                        acc16 = fma(t15, t25, acc16);
                        acc17 = fma(t17, t25, acc17);
                        acc18 = fma(t18, t25, acc18);
                        acc19 = fma(t19, t25, acc19);
                        acc20 = fma(t20, t25, acc20);
                        acc21 = fma(t21, t25, acc21);
                        acc22 = fma(t22, t25, acc22);
                        acc23 = fma(t23, t25, acc23);
                        acc24 = fma(t15, t26, acc24);
                        acc25 = fma(t17, t26, acc25);
                        acc26 = fma(t18, t26, acc26);
                        acc27 = fma(t19, t26, acc27);
                        acc28 = fma(t20, t26, acc28);
                        acc29 = fma(t21, t26, acc29);
                        acc30 = fma(t22, t26, acc30);
                        acc31 = fma(t23, t26, acc31);
                        acc32 = fma(t15, t27, acc32);
                        acc33 = fma(t17, t27, acc33);
                        acc34 = fma(t18, t27, acc34);
                        acc35 = fma(t19, t27, acc35);
                        acc36 = fma(t20, t27, acc36);
                        acc37 = fma(t21, t27, acc37);
                        acc38 = fma(t22, t27, acc38);
                        acc39 = fma(t23, t27, acc39);
                        acc40 = fma(t15, t28, acc40);
                        acc41 = fma(t17, t28, acc41);
                        acc42 = fma(t18, t28, acc42);
                        acc43 = fma(t19, t28, acc43);
                        acc44 = fma(t20, t28, acc44);
                        acc45 = fma(t21, t28, acc45);
                        acc46 = fma(t22, t28, acc46);
                        acc47 = fma(t23, t28, acc47);
                    }
                }
                const float before0_0 = sum0[0];
                const float before0_1 = sum0[1];
                const float before0_2 = sum0[2];
                const float before0_3 = sum0[3];
                const float before0_4 = sum0[4];
                const float before0_5 = sum0[5];
                const float before0_6 = sum0[6];
                const float before0_7 = sum0[7];
                const float before0_8 = sum0[8];
                const float before0_9 = sum0[9];
                const float before0_10 = sum0[10];
                const float before0_11 = sum0[11];
                const float before0_12 = sum0[12];
                const float before0_13 = sum0[13];
                const float before0_14 = sum0[14];
                const float before0_15 = sum0[15];
                sum0[0] = before0_0 + acc0;
                sum0[1] = before0_1 + acc1;
                sum0[2] = before0_2 + acc2;
                sum0[3] = before0_3 + acc3;
                sum0[4] = before0_4 + acc4;
                sum0[5] = before0_5 + acc5;
                sum0[6] = before0_6 + acc6;
                sum0[7] = before0_7 + acc7;
                sum0[8] = before0_8 + acc8;
                sum0[9] = before0_9 + acc9;
                sum0[10] = before0_10 + acc10;
                sum0[11] = before0_11 + acc11;
                sum0[12] = before0_12 + acc12;
                sum0[13] = before0_13 + acc13;
                sum0[14] = before0_14 + acc14;
                sum0[15] = before0_15 + acc15;
                const float before0_16 = sum0[16];
                const float before0_17 = sum0[17];
                const float before0_18 = sum0[18];
                const float before0_19 = sum0[19];
                const float before0_20 = sum0[20];
                const float before0_21 = sum0[21];
                const float before0_22 = sum0[22];
                const float before0_23 = sum0[23];
                const float before0_24 = sum0[24];
                const float before0_25 = sum0[25];
                const float before0_26 = sum0[26];
                const float before0_27 = sum0[27];
                const float before0_28 = sum0[28];
                const float before0_29 = sum0[29];
                const float before0_30 = sum0[30];
                const float before0_31 = sum0[31];
                sum0[16] = before0_16 + acc16;
                sum0[17] = before0_17 + acc17;
                sum0[18] = before0_18 + acc18;
                sum0[19] = before0_19 + acc19;
                sum0[20] = before0_20 + acc20;
                sum0[21] = before0_21 + acc21;
                sum0[22] = before0_22 + acc22;
                sum0[23] = before0_23 + acc23;
                sum0[24] = before0_24 + acc24;
                sum0[25] = before0_25 + acc25;
                sum0[26] = before0_26 + acc26;
                sum0[27] = before0_27 + acc27;
                sum0[28] = before0_28 + acc28;
                sum0[29] = before0_29 + acc29;
                sum0[30] = before0_30 + acc30;
                sum0[31] = before0_31 + acc31;
                const float before0_32 = sum0[32];
                const float before0_33 = sum0[33];
                const float before0_34 = sum0[34];
                const float before0_35 = sum0[35];
                const float before0_36 = sum0[36];
                const float before0_37 = sum0[37];
                const float before0_38 = sum0[38];
                const float before0_39 = sum0[39];
                const float before0_40 = sum0[40];
                const float before0_41 = sum0[41];
                const float before0_42 = sum0[42];
                const float before0_43 = sum0[43];
                const float before0_44 = sum0[44];
                const float before0_45 = sum0[45];
                const float before0_46 = sum0[46];
                const float before0_47 = sum0[47];
                sum0[32] = before0_32 + acc32;
                sum0[33] = before0_33 + acc33;
                sum0[34] = before0_34 + acc34;
                sum0[35] = before0_35 + acc35;
                sum0[36] = before0_36 + acc36;
                sum0[37] = before0_37 + acc37;
                sum0[38] = before0_38 + acc38;
                sum0[39] = before0_39 + acc39;
                sum0[40] = before0_40 + acc40;
                sum0[41] = before0_41 + acc41;
                sum0[42] = before0_42 + acc42;
                sum0[43] = before0_43 + acc43;
                sum0[44] = before0_44 + acc44;
                sum0[45] = before0_45 + acc45;
                sum0[46] = before0_46 + acc46;
                sum0[47] = before0_47 + acc47;
            }
            acc0 = sum0[0];
            acc1 = sum0[1];
            acc2 = sum0[2];
            acc3 = sum0[3];
            acc4 = sum0[4];
            acc5 = sum0[5];
            acc6 = sum0[6];
            acc7 = sum0[7];
            acc8 = sum0[8];
            acc9 = sum0[9];
            acc10 = sum0[10];
            acc11 = sum0[11];
            acc12 = sum0[12];
            acc13 = sum0[13];
            acc14 = sum0[14];
            acc15 = sum0[15];
            acc16 = sum0[16];
            acc17 = sum0[17];
            acc18 = sum0[18];
            acc19 = sum0[19];
            acc20 = sum0[20];
            acc21 = sum0[21];
            acc22 = sum0[22];
            acc23 = sum0[23];
            acc24 = sum0[24];
            acc25 = sum0[25];
            acc26 = sum0[26];
            acc27 = sum0[27];
            acc28 = sum0[28];
            acc29 = sum0[29];
            acc30 = sum0[30];
            acc31 = sum0[31];
            acc32 = sum0[32];
            acc33 = sum0[33];
            acc34 = sum0[34];
            acc35 = sum0[35];
            acc36 = sum0[36];
            acc37 = sum0[37];
            acc38 = sum0[38];
            acc39 = sum0[39];
            acc40 = sum0[40];
            acc41 = sum0[41];
            acc42 = sum0[42];
            acc43 = sum0[43];
            acc44 = sum0[44];
            acc45 = sum0[45];
            acc46 = sum0[46];
            acc47 = sum0[47];
        }
        lanes[0 + lane] = acc0;
        lanes[17 + lane] = acc1;
        lanes[34 + lane] = acc2;
        lanes[51 + lane] = acc3;
        lanes[68 + lane] = acc4;
        lanes[85 + lane] = acc5;
        lanes[102 + lane] = acc6;
        lanes[119 + lane] = acc7;
        lanes[136 + lane] = acc8;
        lanes[153 + lane] = acc9;
        lanes[170 + lane] = acc10;
        lanes[187 + lane] = acc11;
        lanes[204 + lane] = acc12;
        lanes[221 + lane] = acc13;
        lanes[238 + lane] = acc14;
        lanes[255 + lane] = acc15;
        lanes[272 + lane] = acc16;
        lanes[289 + lane] = acc17;
        lanes[306 + lane] = acc18;
        lanes[323 + lane] = acc19;
        lanes[340 + lane] = acc20;
        lanes[357 + lane] = acc21;
        lanes[374 + lane] = acc22;
        lanes[391 + lane] = acc23;
        lanes[408 + lane] = acc24;
        lanes[425 + lane] = acc25;
        lanes[442 + lane] = acc26;
        lanes[459 + lane] = acc27;
        lanes[476 + lane] = acc28;
        lanes[493 + lane] = acc29;
        lanes[510 + lane] = acc30;
        lanes[527 + lane] = acc31;
        lanes[544 + lane] = acc32;
        lanes[561 + lane] = acc33;
        lanes[578 + lane] = acc34;
        lanes[595 + lane] = acc35;
        lanes[612 + lane] = acc36;
        lanes[629 + lane] = acc37;
        lanes[646 + lane] = acc38;
        lanes[663 + lane] = acc39;
        lanes[680 + lane] = acc40;
        lanes[697 + lane] = acc41;
        lanes[714 + lane] = acc42;
        lanes[731 + lane] = acc43;
        lanes[748 + lane] = acc44;
        lanes[765 + lane] = acc45;
        lanes[782 + lane] = acc46;
        lanes[799 + lane] = acc47;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (section_group >= 0 && section_group < 32) {
        /* conv2d_weight [48 32 1 1 | 32 14 14], one row a group */
        const int group = section_group - 0;
        const int share = group / 16;
        const int b = share * 2 / 2;
        const int team = (group % 16) * 2 + item / 16;
        const bool live = team < 32;
        const int tile = live ? team : 31;
        const int i1 = tile % 4 * 8;
        const int i0 = tile / 4 * 6;
        __local float *lanes = (__local float *)exchange + 816 * (item / 16);
        if (live && lane == 0) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1;
            float sum = tarn_sum_float(vload16(0, lanes + 0));
            *row = sum;
        }
        if (live && lane == 1) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 1;
            float sum = tarn_sum_float(vload16(0, lanes + 17));
            *row = sum;
        }
        if (live && lane == 2) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 2;
            float sum = tarn_sum_float(vload16(0, lanes + 34));
            *row = sum;
        }
        if (live && lane == 3) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 3;
            float sum = tarn_sum_float(vload16(0, lanes + 51));
            *row = sum;
        }
        if (live && lane == 4) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 4;
            float sum = tarn_sum_float(vload16(0, lanes + 68));
            *row = sum;
        }
        if (live && lane == 5) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 5;
            float sum = tarn_sum_float(vload16(0, lanes + 85));
            *row = sum;
        }
        if (live && lane == 6) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 6;
            float sum = tarn_sum_float(vload16(0, lanes + 102));
            *row = sum;
        }
        if (live && lane == 7) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 7;
            float sum = tarn_sum_float(vload16(0, lanes + 119));
            *row = sum;
        }
        if (live && lane == 8) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 32;
            float sum = tarn_sum_float(vload16(0, lanes + 136));
            *row = sum;
        }
        if (live && lane == 9) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 33;
            float sum = tarn_sum_float(vload16(0, lanes + 153));
            *row = sum;
        }
        if (live && lane == 10) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 34;
            float sum = tarn_sum_float(vload16(0, lanes + 170));
            *row = sum;
        }
        if (live && lane == 11) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 35;
            float sum = tarn_sum_float(vload16(0, lanes + 187));
            *row = sum;
        }
        if (live && lane == 12) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 36;
            float sum = tarn_sum_float(vload16(0, lanes + 204));
            *row = sum;
        }
        if (live && lane == 13) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 37;
            float sum = tarn_sum_float(vload16(0, lanes + 221));
            *row = sum;
        }
        if (live && lane == 14) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 38;
            float sum = tarn_sum_float(vload16(0, lanes + 238));
            *row = sum;
        }
        if (live && lane == 15) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 39;
            float sum = tarn_sum_float(vload16(0, lanes + 255));
            *row = sum;
        }
        if (live && lane == 0) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 64;
            float sum = tarn_sum_float(vload16(0, lanes + 272));
            *row = sum;
        }
        if (live && lane == 1) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 65;
            float sum = tarn_sum_float(vload16(0, lanes + 289));
            *row = sum;
        }
        if (live && lane == 2) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 66;
            float sum = tarn_sum_float(vload16(0, lanes + 306));
            *row = sum;
        }
        if (live && lane == 3) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 67;
            float sum = tarn_sum_float(vload16(0, lanes + 323));
            *row = sum;
        }
        if (live && lane == 4) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 68;
            float sum = tarn_sum_float(vload16(0, lanes + 340));
            *row = sum;
        }
        if (live && lane == 5) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 69;
            float sum = tarn_sum_float(vload16(0, lanes + 357));
            *row = sum;
        }
        if (live && lane == 6) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 70;
            float sum = tarn_sum_float(vload16(0, lanes + 374));
            *row = sum;
        }
        if (live && lane == 7) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 71;
            float sum = tarn_sum_float(vload16(0, lanes + 391));
            *row = sum;
        }
        if (live && lane == 8) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 96;
            float sum = tarn_sum_float(vload16(0, lanes + 408));
            *row = sum;
        }
        if (live && lane == 9) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 97;
            float sum = tarn_sum_float(vload16(0, lanes + 425));
            *row = sum;
        }
        if (live && lane == 10) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 98;
            float sum = tarn_sum_float(vload16(0, lanes + 442));
            *row = sum;
        }
        if (live && lane == 11) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 99;
            float sum = tarn_sum_float(vload16(0, lanes + 459));
            *row = sum;
        }
        if (live && lane == 12) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 100;
            float sum = tarn_sum_float(vload16(0, lanes + 476));
            *row = sum;
        }
        if (live && lane == 13) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 101;
            float sum = tarn_sum_float(vload16(0, lanes + 493));
            *row = sum;
        }
        if (live && lane == 14) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 102;
            float sum = tarn_sum_float(vload16(0, lanes + 510));
            *row = sum;
        }
        if (live && lane == 15) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 103;
            float sum = tarn_sum_float(vload16(0, lanes + 527));
            *row = sum;
        }
        if (live && lane == 0) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 128;
            float sum = tarn_sum_float(vload16(0, lanes + 544));
            *row = sum;
        }
        if (live && lane == 1) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 129;
            float sum = tarn_sum_float(vload16(0, lanes + 561));
            *row = sum;
        }
        if (live && lane == 2) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 130;
            float sum = tarn_sum_float(vload16(0, lanes + 578));
            *row = sum;
        }
        if (live && lane == 3) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 131;
            float sum = tarn_sum_float(vload16(0, lanes + 595));
            *row = sum;
        }
        if (live && lane == 4) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 132;
            float sum = tarn_sum_float(vload16(0, lanes + 612));
            *row = sum;
        }
        if (live && lane == 5) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 133;
            float sum = tarn_sum_float(vload16(0, lanes + 629));
            *row = sum;
        }
        if (live && lane == 6) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 134;
            float sum = tarn_sum_float(vload16(0, lanes + 646));
            *row = sum;
        }
        if (live && lane == 7) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 135;
            float sum = tarn_sum_float(vload16(0, lanes + 663));
            *row = sum;
        }
        if (live && lane == 8) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 160;
            float sum = tarn_sum_float(vload16(0, lanes + 680));
            *row = sum;
        }
        if (live && lane == 9) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 161;
            float sum = tarn_sum_float(vload16(0, lanes + 697));
            *row = sum;
        }
        if (live && lane == 10) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 162;
            float sum = tarn_sum_float(vload16(0, lanes + 714));
            *row = sum;
        }
        if (live && lane == 11) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 163;
            float sum = tarn_sum_float(vload16(0, lanes + 731));
            *row = sum;
        }
        if (live && lane == 12) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 164;
            float sum = tarn_sum_float(vload16(0, lanes + 748));
            *row = sum;
        }
        if (live && lane == 13) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 165;
            float sum = tarn_sum_float(vload16(0, lanes + 765));
            *row = sum;
        }
        if (live && lane == 14) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 166;
            float sum = tarn_sum_float(vload16(0, lanes + 782));
            *row = sum;
        }
        if (live && lane == 15) {
            __global float *row = v0 + 1536 * share + 32 * i0 + i1 + 167;
            float sum = tarn_sum_float(vload16(0, lanes + 799));
            *row = sum;
        }
    }
}


/* conv2d_weight */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k_f81171cc89bdae29(__global uchar *output0, __global uchar *arena, __global const ulong *offset)
{
    const int section_group = (int)get_group_id(0);
    const int item = (int)get_local_id(0), lane = item % 16;
    __global float *v0 = (__global float *)(output0); /* [48,32,1,1] */
    __global float *v1 = (__global float *)(arena + offset[0]); /* [2,1536] */
    if (section_group >= 0 && section_group < 48) {
        /* conv2d_weight [1536 | 1] */
        const int group = section_group - 0;
        const int number = group * 32 + item;
        if (number < 1536) {
            const int i0 = number % 1536;
            const int tile = number / 1536;
            float acc0 = (float)(0.0f);
            const float t1 = v1[i0];
            const float t2 = v1[i0 + 1536];
            const float t3 = t1 + t2;
            acc0 += t3;
            v0[i0] = acc0;
        }
    }
}


