/* SPDX-License-Identifier: Apache-2.0 */
/* Writers and readers of each value. */
#ifndef TARN_USES_H
#define TARN_USES_H

#include "compile/nest.h"

/* Nests of value v, by number and in order: nest[begin[v]] to nest[begin[v + 1] - 1]. One that
 * reads a value several times comes several times. */
struct nest_lists {
    int *begin, *nest;
};

/* Holds until a nest or a value is added, or a store changes. */
struct uses {
    struct nest_lists writers, readers;
};

/* False without memory. */
bool uses_build(const struct program_ir *p, struct uses *out);

#endif
