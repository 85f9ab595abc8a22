/* SPDX-License-Identifier: Apache-2.0 */
/* What a step has recorded so far, as a picture for Graphviz. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "file/atomic_file.h"
#include "tensor/replica.h"
#include "tensor/shape.h"

struct drawing {
    struct atomic_file file;
    tarn_status status;
};

static void draw(struct drawing *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void draw(struct drawing *d, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (d->status == TARN_OK && length > 0)
        d->status = atomic_file_write(
            &d->file, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static void draw_node(struct drawing *d, const tarn_replica *r, uint32_t i)
{
    const struct graph *g = &r->graph;
    const struct node *n = &g->nodes[i];
    const bool owned = n->op == &op_owned;
    char name[400] = "";
    const uint32_t slot = owned ? n->arg.leaf.slot : n->op == &op_assign ? n->arg.assign.owned : 0;
    if ((owned || n->op == &op_assign) && r->owned[slot].name != NULL)
        text_quote(r->owned[slot].name, name, sizeof name);
    draw(d, "  n%u [label=\"%s%s%s\\n%s %s\"%s];\n", i, n->op->name, *name != '\0' ? " " : "", name,
         tarn_dtype_name(n->dtype), shape_text(n->shape),
         owned                      ? " style=filled fillcolor=lightblue"
         : n->op->kind == OP_LEAF   ? " style=filled fillcolor=lightgrey"
         : n->op->kind == OP_HOST   ? " style=filled fillcolor=orange"
         : n->op->kind == OP_EFFECT ? " style=filled fillcolor=lightgreen"
                                    : "");
    for (uint32_t k = 0; k < n->in_count; k++)
        draw(d, "  n%u -> n%u;\n", g->operands[n->first_in + k], i);
}

tarn_status tarn_graph_dot(tarn_replica *r, const char *path)
{
    struct drawing d = { 0 };
    if (r == NULL || path == NULL)
        return error_set(TARN_ERR_ARGUMENT, "graph_dot: the %s is NULL",
                         r == NULL ? "replica" : "path");
    if (r->status != TARN_OK)
        return r->status;
    tarn_status s = atomic_file_begin(&d.file, path);
    if (s != TARN_OK)
        return replica_fail(r, s, NULL);
    draw(&d, "digraph step_%llu {\n  rankdir=TB;\n  node [shape=box fontname=sans];\n",
         (unsigned long long)r->metrics.steps + 1);
    for (uint32_t i = 1; i < r->graph.count; i++)
        draw_node(&d, r, i);
    draw(&d, "}\n");
    s = d.status;
    if (s == TARN_OK)
        s = atomic_file_commit(&d.file);
    else
        atomic_file_abort(&d.file);
    return s == TARN_OK ? s : replica_fail(r, s, NULL);
}
