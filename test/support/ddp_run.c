/* SPDX-License-Identifier: Apache-2.0 */
/* A training loop as a program would write it, with all switches that the tests turn. */
#include "ddp_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

struct shared {
    struct ddp_run *run;
    tarn_dataset *data;
};

struct net {
    tarn_linear fc1, fc2;
    tarn_batch_norm bn;
    tarn_optimizer *optimizer;
};

static struct net make(tarn_replica *r, const struct ddp_run *run)
{
    struct net n = { 0 };
    n.fc1 = tarn_linear_make(r, "fc1", DDP_INPUTS, DDP_HIDDEN);
    if (run->norm)
        n.bn = tarn_batch_norm_make(r, "bn", DDP_HIDDEN);
    n.fc2 = tarn_linear_make(r, "fc2", DDP_HIDDEN, DDP_CLASSES);
    if (run->adamw)
        n.optimizer = tarn_adamw(r, (tarn_adam_options){ .lr = 0.01f });
    else
        n.optimizer =
            tarn_sgd(r, (tarn_sgd_options){ .lr = 0.05f, .momentum = run->plain ? 0.0f : 0.9f });
    return n;
}

static tarn_tensor loss_of(const struct net *n, const struct ddp_run *run, tarn_batch b)
{
    tarn_tensor x = tarn_linear_forward(&n->fc1, tarn_flatten(b.x, 1));
    if (run->norm)
        x = tarn_batch_norm_forward(&n->bn, x);
    x = tarn_relu(x);
    if (run->dropout)
        x = tarn_dropout(x, 0.25f);
    return tarn_cross_entropy(tarn_linear_forward(&n->fc2, x), b.y);
}

static tarn_status train_step(tarn_replica *r, const struct net *n, const struct ddp_run *run,
                              tarn_loader *loader, float *loss)
{
    tarn_batch b;
    while (!tarn_loader_next(loader, &b))
        if (tarn_error_status(r) != TARN_OK)
            return tarn_error_status(r);
    const tarn_tensor mine = loss_of(n, run, b);
    const tarn_tensor all = tarn_keep(tarn_all_reduce(mine, TARN_MEAN));
    tarn_backward(mine);
    if (run->clip > 0)
        (void)tarn_clip_grad_norm(r, run->clip);
    tarn_optimizer_step(n->optimizer);
    tarn_status s = tarn_step(r);
    if (s == TARN_OK)
        s = tarn_read(all, loss, sizeof *loss);
    tarn_drop(all);
    return s;
}

/* ---- bringing home -------------------------------------------------------------------------- */

static tarn_status bring(tarn_replica *r, const char *name, struct ddp_tensors *out)
{
    const tarn_tensor t = tarn_find(r, name);
    const size_t at = out->at[out->count];
    const size_t bytes =
        (size_t)tarn_shape_count(tarn_shape_get(t)) * tarn_dtype_bytes(tarn_dtype_get(t));
    unsigned char *more = realloc(out->data, at + bytes + 1);
    if (tarn_failed(t) || more == NULL || out->count == DDP_TENSORS)
        return TARN_ERR_MEMORY;
    out->data = more;
    snprintf(out->name[out->count], sizeof out->name[0], "%s", name);
    out->at[++out->count] = at + bytes;
    return tarn_read(t, more + at, bytes);
}

static tarn_status bring_all(tarn_replica *r, const struct ddp_run *run, struct ddp_tensors *out)
{
    static const char *const moments[] = { "exp_avg", "exp_avg_sq" };
    char text[160];
    tarn_status s = bring(r, "optimizer.step", out);
    for (int i = 0; s == TARN_OK && i < tarn_owned_count(r); i++) {
        const char *name = tarn_owned_name(r, i);
        s = bring(r, name, out);
        if (run->plain || strstr(name, "running_") != NULL || strstr(name, "num_batches") != NULL)
            continue;
        for (int k = 0; s == TARN_OK && k < (run->adamw ? 2 : 1); k++) {
            snprintf(text, sizeof text, "optimizer.%s.%s",
                     run->adamw ? moments[k] : "momentum_buffer", name);
            s = bring(r, text, out);
        }
    }
    return s;
}

/* ---- a replica ------------------------------------------------------------------------------ */

static tarn_status train(tarn_replica *r, const struct shared *s, tarn_loader *loader,
                         const struct net *n)
{
    struct ddp_run *run = s->run;
    struct ddp_tensors *out = &run->ranks[tarn_rank(r)];
    if (run->load != NULL) {
        tarn_progress p;
        const tarn_status loaded = tarn_load(r, run->load, &p);
        if (loaded != TARN_OK)
            return loaded;
        tarn_loader_seek(loader, p.epoch, p.batches);
    }
    for (int i = run->first; i <= run->last; i++) {
        tarn_status status = run->hook != NULL ? run->hook(r, i) : TARN_OK;
        if (status == TARN_OK && i < run->last)
            status = train_step(r, n, run, loader, &out->loss[i]);
        if (status != TARN_OK)
            return status;
    }
    const int length = tarn_loader_length(loader);
    const tarn_progress p = { .epoch = (uint64_t)(run->last / length),
                              .batches = (uint64_t)(run->last % length) };
    if (run->save != NULL && tarn_rank(r) == 0 && tarn_save(r, run->save, p) != TARN_OK)
        return tarn_error_status(r);
    return bring_all(r, run, out);
}

static tarn_status replica_main(tarn_replica *r, void *arg)
{
    struct shared *s = arg;
    if (tarn_rank(r) == 0)
        s->run->world = tarn_world_size(r);
    tarn_seed(r, s->run->seed);
    const struct net n = make(r, s->run);
    tarn_loader *loader = tarn_loader_open(r, s->data,
                                           (tarn_loader_options){ .batch = DDP_BATCH,
                                                                  .shuffle = true,
                                                                  .seed = s->run->seed,
                                                                  .mean = MNIST_MEAN,
                                                                  .deviation = MNIST_DEVIATION });
    return loader != NULL ? train(r, s, loader, &n) : tarn_error_status(r);
}

void ddp_run(struct ddp_run *run)
{
    /* After a failure a replica's thread may still read it: so it stays. */
    static tarn_dataset *data;
    if (data == NULL)
        data = digits_open(DDP_SAMPLES, 3);
    struct shared s = { run, data };
    if (run->launch.devices ==
        NULL) /* more replicas than a machine may have devices: copies of one */
        run->launch.devices = "0,0,0,0,0,0,0,0";
    run->status = s.data != NULL ? tarn_launch(replica_main, &s, run->launch) : TARN_ERR_MEMORY;
    snprintf(run->line, sizeof run->line, "%s", run->status == TARN_OK ? "" : tarn_error(NULL));
}

void ddp_free(struct ddp_run *run)
{
    for (int i = 0; i < DDP_RANKS; i++) {
        free(run->ranks[i].data);
        run->ranks[i] = (struct ddp_tensors){ 0 };
    }
}

/* ---- looking at it -------------------------------------------------------------------------- */

bool ddp_equal(const struct ddp_tensors *a, const struct ddp_tensors *b, char *why, size_t capacity)
{
    snprintf(why, capacity, "%d and %d tensors", a->count, b->count);
    if (a->count != b->count || a->count == 0)
        return false;
    for (int i = 0; i < a->count; i++) {
        size_t at = a->at[i];
        while (at < a->at[i + 1] && a->data[at] == b->data[at])
            at++;
        if (strcmp(a->name[i], b->name[i]) != 0 || a->at[i + 1] != b->at[i + 1] ||
            at < a->at[i + 1]) {
            snprintf(why, capacity, "%s, byte %zu", a->name[i], at - a->at[i]);
            return false;
        }
    }
    for (int i = 0; i < DDP_STEPS; i++)
        if (memcmp(&a->loss[i], &b->loss[i], sizeof(float)) != 0) {
            snprintf(why, capacity, "loss of step %d: %.9g and %.9g", i, (double)a->loss[i],
                     (double)b->loss[i]);
            return false;
        }
    return true;
}

const void *ddp_find(const struct ddp_tensors *t, const char *name, size_t *bytes)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->name[i], name) == 0) {
            *bytes = t->at[i + 1] - t->at[i];
            return t->data + t->at[i];
        }
    return NULL;
}
