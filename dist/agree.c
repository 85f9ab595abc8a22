/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what the ranks ask for with what rank 0 asks for; then their checksums. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agree.h"
#include "mesh_group.h"
#include "mesh_axes.h"
#include "recorder.h"

/* ---- do they ask for the same? -------------------------------------------------------------- */

static const char *label_of(const struct collective *c)
{
    return c->label != NULL ? c->label : "";
}

static bool same_shape(const tarn_shape *a, const tarn_shape *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

static bool has_order(const struct collective *c)
{
    return c->order != FORM_ANY;
}

static bool has_origin(const struct collective *c)
{
    return c->origin != 0;
}

static bool same_mesh(const struct collective *a, const struct collective *b)
{
    if (a->mesh == NULL || b->mesh == NULL)
        return a->mesh == b->mesh;
    return a->axes == b->axes && memcmp(a->mesh, b->mesh, sizeof *a->mesh) == 0;
}

static bool same_places(const struct collective *a, const struct collective *b)
{
    return a->split == b->split && a->join == b->join && a->by == b->by && a->only == b->only &&
           a->round == b->round;
}

/* What ranks of different groups must have in common: all come to one collective after the other. */
static const char *difference_of_groups(const struct collective *a, const struct collective *b)
{
    return a->kind != b->kind   ? "kind"
           : !same_mesh(a, b)   ? "mesh, or its axes,"
           : a->step != b->step ? "step"
                                : NULL;
}

static const char *difference(const struct collective *a, const struct collective *b)
{
    return a->kind != b->kind                  ? "kind"
           : !same_mesh(a, b)                  ? "mesh, or its axes,"
           : !same_places(a, b)                ? "dimension, or the places,"
           : a->dtype != b->dtype              ? "element type"
           : a->reduction != b->reduction      ? "reduction"
           : a->count != b->count              ? "count"
           : a->checksum != b->checksum        ? "checksum"
           : !same_shape(&a->shape, &b->shape) ? "shape"
           : has_origin(a) && has_origin(b) && a->origin != b->origin
               ? "computation of the operand, or the name,"
           : has_order(a) && has_order(b) && a->order != b->order
               ? "order in which operands were recorded"
           : a->root != b->root                    ? "root"
           : a->step != b->step                    ? "step"
           : strcmp(label_of(a), label_of(b)) != 0 ? "label"
                                                   : NULL;
}

static void describe_group(const struct collective *c, char *out, size_t capacity)
{
    size_t n = (size_t)snprintf(out, capacity, " over ");
    for (int a = 0; a < c->mesh->axes; a++)
        if (c->axes >> a & 1)
            n +=
                (size_t)snprintf(out + n, capacity - n, "%s%s", n > 6 ? "," : "", c->mesh->name[a]);
    if (c->kind == COLLECTIVE_PASS)
        (void)snprintf(out + n, capacity - n, c->only >= 0 ? " from %d to %d" : " from %d by %d",
                       c->only >= 0 ? c->only : 0, c->only >= 0 ? c->only + c->by : c->by);
    else
        (void)snprintf(out + n, capacity - n, " along %d, %d", c->split, c->join);
}

static void describe(const struct collective *c, char *out, size_t capacity)
{
    static const char *const reductions[] = { "sum", "mean", "max", "min" };
    const unsigned reduction = (unsigned)c->reduction;
    char shape[16 * TARN_MAX_RANK] = "";
    size_t n = 0;
    for (int i = 0; i < c->shape.rank; i++)
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%s%d", i ? "," : "",
                              (int)c->shape.dim[i]);
    char over[120] = "";
    if (c->mesh != NULL)
        describe_group(c, over, sizeof over);
    snprintf(out, capacity,
             "%s \"%.100s\"%s (%s, %zu %s [%s], %zu of checksum, root %d, step %" PRIu64 ")",
             collective_name(c->kind), label_of(c), over,
             reduction < 4 ? reductions[reduction] : "?", c->count, tarn_dtype_name(c->dtype),
             shape, c->checksum, c->root, c->step);
}

static tarn_status disagree(const struct collective *a, int rank_a, const struct collective *b,
                            int rank_b, uint64_t number, const char *what)
{
    char first[500], other[500];
    describe(a, first, sizeof first);
    describe(b, other, sizeof other);
    return error_set(TARN_ERR_DISAGREE,
                     "collective %" PRIu64 ": rank %d asks for %s, rank %d for %s: the %s differs; "
                     "record the same collectives in the same order on every replica",
                     number, rank_b, other, rank_a, first, what);
}

tarn_status agree_two(const struct collective *a, int rank_a, const struct collective *b,
                      int rank_b, uint64_t number)
{
    const char *what = difference(a, b);
    return what == NULL ? TARN_OK : disagree(a, rank_a, b, rank_b, number, what);
}

/* The first of the node's ranks in the group of one of them, or the first that has something, if any. */
static int first_with(const struct collective *const *all, struct ranks ranks, int rank,
                      bool (*has)(const struct collective *c))
{
    const struct collective *c = all[rank];
    const bool whole = c->mesh == NULL;
    const int end = whole ? ranks.first + ranks.count : group_count(c, ranks.world);
    int first = -1;
    for (int place = whole ? ranks.first : 0; place < end; place++) {
        const int i = group_member(c, ranks.first + rank, place) - ranks.first;
        if (i < 0 || i >= ranks.count)
            continue;
        if (has == NULL || has(all[i]))
            return i;
        first = first < 0 ? i : first;
    }
    return first;
}

/* The first rank of a group need not have what others may differ in. */
static tarn_status check_same(const struct collective *const *all, struct ranks ranks,
                              uint64_t number)
{
    int like[3] = { 0 };
    for (int i = 1; i < ranks.count; i++) {
        const char *what = difference_of_groups(all[0], all[i]);
        if (what != NULL)
            return disagree(all[0], ranks.first, all[i], ranks.first + i, number, what);
    }
    for (int i = 1; i < ranks.count; i++) {
        if (i == 1 || all[i]->mesh != NULL) {
            like[0] = first_with(all, ranks, i, NULL);
            like[1] = first_with(all, ranks, i, has_origin);
            like[2] = first_with(all, ranks, i, has_order);
        }
        for (int k = 0; k < 3; k++)
            TRY(agree_two(all[like[k]], ranks.first + like[k], all[i], ranks.first + i, number));
    }
    return TARN_OK;
}

/* ---- is it possible? ------------------------------------------------------------------------ */

static tarn_status refuse(const struct collective *c, uint64_t number, const char *why)
{
    return error_set(TARN_ERR_ARGUMENT, "collective %" PRIu64 ", %s \"%.100s\" of %zu %s: %s",
                     number, collective_name(c->kind), label_of(c), c->count,
                     tarn_dtype_name(c->dtype), why);
}

/* Of groups, whose parts are those of a dimension. */
static tarn_status check_dimensions(const struct collective *c, int count, bool cuts,
                                    uint64_t number)
{
    const bool joins = c->kind == COLLECTIVE_ALL_GATHER || c->kind == COLLECTIVE_ALL_TO_ALL;
    const int rank = c->shape.rank;
    if ((cuts && (c->split < 0 || c->split >= rank)) || (joins && (c->join < 0 || c->join >= rank)))
        return refuse(c, number, "there is no such dimension");
    if (cuts && c->shape.dim[c->split] % count != 0)
        return refuse(c, number, "the number of ranks must divide the dimension");
    if ((size_t)tarn_shape_count(c->shape) != c->count)
        return refuse(c, number, "the shape has another number of elements");
    return c->checksum ? refuse(c, number, "groups have no checksum") : TARN_OK;
}

static tarn_status check_shape(const struct collective *c, int world, uint64_t number)
{
    const size_t bytes = tarn_dtype_bytes(c->dtype), n = (size_t)world;
    const bool all_reduce = c->kind == COLLECTIVE_ALL_REDUCE;
    const bool reduces = all_reduce || c->kind == COLLECTIVE_REDUCE_SCATTER;
    if ((unsigned)c->kind > COLLECTIVE_PASS || (unsigned)c->reduction > TARN_MIN)
        return refuse(c, number, "there is no such collective or reduction");
    if (c->kind == COLLECTIVE_PASS && c->mesh == NULL)
        return refuse(c, number, "only groups pass something on");
    const bool adds = bytes >= 4, floats = c->dtype == TARN_F32 || c->dtype == TARN_F64;
    if (!bytes || (reduces && !adds) || (!floats && reduces && c->reduction == TARN_MEAN))
        return refuse(c, number,
                      "reductions take float32 and float64, int32 and int64 unless it is a mean");
    if (c->count > SIZE_MAX / 8 / n / bytes || c->checksum > SIZE_MAX / 16)
        return refuse(c, number, "more elements than memory has");
    if (c->checksum && (!all_reduce || bytes < 4))
        return refuse(c, number, "only an all_reduce of 4 or 8 bytes an element has a checksum");
    if (c->root < 0 || c->root >= world)
        return refuse(c, number, "the root is no rank");
    const bool cuts = c->kind == COLLECTIVE_REDUCE_SCATTER || c->kind == COLLECTIVE_ALL_TO_ALL;
    if (cuts && c->count % n)
        return refuse(c, number, "the number of ranks must divide the count");
    return c->mesh != NULL ? check_dimensions(c, world, cuts, number) : TARN_OK;
}

/* Bytes of `in` and `out`. */
static void extents(const struct collective *c, int world, int rank, size_t *in, size_t *out)
{
    const size_t bytes = tarn_dtype_bytes(c->dtype), n = (size_t)world, all = c->count * bytes;
    *in = c->kind == COLLECTIVE_BROADCAST && rank != c->root ? 0 : all + c->checksum * bytes;
    *out = c->kind == COLLECTIVE_ALL_GATHER       ? all * n
           : c->kind == COLLECTIVE_REDUCE_SCATTER ? all / n
                                                  : all;
}

static tarn_status check_memory(const struct collective *c, int world, int rank, uint64_t number)
{
    size_t in_bytes, out_bytes;
    extents(c, world, rank, &in_bytes, &out_bytes);
    const uintptr_t in = (uintptr_t)c->in, out = (uintptr_t)c->out;
    const bool in_place = c->kind == COLLECTIVE_ALL_REDUCE || c->kind == COLLECTIVE_BROADCAST ||
                          (c->kind == COLLECTIVE_ALL_TO_ALL && c->mesh == NULL);
    if ((in_bytes && c->in == NULL) || (out_bytes && c->out == NULL))
        return refuse(c, number, "no memory was given");
    if (in_bytes && out_bytes && !(in_place && in == out) && in < out + out_bytes &&
        out < in + in_bytes)
        return refuse(c, number, "input and output overlap");
    return TARN_OK;
}

/* ---- do the checksums agree? ---------------------------------------------------------------- */

static const char *checksum(const struct collective *c)
{
    return (const char *)c->in + tarn_dtype_bytes(c->dtype) * c->count;
}

static bool same_checksum(const struct collective *a, const struct collective *b)
{
    return memcmp(checksum(a), checksum(b), tarn_dtype_bytes(a->dtype) * a->checksum) == 0;
}

void agree_list(uint64_t ranks, int first, char *out, size_t capacity)
{
    size_t n = 0;
    bool any = false;
    *out = '\0';
    for (int i = 0; i < 64; i++) {
        if (!(ranks >> i & 1))
            continue;
        const bool last = !(ranks >> i >> 1);
        if (n < capacity)
            n += (size_t)snprintf(out + n, capacity - n, "%s%d",
                                  !any   ? " "
                                  : last ? " and "
                                         : ", ",
                                  first + i);
        any = true;
    }
}

/* The ranks that are not of the majority; all of them when there is none. */
static uint64_t minority(const struct collective *const *all, int world)
{
    const uint64_t everybody = ~UINT64_C(0) >> (64 - world);
    for (int i = 0; i < world; i++) {
        uint64_t same = 0;
        int count = 0;
        for (int j = 0; j < world; j++) {
            const bool equal = same_checksum(all[i], all[j]);
            same |= (uint64_t)equal << j;
            count += equal;
        }
        if (2 * count > world)
            return everybody & ~same;
    }
    return everybody;
}

static tarn_status weights_differ(const struct collective *const *all, struct ranks ranks,
                                  uint64_t differ, int first)
{
    size_t at = 0;
    uint32_t here, there;
    do {
        memcpy(&here, checksum(all[0]) + 4 * at, 4);
        memcpy(&there, checksum(all[first]) + 4 * at, 4);
        at++;
    } while (here == there);
    char who[300], few[300], side[340] = "";
    agree_list(differ, ranks.first, who, sizeof who);
    const uint64_t less = minority(all, ranks.count);
    agree_list(less, ranks.first, few, sizeof few);
    if (less == ~UINT64_C(0) >> (64 - ranks.count))
        snprintf(side, sizeof side, "there is no majority");
    else
        snprintf(side, sizeof side, "the minority is%s", few);
    const bool one = !(differ & (differ - 1));
    return error_set(TARN_ERR_WEIGHTS,
                     "step %" PRIu64
                     ", \"%.100s\": the weights of rank%s%s differ from those of rank "
                     "%d; first in word %zu of the checksum, 0x%08" PRIx32
                     " on rank %d, 0x%08" PRIx32 " on rank %d; %s",
                     all[0]->step, label_of(all[0]), one ? "" : "s", who, ranks.first, at - 1,
                     there, ranks.first + first, here, ranks.first, side);
}

static tarn_status check_checksums(const struct collective *const *all, struct ranks ranks)
{
    uint64_t differ = 0;
    int first = 0;
    for (int i = ranks.count - 1; i > 0; i--) {
        if (same_checksum(all[0], all[i]))
            continue;
        differ |= UINT64_C(1) << i;
        first = i;
    }
    return differ ? weights_differ(all, ranks, differ, first) : TARN_OK;
}

tarn_status agree_check(const struct collective *const *all, struct ranks ranks, uint64_t number)
{
    TRY(check_same(all, ranks, number));
    if (all[0]->kind == COLLECTIVE_BARRIER)
        return TARN_OK;
    for (int i = 0; i < ranks.count; i++) {
        const struct collective *c = all[i];
        const int rank = ranks.first + i, count = group_count(c, ranks.world);
        if (i == 0 || c->mesh != NULL)
            TRY(check_shape(c, count, number));
        TRY(check_memory(c, count, group_place(c, rank), number));
    }
    return all[0]->checksum ? check_checksums(all, ranks) : TARN_OK;
}

tarn_status agree_groups(const struct collective *const *all, int world, uint64_t number)
{
    TRY(check_same(all, (struct ranks){ .count = world, .world = world }, number));
    for (int i = 0; i < world; i++)
        TRY(check_shape(all[i], group_count(all[i], world), number));
    return TARN_OK;
}
