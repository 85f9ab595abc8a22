/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives over groups of a mesh against the host: values, gradients, types, dimensions.
 *
 *     over_plain             all layouts in one process
 *     over_plain A B [C]     this one, of all processes that a launcher started together */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tarn.h"
#include "tarn_dist.h"

/* ---- the host's idea of it ------------------------------------------------------------------ */

struct layout {
    tarn_mesh mesh;
    int ranks, axes;
};
#define LAYOUT(ranks, axes, ...) \
    { \
        { .axis = { __VA_ARGS__ } }, ranks, axes \
    }
static const struct layout layouts[] = {
    LAYOUT(2, 2, { "a", 1 }, { "b", 2 }), LAYOUT(4, 2, { "a", 2 }, { "b", 2 }),
    LAYOUT(4, 2, { "a", 1 }, { "b", 4 }), LAYOUT(4, 2, { "a", 4 }, { "b", 1 }),
    LAYOUT(8, 2, { "a", 2 }, { "b", 4 }), LAYOUT(8, 3, { "a", 2 }, { "b", 2 }, { "c", 2 }),
    LAYOUT(6, 2, { "a", 3 }, { "b", 2 }),
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, RANKS = 8 };

/* The ranks of a group in rank order, found by looking at the coordinates of all. */
static int group_of(const struct layout *l, unsigned mask, int rank, int *members)
{
    int count = 0;
    for (int other = 0; other < l->ranks; other++) {
        bool same = true;
        int here = rank, there = other;
        for (int a = l->axes - 1; a >= 0; a--) {
            const int n = l->mesh.axis[a].ranks;
            same = same && (mask >> a & 1 || here % n == there % n);
            here /= n;
            there /= n;
        }
        if (same)
            members[count++] = other;
    }
    return count;
}

static const char *axes_of(const struct layout *l, unsigned mask, char *text)
{
    *text = '\0';
    for (int a = 0; a < l->axes; a++)
        if (mask >> a & 1)
            strcat(strcat(text, *text ? "," : ""), l->mesh.axis[a].name);
    return text;
}

/* ---- operands ------------------------------------------------------------------------------- */

/* Each dimension divides into 2, 3, 4, 6 and 8 parts; sums of so few of these are exact. */
enum { D0 = 24, D1 = 2, D2 = 24, COUNT = D0 * D1 * D2 };

static int element(int rank, int i)
{
    return 100 * rank + (i * 7) % 61 - 30;
}

static tarn_tensor operand(tarn_replica *r, tarn_dtype dtype)
{
    float *f = malloc(COUNT * sizeof *f);
    int32_t *n = malloc(COUNT * sizeof *n);
    for (int i = 0; i < COUNT; i++) {
        n[i] = element(tarn_rank(r), i);
        f[i] = (float)n[i];
    }
    const tarn_shape shape = TARN_SHAPE(D0, D1, D2);
    const tarn_tensor x = tarn_from(r, shape, dtype, dtype == TARN_F32 ? (void *)f : (void *)n);
    free(f);
    free(n);
    return x;
}

/* A three-dimensional array of the host. */
struct box {
    int dim[3];
    int at[8 * COUNT];
};

static int *cell(struct box *b, int i, int j, int k)
{
    return &b->at[(i * b->dim[1] + j) * b->dim[2] + k];
}

static int inside(int rank, const int *index)
{
    return element(rank, (index[0] * D1 + index[1]) * D2 + index[2]);
}

enum kind { REDUCE, MEAN, MOST, SCATTER, GATHER, BROADCAST, EXCHANGE, SHIFT, TURN, SEND, KINDS };

struct what {
    enum kind kind;
    int split, join;
};

/* Whose elements, and which, come together at an element of the result of a place: at most n of them. */
static int sources(const struct what *w, int n, int place, const int *index, const int *dims,
                   int *who, int *from)
{
    memcpy(from, index, 3 * sizeof *from);
    int count = 1;
    *who = place;
    if (w->kind == GATHER || w->kind == EXCHANGE) {
        const int length =
            w->kind == EXCHANGE && w->split == w->join ? dims[w->join] / n : dims[w->join];
        *who = from[w->join] / length;
        from[w->join] %= length;
    }
    if (w->kind == SCATTER || w->kind == EXCHANGE)
        from[w->split] += place * (dims[w->split] / n);
    if (w->kind == REDUCE || w->kind == MEAN || w->kind == SCATTER)
        for (count = 0; count < n; count++)
            who[count] = count;
    else if (w->kind == MOST || w->kind == BROADCAST) /* the last has the largest of all */
        *who = n - 1;
    else if (w->kind == SHIFT)
        *who = place - 1;
    else if (w->kind == TURN)
        *who = (place + 1) % n;
    else if (w->kind == SEND)
        *who = place == 0 ? n - 1 : -1;
    return *who < 0 ? 0 : count;
}

static void result_of(const struct what *w, int n, struct box *out)
{
    const int dims[3] = { D0, D1, D2 };
    memcpy(out->dim, dims, sizeof dims);
    if (w->kind == SCATTER || w->kind == EXCHANGE)
        out->dim[w->split] /= n;
    if (w->kind == GATHER || w->kind == EXCHANGE)
        out->dim[w->join] *= n;
    memset(out->at, 0, sizeof out->at);
}

static int weight(int rank, int i)
{
    return (3 * rank + i) % 5 - 2;
}

/* Walks over the result of each place: `value` gets that of this place, times n for a mean, and `gradient`, of this
 * place's operand, what all places' weights say. */
static void expect(const struct what *w, const int *members, int n, int mine, struct box *value,
                   struct box *gradient)
{
    const int dims[3] = { D0, D1, D2 };
    memcpy(gradient->dim, dims, sizeof dims);
    memset(gradient->at, 0, sizeof gradient->at);
    result_of(w, n, value);
    const int *d = value->dim;
    for (int place = 0; place < n; place++)
        for (int e = 0; e < d[0] * d[1] * d[2]; e++) {
            const int index[3] = { e / (d[1] * d[2]), e / d[2] % d[1], e % d[2] };
            int who[RANKS], from[3];
            const int count = sources(w, n, place, index, dims, who, from);
            for (int k = 0; k < count; k++) {
                if (place == mine)
                    value->at[e] += inside(members[who[k]], from);
                if (who[k] == mine)
                    *cell(gradient, from[0], from[1], from[2]) += weight(members[place], e);
            }
        }
}

static tarn_tensor operate(const struct what *w, tarn_tensor x, int n, tarn_mesh m,
                           const char *axes)
{
    switch (w->kind) {
    case REDUCE:
        return tarn_all_reduce_over(x, TARN_SUM, m, axes);
    case MEAN: /* times n, for whole numbers: n is a power of two here, or the quotient is not exact */
        return tarn_mul_scalar(tarn_all_reduce_over(x, TARN_MEAN, m, axes), (float)n);
    case MOST:
        return tarn_all_reduce_over(x, TARN_MAX, m, axes);
    case SCATTER:
        return tarn_reduce_scatter_over(x, TARN_SUM, w->split, m, axes);
    case GATHER:
        return tarn_all_gather_over(x, w->join, m, axes);
    case BROADCAST:
        return tarn_broadcast_over(x, n - 1, m, axes);
    case EXCHANGE:
        return tarn_all_to_all_over(x, w->split, w->join, m, axes);
    case SHIFT:
        return tarn_shift_over(x, 1, false, m, axes);
    case TURN:
        return tarn_shift_over(x, -1, true, m, axes);
    default:
        return tarn_send_over(x, n - 1, 0, m, axes);
    }
}

static const struct what all[] = {
    { REDUCE, 0, 0 },    { MEAN, 0, 0 },     { MOST, 0, 0 },     { SCATTER, 0, 0 },
    { SCATTER, 2, 0 },   { GATHER, 0, 0 },   { GATHER, 0, 1 },   { GATHER, 0, 2 },
    { BROADCAST, 0, 0 }, { EXCHANGE, 0, 0 }, { EXCHANGE, 0, 1 }, { EXCHANGE, 0, 2 },
    { EXCHANGE, 2, 0 },  { EXCHANGE, 2, 2 }, { SHIFT, 0, 0 },    { TURN, 0, 0 },
    { SEND, 0, 0 },
};
enum { ALL = sizeof all / sizeof *all };

/* ---- values and gradients ------------------------------------------------------------------- */

struct run {
    const struct layout *layout;
    tarn_dtype dtype;
    int wrong[RANKS];
};

static bool equals(tarn_tensor t, const struct box *want)
{
    const tarn_shape s = tarn_shape_get(t);
    const size_t count = (size_t)tarn_shape_count(s);
    int32_t *got = malloc(4 * count + 4);
    bool same = s.rank == 3 && memcmp(s.dim, want->dim, sizeof want->dim) == 0 &&
                tarn_read(t, got, 4 * count) == TARN_OK;
    for (size_t i = 0; i < count && same; i++) {
        float f;
        memcpy(&f, &got[i], sizeof f);
        same = tarn_dtype_get(t) == TARN_F32 ? f == (float)want->at[i] : got[i] == want->at[i];
    }
    free(got);
    return same;
}

/* Of the sum of all elements, each with a weight of its rank and place. */
static tarn_tensor gradient_of(tarn_tensor x, tarn_tensor y)
{
    const size_t count = (size_t)tarn_shape_count(tarn_shape_get(y));
    float *w = malloc(count * sizeof *w);
    for (size_t i = 0; i < count; i++)
        w[i] = (float)weight(tarn_rank(x.replica), (int)i);
    const tarn_tensor weights = tarn_from(x.replica, tarn_shape_get(y), TARN_F32, w);
    free(w);
    tarn_tensor gradient;
    tarn_gradients(tarn_sum(tarn_mul(y, weights), TARN_ALL, false), &x, 1, &gradient);
    return gradient;
}

static void move_over(struct run *run, tarn_replica *r, unsigned mask, struct box *boxes)
{
    const struct layout *l = run->layout;
    const int rank = tarn_rank(r);
    const bool floats = run->dtype == TARN_F32;
    int members[RANKS], place = 0;
    char axes[40];
    const int n = group_of(l, mask, rank, members);
    while (members[place] != rank)
        place++;
    const tarn_tensor x = operand(r, run->dtype);
    tarn_tensor y[2 * ALL];
    for (int i = 0; i < ALL; i++) {
        const bool possible = floats ? all[i].kind != MEAN || n % 3 != 0 : all[i].kind != MEAN;
        y[i] = possible ? operate(&all[i], x, n, l->mesh, axes_of(l, mask, axes)) : x;
        y[ALL + i] = possible && floats ? gradient_of(x, y[i]) : x;
    }
    run->wrong[rank] += tarn_eval(y, 2 * ALL) != TARN_OK;
    for (int i = 0; i < ALL; i++) {
        expect(&all[i], members, n, place, &boxes[0], &boxes[1]);
        const bool skipped = all[i].kind == MEAN && (!floats || n % 3 == 0);
        if (skipped || (equals(y[i], &boxes[0]) && (!floats || equals(y[ALL + i], &boxes[1]))))
            continue;
        if (run->wrong[rank]++ == 0)
            fprintf(stderr, "rank %d of %d, over %s: collective %d is wrong\n", rank, l->ranks,
                    axes, i);
    }
}

static tarn_status move(tarn_replica *r, void *arg)
{
    struct run *run = arg;
    struct box *boxes = malloc(2 * sizeof *boxes);
    for (unsigned mask = 1; mask < 1U << run->layout->axes; mask++)
        move_over(run, r, mask, boxes);
    free(boxes);
    return tarn_error_status(r);
}

static void check(const struct layout *l, tarn_dtype dtype)
{
    struct run run = { .layout = l, .dtype = dtype };
    const int each = l->ranks / tarn_node_count();
    const tarn_status s = tarn_launch(
        move, &run,
        (tarn_launch_options){ .devices = "0,0,0,0,0,0,0,0", .count = each, .timeout = 60 });
    CHECK(s == TARN_OK);
    if (s != TARN_OK)
        printf("%s: %s\n", tarn_status_name(s), tarn_error(NULL));
    for (int rank = 0; rank < l->ranks; rank++)
        CHECK(run.wrong[rank] == 0);
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "a", "b", "c" };
    struct layout own = { .ranks = 1 };
    for (; own.axes + 1 < argc && own.axes < 3; own.axes++) {
        own.mesh.axis[own.axes] = (tarn_mesh_axis){ names[own.axes], atoi(argv[own.axes + 1]) };
        own.ranks *= own.mesh.axis[own.axes].ranks;
    }
    if (own.axes > 0)
        check(&own, TARN_F32);
    for (int i = 0; i < LAYOUTS && own.axes == 0; i++)
        check(&layouts[i], TARN_F32);
    if (own.axes == 0)
        check(&layouts[1], TARN_I32);
    if (tarn_node() == 0)
        printf("%d failures\n", failures);
    return failures != 0;
}
