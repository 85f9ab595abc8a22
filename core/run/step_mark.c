/* SPDX-License-Identifier: Apache-2.0 */
/* The step mark: what the step recorded is enqueued, and the next one begins. In: a replica's
 * graph. Out: commands under way, of two steps at most. Knows of an optimizer only what struct
 * trainer says. */
#include "clock.h"
#include "run/plan_cache.h"
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

static tarn_status enqueue(tarn_replica *r, double *waited)
{
    TRY(context_poll(r->context));
    TRY(throttle(r, waited));
    if (r->graph.count > 1)
        TRY(plan_execute(r, NULL, 0, NULL, true));
    r->in_flight[0] = r->in_flight[1];
    TRY(context_mark(r->context, &r->in_flight[1]));
    return context_flush(r->context);
}

tarn_status tarn_step(tarn_replica *r)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "step: the replica is NULL");
    if (r->status != TARN_OK) {
        graph_reset(r);
        return r->status;
    }
    graph_recorded(r);
    const uint32_t nodes = r->graph.count;
    trace_begin(r->track, "step mark");
    const double begin = seconds_now(), compiled = r->metrics.compile_seconds;
    const uint64_t launches = context_counters(r->context).launches;
    double waited = 0;
    const bool updates = r->updates, draws = r->graph.rand_count > 0;
    const tarn_status s = enqueue(r, &waited);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    if (r->status == TARN_OK && r->trainer != NULL)
        r->trainer->commit(r);
    graph_reset(r);
    trace_end(r->track);
    if (r->status != TARN_OK)
        return r->status;
    /* Evaluating between two training steps must not change what the second one draws. */
    r->step_count += updates;
    r->side_steps = updates ? 0 : r->side_steps + draws;
    r->metrics.steps++;
    r->metrics.wait_seconds += waited;
    r->metrics.nodes_last_step = nodes > 0 ? nodes - 1 : 0; /* node 0 is poison */
    r->metrics.launches_last_step = context_counters(r->context).launches - launches;
    r->metrics.host_seconds +=
        seconds_now() - begin - waited - (r->metrics.compile_seconds - compiled);
    return TARN_OK;
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
    return r->status;
}

uint64_t tarn_step_count(const tarn_replica *r)
{
    return r != NULL ? r->step_count : 0;
}
