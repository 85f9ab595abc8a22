/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of gradients through a batch norm whose statistics are those of all replicas: two devices
 * have the bits of one. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

enum { SAMPLES = 32, CHANNELS = 3, COUNT = SAMPLES * CHANNELS };

static float result[2][COUNT], first[2][COUNT];

/* The gradient in x of the square of the gradient in x, of this replica's part of the batch. */
static tarn_status second(tarn_replica *r, void *arg)
{
    const int world = tarn_world_size(r), rank = tarn_rank(r), rows = SAMPLES / world;
    float x[COUNT], ones[CHANNELS] = { 1, 1, 1 };
    for (int i = 0; i < rows * CHANNELS; i++)
        x[i] = (float)((i + rank * rows * CHANNELS) * 37 % 53) / 16.0f - 1.5f;
    tarn_batch_norm layer = tarn_batch_norm_make(r, "norm", CHANNELS);
    const tarn_tensor in = tarn_from(r, TARN_SHAPE(rows, CHANNELS), TARN_F32, x);
    const tarn_tensor y = tarn_batch_norm_forward(&layer, in);
    const tarn_tensor scale = tarn_from(r, TARN_SHAPE(CHANNELS), TARN_F32, ones);
    tarn_tensor g, gg;
    tarn_gradients(tarn_sum(tarn_mul(scale, tarn_mul(y, tarn_mul(y, y))), TARN_ALL, false), &in, 1,
                   &g);
    tarn_gradients(tarn_sum(tarn_mul(g, g), TARN_ALL, false), &in, 1, &gg);
    tarn_tensor all[2] = { tarn_keep(tarn_all_gather(g)), tarn_keep(tarn_all_gather(gg)) };
    if (tarn_step(r) != TARN_OK)
        return tarn_error_status(r);
    const int which = *(const int *)arg;
    if (rank > 0)
        return tarn_wait(r);
    const tarn_status s = tarn_read(all[0], first[which], sizeof first[which]);
    return s != TARN_OK ? s : tarn_read(all[1], result[which], sizeof result[which]);
}

Test(sync_norm, second_gradients_are_those_of_one_device, .timeout = 120)
{
    for (int which = 0; which < 2; which++) {
        const tarn_launch_options options = {
            .devices = "0,0", .count = which + 1, .virtual_shards = 2, .timeout = 60
        };
        cr_assert_eq(tarn_launch(second, &which, options), TARN_OK, "%s", tarn_error(NULL));
    }
    cr_expect_eq(memcmp(first[0], first[1], sizeof first[0]), 0, "first gradients differ");
    cr_expect_eq(memcmp(result[0], result[1], sizeof result[0]), 0, "second gradients differ");
}
