/* SPDX-License-Identifier: Apache-2.0 */
/* Reads PNG and JPEG files by libpng and libjpeg, of which a build may lack either. Whatever is wrong with a
 * file, damage included, is told in one line. */
#include "picture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PICTURE_PNG
#include <png.h>
#endif
#ifdef PICTURE_JPEG
#include <jpeglib.h>

#include <jerror.h> /* needs jpeglib.h */
#endif

/* Sides as JPEG has them; 11,585 x 11,585 pixels take 384 MiB. */
enum { CHANNELS = 3, MOST_SIDE = 65535, MOST_PIXELS = 1 << 27 };

struct reading {
    FILE *file;
    struct picture *out;
    unsigned char **rows; /* of out->rgb */
    const char *path;
    char *problem;
    size_t capacity;
    jmp_buf failed;
};

static bool fail(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct reading *r, const char *format, ...)
{
    char line[300];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    snprintf(r->problem, r->capacity, "%s: %s", r->path, line);
    return false;
}

#if defined PICTURE_PNG || defined PICTURE_JPEG
/* Memory for the pixels that a header promises. */
static bool make_room(struct reading *r, size_t width, size_t height)
{
    if (width == 0 || height == 0 || width > MOST_SIDE || height > MOST_SIDE ||
        height > MOST_PIXELS / width)
        return fail(r, "%zu x %zu pixels; a side may have %d, and all of it %d", width, height,
                    (int)MOST_SIDE, (int)MOST_PIXELS);
    r->out->width = (int)width;
    r->out->height = (int)height;
    r->out->rgb = calloc(height * width, CHANNELS);
    r->rows = malloc(height * sizeof *r->rows);
    if (r->out->rgb == NULL || r->rows == NULL)
        return fail(r, "out of memory for %zu x %zu pixels", width, height);
    for (size_t y = 0; y < height; y++)
        r->rows[y] = r->out->rgb + y * width * CHANNELS;
    return true;
}
#endif

/* ---- PNG ------------------------------------------------------------------------------------ */

#ifdef PICTURE_PNG
static _Noreturn void png_failed(png_structp png, png_const_charp line)
{
    struct reading *r = png_get_error_ptr(png);
    (void)fail(r, "damaged PNG: %s", line);
    longjmp(r->failed, 1);
}

static void png_warned(png_structp png, png_const_charp line)
{
    (void)png, (void)line; /* of what is not needed for the pixels */
}

static bool decode_png(struct reading *r, png_structp png, png_infop info)
{
    if (setjmp(r->failed))
        return false;
    png_init_io(png, r->file);
    png_read_info(png, info);
    if (!make_room(r, png_get_image_width(png, info), png_get_image_height(png, info)))
        return false;
    png_set_expand(png); /* palettes, and grey of less than 8 bits */
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)r->out->width * CHANNELS)
        png_error(png, "an unknown colour type");
    png_read_image(png, r->rows);
    png_read_end(png, NULL);
    return true;
}

static bool read_png(struct reading *r)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, png_failed, png_warned);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    const bool good = info != NULL ? decode_png(r, png, info) : fail(r, "out of memory");
    png_destroy_read_struct(&png, &info, NULL);
    return good;
}
#else
static bool read_png(struct reading *r)
{
    return fail(r, "a PNG, and this program was built without libpng: install libpng-dev, "
                   "configure and build again");
}
#endif

/* ---- JPEG ----------------------------------------------------------------------------------- */

#ifdef PICTURE_JPEG
static void jpeg_failed(j_common_ptr jpeg)
{
    struct reading *r = jpeg->client_data;
    char line[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, line);
    (void)fail(r, "damaged JPEG: %s", line);
    longjmp(r->failed, 1);
}

/* A warning (below 0) is of damage that libjpeg fills with grey, but for bytes that nobody needs. */
static void jpeg_warned(j_common_ptr jpeg, int level)
{
    if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA)
        jpeg_failed(jpeg);
}

static bool decode_jpeg(struct reading *r, struct jpeg_decompress_struct *jpeg)
{
    if (setjmp(r->failed))
        return false;
    jpeg_create_decompress(jpeg);
    jpeg_stdio_src(jpeg, r->file);
    (void)jpeg_read_header(jpeg, TRUE);
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK)
        return fail(r, "a JPEG of CMYK: convert it to RGB");
    if (!make_room(r, jpeg->image_width, jpeg->image_height))
        return false;
    jpeg->out_color_space = JCS_RGB;
    (void)jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height)
        (void)jpeg_read_scanlines(jpeg, r->rows + jpeg->output_scanline, 1);
    (void)jpeg_finish_decompress(jpeg);
    return true;
}

static bool read_jpeg(struct reading *r)
{
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct jpeg = { .err = jpeg_std_error(&errors), .client_data = r };
    errors.error_exit = jpeg_failed;
    errors.emit_message = jpeg_warned;
    const bool good = decode_jpeg(r, &jpeg);
    jpeg_destroy_decompress(&jpeg);
    return good;
}
#else
static bool read_jpeg(struct reading *r)
{
    return fail(r, "a JPEG, and this program was built without libjpeg: install libjpeg-dev, "
                   "configure and build again");
}
#endif

/* ---- either --------------------------------------------------------------------------------- */

static bool read_any(struct reading *r)
{
    static const unsigned char png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    static const unsigned char jpeg[] = { 0xff, 0xd8, 0xff };
    unsigned char head[sizeof png] = { 0 };
    const size_t count = fread(head, 1, sizeof head, r->file);
    if (ferror(r->file) || fseek(r->file, 0, SEEK_SET) != 0)
        return fail(r, "cannot read: %s", strerror(errno));
    if (count == 0)
        return fail(r, "an empty file");
    if (memcmp(head, png, sizeof png) == 0)
        return read_png(r);
    if (memcmp(head, jpeg, sizeof jpeg) == 0)
        return read_jpeg(r);
    return fail(r, "neither a PNG nor a JPEG");
}

bool picture_read(const char *path, struct picture *out, char *problem, size_t capacity)
{
    struct reading r = { .out = out, .path = path, .problem = problem, .capacity = capacity };
    *out = (struct picture){ 0 };
    r.file = fopen(path, "rb");
    if (r.file == NULL)
        return fail(&r, "cannot open: %s", strerror(errno));
    const bool good = read_any(&r);
    (void)fclose(r.file);
    free(r.rows);
    if (!good) {
        free(out->rgb);
        *out = (struct picture){ 0 };
    }
    return good;
}
