/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of optimizer: a record each, with its rule over flat values, and the public function
 * that makes one. No other file knows which kinds there are. */
#include <math.h>

#include "op/op.h"
#include "train/optimizer.h"

double rule_meant(float value)
{
    const double rounded = round((double)value * 1e7) * 1e-7;
    return (float)rounded == value ? rounded : (double)value;
}

/* ---- SGD ------------------------------------------------------------------------------------ */

static const tarn_sgd_options *sgd_of(const tarn_optimizer *o)
{
    return (const void *)o->options;
}

/* The first gradient comes to the momentum undamped. */
static tarn_tensor damping(const tarn_optimizer *o, tarn_tensor steps)
{
    tarn_replica *r = o->replica;
    const tarn_tensor zero = op_constant_of(r, TARN_SCALAR, TARN_I32, 0);
    const float rest = (float)(1.0 - rule_meant(sgd_of(o)->dampening));
    return tarn_where(tarn_eq(steps, zero), tarn_full(r, TARN_SCALAR, 1.0f),
                      tarn_full(r, TARN_SCALAR, rest));
}

static void sgd_update(const tarn_optimizer *o, struct update *u)
{
    tarn_replica *r = o->replica;
    const tarn_sgd_options *with = sgd_of(o);
    tarn_tensor g = u->g;
    if (with->weight_decay != 0.0f)
        g = tarn_add(g, tarn_mul_scalar(u->old, with->weight_decay));
    if (with->momentum != 0.0f) {
        tarn_tensor fresh = g;
        if (with->dampening != 0.0f)
            fresh = tarn_mul(g, count_spread(o, damping));
        const tarn_tensor velocity = tarn_add(tarn_mul_scalar(u->state[0], with->momentum), fresh);
        u->state_now[0] = velocity;
        g = with->nesterov ? tarn_add(g, tarn_mul_scalar(velocity, with->momentum)) : velocity;
    }
    u->now = tarn_sub(u->old, tarn_mul(g, tarn_number(r, o->lr)));
}

tarn_optimizer *tarn_sgd(tarn_replica *r, tarn_sgd_options options)
{
    static const struct rule plain = { .name = "sgd", .update = sgd_update };
    static const struct rule with_momentum = { .name = "sgd",
                                               .state = { "momentum_buffer" },
                                               .update = sgd_update };
    static const struct rule dampened = {
        .name = "sgd", .state = { "momentum_buffer" }, .counts = true, .update = sgd_update
    };
    if (!optimizer_range(r, "lr", options.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "momentum", options.momentum, 0.0f, INFINITY) ||
        !optimizer_range(r, "dampening", options.dampening, -INFINITY, INFINITY) ||
        !optimizer_range(r, "weight_decay", options.weight_decay, 0.0f, INFINITY))
        return NULL;
    if (options.nesterov && (options.momentum == 0.0f || options.dampening != 0.0f)) {
        replica_fail(r, TARN_ERR_ARGUMENT,
                     "sgd: nesterov needs a momentum above 0 and no dampening");
        return NULL;
    }
    const struct rule *rule = options.momentum == 0.0f    ? &plain
                              : options.dampening == 0.0f ? &with_momentum
                                                          : &dampened;
    return optimizer_make(r, rule, options.lr, &options, sizeof options);
}

/* ---- Adam and AdamW ------------------------------------------------------------------------- */

static const tarn_adam_options *adam_of(const tarn_optimizer *o)
{
    return (const void *)o->options;
}

static void adam_betas(const tarn_optimizer *o, double beta[2])
{
    beta[0] = rule_meant(adam_of(o)->beta1);
    beta[1] = rule_meant(adam_of(o)->beta2);
}

static tarn_tensor root_beta2(const tarn_optimizer *o, tarn_tensor steps)
{
    return tarn_sqrt(count_beta2(o, steps));
}

/* The step from `old` along `g`, which both kinds share. */
static void adam_step(const tarn_optimizer *o, struct update *u, tarn_tensor old, tarn_tensor g)
{
    tarn_replica *r = o->replica;
    double beta[2];
    adam_betas(o, beta);
    const tarn_tensor m = u->state[0], v = u->state[1];
    u->state_now[0] = tarn_add(m, tarn_mul_scalar(tarn_sub(g, m), (float)(1.0 - beta[0])));
    u->state_now[1] = tarn_add(tarn_mul_scalar(v, adam_of(o)->beta2),
                               tarn_mul_scalar(tarn_mul(g, g), (float)(1.0 - beta[1])));
    const tarn_tensor size = tarn_div(tarn_number(r, o->lr), count_spread(o, count_beta1));
    const tarn_tensor correction = count_spread(o, root_beta2);
    const tarn_tensor root = tarn_div(tarn_sqrt(u->state_now[1]), correction);
    const tarn_tensor below = tarn_add_scalar(root, adam_of(o)->eps);
    u->now = tarn_sub(old, tarn_mul(size, tarn_div(u->state_now[0], below)));
}

static void adam_update(const tarn_optimizer *o, struct update *u)
{
    const float decay = adam_of(o)->weight_decay;
    tarn_tensor g = u->g;
    if (decay != 0.0f)
        g = tarn_add(g, tarn_mul_scalar(u->old, decay));
    adam_step(o, u, u->old, g);
}

static void adamw_update(const tarn_optimizer *o, struct update *u)
{
    const double lr = rule_meant(o->lr), decay = rule_meant(adam_of(o)->weight_decay);
    tarn_tensor old = u->old;
    if (decay != 0.0)
        old = tarn_mul(old, tarn_number(o->replica, (float)(1.0 - lr * decay)));
    adam_step(o, u, old, u->g);
}

static const struct rule adam = {
    .name = "adam",
    .state = { "exp_avg", "exp_avg_sq" },
    .counts = true,
    .betas = adam_betas,
    .update = adam_update,
};
static const struct rule adamw = {
    .name = "adamw",
    .state = { "exp_avg", "exp_avg_sq" },
    .counts = true,
    .betas = adam_betas,
    .update = adamw_update,
};

static tarn_optimizer *make_adam(tarn_replica *r, const struct rule *rule, tarn_adam_options o)
{
    o.lr = o.lr != 0.0f ? o.lr : 1e-3f;
    o.beta1 = o.beta1 != 0.0f ? o.beta1 : 0.9f;
    o.beta2 = o.beta2 != 0.0f ? o.beta2 : 0.999f;
    o.eps = o.eps != 0.0f ? o.eps : 1e-8f;
    if (!optimizer_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "beta1", o.beta1, 0.0f, 1.0f) ||
        !optimizer_range(r, "beta2", o.beta2, 0.0f, 1.0f) ||
        !optimizer_range(r, "eps", o.eps, 0.0f, INFINITY) ||
        !optimizer_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY))
        return NULL;
    return optimizer_make(r, rule, o.lr, &o, sizeof o);
}

tarn_optimizer *tarn_adam(tarn_replica *r, tarn_adam_options options)
{
    return make_adam(r, &adam, options);
}

tarn_optimizer *tarn_adamw(tarn_replica *r, tarn_adam_options options)
{
    options.weight_decay = options.weight_decay != 0.0f ? options.weight_decay : 0.01f;
    options.weight_decay = options.weight_decay < 0.0f ? 0.0f : options.weight_decay;
    return make_adam(r, &adamw, options);
}
