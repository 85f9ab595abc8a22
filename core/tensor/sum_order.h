/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that fix the order of sums. They are the same on every device, or bits would differ
 * between devices. */
#ifndef TARN_SUM_ORDER_H
#define TARN_SUM_ORDER_H

#define LANES 16         /* samples in a batch block, whose sums are added up lane by lane */
#define SMALLEST_BATCH 8 /* fewer samples make blocks only if convolutions gain by it */
#define UNSPLIT_MOST \
    32768             /* elements of a sum over samples without rows: microseconds for each group */
#define MAX_GROUPS 16 /* of blocks, each with a row of partial sums of its own; */
#define ROW_BLOCKS 4  /* but where rows would have more blocks than these there are more rows, */
#define MOST_ROWS 64  /* up to so many */
#define SUM_CHUNK 128 /* most terms that are added one after the other, or sums of such chunks */

/* The rows of a sum over so many blocks. */
static inline int sum_rows(int blocks)
{
    const int rows = blocks / ROW_BLOCKS > MOST_ROWS ? MOST_ROWS : blocks / ROW_BLOCKS;
    return rows > MAX_GROUPS ? rows : blocks < MAX_GROUPS ? blocks : MAX_GROUPS;
}

#endif
