/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives as lazy operations: recorded like any other, run by the plan between two kernels. */
#include <stdio.h>
#include <string.h>

#include "collective.h"
#include "mesh_check.h"
#include "mesh_group.h"
#include "regroup.h"
#include "op/op.h"
#include "tensor/spread.h"

tarn_status member_collect(tarn_replica *r, struct collective c)
{
    const struct member *m = member_of(r);
    c.step = r->step_count; /* replicas may evaluate in steps of their own number */
    const bool regroups = c.mesh != NULL && communicator_node(m->communicator, m->peers.rank) >= 0;
    return regroups ? regroup_collect(m->communicator, m->seat, &c)
                    : communicator_collect(m->communicator, m->seat, &c);
}

/* What a node asks for. */
static struct collective asked(const struct call_run *c, enum collective_kind kind,
                               const char *label)
{
    const struct member *m = member_of(c->replica);
    const uint8_t mesh = c->arg.call.mesh, axes = c->arg.call.axes;
    return (struct collective){ .kind = kind,
                                .reduction = (tarn_reduction)c->arg.call.reduction,
                                .dtype = c->dtype,
                                .count = c->count,
                                .root = (int)c->arg.call.root,
                                .mesh = axes == 0   ? NULL
                                        : mesh == 0 ? &m->peers.mesh
                                                    : &m->meshes[mesh - 1],
                                .axes = axes,
                                .split = c->arg.call.split,
                                .join = c->arg.call.join,
                                .shape = c->arg.call.shape,
                                .origin = c->arg.call.origin,
                                .order = c->arg.call.order,
                                .label = label,
                                .in = c->in,
                                .out = c->out };
}

/* What a step asks for, once its weights were compared. Of what is written by hand over groups the bytes are counted
 * here, of others where they are planned. */
static tarn_status collect(tarn_replica *r, const struct collective *k, bool counts)
{
    TRY(mesh_check_compare(r, false));
    const tarn_status s = member_collect(r, *k);
    if (s == TARN_OK && counts) {
        r->metrics.exchanges++;
        r->metrics.received_bytes += group_received(k, r->peers->rank);
    }
    return s;
}

static tarn_status run(const struct call_run *c, enum collective_kind kind, const char *label)
{
    const struct collective k = asked(c, kind, label);
    return collect(c->replica, &k, c->arg.call.mesh > 0);
}

static const char *const labels[] = { [PURPOSE_USER] = "all_reduce",
                                      [PURPOSE_GRADIENTS] = "gradients",
                                      [PURPOSE_BATCH_NORM] = "batch norm" };

/* ---- all-reduce ----------------------------------------------------------------------------- */

/* A check of the weights rides along as a checksum. What differs is looked for at once: all
 * replicas have the same verdict, so all of them come to the comparison. */
static tarn_status run_all_reduce(const struct call_run *c)
{
    tarn_replica *r = c->replica;
    const struct member *m = member_of(r);
    const size_t words = c->arg.call.checksum;
    struct collective k = asked(c, COLLECTIVE_ALL_REDUCE, labels[c->arg.call.purpose]);
    k.count = c->count - words;
    if (words > 0 && m->check_weights > 0 && r->step_count % (uint64_t)m->check_weights == 0)
        k.checksum = words;
    const tarn_status s = collect(r, &k, c->arg.call.mesh > 0);
    if (s != TARN_ERR_WEIGHTS || k.checksum == 0)
        return s;
    TRY(weights_settle(r));
    k.checksum = 0;
    return member_collect(r, k);
}

static void all_reduce_grad_named(struct grad_call *c);

static const struct op op_all_reduce = { .name = "all_reduce",
                                         .arity = 1,
                                         .kind = OP_HOST,
                                         .call = run_all_reduce,
                                         .in_place = true,
                                         .grad = all_reduce_grad_named };

static tarn_tensor record_all_reduce(tarn_tensor x, tarn_reduction reduction, struct reach over,
                                     uint32_t checksum, enum purpose purpose)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.call.reduction = reduction;
    arg.call.axes = over.axes;
    arg.call.mesh = over.mesh;
    arg.call.checksum = checksum;
    arg.call.purpose = purpose;
    form_set(x, purpose, &arg);
    return graph_record(x.replica, &op_all_reduce, &x, 1, tarn_shape_get(x), tarn_dtype_get(x),
                        &arg);
}

tarn_tensor collective_bucket(tarn_tensor x, uint32_t checksum)
{
    if (!graph_resolve(x))
        return x;
    const tarn_tensor sum = record_all_reduce(x, TARN_SUM, whole, checksum, PURPOSE_GRADIENTS);
    spread_mark(sum, SPREAD_SAME);
    return sum;
}

/* A partial sum is what it is on any number of devices once all replicas' are added up. */
static tarn_tensor sum_partial(tarn_tensor x, void *user)
{
    const enum purpose *purpose = user;
    const tarn_tensor sum = record_all_reduce(x, TARN_SUM, whole, 0, *purpose);
    if (graph_node(x)->spread == SPREAD_PARTIAL)
        spread_mark(sum, SPREAD_SAME);
    return sum;
}

tarn_tensor collective_sum(tarn_tensor x, enum purpose purpose)
{
    if (!graph_resolve(x))
        return x;
    return has_shards(x.replica) ? spread_sum(x, sum_partial, &purpose)
                                 : record_all_reduce(x, TARN_SUM, whole, 0, purpose);
}

tarn_tensor collective_reduce(tarn_tensor x, tarn_reduction reduction, struct reach over)
{
    return record_all_reduce(x, reduction, over, 0, PURPOSE_USER);
}

/* ---- the others ----------------------------------------------------------------------------- */

static tarn_status run_reduce_scatter(const struct call_run *c)
{
    return run(c, COLLECTIVE_REDUCE_SCATTER, "reduce_scatter");
}

static tarn_status run_all_gather(const struct call_run *c)
{
    return run(c, COLLECTIVE_ALL_GATHER, "all_gather");
}

static tarn_status run_broadcast(const struct call_run *c)
{
    return run(c, COLLECTIVE_BROADCAST, "broadcast");
}

static tarn_status run_all_to_all(const struct call_run *c)
{
    return run(c, COLLECTIVE_ALL_TO_ALL, "all_to_all");
}

static tarn_status run_pass(const struct call_run *c)
{
    struct collective k = asked(c, COLLECTIVE_PASS, "pass");
    const struct route route = route_of(c->arg.call.root);
    k.root = 0;
    k.by = route.by;
    k.only = route.only;
    k.round = route.round;
    return collect(c->replica, &k, true);
}

static void reduce_scatter_grad_named(struct grad_call *c);
static void all_gather_grad_named(struct grad_call *c);
static void broadcast_grad_named(struct grad_call *c);
static void all_to_all_grad_named(struct grad_call *c);
static void pass_grad_named(struct grad_call *c);

#define MOVES(id) \
    static const struct op op_##id = { \
        .name = #id, .arity = 1, .kind = OP_HOST, .call = run_##id, .grad = id##_grad_named \
    };
MOVES(reduce_scatter)
MOVES(all_gather)
MOVES(broadcast)
MOVES(all_to_all)
MOVES(pass)

const struct op *const exchange_ops[EXCHANGES] = { [EXCHANGE_ALL_REDUCE] = &op_all_reduce,
                                                   [EXCHANGE_REDUCE_SCATTER] = &op_reduce_scatter,
                                                   [EXCHANGE_ALL_GATHER] = &op_all_gather,
                                                   [EXCHANGE_ALL_TO_ALL] = &op_all_to_all };
_Static_assert((int)EXCHANGE_SUM == TARN_SUM && (int)EXCHANGE_MAX == TARN_MAX &&
                   (int)EXCHANGE_MIN == TARN_MIN,
               "reductions have the same numbers");

int reach_count(const tarn_replica *r, struct reach over)
{
    const struct member *m = member_of(r);
    return over.axes == 0 ? tarn_world_size(r)
                          : mesh_blocks(over.mesh == 0 ? &m->peers.mesh : &m->meshes[over.mesh - 1],
                                        over.axes);
}

int reach_place(const tarn_replica *r, struct reach over)
{
    const struct member *m = member_of(r);
    const struct collective c = {
        .mesh = over.axes == 0   ? NULL
                : over.mesh == 0 ? &m->peers.mesh
                                 : &m->meshes[over.mesh - 1],
        .axes = over.axes,
    };
    return group_place(&c, tarn_rank(r));
}

/* A movement, or a reduction whose result is a part. */
struct ask {
    tarn_reduction reduction;
    uint32_t root;
    int split, join;
};

static tarn_tensor record(const struct op *op, tarn_tensor x, tarn_shape shape, struct reach over,
                          struct ask ask)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.call.reduction = ask.reduction;
    arg.call.root = ask.root;
    arg.call.axes = over.axes;
    arg.call.mesh = over.mesh;
    arg.call.split = (uint8_t)ask.split;
    arg.call.join = (uint8_t)ask.join;
    form_set(x, PURPOSE_USER, &arg);
    /* Places that pass something on, and those that get it, may well have computed other things. */
    if (op == &op_pass) {
        arg.call.origin = 0;
        arg.call.order = arg.call.serial;
    }
    return graph_record(x.replica, op, &x, 1, shape, tarn_dtype_get(x), &arg);
}

static tarn_shape shape_times(tarn_tensor x, int dim, int factor, int divisor)
{
    tarn_shape s = tarn_shape_get(x);
    s.dim[dim] = s.dim[dim] * factor / divisor;
    return s;
}

tarn_tensor collective_scatter(tarn_tensor x, tarn_reduction reduction, struct reach over, int dim)
{
    const tarn_shape shape = shape_times(x, dim, 1, reach_count(x.replica, over));
    return record(&op_reduce_scatter, x, shape, over,
                  (struct ask){ .reduction = reduction, .split = dim });
}

tarn_tensor collective_gather(tarn_tensor x, struct reach over, int dim)
{
    const tarn_shape shape = shape_times(x, dim, reach_count(x.replica, over), 1);
    return record(&op_all_gather, x, shape, over, (struct ask){ .join = dim });
}

tarn_tensor collective_broadcast(tarn_tensor x, struct reach over, int root)
{
    return record(&op_broadcast, x, tarn_shape_get(x), over,
                  (struct ask){ .root = (uint32_t)root });
}

tarn_tensor collective_exchange(tarn_tensor x, struct reach over, int split, int join)
{
    const int count = reach_count(x.replica, over);
    tarn_shape shape = shape_times(x, split, 1, count);
    shape.dim[join] *= count;
    return record(&op_all_to_all, x, shape, over, (struct ask){ .split = split, .join = join });
}

/* A number, since all replicas must record the same; chosen, since 0 times NaN is NaN. */
static tarn_tensor chosen(tarn_replica *r, bool first, tarn_tensor a, tarn_tensor b)
{
    return tarn_where(tarn_number(r, first ? 1 : 0), a, b);
}

/* Places that compute other things would come to their passes in other orders, each as its own kernels go: so a
 * pass waits for the one that was recorded before it in the step. */
static tarn_tensor after_last(tarn_tensor x)
{
    struct member *m = member_of(x.replica);
    if (m->passed.step != x.replica->step || tarn_shape_count(tarn_shape_get(m->passed)) == 0)
        return x;
    tarn_tensor last = tarn_detach(m->passed);
    const tarn_shape shape = tarn_shape_get(last);
    for (int d = 0; d < shape.rank; d++)
        last = tarn_slice(last, d, 0, 1, 1);
    last = tarn_cast(tarn_reshape(last, TARN_SCALAR), tarn_dtype_get(x));
    return chosen(x.replica, true, x, last);
}

tarn_tensor collective_pass(tarn_tensor x, struct reach over, struct route route)
{
    struct member *m = member_of(x.replica);
    x = after_last(x);
    m->passed =
        record(&op_pass, x, tarn_shape_get(x), over, (struct ask){ .root = route_bits(route) });
    return m->passed;
}

/* ---- gradients: of the sum of all replicas' losses ------------------------------------------ */

static struct reach reach_of(const struct grad_call *c)
{
    return (struct reach){ c->arg.call.mesh, c->arg.call.axes };
}

/* Of a reduction over replicas, from g and y at all of x's elements. Extremes go to those that hold
 * them, and equal ones share, as tarn_max does; where the result is NaN nothing equals it, and
 * 0 / 0 passes the NaN on. */
static tarn_tensor reduction_grad(const struct grad_call *c, tarn_tensor y, tarn_tensor g)
{
    const tarn_reduction reduction = (tarn_reduction)c->arg.call.reduction;
    const struct reach over = reach_of(c);
    if (reduction == TARN_SUM)
        return g;
    if (reduction == TARN_MEAN)
        return op_over(g, reach_count(g.replica, over));
    const tarn_tensor hit = tarn_cast(tarn_eq(c->in[0], y), TARN_F32);
    return tarn_div(tarn_mul(g, hit), collective_reduce(hit, TARN_SUM, over));
}

/* Every replica's x has its part in every replica's result. */
static void all_reduce_grad(struct grad_call *c)
{
    const struct reach over = reach_of(c);
    const enum purpose purpose = (enum purpose)c->arg.call.purpose;
    const tarn_tensor g =
        over.axes == 0 ? collective_sum(c->g, purpose) : collective_reduce(c->g, TARN_SUM, over);
    c->gin[0] = reduction_grad(c, c->y, g);
}

static void reduce_scatter_grad(struct grad_call *c)
{
    const tarn_reduction reduction = (tarn_reduction)c->arg.call.reduction;
    const bool extreme = reduction == TARN_MAX || reduction == TARN_MIN;
    const struct reach over = reach_of(c);
    const int dim = c->arg.call.split;
    const tarn_tensor g = collective_gather(c->g, over, dim);
    c->gin[0] = reduction_grad(c, extreme ? collective_gather(c->y, over, dim) : TARN_NONE, g);
}

/* The sum of what all replicas did with this one's part. */
static void all_gather_grad(struct grad_call *c)
{
    c->gin[0] = collective_scatter(c->g, TARN_SUM, reach_of(c), c->arg.call.join);
}

static void broadcast_grad(struct grad_call *c)
{
    tarn_replica *r = c->g.replica;
    const struct reach over = reach_of(c);
    const tarn_tensor sum = collective_reduce(c->g, TARN_SUM, over);
    const bool root = reach_place(r, over) == (int)c->arg.call.root;
    c->gin[0] = chosen(r, root, sum, tarn_zeros(r, TARN_SCALAR));
}

static void all_to_all_grad(struct grad_call *c)
{
    c->gin[0] = collective_exchange(c->g, reach_of(c), c->arg.call.join, c->arg.call.split);
}

/* The way back. A place that has nothing to pass back hands in the result of the way there, so that it comes to
 * both in the order in which the others do. */
static void pass_grad(struct grad_call *c)
{
    tarn_replica *r = c->g.replica;
    const struct reach over = reach_of(c);
    const int count = reach_count(r, over), place = reach_place(r, over);
    const struct route there = route_of(c->arg.call.root);
    const struct route back = { .by = -there.by,
                                .only = there.only < 0 ? -1 : there.only + there.by,
                                .round = there.round };
    const bool had = route_source(there, count, place) >= 0;
    c->gin[0] = collective_pass(chosen(r, had, c->g, c->y), over, back);
}

#define NAMED(id) \
    static void id##_grad_named(struct grad_call *c) \
    { \
        const uint32_t before = form_enter(c); \
        id##_grad(c); \
        form_leave(c, before); \
    }
NAMED(all_reduce)
NAMED(reduce_scatter)
NAMED(all_gather)
NAMED(broadcast)
NAMED(all_to_all)
NAMED(pass)
