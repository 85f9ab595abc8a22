/* SPDX-License-Identifier: Apache-2.0 */
/* Of uint8 one multiplication and one addition, since 255 steps are far from the rounding of a
 * float; of float32 the mean is taken away first, so that a large one costs no digits. */
#include "data/normal.h"
#include "tensor/shape.h"

#include <math.h>
#include <stdlib.h>

static double mean_of(const tarn_loader_options *o, int32_t channel)
{
    return (double)(o->means != NULL ? o->means[channel] : o->mean);
}

static double deviation_of(const tarn_loader_options *o, int32_t channel)
{
    const float one = o->deviations != NULL ? o->deviations[channel] : o->deviation;
    return one == 0 && o->deviations == NULL ? 1 : (double)one;
}

static tarn_status check_value(double mean, double deviation, int32_t channel)
{
    if (isfinite(mean) && deviation > 0 && isfinite(deviation) && isfinite((float)(1 / deviation)))
        return TARN_OK;
    return error_set(TARN_ERR_ARGUMENT,
                     "tarn_loader_open: mean %g, deviation %g of channel %d; both must be finite "
                     "and the deviation positive",
                     mean, deviation, channel);
}

tarn_status normal_check(const tarn_loader_options *o, tarn_shape sample, tarn_dtype dtype)
{
    const bool some = o->means != NULL || o->deviations != NULL;
    if ((o->means != NULL && o->mean != 0) || (o->deviations != NULL && o->deviation != 0))
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: one mean or deviation, and those of each channel; give "
                         "one of them");
    const bool whole = dtype == TARN_I32 || dtype == TARN_I64;
    if (whole && (some || o->mean != 0 || o->deviation != 0))
        return error_set(TARN_ERR_DTYPE,
                         "tarn_loader_open: mean and deviation of %s samples, which are "
                         "delivered as they are",
                         tarn_dtype_name(dtype));
    if (!some && o->channels != 0)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: %d channels, but neither means nor deviations",
                         o->channels);
    if (some && (sample.rank < 1 || o->channels != sample.dim[0]))
        return error_set(TARN_ERR_SHAPE,
                         "tarn_loader_open: mean and deviation of %d channels for samples of %s",
                         o->channels, shape_text(sample));
    for (int32_t i = 0; i < (some ? o->channels : 1); i++)
        TRY(check_value(mean_of(o, i), deviation_of(o, i), i));
    return TARN_OK;
}

static tarn_status upload(struct context *c, const float *values, int32_t count,
                          struct buffer **out)
{
    return buffer_new_of(c, (size_t)count * sizeof *values, values, out);
}

tarn_status normal_make(struct context *c, const tarn_loader_options *o, tarn_dtype dtype,
                        struct normal *out)
{
    *out = (struct normal){ .mean = mean_of(o, 0), .deviation = deviation_of(o, 0) };
    if (o->means == NULL && o->deviations == NULL)
        return TARN_OK;
    const size_t count = (size_t)o->channels;
    float *values = malloc(2 * count * sizeof *values);
    if (values == NULL)
        return error_set(TARN_ERR_MEMORY, "tarn_loader_open: out of host memory for %zu means",
                         count);
    for (int32_t i = 0; i < o->channels; i++) {
        const double mean = mean_of(o, i), deviation = deviation_of(o, i);
        values[i] = (float)(1 / ((dtype == TARN_U8 ? 255 : 1) * deviation));
        values[count + (size_t)i] = (float)(dtype == TARN_U8 ? -mean / deviation : -mean);
    }
    out->channels = o->channels;
    tarn_status status = upload(c, values, o->channels, &out->scale);
    if (status == TARN_OK)
        status = upload(c, values + count, o->channels, &out->shift);
    free(values);
    return status;
}

void normal_free(struct normal *n)
{
    buffer_free(n->scale);
    buffer_free(n->shift);
    *n = (struct normal){ .channels = 0 };
}

/* [1, channels, 1, ...] */
static tarn_tensor by_channel(const struct normal *n, struct buffer *b, tarn_tensor x)
{
    tarn_shape shape = tarn_shape_get(x);
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i == 1 ? n->channels : 1;
    return graph_input(x.replica, b, NULL, false, shape, TARN_F32);
}

static tarn_tensor record_bytes(const struct normal *n, tarn_tensor x)
{
    x = tarn_cast(x, TARN_F32);
    if (n != NULL && n->channels)
        return tarn_add(tarn_mul(x, by_channel(n, n->scale, x)), by_channel(n, n->shift, x));
    const double deviation = n != NULL ? n->deviation : 1;
    x = tarn_mul_scalar(x, (float)(1 / (255 * deviation)));
    return n != NULL && n->mean != 0 ? tarn_add_scalar(x, (float)(-n->mean / deviation)) : x;
}

static tarn_tensor floats(const struct normal *n, tarn_tensor x)
{
    if (n->channels)
        return tarn_mul(tarn_add(x, by_channel(n, n->shift, x)), by_channel(n, n->scale, x));
    x = n->mean != 0 ? tarn_add_scalar(x, (float)-n->mean) : x;
    return n->deviation != 1 ? tarn_mul_scalar(x, (float)(1 / n->deviation)) : x;
}

static tarn_tensor record_floats(const struct normal *n, tarn_tensor x)
{
    const tarn_dtype of = tarn_dtype_get(x); /* of a half type it is rounded once */
    const tarn_tensor y = floats(n, tarn_cast(x, dtype_single(of)));
    return tarn_failed(y) ? y : tarn_cast(y, of);
}

tarn_tensor normal_record(const struct normal *n, tarn_tensor x)
{
    const tarn_dtype dtype = tarn_dtype_get(x);
    return dtype == TARN_U8                     ? record_bytes(n, x)
           : dtype_is_float(dtype) && n != NULL ? record_floats(n, x)
                                                : x;
}
