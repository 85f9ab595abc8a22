/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of sharding share: the global program's nodes, each once, with what is wished for them and the forms
 * in which they were computed so far. */
#ifndef TARN_PLANNER_H
#define TARN_PLANNER_H

#include "compile/module.h"
#include "shard/emit.h"

/* A value as it lies on the ranks once it was made, and the node that has a rank's part. */
struct version {
    struct state state;
    uint32_t node;
    struct version *next;
    uint32_t pass, gathers; /* of the planner, when it was last used, and when it was made */
};
struct value_plan {
    struct version *versions;
    struct state wish; /* dimensions, STATE_WHOLE where a spec says so, or STATE_UNSET */
    bool free;         /* computed of constants and numbers alone */
    bool parameter; /* an owned tensor, or a view of one: may be gathered without breaking a wish */
    bool gathered;  /* a copy was made */
    bool drops; /* a parameter that is cut, or a view of one: copies do not stay (copy_life.c) */
};

struct planner {
    const struct shard_input *in;
    const struct mesh *mesh;
    struct arena arena;
    struct module m;
    struct value_plan *values;
    struct emitter e;
    bool parameters_wish;      /* their wishes are carried now, too */
    uint32_t reader;           /* the node for which values are moved; UINT32_MAX: for the caller */
    const struct node **owned; /* assignments, by slot */
    uint32_t pass;             /* forward and backward parts that have begun */
    bool backward;             /* the part under way */
    uint32_t gathers;          /* of parameters whose copies do not stay */
    uint32_t after;            /* a node that such a gather waits for; 0: none */
};

/* Leaves that lie in memory as their specs say. */
static inline bool has_spec(const struct op *op)
{
    return op == &op_input || op == &op_owned || op == &op_held;
}
/* How such a leaf lies. */
static inline struct state leaf_state(const struct mesh *m, const struct node *n)
{
    return state_with_sums(m, state_of_spec(m, &n->arg.leaf.spec), n->arg.leaf.pending);
}
void form_of(const struct module *m, uint32_t node, struct form *out);
/* Dimensions that should be cut, from specs, forward and backward over the nodes. */
void find_wishes(struct planner *p);
/* How an output or an assigned tensor is to lie. */
struct state root_state(const struct planner *p, const struct root *r);
/* What a move costs that brings a value into a state, and the node that has it then; `masks`: also by making
 * it a pending sum. */
int64_t reach_cost(struct planner *p, uint32_t value, struct state want, bool masks);
uint32_t reach(struct planner *p, uint32_t value, struct state want, bool masks);
void keep_version(struct planner *p, uint32_t value, struct state state, uint32_t node);

/* Of which parameters copies are dropped, and made again (copy_life.c). */
void find_copies_to_drop(struct planner *p);
/* Notes that the next node is lowered. */
void begin_pass(struct planner *p, uint32_t node);
/* Whether a version is there still. */
bool is_there(const struct planner *p, uint32_t value, const struct version *v);
/* Chooses how a node is computed, and emits it. */
void lower_node(struct planner *p, uint32_t node);
/* What a value becomes whose sums are combined: what is wished, or whole. */
struct state settled(const struct planner *p, uint32_t node, struct state s);
/* The same for products of rows that are cut in steps (rows.c); false: it is none. */
bool lower_rows(struct planner *p, uint32_t node);
/* Whether a node takes such a product apart again: then what its rows are made of has the same wishes along
 * dimension 1. */
bool rows_source(const struct planner *p, uint32_t node, uint32_t *source);
/* One line of the log. */
void log_line(struct planner *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
