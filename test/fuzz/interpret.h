/* SPDX-License-Identifier: Apache-2.0 */
/* What a program computes, in double and with bounds. */
#ifndef TARN_FUZZ_INTERPRET_H
#define TARN_FUZZ_INTERPRET_H

#include "program.h"
#include "tape.h"

/* A tensor that the replica owns. Tape nodes, -1: none. */
struct slot {
    int line, part; /* what made it */
    bool parameter, alive;
    int value, gradient, accumulated;
    int moment[3], steps; /* of the optimizer */
    bool together;        /* its new value is the same on all replicas */
    bool apart;           /* a step before left another value on each replica */
    int news;             /* of running statistics: what a step adds to 0.9 times the old value */
};

/* One replica's state. Those of all p->world replicas are an array with one tape: each line runs on
 * all before the next. Copied as a whole to go back to an earlier line. */
struct interpreter {
    struct program *p;
    struct tape *tape;
    struct interpreter *team; /* the array, in which this is element `rank` */
    int rank;
    int shared;           /* of rank 0: what a collective gives all replicas, one after the other */
    int value[MAX_LINES]; /* node of a line; of an owned one its slot */
    struct slot slot[MAX_OWNED];
    int slots;
    int optimizer; /* line, or -1 */
    /* Of each slot: how its settings differ from the optimizer's; no failing step undoes them. */
    struct {
        bool frozen, scaled, decays;
        double factor, decay;
    } set[MAX_OWNED];
    bool training, updates, winograd;
    bool begun;     /* all replicas have rank 0's parameters and buffers */
    bool exchanged; /* in this step: running statistics are the mean over all replicas */
    bool summed, summed_before; /* what was accumulated is summed over all replicas */
    uint64_t step_count, side_steps;
    unsigned rand_count;
    struct slot before[MAX_OWNED]; /* at the last step mark */
    int before_slots;
};

/* m has MAX_WORLD elements. */
void interpret_begin(struct interpreter *m, struct program *p, struct tape *t);
/* On all replicas. False: the line asks for what is not there (no gradient, no optimizer). */
bool interpret_line(struct interpreter *m, int i);
/* Node that holds what line i is now. */
int interpret_node(const struct interpreter *m, int i);
/* Slot of line i; -1: none. */
int interpret_slot(const struct interpreter *m, int i);

/* interpret_op.c: a function of tensors. Node, or -1. */
int interpret_op(struct interpreter *m, const struct line *l);
/* halves.c: x rounded where the type is a half type; and what a line made, which is kept in its type. */
int interpret_half(struct tape *t, int x, tarn_dtype dtype);
int interpret_map_half(struct tape *t, int y, tarn_dtype dtype); /* the same of a map's value */
int interpret_kept(struct tape *t, const struct line *l, int y);
/* interpret_net.c */
int interpret_net(struct interpreter *m, const struct line *l);
int interpret_reduce(struct interpreter *m, const struct line *l, int x, tarn_shape from);
/* lines.c */
int interpret_lines(struct interpreter *m, const struct line *l);
/* interpret_train.c */
bool interpret_backward(struct interpreter *m, const struct line *l);
bool interpret_optimizer_step(struct interpreter *m);
bool interpret_accumulate(struct interpreter *m);
bool interpret_setting(struct interpreter *m, int i);
int interpret_clip(struct interpreter *m, double most);

/* interpret_team.c: an exchange of tensors, and that of gradients which line l begins with. */
int interpret_collective(struct interpreter *m, const struct line *l);
void interpret_exchange(struct interpreter *m, const struct line *l);
/* A value whose gradients are those of the sum of line i over all replicas. */
int interpret_loss(struct interpreter *m, int i);

/* Helpers. Nodes of operand k; brought to a shape by broadcasting. */
int interpret_operand(const struct interpreter *m, const struct line *l, int k);
int spread_to(struct tape *t, int x, tarn_shape from, tarn_shape to);
/* Sum over the axes of `mask`. */
int sum_axes(struct tape *t, int x, tarn_shape from, unsigned mask);
/* Element of the reduced tensor that element i goes to. */
int *reduced_index(tarn_shape from, unsigned mask, int *count);
/* The largest (sign 1) or smallest (-1) of each group; with `first` the first of equals has the
 * slope. */
int extreme(struct tape *t, int x, int count, const int *group, int sign, bool first);
int uniform(struct interpreter *m, int count);
/* What tarn_randn and tarn_randn_truncated give. */
int normal(struct interpreter *m, const struct line *l);
int64_t position_of(tarn_shape s, const int *at);
bool next_position(tarn_shape s, int *at);

#endif
