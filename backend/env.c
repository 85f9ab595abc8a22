/* SPDX-License-Identifier: Apache-2.0 */
/* The only reader of the environment. */
#include "env.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

const char *env_text(enum env_id id)
{
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
