/* SPDX-License-Identifier: Apache-2.0 */
/* Launches (200, or as many as the argument says) in which a replica fails or stalls somewhere
 * among all-reduces: each ends in time, with the status and the rank that caused it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tarn_dist.h"

enum { ROUNDS = 4, MOST = 1000 };

static const double timeout = 1; /* longer than a busy machine is late */

enum trouble { TROUBLE_FAILS, TROUBLE_STALLS, TROUBLE_LEAVES, TROUBLE_KINDS };

struct plan {
    enum trouble trouble;
    int rank, round;
    atomic_int ended; /* replicas that gave up */
};

/* A thread that a launch left behind may still look at its plan. */
static struct plan plans[MOST];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_for(double seconds)
{
    const struct timespec t = { (time_t)seconds,
                                (long)((seconds - (double)(time_t)seconds) * 1e9) };
    (void)nanosleep(&t, NULL);
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct plan *p = arg;
    for (int round = 0; round < ROUNDS; round++) {
        if (tarn_rank(r) == p->rank && round == p->round) {
            if (p->trouble == TROUBLE_FAILS)
                return TARN_ERR_SHAPE;
            if (p->trouble == TROUBLE_LEAVES)
                return TARN_OK;
            for (int naps = 0; naps < 200 && atomic_load(&p->ended) == 0; naps++)
                sleep_for(timeout / 10);
        }
        float sum[3];
        const float mine[3] = { 1, 2, (float)tarn_rank(r) };
        const tarn_tensor x = tarn_from(r, TARN_SHAPE(3), TARN_F32, mine);
        const tarn_status s = tarn_read(tarn_all_reduce(x, TARN_SUM), sum, sizeof sum);
        if (s != TARN_OK) {
            atomic_fetch_add(&p->ended, 1);
            return s;
        }
        if (sum[0] != (float)tarn_world_size(r))
            return TARN_ERR_INTERNAL;
    }
    return TARN_OK;
}

/* Whether a run ended as it should. */
static int run(int number)
{
    struct plan *p = &plans[number % MOST];
    *p = (struct plan){ .trouble = (enum trouble)(number % TROUBLE_KINDS) };
    const int world = 2 + number / 3 % 2;
    p->rank = number / 6 % world;
    p->round = number / 18 % ROUNDS;
    const double begin = now();
    const tarn_status s = tarn_launch(
        train, p,
        (tarn_launch_options){ .devices = world == 2 ? "0,0" : "0,0,0", .timeout = timeout });
    const double took = now() - begin;
    char rank[32];
    snprintf(rank, sizeof rank, "rank %d", p->rank);
    const tarn_status wanted = p->trouble == TROUBLE_FAILS ? TARN_ERR_SHAPE : TARN_ERR_STALLED;
    /* Opening devices is not part of the promise, hence the spare second. */
    const int good =
        s == wanted && strstr(tarn_error(NULL), rank) != NULL && took < 2 * timeout + 1;
    if (!good)
        fprintf(stderr, "run %d: %d replicas, rank %d, round %d, trouble %d: %s after %.3f s: %s\n",
                number, world, p->rank, p->round, (int)p->trouble, tarn_status_name(s), took,
                tarn_error(NULL));
    return good;
}

int main(int argc, char **argv)
{
    const int runs = argc > 1 ? atoi(argv[1]) : 200;
    struct plan none = { .rank = -1 };
    /* Compiles, so that no later run has to. */
    if (tarn_launch(train, &none, (tarn_launch_options){ .devices = "0,0" }) != TARN_OK ||
        tarn_launch(train, &none, (tarn_launch_options){ .devices = "0,0,0" }) != TARN_OK)
        return fprintf(stderr, "stall_plain: %s\n", tarn_error(NULL)), 1;
    int good = 0;
    for (int i = 0; i < runs; i++)
        good += run(i);
    fprintf(stderr, "stall_plain: %d of %d runs ended in time with the right line\n", good, runs);
    return good != runs;
}
