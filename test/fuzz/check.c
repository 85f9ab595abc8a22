/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const configuration_names[RUN_COUNT] = { "default", "TARN_FUSE=0", "TARN_SCHEDULE=gpu",
                                                     "TARN_WINOGRAD=1" };

/* Of its largest value; a result with a wider bound says too little. */
static const double WIDEST = 0.01;

enum configuration check_other(const struct program *p)
{
    if (program_has(p, OP_ID_conv2d_op) || program_has(p, OP_ID_conv2d_forward))
        return (enum configuration)(1 + p->seed % 3);
    return (enum configuration)(1 + p->seed % 2);
}

static const char *const configuration_sets[RUN_COUNT][2] = {
    { NULL, NULL }, { "TARN_FUSE", "0" }, { "TARN_SCHEDULE", "gpu" }, { "TARN_WINOGRAD", "1" }
};

/* Sets the configuration's variable, and puts back what the caller of the program had chosen. */
static bool run_in(enum configuration c, const struct program *p, const struct interpreter *m,
                   const struct results *want, struct readings *out, char *error, size_t capacity)
{
    const char *name = configuration_sets[c][0], *old = name != NULL ? getenv(name) : NULL;
    char *saved = old != NULL ? strdup(old) : NULL;
    if (name != NULL)
        setenv(name, configuration_sets[c][1], 1);
    tarn_replica *r = tarn_open(NULL);
    const bool good = r != NULL && device_run(r, p, m, want, out, error, capacity);
    if (r == NULL)
        snprintf(error, capacity, "%s", tarn_error(NULL));
    tarn_close(r);
    if (saved != NULL)
        setenv(name, saved, 1);
    else if (name != NULL)
        unsetenv(name);
    free(saved);
    return good;
}

static void describe(const struct program *p, const struct interpreter *m, const struct result *r,
                     char *out, size_t capacity)
{
    if (r->slot < 0)
        snprintf(out, capacity, "t%d (%s), step at line %d", r->line,
                 op_table[p->line[r->line].op].name, r->step);
    else
        snprintf(out, capacity, "owned t%d (%s, part %d), step at line %d", m->slot[r->slot].line,
                 op_table[p->line[m->slot[r->slot].line].op].name, m->slot[r->slot].part, r->step);
}

/* Compares one result with the reference. */
static bool near(const struct tape_node *n, const double *got, struct outcome *o, int *worst)
{
    double top = 0, widest = 0, margin = INFINITY;
    for (int i = 0; i < n->count; i++) {
        top = fmax(top, fabs(n->v[i]));
        widest = fmax(widest, n->e[i]);
    }
    o->results++;
    *worst = -1;
    if (isnan(top) || !(widest <= WIDEST * top || widest < 1e-30))
        return true;
    o->tested++;
    for (int i = 0; i < n->count; i++) {
        const double error = fabs(got[i] - n->v[i]), limit = n->e[i] + 0x1p-126;
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

static void compare(struct program *p, const struct interpreter *m, const struct results *want,
                    const struct readings *got, enum configuration in, struct outcome *o)
{
    char what[160];
    int worst;
    for (int k = 0; k < want->count && !o->failed; k++) {
        const struct result *r = &want->r[k];
        const struct tape_node *n = &m->tape->node[r->node];
        if (near(n, got->v[k], o, &worst))
            continue;
        describe(p, m, r, what, sizeof what);
        o->failed = true;
        o->in = in;
        snprintf(o->what, sizeof o->what, "%s: element %d is %.9g, should be %.9g, bound %.3g",
                 what, worst, got->v[k][worst], n->v[worst], n->e[worst]);
    }
}

/* Fused and unfused give the same bits. A driver's exp may have others for a vector than for a single
 * float, so what is made with such functions is left to the bounds. */
static void compare_bits(struct program *p, const struct interpreter *m, const struct results *want,
                         const struct readings *a, const struct readings *b, enum configuration in,
                         struct outcome *o)
{
    char what[160];
    for (int k = 0; k < want->count && !o->failed; k++) {
        const struct tape_node *node = &m->tape->node[want->r[k].node];
        for (int i = 0; i < node->count && !o->failed && !node->driver; i++) {
            if (memcmp(&a->v[k][i], &b->v[k][i], sizeof(double)) == 0 ||
                (isnan(a->v[k][i]) && isnan(b->v[k][i])))
                continue;
            describe(p, m, &want->r[k], what, sizeof what);
            o->failed = true;
            o->in = in;
            snprintf(o->what, sizeof o->what,
                     "%s: element %d is %.9g, but %.9g in the default configuration", what, i,
                     b->v[k][i], a->v[k][i]);
        }
    }
}

static void error_in(struct outcome *o, enum configuration in)
{
    o->failed = o->error = true;
    o->in = in;
}

/* The other configuration against the first one's bits, or against the reference. */
static void check_again(struct program *p, const struct interpreter *m, const struct results *want,
                        const struct readings *first, enum configuration other, struct outcome *o)
{
    struct readings second;
    struct interpreter *wide = malloc(sizeof *wide);
    struct tape again = { .node = NULL };
    if (wide == NULL)
        abort();
    if (!run_in(other, p, m, want, &second, o->what, sizeof o->what)) {
        error_in(o, other);
    } else if (other == RUN_UNFUSED) {
        struct outcome more = *o;
        compare_bits(p, m, want, first, &second, other, o);
        if (!o->failed)
            compare(p, m, want, &second, other, &more);
        more.results = o->results;
        more.tested = o->tested;
        if (more.failed)
            *o = more;
        readings_free(&second);
    } else {
        /* Winograd's algorithm loses digits, so it needs bounds of its own; what they leave
         * untested has been tested in the default configuration. */
        struct outcome more = { .margin = o->margin };
        interpret_begin(wide, p, &again);
        wide->winograd = other == RUN_WINOGRAD;
        for (int i = 0; i < p->count; i++)
            interpret_line(wide, i);
        compare(p, wide, want, &second, other, &more);
        more.results = o->results;
        more.tested = o->tested;
        *o = more;
        readings_free(&second);
    }
    tape_free(&again);
    free(wide);
}

void check_program(struct program *p, enum configuration other, struct outcome *o)
{
    *o = (struct outcome){ .margin = INFINITY };
    struct interpreter *m = malloc(sizeof *m);
    struct tape tape = { .node = NULL };
    struct results want;
    struct readings first;
    if (m == NULL)
        abort();
    if (!interpret_program(m, p, &tape, &want)) {
        snprintf(o->what, sizeof o->what, "not a program");
    } else if (!run_in(RUN_DEFAULT, p, m, &want, &first, o->what, sizeof o->what)) {
        error_in(o, RUN_DEFAULT);
    } else {
        compare(p, m, &want, &first, RUN_DEFAULT, o);
        if (!o->failed && other != RUN_DEFAULT)
            check_again(p, m, &want, &first, other, o);
        readings_free(&first);
    }
    tape_free(&tape);
    free(m);
}
