/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-weights check: whether files are as they were written. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include <tarn.h>

#include "commands.h"

struct config {
    char **files;
    int count;
};

static const char usage[] =
    "Reads safetensors files and compares the checksums that tarn_save left in them.\vExit status: "
    "0 all are right, 1 a file has none, 2 usage, 3 a file is damaged or cannot be read.";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    if (key == ARGP_KEY_ARG)
        c->files[c->count++] = arg;
    else if (key == ARGP_KEY_END && c->count == 0)
        argp_failure(state, EXIT_USAGE, 0, "at least one file is needed; see --help");
    else if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static enum exit_code check_file(const char *path)
{
    tarn_weight_file *f = tarn_weight_file_open(path); /* compares */
    if (f == NULL) {
        fprintf(stderr, "tarn-weights check: %s\n", tarn_error(NULL));
        return EXIT_UNREADABLE;
    }
    const bool has = tarn_weight_file_metadata(f, "tarn.xxh3") != NULL;
    printf("%s: %d tensors, %s\n", path, tarn_weight_file_count(f),
           has ? "all checksums are right" : "no checksums");
    tarn_weight_file_close(f);
    return has ? EXIT_EQUAL : EXIT_DIFFERENT;
}

int check_main(int argc, char **argv)
{
    static const struct argp argp = { NULL, parse_option, "FILE...", usage, NULL, NULL, NULL };
    struct config c = { .files = calloc((size_t)argc + 1, sizeof *c.files) };
    if (c.files == NULL) {
        fprintf(stderr, "tarn-weights check: out of memory\n");
        return EXIT_UNREADABLE;
    }
    argp_parse(&argp, argc, argv, 0, NULL, &c);
    int worst = EXIT_EQUAL;
    for (int i = 0; i < c.count; i++) {
        const int code = (int)check_file(c.files[i]);
        worst = code > worst ? code : worst;
    }
    free(c.files);
    return worst;
}
