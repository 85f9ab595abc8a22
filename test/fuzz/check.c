/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of other devices with launches that cost so little that small programs are cut and divided as large ones are. */
const char *const configuration_names[RUN_COUNT] = {
    [RUN_DEFAULT] = "default",
    [RUN_UNFUSED] = "TARN_FUSE=0",
    [RUN_GPU] = "TARN_SCHEDULE=gpu",
    [RUN_AVX512] = "TARN_TARGET=avx512:4@100",
    [RUN_AVX2] = "TARN_TARGET=avx2:8@1",
    [RUN_NEON] = "TARN_TARGET=neon:4@300",
    [RUN_GENERIC] = "TARN_TARGET=generic:2@30",
    [RUN_NVIDIA] = "TARN_TARGET=nvidia",
    [RUN_AMD] = "TARN_TARGET=amd",
    [RUN_INTEL] = "TARN_TARGET=intel:32@1",
    [RUN_TILE_1] = "TARN_TILE=1",
    [RUN_TILE_2] = "TARN_TILE=2",
    [RUN_TILE_3] = "TARN_TILE=3",
    [RUN_WINOGRAD] = "TARN_WINOGRAD=1",
    [RUN_ALONE] = "one device",
    [RUN_MESH] = "mesh",
    [RUN_SHARDS] = "virtual shards",
};

/* Of its largest value; a result with a wider bound says too little. A half type's own unit is 2^-7; what was computed
 * in float32 is no double. */
static double widest_of(const struct program *p)
{
    return program_half(p->half) ? 0.1 : p->wide ? 1e-9 : 0.01;
}

static bool has(const struct program *p, enum op_id op)
{
    for (int i = 0; i < p->count; i++)
        if (p->line[i].op == op)
            return true;
    return false;
}

/* Replicas differ from one device: by collectives, and by the weight of their losses. */
static bool exchanges(const struct program *p)
{
    for (int i = 0; i < p->count; i++)
        if (op_table[p->line[i].op].result == 'c' || p->line[i].op == OP_ID_backward)
            return true;
    return false;
}

static bool convolves(const struct program *p)
{
    return has(p, OP_ID_conv2d_op) || has(p, OP_ID_conv2d_forward);
}

/* Whether the bits are those of the default configuration. */
static bool same_bits(const struct program *p, enum configuration in)
{
    const bool gpu = in == RUN_GPU || (in >= RUN_NVIDIA && in <= RUN_INTEL);
    return in == RUN_UNFUSED || (in >= RUN_AVX512 && in <= RUN_GENERIC) ||
           (in >= RUN_TILE_1 && in <= RUN_TILE_3) || (gpu && !convolves(p));
}

enum configuration check_other(const struct program *p)
{
    if (p->world > 1 && p->seed % 3 == 0)
        return RUN_UNFUSED;
    if (p->world > 1)
        return p->seed % 3 == 1 && !exchanges(p) ? RUN_ALONE : RUN_AVX512 + p->seed / 3 % 4;
    return (enum configuration)(1 + p->seed % (convolves(p) ? RUN_WINOGRAD : RUN_TILE_3));
}

/* ---- running -------------------------------------------------------------------------------- */

static bool run_alone(const struct check *c, struct readings *out)
{
    struct outcome *o = c->o;
    tarn_replica *r = tarn_open(NULL);
    const bool good = r != NULL && device_run(r, c->p, c->m, c->want, out, o->what, sizeof o->what);
    if (r == NULL)
        snprintf(o->what, sizeof o->what, "%s", tarn_error(NULL));
    tarn_close(r);
    return good;
}

/* Puts back what the caller of the program had chosen. */
bool check_run(const struct check *c, enum configuration in, struct readings *out)
{
    char text[64], *value;
    snprintf(text, sizeof text, "%s", configuration_names[in]);
    value = strchr(text, '='); /* what sets a variable is called by it */
    const char *name = value != NULL ? text : NULL;
    if (value != NULL)
        *value++ = '\0';
    const char *old = name != NULL ? getenv(name) : NULL;
    char *saved = old != NULL ? strdup(old) : NULL;
    if (name != NULL)
        setenv(name, value, 1);
    const bool good =
        c->p->world > 1 && in != RUN_ALONE ? team_run(c, c->p->world, out) : run_alone(c, out);
    if (saved != NULL)
        setenv(name, saved, 1);
    else if (name != NULL)
        unsetenv(name);
    free(saved);
    if (!good) {
        c->o->failed = c->o->error = true;
        c->o->in = in;
    }
    return good;
}

static void free_all(const struct program *p, struct readings *all)
{
    for (int rank = 0; rank < p->world; rank++)
        readings_free(&all[rank]);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static void describe(const struct check *c, int rank, const struct result *r, char *out,
                     size_t capacity)
{
    const struct line *line = c->p->line;
    char where[32] = "";
    if (c->p->world > 1)
        snprintf(where, sizeof where, "rank %d of %d, ", rank, c->p->world);
    if (r->slot < 0)
        snprintf(out, capacity, "%st%d (%s), step at line %d", where, r->line,
                 op_table[line[r->line].op].name, r->step);
    else
        snprintf(out, capacity, "%sowned t%d (%s, part %d), step at line %d", where,
                 c->m->slot[r->slot].line, op_table[line[c->m->slot[r->slot].line].op].name,
                 c->m->slot[r->slot].part, r->step);
}

static void fail(const struct check *c, int rank, enum configuration in)
{
    c->o->failed = true;
    c->o->rank = rank;
    c->o->in = in;
}

/* Compares one result with the reference. */
static bool near(const struct tape_node *n, const double *got, double wide, struct outcome *o,
                 int *worst)
{
    double top = 0, widest = 0, margin = INFINITY;
    for (int i = 0; i < n->count; i++) {
        top = isinf(n->v[i]) ? top : fmax(top, fabs(n->v[i]));
        widest = fmax(widest, n->e[i]);
    }
    o->results++;
    *worst = -1;
    if (isnan(top) || !(widest <= wide * top || widest < 1e-30))
        return true;
    o->tested++;
    for (int i = 0; i < n->count; i++) {
        const double error = got[i] == n->v[i] ? 0 : fabs(got[i] - n->v[i]),
                     limit = n->e[i] + 0x1p-126;
        if (!(error <= limit)) {
            *worst = i;
            return false;
        }
        if (error > 0 && n->e[i] > 0)
            margin = fmin(margin, n->e[i] / error);
    }
    o->margin = fmin(o->margin, margin);
    return true;
}

void check_values(const struct check *c, int rank, const struct readings *got,
                  enum configuration in)
{
    char what[160];
    int worst;
    for (int k = 0; k < c->want->count && !c->o->failed; k++) {
        const struct result *r = &c->want->r[k];
        const struct tape_node *n = &c->m->tape->node[r->node[rank]];
        if (near(n, got->v[k], widest_of(c->p), c->o, &worst))
            continue;
        describe(c, rank, r, what, sizeof what);
        fail(c, rank, in);
        snprintf(c->o->what, sizeof c->o->what,
                 "%s: element %d is %.9g, should be %.9g, bound %.3g", what, worst,
                 got->v[k][worst], n->v[worst], n->e[worst]);
    }
}

void check_bits(const struct check *c, int rank, const struct readings *got,
                const struct readings *other, const char *name, enum configuration in,
                bool (*matters)(const struct check *c, int rank, int result))
{
    char what[160];
    for (int k = 0; k < c->want->count && !c->o->failed; k++) {
        const struct tape_node *node = &c->m->tape->node[c->want->r[k].node[rank]];
        if (!matters(c, rank, k))
            continue;
        for (int i = 0; i < node->count && !c->o->failed; i++) {
            const double a = other->v[k][i], b = got->v[k][i];
            if (memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)))
                continue;
            describe(c, rank, &c->want->r[k], what, sizeof what);
            fail(c, rank, in);
            snprintf(c->o->what, sizeof c->o->what, "%s: element %d is %.9g, but %.9g %s", what, i,
                     b, a, name);
        }
    }
}

static bool always(const struct check *c, int rank, int result)
{
    (void)c, (void)rank, (void)result;
    return true;
}

/* A driver's exp may have other bits for a vector than for a single float, so what is made with
 * such functions is left to the bounds. */
bool check_without_driver(const struct check *c, int rank, int result)
{
    return !c->m->tape->node[c->want->r[result].node[rank]].driver;
}

static void compare_all(const struct check *c, const struct readings *got, enum configuration in)
{
    for (int rank = 0; rank < c->p->world; rank++)
        check_values(c, rank, &got[rank], in);
    if (c->p->world > 1)
        team_compare(c, got, in);
}

/* Winograd's algorithm loses digits, so it needs bounds of its own; what they leave untested has
 * been tested in the default configuration. */
static void compare_other(const struct check *c, const struct readings *got,
                          enum configuration other)
{
    struct interpreter *wide = malloc(MAX_WORLD * sizeof *wide);
    struct tape again = { .node = NULL };
    if (wide == NULL)
        abort();
    interpret_begin(wide, c->p, &again);
    for (int rank = 0; rank < c->p->world; rank++)
        wide[rank].winograd = other == RUN_WINOGRAD;
    for (int i = 0; i < c->p->count; i++)
        interpret_line(wide, i);
    const struct check more = { c->p, wide, c->want, c->o };
    compare_all(&more, got, other);
    tape_free(&again);
    free(wide);
}

/* The other configuration against the first one's bits, and against the reference. */
static void check_again(const struct check *c, const struct readings *first,
                        enum configuration other)
{
    struct readings second[MAX_WORLD] = { { { NULL } } };
    const int results = c->o->results, tested = c->o->tested;
    const double margin = c->o->margin;
    if (!check_run(c, other, second))
        return;
    const bool bits = same_bits(c->p, other);
    for (int rank = 0; rank < c->p->world && bits; rank++)
        check_bits(c, rank, &second[rank], &first[rank], "in the default configuration", other,
                   check_without_driver);
    if (other == RUN_ALONE)
        check_bits(c, 0, second, first, "on rank 0 of several", other, always);
    else if (!c->o->failed && other == RUN_UNFUSED)
        compare_all(c, second, other);
    else if (!c->o->failed)
        compare_other(c, second, other);
    c->o->results = results;
    c->o->tested = tested;
    if (other == RUN_UNFUSED)
        c->o->margin = margin;
    free_all(c->p, second);
}

void check_program(struct program *p, enum configuration other, struct outcome *o)
{
    *o = (struct outcome){ .margin = INFINITY };
    struct interpreter *m = malloc(MAX_WORLD * sizeof *m);
    struct tape tape = { .node = NULL };
    struct results want;
    struct readings first[MAX_WORLD];
    const struct check c = { p, m, &want, o };
    if (m == NULL)
        abort();
    if (!interpret_program(m, p, &tape, &want)) {
        snprintf(o->what, sizeof o->what, "not a program");
    } else if (p->shards > 0) {
        shards_check(&c);
    } else if (p->mesh) {
        mesh_check(&c);
    } else if (check_run(&c, RUN_DEFAULT, first)) {
        compare_all(&c, first, RUN_DEFAULT);
        if (!o->failed && other != RUN_DEFAULT)
            check_again(&c, first, other);
        free_all(p, first);
    }
    tape_free(&tape);
    free(m);
}
