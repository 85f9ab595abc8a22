/* SPDX-License-Identifier: Apache-2.0 */
/* Positions sorted by an index of rows, of which there are so many: by digits, the last first, whose counts in chunks of a
 * line say where the positions of each chunk go. That takes three passes a digit where merging takes one each time that
 * runs double; work-items merge, since a chunk is one after the other. */
#include <math.h>

#include "op/lines.h"
#include "tensor/shape.h"

enum {
    DIGIT_BITS = 8,   /* so a chunk has 256 counters: TARN_DIGITS of kernels/sorting.cl */
    CHUNK = 1024,     /* positions, at least */
    MOST_CHUNKS = 64, /* of a line, whose counts one piece adds up */
};

/* Digits of the numbers of rows, and of one before them and one behind, for an index that is not clamped. */
struct digits {
    int count, bits;
};

static struct digits digits_of(int64_t rows)
{
    int bits = 1;
    while (rows + 2 > (int64_t)1 << bits)
        bits++;
    const int count = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    return (struct digits){ count, (bits + count - 1) / count };
}

static int merges(tarn_shape shape, int axis)
{
    struct routine_pass unused;
    int passes = 1;
    while (!lines_sort_pass(shape, TARN_I32, axis, 0, passes - 1, &unused))
        passes++;
    return passes;
}

static int64_t chunk_of(int64_t length)
{
    const int64_t even = (length + MOST_CHUNKS - 1) / MOST_CHUNKS;
    return even > CHUNK ? even : CHUNK;
}

/* What counts take behind the positions of all lines. */
static int64_t counters(const struct lines *l, const struct digits *d)
{
    const int64_t chunk = chunk_of(l->length);
    return l->count * ((l->length + chunk - 1) / chunk) << d->bits;
}

static bool counts(const struct lines *l, const struct digits *d, tarn_shape shape, int axis,
                   bool items)
{
    return !items && 3 * d->count < merges(shape, axis) &&
           l->count * l->length + counters(l, d) <= INT32_MAX;
}

/* Whether this pass sorts, which it then describes. */
static bool sorts(const struct node *n, const tarn_shape *in, const struct routine_place *where,
                  int pass, struct routine_pass *out)
{
    static const char *const functions[] = { "tarn_count_digits", "tarn_add_counts",
                                             "tarn_place_positions" };
    const int axis = n->arg.routine.axis;
    const int64_t rows = n->arg.routine.length;
    const struct lines l = lines_of(in[1], axis);
    const struct digits d = digits_of(rows);
    if (!counts(&l, &d, in[1], axis, where->items)) {
        if (pass >= merges(in[1], axis))
            return false;
        lines_sort_pass(in[1], TARN_I32, axis, 1, pass, out);
        return true;
    }
    if (pass >= 3 * d.count)
        return false;
    const int64_t chunk = chunk_of(l.length), chunks = (l.length + chunk - 1) / chunk;
    const int step = pass % 3;
    *out =
        (struct routine_pass){ .reads = step == 1 ? 0 : 2, .reads_last = pass > 0, .shape = in[1] };
    out->function = pass == 0 ? "tarn_count_first_digits" : functions[step];
    if (step != 2)
        out->shape = TARN_SHAPE((int32_t)(l.count * l.length + counters(&l, &d)));
    out->pieces = (int32_t)(step == 1 ? l.count : l.count * chunks);
    out->cycles = 4.0 * (double)(step == 1 ? l.length + (chunks << d.bits) : chunk);
    const int64_t number[] = { l.count,           l.length, l.inner, chunk, (int64_t)1 << d.bits,
                               pass / 3 * d.bits, rows };
    out->numbers = step == 1 ? 5 : 7;
    for (int i = 0; i < out->numbers; i++)
        out->number[i] = number[i];
    return true;
}

struct indexed lines_indexed(const struct node *n, const tarn_shape *in)
{
    const int axis = n->arg.routine.axis;
    return (struct indexed){ .index = lines_of(in[1], axis),
                             .rows = n->arg.routine.length,
                             .width = lines_row_width(in[0], in[1], axis) };
}

struct routine_pass lines_pass(const struct indexed *of, bool sorted)
{
    return (struct routine_pass){
        .reads = 3,
        .reads_last = sorted,
        .numbers = 4,
        .number = { of->index.length, of->rows, of->width, of->index.inner },
    };
}

double lines_row_cycles(const struct indexed *of, bool items)
{
    const double terms = (double)of->index.length / (double)of->rows;
    const double lanes = items ? 1 : ceil((double)of->width / 16);
    return 32 + 8 * terms + lanes * (8 + 8 * terms);
}

bool lines_by_row(const struct node *n, const tarn_shape *in, const struct routine_place *where,
                  int pass, struct routine_pass *out)
{
    if (sorts(n, in, where, pass, out))
        return false;
    const struct indexed of = lines_indexed(n, in);
    *out = lines_pass(&of, true);
    return true;
}
