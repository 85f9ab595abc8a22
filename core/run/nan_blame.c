/* SPDX-License-Identifier: Apache-2.0 */
/* The op that made the first NaN or infinity. In: what the step recorded. Out: a line. Nothing is changed before the
 * step is launched, so it can be computed as often as needed: whole first, and op by op when something is wrong. Of
 * the values that are not finite only those count from which a wrong gradient or assigned value was made: a masked
 * infinity is nobody's fault. */
#include "run/nan_blame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "run/nan_loop.h"
#include "tensor/shape.h"

#define TOGETHER 64 /* nodes that are computed in one plan */

/* What was seen of a node. */
struct seen {
    bool needed, bad, path; /* path: from it a wrong root was made */
    size_t at;              /* its first element that is not finite */
    double value;
};

/* A gradient, or what a tensor becomes. */
struct root {
    uint32_t node, owned;
    bool gradient;
};

struct blame {
    tarn_replica *r;
    struct seen *seen; /* by node */
    struct root *roots;
    int root_count;
    uint32_t count; /* of nodes */
};

static size_t elements_of(const struct node *n)
{
    return (size_t)tarn_shape_count(n->shape);
}

/* ---- values --------------------------------------------------------------------------------- */

static void look(struct seen *s, const double *data, size_t count)
{
    for (size_t i = 0; i < count && !s->bad; i++) {
        s->bad = !isfinite(data[i]);
        s->at = i;
        s->value = data[i];
    }
}

/* Reads the whole value of a node of float32 or float64, in memory to be freed. */
static tarn_status value_of(tarn_replica *r, uint32_t node, double **out)
{
    const size_t count = elements_of(&r->graph.nodes[node]);
    const size_t bytes = node_bytes(&r->graph.nodes[node]);
    *out = malloc(count * sizeof **out + 1);
    if (*out == NULL)
        return error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
    /* Floats lie at the end, where each is read before a double comes there. */
    char *data = (char *)*out + count * sizeof **out - bytes;
    TRY(tarn_read(graph_handle(r, node), data, bytes));
    for (size_t i = 0; bytes == count * sizeof(float) && i < count; i++) {
        float value;
        memcpy(&value, data + i * sizeof value, sizeof value);
        (*out)[i] = (double)value;
    }
    return TARN_OK;
}

static tarn_status look_at(struct blame *b, uint32_t node)
{
    double *data = NULL;
    if (!dtype_is_single(b->r->graph.nodes[node].dtype))
        return TARN_OK;
    const tarn_status s = value_of(b->r, node, &data);
    if (s == TARN_OK)
        look(&b->seen[node], data, elements_of(&b->r->graph.nodes[node]));
    free(data);
    return s;
}

/* ---- roots ---------------------------------------------------------------------------------- */

static void add_root(struct blame *b, uint32_t node, uint32_t owned, bool gradient)
{
    if (node != 0 && dtype_is_single(b->r->graph.nodes[node].dtype))
        b->roots[b->root_count++] = (struct root){ node, owned, gradient };
}

/* Gradients first: an optimizer does not assign what they spoil. */
static tarn_status find_roots(struct blame *b)
{
    const tarn_replica *r = b->r;
    b->roots = calloc(3 * (size_t)r->owned_count + 1, sizeof *b->roots);
    if (b->roots == NULL)
        return error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
    for (uint32_t i = 0; i < r->owned_count; i++)
        if (r->owned[i].kind == OWNED_PARAMETER)
            add_root(b, r->owned[i].gathered != 0 ? r->owned[i].gathered : r->owned[i].grad, i,
                     true);
    for (uint32_t i = 0; i < r->owned_count; i++)
        if (r->owned[i].kind != OWNED_FREE)
            add_root(b, r->owned[i].value, i, false);
    return TARN_OK;
}

/* In one plan. */
static tarn_status compute_roots(struct blame *b)
{
    tarn_replica *r = b->r;
    tarn_tensor *list = calloc((size_t)b->root_count + 1, sizeof *list);
    if (list == NULL)
        return error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
    for (int i = 0; i < b->root_count; i++)
        list[i] = graph_handle(r, b->roots[i].node);
    tarn_status s = b->root_count > 0 ? tarn_eval(list, b->root_count) : TARN_OK;
    free(list);
    for (int i = 0; s == TARN_OK && i < b->root_count; i++)
        if (!b->seen[b->roots[i].node].bad)
            s = look_at(b, b->roots[i].node);
    return s;
}

/* Of this rank or of another one: all of them look then. */
static tarn_status is_wrong(const struct blame *b, bool *wrong)
{
    int32_t count = 0;
    for (int i = 0; i < b->root_count; i++)
        count += b->seen[b->roots[i].node].bad;
    if (b->r->peers != NULL && b->r->peers->add_words != NULL)
        TRY(b->r->peers->add_words(b->r, "TARN_DEBUG=nan", &count, 1));
    *wrong = count > 0;
    return TARN_OK;
}

/* ---- op by op ------------------------------------------------------------------------------- */

/* Operand k of a node as it was recorded. */
static uint32_t operand(const struct graph *g, const struct node *n, uint32_t k)
{
    return g->operands[n->first_in + k];
}

/* Computes the next nodes, each to memory, and looks at them. Several are one plan, which compiles sooner. */
static tarn_status look_at_next(struct blame *b, uint32_t *next)
{
    uint32_t node[TOGETHER];
    tarn_tensor value[TOGETHER];
    int count = 0;
    for (; *next < b->count && count < TOGETHER; ++*next) {
        if (!b->seen[*next].needed || graph_origin(&b->r->graph, *next)->op->kind == OP_EFFECT)
            continue;
        node[count] = *next;
        value[count++] = graph_handle(b->r, *next);
    }
    if (count > 0)
        TRY(tarn_eval(value, count));
    for (int i = 0; i < count; i++)
        TRY(look_at(b, node[i]));
    return TARN_OK;
}

static tarn_status look_at_all(struct blame *b)
{
    const struct graph *g = &b->r->graph;
    for (int i = 0; i < b->root_count; i++)
        b->seen[b->roots[i].node].needed = true;
    for (uint32_t i = b->count; i-- > 1;) {
        const struct node *n = graph_origin(g, i);
        for (uint32_t k = 0; b->seen[i].needed && k < n->in_count; k++)
            b->seen[operand(g, n, k)].needed = true;
    }
    for (uint32_t i = 1; i < b->count;)
        TRY(look_at_next(b, &i));
    return TARN_OK;
}

static bool made_of_finite(const struct blame *b, const struct node *n)
{
    for (uint32_t k = 0; k < n->in_count; k++)
        if (b->seen[operand(&b->r->graph, n, k)].bad)
            return false;
    return true;
}

/* The first wrong node that was made of right ones, on the way to wrong roots; 0: there is none. */
static uint32_t find_first(struct blame *b)
{
    const struct graph *g = &b->r->graph;
    uint32_t first = 0;
    for (int i = 0; i < b->root_count; i++)
        b->seen[b->roots[i].node].path = true;
    for (uint32_t i = b->count; i-- > 1;) {
        const struct node *n = graph_origin(g, i);
        if (!b->seen[i].path || !b->seen[i].bad)
            continue;
        if (made_of_finite(b, n))
            first = i;
        for (uint32_t k = 0; k < n->in_count; k++)
            b->seen[operand(g, n, k)].path = true;
    }
    return first;
}

/* ---- telling -------------------------------------------------------------------------------- */

/* The place of an element: "[3,7]". */
static const char *place_text(tarn_shape shape, size_t at)
{
    tarn_shape place = { .rank = shape.rank };
    for (int d = shape.rank; d-- > 0;) {
        place.dim[d] = (int32_t)(at % (size_t)shape.dim[d]);
        at /= (size_t)shape.dim[d];
    }
    return shape_text(place);
}

static void name_node(const tarn_replica *r, const struct node *n, char *out, size_t capacity)
{
    const char *name = n->op == &op_owned ? r->owned[n->arg.leaf.slot].name : NULL;
    text_escape(name != NULL ? name : n->op->name, out, capacity);
}

/* With the element at the same place, where there is one. */
static void add_operand(const struct blame *b, uint32_t node, const struct seen *wrong,
                        size_t count, char *out, size_t capacity)
{
    char name[64];
    double *data = NULL;
    const struct node n = *graph_origin(&b->r->graph, node);
    name_node(b->r, &n, name, sizeof name);
    const size_t used = strlen(out);
    snprintf(out + used, capacity - used, "%s%s %s %s", used > 0 ? ", " : "", name,
             tarn_dtype_name(n.dtype), shape_text(n.shape));
    if (!dtype_is_single(n.dtype) || (elements_of(&n) != count && elements_of(&n) != 1))
        return;
    const size_t more = strlen(out);
    if (value_of(b->r, node, &data) == TARN_OK)
        snprintf(out + more, capacity - more, " (there %g)",
                 data[elements_of(&n) == 1 ? 0 : wrong->at]);
    free(data);
}

static const struct root *wrong_root(const struct blame *b)
{
    for (int i = 0; i < b->root_count; i++)
        if (b->seen[b->roots[i].node].bad)
            return &b->roots[i];
    return NULL;
}

/* `root`: what became wrong by it; `where`: in a loop, else empty. */
static void tell(const struct blame *b, uint32_t node, const struct root *root, const char *where)
{
    const tarn_replica *r = b->r;
    const unsigned long long step = (unsigned long long)r->metrics.steps + 1;
    const int rank = r->peers != NULL ? r->peers->rank : 0;
    const struct seen *s = &b->seen[node];
    const struct node n = *graph_origin(&r->graph, node);
    char name[64], operands[500] = "", reached[64] = "a kept tensor";
    if (root != NULL && r->owned[root->owned].name != NULL)
        text_escape(r->owned[root->owned].name, reached, sizeof reached);
    if (node == 0) {
        log_print(TARN_LOG_WARNING, "tarn: rank %d, step %llu: %s", rank, step,
                  root == NULL ? "another rank has a NaN or an infinity"
                               : "op by op no value is NaN or infinite");
        return;
    }
    name_node(r, &n, name, sizeof name);
    for (uint32_t k = 0; k < n.in_count && n.op->kind != OP_HOST; k++)
        add_operand(b, operand(&r->graph, &n, k), s, elements_of(&n), operands, sizeof operands);
    log_print(
        TARN_LOG_WARNING,
        "tarn: rank %d, step %llu: %s%s (operation %u of %u) %s %g at %s of %s %s%s%s; so %s%s "
        "is not finite",
        rank, step, where, name, (unsigned)node, (unsigned)b->count - 1,
        n.op->kind == OP_LEAF   ? "holds"
        : n.op->kind == OP_HOST ? "brings from another rank"
                                : "makes of finite numbers",
        s->value, place_text(n.shape, s->at), tarn_dtype_name(n.dtype), shape_text(n.shape),
        operands[0] != '\0' ? "; its operands: " : "", operands,
        root != NULL && root->gradient ? "the gradient of " : "", reached);
}

/* The op in the loop's body, in the step that first went wrong. */
static tarn_status tell_of_loop(const struct blame *b, uint32_t node)
{
    struct nan_step step;
    char where[96];
    const struct graph *g = &b->r->graph;
    const struct scan s = g->scans[graph_origin(g, node)->arg.scan.index];
    TRY(nan_step_of(b->r, &s, &step));
    struct root results[SCAN_MOST];
    struct blame inner = { .r = b->r, .roots = results, .count = g->count };
    for (uint32_t k = 0; k < step.count; k++)
        results[inner.root_count++] = (struct root){ .node = step.result[k] };
    inner.seen = calloc((size_t)inner.count + 1, sizeof *inner.seen);
    tarn_status status = inner.seen != NULL
                             ? look_at_all(&inner)
                             : error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
    const uint32_t first = status == TARN_OK && step.count > 0 ? find_first(&inner) : 0;
    snprintf(where, sizeof where, "in step %u of %u of a loop, scan (operation %u of %u), ",
             step.number + 1, step.steps, node, b->count - 1);
    if (status == TARN_OK)
        tell(first != 0 ? &inner : b, first != 0 ? first : node, wrong_root(b),
             first != 0 ? where : "");
    free(inner.seen);
    return status;
}

static tarn_status tell_of(const struct blame *b, uint32_t node)
{
    const bool loop = graph_origin(&b->r->graph, node)->op == &op_scan;
    if (node != 0 && loop && replica_mesh(b->r) == NULL)
        return tell_of_loop(b, node);
    tell(b, node, wrong_root(b), "");
    return TARN_OK;
}

tarn_status nan_blame(tarn_replica *r)
{
    struct blame b = { .r = r, .count = r->graph.count };
    bool wrong = false;
    b.seen = calloc((size_t)b.count + 1, sizeof *b.seen);
    tarn_status s = b.seen != NULL
                        ? find_roots(&b)
                        : error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
    if (s == TARN_OK)
        s = compute_roots(&b);
    if (s == TARN_OK)
        s = is_wrong(&b, &wrong);
    if (s == TARN_OK && wrong) {
        r->blamed = true;
        s = look_at_all(&b);
        if (s == TARN_OK)
            s = tell_of(&b, find_first(&b));
    }
    free(b.seen);
    free(b.roots);
    return s;
}
