/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of kernels/math.cl, each as vectors, as scalars of a loop and as work-items: the same bits, and within
 * the bounds of ulp.h of what the host makes in double. Arguments are a sample of all floats, and special ones; with
 * `--all` they are all of them, which takes an hour or so, and a name after it picks one function. Ops call no function
 * of the driver whose bits OpenCL leaves open. */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile/6_source/print.h"
#include "compile/kernel_plan.h"
#include "tensor/op_record.h"
#include "ulp.h"

enum { BLOCK = 1 << 20, GROUP = 16, SAMPLE = 4093, FORMS = 3 };

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static const struct function {
    const struct op *op;
    double (*exact)(double x);
    double ulps;
    double (*of_two)(double x, double y); /* in place of `exact` */
} functions[] = {
    { &op_exp, exp, ULP_EXP, NULL },
    { &op_tanh, tanh, ULP_TANH, NULL },
    { &op_erf, erf, ULP_ERF, NULL },
    { &op_log, log, ULP_LOG, NULL },
    { &op_log1p, log1p, ULP_LOG1P, NULL },
    { &op_expm1, expm1, ULP_EXPM1, NULL },
    { &op_rsqrt, reciprocal_root, ULP_RSQRT, NULL },
    { &op_sin, sin, ULP_SIN, NULL },
    { &op_cos, cos, ULP_COS, NULL },
    { &op_pow, NULL, ULP_POW, pow },
    { &op_atan, atan, ULP_ATAN, NULL },
    { &op_atan2, NULL, ULP_ATAN2, atan2 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- kernels -------------------------------------------------------------------------------- */

static const char *const forms[FORMS] = {
    "__kernel void vectors(__global const float *in, __global const float *by, "
    "__global float *out, int n)\n"
    "{\n"
    "    for (int i = 16 * (int)get_global_id(0); i < n; i += 16 * (int)get_global_size(0)) {\n"
    "        const float16 x = TARN_LOAD(__global, float, in + i);\n"
    "        const float16 y = TARN_LOAD(__global, float, by + i);\n"
    "        TARN_STORE(__global, float, %s, out + i);\n"
    "    }\n"
    "}\n",
    "__kernel void scalars(__global const float *in, __global const float *by, "
    "__global float *out, int n)\n"
    "{\n"
    "    for (int i = (int)get_global_id(0); i < n; i += (int)get_global_size(0)) {\n"
    "        const float x = in[i], y = by[i];\n"
    "        out[i] = %s;\n"
    "    }\n"
    "}\n",
    "__kernel void items(__global const float *in, __global const float *by, "
    "__global float *out, int n)\n"
    "{\n"
    "    const float x = in[get_global_id(0)], y = by[get_global_id(0)];\n"
    "    out[get_global_id(0)] = %s;\n"
    "}\n",
};
static const char *const names[FORMS] = { "vectors", "scalars", "items" };
static const size_t groups[FORMS] = { 4, 4, BLOCK / GROUP }, sizes[FORMS] = { 1, 1, GROUP };

struct forms {
    struct built_program *program;
    struct kernel *kernel[FORMS];
    struct buffer *in, *by, *out;
    float *x, *y, *z[FORMS]; /* operands, results */
};

/* Kernels of all forms that compute an op's code. */
static char *source_of(const char *code)
{
    const struct code_names operands = { .of = { "x", "y" } };
    struct text body = { 0 }, all = { 0 };
    for (int f = 0; f < FORMS; f++) {
        struct text value = { 0 };
        expand_code(code, &operands, f == 0 ? 16 : 1, &value);
        text_add(&body, forms[f], value.data);
        text_free(&value);
    }
    text_add(&all, "%s", kernel_head[0]);
    print_math(body.data, &all);
    text_add(&all, "%s", body.data);
    text_free(&body);
    return all.data;
}

static void open_forms(struct context *c, const char *code, struct forms *f)
{
    char *source = source_of(code);
    CHECK(program_build(c, source, "functions", &f->program) == TARN_OK);
    CHECK(buffer_new(c, BLOCK * sizeof(float), &f->in) == TARN_OK);
    CHECK(buffer_new(c, BLOCK * sizeof(float), &f->by) == TARN_OK);
    CHECK(buffer_new(c, BLOCK * sizeof(float), &f->out) == TARN_OK);
    f->x = malloc(BLOCK * sizeof(float));
    f->y = malloc(BLOCK * sizeof(float));
    CHECK(f->x != NULL && f->y != NULL);
    for (int i = 0; i < FORMS && failures == 0; i++) {
        CHECK(kernel_new(f->program, names[i], &f->kernel[i]) == TARN_OK);
        f->z[i] = malloc(BLOCK * sizeof(float));
        CHECK(f->z[i] != NULL);
    }
    free(source);
    if (failures > 0)
        exit(1);
}

static void close_forms(struct forms *f)
{
    for (int i = 0; i < FORMS; i++) {
        kernel_free(f->kernel[i]);
        free(f->z[i]);
    }
    program_free(f->program);
    buffer_free(f->in);
    buffer_free(f->by);
    buffer_free(f->out);
    free(f->x);
    free(f->y);
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* A second operand: whole numbers, halves, any, and what makes no power overflow. */
static float second(uint32_t i, float x)
{
    uint32_t h = (i + 1) * 0x9E3779B1u;
    h = (h ^ (h >> 15)) * 0x85EBCA6Bu;
    h ^= h >> 13;
    const float whole = (float)((int)(h >> 8 & 63u) - 32);
    switch (h & 3u) {
    case 0:
        return whole;
    case 1:
        return whole / 2;
    case 2:
        return float_of(h);
    default:
        return (float)((double)(int32_t)h * 0x1p-31 * 160 / log2(fabs((double)x)));
    }
}

static void compute(struct forms *f)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        f->y[i] = second(i, f->x[i]);
    CHECK(buffer_write(f->by, 0, f->y, BLOCK * sizeof *f->y) == TARN_OK);
    CHECK(buffer_write(f->in, 0, f->x, BLOCK * sizeof *f->x) == TARN_OK);
    for (int i = 0; i < FORMS; i++) {
        const struct kernel_arg args[] = { { .buffer = f->in },
                                           { .buffer = f->by },
                                           { .buffer = f->out },
                                           { .size = sizeof(int32_t), .value.i32 = BLOCK } };
        CHECK(kernel_launch(f->kernel[i], args, 4, groups[i], sizes[i]) == TARN_OK);
        CHECK(buffer_read(f->out, 0, f->z[i], BLOCK * sizeof(float)) == TARN_OK);
    }
    if (failures > 0)
        exit(1);
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Distance in ULP; infinity where one is NaN, or a finite one is far from overflow. */
static double ulps_off(float y, double exact)
{
    int exponent;
    if (isnan(exact) || isnan(y))
        return isnan(exact) && isnan(y) ? 0 : INFINITY;
    if (isinf(y) && fabs(exact) > 0x1.fffffep+127)
        return (y > 0) == (exact > 0) ? 0 : INFINITY;
    if (isinf(y) || isinf(exact))
        return (double)y == exact ? 0 : INFINITY;
    frexp(exact, &exponent);
    return fabs((double)y - exact) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

struct worst {
    double ulps;
    float x, y;
};

/* `flushes`: the device takes denormal numbers for 0. */
static void compare(const struct function *f, const struct forms *v, bool flushes, struct worst *w)
{
    for (int i = 0; i < BLOCK; i++) {
        const double x = (double)v->x[i], y = (double)v->y[i];
        const double exact = f->of_two != NULL ? f->of_two(x, y) : f->exact(x);
        for (int k = 1; k < FORMS; k++)
            if (memcmp(&v->z[k][i], &v->z[0][i], sizeof(float)) != 0 &&
                !(isnan(v->z[k][i]) && isnan(v->z[0][i])) && failures++ < 10)
                fprintf(stderr, "%s(%a, %a): %s give %a, %s %a\n", f->op->name, x, y, names[0],
                        (double)v->z[0][i], names[k], (double)v->z[k][i]);
        const double off = ulps_off(v->z[0][i], exact);
        const bool tiny = flushes && (fabsf(v->x[i]) < 0x1p-126f || fabs(exact) < 0x1p-126);
        if (!tiny && !(off <= f->ulps) && failures++ < 10)
            fprintf(stderr, "%s(%a) is %a, not %a: %.2f ULP, of %g\n", f->op->name, (double)v->x[i],
                    (double)v->z[0][i], exact, off, f->ulps);
        if (!tiny && off > w->ulps)
            *w = (struct worst){ off, v->x[i], v->y[i] };
    }
}

/* Neighbours of powers of two, the ends of all ranges, and what is no number. */
static void special(float *x)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        x[i] = float_of((i >> 11) * 0x00800000u + (i & 2047u) - 1024u);
}

static void check_function(struct context *c, const struct function *f, bool flushes, bool all)
{
    struct forms v = { 0 };
    struct worst w = { 0, 0, 0 };
    open_forms(c, f->op->code, &v);
    special(v.x);
    compute(&v);
    compare(f, &v, flushes, &w);
    const uint32_t step = all ? 1 : SAMPLE;
    for (uint64_t from = 0; from < UINT64_C(1) << 32; from += (uint64_t)BLOCK * step) {
        for (uint32_t i = 0; i < BLOCK; i++)
            v.x[i] = float_of((uint32_t)from + i * step);
        compute(&v);
        compare(f, &v, flushes, &w);
    }
    printf("%s: %.4f ULP at %a", f->op->name, w.ulps, (double)w.x);
    if (f->of_two != NULL)
        printf(", %a", (double)w.y);
    printf("\n");
    fflush(stdout);
    close_forms(&v);
}

static bool flushes_denormals(struct context *c)
{
    struct forms v = { 0 };
    open_forms(c, "x * TARN_F(0.5f)", &v);
    memset(v.x, 0, BLOCK * sizeof *v.x);
    v.x[0] = 0x1p-126f;
    compute(&v);
    const bool flushes = v.z[0][0] == 0;
    close_forms(&v);
    return flushes;
}

/* ---- what ops call -------------------------------------------------------------------------- */

/* Exact, or rounded to the nearest where the device says so. Macros and functions of kernels/ begin with TARN_. */
static bool is_allowed(const char *name, size_t length)
{
    static const char *const allowed[] = { "fma", "fabs", "floor", "rint", "min", "max", "sqrt" };
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strlen(allowed[i]) == length && strncmp(name, allowed[i], length) == 0)
            return true;
    return strncmp(name, "TARN_", 5) == 0;
}

static void check_calls(const struct op *op, const char *code)
{
    while (*code != '\0') {
        size_t length = 0;
        while (isalnum((unsigned char)code[length]) || code[length] == '_')
            length++;
        if (length > 0 && code[length] == '(' && !is_allowed(code, length)) {
            fprintf(stderr, "%s calls %.*s\n", op->name, (int)length, code);
            failures++;
        }
        code += length > 0 ? length : 1;
    }
}

int main(int argc, char **argv)
{
    struct device d;
    struct context *c;
    int count;
    const bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    for (int i = 0; i < all_ops_count; i++) {
        if (all_ops[i]->code != NULL)
            check_calls(all_ops[i], all_ops[i]->code);
        for (int t = 0; t < DTYPES; t++)
            if (all_ops[i]->typed[t] != NULL)
                check_calls(all_ops[i], all_ops[i]->typed[t]);
    }
    CHECK(device_select("0", &d, 1, &count) == TARN_OK);
    CHECK(context_open(&d, &c) == TARN_OK);
    if (failures > 0)
        return 1;
    const bool flushes = flushes_denormals(c);
    for (int i = 0; i < FUNCTIONS; i++)
        if (argc < 3 || strcmp(argv[2], functions[i].op->name) == 0)
            check_function(c, &functions[i], flushes, all);
    context_close(c);
    return failures > 0;
}
