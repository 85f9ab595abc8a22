/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tarn on several devices: one replica, with a thread of its own, on each.
 *
 *     static tarn_status train(tarn_replica *r, void *arg)
 *     {
 *         ... the training loop of one device ...
 *     }
 *     int main(void) { return tarn_launch(train, NULL, (tarn_launch_options){ 0 }) != TARN_OK; }
 *
 * The same function runs on one device or on many without change: tarn_loader_open() hands each
 * replica its part of every batch, tarn_optimizer_step() adds up the gradients of all replicas
 * before it updates, and the parameters start equal and stay equal, bit for bit, which is checked.
 *
 * Every replica must record the same collectives in the same order. What they ask for is compared
 * before a byte moves, and refused where it differs (tarn_collective_name says what is). A replica that fails, or does not come back, ends the launch for all.
 */
#ifndef TARN_DIST_H
#define TARN_DIST_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- several machines ----
 *
 * Started by mpirun or srun, on one machine or on many, the same program trains on all their devices: each
 * process is a node, and tarn_launch() joins them. See docs/several-machines.md. */

/** Number of this process in its job, 0 ..; 0 without a launcher. Also before tarn_launch(): in main() it
 *  tells who prints and opens logs. Any thread, like the next three. */
TARN_API int tarn_node(void);
/** Number of processes in the job; 1 without a launcher. */
TARN_API int tarn_node_count(void);
/** Number of this process among those of the job on this host, 0 .. */
TARN_API int tarn_local_rank(void);
/** What a program should exit with after tarn_launch(): 0 for TARN_OK; 75 (EX_TEMPFAIL) when a replica, its
 *  device or another node was late or lost, so that starting again from a checkpoint is worth it; else 1. */
TARN_API int tarn_exit_code(tarn_status status);

/* ---- meshes --------------------------------------------------------------------------------- */

/** An axis of a mesh: a name of up to 15 letters, without comma and space, and how many ranks lie along it. */
typedef struct tarn_mesh_axis {
    const char *name;
    int ranks;
} tarn_mesh_axis;

/** Names the axes along which the ranks of a launch are laid out:
 *
 *     static const tarn_mesh mesh = { .axis = { { "data", 2 }, { "model", 2 } } };
 *
 *  1 to 4 axes; the first without a name ends them. The product of their ranks is the world size, and the last
 *  axis is the fastest: here rank = 2 * data + model. A plain value, which may be shared by all replicas, and
 *  is checked where it is used. Functions that take axes take a name, several in the order of the mesh with
 *  commas between ("data,model"), or NULL for all. */
typedef struct tarn_mesh {
    tarn_mesh_axis axis[4 + 1];
} tarn_mesh;

/* ---- launching ------------------------------------------------------------------------------ */

/** What each replica runs, on a thread of its own. A status other than TARN_OK ends the launch. */
typedef tarn_status (*tarn_replica_fn)(tarn_replica *r, void *arg);

/** Zero means the default. */
typedef struct tarn_launch_options {
    const char *devices; /* as in TARN_DEVICES; default: TARN_DEVICES, else all GPUs, else all */
    int count;          /* replicas; a single CPU device is divided; default: TARN_NUM_DEVICES, else
                            one for each device. Of this process, as all here */
    int nodes;          /* 0: all processes that a launcher started together; -1: this one alone */
    int virtual_shards; /* V, up to 1,024 and 16 for each replica: the same bits on 1, 2, 4, ... V
                           devices; default: off */
    double timeout; /* seconds that a replica, or its device, may be late; default: TARN_TIMEOUT */
    int check_weights;    /* compare the replicas' weights every so many training steps; default 1;
                            negative: never */
    bool sync_norm;       /* batch norm over the samples of all replicas; on with virtual shards */
    size_t bucket_bytes;  /* gradients are exchanged in pieces of about this size; default 4 MiB */
    bool heal;            /* on a difference copy rank 0's weights to all and go on; with a mesh
                            those of the first rank with each part */
    double build_timeout; /* seconds that a kernel's first launch may take; default:
                             TARN_BUILD_TIMEOUT */
    size_t memory_limit;  /* of each replica, as in tarn_open_options; default: TARN_MEMORY_LIMIT */
    int winograd;         /* as in tarn_open_options; default: TARN_WINOGRAD */
    tarn_mesh mesh; /* default: none. With one, replicas record the program of the whole launch,
                            and tarn_mark_sharding() says how it is shared out */
} tarn_launch_options;

/** Runs `fn` on every device of every node and returns when all replicas ended, also those of other nodes:
 *  TARN_OK, or the status of the first that failed, whose line, with rank and step, is in tarn_error(NULL). Never waits longer
 *  than twice the timeout for a replica that is stuck: its thread is left behind then, and goes on
 *  using `arg` and the data sets (tarn_launch_left). */
TARN_API TARN_MUST_USE tarn_status tarn_launch(tarn_replica_fn fn, void *arg,
                                               tarn_launch_options options);
/** Threads of launches of this process that were left behind and have not ended. While there are
 *  any, close and free nothing that the function uses; end with _exit(). Any thread. */
TARN_API int tarn_launch_left(void);

/** Number of this replica among those of all nodes, 0 ..; 0 for one from tarn_open(). */
TARN_API int tarn_rank(const tarn_replica *r);
/** Number of replicas of all nodes; 1 for one from tarn_open(). */
TARN_API int tarn_world_size(const tarn_replica *r);
/** Virtual shards of the launch; 0 without them, and for a replica from tarn_open(). */
TARN_API int tarn_virtual_shards(const tarn_replica *r);
/** Which of the places along the axes is this replica's, 0 ..; of several axes the last is the fastest. 0 after
 *  an error. */
TARN_API int tarn_mesh_coordinate(tarn_replica *r, tarn_mesh mesh, const char *axes);
/** How many places there are along the axes; 1 after an error. */
TARN_API int tarn_mesh_size(tarn_replica *r, tarn_mesh mesh, const char *axes);
/** printf on rank 0 alone; the others return at once. */
TARN_API void tarn_print0(const tarn_replica *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Waits until every replica is here: at the host's call, not at the step mark. TARN_ERR_STALLED
 *  when one does not come within the timeout. */
TARN_API tarn_status tarn_barrier(tarn_replica *r);

/* ---- sharding ------------------------------------------------------------------------------- */

/** How a tensor is cut: for each dimension the axis of the mesh along which it is cut into equal blocks, NULL where
 *  it is whole, or several axes in the order of the mesh ("data,model"), the first making the larger blocks. */
typedef struct tarn_spec {
    int rank;
    const char *axes[TARN_MAX_RANK];
} tarn_spec;

/** TARN_SPEC("model", NULL): rows are cut along "model", columns are whole. */
#define TARN_SPEC(...) \
    ((tarn_spec){ .rank = (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(const char *)), \
                  .axes = { __VA_ARGS__ } })

/** In a launch with a mesh every replica records the program of the whole launch, with the shapes of one device;
 *  marks say how it is shared out, and what is to be exchanged for that follows. The result is
 *  that of one device, but for the order of sums over what is cut. On one device marks are checked and change nothing.
 *
 *  Returns the tensor to use: of a parameter or buffer the same, whose storage is moved, so that each rank keeps its
 *  part only (before an optimizer takes it, and before the step uses it); of any other value a new one, that and
 *  whose gradient are cut so, while the old one stays as it was. All replicas must set equal marks. Refused are a
 *  mesh that is not the launch's, a spec of another length, an axis that the mesh has not or that stands twice, and a
 *  dimension that does not divide. */
TARN_API tarn_tensor tarn_mark_sharding(tarn_tensor x, tarn_mesh mesh, tarn_spec spec);
/** Brings a parameter or buffer together again, whole on every rank. Every replica must call it. */
TARN_API void tarn_clear_sharding(tarn_tensor x);
/** Cuts an optimizer's state along further axes, each tensor in the first of its dimensions that divides, and its
 *  update with it: parameters stay as they are (ZeRO-1). Between two steps. */
TARN_API void tarn_mark_state_sharding(tarn_replica *r, tarn_optimizer *o, tarn_mesh mesh,
                                       const char *axes);

/* ---- collectives: operations like others, computed at the step mark ------------------------- */

/** Collectives that replicas ask for in another order may well be of equal form. So these are
 *  compared: kind, reduction, element type, shape, root, training step; which operations and which
 *  parameters and buffers each operand was computed from; and the order in which the operands of the
 *  step's collectives were recorded, for operands that are not constants. Values, constants, slices
 *  and sizes of parts may differ. Operands that only the order tells apart (two of tarn_from, say)
 *  are found out at the second of the collectives that changed places.
 *
 *  Where replicas compute their operands by different operations, or from different parameters, on
 *  purpose, give the collectives a name: that of all that are recorded from here on, until another,
 *  or NULL. Then the names are compared in place of what the operands are, in gradients too. */
TARN_API void tarn_collective_name(tarn_replica *r, const char *name);

/* Their gradients are those of the sum of all replicas' losses, and collectives, too: every
 * replica must ask for the same. Where a maximum or minimum is on several replicas, they share
 * its gradient. */

typedef enum tarn_reduction { TARN_SUM, TARN_MEAN, TARN_MAX, TARN_MIN } tarn_reduction;

/** The element-wise sum (mean, ...) over all replicas, of floats or of int32 and int64 (no mean). Sums are added
 *  in the order of one fixed binary tree over the ranks: every replica gets the same bits. */
TARN_API tarn_tensor tarn_all_reduce(tarn_tensor x, tarn_reduction reduction);
/** The same, but replica i gets only part i of axis 0, whose length the world size must divide. */
TARN_API tarn_tensor tarn_reduce_scatter(tarn_tensor x, tarn_reduction reduction);
/** All replicas' x joined along axis 0 in rank order. */
TARN_API tarn_tensor tarn_all_gather(tarn_tensor x);
/** Replica `root`'s x. */
TARN_API tarn_tensor tarn_broadcast(tarn_tensor x, int root);
/** Part j of axis 0 goes to replica j; the parts received are joined in rank order. */
TARN_API tarn_tensor tarn_all_to_all(tarn_tensor x);

/* ---- collectives over groups ----
 *
 * Of the ranks that lie along some axes of a mesh, in rank order: over "model" of a mesh (data 2, model 2) ranks
 * 0 and 1 are a group, and 2 and 3; over "data" 0 and 2, and 1 and 3. A replica's number in its group, its place,
 * is tarn_mesh_coordinate(). All groups do theirs at the same time: every replica of the launch records the same
 * collectives over the same axes in the same order, and within a group of operands of equal shape and
 * computation (tarn_collective_name), while groups may differ in these. Sums follow the tree of tarn_all_reduce() over
 * the group's ranks, on one machine as on several. Gradients are those of the sum of all replicas' losses. */

/** The element-wise sum (mean, ...) over the group. */
TARN_API tarn_tensor tarn_all_reduce_over(tarn_tensor x, tarn_reduction reduction, tarn_mesh mesh,
                                          const char *axes);
/** The same, but each place gets only its part of dimension `dim` (-1: the last), whose length the number of
 *  places must divide. */
TARN_API tarn_tensor tarn_reduce_scatter_over(tarn_tensor x, tarn_reduction reduction, int dim,
                                              tarn_mesh mesh, const char *axes);
/** The group's x joined along dimension `dim` in the order of places. */
TARN_API tarn_tensor tarn_all_gather_over(tarn_tensor x, int dim, tarn_mesh mesh, const char *axes);
/** x of the place `root`. */
TARN_API tarn_tensor tarn_broadcast_over(tarn_tensor x, int root, tarn_mesh mesh, const char *axes);
/** Part i of dimension `split` goes to place i; the parts received are joined along dimension `join` in the order
 *  of places. */
TARN_API tarn_tensor tarn_all_to_all_over(tarn_tensor x, int split, int join, tarn_mesh mesh,
                                          const char *axes);
/** Place i gets what place i - by has. Where that is outside of the group there are zeros, or with `round` the
 *  last place is beside the first. Places may have computed x in different ways.
 *  The gradient goes back: every place must take gradients of something that x depends on, and its loss depend on
 *  the result, be it by tarn_sum() of zeros. */
TARN_API tarn_tensor tarn_shift_over(tarn_tensor x, int by, bool round, tarn_mesh mesh,
                                     const char *axes);
/** Place `to` gets what place `from` has; all others, and `from` unless it is `to`, get zeros. Every replica
 *  records it, those that neither send nor receive with anything of that shape. Gradients as
 *  of tarn_shift_over(). */
TARN_API tarn_tensor tarn_send_over(tarn_tensor x, int from, int to, tarn_mesh mesh,
                                    const char *axes);

/* ---- weights -------------------------------------------------------------------------------- */

/** Compares parameters, buffers and optimizer state of all replicas now, bit for bit, but for float
 *  buffers that training steps without an exchange of gradients have changed: the next makes them the
 *  mean over the replicas. The error names tensor, index, ranks and both values. Collective. Waits. */
TARN_API TARN_MUST_USE tarn_status tarn_check_weights(tarn_replica *r);

#ifdef __cplusplus
}
#endif

#endif
