/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler knows of a device and of the driver behind it: every number that a cost model
 * or a threshold takes. None of them changes the order of a sum (tensor/sum_order.h); Winograd's
 * and the providers of products change last digits, and are the same on all replicas of a launch. */
#ifndef TARN_TARGET_H
#define TARN_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct device_figures; /* figures.h */

/* Which convolutions become Winograd's. */
enum winograd_use {
    WINOGRAD_NEVER,
    WINOGRAD_WHERE_FASTER,
    WINOGRAD_ALWAYS /* where the algorithm applies */
};

/* A matrix product that need not be a nest: c = op(a) op(b), `batch` times. */
struct product_shape {
    size_t m, n, k, batch;
    bool transpose_a, transpose_b;
    bool sums_batch; /* k is the batch */
    size_t
        sample_rows; /* of the result so many are of one sample, which nests around go on with; 0: no chain of such */
};

/* Multiply-adds. */
static inline double product_work(const struct product_shape *s)
{
    return (double)s->m * (double)s->n * (double)s->k * (double)s->batch;
}

/* Who computes the products of a shape: 0 a nest, else the number of another provider. */
struct product_choice {
    struct product_shape shape;
    int provider;
};

/* Which of its tiles a sum takes (4_schedule/tile.c): 0 what the compiler would take, 1 what the model
 * thinks is the next best, and so on. */
struct tile_choice {
    uint64_t sum; /* schedule.sum */
    int number;
};
#define TARGET_TILES 4 /* so many of a sum are worth a try */

/* Limits of what is written as one expression, in weights: 1 for a map that is an instruction or
 * two. */
struct expression_limits {
    int heavy_map;  /* the weight of a map that calls a function, or divides */
    int gather;     /* the weight of a load through an index */
    int recomputed; /* a map with several readers is computed anew in each up to this weight, */
    int recomputed_later; /* and up to this one rather than kept from an early reader to a late one */
    int most_weight;      /* of one expression, */
    int most_height; /* and nodes below each other, so that the driver's compiler takes no time */
};

/* When nests share a kernel. Work is in cycles of a core. */
struct fusion_limits {
    double tiny_work;       /* what one group does sooner than another kernel is launched */
    double alone_work;      /* the same of one element, which no more groups can share */
    double cut_work;        /* a launch alone, where one unit goes on */
    double replicated_work; /* the same of what every group does for itself */
    int access_cycles;      /* of a register that is loaded from the second cache, or stored */
    int kernel_weight;      /* of a kernel's expressions from which on it takes no more nests */
    double matrix_bytes;    /* of what all blocks of samples read, from which on likewise */
    int routine_weight;     /* what a routine weighs there: its code is long */
    int loops_weight;       /* of a nest besides its expressions, where there are many nests */
    int crowd;              /* nests of a plan from which on the driver's time counts */
    int small_copy;         /* elements below which a crowd's copies have no code of their own */
};

/* A core with vector registers. */
struct vector_figures {
    int units;
    int registers;            /* vector registers */
    int width;                /* of them that 16 lanes take */
    int accumulators;         /* of 16 lanes that one tile may have */
    int points;               /* unrolled points of a body, so that code stays small */
    int guarded_points;       /* the same where guards decide the tile */
    int guarded_extent;       /* an axis up to this length is unrolled whole for its guards */
    int unrolled_sum;         /* an innermost summed axis up to this length is unrolled */
    int tile_axes;            /* OUT axes in a tile */
    int small_body;           /* expressions of a sum that is worth repeating in a tile */
    double latency;           /* multiply-adds of 16 lanes under way that hide that of one */
    double cycles_per_term;   /* of a multiply-add of 16 lanes */
    double port_cycles;       /* of a load of a register beside it, */
    double spare_load;        /* and so much of them where the port is free */
    double spill_loads;       /* loads that a register costs which is not there */
    double loop_cycles;       /* of a loop's end */
    double point_cycles;      /* of a point more in the body: its code is fetched */
    double cache_bytes;       /* of a first cache that a tile may fill */
    double line_cycles;       /* for 64 bytes from the second cache, where arithmetic hides some, */
    double whole_line_cycles; /* and where none does */
    double second_cache_bytes; /* likewise, of the second */
    double second_line_cycles; /* for 64 bytes from behind it */
    int sets,
        second_sets; /* of lines of 64 bytes in these caches: those so many apart share places, */
    int ways;        /* of which the first has so many */
    double
        pushed_cycles; /* for a line that others pushed out of the first cache between two uses */
    /* Loads for each lane of a register whose lanes lie apart, at even distances or anywhere, and more if these are multiples of
     * all sets of the first cache; and for all lanes that are every other element, or turned over in squares. */
    double apart_loads, anywhere_loads, crowded_loads, every_other_loads, turned_loads;
    double code_cycles; /* an expression more in a body: stands for a ms of compile time */
    double group_work;  /* cycles worth a group of their own */
    int unrolled_edge;  /* steps of a guarded transform that are unrolled */
};

/* Compute units with work-items. */
struct item_figures {
    int units;
    int group_items;  /* work-items of a group */
    int accumulators; /* of a work-item, */
    int running_sums; /* and with the sums of chunks that are done, or where these are in memory */
    int unrolled_sum; /* as above */
    int points;       /* as above */
    int loads_under_way;   /* of a work-item, that a round of a sum asks for at once */
    int teams_per_unit;    /* teams of 16 items that hide the latency of memory on one unit */
    int resident_teams;    /* teams that one unit can have at all */
    double round_cycles;   /* of a round of a loop, all of whose loads are under way */
    double request_cycles; /* of a unit, for what 32 work-items load at once */
    double barrier_cycles; /* of a group */
    int lane_sum_points;   /* accumulators of a team that adds up its lanes once */
    int lane_sum_terms;    /* of one lane, above which a sum is split among teams */
    size_t panel_bytes; /* of local memory for operands; 0: where that is no nearer than the rest */
    double waste;       /* idle teams that a uniform tile index is worth: all to busy */
};

/* When a large matrix product is not a nest. Work is in multiply-adds. */
struct product_limits {
    double own_launch; /* from which a launch of its own can pay */
    double
        blocks_work; /* from which the kernel of blocks (kernels/gemm.cl) may be faster than a nest, */
    int blocks_side;  /* with each side as long as this: below, a nest's sums have another order */
    double sums_work; /* the same where the sum goes over the batch: from which it is faster, */
    int sums_rows;    /* with so many rows */
    int sums_columns; /* and columns of the result */
    double likely_work; /* from which it is, when nobody measures, */
    int likely_depth;   /* with sums of so many terms, */
    int likely_columns; /* and so many columns of the result; */
    int likely_transposed; /* so many, whatever the work, where b is transposed: nests read that badly */
    int turned_rows; /* of a nest, from which on a transposed b is turned over once before it */
    bool library;    /* whether a library is tried */
    unsigned half_readers; /* a bit for each provider that reads operands of half types */
};

/* What turns cycles into seconds. */
struct time_figures {
    double cycles_per_second;
    double launch_seconds; /* a kernel more */
    double
        read_cycles; /* of a unit for 64 bytes that it reads from behind its caches while all do, */
    double write_cycles; /* and for 64 that it writes there */
    double term_rate;    /* work-items: multiply-adds that a unit begins in a cycle */
};

/* Whether a batch's samples are the lanes of blocks. */
enum samples_place {
    SAMPLES_BY_RULE, /* by the length of the batch and what is computed (1_graph/batch.c) */
    SAMPLES_BLOCKS,
    SAMPLES_ALONE,
    SAMPLES_FRAMES /* blocks of images, of which each sample has several */
};

struct target {
    bool items;         /* a lane is a work-item, not an element of a vector */
    bool fuse;          /* else each node is a kernel of its own */
    size_t local_bytes; /* local memory of a group */
    enum winograd_use winograd;
    int winograd_channels; /* fewest on either side where WINOGRAD_WHERE_FASTER */
    struct product_limits product;
    struct expression_limits expression;
    struct fusion_limits fusion;
    struct vector_figures vector;
    struct item_figures item;
    struct time_figures time;
    enum samples_place samples;     /* of the program at hand, by compile_place_samples() */
    struct product_choice *choices; /* a product that is not among them is a nest */
    int choice_count;
    struct tile_choice *tiles;
    int tile_count;
    int tile_number; /* of a sum that is not among them */
};

/* What follows from a device's figures; fuse and winograd are the caller's to change. */
struct target target_of(const struct device_figures *f);

/* The CPU for which it is decided, for all devices alike, where samples lie. It has two units: with more, blocks of few
 * samples are too few for them, so what is better off without blocks here is so there, too. */
struct target target_common(void);

/* What the compiler has room for: larger figures are refused. */
#define TARGET_MOST_ACCUMULATORS 64 /* of a tile; also an unrolled axis or summed axis */
#define TARGET_MOST_POINTS 512      /* of an unrolled body */
#define TARGET_MOST_ITEMS 1024      /* of a group */

/* Whether the compiler can work with these figures; else TARN_ERR_ARGUMENT, and the line of
 * error_text() says which of them is out of range. */
TARN_CHECKED tarn_status target_check(const struct target *t);

/* What was chosen for a product; NULL: nothing. */
const struct product_choice *target_choice(const struct target *t,
                                           const struct product_shape *shape);
/* The provider of a product. */
int target_provider(const struct target *t, const struct product_shape *shape);
/* A factor that rows of a product share is copied for all of them (4_schedule/packing.c) where its sum has no more steps, and a
 * copy has at most so many registers of 16 lanes: 64 KiB are private then, which drivers keep on a thread's stack; */
#define TARGET_PACKED_STEPS 512
#define TARGET_PACKED_ROOM 1024
/* and where so many tiles read it at least: below, copying it takes longer than what it saves. */
#define TARGET_PACKED_TILES 3
/* Whether a sum of so many steps has rows enough for that, whatever their tile becomes. */
bool target_packs(const struct vector_figures *v, int64_t steps, int64_t rows);
/* Cycles of the unit with most of so many groups to copy a product's right operand for each, beyond its share of one copy for
 * all (product_cost.c). */
double product_copies(const struct target *t, int64_t steps, int64_t columns, int groups);
/* Whether a product of samples' rows is sooner done by a nest in a chain than by a launch of its own (product_cost.c). */
bool product_joins_chain(const struct target *t, const struct product_shape *s);
/* Whether a product whose rows are the lanes of blocks is sooner done in panels, between two copies (product_cost.c).
 * `in_rows`: its left operand does not lie in blocks as yet. */
bool product_leaves_blocks(const struct target *t, const struct product_shape *s, bool in_rows);
/* Cycles of all units together for a product in panels (product_cost.c). */
double product_cycles(const struct target *t, const struct product_shape *s);
/* Registers of 16 lanes in a row of a routine's tile, and rows of one: as many accumulators as there is room for. */
int target_routine_vectors(const struct target *t);
int target_routine_rows(const struct target *t);
/* The number of the tile of a sum. */
int target_tile(const struct target *t, uint64_t sum);

#endif
