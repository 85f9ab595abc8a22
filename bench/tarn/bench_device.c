/* SPDX-License-Identifier: Apache-2.0 */
/* What the device itself does, by kernels of our own: launches, and multiply-adds in registers. */
#include "bench.h"

#include "kernel.h"

enum { CHAINS = 12, WIDTH = 16, ROUNDS = 4096 };

tarn_status own_kernel_open(const struct bench *b, const char *source, const char *name,
                            struct own_kernel *k)
{
    *k = (struct own_kernel){ .context = NULL };
    TRY(context_open(b->device, &k->context));
    TRY(program_build(k->context, source, name, &k->program));
    return kernel_new(k->program, name, &k->kernel);
}

void own_kernel_close(struct own_kernel *k)
{
    if (k->kernel != NULL)
        kernel_free(k->kernel);
    if (k->program != NULL)
        program_free(k->program);
    if (k->context != NULL)
        context_close(k->context);
}

tarn_status own_kernel_once(void *arg)
{
    struct own_kernel *k = arg;
    return kernel_launch(k->kernel, k->args, k->count, k->groups, k->local);
}

tarn_status own_kernel_wait(void *arg)
{
    const struct own_kernel *k = arg;
    return context_finish(k->context);
}

static tarn_status once_and_wait(void *arg)
{
    TRY(own_kernel_once(arg));
    return own_kernel_wait(arg);
}

/* ---- launches ------------------------------------------------------------------------------- */

static tarn_status launches(const struct bench *b, bool waited, struct own_kernel *k,
                            struct times *t)
{
    static const char source[] = "__kernel void empty(int x)\n{\n}\n";
    TRY(own_kernel_open(b, source, "empty", k));
    k->args[0] = (struct kernel_arg){ .size = sizeof(int32_t) };
    k->count = 1;
    k->groups = 1;
    k->local = 1;
    return measure(
        b, &(struct work){ waited ? once_and_wait : own_kernel_once, own_kernel_wait, k }, t);
}

static void launch_item(struct bench *b, const char *name, bool waited)
{
    struct own_kernel k;
    struct times t;
    struct item *i = item_new(b, "us", 0, 0, "%s", name);
    if (i == NULL)
        return;
    if (launches(b, waited, &k, &t) == TARN_OK)
        item_time(b, i, 1e6, &t);
    else
        item_fail(b, i, error_text());
    own_kernel_close(&k);
}

void launch_run(struct bench *b)
{
    launch_item(b, "launch/pipelined", false);
    launch_item(b, "launch/waited", true);
}

/* ---- multiply-adds -------------------------------------------------------------------------- */

/* Chains that do not depend on each other hide the latency of an fma. */
static const char fma_source[] =
    "#define ALL(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)\n"
    "#define BEGIN(N) float16 x##N = (float16)(get_global_id(0) + N);\n"
    "#define NEXT(N) x##N = fma(x##N, scale, shift);\n"
    "#define ADD(N) sum += x##N;\n"
    "__kernel void multiply_add(__global float *out, int rounds, float s, float t)\n"
    "{\n"
    "    const float16 scale = s, shift = t;\n"
    "    float16 sum = 0;\n"
    "    ALL(BEGIN)\n"
    "    for (int i = 0; i < rounds; i++) {\n"
    "        ALL(NEXT)\n"
    "    }\n"
    "    ALL(ADD)\n"
    "    const float8 half_sum = sum.lo + sum.hi;\n"
    "    const float4 quarter = half_sum.lo + half_sum.hi;\n"
    "    out[get_global_id(0)] = quarter.x + quarter.y + quarter.z + quarter.w;\n"
    "}\n";

static void fma_shape(const struct device *d, size_t *groups, size_t *local)
{
    *groups = 4 * (size_t)d->compute_units;
    *local = d->kind == DEVICE_CPU ? 8 : 128;
    if (*local > d->max_group)
        *local = d->max_group;
}

static tarn_status multiply_adds(const struct bench *b, struct own_kernel *k, struct times *t)
{
    struct buffer *out;
    TRY(own_kernel_open(b, fma_source, "multiply_add", k));
    fma_shape(b->device, &k->groups, &k->local);
    TRY(buffer_new(k->context, k->groups * k->local * sizeof(float), &out));
    k->args[0].buffer = out;
    k->args[1] = (struct kernel_arg){ .size = sizeof(int32_t), .value.i32 = ROUNDS };
    k->args[2] = (struct kernel_arg){ .size = sizeof(float), .value.f32 = 0.999f };
    k->args[3] = (struct kernel_arg){ .size = sizeof(float), .value.f32 = 0.001f };
    k->count = 4;
    const tarn_status s = measure(b, &(struct work){ own_kernel_once, own_kernel_wait, k }, t);
    buffer_free(out);
    return s;
}

void fma_run(struct bench *b)
{
    size_t groups, local;
    fma_shape(b->device, &groups, &local);
    const double flops = 2.0 * CHAINS * WIDTH * ROUNDS * (double)(groups * local);
    struct own_kernel k;
    struct times t;
    struct item *i = item_new(b, "GFLOP/s", flops, 0, "fma/float32");
    if (i == NULL)
        return;
    if (multiply_adds(b, &k, &t) == TARN_OK)
        item_rate(b, i, 1e-9 * flops, &t);
    else
        item_fail(b, i, error_text());
    own_kernel_close(&k);
}
