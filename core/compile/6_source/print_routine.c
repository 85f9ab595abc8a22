/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of routines. In: a nest of that kind. Out: one statement. */
#include "compile/6_source/print.h"

void print_routine(struct printer *pr, const char *low, const char *high)
{
    const struct nest *n = pr->n;
    struct text t = { 0 };
    text_add(&t, "%s(%s, %s", n->routine.function, low, high);
    text_add(&t, ", v%d", n->store[0].value);
    if (n->store[0].address.constant != 0)
        text_add(&t, " + %d", n->store[0].address.constant);
    if (n->stores > 1 && pr->s->groups > 1)
        text_add(&t, ", v%d + %lldL * %s", n->store[1].value, (long long)n->routine.own,
                 group_name(pr));
    else if (n->stores > 1)
        text_add(&t, ", v%d", n->store[1].value);
    for (int e = 0; e < n->expr_count; e++)
        text_add(&t, ", v%d", n->exprs[e].access.value);
    for (int i = 0; i < n->routine.numbers; i++)
        text_add(&t, ", %lldL", (long long)n->routine.number[i]);
    print_line(pr, "%s);", t.data != NULL ? t.data : "");
    pr->out->failed |= t.failed;
    text_free(&t);
}
