/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank of a fully sharded program needs while it runs: parameters, gradients, state and all temporaries, of the
 * compiled plan, against one device's. Results do not show that a copy lives too long, so that only this test sees
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "error.h"
#include "op/op.h"
#include "record.h"

enum { WIDTH = 256, BATCH = 32, LAYERS_MOST = 16, STATES = 2 };

struct net {
    int layers;
    bool clipped;                 /* no step before all gradients are there */
    const char *weights, *states; /* specs */
};

static tarn_tensor squares(tarn_tensor g)
{
    return tarn_sum(tarn_mul(g, g), TARN_ALL, false);
}

/* Adam's step of all layers. */
static void make_net(struct record *t, const struct net *net)
{
    const tarn_shape shape = TARN_SHAPE(WIDTH, WIDTH);
    const struct spec rows = record_spec("0a");
    tarn_tensor w[LAYERS_MOST], g[LAYERS_MOST], state[STATES];
    tarn_tensor x = record_input(t, TARN_SHAPE(BATCH, WIDTH), rows);
    for (int i = 0; i < net->layers; i++) {
        w[i] = record_owned(t, shape, record_spec(net->weights));
        x = tarn_relu(tarn_matmul(x, w[i]));
    }
    const tarn_tensor loss = tarn_mean(tarn_mul(x, x), TARN_ALL, false);
    tarn_gradients(loss, w, net->layers, g);
    record_output(t, loss, record_spec(""));
    tarn_tensor norm = tarn_full(t->r, TARN_SCALAR, 1.0f);
    for (int i = 0; i < net->layers && net->clipped; i++)
        norm = tarn_add(norm, squares(g[i]));
    for (int i = 0; i < net->layers; i++) {
        const tarn_tensor gradient = tarn_div(g[i], norm);
        for (int k = 0; k < STATES; k++)
            state[k] = record_owned(t, shape, record_spec(net->states));
        const tarn_tensor m = tarn_add(tarn_mul_scalar(state[0], 0.9f), gradient);
        const tarn_tensor v =
            tarn_add(tarn_mul_scalar(state[1], 0.9f), tarn_mul(gradient, gradient));
        record_assign(state[0], m);
        record_assign(state[1], v);
        record_assign(w[i], tarn_sub(w[i], tarn_div(m, tarn_add_scalar(tarn_sqrt(v), 0.1f))));
    }
}

struct use {
    size_t owned, arena, shared, all;
};

static size_t bytes_of(tarn_shape s)
{
    return (size_t)tarn_shape_count(s) * sizeof(float);
}

static struct use compiled(const struct program *program)
{
    static struct storage storage[RECORD_MOST];
    struct program p = *program;
    struct kernel_plan plan = { 0 };
    struct use u = { 0 };
    const struct target target = target_named("avx512");
    bool counted[RECORD_MOST] = { false };
    for (uint32_t i = 0; i < RECORD_MOST; i++)
        storage[i].memory = i;
    p.storage = storage;
    if (compile_program(&p, &target, &plan) != TARN_OK) {
        fprintf(stderr, "compile: %s\n", error_text());
        exit(2);
    }
    for (uint32_t i = 1; i < p.count; i++) {
        const struct node *n = &p.nodes[i];
        if (n->op != &op_owned || counted[n->arg.leaf.slot])
            continue;
        counted[n->arg.leaf.slot] = true;
        u.owned += bytes_of(n->shape);
    }
    u.arena = plan.arena_bytes;
    for (uint32_t i = 0; i < plan.shared_count; i++)
        u.shared += plan.shared_bytes[i];
    u.all = u.owned + u.arena + u.shared;
    kernel_plan_free(&plan);
    return u;
}

/* What a rank needs of what one device needs. */
static bool run(const char *name, const struct net *net, int32_t ranks, double most)
{
    const struct mesh m = { .axes = 1, .extent = { ranks }, .name = { "a" } };
    struct record t;
    struct shard_program s;
    record_begin(&t, &m);
    make_net(&t, net);
    struct shard_input in = record_done(&t);
    in.bucket = 1 << 20;
    if (shard_program(&in, &s) != TARN_OK) {
        fprintf(stderr, "%s: %s\n", name, error_text());
        return false;
    }
    const struct use one = compiled(in.program), rank = compiled(&s.program);
    const double share = (double)rank.all / (double)one.all;
    const bool fits = share * ranks <= most && rank.owned * (size_t)ranks == one.owned;
    printf("%s, %d layers, %d ranks: %zu KiB of parameters and state, %zu of temporaries, %zu that "
           "are exchanged; on one device %zu, %zu: %.3f / %d%s\n",
           name, net->layers, (int)ranks, rank.owned >> 10, rank.arena >> 10, rank.shared >> 10,
           one.owned >> 10, one.arena >> 10, share * ranks, (int)ranks, fits ? "" : ": too much");
    shard_free(&s);
    record_end(&t);
    return fits;
}

int main(void)
{
    const struct net at_once = { 16, false, "0a", "0a" }, clipped = { 16, true, "0a", "0a" };
    bool fits = true;
    for (int32_t ranks = 2; ranks <= 4; ranks += 2) {
        fits &= run("fully sharded", &at_once, ranks, 1.15);
        fits &= run("fully sharded, clipped", &clipped, ranks, 1.15);
    }
    return !fits;
}
