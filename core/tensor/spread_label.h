/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of spread.h, and what follows from the form of an op alone. */
#ifndef TARN_SPREAD_LABEL_H
#define TARN_SPREAD_LABEL_H

#include "tensor/graph.h"

enum spread {
    SPREAD_SAME,   /* the same bits on each replica, and for any number of them */
    SPREAD_ALIKE,  /* likewise, and all elements along axis 0 are equal */
    SPREAD_EITHER, /* has a row for each sample by its length alone: random values, host arrays */
    SPREAD_SAMPLES, /* axis 0 is the replica's part of a batch, one row or several for each sample; they
                       have the same bits wherever they are */
    SPREAD_PARTIAL, /* sum over the replica's samples: the tree of a sum over replicas continues it */
    SPREAD_LINEAR, /* a linear function of such sums, computed of the replica's own */
    SPREAD_OWN     /* the replica's own; no such sum makes it the same */
};

/* The axis that alone indexes dimension 0 and no other dimension; -1 when there is none. */
int spread_leading_axis(const struct contract_map *map, int axes, int rank);
/* The operands, as bits, of which an op is the sum of linear functions. */
unsigned spread_adds(const struct op *op);
/* Whether a view leaves axis 0 as it is. */
bool spread_view_keeps(const struct node *n, tarn_shape in);

#endif
