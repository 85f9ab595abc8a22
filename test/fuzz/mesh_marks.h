/* SPDX-License-Identifier: Apache-2.0 */
/* Random marks on what a program makes, in a launch with a mesh. */
#ifndef TARN_FUZZ_MESH_MARKS_H
#define TARN_FUZZ_MESH_MARKS_H

#include "program.h"
#include "tarn_dist.h"

enum { MESH_MOST = 8 }; /* ranks */

/* The mesh of a program that has one. */
tarn_mesh marks_mesh(const struct program *p);
int marks_ranks(const struct program *p);
/* Line i has made `made`: what is to be used for it from now on. */
tarn_tensor marks_value(const struct program *p, int i, tarn_tensor made);
/* Line i has made a layer, or an optimizer. */
void marks_layer(tarn_replica *r, const struct program *p, int i);
void marks_states(tarn_replica *r, const struct program *p, int i, tarn_optimizer *o);

#endif
