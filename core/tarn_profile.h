/* SPDX-License-Identifier: Apache-2.0 */
/** Looking inside: numbers of a replica, the graph of a step, and where the time of a step goes: each kernel as it
 *  runs, and what it cost at least. */
#ifndef TARN_PROFILE_H
#define TARN_PROFILE_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Since the replica was opened; seconds by a clock that never goes back. */
typedef struct tarn_metrics {
    uint64_t steps;                     /* that succeeded */
    uint64_t plans_compiled, plan_hits; /* graphs that were new, and that were found again */
    uint64_t launches;                  /* kernels launched so far */
    uint64_t launches_last_step;        /* by the last tarn_step; not by reads before it */
    double
        compile_seconds;   /* graph to built programs, optimised ones waited for included; summed */
    double host_seconds;   /* tarn_step without compilation and waiting, summed */
    double record_seconds; /* from a step's first operation to its mark, what the program
                                           did in between included, but not compilation and waiting
                                           for the device; summed */
    uint64_t device_bytes; /* device memory in use */
    double wait_seconds;   /* waiting for the device: in tarn_step, in reading, in tarn_wait;
                                           summed */
    uint64_t device_bytes_peak; /* the most that was in use at once */
    uint64_t nodes_last_step;   /* operations that the last step recorded */
    uint64_t exchanges;      /* collectives over axes of a mesh that its plans ran: those that marks
                                           led to, and those over groups that were written by hand */
    uint64_t received_bytes; /* and the bytes that this rank received in them */
    uint64_t
        device_bytes_expected; /* the most that a plan was expected to have in use, known before it ran */
    uint64_t allocations;  /* of device memory, by the driver */
    uint64_t steady_steps; /* the last so many, in which nothing was compiled or allocated */
    uint64_t
        skipped_steps; /* under tarn_loss_scale: optimizer steps that changed nothing, as of the last
                                           look, which tarn_wait and each 64th step take */
    uint64_t
        quick_launches_last_step; /* of those by the last tarn_step, of kernels that were built quickly and are
                                           still to be optimised (TARN_QUICK): until it is 0 steps are slower */
    uint64_t
        quick_kernels_kept; /* which stay as they were built quickly, since the processes that were to optimise them
                                           died: 0, or steps stay slower until the program ends */
} tarn_metrics;
/** A copy of the numbers so far; all 0 for NULL. Does not wait. */
TARN_API tarn_metrics tarn_metrics_get(const tarn_replica *r);
/** Writes these numbers as a few lines for people into `out`: sums, and what they are for each step. Cut at
 *  capacity - 1 bytes; capacity: at least 1. Does not wait. */
TARN_API tarn_status tarn_metrics_report(const tarn_replica *r, char *out, size_t capacity);
/** Writes what the current step has recorded so far as a graph in Graphviz's language: operations with types and
 *  shapes, tensors with their names. `dot -Tsvg step.dot` makes a picture of it. A failure sticks to the
 *  replica. */
TARN_API tarn_status tarn_graph_dot(tarn_replica *r, const char *path);

/** One run of one kernel. The texts end with the call. */
typedef struct tarn_kernel_run {
    const char *name;  /* "k3": its number in the plan; with "product" a library multiplies */
    const char *about; /* operations at the core of its loops: "input conv2d" */
    double seconds;    /* on the device, by its clock */
    double flops;    /* operations of its arithmetic, a multiply-add as two; of a convolution those
                          that meet an element and not the padding */
    double bytes;    /* that it must move at least: what others wrote once in, what others read
                          once out. What it leaves to itself is not counted */
    double expected; /* seconds, as the compiler reckons; 0: it cannot say */
    const char *
        bound; /* and by what they are: "arithmetic", "loads" (from the first cache), "caches" (lines of the
                          second), "memory" or "launch" */
} tarn_kernel_run;

/** Must not use the replica. */
typedef void (*tarn_profile_fn)(const tarn_kernel_run *run, void *user);

/** From now on calls `each` after every kernel, in the order in which they run, until it is called
 *  with NULL. A kernel and the products that a library computes for it are one call, and as many launches as they are in
 *  launches_last_step. The device is waited for after each, so steps as a whole are slower; the first run of
 *  a plan may contain compilation. TARN_DEBUG=time prints the same. */
TARN_API tarn_status tarn_profile(tarn_replica *r, tarn_profile_fn each, void *user);

#ifdef __cplusplus
}
#endif

#endif
