/* SPDX-License-Identifier: Apache-2.0 */
/* Shares out a recorded program over the ranks of a mesh. In: a replica's graph and what its leaves' specs are. Out: the
 * program of a rank, once all ranks are known to have recorded the same. */
#include "run/local_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "env.h"
#include "log.h"
#include "tensor/shape.h"

/* ---- do all ranks have the same? ------------------------------------------------------------ */

enum { TEXT_WORDS = 24 }; /* of a node, for the line */

static void describe(const tarn_replica *r, uint32_t i, char *out, size_t capacity)
{
    const struct node *n = &r->graph.nodes[i];
    const char *name = n->op == &op_owned    ? r->owned[n->arg.leaf.slot].name
                       : n->op == &op_assign ? r->owned[n->arg.assign.owned].name
                                             : NULL;
    snprintf(out, capacity, "%s %s%s%s", n->op->name, shape_text(n->shape), name ? " of " : "",
             name != NULL ? name : "");
}

/* Every rank's words side by side. */
static tarn_status exchange(tarn_replica *r, const void *mine, size_t words, int32_t **all)
{
    const size_t world = (size_t)r->peers->world;
    *all = calloc(world * words + 1, sizeof **all);
    if (*all == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    memcpy(*all + (size_t)r->peers->rank * words, mine, words * sizeof **all);
    return r->peers->add_words(r, "the graph of a plan", *all, world * words);
}

static int first_other(const int32_t *all, int world, size_t words)
{
    int rank = 1;
    while (rank < world && memcmp(all, all + (size_t)rank * words, words * sizeof *all) == 0)
        rank++;
    return rank;
}

static tarn_status differ(tarn_replica *r, int rank, uint32_t node, bool specs)
{
    char mine[4 * TEXT_WORDS] = "nothing";
    int32_t *all;
    if (node < r->graph.count)
        describe(r, node, mine, sizeof mine);
    tarn_status s = exchange(r, mine, TEXT_WORDS, &all);
    if (s == TARN_OK)
        s = error_set(
            TARN_ERR_DISAGREE,
            "plan: rank %d recorded another graph than rank 0: node %u is %.95s, on rank 0 "
            "%.95s%s; record the same on every rank",
            rank, (unsigned)node, (const char *)(all + (size_t)rank * TEXT_WORDS),
            (const char *)all, specs ? " with another mark, argument or operand" : "");
    free(all);
    return s;
}

/* The first node that differs, for the line. */
static tarn_status find_difference(tarn_replica *r, const int32_t *counts, size_t words)
{
    const int world = r->peers->world;
    uint32_t most = 0;
    for (int i = 0; i < world; i++)
        most =
            (uint32_t)counts[(size_t)i * words] > most ? (uint32_t)counts[(size_t)i * words] : most;
    int32_t *mine = calloc((size_t)most + 1, sizeof *mine), *all = NULL;
    if (mine == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (uint32_t i = 1; i < r->graph.count; i++)
        mine[i] = (int32_t)(uint32_t)graph_node_hash(r, i);
    tarn_status s = exchange(r, mine, most, &all);
    const int rank = s == TARN_OK ? first_other(all, world, most) : world;
    uint32_t node = 0;
    while (s == TARN_OK && rank < world && node < most &&
           all[node] == all[(size_t)rank * most + node])
        node++;
    if (s == TARN_OK && rank < world)
        s = differ(r, rank, node, node < (uint32_t)counts[0]);
    else if (s == TARN_OK)
        s = error_set(TARN_ERR_DISAGREE,
                      "plan: the ranks ask for different values of one graph, or "
                      "their tensors have other marks; read the same on every "
                      "rank");
    free(mine);
    free(all);
    return s;
}

static tarn_status check_same(tarn_replica *r, const struct program *p)
{
    struct {
        int32_t count;
        uint64_t hash[2], asked;
    } mine;
    int32_t *all;
    memset(&mine, 0, sizeof mine);
    mine.count = (int32_t)p->count;
    memcpy(mine.hash, r->graph.hash, sizeof mine.hash);
    mine.asked =
        XXH3_64bits_withSeed(p->outputs, (size_t)p->output_count * sizeof *p->outputs, p->effects);
    const size_t words = sizeof mine / sizeof *all;
    tarn_status s = exchange(r, &mine, words, &all);
    if (s == TARN_OK && first_other(all, r->peers->world, words) < r->peers->world)
        s = find_difference(r, all, words);
    free(all);
    return s;
}

/* ---- collectives ------------------------------------------------------------------------ */

static void fill(const struct shard_group *group, tarn_shape shape, tarn_dtype dtype,
                 union op_arg *arg)
{
    static const enum exchange_kind kinds[] = { [SHARD_ALL_GATHER] = EXCHANGE_ALL_GATHER,
                                                [SHARD_ALL_REDUCE] = EXCHANGE_ALL_REDUCE,
                                                [SHARD_REDUCE_SCATTER] = EXCHANGE_REDUCE_SCATTER,
                                                [SHARD_ALL_TO_ALL] = EXCHANGE_ALL_TO_ALL };
    static const enum exchange_reduction reductions[] = {
        [SHARD_SUM] = EXCHANGE_SUM, [SHARD_MAX] = EXCHANGE_MAX, [SHARD_MIN] = EXCHANGE_MIN
    };
    const struct exchange e = { .kind = kinds[group->kind],
                                .reduction = reductions[group->reduction],
                                .axes = (uint8_t)group->axes };
    (void)dtype;
    *arg = exchange_arg(&e, shape, 0);
}

/* A program that exchanges already is one rank's; users cannot record one under a mesh. */
static bool is_local(const struct program *p)
{
    bool any = false;
    for (uint32_t i = 1; i < p->count; i++)
        any |= p->nodes[i].op->kind == OP_HOST;
    return any;
}

/* Which rank holds which part of what the program is marked to cut. */
static void draw_parts(const tarn_replica *r, const struct program *p, struct text *log)
{
    for (uint32_t i = 1; i < p->count; i++) {
        const struct node *n = &p->nodes[i];
        if (n->op == &op_owned && !spec_is_whole(&n->arg.leaf.spec)) {
            const char *name = r->owned[n->arg.leaf.slot].name;
            shard_picture(log, name != NULL ? name : "state", replica_mesh(r), n->shape,
                          &n->arg.leaf.spec);
        }
    }
}

struct shard_input local_program_input(const tarn_replica *r, const struct program *whole)
{
    const struct op *const *has = r->peers->exchange;
    return (struct shard_input){
        .program = whole,
        .mesh = replica_mesh(r),
        .calls = { .op = { [SHARD_ALL_GATHER] = has[EXCHANGE_ALL_GATHER],
                           [SHARD_ALL_REDUCE] = has[EXCHANGE_ALL_REDUCE],
                           [SHARD_REDUCE_SCATTER] = has[EXCHANGE_REDUCE_SCATTER],
                           [SHARD_ALL_TO_ALL] = has[EXCHANGE_ALL_TO_ALL] },
                   .fill = fill },
        .bucket = (int64_t)r->peers->bucket_bytes,
    };
}

tarn_status local_program_make(tarn_replica *r, const struct program *whole,
                               const struct spec *outputs, struct spec *lie,
                               struct local_program *out)
{
    struct text log = { 0 };
    memset(out, 0, sizeof *out);
    if (is_local(whole)) {
        out->sharded.program = *whole;
        return TARN_OK;
    }
    struct shard_input in = local_program_input(r, whole);
    in.outputs = outputs;
    in.lie = lie;
    in.log = env_debug("shard") && r->peers->rank == 0 ? &log : NULL;
    if (in.log != NULL)
        draw_parts(r, whole, &log);
    TRY(shard_program(&in, &out->sharded));
    if (log.length > 0)
        log_text(TARN_LOG_DEBUG, log.data);
    text_free(&log);
    return out->sharded.collectives > 0 ? check_same(r, whole) : TARN_OK;
}

void local_program_free(struct local_program *p)
{
    shard_free(&p->sharded);
    memset(p, 0, sizeof *p);
}
