/* SPDX-License-Identifier: Apache-2.0 */
/* Which values are made, and in which order: each after all that its nests read. In: what a nest
 * needs. Out: values and their nests. What is under way lies on a stack of frames, not on the
 * thread's: graphs may be deep. */
#include <string.h>

#include "compile/2_nests/lowering.h"

enum frame_kind {
    FRAME_VALUE,   /* a node's own value */
    FRAME_COPY,    /* a copy of it in another layout */
    FRAME_PARTS,   /* the parts of a concat, each into its place */
    FRAME_NEST,    /* one nest */
    FRAME_MAP,     /* likewise, a plain map */
    FRAME_ROUTINE, /* the passes of a routine */
    FRAME_PRODUCT, /* a product left to a provider */
    FRAME_OPERAND  /* of a host call: into shared memory; others read a value of their own */
};

struct frame {
    enum frame_kind kind;
    uint32_t node;
    int step;
    struct destination to;
    enum layout layout;  /* COPY */
    uint32_t part;       /* PARTS: the next one */
    int in;              /* VALUE of a host call: its operand */
    struct halfway half; /* NEST */
    struct frame *below;
};

static struct frame *push(struct lowering *l, enum frame_kind kind, uint32_t node)
{
    struct frame *f = l->spare != NULL ? l->spare : arena_take(l->p->arena, sizeof *f);
    if (f == NULL) {
        lower_fail(l, TARN_ERR_MEMORY);
        return NULL;
    }
    if (f == l->spare)
        l->spare = f->below;
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->node = node;
    f->below = l->frames;
    l->frames = f;
    return f;
}

static void pop(struct lowering *l)
{
    struct frame *f = l->frames;
    l->frames = f->below;
    f->below = l->spare;
    l->spare = f;
}

static int push_into(struct lowering *l, enum frame_kind kind, uint32_t node,
                     const struct destination *to)
{
    struct frame *f = push(l, kind, node);
    if (f != NULL)
        f->to = *to;
    return f != NULL ? 0 : -1;
}

static int push_need(struct lowering *l)
{
    const struct need need = l->need;
    l->need = (struct need){ 0 };
    struct frame *f = push(l, need.kind == NEED_VALUE ? FRAME_VALUE : FRAME_COPY, need.node);
    if (f != NULL)
        f->layout = need.kind == NEED_BLOCKED ? LAYOUT_BLOCKED : LAYOUT_PLAIN;
    return f != NULL ? 0 : -1;
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* What a step comes to. */
enum outcome { FAILED = -1, DONE, GOES_ON };

/* Of something that was tried: pushes what it needs. */
static enum outcome tried(struct lowering *l, int result)
{
    if (result >= 0)
        return DONE;
    return l->status == TARN_OK && l->need.kind != NEED_NOTHING && push_need(l) == 0 ? GOES_ON
                                                                                     : FAILED;
}

static enum outcome pushed(int result)
{
    return result < 0 ? FAILED : GOES_ON;
}

/* What lies in memory as a node does, for nobody else, and can be made where that goes, in whole rows, though no nest of its
 * own makes it: a routine, such as a table's gradient among those of a bucket, or a product left to a provider. The node
 * itself, or what it is a reshape of; UINT32_MAX: nothing is. */
static uint32_t whole_below(const struct lowering *l, uint32_t node, const struct destination *to)
{
    const struct module *m = l->m;
    /* What others read, too, gets a value of its own. */
    while (m->nodes[node].op == &op_reshape && m->uses[node] == 1 && l->primary[node] == 0)
        node = lowering_operand(l, node, 0);
    const bool rows = l->p->values[to->value].layout == LAYOUT_PLAIN && to->axis == 0;
    const bool whole = m->nodes[node].op->kind == OP_ROUTINE || product_fits(l, node, to->value);
    return rows && whole && m->uses[node] == 1 && l->primary[node] == 0 ? node : UINT32_MAX;
}

static int push_whole(struct lowering *l, uint32_t whole, const struct destination *to)
{
    const bool routine = l->m->nodes[whole].op->kind == OP_ROUTINE;
    return push_into(l, routine ? FRAME_ROUTINE : FRAME_PRODUCT, whole, to);
}

/* The frame that writes a node, which has no value, to its destination. */
static int push_writer(struct lowering *l, uint32_t node, const struct destination *to)
{
    const uint32_t whole = whole_below(l, node, to);
    if (whole != UINT32_MAX)
        return push_whole(l, whole, to);
    const bool parts = l->m->nodes[node].op->kind == OP_CONCAT;
    return push_into(l, parts ? FRAME_PARTS : FRAME_NEST, node, to);
}

/* The operand of a host call goes to memory that the host shares; the call leaves its result
 * there, or in more of such memory. */
static enum outcome host_step(struct lowering *l, struct frame *f)
{
    struct program_ir *p = l->p;
    const struct op *op = l->m->nodes[f->node].op;
    const uint32_t x = lowering_operand(l, f->node, 0);
    if (f->step++ == 0) {
        f->in = new_value(l, PLACE_SHARED, LAYOUT_PLAIN, p->shared_count++, x);
        f->to.value = op->in_place
                          ? f->in
                          : new_value(l, PLACE_SHARED, LAYOUT_PLAIN, p->shared_count++, f->node);
        const struct destination to = { .value = f->in };
        return f->in < 0 || f->to.value < 0 ? FAILED : pushed(push_into(l, FRAME_OPERAND, x, &to));
    }
    if (host_nest(l, f->node, f->in, f->to.value) < 0)
        return FAILED;
    l->primary[f->node] = f->to.value + 1;
    return DONE;
}

/* The owned tensor, in blocks, that a value is made in. */
static int slot_of_blocks(const struct module *m, uint32_t node)
{
    int r = 0;
    while (m->roots[r].node != node || !m->roots[r].blocks)
        r++;
    return m->roots[r].owned;
}

static enum outcome value_step(struct lowering *l, struct frame *f)
{
    const struct node *n = &l->m->nodes[f->node];
    if (n->op->kind == OP_HOST)
        return host_step(l, f);
    if (f->step == 0) {
        const bool blocked = l->m->batched[f->node] && n->op->kind != OP_ROUTINE &&
                             l->m->lies[f->node] != LIES_IN_ROWS;
        const enum layout layout = blocked ? LAYOUT_BLOCKED : LAYOUT_PLAIN;
        const int owned =
            l->m->lies[f->node] == LIES_IN_BLOCKS ? slot_of_blocks(l->m, f->node) : -1;
        f->to.value = owned < 0 ? new_value(l, PLACE_ARENA, layout, 0, f->node)
                                : new_value(l, PLACE_LEFT, layout, (uint32_t)owned, f->node);
        if (f->to.value < 0)
            return FAILED;
        f->step = l->product[f->node] > 1 ? 1 : 2;
        if (f->step == 2 && n->op->kind == OP_ROUTINE)
            return pushed(push_into(l, FRAME_ROUTINE, f->node, &f->to));
        if (f->step == 2)
            return pushed(push_writer(l, f->node, &f->to));
    }
    if (f->step == 1) {
        const enum outcome o = tried(l, product_nest(l, f->node, &f->to));
        if (o != DONE)
            return o;
    }
    l->primary[f->node] = f->to.value + 1;
    return DONE;
}

static enum outcome copy_step(struct lowering *l, struct frame *f)
{
    int *cache = f->layout == LAYOUT_PLAIN ? l->plain : l->blocked;
    if (f->step++ == 0) {
        f->to.value = new_value(l, PLACE_ARENA, f->layout, 0, f->node);
        return f->to.value < 0 ? FAILED : pushed(push_into(l, FRAME_MAP, f->node, &f->to));
    }
    cache[f->node] = f->to.value + 1;
    return DONE;
}

/* A part that is itself joined along the axis, for nobody else. */
static bool is_joined_part(const struct lowering *l, uint32_t x, int axis)
{
    const struct node *n = &l->m->nodes[x];
    return n->op->kind == OP_CONCAT && n->arg.concat.axis == axis && l->m->uses[x] == 1 &&
           l->primary[x] == 0 && l->p->target->fuse;
}

static enum outcome parts_step(struct lowering *l, struct frame *f)
{
    const struct node *n = &l->m->nodes[f->node];
    if (f->part == n->in_count)
        return DONE;
    const uint32_t x = lowering_operand(l, f->node, f->part++);
    struct destination to = f->to;
    to.axis = n->arg.concat.axis;
    f->to.offset += l->m->nodes[x].shape.dim[to.axis];
    /* A part without the batch, such as a constant, is spread over the samples' blocks, and one in rows is turned. */
    const bool spread = l->p->values[to.value].layout == LAYOUT_BLOCKED &&
                        (!l->m->batched[x] || l->m->lies[x] == LIES_IN_ROWS);
    const uint32_t whole = whole_below(l, x, &to);
    if (whole != UINT32_MAX)
        return pushed(push_whole(l, whole, &to));
    return pushed(push_into(l,
                            spread                          ? FRAME_MAP
                            : is_joined_part(l, x, to.axis) ? FRAME_PARTS
                                                            : FRAME_NEST,
                            x, &to));
}

/* Computes a node straight into shared memory; what others read too is copied from there. */
static enum outcome operand_step(struct lowering *l, struct frame *f)
{
    const enum op_kind kind = l->m->nodes[f->node].op->kind;
    if (f->step == 2 || tarn_shape_count(l->m->nodes[f->node].shape) == 0)
        return DONE;
    if (f->step++ == 0 && l->m->uses[f->node] > 1 && kind != OP_LEAF && l->primary[f->node] == 0)
        return pushed(push(l, FRAME_VALUE, f->node) != NULL ? 0 : -1);
    f->step = 2;
    if (l->primary[f->node] > 0 || kind == OP_HOST)
        return pushed(push_into(l, FRAME_MAP, f->node, &f->to));
    if (kind == OP_CONCAT || kind == OP_ROUTINE || reaches_core(l, f->node))
        return pushed(push_writer(l, f->node, &f->to));
    return pushed(push_into(l, FRAME_MAP, f->node, &f->to));
}

static enum outcome step(struct lowering *l, struct frame *f)
{
    switch (f->kind) {
    case FRAME_VALUE:
        return value_step(l, f);
    case FRAME_COPY:
        return copy_step(l, f);
    case FRAME_PARTS:
        return parts_step(l, f);
    case FRAME_NEST:
        return tried(l, make_nest(l, f->node, &f->to, &f->half));
    case FRAME_ROUTINE:
        return tried(l, routine_nests(l, f->node, &f->to));
    case FRAME_PRODUCT:
        return tried(l, product_nest(l, f->node, &f->to));
    case FRAME_MAP:
        return tried(l, make_map_nest(l, f->node, &f->to));
    case FRAME_OPERAND:
        return operand_step(l, f);
    }
    return FAILED;
}

/* Runs the frames above `until`. */
static int run(struct lowering *l, const struct frame *until)
{
    while (l->frames != until) {
        const enum outcome o = step(l, l->frames);
        if (o == FAILED)
            return -1;
        if (o == DONE)
            pop(l);
    }
    return 0;
}

int make_needed(struct lowering *l)
{
    const struct frame *until = l->frames;
    if (l->status != TARN_OK || l->need.kind == NEED_NOTHING || push_need(l) < 0)
        return -1;
    return run(l, until);
}

int make_value(struct lowering *l, uint32_t node)
{
    return value_of(l, node) >= 0 ? 0 : make_needed(l);
}

int make_into(struct lowering *l, uint32_t node, const struct destination *t)
{
    const struct frame *until = l->frames;
    return push_writer(l, node, t) < 0 ? -1 : run(l, until);
}
