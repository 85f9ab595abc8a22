/* SPDX-License-Identifier: Apache-2.0 */
/* Fourth pass: nests to kernels. A kernel ends only where something must be complete on all groups
 * before it is read: a reduction over the batch, or a value that is read across batch blocks. */
#include <limits.h>
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/1_graph/winograd_table.h"
#include "compile/3_kernels/fuse.h"
#include "compile/3_kernels/uses.h"
#include "compile/4_schedule/schedule.h"
#include "tensor/sum_order.h"

static double nest_work(const struct target *t, const struct nest *n)
{
    int accesses = n->stores;
    for (int e = 0; e < n->expr_count; e++)
        accesses += n->exprs[e].kind == EXPR_LOAD;
    double work = 1.0;
    if (n->combine != COMBINE_FMA)
        work += n->expr_count / 4 + t->fusion.access_cycles * accesses;
    if (n->transformed) /* rows, then columns, from registers: two sums instead of one of their product */
        work = 2.0 / TRANSFORM_LONGEST;
    for (int a = 0; a < n->axes; a++)
        work *= n->extent[a];
    return n->batched || schedule_lane(n) >= 0 ? work / LANES : work;
}

static int code_weight(const struct program_ir *p, const struct nest *n)
{
    const struct fusion_limits *f = &p->target->fusion;
    int weight = n->expr_count + (p->nest_count > f->crowd ? f->loops_weight : 0);
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].heavy)
            weight += p->target->expression.heavy_map - 1;
    return weight;
}

static bool is_tiny(const struct program_ir *p, const struct nest *n)
{
    bool alone = true;
    for (int a = 0; a < n->out_axes; a++)
        alone &= n->extent[a] == 1;
    return !p->target->items && !n->batched && n->kind == NEST_LOOPS &&
           n->work <= (alone ? p->target->fusion.alone_work : p->target->fusion.tiny_work);
}

static bool writes_out(const struct program_ir *p, const struct nest *n)
{
    for (int s = 0; s < n->stores; s++)
        if (p->values[n->store[s].value].place == PLACE_OWNED ||
            p->values[n->store[s].value].place == PLACE_OUTPUT)
            return true;
    return false;
}

static bool same_memory(const struct program_ir *p, const struct value *a, const struct value *b)
{
    const struct storage *at = p->module->program->storage;
    return a->place == PLACE_OWNED && b->place == PLACE_OWNED &&
           at[a->slot].memory == at[b->slot].memory;
}

static bool reads(const struct program_ir *p, const struct nest *n, const struct value *v)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD &&
            same_memory(p, &p->values[n->exprs[e].access.value], v))
            return true;
    return false;
}

/* Whether every read of the stored tensor in its own nest is of the very element stored. */
static bool reads_in_place(const struct program_ir *p, const struct nest *n, const struct store *s)
{
    const struct value *v = &p->values[s->value];
    for (int i = 0; i < n->expr_count; i++) {
        const struct expr *e = &n->exprs[i];
        if (e->kind != EXPR_LOAD || !same_memory(p, &p->values[e->access.value], v))
            continue;
        if (n->combine != COMBINE_NONE || n->batched || e->access.gather >= 0 ||
            e->access.part_count > 0 || p->values[e->access.value].offset != v->offset ||
            !affine_equal(&e->access.address, &s->address))
            return false;
    }
    return true;
}

/* Whether some nest that writes an owned tensor's new value, or another nest that writes what
 * leaves the plan, still reads the old one. A value can have several writers, each of a part of
 * it. */
static bool is_read_while_written(const struct program_ir *p, int value)
{
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int s = 0; s < n->stores; s++) {
            if (n->store[s].value != value)
                continue;
            if (!reads_in_place(p, n, &n->store[s]))
                return true;
            for (int k = 0; k < p->nest_count; k++)
                if (k != i && writes_out(p, &p->nests[k]) &&
                    reads(p, &p->nests[k], &p->values[value]))
                    return true;
        }
    }
    return false;
}

/* Lets all writers of a value write a temporary, which a nest of its own copies. */
static tarn_status write_by_copy(struct program_ir *p, int value)
{
    const struct value v = p->values[value];
    const int temporary = value_add(p, PLACE_ARENA, LAYOUT_PLAIN, 0, v.shape, v.dtype);
    for (int i = 0; i < p->nest_count; i++)
        for (int s = 0; s < p->nests[i].stores; s++)
            if (p->nests[i].store[s].value == value)
                p->nests[i].store[s].value = temporary;
    struct nest *copy = nest_add(p);
    if (temporary < 0 || copy == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    memset(copy, 0, sizeof *copy);
    copy->name = "copy";
    copy->axes = copy->out_axes = 1;
    copy->extent[0] = (int32_t)tarn_shape_count(v.shape);
    copy->batch_axis = copy->lane_axis = copy->split_axis = -1;
    struct expr e = { .kind = EXPR_LOAD, .dtype = v.dtype == TARN_F32 ? TARN_F32 : TARN_I32 };
    e.access = (struct access){ .value = temporary, .address = affine_axis(0), .gather = -1 };
    copy->store[0] = (struct store){ .value = value, .address = affine_axis(0) };
    copy->store[0].expr = expr_add(p, copy, &e);
    copy->stores = 1;
    return TARN_OK;
}

/* What is still read while it is written goes to a temporary first. */
static tarn_status break_write_hazards(struct program_ir *p)
{
    const int values = p->value_count;
    for (int v = 0; v < values; v++)
        if (p->values[v].place == PLACE_OWNED && is_read_while_written(p, v))
            TRY(write_by_copy(p, v));
    return TARN_OK;
}

/* Whether nest `n` can run in the kernel of one that writes what it reads by expression `e`. */
static bool can_share(const struct program_ir *p, const struct nest *from, const struct nest *n,
                      const struct expr *e)
{
    return p->target->fuse && !p->target->items &&
           ((from->batched && n->batched && !from->partial &&
             (e->access.in_block || e->access.samples)) ||
            (from->tiny && n->tiny) || (from->replicable && n->batched));
}

/* Earliest kernel in which a nest can run, given the nests that write what it reads. */
static int earliest(const struct program_ir *p, const struct uses *u, const struct nest *n)
{
    int kernel = 0;
    for (int e = 0; e < n->expr_count; e++) {
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const int v = n->exprs[e].access.value;
        for (int w = u->writers.begin[v]; w < u->writers.begin[v + 1]; w++) {
            const struct nest *from = &p->nests[u->writers.nest[w]];
            if (from == n || from->kernel < 0)
                continue;
            const int after = from->kernel + !can_share(p, from, n, &n->exprs[e]);
            kernel = after > kernel ? after : kernel;
        }
    }
    return kernel;
}

/* Whether a nest is small and reads nothing but tensors of the replica, or what such nests make:
 * all before it are marked already. */
static bool depends_on_owned(const struct program_ir *p, const struct uses *u, const bool *marked,
                             const struct nest *n)
{
    bool reads_any = false;
    for (int e = 0; e < n->expr_count; e++) {
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const int v = n->exprs[e].access.value;
        reads_any = true;
        if (p->values[v].place == PLACE_OWNED)
            continue;
        if (p->values[v].place != PLACE_ARENA)
            return false;
        for (int w = u->writers.begin[v]; w < u->writers.begin[v + 1]; w++)
            if (!marked[u->writers.nest[w]])
                return false;
    }
    return reads_any && n->tiny && n->kernel >= 0;
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
            for (int e = 0; to->kernel >= 0 && e < to->expr_count; e++) {
                if (to->exprs[e].kind != EXPR_LOAD || to->exprs[e].access.value != v)
                    continue;
                const bool shares = can_share(p, n, to, &to->exprs[e]);
                const int before = to->kernel - !(shares && (n->replicable || !to->replicable));
                kernel = before < kernel ? before : kernel;
            }
        }
    }
    return kernel == INT_MAX ? n->kernel : kernel;
}

static bool has_calls(const struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++)
        if (p->nests[i].kind == NEST_HOST)
            return true;
    return false;
}

/* What goes to a call and depends on owned tensors alone, such as the fingerprint of the weights,
 * could run first. It runs as late as it can, next to the update. Else what it reads would take
 * the place of the samples in the cache, and be gone from there when the update comes. */
static void sink_to_update(struct program_ir *p, const struct uses *u)
{
    bool *owned = arena_take(p->arena, (size_t)(p->nest_count + 1) * sizeof *owned);
    for (int i = 0; owned != NULL && i < p->nest_count; i++)
        owned[i] = depends_on_owned(p, u, owned, &p->nests[i]);
    for (int i = p->nest_count - 1; owned != NULL && i >= 0; i--) {
        struct nest *n = &p->nests[i];
        const int kernel = owned[i] ? latest(p, u, n) : n->kernel;
        n->kernel = kernel > n->kernel ? kernel : n->kernel;
    }
}

/* Kernels before which nothing may overwrite the memory of owned tensors that n stores to. */
static int after_readers(const struct program_ir *p, const struct nest *n)
{
    int kernel = 0;
    for (int s = 0; s < n->stores; s++) {
        const struct value *v = &p->values[n->store[s].value];
        if (v->place != PLACE_OWNED)
            continue;
        for (int k = 0; k < p->nest_count; k++) {
            const struct nest *other = &p->nests[k];
            if (other != n && other->kernel >= kernel && reads(p, other, v))
                kernel = other->kernel + 1;
        }
    }
    return kernel;
}

/* A kernel's number that a call has is no kernel to join: the next one is launched anyway. */
static int after_calls(const struct program_ir *p, int kernel)
{
    for (int i = 0; i < p->nest_count; i++)
        if (p->nests[i].kind == NEST_HOST && p->nests[i].kernel == kernel)
            return after_calls(p, kernel + 1);
    return kernel;
}

/* ---- small sums that every group computes for itself ---------------------------------------- */

/* The tiny nest of kernel `kernel` that writes a value; NULL when there is none. */
static struct nest *tiny_writer(struct program_ir *p, const struct uses *u, int value, int kernel)
{
    for (int w = u->writers.begin[value]; w < u->writers.begin[value + 1]; w++) {
        struct nest *n = &p->nests[u->writers.nest[w]];
        if (n->tiny && n->kernel == kernel)
            return n;
    }
    return NULL;
}

static bool has_one_writer(const struct uses *u, int value)
{
    return u->writers.begin[value + 1] - u->writers.begin[value] == 1;
}

/* Whether every group of a batched section can compute the nest for itself, so that its readers
 * need not wait for another kernel: there is little to do, only this plan sees the result, and
 * what it reads is complete before the kernel begins, or replicable too. */
static bool is_replicable(struct program_ir *p, const struct uses *u, const struct nest *n)
{
    if (!n->tiny || !p->target->fuse || p->module->batch == 0 ||
        n->work > p->target->fusion.replicated_work)
        return false;
    for (int s = 0; s < n->stores; s++)
        if (p->values[n->store[s].value].place != PLACE_ARENA ||
            !has_one_writer(u, n->store[s].value))
            return false;
    for (int e = 0; e < n->expr_count; e++) {
        const struct nest *from = n->exprs[e].kind != EXPR_LOAD
                                      ? NULL
                                      : tiny_writer(p, u, n->exprs[e].access.value, n->kernel);
        if (from != NULL && !from->replicable)
            return false;
    }
    return true;
}

/* Replicates what batched nests read in the kernel that computes it, and what that is made of. */
static void replicate(struct program_ir *p, const struct uses *u)
{
    for (int i = p->nest_count - 1; i >= 0; i--) {
        const struct nest *n = &p->nests[i];
        for (int e = 0; (n->batched || n->replicated) && e < n->expr_count; e++) {
            if (n->exprs[e].kind != EXPR_LOAD)
                continue;
            struct nest *from = tiny_writer(p, u, n->exprs[e].access.value, n->kernel);
            if (from == NULL || from->replicated)
                continue;
            from->replicated = true;
            for (int s = 0; s < from->stores; s++) {
                struct value *v = &p->values[from->store[s].value];
                v->copy_stride = ((int)tarn_shape_count(v->shape) + LANES - 1) / LANES * LANES;
                v->bytes = (size_t)v->copy_stride * (size_t)p->groups * tarn_dtype_bytes(v->dtype);
            }
        }
    }
}

/* Nests of one section run one after the other in each of its groups. All of a kernel that goes
 * through batch blocks are section 0: groups of unequal work would leave workers idle, since
 * drivers hand them out in runs of equal length. In other kernels 1 are the tiny ones, and each
 * large nest has its own; on a GPU each nest. */
static int section_of(const struct program_ir *p, const bool *batched, int i)
{
    const struct nest *n = &p->nests[i];
    if (batched[n->kernel] && !p->target->items)
        return 0;
    return n->tiny ? 1 : 2 + i;
}

static tarn_status set_sections(struct program_ir *p)
{
    bool *batched = arena_take(p->arena, (size_t)(p->kernel_count + 1) * sizeof *batched);
    if (batched == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; i++)
        batched[p->nests[i].kernel] |= p->nests[i].batched;
    for (int i = 0; i < p->nest_count; i++)
        p->nests[i].section = section_of(p, batched, i);
    return TARN_OK;
}

/* Between which kernels each value is needed. */
static void set_lifetimes(struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int s = 0; s < n->stores; s++) {
            struct value *v = &p->values[n->store[s].value];
            if (v->first < 0 || n->kernel < v->first)
                v->first = n->kernel;
            if (n->kernel > v->last)
                v->last = n->kernel;
        }
        for (int e = 0; e < n->expr_count; e++) {
            if (n->exprs[e].kind != EXPR_LOAD)
                continue;
            struct value *v = &p->values[n->exprs[e].access.value];
            if (n->kernel > v->last)
                v->last = n->kernel;
        }
    }
}

/* The first kernel from `kernel` on that has room for the nest. */
static int with_room(const struct program_ir *p, const int *weight, int kernel, int more)
{
    while (kernel < p->kernel_count && weight[kernel] > 0 &&
           weight[kernel] + more > p->target->fusion.kernel_weight)
        kernel++;
    return kernel;
}

static tarn_status place_nests(struct program_ir *p, const struct uses *u)
{
    int *weight = arena_take(p->arena, (size_t)(p->nest_count + 1) * sizeof *weight);
    if (weight == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    /* First what computes, in order; then what writes tensors that others read. */
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && p->target->fuse && !p->target->items && has_calls(p))
            sink_to_update(p, u);
        for (int i = 0; i < p->nest_count; i++) {
            struct nest *n = &p->nests[i];
            const int more = code_weight(p, n);
            if (writes_out(p, n) != (pass == 1))
                continue;
            n->kernel = earliest(p, u, n);
            const int safe = after_readers(p, n);
            n->kernel = safe > n->kernel ? safe : n->kernel;
            if (n->kind != NEST_HOST)
                n->kernel = after_calls(p, with_room(p, weight, n->kernel, more));
            if (!p->target->fuse)
                n->kernel = p->kernel_count;
            if (n->kernel >= p->kernel_count)
                p->kernel_count = n->kernel + 1;
            weight[n->kernel] += more;
            n->replicable = is_replicable(p, u, n);
        }
    }
    return TARN_OK;
}

tarn_status fuse(struct program_ir *p)
{
    struct uses u;
    TRY(break_write_hazards(p));
    if (!uses_build(p, &u))
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; i++) {
        struct nest *n = &p->nests[i];
        n->work = nest_work(p->target, n);
        n->tiny = is_tiny(p, n);
        n->kernel = -1;
    }
    TRY(place_nests(p, &u));
    replicate(p, &u);
    if (p->target->items)
        split_lane_sums(p);
    TRY(set_sections(p));
    set_lifetimes(p);
    return TARN_OK;
}
