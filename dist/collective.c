/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives as lazy operations: recorded like any other, run by the plan between two kernels. */
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "member.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

tarn_status member_collect(tarn_replica *r, struct collective c)
{
    const struct member *m = member_of(r);
    c.step = r->step_count; /* replicas may evaluate in steps of their own number */
    return communicator_collect(m->communicator, m->seat, &c);
}

static tarn_status run(const struct call_run *c, enum collective_kind kind, const char *label)
{
    return member_collect(c->replica,
                          (struct collective){ .kind = kind,
                                               .reduction = (tarn_reduction)c->arg.call.reduction,
                                               .dtype = c->dtype,
                                               .count = c->count,
                                               .root = (int)c->arg.call.root,
                                               .shape = c->arg.call.shape,
                                               .origin = c->arg.call.origin,
                                               .order = c->arg.call.order,
                                               .label = label,
                                               .in = c->in,
                                               .out = c->out });
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
    struct collective k = { .kind = COLLECTIVE_ALL_REDUCE,
                            .reduction = (tarn_reduction)c->arg.call.reduction,
                            .dtype = c->dtype,
                            .count = c->count - words,
                            .shape = c->arg.call.shape,
                            .origin = c->arg.call.origin,
                            .order = c->arg.call.order,
                            .label = labels[c->arg.call.purpose],
                            .in = c->in,
                            .out = c->out };
    if (words > 0 && m->check_weights > 0 && r->step_count % (uint64_t)m->check_weights == 0)
        k.checksum = words;
    const tarn_status s = member_collect(r, k);
    if (s != TARN_ERR_WEIGHTS)
        return s;
    const tarn_status found = weights_compare(r);
    if (found != TARN_ERR_WEIGHTS)
        return found != TARN_OK ? found
                                : error_set(TARN_ERR_WEIGHTS,
                                            "weights differed between replicas before training "
                                            "step %llu, and are equal when looked at again",
                                            (unsigned long long)r->step_count + 1);
    if (!m->heal)
        return found;
    if (m->peers.rank == 0)
        log_print(TARN_LOG_WARNING, "tarn: %s; copied from rank 0", error_text());
    TRY(weights_broadcast(r));
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

static tarn_tensor record_all_reduce(tarn_tensor x, tarn_reduction reduction, uint32_t checksum,
                                     enum purpose purpose)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.call.reduction = reduction;
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
    const tarn_tensor sum = record_all_reduce(x, TARN_SUM, checksum, PURPOSE_GRADIENTS);
    spread_mark(sum, SPREAD_SAME);
    return sum;
}

/* A partial sum is what it is on any number of devices once all replicas' are added up. */
static tarn_tensor sum_partial(tarn_tensor x, void *user)
{
    const enum purpose *purpose = user;
    const tarn_tensor sum = record_all_reduce(x, TARN_SUM, 0, *purpose);
    if (graph_node(x)->spread == SPREAD_PARTIAL)
        spread_mark(sum, SPREAD_SAME);
    return sum;
}

tarn_tensor collective_sum(tarn_tensor x, enum purpose purpose)
{
    if (!graph_resolve(x))
        return x;
    return has_shards(x.replica) ? spread_sum(x, sum_partial, &purpose)
                                 : record_all_reduce(x, TARN_SUM, 0, purpose);
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

static void reduce_scatter_grad_named(struct grad_call *c);
static void all_gather_grad_named(struct grad_call *c);
static void broadcast_grad_named(struct grad_call *c);
static void all_to_all_grad_named(struct grad_call *c);

#define MOVES(id) \
    static const struct op op_##id = { \
        .name = #id, .arity = 1, .kind = OP_HOST, .call = run_##id, .grad = id##_grad_named \
    };
MOVES(reduce_scatter)
MOVES(all_gather)
MOVES(broadcast)
MOVES(all_to_all)

static tarn_tensor record(const struct op *op, tarn_tensor x, tarn_shape shape,
                          tarn_reduction reduction, int root)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.call.reduction = reduction;
    arg.call.root = (uint32_t)root;
    form_set(x, PURPOSE_USER, &arg);
    return graph_record(x.replica, op, &x, 1, shape, tarn_dtype_get(x), &arg);
}

/* x cut into a part of axis 0 for each replica, or one replica's parts joined. */
static tarn_shape shape_times(tarn_tensor x, int factor, int divisor)
{
    tarn_shape s = tarn_shape_get(x);
    s.dim[0] = s.dim[0] * factor / divisor;
    return s;
}

static tarn_tensor gathered(tarn_tensor x)
{
    return record(&op_all_gather, x, shape_times(x, tarn_world_size(x.replica), 1), TARN_SUM, 0);
}

/* ---- gradients: of the sum of all replicas' losses ------------------------------------------ */

/* Of a reduction over replicas, from g and y at all of x's elements. Extremes go to those that hold
 * them, and equal ones share, as tarn_max does; where the result is NaN nothing equals it, and
 * 0 / 0 passes the NaN on. */
static tarn_tensor reduction_grad(tarn_tensor x, tarn_tensor y, tarn_tensor g,
                                  tarn_reduction reduction)
{
    if (reduction == TARN_SUM)
        return g;
    if (reduction == TARN_MEAN)
        return tarn_mul_scalar(g, 1.0f / (float)tarn_world_size(x.replica));
    const tarn_tensor hit = tarn_cast(tarn_eq(x, y), TARN_F32);
    const tarn_tensor count = record_all_reduce(hit, TARN_SUM, 0, PURPOSE_USER);
    return tarn_div(tarn_mul(g, hit), count);
}

/* Every replica's x has its part in every replica's result. */
static void all_reduce_grad(struct grad_call *c)
{
    const enum purpose purpose = (enum purpose)c->arg.call.purpose;
    const tarn_tensor g = collective_sum(c->g, purpose);
    c->gin[0] = reduction_grad(c->in[0], c->y, g, (tarn_reduction)c->arg.call.reduction);
}

static void reduce_scatter_grad(struct grad_call *c)
{
    const tarn_reduction reduction = (tarn_reduction)c->arg.call.reduction;
    const bool extreme = reduction == TARN_MAX || reduction == TARN_MIN;
    const tarn_tensor g = gathered(c->g), y = extreme ? gathered(c->y) : TARN_NONE;
    c->gin[0] = reduction_grad(c->in[0], y, g, reduction);
}

/* The sum of what all replicas did with this one's part. */
static void all_gather_grad(struct grad_call *c)
{
    const tarn_shape part = tarn_shape_get(c->in[0]);
    c->gin[0] = record(&op_reduce_scatter, c->g, part, TARN_SUM, 0);
}

/* A number, since all replicas must record the same; chosen, since 0 times NaN is NaN. */
static void broadcast_grad(struct grad_call *c)
{
    tarn_replica *r = c->g.replica;
    const tarn_tensor sum = record_all_reduce(c->g, TARN_SUM, 0, PURPOSE_USER);
    const bool root = tarn_rank(r) == (int)c->arg.call.root;
    c->gin[0] = tarn_where(tarn_number(r, root ? 1 : 0), sum, tarn_zeros(r, TARN_SCALAR));
}

static void all_to_all_grad(struct grad_call *c)
{
    c->gin[0] = record(&op_all_to_all, c->g, tarn_shape_get(c->g), TARN_SUM, 0);
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

/* ---- checks, and the public names ----------------------------------------------------------- */

static bool check_reduction(const char *name, tarn_tensor x, tarn_reduction reduction)
{
    const tarn_dtype dtype = tarn_dtype_get(x);
    const bool fits = dtype == TARN_F32 || (dtype == TARN_I32 && reduction != TARN_MEAN);
    if (fits && reduction >= TARN_SUM && reduction <= TARN_MIN)
        return true;
    graph_fail(x.replica, fits ? TARN_ERR_ARGUMENT : TARN_ERR_DTYPE,
               "%s: reduction %d of %s %s: float32, or int32 without a mean", name, (int)reduction,
               tarn_dtype_name(dtype), shape_text(tarn_shape_get(x)));
    return false;
}

/* Whether axis 0 falls into as many equal parts as there are replicas. */
static bool check_parts(const char *name, tarn_tensor x, int world)
{
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank >= 1 && s.dim[0] % world == 0)
        return true;
    graph_fail(x.replica, TARN_ERR_SHAPE, "%s: axis 0 of %s does not divide into %d replicas", name,
               shape_text(s), world);
    return false;
}

/* With virtual shards, what goes from replica to replica is another value on another number of
 * them: so it is on one, too. */
static tarn_tensor alone(tarn_tensor x)
{
    return spread_as(graph_value(x), SPREAD_OWN);
}

tarn_tensor tarn_all_reduce(tarn_tensor x, tarn_reduction reduction)
{
    if (!graph_operand(NULL, x, "all_reduce", 0) || !check_reduction("all_reduce", x, reduction))
        return graph_poison(x.replica);
    const int world = tarn_world_size(x.replica);
    const bool sums = reduction == TARN_SUM || reduction == TARN_MEAN;
    if (sums && spread_can_sum(x)) {
        const tarn_tensor sum = collective_sum(x, PURPOSE_USER);
        return world > 1 && reduction == TARN_MEAN ? tarn_mul_scalar(sum, 1.0f / (float)world)
                                                   : sum;
    }
    const tarn_tensor y = world == 1 ? x : record_all_reduce(x, reduction, 0, PURPOSE_USER);
    return alone(y);
}

tarn_tensor tarn_reduce_scatter(tarn_tensor x, tarn_reduction reduction)
{
    const int world = tarn_world_size(x.replica);
    if (!graph_operand(NULL, x, "reduce_scatter", 0) ||
        !check_reduction("reduce_scatter", x, reduction) ||
        !check_parts("reduce_scatter", x, world))
        return graph_poison(x.replica);
    if (world == 1)
        return alone(x);
    return record(&op_reduce_scatter, x, shape_times(x, 1, world), reduction, 0);
}

tarn_tensor tarn_all_gather(tarn_tensor x)
{
    const int world = tarn_world_size(x.replica);
    if (!graph_operand(NULL, x, "all_gather", 0))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank < 1 || (int64_t)s.dim[0] * world > INT32_MAX)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "all_gather: %s cannot be joined along axis 0; reshape a scalar to [1]",
                          shape_text(s));
    return world == 1 ? alone(x) : gathered(x);
}

tarn_tensor tarn_broadcast(tarn_tensor x, int root)
{
    const int world = tarn_world_size(x.replica);
    if (!graph_operand(NULL, x, "broadcast", 0))
        return graph_poison(x.replica);
    if (root < 0 || root >= world)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "broadcast: there is no rank %d of %d",
                          root, world);
    return world == 1 ? alone(x) : record(&op_broadcast, x, tarn_shape_get(x), TARN_SUM, root);
}

tarn_tensor tarn_all_to_all(tarn_tensor x)
{
    const int world = tarn_world_size(x.replica);
    if (!graph_operand(NULL, x, "all_to_all", 0) || !check_parts("all_to_all", x, world))
        return graph_poison(x.replica);
    return world == 1 ? alone(x) : record(&op_all_to_all, x, tarn_shape_get(x), TARN_SUM, 0);
}
