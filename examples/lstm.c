/* SPDX-License-Identifier: Apache-2.0 */
/* An LSTM that reads an image row by row, and says then what it saw. */
#include "image_trainer.h"

enum { ROWS = 28, HIDDEN = 128, CLASSES = 10 };

struct reader {
    tarn_lstm lstm;
    tarn_linear head;
    tarn_optimizer *adam;
};

static void make(tarn_replica *r, void *model)
{
    struct reader *n = model;
    n->lstm =
        tarn_lstm_make(r, "lstm", ROWS, HIDDEN, (tarn_recurrent_options){ .batch_first = true });
    n->head = tarn_linear_make(r, "head", HIDDEN, CLASSES);
}

static void optimize(tarn_replica *r, void *model)
{
    ((struct reader *)model)->adam = tarn_adam(r, (tarn_adam_options){ 0 });
}

static void set_lr(void *model, float lr)
{
    tarn_optimizer_set_lr(((struct reader *)model)->adam, lr);
}

static tarn_tensor forward(const struct reader *n, tarn_tensor x)
{
    const tarn_tensor rows = tarn_reshape(x, TARN_SHAPE(tarn_shape_get(x).dim[0], ROWS, ROWS));
    const tarn_lstm_result out = tarn_lstm_forward(&n->lstm, rows, NULL, NULL);
    const tarn_tensor last = tarn_slice(out.y, 1, ROWS - 1, ROWS, 1);
    return tarn_linear_forward(&n->head, tarn_flatten(last, 1));
}

static tarn_tensor train(void *model, const tarn_batch *b)
{
    const struct reader *n = model;
    const tarn_tensor loss = tarn_cross_entropy(forward(n, b->x), b->y);
    tarn_backward(loss);
    (void)tarn_clip_grad_norm(loss.replica, 1.0f);
    tarn_optimizer_step(n->adam);
    return loss;
}

static tarn_tensor test(void *model, const tarn_batch *b)
{
    return image_accuracy(forward(model, b->x), b->y);
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
