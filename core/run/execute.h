/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan. */
#ifndef TARN_EXECUTE_H
#define TARN_EXECUTE_H

#include "run/plan.h"
#include "tensor/replica.h"

/* What a plan works on, by the slots of its parameters. */
struct binding {
    struct context *context;
    struct buffer *arena;
    const struct graph_input *inputs;
    const struct owned *owned;
    const uint32_t *owned_slots; /* a plan has numbers of owned tensors, by their order of use */
    struct buffer **outputs;
    struct replay *replay; /* through which launches go; NULL: each is made at once */
    const float *numbers;
    uint64_t key;                   /* of random numbers */
    uint32_t coordinate[MESH_AXES]; /* of the rank along each axis of its mesh */
    uint32_t step, steps;           /* of a loop: the first of a launch, and how many that does; */
    uint32_t serials,
        more_serials; /* how many random tensors were drawn in those before, and in each */
};

/* Enqueues one kernel of a plan, and the products beside it. */
TARN_CHECKED tarn_status execute_kernel(const struct plan *plan, const struct plan_kernel *k,
                                        const struct binding *b);
/* Enqueues a replica's plan from kernel `first` on, running calls of the host between; the arena must be large
 * enough. Kernels are timed, which waits, where somebody asked for profiles. */
TARN_CHECKED tarn_status execute_plan(tarn_replica *r, const struct plan *plan,
                                      const struct binding *b, int first);
/* Enqueues the plan of a loop's body for each step; each draws so many random tensors. */
TARN_CHECKED tarn_status execute_loop(tarn_replica *r, const struct plan *plan, struct binding *b,
                                      uint32_t serials, bool reversed);
/* The providers by target_provider()'s numbers; number 0, a nest, is NULL. */
extern const struct gemm_provider *const execute_providers[];
enum { PROVIDERS = 5 };

#endif
