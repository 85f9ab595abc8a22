/* SPDX-License-Identifier: Apache-2.0 */
/* The layers that a replica made at their first use, by name. */
#ifndef TARN_USE_LIST_H
#define TARN_USE_LIST_H

#include "nn/layer.h"
#include "tarn_use.h"

enum { USE_SIZES = 20 };

union used_layer {
    tarn_tensor parameter;
    tarn_linear linear;
    tarn_conv2d conv2d;
    tarn_conv1d conv1d;
    tarn_conv3d conv3d;
    tarn_conv_transpose1d conv_transpose1d;
    tarn_conv_transpose2d conv_transpose2d;
    tarn_conv_transpose3d conv_transpose3d;
    tarn_batch_norm batch_norm;
    tarn_layer_norm layer_norm;
    tarn_rms_norm rms_norm;
    tarn_group_norm group_norm;
    tarn_embedding_layer embedding;
    tarn_lstm lstm;
    tarn_gru gru;
    tarn_rnn rnn;
    tarn_multi_head_attention attention;
    tarn_transformer_block block;
    tarn_transformer_decoder decoder;
};

struct used {
    struct used *next;
    uint64_t hash;    /* of the name */
    const char *kind; /* a literal */
    int32_t sizes[USE_SIZES];
    bool made; /* else the caller is to make it, and calls use_made() */
    union used_layer layer;
    struct used *before; /* of a batch norm: the layer whose result it was last given; else NULL */
    struct used *into;   /* of one that is folded: the layer that it is folded into; else NULL */
    union used_layer folded; /* that layer with the norm in it */
    char name[];             /* whole, with that of the scope */
};

enum { USE_DEEPEST = 16 };

struct use_list {
    struct used *first;
    char scope[TARN_NAME_BYTES]; /* "blocks.3.": what names begin with */
    size_t length[USE_DEEPEST];  /* of what was there before each tarn_enter */
    int depth;
    uint64_t entered;           /* how many steps were done when the outermost was entered */
    struct used *last;          /* the layer used last that a norm may be folded into, or NULL; */
    tarn_tensor last_x, last_y; /* what it was given, and what it gave */
};

/* The replica's list, which is made when it is first asked for; NULL after recording an error. */
struct use_list *use_list_of(tarn_replica *r);

/* A layer that a norm may be folded into, of the list, has made y of x. Returns y. */
tarn_tensor use_note(const void *layer, tarn_tensor x, tarn_tensor y);
/* A norm of the list is used on x: whether it is folded into the layer before it, and then in *y what both give. */
bool use_folded(const void *norm, tarn_tensor x, tarn_tensor *y);

/* The layer of a name, in the replica's present scope; NULL after recording an error. Sizes are all that
 * tells layers of a kind apart: numbers and options. */
struct used *use_find(tarn_replica *r, const char *kind, const char *name,
                      const int32_t sizes[USE_SIZES]);
/* The layer is made, or an error was recorded, which forgets it: whether it is there. */
bool use_made(tarn_replica *r, struct used *u);

#endif
