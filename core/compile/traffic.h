/* SPDX-License-Identifier: Apache-2.0 */
/* What the body of a sum loads, and what of it misses a cache. */
#ifndef TARN_TRAFFIC_H
#define TARN_TRAFFIC_H

#include "compile/nest.h"

#define MOST_LOADS 16

/* A load of the body: how its address moves with each axis. */
struct walk {
    bool vector;
    int step;     /* bytes from one element to the next */
    double loads; /* for a register of lanes that are not side by side; 0: they are */
    int vectors;  /* for each: more than one where all along a summed axis count as one element */
    int parts;
    int32_t k[1 + TARN_MAX_RANK][NEST_AXES], divide[1 + TARN_MAX_RANK];
    int8_t axis[1 + TARN_MAX_RANK][NEST_AXES]; /* those that move it, the shortest steps first, */
    int axes[1 + TARN_MAX_RANK];               /* and how many they are */
};

struct tiling {
    const struct nest *n;
    const struct vector_figures *core;
    int lane; /* the vector axis, or -1 */
    struct walk loads[MOST_LOADS];
    int load_count;
    int size; /* expressions of the body */
    int rest; /* weight of those around it, repeated for each accumulator */
    double code_cycles;
    int workers;     /* units that share it */
    bool overlaps;   /* tiles may (axis_overlaps()), */
    int sliced_axis; /* but along this one, of which parts have slices; or -1 */
    int most;        /* accumulators of a tile */
    struct strips strips;
    int32_t slice[NEST_AXES]; /* extents of what a group of a chain does, where there are strips, */
    double slices;            /* and of these so many */
    /* Far lines push each other out of a cache, quotients leave out elements, lanes that lie apart are loaded one by one, and
     * no arithmetic hides what comes from the second cache. */
    bool in_detail;
    bool in_runs; /* memory is read in long runs, which cores ask for ahead */
};

/* Finds the loads, and how large the body is. */
void tiling_begin(struct tiling *t, const struct vector_figures *core, const struct nest *n,
                  const struct schedule *s);
/* From now on what lies along the lanes' axis, a summed one, is one element. */
void tiling_whole_lanes(struct tiling *t);
/* Bytes that a tile's loads touch while some of the loops run whole, by the set of these: no other order of the same loops
 * changes them. Empty at first; of one tile. */
#define FOOTPRINTS 64
struct footprints {
    uint32_t set[FOOTPRINTS]; /* 1 + a bit for each axis; 0: free */
    double bytes[FOOTPRINTS];
};
/* Cycles that wait for what misses both caches, with the loops in this order, the outermost first. Takes
 * all that was touched for lost once it is more than a cache holds. */
double traffic(const struct tiling *t, struct footprints *known, const int *tile, const int *order,
               int loops);
/* Bytes that miss a cache of so many when loops in this order go through `whole`. What a loop does not
 * move stays, if what is inside of the loop fits. */
double kept_misses(const struct tiling *t, const int32_t *whole, const int *tile, const int *order,
                   int loops, double capacity);

#endif
