/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based random bits: a pure function of key and counter, the same here and on devices
 * (kernels/random.cl holds its twin). */
#include "tensor/random.h"
#include "tensor/replica.h"

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint32_t random_u32(uint64_t key, uint64_t counter)
{
    const uint64_t once = mix(key + (counter + 1) * GOLDEN);
    return (uint32_t)(mix(once ^ key) >> 32);
}

uint64_t random_key(uint64_t seed, const char *text)
{
    uint64_t key = mix(seed + GOLDEN);
    for (const char *p = text; *p; p++)
        key = mix((key ^ (uint64_t)(unsigned char)*p) + GOLDEN);
    return key;
}

uint64_t random_key_now(const tarn_replica *r)
{
    const uint64_t key =
        random_key_number(random_key_number(r->seed, r->step_count), r->side_steps);
    /* With virtual shards, or a mesh, the counters, not the key, tell the replicas apart. */
    const bool apart =
        r->peers != NULL && r->peers->shards == 0 && r->peers->rank > 0 && replica_mesh(r) == NULL;
    return apart ? random_key_number(key, (uint64_t)r->peers->rank) : key;
}

uint64_t random_key_number(uint64_t seed, uint64_t number)
{
    return mix(mix(seed + GOLDEN) ^ (number + GOLDEN));
}
