/* SPDX-License-Identifier: Apache-2.0 */
/* The results: a table for people, row by row as they come, or one JSON object for each device. */
#include "bench.h"

#include <jansson.h>
#include <stdio.h>

static const char *kind_name(const struct device *d)
{
    return d->kind == DEVICE_CPU ? "cpu" : d->kind == DEVICE_GPU ? "gpu" : "other";
}

void report_begin(const struct bench *b)
{
    const struct device *d = b->device;
    char name[256];
    if (b->json)
        return;
    device_describe(d, name, sizeof name);
    printf("device    %s (%s)\nplatform  %s, driver %s\nunits     %u\nmemory    %.1f GiB\n\n", name,
           kind_name(d), d->platform, d->driver, d->compute_units,
           (double)d->memory_bytes / (1 << 30));
    printf("%-44s %10s %-9s %s\n", "item", "median", "unit", "least to most");
    (void)fflush(stdout);
}

static int decimals(double value)
{
    return value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
}

void report_item(const struct item *i)
{
    const int places = decimals(i->value);
    if (i->error[0] != '\0')
        printf("%-44s error: %s\n", i->name, i->error);
    else if (i->least < i->most)
        printf("%-44s %10.*f %-9s %.*f to %.*f\n", i->name, places, i->value, i->unit, places,
               i->least, places, i->most);
    else if (i->note != NULL)
        printf("%-44s %10.*f %-9s %s\n", i->name, places, i->value, i->unit, i->note);
    else
        printf("%-44s %10.*f %s\n", i->name, places, i->value, i->unit);
    (void)fflush(stdout);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void set_number(json_t *o, const char *key, double value)
{
    json_object_set_new(o, key, value != 0 ? json_real(value) : json_null());
}

static json_t *item_json(const struct item *i)
{
    const bool failed = i->error[0] != '\0';
    json_t *o = json_pack("{s:s, s:s}", "name", i->name, "unit", i->unit);
    if (!failed) {
        json_object_set_new(o, "value", json_real(i->value));
        json_object_set_new(o, "least", json_real(i->least));
        json_object_set_new(o, "most", json_real(i->most));
    }
    set_number(o, "seconds", i->seconds);
    set_number(o, "flops", i->flops);
    set_number(o, "bytes", i->bytes);
    json_object_set_new(o, "note", i->note != NULL ? json_string(i->note) : json_null());
    /* A driver's words may be no UTF-8. */
    json_t *line = failed ? json_string(i->error) : NULL;
    json_object_set_new(o, "error", line != NULL ? line : failed ? json_string("?") : json_null());
    return o;
}

static json_t *device_json(const struct bench *b)
{
    const struct device *d = b->device;
    return json_pack("{s:s, s:s?, s:i, s:i, s:i, s:s, s:s?, s:s?, s:i, s:I, s:b}", "tarn",
                     TARN_VERSION, "device", d->name, "number", d->number, "part", d->part, "parts",
                     d->parts, "kind", kind_name(d), "platform", d->platform, "driver", d->driver,
                     "compute_units", (int)d->compute_units, "memory_bytes",
                     (json_int_t)d->memory_bytes, "quick", b->quick);
}

bool report_end(const struct bench *b)
{
    if (!b->json) {
        printf("\n");
        return fflush(stdout) == 0 && !ferror(stdout);
    }
    json_t *o = device_json(b), *items = json_array();
    for (int i = 0; i < b->count; i++)
        json_array_append_new(items, item_json(&b->items[i]));
    json_object_set_new(o, "items", items);
    const bool written = o != NULL && json_dumpf(o, stdout, JSON_REAL_PRECISION(6)) == 0;
    json_decref(o);
    printf("\n");
    return fflush(stdout) == 0 && !ferror(stdout) && written;
}
