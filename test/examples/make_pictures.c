/* SPDX-License-Identifier: Apache-2.0 */
#include "make_pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include <jpeglib.h> /* needs stdio.h */
#include <zlib.h>

/* One row as PNG has it. */
static void png_row(unsigned char *row, int width, int y, int type, int depth, make_pixel get,
                    void *user)
{
    int at = 0;
    memset(row, 0, (size_t)width * 8);
    for (int x = 0; x < width; x++) {
        unsigned char rgb[3];
        get(user, x, y, rgb);
        if (depth < 8) {
            const int bit = x * depth, value = rgb[0] >> (8 - depth);
            row[bit / 8] |= (unsigned char)(value << (8 - depth - bit % 8));
            continue;
        }
        const int colours = type & PNG_COLOR_MASK_COLOR && type != PNG_COLOR_TYPE_PALETTE ? 3 : 1;
        for (int c = 0; c < colours; c++)
            for (int b = 0; b < depth / 8; b++)
                row[at++] = rgb[c];
        for (int b = 0; type & PNG_COLOR_MASK_ALPHA && b < depth / 8; b++)
            row[at++] = (unsigned char)x;
    }
}

bool make_png(const char *path, int width, int height, int type, int depth, bool interlaced,
              make_pixel get, void *user)
{
    FILE *f = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    unsigned char *row = malloc((size_t)width * 8);
    if (f == NULL || info == NULL || row == NULL)
        return false;
    png_init_io(png, f);
    png_set_IHDR(png, info, (unsigned)width, (unsigned)height, depth, type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_color colours[256];
        unsigned char seen[256];
        const int count = 1 << depth;
        for (int i = 0; i < count; i++) {
            const unsigned char level = (unsigned char)(i * 255 / (count - 1));
            colours[i] = (png_color){ level, level, level };
            seen[i] = (unsigned char)i;
        }
        png_set_PLTE(png, info, colours, count);
        png_set_tRNS(png, info, seen, count, NULL);
    }
    png_write_info(png, info);
    const int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < height; y++) {
            png_row(row, width, y, type, depth, get, user);
            png_write_row(png, row);
        }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(row);
    return fclose(f) == 0;
}

bool make_jpeg(const char *path, int width, int height, int channels, bool progressive,
               make_pixel get, void *user)
{
    FILE *f = fopen(path, "wb");
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct jpeg = { .err = jpeg_std_error(&errors) };
    unsigned char *row = malloc((size_t)width * 4);
    if (f == NULL || row == NULL)
        return false;
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, f);
    jpeg.image_width = (unsigned)width;
    jpeg.image_height = (unsigned)height;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (channels == 3)
        jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            unsigned char rgb[4] = { 0 };
            get(user, x, y, rgb);
            memcpy(row + x * channels, rgb, (size_t)channels);
        }
        (void)jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    return fclose(f) == 0;
}

bool make_part(const char *path, const char *of, long bytes)
{
    FILE *from = fopen(of, "rb"), *to = fopen(path, "wb");
    bool good = from != NULL && to != NULL;
    for (long i = 0; good && i < bytes; i++)
        good = fputc(fgetc(from), to) != EOF;
    if (from != NULL)
        (void)fclose(from);
    return to != NULL && fclose(to) == 0 && good;
}

static void put32(unsigned char *to, unsigned value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

bool make_promise(const char *path, unsigned width, unsigned height)
{
    unsigned char head[45] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I',
                               'H',  'D', 'R', 0,   0,    0,    0,    0,    0, 0, 0, 8,  2 };
    put32(head + 16, width);
    put32(head + 20, height);
    put32(head + 29, (unsigned)crc32(0, head + 12, 17));
    memcpy(head + 37, "IDAT", 4); /* of 0 bytes */
    put32(head + 41, (unsigned)crc32(0, head + 37, 4));
    FILE *f = fopen(path, "wb");
    const bool good = f != NULL && fwrite(head, 1, sizeof head, f) == sizeof head;
    return f != NULL && fclose(f) == 0 && good;
}
