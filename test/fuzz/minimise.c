/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a failing program small: fewer lines, leaves in the place of what was computed, short axes.
 * Each change stays if the program still fails in the same configuration and in the same way. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

struct minimiser {
    struct program *p;
    struct outcome *outcome;
    time_t end;
};

/* The lines after it move up. Its users must be gone. */
static void take_out(struct program *p, int i)
{
    memmove(&p->line[i], &p->line[i + 1], (size_t)(p->count - i - 1) * sizeof p->line[0]);
    p->count--;
    for (int k = i; k < p->count; k++)
        for (int o = 0; o < p->line[k].ins; o++)
            p->line[k].in[o] -= p->line[k].in[o] > i;
}

static bool used(const struct program *p, int i)
{
    for (int k = i + 1; k < p->count; k++)
        for (int o = 0; o < p->line[k].ins; o++)
            if (p->line[k].in[o] == i)
                return true;
    return false;
}

/* Lines whose value nobody takes; statements stay, and owned tensors, which are results. */
static void remove_unused(struct program *p)
{
    for (int i = p->count - 1; i >= 0; i--) {
        const char kind = op_table[p->line[i].op].result;
        if (kind != 's' && kind != 'o' && !used(p, i))
            take_out(p, i);
    }
}

static bool attempt(struct minimiser *m, struct program *p)
{
    struct outcome now;
    if (time(NULL) > m->end)
        return false;
    remove_unused(p);
    check_program(p, m->outcome->in, &now);
    if (!now.failed || now.in != m->outcome->in || now.error != m->outcome->error)
        return false;
    *m->p = *p;
    *m->outcome = now;
    return true;
}

static bool remove_line(struct minimiser *m, int i)
{
    struct program p = *m->p;
    if (used(&p, i))
        return false;
    take_out(&p, i);
    return attempt(m, &p);
}

/* All lines after step mark `last`, and all outputs but those of the step. */
static void cut_end(struct minimiser *m)
{
    for (int i = 0; i < m->p->count; i++) {
        if (m->p->line[i].op != OP_ID_step || i + 1 == m->p->count)
            continue;
        struct program p = *m->p;
        p.count = i + 1;
        if (attempt(m, &p))
            return;
    }
}

/* A value becomes data: a leaf of its shape and type. */
static bool leaf_for(struct minimiser *m, int i, enum fill fill)
{
    struct program p = *m->p;
    struct line *l = &p.line[i];
    if (p.shards > 0) /* a loader would have to deliver it */
        return false;
    const struct line leaf = {
        .op = OP_ID_from, .id = l->id, .list = { l->shape }, .arg = { (int)fill, 2, (int)l->dtype }
    };
    *l = leaf;
    return attempt(m, &p);
}

/* The operand in the place of a result of the same shape and type. */
static bool bypass(struct minimiser *m, int i)
{
    struct program p = *m->p;
    const struct line l = p.line[i];
    for (int k = 0; k < l.ins; k++) {
        const struct line *x = &p.line[l.in[k]];
        if (x->shape.rank != l.shape.rank || x->dtype != l.dtype ||
            memcmp(x->shape.dim, l.shape.dim, (size_t)l.shape.rank * sizeof l.shape.dim[0]) != 0)
            continue;
        for (int u = i + 1; u < p.count; u++)
            for (int o = 0; o < p.line[u].ins; o++)
                if (p.line[u].in[o] == i)
                    p.line[u].in[o] = l.in[k];
        return attempt(m, &p);
    }
    return false;
}

static bool simplify_lines(struct minimiser *m)
{
    bool changed = false;
    for (int i = m->p->count - 1; i >= 0; i--) {
        if (i >= m->p->count)
            continue;
        const struct line *l = &m->p->line[i];
        const char kind = op_table[l->op].result;
        if (!used(m->p, i) && (kind == 's' || kind == 'o'))
            changed |= remove_line(m, i);
        else if (kind != 's' && kind != 'o' && l->op != OP_ID_from)
            changed |=
                leaf_for(m, i, l->dtype == TARN_F32 ? FILL_SIGNED : FILL_INDEX) || bypass(m, i);
    }
    return changed;
}

static bool shrink(struct minimiser *m, int from, int to)
{
    struct program p = *m->p;
    bool some = false;
    for (int i = 0; i < p.count; i++)
        for (int k = 0; k < 2; k++)
            for (int d = 0; d < p.line[i].list[k].rank; d++) {
                int32_t *dim = &p.line[i].list[k].dim[d];
                const enum op_id op = p.line[i].op;
                if (*dim != from || op == OP_ID_permute || op_table[op].result == 'r')
                    continue;
                *dim = to;
                some = true;
            }
    return some && attempt(m, &p);
}

static bool shrink_axes(struct minimiser *m)
{
    bool changed = false;
    for (int from = 256; from > 1; from--)
        for (int to = 1; to < from && to < 5; to++)
            if (shrink(m, from, to)) {
                changed = true;
                break;
            }
    return changed;
}

void minimise(struct program *p, struct outcome *outcome, int seconds)
{
    struct minimiser m = { p, outcome, time(NULL) + seconds };
    cut_end(&m);
    while ((simplify_lines(&m) || shrink_axes(&m)) && time(NULL) < m.end)
        continue;
}
