/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a trace: events in the order in which they are noted. After each flush it ends in a bracket, over
 * which the next event is written, so that it parses also when the program ends without a word. */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "env.h"
#include "log.h"

#define NAME_BYTES 200
#define FLUSH_AFTER 1.0 /* seconds: what a program that crashes may lose */

static struct {
    pthread_mutex_t lock;
    FILE *file;
    int node, tracks;
    bool failed;
    /* The system's clock in nanoseconds at 0 s of seconds_now(), which joins files of machines. */
    int64_t zero;
    double flushed; /* when it last was, in seconds */
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool trace_is_wanted(void)
{
    return *env_text(ENV_TRACE) != '\0';
}

void trace_node(int node)
{
    trace.node = node;
}

static void give_up(const char *what)
{
    if (!trace.failed)
        log_print(TARN_LOG_WARNING, "tarn: TARN_TRACE=%s: %s: %s; there is no trace",
                  env_text(ENV_TRACE), what, strerror(errno));
    trace.failed = true;
    if (trace.file != NULL)
        fclose(trace.file);
    trace.file = NULL;
}

/* The bracket at the end is written over by the next event. */
static void flush(void)
{
    if (trace.file == NULL)
        return;
    if (fputs("\n]\n", trace.file) < 0 || fflush(trace.file) != 0 ||
        fseek(trace.file, -3, SEEK_CUR) != 0)
        give_up("cannot write");
    trace.flushed = seconds_now();
}

static void write_event(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_event(const char *format, ...)
{
    va_list args;
    if (trace.file == NULL)
        return;
    va_start(args, format);
    const bool good = vfprintf(trace.file, format, args) >= 0;
    va_end(args);
    if (!good)
        give_up("cannot write");
    else if (seconds_now() - trace.flushed > FLUSH_AFTER)
        flush();
}

static int64_t nanoseconds(double seconds)
{
    return (int64_t)(1e9 * seconds + 0.5);
}

static void open_file(void)
{
    char path[4200], host[100] = "";
    struct timespec now;
    const char *name = env_text(ENV_TRACE);
    if (trace.file != NULL || trace.failed)
        return;
    snprintf(path, sizeof path, trace.node > 0 ? "%s.%d" : "%s", name, trace.node);
    trace.file = fopen(path, "we");
    if (trace.file == NULL) {
        give_up("cannot open");
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    trace.flushed = seconds_now();
    trace.zero = 1000000000 * (int64_t)now.tv_sec + now.tv_nsec - nanoseconds(trace.flushed);
    gethostname(host, sizeof host - 1);
    write_event("[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"node "
                "%d, %s\"}}",
                trace.node, trace.node, host);
}

int trace_track(const char *format, ...)
{
    char name[NAME_BYTES], quoted[2 * NAME_BYTES];
    va_list args;
    int track = 0;
    if (!trace_is_wanted())
        return 0;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    text_quote(name, quoted, sizeof quoted);
    pthread_mutex_lock(&trace.lock);
    open_file();
    if (trace.file != NULL) {
        track = ++trace.tracks;
        write_event(",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{"
                    "\"name\":\"%s\"}}",
                    trace.node, track, quoted);
        write_event(",\n{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,"
                    "\"args\":{\"sort_index\":"
                    "%d}}",
                    trace.node, track, track);
    }
    pthread_mutex_unlock(&trace.lock);
    return track;
}

/* In microseconds. As integers: to print a number of 16 digits from a double takes longer than all else of an event. */
static void write_event_at(double time, const char *about, int track)
{
    const int64_t at = trace.zero + nanoseconds(time);
    write_event(",\n{%s\"pid\":%d,\"tid\":%d,\"ts\":%" PRId64 ".%03d}", about, trace.node, track,
                at / 1000, (int)(at % 1000));
}

static void write_begin(int track, const char *name, double time)
{
    char quoted[2 * NAME_BYTES], about[2 * NAME_BYTES + 30];
    text_quote(name, quoted, sizeof quoted);
    snprintf(about, sizeof about, "\"name\":\"%s\",\"ph\":\"B\",", quoted);
    write_event_at(time, about, track);
}

static void write_end(int track, double time)
{
    write_event_at(time, "\"ph\":\"E\",", track);
}

void trace_begin(int track, const char *name)
{
    if (track == 0)
        return;
    pthread_mutex_lock(&trace.lock);
    write_begin(track, name, seconds_now());
    pthread_mutex_unlock(&trace.lock);
}

void trace_end(int track)
{
    if (track == 0)
        return;
    pthread_mutex_lock(&trace.lock);
    write_end(track, seconds_now());
    pthread_mutex_unlock(&trace.lock);
}

void trace_span(int track, const char *name, double begin, double end)
{
    if (track == 0)
        return;
    pthread_mutex_lock(&trace.lock);
    write_begin(track, name, begin);
    write_end(track, end);
    pthread_mutex_unlock(&trace.lock);
}

void trace_flush(void)
{
    pthread_mutex_lock(&trace.lock);
    flush();
    pthread_mutex_unlock(&trace.lock);
}
