/* SPDX-License-Identifier: Apache-2.0 */
/* State of a program: owned tensors, steps, failures. */
#include "more.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

void interpret_begin(struct interpreter *m, struct program *p, struct tape *t)
{
    memset(m, 0, MAX_WORLD * sizeof *m);
    t->wide = p->wide;
    for (int k = 0; k < p->world; k++)
        m[k] = (struct interpreter){
            .p = p, .tape = t, .team = m, .rank = k, .optimizer = -1, .training = true
        };
}

int interpret_slot(const struct interpreter *m, int i)
{
    return m->p->line[i].owned ? m->value[i] : -1;
}

int interpret_node(const struct interpreter *m, int i)
{
    return m->p->line[i].owned ? m->slot[m->value[i]].value : m->value[i];
}

int interpret_operand(const struct interpreter *m, const struct line *l, int k)
{
    return interpret_node(m, l->in[k]);
}

/* ---- random numbers, as docs/numerics.md and core/tensor/random.c describe them ------------- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static double unit_value(uint64_t key, uint64_t counter)
{
    const uint64_t once = mix(key + (counter + 1) * GOLDEN);
    return (double)(mix(once ^ key) >> 40) * 0x1p-24;
}

static uint64_t key_number(uint64_t seed, uint64_t number)
{
    return mix(mix(seed + GOLDEN) ^ (number + GOLDEN));
}

int uniform(struct interpreter *m, int count)
{
    uint64_t now = key_number(key_number(0, m->step_count), m->side_steps);
    if (m->rank > 0)
        now = key_number(now, (uint64_t)m->rank);
    const uint64_t key = mix(now + m->rand_count++);
    const int y = tape_full(m->tape, count, 0, 0);
    for (int i = 0; i < count; i++)
        m->tape->node[y].v[i] = unit_value(key, (uint64_t)i);
    return y;
}

/* The inverse of the normal distribution function, by halving. */
static double quantile(double p)
{
    double low = -9, high = 9;
    for (int k = 0; k < 64; k++) {
        const double middle = (low + high) / 2;
        if (0.5 * erfc(-middle * 0.70710678118654752) < p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int normal(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const int count = (int)tarn_shape_count(l->shape), y = uniform(m, count);
    const bool cut = l->op == OP_ID_randn_truncated;
    const double first = cut ? 0.5 * erfc(-(double)l->f[0] * 0.70710678118654752) : 0,
                 last = cut ? 0.5 * erfc(-(double)l->f[1] * 0.70710678118654752) : 1;
    for (int i = 0; i < count; i++) {
        double *v = &t->node[y].v[i];
        const double p = first + (*v + 0x1p-25) * (last - first);
        *v = quantile(p);
        /* 4 units of its own; for the truncated one roundings of p have made a few of 2^-24. */
        t->node[y].e[i] =
            TAPE_UNIT * (4 * fabs(*v) + (cut ? 8 * exp(*v * *v / 2) * 2.5066282746310002 : 0));
    }
    return y;
}

static int drawn(struct interpreter *m, const char *name, const struct line *l)
{
    const tarn_shape s = l->shape;
    const int count = (int)tarn_shape_count(s), kind = l->arg[0],
              y = tape_full(m->tape, count, 0, 0);
    const double a = (double)l->f[0], b = (double)l->f[1], low = (double)l->f[2],
                 high = (double)l->f[3];
    uint64_t key = mix(GOLDEN);
    for (const char *c = name; *c != '\0'; c++)
        key = mix((key ^ (uint64_t)(unsigned char)*c) + GOLDEN);
    double window = 1;
    for (int d = 2; d < s.rank; d++)
        window *= s.dim[d];
    const double in = window * s.dim[1], out = window * s.dim[0];
    const double xavier = (a == 0 ? 1 : a) * sqrt(2 / (in + out)),
                 kaiming = sqrt(2 / (1 + a * a)) / sqrt(in);
    for (int i = 0; i < count; i++) {
        const double u = unit_value(key, (uint64_t)i), z = quantile(u + 0x1p-25);
        const double first = 0.5 * erfc(-(low - a) / b * 0.70710678118654752),
                     last = 0.5 * erfc(-(high - a) / b * 0.70710678118654752);
        const double values[] = { a,
                                  a + (b - a) * u,
                                  a + b * z,
                                  a + b * quantile(first + (last - first) * (u + 0x1p-25)),
                                  (2 * u - 1) * sqrt(3) * xavier,
                                  z * xavier,
                                  (2 * u - 1) * sqrt(3) * kaiming,
                                  z * kaiming };
        m->tape->node[y].v[i] = values[kind];
        m->tape->node[y].e[i] = kind == 0 ? 0 : 1.001 * TAPE_UNIT * fabs(values[kind]);
    }
    return y;
}

static int kaiming(struct interpreter *m, const char *name, int count, int fan_in)
{
    uint64_t key = mix(GOLDEN);
    for (const char *c = name; *c != '\0'; c++)
        key = mix((key ^ (uint64_t)(unsigned char)*c) + GOLDEN);
    const int y = tape_full(m->tape, count, 0, 0);
    for (int i = 0; i < count; i++) {
        double *v = &m->tape->node[y].v[i];
        *v = (2 * unit_value(key, (uint64_t)i) - 1) / sqrt((double)fan_in);
        if (!m->p->wide)
            *v = (double)(float)*v;
        else
            m->tape->node[y].e[i] = 4 * TAPE_UNIT_WIDE * fabs(*v);
    }
    return y;
}

/* ---- owned tensors -------------------------------------------------------------------------- */

static int add_slot(struct interpreter *m, int line, int part, int value, bool parameter)
{
    if (m->slots == MAX_OWNED)
        return -1;
    m->slot[m->slots] = (struct slot){ .line = line,
                                       .part = part,
                                       .parameter = parameter,
                                       .alive = true,
                                       .value = value,
                                       .gradient = -1,
                                       .accumulated = -1,
                                       .moment = { -1, -1, -1 } };
    return m->slots++;
}

static int data_node(struct interpreter *m, const struct line *l)
{
    const int y = tape_full(m->tape, (int)tarn_shape_count(l->shape), 0, 0);
    program_data(m->p, l, m->rank, m->tape->node[y].v);
    return y;
}

static bool add_layer(struct interpreter *m, int i)
{
    const struct line *l = &m->p->line[i];
    const int *a = l->arg;
    char name[24], full[40];
    program_name(l, name);
    m->value[i] = m->slots;
    if (m->slots + 5 > MAX_OWNED || m->optimizer >= 0)
        return false;
    if (l->op == OP_ID_make_linear || l->op == OP_ID_make_conv2d) {
        const int fan = l->op == OP_ID_make_linear ? a[0] : a[0] / (a[6] ? a[6] : 1) * a[2] * a[2];
        strcat(strcpy(full, name), ".weight");
        add_slot(m, i, 0, kaiming(m, full, a[1] * fan, fan), true);
        strcat(strcpy(full, name), ".bias");
        add_slot(m, i, 1, kaiming(m, full, a[1], fan), true);
        return true;
    }
    for (int part = 0; part < (l->op == OP_ID_make_batch_norm ? 5 : 2); part++)
        add_slot(m, i, part, tape_full(m->tape, part < 4 ? a[0] : 1, part == 0 || part == 3, 0),
                 part < 2);
    return true;
}

static bool add_owned(struct interpreter *m, int i)
{
    const struct line *l = &m->p->line[i];
    char name[24];
    int slot;
    program_name(l, name);
    const int count = (int)tarn_shape_count(l->shape);
    if (program_is_parameter(l->op) && m->optimizer >= 0)
        return false;
    if (l->op == OP_ID_keep)
        slot = add_slot(m, i, 0, interpret_operand(m, l, 0), false);
    else if (l->op == OP_ID_find)
        slot = m->value[l->in[0]] + (program_is_layer(m->p->line[l->in[0]].op) ? l->arg[0] : 0);
    else if (l->op == OP_ID_parameter_kaiming)
        slot = add_slot(m, i, 0, kaiming(m, name, count, l->arg[0]), true);
    else if (l->op == OP_ID_parameter_with)
        slot = add_slot(m, i, 0, drawn(m, name, l), true);
    else
        slot = add_slot(m, i, 0, data_node(m, l), l->op == OP_ID_parameter);
    m->value[i] = slot;
    return slot >= 0;
}

/* ---- the step ------------------------------------------------------------------------------- */

static void end_step(struct interpreter *m)
{
    for (int s = 0; s < m->slots; s++) {
        struct slot *o = &m->slot[s];
        o->gradient = -1;
        if (s < m->before_slots && o->value != m->before[s].value)
            o->apart = !o->together;
        o->together = false;
        o->value = tape_detach(m->tape, o->value);
        if (o->accumulated >= 0)
            o->accumulated = tape_detach(m->tape, o->accumulated);
        for (int k = 0; k < 3; k++)
            if (o->moment[k] >= 0)
                o->moment[k] = tape_detach(m->tape, o->moment[k]);
    }
    m->step_count += m->updates;
    m->side_steps = m->updates ? 0 : m->side_steps + (m->rand_count > 0);
    m->updates = m->exchanged = false;
    m->summed_before = m->summed;
    m->rand_count = 0;
    memcpy(m->before, m->slot, sizeof m->slot);
    m->before_slots = m->slots;
}

/* A failed step leaves everything as it was; what was made in it exists, but kept tensors. */
static bool fail_step(struct interpreter *m)
{
    for (int s = m->before_slots; s < m->slots; s++)
        if (m->p->line[m->slot[s].line].op != OP_ID_keep)
            return false;
    for (int s = m->before_slots; s < m->slots; s++)
        m->slot[s].alive = false;
    memcpy(m->slot, m->before, (size_t)m->before_slots * sizeof m->slot[0]);
    m->updates = m->exchanged = false;
    m->summed = m->summed_before;
    m->rand_count = 0;
    return true;
}

static bool assign(struct interpreter *m, const struct line *l)
{
    struct slot *o = &m->slot[m->value[l->in[0]]];
    if (!o->alive || (o->parameter && m->optimizer >= 0))
        return false;
    o->value = interpret_operand(m, l, 1);
    if (o->parameter) /* its gradient is its own, not that of what it was made from */
        o->value = tape_detach(m->tape, o->value);
    return true;
}

static bool statement(struct interpreter *m, int i)
{
    const struct line *l = &m->p->line[i];
    if (program_is_setting(l->op))
        return interpret_setting(m, i);
    switch (l->op) {
    case OP_ID_assign:
        return assign(m, l);
    case OP_ID_drop:
        m->slot[m->value[l->in[0]]].alive = false;
        return true;
    case OP_ID_backward:
        return interpret_backward(m, l);
    case OP_ID_optimizer_step:
        return interpret_optimizer_step(m);
    case OP_ID_optimizer_accumulate:
        return interpret_accumulate(m);
    case OP_ID_train:
        m->training = l->arg[0] != 0;
        return true;
    case OP_ID_fail:
        return fail_step(m);
    case OP_ID_step:
        end_step(m);
        return true;
    default:
        return true;
    }
}

static bool line_of_replica(struct interpreter *m, int i)
{
    const struct line *l = &m->p->line[i];
    for (int k = 0; k < l->ins; k++)
        if (m->p->line[l->in[k]].owned && !m->slot[m->value[l->in[k]]].alive && l->op != OP_ID_drop)
            return false;
    m->tape->integer = false;
    if (program_is_layer(l->op))
        return add_layer(m, i);
    if (l->owned)
        return add_owned(m, i);
    if (op_table[l->op].result == 's')
        return statement(m, i);
    int y;
    if (l->op == OP_ID_from)
        y = data_node(m, l);
    else if (l->op == OP_ID_clip_grad_norm || l->op == OP_ID_optimizer_clip_grad_norm)
        y = interpret_clip(m, (double)l->f[0]);
    else if (l->op == OP_ID_grad)
        y = m->slot[m->value[l->in[0]]].gradient;
    else if (op_table[l->op].result == 'c')
        y = interpret_collective(m, l);
    else if (op_table[l->op].result == 'x')
        y = more_of(l->op)->value(m, l);
    else if (op_table[l->op].result == 'n')
        y = interpret_net(m, l);
    else
        y = interpret_op(m, l);
    m->tape->integer = false;
    y = interpret_kept(m->tape, l, y);
    m->value[i] = y;
    return y >= 0;
}

bool interpret_line(struct interpreter *m, int i)
{
    if (m->p->world > 1)
        interpret_exchange(m, &m->p->line[i]);
    for (int k = 0; k < m->p->world; k++)
        if (!line_of_replica(&m[k], i))
            return false;
    return true;
}
