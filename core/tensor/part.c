/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of row-major arrays: blocks of some of their dimensions, the lower mesh axis being the major one. */
#include "tensor/part.h"

#include <string.h>

uint32_t part_axes(const struct mesh *m, const struct spec *s)
{
    uint32_t axes = 0;
    for (int d = 0; d < TARN_MAX_RANK; d++)
        axes |= s->cut[d];
    for (int a = 0; a < MESH_AXES; a++)
        if (a >= m->axes || m->extent[a] == 1)
            axes &= ~(UINT32_C(1) << a);
    return axes;
}

tarn_shape part_shape(const struct mesh *m, const struct spec *s, tarn_shape whole)
{
    for (int d = 0; d < whole.rank; d++)
        whole.dim[d] /= mesh_blocks(m, s->cut[d]);
    return whole;
}

bool part_is_first(const struct mesh *m, const struct spec *s, int rank)
{
    return mesh_place(m, rank, ~part_axes(m, s)) == 0;
}

/* Copies rows of the part, each contiguous in both arrays. */
static void copy_rows(const struct mesh *m, const struct spec *s, int rank, tarn_shape whole,
                      size_t each, unsigned char *all, unsigned char *part, bool take)
{
    const tarn_shape mine = part_shape(m, s, whole);
    const int64_t count = tarn_shape_count(mine);
    int last = whole.rank - 1; /* the last dimension that is cut: what follows it is one piece */
    while (last > 0 && mine.dim[last] == whole.dim[last])
        last--;
    int64_t row = 1, first[TARN_MAX_RANK];
    for (int d = last < 0 ? 0 : last; d < whole.rank; d++)
        row *= mine.dim[d];
    for (int d = 0; d < whole.rank; d++)
        first[d] = (int64_t)mesh_place(m, rank, s->cut[d]) * mine.dim[d];
    for (int64_t at = 0; at < count; at += row) {
        int64_t rest = at, from = 0, stride = 1;
        for (int d = whole.rank - 1; d >= 0; d--) {
            from += (rest % mine.dim[d] + first[d]) * stride;
            rest /= mine.dim[d];
            stride *= whole.dim[d];
        }
        unsigned char *w = all + (size_t)from * each, *p = part + (size_t)at * each;
        memcpy(take ? p : w, take ? w : p, (size_t)row * each);
    }
}

void part_take(const struct mesh *m, const struct spec *s, int rank, tarn_shape whole, size_t each,
               const void *from, void *part)
{
    copy_rows(m, s, rank, whole, each, (unsigned char *)(uintptr_t)from, part, true);
}

void part_put(const struct mesh *m, const struct spec *s, int rank, tarn_shape whole, size_t each,
              const void *part, void *to)
{
    copy_rows(m, s, rank, whole, each, to, (unsigned char *)(uintptr_t)part, false);
}
