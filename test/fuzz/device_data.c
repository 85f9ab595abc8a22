/* SPDX-License-Identifier: Apache-2.0 */
/* Data of leaves in the device's types, and values of tensors in double. */
#include <stdlib.h>

#include "device.h"

static void *packed(const double *v, int64_t n, tarn_dtype dtype)
{
    unsigned char *data = malloc((size_t)n * 8 + 8);
    if (data == NULL)
        abort();
    for (int64_t i = 0; i < n; i++)
        if (program_half(dtype))
            ((uint16_t *)(void *)data)[i] = half_bits(v[i], dtype);
        else if (dtype == TARN_F32)
            ((float *)(void *)data)[i] = (float)v[i];
        else if (dtype == TARN_I32)
            ((int32_t *)(void *)data)[i] = (int32_t)v[i];
        else if (dtype == TARN_F64)
            ((double *)(void *)data)[i] = v[i];
        else if (dtype == TARN_I64)
            ((int64_t *)(void *)data)[i] = (int64_t)v[i];
        else
            data[i] = (uint8_t)v[i];
    return data;
}

void *device_data(const struct program *p, const struct line *l, int rank)
{
    const int64_t n = tarn_shape_count(l->shape);
    double *v = calloc((size_t)n + 1, sizeof *v);
    if (v == NULL)
        abort();
    program_data(p, l, rank, v);
    void *data = packed(v, n, program_type(p, l->dtype));
    free(v);
    return data;
}

double *device_read(tarn_tensor t, const struct result *want)
{
    const int64_t n = tarn_shape_count(want->shape);
    const tarn_dtype dtype = tarn_dtype_get(t);
    const size_t bytes = (size_t)n * tarn_dtype_bytes(dtype);
    unsigned char *data = calloc(bytes + 4, 1);
    double *v = calloc((size_t)n + 1, sizeof *v);
    if (data == NULL || v == NULL)
        abort();
    const bool good = tarn_read(t, data, bytes) == TARN_OK;
    for (int64_t i = 0; i < n && good; i++)
        v[i] = program_half(dtype) ? half_value(((uint16_t *)(void *)data)[i], dtype)
               : dtype == TARN_F32 ? (double)((float *)(void *)data)[i]
               : dtype == TARN_I32 ? (double)((int32_t *)(void *)data)[i]
               : dtype == TARN_F64 ? ((double *)(void *)data)[i]
               : dtype == TARN_I64 ? (double)((int64_t *)(void *)data)[i]
                                   : (double)data[i];
    free(data);
    if (good)
        return v;
    free(v);
    return NULL;
}
