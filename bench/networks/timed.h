/* SPDX-License-Identifier: Apache-2.0 */
/* Networks whose steps are timed: bench/peers/pytorch_networks.py has the same ones. */
#ifndef TIMED_H
#define TIMED_H

#include <tarn.h>

enum { CLASSES = 10 };

/* Axis 0 of x is the samples, as many as a step has where nobody says otherwise; that of y has one label for each, or
 * several. */
struct timed_network {
    const char *name;
    tarn_shape x, y; /* numbers and labels */
    int classes;     /* of y */
    int words;       /* x holds numbers below this, too; 0: fractions */
    tarn_tensor (*forward)(tarn_tensor x);
    tarn_tensor (*loss)(tarn_tensor x, tarn_tensor y); /* NULL: cross entropy of `forward` */
    tarn_optimizer *(*optimizer)(tarn_replica *r);
    float clip; /* the gradients' norm; 0: not */
};

/* Lists that end with a network without a name, one of each file. */
extern const struct timed_network timed_images[], timed_rows[], timed_more[], timed_further[],
    timed_large[], timed_others[], timed_depth[], timed_fresh[], timed_later[], timed_memory[],
    timed_odd[], timed_scenes[];

/* By its name; NULL: there is none. */
const struct timed_network *timed_find(const char *name);
/* The i-th of them all; NULL: there are fewer. */
const struct timed_network *timed_at(int i);

/* What a network is trained on: one batch, kept on the device, and the loss of the last step. */
struct timed_work {
    const struct timed_network *network;
    tarn_tensor x, y, last;
    tarn_optimizer *optimizer;
};
/* Fills in a batch of so many samples in all (0: the network's), of which the replica has its part, and lets the
 * layers come to be, as they do when the network sees one. The optimizer is the caller's to make. Returns the result
 * of the forward pass in evaluation, which nobody has asked for yet. */
tarn_tensor timed_prepare(tarn_replica *r, const struct timed_network *n, int batch,
                          struct timed_work *w);
/* One training step, with its mark. */
tarn_status timed_train(const struct timed_work *w);

/* A convolution without bias that keeps the size of the image, but for the stride, and its norm. */
tarn_tensor timed_unit(tarn_tensor x, const char *name, int out, int window, int stride,
                       int groups);
/* Images in square patches, and a token before them, through blocks of attention; logits by that token. */
tarn_tensor timed_patches(tarn_tensor x, int patch, int width, int heads, int classes);
/* Words [N, T] through blocks of attention; a row of logits for each place of each text. */
tarn_tensor timed_text(tarn_tensor x, int words, int width, int heads);

tarn_optimizer *timed_adam(tarn_replica *r);
tarn_optimizer *timed_adamw(tarn_replica *r);
tarn_optimizer *timed_sgd(tarn_replica *r);

#endif
