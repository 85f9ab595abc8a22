/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an op case on the device and in the reference; gradients against central differences. */
#include "op_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rounding.h"

/* Differences are taken at this many elements of an operand, spread over it. */
#define SAMPLES 128

struct check {
    const struct op_case *c;
    tarn_dtype dtype; /* of operands and results of a float type */
    struct ref in[OP_INPUTS], y, weights;
    double condition; /* largest sum over inputs of |x dy/dx| */
    double *device_y, *device_g[OP_INPUTS];
    char *message;
    size_t capacity;
};

double check_random(unsigned long long *state)
{
    unsigned long long z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 42) / (1 << 22);
}

static double unit_of(const struct check *k)
{
    return k->dtype == TARN_F64 ? 0x1p-53 : 0x1p-24;
}

static double gamma_of(const struct check *k, double n)
{
    const double all = n * unit_of(k) * (k->dtype == TARN_F64 ? 2 : 1);
    return all / (1 - all);
}

/* The number of the type next to v. */
static double rounded(const struct check *k, double v)
{
    return k->dtype == TARN_F64 ? v : (double)(float)v;
}

static bool complain(struct check *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool complain(struct check *k, const char *format, ...)
{
    const int n = snprintf(k->message, k->capacity, "%s: ", k->c->name);
    va_list args;
    va_start(args, format);
    if (n > 0 && (size_t)n < k->capacity)
        vsnprintf(k->message + n, k->capacity - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* ---- operands ------------------------------------------------------------------------------- */

static double draw(const struct op_input *in, unsigned long long *state)
{
    const double t = check_random(state);
    switch (in->fill) {
    case FILL_POSITIVE:
        return 0.5 + 1.5 * floor(t * 65536) / 65536;
    case FILL_INDEX:
        return floor(t * in->limit);
    case FILL_BOOL:
        return t < 0.5 ? 0 : 1;
    case FILL_COARSE:
        return floor(t * 5) - 2;
    case FILL_SIGNED:
        break;
    }
    const double x = 4 * t - 2;
    return fabs(x) < 0.01 ? x + 0.25 : x;
}

static bool differentiable(const struct op_input *in)
{
    return in->fill != FILL_INDEX && in->fill != FILL_BOOL && in->fill != FILL_COARSE;
}

static tarn_tensor upload(tarn_replica *r, const struct op_input *in, const struct ref *x,
                          tarn_dtype floats)
{
    int32_t dims[REF_RANK] = { 0 };
    for (int d = 0; d < x->rank; d++)
        dims[d] = x->dim[d];
    const size_t n = ref_count(x);
    void *data = malloc(8 * n + 8);
    if (data == NULL)
        return TARN_NONE;
    tarn_dtype dtype = floats;
    for (size_t i = 0; i < n; i++) {
        if (in->fill == FILL_INDEX)
            ((int32_t *)data)[i] = (int32_t)x->v[i];
        else if (in->fill == FILL_BOOL)
            ((uint8_t *)data)[i] = (uint8_t)x->v[i];
        else if (floats == TARN_F64)
            ((double *)data)[i] = x->v[i];
        else
            ((float *)data)[i] = (float)x->v[i];
    }
    if (in->fill == FILL_INDEX)
        dtype = TARN_I32;
    else if (in->fill == FILL_BOOL)
        dtype = TARN_U8;
    const tarn_tensor t = tarn_from(r, tarn_shape_of(x->rank, dims), dtype, data);
    free(data);
    return t;
}

static double *download(tarn_tensor t, size_t n)
{
    double *out = calloc(n + 1, sizeof(double));
    const size_t each = tarn_dtype_bytes(tarn_dtype_get(t));
    if (out == NULL || tarn_read(t, out, n * each) != TARN_OK) {
        free(out);
        return NULL;
    }
    for (size_t i = n; each == sizeof(float) && i-- > 0;) { /* the last one first: they grow */
        float value;
        memcpy(&value, (const char *)out + i * sizeof value, sizeof value);
        out[i] = (double)value;
    }
    return out;
}

/* ---- the device ----------------------------------------------------------------------------- */

static bool same_shape(const struct ref *want, tarn_tensor got)
{
    const tarn_shape s = tarn_shape_get(got);
    bool same = s.rank == want->rank;
    for (int d = 0; same && d < s.rank; d++)
        same = s.dim[d] == want->dim[d];
    return same;
}

static bool run_device(tarn_replica *r, struct check *k)
{
    const struct op_case *c = k->c;
    tarn_tensor in[OP_INPUTS], out[1 + OP_INPUTS], gradients[OP_INPUTS], wanted[OP_INPUTS];
    int which[OP_INPUTS], count = 0;
    for (int i = 0; i < c->inputs; i++) {
        in[i] = upload(r, &c->in[i], &k->in[i], k->dtype);
        if (!c->no_gradient && differentiable(&c->in[i])) {
            which[count] = i;
            wanted[count++] = in[i];
        }
    }
    tarn_tensor y = c->device(in, c);
    if (tarn_failed(y))
        return complain(k, "%s", tarn_error(r));
    if (!same_shape(&k->y, y))
        return complain(k, "the shape of the result is wrong");
    if (tarn_dtype_get(y) != k->dtype && tarn_dtype_get(y) != TARN_F32)
        y = tarn_cast(y, k->dtype);
    out[0] = y;
    if (count > 0) {
        const struct op_input as_float = { .fill = FILL_SIGNED };
        const tarn_tensor w = upload(r, &as_float, &k->weights, k->dtype);
        tarn_gradients(tarn_sum(tarn_mul(y, w), TARN_ALL, false), wanted, count, gradients);
        for (int i = 0; i < count; i++)
            out[1 + i] = gradients[i];
    }
    if (tarn_eval(out, 1 + count) != TARN_OK)
        return complain(k, "%s", tarn_error(r));
    k->device_y = download(y, ref_count(&k->y));
    bool read = k->device_y != NULL;
    for (int i = 0; i < count; i++) {
        if (!same_shape(&k->in[which[i]], gradients[i]))
            return complain(k, "the shape of gradient %d is wrong", which[i]);
        k->device_g[which[i]] = download(gradients[i], ref_count(&k->in[which[i]]));
        read = read && k->device_g[which[i]] != NULL;
    }
    return read || complain(k, "%s", tarn_error(r));
}

/* ---- bounds --------------------------------------------------------------------------------- */

static double largest(const double *v, size_t n)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(v[i]));
    return top;
}

/* The op applied to the magnitudes of its float operands. */
static struct ref magnitudes(const struct check *k)
{
    struct ref in[OP_INPUTS];
    for (int i = 0; i < k->c->inputs; i++) {
        in[i] = ref_copy(&k->in[i]);
        for (size_t j = 0; j < ref_count(&in[i]); j++)
            in[i].v[j] = fabs(in[i].v[j]);
    }
    const struct ref y = k->c->reference(in, k->c);
    for (int i = 0; i < k->c->inputs; i++)
        ref_free(&in[i]);
    return y;
}

static bool equal_or_near(double got, double want, double limit)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= limit;
}

static double ulps_of(const struct check *k)
{
    return k->dtype == TARN_F64 ? k->c->ulps + 16 + 1 : k->c->ulps;
}

static bool compare_values(struct check *k)
{
    const struct op_case *c = k->c;
    struct ref size = magnitudes(k);
    const double top = largest(k->y.v, ref_count(&k->y));
    bool good = true;
    for (size_t i = 0; good && i < ref_count(&k->y); i++) {
        double limit = 0;
        if (c->bound == BOUND_MAP)
            limit = 2 * ulps_of(k) * unit_of(k) * fabs(k->y.v[i]) + 0x1p-126;
        else if (c->bound == BOUND_LINEAR)
            limit = gamma_of(k, sum_roundings(c->terms) + 2) * fabs(size.v[i]);
        else if (c->bound == BOUND_COMPOSED)
            limit = gamma_of(k, c->terms + 8) * (top + k->condition);
        const double want = c->bound == BOUND_EXACT ? rounded(k, k->y.v[i]) : k->y.v[i];
        if (!equal_or_near(k->device_y[i], want, limit))
            good = complain(k, "element %zu is %.9g, should be %.9g, error %.3g, limit %.3g", i,
                            k->device_y[i], want, fabs(k->device_y[i] - want), limit);
    }
    ref_free(&size);
    return good;
}

/* ---- gradients ------------------------------------------------------------------------------ */

struct slope {
    double gradient, size; /* sum of w dy/dx, and of its magnitudes */
    double terms;          /* results that depend on the element */
};

static struct slope difference(struct check *k, int input, size_t element, double *condition)
{
    double *x = &k->in[input].v[element];
    const double middle = *x, h = 1e-5 * fmax(1, fabs(middle));
    *x = middle + h;
    struct ref high = k->c->reference(k->in, k->c);
    *x = middle - h;
    struct ref low = k->c->reference(k->in, k->c);
    *x = middle;
    struct slope s = { 0, 0, 0 };
    for (size_t j = 0; j < ref_count(&high); j++) {
        const double d = (high.v[j] - low.v[j]) / (2 * h);
        s.gradient += k->weights.v[j] * d;
        s.size += fabs(k->weights.v[j] * d);
        s.terms += d != 0;
        condition[j] += fabs(middle * d);
    }
    ref_free(&high);
    ref_free(&low);
    return s;
}

static double gradient_limit(const struct check *k, const struct slope *s, double top)
{
    const struct op_case *c = k->c;
    /* Truncation and cancellation of the differences themselves. */
    const double own = 2e-9 * (1 + s->size);
    if (c->bound == BOUND_COMPOSED)
        return gamma_of(k, 2 * c->terms + sum_roundings(s->terms) + 16) * top + own;
    return gamma_of(k, 2 * ulps_of(k) + sum_roundings(s->terms) + 6) * s->size + own;
}

static bool compare_gradient(struct check *k, int input, double *condition)
{
    const size_t n = ref_count(&k->in[input]);
    const size_t count = n < SAMPLES ? n : SAMPLES;
    struct slope s[SAMPLES];
    double top = 0;
    for (size_t i = 0; i < count; i++) {
        s[i] = difference(k, input, i * n / count, condition);
        top = fmax(top, s[i].size);
    }
    if (k->device_g[input] == NULL)
        return true;
    for (size_t i = 0; i < count; i++) {
        const size_t at = i * n / count;
        const double limit = gradient_limit(k, &s[i], top);
        if (!equal_or_near(k->device_g[input][at], s[i].gradient, limit))
            return complain(k,
                            "gradient %d, element %zu is %.9g, should be %.9g, error %.3g, "
                            "limit %.3g",
                            input, at, k->device_g[input][at], s[i].gradient,
                            fabs(k->device_g[input][at] - s[i].gradient), limit);
    }
    return true;
}

static bool compare(struct check *k)
{
    const struct op_case *c = k->c;
    const size_t n = ref_count(&k->y);
    double *condition = calloc(n + 1, sizeof(double));
    if (condition == NULL)
        return complain(k, "out of memory");
    bool good = true;
    for (int i = 0; i < c->inputs; i++)
        if (!c->no_gradient && differentiable(&c->in[i]))
            good = compare_gradient(k, i, condition) && good;
    k->condition = largest(condition, n);
    free(condition);
    return good && compare_values(k);
}

bool op_check(tarn_replica *r, const struct op_case *c, char *message, size_t capacity)
{
    return op_check_as(r, c, TARN_F32, message, capacity);
}

/* A number that draws of one value share, and that float32 does not have where the type is a larger one. */
static double operand(const struct check *k, const struct op_input *in, unsigned long long *state)
{
    const double value = rounded(k, draw(in, state));
    return k->dtype == TARN_F64 && differentiable(in) ? value * (1 + 0x1p-32) : value;
}

bool op_check_as(tarn_replica *r, const struct op_case *c, tarn_dtype dtype, char *message,
                 size_t capacity)
{
    struct check k = { .c = c, .dtype = dtype, .message = message, .capacity = capacity };
    unsigned long long state = 1;
    for (int i = 0; i < c->inputs; i++) {
        k.in[i] = ref_new(c->in[i].rank, c->in[i].dim);
        for (size_t j = 0; j < ref_count(&k.in[i]); j++)
            k.in[i].v[j] = operand(&k, &c->in[i], &state);
    }
    k.y = c->reference(k.in, c);
    k.weights = ref_new(k.y.rank, k.y.dim);
    const struct op_input any = { .fill = FILL_SIGNED };
    for (size_t j = 0; j < ref_count(&k.weights); j++)
        k.weights.v[j] = operand(&k, &any, &state);

    bool good = run_device(r, &k) && compare(&k);
    if (tarn_error_status(r) != TARN_OK) {
        if (good)
            good = complain(&k, "%s", tarn_error(r));
        tarn_error_clear(r);
    } else if (tarn_step(r) != TARN_OK && good) {
        good = complain(&k, "step: %s", tarn_error(r));
    }
    for (int i = 0; i < c->inputs; i++) {
        ref_free(&k.in[i]);
        free(k.device_g[i]);
    }
    ref_free(&k.y);
    ref_free(&k.weights);
    free(k.device_y);
    return good;
}
