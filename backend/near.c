/* SPDX-License-Identifier: Apache-2.0 */
/* Files that lie near the library. */
#include "near.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the library, or of the program that it is a part of; "" when nobody knows. */
static void own_folder(char *path, size_t capacity)
{
    Dl_info info;
    path[0] = '\0';
    if (dladdr((const void *)(size_t)&near_find, &info) == 0 || info.dli_fname == NULL)
        return;
    char *real = realpath(info.dli_fname, NULL);
    snprintf(path, capacity, "%s", real != NULL ? real : info.dli_fname);
    free(real);
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
}

bool near_find(const char *name, char *path, size_t capacity)
{
    static const char *const below[] = { "", "/tarn", "/bin", "/../lib/tarn" };
    char own[4096];
    own_folder(own, sizeof own);
    for (size_t i = 0; own[0] != '\0' && i < sizeof below / sizeof *below; i++) {
        snprintf(path, capacity, "%s%s/%s", own, below[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    snprintf(path, capacity, "%s/%s", TARN_PRIVATE_DIR, name);
    return access(path, R_OK) == 0;
}
