/* SPDX-License-Identifier: Apache-2.0 */
/* Random windows and mirror images of samples, on the host. */
#ifndef TARN_TRANSFORM_H
#define TARN_TRANSFORM_H

#include "tensor/replica.h"

struct transform {
    bool any, flip;
    int32_t planes, height, width; /* of a sample */
    int32_t pad, crop_height, crop_width;
    size_t element; /* bytes */
    uint64_t key;
};

/* What the options ask for a sample of this shape and type. */
TARN_CHECKED tarn_status transform_make(const tarn_loader_options *o, tarn_shape sample,
                                        tarn_dtype dtype, struct transform *out);
/* The shape that comes out. */
tarn_shape transform_shape(const struct transform *t, tarn_shape sample);
/* `from` and `to` do not overlap. */
void transform_sample(const struct transform *t, uint64_t epoch, int32_t index, const uint8_t *from,
                      uint8_t *to);

#endif
