/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the batch axis, and which values carry it as axis 0: those are stored batch
 * innermost in blocks. In: the module. Out: its batch, and which nodes carry it; then blocks and
 * groups. Knows no device: the order of sums hangs on it (target->samples is the same for all). */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/1_graph/images.h"
#include "tensor/shape.h"
#include "tensor/spread_label.h"
#include "tensor/sum_order.h"

#define IDLE_SHARE 5 /* idle lanes count from one for so many samples on */

/* Whether the program's word made these a batch's samples, where virtual shards divide them. */
static bool is_said(const struct module *m, uint32_t i)
{
    return m->said[i] == BATCH_SAMPLES && m->nodes[i].spread == SPREAD_SAMPLES;
}

/* How surely a value holds samples: the program said it, a loader delivered it, the program gave
 * it, or it was kept. The optimizer keeps gradients. */
static enum certainty data_of(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (m->shards > 0)
        return is_said(m, i)                                 ? LOADED_DATA
               : n->op->kind != OP_LEAF || n->op == &op_rand ? NO_DATA
               : n->spread == SPREAD_SAMPLES                 ? LOADED_DATA
               : n->spread == SPREAD_EITHER                  ? GIVEN_DATA
                                                             : NO_DATA;
    if (m->said[i] != BATCH_UNSAID)
        return m->said[i] == BATCH_SAMPLES ? SAID_DATA : NO_DATA;
    if (n->op == &op_held)
        return n->arg.leaf.bits ? LOADED_DATA : NO_DATA;
    if (n->op == &op_input)
        return n->part ? LOADED_DATA : GIVEN_DATA;
    return n->op == &op_owned && m->program->storage[n->arg.leaf.slot].kept ? KEPT_DATA : NO_DATA;
}

/* What virtual shards divide may have been reshaped to several rows for each sample, so there the fewest rows
 * are the samples. */
static void count_samples(struct module *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        if (n->spread == SPREAD_SAMPLES && m->uses[i] > 0 && n->shape.dim[0] < m->batch)
            m->batch = n->shape.dim[0];
    }
}

/* Whether the program marks a leaf of the module. */
static bool is_marked(const struct module *m, uint32_t leaf, const bool *marks)
{
    const struct node *n = &m->nodes[leaf];
    for (uint32_t i = 1; i < m->program->count; i++) {
        const struct node *p = &m->program->nodes[i];
        if (marks[i] && p->op == n->op && memcmp(&p->arg, &n->arg, sizeof n->arg) == 0)
            return true;
    }
    return false;
}

/* Where convolutions go over no data, such as a style that an image learns, their images are the samples: what
 * those are made of, parameters and noise, has rows of them. */
static void find_made_images(struct module *m)
{
    const int32_t images = most_images(m);
    if (images == 0)
        return;
    bool *marks = arena_take(m->arena, m->program->count);
    bool *made = arena_take(m->arena, m->count);
    if (marks == NULL || made == NULL)
        return;
    find_makings(m, images, marks);
    for (uint32_t i = 0; i < m->count; i++) {
        made[i] = m->nodes[i].op->kind == OP_LEAF && m->uses[i] > 0 && m->said[i] == BATCH_UNSAID &&
                  is_marked(m, i, marks);
        if (made[i]) {
            m->made = made;
            m->source = (struct batch_source){ .data = NO_DATA, .node = i };
            m->batch = images;
        }
    }
}

/* The first dimension of the largest of the surest. */
static void find_batch(struct module *m)
{
    int64_t largest = 0;
    m->source.data = KEPT_DATA;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        const int64_t bytes = tarn_shape_count(n->shape) * (int64_t)tarn_dtype_bytes(n->dtype);
        const enum certainty data = data_of(m, i);
        if (n->shape.rank == 0 || m->uses[i] == 0 || data < m->source.data ||
            (data == m->source.data && bytes <= largest))
            continue;
        m->source = (struct batch_source){ .data = data, .node = i };
        largest = bytes;
        m->batch = n->shape.dim[0];
    }
    if (m->shards > 0 && m->source.data == LOADED_DATA)
        count_samples(m);
    if (m->shards == 0 && m->source.data <= GIVEN_DATA && !convolves_samples(m, m->batch))
        find_made_images(m);
}

/* The axis of a contraction that is the batch: of the result, or summed over (*reduced). */
int contract_batch_axis(const struct module *m, uint32_t node, const struct contract *c,
                        bool *reduced)
{
    const struct node *n = &m->nodes[node];
    const int out = spread_leading_axis(&c->out, c->axes, n->shape.rank);
    int summed = -1;
    *reduced = false;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t x = module_operand(m, node, k);
        if (!m->batched[x])
            continue;
        const int axis = spread_leading_axis(&c->in[k], c->axes, m->nodes[x].shape.rank);
        if (axis >= 0 && axis == out && n->shape.dim[0] == m->batch)
            return axis;
        if (axis >= c->out_axes)
            summed = axis;
    }
    *reduced = summed >= 0;
    return summed;
}

int transform_batch_axis(const struct module *m, uint32_t node, const struct transform_map *c)
{
    const struct node *n = &m->nodes[node];
    const uint32_t x = module_operand(m, node, 0);
    if (!m->batched[x] || n->shape.dim[0] != m->batch)
        return -1;
    const int axis = spread_leading_axis(&c->in, c->axes, m->nodes[x].shape.rank);
    return axis == spread_leading_axis(&c->out, c->axes, n->shape.rank) ? axis : -1;
}

static struct contract contract_of(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    const tarn_shape in[2] = { m->nodes[module_operand(m, i, 0)].shape,
                               m->nodes[module_operand(m, i, 1)].shape };
    struct contract c;
    memset(&c, 0, sizeof c);
    n->op->contract(n, in, &c);
    return c;
}

static bool carries_batch(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (n->shape.rank == 0 || n->shape.dim[0] != m->batch || tarn_shape_count(n->shape) == 0)
        return false;
    bool reduced;
    struct contract c;
    struct transform_map transform;
    if (m->said[i] != BATCH_UNSAID && m->shards == 0)
        return m->said[i] == BATCH_SAMPLES;
    switch (n->op->kind) {
    case OP_LEAF:
        if (m->made != NULL)
            return m->made[i] || data_of(m, i) > KEPT_DATA;
        /* What a program keeps beside batches that are known is more often no batch. */
        return data_of(m, i) > (m->source.data > GIVEN_DATA ? KEPT_DATA : NO_DATA);
    case OP_VIEW:
        return m->batched[module_operand(m, i, 0)] &&
               spread_view_keeps(n, m->nodes[module_operand(m, i, 0)].shape);
    case OP_REDUCE:
        return m->batched[module_operand(m, i, 0)] && (n->arg.reduce.axes & 1) == 0;
    case OP_CONTRACT:
        c = contract_of(m, i);
        return contract_batch_axis(m, i, &c, &reduced) >= 0 && !reduced;
    case OP_TRANSFORM:
        memset(&transform, 0, sizeof transform);
        n->op->transform(n, m->nodes[module_operand(m, i, 0)].shape, &transform);
        return transform_batch_axis(m, i, &transform) >= 0;
    case OP_GATHER:
        return m->batched[module_operand(m, i, 1)];
    case OP_MAP:
    case OP_CONCAT:
    case OP_ROUTINE:
        if ((n->op->kind == OP_CONCAT && n->arg.concat.axis == 0) ||
            (n->op->kind == OP_ROUTINE && n->arg.routine.axis <= 0))
            return false;
        for (uint32_t k = 0; k < n->in_count; k++)
            if (m->batched[module_operand(m, i, k)])
                return true;
        return false;
    case OP_HOST:
    case OP_COMPOSED:
    case OP_EFFECT:
        break;
    }
    return false;
}

bool needs_all_samples(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (n->op->kind == OP_HOST || n->op->kind == OP_ROUTINE)
        return true;
    for (uint32_t k = 0; k < n->in_count && !m->batched[i]; k++)
        if ((n->op->kind == OP_REDUCE || n->op->kind == OP_CONTRACT) &&
            m->batched[module_operand(m, i, k)])
            return true;
    return false;
}

/* This replica's virtual shards, where the plan has samples that they divide. */
static int count_shards(const struct module *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->uses[i] > 0 && m->nodes[i].spread == SPREAD_SAMPLES &&
            (m->nodes[i].op->kind == OP_LEAF || is_said(m, i)))
            return m->program->partition.shards / m->program->partition.world;
    return 0;
}

/* In each step of a loop one unit would go through a block, whose lanes idle; and most of what steps compute are products,
 * which need no blocks. */
static int smallest_batch(const struct module *m)
{
    const bool multiplies = m->program->steps > 0 && m->shards == 0 && !convolves_samples(m, 1);
    return multiplies ? LANES : SMALLEST_BATCH;
}

/* Whether blocks of samples, most of whose lanes idle, are sooner done than values without a batch.
 * Of convolutions those take lanes from the rows of images, or from channels (few.c), but none from short rows
 * of few channels, or where gradients are computed, too. Measured on
 * one core: a sample alone then costs 1.5 of a whole block, and a quarter of it with long rows; so
 * the weights below are 18 and 3 twelfths. Products of few samples read weights for the most part,
 * and are as fast without blocks. */
static bool few_pay(const struct module *m)
{
    const bool gradients = has_gradients(m);
    double block = 0, alone = 0;
    for (uint32_t i = 1; i < m->program->count; i++) {
        const struct node *n = &m->program->nodes[i];
        const bool has_images = n->op == &op_conv2d || n->op == &op_conv2d_input;
        if (!has_images || n->shape.dim[0] != m->batch || !m->needed[i])
            continue;
        const double work = convolution_work(m->program, n) / m->batch;
        block += 12 * work;
        const bool channels = !gradients && lanes_from_channels(n);
        alone += (n->shape.dim[n->shape.rank - 1] < LANES && !channels ? 18 : 3) * work * m->batch;
    }
    return alone > 0 && alone >= block;
}

enum convolutions convolutions_wanted(const struct module *m)
{
    if (!m->source.few || m->shards > 0 || m->target->items ||
        m->target->winograd == WINOGRAD_ALWAYS)
        return CONVOLVE_BLOCKS;
    return has_gradients(m) ? CONVOLVE_DIRECTLY : CONVOLVE_LANES;
}

/* Those that virtual shards divide have the rule, and single samples without gradients. */
bool lanes_would_idle(const struct module *m)
{
    const int idle = (LANES - m->samples % LANES) % LANES;
    const int least = has_gradients(m) ? 1 : 2;
    return m->samples >= least && idle * IDLE_SHARE >= m->samples && m->shards == 0;
}

/* Uses of a node as images, and in sums over samples such as a bias has for its gradient. */
struct image_uses {
    uint32_t images, sums;
};

static void count_images(const struct module *m, struct image_uses *of)
{
    memset(of, 0, m->count * sizeof *of);
    for (uint32_t i = 0; i < m->count && m->batch > 0; i++) {
        const struct node *n = &m->nodes[i];
        for (uint32_t k = 0; k < n->in_count && k < 2 && m->uses[i] > 0; k++) {
            const uint32_t x = module_operand(m, i, k);
            of[x].images += goes_over(n->op, k) && m->nodes[x].shape.dim[0] == m->batch;
            of[x].sums += n->op->kind == OP_REDUCE && (n->arg.reduce.axes & 1) != 0;
        }
    }
}

/* Of rows that were gathered from all samples, what convolutions alone read is a batch again: else their lanes would read
 * it element by element, for each tile anew. */
static bool is_batch_again(const struct module *m, uint32_t i, const struct image_uses *of)
{
    return !m->batched[i] && m->nodes[i].op->kind == OP_VIEW && of[i].images > 0 &&
           of[i].images + of[i].sums == m->uses[i];
}

/* Where samples and their frames become one axis, or batches are joined, as two views of each picture. */
static bool begins_frames(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (m->target->samples != SAMPLES_FRAMES || m->batched[i] || n->shape.rank == 0 ||
        n->shape.dim[0] != m->batch)
        return false;
    const struct node *in = &m->nodes[module_operand(m, i, 0)];
    return (n->op == &op_batch_axis && in->op->kind == OP_CONCAT) ||
           (n->op == &op_reshape && in->shape.rank > 0 && in->shape.dim[0] != m->batch);
}

static void mark_batched(struct module *m, struct image_uses *images)
{
    count_images(m, images);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        m->batched[i] = m->batch > 0 && carries_batch(m, i);
        if (is_batch_again(m, i, images) || begins_frames(m, i))
            m->batched[i] = m->stored[i] = true;
        /* A gradient that all samples have alike is a constant to this pass. */
        if (m->shards > 0 && n->spread == SPREAD_SAMPLES)
            m->batched[i] |= n->shape.rank > 0 && n->shape.dim[0] == m->batch;
        /* What becomes a batch by the program's word is laid out for its readers. */
        if (m->batched[i] && m->said[i] == BATCH_SAMPLES && m->uses[i] > 0 && !n->op->in_memory)
            m->stored[i] = true;
    }
}

static bool are_alone(const struct module *m)
{
    switch (m->target->samples) {
    case SAMPLES_ALONE:
        return true;
    case SAMPLES_BLOCKS:
    case SAMPLES_FRAMES:
        return false;
    case SAMPLES_BY_RULE:
        break;
    }
    return m->batch < smallest_batch(m) && !few_pay(m);
}

void find_batch_axis(struct module *m)
{
    struct image_uses *images = arena_take(m->arena, (m->count + 1) * sizeof *images);
    if (images == NULL)
        return;
    m->shards = count_shards(m);
    find_batch(m);
    m->samples = m->batch;
    const int32_t frames = m->target->samples != SAMPLES_BY_RULE ? convolved_frames(m) : 0;
    if (frames > 0)
        m->samples = m->batch = frames; /* what a chain goes through, an image after the other */
    if (are_alone(m)) {
        m->source.few = m->batch > 0;
        m->batch = 0;
    }
    mark_batched(m, images);
    lay_out_otherwise(m);
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t k = 0; k < m->nodes[i].in_count; k++) {
            const uint32_t x = module_operand(m, i, k);
            const int after = m->phase[x] + needs_all_samples(m, x);
            m->phase[i] = after > m->phase[i] ? after : m->phase[i];
        }
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Whether the compiler sums what was recorded as a sum over samples in rows, one for each shard. */
static bool sums_in_rows(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (n->spread != SPREAD_PARTIAL || (n->op->kind != OP_REDUCE && n->op->kind != OP_CONTRACT) ||
        m->uses[i] == 0)
        return true;
    return needs_all_samples(m, i);
}

/* Whether a node is of samples that are not those of the step's batch. */
static bool is_other_batch(const struct module *m, const struct node *n)
{
    const uint32_t part = m->nodes[m->source.node].part;
    return n->spread == SPREAD_SAMPLES && (m->batch == 0 || n->shape.dim[0] % m->batch != 0 ||
                                           (part && n->part && n->part != part));
}

tarn_status assign_groups(struct program_ir *p)
{
    const struct module *m = p->module;
    p->blocks = (m->batch + LANES - 1) / LANES;
    p->groups = sum_rows(p->blocks);
    if (m->shards == 0)
        return TARN_OK;
    p->groups = m->shards;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        if (is_other_batch(m, n))
            return error_set(TARN_ERR_SHAPE,
                             "compile: batches of %d and %d samples in one step with %d virtual "
                             "shards: call tarn_step() between",
                             (int)m->batch, (int)n->shape.dim[0], m->program->partition.shards);
        if (!sums_in_rows(m, i))
            return error_set(TARN_ERR_INTERNAL,
                             "compile: %s %s is a sum over samples without a row for each of the "
                             "%d virtual shards",
                             n->op->name, shape_text(n->shape), m->program->partition.shards);
    }
    return TARN_OK;
}
