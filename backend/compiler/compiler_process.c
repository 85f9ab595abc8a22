/* SPDX-License-Identifier: Apache-2.0 */
/* A process that compiles for others: tarn-compiler VERSION DEVICE IDENTITY. It reads orders from its
 * standard input, a socket, builds what they ask for, has the driver finish and keep it, and answers
 * with a byte: 1 when it did. It ends at once when the other end of the socket is gone. Not for people. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "compilers.h"
#include "file.h"
#include "opencl.h"

#define LARGEST_ORDER ((uint64_t)1 << 30)

static void *watch(void *unused)
{
    struct pollfd other = { .fd = STDIN_FILENO, .events = POLLRDHUP };
    (void)unused;
    while (poll(&other, 1, -1) < 0 && errno == EINTR)
        ;
    _exit(EXIT_SUCCESS);
}

static struct order *read_order(void)
{
    uint64_t bytes;
    if (!file_read_all(STDIN_FILENO, &bytes, sizeof bytes) || bytes < sizeof(struct order) ||
        bytes > LARGEST_ORDER)
        return NULL;
    struct order *o = malloc((size_t)bytes);
    if (o == NULL)
        return NULL;
    o->bytes = bytes;
    if (file_read_all(STDIN_FILENO, (char *)o + sizeof bytes, (size_t)bytes - sizeof bytes) &&
        order_is_whole(o, (size_t)bytes))
        return o;
    free(o);
    return NULL;
}

/* Of several processes that were asked for the same, one compiles, and the others then find it in the
 * driver's cache. -1: no such lock is to be had, which costs time only. */
static int lock_of(const struct order *o)
{
    const int folder = cache_directory(NULL, 0);
    if (folder < 0)
        return -1;
    const int file =
        openat(folder, "compiling", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    close(folder);
    struct flock part = { .l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)(XXH3_64bits(o, (size_t)o->bytes) >> 2),
                          .l_len = 1 };
    while (file >= 0 && fcntl(file, F_OFD_SETLKW, &part) != 0)
        if (errno != EINTR) {
            close(file);
            return -1;
        }
    return file;
}

static tarn_status finish(struct context *c, const struct order *o, struct built_program *program,
                          struct buffer *nothing)
{
    struct kernel_arg args[ORDER_ARGS];
    struct idle_launch idle;
    char function[64];
    struct order_place place = order_begin(o);
    for (uint32_t i = 0; i < o->kernels; i++) {
        struct kernel *k = NULL;
        order_next(&place, nothing, function, args, &idle);
        TRY(kernel_new(program, function, &k));
        const tarn_status status = kernel_launch_idle(k, &idle);
        const tarn_status ended = context_finish(c);
        kernel_free(k);
        TRY(status);
        TRY(ended);
    }
    return TARN_OK;
}

static tarn_status carry_out(struct context *c, const struct order *o, struct buffer *nothing)
{
    struct built_program *program = NULL;
    const int lock = lock_of(o);
    const double start = seconds_now();
    tarn_status status = program_build_as(c, order_source(o), o->quick != 0, "compiler", &program);
    if (status == TARN_OK)
        status = finish(c, o, program, nothing);
    program_free(program);
    if (status == TARN_OK)
        program_tell_finished(&c->device, order_source(o), o->quick != 0, seconds_now() - start);
    if (lock >= 0)
        close(lock);
    return status;
}

static tarn_status serve(const struct device *d)
{
    struct context *c = NULL;
    struct buffer *nothing = NULL;
    TRY(context_open(d, &c));
    tarn_status status = buffer_new(c, 0, &nothing);
    for (struct order *o; status == TARN_OK && (o = read_order()) != NULL; free(o)) {
        const char answer = carry_out(c, o, nothing) == TARN_OK;
        if (write(STDIN_FILENO, &answer, 1) != 1)
            break;
    }
    buffer_free(nothing);
    context_close(c);
    return status;
}

int main(int argc, char **argv)
{
    const struct device *list;
    int count;
    pthread_t watcher;
    if (argc != 4 || strcmp(argv[1], ORDER_VERSION) != 0) {
        fprintf(stderr, "%s: started by Tarn's library, to compile kernels\n", argv[0]);
        return EXIT_FAILURE;
    }
    closefrom(STDERR_FILENO + 1);
    if (setenv("TARN_COMPILERS", "0", 1) != 0 || setenv("TARN_AWAKE", "0", 1) != 0 ||
        pthread_create(&watcher, NULL, watch, NULL) != 0 || device_list(&list, &count) != TARN_OK)
        return EXIT_FAILURE;
    const long number = strtol(argv[2], NULL, 10);
    char identity[DEVICE_IDENTITY_BYTES];
    if (number < 0 || number >= count)
        return EXIT_FAILURE;
    device_identify(&list[number], identity);
    if (strcmp(identity, argv[3]) != 0)
        return EXIT_FAILURE;
    return serve(&list[number]) == TARN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
