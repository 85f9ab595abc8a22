/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of tickets: pieces of one block end in their order, so that only the oldest is asked. */
#include "parcel.h"

static int begin(struct parcel *t, struct link *link)
{
    const size_t left = t->bytes - t->begun;
    const size_t n = left < PARCEL_PIECE ? left : PARCEL_PIECE;
    char *at = t->at + t->begun;
    const int ticket = t->receives ? link->receive(link, t->node, LINK_DATA, at, n)
                                   : link->send(link, t->node, LINK_DATA, at, n);
    if (ticket < 0)
        return ticket;
    t->tickets[t->next++ % PARCEL_WINDOW] = ticket;
    t->begun += n;
    return 0;
}

int parcel_poll(struct parcel *t, struct link *link, unsigned long *moved)
{
    for (;;) {
        while (t->begun < t->bytes && t->next - t->first < PARCEL_WINDOW) {
            const int code = begin(t, link);
            if (code < 0)
                return code;
        }
        if (t->first == t->next)
            return 1;
        const int code = link->test(link, t->tickets[t->first % PARCEL_WINDOW]);
        if (code <= 0)
            return code;
        t->first++;
        (*moved)++;
    }
}
