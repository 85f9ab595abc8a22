/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of weight files as elements of the model's types. */
#include "file/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor/shape.h"

bool convert_source(const char *dtype, tarn_dtype to, struct source *out)
{
    static const struct {
        const char *name;
        struct source source;
    } types[] = {
        { "F16", { SOURCE_F16, 2 } },      { "BF16", { SOURCE_BF16, 2 } },
        { "F32", { SOURCE_F32, 4 } },      { "F64", { SOURCE_F64, 8 } },
        { "I8", { SOURCE_SIGNED, 1 } },    { "I16", { SOURCE_SIGNED, 2 } },
        { "I32", { SOURCE_SIGNED, 4 } },   { "I64", { SOURCE_SIGNED, 8 } },
        { "U8", { SOURCE_UNSIGNED, 1 } },  { "U16", { SOURCE_UNSIGNED, 2 } },
        { "U32", { SOURCE_UNSIGNED, 4 } }, { "U64", { SOURCE_UNSIGNED, 8 } },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, dtype) != 0)
            continue;
        *out = types[i].source;
        return dtype_is_float(to) || out->kind == SOURCE_SIGNED || out->kind == SOURCE_UNSIGNED;
    }
    return false;
}

static uint64_t load(const uint8_t *from, int width)
{
    uint64_t bits = 0;
    for (int b = width - 1; b >= 0; b--)
        bits = bits << 8 | from[b];
    return bits;
}

/* The float32 that has these bits. */
static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool of_double(uint64_t bits, float *out, char why[CONVERT_WHY])
{
    double value;
    memcpy(&value, &bits, sizeof value);
    *out = isfinite(value) && fabs(value) >= 0x1.ffffffp127 ? INFINITY : (float)value;
    if (!isfinite(value) || isfinite(*out))
        return true;
    snprintf(why, CONVERT_WHY, "%.9g, more than float32 holds", value);
    return false;
}

/* A whole number: its magnitude, and whether it is below 0. */
struct whole {
    uint64_t magnitude;
    bool negative;
};

static struct whole whole_of(struct source s, const uint8_t *from)
{
    const uint64_t bits = load(from, s.width), top = UINT64_C(1) << (8 * s.width - 1);
    if (s.kind == SOURCE_UNSIGNED || !(bits & top))
        return (struct whole){ bits, false };
    return (struct whole){ (top - 1 - (bits & (top - 1))) + 1, true };
}

static bool no_such_value(struct whole w, const char *type, char why[CONVERT_WHY])
{
    snprintf(why, CONVERT_WHY, "%s%" PRIu64 ", which %s does not hold", w.negative ? "-" : "",
             w.magnitude, type);
    return false;
}

static bool whole_to_float(struct whole w, float *out, char why[CONVERT_WHY])
{
    uint64_t odd = w.magnitude;
    while (odd >= 1 << 24 && !(odd & 1))
        odd >>= 1;
    *out = w.negative ? -(float)w.magnitude : (float)w.magnitude;
    return odd <= 1 << 24 || no_such_value(w, "float32", why);
}

static bool to_float(struct source s, const uint8_t *from, float *out, char why[CONVERT_WHY])
{
    switch (s.kind) {
    case SOURCE_F16:
        *out = half_to_float((uint16_t)load(from, 2), TARN_F16);
        return true;
    case SOURCE_BF16:
        *out = half_to_float((uint16_t)load(from, 2), TARN_BF16);
        return true;
    case SOURCE_F32:
        *out = of_bits((uint32_t)load(from, 4));
        return true;
    case SOURCE_F64:
        return of_double(load(from, 8), out, why);
    case SOURCE_SIGNED:
    case SOURCE_UNSIGNED:
        break;
    }
    return whole_to_float(whole_of(s, from), out, why);
}

/* A whole number is exact below 2^53, or with zeros after it. */
static bool to_double(struct source s, const uint8_t *from, double *out, char why[CONVERT_WHY])
{
    float value;
    if (s.kind == SOURCE_F64) {
        const uint64_t bits = load(from, 8);
        memcpy(out, &bits, sizeof bits);
        return true;
    }
    if (s.kind != SOURCE_SIGNED && s.kind != SOURCE_UNSIGNED) {
        const bool fits = to_float(s, from, &value, why);
        *out = (double)value;
        return fits;
    }
    const struct whole w = whole_of(s, from);
    uint64_t odd = w.magnitude;
    while (odd > UINT64_C(1) << 53 && !(odd & 1))
        odd >>= 1;
    *out = w.negative ? -(double)w.magnitude : (double)w.magnitude;
    return odd <= UINT64_C(1) << 53 || no_such_value(w, "float64", why);
}

static bool to_int64(struct whole w, int64_t *out, char why[CONVERT_WHY])
{
    const uint64_t bits = w.negative ? 0 - w.magnitude : w.magnitude;
    memcpy(out, &bits, sizeof bits);
    return w.magnitude <= (uint64_t)INT64_MAX + w.negative || no_such_value(w, "int64", why);
}

bool convert_element(struct source s, const uint8_t *from, tarn_dtype to, void *out,
                     char why[CONVERT_WHY])
{
    if (dtype_is_half(to)) {
        float value;
        const bool fits = to_float(s, from, &value, why);
        const uint16_t half = half_from_float(value, to);
        memcpy(out, &half, sizeof half);
        return fits;
    }
    if (to == TARN_F32) {
        float value;
        const bool fits = to_float(s, from, &value, why);
        memcpy(out, &value, sizeof value);
        return fits;
    }
    if (to == TARN_F64) {
        double value;
        const bool fits = to_double(s, from, &value, why);
        memcpy(out, &value, sizeof value);
        return fits;
    }
    const struct whole w = whole_of(s, from);
    if (to == TARN_I64) {
        int64_t value;
        const bool fits = to_int64(w, &value, why);
        memcpy(out, &value, sizeof value);
        return fits;
    }
    if (to == TARN_U8) {
        const uint8_t value = (uint8_t)w.magnitude;
        memcpy(out, &value, sizeof value);
        return (!w.negative && w.magnitude <= UINT8_MAX) || no_such_value(w, "uint8", why);
    }
    const uint32_t value = (uint32_t)(w.negative ? 0 - w.magnitude : w.magnitude);
    memcpy(out, &value, sizeof value);
    return w.magnitude <= (uint64_t)INT32_MAX + w.negative || no_such_value(w, "int32", why);
}
