/* SPDX-License-Identifier: Apache-2.0 */
/* What the example programs print, and where it must not go. */
#ifndef TERMINAL_H
#define TERMINAL_H

/* To be called first. A standard stream that the caller has closed is opened so that no file of the
 * program gets its number: reading it finds the end, writing to it fails. */
void terminal_open(void);

/* "PROGRAM: LINE" on the standard error stream, control characters escaped. */
void terminal_line(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A name with its control characters escaped, until the next but one call. For one thread. */
const char *terminal_name(const char *name);

#endif
