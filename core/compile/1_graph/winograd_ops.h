/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own ops, of which Winograd's convolution is made; nobody records them. Images are
 * cut into tiles of WINOGRAD_STEP x WINOGRAD_STEP outputs; a is the tile plus the window less one,
 * T the number of tiles, Q = O * C.
 *
 * What is computed of a tile lies at a * a points, a plane of all channels and tiles apart. With planes
 * of 2^n elements all of them would fall into one set of a cache, and only so many as it has ways would
 * stay: so planes have an odd number of elements, P = C * T, or one more, which nobody reads. */
#ifndef TARN_WINOGRAD_H
#define TARN_WINOGRAD_H

#include "tensor/op_record.h"

#define WINOGRAD_STEP 4

/* Transforms. Each reads its op_arg.winograd, whose `last` says of images that they are [N,H,W,C], and of planes that
 * they hold of each tile all channels. */
extern const struct op op_winograd_input;       /* [N,C,H,W], padded to whole tiles -> [N,a,a,P] */
extern const struct op op_winograd_weight;      /* [Q,K,K] -> [a,a,Q] */
extern const struct op op_winograd_weight_last; /* [A,K,K,B] -> [a,a,A*B] */
extern const struct op op_winograd_given;       /* the same of a gradient -> [N,a,a,P] */
extern const struct op op_winograd_result;      /* [N,a,a,P] -> [N,O,OH,OW] */
extern const struct op op_winograd_row;         /* [N,a,a,C,T,T] -> [N,a,C,T,W] */
extern const struct op op_winograd_column;      /* [N,a,C,T,W] -> [N,C,H,W] */
extern const struct op op_winograd_window;      /* [a,a,Q] -> [Q,K,K] */
/* Products at each of the a x a points: sums over channels, or over samples and tiles. With `last` the first one's Q
 * is C * O. Of volumes P holds the planes of each channel, or N those of each sample, and sums are over the planes of windows
 * or of results, too; of weights Q is O * C * planes, or C * planes * O, or, of their gradients, O * planes * C. */
extern const struct op op_winograd_product;        /* [N,a,a,P], [a,a,Q] -> [N,a,a,P] */
extern const struct op op_winograd_product_input;  /* [N,a,a,P], [a,a,Q] -> [N,a,a,C*T] */
extern const struct op op_winograd_product_weight; /* [N,a,a,P], [N,a,a,P] -> [a,a,Q] */

#endif
