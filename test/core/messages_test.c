/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's manners: messages go where the program wants them, settings come from the program, too, and the
 * library says which version it is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env.h"
#include "log.h"
#include "tarn.h"

struct heard {
    int messages, plans, long_ones;
    tarn_log_level level;
    char last[200];
};

static void hear(tarn_log_level level, const char *text, void *user)
{
    struct heard *h = user;
    const size_t length = strlen(text);
    cr_expect(length == 0 || text[length - 1] != '\n', "ends with a newline: %s", text);
    h->messages++;
    h->plans += strncmp(text, "tarn: compiled plan", 19) == 0;
    h->long_ones += strchr(text, '\n') != NULL;
    h->level = level;
    snprintf(h->last, sizeof h->last, "%.150s", text);
}

static void run_a_step(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float out = tarn_item(tarn_sum(tarn_rand(r, TARN_SHAPE(40)), TARN_ALL, false));
    cr_expect(out > 0 && out < 40);
    cr_expect_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

/* What is printed on the standard error stream while `act` runs, in `out`. */
static void capture(void (*act)(void), char *out, size_t capacity)
{
    FILE *file = tmpfile();
    cr_assert_not_null(file);
    fflush(stderr);
    const int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    act();
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    out[fread(out, 1, capacity - 1, file)] = '\0';
    fclose(file);
}

Test(messages, go_to_the_programs_function)
{
    struct heard h = { 0 };
    static char printed[200000];
    cr_assert_eq(tarn_set_option("TARN_DEBUG", "plan,kernels"), TARN_OK);
    tarn_set_log(hear, &h);
    capture(run_a_step, printed, sizeof printed);
    cr_expect_str_eq(printed, "");
    cr_expect_geq(h.plans, 1, "of %d messages", h.messages);
    cr_expect_geq(h.long_ones, 1, "no kernels");
    cr_expect_eq(h.level, TARN_LOG_DEBUG);

    tarn_set_log(NULL, NULL);
    const int before = h.messages;
    capture(run_a_step, printed, sizeof printed);
    cr_expect_eq(h.messages, before);
    cr_expect_not_null(strstr(printed, "tarn: compiled plan"));
    cr_expect_not_null(strstr(printed, "__kernel"));
}

/* Reads without a step mark, as of a loop that a newcomer wrote. */
static void forget_the_mark(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int i = 0; i < 12; i++)
        (void)tarn_item(tarn_sum(tarn_rand(r, TARN_SHAPE(40)), TARN_ALL, false));
    tarn_close(r);
}

Test(messages, ask_for_a_step_mark, .timeout = 300)
{
    char out[4096];
    capture(forget_the_mark, out, sizeof out);
    cr_expect(strstr(out, "is a tarn_step() missing?") != NULL, "%s", out);
}

Test(messages, are_lines_without_control_characters)
{
    struct heard h = { 0 };
    tarn_set_log(hear, &h);
    log_print(TARN_LOG_WARNING, "tarn: %s: bad", "file\x1b[2J\nname");
    tarn_set_log(NULL, NULL);
    cr_expect_eq(h.level, TARN_LOG_WARNING);
    cr_expect_str_eq(h.last, "tarn: file\\x1b[2J\\x0aname: bad");
}

Test(settings, of_the_program_come_before_the_environment)
{
    setenv("TARN_GEMM", "nest", 1);
    cr_expect_str_eq(env_text(ENV_GEMM), "nest");
    cr_expect_eq(tarn_set_option("TARN_GEMM", "tarn"), TARN_OK);
    cr_expect_str_eq(env_text(ENV_GEMM), "tarn");
    cr_expect_str_eq(getenv("TARN_GEMM"), "nest", "the environment changed");
    cr_expect_eq(tarn_set_option("TARN_GEMM", ""), TARN_OK);
    cr_expect_str_eq(env_text(ENV_GEMM), "auto");
    cr_expect_eq(tarn_set_option("TARN_GEMM", NULL), TARN_OK);
    cr_expect_str_eq(env_text(ENV_GEMM), "nest");
}

Test(settings, reach_programs_that_are_started)
{
    setenv("TARN_GEMM", "nest", 1);
    setenv("TARN_FUSE", "1", 1);
    cr_assert_eq(tarn_set_option("TARN_GEMM", "clblast"), TARN_OK);
    char **const list = env_for_child();
    cr_assert_not_null(list);
    int gemm = 0, fuse = 0;
    for (char **entry = list; *entry != NULL; entry++) {
        gemm += strcmp(*entry, "TARN_GEMM=clblast") == 0;
        fuse += strcmp(*entry, "TARN_FUSE=1") == 0;
        cr_expect_str_neq(*entry, "TARN_GEMM=nest");
    }
    free(list);
    cr_expect_eq(gemm, 1);
    cr_expect_eq(fuse, 1);
}

Test(settings, that_do_not_exist_are_refused)
{
    cr_expect_eq(tarn_set_option("TARN_GEM", "tarn"), TARN_ERR_ARGUMENT);
    cr_expect_str_eq(tarn_error(NULL),
                     "set_option: Tarn has no variable TARN_GEM; docs/environment.md lists them");
    cr_expect_eq(tarn_set_option(NULL, "tarn"), TARN_ERR_ARGUMENT);
}

Test(version, of_header_and_library_agree)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TARN_VERSION_MAJOR, TARN_VERSION_MINOR,
             TARN_VERSION_PATCH);
    cr_expect_str_eq(TARN_VERSION, text);
    cr_expect_str_eq(tarn_version(), TARN_VERSION);
    cr_expect_eq(tarn_version_number(), TARN_VERSION_NUMBER);
}
