/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a program, with what it draws and what must come out of it, for test/against_pytorch.
 * Numbers may be NaN and Infinity, as Python's reader takes them. */
#include <stdlib.h>

#include "check.h"

static void print_numbers(FILE *f, const char *name, const double *v, int n)
{
    fprintf(f, ", \"%s\": [", name);
    for (int i = 0; i < n; i++) {
        fprintf(f, i > 0 ? ", " : "");
        print_number(f, v[i], "NaN", "Infinity");
    }
    fprintf(f, "]");
}

static void print_node(FILE *f, const char *name, const struct tape *t, int node)
{
    print_numbers(f, name, t->node[node].v, t->node[node].count);
}

static void print_whole(FILE *f, const char *name, const int *v, int n)
{
    fprintf(f, ", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(f, "%s%d", i > 0 ? ", " : "", v[i]);
    fprintf(f, "]");
}

/* A list of lengths or axes; null stands for all axes. */
static void print_list(FILE *f, const char *name, tarn_shape s)
{
    if (s.rank < 0)
        fprintf(f, ", \"%s\": null", name);
    else
        print_whole(f, name, s.dim, s.rank);
}

/* What a line draws or reads from outside: PyTorch has other random numbers. */
static void print_drawn(FILE *f, const struct interpreter *m, int i)
{
    const struct line *l = &m->p->line[i];
    const struct tape *t = m->tape;
    if (program_is_layer(l->op))
        for (int s = m->value[i], part = 0; s < m->slots && m->slot[s].line == i; s++, part++) {
            char name[16];
            snprintf(name, sizeof name, "part%d", part);
            print_node(f, name, t, m->slot[s].value);
        }
    else if (l->op == OP_ID_from || l->op == OP_ID_buffer || program_is_parameter(l->op) ||
             (l->op >= OP_ID_rand && l->op <= OP_ID_randn_truncated))
        print_node(f, "data", t, interpret_node(m, i));
    else if (l->op == OP_ID_einsum)
        fprintf(f, ", \"text\": \"%s\"", einsum_text[l->arg[0]]);
    else if (l->op == OP_ID_dropout && m->training && l->f[0] > 0)
        print_node(f, "mask", t, t->node[m->value[i]].b);
}

static void print_results(FILE *f, const struct interpreter *m, int i)
{
    struct results want = { .count = 0 };
    interpret_results(m, i, &want);
    fprintf(f, ", \"want\": [");
    for (int k = 0; k < want.count; k++) {
        const struct result *r = &want.r[k];
        fprintf(f, "%s{\"line\": %d, \"slot\": %d", k > 0 ? ", " : "", r->line, r->slot);
        print_node(f, "value", m->tape, r->node[0]);
        print_numbers(f, "bound", m->tape->node[r->node[0]].e, m->tape->node[r->node[0]].count);
        fprintf(f, "}");
    }
    fprintf(f, "]");
}

static void print_line(FILE *f, const struct interpreter *m, int i)
{
    const struct line *l = &m->p->line[i];
    fprintf(f, "%s{\"op\": \"%s\", \"type\": %d", i > 0 ? ", " : "", op_table[l->op].name,
            (int)l->dtype);
    print_whole(f, "in", l->in, l->ins);
    print_whole(f, "arg", l->arg, MAX_ARGS);
    double floats[5];
    for (int k = 0; k < 5; k++)
        floats[k] = (double)l->f[k];
    print_numbers(f, "f", floats, 5);
    print_list(f, "first", l->list[0]);
    print_list(f, "second", l->list[1]);
    print_list(f, "shape", l->shape);
    print_drawn(f, m, i);
    if (l->op == OP_ID_step)
        print_results(f, m, i);
    fprintf(f, "}");
}

bool print_json(FILE *f, struct program *p)
{
    struct interpreter *m = malloc(MAX_WORLD * sizeof *m);
    struct tape tape = { .node = NULL };
    bool good = m != NULL && program_check(p);
    if (good)
        interpret_begin(m, p, &tape);
    fprintf(f, "{\"seed\": %llu, \"lines\": [", p->seed);
    for (int i = 0; good && i < p->count; i++) {
        good = interpret_line(m, i);
        if (good)
            print_line(f, m, i);
    }
    fprintf(f, "]}\n");
    tape_free(&tape);
    free(m);
    return good;
}
