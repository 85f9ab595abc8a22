/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the nodes of a job: a table of functions that some engine fills in. A node is one
 * process of the job. No types of the engine, and nothing of tensors or replicas.
 *
 * Nothing here waits. Messages from one node to another on one channel arrive in the order in which they were
 * sent and are received in the order in which the receives were begun; of others no order is known. Every
 * message is received with the number of bytes that it was sent with.
 *
 * Threads: one, from opening to leaving. */
#ifndef TARN_LINK_H
#define TARN_LINK_H

#include <stdbool.h>
#include <stddef.h>

enum { LINK_VERSION = 1, LINK_ANY = -1 };

enum link_channel { LINK_DATA, LINK_CONTROL };

struct link {
    int node, nodes;    /* which one this is, of how many */
    int seat, seats;    /* the same among the nodes on this host */
    const char *engine; /* "Open MPI 4.1.4" */

    /* Begin a message, and return a ticket, or a negative number with `problem` filled in. The memory is the
     * engine's until the ticket is done, or for ever if it never is. `from` may be LINK_ANY. */
    int (*send)(struct link *l, int to, enum link_channel channel, const void *data, size_t bytes);
    int (*receive)(struct link *l, int from, enum link_channel channel, void *data, size_t bytes);
    /* 1: done, and the ticket is of no more use; 0: not yet; negative: failed, with `problem` filled in. */
    int (*test)(struct link *l, int ticket);
    /* Frees the link. `orderly`: all nodes do so; it may wait for them. */
    void (*leave)(struct link *l, bool orderly);
    char problem[400];
};

/* What a plug-in exports under the name "tarn_link_open": joins the job that this process was started in.
 * NULL with a line in `problem`. */
typedef struct link *(*link_open_fn)(int version, char *problem, size_t capacity);

#endif
