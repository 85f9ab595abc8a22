/* SPDX-License-Identifier: Apache-2.0 */
/* What watch and inject print: a table for people, or one JSON object a line. */
#ifndef REPORT_H
#define REPORT_H

#include <tarn_dist.h>

#include "live.h"

/* The weights of all replicas after a step. */
struct check {
    long step, number; /* the number of the check; 0: the look right after a flip */
    int world;
    const uint64_t *hashes; /* by rank */
    bool equal;
    double loss; /* of this step, the mean over the replicas */
};

struct verdict {
    const char *word, *line; /* "equal", "different", "not_found", "failed"; line NULL: equal */
    long checks, steps;
    int world;
};

void report_start(const struct live_config *c, tarn_replica *r);
void report_check(const struct live_config *c, const struct check *k);
void report_flip(const struct live_config *c, const struct flip *f);
void report_verdict(const struct live_config *c, const struct verdict *v);

#endif
