/* SPDX-License-Identifier: Apache-2.0 */
/** Where the time of a step goes: each kernel as it runs, and what it cost at least. */
#ifndef TARN_PROFILE_H
#define TARN_PROFILE_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One run of one kernel. The texts end with the call. */
typedef struct tarn_kernel_run {
    const char *name;  /* "k3": its number in the plan; with "product" a library multiplies */
    const char *about; /* operations at the core of its loops: "input conv2d" */
    double seconds;    /* on the device, by its clock */
    double flops; /* operations of its arithmetic, a multiply-add as two; of a convolution those
                          that meet an element and not the padding */
    double bytes; /* that it must move at least: what others wrote once in, what others read
                          once out. What it leaves to itself is not counted */
} tarn_kernel_run;

/** Must not use the replica. */
typedef void (*tarn_profile_fn)(const tarn_kernel_run *run, void *user);

/** From now on calls `each` after every kernel, in the order in which they run, until it is called
 *  with NULL. The device is waited for after each, so steps as a whole are slower; the first run of
 *  a plan may contain compilation. TARN_DEBUG=time prints the same. */
TARN_API tarn_status tarn_profile(tarn_replica *r, tarn_profile_fn each, void *user);

#ifdef __cplusplus
}
#endif

#endif
