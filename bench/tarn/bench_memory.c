/* SPDX-License-Identifier: Apache-2.0 */
/* What memory bounds: copy and triad by kernels of our own, reductions and norms by the library. */
#include "bench.h"

#include "kernel.h"

#define KIB 1024.0
#define MIB (1024 * KIB)

/* Each group has a slice of its own, and goes over it again while it lies in a cache. Bytes are
 * those that the program names; what a cache reads before it writes is not counted. */
static const char stream_source[] =
    "__kernel void stream(__global float16 *to, const __global float16 *a,\n"
    "                     const __global float16 *b, int slice, int passes, int triad, float s)\n"
    "{\n"
    "    const int begin = get_group_id(0) * slice + get_local_id(0);\n"
    "    const int end = (get_group_id(0) + 1) * slice, step = get_local_size(0);\n"
    "    for (int p = 0; p < passes; p++)\n"
    "        if (triad)\n"
    "            for (int i = begin; i < end; i += step)\n"
    "                to[i] = a[i] + s * b[i];\n"
    "        else\n"
    "            for (int i = begin; i < end; i += step)\n"
    "                to[i] = a[i];\n"
    "}\n";

struct stream {
    bool triad;
    double footprint; /* bytes of all arrays */
    int slice, passes;
};

static double moved(const struct own_kernel *k, const struct stream *s)
{
    return (s->triad ? 3.0 : 2.0) * 64 * s->slice * s->passes * (double)k->groups;
}

static tarn_status stream_buffers(struct own_kernel *k, size_t bytes, bool triad)
{
    for (int i = 0; i < (triad ? 3 : 2); i++) {
        TRY(buffer_new(k->context, bytes, &k->args[i].buffer));
        TRY(buffer_fill_zero(k->args[i].buffer, 0, bytes));
    }
    if (!triad)
        k->args[2] = k->args[1];
    return TARN_OK;
}

static tarn_status stream_time(const struct bench *b, struct own_kernel *k, struct stream *s,
                               struct times *t)
{
    const struct device *d = b->device;
    TRY(own_kernel_open(b, stream_source, "stream", k));
    k->groups = 4 * (size_t)d->compute_units;
    k->local = d->kind == DEVICE_CPU || d->max_group < 256 ? 1 : 256;
    const double array = s->footprint / (s->triad ? 3 : 2);
    if (array > (double)d->max_buffer_bytes || s->footprint > (double)d->memory_bytes / 2)
        return error_set(TARN_ERR_DEVICE_MEMORY, "%.0f MiB do not fit on the device; nothing to do",
                         s->footprint / MIB);
    s->slice = (int)(array / 64 / (double)k->groups);
    s->slice = s->slice < 1 ? 1 : s->slice;
    const double once = s->footprint;
    s->passes = once < 64 * MIB ? (int)((b->quick ? 64 : 256) * MIB / once) : 1;
    TRY(stream_buffers(k, 64 * (size_t)s->slice * k->groups, s->triad));
    const int32_t whole[] = { s->slice, s->passes, s->triad };
    for (int i = 0; i < 3; i++)
        k->args[3 + i] = (struct kernel_arg){ .size = sizeof(int32_t), .value.i32 = whole[i] };
    k->args[6] = (struct kernel_arg){ .size = sizeof(float), .value.f32 = 0.5f };
    k->count = 7;
    return measure(b, &(struct work){ own_kernel_once, own_kernel_wait, k }, t);
}

/* The best of several sizes; those that fail count only when all do. */
static void stream_item(struct bench *b, bool triad, const char *name, const double *sizes,
                        int count)
{
    struct item *i = item_new(b, "GB/s", 0, 0, "memory/%s", name);
    double best = 0, rate_bytes = 0;
    struct times best_times = { 0 };
    for (int n = 0; i != NULL && n < count; n++) {
        struct stream s = { .triad = triad, .footprint = sizes[n] };
        struct own_kernel k;
        struct times t;
        if (stream_time(b, &k, &s, &t) == TARN_OK && moved(&k, &s) / t.median > best) {
            rate_bytes = moved(&k, &s);
            best = rate_bytes / t.median;
            best_times = t;
        }
        for (int a = 0; a < (triad ? 3 : 2); a++)
            buffer_free(k.args[a].buffer);
        own_kernel_close(&k);
    }
    if (i == NULL)
        return;
    i->bytes = rate_bytes;
    i->flops = triad ? rate_bytes / 6 : 0;
    if (best > 0)
        item_rate(b, i, 1e-9 * rate_bytes, &best_times);
    else
        item_fail(b, i, error_text());
}

void memory_run(struct bench *b)
{
    static const double dram[] = { 256 * MIB, 512 * MIB };
    static const double small[] = { 64 * MIB };
    /* Slices beyond a core's first cache but within its second; in a GPU, which shares the second
     * one, within what is common. */
    const bool cpu = b->device->kind == DEVICE_CPU;
    const double some = cpu ? 512 * KIB * b->device->compute_units : 16 * MIB;
    const double cache[] = { some, 2 * some };
    const double *large = b->quick ? small : dram;
    stream_item(b, false, "copy in cache", cache, b->quick ? 1 : 2);
    stream_item(b, true, "triad in cache", cache, b->quick ? 1 : 2);
    stream_item(b, false, "copy in memory", large, b->quick ? 1 : 2);
    stream_item(b, true, "triad in memory", large, b->quick ? 1 : 2);
}

/* ---- by the library ------------------------------------------------------------------------- */

static tarn_tensor record_sum(const tarn_tensor *in, const void *arg)
{
    return tarn_sum(in[0], *(const tarn_shape *)arg, false);
}

static tarn_tensor record_softmax(const tarn_tensor *in, const void *arg)
{
    (void)arg;
    return tarn_softmax(in[0], 1);
}

static tarn_tensor record_layer_norm(const tarn_tensor *in, const void *arg)
{
    (void)arg;
    return tarn_layer_norm_op(in[0], in[1], in[2], 1e-5f);
}

void reduce_run(struct bench *b)
{
    const int n = b->quick ? 512 : 4096;
    const double count = (double)n * n;
    const struct {
        const char *name;
        tarn_shape axes;
        double results;
    } sums[] = { { "last axis", TARN_AXES(1), n },
                 { "first axis", TARN_AXES(0), n },
                 { "all", TARN_ALL, 1 } };
    for (int k = 0; k < 3; k++) {
        const double bytes = 4 * (count + sums[k].results);
        struct item *i =
            item_new(b, "GB/s", count, bytes, "reduce/sum %dx%d %s", n, n, sums[k].name);
        const struct operation o = { .in = { TARN_SHAPE(n, n) },
                                     .samples = { true },
                                     .inputs = 1,
                                     .record = record_sum,
                                     .arg = &sums[k].axes };
        if (i != NULL)
            operation_run(b, i, &o, 1e-9 * bytes);
    }
}

/* Operations of an element: 5 of softmax (maximum, difference, exponential, sum, quotient), 8 of
 * layer norm (sum, difference, square, sum, difference, product, product, sum). */
void norm_run(struct bench *b)
{
    const int rows = b->quick ? 512 : 8192, columns = b->quick ? 256 : 1024;
    const tarn_shape shape = TARN_SHAPE(rows, columns), affine = TARN_SHAPE(columns);
    const double count = (double)rows * columns, bytes = 8 * count;
    struct item *i = item_new(b, "GB/s", 5 * count, bytes, "norm/softmax %dx%d", rows, columns);
    if (i != NULL)
        operation_run(
            b, i,
            &(struct operation){
                .in = { shape }, .samples = { true }, .inputs = 1, .record = record_softmax },
            1e-9 * bytes);
    i = item_new(b, "GB/s", 8 * count, bytes, "norm/layer norm %dx%d", rows, columns);
    if (i != NULL)
        operation_run(b, i,
                      &(struct operation){ .in = { shape, affine, affine },
                                           .samples = { true },
                                           .inputs = 3,
                                           .record = record_layer_norm },
                      1e-9 * bytes);
}
