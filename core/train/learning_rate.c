/* SPDX-License-Identifier: Apache-2.0 */
/* Learning rates over steps. */
#include <math.h>

#include "tarn.h"

float tarn_lr_constant(float lr, uint64_t step)
{
    (void)step;
    return lr;
}

float tarn_lr_step(float lr, uint64_t step, uint64_t every, float factor)
{
    return every ? (float)((double)lr * pow((double)factor, (double)(step / every))) : lr;
}

float tarn_lr_cosine(float lr, uint64_t step, uint64_t total, float lowest)
{
    const double pi = 3.14159265358979323846;
    const double part = step < total ? (double)step / (double)total : 1.0;
    const double span = (double)lr - (double)lowest;
    return (float)((double)lowest + 0.5 * span * (1.0 + cos(pi * part)));
}

float tarn_lr_warmup(float lr, uint64_t step, uint64_t warm)
{
    return step < warm ? (float)((double)lr * (double)(step + 1) / (double)warm) : lr;
}
