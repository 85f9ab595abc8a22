/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of PNG and JPEG files: read as RGB of 8 bits, and brought to the size that a network takes. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stddef.h>

struct picture {
    int width, height;
    unsigned char *rgb; /* red, green and blue of each pixel, row by row; for free() */
};

/* What becomes of a picture that is not square. */
enum picture_fit {
    PICTURE_CROP,    /* the square in its middle */
    PICTURE_STRETCH, /* all of it, distorted */
    PICTURE_PAD      /* all of it, on a square of black */
};

/* Reads a file, whatever its name, of any bit depth and colour type but CMYK. Grey becomes RGB, transparency
 * is dropped. False with one line that names the file. */
bool picture_read(const char *path, struct picture *out, char *problem, size_t capacity);

/* Scales a picture to `size` x `size`: an average of what each new pixel covers, weighted by a triangle, as
 * PIL's BILINEAR. Writes [3, size, size]. False without memory. */
bool picture_scale(const struct picture *p, int size, enum picture_fit fit, unsigned char *planes);

#endif
