/* SPDX-License-Identifier: Apache-2.0 */
/* What every way of loading a file into a replica does before and after. */
#ifndef TARN_CHECKPOINT_H
#define TARN_CHECKPOINT_H

#include "file/weight_file.h"
#include "tensor/replica.h"

/* Reads a file; on several machines that of the first replica is that of all. */
TARN_CHECKED tarn_status checkpoint_read(tarn_replica *r, const char *path,
                                         struct tarn_weight_file *file);
/* Refuses a replica of which a step that has not ended assigns something. */
TARN_CHECKED tarn_status checkpoint_check(const tarn_replica *r);
/* To be called when owned tensors have the values of a file, with `state` also those of optimizers. */
TARN_CHECKED tarn_status checkpoint_loaded(tarn_replica *r, bool state);

#endif
