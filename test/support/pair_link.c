/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair_link.h"

enum { MOST_BYTES = 80 << 10, MOST_TICKETS = 4096, MOST_NODES = 64 };

struct pair_net {
    int nodes;
    unsigned delay;
    int inbox[MOST_NODES][2]; /* read, write */
    atomic_bool silent[MOST_NODES];
};

struct head {
    int from, channel;
};

/* What came and was not received yet. */
struct mail {
    struct mail *next;
    struct head head;
    unsigned wait;
    size_t bytes;
    char data[];
};

enum state { FREE, SENDING, RECEIVING, OVER, FAILED };

struct pending {
    enum state state;
    unsigned long order;
    int node;
    enum link_channel channel;
    char *data;
    size_t bytes;
};

struct pair_link {
    struct link link; /* first */
    struct pair_net *net;
    struct pending pending[MOST_TICKETS];
    int highest; /* tickets that were ever used */
    unsigned long order;
    struct mail *mails;
    uint32_t seed;
    char buffer[sizeof(struct head) + MOST_BYTES];
};

struct pair_net *pair_net_new(int nodes, unsigned delay)
{
    struct pair_net *net = calloc(1, sizeof *net);
    net->nodes = nodes;
    net->delay = delay;
    for (int i = 0; i < nodes; i++)
        if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, net->inbox[i]) != 0)
            abort();
    return net;
}

void pair_net_free(struct pair_net *net)
{
    for (int i = 0; i < net->nodes; i++) {
        close(net->inbox[i][0]);
        close(net->inbox[i][1]);
    }
    free(net);
}

void pair_net_silence(struct pair_net *net, int node)
{
    net->silent[node] = true;
}

static int begin(struct link *l, enum state state, int node, enum link_channel channel, void *data,
                 size_t bytes)
{
    struct pair_link *p = (struct pair_link *)l;
    int ticket = 0;
    while (ticket < MOST_TICKETS && p->pending[ticket].state != FREE)
        ticket++;
    if (ticket == MOST_TICKETS || bytes > MOST_BYTES) {
        snprintf(l->problem, sizeof l->problem, "no ticket for %zu bytes", bytes);
        return -1;
    }
    p->highest = ticket >= p->highest ? ticket + 1 : p->highest;
    p->pending[ticket] = (struct pending){ .state = state,
                                           .order = p->order++,
                                           .node = node,
                                           .channel = channel,
                                           .data = data,
                                           .bytes = bytes };
    return ticket;
}

static int pair_send(struct link *l, int to, enum link_channel channel, const void *data,
                     size_t bytes)
{
    return begin(l, SENDING, to, channel, (void *)(uintptr_t)data, bytes);
}

static int pair_receive(struct link *l, int from, enum link_channel channel, void *data,
                        size_t bytes)
{
    return begin(l, RECEIVING, from, channel, data, bytes);
}

static void read_inbox(struct pair_link *p)
{
    for (;;) {
        const ssize_t n =
            recv(p->net->inbox[p->link.node][0], p->buffer, sizeof p->buffer, MSG_DONTWAIT);
        if (n < (ssize_t)sizeof(struct head))
            return;
        struct mail *m = malloc(sizeof *m + (size_t)n), **at = &p->mails;
        memcpy(&m->head, p->buffer, sizeof m->head);
        m->bytes = (size_t)n - sizeof m->head;
        memcpy(m->data, p->buffer + sizeof m->head, m->bytes);
        p->seed = p->seed * 1664525u + 1013904223u;
        m->wait = p->net->delay ? (p->seed >> 8) % p->net->delay : 0;
        m->next = NULL;
        while (*at != NULL)
            at = &(*at)->next;
        *at = m;
    }
}

/* The oldest that fits and was not overtaken by a younger one of its own sender. */
static struct mail **find(struct pair_link *p, const struct pending *r)
{
    bool held[MOST_NODES] = { false };
    for (struct mail **at = &p->mails; *at != NULL; at = &(*at)->next) {
        const struct head h = (*at)->head;
        if (h.channel != (int)r->channel || (r->node != LINK_ANY && h.from != r->node) ||
            held[h.from])
            continue;
        if ((*at)->wait == 0)
            return at;
        held[h.from] = true;
    }
    return NULL;
}

/* The earliest ticket that has the same way. */
static int first_of(const struct pair_link *p, int ticket)
{
    const struct pending *a = &p->pending[ticket];
    int first = ticket;
    for (int i = 0; i < p->highest; i++) {
        const struct pending *b = &p->pending[i];
        if (b->state == a->state && b->node == a->node && b->channel == a->channel &&
            b->order < p->pending[first].order)
            first = i;
    }
    return first;
}

static void try_send(struct pair_link *p, struct pending *s)
{
    const struct head head = { p->link.node, (int)s->channel };
    struct iovec parts[2] = { { .iov_base = (void *)(uintptr_t)&head, .iov_len = sizeof head },
                              { .iov_base = s->data, .iov_len = s->bytes } };
    const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    if (sendmsg(p->net->inbox[s->node][1], &message, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        s->state = OVER;
}

static bool receive_now(struct pair_link *p, struct pending *r)
{
    struct mail **at = find(p, r);
    if (at == NULL)
        return false;
    struct mail *m = *at;
    const bool fits = m->bytes == r->bytes;
    if (fits)
        memcpy(r->data, m->data, m->bytes);
    else
        snprintf(p->link.problem, sizeof p->link.problem, "%zu bytes came for %zu", m->bytes,
                 r->bytes);
    *at = m->next;
    free(m);
    r->state = fits ? OVER : FAILED;
    return true;
}

static int pair_test(struct link *l, int ticket)
{
    struct pair_link *p = (struct pair_link *)l;
    struct pending *t = &p->pending[ticket];
    if (p->net->silent[l->node])
        return 0;
    read_inbox(p);
    for (struct mail *m = p->mails; m != NULL; m = m->next)
        m->wait -= m->wait > 0;
    for (int i = 0; i < p->highest; i++)
        if (p->pending[i].state == SENDING && first_of(p, i) == i)
            try_send(p, &p->pending[i]);
    /* As engines do: what came for earlier receives goes there, whichever is asked about. */
    while (t->state == RECEIVING && receive_now(p, &p->pending[first_of(p, ticket)])) {
    }
    if (t->state != OVER && t->state != FAILED)
        return 0;
    const bool good = t->state == OVER;
    t->state = FREE;
    return good ? 1 : -1;
}

static void pair_leave(struct link *l, bool orderly)
{
    (void)orderly;
    struct pair_link *p = (struct pair_link *)l;
    while (p->mails != NULL) {
        struct mail *m = p->mails;
        p->mails = m->next;
        free(m);
    }
    free(p);
}

struct link *pair_link_open(struct pair_net *net, int node)
{
    struct pair_link *p = calloc(1, sizeof *p);
    p->net = net;
    p->seed = (uint32_t)node + 1;
    p->link.node = node;
    p->link.nodes = net->nodes;
    p->link.seat = node;
    p->link.seats = net->nodes;
    p->link.engine = "sockets of one process";
    p->link.send = pair_send;
    p->link.receive = pair_receive;
    p->link.test = pair_test;
    p->link.leave = pair_leave;
    return &p->link;
}
