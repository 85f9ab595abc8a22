/* SPDX-License-Identifier: Apache-2.0 */
/* What --devices means: a lone number is a count of replicas, anything else a selection. */
#ifndef DEVICES_H
#define DEVICES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 64 };

/* Sets the one of the two that the text is; false when it is a count out of range. */
static inline bool devices_parse(const char *text, const char **selection, long *count)
{
    if (text[strspn(text, "+-0123456789")] != '\0') {
        *selection = text;
        return true;
    }
    *count = strtol(text, NULL, 10);
    return *count >= 1 && *count <= MOST_DEVICES;
}

#endif
