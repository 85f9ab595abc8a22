/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers in every order of calls on two replicas, each of which has a part of every gradient. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "optim_oracle.h"
#include "tarn_dist.h"

TestSuite(sequence, .timeout = 600);

enum { WORLD = 2 };

struct task {
    const struct oracle_rule *rule;
    uint64_t count;
    char start[64];
    char why[WORLD][600]; /* by rank: the first sequence that went wrong */
};

static tarn_status on_a_replica(tarn_replica *r, void *arg)
{
    struct task *t = arg;
    struct oracle_replica a;
    char *why = t->why[tarn_rank(r)];
    if (!oracle_make(&a, r, t->rule))
        return tarn_error_status(r);
    if (tarn_rank(r) == 0 && tarn_save(r, t->start, (tarn_progress){ 0 }) != TARN_OK)
        return tarn_error_status(r);
    if (tarn_barrier(r) != TARN_OK)
        return tarn_error_status(r);
    bool right = true;
    for (uint64_t seed = 0; right && seed < t->count; seed++)
        right = oracle_sequence(&a, t->rule, t->start, seed, why, sizeof(t->why[0]));
    if (right)
        why[0] = '\0';
    return right ? TARN_OK : TARN_ERR_INTERNAL;
}

static void check_sequences(const struct oracle_rule *rule, uint64_t count, size_t bucket_bytes)
{
    struct task t = { .rule = rule, .count = count };
    snprintf(t.start, sizeof t.start, "/tmp/tarn-sequence-test-%ld", (long)getpid());
    const tarn_launch_options options = { .devices = "0,0",
                                          .timeout = 120,
                                          .bucket_bytes = bucket_bytes };
    const tarn_status s = tarn_launch(on_a_replica, &t, options);
    (void)unlink(t.start);
    for (int i = 0; i < WORLD; i++)
        cr_expect(t.why[i][0] == '\0', "rank %d: %s", i, t.why[i]);
    cr_assert_eq(s, TARN_OK, "%s", tarn_error(NULL));
}

Test(sequence, sgd_with_dampening)
{
    check_sequences(&(struct oracle_rule){ "sgd, 2 replicas", ORACLE_SGD, .lr = 0.0625,
                                           .momentum = 0.5, .dampening = 0.25 },
                    40, 0);
}

Test(sequence, adam_in_buckets)
{
    check_sequences(&(struct oracle_rule){ "adam, 2 replicas", ORACLE_ADAM, .lr = 0.0625,
                                           .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8 },
                    40, 4);
}
