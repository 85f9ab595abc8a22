/* SPDX-License-Identifier: Apache-2.0 */
/* Under a mesh: what several ranks have the same part of must be the same. Each step's hashes of that (core/run/
 * part_words.c) are exchanged, a few words for each rank, where the ranks meet first, and with them what random
 * numbers are drawn by. */
#include "mesh_check.h"

#include <stdlib.h>
#include <string.h>

#include "member.h"
#include "tensor/random.h"

struct message {
    uint64_t key; /* of the step's random numbers; 0: it draws none */
    uint32_t word[PART_WORDS];
};

tarn_status mesh_check_begin(tarn_replica *r)
{
    struct member *m = member_of(r);
    if (m->begun || m->peers.world == 1)
        return TARN_OK;
    TRY(weights_broadcast(r));
    m->begun = true;
    return TARN_OK;
}

bool mesh_check_due(const tarn_replica *r)
{
    const struct member *m = member_of(r);
    return m->check_weights > 0 && m->peers.world > 1 &&
           r->step_count % (uint64_t)m->check_weights == 0;
}

/* Waits for the hashes alone, not for what was enqueued after them. */
static tarn_status read_words(const struct part_words *w, uint32_t *out)
{
    void *host;
    if (w->count == 0)
        return TARN_OK;
    TRY(shared_begin(w->shared, w->ready, true, &host));
    memcpy(out, host, (size_t)w->count * sizeof *out);
    return shared_end(w->shared, false);
}

/* Whether ranks that have the same parts have the same words. */
static bool words_agree(const tarn_replica *r, const struct message *all)
{
    const struct mesh *m = replica_mesh(r);
    const struct part_words *w = &r->peers->words;
    bool agree = true;
    for (int i = 0; i < w->count; i++)
        for (int rank = 1; rank < r->peers->world; rank++) {
            int first = 0;
            while (mesh_place(m, first, w->axes[i]) != mesh_place(m, rank, w->axes[i]))
                first++;
            agree &= all[first].word[i] == all[rank].word[i];
        }
    return agree;
}

static tarn_status check(tarn_replica *r, const struct message *all)
{
    for (int rank = 1; rank < r->peers->world; rank++)
        if (all[rank].key != all[0].key)
            return error_set(
                TARN_ERR_DISAGREE,
                "training step %llu: rank %d draws other random numbers than rank 0: under a mesh "
                "call tarn_seed() with the same seed on every rank, and evaluate in the same steps",
                (unsigned long long)r->step_count + 1, rank);
    return words_agree(r, all) ? TARN_OK : weights_settle(r);
}

/* Before a step what is to be healed must be, and so must be asked for in steps that never meet: they would have
 * changed all tensors until then. What the last step did tells. */
static bool is_early(const tarn_replica *r, struct member *m)
{
    const bool meets = r->metrics.exchanges != m->exchanges;
    m->exchanges = r->metrics.exchanges;
    return m->heal || !meets;
}

tarn_status mesh_check_compare(tarn_replica *r, bool before)
{
    struct member *m = member_of(r);
    if (!m->peers.words.pending || (before && !is_early(r, m)))
        return TARN_OK;
    m->peers.words.pending = false;
    struct message mine = { .key = r->graph.rand_count > 0 ? random_key_now(r) : 0 };
    struct message *all = calloc((size_t)m->peers.world, sizeof *all);
    if (all == NULL)
        return error_set(TARN_ERR_MEMORY, "replicas: out of host memory");
    tarn_status s = read_words(&m->peers.words, mine.word);
    if (s == TARN_OK)
        s = member_collect(r, (struct collective){ .kind = COLLECTIVE_ALL_GATHER,
                                                   .dtype = TARN_U8,
                                                   .count = sizeof mine,
                                                   .order = FORM_ANY,
                                                   .label = "hashes of weights",
                                                   .in = &mine,
                                                   .out = all });
    if (s == TARN_OK)
        s = check(r, all);
    free(all);
    return s;
}
