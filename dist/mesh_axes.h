/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says of a mesh, checked and made a struct mesh; and the axes that it names. */
#ifndef TARN_MESH_AXES_H
#define TARN_MESH_AXES_H

#include "tarn_dist.h"
#include "tensor/replica.h"

/* TARN_ERR_ARGUMENT when it is no mesh of `world` ranks. */
TARN_CHECKED tarn_status mesh_make(tarn_mesh mesh, int world, struct mesh *out);
/* The bits of the axes that a text names, "data" or "data,model"; NULL: all. TARN_ERR_ARGUMENT when the mesh has
 * not such axes, or they are not in its order. `what` begins the line. */
TARN_CHECKED tarn_status mesh_axes(const struct mesh *m, const char *axes, const char *what,
                                   uint32_t *out);
/* "(data 2, model 2)"; the text is the thread's until the next call. */
const char *mesh_text(const struct mesh *m);

#endif
