/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: Winograd's algorithm for convolutions of few samples, whose channels are lanes. Images, points and
 * weights have them last, in copies where they lie otherwise. The gradient of the image is the convolution of what came
 * back with windows turned round. In: a convolution's node. Out: nodes in its place, or the word that it stays. */
#include <string.h>

#include "compile/1_graph/few.h"
#include "compile/1_graph/winograd_ops.h"
#include "tensor/expand.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

/* A convolution as it is computed: of a gradient, x is what came back, and y the image's gradient. */
struct plan_of {
    struct builder *b;
    tarn_shape x, w, y; /* [N, C, H, W], the weight's, [N, O, H, W] */
    int32_t padding[2], a[2], tiles[2];
};

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

static bool is_faster(const struct plan_of *p, bool turns)
{
    const double in = p->x.dim[1], out = p->y.dim[1], n = p->y.dim[0];
    const double pixels = n * p->y.dim[2] * p->y.dim[3], tiles = n * p->tiles[0] * p->tiles[1];
    const double direct = DIRECT_CYCLES * pixels * p->w.dim[2] * p->w.dim[3] * in * out;
    const double made =
        p->a[0] * p->a[1] *
            (tiles * (POINT_CYCLES * in * out + TAKE_CYCLES * in + GIVE_CYCLES * out) +
             WEIGHT_CYCLES * in * out) +
        (turns ? TURN_CYCLES * pixels * (in + out) : 0);
    return made < WORTH * direct;
}

/* Planes begin at whole registers, and an odd number of them apart, as winograd_ops.h has it of elements. */
static int64_t plane_of(const struct plan_of *p, int32_t channels)
{
    const int64_t elements = (int64_t)channels * p->tiles[0] * p->tiles[1];
    return (((elements + LANES - 1) / LANES) | 1) * LANES;
}

static bool suits(struct plan_of *p, const union op_arg *arg, bool turns)
{
    const int32_t channels = p->x.dim[1] > p->y.dim[1] ? p->x.dim[1] : p->y.dim[1];
    if (arg->conv.groups != 1 || p->x.dim[1] % LANES != 0 || p->y.dim[1] % LANES != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        if (arg->conv.stride[i] != 1 || arg->conv.dilation[i] != 1 ||
            (p->w.dim[2 + i] != 3 && p->w.dim[2 + i] != 5) || p->y.dim[2 + i] < WINOGRAD_STEP)
            return false;
        p->a[i] = WINOGRAD_STEP + p->w.dim[2 + i] - 1;
        p->tiles[i] = (p->y.dim[2 + i] + WINOGRAD_STEP - 1) / WINOGRAD_STEP;
    }
    /* Indices within a sample have 32 bits. */
    return (double)plane_of(p, channels) * p->a[0] * p->a[1] <= INT32_MAX && is_faster(p, turns);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static union op_arg options(const struct plan_of *p)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.winograd.last = 1;
    for (int i = 0; i < 2; i++) {
        arg.winograd.window[i] = p->w.dim[2 + i];
        arg.winograd.tiles[i] = p->tiles[i];
    }
    return arg;
}

static tarn_shape at_points(const struct plan_of *p, int32_t channels)
{
    return TARN_SHAPE(p->y.dim[0], p->a[0], p->a[1], (int32_t)plane_of(p, channels));
}

/* An image with its channels last, and zeros around it, so that its tiles need no conditions. */
static uint32_t with_tiles(const struct plan_of *p, uint32_t x, const int32_t low[2],
                           const int32_t length[2])
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    x = channels_last_of(p->b, x);
    tarn_shape shape = expand_shape(p->b, x);
    bool any = false;
    for (int i = 0; i < 2; i++) {
        arg.pad.low[1 + i] = low[i];
        arg.pad.high[1 + i] = length[i] - low[i] - shape.dim[1 + i];
        any |= shape.dim[1 + i] != length[i];
        shape.dim[1 + i] = length[i];
    }
    return any ? expand_make(p->b, &op_pad, shape, expand_dtype(p->b, x), &arg, &x, 1) : x;
}

static uint32_t transformed_input(const struct plan_of *p, uint32_t x)
{
    const union op_arg arg = options(p);
    const int32_t length[2] = { WINOGRAD_STEP * (p->tiles[0] - 1) + p->a[0],
                                WINOGRAD_STEP * (p->tiles[1] - 1) + p->a[1] };
    x = with_tiles(p, x, p->padding, length);
    return expand_make(p->b, &op_winograd_input, at_points(p, p->x.dim[1]), TARN_F32, &arg, &x, 1);
}

static uint32_t transformed_gradient(const struct plan_of *p, uint32_t y)
{
    static const int32_t none[2] = { 0, 0 };
    const union op_arg arg = options(p);
    const int32_t length[2] = { WINOGRAD_STEP * p->tiles[0], WINOGRAD_STEP * p->tiles[1] };
    y = with_tiles(p, y, none, length);
    return expand_make(p->b, &op_winograd_given, at_points(p, p->y.dim[1]), TARN_F32, &arg, &y, 1);
}

static tarn_shape weight_points(const struct plan_of *p)
{
    return TARN_SHAPE(p->a[0], p->a[1], p->w.dim[0] * p->w.dim[1]);
}

static uint32_t turned_round(const struct plan_of *p, uint32_t w)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    const tarn_shape s = expand_shape(p->b, w);
    for (int d = 0; d < s.rank; d++) {
        const bool turns = d == 2 || d == 3;
        arg.slice.start[d] = turns ? s.dim[d] - 1 : 0;
        arg.slice.step[d] = turns ? -1 : 1;
    }
    return expand_make(p->b, &op_flip, s, expand_dtype(p->b, w), &arg, &w, 1);
}

/* From a copy of [to, from, K, K] as [from, K, K, to]; of a gradient's the two have changed places already. */
static uint32_t transformed_weight(const struct plan_of *p, uint32_t w, bool back)
{
    static const int32_t to_last[4] = { 1, 2, 3, 0 };
    const union op_arg arg = options(p);
    const uint32_t copy =
        back ? permuted(p->b, turned_round(p, w), channels_last) : permuted(p->b, w, to_last);
    simplify_module(p->b)->stored[copy] = true;
    return expand_make(p->b, &op_winograd_weight_last, weight_points(p), TARN_F32, &arg, &copy, 1);
}

static uint32_t product(const struct plan_of *p, const struct op *op, tarn_shape shape,
                        const uint32_t in[2])
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    memcpy(arg.winograd.tiles, p->tiles, sizeof arg.winograd.tiles);
    arg.winograd.last = 1;
    arg.winograd.channels[0] = p->x.dim[1];
    arg.winograd.channels[1] = p->y.dim[1];
    return expand_make(p->b, op, shape, TARN_F32, &arg, in, 2);
}

static uint32_t image_of(const struct plan_of *p, const uint32_t in[2], bool back)
{
    union op_arg arg = options(p);
    memcpy(arg.winograd.size, p->y.dim + 2, sizeof arg.winograd.size);
    const uint32_t both[2] = { transformed_input(p, in[0]), transformed_weight(p, in[1], back) };
    const uint32_t points = product(p, &op_winograd_product, at_points(p, p->y.dim[1]), both);
    const tarn_shape s = TARN_SHAPE(p->y.dim[0], p->y.dim[2], p->y.dim[3], p->y.dim[1]);
    const uint32_t made = expand_make(p->b, &op_winograd_result, s, TARN_F32, &arg, &points, 1);
    return permuted(p->b, made, channels_second);
}

static uint32_t weight_gradient(const struct plan_of *p, const uint32_t in[2])
{
    union op_arg arg = options(p);
    memset(arg.winograd.tiles, 0, sizeof arg.winograd.tiles);
    const uint32_t both[2] = { transformed_input(p, in[0]), transformed_gradient(p, in[1]) };
    const uint32_t points = product(p, &op_winograd_product_weight, weight_points(p), both);
    const tarn_shape flat = TARN_SHAPE(p->w.dim[0] * p->w.dim[1], p->w.dim[2], p->w.dim[3]);
    const uint32_t made = expand_make(p->b, &op_winograd_window, flat, TARN_F32, &arg, &points, 1);
    return expand_make(p->b, &op_reshape, p->w, TARN_F32, NULL, &made, 1);
}

bool few_winograd(struct builder *b, const struct node *n, const uint32_t in[2], bool turns,
                  uint32_t *out)
{
    const tarn_shape s[2] = { expand_shape(b, in[0]), expand_shape(b, in[1]) };
    const bool back = n->op == &op_conv2d_input, of_weight = n->op == &op_conv2d_weight;
    struct plan_of p = { .b = b, .x = s[0], .w = s[1], .y = n->shape };
    if (of_weight) {
        p.w = n->shape;
        p.y = s[1];
    }
    if (!simplify_winograd(b) || n->dtype != TARN_F32 || tarn_shape_count(s[0]) == 0 ||
        tarn_shape_count(s[1]) == 0)
        return false;
    for (int i = 0; i < 2; i++)
        p.padding[i] = back ? p.w.dim[2 + i] - 1 - n->arg.conv.padding[i] : n->arg.conv.padding[i];
    if (p.padding[0] < 0 || p.padding[1] < 0 || !suits(&p, &n->arg, turns))
        return false;
    *out = of_weight ? weight_gradient(&p, in) : image_of(&p, in, back);
    return true;
}
