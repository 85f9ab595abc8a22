/* SPDX-License-Identifier: Apache-2.0 */
/* Which ops are linear, so that what is pending in their operands may be combined after them. */
#ifndef TARN_PASSING_H
#define TARN_PASSING_H

#include "shard/ways.h"

struct passing {
    int8_t pending;    /* STATE_SUM, STATE_MAX, STATE_MIN: of these operands and the result; */
    uint64_t operands; /* the others are whole */
};
#define PASSINGS_MOST 4
int passing_list(const struct form *f, struct passing out[PASSINGS_MOST]);

#endif
