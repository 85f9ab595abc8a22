/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a node that has the link: it moves what goes between nodes, answers when others ask where
 * this node is, also while its replicas compile, and finds out who is late and who is gone.
 *
 * Threads: any may call; user's functions are called by the porter's, which holds no lock then. */
#ifndef TARN_PORTER_H
#define TARN_PORTER_H

#include "link.h"
#include "rounds.h"

struct porter;

/* How far a node is. */
struct whereabouts {
    uint64_t number; /* of the newest collective that all its ranks have come to */
    bool waits;      /* they wait for its end */
    int32_t rank;    /* the first that has not come to the one after it */
    bool builds;     /* that one compiles */
    bool returned;   /* that one's function has returned */
};

/* Who takes part in a launch on this node. */
struct porter_user {
    void *user;
    void (*where)(void *user, struct whereabouts *out);
    /* The launch has failed on another node, or because of one. Before `over`, if that is due. */
    void (*failed)(void *user, tarn_status status, const char *line);
    /* The task that was started has ended: TARN_OK, TARN_ERR_WEIGHTS, or why not. */
    void (*over)(void *user, tarn_status status, const char *line);
};

struct porter_times {
    double timeout, build_timeout; /* seconds */
    double grace;                  /* for an answer, and for others to end after a failure */
};

/* Starts the thread, which opens the link; returns when it is open. TARN_ERR_DEVICE with the link's line. */
TARN_CHECKED tarn_status porter_new(link_open_fn open, struct porter **out);
/* Leaves the job: orderly when no launch failed, and then it waits for all nodes. NULL is a no-op. */
void porter_free(struct porter *p);
/* Only what does not change: node, nodes, seat, seats, engine. */
const struct link *porter_link(const struct porter *p);
/* Whether a launch has failed: there can be no other then. */
bool porter_is_broken(struct porter *p);

/* A launch begins on all nodes: each gets what all had to say, `bytes` each, in the order of the nodes. Its
 * tasks come after it, and porter_leave() ends it, also when it failed. */
TARN_CHECKED tarn_status porter_enter(struct porter *p, struct porter_times times, const void *own,
                                      size_t bytes, void *all);
/* Who answers from here on. `names` has a text for each node, which must stay until porter_leave(). */
void porter_attend(struct porter *p, const struct porter_user *user, const char *const *names);
/* One at a time; porter_user.over tells its end. */
void porter_start(struct porter *p, const struct task *task);
/* If the launch fails here, then because of that node. */
void porter_blame(struct porter *p, int node);
/* The launch has failed here: all nodes are told. Does not wait. */
void porter_tell(struct porter *p, tarn_status status, const char *line);
/* After a failure: waits until the node whose failure it is has left, and so has said all, half of the grace at
 * most. Not for one that does not answer. */
void porter_hear_culprit(struct porter *p);
/* Nothing more comes from this node. Waits for all others; after a failure a moment only, and for those that
 * answer. Returns with
 * porter_user.failed called if the launch fails meanwhile; call it again then, with good false. */
void porter_leave(struct porter *p, bool good);

#endif
