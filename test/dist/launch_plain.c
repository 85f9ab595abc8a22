/* SPDX-License-Identifier: Apache-2.0 */
/* A short training run on several replicas, with everything that has threads: for ThreadSanitizer
 * and LeakSanitizer, which cannot look into Criterion's processes. */
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "tarn_dist.h"

enum { BATCH = 64, STEPS = 6, WORLD_MOST = 4 };

struct outcome {
    tarn_dataset *data;
    float weights[WORLD_MOST][10 * 8];
    int fail_rank;
};

static tarn_status train(tarn_replica *r, void *arg)
{
    struct outcome *o = arg;
    tarn_seed(r, 1);
    const tarn_linear hidden = tarn_linear_make(r, "hidden", 784, 8);
    const tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", 8);
    const tarn_linear last = tarn_linear_make(r, "last", 8, 10);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.9f });
    tarn_loader *l = tarn_loader_open(r, o->data,
                                      (tarn_loader_options){ .batch = BATCH,
                                                             .shuffle = true,
                                                             .drop_last = true,
                                                             .mean = MNIST_MEAN,
                                                             .deviation = MNIST_DEVIATION });
    tarn_batch b;
    for (int step = 0; step < STEPS && tarn_loader_next(l, &b); step++) {
        if (tarn_rank(r) == o->fail_rank && step == 3)
            return TARN_ERR_STATE;
        tarn_tensor x = tarn_linear_forward(&hidden, tarn_flatten(b.x, 1));
        x = tarn_dropout(tarn_relu(tarn_batch_norm_forward(&norm, x)), 0.1f);
        tarn_backward(tarn_cross_entropy(tarn_linear_forward(&last, x), b.y));
        tarn_optimizer_step(sgd);
        if (tarn_step(r) != TARN_OK)
            return tarn_error_status(r);
    }
    return tarn_read(last.weight, o->weights[tarn_rank(r)], sizeof o->weights[0]);
}

static int failures;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "launch_plain: %s: %s\n", what, tarn_error(NULL));
    failures++;
}

int main(void)
{
    static struct outcome one, two;
    one.data = two.data = digits_open(BATCH * STEPS, 1);
    one.fail_rank = two.fail_rank = -1;
    const tarn_launch_options sharded = { .devices = "0,0", .virtual_shards = 4 };
    const tarn_launch_options single = { .count = 1, .virtual_shards = 4 };
    check(tarn_launch(train, &one, single) == TARN_OK, "one replica");
    check(tarn_launch(train, &two, sharded) == TARN_OK, "two replicas");
    check(memcmp(two.weights[0], one.weights[0], sizeof one.weights[0]) == 0,
          "one and two replicas give other bits");
    check(memcmp(two.weights[0], two.weights[1], sizeof two.weights[0]) == 0,
          "the replicas differ");
    two.fail_rank = 1;
    check(tarn_launch(train, &two, sharded) == TARN_ERR_STATE, "a replica that fails");
    check(strstr(tarn_error(NULL), "rank 1") != NULL, "names the rank that failed");
    digits_close(one.data);
    if (failures == 0)
        puts("launch_plain: ok");
    return failures != 0;
}
