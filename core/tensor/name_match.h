/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that choose tensors by their names. */
#ifndef TARN_NAME_MATCH_H
#define TARN_NAME_MATCH_H

#include <stdbool.h>

/* Whether a name is one that a pattern means: "encoder.*", "*.bias,*norm*". A * stands for any text,
 * and a comma is between several patterns. NULL means all names. */
bool name_matches(const char *pattern, const char *name);

#endif
