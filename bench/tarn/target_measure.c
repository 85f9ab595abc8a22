/* SPDX-License-Identifier: Apache-2.0 */
/* Measures figures of a device by small kernels. What interrupts a kernel only makes it slower, so
 * the least time of many runs counts. Rates are of one unit alone but for those of memory. */
#include "target_measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIRS = 15,      /* of runs that tell what a launch takes */
    MOST_PAIRS = 60, /* where noise is larger than that */
    AGREE = 3,       /* of the shortest runs of any other kernel */
    MOST_SOURCE = 1 << 16,
    GROUPS = 16, /* of a kernel whose launch is measured: as many as a nest has at most */
    LAUNCHES = 64,
    STEPS = 1 << 20, /* cycles of a run, roughly */
};
static const double PATIENCE = 4;              /* seconds for a measurement */
static const double NEAR = 0.05, NEAR_ALL = 1; /* one group, and all: which never run alone */
static const double SHORT = 1e-7;              /* seconds: no driver launches faster */
static const size_t FAR_BYTES = (size_t)64 << 20;

/* Of multiply-adds whose latency is hidden, and of those whose operands come from memory. */
static const int chains[] = { 8, 10, 12, 20, 24 };
static const int operands[] = { 6, 12, 24, 48 };
enum { CHAINS = sizeof chains / sizeof *chains, OPERANDS = sizeof operands / sizeof *operands };

struct bed {
    const struct device *device;
    struct device_figures *f; /* defaults, which measurements replace */
    struct context *context;
    struct built_program *program;
    struct buffer *memory, *out;
    size_t items; /* of a group; of one that has barriers: */
    size_t group;
    int vector; /* floats of `vec` */
};

/* ---- kernels -------------------------------------------------------------------------------- */

struct source {
    char text[MOST_SOURCE];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct source *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    s->used += (size_t)vsnprintf(s->text + s->used, MOST_SOURCE - s->used, format, arguments);
    va_end(arguments);
}

static const char head[] =
    "#define AT(i) ((i) * ITEMS + (int)get_local_id(0))\n"
    "#define ARGUMENTS __global vec *p, __global vec *out, int rounds, int length, float s\n"
    "#define KERNEL(name) __kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) \\\n"
    "    void name(ARGUMENTS)\n"
    /* Two operations of a cycle each that no compiler joins. */
    "KERNEL(clock)\n"
    "{\n"
    "    uint x = (uint)rounds;\n"
    "    for (int i = 0; i < rounds; i++)\n"
    "        _Pragma(\"unroll\") for (int k = 0; k < 16; k++) x = (x ^ (uint)length) + "
    "(uint)rounds;\n"
    "    out[AT(0)] = (vec)((float)x);\n"
    "}\n"
    "KERNEL(sweep)\n" /* rounds times over a part of its own */
    "{\n"
    "    vec x0 = 0, x1 = 0, x2 = 0, x3 = 0, x4 = 0, x5 = 0, x6 = 0, x7 = 0;\n"
    "    __global const vec *at = p + (size_t)get_group_id(0) * (size_t)length * ITEMS;\n"
    "    for (int r = 0; r < rounds; r++)\n"
    "        for (int i = 0; i < length; i += 8) {\n"
    "            x0 += at[AT(i)]; x1 += at[AT(i + 1)]; x2 += at[AT(i + 2)]; x3 += at[AT(i + 3)];\n"
    "            x4 += at[AT(i + 4)]; x5 += at[AT(i + 5)]; x6 += at[AT(i + 6)];\n"
    "            x7 += at[AT(i + 7)];\n"
    "        }\n"
    "    out[AT((int)get_group_id(0))] = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));\n"
    "}\n"
    "KERNEL(copy)\n" /* rounds times from the first half of the memory to the second */
    "{\n"
    "    const size_t group = get_group_id(0), count = get_num_groups(0);\n"
    "    for (int r = 0; r < rounds; r++)\n"
    "        for (int i = 0; i < length; i++)\n"
    "            p[AT((group + count) * (size_t)length + i)] = p[AT(group * (size_t)length + i)];\n"
    "}\n"
    "KERNEL(work)\n" /* as long as it is told to, on no memory */
    "{\n"
    "    vec x = s;\n"
    "    for (int i = 0; i < rounds; i++)\n"
    "        x = fma(x, (vec)(s), (vec)(0.5f));\n"
    "    out[AT((int)get_group_id(0))] = x;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void barriers(ARGUMENTS)\n"
    "{\n"
    "    __local float shared[GROUP];\n"
    "    const int item = (int)get_local_id(0);\n"
    "    float x = s;\n"
    "    for (int i = 0; i < rounds; i++) {\n"
    "        shared[item] = x;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        x += shared[(item + 1) % GROUP];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    out[item] = (vec)(x);\n"
    "}\n";

/* `count` chains that do not depend on each other; `operands`: each step loads both factors. */
static void add_chains(struct source *s, const char *name, int count, bool loads)
{
    add(s, "KERNEL(%s%d)\n{\n    const vec scale = s, shift = 0.5f;\n    vec sum = shift;\n", name,
        count);
    for (int k = 0; k < count; k++)
        add(s, "    vec x%d = scale * %d.0f;\n", k, k);
    add(s, "    for (int r = 0; r < rounds; r++) {\n");
    if (loads)
        add(s, "        const int i = r %% 8;\n");
    for (int k = 0; k < count; k++)
        if (loads)
            add(s, "        x%d = fma(p[AT(i + %d)], p[AT(i + %d)], x%d);\n", k, k % 28,
                k % 28 + 28, k);
        else
            add(s, "        x%d = fma(x%d, scale, shift);\n", k, k);
    add(s, "    }\n");
    for (int k = 0; k < count; k++)
        add(s, "    sum += x%d;\n", k);
    add(s, "    out[AT(0)] = sum;\n}\n");
}

static tarn_status open_bed(struct bed *b)
{
    static struct source s;
    s.used = 0;
    TRY(context_open(b->device, &b->context));
    add(&s, "typedef float%.0d vec;\n#define ITEMS %zu\n#define GROUP %zu\n%s",
        b->vector > 1 ? b->vector : 0, b->items, b->group, head);
    add_chains(&s, "chains", 1, false);
    for (int i = 0; i < CHAINS; i++)
        add_chains(&s, "chains", chains[i], false);
    for (int i = 0; i < OPERANDS; i++)
        add_chains(&s, "operands", operands[i], true);
    TRY(program_build(b->context, s.text, "figures", &b->program));
    TRY(buffer_new(b->context, FAR_BYTES, &b->memory));
    TRY(buffer_fill_zero(b->memory, 0, FAR_BYTES));
    const size_t most = b->f->units > GROUPS ? (size_t)b->f->units : GROUPS;
    return buffer_new(b->context, 4 * most * b->group * (size_t)b->vector * sizeof(float), &b->out);
}

static void close_bed(struct bed *b)
{
    buffer_free(b->memory);
    buffer_free(b->out);
    if (b->program != NULL)
        program_free(b->program);
    if (b->context != NULL)
        context_close(b->context);
}

/* ---- times ---------------------------------------------------------------------------------- */

struct run {
    const char *name;
    size_t groups;
    int rounds, length, launches;
    size_t items; /* 0: the bed's */
};

static tarn_status run_once(const struct bed *b, const struct run *r, struct kernel *k, double *out)
{
    struct kernel_arg args[] = { { .buffer = b->memory },
                                 { .buffer = b->out },
                                 { .size = sizeof(int32_t), .value.i32 = r->rounds },
                                 { .size = sizeof(int32_t), .value.i32 = r->length },
                                 { .size = sizeof(float), .value.f32 = 0.999f } };
    const double begin = seconds_now();
    for (int i = 0; i < r->launches; i++)
        TRY(kernel_launch(k, args, sizeof args / sizeof *args, r->groups,
                          r->items > 0 ? r->items : b->items));
    TRY(context_finish(b->context));
    *out = seconds_now() - begin;
    return TARN_OK;
}

/* Puts a time among the shortest ones. */
static void note(double shortest[AGREE], double took)
{
    for (int i = 0; i < AGREE; i++)
        if (took < shortest[i]) {
            const double longer = shortest[i];
            shortest[i] = took;
            took = longer;
        }
}

/* The least seconds of either run, in turns, until the shortest few agree: then nothing else had a
 * part in them. */
static tarn_status least(const struct bed *b, const struct run runs[2], double seconds[2])
{
    double shortest[2][AGREE];
    const double begin = seconds_now(), near = runs[0].groups == 1 ? NEAR : NEAR_ALL;
    struct kernel *k;
    tarn_status status = TARN_OK;
    bool agree = false;
    for (int i = 0; i < 2 * AGREE; i++)
        shortest[i / AGREE][i % AGREE] = INFINITY;
    TRY(kernel_new(b->program, runs[0].name, &k));
    for (int round = 0; status == TARN_OK && !agree && seconds_now() - begin < PATIENCE; round++) {
        agree = true;
        for (int i = 0; i < 2 && status == TARN_OK; i++) {
            double took = 0;
            status = run_once(b, &runs[i], k, &took);
            if (round > 0) /* the first one compiles */
                note(shortest[i], took);
            agree &= isfinite(shortest[i][AGREE - 1]) &&
                     shortest[i][AGREE - 1] <= (1 + near) * shortest[i][0];
            seconds[i] = shortest[i][0];
        }
    }
    kernel_free(k);
    TRY(status);
    if (agree)
        return TARN_OK;
    return error_set(TARN_ERR_STATE,
                     "target: the machine is too busy: no two runs of %s take the "
                     "same time; nothing is kept",
                     runs[0].name);
}

/* Of one more round, when all else is alike. */
static tarn_status per_round(const struct bed *b, struct run r, double *seconds)
{
    struct run two[2] = { r, r };
    double took[2];
    two[1].rounds *= 3;
    TRY(least(b, two, took));
    *seconds = (took[1] - took[0]) / (2.0 * r.rounds);
    return *seconds > 0 ? TARN_OK
                        : error_set(TARN_ERR_STATE,
                                    "target: the machine is too busy: three times the rounds of %s "
                                    "take no longer; nothing is kept",
                                    r.name);
}

/* ---- figures -------------------------------------------------------------------------------- */

/* Pipelines begin whole operations in a cycle or in every other, so what noise leaves is rounded. */
static double rounded(double rate)
{
    return rate < 0.75 ? rate : floor(2 * rate + 0.5) / 2;
}

static double vectors_of(const struct bed *b)
{
    return (double)b->items * b->vector / b->f->lanes; /* in a step of a group */
}

static tarn_status measure_clock(struct bed *b)
{
    double seconds;
    if (b->f->items) /* a GPU's operations take more than a cycle: the driver knows */
        return TARN_OK;
    TRY(per_round(b, (struct run){ "clock", 1, STEPS / 32, 5, 1, 0 }, &seconds));
    b->f->cycles_per_second = 32 / seconds;
    /* Slower than that only if another program had a part of the core all the time. */
    return b->device->clock_hz == 0 || b->f->cycles_per_second > 0.5 * b->device->clock_hz
               ? TARN_OK
               : error_set(TARN_ERR_STATE,
                           "target: the machine is too busy: a core runs at %.1f of "
                           "%.1f GHz; nothing is kept",
                           1e-9 * b->f->cycles_per_second, 1e-9 * b->device->clock_hz);
}

static tarn_status measure_arithmetic(struct bed *b)
{
    double seconds, best = 0;
    TRY(per_round(b, (struct run){ "chains1", 1, STEPS / 4, 0, 1, 0 }, &seconds));
    b->f->fma_latency = floor(seconds * b->f->cycles_per_second + 0.5);
    for (int i = 0; i < CHAINS; i++) {
        char name[32];
        snprintf(name, sizeof name, "chains%d", chains[i]);
        TRY(per_round(b, (struct run){ name, 1, 2 * STEPS / chains[i], 0, 1, 0 }, &seconds));
        best = fmax(best, chains[i] * vectors_of(b) / (seconds * b->f->cycles_per_second));
    }
    b->f->fmas_per_cycle = rounded(best);
    return TARN_OK;
}

/* Sums whose factors come from the first cache, so loads decide; those that find no register add a
 * load each. Counts of registers are powers of two: the largest whose three quarters fit. No more than instructions can
 * name, which the kind of device tells: a unit that begins one multiply-add a cycle and two loads hides those of a few sums too
 * many. */
static tarn_status measure_loads(struct bed *b)
{
    double cycles[OPERANDS], best = INFINITY;
    for (int i = 0; i < OPERANDS; i++) {
        char name[32];
        double seconds;
        snprintf(name, sizeof name, "operands%d", operands[i]);
        TRY(per_round(b, (struct run){ name, 1, STEPS / operands[i], 0, 1, 0 }, &seconds));
        cycles[i] = seconds * b->f->cycles_per_second / (2 * operands[i] * vectors_of(b));
        best = fmin(best, cycles[i]);
    }
    b->f->loads_per_cycle = rounded(1 / best);
    if (b->f->items)
        return TARN_OK;
    int fit = b->f->registers;
    for (int i = 0; i < OPERANDS; i++)
        if (cycles[i] < 1.1 * best)
            fit = operands[i] / 3 * 4;
    if (fit < b->f->registers)
        b->f->registers = fit;
    return TARN_OK;
}

/* Cycles for 64 bytes of a part of so many, by so many groups at once. */
static tarn_status line_cycles(struct bed *b, size_t bytes, size_t groups, double *out)
{
    const size_t step = b->items * (size_t)b->vector * sizeof(float);
    int length = (int)(bytes / step) & ~7;
    double seconds;
    length = length < 8 ? 8 : length;
    const int rounds = (int)((8 << 20) / ((size_t)length * step)) + 1;
    TRY(per_round(b, (struct run){ "sweep", groups, rounds, length, 1, 0 }, &seconds));
    *out = seconds * b->f->cycles_per_second * 64 / ((double)length * (double)step);
    return TARN_OK;
}

/* Where reading costs notably more than before: sizes half a power of two apart. Only where the
 * operating system does not know. */
static tarn_status find_caches(struct bed *b, size_t known_first, size_t known_second)
{
    double first = 0, cycles, plateau = 0;
    size_t l1 = known_first, l2 = known_second;
    for (double bytes = 8192; bytes <= 8e6 && (l1 == 0 || l2 == 0); bytes *= 1.4142135623730951) {
        TRY(line_cycles(b, (size_t)bytes, 1, &cycles));
        first = first == 0 ? cycles : fmin(first, cycles);
        if (l1 == 0 && cycles > 1.4 * first)
            l1 = (size_t)(bytes / 1.4142135623730951);
        else if (l1 > 0 && bytes > 3 * (double)l1)
            plateau = plateau == 0 ? cycles : fmin(plateau, cycles);
        if (l2 == 0 && plateau > 0 && cycles > 1.6 * plateau)
            l2 = (size_t)(bytes / 1.4142135623730951);
    }
    b->f->l1_bytes = l1 > 0 ? l1 : b->f->l1_bytes;
    b->f->l2_bytes = l2 > 0 ? l2 : b->f->l2_bytes;
    return TARN_OK;
}

static tarn_status measure_memory(struct bed *b)
{
    size_t first = 0, second = 0;
    double seconds;
    const size_t units = (size_t)b->f->units, groups = 4 * units;
    if (!b->f->items) {
        cpu_caches("/sys/devices/system/cpu/cpu0/cache", &first, &second);
        TRY(find_caches(b, first, second));
    }
    const double middle = sqrt((double)b->f->l1_bytes * (double)b->f->l2_bytes);
    TRY(line_cycles(b, (size_t)middle, 1, &b->f->l2_line_cycles));
    const size_t part = FAR_BYTES / units, wanted = 4 * b->f->l2_bytes;
    TRY(line_cycles(b, wanted < part ? wanted : part, units, &b->f->far_line_cycles));
    const size_t step = b->items * (size_t)b->vector * sizeof(float);
    const int length = (int)(FAR_BYTES / 2 / groups / step);
    TRY(per_round(b, (struct run){ "copy", groups, 1, length, 1, 0 }, &seconds));
    b->f->copy_bytes_per_second = (double)length * (double)(step * groups) / seconds;
    return TARN_OK;
}

/* The same work in twice as many kernels: what each of the others takes. Where other programs keep
 * even the least times from showing it, the default stays. */
static tarn_status measure_launch(struct bed *b)
{
    double seconds, least[2] = { INFINITY, INFINITY }, each = 0;
    const size_t groups = b->f->units > GROUPS ? (size_t)b->f->units : GROUPS;
    TRY(per_round(b, (struct run){ "work", groups, STEPS / 16, 0, 1, 0 }, &seconds));
    const int rounds = (int)(100e-6 / seconds) + 1;
    const struct run runs[2] = { { "work", groups, 2 * rounds, 0, LAUNCHES / 2, 0 },
                                 { "work", groups, rounds, 0, LAUNCHES, 0 } };
    struct kernel *k;
    TRY(kernel_new(b->program, "work", &k));
    tarn_status status = TARN_OK;
    for (int i = 0; status == TARN_OK && (i < PAIRS || (i < MOST_PAIRS && each < SHORT)); i++) {
        for (int n = 0; n < 2 && status == TARN_OK; n++) {
            double took = 0;
            status = run_once(b, &runs[n], k, &took);
            least[n] = fmin(least[n], took);
        }
        each = (least[1] - least[0]) / (LAUNCHES / 2);
    }
    kernel_free(k);
    TRY(status);
    if (each >= SHORT)
        b->f->launch_seconds = each;
    TRY(per_round(b, (struct run){ "barriers", 1, 4096, 0, 1, b->group }, &seconds));
    b->f->barrier_seconds = seconds / 2;
    return TARN_OK;
}

tarn_status figures_measure(const struct device *d, struct device_figures *f)
{
    struct bed b = { .device = d, .f = f, .items = 1, .group = 64, .vector = f->lanes };
    if (f->items) {
        b.vector = 1;
        b.items = (size_t)f->lanes * 8 < d->max_group ? (size_t)f->lanes * 8 : d->max_group;
        b.group = b.items;
    } else if (f->lanes > 16) {
        b.vector = 16; /* OpenCL's widest */
    }
    tarn_status status = open_bed(&b);
    if (status == TARN_OK)
        status = measure_clock(&b);
    if (status == TARN_OK)
        status = measure_arithmetic(&b);
    if (status == TARN_OK)
        status = measure_loads(&b);
    if (status == TARN_OK)
        status = measure_memory(&b);
    if (status == TARN_OK)
        status = measure_launch(&b);
    close_bed(&b);
    f->measured = status == TARN_OK;
    return status;
}
