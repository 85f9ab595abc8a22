/* SPDX-License-Identifier: Apache-2.0 */
/* Writes PNG and JPEG files of all kinds, to be read again. */
#ifndef MAKE_PICTURES_H
#define MAKE_PICTURES_H

#include <stdbool.h>

/* Pixel x, y of a made picture: three levels from 0 to 255, of which some are what few bits can say. */
typedef void (*make_pixel)(void *user, int x, int y, unsigned char rgb[3]);

/* `type` is PNG_COLOR_TYPE_*; a palette has 256 greys of the red level, and transparent ones. Depths of less
 * than 8 bits keep the high bits of the red level; 16 repeats each byte. Alpha is x. */
bool make_png(const char *path, int width, int height, int type, int depth, bool interlaced,
              make_pixel get, void *user);
/* Of 1 (grey), 3 or 4 (CMYK) channels, at quality 100 without loss of colour resolution. */
bool make_jpeg(const char *path, int width, int height, int channels, bool progressive,
               make_pixel get, void *user);
/* A file of so many bytes of another. */
bool make_part(const char *path, const char *of, long bytes);
/* A PNG whose header promises so many pixels, and that has none. */
bool make_promise(const char *path, unsigned width, unsigned height);

#endif
