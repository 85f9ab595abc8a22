/* SPDX-License-Identifier: Apache-2.0 */
#include "gpt_options.h"

#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <tarn.h>

#include "parse.h"

/* argp finds it by its name, so it must be seen outside of the program. */
__attribute__((visibility("default"))) const char *argp_program_version =
    "gpt (Tarn) " TARN_VERSION;
static const char usage[] =
    "Trains a small GPT on the bytes of a text, or GPT-2 on tokens, and prints "
    "what it writes meanwhile. The last tenth of the "
    "text is for tests. A PATTERN is of names of parameters: \"words*,blocks.0.*\"; "
    "options with one hold in their order. Defaults: 1000 steps, batches of 32 pieces of text, "
    "learning rate 0.002.\vExit status: 0 success, 1 --target-loss missed, 2 usage, 3 bad input "
    "file, 4 "
    "device, 5 input or output failed, 6 a device failed or stalled in the "
    "middle, or training met a "
    "NaN or an infinity. Several machines (mpirun): 75 when one of them "
    "was late or lost, so that it is "
    "worth starting again with --resume.";

enum {
    KEY_LAYERS = 256,
    KEY_WIDTH,
    KEY_HEADS,
    KEY_CONTEXT,
    KEY_DROPOUT,
    KEY_RECOMPUTE,
    KEY_EVERY,
    KEY_PROMPT,
    KEY_SAMPLE,
    KEY_TEMPERATURE,
    KEY_TARGET,
    KEY_TOKENS,
    KEY_WORDS,
    KEY_LOAD,
    KEY_LOGITS,
    KEY_FREEZE,
    KEY_TRAIN_ONLY,
    KEY_SCALE_LR,
    KEY_WEIGHT_DECAY,
    KEY_IN_ORDER
};

/* clang-format off */
static const struct argp_option options[] = {
    { "data",           'd',             "FILE", 0, "a text (the GNU GPL, as Debian installs it)", 0 },
    { "tokens",         KEY_TOKENS,      "FILE", 0, "instead of a text its tokens: numbers of 16 bits, the low byte first", 0 },
    { "words",          KEY_WORDS,       "N",    0, "how many different --tokens there are", 0 },
    { "load",           KEY_LOAD,        "FILE", 0, "begin with the weights of a GPT-2 (safetensors of transformers, with its config.json), which says the model's size", 0 },
    { "logits",         KEY_LOGITS,      "FILE", 0, "write the logits of the text's first batch, float32 [batch, context, words], and end", 0 },
    { "freeze",         KEY_FREEZE,      "PATTERN", 0, "do not train these parameters", 0 },
    { "train-only",     KEY_TRAIN_ONLY,  "PATTERN", 0, "train no others", 0 },
    { "scale-lr",       KEY_SCALE_LR,    "PATTERN=X", 0, "a factor of the learning rate for these", 0 },
    { "weight-decay",   KEY_WEIGHT_DECAY, "[PATTERN=]X", 0, "of these, or of all (0.1, but 0 for biases, norms and places)", 0 },
    { "in-order",       KEY_IN_ORDER,    NULL,   0, "take pieces of the text in its order", 0 },
    { "layers",         KEY_LAYERS,      "N",    0, "blocks of the transformer (4)", 0 },
    { "width",          KEY_WIDTH,       "N",    0, "features of a byte (128)", 0 },
    { "heads",          KEY_HEADS,       "N",    0, "of attention (4)", 0 },
    { "context",        KEY_CONTEXT,     "N",    0, "bytes or tokens that it sees (64)", 0 },
    { "dropout",        KEY_DROPOUT,     "P",    0, "probability (0)", 0 },
    { "recompute",      KEY_RECOMPUTE,   "MIB",  OPTION_ARG_OPTIONAL, "compute the values of blocks again in the backward part instead of keeping them: of all, or of so few that a step needs at most MIB of device memory; less memory, more time, the same weights", 0 },
    { "every",          KEY_EVERY,       "K",    0, "test, write a sample and save every K steps (200)", 0 },
    { "prompt",         KEY_PROMPT,      "TEXT", 0, "what samples begin with (a line's end); numbers where there are --tokens", 0 },
    { "sample",         KEY_SAMPLE,      "N",    0, "bytes or tokens of a sample (200; of tokens 0)", 0 },
    { "temperature",    KEY_TEMPERATURE, "X",    0, "of samples: below 1 likelier, above 1 wilder (0.8)", 0 },
    { "target-loss",    KEY_TARGET,      "X",    0, "exit with 1 when the last test's loss is above", 0 },
    { NULL,             0,               NULL,   0, NULL, 0 }
};
/* clang-format on */

static void add_rule(const struct argp_state *state, enum rule_kind kind, const char *name,
                     char *arg)
{
    struct config *c = state->input;
    char *number = kind == RULE_SCALE_LR || kind == RULE_WEIGHT_DECAY ? strrchr(arg, '=') : NULL;
    struct rule *rule = &c->rules[c->rule_count];
    if (c->rule_count++ == MOST_RULES)
        usage_error(state, "--%s: more than %d options with patterns", name, (int)MOST_RULES);
    rule->kind = kind;
    rule->pattern = arg;
    if (kind == RULE_SCALE_LR && number == NULL)
        usage_error(state, "--%s: '%s' is not PATTERN=X", name, arg);
    if (number != NULL)
        *number++ = '\0';
    else if (kind == RULE_WEIGHT_DECAY) {
        number = arg;
        rule->pattern = "*";
    }
    if (number != NULL)
        rule->value = parse_real(state, name, number, 0, 1e6);
}

/* What to begin with, and what to train of it. */
static error_t parse_tuning(int key, char *arg, const struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case KEY_TOKENS:
        c->tokens = arg;
        break;
    case KEY_WORDS:
        c->words = parse_whole(state, "words", arg, 1, 1 << 16);
        break;
    case KEY_LOAD:
        c->load = arg;
        break;
    case KEY_LOGITS:
        c->logits = arg;
        break;
    case KEY_IN_ORDER:
        c->in_order = true;
        break;
    case KEY_FREEZE:
        add_rule(state, RULE_FREEZE, "freeze", arg);
        break;
    case KEY_TRAIN_ONLY:
        add_rule(state, RULE_TRAIN_ONLY, "train-only", arg);
        break;
    case KEY_SCALE_LR:
        add_rule(state, RULE_SCALE_LR, "scale-lr", arg);
        break;
    case KEY_WEIGHT_DECAY:
        add_rule(state, RULE_WEIGHT_DECAY, "weight-decay", arg);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Options that depend on each other. */
static void complete(struct config *c, const struct argp_state *state)
{
    const bool sized = c->layers > 0 || c->width > 0 || c->words > 0;
    if (c->data != NULL && c->tokens != NULL)
        usage_error(state, "--data and --tokens exclude each other");
    if (c->load != NULL && sized)
        usage_error(state, "--load: the file says --layers, --width and --words");
    if (c->tokens == NULL && c->words > 0)
        usage_error(state, "--words: only of --tokens; a text has 256 bytes");
    if (c->tokens != NULL && c->load == NULL && c->words == 0)
        usage_error(state, "--tokens: how many different ones there are must be in --words");
    if (c->data == NULL)
        c->data = "/usr/share/common-licenses/GPL-3";
    if (c->sample < 0)
        c->sample = c->tokens != NULL ? 0 : 200;
    if (c->load != NULL)
        return;
    c->layers = c->layers > 0 ? c->layers : 4;
    c->width = c->width > 0 ? c->width : 128;
    c->heads = c->heads > 0 ? c->heads : 4;
    c->words = c->words > 0 ? c->words : BYTES;
    if (c->width % c->heads != 0)
        usage_error(state, "--heads: %ld do not divide a width of %ld", c->heads, c->width);
}

/* How large the model is. */
static error_t parse_model(int key, char *arg, const struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case KEY_LAYERS:
        c->layers = parse_whole(state, "layers", arg, 1, 64);
        break;
    case KEY_WIDTH:
        c->width = parse_whole(state, "width", arg, 1, 1 << 14);
        break;
    case KEY_HEADS:
        c->heads = parse_whole(state, "heads", arg, 1, 1 << 10);
        break;
    case KEY_CONTEXT:
        c->context = parse_whole(state, "context", arg, 2, 1 << 14);
        break;
    case KEY_DROPOUT:
        c->dropout = parse_real(state, "dropout", arg, 0, 0.99);
        break;
    case KEY_RECOMPUTE:
        c->recompute = true;
        if (arg != NULL)
            c->budget = parse_whole(state, "recompute", arg, 1, 1 << 20);
        break;
    default:
        return parse_tuning(key, arg, state);
    }
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        usage_init(state);
        state->child_inputs[0] = &c->run;
        break;
    case 'd':
        c->data = arg;
        break;
    case KEY_EVERY:
        c->every = parse_whole(state, "every", arg, 1, INT_MAX);
        break;
    case KEY_PROMPT:
        c->prompt = arg;
        break;
    case KEY_SAMPLE:
        c->sample = parse_whole(state, "sample", arg, 0, 1 << 20);
        break;
    case KEY_TEMPERATURE:
        c->temperature = parse_real(state, "temperature", arg, 0.01, 100);
        break;
    case KEY_TARGET:
        c->target = parse_real(state, "target-loss", arg, 0, 100);
        break;
    case ARGP_KEY_ARG:
        usage_error(state, "'%s' is not an option; see --help", arg);
        break;
    case ARGP_KEY_END:
        complete(c, state);
        break;
    default:
        return parse_model(key, arg, state);
    }
    return 0;
}

struct config config_parse(int argc, char **argv)
{
    static const struct argp parser = { options,          parse_option, NULL, usage,
                                        training_options, NULL,         NULL };
    struct config config = { .prompt = "\n",
                             .sample = -1,
                             .run = { .batch = 32, .steps = 1000, .lr = 2e-3 },
                             .every = 200,
                             .temperature = 0.8,
                             .target = 1e9 };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &config);
    return config;
}
