/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by lower.c (nodes to nests) and express.c (nodes to expressions inside a nest). */
#ifndef TARN_LOWER_H
#define TARN_LOWER_H

#include "compile/nest.h"

struct path_index;

struct lowering {
    struct program_ir *p;
    struct module *m;
    int *primary;         /* node -> value + 1 as its nest stores it (leaves: where they are) */
    int *plain;           /* node -> value + 1 of a row-major copy */
    int *blocked;         /* node -> value + 1 of a batch-innermost copy of a leaf */
    signed char *product; /* node -> 0 not asked yet, else 1 + its provider: 1 a nest */
    struct path_index *spare;
    tarn_status status;
};

#define PATH_MOST 64

/* The index of each node of a path. One is in use for each nest that is begun and not yet finished,
 * of which there may be many: so they are not on the stack. */
struct path_index {
    struct rational at[PATH_MOST][TARN_MAX_RANK];
    struct path_index *next; /* not in use */
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
    return l->m->operands[l->m->nodes[node].first_in + k];
}

/* Expression of a node's element at an index over the nest's axes. -1 on failure (status is set).
 */
int express(const struct site *s, uint32_t node, const struct rational *index);
/* Whether a node goes between the plain and the blocked layout as a copy (print_copy.c), which
 * turns 16 by 16 elements over in registers, where a nest's own loads and stores would be single
 * ones. */
bool crosses_by_copy(const struct lowering *l, uint32_t node);
/* The value of a node in a layout that suits; builds what is missing (nests are appended). */
int value_of(struct lowering *l, uint32_t node);
int plain_of(struct lowering *l, uint32_t node);
int blocked_of(struct lowering *l, uint32_t node);
/* Where a store of element `index` of a value goes. */
struct store store_at(const struct lowering *l, const struct nest *n, int value,
                      const struct rational *index);
/* An empty nest, and adding a finished one; -1 on failure. */
struct nest lower_nest(const char *name);
int lower_append(struct lowering *l, const struct nest *n);
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
/* The same for an OP_REDUCE (reduce.c). */
int reduce_begin(struct lowering *l, uint32_t core, struct nest *n, struct rational *out_index);
/* Looks up who computes each large matrix product (product.c), and builds the nest of a provider. */
void product_choose_all(struct lowering *l);
int product_nest(struct lowering *l, uint32_t node, int value);
/* Computes a node straight into a value of its own; what others read too is copied from there. */
int lower_into(struct lowering *l, uint32_t node, int value);
/* The value of an OP_HOST (call.c). */
int host_value(struct lowering *l, uint32_t node);
int lower_fail(struct lowering *l, tarn_status status);

#endif
