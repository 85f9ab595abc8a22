/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a device, measured. */
#ifndef TARGET_MEASURE_H
#define TARGET_MEASURE_H

#include "bench.h"

/* Replaces in *f, the defaults, what kernels can tell. Takes half a minute. */
tarn_status figures_measure(const struct device *d, struct device_figures *f);

#endif
