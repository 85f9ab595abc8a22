/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: what is refused, with its line; and what a marked parameter is: a part on each rank, the whole for whoever
 * reads, saves or loads it. Nothing is computed here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tarn.h"
#include "tarn_dist.h"
#include "tensor/replica.h"

TestSuite(mark, .timeout = 300);

static const tarn_mesh two = { .axis = { { "data", 2 }, { "model", 1 } } };
static const tarn_mesh other = { .axis = { { "model", 2 } } };

/* ---- refusals ------------------------------------------------------------------------------- */

static tarn_tensor weight(tarn_replica *r)
{
    return tarn_parameter(r, "fc1.weight", TARN_SHAPE(31, 10), NULL);
}

static void odd(tarn_replica *r)
{
    tarn_mark_sharding(weight(r), two, TARN_SPEC("data", NULL));
}

static void twice(tarn_replica *r)
{
    tarn_mark_sharding(tarn_parameter(r, "w", TARN_SHAPE(4, 4), NULL), two,
                       TARN_SPEC("data", "data"));
}

static void unknown(tarn_replica *r)
{
    tarn_mark_sharding(weight(r), two, TARN_SPEC("expert", NULL));
}

static void length(tarn_replica *r)
{
    tarn_mark_sharding(weight(r), two, TARN_SPEC("data", NULL, NULL));
}

static void order(tarn_replica *r)
{
    tarn_mark_sharding(tarn_parameter(r, "w", TARN_SHAPE(4), NULL), two, TARN_SPEC("model,data"));
}

static void again(tarn_replica *r)
{
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(4, 4), NULL);
    tarn_mark_sharding(w, two, TARN_SPEC("data", NULL));
    tarn_mark_sharding(w, two, TARN_SPEC("data", NULL)); /* the same: nothing to do */
    tarn_mark_sharding(w, two, TARN_SPEC(NULL, "data"));
}

static void late(tarn_replica *r)
{
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(4), NULL);
    (void)!tarn_sgd(r, (tarn_sgd_options){ .lr = 1.0f });
    tarn_mark_sharding(w, two, TARN_SPEC("data"));
}

static void used(tarn_replica *r)
{
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(4), NULL);
    tarn_neg(w);
    tarn_mark_sharding(w, two, TARN_SPEC("data"));
}

static void kept(tarn_replica *r)
{
    tarn_mark_sharding(tarn_keep(tarn_zeros(r, TARN_SHAPE(4))), two, TARN_SPEC("data"));
}

static void stranger(tarn_replica *r)
{
    tarn_mark_sharding(weight(r), other, TARN_SPEC(NULL, "model"));
}

static void no_owner(tarn_replica *r)
{
    tarn_clear_sharding(tarn_zeros(r, TARN_SHAPE(4)));
}

static const struct refusal {
    void (*call)(tarn_replica *r);
    const char *line;
} refusals[] = {
    { odd,
      "mark_sharding: fc1.weight [31,10]: dimension 0 is 31, axis \"data\" has 2 ranks: 31 / 2 "
      "is not whole; pad it to 32 or leave the dimension whole" },
    { twice, "mark_sharding: w: axis \"data\" stands at dimensions 0 and 1; an axis can cut one "
             "dimension only" },
    { unknown, "mark_sharding: fc1.weight: mesh (data 2, model 1) has no axis \"expert\"" },
    { length, "mark_sharding: fc1.weight [31,10]: the spec has 3 entries for 2 dimensions" },
    { order, "mark_sharding: w: axes \"model,data\" must stand in the order of the mesh" },
    { again, "mark_sharding: w was marked (\"data\",none); clear it with tarn_clear_sharding() "
             "before another mark" },
    { late, "mark_sharding: w belongs to an optimizer; mark parameters before it is made" },
    { used, "mark_sharding: w was used in this step already" },
    { kept, "mark_sharding: a kept tensor lies as the value did when it was kept" },
    { stranger, "mark_sharding: mesh (model 2) is not that of the launch, (data 2, model 1)" },
    { no_owner, "clear_sharding: only parameters and buffers have a mark that can be cleared" },
};

static tarn_status refused(tarn_replica *r, void *arg)
{
    const struct refusal *one = arg;
    one->call(r);
    return tarn_wait(r);
}

/* Such an error is the thread's. */
Test(mark, needs_a_tensor)
{
    tarn_mark_sharding(TARN_NONE, two, TARN_SPEC(NULL));
    cr_assert(strstr(tarn_error(NULL), "mark_sharding: no tensor (TARN_NONE); an array of the host "
                                       "becomes one by tarn_from() or tarn_parameter()") != NULL,
              "%s", tarn_error(NULL));
}

Test(mark, says_what_is_refused)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct refusal one = refusals[i];
        const tarn_launch_options options = { .count = 2, .mesh = two };
        cr_expect(tarn_launch(refused, &one, options) != TARN_OK, "%s", one.line);
        cr_expect(strstr(tarn_error(NULL), one.line) != NULL, "%s\ninstead of\n%s",
                  tarn_error(NULL), one.line);
    }
}

Test(mark, needs_a_mesh)
{
    struct refusal one = { odd, "mark_sharding: the launch has no mesh; name it in "
                                "tarn_launch_options.mesh" };
    cr_assert(tarn_launch(refused, &one, (tarn_launch_options){ .count = 2 }) != TARN_OK);
    cr_assert(strstr(tarn_error(NULL), one.line) != NULL, "%s", tarn_error(NULL));
    const tarn_launch_options both = { .count = 2, .mesh = two, .virtual_shards = 2 };
    cr_assert(tarn_launch(refused, &one, both) != TARN_OK);
    cr_assert(strstr(tarn_error(NULL), "virtual shards and a mesh exclude each other") != NULL,
              "%s", tarn_error(NULL));
}

/* ---- parts ---------------------------------------------------------------------------------- */

enum { RANKS = 4, ROWS = 6, COLUMNS = 8, COUNT = ROWS * COLUMNS };

static const tarn_mesh square = { .axis = { { "data", 2 }, { "model", 2 } } };
static char path[64];

struct seen {
    float before[COUNT], part[COUNT / RANKS], after[COUNT], loaded[COUNT], cleared[COUNT];
    uint8_t bytes[COLUMNS], byte[COLUMNS / RANKS];
};
static struct seen seen[RANKS];

static tarn_status look(tarn_replica *r, void *arg)
{
    (void)arg;
    struct seen *s = &seen[tarn_rank(r)];
    uint8_t bytes[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        bytes[i] = (uint8_t)(200 + i);
    tarn_seed(r, 3);
    const tarn_tensor w = tarn_parameter_kaiming(r, "w", TARN_SHAPE(ROWS, COLUMNS), COLUMNS);
    const tarn_tensor b = tarn_buffer(r, "b", TARN_SHAPE(COLUMNS), TARN_U8, bytes);
    (void)!tarn_read(w, s->before, sizeof s->before);
    tarn_mark_sharding(w, square, TARN_SPEC("data", "model"));
    tarn_mark_sharding(b, square, TARN_SPEC("data,model"));
    if (r->status != TARN_OK)
        return r->status;
    const struct owned *o = owned_of(w);
    (void)!buffer_read(o->buffer, o->offset, s->part, sizeof s->part);
    (void)!buffer_read(owned_of(b)->buffer, 0, s->byte, sizeof s->byte);
    (void)!tarn_read(w, s->after, sizeof s->after);
    (void)!tarn_read(b, s->bytes, sizeof s->bytes);
    (void)!tarn_save(r, path, (tarn_progress){ 0 });
    const float zeros[COUNT] = { 0 };
    (void)!owned_write(r, o, zeros);
    (void)!tarn_load(r, path, NULL);
    (void)!tarn_read(w, s->loaded, sizeof s->loaded);
    tarn_clear_sharding(w);
    o = owned_of(w);
    (void)!buffer_read(o->buffer, o->offset, s->cleared, sizeof s->cleared);
    return tarn_wait(r);
}

/* Without a mesh, into a whole parameter. */
static tarn_status load_alone(tarn_replica *r, void *arg)
{
    const uint8_t bytes[COLUMNS] = { 0 };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(ROWS, COLUMNS), NULL);
    tarn_buffer(r, "b", TARN_SHAPE(COLUMNS), TARN_U8, bytes);
    (void)!tarn_load(r, path, NULL);
    return tarn_read(w, arg, sizeof seen[0].before);
}

Test(mark, keeps_a_part_and_reads_the_whole)
{
    float alone[COUNT];
    snprintf(path, sizeof path, "/tmp/tarn-mark-%d.safetensors", (int)getpid());
    const tarn_launch_options options = { .devices = "0,0,0,0", .count = RANKS, .mesh = square };
    cr_assert(tarn_launch(look, NULL, options) == TARN_OK, "%s", tarn_error(NULL));
    cr_assert(tarn_launch(load_alone, alone, (tarn_launch_options){ .count = 1 }) == TARN_OK, "%s",
              tarn_error(NULL));
    unlink(path);
    cr_assert(memcmp(alone, seen[0].before, sizeof alone) == 0);
    for (int rank = 0; rank < RANKS; rank++) {
        const struct seen *s = &seen[rank];
        for (int i = 0; i < COUNT / RANKS; i++) {
            const int row = rank / 2 * (ROWS / 2) + i / (COLUMNS / 2);
            const int column = rank % 2 * (COLUMNS / 2) + i % (COLUMNS / 2);
            cr_assert(s->part[i] == s->before[row * COLUMNS + column], "rank %d, %d", rank, i);
        }
        cr_assert(memcmp(s->before, seen[0].before, sizeof s->before) == 0);
        cr_assert(memcmp(s->after, s->before, sizeof s->before) == 0);
        cr_assert(memcmp(s->loaded, s->before, sizeof s->before) == 0);
        cr_assert(memcmp(s->cleared, s->before, sizeof s->before) == 0);
        for (int i = 0; i < COLUMNS; i++)
            cr_assert(s->bytes[i] == 200 + i);
        for (int i = 0; i < COLUMNS / RANKS; i++)
            cr_assert(s->byte[i] == 200 + COLUMNS / RANKS * rank + i, "rank %d", rank);
    }
}

/* ---- copies of a part ----------------------------------------------------------------------- */

/* Rows are cut along "data" and the two ranks along "model" have the same; the last one's are changed. */
static tarn_status spoil(tarn_replica *r, void *arg)
{
    float data[COUNT] = { 0 };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(ROWS, COLUMNS), data);
    tarn_mark_sharding(w, square, TARN_SPEC("data", NULL));
    data[(ROWS - 1) * COLUMNS + 3] = 2.0f;
    if (tarn_check_weights(r) == TARN_OK && tarn_rank(r) == *(int *)arg)
        (void)!owned_write(r, owned_of(w), data);
    return tarn_check_weights(r);
}

Test(mark, compares_ranks_that_have_the_same_part)
{
    int rank = RANKS - 1;
    const tarn_launch_options options = { .devices = "0,0,0,0", .count = RANKS, .mesh = square };
    cr_assert(tarn_launch(spoil, &rank, options) == TARN_ERR_WEIGHTS, "%s", tarn_error(NULL));
    cr_assert(strstr(tarn_error(NULL), "w [6,8] element 43 is 0x00000000 on rank 2 and 0x40000000 "
                                       "on rank 3") != NULL,
              "%s", tarn_error(NULL));
    rank = 0; /* the upper rows: changed is what rank 0 has not */
    cr_assert(tarn_launch(spoil, &rank, options) == TARN_OK, "%s", tarn_error(NULL));
}
