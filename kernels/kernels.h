/* SPDX-License-Identifier: Apache-2.0 */
/* The text of each .cl file here, ending in a zero byte that its size leaves out. */
#ifndef TARN_KERNELS_H
#define TARN_KERNELS_H

#include <stddef.h>

extern const unsigned char kernel_text_declared[];
extern const size_t kernel_text_declared_size;
extern const unsigned char kernel_text_prelude[];
extern const size_t kernel_text_prelude_size;
extern const unsigned char kernel_text_random[];
extern const size_t kernel_text_random_size;
extern const unsigned char kernel_text_routines[];
extern const size_t kernel_text_routines_size;
extern const unsigned char kernel_text_attention[];
extern const size_t kernel_text_attention_size;
extern const unsigned char kernel_text_sorting[];
extern const size_t kernel_text_sorting_size;
extern const unsigned char kernel_text_routines_long[];
extern const size_t kernel_text_routines_long_size;
extern const unsigned char kernel_text_routines_double[];
extern const size_t kernel_text_routines_double_size;
extern const unsigned char kernel_text_half[];
extern const size_t kernel_text_half_size;
extern const unsigned char kernel_text_math[];
extern const size_t kernel_text_math_size;
extern const unsigned char kernel_text_long[];
extern const size_t kernel_text_long_size;
extern const unsigned char kernel_text_double[];
extern const size_t kernel_text_double_size;
extern const unsigned char kernel_text_gemm[];
extern const size_t kernel_text_gemm_size;

#endif
