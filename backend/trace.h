/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when, as a file that Perfetto and Chrome show (TARN_TRACE): tracks, and spans on them that
 * nest. Without the variable each function returns at once. Any thread; a track belongs to one at a time.
 * The format: "Trace Event Format", Google, duration events B and E. */
#ifndef TARN_TRACE_H
#define TARN_TRACE_H

#include <stdbool.h>

/* A new track with its name; 0, on which nothing is noted: no trace is wanted, or its file cannot be opened. */
int trace_track(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool trace_is_wanted(void);
/* Number of this process in its job: those but the first write files of their own. Before the first track. */
void trace_node(int node);

/* Begins and ends a span now. */
void trace_begin(int track, const char *name);
void trace_end(int track);
/* A span of the past, in seconds of seconds_now(), not before the track's last one. */
void trace_span(int track, const char *name, double begin, double end);

/* Makes the file whole: it parses, with all that was noted. */
void trace_flush(void);

#endif
