/* SPDX-License-Identifier: Apache-2.0 */
/* For Criterion's tests: a call whose error is looked for among those of replica `r`, and taken away. */
#ifndef TARN_TEST_REFUSES_H
#define TARN_TEST_REFUSES_H

#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"

#define REFUSES(text, ...) \
    do { \
        (void)(__VA_ARGS__); \
        cr_expect(strstr(tarn_error(r), text) != NULL, "%s", tarn_error(r)); \
        tarn_error_clear(r); \
    } while (0)

#endif
