/* SPDX-License-Identifier: Apache-2.0 */
/* Where temporaries lie. */
#ifndef TARN_MEMORY_PASSES_H
#define TARN_MEMORY_PASSES_H

#include "compile/nest.h"

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
