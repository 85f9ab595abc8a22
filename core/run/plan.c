/* SPDX-License-Identifier: Apache-2.0 */
/* Plans found again by hash, and run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compile/2_nests/nest_passes.h"
#include "compile/debug.h"
#include "run/plan.h"
#include "run/profile.h"
#include "tensor/random.h"
#include "tensor/spread.h"
#include "deep.h"
#include "env.h"

/* Of the programs of one kernel PoCL takes 1.2 MB each. */
#define PLANS_MOST 24

struct plan_cache {
    struct plan *plans;   /* the least recently used first */
    struct buffer *arena; /* one for all plans: the compute queue is in order */
};

/* ---- running
 * ----------------------------------------------------------------------------------------- */

static struct buffer *buffer_of(const tarn_replica *r, const struct plan *plan,
                                const struct param *p, struct buffer **outputs)
{
    switch (p->kind) {
    case PARAM_ARENA:
        return r->plans->arena;
    case PARAM_INPUT:
        return r->graph.inputs[p->slot].buffer;
    case PARAM_OWNED:
        return r->owned[p->slot].buffer;
    case PARAM_OUTPUT:
        return outputs[p->slot];
    case PARAM_SHARED:
        return shared_buffer(plan->shared[p->slot]);
    case PARAM_NUMBER:
    case PARAM_KEY:
    case PARAM_RANK:
        break;
    }
    return NULL;
}

/* By choose_product()'s numbers; a nest is a kernel of the plan. */
static const struct gemm_provider *const providers[] = { NULL, &gemm_tarn, &gemm_clblast };
enum { PROVIDERS = sizeof providers / sizeof *providers };

static tarn_status run_products(tarn_replica *r, const struct plan *plan,
                                const struct plan_kernel *k, struct buffer **outputs)
{
    for (int i = 0; i < k->product_count; ++i) {
        const struct plan_product *p = &k->products[i];
        const struct product *s = &p->shape;
        const struct gemm g = {
            .m = s->m,
            .n = s->n,
            .k = s->k,
            .batch = s->batch,
            .transpose_a = s->transpose_a,
            .transpose_b = s->transpose_b,
            .a = buffer_of(r, plan, &p->param[0], outputs),
            .b = buffer_of(r, plan, &p->param[1], outputs),
            .c = buffer_of(r, plan, &p->param[2], outputs),
            .a_offset = p->offset[0] / sizeof(float),
            .b_offset = p->offset[1] / sizeof(float),
            .c_offset = p->offset[2] / sizeof(float),
            .a_stride = s->m * s->k,
            .b_stride = s->k * s->n,
            .c_stride = s->m * s->n,
        };
        const struct gemm_provider *by = providers[s->provider];
        TRY(by->run(r->context, &g, by->user));
    }
    return TARN_OK;
}

static tarn_status launch(tarn_replica *r, const struct plan *plan, const struct plan_kernel *k,
                          struct buffer **outputs)
{
    TRY(run_products(r, plan, k, outputs));
    if (k->kernel == NULL)
        return TARN_OK;
    const uint64_t key = random_key_now(r);
    for (int i = 0; i < k->param_count; ++i) {
        const struct param *p = &k->params[i];
        struct kernel_arg *a = &plan->args[i];
        *a = (struct kernel_arg){ .size = sizeof(void *) };
        a->buffer = buffer_of(r, plan, p, outputs);
        if (p->kind == PARAM_NUMBER) {
            a->size = sizeof(float);
            a->value.f32 = r->graph.numbers[p->slot];
        } else if (p->kind == PARAM_KEY) {
            a->size = sizeof(uint64_t);
            a->value.u64 = key;
        } else if (p->kind == PARAM_RANK) {
            a->size = sizeof(uint32_t);
            a->value.u32 = r->peers != NULL ? (uint32_t)r->peers->rank : 0;
        }
    }
    return kernel_launch(k->kernel, plan->args, k->param_count, (size_t)k->groups,
                         (size_t)plan->local);
}

static tarn_status run_kernel(tarn_replica *r, const struct plan *plan, const struct plan_kernel *k,
                              struct buffer **outputs)
{
    struct profiling before;
    if (!profile_wanted(r))
        return launch(r, plan, k, outputs);
    TRY(profile_begin(r, &before));
    TRY(launch(r, plan, k, outputs));
    return profile_end(r, &before, k);
}

static tarn_status run_call(tarn_replica *r, const struct plan *plan, const struct plan_call *k)
{
    const queue_mark ready = k->ready < 0 ? 0 : plan->after[k->ready];
    struct call_run run = { .replica = r, .arg = k->arg, .dtype = k->dtype, .count = k->count };
    TRY(context_flush(r->context));
    TRY(shared_begin(k->in, ready, true, &run.in));
    run.out = run.in;
    tarn_status status = TARN_OK;
    if (k->out != k->in)
        status = shared_begin(k->out, ready, false, &run.out);
    if (status == TARN_OK)
        status = k->op->call(&run);
    /* The memory is given back also after a failure, whose line must survive that. */
    char line[960];
    if (status != TARN_OK)
        snprintf(line, sizeof line, "%s", error_text());
    tarn_status ended = shared_end(k->in, k->out == k->in && status == TARN_OK);
    if (k->out != k->in && ended == TARN_OK)
        ended = shared_end(k->out, status == TARN_OK);
    return status != TARN_OK ? error_set(status, "%s", line) : ended;
}

/* Runs what kernel `next` needs. All replicas run their calls in one order, and as late as possible,
 * so that the device computes on meanwhile. */
static tarn_status run_calls(tarn_replica *r, const struct plan *plan, int *called, int next)
{
    int last = *called;
    for (int i = *called; i < plan->call_count; ++i)
        if (plan->calls[i].due <= next)
            last = i + 1;
    for (; *called < last; ++*called)
        TRY(run_call(r, plan, &plan->calls[*called]));
    return TARN_OK;
}

static tarn_status need_arena(const tarn_replica *r, size_t bytes)
{
    struct buffer **arena = &r->plans->arena;
    if (bytes == 0 || (*arena != NULL && buffer_bytes(*arena) >= bytes))
        return TARN_OK;
    buffer_free(*arena);
    *arena = NULL;
    return buffer_new(r->context, bytes, arena);
}

static tarn_status run(tarn_replica *r, const struct plan *plan, int count, struct buffer **buffers)
{
    TRY(need_arena(r, plan->arena_bytes));
    for (int i = 0; i < count; ++i)
        TRY(buffer_new(r->context, plan->output_bytes[i], &buffers[i]));
    int called = 0;
    for (int i = 0; i < plan->kernel_count; ++i) {
        TRY(run_calls(r, plan, &called, i));
        TRY(run_kernel(r, plan, &plan->kernels[i], buffers));
        TRY(context_mark(r->context, &plan->after[i]));
    }
    TRY(run_calls(r, plan, &called, plan->kernel_count));
    return context_flush(r->context);
}

/* ---- the cache
 * ------------------------------------------------------------------------------------------ */

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text != '\0'; ++text)
        h = (h ^ (unsigned char)*text) * 0x9e3779b97f4a7c15u;
    return h;
}

/* The graph's hash, what is asked of it, and how the storage of owned tensors is laid out now. */
static void make_key(const tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                     uint64_t key[2])
{
    uint64_t h = effects ? 1 : 2;
    for (int i = 0; i < count; ++i)
        h = (h ^ outputs[i]) * 0x9e3779b97f4a7c15u;
    uint64_t flat = 0;
    for (uint32_t i = 0; i < r->owned_count; ++i)
        flat += r->owned[i].flat != 0;
    h = (h ^ flat) * 0x9e3779b97f4a7c15u + (env_number(ENV_FUSE) != 0);
    h = hash_text(h, env_text(ENV_SCHEDULE));
    h = hash_text(h, env_text(ENV_WINOGRAD));
    key[0] = r->graph.hash[0] ^ h;
    key[1] = r->graph.hash[1] + (h << 1 | h >> 63);
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
    if (HASH_COUNT(oldest) < PLANS_MOST)
        return TARN_OK;
    TRY(context_finish(r->context));
    HASH_DEL(r->plans->plans, oldest);
    plan_free(oldest);
    return TARN_OK;
}

static struct plan *known_plan(tarn_replica *r, const uint64_t key[2])
{
    struct plan_cache *cache = r->plans;
    struct plan *plan;
    HASH_FIND(hh, cache->plans, key, sizeof plan->key, plan);
    if (plan != NULL) {
        ++r->metrics.plan_hits;
        HASH_DEL(cache->plans, plan);
        HASH_ADD(hh, cache->plans, key, sizeof plan->key, plan);
    }
    return plan;
}

static tarn_status new_plan(tarn_replica *r, const uint64_t key[2], const uint32_t *outputs,
                            int count, bool effects, struct plan **out)
{
    TRY(drop_oldest(r));
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    memcpy(plan->key, key, sizeof plan->key);
    const tarn_status status = plan_build(r, outputs, count, effects, true, plan);
    if (status != TARN_OK) {
        plan_free(plan);
        return status;
    }
    HASH_ADD(hh, r->plans->plans, key, sizeof plan->key, plan);
    if (plan->hh.tbl == NULL) {
        plan_free(plan);
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    }
    ++r->metrics.plans_compiled;
    r->metrics.compile_seconds += seconds_since(&start);
    *out = plan;
    return TARN_OK;
}

struct first_run {
    tarn_replica *replica;
    const struct plan *plan;
    int count;
    struct buffer **buffers;
};

static tarn_status run_and_finish(void *arg)
{
    const struct first_run *f = arg;
    TRY(run(f->replica, f->plan, f->count, f->buffers));
    return context_finish(f->replica->context);
}

/* Drivers finish kernels at their first launch, some of them in the thread that calls: that is
 * compilation too, so it has a large stack; wait and count it. */
static tarn_status run_first(tarn_replica *r, const struct plan *plan, int count,
                             struct buffer **buffers)
{
    struct timespec start;
    struct first_run first = { r, plan, count, buffers };
    clock_gettime(CLOCK_MONOTONIC, &start);
    TRY(run_deep(run_and_finish, &first));
    r->metrics.compile_seconds += seconds_since(&start);
    debug_compiled(r, plan->key[0], r->metrics.compile_seconds);
    return TARN_OK;
}

static void tell_peers(tarn_replica *r, bool builds)
{
    if (r->peers != NULL && r->peers->builds != NULL)
        r->peers->builds(r, builds);
}

/* Runs the plan that is known, or compiles one first. */
static tarn_status find_and_run(tarn_replica *r, const uint32_t *outputs, int count,
                                struct buffer **buffers, bool effects)
{
    uint64_t key[2];
    make_key(r, outputs, count, effects, key);
    struct plan *plan = known_plan(r, key);
    if (plan != NULL)
        return run(r, plan, count, buffers);
    tell_peers(r, true);
    tarn_status status = new_plan(r, key, outputs, count, effects, &plan);
    if (status == TARN_OK)
        status = run_first(r, plan, count, buffers);
    tell_peers(r, false);
    return status;
}

tarn_status plan_execute(tarn_replica *r, const uint32_t *outputs, int count,
                         struct buffer **buffers, bool effects)
{
    for (int i = 0; i < count; ++i)
        buffers[i] = NULL;
    if (r->plans == NULL) {
        r->plans = calloc(1, sizeof *r->plans);
        if (r->plans == NULL)
            return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    }
    const tarn_status status = find_and_run(r, outputs, count, buffers, effects);
    for (int i = 0; status != TARN_OK && i < count; ++i) {
        buffer_free(buffers[i]);
        buffers[i] = NULL;
    }
    return status;
}

/* ---- measuring a product as a nest
 * ----------------------------------------------------------------- */

struct nest_product {
    const tarn_replica *replica;
    tarn_replica *scratch; /* shares the context; NULL before the first run */
    struct plan *plan;
};

static tarn_status record_product(tarn_replica *r, const struct gemm *g, uint32_t *node)
{
    const int32_t b = (int32_t)g->batch, m = (int32_t)g->m, n = (int32_t)g->n, k = (int32_t)g->k;
    const tarn_tensor in[2] = {
        graph_input(r, g->a, NULL, false,
                    g->transpose_a ? TARN_SHAPE(b, k, m) : TARN_SHAPE(b, m, k), TARN_F32),
        graph_input(r, g->b, NULL, false,
                    g->transpose_b ? TARN_SHAPE(b, n, k) : TARN_SHAPE(b, k, n), TARN_F32)
    };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.matmul.transpose[0] = g->transpose_a;
    arg.matmul.transpose[1] = g->transpose_b;
    *node = graph_record(r, &op_matmul, in, 2, TARN_SHAPE(b, m, n), TARN_F32, &arg).node;
    return *node != 0 ? TARN_OK : r->status;
}

static tarn_status prepare_product(const struct gemm *g, struct nest_product *n)
{
    const tarn_replica *r = n->replica;
    uint32_t node = 0;
    n->scratch = calloc(1, sizeof *n->scratch);
    n->plan = calloc(1, sizeof *n->plan);
    if (n->scratch == NULL || n->plan == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    n->scratch->context = r->context;
    n->scratch->step = 1;
    n->scratch->plans = r->plans;
    TRY(record_product(n->scratch, g, &node));
    TRY(plan_build(n->scratch, &node, 1, false, false, n->plan));
    return need_arena(r, n->plan->arena_bytes);
}

static tarn_status run_nest_product(struct context *c, const struct gemm *g, void *user)
{
    struct nest_product *n = user;
    struct buffer *out = g->c;
    (void)c;
    if (n->scratch == NULL)
        TRY(prepare_product(g, n));
    n->scratch->graph.inputs[0].buffer = g->a;
    n->scratch->graph.inputs[1].buffer = g->b;
    for (int i = 0; i < n->plan->kernel_count; ++i)
        TRY(run_kernel(n->scratch, n->plan, &n->plan->kernels[i], &out));
    return TARN_OK;
}

tarn_status choose_product(const tarn_replica *r, const struct product *shape, int *provider)
{
    const struct gemm g = { .m = shape->m,
                            .n = shape->n,
                            .k = shape->k,
                            .batch = shape->batch,
                            .transpose_a = shape->transpose_a,
                            .transpose_b = shape->transpose_b,
                            .a_stride = shape->m * shape->k,
                            .b_stride = shape->k * shape->n,
                            .c_stride = shape->m * shape->n };
    if (shape->sums_batch) {
        /* Not measured: alone, this nest is not what it is between others. */
        *provider = gemm_tarn_sums(r->context, &g) ? 1 : 0;
        return TARN_OK;
    }
    struct nest_product nest = { .replica = r };
    struct gemm_provider list[PROVIDERS] = {
        { .name = "nest", .run = run_nest_product, .user = &nest, .serial = true }
    };
    for (int i = 1; i < PROVIDERS; ++i)
        list[i] = *providers[i];
    /* Replicas must compute alike, whatever each would measure as faster. */
    const bool serial = r->peers != NULL;
    const tarn_status status = gemm_choose(r->context, &g, list, PROVIDERS, serial, provider);
    plan_free(nest.plan);
    if (nest.scratch != NULL)
        graph_release(&nest.scratch->graph);
    free(nest.scratch);
    return status;
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
