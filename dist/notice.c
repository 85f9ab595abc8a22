/* SPDX-License-Identifier: Apache-2.0 */
/* Field by field: a struct has bytes between its fields that mean nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "agree.h"
#include "notice.h"

void notice_make(struct notice *n, const struct collective *c, uint64_t number, int rank, int node,
                 bool differs)
{
    memset(n, 0, sizeof *n);
    snprintf(n->version, sizeof n->version, "%s", TARN_VERSION);
    n->number = number;
    n->ask = *c;
    n->ask.label = NULL;
    n->ask.in = NULL;
    n->ask.out = NULL;
    n->ask.mesh = NULL;
    n->ask.asked = NULL;
    n->rank = rank;
    n->node = node;
    n->differs = differs ? node : -1;
    const size_t bytes = tarn_dtype_bytes(c->dtype);
    if (c->checksum > 0)
        n->witness = XXH64((const char *)c->in + bytes * c->count, bytes * c->checksum, 0);
    snprintf(n->label, sizeof n->label, "%s", c->label != NULL ? c->label : "");
}

tarn_status notice_join(struct notice *a, const struct notice *b)
{
    struct notice other = *b;
    other.label[sizeof other.label - 1] = '\0';
    a->ask.label = a->label;
    other.ask.label = other.label;
    if (strncmp(a->version, b->version, sizeof a->version) != 0)
        return error_set(TARN_ERR_DISAGREE,
                         "node %d has Tarn %.15s, node %d %.15s: all need the same", b->node,
                         b->version, a->node, a->version);
    if (a->number != b->number)
        return error_set(TARN_ERR_DISAGREE,
                         "rank %d is at collective %" PRIu64 ", rank %d at %" PRIu64
                         ": record the same collectives in the same order on every replica",
                         a->rank, a->number, b->rank, b->number);
    TRY(agree_two(&a->ask, a->rank, &other.ask, b->rank, a->number));
    /* One of both may say what the other leaves open. */
    if (a->ask.origin == 0)
        a->ask.origin = b->ask.origin;
    if (a->ask.order == FORM_ANY)
        a->ask.order = b->ask.order;
    const bool here = a->rank < b->rank;
    const struct notice *low = here ? a : b, *high = here ? b : a;
    const int32_t differs = low->differs >= 0               ? low->differs
                            : low->witness != high->witness ? high->node
                                                            : high->differs;
    a->witness = low->witness;
    a->rank = low->rank;
    a->node = low->node;
    a->differs = differs;
    return TARN_OK;
}
