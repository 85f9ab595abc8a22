/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on several replicas: parts of a CPU, or one device several times. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tarn_dist.h"

struct launch {
    const struct check *c;
    struct readings *out;
    char error[MAX_WORLD][sizeof((struct outcome *)0)->what];
};

static tarn_status run_replica(tarn_replica *r, void *arg)
{
    struct launch *l = arg;
    const int rank = tarn_rank(r);
    if (device_run(r, l->c->p, &l->c->m[l->c->p->shards > 0 ? 0 : rank], l->c->want, &l->out[rank],
                   l->error[rank], sizeof l->error[rank]))
        return TARN_OK;
    const tarn_status s = tarn_error_status(r);
    return s != TARN_OK ? s : TARN_ERR_STATE;
}

/* Every other pair is the two halves of a CPU. */
static void choose_devices(const struct program *p, int count, char *out, size_t capacity)
{
    const char *chosen = getenv("TARN_DEVICES"), *one = chosen != NULL ? chosen : "0";
    size_t used = 0;
    for (int k = 0; k < count && used < capacity; k++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", k > 0 ? "," : "", one);
    if (count == 2 && p->seed % 2 == 0 && chosen == NULL)
        snprintf(out, capacity, "cpu/2");
}

bool team_run(const struct check *c, int count, struct readings *out)
{
    char devices[256];
    struct launch *l = calloc(1, sizeof *l);
    if (l == NULL)
        abort();
    *l = (struct launch){ .c = c, .out = out };
    memset(out, 0, (size_t)count * sizeof *out);
    choose_devices(c->p, count, devices, sizeof devices);
    const tarn_launch_options options = {
        .devices = devices, .count = count, .virtual_shards = c->p->shards, .timeout = 120
    };
    const bool good = tarn_launch(run_replica, l, options) == TARN_OK;
    if (!good) {
        int at = 0; /* the replica that complained of more than that the launch ended */
        while (at + 1 < count && l->error[at][0] == '\0')
            at++;
        snprintf(c->o->what, sizeof c->o->what, "%.250s; %.140s", tarn_error(NULL), l->error[at]);
        for (int rank = 0; rank < count; rank++)
            readings_free(&out[rank]);
    }
    if (tarn_launch_left() > 0)
        abort(); /* it goes on using all of this */
    free(l);
    return good;
}

static bool is_weight(const struct check *c, const struct result *r)
{
    const struct interpreter *m = c->m;
    return r->slot >= 0 && m->optimizer >= 0 && c->p->line[m->slot[r->slot].line].op != OP_ID_keep;
}

/* The reference is the same on this rank as on rank 0. Where that need not mean that both compute
 * the same from the same, zeros may differ in their sign. */
static bool alike(const struct check *c, int rank, int result)
{
    const struct result *r = &c->want->r[result];
    const struct tape_node *a = &c->m->tape->node[r->node[0]],
                           *b = &c->m->tape->node[r->node[rank]];
    if (memcmp(a->v, b->v, 2 * (size_t)a->count * sizeof *a->v) != 0)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->v[i] == 0 && c->p->by_rank && !is_weight(c, r))
            return false;
    return true;
}

void team_compare(const struct check *c, const struct readings *got, enum configuration in)
{
    for (int rank = 1; rank < c->p->world && !c->o->failed; rank++)
        check_bits(c, rank, &got[rank], &got[0], "on rank 0", in, alike);
}
