/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain test program counts: checks of the backend that did not hold. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdio.h>

#include "backend.h"

static int failures;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, error_text()); \
            ++failures; \
        } \
    } while (0)

#endif
