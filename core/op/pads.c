/* SPDX-License-Identifier: Apache-2.0 */
/* Elements before and behind an axis that come from the axis itself; constant ones are a view (view.c). */
#include "op/op.h"
#include "tensor/shape.h"

/* `count` elements that come before an axis, or behind it. */
typedef tarn_tensor end_fn(tarn_tensor x, int axis, int32_t count, bool before);

struct pad {
    const char *name, *most; /* how many elements there may be at an end */
    int32_t beyond;          /* may be as many as the axis has, and so many more */
    end_fn *end;
};

static tarn_tensor part_of(tarn_tensor x, int axis, int32_t first, int32_t count)
{
    return tarn_slice(x, axis, first, first + count, 1);
}

/* Those behind the first one, or before the last one, in reverse order. */
static tarn_tensor reflected(tarn_tensor x, int axis, int32_t count, bool before)
{
    const int32_t extent = tarn_shape_get(x).dim[axis];
    return tarn_flip(part_of(x, axis, before ? 1 : extent - 1 - count, count), TARN_AXES(axis));
}

static tarn_tensor wrapped(tarn_tensor x, int axis, int32_t count, bool before)
{
    return part_of(x, axis, before ? tarn_shape_get(x).dim[axis] - count : 0, count);
}

static tarn_tensor repeated(tarn_tensor x, int axis, int32_t count, bool before)
{
    tarn_shape s = tarn_shape_get(x);
    const tarn_tensor end = part_of(x, axis, before ? 0 : s.dim[axis] - 1, 1);
    s.dim[axis] = count;
    return tarn_broadcast_to(end, s);
}

static bool fits(const struct pad *p, tarn_shape s, tarn_shape low, tarn_shape high)
{
    if (low.rank != s.rank || high.rank != s.rank)
        return false;
    for (int d = 0; d < s.rank; d++) {
        const int64_t more = low.dim[d] > high.dim[d] ? low.dim[d] : high.dim[d];
        const int64_t most = (int64_t)s.dim[d] + p->beyond;
        if (low.dim[d] < 0 || high.dim[d] < 0 || (more > 0 && (s.dim[d] < 1 || more > most)))
            return false;
    }
    return true;
}

static tarn_tensor pad(const struct pad *p, tarn_tensor x, tarn_shape low, tarn_shape high)
{
    if (!graph_operand(NULL, x, p->name, 0))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    if (!fits(p, s, low, high))
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "%s: %s by %s and %s: for each axis a number from 0 to %s", p->name,
                          shape_text(s), shape_text(low), shape_text(high), p->most);
    for (int d = 0; d < s.rank; d++) {
        tarn_tensor parts[3];
        int count = 0;
        if (low.dim[d] > 0)
            parts[count++] = p->end(x, d, low.dim[d], true);
        parts[count++] = x;
        if (high.dim[d] > 0)
            parts[count++] = p->end(x, d, high.dim[d], false);
        x = count > 1 ? tarn_concat(parts, count, d) : x;
    }
    return graph_value(x);
}

tarn_tensor tarn_pad_reflect(tarn_tensor x, tarn_shape low, tarn_shape high)
{
    static const struct pad reflect = { "pad_reflect", "its length less one", -1, reflected };
    return pad(&reflect, x, low, high);
}

tarn_tensor tarn_pad_circular(tarn_tensor x, tarn_shape low, tarn_shape high)
{
    static const struct pad circular = { "pad_circular", "its length", 0, wrapped };
    return pad(&circular, x, low, high);
}

tarn_tensor tarn_pad_replicate(tarn_tensor x, tarn_shape low, tarn_shape high)
{
    static const struct pad replicate = { "pad_replicate", "2^24, if it has elements", 1 << 24,
                                          repeated };
    return pad(&replicate, x, low, high);
}
