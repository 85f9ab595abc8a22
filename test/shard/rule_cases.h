/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of every op, for the test of its rules. */
#ifndef TARN_TEST_RULE_CASES_H
#define TARN_TEST_RULE_CASES_H

#include "shard/ways.h"

enum data { NUMBERS, INDICES }; /* from -1 to the number of rows; of sums by index: of a row */
struct rule_case {
    struct form form;
    tarn_dtype in_dtype[3];
    enum data in_data[3];
    int32_t rows; /* of indices */
    bool clamped; /* they are within */
};
#define RULE_CASES_MOST 160
/* All of them, and for which op there is none: such must be an op that no rule is asked for. */
int rule_cases(struct rule_case *out);
bool rule_is_asked(const struct op *op);

#endif
