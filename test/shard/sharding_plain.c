/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs with random specs on all meshes of up to eight ranks: what the ranks compute together is what one
 * does, in three steps of an optimizer, whose state is cut at random, too. With the planner's strategies, and with random ones: a planner that takes the best does not see the others.
 *
 *     test_sharding              a sample
 *     test_sharding COUNT FIRST  so many, from this seed on */
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "random_graph.h"
#include "spread_values.h"

static const struct mesh meshes[] = {
    { .axes = 2, .extent = { 1, 2 }, .name = { "a", "b" } },
    { .axes = 2, .extent = { 2, 2 }, .name = { "a", "b" } },
    { .axes = 2, .extent = { 1, 4 }, .name = { "a", "b" } },
    { .axes = 2, .extent = { 2, 1 }, .name = { "a", "b" } },
    { .axes = 2, .extent = { 4, 1 }, .name = { "a", "b" } },
    { .axes = 2, .extent = { 2, 4 }, .name = { "a", "b" } },
    { .axes = 2, .extent = { 8, 1 }, .name = { "a", "b" } },
    { .axes = 3, .extent = { 2, 2, 2 }, .name = { "a", "b", "c" } },
};
enum { STEPS = 3, MESHES = sizeof meshes / sizeof meshes[0] };

static uint32_t choose(void *user, uint32_t count)
{
    return draw(user, count);
}

static bool run(uint64_t seed, bool random)
{
    struct record t;
    struct shard_program s;
    char what[64];
    record_begin(&t, &meshes[seed % (random ? 4 : MESHES)]);
    random_graph(&t, seed, random ? 5 : 8);
    struct shard_input in = record_done(&t);
    uint64_t state = seed;
    in.bucket = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 256 : 1 << 20;
    if (random) {
        in.choose = choose;
        in.choose_user = &state;
    }
    snprintf(what, sizeof what, "seed %llu%s", (unsigned long long)seed, random ? ", random" : "");
    bool fits = shard_program(&in, &s) == TARN_OK;
    if (!fits)
        fprintf(stderr, "%s: %s\n", what, error_text());
    fits = fits && record_agrees(&t, &in, &s, STEPS, what);
    shard_free(&s);
    record_end(&t);
    return fits;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 48;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int wrong = 0;
    for (int i = 0; i < count; i++)
        for (int random = 0; random < 2; random++)
            wrong += !run(first + (uint64_t)i, random != 0);
    printf("sharding: %d programs, twice each, %d wrong\n", count, wrong);
    return wrong > 0;
}
