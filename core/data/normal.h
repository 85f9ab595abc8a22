/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and deviation of a batch, on the device. */
#ifndef TARN_NORMAL_H
#define TARN_NORMAL_H

#include "tensor/replica.h"

struct normal {
    double mean, deviation;
    int32_t channels;             /* 0: one mean and deviation for all */
    struct buffer *scale, *shift; /* for each channel */
};

/* Checks what the options say of a sample of this shape and type. */
TARN_CHECKED tarn_status normal_check(const tarn_loader_options *o, tarn_shape sample,
                                      tarn_dtype dtype);
TARN_CHECKED tarn_status normal_make(struct context *c, const tarn_loader_options *o,
                                     tarn_dtype dtype, struct normal *out);
void normal_free(struct normal *n);
/* Records it; int32 passes. With NULL only uint8 becomes float32, divided by 255. */
tarn_tensor normal_record(const struct normal *n, tarn_tensor x);

#endif
