/* SPDX-License-Identifier: Apache-2.0 */
/* A generator of small programs over tensors, with a running bound on the rounding error. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op_check.h"

enum { MAX_VALUES = 40, MAX_ELEMENTS = 4096, OUTPUTS = 4 };

enum what {
    LEAF,
    ADD,
    SUB,
    MUL,
    MAXIMUM,
    MINIMUM,
    NEG,
    RELU,
    TANH,
    ABS,
    LEAKY,
    PERMUTE,
    RESHAPE,
    SLICE,
    PAD,
    BROADCAST,
    SUM,
    MEAN,
    MAX,
    MATMUL,
    READ_STATE,
    ASSIGN
};

static const char *const names[] = { "leaf",    "add",    "sub",  "mul",       "maximum", "minimum",
                                     "neg",     "relu",   "tanh", "abs",       "leaky",   "permute",
                                     "reshape", "slice",  "pad",  "broadcast", "sum",     "mean",
                                     "max",     "matmul", "read", "assign" };

/* One line of a program; its value in the reference and a bound on what a device may differ. */
struct value {
    enum what what;
    int a, b, arg[REF_RANK + 4];
    struct ref v;
    double error, top;
};

struct program {
    struct value value[MAX_VALUES];
    int count, state; /* state: the line that the kept tensor holds now */
    int output[OUTPUTS], last_state;
    unsigned long long random;
};

static const double UNIT = 1.0 / (1 << 24);

static int below(struct program *p, int n)
{
    return (int)(check_random(&p->random) * n);
}

static double slope_leaky(double x)
{
    return x > 0 ? x : 0.25 * x;
}

static double f_add(double a, double b)
{
    return a + b;
}
static double f_sub(double a, double b)
{
    return a - b;
}
static double f_mul(double a, double b)
{
    return a * b;
}
static double f_neg(double a)
{
    return -a;
}

/* ---- making a program
 * ------------------------------------------------------------------------------ */

static int add_value(struct program *p, enum what what, int a, int b, struct ref v, double error)
{
    struct value *n = &p->value[p->count];
    n->what = what;
    n->a = a;
    n->b = b;
    n->v = v;
    n->top = 0;
    for (size_t i = 0; i < ref_count(&v); i++)
        n->top = fmax(n->top, fabs(v.v[i]));
    n->error = error + UNIT * n->top;
    return p->count++;
}

static int add_leaf(struct program *p, int rank, const int *dim)
{
    struct ref v = ref_new(rank, dim);
    for (size_t i = 0; i < ref_count(&v); i++)
        v.v[i] = check_random(&p->random) * 2 - 1;
    const int n = add_value(p, LEAF, 0, 0, v, 0);
    p->value[n].error = 0;
    return n;
}

static int add_random_leaf(struct program *p)
{
    static const int lengths[] = { 1, 2, 3, 5, 7, 16, 17, 33 };
    int dim[REF_RANK], rank = below(p, 5), count = 1;
    for (int d = 0; d < rank; d++) {
        dim[d] = lengths[below(p, 8)];
        if (count * dim[d] > MAX_ELEMENTS / 4)
            dim[d] = 1;
        count *= dim[d];
    }
    return add_leaf(p, rank, dim);
}

static bool fits(const struct ref *a, const struct ref *b)
{
    size_t count = 1;
    for (int d = 1; d <= a->rank || d <= b->rank; d++) {
        const int la = d <= a->rank ? a->dim[a->rank - d] : 1;
        const int lb = d <= b->rank ? b->dim[b->rank - d] : 1;
        if (la != lb && la != 1 && lb != 1)
            return false;
        count *= (size_t)(la > lb ? la : lb);
    }
    return count <= MAX_ELEMENTS;
}

static void add_binary(struct program *p, enum what what, int a)
{
    int b = below(p, p->count);
    for (int i = 0; i < p->count && !fits(&p->value[a].v, &p->value[b].v); i++)
        b = (b + 1) % p->count;
    const struct value *x = &p->value[a], *y = &p->value[b];
    double error = x->error + y->error;
    double (*f)(double, double) = f_add;
    if (what == SUB)
        f = f_sub;
    else if (what == MUL) {
        f = f_mul;
        error = x->top * y->error + y->top * x->error + x->error * y->error;
    } else if (what == MAXIMUM)
        f = ref_maximum;
    else if (what == MINIMUM)
        f = ref_minimum;
    add_value(p, what, a, b, ref_binary(f, &x->v, &y->v), error);
}

static void add_unary(struct program *p, enum what what, int a)
{
    const struct value *x = &p->value[a];
    double (*f)(double) = what == NEG    ? f_neg
                          : what == RELU ? ref_relu
                          : what == TANH ? tanh
                          : what == ABS  ? fabs
                                         : slope_leaky;
    add_value(p, what, a, 0, ref_unary(f, &x->v), x->error + (what == TANH ? 10 * UNIT : 0));
}

static void add_view(struct program *p, enum what what, int a)
{
    const struct ref *x = &p->value[a].v;
    int arg[REF_RANK + 4] = { 0 };
    struct ref y;
    if (what == PERMUTE) {
        const int turn = x->rank > 0 ? below(p, x->rank) : 0;
        for (int d = 0; d < x->rank; d++)
            arg[d] = (d + turn) % x->rank;
        y = ref_permute(x, arg);
    } else if (what == RESHAPE) {
        arg[0] = (int)ref_count(x);
        y = ref_reshape(x, 1, arg);
    } else if (what == SLICE && x->rank > 0) {
        arg[0] = below(p, x->rank);
        arg[1] = below(p, x->dim[arg[0]]);
        arg[2] = arg[1] + 1 + below(p, x->dim[arg[0]] - arg[1]);
        arg[3] = 1 + below(p, 2);
        y = ref_slice(x, arg[0], arg[1], arg[2], arg[3]);
    } else if (what == PAD && x->rank > 0 && ref_count(x) < MAX_ELEMENTS / 8) {
        arg[0] = below(p, x->rank);
        int low[REF_RANK] = { 0 }, high[REF_RANK] = { 0 };
        low[arg[0]] = arg[1] = below(p, 3);
        high[arg[0]] = arg[2] = below(p, 3);
        y = ref_pad(x, low, high, 0.5);
    } else if (what == BROADCAST && x->rank < 4 && ref_count(x) < MAX_ELEMENTS / 4) {
        arg[0] = 1 + below(p, 3);
        memcpy(&arg[1], x->dim, (size_t)x->rank * sizeof(int));
        y = ref_broadcast(x, x->rank + 1, arg);
    } else {
        return;
    }
    const int n = add_value(p, what, a, 0, y, p->value[a].error);
    p->value[n].error = p->value[a].error;
    memcpy(p->value[n].arg, arg, sizeof(arg));
}

static void add_reduction(struct program *p, enum what what, int a)
{
    const struct value *x = &p->value[a];
    const unsigned axes = (unsigned)below(p, 1 << x->v.rank);
    if (axes == 0)
        return;
    const bool keep = below(p, 2) != 0;
    struct ref y = what == SUM    ? ref_sum(&x->v, axes, keep)
                   : what == MEAN ? ref_mean(&x->v, axes, keep)
                                  : ref_max(&x->v, axes, keep);
    const double n = (double)ref_count(&x->v) / (double)ref_count(&y);
    const double error = what == SUM    ? n * (x->error + (n + 2) * UNIT * x->top)
                         : what == MEAN ? x->error + (n + 4) * UNIT * x->top
                                        : x->error;
    const int made = add_value(p, what, a, 0, y, error);
    p->value[made].arg[0] = (int)axes;
    p->value[made].arg[1] = keep;
}

static void add_matmul(struct program *p, int a)
{
    const struct ref *x = &p->value[a].v;
    if (x->rank < 2 || p->count + 2 > MAX_VALUES)
        return;
    static const int widths[] = { 1, 3, 7, 16, 17 };
    const int k = x->dim[x->rank - 1], dim[] = { k, widths[below(p, 5)] };
    if (ref_count(x) / (size_t)k * (size_t)dim[1] > MAX_ELEMENTS || k * dim[1] > MAX_ELEMENTS)
        return;
    const int b = add_leaf(p, 2, dim);
    const struct value *va = &p->value[a], *vb = &p->value[b];
    const double error = k * (vb->top * va->error + (k + 2) * UNIT * va->top * vb->top);
    add_value(p, MATMUL, a, b, ref_matmul(&va->v, &vb->v), error);
}

static void add_assign(struct program *p)
{
    const struct ref *s = &p->value[p->state].v;
    for (int tries = 0, i = below(p, p->count); tries < p->count; tries++, i = (i + 1) % p->count) {
        const struct ref *v = &p->value[i].v;
        if (v->rank != s->rank || memcmp(v->dim, s->dim, (size_t)v->rank * sizeof(int)) != 0)
            continue;
        const double error = p->value[i].error;
        p->state = add_value(p, ASSIGN, i, 0, ref_copy(v), error);
        p->value[p->state].error = error;
        return;
    }
}

static void grow(struct program *p)
{
    const enum what what = (enum what)(ADD + below(p, ASSIGN - ADD + 1));
    const int a =
        below(p, 3) ? p->count - 1 - below(p, p->count < 4 ? p->count : 4) : below(p, p->count);
    if (what <= MINIMUM)
        add_binary(p, what, a);
    else if (what <= LEAKY)
        add_unary(p, what, a);
    else if (what <= BROADCAST)
        add_view(p, what, a);
    else if (what <= MAX)
        add_reduction(p, what, a);
    else if (what == MATMUL)
        add_matmul(p, a);
    else if (what == ASSIGN)
        add_assign(p);
    else
        add_value(p, READ_STATE, 0, 0, ref_copy(&p->value[p->state].v), p->value[p->state].error);
    /* Products of products would leave the range in which the bound says something. */
    if (p->value[p->count - 1].top > 8 && p->count < MAX_VALUES)
        add_unary(p, TANH, p->count - 1);
}

static void make(struct program *p, unsigned long long seed)
{
    memset(p, 0, sizeof(*p));
    p->random = seed;
    p->state = add_random_leaf(p);
    const struct ref like = p->value[p->state].v;
    add_leaf(p, like.rank, like.dim);
    add_random_leaf(p);
    const int length = 6 + below(p, MAX_VALUES - 8);
    while (p->count < length)
        grow(p);
    p->last_state = p->state;
    for (int i = 0; i < OUTPUTS; i++)
        p->output[i] = i == 0 ? p->count - 1 : below(p, p->count);
}

static void release(struct program *p)
{
    for (int i = 0; i < p->count; i++)
        ref_free(&p->value[i].v);
}

/* ---- running it
 * ---------------------------------------------------------------------------------------- */

static tarn_shape shape_of(const struct ref *x)
{
    return tarn_shape_of(x->rank, (const int32_t *)x->dim);
}

static tarn_tensor leaf(tarn_replica *r, const struct ref *x)
{
    float data[MAX_ELEMENTS];
    for (size_t i = 0; i < ref_count(x); i++)
        data[i] = (float)x->v[i];
    return tarn_from(r, shape_of(x), TARN_F32, data);
}

static tarn_tensor view(const struct value *n, tarn_tensor a)
{
    const int32_t *arg = (const int32_t *)n->arg;
    tarn_shape low = { .rank = n->v.rank }, high = low;
    switch (n->what) {
    case PERMUTE:
        return tarn_permute(a, tarn_shape_of(n->v.rank, arg));
    case SLICE:
        return tarn_slice(a, arg[0], arg[1], arg[2], arg[3]);
    case PAD:
        low.dim[arg[0]] = arg[1];
        high.dim[arg[0]] = arg[2];
        return tarn_pad(a, low, high, 0.5f);
    case BROADCAST:
        return tarn_broadcast_to(a, shape_of(&n->v));
    default:
        return tarn_reshape(a, shape_of(&n->v));
    }
}

static tarn_tensor reduction(const struct value *n, tarn_tensor a)
{
    tarn_shape axes = { .rank = 0 };
    for (int d = 0; d < TARN_MAX_RANK; d++)
        if (n->arg[0] >> d & 1)
            axes.dim[axes.rank++] = d;
    const bool keep = n->arg[1] != 0;
    return n->what == SUM    ? tarn_sum(a, axes, keep)
           : n->what == MEAN ? tarn_mean(a, axes, keep)
                             : tarn_max(a, axes, keep);
}

static tarn_tensor record(const struct value *n, tarn_tensor a, tarn_tensor b, tarn_tensor state)
{
    switch (n->what) {
    case LEAF:
        return leaf(state.replica, &n->v);
    case ADD:
        return tarn_add(a, b);
    case SUB:
        return tarn_sub(a, b);
    case MUL:
        return tarn_mul(a, b);
    case MAXIMUM:
        return tarn_maximum(a, b);
    case MINIMUM:
        return tarn_minimum(a, b);
    case NEG:
        return tarn_neg(a);
    case RELU:
        return tarn_relu(a);
    case TANH:
        return tarn_tanh(a);
    case ABS:
        return tarn_abs(a);
    case LEAKY:
        return tarn_where(tarn_gt(a, tarn_zeros(state.replica, TARN_SCALAR)), a,
                          tarn_mul_scalar(a, 0.25f));
    case SUM:
    case MEAN:
    case MAX:
        return reduction(n, a);
    case MATMUL:
        return tarn_matmul(a, b);
    case READ_STATE:
        return tarn_add_scalar(state, 0);
    case ASSIGN:
        tarn_assign(state, a);
        return a;
    default:
        return view(n, a);
    }
}

/* Results of one run: the outputs, then the state. */
struct result {
    float v[OUTPUTS + 1][MAX_ELEMENTS];
};

static tarn_status run(tarn_replica *r, const struct program *p, tarn_tensor state,
                       struct result *out)
{
    tarn_tensor t[MAX_VALUES], kept[OUTPUTS];
    for (int i = 0; i < p->count; i++) {
        const struct value *n = &p->value[i];
        t[i] = record(n, t[n->a], t[n->b], state);
        if (i == 0)
            tarn_assign(state, t[0]);
    }
    for (int i = 0; i < OUTPUTS; i++)
        kept[i] = tarn_keep(tarn_add_scalar(t[p->output[i]], 0));
    tarn_status s = tarn_step(r);
    for (int i = 0; i <= OUTPUTS && s == TARN_OK; i++) {
        const int n = i < OUTPUTS ? p->output[i] : p->last_state;
        s = tarn_read(i < OUTPUTS ? kept[i] : state, out->v[i],
                      ref_count(&p->value[n].v) * sizeof(float));
    }
    for (int i = 0; i < OUTPUTS; i++)
        tarn_drop(kept[i]);
    return s;
}

/* Runs a program twice: the second time with the plan that the first one made. */
static tarn_status run_twice(tarn_replica *r, const struct program *p, const char *fuse,
                             struct result out[2])
{
    setenv("TARN_FUSE", fuse, 1);
    const tarn_tensor state = tarn_keep(tarn_zeros(r, shape_of(&p->value[0].v)));
    tarn_status s = tarn_step(r);
    for (int i = 0; i < 2 && s == TARN_OK; i++)
        s = run(r, p, state, &out[i]);
    tarn_drop(state);
    if (s == TARN_OK)
        s = tarn_step(r);
    return s;
}

static bool compare(const struct program *p, const struct result *fused, const struct result *plain,
                    unsigned long long seed, char *message, size_t capacity)
{
    for (int i = 0; i <= OUTPUTS; i++) {
        const int at = i < OUTPUTS ? p->output[i] : p->last_state;
        const struct value *n = &p->value[at];
        for (size_t e = 0; e < ref_count(&n->v); e++) {
            const float a = fused[0].v[i][e], b = plain[0].v[i][e];
            const char *how = NULL;
            if (memcmp(&a, &b, 4) != 0)
                how = "fused and unfused differ";
            else if (memcmp(&a, &fused[1].v[i][e], 4) != 0)
                how = "the second run differs";
            else if (!(fabs((double)a - n->v.v[e]) <= 2 * n->error + 1e-30))
                how = "far from the reference";
            if (how == NULL)
                continue;
            snprintf(message, capacity,
                     "seed %llu, %s %d (%s), element %zu: %s: fused %.9g, unfused %.9g, "
                     "reference %.9g, limit %.3g",
                     seed, i < OUTPUTS ? "line" : "state", at, names[n->what], e, how, (double)a,
                     (double)b, n->v.v[e], 2 * n->error);
            return false;
        }
    }
    return true;
}

bool fuzz_graph(tarn_replica *fused, tarn_replica *plain, unsigned long long seed, char *message,
                size_t capacity)
{
    static struct program p;
    static struct result of_fused[2], of_plain[2];
    make(&p, seed);
    bool good = false;
    if (run_twice(fused, &p, "1", of_fused) != TARN_OK) {
        snprintf(message, capacity, "seed %llu, fused: %s", seed, tarn_error(fused));
        tarn_error_clear(fused);
    } else if (run_twice(plain, &p, "0", of_plain) != TARN_OK) {
        snprintf(message, capacity, "seed %llu, unfused: %s", seed, tarn_error(plain));
        tarn_error_clear(plain);
    } else {
        good = compare(&p, of_fused, of_plain, seed, message, capacity);
    }
    release(&p);
    return good;
}
