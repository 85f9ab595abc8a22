/* SPDX-License-Identifier: Apache-2.0 */
/* Times single-precision products of OpenBLAS as tarn-bench times Tarn's, for bench/compare-gemm:
 * LIBRARY M K N TRANSPOSE_A TRANSPOSE_B. OPENBLAS_NUM_THREADS says how many threads. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, BLOCKS = 9 };

typedef void sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

struct product {
    sgemm *run;
    int m, k, n, transpose_a, transpose_b;
    float *a, *b, *c;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double block(const struct product *p, int runs)
{
    const double begin = now();
    for (int i = 0; i < runs; i++)
        p->run(ROW_MAJOR, p->transpose_a ? TRANSPOSED : PLAIN, p->transpose_b ? TRANSPOSED : PLAIN,
               p->m, p->n, p->k, 1, p->a, p->transpose_a ? p->m : p->k, p->b,
               p->transpose_b ? p->k : p->n, 0, p->c, p->n);
    return (now() - begin) / runs;
}

static float *fill(int rows, int cols)
{
    const size_t count = (size_t)rows * (size_t)cols;
    float *x = malloc(count * sizeof *x);
    unsigned state = 12345;
    for (size_t i = 0; x != NULL && i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) * 0x1p-23f - 1;
    }
    return x;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: openblas_gemm LIBRARY M K N TRANSPOSE_A TRANSPOSE_B\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    void *symbol = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
    if (symbol == NULL && library != NULL)
        symbol = dlsym(library, "scipy_cblas_sgemm"); /* as PyPI has it */
    if (symbol == NULL) {
        fprintf(stderr, "openblas_gemm: %s\n", dlerror());
        return 1;
    }
    struct product p = { .m = atoi(argv[2]),
                         .k = atoi(argv[3]),
                         .n = atoi(argv[4]),
                         .transpose_a = atoi(argv[5]),
                         .transpose_b = atoi(argv[6]) };
    *(void **)&p.run = symbol;
    p.a = fill(p.m, p.k);
    p.b = fill(p.k, p.n);
    p.c = fill(p.m, p.n);
    if (p.a == NULL || p.b == NULL || p.c == NULL) {
        fprintf(stderr, "openblas_gemm: out of memory\n");
        return 1;
    }
    block(&p, 1);
    double took[BLOCKS], once = block(&p, 3);
    const int runs = once * BLOCKS > 0.2 ? 1 : (int)(0.2 / BLOCKS / once) + 1;
    block(&p, runs);
    for (int i = 0; i < BLOCKS; i++)
        took[i] = block(&p, runs);
    qsort(took, BLOCKS, sizeof *took, ascending);
    printf("{\"median\": %.9g, \"least\": %.9g}\n", took[BLOCKS / 2], took[0]);
    return 0;
}
