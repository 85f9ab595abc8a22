/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes as programs write them: where each rank lies, and what is refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(mesh, .timeout = 600);

#define MESH(...) ((tarn_mesh){ .axis = { __VA_ARGS__ } })

static tarn_launch_options on(int count)
{
    return (tarn_launch_options){ .devices = "0,0,0,0,0,0,0,0", .count = count, .timeout = 20 };
}

static tarn_status look_around(tarn_replica *r, void *arg)
{
    int(*seen)[6] = arg;
    const tarn_mesh mesh = MESH({ "data", 2 }, { "one", 1 }, { "model", 4 });
    int *mine = seen[tarn_rank(r)];
    mine[0] = tarn_mesh_coordinate(r, mesh, "data");
    mine[1] = tarn_mesh_coordinate(r, mesh, "one");
    mine[2] = tarn_mesh_coordinate(r, mesh, "model");
    mine[3] = tarn_mesh_coordinate(r, mesh, "data,model");
    mine[4] = tarn_mesh_size(r, mesh, "model");
    mine[5] = tarn_mesh_size(r, mesh, NULL);
    return tarn_error_status(r);
}

Test(mesh, the_last_axis_is_the_fastest)
{
    int seen[8][6];
    memset(seen, -1, sizeof seen);
    cr_assert_eq(tarn_launch(look_around, seen, on(8)), TARN_OK, "%s", tarn_error(NULL));
    for (int i = 0; i < 8; i++) {
        const int want[6] = { i / 4, 0, i % 4, i, 4, 8 };
        for (int k = 0; k < 6; k++)
            cr_expect_eq(seen[i][k], want[k], "rank %d, %d: %d", i, k, seen[i][k]);
    }
}

struct question {
    tarn_mesh mesh;
    const char *axes;
};

static tarn_status ask(tarn_replica *r, void *arg)
{
    const struct question *q = arg;
    const int place = tarn_mesh_coordinate(r, q->mesh, q->axes);
    cr_expect_eq(place, 0);
    cr_expect_eq(tarn_mesh_size(r, q->mesh, q->axes), 1);
    return tarn_error_status(r);
}

static tarn_status nothing(tarn_replica *r, void *arg)
{
    (void)r, (void)arg;
    return TARN_OK;
}

static void refused(tarn_mesh mesh, const char *axes, const char *line)
{
    struct question q = { mesh, axes };
    cr_expect_eq(tarn_launch(ask, &q, on(4)), TARN_ERR_ARGUMENT, "\"%s\" was not refused", line);
    cr_expect_not_null(strstr(tarn_error(NULL), line), "no \"%s\" in: %s", line, tarn_error(NULL));
    if (strcmp(axes, "a") != 0) /* it is the question that is wrong */
        return;
    tarn_launch_options o = on(4);
    o.mesh = mesh;
    if (mesh.axis[0].name == NULL) {
        cr_expect_eq(tarn_launch(nothing, NULL, o), TARN_OK);
        return;
    }
    cr_expect_eq(tarn_launch(nothing, NULL, o), TARN_ERR_ARGUMENT);
    cr_expect_not_null(strstr(tarn_error(NULL), line), "no \"%s\" in: %s", line, tarn_error(NULL));
}

Test(mesh, what_is_none_is_refused)
{
    refused(MESH({ "data", 2 }, { "data", 2 }), "a", "mesh: axis \"data\" is named twice");
    refused(MESH({ "data", 2 }, { "model", 4 }), "a",
            "mesh: (data 2, model 4) has 8 places, the launch has 4 ranks; start with 8 or make an "
            "axis smaller");
    refused(MESH({ "data", 2 }), "a",
            "mesh: (data 2) has 2 places, the launch has 4 ranks; start with 2 or make an axis "
            "larger");
    refused(MESH({ "data", 4 }, { "model", 0 }), "a", "mesh: axis \"model\" has 0 ranks");
    refused(MESH({ "data", -4 }), "a", "mesh: axis \"data\" has -4 ranks");
    refused(MESH({ "a name that is long", 4 }), "a", "has 19 letters, must have 1 to 15");
    refused(MESH({ "", 4 }), "a", "has 0 letters");
    refused(MESH({ "a,b", 4 }), "a", "has a comma or a space");
    refused(MESH({ "a", 1 }, { "b", 1 }, { "c", 2 }, { "d", 2 }, { "e", 1 }), "a",
            "\"e\" is one axis too many, at most 4");
    refused((tarn_mesh){ 0 }, "a", "mesh: it has no axis");
    refused(MESH({ "a", 1 << 30 }, { "b", 1 << 30 }, { "c", 1 << 30 }, { "d", 1 << 30 }), "a",
            "has 1152921504606846976 places");
}

Test(mesh, axes_that_it_has_not_are_refused)
{
    const tarn_mesh mesh = MESH({ "data", 2 }, { "model", 2 });
    refused(mesh, "expert", "mesh: mesh (data 2, model 2) has no axis \"expert\"");
    refused(mesh, "", "has no axis \"\"");
    refused(mesh, "dat", "has no axis \"dat\"");
    refused(mesh, "data,", "has no axis \"\"");
    refused(mesh, "model,model", "axis \"model\" stands twice in \"model,model\"");
    refused(mesh, "model,data",
            "axes \"model,data\" must stand in the order of the mesh, (data 2, model 2)");
}

Test(mesh, one_replica_has_a_mesh_of_one)
{
    tarn_replica *r = tarn_open("0");
    cr_assert_not_null(r);
    const tarn_mesh one = MESH({ "data", 1 }, { "model", 1 });
    cr_expect(tarn_mesh_size(r, one, "data,model") == 1 && tarn_mesh_coordinate(r, one, NULL) == 0);
    cr_expect_eq(tarn_error_status(r), TARN_OK);
    tarn_close(r);
    cr_expect_eq(tarn_mesh_size(NULL, one, NULL), 1);
}
