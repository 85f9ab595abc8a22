/* SPDX-License-Identifier: Apache-2.0 */
/* Outlines of graphs. In: a replica's graph, and outlines of earlier ones. Out: a line for people. */
#include "run/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/shape.h"

#define NODES_MOST 20000 /* of a graph that is kept: 1 MB */

struct line {
    const struct op *op;
    tarn_shape shape;
    tarn_dtype dtype;
    union {
        double scalar[MAP_SCALARS];
        uint32_t bits[2];
    } value;
    uint64_t hash;
};

struct outline {
    uint64_t number;
    uint32_t count;
    struct line line[];
};

struct outline *outline_of(tarn_replica *r, uint64_t number)
{
    const struct graph *g = &r->graph;
    if (g->count > NODES_MOST)
        return NULL;
    struct outline *o = calloc(1, sizeof *o + g->count * sizeof o->line[0]);
    if (o == NULL)
        return NULL;
    o->number = number;
    for (uint32_t i = 1; i < g->count; i++) { /* node 0 is poison */
        const struct node *n = &g->nodes[i];
        struct line *l = &o->line[o->count++];
        l->op = n->op;
        l->shape = n->shape;
        l->dtype = n->dtype;
        l->hash = graph_node_hash(r, i);
        if (n->op->kind == OP_MAP)
            memcpy(l->value.scalar, n->arg.map.scalar, sizeof l->value.scalar);
        else if (n->op == &op_constant)
            memcpy(l->value.bits, (uint32_t[]){ n->arg.leaf.bits, n->arg.leaf.slot },
                   sizeof l->value.bits);
    }
    return o;
}

void outline_free(struct outline *o)
{
    free(o);
}

uint32_t outline_common(const struct outline *a, const struct outline *b)
{
    uint32_t i = 0;
    while (i < a->count && i < b->count && a->line[i].hash == b->line[i].hash)
        i++;
    return i;
}

static void describe(const struct line *l, char *out, size_t capacity)
{
    const int digits = l->dtype == TARN_F64 ? 17 : 6;
    char value[64] = "";
    float constant;
    memcpy(&constant, l->value.bits, sizeof constant);
    const uint64_t wide = (uint64_t)l->value.bits[1] << 32 | l->value.bits[0];
    double number;
    memcpy(&number, &wide, sizeof number);
    if (l->op == &op_constant && l->dtype == TARN_F32)
        snprintf(value, sizeof value, " %g", (double)constant);
    else if (l->op == &op_constant && l->dtype == TARN_F64)
        snprintf(value, sizeof value, " %.17g", number);
    else if (l->op == &op_constant && l->dtype == TARN_I64)
        snprintf(value, sizeof value, " %lld", (long long)wide);
    else if (l->op == &op_constant)
        snprintf(value, sizeof value, " %d", (int32_t)l->value.bits[0]);
    else if (l->op->kind == OP_MAP && l->op->scalars == 1)
        snprintf(value, sizeof value, " with %.*g", digits, l->value.scalar[0]);
    else if (l->op->kind == OP_MAP && l->op->scalars > 1)
        snprintf(value, sizeof value, " with %.*g and %.*g", digits, l->value.scalar[0], digits,
                 l->value.scalar[1]);
    snprintf(out, capacity, "%s%s %s %s", l->op->name, value, tarn_dtype_name(l->dtype),
             shape_text(l->shape));
}

/* What to do about it, where that is known. */
static const char *advice(const struct line *now, const struct line *before)
{
    if (now->op != before->op)
        return "";
    if (!shape_equal(now->shape, before->shape))
        return "; each shape is compiled once: let batches have one size (drop_last)";
    if (now->op == &op_constant || now->op->scalars > 0)
        return "; a constant is part of the kernels: give a value that changes as a tensor, by "
               "tarn_number()";
    return "; its operands or arguments differ";
}

void outline_explain(const struct outline *now, const struct outline *nearest, char *out,
                     size_t capacity)
{
    if (now == NULL || nearest == NULL) {
        snprintf(out, capacity, "there is nothing to compare it with");
        return;
    }
    const uint32_t at = outline_common(now, nearest);
    char text[2][160] = { "nothing", "nothing" };
    if (at < now->count)
        describe(&now->line[at], text[0], sizeof text[0]);
    if (at < nearest->count)
        describe(&nearest->line[at], text[1], sizeof text[1]);
    if (at == now->count && at == nearest->count)
        snprintf(out, capacity,
                 "its %u operations are those of compilation %llu, but other values are asked for, "
                 "or tensors lie elsewhere in memory",
                 at, (unsigned long long)nearest->number);
    else
        snprintf(out, capacity,
                 "its first %u of %u operations are those of compilation %llu, then comes %s "
                 "instead of %s%s",
                 at, now->count, (unsigned long long)nearest->number, text[0], text[1],
                 at < now->count && at < nearest->count ? advice(&now->line[at], &nearest->line[at])
                                                        : "");
}
