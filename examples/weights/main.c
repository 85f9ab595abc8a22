/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-weights: looks into weights, in files and in training. The first argument is the command. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <tarn.h>

#include "commands.h"
#include "terminal.h"

const char *argp_program_version = "tarn-weights (Tarn) " TARN_VERSION;

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    { "compare", compare_main, "compares safetensors files, tensor by tensor" },
    { "check", check_main, "compares files with the checksums in them" },
    { "watch", watch_main, "trains on several devices and compares their weights" },
    { "inject", inject_main, "the same, with one bit flipped that must be found" },
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *to)
{
    fputs("Usage: tarn-weights COMMAND [OPTION...] [FILE...]\n\nCommands:\n", to);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n`tarn-weights COMMAND --help` lists the options of a command.\n", to);
}

static int run_command(const struct command *c, int argc, char **argv)
{
    char title[64];
    snprintf(title, sizeof title, "tarn-weights %s", c->name);
    argv[0] = title;
    argp_err_exit_status = EXIT_USAGE;
    const int code = c->run(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "tarn-weights: cannot write the output: %s\n", strerror(errno));
    return EXIT_UNREADABLE;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    terminal_open();
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return run_command(&commands[i], argc - 1, argv + 1);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-?") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts(argp_program_version);
        return 0;
    }
    if (*name)
        terminal_line("tarn-weights", "'%s' is not a command", name);
    print_usage(stderr);
    return EXIT_USAGE;
}
