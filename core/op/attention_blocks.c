/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by blocks of queries: routines (kernels/attention.cl) that have e of a block in memory of a group's own, once in
 * the forward and once in the backward part, so that no memory of L x S is taken, and causal ones leave out blocks that no
 * query sees. Recorded are nodes that name both, the value made of other ops and the operands; the compiler
 * takes the routine where it computes with vectors, and the other ops where not. Bits are the same, but where NaN or
 * infinities of keys meet queries that do not see them. */
#include <string.h>

#include "op/attention.h"
#include "tensor/expand.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

enum { PARTS = 3 }; /* gradients: of q, k, v */

struct sizes {
    int64_t samples, heads; /* heads of a sample */
    int64_t queries, keys, features, width;
};

static struct sizes sizes_of(tarn_shape q, tarn_shape v)
{
    const int last = q.rank - 1;
    struct sizes s = { .samples = 1, .heads = 1 };
    for (int i = 0; i < last - 1; i++)
        *(i == 0 ? &s.samples : &s.heads) *= q.dim[i];
    s.queries = q.dim[last - 1];
    s.keys = v.dim[last - 1];
    s.features = q.dim[last];
    s.width = v.dim[last];
    return s;
}

/* A sum over so many has two levels of chunks; and what a head has of memory is counted in 32 bits. */
#define MOST_LENGTH (SUM_CHUNK * SUM_CHUNK)
/* Scores of a head below which they stay in the caches, as those of all queries do. */
#define FEW_SCORES (SUM_CHUNK * SUM_CHUNK)

bool attention_suits_blocks(const struct attention *a)
{
    const struct sizes s = sizes_of(tarn_shape_get(a->q), tarn_shape_get(a->v));
    return replica_mesh(a->q.replica) == NULL && s.queries >= LANES && s.queries <= MOST_LENGTH &&
           s.keys <= MOST_LENGTH && s.features >= LANES && s.features <= MOST_LENGTH &&
           s.width >= LANES && s.width <= MOST_LENGTH && s.queries * s.keys >= FEW_SCORES;
}

/* ---- routines ------------------------------------------------------------------------------- */

static int64_t whole_registers(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* What both have in common; operands are q, k, v, in the gradient g, and the flags of keys. */
static struct sizes describe(const struct node *n, const tarn_shape *in, const char *name,
                             const char *seen_name, uint32_t operands, struct routine_pass *out)
{
    const struct sizes s = sizes_of(in[0], in[2]);
    const bool seen = n->in_count > operands;
    *out = (struct routine_pass){ .function = seen ? seen_name : name,
                                  .reads = (1U << n->in_count) - 1 };
    const int64_t number[] = { s.heads,
                               s.queries,
                               s.keys,
                               s.features,
                               s.width,
                               n->arg.attention.scale,
                               n->arg.attention.causal };
    memcpy(out->number, number, sizeof number);
    out->numbers = (int)(sizeof number / sizeof *number);
    return s;
}

/* Registers of scores that are computed for one head, each with so many multiply-adds, and what a function takes. */
static double head_cycles(const struct node *n, const struct sizes *s, double terms)
{
    const double scores = (double)s->queries * (double)s->keys / LANES;
    return (n->arg.attention.causal ? scores / 2 : scores) * (terms + LANES);
}

static bool rows_routine(const struct node *n, const tarn_shape *in,
                         const struct routine_place *where, int pass, struct routine_pass *out)
{
    const int64_t block = LANES * where->vectors;
    (void)pass;
    const struct sizes s = describe(n, in, "tarn_attention_all", "tarn_attention_seen", 3, out);
    const int64_t blocks = (s.queries + block - 1) / block;
    out->pieces = (int32_t)(s.samples * s.heads * blocks);
    out->cycles = head_cycles(n, &s, (double)(s.features + s.width)) / (double)blocks;
    out->own = block * (s.features + s.keys);
    /* Exponents are made of q, k and flags: of any that carries the batch they do, and their sum is one of a batch's. */
    out->number[out->numbers++] = (where->batched & ~(1U << 2)) == 0;
    return true;
}

static bool slopes_routine(const struct node *n, const tarn_shape *in,
                           const struct routine_place *where, int pass, struct routine_pass *out)
{
    const int64_t block = LANES * where->vectors;
    (void)pass;
    const struct sizes s =
        describe(n, in, "tarn_attention_grad_all", "tarn_attention_grad_seen", 4, out);
    const int64_t padded = whole_registers(s.features) + whole_registers(s.width);
    out->pieces = (int32_t)(s.samples * s.heads);
    out->cycles = head_cycles(n, &s, (double)(3 * s.features + 2 * s.width));
    out->own = block * (s.features + s.width + 1 + padded + 2 * s.keys) + s.keys * padded;
    return true;
}

/* The compiler's own. */
static const struct op op_attention_rows = {
    .name = "attention", .arity = -1, .kind = OP_ROUTINE, .routine = rows_routine
};
static const struct op op_attention_slopes = {
    .name = "attention_grad", .arity = -1, .kind = OP_ROUTINE, .routine = slopes_routine
};

/* ---- gradients ------------------------------------------------------------------------------ */

static tarn_shape slopes_shape(tarn_shape q, tarn_shape v)
{
    const struct sizes s = sizes_of(q, v);
    q.rank--;
    q.dim[q.rank - 1] = (int32_t)(s.queries * s.features + s.keys * (s.features + s.width));
    return q;
}

/* All three are made at once: the part of this node. */
static uint32_t grad_expand(struct builder *b, const struct node *n, const uint32_t *in)
{
    if (!expand_by_vectors(b))
        return in[0];
    const tarn_shape q = expand_shape(b, in[1]), v = expand_shape(b, in[3]);
    const struct sizes s = sizes_of(q, v);
    tarn_shape shape = slopes_shape(q, v);
    union op_arg arg = n->arg;
    arg.attention.part = 0;
    uint32_t all =
        expand_make(b, &op_attention_slopes, shape, TARN_F32, &arg, in + 1, n->in_count - 1);
    const int64_t begin[PARTS] = { 0, s.queries * s.features,
                                   s.queries * s.features + s.keys * s.features };
    const int64_t length[PARTS] = { s.queries * s.features, s.keys * s.features, s.keys * s.width };
    const uint32_t part = n->arg.attention.part;
    memset(&arg, 0, sizeof arg);
    for (int i = 0; i < shape.rank; i++)
        arg.slice.step[i] = 1;
    arg.slice.start[shape.rank - 1] = (int32_t)begin[part];
    shape.dim[shape.rank - 1] = (int32_t)length[part];
    all = expand_make(b, &op_slice, shape, TARN_F32, &arg, &all, 1);
    return expand_make(b, &op_reshape, n->shape, TARN_F32, NULL, &all, 1);
}

/* Second gradients are those of the other ops. */
static void plain_grad(struct grad_call *c)
{
    c->gin[0] = c->g;
    c->without = ~UINT64_C(1);
}

/* Operands: the part made of other ops, q, k, v, the gradient of [e v, sum of e], and flags of keys or nothing. */
const struct op op_attention_grad = {
    .name = "attention_grad",
    .arity = -1,
    .kind = OP_COMPOSED,
    .grad = plain_grad,
    .expand = grad_expand,
};

/* The same products and sums as autograd.c would record. */
static void record_plain(const struct attention *a, tarn_tensor g, tarn_tensor part[PARTS])
{
    const tarn_shape sv = tarn_shape_get(a->v);
    const int last = sv.rank - 1;
    const int32_t width = sv.dim[last];
    const tarn_tensor of_product = tarn_slice(g, last, 0, width, 1);
    const tarn_tensor of_sum = tarn_slice(g, last, width, width + 1, 1);
    const tarn_tensor e = attention_exponents(a);
    const tarn_tensor of_e = tarn_add(op_matmul_of(of_product, a->v, false, true), of_sum);
    tarn_tensor slope = tarn_mul(of_e, e);
    const tarn_tensor mask = attention_mask(a);
    if (mask.replica != NULL)
        slope = tarn_where(mask, slope, tarn_full(g.replica, TARN_SCALAR, 0.0f));
    part[0] = tarn_mul_scalar(op_matmul_of(slope, a->k, false, false), a->scale);
    part[1] = op_matmul_of(slope, tarn_mul_scalar(a->q, a->scale), true, false);
    part[2] = op_matmul_of(e, of_product, true, false);
}

static void attention_grad(struct grad_call *c)
{
    const bool seen = c->in[4].replica != NULL;
    float scale;
    memcpy(&scale, &c->arg.attention.scale, sizeof scale);
    const struct attention a = { .q = c->in[1],
                                 .k = c->in[2],
                                 .v = c->in[3],
                                 .seen = c->in[4],
                                 .scale = (double)scale,
                                 .causal = c->arg.attention.causal != 0 };
    tarn_tensor part[PARTS];
    record_plain(&a, c->g, part);
    for (uint32_t i = 0; i < PARTS; i++) {
        union op_arg arg = c->arg;
        arg.attention.part = i;
        const tarn_tensor in[] = { part[i], a.q, a.k, a.v, c->g, a.seen };
        if (c->wanted[i + 1])
            c->gin[i + 1] = graph_record(a.q.replica, &op_attention_grad, in, 5 + seen,
                                         tarn_shape_get(c->in[i + 1]), TARN_F32, &arg);
    }
    c->without = 1; /* it comes from the others */
}

/* ---- forward -------------------------------------------------------------------------------- */

static uint32_t attention_expand(struct builder *b, const struct node *n, const uint32_t *in)
{
    if (!expand_by_vectors(b))
        return in[0];
    return expand_make(b, &op_attention_rows, n->shape, TARN_F32, &n->arg, in + 1, n->in_count - 1);
}

/* Operands: the value made of other ops, q, k, v, and flags of keys or nothing. */
const struct op op_attention = {
    .name = "attention",
    .arity = -1,
    .kind = OP_COMPOSED,
    .grad = attention_grad,
    .expand = attention_expand,
};

tarn_tensor attention_by_blocks(const struct attention *a, tarn_tensor plain)
{
    const float scale = (float)a->scale;
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.attention.axis = tarn_shape_get(a->q).rank > 2 ? 1 : 0;
    memcpy(&arg.attention.scale, &scale, sizeof scale);
    arg.attention.causal = a->causal;
    const tarn_tensor in[] = { plain, a->q, a->k, a->v, a->seen };
    return graph_record(plain.replica, &op_attention, in, 4 + (a->seen.replica != NULL),
                        tarn_shape_get(plain), TARN_F32, &arg);
}
