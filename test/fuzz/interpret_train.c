/* SPDX-License-Identifier: Apache-2.0 */
/* Backward passes and optimizers on the tape, as torch.optim defines them. */
#include <math.h>
#include <stdlib.h>

#include "interpret.h"

bool interpret_backward(struct interpreter *m, const struct line *l)
{
    int in[MAX_OWNED], out[MAX_OWNED], which[MAX_OWNED], count = 0;
    for (int s = 0; s < m->slots; s++)
        if (m->slot[s].parameter) {
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

static int sgd(struct interpreter *m, struct slot *o, const struct line *l)
{
    struct tape *t = m->tape;
    const double lr = (double)l->f[0], momentum = (double)l->f[1], damp = (double)l->f[2],
                 decay = (double)l->f[3];
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
    const double lr = (double)l->f[0], beta1 = (double)l->f[1], beta2 = (double)l->f[2],
                 eps = (double)l->f[3], decay = fmax(0, (double)l->f[4]); /* below 0 means none */
    const int n = t->node[o->value].count, step = o->steps + 1;
    int g = o->gradient, old = o->value;
    if (l->op == OP_ID_make_adam && decay != 0)
        g = tape_map2(t, T_ADD, g, tape_scale(t, old, decay));
    if (l->op == OP_ID_make_adamw && decay != 0)
        old = tape_scale(t, old, 1 - lr * decay);
    for (int k = 0; k < 2; k++)
        if (o->moment[k] < 0)
            o->moment[k] = tape_full(t, n, 0, 0);
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
        o->value = l->op == OP_ID_make_sgd ? sgd(m, o, l) : adam(m, o, l);
        o->gradient = -1;
        o->steps++;
    }
    m->updates = true;
    return true;
}
