/* SPDX-License-Identifier: Apache-2.0 */
/* The two numbers that fix the order of sums over a batch. They are the same on every device, or the bits
 * would differ between devices. */
#ifndef TARN_SUM_ORDER_H
#define TARN_SUM_ORDER_H

#define LANES 16      /* samples in a batch block, whose sums are added up lane by lane */
#define MAX_GROUPS 16 /* of blocks, each with a row of partial sums of its own */

#endif
