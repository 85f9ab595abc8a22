/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in options of the example programs. What is none ends the program with a line of usage. */
#ifndef PARSE_H
#define PARSE_H

#include <argp.h>

enum { EXIT_USAGE = 2 };

/* For ARGP_KEY_INIT: a wrong command line is told in one line. */
void usage_init(struct argp_state *state);
/* Ends the program with that line, and status 2. */
_Noreturn void usage_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A whole number from low to high; `name` is the option's. */
long parse_whole(const struct argp_state *state, const char *name, const char *text, long low,
                 long high);
/* A number likewise. */
double parse_real(const struct argp_state *state, const char *name, const char *text, double low,
                  double high);
/* The argument of --seed. */
unsigned long long parse_seed(const struct argp_state *state, const char *text);

#endif
