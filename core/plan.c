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

/* A matrix product by a library, with the buffers it reads and writes as parameters. */
struct plan_product {
    struct product shape;
    struct param param[3]; /* a, b, c */
    size_t offset[3];      /* bytes */
};

struct plan_kernel {
    struct plan_product *products; /* to run beside the kernel */
    int product_count;
    struct kernel *kernel; /* NULL when there are only products */
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

/* ---- compiling
 * ------------------------------------------------------------------------------------- */

static void plan_free(struct plan *plan)
{
    if (plan == NULL)
        return;
    for (int i = 0; i < plan->kernel_count; ++i) {
        kernel_free(plan->kernels[i].kernel);
        free(plan->kernels[i].params);
        free(plan->kernels[i].products);
    }
    program_free(plan->program);
    free(plan->kernels);
    free(plan->args);
    free(plan->output_bytes);
    free(plan);
}

static void place_of(const struct program_ir *p, int value, struct plan_product *out, int i)
{
    static const enum param_kind kinds[] = { [PLACE_ARENA] = PARAM_ARENA,
                                             [PLACE_INPUT] = PARAM_INPUT,
                                             [PLACE_OWNED] = PARAM_OWNED,
                                             [PLACE_OUTPUT] = PARAM_OUTPUT };
    const struct value *v = &p->values[value];
    out->param[i] = (struct param){ .kind = kinds[v->place], .slot = v->slot };
    out->offset[i] = v->offset;
}

static tarn_status adopt_products(const struct program_ir *p, int kernel, struct plan_kernel *k)
{
    k->products = calloc((size_t)p->nest_count + 1, sizeof *k->products);
    if (k->products == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; ++i) {
        const struct nest *n = &p->nests[i];
        if (n->kernel != kernel || !n->is_product)
            continue;
        struct plan_product *out = &k->products[k->product_count++];
        out->shape = n->product;
        place_of(p, n->product.a, out, 0);
        place_of(p, n->product.b, out, 1);
        place_of(p, n->store[0].value, out, 2);
    }
    return TARN_OK;
}

static tarn_status adopt_kernel(const struct program_ir *p, struct plan *plan,
                                const struct kernel_ir *ir)
{
    const int index = plan->kernel_count++;
    struct plan_kernel *k = &plan->kernels[index];
    TRY(adopt_products(p, index, k));
    if (ir->groups > 0)
        TRY(kernel_new(plan->program, ir->name, &k->kernel));
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
        status = adopt_kernel(p, plan, &kernels[i]);
        most = kernels[i].param_count > most ? kernels[i].param_count : most;
    }
    plan->args = calloc((size_t)most + 1, sizeof *plan->args);
    if (status == TARN_OK && plan->args == NULL)
        status = error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    text_free(&source);
    return status;
}

static tarn_status compile(const tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                           bool products, struct arena *a, struct plan *plan)
{
    struct module m;
    struct program_ir p = {
        .arena = a, .module = &m, .fuse = env_number(ENV_FUSE) != 0, .products = products
    };
    TRY(simplify(r, outputs, count, effects, a, &m));
    shard(&m, r);
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

/* ---- running
 * ----------------------------------------------------------------------------------------- */

static struct buffer *buffer_of(const tarn_replica *r, const struct param *p,
                                struct buffer **outputs)
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
    case PARAM_NUMBER:
    case PARAM_KEY:
        break;
    }
    return NULL;
}

static tarn_status run_products(tarn_replica *r, const struct plan_kernel *k,
                                struct buffer **outputs)
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
            .a = buffer_of(r, &p->param[0], outputs),
            .b = buffer_of(r, &p->param[1], outputs),
            .c = buffer_of(r, &p->param[2], outputs),
            .a_offset = p->offset[0] / sizeof(float),
            .b_offset = p->offset[1] / sizeof(float),
            .c_offset = p->offset[2] / sizeof(float),
            .a_stride = s->m * s->k,
            .b_stride = s->k * s->n,
            .c_stride = s->m * s->n,
        };
        TRY(gemm_clblast.run(r->context, &g, NULL));
    }
    return TARN_OK;
}

static tarn_status run_kernel(tarn_replica *r, const struct plan *plan, const struct plan_kernel *k,
                              struct buffer **outputs)
{
    TRY(run_products(r, k, outputs));
    if (k->kernel == NULL)
        return TARN_OK;
    const uint64_t key =
        random_key_number(random_key_number(r->seed, r->step_count), r->side_steps);
    for (int i = 0; i < k->param_count; ++i) {
        const struct param *p = &k->params[i];
        struct kernel_arg *a = &plan->args[i];
        *a = (struct kernel_arg){ .size = sizeof(void *) };
        a->buffer = buffer_of(r, p, outputs);
        if (p->kind == PARAM_NUMBER) {
            a->size = sizeof(float);
            a->value.f32 = r->graph.numbers[p->slot];
        } else if (p->kind == PARAM_KEY) {
            a->size = sizeof(uint64_t);
            a->value.u64 = key;
        }
    }
    struct timespec before, after;
    const bool timed = env_debug("time");
    if (timed)
        clock_gettime(CLOCK_MONOTONIC, &before);
    TRY(kernel_launch(k->kernel, plan->args, k->param_count, (size_t)k->groups, 1));
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
    for (int i = 0; i < plan->kernel_count; ++i)
        TRY(run_kernel(r, plan, &plan->kernels[i], buffers));
    return context_flush(r->context);
}

/* ---- the cache
 * ------------------------------------------------------------------------------------------ */

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
    const tarn_status status = compile(r, outputs, count, effects, true, &a, plan);
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

/* ---- measuring a product as a nest
 * ----------------------------------------------------------------- */

struct nest_product {
    tarn_replica *scratch; /* shares the context */
    struct plan *plan;
};

static tarn_status run_nest_product(struct context *c, const struct gemm *g, void *user)
{
    struct nest_product *n = user;
    struct buffer *out = g->c;
    (void)c;
    n->scratch->graph.inputs[0].buffer = g->a;
    n->scratch->graph.inputs[1].buffer = g->b;
    for (int i = 0; i < n->plan->kernel_count; ++i)
        TRY(run_kernel(n->scratch, n->plan, &n->plan->kernels[i], &out));
    return TARN_OK;
}

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

static tarn_status prepare_product(const tarn_replica *r, struct gemm *g, struct nest_product *n)
{
    struct arena a = { 0 };
    uint32_t node = 0;
    TRY(buffer_new(r->context, g->batch * g->m * g->k * sizeof(float), &g->a));
    TRY(buffer_new(r->context, g->batch * g->k * g->n * sizeof(float), &g->b));
    TRY(buffer_new(r->context, g->batch * g->m * g->n * sizeof(float), &g->c));
    TRY(buffer_fill_zero(g->a, 0, buffer_bytes(g->a)));
    TRY(buffer_fill_zero(g->b, 0, buffer_bytes(g->b)));
    n->scratch = calloc(1, sizeof *n->scratch);
    n->plan = calloc(1, sizeof *n->plan);
    if (n->scratch == NULL || n->plan == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    n->scratch->context = r->context;
    n->scratch->step = 1;
    n->scratch->plans = r->plans;
    TRY(record_product(n->scratch, g, &node));
    const tarn_status status = compile(n->scratch, &node, 1, false, false, &a, n->plan);
    arena_free(&a);
    TRY(status);
    return need_arena(r, n->plan->arena_bytes);
}

tarn_status choose_product(const tarn_replica *r, const struct product *shape, bool *library)
{
    struct gemm g = { .m = shape->m,
                      .n = shape->n,
                      .k = shape->k,
                      .batch = shape->batch,
                      .transpose_a = shape->transpose_a,
                      .transpose_b = shape->transpose_b,
                      .a_stride = shape->m * shape->k,
                      .b_stride = shape->k * shape->n,
                      .c_stride = shape->m * shape->n };
    struct nest_product nest = { 0 };
    const struct gemm_provider providers[] = {
        { .name = "nest", .run = run_nest_product, .user = &nest }, gemm_clblast
    };
    int chosen = 0;
    *library = false;
    if (strcmp(env_text(ENV_GEMM), "nest") == 0)
        return TARN_OK;
    tarn_status status = prepare_product(r, &g, &nest);
    if (status == TARN_OK)
        status = gemm_choose(r->context, &g, providers, 2, &chosen);
    *library = chosen == 1;
    buffer_free(g.a);
    buffer_free(g.b);
    buffer_free(g.c);
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
