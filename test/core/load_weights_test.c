/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of any origin: types that are converted, names that are mapped, what is left and told, and
 * that a refused file changes nothing. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/convert.h"
#include "tarn.h"
#include "tarn_dist.h"

TestSuite(load_weights, .timeout = 300);

/* ---- elements ------------------------------------------------------------------------------- */

static bool convert(const char *dtype, uint64_t bits, tarn_dtype to, uint32_t *out, char *why)
{
    struct source s;
    uint8_t from[8];
    *out = 0;
    cr_assert(convert_source(dtype, to, &s), "%s", dtype);
    for (int b = 0; b < 8; b++)
        from[b] = (uint8_t)(bits >> (8 * b));
    return convert_element(s, from, to, out, why);
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct element {
    const char *dtype;
    uint64_t from;
    tarn_dtype to;
    uint32_t want;
    bool fits;
};

static const struct element elements[] = {
    { "F16", 0x0000, TARN_F32, 0, true },
    { "F16", 0x8000, TARN_F32, 0x80000000, true },
    { "F16", 0x3c00, TARN_F32, 0x3f800000, true },
    { "F16", 0xc248, TARN_F32, 0xc0490000, true }, /* -3.140625 */
    { "F16", 0x7bff, TARN_F32, 0x477fe000, true }, /* 65504 */
    { "F16", 0x0400, TARN_F32, 0x38800000, true }, /* 2^-14 */
    { "F16", 0x0001, TARN_F32, 0x33800000, true }, /* 2^-24 */
    { "F16", 0x83ff, TARN_F32, 0xb87fc000, true }, /* -1023 * 2^-24 */
    { "F16", 0xfc00, TARN_F32, 0xff800000, true },
    { "F16", 0x7e01, TARN_F32, 0x7fc02000, true },
    { "BF16", 0x4049, TARN_F32, 0x40490000, true },
    { "BF16", 0x0001, TARN_F32, 0x00010000, true },
    { "BF16", 0xff80, TARN_F32, 0xff800000, true },
    { "F32", 0x7fa00001, TARN_F32, 0x7fa00001, true },
    { "F64", 0x3ff0000000000000, TARN_F32, 0x3f800000, true },
    { "F64", 0x3ff0000010000000, TARN_F32, 0x3f800000, true }, /* 1 + 2^-24: to even */
    { "F64", 0x3ff0000010000001, TARN_F32, 0x3f800001, true },
    { "F64", 0x3ff0000030000000, TARN_F32, 0x3f800002, true }, /* 1 + 3 * 2^-24: to even */
    { "F64", 0x47efffffefffffff, TARN_F32, 0x7f7fffff, true }, /* just below the half */
    { "F64", 0x47effffff0000000, TARN_F32, 0x7f800000, false },
    { "F64", 0xffefffffffffffff, TARN_F32, 0xff800000, false },
    { "F64", 0x7ff0000000000000, TARN_F32, 0x7f800000, true }, /* infinity was meant */
    { "F64", 0x36a0000000000000, TARN_F32, 0x00000001, true }, /* 2^-149 */
    { "I8", 0x80, TARN_F32, 0xc3000000, true },
    { "U8", 0xff, TARN_F32, 0x437f0000, true },
    { "I16", 0xffff, TARN_F32, 0xbf800000, true },
    { "I32", 16777216, TARN_F32, 0x4b800000, true },
    { "I32", 16777217, TARN_F32, 0, false },
    { "I32", 16777218, TARN_F32, 0x4b800001, true },
    { "I64", 0x8000000000000000, TARN_F32, 0xdf000000, true },
    { "U64", 0xffffffffffffffff, TARN_F32, 0, false },
    { "U64", 0xffffff0000000000, TARN_F32, 0x5f7fffff, true },
    { "I64", 0xffffffff80000000, TARN_I32, 0x80000000, true },
    { "I64", 0x80000000, TARN_I32, 0, false },
    { "U32", 0x7fffffff, TARN_I32, 0x7fffffff, true },
    { "I8", 0xff, TARN_I32, 0xffffffff, true },
    { "I16", 255, TARN_U8, 255, true },
    { "I16", 256, TARN_U8, 0, false },
    { "I8", 0xff, TARN_U8, 0, false },
};

Test(load_weights, elements)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const struct element *e = &elements[i];
        uint32_t got;
        char why[CONVERT_WHY] = "";
        const bool fits = convert(e->dtype, e->from, e->to, &got, why);
        cr_expect_eq(fits, e->fits, "%s %#" PRIx64 ": %s", e->dtype, e->from, why);
        cr_expect(!fits || got == e->want, "%s %#" PRIx64 ": %#" PRIx32 ", not %#" PRIx32, e->dtype,
                  e->from, got, e->want);
    }
    struct source s;
    cr_expect(!convert_source("F16", TARN_I32, &s) && !convert_source("BOOL", TARN_F32, &s) &&
              !convert_source("F8_E4M3", TARN_F32, &s));
}

struct wide_element {
    const char *dtype;
    uint64_t from;
    tarn_dtype to;
    uint64_t want;
    bool fits;
};

static const struct wide_element wide_elements[] = {
    { "F64", 0x3fd5555555555555, TARN_F64, 0x3fd5555555555555, true },
    { "F64", 0x7ff4000000000001, TARN_F64, 0x7ff4000000000001, true },
    { "F32", 0x00000001, TARN_F64, 0x36a0000000000000, true }, /* 2^-149 */
    { "F32", 0xff800000, TARN_F64, 0xfff0000000000000, true },
    { "F16", 0x0001, TARN_F64, 0x3e70000000000000, true }, /* 2^-24 */
    { "BF16", 0xc049, TARN_F64, 0xc009200000000000, true },
    { "I64", 0x0020000000000000, TARN_F64, 0x4340000000000000, true }, /* 2^53 */
    { "I64", 0x0020000000000001, TARN_F64, 0, false },
    { "I64", 0x8000000000000000, TARN_F64, 0xc3e0000000000000, true },
    { "I64", 0x8000000000000000, TARN_I64, 0x8000000000000000, true },
    { "I8", 0xff, TARN_I64, 0xffffffffffffffff, true },
    { "U64", 0x7fffffffffffffff, TARN_I64, 0x7fffffffffffffff, true },
    { "U64", 0x8000000000000000, TARN_I64, 0, false },
};

Test(load_weights, elements_of_64_bits)
{
    for (size_t i = 0; i < sizeof wide_elements / sizeof *wide_elements; i++) {
        const struct wide_element *e = &wide_elements[i];
        struct source s;
        uint64_t got = 0;
        uint8_t from[8];
        char why[CONVERT_WHY] = "";
        cr_assert(convert_source(e->dtype, e->to, &s));
        for (int b = 0; b < 8; b++)
            from[b] = (uint8_t)(e->from >> (8 * b));
        const bool fits = convert_element(s, from, e->to, &got, why);
        cr_expect_eq(fits, e->fits, "%s %#" PRIx64 ": %s", e->dtype, e->from, why);
        cr_expect(!fits || got == e->want, "%s %#" PRIx64 ": %#" PRIx64, e->dtype, e->from, got);
    }
    struct source s;
    cr_expect(!convert_source("F64", TARN_I64, &s));
}

/* Every half, bfloat16, and doubles around each float of a walk through all exponents. */
Test(load_weights, all_small_types_and_roundings)
{
    char why[CONVERT_WHY];
    uint32_t got, back;
    for (uint32_t h = 0; h < 65536; h++) {
        float f;
        cr_assert(convert("F16", h, TARN_F32, &got, why));
        memcpy(&f, &got, sizeof f);
        const int e = (int)(h >> 10 & 31);
        const double size = e == 0    ? (h & 1023) * 0x1p-24
                            : e == 31 ? 0
                                      : (1024 + (h & 1023)) * (double)(1 << e) * 0x1p-25;
        if (e < 31)
            cr_assert_eq((double)f, h & 0x8000 ? -size : size, "%#x", h);
        cr_assert(convert("BF16", h, TARN_F32, &got, why) && got == h << 16);
    }
    for (uint32_t bits = 1; bits < 0x7f7fffff; bits += 0x10f2a7) {
        float low, high;
        const uint32_t next = bits + 1;
        memcpy(&low, &bits, sizeof low);
        memcpy(&high, &next, sizeof high);
        const double half = ((double)low + (double)high) / 2;
        cr_assert(convert("F64", double_bits(half), TARN_F32, &back, why));
        cr_assert_eq(back, bits & 1 ? next : bits, "half way above %#x", bits);
        cr_assert(convert("F64", double_bits(half) - 1, TARN_F32, &back, why) && back == bits);
        cr_assert(convert("F64", double_bits(half) + 1, TARN_F32, &back, why) && back == next);
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static char path[64];

/* A file of this header, whose data are bytes of little-endian words. */
static void write_file(const char *header, const void *data, size_t bytes)
{
    snprintf(path, sizeof path, "/tmp/tarn-load-weights-%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    for (int b = 0; b < 8; b++)
        (void)fputc((int)(strlen(header) >> (8 * b) & 255), f);
    cr_assert(fputs(header, f) >= 0 && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0);
}

/* Two layers of a model, with what is to stay of them. */
static tarn_replica *open_model(void)
{
    static const float old[6] = { -1, -2, -3, -4, -5, -6 };
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    (void)tarn_parameter(r, "body.weight", TARN_SHAPE(2, 3), old);
    (void)tarn_parameter(r, "body.bias", TARN_SHAPE(3), old);
    (void)tarn_parameter(r, "head.weight", TARN_SHAPE(3, 2), old);
    (void)tarn_buffer(r, "head.count", TARN_SCALAR, TARN_I32, &(int32_t){ 5 });
    return r;
}

static void expect(tarn_replica *r, const char *name, int count, const float *want)
{
    float got[6];
    cr_assert_eq(tarn_read(tarn_find(r, name), got, (size_t)count * sizeof *got), TARN_OK);
    for (int i = 0; i < count; i++)
        cr_expect_eq(got[i], want[i], "%s[%d] is %g, not %g", name, i, (double)got[i],
                     (double)want[i]);
}

static void expect_old(tarn_replica *r)
{
    static const float old[6] = { -1, -2, -3, -4, -5, -6 };
    int32_t count = 0;
    expect(r, "body.weight", 6, old);
    expect(r, "body.bias", 3, old);
    expect(r, "head.weight", 6, old);
    cr_assert_eq(tarn_read(tarn_find(r, "head.count"), &count, sizeof count), TARN_OK);
    cr_expect_eq(count, 5);
}

static void expect_refused(tarn_replica *r, tarn_load_options options, const char *text)
{
    const tarn_status s = tarn_load_weights(r, path, options);
    cr_expect(s != TARN_OK, "%s: was loaded", text);
    cr_expect_not_null(strstr(tarn_error(r), text), "%s: %s", text, tarn_error(r));
    cr_expect_null(strchr(tarn_error(r), '\n'));
    tarn_error_clear(r);
    expect_old(r);
}

/* As another framework has them: other names, one matrix the other way round, halves. */
static const char gpt[] =
    "{\"net.h.0.w\":{\"dtype\":\"F16\",\"shape\":[3,2],\"data_offsets\":[0,12]},"
    "\"net.h.0.b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[12,18]},"
    "\"net.tail\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[18,22]},"
    "\"other\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[22,24]},"
    "\"optimizer.step\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[24,28]}}";
static const uint16_t halves[14] = { 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, /* 1 ... 6 */
                                     0x3f80, 0x4000, 0x4040 };
static const char *const renames[] = { "h.0.", "", "w", "body.weight", "b", "body.bias", NULL };
/* "b" would be found in "body.weight", too */
static const char *const better[] = { "h.0.w", "weight", "h.0.b", "bias", NULL };

struct told {
    int count[3];
    char text[600];
};

static void tell(void *user, tarn_left left, const char *name, const char *why)
{
    struct told *t = user;
    t->count[left]++;
    const size_t used = strlen(t->text);
    snprintf(t->text + used, sizeof t->text - used, "%s %s\n", name, why);
}

Test(load_weights, names_layouts_and_what_is_left)
{
    tarn_replica *r = open_model();
    write_file(gpt, halves, sizeof halves);
    struct told told = { .text = "" };
    tarn_load_options options = { .from = "net.",
                                  .to = "body.",
                                  .rename = better,
                                  .transposed = "*.weight",
                                  .report = tell,
                                  .user = &told };
    expect_refused(r, options, "nothing was loaded: net.tail is in the file only");
    cr_expect_str_eq(told.text, "net.tail is in the file only\n");
    options.unexpected = true;
    cr_expect_eq(tarn_load_weights(r, path, options), TARN_OK, "%s", tarn_error(r));
    cr_expect(told.count[TARN_LEFT_UNEXPECTED] == 2 && told.count[TARN_LEFT_MISSING] == 0);
    expect(r, "body.weight", 6, (float[]){ 1, 3, 5, 2, 4, 6 });
    expect(r, "body.bias", 3, (float[]){ 1, 2, 3 });
    expect(r, "head.weight", 6, (float[]){ -1, -2, -3, -4, -5, -6 });
    (void)unlink(path);
    tarn_close(r);
}

Test(load_weights, is_strict_and_lists_all)
{
    tarn_replica *r = open_model();
    write_file(gpt, halves, sizeof halves);
    tarn_load_options options = { .from = "net.", .to = "body.", .rename = better };
    expect_refused(
        r, options,
        "body.weight is F16 [3,2] in the file, float32 [2,3] in the model; net.tail is in "
        "the file only");
    options.transposed = "body.*";
    expect_refused(r, options,
                   "body.bias is BF16 [3] in the file to be transposed, float32 [3] in the model");
    expect_refused(
        r, (tarn_load_options){ .from = "nyt." },
        "body.weight is missing; body.bias is missing; head.weight is missing; head.count "
        "is missing");
    expect_refused(r, (tarn_load_options){ .from = "net.", .rename = renames },
                   "tail is in the file only");
    expect_refused(r,
                   (tarn_load_options){ .rename = (const char *[]){ "net.tail", "other", NULL } },
                   "would both be other");
    struct told told = { .text = "" };
    options.transposed = NULL;
    options.to = NULL;
    options.rename = (const char *[]){ "h.0", "body", ".w", ".weight", ".b", ".bias", NULL };
    options.missing = options.unexpected = options.mismatched = true;
    options.report = tell;
    options.user = &told;
    options.skip = "*.bias";
    cr_expect_eq(tarn_load_weights(r, path, options), TARN_OK, "%s", tarn_error(r));
    cr_expect_str_eq(
        told.text,
        "body.weight is F16 [3,2] in the file, float32 [2,3] in the model\nhead.weight is "
        "missing\nhead.count is missing\nnet.tail is in the file only\n");
    expect_old(r);
    (void)unlink(path);
    tarn_close(r);
}

Test(load_weights, values_that_the_model_has_not)
{
    static const char header[] =
        "{\"body.bias\":{\"dtype\":\"F64\",\"shape\":[3],\"data_offsets\":[0,24]},"
        "\"head.count\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,32]}}";
    uint64_t data[4] = { double_bits(0.1), double_bits(-1e39), double_bits(3), 3000000000 };
    tarn_replica *r = open_model();
    write_file(header, data, sizeof data);
    tarn_load_options options = { .missing = true };
    expect_refused(
        r, options,
        "body.bias has an element 1 of -1e+39, more than float32 holds; head.count has an "
        "element 0 of 3000000000, which int32 does not hold");
    options.mismatched = true;
    cr_expect_eq(tarn_load_weights(r, path, options), TARN_OK, "%s", tarn_error(r));
    expect_old(r);
    data[1] = double_bits(-1e38);
    data[3] = (uint64_t)-7;
    write_file(header, data, sizeof data);
    options.mismatched = false;
    cr_expect_eq(tarn_load_weights(r, path, options), TARN_OK, "%s", tarn_error(r));
    expect(r, "body.bias", 3, (float[]){ 0.1f, -1e38f, 3 });
    int32_t count = 0;
    cr_assert_eq(tarn_read(tarn_find(r, "head.count"), &count, sizeof count), TARN_OK);
    cr_expect_eq(count, -7);
    (void)unlink(path);
    tarn_close(r);
}

Test(load_weights, damaged_files_and_bad_moments)
{
    tarn_replica *r = open_model();
    const tarn_load_options lax = { .missing = true, .unexpected = true, .mismatched = true };
    write_file(gpt, halves, sizeof halves - 1);
    expect_refused(r, lax, path);
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_OK);
    FILE *f = fopen(path, "r+b");
    cr_assert(f != NULL && fseek(f, -1, SEEK_END) == 0 && fputc(1, f) == 1 && fclose(f) == 0);
    expect_refused(r, lax, path);
    (void)unlink(path);
    expect_refused(r, lax, "cannot open");
    write_file(gpt, halves, sizeof halves);
    tarn_assign(tarn_find(r, "head.weight"), tarn_full(r, TARN_SHAPE(3, 2), 1));
    expect_refused(r, lax, "head.weight is assigned in a step that has not ended");
    cr_expect_eq(tarn_load_weights(NULL, path, lax), TARN_ERR_ARGUMENT);
    cr_expect_eq(tarn_load_weights(r, NULL, lax), TARN_ERR_ARGUMENT);
    (void)unlink(path);
    tarn_close(r);
}

/* ---- with an optimizer, and on several devices ---------------------------------------------- */

static tarn_status fine_tune(tarn_replica *r, void *arg)
{
    const bool *right = arg;
    static const float old[6] = { -1, -2, -3, -4, -5, -6 };
    const tarn_tensor w = tarn_parameter(r, "body.weight", TARN_SHAPE(2, 3), old);
    const tarn_tensor head = tarn_parameter(r, "head.weight", TARN_SHAPE(3, 2), old);
    (void)tarn_parameter(r, "body.bias", TARN_SHAPE(3), old);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 1 });
    tarn_optimizer_average(o, 0.5f);
    tarn_backward_weighted(tarn_sum(head, TARN_ALL, false), 1);
    tarn_optimizer_accumulate(o);
    if (tarn_step(r) != TARN_OK)
        return tarn_error_status(r);
    const tarn_load_options options = { .from = "net.",
                                        .to = "body.",
                                        .rename = better,
                                        .transposed = "*.weight",
                                        .skip = "*.bias",
                                        .unexpected = *right };
    if (tarn_load_weights(r, path, options) != TARN_OK)
        return tarn_error_status(r);
    tarn_freeze(r, "body.*", true);
    tarn_backward_weighted(tarn_sum(tarn_matmul(w, head), TARN_ALL, false), 0.5f);
    tarn_optimizer_step(o);
    if (tarn_step(r) != TARN_OK || tarn_check_weights(r) != TARN_OK)
        return tarn_error_status(r);
    float got[6], mean[6];
    if (tarn_read(head, got, sizeof got) != TARN_OK ||
        tarn_read(tarn_find(r, "optimizer.average.body.weight"), mean, sizeof mean) != TARN_OK)
        return tarn_error_status(r);
    /* Gradients are the sums 3, 7, 11 of the columns 1 2, 3 4, 5 6, halved on each of two. */
    const float part = tarn_world_size(r) == 2 ? 1.0f : 0.5f;
    const bool good = got[0] == -1 - 3 * part && got[5] == -6 - 11 * part && mean[1] == 3;
    return good ? TARN_OK : TARN_ERR_INTERNAL;
}

Test(load_weights, alone_and_on_two_devices)
{
    bool right = true;
    write_file(gpt, halves, sizeof halves);
    for (int count = 1; count <= 2; count++) {
        const tarn_launch_options options = { .devices = "0,0", .count = count };
        cr_expect_eq(tarn_launch(fine_tune, &right, options), TARN_OK, "%d: %s", count,
                     tarn_error(NULL));
    }
    right = false;
    const tarn_launch_options two = { .devices = "0,0", .count = 2 };
    cr_expect_eq(tarn_launch(fine_tune, &right, two), TARN_ERR_MISMATCH);
    cr_expect_not_null(strstr(tarn_error(NULL), "net.tail is in the file only"), "%s",
                       tarn_error(NULL));
    (void)unlink(path);
}

/* ---- what a model has ----------------------------------------------------------------------- */

Test(load_weights, lists_parameters_and_buffers)
{
    tarn_replica *r = open_model();
    static const char *const names[] = { "body.weight", "body.bias", "head.weight", "head.count" };
    tarn_freeze(r, "body.weight", true);
    cr_assert_not_null(tarn_sgd(r, (tarn_sgd_options){ .lr = 1, .momentum = 0.5f }));
    for (int i = 0; i < 4; i++) {
        const tarn_owned o = tarn_owned_at(r, i);
        cr_assert_str_eq(o.name, names[i]);
        cr_expect_eq(o.parameter, i < 3);
        cr_expect_eq(o.frozen, i == 0);
        cr_expect_eq(o.dtype, i < 3 ? TARN_F32 : TARN_I32);
        cr_expect_eq(o.shape.rank, tarn_shape_get(o.tensor).rank);
        cr_expect_eq(tarn_shape_count(o.shape), i == 1 ? 3 : i == 3 ? 1 : 6);
    }
    float got[6];
    cr_expect_eq(tarn_read(tarn_owned_at(r, 2).tensor, got, sizeof got), TARN_OK);
    cr_expect_eq(got[5], -6);
    cr_expect_null(tarn_owned_at(r, 4).name);
    cr_expect_null(tarn_owned_at(r, -1).name);
    cr_expect_null(tarn_owned_at(NULL, 0).name);
    cr_expect_eq(tarn_parameter_count(r, false), 15);
    cr_expect_eq(tarn_parameter_count(r, true), 9);
    cr_expect_eq(tarn_parameter_count(NULL, true), 0);
    tarn_close(r);
}
