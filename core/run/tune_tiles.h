/* SPDX-License-Identifier: Apache-2.0 */
/* Register tiles by measuring. */
#ifndef TARN_TUNE_TILES_H
#define TARN_TUNE_TILES_H

#include "run/execute.h"

/* Sets target->tiles for the heaviest sums of a program, as remembered, or measured where TARN_TUNE
 * allows it; *compiled, which was made of the same program and target, is then made anew with them.
 * Not for the body of a loop. tune_free() is to be called even after a failure. */
TARN_CHECKED tarn_status tune_tiles(tarn_replica *r, const struct program *program,
                                    struct target *target, struct kernel_plan *compiled);

#endif
