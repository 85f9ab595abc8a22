/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norms of the list folded into the layers before them. In: what tarn_use_* were given and gave. Out: for a norm
 * that is folded, the result of the layer that it is folded into. */
#include "nn/use.h"

#include <string.h>

#include "tensor/graph.h"

static struct used *holder(const struct use_list *l, const void *layer)
{
    struct used *u = l->first;
    while (u != NULL && (const void *)&u->layer != layer)
        u = u->next;
    return u;
}

static bool same(tarn_tensor a, tarn_tensor b)
{
    return a.replica == b.replica && a.node == b.node && a.step == b.step;
}

static bool is(const struct used *u, const char *kind)
{
    return strcmp(u->kind, kind) == 0;
}

tarn_tensor use_note(const void *layer, tarn_tensor x, tarn_tensor y)
{
    struct use_list *l = use_list_of(x.replica);
    if (l != NULL) {
        l->last = tarn_failed(y) ? NULL : holder(l, layer);
        l->last_x = x;
        l->last_y = y;
    }
    return y;
}

static void fold(struct used *norm)
{
    const struct used *layer = norm->before;
    const tarn_batch_norm *n = &norm->layer.batch_norm;
    if (is(layer, "linear"))
        norm->folded.linear = tarn_linear_fold(&layer->layer.linear, n);
    else if (is(layer, "conv1d"))
        norm->folded.conv1d = tarn_conv1d_fold(&layer->layer.conv1d, n);
    else if (is(layer, "conv3d"))
        norm->folded.conv3d = tarn_conv3d_fold(&layer->layer.conv3d, n);
    else
        norm->folded.conv2d = tarn_conv2d_fold(&layer->layer.conv2d, n);
    norm->into = norm->before;
}

static tarn_tensor forward(const struct used *norm, tarn_tensor x)
{
    if (is(norm->into, "linear"))
        return tarn_linear_forward(&norm->folded.linear, x);
    if (is(norm->into, "conv1d"))
        return tarn_conv1d_forward(&norm->folded.conv1d, x);
    if (is(norm->into, "conv3d"))
        return tarn_conv3d_forward(&norm->folded.conv3d, x);
    return tarn_conv2d_forward(&norm->folded.conv2d, x);
}

static void drop(struct used *norm)
{
    const union used_layer *f = &norm->folded;
    tarn_tensor of[2] = { f->conv2d.weight, f->conv2d.bias };
    if (is(norm->into, "linear")) {
        of[0] = f->linear.weight;
        of[1] = f->linear.bias;
    } else if (is(norm->into, "conv1d")) {
        of[0] = f->conv1d.weight;
        of[1] = f->conv1d.bias;
    } else if (is(norm->into, "conv3d")) {
        of[0] = f->conv3d.weight;
        of[1] = f->conv3d.bias;
    }
    tarn_drop(of[0]);
    tarn_drop(of[1]);
    norm->into = NULL;
}

static void drop_all(struct use_list *l)
{
    for (struct used *u = l->first; u != NULL; u = u->next)
        if (u->into != NULL)
            drop(u);
}

bool use_folded(const void *norm, tarn_tensor x, tarn_tensor *y)
{
    struct use_list *l = use_list_of(x.replica);
    struct used *u = l != NULL ? holder(l, norm) : NULL;
    if (u == NULL)
        return false;
    u->before = l->last != NULL && same(x, l->last_y) ? l->last : NULL;
    if (tarn_training(x.replica))
        drop_all(l);
    if (u->into == NULL || u->into != u->before)
        return false;
    *y = forward(u, l->last_x);
    return true;
}

int tarn_use_fold(tarn_replica *r, bool wanted)
{
    int count = 0;
    if (r == NULL)
        (void)graph_fail(NULL, TARN_ERR_ARGUMENT, "use_fold: the replica is NULL");
    struct use_list *l = r != NULL ? use_list_of(r) : NULL;
    if (l == NULL || tarn_error_status(r) != TARN_OK)
        return 0;
    drop_all(l);
    for (struct used *u = l->first; u != NULL && wanted; u = u->next)
        if (u->before != NULL) {
            fold(u);
            count++;
        }
    return tarn_error_status(r) == TARN_OK ? count : 0;
}
