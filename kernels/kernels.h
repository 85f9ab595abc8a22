/* SPDX-License-Identifier: Apache-2.0 */
/* The text of each .cl file here, ending in a zero byte. */
#ifndef TARN_KERNELS_H
#define TARN_KERNELS_H

extern const unsigned char kernel_text_prelude[];
extern const unsigned char kernel_text_random[];

#endif
