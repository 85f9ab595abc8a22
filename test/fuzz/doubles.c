/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of 64 bits: where one has float32 and int32, the device is given float64 and int64, and what an op makes of
 * the smaller types by itself, such as a position or a random number, is cast. Then bounds are those of double. */
#include <math.h>

#include "generate.h"

tarn_dtype program_type(const struct program *p, tarn_dtype dtype)
{
    return !p->wide ? dtype : dtype == TARN_F32 ? TARN_F64 : dtype == TARN_I32 ? TARN_I64 : dtype;
}

/* A function of floats makes float32 of whole numbers, with errors of that. */
bool program_fits(const struct program *p, const struct line *l)
{
    const char result = op_table[l->op].result;
    if (!p->wide || (result != 'm' && result != 'r') || l->op == OP_ID_cast || l->dtype != TARN_F32)
        return true;
    for (int k = l->op == OP_ID_where; k < l->ins; k++)
        if (p->line[l->in[k]].dtype == TARN_F32)
            return true;
    return false;
}

/* A fraction has digits that float32 does not have. */
double line_scalar(const struct line *l, int k, bool wide)
{
    const double f = (double)l->f[k];
    return wide && f != rint(f) ? f * (1 + 0x1p-30) : f;
}

tarn_tensor wide_value(const struct program *p, const struct line *l, tarn_tensor t)
{
    const tarn_dtype want = program_type(p, l->dtype);
    return !p->wide || l->owned || tarn_failed(t) || tarn_dtype_get(t) == want ? t
                                                                               : tarn_cast(t, want);
}

void choose_wide(struct program *p, unsigned long long seed, int form)
{
    unsigned long long random = seed * 32452843 + 7;
    const bool fits = p->world == 1 && p->shards == 0 && !p->mesh && p->half == TARN_F32;
    p->wide = form > 0 || (form == 0 && fits && fuzz_random(&random) < 0.2);
}
