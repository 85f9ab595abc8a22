/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks and Einstein's sums. */
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "more.h"

/* ---- stack: arg[0] is the axis --------------------------------------------------------------- */

static bool stack_shape(const struct program *p, struct line *l)
{
    const struct line *first = operand_of(p, l, 0);
    tarn_shape s = first->shape;
    if (s.rank == TARN_MAX_RANK || l->arg[0] > s.rank)
        return false;
    for (int k = 1; k < l->ins; k++)
        if (!same_shape(operand_of(p, l, k)->shape, s) ||
            operand_of(p, l, k)->dtype != first->dtype)
            return false;
    memmove(s.dim + l->arg[0] + 1, s.dim + l->arg[0],
            (size_t)(s.rank - l->arg[0]) * sizeof s.dim[0]);
    s.dim[l->arg[0]] = l->ins;
    s.rank++;
    l->shape = s;
    l->dtype = first->dtype;
    return true;
}

/* Each part where it belongs, zeros elsewhere, added up: exact. */
static int stack_value(struct interpreter *m, const struct line *l)
{
    const int count = (int)tarn_shape_count(l->shape);
    int *index = malloc((size_t)count * sizeof *index + 1), y = -1;
    if (index == NULL)
        abort();
    for (int k = 0; k < l->ins; k++) {
        int at[TARN_MAX_RANK] = { 0 };
        for (int i = 0; i < count; i++, next_position(l->shape, at)) {
            int n = 0;
            for (int d = 0; d < l->shape.rank; d++)
                n = d == l->arg[0] ? n : n * l->shape.dim[d] + at[d];
            index[i] = at[l->arg[0]] == k ? n : -1;
        }
        const int one = tape_gather(m->tape, interpret_operand(m, l, k), count, index, 0);
        y = y < 0 ? one : tape_map2(m->tape, T_ADD, y, one);
    }
    free(index);
    return y;
}

static tarn_tensor stack_call(const struct line *l, const tarn_tensor *in)
{
    return tarn_stack(in, l->ins, l->arg[0]);
}

static bool stack_grow(struct generator *g, struct line *l, int a)
{
    const tarn_shape s = shape_of_line(g, a);
    l->ins = 2 + below(g, 2);
    l->arg[0] = below(g, s.rank + 1);
    for (int k = 1; k < l->ins; k++)
        l->in[k] = chance(g, 40) ? a : new_leaf(g, s, g->p->line[a].dtype, FILL_COARSE, 2);
    return true;
}

/* ---- einsum: arg[0] is the text --------------------------------------------------------------- */

const char *const einsum_text[EINSUMS] = { "ij,jk->ik",     "ij,kj->ki",  "bij,bjk->bik",
                                           "bqd,bkd->bqk",  "nhc,nc->hn", "i,j->ij",
                                           "ij,ij->",       "abc,cd",     "bi,bj->bji",
                                           "abcd,bce->aed", "ab,bc->b",   "ij,ij->ij" };

static const char *letters_of(const char *text, int operand)
{
    return operand == 0 ? text : strchr(text, ',') + 1;
}

static int letters(const char *list)
{
    return (int)strspn(list, "abcdefghijklmnopqrstuvwxyz");
}

/* The letters of the result; without "->" those that stand once. */
static void result_letters(const char *text, char out[TARN_MAX_RANK + 1])
{
    const char *arrow = strchr(text, '>');
    int n = 0;
    for (char c = 'a'; arrow == NULL && c <= 'z'; c++)
        if (strchr(text, c) != NULL && strchr(text, c) == strrchr(text, c))
            out[n++] = c;
    out[n] = '\0';
    if (arrow != NULL)
        strcpy(out, arrow + 1);
}

/* Extents of all letters; false where they do not agree. */
static bool extents(const struct program *p, const struct line *l, int extent[26])
{
    const char *text = einsum_text[l->arg[0]];
    memset(extent, 0, 26 * sizeof *extent);
    for (int k = 0; k < 2; k++) {
        const char *list = letters_of(text, k);
        const tarn_shape s = operand_of(p, l, k)->shape;
        if (letters(list) != s.rank)
            return false;
        for (int d = 0; d < s.rank; d++) {
            int *e = &extent[list[d] - 'a'];
            if (k == 1 && strchr(letters_of(text, 0), list[d]) < strchr(text, ',') &&
                *e != s.dim[d])
                return false;
            *e = s.dim[d];
        }
    }
    return true;
}

static bool einsum_shape(const struct program *p, struct line *l)
{
    int extent[26];
    char out[TARN_MAX_RANK + 1];
    if (!all_floats(p, l) || !extents(p, l, extent))
        return false;
    result_letters(einsum_text[l->arg[0]], out);
    l->shape.rank = (int)strlen(out);
    for (int d = 0; d < l->shape.rank; d++)
        l->shape.dim[d] = extent[out[d] - 'a'];
    return true;
}

/* The loops of the definition. Letters of one operand only are summed over first, as the library does. */
static int einsum_value(struct interpreter *m, const struct line *l)
{
    const char *text = einsum_text[l->arg[0]];
    int extent[26], at[26] = { 0 }, x[2];
    char out[TARN_MAX_RANK + 1], list[2][TARN_MAX_RANK + 1];
    struct products s = { 0 };
    if (!extents(m->p, l, extent))
        return -1;
    result_letters(text, out);
    for (int k = 0; k < 2; k++) {
        const char *mine = letters_of(text, k);
        unsigned mask = 0;
        int n = 0;
        for (int d = 0; d < letters(mine); d++) {
            const bool other = memchr(letters_of(text, 1 - k), mine[d],
                                      (size_t)letters(letters_of(text, 1 - k))) != NULL;
            if (other || strchr(out, mine[d]) != NULL)
                list[k][n++] = mine[d];
            else
                mask |= 1u << d;
        }
        list[k][n] = '\0';
        x[k] = interpret_operand(m, l, k);
        if (mask != 0)
            x[k] = sum_axes(m->tape, x[k], shape_of(m, l, k), mask);
    }
    for (int c = 0; c < 26; c++) /* letters that are left */
        if (strchr(list[0], 'a' + c) == NULL && strchr(list[1], 'a' + c) == NULL)
            extent[c] = 1;
    bool more = tarn_shape_count(l->shape) > 0;
    for (int c = 0; c < 26; c++)
        more &= extent[c] > 0;
    while (more) {
        int64_t n[3] = { 0 };
        const char *lists[] = { list[0], list[1], out };
        for (int k = 0; k < 3; k++)
            for (const char *c = lists[k]; *c != '\0'; c++)
                n[k] = n[k] * extent[*c - 'a'] + at[*c - 'a'];
        add_product(&s, n[0], n[1], n[2]);
        more = false;
        for (int c = 25; c >= 0 && !more; c--) {
            more = ++at[c] < extent[c];
            at[c] = more ? at[c] : 0;
        }
    }
    return sum_products(m->tape, &s, x[0], x[1], tarn_shape_count(l->shape));
}

static tarn_tensor einsum_call(const struct line *l, const tarn_tensor *in)
{
    return tarn_einsum(einsum_text[l->arg[0]], in[0], in[1]);
}

static bool einsum_grow(struct generator *g, struct line *l, int a)
{
    const tarn_shape s = shape_of_line(g, a);
    int extent[26], size = 1;
    l->arg[0] = below(g, EINSUMS);
    l->ins = 2;
    const char *text = einsum_text[l->arg[0]];
    for (int c = 0; c < 26; c++)
        extent[c] = 1 + below(g, 5);
    extent[text[0] - 'a'] = chance(g, 60) ? g->batch : some_length(g);
    const bool fits = s.rank == letters(text) && g->p->line[a].dtype == TARN_F32;
    for (int k = 0; k < 2; k++) {
        const char *list = letters_of(text, k);
        tarn_shape t = { .rank = letters(list) };
        for (int d = 0; d < t.rank; d++) {
            int *e = &extent[list[d] - 'a'];
            *e = k == 0 && fits ? s.dim[d] : *e;
            t.dim[d] = *e;
        }
        l->in[k] = k == 0 && fits ? a : leaf_of(g, t);
    }
    for (int c = 0; c < 26; c++)
        size *= strchr(text, 'a' + c) != NULL && size < 40000 ? extent[c] : 1;
    return size < 40000;
}

const struct more more_views[] = {
    { OP_ID_stack, stack_shape, stack_value, stack_call, stack_grow },
    { OP_ID_einsum, einsum_shape, einsum_value, einsum_call, einsum_grow },
};
const int more_view_count = sizeof more_views / sizeof *more_views;
