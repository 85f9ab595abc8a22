/* SPDX-License-Identifier: Apache-2.0 */
/* Which digits of an address belong to an index of an axis (slices.c): for random addresses, with and without guards,
 * what find_reads() promises is held against every element that the nest reaches. */
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

int main(void)
{
    int found = 0, wrong = 0;
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
    return wrong > 0 || found < LEAST_FOUND;
}
