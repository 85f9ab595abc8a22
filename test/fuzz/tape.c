/* SPDX-License-Identifier: Apache-2.0 */
#include "tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rounding.h"
#include "ulp.h"

/* Where a device may flush subnormal numbers to zero. */
#define TINY 0x1p-126

static const double ulps[] = {
    [T_EXP] = ULP_EXP,   [T_LOG] = ULP_LOG,   [T_SQRT] = ULP_SQRT,   [T_RSQRT] = ULP_RSQRT,
    [T_TANH] = ULP_TANH, [T_SIGMOID] = 8,     [T_ERF] = ULP_ERF,     [T_SIN] = ULP_SIN,
    [T_COS] = ULP_COS,   [T_ATAN] = ULP_ATAN, [T_LOG1P] = ULP_LOG1P, [T_EXPM1] = ULP_EXPM1
};

void tape_cut(struct tape *t, int count)
{
    for (int i = count; i < t->count; i++) {
        free(t->node[i].index);
        free(t->node[i].v);
    }
    t->count = count < t->count ? count : t->count;
}

void tape_free(struct tape *t)
{
    tape_cut(t, 0);
    free(t->node);
    *t = (struct tape){ .node = NULL };
}

static int add_node(struct tape *t, struct tape_node n)
{
    if (t->count == t->capacity) {
        t->capacity = 2 * t->capacity + 64;
        struct tape_node *more = realloc(t->node, (size_t)t->capacity * sizeof *more);
        if (more == NULL)
            abort();
        t->node = more;
    }
    n.v = calloc(2 * (size_t)n.count + 1, sizeof *n.v);
    if (n.v == NULL)
        abort();
    n.e = n.v + n.count;
    n.driver |= (n.a >= 0 && t->node[n.a].driver) || (n.b >= 0 && t->node[n.b].driver);
    t->node[t->count] = n;
    return t->count++;
}

static int *copy_index(const int *index, int count)
{
    int *copy = malloc((size_t)count * sizeof *copy + 1);
    if (copy == NULL)
        abort();
    if (count > 0)
        memcpy(copy, index, (size_t)count * sizeof *copy);
    return copy;
}

static double gamma_of(const struct tape *t, double n)
{
    return n * tape_unit(t) / (1 - n * tape_unit(t));
}

/* Units in the last place that a function may be off: a driver's, of double, 16 by OpenCL, and 1 the tape's own. */
static double ulps_of(const struct tape *t, enum tape_map f)
{
    return t->wide ? fmax(ulps[f], 17) : ulps[f];
}

/* No bound is a number that compares false. */
static double bound(double e)
{
    return isnan(e) ? INFINITY : e;
}

int tape_leaf(struct tape *t, int count, const double *v, const double *e)
{
    const int y = add_node(t, (struct tape_node){ .a = -1, .b = -1, .count = count });
    for (int i = 0; i < count; i++) {
        t->node[y].v[i] = v[i];
        t->node[y].e[i] = e != NULL ? e[i] : 0;
    }
    return y;
}

int tape_full(struct tape *t, int count, double v, double e)
{
    const int y = add_node(t, (struct tape_node){ .a = -1, .b = -1, .count = count });
    for (int i = 0; i < count; i++) {
        t->node[y].v[i] = v;
        t->node[y].e[i] = e;
    }
    return y;
}

int tape_detach(struct tape *t, int a)
{
    const int y = add_node(t, (struct tape_node){ .a = -1, .b = -1, .count = t->node[a].count });
    t->node[y].driver = t->node[a].driver;
    memcpy(t->node[y].v, t->node[a].v, 2 * (size_t)t->node[a].count * sizeof(double));
    return y;
}

static double apply(enum tape_map f, double x)
{
    switch (f) {
    case T_NEG:
        return -x;
    case T_EXP:
        return exp(x);
    case T_LOG:
        return log(x);
    case T_SQRT:
        return sqrt(x > 0 ? x : 0);
    case T_RSQRT:
        return 1 / sqrt(x);
    case T_TANH:
        return tanh(x);
    case T_SIGMOID:
        return 1 / (1 + exp(-x));
    case T_ERF:
        return erf(x);
    case T_SIN:
        return sin(x);
    case T_COS:
        return cos(x);
    case T_ATAN:
        return atan(x);
    case T_LOG1P:
        return log1p(x);
    case T_EXPM1:
        return expm1(x);
    }
    return NAN;
}

/* What an error of x makes of y shows at the ends of its interval, as maps are monotone; sine and cosine
 * have slopes of 1 at most. */
int tape_map(struct tape *t, enum tape_map f, int a)
{
    const int y = add_node(
        t, (struct tape_node){
               .kind = TAPE_MAP, .which = (int)f, .a = a, .b = -1, .count = t->node[a].count });
    t->node[y].driver |= (t->wide && f != T_NEG && f != T_SQRT) || f == T_LOG || f == T_RSQRT ||
                         f == T_SIN || f == T_COS || f == T_LOG1P || f == T_EXPM1;
    const struct tape_node *x = &t->node[a], *n = &t->node[y];
    for (int i = 0; i < n->count; i++) {
        const double v = n->v[i] = apply(f, x->v[i]), e = x->e[i];
        double spread = e;
        if (f != T_NEG && f != T_SIN && f != T_COS && e > 0)
            spread = fmax(fabs(apply(f, x->v[i] + e) - v), fabs(v - apply(f, x->v[i] - e)));
        if (((f == T_LOG || f == T_RSQRT) && x->v[i] - e <= 0) ||
            (f == T_LOG1P && x->v[i] - e <= -1))
            spread = INFINITY;
        const double rounding =
            f == T_NEG ? 0 : 2 * ulps_of(t, f) * tape_unit(t) * (fabs(v) + spread) + TINY;
        n->e[i] = bound(spread + rounding);
    }
    return y;
}

/* ---- half types ----------------------------------------------------------------------------- */

double half_nearest(double v, enum tape_half type)
{
    const int digits = type == HALF_F16 ? 11 : 8, least = type == HALF_F16 ? -14 : -126;
    const double most = type == HALF_F16 ? 65504 : 0x1.fep127;
    int exponent;
    if (isnan(v) || isinf(v) || v == 0)
        return v;
    frexp(v, &exponent);
    const double unit = ldexp(1, (exponent - 1 > least ? exponent - 1 : least) - (digits - 1));
    const double near = nearbyint(v / unit) * unit;
    return fabs(near) > most ? copysign(INFINITY, v) : near;
}

/* Infinities that are equal are not apart. */
static double apart(double a, double b)
{
    return a == b ? 0 : fabs(a - b);
}

int tape_round(struct tape *t, int a, enum tape_half type)
{
    const int y = add_node(
        t,
        (struct tape_node){
            .kind = TAPE_ROUND, .which = (int)type, .a = a, .b = -1, .count = t->node[a].count });
    const struct tape_node *x = &t->node[a], *n = &t->node[y];
    for (int i = 0; i < n->count; i++) {
        const double v = n->v[i] = half_nearest(x->v[i], type);
        n->e[i] = bound(fmax(apart(half_nearest(x->v[i] + x->e[i], type), v),
                             apart(v, half_nearest(x->v[i] - x->e[i], type))));
    }
    return y;
}

/* a, or what it is rounded to. */
static int loose(struct tape *t, int a, enum tape_half type)
{
    const int y = add_node(
        t,
        (struct tape_node){
            .kind = TAPE_LOOSE, .which = (int)type, .a = a, .b = -1, .count = t->node[a].count });
    const struct tape_node *x = &t->node[a], *n = &t->node[y];
    for (int i = 0; i < n->count; i++) {
        const double v = n->v[i] = x->v[i], e = x->e[i];
        const double rounded =
            fmax(apart(half_nearest(v + e, type), v), apart(v, half_nearest(v - e, type)));
        n->e[i] = bound(fmax(e, rounded));
    }
    return y;
}

static double pow_spread(double a, double ea, double b, double eb, double y)
{
    double most = 0;
    for (int corner = 0; corner < 4; corner++) {
        const double p = pow(a + (corner & 1 ? ea : -ea), b + (corner & 2 ? eb : -eb));
        most = isnan(p) ? INFINITY : fmax(most, fabs(p - y));
    }
    return 1.001 * most;
}

/* How far the angle of a point may move when it moves by (ex, ey): without a bound where the negative half of the x axis,
 * or 0, is within reach, at which the angle jumps, and whose side the sign of a zero may decide. */
static double angle_spread(double y, double ey, double x, double ex)
{
    const double far = hypot(ex, ey), radius = hypot(x, y);
    if (!(far < radius) || (x - ex <= 0 && fabs(y) <= ey))
        return INFINITY;
    return asin(far / radius) * (1 + 0x1p-50);
}

int tape_map2(struct tape *t, enum tape_map2 f, int a, int b)
{
    const int y = add_node(
        t, (struct tape_node){
               .kind = TAPE_MAP2, .which = (int)f, .a = a, .b = b, .count = t->node[a].count });
    t->node[y].driver |= f == T_POW || (t->wide && f == T_ATAN2);
    const struct tape_node *p = &t->node[a], *q = &t->node[b], *n = &t->node[y];
    for (int i = 0; i < n->count; i++) {
        const double av = p->v[i], bv = q->v[i], ea = p->e[i], eb = q->e[i];
        double v, e, units = 1;
        switch (f) {
        case T_ADD:
        case T_SUB:
            v = f == T_ADD ? av + bv : av - bv;
            e = ea + eb;
            /* x + 0 is x. */
            units = (av == 0 && ea == 0) || (bv == 0 && eb == 0) ? 0 : 1;
            break;
        case T_MUL:
            v = av * bv;
            e = fabs(av) * eb + fabs(bv) * ea + ea * eb;
            units =
                (ea == 0 && (av == 0 || fabs(av) == 1)) || (eb == 0 && (bv == 0 || fabs(bv) == 1))
                    ? 0
                    : 1;
            break;
        case T_DIV:
            if (t->integer) {
                v = bv == 0 ? 0 : trunc(av / bv);
                e = ea + eb > 0 ? INFINITY : 0;
            } else {
                v = av / bv;
                e = fabs(bv) > eb ? (ea + fabs(v) * eb) / (fabs(bv) - eb) : INFINITY;
                units = 5;
            }
            break;
        case T_ATAN2:
            v = atan2(av, bv);
            e = angle_spread(av, ea, bv, eb);
            units = 2 * fmax(ULP_ATAN2, t->wide ? 17 : 0);
            break;
        default:
            v = pow(av, bv);
            e = ea + eb > 0 ? pow_spread(av, ea, bv, eb, v) : 0;
            units = 32;
        }
        n->v[i] = v;
        n->e[i] =
            bound(e + (t->integer || units == 0 ? 0 : units * tape_unit(t) * (fabs(v) + e) + TINY));
    }
    return y;
}

int tape_scale(struct tape *t, int a, double c)
{
    const double e = (double)(float)c == c ? 0 : tape_unit(t) * fabs(c);
    const int k = tape_full(t, t->node[a].count, c, e);
    return tape_map2(t, T_MUL, a, k);
}

int tape_gather(struct tape *t, int a, int count, const int *index, double fill)
{
    const int y = add_node(t, (struct tape_node){ .kind = TAPE_GATHER,
                                                  .a = a,
                                                  .b = -1,
                                                  .count = count,
                                                  .index = copy_index(index, count) });
    const struct tape_node *x = &t->node[a], *n = &t->node[y];
    for (int i = 0; i < count; i++) {
        n->v[i] = index[i] < 0 ? fill : x->v[index[i]];
        n->e[i] = index[i] < 0 ? 0 : x->e[index[i]];
    }
    return y;
}

/* Of a sum of so many terms; the tape's own, one after the other, counts where both are doubles. */
static double roundings(const struct tape *t, double terms)
{
    return sum_roundings(terms) + (t->wide ? terms / 2 : 0);
}

int tape_scatter(struct tape *t, int a, int count, const int *index)
{
    const int terms = t->node[a].count;
    const int y = add_node(t, (struct tape_node){ .kind = TAPE_SCATTER,
                                                  .a = a,
                                                  .b = -1,
                                                  .count = count,
                                                  .index = copy_index(index, terms) });
    const struct tape_node *x = &t->node[a], *n = &t->node[y];
    double *size = calloc(2 * (size_t)count + 1, sizeof *size);
    if (size == NULL)
        abort();
    double *many = size + count;
    for (int i = 0; i < terms; i++) {
        const int k = index[i];
        if (k < 0)
            continue;
        n->v[k] += x->v[i];
        n->e[k] += x->e[i];
        size[k] += fabs(x->v[i]) + x->e[i];
        many[k] += x->v[i] != 0 || x->e[i] != 0;
    }
    for (int k = 0; k < count; k++)
        n->e[k] = bound(n->e[k] + (t->integer || many[k] < 2
                                       ? 0
                                       : gamma_of(t, roundings(t, many[k])) * size[k] + TINY));
    free(size);
    return y;
}

int tape_pick(struct tape *t, int count, const double *v, const double *e, int a, int wa, int b,
              int wb, const int *index)
{
    const int y =
        add_node(t, (struct tape_node){ .kind = TAPE_PICK,
                                        .a = a,
                                        .b = b,
                                        .wa = wa,
                                        .wb = wb,
                                        .count = count,
                                        .index = index != NULL ? copy_index(index, t->node[a].count)
                                                               : NULL });
    for (int i = 0; i < count; i++) {
        t->node[y].v[i] = v[i];
        t->node[y].e[i] = bound(e[i]);
    }
    return y;
}

/* ---- gradients ------------------------------------------------------------------------------ */

static int mul(struct tape *t, int a, int b)
{
    return tape_map2(t, T_MUL, a, b);
}

static int one_minus(struct tape *t, int a)
{
    return tape_map2(t, T_SUB, tape_full(t, t->node[a].count, 1, 0), a);
}

static int map_slope(struct tape *t, enum tape_map f, int x, int y, int g)
{
    switch (f) {
    case T_NEG:
        return tape_map(t, T_NEG, g);
    case T_EXP:
        return mul(t, g, y);
    case T_LOG:
        return tape_map2(t, T_DIV, g, x);
    case T_SQRT:
        return tape_map2(t, T_DIV, tape_scale(t, g, 0.5), y);
    case T_RSQRT:
        return mul(t, tape_scale(t, g, -0.5), mul(t, y, mul(t, y, y)));
    case T_TANH:
        return mul(t, g, one_minus(t, mul(t, y, y)));
    case T_SIGMOID:
        return mul(t, g, mul(t, y, one_minus(t, y)));
    case T_SIN:
        return mul(t, g, tape_map(t, T_COS, x));
    case T_COS:
        return tape_map(t, T_NEG, mul(t, g, tape_map(t, T_SIN, x)));
    case T_ATAN:
        x = mul(t, x, x);
        return tape_map2(t, T_DIV, g, tape_map2(t, T_ADD, x, tape_full(t, t->node[x].count, 1, 0)));
    case T_LOG1P:
        return tape_map2(t, T_DIV, g, tape_map2(t, T_ADD, x, tape_full(t, t->node[x].count, 1, 0)));
    case T_EXPM1:
        return mul(t, g, tape_map2(t, T_ADD, y, tape_full(t, t->node[x].count, 1, 0)));
    case T_ERF:
        break;
    }
    const int bell = tape_map(t, T_EXP, tape_map(t, T_NEG, mul(t, x, x)));
    return mul(t, g, tape_scale(t, bell, 1.1283791670955126));
}

static void map2_slopes(struct tape *t, enum tape_map2 f, int a, int b, int y, int g, int *ga,
                        int *gb)
{
    switch (f) {
    case T_ADD:
    case T_SUB:
        *ga = g;
        *gb = f == T_ADD ? g : tape_map(t, T_NEG, g);
        return;
    case T_MUL:
        *ga = mul(t, g, b);
        *gb = mul(t, g, a);
        return;
    case T_DIV:
        *ga = tape_map2(t, T_DIV, g, b);
        *gb = tape_map(t, T_NEG, mul(t, g, tape_map2(t, T_DIV, y, b)));
        return;
    case T_ATAN2: {
        const int square = tape_map2(t, T_ADD, mul(t, a, a), mul(t, b, b));
        *ga = mul(t, g, tape_map2(t, T_DIV, b, square));
        *gb = tape_map(t, T_NEG, mul(t, g, tape_map2(t, T_DIV, a, square)));
        return;
    }
    case T_POW:
        break;
    }
    const int one = tape_full(t, t->node[a].count, 1, 0);
    const int less = tape_map2(t, T_POW, a, tape_map2(t, T_SUB, b, one));
    *ga = mul(t, g, mul(t, b, less));
    *gb = mul(t, g, mul(t, y, tape_map(t, T_LOG, a)));
}

struct walk {
    struct tape *t;
    int *gradient;
    bool *depends;
};

static void leave(struct walk *w, int node, int g)
{
    int *had = &w->gradient[node];
    if (w->t->node[node].kind == TAPE_ROUND)
        g = loose(w->t, g, (enum tape_half)w->t->node[node].which);
    *had = *had < 0 ? g : tape_map2(w->t, T_ADD, *had, g);
}

static int at_result(struct tape *t, int g, int terms, const int *index)
{
    return index == NULL ? g : tape_gather(t, g, terms, index, 0);
}

static void step_back(struct walk *w, int y, int g)
{
    struct tape *t = w->t;
    const struct tape_node n = t->node[y];
    const bool a = n.a >= 0 && w->depends[n.a], b = n.b >= 0 && w->depends[n.b];
    if (n.kept != HALF_NONE)
        y = loose(t, y, n.kept);
    if ((n.kind == TAPE_ROUND || n.kind == TAPE_LOOSE) && a) {
        leave(w, n.a, loose(t, g, (enum tape_half)n.which));
    } else if (n.kind == TAPE_MAP && a) {
        leave(w, n.a, map_slope(t, (enum tape_map)n.which, n.a, y, g));
    } else if (n.kind == TAPE_MAP2 && (a || b)) {
        int ga = -1, gb = -1;
        map2_slopes(t, (enum tape_map2)n.which, n.a, n.b, y, g, &ga, &gb);
        if (a)
            leave(w, n.a, ga);
        if (b)
            leave(w, n.b, gb);
    } else if (n.kind == TAPE_GATHER && a) {
        leave(w, n.a, tape_scatter(t, g, t->node[n.a].count, n.index));
    } else if (n.kind == TAPE_SCATTER && a) {
        leave(w, n.a, tape_gather(t, g, t->node[n.a].count, n.index, 0));
    } else if (n.kind == TAPE_PICK) {
        const int terms = t->node[n.a].count;
        if (a)
            leave(w, n.a, mul(t, at_result(t, g, terms, n.index), n.wa));
        if (b)
            leave(w, n.b, mul(t, at_result(t, g, terms, n.index), n.wb));
    }
}

void tape_gradients(struct tape *t, int loss, double weight, const int *inputs, int count,
                    int *gradients)
{
    const int all = t->count;
    const bool integer = t->integer;
    t->integer = false;
    struct walk w = { t, malloc((size_t)all * sizeof(int)), calloc((size_t)all, 1) };
    if (w.gradient == NULL || w.depends == NULL)
        abort();
    for (int i = 0; i < all; i++)
        w.gradient[i] = -1;
    for (int i = 0; i < count; i++)
        w.depends[inputs[i]] = true;
    for (int i = 0; i <= loss; i++) {
        const struct tape_node *n = &t->node[i];
        w.depends[i] |= (n->a >= 0 && w.depends[n->a]) || (n->b >= 0 && w.depends[n->b]);
    }
    if (w.depends[loss])
        w.gradient[loss] = tape_full(t, t->node[loss].count, weight,
                                     (double)(float)weight == weight ? 0 : tape_unit(t) * weight);
    for (int i = loss; i >= 0; i--)
        if (w.gradient[i] >= 0)
            step_back(&w, i, w.gradient[i]);
    for (int i = 0; i < count; i++)
        gradients[i] = w.gradient[inputs[i]];
    free(w.gradient);
    free(w.depends);
    t->integer = integer;
}
