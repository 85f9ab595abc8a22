/* SPDX-License-Identifier: Apache-2.0 */
/* Times training steps of networks of several kinds on data that are already on the device:
 * bench/compare-networks holds them against bench/peers/pytorch_networks.py, which has the same ones. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tarn.h>

enum { MAX_BLOCKS = 1000, BATCH = 128, SIDE = 28, CLASSES = 10 };
enum { TEXTS = 32, CONTEXT = 64, WORDS = 65, WIDTH = 128, LAYERS = 4, HEADS = 4, HIDDEN = 128 };

struct network {
    const char *name;
    tarn_shape x, y;
    int classes; /* of y */
    bool words;  /* x holds indices below `classes`, too */
    tarn_tensor (*loss)(tarn_tensor x, tarn_tensor y);
    tarn_optimizer *(*optimizer)(tarn_replica *r);
    float clip; /* the gradients' norm; 0: not */
};

struct config {
    const struct network *network;
    int steps, blocks;
    const char *device;
};

/* ---- networks -------------------------------------------------------------------------------- */

static tarn_tensor mlp(tarn_tensor x, tarn_tensor y)
{
    x = tarn_relu(tarn_use_linear(x, "fc1", 1024));
    x = tarn_relu(tarn_use_linear(x, "fc2", 1024));
    return tarn_cross_entropy(tarn_use_linear(x, "fc3", CLASSES), y);
}

static tarn_tensor lstm(tarn_tensor x, tarn_tensor y)
{
    const tarn_recurrent_options options = { .batch_first = true };
    const tarn_tensor h = tarn_use_lstm(x, "lstm", HIDDEN, options, NULL, NULL).y;
    return tarn_cross_entropy(tarn_use_linear(tarn_select(h, 1, -1), "head", CLASSES), y);
}

static tarn_tensor gpt(tarn_tensor x, tarn_tensor y)
{
    const tarn_transformer_block_options options = { .heads = HEADS, .causal = true };
    const tarn_tensor places = tarn_arange(x.replica, CONTEXT);
    tarn_tensor h = tarn_add(tarn_use_embedding(x, "words", WORDS, WIDTH),
                             tarn_use_embedding(places, "places", CONTEXT, WIDTH));
    for (int i = 0; i < LAYERS; i++) {
        tarn_name_room room;
        const char *name = tarn_name_in(&room, "blocks.%d", i);
        h = tarn_use_transformer_block(h, name, options, TARN_NONE);
    }
    h = tarn_reshape(tarn_use_layer_norm(h, "norm"), TARN_SHAPE(TEXTS * CONTEXT, WIDTH));
    const tarn_linear_options no_bias = { .no_bias = true };
    return tarn_cross_entropy(tarn_use_linear_with(h, "head", WORDS, no_bias), y);
}

static tarn_tensor vae(tarn_tensor x, tarn_tensor y)
{
    const tarn_conv2d_options half = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    (void)y;
    tarn_tensor h = tarn_relu(tarn_use_conv2d(x, "down1", 32, 3, half));
    h = tarn_flatten(tarn_relu(tarn_use_conv2d(h, "down2", 64, 3, half)), 1);
    const tarn_tensor mean = tarn_use_linear(h, "mean", 16);
    const tarn_tensor spread = tarn_use_linear(h, "spread", 16);
    const tarn_tensor noise = tarn_randn(x.replica, tarn_shape_get(mean));
    const tarn_tensor z = tarn_add(mean, tarn_mul(tarn_exp(tarn_mul_scalar(spread, 0.5f)), noise));
    h = tarn_reshape(tarn_relu(tarn_use_linear(z, "wide", 3136)), TARN_SHAPE(-1, 64, 7, 7));
    h = tarn_relu(tarn_use_conv2d(tarn_upsample_nearest2d(h, 2, 2), "up1", 32, 3, same));
    h = tarn_use_conv2d(tarn_upsample_nearest2d(h, 2, 2), "up2", 1, 3, same);
    const tarn_tensor square = tarn_add(tarn_mul(mean, mean), tarn_exp(spread));
    const tarn_tensor far = tarn_sub(square, tarn_add_scalar(spread, 1));
    return tarn_add(tarn_mul_scalar(tarn_bce_with_logits(h, x, TARN_NONE), SIDE * SIDE),
                    tarn_mul_scalar(tarn_mean(far, TARN_ALL, false), 8));
}

static tarn_tensor unit(tarn_tensor x, const char *name, int out, int stride)
{
    const tarn_conv2d_make_options window = {
        .window = { 3, 3 },
        .options = { .stride = { stride, stride }, .padding = { 1, 1 } },
        .no_bias = true,
    };
    tarn_name_room room;
    x = tarn_use_conv2d_with(x, tarn_name_in(&room, "%s.conv", name), out, window);
    return tarn_use_batch_norm(x, tarn_name_in(&room, "%s.norm", name));
}

/* Where a block halves the image, every second pixel goes on, with zeros for the new channels. */
static tarn_tensor resnet(tarn_tensor x, tarn_tensor y)
{
    x = tarn_relu(unit(x, "stem", 16, 1));
    for (int i = 0; i < 9; i++) {
        const int out = 16 << i / 3, halves = i > 0 && i % 3 == 0;
        tarn_name_room first, second;
        const char *names[] = { tarn_name_in(&first, "%d.first", i),
                                tarn_name_in(&second, "%d.second", i) };
        const tarn_tensor h = unit(tarn_relu(unit(x, names[0], out, 1 + halves)), names[1], out, 1);
        for (int axis = 2; halves && axis < 4; axis++)
            x = tarn_slice(x, axis, 0, tarn_shape_get(x).dim[axis], 2);
        const tarn_shape more = TARN_SHAPE(0, out / 4, 0, 0);
        x = tarn_relu(tarn_add(h, halves ? tarn_pad(x, more, more, 0) : x));
    }
    x = tarn_flatten(tarn_global_avg_pool(x), 1);
    return tarn_cross_entropy(tarn_use_linear(x, "fc", CLASSES), y);
}

static tarn_optimizer *adamw(tarn_replica *r)
{
    return tarn_adamw(r, (tarn_adam_options){ .lr = 1e-3f });
}

static tarn_optimizer *adam(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 1e-3f });
}

static tarn_optimizer *sgd(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.9f, .weight_decay = 5e-4f });
}

static const struct network networks[] = {
    { "mlp", { 2, { BATCH, 784 } }, { 1, { BATCH } }, CLASSES, false, mlp, adamw, 0 },
    { "resnet", { 4, { BATCH, 3, 32, 32 } }, { 1, { BATCH } }, CLASSES, false, resnet, sgd, 0 },
    { "gpt", { 2, { TEXTS, CONTEXT } }, { 1, { TEXTS * CONTEXT } }, WORDS, true, gpt, adamw, 0 },
    { "vae", { 4, { BATCH, 1, SIDE, SIDE } }, { 1, { BATCH } }, CLASSES, false, vae, adam, 0 },
    { "lstm", { 3, { BATCH, SIDE, SIDE } }, { 1, { BATCH } }, CLASSES, false, lstm, adam, 1 },
};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

/* ---- measuring ------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Below `classes`, as measure.labels() of the peers has them; kept on the device. */
static tarn_tensor indices(tarn_replica *r, tarn_shape s, int classes)
{
    int32_t values[TEXTS * CONTEXT];
    const int count = s.rank == 1 ? s.dim[0] : s.dim[0] * s.dim[1];
    for (int i = 0; i < count; i++)
        values[i] = (int32_t)(((uint32_t)i * 2654435761u >> 16) % (uint32_t)classes);
    return tarn_keep(tarn_from(r, s, TARN_I32, values));
}

static tarn_status block(const struct network *n, tarn_optimizer *o, const tarn_tensor batch[2],
                         tarn_tensor last, int steps)
{
    for (int i = 0; i < steps; i++) {
        const tarn_tensor loss = n->loss(tarn_batch_axis(batch[0], 0), batch[1]);
        tarn_backward(loss);
        if (n->clip != 0)
            (void)tarn_clip_grad_norm(loss.replica, n->clip);
        tarn_optimizer_step(o);
        tarn_assign(last, tarn_detach(loss));
        const tarn_status s = tarn_step(loss.replica);
        if (s != TARN_OK)
            return s;
    }
    return tarn_wait(last.replica);
}

/* Prints one JSON object. */
static tarn_status measure(tarn_replica *r, const struct config *c)
{
    const struct network *n = c->network;
    const tarn_tensor batch[] = { n->words ? indices(r, n->x, n->classes)
                                           : tarn_keep(tarn_rand(r, n->x)),
                                  indices(r, n->y, n->classes) };
    const tarn_tensor last = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    /* Layers come to be when the network sees a batch. */
    (void)n->loss(batch[0], batch[1]);
    tarn_optimizer *o = n->optimizer(r);
    tarn_status s = tarn_step(r);
    s = s == TARN_OK ? block(n, o, batch, last, 1) : s;
    const float first = tarn_item(last);
    s = s == TARN_OK ? block(n, o, batch, last, 4) : s;
    printf("{\"first_loss\": %.6g, \"ms\": [", (double)first);
    for (int b = 0; b < c->blocks && s == TARN_OK; b++) {
        const double start = now();
        s = block(n, o, batch, last, c->steps);
        printf("%s%.4f", b == 0 ? "" : ", ", 1e3 * (now() - start) / c->steps);
    }
    const tarn_metrics m = tarn_metrics_get(r);
    printf("], \"launches\": %llu, \"operations\": %llu, \"compile_seconds\": %.2f, "
           "\"loss\": %.6g}\n",
           (unsigned long long)m.launches_last_step, (unsigned long long)m.nodes_last_step,
           m.compile_seconds, (double)tarn_item(last));
    return s;
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    { "steps", 'n', "N", 0, "steps in a block (3)", 0 },
    { "blocks", 'k', "N", 0, "blocks, each of which is one time (9)", 0 },
    { "device", 'D', "SPEC", 0, "device: a number, gpu, cpu, part of a name", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static int parse_count(const struct argp_state *state, const char *text, long high)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || n < 1 || n > high)
        argp_failure(state, 2, 0, "'%s' is not a whole number from 1 to %ld", text, high);
    return (int)n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    if (key == 'n')
        c->steps = parse_count(state, arg, 1000000);
    else if (key == 'k')
        c->blocks = parse_count(state, arg, MAX_BLOCKS);
    else if (key == 'D')
        c->device = arg;
    else if (key == ARGP_KEY_ARG) {
        for (int i = 0; i < NETWORKS; i++)
            if (strcmp(arg, networks[i].name) == 0)
                c->network = &networks[i];
        if (c->network == NULL)
            argp_failure(state, 2, 0, "there is no network %s", arg);
    } else if (key == ARGP_KEY_END && c->network == NULL) {
        argp_failure(state, 2, 0, "name a network: mlp, resnet, gpt, vae or lstm");
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    static const struct argp parser = { options, parse_option, "NETWORK", "Times a training step.",
                                        NULL,    NULL,         NULL };
    struct config config = { .steps = 3, .blocks = 9 };
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, &config);
    tarn_replica *r = tarn_open(config.device);
    const bool good = r != NULL && measure(r, &config) == TARN_OK;
    if (!good)
        fprintf(stderr, "networks: %s\n", tarn_error(r));
    tarn_close(r);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
