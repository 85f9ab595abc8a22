/* SPDX-License-Identifier: Apache-2.0 */
/* The embedding layer. */
#include "nn/layer.h"
#include "tensor/spread.h"

tarn_embedding_layer tarn_embedding_make(tarn_replica *r, const char *name, int rows, int width)
{
    tarn_embedding_layer layer = { graph_poison(r) };
    if (layer_check(r, "embedding", name, rows, width))
        layer.weight = layer_drawn(r, name, "weight", TARN_SHAPE(rows, width),
                                   (tarn_init){ .kind = TARN_INIT_NORMAL, .b = 1.0f });
    return layer;
}

tarn_tensor tarn_embedding_forward(const tarn_embedding_layer *layer, tarn_tensor index)
{
    if (layer == NULL)
        return graph_fail(index.replica, TARN_ERR_ARGUMENT, "embedding: the layer is NULL");
    return tarn_embedding(layer->weight, index);
}
