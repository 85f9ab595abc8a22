/* SPDX-License-Identifier: Apache-2.0 */
/* Connectionist temporal classification, sample by sample and state by state: states that cannot be reached are left out.
 * arg is blank, zero_infinity, reduction, batch_first; operands logp, target, input lengths, target lengths. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "more.h"

enum { MOST_STATES = 16 };

static bool whole_numbers(const struct program *p, const struct line *l, int k, tarn_shape s)
{
    const struct line *x = operand_of(p, l, k);
    return !program_floats(x->dtype) && same_shape(x->shape, s);
}

static bool ctc_shape(const struct program *p, struct line *l)
{
    const struct line *x = operand_of(p, l, 0), *y = operand_of(p, l, 1);
    const tarn_shape s = x->shape;
    const int n = s.dim[l->arg[3] ? 0 : 1];
    l->shape = l->arg[2] == TARN_LOSS_NONE ? TARN_SHAPE(n) : TARN_SCALAR;
    if (x->dtype != TARN_F32 || s.rank != 3 || tarn_shape_count(s) == 0 || l->arg[0] >= s.dim[2] ||
        y->shape.rank != 2 || 2 * y->shape.dim[1] + 1 > MOST_STATES)
        return false;
    for (int k = 2; k < l->ins; k++)
        if (!whole_numbers(p, l, k, TARN_SHAPE(n)))
            return false;
    return whole_numbers(p, l, 1, TARN_SHAPE(n, y->shape.dim[1]));
}

/* log sum exp of the terms that go to each of `count` results. The largest of each is subtracted, of which neither
 * value nor slope depends. */
static int log_sums(struct tape *t, int terms, const int *to, int count)
{
    const int n = t->node[terms].count, top = tape_full(t, count, -INFINITY, 0);
    for (int i = 0; i < n; i++)
        t->node[top].v[to[i]] = fmax(t->node[top].v[to[i]], t->node[terms].v[i]);
    const int z = tape_map2(t, T_SUB, terms, tape_gather(t, top, n, to, 0));
    const int sum = tape_scatter(t, tape_map(t, T_EXP, z), count, to);
    return tape_map2(t, T_ADD, tape_map(t, T_LOG, sum), top);
}

struct sample {
    int logp; /* node */
    int steps, labels;
    int class[MOST_STATES];            /* of states */
    int (*at)(const void *, int, int); /* element of logp of a step and a class */
    const void *of;
};

/* Minus the logarithm of the probability, one element; -1: it is 0. */
static int sample_loss(struct tape *t, const struct sample *s)
{
    int now = tape_full(t, 1, 0, 0), place[MOST_STATES] = { 0 }; /* of states in `now`; -1: none */
    const int states = 2 * s->labels + 1;
    for (int l = 1; l < states; l++)
        place[l] = -1;
    for (int i = 0; i < s->steps; i++) {
        int from[3 * MOST_STATES], to[3 * MOST_STATES], emitted[MOST_STATES], next[MOST_STATES];
        int terms = 0, count = 0;
        for (int l = 0; l < states; l++) {
            const int before = terms;
            for (int by = 0; by < 3 && by <= l; by++)
                if (place[l - by] >= 0 && (by < 2 || s->class[l] != s->class[l - 2])) {
                    from[terms] = place[l - by];
                    to[terms++] = count;
                }
            next[l] = terms > before ? count : -1;
            if (terms > before)
                emitted[count++] = s->at(s->of, i, s->class[l]);
        }
        const int sums = log_sums(t, tape_gather(t, now, terms, from, 0), to, count);
        now = tape_map2(t, T_ADD, sums, tape_gather(t, s->logp, count, emitted, 0));
        memcpy(place, next, sizeof next);
    }
    int end[2], count = 0;
    for (int l = states - 1; l >= 0 && l >= states - 2; l--)
        if (place[l] >= 0)
            end[count++] = place[l];
    if (count == 0)
        return -1;
    return tape_map(t, T_NEG, log_sums(t, tape_gather(t, now, count, end, 0), (int[]){ 0, 0 }, 1));
}

struct layout {
    tarn_shape s;
    int sample;
    bool first; /* samples */
};

static int element(const void *of, int step, int class)
{
    const struct layout *p = of;
    const int row = p->first ? p->sample * p->s.dim[1] + step : step * p->s.dim[1] + p->sample;
    return row * p->s.dim[2] + class;
}

/* Number i of operand k, `none` where there is no such operand; *doubt where it is not known. */
static int number(struct interpreter *m, const struct line *l, int k, int i, int none, bool *doubt)
{
    if (k >= l->ins)
        return none;
    const struct tape_node *n = &m->tape->node[interpret_operand(m, l, k)];
    *doubt |= n->e[i] > 0;
    return (int)n->v[i];
}

static int ctc_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    struct layout p = { .s = shape_of(m, l, 0), .first = l->arg[3] != 0 };
    const int n = p.s.dim[p.first ? 0 : 1], steps = p.s.dim[p.first ? 1 : 0];
    const int labels = shape_of(m, l, 1).dim[1];
    const int to = l->arg[2] == TARN_LOSS_NONE ? n : 1;
    int all = tape_full(t, to, 0, 0);
    for (int i = 0; i < n; i++) {
        bool doubt = false;
        const int length = number(m, l, 3, i, labels, &doubt),
                  some = number(m, l, 2, i, steps, &doubt);
        struct sample s = { .logp = interpret_operand(m, l, 0),
                            .steps = some < steps ? some : steps,
                            .labels = length,
                            .at = element,
                            .of = &p };
        p.sample = i;
        for (int k = 0; k <= 2 * labels; k++) {
            const int class =
                k % 2 == 0 ? l->arg[0] : number(m, l, 1, i * labels + k / 2, 0, &doubt);
            s.class[k] = class < 0 ? 0 : class < p.s.dim[2] ? class : p.s.dim[2] - 1;
        }
        int loss = doubt || length < 0 || length > labels ? -1 : sample_loss(t, &s);
        if (loss < 0 && (doubt || !l->arg[1]))
            return -1;
        if (loss < 0)
            continue;
        if (l->arg[2] == TARN_LOSS_MEAN)
            loss = tape_scale(t, loss, 1.0 / (length > 1 ? length : 1));
        int *index = calloc((size_t)to, sizeof *index);
        if (index == NULL)
            abort();
        for (int k = 0; k < to; k++)
            index[k] = k == i || to == 1 ? 0 : -1;
        all = tape_map2(t, T_ADD, all, tape_gather(t, loss, to, index, 0));
        free(index);
    }
    return l->arg[2] == TARN_LOSS_MEAN ? tape_scale(t, all, 1.0 / n) : all;
}

static tarn_tensor ctc_call(const struct line *l, const tarn_tensor *in)
{
    return tarn_ctc_loss(in[0], in[1],
                         (tarn_ctc_options){ .blank = l->arg[0],
                                             .input_lengths = l->ins > 2 ? in[2] : TARN_NONE,
                                             .target_lengths = l->ins > 3 ? in[3] : TARN_NONE,
                                             .zero_infinity = l->arg[1] != 0,
                                             .reduction = (tarn_loss_reduction)l->arg[2],
                                             .batch_first = l->arg[3] != 0 });
}

static bool ctc_grow(struct generator *g, struct line *l, int a)
{
    const int n = chance(g, 50) && g->batch <= 17 ? g->batch : 1 + below(g, 3);
    const int labels = 1 + below(g, 3), steps = labels + below(g, 4), classes = 1 + below(g, 5);
    (void)a;
    l->arg[0] = chance(g, 60) ? 0 : below(g, classes);
    l->arg[1] = chance(g, 80);
    l->arg[2] = below(g, 3);
    l->arg[3] = chance(g, 50);
    l->in[0] =
        leaf_of(g, l->arg[3] ? TARN_SHAPE(n, steps, classes) : TARN_SHAPE(steps, n, classes));
    l->in[1] =
        new_leaf(g, TARN_SHAPE(n, labels), chance(g, 50) ? TARN_I32 : TARN_U8, FILL_INDEX, classes);
    l->ins = 2 + below(g, 3);
    if (l->ins > 2)
        l->in[2] = new_leaf(g, TARN_SHAPE(n), TARN_I32, FILL_INDEX, steps + 1);
    if (l->ins > 3)
        l->in[3] = new_leaf(g, TARN_SHAPE(n), TARN_I32, FILL_INDEX, labels + 1);
    return true;
}

const struct more more_ctcs[] = {
    { OP_ID_ctc_loss, ctc_shape, ctc_value, ctc_call, ctc_grow },
};
const int more_ctc_count = sizeof more_ctcs / sizeof *more_ctcs;
