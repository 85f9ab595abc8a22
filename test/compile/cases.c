/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "kernels.h"

/* ---- graphs --------------------------------------------------------------------------------- */

/* Batches of 40 leave half a block. */
static void make_map_chain(struct build *b)
{
    const tarn_shape shape = TARN_SHAPE(40, 6, 5);
    const uint32_t x = build_samples(b, shape), scale = build_owned(b, TARN_SHAPE(6, 1));
    const uint32_t wide = build_expand(b, build_reshape(b, scale, TARN_SHAPE(1, 6, 1)), shape);
    const uint32_t y = build_map2(b, &op_add, build_map2(b, &op_mul, x, wide), x);
    build_output(b, build_map(b, &op_tanh, build_map(b, &op_relu, y)));
}

/* The mean of each feature: more blocks of samples than there may be rows of partial sums. */
static void make_sum_batch(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(330, 24));
    build_output(b, build_scaled(b, build_reduce(b, &op_sum, x, 1), 1.0f / 330));
}

static void make_softmax(struct build *b)
{
    const tarn_shape shape = TARN_SHAPE(32, 10);
    const uint32_t x = build_samples(b, shape);
    const uint32_t most = build_expand(b, build_reduce(b, &op_max, x, 2), shape);
    const uint32_t e = build_map(b, &op_exp, build_map2(b, &op_sub, x, most));
    const uint32_t sum = build_expand(b, build_reduce(b, &op_sum, e, 2), shape);
    build_output(b, build_map2(b, &op_div, e, sum));
}

/* A linear layer with bias and ReLU, and its gradients for an output gradient that is given. */
static void make_linear(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(48, 20)), w = build_owned(b, TARN_SHAPE(32, 20));
    const uint32_t bias = build_owned(b, TARN_SHAPE(1, 32)),
                   dw = build_owned(b, TARN_SHAPE(32, 20));
    const uint32_t db = build_owned(b, TARN_SHAPE(1, 32)), g = build_samples(b, TARN_SHAPE(48, 32));
    const uint32_t wide = build_expand(b, bias, TARN_SHAPE(48, 32));
    const uint32_t y =
        build_map(b, &op_relu, build_map2(b, &op_add, build_matmul(b, x, w, false, true), wide));
    const uint32_t zero = build_constant(b, TARN_SHAPE(48, 32), 0);
    const uint32_t one = build_map2(b, &op_gt, y, zero);
    b->nodes[one].dtype = TARN_U8; /* comparisons */
    const uint32_t in[3] = { one, g, zero };
    const uint32_t inner = build_node(b, &op_where, TARN_SHAPE(48, 32), TARN_F32, NULL, in, 3);
    build_output(b, y);
    build_assign(b, dw, build_matmul(b, inner, x, true, false));
    build_assign(b, db, build_reduce(b, &op_sum, inner, 1));
}

/* Padded: its border leaves terms out. */
static void make_conv(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(16, 3, 6, 6));
    const uint32_t w = build_owned(b, TARN_SHAPE(4, 3, 3, 3));
    build_output(b, build_map(b, &op_relu, build_conv(b, x, w, 1)));
}

/* Of channels enough for Winograd's algorithm, where a target wants it. */
static void make_conv_channels(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(16, 8, 6, 6));
    const uint32_t w = build_owned(b, TARN_SHAPE(8, 8, 3, 3));
    build_output(b, build_conv(b, x, w, 0));
}

/* The gradient of the weights of a window of 1: images larger than a first cache. */
static void make_conv_weights(struct build *b)
{
    const uint32_t in[2] = { build_samples(b, TARN_SHAPE(32, 32, 14, 14)),
                             build_samples(b, TARN_SHAPE(32, 48, 14, 14)) };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    for (int i = CONV_ROWS; i < CONV_DIRECTIONS; i++)
        arg.conv.stride[i] = arg.conv.dilation[i] = 1;
    arg.conv.groups = 1;
    build_output(b,
                 build_node(b, &op_conv2d_weight, TARN_SHAPE(48, 32, 1, 1), TARN_F32, &arg, in, 2));
}

/* Two that are worth several units, direct and without padding; more channels than units. */
static void make_conv_heavy(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(16, 7, 36, 36));
    const uint32_t w1 = build_owned(b, TARN_SHAPE(128, 7, 3, 3));
    const uint32_t w2 = build_owned(b, TARN_SHAPE(7, 128, 3, 3));
    const uint32_t y = build_map(b, &op_relu, build_conv(b, x, w1, 0));
    build_output(b, build_conv(b, y, w2, 1));
}

/* Momentum on a slice of flat memory, whose old values another assignment and an output read. */
static void make_update(struct build *b)
{
    const uint32_t flat = build_owned(b, TARN_SHAPE(200)), moved = build_owned(b, TARN_SHAPE(200));
    const uint32_t part = build_slice_of(b, flat, 160, TARN_SHAPE(12, 10));
    const uint32_t norm = build_owned(b, TARN_SHAPE(1)), g = build_owned(b, TARN_SHAPE(200));
    const uint32_t now = build_map2(b, &op_add, build_scaled(b, moved, 0.9f), g);
    build_assign(b, moved, now);
    build_assign(b, flat, build_map2(b, &op_sub, flat, build_scaled(b, now, 0.1f)));
    build_assign(b, norm, build_reduce(b, &op_sum, build_map2(b, &op_mul, flat, flat), 1));
    build_output(b, build_reduce(b, &op_sum, part, 1));
}

/* Sums in chunks: two for each sample, across rows of an image; 132 of all weights, and what the
 * lanes leave over; 14 for each sample of a batch. */
static void make_long_sums(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(32, 5, 40));
    const uint32_t w = build_owned(b, TARN_SHAPE(66, 129, 17));
    build_output(b, build_reduce(b, &op_sum, x, 2 | 4));
    const uint32_t y = build_samples(b, TARN_SHAPE(32, 40, 40));
    build_output(b, build_reduce(b, &op_sum, w, 1 | 2 | 4));
    build_output(b, build_reduce(b, &op_sum, y, 1 | 2 | 4));
}

/* Of one row: the first weight lies in a second cache, the other in none, so that cores share it. */
static void make_one_row(struct build *b)
{
    const uint32_t x = build_samples(b, TARN_SHAPE(1, 256));
    const uint32_t near = build_owned(b, TARN_SHAPE(704, 256));
    const uint32_t far = build_owned(b, TARN_SHAPE(640, 704));
    const uint32_t h = build_map(b, &op_relu, build_matmul(b, x, near, false, true));
    build_output(b, build_matmul(b, h, far, false, true));
}

static uint32_t half_of(struct build *b, uint32_t x)
{
    const uint32_t low = build_map(b, &op_cast, x);
    b->nodes[low].dtype = TARN_BF16;
    return low;
}

/* In half types: a weight is stored widened, a block of images is widened before the sum, and the largest of a row and
 * where it lies are one search. */
static void make_conv_half(struct build *b)
{
    const uint32_t x =
        build_map(b, &op_from_bf16, half_of(b, build_samples(b, TARN_SHAPE(32, 1, 9, 9))));
    const uint32_t w =
        build_map(b, &op_from_bf16, half_of(b, build_owned(b, TARN_SHAPE(6, 1, 5, 5))));
    const uint32_t y = build_map(b, &op_from_bf16, half_of(b, build_conv(b, x, w, 0)));
    const uint32_t where = build_reduce(b, &op_argmax, y, 8);
    b->nodes[where].dtype = TARN_I32;
    build_output(b, half_of(b, build_reduce(b, &op_max_first, y, 8)));
    build_output(b, where);
}

/* Weights in rows, as linear layers have them, and products along them, so long that their sums are cut. */
static void make_turned(struct build *b)
{
    const uint32_t x = build_owned(b, TARN_SHAPE(32, 320)),
                   w = build_owned(b, TARN_SHAPE(256, 320));
    build_output(b, build_matmul(b, x, w, false, true));
}

/* Lanes of which the first and the last lie outside: of a value with zeros around it, less an element that all of a row
 * share; of windows in steps of two along one image. */
static void make_edges(struct build *b)
{
    const uint32_t x = build_owned(b, TARN_SHAPE(5, 40)),
                   w = build_owned(b, TARN_SHAPE(2, 2, 3, 3));
    const uint32_t row = build_reshape(b, build_owned(b, TARN_SHAPE(5)), TARN_SHAPE(5, 1));
    const uint32_t less = build_map2(b, &op_sub, x, build_expand(b, row, TARN_SHAPE(5, 40)));
    const uint32_t in[2] = { build_owned(b, TARN_SHAPE(1, 2, 8, 36)), w };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.pad.low[1] = 3;
    arg.pad.high[1] = 5;
    build_output(b, build_node(b, &op_pad, TARN_SHAPE(5, 48), TARN_F32, &arg, &less, 1));
    memset(&arg, 0, sizeof arg);
    arg.conv.groups = 1;
    for (int i = CONV_ROWS; i < CONV_DIRECTIONS; i++) {
        arg.conv.stride[i] = 2;
        arg.conv.padding[i] = arg.conv.dilation[i] = 1;
    }
    build_output(b, build_node(b, &op_conv2d, TARN_SHAPE(1, 2, 4, 18), TARN_F32, &arg, in, 2));
}

const struct graph_case graph_cases[] = {
    { "map_chain", make_map_chain, false },
    { "sum_batch", make_sum_batch, false },
    { "softmax", make_softmax, false },
    { "linear", make_linear, false },
    { "conv", make_conv, false },
    { "conv_channels", make_conv_channels, true },
    { "conv_half", make_conv_half, true },
    { "conv_weights", make_conv_weights, true },
    { "conv_heavy", make_conv_heavy, true },
    { "update", make_update, false },
    { "long_sums", make_long_sums, false },
    { "one_row", make_one_row, true },
    { "turned", make_turned, true },
    { "edges", make_edges, true },
};
const int graph_case_count = sizeof graph_cases / sizeof *graph_cases;

/* ---- targets -------------------------------------------------------------------------------- */

/* A kind of CPU with so many cores, and caches of its own. */
static struct target cores(const char *kind, int units, size_t first, size_t second)
{
    struct device_figures f;
    if (!figures_kind(kind, &f)) {
        fprintf(stderr, "no kind %s\n", kind);
        exit(2);
    }
    f.units = units;
    f.l1_bytes = first;
    f.l2_bytes = second;
    return target_of(&f);
}

/* 32 registers of 16 floats; 2 cores. */
static struct target avx512(void)
{
    return cores("avx512", 2, 48 << 10, 2 << 20);
}

/* 16 registers of 8: 16 lanes take two of them. */
static struct target avx2(void)
{
    return cores("avx2", 2, 32 << 10, 512 << 10);
}

/* 32 registers of 4, of which 16 lanes take four; a second cache that is small. */
static struct target neon(void)
{
    return cores("neon", 2, 64 << 10, 256 << 10);
}

/* As the first, but for its cores. */
static struct target cores64(void)
{
    return cores("avx512", 64, 48 << 10, 2 << 20);
}

static struct target items(int units, int group_items, int accumulators)
{
    struct target t = cores("nvidia", units, 64 << 10, 64 << 10);
    t.item.group_items = group_items;
    t.item.accumulators = accumulators;
    t.item.teams_per_unit = 16;
    return t;
}

static struct target gpu_small(void)
{
    return items(2, 32, 8);
}

static struct target gpu_large(void)
{
    return items(64, 256, 16);
}

const struct target_case target_cases[] = {
    { "avx512", avx512, true },       { "avx2", avx2, true },
    { "neon", neon, true },           { "gpu_small", gpu_small, true },
    { "gpu_large", gpu_large, true }, { "cores64", cores64, false },
};
const int target_case_count = sizeof target_cases / sizeof *target_cases;

struct target target_named(const char *name)
{
    for (int i = 0; i < target_case_count; i++)
        if (strcmp(target_cases[i].name, name) == 0)
            return target_cases[i].make();
    fprintf(stderr, "no target %s\n", name);
    exit(2);
}

/* ---- compiling ------------------------------------------------------------------------------ */

void compile_case(const struct graph_case *g, const struct target *t, struct kernel_plan *out)
{
    struct build b;
    build_begin(&b);
    g->make(&b);
    const struct program p = build_program(&b);
    *out = (struct kernel_plan){ 0 };
    const tarn_status status = compile_program(&p, t, out);
    build_end(&b);
    if (status == TARN_OK)
        return;
    fprintf(stderr, "%s: %s\n", g->name, error_text());
    exit(2);
}

static void add_launch(const struct planned_kernel *k, int group_size, struct text *out)
{
    static const char *const kinds[] = { "skip",   "arena",  "kept",   "at",     "input", "owned",
                                         "output", "shared", "number", "serial", "key",   "rank" };
    text_add(out, "/* %s: %d groups of %d; ", k->name, k->groups, group_size);
    for (int i = 0; i < k->param_count; i++)
        text_add(out, "%s%s %u", i > 0 ? ", " : "", kinds[k->params[i].kind],
                 (unsigned)k->params[i].slot);
    for (int i = 0; i < k->offset_count; i++)
        text_add(out, "%s %zu", i > 0 ? "," : "; at bytes", k->offsets[i]);
    text_add(out, " */\n");
}

/* What follows the functions of kernels/math.cl and routines.cl, which kernels that call them begin with. */
static const char *own_text(const char *source)
{
    const char *own = source != NULL ? strstr(source, "#ifndef TARN_nest_") : NULL;
    if (own == NULL && source != NULL)
        own = strstr(source, "__kernel");
    return own != NULL ? own : "";
}

char *plan_text(const struct kernel_plan *plan)
{
    struct text out = { 0 };
    for (int i = 0; i < plan->kernel_count; i++)
        add_launch(&plan->kernels[i], plan->group_size, &out);
    text_add(&out, "/* arena: %zu bytes */\n", plan->arena_bytes);
    for (int i = 0; i < plan->kernel_count; i++)
        text_add(&out, "/* %s */\n%s\n", plan->kernels[i].about,
                 own_text(plan->kernels[i].source.data));
    if (out.failed) {
        fprintf(stderr, "out of host memory\n");
        exit(2);
    }
    return out.data;
}
