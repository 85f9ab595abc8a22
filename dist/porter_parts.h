/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the porter share. */
#ifndef TARN_PORTER_PARTS_H
#define TARN_PORTER_PARTS_H

#include <pthread.h>

#include "porter.h"

enum message_kind { ASK = 1, ANSWER, FAILED, LEFT };

/* All nodes run one program on machines of one kind: sent as it is. */
struct message {
    int32_t kind, node, status;
    int32_t culprit, gone; /* of a failure: whose it is, or -1; it does not answer */
    uint32_t launch;
    struct whereabouts where;
    char line[1100];
};

struct outgoing {
    struct outgoing *next;
    int ticket;
    struct message message;
};

/* What is known of another node in this launch. */
struct other {
    bool left, answered;
    bool gone; /* it does not answer: nobody waits for what it has to say */
    struct whereabouts where;
    uint32_t launch; /* in which it was when it answered */
};

struct porter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    link_open_fn open;
    bool opened, quits, broken;
    bool has_task, leaving, entered, attended, told;
    bool good; /* leaving: the launch succeeded here */
    struct task task;
    struct message tell; /* kind 0: nothing is to be told */
    struct porter_user user;
    uint32_t launch; /* number of the launch, from 1 */
    const char *const *names;
    struct porter_times times;
    tarn_status cause;
    char cause_line[1100];
    int culprit;      /* the node whose failure it is; -1: nobody knows */
    int blamed;       /* the one if the launch fails here; -1: this one */
    double failed_at; /* that was known here */
    struct link *link;
    struct rounds *rounds;
    bool running;
    struct other *others;
    struct message incoming, later;
    int control; /* the ticket of `incoming` */
    struct outgoing *outgoing;
    unsigned long moved;
    double since, began, asked; /* something moved; the wait began; 0: nobody was asked */
    char problem[400];
};

void porter_send_all(struct porter *p, const struct message *m);
/* "node 2 (h2)" */
void porter_name_node(const struct porter *p, int node, char *out, size_t capacity);
/* The first failure of the launch counts. `mine`: other nodes are told. */
void porter_fail(struct porter *p, tarn_status status, const char *line, bool mine);
/* Asks where the others are when nothing has moved for too long, and says who is late or gone. `waits`: this
 * node waits for others now. */
void porter_watch(struct porter *p, bool waits);

#endif
