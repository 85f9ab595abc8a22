/* SPDX-License-Identifier: Apache-2.0 */
/* The only reader of the environment. */
#include "env.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct env_entry env_table[ENV_COUNT] = {
#define ENV_ROW(id, variable, preset, meaning) \
    { .name = variable, .fallback = preset, .help = meaning },
    ENV_LIST(ENV_ROW)
#undef ENV_ROW
};

const char *env_system(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

/* What the program chose in place of the environment. Never freed, since another thread may just read it. */
struct choice {
    struct choice *before; /* in the list of all that were ever made */
    char text[];
};
static _Atomic(struct choice *) choices[ENV_COUNT], all_choices;

tarn_status env_choose(const char *name, const char *value)
{
    int id = 0;
    while (id < ENV_COUNT && strcmp(env_table[id].name, name) != 0)
        id++;
    if (id == ENV_COUNT)
        return error_set(TARN_ERR_ARGUMENT,
                         "set_option: Tarn has no variable %s; docs/environment.md lists them",
                         name);
    struct choice *c = NULL;
    if (value != NULL) {
        const size_t bytes = strlen(value) + 1;
        c = malloc(sizeof *c + bytes);
        if (c == NULL)
            return error_set(TARN_ERR_MEMORY, "set_option: out of host memory for the value of %s",
                             name);
        memcpy(c->text, value, bytes);
        c->before = atomic_load(&all_choices);
        while (!atomic_compare_exchange_weak(&all_choices, &c->before, c)) {
        }
    }
    atomic_store(&choices[id], c);
    return TARN_OK;
}

const char *env_text(enum env_id id)
{
    const struct choice *c = atomic_load(&choices[id]);
    if (c != NULL)
        return *c->text != '\0' ? c->text : env_table[id].fallback;
    const char *value = env_system(env_table[id].name);
    return *value != '\0' ? value : env_table[id].fallback;
}

double env_number(enum env_id id)
{
    char *end;
    const char *text = env_text(id);
    const double value = strtod(text, &end);
    return end != text && *end == '\0' ? value : strtod(env_table[id].fallback, NULL);
}

tarn_status env_seconds(enum env_id id, double *out)
{
    char *end;
    const char *text = env_text(id);
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value <= 0)
        return error_set(TARN_ERR_ARGUMENT, "%s=%s: must be a number of seconds above 0",
                         env_table[id].name, text);
    *out = value;
    return TARN_OK;
}

bool env_debug(const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = env_text(ENV_DEBUG); *at != '\0';) {
        const size_t span = strcspn(at, ",");
        if (span == length && strncmp(at, word, length) == 0)
            return true;
        at += span;
        at += *at == ',';
    }
    return false;
}

static bool names(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool replaced(const char *entry, const struct choice *const *by)
{
    for (int id = 0; id < ENV_COUNT; id++)
        if (by[id] != NULL && names(entry, env_table[id].name))
            return true;
    return false;
}

char **env_for_child(void)
{
    const struct choice *now[ENV_COUNT];
    size_t entries = 0, bytes = 0;
    while (environ != NULL && environ[entries] != NULL)
        entries++;
    for (int id = 0; id < ENV_COUNT; id++) {
        now[id] = atomic_load(&choices[id]);
        if (now[id] != NULL)
            bytes += strlen(env_table[id].name) + strlen(now[id]->text) + 2;
    }
    const size_t table = (entries + ENV_COUNT + 1) * sizeof(char *);
    char **const out = malloc(table + bytes);
    if (out == NULL)
        return NULL;
    char *text = (char *)out + table;
    size_t count = 0;
    for (size_t i = 0; i < entries; i++)
        if (!replaced(environ[i], now))
            out[count++] = environ[i];
    for (int id = 0; id < ENV_COUNT; id++)
        if (now[id] != NULL) {
            out[count++] = text;
            text += sprintf(text, "%s=%s", env_table[id].name, now[id]->text) + 1;
        }
    out[count] = NULL;
    return out;
}
