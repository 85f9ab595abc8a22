/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients: a walk back over the recorded nodes, which records more nodes. No op is named but
 * those that hold parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/recompute.h"
#include "autograd/scan_parts.h"
#include "tensor/shape.h"

/* Brings a gradient to its operand's shape: sums over the axes that the operand was repeated along,
 * and repeats what a rule gave only once. */
static tarn_tensor unbroadcast(tarn_tensor g, tarn_shape shape)
{
    const tarn_shape from = tarn_shape_get(g);
    tarn_shape common;
    if (shape_equal(from, shape))
        return g;
    if (!shape_broadcast(from, shape, &common))
        return graph_fail(g.replica, TARN_ERR_INTERNAL, "backward: a gradient %s for an operand %s",
                          shape_text(from), shape_text(shape));
    uint32_t axes = 0;
    for (int i = 0; i < common.rank; i++) {
        const int k = i - (common.rank - shape.rank);
        if (k < 0 || (shape.dim[k] == 1 && common.dim[i] != 1))
            axes |= UINT32_C(1) << i;
    }
    return op_reshape_to(op_reduce(&op_sum, op_expand_to(g, common), axes), shape);
}

/* Whether a value of a half type is a parameter in another type. Such a parameter's gradient is not rounded on its
 * way: it is a sum over samples, which replicas add up. */
static bool is_cast_parameter(const tarn_replica *r, uint32_t node)
{
    const struct node *n = graph_origin(&r->graph, node);
    while ((n->op == &op_cast || n->op->kind == OP_VIEW) && n->in_count == 1)
        n = graph_origin(&r->graph, r->graph.operands[n->first_in]);
    return n->op == &op_owned && r->owned[n->arg.leaf.slot].kind == OWNED_PARAMETER;
}

static bool accumulate(tarn_replica *r, uint32_t node, tarn_tensor gradient, uint32_t *grads)
{
    const tarn_dtype of = dtype_single(r->graph.nodes[node].dtype);
    gradient = tarn_cast(gradient, of); /* which may move the nodes */
    gradient = unbroadcast(gradient, r->graph.nodes[node].shape);
    gradient = spread_gradient(r, node, gradient);
    const tarn_dtype dtype = r->graph.nodes[node].dtype;
    if (dtype_is_half(dtype) && !tarn_failed(gradient) && !is_cast_parameter(r, node))
        gradient = tarn_cast(gradient, dtype);
    if (grads[node])
        gradient = tarn_add(graph_handle(r, grads[node]), gradient);
    grads[node] = gradient.node;
    return !tarn_failed(gradient);
}

void op_no_grad(struct grad_call *c)
{
    (void)c;
}

void op_same_grad(struct grad_call *c)
{
    c->gin[0] = c->g;
}

static bool no_rule(tarn_replica *r, const struct node *n, uint32_t operand)
{
    graph_fail(
        r, TARN_ERR_ARGUMENT,
        "backward: %s %s has no gradient in its operand %u; tarn_detach() makes it a constant",
        n->op->name, shape_text(n->shape), (unsigned)operand);
    return false;
}

static bool step_back(tarn_replica *r, uint32_t node, const uint8_t *depends, uint32_t *grads,
                      struct again *a)
{
    const struct node n = *graph_origin(&r->graph, node);
    if (n.op->grad == op_no_grad)
        return true;
    tarn_tensor in[SCAN_MOST + 1], gin[SCAN_MOST];
    bool wanted[SCAN_MOST];
    uint32_t index[SCAN_MOST];
    bool any = false;
    for (uint32_t i = 0; i < n.in_count; i++) {
        index[i] = r->graph.operands[n.first_in + i];
        gin[i] = TARN_NONE;
        wanted[i] = depends[index[i]] && dtype_is_float(r->graph.nodes[index[i]].dtype);
        any |= wanted[i];
    }
    in[n.in_count] = TARN_NONE;
    if (!any)
        return true;
    again_reach(r, a, node, grads[node]);
    for (uint32_t i = 0; i < n.in_count; i++)
        in[i] = graph_handle(r, again_of(a, index[i]));
    /* What was rounded was meant to be kept in its half type alone. */
    const tarn_tensor y = n.rounded ? tarn_cast(graph_handle(r, again_of(a, node + 1)), TARN_F32)
                                    : graph_handle(r, again_of(a, node));
    struct grad_call call = { .y = y,
                              .g = graph_handle(r, grads[node]),
                              .in = in,
                              .arg = n.arg,
                              .wanted = wanted,
                              .gin = gin };
    if (n.op->grad != NULL)
        n.op->grad(&call);
    for (uint32_t i = 0; i < n.in_count && r->status == TARN_OK; i++) {
        if (!wanted[i] ||
            (call.any_without ? gin[i].replica == NULL : (call.without >> i & 1) != 0))
            continue;
        if (gin[i].replica == NULL)
            return no_rule(r, &n, i);
        if (!accumulate(r, index[i], gin[i], grads))
            return false;
    }
    return r->status == TARN_OK;
}

/* Fills grads[0..last] with nodes of gradients of `last`, going only through nodes with depends. */
static bool walk(tarn_replica *r, uint32_t last, tarn_tensor seed, const uint8_t *depends,
                 uint32_t *grads)
{
    const tarn_dtype autocast = r->autocast; /* types are those of the values */
    struct again a;
    bool ok = again_begin(r, last, &a);
    r->autocast = TARN_F32;
    r->graph.backward = true;
    grads[last] = graph_resolve(seed);
    r->graph.nodes[grads[last]].backward = true;
    for (uint32_t i = last; i > 0 && ok; i--)
        ok = !grads[i] || !depends[i] || step_back(r, i, depends, grads, &a);
    again_end(&a);
    r->graph.backward = false;
    r->autocast = autocast;
    return ok && r->status == TARN_OK;
}

static tarn_tensor full_of(tarn_replica *r, uint32_t last, double value)
{
    const struct node *n = &r->graph.nodes[last];
    return op_constant_of(r, n->shape, n->dtype, value);
}

static tarn_tensor loss_scale(tarn_replica *r)
{
    return owned_handle(r, r->loss_scale.scale);
}

static uint32_t check_loss(tarn_replica *r, tarn_tensor loss, const char *name)
{
    if (!graph_operand(r, loss, name, 0))
        return 0;
    tarn_dtype of;
    const uint32_t last = graph_resolve(op_wide(loss, &of));
    const struct node *n = &loss.replica->graph.nodes[last];
    if (tarn_shape_count(n->shape) == 1 && dtype_is_single(n->dtype))
        return last;
    graph_fail(loss.replica, TARN_ERR_SHAPE,
               "%s: the loss is %s %s, must be one float32 or float64: reduce it with tarn_mean()",
               name, tarn_dtype_name(n->dtype), shape_text(n->shape));
    return 0;
}

/* The owned parameter that a node reads, as index + 1; 0 for other nodes. */
static uint32_t parameter_of(const tarn_replica *r, uint32_t node)
{
    const struct node *n = graph_origin(&r->graph, node);
    const uint32_t slot = n->op == &op_owned    ? n->arg.leaf.slot + 1
                          : n->op == &op_detach ? n->arg.leaf.slot
                                                : 0;
    return slot && r->owned[slot - 1].kind == OWNED_PARAMETER ? slot : 0;
}

static void store_grads(tarn_replica *r, uint32_t last, const uint32_t *grads)
{
    for (uint32_t i = 1; i <= last; i++) {
        const uint32_t slot = grads[i] ? parameter_of(r, i) : 0;
        if (!slot)
            continue;
        tarn_tensor g = graph_handle(r, grads[i]);
        if (r->loss_scale.scale)
            g = tarn_div(g, loss_scale(r));
        if (r->owned[slot - 1].grad)
            g = tarn_add(graph_handle(r, r->owned[slot - 1].grad), g);
        r->owned[slot - 1].grad = g.node;
    }
}

static void spread(const struct graph *g, uint32_t first, uint32_t last, uint8_t *depends)
{
    for (uint32_t i = first; i <= last; i++) {
        const struct node *n = graph_origin(g, i);
        for (uint32_t k = 0;
             n->op->grad != op_no_grad && dtype_is_float(n->dtype) && k < n->in_count; k++)
            depends[i] |= depends[g->operands[n->first_in + k]];
    }
}

/* What depends on a parameter of the optimizer with this number, or, for 0, on any. */
static void mark_dependent(tarn_replica *r, uint32_t last, uint32_t number, uint8_t *depends)
{
    for (uint32_t i = 1; i <= last; i++) {
        const uint32_t slot = number && r->graph.nodes[i].needs_grad ? parameter_of(r, i) : 0;
        depends[i] =
            number ? slot && r->owned[slot - 1].optimizer == number : r->graph.nodes[i].needs_grad;
    }
    if (number)
        spread(&r->graph, 1, last, depends);
}

static void backward(tarn_tensor loss, uint32_t last, double weight, uint32_t number)
{
    tarn_replica *r = loss.replica;
    if (r->graph.in_body) {
        graph_fail(r, TARN_ERR_STATE,
                   "backward: in the body of a scan: call it after tarn_scan(), whose gradient it "
                   "takes, or use tarn_gradients()");
        return;
    }
    uint32_t *grads = calloc((size_t)last + 1, sizeof *grads);
    uint8_t *depends = calloc((size_t)last + 1, 1);
    if (grads == NULL || depends == NULL) {
        graph_fail(r, TARN_ERR_MEMORY, "backward: out of host memory");
        goto done;
    }
    mark_dependent(r, last, number, depends);
    tarn_tensor seed = full_of(r, last, weight);
    if (r->loss_scale.scale)
        seed = tarn_mul(seed, loss_scale(r));
    if (!depends[last])
        graph_fail(r, TARN_ERR_ARGUMENT, "backward: the loss depends on no parameter%s",
                   number ? " of this optimizer" : "");
    else if (walk(r, last, seed, depends, grads))
        store_grads(r, last, grads);
done:
    free(grads);
    free(depends);
}

void tarn_backward_weighted(tarn_tensor loss, double weight)
{
    const uint32_t last = check_loss(NULL, loss, "backward_weighted");
    if (!last)
        return;
    weight = op_scalar_of(loss.replica->graph.nodes[last].dtype, weight);
    if (weight >= 0.0 && isfinite(weight))
        backward(loss, last, weight, 0);
    else
        graph_fail(loss.replica, TARN_ERR_ARGUMENT,
                   "backward_weighted: a weight of %g; it must be finite and not negative", weight);
}

void op_backward_into(tarn_tensor loss, uint32_t number)
{
    const uint32_t last = check_loss(NULL, loss, "backward");
    struct graph_part part;
    /* Each replica's loss is the mean over its part of the batch: the sum of all their gradients is
     * that of the mean over the whole. Halves, quarters ... scale without rounding. */
    if (last &&
        graph_part_of(loss, "backward: the loss",
                      "call tarn_backward for the loss of each, or tarn_backward_weighted", &part))
        backward(loss, last, (double)part.samples / (double)part.global, number);
}

void tarn_backward(tarn_tensor loss)
{
    op_backward_into(loss, 0);
}

tarn_tensor tarn_grad(tarn_tensor parameter)
{
    const struct owned *o = owned_of(parameter);
    tarn_replica *r = parameter.replica;
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "grad: the parameter is no tensor");
    if (o == NULL || r->status != TARN_OK)
        return graph_poison(r);
    const uint32_t grad = o->grad, before = grad && o->used ? 0 : o->gathered;
    if (!grad && !before)
        return graph_missing(r, "tarn_grad of %s, which no loss of this step depends on",
                             o->name != NULL ? o->name : "a kept tensor");
    if (grad && before)
        return tarn_add(graph_handle(r, before), graph_handle(r, grad));
    return graph_handle(r, grad ? grad : before);
}

void tarn_gradients(tarn_tensor loss, const tarn_tensor *inputs, int count, tarn_tensor *gradients)
{
    tarn_replica *r = loss.replica;
    for (int i = 0; inputs != NULL && i < count && r == NULL; i++)
        r = inputs[i].replica;
    for (int i = 0; gradients != NULL && i < count; i++)
        gradients[i] = graph_poison(r);
    const uint32_t last = check_loss(r, loss, "gradients");
    if (last && (count < 0 || (count > 0 && (inputs == NULL || gradients == NULL))))
        graph_fail(r, TARN_ERR_ARGUMENT, "gradients: %d inputs: %s", count,
                   count < 0        ? "must be 0 or more"
                   : inputs == NULL ? "inputs is NULL"
                                    : "gradients is NULL");
    if (!last || count < 1 || inputs == NULL || gradients == NULL)
        return;
    uint32_t *grads = calloc((size_t)last + 1, sizeof *grads);
    uint8_t *depends = calloc((size_t)last + 1, 1);
    if (grads == NULL || depends == NULL) {
        graph_fail(r, TARN_ERR_MEMORY, "gradients: out of host memory");
        goto done;
    }
    for (int i = 0; i < count; i++) {
        const uint32_t node = graph_operand(r, inputs[i], "gradients: inputs", i);
        if (!node)
            goto done;
        if (node <= last)
            depends[node] = 1;
    }
    spread(&r->graph, 1, last, depends);
    if (!walk(r, last, full_of(r, last, 1.0f), depends, grads))
        goto done;
    for (int i = 0; i < count; i++) {
        const uint32_t node = graph_resolve(inputs[i]);
        const uint32_t g = node <= last ? grads[node] : 0;
        const tarn_tensor found = g ? graph_handle(r, g) : tarn_zeros(r, tarn_shape_get(inputs[i]));
        gradients[i] = tarn_cast(found, tarn_dtype_get(inputs[i]));
    }
done:
    free(grads);
    free(depends);
}

/* ---- within a body --------------------------------------------------------------------------- */

/* Fills grads, of the nodes up to `last`, from the seeds on. */
static bool pull_back(tarn_replica *r, const struct pull *p, uint32_t last, uint8_t *depends,
                      uint32_t *grads)
{
    for (int i = 0; i < p->count; i++)
        if (p->with[i] <= last)
            depends[p->with[i]] = 1;
    spread(&r->graph, p->first, last, depends);
    struct again none = { 0 }; /* a body has no regions */
    for (int i = 0; i < p->seeds; i++)
        if (!accumulate(r, p->of[i], p->seed[i], grads))
            return false;
    for (uint32_t i = last; i >= p->first && i > 0; i--)
        if (grads[i] && depends[i] && !step_back(r, i, depends, grads, &none))
            return false;
    for (int i = 0; i < p->count; i++)
        if (p->with[i] <= last && grads[p->with[i]])
            p->gradient[i] = graph_handle(r, grads[p->with[i]]);
    return true;
}

bool autograd_pull(tarn_replica *r, const struct pull *p)
{
    uint32_t last = 0;
    for (int i = 0; i < p->seeds; i++)
        last = p->of[i] > last ? p->of[i] : last;
    uint32_t *grads = calloc((size_t)last + 1, sizeof *grads);
    uint8_t *depends = calloc((size_t)last + 1, 1);
    for (int i = 0; i < p->count; i++)
        p->gradient[i] = TARN_NONE;
    if (grads == NULL || depends == NULL)
        graph_fail(r, TARN_ERR_MEMORY, "scan: out of host memory");
    const tarn_dtype autocast = r->autocast; /* types are those of the values */
    r->autocast = TARN_F32;
    const bool ok = grads != NULL && depends != NULL && pull_back(r, p, last, depends, grads);
    r->autocast = autocast;
    free(grads);
    free(depends);
    return ok && r->status == TARN_OK;
}
