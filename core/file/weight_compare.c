/* SPDX-License-Identifier: Apache-2.0 */
/* How two tensors of weight files differ: bits decide, distances explain. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "tarn.h"

/* ---- elements ------------------------------------------------------------------------------- */

static uint32_t load16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t load32(const uint8_t *p)
{
    return load16(p) | load16(p + 2) << 16;
}

/* Files are little-endian, whatever the host is. */
static uint64_t load(const tarn_weight *w, size_t element)
{
    const uint8_t *p = (const uint8_t *)w->data + element * w->width;
    switch (w->width) {
    case 1:
        return *p;
    case 2:
        return load16(p);
    case 4:
        return load32(p);
    default:
        return load32(p) | (uint64_t)load32(p + 4) << 32;
    }
}

/* A float's bits: sign, exponent, mantissa. */
struct format {
    const char *dtype;
    int mantissa, digits; /* digits: decimal ones that name every value */
    uint64_t sign, infinity;
};

static const struct format formats[] = {
    { "F16", 10, 5, 0x8000, 0x7c00 },
    { "BF16", 7, 4, 0x8000, 0x7f80 },
    { "F32", 23, 9, 0x80000000, 0x7f800000 },
    { "F64", 52, 17, 0x8000000000000000, 0x7ff0000000000000 },
};

/* Called for TARN_WEIGHT_FLOAT only. */
static const struct format *format_of(const tarn_weight *w)
{
    size_t i = 0;
    while (i < 3 && strcmp(formats[i].dtype, w->dtype) != 0)
        i++;
    return &formats[i];
}

static uint64_t magnitude(const struct format *f, uint64_t bits)
{
    return bits & (f->sign - 1);
}

static bool is_nan(const struct format *f, uint64_t bits)
{
    return magnitude(f, bits) > f->infinity;
}

/* Magnitudes of one sign are in the order of their bits, so ULP are a difference, or over zero a
 * sum, which no format overflows. */
static uint64_t ulp_distance(const struct format *f, uint64_t a, uint64_t b)
{
    const uint64_t x = magnitude(f, a), y = magnitude(f, b);
    if ((a ^ b) & f->sign)
        return x + y;
    return x > y ? x - y : y - x;
}

static double value_of(const struct format *f, uint64_t bits)
{
    const uint64_t size = magnitude(f, bits), one = (uint64_t)1 << f->mantissa;
    const int bias = (int)(f->infinity >> f->mantissa) / 2;
    const int exponent = (int)(size >> f->mantissa);
    double value;
    if (size >= f->infinity)
        value = size == f->infinity ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        value = ldexp((double)size, 1 - bias - f->mantissa);
    else
        value = ldexp((double)(size & (one - 1)) + (double)one, exponent - bias - f->mantissa);
    return bits & f->sign ? -value : value;
}

static int64_t sign_extend(uint64_t bits, size_t width)
{
    const uint64_t sign = (uint64_t)1 << (8 * width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static void note_floats(const struct format *f, uint64_t a, uint64_t b, uint64_t tolerance,
                        tarn_weight_difference *d)
{
    if (is_nan(f, a) || is_nan(f, b)) {
        d->beyond++;
        return;
    }
    const uint64_t steps = ulp_distance(f, a, b);
    const double x = value_of(f, a), y = value_of(f, b), distance = fabs(x - y);
    const double larger = fmax(fabs(x), fabs(y));
    double relative = larger > 0 ? distance / larger : 0;
    if (isinf(larger))
        relative = (double)INFINITY;
    else if (isinf(distance))
        relative = fabs(x / larger - y / larger);
    d->beyond += tolerance == 0 || steps > tolerance;
    d->max_steps = steps > d->max_steps ? steps : d->max_steps;
    d->max_abs = fmax(d->max_abs, distance);
    d->max_rel = fmax(d->max_rel, relative);
}

static void note_integers(const tarn_weight *w, uint64_t a, uint64_t b, tarn_weight_difference *d)
{
    bool less = a < b;
    if (w->dtype[0] == 'I') {
        const int64_t x = sign_extend(a, w->width), y = sign_extend(b, w->width);
        less = x < y;
        a = (uint64_t)x;
        b = (uint64_t)y;
    }
    const uint64_t distance = less ? b - a : a - b;
    d->max_steps = distance > d->max_steps ? distance : d->max_steps;
    d->max_abs = (double)d->max_steps;
    d->beyond++;
}

static tarn_status check_alike(const tarn_weight *a, const tarn_weight *b)
{
    if (a == NULL || b == NULL || a->name == NULL || b->name == NULL)
        return error_set(TARN_ERR_ARGUMENT, "tarn_weight_compare: a tensor is missing");
    if (strcmp(a->dtype, b->dtype) != 0)
        return error_set(TARN_ERR_DTYPE, "%s is %s, %s is %s: only equal types can be compared",
                         a->name, a->dtype, b->name, b->dtype);
    if (a->rank != b->rank || memcmp(a->dim, b->dim, sizeof a->dim) != 0)
        return error_set(TARN_ERR_SHAPE, "%s and %s differ in shape and cannot be compared",
                         a->name, b->name);
    return TARN_OK;
}

tarn_status tarn_weight_compare(const tarn_weight *a, const tarn_weight *b, uint64_t tolerance,
                                tarn_weight_difference *out)
{
    if (a == NULL || b == NULL || out == NULL || a->name == NULL || b->name == NULL)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_weight_compare: a tensor or the result is missing");
    TRY(check_alike(a, b));
    const struct format *f = a->kind == TARN_WEIGHT_FLOAT ? format_of(a) : NULL;
    tarn_weight_difference d = { .different = 0 };
    for (size_t i = 0; i < a->count; i++) {
        const uint64_t x = load(a, i), y = load(b, i);
        d.nan_a += f != NULL && is_nan(f, x);
        d.nan_b += f != NULL && is_nan(f, y);
        if (x == y)
            continue;
        if (d.different++ == 0)
            d.first = i;
        if (f != NULL)
            note_floats(f, x, y, tolerance, &d);
        else if (a->kind == TARN_WEIGHT_INTEGER)
            note_integers(a, x, y, &d);
        else
            d.beyond++;
    }
    *out = d;
    return TARN_OK;
}

/* ---- showing -------------------------------------------------------------------------------- */

uint64_t tarn_weight_bits(const tarn_weight *w, size_t element)
{
    return w != NULL && w->data != NULL && element < w->count ? load(w, element) : 0;
}

void tarn_weight_text(const tarn_weight *w, size_t element, char *out, size_t capacity)
{
    const uint64_t bits = tarn_weight_bits(w, element);
    if (out == NULL || capacity == 0)
        return;
    if (w == NULL || w->data == NULL || element >= w->count)
        snprintf(out, capacity, "none");
    else if (w->kind == TARN_WEIGHT_BITS)
        snprintf(out, capacity, "0x%0*" PRIx64, (int)(2 * w->width), bits);
    else if (w->kind == TARN_WEIGHT_FLOAT && is_nan(format_of(w), bits))
        snprintf(out, capacity, "nan");
    else if (w->kind == TARN_WEIGHT_FLOAT)
        snprintf(out, capacity, "%.*g", format_of(w)->digits, value_of(format_of(w), bits));
    else if (w->dtype[0] == 'I')
        snprintf(out, capacity, "%" PRId64, sign_extend(bits, w->width));
    else
        snprintf(out, capacity, "%" PRIu64, bits);
}
