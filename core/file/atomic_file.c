/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a file through a temporary one in the same folder: write, sync, rename, sync. */
#include "file/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define MARK ".tmp."

static tarn_status fail_errno(const struct atomic_file *w, const char *what)
{
    return error_set(TARN_ERR_IO, "%s: cannot %s: %s", w->path, what, strerror(errno));
}

/* The process that a temporary file's name speaks of, or 0 when it is none of `target`'s. */
static pid_t owner_of(const char *name, const char *target)
{
    const size_t n = strlen(target), mark = sizeof(MARK) - 1;
    if (strncmp(name, target, n) != 0 || strncmp(name + n, MARK, mark) != 0)
        return 0;
    const char *digits = name + n + mark;
    if (*digits < '1' || *digits > '9')
        return 0;
    char *end;
    errno = 0;
    const long pid = strtol(digits, &end, 10);
    if (errno || pid > INT_MAX || *end != '.')
        return 0;
    return end[1] && strspn(end + 1, "0123456789") == strlen(end + 1) ? (pid_t)pid : 0;
}

/* A process of another machine that shares the folder would look dead; its lock tells. */
static bool abandoned(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    struct stat st;
    const bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    const bool unlocked = ours && flock(fd, LOCK_EX | LOCK_NB) == 0;
    (void)close(fd);
    return unlocked;
}

/* Removes what killed processes left. Failures are no concern of the save. */
static void sweep(const struct atomic_file *w)
{
    const int fd = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        const pid_t pid = owner_of(e->d_name, w->target);
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH && abandoned(w->folder, e->d_name))
            (void)unlinkat(w->folder, e->d_name, 0);
    }
    (void)closedir(dir);
}

/* Splits the path and opens its folder, so that a folder renamed meanwhile does no harm. */
static tarn_status open_folder(struct atomic_file *w)
{
    const char *slash = strrchr(w->path, '/');
    const char *base = slash != NULL ? slash + 1 : w->path;
    if (!*base || strlen(base) > NAME_MAX - 40)
        return error_set(TARN_ERR_ARGUMENT, "%s: %s", w->path,
                         *base ? "the file's name is too long" : "names a folder, not a file");
    snprintf(w->target, sizeof w->target, "%s", base);
    char *folder = slash != NULL
                       ? strndup(w->path, slash == w->path ? 1 : (size_t)(slash - w->path))
                       : strdup(".");
    if (folder == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", w->path);
    w->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return w->folder < 0 ? fail_errno(w, "open its folder") : TARN_OK;
}

/* The rename would put a file in the place of a device node, and needs no right to write a file
 * that somebody has made read-only. */
static tarn_status check_target(const struct atomic_file *w)
{
    struct stat st;
    if (fstatat(w->folder, w->target, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? TARN_OK : fail_errno(w, "look at it");
    if (S_ISLNK(st.st_mode))
        return TARN_OK; /* the link is replaced, not what it points to */
    if (!S_ISREG(st.st_mode))
        return error_set(TARN_ERR_IO, "%s: is there already and no regular file; name another",
                         w->path);
    return faccessat(w->folder, w->target, W_OK, AT_EACCESS) == 0 ? TARN_OK
                                                                  : fail_errno(w, "replace it");
}

static tarn_status open_temporary(struct atomic_file *w)
{
    for (int i = 0; i < 100; i++) {
        snprintf(w->temporary, sizeof w->temporary, "%.*s" MARK "%ld.%d", NAME_MAX - 40, w->target,
                 (long)getpid(), i);
        w->file = file_aside(
            openat(w->folder, w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (w->file >= 0) {
            (void)flock(w->file, LOCK_EX | LOCK_NB); /* only a hint to sweep() elsewhere */
            return TARN_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return fail_errno(w, "create a temporary file beside it");
}

static void close_folder(struct atomic_file *w)
{
    if (w->folder >= 0)
        (void)close(w->folder);
    w->folder = -1;
}

tarn_status atomic_file_begin(struct atomic_file *w, const char *path)
{
    *w = (struct atomic_file){ .path = path, .folder = -1, .file = -1 };
    TRY(open_folder(w));
    tarn_status status = check_target(w);
    if (status == TARN_OK) {
        sweep(w);
        status = open_temporary(w);
    }
    if (status != TARN_OK)
        close_folder(w);
    return status;
}

tarn_status atomic_file_write(struct atomic_file *w, const void *from, size_t bytes)
{
    const char *at = from;
    while (bytes) {
        const ssize_t n = write(w->file, at, bytes < (1u << 30) ? bytes : (1u << 30));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO;
        if (n <= 0)
            return fail_errno(w, "write");
        at += n;
        bytes -= (size_t)n;
    }
    return TARN_OK;
}

tarn_status atomic_file_start(struct atomic_file *w, const void *from, size_t bytes)
{
    if (lseek(w->file, 0, SEEK_SET) < 0)
        return fail_errno(w, "write");
    return atomic_file_write(w, from, bytes);
}

void atomic_file_abort(struct atomic_file *w)
{
    if (w->file >= 0)
        (void)close(w->file);
    w->file = -1;
    if (w->folder >= 0)
        (void)unlinkat(w->folder, w->temporary, 0);
    close_folder(w);
}

static tarn_status sync_and_rename(struct atomic_file *w)
{
    /* Never tried twice: after a failure the kernel may have dropped the pages, and a second call
     * would succeed over lost data. */
    if (fsync(w->file) != 0)
        return fail_errno(w, "sync");
    const int fd = w->file;
    w->file = -1;
    if (close(fd) != 0 && errno != EINTR)
        return fail_errno(w, "close");
    if (renameat(w->folder, w->temporary, w->folder, w->target) != 0)
        return fail_errno(w, "rename the temporary file to it");
    return TARN_OK;
}

tarn_status atomic_file_commit(struct atomic_file *w)
{
    const tarn_status status = sync_and_rename(w);
    if (status != TARN_OK) {
        atomic_file_abort(w);
        return status;
    }
    /* Some file systems cannot sync folders, and say EINVAL. */
    const int failed = fsync(w->folder) != 0 && errno != EINVAL;
    const tarn_status synced = failed ? fail_errno(w, "sync its folder") : TARN_OK;
    close_folder(w);
    return synced;
}
