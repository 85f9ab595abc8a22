/* SPDX-License-Identifier: Apache-2.0 */
/* Each node tells all what it has and what it was asked for; then all come to the same verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "log.h"
#include "pattern.h"
#include "seating.h"
#include "tensor/mesh.h"

enum {
    SHARDS_EACH = 16, /* rows of partial sums that one replica keeps */
    SHARDS_MOST = 1024,
    RANKS_MOST = 1 << 16
};

/* What a node tells. Sent as it is. */
struct hello {
    char host[64], device[128], driver[64], line[600];
    int32_t status, ranks, shards, check_weights, sync_norm, heal;
    uint64_t bucket;
    struct mesh mesh;
};

/* ---- devices -------------------------------------------------------------------------------- */

/* Processes on one host divide its devices: of several processes each gets its part. */
static tarn_status select_devices(const tarn_launch_options *o, int seat, int seats,
                                  struct seating *out)
{
    struct device all[COMMUNICATOR_MOST];
    int count = 0;
    const int wanted = o->count * seats;
    TRY(device_select_many(o->devices, wanted, all, COMMUNICATOR_MOST, &count));
    if (count < seats && count == 1 && all[0].kind == DEVICE_CPU)
        TRY(device_select_many(o->devices, seats, all, COMMUNICATOR_MOST, &count));
    if (count < seats)
        return error_set(TARN_ERR_NO_DEVICE,
                         "launch: %d processes on this host, but %d devices selected: start fewer "
                         "(one for each machine is enough), or name a device several times "
                         "(TARN_DEVICES=0,0)",
                         seats, count);
    const int first = count * seat / seats, last = count * (seat + 1) / seats;
    out->ranks = (struct ranks){ .count = last - first, .world = last - first };
    memcpy(out->devices, all + first, (size_t)(last - first) * sizeof *all);
    return TARN_OK;
}

/* ---- do they fit together? ------------------------------------------------------------------ */

static tarn_status check_shards(int shards, int world)
{
    if (shards == 0)
        return TARN_OK;
    if (!is_power_of_two(shards) || shards > SHARDS_MOST)
        return error_set(TARN_ERR_ARGUMENT,
                         "launch: %d virtual shards, must be a power of two up to %d", shards,
                         SHARDS_MOST);
    if (!is_power_of_two(world) || shards % world != 0)
        return error_set(
            TARN_ERR_ARGUMENT,
            "launch: %d virtual shards cannot be shared by %d replicas: use 1, 2, 4 ... up to %d",
            shards, world, shards);
    if (shards / world > SHARDS_EACH)
        return error_set(TARN_ERR_ARGUMENT,
                         "launch: %d virtual shards on %d replicas: one replica can have %d, so "
                         "use %d replicas or more, or fewer shards",
                         shards, world, SHARDS_EACH, shards / SHARDS_EACH);
    return TARN_OK;
}

static tarn_status differ(const struct hello *all, int node, const char *what)
{
    return error_set(TARN_ERR_DISAGREE,
                     "launch: node %d (%s) has another %s than node 0 (%s); all must be started "
                     "alike",
                     node, all[node].host, what, all[0].host);
}

static tarn_status check_two(const struct hello *all, int node, bool first)
{
    const struct hello *a = &all[0], *b = &all[node];
    const char *what = a->shards != b->shards                 ? "number of virtual shards"
                       : a->check_weights != b->check_weights ? "interval of checks"
                       : a->sync_norm != b->sync_norm         ? "sync_norm"
                       : a->heal != b->heal                   ? "heal"
                       : a->bucket != b->bucket               ? "bucket size"
                       : memcmp(&a->mesh, &b->mesh, sizeof a->mesh) != 0 ? "mesh"
                                                                         : NULL;
    if (what != NULL)
        return differ(all, node, what);
    if (a->shards > 0 && a->ranks != b->ranks)
        return error_set(TARN_ERR_ARGUMENT,
                         "launch: node %d (%s) has %d replicas, node 0 (%s) %d: with virtual "
                         "shards all nodes need the same number",
                         node, b->host, b->ranks, a->host, a->ranks);
    if (strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0)
        return TARN_OK;
    if (a->shards > 0)
        return error_set(
            TARN_ERR_DISAGREE,
            "launch: node %d (%s) has %s (driver %s), node 0 (%s) %s (driver %s): with "
            "virtual shards they must be equal, as their bits may differ",
            node, b->host, b->device, b->driver, a->host, a->device, a->driver);
    if (first)
        log_print(TARN_LOG_WARNING, "tarn: node %d (%s) has %s, node 0 (%s) %s", node, b->host,
                  b->device, a->host, a->device);
    return TARN_OK;
}

static tarn_status check_all(const struct hello *all, int nodes, int node)
{
    int64_t world = 0;
    for (int i = 0; i < nodes; i++) {
        if (all[i].status != TARN_OK)
            return error_set((tarn_status)all[i].status, "node %d (%s): %s", i, all[i].host,
                             all[i].line);
        world += all[i].ranks;
    }
    if (world > RANKS_MOST)
        return error_set(TARN_ERR_ARGUMENT, "launch: %lld replicas, at most %d", (long long)world,
                         RANKS_MOST);
    for (int i = 1; i < nodes; i++)
        TRY(check_two(all, i, node == 0));
    return check_shards(all[0].shards, (int)world);
}

/* ---- making it ------------------------------------------------------------------------------ */

static void introduce(const tarn_launch_options *o, const struct seating *s, tarn_status status,
                      struct hello *out)
{
    memset(out, 0, sizeof *out);
    if (gethostname(out->host, sizeof out->host - 1) != 0)
        snprintf(out->host, sizeof out->host, "?");
    out->status = (int32_t)status;
    if (status != TARN_OK) {
        snprintf(out->line, sizeof out->line, "%s", error_text());
    } else {
        snprintf(out->device, sizeof out->device, "%.120s", s->devices[0].name);
        snprintf(out->driver, sizeof out->driver, "%.60s", s->devices[0].driver);
    }
    out->ranks = s->ranks.count;
    out->shards = o->virtual_shards;
    out->check_weights = o->check_weights;
    out->sync_norm = o->sync_norm;
    out->heal = o->heal;
    out->bucket = o->bucket_bytes;
    /* Each node checks its own against the number of ranks once that is known. */
    for (int a = 0; a < MESH_AXES && o->mesh.axis[a].name != NULL; a++) {
        out->mesh.extent[a] = o->mesh.axis[a].ranks;
        snprintf(out->mesh.name[a], MESH_NAME, "%s", o->mesh.axis[a].name);
    }
}

static tarn_status number_ranks(const struct hello *all, int nodes, int node, struct seating *s)
{
    s->firsts = calloc((size_t)nodes + 1, sizeof *s->firsts);
    s->names = calloc((size_t)nodes, sizeof *s->names);
    char *text = calloc((size_t)nodes, sizeof all->host);
    if (s->firsts == NULL || s->names == NULL || text == NULL) {
        free(text);
        return error_set(TARN_ERR_MEMORY, "launch: no memory for %d nodes", nodes);
    }
    for (int i = 0; i < nodes; i++) {
        s->firsts[i + 1] = s->firsts[i] + all[i].ranks;
        s->names[i] = text + (size_t)i * sizeof all->host;
        memcpy(s->names[i], all[i].host, sizeof all->host - 1);
    }
    s->ranks.first = s->firsts[node];
    s->ranks.world = s->firsts[nodes];
    return TARN_OK;
}

tarn_status seating_make(const tarn_launch_options *o, struct porter_times times,
                         struct seating *out)
{
    memset(out, 0, sizeof *out);
    if (o->nodes >= 0)
        TRY(job_join(&out->porter));
    if (out->porter == NULL) {
        TRY(select_devices(o, 0, 1, out));
        return check_shards(o->virtual_shards, out->ranks.world);
    }
    const struct link *link = porter_link(out->porter);
    struct hello own, *all = calloc((size_t)link->nodes, sizeof *all);
    if (all == NULL) {
        out->porter = NULL;
        return error_set(TARN_ERR_MEMORY, "launch: no memory for %d nodes", link->nodes);
    }
    const tarn_status mine = select_devices(o, link->seat, link->seats, out);
    introduce(o, out, mine, &own);
    /* After a failure what other nodes send may still come into `all`, which stays therefore. */
    TRY(porter_enter(out->porter, times, &own, sizeof own, all));
    tarn_status status = check_all(all, link->nodes, link->node);
    if (status == TARN_OK) {
        status = number_ranks(all, link->nodes, link->node, out);
        if (status != TARN_OK)
            porter_tell(out->porter, status, error_text());
    }
    free(all);
    return status;
}

void seating_free(struct seating *s)
{
    free(s->firsts);
    if (s->names != NULL)
        free(s->names[0]);
    free(s->names);
}
