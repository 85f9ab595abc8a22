/* SPDX-License-Identifier: Apache-2.0 */
/* Products of rows that a reshape joined of two dimensions, [T,N,a] to [T N,a], when the mesh cuts the second one: of
 * sequences whose steps come first, the samples. A rank's rows are then no block of the matrix, so that no state says how
 * it lies. But a product does not ask in which order its rows come: it is computed of the rank's rows, and what is taken
 * apart again is cut as before. In: wishes. Out: nodes, for the few shapes of such products. */
#include "shard/planner.h"
#include "tensor/shape.h"

/* A matrix whose rows are joined: what it is a reshape of, [T,N,a], or of what it is the product with one. */
struct rows {
    int32_t major, minor; /* T and N */
    uint32_t axes;        /* of the mesh, which cut N */
};

/* The axes that are wished to cut dimension 1, when none cuts another. */
static uint32_t axes_of(const struct planner *p, uint32_t value)
{
    uint32_t axes = 0;
    for (int a = 0; a < p->mesh->axes; a++) {
        const int at = p->values[value].wish.at[a];
        if (p->mesh->extent[a] == 1)
            continue;
        if (at >= 0 && at != 1)
            return 0;
        axes |= (uint32_t)(at == 1) << a;
    }
    return axes;
}

static bool is_whole(const struct planner *p, uint32_t value)
{
    bool whole = true;
    for (int a = 0; a < p->mesh->axes; a++)
        whole &= p->mesh->extent[a] == 1 || p->values[value].wish.at[a] < 0;
    return whole;
}

static bool may_join(const struct planner *p, uint32_t node, struct rows *out)
{
    const struct node *n = &p->m.nodes[node];
    if (n->op != &op_reshape || n->shape.rank != 2)
        return false;
    const uint32_t from = module_operand(&p->m, node, 0);
    const tarn_shape s = p->m.nodes[from].shape;
    *out = (struct rows){ s.dim[0], s.dim[1], 0 };
    return s.rank == 3 && s.dim[2] == n->shape.dim[1] && s.dim[0] > 1 && s.dim[1] > 1;
}

static bool joins(const struct planner *p, uint32_t node, struct rows *out)
{
    if (!may_join(p, node, out))
        return false;
    out->axes = axes_of(p, module_operand(&p->m, node, 0));
    return out->axes != 0;
}

static bool parts(const struct planner *p, uint32_t node, const struct rows *r)
{
    const struct node *n = &p->m.nodes[node];
    return n->op == &op_reshape && n->shape.rank > 2 && n->shape.dim[0] == r->major &&
           n->shape.dim[1] == r->minor;
}

/* Joined rows times a matrix, which one reshape takes apart again. */
static bool may_multiply(const struct planner *p, uint32_t node, struct rows *out)
{
    const struct node *n = &p->m.nodes[node];
    if (n->op != &op_matmul || n->shape.rank != 2 || n->arg.matmul.transpose[0] != 0)
        return false;
    const uint32_t user = p->m.user[node];
    return may_join(p, module_operand(&p->m, node, 0), out) && p->m.uses[node] == 1 &&
           user != UINT32_MAX && parts(p, user, out);
}

static bool multiplies(const struct planner *p, uint32_t node, struct rows *out)
{
    return may_multiply(p, node, out) && joins(p, module_operand(&p->m, node, 0), out) &&
           is_whole(p, module_operand(&p->m, node, 1));
}

bool rows_source(const struct planner *p, uint32_t node, uint32_t *source)
{
    struct rows unused;
    if (p->m.nodes[node].op != &op_reshape || p->in->choose != NULL)
        return false;
    const uint32_t product = module_operand(&p->m, node, 0);
    if (!may_multiply(p, product, &unused))
        return false;
    *source = module_operand(&p->m, module_operand(&p->m, product, 0), 0);
    return true;
}

/* The sum over joined rows, of two matrices of them. */
static bool sums(const struct planner *p, uint32_t node, struct rows *out)
{
    const struct node *n = &p->m.nodes[node];
    struct rows other;
    if (n->op != &op_matmul || n->shape.rank != 2 || n->arg.matmul.transpose[0] == 0 ||
        n->arg.matmul.transpose[1] != 0)
        return false;
    return joins(p, module_operand(&p->m, node, 0), out) &&
           joins(p, module_operand(&p->m, node, 1), &other) && out->major == other.major &&
           out->minor == other.minor && out->axes == other.axes;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static struct state along(uint32_t axes, int at)
{
    struct state s = state_whole();
    for (int a = 0; a < MESH_AXES; a++)
        if (axes >> a & 1)
            s.at[a] = (int8_t)at;
    return s;
}

static int32_t rows_here(const struct planner *p, const struct rows *r)
{
    return r->major * (r->minor / mesh_blocks(p->mesh, r->axes));
}

/* The rows of this rank. */
static uint32_t join(struct planner *p, uint32_t node, const struct rows *r)
{
    const uint32_t from = module_operand(&p->m, node, 0);
    const uint32_t apart = reach(p, from, along(r->axes, 1), false);
    return emit_reshape(&p->e, apart, TARN_SHAPE(rows_here(p, r), p->m.nodes[node].shape.dim[1]));
}

static void log_rows(struct planner *p, uint32_t node, const struct rows *r)
{
    char text[96];
    state_text(p->mesh, along(r->axes, 1), text);
    log_line(p, "  %%%u %s %s  of rows that are cut in steps of %d: %s\n", node,
             p->m.nodes[node].op->name, shape_text(p->m.nodes[node].shape), (int)r->minor, text);
}

/* The product, and what takes it apart at once. */
static void lower_multiplied(struct planner *p, uint32_t node, const struct rows *r)
{
    struct node n = p->m.nodes[node];
    const uint32_t user = p->m.user[node];
    const uint32_t in[2] = { join(p, module_operand(&p->m, node, 0), r),
                             reach(p, module_operand(&p->m, node, 1), state_whole(), false) };
    tarn_shape apart = p->m.nodes[user].shape;
    n.shape.dim[0] = rows_here(p, r);
    apart.dim[1] = r->minor / mesh_blocks(p->mesh, r->axes);
    const uint32_t made = emit_reshape(&p->e, emit_raw(&p->e, &n, in), apart);
    keep_version(p, user, along(r->axes, 1), made);
}

static void lower_sum(struct planner *p, uint32_t node, const struct rows *r)
{
    const struct node n = p->m.nodes[node];
    const struct state sum = along(r->axes, STATE_SUM);
    const uint32_t in[2] = { join(p, module_operand(&p->m, node, 0), r),
                             join(p, module_operand(&p->m, node, 1), r) };
    keep_version(p, node, sum, emit_raw(&p->e, &n, in));
    if (p->m.uses[node] > 1)
        reach(p, node, settled(p, node, sum), false);
}

bool lower_rows(struct planner *p, uint32_t node)
{
    struct rows r;
    if (p->in->choose != NULL)
        return false;
    if (joins(p, node, &r)) /* a view: made where it is read, and for products not at all */
        return true;
    const struct node *n = &p->m.nodes[node];
    if (n->op == &op_reshape && multiplies(p, module_operand(&p->m, node, 0), &r))
        return true;
    const bool adds = sums(p, node, &r);
    if (!adds && !multiplies(p, node, &r))
        return false;
    log_rows(p, node, &r);
    if (adds)
        lower_sum(p, node, &r);
    else
        lower_multiplied(p, node, &r);
    return true;
}
