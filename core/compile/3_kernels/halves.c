/* SPDX-License-Identifier: Apache-2.0 */
/* In which form rounded values lie. From one kernel to another they take 16 bits: so a rounded value that is stored
 * widened is stored rounded for other kernels, which widen it as they load it. Within a kernel they are read again at
 * once and from a cache: so a value that lives for a few nests of one kernel is stored widened, and no reader widens it.
 * In: nests in kernels. Out: other loads and stores. It changes no value: widening is exact, and rounding what was
 * widened, too. */
#include "compile/1_graph/graph_passes.h"
#include "compile/3_kernels/fuse.h"

#define SHORT_LIFE 4 /* nests of a kernel: few values at a time live for so few */

static bool is_map_of(const struct nest *n, int e, const char *code)
{
    return e >= 0 && n->exprs[e].kind == EXPR_MAP && n->exprs[e].code == code;
}

static const char *widening_code(tarn_dtype half)
{
    return half == TARN_F16 ? op_from_f16.code : op_from_bf16.code;
}

static bool loads(const struct nest *n, int e, int value)
{
    return n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.value == value;
}

/* Nests whose expressions can be changed: those that are a loop over them, and no run of words that is copied. */
static bool is_open(const struct nest *n)
{
    return n->kind == NEST_LOOPS && n->copy.elements == 0;
}

/* The only kernel in which a list has nests; -1: there is none, or are several. */
static int only_kernel(const struct program_ir *p, const struct nest_lists *l, int value)
{
    int kernel = -1;
    for (int i = l->begin[value]; i < l->begin[value + 1]; i++) {
        const int here = p->placements[l->nest[i]].kernel;
        if (kernel >= 0 && here != kernel)
            return -1;
        kernel = here;
    }
    return kernel;
}

/* A value of samples: weights are small, and widened once for all that reads them. Also, a kernel needs room only for
 * the samples at hand (5_memory), not for all of what is short-lived. */
static bool is_of_samples(const struct program_ir *p, const struct uses *u, int value)
{
    const int writer = u->writers.nest[u->writers.begin[value]];
    return p->nests[writer].batched || p->placements[writer].row_axis >= 0;
}

/* ---- from one kernel to another ------------------------------------------------------------- */

/* The half type that all stores of a float32 value widen; float32: they do not. */
static tarn_dtype widened_of(const struct program_ir *p, const struct uses *u, int value)
{
    tarn_dtype half = TARN_F32;
    for (int i = u->writers.begin[value]; i < u->writers.begin[value + 1]; i++) {
        const struct nest *n = &p->nests[u->writers.nest[i]];
        if (!is_open(n) || 2 * n->stores > NEST_STORES) /* each may become two */
            return TARN_F32;
        for (int s = 0; s < n->stores; s++) {
            if (n->store[s].value != value)
                continue;
            const tarn_dtype of = is_map_of(n, n->store[s].expr, op_from_f16.code)    ? TARN_F16
                                  : is_map_of(n, n->store[s].expr, op_from_bf16.code) ? TARN_BF16
                                                                                      : TARN_F32;
            if (of == TARN_F32 || (half != TARN_F32 && half != of))
                return TARN_F32;
            half = of;
        }
    }
    return half;
}

static bool reads_halves(const struct program_ir *p, const struct nest *n)
{
    return is_open(n) || (n->kind == NEST_PRODUCT && (p->target->product.half_readers &
                                                      (1U << (unsigned)n->product.provider)) != 0);
}

/* Whether a value is read in other kernels than the one that writes it, and all of these can read halves. */
static bool goes_abroad(const struct program_ir *p, const struct uses *u, int value)
{
    const int home = only_kernel(p, &u->writers, value);
    bool abroad = false;
    if (home < 0 || !is_of_samples(p, u, value))
        return false;
    for (int i = u->readers.begin[value]; i < u->readers.begin[value + 1]; i++) {
        const int nest = u->readers.nest[i];
        if (p->placements[nest].kernel == home)
            continue;
        if (!reads_halves(p, &p->nests[nest]))
            return false;
        abroad = true;
    }
    return abroad;
}

static bool read_half(struct program_ir *p, struct nest *n, int value, int half)
{
    if (n->kind == NEST_PRODUCT) {
        n->product.a = n->product.a == value ? half : n->product.a;
        n->product.b = n->product.b == value ? half : n->product.b;
        (void)nest_read_instead(n, value, half);
        return true;
    }
    const tarn_dtype dtype = p->values[half].dtype;
    for (int e = 0; e < n->expr_count; e++) {
        if (!loads(n, e, value))
            continue;
        struct expr bits = n->exprs[e];
        bits.dtype = dtype_computed(dtype);
        bits.access.value = half;
        const int loaded = expr_add(p, n, &bits);
        if (loaded < 0)
            return false;
        n->exprs[e] = (struct expr){ .kind = EXPR_MAP,
                                     .dtype = TARN_F32,
                                     .code = widening_code(dtype),
                                     .arg = { loaded },
                                     .args = 1 };
    }
    return true;
}

/* Stores a value as a half for other kernels, and widened for its own if that reads it. */
static bool store_half(struct program_ir *p, const struct uses *u, int value, tarn_dtype dtype)
{
    const struct value v = p->values[value];
    const int home = only_kernel(p, &u->writers, value);
    const int half = value_add(p, PLACE_ARENA, v.layout, 0, v.shape, dtype);
    bool read_at_home = false;
    if (half < 0)
        return false;
    for (int i = u->readers.begin[value]; i < u->readers.begin[value + 1]; i++) {
        const int nest = u->readers.nest[i];
        if (p->placements[nest].kernel == home)
            read_at_home = true;
        else if (!read_half(p, &p->nests[nest], value, half))
            return false;
    }
    for (int i = u->writers.begin[value]; i < u->writers.begin[value + 1]; i++) {
        struct nest *n = &p->nests[u->writers.nest[i]];
        for (int s = 0, stores = n->stores; s < stores; s++) {
            if (n->store[s].value != value)
                continue;
            struct store *to = read_at_home ? &n->store[n->stores++] : &n->store[s];
            *to = n->store[s];
            to->value = half;
            to->expr = n->exprs[n->store[s].expr].arg[0];
        }
    }
    return true;
}

static bool store_halves(struct program_ir *p, const struct uses *u)
{
    for (int v = 0, count = p->value_count; v < count; v++) {
        if (p->values[v].place != PLACE_ARENA || p->values[v].dtype != TARN_F32)
            continue;
        const tarn_dtype half = widened_of(p, u, v);
        if (half != TARN_F32 && goes_abroad(p, u, v) && !store_half(p, u, v, half))
            return false;
    }
    return true;
}

/* ---- within one ----------------------------------------------------------------------------- */

/* The nests of a kernel from the first that writes a value to the last that reads it. */
static int lifetime(const struct program_ir *p, const struct uses *u, int value, int kernel)
{
    const int first = u->writers.nest[u->writers.begin[value]];
    const int last = u->readers.nest[u->readers.begin[value + 1] - 1];
    int nests = 0;
    for (int i = first; i <= last; i++)
        nests += p->placements[i].kernel == kernel;
    return nests;
}

static bool can_stay_wide(const struct program_ir *p, const struct uses *u, int value)
{
    const struct value *v = &p->values[value];
    const int kernel = only_kernel(p, &u->writers, value);
    if (v->place != PLACE_ARENA || !dtype_is_half(v->dtype) || kernel < 0 ||
        only_kernel(p, &u->readers, value) != kernel || !is_of_samples(p, u, value) ||
        lifetime(p, u, value, kernel) > SHORT_LIFE)
        return false;
    for (int i = u->writers.begin[value]; i < u->writers.begin[value + 1]; i++) {
        const struct nest *n = &p->nests[u->writers.nest[i]];
        for (int s = 0; s < n->stores; s++)
            if (!is_open(n) || (n->store[s].value == value &&
                                !is_map_of(n, n->store[s].expr, op_cast.typed[v->dtype])))
                return false;
    }
    for (int i = u->readers.begin[value]; i < u->readers.begin[value + 1]; i++) {
        const struct nest *n = &p->nests[u->readers.nest[i]];
        for (int e = 0; e < n->expr_count; e++)
            if (!is_open(n) || (loads(n, e, value) && !is_always_widened(n, e)))
                return false;
    }
    return true;
}

static void read_wide(struct nest *n, int value, const char *code)
{
    for (int e = n->expr_count - 1; e >= 0; e--)
        if (is_map_of(n, e, code) && loads(n, n->exprs[e].arg[0], value)) {
            n->exprs[e] = n->exprs[n->exprs[e].arg[0]];
            n->exprs[e].dtype = TARN_F32;
        }
    for (int e = 0; e < n->expr_count; e++) /* of no use any more */
        if (loads(n, e, value))
            n->exprs[e].dtype = TARN_F32;
}

static bool stay_wide(struct program_ir *p, const struct uses *u, int value)
{
    struct value *v = &p->values[value];
    const char *code = widening_code(v->dtype);
    for (int i = u->writers.begin[value]; i < u->writers.begin[value + 1]; i++) {
        struct nest *n = &p->nests[u->writers.nest[i]];
        for (int s = 0; s < n->stores; s++) {
            if (n->store[s].value != value)
                continue;
            const struct expr wide = { .kind = EXPR_MAP,
                                       .dtype = TARN_F32,
                                       .code = code,
                                       .arg = { n->store[s].expr },
                                       .args = 1 };
            n->store[s].expr = expr_add(p, n, &wide);
            if (n->store[s].expr < 0)
                return false;
        }
    }
    for (int i = u->readers.begin[value]; i < u->readers.begin[value + 1]; i++)
        read_wide(&p->nests[u->readers.nest[i]], value, code);
    v->bytes = v->bytes / tarn_dtype_bytes(v->dtype) * tarn_dtype_bytes(TARN_F32);
    v->dtype = TARN_F32;
    return true;
}

bool place_halves(struct program_ir *p, struct uses *u)
{
    if (!p->target->fuse || p->target->items)
        return true;
    if (!store_halves(p, u) || !uses_build(p, u))
        return false;
    for (int v = 0; v < p->value_count; v++)
        if (can_stay_wide(p, u, v) && !stay_wide(p, u, v))
            return false;
    return true;
}
