/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes by value: building, checking, broadcasting, printing. */
#include <stdio.h>
#include <string.h>

#include "tensor/shape.h"

#define TEXTS 8
#define TEXT_BYTES 128

tarn_shape tarn_shape_of(int rank, const int32_t *dims)
{
    tarn_shape s = { .rank = rank };
    for (int i = 0; i < rank && i < TARN_MAX_RANK && dims != NULL; i++)
        s.dim[i] = dims[i];
    return s;
}

int64_t tarn_shape_count(tarn_shape shape)
{
    int64_t count = 1;
    bool overflow = false;
    for (int i = 0; i < shape.rank && i < TARN_MAX_RANK; i++) {
        if (shape.dim[i] == 0)
            return 0;
        overflow |= __builtin_mul_overflow(count, (int64_t)shape.dim[i], &count);
    }
    return overflow ? INT64_MAX : count;
}

bool shape_valid(tarn_shape s)
{
    if (s.rank < 0 || s.rank > TARN_MAX_RANK)
        return false;
    for (int i = 0; i < s.rank; i++) {
        if (s.dim[i] < 0)
            return false;
    }
    return tarn_shape_count(s) <= INT32_MAX;
}

size_t shape_bytes(tarn_shape s, tarn_dtype dtype)
{
    return (size_t)tarn_shape_count(s) * tarn_dtype_bytes(dtype);
}

void shape_strides(tarn_shape s, int32_t stride[TARN_MAX_RANK])
{
    uint32_t step = 1;
    for (int d = s.rank - 1; d >= 0; d--) {
        stride[d] = (int32_t)step;
        step *= (uint32_t)s.dim[d];
    }
}

bool shape_equal(tarn_shape a, tarn_shape b)
{
    if (a.rank != b.rank || a.rank < 0 || a.rank > TARN_MAX_RANK)
        return false;
    return memcmp(a.dim, b.dim, (size_t)a.rank * sizeof a.dim[0]) == 0;
}

bool shape_broadcast(tarn_shape a, tarn_shape b, tarn_shape *out)
{
    tarn_shape s = { .rank = a.rank > b.rank ? a.rank : b.rank };
    for (int i = 0; i < s.rank; i++) {
        const int ia = i - (s.rank - a.rank), ib = i - (s.rank - b.rank);
        const int32_t da = ia < 0 ? 1 : a.dim[ia], db = ib < 0 ? 1 : b.dim[ib];
        if (da != db && da != 1 && db != 1)
            return false;
        s.dim[i] = da == 1 ? db : da;
    }
    *out = s;
    return true;
}

const char *shape_text(tarn_shape s)
{
    static _Thread_local char texts[TEXTS][TEXT_BYTES];
    static _Thread_local unsigned turn;
    char *text = texts[turn++ % TEXTS];
    if (s.rank < 0 || s.rank > TARN_MAX_RANK) {
        snprintf(text, TEXT_BYTES, "[rank %d]", (int)s.rank);
        return text;
    }
    size_t at = 0;
    text[at++] = '[';
    for (int i = 0; i < s.rank; i++) {
        const int n = snprintf(text + at, TEXT_BYTES - at, "%s%d", i ? "," : "", (int)s.dim[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    text[at++] = ']';
    text[at] = 0;
    return text;
}
