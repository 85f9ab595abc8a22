/* SPDX-License-Identifier: Apache-2.0 */
/* Times one kernel of a plan at a time. */
#ifndef PROFILE_H
#define PROFILE_H

#include "run/plan.h"

/* Where clock and device stood before the kernel. */
struct profiling {
    double clock, busy;
};

/* Whether the user asked, or TARN_DEBUG=time. */
bool profile_wanted(const tarn_replica *r);
/* Around the launch of a kernel that does its work so many times; both wait. */
TARN_CHECKED tarn_status profile_begin(tarn_replica *r, struct profiling *out);
TARN_CHECKED tarn_status profile_end(tarn_replica *r, const struct profiling *begin,
                                     const struct plan_kernel *k, uint32_t times);

#endif
