/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that choose tensors by their names. */
#include "tensor/name_match.h"

#include <stddef.h>

static bool ends(char c)
{
    return c == '\0' || c == ',';
}

/* One pattern, which ends at a comma or at the end. What the last * stands for grows until the rest
 * fits; an earlier one never has to. */
static bool matches_one(const char *p, const char *name)
{
    const char *after = NULL, *from = NULL; /* the last *, and the text that follows what it is */
    while (*name != '\0') {
        if (*p == '*') {
            after = ++p;
            from = name;
        } else if (!ends(*p) && *p == *name) {
            p++;
            name++;
        } else if (after != NULL) {
            p = after;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return ends(*p);
}

bool name_matches(const char *pattern, const char *name)
{
    if (pattern == NULL || name == NULL)
        return name != NULL;
    for (const char *p = pattern;; p++) {
        if (matches_one(p, name))
            return true;
        while (!ends(*p))
            p++;
        if (*p == '\0')
            return false;
    }
}
