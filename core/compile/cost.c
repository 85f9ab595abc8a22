/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the operations of a kernel's nests, and the bytes of the values that it shares with
 * others. In: a kernel of a scheduled program. Out: its struct cost. Knows nothing of the device.
 * */
#include "compile/cost.h"

#include <stdlib.h>

enum { MOST_POINTS = 1 << 20 }; /* of the axes of one guard that are counted one by one */

static double points(const struct nest *n, int axes)
{
    double count = 1;
    for (int a = 0; a < axes; a++)
        count *= n->extent[a];
    return count;
}

/* ---- operations ----------------------------------------------------------------------------- */

static bool holds(const struct guard *g, const int32_t *at)
{
    int32_t e = g->e.constant;
    for (int a = 0; a < NEST_AXES; a++)
        e += g->e.k[a] * at[a];
    return e >= 0 && e % g->divide == 0 && e / g->divide < g->extent;
}

/* The next point of the axes that the guard looks at; false after the last. */
static bool advance(const struct nest *n, const struct guard *g, int32_t *at)
{
    for (int a = 0; a < n->axes; a++) {
        if (g->e.k[a] == 0)
            continue;
        if (++at[a] < n->extent[a])
            return true;
        at[a] = 0;
    }
    return false;
}

/* The share of the points that a guard lets through. */
static double share(const struct nest *n, const struct guard *g)
{
    int32_t at[NEST_AXES] = { 0 };
    double all = 1, through = 0;
    for (int a = 0; a < n->axes; a++)
        if (g->e.k[a] != 0)
            all *= n->extent[a];
    if (all < 1 || all > MOST_POINTS)
        return 1;
    do
        through += holds(g, at);
    while (advance(n, g, at));
    return through / all;
}

/* Guards of different axes of the image are independent, so their shares multiply. */
static double terms(const struct nest *n)
{
    double count = points(n, n->axes);
    for (int g = 0; g < n->guards; g++)
        count *= share(n, &n->guard[g]);
    return count;
}

/* Maps below an expression that were not counted before. Operands come before what uses them. */
static int maps(const struct nest *n, int root, bool *counted)
{
    int count = 0;
    if (root < 0 || counted[root])
        return 0;
    counted[root] = true;
    const struct expr *e = &n->exprs[root];
    for (int i = 0; (e->kind == EXPR_MAP || e->kind == EXPR_GUARD) && i < e->args; i++)
        count += maps(n, e->arg[i], counted);
    return count + (e->kind == EXPR_MAP);
}

static double nest_flops(const struct nest *n, bool *counted)
{
    const struct product_shape *g = &n->product.shape;
    int body = 0, epilogue = 0;
    if (n->kind == NEST_PRODUCT)
        return 2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->batch;
    if (n->kind != NEST_LOOPS)
        return 0;
    for (int e = 0; e < n->expr_count; e++)
        counted[e] = false;
    if (n->combine != COMBINE_NONE)
        body = maps(n, n->body[0], counted) + 1;
    if (n->combine == COMBINE_FMA)
        body += maps(n, n->body[1], counted) + 1;
    for (int s = 0; s < n->stores; s++)
        epilogue += maps(n, n->store[s].expr, counted);
    return body * terms(n) + epilogue * points(n, n->out_axes);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Elements that an access can meet: one for each point of the axes that it looks at. */
static double touched(const struct program_ir *p, const struct nest *n, const struct access *x)
{
    double count = 1;
    const bool blocked = p->values[x->value].layout == LAYOUT_BLOCKED;
    if (n->kind != NEST_LOOPS)
        return (double)tarn_shape_count(p->values[x->value].shape);
    for (int a = 0; a < n->axes; a++) {
        const bool used =
            access_uses(x, a) || x->gather >= 0 || (blocked && (!n->batched || a == n->batch_axis));
        count *= used ? n->extent[a] : 1;
    }
    return count;
}

static double bytes_of(const struct value *v, double elements)
{
    const double bytes = elements * (double)tarn_dtype_bytes(v->dtype);
    return bytes < (double)v->bytes ? bytes : (double)v->bytes;
}

double load_bytes(const struct program_ir *p, const struct nest *n, const struct access *x)
{
    return bytes_of(&p->values[x->value], touched(p, n, x));
}

double store_bytes(const struct program_ir *p, const struct nest *n, const struct store *s)
{
    const struct value *v = &p->values[s->value];
    return n->kind != NEST_LOOPS || n->partial ? (double)v->bytes
                                               : bytes_of(v, points(n, n->out_axes));
}

struct traffic {
    int value, order;
    double read, written; /* elements of the value */
};

static int traffic_most(const struct nest *n)
{
    return n->expr_count + n->stores;
}

/* Adds what a nest reads and writes to a list; returns the new count. */
static int nest_traffic(const struct program_ir *p, const struct nest *n, struct traffic *t,
                        int count)
{
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        t[count] = (struct traffic){ .value = x->value, .order = count, .read = touched(p, n, x) };
        count++;
    }
    /* Partial sums and products have whole values for results. */
    const bool whole = n->kind != NEST_LOOPS || n->partial;
    for (int s = 0; s < n->stores; s++) {
        const int v = n->store[s].value;
        t[count] = (struct traffic){ .value = v,
                                     .order = count,
                                     .written = whole ? (double)p->values[v].bytes
                                                      : points(n, n->out_axes) };
        count++;
    }
    return count;
}

static int by_value(const void *a, const void *b)
{
    const struct traffic *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Adds the bytes of one value, of which `count` entries tell. */
static void add_bytes(const struct value *v, int kernel, const struct traffic *t, int count,
                      struct cost *out)
{
    const bool before = v->place == PLACE_INPUT || v->place == PLACE_OWNED;
    double read = 0, written = 0;
    for (int i = 0; i < count; i++) {
        read = t[i].read > read ? t[i].read : read;
        written += t[i].written;
    }
    if (before || v->first < kernel)
        out->bytes += bytes_of(v, read);
    if (v->place != PLACE_SCRATCH && (v->place != PLACE_ARENA || v->last > kernel)) {
        out->bytes += bytes_of(v, written);
        out->written += bytes_of(v, written);
    }
}

static void add_up(const struct program_ir *p, int kernel, bool *counted, struct traffic *t,
                   struct cost *out)
{
    int count = 0;
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct nest *n = &p->nests[*r.at];
        if (n->kind == NEST_HOST)
            continue;
        out->flops += nest_flops(n, counted);
        count = nest_traffic(p, n, t, count);
    }
    qsort(t, (size_t)count, sizeof *t, by_value);
    for (int i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && t[next].value == t[i].value;)
            next++;
        add_bytes(&p->values[t[i].value], kernel, &t[i], next - i, out);
    }
}

/* Its memory is given back at once: a plan of many values has many kernels, too. */
bool kernel_cost(const struct program_ir *p, int kernel, struct cost *out)
{
    size_t most = 1, all = 1;
    *out = (struct cost){ 0 };
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct nest *n = &p->nests[*r.at];
        most = (size_t)n->expr_count > most ? (size_t)n->expr_count : most;
        all += (size_t)traffic_most(n);
    }
    struct traffic *t = calloc(all, sizeof *t);
    bool *counted = calloc(most, sizeof *counted);
    const bool made = t != NULL && counted != NULL;
    if (made)
        add_up(p, kernel, counted, t, out);
    free(t);
    free(counted);
    return made;
}
