/* SPDX-License-Identifier: Apache-2.0 */
/* Plans found again by hash. In: a replica's graph. Out: enqueued kernels, of a known plan or a
 * new one. */
#include "run/plan_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compile/debug.h"
#include "deep.h"
#include "env.h"
#include "log.h"
#include "run/device_target.h"
#include "run/execute.h"
#include "run/local_program.h"
#include "run/loop.h"
#include "run/kept_values.h"
#include "run/memory_need.h"
#include "run/outline.h"
#include "run/parts.h"
#include "run/recompute_fit.h"
#include "run/snapshot.h"
#include "run/tune_products.h"
#include "run/tune_tiles.h"
#include "tensor/random.h"
#include "trace.h"

/* Of the programs of one kernel PoCL takes 1.2 MB each. */
#define PLANS_MOST 24
#define PLANS_EACH_LOOP \
    3 /* and so many more for each loop of a step: what comes before, its body, others */

#define COMPILES_EXPECTED 10
#define REASONS_TOLD 3

struct plan_cache {
    struct plan *plans;   /* the least recently used first */
    struct buffer *arena; /* one for all plans: the compute queue is in order */
};

/* What is asked of a replica's graph. */
struct request {
    tarn_replica *replica;
    struct target target;
    uint64_t key[2];
    const uint32_t *outputs;
    int count;
    bool effects;
    struct buffer **buffers;
    struct spec *specs; /* of outputs under a mesh, wanted or to be told; NULL: they are whole */
    bool wanted;
    struct loop *loop; /* NULL: it is no loop */
};

/* ---- running -------------------------------------------------------------------------------- */

static tarn_status need_arena(const tarn_replica *r, size_t bytes)
{
    struct buffer **arena = &r->plans->arena;
    if (bytes == 0 || (*arena != NULL && buffer_bytes(*arena) >= bytes))
        return TARN_OK;
    buffer_free(*arena);
    *arena = NULL;
    return buffer_new(r->context, bytes, arena);
}

/* Without a mesh all ranks lie along one axis. */
static void find_coordinates(const tarn_replica *r, uint32_t coordinate[MESH_AXES])
{
    const struct mesh *m = replica_mesh(r);
    const int rank = r->peers != NULL ? r->peers->rank : 0;
    for (int a = 0; m != NULL && a < m->axes; a++)
        coordinate[a] = (uint32_t)mesh_coordinate(m, rank, a);
    if (m == NULL)
        coordinate[0] = (uint32_t)rank;
}

/* Of what all plans have, and the outputs. */
static struct binding binding_of(const tarn_replica *r, struct buffer **outputs)
{
    struct binding b = { .context = r->context,
                         .arena = r->plans->arena,
                         .inputs = r->graph.inputs,
                         .owned = r->owned,
                         .owned_slots = r->graph.owned_slots,
                         .outputs = outputs,
                         .numbers = r->graph.numbers,
                         .key = random_key_now(r) };
    find_coordinates(r, b.coordinate);
    return b;
}

static tarn_status run_loop(tarn_replica *r, const struct loop *l, const struct plan *plan)
{
    struct owned *owned = calloc((size_t)l->slots + 1, sizeof *owned);
    uint32_t slots[LOOP_SLOTS];
    if (owned == NULL)
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    for (uint32_t k = 0; k < l->slots; k++) {
        owned[k].buffer = l->buffer[k];
        slots[k] = k;
    }
    struct binding b = binding_of(r, NULL);
    b.owned = owned;
    b.owned_slots = slots;
    const tarn_status s = execute_loop(r, plan, &b, l->scan->serials, l->scan->reversed != 0);
    free(owned);
    return s;
}

static tarn_status enqueue(const struct request *q, struct plan *plan)
{
    tarn_replica *r = q->replica;
    TRY(need_arena(r, plan->arena_bytes));
    if (q->loop != NULL)
        return run_loop(r, q->loop, plan);
    for (int i = 0; i < q->count; i++)
        TRY(buffer_new(r->context, plan->output_bytes[i], &q->buffers[i]));
    if (q->specs != NULL && !q->wanted && plan->specs != NULL)
        memcpy(q->specs, plan->specs, (size_t)q->count * sizeof *q->specs);
    r->metrics.exchanges += plan->exchanges;
    r->metrics.received_bytes += plan->received_bytes;
    const struct binding b = binding_of(r, q->buffers);
    return kept_values_run(r, r->plans->plans, plan, &b);
}

static tarn_status run(const struct request *q, struct plan *plan)
{
    trace_begin(q->replica->track, "enqueue");
    const tarn_status status = enqueue(q, plan);
    trace_end(q->replica->track);
    return status;
}

/* ---- the cache ------------------------------------------------------------------------------ */

/* How the step's owned tensors lie in memory: which share a piece, and where in it; and which were
 * kept. Not which slots they have: a kept tensor takes any that is free. */
static uint64_t hash_storage(tarn_replica *r)
{
    const bool may_fix = snapshot_may_fix(r);
    uint64_t h = 0;
    for (uint32_t i = 0; i < r->graph.owned_slot_count; i++) {
        const struct owned *o = &r->owned[r->graph.owned_slots[i]];
        const uint64_t memory = o->flat != 0 ? graph_owned_order(r, o->flat - 1) : i;
        const uint64_t lies[3] = { memory, o->offset,
                                   (uint64_t)(o->kind == OWNED_KEPT) << 1 |
                                       (may_fix && snapshot_is_fixed(r, o)) };
        h = XXH3_64bits_withSeed(lies, sizeof lies, h);
    }
    return h;
}

/* The graph's hash, what is asked of it, how the storage of owned tensors is laid out now, and
 * what of the target the environment sets. */
static void make_key(struct request *q)
{
    tarn_replica *r = q->replica;
    const struct target *t = &q->target;
    uint64_t h = q->loop != NULL ? 3 + 2 * q->loop->scan->node + q->loop->scan->unread
                 : q->effects    ? 1
                                 : 2;
    if (q->loop != NULL) {
        const struct scan_bits bits[] = { q->loop->scan->blocked,
                                          loop_blocked_slots(r, q->loop->scan) };
        h ^= XXH3_64bits(bits, sizeof bits);
    }
    for (int i = 0; i < q->count; i++)
        h = (h ^ q->outputs[i]) * 0x9e3779b97f4a7c15u;
    if (q->wanted)
        h ^= XXH3_64bits(q->specs, (size_t)q->count * sizeof *q->specs);
    h = (h ^ (q->specs == NULL ? 0 : q->wanted ? 1 : 2)) * 0x9e3779b97f4a7c15u;
    h = (h ^ hash_storage(r)) * 0x9e3779b97f4a7c15u;
    h = (h ^ r->recompute_bytes) * 0x9e3779b97f4a7c15u;
    h = (h ^ ((uint64_t)t->winograd << 2 | (uint64_t)t->items << 1 | t->fuse)) *
        0x9e3779b97f4a7c15u;
    q->key[0] = r->graph.hash[0] ^ h;
    q->key[1] = r->graph.hash[1] + (h << 1 | h >> 63);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

/* Makes room for one more. What still runs is waited for: compiling takes longer anyway. */
static tarn_status drop_oldest(tarn_replica *r)
{
    struct plan *oldest = r->plans->plans;
    if (HASH_COUNT(oldest) < PLANS_MOST + PLANS_EACH_LOOP * r->graph.scan_count)
        return TARN_OK;
    TRY(context_finish(r->context));
    HASH_DEL(r->plans->plans, oldest);
    plan_free(oldest);
    return TARN_OK;
}

static struct plan *known_plan(const struct request *q)
{
    struct plan_cache *cache = q->replica->plans;
    struct plan *plan;
    HASH_FIND(hh, cache->plans, q->key, sizeof plan->key, plan);
    if (plan != NULL) {
        q->replica->metrics.plan_hits++;
        HASH_DEL(cache->plans, plan);
        HASH_ADD(hh, cache->plans, key, sizeof plan->key, plan);
    }
    return plan;
}

/* ---- new plans ------------------------------------------------------------------------------ */

struct build {
    struct request *request;
    const struct program *program;
    struct plan *plan;
};

static void print_stages(const struct program_ir *ir)
{
    struct text lines = { 0 };
    if (env_debug("graph"))
        debug_graph(ir->module, &lines);
    if (env_debug("fuse"))
        debug_nests(ir, &lines);
    if (env_debug("cost"))
        debug_items(ir, &lines);
    if (env_debug("plan"))
        debug_values(ir, &lines);
    if (lines.length > 0)
        log_text(TARN_LOG_DEBUG, lines.data);
    text_free(&lines);
}

/* All OpenCL C of a plan: what heads every program, and the kernels, each distinct one once. */
static void print_kernels(const struct kernel_plan *plan)
{
    struct text all = { 0 };
    text_add(&all, "%s%s", kernel_head[0], kernel_head[1]);
    for (int i = 0; i < plan->kernel_count; i++) {
        const struct planned_kernel *k = &plan->kernels[i];
        int first = 0;
        while (strcmp(plan->kernels[first].function, k->function) != 0)
            first++;
        if (first == i)
            text_add(&all, "/* %s: %s */\n%s\n", k->name, k->about, k->source.data);
        else
            text_add(&all, "/* %s: %s: as %s */\n\n", k->name, k->about, plan->kernels[first].name);
    }
    if (!all.failed)
        log_text(TARN_LOG_DEBUG, all.data);
    text_free(&all);
}

static size_t temporaries_now(const tarn_replica *r)
{
    return r->plans->arena != NULL ? buffer_bytes(r->plans->arena) : 0;
}

static tarn_status check_memory(const struct build *b, const struct kernel_plan *compiled)
{
    tarn_replica *r = b->request->replica;
    const struct memory_need need =
        memory_need_of(r, b->program, compiled, b->plan->loop.steps, temporaries_now(r));
    return memory_need_check(r, &need, compiled);
}

static tarn_status build(void *arg)
{
    const struct build *b = arg;
    struct request *q = b->request;
    tarn_replica *r = q->replica;
    struct program program = *b->program;
    struct kernel_plan compiled = { 0 };
    tarn_status status = compile_place_samples(&program, &q->target.samples);
    if (status == TARN_OK)
        status = tune_products(r->context, &program, r->peers != NULL, &q->target);
    if (status == TARN_OK)
        status = recompute_fit(r, &q->target, temporaries_now(r), &program);
    if (status == TARN_OK)
        status = compile_program(&program, &q->target, &compiled);
    /* A loop's tensors lie elsewhere in each step, so there is nothing to measure it on. */
    if (status == TARN_OK && q->loop == NULL)
        status = tune_tiles(r, &program, &q->target, &compiled);
    if (status == TARN_OK)
        print_stages(compiled.ir);
    if (status == TARN_OK && env_debug("kernels"))
        print_kernels(&compiled);
    if (status == TARN_OK)
        status = check_memory(b, &compiled);
    if (status == TARN_OK)
        status = plan_make(r->context, &program, &compiled, b->plan);
    tune_free(&q->target);
    kernel_plan_free(&compiled);
    return status;
}

/* The plan was made of slots, but is found by their order of use: so it is to have that. */
static tarn_status bind_by_order(const tarn_replica *r, struct plan *plan)
{
    uint32_t *order = calloc((size_t)r->owned_count + 1, sizeof *order);
    if (order == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (uint32_t i = 0; i < r->graph.owned_slot_count; i++)
        order[r->graph.owned_slots[i]] = i;
    plan_renumber_owned(plan, order);
    free(order);
    return TARN_OK;
}

/* Pieces of loops' values become leaves, and the plan gets room for how its outputs lie. */
static tarn_status prepare_sharing(const struct request *q, struct plan *plan, struct program *p,
                                   struct node **pieces)
{
    TRY(loop_pieces(q->replica, p, pieces));
    if (q->specs == NULL || q->wanted)
        return TARN_OK;
    plan->specs = calloc((size_t)q->count + 1, sizeof *plan->specs);
    return plan->specs != NULL ? TARN_OK
                               : error_set(TARN_ERR_MEMORY, "compile: out of host memory");
}

static tarn_status compile_graph(struct request *q, struct plan *plan)
{
    struct snapshot s;
    struct local_program local = { 0 };
    struct build b = { .request = q, .program = &s.program, .plan = plan };
    struct node *pieces = NULL;
    tarn_status status = snapshot_take(q->replica, q->outputs, q->count, q->effects, &s);
    if (status == TARN_OK && replica_mesh(q->replica) != NULL) {
        status = prepare_sharing(q, plan, &s.program, &pieces);
        if (status == TARN_OK)
            status = local_program_make(q->replica, &s.program, q->wanted ? q->specs : NULL,
                                        plan->specs, &local);
        b.program = &local.sharded.program;
        plan->exchanges = (uint64_t)local.sharded.collectives;
        plan->received_bytes = (uint64_t)local.sharded.bytes;
    }
    if (status == TARN_OK)
        status = run_deep(build, &b);
    local_program_free(&local);
    snapshot_free(&s);
    free(pieces);
    if (status == TARN_OK)
        status = bind_by_order(q->replica, plan);
    return status;
}

static tarn_status compile_loop(struct request *q, struct plan *plan)
{
    struct loop_program p;
    struct shard_program local = { 0 };
    struct build b = { .request = q, .program = &p.program, .plan = plan };
    tarn_status status = loop_program_make(q->replica, q->loop->scan, &p);
    if (status == TARN_OK && replica_mesh(q->replica) != NULL) {
        status = loop_share(q->replica, q->loop, &p, &local, &plan->loop);
        b.program = &local.program;
    }
    if (status == TARN_OK)
        status = loop_table(q->replica, q->loop, &plan->loop);
    if (status == TARN_OK)
        status = run_deep(build, &b);
    shard_free(&local);
    loop_program_free(&p);
    return status;
}

/* The plan whose graph begins most like this one. */
static const struct outline *nearest_outline(const struct plan_cache *cache,
                                             const struct outline *now)
{
    const struct outline *best = NULL;
    for (const struct plan *p = cache->plans; p != NULL && now != NULL; p = p->hh.next)
        if (p->outline != NULL &&
            (best == NULL || outline_common(now, p->outline) >= outline_common(now, best)))
            best = p->outline;
    return best;
}

/* Some compilations are expected: training, evaluating, last batches; and as many more for each loop, which
 * divides a step into parts. Later ones are told of with their reason, the first few of a replica by themselves,
 * all with TARN_DEBUG=plan. */
static void tell_reason(const tarn_replica *r, const struct outline *now)
{
    const uint64_t number = r->metrics.plans_compiled + 1;
    const uint64_t expected = COMPILES_EXPECTED * (1 + (uint64_t)r->graph.scan_count);
    char reason[600];
    if (number <= expected)
        return;
    const bool debug = env_debug("plan");
    if (!debug && number > expected + REASONS_TOLD)
        return;
    outline_explain(now, nearest_outline(r->plans, now), reason, sizeof reason);
    /* A program that reads its loss and never marks a step records an ever longer one. */
    const bool no_mark = number - r->plans_before >= expected;
    log_print(
        debug ? TARN_LOG_DEBUG : TARN_LOG_INFO, "tarn: compilation %llu, in step %llu: %s%s%s",
        (unsigned long long)number, (unsigned long long)r->metrics.steps + 1, reason,
        no_mark ? "; so many in one step: is a tarn_step() missing?" : "",
        !debug && number == expected + REASONS_TOLD ? " (TARN_DEBUG=plan tells of all that follow)"
                                                    : "");
}

static tarn_status new_plan(struct request *q, struct plan **out)
{
    tarn_replica *r = q->replica;
    TRY(drop_oldest(r));
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    memcpy(plan->key, q->key, sizeof plan->key);
    plan->outline = outline_of(r, r->metrics.plans_compiled + 1);
    tell_reason(r, plan->outline);
    const tarn_status status = q->loop != NULL ? compile_loop(q, plan) : compile_graph(q, plan);
    if (status != TARN_OK) {
        plan_free(plan);
        return status;
    }
    HASH_ADD(hh, r->plans->plans, key, sizeof plan->key, plan);
    if (plan->hh.tbl == NULL) {
        plan_free(plan);
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    }
    r->metrics.plans_compiled++;
    r->metrics.compile_seconds += seconds_since(&start);
    *out = plan;
    return TARN_OK;
}

struct first_run {
    const struct request *request;
    struct plan *plan;
};

static tarn_status run_and_finish(void *arg)
{
    const struct first_run *f = arg;
    TRY(run(f->request, f->plan));
    return context_finish(f->request->replica->context);
}

/* Drivers finish kernels at their first launch, some of them in the thread that calls: that is
 * compilation too, so it has a large stack; wait and count it. */
static tarn_status run_first(const struct request *q, struct plan *plan)
{
    tarn_replica *r = q->replica;
    struct timespec start;
    struct first_run first = { q, plan };
    const double improved = context_counters(r->context).improve_seconds;
    clock_gettime(CLOCK_MONOTONIC, &start);
    TRY(run_deep(run_and_finish, &first));
    /* The step mark counts what it took to improve kernels that this plan shares with others. */
    r->metrics.compile_seconds +=
        seconds_since(&start) - (context_counters(r->context).improve_seconds - improved);
    if (env_debug("plan"))
        log_print(TARN_LOG_DEBUG,
                  "tarn: compiled plan %016llx at step %llu, plan number %llu, %.3f s of compiling "
                  "so far",
                  (unsigned long long)plan->key[0], (unsigned long long)r->step_count,
                  (unsigned long long)r->metrics.plans_compiled, r->metrics.compile_seconds);
    return TARN_OK;
}

static void tell_peers(tarn_replica *r, bool builds)
{
    if (r->peers != NULL && r->peers->builds != NULL)
        r->peers->builds(r, builds);
}

/* Whether what is asked for is computed with values of 64 bits. */
static tarn_status find_wide(const struct request *q, bool *wide)
{
    const tarn_replica *r = q->replica;
    const struct graph *g = &r->graph;
    *wide = false;
    if (!r->wide)
        return TARN_OK;
    const struct scan *s = q->loop != NULL ? q->loop->scan : NULL;
    return program_has_wide(
        &(struct program){ .nodes = g->nodes,
                           .count = g->count,
                           .operands = g->operands,
                           .outputs = s != NULL ? s->result : q->outputs,
                           .output_count = s != NULL ? (int)s->results : q->count,
                           .effects = q->effects },
        wide);
}

/* Runs the plan that is known, or compiles one first. */
static tarn_status find_and_run(struct request *q)
{
    bool wide;
    TRY(find_wide(q, &wide));
    TRY(device_target(context_device(q->replica->context), q->replica->winograd, wide, &q->target));
    make_key(q);
    struct plan *plan = known_plan(q);
    if (plan != NULL && q->loop != NULL)
        TRY(loop_begin(q->replica, q->loop, &plan->loop));
    if (plan != NULL)
        return run(q, plan);
    tell_peers(q->replica, true);
    trace_begin(q->replica->track, "compile");
    tarn_status status = new_plan(q, &plan);
    if (status == TARN_OK && q->loop != NULL)
        status = loop_begin(q->replica, q->loop, &plan->loop);
    tell_peers(q->replica, status == TARN_OK);
    if (status == TARN_OK)
        status = run_first(q, plan);
    trace_end(q->replica->track);
    tell_peers(q->replica, false);
    return status;
}

static tarn_status serve(struct request *q)
{
    tarn_replica *r = q->replica;
    if (r->plans == NULL)
        r->plans = calloc(1, sizeof *r->plans);
    return r->plans != NULL ? find_and_run(q)
                            : error_set(TARN_ERR_MEMORY, "compile: out of host memory");
}

static tarn_status execute_part(struct request *q)
{
    for (int i = 0; i < q->count; i++)
        q->buffers[i] = NULL;
    const tarn_status status = serve(q);
    for (int i = 0; status != TARN_OK && i < q->count; i++) {
        buffer_free(q->buffers[i]);
        q->buffers[i] = NULL;
    }
    return status;
}

tarn_status plan_execute_part(tarn_replica *r, const uint32_t *outputs, int count,
                              struct buffer **buffers, bool effects)
{
    struct request q = {
        .replica = r, .outputs = outputs, .count = count, .effects = effects, .buffers = buffers
    };
    return execute_part(&q);
}

tarn_status plan_execute_cut(tarn_replica *r, const uint32_t *outputs, int count,
                             struct buffer **buffers, struct spec *specs, bool wanted)
{
    struct request q = { .replica = r,
                         .outputs = outputs,
                         .count = count,
                         .buffers = buffers,
                         .specs = replica_mesh(r) != NULL ? specs : NULL,
                         .wanted = wanted && replica_mesh(r) != NULL };
    return execute_part(&q);
}

tarn_status plan_execute_loop(tarn_replica *r, struct loop *loop)
{
    struct request q = { .replica = r, .loop = loop };
    return serve(&q);
}

void plan_cache_free(struct plan_cache *cache)
{
    if (cache == NULL)
        return;
    struct plan *plan, *next;
    HASH_ITER(hh, cache->plans, plan, next)
    {
        HASH_DEL(cache->plans, plan);
        plan_free(plan);
    }
    buffer_free(cache->arena);
    free(cache);
}
