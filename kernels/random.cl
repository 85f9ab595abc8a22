/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based random bits: a pure function of key and counter. The host's twin, which must give
 * the same bits, is core/tensor/random.c. All arithmetic is modulo 2^64. */

ulong tarn_random_mix(ulong z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
    return z ^ (z >> 31);
}

uint tarn_random(ulong key, uint counter)
{
    const ulong once = tarn_random_mix(key + ((ulong)counter + 1UL) * 0x9E3779B97F4A7C15UL);
    return (uint)(tarn_random_mix(once ^ key) >> 32);
}

/* Uniform in [0, 1): 24 bits, so that every value is exact. */
float tarn_uniform(ulong key, uint counter)
{
    return (float)(tarn_random(key, counter) >> 8) * 0x1p-24f;
}
