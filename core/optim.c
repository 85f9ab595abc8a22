/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers: one update of all parameters at once, over flat storage. */
#include "optim.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"

/* Slices begin at multiples of 64 bytes. */
#define SLICE_ALIGN 16
/* Optimizer steps between two looks at the flag: a look waits for the device. */
#define CHECK_EVERY 64

enum method { METHOD_SGD, METHOD_ADAM, METHOD_ADAMW };

struct tarn_optimizer {
    tarn_replica *replica;
    enum method method;
    float lr, momentum, dampening, weight_decay, beta1, beta2, eps;
    bool nesterov;
    uint32_t *slices; /* the parameters in flat order: index + 1 */
    uint32_t slice_count;
    int32_t total;       /* elements of the flat storage */
    uint32_t flat;       /* parameters: index + 1, as the rest */
    uint32_t state[2];   /* flat: momentum; or first and second moment; 0: none */
    uint32_t step, flag; /* int32 scalars: finished steps; first step with a bad gradient, or 0 */
    uint64_t steps;      /* as `step`, on the host */
    uint32_t kept;       /* flat: gradients of steps that only accumulated; 0: never did */
    bool accumulated;    /* `kept` holds some */
};

/* ---- flat storage ---------------------------------------------------------------------------- */

static int64_t padded(tarn_shape s)
{
    return (tarn_shape_count(s) + SLICE_ALIGN - 1) / SLICE_ALIGN * SLICE_ALIGN;
}

static tarn_status collect(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    int64_t total = 0;
    o->slices = calloc(r->owned_count ? r->owned_count : 1, sizeof *o->slices);
    if (!o->slices)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory for its list");
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].kind != OWNED_PARAMETER)
            continue;
        o->slices[o->slice_count++] = i + 1;
        total += padded(r->owned[i].shape);
        if (total > INT32_MAX)
            return replica_fail(r, TARN_ERR_SHAPE, "optimizer: more than 2^31 - 1 parameters");
    }
    if (o->slice_count == 0)
        return replica_fail(r, TARN_ERR_STATE,
                            "optimizer: the replica has no parameters yet; make the layers first");
    o->total = (int32_t)total;
    return TARN_OK;
}

static tarn_status read_parameters(const tarn_optimizer *o, float *data)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const struct owned *p = &o->replica->owned[o->slices[i] - 1];
        if (p->assigned)
            return replica_fail(o->replica, TARN_ERR_STATE,
                                "optimizer: %s was assigned in this step; call tarn_step() before "
                                "making the optimizer",
                                p->name);
        TRY(owned_read(o->replica, p, data + at));
        at += padded(p->shape);
    }
    return TARN_OK;
}

/* Moves all parameters into one buffer. */
static tarn_status flatten(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    float *data = calloc(o->total ? (size_t)o->total : 1, sizeof *data);
    if (!data)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory for %d values",
                            o->total);
    const tarn_status s = read_parameters(o, data);
    if (s == TARN_OK)
        o->flat = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(o->total), TARN_F32, data);
    free(data);
    if (s != TARN_OK || !o->flat)
        return r->status;
    size_t at = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        struct owned *p = &r->owned[o->slices[i] - 1];
        if (!p->flat)
            buffer_free(p->buffer);
        p->buffer = r->owned[o->flat - 1].buffer;
        p->offset = at * sizeof(float);
        p->flat = o->flat;
        at += (size_t)padded(p->shape);
    }
    return TARN_OK;
}

static tarn_status add_state(tarn_optimizer *o, int which, const char *kind)
{
    tarn_replica *r = o->replica;
    o->state[which] = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(o->total), TARN_F32, NULL);
    for (uint32_t i = 0; o->state[which] && i < o->slice_count; i++) {
        const struct owned *p = &r->owned[o->slices[i] - 1];
        const tarn_shape shape = p->shape;
        const size_t offset = p->offset, bytes = strlen(p->name) + strlen(kind) + 16;
        char *name = malloc(bytes);
        if (!name)
            return replica_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory for a name");
        snprintf(name, bytes, "optimizer.%s.%s", kind, p->name);
        const uint32_t slice =
            owned_add_slice(r, OWNED_STATE, name, shape, o->state[which], offset);
        free(name);
        if (!slice)
            return r->status;
    }
    return r->status;
}

static tarn_status set_up(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    TRY(collect(o));
    TRY(flatten(o));
    if (o->method == METHOD_SGD) {
        if (o->momentum != 0.0f)
            TRY(add_state(o, 0, "momentum_buffer"));
    } else {
        TRY(add_state(o, 0, "exp_avg"));
        TRY(add_state(o, 1, "exp_avg_sq"));
    }
    const int32_t zero = 0;
    o->step = owned_add(r, OWNED_STATE, "optimizer.step", TARN_SCALAR, TARN_I32, NULL);
    o->flag = owned_add(r, OWNED_KEPT, NULL, TARN_SCALAR, TARN_I32, &zero);
    return r->status;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void optimizer_free(void *self)
{
    tarn_optimizer *o = self;
    if (o->replica->optimizer == o)
        o->replica->optimizer = NULL;
    free(o->slices);
    free(o);
}

static tarn_optimizer *make(const tarn_optimizer *settings)
{
    tarn_replica *r = settings->replica;
    if (r->status != TARN_OK)
        return NULL;
    if (r->optimizer) {
        replica_fail(r, TARN_ERR_STATE, "optimizer: the replica has one already");
        return NULL;
    }
    tarn_optimizer *o = malloc(sizeof *o);
    if (!o) {
        replica_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory");
        return NULL;
    }
    *o = *settings;
    if (set_up(o) != TARN_OK || replica_register(r, optimizer_free, o) != TARN_OK) {
        optimizer_free(o);
        return NULL;
    }
    r->optimizer = o;
    return o;
}

static bool check_range(tarn_replica *r, const char *name, float value, float low, float below)
{
    if (!r) {
        error_set(TARN_ERR_ARGUMENT, "optimizer: the replica is NULL");
        return false;
    }
    if (value >= low && value < below)
        return true;
    replica_fail(r, TARN_ERR_ARGUMENT, "optimizer: %s is %g, must be from %g to below %g", name,
                 (double)value, (double)low, (double)below);
    return false;
}

tarn_optimizer *tarn_sgd(tarn_replica *r, tarn_sgd_options options)
{
    if (!check_range(r, "lr", options.lr, 0.0f, INFINITY) ||
        !check_range(r, "momentum", options.momentum, 0.0f, INFINITY) ||
        !check_range(r, "dampening", options.dampening, -INFINITY, INFINITY) ||
        !check_range(r, "weight_decay", options.weight_decay, 0.0f, INFINITY))
        return NULL;
    if (options.nesterov && (options.momentum == 0.0f || options.dampening != 0.0f)) {
        replica_fail(r, TARN_ERR_ARGUMENT,
                     "sgd: nesterov needs a momentum above 0 and no dampening");
        return NULL;
    }
    return make(&(tarn_optimizer){
        .replica = r,
        .method = METHOD_SGD,
        .lr = options.lr,
        .momentum = options.momentum,
        .dampening = options.dampening,
        .weight_decay = options.weight_decay,
        .nesterov = options.nesterov,
    });
}

static tarn_optimizer *make_adam(tarn_replica *r, tarn_adam_options o, enum method method)
{
    o.lr = o.lr != 0.0f ? o.lr : 1e-3f;
    o.beta1 = o.beta1 != 0.0f ? o.beta1 : 0.9f;
    o.beta2 = o.beta2 != 0.0f ? o.beta2 : 0.999f;
    o.eps = o.eps != 0.0f ? o.eps : 1e-8f;
    if (method == METHOD_ADAMW) {
        o.weight_decay = o.weight_decay != 0.0f ? o.weight_decay : 0.01f;
        o.weight_decay = o.weight_decay < 0.0f ? 0.0f : o.weight_decay;
    }
    if (!check_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !check_range(r, "beta1", o.beta1, 0.0f, 1.0f) ||
        !check_range(r, "beta2", o.beta2, 0.0f, 1.0f) ||
        !check_range(r, "eps", o.eps, 0.0f, INFINITY) ||
        !check_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY))
        return NULL;
    return make(&(tarn_optimizer){
        .replica = r,
        .method = method,
        .lr = o.lr,
        .beta1 = o.beta1,
        .beta2 = o.beta2,
        .eps = o.eps,
        .weight_decay = o.weight_decay,
    });
}

tarn_optimizer *tarn_adam(tarn_replica *r, tarn_adam_options options)
{
    return make_adam(r, options, METHOD_ADAM);
}

tarn_optimizer *tarn_adamw(tarn_replica *r, tarn_adam_options options)
{
    return make_adam(r, options, METHOD_ADAMW);
}

void tarn_optimizer_set_lr(tarn_optimizer *o, float lr)
{
    if (o && check_range(o->replica, "lr", lr, 0.0f, INFINITY))
        o->lr = lr;
}

float tarn_optimizer_lr(const tarn_optimizer *o)
{
    return o ? o->lr : 0.0f;
}

/* ---- the flat gradient ----------------------------------------------------------------------- */

/* Gradients of slices first .. last - 1 in flat order (zeros for a missing one), or with `mask` 1
 * where there is one. */
static tarn_tensor gradient_of(const tarn_optimizer *o, uint32_t first, uint32_t last, bool mask)
{
    tarn_replica *r = o->replica;
    tarn_tensor *pieces = calloc(2 * (size_t)(last - first) + 1, sizeof *pieces);
    if (!pieces)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory for its list");
    uint32_t count = 0;
    for (uint32_t i = first; i < last; i++) {
        const struct owned p = r->owned[o->slices[i] - 1];
        const int32_t n = (int32_t)tarn_shape_count(p.shape), gap = (int32_t)padded(p.shape) - n;
        if (n == 0)
            continue;
        if (p.grad && !mask)
            pieces[count++] = tarn_reshape(graph_handle(r, p.grad), TARN_SHAPE(n));
        else
            pieces[count++] = tarn_full(r, TARN_SHAPE(n), p.grad ? 1.0f : 0.0f);
        if (gap)
            pieces[count++] = tarn_zeros(r, TARN_SHAPE(gap));
    }
    const tarn_tensor g = count ? op_join(pieces, count) : tarn_zeros(r, TARN_SHAPE(0));
    free(pieces);
    return g;
}

/* The same with what earlier steps accumulated. */
static tarn_tensor whole_gradient(const tarn_optimizer *o, uint32_t first, uint32_t last)
{
    tarn_replica *r = o->replica;
    const tarn_tensor g = gradient_of(o, first, last, false);
    if (!o->accumulated || tarn_failed(g))
        return g;
    const int32_t at = (int32_t)(r->owned[o->slices[first] - 1].offset / sizeof(float));
    const int32_t n = tarn_shape_get(g).dim[0];
    return tarn_add(g, tarn_slice(owned_handle(r, o->kept), 0, at, at + n, 1));
}

/* The sum over all replicas, in buckets that begin at a slice: while the first, of the last layers,
 * is on its way, the device still computes the others. */
static tarn_tensor reduced_gradient(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    tarn_tensor *buckets = calloc((size_t)o->slice_count + 1, sizeof *buckets);
    if (!buckets)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory for its buckets");
    uint32_t used = o->slice_count; /* buckets[used ..] are done, in flat order */
    for (uint32_t last = o->slice_count; last > 0;) {
        uint32_t first = last;
        size_t bytes = 0;
        while (first > 0 && (bytes == 0 || bytes < r->peers->bucket_bytes))
            bytes += (size_t)padded(r->owned[o->slices[--first] - 1].shape) * sizeof(float);
        const tarn_tensor bucket = whole_gradient(o, first, last);
        buckets[--used] = r->peers->reduce(bucket, last == o->slice_count);
        last = first;
    }
    const tarn_tensor g = op_join(buckets + used, o->slice_count - used);
    free(buckets);
    return g;
}

/* All gradients of this step, of all replicas, in flat order. */
static tarn_tensor flat_gradient(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    if (r->flat_gradient)
        return graph_handle(r, r->flat_gradient);
    return r->peers && r->peers->world > 1 ? reduced_gradient(o)
                                           : whole_gradient(o, 0, o->slice_count);
}

/* ---- the step -------------------------------------------------------------------------------- */

/* What the caller of a float meant: 0.9f is 0.9. PyTorch computes with doubles here. */
static double meant(float value)
{
    const double rounded = round((double)value * 1e7) * 1e-7;
    return (float)rounded == value ? rounded : (double)value;
}

/* Values of one step, flat: old and new. */
struct update {
    tarn_tensor g, old, now, state[2], state_now[2];
};

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

/* uint8 scalar: whether an element is NaN or infinite. A NaN compares false. */
static tarn_tensor not_finite(tarn_tensor g)
{
    tarn_replica *r = g.replica;
    const tarn_tensor fine = tarn_le(tarn_abs(g), tarn_full(r, TARN_SCALAR, FLT_MAX));
    const tarn_tensor ones =
        tarn_where(fine, tarn_full(r, TARN_SCALAR, 0.0f), tarn_full(r, TARN_SCALAR, 1.0f));
    return tarn_gt(tarn_sum(ones, TARN_ALL, false), tarn_full(r, TARN_SCALAR, 0.0f));
}

static void record_counters(const tarn_optimizer *o, tarn_tensor bad)
{
    tarn_replica *r = o->replica;
    const tarn_tensor zero = op_constant_of(r, TARN_SCALAR, TARN_I32, 0.0);
    const tarn_tensor one = op_constant_of(r, TARN_SCALAR, TARN_I32, 1.0);
    const tarn_tensor step = owned_handle(r, o->step), flag = owned_handle(r, o->flag);
    const tarn_tensor next = tarn_add(step, one);
    const tarn_tensor first = tarn_where(bad, next, zero);
    tarn_assign(flag, tarn_where(tarn_ne(flag, zero), flag, first));
    tarn_assign(step, tarn_where(bad, step, next));
}

static bool check_gradients(const tarn_optimizer *o, bool *all)
{
    tarn_replica *r = o->replica;
    uint32_t with = 0, owned = 0;
    for (uint32_t i = 0; i < o->slice_count; i++)
        with += r->owned[o->slices[i] - 1].grad != 0;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        owned += r->owned[i].kind == OWNED_PARAMETER;
        if (r->owned[i].kind == OWNED_PARAMETER && r->owned[i].flat != o->flat) {
            replica_fail(r, TARN_ERR_STATE,
                         "optimizer: parameter %s was made after the optimizer; make layers first",
                         r->owned[i].name);
            return false;
        }
    }
    *all = with == owned;
    if (with == 0)
        replica_fail(r, TARN_ERR_STATE,
                     "optimizer: no parameter has a gradient; call tarn_backward() before "
                     "tarn_optimizer_step()");
    return with != 0;
}

static void record_update(const tarn_optimizer *o, bool all)
{
    tarn_replica *r = o->replica;
    struct update u = { .g = flat_gradient(o), .old = owned_handle(r, o->flat) };
    const tarn_tensor old = graph_handle(r, graph_resolve(u.old));
    u.old = old;
    for (int i = 0; i < 2 && o->state[i]; i++)
        u.state[i] = graph_handle(r, graph_resolve(owned_handle(r, o->state[i])));
    const tarn_tensor bad = not_finite(u.g);
    if (o->method == METHOD_SGD)
        update_sgd(o, &u);
    else
        update_adam(o, &u);
    tarn_tensor stay = bad;
    if (!all) {
        const tarn_tensor zero = tarn_full(r, TARN_SCALAR, 0.0f);
        const tarn_tensor hold = tarn_eq(gradient_of(o, 0, o->slice_count, true), zero);
        stay = tarn_maximum(hold, bad);
    }
    tarn_assign(owned_handle(r, o->flat), tarn_where(stay, old, u.now));
    for (int i = 0; i < 2 && o->state[i]; i++)
        tarn_assign(owned_handle(r, o->state[i]), tarn_where(stay, u.state[i], u.state_now[i]));
    record_counters(o, bad);
}

void tarn_optimizer_step(tarn_optimizer *o)
{
    if (!o) {
        error_set(TARN_ERR_ARGUMENT, "optimizer_step: the optimizer is NULL");
        return;
    }
    tarn_replica *r = o->replica;
    bool all;
    if (r->status != TARN_OK || !check_gradients(o, &all))
        return;
    if (o->steps % CHECK_EVERY == CHECK_EVERY - 1 && optimizer_check(r) != TARN_OK)
        return;
    record_update(o, all);
    if (r->status == TARN_OK) {
        o->steps++;
        o->accumulated = false;
        r->updates = true;
    }
}

void tarn_optimizer_accumulate(tarn_optimizer *o)
{
    if (!o) {
        error_set(TARN_ERR_ARGUMENT, "optimizer_accumulate: the optimizer is NULL");
        return;
    }
    tarn_replica *r = o->replica;
    bool all;
    if (r->status != TARN_OK || !check_gradients(o, &all))
        return;
    if (!o->kept) {
        float *zeros = calloc((size_t)o->total + 1, sizeof *zeros);
        if (!zeros) {
            replica_fail(r, TARN_ERR_MEMORY, "optimizer_accumulate: no host memory");
            return;
        }
        o->kept = owned_add(r, OWNED_KEPT, NULL, TARN_SHAPE(o->total), TARN_F32, zeros);
        free(zeros);
    }
    const tarn_tensor g = whole_gradient(o, 0, o->slice_count);
    if (r->status != TARN_OK)
        return;
    tarn_assign(owned_handle(r, o->kept), g);
    o->accumulated = r->status == TARN_OK;
}

/* ---- looking back ---------------------------------------------------------------------------- */

tarn_status optimizer_reload(tarn_replica *r)
{
    tarn_optimizer *o = r->optimizer;
    int32_t steps = 0;
    if (!o)
        return TARN_OK;
    TRY(owned_read(r, &r->owned[o->step - 1], &steps));
    o->steps = steps > 0 ? (uint64_t)steps : 0;
    return TARN_OK;
}

tarn_status optimizer_check(tarn_replica *r)
{
    const tarn_optimizer *o = r->optimizer;
    int32_t step = 0;
    if (!o)
        return TARN_OK;
    TRY(owned_read(r, &r->owned[o->flag - 1], &step));
    if (step == 0)
        return TARN_OK;
    const int32_t zero = 0;
    TRY(owned_write(r, &r->owned[o->flag - 1], &zero));
    TRY(optimizer_reload(r));
    return replica_fail(r, TARN_ERR_NOT_FINITE,
                        "optimizer: the gradient of optimizer step %d holds a NaN or an infinity; "
                        "such steps changed no parameter; lower the learning rate, or use "
                        "tarn_clip_grad_norm()",
                        step);
}

/* ---- clipping ------------------------------------------------------------------------------ */

/* Sums the gradients of all replicas now, since only their norm is the norm. */
static bool reduce_early(tarn_replica *r)
{
    const tarn_optimizer *o = r->optimizer;
    bool all;
    const bool alone = !r->peers || r->peers->world == 1;
    if (r->flat_gradient || (alone && !(o && o->accumulated)))
        return true;
    if (!o) {
        replica_fail(r, TARN_ERR_STATE,
                     "clip_grad_norm: on several devices the optimizer must be made before");
        return false;
    }
    if (!check_gradients(o, &all))
        return false;
    r->flat_gradient = flat_gradient(o).node;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const uint32_t p = o->slices[i] - 1;
        if (r->owned[p].grad)
            r->owned[p].grad = owned_slice(r, p, r->flat_gradient).node;
    }
    return r->status == TARN_OK;
}

tarn_tensor tarn_clip_grad_norm(tarn_replica *r, float max_norm)
{
    if (!check_range(r, "max_norm", max_norm, 0.0f, INFINITY) || !reduce_early(r))
        return graph_poison(r);
    tarn_tensor squares = TARN_NONE;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].kind != OWNED_PARAMETER || !r->owned[i].grad)
            continue;
        const tarn_tensor g = graph_handle(r, r->owned[i].grad);
        const tarn_tensor sum = tarn_sum(tarn_mul(g, g), TARN_ALL, false);
        squares = squares.replica ? tarn_add(squares, sum) : sum;
    }
    if (!squares.replica)
        return graph_fail(
            r, TARN_ERR_STATE,
            "clip_grad_norm: no parameter has a gradient; call tarn_backward() first");
    const tarn_tensor norm = tarn_sqrt(squares);
    const tarn_tensor ratio =
        tarn_div(tarn_full(r, TARN_SCALAR, max_norm), tarn_add_scalar(norm, 1e-6f));
    const tarn_tensor scale = tarn_minimum(ratio, tarn_full(r, TARN_SCALAR, 1.0f));
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].kind != OWNED_PARAMETER || !r->owned[i].grad)
            continue;
        const tarn_tensor g = tarn_mul(graph_handle(r, r->owned[i].grad), scale);
        r->owned[i].grad = g.node;
    }
    if (r->flat_gradient)
        r->flat_gradient = tarn_mul(graph_handle(r, r->flat_gradient), scale).node;
    return norm;
}
