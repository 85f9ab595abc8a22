/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices in strips. Rows of a product read their right operand again for each tile of rows, a register of columns after
 * the other. In strips, [columns / 16, rows, 16], each of these is one run of memory, as long as the sum: it stays in the
 * first cache, whatever the length of a row, and comes there while the product is under way. Row-major it has a piece in
 * each row, and groups copied it for themselves (4_schedule/packing.c), once for each few rows of the result.
 * Values that only such products read lie so at once, transposed copies among them; of matrices that are there when the step begins
 * a copy is made, which all of its products read. No sum changes its order. In: nests whose columns are runs of lanes.
 * Out: nests with other addresses, and copies before them. */
#include <string.h>

#include "compile/2_nests/nest_passes.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

/* ---- readers --------------------------------------------------------------------------------- */

/* A matrix as a product reads it: `steps` rows of the sum, `columns` of the result. */
struct matrix {
    int run, lane, step; /* axes of the nest: a strip, a column of one, and a row */
    int32_t steps, columns;
};

/* Whether a nest reads a value as the right operand of a product, from end to end. */
static bool reads_matrix(const struct program_ir *p, const struct nest *n, const struct expr *e,
                         struct matrix *out)
{
    const struct access *x = &e->access;
    const int lane = n->kind == NEST_LOOPS && n->combine == COMBINE_FMA ? nest_lane(n) : -1;
    if (e->kind != EXPR_LOAD || e->dtype != TARN_F32 || n->batched || n->guards > 0 ||
        n->transformed || lane < 1 || lane >= n->out_axes || n->extent[lane] != LANES ||
        x->gather >= 0 || x->part_count > 0 || x->in_block || x->samples ||
        x->address.constant != 0 || x->address.k[lane] != 1)
        return false;
    *out = (struct matrix){ .run = lane - 1, .lane = lane, .step = -1 };
    out->columns = n->extent[out->run] * LANES;
    for (int a = 0; a < n->axes; a++) {
        const bool follows = x->address.k[a] != 0 && a != out->run && a != lane;
        if (follows && (a < n->out_axes || out->step >= 0))
            return false;
        out->step = follows ? a : out->step;
    }
    if (out->step < 0 || x->address.k[out->run] != LANES || x->address.k[out->step] != out->columns)
        return false;
    out->steps = n->extent[out->step];
    return (int64_t)out->steps * out->columns == tarn_shape_count(p->values[x->value].shape);
}

/* Rows of the result, all of which read the matrix. */
static int64_t rows_of(const struct nest *n, const struct matrix *m)
{
    int64_t rows = 1;
    for (int a = 0; a < n->out_axes; a++)
        rows *= a == m->run || a == m->lane ? 1 : n->extent[a];
    return rows;
}

static void read_strips(struct access *x, const struct matrix *m)
{
    x->address.k[m->run] = LANES * m->steps;
    x->address.k[m->step] = LANES;
}

/* Who reads and writes a value. */
struct seen {
    int readers, others;    /* loads that read it as one matrix, and all else */
    int32_t steps, columns; /* of that */
    int maker, makers;      /* the last nest that writes it, and how many do */
    bool by_samples;        /* groups share the rows of a product by samples: each would copy it */
};

static void look_at_loads(const struct program_ir *p, const struct nest *n, struct seen *seen)
{
    struct matrix m;
    for (int e = 0; e < n->expr_count; e++) {
        const struct expr *x = &n->exprs[e];
        if (x->kind != EXPR_LOAD)
            continue;
        struct seen *of = &seen[x->access.value];
        if (!reads_matrix(p, n, x, &m) || (of->readers > 0 && of->columns != m.columns)) {
            of->others++;
            continue;
        }
        of->readers++;
        of->steps = m.steps;
        of->columns = m.columns;
        of->by_samples |= p->module->samples > 1 && rows_of(n, &m) > p->module->samples &&
                          rows_of(n, &m) % p->module->samples == 0;
    }
}

static struct seen *look_at_values(const struct program_ir *p)
{
    struct seen *seen = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *seen);
    if (seen == NULL)
        return NULL;
    memset(seen, 0, (size_t)p->value_count * sizeof *seen);
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        look_at_loads(p, n, seen);
        for (int s = 0; s < n->stores; s++) {
            seen[n->store[s].value].maker = i;
            seen[n->store[s].value].makers++;
        }
    }
    return seen;
}

/* ---- makers ---------------------------------------------------------------------------------- */

static void move_axis(struct nest *n, int from, int to)
{
    const int32_t extent = n->extent[from];
    memmove(&n->extent[from], &n->extent[from + 1], (size_t)(to - from) * sizeof *n->extent);
    n->extent[to] = extent;
    nest_change_indices(n, affine_move, from, to);
    affine_move(&n->store[0].address, from, to);
}

/* Whether a map writes a whole matrix row by row, its axes in this order. */
static bool writes_rows(const struct nest *n, const struct seen *of)
{
    int64_t next = 1;
    if (n->kind != NEST_LOOPS || n->combine != COMBINE_NONE || n->batched || n->guards > 0 ||
        n->transformed || n->stores != 1 || n->store[0].expr < 0 || n->store[0].in_block ||
        n->store[0].address.constant != 0 || n->axes + 3 > NEST_AXES)
        return false;
    for (int a = n->axes - 1; a >= 0; next *= n->extent[a--])
        if (n->extent[a] > 1 && n->store[0].address.k[a] != next)
            return false;
    return next == (int64_t)of->steps * of->columns;
}

/* Makes axes end where rows and registers of columns do. False where they do not let themselves divide so. */
static bool split_rows(struct nest *n, int32_t columns)
{
    int32_t below = 1; /* elements of the axes behind this one */
    for (int a = n->axes - 1; a >= 0; a--) {
        const int32_t ends[] = { LANES, columns };
        for (int i = 0; i < 2; i++) {
            const int32_t run = ends[i] / below;
            if (below >= ends[i] || below * n->extent[a] <= ends[i])
                continue;
            if (ends[i] % below != 0 || n->extent[a] % run != 0)
                return false;
            nest_split_axis(n, a, run);
            a++;
        }
        below *= n->extent[a];
    }
    return true;
}

/* The address of an element in strips, from that by rows. */
static int32_t in_strips(int32_t k, const struct seen *of)
{
    return k >= of->columns ? k / of->columns * LANES : k >= LANES ? k * of->steps : k;
}

/* Lets a nest write strips. Its rows become the loop next to the lanes, along which a transposed matrix is read. */
static bool write_strips(struct program_ir *p, struct nest *n, const struct seen *of)
{
    struct nest changed = *n;
    if (!writes_rows(n, of) || !nest_own_exprs(p, &changed) || !split_rows(&changed, of->columns))
        return false;
    struct affine *address = &changed.store[0].address;
    for (int a = 0; a < changed.axes && address->k[0] >= of->columns; a++)
        move_axis(&changed, 0, changed.axes - 2);
    for (int a = 0; a < changed.axes; a++)
        address->k[a] = in_strips(address->k[a], of);
    *n = changed;
    return true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool is_there(const struct value *v)
{
    return v->place == PLACE_OWNED || v->place == PLACE_INPUT;
}

/* Whether groups of samples' rows would else copy a matrix, each for itself: not in each step of a loop. */
static bool is_wanted(const struct program_ir *p, int value, const struct seen *of)
{
    return is_there(&p->values[value]) && of->by_samples && p->module->program->steps == 0 &&
           p->values[value].dtype == TARN_F32;
}

/* Whether one launch makes all copies sooner than groups do. */
static bool copies_pay(const struct program_ir *p, const struct seen *seen)
{
    const int samples = p->module->samples, groups = samples < MOST_ROWS ? samples : MOST_ROWS;
    double saved = 0;
    for (int v = 0; v < p->value_count; v++)
        if (is_wanted(p, v, &seen[v]))
            saved += product_copies(p->target, seen[v].steps, seen[v].columns, groups);
    return saved > p->target->fusion.tiny_work;
}

/* Before all others, a nest that copies a matrix into strips. Returns the value that it makes; -1: out of memory. */
static int add_copy(struct program_ir *p, int value, const struct seen *of)
{
    enum { STRIP, STEP, COLUMN, AXES };
    const struct value from = p->values[value];
    const int to = value_add(p, PLACE_ARENA, LAYOUT_PLAIN, 0, from.shape, from.dtype);
    if (to < 0 || nest_add(p) == NULL)
        return -1;
    memmove(p->nests + 1, p->nests, (size_t)(p->nest_count - 1) * sizeof *p->nests);
    p->first_root++;
    struct nest *n = &p->nests[0];
    *n = (struct nest){
        .name = "strips", .axes = AXES, .out_axes = AXES, .batch_axis = -1, .sample_lane = -1
    };
    n->body[0] = n->body[1] = -1;
    n->extent[STRIP] = of->columns / LANES;
    n->extent[STEP] = of->steps;
    n->extent[COLUMN] = LANES;
    struct expr load = { .kind = EXPR_LOAD, .dtype = from.dtype };
    load.access.value = value;
    load.access.gather = -1;
    load.access.address.k[STRIP] = LANES;
    load.access.address.k[STEP] = of->columns;
    load.access.address.k[COLUMN] = 1;
    n->store[0].value = to;
    n->store[0].address.k[STRIP] = LANES * of->steps;
    n->store[0].address.k[STEP] = LANES;
    n->store[0].address.k[COLUMN] = 1;
    n->stores = 1;
    n->store[0].expr = n->body[0] = expr_add(p, n, &load);
    return n->body[0] < 0 ? -1 : to;
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Whether a value lies in strips from now on. */
static bool lies_there(struct program_ir *p, int value, const struct seen *seen)
{
    const struct value *v = &p->values[value];
    return seen->readers > 0 && seen->others == 0 && seen->makers == 1 && v->dtype == TARN_F32 &&
           v->place == PLACE_ARENA && v->layout == LAYOUT_PLAIN &&
           write_strips(p, &p->nests[seen->maker], seen);
}

void lie_in_strips(struct program_ir *p)
{
    const int values = p->value_count;
    const struct seen *seen = p->target->fuse && !p->target->items ? look_at_values(p) : NULL;
    int *instead = /* what readers of a value read from now on; -1: the same */
        arena_take(p->arena, ((size_t)values + 1) * sizeof *instead);
    if (seen == NULL || instead == NULL)
        return;
    for (int v = 0; v < values; v++)
        instead[v] = lies_there(p, v, &seen[v]) ? v : -1;
    const bool pay = copies_pay(p, seen);
    for (int v = 0; pay && v < values; v++)
        if (is_wanted(p, v, &seen[v]))
            instead[v] = add_copy(p, v, &seen[v]);
    for (int i = 0; i < p->nest_count; i++) {
        struct nest *n = &p->nests[i];
        struct matrix m;
        for (int e = 0; e < n->expr_count; e++) {
            struct access *x = &n->exprs[e].access;
            if (n->exprs[e].kind != EXPR_LOAD || x->value >= values || instead[x->value] < 0 ||
                !reads_matrix(p, n, &n->exprs[e], &m) || m.columns != seen[x->value].columns)
                continue;
            x->value = instead[x->value];
            read_strips(x, &m);
        }
    }
}
