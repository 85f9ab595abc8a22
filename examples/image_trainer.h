/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples that train on MNIST's kind of data have in common: command line, data, epochs, tests,
 * checkpoints, several devices. An example is a model and what one step of it is. */
#ifndef IMAGE_TRAINER_H
#define IMAGE_TRAINER_H

#include <tarn_dist.h>

struct example {
    const char *name, *about; /* for --help */
    long epochs, batch;       /* defaults */
    double lr;                /* highest; */
    bool cosine;              /* it falls to 0 along half a cosine, or stays */
    bool unit_pixels;         /* from 0 to 1, and not of mean 0 and deviation 1 */
    size_t bytes;             /* of the model, all zeros at first */
    /* Before make: the shape of a sample and the number of classes of --images. NULL: it takes none. */
    void (*fit)(void *model, tarn_shape sample, int classes);
    void (*make)(tarn_replica *r, void *model);
    /* After make; the learning rate is set later. */
    void (*optimize)(tarn_replica *r, void *model);
    void (*set_lr)(void *model, float lr);
    /* Records a training step, and returns its loss. */
    tarn_tensor (*train)(void *model, const tarn_batch *b);
    /* The mean of what is tested over the samples of a batch. */
    tarn_tensor (*test)(void *model, const tarn_batch *b);
    const char *measure; /* what that is: "accuracy" */
    bool higher;         /* is better */
    /* Images [N, 1, H, W] from 0 to 1 for --sheet; NULL: there are none. */
    tarn_tensor (*draw)(tarn_replica *r, void *model);
};

/* For test: the share of samples whose largest logit [N, classes] is that of their class y [N]. */
tarn_tensor image_accuracy(tarn_tensor logits, tarn_tensor y);

/* The whole program; returns its exit status. */
int image_main(const struct example *e, int argc, char **argv);

#endif
