/* SPDX-License-Identifier: Apache-2.0 */
/* Where samples lie is a question of cost where lanes would idle, and of the rule elsewhere (compile_place_samples()). */
#include <criterion/criterion.h>
#include <string.h>

#include "cases.h"
#include "error.h"
#include "tensor/spread_label.h"

/* A convolution of images and, where `trained`, the gradient of its weight. */
static void make_images(struct build *b, int32_t samples, int32_t side, bool trained)
{
    const int32_t channels = 32;
    const uint32_t x = build_samples(b, TARN_SHAPE(samples, channels, side, side));
    const uint32_t w = build_owned(b, TARN_SHAPE(channels, channels, 3, 3));
    const uint32_t y = build_conv(b, x, w, 1);
    build_output(b, build_map(b, &op_relu, y));
    if (!trained)
        return;
    union op_arg arg = { 0 };
    arg.conv = b->nodes[y].arg.conv;
    const uint32_t in[2] = { x, y };
    build_assign(b, w,
                 build_node(b, &op_conv2d_weight, TARN_SHAPE(channels, channels, 3, 3), TARN_F32,
                            &arg, in, 2));
}

/* Gradients are of rows that are shorter than a register, which the rule has in blocks whatever there are of them. */
static int32_t side_of(bool trained)
{
    return trained ? 14 : 16;
}

/* Three layers of 1,024 features: weights are most of what is read. */
static void make_layers(struct build *b, int32_t samples)
{
    uint32_t x = build_samples(b, TARN_SHAPE(samples, 1024));
    for (int i = 0; i < 3; i++) {
        const uint32_t w = build_owned(b, TARN_SHAPE(1024, 1024));
        x = build_map(b, &op_relu, build_matmul(b, x, w, false, true));
    }
    build_output(b, x);
}

/* Of the program of the builder, which ends. */
static enum samples_place place_of(struct build *b)
{
    enum samples_place place;
    const struct program p = build_program(b);
    cr_assert_eq(compile_place_samples(&p, &place), TARN_OK, "%s", error_text());
    build_end(b);
    return place;
}

/* Virtual shards divide the samples, 0: there are none. */
static void divide(struct build *b, int32_t samples, int shards)
{
    b->partition.shards = shards;
    for (uint32_t i = 1; i < b->count && shards > 0; i++)
        if (b->nodes[i].shape.dim[0] == samples)
            b->nodes[i].spread = SPREAD_SAMPLES;
}

static enum samples_place place_of_images(int32_t samples, int32_t side, bool trained, int shards)
{
    struct build b;
    build_begin(&b);
    make_images(&b, samples, side, trained);
    divide(&b, samples, shards);
    return place_of(&b);
}

static enum samples_place place_of_convolution(int32_t samples, bool trained, int shards)
{
    return place_of_images(samples, side_of(trained), trained, shards);
}

static enum samples_place place_of_layers(int32_t samples)
{
    struct build b;
    build_begin(&b);
    make_layers(&b, samples);
    return place_of(&b);
}

Test(place, idle_lanes_cost)
{
    cr_expect_eq(place_of_convolution(4, false, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_images(9, 32, false, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_convolution(1, false, 0), SAMPLES_BY_RULE, "a single sample");
    cr_expect_eq(place_of_convolution(16, false, 0), SAMPLES_BY_RULE, "no lane idles");
    cr_expect_eq(place_of_convolution(76, false, 0), SAMPLES_BY_RULE, "few lanes idle");
}

Test(place, gradients_leave_blocks_for_much)
{
    cr_expect_eq(place_of_images(2, 14, true, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_images(8, 28, true, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_images(10, 16, true, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_images(14, 14, true, 0), SAMPLES_BY_RULE, "so few tiles are direct sums");
}

/* Full blocks are left, too, where a sample's images stay in a cache that those of 16 samples would overflow. */
Test(place, large_images_leave_full_blocks)
{
    cr_expect_eq(place_of_images(16, 64, true, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_images(48, 64, true, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_images(16, 16, true, 0), SAMPLES_BY_RULE, "a block stays, too");
    cr_expect_eq(place_of_images(80, 32, true, 0), SAMPLES_BY_RULE, "little is gained");
    cr_expect_eq(place_of_images(16, 64, false, 0), SAMPLES_BY_RULE, "no gradients");
    cr_expect_eq(place_of_images(16, 64, true, 2), SAMPLES_BY_RULE, "virtual shards");
}

/* Each channel by itself, with a stride: without blocks gradients of rows shorter than a register are put together from single
 * elements, those of longer ones read a copy with zeros between columns. */
static enum samples_place place_of_channels(int32_t samples, int32_t side)
{
    struct build b;
    build_begin(&b);
    const int32_t channels = 32;
    const tarn_shape image = TARN_SHAPE(samples, channels, side, side),
                     small = TARN_SHAPE(samples, channels, side / 2, side / 2);
    const uint32_t x = build_samples(&b, image), w = build_owned(&b, TARN_SHAPE(channels, 1, 3, 3));
    union op_arg arg = { 0 };
    arg.conv.groups = channels;
    for (int d = CONV_ROWS; d < CONV_DIRECTIONS; d++) {
        arg.conv.stride[d] = 2;
        arg.conv.padding[d] = arg.conv.dilation[d] = 1;
    }
    const uint32_t y = build_node(&b, &op_conv2d, small, TARN_F32, &arg, (uint32_t[]){ x, w }, 2);
    build_output(&b,
                 build_node(&b, &op_conv2d_input, image, TARN_F32, &arg, (uint32_t[]){ y, w }, 2));
    build_assign(&b, w,
                 build_node(&b, &op_conv2d_weight, TARN_SHAPE(channels, 1, 3, 3), TARN_F32, &arg,
                            (uint32_t[]){ x, y }, 2));
    return place_of(&b);
}

Test(place, elements_one_by_one_cost)
{
    cr_expect_eq(place_of_channels(12, 14), SAMPLES_BY_RULE);
    cr_expect_eq(place_of_channels(12, 64), SAMPLES_ALONE);
}

/* A convolution of so many images of each sample; or, where the forward pass was another program's, the gradient of its
 * weight alone. */
static void make_frames(struct build *b, int32_t samples, int32_t frames, int32_t side,
                        bool forward)
{
    build_begin(b);
    const uint32_t x = build_samples(b, TARN_SHAPE(samples, frames * 16, side, side));
    const uint32_t images = build_reshape(b, x, TARN_SHAPE(samples * frames, 16, side, side));
    if (forward) {
        const uint32_t w = build_owned(b, TARN_SHAPE(16, 16, 3, 3));
        build_output(b, build_conv(b, images, w, 1));
    } else {
        build_output(b, build_conv_weight(b, images, images, 1));
    }
}

static enum samples_place place_of_frames(int32_t samples, int32_t frames, int32_t side,
                                          bool forward, int shards)
{
    struct build b;
    make_frames(&b, samples, frames, side, forward);
    divide(&b, samples, shards);
    return place_of(&b);
}

/* Blocks of samples would have frames apart; blocks of frames have rows shorter than a register, and are too much for caches
 * where images are large. */
Test(place, frames_are_lanes_where_images_are_small)
{
    cr_expect_eq(place_of_frames(16, 8, 14, true, 0), SAMPLES_FRAMES);
    cr_expect_eq(place_of_frames(64, 2, 14, true, 0), SAMPLES_FRAMES);
    cr_expect_eq(place_of_frames(2, 64, 14, true, 0), SAMPLES_FRAMES, "few samples");
    cr_expect_eq(place_of_frames(16, 8, 56, true, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_frames(3, 4, 56, true, 0), SAMPLES_ALONE);
    cr_expect_neq(place_of_frames(16, 12, 56, false, 0), SAMPLES_BY_RULE, "gradients alone");
    cr_expect_eq(place_of_frames(16, 1, 14, true, 0), SAMPLES_BY_RULE, "an image for each sample");
    cr_expect_eq(place_of_frames(16, 8, 14, true, 2), SAMPLES_BY_RULE, "virtual shards");
}

/* In blocks of frames the reshape of samples to frames is where these begin; in rows a chain goes through a frame at a
 * time, whatever samples there are. */
Test(place, frames_are_what_a_chain_goes_through)
{
    for (int blocks = 0; blocks < 2; blocks++) {
        struct build b;
        struct kernel_plan plan = { 0 };
        make_frames(&b, 3, 8, 14, true);
        const struct program p = build_program(&b);
        struct target t = target_named("avx512");
        t.samples = blocks ? SAMPLES_FRAMES : SAMPLES_ALONE;
        cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
        const struct module *m = plan.ir->module;
        cr_expect_eq(m->samples, 24);
        cr_expect_eq(m->batch, blocks ? 24 : 0);
        uint32_t begun = 0;
        for (uint32_t i = 0; i < m->count; i++)
            begun += m->nodes[i].op == &op_reshape && m->nodes[i].shape.rank == 4 &&
                     m->batched[i] && m->stored[i];
        cr_expect_eq(begun, blocks ? 1 : 0);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}

/* Images, and the mean of each of their channels, or else their product with a matrix, too. */
static enum samples_place place_of_means(int32_t samples, bool multiplied, int shards)
{
    struct build b;
    build_begin(&b);
    union op_arg arg = { 0 };
    arg.reduce.axes = 1u << 2 | 1u << 3;
    const uint32_t x = build_samples(&b, TARN_SHAPE(samples, 32, 28, 28));
    const uint32_t means =
        build_node(&b, &op_sum, TARN_SHAPE(samples, 32, 1, 1), TARN_F32, &arg, &x, 1);
    build_output(&b, means);
    build_output(&b, build_map(&b, &op_relu, x));
    if (multiplied)
        build_output(&b, build_matmul(&b, build_reshape(&b, means, TARN_SHAPE(samples, 32)),
                                      build_owned(&b, TARN_SHAPE(32, 32)), false, false));
    divide(&b, samples, shards);
    return place_of(&b);
}

/* What is read lies in rows, and so does what is written: blocks would be turned over twice. */
Test(place, what_multiplies_nothing_stays_in_rows)
{
    cr_expect_eq(place_of_means(32, false, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_means(32, true, 0), SAMPLES_BY_RULE, "a product");
    cr_expect_eq(place_of_means(32, false, 2), SAMPLES_BY_RULE, "virtual shards");
}

Test(place, shards_keep_the_rule)
{
    cr_expect_eq(place_of_convolution(4, false, 2), SAMPLES_BY_RULE);
    cr_expect_eq(place_of_convolution(2, true, 2), SAMPLES_BY_RULE);
}

/* Whether convolutions become Winograd's, which transforms each window for its tiles. */
static bool transforms(int32_t samples)
{
    struct build b;
    struct kernel_plan plan = { 0 };
    struct target t = target_named("avx512");
    bool found = false;
    build_begin(&b);
    make_images(&b, samples, side_of(true), true);
    const struct program p = build_program(&b);
    cr_assert_eq(compile_place_samples(&p, &t.samples), TARN_OK, "%s", error_text());
    cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
    for (int i = 0; i < plan.ir->nest_count; i++)
        found |= strstr(plan.ir->nests[i].name, "winograd") != NULL;
    kernel_plan_free(&plan);
    build_end(&b);
    return found;
}

Test(place, few_tiles_are_convolved_directly)
{
    cr_expect(!transforms(1));
    cr_expect(transforms(4));
    cr_expect(transforms(16));
}

/* By the rule 12 are a batch and 6 are none: both read a large weight once, and 12 in tiles of rows took 1.5 times as long. */
Test(place, layers_keep_the_rule)
{
    cr_expect_eq(place_of_layers(12), SAMPLES_BY_RULE);
    cr_expect_eq(place_of_layers(6), SAMPLES_BY_RULE);
}

/* What is decided is what the compiler does, and without it the rule. */
Test(place, is_obeyed)
{
    static const enum samples_place places[] = { SAMPLES_BY_RULE, SAMPLES_BLOCKS, SAMPLES_ALONE };
    static const int32_t batches[] = { 20, 20, 0 };
    for (int i = 0; i < 3; i++) {
        struct target t = target_named("avx512");
        struct kernel_plan plan = { 0 };
        struct build b;
        build_begin(&b);
        make_layers(&b, 20);
        const struct program p = build_program(&b);
        t.samples = places[i];
        cr_assert_eq(compile_program(&p, &t, &plan), TARN_OK, "%s", error_text());
        cr_expect_eq(plan.ir->module->batch, batches[i]);
        kernel_plan_free(&plan);
        build_end(&b);
    }
}

/* Products of samples' rows, with norms of each row between them: most of the time is in products, which no block makes
 * faster. */
static void make_rows(struct build *b, int32_t samples)
{
    const int32_t rows = 64, features = 128;
    const tarn_shape two = TARN_SHAPE(samples * rows, features),
                     three = TARN_SHAPE(samples, rows, features);
    uint32_t x = build_samples(b, three);
    for (int i = 0; i < 2; i++) {
        const uint32_t w = build_owned(b, TARN_SHAPE(features, features));
        x = build_map(b, &op_relu, build_matmul(b, build_reshape(b, x, two), w, false, true));
        x = build_reshape(b, x, three);
        x = build_map2(b, &op_sub, x, build_expand(b, build_reduce(b, &op_sum, x, 1u << 2), three));
    }
    build_output(b, x);
}

static enum samples_place place_of_rows(int32_t samples, int shards)
{
    struct build b;
    build_begin(&b);
    make_rows(&b, samples);
    divide(&b, samples, shards);
    return place_of(&b);
}

Test(place, rows_keep_their_layout)
{
    cr_expect_eq(place_of_rows(32, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_rows(48, 0), SAMPLES_ALONE);
    cr_expect_eq(place_of_rows(32, 2), SAMPLES_BY_RULE, "shards divide samples");
}
