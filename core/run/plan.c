/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on a device. In: what the compiler made. Out: kernels, memory shared with the host, and
 * lists of what to launch. Knows neither the graph nor the cache. */
#include "run/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tarn_status out_of_memory(void)
{
    return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
}

void plan_free(struct plan *plan)
{
    if (plan == NULL)
        return;
    for (int i = 0; i < plan->kernel_count; i++) {
        kernel_free(plan->kernels[i].kernel);
        buffer_free(plan->kernels[i].offsets);
        free(plan->kernels[i].params);
        free(plan->kernels[i].products);
    }
    for (uint32_t i = 0; i < plan->shared_count; i++)
        shared_free(plan->shared[i]);
    free(plan->shared);
    free(plan->calls);
    free(plan->after);
    free(plan->kernels);
    free(plan->args);
    free(plan->output_bytes);
    free(plan);
}

/* A copy of an array of the compiler's, whose memory goes. NULL without memory. */
static void *kept(const void *array, int count, size_t size)
{
    void *copy = calloc((size_t)count + 1, size);
    if (copy != NULL && count > 0)
        memcpy(copy, array, (size_t)count * size);
    return copy;
}

static tarn_status add_offsets(struct context *c, const struct planned_kernel *from,
                               struct plan_kernel *k)
{
    const size_t bytes = (size_t)from->offset_count * sizeof(uint64_t);
    if (bytes == 0)
        return TARN_OK;
    uint64_t *offsets = calloc((size_t)from->offset_count, sizeof *offsets);
    if (offsets == NULL)
        return out_of_memory();
    for (int i = 0; i < from->offset_count; i++)
        offsets[i] = from->offsets[i];
    tarn_status status = buffer_new(c, bytes, &k->offsets);
    if (status == TARN_OK)
        status = buffer_write(k->offsets, 0, offsets, bytes);
    free(offsets);
    return status;
}

static tarn_status add_kernel(struct context *c, const struct planned_kernel *from,
                              struct plan *plan)
{
    struct plan_kernel *k = &plan->kernels[plan->kernel_count++];
    k->products = kept(from->products, from->product_count, sizeof *k->products);
    k->product_count = from->product_count;
    k->params = kept(from->params, from->param_count, sizeof *k->params);
    k->param_count = from->param_count;
    k->groups = from->groups;
    k->cost = from->cost;
    memcpy(k->name, from->name, sizeof k->name);
    memcpy(k->about, from->about, sizeof k->about);
    TRY(add_offsets(c, from, k));
    return k->products != NULL && k->params != NULL ? TARN_OK : out_of_memory();
}

/* Builds those that have something to launch. */
static tarn_status take_kernels(struct context *c, const struct kernel_plan *from,
                                struct plan *plan)
{
    int count = 0;
    char label[64];
    struct kernel_text *texts = calloc((size_t)from->kernel_count + 1, sizeof *texts);
    struct kernel **taken = calloc((size_t)from->kernel_count + 1, sizeof(struct kernel *));
    tarn_status status = texts != NULL && taken != NULL ? TARN_OK : out_of_memory();
    snprintf(label, sizeof label, "plan %016llx", (unsigned long long)plan->key[0]);
    for (int i = 0; status == TARN_OK && i < from->kernel_count; i++)
        if (from->kernels[i].groups > 0)
            texts[count++] =
                (struct kernel_text){ from->kernels[i].function, from->kernels[i].source.data };
    if (status == TARN_OK)
        status = kernels_take(c, kernel_head, texts, count, label, taken);
    for (int i = 0, next = 0; status == TARN_OK && i < from->kernel_count; i++)
        if (from->kernels[i].groups > 0)
            plan->kernels[i].kernel = taken[next++];
    free(texts);
    free(taken);
    return status;
}

static tarn_status add_kernels(struct context *c, const struct kernel_plan *from, struct plan *plan)
{
    int most = 0;
    plan->kernels = calloc((size_t)from->kernel_count + 1, sizeof *plan->kernels);
    plan->after = calloc((size_t)from->kernel_count + 1, sizeof *plan->after);
    if (plan->kernels == NULL || plan->after == NULL)
        return out_of_memory();
    for (int i = 0; i < from->kernel_count; i++) {
        TRY(add_kernel(c, &from->kernels[i], plan));
        most = from->kernels[i].param_count > most ? from->kernels[i].param_count : most;
    }
    plan->args = calloc((size_t)most + 1, sizeof *plan->args);
    return plan->args != NULL ? take_kernels(c, from, plan) : out_of_memory();
}

static tarn_status add_calls(struct context *c, const struct kernel_plan *from, struct plan *plan)
{
    plan->shared = calloc(from->shared_count + 1, sizeof(struct shared *));
    plan->calls = calloc((size_t)from->call_count + 1, sizeof *plan->calls);
    if (plan->shared == NULL || plan->calls == NULL)
        return out_of_memory();
    for (uint32_t i = 0; i < from->shared_count; i++)
        TRY(shared_new(c, from->shared_bytes[i], &plan->shared[plan->shared_count++]));
    for (int i = 0; i < from->call_count; i++) {
        const struct planned_call *k = &from->calls[i];
        plan->calls[plan->call_count++] = (struct plan_call){ .op = k->op,
                                                              .arg = k->arg,
                                                              .dtype = k->dtype,
                                                              .count = k->count,
                                                              .in = plan->shared[k->in],
                                                              .out = plan->shared[k->out],
                                                              .ready = k->ready,
                                                              .due = k->due };
    }
    return TARN_OK;
}

tarn_status plan_make(struct context *c, const struct program *program,
                      const struct kernel_plan *from, struct plan *plan)
{
    plan->group_size = from->group_size;
    plan->arena_bytes = from->arena_bytes;
    plan->output_bytes = calloc((size_t)program->output_count + 1, sizeof *plan->output_bytes);
    if (plan->output_bytes == NULL)
        return out_of_memory();
    for (int i = 0; i < program->output_count; i++) {
        const struct node *n = &program->nodes[program->outputs[i]];
        plan->output_bytes[i] = (size_t)tarn_shape_count(n->shape) * tarn_dtype_bytes(n->dtype);
    }
    TRY(add_calls(c, from, plan));
    return add_kernels(c, from, plan);
}

static void renumber(struct param *p, const uint32_t *slots)
{
    if (p->kind == PARAM_OWNED)
        p->slot = slots[p->slot];
}

void plan_renumber_owned(struct plan *plan, const uint32_t *slots)
{
    for (int i = 0; i < plan->kernel_count; i++) {
        struct plan_kernel *k = &plan->kernels[i];
        for (int n = 0; n < k->param_count; n++)
            renumber(&k->params[n], slots);
        for (int n = 0; n < k->product_count; n++)
            for (int v = 0; v < 3; v++)
                renumber(&k->products[n].param[v], slots);
    }
}
