/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample draws is a function of (seed, epoch, sample): one number for its mirror image,
 * then one each for the window's top and left edge. */
#include "data/transform.h"
#include "data/sampler.h"
#include "tensor/shape.h"
#include "tensor/random.h"

#include <string.h>

tarn_status transform_make(const tarn_loader_options *o, tarn_shape sample, tarn_dtype dtype,
                           struct transform *out)
{
    memset(out, 0, sizeof *out);
    if (!o->flip && o->pad == 0 && o->crop[0] == 0 && o->crop[1] == 0)
        return TARN_OK;
    if (sample.rank != 3)
        return error_set(
            TARN_ERR_SHAPE,
            "tarn_loader_open: flip and crop are for images [channels, height, width], "
            "but a sample is %s",
            shape_text(sample));
    const int64_t height = sample.dim[1] + 2 * (int64_t)o->pad;
    const int64_t width = sample.dim[2] + 2 * (int64_t)o->pad;
    const int32_t tall = o->crop[0] ? o->crop[0] : o->crop[1] ? 0 : sample.dim[1];
    const int32_t wide = o->crop[1] ? o->crop[1] : o->crop[0] ? o->crop[0] : sample.dim[2];
    if (o->pad < 0 || tall < 1 || wide < 1 || tall > height || wide > width || height > INT32_MAX ||
        width > INT32_MAX)
        return error_set(
            TARN_ERR_SHAPE,
            "tarn_loader_open: a crop of %dx%d with padding %d does not fit samples of "
            "%s",
            tall, wide, o->pad, shape_text(sample));
    *out = (struct transform){ .any = true,
                               .flip = o->flip,
                               .planes = sample.dim[0],
                               .height = sample.dim[1],
                               .width = sample.dim[2],
                               .pad = o->pad,
                               .crop_height = tall,
                               .crop_width = wide,
                               .element = tarn_dtype_bytes(dtype),
                               .key = random_key(o->seed, "augment") };
    return TARN_OK;
}

tarn_shape transform_shape(const struct transform *t, tarn_shape sample)
{
    if (t->any) {
        sample.dim[1] = t->crop_height;
        sample.dim[2] = t->crop_width;
    }
    return sample;
}

/* Columns left .. left + crop_width - 1 of a row, of which those outside of it are zeros. */
static void copy_row(const struct transform *t, int64_t left, const uint8_t *from, uint8_t *to)
{
    const int64_t wide = t->crop_width;
    const int64_t begin = left < 0 ? (-left < wide ? -left : wide) : 0;
    const int64_t inside = t->width - left < wide ? t->width - left : wide;
    const int64_t end = inside > begin ? inside : begin;
    memset(to, 0, (size_t)begin * t->element);
    if (end > begin)
        memcpy(to + (size_t)begin * t->element, from + (size_t)(left + begin) * t->element,
               (size_t)(end - begin) * t->element);
    memset(to + (size_t)end * t->element, 0, (size_t)(wide - end) * t->element);
}

static void mirror_row(const struct transform *t, uint8_t *row)
{
    uint8_t kept[8];
    uint8_t *a = row, *b = row + (size_t)(t->crop_width - 1) * t->element;
    for (; a < b; a += t->element, b -= t->element) {
        memcpy(kept, a, t->element);
        memcpy(a, b, t->element);
        memcpy(b, kept, t->element);
    }
}

void transform_sample(const struct transform *t, uint64_t epoch, int32_t index, const uint8_t *from,
                      uint8_t *to)
{
    const uint64_t key = random_key_number(random_key_number(t->key, epoch), (uint64_t)index);
    const bool mirrored = t->flip && (random_u32(key, 0) & 1);
    const uint32_t tops = (uint32_t)(t->height + 2 * t->pad - t->crop_height) + 1;
    const uint32_t lefts = (uint32_t)(t->width + 2 * t->pad - t->crop_width) + 1;
    uint64_t counter = 1;
    const int64_t top = (int64_t)sampler_below(tops, key, &counter) - t->pad;
    const int64_t left = (int64_t)sampler_below(lefts, key, &counter) - t->pad;
    const size_t row = (size_t)t->width * t->element, out = (size_t)t->crop_width * t->element;
    for (int32_t plane = 0; plane < t->planes; plane++) {
        for (int32_t i = 0; i < t->crop_height; i++, to += out) {
            const int64_t y = top + i;
            if (y < 0 || y >= t->height) {
                memset(to, 0, out);
                continue;
            }
            copy_row(t, left, from + ((size_t)plane * (size_t)t->height + (size_t)y) * row, to);
            if (mirrored)
                mirror_row(t, to);
        }
    }
}
