/* SPDX-License-Identifier: Apache-2.0 */
/* From the module to nests: shared by the files of this stage.
 *
 * make_nest.c makes one nest at a time and reads values that are there. What has no value yet it writes into
 * l->need, and gives up. values.c then makes that value first, and has the nest built again; so no file
 * here calls back into another one, however deep the graph is. lower.c goes through the roots. */
#ifndef TARN_LOWERING_H
#define TARN_LOWERING_H

#include "compile/nest.h"

/* What the nest under way reads that has no value yet. */
enum need_kind {
    NEED_NOTHING,
    NEED_VALUE,  /* in any layout */
    NEED_PLAIN,  /* a row-major copy of its value */
    NEED_BLOCKED /* a batch-innermost copy */
};
struct need {
    enum need_kind kind;
    uint32_t node;
};

struct frame;
struct path_index;
struct destination;

struct lowering {
    struct program_ir *p;
    struct module *m;
    int *primary;         /* node -> value + 1 as its nest stores it (leaves: where they are) */
    int *plain;           /* node -> value + 1 of a row-major copy */
    int *blocked;         /* node -> value + 1 of a batch-innermost copy of a leaf */
    signed char *product; /* node -> 1 + its provider: 1 a nest */
    struct need need;
    struct expr *exprs;            /* of the nest under way: EXPRS_ROOM of them */
    struct path_index *path_index; /* likewise */
    struct frame *frames, *spare;  /* of values.c */
    tarn_status status;
};

#define EXPRS_ROOM 1024
#define PATH_MOST 64

/* The index of each node of a path. */
struct path_index {
    struct rational at[PATH_MOST][TARN_MAX_RANK];
};

/* The nodes from a nest's root down to its core. Their indices come from the core upwards, since a
 * reshape between them may split axes, which no index can follow downwards. */
struct path {
    uint32_t node[PATH_MOST];
    struct path_index *index;
    int length;
};

/* Where an expression is being built. */
struct site {
    struct lowering *l;
    struct nest *nest;
    uint32_t root; /* node that the nest computes: never read from memory while it is built */
    uint32_t core; /* node whose value the accumulator holds; UINT32_MAX: none */
    const struct path *path; /* from the root down to the core; NULL: none */
    bool by_sample;          /* sums by sample: this operand runs along the lanes, row by row */
    bool blocks;             /* index 0 of samples is 16 * block + lane, over the last two axes */
    bool reuse;              /* each element is read many times: read it from a good layout */
};

static inline uint32_t lowering_operand(const struct lowering *l, uint32_t node, uint32_t k)
{
    return module_operand(l->m, node, k);
}

/* Expression of a node's element at an index over the nest's axes. -1 on failure (status is set).
 */
int express(const struct site *s, uint32_t node, const struct rational *index);
/* Makes the nest wait for a value: loads that nothing uses say so to the later passes. -1 as express(). */
int express_wait(const struct site *s, uint32_t node);
/* Whether a node goes between the plain and the blocked layout as a copy (print_copy.c), which
 * turns 16 by 16 elements over in registers, where a nest's own loads and stores would be single
 * ones. */
bool crosses_by_copy(const struct lowering *l, uint32_t node);
/* ---- what is there (lookup.c) ---- */

/* A new value of a node's shape and type; -1 on failure. */
int new_value(struct lowering *l, enum value_place place, enum layout layout, uint32_t slot,
              uint32_t node);
/* The value of a node in a layout that suits, or in one layout. -1 when it is not there: then it
 * is needed, unless something else was before. */
int value_of(struct lowering *l, uint32_t node);
int plain_of(struct lowering *l, uint32_t node);
int blocked_of(struct lowering *l, uint32_t node);
/* ---- pieces of nests (pieces.c and others) ---- */

/* Where a store of element `index` of a value goes. */
struct store store_at(const struct lowering *l, int value, const struct rational *index);
/* The same of whole rows, one after the other. */
struct store store_whole(const struct lowering *l, const struct destination *to);
/* An empty nest, and adding a finished one; -1 on failure. */
struct nest lower_nest(const struct lowering *l, const char *name);
int lower_append(struct lowering *l, const struct nest *n);
/* The loops of a plain map over a node, and the index of its element. */
struct nest map_begin(const struct lowering *l, uint32_t root, struct rational *index);
/* Adds the guard that an index lies inside, unless it always does; returns the new count. */
int guard_add(const struct nest *n, struct guard *guards, int count, const struct rational *index,
              int32_t extent);
/* Whether a partial sum goes sample by sample; then returns which operand's rows are the lanes,
 * else -1 (samples.c). `rank` is that of both operands and of the result. */
int choose_samples(struct nest *n, const struct contract *c, const int rank[3]);
/* What a map says of dimension d, over the nest's axes. */
struct rational lower_mapped(const struct contract_map *map, int axes, int d);
/* The nest of an OP_TRANSFORM but for its store, and the index of its element (transform_nest.c).
 * -1 on failure. */
int transform_begin(struct lowering *l, uint32_t core, struct nest *n, struct rational *out_index);
/* The same for an OP_REDUCE (reduction.c). */
int reduce_begin(struct lowering *l, uint32_t core, struct nest *n, struct rational *out_index);
/* Whether a sum is to be made in several nests, and all of them but the last, which `n` becomes
 * without its store. -1 on failure (split_sum.c). */
bool splits_sum(const struct lowering *l, const struct nest *n);
int split_sum(struct lowering *l, struct nest *n);
/* The same for the first half of a sum over the batch. */
bool splits_rows(const struct lowering *l, const struct nest *n);
int split_rows(struct lowering *l, struct nest *n);
/* Looks up who computes each large matrix product (product.c), and builds the nest of a provider. */
void product_choose_all(struct lowering *l);
int product_nest(struct lowering *l, uint32_t node, const struct destination *to);
/* Whether a provider may write a product straight into a value. */
bool product_fits(const struct lowering *l, uint32_t node, int value);
/* The nests of an OP_ROUTINE's passes (routine.c). */
int routine_nests(struct lowering *l, uint32_t node, const struct destination *to);
/* The nest of an OP_HOST, whose operand is in value `in` and whose result goes to `out`
 * (host_call.c). */
int host_nest(struct lowering *l, uint32_t node, int in, int out);

/* ---- one nest (make_nest.c) ---- */

/* Where a finished nest writes: to a value, with an offset along one axis (for concat). */
struct destination {
    int value;
    int axis;
    int32_t offset;
};
/* What is kept of a sum between its nests: the first one of a sum over the batch, the last one of
 * another that is split. */
struct halfway {
    bool done; /* all but the last are appended */
    uint32_t core;
    struct nest nest;
    struct rational index[TARN_MAX_RANK]; /* of the core over the OUT axes */
};

/* Appends the nest that writes a node to its destination. 0: done; -1: failed, or something is
 * needed; then to be called again with the same `half`, which is zeroed before the first call. */
int make_nest(struct lowering *l, uint32_t root, const struct destination *t, struct halfway *half);
/* The same as a plain map, which reads the node's value where there is one. */
int make_map_nest(struct lowering *l, uint32_t root, const struct destination *t);
/* Whether the nest of a node has a sum at its core. */
bool reaches_core(const struct lowering *l, uint32_t root);

/* ---- values (values.c) ---- */

/* Makes what is needed, and what that needs. Both return -1 on failure. */
int make_needed(struct lowering *l);
/* Makes the value of a node, if there is none. */
int make_value(struct lowering *l, uint32_t node);
/* Computes a node into a value that is there: as one nest, or one for each part of a concat. */
int make_into(struct lowering *l, uint32_t node, const struct destination *t);
int lower_fail(struct lowering *l, tarn_status status);

#endif
