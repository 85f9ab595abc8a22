/* SPDX-License-Identifier: Apache-2.0 */
/* The images that a program's convolutions go over, for what finds the batch (batch.c). */
#ifndef TARN_IMAGES_H
#define TARN_IMAGES_H

#include "compile/module.h"

/* Whether operand k of an op is images of a convolution, or what gradients are given of its results. */
bool goes_over(const struct op *op, uint32_t k);
/* Multiply-adds of a convolution, or of a gradient of one. */
double convolution_work(const struct program *p, const struct node *n);
/* How many images the convolution has whose images are the largest; 0: there is none. */
int32_t most_images(const struct module *m);
/* Whether any convolution has an image, or several, for each of so many samples. */
bool convolves_samples(const struct module *m, int32_t samples);
/* Marks, among marks that are clear, the values of the program that have a row for each of so many images, which is what that image is made of. */
void find_makings(const struct module *m, int32_t images, bool *makings);

#endif
