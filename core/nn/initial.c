/* SPDX-License-Identifier: Apache-2.0 */
/* Initial values of parameters by a distribution: a function of seed, name and element. */
#include <math.h>
#include <stdlib.h>

#include "nn/layer.h"
#include "tensor/random.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

/* ---- the normal distribution, without functions of the C library whose bits differ ----------- */

/* log(x), x > 0: its exponent, and the series of the inverse hyperbolic tangent. */
static double natural_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        exponent--;
    }
    const double s = (m - 1.0) / (m + 1.0), square = s * s;
    double sum = 0.0;
    for (int k = 27; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * 0.69314718055994531 + 2.0 * s * sum;
}

static double ratio(const double up[8], const double down[8], double x)
{
    double a = up[7], b = down[7];
    for (int i = 6; i >= 0; i--) {
        a = a * x + up[i];
        b = b * x + down[i];
    }
    return a / b;
}

/* The inverse of the normal distribution function, to 16 digits: algorithm AS 241 (Wichura 1988). */
static double normal_quantile(double p)
{
    static const double a[8] = { 3.3871328727963666080e0, 1.3314166789178437745e2,
                                 1.9715909503065514427e3, 1.3731693765509461125e4,
                                 4.5921953931549871457e4, 6.7265770927008700853e4,
                                 3.3430575583588128105e4, 2.5090809287301226727e3 },
                        b[8] = { 1.0,
                                 4.2313330701600911252e1,
                                 6.8718700749205790830e2,
                                 5.3941960214247511077e3,
                                 2.1213794301586595867e4,
                                 3.9307895800092710610e4,
                                 2.8729085735721942674e4,
                                 5.2264952788528545610e3 },
                        c[8] = { 1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4 },
                        d[8] = { 1.0,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9 },
                        e[8] = { 6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7 },
                        f[8] = { 1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15 };
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * ratio(a, b, 0.180625 - q * q);
    const double r = sqrt(-natural_log(q < 0.0 ? p : 1.0 - p));
    const double z = r <= 5.0 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5.0);
    return q < 0.0 ? -z : z;
}

/* ---- distributions -------------------------------------------------------------------------- */

/* A distribution with all figures settled: uniform from a to b, or normal of mean a and deviation b, of
 * which the part between the probabilities `first` and `last` is taken. */
struct drawn {
    bool normal;
    double a, b, first, last, low, high;
};

static double normal_distribution(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

/* False after recording an error. What fans are is PyTorch's word. */
static bool settle(tarn_replica *r, const char *name, tarn_shape s, tarn_init init, struct drawn *d)
{
    const bool xavier =
        init.kind == TARN_INIT_XAVIER_UNIFORM || init.kind == TARN_INIT_XAVIER_NORMAL;
    const bool kaiming =
        init.kind == TARN_INIT_KAIMING_UNIFORM || init.kind == TARN_INIT_KAIMING_NORMAL;
    *d = (struct drawn){
        .a = (double)init.a, .b = (double)init.b, .last = 1.0, .low = -INFINITY, .high = INFINITY
    };
    d->normal = init.kind == TARN_INIT_NORMAL || init.kind == TARN_INIT_TRUNCATED ||
                init.kind == TARN_INIT_XAVIER_NORMAL || init.kind == TARN_INIT_KAIMING_NORMAL;
    if (init.kind == TARN_INIT_CONSTANT)
        d->b = d->a;
    if (init.kind == TARN_INIT_TRUNCATED) {
        d->low = (double)init.low;
        d->high = (double)init.high;
        d->first = normal_distribution((d->low - d->a) / d->b);
        d->last = normal_distribution((d->high - d->a) / d->b);
    }
    if (xavier || kaiming) {
        const double window =
            s.rank > 2 ? (double)tarn_shape_count(s) / ((double)s.dim[0] * (double)s.dim[1]) : 1.0;
        const double in = s.rank > 1 ? (double)s.dim[1] * window : 0.0,
                     out = s.rank > 1 ? (double)s.dim[0] * window : 0.0;
        const double gain = !xavier          ? sqrt(2.0 / (1.0 + (double)init.a * (double)init.a))
                            : init.a != 0.0f ? (double)init.a
                                             : 1.0;
        const double deviation = gain * (xavier ? sqrt(2.0 / (in + out)) : 1.0 / sqrt(in));
        const double reach = d->normal ? deviation : sqrt(3.0) * deviation;
        d->a = d->normal ? 0.0 : -reach;
        d->b = reach;
    }
    const bool good = isfinite(d->a) && isfinite(d->b) && (!d->normal || d->b >= 0.0) &&
                      d->first < d->last && init.kind >= TARN_INIT_CONSTANT &&
                      init.kind <= TARN_INIT_KAIMING_NORMAL;
    if (!good)
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "%s: shape %s has no initial values of kind %d with a %g, b %g: numbers must be "
                   "finite, deviations not negative, low below high, and fans of two dimensions",
                   name, shape_text(s), (int)init.kind, (double)init.a, (double)init.b);
    return good;
}

static double draw(const struct drawn *d, uint64_t key, size_t i)
{
    const double u = ((double)(random_u32(key, i) >> 8) + (d->normal ? 0.5 : 0.0)) * 0x1p-24;
    if (!d->normal)
        return d->a + u * (d->b - d->a);
    const double z = d->a + d->b * normal_quantile(d->first + u * (d->last - d->first));
    return z < d->low ? d->low : z > d->high ? d->high : z;
}

tarn_tensor tarn_parameter_with(tarn_replica *r, const char *name, tarn_shape shape, tarn_init init)
{
    struct drawn d;
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "parameter: the replica is NULL");
    if (r->status != TARN_OK)
        return graph_poison(r);
    if (name == NULL || !shape_valid(shape))
        return graph_fail(r, TARN_ERR_ARGUMENT, "%s: shape %s cannot be initialised",
                          name != NULL ? name : "parameter", shape_text(shape));
    if (!settle(r, name, shape, init, &d))
        return graph_poison(r);
    const size_t count = (size_t)tarn_shape_count(shape);
    double *data = malloc((count + 1) * sizeof *data);
    if (data == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "%s: out of host memory for %zu values", name, count);
    const uint64_t key = random_key(r->seed, name);
    for (size_t i = 0; i < count; i++)
        data[i] = draw(&d, key, i);
    const tarn_tensor t = owned_of_values(r, OWNED_PARAMETER, name, shape, data);
    free(data);
    return t;
}

tarn_tensor tarn_parameter_kaiming(tarn_replica *r, const char *name, tarn_shape shape, int fan_in)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "parameter: the replica is NULL");
    if (r->status != TARN_OK)
        return graph_poison(r);
    if (name == NULL || fan_in < 1 || !shape_valid(shape))
        return graph_fail(r, TARN_ERR_ARGUMENT, "%s: shape %s with fan_in %d cannot be initialised",
                          name != NULL ? name : "parameter", shape_text(shape), fan_in);
    const size_t count = (size_t)tarn_shape_count(shape);
    double *data = malloc((count + 1) * sizeof *data);
    if (data == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "%s: out of host memory for %zu values", name, count);
    const double bound = 1.0 / sqrt((double)fan_in);
    const uint64_t key = random_key(r->seed, name);
    for (size_t i = 0; i < count; i++) {
        const double u = (double)(random_u32(key, i) >> 8) * 0x1p-24;
        data[i] = (2.0 * u - 1.0) * bound;
    }
    const tarn_tensor t = owned_of_values(r, OWNED_PARAMETER, name, shape, data);
    free(data);
    return t;
}
