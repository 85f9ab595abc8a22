/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "deep.h"
#include "error.h"
#include "run/snapshot.h"

static tarn_tensor zeros(tarn_replica *r, tarn_shape s, tarn_dtype dtype)
{
    void *data = calloc((size_t)tarn_shape_count(s), tarn_dtype_bytes(dtype));
    cr_assert_not_null(data);
    const tarn_tensor t = tarn_from(r, s, dtype, data);
    free(data);
    return t;
}

static tarn_tensor samples(tarn_replica *r, const struct timed_network *n, int batch)
{
    tarn_shape x = n->x;
    x.dim[0] = batch;
    return tarn_batch_axis(zeros(r, x, n->words ? TARN_I32 : TARN_F32), 0);
}

void recorded_evaluation(tarn_replica *r, const struct timed_network *n, int batch)
{
    tarn_train(r, false);
    (void)tarn_keep(n->forward(samples(r, n, batch)));
    cr_assert_eq(tarn_error_status(r), TARN_OK, "%s of %d: %s", n->name, batch, tarn_error(r));
}

void recorded_step(tarn_replica *r, const struct timed_network *n, int batch)
{
    tarn_shape y = n->y;
    y.dim[0] = y.dim[0] / n->x.dim[0] * batch;
    const tarn_tensor in = samples(r, n, batch);
    const tarn_tensor labels = zeros(r, y, TARN_I32);
    const tarn_tensor loss =
        n->loss != NULL ? n->loss(in, labels) : tarn_cross_entropy(n->forward(in), labels);
    tarn_backward(loss);
    tarn_optimizer_step(n->optimizer(r));
    cr_assert_eq(tarn_error_status(r), TARN_OK, "%s of %d: %s", n->name, batch, tarn_error(r));
}

struct compilation {
    const tarn_replica *r;
    const struct target *target;
    struct kernel_plan *plan;
};

static tarn_status compile_step(void *arg)
{
    struct compilation *c = arg;
    struct target target = *c->target;
    struct snapshot s;
    tarn_status status = snapshot_take(c->r, NULL, 0, true, &s);
    if (status == TARN_OK)
        status = compile_place_samples(&s.program, &target.samples);
    if (status == TARN_OK)
        status = compile_program(&s.program, &target, c->plan);
    snapshot_free(&s);
    return status;
}

void recorded_compile(const tarn_replica *r, const struct target *target, struct kernel_plan *out)
{
    memset(out, 0, sizeof *out);
    struct compilation c = { r, target, out };
    cr_assert_eq(run_deep(compile_step, &c), TARN_OK, "%s", error_text());
}
