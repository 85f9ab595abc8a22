/* SPDX-License-Identifier: Apache-2.0 */
/* What convolutions of one, two and three axes share: their options in full, checks, and those of images and volumes, of
 * which sequences are made. */
#ifndef TARN_CONV_H
#define TARN_CONV_H

#include "tensor/spread.h"

struct convolution {
    const char *name; /* of the public function, for errors */
    bool transposed;
    int axes; /* 1 to 3 */
    /* Of depth, height and width, of which fewer axes are the last ones. 0 means what it does for callers, until
     * conv_begin() has been there. */
    int32_t stride[CONV_DIRECTIONS], padding[CONV_DIRECTIONS], dilation[CONV_DIRECTIONS],
        output_padding[CONV_DIRECTIONS], groups;
    tarn_shape out; /* by conv_begin() */
};

/* Fills in defaults and the result's shape. False after recording an error; the replica is there either way. */
bool conv_begin(struct convolution *c, tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                tarn_replica **r);
/* Both in the type in which products are computed; returns that of the result. */
tarn_dtype conv_operands(tarn_tensor *x, tarn_tensor *weight);
/* Of images or volumes; `shape` is the result's. */
tarn_tensor conv_product(const struct convolution *c, tarn_tensor x, tarn_tensor weight,
                         tarn_shape shape);
/* y [N, channels, ...] + bias as type `of`, rounded once; without a bias y alone. */
tarn_tensor conv_with_bias(tarn_tensor y, tarn_tensor bias, tarn_dtype of);

#endif
