/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of GPT-2 as Hugging Face's transformers has them: a safetensors file with wte.weight, wpe.weight,
 * h.N.attn.c_attn.weight and so on, with "transformer." in front or not, and config.json beside it. */
#ifndef GPT_2_H
#define GPT_2_H

#include <stddef.h>

#include "gpt_model.h"

/* Reads from a file how large its model is; `heads` is 0 where config.json is to say it. False with one line
 * that names the file. */
bool gpt_2_shape(const char *path, int heads, struct gpt_shape *out, char *problem,
                 size_t capacity);

/* Loads it into the model that gpt_make() made of that shape, and prints what of it was left. */
tarn_status gpt_2_load(tarn_replica *r, const char *path);

#endif
