/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked of gpt. */
#ifndef GPT_OPTIONS_H
#define GPT_OPTIONS_H

#include <stdbool.h>

#include "training_options.h"

enum { BYTES = 256, DEFAULT_CONTEXT = 64, MOST_RULES = 32 };

enum rule_kind { RULE_FREEZE, RULE_TRAIN_ONLY, RULE_SCALE_LR, RULE_WEIGHT_DECAY };

/* What is to be done with parameters of which the names match a pattern. */
struct rule {
    enum rule_kind kind;
    const char *pattern;
    double value;
};

struct config {
    struct training_options run;
    const char *data, *tokens, *load, *logits, *prompt;
    /* context and, with `load`, heads: 0 where nothing was asked for */
    long layers, width, heads, context, words, every, sample, budget;
    bool in_order, recompute;
    struct rule rules[MOST_RULES];
    int rule_count;
    double dropout, temperature, target;
};

/* Reads the command line; ends the program when it is wrong. */
struct config config_parse(int argc, char **argv);

#endif
