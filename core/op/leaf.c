/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves: buffers, owned tensors, constants, per-step numbers, counters and random values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"
#include "tensor/wide.h"

const struct op op_input = { .name = "input", .kind = OP_LEAF, .in_memory = true };
const struct op op_owned = { .name = "owned", .kind = OP_LEAF, .in_memory = true };
const struct op op_constant = { .name = "constant", .kind = OP_LEAF };
const struct op op_number = { .name = "number", .kind = OP_LEAF };
const struct op op_iota = { .name = "iota", .kind = OP_LEAF };
/* Element i is tarn_uniform(key, i) of kernels/random.cl, i its position. The key is derived from the seed, the
 * training step, the step since then that drew numbers, the replica, and the serial
 * (random_key_now()). */
const struct op op_rand = { .name = "rand", .kind = OP_LEAF };

static tarn_tensor record(tarn_replica *r, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                          const union op_arg *arg)
{
    return graph_record(r, op, NULL, 0, shape, dtype, arg);
}

static union op_arg no_arg(void)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    return arg;
}

static tarn_tensor constant_of_64(tarn_replica *r, tarn_shape shape, tarn_dtype dtype, double value)
{
    union op_arg arg = no_arg();
    const bool fits = value >= -0x1p63 && value < 0x1p63;
    const int64_t whole = fits ? (int64_t)value : 0;
    uint64_t bits;
    memcpy(&bits, dtype == TARN_F64 ? (const void *)&value : (const void *)&whole, sizeof bits);
    arg.leaf.bits = (uint32_t)bits;
    arg.leaf.slot = (uint32_t)(bits >> 32);
    return record(r, &op_constant, shape, dtype, &arg);
}

tarn_tensor op_constant_of(tarn_replica *r, tarn_shape shape, tarn_dtype dtype, double value)
{
    union op_arg arg = no_arg();
    const float f = (float)value;
    if (dtype_is_wide(dtype))
        return constant_of_64(r, shape, dtype, value);
    const bool fits = value >= (double)INT32_MIN && value <= (double)INT32_MAX;
    const int32_t i = fits ? (int32_t)value : 0;
    if (dtype == TARN_F32)
        memcpy(&arg.leaf.bits, &f, sizeof f);
    else
        memcpy(&arg.leaf.bits, &i, sizeof i);
    if (dtype == TARN_U8)
        arg.leaf.bits &= 255;
    if (dtype_is_half(dtype))
        arg.leaf.bits = half_from_float(f, dtype);
    return record(r, &op_constant, shape, dtype, &arg);
}

tarn_tensor op_whole(tarn_replica *r, int32_t value)
{
    return op_constant_of(r, TARN_SCALAR, TARN_I32, value);
}

tarn_tensor op_iota_of(tarn_replica *r, tarn_shape shape, int axis)
{
    union op_arg arg = no_arg();
    arg.position.at.stride[axis] = 1;
    return record(r, &op_iota, shape, TARN_I32, &arg);
}

tarn_tensor tarn_from(tarn_replica *r, tarn_shape shape, tarn_dtype dtype, const void *data)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "from: the replica is NULL");
    if (r->status != TARN_OK)
        return graph_poison(r);
    if (!shape_valid(shape) || tarn_dtype_bytes(dtype) == 0)
        return graph_fail(r, tarn_dtype_bytes(dtype) ? TARN_ERR_SHAPE : TARN_ERR_DTYPE,
                          "from: %s %s is not a legal tensor", tarn_dtype_name(dtype),
                          shape_text(shape));
    if (!wide_possible(r, "from", dtype))
        return graph_poison(r);
    const size_t bytes = shape_bytes(shape, dtype);
    if (data == NULL && bytes)
        return graph_fail(r, TARN_ERR_ARGUMENT, "from: data is NULL for %s", shape_text(shape));
    struct buffer *b = NULL;
    const tarn_status s = buffer_new_of(r->context, bytes, data, &b);
    if (s != TARN_OK) {
        replica_fail(r, s, NULL);
        return graph_poison(r);
    }
    return graph_input(r, b, NULL, true, shape, dtype);
}

tarn_tensor tarn_full(tarn_replica *r, tarn_shape shape, float value)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "full: the replica is NULL");
    return op_constant_of(r, shape, TARN_F32, (double)value);
}

tarn_tensor tarn_zeros(tarn_replica *r, tarn_shape shape)
{
    return tarn_full(r, shape, 0.0f);
}

tarn_tensor tarn_zeros_like(tarn_tensor x)
{
    if (!graph_operand(NULL, x, "zeros_like", 0))
        return graph_poison(x.replica);
    return op_constant_of(x.replica, tarn_shape_get(x), tarn_dtype_get(x), 0);
}

tarn_tensor tarn_ones(tarn_replica *r, tarn_shape shape)
{
    return tarn_full(r, shape, 1.0f);
}

tarn_tensor tarn_number(tarn_replica *r, float value)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "number: the replica is NULL");
    struct graph *g = &r->graph;
    if (g->number_count == g->number_capacity) {
        const uint32_t capacity = g->number_capacity ? 2 * g->number_capacity : 16;
        float *bigger = realloc(g->numbers, (size_t)capacity * sizeof *bigger);
        if (bigger == NULL)
            return graph_fail(r, TARN_ERR_MEMORY, "number: out of host memory");
        g->numbers = bigger;
        g->number_capacity = capacity;
    }
    union op_arg arg = no_arg();
    arg.leaf.slot = g->number_count;
    g->numbers[g->number_count++] = value;
    return record(r, &op_number, TARN_SCALAR, TARN_F32, &arg);
}

double op_scalar_of(tarn_dtype dtype, double value)
{
    return dtype_is_float(dtype) && dtype != TARN_F64 ? (double)(float)value : value;
}

double op_meant(float value)
{
    const double magnitude = fabs((double)value);
    const int first = magnitude > 0 && isfinite(value) ? (int)floor(log10(magnitude)) : 0;
    for (int places = -first; places < 9 - first; places++) {
        /* Powers of ten up to 22 are exact, so the quotient is the decimal rounded once. */
        const double power = pow(10.0, places);
        if (places < 0 || places > 22)
            continue;
        const double decimal = round((double)value * power) / power;
        if ((float)decimal == value)
            return decimal;
    }
    return (double)value;
}

/* Three floats have all bits of a double. */
tarn_tensor op_number_of(tarn_replica *r, tarn_dtype dtype, double value)
{
    tarn_tensor sum = tarn_number(r, (float)value);
    if (dtype != TARN_F64)
        return sum;
    sum = tarn_cast(sum, TARN_F64);
    double rest = value - (double)(float)value;
    for (int i = 0; i < 2; i++) {
        const float part = isfinite(rest) ? (float)rest : 0.0f;
        sum = tarn_add(sum, tarn_cast(tarn_number(r, part), TARN_F64));
        rest -= (double)part;
    }
    return sum;
}

tarn_tensor tarn_arange(tarn_replica *r, int32_t n)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "arange: the replica is NULL");
    return op_iota_of(r, TARN_SHAPE(n), 0);
}

/* Whether so many samples are this replica's part of a batch of this step. */
static bool is_part(const struct graph *g, int32_t samples)
{
    for (uint32_t i = 0; i < g->part_count; i++) {
        if (g->parts[i].samples == samples)
            return true;
    }
    return false;
}

tarn_tensor tarn_rand(tarn_replica *r, tarn_shape shape)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "rand: the replica is NULL");
    union op_arg arg = no_arg();
    if (!shape_valid(shape))
        return record(r, &op_rand, shape, TARN_F32, &arg); /* which refuses it */
    arg.position.serial = r->graph.rand_count++;
    shape_strides(shape, arg.position.at.stride);
    /* With virtual shards a sample draws the same numbers on whichever replica it is. */
    const struct peers *p = r->peers;
    if (p != NULL && p->shards && p->world > 1 && shape.rank > 0 &&
        is_part(&r->graph, shape.dim[0]))
        arg.position.at.step[0] = (int32_t)tarn_shape_count(shape);
    return record(r, &op_rand, shape, TARN_F32, &arg);
}
