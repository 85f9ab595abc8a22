/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of gradients through a batch norm whose statistics are those of all replicas: two
 * devices have the bits of one. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

enum { SAMPLES = 32, CHANNELS = 3, COUNT = SAMPLES * CHANNELS };

static float result[2][COUNT], first[2][COUNT];

static float samples[COUNT];

/* The gradient in x of the square of the gradient in x, of this replica's part of the batch. It
 * comes from a loader: of such batches it is known which shard a sample belongs to. */
static tarn_status second(tarn_replica *r, void *arg)
{
    const int rank = tarn_rank(r);
    const float ones[CHANNELS] = { 1, 1, 1 };
    tarn_batch b;
    tarn_dataset *set = tarn_dataset_from(
        (tarn_arrays){ .inputs = { { .data = samples, .shape = TARN_SHAPE(SAMPLES, CHANNELS) } } });
    tarn_loader *loader = tarn_loader_open(r, set, (tarn_loader_options){ .batch = SAMPLES });
    tarn_batch_norm layer = tarn_batch_norm_make(r, "norm", CHANNELS);
    if (!tarn_loader_next(loader, &b))
        return tarn_error_status(r);
    const tarn_tensor in = b.x;
    const tarn_tensor y = tarn_batch_norm_forward(&layer, in);
    const tarn_tensor scale = tarn_from(r, TARN_SHAPE(CHANNELS), TARN_F32, ones);
    tarn_tensor g, gg;
    tarn_gradients(tarn_sum(tarn_mul(scale, tarn_mul(y, tarn_mul(y, y))), TARN_ALL, false), &in, 1,
                   &g);
    tarn_gradients(tarn_sum(tarn_mul(g, g), TARN_ALL, false), &in, 1, &gg);
    tarn_tensor all[2] = { tarn_keep(tarn_all_gather(g)), tarn_keep(tarn_all_gather(gg)) };
    const tarn_status stepped = tarn_step(r);
    tarn_loader_close(loader);
    tarn_dataset_close(set);
    if (stepped != TARN_OK)
        return stepped;
    const int which = *(const int *)arg;
    if (rank > 0)
        return tarn_wait(r);
    const tarn_status s = tarn_read(all[0], first[which], sizeof first[which]);
    return s != TARN_OK ? s : tarn_read(all[1], result[which], sizeof result[which]);
}

Test(sync_norm, second_gradients_are_those_of_one_device, .timeout = 600)
{
    for (int i = 0; i < COUNT; i++)
        samples[i] = (float)(i * 37 % 53) / 16.0f - 1.5f;
    for (int which = 0; which < 2; which++) {
        const tarn_launch_options options = {
            .devices = "0,0", .count = which + 1, .virtual_shards = 2, .timeout = 60
        };
        cr_assert_eq(tarn_launch(second, &which, options), TARN_OK, "%s", tarn_error(NULL));
    }
    cr_expect_eq(memcmp(first[0], first[1], sizeof first[0]), 0, "first gradients differ");
    cr_expect_eq(memcmp(result[0], result[1], sizeof result[0]), 0, "second gradients differ");
}
