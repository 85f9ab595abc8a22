/* SPDX-License-Identifier: Apache-2.0 */
/* The collectives that a program writes by hand: over all ranks, and over groups of a mesh. Here is checked what
 * they are given. */
#include <stdio.h>
#include <string.h>

#include "collective.h"
#include "mesh_axes.h"
#include "op/op.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

/* ---- checks --------------------------------------------------------------------------------- */

/* Where replicas record the global program, values are those of all replicas together. */
static bool operand(const char *name, tarn_tensor x)
{
    if (!graph_operand(NULL, x, name, 0))
        return false;
    const struct member *m = member_of(x.replica);
    if (m == NULL || m->peers.mesh.axes == 0)
        return true;
    graph_fail(x.replica, TARN_ERR_ARGUMENT,
               "%s: the launch has a mesh, so x is the value of all ranks together already; write "
               "collectives in a launch without tarn_launch_options.mesh",
               name);
    return false;
}

static bool check_reduction(const char *name, tarn_tensor x, tarn_reduction reduction)
{
    const tarn_dtype dtype = tarn_dtype_get(x);
    const bool fits = dtype_is_float(dtype) ||
                      ((dtype == TARN_I32 || dtype == TARN_I64) && reduction != TARN_MEAN);
    if (fits && reduction >= TARN_SUM && reduction <= TARN_MIN)
        return true;
    graph_fail(x.replica, fits ? TARN_ERR_ARGUMENT : TARN_ERR_DTYPE,
               "%s: reduction %d of %s %s: a float type, or int32 and int64 without a mean", name,
               (int)reduction, tarn_dtype_name(dtype), shape_text(tarn_shape_get(x)));
    return false;
}

/* Whether axis 0 falls into as many equal parts as there are replicas. */
static bool check_parts(const char *name, tarn_tensor x, int world)
{
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank >= 1 && s.dim[0] % world == 0)
        return true;
    graph_fail(x.replica, TARN_ERR_SHAPE, "%s: axis 0 of %s does not divide into %d replicas", name,
               shape_text(s), world);
    return false;
}

/* With virtual shards, what goes from replica to replica is another value on another number of
 * them: so it is on one, too. */
static tarn_tensor alone(tarn_tensor x)
{
    return spread_as(graph_value(x), SPREAD_OWN);
}

/* ---- over all ranks ------------------------------------------------------------------------- */

tarn_tensor tarn_all_reduce(tarn_tensor x, tarn_reduction reduction)
{
    if (!operand("all_reduce", x) || !check_reduction("all_reduce", x, reduction))
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(x, &of);
    const int world = tarn_world_size(x.replica);
    const bool sums = reduction == TARN_SUM || reduction == TARN_MEAN;
    if (sums && spread_can_sum(x)) {
        const tarn_tensor sum = collective_sum(x, PURPOSE_USER);
        return op_as(world > 1 && reduction == TARN_MEAN ? op_over(sum, world) : sum, of);
    }
    const tarn_tensor y = world == 1 ? x : collective_reduce(x, reduction, whole);
    return op_as(alone(y), of);
}

tarn_tensor tarn_reduce_scatter(tarn_tensor x, tarn_reduction reduction)
{
    const int world = tarn_world_size(x.replica);
    if (!operand("reduce_scatter", x) || !check_reduction("reduce_scatter", x, reduction) ||
        !check_parts("reduce_scatter", x, world))
        return graph_poison(x.replica);
    if (world == 1)
        return alone(x);
    tarn_dtype of;
    x = op_wide(x, &of);
    return op_as(collective_scatter(x, reduction, whole, 0), of);
}

tarn_tensor tarn_all_gather(tarn_tensor x)
{
    const int world = tarn_world_size(x.replica);
    if (!operand("all_gather", x))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank < 1 || (int64_t)s.dim[0] * world > INT32_MAX)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "all_gather: %s cannot be joined along axis 0; reshape a scalar to [1]",
                          shape_text(s));
    return world == 1 ? alone(x) : collective_gather(x, whole, 0);
}

tarn_tensor tarn_broadcast(tarn_tensor x, int root)
{
    const int world = tarn_world_size(x.replica);
    if (!operand("broadcast", x))
        return graph_poison(x.replica);
    if (root < 0 || root >= world)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "broadcast: there is no rank %d of %d",
                          root, world);
    return world == 1 ? alone(x) : collective_broadcast(x, whole, root);
}

tarn_tensor tarn_all_to_all(tarn_tensor x)
{
    const int world = tarn_world_size(x.replica);
    if (!operand("all_to_all", x) || !check_parts("all_to_all", x, world))
        return graph_poison(x.replica);
    return world == 1 ? alone(x) : collective_exchange(x, whole, 0, 0);
}

/* ---- over groups ---------------------------------------------------------------------------- */

/* The number of a mesh among those of this replica, from 1. */
static bool number_mesh(const char *name, tarn_replica *r, const struct mesh *mesh, uint8_t *out)
{
    struct member *m = member_of(r);
    const int most = (int)(sizeof m->meshes / sizeof *m->meshes);
    int i = 0;
    while (i < m->mesh_count && memcmp(&m->meshes[i], mesh, sizeof *mesh) != 0)
        i++;
    if (i == most) {
        graph_fail(r, TARN_ERR_ARGUMENT, "%s: mesh %s is one too many, %d are possible", name,
                   mesh_text(mesh), most);
        return false;
    }
    m->meshes[i] = *mesh;
    m->mesh_count += i == m->mesh_count;
    *out = (uint8_t)(i + 1);
    return true;
}

/* What is asked for, and over whom. */
struct question {
    const char *name;
    tarn_tensor x;
    struct reach over;
    int count; /* ranks of a group; of 1 everything stays as it is */
};

static bool begin(struct question *q, const char *name, tarn_tensor x, tarn_mesh mesh,
                  const char *axes)
{
    *q = (struct question){ .name = name, .x = x };
    if (!operand(name, x))
        return false;
    struct mesh m;
    uint32_t mask;
    if (mesh_make(mesh, tarn_world_size(x.replica), &m) != TARN_OK ||
        mesh_axes(&m, axes, name, &mask) != TARN_OK) {
        char line[600];
        snprintf(line, sizeof line, "%s", error_text());
        graph_fail(x.replica, TARN_ERR_ARGUMENT, "%s", line);
        return false;
    }
    q->count = mesh_blocks(&m, mask);
    if (q->count == 1)
        return true;
    q->over.axes = (uint8_t)mask;
    return number_mesh(name, x.replica, &m, &q->over.mesh);
}

/* A dimension of x, which a collective cuts into parts if `cuts`; -1 is the last. */
static bool check_dimension(const struct question *q, int *dim, bool cuts)
{
    const tarn_shape s = tarn_shape_get(q->x);
    if (*dim < -s.rank || *dim >= s.rank) {
        graph_fail(q->x.replica, TARN_ERR_SHAPE, "%s: %s has no dimension %d", q->name,
                   shape_text(s), *dim);
        return false;
    }
    *dim += *dim < 0 ? s.rank : 0;
    const int32_t length = s.dim[*dim];
    if (cuts && length % q->count != 0)
        graph_fail(q->x.replica, TARN_ERR_SHAPE,
                   "%s: dimension %d of %s is %d, the group has %d ranks: %d / %d is not whole",
                   q->name, *dim, shape_text(s), (int)length, q->count, (int)length, q->count);
    else if (!cuts && (int64_t)length * q->count > INT32_MAX)
        graph_fail(q->x.replica, TARN_ERR_SHAPE, "%s: %d parts of dimension %d of %s are too many",
                   q->name, q->count, *dim, shape_text(s));
    return q->x.replica->status == TARN_OK;
}

static bool check_place(const struct question *q, int place)
{
    if (place >= 0 && place < q->count && place < ROUTE_MOST)
        return true;
    graph_fail(q->x.replica, TARN_ERR_ARGUMENT, "%s: there is no place %d of %d", q->name, place,
               q->count);
    return false;
}

tarn_tensor tarn_all_reduce_over(tarn_tensor x, tarn_reduction reduction, tarn_mesh mesh,
                                 const char *axes)
{
    struct question q;
    if (!begin(&q, "all_reduce_over", x, mesh, axes) || !check_reduction(q.name, x, reduction))
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(x, &of);
    return op_as(alone(q.count == 1 ? x : collective_reduce(x, reduction, q.over)), of);
}

tarn_tensor tarn_reduce_scatter_over(tarn_tensor x, tarn_reduction reduction, int dim,
                                     tarn_mesh mesh, const char *axes)
{
    struct question q;
    if (!begin(&q, "reduce_scatter_over", x, mesh, axes) ||
        !check_reduction(q.name, x, reduction) || !check_dimension(&q, &dim, true))
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(x, &of);
    return op_as(alone(q.count == 1 ? x : collective_scatter(x, reduction, q.over, dim)), of);
}

tarn_tensor tarn_all_gather_over(tarn_tensor x, int dim, tarn_mesh mesh, const char *axes)
{
    struct question q;
    if (!begin(&q, "all_gather_over", x, mesh, axes) || !check_dimension(&q, &dim, false))
        return graph_poison(x.replica);
    return alone(q.count == 1 ? x : collective_gather(x, q.over, dim));
}

tarn_tensor tarn_broadcast_over(tarn_tensor x, int root, tarn_mesh mesh, const char *axes)
{
    struct question q;
    if (!begin(&q, "broadcast_over", x, mesh, axes) || !check_place(&q, root))
        return graph_poison(x.replica);
    return alone(q.count == 1 ? x : collective_broadcast(x, q.over, root));
}

tarn_tensor tarn_all_to_all_over(tarn_tensor x, int split, int join, tarn_mesh mesh,
                                 const char *axes)
{
    struct question q;
    if (!begin(&q, "all_to_all_over", x, mesh, axes) || !check_dimension(&q, &split, true) ||
        !check_dimension(&q, &join, false))
        return graph_poison(x.replica);
    return alone(q.count == 1 ? x : collective_exchange(x, q.over, split, join));
}

/* In a group of one there may be nobody who passes anything. */
static tarn_tensor pass(const struct question *q, struct route route)
{
    if (q->count > 1)
        return alone(collective_pass(q->x, q->over, route));
    const tarn_tensor zeros = tarn_zeros(q->x.replica, tarn_shape_get(q->x));
    return alone(route_source(route, 1, 0) == 0 ? q->x : tarn_cast(zeros, tarn_dtype_get(q->x)));
}

tarn_tensor tarn_shift_over(tarn_tensor x, int by, bool round, tarn_mesh mesh, const char *axes)
{
    struct question q;
    if (!begin(&q, "shift_over", x, mesh, axes))
        return graph_poison(x.replica);
    if (q.count > ROUTE_MOST || by <= -ROUTE_MOST || by >= ROUTE_MOST)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                          "shift_over: by %d in a group of %d ranks: less than %d are possible", by,
                          q.count, ROUTE_MOST);
    return pass(&q, (struct route){ .by = by, .only = -1, .round = round });
}

tarn_tensor tarn_send_over(tarn_tensor x, int from, int to, tarn_mesh mesh, const char *axes)
{
    struct question q;
    if (!begin(&q, "send_over", x, mesh, axes) || !check_place(&q, from) || !check_place(&q, to))
        return graph_poison(x.replica);
    return pass(&q, (struct route){ .by = to - from, .only = from });
}
