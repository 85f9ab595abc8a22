/* SPDX-License-Identifier: Apache-2.0 */
/* Names and initial values of what layers own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/layer.h"
#include "tensor/spread.h"

bool layer_check(tarn_replica *r, const char *kind, const char *name, int in, int out)
{
    if (r != NULL && name != NULL && *name && in >= 1 && out >= 1)
        return true;
    graph_fail(r, TARN_ERR_ARGUMENT,
               "%s %s: a layer needs a replica, a name and sizes from 1 (got %d and %d)", kind,
               name != NULL && *name ? name : "without a name", in, out);
    return false;
}

bool layer_has_weight(const char *kind, tarn_tensor x, tarn_tensor weight)
{
    tarn_replica *r;
    return graph_operands(kind, (tarn_tensor[]){ x, weight }, 2, &r);
}

bool layer_is_affine(tarn_replica *r, const char *kind, const char *name,
                     const tarn_norm_options *o)
{
    if (o->no_affine)
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "%s %s: no_affine is for batch norms; without weight and bias this is "
                   "tarn_%s_op with TARN_NONE",
                   kind, name, kind);
    return !o->no_affine;
}

char *layer_name(tarn_replica *r, const char *name, const char *part)
{
    const size_t bytes = strlen(name) + strlen(part) + 2;
    char *full = malloc(bytes);
    if (full != NULL)
        snprintf(full, bytes, "%s.%s", name, part);
    else
        graph_fail(r, TARN_ERR_MEMORY, "%s.%s: out of host memory for the name", name, part);
    return full;
}

tarn_tensor layer_parameter(tarn_replica *r, const char *name, const char *part, tarn_shape shape,
                            int fan_in)
{
    char *full = layer_name(r, name, part);
    if (full == NULL)
        return graph_poison(r);
    const tarn_tensor t = tarn_parameter_kaiming(r, full, shape, fan_in);
    free(full);
    return t;
}

tarn_tensor layer_drawn(tarn_replica *r, const char *name, const char *part, tarn_shape shape,
                        tarn_init init)
{
    char *full = layer_name(r, name, part);
    if (full == NULL)
        return graph_poison(r);
    const tarn_tensor t = tarn_parameter_with(r, full, shape, init);
    free(full);
    return t;
}

tarn_tensor layer_filled(tarn_replica *r, enum owned_kind kind, const char *name, const char *part,
                         int n, double value)
{
    char *full = layer_name(r, name, part);
    double *data = full != NULL && n >= 1 ? calloc((size_t)n, sizeof *data) : NULL;
    if (data == NULL) {
        free(full);
        return graph_fail(r, TARN_ERR_MEMORY, "%s.%s: out of host memory for %d values", name, part,
                          n);
    }
    for (int i = 0; i < n; i++)
        data[i] = value;
    const tarn_tensor t = owned_of_values(r, kind, full, TARN_SHAPE(n), data);
    free(data);
    free(full);
    return t;
}
