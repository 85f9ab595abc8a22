/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic digits of MNIST's form, for runs without its files; and what MNIST is normalised by. */
#ifndef EXAMPLES_DIGITS_H
#define EXAMPLES_DIGITS_H

#include <tarn.h>

#define MNIST_MEAN 0.1307f
#define MNIST_DEVIATION 0.3081f

/* `count` reproducible images [1, 28, 28] with labels 0 to 9 that can be learnt; sample i depends
 * on the seed and i alone, 2^21 at most. NULL on failure: tarn_error(NULL) has the line. */
tarn_dataset *digits_open(int count, uint64_t seed);
/* Of digits_open() alone. NULL is a no-op. */
void digits_close(tarn_dataset *d);

#endif
