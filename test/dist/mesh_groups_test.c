/* SPDX-License-Identifier: Apache-2.0 */
/* What groups may do side by side, what of it is refused, and the bits of their sums. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(mesh_groups, .timeout = 600);

static const tarn_mesh mesh = { .axis = { { "data", 2 }, { "model", 2 } } };

static tarn_status launch(tarn_replica_fn fn, double timeout)
{
    return tarn_launch(
        fn, NULL, (tarn_launch_options){ .devices = "0,0,0,0", .count = 4, .timeout = timeout });
}

static void expect_ok(tarn_replica_fn fn)
{
    cr_expect_eq(launch(fn, 20), TARN_OK, "%s", tarn_error(NULL));
}

static void expect_refused(tarn_replica_fn fn, tarn_status want, const char *line)
{
    const tarn_status s = launch(fn, want == TARN_ERR_STALLED ? 1 : 20);
    cr_expect_eq(s, want, "%s, not %s", tarn_status_name(s), tarn_status_name(want));
    cr_expect_not_null(strstr(tarn_error(NULL), line), "no \"%s\" in: %s", line, tarn_error(NULL));
}

static tarn_tensor ones(tarn_replica *r, int rows, int columns)
{
    return tarn_ones(r, TARN_SHAPE(rows, columns));
}

static tarn_status read(tarn_tensor x)
{
    return tarn_eval(&x, 1);
}

/* ---- side by side --------------------------------------------------------------------------- */

/* Each group has a shape, a type and a reduction of its own. */
static tarn_status own_shapes(tarn_replica *r, void *arg)
{
    (void)arg;
    const int data = tarn_mesh_coordinate(r, mesh, "data");
    const tarn_tensor x = tarn_add_scalar(ones(r, 2 + data, 3), (float)tarn_rank(r));
    const tarn_tensor y = tarn_all_reduce_over(data ? tarn_cast(x, TARN_I32) : x,
                                               data ? TARN_MAX : TARN_SUM, mesh, "model");
    const tarn_tensor sum = tarn_cast(tarn_sum(y, TARN_ALL, false), TARN_F32);
    const float want = data ? 9 * 4 : 6 * (1 + 2), got = tarn_item(sum);
    cr_expect_eq(got, want, "rank %d: %g, not %g", tarn_rank(r), (double)got, (double)want);
    return tarn_error_status(r);
}

/* Stages compute other things, and pass on what they have. */
static tarn_status own_programs(tarn_replica *r, void *arg)
{
    (void)arg;
    const int stage = tarn_mesh_coordinate(r, mesh, "model");
    const tarn_tensor x = stage == 0 ? tarn_exp(tarn_relu(ones(r, 4, 4))) : ones(r, 4, 4);
    const tarn_tensor y = tarn_send_over(x, 0, 1, mesh, "model");
    const float got = tarn_item(tarn_mean(y, TARN_ALL, false));
    cr_expect(stage == 0 ? got == 0 : got > 2.71f && got < 2.72f, "%g", (double)got);
    return tarn_error_status(r);
}

static tarn_status empty(tarn_replica *r, void *arg)
{
    (void)arg;
    return read(tarn_all_gather_over(ones(r, 0, 3), 0, mesh, "model"));
}

Test(mesh_groups, may_differ_from_one_another)
{
    expect_ok(own_shapes);
    expect_ok(own_programs);
    expect_ok(empty);
}

/* ---- bits ----------------------------------------------------------------------------------- */

enum { COUNT = 256 };
static float sums[4][3][COUNT];

static tarn_status add_up(tarn_replica *r, void *arg)
{
    (void)arg;
    float data[COUNT];
    uint32_t state = 1 + 77 * (uint32_t)tarn_rank(r);
    for (int i = 0; i < COUNT; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (float)(state >> 8) / 16777216.0f - 0.3f;
    }
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(COUNT), TARN_F32, data);
    const tarn_tensor way[3] = {
        tarn_all_reduce_over(x, TARN_SUM, mesh, NULL),
        tarn_all_reduce_over(tarn_all_reduce_over(x, TARN_SUM, mesh, "model"), TARN_SUM, mesh,
                             "data"),
        tarn_all_reduce_over(tarn_all_reduce_over(x, TARN_SUM, mesh, "data"), TARN_SUM, mesh,
                             "model"),
    };
    for (int i = 0; i < 3; i++) {
        const tarn_status s = tarn_read(way[i], sums[tarn_rank(r)][i], sizeof sums[0][0]);
        if (s != TARN_OK)
            return s;
    }
    float all[COUNT];
    const tarn_status s = tarn_read(tarn_all_reduce(x, TARN_SUM), all, sizeof all);
    cr_expect(memcmp(all, sums[tarn_rank(r)][0], sizeof all) == 0);
    return s;
}

/* So a sum over both axes may be made of one over each: the minor axis first. */
Test(mesh_groups, have_the_tree_of_the_ranks)
{
    expect_ok(add_up);
    for (int rank = 0; rank < 4; rank++) {
        cr_expect(memcmp(sums[rank][0], sums[0][0], sizeof sums[0][0]) == 0);
        cr_expect(memcmp(sums[rank][1], sums[rank][0], sizeof sums[0][0]) == 0);
        cr_expect(memcmp(sums[rank][2], sums[rank][0], sizeof sums[0][0]) != 0,
                  "the major axis first gives the same bits: the test shows nothing");
    }
}

/* ---- refused: another collective in one group ----------------------------------------------- */

static tarn_status other_shape(tarn_replica *r, void *arg)
{
    (void)arg;
    return read(tarn_all_gather_over(ones(r, 2, tarn_rank(r) == 3 ? 4 : 3), 0, mesh, "model"));
}

static tarn_status other_axes(tarn_replica *r, void *arg)
{
    (void)arg;
    const bool last = tarn_rank(r) == 3;
    const tarn_tensor x = ones(r, 2, 2);
    return read(tarn_all_gather_over(x, 0, mesh, last ? "model" : "data"));
}

static tarn_status other_kind(tarn_replica *r, void *arg)
{
    (void)arg;
    const tarn_tensor x = ones(r, 2, 2);
    return read(tarn_rank(r) == 2 ? tarn_all_reduce_over(x, TARN_SUM, mesh, "model")
                                  : tarn_shift_over(x, 1, false, mesh, "model"));
}

static tarn_status whole_or_group(tarn_replica *r, void *arg)
{
    (void)arg;
    const tarn_tensor x = ones(r, 2, 2);
    return read(tarn_rank(r) == 2 ? tarn_all_gather(x)
                                  : tarn_all_gather_over(x, 0, mesh, "data,model"));
}

static tarn_status other_dimension(tarn_replica *r, void *arg)
{
    (void)arg;
    return read(tarn_all_gather_over(ones(r, 2, 2), tarn_rank(r) == 1, mesh, "model"));
}

static tarn_status other_reduction(tarn_replica *r, void *arg)
{
    (void)arg;
    return read(tarn_all_reduce_over(ones(r, 2, 2), tarn_rank(r) == 1 ? TARN_MAX : TARN_SUM, mesh,
                                     "model"));
}

static tarn_status other_way(tarn_replica *r, void *arg)
{
    (void)arg;
    const bool turned = tarn_rank(r) == 1;
    return read(tarn_send_over(ones(r, 2, 2), turned, !turned, mesh, "model"));
}

static tarn_status other_message(tarn_replica *r, void *arg)
{
    (void)arg;
    return read(tarn_send_over(ones(r, 2, 2 + tarn_mesh_coordinate(r, mesh, "model")), 0, 1, mesh,
                               "model"));
}

static tarn_status other_mesh(tarn_replica *r, void *arg)
{
    (void)arg;
    const tarn_mesh turned = { .axis = { { "model", 2 }, { "data", 2 } } };
    return read(tarn_all_gather_over(ones(r, 2, 2), 0, tarn_rank(r) == 1 ? turned : mesh, "model"));
}

Test(mesh_groups, ask_for_one_thing)
{
    expect_refused(other_shape, TARN_ERR_DISAGREE,
                   "rank 3 asks for all_gather \"all_gather\" over model");
    expect_refused(other_shape, TARN_ERR_DISAGREE, "the count differs");
    expect_refused(other_axes, TARN_ERR_DISAGREE, "the mesh, or its axes, differs");
    expect_refused(other_kind, TARN_ERR_DISAGREE, "the kind differs");
    expect_refused(whole_or_group, TARN_ERR_DISAGREE, "the mesh, or its axes, differs");
    expect_refused(other_dimension, TARN_ERR_DISAGREE, "the dimension, or the places, differs");
    expect_refused(other_reduction, TARN_ERR_DISAGREE, "the reduction differs");
    expect_refused(other_way, TARN_ERR_DISAGREE, "the dimension, or the places, differs");
    expect_refused(other_message, TARN_ERR_DISAGREE, "the count differs");
    expect_refused(other_mesh, TARN_ERR_DISAGREE, "the mesh, or its axes, differs");
}

/* ---- refused: nobody there ------------------------------------------------------------------ */

static tarn_status no_receiver(tarn_replica *r, void *arg)
{
    (void)arg;
    if (tarn_rank(r) == 1)
        return TARN_OK;
    return read(tarn_send_over(ones(r, 2, 2), 0, 1, mesh, "model"));
}

Test(mesh_groups, wait_no_longer_than_the_timeout)
{
    expect_refused(no_receiver, TARN_ERR_STALLED, "the function of rank 1 has returned");
}

/* ---- refused: what cannot be ---------------------------------------------------------------- */

static int wrong;

static tarn_status ask(tarn_replica *r, void *arg)
{
    (void)arg;
    const tarn_tensor x = ones(r, 3, 4);
    switch (wrong) {
    case 0:
        return read(tarn_reduce_scatter_over(x, TARN_SUM, 0, mesh, "data"));
    case 1:
        return read(tarn_all_gather_over(x, 2, mesh, "data"));
    case 2:
        return read(tarn_all_to_all_over(x, 0, 1, mesh, "data"));
    case 3:
        return read(tarn_broadcast_over(x, 2, mesh, "data"));
    case 4:
        return read(tarn_send_over(x, 0, 2, mesh, "data"));
    case 5:
        return read(tarn_all_reduce_over(tarn_cast(x, TARN_I32), TARN_MEAN, mesh, "data"));
    case 6:
        return read(tarn_all_reduce_over(x, TARN_SUM, mesh, "pipe"));
    case 7:
        return read(tarn_shift_over(x, 5000, true, mesh, "data"));
    default:
        return read(tarn_all_gather_over(tarn_sum(x, TARN_ALL, false), 0, mesh, "data"));
    }
}

Test(mesh_groups, take_what_fits)
{
    static const char *const lines[] = {
        "reduce_scatter_over: dimension 0 of [3,4] is 3, the group has 2 ranks: 3 / 2 is not whole",
        "all_gather_over: [3,4] has no dimension 2",
        "all_to_all_over: dimension 0 of [3,4] is 3",
        "broadcast_over: there is no place 2 of 2",
        "send_over: there is no place 2 of 2",
        "all_reduce_over: reduction 1 of int32 [3,4]",
        "all_reduce_over: mesh (data 2, model 2) has no axis \"pipe\"",
        "shift_over: by 5000 in a group of 2 ranks",
        "all_gather_over: [] has no dimension 0",
    };
    for (wrong = 0; wrong < (int)(sizeof lines / sizeof *lines); wrong++) {
        const tarn_status s = launch(ask, 20);
        cr_expect(s != TARN_OK && strstr(tarn_error(NULL), lines[wrong]) != NULL,
                  "no \"%s\" in: %s", lines[wrong], tarn_error(NULL));
    }
}

static tarn_status by_hand(tarn_replica *r, void *arg)
{
    const bool all = *(const bool *)arg;
    const tarn_tensor x = ones(r, 2, 2);
    return read(all ? tarn_all_reduce(x, TARN_SUM)
                    : tarn_all_reduce_over(x, TARN_SUM, mesh, "data"));
}

Test(mesh_groups, are_not_for_global_programs)
{
    for (int i = 0; i < 2; i++) {
        bool all = i;
        const tarn_launch_options o = { .devices = "0,0,0,0", .count = 4, .mesh = mesh };
        cr_expect_eq(tarn_launch(by_hand, &all, o), TARN_ERR_ARGUMENT);
        cr_expect_not_null(strstr(tarn_error(NULL), "the launch has a mesh, so x is the value of"),
                           "%s", tarn_error(NULL));
    }
}

/* ---- what is counted ------------------------------------------------------------------------ */

/* x has 48 bytes. A collective of all ranks, and one of a group of one, are not counted. */
static tarn_status count(tarn_replica *r, void *arg)
{
    (void)arg;
    const int data = tarn_mesh_coordinate(r, mesh, "data");
    const int model = tarn_mesh_coordinate(r, mesh, "model");
    const tarn_mesh flat = { .axis = { { "all", 4 }, { "none", 1 } } };
    const tarn_tensor x = ones(r, 2, 6);
    const tarn_tensor y[] = { tarn_all_reduce_over(x, TARN_SUM, mesh, "data,model"),
                              tarn_reduce_scatter_over(x, TARN_SUM, 1, mesh, "model"),
                              tarn_all_gather_over(x, 0, mesh, "data,model"),
                              tarn_all_to_all_over(x, 0, 1, mesh, "data"),
                              tarn_broadcast_over(x, 1, mesh, "model"),
                              tarn_shift_over(x, 1, false, mesh, "data"),
                              tarn_all_reduce(x, TARN_SUM),
                              tarn_all_reduce_over(x, TARN_SUM, flat, "none") };
    const uint64_t most = 72 + 24 + 144 + 24, want = most + (model == 0) * 48U + (data == 1) * 48U;
    if (tarn_eval(y, 8) != TARN_OK)
        return tarn_error_status(r);
    const tarn_metrics m = tarn_metrics_get(r);
    cr_expect(m.exchanges == 6 && m.received_bytes == want, "rank %d: %d exchanges, %d B, not %d",
              tarn_rank(r), (int)m.exchanges, (int)m.received_bytes, (int)want);
    return tarn_error_status(r);
}

Test(mesh_groups, are_counted)
{
    expect_ok(count);
}
