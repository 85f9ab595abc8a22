/* SPDX-License-Identifier: Apache-2.0 */
/* A line for people who wait while kernels are compiled for the first time. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "env.h"
#include "log.h"

#define PATIENCE 2.0 /* seconds before the first line, and between two */

struct progress progress_begin(void)
{
    const char *how = env_text(ENV_PROGRESS);
    const bool terminal = !log_is_taken() && isatty(STDERR_FILENO) == 1;
    return (struct progress){ .begin = seconds_now(),
                              .wanted = strcmp(how, "auto") == 0 ? terminal || log_is_taken()
                                                                 : strcmp(how, "0") != 0,
                              .terminal = terminal };
}

/* On a terminal each line takes the place of the one before, which is nothing for a log. */
void progress_tell(struct progress *p, int done, int all)
{
    const double time = seconds_now(), since = p->told > 0 ? p->told : p->begin;
    if (!p->wanted || done == all || time - since < PATIENCE)
        return;
    const bool kept = strcmp(env_text(ENV_CACHE_DIR), "off") != 0;
    const char *note = kept ? "; kept for next time" : "";
    if (p->terminal) {
        fprintf(stderr, "%starn: compiling %d of %d kernels%s", p->told > 0 ? "\r" : "", done + 1,
                all, note);
        fflush(stderr);
    } else {
        log_print(TARN_LOG_INFO, "tarn: compiling %d of %d kernels%s", done + 1, all, note);
    }
    p->told = time;
}

void progress_end(const struct progress *p)
{
    if (p->terminal && p->told > 0)
        fprintf(stderr, "\n");
}
