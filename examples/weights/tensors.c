/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

bool tensor_next(struct tensor_walk *w)
{
    tarn_replica *r = w->replica;
    const int owned = tarn_owned_count(r);
    while (w->next <= 2 * owned) {
        const int i = w->next++;
        if (i < 2 * owned)
            snprintf(w->name, sizeof w->name, "%s%s", i < owned ? "" : "optimizer.momentum_buffer.",
                     tarn_owned_name(r, i % owned));
        else
            snprintf(w->name, sizeof w->name, "optimizer.step");
        w->tensor = tarn_find(r, w->name);
        if (tarn_failed(w->tensor)) /* a buffer has no momentum */
            continue;
        w->bytes = (size_t)tarn_shape_count(tarn_shape_get(w->tensor)) *
                   tarn_dtype_bytes(tarn_dtype_get(w->tensor));
        return true;
    }
    return false;
}

static tarn_status hash_tensor(XXH3_state_t *state, const struct tensor_walk *w)
{
    void *data = malloc(w->bytes ? w->bytes : 1);
    const tarn_status s = data != NULL ? tarn_read(w->tensor, data, w->bytes) : TARN_ERR_MEMORY;
    if (s == TARN_OK) {
        XXH3_64bits_update(state, w->name, strlen(w->name));
        XXH3_64bits_update(state, data, w->bytes);
    }
    free(data);
    return s;
}

tarn_status tensors_hash(tarn_replica *r, uint64_t *hash)
{
    XXH3_state_t *state = XXH3_createState();
    tarn_status s = state != NULL ? TARN_OK : TARN_ERR_MEMORY;
    if (state != NULL)
        XXH3_64bits_reset(state);
    for (struct tensor_walk w = { .replica = r }; s == TARN_OK && tensor_next(&w);)
        s = hash_tensor(state, &w);
    *hash = s == TARN_OK ? XXH3_64bits_digest(state) : 0;
    XXH3_freeState(state);
    return s;
}

tarn_status tensors_gather(tarn_replica *r, uint64_t *hashes)
{
    uint64_t mine;
    const tarn_status s = tensors_hash(r, &mine);
    if (s != TARN_OK)
        return s;
    int32_t words[2];
    memcpy(words, &mine, sizeof words);
    const tarn_tensor all = tarn_all_gather(tarn_from(r, TARN_SHAPE(2), TARN_I32, words));
    return tarn_read(all, hashes, sizeof *hashes * (size_t)tarn_world_size(r));
}
