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
    bool words;      /* x holds indices below `classes`, too */
    tarn_tensor (*forward)(tarn_tensor x);
    tarn_tensor (*loss)(tarn_tensor x, tarn_tensor y); /* NULL: cross entropy of `forward` */
    tarn_optimizer *(*optimizer)(tarn_replica *r);
    float clip; /* the gradients' norm; 0: not */
};

/* Lists that end with a network without a name, one of each file. */
extern const struct timed_network timed_images[], timed_rows[];

tarn_optimizer *timed_adam(tarn_replica *r);
tarn_optimizer *timed_sgd(tarn_replica *r);

#endif
