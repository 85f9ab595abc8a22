/* SPDX-License-Identifier: Apache-2.0 */
/* Whose the folder of the cache is: code is loaded from it, so nobody else may be able to put any
 * there. When it cannot be used, one line says so, and why. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "env.h"
#include "log.h"
#include "opencl.h"

#define LEAST_ROOM ((uint64_t)64 << 20) /* bytes; PoCL ends the process when it cannot write */

void cache_warn(const char *format, ...)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    char line[600];
    va_list args;
    if (atomic_flag_test_and_set(&warned))
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    log_print(TARN_LOG_WARNING, "%s", line);
}

static bool folder_name(char *path, size_t capacity)
{
    const char *own = env_text(ENV_CACHE_DIR), *xdg = env_system("XDG_CACHE_HOME"),
               *home = env_system("HOME");
    int length = -1;
    if (strcmp(own, "off") == 0)
        return false;
    if (*own != '\0')
        length = snprintf(path, capacity, "%s", own);
    else if (*xdg == '/')
        length = snprintf(path, capacity, "%s/tarn", xdg);
    else if (*home == '/')
        length = snprintf(path, capacity, "%s/.cache/tarn", home);
    return length > 0 && (size_t)length < capacity;
}

static void make_folders(char *path)
{
    for (char *at = path + 1; *at != '\0'; at++)
        if (*at == '/') {
            *at = '\0';
            (void)!mkdir(path, 0700); /* what cannot be made shows when the last one is opened */
            *at = '/';
        }
    (void)!mkdir(path, 0700);
}

/* ---- trust ---------------------------------------------------------------------------------- */

/* Why an open folder is not to be used; NULL: it is. */
static const char *fault_of(int at)
{
    struct stat s;
    if (fstat(at, &s) != 0)
        return strerror(errno);
    if (s.st_uid != geteuid())
        return "it is another user's";
    if ((s.st_mode & 022) != 0)
        return "others may write to it";
    return faccessat(at, ".", W_OK, 0) != 0 ? strerror(errno) : NULL;
}

/* Whoever may rename a folder above could put another in its place. In one that all may write to,
 * such as /tmp, the sticky bit keeps them from that. */
static const char *fault_above(const char *path)
{
    char above[PATH_MAX];
    struct stat s;
    snprintf(above, sizeof above, "%s", path);
    for (char *slash = strrchr(above, '/'); slash != NULL; slash = strrchr(above, '/')) {
        *slash = '\0';
        if (stat(*above != '\0' ? above : "/", &s) != 0)
            return strerror(errno);
        if ((s.st_mode & S_IWOTH) != 0 && (s.st_mode & S_ISVTX) == 0)
            return "all may write to a folder above it";
    }
    return NULL;
}

/* Opens a folder when it is ours alone; -1 and why not. */
static int open_private(int within, const char *name, const char **why)
{
    const int at = openat(within, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0) {
        struct stat s;
        const int code = errno;
        const bool link = fstatat(within, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode);
        *why = link ? "it is a symbolic link" : strerror(code);
        return -1;
    }
    *why = fault_of(at);
    if (*why == NULL)
        return at;
    close(at);
    return -1;
}

int cache_directory(char *path, size_t capacity)
{
    char name[400], real[PATH_MAX];
    const char *why = NULL;
    if (geteuid() != getuid() || getauxval(AT_SECURE) != 0 || !folder_name(name, sizeof name))
        return -1;
    make_folders(name);
    const int at = open_private(AT_FDCWD, name, &why);
    if (at >= 0)
        why = realpath(name, real) != NULL ? fault_above(real) : strerror(errno);
    if (at >= 0 && why == NULL && path != NULL && strlen(real) >= capacity)
        why = "its name is too long";
    if (why != NULL) {
        cache_warn(
            "tarn: no compile cache, so programs start slowly: folder %s: %s; TARN_CACHE_DIR "
            "names another, or is \"off\"",
            name, why);
        if (at >= 0)
            close(at);
        return -1;
    }
    if (path != NULL)
        snprintf(path, capacity, "%s", real);
    return at;
}

/* ---- PoCL's part ---------------------------------------------------------------------------- */

static bool has_room(int at)
{
    struct statvfs s;
    return fstatvfs(at, &s) != 0 || (uint64_t)s.f_bavail * s.f_frsize >= LEAST_ROOM;
}

bool cache_folder_of_pocl(char *path, size_t capacity)
{
    char folder[PATH_MAX];
    const char *why = NULL;
    const int at = cache_directory(folder, sizeof folder);
    if (at < 0)
        return false;
    const int length = snprintf(path, capacity, "%s/pocl", folder);
    (void)!mkdirat(at, "pocl", 0700); /* what cannot be made shows when it is opened */
    const int within = open_private(at, "pocl", &why);
    if (within >= 0 && !has_room(within))
        why = "less than 64 MiB are free there";
    if (length < 0 || (size_t)length >= capacity)
        why = "its name is too long";
    if (why != NULL)
        cache_warn("tarn: no compile cache, so programs start slowly: folder %s/pocl: %s; "
                   "TARN_CACHE_DIR names another",
                   folder, why);
    if (within >= 0)
        close(within);
    close(at);
    return why == NULL;
}
