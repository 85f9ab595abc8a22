/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps and forward passes of all networks with batches that fill no register, and with one sample, whose layouts
 * and lanes are others than those of a usual batch. Building their kernels would take minutes, so it is only looked at whether each block
 * of the text that begins also ends, within its kernel, and whether all work-items of a group meet each barrier. */
#include <criterion/criterion.h>
#include <string.h>

#include "figures.h"
#include "recorded.h"

enum { MOST_DEPTH = 64 };

/* Whether a line's statement is done by some work-items of a group and not by others, or by some of them more often. */
static bool divides_items(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '}'))
        line++;
    const bool loops = strncmp(line, "for ", 4) == 0;
    for (const char *at = line; loops && at < end; at++)
        if (strncmp(at, "item", 4) == 0 || strncmp(at, "lane", 4) == 0 ||
            strncmp(at, "team", 4) == 0)
            return true;
    return strncmp(line, "if ", 3) == 0 || strncmp(line, "else", 4) == 0;
}

/* NULL, or what is wrong with the blocks of a program's text. */
static const char *fault_of(const char *text)
{
    bool divided[MOST_DEPTH] = { false }; /* within each block */
    const char *line = text;
    int depth = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\n')
            line = at + 1;
        if (*at == '{' && depth + 1 < MOST_DEPTH)
            divided[depth + 1] = divided[depth] || divides_items(line, at);
        depth += (*at == '{') - (*at == '}');
        if (depth < 0 || depth == MOST_DEPTH)
            return depth < 0 ? "a block ends that did not begin" : "it is too deep";
        if (depth > 0 && strncmp(at, "__kernel", 8) == 0)
            return "a block does not end before the next kernel";
        if (strncmp(at, "barrier(", 8) == 0 && (divided[depth] || divides_items(line, at)))
            return "a barrier that not all work-items meet";
    }
    return depth == 0 ? NULL : "a block does not end";
}

Test(odd_batches, faults_are_found)
{
    cr_expect_null(
        fault_of("k\n{\n    for (int i = 0; i < 4; ++i) {\n        barrier(0);\n    }\n}\n"));
    cr_expect_null(fault_of("k\n{\n    if (mine) {\n        a = 1;\n    }\n    barrier(0);\n}\n"));
    static const char *const wrong[] = {
        "k\n{\n    if (mine) {\n        barrier(0);\n    }\n}\n",
        "k\n{\n    if (mine)\n        a = 1;\n    } else {\n        barrier(0);\n    }\n}\n",
        "k\n{\n    if (mine) {\n        for (;;) {\n            barrier(0);\n        }\n    }\n}\n",
        "k\n{\n    for (int i = item; i < 40; i += 16) {\n        barrier(0);\n    }\n}\n",
        "k\n{\n    if (mine) barrier(0);\n}\n",
        "k\n{\n    a = 1;\n",
        "k\n}\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_not_null(fault_of(wrong[i]), "%zu", i);
}

/* Halves that the rows of a chain read widened are widened by the group that reads them: what other nests of the kernel make is
 * not there yet. */
static void check_widened(const struct program_ir *p, const char *network, int batch)
{
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (strcmp(n->name, "widen") == 0 && !n->batched)
            cr_expect_geq(p->placements[i].row_axis, 0, "%s of %d: nest %d", network, batch, i);
    }
}

static void check(const tarn_replica *r, const struct timed_network *n, int batch, const char *kind)
{
    struct kernel_plan plan;
    struct device_figures f;
    cr_assert(figures_wanted(kind, &f));
    const struct target target = target_of(&f);
    recorded_compile(r, &target, &plan);
    for (int k = 0; k < plan.kernel_count; k++) {
        const struct planned_kernel *kernel = &plan.kernels[k];
        const char *fault = kernel->source.data != NULL ? fault_of(kernel->source.data) : NULL;
        cr_expect_null(fault, "%s of %d samples for %s, kernel %s (%s): %s", n->name, batch, kind,
                       kernel->name, kernel->about, fault);
    }
    check_widened(plan.ir, n->name, batch);
    kernel_plan_free(&plan);
}

/* Batch norms of one number for each channel are refused. */
static int least_samples(const struct timed_network *n)
{
    return strcmp(n->name, "pointnet") == 0 ? 2 : 1;
}

/* For two kinds of devices, or one, others each time, so that each network meets all of them. */
static void check_batch(const struct timed_network *n, int batch, bool train, tarn_dtype products)
{
    static const char *const kinds[] = { "avx512:2", "avx2:8", "neon:4", "nvidia:132" };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static size_t turn;
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    if (products != TARN_F32)
        tarn_autocast(r, products);
    if (train)
        recorded_step(r, n, batch);
    else
        recorded_evaluation(r, n, batch);
    const size_t first = (turn + turn / KINDS) % KINDS;
    check(r, n, batch, kinds[first]);
    if (train && products == TARN_F32)
        check(r, n, batch, kinds[(first + 1 + turn / KINDS % (KINDS - 1)) % KINDS]);
    turn++;
    tarn_close(r);
}

Test(odd_batches, blocks_of_kernels_end, .timeout = 600)
{
    static const int batches[] = { 1, 2, 3, 17 };
    const struct timed_network *n;
    for (int i = 0; (n = timed_at(i)) != NULL; i++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            check_batch(n, batches[b], false, TARN_F32);
            if (batches[b] >= least_samples(n))
                check_batch(n, batches[b], true, TARN_F32);
        }
}

Test(odd_batches, halves_are_widened_where_they_are_read, .timeout = 600)
{
    static const int batches[] = { 2, 16, 32 };
    const struct timed_network *n;
    for (int i = 0; (n = timed_at(i)) != NULL; i++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
            check_batch(n, batches[b], true, TARN_BF16);
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

/* What a driver's compiler takes grows with the square of a function's length, and layers of one network are alike. */
Test(odd_batches, nests_of_kernels_are_functions_and_each_is_there_once)
{
    struct kernel_plan plan;
    struct device_figures f;
    int calls = 0, functions = 0;
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    cr_assert(figures_wanted("avx512:2", &f));
    recorded_step(r, timed_find("resnet"), 1);
    const struct target target = target_of(&f);
    recorded_compile(r, &target, &plan);
    for (int k = 0; k < plan.kernel_count; k++) {
        const char *text = plan.kernels[k].source.data;
        const char *kernel = text != NULL ? strstr(text, "__kernel") : NULL;
        if (kernel == NULL)
            continue;
        functions += count_of(text, "TARN_APART");
        calls += count_of(kernel, " nest_");
        cr_expect_eq(count_of(kernel, " t1 = ") + count_of(kernel, "acc0"), 0,
                     "kernel %s has a nest's statements", plan.kernels[k].name);
    }
    cr_expect_gt(calls, 100);
    cr_expect_lt(functions, calls);
    kernel_plan_free(&plan);
    tarn_close(r);
}

/* Kernels of a step with 4 images, on two cores with such a second cache. */
static int kernels_with(const char *network, int64_t second_cache_bytes)
{
    struct kernel_plan plan;
    struct device_figures f;
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    cr_assert(figures_wanted("avx512:2", &f));
    recorded_step(r, timed_find(network), 4);
    struct target target = target_of(&f);
    target.vector.second_cache_bytes = (double)second_cache_bytes;
    recorded_compile(r, &target, &plan);
    const int count = plan.kernel_count;
    kernel_plan_free(&plan);
    tarn_close(r);
    return count;
}

/* Weights of a VGG-like network's products have many MB: where a core does not keep them, each image would read them anew. */
Test(odd_batches, few_images_run_in_chains_unless_they_share_much)
{
    cr_expect_lt(kernels_with("unet", 1 << 20), 10);
    cr_expect_lt(kernels_with("vgg", 1 << 28), 10);
    cr_expect_gt(kernels_with("vgg", 1 << 20), 20);
}
