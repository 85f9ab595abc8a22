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

/* How far apart a plane's tiles lie. */
static int32_t tile_step(const struct node *n, int32_t channels)
{
    return n->arg.winograd.last ? channels : 1;
}

/* The dimension that holds the channels and the tiles: of each channel all tiles, or of each tile all channels. */
static void set_plane(const struct node *n, struct contract_map *m, int dim, int channel, int tile,
                      int32_t channels)
{
    const int32_t *tiles = n->arg.winograd.tiles;
    set_coef(m, dim, channel, n->arg.winograd.last ? 1 : tiles[0] * tiles[1]);
    set_coef(m, dim, tile, tile_step(n, channels));
}

/* Dimensions of an image's channels, and of its rows, behind which are the columns. */
static int channel_dim(const struct node *n)
{
    return n->arg.winograd.last ? 3 : 1;
}

static int row_dim(const struct node *n)
{
    return n->arg.winograd.last ? 1 : 2;
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
    const bool last = n->arg.winograd.last;
    const int32_t *tiles = n->arg.winograd.tiles, *window = n->arg.winograd.window;
    const int32_t channels = in.dim[channel_dim(n)];
    const int channel = last ? 5 : 3, row = last ? 3 : 4;
    set_axes(c, 6, (int32_t[6]){ in.dim[0], points_of(n, 0), points_of(n, 1) });
    c->extent[channel] = channels;
    c->extent[row] = tiles[0];
    c->extent[row + 1] = tiles[1];
    set_each(&c->out, 3, (int[]){ 0, 1, 2 });
    set_plane(n, &c->out, 3, channel, row + 1, channels);
    set_coef(&c->out, 3, row, tiles[1] * tile_step(n, channels));
    set_coef(&c->in, 0, 0, 1);
    set_coef(&c->in, channel_dim(n), channel, 1);
    for (int i = 0; i < 2; i++) {
        add_transform(c, role, window[i], 1 + i,
                      role == TRANSFORM_INPUT ? points_of(n, i) : WINOGRAD_STEP);
        set_coef(&c->in, row_dim(n) + i, row + i, WINOGRAD_STEP);
        set_coef(&c->in, row_dim(n) + i, 6 + i, 1);
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

/* The same of [A,K,K,B], where B are the lanes. */
static void weight_last_transform(const struct node *n, tarn_shape in, struct transform_map *c)
{
    set_axes(c, 4, (int32_t[]){ in.dim[0], points_of(n, 0), points_of(n, 1), in.dim[3] });
    set_each(&c->out, 2, (int[]){ 1, 2 });
    set_coef(&c->out, 2, 0, in.dim[3]);
    set_coef(&c->out, 2, 3, 1);
    set_each(&c->in, 4, (int[]){ 0, 4, 5, 3 });
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
    const int32_t channels = n->shape.dim[channel_dim(n)];
    const int channel = n->arg.winograd.last ? 5 : 1, row = n->arg.winograd.last ? 1 : 2;
    set_axes(c, 6, (int32_t[6]){ in.dim[0] });
    c->extent[channel] = channels;
    set_coef(&c->out, 0, 0, 1);
    set_coef(&c->out, channel_dim(n), channel, 1);
    set_each(&c->in, 3, (int[]){ 0, 6, 7 });
    set_plane(n, &c->in, 3, channel, row + 2, channels);
    set_coef(&c->in, 3, row, tiles[1] * tile_step(n, channels));
    for (int i = 0; i < 2; i++) {
        const int d = row_dim(n) + i, tile = row + 2 * i;
        c->extent[tile] = tiles[i];
        c->extent[tile + 1] = WINOGRAD_STEP;
        add_transform(c, TRANSFORM_OUTPUT, n->arg.winograd.window[i], tile + 1, in.dim[1 + i]);
        set_coef(&c->out, d, tile, WINOGRAD_STEP);
        set_coef(&c->out, d, tile + 1, 1);
        c->out.dim[d].guarded = true;
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
TRANSFORM_OP(weight_last, "winograd weight");
TRANSFORM_OP(given, "winograd given");
TRANSFORM_OP(result, "winograd result");
TRANSFORM_OP(row, "winograd row");
TRANSFORM_OP(column, "winograd column");
TRANSFORM_OP(window, "winograd window");

/* ---- products ------------------------------------------------------------------------------- */

static int add_axis(struct contract *c, int32_t extent)
{
    c->extent[c->axes] = extent;
    return c->axes++;
}

/* Planes of a volume, of which so many lie behind one another, as a plane's dimension has them, or the samples'. */
static void set_planes(const struct node *n, struct contract_map *m, int sample, int channel,
                       int plane, int32_t planes)
{
    const int32_t *tiles = n->arg.winograd.tiles;
    if (n->arg.winograd.last)
        m->dim[0].coef[sample] = planes;
    else
        m->dim[3].coef[channel] *= planes;
    set_coef(m, n->arg.winograd.last ? 0 : 3, plane,
             n->arg.winograd.last ? 1 : tiles[0] * tiles[1]);
}

/* And as many planes further as the axis `deep` says, or back, and `offset`. */
static void set_window(const struct node *n, struct contract_map *m, int deep, int32_t sign,
                       int32_t offset)
{
    const int32_t *tiles = n->arg.winograd.tiles;
    const int dim = n->arg.winograd.last ? 0 : 3;
    const int32_t step = n->arg.winograd.last ? 1 : tiles[0] * tiles[1];
    set_coef(m, dim, deep, sign * step);
    m->dim[dim].offset = offset * step;
}

/* Axes of a product: sample, both coordinates of the point, then channels of the result and tile, or the other way round,
 * and channels of the operand. Of volumes planes of the result go before tiles, and last are those of the window. */
static void product_over(const struct node *n, bool back, struct contract *c)
{
    const bool last = n->arg.winograd.last;
    const int32_t *tiles = n->arg.winograd.tiles, *planes = n->arg.winograd.planes;
    const int32_t to = n->arg.winograd.channels[!back], from = n->arg.winograd.channels[back];
    const int32_t through = n->arg.winograd.through, deep = n->arg.winograd.deep;
    const int32_t window = deep > 0 ? deep : 1;
    int channel = 3, plane = -1;
    *c = (struct contract){ 0 };
    add_axis(c, last && deep > 0 ? n->shape.dim[0] / through : n->shape.dim[0]);
    add_axis(c, n->shape.dim[1]);
    add_axis(c, n->shape.dim[2]);
    if (!last)
        channel = add_axis(c, to);
    if (deep > 0)
        plane = add_axis(c, through);
    const int tile = add_axis(c, tiles[0] * tiles[1]);
    if (last)
        channel = add_axis(c, to);
    c->out_axes = c->axes;
    const int summed = add_axis(c, from);
    set_each(&c->out, 3, (int[]){ 0, 1, 2 });
    set_plane(n, &c->out, 3, channel, tile, to);
    set_each(&c->in[0], 3, (int[]){ 0, 1, 2 });
    set_plane(n, &c->in[0], 3, summed, tile, from);
    set_each(&c->in[1], 2, (int[]){ 1, 2 });
    set_coef(&c->in[1], 2, channel, window * (back || last ? 1 : from));
    set_coef(&c->in[1], 2, summed, window * (back || last ? to : 1));
    if (deep == 0)
        return;
    const int under = add_axis(c, deep);
    set_planes(n, &c->out, 0, channel, plane, through);
    set_planes(n, &c->in[0], 0, summed, plane, planes[back]);
    set_window(n, &c->in[0], under, back ? -1 : 1, back ? deep - 1 : 0);
    set_coef(&c->in[1], 2, channel, last ? 1 : c->in[1].dim[2].coef[channel]);
    set_coef(&c->in[1], 2, under, last ? to : 1);
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
    const int32_t *planes = n->arg.winograd.planes, deep = n->arg.winograd.deep;
    const int32_t window = deep > 0 ? deep : 1;
    const int32_t samples = in[0].dim[0] / (deep > 0 && n->arg.winograd.last ? planes[0] : 1);
    int under = -1, plane = -1;
    *c = (struct contract){ 0 };
    add_axis(c, n->shape.dim[0]);
    add_axis(c, n->shape.dim[1]);
    const int to = add_axis(c, channels[1]);
    if (deep > 0)
        under = add_axis(c, deep);
    const int from = add_axis(c, channels[0]);
    c->out_axes = c->axes;
    const int sample = add_axis(c, samples);
    if (deep > 0)
        plane = add_axis(c, n->arg.winograd.through);
    const int tile = add_axis(c, tiles[0] * tiles[1]);
    set_each(&c->out, 3, (int[]){ 0, 1, from });
    set_coef(&c->out, 2, to, window * channels[0]);
    for (int k = 0; k < 2; k++) {
        const int channel = k == 0 ? from : to;
        set_each(&c->in[k], 3, (int[]){ sample, 0, 1 });
        set_plane(n, &c->in[k], 3, channel, tile, channels[k]);
        if (deep > 0)
            set_planes(n, &c->in[k], sample, channel, plane, planes[k]);
    }
    if (deep == 0)
        return;
    set_coef(&c->out, 2, under, channels[0]);
    set_window(n, &c->in[0], under, 1, 0);
    set_window(n, &c->in[1], under, 0, n->arg.winograd.above);
}

#define PRODUCT_OP(id, text) \
    const struct op op_winograd_##id = { \
        .name = text, .arity = 2, .kind = OP_CONTRACT, .contract = id##_contract \
    }
PRODUCT_OP(product, "winograd product");
PRODUCT_OP(product_input, "winograd product");
PRODUCT_OP(product_weight, "winograd product");
