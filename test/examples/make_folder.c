/* SPDX-License-Identifier: Apache-2.0 */
/* make_folder FOLDER COUNT: three classes of pictures, PNG and JPEG of several sizes, that a network learns
 * in a few steps: red, green and blue discs at random places. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <png.h>

#include "make_pictures.h"

struct disc {
    int colour, x, y, radius;
};

static void pixel(void *user, int x, int y, unsigned char rgb[3])
{
    const struct disc *d = user;
    const int dx = x - d->x, dy = y - d->y;
    const bool inside = dx * dx + dy * dy < d->radius * d->radius;
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned char)(inside && c == d->colour ? 220 : 30 + 40 * ((x + y + c) % 2));
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "red", "green", "blue" };
    char path[4096];
    unsigned random = 1;
    if (argc != 3)
        return 2;
    for (int c = 0; c < 3; c++) {
        snprintf(path, sizeof path, "%s/%s", argv[1], names[c]);
        if (mkdir(path, 0777) != 0)
            return 1;
        for (int i = 0; i < atoi(argv[2]); i++) {
            const int width = 24 + 8 * (i % 3), height = 24 + 8 * (i % 2);
            random = random * 1103515245u + 12345u;
            struct disc d = { c, width / 2 + (int)(random >> 16) % 5 - 2,
                              height / 2 + (int)(random >> 20) % 5 - 2, 7 + i % 4 };
            const bool png = i % 2 == 0;
            snprintf(path, sizeof path, "%s/%s/%04d.%s", argv[1], names[c], i, png ? "png" : "JPG");
            if (!(png ? make_png(path, width, height, PNG_COLOR_TYPE_RGB, 8, false, pixel, &d)
                      : make_jpeg(path, width, height, 3, false, pixel, &d)))
                return 1;
        }
    }
    return 0;
}
