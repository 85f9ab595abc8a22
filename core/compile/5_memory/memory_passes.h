/* SPDX-License-Identifier: Apache-2.0 */
/* Where temporaries lie. */
#ifndef TARN_MEMORY_PASSES_H
#define TARN_MEMORY_PASSES_H

#include "compile/nest.h"

/* The nests of a kernel, by index, between which a value must be kept; first -1: none yet; -2: it is not so. */
struct range {
    int kernel, first, last;
};
/* Values that lie beside each other in memory of their kernel's own, by kernel: value + 1, 0 ends a list. */
struct placed {
    int *first, *next;
};
#define PLACED_ALIGNMENT 64u /* a vector of 16 floats */
/* Where the next may begin behind one of them. */
static inline size_t placed_end(const struct value *v)
{
    return (v->offset + v->bytes + PLACED_ALIGNMENT - 1) / PLACED_ALIGNMENT * PLACED_ALIGNMENT;
}
/* First fit for so many bytes of a value among those that lie there already (scratch.c). */
size_t first_fit(const struct program_ir *p, const struct range *ranges,
                 const struct placed *placed, int value, size_t bytes);
static inline void placed_add(const struct placed *placed, const struct range *ranges, int value)
{
    placed->next[value] = placed->first[ranges[value].kernel];
    placed->first[ranges[value].kernel] = value + 1;
}

/* Moves values that live inside a kernel's batch loop to local memory, of which there are so many
 * bytes. */
void use_scratch(struct program_ir *p, size_t most_bytes);
/* The same in the arena for what local memory has no room for, where kernels have more groups than there
 * are units: then as many groups as units, workers, do theirs one after the other. */
void use_workers(struct program_ir *p);
/* The same for values that lie row by row, where a chain of nests has them for itself (rooms.c); adds values. */
void use_row_workers(struct program_ir *p);
/* Room for what each part of a group makes for itself and is not in local memory. */
void copy_for_parts(struct program_ir *p);
/* Memory of each group's own for routines that want some. */
void room_for_routines(struct program_ir *p);
/* For each value 1 + the one that it is written over, or 0 (in_place.c); NULL without memory. */
int *list_taken_over(const struct program_ir *p);
/* Offsets of arena values. */
void memplan(struct program_ir *p);
/* Slots of what host calls read and write; returns for each value the first kernel that reads it, the number of kernels
 * where none does; NULL without memory (call_memory.c). */
int *share_call_memory(struct program_ir *p);
/* Makes constants of indices a part of the offset; adds values (windows.c). */
void open_windows(struct program_ir *p);

#endif
