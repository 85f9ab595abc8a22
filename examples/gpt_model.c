/* SPDX-License-Identifier: Apache-2.0 */
#include "gpt_model.h"

#include <stdio.h>

static void set_eps(tarn_layer_norm *norm, const struct gpt_shape *s)
{
    if (s->eps > 0)
        norm->eps = s->eps;
}

void gpt_make(tarn_replica *r, const struct gpt_shape *s, float dropout, struct gpt *g)
{
    const tarn_transformer_block_options block = { .heads = s->heads,
                                                   .mlp_ratio = s->mlp_ratio,
                                                   .causal = true,
                                                   .dropout = dropout,
                                                   .activation = s->activation };
    const tarn_init small = { TARN_INIT_NORMAL, .b = 0.02f };
    g->shape = *s;
    g->words.weight = tarn_parameter_with(r, "words.weight", TARN_SHAPE(s->words, s->width), small);
    g->places.weight =
        tarn_parameter_with(r, "places.weight", TARN_SHAPE(s->places, s->width), small);
    for (int i = 0; i < s->layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "blocks.%d", i);
        g->blocks[i] = tarn_transformer_block_make(r, name, s->width, block);
        set_eps(&g->blocks[i].norm1, s);
        set_eps(&g->blocks[i].norm2, s);
    }
    g->norm = tarn_layer_norm_make(r, "norm", s->width);
    set_eps(&g->norm, s);
}

tarn_tensor gpt_forward(const struct gpt *g, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    tarn_tensor places = g->places.weight;
    if (s.rank == 2 && s.dim[1] < g->shape.places)
        places = tarn_slice(places, 0, 0, s.dim[1], 1);
    tarn_tensor h = tarn_add(tarn_embedding_forward(&g->words, x), places);
    for (int i = 0; i < g->shape.layers; i++) {
        if (g->recompute)
            tarn_recompute_begin(x.replica);
        h = tarn_transformer_block_forward(&g->blocks[i], h, TARN_NONE);
        if (g->recompute)
            tarn_recompute_end(x.replica);
    }
    h = tarn_layer_norm_forward(&g->norm, h);
    return tarn_matmul(h, tarn_transpose(g->words.weight, 0, 1));
}
