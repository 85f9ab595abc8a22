/* SPDX-License-Identifier: Apache-2.0 */
#include "training_log.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static bool failed(const struct training_log *log, const char *what, char *problem, size_t capacity)
{
    snprintf(problem, capacity, "--log: cannot %s %s: %s; name a file in a folder you may write to",
             what, log->path, strerror(errno));
    return false;
}

bool training_log_open(struct training_log *log, const char *path, char *problem, size_t capacity)
{
    *log = (struct training_log){ .path = path };
    if (path != NULL && (log->file = fopen(path, "w")) == NULL)
        return failed(log, "open", problem, capacity);
    return true;
}

static void number(FILE *f, const char *key, double value)
{
    if (isfinite(value))
        fprintf(f, ", \"%s\": %.9g", key, value);
    else
        fprintf(f, ", \"%s\": null", key);
}

bool training_log_write(struct training_log *log, const struct training_point *p, char *problem,
                        size_t capacity)
{
    FILE *f = log->file;
    char tested[40];
    if (f == NULL)
        return true;
    snprintf(tested, sizeof tested, "test_%s", p->measure);
    for (char *at = tested; *at != '\0'; at++)
        *at = isalnum((unsigned char)*at) ? *at : '_';
    fprintf(f, "{\"event\": \"%s\", \"epoch\": %llu, \"step\": %llu", p->event,
            (unsigned long long)p->epoch, (unsigned long long)p->step);
    number(f, "train_loss", p->train_loss);
    number(f, "lr", p->lr);
    number(f, tested, p->tested);
    number(f, "samples_per_second", p->seconds > 0 ? p->samples / p->seconds : NAN);
    number(f, "seconds", p->seconds);
    fprintf(f, ", \"steps\": %ld, \"world_size\": %d}\n", p->steps, p->world_size);
    return (fflush(f) == 0 && !ferror(f)) || failed(log, "write to", problem, capacity);
}

bool training_log_close(struct training_log *log, char *problem, size_t capacity)
{
    FILE *f = log->file;
    log->file = NULL;
    return f == NULL || fclose(f) == 0 || failed(log, "write to", problem, capacity);
}
