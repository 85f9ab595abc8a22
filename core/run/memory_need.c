/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory by plan: what one needs at most, and who holds most of that. In: what the compiler made, and what a
 * replica has. Out: bytes, lines for people, and an error where a limit is set. */
#include "run/memory_need.h"

#include <stdio.h>
#include <string.h>

#include "compile/nest.h"
#include "env.h"
#include "log.h"
#include "tensor/shape.h"

#define LARGEST 5 /* values that are named */

/* Who holds memory. */
struct holder {
    const char *what, *name; /* the name: NULL, or the program's */
    tarn_shape shape;
    tarn_dtype dtype;
    size_t bytes;
};

/* The largest first. */
struct holders {
    struct holder list[LARGEST];
    int count;
};

static double mib(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

size_t memory_need_sum(const struct memory_need *n)
{
    return n->temporaries + n->results + n->shared + n->offsets + n->there;
}

struct memory_need memory_need_of(const tarn_replica *r, const struct program *program,
                                  const struct kernel_plan *compiled, size_t steps,
                                  size_t temporaries_now)
{
    struct memory_need n = { .temporaries = compiled->arena_bytes };
    if (n.temporaries < temporaries_now)
        n.temporaries = temporaries_now;
    n.temporaries += compiled->kept_bytes;
    n.there = buffer_statistics(r->context).live_bytes - temporaries_now;
    for (int i = 0; i < program->output_count; i++) {
        const struct node *node = &program->nodes[program->outputs[i]];
        n.results += node_bytes(node);
    }
    for (uint32_t i = 0; i < compiled->shared_count; i++)
        n.shared += compiled->shared_bytes[i];
    for (int i = 0; i < compiled->kernel_count; i++)
        n.offsets +=
            (size_t)compiled->kernels[i].offset_count * (steps > 0 ? steps : 1) * sizeof(uint64_t);
    return n;
}

/* ---- who holds most ------------------------------------------------------------------------- */

static void add_holder(struct holders *h, struct holder x)
{
    int at = h->count;
    while (at > 0 && h->list[at - 1].bytes < x.bytes)
        at--;
    if (at == LARGEST)
        return;
    h->count += h->count < LARGEST;
    memmove(&h->list[at + 1], &h->list[at], (size_t)(h->count - 1 - at) * sizeof x);
    h->list[at] = x;
}

static bool lies_in_arena(const struct value *v)
{
    return v->place == PLACE_ARENA && v->first >= 0 && v->window_of == 0 && v->room == 0 &&
           !v->kept;
}

static size_t bytes_at(const struct program_ir *p, int kernel)
{
    size_t bytes = 0;
    for (int i = 0; i < p->value_count; i++) {
        const struct value *v = &p->values[i];
        bytes += lies_in_arena(v) && v->first <= kernel && kernel <= v->last ? v->bytes : 0;
    }
    return bytes;
}

/* Those that are there when temporaries take most. */
static void add_temporaries(const struct program_ir *p, struct holders *h)
{
    int worst = 0;
    for (int k = 1; k < p->kernel_count; k++)
        if (bytes_at(p, k) > bytes_at(p, worst))
            worst = k;
    for (int i = 0; i < p->value_count; i++) {
        const struct value *v = &p->values[i];
        if (lies_in_arena(v) && v->first <= worst && worst <= v->last)
            add_holder(h, (struct holder){ value_maker(p, i), NULL, v->shape, v->dtype, v->bytes });
    }
}

static void add_owned(const tarn_replica *r, struct holders *h)
{
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (o->kind != OWNED_FREE && o->kind != OWNED_FLAT)
            add_holder(h, (struct holder){ "a kept tensor", o->name, o->shape, o->dtype,
                                           owned_bytes_here(r, o) });
    }
}

static void add_inputs(const tarn_replica *r, struct holders *h)
{
    const struct graph *g = &r->graph;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        if (n->op == &op_input || n->op == &op_held)
            add_holder(h, (struct holder){ n->op->name, NULL, n->shape, n->dtype,
                                           (size_t)tarn_shape_count(n->shape) *
                                               tarn_dtype_bytes(n->dtype) });
    }
}

static void name_holders(const tarn_replica *r, const struct kernel_plan *compiled,
                         struct text *out)
{
    struct holders h = { .count = 0 };
    add_temporaries(compiled->ir, &h);
    add_owned(r, &h);
    add_inputs(r, &h);
    for (int i = 0; i < h.count; i++) {
        char name[64];
        text_escape(h.list[i].name != NULL ? h.list[i].name : h.list[i].what, name, sizeof name);
        text_add(out, "%s%s %s %s %.2f MiB", i > 0 ? ", " : "", name,
                 tarn_dtype_name(h.list[i].dtype), shape_text(h.list[i].shape),
                 mib(h.list[i].bytes));
    }
}

/* ---- telling -------------------------------------------------------------------------------- */

static void add_parts(const struct memory_need *n, struct text *out)
{
    text_add(out,
             "%.2f MiB of temporaries, %.2f of results, %.2f shared with the host, %.2f of tables, "
             "%.2f in use already; the largest: ",
             mib(n->temporaries), mib(n->results), mib(n->shared), mib(n->offsets), mib(n->there));
}

tarn_status memory_need_check(tarn_replica *r, const struct memory_need *need,
                              const struct kernel_plan *compiled)
{
    const size_t sum = memory_need_sum(need);
    const bool own = r->memory_limit > 0;
    const double limit = own ? (double)r->memory_limit : env_number(ENV_MEMORY_LIMIT);
    const bool beyond = limit > 0 && (double)sum > limit;
    if (r->metrics.device_bytes_expected < sum && !beyond)
        r->metrics.device_bytes_expected = sum;
    if (!beyond && !env_debug("memory"))
        return TARN_OK;
    struct text parts = { 0 };
    tarn_status status = TARN_OK;
    add_parts(need, &parts);
    name_holders(r, compiled, &parts);
    const char *text = parts.failed ? "out of host memory to say more" : parts.data;
    if (beyond)
        status = error_set(
            TARN_ERR_DEVICE_MEMORY,
            "the step needs %.2f MiB of device memory, and %s allows %.2f: a smaller "
            "batch needs less; %s",
            mib(sum), own ? "memory_limit" : "TARN_MEMORY_LIMIT", limit / (1 << 20), text);
    else
        log_print(TARN_LOG_DEBUG, "tarn: memory of compilation %llu: at most %.2f MiB: %s",
                  (unsigned long long)r->metrics.plans_compiled + 1, mib(sum), text);
    text_free(&parts);
    return status;
}

void memory_need_end(const tarn_replica *r)
{
    if (!env_debug("memory"))
        return;
    const tarn_metrics m = tarn_metrics_get(r);
    log_print(TARN_LOG_DEBUG,
              "tarn: memory of rank %d: expected at most %llu bytes, %llu were in use at most; of "
              "%llu steps %llu in a "
              "row compiled and allocated nothing",
              r->peers != NULL ? r->peers->rank : 0, (unsigned long long)m.device_bytes_expected,
              (unsigned long long)m.device_bytes_peak, (unsigned long long)m.steps,
              (unsigned long long)r->steady_most);
}
