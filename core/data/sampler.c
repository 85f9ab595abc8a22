/* SPDX-License-Identifier: Apache-2.0 */
/* Permutes the samples of an epoch with the counter-based generator, and cuts them into parts. */
#include "data/sampler.h"
#include "tensor/replica.h"
#include "tensor/random.h"

/* Products whose low half falls into the short last interval are drawn again. */
uint32_t sampler_below(uint32_t bound, uint64_t key, uint64_t *counter)
{
    const uint32_t uneven = (UINT32_MAX - bound + 1) % bound;
    for (;;) {
        const uint64_t product = (uint64_t)random_u32(key, (*counter)++) * bound;
        if ((uint32_t)product >= uneven)
            return (uint32_t)(product >> 32);
    }
}

void sampler_permute(int32_t *order, int32_t n, uint64_t seed, uint64_t epoch)
{
    const uint64_t key = random_key_number(random_key(seed, "sampler"), epoch);
    uint64_t counter = 0;
    for (int32_t i = 0; i < n; i++)
        order[i] = i;
    for (int32_t i = n - 1; i > 0; i--) {
        const uint32_t j = sampler_below((uint32_t)i + 1, key, &counter);
        const int32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

int32_t sampler_length(const struct sampler_cut *c)
{
    return c->size / c->batch + (!c->drop_last && c->size % c->batch != 0);
}

int32_t sampler_batch(const struct sampler_cut *c, uint64_t index)
{
    const int64_t left = c->size - (int64_t)index * c->batch;
    return left < c->batch && !c->pad_last ? (int32_t)left : c->batch;
}

void sampler_part(int32_t n, int rank, int world, int32_t *first, int32_t *count)
{
    const int64_t from = (int64_t)n * rank / world, to = (int64_t)n * (rank + 1) / world;
    *first = (int32_t)from;
    *count = (int32_t)(to - from);
}

void sampler_share(const struct sampler_cut *c, int32_t n, int rank, int world, int32_t *first,
                   int32_t *count)
{
    const bool all = c->equal && n % world != 0;
    sampler_part(n, all ? 0 : rank, all ? 1 : world, first, count);
}

/* Of 8 samples the third of 5 replicas gets one, of 7 it gets two. */
int32_t sampler_most(const struct sampler_cut *c, int rank, int world)
{
    int32_t first, whole, last;
    sampler_share(c, sampler_batch(c, 0), rank, world, &first, &whole);
    sampler_share(c, sampler_batch(c, (uint64_t)sampler_length(c) - 1), rank, world, &first, &last);
    return whole > last ? whole : last;
}
