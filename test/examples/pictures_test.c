/* SPDX-License-Identifier: Apache-2.0 */
/* PNG and JPEG files of every kind become the pixels that were written; damaged ones are refused by name. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

#include "make_pictures.h"
#include "picture.h"

enum { WIDTH = 37, HEIGHT = 21 };

static char path[64], other[80];

static void begin(void)
{
    snprintf(path, sizeof path, "/tmp/tarn-picture-%d", (int)getpid());
    snprintf(other, sizeof other, "%s-other", path);
}

static void end(void)
{
    (void)remove(path);
    (void)remove(other);
}

/* Levels of which each is different, or with so many bits; *user: bits. */
static void pixel(void *user, int x, int y, unsigned char rgb[3])
{
    const int bits = *(int *)user, most = (1 << bits) - 1;
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned char)((7 * x + 13 * y + 85 * c) % (most + 1) * 255 / most);
}

static void smooth(void *user, int x, int y, unsigned char rgb[3])
{
    (void)user;
    rgb[0] = (unsigned char)(5 * x + 20);
    rgb[1] = (unsigned char)(9 * y + 10);
    rgb[2] = (unsigned char)(3 * x + 4 * y);
}

static void flat(void *user, int x, int y, unsigned char rgb[3])
{
    (void)user, (void)x, (void)y;
    rgb[0] = 200, rgb[1] = 100, rgb[2] = 50;
}

static int worst_of(const struct picture *p, bool grey, make_pixel get, void *user)
{
    int worst = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        unsigned char rgb[3];
        get(user, i % WIDTH, i / WIDTH, rgb);
        for (int c = 0; c < 3; c++) {
            const int off = abs(p->rgb[3 * i + c] - rgb[grey ? 0 : c]);
            worst = off > worst ? off : worst;
        }
    }
    return worst;
}

static int read_back(bool grey, make_pixel get, void *user)
{
    struct picture p;
    char problem[600] = "";
    cr_assert(picture_read(path, &p, problem, sizeof problem), "%s", problem);
    cr_assert(p.width == WIDTH && p.height == HEIGHT);
    const int worst = worst_of(&p, grey, get, user);
    free(p.rgb);
    return worst;
}

static long size_of(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 ? (long)st.st_size : 0;
}

static void refused(const char *file, const char *why)
{
    struct picture p;
    char problem[600] = "";
    cr_expect(!picture_read(file, &p, problem, sizeof problem), "%s: was read", why);
    cr_expect(p.rgb == NULL);
    cr_expect(strncmp(problem, file, strlen(file)) == 0 && strstr(problem, why) != NULL &&
                  strchr(problem, '\n') == NULL,
              "'%s' does not say '%s'", problem, why);
}

TestSuite(pictures, .init = begin, .fini = end, .timeout = 60);

Test(pictures, of_png_are_what_was_written)
{
    static const struct {
        int type, depth;
    } kinds[] = { { PNG_COLOR_TYPE_GRAY, 1 },        { PNG_COLOR_TYPE_GRAY, 2 },
                  { PNG_COLOR_TYPE_GRAY, 4 },        { PNG_COLOR_TYPE_GRAY, 8 },
                  { PNG_COLOR_TYPE_GRAY, 16 },       { PNG_COLOR_TYPE_PALETTE, 1 },
                  { PNG_COLOR_TYPE_PALETTE, 2 },     { PNG_COLOR_TYPE_PALETTE, 4 },
                  { PNG_COLOR_TYPE_PALETTE, 8 },     { PNG_COLOR_TYPE_GRAY_ALPHA, 8 },
                  { PNG_COLOR_TYPE_GRAY_ALPHA, 16 }, { PNG_COLOR_TYPE_RGB, 8 },
                  { PNG_COLOR_TYPE_RGB, 16 },        { PNG_COLOR_TYPE_RGB_ALPHA, 8 },
                  { PNG_COLOR_TYPE_RGB_ALPHA, 16 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            const int type = kinds[i].type, depth = kinds[i].depth;
            int bits = depth < 8 ? depth : 8;
            const bool grey = type == PNG_COLOR_TYPE_PALETTE || (type & PNG_COLOR_MASK_COLOR) == 0;
            cr_assert(make_png(path, WIDTH, HEIGHT, type, depth, interlaced, pixel, &bits));
            cr_expect(read_back(grey, pixel, &bits) == 0, "type %d, %d bits", type, depth);
        }
}

/* Quality 100 quantises by 1: what is off is rounding, of the transform (1/2 in each of 64 coefficients of
 * rms 1/sqrt(12), as far in pixels) and of the colours (1.8 times a level at most). */
Test(pictures, of_jpeg_are_nearly_what_was_written)
{
    for (int progressive = 0; progressive < 2; progressive++)
        for (int channels = 1; channels <= 3; channels += 2) {
            cr_assert(make_jpeg(path, WIDTH, HEIGHT, channels, progressive, smooth, NULL));
            const int worst = read_back(channels == 1, smooth, NULL);
            cr_expect(worst <= 6, "%d channels: %d levels off", channels, worst);
        }
}

Test(pictures, that_are_damaged_or_no_pictures_are_refused)
{
    int bits = 8;
    cr_assert(make_png(other, WIDTH, HEIGHT, PNG_COLOR_TYPE_RGB, 8, false, pixel, &bits));
    for (long bytes = 8; bytes < size_of(other); bytes += 29) {
        cr_assert(make_part(path, other, bytes));
        refused(path, "damaged PNG");
    }
    cr_assert(make_jpeg(other, WIDTH, HEIGHT, 3, false, pixel, &bits));
    for (long bytes = 4; bytes < size_of(other); bytes += 97) {
        cr_assert(make_part(path, other, bytes));
        refused(path, "damaged JPEG");
    }
    cr_assert(make_jpeg(path, WIDTH, HEIGHT, 4, false, smooth, NULL));
    refused(path, "CMYK");
    cr_assert(make_part(path, other, 0));
    refused(path, "an empty file");
    cr_assert(make_part(path, "/proc/self/exe", 100));
    refused(path, "neither a PNG nor a JPEG");
    (void)remove(path);
    refused(path, "cannot open");
}

Test(pictures, that_promise_too_much_are_refused)
{
    cr_assert(make_promise(path, 100000, 100000));
    refused(path, "100000 x 100000 pixels");
    cr_assert(make_promise(path, 60000, 60000));
    refused(path, "60000 x 60000 pixels");
    cr_assert(make_promise(path, 1, 900000));
    refused(path, "1 x 900000 pixels");
}

/* Of the same size nothing changes; a picture of one colour keeps it at any size; halves are averages. */
Test(pictures, are_scaled)
{
    int bits = 8;
    struct picture p;
    char problem[600];
    static unsigned char planes[3][64][64];
    cr_assert(make_png(path, 21, 21, PNG_COLOR_TYPE_RGB, 8, false, pixel, &bits));
    cr_assert(picture_read(path, &p, problem, sizeof problem));
    cr_assert(picture_scale(&p, 21, PICTURE_CROP, &planes[0][0][0]));
    for (int i = 0; i < 3 * 21 * 21; i++)
        cr_assert((&planes[0][0][0])[i] == p.rgb[i % 441 * 3 + i / 441]);
    free(p.rgb);
    for (int k = 0; k < 4; k++) {
        static const int wide[] = { 21, 64, 200, 20 }, high[] = { 80, 64, 10, 300 };
        cr_assert(make_png(path, wide[k], high[k], PNG_COLOR_TYPE_RGB, 8, false, flat, NULL));
        cr_assert(picture_read(path, &p, problem, sizeof problem));
        for (int fit = PICTURE_CROP; fit <= PICTURE_PAD; fit++) {
            cr_assert(picture_scale(&p, 64, (enum picture_fit)fit, &planes[0][0][0]));
            cr_expect(planes[0][32][32] == 200 && planes[1][32][32] == 100 &&
                      planes[2][32][32] == 50);
            const int corner = fit == PICTURE_PAD && wide[k] != high[k] ? 0 : 200;
            cr_expect(planes[0][0][0] == corner && planes[0][63][63] == corner);
        }
        free(p.rgb);
    }
    unsigned char ramp[4 * 3] = { 0, 0, 0, 100, 100, 100, 0, 0, 0, 100, 100, 100 };
    p = (struct picture){ 4, 1, ramp };
    cr_assert(picture_scale(&p, 2, PICTURE_STRETCH, &planes[0][0][0]));
    /* Weights 3, 3, 1 of 7 at the edge. */
    cr_expect((&planes[0][0][0])[0] == 43 && (&planes[0][0][0])[1] == 57);
}
