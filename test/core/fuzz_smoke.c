/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs from the command line: fuzz_smoke [count [first seed]]. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

int main(int argc, char **argv)
{
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 300;
    const unsigned long long first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    tarn_replica *fused = tarn_open(NULL), *plain = tarn_open(NULL);
    long failed = 0;
    if (fused == NULL || plain == NULL || count < 1) {
        fprintf(stderr, "fuzz_smoke: %s\n", count < 1 ? "nothing to do" : tarn_error(NULL));
        return EXIT_FAILURE;
    }
    for (long i = 0; i < count; i++) {
        char message[512] = "";
        if (fuzz_graph(fused, plain, first + (unsigned long long)i, message, sizeof(message)))
            continue;
        fprintf(stderr, "fuzz_smoke: %s\n", message);
        failed++;
    }
    printf("%ld graphs from seed %llu, %ld failed\n", count, first, failed);
    tarn_close(plain);
    tarn_close(fused);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
