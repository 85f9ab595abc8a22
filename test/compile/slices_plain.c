/* SPDX-License-Identifier: Apache-2.0 */
/* Which digits of an address belong to an index of an axis (slices.c): for random addresses, with and without guards,
 * what find_reads() promises is held against every element that the nest reaches. Then which groups may pass values on
 * to themselves: what slices_agree() promises of two nests is held against every element that both reach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/3_kernels/divide.h"

enum { PROGRAMS = 300000, LEAST_FOUND = 10000, DIGITS = 256 };

static uint64_t state = 1;

static int pick(int low, int high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

/* Axes whose strides are products of extents, as those of views are, some of them taken at random. */
static void make(struct nest *n, struct affine *address, struct digit *d)
{
    memset(n, 0, sizeof *n);
    memset(address, 0, sizeof *address);
    const int inner = pick(1, 4);
    *d = (struct digit){ inner, pick(2, 8) };
    n->axes = n->out_axes = pick(1, 3);
    for (int a = 0; a < n->axes; a++) {
        const int strides[] = { 0, 1, inner, 2 * inner, inner * d->extent, pick(0, 9) };
        n->extent[a] = pick(1, 9);
        address->k[a] = strides[pick(0, 5)];
    }
    address->constant = pick(0, 2) > 0 ? 0 : pick(-2, 9) * (pick(0, 1) ? inner : 1);
    if (pick(0, 2) == 0) { /* a window: digits that there are not are never asked for */
        struct guard *g = &n->guard[n->guards++];
        g->divide = 1;
        g->extent = d->extent;
        for (int a = 0; a < n->axes; a++)
            g->e.k[a] = address->k[a] / inner;
        g->e.constant = address->constant / inner;
        if (pick(0, 1)) { /* of the digit alone: what is above it has padding of its own */
            const int whole = inner * d->extent;
            for (int a = 0; a < n->axes; a++)
                g->e.k[a] *= address->k[a] % whole != 0;
            address->constant -= whole * pick(0, 2);
        }
    }
}

static int32_t at(const struct affine *e, const int *index, int axes)
{
    int32_t sum = e->constant;
    for (int a = 0; a < axes; a++)
        sum += e->k[a] * index[a];
    return sum;
}

/* Whether all that the nest reads lies in the digits that are promised. */
static bool holds(const struct nest *n, const struct affine *address, int axis, struct digit d,
                  struct reads r)
{
    int index[3] = { 0 };
    for (;;) {
        const int32_t element = at(address, index, n->axes);
        bool asked = element >= 0;
        for (int g = 0; g < n->guards; g++) {
            const int32_t e = at(&n->guard[g].e, index, n->axes);
            asked &= e >= 0 && e < n->guard[g].extent;
        }
        const int digit = element / d.stride % d.extent, first = r.times * index[axis];
        if (asked && (digit < first + r.below || digit > first + r.above))
            return false;
        int a = 0;
        while (a < n->axes && ++index[a] == n->extent[a])
            index[a++] = 0;
        if (a == n->axes)
            return true;
    }
}

/* ---- slices of two nests -------------------------------------------------------------------- */

/* A view as reshapes and permutations make it: axes of a value of 64 elements, in any order. */
static void make_view(struct nest *n, struct affine *address)
{
    static const int shapes[][3] = { { 64, 1, 1 }, { 8, 8, 1 }, { 2, 32, 1 }, { 32, 2, 1 },
                                     { 4, 2, 8 },  { 2, 8, 4 }, { 8, 2, 4 },  { 4, 4, 4 } };
    const int *shape = shapes[pick(0, 7)], first = pick(0, 2), turned = pick(0, 1);
    memset(n, 0, sizeof *n);
    memset(address, 0, sizeof *address);
    n->batch_axis = -1;
    n->axes = n->out_axes = 3;
    for (int a = 0; a < 3; a++) {
        const int from = (first + (turned ? 3 - a : a)) % 3;
        int stride = 1;
        for (int below = from + 1; below < 3; below++)
            stride *= shape[below];
        n->extent[a] = shape[from];
        address->k[a] = pick(0, 9) == 0 ? 0 : stride;
    }
}

/* Whether no part reads by `to` what another writes by `from`. */
static bool keeps_to_parts(const struct nest *from, const struct affine *written, int from_axis,
                           const struct nest *to, const struct affine *read, int to_axis, int parts)
{
    int owner[64], index[3] = { 0 };
    memset(owner, -1, sizeof owner);
    const struct nest *nests[] = { from, to };
    for (int k = 0; k < 2; k++) {
        const struct nest *n = nests[k];
        const int axis = k == 0 ? from_axis : to_axis, slice = n->extent[axis] / parts;
        for (int done = 0; done < n->axes;) {
            const int32_t e = at(k == 0 ? written : read, index, n->axes);
            const int part = index[axis] / slice;
            if (k == 0)
                owner[e] = part;
            else if (owner[e] >= 0 && owner[e] != part)
                return false;
            for (done = 0; done < n->axes && ++index[done] == n->extent[done]; done++)
                index[done] = 0;
        }
    }
    return true;
}

/* Pairs of axes that agree, of which `wrong` do not keep what they promise. */
static int check_pairs(int *wrong)
{
    int found = 0;
    for (int i = 0; i < PROGRAMS / 10; i++) {
        struct nest from, to;
        struct store s = { 0 };
        struct expr load = { .kind = EXPR_LOAD };
        make_view(&from, &s.address);
        make_view(&to, &load.access.address);
        load.access.gather = -1;
        to.exprs = &load;
        to.expr_count = 1;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                if (!slices_agree(&from, &s, a, &to, 0, b))
                    continue;
                for (int parts = 2; parts <= from.extent[a]; parts *= 2) {
                    if (from.extent[a] % parts != 0 || to.extent[b] % parts != 0)
                        continue;
                    found++;
                    *wrong +=
                        !keeps_to_parts(&from, &s.address, a, &to, &load.access.address, b, parts);
                }
            }
    }
    return found;
}

int main(void)
{
    int found = 0, wrong = 0, wrong_pairs = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        struct nest n;
        struct affine address;
        struct digit d;
        struct reads r;
        make(&n, &address, &d);
        for (int axis = 0; axis < n.axes; axis++) {
            if (!find_reads(&n, &address, -1, axis, d, &r))
                continue;
            found++;
            if (holds(&n, &address, axis, d, r))
                continue;
            if (wrong++ < 5)
                fprintf(stderr,
                        "program %d, axis %d: %d*%d + %d*%d + %d*%d + %d, %d guards: not in %d*i + "
                        "[%d, %d] of digits %d * %d\n",
                        i, axis, address.k[0], n.extent[0], address.k[1], n.extent[1], address.k[2],
                        n.extent[2], address.constant, n.guards, r.times, r.below, r.above,
                        d.stride, d.extent);
        }
    }
    printf("%d reads found, %d wrong\n", found, wrong);
    const int pairs = check_pairs(&wrong_pairs);
    printf("%d pairs of axes agree, %d wrongly\n", pairs, wrong_pairs);
    return wrong > 0 || found < LEAST_FOUND || wrong_pairs > 0 || pairs < LEAST_FOUND;
}
