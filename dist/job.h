/* SPDX-License-Identifier: Apache-2.0 */
/* The job of several processes, the nodes, that a launcher started this one in. Found by the launcher's
 * variables alone: without a launcher nothing is opened. */
#ifndef TARN_JOB_H
#define TARN_JOB_H

#include "porter.h"

/* What the launcher says. */
struct job {
    int node, nodes, seat; /* nodes 1: there is none */
    const char *engine;    /* "openmpi" or "mpich" */
};

/* TARN_ERR_ARGUMENT when several processes were started in a way that does not join them. */
TARN_CHECKED tarn_status job_find(struct job *out);
/* Joins the job, once for a process; *out is NULL when there is none. */
TARN_CHECKED tarn_status job_join(struct porter **out);

#endif
