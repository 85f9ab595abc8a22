/* SPDX-License-Identifier: Apache-2.0 */
/* Figures to work with: those of the kind that TARN_TARGET names, else those that were measured and
 * kept in the cache, else the default. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "opencl.h"

enum { KEPT = 2048 }; /* bytes of an entry, a line for each figure */

/* Looked up once, since every step asks. Parts of a device are as the whole. */
static struct device_figures found[MOST_DEVICES];
static bool is_found[MOST_DEVICES];
static pthread_mutex_t found_lock = PTHREAD_MUTEX_INITIALIZER;

/* Not by the number of units: parts of a CPU have its figures. */
static void name_entry(const struct device *d, char *key, size_t capacity)
{
    snprintf(key, capacity, "figures 1|%s|%s|%s", d->name, d->driver, d->platform);
}

tarn_status figures_keep(const struct device *d, const struct device_figures *f, double seconds)
{
    char key[512], text[KEPT] = "", again[KEPT];
    double values[FIGURE_COUNT];
    TRY(figures_check(f));
    figures_values(f, values);
    for (int i = 0; i < FIGURE_COUNT; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %.17g\n", figure_rows[i].name,
                 values[i]);
    name_entry(d, key, sizeof key);
    cache_store_text(key, text, seconds);
    pthread_mutex_lock(&found_lock);
    is_found[d->number] = false;
    pthread_mutex_unlock(&found_lock);
    if (cache_load_text(key, again, sizeof again) && strcmp(text, again) == 0)
        return TARN_OK;
    return error_set(TARN_ERR_IO, "figures: the compile cache keeps nothing (TARN_CACHE_DIR)");
}

/* The lines in their order; what is impossible, or of another version, counts as nothing. */
static bool read_figures(const char *text, struct device_figures *f)
{
    double values[FIGURE_COUNT];
    for (int i = 0; i < FIGURE_COUNT; i++) {
        const size_t length = strlen(figure_rows[i].name);
        char *end;
        if (strncmp(text, figure_rows[i].name, length) != 0 || text[length] != ' ')
            return false;
        values[i] = strtod(text + length, &end);
        if (*end != '\n' ||
            !(values[i] >= figure_rows[i].least && values[i] <= figure_rows[i].most))
            return false;
        text = end + 1;
    }
    figures_set(f, values);
    f->measured = true;
    return true;
}

static struct device_figures kept_of(const struct device *d)
{
    char key[512], text[KEPT];
    struct device_figures f = figures_default(d);
    name_entry(d, key, sizeof key);
    if (cache_load_text(key, text, sizeof text))
        (void)read_figures(text, &f); /* else the default */
    return f;
}

struct device_figures figures_of(const struct device *d)
{
    struct device_figures f;
    const char *wanted = env_text(ENV_TARGET);
    if (figures_wanted(wanted, &f)) {
        if (!f.items && strchr(wanted, ':') == NULL)
            f.units = (int)d->compute_units;
        return f;
    }
    pthread_mutex_lock(&found_lock);
    if (!is_found[d->number]) {
        found[d->number] = kept_of(d);
        is_found[d->number] = true;
    }
    f = found[d->number];
    pthread_mutex_unlock(&found_lock);
    f.units = (int)d->compute_units;
    return f;
}
