/* SPDX-License-Identifier: Apache-2.0 */
/* For Criterion's tests: a replica on the first device, and whole tensors read, or the test ends. */
#ifndef TARN_TEST_FIRST_H
#define TARN_TEST_FIRST_H

#include <criterion/criterion.h>

#include "tarn.h"

static inline tarn_replica *open_first(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static inline void read_all(tarn_tensor t, void *out, size_t bytes)
{
    cr_assert_eq(tarn_read(t, out, bytes), TARN_OK, "%s", tarn_error(t.replica));
}

#endif
