/* SPDX-License-Identifier: Apache-2.0 */
/* Losses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "more.h"

static int constant(struct tape *t, int like, double v)
{
    return tape_full(t, t->node[like].count, v, 0);
}

/* ---- cross entropy: arg is ignore, ignore_index, reduction; f[0] the smoothing ----------------- */

static bool classes_shape(const struct program *p, struct line *l)
{
    const struct line *x = operand_of(p, l, 0), *y = operand_of(p, l, 1);
    const tarn_shape s = x->shape;
    if (x->dtype != TARN_F32 || program_floats(y->dtype) || s.rank < 2 ||
        y->shape.rank != s.rank - 1 || tarn_shape_count(s) == 0)
        return false;
    for (int d = 0; d < s.rank; d++)
        if (d != 1 && y->shape.dim[d > 1 ? d - 1 : 0] != s.dim[d])
            return false;
    if (l->arg[2] == TARN_LOSS_NONE)
        l->shape = y->shape;
    const struct line *w = l->ins > 2 ? operand_of(p, l, 2) : NULL;
    return w == NULL || (w->dtype == TARN_F32 && w->shape.rank == 1 && w->shape.dim[0] == s.dim[1]);
}

/* Which class element i of [N, C, ...] is of, and which target. */
static void place(tarn_shape s, int i, int *class, int *target)
{
    int inner = 1;
    for (int d = 2; d < s.rank; d++)
        inner *= s.dim[d];
    *class = i / inner % s.dim[1];
    *target = i / inner / s.dim[1] * inner + i % inner;
}

/* Elements of logp, added up, each to the target that it is of, or, unless that is wanted, to one sum. */
static int total(struct tape *t, const struct line *l, tarn_shape s, int logp, int count,
                 int *index, double scale)
{
    const bool each = l->arg[2] == TARN_LOSS_NONE;
    const int x = tape_gather(t, logp, count, index, 0);
    for (int i = 0; i < count; i++) {
        int class, target;
        place(s, index[i], &class, &target);
        index[i] = each ? target : 0;
    }
    const int sums = each ? (int)tarn_shape_count(l->shape) : 1;
    return tape_scale(t, tape_scatter(t, x, sums, index), scale);
}

static int cross_entropy_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const tarn_shape s = shape_of(m, l, 0);
    const int target = interpret_operand(m, l, 1), n = (int)tarn_shape_count(s);
    const double smoothing = (double)l->f[0];
    int hits = 0, counted = 0, all = 0;
    int *hit = calloc(3 * (size_t)n + 1, sizeof *hit), *every = hit + n, *of = every + n;
    if (hit == NULL)
        abort();
    bool doubt = false;
    for (int i = 0; i < n; i++) {
        int class, at;
        place(s, i, &class, &at);
        const double k = t->node[target].v[at];
        doubt |= t->node[target].e[at] > 0;
        const bool ignored = l->arg[0] != 0 && k == l->arg[1];
        counted += class == 0 && !ignored;
        if (!ignored)
            every[all++] = i;
        if (!ignored && k == class) {
            of[hits] = class;
            hit[hits++] = i;
        }
    }
    int logp = interpret_operand(m, l, 0);
    if (l->op == OP_ID_cross_entropy_with)
        logp = softmax(t, logp, s, 1, true);
    int size = tape_full(t, 1, counted, 0);
    if (l->ins > 2) {
        const int w = interpret_operand(m, l, 2);
        logp = tape_map2(t, T_MUL, logp, along(t, w, s, 1));
        size = scaled_sum(t, tape_gather(t, w, hits, of, 0), 1);
    }
    int sum = total(t, l, s, logp, hits, hit, (double)(1 - l->f[0]));
    if (smoothing > 0) {
        const double part = smoothing / s.dim[1]; /* of which float32 takes the nearest number */
        const int rest = total(t, l, s, logp, all, every, m->p->wide ? part : (double)(float)part);
        sum = tape_map2(t, T_ADD, sum, rest);
        for (int k = 0; k < 4; k++) /* the library scales each term, and adds up pairs */
            for (int i = 0; i < t->node[sum].count; i++)
                t->node[sum].e[i] += t->node[rest].e[i] + tape_unit(t) * fabs(t->node[rest].v[i]);
    }
    free(hit);
    const bool mean = l->arg[2] == TARN_LOSS_MEAN;
    if (doubt || (mean && l->ins < 3 && counted == 0))
        return -1;
    const int loss = tape_map(t, T_NEG, sum);
    return mean ? tape_map2(t, T_DIV, loss, size) : loss;
}

static tarn_tensor cross_entropy_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_cross_entropy_options o = { l->arg[0] != 0, l->arg[1], l->f[0],
                                           l->ins > 2 ? in[2] : TARN_NONE,
                                           (tarn_loss_reduction)l->arg[2] };
    return l->op == OP_ID_nll_loss_with ? tarn_nll_loss_with(in[0], in[1], o)
                                        : tarn_cross_entropy_with(in[0], in[1], o);
}

static bool cross_entropy_grow(struct generator *g, struct line *l, int a)
{
    tarn_shape s = shape_of_line(g, a);
    const bool fits = s.rank >= 2 && s.rank < 5 && g->p->line[a].dtype == TARN_F32;
    if (!fits)
        s = chance(g, 50) ? TARN_SHAPE(g->batch, 1 + below(g, 5))
                          : TARN_SHAPE(g->batch, 1 + below(g, 4), 1 + below(g, 3), 2);
    l->in[0] = fits ? a : leaf_of(g, s);
    tarn_shape t = s;
    t.rank--;
    memmove(t.dim + 1, s.dim + 2, (size_t)(s.rank - 2) * sizeof s.dim[0]);
    l->in[1] = new_leaf(g, t, TARN_I32, FILL_INDEX, s.dim[1] + chance(g, 10));
    l->ins = chance(g, 50) ? 3 : 2;
    if (l->ins == 3)
        l->in[2] = new_leaf(g, TARN_SHAPE(s.dim[1]), TARN_F32, FILL_POSITIVE, 0);
    l->arg[0] = chance(g, 60);
    l->arg[2] = chance(g, 50) ? TARN_LOSS_MEAN : below(g, 3);
    l->arg[1] = l->arg[0] == 0 ? 0 : chance(g, 70) ? below(g, s.dim[1]) : -100;
    l->f[0] = chance(g, 50) ? 0.125f : 0;
    return true;
}

/* ---- two tensors of one shape: arg[2] is the reduction ----------------------------------------- */

static int any_reduction(struct generator *g)
{
    return chance(g, 40) ? TARN_LOSS_MEAN : below(g, 3);
}

static int reduced(struct tape *t, const struct line *l, int each)
{
    return l->arg[2] == TARN_LOSS_NONE  ? each
           : l->arg[2] == TARN_LOSS_SUM ? scaled_sum(t, each, 1)
                                        : mean_of(t, each);
}

static bool pair_shape(const struct program *p, struct line *l)
{
    tarn_shape s;
    const struct line *x = operand_of(p, l, 0), *w = l->ins > 2 ? operand_of(p, l, 2) : NULL;
    if (l->arg[2] == TARN_LOSS_NONE)
        l->shape = x->shape;
    return all_floats(p, l) && same_shape(x->shape, operand_of(p, l, 1)->shape) &&
           tarn_shape_count(x->shape) > 0 && (l->op != OP_ID_kl_div || x->shape.rank > 0) &&
           (w == NULL || (broadcast_shape(x->shape, w->shape, &s) && same_shape(s, x->shape)));
}

static int bce_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const int x = interpret_operand(m, l, 0), y = interpret_operand(m, l, 1),
              one = constant(t, x, 1);
    /* log(1 + exp(-x)) */
    int soft = tape_map(t, T_LOG1P, tape_map(t, T_EXP, tape_map(t, T_NEG, x)));
    if (l->ins > 2) {
        const int p =
            spread_to(t, interpret_operand(m, l, 2), shape_of(m, l, 2), shape_of(m, l, 0));
        const int more = tape_map2(t, T_MUL, tape_map2(t, T_SUB, p, one), y);
        soft = tape_map2(t, T_MUL, tape_map2(t, T_ADD, more, one), soft);
    }
    const int rest = tape_map2(t, T_MUL, tape_map2(t, T_SUB, one, y), x);
    int each = tape_map2(t, T_ADD, rest, soft);
    if (l->ins > 3)
        each = tape_map2(
            t, T_MUL, each,
            spread_to(t, interpret_operand(m, l, 3), shape_of(m, l, 3), shape_of(m, l, 0)));
    return reduced(t, l, each);
}

static tarn_tensor bce_call(const struct line *l, const tarn_tensor *in)
{
    if (l->op == OP_ID_bce_with_logits)
        return tarn_bce_with_logits(in[0], in[1], l->ins > 2 ? in[2] : TARN_NONE);
    return tarn_bce_with_logits_with(
        in[0], in[1],
        (tarn_bce_options){ .pos_weight = l->ins > 2 ? in[2] : TARN_NONE,
                            .weight = l->ins > 3 ? in[3] : TARN_NONE,
                            .reduction = (tarn_loss_reduction)l->arg[2] });
}

static bool bce_grow(struct generator *g, struct line *l, int a)
{
    const tarn_shape s = shape_of_line(g, a);
    l->in[1] = chance(g, 50) ? leaf_of(g, s) : new_leaf(g, s, TARN_F32, FILL_INDEX, 2);
    l->ins = chance(g, 40) && s.rank > 0 ? 3 : 2;
    if (l->ins == 3)
        l->in[2] = new_leaf(g, TARN_SHAPE(s.dim[s.rank - 1]), TARN_F32, FILL_POSITIVE, 0);
    if (l->op == OP_ID_bce_with_logits_with) {
        l->arg[2] = any_reduction(g);
        if (l->ins == 3 && chance(g, 60))
            l->in[l->ins++] = new_leaf(g, s, TARN_F32, FILL_POSITIVE, 0);
    }
    return true;
}

static bool is_huber(enum op_id op)
{
    return op == OP_ID_huber_loss || op == OP_ID_huber_loss_with;
}

/* The pieces, element by element, of |d| below and above the limit. Where bounds do not tell, the steeper
 * one's error: both pieces have the same value there. */
static int bent_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const double limit = line_scalar(l, 0, t->wide);
    const int d = tape_map2(t, T_SUB, interpret_operand(m, l, 0), interpret_operand(m, l, 1));
    const int n = t->node[d].count, sign = constant(t, d, 1), inside = constant(t, d, 0);
    for (int i = 0; i < n; i++) {
        const double v = t->node[d].v[i], e = t->node[d].e[i];
        t->node[sign].v[i] = (v > 0) - (v < 0);
        t->node[sign].e[i] = fabs(v) <= e && e > 0 ? 2 : 0;
        t->node[inside].v[i] = fabs(v) < limit;
        t->node[inside].e[i] = fabs(fabs(v) - limit) <= e && e > 0;
    }
    const int z = tape_map2(t, T_MUL, d, sign), most = constant(t, d, limit);
    const int outside = tape_map2(t, T_SUB, constant(t, d, 1), inside);
    const int low = tape_map2(t, T_MUL, inside, z), high = tape_map2(t, T_MUL, outside, most);
    const int cut = tape_map2(t, T_ADD, low, high);
    const int y = tape_map2(t, T_MUL, cut, tape_map2(t, T_SUB, z, tape_scale(t, cut, 0.5)));
    if (l->op == OP_ID_mse_loss_with)
        return reduced(t, l, tape_map2(t, T_MUL, d, d));
    if (limit == 0)
        return reduced(t, l, z);
    return reduced(t, l, is_huber(l->op) ? y : tape_map2(t, T_DIV, y, most));
}

static tarn_tensor bent_call(const struct line *l, const tarn_tensor *in)
{
    const double limit = line_scalar(l, 0, tarn_dtype_get(in[0]) == TARN_F64);
    const tarn_loss_reduction how = (tarn_loss_reduction)l->arg[2];
    switch (l->op) {
    case OP_ID_l1_loss:
        return tarn_l1_loss(in[0], in[1]);
    case OP_ID_huber_loss:
        return tarn_huber_loss(in[0], in[1], limit);
    case OP_ID_smooth_l1_loss:
        return tarn_smooth_l1_loss(in[0], in[1], limit);
    case OP_ID_l1_loss_with:
        return tarn_l1_loss_with(in[0], in[1], how);
    case OP_ID_huber_loss_with:
        return tarn_huber_loss_with(in[0], in[1], limit, how);
    case OP_ID_smooth_l1_loss_with:
        return tarn_smooth_l1_loss_with(in[0], in[1], limit, how);
    default:
        return tarn_mse_loss_with(in[0], in[1], how);
    }
}

static bool bent_grow(struct generator *g, struct line *l, int a)
{
    static const float limits[] = { 0.5f, 1, 1.75f, 0 };
    l->in[1] = leaf_of(g, shape_of_line(g, a));
    l->ins = 2;
    const bool limited =
        is_huber(l->op) || l->op == OP_ID_smooth_l1_loss || l->op == OP_ID_smooth_l1_loss_with;
    l->f[0] = limited ? limits[below(g, is_huber(l->op) ? 3 : 4)] : 0;
    if (l->op != OP_ID_l1_loss && l->op != OP_ID_huber_loss && l->op != OP_ID_smooth_l1_loss)
        l->arg[2] = any_reduction(g);
    return true;
}

/* arg is batch_mean, log_target, reduction. */
static int kl_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const int x = interpret_operand(m, l, 0), y = interpret_operand(m, l, 1);
    int each;
    if (l->arg[1]) {
        each = tape_map2(t, T_MUL, tape_map(t, T_EXP, y), tape_map2(t, T_SUB, y, x));
    } else {
        const int log = tape_map2(t, T_MUL, y, tape_map(t, T_LOG, y));
        each = tape_map2(t, T_SUB, log, tape_map2(t, T_MUL, y, x));
    }
    return l->arg[0] ? scaled_sum(t, each, 1.0 / shape_of(m, l, 0).dim[0]) : reduced(t, l, each);
}

static tarn_tensor kl_call(const struct line *l, const tarn_tensor *in)
{
    return tarn_kl_div(
        in[0], in[1],
        (tarn_kl_div_options){ l->arg[0] != 0, l->arg[1] != 0, (tarn_loss_reduction)l->arg[2] });
}

static bool kl_grow(struct generator *g, struct line *l, int a)
{
    l->ins = 2;
    l->arg[0] = chance(g, 50);
    l->arg[1] = chance(g, 40);
    l->arg[2] = l->arg[0] ? TARN_LOSS_MEAN : any_reduction(g);
    l->in[1] =
        new_leaf(g, shape_of_line(g, a), TARN_F32, l->arg[1] ? FILL_SIGNED : FILL_POSITIVE, 0);
    return true;
}

const struct more more_losses[] = {
    { OP_ID_cross_entropy_with, classes_shape, cross_entropy_value, cross_entropy_call,
      cross_entropy_grow },
    { OP_ID_nll_loss_with, classes_shape, cross_entropy_value, cross_entropy_call,
      cross_entropy_grow },
    { OP_ID_bce_with_logits, pair_shape, bce_value, bce_call, bce_grow },
    { OP_ID_bce_with_logits_with, pair_shape, bce_value, bce_call, bce_grow },
    { OP_ID_mse_loss_with, pair_shape, bent_value, bent_call, bent_grow },
    { OP_ID_l1_loss_with, pair_shape, bent_value, bent_call, bent_grow },
    { OP_ID_smooth_l1_loss_with, pair_shape, bent_value, bent_call, bent_grow },
    { OP_ID_huber_loss_with, pair_shape, bent_value, bent_call, bent_grow },
    { OP_ID_smooth_l1_loss, pair_shape, bent_value, bent_call, bent_grow },
    { OP_ID_l1_loss, pair_shape, bent_value, bent_call, bent_grow },
    { OP_ID_huber_loss, pair_shape, bent_value, bent_call, bent_grow },
    { OP_ID_kl_div, pair_shape, kl_value, kl_call, kl_grow },
};
const int more_loss_count = sizeof more_losses / sizeof *more_losses;
