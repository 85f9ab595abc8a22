/* SPDX-License-Identifier: Apache-2.0 */
/* The images that a program's convolutions go over: how many, how large, and which values they are made of. In: the
 * program. Out: answers; knows no device, since the batch hangs on some of them, and the order of sums on that. */
#include <string.h>

#include "compile/1_graph/images.h"
#include "compile/1_graph/graph_passes.h"
#include "tensor/shape.h"
#include "tensor/spread_label.h"
#include "tensor/sum_order.h"

bool is_convolution(const struct op *op)
{
    return op == &op_conv2d || op == &op_conv2d_input || op == &op_conv2d_weight;
}

bool goes_over(const struct op *op, uint32_t k)
{
    return is_convolution(op) && (k == 0 || op == &op_conv2d_weight);
}

bool has_gradients(const struct module *m)
{
    for (uint32_t i = 1; i < m->program->count; i++)
        if (m->needed[i] && m->program->nodes[i].op == &op_conv2d_weight)
            return true; /* an input's alone is what a transposed convolution is */
    return false;
}

static const struct node *operand_of(const struct program *p, const struct node *n, uint32_t k)
{
    return &p->nodes[p->operands[n->first_in + k]];
}

/* The results of a convolution, or what gradients are given of them or make of them; NULL: it is none. */
static const struct node *images_of(const struct module *m, uint32_t i)
{
    const struct program *p = m->program;
    const struct node *n = &p->nodes[i];
    if (!m->needed[i] || !is_convolution(n->op) || tarn_shape_count(n->shape) == 0)
        return NULL;
    return n->op == &op_conv2d_weight ? operand_of(p, n, 1) : n;
}

double convolution_work(const struct program *p, const struct node *n)
{
    const struct node *second = operand_of(p, n, 1);
    const bool makes_weight = n->op == &op_conv2d_weight;
    const tarn_shape w = makes_weight ? n->shape : second->shape;
    const tarn_shape images = makes_weight ? second->shape : n->shape;
    return (double)tarn_shape_count(images) * (double)tarn_shape_count(w) / (double)w.dim[0];
}

int32_t most_images(const struct module *m)
{
    int64_t most = 0;
    int32_t images = 0;
    for (uint32_t i = 1; i < m->program->count; i++) {
        const struct node *of = images_of(m, i);
        if (of != NULL && tarn_shape_count(of->shape) > most) {
            most = tarn_shape_count(of->shape);
            images = of->shape.dim[0];
        }
    }
    return images;
}

bool convolves_samples(const struct module *m, int32_t samples)
{
    for (uint32_t i = 1; i < m->program->count && samples > 0; i++) {
        const struct node *of = images_of(m, i);
        if (of != NULL && of->shape.dim[0] % samples == 0)
            return true;
    }
    return false;
}

int32_t convolved_frames(const struct module *m)
{
    double frames = 0, others = 0, most = 0;
    int32_t images = 0;
    for (uint32_t i = 1; i < m->program->count && m->samples > 0 && m->shards == 0; i++) {
        const struct node *of = images_of(m, i);
        if (of == NULL)
            continue;
        const double work = convolution_work(m->program, &m->program->nodes[i]);
        const bool several = of->shape.dim[0] > m->samples && of->shape.dim[0] % m->samples == 0;
        *(several ? &frames : &others) += work;
        if (several && work > most) {
            most = work;
            images = of->shape.dim[0];
        }
    }
    return frames > others ? images : 0;
}

bool images_outgrow_blocks(const struct module *m, int32_t images)
{
    bool outgrow = false;
    for (uint32_t i = 1; i < m->program->count && images > 0; i++) {
        const struct node *of = images_of(m, i);
        outgrow |= of != NULL && of->shape.dim[0] == images &&
                   (double)tarn_shape_count(of->shape) * (double)tarn_dtype_bytes(of->dtype) /
                           images * LANES >
                       (double)m->target->local_bytes;
    }
    return outgrow && m->shards == 0;
}

/* ---- what images are made of ---------------------------------------------------------------- */

/* Whether row i of a product's operand k is what row i of the result is made of. */
static bool product_keeps_rows(const struct program *p, const struct node *n, uint32_t k)
{
    const tarn_shape in[2] = { operand_of(p, n, 0)->shape, operand_of(p, n, 1)->shape };
    struct contract c;
    memset(&c, 0, sizeof c);
    n->op->contract(n, in, &c);
    const int axis = spread_leading_axis(&c.in[k], c.axes, in[k].rank);
    return axis >= 0 && axis == spread_leading_axis(&c.out, c.axes, n->shape.rank);
}

static bool keeps_rows(const struct program *p, const struct node *n, uint32_t k)
{
    switch (n->op->kind) {
    case OP_MAP:
    case OP_COMPOSED:
        return true;
    case OP_VIEW:
        return spread_view_keeps(n, operand_of(p, n, 0)->shape);
    case OP_REDUCE:
        return (n->arg.reduce.axes & 1) == 0;
    case OP_CONTRACT:
        return product_keeps_rows(p, n, k);
    case OP_GATHER:
        return k == 1;
    case OP_CONCAT:
        return n->arg.concat.axis > 0;
    case OP_ROUTINE:
        return n->arg.routine.axis > 0;
    case OP_LEAF:
    case OP_TRANSFORM:
    case OP_HOST:
    case OP_EFFECT:
        break;
    }
    return false;
}

void find_makings(const struct module *m, int32_t images, bool *makings)
{
    const struct program *p = m->program;
    for (uint32_t i = p->count; i-- > 1;) {
        const struct node *n = &p->nodes[i];
        for (uint32_t k = 0; k < n->in_count && m->needed[i]; k++) {
            const struct node *of = operand_of(p, n, k);
            if (of->shape.rank > 0 && of->shape.dim[0] == images &&
                (goes_over(n->op, k) || (makings[i] && keeps_rows(p, n, k))))
                makings[p->operands[n->first_in + k]] = true;
        }
    }
}
