/* SPDX-License-Identifier: Apache-2.0 */
/* Trains one of the networks for some steps on numbers that networks.py makes, too, and prints the
 * loss of each over the whole batch. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "networks.h"
#include <tarn_dist.h>

enum { STEPS_MOST = 64 };

struct options {
    const char *name, *devices, *save, *load;
    int batch, from, steps, shards, mesh;
};

/* ---- numbers -------------------------------------------------------------------------------- */

/* 24 bits that depend on a name and a number alone. */
static uint32_t bits_of(const char *name, uint32_t i)
{
    uint32_t h = 2166136261u;
    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    h ^= i * 0x9e3779b9u;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return (h ^ h >> 16) >> 8;
}

static float number_of(const char *name, uint32_t i)
{
    return (float)bits_of(name, i) / 16777216.0f - 0.5f;
}

static void *must_have(void *p)
{
    if (p == NULL) {
        fputs("networks: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return p;
}

static tarn_array array_of(const struct network_array *a, const char *kind, int which, int count)
{
    char name[32];
    tarn_array out = { .dtype = a->classes > 0 ? TARN_I32 : TARN_F32, .classes = a->classes };
    if (a->rank == 0 && a->classes == 0)
        return (tarn_array){ 0 };
    size_t elements = (size_t)count;
    out.shape.rank = a->rank + 1;
    out.shape.dim[0] = count;
    for (int i = 0; i < a->rank; i++) {
        out.shape.dim[i + 1] = a->dim[i];
        elements *= (size_t)a->dim[i];
    }
    snprintf(name, sizeof name, "%s%d", kind, which);
    union {
        int32_t i;
        float f;
    } *data = must_have(malloc(elements * sizeof *data));
    for (size_t i = 0; i < elements; i++)
        if (a->classes > 0)
            data[i].i = (int32_t)(bits_of(name, (uint32_t)i) % (uint32_t)a->classes);
        else
            data[i].f = number_of(name, (uint32_t)i);
    out.data = data;
    return out;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name);
    return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

static bool is_statistic(const char *name)
{
    return strstr(name, "running_") != NULL || ends_with(name, "num_batches_tracked");
}

/* Weights of layers lie in +-1 / sqrt(fan in), those of norms near 1, biases near 0. */
static void fill(tarn_replica *r, const char *name)
{
    const tarn_tensor t = tarn_find(r, name);
    const tarn_shape shape = tarn_shape_get(t);
    const int64_t count = tarn_shape_count(shape);
    float *data = must_have(malloc((size_t)count * sizeof *data));
    float scale = 0.2f, base = ends_with(name, "weight") ? 1 : 0;
    if (shape.rank > 1) {
        scale = (float)(2 / sqrt((double)count / shape.dim[0]));
        base = 0;
    }
    for (int64_t i = 0; i < count; i++)
        data[i] = base + scale * number_of(name, (uint32_t)i);
    tarn_assign(t, tarn_from(r, shape, TARN_F32, data));
    free(data);
}

/* ---- training ------------------------------------------------------------------------------- */

struct run {
    const struct network *network;
    const struct options *options;
    tarn_dataset *data;
    float loss[STEPS_MOST];
};

static tarn_tensor zeros(tarn_replica *r, const struct network_array *a, int32_t samples)
{
    tarn_shape shape = { .rank = a->rank + 1, .dim = { samples } };
    memcpy(shape.dim + 1, a->dim, (size_t)a->rank * sizeof a->dim[0]);
    const tarn_tensor t = tarn_zeros(r, shape);
    return a->classes > 0 ? tarn_cast(t, TARN_I32) : t;
}

/* Layers come to be when the network sees a batch. */
static void show_zeros(tarn_replica *r, const struct run *run)
{
    const struct network *n = run->network;
    tarn_batch b = { .n = run->options->batch, .global = run->options->batch };
    for (int i = 0; i < NETWORK_ARRAYS; i++) {
        b.inputs[i] = zeros(r, &n->inputs[i], b.n);
        b.targets[i] = zeros(r, &n->targets[i], b.n);
    }
    b.x = b.inputs[0];
    b.y = b.targets[0];
    tarn_train(r, false);
    (void)n->loss(&b);
    tarn_train(r, true);
}

/* What comes before tarn_step() in a step of training. */
static tarn_tensor record(tarn_replica *r, const struct network *n, void *model, tarn_optimizer *o,
                          const tarn_batch *b)
{
    if (n->train != NULL)
        return n->train(r, model, b);
    const tarn_tensor loss = n->loss(b);
    tarn_backward(loss);
    if (n->clip > 0)
        (void)tarn_clip_grad_norm(r, n->clip);
    tarn_optimizer_step(o);
    return loss;
}

static tarn_status make(tarn_replica *r, const struct run *run, void *model, tarn_optimizer **o)
{
    const struct network *n = run->network;
    if (n->make != NULL)
        n->make(r, model);
    else
        show_zeros(r, run);
    for (int i = 0; i < tarn_owned_count(r); i++)
        if (!is_statistic(tarn_owned_name(r, i)))
            fill(r, tarn_owned_name(r, i));
    if (tarn_step(r) != TARN_OK)
        return tarn_error_status(r);
    if (n->optimize != NULL)
        n->optimize(r, model);
    else
        *o = n->optimizer(r);
    return run->options->load != NULL ? tarn_load(r, run->options->load, NULL)
                                      : tarn_error_status(r);
}

static tarn_status train(tarn_replica *r, struct run *run, void *model, tarn_optimizer *optimizer)
{
    const struct options *o = run->options;
    tarn_loader *l = tarn_loader_open(r, run->data, (tarn_loader_options){ .batch = o->batch });
    tarn_batch b;
    tarn_loader_seek(l, 0, (uint64_t)o->from);
    for (int i = 0; i < o->steps && tarn_loader_next(l, &b); i++) {
        const tarn_tensor loss = record(r, run->network, model, optimizer, &b);
        const float part = (float)b.n / (float)b.global;
        const tarn_tensor mine = tarn_mul_scalar(tarn_detach(loss), part);
        /* Under a mesh it is that of the whole batch. */
        const tarn_tensor all = tarn_keep(o->mesh > 0 ? mine : tarn_all_reduce(mine, TARN_SUM));
        if (tarn_step(r) != TARN_OK)
            break;
        const float value = tarn_item(all);
        if (tarn_rank(r) == 0)
            run->loss[i] = value;
        tarn_drop(all);
    }
    const tarn_status status = tarn_loader_status(l);
    tarn_loader_close(l);
    if (status == TARN_OK && o->save != NULL && tarn_wait(r) == TARN_OK && tarn_rank(r) == 0)
        return tarn_save(r, o->save, (tarn_progress){ 0 });
    return status != TARN_OK ? status : tarn_error_status(r);
}

static tarn_status replica(tarn_replica *r, void *arg)
{
    struct run *run = arg;
    void *model = must_have(calloc(1, run->network->bytes + 1));
    tarn_optimizer *optimizer = NULL;
    tarn_status status = make(r, run, model, &optimizer);
    if (status == TARN_OK)
        status = train(r, run, model, optimizer);
    free(model);
    return status;
}

static tarn_mesh mesh_of(const struct options *o)
{
    return o->mesh > 0 ? (tarn_mesh){ .axis = { { "data", o->mesh } } } : (tarn_mesh){ 0 };
}

static int run_network(const struct network *n, const struct options *o)
{
    struct run run = { .network = n, .options = o };
    const int count = o->batch * (o->from + o->steps);
    tarn_arrays arrays = { 0 };
    for (int i = 0; i < NETWORK_ARRAYS; i++) {
        arrays.inputs[i] = array_of(&n->inputs[i], "input", i, count);
        arrays.targets[i] = array_of(&n->targets[i], "target", i, count);
    }
    run.data = tarn_dataset_from(arrays);
    tarn_status status = run.data != NULL ? TARN_OK : TARN_ERR_ARGUMENT;
    if (status == TARN_OK)
        status = tarn_launch(replica, &run,
                             (tarn_launch_options){ .devices = o->devices,
                                                    .mesh = mesh_of(o),
                                                    .virtual_shards = o->shards,
                                                    .sync_norm = true });
    if (status != TARN_OK)
        fprintf(stderr, "networks: %s: %s\n", n->name, tarn_error(NULL));
    for (int i = 0; i < o->steps && status == TARN_OK; i++)
        printf("%d %.9g\n", o->from + i, (double)run.loss[i]);
    tarn_dataset_close(run.data);
    for (int i = 0; i < NETWORK_ARRAYS; i++) {
        free((void *)(uintptr_t)arrays.inputs[i].data);
        free((void *)(uintptr_t)arrays.targets[i].data);
    }
    return status == TARN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- the command line ----------------------------------------------------------------------- */

static const struct network *const files[] = { image_networks, generative_networks,
                                               attention_networks, recurrent_networks };

static const struct argp_option list[] = {
    { "batch-size", 'b', "N", 0, "samples in a step (8)", 0 },
    { "steps", 'n', "N", 0, "steps (8)", 0 },
    { "from", 'f', "N", 0, "number of the first one (0)", 0 },
    { "devices", 'D', "SPEC", 0, "devices as in TARN_DEVICES", 0 },
    { "virtual-shards", 'V', "V", 0, "virtual shards", 0 },
    { "mesh", 'm', "N", 0, "a mesh of N ranks, over which samples are cut", 0 },
    { "save", 's', "FILE", 0, "save a checkpoint at the end", 0 },
    { "load", 'l', "FILE", 0, "begin with a checkpoint", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'b':
        o->batch = atoi(arg);
        break;
    case 'n':
        o->steps = atoi(arg);
        break;
    case 'f':
        o->from = atoi(arg);
        break;
    case 'D':
        o->devices = arg;
        break;
    case 'V':
        o->shards = atoi(arg);
        break;
    case 'm':
        o->mesh = atoi(arg);
        break;
    case 's':
        o->save = arg;
        break;
    case 'l':
        o->load = arg;
        break;
    case ARGP_KEY_ARG:
        o->name = arg;
        break;
    case ARGP_KEY_END:
        if (o->name == NULL || o->batch < 1 || o->steps < 1 || o->steps > STEPS_MOST || o->from < 0)
            argp_usage(state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        list, parse, "NETWORK", "Trains a network and prints its losses.", NULL, NULL, NULL
    };
    struct options o = { .batch = 8, .steps = 8 };
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (const struct network *n = files[i]; n->name != NULL; n++)
            if (strcmp(n->name, o.name) == 0)
                return run_network(n, &o);
    fprintf(stderr, "networks: there is no %s\n", o.name);
    return 2;
}
