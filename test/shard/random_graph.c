/* SPDX-License-Identifier: Apache-2.0 */
#include "random_graph.h"

#include <stdlib.h>

#include "op/op.h"
#include "spread_values.h"

enum { POOL = 48 };

struct maker {
    struct record *t;
    uint64_t seed;
    tarn_tensor pool[POOL], leaves[RECORD_MOST];
    bool owned[RECORD_MOST];
    int count, leaf_count;
};

static uint32_t roll(struct maker *k, uint32_t below)
{
    return draw(&k->seed, below);
}

/* Axes cut dimensions that they divide, or none. */
static struct spec random_spec(struct maker *k, tarn_shape s)
{
    struct spec out = { { 0 } };
    for (int a = 0; a < k->t->mesh.axes; a++) {
        const uint32_t d = roll(k, (uint32_t)s.rank + 1);
        if ((int)d >= s.rank || s.dim[d] == 0 || s.dim[d] % k->t->mesh.extent[a] != 0)
            continue;
        s.dim[d] /= k->t->mesh.extent[a];
        out.cut[d] = (uint8_t)(out.cut[d] | 1U << a);
    }
    return out;
}

static int32_t extent(struct maker *k)
{
    static const int32_t list[] = { 4, 8, 4, 2, 6, 8, 3, 1 };
    return list[roll(k, 8)];
}

static tarn_shape random_shape(struct maker *k)
{
    tarn_shape s = { .rank = 2 + (int32_t)roll(k, 2) };
    for (int d = 0; d < s.rank; d++)
        s.dim[d] = extent(k);
    return s;
}

/* A leaf of a shape; of an owned tensor's gradient there is a step. */
static tarn_tensor new_leaf(struct maker *k, tarn_shape s)
{
    const bool owned = roll(k, 2) != 0;
    const struct spec spec = random_spec(k, s);
    if (k->leaf_count >= 24)
        return tarn_ones(k->t->r, s);
    const tarn_tensor x = owned ? record_owned(k->t, s, spec) : record_input(k->t, s, spec);
    k->owned[k->leaf_count] = owned;
    k->leaves[k->leaf_count++] = x;
    return x;
}

static tarn_tensor any(struct maker *k)
{
    if (k->count == 0 || roll(k, 6) == 0)
        return new_leaf(k, random_shape(k));
    return k->pool[roll(k, (uint32_t)k->count)];
}

/* Another value of the same shape, if there is one. */
static tarn_tensor like(struct maker *k, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    for (int i = 0; i < 8; i++) {
        const tarn_tensor y = k->pool[roll(k, (uint32_t)k->count)];
        const tarn_shape o = tarn_shape_get(y);
        bool same = k->count > 0 && o.rank == s.rank;
        for (int d = 0; same && d < s.rank; d++)
            same = o.dim[d] == s.dim[d];
        if (same)
            return y;
    }
    return new_leaf(k, s);
}

static int axis_of(struct maker *k, tarn_tensor x)
{
    return (int)roll(k, (uint32_t)tarn_shape_get(x).rank);
}

static tarn_tensor index_for(struct maker *k, tarn_shape s, int32_t rows)
{
    if (k->t->input_count >= RECORD_MOST - 1)
        return tarn_cast(tarn_zeros(k->t->r, s), TARN_I32);
    return record_index(k->t, s, rows, random_spec(k, s));
}

/* ---- ops ------------------------------------------------------------------------------------ */

static tarn_tensor elementwise(struct maker *k, tarn_tensor x)
{
    switch (roll(k, 12)) {
    case 0:
        return tarn_add(x, like(k, x));
    case 1:
        return tarn_sub(x, like(k, x));
    case 2:
        return tarn_mul(x, like(k, x));
    case 3:
        return tarn_div(x, tarn_add_scalar(tarn_exp(tarn_tanh(like(k, x))), 0.5f));
    case 4:
        return tarn_maximum(x, like(k, x));
    case 5:
        return tarn_tanh(x);
    case 6:
        return tarn_relu(x);
    case 7:
        return tarn_neg(x);
    case 8:
        return tarn_mul_scalar(x, 0.25f);
    case 9:
        return tarn_where(tarn_gt(like(k, x), tarn_zeros(k->t->r, TARN_SCALAR)), x, like(k, x));
    case 10:
        return tarn_sqrt(tarn_add_scalar(tarn_mul(x, x), 0.1f));
    default:
        return tarn_dropout(x, 0.25f);
    }
}

static tarn_tensor reduced(struct maker *k, tarn_tensor x)
{
    const tarn_shape axes = TARN_AXES(axis_of(k, x));
    switch (roll(k, 6)) {
    case 0:
        return tarn_mul_scalar(tarn_sum(x, axes, true), 0.25f);
    case 1:
        return tarn_max(x, axes, true);
    case 2:
        return tarn_min(x, axes, true);
    case 3:
        return tarn_softmax(x, axes.dim[0]);
    case 4:
        return tarn_mul(x, tarn_mean(x, axes, true));
    default:
        return tarn_cast(tarn_eq(tarn_argmax(x, axes.dim[0], true),
                                 tarn_cast(tarn_zeros(k->t->r, TARN_SCALAR), TARN_I32)),
                         TARN_F32);
    }
}

static tarn_tensor joined(struct maker *k, tarn_tensor x)
{
    const tarn_tensor parts[2] = { x, like(k, x) };
    return tarn_concat(parts, 2, axis_of(k, x));
}

static tarn_tensor viewed(struct maker *k, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int axis = axis_of(k, x);
    tarn_shape none = { .rank = s.rank }, more = none;
    switch (roll(k, 7)) {
    case 0:
        return tarn_transpose(x, axis, axis_of(k, x));
    case 1:
        return tarn_reshape(x, TARN_SHAPE(-1, s.dim[s.rank - 1]));
    case 2:
        return tarn_flatten(x, s.rank - 2);
    case 3:
        return tarn_slice(x, axis, (int)roll(k, 2), s.dim[axis], 1 + (int)roll(k, 2));
    case 4:
        more.dim[axis] = (int32_t)roll(k, 3);
        none.dim[axis] = (int32_t)roll(k, 2);
        return tarn_pad(x, none, more, 0);
    case 5:
        return joined(k, x);
    default:
        if (s.rank < 3 && s.dim[0] % 2 == 0)
            return tarn_reshape(x, TARN_SHAPE(2, s.dim[0] / 2, s.dim[1]));
        return tarn_add(tarn_sum(x, TARN_AXES(axis), true), x);
    }
}

static tarn_tensor contracted(struct maker *k, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const tarn_tensor w = new_leaf(k, TARN_SHAPE(s.dim[s.rank - 1], extent(k)));
    const tarn_tensor y = tarn_tanh(tarn_matmul(x, w));
    return roll(k, 3) != 0 ? y : tarn_matmul(tarn_transpose(x, s.rank - 1, s.rank - 2), y);
}

static tarn_tensor image(struct maker *k, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int64_t count = tarn_shape_count(s);
    if (count % 16 != 0 || count > 512)
        return tarn_layer_norm_op(x, new_leaf(k, TARN_SHAPE(s.dim[s.rank - 1])), TARN_NONE, 0.1f);
    const int32_t channels = count / 16 % 4 == 0 ? 4 : 1;
    const int32_t groups = channels == 4 ? 1 << roll(k, 3) : 1;
    const tarn_tensor as = tarn_reshape(x, TARN_SHAPE(-1, channels, 4, 4));
    const int32_t window = 1 + (int32_t)roll(k, 3), pad = (int32_t)roll(k, 2);
    const tarn_tensor w = new_leaf(k, TARN_SHAPE(4, channels / groups, window, window));
    const tarn_tensor y = tarn_conv2d_op(
        as, w, TARN_NONE,
        (tarn_conv2d_options){
            .stride = { 1 + (int32_t)roll(k, 2) }, .padding = { pad, pad }, .groups = groups });
    return roll(k, 2) != 0
               ? tarn_tanh(tarn_flatten(y, 1))
               : tarn_flatten(tarn_max_pool2d(tarn_reshape(x, TARN_SHAPE(-1, 1, 4, 4)), 2), 1);
}

static tarn_tensor indexed(struct maker *k, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int axis = axis_of(k, x);
    tarn_shape lines = s;
    switch (roll(k, 5)) {
    case 0:
        if (s.rank != 2)
            return tarn_cumsum(x, axis);
        return tarn_embedding(x, index_for(k, TARN_SHAPE(extent(k)), s.dim[0]));
    case 1:
        lines.dim[axis] = 2;
        return tarn_gather(x, axis, index_for(k, lines, s.dim[axis]));
    case 2:
        return tarn_scatter_add(x, axis, index_for(k, s, s.dim[axis]), like(k, x));
    case 3:
        return tarn_sort(x, axis, roll(k, 2) != 0, NULL);
    default:
        return tarn_cumsum(x, axis);
    }
}

static tarn_tensor step(struct maker *k)
{
    const tarn_tensor x = any(k);
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank < 1 || s.rank > 4 || tarn_shape_count(s) == 0 || tarn_shape_count(s) > 600)
        return new_leaf(k, random_shape(k));
    if (s.rank < 2)
        return elementwise(k, x);
    if (roll(k, 10) == 0)
        return record_mark(x, random_spec(k, s));
    switch (roll(k, 10)) {
    case 0:
    case 1:
    case 2:
        return elementwise(k, x);
    case 3:
        return reduced(k, x);
    case 4:
    case 5:
        return viewed(k, x);
    case 6:
    case 7:
        return contracted(k, x);
    case 8:
        return image(k, x);
    default:
        return indexed(k, x);
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

enum rule { PLAIN, MOMENTUM, ADAM, ADAMW, RULES };

/* Zeros like an owned tensor, cut as that is or in another way. */
static tarn_tensor state_of(struct maker *k, tarn_tensor owned)
{
    const tarn_shape s = tarn_shape_get(owned);
    const struct spec own = k->t->owned[graph_node(owned)->arg.leaf.slot];
    return record_state(k->t, s, roll(k, 2) != 0 ? own : random_spec(k, s));
}

static tarn_tensor averaged(struct maker *k, tarn_tensor owned, tarn_tensor x, float rest)
{
    const tarn_tensor before = state_of(k, owned);
    const tarn_tensor now = tarn_add(tarn_mul_scalar(before, 0.9f), tarn_mul_scalar(x, rest));
    record_assign(before, now);
    return now;
}

static void update(struct maker *k, tarn_tensor owned, tarn_tensor g, enum rule rule)
{
    tarn_tensor along = rule == PLAIN ? g : averaged(k, owned, g, rule == MOMENTUM ? 1 : 0.1f);
    if (rule >= ADAM) {
        const tarn_tensor v = averaged(k, owned, tarn_mul(g, g), 0.1f);
        along = tarn_div(along, tarn_add_scalar(tarn_sqrt(v), 0.01f));
    }
    const tarn_tensor old = rule == ADAMW ? tarn_mul_scalar(owned, 0.99f) : owned;
    record_assign(owned, tarn_sub(old, tarn_mul_scalar(along, 0.1f)));
}

/* Gradients, no longer than 0.5 together. */
static void clip(struct maker *k, tarn_tensor *gradients)
{
    tarn_tensor sum = tarn_full(k->t->r, TARN_SCALAR, 1e-6f);
    for (int i = 0; i < k->leaf_count; i++)
        if (k->owned[i])
            sum = tarn_add(sum, tarn_sum(tarn_mul(gradients[i], gradients[i]), TARN_ALL, false));
    const tarn_tensor most = tarn_div(tarn_full(k->t->r, TARN_SCALAR, 0.5f), tarn_sqrt(sum));
    const tarn_tensor by = tarn_minimum(most, tarn_full(k->t->r, TARN_SCALAR, 1));
    for (int i = 0; i < k->leaf_count; i++)
        if (k->owned[i])
            gradients[i] = tarn_mul(gradients[i], by);
}

/* The mean of some values' squares, its gradients, and an optimizer's step of the owned tensors. */
static void finish(struct maker *k)
{
    struct spec none = { { 0 } };
    tarn_tensor loss = tarn_zeros(k->t->r, TARN_SCALAR), gradients[RECORD_MOST];
    const enum rule rule = (enum rule)roll(k, RULES);
    for (int i = k->count > 6 ? k->count - 6 : 0; i < k->count; i++) {
        const tarn_tensor x = tarn_tanh(k->pool[i]);
        loss = tarn_add(loss, tarn_mean(tarn_mul(x, x), TARN_ALL, false));
    }
    tarn_gradients(loss, k->leaves, k->leaf_count, gradients);
    record_output(k->t, loss, none);
    record_output(k->t, k->pool[k->count - 1],
                  random_spec(k, tarn_shape_get(k->pool[k->count - 1])));
    for (int i = 0; i < k->leaf_count; i++)
        if (!k->owned[i])
            record_output(k->t, gradients[i], none);
    if (roll(k, 2) != 0)
        clip(k, gradients);
    for (int i = 0; i < k->leaf_count; i++)
        if (k->owned[i])
            update(k, k->leaves[i], gradients[i], rule);
}

void random_graph(struct record *t, uint64_t seed, int steps)
{
    struct maker *k = calloc(1, sizeof *k);
    if (k == NULL)
        exit(2);
    k->t = t;
    k->seed = seed * 0x9E3779B97F4A7C15u + 12345;
    for (int i = 0; i < 8; i++)
        draw(&k->seed, 2);
    while (k->count < steps && k->count < POOL)
        k->pool[k->count++] = step(k);
    finish(k);
    free(k);
}
