/* SPDX-License-Identifier: Apache-2.0 */
/* A training step of any of the networks, on data that are already on the device. */
#include "timed.h"

#include <stdlib.h>
#include <string.h>

#include <tarn_dist.h>

/* ---- networks -------------------------------------------------------------------------------- */

const struct timed_network *timed_at(int i)
{
    const struct timed_network *const lists[] = { timed_images,  timed_rows,  timed_more,
                                                  timed_further, timed_large, timed_others,
                                                  timed_depth,   timed_fresh, timed_later,
                                                  timed_memory,  timed_odd,   timed_scenes };
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (const struct timed_network *n = lists[l]; n->name != NULL; n++)
            if (i-- == 0)
                return n;
    return NULL;
}

const struct timed_network *timed_find(const char *name)
{
    const struct timed_network *n;
    for (int i = 0; (n = timed_at(i)) != NULL && strcmp(n->name, name) != 0;)
        i++;
    return n;
}

/* ---- what they work on ----------------------------------------------------------------------- */

/* Numbers below `classes`, as measure.labels() of the peers has them, or uniform ones; kept on the device. */
static tarn_tensor make(tarn_replica *r, tarn_shape s, int classes)
{
    if (classes == 0)
        return tarn_keep(tarn_rand(r, s));
    const int64_t count = tarn_shape_count(s);
    int32_t *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count && values != NULL; i++)
        values[i] = (int32_t)(((uint32_t)i * 2654435761u >> 16) % (uint32_t)classes);
    const tarn_tensor made = tarn_keep(tarn_from(r, s, TARN_I32, values));
    free(values);
    return made;
}

tarn_tensor timed_prepare(tarn_replica *r, const struct timed_network *n, int batch,
                          struct timed_work *w)
{
    tarn_shape x = n->x, y = n->y;
    if (batch > 0)
        x.dim[0] = batch;
    x.dim[0] /= tarn_world_size(r);
    y.dim[0] = y.dim[0] / n->x.dim[0] * x.dim[0];
    *w = (struct timed_work){ .network = n };
    w->x = make(r, x, n->words);
    w->y = make(r, y, n->classes);
    w->last = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    tarn_train(r, false);
    return n->forward(w->x);
}

/* ---- steps ----------------------------------------------------------------------------------- */

tarn_status timed_train(const struct timed_work *w)
{
    const struct timed_network *n = w->network;
    const tarn_tensor x = tarn_batch_axis(w->x, 0);
    const tarn_tensor loss =
        n->loss != NULL ? n->loss(x, w->y) : tarn_cross_entropy(n->forward(x), w->y);
    tarn_backward(loss);
    if (n->clip > 0)
        (void)tarn_clip_grad_norm(loss.replica, n->clip);
    tarn_optimizer_step(w->optimizer);
    tarn_assign(w->last, tarn_detach(loss));
    return tarn_step(loss.replica);
}
