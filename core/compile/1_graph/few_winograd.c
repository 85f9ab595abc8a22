/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: Winograd's algorithm for convolutions of few samples, whose channels are lanes. Images, points and
 * weights have them last, in copies where they lie otherwise. The gradient of the image is the convolution of what came
 * back with windows turned round: x of its plan is what came back, and y the image's gradient. In: a convolution's node.
 * Out: nodes in its place, or the word that it stays. */
#include <string.h>

#include "compile/1_graph/few.h"
#include "compile/1_graph/winograd_nodes.h"
#include "compile/1_graph/winograd_ops.h"
#include "tensor/expand.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

/* ---- what it is good for -------------------------------------------------------------------- */

/* Cycles of 16 lanes, measured for layers of 16 to 512 channels in images of 7 to 32 columns, 1 to 4 samples. Of an image,
 * a result and a weight they are for each point, and most of them for loads and stores. */
#define TAKE_CYCLES 16.0
#define GIVE_CYCLES 12.0
#define WEIGHT_CYCLES 40.0
#define TURN_CYCLES 27.0  /* of a pixel, in a copy between layouts */
#define DIRECT_CYCLES 1.3 /* of a term of a convolution, */
#define POINT_CYCLES 1.15 /* and of one of a product at a point */
#define WORTH 0.85        /* What is nearer was not faster in all cases. */

static bool is_faster(const struct winograd_plan *p, bool turns)
{
    const double in = p->x.dim[1], out = p->y.dim[1], n = p->y.dim[0];
    const double pixels = (double)tarn_shape_count(p->y) / out;
    const double window = (double)tarn_shape_count(p->w) / (in * out);
    const double tiles = n * p->tiles[0] * p->tiles[1], terms = in * winograd_planes(p->w);
    const double planes = winograd_planes(p->y), taken = winograd_planes_taken(p);
    const double direct = DIRECT_CYCLES * pixels * window * in * out;
    const double made = p->a[0] * p->a[1] *
                            (tiles * (planes * (POINT_CYCLES * terms * out + GIVE_CYCLES * out) +
                                      taken * TAKE_CYCLES * in) +
                             WEIGHT_CYCLES * terms * out) +
                        (turns ? TURN_CYCLES * pixels * (in + out) : 0);
    return made < WORTH * direct;
}

static bool suits(struct winograd_plan *p, const union op_arg *arg, bool turns)
{
    const int32_t channels = p->x.dim[1] > p->y.dim[1] ? p->x.dim[1] : p->y.dim[1];
    if (!winograd_applies(arg, p->w) || p->x.dim[1] % LANES != 0 || p->y.dim[1] % LANES != 0 ||
        p->y.dim[p->y.rank - 2] < WINOGRAD_STEP || p->y.dim[p->y.rank - 1] < WINOGRAD_STEP)
        return false;
    winograd_cut(p);
    /* Indices within a sample have 32 bits. */
    return (double)winograd_plane(p, channels, 1) * p->a[0] * p->a[1] <= INT32_MAX &&
           is_faster(p, turns);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static uint32_t turned_round(const struct winograd_plan *p, uint32_t w)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    const tarn_shape s = expand_shape(p->b, w);
    for (int d = 0; d < s.rank; d++) {
        const bool turns = d >= 2;
        arg.slice.start[d] = turns ? s.dim[d] - 1 : 0;
        arg.slice.step[d] = turns ? -1 : 1;
    }
    return expand_make(p->b, &op_flip, s, expand_dtype(p->b, w), &arg, &w, 1);
}

/* From a copy of [to, from, K, K] as [from, K, K, to]; of a gradient's the two have changed places already. Planes go with
 * what they are from. */
static uint32_t transformed_weight(const struct winograd_plan *p, uint32_t w, bool back)
{
    static const int32_t to_last[] = { 1, 2, 3, 0 }, deep_to_last[] = { 1, 2, 3, 4, 0 };
    const bool deep = p->w.rank == 5;
    const union op_arg arg = winograd_options(p);
    uint32_t copy = back ? permuted(p->b, turned_round(p, w), channels_last(p->w.rank))
                         : permuted(p->b, w, deep ? deep_to_last : to_last);
    simplify_module(p->b)->stored[copy] = true;
    if (deep) {
        const tarn_shape s = expand_shape(p->b, copy);
        copy = expand_reshape(p->b, copy,
                              TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2], s.dim[3], s.dim[4]));
    }
    return expand_make(p->b, &op_winograd_weight_last, winograd_weight_points(p), TARN_F32, &arg,
                       &copy, 1);
}

bool few_winograd(struct builder *b, const struct node *n, const uint32_t in[2], bool turns,
                  uint32_t *out)
{
    const tarn_shape s[2] = { expand_shape(b, in[0]), expand_shape(b, in[1]) };
    const bool back = n->op == &op_conv2d_input, of_weight = n->op == &op_conv2d_weight;
    struct winograd_plan p = { .b = b, .x = s[0], .w = s[1], .y = n->shape, .last = true };
    if (of_weight) {
        p.w = n->shape;
        p.y = s[1];
    }
    if (!simplify_winograd(b) || n->dtype != TARN_F32 || tarn_shape_count(s[0]) == 0 ||
        tarn_shape_count(s[1]) == 0)
        return false;
    for (int i = 0; i < p.w.rank - 2; i++) {
        const int of = CONV_DIRECTIONS - (p.w.rank - 2) + i;
        const int32_t padding = n->arg.conv.padding[of];
        p.padding[of] = back ? p.w.dim[2 + i] - 1 - padding : padding;
        if (p.padding[of] < 0)
            return false;
    }
    if (!suits(&p, &n->arg, turns))
        return false;
    const uint32_t x = winograd_input(&p, channels_last_of(b, in[0]));
    *out =
        of_weight
            ? winograd_weight_gradient(&p, x, winograd_given(&p, channels_last_of(b, in[1])))
            : with_channels_second(b, winograd_result(&p, x, transformed_weight(&p, in[1], back)));
    return true;
}
