/* SPDX-License-Identifier: Apache-2.0 */
#include "optim_oracle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tarn_dist.h"

/* Gradients keep their sign, so that no update divides by a value that cancelled. */
static const double curvature = 1.0 / 64;

int oracle_size(int parameter)
{
    static const int sizes[ORACLE_PARAMETERS] = { 3, 18, 1 };
    return sizes[parameter];
}

static double slope(int parameter, int i)
{
    return (1.0 + 0.0625 * (i % 16)) * ((i + parameter) % 3 == 0 ? -1 : 1);
}

static double start_value(int parameter, int i)
{
    return 0.125 * ((5 * i + 3 * parameter) % 16) - 1;
}

void oracle_begin(struct oracle *o, const struct oracle_rule *rule)
{
    memset(o, 0, sizeof *o);
    o->rule = rule;
    for (int k = 0; k < ORACLE_PARAMETERS; k++)
        for (int i = 0; i < oracle_size(k); i++)
            o->p[k].value[i] = start_value(k, i);
}

void oracle_backward(struct oracle *o, unsigned mask, double scale)
{
    for (int k = 0; k < ORACLE_PARAMETERS; k++) {
        struct oracle_parameter *p = &o->p[k];
        if (!(mask >> k & 1))
            continue;
        for (int i = 0; i < oracle_size(k); i++) {
            const double g = scale * (slope(k, i) + curvature * p->value[i]);
            p->grad[i] = p->has_grad ? p->grad[i] + g : g;
        }
        p->has_grad = true;
    }
}

bool oracle_has_grad(const struct oracle *o)
{
    bool has = false;
    for (int k = 0; k < ORACLE_PARAMETERS; k++)
        has |= o->p[k].has_grad;
    return has;
}

static double squares(const struct oracle *o)
{
    double sum = 0;
    for (int k = 0; k < ORACLE_PARAMETERS; k++)
        for (int i = 0; o->p[k].has_grad && i < oracle_size(k); i++)
            sum += o->p[k].grad[i] * o->p[k].grad[i];
    return sum;
}

double oracle_clip(struct oracle *o, double max_norm)
{
    const double norm = sqrt(squares(o));
    double scale = isinf(max_norm) ? 1 : max_norm / (norm + 1e-6);
    scale = scale > 1 ? 1 : scale; /* a NaN stays */
    for (int k = 0; k < ORACLE_PARAMETERS; k++)
        for (int i = 0; i < oracle_size(k); i++)
            o->p[k].grad[i] *= scale;
    return norm;
}

static void step_sgd(const struct oracle_rule *rule, struct oracle_parameter *p, int i, double g)
{
    g += rule->decay * p->value[i];
    if (rule->momentum != 0) {
        double *buffer = &p->state[0][i];
        *buffer = p->steps == 0 ? g : rule->momentum * *buffer + (1 - rule->dampening) * g;
        g = rule->nesterov ? g + rule->momentum * *buffer : *buffer;
    }
    p->value[i] -= rule->lr * g;
}

static void step_adam(const struct oracle_rule *rule, struct oracle_parameter *p, int i, double g)
{
    double *m = &p->state[0][i], *v = &p->state[1][i];
    const int t = p->steps + 1;
    if (rule->method == ORACLE_ADAMW)
        p->value[i] *= 1 - rule->lr * rule->decay;
    else
        g += rule->decay * p->value[i];
    *m += (1 - rule->beta1) * (g - *m);
    *v = rule->beta2 * *v + (1 - rule->beta2) * g * g;
    const double root = sqrt(*v) / sqrt(1 - pow(rule->beta2, t));
    p->value[i] -= rule->lr / (1 - pow(rule->beta1, t)) * *m / (root + rule->eps);
}

void oracle_step(struct oracle *o)
{
    const bool finite = isfinite(squares(o));
    o->skipped += !finite;
    for (int k = 0; k < ORACLE_PARAMETERS; k++) {
        struct oracle_parameter *p = &o->p[k];
        for (int i = 0; p->has_grad && finite && i < oracle_size(k); i++) {
            if (o->rule->method == ORACLE_SGD)
                step_sgd(o->rule, p, i, p->grad[i]);
            else
                step_adam(o->rule, p, i, p->grad[i]);
        }
        p->steps += p->has_grad && finite;
        p->has_grad = false;
    }
}

/* ---- on a replica --------------------------------------------------------------------------- */

static tarn_optimizer *make_optimizer(tarn_replica *r, const struct oracle_rule *rule)
{
    if (rule->method == ORACLE_SGD)
        return tarn_sgd(r, (tarn_sgd_options){ .lr = (float)rule->lr,
                                               .momentum = (float)rule->momentum,
                                               .dampening = (float)rule->dampening,
                                               .weight_decay = (float)rule->decay,
                                               .nesterov = rule->nesterov });
    const tarn_adam_options options = { .lr = (float)rule->lr,
                                        .beta1 = (float)rule->beta1,
                                        .beta2 = (float)rule->beta2,
                                        .eps = (float)rule->eps,
                                        .weight_decay = (float)rule->decay };
    return rule->method == ORACLE_ADAM ? tarn_adam(r, options) : tarn_adamw(r, options);
}

bool oracle_make(struct oracle_replica *a, tarn_replica *r, const struct oracle_rule *rule)
{
    static const char *const names[ORACLE_PARAMETERS] = { "a", "b", "c" };
    a->r = r;
    for (int k = 0; k < ORACLE_PARAMETERS; k++) {
        float data[ORACLE_MOST];
        for (int i = 0; i < oracle_size(k); i++)
            data[i] = (float)start_value(k, i);
        a->p[k] = tarn_parameter(r, names[k], TARN_SHAPE(oracle_size(k)), data);
    }
    a->optimizer = make_optimizer(r, rule);
    return a->optimizer != NULL;
}

void oracle_replica_backward(const struct oracle_replica *a, unsigned mask, float scale)
{
    tarn_tensor loss = tarn_full(a->r, TARN_SCALAR, 0);
    for (int k = 0; k < ORACLE_PARAMETERS; k++) {
        const tarn_tensor p = a->p[k];
        float w[ORACLE_MOST];
        if (!(mask >> k & 1))
            continue;
        for (int i = 0; i < oracle_size(k); i++)
            w[i] = (float)slope(k, i);
        const tarn_tensor slopes = tarn_from(a->r, TARN_SHAPE(oracle_size(k)), TARN_F32, w);
        const tarn_tensor square = tarn_mul_scalar(tarn_mul(p, p), (float)curvature / 2);
        loss = tarn_add(loss, tarn_sum(tarn_add(tarn_mul(slopes, p), square), TARN_ALL, false));
    }
    tarn_backward_weighted(tarn_mul(loss, tarn_number(a->r, scale)), 1.0f);
}

/* ---- sequences ------------------------------------------------------------------------------ */

/* The calls of one step. */
static const char *const calls[] = { "cs",   "as",   "bs",   "cu",  "au",   "bu",    "cku",  "aks",
                                     "ckcs", "cucu", "cuks", "cus", "aubs", "cscs",  "csau", "s",
                                     "u",    "ks",   "c",    "kms", "kau",  "caubs", "ckaks" };
enum { CALLS = sizeof calls / sizeof *calls };

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

struct script {
    char text[512];
    size_t used;
};

static void note(struct script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct script *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(s->text + s->used, sizeof s->text - s->used, format, list);
    va_end(list);
    s->used += n > 0 && (size_t)n < sizeof s->text - s->used ? (size_t)n : 0;
}

/* Every rank has its part of a gradient: rank i of n i + 1 of n (n + 1) / 2 parts. */
static double part_of(const tarn_replica *r)
{
    const int n = tarn_world_size(r);
    return n > 1 ? (tarn_rank(r) + 1) / (n * (n + 1) / 2.0) : 1;
}

void oracle_call(const struct oracle_replica *a, struct oracle *o, char c, double scale)
{
    static const unsigned masks[] = { 1, 2, 7 };
    if (c == 'a' || c == 'b' || c == 'c') {
        oracle_backward(o, masks[c - 'a'], scale);
        oracle_replica_backward(a, masks[c - 'a'], (float)(scale * part_of(a->r)));
        return;
    }
    if (!oracle_has_grad(o))
        return; /* is refused */
    if (c == 'k' || c == 'm') {
        oracle_clip(o, c == 'k' ? 1 : INFINITY);
        (void)tarn_clip_grad_norm(a->r, c == 'k' ? 1 : INFINITY);
    } else if (c == 's') {
        oracle_step(o);
        tarn_optimizer_step(a->optimizer);
    } else {
        tarn_optimizer_accumulate(a->optimizer);
    }
}

static void keep_grad(struct oracle *to, const struct oracle *from)
{
    for (int k = 0; k < ORACLE_PARAMETERS; k++) {
        memcpy(to->p[k].grad, from->p[k].grad, sizeof to->p[k].grad);
        to->p[k].has_grad = from->p[k].has_grad;
    }
}

/* Follows the calls of one step; `o` becomes what holds after its mark: without what was neither
 * accumulated nor used. */
static void step_calls(const struct oracle_replica *a, struct oracle *o, const char *text,
                       uint64_t *state, struct script *s)
{
    struct oracle kept = *o;
    for (const char *c = text; *c; c++) {
        const bool bad = *c >= 'a' && *c <= 'c' && draw(state, 16) == 0;
        const double scale = bad ? NAN : ldexp(1, (int)draw(state, 3) - 1);
        if (*c >= 'a' && *c <= 'c')
            note(s, "%g", scale);
        note(s, "%c", *c);
        oracle_call(a, o, *c, scale);
        if (*c == 'u' || *c == 's')
            keep_grad(&kept, o);
    }
    keep_grad(o, &kept);
}

/* Values stay below 16; u is 2^-24. A step of SGD adds lr times at most 64, with an error of at
 * most 24 u of it; one of Adam lr times at most 2, with at most 60 u. */
double oracle_limit(const struct oracle_rule *rule, int steps)
{
    const double unit = ldexp(1, -24), added = rule->method == ORACLE_SGD ? 64 * 24 : 2 * 60;
    return (steps + 1) * (16 + rule->lr * added) * unit;
}

static bool compare(const struct oracle_replica *a, const struct oracle *o, int steps,
                    struct script *s)
{
    for (int k = 0; k < ORACLE_PARAMETERS; k++) {
        float got[ORACLE_MOST];
        const size_t bytes = (size_t)oracle_size(k) * sizeof *got;
        if (tarn_read(a->p[k], got, bytes) != TARN_OK) {
            note(s, ": %s", tarn_error(a->r));
            return false;
        }
        for (int i = 0; i < oracle_size(k); i++) {
            const double want = o->p[k].value[i];
            if (fabs(got[i] - want) <= oracle_limit(o->rule, steps))
                continue;
            note(s, ": element %d of parameter %d is %.9g, not %.9g", i, k, (double)got[i], want);
            return false;
        }
    }
    return true;
}

enum { OK, FAILS, CLEARED };

static bool end_step(tarn_replica *r, int how, struct script *s)
{
    note(s, how == OK ? " " : how == FAILS ? "! " : "? ");
    if (how == FAILS)
        (void)tarn_add(tarn_zeros(r, TARN_SHAPE(2)), tarn_zeros(r, TARN_SHAPE(3)));
    const bool right = how == CLEARED || (tarn_step(r) == TARN_OK) == (how == OK);
    if (!right)
        note(s, ": %s", how == OK ? tarn_error(r) : "a step with an error succeeded");
    if (how != OK)
        tarn_error_clear(r);
    return right;
}

/* A skipped step must be reported, and nothing else. */
static bool check_report(tarn_replica *r, const struct oracle *o, struct script *s)
{
    const tarn_status want = o->skipped ? TARN_ERR_NOT_FINITE : TARN_OK, got = tarn_wait(r);
    if (got != want)
        note(s, ": tarn_wait gives %s, should give %s", tarn_status_name(got),
             tarn_status_name(want));
    tarn_error_clear(r);
    return got == want;
}

bool oracle_sequence(const struct oracle_replica *a, const struct oracle_rule *rule,
                     const char *start, uint64_t seed, char *why, size_t capacity)
{
    struct script s = { .used = 0 };
    struct oracle o;
    uint64_t state = seed * 2 + 1;
    oracle_begin(&o, rule);
    note(&s, "%s, seed %llu: ", rule->name, (unsigned long long)seed);
    bool right = tarn_load(a->r, start, NULL) == TARN_OK;
    if (!right)
        note(&s, "%s", tarn_error(a->r));
    for (int i = 0; right && i < 10; i++) {
        struct oracle next = o;
        step_calls(a, &next, calls[draw(&state, CALLS)], &state, &s);
        const uint64_t end = draw(&state, 8);
        const int how = end == 0 ? FAILS : end == 1 ? CLEARED : OK;
        right = end_step(a->r, how, &s);
        if (how == OK)
            o = next;
        right = right && compare(a, &o, 2 * i, &s);
    }
    right = right && check_report(a->r, &o, &s);
    snprintf(why, capacity, "%s", s.text);
    return right;
}
