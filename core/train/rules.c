/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of optimizer: a record each, with its rule over flat values, and the public function
 * that makes one. No other file knows which kinds there are. */
#include <float.h>
#include <math.h>

#include "op/op.h"
#include "train/optimizer.h"

/* PyTorch computes with doubles here. */
static tarn_tensor times(tarn_tensor x, float by)
{
    return tarn_mul_scalar(x, op_meant(by));
}

/* The part of a mean that is of the newest value. */
static tarn_tensor rest_of(tarn_tensor x, float kept)
{
    return tarn_mul_scalar(x, 1.0 - op_meant(kept));
}

static tarn_tensor constant(const tarn_optimizer *o, double value)
{
    return op_constant_of(o->replica, TARN_SCALAR, o->dtype, value);
}

/* ---- SGD ------------------------------------------------------------------------------------ */

static const tarn_sgd_options *sgd_of(const tarn_optimizer *o)
{
    return (const void *)o->options;
}

/* The first gradient comes to the momentum undamped. */
static tarn_tensor damping(const tarn_optimizer *o, tarn_tensor steps)
{
    const tarn_tensor zero = op_whole(o->replica, 0);
    return tarn_where(tarn_eq(steps, zero), constant(o, 1.0),
                      constant(o, 1.0 - op_meant(sgd_of(o)->dampening)));
}

static void sgd_update(struct update *u)
{
    const tarn_sgd_options *with = sgd_of(u->o);
    tarn_tensor g = group_gradient(u);
    if (with->momentum != 0.0f) {
        tarn_tensor fresh = g;
        if (with->dampening != 0.0f)
            fresh = tarn_mul(g, count_spread(u, damping));
        const tarn_tensor velocity = tarn_add(times(u->state[0], with->momentum), fresh);
        u->state_now[0] = velocity;
        g = with->nesterov ? tarn_add(g, times(velocity, with->momentum)) : velocity;
    }
    u->now = tarn_sub(u->old, tarn_mul(g, group_lr(u)));
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
    return optimizer_make(r, rule,
                          (struct basics){ options.lr, options.weight_decay, options.parameters },
                          &options, sizeof options);
}

/* ---- Adam and AdamW ------------------------------------------------------------------------- */

static const tarn_adam_options *adam_of(const tarn_optimizer *o)
{
    return (const void *)o->options;
}

static void adam_betas(const tarn_optimizer *o, double beta[2])
{
    beta[0] = op_meant(adam_of(o)->beta1);
    beta[1] = op_meant(adam_of(o)->beta2);
}

/* Adam's states; the last one with amsgrad alone. */
enum { MEAN, MEAN_SQUARE, MOST_SQUARE };

static tarn_tensor root_beta2(const tarn_optimizer *o, tarn_tensor steps)
{
    return tarn_sqrt(count_beta2(o, steps));
}

/* The step from `old` along `g`, which both kinds share. */
static void adam_step(struct update *u, tarn_tensor old, tarn_tensor g)
{
    const tarn_adam_options *with = adam_of(u->o);
    const tarn_tensor m = u->state[MEAN], v = u->state[MEAN_SQUARE];
    u->state_now[MEAN] = tarn_add(m, rest_of(tarn_sub(g, m), with->beta1));
    tarn_tensor square = tarn_add(times(v, with->beta2), rest_of(tarn_mul(g, g), with->beta2));
    u->state_now[MEAN_SQUARE] = square;
    if (with->amsgrad)
        u->state_now[MOST_SQUARE] = square = tarn_maximum(u->state[MOST_SQUARE], square);
    const tarn_tensor size = tarn_div(group_lr(u), count_spread(u, count_beta1));
    const tarn_tensor correction = count_spread(u, root_beta2);
    const tarn_tensor root = tarn_div(tarn_sqrt(square), correction);
    const tarn_tensor below = tarn_add(root, constant(u->o, op_meant(with->eps)));
    u->now = tarn_sub(old, tarn_mul(size, tarn_div(u->state_now[MEAN], below)));
}

static void adam_update(struct update *u)
{
    adam_step(u, u->old, group_gradient(u));
}

static void adamw_update(struct update *u)
{
    adam_step(u, group_decayed(u), u->g);
}

#define ADAM_STATE "exp_avg", "exp_avg_sq"
#define ADAM_RULE(kind, ...) \
    { \
        .name = #kind, .state = { __VA_ARGS__ }, .counts = true, .betas = adam_betas, \
        .update = kind##_update \
    }
/* Without and with amsgrad. */
static const struct rule adam[] = { ADAM_RULE(adam, ADAM_STATE),
                                    ADAM_RULE(adam, ADAM_STATE, "max_exp_avg_sq") };
static const struct rule adamw[] = { ADAM_RULE(adamw, ADAM_STATE),
                                     ADAM_RULE(adamw, ADAM_STATE, "max_exp_avg_sq") };

static tarn_optimizer *make_adam(tarn_replica *r, const struct rule *rule, tarn_adam_options o)
{
    o.lr = option_or(o.lr, 1e-3f);
    o.beta1 = option_or(o.beta1, 0.9f);
    o.beta2 = option_or(o.beta2, 0.999f);
    o.eps = option_or(o.eps, 1e-8f);
    if (!optimizer_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "beta1", o.beta1, 0.0f, 1.0f) ||
        !optimizer_range(r, "beta2", o.beta2, 0.0f, 1.0f) ||
        !optimizer_range(r, "eps", o.eps, 0.0f, INFINITY) ||
        !optimizer_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY))
        return NULL;
    return optimizer_make(r, rule, (struct basics){ o.lr, o.weight_decay, o.parameters }, &o,
                          sizeof o);
}

tarn_optimizer *tarn_adam(tarn_replica *r, tarn_adam_options options)
{
    return make_adam(r, &adam[options.amsgrad], options);
}

tarn_optimizer *tarn_adamw(tarn_replica *r, tarn_adam_options options)
{
    options.weight_decay = option_or(options.weight_decay, 0.01f);
    options.weight_decay = options.weight_decay < 0.0f ? 0.0f : options.weight_decay;
    return make_adam(r, &adamw[options.amsgrad], options);
}

/* ---- RMSprop -------------------------------------------------------------------------------- */

enum { SQUARE, AVERAGE }; /* its states; the momentum is the last */

static void rmsprop_update(struct update *u)
{
    const tarn_rmsprop_options *with = (const void *)u->o->options;
    const tarn_tensor g = group_gradient(u);
    u->state_now[SQUARE] =
        tarn_add(times(u->state[SQUARE], with->alpha), rest_of(tarn_mul(g, g), with->alpha));
    tarn_tensor square = u->state_now[SQUARE];
    if (with->centered) {
        const tarn_tensor mean =
            tarn_add(times(u->state[AVERAGE], with->alpha), rest_of(g, with->alpha));
        u->state_now[AVERAGE] = mean;
        square = tarn_maximum(tarn_sub(square, tarn_mul(mean, mean)), constant(u->o, 0.0));
    }
    tarn_tensor way = tarn_div(g, tarn_add(tarn_sqrt(square), constant(u->o, op_meant(with->eps))));
    if (with->momentum != 0.0f) {
        const int k = with->centered ? 2 : 1;
        way = tarn_add(times(u->state[k], with->momentum), way);
        u->state_now[k] = way;
    }
    u->now = tarn_sub(u->old, tarn_mul(way, group_lr(u)));
}

tarn_optimizer *tarn_rmsprop(tarn_replica *r, tarn_rmsprop_options o)
{
    static const struct rule rules[2][2] = {
        { { .name = "rmsprop", .state = { "square_avg" }, .update = rmsprop_update },
          { .name = "rmsprop",
            .state = { "square_avg", "momentum_buffer" },
            .update = rmsprop_update } },
        { { .name = "rmsprop", .state = { "square_avg", "grad_avg" }, .update = rmsprop_update },
          { .name = "rmsprop",
            .state = { "square_avg", "grad_avg", "momentum_buffer" },
            .update = rmsprop_update } },
    };
    o.lr = option_or(o.lr, 0.01f);
    o.alpha = option_or(o.alpha, 0.99f);
    o.eps = option_or(o.eps, 1e-8f);
    if (!optimizer_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "alpha", o.alpha, 0.0f, 1.0f) ||
        !optimizer_range(r, "eps", o.eps, 0.0f, INFINITY) ||
        !optimizer_range(r, "momentum", o.momentum, 0.0f, INFINITY) ||
        !optimizer_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY))
        return NULL;
    return optimizer_make(r, &rules[o.centered][o.momentum != 0.0f],
                          (struct basics){ o.lr, o.weight_decay, o.parameters }, &o, sizeof o);
}

/* ---- Adagrad -------------------------------------------------------------------------------- */

/* What the learning rate is divided by. */
static tarn_tensor adagrad_decay(const tarn_optimizer *o, tarn_tensor steps)
{
    const tarn_adagrad_options *with = (const void *)o->options;
    const tarn_tensor more = tarn_mul_scalar(tarn_cast(steps, o->dtype), op_meant(with->lr_decay));
    return tarn_add(more, constant(o, 1.0));
}

/* States are 0 at first: what the sums begin with is there from the first step of a parameter on. */
static tarn_tensor adagrad_begin(const tarn_optimizer *o, tarn_tensor steps)
{
    const tarn_adagrad_options *with = (const void *)o->options;
    const tarn_tensor first = tarn_cast(tarn_eq_scalar(steps, 0), o->dtype);
    return tarn_mul(first, constant(o, op_meant(with->initial_accumulator_value)));
}

static void adagrad_update(struct update *u)
{
    const tarn_adagrad_options *with = (const void *)u->o->options;
    const tarn_tensor g = group_gradient(u), eps = constant(u->o, op_meant(with->eps));
    tarn_tensor sum = u->state[SQUARE];
    if (with->initial_accumulator_value != 0.0f)
        sum = tarn_add(sum, count_spread(u, adagrad_begin));
    u->state_now[SQUARE] = tarn_add(sum, tarn_mul(g, g));
    tarn_tensor lr = group_lr(u);
    if (with->lr_decay != 0.0f)
        lr = tarn_div(lr, count_spread(u, adagrad_decay));
    const tarn_tensor way = tarn_div(g, tarn_add(tarn_sqrt(u->state_now[SQUARE]), eps));
    u->now = tarn_sub(u->old, tarn_mul(way, lr));
}

tarn_optimizer *tarn_adagrad(tarn_replica *r, tarn_adagrad_options o)
{
    static const struct rule even = { .name = "adagrad",
                                      .state = { "sum" },
                                      .update = adagrad_update };
    static const struct rule counting = {
        .name = "adagrad", .state = { "sum" }, .counts = true, .update = adagrad_update
    };
    o.lr = option_or(o.lr, 0.01f);
    o.eps = option_or(o.eps, 1e-10f);
    if (!optimizer_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "lr_decay", o.lr_decay, 0.0f, INFINITY) ||
        !optimizer_range(r, "eps", o.eps, 0.0f, INFINITY) ||
        !optimizer_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY) ||
        !optimizer_range(r, "initial_accumulator_value", o.initial_accumulator_value, 0.0f,
                         INFINITY))
        return NULL;
    const bool counts = o.lr_decay != 0.0f || o.initial_accumulator_value != 0.0f;
    return optimizer_make(r, counts ? &counting : &even,
                          (struct basics){ o.lr, o.weight_decay, o.parameters }, &o, sizeof o);
}

/* ---- Lion ----------------------------------------------------------------------------------- */

static tarn_tensor blend(tarn_tensor m, tarn_tensor g, float beta)
{
    return tarn_add(times(m, beta), rest_of(g, beta));
}

static void lion_update(struct update *u)
{
    const tarn_lion_options *with = (const void *)u->o->options;
    const tarn_tensor zero = constant(u->o, 0.0);
    const tarn_tensor way = blend(u->state[0], u->g, with->beta1), lr = group_lr(u);
    const tarn_tensor old = group_decayed(u);
    u->state_now[0] = blend(u->state[0], u->g, with->beta2);
    u->now = tarn_where(tarn_gt(way, zero), tarn_sub(old, lr),
                        tarn_where(tarn_lt(way, zero), tarn_add(old, lr), old));
}

tarn_optimizer *tarn_lion(tarn_replica *r, tarn_lion_options o)
{
    static const struct rule lion = { .name = "lion",
                                      .state = { "exp_avg" },
                                      .update = lion_update };
    o.lr = option_or(o.lr, 1e-4f);
    o.beta1 = option_or(o.beta1, 0.9f);
    o.beta2 = option_or(o.beta2, 0.99f);
    if (!optimizer_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "beta1", o.beta1, 0.0f, 1.0f) ||
        !optimizer_range(r, "beta2", o.beta2, 0.0f, 1.0f) ||
        !optimizer_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY))
        return NULL;
    return optimizer_make(r, &lion, (struct basics){ o.lr, o.weight_decay, o.parameters }, &o,
                          sizeof o);
}

/* ---- Adafactor ------------------------------------------------------------------------------ */

/* Means over rows and over columns, or, for less than two dimensions, of each element. */
enum { ROWS, COLUMNS, EACH };

static bool adafactor_state(int which, tarn_shape p, tarn_shape *out)
{
    *out = p;
    if (p.rank >= 2 && which != EACH)
        out->dim[p.rank - (which == ROWS ? 1 : 2)] = 1;
    return (p.rank >= 2) == (which != EACH);
}

/* The part of the newest gradient in a mean, t^beta2_decay. */
static tarn_tensor adafactor_part(const tarn_optimizer *o, tarn_tensor steps)
{
    const tarn_adafactor_options *with = (const void *)o->options;
    const tarn_tensor now = tarn_add_scalar(tarn_cast(steps, o->dtype), 1.0f);
    return o->dtype == TARN_F64 ? tarn_pow(now, constant(o, op_meant(with->beta2_decay)))
                                : tarn_pow_scalar(now, with->beta2_decay);
}

static tarn_tensor root_of_steps(const tarn_optimizer *o, tarn_tensor steps)
{
    return tarn_sqrt(tarn_add_scalar(tarn_cast(steps, o->dtype), 1.0f));
}

static tarn_tensor towards(tarn_tensor mean, tarn_tensor value, tarn_tensor part)
{
    return tarn_add(mean, tarn_mul(part, tarn_sub(value, mean)));
}

static tarn_tensor root_mean_square(tarn_tensor x)
{
    return tarn_sqrt(tarn_mean(tarn_mul(x, x), TARN_ALL, false));
}

/* What the gradient's square is on average. */
static tarn_tensor adafactor_square(struct update *u, double eps)
{
    const tarn_tensor part = count_spread(u, adafactor_part), square = tarn_mul(u->g, u->g);
    const int rank = tarn_shape_get(u->g).rank;
    if (rank < 2)
        return u->state_now[EACH] = towards(u->state[EACH], square, part);
    u->state_now[ROWS] =
        towards(u->state[ROWS], tarn_mean(square, TARN_AXES(rank - 1), true), part);
    u->state_now[COLUMNS] =
        towards(u->state[COLUMNS], tarn_mean(square, TARN_AXES(rank - 2), true), part);
    const tarn_tensor mean = tarn_mean(u->state_now[ROWS], TARN_AXES(rank - 2), true);
    return tarn_div(tarn_mul(u->state_now[ROWS], u->state_now[COLUMNS]),
                    tarn_maximum(mean, constant(u->o, eps)));
}

static double adafactor_eps(const tarn_optimizer *o)
{
    const float eps = ((const tarn_adafactor_options *)(const void *)o->options)->eps1;
    if (!option_is_said(eps))
        return o->dtype == TARN_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    return o->dtype == TARN_F64 ? op_meant(eps) : (double)eps;
}

static void adafactor_update(struct update *u)
{
    const tarn_adafactor_options *with = (const void *)u->o->options;
    const double eps = adafactor_eps(u->o);
    const tarn_tensor one = constant(u->o, 1.0), least = constant(u->o, eps * eps);
    const tarn_tensor square = tarn_maximum(adafactor_square(u, eps), least);
    const tarn_tensor way = tarn_div(u->g, tarn_sqrt(square));
    const tarn_tensor rate =
        tarn_minimum(group_lr(u), tarn_div(one, count_spread(u, root_of_steps)));
    const tarn_tensor size =
        tarn_maximum(root_mean_square(u->old), constant(u->o, op_meant(with->eps2)));
    const tarn_tensor over =
        tarn_maximum(tarn_mul_scalar(root_mean_square(way), 1.0 / op_meant(with->d)), one);
    u->now = tarn_sub(group_decayed(u), tarn_mul(way, tarn_div(tarn_mul(size, rate), over)));
}

tarn_optimizer *tarn_adafactor(tarn_replica *r, tarn_adafactor_options o)
{
    static const struct rule adafactor = { .name = "adafactor",
                                           .state = { "row_var", "col_var", "variance" },
                                           .counts = true,
                                           .state_shape = adafactor_state,
                                           .update = adafactor_update };
    o.lr = option_or(o.lr, 0.01f);
    o.beta2_decay = option_or(o.beta2_decay, -0.8f);
    o.eps2 = option_or(o.eps2, 1e-3f);
    o.d = option_or(o.d, 1.0f);
    if (!optimizer_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "minus beta2_decay", -o.beta2_decay, 0.0f, INFINITY) ||
        !optimizer_range(r, "eps1", o.eps1, 0.0f, INFINITY) ||
        !optimizer_range(r, "eps2", o.eps2, 0.0f, INFINITY) ||
        !optimizer_range(r, "d", o.d, 1.0f, INFINITY) ||
        !optimizer_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY))
        return NULL;
    return optimizer_make(r, &adafactor, (struct basics){ o.lr, o.weight_decay, o.parameters }, &o,
                          sizeof o);
}
