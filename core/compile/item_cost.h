/* SPDX-License-Identifier: Apache-2.0 */
/* What a nest of work-items asks of a GPU: how many groups there are, how long one of them waits, and how well
 * its accesses to memory fill what crosses the bus. */
#ifndef TARN_ITEM_COST_H
#define TARN_ITEM_COST_H

#include "compile/nest.h"

/* Of GPUs: who asks for memory at once, and a piece of it. */
enum { REQUEST_ITEMS = 32, SECTOR_BYTES = 32 };

/* Of the access that touches most sectors in a request: 4 is floats side by side, 1 one address for all, 32 the
 * worst; 0: none is known before it runs. */
struct item_sectors {
    double mean; /* over requests */
    int value;
};

struct item_cost {
    int groups;
    double chain; /* rounds of loops that one work-item does one after the other */
    double terms; /* of all its sums; of a map: its elements */
    double loads; /* for each of them, what several terms of a tile share counted once */
    struct item_sectors read, written;
};

/* Of a nest that is code, for a target of work-items; after all stages. Guards are taken to let everything through. */
struct item_cost nest_item_cost(const struct program_ir *p, const struct nest *n);

/* Its `loads` alone, which need the tile and no groups. */
double nest_item_loads(const struct program_ir *p, const struct nest *n);

/* Addresses of one of its loads, for each term of a tile: likewise. */
double nest_item_addresses(const struct program_ir *p, const struct nest *n,
                           const struct access *x);

/* Its `chain` alone: the others take some work to find out. */
double nest_item_rounds(const struct program_ir *p, const struct nest *n);

#endif
