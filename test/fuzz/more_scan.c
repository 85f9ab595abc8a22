/* SPDX-License-Identifier: Apache-2.0 */
/* A loop of one fixed body, over steps along axis 0 or 1, from either end: a cell with a matrix, whose carry
 * before and after the step is put out as a product. Each operand may be of a half type; the carry stays what it is. */
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "more.h"

/* Code, and its text for programs that are printed. */
#define CODE(...) __VA_ARGS__
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define SCAN_OF \
    static void scan_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next, \
                          tarn_tensor *y, void *user) \
    { \
        const tarn_tensor *matrix = user; \
        const tarn_tensor to = tarn_tanh(tarn_add(x[0], tarn_matmul(carry[0], *matrix))); \
        next[0] = tarn_cast(to, tarn_dtype_get(carry[0])); \
        y[0] = tarn_mul(carry[0], next[0]); \
    } \
    static tarn_tensor scan_of(tarn_tensor x, tarn_tensor first, tarn_tensor matrix, int axis, \
                               int reversed) \
    { \
        tarn_tensor last, y; \
        const tarn_shape s = tarn_shape_get(x); \
        const tarn_scan_args args = { .body = scan_step, \
                                      .user = &matrix, \
                                      .carry = &first, \
                                      .carries = 1, \
                                      .x = &x, \
                                      .xs = 1, \
                                      .ys = 1, \
                                      .axis = axis, \
                                      .reversed = reversed != 0 }; \
        tarn_scan(first.replica, &args, &last, &y); \
        tarn_shape one = s; \
        one.dim[axis] = 1; \
        return tarn_failed(last) ? last : tarn_add(y, tarn_reshape(last, one)); \
    }

CODE(SCAN_OF)
const char *const scan_source = TEXT(SCAN_OF) "\n\n";

/* arg is axis, reversed; operands x, the first carry, the matrix. */
static bool scan_shape(const struct program *p, struct line *l)
{
    for (int k = 0; k < l->ins; k++)
        if (!program_floats(operand_of(p, l, k)->dtype))
            return false;
    if (l->ins != 3)
        return false;
    const tarn_shape x = operand_of(p, l, 0)->shape, h = operand_of(p, l, 1)->shape,
                     w = operand_of(p, l, 2)->shape;
    if (x.rank != 3 || h.rank != 2 || w.rank != 2 || tarn_shape_count(x) == 0)
        return false;
    l->shape = x;
    l->dtype = operand_of(p, l, 1)->dtype;
    return h.dim[0] == x.dim[1 - l->arg[0]] && h.dim[1] == x.dim[2] && w.dim[0] == x.dim[2] &&
           w.dim[1] == x.dim[2];
}

/* Element i of step t of [N, T, H] or [T, N, H]. */
static int element(tarn_shape s, int axis, int t, int i)
{
    const int h = s.dim[2];
    return axis == 0 ? t * s.dim[1] * h + i : (i / h * s.dim[1] + t) * h + i % h;
}

static int scan_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const tarn_shape s = shape_of(m, l, 0), hs = shape_of(m, l, 1), ws = shape_of(m, l, 2);
    const int axis = l->arg[0], steps = s.dim[axis];
    const int count = (int)tarn_shape_count(s), each = (int)tarn_shape_count(hs);
    const int x = interpret_operand(m, l, 0), matrix = interpret_operand(m, l, 2);
    const tarn_dtype type = operand_of(m->p, l, 1)->dtype;
    const tarn_dtype of_product = program_product(l, type, operand_of(m->p, l, 2)->dtype);
    const tarn_dtype of_sum = program_product(l, operand_of(m->p, l, 0)->dtype, of_product);
    int h = interpret_operand(m, l, 1), all = -1;
    int *index = malloc((size_t)count * sizeof *index);
    if (index == NULL)
        abort();
    for (int i = 0; i < steps; i++) {
        const int step = l->arg[1] ? steps - 1 - i : i;
        for (int k = 0; k < each; k++)
            index[k] = element(s, axis, step, k);
        const int in = tape_gather(t, x, each, index, 0);
        const int product = interpret_half(t, matmul(t, h, hs, matrix, ws, hs), of_product);
        const int sum = interpret_half(t, tape_map2(t, T_ADD, in, product), of_sum);
        const int to = interpret_map_half(t, tape_map(t, T_TANH, sum), of_sum);
        const int next = interpret_half(t, to, type);
        const int out = interpret_half(t, tape_map2(t, T_MUL, h, next), type);
        for (int k = 0; k < count; k++)
            index[k] = -1;
        for (int k = 0; k < each; k++)
            index[element(s, axis, step, k)] = k;
        const int placed = tape_gather(t, out, count, index, 0);
        all = all < 0 ? placed : tape_map2(t, T_ADD, all, placed);
        h = next;
    }
    for (int step = 0; step < steps; step++)
        for (int k = 0; k < each; k++)
            index[element(s, axis, step, k)] = k;
    const int last = tape_gather(t, h, count, index, 0);
    free(index);
    return tape_map2(t, T_ADD, all, last);
}

static tarn_tensor scan_call(const struct line *l, const tarn_tensor *in)
{
    return scan_of(in[0], in[1], in[2], l->arg[0], l->arg[1]);
}

static bool scan_grow(struct generator *g, struct line *l, int a)
{
    tarn_shape s = shape_of_line(g, a);
    const bool fits = s.rank == 3 && g->p->line[a].dtype == TARN_F32 && s.dim[0] < 40 &&
                      s.dim[1] < 40 && s.dim[2] < 20;
    l->arg[0] = below(g, 2);
    l->arg[1] = chance(g, 30);
    if (!fits)
        s = l->arg[0] ? TARN_SHAPE(g->batch, 1 + below(g, 5), 1 + below(g, 9))
                      : TARN_SHAPE(1 + below(g, 5), g->batch, 1 + below(g, 9));
    if (s.dim[l->arg[0]] > 8)
        l->arg[0] = 1 - l->arg[0];
    if (s.dim[l->arg[0]] > 8)
        return false;
    l->in[0] = fits ? a : leaf_of(g, s);
    l->in[1] = leaf_of(g, TARN_SHAPE(s.dim[1 - l->arg[0]], s.dim[2]));
    l->in[2] = leaf_of(g, TARN_SHAPE(s.dim[2], s.dim[2]));
    l->ins = 3;
    for (int k = 0; k < 3; k++)
        if (program_half(g->p->half) && chance(g, 60) && l->in[k] >= 0)
            l->in[k] = grow_half(g, l->in[k]);
    return true;
}

const struct more more_scan = { OP_ID_scan, scan_shape, scan_value, scan_call, scan_grow };
