/* SPDX-License-Identifier: Apache-2.0 */
/* The target that a device is. */
#ifndef TARN_DEVICE_TARGET_H
#define TARN_DEVICE_TARGET_H

#include "backend.h"
#include "compile/target.h"

/* By the device's kind and figures, and by TARN_TARGET, TARN_SCHEDULE, TARN_FUSE and, unless `winograd` of
 * tarn_open_options says it, TARN_WINOGRAD. It has no choices of products yet (tune_products.h).
 * `wide`: for a program with values of 64 bits. It gets the schedule of work-items on any device: there every value has
 * a register of its own, while vectors have one width for masks, indices and all types. */
TARN_CHECKED tarn_status device_target(const struct device *d, int winograd, bool wide,
                                       struct target *out);

#endif
