/* SPDX-License-Identifier: Apache-2.0 */
/* A compilation as text, for people. In: what the stages made. Out: lines. */
#include "compile/debug.h"
#include "compile/cost.h"
#include "compile/item_cost.h"
#include "tensor/shape.h"

/* Which axis is the batch, and why. */
static void debug_batch(const struct module *m, struct text *out)
{
    static const char *const why[] = { [NO_DATA] = "which images are made of",
                                       [KEPT_DATA] = "the largest kept tensor",
                                       [GIVEN_DATA] = "the largest input",
                                       [LOADED_DATA] = "of a loader",
                                       [SAID_DATA] = "by tarn_batch_axis()" };
    const struct batch_source *s = &m->source;
    uint32_t carry = 0;
    for (uint32_t i = 0; i < m->count; i++)
        carry += m->batched[i] && m->uses[i] > 0;
    if (m->batch > 0 && m->target->samples == SAMPLES_FRAMES)
        text_add(out,
                 "batch %d: images of which each sample has several, along axis 0 of %%%u, %s; %u "
                 "values carry it\n",
                 m->batch, s->node, why[s->data], carry);
    else if (m->batch > 0)
        text_add(out, "batch %d: axis 0 of %%%u, %s; %u values carry it\n", m->batch, s->node,
                 why[s->data], carry);
    else if (s->few)
        text_add(out, "no batch: axis 0 of %%%u, %s, %s\n", s->node, why[s->data],
                 m->target->samples == SAMPLES_ALONE ? "takes less time in rows"
                                                     : "is too short for blocks");
    else
        text_add(out, "no batch: no input or kept tensor has an axis\n");
}

void debug_graph(const struct module *m, struct text *out)
{
    text_add(out, "tarn: graph of %u nodes, ", m->count);
    debug_batch(m, out);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        if (m->uses[i] == 0)
            continue;
        text_add(out, "  %%%u = %s %s%s", i, tarn_dtype_name(n->dtype), shape_text(n->shape),
                 m->batched[i] ? "/batch " : " ");
        text_add(out, "%s(", n->op->name);
        for (uint32_t k = 0; k < n->in_count; k++)
            text_add(out, "%s%%%u", k == 0 ? "" : ", ", m->operands[n->first_in + k]);
        text_add(out, ")%s\n", m->stored[i] ? " stored" : "");
    }
}

void debug_nests(const struct program_ir *p, struct text *out)
{
    for (int k = 0; k < p->kernel_count; k++) {
        text_add(out, "tarn: kernel k%d", k);
        if (kernel_parts(p, k) > 1)
            text_add(out, ", %d parts", kernel_parts(p, k));
        text_add(out, "%s\n",
                 k < p->once && p->module->program->steps == 0 ? ", once until parameters change"
                 : k < p->once                                 ? ", once for all steps of a loop"
                 : kernel_repeats(p, k)                        ? ", all steps of a loop"
                                                               : "");
        for (struct nest_range r = kernel_nests(p, k); r.at < r.end; r.at++) {
            const int i = *r.at;
            const struct nest *n = &p->nests[i];
            text_add(out, "  section %-3d %-14s", p->placements[i].section, n->name);
            for (int a = 0; a < n->axes; a++) {
                text_add(out, "%s%d", a == n->out_axes ? " | " : " ", n->extent[a]);
                const struct panels *panels = &p->schedules[i].panels;
                if (panels->used && a < n->out_axes && panels->size[a] < n->extent[a])
                    text_add(out, "/%d", panels->size[a]);
                else if (panels->used && a == panels->axis)
                    text_add(out, "/%d", panels->step);
                if (p->schedules[i].tile[a] > 1)
                    text_add(out, "/%d", p->schedules[i].tile[a]);
                if (a == nest_vector_axis(n, &p->schedules[i]))
                    text_add(out, "v");
                if (a == p->placements[i].part_axis)
                    text_add(out, "p");
            }
            const int value = n->store[0].value, whole = p->values[value].window_of;
            text_add(out, "  -> v%d%s\n", whole > 0 ? whole - 1 : value, n->partial ? " rows" : "");
        }
    }
}

static void add_sectors(const struct item_sectors *s, struct text *out)
{
    if (s->mean > 0)
        text_add(out, " %5.1f of v%-4d", s->mean, s->value);
    else
        text_add(out, "     -         ");
}

static void debug_item_cost(const struct program_ir *p, const struct nest *n, struct text *out)
{
    const struct item_cost c = nest_item_cost(p, n);
    text_add(out, "    %-14s %7d %8d %8.0f %12.0f %6.2f", n->name, placement_of(p, n)->section,
             c.groups, c.chain, c.terms, c.loads);
    add_sectors(&c.read, out);
    add_sectors(&c.written, out);
    text_add(out, "\n");
}

void debug_items(const struct program_ir *p, struct text *out)
{
    if (!p->target->items)
        return;
    text_add(out,
             "tarn: cost of %d kernels, groups of %d\n"
             "    %-14s %7s %8s %8s %12s %6s %-14s %-14s\n",
             p->kernel_count, p->group_size, "nest", "section", "groups", "chain", "terms", "loads",
             " sectors read", " and written");
    for (int k = 0; k < p->kernel_count; k++) {
        struct cost cost;
        if (!kernel_cost(p, k, &cost))
            return;
        text_add(out, "  k%d: %.3g MFLOP, %.3g MB\n", k, 1e-6 * cost.flops, 1e-6 * cost.bytes);
        for (struct nest_range r = kernel_nests(p, k); r.at < r.end; r.at++)
            if (nest_is_code(&p->nests[*r.at]))
                debug_item_cost(p, &p->nests[*r.at], out);
    }
}

void debug_values(const struct program_ir *p, struct text *out)
{
    text_add(out, "tarn: plan of %d kernels, %zu bytes of temporaries\n", p->kernel_count,
             p->arena_bytes);
    for (int i = 0; i < p->value_count; i++) {
        const struct value *v = &p->values[i];
        if (v->place == PLACE_ARENA && v->first >= 0 && v->window_of == 0)
            text_add(out, "  v%-4d %s %s%s of %s, kernels %d to %d, at %zu\n", i,
                     tarn_dtype_name(v->dtype), shape_text(v->shape),
                     v->layout == LAYOUT_BLOCKED ? " blocked" : "", value_maker(p, i), v->first,
                     v->last, v->offset);
        else if (v->place == PLACE_SHARED)
            text_add(out, "  v%-4d %s %s, kernels %d to %d, piece %u that the host shares\n", i,
                     tarn_dtype_name(v->dtype), shape_text(v->shape), v->first, v->last,
                     (unsigned)v->slot);
    }
}
