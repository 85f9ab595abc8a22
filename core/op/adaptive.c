/* SPDX-License-Identifier: Apache-2.0 */
/* Pools to a size: windows that begin and end where rows of the result do in x, so that lengths differ by one. */
#include "op/op.h"
#include "tensor/shape.h"

#define LENGTH_MOST 32767 /* its square is an int32 */

/* Of the windows of an axis; window i is from i * in / out, rounded down, to (i + 1) * in / out, rounded up. */
static int32_t longest(int32_t in, int32_t out)
{
    int32_t most = 0;
    for (int32_t i = 0; i < out; i++) {
        const int32_t length = ((i + 1) * in + out - 1) / out - i * in / out;
        most = length > most ? length : most;
    }
    return most;
}

/* Windows that are no equal pieces, along the last axis: their elements are gathered, as many for each as the longest
 * has; of shorter ones the last again, which changes no maximum, and is none of a mean. */
static tarn_tensor over_gathered(tarn_tensor x, int32_t out, bool mean)
{
    tarn_replica *r = x.replica;
    tarn_shape s = tarn_shape_get(x);
    const int32_t in = s.dim[3], length = longest(in, out);
    const tarn_tensor o = tarn_arange(r, out), one = op_whole(r, 1);
    const tarn_tensor first = tarn_div(tarn_mul(o, op_whole(r, in)), op_whole(r, out));
    const tarn_tensor above =
        tarn_add(tarn_mul(tarn_add(o, one), op_whole(r, in)), op_whole(r, out - 1));
    const tarn_tensor end = tarn_div(above, op_whole(r, out));
    const tarn_shape column = TARN_SHAPE(out, 1);
    const tarn_tensor place = tarn_add(tarn_reshape(first, column), tarn_arange(r, length));
    const tarn_tensor last = tarn_reshape(tarn_sub(end, one), column);
    const tarn_tensor index = tarn_flatten(tarn_minimum(place, last), 0);
    tarn_tensor all = tarn_reshape(tarn_index_select(x, 3, index),
                                   TARN_SHAPE(s.dim[0], s.dim[1], s.dim[2], out, length));
    if (mean)
        all = tarn_where(tarn_le(place, last), all,
                         op_constant_of(r, TARN_SCALAR, tarn_dtype_get(x), 0.0));
    const tarn_tensor y = op_reduce(mean ? &op_sum : &op_max_first, all, UINT32_C(1) << 4);
    if (tarn_failed(y))
        return y;
    s.dim[3] = out;
    const tarn_tensor flat = tarn_reshape(y, s);
    return mean ? tarn_div(flat, tarn_cast(tarn_sub(end, first), tarn_dtype_get(x))) : flat;
}

static tarn_tensor along(tarn_tensor x, int axis, int32_t out, bool mean)
{
    const int32_t in = tarn_failed(x) ? out : tarn_shape_get(x).dim[axis];
    if (in == out)
        return x;
    if (in % out == 0) {
        const int32_t window = in / out;
        const tarn_pool_options o = { .window = { axis == 2 ? window : 1,
                                                  axis == 2 ? 1 : window } };
        return mean ? tarn_avg_pool2d_with(x, o) : tarn_max_pool2d_with(x, o);
    }
    if (axis == 3)
        return over_gathered(x, out, mean);
    const tarn_tensor y = over_gathered(tarn_transpose(x, 2, 3), out, mean);
    return tarn_failed(y) ? y : tarn_transpose(y, 2, 3);
}

static bool sizes_fit(tarn_tensor x, const char *name, int high, int wide)
{
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank != 4 || !dtype_is_float(tarn_dtype_get(x))) {
        graph_fail(x.replica, s.rank != 4 ? TARN_ERR_SHAPE : TARN_ERR_DTYPE,
                   "%s: x is %s %s, must be float32 [N, C, H, W]", name,
                   tarn_dtype_name(tarn_dtype_get(x)), shape_text(s));
        return false;
    }
    const int size[2] = { high, wide };
    int64_t columns = 1; /* of x, or of all windows, which is more */
    bool fits = true;
    for (int i = 0; i < 2; i++) {
        const int32_t in = s.dim[2 + i];
        fits = fits && in >= 1 && size[i] >= 1 && size[i] <= LENGTH_MOST &&
               (in % size[i] == 0 || in <= LENGTH_MOST);
        columns *= fits ? (int64_t)in + 2 * (int64_t)size[i] : 1;
    }
    const double all = (double)s.dim[0] * (double)s.dim[1] * (double)columns;
    if (fits && all <= INT32_MAX)
        return true;
    graph_fail(x.replica, TARN_ERR_ARGUMENT, "%s: %s to %d x %d: lengths must be from 1 to %d%s",
               name, shape_text(s), high, wide, LENGTH_MOST,
               fits ? ", and all windows have less than 2^31 elements" : "");
    return false;
}

static tarn_tensor pooled(tarn_tensor x, const char *name, int high, int wide, bool mean)
{
    if (!graph_operand(NULL, x, name, 0) || !sizes_fit(x, name, high, wide))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    if (high == 1 && wide == 1)
        return mean ? tarn_global_avg_pool(x) : tarn_global_max_pool(x);
    if (s.dim[2] % high == 0 && s.dim[3] % wide == 0) {
        const tarn_pool_options o = { .window = { s.dim[2] / high, s.dim[3] / wide } };
        return mean ? tarn_avg_pool2d_with(x, o) : tarn_max_pool2d_with(x, o);
    }
    /* Columns first: so the first of equal maxima is that of the first row. */
    tarn_dtype of = tarn_dtype_get(x);
    const tarn_tensor values = mean ? op_wide(x, &of) : x;
    const tarn_tensor y = along(along(values, 3, wide, mean), 2, high, mean);
    return tarn_failed(y) ? y : op_as(y, of);
}

tarn_tensor tarn_adaptive_avg_pool2d(tarn_tensor x, int high, int wide)
{
    return pooled(x, "adaptive_avg_pool2d", high, wide, true);
}

tarn_tensor tarn_adaptive_max_pool2d(tarn_tensor x, int high, int wide)
{
    return pooled(x, "adaptive_max_pool2d", high, wide, false);
}
