/* SPDX-License-Identifier: Apache-2.0 */
/* What is set for each parameter: a factor of the learning rate and the weight decay, by an
 * optimizer; and whether it is trained at all. Where settings differ they lie on the device, flat as all
 * else: so an update of all parameters stays one nest, and another setting compiles nothing. */
#include <math.h>
#include <stdlib.h>

#include "op/op.h"
#include "tensor/name_match.h"
#include "train/optimizer.h"

tarn_status group_begin(tarn_optimizer *o, float decay)
{
    o->settings = calloc(o->slice_count, sizeof *o->settings);
    if (o->settings == NULL)
        return replica_fail(o->replica, TARN_ERR_MEMORY,
                            "optimizer: out of host memory for its settings");
    for (uint32_t i = 0; i < o->slice_count; i++)
        o->settings[i] = (struct setting){ 1.0f, decay };
    return TARN_OK;
}

/* ---- what rules ask for --------------------------------------------------------------------- */

static struct setting setting_of(const struct update *u)
{
    return u->o->settings[u->slice >= 0 ? u->slice : 0];
}

static bool various(const struct update *u, bool flag)
{
    return flag && u->slice < 0;
}

/* In double, as PyTorch computes it. */
static double lr_of(const struct update *u)
{
    return op_meant(u->o->lr) * op_meant(setting_of(u).factor);
}

tarn_tensor group_lr(const struct update *u)
{
    tarn_replica *r = u->o->replica;
    if (!various(u, u->o->various_factors))
        return op_number_of(r, u->o->dtype, lr_of(u));
    const double lr = u->o->dtype == TARN_F64 ? op_meant(u->o->lr) : (double)u->o->lr;
    return tarn_mul(op_number_of(r, u->o->dtype, lr), owned_handle(r, u->o->factors));
}

static bool decays(const struct update *u)
{
    return various(u, u->o->various_decays) || setting_of(u).decay != 0.0f;
}

static tarn_tensor decay_of(const struct update *u)
{
    tarn_replica *r = u->o->replica;
    return various(u, u->o->various_decays)
               ? owned_handle(r, u->o->decays)
               : op_constant_of(r, TARN_SCALAR, u->o->dtype, op_meant(setting_of(u).decay));
}

tarn_tensor group_gradient(const struct update *u)
{
    return decays(u) ? tarn_add(u->g, tarn_mul(u->old, decay_of(u))) : u->g;
}

tarn_tensor group_decayed(const struct update *u)
{
    tarn_replica *r = u->o->replica;
    if (!decays(u))
        return u->old;
    if (!various(u, u->o->various_decays || u->o->various_factors))
        return tarn_mul(
            u->old, op_number_of(r, u->o->dtype, 1.0 - lr_of(u) * op_meant(setting_of(u).decay)));
    return tarn_mul(u->old,
                    tarn_sub(tarn_full(r, TARN_SCALAR, 1.0f), tarn_mul(group_lr(u), decay_of(u))));
}

/* ---- settings ------------------------------------------------------------------------------- */

static float factor_of(struct setting s)
{
    return s.factor;
}

static float weight_decay_of(struct setting s)
{
    return s.decay;
}

/* Brings one of the two to the device, where it differs between parameters. */
static tarn_status put_on_device(const tarn_optimizer *o, float (*of)(struct setting), bool *differ,
                                 uint32_t *flat)
{
    tarn_replica *r = o->replica;
    *differ = false;
    for (uint32_t i = 1; i < o->slice_count && !o->apart; i++)
        *differ |= of(o->settings[i]) != of(o->settings[0]);
    if (!*differ || o->total == 0)
        return TARN_OK;
    const bool wide = o->dtype == TARN_F64;
    void *data = calloc((size_t)o->total, tarn_dtype_bytes(o->dtype));
    if (data == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its settings");
    float *const single = data;
    double *const twice = data;
    size_t at = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const size_t end = at + (size_t)flat_extent(r->owned[o->slices[i] - 1].shape);
        for (; at < end; at++)
            if (wide)
                twice[at] = op_meant(of(o->settings[i]));
            else
                single[at] = of(o->settings[i]);
    }
    if (*flat == 0)
        *flat = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(o->total), o->dtype, data);
    const tarn_status s = *flat != 0 ? owned_write(r, &r->owned[*flat - 1], data) : r->status;
    free(data);
    return s;
}

/* Sets a field of all parameters that match; 0 of them is an error, as it is a slip of the pen. */
static void set(tarn_optimizer *o, const char *pattern, const char *name, float value, bool factor)
{
    tarn_replica *r = o->replica;
    uint32_t found = 0;
    if (r->status != TARN_OK || !optimizer_range(r, name, value, 0.0f, INFINITY))
        return;
    if (r->updates) {
        replica_fail(r, TARN_ERR_STATE,
                     "optimizer: %s: an optimizer stepped in this step; call tarn_step() before",
                     name);
        return;
    }
    for (uint32_t i = 0; i < o->slice_count; i++) {
        if (!name_matches(pattern, r->owned[o->slices[i] - 1].name))
            continue;
        found++;
        *(factor ? &o->settings[i].factor : &o->settings[i].decay) = value;
    }
    if (found == 0)
        replica_fail(r, TARN_ERR_ARGUMENT,
                     "optimizer: %s: none of its parameters has a name that matches \"%s\"", name,
                     pattern != NULL ? pattern : "");
    else if (factor)
        (void)put_on_device(o, factor_of, &o->various_factors, &o->factors);
    else
        (void)put_on_device(o, weight_decay_of, &o->various_decays, &o->decays);
}

void tarn_optimizer_scale_lr(tarn_optimizer *o, const char *parameters, float factor)
{
    if (o != NULL)
        set(o, parameters, "the factor of the learning rate", factor, true);
    else
        error_set(TARN_ERR_ARGUMENT, "optimizer_scale_lr: the optimizer is NULL");
}

void tarn_optimizer_set_weight_decay(tarn_optimizer *o, const char *parameters, float decay)
{
    if (o != NULL)
        set(o, parameters, "weight_decay", decay, false);
    else
        error_set(TARN_ERR_ARGUMENT, "optimizer_set_weight_decay: the optimizer is NULL");
}

/* ---- frozen parameters ---------------------------------------------------------------------- */

static bool has_kept(const tarn_replica *r, uint32_t index_plus_one)
{
    for (const tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one)
        for (uint32_t i = 0; i < o->slice_count; i++)
            if (o->slices[i] == index_plus_one)
                return o->now.has[i];
    return false;
}

void tarn_freeze(tarn_replica *r, const char *parameters, bool frozen)
{
    uint32_t found = 0;
    if (r == NULL)
        error_set(TARN_ERR_ARGUMENT, "freeze: the replica is NULL");
    for (uint32_t i = 0; r != NULL && r->status == TARN_OK && i < r->owned_count; i++) {
        struct owned *p = &r->owned[i];
        if (p->kind != OWNED_PARAMETER || !name_matches(parameters, p->name))
            continue;
        found++;
        if (p->frozen != frozen && (p->node || p->grad || has_kept(r, i + 1)))
            replica_fail(r, TARN_ERR_STATE, "freeze: %s %s; call tarn_freeze() %s", p->name,
                         p->node || p->grad ? "was used in this step already"
                                            : "has an accumulated gradient",
                         p->node || p->grad ? "between two steps" : "after tarn_optimizer_step()");
        else
            p->frozen = frozen;
    }
    if (r != NULL && r->status == TARN_OK && found == 0)
        replica_fail(r, TARN_ERR_ARGUMENT, "freeze: no parameter has a name that matches \"%s\"",
                     parameters != NULL ? parameters : "");
}
