/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that local memory has no room for are computed one after the other in memory of a worker, and transforms are
 * made again where they are read: neither changes a bit. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

enum { SAMPLES = 149, CHANNELS = 8, SIDE = 20, MOST = 1 << 15 };

TestSuite(worker, .timeout = 600);

static float images[SAMPLES * CHANNELS * SIDE * SIDE];

struct results {
    size_t count;
    float values[MOST];
};

static void add(struct results *to, tarn_tensor x)
{
    const size_t count = (size_t)tarn_shape_count(tarn_shape_get(x));
    cr_assert_leq(to->count + count, (size_t)MOST);
    cr_assert_eq(tarn_read(x, to->values + to->count, count * sizeof *to->values), TARN_OK, "%s",
                 tarn_error(x.replica));
    to->count += count;
}

static tarn_tensor layer(tarn_tensor x, const char *name)
{
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    tarn_name_room room;
    x = tarn_use_conv2d(x, tarn_name_in(&room, "%s.conv", name), CHANNELS, 3, same);
    return tarn_relu(tarn_use_batch_norm(x, tarn_name_in(&room, "%s.norm", name)));
}

static void compute(const char *fuse, struct results *out)
{
    setenv("TARN_FUSE", fuse, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_shape shape = TARN_SHAPE(SAMPLES, CHANNELS, SIDE, SIDE);
    for (int step = 0; step < 2; step++) {
        const tarn_tensor x = tarn_batch_axis(tarn_from(r, shape, TARN_F32, images), 0);
        const tarn_tensor h = layer(layer(x, "first"), "second");
        const tarn_tensor loss = tarn_mean(tarn_mul(h, h), TARN_ALL, false);
        tarn_backward(loss);
        if (step == 0) {
            cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r)); /* layers come to be */
            continue;
        }
        const char *const names[] = { "first.conv.weight", "first.norm.weight",
                                      "second.conv.weight", "second.norm.bias" };
        tarn_tensor read[5] = { loss };
        for (int i = 0; i < 4; i++)
            read[1 + i] = tarn_grad(tarn_find(r, names[i]));
        for (int i = 0; i < 5; i++)
            add(out, read[i]);
    }
    tarn_close(r);
    unsetenv("TARN_FUSE");
}

static struct results fused, apart;

static void compare(const char *target)
{
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        images[i] = (float)(i * 7919 % 1009) / 1009.0f - 0.4f;
    if (target != NULL)
        setenv("TARN_TARGET", target, 1);
    compute("1", &fused);
    compute("0", &apart);
    unsetenv("TARN_TARGET");
    cr_assert_eq(fused.count, apart.count);
    cr_assert_gt(fused.count, 1000u);
    cr_expect_eq(memcmp(fused.values, apart.values, fused.count * sizeof(float)), 0);
}

/* Of its 256 KiB a block's images in Winograd's domain have no half. */
Test(worker, small_caches)
{
    compare("neon");
}

/* Behind its caches memory is so slow that transforms are made again. */
Test(worker, wide_registers)
{
    compare("avx512");
}
