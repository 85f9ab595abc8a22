/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks, single elements of an axis, and Einstein's sums. */
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

/* ---- select: the axis, and the element, from the end where negative --------------------------- */

static bool select_shape(const struct program *p, struct line *l)
{
    const struct line *x = operand_of(p, l, 0);
    const int axis = l->arg[0], i = l->arg[1];
    if (axis >= x->shape.rank || i >= x->shape.dim[axis] || i < -x->shape.dim[axis])
        return false;
    l->shape.rank = x->shape.rank - 1;
    for (int d = 0; d < l->shape.rank; d++)
        l->shape.dim[d] = x->shape.dim[d < axis ? d : d + 1];
    l->dtype = x->dtype;
    return true;
}

static int select_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape from = shape_of(m, l, 0);
    const int count = (int)tarn_shape_count(l->shape), axis = l->arg[0];
    int *index = malloc((size_t)count * sizeof *index + 1), at[TARN_MAX_RANK] = { 0 };
    if (index == NULL)
        abort();
    for (int i = 0; i < count; i++, next_position(l->shape, at)) {
        int n = 0;
        for (int d = 0; d < from.rank; d++) {
            const int whole = (l->arg[1] + from.dim[d]) % from.dim[d];
            n = n * from.dim[d] + (d == axis ? whole : at[d < axis ? d : d - 1]);
        }
        index[i] = n;
    }
    const int y = tape_gather(m->tape, interpret_operand(m, l, 0), count, index, 0);
    free(index);
    return y;
}

static tarn_tensor select_call(const struct line *l, const tarn_tensor *in)
{
    return tarn_select(in[0], l->arg[0], l->arg[1]);
}

static bool select_grow(struct generator *g, struct line *l, int a)
{
    const tarn_shape s = shape_of_line(g, a);
    l->arg[0] = s.rank > 0 ? below(g, s.rank) : 0;
    const int length = s.rank > 0 ? s.dim[l->arg[0]] : 0;
    l->arg[1] = length > 0 ? below(g, 2 * length) - length : 0;
    return length > 0;
}

/* ---- einsum: arg[0] is the text --------------------------------------------------------------- */

const char *const einsum_text[EINSUMS] = {
    "ij,jk->ik",     "ij,kj->ki",      "bij,bjk->bik",
    "bqd,bkd->bqk",  "nhc,nc->hn",     "i,j->ij",
    "ij,ij->",       "abc,cd",         "bi,bj->bji",
    "abcd,bce->aed", "ab,bc->b",       "ij,ij->ij",
    "...ij,jk",      "...i,...i->...", "bii,b->bi",
    "iji,kj->k",     "ii,i->i",        "b...i,...ij->bj...",
};

enum { TEXT = 40 };

/* The letters of a list, and whether axes without a letter are among them. */
static int letters(const char *list)
{
    int n = 0;
    for (; *list != '\0' && *list != ',' && *list != '-'; list++)
        n += *list != '.';
    return n;
}

static bool has_dots(const char *list)
{
    const size_t n = strcspn(list, ",-");
    return memchr(list, '.', n) != NULL;
}

static const char *letters_of(const char *text, int operand)
{
    return operand == 0 ? text : strchr(text, ',') + 1;
}

/* Copies a list with the last of the letters u to z for its dots. */
static char *copy_list(char *to, const char *list, int dots)
{
    for (; *list != '\0' && *list != ',' && *list != '-'; list++)
        if (*list != '.')
            *to++ = *list;
        else if (list[1] == '.' && list[2] == '.')
            for (int k = dots; k > 0; k--)
                *to++ = (char)('z' + 1 - k);
    *to = '\0';
    return to;
}

/* The text with a letter for each axis and with its result; false where ranks do not fit. Without "->" the
 * result has the axes of dots, and the letters that stand once. */
static bool written_out(const char *text, const int rank[2], char out[TEXT])
{
    const char *arrow = strchr(text, '>');
    int most = 0;
    char *to = out;
    for (int k = 0; k < 2; k++) {
        const char *list = letters_of(text, k);
        const int dots = rank[k] - letters(list);
        if (dots < 0 || dots > 5 || (dots > 0 && !has_dots(list)))
            return false;
        to = copy_list(to, list, dots);
        *to++ = k == 0 ? ',' : '-';
        most = has_dots(list) && dots > most ? dots : most;
    }
    *to++ = '>';
    if (arrow != NULL) {
        copy_list(to, arrow + 1, most);
        return true;
    }
    to = copy_list(to, "...", most);
    for (char c = 'a'; c < 'u'; c++)
        if (strchr(text, c) != NULL && strchr(text, c) == strrchr(text, c))
            *to++ = c;
    *to = '\0';
    return true;
}

static bool text_of(const struct program *p, const struct line *l, char out[TEXT])
{
    const int rank[] = { operand_of(p, l, 0)->shape.rank, operand_of(p, l, 1)->shape.rank };
    return written_out(einsum_text[l->arg[0]], rank, out);
}

/* Extents of all letters; false where they do not agree. */
static bool extents(const struct program *p, const struct line *l, const char *text, int extent[26])
{
    for (int c = 0; c < 26; c++)
        extent[c] = -1;
    for (int k = 0; k < 2; k++) {
        const char *list = letters_of(text, k);
        const tarn_shape s = operand_of(p, l, k)->shape;
        for (int d = 0; d < s.rank; d++) {
            int *e = &extent[list[d] - 'a'];
            if (*e >= 0 && *e != s.dim[d])
                return false;
            *e = s.dim[d];
        }
    }
    return true;
}

static bool einsum_shape(const struct program *p, struct line *l)
{
    int extent[26];
    char text[TEXT];
    if (!all_floats(p, l) || !text_of(p, l, text) || !extents(p, l, text, extent))
        return false;
    const char *out = strchr(text, '>') + 1;
    l->shape.rank = (int)strlen(out);
    for (int d = 0; d < l->shape.rank; d++)
        l->shape.dim[d] = extent[out[d] - 'a'];
    return true;
}

/* Elements whose axes of one letter have one index, with an axis for each letter of `list`. */
static int diagonal_of(struct tape *t, int x, const char *all, const char *list,
                       const int extent[26])
{
    int count = 1, at[26] = { 0 };
    for (const char *c = list; *c != '\0'; c++)
        count *= extent[*c - 'a'];
    int *index = malloc((size_t)count * sizeof *index + 1);
    if (index == NULL)
        abort();
    for (int i = 0; i < count; i++) {
        int rest = i, n = 0;
        for (int d = (int)strlen(list) - 1; d >= 0; d--) {
            at[list[d] - 'a'] = rest % extent[list[d] - 'a'];
            rest /= extent[list[d] - 'a'];
        }
        for (int d = 0; d < letters(all); d++)
            n = n * extent[all[d] - 'a'] + at[all[d] - 'a'];
        index[i] = n;
    }
    const int y = tape_gather(t, x, count, index, 0);
    free(index);
    return y;
}

/* An operand with the letters of `list`, once each: its diagonal, and the sum over letters that nobody else has,
 * as the library does. */
static int einsum_operand(struct interpreter *m, const struct line *l, const char *text, int k,
                          const int extent[26], char list[TARN_MAX_RANK + 1])
{
    const char *mine = letters_of(text, k), *other = letters_of(text, 1 - k);
    const char *out = strchr(text, '>') + 1;
    char once[TARN_MAX_RANK + 1];
    tarn_shape s = { .rank = 0 };
    unsigned mask = 0;
    int n = 0;
    for (int d = 0; d < letters(mine); d++)
        if (memchr(mine, mine[d], (size_t)d) == NULL) {
            const bool kept = memchr(other, mine[d], (size_t)letters(other)) != NULL ||
                              strchr(out, mine[d]) != NULL;
            mask |= kept ? 0 : 1u << s.rank;
            if (kept)
                list[n++] = mine[d];
            once[s.rank] = mine[d];
            s.dim[s.rank++] = extent[mine[d] - 'a'];
        }
    list[n] = once[s.rank] = '\0';
    int x = interpret_operand(m, l, k);
    if (s.rank < letters(mine))
        x = diagonal_of(m->tape, x, mine, once, extent);
    return mask != 0 ? sum_axes(m->tape, x, s, mask) : x;
}

/* The loops of the definition. */
static int einsum_value(struct interpreter *m, const struct line *l)
{
    int extent[26], at[26] = { 0 }, x[2];
    char text[TEXT], list[2][TARN_MAX_RANK + 1];
    struct products s = { 0 };
    if (!text_of(m->p, l, text) || !extents(m->p, l, text, extent))
        return -1;
    const char *out = strchr(text, '>') + 1;
    for (int k = 0; k < 2; k++)
        x[k] = einsum_operand(m, l, text, k, extent, list[k]);
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
    int extent[26], size = 1, rank[2];
    char text[TEXT];
    l->arg[0] = below(g, EINSUMS);
    l->ins = 2;
    const char *with = einsum_text[l->arg[0]];
    for (int k = 0; k < 2; k++) {
        const char *list = letters_of(with, k);
        rank[k] = letters(list) + (has_dots(list) ? below(g, 3) : 0);
    }
    const bool floats = g->p->line[a].dtype == TARN_F32;
    if (floats && has_dots(with) && s.rank >= letters(with) && s.rank <= letters(with) + 2)
        rank[0] = s.rank;
    if (!written_out(with, rank, text))
        return false;
    for (int c = 0; c < 26; c++)
        extent[c] = 1 + below(g, 5);
    extent[text[0] - 'a'] = chance(g, 60) ? g->batch : some_length(g);
    bool fits = floats && s.rank == rank[0];
    for (int d = 0; fits && d < s.rank; d++) /* axes of one letter */
        fits = s.dim[d] == s.dim[strchr(text, text[d]) - text];
    for (int k = 0; k < 2; k++) {
        const char *list = letters_of(text, k);
        tarn_shape t = { .rank = rank[k] };
        for (int d = 0; d < t.rank; d++) {
            int *e = &extent[list[d] - 'a'];
            *e = k == 0 && fits ? s.dim[d] : *e;
            t.dim[d] = *e;
        }
        l->in[k] = k == 0 && fits ? a : leaf_of(g, t);
    }
    for (const char *c = text; *c != '-'; c++) /* of an operand; twice those of both */
        size *= *c != ',' && size < 40000 ? extent[*c - 'a'] : 1;
    return size < 40000;
}

const struct more more_views[] = {
    { OP_ID_stack, stack_shape, stack_value, stack_call, stack_grow },
    { OP_ID_select, select_shape, select_value, select_call, select_grow },
    { OP_ID_einsum, einsum_shape, einsum_value, einsum_call, einsum_grow },
};
const int more_view_count = sizeof more_views / sizeof *more_views;
