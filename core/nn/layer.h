/* SPDX-License-Identifier: Apache-2.0 */
/* What layers share: checked sizes, and tensors named "layer.part". */
#ifndef TARN_LAYER_H
#define TARN_LAYER_H

#include "tarn.h"
#include "tensor/replica.h"

/* False, after recording an error, when the name is missing or a size is below 1. */
bool layer_check(tarn_replica *r, const char *kind, const char *name, int in, int out);
/* False, after recording an error, where a norm's layer, which always has a weight, was not made. */
bool layer_has_weight(const char *kind, tarn_tensor x, tarn_tensor weight);
/* False, after recording an error, where a norm that always has a weight is to have none. */
bool layer_is_affine(tarn_replica *r, const char *kind, const char *name,
                     const tarn_norm_options *o);
/* "name.part" in memory of its own; NULL after recording an error. */
char *layer_name(tarn_replica *r, const char *name, const char *part);
/* A parameter uniform in +-1/sqrt(fan_in). */
tarn_tensor layer_parameter(tarn_replica *r, const char *name, const char *part, tarn_shape shape,
                            int fan_in);
/* A parameter with values from a distribution. */
tarn_tensor layer_drawn(tarn_replica *r, const char *name, const char *part, tarn_shape shape,
                        tarn_init init);
/* A parameter or buffer [n] of the type of parameters, filled with a value. */
tarn_tensor layer_filled(tarn_replica *r, enum owned_kind kind, const char *name, const char *part,
                         int n, double value);

#endif
