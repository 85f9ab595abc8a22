/* SPDX-License-Identifier: Apache-2.0 */
/* For work-items: a map of what one nest stores becomes one more store of that nest, so that it costs no
 * launch and does not read again what was just written. On a CPU such nests share a kernel anyway. In:
 * nests. Out: fewer nests, each after what it reads. No sum changes: only what becomes of it. */
#include <string.h>

#include "compile/2_nests/nest_passes.h"

struct joining {
    struct program_ir *p;
    int *writer;  /* by value: the nest that writes it; -1 none, -2 several */
    int *readers; /* by value: loads of it */
    int *level;   /* by nest: launches before it, if each nest were one */
};

/* ---- what is read and written --------------------------------------------------------------- */

static bool build(struct joining *j)
{
    struct program_ir *p = j->p;
    const size_t values = (size_t)p->value_count + 1;
    j->writer = arena_take(p->arena, values * sizeof *j->writer);
    j->readers = arena_take(p->arena, values * sizeof *j->readers);
    j->level = arena_take(p->arena, ((size_t)p->nest_count + 1) * sizeof *j->level);
    if (j->writer == NULL || j->readers == NULL || j->level == NULL)
        return false;
    memset(j->writer, -1, values * sizeof *j->writer);
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int s = 0; s < n->stores; s++)
            j->writer[n->store[s].value] = j->writer[n->store[s].value] == -1 ? i : -2;
        for (int e = 0; e < n->expr_count; e++)
            if (n->exprs[e].kind == EXPR_LOAD)
                j->readers[n->exprs[e].access.value]++;
    }
    return true;
}

/* What several nests write is complete after the last of them, and those come one after the other. */
static int level_of_value(const struct joining *j, int value, int before)
{
    int level = -1;
    if (j->writer[value] >= 0)
        return j->level[j->writer[value]];
    for (int i = 0; j->writer[value] == -2 && i < before; i++)
        for (int s = 0; s < j->p->nests[i].stores; s++)
            if (j->p->nests[i].store[s].value == value && j->level[i] > level)
                level = j->level[i];
    return level;
}

/* ---- a map and the nest that it follows ------------------------------------------------------ */

/* The axis of `to` that each axis of the map is; -1: it has one element. Both have the same elements, in the
 * same order. */
static bool match_axes(const struct nest *map, const struct nest *to, int axis[NEST_AXES])
{
    int next = 0;
    for (int a = 0; a < map->axes; a++) {
        axis[a] = -1;
        if (map->extent[a] == 1 && a != map->batch_axis)
            continue;
        while (next < to->out_axes && to->extent[next] == 1 && next != to->batch_axis)
            next++;
        if (next == to->out_axes || to->extent[next] != map->extent[a] ||
            (a == map->batch_axis) != (next == to->batch_axis))
            return false;
        axis[a] = next++;
    }
    while (next < to->out_axes && to->extent[next] == 1 && next != to->batch_axis)
        next++;
    return next == to->out_axes;
}

static struct affine moved(const struct affine *e, const struct nest *map,
                           const int axis[NEST_AXES])
{
    struct affine out = { .constant = e->constant };
    for (int a = 0; a < map->axes; a++)
        if (axis[a] >= 0)
            out.k[axis[a]] = e->k[a];
    return out;
}

/* The same where the factors of axes of one element do not count. */
static bool same_address(const struct nest *to, const struct affine *a, const struct affine *b)
{
    for (int i = 0; i < to->out_axes; i++)
        if (to->extent[i] > 1 && a->k[i] != b->k[i])
            return false;
    return a->constant == b->constant;
}

/* The store that wrote what a load of the map reads, of the same element; -1: none. */
static int store_read(const struct nest *map, const struct access *x, const struct nest *to,
                      const int axis[NEST_AXES])
{
    const struct affine address = moved(&x->address, map, axis);
    for (int s = 0; s < to->stores; s++)
        if (to->store[s].value == x->value)
            return x->gather < 0 && x->part_count == 0 && x->in_block == to->store[s].in_block &&
                           same_address(to, &address, &to->store[s].address)
                       ? s
                       : -1;
    return -1;
}

/* Half types and bytes are rounded in memory. */
static bool keeps_bits(const struct value *v)
{
    return v->dtype == dtype_computed(v->dtype);
}

static bool is_plain_map(const struct nest *n)
{
    return n->kind == NEST_LOOPS && n->combine == COMBINE_NONE && !n->transformed &&
           n->guards == 0 && n->stores == 1 && n->store[0].expr >= 0;
}

static bool takes_stores(const struct nest *n)
{
    return n->kind == NEST_LOOPS && !n->partial && !n->by_sample && !n->transformed &&
           !nest_searches(n) && (n->combine != COMBINE_NONE || n->guards == 0) &&
           n->stores < NEST_STORES;
}

/* The nest that a map can follow: all else that the map reads is there before that nest begins, so it does
 * not begin later. -1: none. */
static int leader(const struct joining *j, int map, int axis[NEST_AXES])
{
    struct program_ir *p = j->p;
    const struct nest *n = &p->nests[map];
    int last = -1;
    for (int e = 0; e < n->expr_count; e++) {
        const int writer = n->exprs[e].kind == EXPR_LOAD ? j->writer[n->exprs[e].access.value] : -1;
        if (writer >= 0 && (last < 0 || j->level[writer] > j->level[last]))
            last = writer;
    }
    if (last < 0 || last >= p->first_root)
        return -1;
    const struct nest *to = &p->nests[last];
    if (!takes_stores(to) || to->batched != n->batched ||
        to->expr_count + n->expr_count > p->target->expression.most_weight ||
        !match_axes(n, to, axis))
        return -1;
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const bool own = j->writer[x->value] == last;
        if (own ? !keeps_bits(&p->values[x->value]) || store_read(n, x, to, axis) < 0
                : level_of_value(j, x->value, map) >= j->level[last])
            return -1;
    }
    return last;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Expression `e` of the map as one of `to`; its own number there, or -1 without memory. */
static int copy_expr(struct program_ir *p, const struct nest *map, int e, struct nest *to,
                     const int axis[NEST_AXES])
{
    struct expr x = map->exprs[e];
    const int stored = x.kind == EXPR_LOAD ? store_read(map, &x.access, to, axis) : -1;
    if (stored >= 0 && to->store[stored].expr >= 0)
        return to->store[stored].expr;
    if (stored >= 0) {
        const struct expr acc = { .kind = EXPR_ACC, .dtype = to->acc_dtype };
        return expr_add(p, to, &acc);
    }
    for (int i = 0; i < x.args; i++)
        if ((x.arg[i] = copy_expr(p, map, x.arg[i], to, axis)) < 0)
            return -1;
    if (x.kind == EXPR_LOAD && x.access.gather >= 0 &&
        (x.access.gather = copy_expr(p, map, x.access.gather, to, axis)) < 0)
        return -1;
    x.index.e = moved(&x.index.e, map, axis);
    x.access.address = moved(&x.access.address, map, axis);
    for (int i = 0; i < x.access.part_count; i++)
        x.access.part[i].index.e = moved(&x.access.part[i].index.e, map, axis);
    for (int i = 0; i < x.guards; i++)
        x.guard[i].e = moved(&x.guard[i].e, map, axis);
    return expr_add(p, to, &x);
}

static bool join(const struct joining *j, int map, int to, const int axis[NEST_AXES])
{
    struct program_ir *p = j->p;
    struct nest *from = &p->nests[map], copy = p->nests[to];
    struct store s = from->store[0];
    copy.exprs =
        arena_take(p->arena, (size_t)(copy.expr_count + from->expr_count + 2) * sizeof *copy.exprs);
    if (copy.exprs == NULL)
        return false;
    memcpy(copy.exprs, p->nests[to].exprs, (size_t)copy.expr_count * sizeof *copy.exprs);
    copy.expr_capacity = copy.expr_count + from->expr_count + 2;
    s.expr = copy_expr(p, from, s.expr, &copy, axis);
    if (s.expr < 0)
        return false;
    s.address = moved(&s.address, from, axis);
    copy.store[copy.stores++] = s;
    for (int e = 0; e < from->expr_count; e++)
        if (from->exprs[e].kind == EXPR_LOAD)
            j->readers[from->exprs[e].access.value] -= j->writer[from->exprs[e].access.value] == to;
    p->nests[to] = copy;
    from->stores = 0;
    if (j->writer[s.value] == map)
        j->writer[s.value] = to;
    return true;
}

/* What nobody reads any more is not stored. */
static void drop_unread(const struct joining *j, struct nest *n)
{
    int kept = 0;
    for (int s = 0; s < n->stores; s++)
        if (j->readers[n->store[s].value] > 0 ||
            j->p->values[n->store[s].value].place != PLACE_ARENA)
            n->store[kept++] = n->store[s];
    if (kept > 0)
        n->stores = kept;
}

/* By level, and of one level in the order that they had. */
static bool sort(const struct joining *j)
{
    struct program_ir *p = j->p;
    struct nest *sorted = arena_take(p->arena, ((size_t)p->nest_count + 1) * sizeof *sorted);
    int count = 0, most = 0;
    if (sorted == NULL)
        return false;
    for (int i = 0; i < p->first_root; i++)
        most = j->level[i] > most ? j->level[i] : most;
    for (int level = 0; level <= most; level++)
        for (int i = 0; i < p->first_root; i++)
            if (j->level[i] == level && p->nests[i].stores > 0)
                sorted[count++] = p->nests[i];
    const int all = count + p->nest_count - p->first_root;
    for (int i = p->first_root; i < p->nest_count; i++)
        sorted[count + i - p->first_root] = p->nests[i];
    for (int i = 0; i < all; i++)
        p->nests[i] = sorted[i];
    p->first_root = count;
    p->nest_count = all;
    return true;
}

/* How many nests at least run before one, and end, before it begins. */
static int level_of(const struct joining *j, int nest)
{
    const struct nest *n = &j->p->nests[nest];
    int level = 0;
    for (int e = 0; e < n->expr_count; e++) {
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const int after = level_of_value(j, n->exprs[e].access.value, nest) + 1;
        level = after > level ? after : level;
    }
    return level;
}

void join_maps(struct program_ir *p)
{
    struct joining j = { .p = p };
    int axis[NEST_AXES];
    if (!p->target->items || !p->target->fuse || !build(&j))
        return;
    for (int i = 0; i < p->first_root; i++) {
        const int to = is_plain_map(&p->nests[i]) ? leader(&j, i, axis) : -1;
        if (to >= 0 && !join(&j, i, to, axis))
            return;
        j.level[i] = level_of(&j, i);
    }
    for (int i = 0; i < p->first_root; i++)
        if (p->nests[i].stores > 0)
            drop_unread(&j, &p->nests[i]);
    (void)sort(&j);
}
