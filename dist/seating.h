/* SPDX-License-Identifier: Apache-2.0 */
/* Before a launch: which devices are this node's, and which ranks are whose. */
#ifndef TARN_SEATING_H
#define TARN_SEATING_H

#include "communicator.h"
#include "backend.h"
#include "porter.h"

struct seating {
    struct device devices[COMMUNICATOR_MOST];
    struct ranks ranks;
    struct porter *porter; /* NULL: one node */
    int *firsts;           /* the first rank of each node, and the number of ranks */
    char **names;          /* of the nodes' hosts */
};

/* Collective over nodes: refused on all when one refuses, or when they do not fit together. When it failed
 * otherwise, or a launch fails later, porter_leave() is still to be called where there is a porter. */
TARN_CHECKED tarn_status seating_make(const tarn_launch_options *o, struct porter_times times,
                                      struct seating *out);
/* The porter must have left. */
void seating_free(struct seating *s);

#endif
