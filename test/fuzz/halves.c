/* SPDX-License-Identifier: Apache-2.0 */
/* Half types in random programs: which type a line has, what is rounded on the tape, and how lines are drawn. */
#include <math.h>

#include "generate.h"
#include "interpret.h"

bool program_half(tarn_dtype dtype)
{
    return dtype == TARN_F16 || dtype == TARN_BF16;
}

bool program_floats(tarn_dtype dtype)
{
    return dtype == TARN_F32 || program_half(dtype);
}

/* ---- types of lines ------------------------------------------------------------------------- */

tarn_dtype program_amp(const struct program *p, int i)
{
    for (int k = i - 1; k >= 0; k--)
        if (p->line[k].op == OP_ID_autocast || p->line[k].op == OP_ID_autocast_end)
            return p->line[k].op == OP_ID_autocast ? (tarn_dtype)p->line[k].arg[0] : TARN_F32;
    return TARN_F32;
}

static tarn_dtype join(tarn_dtype a, tarn_dtype b)
{
    if (program_floats(a) && program_floats(b))
        return a == b ? a : TARN_F32;
    if (program_floats(a) || program_floats(b))
        return program_floats(a) ? a : b;
    return a == TARN_I32 ? a : b;
}

tarn_dtype program_promoted(const struct program *p, const struct line *l, int first)
{
    tarn_dtype all = TARN_U8, tensors = TARN_U8;
    for (int k = first; k < l->ins; k++) {
        const struct line *x = &p->line[l->in[k]];
        all = join(all, x->dtype);
        if (x->shape.rank > 0)
            tensors = join(tensors, x->dtype);
    }
    return program_floats(tensors) ? tensors : all;
}

tarn_dtype program_product(const struct line *l, tarn_dtype a, tarn_dtype b)
{
    return l->amp != TARN_F32 ? l->amp : join(a, b);
}

tarn_dtype program_wide(const struct line *l, tarn_dtype x)
{
    return l->amp != TARN_F32 ? TARN_F32 : x;
}

bool program_takes_wide(enum op_id op)
{
    return op == OP_ID_exp || op == OP_ID_expm1 || op == OP_ID_log || op == OP_ID_log1p ||
           op == OP_ID_pow || op == OP_ID_pow_scalar || op == OP_ID_rsqrt || op == OP_ID_softplus;
}

/* ---- values --------------------------------------------------------------------------------- */

static enum tape_half type_of(tarn_dtype dtype)
{
    return dtype == TARN_F16 ? HALF_F16 : dtype == TARN_BF16 ? HALF_BF16 : HALF_NONE;
}

int interpret_half(struct tape *t, int x, tarn_dtype dtype)
{
    return x < 0 || !program_half(dtype) ? x : tape_round(t, x, type_of(dtype));
}

int interpret_map_half(struct tape *t, int y, tarn_dtype dtype)
{
    if (y >= 0)
        t->node[y].kept = type_of(dtype);
    return interpret_half(t, y, dtype);
}

int interpret_kept(struct tape *t, const struct line *l, int y)
{
    const bool map = op_table[l->op].result == 'm' && l->op != OP_ID_cast;
    return map ? interpret_map_half(t, y, l->dtype) : interpret_half(t, y, l->dtype);
}

double program_rounded(double v, tarn_dtype dtype)
{
    return program_half(dtype) ? half_nearest(v, type_of(dtype)) : v;
}

double half_value(unsigned bits, tarn_dtype dtype)
{
    const int digits = dtype == TARN_F16 ? 10 : 7, bias = dtype == TARN_F16 ? 15 : 127;
    const int exponent = (int)(bits >> digits & (2u * (unsigned)bias + 1));
    const unsigned rest = bits & ((1u << digits) - 1);
    double v = exponent == 2 * bias + 1 ? (rest ? NAN : INFINITY)
               : exponent == 0          ? ldexp(rest, 1 - bias - digits)
                                        : ldexp(rest + (1u << digits), exponent - bias - digits);
    return bits >> 15 ? -v : v;
}

uint16_t half_bits(double v, tarn_dtype dtype)
{
    for (unsigned bits = 0; bits < 0x10000; bits++)
        if (half_value(bits, dtype) == v && signbit(half_value(bits, dtype)) == signbit(v))
            return (uint16_t)bits;
    return 0x7fff; /* a NaN */
}

bool half_autocast(tarn_replica *r, const struct line *l)
{
    if (l->op == OP_ID_autocast)
        tarn_autocast(r, (tarn_dtype)l->arg[0]);
    else
        tarn_autocast_end(r);
    return true;
}

/* ---- drawn ---------------------------------------------------------------------------------- */

tarn_dtype some_half(struct generator *g)
{
    const tarn_dtype other = g->p->half == TARN_F16 ? TARN_BF16 : TARN_F16;
    return chance(g, 85) ? g->p->half : other;
}

void some_autocast(struct generator *g)
{
    const struct line l = { .op = chance(g, 70) ? OP_ID_autocast : OP_ID_autocast_end,
                            .arg = { (int)some_half(g) } };
    try_line(g, l);
}

static int scaled(struct generator *g, int x, float factor)
{
    return try_line(
        g, (struct line){ .op = OP_ID_mul_scalar, .in = { x }, .ins = 1, .f = { factor } });
}

/* A line in a half type; of float16 also among its subnormal numbers, and beyond its largest. */
int grow_half(struct generator *g, int a)
{
    const tarn_dtype type = some_half(g);
    const int h =
        try_line(g, (struct line){ .op = OP_ID_cast, .in = { a }, .ins = 1, .arg = { (int)type } });
    if (h < 0 || type != TARN_F16 || !chance(g, 40))
        return h;
    const bool small = chance(g, 50);
    const int y = scaled(g, h, small ? 0x1p-18f : 40000);
    if (y < 0)
        return h;
    try_op(g, OP_ID_output, y, -1);
    const int back =
        small ? scaled(g, y, 0x1p18f)
              : try_line(g, (struct line){
                                .op = OP_ID_clamp, .in = { y }, .ins = 1, .f = { -0.7f, 1.3f } });
    return back >= 0 ? back : h;
}

void choose_half(struct program *p, unsigned long long seed, int form)
{
    unsigned long long random = seed * 15485863 + 11;
    const bool drawn = fuzz_random(&random) < 0.25;
    p->half = form > 0 || (form == 0 && drawn && p->world == 1 && p->shards == 0 && !p->mesh)
                  ? (fuzz_random(&random) < 0.5 ? TARN_F16 : TARN_BF16)
                  : TARN_F32;
}
