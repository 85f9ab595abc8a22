/* SPDX-License-Identifier: Apache-2.0 */
/* How long the chains of additions are by which Tarn makes a sum (docs/numerics.md, "The order of
 * sums"). */
#ifndef TARN_TEST_ROUNDING_H
#define TARN_TEST_ROUNDING_H

/* Of `terms` that are not 0, in any order: one less than there are. In Tarn's: a chunk of 128, 128
 * sums of those, up to 32 of these (131,072 terms, since chunks have 32 on average or more), then
 * lanes and their rest (5), blocks of a row (4, up to 4096 samples) and rows (6). */
static inline double sum_roundings(double terms)
{
    const double most = 128 + 128 + 32 + 5 + 4 + 6;
    return terms < most ? terms : most;
}

#endif
