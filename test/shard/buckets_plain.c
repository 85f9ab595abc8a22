/* SPDX-License-Identifier: Apache-2.0 */
/* Data parallel as the partitioner makes it: gradients fill buckets in the order in which the backward pass makes
 * them, a bucket waits for no more of that pass than it holds, statistics wait for no gradient, and what is computed
 * of nothing but positions is computed where it is needed. Results, too, on all ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "op/op.h"
#include "record.h"

enum { LAYERS = 6, WIDTH = 64, BATCH = 32, WEIGHT = WIDTH * WIDTH * 4 };

#define SPEC(text) record_spec(text)
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "buckets: line %d: %s does not hold\n", __LINE__, #condition); \
            wrong++; \
        } \
    } while (0)

static int wrong;

struct net {
    bool centred, masked; /* each layer's values minus their mean over the batch; half of them */
};

static tarn_tensor layer(tarn_tensor x, tarn_tensor w, struct net net)
{
    tarn_tensor y = tarn_tanh(tarn_matmul(x, w));
    if (net.centred)
        y = tarn_sub(y, tarn_mean(y, TARN_AXES(0), true));
    if (!net.masked)
        return y;
    const tarn_tensor at =
        tarn_reshape(tarn_arange(x.replica, BATCH * WIDTH), TARN_SHAPE(BATCH, WIDTH));
    const tarn_tensor half = tarn_gt(tarn_sin(at), tarn_zeros(x.replica, TARN_SCALAR));
    return tarn_where(half, y, tarn_zeros(x.replica, TARN_SCALAR));
}

/* A step of all layers' weights, whose batch is cut. */
static void record_net(struct record *t, struct net net)
{
    tarn_tensor w[LAYERS], g[LAYERS], x = record_input(t, TARN_SHAPE(BATCH, WIDTH), SPEC("0a"));
    for (int i = 0; i < LAYERS; i++) {
        w[i] = record_owned(t, TARN_SHAPE(WIDTH, WIDTH), SPEC(""));
        x = layer(x, w[i], net);
    }
    const tarn_tensor loss = tarn_mean(tarn_mul(x, x), TARN_ALL, false);
    tarn_gradients(loss, w, LAYERS, g);
    for (int i = 0; i < LAYERS; i++)
        record_assign(w[i], tarn_sub(w[i], tarn_mul_scalar(g[i], 0.1f)));
}

/* ---- what is found in a rank's program ------------------------------------------------------ */

/* Marks what a node is computed from, and returns how many products are among it. */
static int products_below(const struct program *p, uint32_t node, bool *below)
{
    int count = 0;
    memset(below, 0, p->count * sizeof *below);
    below[node] = true;
    for (uint32_t i = node; i > 0; i--) {
        const struct node *n = &p->nodes[i];
        if (!below[i])
            continue;
        count += n->op->kind == OP_CONTRACT;
        for (uint32_t k = 0; k < n->in_count; k++)
            below[p->operands[n->first_in + k]] = true;
    }
    return count;
}

static int64_t bytes_at(const struct program *p, uint32_t node)
{
    return tarn_shape_count(p->nodes[node].shape) * 4;
}

static struct shard_program make(struct record *t, struct net net, int64_t bucket)
{
    static const struct mesh m = { .axes = 1, .extent = { 2 }, .name = { "a" } };
    struct shard_program s;
    record_begin(t, &m);
    record_net(t, net);
    struct shard_input in = record_done(t);
    in.bucket = bucket;
    if (shard_program(&in, &s) != TARN_OK || !record_agrees(t, &in, &s, 1, "buckets")) {
        fprintf(stderr, "buckets: %s\n", error_text());
        exit(1);
    }
    return s;
}

static void end(struct record *t, struct shard_program *s)
{
    shard_free(s);
    record_end(t);
}

/* ---- what is demanded ----------------------------------------------------------------------- */

/* Buckets of two gradients: that of the last two layers needs all products of the forward pass and those of two
 * layers backward, and so on. */
static void check_order(void)
{
    struct record t;
    struct shard_program s = make(&t, (struct net){ 0 }, 2 * WEIGHT);
    const struct program *p = &s.program;
    bool *below = calloc(p->count, sizeof *below);
    int calls = 0;
    CHECK(s.collectives == LAYERS / 2);
    CHECK(s.bytes == LAYERS * WEIGHT);
    for (uint32_t i = 1; below != NULL && i < p->count; i++) {
        if (p->nodes[i].op->kind != OP_HOST)
            continue;
        calls++;
        CHECK(bytes_at(p, i) == 2 * WEIGHT);
        /* Of each of its layers a gradient of weights, and of all after the first of them one of values. */
        CHECK(products_below(p, i, below) == LAYERS + 2 + (2 * calls - 1));
    }
    CHECK(calls == LAYERS / 2);
    free(below);
    end(&t, &s);
}

/* The pass waits for statistics, forward and backward: they travel alone, and gradients wait for none but theirs. */
static void check_statistics(void)
{
    struct record t;
    struct shard_program s = make(&t, (struct net){ .centred = true }, 1 << 20);
    const struct program *p = &s.program;
    int small = 0, large = 0;
    for (uint32_t i = 1; i < p->count; i++) {
        const int64_t bytes = p->nodes[i].op->kind == OP_HOST ? bytes_at(p, i) : 0;
        small += bytes == WIDTH * 4;
        large += bytes == LAYERS * WEIGHT;
    }
    CHECK(small == 2 * LAYERS);
    CHECK(large == 1);
    CHECK(s.collectives == small + large);
    end(&t, &s);
}

/* A larger one is not copied to lie beside others. */
static void check_large(void)
{
    struct record t;
    struct shard_program s = make(&t, (struct net){ 0 }, WEIGHT);
    CHECK(s.collectives == LAYERS);
    for (uint32_t i = 1; i < s.program.count; i++)
        CHECK(s.program.nodes[i].op->kind != OP_CONCAT);
    end(&t, &s);
}

/* No rank computes the masks of all samples to take its own out of them. */
static void check_masks(void)
{
    struct record t;
    struct shard_program s = make(&t, (struct net){ .masked = true }, 1 << 20);
    for (uint32_t i = 1; i < s.program.count; i++)
        CHECK(s.program.nodes[i].op->kind != OP_GATHER);
    end(&t, &s);
}

int main(void)
{
    check_order();
    check_statistics();
    check_large();
    check_masks();
    printf("buckets: %d wrong\n", wrong);
    return wrong > 0;
}
