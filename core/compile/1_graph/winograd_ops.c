/* SPDX-License-Identifier: Apache-2.0 */
/* Winograd's convolution in pieces: transforms as sums with constant factors, products as
 * contractions. In: nodes that winograd.c makes. Out: their transforms and contractions, as
 * lowering asks for them. */
#include "compile/1_graph/winograd_ops.h"
#include "compile/1_graph/winograd_table.h"
#include "tensor/graph.h"

static void set_coef(struct contract_map *m, int dim, int axis, int32_t coef)
{
    m->dim[dim].coef[axis] = coef;
    m->dim[dim].divide = 1;
}

static void set_each(struct contract_map *m, int count, const int *axes)
{
    for (int d = 0; d < count; d++)
        set_coef(m, d, axes[d], 1);
}

/* The dimension that holds the channels, and of each all tiles. */
static void set_plane(const struct node *n, struct contract_map *m, int dim, int channel, int tile)
{
    set_coef(m, dim, channel, n->arg.winograd.tiles[0] * n->arg.winograd.tiles[1]);
    set_coef(m, dim, tile, 1);
}

static int32_t points_of(const struct node *n, int i)
{
    return WINOGRAD_STEP + n->arg.winograd.window[i] - 1;
}

/* ---- transforms ----------------------------------------------------------------------------- */

static void add_transform(struct transform_map *c, enum transform_role role, int window, int row,
                          int32_t length)
{
    c->transform[c->transforms].table = transform_table_number(role, window);
    c->transform[c->transforms++].row = row;
    c->extent[c->axes++] = length;
}

static void set_axes(struct transform_map *c, int count, const int32_t *extents)
{
    c->axes = c->out_axes = count;
    for (int a = 0; a < count; a++)
        c->extent[a] = extents[a];
}

/* Tiles of an image that holds all of them, in the transform's domain. */
static void take_tiles(const struct node *n, tarn_shape in, enum transform_role role,
                       struct transform_map *c)
{
    const int32_t *tiles = n->arg.winograd.tiles, *window = n->arg.winograd.window;
    set_axes(
        c, 6,
        (int32_t[]){ in.dim[0], points_of(n, 0), points_of(n, 1), in.dim[1], tiles[0], tiles[1] });
    set_each(&c->out, 3, (int[]){ 0, 1, 2 });
    set_plane(n, &c->out, 3, 3, 5);
    set_coef(&c->out, 3, 4, tiles[1]);
    set_coef(&c->in, 0, 0, 1);
    set_coef(&c->in, 1, 3, 1);
    for (int i = 0; i < 2; i++) {
        add_transform(c, role, window[i], 1 + i,
                      role == TRANSFORM_INPUT ? points_of(n, i) : WINOGRAD_STEP);
        set_coef(&c->in, 2 + i, 4 + i, WINOGRAD_STEP);
        set_coef(&c->in, 2 + i, 6 + i, 1);
    }
}

static void input_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    take_tiles(n, in, TRANSFORM_INPUT, c);
}

static void given_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    take_tiles(n, in, TRANSFORM_OUTPUT_GRAD, c);
}

static void weight_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    set_axes(c, 3, (int32_t[]){ in.dim[0], points_of(n, 0), points_of(n, 1) });
    set_each(&c->out, 3, (int[]){ 1, 2, 0 });
    set_each(&c->in, 3, (int[]){ 0, 3, 4 });
    for (int i = 0; i < 2; i++)
        add_transform(c, TRANSFORM_WEIGHT, n->arg.winograd.window[i], 1 + i, in.dim[1 + i]);
}

static void window_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    set_axes(c, 3, n->shape.dim);
    set_each(&c->out, 3, (int[]){ 0, 1, 2 });
    set_each(&c->in, 3, (int[]){ 3, 4, 0 });
    for (int i = 0; i < 2; i++)
        add_transform(c, TRANSFORM_WEIGHT_GRAD, n->arg.winograd.window[i], 1 + i, in.dim[i]);
}

static void result_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    const int32_t *tiles = n->arg.winograd.tiles;
    set_axes(c, 6,
             (int32_t[]){ in.dim[0], n->shape.dim[1], tiles[0], WINOGRAD_STEP, tiles[1],
                          WINOGRAD_STEP });
    set_each(&c->out, 2, (int[]){ 0, 1 });
    set_each(&c->in, 3, (int[]){ 0, 6, 7 });
    set_plane(n, &c->in, 3, 1, 4);
    set_coef(&c->in, 3, 2, tiles[1]);
    for (int i = 0; i < 2; i++) {
        add_transform(c, TRANSFORM_OUTPUT, n->arg.winograd.window[i], 3 + 2 * i, in.dim[1 + i]);
        set_coef(&c->out, 2 + i, 2 + 2 * i, WINOGRAD_STEP);
        set_coef(&c->out, 2 + i, 3 + 2 * i, 1);
        c->out.dim[2 + i].guarded = true;
    }
}

/* Overlapping tiles added up along one direction i: axes `to` and `to` + 1 count the result in
 * steps, the first transform goes over the tiles that reach there, the second over their points. */
static void spread(const struct node *n, struct transform_map *c, int i, int to, int out_dim,
                   int tile_dim, int point_dim)
{
    const int32_t a = points_of(n, i), window = n->arg.winograd.window[i];
    const int32_t reach = (a + WINOGRAD_STEP - 1) / WINOGRAD_STEP;
    const int back = c->out_axes;
    add_transform(c, TRANSFORM_ONES, 0, -1, reach);
    add_transform(c, TRANSFORM_INPUT_GRAD, window, to + 1, a);
    c->transform[1].step_axis = back;
    c->transform[1].step = WINOGRAD_STEP;
    set_coef(&c->out, out_dim, to, WINOGRAD_STEP);
    set_coef(&c->out, out_dim, to + 1, 1);
    c->out.dim[out_dim].offset = -n->arg.winograd.padding[i];
    c->out.dim[out_dim].guarded = true;
    set_coef(&c->in, tile_dim, to, 1);
    set_coef(&c->in, tile_dim, back, -1);
    c->in.dim[tile_dim].guarded = true;
    set_coef(&c->in, point_dim, back + 1, 1);
}

static int32_t steps_of(const struct node *n, int i)
{
    return (n->arg.winograd.size[i] + n->arg.winograd.padding[i] + WINOGRAD_STEP - 1) /
           WINOGRAD_STEP;
}

static void row_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    set_axes(
        c, 6,
        (int32_t[]){ in.dim[0], in.dim[1], in.dim[3], in.dim[4], steps_of(n, 1), WINOGRAD_STEP });
    set_each(&c->out, 4, (int[]){ 0, 1, 2, 3 });
    set_coef(&c->in, 0, 0, 1);
    set_coef(&c->in, 1, 1, 1);
    set_coef(&c->in, 3, 2, 1);
    set_coef(&c->in, 4, 3, 1);
    spread(n, c, 1, 4, 4, 5, 2);
}

static void column_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    set_axes(c, 5, (int32_t[]){ in.dim[0], in.dim[2], in.dim[4], steps_of(n, 0), WINOGRAD_STEP });
    set_coef(&c->out, 0, 0, 1);
    set_coef(&c->out, 1, 1, 1);
    set_coef(&c->out, 3, 2, 1);
    set_coef(&c->in, 0, 0, 1);
    set_coef(&c->in, 2, 1, 1);
    set_coef(&c->in, 4, 2, 1);
    spread(n, c, 0, 3, 2, 3, 1);
}

#define TRANSFORM_OP(id, text) \
    const struct op op_winograd_##id = { \
        .name = text, .arity = 1, .kind = OP_TRANSFORM, .transform = id##_transform \
    }
TRANSFORM_OP(input, "winograd input");
TRANSFORM_OP(weight, "winograd weight");
TRANSFORM_OP(given, "winograd given");
TRANSFORM_OP(result, "winograd result");
TRANSFORM_OP(row, "winograd row");
TRANSFORM_OP(column, "winograd column");
TRANSFORM_OP(window, "winograd window");

/* ---- products ------------------------------------------------------------------------------- */

/* Axes of a product: sample, both coordinates of the point, channels of result and operand, tile. */
static void product_over(const struct node *n, bool back, struct contract *c)
{
    const int32_t *tiles = n->arg.winograd.tiles;
    const int32_t to = n->arg.winograd.channels[!back], from = n->arg.winograd.channels[back];
    *c = (struct contract){ .axes = 6, .out_axes = 5 };
    for (int d = 0; d < 3; d++)
        c->extent[d] = n->shape.dim[d];
    c->extent[3] = to;
    c->extent[4] = tiles[0] * tiles[1];
    c->extent[5] = from;
    set_each(&c->out, 3, (int[]){ 0, 1, 2 });
    set_plane(n, &c->out, 3, 3, 4);
    set_each(&c->in[0], 3, (int[]){ 0, 1, 2 });
    set_plane(n, &c->in[0], 3, 5, 4);
    set_each(&c->in[1], 2, (int[]){ 1, 2 });
    set_coef(&c->in[1], 2, 3, back ? 1 : from);
    set_coef(&c->in[1], 2, 5, back ? to : 1);
}

static void product_contract(const struct node *n, const tarn_shape in[2], struct contract *c)
{
    (void)in;
    product_over(n, false, c);
}

static void product_input_contract(const struct node *n, const tarn_shape in[2], struct contract *c)
{
    (void)in;
    product_over(n, true, c);
}

static void product_weight_contract(const struct node *n, const tarn_shape in[2],
                                    struct contract *c)
{
    const int32_t *tiles = n->arg.winograd.tiles, *channels = n->arg.winograd.channels;
    const int32_t extent[6] = { n->shape.dim[0], n->shape.dim[1], channels[1],
                                channels[0],     in[0].dim[0],    tiles[0] * tiles[1] };
    *c = (struct contract){ .axes = 6, .out_axes = 4 };
    for (int a = 0; a < 6; a++)
        c->extent[a] = extent[a];
    set_each(&c->out, 3, (int[]){ 0, 1, 3 });
    set_coef(&c->out, 2, 2, extent[3]);
    for (int k = 0; k < 2; k++) {
        set_each(&c->in[k], 3, (int[]){ 4, 0, 1 });
        set_plane(n, &c->in[k], 3, k == 0 ? 3 : 2, 5);
    }
}

#define PRODUCT_OP(id, text) \
    const struct op op_winograd_##id = { \
        .name = text, .arity = 2, .kind = OP_CONTRACT, .contract = id##_contract \
    }
PRODUCT_OP(product, "winograd product");
PRODUCT_OP(product_input, "winograd product");
PRODUCT_OP(product_weight, "winograd product");
