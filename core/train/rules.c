/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of SGD, Adam and AdamW, over flat values. */
#include <math.h>

#include "op/op.h"
#include "train/optimizer.h"

/* What the caller of a float meant: 0.9f is 0.9. PyTorch computes with doubles here. */
static double meant(float value)
{
    const double rounded = round((double)value * 1e7) * 1e-7;
    return (float)rounded == value ? rounded : (double)value;
}

static void update_sgd(const tarn_optimizer *o, struct update *u)
{
    tarn_replica *r = o->replica;
    tarn_tensor g = u->g;
    if (o->weight_decay != 0.0f)
        g = tarn_add(g, tarn_mul_scalar(u->old, o->weight_decay));
    if (o->momentum != 0.0f) {
        tarn_tensor fresh = g;
        if (o->dampening != 0.0f) {
            const float rest = (float)(1.0 - meant(o->dampening));
            fresh = tarn_mul(g, tarn_number(r, o->steps == 0 ? 1.0f : rest));
        }
        const tarn_tensor velocity = tarn_add(tarn_mul_scalar(u->state[0], o->momentum), fresh);
        u->state_now[0] = velocity;
        g = o->nesterov ? tarn_add(g, tarn_mul_scalar(velocity, o->momentum)) : velocity;
    }
    u->now = tarn_sub(u->old, tarn_mul(g, tarn_number(r, o->lr)));
}

static void update_adam(const tarn_optimizer *o, struct update *u)
{
    tarn_replica *r = o->replica;
    const double beta1 = meant(o->beta1), beta2 = meant(o->beta2), t = (double)o->steps + 1.0;
    const double lr = meant(o->lr), decay = meant(o->weight_decay);
    tarn_tensor g = u->g, old = u->old;
    if (o->weight_decay != 0.0f && o->method == METHOD_ADAM)
        g = tarn_add(g, tarn_mul_scalar(old, o->weight_decay));
    if (o->weight_decay != 0.0f && o->method == METHOD_ADAMW)
        old = tarn_mul(old, tarn_number(r, (float)(1.0 - lr * decay)));
    const tarn_tensor m = u->state[0], v = u->state[1];
    u->state_now[0] = tarn_add(m, tarn_mul_scalar(tarn_sub(g, m), (float)(1.0 - beta1)));
    u->state_now[1] = tarn_add(tarn_mul_scalar(v, o->beta2),
                               tarn_mul_scalar(tarn_mul(g, g), (float)(1.0 - beta2)));
    const tarn_tensor size = tarn_number(r, (float)(lr / (1.0 - pow(beta1, t))));
    const tarn_tensor correction = tarn_number(r, (float)sqrt(1.0 - pow(beta2, t)));
    const tarn_tensor root = tarn_div(tarn_sqrt(u->state_now[1]), correction);
    u->now =
        tarn_sub(old, tarn_mul(size, tarn_div(u->state_now[0], tarn_add_scalar(root, o->eps))));
}

void rule_update(const tarn_optimizer *o, struct update *u)
{
    if (o->method == METHOD_SGD)
        update_sgd(o, u);
    else
        update_adam(o, u);
}
