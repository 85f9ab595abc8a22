/* SPDX-License-Identifier: Apache-2.0 */
/* An LSTM that reads an image row by row, and says then what it saw. */
#include "image_trainer.h"

enum { ROWS = 28, HIDDEN = 128, CLASSES = 10 };

struct reader {
    tarn_optimizer *adam;
};

static tarn_tensor forward(tarn_tensor x)
{
    const tarn_recurrent_options options = { .batch_first = true };
    const tarn_tensor rows = tarn_reshape(x, TARN_SHAPE(-1, ROWS, ROWS));
    const tarn_tensor y = tarn_use_lstm(rows, "lstm", HIDDEN, options, NULL, NULL).y;
    return tarn_use_linear(tarn_select(y, 1, -1), "head", CLASSES);
}

/* Layers come to be when the network sees an image. */
static void make(tarn_replica *r, void *model)
{
    (void)model;
    (void)forward(tarn_zeros(r, TARN_SHAPE(1, 1, ROWS, ROWS)));
}

static void optimize(tarn_replica *r, void *model)
{
    ((struct reader *)model)->adam = tarn_adam(r, (tarn_adam_options){ 0 });
}

static void set_lr(void *model, float lr)
{
    tarn_optimizer_set_lr(((struct reader *)model)->adam, lr);
}

static tarn_tensor train(void *model, const tarn_batch *b)
{
    const struct reader *n = model;
    const tarn_tensor loss = tarn_cross_entropy(forward(b->x), b->y);
    tarn_backward(loss);
    (void)tarn_clip_grad_norm(loss.replica, 1.0f);
    tarn_optimizer_step(n->adam);
    return loss;
}

static tarn_tensor test(void *model, const tarn_batch *b)
{
    (void)model;
    return image_accuracy(forward(b->x), b->y);
}

int main(int argc, char **argv)
{
    static const struct example lstm = { .name = "lstm",
                                         .about = "Trains an LSTM that reads images row by row.",
                                         .epochs = 3,
                                         .batch = 128,
                                         .lr = 2e-3,
                                         .cosine = true,
                                         .bytes = sizeof(struct reader),
                                         .make = make,
                                         .optimize = optimize,
                                         .set_lr = set_lr,
                                         .train = train,
                                         .test = test,
                                         .measure = "accuracy",
                                         .higher = true };
    return image_main(&lstm, argc, argv);
}
