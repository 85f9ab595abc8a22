/* SPDX-License-Identifier: Apache-2.0 */
/* Nests to kernels. A kernel ends only where something must be complete on all groups
 * before it is read: a reduction over the batch, or a value that is read across batch blocks. In:
 * nests. Out: the kernel and the section of each, and copies where a value would be overwritten too
 * early. Must not change the order of a sum. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/1_graph/winograd_table.h"
#include "compile/3_kernels/divide.h"
#include "compile/3_kernels/fuse.h"
#include "compile/3_kernels/uses.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

/* Cycles in which operands of a sum of products come that the second cache does not hold: each register of them once at
 * least, for each block of samples. */
static double far_cycles(const struct vector_figures *v, const struct nest *n, double blocks)
{
    double far = 0;
    for (int e = 0; e < n->expr_count; e++) {
        const double elements = nest_elements_read(n, &n->exprs[e]);
        far += elements * sizeof(float) > v->second_cache_bytes ? elements / LANES : 0;
    }
    return far * blocks * v->second_line_cycles;
}

static double nest_work(const struct target *t, const struct nest *n)
{
    int accesses = n->stores;
    if (n->kind == NEST_ROUTINE)
        return n->routine.cycles * n->routine.pieces;
    for (int e = 0; e < n->expr_count; e++)
        accesses += n->exprs[e].kind == EXPR_LOAD;
    double work = 1.0;
    if (n->combine != COMBINE_FMA)
        work += n->expr_count / 4 + t->fusion.access_cycles * accesses;
    if (n->transformed) /* rows, then columns, from registers: two sums instead of one of their product */
        work = 2.0 / TRANSFORM_LONGEST;
    for (int a = 0; a < n->axes; a++)
        work *= n->extent[a];
    if (n->batched || nest_lane(n) >= 0)
        work /= LANES;
    const double blocks = n->batched ? ceil((double)n->extent[n->batch_axis] / LANES) : 1;
    if (n->batched) /* lanes without a sample take as long */
        work *= blocks * LANES / n->extent[n->batch_axis];
    return n->combine == COMBINE_FMA && !t->items ? work + far_cycles(&t->vector, n, blocks) : work;
}

/* Bytes that a nest reads of what changes along an axis, or of all else. */
static double bytes_read(const struct nest *n, int axis, bool along)
{
    double bytes = 0;
    for (int e = 0; e < n->expr_count; e++)
        if (access_uses(&n->exprs[e].access, axis) == along)
            bytes +=
                nest_elements_read(n, &n->exprs[e]) * (double)tarn_dtype_bytes(n->exprs[e].dtype);
    return bytes;
}

/* The part of a kernel's weight that matrices are which each block of samples reads: with more than the third cache holds
 * they come from memory again for the next block. */
static int matrix_weight(const struct program_ir *p, const struct nest *n)
{
    const struct fusion_limits *f = &p->target->fusion;
    if (p->target->items || !n->batched || n->partial || n->combine != COMBINE_FMA ||
        n->extent[n->batch_axis] <= (int64_t)LANES * p->target->vector.units)
        return 0;
    const double share = bytes_read(n, n->batch_axis, false) / f->matrix_bytes;
    return (int)(f->kernel_weight * (share < 1 ? share : 1));
}

static int code_weight(const struct program_ir *p, const struct nest *n)
{
    const struct fusion_limits *f = &p->target->fusion;
    int weight = matrix_weight(p, n) +
                 (n->kind == NEST_ROUTINE ? f->routine_weight : n->expr_count) +
                 (p->nest_count > f->crowd ? f->loops_weight : 0);
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].heavy)
            weight += p->target->expression.heavy_map - 1;
    return weight;
}

double tiny_work(const struct program_ir *p)
{
    const double units = p->target->vector.units, work = p->target->fusion.tiny_work;
    return units > 2 ? work / 2 * units / (units - 1) : work;
}

static bool is_tiny(const struct program_ir *p, const struct nest *n)
{
    bool alone = true;
    for (int a = 0; a < n->out_axes; a++)
        alone &= n->extent[a] == 1;
    return !p->target->items && !n->batched && nest_is_code(n) &&
           at(p, n)->work <= (alone ? p->target->fusion.alone_work : tiny_work(p));
}

/* What a nest takes without its chain, whose values are at hand: with three samples on two units, where the chain should take
 * 1.33 of the time, neither was faster. */
#define ALONE 1.5

/* Cycles lost where a nest goes on with samples, of which there may be fewer than units, or some more. */
static double idle_cycles(const struct program_ir *p, double work)
{
    const double samples = p->module->samples, units = p->target->vector.units;
    return samples < 1 ? 0 : work * (ceil(samples / units) / samples - ALONE / units);
}

/* Whether groups that go on with samples read more of what all samples share, such as a product's weights, than they
 * save by having their own at hand: each of them reads all of it, which the second cache does not hold. */
static bool shares_much(const struct program_ir *p, const struct nest *n, int axis)
{
    if (axis < 0)
        return false;
    const double shared = bytes_read(n, axis, false);
    double own = bytes_read(n, axis, true);
    for (int s = 0; s < n->stores; s++)
        own += (double)p->values[n->store[s].value].bytes;
    return shared > p->target->vector.second_cache_bytes && shared * (p->module->samples - 1) > own;
}

int worthy_row_axis(const struct program_ir *p, const struct nest *n)
{
    const bool waits = p->module->program->steps == 0 &&
                       idle_cycles(p, at(p, n)->work) > p->target->fusion.cut_work;
    const int axis = waits ? -1 : row_axis(p, n);
    return shares_much(p, n, axis) ? -1 : axis;
}

static bool is_by_rows(const struct program_ir *p, const struct nest *n)
{
    return at(p, n)->row_axis >= 0 && !at(p, n)->tiny;
}

static int writer_kind(const struct program_ir *p, const struct nest *n)
{
    return (n->batched && !n->partial ? PASSES_ON : 0) | (at(p, n)->tiny ? TINY : 0) |
           (at(p, n)->replicable ? REPLICABLE : 0) | (is_by_rows(p, n) ? BY_ROWS : 0) |
           (n->kind == NEST_PRODUCT ? PRODUCT : 0);
}

/* Whether nest `n` can run in the kernel of one of this kind that writes what it reads by
 * expression `e`. */
static bool can_share(const struct program_ir *p, int from, const struct nest *n,
                      const struct expr *e)
{
    if ((from & PRODUCT) && p->target->fuse)
        return nest_is_code(n);
    return p->target->fuse && !p->target->items &&
           (((from & BY_ROWS) && !at(p, n)->tiny && reads_own_rows(p, n, e)) ||
            ((from & PASSES_ON) && n->batched && (e->access.in_block || e->access.samples)) ||
            ((from & TINY) && at(p, n)->tiny) || ((from & REPLICABLE) && n->batched));
}

/* The kernel after the last one that reads what a nest overwrites; 0: none does. */
static int after_readers(const struct program_ir *p, const struct progress *g, const struct nest *n)
{
    int kernel = 0;
    for (int s = 0; s < n->stores; s++) {
        const int memory = memory_of(p, &p->values[n->store[s].value]);
        if (memory >= 0 && g->read[memory] > kernel)
            kernel = g->read[memory];
    }
    return kernel;
}

/* Earliest kernel in which a nest can run, given the nests that write what it reads, and those that read
 * what it overwrites. */
static int earliest(const struct program_ir *p, const struct progress *g, const struct nest *n)
{
    int kernel = at(p, n)->once ? 0 : p->once;
    for (int e = 0; e < n->expr_count; e++) {
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const int *written = g->written[n->exprs[e].access.value];
        for (int kind = 0; kind < WRITER_KINDS; kind++) {
            const int after = written[kind] - can_share(p, kind, n, &n->exprs[e]);
            kernel = after > kernel ? after : kernel;
        }
    }
    const int read = after_readers(p, g, n);
    return read > kernel ? read : kernel;
}

/* Notes that a nest runs in its kernel. */
static void note_placed(const struct program_ir *p, const struct progress *g, const struct nest *n)
{
    const int after = at(p, n)->kernel + 1, kind = writer_kind(p, n);
    for (int s = 0; s < n->stores; s++) {
        int *written = &g->written[n->store[s].value][kind];
        *written = after > *written ? after : *written;
    }
    for (int e = 0; e < n->expr_count; e++) {
        const int memory =
            n->exprs[e].kind != EXPR_LOAD ? -1 : memory_of(p, &p->values[n->exprs[e].access.value]);
        if (memory >= 0 && after > g->read[memory])
            g->read[memory] = after;
    }
}

/* Whether a nest is small and reads nothing but tensors of the replica, or what such nests make;
 * `other` says of a value that something else writes it. */
static bool depends_on_owned(const struct program_ir *p, const bool *other, const struct nest *n)
{
    bool reads_any = false;
    for (int e = 0; e < n->expr_count; e++) {
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const int v = n->exprs[e].access.value;
        reads_any = true;
        if (p->values[v].place == PLACE_OWNED)
            continue;
        if (p->values[v].place != PLACE_ARENA || other[v])
            return false;
    }
    return reads_any && at(p, n)->tiny && at(p, n)->kernel >= 0;
}

/* Latest kernel in which a nest can run before all that read from it; its own when nobody does.
 * What every group computes for itself must find what it reads complete, or made by the group
 * too. */
static int latest(const struct program_ir *p, const struct uses *u, const struct nest *n)
{
    int kernel = INT_MAX;
    for (int s = 0; s < n->stores; s++) {
        const int v = n->store[s].value;
        for (int i = u->readers.begin[v]; i < u->readers.begin[v + 1]; i++) {
            const struct nest *to = &p->nests[u->readers.nest[i]];
            for (int e = 0; at(p, to)->kernel >= 0 && e < to->expr_count; e++) {
                if (to->exprs[e].kind != EXPR_LOAD || to->exprs[e].access.value != v)
                    continue;
                const bool shares = can_share(p, writer_kind(p, n), to, &to->exprs[e]);
                const int before = at(p, to)->kernel -
                                   !(shares && (at(p, n)->replicable || !at(p, to)->replicable));
                kernel = before < kernel ? before : kernel;
            }
        }
    }
    return kernel == INT_MAX ? at(p, n)->kernel : kernel;
}

static bool has_calls(const struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++)
        if (p->nests[i].kind == NEST_HOST)
            return true;
    return false;
}

/* Nests that feed a host call and read only owned tensors, such as the fingerprint of the
 * weights, are moved next to the update: run first, they would evict the batch from the cache,
 * and the weights would be evicted again before the update reads them. */
static void sink_to_update(struct program_ir *p, const struct uses *u)
{
    bool *owned = arena_take(p->arena, (size_t)(p->nest_count + 1) * sizeof *owned);
    bool *other = arena_take(p->arena, (size_t)(p->value_count + 1) * sizeof *other);
    if (owned == NULL || other == NULL)
        return;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        owned[i] = depends_on_owned(p, other, n);
        for (int s = 0; s < n->stores; s++)
            other[n->store[s].value] |= !owned[i];
    }
    for (int i = p->nest_count - 1; i >= 0; i--) {
        struct nest *n = &p->nests[i];
        const int kernel = owned[i] ? latest(p, u, n) : at(p, n)->kernel;
        at(p, n)->kernel = kernel > at(p, n)->kernel ? kernel : at(p, n)->kernel;
    }
}

/* Nests of one section run one after the other in each of its groups. All of a kernel that goes
 * through batch blocks are section 0: groups of unequal work would leave workers idle, since
 * drivers hand them out in runs of equal length. In other kernels 1 are the tiny ones, and each
 * large nest has its own; on a GPU each nest. */
static int section_of(const struct program_ir *p, const bool *batched, int i)
{
    const struct nest *n = &p->nests[i];
    if (batched[at(p, n)->kernel] && !p->target->items && at(p, n)->row_axis < 0)
        return 0;
    return at(p, n)->tiny            ? 1
           : at(p, n)->row_axis >= 0 ? SECTION_OF_ROWS
                                     : 3 + (at(p, n)->chain >= 0 ? at(p, n)->chain : i);
}

static tarn_status set_sections(struct program_ir *p)
{
    bool *batched = arena_take(p->arena, (size_t)(p->kernel_count + 1) * sizeof *batched);
    if (batched == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; i++)
        batched[p->placements[i].kernel] |= p->nests[i].batched;
    for (int i = 0; i < p->nest_count; i++)
        p->placements[i].section = section_of(p, batched, i);
    return TARN_OK;
}

bool list_nests(struct program_ir *p)
{
    struct kernel_nests *k = &p->nests_of;
    int *next = arena_take(p->arena, (size_t)(p->kernel_count + 1) * sizeof *next);
    k->begin = arena_take(p->arena, (size_t)(p->kernel_count + 1) * sizeof *k->begin);
    k->nest = arena_take(p->arena, (size_t)(p->nest_count + 1) * sizeof *k->nest);
    if (next == NULL || k->begin == NULL || k->nest == NULL)
        return false;
    for (int i = 0; i < p->nest_count; i++)
        next[p->placements[i].kernel]++;
    for (int i = 0; i < p->kernel_count; i++) {
        k->begin[i + 1] = k->begin[i] + next[i];
        next[i] = k->begin[i];
    }
    for (int i = 0; i < p->nest_count; i++)
        k->nest[next[p->placements[i].kernel]++] = i;
    return true;
}

/* Between which kernels each value is needed. */
static void set_lifetimes(struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int s = 0; s < n->stores; s++) {
            struct value *v = &p->values[n->store[s].value];
            if (v->first < 0 || at(p, n)->kernel < v->first)
                v->first = at(p, n)->kernel;
            if (at(p, n)->kernel > v->last)
                v->last = at(p, n)->kernel;
            if (at(p, n)->once)
                v->last = p->kernel_count; /* the next step reads it, too */
        }
        for (int e = 0; e < n->expr_count; e++) {
            if (n->exprs[e].kind != EXPR_LOAD)
                continue;
            struct value *v = &p->values[n->exprs[e].access.value];
            if (at(p, n)->kernel > v->last)
                v->last = at(p, n)->kernel;
        }
    }
}

static tarn_status out_of_memory(void)
{
    return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
}

/* What kernels weigh, as a binary tree: kernel k is leaf number leaves + k, and each node has the least
 * of what is below it. */
struct weights {
    int *least;
    int leaves;
};

/* The first kernel from `kernel` on that weighs no more than `most`; those without nests weigh nothing. */
static int first_below(const struct weights *w, int kernel, int most)
{
    int at = w->leaves + kernel;
    while (w->least[at] > most) {
        while (at % 2 == 1) /* what is to the right of it is to the right of what contains it */
            at /= 2;
        at++;
    }
    while (at < w->leaves)
        at = 2 * at + (w->least[2 * at] > most);
    return at - w->leaves;
}

static void set_weight(struct weights *w, int kernel, int weight)
{
    w->least[w->leaves + kernel] = weight;
    for (int at = (w->leaves + kernel) / 2; at > 0; at /= 2)
        w->least[at] =
            w->least[2 * at] < w->least[2 * at + 1] ? w->least[2 * at] : w->least[2 * at + 1];
}

/* A tiny nest that a group could do alone is one of a chain where it can run earlier so, or where larger nests go on
 * with its rows. */
static void choose_rows(struct program_ir *p, const struct uses *u, const struct progress *g,
                        const struct nest *n)
{
    struct placement *here = at(p, n);
    if (!here->tiny || here->row_axis < 0)
        return;
    const int alone = earliest(p, g, n);
    here->tiny = false;
    const int by_rows = earliest(p, g, n);
    if (by_rows < alone || (by_rows == alone && passes_rows_on(p, u, n)))
        return;
    here->tiny = true;
    here->row_axis = -1;
}

struct placing {
    struct progress progress;
    struct weights weights;     /* of host calls INT_MAX: nothing can be fused into them */
    double *tiny;               /* by kernel: cycles of the tiny nests that one group does */
    struct item_chains *chains; /* NULL: for vectors, or each nest is alone */
};

/* Tiny nests that wait for no other are together more than one group does sooner than all of them do: where they
 * have come to so much, the next ones are divided among groups. */
static void spread_tiny(struct program_ir *p, const struct placing *s, const struct nest *n)
{
    struct placement *here = at(p, n);
    if (!here->tiny || !p->target->fuse)
        return;
    const int alone = earliest(p, &s->progress, n);
    here->tiny = false;
    here->tiny =
        earliest(p, &s->progress, n) > alone || s->tiny[alone] + here->work <= tiny_work(p);
}

/* The kernel of a nest that has so much room in each; *weight: what comes with it. */
static int kernel_for(struct program_ir *p, const struct uses *u, struct placing *s,
                      const struct nest *n, int room, int *weight)
{
    const int kernel = earliest(p, &s->progress, n);
    const int left = kernel > 0 ? room - s->weights.least[s->weights.leaves + kernel - 1] : -1;
    *weight = 0;
    if (s->chains != NULL && left >= 0 && after_readers(p, &s->progress, n) < kernel &&
        item_chains_join(p, u, s->chains, n, kernel - 1, left, weight))
        return kernel - 1;
    *weight = 0;
    if (s->chains != NULL)
        item_chains_add(p, s->chains, n);
    return n->kind == NEST_HOST ? kernel : first_below(&s->weights, kernel, room > 0 ? room : 0);
}

static void place_nest(struct program_ir *p, const struct uses *u, struct placing *s,
                       const struct nest *n)
{
    int more = code_weight(p, n), repeated;
    const int room = p->target->fusion.kernel_weight - more;
    choose_rows(p, u, &s->progress, n);
    spread_tiny(p, s, n);
    int kernel = kernel_for(p, u, s, n, room, &repeated);
    more += repeated;
    if (!p->target->fuse)
        kernel = p->kernel_count;
    if (kernel >= p->kernel_count)
        p->kernel_count = kernel + 1;
    at(p, n)->kernel = kernel;
    s->tiny[kernel] += at(p, n)->tiny ? at(p, n)->work : 0;
    const int before = s->weights.least[s->weights.leaves + kernel];
    const bool call = n->kind == NEST_HOST || before == INT_MAX;
    set_weight(&s->weights, kernel, call ? INT_MAX : before + more);
    at(p, n)->replicable = is_replicable(p, u, &s->progress, n);
    note_placed(p, &s->progress, n);
}

static tarn_status place_nests(struct program_ir *p, const struct uses *u)
{
    const size_t values = (size_t)p->value_count + 1, memories = (size_t)memory_count(p) + 1;
    int leaves = 4;
    while (leaves < p->nest_count + 2) /* of kernels */
        leaves *= 2;
    struct placing s = {
        .progress = { .written = arena_take(p->arena, values * sizeof *s.progress.written),
                      .read = arena_take(p->arena, memories * sizeof *s.progress.read) },
        .weights = { arena_take(p->arena, 2 * (size_t)leaves * sizeof *s.weights.least), leaves },
        .tiny = arena_take(p->arena, (size_t)leaves * sizeof *s.tiny),
    };
    const bool chains = p->target->items && p->target->fuse;
    if (chains)
        s.chains = item_chains_begin(p);
    if (s.progress.written == NULL || s.progress.read == NULL || s.weights.least == NULL ||
        s.tiny == NULL || (chains && s.chains == NULL))
        return out_of_memory();
    /* First what is made once, then what computes, in order; then what writes tensors that others read. */
    for (int i = 0; i < p->nest_count; i++)
        if (p->placements[i].once)
            place_nest(p, u, &s, &p->nests[i]);
    p->once = p->kernel_count;
    for (int i = 0; i < p->nest_count; i++)
        if (!p->placements[i].once && !writes_out(p, &p->nests[i]))
            place_nest(p, u, &s, &p->nests[i]);
    if (p->target->fuse && !p->target->items && has_calls(p)) {
        sink_to_update(p, u);
        for (int i = 0; i < p->nest_count; i++)
            if (at(p, &p->nests[i])->kernel >= 0)
                note_placed(p, &s.progress, &p->nests[i]);
    }
    for (int i = 0; i < p->nest_count; i++)
        if (writes_out(p, &p->nests[i]))
            place_nest(p, u, &s, &p->nests[i]);
    return !chains || item_chains_end(p, s.chains) ? TARN_OK : out_of_memory();
}

/* What is known of nests before they are placed. */
static void prepare(struct program_ir *p)
{
    p->kernel_count = p->once = 0;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        struct placement *here = at(p, n);
        here->work = nest_work(p->target, n);
        here->tiny = is_tiny(p, n) && !here->spread;
        here->kernel = here->part_axis = here->chain = -1;
        here->row_axis = worthy_row_axis(p, n);
    }
}

tarn_status fuse(struct program_ir *p)
{
    struct uses u;
    TRY(break_write_hazards(p)); /* adds nests */
    p->placements = arena_take(p->arena, ((size_t)p->nest_count + 1) * sizeof *p->placements);
    if (p->placements == NULL || !uses_build(p, &u))
        return out_of_memory();
    prepare(p);
    find_once(p, &u);
    const bool by_rows = share_rows_of_loop(p, &u);
    TRY(place_nests(p, &u));
    if (spread_chains(p, &u)) {
        prepare(p);
        TRY(place_nests(p, &u));
    }
    if (p->target->items && !uses_build(p, &u))
        return out_of_memory();
    if (!compute_again(p, &u) || !place_halves(p, &u) || !widen_blocks(p, &u))
        return out_of_memory();
    replicate(p, &u);
    if (!list_nests(p))
        return out_of_memory();
    if (!divide_blocks(p, &u) || !list_nests(p))
        return out_of_memory();
    if (!by_rows)
        free_single_rows(p, &u);
    TRY(set_sections(p));
    set_lifetimes(p);
    p->repeats = can_repeat(p, &u);
    return TARN_OK;
}
