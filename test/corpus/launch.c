/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices: training by parts of a batch, virtual shards, collectives and their gradients. */
#include <stdlib.h>

#include "corpus.h"
#include "mnist.h"
#include <tarn_dist.h>

static void launch(tarn_replica_fn fn, tarn_launch_options options)
{
    tarn_dataset *d = digits_open();
    options.timeout = 300; /* the machine may have other work */
    must(NULL, tarn_launch(fn, d, options));
    tarn_dataset_close(d);
}

/* ---- training ------------------------------------------------------------------------------- */

typedef tarn_optimizer *optimizer_fn(tarn_replica *r);

static tarn_optimizer *sgd(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
}

static tarn_optimizer *adam(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 0.001f });
}

static tarn_status train_on(tarn_replica *r, tarn_dataset *d, optimizer_fn *optimizer, float clip)
{
    const struct net n = net_make(r);
    tarn_optimizer *o = optimizer(r);
    tarn_loader *l = tarn_loader_open(
        r, d, (tarn_loader_options){ .batch = 128, .shuffle = true, .drop_last = true });
    tarn_batch b;
    while (tarn_loader_next(l, &b)) {
        tarn_backward(tarn_nll_loss(net_forward(&n, b.x), b.y));
        if (clip > 0)
            tarn_clip_grad_norm(r, clip);
        tarn_optimizer_step(o);
        if (tarn_step(r) != TARN_OK)
            break;
    }
    tarn_wait(r);
    return tarn_error_status(r);
}

static tarn_status by_sgd(tarn_replica *r, void *d)
{
    return train_on(r, d, sgd, 0);
}

static tarn_status by_adam_clipped(tarn_replica *r, void *d)
{
    return train_on(r, d, adam, 1);
}

static void two_devices(void)
{
    launch(by_sgd, (tarn_launch_options){ .devices = "cpu/2" });
    launch(by_adam_clipped, (tarn_launch_options){ .devices = "cpu/2" });
}

static void small_buckets(void)
{
    launch(by_sgd, (tarn_launch_options){ .devices = "cpu/2", .bucket_bytes = 16384 });
}

static void sync_norm(void)
{
    launch(by_sgd, (tarn_launch_options){ .devices = "cpu/2", .sync_norm = true });
}

static void shards_of_two(void)
{
    launch(by_sgd, (tarn_launch_options){ .devices = "cpu", .virtual_shards = 2 });
    launch(by_adam_clipped, (tarn_launch_options){ .devices = "cpu/2", .virtual_shards = 2 });
}

static void shards_of_four(void)
{
    launch(by_adam_clipped, (tarn_launch_options){ .devices = "cpu", .virtual_shards = 4 });
    launch(by_sgd, (tarn_launch_options){ .devices = "cpu/2", .virtual_shards = 4 });
}

/* ---- collectives ---------------------------------------------------------------------------- */

static tarn_tensor summed(tarn_tensor x)
{
    return tarn_all_reduce(x, TARN_SUM);
}

static tarn_tensor averaged(tarn_tensor x)
{
    return tarn_all_reduce(x, TARN_MEAN);
}

static tarn_tensor largest(tarn_tensor x)
{
    return tarn_all_reduce(x, TARN_MAX);
}

static tarn_tensor scattered(tarn_tensor x)
{
    return tarn_reduce_scatter(x, TARN_SUM);
}

static tarn_tensor from_first(tarn_tensor x)
{
    return tarn_broadcast(x, 0);
}

static tarn_status all_collectives(tarn_replica *r, void *arg)
{
    static tarn_tensor (*const all[])(tarn_tensor) = { summed,         averaged,   largest,
                                                       scattered,      from_first, tarn_all_gather,
                                                       tarn_all_to_all };
    (void)arg;
    for (int i = 0; i < (int)(sizeof all / sizeof *all); i++) {
        const tarn_tensor x = numbers(r, TARN_SHAPE(32, 6));
        tarn_tensor out[2] = { tarn_tanh(all[i](tarn_exp(x))) };
        tarn_gradients(squares(out[0]), &x, 1, &out[1]);
        if (tarn_eval(out, 2) != TARN_OK || tarn_step(r) != TARN_OK)
            break;
    }
    tarn_wait(r);
    return tarn_error_status(r);
}

static void collectives(void)
{
    launch(all_collectives, (tarn_launch_options){ .devices = "cpu/2" });
}

const struct program launch_programs[] = {
    { "launch-2", two_devices },
    { "launch-buckets", small_buckets },
    { "launch-sync-norm", sync_norm },
    { "launch-shards-2", shards_of_two },
    { "launch-shards-4", shards_of_four },
    { "launch-collectives", collectives },
    { 0 },
};
