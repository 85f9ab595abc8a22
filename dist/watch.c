/* SPDX-License-Identifier: Apache-2.0 */
/* Who is late, and who is gone? Each node that has waited too long asks all where they are. Who does not
 * answer is gone; who answers from before what the others wait for is late, unless it waits itself: then it has
 * a deadline of its own, and knows better. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "clock.h"
#include "porter_parts.h"

enum { NAMED = 8 }; /* nodes in a line */

static void ask(struct porter *p)
{
    const struct message m = { .kind = ASK };
    for (int i = 0; i < p->link->nodes; i++)
        p->others[i].answered = false;
    p->asked = seconds_now();
    porter_send_all(p, &m);
}

static bool is_late(const struct porter *p, const struct other *o)
{
    return o->answered &&
           (o->launch < p->launch || (o->where.number < p->task.notice.number && !o->where.waits));
}

/* The first of them is the culprit. */
static void list_gone(struct porter *p, char *out, size_t capacity, int *count)
{
    size_t used = 0;
    *count = 0;
    *out = '\0';
    for (int i = 0; i < p->link->nodes; i++) {
        if (i == p->link->node || p->others[i].answered || p->others[i].left)
            continue;
        p->others[i].gone = true;
        p->culprit = *count == 0 ? i : p->culprit;
        char name[100];
        porter_name_node(p, i, name, sizeof name);
        if (++*count <= NAMED && used < capacity)
            used +=
                (size_t)snprintf(out + used, capacity - used, "%s%s", *count > 1 ? ", " : "", name);
    }
    if (*count > NAMED && used < capacity)
        snprintf(out + used, capacity - used, " and %d more", *count - NAMED);
}

static void what_task(const struct porter *p, char *out, size_t capacity)
{
    const struct notice *n = &p->task.notice;
    if (!p->running)
        snprintf(out, capacity, "the end of the launch");
    else if (n->number == 0)
        snprintf(out, capacity, "launch %" PRIu32, p->launch);
    else
        snprintf(out, capacity, "collective %" PRIu64 " (\"%s\") of step %" PRIu64, n->number,
                 n->label, n->ask.step);
}

static void fail_gone(struct porter *p, const char *who, int count)
{
    char line[1000], what[200], me[100];
    what_task(p, what, sizeof what);
    porter_name_node(p, p->link->node, me, sizeof me);
    const bool most = 2 * count > p->link->nodes - 1 && p->link->nodes > 2;
    snprintf(line, sizeof line, "%.600s %s not answer%s%s; %.80s waited at %.180s", who,
             count > 1 ? "do" : "does", most ? ", or this one is cut off" : "",
             count > 1 ? ": machines, processes or the network between them may be down"
                       : ": its machine, its process or the network to it may be down",
             me, what);
    porter_fail(p, TARN_ERR_STALLED, line, true);
}

static void fail_late(struct porter *p, int node)
{
    const struct other *o = &p->others[node];
    char line[1000], what[200], name[100];
    what_task(p, what, sizeof what);
    porter_name_node(p, node, name, sizeof name);
    if (o->launch < p->launch)
        snprintf(line, sizeof line, "%s answers, but has not come to %s within %g s", name, what,
                 p->times.timeout);
    else if (o->where.returned)
        snprintf(line, sizeof line,
                 "%s answers; the function of rank %d has returned, while others came to %s; every "
                 "replica must record the same collectives",
                 name, o->where.rank, what);
    else
        snprintf(line, sizeof line,
                 "%s answers; its rank %d did not come within %g s to %s; see whether it hangs, or "
                 "raise the timeout",
                 name, o->where.rank, p->times.timeout, what);
    porter_fail(p, TARN_ERR_STALLED, line, true);
}

/* After all had time to answer. Those who wait themselves have a deadline of their own. */
static void judge(struct porter *p)
{
    int gone;
    char who[600];
    list_gone(p, who, sizeof who, &gone);
    const bool patient = seconds_now() - p->began < p->times.build_timeout;
    p->asked = 0;
    p->since = seconds_now();
    if (gone > 0) {
        fail_gone(p, who, gone);
        return;
    }
    for (int i = 0; p->running && i < p->link->nodes; i++) {
        const struct other *o = &p->others[i];
        if (i != p->link->node && is_late(p, o) && !(o->where.builds && patient)) {
            p->culprit = i;
            fail_late(p, i);
            return;
        }
    }
}

static bool all_answered(const struct porter *p)
{
    for (int i = 0; i < p->link->nodes; i++)
        if (i != p->link->node && !p->others[i].answered && !p->others[i].left)
            return false;
    return true;
}

void porter_watch(struct porter *p, bool waits)
{
    if (!waits) {
        p->asked = 0;
        return;
    }
    const double t = seconds_now();
    /* Before a launch a program may do anything. */
    const bool starts = p->running && p->task.notice.number == 0;
    const double limit = starts ? fmax(p->times.build_timeout, p->times.timeout) : p->times.timeout;
    if (p->asked == 0 && t - p->since > limit)
        ask(p);
    else if (p->asked != 0 && (all_answered(p) || t - p->asked > p->times.grace))
        judge(p);
}
