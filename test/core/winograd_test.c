/* SPDX-License-Identifier: Apache-2.0 */
/* Winograd's convolution and its gradients against loops in double. The operands are -1, 0 and 1,
 * so the true results are whole; each element's bound is the algorithm itself with all signs
 * positive, times gamma of the longest chain of roundings. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/1_graph/winograd_table.h"
#include "op_check.h"
#include "rounding.h"
#include "tensor/replica.h"
#include "tensor/sum_order.h"

enum { KINDS = 3, STEP = 4, MOST = 1 << 16 };

struct shape_case {
    int n, c, o, h, w, window[2], padding[2];
};
static const struct shape_case cases[] = {
    { 16, 10, 4, 12, 12, { 5, 5 }, { 0, 0 } }, { 5, 3, 4, 9, 11, { 3, 3 }, { 0, 0 } },
    { 37, 3, 2, 6, 7, { 3, 3 }, { 1, 1 } },    { 16, 2, 3, 7, 8, { 5, 5 }, { 2, 2 } },
    { 37, 1, 5, 13, 10, { 5, 5 }, { 0, 1 } },  { 9, 2, 3, 7, 9, { 3, 5 }, { 1, 2 } },
    { 16, 17, 2, 5, 5, { 5, 3 }, { 2, 0 } },   { 16, 2, 1, 3, 3, { 3, 3 }, { 0, 2 } },
    { 3, 1, 2, 80, 6, { 3, 3 }, { 2, 1 } }
};
/* Few samples, of channels that fill registers. */
static const struct shape_case few_cases[] = { { 2, 32, 48, 12, 20, { 3, 3 }, { 1, 1 } },
                                               { 1, 32, 32, 25, 30, { 3, 3 }, { 0, 2 } },
                                               { 3, 16, 16, 18, 19, { 5, 5 }, { 2, 1 } },
                                               { 4, 16, 48, 14, 14, { 3, 5 }, { 1, 0 } } };

/* ---- the three ops, in double --------------------------------------------------------------- */

/* Of a volume the planes under each place of a window along depth are the channels of one image, as many as a sample has
 * places, and what is computed of it is a sum over that many for the gradient of the input. */
struct data {
    struct shape_case s;
    int oh, ow, planes, deep;
    int summed; /* planes that a convolution sums over beside its channels */
    struct ref x, w, g;
};

/* -1, 0 or 1; `empty` is the part of zeros. */
static struct ref draw(int rank, const int *dim, double empty, unsigned long long *state)
{
    struct ref t = ref_new(rank, dim);
    for (size_t i = 0; i < ref_count(&t); i++) {
        const double u = check_random(state);
        t.v[i] = u < empty ? 0 : u < (1 + empty) / 2 ? -1 : 1;
    }
    return t;
}

static struct data make(const struct shape_case *s)
{
    struct data d = { .s = *s, .planes = 1, .deep = 1, .summed = 1 };
    unsigned long long state = 7;
    d.oh = s->h + 2 * s->padding[0] - s->window[0] + 1;
    d.ow = s->w + 2 * s->padding[1] - s->window[1] + 1;
    d.x = draw(4, (int[]){ s->n, s->c, s->h, s->w }, 0.2, &state);
    d.w = draw(4, (int[]){ s->o, s->c, s->window[0], s->window[1] }, 0.2, &state);
    d.g = draw(4, (int[]){ s->n, s->o, d.oh, d.ow }, 0.92, &state);
    return d;
}

static void data_free(struct data *d)
{
    ref_free(&d->x);
    ref_free(&d->w);
    ref_free(&d->g);
}

static struct ref plain(const struct ref *x, const struct ref *w, int ph, int pw)
{
    const struct ref_conv o = { { 1, 1 }, { ph, pw }, { 1, 1 }, 1 };
    return ref_conv2d(x, w, NULL, &o);
}

/* The weight with its channels exchanged and its window turned round. */
static struct ref turned(const struct data *d)
{
    const int area = d->s.window[0] * d->s.window[1], order[4] = { 1, 0, 2, 3 };
    struct ref w = ref_permute(&d->w, order);
    for (int i = 0; i < d->s.c * d->s.o; i++)
        for (int a = 0; a < area / 2; a++) {
            double *v = w.v + i * area;
            const double keep = v[a];
            v[a] = v[area - 1 - a];
            v[area - 1 - a] = keep;
        }
    return w;
}

/* The convolution of which the gradient of the input is the result; its operands are the caller's to free. */
static struct data backwards(const struct data *d)
{
    const int *p = d->s.padding, *k = d->s.window;
    const struct shape_case s = {
        d->s.n, d->s.o, d->s.c, d->oh, d->ow, { k[0], k[1] }, { k[0] - 1 - p[0], k[1] - 1 - p[1] }
    };
    return (struct data){ .s = s,
                          .oh = d->s.h,
                          .ow = d->s.w,
                          .planes = d->planes,
                          .deep = d->deep,
                          .summed = d->deep,
                          .x = d->g,
                          .w = turned(d) };
}

/* The gradient of the weight is a convolution with samples for channels. */
static struct ref expected(const struct data *d, int kind)
{
    const int *p = d->s.padding, order[4] = { 1, 0, 2, 3 };
    if (kind == 0)
        return plain(&d->x, &d->w, p[0], p[1]);
    if (kind == 1) {
        struct data back = backwards(d);
        struct ref out = plain(&back.x, &back.w, back.s.padding[0], back.s.padding[1]);
        ref_free(&back.w);
        return out;
    }
    struct ref x = ref_permute(&d->x, order), g = ref_permute(&d->g, order);
    struct ref y = plain(&x, &g, p[0], p[1]), out = ref_permute(&y, order);
    ref_free(&x);
    ref_free(&g);
    ref_free(&y);
    return out;
}

/* ---- the bound ------------------------------------------------------------------------------ */

struct tables {
    struct transform_table take, give, weight; /* of absolute values */
};

static struct transform_table absolute(enum transform_role role, int window)
{
    struct transform_table t = transform_table_make(transform_table_number(role, window));
    for (int i = 0; i < TRANSFORM_LONGEST; i++)
        for (int k = 0; k < TRANSFORM_LONGEST; k++)
            t.entry[i][k] = fabs(t.entry[i][k]);
    return t;
}

static double at(const struct ref *t, int a, int b, int y, int x)
{
    if (y < 0 || x < 0 || y >= t->dim[2] || x >= t->dim[3])
        return 0;
    return fabs(
        t->v[((size_t)(a * t->dim[1] + b) * (size_t)t->dim[2] + (size_t)y) * (size_t)t->dim[3] +
             (size_t)x]);
}

/* A tile of t at (y, x) in the transform's domain, at point (i, j). */
static double in_domain(const struct transform_table *rows, const struct transform_table *columns,
                        int i, int j, const struct ref *t, int a, int b, int y, int x)
{
    double sum = 0;
    for (int k = 0; k < rows->columns; k++)
        for (int l = 0; l < columns->columns; l++)
            sum += rows->entry[i][k] * columns->entry[j][l] * at(t, a, b, y + k, x + l);
    return sum;
}

static void spread(const struct transform_table *rows, const struct transform_table *columns, int i,
                   int j, double value, struct ref *t, int a, int b, int y, int x)
{
    for (int k = 0; k < rows->columns; k++)
        for (int l = 0; l < columns->columns; l++)
            if (y + k >= 0 && x + l >= 0 && y + k < t->dim[2] && x + l < t->dim[3])
                t->v[((a * t->dim[1] + b) * t->dim[2] + y + k) * t->dim[3] + x + l] +=
                    rows->entry[i][k] * columns->entry[j][l] * value;
}

static void bound_of_tile(const struct data *d, int kind, const struct tables t[2], int n, int y,
                          int x, struct ref *out)
{
    const int *p = d->s.padding;
    for (int o = 0; o < d->s.o; o++)
        for (int c = 0; c < d->s.c; c++)
            for (int i = 0; i < t[0].take.rows; i++)
                for (int j = 0; j < t[1].take.rows; j++) {
                    const double u =
                        kind == 2 ? 0
                                  : in_domain(&t[0].weight, &t[1].weight, i, j, &d->w, o, c, 0, 0);
                    const double v = kind == 1 ? 0
                                               : in_domain(&t[0].take, &t[1].take, i, j, &d->x, n,
                                                           c, y - p[0], x - p[1]);
                    const double g =
                        kind == 0 ? 0 : in_domain(&t[0].give, &t[1].give, i, j, &d->g, n, o, y, x);
                    if (kind == 0)
                        spread(&t[0].give, &t[1].give, i, j, u * v, out, n, o, y, x);
                    else if (kind == 1)
                        spread(&t[0].take, &t[1].take, i, j, u * g, out, n, c, y - p[0], x - p[1]);
                    else
                        spread(&t[0].weight, &t[1].weight, i, j, v * g, out, o, c, 0, 0);
                }
}

/* Each of four transforms rounds at most 9 times for a direction, or rounds 7 terms of the weight's
 * factors too; the product sums over channels, or over tiles and samples, in lanes and groups. Of few samples the
 * gradient of the input is computed as the convolution that it is. */
static struct ref bounds(const struct data *d, int kind, const struct ref *like, bool few)
{
    if (few && kind == 1) {
        struct data back = backwards(d);
        struct ref out = bounds(&back, 0, like, few);
        ref_free(&back.w);
        return out;
    }
    struct ref out = ref_new(4, like->dim);
    struct tables t[2];
    for (int i = 0; i < 2; i++) {
        t[i].take = absolute(TRANSFORM_INPUT, d->s.window[i]);
        t[i].give = absolute(TRANSFORM_OUTPUT_GRAD, d->s.window[i]);
        t[i].weight = absolute(TRANSFORM_WEIGHT, d->s.window[i]);
    }
    int tiles = 0;
    for (int y = 0; y < d->oh; y += STEP)
        for (int x = 0; x < d->ow; x += STEP, ++tiles)
            for (int n = 0; n < d->s.n; n++)
                bound_of_tile(d, kind, t, n, y, x, &out);
    const int samples = few ? d->s.n : (d->s.n / d->planes + LANES - 1) / LANES * d->planes;
    const int chain = kind == 0   ? d->s.c * d->summed
                      : kind == 1 ? d->s.o * d->deep
                                  : tiles * samples + 8;
    const double terms = 6 * 9 + sum_roundings(chain), unit = 1.0 / (1 << 24);
    for (size_t i = 0; i < ref_count(&out); i++)
        out.v[i] *= terms * unit / (1 - terms * unit);
    return out;
}

/* ---- the device ----------------------------------------------------------------------------- */

/* The schedule for CPUs: that for GPUs sums directly, whatever is wanted. */
static tarn_replica *open_with(const char *winograd, const char *fuse)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", "cpu", 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", winograd, 1), 0);
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static tarn_tensor upload(tarn_replica *r, const struct ref *t)
{
    static float values[MOST];
    cr_assert_leq(ref_count(t), (size_t)MOST);
    for (size_t i = 0; i < ref_count(t); i++)
        values[i] = (float)t->v[i];
    return tarn_from(r, tarn_shape_of(t->rank, t->dim), TARN_F32, values);
}

/* Three results of one step, of operands that lie as the device wants them; `few` of samples that are known to be a
 * batch. */
static void compute_by(tarn_replica *r, const struct ref *xs, const struct ref *ws,
                       const struct ref *gs, const int padding[CONV_DIRECTIONS], bool few,
                       float *out[KINDS])
{
    static const struct op *const ops[KINDS] = { &op_conv2d, &op_conv2d_input, &op_conv2d_weight };
    const tarn_tensor x = upload(r, xs), w = upload(r, ws), g = upload(r, gs);
    if (few)
        (void)tarn_batch_axis(x, 0);
    const tarn_tensor in[KINDS][2] = { { x, w }, { g, w }, { x, g } };
    const struct ref *shape[KINDS] = { gs, xs, ws };
    tarn_tensor y[KINDS];
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.conv.groups = 1;
    for (int i = 0; i < CONV_DIRECTIONS; i++) {
        arg.conv.stride[i] = arg.conv.dilation[i] = 1;
        arg.conv.padding[i] = padding[i];
    }
    for (int k = 0; k < KINDS; k++)
        y[k] = graph_record(r, ops[k], in[k], 2, tarn_shape_of(shape[k]->rank, shape[k]->dim),
                            TARN_F32, &arg);
    cr_assert_eq(tarn_eval(y, KINDS), TARN_OK, "%s", tarn_error(r));
    for (int k = 0; k < KINDS; k++) {
        const size_t bytes = ref_count(shape[k]) * sizeof(float);
        out[k] = malloc(bytes);
        cr_assert_not_null(out[k]);
        cr_assert_eq(tarn_read(y[k], out[k], bytes), TARN_OK, "%s", tarn_error(r));
    }
}

static void compute(tarn_replica *r, const struct data *d, bool few, float *out[KINDS])
{
    const int padding[CONV_DIRECTIONS] = { 0, d->s.padding[0], d->s.padding[1] };
    compute_by(r, &d->x, &d->w, &d->g, padding, few, out);
}

static void check_within(const struct data *d, int kind, const struct ref *want,
                         const struct ref *bound, const float *got)
{
    static const char *const names[KINDS] = { "forward", "input gradient", "weight gradient" };
    double worst = 0, largest = 0, weakest = 0;
    for (size_t i = 0; i < ref_count(want); i++) {
        const double error = fabs(got[i] - want->v[i]);
        cr_assert(error <= bound->v[i], "%s %dx%d, n %d: element %zu is %.9g, not %.9g within %.3g",
                  names[kind], d->s.window[0], d->s.window[1], d->s.n, i, (double)got[i],
                  want->v[i], bound->v[i]);
        worst = fmax(worst, error);
        largest = fmax(largest, fabs(want->v[i]));
        weakest = fmax(weakest, bound->v[i]);
    }
    /* Measured, as an alarm: at points that are whole numbers some of these errors are 3e-6. */
    cr_expect(d->s.window[0] > 3 || d->s.window[1] > 3 || worst < 2e-6 * largest,
              "%s: an error of %.3g of the largest", names[kind], worst / largest);
    cr_expect(weakest < 0.5, "%s: a bound of %.3g lets a wrong term pass", names[kind], weakest);
    printf("%-15s %dx%d padding %d %d, %2d x %2d -> %2d channels, %2dx%2d: error %.2e of the "
           "largest, bound %.2e\n",
           names[kind], d->s.window[0], d->s.window[1], d->s.padding[0], d->s.padding[1], d->s.n,
           d->s.c, d->s.o, d->s.h, d->s.w, worst / largest, weakest / largest);
}

static void check_values(const struct data *d, int kind, bool few, const float *got)
{
    struct ref want = expected(d, kind), bound = bounds(d, kind, &want, few);
    check_within(d, kind, &want, &bound, got);
    ref_free(&want);
    ref_free(&bound);
}

static void check_reference(const char *winograd, const struct shape_case *of, size_t count,
                            bool few)
{
    for (size_t i = 0; i < count; i++) {
        struct data d = make(&of[i]);
        float *got[KINDS];
        tarn_replica *r = open_with(winograd, "1");
        compute(r, &d, few, got);
        tarn_close(r);
        for (int k = 0; k < KINDS; k++) {
            check_values(&d, k, few, got[k]);
            free(got[k]);
        }
        data_free(&d);
    }
}

Test(winograd, against_reference, .timeout = 600)
{
    check_reference("1", cases, sizeof cases / sizeof *cases, false);
}

Test(winograd, few_against_reference, .timeout = 600)
{
    check_reference("auto", few_cases, sizeof few_cases / sizeof *few_cases, true);
}

/* Fusion changes no bit, and the setting does change some: it is heeded. */
static void check_settings(const char *winograd, const struct shape_case *of, bool few)
{
    const char *const settings[3][2] = { { winograd, "1" }, { winograd, "0" }, { "0", "1" } };
    struct data d = make(of);
    const size_t count[KINDS] = { ref_count(&d.g), ref_count(&d.x), ref_count(&d.w) };
    float *got[3][KINDS];
    for (int s = 0; s < 3; s++) {
        tarn_replica *r = open_with(settings[s][0], settings[s][1]);
        compute(r, &d, few, got[s]);
        tarn_close(r);
    }
    for (int k = 0; k < KINDS; k++) {
        const size_t bytes = count[k] * sizeof(float);
        cr_expect_eq(memcmp(got[0][k], got[1][k], bytes), 0, "%d samples, result %d", of->n, k);
        cr_expect_neq(memcmp(got[0][k], got[2][k], bytes), 0, "%d samples, result %d", of->n, k);
        for (int s = 0; s < 3; s++)
            free(got[s][k]);
    }
    data_free(&d);
}

Test(winograd, fused_and_not, .timeout = 600)
{
    for (size_t i = 1; i < 4; i++)
        check_settings("1", &cases[i], false);
    for (size_t i = 0; i < sizeof few_cases / sizeof *few_cases; i++)
        check_settings("auto", &few_cases[i], true);
}

/* ---- volumes --------------------------------------------------------------------------------- */

struct volume_case {
    struct shape_case image;
    int depth, deep, padding;
};
static const struct volume_case volumes[] = {
    { { 16, 3, 4, 6, 9, { 3, 3 }, { 1, 1 } }, 5, 3, 1 },
    { { 9, 2, 3, 7, 5, { 3, 5 }, { 0, 2 } }, 4, 2, 0 },
    { { 18, 3, 2, 6, 6, { 3, 3 }, { 1, 0 } }, 3, 1, 0 },
    { { 8, 12, 12, 6, 15, { 3, 3 }, { 1, 1 } }, 1, 5, 2 }, /* parts share columns of one plane */
};
static const struct volume_case few_volumes[] = {
    { { 2, 16, 16, 8, 12, { 3, 3 }, { 1, 1 } }, 4, 3, 1 },
    { { 1, 16, 32, 21, 22, { 5, 3 }, { 2, 0 } }, 3, 2, 0 },
};

/* What a device has of a volume, and the same as images. */
struct solid {
    struct data images;
    struct ref x, w, g; /* [N, C, D, H, W], [O, C, K, KH, KW], [N, O, D', H', W'] */
    int depth, padding;
};

/* Where plane k under place p of sample n lies in depth; -1: in no plane. */
static int plane_under(const struct solid *s, int p, int k)
{
    const int at = p + k - s->padding;
    return at < s->depth ? at : -1;
}

/* Copies volumes to images, or adds images up to volumes. */
static void fold_planes(const struct solid *s, struct ref *volume, struct ref *images, bool back)
{
    const struct data *d = &s->images;
    const size_t pixels = (size_t)(images->dim[2] * images->dim[3]);
    const int channels = d->s.c / d->deep;
    for (int n = 0; n < d->s.n / d->planes; n++)
        for (int p = 0; p < d->planes; p++)
            for (int c = 0; c < channels; c++)
                for (int k = 0; k < d->deep; k++) {
                    const int at = plane_under(s, p, k);
                    if (at < 0)
                        continue;
                    double *v = volume->v + (size_t)((n * channels + c) * s->depth + at) * pixels;
                    double *image =
                        images->v +
                        (size_t)((n * d->planes + p) * d->s.c + c * d->deep + k) * pixels;
                    for (size_t i = 0; i < pixels; i++)
                        *(back ? &v[i] : &image[i]) += back ? image[i] : v[i];
                }
}

static struct solid make_volume(const struct volume_case *c)
{
    struct shape_case s = c->image;
    const int planes = c->depth + 2 * c->padding - c->deep + 1, apart[5] = { 0, 2, 1, 3, 4 };
    unsigned long long state = 11;
    s.n *= planes;
    s.c *= c->deep;
    struct solid made = { .images = make(&s), .depth = c->depth, .padding = c->padding };
    struct data *d = &made.images;
    d->planes = planes;
    d->deep = c->deep;
    made.x = draw(5, (int[]){ c->image.n, c->image.c, c->depth, s.h, s.w }, 0.2, &state);
    memset(d->x.v, 0, ref_count(&d->x) * sizeof *d->x.v);
    fold_planes(&made, &made.x, &d->x, false);
    made.w = ref_new(5, (int[]){ s.o, c->image.c, c->deep, s.window[0], s.window[1] });
    memcpy(made.w.v, d->w.v, ref_count(&d->w) * sizeof *d->w.v);
    struct ref g = ref_new(5, (int[]){ c->image.n, planes, s.o, d->oh, d->ow });
    memcpy(g.v, d->g.v, ref_count(&d->g) * sizeof *d->g.v);
    made.g = ref_permute(&g, apart);
    ref_free(&g);
    return made;
}

/* Of images, or the bounds of these, as the volume that the device has. */
static struct ref as_volume(const struct solid *s, int kind, struct ref *images)
{
    const struct ref *like[KINDS] = { &s->g, &s->x, &s->w };
    struct ref out = ref_new(5, like[kind]->dim);
    if (kind == 1) {
        fold_planes(s, &out, images, true);
    } else if (kind == 2) {
        memcpy(out.v, images->v, ref_count(&out) * sizeof *out.v);
    } else {
        const int *dim = s->g.dim, back[5] = { 0, 2, 1, 3, 4 };
        struct ref y = ref_new(5, (int[]){ dim[0], dim[2], dim[1], dim[3], dim[4] });
        memcpy(y.v, images->v, ref_count(&y) * sizeof *y.v);
        ref_free(&out);
        out = ref_permute(&y, back);
        ref_free(&y);
    }
    ref_free(images);
    return out;
}

static void check_volume(const char *winograd, const struct volume_case *of, bool few)
{
    struct solid s = make_volume(of);
    const int padding[] = { s.padding, of->image.padding[0], of->image.padding[1] };
    const size_t count[KINDS] = { ref_count(&s.g), ref_count(&s.x), ref_count(&s.w) };
    const char *const settings[3][2] = { { winograd, "1" }, { winograd, "0" }, { "0", "1" } };
    float *got[3][KINDS];
    for (int i = 0; i < 3; i++) {
        tarn_replica *r = open_with(settings[i][0], settings[i][1]);
        compute_by(r, &s.x, &s.w, &s.g, padding, few, got[i]);
        tarn_close(r);
    }
    for (int k = 0; k < KINDS; k++) {
        struct ref want = expected(&s.images, k), bound = bounds(&s.images, k, &want, few);
        want = as_volume(&s, k, &want);
        bound = as_volume(&s, k, &bound);
        check_within(&s.images, k, &want, &bound, got[0][k]);
        const size_t bytes = count[k] * sizeof(float);
        cr_expect_eq(memcmp(got[0][k], got[1][k], bytes), 0, "not as without fusion: %d", k);
        cr_expect_neq(memcmp(got[0][k], got[2][k], bytes), 0, "as a direct sum: %d", k);
        ref_free(&want);
        ref_free(&bound);
        for (int i = 0; i < 3; i++)
            free(got[i][k]);
    }
    data_free(&s.images);
    ref_free(&s.x);
    ref_free(&s.w);
    ref_free(&s.g);
}

Test(winograd, volumes, .timeout = 600)
{
    for (size_t i = 0; i < sizeof volumes / sizeof *volumes; i++)
        check_volume("1", &volumes[i], false);
    for (size_t i = 0; i < sizeof few_volumes / sizeof *few_volumes; i++)
        check_volume("auto", &few_volumes[i], true);
}

/* ---- parts of a block ------------------------------------------------------------------------ */

enum { CHANNELS = 16, SIDE = 28, WEIGHTS = CHANNELS * CHANNELS * 9 };

/* The gradient of the first of two convolutions around a batch norm, for few samples. */
static void small_batch(const char *fuse, float *gradient)
{
    static float pixels[8 * CHANNELS * SIDE * SIDE];
    cr_assert_eq(setenv("TARN_WINOGRAD", "1", 1), 0);
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    tarn_conv2d a = tarn_conv2d_make(r, "a", CHANNELS, CHANNELS, 3, same),
                b = tarn_conv2d_make(r, "b", CHANNELS, CHANNELS, 3, same);
    tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", CHANNELS);
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
        pixels[i] = (float)(i * 2654435761u % 1000) / 1000;
    tarn_tensor x = tarn_from(r, TARN_SHAPE(8, CHANNELS, SIDE, SIDE), TARN_F32, pixels);
    tarn_batch_axis(x, 0);
    x = tarn_relu(tarn_batch_norm_forward(&norm, tarn_conv2d_forward(&a, x)));
    x = tarn_conv2d_forward(&b, x);
    tarn_backward(tarn_sum(tarn_mul(x, x), TARN_ALL, false));
    const tarn_status s =
        tarn_read(tarn_grad(tarn_find(r, "a.weight")), gradient, WEIGHTS * sizeof *gradient);
    cr_assert_eq(s, TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

/* Units share a block of few samples: each must have all that it reads. */
Test(winograd, parts_of_a_block, .timeout = 600)
{
    static float fused[WEIGHTS], alone[WEIGHTS];
    small_batch("1", fused);
    small_batch("0", alone);
    cr_assert_eq(memcmp(fused, alone, sizeof fused), 0,
                 "the gradient is not that of kernels of single ops");
}
