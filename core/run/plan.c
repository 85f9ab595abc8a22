/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on a device. In: what the compiler made. Out: kernels, memory shared with the host, and
 * lists of what to launch. Knows neither the graph nor the cache. */
#include "run/plan.h"
#include "run/outline.h"

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
    replay_free(plan->replay); /* before the kernels and memory that it knows */
    for (int i = 0; i < plan->kernel_count; i++) {
        kernel_free(plan->kernels[i].kernel);
        buffer_free(plan->kernels[i].offsets);
        free(plan->kernels[i].params);
        free(plan->kernels[i].products);
    }
    for (uint32_t i = 0; i < plan->shared_count; i++)
        shared_free(plan->shared[i]);
    buffer_free(plan->kept);
    free(plan->shared);
    free(plan->calls);
    free(plan->after);
    free(plan->kernels);
    free(plan->args);
    free(plan->output_bytes);
    free(plan->loop.lies);
    free(plan->specs);
    outline_free(plan->outline);
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
                               const struct plan_loop *loop, struct plan_kernel *k)
{
    const size_t count = (size_t)from->offset_count, steps = loop->steps > 0 ? loop->steps : 1;
    const size_t bytes = count * steps * sizeof(uint64_t);
    k->offset_count = from->offset_count;
    if (bytes == 0)
        return TARN_OK;
    uint64_t *offsets = calloc(count * steps, sizeof *offsets);
    if (offsets == NULL)
        return out_of_memory();
    for (size_t s = 0; s < steps; s++)
        for (size_t i = 0; i < count; i++) {
            const int slot = loop->steps > 0 ? from->offset_of[i] : -1;
            offsets[s * count + i] =
                from->offsets[i] + (slot < 0 ? 0 : loop->lies[s * loop->slots + (size_t)slot]);
        }
    const tarn_status status = buffer_new_of(c, bytes, offsets, &k->offsets);
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
    k->time = from->time;
    memcpy(k->name, from->name, sizeof k->name);
    memcpy(k->about, from->about, sizeof k->about);
    TRY(add_offsets(c, from, &plan->loop, k));
    return k->products != NULL && k->params != NULL ? TARN_OK : out_of_memory();
}

size_t plan_param_bytes(enum param_kind kind)
{
    switch (kind) {
    case PARAM_SKIP:
    case PARAM_STEP:
    case PARAM_STEPS:
        return sizeof(int32_t);
    case PARAM_SERIAL:
    case PARAM_SERIALS:
    case PARAM_COORDINATE:
        return sizeof(uint32_t);
    case PARAM_NUMBER:
        return sizeof(float);
    case PARAM_KEY:
        return sizeof(uint64_t);
    case PARAM_ARENA:
    case PARAM_KEPT:
    case PARAM_OFFSETS:
    case PARAM_INPUT:
    case PARAM_OWNED:
    case PARAM_OUTPUT:
    case PARAM_SHARED:
        break;
    }
    return 0;
}

/* What kernels_take() is asked for. */
struct wanted {
    struct kernel_text *texts;
    struct kernel_arg *args; /* of the idle launches, one kernel's after the other's */
    struct kernel **taken;
    struct buffer *nothing; /* in the place of all values, which nobody touches */
    int count;
};

static struct idle_launch idle_launch(const struct planned_kernel *from,
                                      const struct plan_kernel *k, size_t local,
                                      const struct wanted *w, struct kernel_arg *args)
{
    bool can_skip = false;
    for (int i = 0; i < from->param_count; i++) {
        const enum param_kind kind = from->params[i].kind;
        const size_t bytes = plan_param_bytes(kind);
        args[i] = (struct kernel_arg){ .size = bytes };
        if (bytes == 0)
            args[i].buffer = kind == PARAM_OFFSETS ? k->offsets : w->nothing;
        if (kind == PARAM_SKIP)
            args[i].value.i32 = SKIP_ALL;
        can_skip |= kind == PARAM_SKIP;
    }
    return (struct idle_launch){ .args = can_skip ? args : NULL,
                                 .count = from->param_count,
                                 .groups = (size_t)from->groups,
                                 .local = local };
}

static tarn_status want_kernels(struct context *c, const struct kernel_plan *from,
                                const struct plan *plan, struct wanted *w)
{
    size_t all = 0;
    for (int i = 0; i < from->kernel_count; i++)
        all += (size_t)from->kernels[i].param_count;
    w->texts = calloc((size_t)from->kernel_count + 1, sizeof *w->texts);
    w->taken = calloc((size_t)from->kernel_count + 1, sizeof(struct kernel *));
    w->args = calloc(all + 1, sizeof *w->args);
    if (w->texts == NULL || w->taken == NULL || w->args == NULL)
        return out_of_memory();
    TRY(buffer_new(c, 0, &w->nothing));
    struct kernel_arg *args = w->args;
    for (int i = 0; i < from->kernel_count; i++) {
        const struct planned_kernel *k = &from->kernels[i];
        if (k->groups == 0)
            continue;
        w->texts[w->count++] =
            (struct kernel_text){ .function = k->function,
                                  .text = k->source.data,
                                  .idle = idle_launch(k, &plan->kernels[i],
                                                      (size_t)from->group_size, w, args) };
        args += k->param_count;
    }
    return TARN_OK;
}

/* Builds those that have something to launch. */
static tarn_status take_kernels(struct context *c, const struct kernel_plan *from,
                                struct plan *plan)
{
    char label[64];
    struct wanted w = { 0 };
    snprintf(label, sizeof label, "plan %016llx", (unsigned long long)plan->key[0]);
    tarn_status status = want_kernels(c, from, plan, &w);
    if (status == TARN_OK)
        status = kernels_take(c, kernel_head, w.texts, w.count, label, w.taken);
    for (int i = 0, next = 0; status == TARN_OK && i < from->kernel_count; i++)
        if (from->kernels[i].groups > 0)
            plan->kernels[i].kernel = w.taken[next++];
    buffer_free(w.nothing);
    free(w.texts);
    free(w.taken);
    free(w.args);
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
    plan->once = from->once;
    plan->repeats = from->repeats;
    plan->arena_bytes = from->arena_bytes;
    plan->kept_bytes = from->kept_bytes;
    plan->output_bytes = calloc((size_t)program->output_count + 1, sizeof *plan->output_bytes);
    if (plan->output_bytes == NULL)
        return out_of_memory();
    for (int i = 0; i < program->output_count; i++) {
        const struct node *n = &program->nodes[program->outputs[i]];
        plan->output_bytes[i] = node_bytes(n);
    }
    TRY(add_calls(c, from, plan));
    TRY(add_kernels(c, from, plan));
    /* Calls wait for single launches, and a loop's differ from step to step. */
    const bool comes_again = plan->call_count == 0 && plan->loop.steps == 0;
    return comes_again ? replay_new(c, plan->kernel_count, &plan->replay) : TARN_OK;
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
