/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of nests for work-items, and what it costs. */
#ifndef TARN_ITEM_CHAIN_H
#define TARN_ITEM_CHAIN_H

#include "compile/nest.h"

#define LONGEST_CHAIN 16 /* nests */

struct item_chain {
    int nest[LONGEST_CHAIN],
        axis[LONGEST_CHAIN]; /* each with the axis that groups divide; -1: they have whole blocks */
    bool again[LONGEST_CHAIN]; /* each group, or each that has this slice, does it for itself */
    int count, parts;
    int weight; /* of the code that it repeats */
    double cycles;
};

static inline const struct nest *chain_nest(const struct program_ir *p, const struct item_chain *c,
                                            int t)
{
    return &p->nests[c->nest[t]];
}

/* The first nest that the chain does not just repeat. */
int chain_head(const struct item_chain *c);

/* Cycles of all units together: of a nest in a kernel without chains, and the groups that it has there; of a chain; and of
 * what each of so many groups does again (item_chain_cost.c). */
double nest_cycles_alone(const struct program_ir *p, const struct nest *n);
double nest_groups_alone(const struct program_ir *p, const struct nest *n);
double chain_cycles(const struct program_ir *p, const struct item_chain *c);
double chain_cycles_again(const struct program_ir *p, const struct item_chain *c, int t,
                          double groups);

#endif
