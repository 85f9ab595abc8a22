/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, one at a time, to whoever listens. */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define LINE_BYTES 1001

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tarn_log_fn listener;
static void *listener_user;

void log_to(tarn_log_fn each, void *user)
{
    pthread_mutex_lock(&lock);
    listener = each;
    listener_user = user;
    pthread_mutex_unlock(&lock);
}

bool log_is_taken(void)
{
    pthread_mutex_lock(&lock);
    const bool taken = listener != NULL;
    pthread_mutex_unlock(&lock);
    return taken;
}

void log_print(tarn_log_level level, const char *format, ...)
{
    char text[LINE_BYTES], escaped[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_escape(text, escaped, sizeof escaped);
    pthread_mutex_lock(&lock);
    if (listener != NULL)
        listener(level, escaped, listener_user);
    else
        fprintf(stderr, "%s\n", escaped);
    pthread_mutex_unlock(&lock);
}

void log_text(tarn_log_level level, const char *text)
{
    size_t length = strlen(text);
    const bool ends = length > 0 && text[length - 1] == '\n';
    while (length > 0 && text[length - 1] == '\n')
        length--;
    pthread_mutex_lock(&lock);
    char *copy = listener != NULL && ends ? strndup(text, length) : NULL;
    if (listener != NULL)
        listener(level, copy != NULL ? copy : text, listener_user);
    else
        fprintf(stderr, "%s%s", text, ends ? "" : "\n");
    pthread_mutex_unlock(&lock);
    free(copy);
}
