/* SPDX-License-Identifier: Apache-2.0 */
/* From a recorded graph to a plan: the passes in order, one program, and what each kernel takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/nest_passes.h"
#include "compile/3_kernels/fuse.h"
#include "compile/4_schedule/schedule.h"
#include "compile/5_memory/memory_passes.h"
#include "compile/debug.h"
#include "run/plan_build.h"
#include "tensor/replica.h"
#include "deep.h"
#include "env.h"
#include "kernels.h"

void plan_free(struct plan *plan)
{
    if (plan == NULL)
        return;
    for (int i = 0; i < plan->kernel_count; ++i) {
        kernel_free(plan->kernels[i].kernel);
        free(plan->kernels[i].params);
        free(plan->kernels[i].products);
    }
    program_free(plan->program);
    for (int i = 0; i < plan->shared_count; ++i)
        shared_free(plan->shared[i]);
    free(plan->shared);
    free(plan->calls);
    free(plan->after);
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
                                             [PLACE_OUTPUT] = PARAM_OUTPUT,
                                             [PLACE_SHARED] = PARAM_SHARED };
    const struct value *v = &p->values[value];
    out->param[i] = (struct param){ .kind = kinds[v->place], .slot = v->slot };
    out->offset[i] = v->offset;
}

static tarn_status adopt_products(const struct program_ir *p, int kernel, struct plan_kernel *k)
{
    size_t count = 0;
    for (int i = 0; i < p->nest_count; ++i)
        count += p->nests[i].kernel == kernel && p->nests[i].kind == NEST_PRODUCT;
    k->products = calloc(count + 1, sizeof *k->products);
    if (k->products == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; ++i) {
        const struct nest *n = &p->nests[i];
        if (n->kernel != kernel || n->kind != NEST_PRODUCT)
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
    if (!kernel_cost(p, index, &k->cost))
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    k->params = calloc((size_t)ir->param_count + 1, sizeof *k->params);
    if (k->params == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    if (ir->param_count > 0)
        memcpy(k->params, ir->params, (size_t)ir->param_count * sizeof *k->params);
    return TARN_OK;
}

static int by_readiness(const void *a, const void *b)
{
    const struct plan_call *x = a, *y = b;
    if (x->ready != y->ready)
        return x->ready < y->ready ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The first kernel that reads a value after the call has written it. */
static int first_reader(const struct program_ir *p, const struct nest *call)
{
    int first = p->kernel_count;
    for (int i = 0; i < p->nest_count; ++i) {
        const struct nest *n = &p->nests[i];
        for (int e = 0; n != call && e < n->expr_count; ++e)
            if (n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.value == call->store[0].value &&
                n->kernel < first)
                first = n->kernel;
    }
    return first;
}

static tarn_status adopt_calls(struct context *c, const struct program_ir *p, struct plan *plan)
{
    plan->after = calloc((size_t)p->kernel_count + 1, sizeof *plan->after);
    plan->shared = calloc(p->shared_count + 1, sizeof(struct shared *));
    plan->calls = calloc((size_t)p->nest_count + 1, sizeof *plan->calls);
    if (plan->after == NULL || plan->shared == NULL || plan->calls == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->value_count; ++i)
        if (p->values[i].place == PLACE_SHARED)
            TRY(shared_new(c, p->values[i].bytes, &plan->shared[plan->shared_count++]));
    for (int i = 0; i < p->nest_count; ++i) {
        const struct nest *n = &p->nests[i];
        if (n->kind != NEST_CALL)
            continue;
        const struct value *in = &p->values[n->call.in];
        plan->calls[plan->call_count++] =
            (struct plan_call){ .op = n->call.op,
                                .arg = n->call.arg,
                                .dtype = in->dtype,
                                .count = (size_t)tarn_shape_count(in->shape),
                                .in = plan->shared[in->slot],
                                .out = plan->shared[p->values[n->store[0].value].slot],
                                .ready = n->kernel - 1,
                                .due = first_reader(p, n),
                                .order = i };
    }
    qsort(plan->calls, (size_t)plan->call_count, sizeof *plan->calls, by_readiness);
    return TARN_OK;
}

/* Prints every kernel into one program: the driver's fixed cost of a build is paid once. */
static tarn_status build_program(struct context *c, struct program_ir *p, struct plan *plan)
{
    struct text source = { 0 };
    TRY(adopt_calls(c, p, plan));
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
    struct program_ir p = { .arena = a,
                            .module = &m,
                            .fuse = env_number(ENV_FUSE) != 0,
                            .products = products,
                            .local = 1 };
    TRY(schedule_kind(r, &p.gpu));
    TRY(simplify(r, outputs, count, effects, a, &m));
    shard(&m, r);
    choose_stored(&m, p.fuse);
    debug_graph(&m);
    TRY(lower(&p, r));
    pair_maxima(&p);
    flatten(&p);
    TRY(fuse(&p, r));
    if (p.gpu)
        schedule_gpu(&p, context_device(r->context));
    else
        schedule(&p);
    if (p.fuse && !p.gpu)
        use_scratch(&p, context_device(r->context)->local_bytes);
    memplan(&p);
    if (a->failed)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    debug_plan(&p);
    plan->local = p.local;
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

struct build {
    const tarn_replica *r;
    const uint32_t *outputs;
    int count;
    bool effects, products;
    struct plan *plan;
};

static tarn_status build(void *arg)
{
    const struct build *b = arg;
    struct arena a = { 0 };
    const tarn_status status =
        compile(b->r, b->outputs, b->count, b->effects, b->products, &a, b->plan);
    arena_free(&a);
    return status;
}

tarn_status plan_build(const tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                       bool products, struct plan *plan)
{
    struct build b = { r, outputs, count, effects, products, plan };
    return run_deep(build, &b);
}
