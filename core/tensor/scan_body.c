/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said of a scan's body by its nodes alone. */
#include "tensor/scan.h"

#include <stdlib.h>

bool scan_steps_lead(const struct node *n)
{
    return n->op == &op_held
               ? n->arg.leaf.axis != 0
               : (n->op == &op_piece || n->op == &op_steps) && n->arg.piece.steps_lead;
}

bool scan_is_cheap(const struct node *n)
{
    return n->op == &op_constant || n->op == &op_iota || n->op == &op_number;
}

bool *scan_variant(const struct graph *g, const struct scan *s)
{
    bool *variant = calloc((size_t)(s->end - s->first) + 1, sizeof *variant);
    for (uint32_t i = s->first; variant != NULL && i < s->end; i++) {
        const struct node *n = graph_origin(g, i);
        bool differs = n->op == &op_scan_value || n->op == &op_rand;
        for (uint32_t k = 0; k < n->in_count && !differs; k++) {
            const uint32_t x = g->operands[n->first_in + k];
            differs = x >= s->first && variant[x - s->first];
        }
        variant[i - s->first] = differs;
    }
    return variant;
}

uint32_t scan_base(const struct graph *g, uint32_t node)
{
    const struct node *n = &g->nodes[node];
    while (n->op == &op_expand || n->op == &op_permute || n->op == &op_reshape) {
        node = g->operands[n->first_in];
        n = &g->nodes[node];
    }
    return node;
}
