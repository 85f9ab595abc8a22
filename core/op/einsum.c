/* SPDX-License-Identifier: Apache-2.0 */
/* Einstein's sums of two operands, as one product of matrices between permutations; of one operand, as a permutation of sums.
 * With two a letter is of one of four groups: it goes through both operands and the result (BATCH), through one and the result (LEFT,
 * RIGHT), or through both operands only (INNER). Those of one operand only are summed over first, and before
 * that the diagonal is taken of letters that stand twice in an operand. */
#include <ctype.h>
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

#define DOTS '.'

/* Letters of axes. "..." is one DOTS until the ranks are known, then a digit for each axis that it stands for,
 * the last one 0: from then on a letter as any other. */
struct labels {
    int count;
    char letter[TARN_MAX_RANK + 2]; /* a string */
};

struct equation {
    struct labels in[2], out; /* of one operand the second list is empty */
    bool arrow;               /* the result was given */
};

static bool has(const struct labels *l, char c)
{
    return c != '\0' && strchr(l->letter, c) != NULL;
}

/* Reads letters and dots up to anything else. What is wrong with them, or NULL. */
static const char *read_labels(const char **at, struct labels *l)
{
    *l = (struct labels){ 0 };
    for (; isalpha((unsigned char)**at) || **at == ' ' || **at == '.'; ++*at) {
        if (**at == ' ')
            continue;
        if (**at == '.') {
            if (strncmp(*at, "...", 3) != 0 || has(l, DOTS))
                return "dots must be three, once in a list";
            *at += 2;
        }
        if (l->count > TARN_MAX_RANK || (l->count == TARN_MAX_RANK && !has(l, DOTS) && **at != '.'))
            return "a list has more than 8 letters";
        l->letter[l->count++] = **at;
    }
    return NULL;
}

/* What is wrong with the text for so many operands, or NULL. */
static const char *parse(const char *text, int operands, struct equation *e)
{
    *e = (struct equation){ .in = { { 0 } } };
    const char *wrong = read_labels(&text, &e->in[0]);
    if (wrong == NULL && operands == 2 && *text++ != ',')
        return "after the first letters a comma must come, as in \"ij,jk->ik\"";
    if (wrong == NULL && operands == 1 && *text == ',')
        return "there is no second operand";
    if (wrong == NULL && operands == 2)
        wrong = read_labels(&text, &e->in[1]);
    if (wrong != NULL || *text == '\0')
        return wrong;
    if (text[0] != '-' || text[1] != '>')
        return "after the operands' letters \"->\" must come, or nothing";
    text += 2;
    e->arrow = true;
    wrong = read_labels(&text, &e->out);
    if (wrong == NULL && *text != '\0')
        return "after the letters of the result nothing may come";
    for (int i = 0; wrong == NULL && i < e->out.count; i++) {
        const char c = e->out.letter[i];
        if (strchr(e->out.letter, c) != &e->out.letter[i])
            return "a letter stands twice in the result";
        if (!has(&e->in[0], c) && !has(&e->in[1], c))
            return "the result has a letter that no operand has";
    }
    return wrong;
}

/* Puts digits for `dots` axes in place of the dots. */
static void expand_dots(struct labels *l, int dots)
{
    const struct labels from = *l;
    *l = (struct labels){ 0 };
    for (int i = 0; i < from.count; i++)
        if (from.letter[i] != DOTS)
            l->letter[l->count++] = from.letter[i];
        else
            for (int k = dots; k > 0; k--)
                l->letter[l->count++] = (char)('0' + k - 1);
}

/* How often a letter stands in both operands. */
static int uses_of(const struct equation *e, char c)
{
    int n = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < e->in[k].count; i++)
            n += e->in[k].letter[i] == c;
    return n;
}

/* The result of an equation without "->": axes of the dots, then letters that stand once, in the order of the
 * alphabet. What is wrong with it, or NULL. */
static const char *imply(struct equation *e, int dots)
{
    struct labels out = { .count = 1, .letter = { DOTS } };
    expand_dots(&out, dots);
    for (int c = 'A'; c <= 'z'; c++) {
        if (uses_of(e, (char)c) != 1)
            continue;
        if (out.count == TARN_MAX_RANK)
            return "the result has more than 8 letters";
        out.letter[out.count++] = (char)c;
    }
    e->out = out;
    return NULL;
}

/* Gives the dots their axes. What is wrong with the result, or NULL; *fits is false where ranks are. */
static const char *place_dots(struct equation *e, const tarn_tensor *x, int operands, bool *fits)
{
    int most = 0;
    for (int k = 0; k < operands; k++) {
        const int rank = tarn_shape_get(x[k]).rank, named = e->in[k].count - has(&e->in[k], DOTS);
        const int dots = has(&e->in[k], DOTS) ? rank - named : 0;
        *fits &= dots >= 0 && named + dots == rank;
        if (*fits)
            expand_dots(&e->in[k], dots);
        most = dots > most ? dots : most;
    }
    if (!*fits)
        return NULL;
    if (!e->arrow)
        return imply(e, most);
    if (e->out.count - has(&e->out, DOTS) + (has(&e->out, DOTS) ? most : 0) > TARN_MAX_RANK)
        return "the result has more than 8 axes";
    expand_dots(&e->out, most);
    return NULL;
}

/* Axes i < j of n elements as one in place of j, in the letters, too: of all pairs, which are n * n in a row, every
 * one that is n + 1 after another is of one index. */
static tarn_tensor diagonal(tarn_tensor x, struct labels *l, int i, int j)
{
    tarn_shape s = tarn_shape_get(x), order = { .rank = s.rank };
    const int32_t n = s.dim[i];
    const int last = s.rank - 2;
    struct labels rest = { 0 };
    int to = 0;
    for (int d = 0; d < s.rank; d++)
        if (d != i && d != j) {
            rest.letter[rest.count++] = l->letter[d];
            order.dim[to++] = d;
        }
    order.dim[to++] = i;
    order.dim[to] = j;
    rest.letter[rest.count++] = l->letter[i];
    x = tarn_permute(x, order);
    s = tarn_shape_get(x);
    s.rank--;
    s.dim[last] = n * n;
    *l = rest;
    return tarn_slice(tarn_reshape(x, s), last, 0, n * n, n + 1);
}

/* Takes the diagonals of letters that stand twice in a list; false where their lengths differ. */
static bool take_diagonals(struct labels *l, tarn_tensor *x)
{
    for (int j = 1; j < l->count; j++) {
        const int i = (int)(strchr(l->letter, l->letter[j]) - l->letter);
        if (i == j)
            continue;
        const tarn_shape s = tarn_shape_get(*x);
        if (s.dim[i] != s.dim[j] || (int64_t)s.dim[i] * s.dim[i] > INT32_MAX)
            return false;
        *x = diagonal(*x, l, i, j);
        j = 0; /* letters have moved */
    }
    return true;
}

/* The extent of a letter in an operand; 1 where it is missing. */
static int32_t extent_of(const struct labels *l, tarn_shape s, char c)
{
    for (int i = 0; i < l->count; i++)
        if (l->letter[i] == c)
            return s.dim[i];
    return 1;
}

/* False where a letter has two lengths; one of 1 is repeated. */
static bool agree(const struct equation *e, tarn_tensor x[2])
{
    const tarn_shape s[2] = { tarn_shape_get(x[0]), tarn_shape_get(x[1]) };
    for (int k = 0; k < 2; k++) {
        tarn_shape wide = s[k];
        for (int i = 0; i < wide.rank; i++) {
            const int32_t other = extent_of(&e->in[1 - k], s[1 - k], e->in[k].letter[i]);
            if (wide.dim[i] != other && wide.dim[i] != 1 && other != 1)
                return false;
            wide.dim[i] = wide.dim[i] == 1 ? other : wide.dim[i];
        }
        x[k] = op_expand_to(x[k], wide);
    }
    return true;
}

/* Sums over the letters that only this operand has. */
static tarn_tensor drop_lonely(tarn_tensor x, struct labels *mine, const struct labels *other,
                               const struct labels *out)
{
    tarn_shape axes = { .rank = 0 };
    struct labels rest = { 0 };
    for (int i = 0; i < mine->count; i++) {
        const char c = mine->letter[i];
        if (has(other, c) || has(out, c))
            rest.letter[rest.count++] = c;
        else
            axes.dim[axes.rank++] = i;
    }
    *mine = rest;
    return axes.rank > 0 ? tarn_sum(x, axes, false) : x;
}

enum group { BATCH, LEFT, RIGHT, INNER, GROUPS };

static enum group group_of(const struct equation *e, char c)
{
    const bool left = has(&e->in[0], c), right = has(&e->in[1], c);
    return !has(&e->out, c) ? INNER : left && right ? BATCH : left ? LEFT : RIGHT;
}

/* Letters of each group: in the order of the result, so that a batch stays in front. */
static void gather_groups(const struct equation *e, struct labels group[GROUPS])
{
    memset(group, 0, GROUPS * sizeof *group);
    for (int i = 0; i < e->out.count; i++) {
        struct labels *g = &group[group_of(e, e->out.letter[i])];
        g->letter[g->count++] = e->out.letter[i];
    }
    for (int i = 0; i < e->in[0].count; i++)
        if (group_of(e, e->in[0].letter[i]) == INNER)
            group[INNER].letter[group[INNER].count++] = e->in[0].letter[i];
}

/* The axes of x in the order of `first`, `second` and `third`. */
static tarn_tensor arrange(tarn_tensor x, const struct labels *mine, const struct labels *first,
                           const struct labels *second, const struct labels *third)
{
    const struct labels *lists[] = { first, second, third };
    tarn_shape order = { .rank = 0 };
    bool moves = false;
    for (int l = 0; l < 3; l++)
        for (int i = 0; i < lists[l]->count; i++) {
            const int from = (int)(strchr(mine->letter, lists[l]->letter[i]) - mine->letter);
            moves |= from != order.rank;
            order.dim[order.rank++] = from;
        }
    return moves ? tarn_permute(x, order) : x;
}

/* Appends the extents of letters. */
static void put(tarn_shape *s, const struct labels *l, const struct labels *mine, tarn_shape from)
{
    for (int i = 0; i < l->count; i++)
        s->dim[s->rank++] = extent_of(mine, from, l->letter[i]);
}

static int32_t product_of(const struct labels *l, const struct labels *mine, tarn_shape from)
{
    int64_t n = 1; /* a part of a tensor's elements, or 0 times more */
    for (int i = 0; i < l->count; i++)
        n *= extent_of(mine, from, l->letter[i]);
    return (int32_t)(n > INT32_MAX ? 0 : n);
}

/* [batch..., rows, inner] x [batch..., inner, columns] -> the result's axes. */
static tarn_tensor multiply(const struct equation *e, const struct labels group[GROUPS],
                            tarn_tensor a, tarn_tensor b)
{
    const struct labels *mine = &e->in[0], *other = &e->in[1];
    const tarn_shape sa = tarn_shape_get(a), sb = tarn_shape_get(b);
    tarn_shape left = { .rank = 0 };
    put(&left, &group[BATCH], mine, sa);
    tarn_shape right = left, full = left;
    const int32_t inner = product_of(&group[INNER], mine, sa);
    left.dim[left.rank++] = product_of(&group[LEFT], mine, sa);
    left.dim[left.rank++] = inner;
    right.dim[right.rank++] = inner;
    right.dim[right.rank++] = product_of(&group[RIGHT], other, sb);
    put(&full, &group[LEFT], mine, sa);
    put(&full, &group[RIGHT], other, sb);
    a = tarn_reshape(arrange(a, mine, &group[BATCH], &group[LEFT], &group[INNER]), left);
    b = tarn_reshape(arrange(b, other, &group[BATCH], &group[INNER], &group[RIGHT]), right);
    const tarn_tensor y = group[INNER].count > 0 ? tarn_matmul(a, b) : tarn_mul(a, b);
    struct labels made = { 0 };
    for (int g = BATCH; g <= RIGHT; g++) {
        memcpy(made.letter + made.count, group[g].letter, (size_t)group[g].count);
        made.count += group[g].count;
    }
    const struct labels none = { 0 };
    return arrange(tarn_reshape(y, full), &made, &e->out, &none, &none);
}

/* Letters for all axes of the operands, each once in a list. What is wrong, or NULL; then *fits is false where
 * shapes are. */
static const char *resolve(const char *text, struct equation *e, tarn_tensor *x, int operands,
                           bool *fits)
{
    const char *wrong = text == NULL ? "there is none" : parse(text, operands, e);
    *fits = true;
    if (wrong == NULL)
        wrong = place_dots(e, x, operands, fits);
    for (int k = 0; k < operands && wrong == NULL && *fits; k++)
        *fits = take_diagonals(&e->in[k], &x[k]);
    *fits = wrong == NULL && *fits && (operands < 2 || agree(e, x));
    return wrong;
}

/* The axes of the only operand that the result has, in its order, after sums over the others. */
static tarn_tensor reorder(struct equation *e, tarn_tensor x)
{
    const struct labels none = { 0 };
    x = drop_lonely(x, &e->in[0], &none, &e->out);
    return arrange(x, &e->in[0], &e->out, &none, &none);
}

/* What is wrong with an equation, or, if that is NULL, with shapes. */
static tarn_tensor refuse(tarn_replica *r, const char *text, const char *wrong,
                          const tarn_shape *given, int operands)
{
    if (wrong != NULL)
        return graph_fail(r, TARN_ERR_ARGUMENT, "einsum \"%s\": %s", text != NULL ? text : "",
                          wrong);
    return graph_fail(r, TARN_ERR_SHAPE,
                      "einsum \"%s\": does not fit %s%s%s: a letter for each axis, and one "
                      "length for each letter",
                      text, shape_text(given[0]), operands > 1 ? " and " : "",
                      operands > 1 ? shape_text(given[1]) : "");
}

static tarn_tensor product(tarn_replica *r, const char *text, struct equation *e, tarn_tensor x[2])
{
    struct labels group[GROUPS];
    for (int k = 0; k < 2; k++)
        x[k] = drop_lonely(x[k], &e->in[k], &e->in[1 - k], &e->out);
    gather_groups(e, group);
    if (group[BATCH].count + 2 > TARN_MAX_RANK)
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "einsum \"%s\": %d letters go through all three lists, at most %d can",
                          text, group[BATCH].count, TARN_MAX_RANK - 2);
    return multiply(e, group, x[0], x[1]);
}

tarn_tensor tarn_einsum(const char *equation, tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    struct equation e;
    bool fits;
    const int operands = b.replica == NULL ? 1 : 2;
    tarn_tensor x[2] = { a, b };
    if (!graph_operands("einsum", x, operands, &r))
        return graph_poison(r);
    const tarn_shape given[2] = { tarn_shape_get(a), tarn_shape_get(b) };
    const tarn_dtype types[2] = { tarn_dtype_get(a), tarn_dtype_get(b) };
    if (operands == 2 && !(dtype_is_float(types[0]) && dtype_is_float(types[1])))
        return graph_fail(r, TARN_ERR_DTYPE, "einsum \"%s\": %s and %s: both must be float32",
                          equation != NULL ? equation : "", tarn_dtype_name(types[0]),
                          tarn_dtype_name(types[1]));
    for (int k = 0; k < 2 && operands == 2; k++)
        x[k] = op_low(x[k]);
    const char *wrong = resolve(equation, &e, x, operands, &fits);
    if (wrong != NULL || !fits)
        return refuse(r, equation, wrong, given, operands);
    return operands == 1 ? reorder(&e, x[0]) : product(r, equation, &e, x);
}
