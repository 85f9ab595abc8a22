/* SPDX-License-Identifier: Apache-2.0 */
/* A compilation as text, for people. */
#ifndef TARN_DEBUG_H
#define TARN_DEBUG_H

#include "compile/nest.h"
#include "compile/text.h"

/* The simplified graph, and which of its nodes are stored. */
void debug_graph(const struct module *m, struct text *out);
/* Nests by kernel. */
void debug_nests(const struct program_ir *p, struct text *out);
/* What the GPU's schedule asks of a GPU, nest by nest; nothing for vectors. */
void debug_items(const struct program_ir *p, struct text *out);
/* Values and memory. */
void debug_values(const struct program_ir *p, struct text *out);

#endif
