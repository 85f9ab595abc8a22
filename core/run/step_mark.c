/* SPDX-License-Identifier: Apache-2.0 */
/* The step mark: what the step recorded is enqueued, and the next one begins. In: a replica's
 * graph. Out: commands under way, of two steps at most. Knows of an optimizer only what struct
 * trainer says. */
#include <stdlib.h>

#include "clock.h"
#include "env.h"
#include "run/nan_blame.h"
#include "run/part_words.h"
#include "run/plan_cache.h"
#include "run/when_known.h"
#include "trace.h"

/* Lets at most two steps be in flight. */
static tarn_status throttle(tarn_replica *r, double *waited)
{
    const double before = seconds_now();
    trace_begin(r->track, "wait for the step before the last");
    const tarn_status s = context_wait(r->context, r->in_flight[0]);
    trace_end(r->track);
    *waited = seconds_now() - before;
    return s;
}

/* With the values that somebody waits for. */
static tarn_status enqueue_graph(tarn_replica *r)
{
    uint32_t *nodes;
    int count;
    TRY(known_wanted(r, &nodes, &count));
    if (count == 0)
        return plan_execute(r, NULL, 0, NULL, true);
    struct buffer **values = calloc((size_t)count, sizeof *values);
    tarn_status s = values != NULL ? plan_execute(r, nodes, count, values, true)
                                   : error_set(TARN_ERR_MEMORY, "when_known: out of host memory");
    if (s == TARN_OK)
        s = known_enqueued(r, values);
    free(values);
    free(nodes);
    return s;
}

/* Under a mesh the weights are hashed before the step changes them. The others' hashes are asked for where the step
 * first meets the others, so that the device need not wait for that. */
static tarn_status execute(tarn_replica *r)
{
    const struct peers *p = r->peers;
    if (!r->updates || p == NULL || p->compares == NULL || !p->compares(r))
        return enqueue_graph(r);
    TRY(part_words_enqueue(r));
    tarn_status s = p->compare(r, true);
    if (s == TARN_OK)
        s = enqueue_graph(r);
    if (s == TARN_OK)
        s = p->compare(r, false);
    r->peers->words.pending = false;
    return s;
}

static tarn_status enqueue(tarn_replica *r, double *waited)
{
    TRY(context_poll(r->context));
    TRY(throttle(r, waited));
    if (r->graph.count > 1 && env_debug("nan") && !r->blamed)
        TRY(nan_blame(r));
    if (r->graph.count > 1)
        TRY(execute(r));
    r->in_flight[0] = r->in_flight[1];
    TRY(context_mark(r->context, &r->in_flight[1]));
    return context_flush(r->context);
}

/* Whether the step, with what came before it since the last one, made something that the next need not make. */
static void count_steady(tarn_replica *r)
{
    const uint64_t plans = r->metrics.plans_compiled;
    const uint64_t made = context_counters(r->context).buffers_created;
    const bool steady = plans == r->plans_before && made == r->allocations_before;
    r->metrics.steady_steps = steady ? r->metrics.steady_steps + 1 : 0;
    if (r->steady_most < r->metrics.steady_steps)
        r->steady_most = r->metrics.steady_steps;
    r->plans_before = plans;
    r->allocations_before = made;
}

tarn_status tarn_step(tarn_replica *r)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "step: the replica is NULL");
    if (r->status != TARN_OK) {
        graph_reset(r);
        known_deliver(r);
        return r->status;
    }
    graph_recorded(r);
    const uint32_t nodes = r->graph.count;
    trace_begin(r->track, "step mark");
    const double begin = seconds_now(), compiled = r->metrics.compile_seconds;
    const struct backend_counters before = context_counters(r->context);
    double waited = 0;
    const bool updates = r->updates, draws = r->graph.rand_count > 0;
    const tarn_status s = enqueue(r, &waited);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    if (r->status == TARN_OK && r->trainer != NULL)
        r->trainer->commit(r);
    graph_reset(r);
    trace_end(r->track);
    if (r->status != TARN_OK) {
        known_deliver(r);
        return r->status;
    }
    /* Evaluating between two training steps must not change what the second one draws. */
    r->step_count += updates;
    r->side_steps = updates ? 0 : r->side_steps + draws;
    r->metrics.steps++;
    context_step(r->context);
    count_steady(r);
    r->metrics.wait_seconds += waited;
    r->metrics.nodes_last_step = nodes > 0 ? nodes - 1 : 0; /* node 0 is poison */
    const struct backend_counters after = context_counters(r->context);
    r->metrics.launches_last_step = after.launches - before.launches;
    r->metrics.quick_launches_last_step = after.quick_launches - before.quick_launches;
    r->metrics.quick_kernels_kept = after.quick_kept;
    r->metrics.compile_seconds += after.improve_seconds - before.improve_seconds;
    r->metrics.host_seconds +=
        seconds_now() - begin - waited - (r->metrics.compile_seconds - compiled);
    known_deliver(r);
    return r->status;
}

tarn_status tarn_wait(tarn_replica *r)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "wait: the replica is NULL");
    const double before = seconds_now();
    trace_begin(r->track, "wait");
    tarn_status s = context_finish(r->context);
    trace_end(r->track);
    r->metrics.wait_seconds += seconds_now() - before;
    if (s == TARN_OK && r->status == TARN_OK && r->trainer != NULL)
        s = r->trainer->check(r);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    known_deliver(r);
    return r->status;
}

uint64_t tarn_step_count(const tarn_replica *r)
{
    return r != NULL ? r->step_count : 0;
}
