/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of SGD, Adam and AdamW, over flat values. */
#include <math.h>

#include "op/op.h"
#include "train/optimizer.h"

double rule_meant(float value)
{
    const double rounded = round((double)value * 1e7) * 1e-7;
    return (float)rounded == value ? rounded : (double)value;
}

/* The first gradient comes to the momentum undamped. */
static tarn_tensor damping(const tarn_optimizer *o, tarn_tensor steps)
{
    tarn_replica *r = o->replica;
    const tarn_tensor zero = op_constant_of(r, TARN_SCALAR, TARN_I32, 0);
    const float rest = (float)(1.0 - rule_meant(o->dampening));
    return tarn_where(tarn_eq(steps, zero), tarn_full(r, TARN_SCALAR, 1.0f),
                      tarn_full(r, TARN_SCALAR, rest));
}

static void update_sgd(const tarn_optimizer *o, struct update *u)
{
    tarn_replica *r = o->replica;
    tarn_tensor g = u->g;
    if (o->weight_decay != 0.0f)
        g = tarn_add(g, tarn_mul_scalar(u->old, o->weight_decay));
    if (o->momentum != 0.0f) {
        tarn_tensor fresh = g;
        if (o->dampening != 0.0f)
            fresh = tarn_mul(g, count_spread(o, damping));
        const tarn_tensor velocity = tarn_add(tarn_mul_scalar(u->state[0], o->momentum), fresh);
        u->state_now[0] = velocity;
        g = o->nesterov ? tarn_add(g, tarn_mul_scalar(velocity, o->momentum)) : velocity;
    }
    u->now = tarn_sub(u->old, tarn_mul(g, tarn_number(r, o->lr)));
}

static tarn_tensor root_beta2(const tarn_optimizer *o, tarn_tensor steps)
{
    return tarn_sqrt(count_beta2(o, steps));
}

static void update_adam(const tarn_optimizer *o, struct update *u)
{
    tarn_replica *r = o->replica;
    const double beta1 = rule_meant(o->beta1), beta2 = rule_meant(o->beta2);
    const double lr = rule_meant(o->lr), decay = rule_meant(o->weight_decay);
    tarn_tensor g = u->g, old = u->old;
    if (o->weight_decay != 0.0f && o->method == METHOD_ADAM)
        g = tarn_add(g, tarn_mul_scalar(old, o->weight_decay));
    if (o->weight_decay != 0.0f && o->method == METHOD_ADAMW)
        old = tarn_mul(old, tarn_number(r, (float)(1.0 - lr * decay)));
    const tarn_tensor m = u->state[0], v = u->state[1];
    u->state_now[0] = tarn_add(m, tarn_mul_scalar(tarn_sub(g, m), (float)(1.0 - beta1)));
    u->state_now[1] = tarn_add(tarn_mul_scalar(v, o->beta2),
                               tarn_mul_scalar(tarn_mul(g, g), (float)(1.0 - beta2)));
    const tarn_tensor size = tarn_div(tarn_number(r, o->lr), count_spread(o, count_beta1));
    const tarn_tensor correction = count_spread(o, root_beta2);
    const tarn_tensor root = tarn_div(tarn_sqrt(u->state_now[1]), correction);
    u->now =
        tarn_sub(old, tarn_mul(size, tarn_div(u->state_now[0], tarn_add_scalar(root, o->eps))));
}

bool rule_counts(const tarn_optimizer *o)
{
    return o->method != METHOD_SGD || (o->momentum != 0.0f && o->dampening != 0.0f);
}

void rule_update(const tarn_optimizer *o, struct update *u)
{
    if (o->method == METHOD_SGD)
        update_sgd(o, u);
    else
        update_adam(o, u);
}
