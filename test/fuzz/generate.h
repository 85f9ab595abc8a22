/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random programs whose values stay tame, so that their bounds say something. */
#ifndef TARN_FUZZ_GENERATE_H
#define TARN_FUZZ_GENERATE_H

#include "device.h"

struct generator {
    struct program *p;
    struct interpreter m[MAX_WORLD];
    struct tape tape;
    unsigned long long random;
    uint32_t next_id;
    int batch, width;
    int dropped; /* lines given up: a bound too large, or a comparison without an answer */
    int first;   /* first line of this segment */
};

/* What programs run on. 0 replicas: the seed tells. */
struct form {
    int world, shards;
    bool mesh;
    int half; /* 1: with half types; -1: without; 0: one in four of those for one device */
    int wide; /* 1: of 64 bits; -1: not; 0: one in five of what is left for one device */
};
/* A program of the seed. */
void generate(struct program *p, unsigned long long seed, struct form form);

enum { LEAF_ELEMENTS = 700 };

int below(struct generator *g, int n);
int some_length(struct generator *g);
bool chance(struct generator *g, int percent);
/* Appends a line if it is a legal call with tight bounds; its number, else -1. */
int try_line(struct generator *g, struct line l);
int new_leaf(struct generator *g, tarn_shape s, tarn_dtype dtype, enum fill fill, int limit);
/* Lines with one operand and one or no number. */
int try_op(struct generator *g, enum op_id op, int a, int b);
/* A random line of any op with result kind m, v, r or n; -1: nothing came of it. */
int grow(struct generator *g);
/* A leaf of a random op, of this shape where it can have one. */
int random_leaf(struct generator *g, tarn_shape s);
tarn_shape random_shape(struct generator *g);
/* One that broadcasts with this one: axes of 1, fewer axes. */
tarn_shape relative_shape(struct generator *g, tarn_shape s);
/* A line of this op that takes line a, or what suits the op; -1: it does not go. */
int grow_op(struct generator *g, enum op_id op, int a);
/* generate_net.c: a line of this op that takes line a or a leaf that suits. */
int grow_net(struct generator *g, enum op_id op, int a);
/* lines.c: likewise, along an axis. */
int grow_lines(struct generator *g, enum op_id op, int a);
/* A [N, C, H, W] tensor: line a if it is one (-1: none), or a leaf. */
int image(struct generator *g, int a);
/* Line i has a tensor that lives. */
bool usable(const struct generator *g, int i);
tarn_shape shape_of_line(const struct generator *g, int i);
/* Some line that can be used now: of a float type with `floats`; -1: none. */
int any_line(struct generator *g, bool floats);
/* A loss of line y and its gradients, as outputs. */
void add_gradient(struct generator *g, int y);
/* generate_batch.c: cuts pieces off a line's first axes and pads it to its shape again, so that
 * elements move. -1: it does not go. */
int shifted(struct generator *g, int a);
void generate_batch(struct generator *g);
/* generate_branches.c */
void generate_branches(struct generator *g);
/* generate_net.c: a picture that a convolution with a large window fits on, and the convolution. */
int large_window(struct generator *g);
/* generate_train.c */
void make_optimizer(struct generator *g);
void make_settings(struct generator *g);
void generate_training(struct generator *g);
/* Copies lines from .. to - 1, with data of their own. Line `loss` of the copy; -1: one of them
 * does not go again. */
int repeat_lines(struct generator *g, int from, int to, int loss);
/* halves.c */
void choose_half(struct program *p, unsigned long long seed, int form);
tarn_dtype some_half(struct generator *g);
int grow_half(struct generator *g, int a);
void some_autocast(struct generator *g);
/* doubles.c */
void choose_wide(struct program *p, unsigned long long seed, int form);
/* generate_shards.c */
void generate_shards(struct generator *g);
/* generate_cycle.c */
void generate_cycle(struct generator *g);

#endif
