/* SPDX-License-Identifier: Apache-2.0 */
/* What the example programs end with. */
#ifndef EXITS_H
#define EXITS_H

#include <tarn_dist.h>

#include "parse.h" /* EXIT_USAGE */

enum exit_code {
    EXIT_OK = 0,
    EXIT_TARGET = 1, /* a target missed, or weights that differ between devices */
    EXIT_FILE = 3,
    EXIT_DEVICE = 4,
    EXIT_IO = 5,
    EXIT_REPLICA = 6, /* a device failed in the middle, or did not come back; NaN or infinity */
    EXIT_AGAIN = 75   /* several machines: one was late or lost */
};

static inline int exit_code_of(tarn_status s)
{
    if (s == TARN_OK)
        return EXIT_OK;
    /* For the loop around mpirun: start again from the checkpoint. */
    if (tarn_node_count() > 1 && tarn_exit_code(s) == EXIT_AGAIN)
        return EXIT_AGAIN;
    if (s == TARN_ERR_IO)
        return EXIT_IO;
    if (s == TARN_ERR_WEIGHTS)
        return EXIT_TARGET;
    if (s == TARN_ERR_NOT_FINITE)
        return EXIT_REPLICA;
    return s >= 500 && s < 600   ? EXIT_REPLICA
           : s >= 400 && s < 500 ? EXIT_FILE
           : s >= 200 && s < 300 ? EXIT_USAGE
                                 : EXIT_DEVICE;
}

#endif
