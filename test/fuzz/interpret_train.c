/* SPDX-License-Identifier: Apache-2.0 */
/* Backward passes and optimizers on the tape, as torch.optim defines them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interpret.h"

bool interpret_backward(struct interpreter *m, const struct line *l)
{
    int in[MAX_OWNED], out[MAX_OWNED], which[MAX_OWNED], count = 0;
    for (int s = 0; s < m->slots; s++)
        if (m->slot[s].parameter && !m->set[s].frozen) {
            which[count] = s;
            in[count++] = m->slot[s].value;
        }
    tape_gradients(m->tape, interpret_loss(m, l->in[0]), 1.0 / m->p->world, in, count, out);
    bool some = false;
    for (int k = 0; k < count; k++) {
        struct slot *o = &m->slot[which[k]];
        if (out[k] < 0)
            continue;
        some = true;
        o->gradient = o->gradient < 0 ? out[k] : tape_map2(m->tape, T_ADD, o->gradient, out[k]);
    }
    return some;
}

/* What was accumulated joins this step's gradients, as in .grad of PyTorch. */
static bool join(struct interpreter *m, bool taken[MAX_OWNED])
{
    bool some = false;
    for (int s = 0; s < m->slots; s++) {
        struct slot *o = &m->slot[s];
        if (o->accumulated >= 0)
            o->gradient = o->gradient < 0 ? o->accumulated
                                          : tape_map2(m->tape, T_ADD, o->accumulated, o->gradient);
        some |= taken[s] = o->gradient >= 0;
        o->accumulated = -1;
    }
    return some;
}

int interpret_clip(struct interpreter *m, double most)
{
    struct tape *t = m->tape;
    bool taken[MAX_OWNED];
    if (m->optimizer < 0 || m->updates || !join(m, taken))
        return -1;
    int total = tape_full(t, 1, 0, 0);
    for (int s = 0; s < m->slots; s++) {
        if (!taken[s])
            continue;
        const int g = m->slot[s].gradient, n = t->node[g].count;
        int *zero = calloc((size_t)n + 1, sizeof(int));
        total = tape_map2(t, T_ADD, total, tape_scatter(t, tape_map2(t, T_MUL, g, g), 1, zero));
        free(zero);
    }
    const int norm = tape_map(t, T_SQRT, total);
    int scale = tape_map2(t, T_DIV, tape_full(t, 1, most, 0),
                          tape_map2(t, T_ADD, norm, tape_full(t, 1, 1e-6, 1e-13)));
    if (t->node[scale].v[0] > 1)
        scale = tape_full(t, 1, 1,
                          t->node[scale].v[0] - t->node[scale].e[0] > 1 ? 0 : t->node[scale].e[0]);
    else
        scale = tape_detach(t, scale);
    t->node[scale].driver |= t->node[norm].driver;
    for (int s = 0; s < m->slots; s++)
        if (taken[s]) {
            const int g = m->slot[s].gradient, n = t->node[g].count;
            m->slot[s].gradient =
                tape_map2(t, T_MUL, g, tape_full(t, n, t->node[scale].v[0], t->node[scale].e[0]));
        }
    /* What a later backward adds is summed over the replicas by itself. */
    for (int s = 0; s < m->slots && m->p->world > 1; s++)
        if (taken[s]) {
            m->slot[s].accumulated = m->slot[s].gradient;
            m->slot[s].gradient = -1;
        }
    return norm;
}

bool interpret_accumulate(struct interpreter *m)
{
    bool taken[MAX_OWNED];
    if (m->optimizer < 0 || m->updates || !join(m, taken))
        return false;
    for (int s = 0; s < m->slots; s++)
        if (taken[s]) {
            m->slot[s].accumulated = m->slot[s].gradient;
            m->slot[s].gradient = -1;
        }
    return true;
}

/* Of a parameter: factors are powers of two. */
static double rate_of(const struct interpreter *m, const struct slot *o, const struct line *l)
{
    const int s = (int)(o - m->slot);
    return (double)l->f[0] * (m->set[s].scaled ? m->set[s].factor : 1);
}

static double decay_of(const struct interpreter *m, const struct slot *o, float options)
{
    const int s = (int)(o - m->slot);
    return m->set[s].decays ? m->set[s].decay : fmax(0, (double)options); /* below 0 means none */
}

static int zeros_for(struct tape *t, const struct slot *o, int moment)
{
    return o->moment[moment] >= 0 ? o->moment[moment] : tape_full(t, t->node[o->value].count, 0, 0);
}

static int sgd(struct interpreter *m, struct slot *o, const struct line *l)
{
    struct tape *t = m->tape;
    const double lr = rate_of(m, o, l), momentum = (double)l->f[1], damp = (double)l->f[2],
                 decay = decay_of(m, o, l->f[3]);
    int g = o->gradient;
    if (decay != 0)
        g = tape_map2(t, T_ADD, g, tape_scale(t, o->value, decay));
    if (momentum != 0) {
        const int fresh = o->steps == 0 ? g : tape_scale(t, g, 1 - damp);
        if (o->steps > 0)
            o->moment[0] = tape_map2(t, T_ADD, tape_scale(t, o->moment[0], momentum), fresh);
        else
            o->moment[0] = fresh;
        g = l->arg[0] ? tape_map2(t, T_ADD, g, tape_scale(t, o->moment[0], momentum))
                      : o->moment[0];
    }
    return tape_map2(t, T_SUB, o->value, tape_scale(t, g, lr));
}

static int adam(struct interpreter *m, struct slot *o, const struct line *l)
{
    struct tape *t = m->tape;
    const double lr = rate_of(m, o, l), beta1 = (double)l->f[1], beta2 = (double)l->f[2],
                 eps = (double)l->f[3], decay = decay_of(m, o, l->f[4]);
    const int n = t->node[o->value].count, step = o->steps + 1;
    int g = o->gradient, old = o->value;
    if (l->op == OP_ID_make_adam && decay != 0)
        g = tape_map2(t, T_ADD, g, tape_scale(t, old, decay));
    if (l->op == OP_ID_make_adamw && decay != 0)
        old = tape_scale(t, old, 1 - lr * decay);
    for (int k = 0; k < 2; k++)
        o->moment[k] = zeros_for(t, o, k);
    const int square = tape_map2(t, T_MUL, g, g);
    o->moment[0] = tape_map2(t, T_ADD, o->moment[0],
                             tape_scale(t, tape_map2(t, T_SUB, g, o->moment[0]), 1 - beta1));
    o->moment[1] =
        tape_map2(t, T_ADD, tape_scale(t, o->moment[1], beta2), tape_scale(t, square, 1 - beta2));
    const double correction = sqrt(1 - pow(beta2, step));
    const int root = tape_map2(t, T_DIV, tape_map(t, T_SQRT, o->moment[1]),
                               tape_full(t, n, correction, TAPE_UNIT * correction));
    const int below = tape_map2(t, T_ADD, root, tape_full(t, n, eps, TAPE_UNIT * eps));
    const int way =
        tape_scale(t, tape_map2(t, T_DIV, o->moment[0], below), lr / (1 - pow(beta1, step)));
    return tape_map2(t, T_SUB, old, way);
}

static int rmsprop(struct interpreter *m, struct slot *o, const struct line *l)
{
    struct tape *t = m->tape;
    const double alpha = (double)l->f[1], eps = (double)l->f[2], decay = decay_of(m, o, l->f[3]),
                 momentum = (double)l->f[4];
    int g = o->gradient;
    if (decay != 0)
        g = tape_map2(t, T_ADD, g, tape_scale(t, o->value, decay));
    o->moment[0] = tape_map2(t, T_ADD, tape_scale(t, zeros_for(t, o, 0), alpha),
                             tape_scale(t, tape_map2(t, T_MUL, g, g), 1 - alpha));
    const int n = t->node[o->value].count;
    int square = o->moment[0];
    if (l->arg[0]) { /* centered: without the square of the mean */
        o->moment[2] = tape_map2(t, T_ADD, tape_scale(t, zeros_for(t, o, 2), alpha),
                                 tape_scale(t, g, 1 - alpha));
        square = tape_map2(t, T_SUB, square, tape_map2(t, T_MUL, o->moment[2], o->moment[2]));
    }
    const int below =
        tape_map2(t, T_ADD, tape_map(t, T_SQRT, square), tape_full(t, n, eps, TAPE_UNIT * eps));
    int way = tape_map2(t, T_DIV, g, below);
    if (momentum != 0)
        way = o->moment[1] = tape_map2(t, T_ADD, tape_scale(t, zeros_for(t, o, 1), momentum), way);
    return tape_map2(t, T_SUB, o->value, tape_scale(t, way, rate_of(m, o, l)));
}

/* The sign of a node; any of the three where the bound leaves it open. */
static int sign_of(struct tape *t, int a)
{
    const int n = t->node[a].count;
    double *v = calloc((size_t)n + 1, sizeof *v), *e = calloc((size_t)n + 1, sizeof *e);
    for (int i = 0; v != NULL && e != NULL && i < n; i++) {
        const double x = t->node[a].v[i];
        v[i] = x > 0 ? 1 : x < 0 ? -1 : 0;
        e[i] = fabs(x) > t->node[a].e[i] || t->node[a].e[i] == 0 ? 0 : 2;
    }
    t->failed |= v == NULL || e == NULL;
    const int y = v != NULL && e != NULL ? tape_leaf(t, n, v, e) : tape_full(t, n, 0, 0);
    free(v);
    free(e);
    return y;
}

static int lion(struct interpreter *m, struct slot *o, const struct line *l)
{
    struct tape *t = m->tape;
    const double beta1 = (double)l->f[1], beta2 = (double)l->f[2], lr = rate_of(m, o, l),
                 decay = decay_of(m, o, l->f[3]);
    const int g = o->gradient, moment = zeros_for(t, o, 0);
    const int old = decay != 0 ? tape_scale(t, o->value, 1 - lr * decay) : o->value;
    const int way = tape_map2(t, T_ADD, tape_scale(t, moment, beta1), tape_scale(t, g, 1 - beta1));
    o->moment[0] = tape_map2(t, T_ADD, tape_scale(t, moment, beta2), tape_scale(t, g, 1 - beta2));
    return tape_map2(t, T_SUB, old, tape_scale(t, sign_of(t, way), lr));
}

static int update(struct interpreter *m, struct slot *o, const struct line *l)
{
    return l->op == OP_ID_make_sgd       ? sgd(m, o, l)
           : l->op == OP_ID_make_rmsprop ? rmsprop(m, o, l)
           : l->op == OP_ID_make_lion    ? lion(m, o, l)
                                         : adam(m, o, l);
}

/* Whether nothing was recorded in this step yet. */
static bool at_start(const struct program *p, int i)
{
    while (i > 0 && program_is_setting(p->line[i - 1].op))
        i--;
    return i > 0 && (p->line[i - 1].op == OP_ID_step || p->line[i - 1].op == OP_ID_fail);
}

static bool matches(const struct interpreter *m, int s, const struct line *l)
{
    char name[48];
    const struct line find = {
        .op = OP_ID_find, .in = { m->slot[s].line }, .ins = 1, .arg = { m->slot[s].part }
    };
    program_find_name(m->p, &find, name);
    return m->slot[s].parameter && strstr(name, program_pattern(l)) != NULL;
}

bool interpret_setting(struct interpreter *m, int i)
{
    const struct line *l = &m->p->line[i];
    bool some = false;
    for (int s = 0; s < m->slots; s++)
        some |= m->slot[s].parameter && (l->op <= OP_ID_make_lion || matches(m, s, l));
    if (l->op <= OP_ID_make_lion) {
        if (m->optimizer >= 0 || !some || l->segment == 0)
            return false;
        m->optimizer = i;
        return true;
    }
    if (m->optimizer < 0 || !at_start(m->p, i))
        return false;
    for (int s = 0; s < m->slots; s++) {
        if (!matches(m, s, l))
            continue;
        if (l->op == OP_ID_freeze && m->slot[s].accumulated >= 0)
            return false;
        if (l->op == OP_ID_freeze) {
            m->set[s].frozen = l->arg[0] != 0;
        } else if (l->op == OP_ID_scale_lr) {
            m->set[s].scaled = true;
            m->set[s].factor = (double)l->f[0];
        } else {
            m->set[s].decays = true;
            m->set[s].decay = (double)l->f[0];
        }
    }
    return some;
}

bool interpret_optimizer_step(struct interpreter *m)
{
    bool taken[MAX_OWNED];
    if (m->optimizer < 0 || m->updates || !join(m, taken))
        return false;
    const struct line *l = &m->p->line[m->optimizer];
    for (int s = 0; s < m->slots; s++) {
        struct slot *o = &m->slot[s];
        if (!taken[s])
            continue;
        o->value = update(m, o, l);
        o->gradient = -1;
        o->steps++;
    }
    m->updates = true;
    return true;
}
