/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of small nests that are long. One group does a nest of less work than a launch costs; but where each reads what
 * the one before it made, all of them run in one group one after the other, while the other units rest. Those that keep to
 * rows of samples are shared by groups instead, without a launch more: what reads other samples, too, such as a sum over the
 * batch, waits for the next kernel, where nothing there needs it. In: nests in kernels. Out: which of them are to be placed
 * again as those of chains are. It changes no order of a sum. */
#include "compile/3_kernels/fuse.h"

/* What becomes of a kernel's small nests, in the order in which they are demoted. */
enum fate {
    BIG,  /* or of another kernel */
    ROWS, /* shared by groups */
    LATER,
    STAYS /* done by one group */
};

struct spreading {
    struct program_ir *p;
    const struct uses *u;
    int kernel;
    char *fate; /* by nest */
};

/* Whether all that reads a nest is a small one of its kernel, or of a later kernel than the next. */
static bool may_wait(const struct spreading *s, const struct nest *n)
{
    for (int i = 0; i < n->stores; i++) {
        const int v = n->store[i].value;
        for (int r = s->u->readers.begin[v]; r < s->u->readers.begin[v + 1]; r++) {
            const struct placement *to = &s->p->placements[s->u->readers.nest[r]];
            if (to->kernel == s->kernel + 1 || (to->kernel == s->kernel && !to->tiny))
                return false;
        }
    }
    return s->kernel + 1 < s->p->kernel_count;
}

static void demote(struct spreading *s, int nest)
{
    const bool waits = s->fate[nest] == ROWS && may_wait(s, &s->p->nests[nest]);
    s->fate[nest] = waits ? LATER : STAYS;
    s->p->placements[nest].row_axis = -1;
}

/* Demotes one of two nests, of which the other reads by `e` what the one writes, unless both can do as they would. */
static bool settle(struct spreading *s, int from, int to, const struct expr *e)
{
    const int one = s->fate[from], other = s->fate[to];
    if (one == BIG || other == BIG || other == LATER || (one == STAYS && other == STAYS))
        return false;
    if (one == ROWS && other == ROWS && reads_own_rows(s->p, &s->p->nests[to], e))
        return false;
    demote(s, other == ROWS ? to : from);
    return true;
}

static bool settle_nest(struct spreading *s, int nest)
{
    const struct nest *n = &s->p->nests[nest];
    bool changed = false;
    for (int e = 0; e < n->expr_count; e++) {
        const int v = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
        for (int i = v < 0 ? 0 : s->u->writers.begin[v]; v >= 0 && i < s->u->writers.begin[v + 1];
             i++)
            if (s->u->writers.nest[i] != nest)
                changed |= settle(s, s->u->writers.nest[i], nest, &n->exprs[e]);
    }
    return changed;
}

/* Cycles of what can be shared. */
static double settle_kernel(struct spreading *s, const struct nest_range *all)
{
    double work = 0;
    for (const int *i = all->at; i < all->end; i++) {
        struct placement *here = &s->p->placements[*i];
        if (!here->tiny)
            continue;
        here->row_axis = here->replicable ? -1 : worthy_row_axis(s->p, &s->p->nests[*i]);
        s->fate[*i] = ROWS;
        if (here->row_axis < 0)
            demote(s, *i);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const int *i = all->at; i < all->end; i++)
            changed |= settle_nest(s, *i);
    }
    for (const int *i = all->at; i < all->end; i++)
        work += s->fate[*i] == ROWS ? s->p->placements[*i].work : 0;
    return work;
}

bool spread_chains(struct program_ir *p, const struct uses *u)
{
    struct spreading s = { .p = p, .u = u };
    bool any = false;
    if (p->target->items || !p->target->fuse || p->module->program->steps > 0 || !list_nests(p))
        return false;
    s.fate = arena_take(p->arena, (size_t)p->nest_count + 1);
    for (; s.fate != NULL && s.kernel < p->kernel_count; s.kernel++) {
        const struct nest_range all = kernel_nests(p, s.kernel);
        const bool worth = settle_kernel(&s, &all) > tiny_work(p);
        any |= worth;
        for (const int *i = all.at; i < all.end; i++) {
            struct placement *here = &p->placements[*i];
            here->spread = worth && s.fate[*i] == ROWS;
            here->row_axis = here->tiny && !here->spread ? -1 : here->row_axis;
            s.fate[*i] = BIG;
        }
    }
    return any;
}
