/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of leaves on several ranks: the program is the same on all of them, and each has the part of the
 * whole that its coordinate says. */
#include <criterion/criterion.h>
#include <string.h>

#include "op/op.h"
#include "tarn_dist.h"
#include "tensor/replica.h"
#include "tensor/shape.h"

TestSuite(position, .timeout = 300);

enum { WORLD = 2, ROWS = 6, COLUMNS = 5, PART = ROWS / WORLD * COLUMNS };

static struct {
    float whole[ROWS * COLUMNS], part[WORLD][PART];
    int32_t numbers[WORLD][ROWS * COLUMNS];
} seen;

/* With virtual shards the key of random numbers is that of one device. */
static tarn_status draw(tarn_replica *r, void *arg)
{
    (void)arg;
    const int rank = tarn_rank(r);
    union op_arg number, random;
    memset(&number, 0, sizeof number);
    memset(&random, 0, sizeof random);
    number.position.at = (struct position){ .base = 7, .stride = { -3, 2 }, .step = { 1000 } };
    shape_strides(TARN_SHAPE(ROWS, COLUMNS), random.position.at.stride);
    random.position.at.step[0] = PART;
    tarn_seed(r, 5);
    const tarn_tensor numbers =
        graph_record(r, &op_iota, NULL, 0, TARN_SHAPE(ROWS, COLUMNS), TARN_I32, &number);
    const tarn_tensor part =
        graph_record(r, &op_rand, NULL, 0, TARN_SHAPE(ROWS / WORLD, COLUMNS), TARN_F32, &random);
    (void)!tarn_read(tarn_add(numbers, numbers), seen.numbers[rank], sizeof seen.numbers[rank]);
    (void)!tarn_read(part, seen.part[rank], sizeof seen.part[rank]);
    return tarn_wait(r);
}

static tarn_status draw_whole(tarn_replica *r, void *arg)
{
    (void)arg;
    tarn_seed(r, 5);
    return tarn_read(tarn_rand(r, TARN_SHAPE(ROWS, COLUMNS)), seen.whole, sizeof seen.whole);
}

Test(position, each_rank_has_its_part)
{
    const tarn_launch_options on_two = { .count = WORLD, .virtual_shards = WORLD };
    cr_assert(tarn_launch(draw, NULL, on_two) == TARN_OK, "%s", tarn_error(NULL));
    cr_assert(tarn_launch(draw_whole, NULL, (tarn_launch_options){ .count = 1 }) == TARN_OK, "%s",
              tarn_error(NULL));
    for (int rank = 0; rank < WORLD; rank++) {
        cr_assert(memcmp(seen.part[rank], &seen.whole[rank * PART], sizeof seen.part[rank]) == 0,
                  "rank %d", rank);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            cr_assert(seen.numbers[rank][i] ==
                          2 * (7 - 3 * (i / COLUMNS) + 2 * (i % COLUMNS) + 1000 * rank),
                      "rank %d, element %d: %d", rank, i, seen.numbers[rank][i]);
    }
}
