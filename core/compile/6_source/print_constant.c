/* SPDX-License-Identifier: Apache-2.0 */
/* Constants as OpenCL C, exactly. In: bits of a type. Out: a literal of a register. */
#include <math.h>
#include <string.h>

#include "compile/6_source/print.h"

static void constant_of_64(tarn_dtype dtype, uint64_t bits, struct text *t)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    if (dtype == TARN_I64)
        text_add(t, "(long)(0x%016llxUL)", (unsigned long long)bits);
    else if (isfinite(f))
        text_add(t, "(double)(%a)", f);
    else
        text_add(t, "(double)(as_double(0x%016llxUL))", (unsigned long long)bits);
}

void constant_text(tarn_dtype dtype, uint32_t bits, uint32_t high, int width, struct text *t)
{
    if (dtype_is_wide(dtype)) {
        constant_of_64(dtype, (uint64_t)high << 32 | bits, t);
        return;
    }
    const char *type = register_name(dtype, width);
    float f;
    memcpy(&f, &bits, sizeof f);
    if (dtype != TARN_F32)
        text_add(t, "(%s)(%d)", type, (int)(int32_t)bits);
    else if (isfinite(f))
        text_add(t, "(%s)(%af)", type, (double)f);
    else
        text_add(t, "(%s)(as_float(0x%08xu))", type, bits);
}

void scalar_text(tarn_dtype dtype, double value, int width, struct text *t)
{
    const float single = (float)value;
    uint64_t bits = 0;
    if (dtype == TARN_F64)
        memcpy(&bits, &value, sizeof value);
    else
        memcpy(&bits, &single, sizeof single);
    constant_text(dtype, (uint32_t)bits, (uint32_t)(bits >> 32), width, t);
}
