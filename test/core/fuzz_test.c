/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs, in the suite: a fixed range of seeds. fuzz_smoke.c takes any range. */
#include <criterion/criterion.h>

#include "fuzz.h"

#ifndef FUZZ_GRAPHS
#define FUZZ_GRAPHS 120
#endif

static void check_range(unsigned long long first, int count)
{
    tarn_replica *fused = tarn_open(NULL), *plain = tarn_open(NULL);
    cr_assert(fused != NULL && plain != NULL, "%s", tarn_error(NULL));
    for (int i = 0; i < count; i++) {
        char message[512] = "";
        cr_expect(fuzz_graph(fused, plain, first + (unsigned long long)i, message, sizeof(message)),
                  "%s", message);
    }
    tarn_close(plain);
    tarn_close(fused);
}

Test(fuzz, first_half, .timeout = 600)
{
    check_range(1, FUZZ_GRAPHS / 2);
}

Test(fuzz, second_half, .timeout = 600)
{
    check_range(1000001, FUZZ_GRAPHS / 2);
}
