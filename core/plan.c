/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: compiled graphs, found again by hash, and run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

#include "debug.h"
#include "env.h"
#include "kernels.h"
#include "nest.h"
#include "plan.h"

struct plan_kernel {
    struct kernel *kernel;
    struct param *params;
    int param_count;
    int groups;
    char about[160];
};

struct plan {
    uint64_t key[2];
    struct program *program;
    struct plan_kernel *kernels;
    int kernel_count;
    struct kernel_arg *args; /* as many as the largest kernel takes */
    size_t arena_bytes;
    size_t *output_bytes;
    UT_hash_handle hh;
};

struct plan_cache {
    struct plan *plans;
    struct buffer *arena; /* one for all plans: the compute queue is in order */
};

/* ---- compiling ------------------------------------------------------------------------------------- */

static void plan_free(struct plan *plan)
{
    if (plan == NULL)
        return;
    for (int i = 0; i < plan->kernel_count; ++i) {
        kernel_free(plan->kernels[i].kernel);
        free(plan->kernels[i].params);
    }
    program_free(plan->program);
    free(plan->kernels);
    free(plan->args);
    free(plan->output_bytes);
    free(plan);
}

static tarn_status adopt_kernel(struct plan *plan, const struct kernel_ir *ir)
{
    struct plan_kernel *k = &plan->kernels[plan->kernel_count];
    TRY(kernel_new(plan->program, ir->name, &k->kernel));
    plan->kernel_count++;
    k->param_count = ir->param_count;
    k->groups = ir->groups;
    memcpy(k->about, ir->about, sizeof k->about);
    k->params = calloc((size_t)ir->param_count + 1, sizeof *k->params);
    if (k->params == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    if (ir->param_count > 0)
        memcpy(k->params, ir->params, (size_t)ir->param_count * sizeof *k->params);
    return TARN_OK;
}

/* Prints every kernel into one program: the driver's fixed cost of a build is paid once. */
static tarn_status build_program(struct context *c, struct program_ir *p, struct plan *plan)
{
    struct text source = { 0 };
    struct kernel_ir *kernels =
        arena_take(p->arena, (size_t)(p->kernel_count + 1) * sizeof *kernels);
    plan->kernels = calloc((size_t)p->kernel_count + 1, sizeof *plan->kernels);
    tarn_status status = kernels == NULL || plan->kernels == NULL
                             ? error_set(TARN_ERR_MEMORY, "compile: out of host memory")
                             : TARN_OK;
    text_add(&source, "%s%s", (const char *)kernel_text_prelude, (const char *)kernel_text_random);
    for (int i = 0; status == TARN_OK && i < p->kernel_count; ++i) {
        snprintf(kernels[i].name, sizeof kernels[i].name, "k%d", i);
        debug_name_kernel(p, i, kernels[i].about, sizeof kernels[i].about);
        text_add(&source, "/* %s */\n", kernels[i].about);
        status = print_kernel(p, i, &source, &kernels[i]);
    }
    char label[64];
    snprintf(label, sizeof label, "plan %016llx", (unsigned long long)plan->key[0]);
    if (status == TARN_OK && env_debug("kernels"))
        fprintf(stderr, "%s\n", source.data);
    if (status == TARN_OK && p->kernel_count > 0)
        status = program_build(c, source.data, label, &plan->program);
    int most = 0;
    for (int i = 0; status == TARN_OK && i < p->kernel_count; ++i) {
        status = adopt_kernel(plan, &kernels[i]);
        most = kernels[i].param_count > most ? kernels[i].param_count : most;
    }
    plan->args = calloc((size_t)most + 1, sizeof *plan->args);
    if (status == TARN_OK && plan->args == NULL)
        status = error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    text_free(&source);
    return status;
}

static tarn_status compile(tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                           struct arena *a, struct plan *plan)
{
    struct module m;
    struct program_ir p = { .arena = a, .module = &m, .fuse = env_number(ENV_FUSE) != 0 };
    TRY(simplify(r, outputs, count, effects, a, &m));
    shard(&m);
    choose_stored(&m, p.fuse);
    debug_graph(&m);
    TRY(lower(&p, r));
    TRY(fuse(&p, r));
    schedule(&p);
    memplan(&p);
    if (a->failed)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    debug_plan(&p);
    plan->arena_bytes = p.arena_bytes;
    plan->output_bytes = calloc((size_t)count + 1, sizeof *plan->output_bytes);
    if (plan->output_bytes == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < count; ++i) {
        const struct node *n = &r->graph.nodes[outputs[i]];
        plan->output_bytes[i] = (size_t)tarn_shape_count(n->shape) * tarn_dtype_bytes(n->dtype);
    }
    return build_program(r->context, &p, plan);
}

/* ---- running ----------------------------------------------------------------------------------------- */

static tarn_status run_kernel(tarn_replica *r, const struct plan *plan, const struct plan_kernel *k,
                              struct buffer **outputs)
{
    const uint64_t key = random_key_number(r->seed, r->step_count);
    for (int i = 0; i < k->param_count; ++i) {
        const struct param *p = &k->params[i];
        struct kernel_arg *a = &plan->args[i];
        *a = (struct kernel_arg){ .size = sizeof(void *) };
        switch (p->kind) {
        case PARAM_ARENA:
            a->buffer = r->plans->arena;
            break;
        case PARAM_INPUT:
            a->buffer = r->graph.inputs[p->slot].buffer;
            break;
        case PARAM_OWNED:
            a->buffer = r->owned[p->slot].buffer;
            break;
        case PARAM_OUTPUT:
            a->buffer = outputs[p->slot];
            break;
        case PARAM_NUMBER:
            a->size = sizeof(float);
            a->value.f32 = r->graph.numbers[p->slot];
            break;
        case PARAM_KEY:
            a->size = sizeof(uint64_t);
            a->value.u64 = key;
            break;
        }
    }
    struct timespec before, after;
    const bool timed = env_debug("time");
    if (timed)
        clock_gettime(CLOCK_MONOTONIC, &before);
    TRY(kernel_launch(k->kernel, plan->args, k->param_count, (size_t)k->groups, 1));
    ++r->metrics.launches;
    if (timed) {
        TRY(context_finish(r->context));
        clock_gettime(CLOCK_MONOTONIC, &after);
        fprintf(stderr, "tarn: time %8.1f us  %s: %s\n",
                (double)(after.tv_sec - before.tv_sec) * 1e6 +
                    (double)(after.tv_nsec - before.tv_nsec) * 1e-3,
                kernel_name(k->kernel), k->about);
    }
    return TARN_OK;
}

static tarn_status run(tarn_replica *r, const struct plan *plan, int count, struct buffer **buffers)
{
    if (plan->arena_bytes > 0 && (r->plans->arena == NULL ||
                                  buffer_bytes(r->plans->arena) < plan->arena_bytes)) {
        buffer_free(r->plans->arena);
        r->plans->arena = NULL;
        TRY(buffer_new(r->context, plan->arena_bytes, &r->plans->arena));
    }
    for (int i = 0; i < count; ++i)
        TRY(buffer_new(r->context, plan->output_bytes[i], &buffers[i]));
    for (int i = 0; i < plan->kernel_count; ++i)
        TRY(run_kernel(r, plan, &plan->kernels[i], buffers));
    return context_flush(r->context);
}

/* ---- the cache ------------------------------------------------------------------------------------------ */

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
    key[0] = r->graph.hash[0] ^ h;
    key[1] = r->graph.hash[1] + (h << 1 | h >> 63);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static tarn_status find_plan(tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                             struct plan **out)
{
    struct plan_cache *cache = r->plans;
    uint64_t key[2];
    make_key(r, outputs, count, effects, key);
    HASH_FIND(hh, cache->plans, key, sizeof key, *out);
    if (*out != NULL) {
        ++r->metrics.plan_hits;
        return TARN_OK;
    }
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    memcpy(plan->key, key, sizeof key);
    struct arena a = { 0 };
    const tarn_status status = compile(r, outputs, count, effects, &a, plan);
    arena_free(&a);
    if (status != TARN_OK) {
        plan_free(plan);
        return status;
    }
    HASH_ADD(hh, cache->plans, key, sizeof plan->key, plan);
    ++r->metrics.plans_compiled;
    r->metrics.compile_seconds += seconds_since(&start);
    *out = plan;
    return TARN_OK;
}

/* Drivers finish kernels at their first launch: that is compilation too, so wait and count it. */
static tarn_status run_first(tarn_replica *r, const struct plan *plan, int count,
                             struct buffer **buffers)
{
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    TRY(run(r, plan, count, buffers));
    TRY(context_finish(r->context));
    r->metrics.compile_seconds += seconds_since(&start);
    debug_compiled(r, plan->key[0], r->metrics.compile_seconds);
    return TARN_OK;
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
    struct plan *plan;
    const uint64_t compiled = r->metrics.plans_compiled;
    TRY(find_plan(r, outputs, count, effects, &plan));
    tarn_status status;
    if (r->metrics.plans_compiled == compiled)
        status = run(r, plan, count, buffers);
    else
        status = run_first(r, plan, count, buffers);
    for (int i = 0; status != TARN_OK && i < count; ++i) {
        buffer_free(buffers[i]);
        buffers[i] = NULL;
    }
    return status;
}

void plan_cache_free(struct plan_cache *cache)
{
    if (cache == NULL)
        return;
    struct plan *plan, *next;
    HASH_ITER(hh, cache->plans, plan, next) {
        HASH_DEL(cache->plans, plan);
        plan_free(plan);
    }
    buffer_free(cache->arena);
    free(cache);
}
