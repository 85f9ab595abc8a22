/* SPDX-License-Identifier: Apache-2.0 */
/* A list of differences between a file and a model that fits into an error line. */
#include "file/differences.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void differ(struct differences *d, const char *format, ...)
{
    char line[400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    d->count++;
    const size_t n = strlen(line);
    if (d->used + n + 3 > sizeof d->text) {
        d->left_out++;
        return;
    }
    d->used += (size_t)snprintf(d->text + d->used, sizeof d->text - d->used, "%s%s",
                                d->used ? "; " : "", line);
}

tarn_status differences_status(const struct differences *d, const char *path)
{
    if (!d->count)
        return TARN_OK;
    char count[40] = "", more[40] = "";
    if (d->count > 1)
        snprintf(count, sizeof count, " (%u differences)", d->count);
    if (d->left_out)
        snprintf(more, sizeof more, "; and %u more", d->left_out);
    return error_set(TARN_ERR_MISMATCH, "%s: of another model%s, nothing was loaded: %s%s", path,
                     count, d->text, more);
}

void entry_text(const struct safetensors_entry *e, char *out, size_t capacity)
{
    size_t n = (size_t)snprintf(out, capacity, "%s [", e->dtype);
    for (int i = 0; i < e->rank && n < capacity; i++)
        n += (size_t)snprintf(out + n, capacity - n, "%s%" PRIu64, i ? "," : "", e->dim[i]);
    if (n < capacity)
        snprintf(out + n, capacity - n, "]");
}
