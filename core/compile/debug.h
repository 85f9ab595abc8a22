/* SPDX-License-Identifier: Apache-2.0 */
/* What TARN_DEBUG prints of a compilation. */
#ifndef TARN_DEBUG_H
#define TARN_DEBUG_H

#include "compile/nest.h"

/* One line on what a kernel computes: the names of its nests. */
void debug_name_kernel(const struct program_ir *p, int kernel, char *out, size_t capacity);
/* graph: the simplified graph, and which of its nodes are stored. */
void debug_graph(const struct module *m);
/* fuse: nests by kernel; plan: values and memory. */
void debug_plan(const struct program_ir *p);
/* plan: a line for each new plan; in the steady state there should be none. `seconds`: all so far.
 */
void debug_compiled(const tarn_replica *r, uint64_t key, double seconds);

#endif
