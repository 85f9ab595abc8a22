/* SPDX-License-Identifier: Apache-2.0 */
/* A mesh and its axes are checked wherever a program hands them in: they are plain values, which nobody made. */
#include <stdio.h>
#include <string.h>

#include "mesh_axes.h"

const char *mesh_text(const struct mesh *m)
{
    static _Thread_local char text[MESH_AXES * (MESH_NAME + 14) + 3];
    size_t n = 0;
    for (int a = 0; a < m->axes; a++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %d", a ? ", " : "(", m->name[a],
                              (int)m->extent[a]);
    snprintf(text + n, sizeof text - n, "%s", m->axes ? ")" : "()");
    return text;
}

static tarn_status check_axis(const tarn_mesh_axis *axis, const struct mesh *before)
{
    const size_t length = strlen(axis->name);
    if (length == 0 || length >= MESH_NAME)
        return error_set(TARN_ERR_ARGUMENT,
                         "mesh: the name \"%.40s\" has %zu letters, must have 1 to %d", axis->name,
                         length, MESH_NAME - 1);
    if (strpbrk(axis->name, ", ") != NULL)
        return error_set(TARN_ERR_ARGUMENT,
                         "mesh: the name \"%s\" has a comma or a space in it, which lists of axes "
                         "are made with",
                         axis->name);
    if (axis->ranks < 1)
        return error_set(TARN_ERR_ARGUMENT, "mesh: axis \"%s\" has %d ranks, must have 1 or more",
                         axis->name, axis->ranks);
    for (int a = 0; a < before->axes; a++)
        if (strcmp(before->name[a], axis->name) == 0)
            return error_set(TARN_ERR_ARGUMENT, "mesh: axis \"%s\" is named twice", axis->name);
    return TARN_OK;
}

static tarn_status check_places(const struct mesh *m, int64_t places, int world)
{
    if (places > world)
        return error_set(TARN_ERR_ARGUMENT,
                         "mesh: %s has %lld places, the launch has %d rank%s; start with %lld or "
                         "make an axis smaller",
                         mesh_text(m), (long long)places, world, world == 1 ? "" : "s",
                         (long long)places);
    if (places < world)
        return error_set(TARN_ERR_ARGUMENT,
                         "mesh: %s has %lld places, the launch has %d ranks; start with %lld or "
                         "make an axis larger",
                         mesh_text(m), (long long)places, world, (long long)places);
    return TARN_OK;
}

tarn_status mesh_make(tarn_mesh mesh, int world, struct mesh *out)
{
    int64_t places = 1;
    memset(out, 0, sizeof *out);
    while (out->axes <= MESH_AXES && mesh.axis[out->axes].name != NULL) {
        const tarn_mesh_axis *axis = &mesh.axis[out->axes];
        if (out->axes == MESH_AXES)
            return error_set(TARN_ERR_ARGUMENT, "mesh: \"%.40s\" is one axis too many, at most %d",
                             axis->name, MESH_AXES);
        TRY(check_axis(axis, out));
        snprintf(out->name[out->axes], MESH_NAME, "%s", axis->name);
        out->extent[out->axes++] = axis->ranks;
        places = places > INT32_MAX ? places : places * axis->ranks;
    }
    if (out->axes == 0)
        return error_set(TARN_ERR_ARGUMENT, "mesh: it has no axis; name one, as in "
                                            "{ .axis = { { \"data\", 2 } } }");
    return check_places(out, places, world);
}

static int find_axis(const struct mesh *m, const char *name, size_t length)
{
    for (int a = 0; a < m->axes; a++)
        if (strlen(m->name[a]) == length && strncmp(m->name[a], name, length) == 0)
            return a;
    return -1;
}

tarn_status mesh_axes(const struct mesh *m, const char *axes, const char *what, uint32_t *out)
{
    *out = axes == NULL ? (UINT32_C(1) << m->axes) - 1 : 0;
    for (const char *at = axes; at != NULL;) {
        const size_t length = strcspn(at, ",");
        const int a = find_axis(m, at, length);
        if (a < 0)
            return error_set(TARN_ERR_ARGUMENT, "%s: mesh %s has no axis \"%.*s\"", what,
                             mesh_text(m), length > 40 ? 40 : (int)length, at);
        if (*out >> a & 1)
            return error_set(TARN_ERR_ARGUMENT, "%s: axis \"%s\" stands twice in \"%.80s\"", what,
                             m->name[a], axes);
        if (*out >> a)
            return error_set(TARN_ERR_ARGUMENT,
                             "%s: axes \"%.80s\" must stand in the order of the mesh, %s", what,
                             axes, mesh_text(m));
        *out |= UINT32_C(1) << a;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return TARN_OK;
}

/* ---- questions ------------------------------------------------------------------------------ */

static bool ask(tarn_replica *r, tarn_mesh mesh, const char *axes, struct mesh *m, uint32_t *mask)
{
    if (r == NULL) {
        (void)error_set(TARN_ERR_ARGUMENT, "mesh: the replica is NULL");
        return false;
    }
    if (mesh_make(mesh, tarn_world_size(r), m) == TARN_OK &&
        mesh_axes(m, axes, "mesh", mask) == TARN_OK)
        return true;
    (void)replica_fail(r, TARN_ERR_ARGUMENT, NULL);
    return false;
}

int tarn_mesh_coordinate(tarn_replica *r, tarn_mesh mesh, const char *axes)
{
    struct mesh m;
    uint32_t mask;
    return ask(r, mesh, axes, &m, &mask) ? mesh_place(&m, tarn_rank(r), mask) : 0;
}

int tarn_mesh_size(tarn_replica *r, tarn_mesh mesh, const char *axes)
{
    struct mesh m;
    uint32_t mask;
    return ask(r, mesh, axes, &m, &mask) ? mesh_blocks(&m, mask) : 1;
}
