/* SPDX-License-Identifier: Apache-2.0 */
/* Under a mesh ranks that have the same part of a tensor have the same bits in it: a change on one of them ends the
 * launch in that step, or is healed; and where there is nobody to compare with, nothing is said. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "member.h"
#include "tarn.h"
#include "tarn_dist.h"

TestSuite(mesh_check, .timeout = 600);

enum { RANKS = 4, BATCH = 8, IN = 6, HIDDEN = 8, OUT = 4, MOST = IN * HIDDEN, STEPS = 4 };
static const tarn_mesh mesh = { .axis = { { "data", 2 }, { "model", 2 } } };

struct job {
    /* One bit of an element of a tensor is changed on one rank after two steps; NULL: nothing is. */
    const char *name;
    int rank, element, bit;
    bool heal;
    float drop; /* of hidden units */
    int other; /* begins with other values than the others, and has another seed if `drop` > 0; 0: none */
    bool doubles;       /* parameters are of float64, and the bit is of the lower half */
    int every;          /* step in which weights are compared */
    bool whole;         /* nothing is cut: there is no collective but the check's */
    int failed[RANKS];  /* the step that failed, from 1 */
    float end[2][MOST]; /* of w1 and w2 on rank 0 */
    uint64_t plans;
};

static tarn_tensor parameter(tarn_replica *r, const char *name, tarn_shape shape, float scale)
{
    float data[MOST];
    for (int i = 0; i < MOST; i++)
        data[i] = scale * (float)((i * 37 + 11) % 64 - 32) / 64.0f;
    return tarn_parameter(r, name, shape, data);
}

/* Reading is of all ranks, where a tensor is cut. */
static tarn_status flip(tarn_replica *r, const struct job *job)
{
    uint32_t values[2 * MOST];
    const struct owned *o = owned_find(r, job->name);
    if (o == NULL || tarn_shape_count(o->shape) > MOST)
        return error_set(TARN_ERR_STATE, "no %s of this size", job->name);
    TRY(owned_read(r, o, values));
    values[job->doubles ? 2 * job->element : job->element] ^= UINT32_C(1) << job->bit;
    return tarn_rank(r) == job->rank ? owned_write(r, o, values) : TARN_OK;
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    const int rank = tarn_rank(r);
    const bool differs = job->other > 0 && rank == job->other;
    float in[BATCH * IN];
    for (int i = 0; i < BATCH * IN; i++)
        in[i] = (float)(i * 29 % 32 - 16) / 16.0f;
    tarn_seed(r, differs && job->drop > 0 ? 2 : 1);
    tarn_parameter_dtype(r, job->doubles ? TARN_F64 : TARN_F32);
    const tarn_tensor w1 = parameter(r, "w1", TARN_SHAPE(IN, HIDDEN), differs ? 2.0f : 1.0f);
    const tarn_tensor w2 = parameter(r, "w2", TARN_SHAPE(HIDDEN, OUT), 1.0f);
    const tarn_tensor part = parameter(r, "part", TARN_SHAPE(4, OUT), 1.0f);
    if (!job->whole) {
        tarn_mark_sharding(w1, mesh, TARN_SPEC(NULL, "model"));
        tarn_mark_sharding(part, mesh, TARN_SPEC("data,model", NULL));
    }
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    for (int step = 0; step < STEPS; step++) {
        tarn_tensor x = tarn_from(r, TARN_SHAPE(BATCH, IN), TARN_F32, in);
        if (!job->whole)
            x = tarn_mark_sharding(x, mesh, TARN_SPEC("data", NULL));
        tarn_tensor h = tarn_relu(tarn_matmul(x, w1));
        h = job->drop > 0 ? tarn_dropout(h, job->drop) : h;
        const tarn_tensor y = tarn_matmul(h, w2), extra = tarn_mean(part, TARN_AXES(0), true);
        const tarn_tensor d = tarn_sub(y, extra);
        tarn_backward(tarn_mean(tarn_mul(d, d), TARN_ALL, false));
        tarn_optimizer_step(o);
        if (tarn_step(r) != TARN_OK) {
            job->failed[rank] = step + 1;
            return tarn_error_status(r);
        }
        if (step == 1 && job->name != NULL)
            TRY(flip(r, job));
    }
    const tarn_tensor kept[2] = { w1, w2 };
    for (int i = 0; i < 2; i++) {
        float all[MOST];
        TRY(tarn_read(kept[i], all, (i == 0 ? IN * HIDDEN : HIDDEN * OUT) * sizeof *all));
        if (rank == 0)
            memcpy(job->end[i], all, (i == 0 ? IN * HIDDEN : HIDDEN * OUT) * sizeof *all);
    }
    if (rank == 0)
        job->plans = tarn_metrics_get(r).plans_compiled;
    return tarn_wait(r);
}

static tarn_status launch(struct job *job)
{
    return tarn_launch(train, job,
                       (tarn_launch_options){ .devices = "0,0,0,0",
                                              .mesh = mesh,
                                              .heal = job->heal,
                                              .timeout = 60,
                                              .check_weights = job->every });
}

/* ---- what is found -------------------------------------------------------------------------- */

static void expect_found(struct job job, const char *line)
{
    cr_assert(launch(&job) == TARN_ERR_WEIGHTS, "%s: %s", job.name, tarn_error(NULL));
    cr_expect(strstr(tarn_error(NULL), line) != NULL, "%s\ninstead of\n%s", tarn_error(NULL), line);
    for (int rank = 0; rank < RANKS; rank++)
        cr_expect(job.failed[rank] == 3, "%s: rank %d failed in step %d", job.name, rank,
                  job.failed[rank]);
}

Test(mesh_check, finds_a_bit_in_that_step)
{
    expect_found((struct job){ .name = "w2", .rank = 3, .element = 5, .bit = 0 },
                 "weights differ before training step 3: w2 [8,4] element 5 is ");
    cr_expect(strstr(tarn_error(NULL), "; 1 of 4 replicas differ from rank 0") != NULL, "%s",
              tarn_error(NULL));
    /* Columns 4 to 7 are of "model" 1: of ranks 1 and 3. */
    expect_found((struct job){ .name = "w1", .rank = 3, .element = HIDDEN + 6, .bit = 3 },
                 "weights differ before training step 3: w1 [6,8] element 14 is ");
    cr_expect(strstr(tarn_error(NULL), " on rank 1 and ") != NULL &&
                  strstr(tarn_error(NULL), " on rank 3 (") != NULL,
              "%s", tarn_error(NULL));
    cr_expect(strstr(tarn_error(NULL), "; 1 of 4 replicas differ from the first with the same "
                                       "part") != NULL,
              "%s", tarn_error(NULL));
    expect_found((struct job){ .name = "optimizer.exp_avg.w1", .rank = 0, .element = 3, .bit = 31 },
                 "before training step 3: optimizer.exp_avg.w1 [6,8] element 3 is ");
    expect_found((struct job){ .name = "w2", .rank = 1, .element = 31, .bit = 22, .whole = true },
                 "weights differ before training step 3: w2 ");
}

/* One that float32 does not have. */
Test(mesh_check, finds_a_bit_of_float64)
{
    expect_found((struct job){ .name = "w2", .rank = 3, .element = 5, .bit = 0, .doubles = true },
                 "weights differ before training step 3: w2 [8,4] element 5 is ");
    expect_found(
        (struct job){ .name = "w1", .rank = 3, .element = HIDDEN + 6, .bit = 3, .doubles = true },
        "weights differ before training step 3: w1 [6,8] element 14 is ");
}

Test(mesh_check, compares_as_often_as_asked)
{
    struct job job = { .name = "w2", .rank = 2, .element = 1, .bit = 9, .every = 3 };
    cr_assert(launch(&job) == TARN_ERR_WEIGHTS, "%s", tarn_error(NULL));
    cr_expect(job.failed[0] == 4, "in step %d", job.failed[0]);
    job = (struct job){ .name = "w2", .rank = 2, .element = 1, .bit = 9, .every = -1 };
    cr_assert(launch(&job) == TARN_OK, "%s", tarn_error(NULL));
}

/* ---- what is not, and what is healed -------------------------------------------------------- */

static struct job plain(void)
{
    struct job job = { 0 };
    cr_assert(launch(&job) == TARN_OK, "%s", tarn_error(NULL));
    return job;
}

static void expect_same(const struct job *a, const struct job *b)
{
    cr_expect(memcmp(a->end, b->end, sizeof a->end) == 0);
}

Test(mesh_check, says_nothing_of_other_parts)
{
    struct job job = { .name = "part", .rank = 3, .element = 3 * OUT, .bit = 30 };
    cr_assert(launch(&job) == TARN_OK, "%s", tarn_error(NULL));
    cr_expect(job.plans == 2, "%d plans", (int)job.plans); /* of the steps, and of the hashes */
}

Test(mesh_check, heals_before_the_step)
{
    const struct job unhurt = plain();
    struct job job = { .name = "w1", .rank = 2, .element = 1, .bit = 28, .heal = true };
    cr_assert(launch(&job) == TARN_OK, "%s", tarn_error(NULL));
    expect_same(&job, &unhurt);
}

Test(mesh_check, begins_with_the_same_values)
{
    const struct job equal = plain();
    struct job job = { .other = 3 };
    cr_assert(launch(&job) == TARN_OK, "%s", tarn_error(NULL));
    expect_same(&job, &equal);
}

Test(mesh_check, refuses_another_seed)
{
    struct job job = { .other = 2, .drop = 0.5f };
    cr_assert(launch(&job) == TARN_ERR_DISAGREE, "%s", tarn_error(NULL));
    cr_expect(strstr(tarn_error(NULL), "training step 1: rank 2 draws other random numbers than "
                                       "rank 0") != NULL,
              "%s", tarn_error(NULL));
}
