/* SPDX-License-Identifier: Apache-2.0 */
/* Times steps of networks of several kinds on data that are already on the device: of training, or of inference
 * with its results read. bench/compare-networks holds them against bench/peers/pytorch_networks.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tarn_dist.h>

#include "now.h"
#include "parse.h"
#include "timed.h"

struct config {
    const struct timed_network *network;
    int batch, steps, blocks, parts;
    bool infer, fold, once;
    const char *device;
};

struct work {
    const struct config *config;
    tarn_tensor x, y, last; /* the batch, and the loss of the last step */
    tarn_optimizer *optimizer;
    float *out; /* where inference reads its result */
    size_t bytes;
};

/* ---- steps ----------------------------------------------------------------------------------- */

static tarn_status train(const struct work *w)
{
    const struct timed_network *n = w->config->network;
    const tarn_tensor x = tarn_batch_axis(w->x, 0);
    const tarn_tensor loss =
        n->loss != NULL ? n->loss(x, w->y) : tarn_cross_entropy(n->forward(x), w->y);
    tarn_backward(loss);
    if (n->clip > 0)
        (void)tarn_clip_grad_norm(loss.replica, n->clip);
    tarn_optimizer_step(w->optimizer);
    tarn_assign(w->last, tarn_detach(loss));
    return tarn_step(loss.replica);
}

static tarn_status infer(const struct work *w)
{
    const tarn_tensor out = w->config->network->forward(tarn_batch_axis(w->x, 0));
    const tarn_status s = tarn_read(out, w->out, w->bytes);
    return s == TARN_OK ? tarn_step(out.replica) : s;
}

static tarn_status block(const struct work *w, int steps)
{
    tarn_status s = TARN_OK;
    for (int i = 0; i < steps && s == TARN_OK; i++)
        s = w->config->infer ? infer(w) : train(w);
    return s == TARN_OK ? tarn_wait(w->x.replica) : s;
}

/* ---- what they work on ----------------------------------------------------------------------- */

/* Numbers below `classes`, as measure.labels() of the peers has them, or uniform ones; kept on the device. */
static tarn_tensor make(tarn_replica *r, tarn_shape s, int classes)
{
    if (classes == 0)
        return tarn_keep(tarn_rand(r, s));
    const int64_t count = tarn_shape_count(s);
    int32_t *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count && values != NULL; i++)
        values[i] = (int32_t)(((uint32_t)i * 2654435761u >> 16) % (uint32_t)classes);
    const tarn_tensor made = tarn_keep(tarn_from(r, s, TARN_I32, values));
    free(values);
    return made;
}

/* Layers come to be when the network sees a batch. */
static bool prepare(tarn_replica *r, struct work *w)
{
    const struct timed_network *n = w->config->network;
    tarn_shape x = n->x, y = n->y;
    if (w->config->batch > 0)
        x.dim[0] = w->config->batch;
    x.dim[0] /= tarn_world_size(r);
    y.dim[0] = y.dim[0] / n->x.dim[0] * x.dim[0];
    w->x = make(r, x, n->words ? n->classes : 0);
    w->y = make(r, y, n->classes);
    w->last = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    tarn_train(r, false);
    w->bytes = (size_t)tarn_shape_count(tarn_shape_get(n->forward(w->x))) * sizeof *w->out;
    if (w->config->fold)
        (void)tarn_use_fold(r, true);
    tarn_train(r, !w->config->infer);
    w->out = malloc(w->bytes);
    w->optimizer = w->config->infer ? NULL : n->optimizer(r);
    return w->out != NULL && tarn_step(r) == TARN_OK;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Prints one JSON object, its first value when the first step's result is known. */
static tarn_status measure(tarn_replica *r, const struct work *w)
{
    const struct config *c = w->config;
    tarn_status s = block(w, 1);
    const double first = c->infer ? (double)w->out[0] : (double)tarn_item(w->last);
    tarn_print0(r, "{\"first\": %.6g,\n \"ms\": [", first);
    if (!c->once && s == TARN_OK)
        s = block(w, 4);
    uint64_t launches = tarn_metrics_get(r).launches;
    for (int b = 0; b < c->blocks && s == TARN_OK && !c->once; b++) {
        const double start = now();
        launches = tarn_metrics_get(r).launches;
        s = block(w, c->steps);
        tarn_print0(r, "%s%.4f", b == 0 ? "" : ", ", 1e3 * (now() - start) / c->steps);
    }
    const tarn_metrics m = tarn_metrics_get(r);
    const double last = c->infer ? (double)w->out[0] : (double)tarn_item(w->last);
    tarn_print0(r,
                "],\n \"launches\": %llu, \"operations\": %llu, \"compile_seconds\": %.2f, "
                "\"last\": %.6g}\n",
                (unsigned long long)(m.launches - launches) / (unsigned)c->steps,
                (unsigned long long)m.nodes_last_step, m.compile_seconds, last);
    return s;
}

static tarn_status replica(tarn_replica *r, void *arg)
{
    struct work w = { .config = arg };
    const tarn_status s = prepare(r, &w) ? measure(r, &w) : tarn_error_status(r);
    free(w.out);
    return s;
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    { "batch-size", 'b', "N", 0, "samples in a step (default: the network's)", 0 },
    { "steps", 'n', "N", 0, "steps in a block (3)", 0 },
    { "blocks", 'k', "N", 0, "blocks, each of which is one time (9)", 0 },
    { "infer", 'i', NULL, 0, "evaluation, with its result read, in place of training", 0 },
    { "fold", 'f', NULL, 0, "with --infer: batch norms folded into the layers before them", 0 },
    { "once", '1', NULL, 0, "one step only: for timing the process", 0 },
    { "parts", 'p', "N", 0, "replicas, which share the batch, on parts of a CPU (1)", 0 },
    { "device", 'D', "SPEC", 0, "device: a number, gpu, cpu, part of a name", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static const struct timed_network *find(const char *name)
{
    static const struct timed_network *const lists[] = { timed_images, timed_rows };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct timed_network *n = lists[i]; n->name != NULL; n++)
            if (strcmp(n->name, name) == 0)
                return n;
    return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        usage_init(state);
        break;
    case 'b':
        c->batch = (int)parse_whole(state, "batch-size", arg, 1, 1 << 20);
        break;
    case 'n':
        c->steps = (int)parse_whole(state, "steps", arg, 1, 1000000);
        break;
    case 'k':
        c->blocks = (int)parse_whole(state, "blocks", arg, 1, 1000000);
        break;
    case 'i':
        c->infer = true;
        break;
    case 'f':
        c->fold = true;
        break;
    case '1':
        c->once = true;
        break;
    case 'p':
        c->parts = (int)parse_whole(state, "parts", arg, 1, 1024);
        break;
    case 'D':
        c->device = arg;
        break;
    case ARGP_KEY_ARG:
        if ((c->network = find(arg)) == NULL)
            usage_error(state, "there is no network %s", arg);
        break;
    case ARGP_KEY_END:
        if (c->network == NULL)
            usage_error(state, "name a network");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    static const struct argp parser = { options, parse_option, "NETWORK", "Times steps.",
                                        NULL,    NULL,         NULL };
    struct config c = { .steps = 3, .blocks = 9, .parts = 1 };
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    const tarn_launch_options launch = { .devices = c.device, .count = c.parts };
    if (tarn_launch(replica, &c, launch) == TARN_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "bench-networks: %s\n", tarn_error(NULL));
    return EXIT_FAILURE;
}
