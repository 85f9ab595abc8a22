/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by text: what TARN_DEVICES may say, for one replica and for several. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "env.h"
#include "opencl.h"

static const char *kind_name(enum device_kind kind)
{
    return kind == DEVICE_GPU ? "gpu" : kind == DEVICE_CPU ? "cpu" : "other";
}

static void what_there_is(char *out, size_t capacity)
{
    const struct device *devices;
    int device_count;
    size_t used = 0;
    out[0] = '\0';
    if (device_list(&devices, &device_count) != TARN_OK)
        return;
    for (int i = 0; i < device_count && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%d: %s \"%s\", %u units",
                                 i == 0 ? "" : "; ", i, kind_name(devices[i].kind), devices[i].name,
                                 devices[i].compute_units);
}

static tarn_status refuse(const char *word, const char *why)
{
    char list[600];
    what_there_is(list, sizeof list);
    return error_set(TARN_ERR_NO_DEVICE,
                     "device \"%s\": %s; there is %s; parts of a CPU are named cpu:0/2, more CPU "
                     "devices come with POCL_DEVICES=\"pthread pthread\"",
                     word, why, list);
}

static bool matches(const struct device *d, const char *word)
{
    if (strcasecmp(word, kind_name(d->kind)) == 0 || strcasecmp(word, "all") == 0)
        return true;
    if (isdigit((unsigned char)word[0])) {
        char *end;
        const long number = strtol(word, &end, 10);
        return *end == '\0' && number == d->number;
    }
    return strcasestr(d->name, word) != NULL || strcasestr(d->platform, word) != NULL;
}

/* "cpu:1/2": the device before the colon, its second half. "cpu/2": both halves; `part` is -1. */
static tarn_status parse_part(char *word, int *part, int *parts)
{
    *part = -1;
    *parts = 1;
    int used = 0;
    char *colon = strrchr(word, ':');
    if (colon != NULL) {
        if (colon == word || sscanf(colon + 1, "%d/%d%n", part, parts, &used) != 2 ||
            colon[1 + used] != '\0' || *parts < 1 || *part < 0 || *part >= *parts)
            return refuse(word, "a part is written number/count, as in cpu:0/2");
        *colon = '\0';
        return TARN_OK;
    }
    char *slash = strrchr(word, '/');
    if (slash == NULL || !isdigit((unsigned char)slash[1]))
        return TARN_OK;
    if (slash == word || sscanf(slash + 1, "%d%n", parts, &used) != 1 || slash[1 + used] != '\0' ||
        *parts < 1)
        return refuse(word, "all parts are written /count, as in cpu/2");
    *slash = '\0';
    return TARN_OK;
}

static void add(struct device d, struct device *out, int capacity, int *count)
{
    if (*count < capacity)
        out[(*count)++] = d;
}

static bool divisible(const struct device *d, int parts)
{
    return (unsigned)parts <= d->compute_units && parts <= d->most_parts;
}

/* Part number `part` of a device, or all of them when it is -1. */
static void add_parts(const struct device *d, int part, int parts, struct device *out, int capacity,
                      int *count)
{
    struct device one = *d;
    one.parts = parts;
    one.compute_units /= (unsigned)parts;
    for (one.part = 0; one.part < parts; one.part++)
        if (part < 0 || part == one.part)
            add(one, out, capacity, count);
}

static tarn_status add_matching(char *word, struct device *out, int capacity, int *count)
{
    const struct device *devices;
    int device_count, part, parts;
    bool known = false;
    TRY(device_list(&devices, &device_count));
    TRY(parse_part(word, &part, &parts));
    for (int i = 0; i < device_count; i++) {
        if (!matches(&devices[i], word))
            continue;
        known = true;
        if (parts == 1) {
            add(devices[i], out, capacity, count);
        } else if (divisible(&devices[i], parts)) {
            add_parts(&devices[i], part, parts, out, capacity, count);
            return TARN_OK;
        }
    }
    if (!known)
        return refuse(word, "no such device");
    return parts == 1 ? TARN_OK : refuse(word, "it cannot be divided into so many parts");
}

static tarn_status parse(const char *spec, struct device *out, int capacity, int *count)
{
    char words[512];
    if (strlen(spec) >= sizeof words)
        return refuse("...", "the selection is longer than 511 characters");
    memcpy(words, spec, strlen(spec) + 1);
    char *rest = NULL;
    for (char *word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest))
        TRY(add_matching(word, out, capacity, count));
    return *count > 0 ? TARN_OK : refuse(spec, "the selection is empty");
}

/* TARN_NUM_DEVICES; 0 when it is not set. */
static tarn_status limit_of(int *out)
{
    const char *most = env_text(ENV_NUM_DEVICES);
    char *end;
    *out = 0;
    if (*most == '\0')
        return TARN_OK;
    const long limit = strtol(most, &end, 10);
    if (*end != '\0' || limit < 1)
        return error_set(TARN_ERR_ENVIRONMENT, "TARN_NUM_DEVICES=%s: not a number from 1", most);
    *out = limit > INT_MAX ? INT_MAX : (int)limit;
    return TARN_OK;
}

tarn_status device_select(const char *spec, struct device *out, int capacity, int *count)
{
    const struct device *list;
    int known, limit;
    *count = 0;
    TRY(device_list(&list, &known));
    if (spec == NULL || *spec == '\0')
        spec = env_text(ENV_DEVICES);
    if (*spec == '\0') {
        int chosen = 0;
        for (int i = known; i-- > 0;)
            if (list[i].kind == DEVICE_GPU)
                chosen = i;
        add(list[chosen], out, capacity, count);
        return TARN_OK;
    }
    TRY(parse(spec, out, capacity, count));
    TRY(limit_of(&limit));
    *count = limit > 0 && *count > limit ? limit : *count;
    return TARN_OK;
}

/* ---- several -------------------------------------------------------------------------------- */

static tarn_status too_few(int wanted, const char *who, int count)
{
    char list[600];
    what_there_is(list, sizeof list);
    return error_set(
        TARN_ERR_NO_DEVICE,
        "%d devices asked for%s, but %d selected of %s: divide a CPU (cpu/2), let PoCL "
        "offer more (POCL_DEVICES=\"pthread pthread\"), name one several times (0,0), or ask for "
        "fewer",
        wanted, who, count, list);
}

/* Numbers those that are the very same device, so that messages can tell them apart. */
static void number_copies(struct device *d, int count)
{
    for (int i = 0; i < count; i++) {
        d[i].copy = 0;
        d[i].copies = 0;
        for (int j = 0; j < count; j++) {
            const bool same =
                d[j].number == d[i].number && d[j].part == d[i].part && d[j].parts == d[i].parts;
            d[i].copy += same && j < i;
            d[i].copies += same;
        }
    }
}

static tarn_status take(int wanted, struct device *found, int *count)
{
    int limit = 0;
    if (wanted == 0) {
        TRY(limit_of(&limit));
        wanted = limit > 0 ? limit : *count;
    }
    if (wanted <= *count) {
        *count = wanted;
        return TARN_OK;
    }
    const struct device only = found[0];
    if (*count != 1 || only.kind != DEVICE_CPU || only.parts > 1 || !divisible(&only, wanted))
        return too_few(wanted, limit > 0 ? " (TARN_NUM_DEVICES)" : "", *count);
    *count = 0;
    add_parts(&only, -1, wanted, found, MOST_DEVICES, count);
    return TARN_OK;
}

/* A CPU beside GPUs would hold them up. */
static const char *best_kind(void)
{
    const struct device *list;
    int known = 0;
    if (device_list(&list, &known) != TARN_OK)
        return "all";
    for (int i = 0; i < known; i++)
        if (list[i].kind == DEVICE_GPU)
            return "gpu";
    return "all";
}

tarn_status device_select_many(const char *spec, int wanted, struct device *out, int capacity,
                               int *count)
{
    struct device found[MOST_DEVICES];
    int selected = 0;
    *count = 0;
    if (wanted < 0)
        return error_set(TARN_ERR_ARGUMENT, "%d devices asked for", wanted);
    if (spec == NULL || *spec == '\0')
        spec = env_text(ENV_DEVICES);
    TRY(parse(*spec == '\0' ? best_kind() : spec, found, MOST_DEVICES, &selected));
    if (wanted > MOST_DEVICES)
        return too_few(wanted, "", selected);
    TRY(take(wanted, found, &selected));
    if (selected > capacity)
        return error_set(TARN_ERR_ARGUMENT, "%d devices selected, but at most %d can be used",
                         selected, capacity);
    number_copies(found, selected);
    memcpy(out, found, (size_t)selected * sizeof *found);
    *count = selected;
    return TARN_OK;
}

void device_describe(const struct device *d, char *out, size_t capacity)
{
    const struct device *list;
    char part[32] = "", copy[48] = "";
    int known = 0;
    if (d->parts > 1)
        snprintf(part, sizeof part, ":%d/%d", d->part, d->parts);
    if (d->copies > 1)
        snprintf(copy, sizeof copy, ", copy %d/%d", d->copy, d->copies);
    const bool alone = device_list(&list, &known) == TARN_OK && known == 1;
    if (!alone || d->parts > 1 || d->copies > 1)
        snprintf(out, capacity, "%s (device %d%s%s)", d->name, d->number, part, copy);
    else
        snprintf(out, capacity, "%s", d->name);
}
