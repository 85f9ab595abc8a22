/* SPDX-License-Identifier: Apache-2.0 */
/* All bits that a few training steps leave, to be compared between schedules. */
#ifndef TARN_TRAIN_TRACE_H
#define TARN_TRAIN_TRACE_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tarn.h"
#include "tarn_profile.h"
#include "tensor/random.h"
#include "tensor/replica.h"

enum { TRACE_STEPS = 2, TRACE_MOST = 1 << 16 };

/* What a run left: the loss of each step, and all tensors of the replica. */
struct trace {
    unsigned char bytes[TRACE_MOST];
    size_t used;
    uint64_t launches;
};

static inline void trace_keep(struct trace *t, tarn_tensor x)
{
    const size_t bytes =
        (size_t)tarn_shape_count(tarn_shape_get(x)) * tarn_dtype_bytes(tarn_dtype_get(x));
    cr_assert_leq(bytes, TRACE_MOST - t->used, "the trace is too small");
    cr_assert_eq(tarn_read(x, t->bytes + t->used, bytes), TARN_OK, "%s", tarn_error(x.replica));
    t->used += bytes;
}

static inline tarn_tensor trace_numbers(tarn_replica *r, tarn_shape s, unsigned salt)
{
    const size_t count = (size_t)tarn_shape_count(s);
    float *v = malloc(count * sizeof *v);
    cr_assert_not_null(v);
    for (size_t i = 0; i < count; i++)
        v[i] = (float)(random_u32(7, (uint32_t)i * 16 + salt) >> 8) / (1 << 22) - 2;
    const tarn_tensor t = tarn_from(r, s, TARN_F32, v);
    free(v);
    return t;
}

/* A replica for a schedule and a kind of device, with convolutions that a GPU has, too. */
static inline tarn_replica *trace_open(const char *schedule, const char *target)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0); /* a GPU has no such convolution */
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

typedef tarn_tensor trace_loss(const void *net, tarn_tensor x, tarn_tensor y);

/* Trains the replica's net, keeps what there is then, and closes the replica. The caller frees the trace. */
static inline struct trace *trace_training(tarn_replica *r, const void *net, trace_loss *loss_of,
                                           tarn_shape x, tarn_shape y)
{
    struct trace *t = calloc(1, sizeof *t);
    cr_assert_not_null(t);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.5f });
    cr_assert_not_null(sgd, "%s", tarn_error(r));
    for (unsigned s = 0; s < TRACE_STEPS; s++) {
        const tarn_tensor loss =
            tarn_keep(loss_of(net, trace_numbers(r, x, s), trace_numbers(r, y, s + 8)));
        tarn_backward(loss);
        tarn_clip_grad_norm(r, 0.5f);
        tarn_optimizer_step(sgd);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        t->launches = tarn_metrics_get(r).launches_last_step;
        trace_keep(t, loss);
        tarn_drop(loss);
    }
    for (int i = 0; i < tarn_owned_count(r); i++)
        trace_keep(t, tarn_find(r, tarn_owned_name(r, i)));
    tarn_close(r);
    return t;
}

#endif
