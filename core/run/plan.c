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
        free(plan->kernels[i].params);
        free(plan->kernels[i].products);
    }
    program_free(plan->program);
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

static tarn_status add_kernel(struct plan *plan, const struct planned_kernel *from)
{
    struct plan_kernel *k = &plan->kernels[plan->kernel_count++];
    if (from->groups > 0)
        TRY(kernel_new(plan->program, from->name, &k->kernel));
    k->products = kept(from->products, from->product_count, sizeof *k->products);
    k->product_count = from->product_count;
    k->params = kept(from->params, from->param_count, sizeof *k->params);
    k->param_count = from->param_count;
    k->groups = from->groups;
    k->cost = from->cost;
    memcpy(k->about, from->about, sizeof k->about);
    return k->products != NULL && k->params != NULL ? TARN_OK : out_of_memory();
}

static tarn_status add_kernels(struct context *c, const struct kernel_plan *from, struct plan *plan)
{
    int most = 0;
    char label[64];
    snprintf(label, sizeof label, "plan %016llx", (unsigned long long)plan->key[0]);
    plan->kernels = calloc((size_t)from->kernel_count + 1, sizeof *plan->kernels);
    plan->after = calloc((size_t)from->kernel_count + 1, sizeof *plan->after);
    if (plan->kernels == NULL || plan->after == NULL)
        return out_of_memory();
    if (from->kernel_count > 0)
        TRY(program_build(c, from->source.data, label, &plan->program));
    for (int i = 0; i < from->kernel_count; i++) {
        TRY(add_kernel(plan, &from->kernels[i]));
        most = from->kernels[i].param_count > most ? from->kernels[i].param_count : most;
    }
    plan->args = calloc((size_t)most + 1, sizeof *plan->args);
    return plan->args != NULL ? TARN_OK : out_of_memory();
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
