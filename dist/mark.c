/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: how tensors are to be cut over the ranks of a launch's mesh. Parameters and buffers change where they lie;
 * of a value a mark is a node. All of it is checked here, so that nobody after this meets a wrong spec. */
#include <stdio.h>
#include <string.h>

#include "member.h"
#include "mesh_axes.h"
#include "op/op.h"
#include "tensor/part.h"
#include "tensor/shape.h"

/* ---- meshes --------------------------------------------------------------------------------- */

/* The mesh that a program names, which is that of its launch. On one device, which has none, any will do: then
 * nothing is cut. */
static tarn_status find_mesh(const tarn_replica *r, tarn_mesh mesh, const char *what,
                             struct mesh *out)
{
    const struct mesh *own = replica_mesh(r);
    int world = tarn_world_size(r);
    if (own == NULL && world > 1)
        return error_set(TARN_ERR_STATE,
                         "%s: the launch has no mesh; name it in tarn_launch_options.mesh", what);
    if (own == NULL)
        for (int a = 0; a < MESH_AXES && mesh.axis[a].name != NULL && mesh.axis[a].ranks > 0; a++)
            world *= mesh.axis[a].ranks;
    TRY(mesh_make(mesh, world, out));
    if (own == NULL || memcmp(own, out, sizeof *out) == 0)
        return TARN_OK;
    char named[128];
    snprintf(named, sizeof named, "%s", mesh_text(out));
    return error_set(TARN_ERR_ARGUMENT, "%s: mesh %s is not that of the launch, %s", what, named,
                     mesh_text(own));
}

/* ---- specs ---------------------------------------------------------------------------------- */

/* ("model",none) */
static const char *spec_text(const struct mesh *m, const struct spec *s, int rank)
{
    static _Thread_local char text[TARN_MAX_RANK * (MESH_AXES * (MESH_NAME + 3) + 3)];
    size_t n = (size_t)snprintf(text, sizeof text, "(");
    for (int d = 0; d < rank; d++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", d ? "," : "",
                              s->cut[d] ? "\"" : "none");
        for (int a = 0, first = 1; a < m->axes; a++)
            if (s->cut[d] >> a & 1) {
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", first ? "" : ",",
                                      m->name[a]);
                first = 0;
            }
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", s->cut[d] ? "\"" : "");
    }
    snprintf(text + n, sizeof text - n, ")");
    return text;
}

static tarn_status check_dimension(const struct mesh *m, tarn_shape shape, int d, const char *axes,
                                   uint32_t mask, const char *name)
{
    const int32_t n = mesh_blocks(m, mask), extent = shape.dim[d];
    if (extent % n == 0)
        return TARN_OK;
    return error_set(TARN_ERR_SHAPE,
                     "mark_sharding: %s %s: dimension %d is %d, axis \"%s\" has %d ranks: %d / %d "
                     "is not whole; pad it to %d or leave the dimension whole",
                     name, shape_text(shape), d, (int)extent, axes, (int)n, (int)extent, (int)n,
                     (int)((extent + n - 1) / n * n));
}

static tarn_status make_spec(const struct mesh *m, tarn_spec from, tarn_shape shape,
                             const char *name, struct spec *out)
{
    char what[200];
    snprintf(what, sizeof what, "mark_sharding: %.160s", name);
    memset(out, 0, sizeof *out);
    if (from.rank != shape.rank)
        return error_set(TARN_ERR_SHAPE,
                         "mark_sharding: %s %s: the spec has %d entries for %d dimensions", name,
                         shape_text(shape), from.rank, shape.rank);
    for (int d = 0; d < shape.rank; d++) {
        uint32_t mask;
        if (from.axes[d] == NULL)
            continue;
        TRY(mesh_axes(m, from.axes[d], what, &mask));
        for (int a = 0; a < m->axes; a++)
            for (int e = 0; e < d; e++)
                if ((mask & out->cut[e]) >> a & 1)
                    return error_set(TARN_ERR_ARGUMENT,
                                     "mark_sharding: %s: axis \"%s\" stands at dimensions %d and "
                                     "%d; an axis can cut one dimension only",
                                     name, m->name[a], e, d);
        TRY(check_dimension(m, shape, d, from.axes[d], mask, name));
        out->cut[d] = (uint8_t)mask;
    }
    return TARN_OK;
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* Whether an owned tensor can be kept in another way now. */
static tarn_status check_owned(const struct owned *o, const char *what)
{
    if (o->kind == OWNED_KEPT || o->kind == OWNED_FLAT)
        return error_set(TARN_ERR_ARGUMENT,
                         "%s: a kept tensor lies as the value did when it was kept; mark that: "
                         "tarn_keep(tarn_mark_sharding(...))",
                         what);
    if (o->kind == OWNED_STATE || o->optimizer != 0)
        return error_set(TARN_ERR_STATE,
                         "%s: %s belongs to an optimizer; mark parameters before it is made", what,
                         o->name);
    if (o->node || o->assigned)
        return error_set(TARN_ERR_STATE,
                         "%s: %s was used in this step already; call it before, or "
                         "after tarn_step()",
                         what, o->name);
    return TARN_OK;
}

static tarn_status mark_owned(tarn_replica *r, struct owned *o, const struct mesh *m,
                              const struct spec *spec)
{
    if (memcmp(&o->spec, spec, sizeof *spec) == 0)
        return TARN_OK;
    TRY(check_owned(o, "mark_sharding"));
    if (!spec_is_whole(&o->spec))
        return error_set(TARN_ERR_STATE,
                         "mark_sharding: %s was marked %s; clear it with tarn_clear_sharding() "
                         "before another mark",
                         o->name, spec_text(m, &o->spec, o->shape.rank));
    return owned_cut(r, o, spec);
}

tarn_tensor tarn_mark_sharding(tarn_tensor x, tarn_mesh mesh, tarn_spec spec)
{
    tarn_replica *r = x.replica;
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT,
                          "mark_sharding: no tensor (TARN_NONE); an array of the host becomes one "
                          "by tarn_from() or tarn_parameter()");
    struct owned *o = owned_of(x);
    if (r->status != TARN_OK || (o == NULL && !graph_operand(NULL, x, "mark_sharding", 0)))
        return graph_poison(r);
    struct mesh m;
    struct spec cut;
    const char *name = o == NULL ? "a value" : o->name != NULL ? o->name : "a kept tensor";
    tarn_status s = find_mesh(r, mesh, "mark_sharding", &m);
    if (s == TARN_OK)
        s = make_spec(&m, spec, tarn_shape_get(x), name, &cut);
    if (s == TARN_OK && o != NULL && replica_mesh(r) != NULL)
        s = mark_owned(r, o, &m, &cut);
    if (s != TARN_OK) {
        replica_fail(r, s, NULL);
        return graph_poison(r);
    }
    return o != NULL || replica_mesh(r) == NULL ? x : op_shard_as(x, &cut);
}

void tarn_clear_sharding(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    struct owned *o = owned_of(x);
    const struct spec whole = { { 0 } };
    if (r != NULL && r->status != TARN_OK)
        return;
    if (o == NULL) {
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "clear_sharding: only parameters and buffers have a mark that can be cleared");
        return;
    }
    if (spec_is_whole(&o->spec))
        return;
    tarn_status s = check_owned(o, "clear_sharding");
    if (s == TARN_OK)
        s = owned_cut(r, o, &whole);
    if (s != TARN_OK)
        replica_fail(r, s, NULL);
}

void tarn_mark_state_sharding(tarn_replica *r, tarn_optimizer *o, tarn_mesh mesh, const char *axes)
{
    struct mesh m;
    uint32_t mask;
    if (r == NULL || o == NULL) {
        graph_fail(r, TARN_ERR_ARGUMENT, "mark_state_sharding: the %s is NULL",
                   r == NULL ? "replica" : "optimizer");
        return;
    }
    if (r->status != TARN_OK)
        return;
    tarn_status s = find_mesh(r, mesh, "mark_state_sharding", &m);
    if (s == TARN_OK)
        s = mesh_axes(&m, axes, "mark_state_sharding", &mask);
    if (s == TARN_OK && r->graph.count > 1 && r->updates)
        s = error_set(TARN_ERR_STATE, "mark_state_sharding: the optimizer stepped in this step; "
                                      "call tarn_step() before");
    if (s == TARN_OK && replica_mesh(r) != NULL)
        s = r->trainer->cut(o, mask);
    if (s != TARN_OK)
        replica_fail(r, s, NULL);
}

/* ---- what core asks for --------------------------------------------------------------------- */

tarn_status mark_add_words(tarn_replica *r, const char *what, int32_t *words, size_t count)
{
    return member_collect(r, (struct collective){ .kind = COLLECTIVE_ALL_REDUCE,
                                                  .reduction = TARN_SUM,
                                                  .dtype = TARN_I32,
                                                  .count = count,
                                                  .label = what,
                                                  .in = words,
                                                  .out = words });
}
