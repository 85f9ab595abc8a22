/* SPDX-License-Identifier: Apache-2.0 */
/* Golden kernels: what the compiler makes of small graphs for made-up targets, against the texts of
 * test/golden/kernels. A change there is no error by itself: read it, and write the texts anew with
 *
 *   build/release/bin/test_kernels_plain --update */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define AROUND 3 /* lines shown before the first that differs */

/* The whole file; "" when there is none. */
static char *read_file(const char *path)
{
    struct text out = { 0 };
    char part[4096];
    FILE *f = fopen(path, "rb");
    text_add(&out, "%s", "");
    for (size_t n; f != NULL && (n = fread(part, 1, sizeof part - 1, f)) > 0;) {
        part[n] = '\0';
        text_add(&out, "%s", part);
    }
    if (f != NULL)
        fclose(f);
    return out.data;
}

static bool write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) {
        perror(path);
        return false;
    }
    return true;
}

static void show_lines(const char *mark, const char *text, int from, int to)
{
    int number = 1;
    for (const char *line = text; *line != '\0' && number <= to; number++) {
        const size_t length = strcspn(line, "\n");
        if (number >= from)
            printf("  %s%4d  %.*s\n", mark, number, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void show_difference(const char *path, const char *wanted, const char *made)
{
    int line = 1;
    for (size_t i = 0; wanted[i] == made[i]; i++)
        line += wanted[i] == '\n';
    printf("%s: line %d is the first that differs\n", path, line);
    show_lines(" ", made, line - AROUND, line - 1);
    show_lines("-", wanted, line, line + AROUND);
    show_lines("+", made, line, line + AROUND);
}

/* False when the text differs, or cannot be written. */
static bool check(const struct graph_case *g, const struct target_case *t, bool update)
{
    char path[512];
    struct kernel_plan plan;
    const struct target target = t->make();
    snprintf(path, sizeof path, TARN_GOLDEN_DIR "/kernels/%s-%s.cl", g->name, t->name);
    compile_case(g, &target, &plan);
    char *made = plan_text(&plan), *wanted = read_file(path);
    kernel_plan_free(&plan);
    bool same = made != NULL && wanted != NULL && strcmp(made, wanted) == 0;
    if (!same && update) {
        printf("%s\n", path);
        same = write_file(path, made);
    } else if (!same) {
        show_difference(path, wanted, made);
    }
    free(made);
    free(wanted);
    return same;
}

/* Whether there is a text of a graph for a target, by number. */
static bool is_kept(const struct graph_case *g, int t)
{
    return target_cases[t].is_kept && (t == 0 || !g->is_long || target_cases[t].make().items);
}

int main(int argc, char **argv)
{
    const bool update = argc == 2 && strcmp(argv[1], "--update") == 0;
    int differ = 0;
    if (argc > 1 && !update) {
        fprintf(stderr, "usage: %s [--update]\n", argv[0]);
        return 2;
    }
    for (int g = 0; g < graph_case_count; g++)
        for (int t = 0; t < target_case_count; t++)
            if (is_kept(&graph_cases[g], t))
                differ += !check(&graph_cases[g], &target_cases[t], update);
    if (differ > 0 && !update)
        printf("%d texts differ; if that is meant: %s --update\n", differ, argv[0]);
    return differ > 0;
}
