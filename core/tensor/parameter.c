/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters: floats in, owned tensors of float32 or float64 out. */
#include <stdlib.h>

#include "tensor/shape.h"
#include "tensor/spread.h"
#include "tensor/wide.h"

/* NULL: no host memory. */
static float *narrowed(const double *values, size_t count)
{
    float *data = malloc((count + 1) * sizeof *data);
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = (float)values[i];
    return data;
}

tarn_tensor owned_of_values(tarn_replica *r, enum owned_kind kind, const char *name,
                            tarn_shape shape, const double *values)
{
    if (r->parameter_dtype == TARN_F64)
        return owned_handle(r, owned_add(r, kind, name, shape, TARN_F64, values));
    const size_t count = (size_t)tarn_shape_count(shape);
    float *data = narrowed(values, count);
    if (data == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "%s: out of host memory for %zu values", name, count);
    const tarn_tensor t = owned_handle(r, owned_add(r, kind, name, shape, TARN_F32, data));
    free(data);
    return t;
}

tarn_tensor tarn_parameter(tarn_replica *r, const char *name, tarn_shape shape, const float *data)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "parameter: the replica is NULL");
    if (r->parameter_dtype == TARN_F32 || data == NULL || !shape_valid(shape))
        return tarn_parameter_as(r, name, shape, r->parameter_dtype, data);
    const size_t count = (size_t)tarn_shape_count(shape);
    double *values = malloc((count + 1) * sizeof *values);
    if (values == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "parameter: out of host memory for %zu values",
                          count);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)data[i];
    const tarn_tensor t = tarn_parameter_as(r, name, shape, TARN_F64, values);
    free(values);
    return t;
}

static bool trains(tarn_replica *r, const char *name, tarn_dtype dtype)
{
    if (dtype_is_single(dtype))
        return true;
    replica_fail(r, TARN_ERR_DTYPE, "%s: parameters are float32 or float64, not %s", name,
                 tarn_dtype_name(dtype));
    return false;
}

tarn_tensor tarn_parameter_as(tarn_replica *r, const char *name, tarn_shape shape, tarn_dtype dtype,
                              const void *data)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "parameter: the replica is NULL");
    if (!trains(r, name != NULL ? name : "parameter", dtype))
        return graph_poison(r);
    return owned_handle(r, owned_add(r, OWNED_PARAMETER, name, shape, dtype, data));
}

void tarn_parameter_dtype(tarn_replica *r, tarn_dtype dtype)
{
    if (r == NULL)
        graph_fail(NULL, TARN_ERR_ARGUMENT, "parameter_dtype: the replica is NULL");
    else if (trains(r, "parameter_dtype", dtype) && wide_possible(r, "parameter_dtype", dtype))
        r->parameter_dtype = dtype;
}
