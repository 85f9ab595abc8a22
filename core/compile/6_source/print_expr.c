/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as OpenCL C: one statement for each distinct value, named t1, t2, ... In:
 * expressions, and what each axis is at this point. Out: statements, and the name of the last. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

void print_line(struct printer *pr, const char *format, ...)
{
    va_list args;
    text_add_spaces(pr->out, 4 * pr->indent);
    va_start(args, format);
    text_add_list(pr->out, format, args);
    va_end(args);
    text_add(pr->out, "\n");
}

const char *register_name(tarn_dtype dtype, int width)
{
    return width == 1 ? dtype_records[dtype].scalar : dtype_records[dtype].vector;
}

const char *memory_type(const struct value *v)
{
    return dtype_records[v->dtype].memory;
}

const char *value_space(const struct value *v)
{
    return v->place == PLACE_SCRATCH ? "__local" : "__global";
}

/* ---- indices -------------------------------------------------------------------------------- */

static void add_term(struct text *t, int32_t factor, const char *what)
{
    const char *sign = t->length == 0 ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    const int32_t size = factor < 0 ? -factor : factor;
    if (size == 1)
        text_add(t, "%s%s", sign, what);
    else
        text_add(t, "%s%d * %s", sign, size, what);
}

void print_affine(const struct printer *pr, const struct affine *e, struct text *t)
{
    int32_t constant = e->constant;
    for (int a = 0; a < pr->n->axes; a++) {
        if (e->k[a] == 0)
            continue;
        const struct axis_now *now = &pr->axis[a];
        if (!pr->items && nest_has_batch_lanes(pr->n) && a == pr->n->batch_axis) {
            if (!pr->tail)
                add_term(t, LANES * e->k[a], "b");
            continue;
        }
        constant += e->k[a] * now->constant;
        if (now->variable[0] != '\0')
            add_term(t, e->k[a], now->variable);
    }
    if (constant != 0 || t->length == 0) {
        char number[16];
        text_fill(number, sizeof number, "%d", constant < 0 ? -constant : constant);
        add_term(t, constant < 0 ? -1 : 1, number);
    }
}

int lane_factor(const struct printer *pr, const struct affine *e)
{
    return pr->lane_axis < 0 ? 0 : e->k[pr->lane_axis];
}

void lanes_of(const struct printer *pr, const struct affine *e, struct text *t)
{
    struct text scalar = { 0 };
    print_affine(pr, e, &scalar);
    const int k = lane_factor(pr, e);
    const char *s = scalar.data != NULL ? scalar.data : "0";
    if (pr->width == 1)
        text_add(t, "(int)(%s)", s);
    else if (k == 0)
        text_add(t, "(int16)((int)(%s))", s);
    else
        text_add(t, "((int16)((int)(%s)) + %d * %s)", s, k,
                 nest_has_batch_lanes(pr->n) && pr->tail ? "sample" : "TARN_LANES");
    t->failed |= scalar.failed;
    text_free(&scalar);
}

static void range_of(const struct printer *pr, const struct affine *e, int64_t *low, int64_t *high)
{
    *low = *high = e->constant;
    for (int a = 0; a < pr->n->axes; a++) {
        const struct axis_now *now = &pr->axis[a];
        int64_t from = now->constant, to = now->constant;
        if (nest_has_batch_lanes(pr->n) && a == pr->n->batch_axis)
            to += pr->n->extent[a] - 1;
        else if (now->variable[0] != '\0')
            to += now->high + (a == pr->lane_axis ? LANES - 1 : 0);
        *low += e->k[a] * (e->k[a] < 0 ? to : from);
        *high += e->k[a] * (e->k[a] < 0 ? from : to);
    }
}

/* Remainder of a numerator by the divisor, when every variable's part is a multiple of it; -1. */
static int known_remainder(const struct printer *pr, const struct affine *e, int32_t divide)
{
    int64_t constant = e->constant;
    for (int a = 0; a < pr->n->axes; a++) {
        const struct axis_now *now = &pr->axis[a];
        const bool moves =
            now->variable[0] != '\0' || (nest_has_batch_lanes(pr->n) && a == pr->n->batch_axis);
        const int32_t step = a == pr->lane_axis ? 1 : now->step;
        if (moves && e->k[a] * step % divide != 0)
            return -1;
        constant += (int64_t)e->k[a] * now->constant;
    }
    return (int)((constant % divide + divide) % divide);
}

/* It does not where both of its ends lie between registers. */
bool guard_divides_lanes(const struct printer *pr, const struct guard *g)
{
    const int k = lane_factor(pr, &g->e);
    const bool batch = nest_has_batch_lanes(pr->n);
    if (k != 1 || g->divide != 1 || g->extent % LANES != 0 || (batch && pr->tail))
        return k != 0;
    if (!batch && (pr->n->extent[pr->lane_axis] % LANES != 0 ||
                   (pr->lane_axis == pr->s->split_axis && pr->s->split_step % LANES != 0)))
        return true; /* registers may begin anywhere */
    const struct sum_loops *sum = pr->sum;
    if (sum != NULL && sum->cut_axis == pr->lane_axis &&
        sum->c.of[sum->cut_level].step % LANES != 0)
        return true;
    int64_t constant = g->e.constant;
    for (int a = 0; a < pr->n->axes; a++) {
        const struct axis_now *now = &pr->axis[a];
        const int32_t step = a == pr->lane_axis ? LANES : now->step;
        if (now->variable[0] != '\0' && g->e.k[a] * step % LANES != 0)
            return true;
        constant += (int64_t)g->e.k[a] * now->constant;
    }
    return constant % LANES != 0;
}

enum verdict print_guard(struct printer *pr, const struct guard *g, struct text *t, bool *lanes)
{
    int64_t low, high;
    range_of(pr, &g->e, &low, &high);
    const int64_t end = (int64_t)g->extent * g->divide;
    const int remainder = known_remainder(pr, &g->e, g->divide);
    if (high < 0 || low >= end || remainder > 0)
        return NEVER;
    const bool check_low = low < 0, check_rest = remainder < 0;
    const bool check_high = high > end - g->divide;
    if (!check_low && !check_high && !check_rest)
        return ALWAYS;
    struct text e = { 0 };
    const bool vector = guard_divides_lanes(pr, g);
    if (vector)
        lanes_of(pr, &g->e, &e);
    else
        print_affine(pr, &g->e, &e);
    const char *join = t->length > 0 ? (vector ? " & " : " && ") : "";
    const char *and = vector ? " & " : " && ";
    text_add(t, "%s(", join);
    if (check_low)
        text_add(t, "(%s >= 0)", e.data);
    if (check_high)
        text_add(t, "%s(%s <= %lld)", check_low ? and : "", e.data, (long long)end - g->divide);
    if (check_rest)
        text_add(t, "%s((%s) %% %d == 0)", check_low || check_high ? and : "", e.data, g->divide);
    text_add(t, ")");
    *lanes |= vector;
    t->failed |= e.failed;
    text_free(&e);
    return DEPENDS;
}

/* ---- statements ----------------------------------------------------------------------------- */

static uint64_t text_hash(const struct text *t)
{
    return XXH3_64bits(t->data, t->length);
}

void known_reset(struct printer *pr, int count)
{
    while (pr->known_count > count) {
        const struct known *k = &pr->known[--pr->known_count];
        pr->newest[k->hash % KNOWN_BUCKETS] = k->before;
        free(k->text);
    }
}

/* Whether a text has a name in this scope. */
static bool recall(const struct printer *pr, const struct text *t, char name[NAME])
{
    const uint64_t h = text_hash(t);
    for (int i = pr->newest[h % KNOWN_BUCKETS]; i > 0; i = pr->known[i - 1].before) {
        const struct known *k = &pr->known[i - 1];
        if (k->hash == h && k->length == t->length && memcmp(k->text, t->data, t->length) == 0) {
            memcpy(name, k->name, NAME);
            return true;
        }
    }
    return false;
}

/* Takes the text. */
static void remember(struct printer *pr, struct text *right, const char name[NAME])
{
    if (pr->known_count == pr->known_capacity) {
        const int capacity = 2 * pr->known_capacity + 64;
        struct known *larger = realloc(pr->known, (size_t)capacity * sizeof *larger);
        if (larger == NULL) {
            pr->out->failed = true;
            text_free(right);
            return;
        }
        pr->known = larger;
        pr->known_capacity = capacity;
    }
    struct known *k = &pr->known[pr->known_count++];
    k->hash = text_hash(right);
    int *newest = &pr->newest[k->hash % KNOWN_BUCKETS];
    k->before = *newest;
    *newest = pr->known_count;
    k->text = right->data; /* now owned by the list */
    k->length = right->length;
    memcpy(k->name, name, NAME);
}

void print_define(struct printer *pr, const char *type, struct text *right, char name[NAME])
{
    if (right->failed || right->data == NULL) {
        pr->out->failed = true;
        text_fill(name, NAME, "0");
        text_free(right);
        return;
    }
    if (recall(pr, right, name)) {
        text_free(right);
        return;
    }
    text_fill(name, NAME, "t%d", ++pr->temporaries);
    print_line(pr, "const %s %s = %s;", type, name, right->data);
    remember(pr, right, name);
}

void print_zero(const struct printer *pr, char name[NAME])
{
    struct text zero = { 0 };
    constant_text(TARN_F32, 0, 0, pr->width, &zero);
    text_fill(name, NAME, "%s", zero.data != NULL ? zero.data : "0");
    text_free(&zero);
}

bool print_is_zero(const struct printer *pr, const char *name)
{
    char zero[NAME];
    if (name[0] == 't') /* a statement's */
        return false;
    print_zero(pr, zero);
    return strcmp(name, zero) == 0;
}

void expand_code(const char *code, const struct code_names *names, int width, struct text *t)
{
    static const char letters[] = "xyzab";
    while (*code != '\0') {
        const char *end = code;
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
        const int length = (int)(end - code);
        const char *letter = length == 1 ? strchr(letters, *code) : NULL;
        if (letter != NULL)
            text_add(t, "%s", names->of[letter - letters]);
        else if (length > 5 && strncmp(code, "TARN_", 5) == 0)
            text_add(t, names->doubles ? "%.*s_F64" : "%.*s_%d", length, code, width);
        else if (length > 0)
            text_add(t, "%.*s", length, code);
        else
            text_add(t, "%c", *end++);
        code = end;
    }
}

/* A guarded value: read only where the guards hold. */
static void print_guarded(struct printer *pr, const struct expr *e, char name[NAME])
{
    struct text condition = { 0 }, fill = { 0 };
    bool lanes = false;
    for (int g = 0; g < e->guards; g++)
        lanes |= guard_divides_lanes(pr, &e->guard[g]);
    enum verdict all = ALWAYS;
    for (int g = 0; g < e->guards && all != NEVER; g++) {
        struct text one = { 0 };
        bool vector = false;
        const enum verdict v = print_guard(pr, &e->guard[g], &one, &vector);
        if (v == DEPENDS)
            text_add(&condition, lanes ? (vector ? "%s%s" : "%s(int16)(-%s)") : "%s%s",
                     condition.length == 0 ? ""
                     : lanes               ? " & "
                                           : " && ",
                     one.data);
        all = v == ALWAYS ? all : v;
        text_free(&one);
        if (v == DEPENDS)
            all = DEPENDS;
    }
    constant_text(e->dtype, e->bits, e->high, pr->width, &fill);
    const char *type = register_name(e->dtype, pr->width);
    if (all == NEVER) {
        text_fill(name, NAME, "%s", fill.data);
    } else if (condition.length == 0) {
        print_expr(pr, e->arg[0], name);
    } else if (lanes) {
        char mask[NAME], old[NAME], inner[NAME];
        memcpy(old, pr->mask, NAME);
        if (old[0] != '\0')
            text_add(&condition, " & %s", old);
        print_define(pr, "int16", &condition, mask);
        memcpy(pr->mask, mask, NAME);
        print_expr(pr, e->arg[0], inner);
        memcpy(pr->mask, old, NAME);
        struct text right = { 0 };
        text_add(&right, "%s ? %s : %s", mask, inner, fill.data);
        print_define(pr, type, &right, name);
        condition = (struct text){ 0 };
    } else {
        char inner[NAME];
        text_fill(name, NAME, "t%d", ++pr->temporaries);
        print_line(pr, "%s %s = %s;", type, name, fill.data);
        print_line(pr, "if (%s) {", condition.data);
        pr->indent++;
        const int scope = pr->known_count;
        struct squares *const squares = pr->squares;
        pr->squares = NULL; /* they would be read whether the condition holds or not */
        print_expr(pr, e->arg[0], inner);
        pr->squares = squares;
        known_reset(pr, scope);
        print_line(pr, "%s = %s;", name, inner);
        pr->indent--;
        print_line(pr, "}");
    }
    pr->out->failed |= fill.failed;
    text_free(&fill);
    text_free(&condition);
}

/* The number of an element, on all ranks together. */
static void position_text(const struct printer *pr, const struct expr *e, struct text *t)
{
    lanes_of(pr, &e->index.e, t);
    if (e->index.divide != 1)
        text_add(t, " / %d", e->index.divide);
    for (int a = 0; a < MESH_AXES; a++)
        if (e->step[a] != 0)
            text_add(t, " + (int)(coordinate%d * %uu)", a, (uint32_t)e->step[a]);
}

static void rand_text(struct printer *pr, const struct expr *e, struct text *t)
{
    struct text index = { 0 };
    char name[NAME];
    position_text(pr, e, &index);
    print_define(pr, register_name(TARN_I32, pr->width), &index, name);
    if (pr->width == 1) {
        text_add(t, "tarn_uniform(tarn_random_mix(key + serial%u), (uint)%s)", e->bits, name);
        return;
    }
    text_add(t, "(float16)(");
    for (unsigned i = 0; i < LANES; i++)
        text_add(t, "%starn_uniform(tarn_random_mix(key + serial%u), (uint)%s.s%x)",
                 i == 0 ? "" : ", ", e->bits, name, i);
    text_add(t, ")");
}

static void map_text(struct printer *pr, const struct expr *e, struct text *t)
{
    struct code_names names = { .doubles = e->dtype == TARN_F64 };
    for (int k = 0; k < e->args; k++) {
        print_expr(pr, e->arg[k], names.of[k]);
        names.doubles |= pr->n->exprs[e->arg[k]].dtype == TARN_F64;
    }
    for (int k = 0; k < e->scalars; k++) {
        struct text scalar = { 0 };
        scalar_text(e->dtype, e->scalar[k], pr->width, &scalar);
        text_fill(names.of[3 + k], NAME, "%s", scalar.data != NULL ? scalar.data : "");
        t->failed |= scalar.failed;
        text_free(&scalar);
    }
    expand_code(e->code, &names, pr->width, t);
}

/* An expression at a point of unrolled axes: in a transform many rows ask for it. */
static void print_once(struct printer *pr, int expr, char name[NAME])
{
    const struct expr *e = &pr->n->exprs[expr];
    struct text key = { 0 };
    int32_t point[NEST_AXES];
    for (int a = 0; a < pr->n->axes; a++)
        point[a] = pr->axis[a].constant;
    text_add(&key, "expression %d %s ", expr, pr->mask); /* no right side begins like that */
    text_add_bytes(&key, point, (size_t)pr->n->axes * sizeof *point);
    if (key.failed || key.data == NULL || recall(pr, &key, name)) {
        pr->out->failed |= key.failed;
        text_free(&key);
        return;
    }
    if (e->kind == EXPR_TRANSFORM)
        print_transform(pr, e, name);
    else
        print_guarded(pr, e, name);
    remember(pr, &key, name);
}

void print_expr(struct printer *pr, int expr, char name[NAME])
{
    const struct expr *e = &pr->n->exprs[expr];
    struct text right = { 0 };
    switch (e->kind) {
    case EXPR_ACC:
        memcpy(name, pr->acc, NAME);
        return;
    case EXPR_TRANSFORM:
        print_once(pr, expr, name);
        return;
    case EXPR_GUARD:
        if (pr->n->transformed)
            print_once(pr, expr, name);
        else
            print_guarded(pr, e, name);
        return;
    case EXPR_CONSTANT:
        constant_text(e->dtype, e->bits, e->high, pr->width, &right);
        break;
    case EXPR_NUMBER:
        text_add(&right, "(%s)(number%u)", register_name(TARN_F32, pr->width), e->bits);
        break;
    case EXPR_IOTA:
        position_text(pr, e, &right);
        break;
    case EXPR_RAND:
        rand_text(pr, e, &right);
        break;
    case EXPR_LOAD:
        load_text(pr, e, &right);
        break;
    case EXPR_MAP:
        map_text(pr, e, &right);
        break;
    }
    if (e->kind == EXPR_CONSTANT && right.data != NULL && right.length < NAME) {
        memcpy(name, right.data, right.length + 1);
        text_free(&right);
        return;
    }
    print_define(pr, register_name(e->dtype, pr->width), &right, name);
}
