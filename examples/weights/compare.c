/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-weights compare: every further file against the first, tensor by tensor. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compare.h"
#include "terminal.h"

/* ---- options -------------------------------------------------------------------------------- */

struct config {
    char **files, **ignored; /* ignored: prefixes of names */
    int file_count, ignored_count;
    uint64_t tolerance;
    bool json, quiet;
};

static const char usage[] =
    "Compares every further safetensors file with the first one. Tensors are equal when all of "
    "their bits are; metadata are not compared.\vExit status: 0 equal, 1 different, 2 usage, 3 a "
    "file cannot be read or the output not written.";

static const struct argp_option options[] = {
    { "json", 'j', NULL, 0, "one JSON object in place of the table", 0 },
    { "quiet", 'q', NULL, 0, "only the line of the verdict", 0 },
    { "ignore", 'i', "PREFIX", 0, "leave out tensors of such names; may be repeated", 0 },
    { "tolerance", 't', "ULPS", 0, "take floats that are no farther apart as equal (0: bits)", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static uint64_t parse_tolerance(const struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        usage_error(state, "--tolerance: '%s' is not a whole number from 0 on", text);
    return (uint64_t)value;
}

static void check_config(const struct config *c, const struct argp_state *state)
{
    if (c->file_count < 2)
        usage_error(state, "at least two files are needed; see --help");
    if (c->json && c->quiet)
        usage_error(state, "--json and --quiet exclude each other");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        usage_init(state);
        break;
    case 'j':
        c->json = true;
        break;
    case 'q':
        c->quiet = true;
        break;
    case 'i':
        if (*arg == '\0')
            usage_error(state, "--ignore: an empty prefix would leave out all");
        c->ignored[c->ignored_count++] = arg;
        break;
    case 't':
        c->tolerance = parse_tolerance(state, arg);
        break;
    case ARGP_KEY_ARG:
        c->files[c->file_count++] = arg;
        break;
    case ARGP_KEY_END:
        check_config(c, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- two files ------------------------------------------------------------------------------ */

static bool ignored(const struct config *c, const char *name)
{
    for (int i = 0; i < c->ignored_count; i++) {
        if (strncmp(name, c->ignored[i], strlen(c->ignored[i])) == 0)
            return true;
    }
    return false;
}

static enum row_state state_of(struct row *r, uint64_t tolerance)
{
    if (r->b.name == NULL)
        return ROW_ONLY_FIRST;
    if (r->a.name == NULL)
        return ROW_ONLY_SECOND;
    const tarn_status status = tarn_weight_compare(&r->a, &r->b, tolerance, &r->d);
    if (status != TARN_OK)
        return status == TARN_ERR_DTYPE ? ROW_OTHER_TYPE : ROW_OTHER_SHAPE;
    if (r->d.beyond)
        return ROW_DIFFERENT;
    return r->d.different ? ROW_WITHIN : ROW_EQUAL;
}

/* The next name of either file: both are sorted. */
static struct row next_row(const tarn_weight_file *a, const tarn_weight_file *b, int *i, int *k)
{
    struct row r = { .a = tarn_weight_file_at(a, *i), .b = tarn_weight_file_at(b, *k) };
    const int order = r.b.name == NULL ? -1 : r.a.name == NULL ? 1 : strcmp(r.a.name, r.b.name);
    if (order < 0)
        r.b.name = NULL;
    if (order > 0)
        r.a.name = NULL;
    *i += order <= 0;
    *k += order >= 0;
    return r;
}

static bool compare_files(const struct config *c, const tarn_weight_file *a,
                          const tarn_weight_file *b, struct comparison *out)
{
    const int a_count = tarn_weight_file_count(a), b_count = tarn_weight_file_count(b);
    out->rows = calloc((size_t)a_count + (size_t)b_count + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return false;
    for (int i = 0, k = 0; i < a_count || k < b_count;) {
        struct row r = next_row(a, b, &i, &k);
        if (ignored(c, row_name(&r)))
            continue;
        r.state = state_of(&r, c->tolerance);
        out->bad += r.state >= ROW_DIFFERENT;
        out->within += r.state == ROW_WITHIN;
        out->rows[out->count++] = r;
    }
    return true;
}

/* ---- all files ------------------------------------------------------------------------------ */

struct run {
    const struct config *config;
    tarn_weight_file *first;
    json_t *files;                     /* --json: one object a file */
    size_t compared, bad, within;      /* tensors, over all files */
    int bad_files;                     /* of the further ones */
    char *first_name, *first_bad_file; /* where the first difference is */
};

static int fail(const char *line)
{
    terminal_line("tarn-weights", "%s", line);
    return EXIT_UNREADABLE;
}

static int take(struct run *run, const struct comparison *c, char *path)
{
    run->compared += c->count;
    run->bad += c->bad;
    run->within += c->within;
    run->bad_files += c->bad > 0;
    for (size_t i = 0; i < c->count && run->first_bad_file == NULL; i++) {
        if (c->rows[i].state < ROW_DIFFERENT)
            continue;
        run->first_name = strdup(row_name(&c->rows[i]));
        run->first_bad_file = path;
    }
    if (run->files != NULL && json_array_append_new(run->files, comparison_json(c)) != 0)
        return fail("out of memory");
    if (!run->config->json && !run->config->quiet)
        table_print(c);
    return EXIT_EQUAL;
}

static int compare_with(struct run *run, char *path)
{
    tarn_weight_file *second = tarn_weight_file_open(path);
    if (second == NULL)
        return fail(tarn_error(NULL));
    struct comparison c = { .first = run->config->files[0], .second = path };
    const int code = compare_files(run->config, run->first, second, &c) ? take(run, &c, path)
                                                                        : fail("out of memory");
    free(c.rows);
    tarn_weight_file_close(second);
    return code;
}

static void print_verdict(const struct run *run)
{
    const int others = run->config->file_count - 1;
    if (run->bad)
        printf("different: %zu of %zu tensors, %d of %d files; the first is %s in %s\n", run->bad,
               run->compared, run->bad_files, others,
               run->first_name != NULL ? terminal_name(run->first_name) : "?",
               terminal_name(run->first_bad_file));
    else if (run->within)
        printf("equal: %zu tensors, %zu of them within %" PRIu64 " ULP, in %d files\n",
               run->compared, run->within, run->config->tolerance, others + 1);
    else
        printf("equal: %zu tensors, bit for bit, in %d files\n", run->compared, others + 1);
}

static int print_json(struct run *run)
{
    const struct config *c = run->config;
    json_t *root = json_object(), *prefixes = json_array();
    int failed = 0;
    for (int i = 0; i < c->ignored_count; i++)
        failed |= json_array_append_new(prefixes, argument_json(c->ignored[i]));
    failed |= json_object_set_new(root, "verdict", json_string(run->bad ? "different" : "equal"));
    failed |= json_object_set_new(root, "tolerance", json_integer((json_int_t)c->tolerance));
    failed |= json_object_set_new(root, "ignored", prefixes);
    failed |= json_object_set_new(root, "first", argument_json(c->files[0]));
    failed |= json_object_set(root, "files", run->files);
    char *text = failed ? NULL : json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (text == NULL)
        return fail("out of memory");
    puts(text);
    free(text);
    return EXIT_EQUAL;
}

static int run_all(struct run *run)
{
    const struct config *c = run->config;
    run->files = c->json ? json_array() : NULL;
    run->first = tarn_weight_file_open(c->files[0]);
    if (run->first == NULL)
        return fail(tarn_error(NULL));
    int code = EXIT_EQUAL;
    for (int i = 1; i < c->file_count && code == EXIT_EQUAL; i++)
        code = compare_with(run, c->files[i]);
    if (code == EXIT_EQUAL && c->json)
        code = print_json(run);
    if (code != EXIT_EQUAL)
        return code;
    if (!c->json)
        print_verdict(run);
    return run->bad ? EXIT_DIFFERENT : EXIT_EQUAL;
}

int compare_main(int argc, char **argv)
{
    static const struct argp parser = { options, parse_option, "FILE FILE...", usage, NULL,
                                        NULL,    NULL };
    struct config config = { .files = calloc((size_t)argc, sizeof(char *)),
                             .ignored = calloc((size_t)argc, sizeof(char *)) };
    struct run run = { .config = &config };
    int code = EXIT_UNREADABLE;
    if (config.files != NULL && config.ignored != NULL) {
        argp_parse(&parser, argc, argv, 0, NULL, &config);
        code = run_all(&run);
    } else {
        code = fail("out of memory");
    }
    json_decref(run.files);
    tarn_weight_file_close(run.first);
    free(run.first_name);
    free(config.files);
    free(config.ignored);
    return code;
}
