/* SPDX-License-Identifier: Apache-2.0 */
/* Einstein's sums of two operands, as one product of matrices between permutations. A letter is of one of
 * four groups: it goes through both operands and the result (BATCH), through one and the result (LEFT,
 * RIGHT), or through both operands only (INNER). Those of one operand only are summed over first. */
#include <ctype.h>
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

struct labels {
    int count;
    char letter[TARN_MAX_RANK + 1]; /* a string */
};

struct equation {
    struct labels in[2], out;
};

static bool has(const struct labels *l, char c)
{
    return c != '\0' && strchr(l->letter, c) != NULL;
}

/* Reads letters up to anything else. What is wrong with them, or NULL. */
static const char *read_labels(const char **at, struct labels *l)
{
    *l = (struct labels){ 0 };
    for (; isalpha((unsigned char)**at) || **at == ' '; ++*at) {
        if (**at == ' ')
            continue;
        if (has(l, **at))
            return "a letter stands twice in one list; take the diagonal or drop the letter";
        if (l->count == TARN_MAX_RANK)
            return "a list has more than 8 letters";
        l->letter[l->count++] = **at;
    }
    return NULL;
}

/* The result of an equation without "->": letters of one operand, in the order of the alphabet. */
static const char *implied(struct equation *e)
{
    for (int c = 'A'; c <= 'z'; c++) {
        if (has(&e->in[0], (char)c) == has(&e->in[1], (char)c))
            continue;
        if (e->out.count == TARN_MAX_RANK)
            return "the result has more than 8 letters";
        e->out.letter[e->out.count++] = (char)c;
    }
    return NULL;
}

/* What is wrong with the text, or NULL. */
static const char *parse(const char *text, struct equation *e)
{
    *e = (struct equation){ .in = { { 0 } } };
    const char *wrong = read_labels(&text, &e->in[0]);
    if (wrong == NULL && *text++ != ',')
        return "after the first letters a comma must come, as in \"ij,jk->ik\"";
    if (wrong == NULL)
        wrong = read_labels(&text, &e->in[1]);
    if (wrong == NULL && *text == '\0')
        return implied(e);
    if (wrong == NULL && (text[0] != '-' || text[1] != '>'))
        return "after the second letters \"->\" must come, or nothing";
    text += 2;
    if (wrong == NULL)
        wrong = read_labels(&text, &e->out);
    if (wrong == NULL && *text != '\0')
        return "after the letters of the result nothing may come";
    for (int i = 0; wrong == NULL && i < e->out.count; i++)
        if (!has(&e->in[0], e->out.letter[i]) && !has(&e->in[1], e->out.letter[i]))
            return "the result has a letter that no operand has";
    return wrong;
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

tarn_tensor tarn_einsum(const char *equation, tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    struct equation e;
    tarn_tensor x[2] = { a, b };
    if (!graph_operands("einsum", x, 2, &r))
        return graph_poison(r);
    const char *wrong = equation == NULL ? "there is none" : parse(equation, &e);
    if (wrong != NULL)
        return graph_fail(r, TARN_ERR_ARGUMENT, "einsum \"%s\": %s",
                          equation != NULL ? equation : "", wrong);
    const tarn_shape sa = tarn_shape_get(a), sb = tarn_shape_get(b);
    if (tarn_dtype_get(a) != TARN_F32 || tarn_dtype_get(b) != TARN_F32)
        return graph_fail(r, TARN_ERR_DTYPE, "einsum \"%s\": %s and %s: both must be float32",
                          equation, tarn_dtype_name(tarn_dtype_get(a)),
                          tarn_dtype_name(tarn_dtype_get(b)));
    if (e.in[0].count != sa.rank || e.in[1].count != sb.rank || !agree(&e, x))
        return graph_fail(r, TARN_ERR_SHAPE,
                          "einsum \"%s\": does not fit %s and %s: a letter for each axis, and one "
                          "length for each letter",
                          equation, shape_text(sa), shape_text(sb));
    for (int k = 0; k < 2; k++)
        x[k] = drop_lonely(x[k], &e.in[k], &e.in[1 - k], &e.out);
    struct labels group[GROUPS];
    gather_groups(&e, group);
    if (group[BATCH].count + 2 > TARN_MAX_RANK)
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "einsum \"%s\": %d letters go through all three lists, at most %d can",
                          equation, group[BATCH].count, TARN_MAX_RANK - 2);
    return multiply(&e, group, x[0], x[1]);
}
