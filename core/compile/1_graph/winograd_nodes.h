/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of which winograd.c, whose samples are lanes, and few_winograd.c, whose channels are, make convolutions. */
#ifndef TARN_WINOGRAD_NODES_H
#define TARN_WINOGRAD_NODES_H

#include "tensor/op_record.h"

/* A convolution: how it is cut, and how images and points lie. Planes of a volume are cut as images are, those of zeros before
 * and behind it too, and are further channels to the transforms; with `last` they are further samples. Products add up the
 * planes that a window lies on. */
struct winograd_plan {
    struct builder *b;
    tarn_shape x, w, y; /* [N, C, H, W], the weight's, [N, O, H, W]; or of volumes */
    int32_t padding[CONV_DIRECTIONS], a[2], tiles[2];
    int32_t above; /* planes of zeros on either side of what came back for a result */
    bool last;     /* op_arg.winograd's */
};

/* Whether there are points for such a window, and nothing is skipped. */
bool winograd_applies(const union op_arg *conv, tarn_shape weight);
/* Sets `a` and `tiles`. */
void winograd_cut(struct winograd_plan *p);
/* Planes of x and of y, 1 of images; and those of a window. */
int32_t winograd_planes(tarn_shape of);
/* Planes with those of zeros. */
int32_t winograd_planes_taken(const struct winograd_plan *p);
int32_t winograd_planes_given(const struct winograd_plan *p);
/* The elements of all channels, planes and tiles at a point, with what is between them and the next point's. */
int64_t winograd_plane(const struct winograd_plan *p, int32_t channels, int32_t planes);
/* Of that many elements at a point. */
tarn_shape winograd_points(const struct winograd_plan *p, int32_t planes, int64_t plane);
tarn_shape winograd_weight_points(const struct winograd_plan *p);
union op_arg winograd_options(const struct winograd_plan *p);

/* Points of an image, which lies as `last` says, and of what came back for a result. */
uint32_t winograd_input(const struct winograd_plan *p, uint32_t x);
uint32_t winograd_given(const struct winograd_plan *p, uint32_t y);
/* `through`: planes of what the product makes, or sums over. */
uint32_t winograd_product(const struct winograd_plan *p, const struct op *op, tarn_shape shape,
                          int32_t through, uint32_t a, uint32_t b);
/* The result of points of images and weights, and the gradient of the weight of those of images and what came back. */
uint32_t winograd_result(const struct winograd_plan *p, uint32_t x, uint32_t w);
uint32_t winograd_weight_gradient(const struct winograd_plan *p, uint32_t x, uint32_t y);

#endif
