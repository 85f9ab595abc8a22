/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler: its stages in order. In: a program and a target. Out: a plan. It knows no
 * replica, no device, no clock and no environment, and prints nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/nest_passes.h"
#include "compile/3_kernels/fuse.h"
#include "compile/4_schedule/schedule.h"
#include "compile/5_memory/memory_passes.h"
#include "compile/6_source/source.h"
#include "error.h"
#include "kernels.h"

/* Shares of the time by the rule, as the model has them. Of 29 programs with 4 to 24 samples, some of whose lanes idle, it is
 * within a fifth of what was measured for 21, and with this share two lose more than a tenth by it. */
#define BETTER 0.95
/* Full blocks: of 15 networks it says 0.57 and 0.66 where 0.71 and 0.64 were measured; for all others it says 0.86 and more,
 * and 0.97 to 9.9 were measured. */
#define FULL 0.8
/* Blocks of images that outgrow the caches: of 26 programs of frames it says 0.75 to 0.85 of four that took 1.3 to 1.6 times
 * as long in blocks, or 0.7. */
#define FAR 0.7
/* Without a change of layout there are half as many kernels, or as many without squares to turn. */
#define SIMPLER 1.0

static tarn_status out_of_memory(void)
{
    return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
}

/* ---- what runs beside kernels --------------------------------------------------------------- */

static tarn_status plan_products(const struct program_ir *p, int kernel, struct planned_kernel *k)
{
    size_t count = 0;
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++)
        count += p->nests[*r.at].kind == NEST_PRODUCT;
    k->products = arena_take(p->arena, (count + 1) * sizeof *k->products);
    if (k->products == NULL)
        return out_of_memory();
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct nest *n = &p->nests[*r.at];
        if (n->kind != NEST_PRODUCT)
            continue;
        const int values[3] = { n->product.a, n->product.b, n->store[0].value };
        struct planned_product *out = &k->products[k->product_count++];
        out->shape = n->product.shape;
        out->provider = n->product.provider;
        for (int v = 0; v < 3; v++) {
            const struct value *of = &p->values[values[v]];
            const size_t first = v < 2 ? n->product.first[v] : (size_t)n->store[0].address.constant;
            out->param[v] = param_of(of);
            out->dtype[v] = of->dtype;
            out->offset[v] = of->offset + first * tarn_dtype_bytes(of->dtype);
        }
    }
    return TARN_OK;
}

static int by_readiness(const void *a, const void *b)
{
    const struct planned_call *x = a, *y = b;
    if (x->ready != y->ready)
        return x->ready < y->ready ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static tarn_status plan_calls(struct program_ir *p, struct kernel_plan *plan)
{
    plan->calls = arena_take(p->arena, ((size_t)p->nest_count + 1) * sizeof *plan->calls);
    const int *first = share_call_memory(p);
    plan->shared_count = p->shared_count;
    plan->shared_bytes = arena_take(p->arena, (p->shared_count + 1) * sizeof *plan->shared_bytes);
    if (plan->shared_bytes == NULL || plan->calls == NULL || first == NULL)
        return out_of_memory();
    for (int i = 0; i < p->value_count; i++) {
        const struct value *v = &p->values[i];
        if (v->place == PLACE_SHARED && v->bytes > plan->shared_bytes[v->slot])
            plan->shared_bytes[v->slot] = v->bytes;
    }
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (n->kind != NEST_HOST)
            continue;
        const struct value *in = &p->values[n->call.in];
        plan->calls[plan->call_count++] =
            (struct planned_call){ .op = n->call.op,
                                   .arg = n->call.arg,
                                   .dtype = in->dtype,
                                   .count = (size_t)tarn_shape_count(in->shape),
                                   .in = in->slot,
                                   .out = p->values[n->store[0].value].slot,
                                   .ready = p->placements[i].kernel - 1,
                                   .due = first[n->store[0].value],
                                   .order = i };
    }
    qsort(plan->calls, (size_t)plan->call_count, sizeof *plan->calls, by_readiness);
    return TARN_OK;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* The names of a kernel's nests. */
static void describe(const struct program_ir *p, int kernel, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end && used + 4 < capacity;
         r.at++) {
        const int wrote = snprintf(out + used, capacity - used, "%s%s", used == 0 ? "" : " ",
                                   p->nests[*r.at].name);
        if (wrote < 0)
            return;
        used += (size_t)wrote;
    }
    if (used >= capacity)
        memcpy(out + capacity - 4, "...", 4);
}

const char *const kernel_head[2] = { (const char *)kernel_text_prelude,
                                     (const char *)kernel_text_random };

const char *const kernel_sorting = (const char *)kernel_text_sorting;
const char *const kernel_routines = (const char *)kernel_text_routines;
const char *const kernel_attention = (const char *)kernel_text_attention;
const char *const kernel_routines_long = (const char *)kernel_text_routines_long;
const char *const kernel_routines_double = (const char *)kernel_text_routines_double;

const char *const kernel_half = (const char *)kernel_text_half;
const char *const kernel_long = (const char *)kernel_text_long;
const char *const kernel_double = (const char *)kernel_text_double;

const char *const kernel_math = (const char *)kernel_text_math;

static tarn_status plan_kernels(struct program_ir *p, struct kernel_plan *plan)
{
    plan->kernels = arena_take(p->arena, ((size_t)p->kernel_count + 1) * sizeof *plan->kernels);
    if (plan->kernels == NULL)
        return out_of_memory();
    while (plan->kernel_count < p->kernel_count) {
        const int i = plan->kernel_count++;
        struct planned_kernel *k = &plan->kernels[i];
        snprintf(k->name, sizeof k->name, "k%d", i);
        describe(p, i, k->about, sizeof k->about);
        TRY(print_kernel(p, i, k));
        TRY(plan_products(p, i, k));
        if (!kernel_cost(p, i, &k->cost))
            return out_of_memory();
        k->time = kernel_time(p, i, &k->cost);
    }
    return TARN_OK;
}

/* ---- stages --------------------------------------------------------------------------------- */

/* What is computed, which axis is the batch, and what lies in memory. */
static tarn_status graph_stage(const struct program *program, const struct target *target,
                               struct arena *a, struct module *m)
{
    TRY(simplify(program, target, a, CONVOLVE_BLOCKS, m));
    find_batch_axis(m);
    const enum convolutions wanted = convolutions_wanted(m);
    if (wanted != CONVOLVE_BLOCKS) {
        TRY(simplify(program, target, a, wanted, m));
        find_batch_axis(m);
    }
    lie_in_blocks(m);
    choose_stored(m);
    store_turned(m);
    return a->failed ? out_of_memory() : TARN_OK;
}

static tarn_status nest_stage(struct program_ir *p)
{
    TRY(lower(p));
    pair_maxima(p);
    join_maps(p);
    flatten(p);
    split_lanes(p);
    lie_in_strips(p);
    find_copies(p);
    return TARN_OK;
}

static tarn_status schedule_stage(struct program_ir *p)
{
    return p->target->items ? schedule_items(p) : schedule_vectors(p);
}

static void memory_stage(struct program_ir *p)
{
    if (p->target->fuse && !p->target->items) {
        use_scratch(p, p->target->local_bytes);
        use_workers(p);
        use_row_workers(p);
    }
    copy_for_parts(p);
    room_for_routines(p);
    memplan(p);
    open_windows(p);
}

/* All but the text. */
static tarn_status make_kernels(const struct program *program, const struct target *target,
                                struct arena *a, struct program_ir **out)
{
    struct module *m = arena_take(a, sizeof *m);
    struct program_ir *p = *out = arena_take(a, sizeof *p);
    if (m == NULL || p == NULL)
        return out_of_memory();
    *p = (struct program_ir){ .arena = a, .module = m, .target = target, .group_size = 1 };
    TRY(graph_stage(program, target, a, m));
    TRY(nest_stage(p));
    TRY(fuse(p));
    TRY(schedule_stage(p));
    memory_stage(p);
    return a->failed ? out_of_memory() : TARN_OK;
}

tarn_status compile_program(const struct program *program, const struct target *target,
                            struct kernel_plan *out)
{
    struct program_ir *p;
    TRY(target_check(target));
    TRY(make_kernels(program, target, &out->arena, &p));
    out->ir = p;
    out->group_size = p->group_size;
    out->once = p->once;
    out->repeats = p->repeats;
    out->arena_bytes = p->arena_bytes;
    out->kept_bytes = p->kept_bytes;
    TRY(plan_calls(p, out));
    return plan_kernels(p, out);
}

/* ---- where samples lie ---------------------------------------------------------------------- */

static tarn_status add_seconds(const struct program_ir *p, double *seconds)
{
    *seconds = 0;
    for (int i = 0; i < p->kernel_count; i++) {
        struct cost cost;
        if (!kernel_cost(p, i, &cost))
            return out_of_memory();
        *seconds += kernel_time(p, i, &cost).seconds;
    }
    return TARN_OK;
}

static tarn_status seconds_with(const struct program *program, struct target *t,
                                enum samples_place place, double *seconds)
{
    struct arena a = { 0 };
    struct program_ir *p;
    t->samples = place;
    tarn_status status = make_kernels(program, t, &a, &p);
    if (status == TARN_OK)
        status = add_seconds(p, seconds);
    arena_free(&a);
    return status;
}

/* What is not chosen at first, and in which share of the time by the first choice it is to be done to be taken. */
struct other_place {
    enum samples_place place; /* by rule: it is not worth a look */
    double share;
};

static tarn_status find_other_place(const struct program *program, const struct target *t,
                                    struct other_place *other)
{
    struct arena a = { 0 };
    struct module m;
    *other = (struct other_place){ SAMPLES_BY_RULE, 0 };
    const tarn_status status = graph_stage(program, t, &a, &m);
    const bool gradients = status == TARN_OK && has_gradients(&m);
    const int32_t frames = status == TARN_OK ? convolved_frames(&m) : 0;
    if (frames > 0)
        *other = (struct other_place){ SAMPLES_FRAMES,
                                       images_outgrow_blocks(&m, frames) ? FAR : SIMPLER };
    else if (status == TARN_OK && m.batch > 0 && !gradients && multiplies_rows(&m))
        *other = (struct other_place){ SAMPLES_ALONE, SIMPLER };
    else if (status == TARN_OK && m.batch > 0 && lanes_would_idle(&m))
        *other = (struct other_place){ SAMPLES_ALONE, BETTER };
    else if (status == TARN_OK && !gradients && lanes_would_idle(&m))
        *other = (struct other_place){ SAMPLES_BLOCKS, BETTER };
    else if (status == TARN_OK && m.batch > 0 && m.shards == 0 && !multiplies_any(&m))
        *other = (struct other_place){ SAMPLES_ALONE, SIMPLER };
    else if (status == TARN_OK && gradients && images_outgrow_blocks(&m, m.batch))
        *other = (struct other_place){ SAMPLES_ALONE, FULL };
    arena_free(&a);
    return status;
}

tarn_status compile_place_samples(const struct program *program, enum samples_place *out)
{
    struct target t = target_common();
    struct other_place other;
    double by_first, by_other;
    *out = SAMPLES_BY_RULE;
    if (program->steps > 0) /* the parts of a loop are to agree */
        return TARN_OK;
    TRY(find_other_place(program, &t, &other));
    if (other.place == SAMPLES_BY_RULE)
        return TARN_OK;
    const enum samples_place first =
        other.place == SAMPLES_FRAMES ? SAMPLES_ALONE : SAMPLES_BY_RULE;
    *out = first;
    TRY(seconds_with(program, &t, first, &by_first));
    TRY(seconds_with(program, &t, other.place, &by_other));
    if (by_other <= other.share * by_first)
        *out = other.place;
    return TARN_OK;
}

/* ---- what callers need beside it ------------------------------------------------------------ */

void kernel_plan_free(struct kernel_plan *plan)
{
    for (int i = 0; i < plan->kernel_count; i++)
        text_free(&plan->kernels[i].source);
    arena_free(&plan->arena);
    *plan = (struct kernel_plan){ 0 };
}

tarn_status compile_list_products(const struct program *program, const struct target *target,
                                  struct product_shape **list, int *count)
{
    struct arena a = { 0 };
    struct module m;
    *list = NULL;
    *count = 0;
    tarn_status status = graph_stage(program, target, &a, &m);
    const struct product_shape *found = status == TARN_OK ? list_products(&m, count) : NULL;
    if (status == TARN_OK)
        *list = malloc(((size_t)*count + 1) * sizeof **list);
    if (status == TARN_OK && (found == NULL || *list == NULL))
        status = out_of_memory();
    if (status == TARN_OK && *count > 0)
        memcpy(*list, found, (size_t)*count * sizeof **list);
    arena_free(&a);
    return status;
}
