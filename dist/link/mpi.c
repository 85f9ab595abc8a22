/* SPDX-License-Identifier: Apache-2.0 */
/* A link through MPI: point-to-point messages only, none of which waits. Built once for each MPI, as a module
 * that the library opens when a launcher started the process; the only file that knows MPI. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

struct mpi_link {
    struct link link; /* first */
    MPI_Comm channel[2];
    bool started; /* MPI by this link: it ends it, too */
    MPI_Request *requests;
    int *unused; /* a stack of tickets */
    int unused_count, capacity;
    char engine[MPI_MAX_LIBRARY_VERSION_STRING];
};

static int explain(struct mpi_link *m, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    snprintf(m->link.problem, sizeof m->link.problem, "%s: %.300s", what, text);
    return -1;
}

/* ---- tickets -------------------------------------------------------------------------------- */

static bool grow(struct mpi_link *m)
{
    const int more = m->capacity ? 2 * m->capacity : 256;
    MPI_Request *requests = realloc(m->requests, (size_t)more * sizeof *requests);
    if (requests != NULL)
        m->requests = requests;
    int *unused = realloc(m->unused, (size_t)more * sizeof *unused);
    if (unused != NULL)
        m->unused = unused;
    if (requests == NULL || unused == NULL) {
        snprintf(m->link.problem, sizeof m->link.problem, "no memory for %d messages", more);
        return false;
    }
    for (int i = more - 1; i >= m->capacity; i--) {
        m->requests[i] = MPI_REQUEST_NULL;
        m->unused[m->unused_count++] = i;
    }
    m->capacity = more;
    return true;
}

static int begun(struct mpi_link *m, const char *what, int code, int ticket)
{
    if (code == MPI_SUCCESS)
        return ticket;
    m->unused[m->unused_count++] = ticket;
    return explain(m, what, code);
}

static int take(struct mpi_link *m, size_t bytes)
{
    if (bytes > INT_MAX) {
        snprintf(m->link.problem, sizeof m->link.problem, "a message of %zu bytes", bytes);
        return -1;
    }
    if (m->unused_count == 0 && !grow(m))
        return -1;
    return m->unused[--m->unused_count];
}

static int mpi_send(struct link *l, int to, enum link_channel channel, const void *data,
                    size_t bytes)
{
    struct mpi_link *m = (struct mpi_link *)l;
    const int ticket = take(m, bytes);
    if (ticket < 0)
        return ticket;
    return begun(
        m, "MPI_Isend",
        MPI_Isend(data, (int)bytes, MPI_BYTE, to, 0, m->channel[channel], &m->requests[ticket]),
        ticket);
}

static int mpi_receive(struct link *l, int from, enum link_channel channel, void *data,
                       size_t bytes)
{
    struct mpi_link *m = (struct mpi_link *)l;
    const int ticket = take(m, bytes);
    if (ticket < 0)
        return ticket;
    return begun(m, "MPI_Irecv",
                 MPI_Irecv(data, (int)bytes, MPI_BYTE, from == LINK_ANY ? MPI_ANY_SOURCE : from, 0,
                           m->channel[channel], &m->requests[ticket]),
                 ticket);
}

static int mpi_test(struct link *l, int ticket)
{
    struct mpi_link *m = (struct mpi_link *)l;
    int done = 0;
    const int code = MPI_Test(&m->requests[ticket], &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return explain(m, "MPI_Test", code);
    if (done)
        m->unused[m->unused_count++] = ticket;
    return done;
}

/* ---- joining and leaving -------------------------------------------------------------------- */

static void mpi_leave(struct link *l, bool orderly)
{
    struct mpi_link *m = (struct mpi_link *)l;
    /* MPI_Finalize waits for nodes that may not be there any more. What is under way uses all of this. */
    if (!orderly)
        return;
    for (int i = 0; i < m->capacity; i++)
        if (m->requests[i] != MPI_REQUEST_NULL) { /* a receive for what nobody will say */
            MPI_Cancel(&m->requests[i]);
            MPI_Wait(&m->requests[i], MPI_STATUS_IGNORE);
        }
    MPI_Comm_free(&m->channel[LINK_DATA]);
    MPI_Comm_free(&m->channel[LINK_CONTROL]);
    if (m->started)
        MPI_Finalize();
    free(m->requests);
    free(m->unused);
    free(m);
}

static bool start(struct mpi_link *m, char *problem, size_t capacity)
{
    int running = 0, level = 0;
    MPI_Initialized(&running);
    if (running) {
        MPI_Query_thread(&level);
        if (level == MPI_THREAD_MULTIPLE)
            return true;
        snprintf(problem, capacity,
                 "the program has started MPI itself, but not for several threads: ask "
                 "MPI_Init_thread for MPI_THREAD_MULTIPLE");
        return false;
    }
    /* The thread that starts MPI is its main thread, whichever it is, and the only one that calls it. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        level < MPI_THREAD_FUNNELED) {
        snprintf(problem, capacity, "MPI_Init_thread failed, or has no threads (level %d)", level);
        return false;
    }
    m->started = true;
    return true;
}

static bool join(struct mpi_link *m)
{
    MPI_Comm host;
    bool good = true;
    for (int i = 0; i < 2; i++)
        good = good && MPI_Comm_dup(MPI_COMM_WORLD, &m->channel[i]) == MPI_SUCCESS &&
               MPI_Comm_set_errhandler(m->channel[i], MPI_ERRORS_RETURN) == MPI_SUCCESS;
    good = good && MPI_Comm_rank(MPI_COMM_WORLD, &m->link.node) == MPI_SUCCESS &&
           MPI_Comm_size(MPI_COMM_WORLD, &m->link.nodes) == MPI_SUCCESS &&
           MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, m->link.node, MPI_INFO_NULL,
                               &host) == MPI_SUCCESS;
    return good && MPI_Comm_rank(host, &m->link.seat) == MPI_SUCCESS &&
           MPI_Comm_size(host, &m->link.seats) == MPI_SUCCESS &&
           MPI_Comm_free(&host) == MPI_SUCCESS;
}

__attribute__((visibility("default"))) struct link *tarn_link_open(int version, char *problem,
                                                                   size_t capacity);

struct link *tarn_link_open(int version, char *problem, size_t capacity)
{
    if (version != LINK_VERSION) {
        snprintf(problem, capacity, "the plug-in is of link version %d, the library of %d",
                 LINK_VERSION, version);
        return NULL;
    }
    struct mpi_link *m = calloc(1, sizeof *m);
    if (m == NULL) {
        snprintf(problem, capacity, "out of memory");
        return NULL;
    }
    if (!start(m, problem, capacity)) {
        free(m);
        return NULL;
    }
    if (!join(m)) {
        snprintf(problem, capacity, "MPI did not give this process its place in the job");
        free(m);
        return NULL;
    }
    int length = 0;
    MPI_Get_library_version(m->engine, &length);
    m->engine[strcspn(m->engine, ",\n")] = '\0';
    char *tab = strchr(m->engine, '\t');
    if (tab != NULL)
        *tab = ' ';
    m->link.engine = m->engine;
    m->link.send = mpi_send;
    m->link.receive = mpi_receive;
    m->link.test = mpi_test;
    m->link.leave = mpi_leave;
    return &m->link;
}
