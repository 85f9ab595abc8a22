/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of each parameter, as PyTorch counts them: those in which it had a gradient, and which were
 * not left out for a NaN or an infinity. Only the device knows those, so it counts. The host knows
 * which parameters were in the same steps: they are a group, and their counts are equal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "train/optimizer.h"

/* ---- the table ------------------------------------------------------------------------------ */

/* 1 - beta^t from a table that is computed in double: t is cut into digits, of 10, 10 and 11 bits,
 * and 1 - x y = (1 - x) + x (1 - y) puts them together without cancellation. */
enum { LEVELS = 3, DIGITS = 1024, ROWS = (LEVELS - 1) * DIGITS + 2 * DIGITS };

tarn_status count_table(tarn_optimizer *o)
{
    double beta[2];
    o->rule->betas(o, beta);
    const double logs[2] = { log(beta[0]), log(beta[1]) };
    double data[2][ROWS];
    float single[2][ROWS];
    for (int b = 0; b < 2; b++) {
        for (int i = 0; i < ROWS; i++) {
            const int level = i < DIGITS ? 0 : i < 2 * DIGITS ? 1 : 2;
            const double t = ldexp((double)(i - level * DIGITS), 10 * level);
            data[b][i] = t > 0 ? -expm1(t * logs[b]) : 0; /* log 0 is infinite */
            single[b][i] = (float)data[b][i];
        }
    }
    /* Storage, as a kept tensor could be a batch of samples. */
    o->table = owned_add(o->replica, OWNED_FLAT, NULL, TARN_SHAPE(2 * ROWS, 1), o->dtype,
                         o->dtype == TARN_F64 ? (const void *)data : single);
    return o->replica->status;
}

static tarn_tensor row(const tarn_optimizer *o, tarn_tensor index, int32_t first)
{
    const tarn_tensor at = tarn_add(index, op_whole(o->replica, first));
    return op_reshape_to(tarn_embedding(owned_handle(o->replica, o->table), at), TARN_SCALAR);
}

static tarn_tensor one_minus_power(const tarn_optimizer *o, tarn_tensor steps, int beta)
{
    const tarn_tensor base = op_whole(o->replica, DIGITS),
                      one = tarn_full(o->replica, TARN_SCALAR, 1.0f);
    tarn_tensor rest = tarn_add(steps, op_whole(o->replica, 1)), sum = TARN_NONE;
    for (int level = 0; level < LEVELS; level++) {
        const tarn_tensor above = tarn_div(rest, base);
        const tarn_tensor digit =
            level == LEVELS - 1 ? rest : tarn_sub(rest, tarn_mul(above, base));
        const tarn_tensor part = row(o, digit, beta * ROWS + level * DIGITS);
        sum = level == 0 ? part : tarn_add(sum, tarn_mul(tarn_sub(one, sum), part));
        rest = above;
    }
    return sum;
}

tarn_tensor count_beta1(const tarn_optimizer *o, tarn_tensor steps)
{
    return one_minus_power(o, steps, 0);
}

tarn_tensor count_beta2(const tarn_optimizer *o, tarn_tensor steps)
{
    return one_minus_power(o, steps, 1);
}

/* ---- values of groups ----------------------------------------------------------------------- */

static int32_t extent_of(const tarn_optimizer *o, uint32_t i)
{
    return (int32_t)flat_extent(o->replica->owned[o->slices[i] - 1].shape);
}

static tarn_tensor steps_of(const tarn_optimizer *o, uint32_t i)
{
    const tarn_tensor all = owned_handle(o->replica, o->counts);
    return op_reshape_to(tarn_slice(all, 0, (int32_t)i, (int32_t)i + 1, 1), TARN_SCALAR);
}

bool count_all(const tarn_optimizer *o)
{
    return memchr(o->now.has, 0, o->slice_count) == NULL;
}

/* The first slice from `i` on whose value may differ from that of `like`: those without a gradient
 * may take any. */
static uint32_t run_end(const tarn_optimizer *o, uint32_t like, uint32_t i)
{
    while (i < o->slice_count && (!o->now.has[i] || o->next.group[i] == o->next.group[like]))
        i++;
    return i;
}

static uint32_t next_with_gradient(const tarn_optimizer *o, uint32_t i)
{
    while (i + 1 < o->slice_count && !o->now.has[i])
        i++;
    return i;
}

tarn_tensor count_spread(const struct update *u, count_rule *rule)
{
    const tarn_optimizer *o = u->o;
    tarn_replica *r = o->replica;
    if (u->slice >= 0) {
        uint32_t like = o->apart ? 0 : (uint32_t)u->slice;
        /* The first of its group has the same count: so that is computed once for all. */
        while (!o->now.has[like] || o->next.group[like] != o->next.group[u->slice])
            like++;
        return rule(o, steps_of(o, like));
    }
    tarn_tensor *pieces = calloc((size_t)o->slice_count + 1, sizeof *pieces);
    if (pieces == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its list");
    uint32_t count = 0, like = next_with_gradient(o, 0);
    for (uint32_t first = 0; first < o->slice_count;) {
        const uint32_t last = run_end(o, like, first);
        int32_t n = 0;
        for (uint32_t i = first; i < last; i++)
            n += extent_of(o, i);
        pieces[count] = rule(o, steps_of(o, like));
        if (first == 0 && last == o->slice_count)
            n = 0; /* a scalar will do */
        if (n > 0)
            pieces[count] =
                op_expand_to(op_reshape_to(pieces[count], TARN_SHAPE(1)), TARN_SHAPE(n));
        count++;
        first = like = last;
    }
    const tarn_tensor all = op_join(pieces, count);
    free(pieces);
    return all;
}

/* `extent` elements for each slice, 1 where it has a gradient. */
static tarn_tensor mask_of(const tarn_optimizer *o, tarn_dtype dtype,
                           int32_t (*extent)(const tarn_optimizer *o, uint32_t i))
{
    tarn_replica *r = o->replica;
    tarn_tensor *pieces = calloc((size_t)o->slice_count + 1, sizeof *pieces);
    if (pieces == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its list");
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->slice_count;) {
        const uint8_t has = o->now.has[i];
        int32_t n = 0;
        for (; i < o->slice_count && o->now.has[i] == has; i++)
            n += extent(o, i);
        if (n > 0)
            pieces[count++] = op_constant_of(r, TARN_SHAPE(n), dtype, has);
    }
    const tarn_tensor mask =
        count ? op_join(pieces, count) : op_constant_of(r, TARN_SHAPE(0), dtype, 0);
    free(pieces);
    return mask;
}

tarn_tensor count_mask(const tarn_optimizer *o)
{
    return mask_of(o, TARN_F32, extent_of);
}

/* ---- counting ------------------------------------------------------------------------------- */

static int32_t one_each(const tarn_optimizer *o, uint32_t i)
{
    (void)o, (void)i;
    return 1;
}

/* Groups of which only a part had a gradient become two. */
static void split_groups(tarn_optimizer *o, uint32_t *names)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        uint32_t *name = &names[2 * o->next.group[i] + o->now.has[i]];
        if (*name == 0)
            *name = ++groups;
        o->next.group[i] = *name - 1;
    }
}

void count_step(tarn_optimizer *o, tarn_tensor bad)
{
    tarn_replica *r = o->replica;
    const bool all = count_all(o);
    if (!o->counts || r->status != TARN_OK)
        return;
    const tarn_tensor counts = owned_handle(r, o->counts);
    const tarn_tensor more = all ? op_whole(o->replica, 1) : mask_of(o, TARN_I32, one_each);
    tarn_assign(counts, tarn_where(bad, counts, tarn_add(counts, more)));
    uint32_t *names = all ? NULL : calloc(2 * (size_t)o->slice_count, sizeof *names);
    if (names != NULL)
        split_groups(o, names);
    else if (!all)
        replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its groups");
    free(names);
}

/* ---- counts from elsewhere ------------------------------------------------------------------ */

static void group_by_count(tarn_optimizer *o, const int32_t *counts)
{
    for (uint32_t i = 0; i < o->slice_count; i++) {
        uint32_t same = 0;
        while (counts[same] != counts[i])
            same++;
        o->marked.group[i] = o->next.group[i] = same;
    }
}

tarn_status count_reload(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    int32_t steps = 0;
    TRY(owned_read(r, &r->owned[o->step - 1], &steps));
    o->marked.steps = o->next.steps = steps > 0 ? (uint64_t)steps : 0;
    if (!o->counts)
        return TARN_OK;
    int32_t *counts = calloc(o->slice_count, sizeof *counts);
    if (counts == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its counts");
    const tarn_status s = owned_read(r, &r->owned[o->counts - 1], counts);
    if (s == TARN_OK)
        group_by_count(o, counts);
    free(counts);
    return s;
}
