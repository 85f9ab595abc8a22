/* SPDX-License-Identifier: Apache-2.0 */
/* Draws digits of seven bars, shifted and with noise: a data set from arrays in memory. */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10, MOST = 1 << 21 };

/* ---- random numbers: a function of key and counter ------------------------------------------ */

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint32_t draw(uint64_t key, uint64_t counter)
{
    const uint64_t once = mix(key + (counter + 1) * GOLDEN);
    return (uint32_t)(mix(once ^ key) >> 32);
}

static uint64_t key_of(uint64_t seed, int sample)
{
    uint64_t key = mix(seed + GOLDEN);
    for (const char *p = "fake"; *p != '\0'; p++)
        key = mix((key ^ (uint64_t)(unsigned char)*p) + GOLDEN);
    return mix(mix(key + GOLDEN) ^ ((uint64_t)sample + GOLDEN));
}

/* ---- drawing -------------------------------------------------------------------------------- */

struct bar {
    int top, left, height, width;
};

/* The bars, and bit i of a digit for bar i. */
static const struct bar bars[7] = {
    { 4, 9, 3, 11 },  { 4, 18, 11, 3 }, { 13, 18, 11, 3 }, { 21, 9, 3, 11 },
    { 13, 8, 11, 3 }, { 4, 8, 11, 3 },  { 13, 9, 3, 11 },
};
static const uint8_t digits[CLASSES] = {
    0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f
};

static void draw_digit(uint8_t *image, int digit, uint64_t key)
{
    const uint32_t place = draw(key, 1);
    const int down = (int)(place & 0xff) % 7 - 3, right = (int)(place >> 8 & 0xff) % 7 - 3;
    const int ink = 160 + (int)(place >> 16 & 63);
    for (int b = 0; b < 7; b++) {
        if (!(digits[digit] >> b & 1))
            continue;
        for (int y = 0; y < bars[b].height; y++)
            memset(image + (bars[b].top + y + down) * SIDE + bars[b].left + right, ink,
                   (size_t)bars[b].width);
    }
    for (int i = 0; i < PIXELS; i++)
        image[i] = (uint8_t)(image[i] + draw(key, 2 + (uint64_t)i) % 32);
}

/* ---- the data set: one piece of memory, images first ---------------------------------------- */

tarn_dataset *digits_open(int count, uint64_t seed)
{
    uint8_t *images = count > 0 && count <= MOST ? calloc((size_t)count, PIXELS + 1) : NULL;
    uint8_t *labels = images != NULL ? images + (size_t)count * PIXELS : NULL;
    for (int i = 0; images != NULL && i < count; i++) {
        const uint64_t key = key_of(seed, i);
        labels[i] = (uint8_t)(draw(key, 0) % CLASSES);
        draw_digit(images + (size_t)i * PIXELS, labels[i], key);
    }
    /* Without images it is the data set that says so. */
    tarn_dataset *d = tarn_dataset_from((tarn_arrays){
        .inputs = { { images, TARN_U8, TARN_SHAPE(count, 1, SIDE, SIDE), 0 } },
        .targets = { { labels, TARN_U8, TARN_SHAPE(count), CLASSES } },
    });
    if (d == NULL)
        free(images);
    return d;
}

void digits_close(tarn_dataset *d)
{
    uint8_t *images = (uint8_t *)(uintptr_t)tarn_dataset_samples(d);
    tarn_dataset_close(d);
    free(images);
}
