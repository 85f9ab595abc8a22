/* SPDX-License-Identifier: Apache-2.0 */
/* Large matrix products through the public API: Tarn's own kernel gives the bits of the nests, with
 * transpositions, batches, slices as operands and an epilogue, more chunks than are added up at
 * once, and results that are made among other parts of a tensor; a weight gradient, summed over the
 * batch, agrees within rounding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tensor/replica.h"

enum { M = 150, K = 200, N = 140, SAMPLES = 64, IN = 400, OUT = 350 };
enum {
    GRADIENT = -1,
    DEEP = -2,
    JOINED = -3,
    LOW = 3,
    MIDDLE = 5,
    DEEP_M = 18,
    DEEP_K = 17000,
    DEEP_N = 35
};

static float *fill(size_t count, unsigned seed)
{
    float *x = malloc(count * sizeof *x);
    for (size_t i = 0; x != NULL && i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) * 0x1p-23f - 1;
    }
    if (x == NULL)
        exit(1);
    return x;
}

static tarn_tensor weight(tarn_replica *r, const char *name, tarn_shape shape, unsigned seed)
{
    float *x = fill((size_t)tarn_shape_count(shape), seed);
    const tarn_tensor t = tarn_buffer(r, name, shape, TARN_F32, x);
    free(x);
    return t;
}

static size_t size_of(int form)
{
    return form == GRADIENT ? (size_t)OUT * IN
           : form == DEEP   ? (size_t)DEEP_M * DEEP_N
           : form == JOINED ? (size_t)(LOW + MIDDLE + N + 3 * M * N)
                            : (size_t)2 * M * N;
}

/* Products of weights; one float for each element of the result. */
static void forward(tarn_replica *r, int form, float *out)
{
    const bool ta = (form & 1) != 0, tb = (form & 2) != 0, twice = (form & 4) != 0;
    tarn_tensor a = weight(r, "a", ta ? TARN_SHAPE(2, K, M) : TARN_SHAPE(2, M, K), 1);
    tarn_tensor b = weight(r, "b", tb ? TARN_SHAPE(2, N, K) : TARN_SHAPE(2, K, N), 2);
    const tarn_tensor bias = weight(r, "bias", TARN_SHAPE(N), 3);
    a = ta ? tarn_transpose(a, 1, 2) : a;
    b = tb ? tarn_transpose(b, 1, 2) : b;
    tarn_tensor y = tarn_relu(tarn_add(tarn_matmul(a, b), bias));
    if (twice) {
        a = tarn_reshape(tarn_slice(a, 0, 1, 2, 1), TARN_SHAPE(M, K));
        b = tarn_reshape(tarn_slice(b, 0, 0, 1, 1), TARN_SHAPE(K, N));
        y = tarn_add(y, tarn_matmul(a, b));
    }
    CHECK(tarn_read(y, out, sizeof(float) * 2 * M * N) == TARN_OK);
}

/* What a layer's weights get: transposed(dy) x, over samples. */
static void gradient(tarn_replica *r, float *out)
{
    float *x = fill((size_t)SAMPLES * IN, 4), *d = fill((size_t)SAMPLES * OUT, 5);
    const tarn_tensor sample = tarn_from(r, TARN_SHAPE(SAMPLES, IN), TARN_F32, x);
    const tarn_tensor dy = tarn_relu(tarn_from(r, TARN_SHAPE(SAMPLES, OUT), TARN_F32, d));
    const tarn_tensor dw = tarn_matmul(tarn_transpose(dy, 0, 1), sample);
    CHECK(tarn_read(dw, out, sizeof(float) * OUT * IN) == TARN_OK);
    free(x);
    free(d);
}

static void deep(tarn_replica *r, float *out)
{
    const tarn_tensor a = weight(r, "a", TARN_SHAPE(DEEP_M, DEEP_K), 1);
    const tarn_tensor b = weight(r, "b", TARN_SHAPE(DEEP_K, DEEP_N), 2);
    CHECK(tarn_read(tarn_matmul(a, b), out, sizeof(float) * DEEP_M * DEEP_N) == TARN_OK);
}

/* Two products begin at elements that no line of memory begins with; the rows of a third are behind one. */
static void joined(tarn_replica *r, float *out)
{
    const tarn_tensor a = weight(r, "a", TARN_SHAPE(M, K), 1),
                      b = weight(r, "b", TARN_SHAPE(K, N), 2);
    const tarn_tensor c = weight(r, "c", TARN_SHAPE(K, N), 3);
    const tarn_tensor rows = tarn_concat(
        (tarn_tensor[]){ tarn_full(r, TARN_SHAPE(1, N), 2), tarn_matmul(a, tarn_relu(b)) }, 2, 0);
    const tarn_tensor parts[] = {
        tarn_full(r, TARN_SHAPE(LOW), 7),
        tarn_reshape(tarn_matmul(a, b), TARN_SHAPE(M * N)),
        tarn_full(r, TARN_SHAPE(MIDDLE), 8),
        tarn_reshape(tarn_matmul(a, c), TARN_SHAPE(M * N)),
        tarn_reshape(rows, TARN_SHAPE((M + 1) * N)),
    };
    CHECK(tarn_read(tarn_concat(parts, 5, 0), out, sizeof(float) * size_of(JOINED)) == TARN_OK);
    for (int i = 0; i < LOW; i++)
        CHECK(out[i] == 7);
    for (int i = 0; i < MIDDLE; i++)
        CHECK(out[LOW + M * N + i] == 8);
}

static float *computed(const char *provider, int form)
{
    float *out = fill(size_of(form), 6);
    CHECK(setenv("TARN_GEMM", provider, 1) == 0);
    tarn_replica *r = tarn_open(NULL);
    if (r == NULL) {
        fprintf(stderr, "product: %s\n", tarn_error(NULL));
        exit(1);
    }
    if (form == GRADIENT)
        gradient(r, out);
    else if (form == DEEP)
        deep(r, out);
    else if (form == JOINED)
        joined(r, out);
    else
        forward(r, form, out);
    tarn_close(r);
    return out;
}

/* The largest difference; equal bits give 0. */
static double compare(const char *a, const char *b, int form)
{
    float *x = computed(a, form), *y = computed(b, form);
    const size_t count = size_of(form);
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)x[i] - (double)y[i]));
    free(x);
    free(y);
    return most;
}

int main(void)
{
    struct device device;
    int count;
    CHECK(device_select(NULL, &device, 1, &count) == TARN_OK);
    const char *own = device.kind == DEVICE_CPU ? "tarn" : "nest";
    static const int forms[] = { 0, 3, 5, 6, DEEP, JOINED };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        CHECK(compare("nest", own, forms[i]) == 0);
    CHECK(compare("nest", "clblast", 3) < 1e-4);
    CHECK(compare("nest", "clblast", JOINED) < 1e-4);
    CHECK(compare("nest", "auto", 0) < 1e-4);
    const double gradients = compare("nest", own, GRADIENT);
    CHECK(gradients < 1e-5 && (gradients > 0) == (device.kind == DEVICE_CPU));
    printf("product: %d failures\n", failures);
    return failures > 0;
}
