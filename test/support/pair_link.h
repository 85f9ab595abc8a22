/* SPDX-License-Identifier: Apache-2.0 */
/* A link between nodes of one process: each has an inbox, a pair of sockets, into which the others write.
 * Messages of different nodes come late and in any order; those of one come in theirs. */
#ifndef TEST_PAIR_LINK_H
#define TEST_PAIR_LINK_H

#include "link.h"

struct pair_net;

/* `delay`: looks into the inbox that a message may be held back, at most. */
struct pair_net *pair_net_new(int nodes, unsigned delay);
/* After all links have left. */
void pair_net_free(struct pair_net *net);
/* The node neither sends nor receives from now on, as if it were gone. Any thread. */
void pair_net_silence(struct pair_net *net, int node);
struct link *pair_link_open(struct pair_net *net, int node);

#endif
