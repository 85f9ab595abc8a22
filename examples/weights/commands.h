/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of tarn-weights share. A command is a function, a file and a row in main.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "parse.h" /* EXIT_USAGE */

enum exit_code {
    EXIT_EQUAL = 0,
    EXIT_DIFFERENT = 1,
    EXIT_UNREADABLE = 3, /* or the output cannot be written */
    EXIT_DEVICE = 4,
    EXIT_NOT_FOUND = 5, /* weights differ, and the library did not say so */
    EXIT_REPLICA = 6    /* a device failed in the middle, or did not come back */
};

/* argv[0] is "tarn-weights COMMAND", for messages. Returns the exit code. */
int compare_main(int argc, char **argv);
int check_main(int argc, char **argv);
int watch_main(int argc, char **argv);
int inject_main(int argc, char **argv);

#endif
