/* SPDX-License-Identifier: Apache-2.0 */
/* From nests to kernels. */
#ifndef TARN_FUSE_H
#define TARN_FUSE_H

#include "compile/3_kernels/uses.h"

/* Sets placements and the lifetimes of values; may add nests that copy. */
tarn_status fuse(struct program_ir *p);

/* ---- shared by the files of this stage ---- */

static inline struct placement *at(const struct program_ir *p, const struct nest *n)
{
    return placement_of(p, n);
}
/* What nests must wait for, as far as they are placed. */
enum {
    PASSES_ON = 1, /* has its own block's results for whoever reads them in blocks */
    TINY = 2,
    REPLICABLE = 4,
    BY_ROWS = 8,  /* has its own samples' rows for whoever reads them by rows */
    PRODUCT = 16, /* runs before the kernel */
    WRITER_KINDS = 32
};
struct progress {
    int (*written)
        [WRITER_KINDS]; /* by value: after the last kernel in which nests of a kind write it */
    int *read;          /* by memory of owned tensors: after the last kernel that reads it */
};
/* Cycles: what one group does sooner than all units do it after a launch. The figure is for two of them. */
double tiny_work(const struct program_ir *p);
/* Lists the nests of each kernel. False without memory. */
bool list_nests(struct program_ir *p);
/* Whether a nest writes an owned tensor or an output. */
bool writes_out(const struct program_ir *p, const struct nest *n);
/* What is still read while it is written goes to a temporary first (hazards.c). */
tarn_status break_write_hazards(struct program_ir *p);
/* The memory of an owned tensor, which it may share with others; -1 for other values (hazards.c). */
int memory_of(const struct program_ir *p, const struct value *v);
/* Memories are numbered below this. */
int memory_count(const struct program_ir *p);
/* Whether every group can compute the nest for itself (replicate.c). */
bool is_replicable(const struct program_ir *p, const struct uses *u, const struct progress *g,
                   const struct nest *n);
/* The OUT axis by which a row-major nest can be one of a chain; -1: none. Then whether it reads by an expression no more
 * than the rows of the samples that it writes. At last: those that have no chain have no such axis (row_chains.c). */
int row_axis(const struct program_ir *p, const struct nest *n);
/* The same, unless a launch, after which all units share the nest, costs less. */
int worthy_row_axis(const struct program_ir *p, const struct nest *n);
bool reads_own_rows(const struct program_ir *p, const struct nest *n, const struct expr *e);
/* Whether a nest that is no tiny one reads what this one writes so. */
bool passes_rows_on(const struct program_ir *p, const struct uses *u, const struct nest *n);
/* Marks small nests that one group should not do one after the other; whether there are any (spread_chains.c). */
bool spread_chains(struct program_ir *p, const struct uses *u);
void free_single_rows(struct program_ir *p, const struct uses *u);
/* Chains of nests for work-items, while nests are placed one after the other (item_chains.c). NULL without memory. */
struct item_chains *item_chains_begin(const struct program_ir *p);
/* A nest that is placed: others may follow it. */
void item_chains_add(const struct program_ir *p, struct item_chains *s, const struct nest *n);
/* Whether a nest that would have to wait for a kernel goes into that one, in a chain; it does then. `room`: of code that
 * the kernel may take beside it, of which what the chain repeats takes *weight. */
bool item_chains_join(const struct program_ir *p, const struct uses *u, struct item_chains *s,
                      const struct nest *n, int kernel, int room, int *weight);
/* Notes them in the placements. Adds nests, with theirs: lists are to be made anew. False without memory. */
bool item_chains_end(struct program_ir *p, const struct item_chains *s);
/* A nest that the groups of a chain do for themselves, and where its copy runs. */
struct repetition {
    int nest;
    struct placement placement;
    const int *readers; /* the chain's own nests */
    int reader_count;
};
/* Makes the copies; those of one chain come one after the other (item_copies.c). False without memory. */
bool repeat_nests(struct program_ir *p, const struct repetition *list, int count);
/* Of a loop's body (repeat.c): which nests make the same in all steps, and of what runs again and again, which make the
 * same in all runs; before nests are placed, that small ones are shared by rows, too, where all are; and at last whether one
 * launch can do all steps of these. */
void find_once(struct program_ir *p, const struct uses *u);
bool share_rows_of_loop(struct program_ir *p, const struct uses *u);
bool can_repeat(const struct program_ir *p, const struct uses *u);
/* Lets kernels make transforms again that others would have to keep for them (again.c). Needs kernels; adds nests,
 * with their placements, and makes the lists anew. False without memory. */
bool compute_again(struct program_ir *p, struct uses *u);
/* Lets rounded values lie in 16 bits between kernels, and widened within one (halves.c). Changes nests, and makes the lists
 * anew. False without memory. */
bool place_halves(struct program_ir *p, struct uses *u);
/* Widens half values for the sums of products of a kernel (widen.c). Likewise. */
bool widen_blocks(struct program_ir *p, struct uses *u);
/* Whether all that takes a load of a half value widens it. */
bool is_always_widened(const struct nest *n, int load);
/* Replicates what batched nests read in the kernel that computes it (replicate.c). */
void replicate(struct program_ir *p, const struct uses *u);

#endif
