/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual shards: whatever the network, weights have the same bits on any number of devices, or the
 * program is refused, on one device as on several. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"
#include "tensor/dtype.h"

TestSuite(shards, .timeout = 3600);

enum {
    WIDTH = 20,
    IMAGE = 12,
    SAMPLES = 640,
    CLASSES = 10,
    STEPS = 5,
    MOST_BYTES = 1 << 17,
};

/* What a network and its training have; each bit is a way in which sums over samples may meet. */
enum feature {
    EMBEDDING = 1 << 0, /* rows by index, mean over positions */
    CONVOLUTION = 1 << 1,
    BATCH_NORM = 1 << 2,
    LAYER_NORM = 1 << 3,
    GELU = 1 << 4,
    DROPOUT = 1 << 5,
    TIED = 1 << 6,      /* one layer, three times in a row */
    THRICE = 1 << 7,    /* a parameter that is used three times, with 0.3 between */
    PRODUCT = 1 << 8,   /* a weight that is the product of two parameters */
    CENTRED = 1 << 9,   /* minus the mean over all samples, by an all-reduce */
    DECAY = 1 << 10,    /* loss + 0.01 * sum of squares */
    TWICE = 1 << 11,    /* a second loss, and its gradients on top */
    ROOT = 1 << 12,     /* loss + the root of a mean over all samples */
    CONSTANT = 1 << 13, /* a loss whose gradient is the same for all samples */
    CLIPPED = 1 << 14,
    ACCUMULATED = 1 << 15, /* over 3 micro-batches */
    ADAM = 1 << 16,
    LARGE = 1 << 17, /* three times the batch */
    SMALL_BUCKETS = 1 << 18,
    FEATURES = 19,
    LINES = 1 << 19, /* features sorted, cumulated, and read and added by index; hidden ones, too */
    ROWS = 1 << 29,  /* samples as two rows each, along one axis, and a mean over all of them */
    /* Programs whose result depends on the number of devices. */
    SQUARED = 1 << 20,    /* loss * loss */
    LOCAL_MEAN = 1 << 21, /* minus the mean over the replica's samples */
    TURNED = 1 << 22,     /* samples and features in each other's place */
    CUT = 1 << 23,        /* half of the samples */
    STORED = 1 << 24,     /* the mean over the replica's samples, assigned to a buffer */
    GRAM = 1 << 25,       /* every sample with every other */
    UNEVEN = 1 << 26,     /* a batch that the shards do not divide */
    GIVEN = 1 << 27,      /* samples that no loader delivered */
    NOISE = 1 << 28,      /* as many random rows as there are samples, summed by themselves */
    SAID = 1 << 30,       /* the same, of which the program said that they are the samples' */
};

#define VOLUME \
    (1u << 31) /* an image's parts as planes: convolved, pooled, and the planes to a size */

struct job {
    unsigned features;
    tarn_dtype low; /* of autocast; float32: none; float64: all is of that */
    int shards;
    tarn_dataset *data;
    size_t bytes; /* of rank 0 */
    unsigned char weights[MOST_BYTES];
    tarn_status status;
    char line[1400];
};

struct net {
    tarn_linear first, last;
    tarn_conv2d conv;
    tarn_conv3d deep;
    tarn_conv_transpose3d up;
    tarn_batch_norm norm;
    tarn_layer_norm layer;
    tarn_tensor table, scale, a, b, buffer;
    tarn_optimizer *optimizer;
};

static struct net make(tarn_replica *r, unsigned f)
{
    struct net n = { 0 };
    if (f & CONVOLUTION)
        n.conv = tarn_conv2d_make(r, "conv", 1, 3, 3, (tarn_conv2d_options){ .groups = 1 });
    if (f & VOLUME) {
        n.deep = tarn_conv3d_make(r, "deep", 1, 2,
                                  (tarn_conv3d_make_options){ .window = { 3 },
                                                              .options.stride = { 2, 1, 1 },
                                                              .options.padding = { 1, 1, 1 } });
        n.up = tarn_conv_transpose3d_make(
            r, "up", 2, 2,
            (tarn_conv_transpose3d_make_options){
                .window = { 3, 2 }, .no_bias = true, .options.stride = { 2 } });
    }
    n.first = tarn_linear_make(r, "first", WIDTH, WIDTH);
    n.last = tarn_linear_make(r, "last", WIDTH, CLASSES);
    if (f & BATCH_NORM)
        n.norm = tarn_batch_norm_make(r, "norm", f & CONVOLUTION ? 3 : WIDTH);
    if (f & LAYER_NORM)
        n.layer = tarn_layer_norm_make(r, "layer", WIDTH);
    if (f & EMBEDDING)
        n.table = tarn_parameter_kaiming(r, "table", TARN_SHAPE(16, WIDTH), 1);
    if (f & THRICE)
        n.scale = tarn_parameter_kaiming(r, "scale", TARN_SHAPE(WIDTH), 1);
    if (f & PRODUCT) {
        n.a = tarn_parameter_kaiming(r, "a", TARN_SHAPE(WIDTH, 4), 4);
        n.b = tarn_parameter_kaiming(r, "b", TARN_SHAPE(4, WIDTH), 4);
    }
    if (f & STORED)
        n.buffer = tarn_buffer(r, "mean", TARN_SHAPE(WIDTH), TARN_F32, NULL);
    n.optimizer = f & ADAM ? tarn_adamw(r, (tarn_adam_options){ .lr = 0.01f })
                           : tarn_sgd(r, (tarn_sgd_options){ .lr = 0.05f, .momentum = 0.9f });
    return n;
}

static tarn_tensor activate(tarn_tensor x, unsigned f)
{
    return f & GELU ? tarn_gelu(x) : tarn_relu(x);
}

static tarn_tensor volume(const struct net *n, tarn_tensor x)
{
    const int count = tarn_shape_get(x).dim[0];
    x = tarn_reshape(x, TARN_SHAPE(count, 1, 4, IMAGE / 2, IMAGE / 2));
    x = tarn_conv_transpose3d_forward(&n->up, tarn_relu(tarn_conv3d_forward(&n->deep, x)));
    x = tarn_max_pool3d(
        x, (tarn_pool3d_options){ .window = { 2, 3, 3 }, .stride = { 1, 2, 2 }, .round_up = true });
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_reshape(x, TARN_SHAPE(count, s.dim[1] * s.dim[2], s.dim[3], s.dim[4]));
    return tarn_adaptive_avg_pool2d(tarn_adaptive_max_pool2d(x, 5, 5), 4, 3);
}

/* [n, WIDTH] of a batch of images. */
static tarn_tensor features(const struct net *n, tarn_tensor x, unsigned f)
{
    if (f & CONVOLUTION) {
        x = tarn_max_pool2d(tarn_conv2d_forward(&n->conv, x), 2);
        if (f & BATCH_NORM)
            x = tarn_batch_norm_forward(&n->norm, x);
    }
    if (f & VOLUME)
        x = volume(n, x);
    x = tarn_slice(tarn_flatten(x, 1), 1, 40, 40 + WIDTH, 1);
    if (f & EMBEDDING) {
        const tarn_tensor at = tarn_add_scalar(tarn_mul_scalar(tarn_slice(x, 1, 0, 6, 1), 3), 4);
        x = tarn_mean(tarn_embedding(n->table, tarn_cast(at, TARN_I32)), TARN_AXES(1), false);
    }
    if (f & LINES) {
        tarn_tensor order;
        const tarn_tensor sorted = tarn_sort(x, 1, true, &order);
        x = tarn_scatter_add(tarn_gather(x, 1, order), 1, tarn_mul(order, order),
                             tarn_mul_scalar(tarn_cumsum(sorted, 1), 0.1f));
    }
    return x;
}

static tarn_tensor refused(const struct net *n, tarn_tensor h, unsigned f)
{
    const int32_t count = tarn_shape_get(h).dim[0];
    if (f & LOCAL_MEAN)
        h = tarn_sub(h, tarn_mean(h, TARN_AXES(0), true));
    if (f & TURNED)
        h = tarn_reshape(tarn_transpose(h, 0, 1), TARN_SHAPE(count, WIDTH));
    if (f & CUT) {
        const tarn_tensor top = tarn_slice(h, 0, 0, count / 2, 1);
        h = tarn_concat((tarn_tensor[]){ top, top }, 2, 0);
    }
    if (f & GRAM)
        h = tarn_matmul(tarn_matmul(h, tarn_transpose(h, 0, 1)), h);
    if (f & STORED)
        tarn_assign(n->buffer, tarn_mean(h, TARN_AXES(0), false));
    if (f & NOISE) {
        const tarn_tensor rows = tarn_rand(h.replica, TARN_SHAPE(count, WIDTH));
        h = tarn_mul(h, tarn_sum(f & SAID ? tarn_batch_axis(rows, 0) : rows, TARN_AXES(0), true));
    }
    return h;
}

static tarn_tensor hidden(const struct net *n, tarn_tensor x, unsigned f)
{
    tarn_tensor h = tarn_linear_forward(&n->first, features(n, x, f));
    if (f & BATCH_NORM && !(f & CONVOLUTION))
        h = tarn_batch_norm_forward(&n->norm, h);
    if (f & LAYER_NORM)
        h = tarn_layer_norm_forward(&n->layer, h);
    h = activate(h, f);
    if (f & LINES) /* the second half all name the last one */
        h = tarn_index_select(h, 1, tarn_mul_scalar(tarn_arange(h.replica, WIDTH), 2));
    if (f & DROPOUT) {
        const tarn_tensor noise = tarn_randn(h.replica, tarn_shape_get(h));
        h = tarn_dropout(tarn_add(h, tarn_mul_scalar(noise, 0.1f)), 0.25f);
    }
    for (int i = 0; i < 2 && f & TIED; i++)
        h = activate(tarn_linear_forward(&n->first, h), f);
    if (f & THRICE) {
        h = tarn_add(tarn_mul(h, n->scale), tarn_mul_scalar(n->scale, 0.3f));
        h = tarn_sub(h, tarn_mul_scalar(tarn_mul(n->scale, n->scale), 0.3f));
    }
    if (f & PRODUCT)
        h = tarn_matmul(h, tarn_matmul(n->a, n->b));
    if (f & ROWS) {
        const int32_t rows = 2 * tarn_shape_get(h).dim[0];
        const tarn_tensor square = tarn_slice(n->first.weight, 1, 0, WIDTH / 2, 1);
        const tarn_tensor y =
            tarn_matmul(tarn_reshape(h, TARN_SHAPE(rows, WIDTH / 2)), tarn_transpose(square, 0, 1));
        h = tarn_add(
            h, tarn_mean(tarn_reshape(y, TARN_SHAPE(rows / 2, 2, WIDTH)), TARN_AXES(1), false));
    }
    if (f & CENTRED)
        h = tarn_sub(h, tarn_all_reduce(tarn_mean(h, TARN_AXES(0), true), TARN_MEAN));
    return refused(n, h, f);
}

/* A loss of noise alone, which no plan with samples computes in part: the mean over all devices is evaluated
 * before. */
static tarn_tensor loss_of_noise(const struct net *n, int32_t count)
{
    const tarn_tensor rows =
        tarn_randn_truncated(n->first.weight.replica, TARN_SHAPE(count, WIDTH), -2, 1);
    const tarn_tensor y = tarn_gelu(tarn_linear_forward(&n->first, tarn_batch_axis(rows, 0)));
    const tarn_tensor middle = tarn_all_reduce(tarn_mean(y, TARN_AXES(0), true), TARN_MEAN);
    (void)tarn_eval(&middle, 1);
    const tarn_tensor far = tarn_sub(y, tarn_mul_scalar(middle, 3));
    return tarn_mean(tarn_mul(far, far), TARN_ALL, false);
}

/* Of images as sequences of rows: those of each sample are put in order, and added up, by an index of its own; then all
 * samples' moments are rows. */
static tarn_tensor loss_of_moments(const struct net *n, tarn_tensor x)
{
    const int32_t count = tarn_shape_get(x).dim[0];
    const tarn_shape all = TARN_SHAPE(count, IMAGE, IMAGE);
    const tarn_tensor few = tarn_slice(n->first.weight, 0, 0, IMAGE, 1);
    const tarn_tensor w =
        tarn_reshape(tarn_slice(few, 1, 0, IMAGE, 1), TARN_SHAPE(IMAGE, IMAGE, 1));
    const tarn_tensor y =
        tarn_conv1d_op(tarn_reshape(x, all), w, TARN_NONE, (tarn_conv1d_options){ 0 });
    const tarn_tensor order = tarn_argsort(tarn_sum(y, TARN_AXES(2), true), 1, false);
    const tarn_tensor at = tarn_broadcast_to(order, all);
    const tarn_tensor few_of_them = tarn_broadcast_to(tarn_mul(order, order), all);
    const tarn_tensor h = tarn_scatter_add(tarn_gather(y, 1, at), 1, few_of_them, y);
    const tarn_tensor rows =
        tarn_reshape(tarn_transpose(h, 1, 2), TARN_SHAPE(count * IMAGE, IMAGE));
    return tarn_mean(tarn_mul(rows, tarn_softmax(rows, 1)), TARN_ALL, false);
}

static void backward(const struct net *n, tarn_batch b, unsigned f)
{
    if (tarn_dtype_get(n->first.weight) == TARN_F64) {
        b.x = tarn_cast(b.x, TARN_F64);
        b.y = tarn_cast(b.y, TARN_I64);
    }
    const tarn_tensor h = hidden(n, b.x, f), y = tarn_linear_forward(&n->last, h);
    tarn_tensor loss = tarn_cross_entropy(y, b.y);
    const tarn_tensor w = n->first.weight;
    if (f & DECAY)
        loss = tarn_add(loss, tarn_mul_scalar(tarn_sum(tarn_mul(w, w), TARN_ALL, false), 0.01f));
    if (f & ROOT) {
        const tarn_tensor mean = tarn_mean(tarn_mul(h, h), TARN_ALL, false);
        loss = tarn_add(loss, tarn_mul_scalar(tarn_sqrt(tarn_all_reduce(mean, TARN_MEAN)), 0.3f));
    }
    if (f & ROWS) {
        const int32_t pairs = tarn_shape_get(h).dim[0] * 2;
        const tarn_tensor flat = tarn_reshape(h, TARN_SHAPE(pairs, WIDTH / 2));
        loss =
            tarn_add(loss, tarn_mul_scalar(tarn_mean(tarn_mul(flat, flat), TARN_ALL, false), 0.1f));
        loss = tarn_add(loss, tarn_mul_scalar(loss_of_moments(n, b.x), 0.1f));
    }
    if (f & CONSTANT)
        loss = tarn_mul_scalar(tarn_mean(tarn_tanh(y), TARN_ALL, false), 0.3f);
    if (f & CONSTANT && f & TWICE)
        loss = tarn_mul_scalar(tarn_mean(y, TARN_ALL, false), 0.3f);
    if (f & SQUARED)
        loss = tarn_mul(loss, loss);
    tarn_backward(loss);
    if (f & SAID)
        tarn_backward(loss_of_noise(n, b.n));
    if (f & TWICE)
        tarn_backward(tarn_mul_scalar(tarn_mean(tarn_abs(h), TARN_ALL, false), 0.7f));
}

static bool next(tarn_replica *r, tarn_loader *loader, unsigned f, tarn_batch *b)
{
    static const float pixels[SAMPLES * IMAGE * IMAGE];
    static const int32_t targets[SAMPLES];
    while (!tarn_loader_next(loader, b))
        if (tarn_error_status(r) != TARN_OK)
            return false;
    if (f & GIVEN)
        b->x = tarn_from(r, TARN_SHAPE(b->n, 1, IMAGE, IMAGE), TARN_F32, pixels);
    if (f & GIVEN)
        b->y = tarn_from(r, TARN_SHAPE(b->n), TARN_I32, targets);
    return true;
}

static tarn_status step(tarn_replica *r, const struct net *n, tarn_loader *loader, unsigned f)
{
    tarn_batch b;
    for (int i = 0; i < 2 && f & ACCUMULATED; i++) {
        if (!next(r, loader, f, &b))
            return tarn_error_status(r);
        backward(n, b, f);
        tarn_optimizer_accumulate(n->optimizer);
        if (tarn_step(r) != TARN_OK)
            return tarn_error_status(r);
    }
    if (!next(r, loader, f, &b))
        return tarn_error_status(r);
    backward(n, b, f);
    if (f & CLIPPED)
        (void)tarn_clip_grad_norm(r, 0.05f);
    tarn_optimizer_step(n->optimizer);
    return tarn_step(r);
}

/* Appends a tensor that all replicas hold. */
static tarn_status bring(tarn_replica *r, const char *name, struct job *job)
{
    const tarn_tensor t = tarn_find(r, name);
    if (tarn_failed(t))
        return TARN_OK; /* this optimizer has no such state */
    const size_t bytes =
        (size_t)tarn_shape_count(tarn_shape_get(t)) * tarn_dtype_bytes(tarn_dtype_get(t));
    if (bytes > sizeof job->weights - job->bytes)
        return TARN_ERR_MEMORY;
    const tarn_status s = tarn_read(t, job->weights + job->bytes, bytes);
    job->bytes += bytes;
    return s;
}

static tarn_status bring_all(tarn_replica *r, struct job *job)
{
    static const char *const states[] = { "momentum_buffer", "exp_avg", "exp_avg_sq" };
    tarn_status s = TARN_OK;
    for (int i = 0; s == TARN_OK && i < tarn_owned_count(r); i++) {
        const char *name = tarn_owned_name(r, i);
        s = bring(r, name, job);
        for (size_t k = 0; s == TARN_OK && k < sizeof states / sizeof *states; k++) {
            char text[160];
            snprintf(text, sizeof text, "optimizer.%s.%s", states[k], name);
            s = bring(r, text, job);
        }
    }
    return s;
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    const unsigned f = job->features;
    tarn_seed(r, 7);
    if (job->low == TARN_F64)
        tarn_parameter_dtype(r, TARN_F64);
    const struct net n = make(r, f);
    if (dtype_is_half(job->low))
        tarn_autocast(r, job->low);
    if (job->low == TARN_F16 && tarn_loss_scale(r, (tarn_loss_scale_options){ 0 }) != TARN_OK)
        return tarn_error_status(r);
    const int32_t batch = 16 * job->shards * (f & LARGE ? 3 : 1) - (f & UNEVEN ? job->shards : 0);
    tarn_loader *loader = tarn_loader_open(
        r, job->data,
        (tarn_loader_options){
            .batch = batch, .shuffle = !(f & UNEVEN), .drop_last = !(f & UNEVEN), .seed = 5 });
    if (loader == NULL)
        return tarn_error_status(r);
    for (int i = 0; i < STEPS; i++) {
        if (i == STEPS / 2)
            tarn_optimizer_set_lr(n.optimizer, 0.03f);
        const tarn_status s = step(r, &n, loader, f);
        if (s != TARN_OK)
            return s;
    }
    return tarn_rank(r) == 0 ? bring_all(r, job) : TARN_OK;
}

static tarn_dataset *random_data(void)
{
    static float images[SAMPLES * IMAGE * IMAGE];
    static unsigned char labels[SAMPLES];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        state = state * 1664525U + 1013904223U;
        images[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
    for (size_t i = 0; i < sizeof labels; i++)
        labels[i] = (unsigned char)((i * 7 + i / 9) % CLASSES);
    return tarn_dataset_from(
        (tarn_arrays){ .inputs = { { .data = images,
                                     .dtype = TARN_F32,
                                     .shape = TARN_SHAPE(SAMPLES, 1, IMAGE, IMAGE) } },
                       .targets = { { .data = labels,
                                      .dtype = TARN_U8,
                                      .shape = TARN_SHAPE(SAMPLES),
                                      .classes = CLASSES } } });
}

static tarn_dtype low_of_all; /* of the jobs that follow: `low` */

static void run(struct job *job, unsigned f, int shards, int count)
{
    static tarn_dataset *data; /* a replica that failed may still read it */
    if (data == NULL)
        data = random_data();
    *job = (struct job){ .features = f, .low = low_of_all, .shards = shards, .data = data };
    const tarn_launch_options options = { .devices = "0,0,0,0,0,0,0,0",
                                          .count = count,
                                          .virtual_shards = shards,
                                          .bucket_bytes = f & SMALL_BUCKETS ? 1 : 0 };
    job->status = data != NULL ? tarn_launch(train, job, options) : TARN_ERR_MEMORY;
    snprintf(job->line, sizeof job->line, "%s", job->status == TARN_OK ? "" : tarn_error(NULL));
}

static void expect_equal(unsigned f, int shards)
{
    static struct job one, many;
    run(&one, f, shards, 1);
    cr_assert_eq(one.status, TARN_OK, "features %#x: %s", f, one.line);
    for (int count = 2; count <= shards; count *= 2) {
        run(&many, f, shards, count);
        cr_assert_eq(many.status, TARN_OK, "features %#x on %d: %s", f, count, many.line);
        size_t at = 0;
        while (at < one.bytes && one.weights[at] == many.weights[at])
            at++;
        cr_expect(one.bytes == many.bytes && at == one.bytes,
                  "features %#x: byte %zu of %zu differs between 1 and %d devices", f, at,
                  one.bytes, count);
    }
}

/* Refused on one device and on two, with a line that says it. */
static void expect_refused(unsigned f, const char *text)
{
    static struct job job;
    for (int count = 1; count <= 2; count++) {
        run(&job, f, 2, count);
        cr_expect_neq(job.status, TARN_OK, "features %#x on %d: not refused", f, count);
        cr_expect_not_null(strstr(job.line, text), "features %#x on %d: no \"%s\" in: %s", f, count,
                           text, job.line);
    }
}

Test(shards, a_layer_used_three_times_two_losses_and_decay)
{
    expect_equal(TIED | TWICE | DECAY, 4);
}

Test(shards, a_parameter_used_thrice_accumulation_and_clipping)
{
    expect_equal(THRICE | GELU | SMALL_BUCKETS | ACCUMULATED | CLIPPED, 2);
}

Test(shards, embedding_with_layer_norm_and_dropout)
{
    expect_equal(EMBEDDING | LAYER_NORM | GELU | DROPOUT | ADAM, 2);
}

Test(shards, several_rows_for_each_sample)
{
    expect_equal(ROWS | LAYER_NORM, 4);
}

Test(shards, sums_by_index)
{
    expect_equal(EMBEDDING | CLIPPED, 4);
}

Test(shards, lines_within_samples)
{
    expect_equal(LINES | GELU, 4);
}

Test(shards, noise_by_itself)
{
    expect_equal(SAID | GELU | LARGE, 4);
}

Test(shards, means_over_all_samples_in_the_network)
{
    expect_equal(CENTRED | ROOT | PRODUCT, 2);
}

Test(shards, a_gradient_that_is_the_same_for_all_samples)
{
    expect_equal(CONSTANT | TWICE | BATCH_NORM, 2);
}

Test(shards, convolution_with_batch_norm_and_a_large_batch)
{
    expect_equal(CONVOLUTION | BATCH_NORM | LARGE, 2);
}

Test(shards, planes_of_samples)
{
    expect_equal(VOLUME | DECAY, 2);
}

Test(shards, products_in_bfloat16)
{
    low_of_all = TARN_BF16;
    expect_equal(CONVOLUTION | BATCH_NORM | GELU | TIED | CLIPPED, 2);
    low_of_all = TARN_F32;
}

Test(shards, products_in_float16_with_a_scaled_loss)
{
    low_of_all = TARN_F16;
    expect_equal(EMBEDDING | LAYER_NORM | ADAM | ACCUMULATED, 2);
    low_of_all = TARN_F32;
}

static void expect_equal_doubles(unsigned f, int shards)
{
    low_of_all = TARN_F64;
    expect_equal(f, shards);
    low_of_all = TARN_F32;
}

Test(shards, doubles_in_images_with_batch_norm)
{
    expect_equal_doubles(CONVOLUTION | BATCH_NORM | GELU | TIED | CLIPPED, 2);
}

Test(shards, doubles_in_tables_and_lines)
{
    expect_equal_doubles(EMBEDDING | LINES | LAYER_NORM | DROPOUT | ADAM | ACCUMULATED, 4);
}

Test(shards, doubles_in_means_and_what_is_linear_in_sums)
{
    expect_equal_doubles(CENTRED | ROOT | PRODUCT | THRICE | CONSTANT | DECAY, 2);
}

/* Random networks and ways to train them; scripts/check-bits runs more. */
Test(shards, random_programs)
{
    const char *text = getenv("TARN_SHARDS_SEED"), *most = getenv("TARN_SHARDS_COUNT");
    unsigned state = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 1;
    for (long i = 0, n = most != NULL ? strtol(most, NULL, 10) : 1; i < n; i++) {
        unsigned f = 0;
        for (int bit = 0; bit < FEATURES; bit++) {
            state = state * 1664525U + 1013904223U;
            f |= (unsigned)(state >> 24 < 90) << bit;
        }
        cr_log_info("features %#x", f);
        expect_equal(f, 2 << (state >> 20 & 1));
    }
}

Test(shards, refuses_what_depends_on_the_number_of_devices)
{
    const char *line = "would depend on the number of devices";
    expect_refused(SQUARED, line);
    expect_refused(LOCAL_MEAN, line);
    expect_refused(TURNED, line);
    expect_refused(CUT, line);
    expect_refused(STORED, line);
    expect_refused(GRAM, line);
    expect_refused(NOISE, line);
    expect_refused(NOISE | SAID, line);
}

Test(shards, refuses_batches_that_shards_do_not_divide)
{
    expect_refused(UNEVEN, "each needs a multiple of 16 samples");
    expect_refused(GIVEN, "no loader delivered them");
}
