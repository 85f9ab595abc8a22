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
    tarn_dtype amp; /* float32: none */
    const char *device;
};

struct work {
    const struct config *config;
    struct timed_work timed;
    float *out; /* where inference reads its result */
    size_t bytes;
};

/* ---- steps ----------------------------------------------------------------------------------- */

static tarn_status infer(const struct work *w)
{
    const tarn_tensor out = w->config->network->forward(tarn_batch_axis(w->timed.x, 0));
    const tarn_status s = tarn_read(out, w->out, w->bytes);
    return s == TARN_OK ? tarn_step(out.replica) : s;
}

static tarn_status block(const struct work *w, int steps)
{
    tarn_status s = TARN_OK;
    for (int i = 0; i < steps && s == TARN_OK; i++)
        s = w->config->infer ? infer(w) : timed_train(&w->timed);
    return s == TARN_OK ? tarn_wait(w->timed.x.replica) : s;
}

/* ---- what they work on ----------------------------------------------------------------------- */

static bool prepare(tarn_replica *r, struct work *w)
{
    const struct timed_network *n = w->config->network;
    const tarn_tensor out = timed_prepare(r, n, w->config->batch, &w->timed);
    w->bytes = (size_t)tarn_shape_count(tarn_shape_get(out)) * sizeof *w->out;
    if (w->config->fold)
        (void)tarn_use_fold(r, true);
    tarn_train(r, !w->config->infer);
    w->out = malloc(w->bytes);
    w->timed.optimizer = w->config->infer ? NULL : n->optimizer(r);
    if (w->config->amp != TARN_F32)
        tarn_autocast(r, w->config->amp);
    if (w->config->amp == TARN_F16 && !w->config->infer)
        tarn_loss_scale(r, (tarn_loss_scale_options){ 0 });
    return w->out != NULL && tarn_step(r) == TARN_OK;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Prints one JSON object, its first value when the first step's result is known. */
static tarn_status measure(tarn_replica *r, const struct work *w)
{
    const struct config *c = w->config;
    tarn_status s = block(w, 1);
    const double first = c->infer ? (double)w->out[0] : (double)tarn_item(w->timed.last);
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
    const double last = c->infer ? (double)w->out[0] : (double)tarn_item(w->timed.last);
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
    { "amp", 'a', "TYPE", 0, "mixed precision: bf16, or fp16 with a scaled loss", 0 },
    { "device", 'D', "SPEC", 0, "device: a number, gpu, cpu, part of a name", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

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
    case 'a':
        if (strcmp(arg, "bf16") != 0 && strcmp(arg, "fp16") != 0)
            usage_error(state, "--amp takes bf16 or fp16");
        c->amp = strcmp(arg, "bf16") == 0 ? TARN_BF16 : TARN_F16;
        break;
    case 'D':
        c->device = arg;
        break;
    case ARGP_KEY_ARG:
        if ((c->network = timed_find(arg)) == NULL)
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
    struct config c = { .steps = 3, .blocks = 9, .parts = 1, .amp = TARN_F32 };
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    const tarn_launch_options launch = { .devices = c.device, .count = c.parts };
    if (tarn_launch(replica, &c, launch) == TARN_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "bench-networks: %s\n", tarn_error(NULL));
    return EXIT_FAILURE;
}
