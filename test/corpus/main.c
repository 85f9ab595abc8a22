/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one program of the corpus by its name, and what all of them need. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"

void must(const tarn_replica *r, tarn_status status)
{
    if (status == TARN_OK)
        return;
    fprintf(stderr, "corpus: %s\n", tarn_error(r));
    exit(EXIT_FAILURE);
}

tarn_replica *open_device(void)
{
    tarn_replica *r = tarn_open(NULL);
    if (r == NULL)
        must(NULL, TARN_ERR_DEVICE);
    return r;
}

void close_device(tarn_replica *r)
{
    must(r, tarn_wait(r));
    must(r, tarn_error_status(r));
    tarn_close(r);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static tarn_tensor sawtooth(tarn_replica *r, tarn_shape shape, float lowest)
{
    const size_t n = (size_t)tarn_shape_count(shape);
    float *v = malloc((n + 1) * sizeof *v);
    if (v == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        v[i] = lowest + (float)(i * 7 % 64) / 64;
    const tarn_tensor t = tarn_from(r, shape, TARN_F32, v);
    free(v);
    return t;
}

tarn_tensor numbers(tarn_replica *r, tarn_shape shape)
{
    return sawtooth(r, shape, -0.5f);
}

tarn_tensor positive(tarn_replica *r, tarn_shape shape)
{
    return sawtooth(r, shape, 0.25f);
}

tarn_tensor integers(tarn_replica *r, tarn_shape shape, int classes, tarn_dtype dtype)
{
    const size_t n = (size_t)tarn_shape_count(shape);
    int32_t *wide = malloc((n + 1) * sizeof *wide);
    uint8_t *narrow = malloc(n + 1);
    if (wide == NULL || narrow == NULL)
        abort();
    for (size_t i = 0; i < n; i++) {
        wide[i] = (int32_t)(i * 7) % classes;
        narrow[i] = (uint8_t)wide[i];
    }
    const tarn_tensor t = tarn_from(r, shape, dtype, dtype == TARN_U8 ? (void *)narrow : wide);
    free(wide);
    free(narrow);
    return t;
}

/* ---- plans ---------------------------------------------------------------------------------- */

tarn_tensor squares(tarn_tensor y)
{
    return tarn_sum(tarn_mul(y, y), TARN_ALL, false);
}

void compile(tarn_tensor y, const tarn_tensor *in, int count)
{
    tarn_replica *r = y.replica;
    tarn_tensor out[9] = { y };
    if (count >= (int)(sizeof out / sizeof *out))
        abort();
    if (count > 0) {
        tarn_gradients(squares(y), in, count, &out[1]);
        must(r, tarn_eval(out, count + 1));
    } else {
        must(r, tarn_eval(out, 1));
    }
    must(r, tarn_step(r));
}

void train(tarn_optimizer *o, tarn_tensor loss)
{
    tarn_replica *r = loss.replica;
    tarn_backward(loss);
    tarn_optimizer_step(o);
    const tarn_tensor kept = tarn_keep(loss);
    must(r, tarn_step(r));
    (void)tarn_item(kept);
    tarn_drop(kept);
}

/* ---- the command line ----------------------------------------------------------------------- */

static const struct program *const files[] = { mnist_programs, launch_programs,   fuse_programs,
                                               image_programs, sequence_programs, op_programs,
                                               layer_programs };

int main(int argc, char **argv)
{
    const bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    bool found = list;
    for (size_t i = 0; argc == 2 && i < sizeof files / sizeof *files; i++)
        for (const struct program *p = files[i]; p->name != NULL; p++)
            if (list) {
                printf("%s\n", p->name);
            } else if (strcmp(argv[1], p->name) == 0) {
                found = true;
                p->run();
            }
    if (!found)
        fprintf(stderr, "usage: corpus NAME | --list\n");
    return found ? EXIT_SUCCESS : 2;
}
