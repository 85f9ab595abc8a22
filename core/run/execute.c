/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the kernels, products and calls of a plan. In: a plan and what it works on. Out:
 * commands in the context's queue. */
#include "run/execute.h"

#include <stdio.h>

#include "run/profile.h"
#include "trace.h"

#define LAUNCH_MOST \
    4e9 /* operations and bytes of the steps in one launch: less than a second of a slow device */

const struct gemm_provider *const execute_providers[PROVIDERS] = { NULL, &gemm_tarn, &gemm_clblast,
                                                                   &gemm_tarn_deep,
                                                                   &gemm_tarn_coarse };

static struct buffer *buffer_of(const struct plan *plan, const struct param *p,
                                const struct binding *b)
{
    switch (p->kind) {
    case PARAM_ARENA:
        return b->arena;
    case PARAM_KEPT:
        return plan->kept;
    case PARAM_INPUT:
        return b->inputs[p->slot].buffer;
    case PARAM_OWNED:
        return b->owned[b->owned_slots[p->slot]].buffer;
    case PARAM_OUTPUT:
        return b->outputs[p->slot];
    case PARAM_SHARED:
        return shared_buffer(plan->shared[p->slot]);
    case PARAM_SKIP:
    case PARAM_OFFSETS:
    case PARAM_NUMBER:
    case PARAM_SERIAL:
    case PARAM_KEY:
    case PARAM_COORDINATE:
    case PARAM_STEP:
    case PARAM_STEPS:
    case PARAM_SERIALS:
        break;
    }
    return NULL;
}

static enum gemm_words words_of(tarn_dtype dtype)
{
    return dtype == TARN_F16 ? GEMM_FLOAT16 : dtype == TARN_BF16 ? GEMM_BFLOAT16 : GEMM_FLOAT32;
}

/* Of value v of a product, in elements. */
static size_t product_offset(const struct plan *plan, const struct planned_product *p, int v,
                             const struct binding *b)
{
    size_t offset = p->offset[v];
    if (plan->loop.steps > 0 && p->param[v].kind == PARAM_OWNED)
        offset += plan->loop.lies[(size_t)b->step * plan->loop.slots + p->param[v].slot];
    return offset / tarn_dtype_bytes(p->dtype[v]);
}

static tarn_status run_products(const struct plan *plan, const struct plan_kernel *k,
                                const struct binding *b)
{
    for (int i = 0; i < k->product_count; i++) {
        const struct planned_product *p = &k->products[i];
        const struct product_shape *s = &p->shape;
        const struct gemm g = {
            .m = s->m,
            .n = s->n,
            .k = s->k,
            .batch = s->batch,
            .transpose_a = s->transpose_a,
            .transpose_b = s->transpose_b,
            .a = buffer_of(plan, &p->param[0], b),
            .b = buffer_of(plan, &p->param[1], b),
            .c = buffer_of(plan, &p->param[2], b),
            .a_offset = product_offset(plan, p, 0, b),
            .b_offset = product_offset(plan, p, 1, b),
            .c_offset = product_offset(plan, p, 2, b),
            .a_stride = s->m * s->k,
            .b_stride = s->k * s->n,
            .c_stride = s->m * s->n,
            .a_words = words_of(p->dtype[0]),
            .b_words = words_of(p->dtype[1]),
        };
        const struct gemm_provider *by = execute_providers[p->provider];
        TRY(by->run(b->context, &g, by->user));
    }
    return TARN_OK;
}

tarn_status execute_kernel(const struct plan *plan, const struct plan_kernel *k,
                           const struct binding *b)
{
    if (b->replay != NULL && k->product_count > 0)
        replay_apart(b->replay);
    TRY(run_products(plan, k, b));
    if (k->kernel == NULL)
        return TARN_OK;
    for (int i = 0; i < k->param_count; i++) {
        const struct param *p = &k->params[i];
        struct kernel_arg *a = &plan->args[i];
        *a = (struct kernel_arg){ .size = plan_param_bytes(p->kind) };
        a->buffer = p->kind == PARAM_OFFSETS ? k->offsets : buffer_of(plan, p, b);
        if (p->kind == PARAM_NUMBER)
            a->value.f32 = b->numbers[p->slot];
        else if (p->kind == PARAM_SERIAL)
            a->value.u32 = p->slot + b->serials;
        else if (p->kind == PARAM_STEP)
            a->value.i32 = (int32_t)b->step * k->offset_count;
        else if (p->kind == PARAM_STEPS)
            a->value.i32 = (int32_t)b->steps;
        else if (p->kind == PARAM_SERIALS)
            a->value.u32 = b->more_serials;
        else if (p->kind == PARAM_KEY)
            a->value.u64 = b->key;
        else if (p->kind == PARAM_COORDINATE)
            a->value.u32 = b->coordinate[p->slot];
    }
    const size_t groups = (size_t)k->groups, local = (size_t)plan->group_size;
    return b->replay == NULL ? kernel_launch(k->kernel, plan->args, k->param_count, groups, local)
                             : replay_launch(b->replay, k->kernel, plan->args, k->param_count,
                                             groups, local, k->cost.flops + k->cost.bytes);
}

static tarn_status run_kernel(tarn_replica *r, const struct plan *plan, const struct plan_kernel *k,
                              const struct binding *b)
{
    struct profiling before;
    if (r->track != 0)
        context_describe(r->context, k->about);
    if (!profile_wanted(r))
        return execute_kernel(plan, k, b);
    const bool repeats = plan->repeats && k >= plan->kernels + plan->once;
    TRY(profile_begin(r, &before));
    TRY(execute_kernel(plan, k, b));
    return profile_end(r, &before, k, repeats ? b->steps : 1);
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

static tarn_status run_call_traced(tarn_replica *r, const struct plan *plan,
                                   const struct plan_call *k)
{
    trace_begin(r->track, k->op->name);
    if (r->track != 0)
        context_describe(r->context, NULL);
    const tarn_status status = run_call(r, plan, k);
    trace_end(r->track);
    return status;
}

/* Runs what kernel `next` needs. All replicas run their calls in one order, and as late as
 * possible, so that the device computes on meanwhile. */
static tarn_status run_calls(tarn_replica *r, const struct plan *plan, int *called, int next)
{
    int last = *called;
    for (int i = *called; i < plan->call_count; i++)
        if (plan->calls[i].due <= next)
            last = i + 1;
    for (; *called < last; ++*called)
        TRY(run_call_traced(r, plan, &plan->calls[*called]));
    return TARN_OK;
}

tarn_status execute_plan(tarn_replica *r, const struct plan *plan, const struct binding *bound,
                         int first)
{
    int called = 0;
    struct binding b = *bound;
    b.replay = plan->replay;
    if (b.replay != NULL)
        replay_begin(b.replay);
    for (int i = first; i < plan->kernel_count; i++) {
        TRY(run_calls(r, plan, &called, i));
        TRY(run_kernel(r, plan, &plan->kernels[i], &b));
        TRY(context_mark(r->context, &plan->after[i]));
    }
    if (b.replay != NULL)
        replay_end(b.replay);
    TRY(run_calls(r, plan, &called, plan->kernel_count));
    context_describe(r->context, NULL);
    return context_flush(r->context);
}

/* So many steps of a loop that the device tells of itself between launches: it is waited for with a deadline. */
static uint32_t steps_at_once(const struct plan *plan)
{
    if (!plan->repeats)
        return 1;
    const struct cost *one = &plan->kernels[plan->once].cost;
    const double steps = LAUNCH_MOST / (one->flops + one->bytes + 1.0);
    return steps < 1 ? 1 : steps > INT32_MAX ? INT32_MAX : (uint32_t)steps;
}

tarn_status execute_loop(tarn_replica *r, const struct plan *plan, struct binding *b,
                         uint32_t serials, bool reversed)
{
    const uint32_t most = steps_at_once(plan), all = plan->loop.steps;
    b->more_serials = reversed ? 0 - serials : serials;
    for (b->step = 0; b->step < all; b->step += b->steps) {
        b->steps = all - b->step < most ? all - b->step : most;
        b->serials = serials * (reversed ? all - 1 - b->step : b->step);
        for (int i = b->step > 0 ? plan->once : 0; i < plan->kernel_count; i++)
            TRY(run_kernel(r, plan, &plan->kernels[i], b));
    }
    context_describe(r->context, NULL);
    return context_flush(r->context);
}
