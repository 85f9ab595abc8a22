/* SPDX-License-Identifier: Apache-2.0 */
/* From nests to kernels. */
#ifndef TARN_FUSE_H
#define TARN_FUSE_H

#include "compile/nest.h"

/* Nests to kernels: sets kernel and section. */
tarn_status fuse(struct program_ir *p);

#endif
