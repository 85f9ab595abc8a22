/* SPDX-License-Identifier: Apache-2.0 */
/* All units for few samples. A group does a block of 16 samples, so a batch of 16 would keep one unit
 * busy, whatever the device. Where groups are fewer than units, parts share each group's blocks: each
 * nest is divided along an OUT axis, never along a sum, and a kernel is cut where a part would read
 * what others write. Each kernel costs a launch, and one with parts as much again, since units wait for
 * the slowest at its end; where to cut is the cheapest way through the chain of a kernel's nests. In:
 * kernels. Out: more kernels, and by which axis parts share their nests. It changes no value. */
#include "compile/3_kernels/divide.h"

#include <limits.h>
#include <math.h>

#include "compile/3_kernels/fuse.h"
#include "tensor/sum_order.h"

#define LONGEST_SECTION 16 /* nests: longer ones run undivided; so the search takes linear time */

/* What a part does of a nest: a slice of this axis, or else */
enum { ALL_OF_IT = -1, FIRST_PART_ALONE = -2 };

/* Nest number `to` of a chain reads by an expression what store number `store` of `from` writes. */
struct link {
    int from, to, store, load;
};

/* The batched nests of a kernel in order. */
struct chain {
    const struct program_ir *p;
    const int *nest;
    int count;
    const struct link *links; /* those to nest t: from begin[t] to begin[t + 1] - 1 */
    const int *begin;
    /* Of what uses the results of nest t, and makes them with it: -1 and INT_MAX outside the chain. */
    const int *needed_from, *needed_to;
    const double *cycles; /* of each nest */
    int parts;
    double rounds; /* turns of the busiest unit for each of the undivided groups */
};

/* What parts do of the nests first, ..., end - 1. */
struct section {
    int first, end;
    int axis[LONGEST_SECTION];
    struct slices slices[LONGEST_SECTION]; /* made by settle(), as is */
    bool repeated[LONGEST_SECTION];        /* what each part makes for itself */
};

static const struct nest *nest_at(const struct chain *c, int t)
{
    return &c->p->nests[c->nest[t]];
}

/* ---- slices that fit ------------------------------------------------------------------------ */

/* Whether each part reads no more than it wrote, when the nests are divided along these axes. */
static bool fits(const struct chain *c, const struct link *l, int from_axis, int to_axis)
{
    const struct nest *from = nest_at(c, l->from), *to = nest_at(c, l->to);
    return from->extent[from_axis] == to->extent[to_axis] &&
           slices_agree(from, &from->store[l->store], from_axis, to, l->load, to_axis);
}

static int reader_axis(const struct chain *c, const struct link *l, int from_axis)
{
    const struct nest *to = nest_at(c, l->to);
    for (int a = 0; a < to->out_axes; a++)
        if (can_divide(to, a) && fits(c, l, from_axis, a))
            return a;
    return -1;
}

static int writer_axis(const struct chain *c, const struct link *l, int to_axis)
{
    const struct nest *from = nest_at(c, l->from);
    for (int a = 0; a < from->out_axes; a++)
        if (can_divide(from, a) && fits(c, l, a, to_axis))
            return a;
    return -1;
}

/* Divides what one side of a link is divided for. False where the other side cannot follow. */
static bool follow(const struct chain *c, struct section *s, const struct link *l, bool *changed)
{
    int *from = &s->axis[l->from - s->first], *to = &s->axis[l->to - s->first];
    if (*from >= 0 && *to >= 0)
        return fits(c, l, *from, *to);
    if (*from >= 0) {
        *to = reader_axis(c, l, *from);
        *changed = true;
        return *to >= 0;
    }
    if (*to >= 0) {
        *from = writer_axis(c, l, *to); /* else each part makes all of it */
        *changed |= *from >= 0;
    }
    return true;
}

/* Divides what must go with the nests that are divided. */
static bool spread_division(const struct chain *c, struct section *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int t = s->first; t < s->end; t++)
            for (int i = c->begin[t]; i < c->begin[t + 1]; i++)
                if (c->links[i].from >= s->first && !follow(c, s, &c->links[i], &changed))
                    return false;
    }
    return true;
}

/* ---- one section ---------------------------------------------------------------------------- */

/* Sums and transforms have their terms for work: their stores count, too, and a transform's loads. */
static double nest_cycles(const struct chain *c, const struct nest *n)
{
    double stored = n->stores / (double)LANES, loaded = 1.0 / LANES;
    if (n->combine == COMBINE_NONE && !n->transformed)
        return at(c->p, n)->work;
    for (int a = 0; a < n->axes; a++) {
        stored *= a < n->out_axes ? n->extent[a] : 1;
        loaded *= n->transformed && (a >= n->out_axes || !is_unrolled(n, a)) ? n->extent[a] : 1;
    }
    const double each = n->combine == COMBINE_FMA ? c->p->target->vector.cycles_per_term : 1;
    return each * at(c->p, n)->work +
           c->p->target->fusion.access_cycles * (stored + (n->transformed ? loaded : 0));
}

/* Whether what a nest writes is used by this section alone, block by block: then each part may have
 * its own. */
static bool is_inner(const struct chain *c, const struct section *s, int t)
{
    const struct nest *n = nest_at(c, t);
    for (int i = 0; i < n->stores; i++)
        if (!n->store[i].in_block || c->p->values[n->store[i].value].place != PLACE_ARENA)
            return false;
    return c->needed_from[t] >= s->first && c->needed_to[t] < s->end;
}

/* What of nest t's axis a reader needs, whose slices are known. False: all of it. */
static bool needed_slices(const struct chain *c, const struct section *s, const struct link *l,
                          int axis, struct slices *out)
{
    const struct nest *from = nest_at(c, l->from), *to = nest_at(c, l->to);
    const struct affine *written = &from->store[l->store].address;
    const struct access *read = &to->exprs[l->load].access;
    const struct slices *of = &s->slices[l->to - s->first];
    const int to_axis = s->axis[l->to - s->first];
    const struct digit d = { written->k[axis], from->extent[axis] };
    struct reads r;
    if (to_axis < 0 || read->gather >= 0 || read->part_count > 0 ||
        !axis_is_digit(from, written, -1, axis) ||
        !find_reads(to, &read->address, l->load, to_axis, d, &r))
        return false;
    *out = *of;
    out->times = r.times * of->times;
    out->below = r.times * of->below + r.below;
    out->above = r.times * of->above + r.above;
    return true;
}

/* The slices of an axis that all readers of nest t in the section need: of one that the first part does alone, all. */
static bool join_needs(const struct chain *c, const struct section *s, int t, int axis,
                       struct slices *out)
{
    bool any = false;
    for (int to = t + 1; to < s->end; to++)
        for (int i = c->begin[to]; i < c->begin[to + 1]; i++) {
            struct slices one;
            if (c->links[i].from != t)
                continue;
            if (s->axis[to - s->first] == FIRST_PART_ALONE ||
                !needed_slices(c, s, &c->links[i], axis, &one))
                return false;
            if (any && (one.times != out->times || one.extent != out->extent))
                return false;
            one.below = any && out->below < one.below ? out->below : one.below;
            one.above = any && out->above > one.above ? out->above : one.above;
            *out = one;
            any = true;
        }
    return any;
}

/* Each part makes of a nest what it reads itself, where that is less than all: slices that overlap. */
static bool overlap(const struct chain *c, struct section *s, int t)
{
    const struct nest *n = nest_at(c, t);
    for (int a = 0; a < n->out_axes; a++)
        if (can_divide(n, a) && join_needs(c, s, t, a, &s->slices[t - s->first])) {
            s->axis[t - s->first] = a;
            return true;
        }
    return false;
}

/* What is not divided is made by each part that reads it, as far as it does, or by the first part for
 * others. */
static bool settle(const struct chain *c, struct section *s)
{
    bool read[LONGEST_SECTION] = { false }, inner = true;
    for (int t = s->end - 1; t >= s->first; t--) {
        const int k = t - s->first;
        s->repeated[k] = s->axis[k] < 0 && read[k];
        if (s->axis[k] >= 0) {
            const int extent = nest_at(c, t)->extent[s->axis[k]];
            s->slices[k] = (struct slices){ extent, slice_grain(extent, c->parts), 1, 0, 0 };
        } else if (!read[k]) {
            s->axis[k] = FIRST_PART_ALONE;
        } else {
            overlap(c, s, t);
            inner &= is_inner(c, s, t);
        }
        for (int i = c->begin[t]; i < c->begin[t + 1]; i++)
            if (c->links[i].from >= s->first && s->axis[k] != FIRST_PART_ALONE)
                read[c->links[i].from - s->first] = true;
    }
    return inner;
}

/* Cycles of the unit that has most to do. */
static double cycles_of(const struct chain *c, const struct section *s)
{
    double cycles = 0;
    for (int t = s->first; t < s->end; t++) {
        const int k = t - s->first;
        double share = 1;
        if (s->axis[k] >= 0) {
            const struct slices *l = &s->slices[k];
            const int extent = nest_at(c, t)->extent[s->axis[k]];
            const int most = (longest_slice(l->extent, l->grain, c->parts) - 1) * l->times +
                             l->above - l->below + 1;
            share = most < extent ? (double)most / extent : 1;
        }
        cycles += c->rounds * share * c->cycles[t];
    }
    return cycles;
}

static int heaviest(const struct chain *c, const struct section *s, const bool *tried)
{
    int best = -1;
    for (int t = s->first; t < s->end; t++)
        if (s->axis[t - s->first] < 0 && !tried[t - s->first] &&
            c->cycles[t] * LONGEST_SECTION >= c->p->target->fusion.cut_work &&
            (best < 0 || c->cycles[t] > c->cycles[best]))
            best = t;
    return best;
}

/* Divides the nests from the heaviest one on, each with those that must go with it, along the axes that
 * leave least to do. Returns the cycles, INFINITY where parts cannot share the section. */
static double divide_section(const struct chain *c, int first, int end, struct section *s)
{
    bool tried[LONGEST_SECTION] = { false };
    *s = (struct section){ .first = first, .end = end };
    for (int k = 0; k < end - first; k++)
        s->axis[k] = ALL_OF_IT;
    const double alone = cycles_of(c, s);
    double best = alone;
    for (int t; (t = heaviest(c, s, tried)) >= 0;) {
        const struct section before = *s;
        const struct nest *n = nest_at(c, t);
        tried[t - first] = true;
        for (int a = 0; a < n->out_axes; a++) {
            struct section now = before;
            if (!can_divide(n, a))
                continue;
            now.axis[t - first] = a;
            if (!spread_division(c, &now))
                continue;
            struct section settled = now;
            settle(c, &settled);
            const double cycles = cycles_of(c, &settled);
            if (cycles < best) {
                best = cycles;
                *s = now;
            }
        }
    }
    return best < alone && settle(c, s) ? best : INFINITY;
}

/* ---- the cheapest way through a chain ------------------------------------------------------- */

struct way {
    double cycles; /* up to here */
    int from;      /* where the last section begins, */
    bool divided;  /* and whether parts share it */
    int to;        /* of those that the cheapest one has: where the next section ends */
};

/* Small sums that every group makes for itself; after a cut all groups share those that only later
 * kernels read. */
struct replicas {
    const int *nest, *read_first; /* and the first of the chain that reads it */
    int count;
};

static double replica_cycles(const struct chain *c, const struct replicas *r, int end, int parts)
{
    const int groups = c->p->groups * parts, units = c->p->target->vector.units;
    const double turns = (groups + units - 1) / units;
    double cycles = 0;
    for (int i = 0; i < r->count; i++) {
        const double work = c->p->placements[r->nest[i]].work;
        cycles += turns * (r->read_first[i] < end ? work : work / groups);
    }
    return cycles;
}

static void improve(struct way *w, double cycles, int from, bool divided)
{
    if (cycles < w->cycles)
        *w = (struct way){ .cycles = cycles, .from = from, .divided = divided };
}

/* way[t]: the cheapest one that ends before nest t. */
static void find_way(const struct chain *c, const struct replicas *r, struct way *way)
{
    const struct fusion_limits *f = &c->p->target->fusion;
    const double launch = f->cut_work, rounds = 1.0 / c->p->groups;
    double before = 0,
           least = INFINITY; /* undivided: all cycles, and less those before its begin */
    int from = 0;
    way[0] = (struct way){ 0 };
    for (int end = 1; end <= c->count; end++) {
        before += rounds * c->cycles[end - 1];
        way[end].cycles = INFINITY;
        improve(&way[end], launch + before + replica_cycles(c, r, end, 1), 0, false);
        improve(&way[end], launch + before + least, from, false);
        double whole = 0;
        for (int first = end - 1; first >= 0 && end - first <= LONGEST_SECTION; first--) {
            struct section s;
            whole += c->cycles[first];
            if (whole * (rounds - c->rounds / c->parts) <= f->tiny_work - launch)
                continue; /* it cannot gain */
            const double cycles =
                way[first].cycles + f->tiny_work + divide_section(c, first, end, &s);
            improve(&way[end], cycles + (first > 0 ? 0 : replica_cycles(c, r, end, c->parts)),
                    first, true);
        }
        if (way[end].cycles - before < least) {
            least = way[end].cycles - before;
            from = end;
        }
    }
}

/* ---- a kernel's chain ----------------------------------------------------------------------- */

struct divider {
    struct program_ir *p;
    const struct uses *u;
    int *place; /* by nest: number in its chain, -1: it has none */
    int parts;
    double rounds;
    int *kernel_parts; /* by new kernel */
    int kernels;
};

/* The nests that use what a nest writes: from the first to the last of the chain. */
static void find_needs(const struct divider *d, const struct chain *c, int t, int *from, int *to)
{
    const struct nest *n = nest_at(c, t);
    *from = *to = t;
    for (int s = 0; s < n->stores; s++) {
        const int v = n->store[s].value;
        for (int i = d->u->writers.begin[v]; i < d->u->writers.begin[v + 1]; i++) {
            const int k = d->place[d->u->writers.nest[i]];
            *from = k < *from ? k : *from;
        }
        for (int i = d->u->readers.begin[v]; i < d->u->readers.begin[v + 1]; i++) {
            const int k = d->place[d->u->readers.nest[i]];
            *to = k < 0 ? INT_MAX : k > *to ? k : *to;
        }
    }
}

/* Links to nest t; without a list it only counts. */
static int list_links(const struct divider *d, const struct chain *c, int t, struct link *list)
{
    const struct nest *n = nest_at(c, t);
    int count = 0;
    for (int e = 0; e < n->expr_count; e++) {
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const int v = n->exprs[e].access.value;
        for (int i = d->u->writers.begin[v]; i < d->u->writers.begin[v + 1]; i++) {
            const int from = d->place[d->u->writers.nest[i]];
            for (int s = 0; from >= 0 && from < t && s < nest_at(c, from)->stores; s++) {
                if (nest_at(c, from)->store[s].value != v)
                    continue;
                if (list != NULL)
                    list[count] = (struct link){ from, t, s, e };
                count++;
            }
        }
    }
    return count;
}

static bool make_chain(const struct divider *d, const int *nests, int count, struct chain *c)
{
    struct arena *a = d->p->arena;
    int *begin = arena_take(a, ((size_t)count + 1) * sizeof *begin);
    int *from = arena_take(a, ((size_t)count + 1) * sizeof *from);
    int *to = arena_take(a, ((size_t)count + 1) * sizeof *to);
    double *cycles = arena_take(a, ((size_t)count + 1) * sizeof *cycles);
    *c = (struct chain){ .p = d->p, .nest = nests, .count = count, .parts = d->parts };
    c->rounds = d->rounds;
    if (begin == NULL || from == NULL || to == NULL || cycles == NULL)
        return false;
    for (int t = 0; t < count; t++) {
        cycles[t] = nest_cycles(c, nest_at(c, t));
        find_needs(d, c, t, &from[t], &to[t]);
        begin[t + 1] = begin[t] + list_links(d, c, t, NULL);
    }
    struct link *links = arena_take(a, ((size_t)begin[count] + 1) * sizeof *links);
    for (int t = 0; links != NULL && t < count; t++)
        list_links(d, c, t, links + begin[t]);
    c->begin = begin;
    c->cycles = cycles;
    c->needed_from = from;
    c->needed_to = to;
    c->links = links;
    return links != NULL;
}

/* ---- what follows --------------------------------------------------------------------------- */

static void place_section(struct divider *d, const struct chain *c, int first, int end,
                          bool divided)
{
    struct section s;
    if (divided)
        divide_section(c, first, end, &s);
    for (int t = first; t < end; t++) {
        const struct nest *n = nest_at(c, t);
        struct placement *to = at(d->p, n);
        const int axis = divided ? s.axis[t - first] : ALL_OF_IT;
        to->kernel = d->kernels;
        to->first_part = axis == FIRST_PART_ALONE;
        to->part_axis = axis < 0 ? -1 : axis;
        to->slices = axis < 0 ? (struct slices){ 0 } : s.slices[t - first];
        for (int i = 0; divided && s.repeated[t - first] && i < n->stores; i++)
            d->p->values[n->store[i].value].by_part = true;
    }
    d->kernel_parts[d->kernels++] = divided ? c->parts : 1;
}

/* Sections from the first one on. */
static void place_way(struct divider *d, const struct chain *c, struct way *way)
{
    for (int end = c->count; end > 0; end = way[end].from)
        way[way[end].from].to = end;
    for (int first = 0; first < c->count; first = way[first].to)
        place_section(d, c, first, way[first].to, way[way[first].to].divided);
}

/* The first section is kernel `kernel` of `parts`. */
static void place_replicas(struct divider *d, const struct replicas *r, int first_end, int kernel)
{
    struct program_ir *p = d->p;
    const int copies = p->groups * d->kernel_parts[kernel];
    for (int i = 0; i < r->count; i++) {
        const struct nest *n = &p->nests[r->nest[i]];
        const bool shared = r->read_first[i] >= first_end;
        at(p, n)->replicated = !shared;
        at(p, n)->tiny &= !shared;
        for (int s = 0; s < n->stores; s++) {
            struct value *v = &p->values[n->store[s].value];
            const size_t elements = shared ? (size_t)tarn_shape_count(v->shape)
                                           : (size_t)v->copy_stride * (size_t)copies;
            v->copy_stride = shared ? 0 : v->copy_stride;
            v->bytes = elements * tarn_dtype_bytes(v->dtype);
        }
    }
}

/* What reads a replicated nest first: 0 where it is another nest of no batch, which runs before the chain. */
static int read_first(const struct divider *d, int kernel, int nest)
{
    const struct nest *n = &d->p->nests[nest];
    int first = INT_MAX;
    for (int s = 0; s < n->stores; s++) {
        const int v = n->store[s].value;
        for (int i = d->u->readers.begin[v]; i < d->u->readers.begin[v + 1]; i++) {
            const int reader = d->u->readers.nest[i], place = d->place[reader];
            if (place >= 0 && d->p->placements[reader].kernel == kernel)
                first = place < first ? place : first;
            else if (d->p->placements[reader].kernel == kernel)
                first = 0;
        }
    }
    return first;
}

static bool find_replicas(const struct divider *d, int kernel, struct replicas *r)
{
    const struct nest_range all = kernel_nests(d->p, kernel);
    const size_t most = (size_t)(all.end - all.at) + 1;
    int *nest = arena_take(d->p->arena, most * sizeof *nest);
    int *first = arena_take(d->p->arena, most * sizeof *first);
    *r = (struct replicas){ .nest = nest, .read_first = first };
    if (nest == NULL || first == NULL)
        return false;
    for (const int *i = all.at; i < all.end; i++)
        if (d->p->placements[*i].replicated) {
            first[r->count] = read_first(d, kernel, *i);
            nest[r->count++] = *i;
        }
    return true;
}

static bool divide_kernel(struct divider *d, int kernel)
{
    struct program_ir *p = d->p;
    const struct nest_range all = kernel_nests(p, kernel);
    const int first = d->kernels;
    int *nests = arena_take(p->arena, ((size_t)(all.end - all.at) + 1) * sizeof *nests);
    int count = 0;
    for (const int *i = all.at; nests != NULL && i < all.end; i++)
        if (p->nests[*i].kind == NEST_LOOPS && p->nests[*i].batched) {
            d->place[*i] = count;
            nests[count++] = *i;
        }
    struct way *way = arena_take(p->arena, ((size_t)count + 1) * sizeof *way);
    struct chain c;
    struct replicas r;
    if (nests == NULL || way == NULL || !make_chain(d, nests, count, &c) ||
        !find_replicas(d, kernel, &r))
        return false;
    if (count == 0) {
        d->kernel_parts[d->kernels++] = 1;
    } else {
        find_way(&c, &r, way);
        place_way(d, &c, way);
        place_replicas(d, &r, way[0].to, first);
    }
    for (const int *i = all.at; i < all.end; i++) {
        if (d->place[*i] < 0)
            p->placements[*i].kernel = first;
        d->place[*i] = -1;
    }
    return true;
}

/* As many as there are units for; more where the last round of groups would leave many of them idle. */
static int choose_parts(int groups, int units)
{
    int parts = units / groups;
    double best = 1.0 / parts;
    for (int i = parts + 1; i <= 2 * parts + 2; i++) {
        const double time = (double)((groups * i + units - 1) / units) / i;
        if (time < 0.9 * best) {
            best = time;
            parts = i;
        }
    }
    return parts;
}

bool divide_blocks(struct program_ir *p, const struct uses *u)
{
    const int units = p->target->vector.units;
    if (p->target->items || !p->target->fuse || p->blocks == 0 || p->groups >= units)
        return true;
    struct divider d = { .p = p, .u = u, .parts = choose_parts(p->groups, units) };
    d.rounds = (double)((p->groups * d.parts + units - 1) / units) / p->groups;
    d.place = arena_take(p->arena, ((size_t)p->nest_count + 1) * sizeof *d.place);
    d.kernel_parts = arena_take(p->arena, ((size_t)p->nest_count + (size_t)p->kernel_count + 1) *
                                              sizeof *d.kernel_parts);
    if (d.place == NULL || d.kernel_parts == NULL)
        return false;
    for (int i = 0; i < p->nest_count; i++)
        d.place[i] = -1;
    for (int k = 0; k < p->kernel_count && d.parts > 1; k++)
        if (!divide_kernel(&d, k))
            return false;
    if (d.parts > 1) {
        p->parts = d.kernel_parts;
        p->kernel_count = d.kernels;
    }
    return true;
}
