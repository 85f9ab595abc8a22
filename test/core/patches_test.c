/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions that cut images or volumes into patches, before layers over these, are products of matrices with a row for
 * each patch (1_graph/patches.c): values and gradients are those of the convolution, for each schedule the same bits. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "compile/1_graph/graph_passes.h"
#include "compile/program.h"
#include "figures.h"
#include "recorded.h"
#include "tarn.h"

TestSuite(patches, .timeout = 900);

enum { SAMPLES = 24, CHANNELS = 3, WIDTH = 96 };

/* Of images 16 x 16 in patches of 4 x 4, or of volumes 4 x 8 x 8 in such of 2 x 4 x 2. */
struct cut {
    const char *name;
    int rank; /* of an image or a volume */
    int32_t size[3], window[3];
    bool halves;
};
static const struct cut cuts[] = {
    { "images", 4, { 16, 16 }, { 4, 4 }, false },
    { "volumes", 5, { 4, 8, 8 }, { 2, 4, 2 }, false },
    { "images in bfloat16", 4, { 16, 16 }, { 4, 4 }, true },
};

static int32_t patches_along(const struct cut *c, int d)
{
    return c->size[d] / c->window[d];
}

static int32_t product_of(const int32_t *sizes, int count)
{
    int32_t product = 1;
    for (int i = 0; i < count; i++)
        product *= sizes[i];
    return product;
}

static int32_t patch_count(const struct cut *c)
{
    return product_of(c->size, c->rank - 2) / product_of(c->window, c->rank - 2);
}

static tarn_shape with_sizes(int32_t first, int32_t second, const int32_t *sizes, int count)
{
    tarn_shape s = { .rank = 2 + count, .dim = { first, second } };
    for (int i = 0; i < count; i++)
        s.dim[2 + i] = sizes[i];
    return s;
}

static float *numbers(size_t count, unsigned state)
{
    float *values = malloc(count * sizeof *values);
    cr_assert_not_null(values);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        values[i] = (float)(state >> 8) / (float)(1 << 24) - 0.5f;
    }
    return values;
}

static tarn_tensor random_of(tarn_replica *r, tarn_shape s, unsigned state)
{
    float *values = numbers((size_t)tarn_shape_count(s), state);
    const tarn_tensor t = tarn_from(r, s, TARN_F32, values);
    free(values);
    return t;
}

static tarn_tensor convolved(const struct cut *c, tarn_tensor x, tarn_tensor w)
{
    const int32_t *by = c->window;
    if (c->halves) {
        x = tarn_cast(x, TARN_BF16);
        w = tarn_cast(w, TARN_BF16);
    }
    const tarn_conv2d_options images = { .stride = { by[0], by[1] } };
    const tarn_conv3d_options volumes = { .stride = { by[0], by[1], by[2] } };
    const tarn_tensor y = c->rank == 4 ? tarn_conv2d_op(x, w, TARN_NONE, images)
                                       : tarn_conv3d_op(x, w, TARN_NONE, volumes);
    return tarn_cast(y, TARN_F32);
}

/* Where numbers begin. */
enum { OF_IMAGE = 1, OF_WEIGHT, OF_MIX, OF_SCALE };

struct recorded {
    tarn_tensor patches, made[2]; /* gradients of image and weight */
};

/* Patches, a layer over their channels whose product is large, and the gradients of a weighted sum of what it puts out. */
static struct recorded record(tarn_replica *r, const struct cut *c)
{
    const int directions = c->rank - 2;
    struct recorded of;
    const tarn_tensor image = tarn_batch_axis(
        random_of(r, with_sizes(SAMPLES, CHANNELS, c->size, directions), OF_IMAGE), 0);
    const tarn_tensor weight =
        random_of(r, with_sizes(WIDTH, CHANNELS, c->window, directions), OF_WEIGHT);
    of.patches = convolved(c, image, weight);
    const tarn_tensor rows = tarn_transpose(tarn_flatten(of.patches, 2), 1, 2);
    const tarn_tensor mix = random_of(r, TARN_SHAPE(WIDTH, 2 * WIDTH), OF_MIX);
    const tarn_tensor scale = random_of(r, TARN_SHAPE(SAMPLES, patch_count(c), WIDTH), OF_SCALE);
    const tarn_tensor mixed = tarn_relu(tarn_matmul(rows, mix));
    const tarn_tensor loss =
        tarn_add(tarn_sum(tarn_mul(rows, scale), TARN_ALL, false),
                 tarn_mul(tarn_sum(mixed, TARN_ALL, false), tarn_full(r, TARN_SHAPE(), 0)));
    tarn_gradients(loss, (tarn_tensor[]){ image, weight }, 2, of.made);
    of.made[0] = tarn_keep(of.made[0]);
    of.made[1] = tarn_keep(of.made[1]);
    of.patches = tarn_keep(of.patches);
    return of;
}

/* Otherwise nothing here is about them. */
static void expect_products(const tarn_replica *r, const char *name)
{
    struct kernel_plan plan;
    struct device_figures f;
    int convolutions = 0;
    cr_assert(figures_wanted("avx512:2", &f));
    const struct target target = target_of(&f);
    recorded_compile(r, &target, &plan);
    const struct module *m = plan.ir->module;
    for (uint32_t i = 0; i < m->count; i++)
        convolutions += m->uses[i] > 0 && strncmp(m->nodes[i].op->name, "conv", 4) == 0;
    cr_expect_eq(convolutions, 0, "%s: %d convolutions", name, convolutions);
    kernel_plan_free(&plan);
}

static tarn_replica *opened(const char *schedule, const char *fuse)
{
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static float *read_all(tarn_tensor t)
{
    const size_t bytes = (size_t)tarn_shape_count(tarn_shape_get(t)) * sizeof(float);
    float *values = malloc(bytes);
    cr_assert_not_null(values);
    cr_assert_eq(tarn_read(t, values, bytes), TARN_OK, "%s", tarn_error(t.replica));
    return values;
}

/* ---- against loops in float64 ----------------------------------------------------------------- */

/* One product of the convolution: where its image, weight and result lie. */
struct term {
    int64_t image, weight, result;
};

/* Term `at` of all: n, o, c, then of each direction the patch and the place in the window. */
static struct term term_at(const struct cut *c, int64_t at)
{
    const int directions = c->rank - 2;
    int32_t patch[3], place[3];
    for (int d = directions; d-- > 0; at /= c->window[d], at /= patches_along(c, d)) {
        place[d] = (int32_t)(at % c->window[d]);
        patch[d] = (int32_t)(at / c->window[d] % patches_along(c, d));
    }
    const int64_t channel = at % CHANNELS, out = at / CHANNELS % WIDTH,
                  sample = at / CHANNELS / WIDTH;
    struct term t = { sample * CHANNELS + channel, out * CHANNELS + channel, sample * WIDTH + out };
    for (int d = 0; d < directions; d++) {
        t.image = t.image * c->size[d] + patch[d] * c->window[d] + place[d];
        t.weight = t.weight * c->window[d] + place[d];
        t.result = t.result * patches_along(c, d) + patch[d];
    }
    return t;
}

static int64_t terms_of(const struct cut *c)
{
    return (int64_t)SAMPLES * WIDTH * CHANNELS * product_of(c->size, c->rank - 2);
}

/* The sums, and those of magnitudes: a sum of n products in any order is off by no more than n units of the last digit of
 * what its magnitudes add up to (Higham, Accuracy and Stability, 4.2). */
struct oracle {
    double *sum, *size;
    int64_t count, terms;
};

static struct oracle begun(int64_t count, int64_t terms)
{
    struct oracle o = { calloc((size_t)count, sizeof(double)),
                        calloc((size_t)count, sizeof(double)), count, terms / count };
    cr_assert(o.sum != NULL && o.size != NULL);
    return o;
}

static void add_term(struct oracle *o, int64_t at, float a, float b)
{
    o->sum[at] += (double)a * (double)b;
    o->size[at] += fabs((double)a * (double)b);
}

static void expect_near(struct oracle *o, const float *seen, const char *name, const char *what)
{
    int64_t off = 0;
    for (int64_t i = 0; i < o->count; i++)
        off += !(fabs((double)seen[i] - o->sum[i]) <=
                 (double)(o->terms + 1) * ldexp(1, -24) * o->size[i]);
    cr_expect_eq(off, 0, "%s, %s: %lld of %lld are off", name, what, (long long)off,
                 (long long)o->count);
    free(o->sum);
    free(o->size);
}

/* The gradient of the result, as a patch a row, where the result lies. */
static float *turned(const struct cut *c, const float *rows)
{
    const int32_t count = patch_count(c);
    float *result = malloc((size_t)SAMPLES * WIDTH * (size_t)count * sizeof *result);
    cr_assert_not_null(result);
    for (int32_t n = 0; n < SAMPLES; n++)
        for (int32_t p = 0; p < count; p++)
            for (int32_t o = 0; o < WIDTH; o++)
                result[(n * WIDTH + o) * count + p] = rows[(n * count + p) * WIDTH + o];
    return result;
}

static void check_values(const struct cut *c)
{
    tarn_replica *r = opened("cpu", "1");
    const struct recorded of = record(r, c);
    expect_products(r, c->name);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    float *image_gradient = read_all(of.made[0]), *weight_gradient = read_all(of.made[1]);
    float *result = read_all(of.patches);
    const int64_t terms = terms_of(c), images = tarn_shape_count(tarn_shape_get(of.made[0])),
                  weights = tarn_shape_count(tarn_shape_get(of.made[1])),
                  results = tarn_shape_count(tarn_shape_get(of.patches));
    float *image = numbers((size_t)images, OF_IMAGE), *weight = numbers((size_t)weights, OF_WEIGHT),
          *scale_rows = numbers((size_t)results, OF_SCALE), *scale = turned(c, scale_rows);
    struct oracle y = begun(results, terms), dx = begun(images, terms), dw = begun(weights, terms);
    for (int64_t i = 0; i < terms; i++) {
        const struct term t = term_at(c, i);
        add_term(&y, t.result, image[t.image], weight[t.weight]);
        add_term(&dx, t.image, scale[t.result], weight[t.weight]);
        add_term(&dw, t.weight, scale[t.result], image[t.image]);
    }
    expect_near(&y, result, c->name, "patches");
    expect_near(&dx, image_gradient, c->name, "the image's gradient");
    expect_near(&dw, weight_gradient, c->name, "the weight's gradient");
    float *const all[] = {
        image_gradient, weight_gradient, result, scale_rows, image, weight, scale
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    tarn_close(r);
}

Test(patches, values_and_gradients)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (!cuts[i].halves) /* which round, and are compared by bits below */
            check_values(&cuts[i]);
}

/* ---- for each schedule ------------------------------------------------------------------------- */

static void check_bits(const struct cut *c)
{
    static const struct {
        const char *name, *schedule, *fuse;
    } ways[] = { { "by vectors", "cpu", "1" },
                 { "unfused", "cpu", "0" },
                 { "by work-items", "gpu", "1" } };
    float *wanted[3];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        tarn_replica *r = opened(ways[i].schedule, ways[i].fuse);
        const struct recorded of = record(r, c);
        expect_products(r, c->name);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        const tarn_tensor read[3] = { of.made[0], of.made[1], of.patches };
        for (int k = 0; k < 3; k++) {
            float *seen = read_all(read[k]);
            if (i == 0) {
                wanted[k] = seen;
                continue;
            }
            cr_expect_eq(memcmp(seen, wanted[k],
                                (size_t)tarn_shape_count(tarn_shape_get(read[k])) * sizeof *seen),
                         0, "%s, tensor %d: %s differs from %s", c->name, k, ways[i].name,
                         ways[0].name);
            free(seen);
        }
        tarn_close(r);
    }
    for (int k = 0; k < 3; k++)
        free(wanted[k]);
}

Test(patches, bits)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        check_bits(&cuts[i]);
}

/* ---- others ------------------------------------------------------------------------------------ */

/* Of images of 16 x 16 by windows of so many rows and columns. */
struct windows {
    const char *what;
    int32_t window, stride, padding, dilation, groups;
};

static bool are_patches(const struct windows *w)
{
    struct build b;
    build_begin(&b);
    const uint32_t x = build_samples(&b, TARN_SHAPE(SAMPLES, CHANNELS, 16, 16));
    const uint32_t weight =
        build_owned(&b, TARN_SHAPE(WIDTH, CHANNELS / w->groups, w->window, w->window));
    union op_arg arg = { 0 };
    arg.conv.groups = w->groups;
    for (int d = CONV_ROWS; d < CONV_DIRECTIONS; d++) {
        arg.conv.stride[d] = w->stride;
        arg.conv.padding[d] = w->padding;
        arg.conv.dilation[d] = w->dilation;
    }
    const int32_t side = (16 + 2 * w->padding - w->dilation * (w->window - 1) - 1) / w->stride + 1;
    build_output(&b, build_node(&b, &op_conv2d, TARN_SHAPE(SAMPLES, WIDTH, side, side), TARN_F32,
                                &arg, (uint32_t[]){ x, weight }, 2));
    const struct program p = build_program(&b);
    const bool patches = convolves_patches(&p);
    build_end(&b);
    return patches;
}

Test(patches, windows_that_share_elements_are_none)
{
    static const struct windows others[] = {
        { "zeros around", 4, 4, 2, 1, 1 },
        { "a smaller stride", 4, 2, 0, 1, 1 },
        { "a smaller stride, and as many windows", 8, 5, 0, 1, 1 },
        { "columns that are left", 5, 5, 0, 1, 1 },
        { "zeros within", 2, 2, 0, 2, 1 },
        { "groups", 4, 4, 0, 1, 3 },
        { "single elements", 1, 1, 0, 1, 1 },
    };
    const struct windows patches = { "patches", 4, 4, 0, 1, 1 };
    cr_expect(are_patches(&patches));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect_not(are_patches(&others[i]), "%s", others[i].what);
}
